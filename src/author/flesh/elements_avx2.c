// Element kernels for AVX2.
#include "flesh/elements_body.h"

const jnaElementKernels jnaElementKernelsAvx2 = {.addForces = AddForces, .measureStrains = MeasureStrains};
