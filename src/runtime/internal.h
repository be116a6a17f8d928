// Helpers shared by the files of the runtime. Not installed. Every file includes it, first.
#pragma once

// The same bytes on every machine: no product and sum is fused to one rounding, and floats are floats. GCC knows no
// standard pragma for it, fuses by default outside -std=c11, and has the old floating point unit on 32-bit x86; what it
// is told here holds for the headers below, too, or their functions could not be inlined.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#elif defined(__GNUC__)
#if defined(__i386__) && !defined(__SSE2_MATH__)
#pragma GCC target("sse2,fpmath=sse")
#define JN_TOLD_SSE2 1
#endif
#ifndef __STRICT_ANSI__
#pragma GCC optimize("fp-contract=off")
#endif
#endif

#ifdef __FAST_MATH__
#error                                                                                                                 \
    "Jounce checks for numbers that are not finite and gives the same bytes everywhere: compile it without -ffast-math"
#endif

// MinGW's own printf knows %zu, the one of Windows may not.
#if defined(__MINGW32__) && !defined(__USE_MINGW_ANSI_STDIO)
#define __USE_MINGW_ANSI_STDIO 1
#endif

#include "jounce/base.h"

#include <float.h>

// 16 is as good as 0: it means that a type smaller than float is widened.
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 && !defined(JN_TOLD_SSE2)
#error                                                                                                                 \
    "Jounce needs floats that are rounded after every operation (FLT_EVAL_METHOD 0); on 32-bit x86: -msse2 -mfpmath=sse"
#endif

// MinGW's GCC keeps vectors of 64 bytes on a stack that is aligned to 16.
#if defined(JN_HAVE_X86_KERNELS) && !defined(JN_SCALAR) && !(defined(__MINGW32__) && !defined(__clang__))
#define JN_HAVE_AVX512_KERNELS 1
#endif

// What only a fault of ours can break. Define JN_ASSERT when building the library to do something else about it.
#ifndef JN_ASSERT
#include <assert.h>
#define JN_ASSERT(condition) assert(condition)
#endif

// The caller broke a contract: true, after it was counted and the handler was asked. Looked at in every build: what
// follows is the way out. Define JN_BROKEN when building the library to do something else about it.
#ifndef JN_BROKEN
#define JN_BROKEN(condition) (!(condition) && jnReportMisuse(#condition, __FILE__, __LINE__))
#endif
bool jnReportMisuse(const char* condition, const char* file, int line);

// The same in a function that gives a result.
#define JN_NEED(error, condition)                                                                                      \
    do {                                                                                                               \
        if (JN_BROKEN(condition)) {                                                                                    \
            return jnFail(error, jn_badArgument, "%s: broken contract: %s", __func__, #condition);                     \
        }                                                                                                              \
    } while (0)

// Vertices per block: the width of the widest vector register in floats. Every array of the runtime is
// padded to whole blocks, so that a kernel never needs a tail loop.
enum { JN_LANES = 16, JN_ALIGNMENT = 64 };

#if defined(__MINGW32__) && !defined(__clang__)
#define JN_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define JN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define JN_PRINTF(text, first)
#endif

// Before a loop of a few constant rounds.
#if defined(__GNUC__)
#define JN_UNROLL _Pragma("GCC unroll 16")
#else
#define JN_UNROLL
#endif

// Fills the error (NULL allowed) and returns its code, so that a failure is one statement.
jnResult jnFail(jnError* error, jnResult code, const char* format, ...) JN_PRINTF(3, 4);

// Returns the call's result where it is not jn_ok. For functions that have nothing to release at that point.
#define JN_PASS(call)                                                                                                  \
    do {                                                                                                               \
        jnResult passed = (call);                                                                                      \
        if (passed != jn_ok) {                                                                                         \
            return passed;                                                                                             \
        }                                                                                                              \
    } while (0)

// 64-byte aligned memory through an allocator; NULL when it has none.
void* jnAllocate(const jnAllocator* allocator, size_t size);
void jnRelease(const jnAllocator* allocator, void* memory);

// False for what is infinite or not a number. Not the library's isfinite, a macro that some compilers warn of.
static inline bool jnIsFinite(float value)
{
    return value - value == 0.0f;
}

static inline bool jnIsFiniteD(double value)
{
    return value - value == 0.0;
}

// A number of any size within +-limit; what is not a number becomes `otherwise`.
static inline float jnClamp(float value, float limit, float otherwise)
{
    return value > limit ? limit : value < -limit ? -limit : value == value ? value : otherwise;
}

// A vector of the caller, each number within +-limit; what is not a number becomes 0.
static inline void jnClampVector(const float from[3], float limit, float to[3])
{
    for (int i = 0; i < 3; ++i) {
        to[i] = jnClamp(from[i], limit, 0.0f);
    }
}

// Settings of any size act as if they were within these: far beyond what flesh sees, and what follows from them stays
// within floats.
#define JN_LARGEST_FORCE 1e6f   // m/s^2
#define JN_LARGEST_IMPULSE 1e6f // m/s
#define JN_LARGEST_INERTIA 100.0f
#define JN_LARGEST_STRENGTH 32.0f
#define JN_LARGEST_SCALE 1e6f
// States and samples beyond this are as numbers that are not finite: a product of three of it and one more is still a
// float.
#define JN_LARGEST_STATE 1e15f

static inline size_t jnAlignUp(size_t size)
{
    return (size + JN_ALIGNMENT - 1) & ~(size_t)(JN_ALIGNMENT - 1);
}

static inline int jnBlockCount(int count)
{
    return (count + JN_LANES - 1) / JN_LANES;
}
