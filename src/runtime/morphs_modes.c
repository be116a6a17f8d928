// The modes over an interval; see morphs.h for the equations.
#include "morphs.h"

#include "elementary.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

// A rotation is worked out in parts of at most this norm, and at most so many.
#define TURN_PART 0.29f
#define TURN_THREE 0.208f // below it three terms are enough
enum { MAX_TURN_PARTS = 64 };
// A rest is at most thirty years.
#define LONGEST_REST 1e9
// Seconds after which nothing is left in the forces' filter.
#define FILTER_REST 0.5
// Characters whose products are made together.
enum { BATCH = JN_LANES };
enum { STACK_LANES = 64 };

void jnRestModes(jnMorphs* m)
{
    size_t lanes = (size_t)m->lanes * sizeof(float);
    memset(m->now, 0, 4 * lanes);
    memset(m->before, 0, 4 * lanes);
    memset(m->forces, 0, 2 * lanes);
}

void jnWeighDifferences(const jnSpringsClock* clock, const float w[3], float out[3])
{
    const jnInterval* interval = &clock->interval;
    out[0] = -w[1] * interval->ratios[0];
    out[1] = ((w[1] - w[2]) + (interval->own == 1 ? w[0] : 0.0f)) * interval->ratios[1];
    out[2] = (w[2] + (interval->own == 1 ? 0.0f : w[0])) * interval->ratios[2];
}

// The rotations of the joints that drive modes over the last interval: how far, and halfway.
static void FindTurns(jnMorphs* m)
{
    const jnSpringsClock* clock = &m->clock;
    m->kernels->halveTurns(m->turns[clock->slots[clock->interval.own]], m->turns[clock->slots[clock->interval.own + 1]],
        m->driverBlocks, m->middle, m->angles);
}

static jnProductPass ForceProduct(const jnMorphs* m)
{
    return (jnProductPass){.starts = m->modes->forceStarts,
        .groups = m->modes->forceJoints,
        .weights = m->modes->forces,
        .blockCount = m->lanes / JN_LANES,
        .groupSize = 12,
        .interleaved = true};
}

// What the joints' rotation over the last interval, by the angles at hand, does to each pair of modes, for `count`
// characters, to pairs: the forcing is gone.
static void FindPairs(jnMorphs* const* list, int count)
{
    const jnMorphs* m = list[0];
    const float* angles[BATCH];
    float* pairs[BATCH];
    for (int n = 0; n < count; ++n) {
        angles[n] = list[n]->angles;
        pairs[n] = list[n]->pairs;
    }
    m->kernels->multiply(&(jnProductPass){.starts = m->modes->spinStarts,
        .groups = m->modes->spinJoints,
        .weights = m->modes->spins,
        .blockCount = jnBlockCount(m->pairCount),
        .groupSize = 3,
        .interleaved = true,
        .inputs = angles,
        .outputs = pairs,
        .count = count});
}

// How a rotation is worked out: exp(-S) by a polynomial in S. S is antisymmetric, so what a polynomial p leaves out is
// at most |p(ix) - exp(ix)| for x up to the norm r. With p(0) = 1, so that what does not rotate stays as it is, two
// terms leave out r^3 / 24 if the first is 1 - r^2 / 8 of that of the power series, three r^4 / 96 if the second is 1 -
// r^2 / 12 of its, and four of the series itself r^5 / 120. All stay below 2e-5 of what they rotate, a tenth of what
// splitting an interval into rotation and swing leaves out.
jnTurnPlan jnPlanTurn(float norm)
{
    jnTurnPlan plan = {0};
    if (!(norm > 0.0f && norm < TURN_PART * (float)(1 << 20))) {
        return plan;
    }
    float parts = ceilf(norm / TURN_PART);
    parts = parts < (float)MAX_TURN_PARTS ? parts : (float)MAX_TURN_PARTS;
    float part = norm / parts, square = part * part;
    plan.parts = (int)parts;
    plan.terms = part < JN_TURN_TWO ? 2 : part < TURN_THREE ? 3 : 4;
    for (int n = 0; n < plan.terms; ++n) {
        plan.scales[n] = -1.0f / ((float)(n + 1) * parts);
    }
    if (plan.terms == 2) {
        plan.scales[0] *= 1.0f - square * (1.0f / 8.0f);
    } else if (plan.terms == 3) {
        plan.scales[1] *= 1.0f - square * (1.0f / 12.0f);
    }
    return plan;
}

