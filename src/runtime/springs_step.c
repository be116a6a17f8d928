// Time: samples in, steps, what lies between them, loops and rests.
//
// The history is a ring of the last four samples. `newest` is the slot of the last one taken, `base` that of
// the sample which the state belongs to: the same slot, or the one before it with a cubic in exact timing,
// which cannot advance over an interval before it has seen the sample after it.
#include "springs_internal.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

enum { DENSE = 3 * sizeof(float) };

// A rest is at most thirty years: the cube of it still fits a float.
#define LONGEST_REST 1e9

// Offsets and velocities below DUST are rounding dust. Every so many steps they are set to 0, so that springs
// come to rest and do not linger among the denormals, which are slow.
#define DUST 1e-30f
enum { STEPS_BETWEEN_DUSTING = 32 };

// How many passes the fixed point of a loop is refined by: each removes all but a rounding error's share of
// the rest.
enum { LOOP_PASSES = 3 };

static bool IsExact(const jnSprings* springs)
{
    return springs->curve == jn_curveCubic && springs->timing == jn_timingExact;
}

static size_t FieldBytes(const jnSprings* springs)
{
    return (size_t)springs->blockCount * JN_FIELD_SIZE * sizeof(float);
}

// A pass that does nothing but show the current state on its sample.
static jnStepPass ShowState(jnSprings* springs, const jnSpringsOutput* output)
{
    jnSpringsClock* clock = &springs->clock;
    jnStepPass pass = {
        .count = springs->count,
        .state = springs->states[clock->current],
        .resetState = springs->states[clock->current],
        .base = springs->samples[clock->base],
        .strength = springs->strength,
        .strengths = springs->hasStrengths ? springs->strengths : NULL,
        .cap = springs->cap,
        .stiffness = springs->stiffness,
        .damping = springs->damping,
        .coefficients = springs->coefficients,
        .resets = springs->resets,
    };
    if (output != NULL) {
        pass.positions = output->positions;
        pass.velocities = output->velocities;
        pass.positionStride = output->positionStride != 0 ? output->positionStride : DENSE;
        pass.velocityStride = output->velocityStride != 0 ? output->velocityStride : DENSE;
    }
    for (int i = 0; i < JN_HISTORY; ++i) {
        int slot = clock->advanced ? clock->slots[i] : clock->base;
        pass.samples[i] = springs->samples[slot];
    }
    pass.own = clock->advanced ? clock->interval.own : 2;
    if (clock->advanced) {
        memcpy(pass.ratios, clock->interval.ratios, sizeof(pass.ratios));
        memcpy(pass.slope, jnInterval_Point(&clock->interval, 1.0).slope, sizeof(pass.slope));
    }
    if (springs->curve == jn_curveHermite) {
        pass.slopes[0] = springs->velocities[clock->advanced ? clock->slots[2] : clock->base];
        pass.slopes[1] = springs->velocities[clock->base];
        pass.length = clock->advanced ? (float)clock->interval.h : 1.0f;
        pass.slope[2] =
            clock->advanced || clock->atRest ? pass.slope[2] : 1.0f; // the given velocity, before any interval
    }
    return pass;
}

// Makes the pass advance over the interval in the clock.
static void DriveState(const jnSprings* springs, jnStepPass* pass)
{
    const jnInterval* interval = &springs->clock.interval;
    jnInterval_Forcing(interval, pass->acceleration, pass->jerk);
    for (int i = 0; i < 3; ++i) {
        pass->kick[i] = (float)(interval->kick[i] / interval->h);
        pass->jumps = pass->jumps || pass->kick[i] != 0.0f;
    }
    // The target of a step curve jumps at the end of the interval: the offset from it jumps the other way.
    pass->shift = springs->curve == jn_curveStep ? 1.0f : 0.0f;
    pass->jumps = pass->jumps || pass->shift != 0.0f;
    jnToSpace(&springs->clock, springs->force, pass->force);
}

// Frames of the pass for the newest sample coming in and the base sample going out.
static void SetFrames(jnSprings* springs, jnStepPass* pass)
{
    jnSpringsClock* clock = &springs->clock;
    if (clock->space.moved) {
        springs->inputFrame = jnSpaceFromWorld(&clock->space.newest.to);
        springs->outputFrame = jnWorldFromSpace(jnShownSpace(clock), 1.0, clock->advanced ? clock->interval.h : 0.0);
        pass->inputFrame = &springs->inputFrame;
        pass->outputFrame = &springs->outputFrame;
    }
}

