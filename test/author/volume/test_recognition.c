// Which joint is taken for which part of the body: by names, by shape, and by hand.
#include "character/body.h"
#include "character/figure.h"
#include "helpers/support.h"
#include "volume/anatomy.h"

enum { PARTS = 21 };

// Pelvis, spine, chest, neck, head; collar bone, upper arm, forearm, hand of each side; thigh, shin, foot of each side;
// two more.
typedef struct Skeleton {
    int parents[PARTS];
    const char* names[PARTS];
} Skeleton;

#define USUAL                                                                                                          \
    {                                                                                                                  \
        -1, 0, 1, 2, 3, 2, 5, 6, 7, 2, 9, 10, 11, 0, 13, 14, 0, 16, 17, 4, 8                                           \
    }
static const Skeleton skeletons[] = {
    {USUAL, {"mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Neck", "mixamorig:Head",
                "mixamorig:LeftShoulder", "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftHand",
                "mixamorig:RightShoulder", "mixamorig:RightArm", "mixamorig:RightForeArm", "mixamorig:RightHand",
                "mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot", "mixamorig:RightUpLeg",
                "mixamorig:RightLeg", "mixamorig:RightFoot", "mixamorig:HeadTop_End", "mixamorig:LeftHandThumb1"}},
    // Collar bones on the neck, thighs on the spine, a ponytail, a bow.
    {{-1, 0, 1, 2, 3, 3, 5, 6, 7, 3, 9, 10, 11, 1, 13, 14, 1, 16, 17, 4, 8},
        {"Bip001 Pelvis", "Bip001 Spine", "Bip001 Spine1", "Bip001 Neck", "Bip001 Head", "Bip001 L Clavicle",
            "Bip001 L UpperArm", "Bip001 L Forearm", "Bip001 L Hand", "Bip001 R Clavicle", "Bip001 R UpperArm",
            "Bip001 R Forearm", "Bip001 R Hand", "Bip001 L Thigh", "Bip001 L Calf", "Bip001 L Foot", "Bip001 R Thigh",
            "Bip001 R Calf", "Bip001 R Foot", "Bip001 Ponytail1", "bow_bone"}},
    {USUAL, {"pelvis", "spine_01", "spine_02", "neck_01", "head", "clavicle_l", "upperarm_l", "lowerarm_l", "hand_l",
                "clavicle_r", "upperarm_r", "lowerarm_r", "hand_r", "thigh_l", "calf_l", "foot_l", "thigh_r", "calf_r",
                "foot_r", "hair_01", "index_01_l"}},
    {USUAL, {"J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_Neck", "J_Bip_C_Head", "J_Bip_L_Shoulder",
                "J_Bip_L_UpperArm", "J_Bip_L_LowerArm", "J_Bip_L_Hand", "J_Bip_R_Shoulder", "J_Bip_R_UpperArm",
                "J_Bip_R_LowerArm", "J_Bip_R_Hand", "J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot",
                "J_Bip_R_UpperLeg", "J_Bip_R_LowerLeg", "J_Bip_R_Foot", "J_Sec_Hair1_01", "J_Bip_L_Index1"}},
    // A foot and a hand beyond the ankle and the wrist.
    {USUAL, {"Pelvis", "Spine1", "Spine2", "Neck", "Head", "L_Collar", "L_Shoulder", "L_Elbow", "L_Wrist", "R_Collar",
                "R_Shoulder", "R_Elbow", "R_Wrist", "L_Hip", "L_Knee", "L_Ankle", "R_Hip", "R_Knee", "R_Ankle", "Jaw",
                "L_Hand"}},
};

static jnaCharacter MakeSkeleton(const Skeleton* s)
{
    jnaCharacter c = {.jointCount = PARTS};
    assert_int_equal(jnaCharacter_Allocate(&c, false, NULL), jn_ok);
    for (int j = 0; j < PARTS; ++j) {
        snprintf(c.joints[j].name, JNA_NAME_LENGTH, "%s", s->names[j]);
        c.joints[j].parent = s->parents[j];
    }
    return c;
}

