// The body of the network's kernels; see network_kernels.h.
//
// Sums run over the inputs one after another, lane by lane, in the same order at every width and for any number of
// characters. So all give the same bytes.
#include "jounce/asset.h"
#include "lanes.h"
#include "network_kernels.h"

#include <string.h>

enum { VECTORS = JN_LANES / JN_WIDTH, FIELD = 3 * JN_LANES };
// Blocks and characters whose sums fit the registers.
enum { LAYER_BLOCKS = VECTORS == 1 ? 8 : 4, TOGETHER = VECTORS > 2 ? 2 : 8 / VECTORS, PIXELS = 4 };

// exp(x) to 2 ulp for |x| up to 80: 2^n times a polynomial on [-1/2, 1/2] in ln 2. Not libm's, which differs from
// machine to machine.
static inline jnFloats Exp(jnFloats x)
{
    static const float factors[6] = {1.38888866e-3f, 8.33345205e-3f, 0.0416666507f, 0.166666657f, 0.5f, 1.0f};
    jnFloats most = jnRepeat(-80.0f), none = jnRepeat(0.0f), shift = jnRepeat(12582912.0f);
    x = jnSub(none, jnMaximum(jnSub(none, jnMaximum(x, most)), most));
    jnFloats whole = jnSub(jnAdd(jnScale(1.44269504f, x), shift), shift);
    // ln 2 in two parts
    jnFloats f = jnAdd(jnSub(x, jnScale(0.693359375f, whole)), jnScale(2.12194440e-4f, whole));
    jnFloats p = jnRepeat(factors[0]);
    for (int i = 1; i < 6; ++i) {
        p = jnAdd(jnRepeat(factors[i]), jnMul(f, p));
    }
    return jnMul(jnAdd(jnRepeat(1.0f), jnMul(f, p)), jnPowerOfTwo(whole));
}

// count: whole blocks
static void Activate(float* values, int count, jnActivation activation)
{
    if (activation == jn_activationSilu) {
        for (int i = 0; i < count; i += JN_WIDTH) {
            jnFloats x = jnLoad(values + i);
            jnStore(values + i, jnDiv(x, jnAdd(jnRepeat(1.0f), Exp(jnSub(jnRepeat(0.0f), x)))));
        }
    } else if (activation == jn_activationLeaky) {
        for (int i = 0; i < count; i += JN_WIDTH) {
            jnFloats x = jnLoad(values + i);
            jnStore(values + i, jnMaximum(x, jnScale(0.1f, x)));
        }
    }
}

// Two columns of the matrix of conj(p) q, for a block of joints. p, q: [4][JN_LANES], out: [6][JN_LANES]
static void FindColumns(const float* restrict p, const float* restrict q, float* restrict out)
{
    for (int i = 0; i < JN_LANES; ++i) {
        float px = p[i], py = p[JN_LANES + i], pz = p[2 * JN_LANES + i], pw = p[3 * JN_LANES + i];
        float qx = q[i], qy = q[JN_LANES + i], qz = q[2 * JN_LANES + i], qw = q[3 * JN_LANES + i];
        float x = pw * qx - px * qw - (py * qz - pz * qy), y = pw * qy - py * qw - (pz * qx - px * qz);
        float z = pw * qz - pz * qw - (px * qy - py * qx), w = pw * qw + px * qx + py * qy + pz * qz;
        out[i] = 1.0f - 2.0f * (y * y + z * z);
        out[JN_LANES + i] = 2.0f * (x * y + z * w);
        out[2 * JN_LANES + i] = 2.0f * (x * z - y * w);
        out[3 * JN_LANES + i] = 2.0f * (x * y - z * w);
        out[4 * JN_LANES + i] = 1.0f - 2.0f * (x * x + z * z);
        out[5 * JN_LANES + i] = 2.0f * (y * z + x * w);
    }
}