static void SetInput(jnSprings* springs, jnStepPass* pass, const jnSpringsInput* input)
{
    int newest = springs->clock.newest;
    pass->input = input->targets;
    pass->inputStride = input->targetStride != 0 ? input->targetStride : DENSE;
    pass->newest = springs->samples[newest];
    pass->newestBad = springs->badLanes[newest];
    for (int i = 0; i < 3 && springs->clock.dirty > 0; ++i) {
        pass->olderBad[i] = springs->badLanes[jnOlderSlot(newest, i + 1)];
    }
    if (input->targets == NULL) {
        pass->input = pass->newest;
        pass->filled = true;
    }
    if (springs->curve == jn_curveHermite) {
        pass->inputVelocity = input->targetVelocities;
        pass->newestVelocity = springs->velocities[newest];
    }
}

static void RunWholePass(jnSprings* springs, const jnStepPass* pass)
{
    springs->kernels->runPass(pass, 0, springs->blockCount);
}

// Sums up what the pass reset. After a bad sample the whole history has to pass before the plain path may be taken
// again; by then every slot's bits have been written anew.
static void CountResets(jnSprings* springs)
{
    uint64_t resets = 0;
    for (int i = 0; i < springs->blockCount; ++i) {
        resets += springs->resets[i];
        springs->resets[i] = 0;
    }
    springs->resetCount += resets;
    if (resets > 0) {
        springs->clock.dirty = JN_HISTORY;
    }
}

static void MoveSpace(jnSprings* springs, const jnTransform* root, jnRootMotion kind)
{
    jnPlacement placement;
    bool good = root != NULL && jnReadRoot(root, &placement);
    jnMoveSpace(&springs->clock.space, springs->inertia, good ? &placement : NULL, kind);
}

// Forgets everything and stands on the sample. The pass that is left to run only shows it.
static void Restart(jnSprings* springs, const jnSpringsInput* input)
{
    jnSpringsClock* clock = &springs->clock;
    memset(springs->moving, 0, springs->movingSize);
    memset(clock, 0, sizeof(*clock)); // padding too: equal states are equal bytes
    clock->sampleCount = 1;
    clock->atRest = springs->start == jn_startAtRest;
    clock->space.newest.from = clock->space.newest.to = jnIdentityPlacement();
    clock->space.base = clock->space.newest;
    MoveSpace(springs, input->root, jn_rootFelt);
    jnStepPass pass = ShowState(springs, NULL);
    SetInput(springs, &pass, input);
    RunWholePass(springs, &pass);
    CountResets(springs);
    for (int i = 1; i < JN_HISTORY; ++i) {
        memcpy(springs->samples[i], springs->samples[0], FieldBytes(springs));
        memcpy(springs->badLanes[i], springs->badLanes[0], (size_t)springs->blockCount * sizeof(uint16_t));
    }
}

// Moves the whole history so that the new sample is where the old motion, going on at its last velocity for h seconds,
// would have brought it: nothing of the way between is felt, and offsets are kept.
static void CarryHistory(jnSprings* springs, const jnSpringsInput* input, double h)
{
    jnSpringsClock* clock = &springs->clock;
    jnFrame toSpace = jnSpaceFromWorld(&clock->space.newest.to);
    float ahead = clock->sampleCount > 1 && clock->durations[2] > 0.0 ? (float)(h / clock->durations[2]) : 0.0f;
    const float* last = springs->samples[clock->newest];
    const float* before = springs->samples[jnOlderSlot(clock->newest, 1)];
    const float* given = springs->velocities[clock->newest]; // Hermite only
    for (int i = 0; i < springs->count; ++i) {
        float target[3], local[3], shift[3];
        jnCopyVector(input->targets, input->targetStride, i, target);
        jnRotateVector(toSpace.rotation, target, local);
        for (int axis = 0; axis < 3; ++axis) {
            size_t at = jnEntry(i, 3, axis);
            float way = given != NULL ? (float)h * given[at] : ahead * (last[at] - before[at]);
            shift[axis] = local[axis] + toSpace.translation[axis] - (last[at] + way);
        }
        if (!jnIsFinite(shift[0] + shift[1] + shift[2])) {
            continue; // the pass will see it and reset the spring
        }
        for (int slot = 0; slot < JN_HISTORY; ++slot) {
            for (int axis = 0; axis < 3; ++axis) {
                float* at = &springs->samples[slot][jnEntry(i, 3, axis)];
                *at = fabsf(*at + shift[axis]) <= JN_LARGEST_STATE ? *at + shift[axis]
                                                                   : local[axis] + toSpace.translation[axis];
            }
        }
    }
}

