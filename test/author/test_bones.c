// Bones: where they lie in a block whose thickness is known, what they hold, what is told, and the same on the figure
// and on the body.
#include "volumes.h"

#include "jounce-author/inside.h"
#include "volume/bones_internal.h"

enum { FRAME_STEP = 8 };
// Bones that touch by less than this, metres, leave the flesh between them thin but not crushed.
static const double OVERLAP = 0.003;
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
    jnaBone ball = bone, other;
    memset(ball.ends, 0, sizeof(ball.ends));
    ball.radii[0][0] = ball.radii[0][1] = ball.radii[1][0] = ball.radii[1][1] = ball.caps[0] = ball.caps[1] = 0.5;
    ASSERT_NEAR(jnaBone_Depth(&ball, (double[3]){0.3, 0, 0.4}), 1, 1e-12);
    other = ball;
    other.ends[0][2] = other.ends[1][2] = 1.25;
    ASSERT_NEAR(jnaBone_Gap(&ball, &other), 0.25, 1e-12);
}

// The median over rays of a square lies between its half-width and its half-diagonal: 0.4 * 0.25 of the segment is the
// smaller of the two ways of ending short.
static void BonesLieInTheMiddleAndEndShort(void** state)
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
        double start = b == 0 ? 0 : 0.1, end = 0.3;
        ASSERT_NEAR(bone->ends[0][0] - bone->caps[0], 0.4 * b + start, 0.002);
        ASSERT_NEAR(bone->ends[1][0] + bone->caps[1], 0.4 * b + end, 0.002);
        for (int e = 0; e < 2; ++e) {
            ASSERT_NEAR(bone->ends[e][1], 0, 0.002);
            ASSERT_NEAR(bone->ends[e][2], 0, 0.002);
            for (int k = 0; k < 2; ++k) {
                assert_true(bone->radii[e][k] > 0.25 * 0.2 && bone->radii[e][k] < 0.25 * 0.29);
            }
        }
    }
    // The last joint has no child: its bone goes to the end of its flesh, thicker, and stays inside.
    const jnaBone* last = &bones.bones[3];
    assert_true(last->ends[1][0] + last->caps[1] > 1.4 && last->ends[1][0] + last->caps[1] < 1.6);
    assert_true(last->radii[0][0] > 0.5 * 0.2 && last->radii[0][0] < 0.5 * 0.29);
    assert_int_equal(notes.count, 0);
    jnaDestroyNotes(&notes);
    jnaDestroyBoneList(&bones);
    DestroyTestVolume(&test);
}

// No two bones overlap, and no tetrahedron has corners on two.
static void CheckApart(const jnaVolume* v, const jnaBoneList* bones)
{
    for (int a = 0; a < bones->count; ++a) {
        for (int b = 0; b < a; ++b) {
            if (bones->bones[a].joint != bones->bones[b].joint) {
                assert_true(jnaBone_Gap(&bones->bones[a], &bones->bones[b]) > 0);
            }
        }
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        int joint = -1;
        for (int i = 0; i < 4; ++i) {
            int held = v->heldBy[v->tetrahedra[4 * t + i]];
            assert_true(held < v->jointCount && (held < 0 || joint < 0 || held == joint));
            joint = held >= 0 ? held : joint;
        }
    }
}

static void NodesInABoneAreHeldAndNoneOnTheSkin(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    const jnaVolume* v = &test.volume;
    jnaBoneList bones;
    jnError error;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, NULL, &error), jn_ok);
    int held = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        int inside = -1;
        for (int b = 0; b < bones.count; ++b) {
            inside = jnaBone_Depth(&bones.bones[b], v->nodes + 3 * n) < 1 ? bones.bones[b].joint : inside;
        }
        assert_int_equal(v->heldBy[n], n < test.character.vertexCount ? -1 : inside);
        held += inside >= 0;
    }
    assert_true(held > 40);
    CheckApart(v, &bones);
    for (int j = 0; j < v->jointCount; ++j) {
        assert_true(v->holdStrength[j] == 0);
    }
    jnaDestroyBoneList(&bones);
    DestroyTestVolume(&test);
}

