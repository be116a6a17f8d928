// jounce modes, and a character on its modes from import to file, as a user runs them.
#include "helpers/command.h"

#include "helpers/small_gltf.h"

#include <jansson.h>

static int MakeWorkspace(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new ws --from '%s' --layer modal", WriteTube("modes", &def));
    return RunJounce(line).code;
}

static void ModesNeedAVolume(void** state)
{
    (void)state;
    ExpectFailure("modes ws", 1, "volume", "jounce");
    ExpectFailure("modes nowhere", 1, "nowhere", "manifest");
    ExpectFailure("modes ws --count 0", 2, "--count", "0");
}

static void ModesAreToldAndKept(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("tetrahedralize ws --method lattice --nodes 1500");
    assert_int_equal(outcome.code, 0);
    outcome = RunJounce("modes ws --count 6 --cutoff 200 --picture modes.png");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    assert_non_null(strstr(outcome.out, "hertz"));
    assert_non_null(strstr(outcome.out, "region"));
    assert_non_null(strstr(outcome.out, "largest offset "));
    assert_non_null(strstr(outcome.out, "before the cap and with it"));
    assert_true(FileExists("ws/modes/offsets.json") && FileExists("ws/modes/caps.npy"));
    assert_true(FileExists("ws/modes/shapes.npy") && FileExists("ws/stages/modes.json") && FileExists("modes.png"));
    outcome = RunJounce("modes ws --count 6 --cutoff 200");
    assert_non_null(strstr(outcome.out, "up to date"));
    outcome = RunJounce("modes ws --count 4 --cutoff 200 --json");
    assert_int_equal(outcome.code, 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    const json_t* modes = json_object_get(root, "modes");
    assert_true(json_array_size(modes) >= 3 && json_array_size(modes) <= 4);
    const json_t* offsets = json_object_get(root, "offsets");
    const json_t* largest = json_object_get(json_object_get(offsets, "before_cap"), "largest");
    assert_true(json_number_value(json_object_get(offsets, "height")) > 1.9);
    assert_true(json_number_value(json_object_get(largest, "offset")) > 1e-5);
    assert_true(json_number_value(json_object_get(largest, "hertz")) > 0);
    double last = 0;
    for (size_t k = 0; k < json_array_size(modes); ++k) {
        const json_t* mode = json_array_get(modes, k);
        double hertz = json_number_value(json_object_get(mode, "hertz"));
        assert_true(hertz >= last && hertz < 200);
        last = hertz;
    }
    json_decref(root);
}

static void ABuildOnModesPlays(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("build ws --until modes");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    assert_non_null(strstr(outcome.out, "volume: done"));
    assert_non_null(strstr(outcome.out, "modes: done"));
    outcome = RunJounce("build ws --until modes");
    assert_non_null(strstr(outcome.out, "modes: up to date"));
    assert_non_null(strstr(outcome.out, "export: up to date"));
    outcome = RunJounce("info ws/character.jounce --json");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "\"layer\":\"modal\""));
    outcome = RunJounce("info ws/character.jounce");
    assert_non_null(strstr(outcome.out, "driven by"));
    ExpectFailure("export ws --lod 0.1 -o coarse.jounce", 1, "coarse", "modes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ModesNeedAVolume),
        cmocka_unit_test(ModesAreToldAndKept),
        cmocka_unit_test(ABuildOnModesPlays),
    };
    return cmocka_run_group_tests(tests, MakeWorkspace, LeaveScratchFolder);
}
