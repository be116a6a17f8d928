// The body of the kernels of morph weights; see morph_kernels.h.
//
// Sums run over the inputs of a product lane by lane, those of even and those of odd number apart so that they do not
// wait for each other, in the same order at every width and for any number of characters.
#include "elementary.h"
#include "lanes.h"
#include "morph_kernels.h"
#include "spring_kernels.h"

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

// Loops over the lanes of a block, which compilers make vectors of.

static void MakeRows(const double* matrices, const double origin[3], float* rows)
{
    for (int k = 0; k < 12; ++k) {
        double from = k % 4 == 3 ? origin[k / 4] : 0.0;
        for (int i = 0; i < JN_LANES; ++i) {
            rows[k * JN_LANES + i] = (float)(matrices[k * JN_LANES + i] - from);
        }
    }
}

// 1 / sqrt(x) of a block.
static inline void InvertRoots(const float* x, float* out)
{
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnStore(out + i, jnDiv(jnRepeat(1.0f), jnSqrt(jnLoad(x + i))));
    }
}

// Four times the largest component of a rotation's quaternion times the quaternion, and times itself.
static inline double FindLargest(const double r[9], double q[4])
{
    double sx = 1 + r[0] - r[4] - r[8], sy = 1 - r[0] + r[4] - r[8], sz = 1 - r[0] - r[4] + r[8];
    double sw = 1 + r[0] + r[4] + r[8], best = sx;
    double xy = r[1] + r[3], xz = r[2] + r[6], yz = r[5] + r[7], xw = r[7] - r[5], yw = r[2] - r[6], zw = r[3] - r[1];
    double x = sx, y = xy, z = xz, w = xw;
    x = sy > best ? xy : x;
    y = sy > best ? sy : y;
    z = sy > best ? yz : z;
    w = sy > best ? yw : w;
    best = sy > best ? sy : best;
    x = sz > best ? xz : x;
    y = sz > best ? yz : y;
    z = sz > best ? sz : z;
    w = sz > best ? zw : w;
    best = sz > best ? sz : best;
    q[0] = sw > best ? xw : x;
    q[1] = sw > best ? yw : y;
    q[2] = sw > best ? zw : z;
    q[3] = sw > best ? sw : w;
    return sw > best ? sw : best;
}

static void MakeTurns(const double* restrict m, float* restrict turns, double* restrict far)
{
    double q[4][JN_LANES], squares[JN_LANES];
    float rounded[JN_LANES], roots[JN_LANES];
    for (int i = 0; i < JN_LANES; ++i) {
        double r[9], own[4], sum = 0.0;
        for (int k = 0; k < 9; ++k) {
            r[k] = m[(4 * (k / 3) + k % 3) * JN_LANES + i];
        }
        for (int k = 0; k < 3; ++k) {
            int l = (k + 1) % 3;
            double length = r[k] * r[k] + r[3 + k] * r[3 + k] + r[6 + k] * r[6 + k];
            double cosine = r[k] * r[l] + r[3 + k] * r[3 + l] + r[6 + k] * r[6 + l];
            sum += fabs(length - 1.0) + fabs(cosine);
        }
        double determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
                             r[2] * (r[3] * r[7] - r[4] * r[6]);
        far[i] = sum + (determinant > 0.0 ? 0.0 : 1.0);
        squares[i] = FindLargest(r, own);
        rounded[i] = (float)squares[i];
        q[0][i] = own[0];
        q[1][i] = own[1];
        q[2][i] = own[2];
        q[3][i] = own[3];
    }
    InvertRoots(rounded, roots);
    for (int i = 0; i < JN_LANES; ++i) { // a step of Newton's from the digits of a float
        double root = (double)roots[i], scale = 0.5 * root * (1.5 - 0.5 * squares[i] * root * root);
        turns[i] = (float)(scale * q[0][i]);
        turns[JN_LANES + i] = (float)(scale * q[1][i]);
        turns[2 * JN_LANES + i] = (float)(scale * q[2][i]);
        turns[3 * JN_LANES + i] = (float)(scale * q[3][i]);
    }
}

