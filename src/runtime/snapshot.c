// What a snapshot may hold. Its checksum is no secret: a snapshot that came over a network may have been made by
// anyone. Whatever passes here plays finite from its first step, and all that the library saves passes.
#include "morphs.h"

#include <math.h>

// What follows from the durations of an interval has no unit and lies within -1 to 1; a bit more for its rounding.
#define LARGEST_PART 1.001
// Of a duration over another: a day over a microsecond is 8.64e10.
#define LARGEST_RATIO 1e11f
// Radians of an interval: half a turn times the largest inertia, and more.
#define LARGEST_ANGLE 1e3
// Metres, of the simulation's own space, which follows a root for hours.
#define LARGEST_PLACE 1e18
// A rotation's square from 1.
#define UNIT_TOLERANCE 1e-2
// Forces and what else a mode feels: the largest pose in the shortest time, and more.
#define LARGEST_NUMBER 1e30f

bool jnAreWithin(const void* bytes, size_t count, float limit)
{
    bool within = true;
    for (size_t i = 0; i < count; ++i) { // no way out within: the compiler makes vectors of it
        float value;
        memcpy(&value, (const char*)bytes + i * sizeof(value), sizeof(value));
        within &= fabsf(value) <= limit;
    }
    return within;
}

static bool InRange(int value, int end)
{
    return value >= 0 && value < end;
}

static bool Within(const double* values, int count, double limit)
{
    bool within = true;
    for (int i = 0; i < count; ++i) {
        within = within && fabs(values[i]) <= limit; // false for what is not a number
    }
    return within;
}

bool jnIsDuration(double seconds)
{
    return seconds >= (double)JN_SHORTEST_STEP && seconds <= JN_LONGEST_STEP;
}

// low, high: of the square of its length.
static bool IsPlacement(const jnPlacement* placement, double low, double high)
{
    const double* q = placement->rotation;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return square >= low && square <= high && Within(placement->position, 3, LARGEST_PLACE);
}

static bool IsMotion(const jnSpaceMotion* motion)
{
    double low = 1.0 - UNIT_TOLERANCE, high = 1.0 + UNIT_TOLERANCE;
    return IsPlacement(&motion->from, low, high) && IsPlacement(&motion->to, low, high) &&
           Within(motion->angle, 3, LARGEST_ANGLE) && Within(motion->pivot, 3, LARGEST_PLACE) &&
           Within(motion->shift, 3, LARGEST_PLACE);
}

static bool IsInterval(const jnInterval* r, bool advanced)
{
    bool sane = jnIsDuration(r->h) || (!advanced && r->h == 0.0);
    sane = sane && jnAreWithin(r->ratios, 3, LARGEST_RATIO) && InRange(r->own, 3) && (!advanced || r->own > 0);
    return sane && Within(r->start, 2, LARGEST_PART) && Within(r->end, 2, LARGEST_PART) &&
           Within(r->kick, 3, LARGEST_PART) && Within(&r->line, 1, LARGEST_PART);
}

// The samples of the history lie a duration apart; what is before it does not matter.
static bool AreDurations(const jnSpringsClock* clock)
{
    bool sane = true;
    for (int i = 0; i < JN_HISTORY - 1; ++i) {
        bool needed = i >= JN_HISTORY - clock->sampleCount;
        sane = sane && (jnIsDuration(clock->durations[i]) || (!needed && clock->durations[i] == 0.0));
    }
    return sane;
}

bool jnClock_IsSane(const jnSpringsClock* clock)
{
    const jnSpace* space = &clock->space;
    bool sane = InRange(clock->sampleCount, JN_HISTORY + 1) && InRange(clock->newest, JN_HISTORY) &&
                InRange(clock->base, JN_HISTORY) && InRange(clock->current, 2);
    sane = sane && InRange(clock->advanced, 2) && InRange(clock->atRest, 2) && InRange(space->moved, 2) &&
           InRange(space->hasRoot, 2) && InRange(clock->dirty, JN_HISTORY + 1);
    for (int i = 0; i < JN_HISTORY; ++i) {
        sane = sane && InRange(clock->slots[i], JN_HISTORY);
    }
    // A root is as the caller gave it: of about unit length.
    sane = sane && (!space->hasRoot || IsPlacement(&space->root, 0.2, 5.0));
    sane = sane && (clock->sampleCount > 0 || (clock->base == clock->newest && !clock->advanced));
    return sane && AreDurations(clock) && IsInterval(&clock->interval, clock->advanced != 0) &&
           IsMotion(&space->newest) && IsMotion(&space->base);
}

// Rotations of a sample, [blocks][4][JN_LANES].
static bool AreTurns(const char* bytes, size_t blocks)
{
    bool sane = true;
    for (size_t i = 0; i < blocks * JN_LANES; ++i) {
        float square = 0.0f;
        for (size_t k = 0; k < 4; ++k) {
            float q;
            size_t at = i / JN_LANES * JN_TURNS_SIZE + k * JN_LANES + i % JN_LANES;
            memcpy(&q, bytes + at * sizeof(q), sizeof(q));
            square += q * q;
        }
        sane = sane && fabsf(square - 1.0f) <= (float)UNIT_TOLERANCE;
    }
    return sane;
}

bool jnMorphs_IsSane(const jnMorphs* m, const jnSpringsClock* clock, const char* moving)
{
    size_t places = JN_HISTORY * 3 * sizeof(double), f = sizeof(float), lanes = (size_t)m->lanes;
    size_t rows = (size_t)jnBlockCount(m->asset->jointCount) * JN_ROWS_SIZE;
    if (clock->sampleCount == 0) { // nothing has come yet, and the first sample clears what is there
        return jnClock_IsSane(clock) && jnAreWithin(moving, m->movingSize / f, LARGEST_NUMBER);
    }
    double origins[JN_HISTORY * 3];
    memcpy(origins, moving, sizeof(origins));
    bool sane = jnClock_IsSane(clock) && Within(origins, JN_HISTORY * 3, (double)JN_LARGEST_STATE);
    sane = sane && jnAreWithin(moving + places, (m->movingSize - places) / f, LARGEST_NUMBER);
    for (int i = 0; sane && i < JN_HISTORY; ++i) {
        sane = jnAreWithin(moving + ((char*)m->rows[i] - m->moving), rows, JN_LARGEST_STATE) &&
               AreTurns(moving + ((char*)m->turns[i] - m->moving), (size_t)jnBlockCount(m->turnedCount));
    }
    return sane && jnAreWithin(moving + ((char*)m->now - m->moving), 2 * lanes, JN_LARGEST_SAVED_SAMPLE) &&
           jnAreWithin(moving + ((char*)m->before - m->moving), 2 * lanes, JN_LARGEST_SAVED_SAMPLE);
}
