// Amplitudes of modes in time; see modes.h for the equations.
#include "modes.h"

#include "elementary.h"
#include "rig_kernels.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

// The series of a turn takes parts of at most this norm, and at most so many.
#define TURN_PART 0.25f
enum { MAX_TURN_PARTS = 64 };
// Amplitudes below this are rounding dust.
#define DUST 1e-30f
// Up to this share of its cap an amplitude is shown as it is.
#define KNEE 0.7f
// Beyond so many times its cap it is taken back.
#define TAKEN_BACK 10.0f
// A rest is at most thirty years.
#define LONGEST_REST 1e9

const jnModeKernels* jnFindModeKernels(jnKernel kernel)
{
#ifdef JN_HAVE_X86_KERNELS
    if (kernel == jn_kernelAvx2) {
        return &jnModeKernelsAvx2;
    }
#endif
    (void)kernel;
    return &jnModeKernelsBaseline;
}

// Lays the arrays out behind the struct; with m == NULL only counts. Returns the bytes in all.
static size_t LayOut(jnModes* m, const jnAsset* asset)
{
    size_t count = (size_t)asset->modes->modeCount, lanes = (size_t)jnBlockCount((int)count) * JN_LANES;
    size_t joints = (size_t)asset->jointCount, blocks = (size_t)jnBlockCount(asset->springCount);
    float* none;
    float** arrays[] = {m ? &m->stiffness : &none, m ? &m->damping : &none, m ? &m->gain : &none,
        m ? &m->limits : &none, m ? &m->caps : &none, m ? &m->shown : &none, m ? &m->coefficients : &none,
        m ? &m->sums : &none, m ? &m->columns : &none, m ? &m->middle : &none, m ? &m->spins : &none,
        m ? &m->aligned : &none, m ? &m->work : &none, m ? &m->added : &none, m ? &m->now : &none,
        m ? &m->before : &none, m ? &m->forces : &none, m ? &m->pairs : &none, m ? &m->turns[0] : &none,
        m ? &m->turns[1] : &none, m ? &m->turns[2] : &none, m ? &m->turns[3] : &none};
    const size_t floats[] = {lanes, lanes, lanes, lanes, lanes, 2 * lanes, lanes * JN_COEFFICIENT_ROWS,
        count * JN_MODE_FIELDS * JN_MODE_LANES, count * lanes, 4 * joints, 3 * joints, 4 * joints, 8 * lanes,
        blocks * 2 * JN_FIELD_SIZE, 2 * lanes, 2 * lanes, 2 * lanes, (size_t)asset->modes->pairCount, 4 * joints,
        4 * joints, 4 * joints, 4 * joints};
    size_t offset = jnAlignUp(sizeof(jnModes));
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        *arrays[i] = m != NULL ? (float*)(void*)((char*)m + offset) : NULL;
        offset += jnAlignUp(floats[i] * sizeof(float));
    }
    size_t words = (joints + 63) / 64;
    if (m != NULL) {
        m->moving = m->now;
        m->movingSize = offset - (size_t)((char*)m->now - (char*)m);
        m->neighbours = (uint64_t*)(void*)((char*)m + offset);
        m->neighbourWords = (int)words;
    }
    return offset + jnAlignUp(joints * words * sizeof(uint64_t));
}

// Which joints move a vertex together.
static void FindNeighbours(jnModes* m)
{
    const jnAsset* a = m->asset;
    size_t words = (size_t)m->neighbourWords;
    for (int b = 0; b < m->blockCount; ++b) {
        size_t count = a->influenceStarts[b + 1] - a->influenceStarts[b];
        for (size_t v = 0; v < JN_LANES; ++v) {
            size_t at = (size_t)a->influenceStarts[b] * JN_LANES + v * count;
            for (size_t k = 1; k < count; ++k) {
                size_t first = a->influenceJoints[at], other = a->influenceJoints[at + k];
                if (first != other && a->influenceWeights[at + k] > 0.0f) {
                    m->neighbours[first * words + other / 64] |= (uint64_t)1 << other % 64;
                }
            }
        }
    }
}

