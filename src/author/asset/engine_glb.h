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
    int targets;                   // at most, the best for the clips; 0 (default): all. A pair counts as two
    double budget;                 // bytes of the file at most, by fewer targets, the best for the clips; 0 (default):
                                   // none
    int influences;                // joints a vertex at most; 0 (default): all
    bool quantize;                 // whole numbers where they are precise enough: needs KHR_mesh_quantization
    bool sparse;                   // leaves out what a target does not move: smaller, for readers of sparse accessors
    bool zeros;                    // sparse accessors name a view of zeroes
    bool paired;                   // a target for positive and one for negative weights, for hosts that clamp at 0
    bool seamless;                 // looping clips repeat exactly
    const void* bytes;             // of the asset, where a sidecar is wanted
    const char* sidecar;           // a .jounce without vertices for the runtime, beside it; NULL (default): none
} jnaEngineDef;
jnaEngineDef jnaDefaultEngineDef(const jnAsset* asset);

/// What so many targets miss of the displacements over the clips, metres rms: the asset's first ones, and the best.
enum { JNA_TARGET_COUNTS = 4 };
typedef struct jnaTargetTable {
    int counts[JNA_TARGET_COUNTS]; // 0: the asset has no more than the one before
    double first[JNA_TARGET_COUNTS], best[JNA_TARGET_COUNTS];
} jnaTargetTable;

/// What was written.
typedef struct jnaEngineReport {
    int targets;           // in the file
    int components, modes; // where the targets are the asset's own: how many of each; otherwise 0
    bool paired;           // every two targets are one for positive and one for negative weights
    int vertices;          // file vertices
    size_t byteCount;      // of the file
    size_t targetBytes;    // of it targets
    size_t sidecarBytes;   // 0: none
    double captured;       // fraction of the mean square displacement over the clips that the targets make
    double rms;            // metres that vertices miss of it, over the clips; 0: nothing is left out
    jnaTargetTable table;  // what other numbers of targets would miss
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
