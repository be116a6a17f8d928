// Poses on the way: from rest to a pose, between two frames, and how the nodes are carried along.
#include "flesh/flesh_internal.h"

#include "base/affine.h"
#include "volume/posing.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// From one rotation to another, the short way round.
static void TurnBetween(const float* a, const float* b, double turn[4])
{
    double from[4], to[4], back[4];
    for (int i = 0; i < 4; ++i) {
        from[i] = (double)a[i];
        to[i] = (double)b[i];
    }
    jnaQuat_Normalize(from);
    jnaQuat_Normalize(to);
    jnaQuat_Conjugate(from, back);
    jnaQuat_Multiply(back, to, turn);
    double sign = turn[3] < 0 ? -1 : 1;
    for (int i = 0; i < 4; ++i) {
        turn[i] *= sign;
    }
}

// Rotation vector of a turn.
static void Logarithm(const double turn[4], double vector[3])
{
    double sine = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    double angle = 2 * atan2(sine, turn[3]);
    double scale = sine > 1e-12 ? angle / sine : 2;
    for (int i = 0; i < 3; ++i) {
        vector[i] = scale * turn[i];
    }
}

// result = start times the turn of a rotation vector.
static void TurnBy(const float* start, const double vector[3], float* result)
{
    double angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    double scale = angle > 1e-12 ? sin(0.5 * angle) / angle : 0.5;
    double t[4] = {scale * vector[0], scale * vector[1], scale * vector[2], cos(0.5 * angle)};
    double s[4] = {(double)start[0], (double)start[1], (double)start[2], (double)start[3]}, q[4];
    jnaQuat_Multiply(s, t, q);
    jnaQuat_Normalize(q);
    for (int i = 0; i < 4; ++i) {
        result[i] = (float)q[i];
    }
}

double jnaPoseAngle(const jnaCharacter* character, const jnaClip* clip, int frame)
{
    double greatest = 0;
    for (int j = 0; j < character->jointCount; ++j) {
        double turn[4], vector[3];
        if (character->joints[j].parent < 0) {
            continue; // turns everything alike
        }
        size_t entry = (size_t)frame * (size_t)character->jointCount + (size_t)j;
        TurnBetween(character->joints[j].rotation, clip->rotations + 4 * entry, turn);
        Logarithm(turn, vector);
        greatest = fmax(greatest, sqrt(jnaDot(vector, vector)));
    }
    return greatest;
}

void jnaPoseOnPath(jnaFleshSolver* solver, const jnaClip* clip, int frame, double share)
{
    const jnaCharacter* character = solver->flesh->def.character;
    jnaClip* pose = &solver->pose;
    for (int j = 0; j < character->jointCount; ++j) {
        const jnaJoint* joint = &character->joints[j];
        size_t entry = (size_t)frame * (size_t)character->jointCount + (size_t)j, at = (size_t)j;
        double turn[4], vector[3];
        TurnBetween(joint->rotation, clip->rotations + 4 * entry, turn);
        Logarithm(turn, vector);
        for (int k = 0; k < 3; ++k) {
            vector[k] *= share;
            double from = (double)joint->translation[k], to = (double)clip->translations[3 * entry + (size_t)k];
            pose->translations[3 * at + (size_t)k] = (float)(from + share * (to - from));
            from = (double)joint->scale[k];
            to = clip->scales != NULL ? (double)clip->scales[3 * entry + (size_t)k] : from;
            pose->scales[3 * at + (size_t)k] = (float)(from + share * (to - from));
        }
        TurnBy(joint->rotation, vector, pose->rotations + 4 * at);
        if (share == 1) { // not a rounding beside it
            memcpy(pose->rotations + 4 * at, clip->rotations + 4 * entry, 4 * sizeof(float));
        }
    }
    jnaPoseTransforms(character, pose, 0, solver->transforms);
    jnaBallTransforms(character, solver->transforms);
}

int jnaClip_Neighbour(const jnaClip* clip, int frame)
{
    if (clip->looping) {
        return ((frame % clip->frameCount) + clip->frameCount) % clip->frameCount;
    }
    return frame < 0 ? 0 : frame < clip->frameCount ? frame : clip->frameCount - 1;
}

jnResult jnaCheckPose(const jnaClip* clip, int frame, jnError* error)
{
    size_t first = (size_t)frame * (size_t)clip->jointCount, count = (size_t)clip->jointCount;
    float sum = 0;
    for (size_t i = 4 * first; i < 4 * (first + count); ++i) {
        sum += 0 * clip->rotations[i];
    }
    for (size_t i = 3 * first; i < 3 * (first + count); ++i) {
        sum += 0 * clip->translations[i] + (clip->scales != NULL ? 0 * clip->scales[i] : 0);
    }
    if (sum != 0) { // 0 times infinity or NaN
        return jnFail(error, jn_badData, "frame %d of clip %s holds a number that is not finite", frame, clip->name);
    }
    return jn_ok;
}

jnResult jnaCheckPosesAround(const jnaClip* clip, int frame, jnError* error)
{
    jnResult result = jn_ok;
    for (int i = -2; result == jn_ok && i < 3; ++i) { // the substep before the frame is read as well
        result = jnaCheckPose(clip, jnaClip_Neighbour(clip, frame + i), error);
    }
    return result;
}

// Whether a clip has a frame: one that loops has them all.
static bool HasFrame(const jnaClip* clip, int frame)
{
    return clip->looping || (frame >= 0 && frame < clip->frameCount);
}

