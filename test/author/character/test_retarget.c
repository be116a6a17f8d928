// Retargeting without any file of others: names of five conventions, an A-pose, the manifest's overrides.
#include "character/humanoid.h"
#include "character/import_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PARTS = 19 };

// Hips, spine, chest, neck, head; then clavicle, upper arm, forearm, hand, thigh, shin, foot of each side.
static const int parents[PARTS] = {-1, 0, 1, 2, 3, 2, 5, 6, 7, 2, 9, 10, 11, 0, 13, 14, 0, 16, 17};
static const char* const conventions[][PARTS] = {
    {"Hips", "Spine", "Spine1", "Neck", "Head", "LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand", "RightShoulder",
        "RightArm", "RightForeArm", "RightHand", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg",
        "RightFoot"},
    {"mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Neck", "mixamorig:Head",
        "mixamorig:LeftShoulder", "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftHand",
        "mixamorig:RightShoulder", "mixamorig:RightArm", "mixamorig:RightForeArm", "mixamorig:RightHand",
        "mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot", "mixamorig:RightUpLeg", "mixamorig:RightLeg",
        "mixamorig:RightFoot"},
    {"root", "spine05", "spine01", "neck01", "head", "clavicle.L", "upperarm01.L", "lowerarm01.L", "wrist.L",
        "clavicle.R", "upperarm01.R", "lowerarm01.R", "wrist.R", "upperleg01.L", "lowerleg01.L", "foot.L",
        "upperleg01.R", "lowerleg01.R", "foot.R"},
    {"pelvis", "spine_01", "spine_02", "neck_01", "head", "clavicle_l", "upperarm_l", "lowerarm_l", "hand_l",
        "clavicle_r", "upperarm_r", "lowerarm_r", "hand_r", "thigh_l", "calf_l", "foot_l", "thigh_r", "calf_r",
        "foot_r"},
    {"J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_Neck", "J_Bip_C_Head", "J_Bip_L_Shoulder",
        "J_Bip_L_UpperArm", "J_Bip_L_LowerArm", "J_Bip_L_Hand", "J_Bip_R_Shoulder", "J_Bip_R_UpperArm",
        "J_Bip_R_LowerArm", "J_Bip_R_Hand", "J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot", "J_Bip_R_UpperLeg",
        "J_Bip_R_LowerLeg", "J_Bip_R_Foot"},
    {"hips", "spine", "chest", "neck", "head", "leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand",
        "rightShoulder", "rightUpperArm", "rightLowerArm", "rightHand", "leftUpperLeg", "leftLowerLeg", "leftFoot",
        "rightUpperLeg", "rightLowerLeg", "rightFoot"},
    {"Hips", "Chest", "Chest2", "Neck", "Head", "LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist", "RightCollar",
        "RightShoulder", "RightElbow", "RightWrist", "LeftHip", "LeftKnee", "LeftAnkle", "RightHip", "RightKnee",
        "RightAnkle"},
};
enum { CONVENTIONS = sizeof(conventions) / sizeof(conventions[0]) };

// A figure of `height` units whose arms point `droop` degrees below the horizontal, elbows straight.
static jnaCharacter MakeFigure(const char* const* names, double height, double droop)
{
    jnaCharacter c = {.jointCount = PARTS};
    assert_int_equal(jnaCharacter_Allocate(&c, false, NULL), jn_ok);
    float x = (float)cos(droop * 3.14159265358979 / 180), y = -(float)sin(droop * 3.14159265358979 / 180);
    const float local[PARTS][3] = {{0, 1, 0}, {0, 0.1F, 0}, {0, 0.2F, 0}, {0, 0.2F, 0}, {0, 0.1F, 0}, {0.05F, 0.15F, 0},
        {0.1F, 0, 0}, {0.3F * x, 0.3F * y, 0}, {0.25F * x, 0.25F * y, 0}, {-0.05F, 0.15F, 0}, {-0.1F, 0, 0},
        {-0.3F * x, 0.3F * y, 0}, {-0.25F * x, 0.25F * y, 0}, {0.1F, -0.05F, 0}, {0, -0.45F, 0}, {0, -0.42F, 0},
        {-0.1F, -0.05F, 0}, {0, -0.45F, 0}, {0, -0.42F, 0}};
    for (int j = 0; j < PARTS; ++j) {
        jnaJoint* joint = &c.joints[j];
        snprintf(joint->name, sizeof(joint->name), "%s", names[j]);
        joint->parent = parents[j];
        joint->rotation[3] = 1;
        for (int i = 0; i < 3; ++i) {
            joint->scale[i] = 1;
            joint->translation[i] = (float)height * local[j][i];
        }
    }
    return c;
}

