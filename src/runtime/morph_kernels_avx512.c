// The kernels of morph weights compiled for AVX-512.
#include "internal.h"
#ifdef JN_HAVE_AVX512_KERNELS
#define JN_WIDE_LANES
#define JN_KERNELS jnMorphKernelsAvx512
#include "morph_kernels_body.h"
#endif