static void TheManifestHasItsSay(void** state)
{
    (void)state;
    TestVolume test = MakeBeam();
    jnaManifest manifest = jnaDefaultManifest();
    jnaManifestBone joints[] = {{"joint1", 0, jna_boneDirichlet, 0}, {"joint2", 0.5, jna_boneDirichlet, 0},
        {"joint3", -1, jna_boneSpring, 5e4}};
    manifest.bones.hold = jna_boneSpring;
    manifest.bones.joints = joints;
    manifest.bones.jointCount = 3;
    jnaBoneList bones;
    jnaNotes notes = {0};
    jnError error;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, &manifest, &bones, &notes, &error), jn_ok);
    assert_int_equal(bones.count, 3);
    assert_int_equal(bones.bones[1].joint, 2);
    assert_true(bones.bones[1].radii[0][0] > 0.5 * 0.2);
    const float* strength = test.volume.holdStrength;
    assert_true(strength[0] == 1e5f && strength[1] == 0 && strength[2] == 0 && strength[3] == 5e4f);
    assert_true(HasNote(&notes, "'joint1'", "has no bone"));
    assert_int_equal(notes.count, 1);
    jnaDestroyBoneList(&bones);
    jnaDestroyNotes(&notes);
    joints[1].joint = "tail";
    assert_int_equal(
        jnaVolume_PlaceBones(&test.volume, &test.character, &manifest, &bones, &notes, &error), jn_badData);
    assert_non_null(strstr(error.message, "'tail'"));
    assert_int_equal(bones.count, 0);
    DestroyTestVolume(&test);
}

// A beam so coarse that no bone has a node in it is still held, by the nodes nearest to the axis.
static void ThinBonesReachForTheNearestNodes(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(16, 3, 3, size, 0, 4);
    jnError error;
    jnaBoneList bones;
    jnaNotes notes = {0};
    CarryTestWeights(&test);
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, &notes, &error), jn_ok);
    int counts[4] = {0};
    for (int n = 0; n < test.volume.nodeCount; ++n) {
        if (test.volume.heldBy[n] >= 0) {
            assert_true(n >= test.character.vertexCount);
            counts[test.volume.heldBy[n]]++;
        }
    }
    for (int j = 0; j < 4; ++j) {
        assert_in_range(counts[j], 2, 12);
    }
    CheckApart(&test.volume, &bones);
    jnaDestroyBoneList(&bones);
    jnaDestroyNotes(&notes);
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

static void SharesFollowTheNames(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        int parent;
        bool rigid;
    } joints[] = {{"Hips", -1, false}, {"Spine", 0, false}, {"Head", 1, true}, {"HeadTop_End", 2, true},
        {"LeftArm", 1, false}, {"LeftForeArm", 4, false}, {"LeftHand", 5, true}, {"LeftHandIndex1", 6, true},
        {"LeftUpLeg", 0, false}, {"LeftLeg", 8, false}, {"LeftFoot", 9, true}, {"LeftToeBase", 10, true}};
    enum { COUNT = sizeof(joints) / sizeof(joints[0]) };
    jnaCharacter c = {.jointCount = COUNT};
    jnError error;
    double shares[COUNT];
    assert_int_equal(jnaCharacter_Allocate(&c, false, &error), jn_ok);
    for (int named = 1; named >= 0; --named) {
        for (int j = 0; j < COUNT; ++j) {
            snprintf(c.joints[j].name, sizeof(c.joints[j].name), named ? "%s" : "b%s", named ? joints[j].name : "");
            c.joints[j].parent = joints[j].parent;
        }
        jnaDefaultBoneShares(&c, shares);
        for (int j = 0; j < COUNT; ++j) {
            // Without names the ends of limbs are still the stiffer ones.
            bool leaf = j == 3 || j == 7 || j == 11;
            assert_true((named ? joints[j].rigid : leaf) ? shares[j] >= 0.5 : shares[j] <= 0.3);
        }
    }
    assert_true(shares[0] > 0);
    jnaDestroyCharacter(&c);
}

