// A spring set's memory, parameters and settings. Time is in springs_step.c.
#include "springs_internal.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

enum { MAX_SPRINGS = 1 << 27 };
// More than a spring takes, so that no size overflows where size_t has 32 bits.
enum { MOST_BYTES_A_SPRING = 512 };
// Tuned parameters end here, far above any spring that moves.
#define STIFFEST 1e30f
enum { PARAMETER_ARRAYS = 7 };
// Offsets beyond JN_LARGEST_STATE are taken back with the next step; a velocity shows one step later.
#define LARGEST_SAVED_STATE 1e30f
enum {
    SNAPSHOT_MAGIC = 0x314e4a53,
    SNAPSHOT_VERSION = JN_VERSION_MAJOR << 16 | JN_VERSION_MINOR << 8 | JN_VERSION_PATCH
};

// Precedes the bytes of a snapshot.
typedef struct SnapshotHead {
    uint32_t magic;
    uint32_t version; // of the library, and the size of its clock: another build's bytes mean something else
    uint32_t clockSize;
    int32_t count;
    int32_t curve, timing;
    jnSpringsClock clock;
} SnapshotHead;

jnSpringsDef jnDefaultSpringsDef(void)
{
    return (jnSpringsDef){
        .uniformStiffness = jnStiffnessFromHertz(4.0f),
        .uniformDamping = jnDampingFromRatio(4.0f, 0.25f),
        .curve = jn_curveCubic,
        .timing = jn_timingCausal,
    };
}

// Lays the arrays out behind the struct; with springs == NULL only counts. Returns the bytes in all.
static size_t LayOut(jnSprings* springs, int count, jnCurve curve)
{
    size_t blocks = (size_t)jnBlockCount(count);
    size_t scalars = jnAlignUp(blocks * JN_LANES * sizeof(float));
    size_t field = blocks * JN_FIELD_SIZE * sizeof(float), state = blocks * JN_STATE_SIZE * sizeof(float);
    char* at = (char*)springs;
    size_t offset = jnAlignUp(sizeof(jnSprings));
    size_t parameters = offset, coefficients = parameters + PARAMETER_ARRAYS * scalars;
    size_t resets = coefficients + blocks * JN_COEFFICIENT_SIZE * sizeof(float);
    size_t moving = resets + jnAlignUp(blocks);
    size_t history = moving + 2 * state, velocities = history + JN_HISTORY * field;
    size_t lanes = jnAlignUp(blocks * sizeof(uint16_t));
    size_t badLanes = velocities + (curve == jn_curveHermite ? JN_HISTORY * field : 0);
    size_t end = badLanes + JN_HISTORY * lanes;
    if (springs == NULL) {
        return end;
    }
    float** arrays[PARAMETER_ARRAYS] = {&springs->fittedStiffness, &springs->fittedDamping, &springs->hertzScales,
        &springs->ratioScales, &springs->stiffness, &springs->damping, &springs->strengths};
    for (size_t i = 0; i < PARAMETER_ARRAYS; ++i) {
        *arrays[i] = (float*)(void*)(at + parameters + i * scalars);
    }
    springs->coefficients = (float*)(void*)(at + coefficients);
    springs->resets = (uint8_t*)(at + resets);
    springs->moving = (float*)(void*)(at + moving);
    springs->movingSize = end - moving;
    for (size_t i = 0; i < 2; ++i) {
        springs->states[i] = (float*)(void*)(at + moving + i * state);
    }
    for (size_t i = 0; i < JN_HISTORY; ++i) {
        springs->samples[i] = (float*)(void*)(at + history + i * field);
        springs->badLanes[i] = (uint16_t*)(void*)(at + badLanes + i * lanes);
        springs->velocities[i] = curve == jn_curveHermite ? (float*)(void*)(at + velocities + i * field) : NULL;
    }
    return end;
}

static bool CountIsPossible(int count)
{
    return count >= 1 && count <= MAX_SPRINGS && (size_t)count <= SIZE_MAX / MOST_BYTES_A_SPRING;
}

