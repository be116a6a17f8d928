// The network's kernels in plain C, for whatever the compiler makes of it.
#define JN_KERNELS jnNetworkKernelsBaseline
#include "network_kernels_body.h"
