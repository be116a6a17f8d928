// Four floats and two doubles in a register of NEON on ARM of 64 bits; see lanes.h.
#pragma once

#include "lanes_shorts_neon.h"

#define JN_VECTORS 1
typedef float32x4_t jnFour;
typedef float64x2_t jnDoubles;
typedef int32x4_t jnInts;

static inline jnFour jnRepeatInFour(float value)
{
    return vdupq_n_f32(value);
}

static inline jnFour jnLoadFour(const float* from)
{
    return vld1q_f32(from);
}

static inline void jnStoreFour(float* to, jnFour values)
{
    vst1q_f32(to, values);
}

static inline jnFour jnAddFour(jnFour a, jnFour b)
{
    return vaddq_f32(a, b);
}

static inline jnFour jnSubFour(jnFour a, jnFour b)
{
    return vsubq_f32(a, b);
}

static inline jnFour jnMulFour(jnFour a, jnFour b)
{
    return vmulq_f32(a, b);
}

static inline jnFour jnDivFour(jnFour a, jnFour b)
{
    return vdivq_f32(a, b);
}

static inline jnFour jnSqrtFour(jnFour values)
{
    return vsqrtq_f32(values);
}

static inline jnFour jnScaleFour(float factor, jnFour values)
{
    return vmulq_n_f32(values, factor);
}

static inline jnFour jnSizeFour(jnFour values)
{
    return vabsq_f32(values);
}

// Not vmaxq, which is not a number where one of the two is not.
static inline jnFour jnMaximumFour(jnFour a, jnFour b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline jnFour jnEvensFour(jnFour a, jnFour b)
{
    return vuzp1q_f32(a, b);
}

static inline jnFour jnOddsFour(jnFour a, jnFour b)
{
    return vuzp2q_f32(a, b);
}

static inline jnFour jnLowsFour(jnFour a, jnFour b)
{
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

static inline jnFour jnHighsFour(jnFour a, jnFour b)
{
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

static inline jnFour jnSelectAtLeast(jnFour a, jnFour b, jnFour yes, jnFour no)
{
    return vbslq_f32(vcgeq_f32(a, b), yes, no);
}

static inline jnFour jnFlush(jnFour values, float limit)
{
    uint32x4_t small = vcltq_f32(vabsq_f32(values), vdupq_n_f32(limit));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(values), small));
}

static inline bool jnAllFinite(jnFour values)
{
    return vminvq_u32(vceqzq_f32(vsubq_f32(values, values))) != 0;
}

static inline jnFour jnFirstLanes(jnFour values, int count)
{
    static const int32_t lanes[4] = {0, 1, 2, 3};
    uint32x4_t mask = vcltq_s32(vld1q_s32(lanes), vdupq_n_s32(count));
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(values), mask));
}

static inline jnFour jnGather(const float* from, const uint16_t* at)
{
    jnFour values = vld1q_dup_f32(from + at[0]);
    values = vld1q_lane_f32(from + at[1], values, 1);
    values = vld1q_lane_f32(from + at[2], values, 2);
    return vld1q_lane_f32(from + at[3], values, 3);
}

static inline jnFour jnNextAxis(jnFour values)
{
    return vcopyq_laneq_f32(vextq_f32(values, values, 1), 2, values, 0);
}

static inline void jnUnpack(const float* from, float* x, float* y, float* z)
{
    float32x4x3_t rows = vld3q_f32(from);
    vst1q_f32(x, rows.val[0]);
    vst1q_f32(y, rows.val[1]);
    vst1q_f32(z, rows.val[2]);
}

static inline void jnPack(const float* x, const float* y, const float* z, float* to)
{
    float32x4x3_t rows = {{vld1q_f32(x), vld1q_f32(y), vld1q_f32(z)}};
    vst3q_f32(to, rows);
}

static inline jnInts jnLoadInts(const int32_t* from)
{
    return vld1q_s32(from);
}

static inline jnFour jnFromInts(jnInts values)
{
    return vcvtq_f32_s32(values);
}

static inline jnFour jnPowerOfTwo(jnFour exponents)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(exponents), vdupq_n_s32(127)), 23));
}

static inline jnDoubles jnRepeatD(double value)
{
    return vdupq_n_f64(value);
}

static inline jnDoubles jnAddD(jnDoubles a, jnDoubles b)
{
    return vaddq_f64(a, b);
}

static inline jnDoubles jnSubD(jnDoubles a, jnDoubles b)
{
    return vsubq_f64(a, b);
}

static inline jnDoubles jnMulD(jnDoubles a, jnDoubles b)
{
    return vmulq_f64(a, b);
}

static inline jnDoubles jnSelectAtLeastD(jnDoubles a, jnDoubles b, jnDoubles yes, jnDoubles no)
{
    return vbslq_f64(vcgeq_f64(a, b), yes, no);
}

static inline bool jnAnyAtLeastD(jnDoubles a, jnDoubles b)
{
    return vmaxvq_u32(vreinterpretq_u32_u64(vcgeq_f64(a, b))) != 0;
}

static inline jnDoubles jnWiden(const float* from)
{
    return vcvt_f64_f32(vld1_f32(from));
}

static inline jnDoubles jnNarrow(jnDoubles values, float* to)
{
    float32x2_t rounded = vcvt_f32_f64(values);
    vst1_f32(to, rounded);
    return vcvt_f64_f32(rounded);
}

// (a0 + a2, b0 + b2, a1 + a3, b1 + b3) of four sums each.
static inline jnInts jnFold(jnProducts a, jnProducts b)
{
    int32x4_t first = jnPairProducts(a), second = jnPairProducts(b);
    return vaddq_s32(vzip1q_s32(first, second), vzip2q_s32(first, second));
}
