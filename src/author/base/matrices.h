// Products and eigenvectors of large dense matrices, by Eigen. Each call works on the thread that makes it and gives
// the same bytes every time; processors with wider vectors may round otherwise.
#pragma once

#include "jounce/base.h"

/// A matrix whose rows lie `stride` apart; with `transposed`, its columns do.
typedef struct jnaFloats {
    const float* entries;
    int rows, columns; // as it stands in the product
    int stride;
    bool transposed;
} jnaFloats;

/// out[row][column] = scale * left * right. out: [left.rows], `stride` apart. False: out of memory.
bool jnaMultiplyFloats(float scale, jnaFloats left, jnaFloats right, float* out, int stride);

/// out = scale * left * right, all [size][size].
bool jnaMultiplyDoubles(int size, double scale, const double* left, const double* right, double* out);

/// All eigenvalues of a symmetric [size][size], rising, and in its place the eigenvectors as rows, of length 1.
/// jn_badData: it holds what is not a number; jn_outOfMemory.
jnResult jnaFindEigenvectors(int size, double* matrix, double* values);
