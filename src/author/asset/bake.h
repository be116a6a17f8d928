// Plays a clip of an asset through the runtime and writes what comes out, in the formats that other tools read.
#pragma once

#include "asset/bake_order.h"
#include "jounce/asset.h"

/// How far the surface is taken.
typedef enum jnaBakeStage {
    jna_stageSkinned, // by the skeleton alone
    jna_stageTarget,  // what the springs are drawn to
    jna_stageDynamic, // with the springs
} jnaBakeStage;

/// One frame, in the file's vertex order. Returning false ends the baking.
typedef bool jnaBakeFrame(int frame, const float* positions, const float* normals, void* user);

/// What to bake. Start from jnaDefaultBakeDef.
typedef struct jnaBakeDef {
    const jnAsset* asset;
    int clip;
    jnaBakeStage stage; // default dynamic
    double rate;        // frames a second; 0 (default): the clip's
    bool seamless;      // for a looping clip: the motion that repeats exactly, instead of one that starts on its target
    double preroll;     // seconds that the first pose is held before the first frame, so that flesh comes to rest; a
                        // looping clip plays its end instead; 0
    const jnaBakeOrder*
        order;            // of a file: points in the order of another; NULL: the asset's file vertices. Not for .glb
    double metresPerUnit; // of a file: what is written; 0 (default): metres, or the unit of `order`
    bool zUp;             // of a file: Z up instead of Y up, or of the axes of `order`
    bool yUp;             // of a file: Y up, where `order` has other axes
    bool wantsNormals;    // else the callback gets NULL
    bool welded;          // the callback gets the asset's vertices, [vertexCount], instead of the file's
    bool weightsOnly; // the callback gets the morph weights, [componentCount + modeCount], in the place of positions
    jnaBakeFrame* take;
    void* user;
} jnaBakeDef;

jnaBakeDef jnaDefaultBakeDef(const jnAsset* asset);

/// Frames that a clip has at a rate.
int jnaBakeFrameCount(const jnaBakeDef* def);

/// Runs the clip. The bytes are those of jnCharacter_Step at that rate.
jnResult jnaBake(const jnaBakeDef* def, jnError* error);

/// The endings that jnaBakeToFile knows.
#define JNA_BAKE_FORMATS                                                                                               \
    ".abc (Alembic), .usda (USD text), .pc2, .mdd, .npy (frames, vertices, 3), .obj (one file a frame) or .glb "       \
    "(morph "                                                                                                          \
    "targets)"

/// The same into a file by its ending, one of JNA_BAKE_FORMATS; .obj are NAME.0000.obj and so on with NAME.mtl, a .glb
/// has _STIFFNESS and _DAMPING as attributes. `take` and `user` are not used.
jnResult jnaBakeToFile(const char* path, const jnaBakeDef* def, jnError* error);

/// True if jnaBakeToFile knows the ending.
bool jnaCanBakeTo(const char* path);
