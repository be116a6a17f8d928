// Training poses stay within the limits, spread, leave out what is held out, and are the same everywhere.
#include "base/hash.h"
#include "character/figure.h"
#include "character/import.h"
#include "flesh/poses.h"
#include "flesh/poses_internal.h"
#include "helpers/support.h"
#include "volume/posing.h"

typedef struct Scene {
    jnaCharacter character;
    jnaClipList clips;
} Scene;

static int MakeScene(void** state)
{
    static Scene scene;
    jnError error;
    scene.clips.clips = calloc(jna_figureClipCount, sizeof(jnaClip));
    if (scene.clips.clips == NULL || jnaCreateFigure(&scene.character, &error) != jn_ok) {
        return -1;
    }
    for (int i = 0; i < jna_figureClipCount; ++i) {
        if (jnaCreateFigureClip(&scene.character, i, 30, &scene.clips.clips[i], &error) != jn_ok) {
            return -1;
        }
        scene.clips.count++;
    }
    *state = &scene;
    return 0;
}

static int DestroyScene(void** state)
{
    Scene* scene = *state;
    jnaDestroyCharacter(&scene->character);
    jnaDestroyClipList(&scene->clips);
    return 0;
}

static jnaPoseDef DefOf(const Scene* scene)
{
    jnaPoseDef def = jnaDefaultPoseDef(&scene->character);
    def.clipCount = scene->clips.count;
    def.clips = scene->clips.clips;
    def.count = 400;
    def.heldOut = 0.05;
    return def;
}

