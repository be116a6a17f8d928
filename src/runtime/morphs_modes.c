// The modes over an interval; see morphs.h for the equations.
#include "morphs.h"

#include "elementary.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

// The series of a rotation takes parts of at most this norm, and at most so many.
#define TURN_PART 0.25f
#define TURN_FEW 0.05f // below it two terms are enough
enum { MAX_TURN_PARTS = 64 };
// Amplitudes below this are rounding dust.
#define DUST 1e-30f
// Beyond so many times its cap an amplitude is taken back.
#define TAKEN_BACK 10.0f
// A rest is at most thirty years.
#define LONGEST_REST 1e9
// Characters whose products are made together.
enum { BATCH = 16, PAIRS_AT_ONCE = 2, CROSSES_AT_ONCE = 32 };
enum { STACK_LANES = 64, STACK_PAIRS = STACK_LANES * (STACK_LANES - 1) / 2 };

void jnRestModes(jnMorphs* m)
{
    size_t lanes = (size_t)m->lanes * sizeof(float);
    memset(m->now, 0, 2 * lanes);
    memset(m->before, 0, 2 * lanes);
    memset(m->forces, 0, 2 * lanes);
}

void jnWeighDifferences(const jnSpringsClock* clock, const float w[3], float out[3])
{
    const jnInterval* interval = &clock->interval;
    out[0] = -w[1] * interval->ratios[0];
    out[1] = ((w[1] - w[2]) + (interval->own == 1 ? w[0] : 0.0f)) * interval->ratios[1];
    out[2] = (w[2] + (interval->own == 1 ? 0.0f : w[0])) * interval->ratios[2];
}

// Rotation halfway between two.
static void MixTurns(const float* a, const float* b, float* out)
{
    float dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], side = dot < 0.0f ? -1.0f : 1.0f;
    float square = 0.0f;
    for (int i = 0; i < 4; ++i) {
        out[i] = a[i] + side * b[i];
        square += out[i] * out[i];
    }
    float scale = square > 0.0f ? 1.0f / sqrtf(square) : 0.0f;
    for (int i = 0; i < 4; ++i) {
        out[i] = square > 0.0f ? out[i] * scale : a[i]; // half a turn each way has no middle
    }
}

// Rotation vector from one rotation to another, in the axes of the rotating frame.
static void FindAngle(const float* from, const float* to, float angle[3])
{
    float q[4];
    q[0] = from[3] * to[0] - from[0] * to[3] - (from[1] * to[2] - from[2] * to[1]);
    q[1] = from[3] * to[1] - from[1] * to[3] - (from[2] * to[0] - from[0] * to[2]);
    q[2] = from[3] * to[2] - from[2] * to[3] - (from[0] * to[1] - from[1] * to[0]);
    q[3] = from[3] * to[3] + from[0] * to[0] + from[1] * to[1] + from[2] * to[2];
    float side = q[3] < 0.0f ? -1.0f : 1.0f, square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    float scale = 2.0f * side;
    if (square < 0.01f) { // asin(s) / s by its series
        scale *= 1.0f + square * (1.0f / 6.0f + square * (3.0f / 40.0f + square * (15.0f / 336.0f)));
    } else {
        double sine = sqrt((double)square);
        scale *= (float)(jnQuadrantAngle(sine, (double)(side * q[3])) / sine);
    }
    for (int i = 0; i < 3; ++i) {
        angle[i] = scale * q[i];
    }
}

// The rotations of the joints that drive modes over the last interval: how far, and halfway.
static void FindTurns(jnMorphs* m)
{
    const jnSpringsClock* clock = &m->clock;
    const float* from = m->turns[clock->slots[clock->interval.own]];
    const float* to = m->turns[clock->slots[clock->interval.own + 1]];
    for (size_t i = 0; i < (size_t)m->modes->driverCount; ++i) {
        size_t at = 4 * (size_t)m->modes->drivers[i];
        MixTurns(from + at, to + at, m->middle + 4 * i);
        FindAngle(from + at, to + at, m->angles + 3 * i);
    }
}

