// The kernels of modes in plain C, for whatever the compiler makes of it.
#define JN_KERNELS jnModeKernelsBaseline
#include "mode_kernels_body.h"
