// Sampling of training poses.
//
// Random poses of a body are drawn from the ranges of its joints (pose_ranges.c); what is said of limbs below is for
// the joints that are not recognised.
//
// Frames of clips are spread by farthest-point sampling, so that a thousand frames of standing do not drown one of
// bending over. A random pose takes, for every limb on its own, a point on the line between two of that limb's spread
// frames, a little past its ends too, and keeps it within the widened limits of each joint: shoulder, elbow and hand
// go together as a person's do, while arms, legs and trunk meet in ways that no clip has.
//
// The kinds are dealt out one by one to the kind that lags most behind its share, so that a shorter list is the
// beginning of a longer one.
#include "flesh/poses.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "flesh/poses_internal.h"

#include "base/random.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// Frames of a limb that random poses are mixed from.
enum { LIMB_FRAMES = 256 };

enum { RANDOM, TRAIN, HELD, SOURCES };

jnaPoseDef jnaDefaultPoseDef(const jnaCharacter* character)
{
    return (jnaPoseDef){.character = character,
        .count = 5000,
        .random = 0.75,
        .fromClips = 0.25,
        .heldOut = 0.02,
        .widen = 0.1,
        .seed = 1};
}

// Everything that is needed while sampling.
typedef struct Sampler {
    const jnaPoseDef* def;
    jnaJointLimits limits;
    jnaPosePool pools[SOURCES]; // RANDOM has none: it is made from TRAIN
    int32_t* picks[SOURCES];    // spread frames
    int pickCount[SOURCES];
    int32_t* limbFrames; // [limbCount][LIMB_FRAMES], frames of the pool to train on
    int* limbFrameCount; // [limbCount]
    jnaPoseRanges ranges;
    float *tried, *kept; // [jointCount][4], scratch
    jnaArena arena;
} Sampler;

static void DestroySampler(Sampler* s)
{
    jnaDestroyJointLimits(&s->limits);
    jnaDestroyPoseRanges(&s->ranges);
    for (int i = 0; i < SOURCES; ++i) {
        jnaDestroyPosePool(&s->pools[i]);
    }
    jnaReleaseArena(&s->arena);
}

static jnResult SpreadLimbs(Sampler* s, const double* start, double* weights, jnError* error)
{
    int joints = s->limits.jointCount, limbs = s->limits.limbCount;
    s->limbFrames = jnaArena_Take(&s->arena, limbs, LIMB_FRAMES * sizeof(int32_t));
    s->limbFrameCount = jnaArena_Take(&s->arena, limbs, sizeof(int));
    if (s->arena.failed) {
        return jnaArena_Check(&s->arena, "the poses of limbs", error);
    }
    for (int l = 0; l < limbs; ++l) {
        for (int j = 0; j < joints; ++j) {
            weights[j] = s->limits.limbs[j] == l ? s->limits.weights[j] : 0;
        }
        int count = jnaSpreadPoses(&s->pools[TRAIN], weights, start, LIMB_FRAMES, s->limbFrames + l * LIMB_FRAMES);
        if (count < 0) {
            return jnFail(error, jn_outOfMemory, "out of memory for the poses of %d limbs", limbs);
        }
        s->limbFrameCount[l] = count;
    }
    return jn_ok;
}

