// Bones by name in the conventions of a dozen tools, axes and units, and vertices in an importer's order.
#include "helpers/support.h"

#include "jounce/jounce.h"

#include <math.h>
#include <string.h>

enum { BODY_JOINTS = 31, FIGURE_JOINTS = 21, NAMES = 12, MOST = 64 };

// The joints of two rigs, and what tools call them. Those of Godot are what Godot 3.2.3 made of the files.
typedef struct Row {
    const char* joint;
    const char* names[NAMES];
} Row;
static const char* const tools[NAMES] = {"Mixamo", "Biped", "Rigify", "Unreal mannequin", "VRoid", "VRM and Unity",
    "Godot 3", "MotionBuilder", "Daz", "Character Creator", "Blender's sides", "Maya through FBX"};

// clang-format off
static const Row body[BODY_JOINTS] = {
    {"Hips", {"mixamorig:Hips", "Bip01 Pelvis", "DEF-spine", "pelvis", "J_Bip_C_Hips", "hips", "hips", "Character1_Hips", "hip", "CC_Base_Hip", "Hips", "hero:HIPS"}},
    {"LHipJoint", {"mixamorig:LHipJoint", "Bip01 L HipJoint", "DEF-hip_joint.L", "hipjoint_l", "J_Bip_L_HipJoint", "leftHipJoint", "l_hip_joint", "Character1_LHipJoint", "lHipJoint", "CC_Base_L_HipJoint", "HipJoint.L", "hero:L_HIP_JOINT"}},
    {"LeftUpLeg", {"mixamorig:LeftUpLeg", "Bip01 L Thigh", "DEF-thigh.L", "thigh_l", "J_Bip_L_UpperLeg", "leftUpperLeg", "left_up_leg", "Character1_LeftUpLeg", "lThighBend", "CC_Base_L_Thigh", "UpLeg.L", "hero:LEFT_UPLEG"}},
    {"LeftLeg", {"mixamorig:LeftLeg", "Bip01 L Calf", "DEF-shin.L", "calf_l", "J_Bip_L_LowerLeg", "leftLowerLeg", "left_leg", "Character1_LeftLeg", "lShin", "CC_Base_L_Calf", "Leg.L", "hero:LEFT_LEG"}},
    {"LeftFoot", {"mixamorig:LeftFoot", "Bip01 L Foot", "DEF-foot.L", "foot_l", "J_Bip_L_Foot", "leftFoot", "left_foot", "Character1_LeftFoot", "lFoot", "CC_Base_L_Foot", "Foot.L", "hero:LEFT_FOOT"}},
    {"LeftToeBase", {"mixamorig:LeftToeBase", "Bip01 L Toe0", "DEF-toe.L", "ball_l", "J_Bip_L_ToeBase", "leftToes", "left_toe_base", "Character1_LeftToeBase", "lToe", "CC_Base_L_ToeBase", "ToeBase.L", "hero:LEFT_TOEBASE"}},
    {"LowerBack", {"mixamorig:Spine", "Bip01 Spine", "DEF-spine.001", "spine_01", "J_Bip_C_Spine", "spine", "lower_back", "Character1_Spine", "abdomenLower", "CC_Base_Waist", "LowerBack", "hero:LOWERBACK"}},
    {"Spine", {"mixamorig:Spine1", "Bip01 Spine1", "DEF-spine.002", "spine_02", "J_Bip_C_Chest", "chest", "spine", "Character1_Spine1", "abdomenUpper", "CC_Base_Spine01", "Spine", "hero:SPINE"}},
    {"Spine1", {"mixamorig:Spine2", "Bip01 Spine2", "DEF-spine.003", "spine_03", "J_Bip_C_UpperChest", "upperChest", "spine_1", "Character1_Spine2", "chestLower", "CC_Base_Spine02", "Spine1", "hero:SPINEFBXASC0461"}},
    {"LeftShoulder", {"mixamorig:LeftShoulder", "Bip01 L Clavicle", "DEF-shoulder.L", "clavicle_l", "J_Bip_L_Shoulder", "leftShoulder", "left_shoulder", "Character1_LeftShoulder", "lCollar", "CC_Base_L_Clavicle", "Shoulder.L", "hero:LEFT_SHOULDER"}},
    {"LeftArm", {"mixamorig:LeftArm", "Bip01 L UpperArm", "DEF-upper_arm.L", "upperarm_l", "J_Bip_L_UpperArm", "leftUpperArm", "left_arm", "Character1_LeftArm", "lShldrBend", "CC_Base_L_Upperarm", "Arm.L", "hero:LEFT_ARM"}},
    {"LeftForeArm", {"mixamorig:LeftForeArm", "Bip01 L Forearm", "DEF-forearm.L", "lowerarm_l", "J_Bip_L_LowerArm", "leftLowerArm", "left_fore_arm", "Character1_LeftForeArm", "lForearmBend", "CC_Base_L_Forearm", "ForeArm.L", "hero:LEFT_FOREARM"}},
    {"LeftHand", {"mixamorig:LeftHand", "Bip01 L Hand", "DEF-hand.L", "hand_l", "J_Bip_L_Hand", "leftHand", "left_hand", "Character1_LeftHand", "lHand", "CC_Base_L_Hand", "Hand.L", "hero:LEFT_HAND"}},
    {"LThumb", {"mixamorig:LeftHandThumb1", "Bip01 L Finger0", "DEF-thumb.01.L", "thumb_01_l", "J_Bip_L_Thumb1", "leftThumbProximal", "l_thumb", "Character1_LeftHandThumb1", "lThumb1", "CC_Base_L_Thumb1", "Thumb.L", "hero:L_THUMB"}},
    {"LeftFingerBase", {"mixamorig:LeftFingerBase", "Bip01 L FingerBase", "DEF-finger_base.L", "fingerbase_l", "J_Bip_L_FingerBase", "leftFingerBase", "left_finger_base", "Character1_LeftFingerBase", "lFingerBase", "CC_Base_L_FingerBase", "FingerBase.L", "hero:LEFT_FINGERBASE"}},
    {"LeftHandFinger1", {"mixamorig:LeftHandIndex1", "Bip01 L Finger1", "DEF-f_index.01.L", "index_01_l", "J_Bip_L_Index1", "leftIndexProximal", "left_hand_finger_1", "Character1_LeftHandIndex1", "lIndex1", "CC_Base_L_Index1", "HandFinger1.L", "hero:LEFT_HANDFINGER1"}},
    {"Neck", {"mixamorig:Neck", "Bip01 Neck", "DEF-spine.004", "neck_01", "J_Bip_C_Neck", "neck", "neck", "Character1_Neck", "neckLower", "CC_Base_NeckTwist01", "Neck", "hero:NECK"}},
    {"Neck1", {"mixamorig:Neck1", "Bip01 Neck1", "DEF-spine.005", "neck_02", "J_Bip_C_Neck1", "neck1", "neck_1", "Character1_Neck1", "neckUpper", "CC_Base_NeckTwist02", "Neck1", "hero:NECKFBXASC0461"}},
    {"Head", {"mixamorig:Head", "Bip01 Head", "DEF-spine.006", "head", "J_Bip_C_Head", "head", "head", "Character1_Head", "head", "CC_Base_Head", "Head", "hero:HEAD"}},
    {"RightShoulder", {"mixamorig:RightShoulder", "Bip01 R Clavicle", "DEF-shoulder.R", "clavicle_r", "J_Bip_R_Shoulder", "rightShoulder", "right_shoulder", "Character1_RightShoulder", "rCollar", "CC_Base_R_Clavicle", "Shoulder.R", "hero:RIGHT_SHOULDER"}},
    {"RightArm", {"mixamorig:RightArm", "Bip01 R UpperArm", "DEF-upper_arm.R", "upperarm_r", "J_Bip_R_UpperArm", "rightUpperArm", "right_arm", "Character1_RightArm", "rShldrBend", "CC_Base_R_Upperarm", "Arm.R", "hero:RIGHT_ARM"}},
    {"RightForeArm", {"mixamorig:RightForeArm", "Bip01 R Forearm", "DEF-forearm.R", "lowerarm_r", "J_Bip_R_LowerArm", "rightLowerArm", "right_fore_arm", "Character1_RightForeArm", "rForearmBend", "CC_Base_R_Forearm", "ForeArm.R", "hero:RIGHT_FOREARM"}},
    {"RightHand", {"mixamorig:RightHand", "Bip01 R Hand", "DEF-hand.R", "hand_r", "J_Bip_R_Hand", "rightHand", "right_hand", "Character1_RightHand", "rHand", "CC_Base_R_Hand", "Hand.R", "hero:RIGHT_HAND"}},
    {"RThumb", {"mixamorig:RightHandThumb1", "Bip01 R Finger0", "DEF-thumb.01.R", "thumb_01_r", "J_Bip_R_Thumb1", "rightThumbProximal", "r_thumb", "Character1_RightHandThumb1", "rThumb1", "CC_Base_R_Thumb1", "Thumb.R", "hero:R_THUMB"}},
    {"RightFingerBase", {"mixamorig:RightFingerBase", "Bip01 R FingerBase", "DEF-finger_base.R", "fingerbase_r", "J_Bip_R_FingerBase", "rightFingerBase", "right_finger_base", "Character1_RightFingerBase", "rFingerBase", "CC_Base_R_FingerBase", "FingerBase.R", "hero:RIGHT_FINGERBASE"}},
    {"RightHandFinger1", {"mixamorig:RightHandIndex1", "Bip01 R Finger1", "DEF-f_index.01.R", "index_01_r", "J_Bip_R_Index1", "rightIndexProximal", "right_hand_finger_1", "Character1_RightHandIndex1", "rIndex1", "CC_Base_R_Index1", "HandFinger1.R", "hero:RIGHT_HANDFINGER1"}},
    {"RHipJoint", {"mixamorig:RHipJoint", "Bip01 R HipJoint", "DEF-hip_joint.R", "hipjoint_r", "J_Bip_R_HipJoint", "rightHipJoint", "r_hip_joint", "Character1_RHipJoint", "rHipJoint", "CC_Base_R_HipJoint", "HipJoint.R", "hero:R_HIP_JOINT"}},
    {"RightUpLeg", {"mixamorig:RightUpLeg", "Bip01 R Thigh", "DEF-thigh.R", "thigh_r", "J_Bip_R_UpperLeg", "rightUpperLeg", "right_up_leg", "Character1_RightUpLeg", "rThighBend", "CC_Base_R_Thigh", "UpLeg.R", "hero:RIGHT_UPLEG"}},
    {"RightLeg", {"mixamorig:RightLeg", "Bip01 R Calf", "DEF-shin.R", "calf_r", "J_Bip_R_LowerLeg", "rightLowerLeg", "right_leg", "Character1_RightLeg", "rShin", "CC_Base_R_Calf", "Leg.R", "hero:RIGHT_LEG"}},
    {"RightFoot", {"mixamorig:RightFoot", "Bip01 R Foot", "DEF-foot.R", "foot_r", "J_Bip_R_Foot", "rightFoot", "right_foot", "Character1_RightFoot", "rFoot", "CC_Base_R_Foot", "Foot.R", "hero:RIGHT_FOOT"}},
    {"RightToeBase", {"mixamorig:RightToeBase", "Bip01 R Toe0", "DEF-toe.R", "ball_r", "J_Bip_R_ToeBase", "rightToes", "right_toe_base", "Character1_RightToeBase", "rToe", "CC_Base_R_ToeBase", "ToeBase.R", "hero:RIGHT_TOEBASE"}},
};
// clang-format on

