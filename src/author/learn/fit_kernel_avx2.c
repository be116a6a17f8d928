// The fitting kernels compiled for AVX2.
#define JNA_KERNELS jnaFitKernelsAvx2
#include "learn/fit_kernel_body.h"
