// The network's kernels compiled for AVX2.
#define JN_KERNELS jnNetworkKernelsAvx2
#include "network_kernels_body.h"
