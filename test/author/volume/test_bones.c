// Bones: where they lie in a block whose thickness is known, what they hold, what is told, and the same on the figure
// and on the body.
#include "draw/bone_picture.h"
#include "helpers/volumes.h"
#include "volume/bones.h"
#include "volume/posing.h"
#include "volume/tetrahedralize.h"
#include "volume/volume_internal.h"
#include "workspace/manifest.h"

static const double size[3] = {1.6, 0.4, 0.4};

// Four joints, 0.4 apart, in a square beam of half-width 0.2.
static TestVolume MakeBeam(void)
{
    TestVolume test = MakeBlock(32, 10, 10, size, 0.1, 4);
    CarryTestWeights(&test);
    return test;
}

static bool HasNote(const jnaNotes* notes, const char* first, const char* second)
{
    for (int i = 0; i < notes->count; ++i) {
        if (strstr(notes->lines[i], first) != NULL && strstr(notes->lines[i], second) != NULL) {
            return true;
        }
    }
    return false;
}

static void DepthIsThatOfATaperedCapsule(void** state)
{
    (void)state;
    jnaBone bone = {.ends = {{0, 0, 0}, {2, 0, 0}},
        .axes = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
        .radii = {{0.2, 0.1}, {0.4, 0.2}},
        .caps = {0.1, 0.3}};
    const struct {
        double p[3], depth;
    } points[] = {{{0, 0, 0}, 0}, {{1, 0, 0}, 0}, {{0, 0.2, 0}, 1}, {{1, 0.3, 0}, 1}, {{2, 0, 0.2}, 1},
        {{-0.1, 0, 0}, 1}, {{2.3, 0, 0}, 1}, {{2.6, 0, 0}, 2}, {{0.5, 0, 0.0625}, 0.5}};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); ++i) {
        ASSERT_NEAR(jnaBone_Depth(&bone, points[i].p), points[i].depth, 1e-12);
    }
    jnaBone ball = bone;
    memset(ball.ends, 0, sizeof(ball.ends));
    ball.radii[0][0] = ball.radii[0][1] = ball.radii[1][0] = ball.radii[1][1] = ball.caps[0] = ball.caps[1] = 0.5;
    ASSERT_NEAR(jnaBone_Depth(&ball, (double[3]){0.3, 0, 0.4}), 1, 1e-12);
}

// A chain of joints without a trunk: a shaft from each joint to the next, and one to the end of the flesh.
static void BonesLieInTheMiddle(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    jnaBoneList bones;
    jnaNotes notes = {0};
    jnError error;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, &notes, &error), jn_ok);
    assert_int_equal(bones.count, 4);
    for (int b = 0; b < 3; ++b) {
        const jnaBone* bone = &bones.bones[b];
        assert_int_equal(bone->joint, b);
        ASSERT_NEAR(bone->ends[0][0] - bone->caps[0], 0.4 * b + 0.04, 0.002);
        ASSERT_NEAR(bone->ends[1][0] + bone->caps[1], 0.4 * b + 0.36, 0.002);
        for (int e = 0; e < 2; ++e) {
            ASSERT_NEAR(bone->ends[e][1], 0, 0.002);
            ASSERT_NEAR(bone->ends[e][2], 0, 0.002);
            for (int k = 0; k < 2; ++k) {
                assert_true(bone->radii[e][k] > 0.3 * 0.2 && bone->radii[e][k] < 0.3 * 0.29);
            }
        }
    }
    const jnaBone* last = &bones.bones[3];
    assert_true(last->ends[1][0] + last->caps[1] > 1.4 && last->ends[1][0] + last->caps[1] < 1.6);
    assert_true(last->radii[0][0] > 0.5 * 0.2 && last->radii[0][0] < 0.5 * 0.29);
    assert_true(HasNote(&notes, "no trunk", "recognised"));
    jnaDestroyNotes(&notes);
    jnaDestroyBoneList(&bones);
    DestroyTestVolume(&test);
}

// Volume of bone that the nodes are held by, m3.
static double HeldVolume(const jnaVolume* v, double strength)
{
    double* volumes = malloc((size_t)v->nodeCount * sizeof(double));
    double sum = 0;
    jnaNodeVolumes(v, volumes);
    for (int n = 0; n < v->nodeCount; ++n) {
        sum += v->heldBy[n] >= 0 ? volumes[n] * (double)v->holdStrength[n] / strength : 0;
    }
    free(volumes);
    return sum;
}

static void NodesAreHeldAsStronglyAsThereIsBoneAroundThem(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    const jnaVolume* v = &test.volume;
    jnaBoneList bones;
    jnError error;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, NULL, &error), jn_ok);
    int held = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        double depth = HUGE_VAL;
        for (int b = 0; b < bones.count; ++b) {
            depth = fmin(depth, jnaBone_Depth(&bones.bones[b], v->nodes + 3 * n));
        }
        // Cells are 0.05 and 0.04 wide, bones at least 0.06 in radius.
        if (depth > 2.2) {
            assert_int_equal(v->heldBy[n], -1);
        }
        if (depth < 0.1) {
            assert_int_equal(v->heldBy[n], 2 * v->jointCount); // a chain follows its skinned positions
            assert_true(v->holdStrength[n] > 3e6f && v->holdStrength[n] <= 1e7f);
            held++;
        }
        assert_true(v->heldBy[n] >= 0 || v->holdStrength[n] == 0);
    }
    assert_true(held > 10);
    jnaDestroyBoneList(&bones);
    DestroyTestVolume(&test);
}