// asin(s) / s by its series, or by way of the angle where that is not enough.
static inline void FindFactors(const float* squares, const float* cosines, float* factors)
{
    for (int i = 0; i < JN_LANES; ++i) {
        float square = squares[i];
        factors[i] = 1.0f + square * (1.0f / 6.0f + square * (3.0f / 40.0f + square * (15.0f / 336.0f)));
    }
    for (int i = 0; i < JN_LANES; ++i) {
        if (!(squares[i] < 0.01f)) {
            double sine = sqrt((double)squares[i]);
            factors[i] = (float)(jnQuadrantAngle(sine, (double)cosines[i]) / sine);
        }
    }
}

static void HalveBlock(const float* restrict a, const float* restrict b, float* restrict middle, float* restrict angles)
{
    float squares[JN_LANES], cosines[JN_LANES], factors[JN_LANES], norms[JN_LANES], scales[JN_LANES];
    for (int i = 0; i < JN_LANES; ++i) {
        float ax = a[i], ay = a[JN_LANES + i], az = a[2 * JN_LANES + i], aw = a[3 * JN_LANES + i];
        float bx = b[i], by = b[JN_LANES + i], bz = b[2 * JN_LANES + i], bw = b[3 * JN_LANES + i];
        // b relative to a: conj(a) b, the short way round
        float x = aw * bx - ax * bw - (ay * bz - az * by), y = aw * by - ay * bw - (az * bx - ax * bz);
        float z = aw * bz - az * bw - (ax * by - ay * bx), w = aw * bw + ax * bx + ay * by + az * bz;
        float side = w < 0.0f ? -1.0f : 1.0f, twice = 2.0f * side;
        squares[i] = x * x + y * y + z * z;
        cosines[i] = side * w;
        angles[i] = twice * x;
        angles[JN_LANES + i] = twice * y;
        angles[2 * JN_LANES + i] = twice * z;
        float mx = ax + side * bx, my = ay + side * by, mz = az + side * bz, mw = aw + side * bw;
        norms[i] = mx * mx + my * my + mz * mz + mw * mw;
        middle[i] = mx;
        middle[JN_LANES + i] = my;
        middle[2 * JN_LANES + i] = mz;
        middle[3 * JN_LANES + i] = mw;
    }
    InvertRoots(norms, scales);
    FindFactors(squares, cosines, factors);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < JN_LANES; ++i) {
            angles[k * JN_LANES + i] *= factors[i];
        }
    }
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < JN_LANES; ++i) { // half a turn each way has no middle
            float scaled = middle[k * JN_LANES + i] * scales[i];
            middle[k * JN_LANES + i] = norms[i] > 0.0f ? scaled : a[k * JN_LANES + i];
        }
    }
}

static void HalveTurns(const float* from, const float* to, int blockCount, float* middle, float* angles)
{
    for (size_t b = 0; b < (size_t)blockCount; ++b) {
        size_t at = b * JN_TURNS_SIZE;
        HalveBlock(from + at, to + at, middle + at, angles + b * 3 * JN_LANES);
    }
}

static inline void MakeFrame(const float* turns, jnFloats m[9])
{
    jnFloats x = jnLoad(turns), y = jnLoad(turns + JN_LANES), z = jnLoad(turns + 2 * JN_LANES);
    jnFloats w = jnLoad(turns + 3 * JN_LANES), one = jnRepeat(1.0f);
    jnFloats xx = jnMul(x, x), yy = jnMul(y, y), zz = jnMul(z, z), xy = jnMul(x, y), xz = jnMul(x, z);
    jnFloats yz = jnMul(y, z), xw = jnMul(x, w), yw = jnMul(y, w), zw = jnMul(z, w);
    m[0] = jnSub(one, jnScale(2.0f, jnAdd(yy, zz)));
    m[1] = jnScale(2.0f, jnSub(xy, zw));
    m[2] = jnScale(2.0f, jnAdd(xz, yw));
    m[3] = jnScale(2.0f, jnAdd(xy, zw));
    m[4] = jnSub(one, jnScale(2.0f, jnAdd(xx, zz)));
    m[5] = jnScale(2.0f, jnSub(yz, xw));
    m[6] = jnScale(2.0f, jnSub(xz, yw));
    m[7] = jnScale(2.0f, jnAdd(yz, xw));
    m[8] = jnSub(one, jnScale(2.0f, jnAdd(xx, yy)));
}