static float Product(const float* a, const float* b)
{
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
}

void jnModes_Align(jnModes* m, const float* turns, jnModePass* pass)
{
    const jnAsset* a = m->asset;
    size_t words = (size_t)m->neighbourWords;
    for (size_t j = 0; j < (size_t)a->jointCount; ++j) {
        int parent = a->joints[j].parent;
        bool turned = parent >= 0 && Product(turns + 4 * j, m->aligned + 4 * (size_t)parent) < 0.0f;
        for (size_t i = 0; i < 4; ++i) {
            m->aligned[4 * j + i] = turned ? -turns[4 * j + i] : turns[4 * j + i];
        }
    }
    pass->turns = m->aligned;
    pass->aligned = true;
    for (size_t i = 0; pass->aligned && i < (size_t)a->jointCount * words; ++i) {
        size_t first = i / words, other = i % words * 64;
        for (uint64_t bits = m->neighbours[i]; bits != 0; bits >>= 1, ++other) {
            bool near = (bits & 1) == 0 || Product(m->aligned + 4 * first, m->aligned + 4 * other) >= 0.0f;
            pass->aligned = pass->aligned && near;
        }
    }
}

size_t jnModes_ByteCount(const jnAsset* asset)
{
    return LayOut(NULL, asset);
}

jnModes* jnMakeModes(void* memory, const jnAsset* asset, jnKernel kernel)
{
    jnModes* m = memory;
    kernel = kernel == jn_kernelAuto ? jnBestKernel() : kernel;
    m->asset = asset;
    m->kernels = jnFindModeKernels(kernel);
    m->springKernels = jnFindSpringKernels(kernel);
    m->count = asset->modes->modeCount;
    m->lanes = jnBlockCount(m->count) * JN_LANES;
    m->blockCount = jnBlockCount(asset->springCount);
    LayOut(m, asset);
    FindNeighbours(m);
    jnModes_Tune(m, -1, 1.0f, 1.0f, 1.0f);
    jnModes_ScaleCaps(m, 1.0f);
    for (int i = 0; i < JN_HISTORY; ++i) {
        for (int j = 0; j < asset->jointCount; ++j) {
            m->turns[i][4 * (size_t)j + 3] = 1.0f;
        }
    }
    return m;
}

int jnModes_Tune(jnModes* m, int joint, float hertzScale, float ratioScale, float gainScale)
{
    int count = 0;
    for (int k = 0; k < m->count; ++k) {
        const jnAssetMode* mode = &m->asset->modes->modes[k];
        if (joint >= 0 && mode->joint != joint) {
            continue;
        }
        m->stiffness[k] = fminf(mode->stiffness * hertzScale * hertzScale, 1e30f);
        m->damping[k] = fminf(mode->damping * hertzScale * ratioScale, 1e30f);
        m->gain[k] = mode->gain * gainScale;
        m->limits[k] = fabsf(m->gain[k]) * mode->limit;
        count++;
    }
    m->coefficientTime = 0.0;
    return count;
}

void jnModes_ScaleCaps(jnModes* m, float scale)
{
    const float* caps = m->asset->modes->caps;
    m->capped = false;
    for (int k = 0; k < m->count; ++k) {
        m->caps[k] = caps != NULL ? fminf(caps[k] * scale, 1e30f) : 0.0f;
        m->capped = m->capped || m->caps[k] > 0.0f;
    }
}

const float* jnModes_Limit(jnModes* m, const float* state)
{
    size_t lanes = (size_t)m->lanes;
    if (!m->capped) {
        return state;
    }
    memcpy(m->shown, state, 2 * lanes * sizeof(float));
    for (size_t k = 0; k < (size_t)m->count; ++k) {
        float cap = m->caps[k], knee = KNEE * cap, rest = cap - knee, over = fabsf(state[k]) - knee;
        if (cap > 0.0f && over > 0.0f) { // knee + rest over / (rest + over), of slope 1 at the knee
            float share = rest / (rest + over);
            m->shown[k] = copysignf(cap - rest * share, state[k]);
            m->shown[lanes + k] = share * share * state[lanes + k];
        }
    }
    return m->shown;
}

