// Vectors of floats and doubles as wide as the machine's registers: the one vocabulary of our vector code.
//
// Compilers of the GNU family have vectors as types, with the usual operators, on every machine; a file
// compiled for a wider instruction set gets wider ones. Elsewhere, and with JN_SCALAR, a vector is a single
// number. The operations are the same IEEE ones in every case, so results do not depend on the width.
#pragma once

#include "internal.h"

#include <math.h>
#include <string.h>
#if defined(__AVX__) || defined(__SSE__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#if defined(__GNUC__) && !defined(JN_SCALAR)
#define JN_VECTORS 1 // vectors are wider than one number

#if defined(__AVX512F__)
enum { JN_WIDTH = 16 };
#elif defined(__AVX__)
enum { JN_WIDTH = 8 };
#else
enum { JN_WIDTH = 4 };
#endif
// JN_WIDTH floats, half as many doubles, and the floats that go with those doubles.
typedef float jnFloats __attribute__((vector_size(4 * JN_WIDTH)));
typedef double jnDoubles __attribute__((vector_size(4 * JN_WIDTH)));
typedef float jnHalfFloats __attribute__((vector_size(2 * JN_WIDTH)));
typedef int32_t jnFloatBits __attribute__((vector_size(4 * JN_WIDTH)));
typedef int64_t jnDoubleBits __attribute__((vector_size(4 * JN_WIDTH)));
enum { JN_DOUBLE_WIDTH = JN_WIDTH / 2 };

// Conversions are spelled out where the compiler would take them apart.
static inline jnDoubles jnWiden(const float* from)
{
#if defined(__AVX512F__)
    return (jnDoubles)_mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX__)
    return (jnDoubles)_mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    jnHalfFloats values;
    memcpy(&values, from, sizeof(values));
    return __builtin_convertvector(values, jnDoubles);
#endif
}

// Rounds to float and stores; returns what was stored.
static inline jnDoubles jnNarrow(jnDoubles values, float* to)
{
#if defined(__AVX512F__)
    __m256 rounded = _mm512_cvtpd_ps((__m512d)values);
    _mm256_storeu_ps(to, rounded);
    return (jnDoubles)_mm512_cvtps_pd(rounded);
#elif defined(__AVX__)
    __m128 rounded = _mm256_cvtpd_ps((__m256d)values);
    _mm_storeu_ps(to, rounded);
    return (jnDoubles)_mm256_cvtps_pd(rounded);
#else
    jnHalfFloats rounded = __builtin_convertvector(values, jnHalfFloats);
    memcpy(to, &rounded, sizeof(rounded));
    return __builtin_convertvector(rounded, jnDoubles);
#endif
}

// The binary exponent, biased by 1023, of numbers that are not negative.
static inline jnDoubleBits jnExponent(jnDoubles values)
{
    typedef uint64_t Unsigned __attribute__((vector_size(4 * JN_WIDTH)));
    return (jnDoubleBits)((Unsigned)values >> 52);
}

// mask ? a : b, lane by lane; a comparison gives the mask.
static inline jnDoubles jnSelectDoubles(jnDoubleBits mask, jnDoubles a, jnDoubles b)
{
    return (jnDoubles)(((jnDoubleBits)a & mask) | ((jnDoubleBits)b & ~mask));
}

static inline jnDoubleBits jnSelectBits(jnDoubleBits mask, jnDoubleBits a, jnDoubleBits b)
{
    return (a & mask) | (b & ~mask);
}

static inline int64_t jnLaneOf(jnDoubleBits bits, int lane)
{
    return bits[lane];
}

// Sets to 0 what is smaller than the limit in size. What is not a number stays.
static inline jnFloats jnFlush(jnFloats values, float limit)
{
    jnFloats size = (jnFloats)((jnFloatBits)values & 0x7fffffff);
    return (jnFloats)((jnFloatBits)values & ~(size < limit));
}

// True if x - x is 0 in every lane: nothing is infinite or not a number.
static inline bool jnAllFinite(jnFloats values)
{
    jnFloatBits bad = values - values != 0.0f;
    uint64_t pairs[JN_WIDTH / 2], any = 0;
    memcpy(pairs, &bad, sizeof(pairs));
    for (int i = 0; i < JN_WIDTH / 2; ++i) {
        any |= pairs[i];
    }
    return any == 0;
}

