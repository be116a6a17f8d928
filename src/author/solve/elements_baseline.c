// Element kernels for any machine.
#include "elements_body.h"

const jnaElementKernels jnaElementKernelsBaseline = {.addForces = AddForces, .measureStrains = MeasureStrains};
