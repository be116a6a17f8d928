// From a pose to the matrices and dual quaternions that skinning blends.
#pragma once

#include "internal.h"
#include "jounce/character.h"
#include "rig_kernels.h"

// Joint to world of every joint, [jointCount][12], rows of 4. False if a number of the pose is not finite or too large.
bool jnMakeGlobals(const jnAsset* asset, const jnPose* pose, double* globals);

// From joint to world to rest surface to world, in place: the skin's matrices M_j, [jointCount][12].
void jnToSurface(const jnAsset* asset, double* matrices);

// The functions below take the skin's matrices.

// As floats, [jointCount][JN_PALETTE_SIZE].
void jnMakePalette(const jnAsset* asset, const double* matrices, float* palette);

// One of them as a rotation and a translation, [JN_DUAL_SIZE], and what else the matrix does, stretch
// [JN_PALETTE_SIZE], to be applied before. Returns false if the joint is rigid, so that there is nothing to apply.
bool jnMakeDual(const double* matrix, float* dual, float* stretch);

// Rotations alone, [jointCount][4], unit quaternions x, y, z, w, each of the two signs that is nearer to its parent's.
void jnMakeTurns(const jnAsset* asset, const double* matrices, float* turns);

// The rotation closest to a matrix of rows of 4, as a unit quaternion.
void jnRotationOf(const double* matrix, double q[4]);

// Place and rotation of a joint, without its scale.
jnTransform jnRigidPart(const double* global);