// Square roots, rounded to nearest as IEEE has it.
static inline jnFloats jnSqrt(jnFloats values)
{
#if defined(__AVX512F__)
    return (jnFloats)_mm512_sqrt_ps((__m512)values);
#elif defined(__AVX__)
    return (jnFloats)_mm256_sqrt_ps((__m256)values);
#elif defined(__SSE__)
    return (jnFloats)_mm_sqrt_ps((__m128)values);
#elif defined(__wasm_simd128__)
    return (jnFloats)wasm_f32x4_sqrt((v128_t)values);
#else
    for (int i = 0; i < JN_WIDTH; ++i) {
        values[i] = sqrtf(values[i]);
    }
    return values;
#endif
}

// yes where a >= b, else no, lane by lane.
static inline jnFloats jnSelectAtLeast(jnFloats a, jnFloats b, jnFloats yes, jnFloats no)
{
    jnFloatBits mask = a >= b;
    return (jnFloats)(((jnFloatBits)yes & mask) | ((jnFloatBits)no & ~mask));
}

// Sizes, and the larger of two, the second where they cannot be compared.
static inline jnFloats jnSize(jnFloats values)
{
    return (jnFloats)((jnFloatBits)values & 0x7fffffff);
}

static inline jnFloats jnMaximum(jnFloats a, jnFloats b)
{
#if defined(__AVX512F__)
    return (jnFloats)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX__)
    return (jnFloats)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE__)
    return (jnFloats)_mm_max_ps((__m128)a, (__m128)b);
#elif defined(__wasm_simd128__)
    return (jnFloats)wasm_f32x4_pmax((v128_t)b, (v128_t)a); // the first where they cannot be compared
#else
    jnFloatBits mask = a > b;
    return (jnFloats)(((jnFloatBits)a & mask) | ((jnFloatBits)b & ~mask));
#endif
}

// The first `count` lanes, the others 0; all of them where there are no more.
static inline jnFloats jnFirstLanes(jnFloats values, int count)
{
    jnFloatBits lanes;
    for (int i = 0; i < JN_WIDTH; ++i) {
        lanes[i] = i;
    }
    return (jnFloats)((jnFloatBits)values & (lanes < count));
}

// from[at[i]] in lane i. Loads one by one are faster than those of one instruction on most machines.
static inline jnFloats jnGather(const float* from, const uint16_t* at)
{
    jnFloats values;
    for (int i = 0; i < JN_WIDTH; ++i) {
        values[i] = from[at[i]];
    }
    return values;
}

// Shuffles within each group of four lanes: i to l pick from the group in a (0 to 3) and in b (4 to 7).
#define JN_PICK(i) ((i) < 4 ? (i) : (i)-4 + JN_WIDTH)
#if defined(__AVX512F__)
#define JN_SHUFFLE(a, b, i, j, k, l)                                                                                   \
    __builtin_shufflevector(a, b, JN_PICK(i), JN_PICK(j), JN_PICK(k), JN_PICK(l), JN_PICK(i) + 4, JN_PICK(j) + 4,      \
        JN_PICK(k) + 4, JN_PICK(l) + 4, JN_PICK(i) + 8, JN_PICK(j) + 8, JN_PICK(k) + 8, JN_PICK(l) + 8,                \
        JN_PICK(i) + 12, JN_PICK(j) + 12, JN_PICK(k) + 12, JN_PICK(l) + 12)
#elif defined(__AVX__)
#define JN_SHUFFLE(a, b, i, j, k, l)                                                                                   \
    __builtin_shufflevector(a, b, JN_PICK(i), JN_PICK(j), JN_PICK(k), JN_PICK(l), JN_PICK(i) + 4, JN_PICK(j) + 4,      \
        JN_PICK(k) + 4, JN_PICK(l) + 4)
#else
#define JN_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#endif

// Four floats from each group of four points, twelve floats apart. Joined in registers: memory written in
// pieces and read as a whole would stall.
typedef float jnFour __attribute__((vector_size(16)));

static inline jnFour jnLoadFour(const float* from)
{
    jnFour values;
    memcpy(&values, from, sizeof(values));
    return values;
}

