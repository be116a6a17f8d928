// The body of the kernels of morph weights; see morph_kernels.h.
//
// Sums run over the entries of a product one after another, lane by lane, in the same order at every width and for any
// number of characters.
#include "lanes.h"
#include "morph_kernels.h"

#include <string.h>

enum { VECTORS = JN_LANES / JN_WIDTH, TOGETHER = 4 };

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
            const float *from = pass->linear[i] + 9 * j, *to = pass->linear[i + 1] + 9 * j;
            const double *start = pass->places[i] + 3 * j, *end = pass->places[i + 1] + 3 * j;
            for (int k = 0; k < 9; ++k) {
                differences[i][4 * (k / 3) + k % 3] = to[k] - from[k];
            }
            for (int k = 0; k < 3; ++k) {
                differences[i][4 * k + 3] = (float)(end[k] - start[k]);
            }
        }
        MakeFrame(pass->turns + 4 * j, frame);
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            const float* w = pass->weights[f];
            float field[12], *out = pass->out[f] + 12 * (size_t)n;
            for (int k = 0; k < 12; ++k) {
                field[k] = (w[0] * differences[0][k] + w[1] * differences[1][k]) + w[2] * differences[2][k];
            }
            for (int k = 0; k < 3; ++k) {
                field[4 * k + 3] -= pass->force[f][k];
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

// One block of outputs of `count` inputs, a constant wherever this is called: enough sums that do not wait for each
// other, and weights that are read once for all of them.
static inline void MultiplyBlock(const jnProductPass* pass, int block, int first, int count)
{
    jnFloats sums[TOGETHER][VECTORS];
    size_t size = (size_t)pass->groupSize;
    for (int n = 0; n < count; ++n) {
        for (int v = 0; v < VECTORS; ++v) {
            sums[n][v] = jnRepeat(0.0f);
        }
    }
    for (size_t e = pass->starts[block]; e < pass->starts[block + 1]; ++e) {
        const float* weights = pass->weights + e * size * JN_LANES;
        size_t at = (pass->groups != NULL ? pass->groups[e] : e - pass->starts[block]) * size;
        for (size_t i = 0; i < size; ++i, weights += JN_LANES) {
            jnFloats row[VECTORS];
            for (int v = 0; v < VECTORS; ++v) {
                row[v] = jnLoad(weights + v * JN_WIDTH);
            }
            for (int n = 0; n < count; ++n) {
                jnFloats x = jnRepeat(pass->inputs[first + n][at + i]);
                for (int v = 0; v < VECTORS; ++v) {
                    sums[n][v] = jnAdd(sums[n][v], jnMul(x, row[v]));
                }
            }
        }
    }
    for (int n = 0; n < count; ++n) {
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(pass->outputs[first + n] + block * JN_LANES + v * JN_WIDTH, sums[n][v]);
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
        for (; n + 2 <= pass->count; n += 2) {
            MultiplyBlock(pass, block, n, 2);
        }
        if (n < pass->count) {
            MultiplyBlock(pass, block, n, 1);
        }
    }
}

// out = scale S x for both rows.
static inline void MultiplyTurn(const float* columns, int count, int lanes, float scale, const float* x, float* out)
{

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

const jnMorphKernels JN_KERNELS = {MakeForcing, Multiply, TurnAmplitudes};
