// The kernels of modes compiled for AVX-512.
#define JN_KERNELS jnModeKernelsAvx512
#include "mode_kernels_body.h"
