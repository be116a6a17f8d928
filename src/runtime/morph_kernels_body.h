// The body of the kernels of morph weights; see morph_kernels.h.
//
// Sums run over the inputs of a product lane by lane, those of even and those of odd number apart so that they do not
// wait for each other, in the same order at every width and for any number of characters.
#include "lanes.h"
#include "morph_kernels.h"

#include <string.h>

enum { VECTORS = JN_LANES / JN_WIDTH };
// Characters whose sums fit the registers, and blocks of a rotation's.
enum {
    TOGETHER = JN_WIDTH == 16  ? 8
               : JN_WIDTH == 8 ? 2
                               : 1,
    TURN_BLOCKS = JN_WIDTH == 16  ? 4
                  : JN_WIDTH == 8 ? 2
                                  : 1
};

static inline void MakeFrame(const float* q, float m[9])
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    m[0] = 1.0f - 2.0f * (y * y + z * z);
    m[1] = 2.0f * (x * y - z * w);
    m[2] = 2.0f * (x * z + y * w);
    m[3] = 2.0f * (x * y + z * w);
    m[4] = 1.0f - 2.0f * (x * x + z * z);
    m[5] = 2.0f * (y * z - x * w);
    m[6] = 2.0f * (x * z - y * w);
    m[7] = 2.0f * (y * z + x * w);
    m[8] = 1.0f - 2.0f * (x * x + y * y);
}

// Plain loops of twelve, which compilers make vectors of.
static void MakeForcing(const jnForcingPass* pass)
{
    for (int n = 0; n < pass->count; ++n) {
        size_t j = pass->joints[n];
        float differences[3][12], frame[9];
        for (int i = 0; i < 3; ++i) {
            const float *from = pass->rows[i] + 12 * j, *to = pass->rows[i + 1] + 12 * j;
            for (int k = 0; k < 12; ++k) {
                differences[i][k] = to[k] - from[k];
            }
        }
        MakeFrame(pass->turns + 4 * (size_t)(pass->frames != NULL ? pass->frames[n] : n), frame);
        for (int f = 0; f < pass->fieldCount; ++f) {
            const float *w = pass->weights[f], *common = pass->common[f];
            float field[12], *out = pass->out[f] + 12 * (size_t)n;
            for (int k = 0; k < 12; ++k) {
                float sum = (w[0] * differences[0][k] + w[1] * differences[1][k]) + w[2] * differences[2][k];
                field[k] = sum + common[k];
            }
            for (int row = 0; row < 3; ++row) {
                for (int k = 0; k < 4; ++k) {
                    out[4 * row + k] =
                        (frame[row] * field[k] + frame[3 + row] * field[4 + k]) + frame[6 + row] * field[8 + k];
                }
            }
        }
    }
}

static inline void AddRow(
    const jnProductPass* pass, const float* weights, size_t at, int first, int count, jnFloats sums[TOGETHER][VECTORS])
{
    jnFloats row[VECTORS];
    JN_UNROLL
    for (int v = 0; v < VECTORS; ++v) {
        row[v] = jnLoad(weights + v * JN_WIDTH);
    }
    JN_UNROLL
    for (int n = 0; n < count; ++n) {
        jnFloats x = jnRepeat(pass->inputs[first + n][at]);
        JN_UNROLL
        for (int v = 0; v < VECTORS; ++v) {
            sums[n][v] = jnAdd(sums[n][v], jnMul(x, row[v]));
        }
    }
}

// One block of outputs of `count` inputs, a constant wherever this is called: weights are read once for all of them.
static inline void MultiplyBlock(const jnProductPass* pass, int block, int first, int count)
{
    jnFloats even[TOGETHER][VECTORS], odd[TOGETHER][VECTORS];
    size_t size = (size_t)pass->groupSize;
    JN_UNROLL
    for (int n = 0; n < count; ++n) {
        JN_UNROLL
        for (int v = 0; v < VECTORS; ++v) {
            even[n][v] = odd[n][v] = jnRepeat(0.0f);
        }
    }
    for (size_t e = pass->starts[block]; e < pass->starts[block + 1]; ++e) {
        const float* weights = pass->weights + e * size * JN_LANES;
        size_t at = (pass->groups != NULL ? pass->groups[e] : e - pass->starts[block]) * size, end = at + size;
        for (; at + 1 < end; at += 2, weights += 2 * JN_LANES) {
            AddRow(pass, weights, at, first, count, even);
            AddRow(pass, weights + JN_LANES, at + 1, first, count, odd);
        }
        if (at < end) {
            AddRow(pass, weights, at, first, count, even);
        }
    }
    JN_UNROLL
    for (int n = 0; n < count; ++n) {
        JN_UNROLL
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(pass->outputs[first + n] + block * JN_LANES + v * JN_WIDTH, jnAdd(even[n][v], odd[n][v]));
        }
    }
}