// A column of the matrices of JN_WIDTH joints, from `at` on, for every field.
static inline void ForceColumn(const jnForcingPass* pass, const jnFloats frame[9], size_t at, bool last)
{
    jnFloats differences[3][3];
    JN_UNROLL
    for (int row = 0; row < 3; ++row) {
        JN_UNROLL
        for (int i = 0; i < 3; ++i) {
            size_t from = at + (size_t)row * 4 * JN_LANES;
            differences[row][i] = jnSub(jnLoad(pass->rows[i + 1] + from), jnLoad(pass->rows[i] + from));
        }
    }
    JN_UNROLL
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        const float* w = pass->weights[f];
        jnFloats field[3];
        JN_UNROLL
        for (int row = 0; row < 3; ++row) {
            const jnFloats* d = differences[row];
            field[row] = jnAdd(jnAdd(jnScale(w[0], d[0]), jnScale(w[1], d[1])), jnScale(w[2], d[2]));
            field[row] = last ? jnAdd(field[row], jnRepeat(pass->common[f][row])) : field[row];
        }
        JN_UNROLL
        for (int row = 0; row < 3; ++row) {
            jnFloats sum = jnAdd(jnMul(frame[row], field[0]), jnMul(frame[3 + row], field[1]));
            jnStore(pass->out[f] + at + row * 4 * JN_LANES, jnAdd(sum, jnMul(frame[6 + row], field[2])));
        }
    }
}