static jnProductPass ForceProduct(const jnMorphs* m)
{
    return (jnProductPass){.starts = m->modes->forceStarts,
        .groups = m->modes->forceJoints,
        .weights = m->modes->forces,
        .blockCount = m->lanes / JN_LANES,
        .groupSize = 12};
}

// What the joints' rotation over the last interval, by the angles at hand, does to each pair of modes, for `count`
// characters. pairs: [count][blocks of pairs][JN_LANES]
static void FindPairs(jnMorphs* const* list, int count, float* const* pairs)
{
    const jnMorphs* m = list[0];
    const float* angles[BATCH];
    for (int n = 0; n < count; ++n) {
        angles[n] = list[n]->angles;
    }
    m->kernels->multiply(&(jnProductPass){.starts = m->modes->spinStarts,
        .groups = m->modes->spinJoints,
        .weights = m->modes->spins,
        .blockCount = jnBlockCount(m->modes->pairCount),
        .groupSize = 3,
        .inputs = angles,
        .outputs = pairs,
        .count = count});
}

// How a rotation is worked out: its series takes so many parts of so many terms; no parts: there is nothing to do.
typedef struct Turn {
    int parts, terms;
} Turn;

// What a series leaves out stays below 2e-5 of what it rotates, a tenth of what splitting an interval into rotation and
// swing leaves out.
static Turn PlanTurn(float norm)
{
    if (!(norm > 0.0f && norm < TURN_PART * (float)(1 << 20))) {
        return (Turn){0, 0};
    }
    float parts = ceilf(norm / TURN_PART);
    parts = parts < (float)MAX_TURN_PARTS ? parts : (float)MAX_TURN_PARTS;
    float part = norm / parts;
    return (Turn){(int)parts, part < TURN_FEW ? 2 : part < 0.15f ? 3 : 4};
}

// The norm of an antisymmetric matrix is at most the root of the sum of squares of one of its halves: its eigenvalues
// come in pairs. pairs: [blocks of pairs][JN_LANES]; what fills up the last block is 0.
static float BoundNorm(const float* pairs, int count)
{
    float squares[JN_LANES] = {0};
    for (int i = 0; i < jnBlockCount(count) * JN_LANES; i += JN_LANES) {
        for (int k = 0; k < JN_LANES; ++k) {
            squares[k] += pairs[i + k] * pairs[i + k];
        }
    }
    float sum = 0.0f;
    for (int k = 0; k < JN_LANES; ++k) {
        sum += squares[k];
    }
    return sqrtf(sum);
}

// The matrix of a share of the interval's rotation.
static void MakeColumns(const jnMorphs* m, const float* values, float share, float* columns)
{
    const uint16_t* pairs = m->modes->pairs;
    size_t lanes = (size_t)m->lanes, count = (size_t)m->modes->pairCount, modes = (size_t)m->modeCount;
    memset(columns, 0, modes * lanes * sizeof(float));
    for (size_t i = 0; i < count; ++i) {
        size_t k = pairs[2 * i], l = pairs[2 * i + 1];
        if (k < modes) { // the larger of the two
            float value = share * values[i];
            columns[l * lanes + k] = value;
            columns[k * lanes + l] = -value;
        }
    }
}