static jnaPoseSet Sample(const jnaPoseDef* def)
{
    jnaPoseSet poses;
    jnError error = {0};
    if (jnaCreatePoses(def, &poses, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return poses;
}

static void TheMixtureIsAsAskedInEveryBeginning(void** state)
{
    jnaPoseDef def = DefOf(*state);
    jnaPoseSet poses = Sample(&def);
    assert_int_equal(poses.count, 400);
    int random = 0, heldOut = 0;
    for (int i = 0; i < poses.count; ++i) {
        random += poses.kinds[i] == jna_poseRandom;
        heldOut += poses.heldOut[i];
        ASSERT_NEAR(heldOut, 0.05 * (i + 1), 1.5);
        ASSERT_NEAR(random, 0.7125 * (i + 1), 1.5);
        assert_true((poses.clips[i] >= 0) == (poses.kinds[i] == jna_poseClip));
        assert_true(poses.heldOut[i] == 0 || poses.kinds[i] == jna_poseClip);
    }
    jnaPoseSet shorter;
    def.count = 150;
    shorter = Sample(&def);
    assert_memory_equal(shorter.rotations, poses.rotations, 150 * (size_t)poses.jointCount * 4 * sizeof(float));
    assert_memory_equal(shorter.clips, poses.clips, 150 * sizeof(int32_t));
    jnaDestroyPoses(&shorter);
    jnaDestroyPoses(&poses);
}

static void FramesAreThoseOfTheirClipWithTheRootAtRest(void** state)
{
    const Scene* scene = *state;
    jnaPoseDef def = DefOf(scene);
    jnaPoseSet poses = Sample(&def);
    bool inChain[64];
    int joints = poses.jointCount;
    jnaRootChain(&scene->character, inChain);
    for (int i = 0; i < poses.count; ++i) {
        for (int j = 0; j < joints; ++j) {
            const float* q = poses.rotations + 4 * (i * joints + j);
            if (inChain[j]) {
                assert_memory_equal(q, scene->character.joints[j].rotation, 4 * sizeof(float));
            } else if (poses.kinds[i] == jna_poseClip) {
                const jnaClip* clip = &scene->clips.clips[poses.clips[i]];
                assert_memory_equal(q, clip->rotations + 4 * (poses.frames[i] * joints + j), 4 * sizeof(float));
            }
            double square = 0;
            for (int k = 0; k < 4; ++k) {
                square += (double)q[k] * (double)q[k];
            }
            ASSERT_NEAR(square, 1, 1e-5);
        }
    }
    jnaDestroyPoses(&poses);
}

static void RandomPosesStayWithinTheWidenedLimitsAndUseThem(void** state)
{
    jnaPoseDef def = DefOf(*state);
    def.fromClips = def.heldOut = 0;
    def.count = 2000;
    jnaPoseSet poses = Sample(&def);
    jnaJointLimits limits;
    jnError error;
    assert_int_equal(jnaCreateJointLimits(&def, &limits, &error), jn_ok);
    int joints = poses.jointCount, past = 0;
    for (int j = 0; j < joints; ++j) {
        double least[3] = {9, 9, 9}, most[3] = {-9, -9, -9};
        for (int i = 0; i < poses.count && limits.limbs[j] >= 0; ++i) {
            double p[3];
            jnaPose_ToCoordinates(poses.rotations + 4 * (i * joints + j), limits.mean + 4 * j, p);
            for (int k = 0; k < 3; ++k) {
                double low = limits.low[3 * j + k], high = limits.high[3 * j + k], margin = def.widen * (high - low);
                ASSERT_AT_MOST(p[k], high + margin + 1e-6);
                ASSERT_AT_MOST(low - margin - 1e-6, p[k]);
                past += p[k] > high + 1e-6 || p[k] < low - 1e-6;
                least[k] = fmin(least[k], p[k]);
                most[k] = fmax(most[k], p[k]);
            }
        }
        for (int k = 0; k < 3 && limits.limbs[j] >= 0; ++k) {
            // Over 2000 poses nearly the whole range comes up.
            ASSERT_AT_MOST(0.8 * (limits.high[3 * j + k] - limits.low[3 * j + k]), most[k] - least[k] + 1e-9);
        }
    }
    assert_true(past > 100);
    jnaDestroyJointLimits(&limits);
    jnaDestroyPoses(&poses);
}

// Runs of frames are held back, and neither learned from nor mixed into random poses.
static void FramesHeldBackAreWholeRunsAndNoOthers(void** state)
{
    const Scene* scene = *state;
    jnaPoseDef def = DefOf(scene);
    jnaJointLimits limits;
    jnaPosePool pools[2];
    jnError error;
    assert_int_equal(jnaCreateJointLimits(&def, &limits, &error), jn_ok);
    assert_int_equal(jnaCreatePosePool(&def, &limits, jna_poolTrain, &pools[0], &error), jn_ok);
    assert_int_equal(jnaCreatePosePool(&def, &limits, jna_poolHeld, &pools[1], &error), jn_ok);
    int total = 0, starts = 0;
    for (int c = 0; c < def.clipCount; ++c) {
        total += def.clips[c].frameCount;
    }
    assert_int_equal(pools[0].frameCount + pools[1].frameCount, total);
    ASSERT_NEAR(pools[1].frameCount, total / JNA_HELD_EVERY, JNA_HELD_RUN);
    for (int i = 0; i < pools[1].frameCount; ++i) {
        bool follows =
            i > 0 && (pools[1].clips[i] != pools[1].clips[i - 1] || pools[1].frames[i] == pools[1].frames[i - 1] + 1);
        starts += !follows;
    }
    assert_true(starts <= pools[1].frameCount / JNA_HELD_RUN + 1);
    jnaPoseSet poses = Sample(&def);
    for (int i = 0; i < poses.count; ++i) {
        for (int k = 0; poses.kinds[i] == jna_poseClip && k < pools[1].frameCount; ++k) {
            bool same = poses.clips[i] == pools[1].clips[k] && poses.frames[i] == pools[1].frames[k];
            assert_true(!same || poses.heldOut[i] != 0);
        }
    }
    jnaDestroyPoses(&poses);
    // Nothing is held back where nothing is asked for.
    jnaDestroyPosePool(&pools[1]);
    def.heldOut = 0;
    assert_int_equal(jnaCreatePosePool(&def, &limits, jna_poolHeld, &pools[1], &error), jn_ok);
    assert_int_equal(pools[1].frameCount, 0);
    jnaDestroyPosePool(&pools[0]);
    jnaDestroyPosePool(&pools[1]);
    jnaDestroyJointLimits(&limits);
}

static void EachPickIsTheFarthestFromThoseBefore(void** state)
{
    jnaPoseDef def = DefOf(*state);
    jnaJointLimits limits;
    jnaPosePool pool;
    jnError error;
    assert_int_equal(jnaCreateJointLimits(&def, &limits, &error), jn_ok);
    assert_int_equal(jnaCreatePosePool(&def, &limits, jna_poolTrain, &pool, &error), jn_ok);
    enum { PICKS = 40 };
    int joints = limits.jointCount;
    int32_t picks[PICKS];
    double* start = calloc((size_t)joints, 3 * sizeof(double));
    assert_int_equal(jnaSpreadPoses(&pool, limits.weights, start, PICKS, picks), PICKS);
    double last = HUGE_VAL;
    for (int k = 0; k < PICKS; ++k) {
        double farthest = 0, own = 0;
        for (int f = 0; f < pool.frameCount; ++f) {
            const double* p = pool.coordinates + 3 * f * joints;
            double nearest = jnaPoseDistance(p, start, limits.weights, joints);
            for (int i = 0; i < k; ++i) {
                const double* q = pool.coordinates + 3 * picks[i] * joints;
                nearest = fmin(nearest, jnaPoseDistance(p, q, limits.weights, joints));
            }
            farthest = fmax(farthest, nearest);
            own = f == picks[k] ? nearest : own;
        }
        ASSERT_NEAR(own, farthest, 0);
        assert_true(own > 0);
        // Every next one is closer to the others than the last: the whole space is covered ever more finely.
        ASSERT_AT_MOST(own, last);
        last = own;
    }
    free(start);
    jnaDestroyPosePool(&pool);
    jnaDestroyJointLimits(&limits);
}

static void CopiesAreNotPickedAndTheEndIsTold(void** state)
{
    const Scene* scene = *state;
    jnaPoseDef def = DefOf(scene);
    jnaClip clip = scene->clips.clips[0];
    clip.frameCount = 6;
    clip.rotations = malloc(6 * (size_t)clip.jointCount * 4 * sizeof(float));
    for (int f = 0; f < 6; ++f) {
        memcpy(clip.rotations + f * clip.jointCount * 4,
            scene->clips.clips[0].rotations + (f / 2) * 9 * clip.jointCount * 4,
            (size_t)clip.jointCount * 4 * sizeof(float));
    }
    def.clipCount = 1;
    def.clips = &clip;
    def.random = 0;
    jnaPoseSet poses;
    jnaNotes notes = {0};
    jnError error;
    assert_int_equal(jnaCreatePoses(&def, &poses, &notes, &error), jn_ok);
    assert_int_equal(poses.count, 3);
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.lines[0], "only 3 poses"));
    jnaDestroyNotes(&notes);
    jnaDestroyPoses(&poses);
    // With random poses the rest is made up by them.
    def.random = 0.5;
    poses = Sample(&def);
    assert_int_equal(poses.count, 400);
    jnaDestroyPoses(&poses);
    free(clip.rotations);
}

