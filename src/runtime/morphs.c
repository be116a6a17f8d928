// Life of a character as morph weights, its settings, and what is shown of its state.
#include "morphs.h"

#include "rig.h"

#include <math.h>
#include <string.h>

// Up to this share of its cap an amplitude is shown as it is.
#define KNEE 0.7f
// Seconds over which the rate of a bounded amplitude is a difference.
#define RATE_STEP 1e-3f
enum { STACK_LANES = 64 };

const jnMorphKernels* jnFindMorphKernels(jnKernel kernel)
{
#ifdef JN_HAVE_AVX512_KERNELS
    if (kernel == jn_kernelAvx512) {
        return &jnMorphKernelsAvx512;
    }
#endif
#ifdef JN_HAVE_X86_KERNELS
    if (kernel >= jn_kernelAvx2) {
        return &jnMorphKernelsAvx2;
    }
#endif
    (void)kernel;
    return &jnMorphKernelsBaseline;
}

static int ModesOf(const jnMorphsDef* def)
{
    int all = def->asset->modeCount;
    return def->modes > 0 && def->modes < all ? def->modes : all;
}

static int ComponentsOf(const jnMorphsDef* def)
{
    int all = def->asset->componentCount;
    return def->components > 0 && def->components < all ? def->components : all;
}

// Takes the next array; with base NULL only counts.
static void* Take(char* base, size_t* at, size_t size)
{
    void* here = base != NULL ? base + *at : NULL;
    *at += jnAlignUp(size);
    return here;
}

// Lays out what is only used within a call. Returns its bytes.
static size_t LayOutScratch(jnMorphs* m, const jnMorphsDef* def, char* base)
{
    const jnAssetModes* modes = def->asset->modes;
    size_t at = 0, f = sizeof(float), count = (size_t)ModesOf(def), lanes = (size_t)jnBlockCount((int)count) * JN_LANES;
    size_t drivers = modes != NULL ? (size_t)modes->driverCount : 0;
    size_t crosses = modes != NULL ? (size_t)modes->crossCount : 0;
    size_t pairs = modes != NULL ? (size_t)jnBlockCount(modes->pairCount) * JN_LANES : 0;
    size_t blocks = (size_t)jnBlockCount((int)drivers);
    // Pairs take the place of what their products do not need any more.
    size_t forcing = jnAlignUp(2 * blocks * JN_ROWS_SIZE * f), inputs = jnAlignUp(2 * crosses * 9 * f);
    m->forcing[0] = Take(base, &at, forcing + inputs > pairs * f ? forcing + inputs : pairs * f);
    m->pairs = m->forcing[0];
    m->forcing[1] = base != NULL ? m->forcing[0] + blocks * JN_ROWS_SIZE : NULL;
    m->crossInputs[0] = base != NULL ? m->forcing[0] + forcing / f : NULL;
    m->crossInputs[1] = base != NULL ? m->crossInputs[0] + crosses * 9 : NULL;
    m->angles = Take(base, &at, blocks * 3 * JN_LANES * f);
    m->middle = Take(base, &at, blocks * JN_TURNS_SIZE * f);
    m->columns = lanes > STACK_LANES ? Take(base, &at, count * lanes * f) : NULL;
    m->work = Take(base, &at, 8 * lanes * f);
    m->results = Take(base, &at, JN_MODE_FIELDS * lanes * f);
    return at;
}

// Puts a joint behind those that are there already.
static int AddJoint(uint8_t* known, int joint, uint16_t* joints, int count)
{
    if (known[joint] == 0) {
        known[joint] = 1;
        if (joints != NULL) {
            joints[count] = (uint16_t)joint;
        }
        return count + 1;
    }
    return count;
}