// The closed form over the interval of the coefficients; the linear map of spring_kernels.h.
static void StepState(const jnMorphs* m, const float* drag, float* state)
{
    size_t lanes = (size_t)m->lanes;
    for (size_t b = 0; b < lanes; b += JN_LANES) {
        const float* rows = m->coefficients + b / JN_LANES * JN_COEFFICIENT_SIZE;
        for (size_t i = 0; i < JN_LANES; ++i) {
            size_t k = b + i;
            float z = state[k], p = state[lanes + k], a = m->forces[k] - drag[k], j = m->forces[lanes + k];
            float lowZ = rows[ROW_PL * JN_LANES + i] * z + rows[ROW_WL * JN_LANES + i] * p;
            float lowP = rows[ROW_RL * JN_LANES + i] * z + rows[ROW_QL * JN_LANES + i] * p;
            float g1 = rows[ROW_G1 * JN_LANES + i], w = rows[ROW_W * JN_LANES + i];
            state[k] = (rows[ROW_P * JN_LANES + i] * z + w * p) + (lowZ - (g1 * a + rows[ROW_G2 * JN_LANES + i] * j));
            state[lanes + k] =
                (rows[ROW_R * JN_LANES + i] * z + rows[ROW_Q * JN_LANES + i] * p) + (lowP - (w * a + g1 * j));
        }
    }
}

// A stretch of `h` seconds, `share` of the last interval, with the interval's rotation of pairs: rotate, step, rotate.
static void StepThrough(jnMorphs* m, const float* pairs, double h, float share, float* state)
{
    _Alignas(JN_ALIGNMENT) float own[STACK_LANES * STACK_LANES];
    float* columns = m->columns != NULL ? m->columns : own;
    if (m->coefficientTime != h) {
        m->springKernels->makeCoefficients(m->stiffness, m->damping, h, m->coefficients, 0, m->lanes / JN_LANES);
        m->coefficientTime = h;
    }
    float* drag = m->work + 4 * (size_t)m->lanes;
    float norm = 0.5f * share * BoundNorm(pairs, m->modes->pairCount);
    if (norm > 0.0f) {
        MakeColumns(m, pairs, 0.5f * share, columns);
        float rows = norm > TURN_FEW ? m->kernels->bound(columns, m->modeCount, m->lanes) : norm;
        norm = rows < norm ? rows : norm;
    }
    Turn turn = PlanTurn(norm);
    memset(drag, 0, (size_t)m->lanes * sizeof(float));
    if (turn.parts > 0) {
        m->kernels->turn(columns, m->modeCount, m->lanes, turn.parts, turn.terms, state, m->work);
        // The damping acts on the amplitudes' change in their frames, so part of `p` is taken off the acceleration.
        float rate = (float)(2.0 / h);
        m->kernels->apply(columns, m->modeCount, m->lanes, state, drag);
        for (int k = 0; k < m->lanes; ++k) {
            drag[k] *= rate * m->damping[k];
        }
    }
    StepState(m, drag, state);
    if (turn.parts > 0) {
        m->kernels->turn(columns, m->modeCount, m->lanes, turn.parts, turn.terms, state, m->work);
    }
}

// Large forces level off: flesh that is thrown hard goes taut instead of farther, which no linear mode knows.
static float LevelOff(float force, float limit)
{
    float share = limit > 0.0f ? force / limit : 0.0f;
    return force / sqrtf(1.0f + share * share);
}

// Forces at the start of an interval of h seconds and their rates, levelled off at its two ends.
static void LimitForces(const jnMorphs* m, float h, float* forces)
{
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        float* rate = forces + (size_t)m->lanes + k;
        if (m->limits[k] > 0.0f) {
            float end = LevelOff(forces[k] + h * *rate, m->limits[k]);
            forces[k] = LevelOff(forces[k], m->limits[k]);
            *rate = (end - forces[k]) / h;
        }
    }
}

// What is projected on the modes: fields of weights . (line, e0, e1) of the targets, minus a force.
typedef struct Fields {
    float weights[JN_MODE_FIELDS][3];
    float force[JN_MODE_FIELDS][3];
} Fields;

