// The spring kernels in plain C, for whatever the compiler makes of it.
#define JN_KERNELS jnSpringKernelsBaseline
#include "spring_kernels_body.h"