// The joints that drive modes, those that the network looks at with their parents, and all others, [jointCount] unless
// NULL. Returns how many are of the first two kinds.
static int OrderJoints(const jnMorphsDef* def, uint16_t* joints)
{
    uint8_t known[JN_MAX_ASSET_JOINTS] = {0};
    const jnAsset* asset = def->asset;
    int count = 0;
    for (int i = 0; asset->modes != NULL && i < asset->modes->driverCount; ++i) {
        count = AddJoint(known, asset->modes->drivers[i], joints, count);
    }
    for (int i = 0; def->network->head != NULL && i < def->network->head->inputCount; ++i) {
        int joint = def->network->inputs[i] / 6;
        count = AddJoint(known, joint, joints, count);
        count = AddJoint(known, asset->joints[joint].parent, joints, count);
    }
    int turned = count;
    for (int j = 0; joints != NULL && j < asset->jointCount; ++j) {
        count = AddJoint(known, j, joints, count);
    }
    return turned;
}

// Lays the arrays out behind the struct; with `there` false only counts. Returns the bytes in all.
static size_t LayOut(jnMorphs* m, const jnMorphsDef* def, bool there)
{
    size_t at = jnAlignUp(sizeof(*m)), f = sizeof(float), joints = (size_t)def->asset->jointCount;
    size_t lanes = (size_t)jnBlockCount(ModesOf(def)) * JN_LANES, blocks = (size_t)jnBlockCount((int)joints);
    size_t turnBlocks = (size_t)jnBlockCount(OrderJoints(def, NULL));
    char* base = there ? (char*)m : NULL;
    float** settings[] = {&m->stiffness, &m->damping, &m->gain, &m->inverses, &m->caps, &m->strengths};
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); ++i) {
        *settings[i] = Take(base, &at, lanes * f);
    }
    size_t bounds = (size_t)((const jnAssetBlock*)(const void*)def->asset)->bound.blockCount;
    m->boundScales = Take(base, &at, bounds * JN_LANES * f);
    m->boundTightness = Take(base, &at, bounds * f);
    m->coefficients = Take(base, &at, lanes * JN_COEFFICIENT_ROWS * f);
    m->joints = Take(base, &at, joints * sizeof(uint16_t));
    m->places = Take(base, &at, joints * sizeof(uint16_t));
    m->scratch = Take(base, &at, 0);
    m->scratchSize = LayOutScratch(m, def, m->scratch);
    at += m->scratchSize;
    m->moving = Take(base, &at, 0);
    size_t start = at;
    m->origins = Take(base, &at, JN_HISTORY * 3 * sizeof(double));
    for (int i = 0; i < JN_HISTORY; ++i) {
        m->rows[i] = Take(base, &at, blocks * JN_ROWS_SIZE * f);
        m->turns[i] = Take(base, &at, turnBlocks * JN_TURNS_SIZE * f);
        m->components[i] = Take(base, &at, (size_t)def->asset->componentCount * f);
        m->targets[i] = Take(base, &at, (size_t)def->asset->targetCount * f);
        m->drives[i] = Take(base, &at, lanes * f);
    }
    m->now = Take(base, &at, 4 * lanes * f);
    m->before = Take(base, &at, 4 * lanes * f);
    m->forces = Take(base, &at, 2 * lanes * f);
    m->level = Take(base, &at, sizeof(jnMorphLevel));
    for (int i = 0; i < 2; ++i) {
        m->fades[i] = Take(base, &at, (lanes + (size_t)ComponentsOf(def)) * f);
    }
    m->movingSize = at - start;
    return at;
}

size_t jnMorphs_ScratchSize(const jnMorphsDef* def)
{
    jnMorphs none;
    return LayOutScratch(&none, def, NULL);
}

size_t jnMorphs_ByteCount(const jnMorphsDef* def)
{
    jnMorphs none;
    return LayOut(&none, def, false);
}