static void MakeForcing(const jnForcingPass* pass)
{
    for (size_t b = 0; b < (size_t)pass->blockCount; ++b) {
        for (size_t i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnFloats frame[9];
            size_t at = b * JN_ROWS_SIZE + i;
            MakeFrame(pass->turns + b * JN_TURNS_SIZE + i, frame);
            for (size_t k = 0; k < 3; ++k) {
                ForceColumn(pass, frame, at + k * JN_LANES, false);
            }
            ForceColumn(pass, frame, at + 3 * JN_LANES, true);
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
    size_t size = (size_t)pass->groupSize, step = pass->interleaved ? JN_LANES : 1;
    size_t used = pass->used > 0 ? (size_t)pass->used : size;
    JN_UNROLL
    for (int n = 0; n < count; ++n) {
        JN_UNROLL
        for (int v = 0; v < VECTORS; ++v) {
            even[n][v] = odd[n][v] = jnRepeat(0.0f);
        }
    }
    for (size_t e = pass->starts[block]; e < pass->starts[block + 1]; ++e) {
        const float* weights = pass->weights + e * size * JN_LANES;
        size_t group = pass->groups != NULL ? pass->groups[e] : e - pass->starts[block];
        size_t at = step > 1 ? group / JN_LANES * size * JN_LANES + group % JN_LANES : group * size;
        size_t end = at + used * step;
        for (; at + step < end; at += 2 * step, weights += 2 * JN_LANES) {
            AddRow(pass, weights, at, first, count, even);
            AddRow(pass, weights + JN_LANES, at + step, first, count, odd);
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

static void TurnAmplitudes(const float* columns, int count, int lanes, const jnTurnPlan* plan, float* x, float* work)
{
    float *from = work, *to = work + 2 * (size_t)lanes;
    for (int part = 0; part < plan->parts; ++part) {
        memcpy(from, x, 2 * (size_t)lanes * sizeof(float));
        for (int n = 0; n < plan->terms; ++n) {
            ApplyToBoth(columns, count, lanes, plan->scales[n], from, to);
            for (int i = 0; i < 2 * lanes; i += JN_WIDTH) {
                jnStore(x + i, jnAdd(jnLoad(x + i), jnLoad(to + i)));
            }
            float* swap = from;
            from = to;
            to = swap;
        }
    }
}

static float SumSquares(const float* x, int count)
{
    float squares[JN_LANES] = {0}, sum = 0.0f;
    for (int i = 0; i < count; i += JN_LANES) {
        for (int k = 0; k < JN_LANES; ++k) {
            squares[k] += x[i + k] * x[i + k];
        }
    }
    for (int k = 0; k < JN_LANES; ++k) {
        sum += squares[k];
    }
    return sum;
}

static void MakeForces(const jnForcesPass* pass)
{
    const float(*w)[3] = pass->weights, * const* d = pass->drives;
    for (int b = 0; b < pass->lanes; b += JN_LANES) {
        float start[JN_LANES], rate[JN_LANES];
        for (int i = 0; i < JN_LANES; ++i) {
            int k = b + i;
            float d0 = d[1][k] - d[0][k], d1 = d[2][k] - d[1][k], d2 = d[3][k] - d[2][k];
            start[i] = pass->gain[k] * (pass->products[0][k] + ((w[0][0] * d0 + w[0][1] * d1) + w[0][2] * d2));
            rate[i] = pass->gain[k] * (pass->products[1][k] + ((w[1][0] * d0 + w[1][1] * d1) + w[1][2] * d2));
        }
        for (int i = 0; pass->crosses[0] != NULL && i < JN_LANES; ++i) {
            float first = pass->crosses[0][b + i], gain = pass->gain[b + i];
            start[i] += gain * first;
            rate[i] += gain * ((pass->crosses[1][b + i] - first) / pass->h);
        }
        for (int i = 0; i < JN_LANES; ++i) {
            pass->out[0][b + i] = start[i];
            pass->out[1][b + i] = rate[i];
        }
    }
}

// One swing of JN_WIDTH modes by the closed form. c: their coefficients.
static inline void SwingOnce(const float* c, jnFloats force, jnFloats rate, jnFloats* z, jnFloats* p)
{
    jnFloats g1 = jnLoad(c + ROW_G1 * JN_LANES), w = jnLoad(c + ROW_W * JN_LANES), fromZ = *z, fromP = *p;
    jnFloats lowZ = jnAdd(jnMul(jnLoad(c + ROW_PL * JN_LANES), fromZ), jnMul(jnLoad(c + ROW_WL * JN_LANES), fromP));
    jnFloats lowP = jnAdd(jnMul(jnLoad(c + ROW_RL * JN_LANES), fromZ), jnMul(jnLoad(c + ROW_QL * JN_LANES), fromP));
    jnFloats farZ = jnAdd(jnMul(g1, force), jnMul(jnLoad(c + ROW_G2 * JN_LANES), rate));
    jnFloats farP = jnAdd(jnMul(w, force), jnMul(g1, rate));
    *z = jnAdd(jnAdd(jnMul(jnLoad(c + ROW_P * JN_LANES), fromZ), jnMul(w, fromP)), jnSub(lowZ, farZ));
    *p = jnAdd(jnAdd(jnMul(jnLoad(c + ROW_R * JN_LANES), fromZ), jnMul(jnLoad(c + ROW_Q * JN_LANES), fromP)),
        jnSub(lowP, farP));
}

// Forces beyond so many times their limit are as good as infinite.
#define FARTHEST_FORCE 1e9f

// The excess u - u / sqrt(1 + (u / limit)^2) and its rate, without taking nearly equal numbers from each other.
static inline void FindExcess(jnFloats u, jnFloats v, jnFloats inverse, jnFloats* e, jnFloats* rate)
{
    jnFloats one = jnRepeat(1.0f), most = jnRepeat(FARTHEST_FORCE), x = jnMul(jnSize(u), inverse);
    x = jnSelectAtLeast(x, most, most, x);
    jnFloats square = jnMul(x, x), sum = jnAdd(one, square), root = jnSqrt(sum);
    jnFloats part = jnMul(root, jnAdd(root, one)), inverted = jnDiv(one, jnMul(part, sum));
    jnFloats share = jnMul(square, jnMul(inverted, sum)); // 1 - 1 / root = square / part
    jnFloats terms = jnAdd(jnAdd(sum, root), one);        // 1 - 1 / root^3 = share terms / sum
    *e = jnMul(u, share);
    *rate = jnMul(v, jnMul(jnMul(share, terms), jnMul(inverted, part)));
}

// What is known of the excess along a swing: at its start and where it has got to, its integral, and that of it times
// the time from the swing's middle.
typedef struct Excess {
    jnFloats first, firstRate, last, lastRate, sum, moment;
} Excess;

// Numbers of a swing and of its pieces that are the same for all modes.
typedef struct HeldScales {
    int swings, pieces;
    float piece, half, delay, soft, perSecond, perCube; // half a swing, 1 / stiffness, 1 / swing, 12 / swing^3 or 0
    float sum, turn, odd, slope;                        // of a piece's integrals: of both ends, of their rates
    float decay[4];
} HeldScales;

static HeldScales ScalesOf(const jnSwingPass* pass)
{
    float h = pass->length, l = pass->pieceLength;
    HeldScales s = {.swings = pass->swings,
        .pieces = pass->pieces,
        .piece = l,
        .half = 0.5f * h,
        .delay = pass->delay,
        .soft = 1.0f / pass->stiffness,
        .perSecond = 1.0f / h,
        .perCube = pass->slopes ? 12.0f / (h * h * h) : 0.0f,
        .sum = 0.5f * l,
        .turn = l * l / 12.0f,
        .odd = l * l / 10.0f,
        .slope = l * l * l / 120.0f};
    memcpy(s.decay, pass->decay, sizeof(s.decay));
    return s;
}

// A piece that ends with e and its rate: the cubic between both ends. away: from the swing's middle to the piece's.
static inline void AddPiece(const HeldScales* s, Excess* x, jnFloats e, jnFloats rate, float away)
{
    jnFloats sum = jnScale(s->sum, jnAdd(x->last, e)), odd = jnScale(s->odd, jnSub(e, x->last));
    sum = jnAdd(sum, jnScale(s->turn, jnSub(x->lastRate, rate)));
    odd = jnSub(odd, jnScale(s->slope, jnAdd(x->lastRate, rate)));
    x->sum = jnAdd(x->sum, sum);
    x->moment = jnAdd(x->moment, jnAdd(jnScale(away, sum), odd));
    x->last = e;
    x->lastRate = rate;
}

// Takes the linear force with the moments of e + delay e' + e'' / stiffness off a force.
static inline void TakeExcess(const HeldScales* s, const Excess* x, jnFloats* force, jnFloats* rate)
{
    jnFloats rise = jnSub(x->last, x->first), both = jnScale(s->half, jnAdd(x->last, x->first));
    jnFloats bothRates = jnScale(s->half, jnAdd(x->lastRate, x->firstRate));
    jnFloats sum = jnAdd(x->sum, jnScale(s->delay, rise));
    sum = jnAdd(sum, jnScale(s->soft, jnSub(x->lastRate, x->firstRate)));
    jnFloats moment = jnAdd(x->moment, jnScale(s->delay, jnSub(both, x->sum)));
    moment = jnAdd(moment, jnScale(s->soft, jnSub(bothRates, rise)));
    jnFloats slope = jnScale(s->perCube, moment);
    *force = jnSub(*force, jnSub(jnScale(s->perSecond, sum), jnScale(s->half, slope)));
    *rate = jnSub(*rate, slope);
}

// An interval of JN_WIDTH modes from number k on whose forces are held back. drag: taken off the force.
static inline void SwingHeld(const jnSwingPass* pass, const HeldScales* s, const float* c, int k, jnFloats drag)
{
    jnFloats z = jnLoad(pass->z + k), p = jnLoad(pass->p + k), u = jnLoad(pass->u + k), v = jnLoad(pass->v + k);
    jnFloats force = jnLoad(pass->forces[0] + k), rate = jnLoad(pass->forces[1] + k);
    jnFloats inverse = jnLoad(pass->inverses + k), late = jnScale(s->delay, rate), e, eRate;
    // The filter follows a linear force a delay behind; what it is away from that decays.
    jnFloats y = jnAdd(jnSub(u, force), late), w = jnSub(v, rate);
    FindExcess(u, v, inverse, &e, &eRate);
    for (int n = 0; n < s->swings; ++n) {
        Excess x = {e, eRate, e, eRate, jnRepeat(0.0f), jnRepeat(0.0f)};
        jnFloats held = jnSub(force, drag), heldRate = rate;
        for (int i = 0; i < s->pieces; ++i) {
            jnFloats from = y;
            y = jnAdd(jnScale(s->decay[0], from), jnScale(s->decay[1], w));
            w = jnAdd(jnScale(s->decay[2], from), jnScale(s->decay[3], w));
            force = jnAdd(force, jnScale(s->piece, rate));
            u = jnSub(jnAdd(force, y), late);
            v = jnAdd(w, rate);
            FindExcess(u, v, inverse, &e, &eRate);
            AddPiece(s, &x, e, eRate, ((float)i + 0.5f) * s->piece - s->half);
        }
        TakeExcess(s, &x, &held, &heldRate);
        SwingOnce(c, held, heldRate, &z, &p);
    }
    jnStore(pass->z + k, z);
    jnStore(pass->p + k, p);
    jnStore(pass->u + k, u);
    jnStore(pass->v + k, v);
}

static void SwingAllHeld(const jnSwingPass* pass)
{
    const HeldScales scales = ScalesOf(pass);
    const float* c = pass->coefficients;
    for (int b = 0; b < pass->lanes; b += JN_LANES, c += JN_COEFFICIENT_SIZE) {
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnFloats drag = jnRepeat(0.0f);
            if (pass->drag != NULL) {
                drag = jnMul(jnLoad(pass->drag + b + i), jnScale(pass->rate, jnLoad(pass->damping + b + i)));
            }
            SwingHeld(pass, &scales, c + i, b + i, drag);
        }
    }
}

static void Swing(const jnSwingPass* pass)
{
    const float* c = pass->coefficients;
    if (pass->inverses != NULL) {
        SwingAllHeld(pass);
        return;
    }
    for (int b = 0; b < pass->lanes; b += JN_LANES, c += JN_COEFFICIENT_SIZE) {
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            int k = b + i;
            jnFloats z = jnLoad(pass->z + k), p = jnLoad(pass->p + k), force = jnLoad(pass->forces[0] + k);
            if (pass->drag != NULL) {
                force = jnSub(force, jnMul(jnLoad(pass->drag + k), jnScale(pass->rate, jnLoad(pass->damping + k))));
            }
            SwingOnce(c + i, force, jnLoad(pass->forces[1] + k), &z, &p);
            jnStore(pass->z + k, z);
            jnStore(pass->p + k, p);
        }
    }
}

// Amplitudes below this are rounding dust.
#define DUST 1e-30f
// Beyond so many times its cap an amplitude is taken back.
#define TAKEN_BACK 10.0f

static int Clean(const jnCleanPass* pass)
{
    float* restrict zs = pass->z, * restrict ps = pass->p;
    float* restrict us = pass->u, * restrict vs = pass->v;
    const float* restrict caps = pass->caps;
    int bad = 0, lanes = pass->lanes;
    for (int k = 0; caps != NULL && k < lanes; ++k) {
        float most = TAKEN_BACK * caps[k], size = fabsf(zs[k]), share = most / size;
        bool far = (most > 0.0f) & (size > most) & (size <= 3e38f);
        zs[k] *= far ? share : 1.0f;
        ps[k] *= far ? share : 1.0f;
    }
    for (int k = 0; k < lanes; ++k) {
        float z = fabsf(zs[k]), p = fabsf(ps[k]);
        bad += !(z <= JN_LARGEST_STATE) + !(p <= JN_LARGEST_STATE);
        zs[k] = z < DUST ? 0.0f : zs[k];
        ps[k] = p < DUST ? 0.0f : ps[k];
    }
    for (int k = 0; us != NULL && k < lanes; ++k) {
        float u = fabsf(us[k]), v = fabsf(vs[k]);
        bad += !(u <= 3e38f) + !(v <= 3e38f);
        us[k] = u < DUST ? 0.0f : us[k];
        vs[k] = v < DUST ? 0.0f : vs[k];
    }
    return bad;
}

#include "morph_across_body.h"

const jnMorphKernels JN_KERNELS = {MakeRows, MakeTurns, HalveTurns, MakeForcing, Multiply, TurnAmplitudes, Bound, Apply,
    SumSquares, MakeForces, Swing, Clean, Transpose, PairAcross, BoundAcross, TurnAcross, ApplyAcross};
