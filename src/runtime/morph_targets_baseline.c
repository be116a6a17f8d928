// The kernels of morph targets for every machine.
#define JN_KERNELS jnTargetKernelsBaseline
#include "morph_targets_body.h"