size_t jnSprings_ByteCount(const jnSpringsDef* def)
{
    if (JN_BROKEN(def != NULL) || !CountIsPossible(def->count)) {
        return 0;
    }
    return LayOut(NULL, def->count, def->curve);
}

// Refuses a negative or non-finite entry by name.
static jnResult CheckNumbers(const float* values, int count, const char* what, jnError* error)
{
    for (int i = 0; values != NULL && i < count; ++i) {
        if (!(values[i] >= 0.0f && jnIsFinite(values[i]))) {
            return jnFail(error, jn_badArgument, "%s of spring %d is %g; it must be a number that is not negative",
                what, i, (double)values[i]);
        }
    }
    return jn_ok;
}

static jnResult CheckDef(const jnSpringsDef* def, jnError* error)
{
    if (!CountIsPossible(def->count)) {
        return jnFail(error, jn_badArgument, "a spring set needs 1 to %d springs, not %d", MAX_SPRINGS, def->count);
    }
    if (def->curve < jn_curveStep || def->curve > jn_curveHermite || def->timing < jn_timingExact ||
        def->timing > jn_timingCausal || def->start < jn_startMoving || def->start > jn_startAtRest) {
        return jnFail(error, jn_badArgument, "curve, timing or start is not one of its enumeration");
    }
    if (!jnKernelAvailable(def->kernel)) {
        return jnFail(error, jn_badArgument, "this machine or build has no %s kernel", jnKernelName(def->kernel));
    }
    JN_PASS(CheckNumbers(def->stiffness != NULL ? def->stiffness : &def->uniformStiffness,
        def->stiffness != NULL ? def->count : 1, "stiffness", error));
    return CheckNumbers(def->damping != NULL ? def->damping : &def->uniformDamping,
        def->damping != NULL ? def->count : 1, "damping", error);
}

const jnSpringKernels* jnFindSpringKernels(jnKernel kernel)
{
#ifdef JN_HAVE_X86_KERNELS
    if (kernel >= jn_kernelAvx2) {
        return &jnSpringKernelsAvx2;
    }
#endif
    (void)kernel;
    return &jnSpringKernelsBaseline;
}

// k_s = (2 pi f)^2 and k_d = 2 ratio (2 pi f), so a scaled frequency acts on both.
static void ApplyTuning(jnSprings* springs)
{
    for (int i = 0; i < springs->count; ++i) {
        float hertz = springs->hertzScales[i], ratio = springs->ratioScales[i];
        springs->stiffness[i] = fminf(springs->fittedStiffness[i] * hertz * hertz, STIFFEST);
        springs->damping[i] = fminf(springs->fittedDamping[i] * hertz * ratio, STIFFEST);
    }
    springs->coefficientTime = 0.0;
}

jnResult jnCreateSprings(const jnSpringsDef* def, jnSprings** out, jnError* error)
{
    JN_NEED(error, out != NULL);
    *out = NULL;
    JN_NEED(error, def != NULL);
    JN_PASS(CheckDef(def, error));
    size_t size = jnSprings_ByteCount(def);
    jnSprings* springs = def->memory;
    if (springs != NULL && (def->memorySize < size || (uintptr_t)springs % JN_ALIGNMENT != 0)) {
        return jnFail(error, jn_badArgument, "%zu bytes at a multiple of %d are needed for %d springs", size,
            JN_ALIGNMENT, def->count);
    }
    if (springs == NULL) {
        springs = jnAllocate(&def->allocator, size);
    }
    if (springs == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for %d springs (%zu bytes)", def->count, size);
    }
    memset(springs, 0, size);
    springs->count = def->count;
    springs->blockCount = jnBlockCount(def->count);
    springs->curve = def->curve;
    springs->timing = def->timing;
    springs->start = def->start;
    springs->kernel = def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel;
    springs->kernels = jnFindSpringKernels(springs->kernel);
    springs->allocator = def->allocator;
    springs->ownsMemory = def->memory == NULL;
    springs->strength = 1.0f;
    springs->inertia[0] = springs->inertia[1] = 1.0f;
    LayOut(springs, def->count, def->curve);
    for (int i = 0; i < def->count; ++i) {
        springs->fittedStiffness[i] = def->stiffness != NULL ? def->stiffness[i] : def->uniformStiffness;
        springs->fittedDamping[i] = def->damping != NULL ? def->damping[i] : def->uniformDamping;
        springs->hertzScales[i] = springs->ratioScales[i] = 1.0f;
    }
    ApplyTuning(springs);
    springs->clock.space.newest.from = springs->clock.space.newest.to = jnIdentityPlacement();
    springs->clock.space.base = springs->clock.space.newest;
    *out = springs;
    return jn_ok;
}