static void EveryConventionIsRecognised(void** state)
{
    (void)state;
    for (int k = 0; k < CONVENTIONS; ++k) {
        jnaCharacter c = MakeFigure(conventions[k], 1, 0);
        jnaHumanoid h;
        jnaFindHumanoid(&c, &h);
        assert_int_equal(h.hips, 0);
        assert_int_equal(h.head, 4);
        assert_int_equal(h.spineCount, 2);
        assert_int_equal(h.spine[1], 2);
        assert_int_equal(h.neckCount, 1);
        for (int side = 0; side < 2; ++side) {
            assert_int_equal(h.sided[jna_clavicle + side], 5 + 4 * side);
            assert_int_equal(h.sided[jna_upperArm + side], 6 + 4 * side);
            assert_int_equal(h.sided[jna_foreArm + side], 7 + 4 * side);
            assert_int_equal(h.sided[jna_hand + side], 8 + 4 * side);
            assert_int_equal(h.sided[jna_thigh + side], 13 + 3 * side);
            assert_int_equal(h.sided[jna_shin + side], 14 + 3 * side);
            assert_int_equal(h.sided[jna_foot + side], 15 + 3 * side);
        }
        jnaDestroyCharacter(&c);
    }
}

// A T-pose skeleton that raises its left arm forwards, bends the elbow up, turns and walks two units ahead.
static jnaSource MakeMotion(const char* const* names)
{
    jnaSource source = {.path = "x.bvh", .skeleton = MakeFigure(names, 10, 0)};
    source.clip = (jnaClip){.rate = 30, .frameCount = 31, .jointCount = PARTS};
    assert_int_equal(jnaClip_Allocate(&source.clip, false, NULL), jn_ok);
    for (int f = 0; f <= 30; ++f) {
        for (int j = 0; j < PARTS; ++j) {
            size_t entry = (size_t)f * PARTS + (size_t)j;
            double angle = f / 30.0 * 3.14159265358979 / 2, q[4] = {0, 0, 0, 1};
            const double up[3] = {0, 1, 0}, side[3] = {1, 0, 0}, ahead[3] = {0, 0, 1};
            if (j == 0) {
                jnaQuat_FromAxis(up, angle, q);
            } else if (j == 6) {
                jnaQuat_FromAxis(up, -angle, q);
            } else if (j == 7) {
                jnaQuat_FromAxis(ahead, angle / 2, q);
            } else if (j == 13) {
                jnaQuat_FromAxis(side, -angle / 2, q);
            }
            for (int i = 0; i < 4; ++i) {
                source.clip.rotations[4 * entry + (size_t)i] = (float)q[i];
            }
            memcpy(source.clip.translations + 3 * entry, source.skeleton.joints[j].translation, 3 * sizeof(float));
        }
        source.clip.translations[(size_t)f * PARTS * 3 + 2] = (float)f * 20 / 30;
    }
    return source;
}

static void LimbAt(const float* matrices, int from, int to, double* direction)
{
    for (int i = 0; i < 3; ++i) {
        direction[i] = (double)matrices[12 * to + 4 * i + 3] - (double)matrices[12 * from + 4 * i + 3];
    }
    jnaNormalize(direction);
}

// Every limb of the target points as the source's does, in every frame.
static double WorstLimb(const jnaCharacter* target, const jnaClip* clip, const jnaSource* source)
{
    static const int limbs[][2] = {{6, 7}, {7, 8}, {10, 11}, {11, 12}, {13, 14}, {14, 15}, {16, 17}, {17, 18}, {0, 2}};
    float ours[12 * PARTS], theirs[12 * PARTS];
    double worst = 0;
    for (int f = 0; f < clip->frameCount; ++f) {
        jnaPoseMatrices(target, clip, f, ours);
        jnaPoseMatrices(&source->skeleton, &source->clip, f, theirs);
        for (size_t l = 0; l < sizeof(limbs) / sizeof(limbs[0]); ++l) {
            double a[3], b[3], cross[3];
            LimbAt(ours, limbs[l][0], limbs[l][1], a);
            LimbAt(theirs, limbs[l][0], limbs[l][1], b);
            jnaCross(a, b, cross);
            worst = fmax(worst, atan2(sqrt(jnaDot(cross, cross)), jnaDot(a, b)));
        }
    }
    return worst * 180 / 3.14159265358979;
}