static jnResult CreateSampler(const jnaPoseDef* def, Sampler* s, jnError* error)
{
    *s = (Sampler){.def = def};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateJointLimits(def, &s->limits, error));
    JN_TRY(jnaCreatePosePool(def, &s->limits, jna_poolTrain, &s->pools[TRAIN], error));
    JN_TRY(jnaCreatePosePool(def, &s->limits, jna_poolHeld, &s->pools[HELD], error));
    JN_TRY(jnaCreatePoseRanges(def->character, def->anatomy, &s->ranges, error));
    if (def->handCount < def->count && !s->ranges.known && s->pools[TRAIN].frameCount == 0) {
        JN_TRY(jnFail(error, jn_badData,
            "there is no training clip to read the joints' limits from; add one, or give all %d poses by hand",
            def->count));
    }
    int joints = def->character->jointCount;
    s->tried = jnaArena_Take(&s->arena, joints, 4 * sizeof(float));
    s->kept = jnaArena_Take(&s->arena, joints, 4 * sizeof(float));
    double* start = jnaArena_Take(&s->arena, joints, 3 * sizeof(double));
    double* weights = jnaArena_Take(&s->arena, joints, sizeof(double));
    JN_TRY(jnaArena_Check(&s->arena, "sampling poses", error));
    for (int j = 0; j < joints; ++j) {
        jnaPose_ToCoordinates(def->character->joints[j].rotation, s->limits.mean + 4 * j, start + 3 * j);
    }
    for (int i = TRAIN; i < SOURCES; ++i) {
        int most = s->pools[i].frameCount < def->count ? s->pools[i].frameCount : def->count;
        s->picks[i] = jnaArena_Take(&s->arena, most, sizeof(int32_t));
        JN_TRY(jnaArena_Check(&s->arena, "sampling poses", error));
        s->pickCount[i] = jnaSpreadPoses(&s->pools[i], s->limits.weights, start, most, s->picks[i]);
        if (s->pickCount[i] < 0) {
            JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for sampling poses"));
        }
    }
    JN_TRY(SpreadLimbs(s, start, weights, error));
done:
    return result;
}

// SplitMix64: a stream of its own for every pose, so that no pose depends on how many come before it.
static double Draw(uint64_t* state)
{
    return (double)(jnaNextBits(state) >> 11) * 0x1p-53;
}

// Every limb between two of its frames.
static void MixLimbs(const Sampler* s, int index, float* rotations)
{
    const jnaJointLimits* limits = &s->limits;
    int joints = limits->jointCount;
    uint64_t state = (s->def->seed + 1) * 0xd1342543de82ef95u + (uint64_t)index * 0x2545f4914f6cdd1du;
    (void)Draw(&state);
    for (int l = 0; l < limits->limbCount; ++l) {
        int count = s->limbFrameCount[l];
        // The numbers are drawn whether or not they are used: limbs do not shift each other's.
        double draws[3] = {Draw(&state), Draw(&state), Draw(&state)};
        int32_t a = count > 0 ? s->limbFrames[l * LIMB_FRAMES + (int)(draws[0] * count)] : 0;
        int32_t b = count > 0 ? s->limbFrames[l * LIMB_FRAMES + (int)(draws[1] * count)] : 0;
        double t = -s->def->widen + (1 + 2 * s->def->widen) * draws[2];
        for (int j = 0; j < joints; ++j) {
            if (limits->limbs[j] != l) {
                continue;
            }
            double p[3] = {0};
            const double* frames = s->pools[TRAIN].coordinates;
            const double* from = frames + 3 * ((size_t)a * (size_t)joints + (size_t)j);
            const double* to = frames + 3 * ((size_t)b * (size_t)joints + (size_t)j);
            for (int i = 0; count > 0 && i < 3; ++i) {
                double low = limits->low[3 * j + i], high = limits->high[3 * j + i];
                double margin = s->def->widen * (high - low);
                p[i] = fmin(fmax(from[i] + t * (to[i] - from[i]), low - margin), high + margin);
            }
            jnaPose_FromCoordinates(p, limits->mean + 4 * j, rotations + 4 * j);
        }
    }
}

static void RestRoot(const jnaCharacter* c, float* rotations)
{
    for (int j = jnaRootChain(c, NULL); j >= 0; j = c->joints[j].parent) {
        memcpy(rotations + 4 * j, c->joints[j].rotation, 4 * sizeof(float));
    }
}