// Puts numbers of pairs and their opposites where the pairs say, in columns of `lanes`.
static inline void Scatter(const jnMorphs* m, float share, size_t lanes, float* restrict columns)
{
    const uint16_t* restrict pairs = m->modes->pairs;
    const float* restrict values = m->pairs;
    size_t count = (size_t)m->pairCount, modes = (size_t)m->modeCount;
    for (size_t i = 0; i < count; ++i) {
        size_t k = pairs[2 * i], l = pairs[2 * i + 1];
        if (k < modes) { // the larger of the two
            float value = share * values[i];
            columns[l * lanes + k] = value;
            columns[k * lanes + l] = -value;
        }
    }
}

// The matrix of a share of the interval's rotation.
static void MakeColumns(const jnMorphs* m, float share, float* columns)
{
    memset(columns, 0, (size_t)m->modeCount * (size_t)m->lanes * sizeof(float));
    if (m->lanes == STACK_LANES) { // a constant, as most have: shifts instead of products
        Scatter(m, share, STACK_LANES, columns);
    } else {
        Scatter(m, share, (size_t)m->lanes, columns);
    }
}

// What a piece of the filter makes of its offset and rate.
static void FindDecay(jnMorphs* m, double piece)
{
    jnSpringResponse r = jnEvaluateSpring(JN_FILTER_STIFFNESS, JN_FILTER_DAMPING, piece);
    m->decay[0] = (float)r.position;
    m->decay[1] = (float)r.impulse;
    m->decay[2] = (float)(-JN_FILTER_STIFFNESS * r.impulse);
    m->decay[3] = (float)r.velocity;
    m->decayTime = piece;
}

void jnSwing(jnMorphs* m, double h, const float* drag, float* state)
{
    size_t lanes = (size_t)m->lanes;
    jnFilterParts parts = m->limited ? jnDivideInterval(h) : (jnFilterParts){1, 1};
    double length = h / parts.swings, piece = length / parts.pieces;
    if (m->coefficientTime != length) {
        m->springKernels->makeCoefficients(m->stiffness, m->damping, length, m->coefficients, 0, m->lanes / JN_LANES);
        m->coefficientTime = length;
    }
    if (m->limited && m->decayTime != piece) {
        FindDecay(m, piece);
    }
    jnSwingPass pass = {.lanes = m->lanes,
        .coefficients = m->coefficients,
        .forces = {m->forces, m->forces + lanes},
        .drag = drag,
        .damping = m->damping,
        .rate = (float)(2.0 / h),
        .z = state,
        .p = state + lanes,
        .inverses = m->limited ? m->inverses : NULL,
        .u = state + 2 * lanes,
        .v = state + 3 * lanes,
        .swings = parts.swings,
        .pieces = parts.pieces,
        .length = (float)length,
        .pieceLength = (float)piece,
        .stiffness = (float)JN_FILTER_STIFFNESS,
        .delay = (float)JN_FILTER_DELAY,
        .slopes = length >= JN_SHORTEST_SWING};
    memcpy(pass.decay, m->decay, sizeof(pass.decay));
    m->kernels->swing(&pass);
}

// A stretch of `h` seconds, `share` of the last interval, with the rotation of pairs at hand: rotate, step, rotate.
static void StepThrough(jnMorphs* m, double h, float share, float* state)
{
    _Alignas(JN_ALIGNMENT) float own[STACK_LANES * STACK_LANES];
    float* columns = m->columns != NULL ? m->columns : own;
    float* drag = m->work + 4 * (size_t)m->lanes;
    // The norm of an antisymmetric matrix is at most the root of the sum of squares of one of its halves: its
    // eigenvalues come in pairs. What fills up the last block of them is 0.
    float norm = 0.5f * share * sqrtf(m->kernels->sumSquares(m->pairs, jnBlockCount(m->pairCount) * JN_LANES));
    if (norm > 0.0f) {
        MakeColumns(m, 0.5f * share, columns);
        float rows = norm > JN_TURN_TWO ? m->kernels->bound(columns, m->modeCount, m->lanes) : norm;
        norm = rows < norm ? rows : norm;
    }
    jnTurnPlan turn = jnPlanTurn(norm);
    if (turn.parts > 0) {
        m->kernels->turn(columns, m->modeCount, m->lanes, &turn, state, m->work);
        m->kernels->apply(columns, m->modeCount, m->lanes, state, drag);
    }
    jnSwing(m, h, turn.parts > 0 ? drag : NULL, state);
    if (turn.parts > 0) {
        m->kernels->turn(columns, m->modeCount, m->lanes, &turn, state, m->work);
    }
}

