// Four floats and two doubles in a register of SSE2; see lanes.h.
#pragma once

#include <emmintrin.h>

#define JN_VECTORS 1
typedef __m128 jnFour;

static inline jnFour jnRepeatInFour(float value)
{
    return _mm_set1_ps(value);
}

static inline jnFour jnLoadFour(const float* from)
{
    return _mm_loadu_ps(from);
}

static inline void jnStoreFour(float* to, jnFour values)
{
    _mm_storeu_ps(to, values);
}

static inline jnFour jnAddFour(jnFour a, jnFour b)
{
    return _mm_add_ps(a, b);
}

static inline jnFour jnSubFour(jnFour a, jnFour b)
{
    return _mm_sub_ps(a, b);
}

static inline jnFour jnMulFour(jnFour a, jnFour b)
{
    return _mm_mul_ps(a, b);
}

static inline jnFour jnDivFour(jnFour a, jnFour b)
{
    return _mm_div_ps(a, b);
}

static inline jnFour jnSqrtFour(jnFour values)
{
    return _mm_sqrt_ps(values);
}

static inline jnFour jnScaleFour(float factor, jnFour values)
{
    return _mm_mul_ps(_mm_set1_ps(factor), values);
}

static inline jnFour jnSizeFour(jnFour values)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), values);
}

static inline jnFour jnMaximumFour(jnFour a, jnFour b)
{
    return _mm_max_ps(a, b);
}

static inline jnFour jnEvensFour(jnFour a, jnFour b)
{
    return _mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
}

static inline jnFour jnOddsFour(jnFour a, jnFour b)
{
    return _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

static inline jnFour jnLowsFour(jnFour a, jnFour b)
{
    return _mm_movelh_ps(a, b);
}

static inline jnFour jnHighsFour(jnFour a, jnFour b)
{
    return _mm_movehl_ps(b, a);
}

// What is wider with AVX2.
#ifndef __AVX2__
typedef __m128d jnDoubles;
typedef __m128i jnInts;
typedef __m128i jnShorts;
typedef __m128i jnProducts;

static inline jnFour jnSelectAtLeast(jnFour a, jnFour b, jnFour yes, jnFour no)
{
    __m128 mask = _mm_cmpge_ps(a, b);
    return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}

static inline jnFour jnFlush(jnFour values, float limit)
{
    return _mm_andnot_ps(_mm_cmplt_ps(jnSizeFour(values), _mm_set1_ps(limit)), values);
}

static inline bool jnAllFinite(jnFour values)
{
    return _mm_movemask_ps(_mm_cmpeq_ps(_mm_sub_ps(values, values), _mm_setzero_ps())) == 0xf;
}

static inline jnFour jnFirstLanes(jnFour values, int count)
{
    __m128i mask = _mm_cmplt_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(count));
    return _mm_and_ps(values, _mm_castsi128_ps(mask));
}

static inline jnFour jnGather(const float* from, const uint16_t* at)
{
    return _mm_setr_ps(from[at[0]], from[at[1]], from[at[2]], from[at[3]]);
}

static inline jnFour jnNextAxis(jnFour values)
{
    return _mm_shuffle_ps(values, values, _MM_SHUFFLE(3, 0, 2, 1));
}

static inline void jnUnpack(const float* from, float* x, float* y, float* z)
{
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + 4), c = _mm_loadu_ps(from + 8);
    __m128 middle = _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 0, 3, 2));    // x2 y2 z2 x3
    __m128 early = _mm_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 2, 1));     // y0 z0 y1 z1
    __m128 late = _mm_shuffle_ps(middle, c, _MM_SHUFFLE(3, 2, 2, 1)); // y2 z2 y3 z3
    _mm_storeu_ps(x, _mm_shuffle_ps(a, middle, _MM_SHUFFLE(3, 0, 3, 0)));
    _mm_storeu_ps(y, jnEvensFour(early, late));
    _mm_storeu_ps(z, jnOddsFour(early, late));
}

