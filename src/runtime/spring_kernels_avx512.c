// The spring kernels compiled for AVX-512.
#define JN_KERNELS jnSpringKernelsAvx512
#include "spring_kernels_body.h"