// Of those the built-in figure has: its spine and neck are shorter, so that tools with a word for each place have others.
static const char* const figure[FIGURE_JOINTS] = {"Hips", "Spine", "Spine1", "Neck", "Head", "LeftShoulder", "LeftArm",
    "LeftForeArm", "LeftHand", "RightShoulder", "RightArm", "RightForeArm", "RightHand", "LeftUpLeg", "LeftLeg",
    "LeftFoot", "LeftToeBase", "RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"};

static jnAssetJoint joints[MOST];

// An asset of joints alone, as far as matching looks at it.
static jnAsset Rig(const char* const* names, int count)
{
    jnAsset a = {.name = "rig", .jointCount = count, .joints = joints};
    memset(joints, 0, sizeof(joints));
    for (int j = 0; j < count; ++j) {
        snprintf(joints[j].name, sizeof(joints[j].name), "%s", names[j]);
    }
    return a;
}

static void ExpectAll(const char* tool, const jnAsset* a, const char* const* names, const int* truth, int count)
{
    jnBoneMatch matches[MOST];
    char text[2048];
    int found = jnAsset_MatchBones(a, names, count, matches);
    (void)jnAsset_DescribeBones(a, matches, text, sizeof(text));
    print_message("%s: %s\n", tool, text);
    for (int j = 0; j < a->jointCount; ++j) {
        if (matches[j].bone != truth[j]) {
            fail_msg("%s: %s is '%s'", tool, a->joints[j].name,
                matches[j].bone < 0 ? "missing" : names[matches[j].bone]);
        }
    }
    assert_int_equal(found, a->jointCount);
}