void jnMakeMorphs(jnMorphs* m, const jnMorphsDef* def)
{
    const jnAsset* asset = def->asset;
    LayOut(m, def, true);
    m->asset = asset;
    m->modes = asset->modes;
    m->kernels = jnFindMorphKernels(def->kernel);
    m->springKernels = jnFindSpringKernels(def->kernel);
    m->curve = def->curve;
    m->timing = def->timing;
    m->start = def->start;
    m->componentCapacity = ComponentsOf(def);
    m->modeCapacity = ModesOf(def);
    m->lanes = jnBlockCount(m->modeCapacity) * JN_LANES;
    m->inertia[0] = m->inertia[1] = 1.0f;
    m->clock.space.newest.from = m->clock.space.newest.to = jnIdentityPlacement();
    m->clock.space.base = m->clock.space.newest;
    for (int b = 0; b <= m->lanes / JN_LANES; ++b) {
        m->driveStarts[b] = (uint32_t)b;
        m->crossStarts[b] = m->modes != NULL ? (uint32_t)(b * m->modes->crossCount) : 0;
    }
    m->turnedCount = OrderJoints(def, m->joints);
    for (int i = 0; i < asset->jointCount; ++i) {
        m->places[m->joints[i]] = (uint16_t)i;
    }
    m->driverBlocks = m->modes != NULL ? jnBlockCount(m->modes->driverCount) : 0;
    *m->level = (jnMorphLevel){m->modeCapacity, m->componentCapacity, m->modeCapacity, m->componentCapacity, 0.0f, 0};
    for (size_t i = 0; i < (size_t)(m->lanes + m->componentCapacity); ++i) {
        m->fades[0][i] = m->fades[1][i] = 1.0f;
    }
    jnMorphs_FollowLevel(m);
    jnMorphs_Tune(m, -1, 1.0f, 1.0f, 1.0f);
    jnMorphs_SetCaps(m, 1.0f, 0.0f);
    jnMorphs_SetStrength(m, -1, 1.0f);
}

// One mode, over what the asset says.
static void TuneOne(jnMorphs* m, int k, const float scales[3])
{
    const jnAssetMode* mode = &m->modes->modes[k];
    m->stiffness[k] = fminf(mode->stiffness * scales[0] * scales[0], 1e30f);
    m->damping[k] = fminf(mode->damping * scales[0] * scales[1], 1e30f);
    m->gain[k] = mode->gain * scales[2];
    float limit = fabsf(m->gain[k]) * mode->limit;
    m->inverses[k] = limit > 0.0f ? fminf(1.0f / limit, 1e30f) : 0.0f;
}

// What follows from the tuning of all modes.
static void FollowTuning(jnMorphs* m)
{
    m->coefficientTime = 0.0;
    m->limited = false;
    for (int k = 0; k < m->modeCapacity; ++k) {
        m->limited = m->limited || m->inverses[k] > 0.0f;
    }
}

int jnMorphs_Tune(jnMorphs* m, int joint, float hertzScale, float ratioScale, float gainScale)
{
    const float scales[3] = {hertzScale, ratioScale, gainScale};
    int count = 0;
    for (int k = 0; k < m->modeCapacity; ++k) {
        if (joint < 0 || m->modes->modes[k].joint == joint) {
            TuneOne(m, k, scales);
            count++;
        }
    }
    FollowTuning(m);
    return count;
}

int jnMorphs_TuneMode(jnMorphs* m, int mode, float hertzScale, float ratioScale, float gainScale)
{
    const float scales[3] = {hertzScale, ratioScale, gainScale};
    if (mode < 0 || mode >= m->modeCapacity) {
        return 0;
    }
    TuneOne(m, mode, scales);
    FollowTuning(m);
    return 1;
}

void jnMorphs_SetCaps(jnMorphs* m, float scale, float distance)
{
    m->capScale = scale;
    m->capDistance = distance;
    m->capped = false;
    for (int k = 0; k < m->modeCapacity; ++k) {
        const jnAssetMode* mode = &m->modes->modes[k];
        float own = fminf(mode->cap * scale, 1e30f);
        float given = distance > 0.0f && mode->largest > 0.0f ? fminf(distance / mode->largest, 1e30f) : 0.0f;
        m->caps[k] = own > 0.0f && given > 0.0f ? fminf(own, given) : own + given;
        m->capped = m->capped || m->caps[k] > 0.0f;
    }
    jnMorphs_SetBound(m, scale, distance);
}

void jnMorphs_SetStrength(jnMorphs* m, int joint, float strength)
{
    for (int k = 0; k < m->modeCapacity; ++k) {
        if (joint < 0 || m->modes->modes[k].joint == joint) {
            m->strengths[k] = strength;
        }
    }
}

