// Vectors of floats and doubles as wide as the machine's registers: the one vocabulary of our vector code.
//
// A kernel is written once, in these words, and compiled once for every instruction set; the compiler decides by its
// target which of the files below gives the words their meaning. No word needs a compiler's extension: they are
// intrinsics of the machine's own header, or plain C.
//
//     lanes_plain.h  one number at a time, any machine; also with JN_SCALAR defined
//     lanes_sse2.h   4 floats, 2 doubles   every x86-64, and 32-bit x86 with SSE2
//     lanes_avx2.h   8 floats, 4 doubles   x86 compiled for AVX2
//     lanes_avx512.h 16 floats             x86 compiled for AVX-512, with JN_WIDE_LANES defined; few words
//     lanes_neon.h   4 floats, 2 doubles   ARM of 64 bits
//     lanes_wasm.h   4 floats, 2 doubles   WebAssembly with SIMD
//
// Every operation is the IEEE one, rounded once, and nothing is fused: all give the same bytes, whatever the width.
// That is why ARM of 32 bits has plain floats (its vectors flush small numbers to 0 and cannot divide), and vectors of
// whole numbers only (lanes_shorts_neon.h). A sum over lanes must name its order; see jnSumLanes.
//
// An example, y += s x over whole blocks:
//
//     for (int i = 0; i < count; i += JN_WIDTH) {
//         jnStore(y + i, jnAdd(jnLoad(y + i), jnScale(s, jnLoad(x + i))));
//     }
//
// Types
//     jnFloats    JN_WIDTH floats                    jnDoubles   JN_DOUBLE_WIDTH doubles
//     jnInts      JN_WIDTH whole numbers, 32 bits    jnShorts    JN_SHORTS_WIDTH whole numbers of 16 bits, in pairs
//     jnFour      four floats, with JN_VECTORS; jnFloats is JN_GROUPS such groups side by side
//
// Floats
//     jnRepeat(s)  jnLoad(p)  jnStore(p, v)              memory need not be aligned
//     jnAdd  jnSub  jnMul  jnDiv  jnSqrt                 lane by lane
//     jnScale(s, v)                                      s v
//     jnSize(v)                                          |v|
//     jnMaximum(a, b)                                    a > b ? a : b, so b where they cannot be compared
//     jnSelectAtLeast(a, b, yes, no)                     a >= b ? yes : no
//     jnFlush(v, limit)                                  0 where |v| < limit; what is not a number stays
//     jnAllFinite(v)                                     false if a lane is infinite or not a number
//     jnFirstLanes(v, n)                                 0 in the lanes from n on
//     jnGather(p, at)                                    p[at[i]]
//     jnUnpack(p, x, y, z)  jnPack(x, y, z, p)           JN_WIDTH points x, y, z in a row, to a row of each and back
//     jnLoadInts(p)  jnFromInts(i)                       whole numbers as floats
//     jnPowerOfTwo(v)                                    2^v of whole numbers from -126 to 127
// Doubles
//     jnRepeatD  jnAddD  jnSubD  jnMulD  jnScaleD  jnSelectAtLeastD
//     jnAnyAtLeastD(a, b)                                true if a >= b in some lane
//     jnWiden(p)                                         from JN_DOUBLE_WIDTH floats
//     jnNarrow(v, p)                                     rounded to floats and stored; returns what was stored
// Four floats and groups of four, with JN_VECTORS only; a kernel that uses them has a scalar twin
//     jnLoadFour  jnStoreFour  jnAddFour  jnScaleFour  jnMaximumFour
//     jnEvens(a, b)  a0 a2 b0 b2   jnOdds(a, b)   a1 a3 b1 b3     of each group, and jnEvensFour etc. of one
//     jnLows(a, b)   a0 a1 b0 b1   jnHighs(a, b)  a2 a3 b2 b3
//     jnNextAxis(a)  a1 a2 a0 and any
//     jnRepeatFour(p)                                    the four floats at p in every group
//     jnJoinFours(v)                                     a group each of v[JN_GROUPS]
//     JN_GROUP(v, g)                                     group g, a constant
// Whole numbers of 16 bits in pairs; sums are exact in 32 bits as long as they stay below 2^31
//     jnLoadShorts(p)  jnLoadBytes(p)                    JN_SHORTS_WIDTH numbers of 16 bits, or of 8
//     jnRepeatPair(p)                                    the two numbers at p over and over
//     jnNoProducts()  jnAddProducts(sums, a, b)          sum i += a[2i] b[2i] + a[2i + 1] b[2i + 1]
//     jnStoreProducts(p, sums)                           JN_SHORTS_WIDTH / 2 whole numbers of 32 bits
#pragma once

#include "internal.h"

#include <math.h>
#include <string.h>

