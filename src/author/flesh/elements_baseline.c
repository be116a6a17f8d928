// Element kernels for any machine.
#include "flesh/elements_body.h"

const jnaElementKernels jnaElementKernelsBaseline = {.addForces = AddForces, .measureStrains = MeasureStrains};