static void MultiplyQuaternions(const double a[4], const double b[4], double out[4])
{
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    out[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    out[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

void jnModes_TakeTurns(jnModes* m, const jnSprings* springs, const float* duals, bool all)
{
    const jnSpringsClock* clock = &springs->clock;
    const double* space = clock->newestSpace.to.rotation;
    const double toSpace[4] = {-space[0], -space[1], -space[2], space[3]};
    float* to = m->turns[clock->newest];
    for (int j = 0; j < m->asset->jointCount; ++j) {
        double q[4], out[4];
        for (int i = 0; i < 4; ++i) {
            q[i] = (double)duals[(size_t)j * JN_DUAL_SIZE + (size_t)i];
        }
        MultiplyQuaternions(toSpace, q, out);
        for (int i = 0; i < 4; ++i) {
            to[4 * (size_t)j + (size_t)i] = (float)(clock->hasSpace ? out[i] : q[i]);
        }
    }
    for (int i = 0; all && i < JN_HISTORY; ++i) {
        if (i != clock->newest) {
            memcpy(m->turns[i], to, 4 * (size_t)m->asset->jointCount * sizeof(float));
        }
    }
}

void jnModes_Rest(jnModes* m)
{
    size_t lanes = (size_t)m->lanes * sizeof(float);
    memset(m->now, 0, 2 * lanes);
    memset(m->before, 0, 2 * lanes);
    memset(m->forces, 0, 2 * lanes);
    memset(m->pairs, 0, (size_t)m->asset->modes->pairCount * sizeof(float));
}

// Rotations at a share of the way between two samples.
static void MixTurns(const jnModes* m, const float* from, const float* to, float share, float* out)
{
    for (size_t j = 0; j < (size_t)m->asset->jointCount; ++j) {
        const float *a = from + 4 * j, *b = to + 4 * j;
        float dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], far = dot < 0.0f ? -share : share;
        for (size_t i = 0; i < 4; ++i) {
            out[4 * j + i] = (1.0f - share) * a[i] + far * b[i];
        }
        float* q = out + 4 * j;
        float length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (size_t i = 0; i < 4; ++i) {
            q[i] = length > 0.0f ? q[i] / length : a[i]; // half a turn each way has no middle
        }
    }
}

// Rotation vector from one rotation to another, in the axes of the turning frame.
static void FindAngle(const float* from, const float* to, float angle[3])
{
    double a[4], b[4], q[4];
    for (int i = 0; i < 4; ++i) {
        a[i] = i < 3 ? -(double)from[i] : (double)from[i];
        b[i] = (double)to[i];
    }
    MultiplyQuaternions(a, b, q);
    double sign = q[3] < 0 ? -1.0 : 1.0, sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    double scale = sine > 1e-12 ? 2.0 * jnQuadrantAngle(sine, sign * q[3]) / sine : 2.0;
    for (int i = 0; i < 3; ++i) {
        angle[i] = (float)(sign * scale * q[i]);
    }
}

// What the joints' turning over the interval does to each pair of modes.
static void FindPairs(jnModes* m, const float* from, const float* to)
{
    const jnAssetModes* modes = m->asset->modes;
    memset(m->pairs, 0, (size_t)modes->pairCount * sizeof(float));
    for (size_t j = 0; j < (size_t)m->asset->jointCount; ++j) {
        float angle[3];
        size_t first = modes->spinStarts[j], count = modes->spinStarts[j + 1] - first;
        if (count > 0) {
            FindAngle(from + 4 * j, to + 4 * j, angle);
            m->kernels->addSpins(modes->spins + first, count, angle, m->pairs);
        }
    }
}

// How a turn is worked out: its series takes so many parts of so many terms; no parts: there is nothing to turn.
typedef struct Turn {
    int parts, terms;
} Turn;

// What a series leaves out stays below 4e-7 of what it turns.
static Turn PlanTurn(float norm)
{
    if (!(norm > 0.0f && norm < TURN_PART * (float)(1 << 20))) {
        return (Turn){0, 0};
    }
    float parts = ceilf(norm / TURN_PART);
    parts = parts < (float)MAX_TURN_PARTS ? parts : (float)MAX_TURN_PARTS;
    float part = norm / parts;
    return (Turn){(int)parts, part < 0.01f ? 2 : part < 0.05f ? 3 : part < 0.12f ? 4 : 5};
}

// The matrix of a share of the interval's turn; what is not of a pair is 0 from the start. Its norm is at most the root
// of the sum of its squares.
static Turn MakeColumns(jnModes* m, float share)
{
    const uint16_t* pairs = m->asset->modes->pairs;
    size_t lanes = (size_t)m->lanes, count = (size_t)m->asset->modes->pairCount;
    float *columns = m->columns, squares[4] = {0};
    for (size_t i = 0; i < count; ++i) {
        size_t k = pairs[2 * i], l = pairs[2 * i + 1];
        float value = share * m->pairs[i];
        columns[l * lanes + k] = value;
        columns[k * lanes + l] = -value;
        squares[i % 4] += value * value;
    }
    return PlanTurn(sqrtf(2.0f * ((squares[0] + squares[1]) + (squares[2] + squares[3]))));
}

static void SetPass(jnModes* m, const jnSprings* springs, const float* turns, jnModePass* pass)
{
    const jnSpringsClock* clock = &springs->clock;
    *pass = (jnModePass){.asset = m->asset, .own = clock->advanced ? clock->interval.own : 2, .sums = m->sums};
    jnModes_Align(m, turns, pass);
    for (int i = 0; i < 4; ++i) {
        pass->samples[i] = springs->samples[clock->advanced ? clock->slots[i] : clock->base];
    }
    memcpy(pass->ratios, clock->interval.ratios, sizeof(pass->ratios));
}

// Runs a projection. results: [2][lanes], times the gain.
static void Project(jnModes* m, const jnModePass* pass, float* results)
{
    memset(m->sums, 0, (size_t)m->count * JN_MODE_FIELDS * JN_MODE_LANES * sizeof(float));
    m->kernels->project(pass, 0, m->blockCount);
    for (int k = 0; k < m->count; ++k) {
        const float* lanes = m->sums + (size_t)k * JN_MODE_FIELDS * JN_MODE_LANES;
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            float sum = 0.0f;
            for (int i = 0; i < JN_MODE_LANES; ++i) {
                sum += lanes[i * JN_MODE_FIELDS + f];
            }
            results[(size_t)f * (size_t)m->lanes + (size_t)k] = m->gain[k] * sum;
        }
    }
}

// Large forces level off: flesh that is thrown hard goes taut instead of farther, which no linear mode knows.
static float LevelOff(float force, float limit)
{
    float share = limit > 0.0f ? force / limit : 0.0f;
    return force / sqrtf(1.0f + share * share);
}

// Forces at the start of an interval of h seconds and their rates, levelled off at its two ends.
static void LimitForces(const jnModes* m, float h, float* forces)
{
    for (size_t k = 0; k < (size_t)m->count; ++k) {
        float* rate = forces + (size_t)m->lanes + k;
        float end = LevelOff(forces[k] + h * *rate, m->limits[k]);
        if (m->limits[k] > 0.0f) {
            forces[k] = LevelOff(forces[k], m->limits[k]);
            *rate = (end - forces[k]) / h;
        }
    }
}

// What the damping must leave out of `p`: it acts on the amplitudes' change in their frames. Taken off the
// acceleration.
static void FindDrag(const jnModes* m, const float* columns, float rate, const float* z, float* drag)
{
    size_t lanes = (size_t)m->lanes;
    memset(drag, 0, lanes * sizeof(float));
    for (size_t l = 0; l < (size_t)m->count; ++l) {
        for (size_t k = 0; k < lanes; ++k) {
            drag[k] += columns[l * lanes + k] * z[l];
        }
    }
    for (size_t k = 0; k < (size_t)m->count; ++k) {
        drag[k] *= rate * m->damping[k];
    }
}

// The closed form over the interval of the coefficients; the linear map of spring_kernels.h.
static void StepState(const jnModes* m, const float* drag, float* state)
{
    size_t lanes = (size_t)m->lanes;
    for (size_t k = 0; k < (size_t)m->count; ++k) {
        const float* rows = m->coefficients + k / JN_LANES * JN_COEFFICIENT_SIZE + k % JN_LANES;
        float z = state[k], p = state[lanes + k], a = m->forces[k] - drag[k], j = m->forces[lanes + k];
        float lowZ = rows[ROW_PL * JN_LANES] * z + rows[ROW_WL * JN_LANES] * p;
        float lowP = rows[ROW_RL * JN_LANES] * z + rows[ROW_QL * JN_LANES] * p;
        float g1 = rows[ROW_G1 * JN_LANES], w = rows[ROW_W * JN_LANES];
        state[k] = (rows[ROW_P * JN_LANES] * z + w * p) + (lowZ - (g1 * a + rows[ROW_G2 * JN_LANES] * j));
        state[lanes + k] = (rows[ROW_R * JN_LANES] * z + rows[ROW_Q * JN_LANES] * p) + (lowP - (w * a + g1 * j));
    }
}

// A stretch of `h` seconds, `share` of the last interval: turn, step, turn.
static void StepThrough(jnModes* m, double h, float share, float* state)
{
    if (m->coefficientTime != h) {
        m->springKernels->makeCoefficients(m->stiffness, m->damping, h, m->coefficients, 0, m->lanes / JN_LANES);
        m->coefficientTime = h;
    }
    Turn turn = MakeColumns(m, 0.5f * share);
    float* drag = m->work + 4 * (size_t)m->lanes;
    memset(drag, 0, (size_t)m->lanes * sizeof(float));
    if (turn.parts > 0) {
        m->kernels->turn(m->columns, m->count, m->lanes, turn.parts, turn.terms, state, m->work);
        FindDrag(m, m->columns, (float)(2.0 / h), state, drag);
    }
    StepState(m, drag, state);
    if (turn.parts > 0) {
        m->kernels->turn(m->columns, m->count, m->lanes, turn.parts, turn.terms, state, m->work);
    }
}

// Far beyond its cap a mode is taken back, position and velocity: a joint that turns faster than the mode swings flings
// it out exponentially, and it would take long to come back to where it shows.
static void TakeBack(jnModes* m)
{
    for (size_t k = 0; m->capped && k < (size_t)m->count; ++k) {
        float most = TAKEN_BACK * m->caps[k], size = fabsf(m->now[k]);
        if (most > 0.0f && size > most && size <= 3e38f) {
            m->now[k] *= most / size;
            m->now[(size_t)m->lanes + k] *= most / size;
        }
    }
}

// Sets dust to 0, and everything if anything is not finite. Returns how many modes were not.
static int CleanState(jnModes* m)
{
    int bad = 0;
    TakeBack(m);
    for (int i = 0; i < 2 * m->lanes; ++i) {
        float size = fabsf(m->now[i]);
        bad += !(size <= 3e38f);
        m->now[i] = size < DUST ? 0.0f : m->now[i];
    }
    if (bad > 0) {
        jnModes_Rest(m);
    }
    return bad;
}

int jnModes_Advance(jnModes* m, const jnSprings* springs)
{
    const jnSpringsClock* clock = &springs->clock;
    const jnInterval* interval = &clock->interval;
    const float *from = m->turns[clock->slots[interval->own]], *to = m->turns[clock->slots[interval->own + 1]];
    size_t lanes = (size_t)m->lanes;
    float kick[3];
    bool kicks = false;
    jnModePass pass;
    for (int i = 0; i < 3; ++i) {
        kick[i] = (float)(interval->kick[i] / interval->h);
        kicks = kicks || kick[i] != 0.0f;
    }
    if (kicks) {
        SetPass(m, springs, from, &pass);
        memcpy(pass.weights[0], kick, sizeof(kick));
        Project(m, &pass, m->work);
        for (size_t k = 0; k < (size_t)m->count; ++k) {
            m->now[lanes + k] -= m->work[k];
        }
    }
    memcpy(m->before, m->now, 2 * lanes * sizeof(float));
    MixTurns(m, from, to, 0.5f, m->middle);
    FindPairs(m, from, to);
    SetPass(m, springs, m->middle, &pass);
    jnInterval_Forcing(interval, pass.weights[0] + 1, pass.weights[1] + 1);
    jnForceInSpace(springs, pass.force[0]);
    Project(m, &pass, m->forces);
    LimitForces(m, (float)interval->h, m->forces);
    StepThrough(m, interval->h, 1.0f, m->now);
    if (springs->curve == jn_curveStep) {
        SetPass(m, springs, to, &pass);
        pass.weights[0][0] = 1.0f;
        Project(m, &pass, m->work);
        for (size_t k = 0; k < (size_t)m->count; ++k) {
            m->now[k] -= m->work[k];
        }
    }
    return CleanState(m);
}

void jnModes_Settle(jnModes* m, const jnSprings* springs, double seconds)
{
    const jnSpringsClock* clock = &springs->clock;
    size_t lanes = (size_t)m->lanes;
    jnModePass pass;
    SetPass(m, springs, m->turns[clock->base], &pass);
    if (clock->advanced) {
        memcpy(pass.weights[0], jnInterval_Point(&clock->interval, 1.0).slope, sizeof(pass.weights[0]));
    }
    jnForceInSpace(springs, pass.force[1]);
    Project(m, &pass, m->work);
    for (size_t k = 0; k < (size_t)m->count; ++k) {
        jnSpringResponse r =
            jnEvaluateSpring((double)m->stiffness[k], (double)m->damping[k], fmin(seconds, LONGEST_REST));
        // The target stops, the flesh does not.
        double z = (double)m->now[k], p = (double)m->now[lanes + k] + (double)m->work[k];
        double a = (double)LevelOff(m->work[lanes + k], m->limits[k]);
        m->now[k] = (float)(r.position * z + r.impulse * p - r.step * a);
        m->now[lanes + k] = (float)(-(double)m->stiffness[k] * r.impulse * z + r.velocity * p - r.impulse * a);
    }
    memcpy(m->before, m->now, 2 * lanes * sizeof(float));
    memset(m->forces, 0, 2 * lanes * sizeof(float));
    memset(m->pairs, 0, (size_t)m->asset->modes->pairCount * sizeof(float));
    CleanState(m);
}

// Angular velocities of the joints over the last interval, in space, at rotations that lie in it.
static void FindSpins(jnModes* m, const jnSprings* springs, const float* turns)
{
    const jnSpringsClock* clock = &springs->clock;
    memset(m->spins, 0, 3 * (size_t)m->asset->jointCount * sizeof(float));
    for (size_t j = 0; clock->advanced && j < (size_t)m->asset->jointCount; ++j) {
        const jnInterval* interval = &clock->interval;
        float angle[3];
        FindAngle(
            m->turns[clock->slots[interval->own]] + 4 * j, m->turns[clock->slots[interval->own + 1]] + 4 * j, angle);
        const float* q = turns + 4 * j;
        float t[3], rate = (float)(1.0 / interval->h);
        for (int i = 0; i < 3; ++i) {
            t[i] = 2.0f * (q[(i + 1) % 3] * angle[(i + 2) % 3] - q[(i + 2) % 3] * angle[(i + 1) % 3]);
        }
        for (int i = 0; i < 3; ++i) {
            float turned = angle[i] + q[3] * t[i] + (q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3]);
            m->spins[3 * j + (size_t)i] = rate * turned;
        }
    }
}

