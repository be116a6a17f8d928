// The fitting kernels in plain C.
#define JNA_KERNELS jnaFitKernelsBaseline
#include "learn/fit_kernel_body.h"
