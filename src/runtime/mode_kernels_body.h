// The body of the kernels of modes; see mode_kernels.h.
//
// An entry is a mode's share of a block: 3 x 16 whole numbers of 16 bits and a scale. Fields and amplitudes are rounded
// to whole numbers as well, block by block, so that both products are sums of exact products of 16 bits, sixteen to an
// instruction: a field to 14 bits of the largest |x| + |y| + |z| in the block, amplitudes to 16 bits of the sum of
// their sizes, which no sum can then leave. Sums over blocks are floats, in an order that does not depend on the width
// of a register.
#include "lanes.h"
#include "mode_kernels.h"
#include "vertex_frames_body.h"

#include <string.h>

enum { ENTRY = 3 * JN_LANES, MOST_ENTRIES = 1024, BATCH = 16 };
// Four vertices' products with numbers of 16 bits stay below 2^31, whatever their directions, roundings included.
#define FIELD_STEPS 16380.0f
#define FACTOR_SUM 65000.0f
#define FACTOR_MOST 32767.0f

// The weights of a pass as those of the three differences between samples.
static inline void WeighDifferences(const jnModePass* pass, float weights[JN_MODE_FIELDS][3])
{
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        const float* w = pass->weights[f];
        weights[f][0] = -w[1] * pass->ratios[0];
        weights[f][1] = ((w[1] - w[2]) + (pass->own == 1 ? w[0] : 0.0f)) * pass->ratios[1];
        weights[f][2] = (w[2] + (pass->own == 1 ? 0.0f : w[0])) * pass->ratios[2];
    }
}

static inline void BlendTurns(const jnModePass* pass, size_t b, float q[4][JN_LANES])
{
    const jnAsset* asset = pass->asset;
    jnBlendBlockTurns(
        asset->influenceStarts, asset->influenceJoints, asset->influenceWeights, b, pass->turns, pass->aligned, q);
}

// The two fields of a block, in its frames, and the largest |x| + |y| + |z| of each.
static inline void FindFields(const jnModePass* pass, float weights[JN_MODE_FIELDS][3], size_t b, float q[4][JN_LANES],
    float fields[JN_MODE_FIELDS][JN_FIELD_SIZE], float most[JN_MODE_FIELDS])
{
    float sizes[JN_MODE_FIELDS][JN_LANES];
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats frames[9], raw[JN_MODE_FIELDS][3];
        for (int axis = 0; axis < 3; ++axis) {
            size_t at = b * JN_FIELD_SIZE + (size_t)(axis * JN_LANES + i);
            jnFloats s0 = jnLoad(pass->samples[0] + at), s1 = jnLoad(pass->samples[1] + at);
            jnFloats s2 = jnLoad(pass->samples[2] + at), s3 = jnLoad(pass->samples[3] + at);
            jnFloats d0 = jnSub(s1, s0), d1 = jnSub(s2, s1), d2 = jnSub(s3, s2);
            for (int f = 0; f < JN_MODE_FIELDS; ++f) {
                const float* w = weights[f];
                jnFloats sum = jnAdd(jnAdd(jnScale(w[0], d0), jnScale(w[1], d1)), jnScale(w[2], d2));
                raw[f][axis] = jnSub(sum, jnRepeat(pass->force[f][axis]));
            }
        }
        jnMakeFrames(q, i, frames);
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            jnFloats turned[3];
            jnTurnLanes(frames, true, raw[f], turned);
            for (int axis = 0; axis < 3; ++axis) {
                jnStore(fields[f] + axis * JN_LANES + i, turned[axis]);
            }
            jnStore(sizes[f] + i, jnAdd(jnAdd(jnSize(turned[0]), jnSize(turned[1])), jnSize(turned[2])));
        }
    }
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        most[f] = jnLargest(sizes[f]);
    }
}

// A field in whole numbers; `most` becomes the size of one.
static inline void RoundField(const float* field, float* most, int16_t* out)
{
    // What is not finite is not greater, either: it is then 0, as is a field so small that its steps are not.
    bool good = *most > 1e-30f && *most < 1e30f;
    float steps = good ? FIELD_STEPS / *most : 0.0f;
    for (int i = 0; i < JN_FIELD_SIZE; ++i) {
        out[i] = jnToShort(field[i] * steps);
    }
    *most = good ? *most * (1.0f / FIELD_STEPS) : 0.0f;
}

