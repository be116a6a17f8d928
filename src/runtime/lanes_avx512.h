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

static inline jnFloats jnSelectAtLeast(jnFloats a, jnFloats b, jnFloats yes, jnFloats no)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ), no, yes);
}

// Number k of v[i] and number i of v[k] change places: pairs of floats, fours, then halves and quarters of registers.
static inline void jnTransposeSquare(jnFloats v[16])
{
    jnFloats t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        v[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        v[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        v[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        v[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0xdd);
    }
    for (int i = 0; i < 8; ++i) {
        v[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        v[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
    }
}

static inline jnFloats jnPowerOfTwo(jnFloats exponents)
{
    __m512i power = _mm512_add_epi32(_mm512_cvtps_epi32(exponents), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(power, 23));
}
