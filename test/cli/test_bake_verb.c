// jounce bake: in the vertex order, unit and axes of another file.
#include "helpers/command.h"

#include "base/npy.h"
#include "helpers/collada_box.h"
#include "helpers/fbx_box.h"
#include "helpers/small_gltf.h"

static int MakeCharacter(void** state)
{
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    return RunJounce("new w --figure --layer vertex").code + RunJounce("export w -o w/character.jounce").code +
           RunJounce("bake w --clip run -o plain.npy").code;
}

// The rest surface as an OBJ: centimetres, Z up, vertices from the last to the first.
static int WriteOrder(const char* path, double stretch)
{
    jnaArray rest;
    assert_int_equal(jnaOpenArray("w/character/positions.npy", &rest, NULL), jn_ok);
    FILE* file = fopen(path, "w");
    for (size_t v = rest.shape[0]; v-- > 0;) {
        fprintf(file, "v %.7g %.7g %.7g\n", 100 * jnaArray_Get(&rest, 3 * v), -100 * jnaArray_Get(&rest, 3 * v + 2),
            stretch * 100 * jnaArray_Get(&rest, 3 * v + 1));
    }
    fclose(file);
    int count = (int)rest.shape[0];
    jnaCloseArray(&rest);
    return count;
}

static void ABakeTakesTheOrderUnitAndAxesOfAnotherFile(void** state)
{
    (void)state;
    int count = WriteOrder("order.obj", 1);
    Outcome outcome = RunJounce("bake w --clip run --order order.obj -o ordered.npy");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "by position, in centimetres, Z up"));
    assert_int_equal(RunJounce("bake w --clip run --order order.obj --units metres --up y -o ours.npy").code, 0);
    jnaArray plain, ordered, ours, weld;
    assert_int_equal(jnaOpenArray("plain.npy", &plain, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("ordered.npy", &ordered, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("ours.npy", &ours, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("w/character/weld.npy", &weld, NULL), jn_ok);
    assert_int_equal(ordered.shape[1], count);
    double worst = 0;
    for (size_t frame = 0; frame < plain.shape[0]; frame += 7) {
        for (size_t i = 0; i < weld.count; ++i) {
            size_t point = (size_t)count - 1 - (size_t)((const int32_t*)weld.data)[i];
            size_t from = 3 * (frame * plain.shape[1] + i), to = 3 * (frame * (size_t)count + point);
            double y = jnaArray_Get(&plain, from + 1), z = jnaArray_Get(&plain, from + 2);
            worst = fmax(worst, fabs(jnaArray_Get(&ordered, to + 2) - 100 * y));
            worst = fmax(worst, fabs(jnaArray_Get(&ordered, to + 1) + 100 * z));
            worst = fmax(worst, 100 * fabs(jnaArray_Get(&ours, to + 1) - y));
        }
    }
    ASSERT_AT_MOST(worst, 2e-5); // centimetres
    jnaCloseArray(&plain);
    jnaCloseArray(&ordered);
    jnaCloseArray(&ours);
    jnaCloseArray(&weld);
}

// What was written goes back in, as it is.
static void ABakeOfOursIsMotionAgain(void** state)
{
    (void)state;
    WriteOrder("order.obj", 1);
    static const char* const files[] = {"back.abc", "back.pc2", "back.usda", "back.npy"};
#ifdef JN_SANITIZED
    enum { FORMATS = 1 }; // the readers and writers have tests of their own
#else
    enum { FORMATS = 4 };
#endif
    for (int i = 0; i < FORMATS; ++i) {
        char line[256];
        snprintf(line, sizeof(line), "bake w --clip run --order order.obj -o %s", files[i]);
        assert_int_equal(RunJounce(line).code, 0);
        snprintf(line, sizeof(line), "new back%d --figure --layer vertex --motion run=%s", i, files[i]);
        Outcome outcome = RunJounce(line);
        if (outcome.code != 0) {
            fail_msg("%s: %s", line, outcome.error);
        }
        assert_non_null(strstr(outcome.out, "in centimetres, Z up"));
    }
}

static void AnotherShapeAndAGlbAreRefused(void** state)
{
    (void)state;
    WriteOrder("tall.obj", 1.5);
    Outcome outcome = RunJounce("bake w --clip run --order tall.obj -o x.npy");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "tall.obj"));
    assert_false(FileExists("x.npy"));
    WriteOrder("order.obj", 1);
    outcome = RunJounce("bake w --clip run --order order.obj -o x.glb");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "its own vertex order"));
}

