// Axes and units of an engine. See jounce/match.h. With P a permutation of axes with signs and u the unit, a point of
// the engine is u P x, a rotation P R P^-1, a matrix's place u P t. Of a quaternion that is det(P) P v and w.
#include "internal.h"
#include "jounce/match.h"

#include <math.h>

jnResult jnMakeEngineSpace(const char* axes, float unit, jnEngineSpace* space, jnError* error)
{
    JN_NEED(error, axes != NULL && space != NULL);
    bool used[3] = {false, false, false}, good = unit > 0.0f && unit < 1e9f;
    const char* at = axes;
    for (int i = 0; i < 3 && good; ++i) {
        int8_t sign = 1;
        if (*at == '-' || *at == '+') {
            sign = *at == '-' ? -1 : 1;
            ++at;
        }
        int axis = *at == 'x' || *at == 'X' ? 0 : *at == 'y' || *at == 'Y' ? 1 : *at == 'z' || *at == 'Z' ? 2 : -1;
        good = axis >= 0 && !used[axis];
        if (good) {
            used[axis] = true;
            space->axes[i] = (int8_t)axis;
            space->signs[i] = sign;
            ++at;
        }
    }
    if (!good || *at != '\0') {
        return jnFail(error, jn_badArgument,
            "axes '%.16s' with %g units in a metre are no space: x, y and z once each, with or without -, and a "
            "positive "
            "number are",
            axes, (double)unit);
    }
    space->unit = unit;
    return jn_ok;
}

// P x, or P^-1 x.
static void Turn(const jnEngineSpace* s, bool toEngine, const float x[3], float factor, float out[3])
{
    float turned[3] = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < 3; ++i) {
        int axis = s->axes[i];
        float sign = factor * (float)s->signs[i];
        if (toEngine) {
            turned[i] = sign * x[axis];
        } else {
            turned[axis] = sign * x[i];
        }
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = turned[i];
    }
}

// 1 where the engine has the asset's hand, otherwise -1.
static float HandOf(const jnEngineSpace* s)
{
    bool even = (s->axes[0] + 1) % 3 == s->axes[1];
    return (even ? 1.0f : -1.0f) * (float)(s->signs[0] * s->signs[1] * s->signs[2]);
}

static bool IsSpace(const jnEngineSpace* s)
{
    bool used[3] = {false, false, false};
    for (int i = 0; s != NULL && i < 3; ++i) {
        if (s->axes[i] >= 0 && s->axes[i] < 3) {
            used[s->axes[i]] = true;
        }
    }
    return used[0] && used[1] && used[2];
}

static bool IsCall(const jnEngineSpace* s, const float* from, int count, const float* to)
{
    return IsSpace(s) && count >= 0 && (count == 0 || (from != NULL && to != NULL));
}

void jnEngineSpace_Points(const jnEngineSpace* s, bool toEngine, const float* from, int count, float* to)
{
    if (JN_BROKEN(IsCall(s, from, count, to))) {
        return;
    }
    for (size_t i = 0; i < (size_t)count; ++i) {
        Turn(s, toEngine, from + 3 * i, toEngine ? s->unit : 1.0f / s->unit, to + 3 * i);
    }
}

void jnEngineSpace_Directions(const jnEngineSpace* s, bool toEngine, const float* from, int count, float* to)
{
    if (JN_BROKEN(IsCall(s, from, count, to))) {
        return;
    }
    for (size_t i = 0; i < (size_t)count; ++i) {
        Turn(s, toEngine, from + 3 * i, 1.0f, to + 3 * i);
    }
}

void jnEngineSpace_Rotations(const jnEngineSpace* s, bool toEngine, const float* from, int count, float* to)
{
    if (JN_BROKEN(IsCall(s, from, count, to))) {
        return;
    }
    float hand = HandOf(s);
    for (size_t i = 0; i < (size_t)count; ++i) {
        float w = from[4 * i + 3];
        Turn(s, toEngine, from + 4 * i, hand, to + 4 * i);
        to[4 * i + 3] = w;
    }
}

void jnEngineSpace_Scales(const jnEngineSpace* s, bool toEngine, const float* from, int count, float* to)
{
    if (JN_BROKEN(IsCall(s, from, count, to))) {
        return;
    }
    jnEngineSpace unsigned_ = *s;
    unsigned_.signs[0] = unsigned_.signs[1] = unsigned_.signs[2] = 1;
    jnEngineSpace_Directions(&unsigned_, toEngine, from, count, to);
}

void jnEngineSpace_Matrices(const jnEngineSpace* s, bool toEngine, const float* from, int count, float* to)
{
    if (JN_BROKEN(IsCall(s, from, count, to))) {
        return;
    }
    float unit = toEngine ? s->unit : 1.0f / s->unit;
    for (size_t i = 0; i < (size_t)count; ++i) {
        const float* m = from + 12 * i;
        float columns[4][3], rows[3][3];
        for (int c = 0; c < 4; ++c) { // P M
            float column[3] = {m[c], m[4 + c], m[8 + c]};
            Turn(s, toEngine, column, c == 3 ? unit : 1.0f, columns[c]);
        }
        for (int r = 0; r < 3; ++r) { // P M P^-1: the same of its rows
            float row[3] = {columns[0][r], columns[1][r], columns[2][r]};
            Turn(s, toEngine, row, 1.0f, rows[r]);
        }
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
                to[12 * i + 4 * (size_t)r + (size_t)c] = rows[r][c];
            }
            to[12 * i + 4 * (size_t)r + 3] = columns[3][r];
        }
    }
}