// Whatever the order of the bones, as long as parents come before their children: here arms before legs, and others between.
static void TheBodysBonesAreFoundByEveryToolsNames(void** state)
{
    (void)state;
    const char *own[BODY_JOINTS], *names[MOST];
    int truth[BODY_JOINTS];
    for (int j = 0; j < BODY_JOINTS; ++j) {
        own[j] = body[j].joint;
    }
    jnAsset a = Rig(own, BODY_JOINTS);
    for (int tool = 0; tool < NAMES; ++tool) {
        int count = 0;
        names[count++] = "Armature";
        for (int i = 0; i < BODY_JOINTS; ++i) {
            int j = i == 0 ? 0 : 1 + (i - 1 + 7) % (BODY_JOINTS - 1); // from Spine1 on, then the left leg
            bool trunk = strcmp(own[j], "LowerBack") == 0 || strcmp(own[j], "Spine") == 0;
            if (trunk) {
                continue; // below
            }
            if (i == 1) {
                for (int back = 6; back < 8; ++back) {
                    truth[back] = count;
                    names[count++] = body[back].names[tool];
                }
                names[count++] = "hair_root";
            }
            truth[j] = count;
            names[count++] = body[j].names[tool];
        }
        names[count++] = "sword_ik";
        ExpectAll(tools[tool], &a, names, truth, count);
    }
}