void jnDestroySprings(jnSprings* springs)
{
    if (springs != NULL && springs->ownsMemory) {
        jnAllocator allocator = springs->allocator;
        jnRelease(&allocator, springs);
    }
}

jnResult jnSprings_SetParameters(jnSprings* springs, const float* stiffness, const float* damping, jnError* error)
{
    JN_NEED(error, springs != NULL);
    JN_PASS(CheckNumbers(stiffness, springs->count, "stiffness", error));
    JN_PASS(CheckNumbers(damping, springs->count, "damping", error));
    size_t size = (size_t)springs->count * sizeof(float);
    if (stiffness != NULL) {
        memcpy(springs->fittedStiffness, stiffness, size);
    }
    if (damping != NULL) {
        memcpy(springs->fittedDamping, damping, size);
    }
    ApplyTuning(springs);
    return jn_ok;
}

jnResult jnSprings_SetTuning(jnSprings* springs, float hertzScale, float ratioScale, const float* hertzScales,
    const float* ratioScales, jnError* error)
{
    JN_NEED(error, springs != NULL);
    JN_PASS(CheckNumbers(&hertzScale, 1, "frequency scale", error));
    JN_PASS(CheckNumbers(&ratioScale, 1, "damping ratio scale", error));
    JN_PASS(CheckNumbers(hertzScales, springs->count, "frequency scale", error));
    JN_PASS(CheckNumbers(ratioScales, springs->count, "damping ratio scale", error));
    for (int i = 0; i < springs->count; ++i) {
        springs->hertzScales[i] = hertzScale * (hertzScales != NULL ? hertzScales[i] : 1.0f);
        springs->ratioScales[i] = ratioScale * (ratioScales != NULL ? ratioScales[i] : 1.0f);
    }
    ApplyTuning(springs);
    return jn_ok;
}

jnResult jnSprings_SetStrength(jnSprings* springs, float strength, const float* strengths, jnError* error)
{
    JN_NEED(error, springs != NULL);
    JN_PASS(CheckNumbers(&strength, 1, "strength", error));
    JN_PASS(CheckNumbers(strengths, springs->count, "strength", error));
    springs->strength = jnClamp(strength, JN_LARGEST_STRENGTH, 1.0f);
    springs->hasStrengths = strengths != NULL;
    for (int i = 0; strengths != NULL && i < springs->count; ++i) {
        springs->strengths[i] = jnClamp(strengths[i], JN_LARGEST_STRENGTH, 1.0f);
    }
    return jn_ok;
}

void jnSprings_SetForce(jnSprings* springs, const float acceleration[3])
{
    if (!JN_BROKEN(springs != NULL && acceleration != NULL)) {
        jnClampVector(acceleration, JN_LARGEST_FORCE, springs->force);
    }
}

void jnSprings_SetCap(jnSprings* springs, float distance)
{
    if (!JN_BROKEN(springs != NULL)) {
        springs->cap = distance > 0.0f && jnIsFinite(distance) ? distance : 0.0f;
    }
}

