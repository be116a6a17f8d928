// Dense matrices for any machine.
#include "base/matrices_body.h"

extern const jnaMatrixKernels jnaMatricesBaseline = {multiplyFloats, multiplyDoubles, findEigenvectors};