// Numbers of the joints that the inputs from `first` on are of, up to a block of joints, to out; returns where the next
// one begins.
static int TakeNumbers(const jnInputsPass* pass, int first)
{
    float p[4 * JN_LANES] = {0}, q[4 * JN_LANES] = {0}, numbers[6 * JN_LANES];
    int end = first, last = -1, lane = -1, lanes[6 * JN_LANES];
    for (; end < pass->count && end < first + 6 * JN_LANES; ++end) {
        int joint = pass->inputs[end] / 6;
        if (joint != last && ++lane == JN_LANES) {
            break;
        }
        for (int k = 0; joint != last && k < 4; ++k) {
            p[k * JN_LANES + lane] = pass->turns[4 * pass->joints[joint].parent + k];
            q[k * JN_LANES + lane] = pass->turns[4 * joint + k];
        }
        last = joint;
        lanes[end - first] = pass->inputs[end] % 6 * JN_LANES + lane;
    }
    FindColumns(p, q, numbers);
    for (int i = first; i < end; ++i) {
        pass->out[i] = numbers[lanes[i - first]];
    }
    return end;
}

// As jnSoftLimit.
static void MakeInputs(const jnInputsPass* pass)
{
    const float* restrict centres = pass->centres, * restrict scales = pass->scales;
    float* restrict out = pass->out;
    for (int i = 0; i < pass->count;) {
        i = TakeNumbers(pass, i);
    }
    for (int b = 0; b < pass->count; b += JN_LANES) {
        for (int i = b; i < b + JN_LANES; ++i) {
            float x = (out[i] - centres[i]) * scales[i], beyond = fabsf(x) - 1.0f;
            float limited = 1.0f + JN_SOFT_MARGIN / (1.0f + JN_SOFT_MARGIN / beyond);
            limited = x < 0.0f ? -limited : limited;
            out[i] = beyond > 0.0f ? limited : x;
        }
    }
}

// `count` blocks of 16 outputs at once that take as many inputs, the same ones if they are alike; both are constants
// wherever this is called: enough sums that do not wait for each other.
static inline void DenseBlocks(const jnDensePass* pass, int block, int count, bool alike, int character)
{
    jnFloats sums[LAYER_BLOCKS][VECTORS];
    const uint32_t* starts = pass->rowStarts + block;
    size_t rows = starts[1] - starts[0], step = rows * JN_LANES;
    const float *weights = pass->weights + (size_t)starts[0] * JN_LANES, *inputs[LAYER_BLOCKS];
    for (int b = 0; b < count; ++b) {
        inputs[b] = pass->inputs[character] + pass->firsts[block + (alike ? 0 : b)];
    }
    for (int b = 0; b < count; ++b) {
        for (int v = 0; v < VECTORS; ++v) {
            sums[b][v] = jnLoad(pass->biases + (block + b) * JN_LANES + v * JN_WIDTH);
        }
    }
    for (size_t i = 0; i < rows; ++i) {
        jnFloats same = jnRepeat(inputs[0][i]);
        for (int b = 0; b < count; ++b) {
            jnFloats x = alike ? same : jnRepeat(inputs[b][i]);
            for (int v = 0; v < VECTORS; ++v) {
                const float* at = weights + (size_t)b * step + i * JN_LANES + (size_t)(v * JN_WIDTH);
                sums[b][v] = jnAdd(sums[b][v], jnMul(x, jnLoad(at)));
            }
        }
    }
    for (int b = 0; b < count; ++b) {
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(pass->outputs[character] + (block + b) * JN_LANES + v * JN_WIDTH, sums[b][v]);
        }
    }
}

// How many of the next blocks take as many inputs, the same ones if they are to be alike; at most LAYER_BLOCKS.
static inline int CountAlike(const jnDensePass* pass, int block, bool alike)
{
    const uint32_t* starts = pass->rowStarts + block;
    int count = 1;
    while (count < LAYER_BLOCKS && block + count < pass->blockCount &&
           (!alike || pass->firsts[block + count] == pass->firsts[block]) &&
           starts[count + 1] - starts[count] == starts[1] - starts[0]) {
        ++count;
    }
    return count;
}

