// The kernels of morph targets compiled for AVX2.
#define JN_KERNELS jnTargetKernelsAvx2
#include "morph_targets_body.h"
