// Four floats and two doubles in a vector of WebAssembly; see lanes.h.
#pragma once

#include <wasm_simd128.h>

#define JN_VECTORS 1
typedef v128_t jnFour;
typedef v128_t jnDoubles;
typedef v128_t jnInts;
typedef v128_t jnShorts;
typedef v128_t jnProducts;

static inline jnFour jnRepeatInFour(float value)
{
    return wasm_f32x4_splat(value);
}

static inline jnFour jnLoadFour(const float* from)
{
    return wasm_v128_load(from);
}

static inline void jnStoreFour(float* to, jnFour values)
{
    wasm_v128_store(to, values);
}

static inline jnFour jnAddFour(jnFour a, jnFour b)
{
    return wasm_f32x4_add(a, b);
}

static inline jnFour jnSubFour(jnFour a, jnFour b)
{
    return wasm_f32x4_sub(a, b);
}

static inline jnFour jnMulFour(jnFour a, jnFour b)
{
    return wasm_f32x4_mul(a, b);
}

static inline jnFour jnDivFour(jnFour a, jnFour b)
{
    return wasm_f32x4_div(a, b);
}

static inline jnFour jnSqrtFour(jnFour values)
{
    return wasm_f32x4_sqrt(values);
}

static inline jnFour jnScaleFour(float factor, jnFour values)
{
    return wasm_f32x4_mul(wasm_f32x4_splat(factor), values);
}

static inline jnFour jnSizeFour(jnFour values)
{
    return wasm_f32x4_abs(values);
}

// pmax gives its first where they cannot be compared.
static inline jnFour jnMaximumFour(jnFour a, jnFour b)
{
    return wasm_f32x4_pmax(b, a);
}

static inline jnFour jnEvensFour(jnFour a, jnFour b)
{
    return wasm_i32x4_shuffle(a, b, 0, 2, 4, 6);
}

static inline jnFour jnOddsFour(jnFour a, jnFour b)
{
    return wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
}

static inline jnFour jnLowsFour(jnFour a, jnFour b)
{
    return wasm_i32x4_shuffle(a, b, 0, 1, 4, 5);
}

static inline jnFour jnHighsFour(jnFour a, jnFour b)
{
    return wasm_i32x4_shuffle(a, b, 2, 3, 6, 7);
}

static inline jnFour jnSelectAtLeast(jnFour a, jnFour b, jnFour yes, jnFour no)
{
    return wasm_v128_bitselect(yes, no, wasm_f32x4_ge(a, b));
}

static inline jnFour jnFlush(jnFour values, float limit)
{
    return wasm_v128_andnot(values, wasm_f32x4_lt(wasm_f32x4_abs(values), wasm_f32x4_splat(limit)));
}

static inline bool jnAllFinite(jnFour values)
{
    return wasm_i32x4_all_true(wasm_f32x4_eq(wasm_f32x4_sub(values, values), wasm_f32x4_splat(0.0f)));
}

static inline jnFour jnFirstLanes(jnFour values, int count)
{
    return wasm_v128_and(values, wasm_i32x4_lt(wasm_i32x4_make(0, 1, 2, 3), wasm_i32x4_splat(count)));
}

static inline jnFour jnGather(const float* from, const uint16_t* at)
{
    return wasm_f32x4_make(from[at[0]], from[at[1]], from[at[2]], from[at[3]]);
}

static inline jnFour jnNextAxis(jnFour values)
{
    return wasm_i32x4_shuffle(values, values, 1, 2, 0, 3);
}