// The samples of an interval and what their origins do to fields 0 to `count` of a pass, minus forces.
static void FillPass(const jnMorphs* m, const float (*weights)[3], const float (*force)[3], jnForcingPass* pass)
{
    const jnSpringsClock* clock = &m->clock;
    double ways[3][3];
    for (int i = 0; i < JN_HISTORY; ++i) {
        int slot = clock->advanced ? clock->slots[i] : clock->base;
        pass->rows[i] = m->rows[slot];
        for (int k = 0; i > 0 && k < 3; ++k) {
            int before = clock->advanced ? clock->slots[i - 1] : clock->base;
            ways[i - 1][k] =
                (m->origins[3 * slot + k] - m->origins[3 * before + k]) * (double)clock->interval.ratios[i - 1];
        }
    }
    for (int f = 0; f < pass->fieldCount; ++f) {
        jnWeighDifferences(clock, weights[f], pass->weights[f]);
        for (int k = 0; k < 3; ++k) {
            double line = ways[clock->interval.own == 1 ? 1 : 2][k];
            double sum = (double)weights[f][0] * line + (double)weights[f][1] * (ways[1][k] - ways[0][k]) +
                         (double)weights[f][2] * (ways[2][k] - ways[1][k]);
            pass->common[f][4 * k + 3] = (float)(sum - (force != NULL ? (double)force[f][k] : 0.0));
        }
    }
}

// The matrices' part of it, in the joints' frames, to forcing. frames: which of the rotations; NULL: one after another
static void MakeForcing(jnMorphs* m, const Fields* fields, const float* turns, const uint16_t* frames)
{
    jnForcingPass pass = {.joints = m->modes->drivers,
        .count = m->modes->driverCount,
        .fieldCount = JN_MODE_FIELDS,
        .turns = turns,
        .frames = frames,
        .out = {m->forcing[0], m->forcing[1]}};
    FillPass(m, fields->weights, fields->force, &pass);
    m->kernels->makeForcing(&pass);
}

// Adds the components' part to results, and the gains.
static void AddDrives(jnMorphs* m, const Fields* fields, float* results)
{
    const jnSpringsClock* clock = &m->clock;
    const float* drives[JN_HISTORY];
    for (int i = 0; i < JN_HISTORY; ++i) {
        drives[i] = m->drives[clock->advanced ? clock->slots[i] : clock->base];
    }
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        float w[3], *to = results + (size_t)f * (size_t)m->lanes;
        jnWeighDifferences(clock, fields->weights[f], w);
        for (int k = 0; k < m->lanes; ++k) {
            float sum = (w[0] * (drives[1][k] - drives[0][k]) + w[1] * (drives[2][k] - drives[1][k])) +
                        w[2] * (drives[3][k] - drives[2][k]);
            to[k] = m->gain[k] * (to[k] + sum);
        }
    }
}

// Runs a projection for one character. results: [JN_MODE_FIELDS][lanes], times the gain.
static void Project(jnMorphs* m, const Fields* fields, const float* turns, float* results)
{
    jnProductPass pass = ForceProduct(m);
    const float* inputs[JN_MODE_FIELDS] = {m->forcing[0], m->forcing[1]};
    float* outputs[JN_MODE_FIELDS] = {results, results + m->lanes};
    MakeForcing(m, fields, turns, m->modes->drivers);
    pass.inputs = inputs;
    pass.outputs = outputs;
    pass.count = JN_MODE_FIELDS;
    m->kernels->multiply(&pass);
    AddDrives(m, fields, results);
}