// As many blocks as go together; returns how many those are.
static inline int DenseSome(const jnDensePass* pass, int block, int character)
{
    int alike = CountAlike(pass, block, true);
    if (alike == 1 && CountAlike(pass, block, false) >= 4) {
        DenseBlocks(pass, block, 4, false, character);
        return 4;
    }
    switch (alike) { // as many as LAYER_BLOCKS allows; the compiler drops the others
    case 8:
        DenseBlocks(pass, block, LAYER_BLOCKS, true, character);
        break;
    case 7:
        DenseBlocks(pass, block, LAYER_BLOCKS > 7 ? 7 : 1, true, character);
        break;
    case 6:
        DenseBlocks(pass, block, LAYER_BLOCKS > 6 ? 6 : 1, true, character);
        break;
    case 5:
        DenseBlocks(pass, block, LAYER_BLOCKS > 5 ? 5 : 1, true, character);
        break;
    case 4:
        DenseBlocks(pass, block, 4, true, character);
        break;
    case 3:
        DenseBlocks(pass, block, 3, true, character);
        break;
    case 2:
        DenseBlocks(pass, block, 2, true, character);
        break;
    default:
        DenseBlocks(pass, block, 1, true, character);
        break;
    }
    return alike;
}

// One block of outputs of TOGETHER characters: its weights are read once for all of them.
static inline void DenseTogether(const jnDensePass* pass, int block, int first)
{
    jnFloats sums[TOGETHER][VECTORS];
    const uint32_t* starts = pass->rowStarts + block;
    size_t rows = starts[1] - starts[0], from = (size_t)pass->firsts[block];
    const float* weights = pass->weights + (size_t)starts[0] * JN_LANES;
    const float* const* inputs = pass->inputs + first;
    for (int n = 0; n < TOGETHER; ++n) {
        for (int v = 0; v < VECTORS; ++v) {
            sums[n][v] = jnLoad(pass->biases + block * JN_LANES + v * JN_WIDTH);
        }
    }
    for (size_t i = 0; i < rows; ++i) {
        jnFloats row[VECTORS];
        for (int v = 0; v < VECTORS; ++v) {
            row[v] = jnLoad(weights + i * JN_LANES + (size_t)(v * JN_WIDTH));
        }
        for (int n = 0; n < TOGETHER; ++n) {
            jnFloats x = jnRepeat(inputs[n][from + i]);
            for (int v = 0; v < VECTORS; ++v) {
                sums[n][v] = jnAdd(sums[n][v], jnMul(x, row[v]));
            }
        }
    }
    for (int n = 0; n < TOGETHER; ++n) {
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(pass->outputs[first + n] + block * JN_LANES + v * JN_WIDTH, sums[n][v]);
        }
    }
}

static void Dense(const jnDensePass* pass)
{
    int together = pass->count / TOGETHER * TOGETHER;
    for (int block = 0; together > 0 && block < pass->blockCount; ++block) {
        for (int n = 0; n < together; n += TOGETHER) {
            DenseTogether(pass, block, n);
        }
    }
    for (int n = together; n < pass->count; ++n) {
        for (int block = 0; block < pass->blockCount;) {
            block += DenseSome(pass, block, n);
        }
    }
    for (int n = 0; n < pass->count; ++n) {
        Activate(pass->outputs[n], pass->blockCount * JN_LANES, pass->activation);
    }
}

// Four neighbouring texels of one phase and 16 channels of them. taps: the four input texels of the first, with a
// border; weights: [4][inChannels][JN_LANES].
static inline void EnlargePixels(
    const float* const taps[4], int inChannels, const float* weights, const float* biases, float* out)
{
    jnFloats sums[PIXELS][VECTORS];
    for (int p = 0; p < PIXELS; ++p) {
        for (int v = 0; v < VECTORS; ++v) {
            sums[p][v] = jnLoad(biases + v * JN_WIDTH);
        }
    }
    for (int t = 0; t < 4; ++t) {
        const float *from = taps[t], *w = weights + (size_t)(t * inChannels) * JN_LANES;
        for (int c = 0; c < inChannels; ++c, w += JN_LANES) {
            for (int v = 0; v < VECTORS; ++v) {
                jnFloats weight = jnLoad(w + v * JN_WIDTH);
                for (int p = 0; p < PIXELS; ++p) {
                    sums[p][v] = jnAdd(sums[p][v], jnScale(from[p * inChannels + c], weight));
                }
            }
        }
    }
    for (int p = 0; p < PIXELS; ++p) {
        for (int v = 0; v < VECTORS; ++v) {
            jnStore(out + p * JN_LANES + v * JN_WIDTH, sums[p][v]);
        }
    }
}