// Two fields of [3][16] whole numbers in registers.
enum { FIELD_PARTS = JN_LANES / JN_SHORTS_WIDTH };
typedef struct Fields {
    jnShorts parts[JN_MODE_FIELDS][3][FIELD_PARTS];
} Fields;

static inline void LoadFields(const int16_t* from, Fields* fields)
{
    for (int i = 0; i < JN_MODE_FIELDS * 3 * FIELD_PARTS; ++i) {
        int axis = i / FIELD_PARTS;
        fields->parts[axis / 3][axis % 3][i % FIELD_PARTS] = jnLoadShorts(from + i * JN_SHORTS_WIDTH);
    }
}

// The products of a row with field f, of one part of the 16.
static inline jnProducts MultiplyRow(const int16_t* row, const Fields* fields, int f, int part)
{
    const int16_t* at = row + part * JN_SHORTS_WIDTH;
    jnProducts sum = jnAddProducts(jnNoProducts(), jnLoadShorts(at), fields->parts[f][0][part]);
    sum = jnAddProducts(sum, jnLoadShorts(at + JN_LANES), fields->parts[f][1][part]);
    return jnAddProducts(sum, jnLoadShorts(at + 2 * JN_LANES), fields->parts[f][2][part]);
}

// sums[4 half + 2 i + f] += scale steps[f] times the products with field f of the elements j with j / 8 = half and
// j / 2 % 2 = i.
static inline void AddDot(const int16_t* row, float scale, const Fields* fields, const float* steps, float* sums)
{
#ifdef JN_VECTORS
    for (int part = 0; part < FIELD_PARTS; ++part) {
        jnInts dots = jnFold(MultiplyRow(row, fields, 0, part), MultiplyRow(row, fields, 1, part));
        jnFloats share = jnMul(jnScale(scale, jnLoad(steps + part * JN_WIDTH)), jnFromInts(dots));
        jnStore(sums + part * JN_WIDTH, jnAdd(jnLoad(sums + part * JN_WIDTH), share));
    }
#else
    int32_t pairs[JN_MODE_FIELDS][JN_LANES / 2];
    for (int part = 0; part < FIELD_PARTS; ++part) {
        jnStoreProducts(pairs[0] + part * (JN_SHORTS_WIDTH / 2), MultiplyRow(row, fields, 0, part));
        jnStoreProducts(pairs[1] + part * (JN_SHORTS_WIDTH / 2), MultiplyRow(row, fields, 1, part));
    }
    for (int i = 0; i < JN_MODE_LANES * JN_MODE_FIELDS; ++i) {
        const int32_t* pair = pairs[i % 2] + i / 4 * 4 + i / 2 % 2;
        sums[i] += (scale * steps[i]) * (float)(pair[0] + pair[2]);
    }
#endif
}

// What a block's entries give to their modes. numbers: [JN_MODE_FIELDS][ENTRY].
static inline void AddDots(
    const jnAssetModes* modes, int block, const int16_t* numbers, const float* units, float* sums)
{
    enum { SUMS = JN_MODE_LANES * JN_MODE_FIELDS };
    float steps[SUMS];
    Fields fields;
    LoadFields(numbers, &fields);
    for (int i = 0; i < SUMS; ++i) {
        steps[i] = units[i % JN_MODE_FIELDS];
    }
    for (uint32_t e = modes->starts[block]; e < modes->starts[block + 1]; ++e) {
        AddDot(modes->projections + (size_t)e * ENTRY, modes->projectionScales[e], &fields, steps,
            sums + SUMS * (size_t)modes->entryModes[e]);
    }
}

static inline void ProjectBatch(const jnModePass* pass, float weights[JN_MODE_FIELDS][3], int first, int end)
{
    const jnAssetModes* modes = pass->asset->modes;
    float q[BATCH][4][JN_LANES], fields[BATCH][JN_MODE_FIELDS][JN_FIELD_SIZE], steps[BATCH][JN_MODE_FIELDS];
    int16_t rounded[BATCH][JN_MODE_FIELDS][JN_FIELD_SIZE];
    for (int n = 0; n < end - first; ++n) {
        BlendTurns(pass, (size_t)(first + n), q[n]);
    }
    for (int n = 0; n < end - first; ++n) {
        FindFields(pass, weights, (size_t)(first + n), q[n], fields[n], steps[n]);
    }
    for (int n = 0; n < end - first; ++n) {
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            RoundField(fields[n][f], &steps[n][f], rounded[n][f]);
        }
    }
    for (int n = 0; n < end - first; ++n) {
        AddDots(modes, first + n, rounded[n][0], steps[n], pass->sums);
    }
}

