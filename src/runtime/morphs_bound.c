// What is shown of the modes, held back so that the surface never tears, folds or goes farther than it may.
//
// The displacement is linear in the amplitudes y, so is its gradient D on a triangle, 3x2 in the triangle's own axes. A
// direction t of the triangle is pressed by a = -t^T D t and turned or pressed by g = |D t|^2; its stretch is the root
// of 1 - 2 a + g. Made larger by s, the displacement brings it down to 1 - low at s = 1 / r,
//
//     r = (a + sqrt(a^2 - k g)) / k,    k = low (2 - low),
//
// if it ever does (a^2 >= k g), since what turns a direction does not press it. r = a / k elsewhere keeps the ratio
// continuous. The ratio of an element to its bound is the largest of r over sixteen directions and of
// (largest singular value of (I + D) - 1) / high. It is 0 at rest and grows at least as fast as the displacement, so
// that y scaled by 1 / ratio is within the bound. A vertex is written as a gradient whose largest singular value is the
// root of 1 + its squared displacement.
//
// A few hundred elements, chosen by the author, stand for the whole surface. Every mode is scaled by what the elements
// near it ask for: smoothly, by a high norm of their ratios that bends from KNEE on and stays below 1. Modes scaled
// unequally can leave a little excess; a second look takes that off all of them alike. The motion underneath stays
// linear.
#include "morphs.h"

#include <math.h>
#include <string.h>

#define KNEE 0.85f
// Blocks below it are left out: all of them at it would stay below the knee, of a norm of SQUARINGS = 6 and 512
// elements.
#define QUIET 0.77f
enum { SQUARINGS = 6 };
// Up to it a ratio may be taken for what is certainly not below it: its power vanishes beside that of the knee.
#define NEAR 0.75f
// Beyond it all amplitudes are scaled back first, so that powers of ratios are floats.
#define FAR 3.5f

const jnBound* jnMorphs_Bound(const jnMorphs* m)
{
    const jnBound* bound = &((const jnAssetBlock*)(const void*)m->asset)->bound;
    return bound->blockCount > 0 ? bound : NULL;
}

void jnMorphs_SetBound(jnMorphs* m, float scale, float distance)
{
    const jnBound* b = jnMorphs_Bound(m);
    m->bounded = b != NULL && scale > 0.0f;
    if (!m->bounded) {
        return;
    }
    float whole = jnBoundReach(b->high);
    for (int i = 0; i < b->blockCount; ++i) {
        m->boundTightness[i] = 0.0f;
        for (int lane = 0; lane < JN_LANES; ++lane) {
            float own = b->limits[i * JN_LANES + lane], limit = fminf(own * scale, 1e12f);
            limit = distance > 0.0f ? fminf(limit, distance) : limit;
            limit = fmaxf(limit, 1e-6f);
            m->boundScales[i * JN_LANES + lane] = own > 0.0f ? whole / limit : 1.0f;
            m->boundTightness[i] = fmaxf(m->boundTightness[i], own > 0.0f ? own / limit : 1.0f);
        }
    }
}

static inline float Larger(float a, float b)
{
    return a > b ? a : b;
}

// The ratios of a block's elements; the largest.
static float Measure(const jnMorphs* m, const jnBound* b, int block, const float* y, float ratios[JN_LANES])
{
    static const uint32_t starts[JN_BOUND_ROWS + 1] = {0, 1, 2, 3, 4, 5, 6};
    _Alignas(JN_ALIGNMENT) float d[JN_BOUND_ROWS][JN_LANES];
    float* out = d[0];
    const float* scales = m->boundScales + (size_t)block * JN_LANES;
    m->kernels->multiply(&(jnProductPass){.starts = starts,
        .weights = b->rows + (size_t)block * JN_BOUND_ROWS * (size_t)b->modeCount * JN_LANES,
        .blockCount = JN_BOUND_ROWS,
        .groupSize = b->modeCount,
        .used = m->modeCount,
        .inputs = &y,
        .outputs = &out,
        .count = 1});
    float most = 0.0f;
    for (int i = 0; i < JN_LANES; ++i) { // apart from the others, so that it can be done for several at once
        float a = scales[i] * d[0][i], u = scales[i] * d[1][i], v = scales[i] * d[2][i];
        float c = scales[i] * d[3][i], p = scales[i] * d[4][i], q = scales[i] * d[5][i];
        float half = 0.5f * (a - c), shear = 0.5f * (u + v);
        float folded = (sqrtf(half * half + shear * shear) - 0.5f * (a + c)) / b->low;
        float stretched = sqrtf(a * a + u * u + v * v + c * c + p * p + q * q) / b->high;
        ratios[i] = folded > stretched ? folded : stretched;
    }
    for (int i = 0; i < JN_LANES; ++i) { // few are near their bound
        if (!(ratios[i] <= NEAR)) {
            float s = scales[i];
            const float own[JN_BOUND_ROWS] = {
                s * d[0][i], s * d[1][i], s * d[2][i], s * d[3][i], s * d[4][i], s * d[5][i]};
            ratios[i] = jnBoundRatio(own, b->low, b->high);
        }
    }
    for (int i = 0; i < JN_LANES; ++i) {
        most = ratios[i] <= most ? most : ratios[i]; // what is not a number stays one
    }
    return most;
}

