// Shapes: pairs of a pose and the surface that the flesh takes in it, what the quasistatic network learns from.
//
// In a workspace, folder `poses/`:
//   poses.npy      float32 (poses, joints, 4)    local unit quaternions x, y, z, w; translations are the rest pose's
//   positions.npy  float32 (poses, vertices, 3)  welded vertices in the character's order, metres
//   valid.npy      uint8 (poses)                 jnaPoseState; absent: all are solved
//   kind.npy       uint8 (poses)                 jnaShapeKind; absent: all random
//   clip.npy       int32 (poses)                 clip that a frame is from, -1 for none; absent: none. A number in the
//                                                list about.clips of poses.json; without that, in the manifest's
//   held_out.npy   uint8 (poses)                 1: held back from training; absent: none is
#pragma once

#include "base/npy.h"
#include "character/character.h"

/// What became of a pose, in valid.npy. Where the flesh has no room its bones gave way: no shape to learn from, nor to
/// judge motion by.
typedef enum jnaPoseState { jna_poseFailed, jna_poseSolved, jna_poseWithoutRoom } jnaPoseState;

/// A set of shapes.
typedef struct jnaShapes {
    int count, jointCount, vertexCount;
    const float* rotations; // [count][jointCount][4]
    const float* positions; // [count][vertexCount][3]
    const uint8_t* valid;   // [count], jnaPoseState; NULL: all are solved
    const uint8_t* kinds;   // [count]; NULL: all random
    const int32_t* clips;   // [count]; NULL: none is from a clip
    const uint8_t* heldOut; // [count]; NULL: none is
    jnaArray arrays[6];     // what jnaOpenShapes mapped
} jnaShapes;

/// Maps the shapes of a workspace and checks them against its character. *present is false where there are none.
jnResult jnaOpenShapes(
    const char* workspace, const jnaCharacter* character, bool* present, jnaShapes* shapes, jnError* error);
void jnaCloseShapes(jnaShapes* shapes);
