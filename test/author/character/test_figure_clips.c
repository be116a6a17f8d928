// The built-in figure's clips: smooth, on the ground, with limbs that stay out of each other.
#include "helpers/the_figure.h"

// FNV-1a of all clips at 30 Hz. It changes only when they are meant to change.
static const uint64_t CLIPS_HASH = 0x53f4b58cdcb5e671ull;

static jnaClip CreateClip(int which, double rate)
{
    jnaClip clip;
    jnError error = {0};
    if (jnaCreateFigureClip(&figure, which, rate, &clip, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return clip;
}

static void ClipsAreTheSameOnEveryMachine(void** state)
{
    (void)state;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (int c = 0; c < jna_figureAllClips; ++c) {
        jnaClip clip = CreateClip(c, 30);
        size_t entries = (size_t)clip.frameCount * (size_t)clip.jointCount;
        hash = Hash(hash, clip.rotations, entries * 4 * sizeof(float));
        hash = Hash(hash, clip.translations, entries * 3 * sizeof(float));
        jnaDestroyClip(&clip);
    }
    if (hash != CLIPS_HASH) {
        fail_msg("the clips' hash is 0x%016llx", (unsigned long long)hash);
    }
}

static void ClipsHaveUnitQuaternionsThatMoveSmoothly(void** state)
{
    (void)state;
    for (int c = 0; c < jna_figureAllClips; ++c) {
        jnaClip clip = CreateClip(c, 120);
        assert_string_equal(clip.name, jnaFigureClipName(c));
        size_t row = (size_t)clip.jointCount;
        for (size_t e = 0; e < row * (size_t)clip.frameCount; ++e) {
            const float* q = clip.rotations + 4 * e;
            // A loop goes on with its first frame; everything else is compared with the frame before.
            const float* before =
                e >= row ? q - 4 * row : clip.rotations + 4 * (e + row * (size_t)(clip.frameCount - 1));
            double square = 0, same = 0;
            for (int i = 0; i < 4; ++i) {
                assert_true(isfinite(q[i]));
                square += (double)q[i] * (double)q[i];
                same += (double)q[i] * (double)before[i];
            }
            assert_true(fabs(square - 1) < 1e-5);
            // At most 18 degrees in 1/120 s: a fast punch, not a flip of the elbow.
            assert_true(same > 0.9877 || (e < row && !clip.looping));
        }
        jnaDestroyClip(&clip);
    }
}

static void FeetNeitherSinkNorFloat(void** state)
{
    (void)state;
    // The highest that the lowest point of the body comes: standing clips stay down, the jump goes up a
    // quarter of a metre.
    static const double highest[jna_figureAllClips] = {0.10, 0.01, 0.01, 0.12, 0.35, 0.03, 0.09, 0.35};
    float* positions = malloc(sizeof(float) * 3 * (size_t)figure.vertexCount);
    assert_non_null(positions);
    for (int c = 0; c < jna_figureAllClips; ++c) {
        jnaClip clip = CreateClip(c, 30);
        double top = -1;
        for (int f = 0; f < clip.frameCount; ++f) {
            float matrices[12 * 32], low = 9;
            jnaPoseMatrices(&figure, &clip, f, matrices);
            jnaSkin(&figure, matrices, positions);
            for (int v = 0; v < figure.vertexCount; ++v) {
                low = fminf(low, positions[3 * v + 1]);
            }
            assert_true(low > -0.015f);
            top = fmax(top, (double)low);
        }
        assert_true(top < highest[c]);
        assert_true(c != jna_jumpAndLand || top > 0.20);
        jnaDestroyClip(&clip);
    }
    free(positions);
}

static void TheFlightIsAFreeFall(void** state)
{
    (void)state;
    jnaClip clip = CreateClip(jna_jumpAndLand, 100);
    size_t row = 3 * (size_t)clip.jointCount;
    // From 1.10 to 1.30 s the body is in the air.
    double before = (double)clip.translations[110 * row + 1], middle = (double)clip.translations[120 * row + 1];
    double after = (double)clip.translations[130 * row + 1];
    assert_true(fabs((before - 2 * middle + after) / 0.01 + 9.81) < 0.5);
    jnaDestroyClip(&clip);
}

static void ClipsRefuseWhatTheyCannotDo(void** state)
{
    (void)state;
    jnaClip clip;
    jnError error = {0};
    assert_int_equal(jnaCreateFigureClip(&figure, jna_figureAllClips, 30, &clip, &error), jn_badArgument);
    assert_int_equal(jnaCreateFigureClip(&figure, -1, 30, &clip, &error), jn_badArgument);
    assert_int_equal(jnaCreateFigureClip(&figure, 0, 0, &clip, &error), jn_badArgument);
    assert_int_equal(jnaCreateFigureClip(&figure, 0, (double)NAN, &clip, &error), jn_badArgument);
    jnaCharacter other = {.jointCount = 3};
    assert_int_equal(jnaCreateFigureClip(&other, 0, 30, &clip, &error), jn_badArgument);
    assert_null(clip.rotations);
    assert_true(strlen(error.message) > 10);
}

// A limb as a rod with round ends, fixed to a joint; ends in the rest pose, metres.
typedef struct Rod {
    const char* name; // of the joint
    float ends[2][3];
    float radius;
    int limb; // rods of one limb may touch
} Rod;

static const Rod rods[] = {
    {"LeftForeArm", {{0.405f, 1.17f, -0.025f}, {0.592f, 1.013f, -0.005f}}, 0.045f, 0},
    {"LeftHand", {{0.61f, 1.0f, 0}, {0.71f, 0.91f, 0}}, 0.040f, 0},
    {"RightForeArm", {{-0.405f, 1.17f, -0.025f}, {-0.592f, 1.013f, -0.005f}}, 0.045f, 1},
    {"RightHand", {{-0.61f, 1.0f, 0}, {-0.71f, 0.91f, 0}}, 0.040f, 1},
    {"Head", {{0, 1.56f, 0.01f}, {0, 1.60f, 0.005f}}, 0.105f, 2},
    {"Spine1", {{-0.08f, 1.22f, 0.02f}, {0.08f, 1.22f, 0.02f}}, 0.115f, 2},
    {"Spine", {{0, 1.05f, 0.04f}, {0, 1.0f, 0.04f}}, 0.175f, 2},
    {"LeftLeg", {{0.155f, 0.48f, 0.008f}, {0.19f, 0.1f, -0.03f}}, 0.052f, 3},
    {"RightLeg", {{-0.155f, 0.48f, 0.008f}, {-0.19f, 0.1f, -0.03f}}, 0.052f, 4},
};
enum { ROD_COUNT = sizeof(rods) / sizeof(rods[0]), ROD_STEPS = 8 };

// Points along a posed rod.
static void PlaceRod(const Rod* rod, const float* matrices, float points[ROD_STEPS + 1][3])
{
    int joint = 0;
    while (strcmp(figure.joints[joint].name, rod->name) != 0) {
        ++joint;
    }
    const float* m = matrices + 12 * joint;
    for (int s = 0; s <= ROD_STEPS; ++s) {
        float local[3];
        for (int i = 0; i < 3; ++i) {
            float along = (float)s / ROD_STEPS;
            local[i] = rod->ends[0][i] + along * (rod->ends[1][i] - rod->ends[0][i]) +
                       figure.joints[joint].inverseBind[4 * i + 3];
        }
        for (int i = 0; i < 3; ++i) {
            points[s][i] = m[4 * i] * local[0] + m[4 * i + 1] * local[1] + m[4 * i + 2] * local[2] + m[4 * i + 3];
        }
    }
}

static float Gap(const float a[ROD_STEPS + 1][3], const float b[ROD_STEPS + 1][3])
{
    float nearest = 9;
    for (int i = 0; i <= ROD_STEPS; ++i) {
        for (int k = 0; k <= ROD_STEPS; ++k) {
            float x = a[i][0] - b[k][0], y = a[i][1] - b[k][1], z = a[i][2] - b[k][2];
            nearest = fminf(nearest, sqrtf(x * x + y * y + z * z));
        }
    }
    return nearest;
}

static void LimbsStayOutOfEachOther(void** state)
{
    (void)state;
    for (int c = 0; c < jna_figureAllClips; ++c) {
        jnaClip clip = CreateClip(c, 30);
        for (int f = 0; f < clip.frameCount; ++f) {
            float matrices[12 * 32], points[ROD_COUNT][ROD_STEPS + 1][3];
            jnaPoseMatrices(&figure, &clip, f, matrices);
            for (int r = 0; r < ROD_COUNT; ++r) {
                PlaceRod(&rods[r], matrices, points[r]);
            }
            for (int r = 0; r < ROD_COUNT; ++r) {
                for (int q = 0; q < r; ++q) {
                    float gap = Gap((const float(*)[3])points[r], (const float(*)[3])points[q]);
                    // Rods are a little stouter than the limbs; soft flesh may touch.
                    if (rods[r].limb != rods[q].limb && gap < rods[r].radius + rods[q].radius - 0.012f) {
                        fail_msg("%s, frame %d: %s is in %s", clip.name, f, rods[r].name, rods[q].name);
                    }
                }
            }
        }
        jnaDestroyClip(&clip);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ClipsAreTheSameOnEveryMachine),
        cmocka_unit_test(ClipsHaveUnitQuaternionsThatMoveSmoothly),
        cmocka_unit_test(FeetNeitherSinkNorFloat),
        cmocka_unit_test(TheFlightIsAFreeFall),
        cmocka_unit_test(LimbsStayOutOfEachOther),
        cmocka_unit_test(ClipsRefuseWhatTheyCannotDo),
    };
    return cmocka_run_group_tests(tests, CreateFigure, DestroyFigure);
}