void jnSprings_SetInertia(jnSprings* springs, float translation, float rotation)
{
    if (!JN_BROKEN(springs != NULL)) {
        springs->inertia[0] = jnClamp(translation, JN_LARGEST_INERTIA, 1.0f);
        springs->inertia[1] = jnClamp(rotation, JN_LARGEST_INERTIA, 1.0f);
    }
}

void jnSprings_SetTeleportThreshold(jnSprings* springs, float distance, jnTeleport teleport)
{
    if (JN_BROKEN(springs != NULL && jnIsTeleport(teleport))) {
        return;
    }
    springs->teleportThreshold = distance > 0.0f ? distance : 0.0f;
    springs->teleportKind = teleport;
}

// Simulation to world where the state is shown.
static jnFrame ShownFrame(const jnSprings* springs)
{
    return jnWorldFromSpace(jnShownSpace(&springs->clock), 1.0, 0.0);
}

// A velocity that the caller adds, from the world to the simulation's space: the inverse of a rotation is its
// transpose.
static void ToSpace(const jnFrame* toWorld, const float velocity[3], float local[3])
{
    float world[3];
    jnClampVector(velocity, JN_LARGEST_IMPULSE, world);
    const float* m = toWorld->rotation;
    for (int i = 0; i < 3; ++i) {
        local[i] = m[i] * world[0] + m[3 + i] * world[1] + m[6 + i] * world[2];
    }
}

static void Kick(jnSprings* springs, int spring, const float local[3], float share)
{
    float* state = springs->states[springs->clock.current];
    for (int axis = 0; axis < 3; ++axis) {
        state[jnEntry(spring, 6, 3 + axis)] += local[axis] * share;
    }
}

void jnSprings_AddImpulse(jnSprings* springs, int spring, const float velocity[3])
{
    if (JN_BROKEN(springs != NULL && velocity != NULL && spring >= 0 && spring < springs->count)) {
        return;
    }
    jnFrame toWorld = ShownFrame(springs);
    float local[3];
    ToSpace(&toWorld, velocity, local);
    Kick(springs, spring, local, 1.0f);
}

void jnSprings_AddImpulseSphere(jnSprings* springs, const float center[3], float radius, const float velocity[3])
{
    if (JN_BROKEN(springs != NULL && center != NULL && velocity != NULL)) {
        return;
    }
    const float* state = springs->states[springs->clock.current];
    const float* base = springs->samples[springs->clock.base];
    jnFrame toWorld = ShownFrame(springs);
    float local[3];
    ToSpace(&toWorld, velocity, local);
    for (int spring = 0; spring < springs->count; ++spring) {
        float x[3], world[3], square = 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            x[axis] = base[jnEntry(spring, 3, axis)] + state[jnEntry(spring, 6, axis)];
        }
        jnRotateVector(toWorld.rotation, x, world);
        for (int axis = 0; axis < 3; ++axis) {
            float away = world[axis] + toWorld.translation[axis] - center[axis];
            square += away * away;
        }
        float share = 1.0f - square / (radius * radius);
        if (share > 0.0f) {
            Kick(springs, spring, local, share * share);
        }
    }
}

void jnSprings_GetState(const jnSprings* springs, float* offsets, float* velocities)
{
    if (JN_BROKEN(springs != NULL)) {
        return;
    }
    const float* state = springs->states[springs->clock.current];
    for (int i = 0; i < 3 * springs->count; ++i) {
        if (offsets != NULL) {
            offsets[i] = state[jnEntry(i / 3, 6, i % 3)];
        }
        if (velocities != NULL) {
            velocities[i] = state[jnEntry(i / 3, 6, 3 + i % 3)];
        }
    }
}

