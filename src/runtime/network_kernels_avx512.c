// The kernels of the network compiled for AVX-512.
#include "internal.h"
#ifdef JN_HAVE_AVX512_KERNELS
#define JN_WIDE_LANES
#define JN_KERNELS jnNetworkKernelsAvx512
#include "network_kernels_body.h"
#endif
