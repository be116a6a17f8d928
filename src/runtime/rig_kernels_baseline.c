// The kernels of skinning and normals in plain C, for whatever the compiler makes of it.
#define JN_KERNELS jnRigKernelsBaseline
#include "rig_kernels_body.h"
