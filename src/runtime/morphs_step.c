// Time of a character as morph weights: samples of matrices and components in, steps, rests.
//
// As with the springs (springs_step.c), the history is a ring of the last four samples; `newest` is the slot of the
// last one taken, `base` that of the sample which the state belongs to.
#include "morphs.h"

#include "rig.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = 64 };
// A history that is carried along with a jump goes no farther than this from what it is carried to: motion that a short
// step made fast, followed for a day, would leave the floats behind in a few jumps. Metres for the origins.
#define LARGEST_PAST 1e9f
#define LARGEST_PAST_ORIGIN 1e13

// World to the simulation's space.
typedef struct Spaced {
    bool moved;
    double rotation[9], position[3];
} Spaced;

static Spaced FindSpace(const jnMorphs* m)
{
    const jnPlacement* at = &m->clock.space.newest.to;
    Spaced s = {.moved = m->clock.space.moved != 0};
    if (s.moved) {
        double x = at->rotation[0], y = at->rotation[1], z = at->rotation[2], w = at->rotation[3];
        const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), //
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),                  //
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)};
        memcpy(s.rotation, r, sizeof(r));
        memcpy(s.position, at->position, sizeof(s.position));
    }
    return s;
}

// A joint's matrix in the simulation's space.
static void ToSpace(const Spaced* s, const double* world, double* local)
{
    for (int i = 0; i < 12; ++i) {
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) {
            sum += s->rotation[3 * k + i / 4] * (world[4 * k + i % 4] - (i % 4 == 3 ? s->position[k] : 0.0));
        }
        local[i] = sum;
    }
}