// A random pose. One in which parts of the body would be far inside each other is drawn again; of those the least
// impossible is kept.
static void DrawPose(const Sampler* s, int index, float* rotations)
{
    enum { TRIES = 12 };
    double least = HUGE_VAL;
    MixLimbs(s, index, rotations);
    for (int i = 0; s->ranges.known && i < TRIES && least > 1; ++i) {
        uint64_t seed = jnaMixBits((s->def->seed + 1) * 0x9e3779b97f4a7c15u + (uint64_t)index) + (uint64_t)i;
        memcpy(s->tried, rotations, 4 * (size_t)s->limits.jointCount * sizeof(float));
        jnaPoseRanges_Draw(&s->ranges, jnaMixBits(seed), s->tried);
        RestRoot(s->def->character, s->tried);
        double overlap = jnaPoseRanges_Overlap(&s->ranges, s->tried);
        if (overlap < least) {
            least = overlap;
            memcpy(s->kept, s->tried, 4 * (size_t)s->limits.jointCount * sizeof(float));
        }
    }
    if (s->ranges.known) {
        memcpy(rotations, s->kept, 4 * (size_t)s->limits.jointCount * sizeof(float));
    }
}

static bool IsShare(double x)
{
    return x >= 0 && x <= 1;
}

static jnResult CheckDef(const jnaPoseDef* def, jnError* error)
{
    if (!(IsShare(def->random) && IsShare(def->fromClips) && IsShare(def->heldOut) && def->heldOut < 1 &&
            IsShare(def->widen))) {
        return jnFail(
            error, jn_badArgument, "the fractions of random poses, clips, held-out poses and widening must be 0 to 1");
    }
    if (def->count < 1 || def->handCount > def->count) {
        return jnFail(error, jn_badArgument, "%d poses are too few%s", def->count,
            def->handCount > 0 ? " for those given by hand" : "");
    }
    for (int c = 0; c < def->clipCount; ++c) {
        const jnaClip* clip = &def->clips[c];
        for (size_t i = 0; i < (size_t)clip->frameCount * (size_t)clip->jointCount * 4; ++i) {
            if (!isfinite(clip->rotations[i])) {
                return jnFail(error, jn_badData, "clip %s: has a rotation that is not finite", clip->name);
            }
        }
    }
    if (def->handCount < def->count && !(def->random + def->fromClips > 0)) {
        return jnFail(error, jn_badArgument, "neither random poses nor frames of clips are wanted");
    }
    return jn_ok;
}

static jnResult CopyHand(const jnaPoseDef* def, jnaPoseSet* poses, jnError* error)
{
    int joints = def->character->jointCount;
    for (int i = 0; i < def->handCount; ++i) {
        for (int j = 0; j < joints; ++j) {
            double q[4], square = 0;
            size_t at = 4 * ((size_t)i * (size_t)joints + (size_t)j);
            for (int k = 0; k < 4; ++k) {
                q[k] = (double)def->hand[at + (size_t)k];
                square += q[k] * q[k];
            }
            if (!(square > 0.25 && square < 4)) {
                return jnFail(error, jn_badData, "pose %d by hand: joint %s: is not a unit quaternion", i,
                    def->character->joints[j].name);
            }
            jnaQuat_Normalize(q);
            for (int k = 0; k < 4; ++k) {
                poses->rotations[at + (size_t)k] = (float)q[k];
            }
        }
        RestRoot(def->character, poses->rotations + 4 * (size_t)i * (size_t)joints);
        poses->kinds[i] = jna_poseHand;
        poses->clips[i] = poses->frames[i] = -1;
    }
    return jn_ok;
}

// Which source the next pose comes from: the one furthest behind its share among those that have any left; -1: none.
static int NextSource(const Sampler* s, const int* taken, int dealt)
{
    const jnaPoseDef* def = s->def;
    double heldOut = s->pools[HELD].frameCount > 0 ? def->heldOut : 0, sum = def->random + def->fromClips;
    double shares[SOURCES] = {(1 - heldOut) * def->random / sum, (1 - heldOut) * def->fromClips / sum, heldOut};
    int best = -1;
    double most = 0;
    for (int i = 0; i < SOURCES; ++i) {
        bool left = i == RANDOM || taken[i] < s->pickCount[i];
        double lag = shares[i] * (dealt + 1) - taken[i];
        if (shares[i] > 0 && left && (best < 0 || lag > most)) {
            best = i;
            most = lag;
        }
    }
    return best;
}

