// Characters without springs of single vertices: poses into the state of morph weights, and surfaces out of it.
#include "character_internal.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = 64, CHUNK = 32 };
// Where a surface is not linear in its matrices, velocities are differences over this share of an interval.
#define STEP_BACK (1.0 / 64)

// What a state that was made elsewhere may come to. Hardly ever is there anything to tame, and looking is faster.
static void Tame(float* weights, size_t count)
{
    int wild = 0;
    for (size_t i = 0; weights != NULL && i < count; ++i) {
        wild += !(fabsf(weights[i]) <= JN_LARGEST_WEIGHT);
    }
    for (size_t i = 0; wild > 0 && i < count; ++i) {
        weights[i] = jnClamp(weights[i], JN_LARGEST_WEIGHT, 0.0f);
    }
}

// The weights and how fast they change (NULL: not wanted) at a fraction of the last interval.
static void TakeWeights(const jnCharacter* c, double fraction, float* weights, float* rates)
{
    size_t columns = c->asset->morphs != NULL ? (size_t)c->asset->morphs->columnCount : 0;
    jnMorphs_Weights(c->morphs, fraction, weights, rates);
    Tame(weights, columns);
    Tame(rates, columns);
}

// The surface at hand into x, y, z of every vertex.
static void SkinAll(const jnCharacter* c, float* positions)
{
    float field[CHUNK * JN_FIELD_SIZE];
    const jnAsset* a = c->asset;
    for (int first = 0; first < a->blockCount; first += CHUNK) {
        int end = first + CHUNK < a->blockCount ? first + CHUNK : a->blockCount;
        int last = end * JN_LANES < a->vertexCount ? end * JN_LANES : a->vertexCount;
        jnSkinBlocks(c, first, end, field, first);
        jnPackField(field, first, first * JN_LANES, last, positions);
    }
}

// Velocities of a surface that is linear in matrices and weights, x' = sum_j w_j (M_j' (r + d) + A_j d').
// matrices and rates: [jointCount][12]. The positions' array is scratch.
static void FindVelocities(jnCharacter* c, const double* matrices, const double* rates)
{
    const jnAsset* a = c->asset;
    size_t columns = a->morphs != NULL ? (size_t)a->morphs->columnCount : 0;
    jnUseMatrices(c, rates, NULL);
    jnUseWeights(c, c->weights);
    jnUseTargets(c, c->targets);
    SkinAll(c, c->velocities);
    jnUseTargets(c, c->targets + a->targetCount);
    if (columns == 0 && c->posed == NULL) {
        return;
    }
    jnUseMatrices(c, matrices, c->origin);
    jnUseWeights(c, c->weights + columns);
    c->mapped = false; // how fast a map changes is not known
    c->bare = true;
    SkinAll(c, c->positions);
    c->bare = false;
    for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
        c->velocities[i] += c->positions[i];
    }
}

// The same by a difference of two surfaces. The positions' array is scratch.
static void FindDifferences(jnCharacter* c, double fraction, double* matrices)
{
    size_t numbers = 3 * (size_t)c->asset->vertexCount;
    double start = fmax(fraction - STEP_BACK, 0.0), ends[2] = {start, start + STEP_BACK};
    if (!c->morphs->clock.advanced) {
        memset(c->velocities, 0, numbers * sizeof(float));
        return;
    }
    for (int i = 0; i < 2; ++i) {
        TakeWeights(c, ends[i], c->weights, NULL);
        jnMorphs_Matrices(c->morphs, ends[i], matrices, NULL);
        jnUseMatrices(c, matrices, c->origin);
        jnUseWeights(c, c->weights);
        jnMorphs_Targets(c->morphs, ends[i], c->targets, NULL);
        jnUseTargets(c, c->targets);
        SkinAll(c, i == 0 ? c->velocities : c->positions);
    }
    float rate = (float)(1.0 / (STEP_BACK * c->morphs->clock.interval.h));
    for (size_t i = 0; i < numbers; ++i) {
        c->velocities[i] = rate * (c->positions[i] - c->velocities[i]);
    }
}