// c Q^T A'' + 2 c' Q^T A' of the components and joints that have a cross term, [crosses][9], at an end of the interval.
// slopes: Q^T A' there, [count][12], of the cross terms from `first` on. The forcing of the interval is at hand.
static void FillCross(const jnMorphs* m, double fraction, const float* slopes, size_t first, size_t count)
{
    const jnAssetModes* modes = m->modes;
    const jnSpringsClock* clock = &m->clock;
    jnCurvePoint point = jnInterval_Point(&clock->interval, fraction);
    float place[3], slope[3], h = (float)(fraction * clock->interval.h), *out = m->crossInputs[fraction > 0.0];
    jnWeighDifferences(clock, point.place, place);
    jnWeighDifferences(clock, point.slope, slope);
    for (size_t e = first; e < first + count; ++e, slopes += 12) {
        size_t c = modes->crossComponents[e], at = 12 * (size_t)modes->crossJoints[e];
        float value = m->components[clock->slots[clock->interval.own]][c], rate = 0.0f;
        for (int i = 0; i < 3; ++i) {
            float d = m->components[clock->slots[i + 1]][c] - m->components[clock->slots[i]][c];
            value += place[i] * d;
            rate += slope[i] * d;
        }
        const float *start = m->forcing[0] + at, *growth = m->forcing[1] + at;
        for (size_t i = 0; i < 12; ++i) {
            if (i % 4 < 3) {
                out[9 * e + 3 * (i / 4) + i % 4] = value * (start[i] + h * growth[i]) + 2.0f * rate * slopes[i];
            }
        }
    }
}

// What the motion of their joints' frames does to the larger components, at both ends of the interval, to crossInputs.
static void FillCrosses(jnMorphs* m)
{
    const jnAssetModes* modes = m->modes;
    const jnInterval* interval = &m->clock.interval;
    float slopes[2][CROSSES_AT_ONCE * 12], weights[2][3];
    uint16_t joints[CROSSES_AT_ONCE];
    memcpy(weights[0], jnInterval_Point(interval, 0.0).slope, sizeof(weights[0]));
    memcpy(weights[1], jnInterval_Point(interval, 1.0).slope, sizeof(weights[1]));
    for (size_t first = 0, count = 0; first < (size_t)modes->crossCount; first += count) {
        count = (size_t)modes->crossCount - first;
        count = count < CROSSES_AT_ONCE ? count : CROSSES_AT_ONCE;
        for (size_t i = 0; i < count; ++i) {
            joints[i] = modes->drivers[modes->crossJoints[first + i]];
        }
        jnForcingPass pass = {.joints = joints,
            .count = (int)count,
            .fieldCount = 2,
            .turns = m->middle,
            .frames = modes->crossJoints + first,
            .out = {slopes[0], slopes[1]}};
        FillPass(m, (const float(*)[3])weights, NULL, &pass);
        m->kernels->makeForcing(&pass);
        FillCross(m, 0.0, slopes[0], first, count);
        FillCross(m, 1.0, slopes[1], first, count);
    }
}

// Products of the cross terms, to work.
static void MultiplyCrosses(jnMorphs* const* list, int count)
{
    const float* inputs[2 * BATCH];
    float* outputs[2 * BATCH];
    const jnMorphs* m = list[0];
    for (int n = 0; n < 2 * count; ++n) {
        inputs[n] = list[n / 2]->crossInputs[n % 2];
        outputs[n] = list[n / 2]->work + n % 2 * m->lanes;
    }
    m->kernels->multiply(&(jnProductPass){.starts = m->crossStarts,
        .weights = m->modes->crosses,
        .blockCount = m->lanes / JN_LANES,
        .groupSize = 9,
        .inputs = inputs,
        .outputs = outputs,
        .count = 2 * count});
}

// Adds them to results.
static void AddCrosses(const jnMorphs* m, float* results)
{
    size_t lanes = (size_t)m->lanes;
    float h = (float)m->clock.interval.h;
    for (size_t k = 0; k < lanes; ++k) {
        results[k] += m->gain[k] * m->work[k];
        results[lanes + k] += m->gain[k] * ((m->work[lanes + k] - m->work[k]) / h);
    }
}

// Far beyond its cap a mode is taken back, position and velocity: a joint that rotates faster than the mode swings
// flings it out exponentially, and it would take long to come back to where it shows.
static void TakeBack(jnMorphs* m)
{
    for (size_t k = 0; m->capped && k < (size_t)m->modeCount; ++k) {
        float most = TAKEN_BACK * m->caps[k], size = fabsf(m->now[k]);
        if (most > 0.0f && size > most && size <= 3e38f) {
            m->now[k] *= most / size;
            m->now[(size_t)m->lanes + k] *= most / size;
        }
    }
}