void jnModes_At(jnModes* m, const jnSprings* springs, double fraction, float* state, float* turns)
{
    const jnSpringsClock* clock = &springs->clock;
    const jnInterval* interval = &clock->interval;
    size_t lanes = (size_t)m->lanes, rotations = 4 * (size_t)m->asset->jointCount * sizeof(float);
    if (!clock->advanced || fraction >= 1.0) {
        memcpy(state, m->now, 2 * lanes * sizeof(float));
        memcpy(turns, m->turns[clock->base], rotations);
    } else {
        memcpy(state, m->before, 2 * lanes * sizeof(float));
        MixTurns(m, m->turns[clock->slots[interval->own]], m->turns[clock->slots[interval->own + 1]], (float)fraction,
            turns);
        if (fraction > 0.0) {
            StepThrough(m, fraction * interval->h, (float)fraction, state);
        }
    }
    // From the velocity in space to the amplitudes' own: z' = p - S z.
    const jnAssetModes* modes = m->asset->modes;
    for (size_t i = 0; clock->advanced && i < (size_t)modes->pairCount; ++i) {
        size_t k = modes->pairs[2 * i], l = modes->pairs[2 * i + 1];
        float rate = (float)((double)m->pairs[i] / interval->h);
        state[lanes + k] -= rate * state[l];
        state[lanes + l] += rate * state[k];
    }
    FindSpins(m, springs, turns);
}

