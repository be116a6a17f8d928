// Sixteen floats in a register of AVX-512, four groups of four; see lanes.h. For the kernels of networks and of morph
// weights, which are products of large matrices: doubles, whole numbers and points have no words here.
#pragma once

#include <immintrin.h>

enum { JN_WIDTH = 16 };
typedef __m512 jnFloats;

static inline jnFloats jnRepeat(float value)
{
    return _mm512_set1_ps(value);
}

static inline jnFloats jnLoad(const float* from)
{
    return _mm512_loadu_ps(from);
}

static inline void jnStore(float* to, jnFloats values)
{
    _mm512_storeu_ps(to, values);
}

static inline jnFloats jnAdd(jnFloats a, jnFloats b)
{
    return _mm512_add_ps(a, b);
}

static inline jnFloats jnSub(jnFloats a, jnFloats b)
{
    return _mm512_sub_ps(a, b);
}

static inline jnFloats jnMul(jnFloats a, jnFloats b)
{
    return _mm512_mul_ps(a, b);
}

static inline jnFloats jnDiv(jnFloats a, jnFloats b)
{
    return _mm512_div_ps(a, b);
}

static inline jnFloats jnSqrt(jnFloats values)
{
    return _mm512_sqrt_ps(values);
}

static inline jnFloats jnSize(jnFloats values)
{
    return _mm512_abs_ps(values);
}

static inline jnFloats jnMaximum(jnFloats a, jnFloats b)
{
    return _mm512_max_ps(a, b);
}

static inline jnFloats jnPowerOfTwo(jnFloats exponents)
{
    __m512i power = _mm512_add_epi32(_mm512_cvtps_epi32(exponents), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(power, 23));
}
