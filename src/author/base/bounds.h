// Bounds on numbers that come from outside, so that arithmetic on them stays finite and their conversions defined.
#pragma once

#include "base/npy.h"

/// No coordinate of a character, a clip or a motion is farther from the origin, metres: a thousand kilometres. Floats
/// there are 6 cm apart.
#define JNA_FARTHEST 1e6

/// No number of any array is larger: products of four still fit a float.
#define JNA_LARGEST 1e9

/// Index of the first number of `count` that is not finite or larger than `most`; count where all are good.
size_t jnaFindUnbounded(const float* values, size_t count, double most);

/// Refuses an array (..., 3) of coordinates with one that is not finite or beyond JNA_FARTHEST. The sentence names the
/// frame and the vertex, or the vertex of an array of two dimensions. In motion (three dimensions) NaN stands for a
/// frame that is missing and is left to the reader. Integers are not looked at.
jnResult jnaArray_CheckPositions(const jnaArray* array, const char* path, jnError* error);

/// Refuses an array with a number that is not finite or beyond JNA_LARGEST.
jnResult jnaArray_CheckNumbers(const jnaArray* array, const char* path, jnError* error);

/// jnaOpenArray and jnaArray_CheckPositions.
jnResult jnaOpenPositions(const char* path, jnaArray* array, jnError* error);
