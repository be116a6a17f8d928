// The fitting kernels in plain C.
#define JNA_KERNELS jnaFitKernelsBaseline
#include "fit_kernel_body.h"
