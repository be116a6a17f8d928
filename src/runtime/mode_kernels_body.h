// The body of the kernels of modes; see mode_kernels.h.
//
// An entry is a mode's share of a block: 3 x 16 whole numbers of 16 bits and a scale. Sums over vertices are kept lane
// by lane and added up at the end, so that their order does not depend on the width of a register.
#include "lanes.h"
#include "mode_kernels.h"
#include "vertex_frames_body.h"

#include <string.h>

enum { ENTRY = 3 * JN_LANES };

// The two fields of a block, in its frames.
static inline void FindFields(
    const jnModePass* pass, size_t b, const jnBlockFrames* frames, float fields[JN_MODE_FIELDS][JN_FIELD_SIZE])
{
    const float r0 = pass->ratios[0], r1 = pass->ratios[1], r2 = pass->ratios[2];
    const bool exact = pass->own == 1;
    float raw[JN_MODE_FIELDS][JN_FIELD_SIZE];
    for (int i = 0; i < JN_FIELD_SIZE; i += JN_WIDTH) {
        size_t at = b * JN_FIELD_SIZE + (size_t)i;
        jnFloats s0 = jnLoad(pass->samples[0] + at), s1 = jnLoad(pass->samples[1] + at);
        jnFloats s2 = jnLoad(pass->samples[2] + at), s3 = jnLoad(pass->samples[3] + at);
        jnFloats d0 = (s1 - s0) * r0, d1 = (s2 - s1) * r1, d2 = (s3 - s2) * r2;
        jnFloats line = exact ? d1 : d2, e0 = d1 - d0, e1 = d2 - d1;
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            const float* w = pass->weights[f];
            jnStore(raw[f] + i, (w[0] * line + w[1] * e0 + w[2] * e1) - pass->force[f][i / JN_LANES]);
        }
    }
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        jnTurnBlock(frames, true, raw[f], fields[f]);
    }
}

static void Project(const jnModePass* pass, int first, int end)
{
    const jnAsset* asset = pass->asset;
    const jnAssetModes* modes = asset->modes;
    for (int block = first; block < end; ++block) {
        size_t b = (size_t)block;
        if (modes->starts[b] == modes->starts[b + 1]) {
            continue;
        }
        jnBlockFrames frames;
        float fields[JN_MODE_FIELDS][JN_FIELD_SIZE];
        jnMakeFrames(asset->influenceStarts, asset->influenceJoints, asset->influenceWeights, b, pass->turns, &frames);
        FindFields(pass, b, &frames, fields);
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            const jnFloats ax = jnLoad(fields[0] + i), ay = jnLoad(fields[0] + JN_LANES + i);
            const jnFloats az = jnLoad(fields[0] + 2 * JN_LANES + i), bx = jnLoad(fields[1] + i);
            const jnFloats by = jnLoad(fields[1] + JN_LANES + i), bz = jnLoad(fields[1] + 2 * JN_LANES + i);
            for (size_t e = modes->starts[b]; e < modes->starts[b + 1]; ++e) {
                const int16_t* p = modes->projections + e * ENTRY + i;
                float* sum = pass->sums + (size_t)modes->entryModes[e] * JN_MODE_FIELDS * JN_LANES + i;
                jnFloats x = jnFromShorts(p), y = jnFromShorts(p + JN_LANES), z = jnFromShorts(p + 2 * JN_LANES);
                float scale = modes->projectionScales[e];
                jnStore(sum, jnLoad(sum) + scale * (x * ax + y * ay + z * az));
                jnStore(sum + JN_LANES, jnLoad(sum + JN_LANES) + scale * (x * bx + y * by + z * bz));
            }
        }
    }
}