static inline void jnStoreFour(float* to, jnFour values)
{
    memcpy(to, &values, sizeof(values));
}

// Rows of four fours, `step` floats apart.
static inline void jnStoreTransposed(const jnFour v[4], float* row, int step)
{
    jnFour low = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5),
           lower = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    jnFour high = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7),
           higher = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    jnStoreFour(row, __builtin_shufflevector(low, lower, 0, 1, 4, 5));
    jnStoreFour(row + step, __builtin_shufflevector(low, lower, 2, 3, 6, 7));
    jnStoreFour(row + 2 * step, __builtin_shufflevector(high, higher, 0, 1, 4, 5));
    jnStoreFour(row + 3 * step, __builtin_shufflevector(high, higher, 2, 3, 6, 7));
}

#if defined(__AVX__)
typedef float jnEight __attribute__((vector_size(32)));

static inline jnEight jnLoadEight(const float* from)
{
    return __builtin_shufflevector(jnLoadFour(from), jnLoadFour(from + 12), 0, 1, 2, 3, 4, 5, 6, 7);
}

static inline void jnStoreEight(float* to, jnEight values)
{
    jnStoreFour(to, __builtin_shufflevector(values, values, 0, 1, 2, 3));
    jnStoreFour(to + 12, __builtin_shufflevector(values, values, 4, 5, 6, 7));
}
#endif

#if defined(__AVX512F__)
static inline jnFloats jnLoadGroups(const float* from)
{
    return __builtin_shufflevector(
        jnLoadEight(from), jnLoadEight(from + 24), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

static inline void jnStoreGroups(float* to, jnFloats values)
{
    jnStoreEight(to, __builtin_shufflevector(values, values, 0, 1, 2, 3, 4, 5, 6, 7));
    jnStoreEight(to + 24, __builtin_shufflevector(values, values, 8, 9, 10, 11, 12, 13, 14, 15));
}
#elif defined(__AVX__)
#define jnLoadGroups jnLoadEight
#define jnStoreGroups jnStoreEight
#else
#define jnLoadGroups jnLoadFour
#define jnStoreGroups jnStoreFour
#endif

// The same four floats in every group, and one group of a vector by a constant number.
static inline jnFloats jnRepeatFour(const float* from)
{
#if defined(__AVX512F__)
    return (jnFloats)_mm512_broadcast_f32x4(_mm_loadu_ps(from));
#elif defined(__AVX__)
    return (jnFloats)_mm256_broadcast_ps((const __m128*)(const void*)from);
#else
    return jnLoadFour(from);
#endif
}
#define JN_GROUP(values, g) __builtin_shufflevector(values, values, 4 * (g), 4 * (g) + 1, 4 * (g) + 2, 4 * (g) + 3)

// A group each of JN_WIDTH / 4 fours, and rows of four such vectors: lane i of a group of rows[r] is number r of the
// group of v[i].
static inline jnFloats jnJoinFours(const jnFour* v)
{
#if defined(__AVX512F__)
    jnEight low = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7);
    jnEight high = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#elif defined(__AVX__)
    return __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7);
#else
    return v[0];
#endif
}

static inline void jnTranspose(const jnFloats v[4], jnFloats rows[4])
{
    jnFloats low = JN_SHUFFLE(v[0], v[1], 0, 1, 4, 5), lower = JN_SHUFFLE(v[2], v[3], 0, 1, 4, 5);
    jnFloats high = JN_SHUFFLE(v[0], v[1], 2, 3, 6, 7), higher = JN_SHUFFLE(v[2], v[3], 2, 3, 6, 7);
    rows[0] = JN_SHUFFLE(low, lower, 0, 2, 4, 6);
    rows[1] = JN_SHUFFLE(low, lower, 1, 3, 5, 7);
    rows[2] = JN_SHUFFLE(high, higher, 0, 2, 4, 6);
    rows[3] = JN_SHUFFLE(high, higher, 1, 3, 5, 7);
}

