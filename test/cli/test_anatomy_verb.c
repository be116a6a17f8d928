// jounce anatomy on a tube: what it prints of motion that is known, as text, as JSON, as a picture; the bones as a
// picture; and how it ends where there is nothing to measure.
#include "helpers/command.h"
#include "helpers/small_gltf.h"
#include "workspace/store.h"

#include <jansson.h>

static int MakeWorkspace(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new w --from '%s' --layer vertex", WriteTube("anatomy", &def));
    return RunJounce(line).code;
}

static void AVolumeIsNeeded(void** state)
{
    (void)state;
    ExpectFailure("anatomy w", 1, "volume", "jounce");
    ExpectFailure("anatomy nowhere", 1, "nowhere", "");
    ExpectFailure("picture w --bones -o bones.png", 1, "volume", "jounce");
    ExpectFailure("picture --figure --bones -o bones.png", 2, "--bones", "WORKSPACE");
    assert_false(FileExists("bones.png"));
}

// The skinned surface, shifted by (3, 4, 0) mm; one vertex of one frame by twice that, one frame is not there.
static void WriteMotion(void)
{
    jnaCharacter c;
    jnaClip clip;
    float matrices[12 * 8];
    assert_int_equal(jnaLoadCharacter("w", &c, NULL), jn_ok);
    assert_int_equal(jnaLoadClip("w", "wave_top", &c, &clip, NULL), jn_ok);
    size_t row = 3 * (size_t)c.vertexCount, shape[3] = {(size_t)clip.frameCount, (size_t)c.vertexCount, 3};
    float* moved = malloc(row * shape[0] * sizeof(float));
    for (int n = 0; n < clip.frameCount; ++n) {
        jnaPoseMatrices(&c, &clip, n, matrices);
        jnaSkin(&c, matrices, moved + row * (size_t)n);
        for (size_t i = 0; i < row; i += 3) {
            float scale = n == 7 && i == 0 ? 2.0f : 1.0f;
            moved[row * (size_t)n + i] += 0.003f * scale;
            moved[row * (size_t)n + i + 1] += n == 9 ? NAN : 0.004f * scale;
        }
    }
    assert_int_equal(system("mkdir -p w/motion/wave_top"), 0);
    assert_int_equal(jnaWriteArray("w/motion/wave_top/dynamic.npy", jna_float32, 3, shape, moved, NULL), jn_ok);
    free(moved);
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&c);
}

static json_t* Measure(void)
{
    Outcome outcome = RunJounce("anatomy w --json");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    return root;
}

static double NumberOf(const json_t* object, const char* key)
{
    return json_number_value(json_object_get(object, key));
}

static void WithoutMotionTheModesPlay(void** state)
{
    (void)state;
    assert_int_equal(RunJounce("tetrahedralize w --method lattice --nodes 1500").code, 0);
    json_t* root = Measure();
    assert_int_equal(json_array_size(json_object_get(root, "clips")), 0);
    const json_t* region = json_array_get(json_object_get(root, "regions"), 0);
    assert_string_equal(json_string_value(json_object_get(region, "region")), "other");
    assert_true(json_is_null(json_object_get(region, "hertz")));
    assert_true(json_is_null(json_object_get(region, "expected_mm"))); // a tube is nobody
    assert_true(json_real_value(json_array_get(json_object_get(region, "sag_median_mm"), 0)) > 0);
    assert_false(json_is_true(json_object_get(root, "human")));
    json_decref(root);

    assert_int_equal(RunJounce("modes w --count 4 --cutoff 200").code, 0);
    root = Measure();
    const json_t* clip = json_array_get(json_object_get(root, "clips"), 0);
    assert_string_equal(json_string_value(json_object_get(clip, "motion")), "modes");
    assert_true(NumberOf(json_array_get(json_object_get(clip, "regions"), 0), "max_mm") > 0);
    assert_true(NumberOf(json_array_get(json_object_get(root, "regions"), 0), "hertz") > 0);
    json_decref(root);
}

static void TheMotionOfAClipIsMeasured(void** state)
{
    (void)state;
    WriteMotion();
    json_t* root = Measure();
    const json_t* clip = json_array_get(json_object_get(root, "clips"), 0);
    const json_t* region = json_array_get(json_object_get(clip, "regions"), 0);
    assert_string_equal(json_string_value(json_object_get(clip, "motion")), "simulated");
    assert_string_equal(json_string_value(json_object_get(clip, "against")), "skinned");
    ASSERT_NEAR(NumberOf(region, "max_mm"), 10, 1e-3);
    ASSERT_NEAR(NumberOf(region, "frame"), 7, 0);
    // 30 frames of 20 vertices that are there, one of them twice as far: 5 sqrt(603 / 600).
    ASSERT_NEAR(NumberOf(region, "rms_mm"), 5 * sqrt(603.0 / 600), 2e-3);
    assert_true(json_is_null(json_object_get(clip, "lips_opening_mm")));
    json_decref(root);
}

static void TextAndPictures(void** state)
{
    (void)state;
    char head[9];
    Outcome outcome = RunJounce("anatomy w --picture sag.png");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "knee             n/a"));
    assert_non_null(strstr(outcome.out, "10.00 (   7)"));
    assert_non_null(strstr(outcome.out, "lips: n/a"));
    assert_non_null(strstr(outcome.out, "not a standing human body"));
    ReadAll("sag.png", head, sizeof(head));
    assert_memory_equal(head, "\x89PNG", 4);
    outcome = RunJounce("picture w --bones -o bones.png");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "no trunk was recognised"));
    assert_non_null(strstr(outcome.out, "written to bones.png"));
    ReadAll("bones.png", head, sizeof(head));
    assert_memory_equal(head, "\x89PNG", 4);
    // Beside the errors, in short.
    outcome = RunJounce("evaluate w");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    assert_non_null(strstr(outcome.out, "sag under 1 g, mm"));
    ExpectFailure("anatomy w --picture no/such/folder.png", 1, "no/such/folder.png", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AVolumeIsNeeded),
        cmocka_unit_test(WithoutMotionTheModesPlay),
        cmocka_unit_test(TheMotionOfAClipIsMeasured),
        cmocka_unit_test(TextAndPictures),
    };
    return cmocka_run_group_tests(tests, MakeWorkspace, LeaveScratchFolder);
}
