// jounce fit: the springs of a figure come back from the motion that they made, and carry over to another clip.
#include "helpers/command.h"

#include "base/npy.h"

#include <jansson.h>
#include <math.h>

static void Run(const char* arguments)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != 0) {
        print_message("jounce %s: %s\n", arguments, outcome.error);
    }
    assert_int_equal(outcome.code, 0);
}

static int MakeMotion(void** state)
{
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    Run("new a --figure --layer vertex");
    Run("export a -o a/character.jounce");
    Run("bake a/character.jounce --clip jumping-jacks -o jacks.npy");
    Run("bake a/character.jounce --clip run -o run.npy");
    Run("new b --figure --layer vertex --motion jumping-jacks=jacks.npy --motion run=run.npy");
    return 0;
}

static void SpringsComeBackFromTheirMotion(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("fit b --targets skinned --json");
    assert_int_equal(outcome.code, 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    json_t* clips = json_object_get(root, "clips");
    assert_int_equal(json_array_size(clips), 2);
    for (size_t i = 0; i < 2; ++i) {
        json_t* clip = json_array_get(clips, i);
        assert_int_equal(json_is_true(json_object_get(clip, "trained")), i == 0);
        assert_true(json_real_value(json_object_get(clip, "layer")) > 1e-3);
        assert_true(json_real_value(json_object_get(clip, "captured")) > 0.9);
        assert_true(json_real_value(json_object_get(clip, "captured_soft")) > 0.9);
    }
    json_decref(root);
    // By hand they were 3 Hz; the bake is causal and the fit exact, which the stiffness feels a little.
    jnaArray stiffness;
    assert_int_equal(jnaOpenArray("b/springs/stiffness.npy", &stiffness, NULL), jn_ok);
    double hertz = sqrt(jnaArray_Get(&stiffness, stiffness.count / 2)) / (2 * 3.14159265358979);
    assert_true(hertz > 2.5 && hertz < 3.5);
    jnaCloseArray(&stiffness);
}

// The frames of an array with the order of the vertices turned round.
static void TurnRound(const char* from, const char* to)
{
    jnaArray array;
    assert_int_equal(jnaOpenArray(from, &array, NULL), jn_ok);
    size_t vertices = array.shape[1];
    float* turned = malloc(array.count * sizeof(float));
    assert_non_null(turned);
    for (size_t i = 0; i < array.count; ++i) {
        size_t vertex = i / 3 % vertices;
        turned[i] = (float)jnaArray_Get(&array, i + 3 * (vertices - 1 - vertex) - 3 * vertex);
    }
    assert_int_equal(jnaWriteArray(to, jna_float32, 3, array.shape, turned, NULL), jn_ok);
    free(turned);
    jnaCloseArray(&array);
}

static void MotionInAnotherOrderIsMatchedOrRefused(void** state)
{
    (void)state;
    TurnRound("jacks.npy", "turned.npy");
    Outcome outcome = RunJounce("new c --figure --layer vertex --motion jumping-jacks=turned.npy");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "motion of 'jumping-jacks'"));
    assert_non_null(strstr(outcome.out, "by position, in metres, Y up"));
    jnaArray ours, theirs;
    assert_int_equal(jnaOpenArray("b/clips/jumping-jacks/motion.npy", &ours, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("c/clips/jumping-jacks/motion.npy", &theirs, NULL), jn_ok);
    assert_memory_equal(ours.data, theirs.data, ours.count * sizeof(float));
    jnaCloseArray(&ours);
    jnaCloseArray(&theirs);
    // Behind the import's back, as a script may do it.
    TurnRound("b/clips/jumping-jacks/motion.npy", "c/clips/jumping-jacks/motion.npy");
    static const char* const verbs[] = {"fit c --targets skinned", "evaluate c"};
    for (int i = 0; i < 2; ++i) {
        outcome = RunJounce(verbs[i]);
        assert_int_equal(outcome.code, 1);
        assert_non_null(strstr(outcome.error, "begins"));
        assert_non_null(strstr(outcome.error, "its vertices are in another order"));
    }
}

static double NumberOf(const json_t* root, const char* key)
{
    return json_number_value(json_object_get(root, key));
}

// The account in springs/fit.json; the caller releases it.
static json_t* FitWith(const char* options)
{
    char line[256];
    snprintf(line, sizeof(line), "fit b --targets skinned %s", options);
    Run(line);
    json_t* root = json_load_file("b/springs/fit.json", 0, NULL);
    assert_non_null(root);
    return root;
}

