// What the clips say about a character's joints: means, limits, and which joints move together.
//
// A limb is a run of joints that a person moves as one: an arm, a leg, the trunk, the neck. A new one begins below the
// root chain and below a joint with several children, where at least two joints that move hang on it: fingers belong
// to their arm. Limbs matter because within one the joints depend on each other, and two limbs hardly do.
#include "flesh/poses_internal.h"

#include "base/affine.h"
#include "base/arena.h"

#include "runtime/for_author.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

// A joint whose coordinates stay within this range does not move: a quarter of a degree.
#define STILL (0.25 * 0.0174532925199432958 / 4)
// Smallest part of a joint in the distance of poses, as a share of the skin: no joint that moves is without meaning.
#define LEAST_WEIGHT 0.002

void jnaPose_ToCoordinates(const float* rotation, const double* mean, double* coordinates)
{
    double q[4], back[4];
    for (int i = 0; i < 4; ++i) {
        q[i] = (double)rotation[i];
    }
    jnaQuat_Normalize(q);
    jnaQuat_Conjugate(mean, back);
    jnaQuat_Multiply(back, q, q);
    double sign = q[3] < 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i) {
        coordinates[i] = sign * q[i] / (1 + sign * q[3]);
    }
}

void jnaPose_FromCoordinates(const double* p, const double* mean, float* rotation)
{
    double square = jnaDot(p, p), q[4];
    for (int i = 0; i < 3; ++i) {
        q[i] = 2 * p[i] / (1 + square);
    }
    q[3] = (1 - square) / (1 + square);
    jnaQuat_Multiply(mean, q, q);
    jnaQuat_Normalize(q);
    for (int i = 0; i < 4; ++i) {
        rotation[i] = (float)q[i];
    }
}

double jnaPoseDistance(const double* a, const double* b, const double* weights, int jointCount)
{
    double sum = 0;
    for (int j = 0; j < jointCount; ++j) {
        double x = a[3 * j] - b[3 * j], y = a[3 * j + 1] - b[3 * j + 1], z = a[3 * j + 2] - b[3 * j + 2];
        sum += weights[j] * (x * x + y * y + z * z);
    }
    return 16 * sum;
}

void jnaDestroyJointLimits(jnaJointLimits* limits)
{
    jnaReleaseArena(&limits->memory);
    *limits = (jnaJointLimits){0};
}

// Mean of a joint's quaternions over all frames, each taken on the side of the first; the rest pose where there are
// none.
static void MeanRotation(const jnaCharacter* c, int clipCount, const jnaClip* clips, int joint, double mean[4])
{
    double sum[4] = {0, 0, 0, 0}, first[4] = {0, 0, 0, 0};
    bool any = false;
    for (int i = 0; i < clipCount; ++i) {
        for (int f = 0; f < clips[i].frameCount; ++f) {
            const float* q = clips[i].rotations + 4 * ((size_t)f * (size_t)c->jointCount + (size_t)joint);
            double dot = 0;
            for (int k = 0; k < 4; ++k) {
                first[k] = any ? first[k] : (double)q[k];
                dot += first[k] * (double)q[k];
            }
            any = true;
            for (int k = 0; k < 4; ++k) {
                sum[k] += (dot < 0 ? -1 : 1) * (double)q[k];
            }
        }
    }
    for (int k = 0; k < 4; ++k) {
        mean[k] = any ? sum[k] : (double)c->joints[joint].rotation[k];
    }
    jnaQuat_Normalize(mean);
}

void jnaMeanPose(const jnaCharacter* c, int clipCount, const jnaClip* clips, float* rotations)
{
    for (int j = 0; j < c->jointCount; ++j) {
        double mean[4];
        MeanRotation(c, clipCount, clips, j, mean);
        for (int k = 0; k < 4; ++k) {
            rotations[4 * (size_t)j + (size_t)k] = (float)mean[k];
        }
    }
    for (int j = jnaRootChain(c, NULL); j >= 0; j = c->joints[j].parent) {
        memcpy(rotations + 4 * (size_t)j, c->joints[j].rotation, sizeof(c->joints[j].rotation));
    }
}

