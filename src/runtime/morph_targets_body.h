// The body of the morph targets; see morph_targets.h. For each patch the weights are mixed to amounts of its shapes,
// and these add up for each block of it: sums of products of whole numbers, 8 bits times 16 bits, which are exact in 32
// bits, in any order.
#include "lanes.h"
#include "morph_targets.h"

#include <string.h>

enum { FIELD = 3 * JN_LANES, FIELD_SUMS = 2 * FIELD / JN_SHORTS_WIDTH };

// out[i] = sum_p values[p][2 i] pairs[2 p] + values[p][2 i + 1] pairs[2 p + 1], for `vectors` vectors of values, a
// constant wherever this is called, of rows that are `step` bytes apart.
static inline void SumPairs(
    const int8_t* values, size_t step, const int16_t* pairs, size_t count, int vectors, int32_t* out)
{
    jnProducts sums[FIELD_SUMS];
    for (int i = 0; i < vectors; ++i) {
        sums[i] = jnNoProducts();
    }
    for (size_t p = 0; p < count; ++p, values += step) {
        jnShorts pair = jnRepeatPair(pairs + 2 * p);
        for (int i = 0; i < vectors; ++i) {
            sums[i] = jnAddProducts(sums[i], jnLoadBytes(values + i * JN_SHORTS_WIDTH), pair);
        }
    }
    for (int i = 0; i < vectors; ++i) {
        jnStoreProducts(out + i * (JN_SHORTS_WIDTH / 2), sums[i]);
    }
}

// What the weights make of a patch.
typedef struct Patch {
    size_t shapes;                  // 0: nothing moves it
    const int8_t* values;           // of its first block
    int16_t amounts[JN_MAX_SHAPES]; // of its shapes, in whole multiples of `unit`
    float unit;                     // metres
} Patch;

// Amounts as floats become whole numbers of 16 bits, shares of the largest.
static inline void RoundAmounts(const float* amounts, float unit, Patch* patch)
{
    jnFloats most = jnRepeat(0.0f);
    float lanes[JN_WIDTH], largest = 0.0f;
    for (size_t s = 0; s < patch->shapes; s += JN_WIDTH) {
        most = jnMaximum(jnSize(jnLoad(amounts + s)), most);
    }
    jnStore(lanes, most);
    for (int i = 0; i < JN_WIDTH; ++i) {
        largest = lanes[i] > largest ? lanes[i] : largest;
    }
    if (!(largest > 0.0f)) {
        patch->shapes = 0;
        return;
    }
    float steps = 32767.0f / largest;
    for (size_t s = 0; s < patch->shapes; ++s) {
        patch->amounts[s] = jnToShort(amounts[s] * steps);
    }
    patch->unit = unit * (largest / 32767.0f);
}

// Mixes the weights: as many shapes side by side as the registers hold, in parts of about the same size.
static inline void SumShapes(const int8_t* values, size_t shapes, const int16_t* weights, size_t pairs, int32_t* sums)
{
    enum { STEP = 2 * JN_SHAPE_STEP / JN_SHORTS_WIDTH };
    for (size_t s = 0, parts = (shapes + 6 * JN_SHAPE_STEP - 1) / (6 * JN_SHAPE_STEP); parts > 0; --parts) {
        size_t steps = ((shapes - s) / JN_SHAPE_STEP + parts - 1) / parts;
        const int8_t* at = values + 2 * s;
        switch (steps) {
        case 1:
            SumPairs(at, 2 * shapes, weights, pairs, STEP, sums + s);
            break;
        case 2:
            SumPairs(at, 2 * shapes, weights, pairs, 2 * STEP, sums + s);
            break;
        case 3:
            SumPairs(at, 2 * shapes, weights, pairs, 3 * STEP, sums + s);
            break;
        case 4:
            SumPairs(at, 2 * shapes, weights, pairs, 4 * STEP, sums + s);
            break;
        case 5:
            SumPairs(at, 2 * shapes, weights, pairs, 5 * STEP, sums + s);
            break;
        default:
            SumPairs(at, 2 * shapes, weights, pairs, 6 * STEP, sums + s);
            break;
        }
        s += steps * JN_SHAPE_STEP;
    }
}

static inline void MixPatch(const jnTargetsPass* pass, int number, Patch* patch)
{
    const jnAssetMorphs* m = pass->morphs;
    const jnAssetPatch* at = m->patches + number;
    size_t columns = at[1].columns - at->columns, pairs = (columns + 1) / 2, shapes = at[1].shapes - at->shapes;
    const int8_t* values = m->values + (size_t)at->values * JN_VALUE_RUN;
    int16_t weights[JN_MAX_COLUMNS + 2];
    int32_t sums[JN_MAX_SHAPES];
    float amounts[JN_MAX_SHAPES];
    for (size_t i = 0; i < columns; ++i) {
        weights[i] = pass->coefficients[m->columns[at->columns + i]];
    }
    weights[columns] = 0;
    SumShapes(values, shapes, weights, pairs, sums);
    for (size_t s = 0; s < shapes; s += JN_WIDTH) {
        jnStore(amounts + s, jnMul(jnLoad(m->scales + at->shapes + s), jnFromInts(jnLoadInts(sums + s))));
    }
    patch->shapes = shapes;
    patch->values = values + 2 * pairs * shapes;
    RoundAmounts(amounts, pass->unit, patch);
}

static inline void DisplaceBlock(const jnTargetsPass* pass, const Patch* patch, int block)
{
    float* out = pass->field + (size_t)(block - pass->fieldStart) * FIELD;
    int32_t sums[FIELD];
    SumPairs(patch->values + (size_t)(block % JN_PATCH_BLOCKS) * patch->shapes * FIELD, 2 * FIELD, patch->amounts,
        patch->shapes / 2, FIELD_SUMS, sums);
    for (int i = 0; i < FIELD; i += JN_WIDTH) {
        jnFloats moved = jnScale(patch->unit, jnFromInts(jnLoadInts(sums + i)));
        jnStore(out + i, pass->added ? jnAdd(moved, jnLoad(out + i)) : moved);
    }
}

static void Displace(const jnTargetsPass* pass, int first, int end)
{
    Patch patch = {.shapes = 0};
    for (int block = first; block < end; ++block) {
        if (block == first || block % JN_PATCH_BLOCKS == 0) {
            MixPatch(pass, block / JN_PATCH_BLOCKS, &patch);
        }
        if (patch.shapes > 0) {
            DisplaceBlock(pass, &patch, block);
        } else if (!pass->added) {
            memset(pass->field + (size_t)(block - pass->fieldStart) * FIELD, 0, FIELD * sizeof(float));
        }
    }
}

const jnTargetKernels JN_KERNELS = {Displace};