static void PosesByHandComeFirst(void** state)
{
    const Scene* scene = *state;
    jnaPoseDef def = DefOf(scene);
    int joints = scene->character.jointCount;
    float* hand = calloc(2 * (size_t)joints, 4 * sizeof(float));
    for (int i = 0; i < 2 * joints; ++i) {
        hand[4 * i] = hand[4 * i + 3] = 0.70711F;
    }
    def.hand = hand;
    def.handCount = 2;
    jnaPoseSet poses = Sample(&def);
    assert_int_equal(poses.count, 400);
    assert_int_equal(poses.kinds[1], jna_poseHand);
    assert_true(poses.kinds[2] != jna_poseHand);
    assert_int_equal(poses.clips[0], -1);
    ASSERT_NEAR(poses.rotations[4 * (joints - 1)], sqrt(0.5), 1e-7);
    assert_memory_equal(poses.rotations, scene->character.joints[0].rotation, 4 * sizeof(float));
    jnaDestroyPoses(&poses);
    jnError error;
    hand[4 * (joints + 3)] = 7;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, scene->character.joints[3].name));
    hand[4 * (joints + 3)] = NAN;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badData);
    free(hand);
}

static void TheSeedDecidesAndTheBytesAreTheSameEverywhere(void** state)
{
    jnaPoseDef def = DefOf(*state);
    jnaPoseSet poses = Sample(&def), again = Sample(&def);
    size_t size = (size_t)poses.count * (size_t)poses.jointCount * 4 * sizeof(float);
    assert_memory_equal(poses.rotations, again.rotations, size);
    jnaDestroyPoses(&again);
    def.seed = 2;
    again = Sample(&def);
    assert_memory_not_equal(poses.rotations, again.rotations, size);
    jnaDestroyPoses(&again);
    jnaDestroyPoses(&poses);
    // Two clips of two joints, made of round numbers: the hash is that of every machine and compiler.
    jnaJoint joints[3] = {{.parent = -1}, {.parent = 0}, {.parent = 0}};
    for (int j = 0; j < 3; ++j) {
        joints[j].rotation[3] = 1;
    }
    jnaCharacter character = {.jointCount = 3, .joints = joints};
    float rotations[4][3][4];
    for (int f = 0; f < 4; ++f) {
        for (int j = 0; j < 3; ++j) {
            const float q[4] = {0.6F, 0, 0, 0.8F}, other[4] = {0.5F, -0.5F, 0.5F, 0.5F},
                        third[4] = {0, 0, 0.28F, 0.96F};
            memcpy(rotations[f][j], f + j == 2 ? q : (f * j) % 2 == 0 ? other : third, sizeof(q));
        }
    }
    jnaClip clip = {.frameCount = 4, .jointCount = 3, .rotations = rotations[0][0]};
    jnaPoseDef small = jnaDefaultPoseDef(&character);
    small.clipCount = 1;
    small.clips = &clip;
    small.count = 100;
    small.random = small.fromClips = 0.5;
    poses = Sample(&small);
    uint64_t hash = jnaHash(poses.rotations, 100 * 3 * 4 * sizeof(float), 0);
    if (hash != 0x802f1fd5f4e96fc1u) {
        fail_msg("the hash is %llx", (unsigned long long)hash);
    }
    jnaDestroyPoses(&poses);
}