// What is shown of an amplitude and how fast it changes: up to KNEE of its cap it is untouched, then it bends smoothly
// (C1) and never reaches the cap. The motion underneath stays linear.
static void Limit(float cap, float* z, float* rate)
{
    float knee = KNEE * cap, rest = cap - knee, over = fabsf(*z) - knee;
    if (cap > 0.0f && over > 0.0f) { // knee + rest over / (rest + over), of slope 1 at the knee
        float share = rest / (rest + over);
        *z = copysignf(cap - rest * share, *z);
        *rate *= share * share;
    }
}

// Amplitudes of the modes `seconds` later at their present rates, as far as the bound lets them show.
static void ShowLater(const jnMorphs* m, const float* state, const float* strengths, float seconds, float* shown)
{
    memset(shown, 0, JN_MAX_ASSET_MODES * sizeof(float));
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        shown[k] = strengths[k] * (state[k] + seconds * state[(size_t)m->lanes + k]);
    }
    jnBoundAmplitudes(m, shown);
}

// The same as below where the whole surface has a bound.
static void ShowBounded(const jnMorphs* m, const float* state, const float* strengths, float* weights, float* rates)
{
    float shown[JN_MAX_ASSET_MODES], later[JN_MAX_ASSET_MODES];
    ShowLater(m, state, strengths, 0.0f, shown);
    if (rates != NULL) { // of the bend, too
        ShowLater(m, state, strengths, RATE_STEP, later);
    }
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        weights[k] = shown[k] / m->modes->modes[k].unit;
        if (rates != NULL) {
            rates[k] = (later[k] - shown[k]) / (RATE_STEP * m->modes->modes[k].unit);
        }
    }
}

static void ShowModes(jnMorphs* m, double fraction, float* weights, float* rates)
{
    size_t lanes = (size_t)m->lanes;
    float* state = m->work + 6 * lanes; // and the results behind
    if (!m->clock.advanced || fraction >= 1.0) {
        memcpy(state, m->now, 2 * lanes * sizeof(float));
    } else {
        jnStepModesTo(m, fraction, state);
    }
    if (rates != NULL) {
        jnFindRates(m, state);
    }
    float faded[JN_MAX_ASSET_MODES];
    const float* strengths = m->strengths;
    for (int k = 0; m->level->fading != 0 && k < m->modeCount; ++k) {
        faded[k] = m->strengths[k] * jnMorphs_ModeFade(m, k, fraction);
        strengths = faded;
    }
    if (m->bounded) {
        ShowBounded(m, state, strengths, weights, rates);
        return;
    }
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        float z = state[k], rate = state[lanes + k];
        Limit(m->caps[k], &z, &rate);
        weights[k] = strengths[k] * z / m->modes->modes[k].unit;
        if (rates != NULL) {
            rates[k] = strengths[k] * rate / m->modes->modes[k].unit;
        }
    }
}

// Shown smaller than this fraction of how it moves, a mode is at a limit.
#define UNLIMITED 0.999f
// Joules below which no mode is said to move most.
#define LEAST_ENERGY 1e-12

void jnMorphs_Describe(const jnMorphs* m, jnCharacterReport* report, jnModeReport* modes)
{
    float shown[JN_MAX_ASSET_MODES] = {0};
    size_t lanes = (size_t)m->lanes;
    double most = LEAST_ENERGY;
    for (int k = 0; k < m->modeCount; ++k) {
        float rate = 0.0f;
        shown[k] = m->now[k];
        Limit(m->bounded ? 0.0f : m->caps[k], &shown[k], &rate);
    }
    if (m->bounded) {
        jnBoundAmplitudes(m, shown);
    }
    report->steps = m->clock.steps;
    report->components = m->componentCount;
    report->modes = m->modeCount;
    for (int k = 0; k < m->modeCount; ++k) { // of unit modal mass
        const jnAssetMode* mode = &m->modes->modes[k];
        double z = (double)m->now[k], p = (double)m->now[lanes + (size_t)k];
        double kinetic = 0.5 * p * p, elastic = 0.5 * (double)m->stiffness[k] * z * z;
        float force = fabsf(m->now[2 * lanes + (size_t)k]) * m->inverses[k];
        report->kinetic += kinetic;
        report->elastic += elastic;
        report->limited += fabsf(shown[k]) < UNLIMITED * fabsf(m->now[k]);
        report->held += force > 1.0f;
        if (kinetic + elastic > most) {
            most = kinetic + elastic;
            report->joint = mode->joint;
        }
        if (modes != NULL) {
            modes[k] = (jnModeReport){
                (float)kinetic, (float)elastic, m->now[k] / mode->unit, shown[k] / mode->unit, force};
        }
    }
}