static void Project(const jnModePass* pass, int first, int end)
{
    float weights[JN_MODE_FIELDS][3];
    WeighDifferences(pass, weights);
    for (; first < end; first += BATCH) {
        ProjectBatch(pass, weights, first, end - first < BATCH ? end : first + BATCH);
    }
}

// Offsets of a block in its frames from one row of amplitudes, as whole numbers.
typedef struct Offsets {
    int32_t numbers[JN_FIELD_SIZE];
    float unit; // metres, or metres a second
} Offsets;

// Amplitudes times the scales of a block's entries, with what fills a run of JN_LANES, and the sum and the largest of
// their sizes.
static inline void WeighEntries(
    const jnAssetModes* modes, size_t first, int count, const float* z, float* weights, float* sum, float* most)
{
    enum { VECTORS = JN_LANES / JN_WIDTH };
    const uint16_t* places = modes->entryModes + first;
    const float* scales = modes->shapeScales + first;
    float lastScales[JN_LANES] = {0}, sizes[JN_LANES], largest[JN_LANES];
    uint16_t lastPlaces[JN_LANES] = {0};
    jnFloats sums[VECTORS], tops[VECTORS];
    for (int v = 0; v < VECTORS; ++v) {
        sums[v] = tops[v] = jnRepeat(0.0f);
    }
    for (int e = 0; e < count; e += JN_LANES) {
        const float* scale = scales + e;
        const uint16_t* place = places + e;
        if (first + (size_t)e + JN_LANES > (size_t)modes->entryCount) { // elsewhere a run may reach into the next block
            memcpy(lastScales, scale, (size_t)(count - e) * sizeof(float));
            memcpy(lastPlaces, place, (size_t)(count - e) * sizeof(uint16_t));
            scale = lastScales;
            place = lastPlaces;
        }
        for (int v = 0; v < VECTORS; ++v) {
            int i = v * JN_WIDTH;
            jnFloats weight = jnMul(jnLoad(scale + i), jnGather(z, place + i));
            jnStore(weights + e + i, weight);
            weight = jnFirstLanes(jnSize(weight), count - e - i);
            sums[v] = jnAdd(sums[v], weight);
            tops[v] = jnMaximum(tops[v], weight);
        }
    }
    for (int v = 0; v < VECTORS; ++v) {
        jnStore(sizes + v * JN_WIDTH, sums[v]);
        jnStore(largest + v * JN_WIDTH, tops[v]);
    }
    *sum = jnSumLanes(sizes);
    *most = jnLargest(largest);
}

// Those of a block as whole numbers of 16 bits; returns the size of one.
static inline float FindFactors(const jnAssetModes* modes, size_t b, const float* amplitudes, int16_t* factors)
{
    float weights[MOST_ENTRIES + JN_LANES], sum, most;
    int count = (int)(modes->starts[b + 1] - modes->starts[b]);
    WeighEntries(modes, modes->starts[b], count, amplitudes, weights, &sum, &most);
    float unit = jnLarger(sum * (1.0f / FACTOR_SUM), most * (1.0f / FACTOR_MOST));
    bool good = sum > 1e-30f && sum < 1e30f;
    float steps = good ? 1.0f / unit : 0.0f;
    for (int e = 0; e < count; e += JN_LANES) {
        for (int i = 0; i < JN_LANES; ++i) {
            factors[e + i] = jnToShort(weights[e + i] * steps);
        }
    }
    return good ? unit : 0.0f;
}

// out[i] = sum over pairs p of numbers[p][i][0] * factors[2p] + numbers[p][i][1] * factors[2p + 1]. numbers:
// [pairs][ENTRY][2]; out: [ENTRY].
static inline void SumPairs(const int16_t* numbers, const int16_t* factors, size_t pairs, int32_t* out)
{
    enum { SUMS = 2 * ENTRY / JN_SHORTS_WIDTH };
    jnProducts sums[SUMS];
    for (int i = 0; i < SUMS; ++i) {
        sums[i] = jnNoProducts();
    }
    for (size_t p = 0; p < pairs; ++p, numbers += 2 * ENTRY) {
        jnShorts factor = jnRepeatPair(factors + 2 * p);
        for (int i = 0; i < SUMS; ++i) {
            sums[i] = jnAddProducts(sums[i], jnLoadShorts(numbers + i * JN_SHORTS_WIDTH), factor);
        }
    }
    for (int i = 0; i < SUMS; ++i) {
        jnStoreProducts(out + i * (JN_SHORTS_WIDTH / 2), sums[i]);
    }
}

