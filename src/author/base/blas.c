#include "base/blas.h"

#include <stddef.h>
#include <string.h>

void openblas_set_num_threads(int count);
char* openblas_get_corename(void);

void jnaUseOneBlasThread(void)
{
    openblas_set_num_threads(1);
}

const char* jnaBetterBlas(void)
{
#if defined(__x86_64__)
    if (strcmp(openblas_get_corename(), "Prescott") != 0) {
        return NULL;
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return "SkylakeX";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "Haswell";
    }
#endif
    return NULL;
}
