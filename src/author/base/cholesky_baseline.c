// The kernels of a sparse factor for any machine.
#define LANES 2
#include "base/cholesky_body.h"

const jnaCholeskyKernels jnaCholeskyBaseline = {Multiply, Factor, SolveOne, SolveFour};