static inline void SumShapes(const jnAssetModes* modes, size_t b, const float* amplitudes, Offsets* out)
{
    int16_t factors[MOST_ENTRIES + JN_LANES];
    size_t first = modes->starts[b], count = modes->starts[b + 1] - first;
    out->unit = FindFactors(modes, b, amplitudes, factors);
    SumPairs(modes->shapes + first * ENTRY, factors, count / 2, out->numbers);
}

// JN_WIDTH offsets from `lane` on, in space.
static inline void TurnOffsets(const Offsets* offsets, const jnFloats frames[9], int lane, jnFloats out[3])
{
    jnFloats own[3];
    for (int a = 0; a < 3; ++a) {
        own[a] = jnScale(offsets->unit, jnFromInts(jnLoadInts(offsets->numbers + a * JN_LANES + lane)));
    }
    jnTurnLanes(frames, false, own, out);
}

// x, y, z of a block's vertices: the base or what is there, and the offset from its frames; offsets NULL: none.
static inline void PutPositions(const jnModePass* pass, size_t b, float q[4][JN_LANES], const Offsets* offsets)
{
    const float* base = pass->base != NULL ? pass->base + b * JN_FIELD_SIZE : NULL;
    float* to = pass->positions + b * JN_FIELD_SIZE;
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        float x[3][JN_WIDTH];
        if (base != NULL) {
            for (int a = 0; a < 3; ++a) {
                jnStore(x[a], jnLoad(base + a * JN_LANES + i));
            }
        } else {
            jnUnpack(to + 3 * i, x[0], x[1], x[2]);
        }
        if (offsets != NULL) {
            jnFloats frames[9], turned[3];
            jnMakeFrames(q, i, frames);
            TurnOffsets(offsets, frames, i, turned);
            for (int a = 0; a < 3; ++a) {
                jnStore(x[a], jnAdd(jnLoad(x[a]), turned[a]));
            }
        }
        jnPack(x[0], x[1], x[2], to + 3 * i);
    }
}

// What the turning of its frame adds to the velocity of an offset in space.
static inline void AddSpin(const jnModePass* pass, size_t b, const float* offset, float* velocity)
{
    const jnAsset* asset = pass->asset;
    int count = (int)(asset->influenceStarts[b + 1] - asset->influenceStarts[b]);
    for (int v = 0; v < JN_LANES; ++v) {
        size_t at = (size_t)asset->influenceStarts[b] * JN_LANES + (size_t)(v * count);
        float spin[3] = {0};
        for (int k = 0; k < count; ++k) {
            const float* joint = pass->spins + 3 * (size_t)asset->influenceJoints[at + (size_t)k];
            float weight = asset->influenceWeights[at + (size_t)k];
            for (int i = 0; i < 3; ++i) {
                spin[i] += weight * joint[i];
            }
        }
        float x = offset[v], y = offset[JN_LANES + v], z = offset[2 * JN_LANES + v];
        velocity[v] += spin[1] * z - spin[2] * y;
        velocity[JN_LANES + v] += spin[2] * x - spin[0] * z;
        velocity[2 * JN_LANES + v] += spin[0] * y - spin[1] * x;
    }
}

// Offsets of a block and their velocities in space, as the springs take them.
static inline void PutOffsets(const jnModePass* pass, size_t b, float q[4][JN_LANES], const Offsets* offsets)
{
    float* out = pass->added + b * JN_MODE_FIELDS * JN_FIELD_SIZE;
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats frames[9], turned[3];
        jnMakeFrames(q, i, frames);
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            TurnOffsets(offsets + f, frames, i, turned);
            for (int a = 0; a < 3; ++a) {
                jnStore(out + f * JN_FIELD_SIZE + a * JN_LANES + i, turned[a]);
            }
        }
    }
    if (pass->spins != NULL) {
        AddSpin(pass, b, out, out + JN_FIELD_SIZE);
    }
}