static inline void jnUnpack(const float* from, float* x, float* y, float* z)
{
    v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 4), c = wasm_v128_load(from + 8);
    v128_t middle = wasm_i32x4_shuffle(b, c, 2, 3, 4, 5);    // x2 y2 z2 x3
    v128_t early = wasm_i32x4_shuffle(a, b, 1, 2, 4, 5);     // y0 z0 y1 z1
    v128_t late = wasm_i32x4_shuffle(middle, c, 1, 2, 6, 7); // y2 z2 y3 z3
    wasm_v128_store(x, wasm_i32x4_shuffle(a, middle, 0, 3, 4, 7));
    wasm_v128_store(y, jnEvensFour(early, late));
    wasm_v128_store(z, jnOddsFour(early, late));
}

static inline void jnPack(const float* x, const float* y, const float* z, float* to)
{
    v128_t rowX = wasm_v128_load(x), rowY = wasm_v128_load(y), rowZ = wasm_v128_load(z);
    v128_t xy = jnEvensFour(rowX, rowY);                             // x0 x2 y0 y2
    v128_t yz = jnOddsFour(rowY, rowZ);                              // y1 y3 z1 z3
    v128_t zx = wasm_i32x4_shuffle(rowZ, rowX, 0, 2, 5, 7);          // z0 z2 x1 x3
    wasm_v128_store(to, jnEvensFour(xy, zx));                        // x0 y0 z0 x1
    wasm_v128_store(to + 4, wasm_i32x4_shuffle(yz, xy, 0, 2, 5, 7)); // y1 z1 x2 y2
    wasm_v128_store(to + 8, jnOddsFour(zx, yz));                     // z2 x3 y3 z3
}

static inline jnInts jnLoadInts(const int32_t* from)
{
    return wasm_v128_load(from);
}

static inline jnFour jnFromInts(jnInts values)
{
    return wasm_f32x4_convert_i32x4(values);
}

static inline jnFour jnPowerOfTwo(jnFour exponents)
{
    return wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(exponents), wasm_i32x4_splat(127)), 23);
}

static inline jnDoubles jnRepeatD(double value)
{
    return wasm_f64x2_splat(value);
}

static inline jnDoubles jnAddD(jnDoubles a, jnDoubles b)
{
    return wasm_f64x2_add(a, b);
}

static inline jnDoubles jnSubD(jnDoubles a, jnDoubles b)
{
    return wasm_f64x2_sub(a, b);
}

static inline jnDoubles jnMulD(jnDoubles a, jnDoubles b)
{
    return wasm_f64x2_mul(a, b);
}

static inline jnDoubles jnSelectAtLeastD(jnDoubles a, jnDoubles b, jnDoubles yes, jnDoubles no)
{
    return wasm_v128_bitselect(yes, no, wasm_f64x2_ge(a, b));
}

static inline bool jnAnyAtLeastD(jnDoubles a, jnDoubles b)
{
    return wasm_v128_any_true(wasm_f64x2_ge(a, b));
}

static inline jnDoubles jnWiden(const float* from)
{
    return wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(from));
}

static inline jnDoubles jnNarrow(jnDoubles values, float* to)
{
    v128_t rounded = wasm_f32x4_demote_f64x2_zero(values);
    wasm_v128_store64_lane(to, rounded, 0);
    return wasm_f64x2_promote_low_f32x4(rounded);
}

static inline jnShorts jnLoadShorts(const int16_t* from)
{
    return wasm_v128_load(from);
}

static inline jnShorts jnLoadBytes(const int8_t* from)
{
    return wasm_i16x8_load8x8(from);
}

static inline jnShorts jnRepeatPair(const int16_t* pair)
{
    return wasm_v128_load32_splat(pair);
}

static inline jnProducts jnNoProducts(void)
{
    return wasm_i32x4_splat(0);
}

static inline jnProducts jnAddProducts(jnProducts sums, jnShorts a, jnShorts b)
{
    return wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(a, b));
}

static inline void jnStoreProducts(int32_t* to, jnProducts sums)
{
    wasm_v128_store(to, sums);
}

// (a0 + a2, b0 + b2, a1 + a3, b1 + b3) of four sums each.
static inline jnInts jnFold(jnProducts a, jnProducts b)
{
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