// JN_WIDTH points x, y, z one after another, to a row of each and back. Comments show the first group.
static inline void jnUnpack(const float* from, float* x, float* y, float* z)
{
    jnFloats a = jnLoadGroups(from), b = jnLoadGroups(from + 4), c = jnLoadGroups(from + 8);
    jnFloats middle = JN_SHUFFLE(b, c, 2, 3, 4, 5);    // x2 y2 z2 x3
    jnFloats early = JN_SHUFFLE(a, b, 1, 2, 4, 5);     // y0 z0 y1 z1
    jnFloats late = JN_SHUFFLE(middle, c, 1, 2, 6, 7); // y2 z2 y3 z3
    jnFloats rowX = JN_SHUFFLE(a, middle, 0, 3, 4, 7), rowY = JN_SHUFFLE(early, late, 0, 2, 4, 6);
    jnFloats rowZ = JN_SHUFFLE(early, late, 1, 3, 5, 7);
    memcpy(x, &rowX, sizeof(rowX));
    memcpy(y, &rowY, sizeof(rowY));
    memcpy(z, &rowZ, sizeof(rowZ));
}

static inline void jnPack(const float* x, const float* y, const float* z, float* to)
{
    jnFloats rowX, rowY, rowZ;
    memcpy(&rowX, x, sizeof(rowX));
    memcpy(&rowY, y, sizeof(rowY));
    memcpy(&rowZ, z, sizeof(rowZ));
    jnFloats xy = JN_SHUFFLE(rowX, rowY, 0, 2, 4, 6);      // x0 x2 y0 y2
    jnFloats yz = JN_SHUFFLE(rowY, rowZ, 1, 3, 5, 7);      // y1 y3 z1 z3
    jnFloats zx = JN_SHUFFLE(rowZ, rowX, 0, 2, 5, 7);      // z0 z2 x1 x3
    jnStoreGroups(to, JN_SHUFFLE(xy, zx, 0, 2, 4, 6));     // x0 y0 z0 x1
    jnStoreGroups(to + 4, JN_SHUFFLE(yz, xy, 0, 2, 5, 7)); // y1 z1 x2 y2
    jnStoreGroups(to + 8, JN_SHUFFLE(zx, yz, 1, 3, 5, 7)); // z2 x3 y3 z3
}

// JN_WIDTH whole numbers, as floats, and one number in every lane.
typedef jnFloatBits jnInts;

static inline jnFloats jnFromInts(jnInts values)
{
    return __builtin_convertvector(values, jnFloats);
}

static inline jnInts jnRepeatInt(int32_t value)
{
    return value - (jnInts){0};
}

// Lane i: values[2 i] times the low half of the coefficients' lane plus values[2 i + 1] times its high half.
static inline jnInts jnMultiplyPairs(const int8_t* values, jnInts coefficients)
{
#if defined(__AVX512BW__)
    __m512i wide = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)(const void*)values));
    return (jnInts)_mm512_madd_epi16(wide, (__m512i)coefficients);
#elif defined(__AVX2__)
    __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(const void*)values));
    return (jnInts)_mm256_madd_epi16(wide, (__m256i)coefficients);
#elif defined(__SSE2__) && !defined(__AVX__)
    __m128i bytes = _mm_loadl_epi64((const __m128i*)(const void*)values);
    __m128i wide = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
    return (jnInts)_mm_madd_epi16(wide, (__m128i)coefficients);
#elif defined(__wasm_simd128__)
    return (jnInts)wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(values), (v128_t)coefficients);
#else
    jnInts sums;
    for (int i = 0; i < JN_WIDTH; ++i) {
        sums[i] = values[2 * i] * (int16_t)(coefficients[i] & 0xffff) + values[2 * i + 1] * (coefficients[i] >> 16);
    }
    return sums;
#endif
}

#else

enum { JN_WIDTH = 1, JN_DOUBLE_WIDTH = 1 };
typedef float jnFloats;
typedef double jnDoubles;
typedef int64_t jnDoubleBits;

static inline jnDoubles jnWiden(const float* from)
{
    return (double)*from;
}

static inline jnDoubles jnNarrow(jnDoubles value, float* to)
{
    *to = (float)value;
    return (double)*to;
}

static inline jnDoubleBits jnExponent(jnDoubles value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (jnDoubleBits)(bits >> 52);
}

static inline jnDoubles jnSelectDoubles(jnDoubleBits mask, jnDoubles a, jnDoubles b)
{
    return mask != 0 ? a : b;
}