static void HoldingDoesNotDependOnTheMesh(void** state)
{
    (void)state;
    const int cells[3][2] = {{16, 5}, {32, 10}, {48, 15}};
    double held[3];
    for (int i = 0; i < 3; ++i) {
        TestVolume test = MakeBlock(cells[i][0], cells[i][1], cells[i][1], size, 0, 4);
        jnError error;
        CarryTestWeights(&test);
        assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, NULL, NULL, &error), jn_ok);
        held[i] = HeldVolume(&test.volume, 1e7);
        DestroyTestVolume(&test);
    }
    print_message("bone held by meshes of 16, 32 and 48 cells: %.3f, %.3f, %.3f litres\n", 1e3 * held[0], 1e3 * held[1],
        1e3 * held[2]);
    ASSERT_NEAR(held[0] / held[2], 1, 0.15);
    ASSERT_NEAR(held[1] / held[2], 1, 0.05);
}

static void TheManifestHasItsSay(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    const jnaVolume* v = &test.volume;
    jnaManifest manifest = jnaDefaultManifest();
    jnaJointBone joints[] = {{"joint1", 0, 1, false}, {"joint2", 1.5, 0.5, false}, {"joint3", 1, 1, true}};
    manifest.bones.joints = joints;
    manifest.bones.jointCount = 3;
    manifest.bones.stiffness = 5e4;
    jnaBoneList bones;
    jnError error;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, &manifest.bones, &bones, NULL, &error), jn_ok);
    assert_int_equal(bones.count, 3);
    assert_int_equal(bones.bones[1].joint, 2);
    assert_true(bones.bones[1].radii[0][0] > 1.5 * 0.3 * 0.2);
    ASSERT_NEAR(bones.bones[1].ends[1][0] + bones.bones[1].caps[1] - bones.bones[1].ends[0][0] + bones.bones[1].caps[0],
        0.16, 0.002);
    for (int n = 0; n < v->nodeCount; ++n) {
        assert_true(v->holdStrength[n] <= 5e4f);
        if (v->nodes[3 * n] > 1.5) { // all of the last joint's flesh is bone
            ASSERT_NEAR(v->holdStrength[n], 5e4f, 1);
        }
    }
    jnaDestroyBoneList(&bones);
    manifest.bones.hold = jna_boneDirichlet;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, &manifest.bones, NULL, NULL, &error), jn_ok);
    int held = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        assert_true(v->holdStrength[n] == 0);
        held += v->heldBy[n] >= 0;
    }
    assert_true(held > 100 && held < v->nodeCount / 2);
    joints[1].joint = "tail";
    assert_int_equal(
        jnaVolume_PlaceBones(&test.volume, &test.character, &manifest.bones, &bones, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "'tail'"));
    assert_int_equal(bones.count, 0);
    DestroyTestVolume(&test);
}

static void ALoosePieceIsHeldAndTold(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(32, 10, 10, size, 0.1, 4);
    jnaVolume* v = &test.volume;
    AddLoosePiece(v, 2.5);
    jnError error;
    jnaNotes notes = {0};
    CarryTestWeights(&test);
    assert_int_equal(jnaVolume_PlaceBones(v, &test.character, NULL, NULL, &notes, &error), jn_ok);
    for (int i = 1; i <= 4; ++i) {
        assert_int_equal(v->heldBy[v->nodeCount - i], 3);
    }
    assert_true(HasNote(&notes, "'joint3'", "loose piece"));
    jnaDestroyNotes(&notes);
    DestroyTestVolume(&test);
}

// Half of the rotation, about the joint, for any rotation and with scale.
static void ABallTurnsHalfAsFarAsItsJoint(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    const jnaCharacter* c = &test.character;
    double transforms[2 * 4 * 12];
    const double angles[] = {0, 0.5, 1.5, 2.44, 3.0};
    for (int i = 0; i < 5; ++i) {
        jnaClip clip = {.rate = 30, .frameCount = 1, .jointCount = c->jointCount};
        jnError error;
        assert_int_equal(jnaClip_Allocate(&clip, false, &error), jn_ok);
        for (int j = 0; j < c->jointCount; ++j) {
            memcpy(clip.rotations + 4 * j, c->joints[j].rotation, 4 * sizeof(float));
            memcpy(clip.translations + 3 * j, c->joints[j].translation, 3 * sizeof(float));
        }
        clip.rotations[4 * 2 + 2] = (float)sin(angles[i] / 2); // joint 2 bends about z
        clip.rotations[4 * 2 + 3] = (float)cos(angles[i] / 2);
        jnaPoseTransforms(c, &clip, 0, transforms);
        jnaBallTransforms(c, transforms);
        const double* ball = transforms + 12 * (c->jointCount + 2);
        ASSERT_NEAR(atan2(ball[4], ball[0]), angles[i] / 2, 1e-6);
        // The pivot, 0.8 along the beam, stays where it is.
        ASSERT_NEAR(ball[0] * 0.8 + ball[3], 0.8, 1e-6);
        ASSERT_NEAR(ball[4] * 0.8 + ball[7], 0, 1e-6);
        // Joints above it have not moved.
        ASSERT_NEAR(transforms[12 * (c->jointCount + 1)], 1, 1e-6);
        jnaDestroyClip(&clip);
    }
    DestroyTestVolume(&test);
}