// Offsets of a block in its frames, one for each of the first `fields` amplitudes.
static inline void SumShapes(const jnModePass* pass, size_t b, int fields, float* out)
{
    const jnAssetModes* modes = pass->asset->modes;
    for (int f = 0; f < fields; ++f) {
        const float* amplitudes = pass->amplitudes + (size_t)f * pass->stride;
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnFloats x = jnLoad(out), y, z;
            x = x - x; // out is 0 at the start: this is, too, in every lane
            y = x;
            z = x;
            for (size_t e = modes->starts[b]; e < modes->starts[b + 1]; ++e) {
                const int16_t* u = modes->shapes + e * ENTRY + i;
                float amplitude = modes->shapeScales[e] * amplitudes[modes->entryModes[e]];
                x += amplitude * jnFromShorts(u);
                y += amplitude * jnFromShorts(u + JN_LANES);
                z += amplitude * jnFromShorts(u + 2 * JN_LANES);
            }
            jnStore(out + f * JN_FIELD_SIZE + i, x);
            jnStore(out + f * JN_FIELD_SIZE + JN_LANES + i, y);
            jnStore(out + f * JN_FIELD_SIZE + 2 * JN_LANES + i, z);
        }
    }
}

// x, y, z of a block's vertices: the base or what is there, and the offset.
static inline void PutPositions(const jnModePass* pass, size_t b, const float* offset)
{
    float x[JN_FIELD_SIZE];
    float* to = pass->positions + b * JN_FIELD_SIZE;
    if (pass->base != NULL) {
        memcpy(x, pass->base + b * JN_FIELD_SIZE, sizeof(x));
    } else {
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnUnpack(to + 3 * i, x + i, x + JN_LANES + i, x + 2 * JN_LANES + i);
        }
    }
    for (int i = 0; i < JN_FIELD_SIZE; i += JN_WIDTH) {
        jnStore(x + i, jnLoad(x + i) + jnLoad(offset + i));
    }
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnPack(x + i, x + JN_LANES + i, x + 2 * JN_LANES + i, to + 3 * i);
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

static void Show(const jnModePass* pass, int first, int end)
{
    const jnAsset* asset = pass->asset;
    const jnAssetModes* modes = asset->modes;
    int fields = pass->added != NULL ? JN_MODE_FIELDS : 1;
    for (int block = first; block < end; ++block) {
        size_t b = (size_t)block;
        float offsets[JN_MODE_FIELDS * JN_FIELD_SIZE] = {0};
        float* out = pass->added != NULL ? pass->added + b * JN_MODE_FIELDS * JN_FIELD_SIZE : offsets;
        bool moves = modes->starts[b] < modes->starts[b + 1] && (pass->mask == NULL || pass->mask[b] != 0);
        if (moves) {
            jnBlockFrames frames;
            SumShapes(pass, b, fields, offsets);
            jnMakeFrames(
                asset->influenceStarts, asset->influenceJoints, asset->influenceWeights, b, pass->turns, &frames);
            for (int f = 0; f < fields; ++f) {
                float turned[JN_FIELD_SIZE];
                jnTurnBlock(&frames, false, offsets + f * JN_FIELD_SIZE, turned);
                memcpy(out + f * JN_FIELD_SIZE, turned, sizeof(turned));
            }
            if (pass->spins != NULL && fields == JN_MODE_FIELDS) {
                AddSpin(pass, b, out, out + JN_FIELD_SIZE);
            }
        } else if (pass->added != NULL) {
            memset(out, 0, JN_MODE_FIELDS * JN_FIELD_SIZE * sizeof(float));
        }
        if (pass->added == NULL && (moves || pass->base != NULL)) {
            PutPositions(pass, b, offsets);
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

// exp(-S/m) by its series, m times; the norm of S/m is at most a quarter, so that what is left out is below 1e-5 of it.
static void TurnAmplitudes(const float* columns, int count, int lanes, int parts, float* x, float* work)
{
    enum { TERMS = 5 };
    float *from = work, *to = work + 2 * (size_t)lanes;
    for (int part = 0; part < parts; ++part) {
        memcpy(from, x, 2 * (size_t)lanes * sizeof(float));
        for (int n = 1; n <= TERMS; ++n) {
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