// Distance in the world that the mean of the targets moved since the newest sample. What is not finite has no say.
static double CentreDistance(const jnSprings* springs, const jnSpringsInput* input)
{
    const float* last = springs->samples[springs->clock.newest];
    jnFrame toWorld = jnWorldFromSpace(&springs->clock.space.newest, 1.0, 0.0);
    double way[3] = {0};
    int count = 0;
    for (int i = 0; i < springs->count; ++i) {
        float now[3];
        jnCopyVector(input->targets, input->targetStride, i, now);
        float old[3] = {last[jnEntry(i, 3, 0)], last[jnEntry(i, 3, 1)], last[jnEntry(i, 3, 2)]}, world[3];
        jnRotateVector(toWorld.rotation, old, world);
        if (!jnIsFinite(now[0] + now[1] + now[2])) {
            continue;
        }
        count++;
        for (int axis = 0; axis < 3; ++axis) {
            way[axis] += (double)now[axis] - ((double)world[axis] + (double)toWorld.translation[axis]);
        }
    }
    return count > 0 ? sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]) / count : 0.0;
}

static jnTeleport FindTeleport(const jnSprings* springs, const jnSpringsInput* input)
{
    if (input->teleport != jn_teleportNone || springs->teleportThreshold <= 0.0f || springs->clock.sampleCount == 0) {
        return input->teleport;
    }
    return CentreDistance(springs, input) > (double)springs->teleportThreshold ? springs->teleportKind
                                                                               : jn_teleportNone;
}

void jnClock_Push(jnSpringsClock* clock, double h)
{
    clock->newest = (clock->newest + 1) % JN_HISTORY;
    clock->dirty -= clock->dirty > 0;
    clock->durations[0] = clock->durations[1];
    clock->durations[1] = clock->durations[2];
    clock->durations[2] = h;
    if (clock->sampleCount < JN_HISTORY) {
        clock->sampleCount++;
    }
}

bool jnClock_Next(jnSpringsClock* clock, jnCurve curve, jnTiming timing, bool last)
{
    bool exact = curve == jn_curveCubic && timing == jn_timingExact;
    int needed = exact ? 3 : 2;
    if (clock->sampleCount < needed) {
        return false;
    }
    jnIntervalEnds ends = {
        .first = clock->sampleCount == needed,
        .second = clock->sampleCount == needed + 1,
        .last = last,
    };
    ends.atRest = ends.first && clock->atRest;
    clock->interval = jnMakeInterval(curve, timing, clock->durations, ends);
    for (int i = 0; i < JN_HISTORY; ++i) {
        clock->slots[i] = jnOlderSlot(clock->newest, JN_HISTORY - 1 - i);
    }
    clock->base = clock->slots[exact ? 2 : 3];
    clock->atRest = clock->atRest && !ends.first;
    clock->advanced = true;
    return true;
}

// The pass over the next interval, the new sample not yet in its slot.
static jnStepPass AdvancePass(jnSprings* springs, const jnSpringsOutput* output, bool last)
{
    bool advances = jnClock_Next(&springs->clock, springs->curve, springs->timing, last);
    jnStepPass pass = ShowState(springs, output);
    if (advances) {
        jnSpringsClock* clock = &springs->clock;
        DriveState(springs, &pass);
        clock->current = 1 - clock->current;
        pass.nextState = springs->states[clock->current];
        pass.dust = ++clock->steps % STEPS_BETWEEN_DUSTING == 0 ? DUST : 0.0f;
    }
    return pass;
}

double jnCleanTime(float h)
{
    return h >= JN_SHORTEST_STEP ? fmin((double)h, JN_LONGEST_STEP) : 0.0;
}

