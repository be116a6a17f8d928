// Writes `.jounce` files: a character, its clips and its springs in the form that the runtime uses as it lies.
#pragma once

#include "character/character.h"
#include "jounce/asset.h"
#include "jounce/springs.h"
#include "modes/modes.h"

/// What goes into an asset. Start from jnaDefaultAssetDef.
typedef struct jnaAssetDef {
    const jnaCharacter* character;
    const jnaClip* clips; // [clipCount]
    const jnaRole* roles; // [clipCount]; NULL: all are for training
    int clipCount;
    const float* stiffness; // [vertexCount] in the character's order, 1/s^2, not negative; at most 1e9
    const float* damping;   // [vertexCount], 1/s, not negative; at most 1e9
    jnSkinning skinning;    // default linear
    jnCurve curve;          // default cubic
    jnTiming timing;        // default causal
    jnStart start;          // default moving
    double rate;            // frames a second; default 30
    const jnaModes* modes;  // springs on modes, instead of those of single vertices; NULL (default): none
    bool restVertices;      // no springs of single vertices; default false
    double rigidHertz;      // vertices whose spring is at least this fast stay on their targets; 0 (default): none
    const struct jnaNetwork* network; // learn/network.h, trained for the character's linear blend; NULL: none
    const struct jnaTouch* touch; // modes/touch.h, of this character; NULL (default): it cannot be pressed
    double networkTolerance;          // metres that packing may move the surface by; default 1e-4
    double detailShare; // of the springs that are stepped at coarse detail, up to 0.5; 0 (default): no such detail
    double hardAngle;   // degrees: normals of the file closer than this at one vertex are one normal; default 1
} jnaAssetDef;

jnaAssetDef jnaDefaultAssetDef(void);

/// Makes the bytes of an asset, at a multiple of 64; release them with free. Fails on what jnLoadAsset would refuse.
jnResult jnaEncodeAsset(const jnaAssetDef* def, void** bytes, size_t* size, jnError* error);

/// The same into a file, which appears whole or not at all.
jnResult jnaWriteAsset(const char* path, const jnaAssetDef* def, jnError* error);

/// How far packing the morph targets moves the surface over the asset's clips; all 0 without targets or clips, and with
/// springs of single vertices, which play no weights by themselves.
typedef struct jnaMorphPacking {
    double rms, largest; // metres
    size_t bytes;        // of the packed targets
} jnaMorphPacking;

/// Measures it. asset: made from the def
jnResult jnaMeasurePacking(const jnaAssetDef* def, const jnAsset* asset, jnaMorphPacking* packing, jnError* error);

/// A `.jounce` file in memory.
typedef struct jnaAssetFile {
    jnAsset* asset; // points into bytes
    void* bytes;    // [size]
    size_t size;
} jnaAssetFile;

/// Reads and loads a file.
jnResult jnaOpenAsset(const char* path, jnaAssetFile* file, jnError* error);
void jnaCloseAsset(jnaAssetFile* file);
