// From a pose to the matrices and dual quaternions that skinning blends.
#pragma once

#include "internal.h"
#include "jounce/character.h"
#include "rig_kernels.h"

// Joint to world of every joint, [jointCount][12], rows of 4. False if the pose has a number that is not finite.
bool jnMakeGlobals(const jnAsset* asset, const jnPose* pose, double* globals);

// Rest surface to world, [jointCount][JN_PALETTE_SIZE].
void jnMakePalette(const jnAsset* asset, const double* globals, float* palette);

// The same as rotations and translations, [jointCount][JN_DUAL_SIZE], and what else the matrices do, stretches
// [jointCount][JN_PALETTE_SIZE], to be applied before. Returns false if all joints are rigid, so that there is nothing
// to apply.
bool jnMakeDuals(const jnAsset* asset, const double* globals, float* duals, float* stretches);

// Rotations alone, rest surface to world, [jointCount][4], unit quaternions x, y, z, w, each of the two signs that is
// nearer to its parent's.
void jnMakeTurns(const jnAsset* asset, const double* globals, float* turns);

// Place and rotation of a joint, without its scale.
jnTransform jnRigidPart(const double* global);
