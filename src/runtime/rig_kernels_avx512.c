// The kernels of skinning and normals compiled for AVX-512.
#define JN_KERNELS jnRigKernelsAvx512
#include "rig_kernels_body.h"