// What is projected on the modes: fields of weights . (line, e0, e1) of the targets, minus a force.
typedef struct Fields {
    float weights[JN_MODE_FIELDS][3];
    float force[JN_MODE_FIELDS][3];
} Fields;

// The samples of an interval, and what their origins do to the fields, minus forces.
static void FillPass(const jnMorphs* m, const Fields* fields, jnForcingPass* pass)
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
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        const float* w = fields->weights[f];
        jnWeighDifferences(clock, w, pass->weights[f]);
        for (int k = 0; k < 3; ++k) {
            double line = ways[clock->interval.own == 1 ? 1 : 2][k];
            double sum = (double)w[0] * line + (double)w[1] * (ways[1][k] - ways[0][k]) +
                         (double)w[2] * (ways[2][k] - ways[1][k]);
            pass->common[f][k] = (float)(sum - (double)fields->force[f][k]);
        }
    }
}

// The matrices' part of it, in the joints' frames, to forcing.
static void MakeForcing(jnMorphs* m, const Fields* fields, const float* turns)
{
    jnForcingPass pass = {.blockCount = m->driverBlocks, .turns = turns, .out = {m->forcing[0], m->forcing[1]}};
    FillPass(m, fields, &pass);
    m->kernels->makeForcing(&pass);
}

static bool HasCrosses(const jnMorphs* m)
{
    return m->modes->crossCount > 0 && m->componentCount > 0;
}

// What the products and the components come to, times the gains, with cross terms or without, to out:
// [JN_MODE_FIELDS][lanes], which may be the products.
static void MakeForces(jnMorphs* m, const Fields* fields, bool whole, const float* products, float* out)
{
    const jnSpringsClock* clock = &m->clock;
    jnForcesPass pass = {.lanes = m->lanes,
        .h = (float)clock->interval.h,
        .products = {products, products + m->lanes},
        .gain = m->gain,
        .out = {out, out + m->lanes}};
    if (whole && HasCrosses(m)) {
        pass.crosses[0] = m->work;
        pass.crosses[1] = m->work + m->lanes;
    }
    for (int i = 0; i < JN_HISTORY; ++i) {
        pass.drives[i] = m->drives[clock->advanced ? clock->slots[i] : clock->base];
    }
    for (int f = 0; f < JN_MODE_FIELDS; ++f) {
        jnWeighDifferences(clock, fields->weights[f], pass.weights[f]);
    }
    m->kernels->makeForces(&pass);
}

// Runs a projection for one character. results: [JN_MODE_FIELDS][lanes], times the gain.
static void Project(jnMorphs* m, const Fields* fields, const float* turns, float* results)
{
    jnProductPass pass = ForceProduct(m);
    const float* inputs[JN_MODE_FIELDS] = {m->forcing[0], m->forcing[1]};
    float* outputs[JN_MODE_FIELDS] = {results, results + m->lanes};
    MakeForcing(m, fields, turns);
    pass.inputs = inputs;
    pass.outputs = outputs;
    pass.count = JN_MODE_FIELDS;
    m->kernels->multiply(&pass);
    MakeForces(m, fields, false, results, results);
}

// Components and how fast they change at both ends of an interval, as weights of differences of samples.
typedef struct Ends {
    float place[3], slopes[2][3], h;
} Ends;