// A bake without --order has the points of the source in the order of the source; at rest they lie where it says.
static void ExpectSourceOrder(const char* ending)
{
    char line[256];
    snprintf(line, sizeof(line), "new %s --from box.%s --layer vertex", ending, ending);
    Outcome outcome = RunJounce(line);
    if (outcome.code != 0) {
        fail_msg("%s", outcome.error);
    }
    assert_non_null(strstr(outcome.out, "the source has 12 points; the file splits them into 60 vertices"));
    snprintf(line, sizeof(line), "export %s -o %s/character.jounce", ending, ending);
    assert_int_equal(RunJounce(line).code, 0);
    snprintf(line, sizeof(line), "info %s", ending);
    outcome = RunJounce(line);
    assert_non_null(strstr(outcome.out, "points    12 in the source, 12 welded, 60 split"));
    snprintf(line, sizeof(line), "bake %s --clip nothing -o x.npy", ending);
    outcome = RunJounce(line);
    char name[64] = "";
    const char* listed = strstr(outcome.error, "it has: ");
    assert_non_null(listed);
    assert_int_equal(sscanf(listed, "it has: %60[^\n]", name), 1);
    snprintf(line, sizeof(line), "bake %s --clip %s --stage skinned -o points.npy", ending, name);
    assert_int_equal(RunJounce(line).code, 0);
    jnaArray points, split;
    assert_int_equal(jnaOpenArray("points.npy", &points, NULL), jn_ok);
    assert_int_equal(points.shape[1], BOX_POINTS);
    for (int i = 0; i < BOX_POINTS; ++i) {
        double p[3];
        BoxPoint(i, p);
        for (size_t k = 0; k < 3; ++k) {
            ASSERT_NEAR(jnaArray_Get(&points, 3 * (size_t)i + k), p[k], 1e-6);
        }
    }
    jnaCloseArray(&points);
    snprintf(line, sizeof(line), "bake %s --clip %s --order split -o split.npy", ending, name);
    assert_int_equal(RunJounce(line).code, 0);
    assert_int_equal(jnaOpenArray("split.npy", &split, NULL), jn_ok);
    assert_int_equal(split.shape[1], 60);
    jnaCloseArray(&split);
}

static void ABakeOfAColladaCharacterIsInThePointsOfItsSource(void** state)
{
    (void)state;
    WriteColladaBox("box.dae", 0);
    ExpectSourceOrder("dae");
}

static void ABakeOfAnFbxCharacterIsInThePointsOfItsSource(void** state)
{
    (void)state;
    WriteFbxBox("box.fbx", false);
    ExpectSourceOrder("fbx");
}

// The skinned loop so many times over, as targets of springs.
static size_t RepeatTargets(const char* from, const char* to, size_t times)
{
    jnaArray one;
    assert_int_equal(jnaOpenArray(from, &one, NULL), jn_ok);
    float* all = malloc(times * one.count * sizeof(float));
    assert_non_null(all);
    for (size_t i = 0; i < times * one.count; ++i) {
        all[i] = (float)jnaArray_Get(&one, i % one.count);
    }
    size_t shape[3] = {times * one.shape[0], one.shape[1], 3}, count = one.count;
    assert_int_equal(jnaWriteArray(to, jna_float32, 3, shape, all, NULL), jn_ok);
    free(all);
    jnaCloseArray(&one);
    return count;
}