static float Power(float x)
{
    for (int i = 0; i < SQUARINGS; ++i) {
        x *= x;
    }
    return x;
}

static float Root(float x)
{
    for (int i = 0; i < SQUARINGS; ++i) {
        x = sqrtf(x);
    }
    return x;
}

// What brings a ratio below 1: 1 up to the knee, then bending (C1).
static float Bend(float ratio)
{
    float rest = 1.0f - KNEE, over = ratio - KNEE;
    return over > 0.0f ? (1.0f - rest * rest / (rest + over)) / ratio : 1.0f;
}

// Lanes of the modes in use; the others are 0.
static size_t UsedLanes(const jnMorphs* m, size_t lanes)
{
    return (size_t)m->lanes < lanes ? (size_t)m->lanes : lanes;
}

// The blocks that may be beyond the knee; how many.
static int FindBusy(const jnMorphs* m, const jnBound* b, const float* y, int* busy)
{
    size_t lanes = (size_t)jnBlockCount(b->modeCount) * JN_LANES, used = UsedLanes(m, lanes);
    int count = 0;
    for (int i = 0; i < b->blockCount; ++i) {
        float sums[JN_LANES] = {0}, sum = 0.0f;
        for (size_t k = 0; k < used; k += JN_LANES) {
            for (size_t lane = 0; lane < JN_LANES; ++lane) {
                sums[lane] += b->gains[(size_t)i * lanes + k + lane] * fabsf(y[k + lane]);
            }
        }
        for (int lane = 0; lane < JN_LANES; ++lane) {
            sum += sums[lane];
        }
        if (!(sum * m->boundTightness[i] <= QUIET)) {
            busy[count++] = i;
        }
    }
    return count;
}

// What came of holding the modes back.
typedef enum Held {
    held_free,  // nothing had to be
    held_back,  // some were
    held_wrong, // a number was not finite
} Held;

// Every mode by what the busy blocks ask of it.
static Held HoldBack(const jnMorphs* m, const jnBound* b, const int* busy, int count, float* y)
{
    size_t lanes = (size_t)jnBlockCount(b->modeCount) * JN_LANES, used = UsedLanes(m, lanes);
    float ratios[JN_MAX_BOUND_BLOCKS][JN_LANES], sums[JN_MAX_ASSET_MODES] = {0}, most = 0.0f;
    for (int i = 0; i < count; ++i) {
        float own = Measure(m, b, busy[i], y, ratios[i]);
        most = own <= most ? most : own;
    }
    if (most <= QUIET || !(most <= 3e38f)) {
        return most <= QUIET ? held_free : held_wrong;
    }
    float back = most > FAR ? FAR / most : 1.0f; // ratios fall at least as much
    for (int i = 0; i < count; ++i) {
        float power = 0.0f;
        for (int lane = 0; lane < JN_LANES; ++lane) {
            power += Power(back * Larger(ratios[i][lane], 0.0f));
        }
        const float* parts = b->parts + (size_t)busy[i] * lanes;
        for (size_t k = 0; k < used; ++k) {
            sums[k] += parts[k] * power;
        }
    }
    float knee = Power(KNEE);
    Held held = back < 1.0f ? held_back : held_free;
    for (size_t k = 0; k < used; ++k) {
        y[k] *= back;
        if (sums[k] > knee) {
            y[k] *= Bend(Root(sums[k]));
            held = held_back;
        }
    }
    return held;
}

void jnBoundAmplitudes(const jnMorphs* m, float* y)
{
    const jnBound* b = jnMorphs_Bound(m);
    int busy[JN_MAX_BOUND_BLOCKS], count = FindBusy(m, b, y, busy);
    size_t size = (size_t)jnBlockCount(b->modeCount) * JN_LANES * sizeof(float);
    float ratios[JN_LANES], most = 0.0f;
    if (count == 0) {
        return;
    }
    Held held = HoldBack(m, b, busy, count, y);
    for (int i = 0; held == held_back && i < count; ++i) {
        float own = Measure(m, b, busy[i], y, ratios);
        most = own <= most ? most : own;
    }
    if (held == held_wrong || !(most <= 3e38f)) {
        memset(y, 0, size);
    }
    for (int k = 0; most > 1.0f && k < b->modeCount; ++k) {
        y[k] /= most;
    }
}
