// Small dense symmetric systems, in a fixed order of sums: the same bytes on every machine.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Cholesky's factor of a [n][n], in place, in the lower triangle. False: it is not positive definite.
bool jnaFactorDense(double* a, size_t n);

/// Solves with the factor. x: [n], the right side, then the solution.
void jnaSolveDense(const double* factor, size_t n, double* x);