// Sets dust to 0, and everything if anything is not finite, which is counted.
static void CleanState(jnMorphs* m)
{
    int bad = 0;
    TakeBack(m);
    for (int i = 0; i < 2 * m->lanes; ++i) {
        float size = fabsf(m->now[i]);
        bad += !(size <= 3e38f);
        m->now[i] = size < DUST ? 0.0f : m->now[i];
    }
    if (bad > 0) {
        jnRestModes(m);
    }
    m->resetCount += (uint64_t)bad;
}

// What a jump of the targets' velocity at the start of the interval does.
static void FeelKick(jnMorphs* m)
{
    const jnInterval* interval = &m->clock.interval;
    Fields fields = {0};
    bool kicks = false;
    for (int i = 0; i < 3; ++i) {
        fields.weights[0][i] = (float)(interval->kick[i] / interval->h);
        kicks = kicks || fields.weights[0][i] != 0.0f;
    }
    if (kicks) {
        Project(m, &fields, m->turns[m->clock.slots[interval->own]], m->results);
        for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
            m->now[(size_t)m->lanes + k] -= m->results[k];
        }
    }
}

static bool HasCrosses(const jnMorphs* m)
{
    return m->modes->crossCount > 0 && m->componentCount > 0;
}

// The interval with its forces, before the gain, in results, and those of the cross terms in work.
static void FinishInterval(jnMorphs* m, const Fields* fields, const float* pairs)
{
    const jnInterval* interval = &m->clock.interval;
    AddDrives(m, fields, m->results);
    if (HasCrosses(m)) {
        AddCrosses(m, m->results);
    }
    memcpy(m->forces, m->results, JN_MODE_FIELDS * (size_t)m->lanes * sizeof(float));
    LimitForces(m, (float)interval->h, m->forces);
    StepThrough(m, pairs, interval->h, 1.0f, m->now);
    if (m->curve == jn_curveStep) { // the target jumps at the end of the interval: the offset from it jumps back
        Fields jump = {.weights = {{1.0f, 0.0f, 0.0f}}};
        Project(m, &jump, m->turns[m->clock.slots[interval->own + 1]], m->results);
        for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
            m->now[k] -= m->results[k];
        }
    }
    CleanState(m);
}

// Everything up to the forces' products.
static void BeginInterval(jnMorphs* m, Fields* fields)
{
    FeelKick(m);
    memcpy(m->before, m->now, 2 * (size_t)m->lanes * sizeof(float));
    FindTurns(m);
    *fields = (Fields){0};
    jnInterval_Forcing(&m->clock.interval, fields->weights[0] + 1, fields->weights[1] + 1);
    jnToSpace(&m->clock, m->force, fields->force[0]);
    MakeForcing(m, fields, m->middle, NULL);
    if (HasCrosses(m)) {
        FillCrosses(m);
    }
}

// From the forces' products to the end of their intervals, PAIRS_AT_ONCE at most.
static void FinishSome(jnMorphs* const* list, const Fields* fields, int count)
{
    _Alignas(JN_ALIGNMENT) float own[PAIRS_AT_ONCE][STACK_PAIRS];
    float* pairs[PAIRS_AT_ONCE];
    for (int n = 0; n < count; ++n) {
        pairs[n] = list[n]->pairs != NULL ? list[n]->pairs : own[n];
    }
    FindPairs(list, count, pairs);
    for (int n = 0; n < count; ++n) {
        FinishInterval(list[n], &fields[n], pairs[n]);
    }
}

