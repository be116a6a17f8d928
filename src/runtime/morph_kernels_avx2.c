// The kernels of morph weights compiled for AVX2.
#define JN_KERNELS jnMorphKernelsAvx2
#include "morph_kernels_body.h"
