// The linear part of a vertex' skin, and displacements of the rest surface through it.
#pragma once

#include "character/character.h"

/// The skin's matrices M_j, rest surface to world, of one pose. matrices: [jointCount][12], joint to world, as by
/// jnaPoseMatrices; replaced.
void jnaToSkinMatrices(const jnaCharacter* character, float* matrices);

/// A_v = sum_j w_vj A_j, rows, and where the rest position itself goes. matrices: the skin's. place: may be NULL.
void jnaSkinFrame(const jnaCharacter* character, const float* matrices, int vertex, float frame[9], float place[3]);

/// The same with dual quaternions, as the runtime blends them.
void jnaDualFrame(const jnaCharacter* character, const float* matrices, int vertex, float frame[9], float place[3]);

/// Adds a joint's rotation to a vertex' blend, with the sign that is nearer to its heaviest joint's.
void jnaBlendTurn(const float heaviest[4], const float turn[4], double weight, double blended[4]);
/// A blended rotation, of any length, after a frame.
void jnaTurnFrame(const double blended[4], float frame[9]);

/// The displacement d of the rest surface with A d = offset, by least squares with a small penalty on |d|: where A
/// comes near to singular no displacement can do much, and d stays below about 16 |offset|; where it is of ordinary
/// size nothing changes. Returns |A d - offset|^2.
double jnaSolveFrame(const float frame[9], const float offset[3], float d[3]);