static void TheFiguresBonesAreFoundByEveryToolsNames(void** state)
{
    (void)state;
    // Hips, two of a spine, a neck and a head, where a tool numbers them or calls each otherwise.
    static const char* const trunks[NAMES][5] = {[0] = {"mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine1"},
        [1] = {"Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1"},
        [2] = {"DEF-spine", "DEF-spine.001", "DEF-spine.002", "DEF-spine.003", "DEF-spine.004"},
        [3] = {"pelvis", "spine_01", "spine_02"},
        [4] = {"J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest"},
        [5] = {"hips", "spine", "chest"},
        [6] = {"hips", "spine", "spine_1"},
        [7] = {"Character1_Hips", "Character1_Spine", "Character1_Spine1"},
        [8] = {"hip", "abdomenLower", "chestLower"},
        [9] = {"CC_Base_Hip", "CC_Base_Waist", "CC_Base_Spine01"},
        [10] = {"Hips", "Spine", "Spine1"},
        [11] = {"hero:HIPS", "hero:SPINE", "hero:SPINEFBXASC0461"}};
    const char* names[MOST];
    int truth[FIGURE_JOINTS];
    jnAsset a = Rig(figure, FIGURE_JOINTS);
    for (int tool = 0; tool < NAMES; ++tool) {
        for (int j = 0; j < FIGURE_JOINTS; ++j) {
            truth[j] = j;
            names[j] = j < 5 ? trunks[tool][j] : NULL;
            for (int k = 0; k < BODY_JOINTS && names[j] == NULL; ++k) {
                names[j] = strcmp(body[k].joint, figure[j]) == 0 ? body[k].names[tool] : NULL;
            }
        }
        ExpectAll(tools[tool], &a, names, truth, FIGURE_JOINTS);
    }
}

static void WhatIsMissingIsNamed(void** state)
{
    (void)state;
    static const char* const own[] = {"Hips", "Spine", "LeftArm", "Tail", "RightArm"};
    static const char* const names[] = {"pelvis", "Spine", "upperarm_l", "spine_05_end"};
    jnAsset a = Rig(own, 5);
    jnBoneMatch matches[5];
    char text[256], cut[12];
    assert_int_equal(jnAsset_MatchBones(&a, names, 4, matches), 3);
    assert_int_equal(matches[0].found, jn_bonePart);
    assert_int_equal(matches[1].found, jn_boneSame);
    assert_int_equal(matches[3].bone, -1);
    size_t length = jnAsset_DescribeBones(&a, matches, text, sizeof(text));
    assert_string_equal(text,
        "3 of 5 joints are found: 1 by the same name, 2 as the same part of a body; missing: 'Tail', 'RightArm'");
    assert_int_equal(length, strlen(text));
    assert_int_equal(jnAsset_DescribeBones(&a, matches, cut, sizeof(cut)), length);
    assert_string_equal(cut, "3 of 5 join");
    assert_int_equal(jnAsset_DescribeBones(&a, matches, NULL, 0), length);
}