// c Q^T A'' + 2 c' Q^T A' of the components and joints of one block that have a cross term, [crosses][9], at both ends
// of the interval. slopes: Q^T A' there, [2][JN_ROWS_SIZE]. The forcing of the interval is at hand.
static void FillCross(const jnMorphs* m, const Ends* ends, size_t block, const float* slopes)
{
    const jnAssetModes* modes = m->modes;
    const float *samples[JN_HISTORY], *base = m->components[m->clock.slots[m->clock.interval.own]];
    for (int i = 0; i < JN_HISTORY; ++i) {
        samples[i] = m->components[m->clock.slots[i]];
    }
    for (size_t e = 0; e < (size_t)modes->crossCount; ++e) {
        size_t lane = modes->crossJoints[e] % JN_LANES, c = modes->crossComponents[e];
        if (modes->crossJoints[e] / JN_LANES != block) {
            continue;
        }
        float from = base[c], to = from, rates[2] = {0};
        for (int i = 0; i < 3; ++i) {
            float d = samples[i + 1][c] - samples[i][c];
            to += ends->place[i] * d;
            rates[0] += 2.0f * ends->slopes[0][i] * d;
            rates[1] += 2.0f * ends->slopes[1][i] * d;
        }
        const float* start = m->forcing[0] + block * JN_ROWS_SIZE + lane;
        const float *growth = m->forcing[1] + block * JN_ROWS_SIZE + lane, *slope = slopes + lane;
        float *first = m->crossInputs[0] + 9 * e, *last = m->crossInputs[1] + 9 * e;
        for (size_t i = 0; i < 9; ++i) {
            size_t at = (4 * (i / 3) + i % 3) * JN_LANES;
            first[i] = from * start[at] + rates[0] * slope[at];
            last[i] = to * (start[at] + ends->h * growth[at]) + rates[1] * slope[JN_ROWS_SIZE + at];
        }
    }
}

// What the motion of their joints' frames does to the larger components, at both ends of the interval, to crossInputs.
static void FillCrosses(jnMorphs* m)
{
    const jnInterval* interval = &m->clock.interval;
    jnCurvePoint from = jnInterval_Point(interval, 0.0), to = jnInterval_Point(interval, 1.0);
    float slopes[2 * JN_ROWS_SIZE];
    Fields fields = {0};
    Ends ends = {.h = (float)interval->h};
    jnForcingPass pass = {.blockCount = 1, .turns = m->middle, .out = {slopes, slopes + JN_ROWS_SIZE}};
    memcpy(fields.weights[0], from.slope, sizeof(from.slope));
    memcpy(fields.weights[1], to.slope, sizeof(to.slope));
    FillPass(m, &fields, &pass);
    jnWeighDifferences(&m->clock, to.place, ends.place);
    memcpy(ends.slopes, pass.weights, sizeof(ends.slopes));
    for (size_t block = 0; block < (size_t)m->driverBlocks; ++block) {
        m->kernels->makeForcing(&pass);
        FillCross(m, &ends, block, slopes);
        pass.turns += JN_TURNS_SIZE;
        for (int i = 0; i < JN_HISTORY; ++i) {
            pass.rows[i] += JN_ROWS_SIZE;
        }
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

// Far beyond its cap a mode is taken back, position and velocity: a joint that rotates faster than the mode swings
// flings it out exponentially, and it would take long to come back to where it shows. Dust becomes 0, and everything if
// anything is not finite, which is counted.
static void CleanState(jnMorphs* m)
{
    int bad = m->kernels->clean(&(jnCleanPass){.lanes = m->lanes,
        .caps = m->capped ? m->caps : NULL,
        .z = m->now,
        .p = m->now + m->lanes,
        .u = m->limited ? m->now + 2 * m->lanes : NULL,
        .v = m->now + 3 * m->lanes});
    if (bad > 0) {
        jnRestModes(m);
    }
    m->resetCount += bad > 0 ? (uint64_t)m->modeCount : 0;
}

// A jump of a mode's force, integrated: of its velocity, as far as its force is not held back.
static void TakeKick(jnMorphs* m, size_t k, float kick)
{
    size_t lanes = (size_t)m->lanes;
    float x = fminf(fabsf(m->now[2 * lanes + k]) * m->inverses[k], 1e9f), square = 1.0f + x * x;
    m->now[lanes + k] -= m->limited ? kick / (square * sqrtf(square)) : kick;
    m->now[3 * lanes + k] += m->limited ? (float)JN_FILTER_STIFFNESS * kick : 0.0f;
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
            TakeKick(m, k, m->results[k]);
        }
    }
}

// What comes after the step through an interval.
static void FinishInterval(jnMorphs* m)
{
    const jnInterval* interval = &m->clock.interval;
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
    memcpy(m->before, m->now, (m->limited ? 4 : 2) * (size_t)m->lanes * sizeof(float));
    FindTurns(m);
    *fields = (Fields){0};
    jnInterval_Forcing(&m->clock.interval, fields->weights[0] + 1, fields->weights[1] + 1);
    jnToSpace(&m->clock, m->force, fields->force[0]);
    MakeForcing(m, fields, m->middle);
    if (HasCrosses(m)) {
        FillCrosses(m);
    }
}