static void AnImportedLoopOfAnyLengthBakesSeamlessly(void** state)
{
    (void)state;
    char line[1024];
    const double hertz = 3, ratio = 0.2, turn = 6.283185307179586; // of springs by hand
    snprintf(line, sizeof(line), "new loop --from '%s' --layer vertex",
        WriteTube("seamless", &(TubeDef){.joints = 2, .armature = "", .animation = "loop"}));
    Outcome outcome = RunJounce(line);
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "a loop of 21 frames at 29.65 Hz"));
    assert_int_equal(RunJounce("export loop -o loop/character.jounce").code, 0);
    assert_int_equal(RunJounce("bake loop --clip wave_top --stage skinned -o skinned.npy").code, 0);
    assert_int_equal(RunJounce("bake loop --clip wave_top --seamless -o seamless.npy").code, 0);
    size_t count = RepeatTargets("skinned.npy", "repeated.npy", 8);
    snprintf(line, sizeof(line),
        "springs run --targets repeated.npy --stiffness %.9g --damping %.9g --dt %.9g --mode causal -o run.npy",
        turn * hertz * turn * hertz, 2 * ratio * turn * hertz, TUBE_LOOP / 21);
    assert_int_equal(RunJounce(line).code, 0);
    jnaArray seamless, run;
    assert_int_equal(jnaOpenArray("seamless.npy", &seamless, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("run.npy", &run, NULL), jn_ok);
    assert_int_equal(seamless.shape[0], 21);
    double worst = 0, moved = 0;
    for (size_t i = 0; i < count; ++i) { // its last round against the periodic solution
        worst = fmax(worst, fabs(jnaArray_Get(&seamless, i) - jnaArray_Get(&run, 7 * count + i)));
        moved = fmax(moved, fabs(jnaArray_Get(&seamless, i) - jnaArray_Get(&run, i)));
    }
    print_message("a loop against its eighth round: %.2g m; its first is %.2g m off\n", worst, moved);
    assert_true(worst < 1e-5 && moved > 1e-3);
    jnaCloseArray(&seamless);
    jnaCloseArray(&run);
    // As the file has it, where the manifest wants that.
    assert_int_equal(system("sed -i 's/    animation: .*/&\\n    loop: false/' loop/manifest.yaml"), 0);
    assert_int_equal(RunJounce("build loop --until import").code, 0);
    assert_int_equal(RunJounce("export loop -o loop/character.jounce").code, 0);
    outcome = RunJounce("info loop");
    assert_non_null(strstr(outcome.out, "wave_top: 22 frames at 30 Hz"));
    assert_null(strstr(outcome.out, "looping"));
}

static void AClipCanBeDeclaredALoop(void** state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof(line), "new open --from '%s' --layer vertex",
        WriteTube("seamless", &(TubeDef){.joints = 2, .armature = "", .animation = "rotation"}));
    assert_int_equal(RunJounce(line).code, 0);
    assert_int_equal(RunJounce("export open -o open/character.jounce").code, 0);
    assert_null(strstr(RunJounce("info open").out, "looping"));
    assert_int_equal(system("sed -i 's/    animation: .*/&\\n    loop: true/' open/manifest.yaml"), 0);
    assert_int_equal(RunJounce("build open --until import").code, 0);
    assert_int_equal(RunJounce("export open -o open/character.jounce").code, 0);
    assert_non_null(strstr(RunJounce("info open").out, "wave_top: 31 frames at 30 Hz, 1.03 s, looping"));
    assert_int_equal(RunJounce("bake open --clip wave_top --seamless -o seamless.npy").code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnImportedLoopOfAnyLengthBakesSeamlessly),
        cmocka_unit_test(AClipCanBeDeclaredALoop),
        cmocka_unit_test(ABakeOfAColladaCharacterIsInThePointsOfItsSource),
        cmocka_unit_test(ABakeOfAnFbxCharacterIsInThePointsOfItsSource),
        cmocka_unit_test(ABakeTakesTheOrderUnitAndAxesOfAnotherFile),
        cmocka_unit_test(ABakeOfOursIsMotionAgain),
        cmocka_unit_test(AnotherShapeAndAGlbAreRefused),
    };
    return cmocka_run_group_tests(tests, MakeCharacter, LeaveScratchFolder);
}