static void WhatCannotBeSampledIsRefusedInWords(void** state)
{
    Scene* scene = *state;
    jnaPoseDef def = DefOf(scene);
    jnaPoseSet poses;
    jnError error;
    def.clipCount = 0;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "no training clip"));
    def = DefOf(scene);
    def.count = 0;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badArgument);
    def = DefOf(scene);
    def.widen = (double)NAN;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badArgument);
    def = DefOf(scene);
    def.random = def.fromClips = 0;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badArgument);
    def = DefOf(scene);
    float* q = &scene->clips.clips[0].rotations[5];
    float kept = *q;
    *q = NAN;
    assert_int_equal(jnaCreatePoses(&def, &poses, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, scene->clips.clips[0].name));
    *q = kept;
}

static void TheRootChainEndsWhereItBranches(void** state)
{
    const Scene* scene = *state;
    bool inChain[64];
    int end = jnaRootChain(&scene->character, inChain);
    assert_true(inChain[end]);
    // Joints: world - hips - (spine, leg), and a prop of its own.
    jnaJoint joints[6] = {{.parent = -1}, {.parent = -1}, {.parent = 1}, {.parent = 2}, {.parent = 2}, {.parent = 3}};
    jnaCharacter character = {.jointCount = 6, .joints = joints};
    assert_int_equal(jnaRootChain(&character, inChain), 2);
    assert_true(inChain[1] && inChain[2] && !inChain[0] && !inChain[3]);
    // A chain without a branch bends in all but its root.
    joints[4].parent = 3;
    joints[5].parent = 4;
    assert_int_equal(jnaRootChain(&character, inChain), 1);
    character.jointCount = 1;
    assert_int_equal(jnaRootChain(&character, inChain), 0);
}

static void AFrameIsItsStillPoseCarriedByTheRoot(void** state)
{
    const Scene* scene = *state;
    const jnaCharacter* c = &scene->character;
    jnaClip still;
    jnError error;
    size_t joints = (size_t)c->jointCount;
    double* transforms = malloc(joints * 24 * sizeof(double));
    for (int k = 0; k < scene->clips.count; ++k) {
        const jnaClip* clip = &scene->clips.clips[k];
        int frame = clip->frameCount / 3;
        assert_int_equal(jnaClip_WithoutRoot(c, clip, &still, &error), jn_ok);
        jnaPoseTransforms(c, clip, frame, transforms);
        jnaPoseTransforms(c, &still, frame, transforms + 12 * joints);
        double carry[12];
        jnaRootMotion(c, clip, frame, carry);
        for (size_t j = 0; j < joints; ++j) {
            const double* moved = transforms + 12 * j;
            const double* rest = transforms + 12 * (joints + j);
            for (int r = 0; r < 3; ++r) {
                for (int col = 0; col < 4; ++col) {
                    double sum = col == 3 ? carry[4 * r + 3] : 0;
                    for (int i = 0; i < 3; ++i) {
                        sum += carry[4 * r + i] * rest[4 * i + col];
                    }
                    ASSERT_NEAR(moved[4 * r + col], sum, 1e-6);
                }
            }
        }
        jnaDestroyClip(&still);
    }
    free(transforms);
}