static void TheFitTakesItsMethodAndPrior(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    json_t* descent = FitWith("--method descent --drop-by frame");
    assert_string_equal(json_string_value(json_object_get(descent, "method")), "descent");
    assert_string_equal(json_string_value(json_object_get(descent, "drop_by")), "frame");
    const json_t* springs = json_object_get(descent, "vertex");
    assert_true(NumberOf(springs, "captured_after") >= NumberOf(springs, "captured_before"));
    assert_true(NumberOf(springs, "loss_after") <= NumberOf(springs, "loss_before"));
    json_decref(descent);
    // A prior of a metre leaves nothing but itself: the stiff spring.
    json_t* held = FitWith("--prior 1");
    const json_t* parts = json_object_get(json_object_get(held, "vertex"), "by_part");
    const json_t* all = json_object_get(parts, "all");
    assert_true(NumberOf(held, "prior") == 1);
    assert_true(NumberOf(all, "median_stiffness") > 2000 && NumberOf(all, "median_damping") > 60);
    json_decref(held);
    json_t* free = FitWith("--prior 0");
    all = json_object_get(json_object_get(json_object_get(free, "vertex"), "by_part"), "all");
    assert_true(NumberOf(all, "median_stiffness") < 700);
    assert_int_equal(NumberOf(all, "soft_underdamped"), NumberOf(all, "springs"));
    assert_true(NumberOf(json_object_get(json_object_get(json_object_get(free, "vertex"), "by_part"), "left_right"),
                    "stiffness") < 1.0001);
    json_decref(free);
    Outcome outcome = RunJounce("fit b --targets skinned");
    assert_non_null(strstr(outcome.out, "stopped at a bound"));
    assert_non_null(strstr(outcome.out, "soft, underdamped"));
    assert_non_null(strstr(outcome.out, "left against right"));
    ExpectFailure("fit b --method guess", 2, "lm", "method");
    ExpectFailure("fit b --prior -1", 2, "prior", "0");
}

// The row of the report's table of bad frames: rms over the soft vertices, mm.
static double RowOf(const char* html, const char* name)
{
    const char* row = strstr(html, name);
    double value = 0;
    assert_non_null(row);
    assert_int_equal(sscanf(strstr(row, "</td><td>"), "</td><td>%lf", &value), 1);
    return value;
}

// Motion of springs, with four bad frames in a copy: the refit comes back to what the clean motion gives.
static void TheReportShowsThatBadFramesAreDropped(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    Run("fit b --targets skinned");
    Run("build b --until modes");
    Run("report b --quick -o bad.html");
    FILE* file = fopen("bad.html", "rb");
    assert_non_null(file);
    static char html[8 << 20];
    html[fread(html, 1, sizeof(html) - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(html, "with frames 31 to 34 made bad"));
    double before = RowOf(html, "fitted to all frames, bad ones included");
    double after = RowOf(html, "fitted again without the worst"), clean = RowOf(html, "fitted to the clean motion");
    print_message("on good frames: %.2f mm, without the worst %.2f, clean %.2f\n", before, after, clean);
    assert_true(before > clean + 0.2);
    assert_true(after - clean < 0.3 * (before - clean));
}

static void FittedSpringsAreExported(void** state)
{
    (void)state;
    Run("build b --until modes");
    Run("build b --until modes");
    assert_non_null(strstr(RunJounce("build b --until modes").out, "export: up to date"));
    assert_int_equal(RunJounce("fit b --targets skinned --drop 0").code, 0);
    assert_null(strstr(RunJounce("build b --until modes").out, "export: up to date"));
}

static void WhatIsMissingIsSaid(void** state)
{
    (void)state;
    ExpectFailure("fit a", 1, "train", "simulate");
    ExpectFailure("fit nowhere", 1, "nowhere", "manifest");
    ExpectFailure("fit b --targets moon", 2, "quasistatic", "targets");
    assert_int_equal(system("cp b/springs/stiffness.npy keep.npy && cp jacks.npy b/springs/stiffness.npy"), 0);
    ExpectFailure("export b -o c.jounce", 1, "jounce fit", "stiffness");
    assert_int_equal(system("cp keep.npy b/springs/stiffness.npy"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SpringsComeBackFromTheirMotion),
        cmocka_unit_test(MotionInAnotherOrderIsMatchedOrRefused),
        cmocka_unit_test(TheFitTakesItsMethodAndPrior),
        cmocka_unit_test(TheReportShowsThatBadFramesAreDropped),
        cmocka_unit_test(FittedSpringsAreExported),
        cmocka_unit_test(WhatIsMissingIsSaid),
    };
    return cmocka_run_group_tests(tests, MakeMotion, LeaveScratchFolder);
}