static void ARigInAnAPoseGetsThePerformersLimbs(void** state)
{
    (void)state;
    for (int k = 0; k < CONVENTIONS; ++k) {
        jnaSource source = MakeMotion(conventions[0]);
        jnaCharacter target = MakeFigure(conventions[k], 1.7, 45);
        jnaClip clip;
        jnError error = {0};
        assert_int_equal(jnaRetarget(&source, NULL, &target, 30, &clip, NULL, &error), jn_ok);
        assert_int_equal(clip.frameCount, 31);
        assert_true(WorstLimb(&target, &clip, &source) < 0.1);
        // Two units of a skeleton of ten, at 1.7: 3.4, and the hips as high as at rest.
        const float* last = clip.translations + (size_t)30 * PARTS * 3;
        assert_true(fabsf(last[2] - clip.translations[2] - 3.4F) < 1e-3F);
        assert_true(fabsf(clip.translations[1] - 1.7F) < 1e-3F);
        jnaDestroyClip(&clip);
        jnaDestroyCharacter(&target);
        jnaDestroySource(&source);
    }
}

static void AZUpSkeletonThatFacesAnotherWayIsTurned(void** state)
{
    (void)state;
    jnaSource source = MakeMotion(conventions[0]);
    // Lay the whole skeleton down: its root rests turned, so that up is +Z, and faces -X.
    const double lay[4] = {0.5, 0.5, 0.5, 0.5}; // x to y, y to z, z to x
    for (int f = -1; f <= 30; ++f) {
        float* q = f < 0 ? source.skeleton.joints[0].rotation : source.clip.rotations + (size_t)f * PARTS * 4;
        float* t = f < 0 ? source.skeleton.joints[0].translation : source.clip.translations + (size_t)f * PARTS * 3;
        double turned[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
        double moved[3] = {(double)t[0], (double)t[1], (double)t[2]};
        jnaQuat_Multiply(lay, turned, turned);
        jnaQuat_Rotate(lay, moved, moved);
        for (int i = 0; i < 4; ++i) {
            q[i] = (float)turned[i];
        }
        for (int i = 0; i < 3; ++i) {
            t[i] = (float)moved[i];
        }
    }
    jnaSource upright = MakeMotion(conventions[0]);
    jnaCharacter target = MakeFigure(conventions[3], 1.7, 30);
    jnaClip clip;
    jnError error = {0};
    assert_int_equal(jnaRetarget(&source, NULL, &target, 30, &clip, NULL, &error), jn_ok);
    assert_true(WorstLimb(&target, &clip, &upright) < 0.1);
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&target);
    jnaDestroySource(&source);
    jnaDestroySource(&upright);
}

static void OverridesMatchWhatNamesCannot(void** state)
{
    (void)state;
    const char* names[PARTS];
    memcpy(names, conventions[3], sizeof(names));
    names[7] = "wing_joint_7"; // the left forearm
    jnaSource source = MakeMotion(conventions[0]);
    jnaCharacter target = MakeFigure(names, 1.7, 45);
    jnaClip clip;
    jnError error = {0};
    jnaNotes notes = {0};
    assert_int_equal(jnaRetarget(&source, NULL, &target, 30, &clip, &notes, &error), jn_ok);
    assert_int_equal(notes.count, 2);
    assert_non_null(strstr(notes.lines[0], "LeftForeArm"));
    assert_non_null(strstr(notes.lines[1], "wing_joint_7"));
    jnaDestroyClip(&clip);
    jnaDestroyNotes(&notes);
    const jnaJointPair pairs[] = {{"LeftForeArm", "wing_joint_7"}, {"RightHand", ""}};
    jnaRetargetDef def = {2, pairs};
    assert_int_equal(jnaRetarget(&source, &def, &target, 30, &clip, &notes, &error), jn_ok);
    assert_non_null(strstr(notes.lines[0], "RightHand"));
    assert_null(strstr(notes.lines[1], "wing_joint_7"));
    // The bend of the elbow arrived.
    const float* bend = clip.rotations + ((size_t)30 * PARTS + 7) * 4;
    assert_true(2 * acosf(fminf(fabsf(bend[3]), 1)) > 0.7F);
    jnaDestroyClip(&clip);
    jnaDestroyNotes(&notes);
    const jnaJointPair wrong[] = {{"LeftForeArm", "nobody"}};
    def = (jnaRetargetDef){1, wrong};
    assert_int_equal(jnaRetarget(&source, &def, &target, 30, &clip, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "no joint 'nobody'"));
    jnaDestroyCharacter(&target);
    jnaDestroySource(&source);
}

