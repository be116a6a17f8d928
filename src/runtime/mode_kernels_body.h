// The body of the kernels of modes; see mode_kernels.h.
//
// An entry is a mode's share of a block: 3 x 16 whole numbers of 16 bits and a scale. Fields and amplitudes are rounded
// to whole numbers as well, block by block, so that both products are sums of exact products of 16 bits, sixteen to an
// instruction: a field to 14 bits of its largest number in the block, amplitudes to 16 bits of the sum of their sizes,
// which no sum can then leave. Sums over blocks are floats, in an order that does not depend on the width of a
// register.
#include "lanes.h"
#include "mode_kernels.h"
#include "vertex_frames_body.h"

#include <string.h>

enum { ENTRY = 3 * JN_LANES, MOST_ENTRIES = 1024 };
// Three pairs of products with a number of 16 bits stay below 2^31.
#define FIELD_STEPS 8191.0f
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

// The two fields of a block, in its frames.
static inline void FindFields(const jnModePass* pass, const float weights[JN_MODE_FIELDS][3], size_t b,
    const jnBlockFrames* frames, float fields[JN_MODE_FIELDS][JN_FIELD_SIZE])
{
    float raw[JN_MODE_FIELDS][JN_FIELD_SIZE];
    for (int i = 0; i < JN_FIELD_SIZE; i += JN_WIDTH) {
        size_t at = b * JN_FIELD_SIZE + (size_t)i;
        jnFloats s0 = jnLoad(pass->samples[0] + at), s1 = jnLoad(pass->samples[1] + at);
        jnFloats s2 = jnLoad(pass->samples[2] + at), s3 = jnLoad(pass->samples[3] + at);
        jnFloats d0 = s1 - s0, d1 = s2 - s1, d2 = s3 - s2;
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            const float* w = weights[f];
            jnStore(raw[f] + i, (w[0] * d0 + w[1] * d1 + w[2] * d2) - pass->force[f][i / JN_LANES]);
        }
    }
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        jnTurnBlock(frames, true, raw[f], fields[f]);
    }
}

// A field in whole numbers; returns the size of one.
static inline float RoundField(const float* field, int16_t* out)
{
    float sizes[JN_LANES];
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats x = jnLoad(field + i), y = jnLoad(field + JN_LANES + i), z = jnLoad(field + 2 * JN_LANES + i);
        x = jnSelectAtLeast(x, -x, x, -x);
        y = jnSelectAtLeast(y, -y, y, -y);
        z = jnSelectAtLeast(z, -z, z, -z);
        x = jnSelectAtLeast(x, y, x, y);
        jnStore(sizes + i, jnSelectAtLeast(x, z, x, z));
    }
    float most = jnLargest(sizes);
    // What is not finite is not greater, either: it is then 0, as is a field so small that its steps are not.
    float steps = most > 1e-30f && most < 1e30f ? FIELD_STEPS / most : 0.0f;
    for (int i = 0; i < JN_FIELD_SIZE; ++i) {
        out[i] = jnToShort(field[i] * steps);
    }
    return steps > 0.0f ? most / FIELD_STEPS : 0.0f;
}

static void Project(const jnModePass* pass, int first, int end)
{
    const jnAsset* asset = pass->asset;
    const jnAssetModes* modes = asset->modes;
    float weights[JN_MODE_FIELDS][3];
    WeighDifferences(pass, weights);
    for (int block = first; block < end; ++block) {
        size_t b = (size_t)block, entry = modes->starts[b], count = modes->starts[b + 1] - entry;
        if (count == 0) {
            continue;
        }
        jnBlockFrames frames;
        float fields[JN_MODE_FIELDS][JN_FIELD_SIZE], steps[JN_MODE_FIELDS];
        int16_t rounded[JN_MODE_FIELDS][JN_FIELD_SIZE];
        jnMakeFrames(asset->influenceStarts, asset->influenceJoints, asset->influenceWeights, b, pass->turns,
            pass->aligned, &frames);
        FindFields(pass, weights, b, &frames, fields);
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            steps[f] = RoundField(fields[f], rounded[f]);
        }
        jnAddDots(modes->projections + entry * ENTRY, modes->projectionScales + entry, modes->entryModes + entry, count,
            rounded[0], steps, pass->sums);
    }
}