// Numbers of the samples at a fraction of the last interval and how fast they change. slots: [JN_HISTORY][..]; count:
// how many of each.
static void ShowNumbers(
    const jnMorphs* m, float* const slots[JN_HISTORY], int count, double fraction, float* weights, float* rates)
{
    const jnSpringsClock* clock = &m->clock;
    float place[3] = {0}, slope[3] = {0};
    const float* from = slots[clock->base];
    if (clock->advanced) {
        jnCurvePoint point = jnInterval_Point(&clock->interval, fraction);
        jnWeighDifferences(clock, point.place, place);
        jnWeighDifferences(clock, point.slope, slope);
        from = slots[fraction < 1.0 ? clock->slots[clock->interval.own] : clock->base];
    }
    bool still = rates == NULL && (fraction >= 1.0 || !clock->advanced);
    if (still && count > 0) {
        memcpy(weights, from, (size_t)count * sizeof(float));
    }
    for (int i = 0; !still && i < count; ++i) {
        float moved = 0.0f, rate = 0.0f;
        for (int d = 0; clock->advanced && d < 3; ++d) {
            float difference = slots[clock->slots[d + 1]][i] - slots[clock->slots[d]][i];
            moved += place[d] * difference;
            rate += slope[d] * difference;
        }
        weights[i] = fraction < 1.0 ? from[i] + moved : from[i];
        if (rates != NULL) {
            rates[i] = rate;
        }
    }
}

// What the level of detail leaves of components, and nothing of the weights that are not in use.
static void FadeWeights(const jnMorphs* m, double fraction, int first, float* weights)
{
    for (int c = 0; m->level->fading != 0 && c < m->componentCount; ++c) {
        weights[c] *= jnMorphs_ComponentFade(m, c, fraction);
    }
    for (int c = m->componentCount; c < m->componentCapacity; ++c) {
        weights[c] = 0.0f;
    }
    for (int k = m->modeCount; k < m->modeCapacity; ++k) {
        weights[first + k] = 0.0f;
    }
}

void jnMorphs_Weights(jnMorphs* m, double fraction, float* weights, float* rates)
{
    int first = m->asset->morphs != NULL ? m->asset->morphs->firstMode : 0;
    ShowNumbers(m, m->components, m->componentCount, fraction, weights, rates);
    if (m->modeCount > 0) {
        ShowModes(m, fraction, weights + first, rates != NULL ? rates + first : NULL);
    }
    FadeWeights(m, fraction, first, weights);
    if (rates != NULL) {
        FadeWeights(m, fraction, first, rates);
    }
}

void jnMorphs_Targets(const jnMorphs* m, double fraction, float* weights, float* rates)
{
    ShowNumbers(m, m->targets, m->asset->targetCount, fraction, weights, rates);
}

// The simulation's space in the world and how it moves.
typedef struct Shown {
    bool moved;
    double rotation[9], position[3], spin[3], pivot[3], drift[3];
} Shown;