static inline jnDoubleBits jnSelectBits(jnDoubleBits mask, jnDoubleBits a, jnDoubleBits b)
{
    return mask != 0 ? a : b;
}

static inline int64_t jnLaneOf(jnDoubleBits bits, int lane)
{
    (void)lane;
    return bits;
}

static inline jnFloats jnFlush(jnFloats value, float limit)
{
    float size = value < 0.0f ? -value : value;
    return size < limit ? 0.0f : value;
}

static inline bool jnAllFinite(jnFloats value)
{
    return value - value == 0.0f;
}

static inline jnFloats jnSqrt(jnFloats value)
{
    return sqrtf(value);
}

static inline jnFloats jnSelectAtLeast(jnFloats a, jnFloats b, jnFloats yes, jnFloats no)
{
    return a >= b ? yes : no;
}

static inline jnFloats jnSize(jnFloats value)
{
    return fabsf(value);
}

static inline jnFloats jnMaximum(jnFloats a, jnFloats b)
{
    return a > b ? a : b;
}

static inline jnFloats jnFirstLanes(jnFloats value, int count)
{
    return count > 0 ? value : 0.0f;
}

static inline jnFloats jnGather(const float* from, const uint16_t* at)
{
    return from[*at];
}

typedef int32_t jnInts;

static inline jnFloats jnFromInts(jnInts value)
{
    return (float)value;
}

static inline jnInts jnRepeatInt(int32_t value)
{
    return value;
}

static inline jnInts jnMultiplyPairs(const int8_t* values, jnInts coefficients)
{
    return values[0] * (int16_t)(coefficients & 0xffff) + values[1] * (coefficients >> 16);
}

static inline void jnUnpack(const float* from, float* x, float* y, float* z)
{
    *x = from[0];
    *y = from[1];
    *z = from[2];
}

static inline void jnPack(const float* x, const float* y, const float* z, float* to)
{
    to[0] = *x;
    to[1] = *y;
    to[2] = *z;
}

#endif

static inline jnFloats jnLoad(const float* from)
{
    jnFloats values;
    memcpy(&values, from, sizeof(values));
    return values;
}

static inline jnInts jnLoadInts(const int32_t* from)
{
    jnInts values;
    memcpy(&values, from, sizeof(values));
    return values;
}

static inline void jnStore(float* to, jnFloats values)
{
    memcpy(to, &values, sizeof(values));
}

// Doubles from their bits.
static inline jnDoubles jnFromBits(jnDoubleBits bits)
{
    jnDoubles values;
    memcpy(&values, &bits, sizeof(values));
    return values;
}

// The larger of two, the second where they cannot be compared; and that of JN_LANES numbers, in one order everywhere.
static inline float jnLarger(float a, float b)
{
    return a > b ? a : b;
}

static inline float jnLargest(const float* x)
{
    float four[4];
#if defined(__SSE__) && !defined(JN_SCALAR)
    __m128 low = _mm_max_ps(_mm_loadu_ps(x), _mm_loadu_ps(x + 4));
    _mm_storeu_ps(four, _mm_max_ps(low, _mm_max_ps(_mm_loadu_ps(x + 8), _mm_loadu_ps(x + 12))));
#elif defined(__wasm_simd128__) && !defined(JN_SCALAR)
    v128_t low = wasm_f32x4_pmax(wasm_v128_load(x + 4), wasm_v128_load(x)); // the first where they cannot be compared
    wasm_v128_store(four, wasm_f32x4_pmax(wasm_f32x4_pmax(wasm_v128_load(x + 12), wasm_v128_load(x + 8)), low));
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
    jnStoreFour(four, (jnLoadFour(x) + jnLoadFour(x + 4)) + (jnLoadFour(x + 8) + jnLoadFour(x + 12)));
#else
    for (int i = 0; i < 4; ++i) {
        four[i] = (x[i] + x[i + 4]) + (x[i + 8] + x[i + 12]);
    }
#endif
    return (four[0] + four[1]) + (four[2] + four[3]);
}

// Products of whole numbers of 16 bits, exact in 32 bits: the same on every machine. What is summed must stay below
// 2^31. Eight of them in a register of 128 bits:
#if defined(__SSE2__) && !defined(JN_SCALAR)
#define JN_SHORTS 1
typedef __m128i jnShorts;