static void EveryVocabularyNamesTheBody(void** state)
{
    (void)state;
    static const int expected[JNA_BODY_SLOTS] = {0, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    for (size_t i = 0; i < sizeof(skeletons) / sizeof(skeletons[0]); ++i) {
        jnaCharacter c = MakeSkeleton(&skeletons[i]);
        int joints[JNA_BODY_SLOTS];
        jnaNameBody(&c, joints);
        for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
            if (joints[s] != expected[s]) {
                fail_msg("skeleton %d: %s is joint %d, not %d", (int)i, jnaBodySlotNames[s], joints[s], expected[s]);
            }
        }
        jnaDestroyCharacter(&c);
    }
}

static void NamesThatMakeNoWholeLimbAreNotBelieved(void** state)
{
    (void)state;
    Skeleton s = skeletons[0];
    s.parents[15] = 0; // the left foot is a control beside the leg
    jnaCharacter c = MakeSkeleton(&s);
    int joints[JNA_BODY_SLOTS];
    jnaNameBody(&c, joints);
    for (int k = 0; k < 6; ++k) {
        assert_int_equal(joints[jnaLimbSlot(true, 0) + k], -1);
        assert_true(joints[jnaLimbSlot(false, 0) + k] >= 0);
    }
    assert_int_equal(joints[jna_slotPelvis], -1);
    jnaDestroyCharacter(&c);
}

static jnaCharacter MakeTheFigure(void)
{
    jnaCharacter c;
    assert_int_equal(jnaCreateFigure(&c, NULL), jn_ok);
    return c;
}

static void FindBody(const jnaCharacter* c, int* joints)
{
    jnaAnatomy anatomy;
    jnError error = {0};
    if (jnaFindSurfaceAnatomy(c, &anatomy, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    jnaAnatomy_Body(&anatomy, c, joints);
    jnaDestroyAnatomy(&anatomy);
}

static int JointOf(const jnaCharacter* c, const char* name)
{
    for (int j = 0; j < c->jointCount; ++j) {
        if (strcmp(c->joints[j].name, name) == 0) {
            return j;
        }
    }
    fail_msg("the figure has no joint %s", name);
    return -1;
}

static void ShapeAloneFindsTheSameJointsOnBothSides(void** state)
{
    (void)state;
    jnaCharacter c = MakeTheFigure(), plain = MakeTheFigure();
    int named[JNA_BODY_SLOTS], shaped[JNA_BODY_SLOTS];
    for (int j = 0; j < plain.jointCount; ++j) {
        snprintf(plain.joints[j].name, JNA_NAME_LENGTH, "joint_%02d", j);
    }
    FindBody(&c, named);
    FindBody(&plain, shaped);
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        assert_true(named[s] >= 0);
        assert_int_equal(named[s], shaped[s]);
    }
    for (int k = 0; k < 6; ++k) {
        int left = jna_slotLimbs + 6 * (k / 3) + k % 3;
        assert_int_equal(jnaOppositeJoint(&c, shaped[left]), shaped[left + 3]);
        assert_int_equal(jnaOppositeJoint(&plain, shaped[left]), shaped[left + 3]); // by place
    }
    jnaDestroyCharacter(&c);
    jnaDestroyCharacter(&plain);
}

// The figure with one more joint in its head that moves nearly all of it; no other joint has a name that says anything.
static jnaCharacter MakeHaired(const char* name)
{
    jnaCharacter c = MakeTheFigure();
    int head = JointOf(&c, "Head"), extra = c.jointCount;
    jnaJoint* joints = realloc(c.joints, (size_t)(extra + 1) * sizeof(*joints));
    assert_non_null(joints);
    c.joints = joints;
    joints[extra] = joints[head];
    joints[extra].parent = head;
    memset(joints[extra].translation, 0, sizeof(joints[extra].translation));
    const float none[4] = {0, 0, 0, 1};
    memcpy(joints[extra].rotation, none, sizeof(none));
    c.jointCount++;
    for (int j = 0; j < c.jointCount; ++j) {
        snprintf(joints[j].name, JNA_NAME_LENGTH, "joint_%02d", j);
    }
    snprintf(joints[extra].name, JNA_NAME_LENGTH, "%s", name);
    for (int v = 0; v < c.vertexCount; ++v) {
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            c.influences[v].joints[k] =
                c.influences[v].joints[k] == head && v % 20 != 0 ? (uint16_t)extra : c.influences[v].joints[k];
        }
    }
    return c;
}