static void FingersFollowAlthoughThePrefixDiffers(void** state)
{
    (void)state;
    const char *from[PARTS], *to[PARTS];
    memcpy(from, conventions[0], sizeof(from));
    memcpy(to, conventions[1], sizeof(to));
    from[5] = "LeftHandThumb1"; // no part of the humanoid: the name alone matches it
    to[5] = "mixamorig:LeftHandThumb1";
    jnaSource source = MakeMotion(from);
    for (int f = 0; f <= 30; ++f) {
        const double ahead[3] = {0, 0, 1};
        double q[4];
        jnaQuat_FromAxis(ahead, f / 30.0, q);
        for (size_t i = 0; i < 4; ++i) {
            source.clip.rotations[4 * ((size_t)f * PARTS + 5) + i] = (float)q[i];
        }
    }
    jnaCharacter target = MakeFigure(to, 1.7, 0);
    jnaClip clip;
    jnError error = {0};
    jnaNotes notes = {0};
    assert_int_equal(jnaRetarget(&source, NULL, &target, 30, &clip, &notes, &error), jn_ok);
    assert_int_equal(notes.count, 0);
    const float* bend = clip.rotations + ((size_t)30 * PARTS + 5) * 4;
    assert_true(fabsf(2 * acosf(fminf(fabsf(bend[3]), 1)) - 1) < 0.01F);
    jnaDestroyClip(&clip);
    jnaDestroyNotes(&notes);
    jnaDestroyCharacter(&target);
    jnaDestroySource(&source);
}

static void LandmarksStandInForNames(void** state)
{
    (void)state;
    static const char* const names[PARTS] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "m", "n", "o", "p", "q", "s", "t", "u"};
    static const char* const parts[PARTS] = {"hips", "spine", "spine", "neck", "head", "left_clavicle",
        "left_upper_arm", "left_forearm", "left_hand", "right_clavicle", "right_upper_arm", "right_forearm",
        "right_hand", "left_thigh", "left_shin", "left_foot", "right_thigh", "right_shin", "right_foot"};
    jnaSource source = MakeMotion(conventions[1]);
    jnaCharacter target = MakeFigure(names, 1.7, 45);
    // By part of the body, whatever the motion's joints are called, and by the motion's joints.
    for (int k = 0; k < 2; ++k) {
        jnaJointPair pairs[PARTS];
        for (int j = 0; j < PARTS; ++j) {
            pairs[j] = (jnaJointPair){k == 0 ? parts[j] : conventions[1][j], names[j]};
        }
        jnaRetargetDef def = {PARTS, pairs};
        jnaClip clip;
        jnError error = {0};
        jnResult result = jnaRetarget(&source, &def, &target, 30, &clip, NULL, &error);
        if (result != jn_ok) {
            fail_msg("%s", error.message);
        }
        assert_true(WorstLimb(&target, &clip, &source) < 0.1);
        jnaDestroyClip(&clip);
    }
    jnaDestroyCharacter(&target);
    jnaDestroySource(&source);
}

static void ClipsThatEndWhereTheyBeginAreLoops(void** state)
{
    (void)state;
    jnaSource source = MakeMotion(conventions[0]);
    jnaClip* clip = &source.clip;
    assert_false(jnaClip_SetLoop(clip, jna_loopAuto));
    assert_int_equal(clip->frameCount, 31);
    memcpy(clip->rotations + (size_t)30 * PARTS * 4, clip->rotations, PARTS * 4 * sizeof(float));
    memcpy(clip->translations + (size_t)30 * PARTS * 3, clip->translations, PARTS * 3 * sizeof(float));
    for (int i = 0; i < 4; ++i) {
        clip->rotations[(size_t)30 * PARTS * 4 + (size_t)i] *= -1; // the same rotation
    }
    assert_false(jnaClip_SetLoop(clip, jna_loopNo));
    assert_int_equal(clip->frameCount, 31);
    assert_true(jnaClip_SetLoop(clip, jna_loopAuto));
    assert_true(clip->looping);
    assert_int_equal(clip->frameCount, 30);
    // Now its ends differ; it is one all the same where somebody says so, and keeps its frames.
    clip->looping = false;
    assert_true(jnaClip_SetLoop(clip, jna_loopYes));
    assert_int_equal(clip->frameCount, 30);
    jnaDestroySource(&source);
}

static void ASkeletonThatIsNoHumanIsRefused(void** state)
{
    (void)state;
    const char* names[PARTS] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "m", "n", "o", "p", "q", "s", "t", "u"};
    jnaSource source = MakeMotion(conventions[0]);
    jnaCharacter target = MakeFigure(names, 1, 0);
    jnaClip clip;
    jnError error = {0};
    assert_int_equal(jnaRetarget(&source, NULL, &target, 30, &clip, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "x.bvh: no names of hips, head and legs among"));
    jnaDestroyCharacter(&target);
    jnaDestroySource(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryConventionIsRecognised),
        cmocka_unit_test(ARigInAnAPoseGetsThePerformersLimbs),
        cmocka_unit_test(AZUpSkeletonThatFacesAnotherWayIsTurned),
        cmocka_unit_test(OverridesMatchWhatNamesCannot),
        cmocka_unit_test(FingersFollowAlthoughThePrefixDiffers),
        cmocka_unit_test(LandmarksStandInForNames),
        cmocka_unit_test(ClipsThatEndWhereTheyBeginAreLoops),
        cmocka_unit_test(ASkeletonThatIsNoHumanIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
