// Whether a pose is one that a body can take: limbs as capsules that may press into each other, but not pass through.
//
// How deep two capsules are in each other is 1 - d / (r + s), with d the distance of their axes and r, s their radii: 0
// where they touch, 1 where the axes meet. Flesh gives way to about half of that; a pair that is deeper at rest
// already, as thighs may be, is given a little more than it has there.
//
// Limits: the trunk is as thin as it is deep, and a limb does not meet its own parts: what the ranges of its joints
// allow.
#include "flesh/poses_internal.h"

#include "base/affine.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// A pose is impossible from here on.
#define DEEPEST 0.5
#define MORE_THAN_AT_REST 0.2

static void SetCapsule(
    jnaPoseRanges* r, int group, int first, const double* a, int second, const double* b, double radius)
{
    jnaCapsule* capsule = &r->capsules[r->capsuleCount++];
    *capsule = (jnaCapsule){.group = group, .joints = {first, second}, .radius = radius};
    memcpy(capsule->ends[0], a, sizeof(capsule->ends[0]));
    memcpy(capsule->ends[1], b, sizeof(capsule->ends[1]));
}

static void AddLimb(jnaPoseRanges* r, const jnaLimb* l, int group)
{
    double middle[3], tip[3];
    for (int i = 0; i < 3; ++i) {
        middle[i] = 0.5 * (l->rootAt[i] + l->hingeAt[i]);
        tip[i] = l->hind ? l->endAt[i] + 0.4 * l->front[i] * jnaDistance(l->endAt, l->hingeAt)
                         : l->endAt[i] + 0.5 * (l->endAt[i] - l->hingeAt[i]);
    }
    SetCapsule(r, group, l->root, middle, l->root, l->hingeAt, 0.5 * (l->rootRadius + l->hingeRadius));
    SetCapsule(r, group, l->hinge, l->hingeAt, l->end, l->endAt, 0.5 * (l->hingeRadius + l->endRadius));
    SetCapsule(r, group, l->end, l->endAt, l->end, tip, l->endRadius);
}

// Where joints take the points of the rest pose. matrices: [jointCount].
static void FindMatrices(const jnaPoseRanges* r, const float* rotations, jnaAffine* matrices)
{
    for (int j = 0; j < r->character->jointCount; ++j) {
        const jnaJoint* joint = &r->character->joints[j];
        double t[3], q[4], s[3];
        for (int i = 0; i < 4; ++i) {
            q[i] = rotations != NULL ? (double)rotations[4 * j + i] : (double)joint->rotation[i];
        }
        for (int i = 0; i < 3; ++i) {
            t[i] = (double)joint->translation[i];
            s[i] = (double)joint->scale[i];
        }
        jnaQuat_Normalize(q);
        matrices[j] = jnaAffine_FromTrs(t, q, s);
        if (joint->parent >= 0) {
            matrices[j] = jnaAffine_Multiply(&matrices[joint->parent], &matrices[j]);
        }
    }
}