static void Multiply(const jnProductPass* pass)
{
    for (int block = 0; block < pass->blockCount; ++block) {
        int n = 0;
        for (; n + TOGETHER <= pass->count; n += TOGETHER) {
            MultiplyBlock(pass, block, n, TOGETHER);
        }
        for (; TOGETHER > 2 && n + 2 <= pass->count; n += 2) {
            MultiplyBlock(pass, block, n, 2);
        }
        for (; TOGETHER > 1 && n < pass->count; ++n) {
            MultiplyBlock(pass, block, n, 1);
        }
    }
}

// `blocks` blocks of S x from lane `start` on, for `rows` rows of x; constants wherever this is called.
static inline void ApplyBlocks(const float* columns, int count, int lanes, int start, int blocks, int rows,
    const float* x, float scale, float* out)
{
    jnFloats sums[2][TURN_BLOCKS * VECTORS];
    JN_UNROLL
    for (int v = 0; v < blocks * VECTORS; ++v) {
        sums[0][v] = sums[1][v] = jnRepeat(0.0f);
    }
    for (int l = 0; l < count; ++l) {
        const float* column = columns + (size_t)l * (size_t)lanes + start;
        jnFloats first = jnRepeat(x[l]), second = rows > 1 ? jnRepeat(x[lanes + l]) : first;
        JN_UNROLL
        for (int v = 0; v < blocks * VECTORS; ++v) {
            jnFloats s = jnLoad(column + v * JN_WIDTH);
            sums[0][v] = jnAdd(sums[0][v], jnMul(first, s));
            if (rows > 1) {
                sums[1][v] = jnAdd(sums[1][v], jnMul(second, s));
            }
        }
    }
    JN_UNROLL
    for (int v = 0; v < blocks * VECTORS; ++v) {
        jnStore(out + start + v * JN_WIDTH, jnScale(scale, sums[0][v]));
        if (rows > 1) {
            jnStore(out + lanes + start + v * JN_WIDTH, jnScale(scale, sums[1][v]));
        }
    }
}

static float Bound(const float* columns, int count, int lanes)
{
    float largest = 0.0f;
    for (int start = 0; start < lanes; start += JN_LANES) {
        jnFloats sums[VECTORS];
        float rows[JN_LANES];
        JN_UNROLL
        for (int v = 0; v < VECTORS; ++v) {
            sums[v] = jnRepeat(0.0f);
        }
        for (int l = 0; l < count; ++l) {
            JN_UNROLL
            for (int v = 0; v < VECTORS; ++v) {
                sums[v] = jnAdd(sums[v], jnSize(jnLoad(columns + (size_t)l * (size_t)lanes + start + v * JN_WIDTH)));
            }
        }
        JN_UNROLL
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(rows + v * JN_WIDTH, sums[v]);
        }
        for (int k = 0; k < JN_LANES; ++k) {
            largest = rows[k] > largest ? rows[k] : largest;
        }
    }
    return largest;
}

static void Apply(const float* columns, int count, int lanes, const float* x, float* out)
{
    int start = 0;
    for (; start + TURN_BLOCKS * JN_LANES <= lanes; start += TURN_BLOCKS * JN_LANES) {
        ApplyBlocks(columns, count, lanes, start, TURN_BLOCKS, 1, x, 1.0f, out);
    }
    for (; TURN_BLOCKS > 1 && start < lanes; start += JN_LANES) {
        ApplyBlocks(columns, count, lanes, start, 1, 1, x, 1.0f, out);
    }
}

// out = scale S x for both rows.
static void ApplyToBoth(const float* columns, int count, int lanes, float scale, const float* x, float* out)
{
    int start = 0;
    for (; start + TURN_BLOCKS * JN_LANES <= lanes; start += TURN_BLOCKS * JN_LANES) {
        ApplyBlocks(columns, count, lanes, start, TURN_BLOCKS, 2, x, scale, out);
    }
    for (; TURN_BLOCKS > 1 && start < lanes; start += JN_LANES) {
        ApplyBlocks(columns, count, lanes, start, 1, 2, x, scale, out);
    }
}

// exp(-S/m) by its series, m times.
static void TurnAmplitudes(const float* columns, int count, int lanes, int parts, int terms, float* x, float* work)
{
    float *from = work, *to = work + 2 * (size_t)lanes;
    for (int part = 0; part < parts; ++part) {
        memcpy(from, x, 2 * (size_t)lanes * sizeof(float));
        for (int n = 1; n <= terms; ++n) {
            ApplyToBoth(columns, count, lanes, -1.0f / (float)(n * parts), from, to);
            for (int i = 0; i < 2 * lanes; i += JN_WIDTH) {
                jnStore(x + i, jnAdd(jnLoad(x + i), jnLoad(to + i)));
            }
            float* swap = from;
            from = to;
            to = swap;
        }
    }
}

const jnMorphKernels JN_KERNELS = {MakeForcing, Multiply, TurnAmplitudes, Bound, Apply};