// Every joint holds enough nodes to pass its motion on; bones lie inside: the middle of each is in the flesh of its
// neighbourhood.
static void CheckCharacter(TestVolume* test, const char* name)
{
    jnaVolume* v = &test->volume;
    jnError error;
    jnaBoneList bones;
    jnaNotes notes = {0};
    CarryTestWeights(test);
    assert_int_equal(jnaVolume_PlaceBones(v, &test->character, NULL, &bones, &notes, &error), jn_ok);
    CheckApart(v, &bones);
    int* counts = calloc((size_t)v->jointCount, sizeof(int));
    int held = 0;
    double total = 0;
    jnaSlicer slicer;
    jnaJointFlesh flesh;
    assert_int_equal(jnaCreateSlicer(v, &slicer, &error), jn_ok);
    assert_int_equal(jnaCreateJointFlesh(v, &test->character, &slicer, &flesh, &error), jn_ok);
    for (int n = 0; n < v->nodeCount; ++n) {
        total += v->heldBy[n] >= 0 ? flesh.nodeVolumes[n] : 0;
        held += v->heldBy[n] >= 0;
        if (v->heldBy[n] >= 0) {
            counts[v->heldBy[n]]++;
        }
    }
    print_message("%s: %d nodes, %d held, %.1f %% of the volume, %d bones, %d notes\n", name, v->nodeCount, held,
        100 * total / flesh.total, bones.count, notes.count);
    assert_true(total < 0.25 * flesh.total);
    for (int j = 0; j < v->jointCount; ++j) {
        if (counts[j] < 6) {
            fail_msg("%s: '%s' holds %d nodes", name, test->character.joints[j].name, counts[j]);
        }
    }
    for (int b = 0; b < bones.count; ++b) {
        const jnaBone* bone = &bones.bones[b];
        double middle[3];
        jnaSection section;
        for (int i = 0; i < 3; ++i) {
            middle[i] = 0.5 * (bone->ends[0][i] + bone->ends[1][i]);
        }
        jnaSlice(&slicer, middle, bone->axes[0], bone->axes[1], &section);
        // Fingers share one bone, which may lie between them.
        if (flesh.volumes[bone->joint] > 0.002 * flesh.total) {
            assert_true(section.inside);
        }
    }
    free(counts);
    jnaDestroyJointFlesh(&flesh);
    jnaDestroySlicer(&slicer);
    jnaDestroyBoneList(&bones);
    jnaDestroyNotes(&notes);
}