// A block of joints' matrices as they are kept, places from `origin`, and their rotations as far as those matter.
// rows: [JN_ROWS_SIZE], turns: [JN_TURNS_SIZE]
static void MakeBlock(const jnMorphs* m, const Spaced* space, const double* matrices, size_t block,
    const double* origin, float* rows, float* turns)
{
    size_t first = block * JN_LANES, joints = (size_t)m->asset->jointCount, turned = (size_t)m->turnedCount;
    _Alignas(JN_ALIGNMENT) double own[12 * JN_LANES], far[JN_LANES];
    for (size_t i = 0; i < JN_LANES; ++i) {
        static const double none[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        double local[12];
        const double* from = first + i < joints ? matrices + 12 * (size_t)m->joints[first + i] : none;
        if (space->moved) {
            ToSpace(space, from, local);
            from = local;
        }
        for (size_t k = 0; k < 12; ++k) {
            own[k * JN_LANES + i] = from[k];
        }
    }
    m->kernels->makeRows(own, origin, rows);
    if (first >= turned) {
        return;
    }
    m->kernels->makeTurns(own, turns, far);
    for (size_t i = 0; i < JN_LANES; ++i) {
        if (!(far[i] < JN_NO_ROTATION)) {
            double q[4] = {0, 0, 0, 1}, matrix[12];
            for (size_t k = 0; k < 12; ++k) {
                matrix[k] = own[k * JN_LANES + i];
            }
            if (first + i < turned) {
                jnRotationOf(matrix, q);
            }
            for (size_t k = 0; k < 4; ++k) {
                turns[k * JN_LANES + i] = (float)q[k];
            }
        }
    }
}

static size_t BlocksOf(const jnMorphs* m)
{
    return (size_t)jnBlockCount(m->asset->jointCount);
}

static void PutMatrices(jnMorphs* m, const Spaced* space, const double* matrices, int slot)
{
    for (size_t b = 0; b < BlocksOf(m); ++b) {
        MakeBlock(m, space, matrices, b, m->origins + 3 * slot, m->rows[slot] + b * JN_ROWS_SIZE,
            m->turns[slot] + b * JN_TURNS_SIZE);
    }
}

// Moves a number of all samples; where that leads too far they become what the new one is.
static void CarryNumber(float* const slots[JN_HISTORY], size_t i, float shift, float now)
{
    bool near = true;
    for (int slot = 0; slot < JN_HISTORY; ++slot) {
        slots[slot][i] += shift;
        near = near && fabsf(slots[slot][i]) <= LARGEST_PAST;
    }
    for (int slot = 0; !near && slot < JN_HISTORY; ++slot) {
        slots[slot][i] = now;
    }
}

// Moves the history so that the new matrices are where the old motion, going on at its last velocity, would have
// brought them: nothing of the way between is felt.
static void CarryHistory(jnMorphs* m, const Spaced* space, const double* matrices, const double* origin)
{
    int last = m->step.last, before = jnOlderSlot(last, 1);
    for (int i = 0; i < 3; ++i) {
        double at = m->origins[3 * last + i];
        double shift = origin[i] - (at + (double)m->step.ahead * (at - m->origins[3 * before + i]));
        for (int slot = 0; slot < JN_HISTORY; ++slot) {
            double moved = m->origins[3 * slot + i] + shift;
            m->origins[3 * slot + i] = fabs(moved) <= LARGEST_PAST_ORIGIN ? moved : origin[i];
        }
    }
    for (size_t b = 0; b < BlocksOf(m); ++b) {
        float rows[JN_ROWS_SIZE], turns[JN_TURNS_SIZE];
        MakeBlock(m, space, matrices, b, origin, rows, turns);
        for (size_t i = b * JN_ROWS_SIZE; i < (b + 1) * JN_ROWS_SIZE; ++i) {
            float at = m->rows[last][i];
            float now = rows[i - b * JN_ROWS_SIZE];
            CarryNumber(m->rows, i, now - (at + m->step.ahead * (at - m->rows[before][i])), now);
        }
        for (int slot = 0; b * JN_LANES < (size_t)m->turnedCount && slot < JN_HISTORY; ++slot) {
            memcpy(m->turns[slot] + b * JN_TURNS_SIZE, turns, sizeof(turns));
        }
    }
}

// Whether the way of the root is a jump.
static jnTeleport FindTeleport(const jnMorphs* m, const jnPlacement* root, jnTeleport teleport)
{
    const jnSpace* space = &m->clock.space;
    if (teleport != jn_teleportNone || m->teleportThreshold <= 0.0f || root == NULL || !space->hasRoot) {
        return teleport;
    }
    double square = 0.0;
    for (int i = 0; i < 3; ++i) {
        double way = root->position[i] - space->root.position[i];
        square += way * way;
    }
    return sqrt(square) > (double)m->teleportThreshold ? m->teleportKind : jn_teleportNone;
}

// Forgets everything.
static void Restart(jnMorphs* m)
{
    jnSpringsClock* clock = &m->clock;
    memset(m->moving, 0, (size_t)((char*)m->level - m->moving));
    memset(clock, 0, sizeof(*clock));
    jnMorphs_EndFades(m);
    clock->sampleCount = 1;
    clock->atRest = m->start == jn_startAtRest;
    clock->space.newest.from = clock->space.newest.to = jnIdentityPlacement();
    clock->space.base = clock->space.newest;
}

// What a sample is, and the space that it is taken in.
static void BeginStep(jnMorphs* m, const jnPlacement* root, float h, jnTeleport teleport)
{
    jnSpringsClock* clock = &m->clock;
    jnMorphStep* step = &m->step;
    teleport = FindTeleport(m, root, teleport);
    *step = (jnMorphStep){.h = jnCleanTime(h), .restarted = clock->sampleCount == 0 || teleport == jn_teleportReset};
    step->paused = !step->restarted && step->h == 0.0;
    step->carried = step->paused || (!step->restarted && teleport == jn_teleportKeep);
    if (step->restarted) {
        Restart(m);
    }
    // A root in a pause would make the space follow it for good; without scaled inertia nothing needs it.
    bool felt = m->inertia[0] != 1.0f || m->inertia[1] != 1.0f;
    jnMoveSpace(&clock->space, m->inertia, step->paused && !felt ? NULL : root,
        step->paused    ? jn_rootPaused
        : step->carried ? jn_rootCarried
                        : jn_rootFelt);
    if (!step->restarted && !step->paused) {
        jnMorphs_Fade(m, step->h);
    }
    step->last = clock->newest;
    step->ahead = clock->sampleCount > 1 && clock->durations[2] > 0.0 ? (float)(step->h / clock->durations[2]) : 0.0f;
}

// Matrices and rotations of a sample once more.
static void CopyMatrices(jnMorphs* m, int from, int to)
{
    size_t turnBlocks = (size_t)jnBlockCount(m->turnedCount);
    memcpy(m->origins + 3 * to, m->origins + 3 * from, 3 * sizeof(double));
    memcpy(m->rows[to], m->rows[from], BlocksOf(m) * JN_ROWS_SIZE * sizeof(float));
    memcpy(m->turns[to], m->turns[from], turnBlocks * JN_TURNS_SIZE * sizeof(float));
}

// What lies in a slot goes into all of them.
static void Spread(jnMorphs* m, int from)
{
    for (int slot = 0; slot < JN_HISTORY; ++slot) {
        if (slot != from) {
            CopyMatrices(m, from, slot);
        }
    }
}

void jnMorphs_TakeMatrices(jnMorphs* m, const double* matrices, const jnPlacement* root, float h, jnTeleport teleport)
{
    BeginStep(m, root, h, teleport);
    const jnMorphStep* step = &m->step;
    Spaced space = FindSpace(m);
    double first[12];
    memcpy(first, matrices, sizeof(first));
    if (space.moved) {
        ToSpace(&space, matrices, first);
    }
    const double origin[3] = {first[3], first[7], first[11]};
    int next = (m->clock.newest + 1) % JN_HISTORY;
    if (step->carried) {
        CarryHistory(m, &space, matrices, origin);
    }
    if (!step->paused) {
        memcpy(m->origins + 3 * next, origin, sizeof(origin));
        PutMatrices(m, &space, matrices, next);
    }
    if (step->restarted) {
        Spread(m, next);
    } else if (!step->paused) {
        jnClock_Push(&m->clock, step->h);
    }
}

// Numbers of a sample besides the matrices. slots: [JN_HISTORY][count]
static void PutNumbers(const jnMorphs* m, float* const slots[JN_HISTORY], const float* numbers, int count)
{
    const jnMorphStep* step = &m->step;
    const float *last = slots[step->last], *before = slots[jnOlderSlot(step->last, 1)];
    for (int i = 0; step->carried && i < count; ++i) { // as CarryHistory
        CarryNumber(slots, (size_t)i, numbers[i] - (last[i] + step->ahead * (last[i] - before[i])), numbers[i]);
    }
    for (int slot = 0; !step->paused && count > 0 && slot < JN_HISTORY; ++slot) {
        if (step->restarted || slot == m->clock.newest) {
            memcpy(slots[slot], numbers, (size_t)count * sizeof(float));
        }
    }
}

// At most TOGETHER of them.
static void TakeSome(jnMorphs* const* list, const float* const* components, int count)
{
    float* drives[TOGETHER];
    const jnMorphs* first = list[0];
    bool drive = first->modes != NULL && first->asset->componentCount > 0;
    for (int n = 0; n < count; ++n) {
        drives[n] = list[n]->results;
    }
    if (drive) {
        first->kernels->multiply(&(jnProductPass){.starts = first->driveStarts,
            .weights = first->modes->drives,
            .blockCount = first->lanes / JN_LANES,
            .groupSize = first->asset->componentCount,
            .inputs = components,
            .outputs = drives,
            .count = count});
    }
    for (int n = 0; n < count; ++n) {
        PutNumbers(list[n], list[n]->components, components[n], list[n]->asset->componentCount);
        if (drive) {
            PutNumbers(list[n], list[n]->drives, drives[n], list[n]->lanes);
        }
    }
}

void jnMorphs_TakeComponents(jnMorphs* const* list, const float* const* components, int count)
{
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && end < first + TOGETHER && list[end]->lanes == list[first]->lanes; ++end) {}
        TakeSome(list + first, components + first, end - first);
    }
}

