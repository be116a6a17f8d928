// Plays a clip of an asset through the runtime and writes what comes out, in the formats that other tools read.
#pragma once

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
    bool wantsNormals;  // else the callback gets NULL
    jnaBakeFrame* take;
    void* user;
} jnaBakeDef;

jnaBakeDef jnaDefaultBakeDef(const jnAsset* asset);

/// Frames that a clip has at a rate.
int jnaBakeFrameCount(const jnaBakeDef* def);

/// Runs the clip. The bytes are those of jnCharacter_Step at that rate.
jnResult jnaBake(const jnaBakeDef* def, jnError* error);

/// The endings that jnaBakeToFile knows.
#define JNA_BAKE_FORMATS ".npy (frames, vertices, 3), .pc2, .mdd, .obj (one file a frame) or .glb (morph targets)"

/// The same into a file by its ending, one of JNA_BAKE_FORMATS; .obj are NAME.0000.obj and so on, a .glb has _STIFFNESS
/// and _DAMPING as attributes. `take` and `user` are not used.
jnResult jnaBakeToFile(const char* path, const jnaBakeDef* def, jnError* error);

/// True if jnaBakeToFile knows the ending.
bool jnaCanBakeTo(const char* path);