float* jnSprings_NextSlot(jnSprings* springs, float h, jnTeleport teleport)
{
    bool ordinary = springs->clock.sampleCount > 0 && jnCleanTime(h) > 0.0 && teleport == jn_teleportNone &&
                    springs->teleportThreshold <= 0.0f && springs->curve != jn_curveHermite;
    return ordinary ? springs->samples[(springs->clock.newest + 1) % JN_HISTORY] : NULL;
}

// The pass of the step under way. Coefficients are made by whoever steps a block first after h or a parameter changed;
// that is decided here, so that a parameter set while the step runs is not lost.
static void SetPass(jnSprings* springs, const jnStepPass* pass)
{
    springs->pass = *pass;
    double h = springs->clock.interval.h;
    springs->makesCoefficients = pass->nextState != NULL && springs->coefficientTime != h;
    if (springs->makesCoefficients) {
        springs->coefficientTime = h;
    }
}

static void RunBlocks(jnSprings* springs, int first, int end)
{
    if (springs->makesCoefficients) {
        springs->kernels->makeCoefficients(
            springs->stiffness, springs->damping, springs->clock.interval.h, springs->coefficients, first, end);
    }
    springs->kernels->runPass(&springs->pass, first, end);
}

// Sets a pass and runs it at once.
static void RunStep(jnSprings* springs, const jnStepPass* pass)
{
    SetPass(springs, pass);
    RunBlocks(springs, 0, springs->blockCount);
    CountResets(springs);
}

// The pass of a step, whatever it is: a start, a pause, or an interval.
// Targets NULL: the next slot is filled.
static jnStepPass PrepareStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output)
{
    jnSpringsClock* clock = &springs->clock;
    double h = jnCleanTime(input->h);
    jnTeleport teleport = FindTeleport(springs, input);
    if (clock->sampleCount == 0 || teleport == jn_teleportReset) {
        Restart(springs, input);
        return ShowState(springs, output);
    }
    bool carried = teleport == jn_teleportKeep || h == 0.0;
    MoveSpace(springs, input->root, h == 0.0 ? jn_rootPaused : carried ? jn_rootCarried : jn_rootFelt);
    if (carried) {
        CarryHistory(springs, input, h);
    }
    if (h == 0.0) {
        return ShowState(springs, output);
    }
    const float* fallback = springs->samples[clock->newest];
    jnClock_Push(clock, h);
    jnStepPass pass = AdvancePass(springs, output, false);
    SetInput(springs, &pass, input);
    pass.fallback = fallback;
    return pass;
}

static void BeginStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output)
{
    jnStepPass pass = PrepareStep(springs, input, output);
    SetFrames(springs, &pass);
    SetPass(springs, &pass);
    springs->stepping = true;
}

// Whether the caller may begin a step with this input.
static bool MayStep(const jnSprings* springs, const jnSpringsInput* input)
{
    return !JN_BROKEN(springs != NULL && input != NULL) && !JN_BROKEN(input->targets != NULL) &&
           !JN_BROKEN(springs->curve != jn_curveHermite || input->targetVelocities != NULL) &&
           !JN_BROKEN(!springs->stepping);
}

void jnSprings_BeginStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output)
{
    if (MayStep(springs, input)) {
        BeginStep(springs, input, output);
    }
}

void jnSprings_BeginFilledStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output)
{
    JN_ASSERT(input->targets == NULL && jnSprings_NextSlot(springs, input->h, input->teleport) != NULL);
    BeginStep(springs, input, output);
}

void jnSprings_StepBlocks(jnSprings* springs, int firstBlock, int endBlock)
{
    if (JN_BROKEN(springs != NULL && springs->stepping) ||
        JN_BROKEN(firstBlock >= 0 && firstBlock <= endBlock && endBlock <= springs->blockCount)) {
        return;
    }
    RunBlocks(springs, firstBlock, endBlock);
}

void jnSprings_EndStep(jnSprings* springs)
{
    if (JN_BROKEN(springs != NULL && springs->stepping)) {
        return;
    }
    CountResets(springs);
    springs->stepping = false;
}

void jnSprings_Step(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output)
{
    if (MayStep(springs, input)) {
        BeginStep(springs, input, output);
        jnSprings_StepBlocks(springs, 0, springs->blockCount);
        jnSprings_EndStep(springs);
    }
}

