// Eight floats and four doubles in a register of AVX2, two groups of four; see lanes.h.
#pragma once

#include <immintrin.h>

enum { JN_WIDTH = 8, JN_DOUBLE_WIDTH = 4, JN_SHORTS_WIDTH = 16 };
typedef __m256 jnFloats;
typedef __m256d jnDoubles;
typedef __m256i jnInts;
typedef __m256i jnShorts;
typedef __m256i jnProducts;

static inline jnFloats jnRepeat(float value)
{
    return _mm256_set1_ps(value);
}

static inline jnFloats jnLoad(const float* from)
{
    return _mm256_loadu_ps(from);
}

static inline void jnStore(float* to, jnFloats values)
{
    _mm256_storeu_ps(to, values);
}

static inline jnFloats jnAdd(jnFloats a, jnFloats b)
{
    return _mm256_add_ps(a, b);
}

static inline jnFloats jnSub(jnFloats a, jnFloats b)
{
    return _mm256_sub_ps(a, b);
}

static inline jnFloats jnMul(jnFloats a, jnFloats b)
{
    return _mm256_mul_ps(a, b);
}

static inline jnFloats jnDiv(jnFloats a, jnFloats b)
{
    return _mm256_div_ps(a, b);
}

static inline jnFloats jnSqrt(jnFloats values)
{
    return _mm256_sqrt_ps(values);
}

static inline jnFloats jnSize(jnFloats values)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), values);
}

static inline jnFloats jnMaximum(jnFloats a, jnFloats b)
{
    return _mm256_max_ps(a, b);
}

static inline jnFloats jnSelectAtLeast(jnFloats a, jnFloats b, jnFloats yes, jnFloats no)
{
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_GE_OQ));
}

static inline jnFloats jnFlush(jnFloats values, float limit)
{
    return _mm256_andnot_ps(_mm256_cmp_ps(jnSize(values), _mm256_set1_ps(limit), _CMP_LT_OQ), values);
}

static inline bool jnAllFinite(jnFloats values)
{
    __m256 finite = _mm256_cmp_ps(_mm256_sub_ps(values, values), _mm256_setzero_ps(), _CMP_EQ_OQ);
    return _mm256_movemask_ps(finite) == 0xff;
}

static inline jnFloats jnFirstLanes(jnFloats values, int count)
{
    __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_and_ps(values, _mm256_castsi256_ps(mask));
}

// Loads one by one are faster than those of one instruction on most machines.
static inline jnFloats jnGather(const float* from, const uint16_t* at)
{
    return _mm256_setr_ps(
        from[at[0]], from[at[1]], from[at[2]], from[at[3]], from[at[4]], from[at[5]], from[at[6]], from[at[7]]);
}

static inline jnFloats jnEvens(jnFloats a, jnFloats b)
{
    return _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
}

static inline jnFloats jnOdds(jnFloats a, jnFloats b)
{
    return _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

static inline jnFloats jnLows(jnFloats a, jnFloats b)
{
    return _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 1, 0));
}

static inline jnFloats jnHighs(jnFloats a, jnFloats b)
{
    return _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 2, 3, 2));
}

static inline jnFloats jnNextAxis(jnFloats values)
{
    return _mm256_shuffle_ps(values, values, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline jnFloats jnJoin(jnFour low, jnFour high)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

static inline jnFloats jnJoinFours(const jnFour* v)
{
    return jnJoin(v[0], v[1]);
}

static inline jnFloats jnRepeatFour(const float* from)
{
    return _mm256_broadcast_ps((const __m128*)(const void*)from);
}

#define JN_GROUP(values, g) _mm256_extractf128_ps(values, g)

// Four floats from each group of four points, twelve floats apart. Joined in registers: memory written in pieces and
// read as a whole would stall.
static inline jnFloats jnLoadGroups(const float* from)
{
    return jnJoin(_mm_loadu_ps(from), _mm_loadu_ps(from + 12));
}

static inline void jnStoreGroups(float* to, jnFloats values)
{
    _mm_storeu_ps(to, _mm256_castps256_ps128(values));
    _mm_storeu_ps(to + 12, _mm256_extractf128_ps(values, 1));
}

// Comments show the first group.
static inline void jnUnpack(const float* from, float* x, float* y, float* z)
{
    __m256 a = jnLoadGroups(from), b = jnLoadGroups(from + 4), c = jnLoadGroups(from + 8);
    __m256 middle = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(1, 0, 3, 2));    // x2 y2 z2 x3
    __m256 early = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 2, 1));     // y0 z0 y1 z1
    __m256 late = _mm256_shuffle_ps(middle, c, _MM_SHUFFLE(3, 2, 2, 1)); // y2 z2 y3 z3
    jnStore(x, _mm256_shuffle_ps(a, middle, _MM_SHUFFLE(3, 0, 3, 0)));
    jnStore(y, jnEvens(early, late));
    jnStore(z, jnOdds(early, late));
}

