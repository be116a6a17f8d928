// Vertices whose springs are practically rigid: skinned, shown, and never advanced.
#include "character_internal.h"

#include <math.h>
#include <string.h>

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
        for (int slot = 0; slot < JN_TAIL_HISTORY; ++slot) {
            c->tails[slot][i] += shift;
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
        float* field = c->field + (size_t)c->springBlocks * JN_FIELD_SIZE;
        jnTargetBlocks(c, c->springBlocks, blocks, field, c->springBlocks);
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
    jnTargetBlocks(c, c->springBlocks, blocks, c->tails[tail->newest], c->springBlocks);
}

void jnStopTail(jnCharacter* c)
{
    c->tail.sampleCount = c->tail.sampleCount > 0 ? 1 : 0;
}

void jnShowTail(jnCharacter* c, double fraction, bool wantsVelocities)
{
    const jnTailClock* tail = &c->tail;
    size_t count = c->tailSize / sizeof(float);
    if (count == 0 || tail->sampleCount == 0) {
        return;
    }
    int lag = c->lags && tail->sampleCount > 1 ? 1 : 0;
    int start = tail->sampleCount > lag + 1 ? lag + 1 : lag; // the sample at the interval's start
    const float* end = c->tails[Older(tail->newest, lag)];
    const float* begin = c->tails[Older(tail->newest, start)];
    // Velocity at the end of the interval: over the samples around it, or up to it where it is the newest.
    const float* from = c->tails[Older(tail->newest, tail->sampleCount > 1 ? (lag == 1 ? start : 1) : 0)];
    const float* to = c->tails[tail->newest];
    double time = tail->durations[1] + (lag == 1 && start == 2 ? tail->durations[0] : 0.0);
    float rate = tail->sampleCount > 1 && time > 0.0 ? (float)(1.0 / time) : 0.0f, share = (float)fraction;
    size_t vertices = (size_t)c->asset->vertexCount;
    if (share == 1.0f && !wantsVelocities) {
        jnPackField(end, c->springBlocks, c->springBlocks * JN_LANES, c->asset->vertexCount, c->positions);
        return;
    }
    for (size_t v = (size_t)c->springBlocks * JN_LANES; v < vertices; ++v) {
        size_t at = (v / JN_LANES - (size_t)c->springBlocks) * JN_FIELD_SIZE + v % JN_LANES;
        for (size_t axis = 0; axis < 3; ++axis, at += JN_LANES) {
            c->positions[3 * v + axis] = share == 1.0f ? end[at] : begin[at] + share * (end[at] - begin[at]);
            if (wantsVelocities) {
                c->velocities[3 * v + axis] = rate * (to[at] - from[at]);
            }
        }
    }
}