void jnMorphs_TakeTargets(jnMorphs* m, const float* weights)
{
    PutNumbers(m, m->targets, weights, m->asset->targetCount);
}

void jnMorphs_ReplaceDrive(jnMorphs* m, const float* drive)
{
    if (m->modes != NULL && !m->step.paused) {
        for (int slot = 0; slot < JN_HISTORY; ++slot) {
            if (m->step.restarted || slot == m->clock.newest) {
                memcpy(m->drives[slot], drive, (size_t)m->lanes * sizeof(float));
            }
        }
    }
}

void jnMorphs_Advance(jnMorphs* const* list, int count)
{
    jnMorphs* advancing[TOGETHER];
    int some = 0;
    for (int n = 0; n < count; ++n) {
        jnMorphs* m = list[n];
        bool advances = !m->step.restarted && !m->step.paused && jnClock_Next(&m->clock, m->curve, m->timing, false);
        m->clock.steps += advances;
        if (advances && m->modes != NULL) {
            advancing[some++] = m;
        }
        if (some == TOGETHER || (n + 1 == count && some > 0)) {
            jnAdvanceModes(advancing, some);
            some = 0;
        }
    }
}

void jnMorphs_Finish(jnMorphs* m)
{
    jnSpringsClock* clock = &m->clock;
    int real = clock->newest;
    if (clock->base == real) {
        return;
    }
    // A copy of the newest sample stands in for the one after it; a one-sided slope does not look at it.
    jnClock_Push(clock, clock->durations[2]);
    CopyMatrices(m, real, clock->newest);
    memcpy(m->components[clock->newest], m->components[real], (size_t)m->asset->componentCount * sizeof(float));
    if (m->asset->targetCount > 0) {
        memcpy(m->targets[clock->newest], m->targets[real], (size_t)m->asset->targetCount * sizeof(float));
    }
    memcpy(m->drives[clock->newest], m->drives[real], (size_t)m->lanes * sizeof(float));
    bool advances = jnClock_Next(clock, m->curve, m->timing, true);
    clock->newest = real;
    clock->sampleCount = 1;
    clock->steps += advances;
    if (advances && m->modes != NULL) {
        jnAdvanceModes(&m, 1);
    }
}

void jnMorphs_Settle(jnMorphs* m, double seconds)
{
    jnSpringsClock* clock = &m->clock;
    if (clock->sampleCount == 0 || !(seconds > 0.0)) {
        return;
    }
    jnMorphs_Finish(m);
    if (m->modes != NULL) {
        jnSettleModes(m, seconds);
    }
    // A new history begins here, with flesh that has no velocity in space but its own.
    clock->sampleCount = 1;
    clock->advanced = false;
    clock->atRest = true;
    jnRestSpace(&clock->space.newest);
    clock->space.base = clock->space.newest;
}