static inline void jnPack(const float* x, const float* y, const float* z, float* to)
{
    __m256 rowX = jnLoad(x), rowY = jnLoad(y), rowZ = jnLoad(z);
    __m256 xy = jnEvens(rowX, rowY);                                           // x0 x2 y0 y2
    __m256 yz = jnOdds(rowY, rowZ);                                            // y1 y3 z1 z3
    __m256 zx = _mm256_shuffle_ps(rowZ, rowX, _MM_SHUFFLE(3, 1, 2, 0));        // z0 z2 x1 x3
    jnStoreGroups(to, jnEvens(xy, zx));                                        // x0 y0 z0 x1
    jnStoreGroups(to + 4, _mm256_shuffle_ps(yz, xy, _MM_SHUFFLE(3, 1, 2, 0))); // y1 z1 x2 y2
    jnStoreGroups(to + 8, jnOdds(zx, yz));                                     // z2 x3 y3 z3
}

static inline jnInts jnLoadInts(const int32_t* from)
{
    return _mm256_loadu_si256((const __m256i*)(const void*)from);
}

static inline jnFloats jnFromInts(jnInts values)
{
    return _mm256_cvtepi32_ps(values);
}

static inline jnFloats jnPowerOfTwo(jnFloats exponents)
{
    __m256i power = _mm256_add_epi32(_mm256_cvtps_epi32(exponents), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(power, 23));
}

static inline jnDoubles jnRepeatD(double value)
{
    return _mm256_set1_pd(value);
}

static inline jnDoubles jnAddD(jnDoubles a, jnDoubles b)
{
    return _mm256_add_pd(a, b);
}

static inline jnDoubles jnSubD(jnDoubles a, jnDoubles b)
{
    return _mm256_sub_pd(a, b);
}

static inline jnDoubles jnMulD(jnDoubles a, jnDoubles b)
{
    return _mm256_mul_pd(a, b);
}

static inline jnDoubles jnSelectAtLeastD(jnDoubles a, jnDoubles b, jnDoubles yes, jnDoubles no)
{
    return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(a, b, _CMP_GE_OQ));
}

static inline bool jnAnyAtLeastD(jnDoubles a, jnDoubles b)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GE_OQ)) != 0;
}

static inline jnDoubles jnWiden(const float* from)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(from));
}

static inline jnDoubles jnNarrow(jnDoubles values, float* to)
{
    __m128 rounded = _mm256_cvtpd_ps(values);
    _mm_storeu_ps(to, rounded);
    return _mm256_cvtps_pd(rounded);
}

static inline jnShorts jnLoadShorts(const int16_t* from)
{
    return _mm256_loadu_si256((const __m256i*)(const void*)from);
}

static inline jnShorts jnLoadBytes(const int8_t* from)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(const void*)from));
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    int32_t both;
    memcpy(&both, pair, sizeof(both));
    return _mm256_set1_epi32(both);
}

static inline jnProducts jnNoProducts(void)
{
    return _mm256_setzero_si256();
}

static inline jnProducts jnAddProducts(jnProducts sums, jnShorts a, jnShorts b)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}

static inline void jnStoreProducts(int32_t* to, jnProducts sums)
{
    _mm256_storeu_si256((__m256i*)(void*)to, sums);
}

// (a0 + a2, b0 + b2, a1 + a3, b1 + b3) of the four sums in each half.
static inline jnInts jnFold(jnProducts a, jnProducts b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}
