#include "base/blas.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

void openblas_set_num_threads(int count);
char* openblas_get_corename(void);

void jnaUseOneBlasThread(void)
{
    openblas_set_num_threads(1);
}

// What OpenBLAS's own routines call; absent where it is built otherwise.
void* blas_memory_alloc(int) __attribute__((weak));
void blas_memory_free(void*) __attribute__((weak));

int jnaReserveBlas(int count)
{
    enum { MOST = 256 };
    void* buffers[MOST];
    int made = 0;
    if (blas_memory_alloc == NULL || blas_memory_free == NULL) {
        return count;
    }
    while (made < count && made < MOST) {
        void* room = mmap(NULL, JNA_BLAS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED || munmap(room, JNA_BLAS_BUFFER) != 0) {
            break;
        }
        buffers[made] = blas_memory_alloc(0);
        if (buffers[made] == NULL) {
            break;
        }
        made++;
    }
    for (int i = 0; i < made; ++i) {
        blas_memory_free(buffers[i]);
    }
    return made;
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