static inline void jnPack(const float* x, const float* y, const float* z, float* to)
{
    __m128 rowX = _mm_loadu_ps(x), rowY = _mm_loadu_ps(y), rowZ = _mm_loadu_ps(z);
    __m128 xy = jnEvensFour(rowX, rowY);                                    // x0 x2 y0 y2
    __m128 yz = jnOddsFour(rowY, rowZ);                                     // y1 y3 z1 z3
    __m128 zx = _mm_shuffle_ps(rowZ, rowX, _MM_SHUFFLE(3, 1, 2, 0));        // z0 z2 x1 x3
    _mm_storeu_ps(to, jnEvensFour(xy, zx));                                 // x0 y0 z0 x1
    _mm_storeu_ps(to + 4, _mm_shuffle_ps(yz, xy, _MM_SHUFFLE(3, 1, 2, 0))); // y1 z1 x2 y2
    _mm_storeu_ps(to + 8, jnOddsFour(zx, yz));                              // z2 x3 y3 z3
}

static inline jnInts jnLoadInts(const int32_t* from)
{
    return _mm_loadu_si128((const __m128i*)(const void*)from);
}

static inline jnFour jnFromInts(jnInts values)
{
    return _mm_cvtepi32_ps(values);
}

static inline jnFour jnPowerOfTwo(jnFour exponents)
{
    __m128i power = _mm_add_epi32(_mm_cvtps_epi32(exponents), _mm_set1_epi32(127));
    return _mm_castsi128_ps(_mm_slli_epi32(power, 23));
}

static inline jnDoubles jnRepeatD(double value)
{
    return _mm_set1_pd(value);
}

static inline jnDoubles jnAddD(jnDoubles a, jnDoubles b)
{
    return _mm_add_pd(a, b);
}

static inline jnDoubles jnSubD(jnDoubles a, jnDoubles b)
{
    return _mm_sub_pd(a, b);
}

static inline jnDoubles jnMulD(jnDoubles a, jnDoubles b)
{
    return _mm_mul_pd(a, b);
}

static inline jnDoubles jnSelectAtLeastD(jnDoubles a, jnDoubles b, jnDoubles yes, jnDoubles no)
{
    __m128d mask = _mm_cmpge_pd(a, b);
    return _mm_or_pd(_mm_and_pd(mask, yes), _mm_andnot_pd(mask, no));
}

static inline bool jnAnyAtLeastD(jnDoubles a, jnDoubles b)
{
    return _mm_movemask_pd(_mm_cmpge_pd(a, b)) != 0;
}

static inline jnDoubles jnWiden(const float* from)
{
    return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i*)(const void*)from)));
}

static inline jnDoubles jnNarrow(jnDoubles values, float* to)
{
    __m128 rounded = _mm_cvtpd_ps(values);
    _mm_storel_epi64((__m128i*)(void*)to, _mm_castps_si128(rounded));
    return _mm_cvtps_pd(rounded);
}

static inline jnShorts jnLoadShorts(const int16_t* from)
{
    return _mm_loadu_si128((const __m128i*)(const void*)from);
}

static inline jnShorts jnLoadBytes(const int8_t* from)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i*)(const void*)from);
    return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    int32_t both;
    memcpy(&both, pair, sizeof(both));
    return _mm_set1_epi32(both);
}

static inline jnProducts jnNoProducts(void)
{
    return _mm_setzero_si128();
}

static inline jnProducts jnAddProducts(jnProducts sums, jnShorts a, jnShorts b)
{
    return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}

static inline void jnStoreProducts(int32_t* to, jnProducts sums)
{
    _mm_storeu_si128((__m128i*)(void*)to, sums);
}

// (a0 + a2, b0 + b2, a1 + a3, b1 + b3) of four sums each.
static inline jnInts jnFold(jnProducts a, jnProducts b)
{
    return _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
}
#endif