// On the curve that clips are played on, too (runtime/clip_curve.c). Beyond its ends a clip goes on as fast as it was:
// what begins in a run was running before.
void jnaPoseBetween(jnaFleshSolver* solver, const jnaClip* clip, int frame, double share)
{
    const jnaCharacter* character = solver->flesh->def.character;
    jnaClip* pose = &solver->pose;
    double w[4];
    if (!HasFrame(clip, frame) && frame < 0) {
        share += frame;
        frame = 0;
    }
    jnWeighFrames(share, HasFrame(clip, frame - 1), HasFrame(clip, frame + 2), w);
    for (int j = 0; j < character->jointCount; ++j) {
        size_t at = (size_t)j, entries[4];
        const float* rotations[4];
        for (int i = 0; i < 4; ++i) {
            int neighbour = jnaClip_Neighbour(clip, frame - 1 + i);
            entries[i] = (size_t)neighbour * (size_t)character->jointCount + at;
            rotations[i] = clip->rotations + 4 * entries[i];
        }
        jnMixRotations(rotations, w, pose->rotations + 4 * at);
        for (size_t k = 0; k < 3; ++k) {
            double move = 0, scale = 0;
            for (int i = 0; i < 4; ++i) {
                move += w[i] * (double)clip->translations[3 * entries[i] + k];
                scale += w[i] * (clip->scales != NULL ? (double)clip->scales[3 * entries[i] + k]
                                                      : (double)character->joints[j].scale[k]);
            }
            pose->translations[3 * at + k] = (float)move;
            pose->scales[3 * at + k] = (float)scale;
        }
    }
    jnaPoseTransforms(character, pose, 0, solver->transforms);
    jnaBallTransforms(character, solver->transforms);
}

static void Apply(const double* m, const double* p, double* result)
{
    for (int k = 0; k < 3; ++k) {
        result[k] = m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2] + m[4 * k + 3];
    }
}

void jnaPlaceHeldNodes(const jnaFleshSolver* solver, double* x)
{
    const jnaFlesh* flesh = solver->flesh;
    for (int p = flesh->freeCount; p < flesh->nodeCount; ++p) {
        jnaVolume_HeldPosition(flesh->def.volume, solver->transforms, flesh->order[p], x + 4 * (size_t)p);
    }
}

// A motion may not fit a body: a heavy one bends down on thighs that were slimmer, or an arm hangs where there is a
// belly. Flesh between such bones has no room to go, and contact tears it. Real bones would not get there. How deep
// skinning drives flesh into flesh, and how much of it, tells such poses: from about 4 % of the body's size and 1.5
// litres of a person on bones give way, by as much as the flesh asks for, smoothly with both. In all other poses they
// bear more than anything pulls. Depth alone would not do: a bent elbow is as deep, and has a third of a litre.
#define BEARS_LEAST 5e-4      // metres, at and beyond the depth and the volume below
#define GIVES_WAY 0.046       // depth, as a share of the body's largest side
#define GIVES_WAY_OVER 0.0038 // by this share less, e times as much
#define FULL 3e-4             // volume, as a share of that side's cube
#define FULL_OVER 4e-5

double jnaBonesBear(const jnaFlesh* flesh, const jnaPenetration* skinned)
{
    if (flesh->contactShape == NULL) {
        return HUGE_VAL;
    }
    double size = jnaContactShape_Size(flesh->contactShape);
    double deep = skinned->depth / size, full = skinned->volume / (size * size * size);
    return BEARS_LEAST * exp(fmax(fmax((GIVES_WAY - deep) / GIVES_WAY_OVER, (FULL - full) / FULL_OVER), 0));
}

// Below 2 mm bones move visibly. Flesh then has several places to rest at, and in motion it is in another than the
// equilibrium: up to 180 mm away in a crouch.
#define BEARS_LITTLE 2e-3

bool jnaIsWithoutRoom(const jnaFlesh* flesh, const jnaPenetration* skinned)
{
    return jnaBonesBear(flesh, skinned) < BEARS_LITTLE;
}

void jnaPlaceBones(jnaFleshSolver* solver)
{
    const jnaFlesh* flesh = solver->flesh;
    for (int p = 0; p < flesh->freeCount; ++p) {
        if (flesh->springs[p] > 0) {
            jnaVolume_HeldPosition(
                flesh->def.volume, solver->transforms, flesh->order[p], solver->boneTargets + 4 * (size_t)p);
        }
    }
}

void jnaCarryNodes(jnaFleshSolver* solver)
{
    const jnaFlesh* flesh = solver->flesh;
    const jnaVolume* v = flesh->def.volume;
    for (int j = 0; j < v->jointCount; ++j) {
        jnaAffine now, before, back;
        memcpy(now.m, solver->transforms + 12 * (size_t)j, sizeof(now.m));
        memcpy(before.m, solver->oldTransforms + 12 * (size_t)j, sizeof(before.m));
        if (jnaAffine_Invert(&before, &back)) { // a joint scaled to nothing leaves the flesh where skinning puts it
            now = jnaAffine_Multiply(&now, &back);
        }
        memcpy(solver->relative + 12 * (size_t)j, now.m, sizeof(now.m));
    }
    for (int p = 0; p < flesh->freeCount; ++p) {
        int n = flesh->order[p];
        double *x = solver->x + 4 * (size_t)p, moved[3] = {0}, sum = 0;
        for (int32_t i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            double point[3], w = (double)v->weights[i];
            Apply(solver->relative + 12 * (size_t)v->joints[i], x, point);
            sum += w;
            for (int k = 0; k < 3; ++k) {
                moved[k] += w * point[k];
            }
        }
        for (int k = 0; k < 3; ++k) {
            x[k] = moved[k] / sum;
        }
    }
    jnaPlaceHeldNodes(solver, solver->x);
}
