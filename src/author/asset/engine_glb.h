// A character as one glTF file that plays by itself in any viewer: its own document where it has one, our morph
// targets, and the weights of every clip.
#pragma once

#include "character/gltf_source.h"
#include "jounce/asset.h"

/// What to write. Start from jnaDefaultEngineDef.
typedef struct jnaEngineDef {
    const jnAsset* asset;          // linear in its weights, dual quaternions or not; others are refused
    const jnaGltfSource* source;   // the file that the character came from; NULL: the document is made from the asset
    struct jnaOutfitFile* outfits; // [outfitCount], files with clothes in the order of their vertices; NULL: none
    int outfitCount;
    const char* const* animations; // [clipCount], the source's animation of each clip, NULL for clips from elsewhere
    int components, modes;         // targets at most, of each; -1 (default): all
    double budget;                 // bytes of the file at most, by leaving out the last targets; 0 (default): none
    int influences;                // joints a vertex at most; 0 (default): all
    bool plain;                    // floats and no gaps: larger, for readers that know no sparse and no whole numbers
    bool seamless;                 // looping clips repeat exactly
    const void* bytes;             // of the asset, where a sidecar is wanted
    const char* sidecar;           // a .jounce without vertices for the runtime, beside it; NULL (default): none
} jnaEngineDef;
jnaEngineDef jnaDefaultEngineDef(const jnAsset* asset);

/// What was written.
typedef struct jnaEngineReport {
    int components, modes; // targets
    size_t byteCount;      // of the file
    size_t targetBytes;    // of it targets
    size_t sidecarBytes;   // 0: none
    double captured;       // fraction of the mean square displacement over the clips that the targets make
    double largestWeight;  // over all clips
    int influences;        // joints a vertex at most in the file
    double influenceError; // metres, the largest over the clips that fewer joints cost; 0: none were left out
    bool dual;             // made for dual quaternions, where glTF has linear blend: what that changes over the clips
    double linearFarthest, linearRms; // metres
    char linearClip[JN_NAME_LENGTH];  // where it is farthest
    int linearFrame;
    int animationCount;    // with weights
    bool fallback;         // springs were to be learned and are not yet
    bool standIn;          // the character plays springs per vertex; these are the modes of its motion in their place
    double explains;       // fraction of the motion by the modes, as the fit measured it; NaN: not known
    double vertexExplains; // the same by springs per vertex
} jnaEngineReport;

jnResult jnaWriteEngineGlb(const char* path, const jnaEngineDef* def, jnaEngineReport* report, jnError* error);
