// The dense work inside a sparse factor; compiled once per instruction set from cholesky_body.h.
#pragma once

#include "base/cholesky.h"

/// out[c][r] = sum over depth of left[d][r] right[d][c]: columns of one leading dimension, as supernodes have them.
typedef struct jnaOuterProduct {
    const double *left, *right;
    size_t leading; // of both
    int rows, columns, depth;
    double* out; // [columns][outLeading]; rows up to a multiple of JNA_OUTER_ROWS are written
    size_t outLeading;
} jnaOuterProduct;

/// Rows that a product may write, and read, beyond its last; at most JNA_OUTER_COLUMNS columns.
enum { JNA_OUTER_ROWS = 16, JNA_OUTER_COLUMNS = 48 };

typedef struct jnaCholeskyKernels {
    void (*multiply)(const jnaOuterProduct* product);
    /// Factors the supernode's own columns, everything earlier taken off. scratch: [JNA_OUTER_COLUMNS][rows + padding].
    /// False: not positive definite.
    bool (*factor)(double* block, int rows, int columns, double* scratch);
    /// In the factor's order. x: [size]; below: [mostRows].
    void (*solveOne)(const jnaCholesky* cholesky, double* x, double* below);
    /// The same for four at once: [size][4], [mostRows][4].
    void (*solveFour)(const jnaCholesky* cholesky, double* x, double* below);
} jnaCholeskyKernels;

extern const jnaCholeskyKernels jnaCholeskyBaseline, jnaCholeskyAvx2, jnaCholeskyAvx512;