static Shown FindShown(const jnMorphs* m, const jnSpaceMotion* motion, double fraction)
{
    const jnSpringsClock* clock = &m->clock;
    Shown s = {.moved = clock->space.moved != 0};
    jnPlacement at = jnFollowSpace(motion, clock->advanced ? fraction : 1.0);
    double x = at.rotation[0], y = at.rotation[1], z = at.rotation[2], w = at.rotation[3];
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), //
        2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),                  //
        2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)};
    memcpy(s.rotation, r, sizeof(r));
    double rate = clock->advanced ? 1.0 / clock->interval.h : 0.0;
    for (int i = 0; i < 3; ++i) {
        s.position[i] = at.position[i];
        s.spin[i] = motion->angle[i] * rate;
        s.pivot[i] = motion->pivot[i] + fraction * motion->shift[i];
        s.drift[i] = motion->shift[i] * rate;
    }
    return s;
}

// From the simulation's space to the world, a matrix and its rate.
static void ToWorld(const Shown* s, double* matrix, double* rate)
{
    double local[12], slope[12];
    memcpy(local, matrix, sizeof(local));
    memcpy(slope, rate, sizeof(slope));
    for (int i = 0; i < 12; ++i) {
        const double* row = s->rotation + 3 * (i / 4);
        matrix[i] = row[0] * local[i % 4] + row[1] * local[4 + i % 4] + row[2] * local[8 + i % 4];
        rate[i] = row[0] * slope[i % 4] + row[1] * slope[4 + i % 4] + row[2] * slope[8 + i % 4];
    }
    for (int row = 0; row < 3; ++row) {
        matrix[4 * row + 3] += s->position[row];
    }
    for (int i = 0; i < 4; ++i) { // spin x (column - pivot) + drift
        double column[3];
        for (int row = 0; row < 3; ++row) {
            column[row] = matrix[4 * row + i] - (i == 3 ? s->pivot[row] : 0.0);
        }
        for (int row = 0; row < 3; ++row) {
            int a = (row + 1) % 3, b = (row + 2) % 3;
            rate[4 * row + i] += s->spin[a] * column[b] - s->spin[b] * column[a] + (i == 3 ? s->drift[row] : 0.0);
        }
    }
}

// A joint's matrix of a sample, in the simulation's space.
static void GetMatrix(const jnMorphs* m, int slot, size_t joint, double matrix[12])
{
    for (size_t i = 0; i < 12; ++i) {
        double value = (double)m->rows[slot][jnJointPlace(m, joint, 12, i)];
        matrix[i] = i % 4 < 3 ? value : m->origins[3 * slot + (int)i / 4] + value;
    }
}

void jnMorphs_Matrices(const jnMorphs* m, double fraction, double* matrices, double* rates)
{
    const jnSpringsClock* clock = &m->clock;
    bool between = clock->advanced && fraction < 1.0;
    Shown shown = FindShown(m, jnShownSpace(clock), fraction);
    float place[3] = {0}, slope[3] = {0};
    if (clock->advanced) {
        jnCurvePoint point = jnInterval_Point(&clock->interval, fraction);
        jnWeighDifferences(clock, point.place, place);
        jnWeighDifferences(clock, point.slope, slope);
    }
    int slot = between ? clock->slots[clock->interval.own] : clock->base;
    for (size_t j = 0; j < (size_t)m->asset->jointCount; ++j) {
        double *matrix = matrices + 12 * j, none[12] = {0}, *rate = rates != NULL ? rates + 12 * j : none;
        GetMatrix(m, slot, j, matrix);
        memset(rate, 0, 12 * sizeof(double));
        for (int d = 0; clock->advanced && (between || rates != NULL) && d < 3; ++d) {
            double from[12], to[12];
            GetMatrix(m, clock->slots[d], j, from);
            GetMatrix(m, clock->slots[d + 1], j, to);
            for (size_t i = 0; i < 12; ++i) {
                matrix[i] += between ? (double)place[d] * (to[i] - from[i]) : 0.0;
                rate[i] += (double)slope[d] * (to[i] - from[i]);
            }
        }
        if (shown.moved) {
            ToWorld(&shown, matrix, rate);
        }
    }
}

void jnMorphs_NewestMatrices(const jnMorphs* m, double* matrices)
{
    Shown shown = FindShown(m, &m->clock.space.newest, 1.0);
    for (size_t j = 0; j < (size_t)m->asset->jointCount; ++j) {
        double *matrix = matrices + 12 * j, none[12] = {0};
        GetMatrix(m, m->clock.newest, j, matrix);
        if (shown.moved) {
            ToWorld(&shown, matrix, none);
        }
    }
}