static void Deal(const Sampler* s, jnaPoseSet* poses)
{
    const jnaPoseDef* def = s->def;
    size_t row = 4 * (size_t)poses->jointCount;
    int taken[SOURCES] = {0}, count = def->handCount;
    for (; count < def->count; ++count) {
        int source = NextSource(s, taken, count - def->handCount);
        if (source < 0) {
            break;
        }
        float* rotations = poses->rotations + row * (size_t)count;
        poses->kinds[count] = source == RANDOM ? jna_poseRandom : jna_poseClip;
        poses->clips[count] = poses->frames[count] = -1;
        poses->heldOut[count] = source == HELD;
        if (source == RANDOM) {
            DrawPose(s, taken[RANDOM], rotations);
        } else {
            int32_t pick = s->picks[source][taken[source]];
            poses->clips[count] = s->pools[source].clips[pick];
            poses->frames[count] = s->pools[source].frames[pick];
            const jnaClip* clip = &def->clips[poses->clips[count]];
            memcpy(rotations, clip->rotations + row * (size_t)poses->frames[count], row * sizeof(float));
        }
        RestRoot(def->character, rotations);
        taken[source]++;
    }
    poses->count = count;
}

jnResult jnaCreatePoses(const jnaPoseDef* def, jnaPoseSet* poses, jnaNotes* notes, jnError* error)
{
    *poses = (jnaPoseSet){.jointCount = def->character->jointCount};
    Sampler sampler = {0};
    jnResult result = jn_ok;
    JN_TRY(CheckDef(def, error));
    poses->rotations = jnaArena_Give(&sampler.arena, (int64_t)def->count * poses->jointCount, 4 * sizeof(float));
    poses->kinds = jnaArena_Give(&sampler.arena, def->count, sizeof(uint8_t));
    poses->clips = jnaArena_Give(&sampler.arena, def->count, sizeof(int32_t));
    poses->frames = jnaArena_Give(&sampler.arena, def->count, sizeof(int32_t));
    poses->heldOut = jnaArena_Give(&sampler.arena, def->count, sizeof(uint8_t));
    JN_TRY(jnaArena_Check(&sampler.arena, "poses", error));
    JN_TRY(CopyHand(def, poses, error));
    JN_TRY(CreateSampler(def, &sampler, error));
    Deal(&sampler, poses);
    if (poses->count < def->count) {
        jnaNotes_Add(notes, "only %d poses: the clips have no more frames that differ", poses->count);
    }
    if (poses->count == 0) {
        result = jnFail(error, jn_badData, "the clips have no frame that differs from rest");
    }
done:
    DestroySampler(&sampler);
    if (result != jn_ok) {
        jnaDestroyPoses(poses);
    }
    return result;
}

void jnaDestroyPoses(jnaPoseSet* poses)
{
    free(poses->rotations);
    free(poses->kinds);
    free(poses->clips);
    free(poses->frames);
    free(poses->heldOut);
    *poses = (jnaPoseSet){0};
}

jnResult jnaPoseSet_ToClip(const jnaPoseSet* poses, const jnaCharacter* character, jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){.name = "poses", .rate = 1, .frameCount = poses->count, .jointCount = poses->jointCount};
    JN_PASS(jnaClip_Allocate(clip, false, error));
    size_t joints = (size_t)poses->jointCount;
    memcpy(clip->rotations, poses->rotations, (size_t)poses->count * joints * 4 * sizeof(float));
    for (size_t f = 0; f < (size_t)poses->count; ++f) {
        for (size_t j = 0; j < joints; ++j) {
            memcpy(clip->translations + 3 * (f * joints + j), character->joints[j].translation, 3 * sizeof(float));
        }
    }
    return jn_ok;
}