// Output 2 i + py takes input i with tap 1 and input i - 1 with tap 3 if py is 0, input i + 1 with tap 0 and input i
// with tap 2 if it is 1: always two inputs side by side, i + py - 1 and i + py.
static void EnlargeRow(const jnEnlargePass* pass, int row, int phase, int block)
{
    int py = phase / 2, px = phase % 2, wide = pass->size + 2, channels = pass->inChannels;
    int outChannels = pass->outBlocks * JN_LANES, outWide = 2 * pass->size + 2;
    const float* weights = pass->kernels + (size_t)(phase * pass->outBlocks + block) * 4 * (size_t)channels * JN_LANES;
    float texels[PIXELS * JN_LANES];
    for (int x = 0; x < pass->size; x += PIXELS) {
        const float* corner = pass->inputs + ((size_t)(row + py) * (size_t)wide + (size_t)(x + px)) * (size_t)channels;
        const float* below = corner + (size_t)wide * (size_t)channels;
        const float* taps[4] = {corner, corner + channels, below, below + channels};
        EnlargePixels(taps, channels, weights, pass->biases + block * JN_LANES, texels);
        Activate(texels, PIXELS * JN_LANES, pass->activation);
        for (int p = 0; p < PIXELS; ++p) {
            size_t y = (size_t)(2 * row + py), column = (size_t)(2 * (x + p) + px);
            if (pass->compact) {
                float* to = pass->outputs + (y * (size_t)(2 * pass->size) + column) * 4;
                memcpy(to, texels + p * JN_LANES, 4 * sizeof(float));
            } else {
                float* to = pass->outputs + ((y + 1) * (size_t)outWide + column + 1) * (size_t)outChannels;
                memcpy(to + block * JN_LANES, texels + p * JN_LANES, JN_LANES * sizeof(float));
            }
        }
    }
}

static void Enlarge(const jnEnlargePass* pass)
{
    for (int phase = 0; phase < 4; ++phase) {
        for (int block = 0; block < pass->outBlocks; ++block) {
            for (int row = 0; row < pass->size; ++row) {
                EnlargeRow(pass, row, phase, block);
            }
        }
    }
}

// Bilinear, the mean where a vertex lies in several charts.
static inline void LookUpVertex(const jnLookUpPass* pass, int vertex, float value[3])
{
    uint32_t from = pass->starts[vertex], end = pass->starts[vertex + 1];
    float sum[3] = {0, 0, 0}, share = end > from ? pass->unit / (float)(end - from) : 0.0f;
    for (uint32_t i = from; i < end; ++i) {
        float x = pass->lookups[2 * i], y = pass->lookups[2 * i + 1];
        int column = (int)x, row = (int)y;
        float fx = x - (float)column, fy = y - (float)row;
        const float* a = pass->map + ((size_t)row * (size_t)pass->mapSize + (size_t)column) * 4;
        const float* b = a + (size_t)pass->mapSize * 4;
        for (int axis = 0; axis < 3; ++axis) {
            float top = a[axis] + fx * (a[4 + axis] - a[axis]), low = b[axis] + fx * (b[4 + axis] - b[axis]);
            sum[axis] += top + fy * (low - top);
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        value[axis] = sum[axis] * share;
    }
}

static void LookUp(const jnLookUpPass* pass, int first, int end)
{
    for (int block = first; block < end; ++block) {
        float* out = pass->field + (size_t)(block - pass->fieldStart) * FIELD;
        memset(out, 0, FIELD * sizeof(float));
        for (int i = 0; i < JN_LANES && block * JN_LANES + i < pass->vertexCount; ++i) {
            float value[3];
            LookUpVertex(pass, block * JN_LANES + i, value);
            for (int axis = 0; axis < 3; ++axis) {
                out[axis * JN_LANES + i] = value[axis];
            }
        }
    }
}

const jnNetworkKernels JN_KERNELS = {MakeInputs, Dense, Enlarge, LookUp};
