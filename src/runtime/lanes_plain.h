// The words of lanes.h in plain C, one number at a time. On ARM of 32 bits whole numbers have vectors all the same.
#pragma once

enum { JN_WIDTH = 1, JN_DOUBLE_WIDTH = 1 };
typedef float jnFloats;
typedef double jnDoubles;
typedef int32_t jnInts;

static inline jnFloats jnRepeat(float value)
{
    return value;
}

static inline jnFloats jnLoad(const float* from)
{
    return *from;
}

static inline void jnStore(float* to, jnFloats value)
{
    *to = value;
}

static inline jnFloats jnAdd(jnFloats a, jnFloats b)
{
    return a + b;
}

static inline jnFloats jnSub(jnFloats a, jnFloats b)
{
    return a - b;
}

static inline jnFloats jnMul(jnFloats a, jnFloats b)
{
    return a * b;
}

static inline jnFloats jnDiv(jnFloats a, jnFloats b)
{
    return a / b;
}

static inline jnFloats jnSqrt(jnFloats value)
{
    return sqrtf(value);
}

static inline jnFloats jnSize(jnFloats value)
{
    return fabsf(value);
}

static inline jnFloats jnMaximum(jnFloats a, jnFloats b)
{
    return a > b ? a : b;
}

static inline jnFloats jnSelectAtLeast(jnFloats a, jnFloats b, jnFloats yes, jnFloats no)
{
    return a >= b ? yes : no;
}

static inline jnFloats jnFlush(jnFloats value, float limit)
{
    return fabsf(value) < limit ? 0.0f : value;
}

static inline bool jnAllFinite(jnFloats value)
{
    return value - value == 0.0f;
}

static inline jnFloats jnFirstLanes(jnFloats value, int count)
{
    return count > 0 ? value : 0.0f;
}

static inline jnFloats jnGather(const float* from, const uint16_t* at)
{
    return from[*at];
}

static inline jnInts jnLoadInts(const int32_t* from)
{
    return *from;
}

static inline jnFloats jnFromInts(jnInts value)
{
    return (float)value;
}

static inline jnFloats jnPowerOfTwo(jnFloats exponents)
{
    int32_t bits = ((int32_t)exponents + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof(power));
    return power;
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

static inline jnDoubles jnRepeatD(double value)
{
    return value;
}

static inline jnDoubles jnAddD(jnDoubles a, jnDoubles b)
{
    return a + b;
}

static inline jnDoubles jnSubD(jnDoubles a, jnDoubles b)
{
    return a - b;
}

static inline jnDoubles jnMulD(jnDoubles a, jnDoubles b)
{
    return a * b;
}

static inline jnDoubles jnSelectAtLeastD(jnDoubles a, jnDoubles b, jnDoubles yes, jnDoubles no)
{
    return a >= b ? yes : no;
}

static inline bool jnAnyAtLeastD(jnDoubles a, jnDoubles b)
{
    return a >= b;
}

static inline jnDoubles jnWiden(const float* from)
{
    return (double)*from;
}

static inline jnDoubles jnNarrow(jnDoubles value, float* to)
{
    *to = (float)value;
    return (double)*to;
}

#if defined(__ARM_NEON) && defined(__ARMEL__) && !defined(JN_SCALAR)
#include "lanes_shorts_neon.h"
enum { JN_SHORTS_WIDTH = 8 };
#else
enum { JN_SHORTS_WIDTH = 2 };
typedef struct jnShorts {
    int16_t first, second;
} jnShorts;
typedef int32_t jnProducts;

static inline jnShorts jnLoadShorts(const int16_t* from)
{
    return (jnShorts){from[0], from[1]};
}

static inline jnShorts jnLoadBytes(const int8_t* from)
{
    return (jnShorts){from[0], from[1]};
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    return jnLoadShorts(pair);
}

static inline jnProducts jnNoProducts(void)
{
    return 0;
}

static inline jnProducts jnAddProducts(jnProducts sums, jnShorts a, jnShorts b)
{
    return sums + ((int32_t)a.first * (int32_t)b.first + (int32_t)a.second * (int32_t)b.second);
}

static inline void jnStoreProducts(int32_t* to, jnProducts sums)
{
    *to = sums;
}
#endif