static void NoBoneIsGivenTwiceAndNoneWhereNamesAreAmbiguous(void** state)
{
    (void)state;
    static const char* const own[] = {"arm_l", "LeftArm", "tail_1", "prop"};
    static const char* const names[] = {"LeftArm", "a:Prop", "b:prop"};
    jnAsset a = Rig(own, 4);
    jnBoneMatch matches[4];
    (void)jnAsset_MatchBones(&a, names, 3, matches);
    assert_int_equal((matches[0].bone == 0) + (matches[1].bone == 0), 1);
    assert_int_equal(matches[3].bone, -1); // which of the two?
    assert_int_equal(jnAsset_MatchBones(&a, NULL, 0, matches), 0);
}

static void Rotate(const float* q, const float* v, float* out)
{
    float t[3];
    for (int i = 0; i < 3; ++i) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        t[i] = 2 * (q[a] * v[b] - q[b] * v[a]);
    }
    for (int i = 0; i < 3; ++i) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        out[i] = v[i] + q[3] * t[i] + q[a] * t[b] - q[b] * t[a];
    }
}

// To turn and then convert is to convert and then turn, by quaternions and by matrices; and all of it comes back.
static void SpacesAgreeWithThemselves(void** state)
{
    (void)state;
    static const struct {
        const char* axes;
        float unit;
    } spaces[] = {{"xyz", 1}, {"-xyz", 1}, {"xzy", 100}, {"x-zy", 0.5f}, {"zxy", 39.37f}, {"-x-y-z", 1}};
    for (size_t n = 0; n < sizeof(spaces) / sizeof(spaces[0]); ++n) {
        jnEngineSpace s;
        assert_int_equal(jnMakeEngineSpace(spaces[n].axes, spaces[n].unit, &s, NULL), jn_ok);
        float q[4] = {0.36f, -0.48f, 0.64f, 0.48f}, x[3] = {0.3f, -1.1f, 0.7f}, matrix[12], y[3], z[3], w[3], p[4];
        Rotate(q, x, y);
        jnEngineSpace_Points(&s, true, y, 1, y); // converted after the turn
        jnEngineSpace_Points(&s, true, x, 1, z);
        jnEngineSpace_Rotations(&s, true, q, 1, p);
        Rotate(p, z, w); // and before it
        for (int i = 0; i < 3; ++i) {
            ASSERT_NEAR((double)w[i], (double)y[i], 1e-5 * (double)spaces[n].unit);
        }
        for (int c = 0; c < 3; ++c) {
            float axis[3] = {c == 0, c == 1, c == 2}, column[3];
            Rotate(q, axis, column);
            for (int r = 0; r < 3; ++r) {
                matrix[4 * r + c] = column[r] * (float)(1 + c);
                matrix[4 * r + 3] = 0.1f * (float)r;
            }
        }
        float before[3], after[3], made[12], back[12];
        for (int r = 0; r < 3; ++r) {
            before[r] = matrix[4 * r] * x[0] + matrix[4 * r + 1] * x[1] + matrix[4 * r + 2] * x[2] + matrix[4 * r + 3];
        }
        jnEngineSpace_Points(&s, true, before, 1, before);
        jnEngineSpace_Matrices(&s, true, matrix, 1, made);
        for (int r = 0; r < 3; ++r) {
            after[r] = made[4 * r] * z[0] + made[4 * r + 1] * z[1] + made[4 * r + 2] * z[2] + made[4 * r + 3];
            ASSERT_NEAR((double)after[r], (double)before[r], 1e-5 * (double)spaces[n].unit);
        }
        jnEngineSpace_Matrices(&s, false, made, 1, back);
        for (int i = 0; i < 12; ++i) {
            ASSERT_NEAR((double)back[i], (double)matrix[i], 1e-6);
        }
        jnEngineSpace_Rotations(&s, false, p, 1, p);
        jnEngineSpace_Points(&s, false, z, 1, z);
        for (int i = 0; i < 4; ++i) {
            assert_true(p[i] == q[i]);
            assert_true(i == 3 || fabsf(z[i] - x[i]) < 1e-6f);
        }
    }
}

