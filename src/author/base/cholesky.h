// The Cholesky factor of a sparse symmetric positive definite matrix, by supernodes:
//
//   A[order][order] = L L^T
//
// A supernode is a run of columns whose rows below are the same; its part of L is one dense block. All calls give the
// same bytes for any number of threads: each works on the thread that calls it.
#pragma once

#include "base/arena.h"

/// The lower triangle by columns, the diagonal included; rows of a column in any order, each once.
typedef struct jnaSparse {
    int size;
    int* starts;    // [size + 1]
    int* rows;      // [starts[size]]
    double* values; // [starts[size]]
} jnaSparse;

/// Read by those who solve in their own way. A zeroed one may be destroyed.
typedef struct jnaCholesky {
    int size;
    int32_t* order; // [size], row of the matrix at each place of the factor
    int superCount;
    int32_t* supers;      // [superCount + 1], first column of each supernode
    int64_t* rowStarts;   // [superCount + 1]
    int32_t* rows;        // [rowStarts[superCount]], of each supernode: its own columns, then those below, rising
    int64_t* valueStarts; // [superCount + 1]
    double* values;       // [valueStarts[superCount]], each supernode by columns, all of its rows; above the diagonal 0
    int mostRows;         // of a supernode
    int64_t* places;      // [entries of the matrix], where each goes in `values`
    jnaArena memory;
    const struct jnaCholeskyKernels* kernels; // the fastest that this machine can run
} jnaCholesky;

/// Finds the pattern of the factor. order: [size], row at each place; NULL: nested dissection. The supernodes need
/// another order of equal fill, so that the factor's `order` is not quite the one given. False: out of memory.
bool jnaCreateCholesky(const jnaSparse* matrix, const int32_t* order, jnaCholesky* cholesky);
void jnaDestroyCholesky(jnaCholesky* cholesky);

/// Factors a matrix of the same pattern. jn_badData: it is not positive definite; jn_outOfMemory.
jnResult jnaCholesky_Factor(jnaCholesky* cholesky, const jnaSparse* matrix);

/// The square of the least over the greatest of the diagonal: an estimate of the reciprocal of the condition.
double jnaCholesky_Condition(const jnaCholesky* cholesky);

/// values <- A^-1 values. values: [count][size]. Threads may share the factor. False: out of memory.
bool jnaCholesky_Solve(const jnaCholesky* cholesky, int count, double* values);

/// The sum of entries that were collected in any order, those at one place added. rows, columns: [count], of the lower
/// triangle; the arrays of the result are of the arena. False: out of memory.
bool jnaCompressSparse(
    jnaArena* arena, int size, int count, const int* rows, const int* columns, const double* values, jnaSparse* sparse);
