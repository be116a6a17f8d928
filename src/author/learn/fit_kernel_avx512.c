// The fitting kernels compiled for AVX-512.
#define JNA_KERNELS jnaFitKernelsAvx512
#include "learn/fit_kernel_body.h"
