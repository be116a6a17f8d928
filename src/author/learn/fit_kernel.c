// The choice of the fitting kernels.
#include "learn/fit_kernel.h"

const jnaFitKernels* jnaBestFitKernels(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnKernelAvailable(jn_kernelAvx512)) {
        return &jnaFitKernelsAvx512;
    }
    if (jnKernelAvailable(jn_kernelAvx2)) {
        return &jnaFitKernelsAvx2;
    }
#endif
    return &jnaFitKernelsBaseline;
}