// Parts, bones and holding of a character; the same whatever its joints are called.
static void CheckCharacter(TestVolume* test, const char* name)
{
    jnaVolume* v = &test->volume;
    jnaCharacter* c = &test->character;
    jnError error;
    jnaBoneList bones;
    jnaAnatomy anatomy;
    CarryTestWeights(test);
    assert_int_equal(jnaVolume_PlaceBones(v, c, NULL, &bones, NULL, &error), jn_ok);
    assert_int_equal(jnaFindAnatomy(c, v, &anatomy, &error), jn_ok);
    double share =
        HeldVolume(v, 1e7) / jnaMeasureMesh(v->nodeCount, v->nodes, v->tetrahedronCount, v->tetrahedra).volume;
    print_message("%s: %d bones, %.1f %% of the volume\n", name, bones.count, 100 * share);
    assert_true(share > 0.05 && share < 0.3);
    assert_true(anatomy.trunk && anatomy.limbCount == 4);
    assert_string_equal(c->joints[anatomy.head].name, "Head");
    assert_string_equal(c->joints[anatomy.pelvis].name, "Hips");
    static const char* const words[2][3] = {{"Arm", "ForeArm", "Hand"}, {"UpLeg", "Leg", "Foot"}};
    for (int i = 0; i < 4; ++i) {
        const jnaLimb* limb = &anatomy.limbs[i];
        assert_non_null(strstr(c->joints[limb->root].name, words[limb->leg][0]));
        assert_non_null(strstr(c->joints[limb->hinge].name, words[limb->leg][1]));
        assert_non_null(strstr(c->joints[limb->end].name, words[limb->leg][2]));
    }
    // It stands upright and faces +Z.
    assert_true(anatomy.up[1] > 0.95 && anatomy.front[2] > 0.9);
    int32_t* before = malloc((size_t)v->nodeCount * sizeof(int32_t));
    memcpy(before, v->heldBy, (size_t)v->nodeCount * sizeof(int32_t));
    for (int j = 0; j < c->jointCount; ++j) {
        snprintf(c->joints[j].name, sizeof(c->joints[j].name), "joint_%02d", j);
    }
    assert_int_equal(jnaVolume_PlaceBones(v, c, NULL, NULL, NULL, &error), jn_ok);
    assert_memory_equal(before, v->heldBy, (size_t)v->nodeCount * sizeof(int32_t));
    free(before);
    jnaDestroyAnatomy(&anatomy);
    jnaDestroyBoneList(&bones);
}

static void TheFigureHasASkeleton(void** state)
{
    (void)state;
    TestVolume test = MakeFigureVolume();
    CheckCharacter(&test, "figure");
    DestroyTestVolume(&test);
}

static void TheBodyHasASkeleton(void** state)
{
    (void)state;
    jnaClipList clips;
    TestVolume test = MakeBodyVolume(&clips);
    CheckCharacter(&test, "body");
    jnaDestroyClipList(&clips);
    DestroyTestVolume(&test);
}

// A beam with a bone as a picture: a PNG of the size that it says, and no file where it cannot be written.
static void APictureIsWritten(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    jnaBoneList bones;
    jnError error;
    char path[512];
    unsigned char head[24];
    snprintf(path, sizeof(path), "%s/bones_%ld.png", JN_BINARY_DIR, (long)getpid());
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, NULL, &error), jn_ok);
    assert_int_equal(jnaPictureBones(&test.volume, &test.character, &bones, path, &error), jn_ok);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
    fclose(file);
    unlink(path);
    assert_memory_equal(head, "\x89PNG", 4);
    assert_true((head[22] << 8 | head[23]) > 720); // panels and the legend
    assert_int_equal(jnaPictureBones(&test.volume, &test.character, &bones, "/nowhere/bones.png", &error), jn_ioFailed);
    jnaDestroyBoneList(&bones);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DepthIsThatOfATaperedCapsule),
        cmocka_unit_test(BonesLieInTheMiddle),
        cmocka_unit_test(NodesAreHeldAsStronglyAsThereIsBoneAroundThem),
        cmocka_unit_test(HoldingDoesNotDependOnTheMesh),
        cmocka_unit_test(TheManifestHasItsSay),
        cmocka_unit_test(ALoosePieceIsHeldAndTold),
        cmocka_unit_test(ABallTurnsHalfAsFarAsItsJoint),
        cmocka_unit_test(TheFigureHasASkeleton),
        cmocka_unit_test(TheBodyHasASkeleton),
        cmocka_unit_test(APictureIsWritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
