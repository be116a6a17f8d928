// The kernels of morph weights for every machine.
#define JN_KERNELS jnMorphKernelsBaseline
#include "morph_kernels_body.h"