static inline jnShorts jnLoadShorts(const void* from)
{
    return _mm_loadu_si128((const __m128i*)from);
}

static inline void jnStoreShorts(void* to, jnShorts values)
{
    _mm_storeu_si128((__m128i*)to, values);
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    int32_t both;
    memcpy(&both, pair, sizeof(both));
    return _mm_set1_epi32(both);
}

// sums + a . b, pair by pair; sums are four whole numbers of 32 bits.
static inline jnShorts jnAddProducts(jnShorts sums, jnShorts a, jnShorts b)
{
    return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}

static inline jnFour jnToFour(jnShorts sums)
{
    return (jnFour)_mm_cvtepi32_ps(sums);
}

// (a0 + a2, b0 + b2, a1 + a3, b1 + b3) of four whole numbers each.
static inline jnShorts jnFold(jnShorts a, jnShorts b)
{
    return _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
}
#elif defined(__wasm_simd128__) && !defined(JN_SCALAR)
#define JN_SHORTS 1
typedef v128_t jnShorts;

static inline jnShorts jnLoadShorts(const void* from)
{
    return wasm_v128_load(from);
}

static inline void jnStoreShorts(void* to, jnShorts values)
{
    wasm_v128_store(to, values);
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    return wasm_v128_load32_splat(pair);
}

static inline jnShorts jnAddProducts(jnShorts sums, jnShorts a, jnShorts b)
{
    return wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(a, b));
}

static inline jnFour jnToFour(jnShorts sums)
{
    return (jnFour)wasm_f32x4_convert_i32x4(sums);
}

static inline jnShorts jnFold(jnShorts a, jnShorts b)
{
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
#endif

// A row of [3][16] numbers against two fields of the same kind, scaled, added to sums[8]. In sums[4 half + 2 i + f] the
// elements j of field f with j / 8 = half and j / 2 % 2 = i are summed.
#if defined(__AVX2__) && !defined(JN_SCALAR)
static inline void jnAddDot(const int16_t* row, __m256 scales, const __m256i field[6], float* sums)
{
    const __m256i* at = (const __m256i*)(const void*)row;
    __m256i x = _mm256_loadu_si256(at), y = _mm256_loadu_si256(at + 1), z = _mm256_loadu_si256(at + 2);
    __m256i first = _mm256_add_epi32(_mm256_madd_epi16(x, field[0]), _mm256_madd_epi16(y, field[1]));
    __m256i second = _mm256_add_epi32(_mm256_madd_epi16(x, field[3]), _mm256_madd_epi16(y, field[4]));
    first = _mm256_add_epi32(first, _mm256_madd_epi16(z, field[2]));
    second = _mm256_add_epi32(second, _mm256_madd_epi16(z, field[5]));
    __m256i both = _mm256_add_epi32(_mm256_unpacklo_epi32(first, second), _mm256_unpackhi_epi32(first, second));
    _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), _mm256_mul_ps(scales, _mm256_cvtepi32_ps(both))));
}
#endif

