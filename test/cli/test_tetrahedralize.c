// jounce tetrahedralize, as a user runs it.
#include "cli/command.h"

#include "author/small_gltf.h"

#include <jansson.h>

static int MakeWorkspace(void** state)
{
    TubeDef def = {.joints = 2, .armature = ""};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new ws --from '%s'", WriteTube("tetrahedralize", &def));
    return RunJounce(line).code;
}

static void ALatticeIsMadeToldAndKept(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("tetrahedralize ws --method lattice --nodes 2000");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    assert_non_null(strstr(outcome.out, "method lattice: as asked for"));
    assert_non_null(strstr(outcome.out, "smallest angle"));
    assert_non_null(strstr(outcome.out, "dihedral angles"));
    assert_true(FileExists("ws/volume/nodes.npy"));
    assert_true(FileExists("ws/volume/volume.json"));
    assert_true(FileExists("ws/stages/volume.json"));
    outcome = RunJounce("tetrahedralize ws --method lattice --nodes 2000");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "up to date"));
    outcome = RunJounce("tetrahedralize ws --method lattice --nodes 4000");
    assert_null(strstr(outcome.out, "up to date"));
}

static void JsonHoldsTheQuality(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("tetrahedralize ws --method lattice --nodes 2000 --force --json");
    assert_int_equal(outcome.code, 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    const json_t* after = json_object_get(json_object_get(root, "mesh"), "after");
    assert_true(json_number_value(json_object_get(after, "smallest_angle")) > 5);
    assert_int_equal(json_array_size(json_object_get(after, "angles_per_10_degrees")), 18);
    assert_true(json_is_true(json_object_get(root, "made")));
    assert_string_equal(json_string_value(json_object_get(root, "method")), "lattice");
    json_decref(root);
}

static void WrongUsageAndNoWorkspaceAreOneLine(void** state)
{
    (void)state;
    ExpectFailure("tetrahedralize", 2, "WORKSPACE", "missing");
    ExpectFailure("tetrahedralize ws --edge 1 --nodes 100", 2, "--edge", "--nodes");
    ExpectFailure("tetrahedralize ws --edge -1", 2, "--edge", "metres");
    ExpectFailure("tetrahedralize ws --nodes 3", 2, "--nodes", "between");
    ExpectFailure("tetrahedralize ws --method magic", 2, "--method", "magic");
    ExpectFailure("tetrahedralize nowhere", 1, "nowhere", "cannot read");
    ExpectFailure("tetrahedralize ws --method lattice --edge 900", 1, "lattice", "--edge");
    Outcome outcome = RunJounce("tetrahedralize --help");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "example:"));
}

static void TheFigureIsFilledByTetgen(void** state)
{
    (void)state;
    if (system("command -v tetgen > which.txt 2>&1") != 0) {
        print_message("skipped: no tetgen\n");
        skip();
    }
    assert_int_equal(RunJounce("new figure --figure").code, 0);
    Outcome outcome = RunJounce("tetrahedralize figure");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "method tetgen: closed and free of crossings"));
    assert_non_null(strstr(outcome.out, "0 tetrahedra below 5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ALatticeIsMadeToldAndKept),
        cmocka_unit_test(JsonHoldsTheQuality),
        cmocka_unit_test(WrongUsageAndNoWorkspaceAreOneLine),
        cmocka_unit_test(TheFigureIsFilledByTetgen),
    };
    return cmocka_run_group_tests(tests, MakeWorkspace, LeaveScratchFolder);
}