static void Show(const jnModePass* pass, int first, int end)
{
    const jnAssetModes* modes = pass->asset->modes;
    int fields = pass->added != NULL ? JN_MODE_FIELDS : 1;
    for (int block = first; block < end; ++block) {
        size_t b = (size_t)block;
        float q[4][JN_LANES];
        Offsets offsets[JN_MODE_FIELDS];
        bool moves = modes->starts[b] < modes->starts[b + 1] && (pass->mask == NULL || pass->mask[b] != 0);
        if (moves) {
            for (int f = 0; f < fields; ++f) {
                SumShapes(modes, b, pass->amplitudes + (size_t)f * pass->stride, offsets + f);
            }
            BlendTurns(pass, b, q);
        }
        if (pass->added == NULL && (moves || pass->base != NULL)) {
            PutPositions(pass, b, q, moves ? offsets : NULL);
        } else if (pass->added != NULL && moves) {
            PutOffsets(pass, b, q, offsets);
        } else if (pass->added != NULL) {
            memset(pass->added + b * JN_MODE_FIELDS * JN_FIELD_SIZE, 0, JN_MODE_FIELDS * JN_FIELD_SIZE * sizeof(float));
        }
    }
}

// out = scale S x for both rows.
static inline void MultiplyTurn(const float* columns, int count, int lanes, float scale, const float* x, float* out)
{
    enum { VECTORS = JN_LANES / JN_WIDTH };
    for (int start = 0; start < lanes; start += JN_LANES) {
        jnFloats first[VECTORS], second[VECTORS];
        for (int v = 0; v < VECTORS; ++v) {
            first[v] = second[v] = jnRepeat(0.0f);
        }
        for (int l = 0; l < count; ++l) {
            const float* column = columns + (size_t)l * (size_t)lanes + start;
            for (int v = 0; v < VECTORS; ++v) {
                jnFloats s = jnLoad(column + v * JN_WIDTH);
                first[v] = jnAdd(first[v], jnScale(x[l], s));
                second[v] = jnAdd(second[v], jnScale(x[lanes + l], s));
            }
        }
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(out + start + v * JN_WIDTH, jnScale(scale, first[v]));
            jnStore(out + lanes + start + v * JN_WIDTH, jnScale(scale, second[v]));
        }
    }
}

// exp(-S/m) by its series, m times.
static void TurnAmplitudes(const float* columns, int count, int lanes, int parts, int terms, float* x, float* work)
{
    float *from = work, *to = work + 2 * (size_t)lanes;
    for (int part = 0; part < parts; ++part) {
        memcpy(from, x, 2 * (size_t)lanes * sizeof(float));
        for (int n = 1; n <= terms; ++n) {
            MultiplyTurn(columns, count, lanes, -1.0f / (float)(n * parts), from, to);
            for (int i = 0; i < 2 * lanes; i += JN_WIDTH) {
                jnStore(x + i, jnAdd(jnLoad(x + i), jnLoad(to + i)));
            }
            float* swap = from;
            from = to;
            to = swap;
        }
    }
}

static void AddSpins(const jnAssetSpin* spins, size_t count, const float angle[3], float* pairs)
{
    size_t n = 0;
#ifdef JN_VECTORS
    for (; n + 4 <= count; n += 4) {
        jnFour spin[4];
        float rows[4][4], sums[4];
        for (int i = 0; i < 4; ++i) {
            memcpy(rows[i], &spins[n + (size_t)i], sizeof(rows[i]));
            spin[i] = jnLoadFour(rows[i]);
        }
        jnStoreTransposed(spin, rows[0], 4); // the pairs' numbers, then the shares by axis
        jnFour sum = jnAddFour(jnScaleFour(angle[0], jnLoadFour(rows[1])), jnScaleFour(angle[1], jnLoadFour(rows[2])));
        jnStoreFour(sums, jnAddFour(sum, jnScaleFour(angle[2], jnLoadFour(rows[3]))));
        for (size_t i = 0; i < 4; ++i) {
            pairs[spins[n + i].pair] += sums[i];
        }
    }
#endif
    for (; n < count; ++n) {
        const float* share = spins[n].share;
        pairs[spins[n].pair] += angle[0] * share[0] + angle[1] * share[1] + angle[2] * share[2];
    }
}

const jnModeKernels JN_KERNELS = {Project, Show, TurnAmplitudes, AddSpins};
