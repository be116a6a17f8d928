// Names of joints as many tools write them.
#include "character/joint_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void SideAndWordAreFoundInEveryConvention(void** state)
{
    (void)state;
    static const struct {
        const char *name, *word;
        int side;
    } known[] = {
        {"mixamorig:LeftForeArm", "forearm", JNA_LEFT},
        {"mixamorig_RightUpLeg", "upleg", JNA_RIGHT},
        {"mixamorig9:Hips", "hips", JNA_NO_SIDE},
        {"Bip001 L UpperArm", "upperarm", JNA_LEFT},
        {"Bip01_R_Thigh", "thigh", JNA_RIGHT},
        {"ValveBiped.Bip01_L_Calf", "calf", JNA_LEFT},
        {"Bip001 Spine2", "spine2", JNA_NO_SIDE},
        {"LThumb", "thumb", JNA_LEFT},
        {"upperarm01.L", "upperarm01", JNA_LEFT},
        {"upperarm_l", "upperarm", JNA_LEFT},
        {"DEF-upper_arm.R", "upperarm", JNA_RIGHT},
        {"J_Bip_C_Chest", "chest", JNA_NO_SIDE},
        {"J_Bip_R_LowerLeg", "lowerleg", JNA_RIGHT},
        {"CC_Base_L_Forearm", "forearm", JNA_LEFT},
        {"lShldrBend", "shldrbend", JNA_LEFT},
        {"upper_armFBXASC046L", "upperarm", JNA_LEFT},
        {"ThighR", "thigh", JNA_RIGHT},
        {"L_Knee_jnt", "knee", JNA_LEFT},
        {"ball_l", "ball", JNA_LEFT},
        {"Bone.007", "bone007", JNA_NO_SIDE},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        jnaJointName split;
        jnaSplitJointName(known[i].name, &split);
        assert_string_equal(split.word, known[i].word);
        assert_int_equal(split.side, known[i].side);
    }
    jnaJointName fox;
    jnaSplitJointName("b_LeftUpperArm_09", &fox);
    assert_string_equal(fox.base, "upperarm");
    assert_int_equal(fox.side, JNA_LEFT);
}

static void HairPropsAndFingersAreNoPartsOfABody(void** state)
{
    (void)state;
    static const char* const foreign[] = {"Bip001 Ponytail1", "Bip001 hair_l02", "bow_bone", "Bow_Wing01",
        "bowstring_bone", "Bip001 Prop1", "Bip001 pants_b", "J_Sec_Hair1_01", "ik_hand_l", "PoleTarget.L"};
    static const char* const details[] = {"mixamorig:LeftHandThumb1", "RThumb", "Bip001 L Finger21", "f_index.01.L",
        "upperarm_twist_01_l", "LeftForeArmRoll", "mixamorig:HeadTop_End", "LeftEye", "Bip001 jaw"};
    static const char* const others[] = {"LeftForeArm", "Bip001 R Elbow", "Head", "LHipJoint", "mixamorig:Spine2",
        "b_Neck_04", "nodes[12]", "joint_03", "forearm", "elbow.L", "Bip001 R Hand"};
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); ++i) {
        assert_int_equal(jnaJointName_Kind(foreign[i]), jna_nameForeign);
    }
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); ++i) {
        assert_int_equal(jnaJointName_Kind(details[i]), jna_nameDetail);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
        assert_int_equal(jnaJointName_Kind(others[i]), jna_nameAny);
    }
}

static void PrefixesMakeNoDifference(void** state)
{
    (void)state;
    assert_true(jnaSameJointName("mixamorig:LeftHandThumb1", "LeftHandThumb1"));
    assert_true(jnaSameJointName("mixamorig_RightHandPinky3", "mixamorig:RightHandPinky3"));
    assert_false(jnaSameJointName("mixamorig:LeftHandThumb1", "RightHandThumb1"));
    assert_false(jnaSameJointName("LeftHandThumb1", "LeftHandThumb2"));
}

static void TheNearestNamesAreOffered(void** state)
{
    (void)state;
    static const char* const names[] = {"mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine2", "mixamorig:LeftArm"};
    jnaCharacter c = {.jointCount = 4};
    char text[200];
    assert_int_equal(jnaCharacter_Allocate(&c, false, NULL), jn_ok);
    for (int j = 0; j < 4; ++j) {
        strcpy(c.joints[j].name, names[j]);
    }
    jnaNearestJoints(&c, "Spne2", text, sizeof(text));
    assert_string_equal(text, "'mixamorig:Spine2', 'mixamorig:Spine', 'mixamorig:Hips'");
    assert_int_equal(jnaWordDistance("chest", "chst"), 1);
    assert_int_equal(jnaWordDistance("", "head"), 4);
    jnaDestroyCharacter(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SideAndWordAreFoundInEveryConvention),
        cmocka_unit_test(HairPropsAndFingersAreNoPartsOfABody),
        cmocka_unit_test(PrefixesMakeNoDifference),
        cmocka_unit_test(TheNearestNamesAreOffered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
