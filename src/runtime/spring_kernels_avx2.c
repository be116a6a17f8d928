// The spring kernels compiled for AVX2.
#define JN_KERNELS jnSpringKernelsAvx2
#include "spring_kernels_body.h"