// At most BATCH of them: their products together. The order of pairs is NULL where they do not rotate together.
static void AdvanceSome(jnMorphs* const* list, int count, const jnPairOrder* order)
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
    // The forces, before the gain, are in results, and those of the cross terms in work.
    for (int n = 0; n < count; ++n) {
        MakeForces(list[n], &fields[n], true, list[n]->results, list[n]->forces);
    }
    if (order != NULL) {
        jnStepAcross(list, order);
    } else {
        FindPairs(list, count);
        for (int n = 0; n < count; ++n) {
            StepThrough(list[n], list[n]->clock.interval.h, 1.0f, list[n]->now);
        }
    }
    for (int n = 0; n < count; ++n) {
        FinishInterval(list[n]);
    }
}

// Characters of another level of detail have products of another size.
static bool IsAlike(const jnMorphs* a, const jnMorphs* b)
{
    return a->lanes == b->lanes && a->pairCount == b->pairCount && (a->componentCount > 0) == (b->componentCount > 0);
}

void jnAdvanceModes(jnMorphs* const* list, int count)
{
    jnPairOrder order = {.modeCount = 0};
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && end < first + BATCH && IsAlike(list[end], list[first]); ++end) {}
        bool across = end - first == BATCH && jnOrderPairs(list + first, &order);
        AdvanceSome(list + first, end - first, across ? &order : NULL);
    }
}

void jnSettleModes(jnMorphs* m, double seconds)
{
    const jnSpringsClock* clock = &m->clock;
    size_t lanes = (size_t)m->lanes;
    double rest = fmin(seconds, LONGEST_REST), held = m->limited ? fmin(rest, FILTER_REST) : 0.0;
    Fields fields = {0};
    if (clock->advanced) {
        memcpy(fields.weights[0], jnInterval_Point(&clock->interval, 1.0).slope, sizeof(fields.weights[0]));
    }
    jnToSpace(clock, m->force, fields.force[1]);
    Project(m, &fields, m->turns[clock->base], m->results);
    memset(m->forces, 0, 2 * lanes * sizeof(float));
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        TakeKick(m, k, -m->results[k]); // the target stops, the flesh does not
        m->forces[k] = m->results[lanes + k];
    }
    if (held > 0.0) { // until the filter has come to rest
        jnSwing(m, held, NULL, m->now);
    }
    for (size_t k = 0; k < (size_t)m->modeCount && rest > held; ++k) {
        jnSpringResponse r = jnEvaluateSpring((double)m->stiffness[k], (double)m->damping[k], rest - held);
        double z = (double)m->now[k], p = (double)m->now[lanes + k], force = (double)m->forces[k];
        double share = m->limited ? force * (double)m->inverses[k] : 0.0, a = force / sqrt(1.0 + share * share);
        m->now[k] = (float)(r.position * z + r.impulse * p - r.step * a);
        m->now[lanes + k] = (float)(-(double)m->stiffness[k] * r.impulse * z + r.velocity * p - r.impulse * a);
    }
    memcpy(m->before, m->now, 4 * lanes * sizeof(float));
    memset(m->forces, 0, 2 * lanes * sizeof(float));
    CleanState(m);
}

void jnStepModesTo(jnMorphs* m, double fraction, float* state)
{
    memcpy(state, m->before, 4 * (size_t)m->lanes * sizeof(float));
    if (fraction > 0.0) {
        FindTurns(m);
        FindPairs(&m, 1);
        StepThrough(m, fraction * m->clock.interval.h, (float)fraction, state);
    }
}

void jnFindRates(jnMorphs* m, float* state)
{
    size_t lanes = (size_t)m->lanes;
    if (!m->clock.advanced || m->pairCount == 0) {
        return;
    }
    FindTurns(m);
    FindPairs(&m, 1);
    for (size_t i = 0; i < (size_t)m->pairCount; ++i) {
        size_t k = m->modes->pairs[2 * i], l = m->modes->pairs[2 * i + 1];
        float rate = (float)((double)m->pairs[i] / m->clock.interval.h);
        if (k < (size_t)m->modeCount) {
            state[lanes + k] -= rate * state[l];
            state[lanes + l] += rate * state[k];
        }
    }
}
