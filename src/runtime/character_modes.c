// The layer of modes of a character: between the springs, which keep the targets, their time and the way out, and the
// amplitudes.
//
// The plain case, nothing asked but positions, goes straight to them. Where a cap, a strength, velocities or a space of
// the springs' own come in, the modes' offsets are handed to the springs, which show them with their own.
#include "character_internal.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

bool jnVerticesRest(const jnCharacter* c)
{
    return c->modes != NULL && !c->asset->modes->movesVertices;
}

// Nothing is asked of the springs that the modes cannot do themselves.
bool jnModesShowDirectly(const jnCharacter* c, const jnSpringsOutput* out)
{
    const jnSprings* s = c->springs;
    return s->cap == 0.0f && s->strength == 1.0f && !s->hasStrengths && !s->clock.hasSpace && out->velocities == NULL &&
           out->positions == c->positions;
}

static const uint8_t* MaskOf(const jnCharacter* c)
{
    return c->masked ? c->mask : NULL;
}

// State at a fraction of the last interval through the springs' own output.
static void ShowThroughSprings(jnCharacter* c, double fraction, const jnSpringsOutput* out)
{
    jnModes* m = c->modes;
    float *state = m->work + 6 * (size_t)m->lanes, *turns = m->middle;
    jnModes_At(m, c->springs, fraction, state, turns);
    jnModes_Fill(m, jnModes_Limit(m, state), turns, MaskOf(c));
    c->springs->added = m->added;
    if (fraction < 1.0) {
        jnSprings_Evaluate(c->springs, (float)fraction, out);
    } else {
        jnSprings_Show(c->springs, out);
    }
    c->springs->added = NULL;
}

void jnStepModes(jnCharacter* c, bool advanced)
{
    jnSprings* springs = c->springs;
    if (springs->restarted) {
        jnModes_Rest(c->modes);
    }
    jnModes_TakeTurns(c->modes, springs, c->duals, springs->restarted);
    if (advanced) {
        springs->resetCount += (uint64_t)jnModes_Advance(c->modes, springs);
    }
}

void jnShowModes(jnCharacter* c, double fraction, const jnSpringsOutput* out)
{
    if (fraction >= 1.0 && jnVerticesRest(c) && jnModesShowDirectly(c, out)) {
        jnAddModes(c);
    } else {
        ShowThroughSprings(c, fraction, out);
    }
}

void jnAddModes(jnCharacter* c)
{
    jnModes* m = c->modes;
    const jnSpringsClock* clock = &c->springs->clock;
    jnModePass pass = {.asset = c->asset,
        .amplitudes = jnModes_Limit(m, m->now),
        .stride = (size_t)m->lanes,
        .mask = MaskOf(c),
        .base = jnVerticesRest(c) ? c->springs->samples[clock->base] : NULL,
        .positions = c->positions};
    jnModes_Align(m, m->turns[clock->base], &pass);
    m->kernels->show(&pass, 0, m->blockCount);
}

void jnFinishModes(jnCharacter* c)
{
    uint32_t steps = c->springs->clock.steps;
    jnSprings_Finish(c->springs, NULL);
    if (c->springs->clock.steps != steps) {
        c->springs->resetCount += (uint64_t)jnModes_Advance(c->modes, c->springs);
    }
}

// The turning makes the modes' period a map that is not diagonal. Each pass corrects by the map of frames that stand
// still, which is near; what is left shrinks by the share of the turning.
enum { LOOP_PASSES = 12 };
#define LOOP_TOLERANCE 1e-6f

static int SolvePeriod(jnCharacter* c, double period, const float* from)
{
    jnModes* m = c->modes;
    size_t lanes = (size_t)m->lanes;
    int unsolved = 0;
    for (size_t k = 0; k < (size_t)m->count; ++k) {
        double ks = (double)m->stiffness[k], kd = (double)m->damping[k];
        jnSpringResponse s = jnEvaluateSpring(ks, kd, period);
        double lossZ = ks * s.step, lossP = kd * s.impulse + ks * s.step;
        double determinant = lossZ * lossP + ks * s.impulse * s.impulse;
        double gapZ = (double)m->now[k] - (double)from[k], gapP = (double)m->now[lanes + k] - (double)from[lanes + k];
        bool solvable = determinant > 1e-12;
        unsolved += !solvable;
        m->now[k] = solvable ? (float)((double)from[k] + (lossP * gapZ + s.impulse * gapP) / determinant) : 0.0f;
        m->now[lanes + k] =
            solvable ? (float)((double)from[lanes + k] + (lossZ * gapP - ks * s.impulse * gapZ) / determinant) : 0.0f;
    }
    return unsolved;
}

// How far the start of a period moved, of the largest amplitude.
static bool HasSettled(const jnModes* m, const float* from)
{
    float most = 0.0f, change = 0.0f;
    for (int k = 0; k < m->count; ++k) {
        most = fmaxf(most, fabsf(m->now[k]));
        change = fmaxf(change, fabsf(m->now[k] - from[k]));
    }
    return change <= LOOP_TOLERANCE * most;
}