static void HairIsNoHead(void** state)
{
    (void)state;
    int joints[JNA_BODY_SLOTS];
    jnaCharacter c = MakeHaired("joint_99");
    int extra = c.jointCount - 1, head = c.joints[extra].parent;
    FindBody(&c, joints);
    assert_int_equal(joints[jna_slotHead], extra);
    jnaDestroyCharacter(&c);
    c = MakeHaired("Bip001 Ponytail1");
    FindBody(&c, joints);
    assert_int_equal(joints[jna_slotHead], head);
    jnaDestroyCharacter(&c);
}

static void APersonsWordIsAboveNamesAndShape(void** state)
{
    (void)state;
    jnaCharacter c = MakeTheFigure();
    jnError error = {0};
    int before[JNA_BODY_SLOTS], after[JNA_BODY_SLOTS];
    FindBody(&c, before);
    assert_int_equal(jnaCharacter_SetBody(&c, jna_slotChest, "Spine", &error), jn_ok);
    assert_int_equal(jnaCharacter_SetBody(&c, (jnaBodySlot)jnaLimbSlot(false, 0), "LeftShoulder", &error), jn_ok);
    FindBody(&c, after);
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        // The other side follows.
        int expected = s == jna_slotChest           ? JointOf(&c, "Spine")
                       : s == jnaLimbSlot(false, 0) ? JointOf(&c, "LeftShoulder")
                       : s == jnaLimbSlot(false, 1) ? JointOf(&c, "RightShoulder")
                                                    : before[s];
        assert_int_equal(after[s], expected);
    }
    // What was recognised can be said by hand and changes nothing.
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        c.body[s] = before[s] + 1;
    }
    FindBody(&c, after);
    assert_memory_equal(before, after, sizeof(before));
    jnaDestroyCharacter(&c);
}

static void WhatDoesNotFitIsRefused(void** state)
{
    (void)state;
    jnaCharacter c = MakeTheFigure();
    jnaAnatomy anatomy;
    jnError error = {0};
    assert_int_equal(jnaCharacter_SetBody(&c, jna_slotChest, "Spin1", &error), jn_badArgument);
    assert_non_null(strstr(error.message, "body.chest: the character has no joint 'Spin1'"));
    assert_non_null(strstr(error.message, "'Spine1'"));
    assert_int_equal(jnaCharacter_SetBody(&c, (jnaBodySlot)(jnaLimbSlot(false, 0) + 1), "Head", &error), jn_ok);
    assert_int_equal(jnaFindSurfaceAnatomy(&c, &anatomy, &error), jn_badData);
    assert_string_equal(
        error.message, "body: left_forearm 'Head' is not below left_upper_arm 'LeftArm' in the skeleton");
    jnaDestroyCharacter(&c);
}

static void ThePartsArePrintedAsAManifestHasThem(void** state)
{
    (void)state;
    jnaCharacter c = MakeSkeleton(&skeletons[1]);
    int joints[JNA_BODY_SLOTS];
    jnaNameBody(&c, joints);
    char* text = jnaDescribeBody(&c, joints);
    assert_non_null(text);
    assert_ptr_equal(strstr(text, "body: {pelvis: \"Bip001 Pelvis\", chest: \"Bip001 Spine1\""), text);
    assert_non_null(strstr(text, ",\n  left_thigh: \"Bip001 L Thigh\", left_shin: \"Bip001 L Calf\""));
    assert_non_null(strstr(text, "right_foot: \"Bip001 R Foot\"}\n"));
    free(text);
    jnaDestroyCharacter(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryVocabularyNamesTheBody),
        cmocka_unit_test(NamesThatMakeNoWholeLimbAreNotBelieved),
        cmocka_unit_test(ShapeAloneFindsTheSameJointsOnBothSides),
        cmocka_unit_test(HairIsNoHead),
        cmocka_unit_test(APersonsWordIsAboveNamesAndShape),
        cmocka_unit_test(WhatDoesNotFitIsRefused),
        cmocka_unit_test(ThePartsArePrintedAsAManifestHasThem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
