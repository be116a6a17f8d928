// Vertices without springs of their own: skinned, shown, and never advanced. Those whose springs would be practically
// rigid stay on their targets. At coarse detail the others are carried along by the drivers around them,
//
//     x = target + sum_k weight_k (x_k - target_k)        over the vertex's drivers k, velocities alike,
//
// and the tail begins at the first vertex: it knows the targets of the drivers too.
#include "character_internal.h"

#include <math.h>
#include <string.h>

// What is carried along with a jump goes no farther than this, metres; see morphs_step.c.
#define LARGEST_PAST 1e9f

static int Older(int slot, int steps)
{
    return (slot + JN_TAIL_HISTORY - steps) % JN_TAIL_HISTORY;
}

// Moves the history so that `field` is where the motion, going on at its last velocity for h seconds, leads: nothing
// of the way there is felt.
static void Carry(jnCharacter* c, const float* field, double h)
{
    jnTailClock* tail = &c->tail;
    size_t count = c->tailSize / sizeof(float);
    const float* last = c->tails[tail->newest];
    const float* before = c->tails[Older(tail->newest, 1)];
    float ahead = tail->sampleCount > 1 && tail->durations[1] > 0.0 ? (float)(h / tail->durations[1]) : 0.0f;
    for (size_t i = 0; i < count; ++i) {
        float shift = field[i] - (last[i] + ahead * (last[i] - before[i]));
        bool near = true;
        for (int slot = 0; slot < JN_TAIL_HISTORY; ++slot) {
            c->tails[slot][i] += shift;
            near = near && fabsf(c->tails[slot][i]) <= LARGEST_PAST;
        }
        for (int slot = 0; !near && slot < JN_TAIL_HISTORY; ++slot) {
            c->tails[slot][i] = field[i];
        }
    }
}

void jnShiftTail(jnCharacter* c, const double shift[3])
{
    for (size_t i = 0; i < c->tailSize / sizeof(float); ++i) {
        float own = (float)shift[i / JN_LANES % 3];
        for (int slot = 0; slot < JN_TAIL_HISTORY; ++slot) {
            c->tails[slot][i] += own;
        }
    }
}

void jnStepTail(jnCharacter* c, double h, jnTeleport teleport)
{
    jnTailClock* tail = &c->tail;
    int blocks = c->asset->blockCount;
    if (c->tailSize == 0) {
        return;
    }
    bool restart = tail->sampleCount == 0 || teleport == jn_teleportReset;
    if (!restart && (h <= 0.0 || teleport == jn_teleportKeep)) {
        float* field = c->field + (size_t)c->tailBlock * JN_FIELD_SIZE;
        jnSkinBlocks(c, c->tailBlock, blocks, field, c->tailBlock);
        Carry(c, field, h > 0.0 ? h : 0.0);
        if (h <= 0.0) {
            return;
        }
    }
    if (restart) {
        *tail = (jnTailClock){.sampleCount = 1};
    } else {
        tail->newest = (tail->newest + 1) % JN_TAIL_HISTORY;
        tail->sampleCount = tail->sampleCount < JN_TAIL_HISTORY ? tail->sampleCount + 1 : JN_TAIL_HISTORY;
        tail->durations[0] = tail->durations[1];
        tail->durations[1] = h;
    }
    jnSkinBlocks(c, c->tailBlock, blocks, c->tails[tail->newest], c->tailBlock);
}

void jnStopTail(jnCharacter* c)
{
    c->tail.sampleCount = c->tail.sampleCount > 0 ? 1 : 0;
}

// What of the history is shown: targets from `begin` to `end`, their velocity rate * (to - from).
typedef struct Shown {
    const float *begin, *end, *from, *to; // [tail blocks][3][JN_LANES]
    float share, rate;
} Shown;

static Shown FindShown(const jnCharacter* c, double fraction)
{
    const jnTailClock* tail = &c->tail;
    int lag = c->lags && tail->sampleCount > 1 ? 1 : 0;
    int start = tail->sampleCount > lag + 1 ? lag + 1 : lag; // the sample at the interval's start
    double time = tail->durations[1] + (lag == 1 && start == 2 ? tail->durations[0] : 0.0);
    return (Shown){
        .end = c->tails[Older(tail->newest, lag)],
        .begin = c->tails[Older(tail->newest, start)],
        // Velocity at the end of the interval: over the samples around it, or up to it where it is the newest.
        .from = c->tails[Older(tail->newest, tail->sampleCount > 1 ? (lag == 1 ? start : 1) : 0)],
        .to = c->tails[tail->newest],
        .rate = tail->sampleCount > 1 && time > 0.0 ? (float)(1.0 / time) : 0.0f,
        .share = (float)fraction,
    };
}

// Targets of a block, or their velocities.
static inline void ShowBlock(const Shown* s, size_t block, bool velocities, float out[JN_FIELD_SIZE])
{
    size_t at = block * JN_FIELD_SIZE;
    for (size_t i = 0; velocities && i < JN_FIELD_SIZE; ++i) {
        out[i] = s->rate * (s->to[at + i] - s->from[at + i]);
    }
    if (!velocities && s->share == 1.0f) {
        memcpy(out, s->end + at, JN_FIELD_SIZE * sizeof(float));
    }
    for (size_t i = 0; !velocities && s->share != 1.0f && i < JN_FIELD_SIZE; ++i) {
        out[i] = s->begin[at + i] + s->share * (s->end[at + i] - s->begin[at + i]);
    }
}

// What the drivers' values, x, y, z one after another, differ from their targets: [springCount][4], x, y, z, 0.
static void FindOffsets(const jnCharacter* c, const Shown* shown, bool velocities, const float* values, float* offsets)
{
    for (size_t block = 0; block < (size_t)c->springBlocks; ++block) {
        float target[JN_FIELD_SIZE];
        ShowBlock(shown, block, velocities, target);
        for (size_t i = 0; i < JN_LANES; ++i) {
            size_t d = block * JN_LANES + i;
            for (size_t axis = 0; axis < 3; ++axis) {
                offsets[4 * d + axis] = values[3 * d + axis] - target[axis * JN_LANES + i];
            }
            offsets[4 * d + 3] = 0.0f;
        }
    }
}

static void ShowVertices(jnCharacter* c, const Shown* shown, bool velocities)
{
    const jnAsset* asset = c->asset;
    float *values = velocities ? c->velocities : c->positions, out[JN_FIELD_SIZE];
    float* offsets = c->field; // large enough: drivers are at most half of the vertices
    if (c->coarse) {
        FindOffsets(c, shown, velocities, values, offsets);
    }
    for (int block = c->springBlocks; block < asset->blockCount; ++block) {
        int first = block * JN_LANES, end = first + JN_LANES;
        ShowBlock(shown, (size_t)(block - c->tailBlock), velocities, out);
        if (c->coarse && first < asset->springCount) {
            c->kernels->carry(asset->followers + (first - c->springCount), offsets, out);
        }
        jnPackField(out, block, first, end < asset->vertexCount ? end : asset->vertexCount, values);
    }
}

void jnShowTail(jnCharacter* c, double fraction, bool wantsVelocities)
{
    if (c->tailSize == 0 || c->tail.sampleCount == 0) {
        return;
    }
    Shown shown = FindShown(c, fraction);
    ShowVertices(c, &shown, false);
    if (wantsVelocities) {
        ShowVertices(c, &shown, true);
    }
}