void jnShowMorphs(jnCharacter* c, double fraction, const jnCharacterOutput* out)
{
    const jnAsset* a = c->asset;
    if (out == NULL || c->morphs->clock.sampleCount == 0) {
        return;
    }
    double stack[24 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    double* rates = matrices + 12 * (size_t)a->jointCount;
    float* weightRates = c->weights + (a->morphs != NULL ? a->morphs->columnCount : 0);
    bool moves = out->velocities != NULL, shows = out->positions != NULL || out->normals != NULL;
    if (JN_BROKEN(!c->weightsOnly || (!moves && !shows))) {
        moves = shows = false;
    }
    if (moves && a->skinning == jn_skinDual) {
        FindDifferences(c, fraction, matrices);
    }
    TakeWeights(c, fraction, c->weights, moves || out->weightRates != NULL ? weightRates : NULL);
    jnDeliverWeights(c, c->weights, out->weights);
    jnDeliverRates(c, c->weights, weightRates, out->weightRates);
    if (!moves && !shows) {
        return;
    }
    jnMorphs_Matrices(c->morphs, fraction, matrices, moves ? rates : NULL);
    jnMorphs_Targets(c->morphs, fraction, c->targets, moves ? c->targets + a->targetCount : NULL);
    if (moves && a->skinning == jn_skinLinear) {
        FindVelocities(c, matrices, rates);
    }
    if (shows) {
        jnUseMatrices(c, matrices, c->origin);
        jnUseWeights(c, c->weights);
        jnUseTargets(c, c->targets);
        SkinAll(c, c->positions);
        jnDent(c);
    }
    jnDeliver(c, out, true);
}

// The pose's matrices into the state, and the network's inputs from them.
static void TakePose(jnCharacter* c, const jnCharacterInput* in)
{
    double stack[12 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    bool good = jnTakePose(c, &in->pose, matrices);
    jnPlacement root;
    (void)jnReadRoot(&c->root, &root);
    for (int i = 0; i < 3; ++i) {
        root.position[i] = c->rootPlace[i];
    }
    jnMorphs_TakeMatrices(c->morphs, matrices, good ? &root : NULL, in->h, in->teleport);
    jnTakeTargets(c, &in->pose);
    jnMorphs_TakeTargets(c->morphs, c->targets);
    if (jnNetworkActs(c)) {
        float own[4 * JN_STACK_JOINTS], *turns = c->turns != NULL ? c->turns : own;
        jnMorphs_NewestTurns(c->morphs, turns);
        jnTakeInputs(c, turns);
    } else if (c->network.head != NULL) {
        memset(c->networkState.components, 0, (size_t)c->asset->componentCount * sizeof(float));
    }
}

// What colliders do at the end of the interval.
static void Touch(jnCharacter* c)
{
    if (!c->isTouched) {
        return;
    }
    double stack[12 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    const jnMorphStep* step = &c->morphs->step;
    jnTouchModes modes = step->restarted ? jn_touchResting
                         : step->paused || !c->morphs->clock.advanced ? jn_touchStill
                                                                      : jn_touchPassed;
    TakeWeights(c, 1.0, c->weights, NULL);
    jnMorphs_Matrices(c->morphs, 1.0, matrices, NULL);
    jnTouch(c, matrices, c->asset->morphs != NULL ? c->weights : NULL, NULL, modes);
}

// At most TOGETHER of them.
static void StepSome(
    jnCharacter* const* list, const jnCharacterInput* inputs, const jnCharacterOutput* outputs, int count)
{
    jnNetworkState* states[TOGETHER] = {0};
    jnMorphs* morphs[TOGETHER] = {0};
    const float* components[TOGETHER] = {0};
    int acting = 0;
    for (int n = 0; n < count; ++n) {
        jnCharacter* c = list[n];
        TakePose(c, &inputs[n]);
        morphs[n] = c->morphs;
        components[n] = c->networkState.components;
        if (jnNetworkActs(c)) {
            states[acting++] = &c->networkState;
        }
    }
    if (acting > 0) {
        jnNetwork_Evaluate(&list[0]->network, list[0]->networkKernels, states, acting);
    }
    jnMorphs_TakeComponents(morphs, components, count);
    jnMorphs_Advance(morphs, count);
    for (int n = 0; n < count; ++n) {
        Touch(list[n]);
    }
    for (int n = 0; outputs != NULL && n < count; ++n) {
        jnShowMorphs(list[n], 1.0, &outputs[n]);
    }
}

void jnStepMorphs(jnCharacter* const* list, const jnCharacterInput* inputs, const jnCharacterOutput* outputs, int count)
{
    for (int first = 0; first < count; first += TOGETHER) {
        StepSome(list + first, inputs + first, outputs != NULL ? outputs + first : NULL,
            count - first < TOGETHER ? count - first : TOGETHER);
    }
}

void jnStepOnDrive(
    jnCharacter* c, const jnCharacterInput* in, const float* drive, const float* components, float* weights)
{
    jnMorphs* m = c->morphs;
    const float* given = c->networkState.components;
    int first = c->asset->morphs != NULL ? c->asset->morphs->firstMode : 0;
    TakePose(c, in);
    for (int i = 0; i < c->asset->componentCount; ++i) {
        c->networkState.components[i] = components != NULL ? components[i] : 0.0f;
    }
    jnMorphs_TakeComponents(&m, &given, 1);
    float* padded = m->results;
    memset(padded, 0, (size_t)m->lanes * sizeof(float));
    memcpy(padded, drive, (size_t)m->modeCount * sizeof(float));
    jnMorphs_ReplaceDrive(m, padded);
    jnMorphs_Advance(&m, 1);
    jnMorphs_Weights(m, 1.0, c->weights, NULL);
    memcpy(weights, c->weights + first, (size_t)m->modeCount * sizeof(float));
}

// The rotation makes the modes' period a map that is not diagonal. Each pass corrects by the map of frames that stand
// still, which is near; what is left shrinks by the share of the rotation.
enum { LOOP_PASSES = 12 };
#define LOOP_TOLERANCE 1e-6f

static int SolvePeriod(jnMorphs* m, double period, const float* from)
{
    size_t lanes = (size_t)m->lanes;
    int unsolved = 0;
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
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
static bool HasSettled(const jnMorphs* m, const float* from)
{
    float most = 0.0f, change = 0.0f;
    for (int k = 0; k < m->modeCount; ++k) {
        most = fmaxf(most, fabsf(m->now[k]));
        change = fmaxf(change, fabsf(m->now[k] - from[k]));
    }
    return change <= LOOP_TOLERANCE * most;
}

static void TakeLoopPose(jnCharacter* c, const jnCharacterLoop* loop, int pose, jnTeleport teleport)
{
    int frames = loop->frameCount;
    jnCharacterInput input = {.h = loop->h, .pose = loop->poses[(pose + 4 * frames) % frames], .teleport = teleport};
    StepSome(&c, &input, NULL, 1);
}

jnResult jnLoopMorphs(jnCharacter* c, const jnCharacterLoop* loop, int* unsolved, jnError* error)
{
    jnMorphs* m = c->morphs;
    size_t bytes = 2 * (size_t)m->lanes * sizeof(float);
    if (jnCleanTime(loop->h) != (double)loop->h || loop->h == 0.0f) {
        return jnFail(error, jn_badArgument, "a loop needs h > 0, not %g s", (double)loop->h);
    }
    float* from = jnAllocate(&c->allocator, bytes + 1);
    if (from == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for a loop of %d modes", m->modeCount);
    }
    int frames = loop->frameCount, lead = c->lags ? 1 : 0, bad = 0;
    for (int i = -3; i <= lead; ++i) { // stands at pose 0 with this history
        TakeLoopPose(c, loop, i, i == -3 ? jn_teleportReset : jn_teleportNone);
    }
    m->clock.sampleCount = JN_HISTORY;
    for (int pass = 0; pass < LOOP_PASSES; ++pass) {
        memcpy(from, m->now, bytes);
        for (int n = 1; n <= frames; ++n) {
            TakeLoopPose(c, loop, n + lead, jn_teleportNone);
        }
        bad = SolvePeriod(m, (double)frames * (double)loop->h, from);
        if (HasSettled(m, from)) {
            break;
        }
    }
    *unsolved += bad;
    jnRelease(&c->allocator, from);
    return jn_ok;
}

void jnCharacter_AddImpulse(jnCharacter* c, int vertex, const float velocity[3])
{
    if (JN_BROKEN(c != NULL && velocity != NULL && vertex >= 0 && vertex < c->asset->hitVertexCount)) {
        return;
    }
    if (c->springs != NULL) {
        if (vertex < c->springCount) {
            jnSprings_AddImpulse(c->springs, vertex, velocity);
        }
        return;
    }
    double stack[12 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    if (c->morphs->clock.sampleCount > 0) {
        float own[3];
        jnClampVector(velocity, JN_LARGEST_IMPULSE, own);
        jnMorphs_Matrices(c->morphs, 1.0, matrices, NULL);
        (c->asset->vertexCount > 0 ? jnMorphs_Kick : jnMorphs_KickHit)(c->morphs, matrices, vertex, own);
    }
}

// Where a vertex is skinned to, without what adds to the rest surface.
static void SkinVertex(const jnCharacter* c, const double* matrices, int vertex, float out[3])
{
    const jnAsset* a = c->asset;
    size_t b = (size_t)(vertex / JN_LANES), count = a->influenceStarts[b + 1] - a->influenceStarts[b];
    size_t at = (size_t)a->influenceStarts[b] * JN_LANES + (size_t)(vertex % JN_LANES) * count;
    const float* r = a->rest + 4 * (size_t)vertex;
    double x[3] = {0};
    for (size_t k = 0; k < count; ++k) {
        const double* m = matrices + 12 * (size_t)a->influenceJoints[at + k];
        for (int i = 0; i < 3; ++i) {
            x[i] +=
                (double)a->influenceWeights[at + k] * (m[4 * i] * (double)r[0] + m[4 * i + 1] * (double)r[1] +
                                                          m[4 * i + 2] * (double)r[2] + (m[4 * i + 3] - c->origin[i]));
        }
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = (float)x[i];
    }
}

static void KickVertices(jnCharacter* c, const double* matrices, const jnSphere* sphere, const float velocity[3])
{
    for (int v = 0; v < c->asset->vertexCount; ++v) {
        float at[3];
        SkinVertex(c, matrices, v, at);
        float share = jnShareInSphere(sphere, at);
        if (share > 0.0f) {
            jnMorphs_Kick(c->morphs, matrices, v,
                (const float[3]){share * velocity[0], share * velocity[1], share * velocity[2]});
        }
    }
}

void jnCharacter_AddImpulseSphere(jnCharacter* c, const float center[3], float radius, const float velocity[3])
{
    float own[3];
    if (JN_BROKEN(c != NULL && center != NULL && velocity != NULL) ||
        JN_BROKEN(c->asset->hitVertexCount > 0 || c->asset->modeCount == 0)) {
        return;
    }
    jnClampVector(velocity, JN_LARGEST_IMPULSE, own);
    if (c->springs != NULL) {
        jnSprings_AddImpulseSphere(c->springs, center, radius, velocity);
        return;
    }
    double stack[12 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    if (c->morphs->clock.sampleCount == 0 || c->morphs->modes == NULL) {
        return;
    }
    const jnSphere sphere = {.center = {center[0], center[1], center[2]}, .radius = radius};
    jnMorphs_Matrices(c->morphs, 1.0, matrices, NULL);
    if (c->asset->vertexCount > 0) {
        KickVertices(c, matrices, &sphere, own);
    } else {
        jnMorphs_KickHits(c->morphs, matrices, c->origin, &sphere, own);
    }
}
