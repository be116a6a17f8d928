// The kernels of a sparse factor for AVX-512.
#define LANES 8
#include "base/cholesky_body.h"

const jnaCholeskyKernels jnaCholeskyAvx512 = {Multiply, Factor, SolveOne, SolveFour};
