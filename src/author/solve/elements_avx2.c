// Element kernels for AVX2.
#include "elements_body.h"

const jnaElementKernels jnaElementKernelsAvx2 = {.addForces = AddForces, .measureStrains = MeasureStrains};