void jnSprings_Reset(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output)
{
    if (JN_BROKEN(springs != NULL && input != NULL)) {
        return;
    }
    jnSpringsInput first = *input;
    first.teleport = jn_teleportReset;
    jnSprings_Step(springs, &first, output);
}

// Shows the state as it is, on the sample that it belongs to.
static void Show(jnSprings* springs, const jnSpringsOutput* output)
{
    jnStepPass pass = ShowState(springs, output);
    SetFrames(springs, &pass);
    RunStep(springs, &pass);
}

void jnSprings_Finish(jnSprings* springs, const jnSpringsOutput* output)
{
    if (JN_BROKEN(springs != NULL && !springs->stepping)) {
        return;
    }
    jnSpringsClock* clock = &springs->clock;
    if (!IsExact(springs) || clock->base == clock->newest) {
        Show(springs, output);
        return;
    }
    // A copy of the newest sample stands in for the one after it; a one-sided slope does not look at it.
    int real = clock->newest;
    jnClock_Push(clock, clock->durations[2]);
    memcpy(springs->samples[clock->newest], springs->samples[real], FieldBytes(springs));
    jnStepPass pass = AdvancePass(springs, output, true);
    clock->newest = real;
    clock->sampleCount = 1;
    SetFrames(springs, &pass);
    RunStep(springs, &pass);
}

void jnSprings_Evaluate(const jnSprings* constSprings, float fraction, const jnSpringsOutput* output)
{
    jnSprings* springs = (jnSprings*)(uintptr_t)constSprings; // ShowState takes pointers from it and writes nothing
    if (JN_BROKEN(springs != NULL)) {
        return;
    }
    const jnSpringsClock* clock = &springs->clock;
    jnStepPass pass = ShowState(springs, output);
    pass.resetState = NULL;
    double s = fmin(fmax((double)fraction, 0.0), 1.0);
    jnFrame toWorld;
    if (clock->space.moved) {
        toWorld =
            jnWorldFromSpace(jnShownSpace(clock), clock->advanced ? s : 1.0, clock->advanced ? clock->interval.h : 0.0);
        pass.outputFrame = &toWorld;
    }
    if (clock->advanced) {
        const jnInterval* interval = &clock->interval;
        DriveState(springs, &pass);
        pass.shift = 0.0f;
        jnCurvePoint point = jnInterval_Point(interval, s);
        memcpy(pass.place, point.place, sizeof(pass.place));
        memcpy(pass.slope, point.slope, sizeof(pass.slope));
        pass.placed = true;
        pass.base = springs->samples[clock->slots[interval->own]];
        pass.state = springs->states[1 - clock->current];
        pass.responseTime = fmax(s * interval->h, 1e-30);
        pass.keepState = true;
    }
    springs->kernels->runPass(&pass, 0, springs->blockCount);
}

// One step over the rest: the target stops, the vertex does not, so its velocity in space is now the offset's.
static void RestFor(jnSprings* springs, double seconds)
{
    jnSpringsClock* clock = &springs->clock;
    jnStepPass pass = ShowState(springs, NULL);
    jnToSpace(clock, springs->force, pass.force);
    for (int i = 0; i < 3; ++i) {
        pass.kick[i] = -pass.slope[i];
    }
    pass.jumps = true;
    pass.responseTime = fmin(seconds, LONGEST_REST);
    clock->current = 1 - clock->current;
    pass.nextState = springs->states[clock->current];
    springs->kernels->runPass(&pass, 0, springs->blockCount);
    CountResets(springs);
    // A new history begins here, with springs that have no velocity in space but their own.
    clock->sampleCount = 1;
    clock->advanced = false;
    clock->atRest = true;
    jnRestSpace(&clock->space.newest);
    clock->space.base = clock->space.newest;
}

void jnSprings_Settle(jnSprings* springs, double seconds, const jnSpringsOutput* output)
{
    if (JN_BROKEN(springs != NULL && !springs->stepping) || springs->clock.sampleCount == 0) {
        return; // there is no target to rest on yet
    }
    if (seconds > 0.0) {
        jnSprings_Finish(springs, NULL);
        RestFor(springs, seconds);
    }
    Show(springs, output);
}

