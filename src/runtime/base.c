// Errors, aligned allocation and the choice of kernel.
#include "internal.h"

#if defined(_MSC_VER)
#include <intrin.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NDEBUG
#define DEFAULT_HANDLER NULL
#else
// As assert does.
static int PrintAndStop(const char* condition, const char* file, int line)
{
    fprintf(stderr, "jounce: broken contract: %s (%s:%d)\n", condition, file, line);
    return 1;
}
#define DEFAULT_HANDLER PrintAndStop
#endif

// The only variables that all objects share.
static jnAssertHandler assertHandler = DEFAULT_HANDLER;
static size_t misuseCount;

void jnSetAssertHandler(jnAssertHandler handler)
{
    assertHandler = handler != NULL ? handler : DEFAULT_HANDLER;
}

uint64_t jnMisuseCount(void)
{
#if defined(__GNUC__)
    return __atomic_load_n(&misuseCount, __ATOMIC_RELAXED);
#else
    return misuseCount;
#endif
}

bool jnReportMisuse(const char* condition, const char* file, int line)
{
#if defined(__GNUC__)
    (void)__atomic_fetch_add(&misuseCount, 1, __ATOMIC_RELAXED);
#elif defined(_WIN64)
    (void)_InterlockedIncrement64((volatile long long*)&misuseCount);
#elif defined(_MSC_VER)
    (void)_InterlockedIncrement((volatile long*)&misuseCount);
#else
    misuseCount++;
#endif
    if (assertHandler != NULL && assertHandler(condition, file, line) != 0) {
        abort();
    }
    return true;
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char* jnVersion(void)
{
    return TEXT(JN_VERSION_MAJOR) "." TEXT(JN_VERSION_MINOR) "." TEXT(JN_VERSION_PATCH);
}

jnResult jnFail(jnError* error, jnResult code, const char* format, ...)
{
    if (error != NULL) {
        error->code = code;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof(error->message), format, arguments);
        va_end(arguments);
        // Names out of a file may hold anything; the sentence stays one line.
        for (char* c = error->message; *c != '\0'; ++c) {
            *c = (unsigned char)*c < ' ' || *c == 127 ? ' ' : *c;
        }
    }
    return code;
}

// The block is over-allocated and the caller's pointer is stored just below the aligned one.
void* jnAllocate(const jnAllocator* allocator, size_t size)
{
    if (size > SIZE_MAX - JN_ALIGNMENT - sizeof(void*)) {
        return NULL;
    }
    size_t padded = size + JN_ALIGNMENT + sizeof(void*);
    bool custom = allocator != NULL && allocator->allocate != NULL;
    char* raw = custom ? allocator->allocate(padded, allocator->user) : malloc(padded);
    if (raw == NULL) {
        return NULL;
    }
    uintptr_t address = ((uintptr_t)raw + sizeof(void*) + JN_ALIGNMENT - 1) & ~(uintptr_t)(JN_ALIGNMENT - 1);
    void** aligned = (void**)address;
    aligned[-1] = raw;
    return aligned;
}

void jnRelease(const jnAllocator* allocator, void* memory)
{
    if (memory == NULL) {
        return;
    }
    void* raw = ((void**)memory)[-1];
    if (allocator != NULL && allocator->allocate != NULL) {
        if (allocator->release != NULL) {
            allocator->release(raw, allocator->user);
        }
    } else {
        free(raw);
    }
}

// AVX2 and FMA, and a system that keeps their registers. (The fit's kernels fuse; the runtime's do not.)
static bool HasAvx2(void)
{
#if !defined(JN_HAVE_X86_KERNELS)
    return false;
#elif defined(_MSC_VER)
    int basic[4], extended[4];
    __cpuidex(basic, 1, 0);
    const int wanted = 1 << 12 | 1 << 27 | 1 << 28; // FMA, XGETBV, AVX
    if ((basic[2] & wanted) != wanted || (_xgetbv(0) & 6) != 6) {
        return false;
    }
    __cpuidex(extended, 7, 0);
    return (extended[1] & 1 << 5) != 0;
#else
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
}

// The same for AVX-512 with its common parts F, DQ, BW and VL.
static bool HasAvx512(void)
{
#if !defined(JN_HAVE_AVX512_KERNELS)
    return false;
#elif defined(_MSC_VER)
    int extended[4];
    if (!HasAvx2() || (_xgetbv(0) & 0xe6) != 0xe6) {
        return false;
    }
    __cpuidex(extended, 7, 0);
    const unsigned wanted = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    return ((unsigned)extended[1] & wanted) == wanted;
#else
    return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
}

bool jnKernelAvailable(jnKernel kernel)
{
    switch (kernel) {
    case jn_kernelAuto:
    case jn_kernelBaseline:
        return true;
    case jn_kernelAvx2:
        return HasAvx2();
    case jn_kernelAvx512:
        return HasAvx512();
    }
    return false;
}

jnKernel jnBestKernel(void)
{
    return HasAvx512() ? jn_kernelAvx512 : HasAvx2() ? jn_kernelAvx2 : jn_kernelBaseline;
}

const char* jnKernelName(jnKernel kernel)
{
    switch (kernel) {
    case jn_kernelAuto:
        return "auto";
    case jn_kernelBaseline:
        return "baseline";
    case jn_kernelAvx2:
        return "avx2";
    case jn_kernelAvx512:
        return "avx512";
    }
    return "unknown";
}