// Offsets of a block in its frames from one row of amplitudes.
static inline void SumShapes(const jnAssetModes* modes, size_t b, const float* amplitudes, float* out)
{
    float weights[MOST_ENTRIES + JN_LANES], sizes[JN_LANES] = {0}, largest[JN_LANES] = {0}, sum = 0.0f;
    int16_t factors[MOST_ENTRIES + JN_LANES];
    int32_t sums[JN_FIELD_SIZE];
    size_t first = modes->starts[b], count = modes->starts[b + 1] - first;
    for (size_t e = 0; e < count; ++e) {
        weights[e] = modes->shapeScales[first + e] * amplitudes[modes->entryModes[first + e]];
    }
    memset(weights + count, 0, JN_LANES * sizeof(float));
    for (size_t e = 0; e < count; e += JN_LANES) {
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnFloats w = jnLoad(weights + e + i), old = jnLoad(largest + i);
            w = jnSelectAtLeast(w, -w, w, -w);
            jnStore(sizes + i, jnLoad(sizes + i) + w);
            jnStore(largest + i, jnSelectAtLeast(old, w, old, w));
        }
    }
    for (int i = 0; i < JN_LANES / 4; ++i) {
        sum += (sizes[4 * i] + sizes[4 * i + 1]) + (sizes[4 * i + 2] + sizes[4 * i + 3]);
    }
    float most = jnLargest(largest);
    bool good = sum > 1e-30f && sum < 1e30f;
    float steps = good ? FACTOR_SUM / sum : 0.0f, limit = good ? FACTOR_MOST / most : 0.0f;
    steps = steps < limit ? steps : limit;
    for (size_t e = 0; e < count; e += JN_LANES) {
        for (size_t i = 0; i < JN_LANES; ++i) {
            factors[e + i] = jnToShort(weights[e + i] * steps);
        }
    }
    jnSumPairs(modes->shapes + first * ENTRY, factors, count / 2, sums);
    float unit = good ? 1.0f / steps : 0.0f;
    for (int i = 0; i < JN_FIELD_SIZE; ++i) {
        out[i] = unit * (float)sums[i];
    }
}

// x, y, z of a block's vertices: the base or what is there, and the offset from its frames; offset NULL: none.
static inline void PutPositions(const jnModePass* pass, size_t b, const jnBlockFrames* frames, const float* offset)
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
        for (int a = 0; offset != NULL && a < 3; ++a) {
            const float* row = frames->m[3 * a] + i;
            jnFloats turned = jnLoad(row) * jnLoad(offset + i) +
                              jnLoad(row + JN_LANES) * jnLoad(offset + JN_LANES + i) +
                              jnLoad(row + 2 * JN_LANES) * jnLoad(offset + 2 * JN_LANES + i);
            jnStore(x[a], jnLoad(x[a]) + turned);
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
static inline void PutOffsets(const jnModePass* pass, size_t b, const jnBlockFrames* frames, const float* offsets)
{
    float* out = pass->added + b * JN_MODE_FIELDS * JN_FIELD_SIZE;
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        jnTurnBlock(frames, false, offsets + f * JN_FIELD_SIZE, out + f * JN_FIELD_SIZE);
    }
    if (pass->spins != NULL) {
        AddSpin(pass, b, out, out + JN_FIELD_SIZE);
    }
}

static void Show(const jnModePass* pass, int first, int end)
{
    const jnAsset* asset = pass->asset;
    const jnAssetModes* modes = asset->modes;
    int fields = pass->added != NULL ? JN_MODE_FIELDS : 1;
    for (int block = first; block < end; ++block) {
        size_t b = (size_t)block;
        float offsets[JN_MODE_FIELDS * JN_FIELD_SIZE];
        jnBlockFrames frames;
        bool moves = modes->starts[b] < modes->starts[b + 1] && (pass->mask == NULL || pass->mask[b] != 0);
        if (moves) {
            for (int f = 0; f < fields; ++f) {
                SumShapes(modes, b, pass->amplitudes + (size_t)f * pass->stride, offsets + f * JN_FIELD_SIZE);
            }
            jnMakeFrames(asset->influenceStarts, asset->influenceJoints, asset->influenceWeights, b, pass->turns,
                pass->aligned, &frames);
        }
        if (pass->added == NULL && (moves || pass->base != NULL)) {
            PutPositions(pass, b, &frames, moves ? offsets : NULL);
        } else if (pass->added != NULL && moves) {
            PutOffsets(pass, b, &frames, offsets);
        } else if (pass->added != NULL) {
            memset(pass->added + b * JN_MODE_FIELDS * JN_FIELD_SIZE, 0, JN_MODE_FIELDS * JN_FIELD_SIZE * sizeof(float));
        }
    }
}

// out = scale S x for both rows.
static inline void MultiplyTurn(const float* columns, int count, int lanes, float scale, const float* x, float* out)
{
    memset(out, 0, 2 * (size_t)lanes * sizeof(float));
    for (int l = 0; l < count; ++l) {
        const float* column = columns + (size_t)l * (size_t)lanes;
        float a = scale * x[l], b = scale * x[lanes + l];
        for (int i = 0; i < lanes; i += JN_WIDTH) {
            jnFloats s = jnLoad(column + i);
            jnStore(out + i, jnLoad(out + i) + a * s);
            jnStore(out + lanes + i, jnLoad(out + lanes + i) + b * s);
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
                jnStore(x + i, jnLoad(x + i) + jnLoad(to + i));
            }
            float* swap = from;
            from = to;
            to = swap;
        }
    }
}

const jnModeKernels JN_KERNELS = {Project, Show, TurnAmplitudes};