// One period from the state as it is: brings every slot of the history in place first.
static void RunPeriod(jnSprings* springs, const jnSpringsLoop* loop)
{
    jnSpringsClock* clock = &springs->clock;
    size_t frameSize = 3 * (size_t)springs->count;
    int lead = IsExact(springs) ? 1 : 0;
    for (int k = lead - 2; k <= loop->frameCount + lead; ++k) {
        int frame = (k + 2 * loop->frameCount) % loop->frameCount;
        jnSpringsInput input = {.h = loop->h, .targets = loop->targets + frameSize * (size_t)frame};
        const float* fallback = springs->samples[clock->newest];
        jnClock_Push(clock, (double)loop->h);
        clock->sampleCount = JN_HISTORY;
        bool advances = k > lead; // the first three samples only fill the history
        jnStepPass pass = advances ? AdvancePass(springs, NULL, false) : ShowState(springs, NULL);
        SetInput(springs, &pass, &input);
        pass.fallback = fallback;
        RunStep(springs, &pass);
    }
}

// Start of the periodic motion per spring and axis: z = (1 - A)^-1 b for a period that maps z to A z + b.
// `from` is the state a period began with and the current state what it ended with; the current state becomes
// the corrected start.
static int SolvePeriod(jnSprings* springs, double period, const float* from)
{
    float* state = springs->states[springs->clock.current];
    int unsolved = 0;
    for (int i = 0; i < springs->count; ++i) {
        double ks = (double)springs->stiffness[i], kd = (double)springs->damping[i];
        jnSpringResponse s = jnEvaluateSpring(ks, kd, period);
        // 1 - P and 1 - Q without cancellation.
        double lossY = ks * s.step, lossV = kd * s.impulse + ks * s.step;
        double determinant = lossY * lossV + ks * s.impulse * s.impulse;
        bool solvable = determinant > 1e-12, drifting = !solvable && ks == 0.0 && lossV > 1e-12;
        unsolved += !solvable && !drifting;
        for (int axis = 0; axis < 3; ++axis) {
            size_t y = jnEntry(i, 6, axis), v = jnEntry(i, 6, 3 + axis);
            double gapY = (double)state[y] - (double)from[y], gapV = (double)state[v] - (double)from[v];
            double stepY = 0.0, stepV = 0.0;
            if (solvable) {
                stepY = (lossV * gapY + s.impulse * gapV) / determinant;
                stepV = (lossY * gapV - ks * s.impulse * gapY) / determinant;
            } else if (drifting) {
                stepV = gapV / lossV; // without stiffness any offset repeats: keep the one it has
            }
            state[y] = solvable || drifting ? (float)((double)from[y] + stepY) : 0.0f;
            state[v] = solvable || drifting ? (float)((double)from[v] + stepV) : 0.0f;
        }
    }
    return unsolved;
}

jnResult jnSprings_SolveLoop(jnSprings* springs, const jnSpringsLoop* loop, int* unsolved, jnError* error)
{
    JN_NEED(error, springs != NULL && loop != NULL && !springs->stepping);
    if (springs->curve == jn_curveHermite) {
        return jnFail(error, jn_badArgument, "a loop of a Hermite curve cannot be solved: it has no target velocities");
    }
    if (loop->frameCount < 3 || jnCleanTime(loop->h) != (double)loop->h || loop->h == 0.0f) {
        return jnFail(error, jn_badArgument, "a loop needs at least 3 frames and h > 0, not %d frames of %g s",
            loop->frameCount, (double)loop->h);
    }
    JN_NEED(error, loop->targets != NULL);
    size_t size = (size_t)springs->blockCount * JN_STATE_SIZE * sizeof(float);
    float* from = jnAllocate(&springs->allocator, size);
    if (from == NULL) {
        return jnFail(
            error, jn_outOfMemory, "no memory to solve a loop of %d springs (%zu bytes)", springs->count, size);
    }
    jnSpringsInput first = {.targets = loop->targets};
    Restart(springs, &first);
    springs->clock.atRest = false;
    int count = 0;
    for (int pass = 0; pass < LOOP_PASSES; ++pass) {
        memcpy(from, springs->states[springs->clock.current], size);
        RunPeriod(springs, loop);
        count = SolvePeriod(springs, (double)loop->frameCount * (double)loop->h, from);
    }
    jnRelease(&springs->allocator, from);
    if (unsolved != NULL) {
        *unsolved = count;
    }
    return jn_ok;
}