static double Within(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

// Distance of two segments.
static double SegmentDistance(const double* a, const double* b, const double* c, const double* d)
{
    double u[3], v[3], w[3], gap[3];
    jnaSubtract(b, a, u);
    jnaSubtract(d, c, v);
    jnaSubtract(a, c, w);
    double uu = jnaDot(u, u), vv = jnaDot(v, v), uv = jnaDot(u, v), uw = jnaDot(u, w), vw = jnaDot(v, w);
    double cross = uu * vv - uv * uv;
    double s = cross > 1e-12 * uu * vv ? Within((uv * vw - uw * vv) / cross) : 0;
    double t = vv > 0 ? Within((uv * s + vw) / vv) : 0;
    s = uu > 0 ? Within((uv * t - uw) / uu) : 0;
    for (int i = 0; i < 3; ++i) {
        gap[i] = w[i] + s * u[i] - t * v[i];
    }
    return jnaLength(gap);
}

// Whether two capsules can meet in a pose of a body: not two of one limb, nor the trunk and what is rooted in it.
static bool CanMeet(const jnaPoseRanges* r, int i, int k)
{
    const jnaCapsule *a = &r->capsules[i], *b = &r->capsules[k];
    bool rooted = (a->group < 2 && b->group < 2) ||
                  (a->group == 0 && (k - 2) % 3 == 0); // trunk and head; the trunk and the upper part of a limb
    return a->group != b->group && !rooted;
}

static double DepthOf(const jnaPoseRanges* r, double (*ends)[2][3], int i, int k)
{
    double sum = r->capsules[i].radius + r->capsules[k].radius;
    double d = SegmentDistance(ends[i][0], ends[i][1], ends[k][0], ends[k][1]);
    return sum > 0 ? 1 - d / sum : 0;
}

// The capsules' ends in a pose.
static void MoveCapsules(const jnaPoseRanges* r, const float* rotations, jnaAffine* matrices, double (*ends)[2][3])
{
    FindMatrices(r, rotations, matrices);
    for (int i = 0; i < r->capsuleCount; ++i) {
        for (int e = 0; e < 2; ++e) {
            jnaAffine_Apply(&matrices[r->capsules[i].joints[e]], r->capsules[i].local[e], ends[i][e]);
        }
    }
}

double jnaPoseRanges_Overlap(const jnaPoseRanges* r, const float* rotations)
{
    double ends[JNA_CAPSULES][2][3], most = 0;
    MoveCapsules(r, rotations, r->matrices, ends);
    for (int i = 0; i < r->capsuleCount; ++i) {
        for (int k = i + 1; k < r->capsuleCount; ++k) {
            double allowed = fmax(DEEPEST, r->atRest[i][k] + MORE_THAN_AT_REST);
            double depth = CanMeet(r, i, k) ? DepthOf(r, ends, i, k) / allowed : 0;
            most = depth > most ? depth : most;
        }
    }
    return most;
}

jnResult jnaPoseRanges_FindCapsules(jnaPoseRanges* r, const jnaAnatomy* a, jnError* error)
{
    double crown[3], ends[JNA_CAPSULES][2][3];
    const jnaCharacter* c = r->character;
    r->matrices = jnaArena_Take(&r->memory, c->jointCount, sizeof(jnaAffine));
    JN_PASS(jnaArena_Check(&r->memory, "the shape of a body", error));
    FindMatrices(r, NULL, r->matrices);
    double radius = a->ribs[0][1] > 0 ? a->ribs[0][1] : 0.2 * a->length;
    SetCapsule(r, 0, a->pelvis, a->hips, a->chest, a->shoulders, radius);
    int head = a->head >= 0 ? a->head : a->chest;
    const jnaAffine* at = &r->matrices[head];
    const double zero[3] = {0};
    double neck[3];
    jnaAffine_Apply(at, zero, neck);
    for (int i = 0; i < 3; ++i) {
        crown[i] = neck[i] + 0.08 * a->size * a->up[i];
    }
    SetCapsule(r, 1, head, neck, head, crown, a->head >= 0 ? 0.04 * a->size : 0);
    for (int slot = 0; slot < 4; ++slot) {
        for (int i = 0; i < a->limbCount; ++i) {
            if (a->limbs[i].root == r->limbs[slot].root) {
                AddLimb(r, &a->limbs[i], 2 + slot);
                break;
            }
        }
    }
    for (int i = 0; i < r->capsuleCount; ++i) {
        for (int e = 0; e < 2; ++e) {
            jnaAffine back;
            if (!jnaAffine_Invert(&r->matrices[r->capsules[i].joints[e]], &back)) {
                r->known = false;
                return jn_ok;
            }
            jnaAffine_Apply(&back, r->capsules[i].ends[e], r->capsules[i].local[e]);
            memcpy(ends[i][e], r->capsules[i].ends[e], sizeof(ends[i][e]));
        }
    }
    for (int i = 0; i < r->capsuleCount; ++i) {
        for (int k = i + 1; k < r->capsuleCount; ++k) {
            r->atRest[i][k] = DepthOf(r, ends, i, k);
        }
    }
    return jn_ok;
}