static void FindRanges(const jnaPoseDef* def, jnaJointLimits* limits)
{
    int joints = limits->jointCount;
    for (int i = 0; i < 3 * joints; ++i) {
        limits->low[i] = DBL_MAX;
        limits->high[i] = -DBL_MAX;
    }
    for (int c = 0; c < def->clipCount; ++c) {
        for (int f = 0; f < def->clips[c].frameCount; ++f) {
            for (int j = 0; j < joints; ++j) {
                double p[3];
                const float* q = def->clips[c].rotations + 4 * ((size_t)f * (size_t)joints + (size_t)j);
                jnaPose_ToCoordinates(q, limits->mean + 4 * j, p);
                for (int i = 0; i < 3; ++i) {
                    limits->low[3 * j + i] = fmin(limits->low[3 * j + i], p[i]);
                    limits->high[3 * j + i] = fmax(limits->high[3 * j + i], p[i]);
                }
            }
        }
    }
    for (int i = 0; i < 3 * joints; ++i) {
        if (limits->low[i] > limits->high[i]) {
            limits->low[i] = limits->high[i] = 0;
        }
    }
}

static bool Moves(const jnaJointLimits* limits, int j)
{
    double most = 0;
    for (int i = 0; i < 3; ++i) {
        most = fmax(most, limits->high[3 * j + i] - limits->low[3 * j + i]);
    }
    return most > STILL;
}

// Joints that move in the subtree of a joint, itself included.
static int CountMoving(const jnaCharacter* c, const jnaJointLimits* limits, int joint)
{
    int count = 0;
    for (int j = joint; j < c->jointCount; ++j) {
        int up = j;
        while (up > joint) {
            up = c->joints[up].parent;
        }
        count += up == joint && Moves(limits, j);
    }
    return count;
}

static void FindLimbs(const jnaCharacter* c, const bool* inChain, jnaJointLimits* limits)
{
    for (int j = 0; j < c->jointCount; ++j) {
        int parent = c->joints[j].parent, branches = 0;
        for (int k = j; parent >= 0 && k > parent; --k) {
            branches += c->joints[k].parent == parent;
        }
        for (int k = j + 1; parent >= 0 && k < c->jointCount; ++k) {
            branches += c->joints[k].parent == parent;
        }
        if (inChain[j]) {
            limits->limbs[j] = -1;
        } else if (parent < 0 || inChain[parent] || (branches > 1 && CountMoving(c, limits, j) > 1)) {
            limits->limbs[j] = limits->limbCount++;
        } else {
            limits->limbs[j] = limits->limbs[parent];
        }
    }
}

static void FindWeights(const jnaCharacter* c, const bool* inChain, jnaJointLimits* limits)
{
    double sum = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        const jnaInfluences* in = &c->influences[v];
        for (int k = 0; k < JNA_MAX_INFLUENCES && in->weights[k] > 0; ++k) {
            limits->weights[in->joints[k]] += (double)in->weights[k];
            sum += (double)in->weights[k];
        }
    }
    for (int j = 0; j < c->jointCount; ++j) {
        double share = sum > 0 ? limits->weights[j] / sum : 0;
        limits->weights[j] = inChain[j] || !Moves(limits, j) ? 0 : fmax(share, LEAST_WEIGHT);
    }
}

jnResult jnaCreateJointLimits(const jnaPoseDef* def, jnaJointLimits* limits, jnError* error)
{
    int joints = def->character->jointCount;
    *limits = (jnaJointLimits){.jointCount = joints};
    jnaArena* memory = &limits->memory;
    limits->mean = jnaArena_Take(memory, joints, 4 * sizeof(double));
    limits->low = jnaArena_Take(memory, joints, 3 * sizeof(double));
    limits->high = jnaArena_Take(memory, joints, 3 * sizeof(double));
    limits->weights = jnaArena_Take(memory, joints, sizeof(double));
    limits->limbs = jnaArena_Take(memory, joints, sizeof(int32_t));
    bool* inChain = jnaArena_Take(memory, joints, sizeof(bool));
    jnResult result = jnaArena_Check(memory, "the limits of joints", error);
    if (result != jn_ok) {
        jnaDestroyJointLimits(limits);
        return result;
    }
    jnaRootChain(def->character, inChain);
    for (int j = 0; j < limits->jointCount; ++j) {
        MeanRotation(def->character, def->clipCount, def->clips, j, limits->mean + 4 * j);
    }
    FindRanges(def, limits);
    FindLimbs(def->character, inChain, limits);
    FindWeights(def->character, inChain, limits);
    return jn_ok;
}