// A bone moved with its joint.
static jnaBone Carry(const jnaBone* bone, const double* transforms)
{
    jnaBone moved = *bone;
    const double* m = transforms + 12 * bone->joint;
    for (int i = 0; i < 3; ++i) {
        const double* row = m + 4 * i;
        for (int k = 0; k < 3; ++k) {
            const double* a = bone->axes[k];
            moved.axes[k][i] = row[0] * a[0] + row[1] * a[1] + row[2] * a[2];
        }
        for (int e = 0; e < 2; ++e) {
            const double* p = bone->ends[e];
            moved.ends[e][i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
        }
    }
    return moved;
}

// Whether `joint` is `other` or hangs on it, or the other way, or both on one parent.
static bool AreRelated(const jnaCharacter* c, int joint, int other)
{
    int a = c->joints[joint].parent, b = c->joints[other].parent;
    return a == other || b == joint || a == b;
}

// Frames in which bones that meet at a joint overlap: then nothing between them could be solved. Bones of other limbs
// may touch, as arms before the chest do in skinned clips.
static int CountCollisions(const jnaCharacter* c, const jnaBoneList* bones, const jnaClip* clip, int step)
{
    double* transforms = malloc(sizeof(double) * 12 * (size_t)c->jointCount);
    jnaBone* moved = malloc((size_t)bones->count * sizeof(jnaBone));
    int frames = 0;
    for (int f = 0; f < clip->frameCount; f += step) {
        bool touch = false;
        jnaPoseTransforms(c, clip, f, transforms);
        for (int a = 0; a < bones->count; ++a) {
            moved[a] = Carry(&bones->bones[a], transforms);
            for (int b = 0; b < a && !touch; ++b) {
                bool related = AreRelated(c, moved[a].joint, moved[b].joint) && moved[a].joint != moved[b].joint;
                touch = related && jnaBone_Gap(&moved[a], &moved[b]) < -OVERLAP;
            }
        }
        frames += touch;
    }
    free(transforms);
    free(moved);
    return frames;
}

// Tells and returns the frames of a clip in which bones overlap; adds to the number of frames looked at.
static int TellCollisions(const TestVolume* test, const jnaBoneList* bones, const jnaClip* clip, int* looked)
{
    int frames = CountCollisions(&test->character, bones, clip, FRAME_STEP);
    int count = (clip->frameCount + FRAME_STEP - 1) / FRAME_STEP;
    print_message("%s: bones overlap in %d of %d frames\n", clip->name, frames, count);
    *looked += count;
    return frames;
}

static void TheFigureIsHeld(void** state)
{
    (void)state;
    TestVolume test = MakeFigureVolume();
    CheckCharacter(&test, "figure");
    jnaBoneList bones;
    jnError error;
    int frames = 0, looked = 0;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, NULL, &error), jn_ok);
    for (int which = 0; which < jna_figureClipCount; ++which) {
        jnaClip clip;
        assert_int_equal(jnaCreateFigureClip(&test.character, which, 30, &clip, &error), jn_ok);
        frames += TellCollisions(&test, &bones, &clip, &looked);
        jnaDestroyClip(&clip);
    }
    assert_int_equal(frames, 0);
    jnaDestroyBoneList(&bones);
    for (int j = 0; j < test.character.jointCount; ++j) {
        snprintf(test.character.joints[j].name, sizeof(test.character.joints[j].name), "b%d", j);
    }
    CheckCharacter(&test, "figure without names");
    DestroyTestVolume(&test);
}

static void TheBodyIsHeld(void** state)
{
    (void)state;
    jnaClipList clips;
    TestVolume test = MakeBodyVolume(&clips);
    CheckCharacter(&test, "body");
    jnaBoneList bones;
    jnError error;
    int frames = 0, looked = 0;
    assert_int_equal(jnaVolume_PlaceBones(&test.volume, &test.character, NULL, &bones, NULL, &error), jn_ok);
    for (int i = 0; i < clips.count; ++i) {
        frames += TellCollisions(&test, &bones, &clips.clips[i], &looked);
    }
    // Toe touches bend the lowest joint of the spine so far that its bone meets the pelvis.
    ASSERT_AT_MOST(frames, 0.05 * looked);
    jnaDestroyBoneList(&bones);
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
    assert_int_equal(head[22] << 8 | head[23], 720);
    assert_int_equal(jnaPictureBones(&test.volume, &test.character, &bones, "/nowhere/bones.png", &error), jn_ioFailed);
    jnaDestroyBoneList(&bones);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DepthIsThatOfATaperedCapsule),
        cmocka_unit_test(BonesLieInTheMiddleAndEndShort),
        cmocka_unit_test(NodesInABoneAreHeldAndNoneOnTheSkin),
        cmocka_unit_test(TheManifestHasItsSay),
        cmocka_unit_test(ThinBonesReachForTheNearestNodes),
        cmocka_unit_test(ALoosePieceIsHeldAndTold),
        cmocka_unit_test(SharesFollowTheNames),
        cmocka_unit_test(TheFigureIsHeld),
        cmocka_unit_test(TheBodyIsHeld),
        cmocka_unit_test(APictureIsWritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
