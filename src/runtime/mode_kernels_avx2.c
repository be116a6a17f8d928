// The kernels of modes compiled for AVX2.
#define JN_KERNELS jnModeKernelsAvx2
#include "mode_kernels_body.h"