static void TheMeanPoseIsInTheMiddleOfTheClips(void** state)
{
    const Scene* scene = *state;
    const jnaCharacter* c = &scene->character;
    const jnaClip* clip = &scene->clips.clips[0];
    float mean[64 * 4];
    bool inChain[64];
    jnaRootChain(c, inChain);
    jnaMeanPose(c, 1, clip, mean);
    for (int j = 0; j < c->jointCount; ++j) {
        double at[4] = {(double)mean[4 * j], (double)mean[4 * j + 1], (double)mean[4 * j + 2], (double)mean[4 * j + 3]};
        double sum[3] = {0}, p[3];
        for (int f = 0; f < clip->frameCount; ++f) {
            jnaPose_ToCoordinates(clip->rotations + 4 * (f * c->jointCount + j), at, p);
            for (int k = 0; k < 3; ++k) {
                sum[k] += p[k] / clip->frameCount;
            }
        }
        if (inChain[j]) {
            assert_memory_equal(mean + 4 * j, c->joints[j].rotation, 4 * sizeof(float));
        } else { // tan(angle / 4): a mean of quaternions is one of angles up to the third order
            ASSERT_AT_MOST(fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]), 0.03);
        }
    }
    jnaMeanPose(c, 0, NULL, mean);
    for (int j = 0; j < c->jointCount; ++j) {
        for (int k = 0; k < 4; ++k) {
            ASSERT_NEAR((double)mean[4 * j + k], (double)c->joints[j].rotation[k], 1e-6);
        }
    }
}

static void AShakeMovesTheWholeBodyByAboutOneG(void** state)
{
    const Scene* scene = *state;
    const jnaCharacter* c = &scene->character;
    float pose[64 * 4];
    jnaMeanPose(c, scene->clips.count, scene->clips.clips, pose);
    jnaShakeDef def = jnaDefaultShakeDef(c, pose);
    def.frameCount = 300;
    for (int turns = 0; turns < 2; ++turns) {
        jnaClip clip;
        double squares[2] = {0}, farthest = 0;
        def.turns = turns == 1;
        assert_int_equal(jnaCreateShake(&def, &clip, NULL), jn_ok);
        for (int f = 0; f < clip.frameCount; ++f) {
            // All but the root is the pose; the root of the figure is its first joint.
            assert_memory_equal(
                clip.rotations + 4 * (f * c->jointCount + 1), pose + 4, (size_t)(c->jointCount - 1) * 16);
            const float* x = clip.translations + 3 * f * c->jointCount;
            for (int k = 0; k < 3; ++k) {
                farthest = fmax(farthest, fabs((double)(x[k] - c->joints[0].translation[k])));
                if (f > 15 && f + 1 < clip.frameCount) {
                    int step = 3 * c->jointCount;
                    double a = 900 * ((double)x[k - step] - 2 * (double)x[k] + (double)x[k + step]);
                    squares[0] += a * a / (clip.frameCount - 17);
                }
            }
            const float* q = clip.rotations + 4 * f * c->jointCount;
            squares[1] += fabs((double)(q[0] - c->joints[0].rotation[0]) + (double)(q[1] - c->joints[0].rotation[1]));
        }
        assert_memory_equal(clip.rotations, pose, (size_t)c->jointCount * 16); // it begins in the pose, at rest
        ASSERT_NEAR(sqrt(squares[0]), turns == 1 ? 15 : 13, 4);                // seen at 30 frames a second
        assert_true(farthest > 0.02 && farthest < 1);
        assert_true((squares[1] > 0.1) == (turns == 1));
        jnaDestroyClip(&clip);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheMixtureIsAsAskedInEveryBeginning),
        cmocka_unit_test(FramesAreThoseOfTheirClipWithTheRootAtRest),
        cmocka_unit_test(RandomPosesStayWithinTheWidenedLimitsAndUseThem),
        cmocka_unit_test(FramesHeldBackAreWholeRunsAndNoOthers),
        cmocka_unit_test(EachPickIsTheFarthestFromThoseBefore),
        cmocka_unit_test(CopiesAreNotPickedAndTheEndIsTold),
        cmocka_unit_test(PosesByHandComeFirst),
        cmocka_unit_test(TheSeedDecidesAndTheBytesAreTheSameEverywhere),
        cmocka_unit_test(WhatCannotBeSampledIsRefusedInWords),
        cmocka_unit_test(TheRootChainEndsWhereItBranches),
        cmocka_unit_test(AFrameIsItsStillPoseCarriedByTheRoot),
        cmocka_unit_test(TheMeanPoseIsInTheMiddleOfTheClips),
        cmocka_unit_test(AShakeMovesTheWholeBodyByAboutOneG),
    };
    return cmocka_run_group_tests(tests, MakeScene, DestroyScene);
}