void jnSprings_SetState(jnSprings* springs, const float* offsets, const float* velocities)
{
    if (JN_BROKEN(springs != NULL)) {
        return;
    }
    float* state = springs->states[springs->clock.current];
    for (int i = 0; i < 3 * springs->count; ++i) {
        if (offsets != NULL) {
            state[jnEntry(i / 3, 6, i % 3)] =
                jnIsFinite(offsets[i]) ? jnClamp(offsets[i], JN_LARGEST_STATE, 0.0f) : 0.0f;
        }
        if (velocities != NULL) {
            state[jnEntry(i / 3, 6, 3 + i % 3)] =
                jnIsFinite(velocities[i]) ? jnClamp(velocities[i], JN_LARGEST_STATE, 0.0f) : 0.0f;
        }
    }
}

size_t jnSprings_SnapshotSize(const jnSprings* springs)
{
    return JN_BROKEN(springs != NULL) ? 0 : sizeof(SnapshotHead) + springs->movingSize;
}

void jnSprings_Save(const jnSprings* springs, void* snapshot)
{
    SnapshotHead head;
    if (JN_BROKEN(springs != NULL && snapshot != NULL)) {
        return;
    }
    memset(&head, 0, sizeof(head)); // padding too: equal states are equal bytes
    head.magic = SNAPSHOT_MAGIC;
    head.version = SNAPSHOT_VERSION;
    head.clockSize = (uint32_t)sizeof(head.clock);
    head.count = springs->count;
    head.curve = (int32_t)springs->curve;
    head.timing = (int32_t)springs->timing;
    memcpy(&head.clock, &springs->clock, sizeof(head.clock));
    memcpy(snapshot, &head, sizeof(head));
    memcpy((char*)snapshot + sizeof(head), springs->moving, springs->movingSize);
}

// Whether all that a step would calculate with is a number that it can.
static bool IsSane(const jnSprings* springs, const SnapshotHead* head, const char* moving)
{
    size_t state = (size_t)springs->blockCount * JN_STATE_SIZE, field = (size_t)springs->blockCount * JN_FIELD_SIZE;
    size_t fields = springs->curve == jn_curveHermite ? 2 * JN_HISTORY : JN_HISTORY;
    return jnClock_IsSane(&head->clock) && jnAreWithin(moving, 2 * state, LARGEST_SAVED_STATE) &&
           jnAreWithin(moving + 2 * state * sizeof(float), fields * field, JN_LARGEST_SAVED_SAMPLE);
}

jnResult jnSprings_Restore(jnSprings* springs, const void* snapshot, size_t size, jnError* error)
{
    SnapshotHead head;
    JN_NEED(error, springs != NULL && snapshot != NULL);
    if (size != jnSprings_SnapshotSize(springs)) {
        return jnFail(
            error, jn_badData, "a snapshot of this set has %zu bytes, not %zu", jnSprings_SnapshotSize(springs), size);
    }
    memcpy(&head, snapshot, sizeof(head));
    if (head.magic != SNAPSHOT_MAGIC || head.count != springs->count || head.curve != (int32_t)springs->curve ||
        head.timing != (int32_t)springs->timing) {
        return jnFail(error, jn_badData, "the snapshot is of another set: other springs, curve or timing");
    }
    if (head.version != SNAPSHOT_VERSION || head.clockSize != sizeof(head.clock) ||
        !IsSane(springs, &head, (const char*)snapshot + sizeof(head))) {
        return jnFail(error, jn_badData, "the snapshot is damaged or of another build of the library");
    }
    springs->clock = head.clock;
    memcpy(springs->moving, (const char*)snapshot + sizeof(head), springs->movingSize);
    return jn_ok;
}

uint64_t jnSprings_ResetCount(const jnSprings* springs)
{
    return JN_BROKEN(springs != NULL) ? 0 : springs->resetCount;
}

int jnSprings_Count(const jnSprings* springs)
{
    return JN_BROKEN(springs != NULL) ? 0 : springs->count;
}

int jnSprings_BlockCount(const jnSprings* springs)
{
    return JN_BROKEN(springs != NULL) ? 0 : springs->blockCount;
}

jnKernel jnSprings_Kernel(const jnSprings* springs)
{
    return JN_BROKEN(springs != NULL) ? jn_kernelAuto : springs->kernel;
}
