// The clips: poses at chosen times, joined by cubics.
//
// Each channel of the pose is a monotone cubic through its keys (Fritsch and Butland's tangents): once
// continuously differentiable, without overshoot, so a planted foot stays planted and a held hand stays
// still.
#include "character/figure_pose.h"

#include "base/try.h"
#include "character/figure.h"
#include "character/import_internal.h"
#include "character/source.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <string.h>

enum { RUN_CYCLES = 3, WALK_CYCLES = 3 };

typedef struct ClipInfo {
    const char* name;
    jnaRole role;
    double duration; // seconds
    bool looping;
    void (*build)(Track* track); // NULL: it is a formula
    Pose (*poseAt)(double time);
} ClipInfo;

static const ClipInfo clips[jna_figureAllClips] = {
    {"jumping-jacks", jna_train, 4.4, false, jnaBuildJumpingJacks, NULL},
    {"calisthenics", jna_train, 8.4, false, jnaBuildCalisthenics, NULL},
    {"shadow-boxing", jna_test, 6.0, false, jnaBuildShadowBoxing, NULL},
    {"run", jna_test, RUN_CYCLES* RUN_CYCLE_FRAMES / 30.0, true, NULL, jnaRunPose},
    {"jump-and-land", jna_test, 3.0, false, jnaBuildJumpAndLand, NULL},
    {"walk", jna_test, WALK_CYCLES* WALK_CYCLE_FRAMES / 30.0, true, NULL, jnaWalkPose},
    {"dance", jna_test, 6.8, false, jnaBuildDance, NULL},
    {"drop", jna_test, 3.2, false, jnaBuildDrop, NULL},
};

const char* jnaFigureClipName(int which)
{
    JN_ASSERT(which >= 0 && which < jna_figureAllClips);
    return clips[which].name;
}

jnaRole jnaFigureClipRole(int which)
{
    JN_ASSERT(which >= 0 && which < jna_figureAllClips);
    return clips[which].role;
}

static Pose SampleTrack(const Track* track, double time)
{
    int last = track->count - 1, i = 0;
    while (i < last - 1 && track->times[i + 1] <= time) {
        ++i;
    }
    time = time > track->times[last] ? track->times[last] : time;
    Pose out;
    const double* keys[4];
    double times[4];
    for (int k = 0; k < 4; ++k) {
        int at = i + k - 1;
        at = at < 0 ? 0 : at > last ? last : at;
        keys[k] = (const double*)&track->poses[at];
        times[k] = track->times[at];
    }
    for (int c = 0; c < POSE_CHANNELS; ++c) {
        double slopes[3], lengths[3];
        for (int k = 0; k < 3; ++k) {
            lengths[k] = times[k + 1] - times[k];
            slopes[k] = lengths[k] > 0 ? (keys[k + 1][c] - keys[k][c]) / lengths[k] : 0;
        }
        double from = Tangent(slopes[0], slopes[1], lengths[0], lengths[1]);
        double to = Tangent(slopes[1], slopes[2], lengths[1], lengths[2]);
        ((double*)&out)[c] = Hermite(keys[1][c], keys[2][c], from, to, lengths[1], time - times[1]);
    }
    return out;
}

// A quaternion and its negative are the same turn; neighbours in time should have the same sign.
static void StoreFrame(
    jnaClip* clip, const jnaCharacter* character, int frame, double (*rotations)[4], const double* hips)
{
    for (int j = 0; j < clip->jointCount; ++j) {
        size_t entry = (size_t)frame * (size_t)clip->jointCount + (size_t)j;
        float* out = clip->rotations + 4 * entry;
        double same = 1;
        if (frame > 0) {
            const float* before = out - 4 * (size_t)clip->jointCount;
            same = 0;
            for (int i = 0; i < 4; ++i) {
                same += (double)before[i] * rotations[j][i];
            }
        }
        for (int i = 0; i < 4; ++i) {
            out[i] = (float)(same < 0 ? -rotations[j][i] : rotations[j][i]);
        }
        for (int i = 0; i < 3; ++i) {
            clip->translations[3 * entry + (size_t)i] =
                j == HIPS ? (float)hips[i] : character->joints[j].translation[i];
        }
    }
}

jnResult jnaCreateFigureClip(const jnaCharacter* character, int which, double rate, jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){0};
    if (which < 0 || which >= jna_figureAllClips) {
        return jnFail(error, jn_badArgument, "clip %d of the figure: there are %d", which, jna_figureAllClips);
    }
    if (!(rate >= 1 && rate <= 10000)) {
        return jnFail(error, jn_badArgument, "a clip at %g frames a second: 1 to 10000 will do", rate);
    }
    if (character->jointCount != JOINT_COUNT) {
        return jnFail(
            error, jn_badArgument, "a character with %d joints is not the built-in figure", character->jointCount);
    }
    const ClipInfo* info = &clips[which];
    // A loop leaves out the frame that would repeat its first.
    int steps = (int)(info->duration * rate + 0.5);
    clip->rate = rate;
    clip->frameCount = info->looping ? steps : steps + 1;
    clip->jointCount = JOINT_COUNT;
    clip->looping = info->looping;
    snprintf(clip->name, sizeof(clip->name), "%s", info->name);
    JN_PASS(jnaClip_Allocate(clip, false, error));
    Track track = {0};
    if (info->build != NULL) {
        info->build(&track);
    }
    for (int frame = 0; frame < clip->frameCount; ++frame) {
        double time = info->looping ? info->duration * frame / steps : frame / rate;
        Pose pose = info->build != NULL ? SampleTrack(&track, time) : info->poseAt(time);
        double rotations[JOINT_COUNT][4], hips[3];
        jnaSolvePose(&pose, rotations, hips);
        StoreFrame(clip, character, frame, rotations, hips);
    }
    return jn_ok;
}

jnResult jnaRetargetFigureClip(const jnaCharacter* character, int which, double rate, jnaClip* clip, jnError* error)
{
    jnaSource source = {.path = JNA_FIGURE_SOURCE};
    jnaRetargetDef def = {0};
    jnResult result = jn_ok;
    *clip = (jnaClip){0};
    JN_TRY(jnaCreateFigure(&source.skeleton, error));
    JN_TRY(jnaCreateFigureClip(&source.skeleton, which, rate, &source.clip, error));
    JN_TRY(jnaRetarget(&source, &def, character, rate, clip, NULL, error));
done:
    jnaDestroySource(&source);
    return result;
}
