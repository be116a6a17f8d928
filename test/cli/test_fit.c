// jounce fit: the springs of a figure come back from the motion that they made, and carry over to another clip.
#include "command.h"

#include "jounce-author/npy.h"

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
    Run("build a --until modes");
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
        cmocka_unit_test(FittedSpringsAreExported),
        cmocka_unit_test(WhatIsMissingIsSaid),
    };
    return cmocka_run_group_tests(tests, MakeMotion, LeaveScratchFolder);
}