// At most BATCH of them: their products together.
static void AdvanceSome(jnMorphs* const* list, int count)
{
    const float* forcing[JN_MODE_FIELDS * BATCH];
    float* results[JN_MODE_FIELDS * BATCH];
    Fields fields[BATCH];
    for (int n = 0; n < count; ++n) {
        BeginInterval(list[n], &fields[n]);
        for (int f = 0; f < JN_MODE_FIELDS; ++f) {
            forcing[JN_MODE_FIELDS * n + f] = list[n]->forcing[f];
            results[JN_MODE_FIELDS * n + f] = list[n]->results + f * list[n]->lanes;
        }
    }
    jnProductPass forces = ForceProduct(list[0]);
    forces.inputs = forcing;
    forces.outputs = results;
    forces.count = JN_MODE_FIELDS * count;
    list[0]->kernels->multiply(&forces);
    if (HasCrosses(list[0])) {
        MultiplyCrosses(list, count);
    }
    for (int n = 0; n < count; n += PAIRS_AT_ONCE) {
        FinishSome(list + n, fields + n, count - n < PAIRS_AT_ONCE ? count - n : PAIRS_AT_ONCE);
    }
}

// Characters of another level of detail have products of another size.
static bool IsAlike(const jnMorphs* a, const jnMorphs* b)
{
    return a->lanes == b->lanes && (a->componentCount > 0) == (b->componentCount > 0);
}

void jnAdvanceModes(jnMorphs* const* list, int count)
{
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && end < first + BATCH && IsAlike(list[end], list[first]); ++end) {}
        AdvanceSome(list + first, end - first);
    }
}

void jnSettleModes(jnMorphs* m, double seconds)
{
    const jnSpringsClock* clock = &m->clock;
    size_t lanes = (size_t)m->lanes;
    Fields fields = {0};
    if (clock->advanced) {
        memcpy(fields.weights[0], jnInterval_Point(&clock->interval, 1.0).slope, sizeof(fields.weights[0]));
    }
    jnToSpace(clock, m->force, fields.force[1]);
    Project(m, &fields, m->turns[clock->base], m->results);
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        jnSpringResponse r =
            jnEvaluateSpring((double)m->stiffness[k], (double)m->damping[k], fmin(seconds, LONGEST_REST));
        // The target stops, the flesh does not.
        double z = (double)m->now[k], p = (double)m->now[lanes + k] + (double)m->results[k];
        double a = (double)LevelOff(m->results[lanes + k], m->limits[k]);
        m->now[k] = (float)(r.position * z + r.impulse * p - r.step * a);
        m->now[lanes + k] = (float)(-(double)m->stiffness[k] * r.impulse * z + r.velocity * p - r.impulse * a);
    }
    memcpy(m->before, m->now, 2 * lanes * sizeof(float));
    memset(m->forces, 0, 2 * lanes * sizeof(float));
    CleanState(m);
}

void jnStepModesTo(jnMorphs* m, double fraction, float* state)
{
    memcpy(state, m->before, 2 * (size_t)m->lanes * sizeof(float));
    if (fraction > 0.0) {
        float own[STACK_PAIRS], *pairs = m->pairs != NULL ? m->pairs : own;
        FindTurns(m);
        FindPairs(&m, 1, &pairs);
        StepThrough(m, pairs, fraction * m->clock.interval.h, (float)fraction, state);
    }
}

void jnFindRates(jnMorphs* m, float* state)
{
    float own[STACK_PAIRS], *values = m->pairs != NULL ? m->pairs : own;
    size_t lanes = (size_t)m->lanes;
    if (!m->clock.advanced || m->modes->pairCount == 0) {
        return;
    }
    FindTurns(m);
    FindPairs(&m, 1, &values);
    for (size_t i = 0; i < (size_t)m->modes->pairCount; ++i) {
        size_t k = m->modes->pairs[2 * i], l = m->modes->pairs[2 * i + 1];
        float rate = (float)((double)values[i] / m->clock.interval.h);
        if (k < (size_t)m->modeCount) {
            state[lanes + k] -= rate * state[l];
            state[lanes + l] += rate * state[k];
        }
    }
}
