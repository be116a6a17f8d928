// The kernels of skinning and normals compiled for AVX2.
#define JN_KERNELS jnRigKernelsAvx2
#include "rig_kernels_body.h"
