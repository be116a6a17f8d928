// jounce export, info and bake as a user runs them.
#include "helpers/command.h"

#include <jansson.h>

static void FromNothingToAPlayingFile(void** state)
{
    (void)state;
    Outcome outcome =
        RunJounce("export --figure --hertz 3 --ratio 0.2 --joint Head 40 --rigid 30 --lod 0.1 -o f.jounce");
    assert_int_equal(outcome.code, 0);
    outcome = RunJounce("info f.jounce --json");
    assert_int_equal(outcome.code, 0);
    json_t* info = json_loads(outcome.out, 0, NULL);
    assert_non_null(info);
    json_int_t vertices = json_integer_value(json_object_get(info, "vertices"));
    json_int_t springs = json_integer_value(json_object_get(info, "springs"));
    assert_true(vertices >= 6000 && springs > vertices / 2 && springs < vertices); // the head is rigid
    json_int_t drivers = json_integer_value(json_object_get(info, "drivers"));
    assert_true(llabs(10 * drivers - springs) < 200); // whole blocks of 16
    assert_int_equal(json_array_size(json_object_get(info, "clips")), 5);
    ASSERT_NEAR(json_real_value(json_array_get(json_object_get(info, "hertz"), 0)), 3, 1e-4);
    assert_true(json_integer_value(json_object_get(json_object_get(info, "sections"), "POSN")) > 0);
    json_decref(info);
    outcome = RunJounce("info f.jounce");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "shadow-boxing"));
    outcome = RunJounce("bake f.jounce --clip run --seamless --rate 15 -o run.pc2");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "33 frames"));
    assert_true(FileExists("run.pc2"));
    outcome = RunJounce("bake f.jounce --clip calisthenics --stage skinned -o c.glb");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.error, "warning"));
}

static void FailureEndsWithOneAndNamesTheCause(void** state)
{
    (void)state;
    ExpectFailure("info none.jounce", 1, "none.jounce", "cannot read");
    assert_int_equal(system("mkdir -p unbuilt"), 0);
    ExpectFailure("info unbuilt", 1, "there is no character.jounce", "jounce build unbuilt --until modes");
    ExpectFailure("bake unbuilt --clip run -o x.pc2", 1, "there is no character.jounce", "--until modes");
    ExpectFailure("build unbuilt", 1, "unbuilt/manifest.yaml: cannot read", "jounce new");
    ExpectFailure("springs", 2, "springs", "run and fit");
    FILE* file = fopen("bad.jounce", "wb");
    fputs("JOUNCE or not", file);
    fclose(file);
    ExpectFailure("info bad.jounce", 1, "bad.jounce", "at least 64");
    ExpectFailure("bake bad.jounce --clip run -o x.pc2", 1, "bad.jounce", "bytes");
    ExpectFailure("export --figure --joint Tail 3 -o t.jounce", 1, "Tail", "no joint");
    assert_false(FileExists("t.jounce"));
    ExpectFailure("bake f.jounce --clip waltz -o x.pc2", 1, "waltz", "jumping-jacks");
    ExpectFailure("bake f.jounce --clip calisthenics --seamless -o x.pc2", 1, "calisthenics", "loop");
    assert_false(FileExists("x.pc2"));
}

static void WrongUsageEndsWithTwo(void** state)
{
    (void)state;
    ExpectFailure("export -o a.jounce", 2, "--figure", "needed");
    ExpectFailure("export --figure", 2, "-o", "missing");
    ExpectFailure("export --figure --hertz 0 -o t.jounce", 2, "--hertz", "above 0");
    ExpectFailure("export --figure --lod 0.7 -o t.jounce", 2, "--lod", "0.5");
    ExpectFailure("bake f.jounce --clip run -o x.fbx", 2, "x.fbx", ".glb");
    ExpectFailure("bake f.jounce -o x.pc2", 2, "--clip", "missing");
    ExpectFailure("info", 2, "FILE", "missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(FromNothingToAPlayingFile),
        cmocka_unit_test(FailureEndsWithOneAndNamesTheCause),
        cmocka_unit_test(WrongUsageEndsWithTwo),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