jnResult jnLoopModes(jnCharacter* c, const jnCharacterLoop* loop, jnTakePose* take, int* unsolved, jnError* error)
{
    jnModes* m = c->modes;
    jnSprings* springs = c->springs;
    size_t bytes = 2 * (size_t)m->lanes * sizeof(float);
    float* from = jnAllocate(&c->allocator, bytes);
    if (from == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for a loop of %d modes", m->count);
    }
    int frames = loop->frameCount, lead = c->lags ? 1 : 0, bad = 0;
    jnModes_Rest(m);
    for (int i = JN_HISTORY - 1; i >= 0; --i) { // the springs stand at pose 0 with this history
        take(c, &loop->poses[(lead - i + 4 * frames) % frames]);
        int newest = springs->clock.newest;
        springs->clock.newest = jnOlderSlot(newest, i);
        jnModes_TakeTurns(m, springs, c->duals, false);
        springs->clock.newest = newest;
    }
    for (int pass = 0; pass < LOOP_PASSES; ++pass) {
        memcpy(from, m->now, bytes);
        for (int n = 1; n <= frames; ++n) {
            take(c, &loop->poses[(n + lead) % frames]);
            jnTargetBlocks(c, 0, c->springBlocks, c->field, 0);
            jnPackField(c->field, 0, 0, springs->count, c->positions);
            jnSprings_Step(springs, &(jnSpringsInput){.h = loop->h, .targets = c->positions}, NULL);
            jnStepModes(c, true);
        }
        bad = SolvePeriod(c, (double)frames * (double)loop->h, from);
        if (HasSettled(m, from)) {
            break;
        }
    }
    if (unsolved != NULL) {
        *unsolved += bad;
    }
    jnRelease(&c->allocator, from);
    return jn_ok;
}

int jnCharacter_TuneModes(jnCharacter* c, int joint, float hertzScale, float ratioScale, float gainScale)
{
    bool good = hertzScale >= 0.0f && ratioScale >= 0.0f && jnIsFinite(hertzScale) && jnIsFinite(ratioScale) &&
                jnIsFinite(gainScale);
    return c->modes != NULL && good ? jnModes_Tune(c->modes, joint, hertzScale, ratioScale, gainScale) : 0;
}

void jnCharacter_ScaleModeCaps(jnCharacter* c, float scale)
{
    if (c->modes != NULL) {
        jnModes_ScaleCaps(c->modes, scale > 0.0f && jnIsFinite(scale) ? scale : 0.0f);
    }
}

// A velocity of the world in the springs' space, at the sample that their state belongs to.
static void ToSpace(const jnCharacter* c, const float velocity[3], float local[3])
{
    jnFrame frame = jnSpaceFromWorld(&jnShownSpace(&c->springs->clock)->to);
    jnRotateVector(frame.rotation, velocity, local);
}

void jnCharacter_AddImpulse(jnCharacter* c, int vertex, const float velocity[3])
{
    JN_ASSERT(vertex >= 0 && vertex < c->asset->vertexCount);
    if (c->springs == NULL || vertex >= c->asset->springCount) {
        return;
    }
    if (!jnVerticesRest(c)) {
        jnSprings_AddImpulse(c->springs, vertex, velocity);
    }
    if (c->modes != NULL) {
        float local[3];
        ToSpace(c, velocity, local);
        jnModes_Kick(c->modes, c->springs, vertex, local);
    }
}

// The share of an impulse that a target at `at`, in the springs' space, gets.
static float ShareInSphere(const jnFrame* toWorld, const float at[3], const float center[3], float radius)
{
    float world[3], square = 0.0f;
    jnRotateVector(toWorld->rotation, at, world);
    for (int i = 0; i < 3; ++i) {
        float away = world[i] + toWorld->translation[i] - center[i];
        square += away * away;
    }
    float inside = 1.0f - square / (radius * radius);
    return inside > 0.0f ? inside * inside : 0.0f;
}

void jnCharacter_AddImpulseSphere(jnCharacter* c, const float center[3], float radius, const float velocity[3])
{
    if (c->springs == NULL) {
        return;
    }
    if (!jnVerticesRest(c)) {
        jnSprings_AddImpulseSphere(c->springs, center, radius, velocity);
    }
    if (c->modes == NULL) {
        return;
    }
    float local[3];
    ToSpace(c, velocity, local);
    jnFrame toWorld = jnWorldFromSpace(jnShownSpace(&c->springs->clock), 1.0, 0.0);
    const float* base = c->springs->samples[c->springs->clock.base];
    for (int v = 0; v < c->asset->springCount; ++v) {
        const float at[3] = {base[jnEntry(v, 3, 0)], base[jnEntry(v, 3, 1)], base[jnEntry(v, 3, 2)]};
        float share = ShareInSphere(&toWorld, at, center, radius);
        if (share > 0.0f) {
            jnModes_Kick(
                c->modes, c->springs, v, (const float[3]){share * local[0], share * local[1], share * local[2]});
        }
    }
}
