// Poses in which a human's flesh meets itself, by the names of its joints. Shared by the benchmark and the tests of the
// self-contact.
#pragma once

#include "character/character.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Turns of one joint: its bone, from it to its first child, is turned towards a direction in the world.
typedef struct jnbTurn {
    const char* joint;
    double towards[3];
    double degrees;
    bool flex; // so many degrees from straight on after the parent's bone, instead of from rest
} jnbTurn;

enum { JNB_MAX_TURNS = 4 };

typedef struct jnbBend {
    const char* name;
    jnbTurn turns[JNB_MAX_TURNS];
} jnbBend;

static const jnbBend jnbBends[] = {
    {"elbow 140", {{"LeftForeArm", {0, 0, 1}, 140, true}}},
    {"knee 140", {{"LeftLeg", {0, 0, -1}, 140, true}}},
    {"arm to trunk", {{"LeftArm", {-1, -0.5, 0}, 60, false}}},
    {"thighs crossed", {{"LeftUpLeg", {-1, 0, 0.3}, 25, false}, {"RightUpLeg", {1, 0, -0.3}, 10, false}}},
    {"all four", {{"LeftForeArm", {0, 0, 1}, 140, true}, {"LeftLeg", {0, 0, -1}, 140, true},
                     {"RightArm", {1, -0.5, 0}, 60, false}, {"RightUpLeg", {1, 0, -0.3}, 30, false}}},
};
enum { JNB_BENDS = sizeof(jnbBends) / sizeof(jnbBends[0]) };

static inline int jnbFindJoint(const jnaCharacter* c, const char* name)
{
    for (int j = 0; j < c->jointCount; ++j) {
        if (strcmp(c->joints[j].name, name) == 0) {
            return j;
        }
    }
    return -1;
}

static inline void jnbCross(const double* a, const double* b, double* out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// Product of quaternions x, y, z, w.
static inline void jnbMultiply(const double* a, const double* b, double* out)
{
    double v[3];
    jnbCross(a, b, v);
    for (int i = 0; i < 3; ++i) {
        out[i] = a[3] * b[i] + b[3] * a[i] + v[i];
    }
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

// Turns a joint of a frame that is at rest. False where the character has no such joint, or it no child.
static inline bool jnbApplyTurn(const jnaCharacter* c, const jnbTurn* turn, double share, jnaClip* clip, int frame)
{
    int joint = jnbFindJoint(c, turn->joint), child = joint + 1;
    while (joint >= 0 && child < c->jointCount && c->joints[child].parent != joint) {
        ++child;
    }
    float* matrices = joint < 0 || child >= c->jointCount ? NULL : malloc(sizeof(float) * 12 * (size_t)c->jointCount);
    if (matrices == NULL) {
        return false;
    }
    jnaPoseMatrices(c, NULL, 0, matrices);
    double bone[3], axis[3], local[4] = {0};
    for (int i = 0; i < 3; ++i) {
        bone[i] = (double)matrices[12 * child + 4 * i + 3] - (double)matrices[12 * joint + 4 * i + 3];
    }
    jnbCross(bone, turn->towards, axis);
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double degrees = turn->degrees;
    int above = c->joints[joint].parent;
    if (turn->flex && above >= 0) {
        // What the rest pose is bent by already.
        double upper[3], dot = 0, squares[2] = {0};
        for (int i = 0; i < 3; ++i) {
            upper[i] = (double)matrices[12 * joint + 4 * i + 3] - (double)matrices[12 * above + 4 * i + 3];
            dot += upper[i] * bone[i];
            squares[0] += upper[i] * upper[i];
            squares[1] += bone[i] * bone[i];
        }
        degrees -= acos(dot / sqrt(squares[0] * squares[1])) * 180 / 3.14159265358979323846;
    }
    double half = degrees * share * 3.14159265358979323846 / 360;
    int parent = c->joints[joint].parent;
    for (int i = 0; i < 3; ++i) {
        // The axis in the parent's frame: its matrix transposed.
        for (int k = 0; k < 3; ++k) {
            double m = parent >= 0 ? (double)matrices[12 * parent + 4 * k + i] : i == k;
            local[i] += m * axis[k] / length * sin(half);
        }
    }
    local[3] = cos(half);
    free(matrices);
    double rest[4], turned[4];
    float* q = clip->rotations + 4 * ((size_t)frame * (size_t)c->jointCount + (size_t)joint);
    for (int i = 0; i < 4; ++i) {
        rest[i] = (double)q[i];
    }
    jnbMultiply(local, rest, turned);
    for (int i = 0; i < 4; ++i) {
        q[i] = (float)turned[i];
    }
    return true;
}

/// A clip with one frame per bend, each with the given share of its angles. A character without the joints stays at
/// rest there.
static inline jnResult jnbCreateBends(const jnaCharacter* c, double share, jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){.name = "bends", .rate = 30, .frameCount = JNB_BENDS, .jointCount = c->jointCount};
    jnResult result = jnaClip_Allocate(clip, true, error);
    if (result != jn_ok) {
        return result;
    }
    for (int frame = 0; frame < JNB_BENDS; ++frame) {
        for (int j = 0; j < c->jointCount; ++j) {
            size_t at = (size_t)frame * (size_t)c->jointCount + (size_t)j;
            memcpy(clip->rotations + 4 * at, c->joints[j].rotation, sizeof(c->joints[j].rotation));
            memcpy(clip->translations + 3 * at, c->joints[j].translation, sizeof(c->joints[j].translation));
            memcpy(clip->scales + 3 * at, c->joints[j].scale, sizeof(c->joints[j].scale));
        }
        for (int t = 0; t < JNB_MAX_TURNS && jnbBends[frame].turns[t].joint != NULL; ++t) {
            jnbApplyTurn(c, &jnbBends[frame].turns[t], share, clip, frame);
        }
    }
    return jn_ok;
}
