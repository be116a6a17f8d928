// The kernels of a sparse factor for AVX2.
#define LANES 4
#include "base/cholesky_body.h"

const jnaCholeskyKernels jnaCholeskyAvx2 = {Multiply, Factor, SolveOne, SolveFour};