#if defined(JN_SCALAR)
#include "lanes_plain.h"
#elif defined(JN_WIDE_LANES)
#include "lanes_avx512.h"
#elif defined(__AVX2__)
#include "lanes_sse2.h"

#include "lanes_avx2.h"
#elif defined(__SSE2__) || defined(_M_X64) || (defined(_M_IX86_FP) && _M_IX86_FP >= 2)
#include "lanes_sse2.h"

#include "lanes_of_four.h"
#elif (defined(__aarch64__) && !defined(__AARCH64EB__)) || defined(_M_ARM64)
#include "lanes_neon.h"

#include "lanes_of_four.h"
#elif defined(__wasm_simd128__) && __clang_major__ >= 13 // the names of its intrinsics changed before
#include "lanes_wasm.h"

#include "lanes_of_four.h"
#else
#include "lanes_plain.h"
#endif

static inline jnFloats jnScale(float factor, jnFloats values)
{
    return jnMul(jnRepeat(factor), values);
}

#ifndef JN_WIDE_LANES

static inline jnDoubles jnScaleD(double factor, jnDoubles values)
{
    return jnMulD(jnRepeatD(factor), values);
}

// a x b of JN_WIDTH vectors.
static inline void jnCrossLanes(const jnFloats a[3], const jnFloats b[3], jnFloats out[3])
{
    out[0] = jnSub(jnMul(a[1], b[2]), jnMul(a[2], b[1]));
    out[1] = jnSub(jnMul(a[2], b[0]), jnMul(a[0], b[2]));
    out[2] = jnSub(jnMul(a[0], b[1]), jnMul(a[1], b[0]));
}

#ifdef JN_VECTORS
enum { JN_GROUPS = JN_WIDTH / 4 };

// Rows of four fours, `step` floats apart: number r of v[i] goes to row[r * step + i].
static inline void jnStoreTransposed(const jnFour v[4], float* row, int step)
{
    jnFour low = jnLowsFour(v[0], v[1]), lower = jnLowsFour(v[2], v[3]);
    jnFour high = jnHighsFour(v[0], v[1]), higher = jnHighsFour(v[2], v[3]);
    jnStoreFour(row, jnEvensFour(low, lower));
    jnStoreFour(row + step, jnOddsFour(low, lower));
    jnStoreFour(row + 2 * step, jnEvensFour(high, higher));
    jnStoreFour(row + 3 * step, jnOddsFour(high, higher));
}

// The same for each group: lane i of a group of rows[r] is number r of the group of v[i].
static inline void jnTranspose(const jnFloats v[4], jnFloats rows[4])
{
    jnFloats low = jnLows(v[0], v[1]), lower = jnLows(v[2], v[3]);
    jnFloats high = jnHighs(v[0], v[1]), higher = jnHighs(v[2], v[3]);
    rows[0] = jnEvens(low, lower);
    rows[1] = jnOdds(low, lower);
    rows[2] = jnEvens(high, higher);
    rows[3] = jnOdds(high, higher);
}
#endif

// The larger of two, the second where they cannot be compared; and that of JN_LANES numbers, in one order everywhere.
static inline float jnLarger(float a, float b)
{
    return a > b ? a : b;
}

static inline float jnLargest(const float* x)
{
    float four[4];
#ifdef JN_VECTORS
    jnStoreFour(four, jnMaximumFour(jnMaximumFour(jnLoadFour(x), jnLoadFour(x + 4)),
                          jnMaximumFour(jnLoadFour(x + 8), jnLoadFour(x + 12))));
#else
    for (int i = 0; i < 4; ++i) {
        four[i] = jnLarger(jnLarger(x[i], x[i + 4]), jnLarger(x[i + 8], x[i + 12]));
    }
#endif
    return jnLarger(jnLarger(four[0], four[1]), jnLarger(four[2], four[3]));
}

// The sum of JN_LANES numbers, in one order everywhere.
static inline float jnSumLanes(const float* x)
{
    float four[4];
#ifdef JN_VECTORS
    jnStoreFour(
        four, jnAddFour(jnAddFour(jnLoadFour(x), jnLoadFour(x + 4)), jnAddFour(jnLoadFour(x + 8), jnLoadFour(x + 12))));
#else
    for (int i = 0; i < 4; ++i) {
        four[i] = (x[i] + x[i + 4]) + (x[i + 8] + x[i + 12]);
    }
#endif
    return (four[0] + four[1]) + (four[2] + four[3]);
}

#endif

// Rounded to the nearest whole number, which must fit 16 bits: added to 1.5 * 2^23 it is the low half of the float.
static inline int16_t jnToShort(float value)
{
    float shifted = value + 12582912.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof(bits));
    return (int16_t)(uint16_t)bits;
}
