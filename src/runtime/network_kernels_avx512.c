// The network's kernels compiled for AVX-512.
#define JN_KERNELS jnNetworkKernelsAvx512
#include "network_kernels_body.h"
