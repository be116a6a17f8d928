// Random poses of a body are those that its joints can take, whatever clips there are.
#include "character/figure.h"
#include "flesh/poses.h"
#include "flesh/poses_internal.h"
#include "helpers/support.h"

#include <string.h>

enum { POSES = 400, JOINTS = 64 };

typedef struct Scene {
    jnaCharacter character;
    jnaAnatomy anatomy;
    jnaPoseRanges ranges;
} Scene;

static int MakeScene(void** state)
{
    static Scene scene;
    jnError error;
    if (jnaCreateFigure(&scene.character, &error) != jn_ok ||
        jnaFindSurfaceAnatomy(&scene.character, &scene.anatomy, &error) != jn_ok ||
        jnaCreatePoseRanges(&scene.character, &scene.anatomy, &scene.ranges, &error) != jn_ok) {
        return -1;
    }
    *state = &scene;
    return 0;
}

static int DestroyScene(void** state)
{
    Scene* scene = *state;
    jnaDestroyPoseRanges(&scene->ranges);
    jnaDestroyAnatomy(&scene->anatomy);
    jnaDestroyCharacter(&scene->character);
    return 0;
}

static jnaPoseSet Sample(const Scene* scene, const jnaAnatomy* anatomy)
{
    jnaPoseSet poses;
    jnError error = {0};
    jnaPoseDef def = jnaDefaultPoseDef(&scene->character);
    def.anatomy = anatomy;
    def.count = POSES;
    if (jnaCreatePoses(&def, &poses, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return poses;
}

// Where the joints are. at: [JOINTS][3].
static void Place(const jnaCharacter* c, const float* rotations, double (*at)[3])
{
    jnaAffine matrices[JOINTS];
    const double zero[3] = {0};
    for (int j = 0; j < c->jointCount; ++j) {
        double t[3], q[4], s[3];
        for (int i = 0; i < 4; ++i) {
            q[i] = (double)rotations[4 * j + i];
        }
        for (int i = 0; i < 3; ++i) {
            t[i] = (double)c->joints[j].translation[i];
            s[i] = (double)c->joints[j].scale[i];
        }
        matrices[j] = jnaAffine_FromTrs(t, q, s);
        if (c->joints[j].parent >= 0) {
            matrices[j] = jnaAffine_Multiply(&matrices[c->joints[j].parent], &matrices[j]);
        }
        jnaAffine_Apply(&matrices[j], zero, at[j]);
    }
}

static double AngleOf(const double* a, const double* b)
{
    double cosine = jnaDot(a, b) / (jnaLength(a) * jnaLength(b));
    return acos(fmin(fmax(cosine, -1), 1)) * 180 / JNA_PI;
}

static void Ways(const jnaRangeLimb* l, double (*at)[3], double* upper, double* lower)
{
    jnaSubtract(at[l->hinge], at[l->root], upper);
    jnaSubtract(at[l->end], at[l->hinge], lower);
}

static void ABodyIsRecognisedWithItsSpineAndNeck(void** state)
{
    const Scene* scene = *state;
    assert_true(scene->ranges.known);
    assert_true(scene->ranges.spine.count >= 1 && scene->ranges.neck.count >= 1);
    assert_true(scene->ranges.limbs[2].girdle >= 0);
    jnaPoseRanges none;
    jnError error;
    assert_int_equal(jnaCreatePoseRanges(&scene->character, NULL, &none, &error), jn_ok);
    assert_false(none.known);
    jnaDestroyPoseRanges(&none);
}

static void JointsStayWithinTheirRangesAndUseThem(void** state)
{
    const Scene* scene = *state;
    const jnaPoseRanges* r = &scene->ranges;
    jnaPoseSet poses = Sample(scene, &scene->anatomy);
    assert_int_equal(poses.count, POSES);
    double most[4] = {0}, highest[2] = {0}, farthest[2] = {0}, small = 0;
    for (int i = 0; i < POSES; ++i) {
        double at[JOINTS][3], upper[3], lower[3];
        const float* pose = poses.rotations + 4 * i * poses.jointCount;
        assert_int_equal(poses.kinds[i], jna_poseRandom);
        Place(&scene->character, pose, at);
        for (int k = 0; k < 4; ++k) {
            Ways(&r->limbs[k], at, upper, lower);
            double bent = AngleOf(upper, lower);
            ASSERT_AT_MOST(bent, k < 2 ? 142.5 : 145.5);
            most[k] = fmax(most[k], bent);
            small += bent < 60;
            if (k < 2) {
                double up[3] = {-r->up[0], -r->up[1], -r->up[2]}, hip = AngleOf(upper, up);
                ASSERT_AT_MOST(hip, 130);
                highest[k] = fmax(highest[k], hip);
                // The shin goes behind the line of the thigh, as that of a leg that only lifts: never past it.
                if (hip < 1) {
                    ASSERT_AT_MOST(jnaDot(lower, r->front), 0.02);
                }
            } else {
                farthest[k - 2] = fmax(farthest[k - 2], at[r->limbs[k].end][1]);
            }
        }
    }
    for (int k = 0; k < 4; ++k) {
        assert_true(most[k] > 110);
    }
    assert_true(highest[0] > 90 && highest[1] > 90);
    assert_true(small > 0.5 * 4 * POSES); // denser near natural poses
    // Both hands come over the head.
    double rest[JOINTS][3];
    float still[4 * JOINTS];
    for (int j = 0; j < scene->character.jointCount; ++j) {
        memcpy(still + 4 * j, scene->character.joints[j].rotation, 16);
    }
    Place(&scene->character, still, rest);
    assert_true(farthest[0] > rest[scene->anatomy.head][1] && farthest[1] > rest[scene->anatomy.head][1]);
    jnaDestroyPoses(&poses);
}

static void ImpossiblePosesAreDrawnAgain(void** state)
{
    const Scene* scene = *state;
    const jnaPoseRanges* r = &scene->ranges;
    int drawn = 0, kept = 0;
    float still[4 * JOINTS], pose[4 * JOINTS];
    for (int j = 0; j < scene->character.jointCount; ++j) {
        memcpy(still + 4 * j, scene->character.joints[j].rotation, 16);
    }
    ASSERT_AT_MOST(jnaPoseRanges_Overlap(r, still), 1);
    for (uint64_t i = 0; i < POSES; ++i) {
        memcpy(pose, still, sizeof(pose));
        jnaPoseRanges_Draw(r, i * 977, pose);
        drawn += jnaPoseRanges_Overlap(r, pose) > 1;
    }
    jnaPoseSet poses = Sample(scene, &scene->anatomy);
    for (int i = 0; i < POSES; ++i) {
        kept += jnaPoseRanges_Overlap(r, poses.rotations + 4 * i * poses.jointCount) > 1;
    }
    print_message("%d of %d impossible, of those that are kept %d\n", drawn, POSES, kept);
    assert_true(drawn > 5);
    assert_int_equal(kept, 0);
    jnaDestroyPoses(&poses);
}

// A rig whose joints have other axes at rest gives the same poses of the body.
static void TheAxesOfTheJointsDoNotMatter(void** state)
{
    const Scene* scene = *state;
    const jnaCharacter* c = &scene->character;
    jnaCharacter other = *c;
    jnaJoint joints[JOINTS];
    double turns[JOINTS][4];
    memcpy(joints, c->joints, (size_t)c->jointCount * sizeof(*joints));
    other.joints = joints;
    for (int j = 0; j < c->jointCount; ++j) {
        int parent = c->joints[j].parent;
        const double turn[4] = {0.5, j % 2 == 0 ? 0.5 : -0.5, 0.5, 0.5}, still[4] = {0, 0, 0, 1};
        memcpy(turns[j], turn, sizeof(turn));
        // New local rotation: the parent's turn back, then the old one, then the own turn.
        double q[4], back[4], t[3];
        jnaQuat_Conjugate(parent >= 0 ? turns[parent] : still, back);
        for (int i = 0; i < 4; ++i) {
            q[i] = (double)c->joints[j].rotation[i];
        }
        for (int i = 0; i < 3; ++i) {
            t[i] = (double)c->joints[j].translation[i];
        }
        jnaQuat_Multiply(back, q, q);
        jnaQuat_Multiply(q, turns[j], q);
        jnaQuat_Rotate(back, t, t);
        for (int i = 0; i < 4; ++i) {
            joints[j].rotation[i] = (float)q[i];
        }
        for (int i = 0; i < 3; ++i) {
            joints[j].translation[i] = (float)t[i];
        }
    }
    jnaPoseRanges ranges;
    jnError error;
    assert_int_equal(jnaCreatePoseRanges(&other, &scene->anatomy, &ranges, &error), jn_ok);
    for (uint64_t seed = 1; seed < 20; ++seed) {
        float a[4 * JOINTS], b[4 * JOINTS];
        double at[JOINTS][3], there[JOINTS][3];
        for (int j = 0; j < c->jointCount; ++j) {
            memcpy(a + 4 * j, c->joints[j].rotation, 16);
            memcpy(b + 4 * j, joints[j].rotation, 16);
        }
        jnaPoseRanges_Draw(&scene->ranges, seed, a);
        jnaPoseRanges_Draw(&ranges, seed, b);
        Place(c, a, at);
        Place(&other, b, there);
        for (int j = 0; j < c->jointCount; ++j) {
            ASSERT_NEAR(jnaDistance(at[j], there[j]), 0, 1e-5);
        }
    }
    jnaDestroyPoseRanges(&ranges);
}

static void TheSameSeedGivesTheSameBytesAndABeginning(void** state)
{
    const Scene* scene = *state;
    jnaPoseSet poses = Sample(scene, &scene->anatomy), again = Sample(scene, &scene->anatomy);
    assert_memory_equal(poses.rotations, again.rotations, (size_t)POSES * (size_t)poses.jointCount * 16);
    jnaDestroyPoses(&poses);
    jnaDestroyPoses(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ABodyIsRecognisedWithItsSpineAndNeck),
        cmocka_unit_test(JointsStayWithinTheirRangesAndUseThem),
        cmocka_unit_test(ImpossiblePosesAreDrawnAgain),
        cmocka_unit_test(TheAxesOfTheJointsDoNotMatter),
        cmocka_unit_test(TheSameSeedGivesTheSameBytesAndABeginning),
    };
    return cmocka_run_group_tests(tests, MakeScene, DestroyScene);
}