void jnModes_Fill(jnModes* m, const float* state, const float* turns, const uint8_t* mask)
{
    jnModePass pass = {.asset = m->asset,
        .amplitudes = state,
        .spins = m->spins,
        .stride = (size_t)m->lanes,
        .mask = mask,
        .added = m->added};
    jnModes_Align(m, turns, &pass);
    m->kernels->show(&pass, 0, m->blockCount);
}

void jnModes_Kick(jnModes* m, const jnSprings* springs, int vertex, const float velocity[3])
{
    const jnAsset* asset = m->asset;
    const jnAssetModes* modes = asset->modes;
    size_t b = (size_t)(vertex / JN_LANES), lane = (size_t)(vertex % JN_LANES);
    const float* turns = m->turns[springs->clock.base];
    size_t count = asset->influenceStarts[b + 1] - asset->influenceStarts[b];
    size_t at = (size_t)asset->influenceStarts[b] * JN_LANES + lane * count;
    const float* first = turns + 4 * (size_t)asset->influenceJoints[at];
    float q[4] = {0}, square = 0.0f, t[3], local[3];
    for (size_t k = 0; k < count; ++k) {
        const float* joint = turns + 4 * (size_t)asset->influenceJoints[at + k];
        float dot = first[0] * joint[0] + first[1] * joint[1] + first[2] * joint[2] + first[3] * joint[3];
        for (int i = 0; i < 4; ++i) {
            q[i] += (dot < 0.0f ? -asset->influenceWeights[at + k] : asset->influenceWeights[at + k]) * joint[i];
        }
    }
    for (int i = 0; i < 4; ++i) {
        square += q[i] * q[i];
    }
    for (int i = 0; i < 3; ++i) { // the inverse: R^T v
        t[i] = 2.0f * (q[(i + 2) % 3] * velocity[(i + 1) % 3] - q[(i + 1) % 3] * velocity[(i + 2) % 3]) / square;
    }
    for (int i = 0; i < 3; ++i) {
        local[i] = velocity[i] + q[3] * t[i] + (q[(i + 2) % 3] * t[(i + 1) % 3] - q[(i + 1) % 3] * t[(i + 2) % 3]);
    }
    for (size_t e = modes->starts[b]; e < modes->starts[b + 1]; ++e) {
        const int16_t* p = modes->projections + e * 3 * JN_LANES + lane;
        float sum = (float)p[0] * local[0] + (float)p[JN_LANES] * local[1] + (float)p[2 * JN_LANES] * local[2];
        size_t k = modes->entryModes[e];
        float change = m->gain[k] * modes->projectionScales[e] * sum;
        m->now[(size_t)m->lanes + k] += jnIsFinite(change) ? change : 0.0f;
    }
}