// sums[to[e]] += scales[e] steps[f] (rows[e] . fields[f]), as above, for an even count of rows. rows: [count][48];
// fields: [2][48]; sums: [][8].
static inline void jnAddDots(const int16_t* rows, const float* scales, const uint16_t* to, size_t count,
    const int16_t* fields, const float steps[2], float* sums)
{
#if defined(__AVX2__) && !defined(JN_SCALAR)
    __m256i field[6];
    for (int i = 0; i < 6; ++i) {
        field[i] = _mm256_loadu_si256((const __m256i*)(const void*)fields + i);
    }
    __m256 step = _mm256_unpacklo_ps(_mm256_set1_ps(steps[0]), _mm256_set1_ps(steps[1]));
    for (size_t e = 0; e < count; e += 2) {
        __m256 scale0 = _mm256_broadcast_ss(scales + e), scale1 = _mm256_broadcast_ss(scales + e + 1);
        jnAddDot(rows + 48 * e, _mm256_mul_ps(scale0, step), field, sums + 8 * (size_t)to[e]);
        jnAddDot(rows + 48 * e + 48, _mm256_mul_ps(scale1, step), field, sums + 8 * (size_t)to[e + 1]);
    }
#elif defined(JN_SHORTS)
    const jnShorts none = {0};
    const jnFour step = {steps[0], steps[1], steps[0], steps[1]};
    for (size_t e = 0; e < count; ++e) {
        const int16_t* row = rows + 48 * e;
        float* sum = sums + 8 * (size_t)to[e];
        for (int half = 0; half < 2; ++half) {
            jnShorts dots[2];
            for (int f = 0; f < 2; ++f) {
                const int16_t *a = row + 8 * half, *b = fields + 48 * f + 8 * half;
                dots[f] = jnAddProducts(none, jnLoadShorts(a), jnLoadShorts(b));
                dots[f] = jnAddProducts(dots[f], jnLoadShorts(a + 16), jnLoadShorts(b + 16));
                dots[f] = jnAddProducts(dots[f], jnLoadShorts(a + 32), jnLoadShorts(b + 32));
            }
            jnFour old = jnLoadFour(sum + 4 * half);
            jnStoreFour(sum + 4 * half, old + (scales[e] * step) * jnToFour(jnFold(dots[0], dots[1])));
        }
    }
#else
    for (size_t e = 0; e < count; ++e) {
        for (size_t i = 0; i < 8; ++i) { // half, lane, field
            size_t f = i % 2, start = i / 4 * 8 + i / 2 % 2 * 2;
            const int16_t *a = rows + 48 * e + start, *b = fields + 48 * f + start;
            int32_t dot = 0; // two elements of each of three, and the two behind the next two
            for (int j = 0; j < 48; j += 16) {
                dot += (int32_t)a[j] * (int32_t)b[j] + (int32_t)a[j + 1] * (int32_t)b[j + 1];
                dot += (int32_t)a[j + 4] * (int32_t)b[j + 4] + (int32_t)a[j + 5] * (int32_t)b[j + 5];
            }
            sums[8 * (size_t)to[e] + i] += (scales[e] * steps[f]) * (float)dot;
        }
    }
#endif
}

// out[i] = sum over pairs p of numbers[p][i][0] * factors[2p] + numbers[p][i][1] * factors[2p + 1]. numbers:
// [pairs][48][2]; out: [48].
static inline void jnSumPairs(const int16_t* numbers, const int16_t* factors, size_t pairs, int32_t* out)
{
#if defined(__AVX2__) && !defined(JN_SCALAR)
    __m256i sums[6];
    for (int i = 0; i < 6; ++i) {
        sums[i] = _mm256_setzero_si256();
    }
    for (size_t p = 0; p < pairs; ++p) {
        int32_t both;
        memcpy(&both, factors + 2 * p, sizeof(both));
        __m256i factor = _mm256_set1_epi32(both);
        const __m256i* at = (const __m256i*)(const void*)(numbers + 96 * p);
        for (int i = 0; i < 6; ++i) {
            sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(_mm256_loadu_si256(at + i), factor));
        }
    }
    for (int i = 0; i < 6; ++i) {
        _mm256_storeu_si256((__m256i*)(void*)out + i, sums[i]);
    }
#elif defined(JN_SHORTS)
    jnShorts sums[12] = {{0}};
    for (size_t p = 0; p < pairs; ++p) {
        jnShorts factor = jnRepeatPair(factors + 2 * p);
        for (int i = 0; i < 12; ++i) {
            sums[i] = jnAddProducts(sums[i], jnLoadShorts(numbers + 96 * p + 8 * i), factor);
        }
    }
    for (int i = 0; i < 12; ++i) {
        jnStoreShorts(out + 4 * i, sums[i]);
    }
#else
    memset(out, 0, 48 * sizeof(int32_t));
    for (size_t p = 0; p < pairs; ++p) {
        for (int i = 0; i < 48; ++i) {
            const int16_t* at = numbers + 96 * p + 2 * (size_t)i;
            out[i] += (int32_t)at[0] * (int32_t)factors[2 * p] + (int32_t)at[1] * (int32_t)factors[2 * p + 1];
        }
    }
#endif
}

// Rounded to the nearest whole number, which must fit 16 bits: added to 1.5 * 2^23 it is the low half of the float.
static inline int16_t jnToShort(float value)
{
    float shifted = value + 12582912.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof(bits));
    return (int16_t)(uint16_t)bits;
}
