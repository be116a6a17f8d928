// Whole numbers of 16 bits in a register of NEON, 64 bits and 32 bits alike; see lanes.h.
#pragma once

#include <arm_neon.h>

typedef int16x8_t jnShorts;

// Products are summed apart and paired when they are stored: two instructions a step.
typedef struct jnProducts {
    int32x4_t low, high;
} jnProducts;

static inline jnShorts jnLoadShorts(const int16_t* from)
{
    return vld1q_s16(from);
}

static inline jnShorts jnLoadBytes(const int8_t* from)
{
    return vmovl_s8(vld1_s8(from));
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    int32_t both;
    memcpy(&both, pair, sizeof(both));
    return vreinterpretq_s16_s32(vdupq_n_s32(both));
}

static inline jnProducts jnNoProducts(void)
{
    jnProducts none = {vdupq_n_s32(0), vdupq_n_s32(0)};
    return none;
}

static inline jnProducts jnAddProducts(jnProducts sums, jnShorts a, jnShorts b)
{
    sums.low = vmlal_s16(sums.low, vget_low_s16(a), vget_low_s16(b));
    sums.high = vmlal_s16(sums.high, vget_high_s16(a), vget_high_s16(b));
    return sums;
}

static inline int32x4_t jnPairProducts(jnProducts sums)
{
    return vcombine_s32(vpadd_s32(vget_low_s32(sums.low), vget_high_s32(sums.low)),
        vpadd_s32(vget_low_s32(sums.high), vget_high_s32(sums.high)));
}

static inline void jnStoreProducts(int32_t* to, jnProducts sums)
{
    vst1q_s32(to, jnPairProducts(sums));
}