void jnaDestroyPosePool(jnaPosePool* pool)
{
    jnaReleaseArena(&pool->memory);
    *pool = (jnaPosePool){0};
}

// Runs are counted over all clips one after another, so that clips of a few frames are held back as often as long ones.
static bool InPool(const jnaPoseDef* def, size_t frame, jnaPoolKind kind)
{
    bool held = def->heldOut > 0 && frame / JNA_HELD_RUN % JNA_HELD_EVERY == JNA_HELD_EVERY - 1;
    return held == (kind == jna_poolHeld);
}

jnResult jnaCreatePosePool(
    const jnaPoseDef* def, const jnaJointLimits* limits, jnaPoolKind kind, jnaPosePool* pool, jnError* error)
{
    size_t joints = (size_t)limits->jointCount, total = 0, at = 0, all = 0, frame = 0;
    for (int c = 0; c < def->clipCount; ++c) {
        all += (size_t)def->clips[c].frameCount;
    }
    for (size_t f = 0; f < all; ++f) {
        total += InPool(def, f, kind);
    }
    *pool = (jnaPosePool){.frameCount = (int)total, .jointCount = (int)joints};
    pool->coordinates = jnaArena_Take(&pool->memory, (int64_t)(total * joints), 3 * sizeof(double));
    pool->clips = jnaArena_Take(&pool->memory, (int64_t)total, sizeof(int32_t));
    pool->frames = jnaArena_Take(&pool->memory, (int64_t)total, sizeof(int32_t));
    jnResult result = jnaArena_Check(&pool->memory, "the frames of clips", error);
    if (result != jn_ok) {
        jnaDestroyPosePool(pool);
        return result;
    }
    for (int c = 0; c < def->clipCount; ++c) {
        for (int f = 0; f < def->clips[c].frameCount; ++f) {
            if (!InPool(def, frame++, kind)) {
                continue;
            }
            pool->clips[at] = c;
            pool->frames[at] = f;
            for (size_t j = 0; j < joints; ++j) {
                jnaPose_ToCoordinates(def->clips[c].rotations + 4 * ((size_t)f * joints + j), limits->mean + 4 * j,
                    pool->coordinates + 3 * (at * joints + j));
            }
            at++;
        }
    }
    return jn_ok;
}

int jnaSpreadPoses(const jnaPosePool* pool, const double* weights, const double* start, int most, int32_t* picks)
{
    int frames = pool->frameCount, joints = pool->jointCount, count = 0;
    double* nearest = malloc(((size_t)frames + 1) * sizeof(double));
    if (nearest == NULL) {
        return -1;
    }
    for (int f = 0; f < frames; ++f) {
        nearest[f] = DBL_MAX;
    }
    const double* last = start;
    while (count < most) {
        int best = -1;
        double farthest = 0;
        for (int f = 0; f < frames; ++f) {
            double d = jnaPoseDistance(pool->coordinates + 3 * (size_t)f * (size_t)joints, last, weights, joints);
            nearest[f] = d < nearest[f] ? d : nearest[f];
            if (nearest[f] > farthest) {
                farthest = nearest[f];
                best = f;
            }
        }
        // The rest pose itself and copies of frames that were picked are 0 away and never picked.
        if (best < 0) {
            break;
        }
        picks[count++] = best;
        last = pool->coordinates + 3 * (size_t)best * (size_t)joints;
    }
    free(nearest);
    return count;
}