// What the importers of the two engines do with a point, from their sources.
static void UnityAndUnrealAreWhatTheirImportersDo(void** state)
{
    (void)state;
    jnEngineSpace unity, unreal;
    float x[3] = {1, 2, 3}, y[3], scale[3] = {1, 2, 3};
    assert_int_equal(jnMakeEngineSpace("-xyz", 1, &unity, NULL), jn_ok);
    assert_int_equal(jnMakeEngineSpace("xzy", 100, &unreal, NULL), jn_ok);
    jnEngineSpace_Points(&unity, true, x, 1, y);
    assert_true(y[0] == -1 && y[1] == 2 && y[2] == 3);
    jnEngineSpace_Points(&unreal, true, x, 1, y);
    assert_true(y[0] == 100 && y[1] == 300 && y[2] == 200);
    jnEngineSpace_Directions(&unreal, true, x, 1, y);
    assert_true(y[0] == 1 && y[1] == 3 && y[2] == 2);
    jnEngineSpace_Scales(&unity, true, scale, 1, y);
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3);
    jnEngineSpace_Scales(&unreal, true, scale, 1, y);
    assert_true(y[0] == 1 && y[1] == 3 && y[2] == 2);
}

static void WhatIsNoSpaceIsRefused(void** state)
{
    (void)state;
    static const char* const bad[] = {"", "xy", "xxz", "xyzz", "xyw", "--xyz"};
    jnEngineSpace s;
    jnError error;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        assert_int_equal(jnMakeEngineSpace(bad[i], 1, &s, &error), jn_badArgument);
        assert_non_null(strstr(error.message, "are no space"));
    }
    assert_int_equal(jnMakeEngineSpace("xyz", 0, &s, &error), jn_badArgument);
    assert_int_equal(jnMakeEngineSpace("xyz", NAN, &s, &error), jn_badArgument);
}

// A row of vertices, the last of which lies where the first does, on another chart.
static void VerticesAreFoundByPlaceAndChart(void** state)
{
    (void)state;
    enum { COUNT = 50 };
    static float rest[4 * 64], uvs[2 * COUNT], positions[3 * COUNT], theirs[2 * COUNT];
    static int32_t weld[COUNT], found[COUNT];
    for (int v = 0; v < COUNT; ++v) {
        int at = v == COUNT - 1 ? 0 : v;
        rest[4 * v] = (float)((at * 7) % 11) * 0.1f;
        rest[4 * v + 1] = (float)at * 0.01f;
        rest[4 * v + 3] = 1;
        uvs[2 * v] = (float)v / COUNT;
        weld[v] = v;
    }
    jnAsset a = {.name = "row", .vertexCount = COUNT, .fileVertexCount = COUNT, .rest = rest, .weld = weld, .uvs = uvs};
    for (int i = 0; i < COUNT; ++i) {
        int v = COUNT - 1 - i;
        for (int k = 0; k < 3; ++k) {
            positions[3 * i + k] = rest[4 * v + k] + 2e-5f;
        }
        theirs[2 * i] = uvs[2 * v];
    }
    positions[3 * 10] += 1;
    jnImportedVertices imported = {.positions = positions, .uvs = theirs, .count = COUNT};
    int count = 0;
    assert_int_equal(jnAsset_MatchVertices(&a, &imported, found, &count, NULL), jn_ok);
    assert_int_equal(count, COUNT - 1);
    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(found[i], i == 10 ? -1 : COUNT - 1 - i);
    }
    imported.tolerance = 1e-6f;
    assert_int_equal(jnAsset_MatchVertices(&a, &imported, found, &count, NULL), jn_ok);
    assert_int_equal(count, 0);
    jnError error;
    a.fileVertexCount = 0;
    assert_int_equal(jnAsset_MatchVertices(&a, &imported, found, &count, &error), jn_badArgument);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheBodysBonesAreFoundByEveryToolsNames),
        cmocka_unit_test(TheFiguresBonesAreFoundByEveryToolsNames),
        cmocka_unit_test(WhatIsMissingIsNamed),
        cmocka_unit_test(NoBoneIsGivenTwiceAndNoneWhereNamesAreAmbiguous),
        cmocka_unit_test(SpacesAgreeWithThemselves),
        cmocka_unit_test(UnityAndUnrealAreWhatTheirImportersDo),
        cmocka_unit_test(WhatIsNoSpaceIsRefused),
        cmocka_unit_test(VerticesAreFoundByPlaceAndChart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
