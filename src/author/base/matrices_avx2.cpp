// Dense matrices for AVX2.
#define Eigen EigenAvx2
#include "base/matrices_body.h"

extern const jnaMatrixKernels jnaMatricesAvx2 = {multiplyFloats, multiplyDoubles, findEigenvectors};