void jnMorphs_NewestTurns(const jnMorphs* m, float* turns)
{
    const float* from = m->turns[m->clock.newest];
    for (size_t i = 0; i < (size_t)m->turnedCount; ++i) {
        const float* at = from + i / JN_LANES * JN_TURNS_SIZE + i % JN_LANES;
        float* to = turns + 4 * (size_t)m->joints[i];
        for (size_t k = 0; k < 4; ++k) {
            to[k] = at[k * JN_LANES];
        }
    }
}

enum { SNAPSHOT_VERSION = 5 };
#define SNAPSHOT_MAGIC "JNMORPH"

// Precedes the bytes of a snapshot; the clock and what a step changes follow.
typedef struct SnapshotHead {
    char magic[8];
    uint64_t asset; // its hash
    uint32_t version, size;
    uint64_t checksum; // where that of an asset is
    int32_t modeCount, curve, timing, reserved;
} SnapshotHead;
_Static_assert(sizeof(SnapshotHead) == 48, "no padding in a snapshot");

size_t jnMorphs_SnapshotSize(const jnMorphs* m)
{
    return sizeof(SnapshotHead) + sizeof(m->clock) + m->movingSize;
}

void jnMorphs_Save(const jnMorphs* m, void* snapshot)
{
    size_t size = jnMorphs_SnapshotSize(m);
    SnapshotHead head = {.asset = m->asset->hash,
        .version = SNAPSHOT_VERSION,
        .size = (uint32_t)size,
        .modeCount = m->modeCapacity,
        .curve = (int32_t)m->curve,
        .timing = (int32_t)m->timing};
    memcpy(head.magic, SNAPSHOT_MAGIC, sizeof(head.magic));
    char* at = snapshot;
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), &m->clock, sizeof(m->clock));
    memcpy(at + sizeof(head) + sizeof(m->clock), m->moving, m->movingSize);
    head.checksum = jnAssetChecksum(at, size);
    memcpy(at, &head, sizeof(head));
}

jnResult jnMorphs_Restore(jnMorphs* m, const void* snapshot, size_t size, jnError* error)
{
    SnapshotHead head;
    jnSpringsClock clock;
    size_t expected = jnMorphs_SnapshotSize(m);
    if (size < sizeof(head) || memcmp(snapshot, SNAPSHOT_MAGIC, sizeof(head.magic)) != 0) {
        return jnFail(error, jn_badData, "these %zu bytes are no snapshot of a character", size);
    }
    memcpy(&head, snapshot, sizeof(head));
    if (head.version != SNAPSHOT_VERSION) {
        return jnFail(error, jn_badData, "the snapshot is of version %u; this library reads version %d", head.version,
            SNAPSHOT_VERSION);
    }
    if (head.asset != m->asset->hash) {
        return jnFail(error, jn_badData, "the snapshot is of another asset than '%s'", m->asset->name);
    }
    if (size != expected || head.size != expected || head.modeCount != m->modeCapacity || head.curve != (int)m->curve ||
        head.timing != (int)m->timing) {
        return jnFail(error, jn_badData,
            "the snapshot is of a character with another level of detail, curve or timing: %zu bytes instead of %zu",
            size, expected);
    }
    memcpy(&clock, (const char*)snapshot + sizeof(head), sizeof(clock));
    if (head.checksum != jnAssetChecksum(snapshot, size)) {
        return jnFail(error, jn_badData, "the snapshot is damaged: its checksum does not match");
    }
    const char* moving = (const char*)snapshot + sizeof(head) + sizeof(clock);
    if (!jnMorphs_IsSane(m, &clock, moving)) {
        return jnFail(error, jn_badData, "the snapshot is not one of ours: it has a number that no character saves");
    }
    m->clock = clock;
    memcpy(m->moving, moving, m->movingSize);
    jnMorphs_FollowLevel(m);
    return jn_ok;
}
