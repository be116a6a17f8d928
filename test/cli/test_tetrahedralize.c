// jounce tetrahedralize, as a user runs it.
#include "helpers/command.h"

#include "helpers/small_gltf.h"

#include <jansson.h>
#include <unistd.h>

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
    Outcome outcome = RunJounce("tetrahedralize ws --method lattice --nodes 400");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    assert_non_null(strstr(outcome.out, "method lattice: as asked for"));
    assert_non_null(strstr(outcome.out, "smallest angle"));
    assert_non_null(strstr(outcome.out, "dihedral angles"));
    assert_true(FileExists("ws/volume/nodes.npy"));
    assert_true(FileExists("ws/volume/volume.json"));
    assert_true(FileExists("ws/stages/volume.json"));
    outcome = RunJounce("tetrahedralize ws --method lattice --nodes 400");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "up to date"));
}

static void JsonHoldsTheQuality(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("tetrahedralize ws --method lattice --nodes 600 --json");
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

static void Rewrite(const char* file, const char* from, const char* to)
{
    char text[16384] = "";
    FILE* stream = fopen(file, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    char* place = strstr(text, from);
    assert_non_null(place);
    stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
    fclose(stream);
}

// What --json says, to be released by the caller.
static json_t* Told(const char* line)
{
    Outcome outcome = RunJounce(line);
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    return root;
}

static void WhatIsInsideIsMadeToldAndKept(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("tetrahedralize ws --method lattice --nodes 400 --force");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "bones hold"));
    // The tube is large: at 30 kPa it would sag by more than a small part of its size.
    assert_non_null(strstr(outcome.out, "other: stiffness scaled by "));
    static const char* const files[] = {"row_starts.npy", "joints.npy", "weights.npy", "held_by.npy",
        "hold_strength.npy", "regions.npy", "materials.npy", "inside.json", "bones.png"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        char path[64];
        snprintf(path, sizeof(path), "ws/volume/%s", files[i]);
        assert_true(FileExists(path));
    }
    json_t* root = Told("tetrahedralize ws --method lattice --nodes 400 --json");
    assert_true(json_is_false(json_object_get(root, "made")));
    const json_t* inside = json_object_get(root, "inside");
    assert_int_equal(json_array_size(json_object_get(inside, "joints")), 2);
    assert_true(json_integer_value(json_object_get(inside, "held")) > 0);
    json_decref(root);
}

// As a run leaves it that was killed while it wrote what is inside: an array that volume.json does not know of.
static void WhatAKilledRunLeftInsideIsMadeAgain(void** state)
{
    (void)state;
    assert_int_equal(RunJounce("tetrahedralize ws --method lattice --nodes 400 --force").code, 0);
    assert_int_equal(rename("ws/volume/hold_strength.npy", "ws/volume/weights.npy"), 0);
    assert_int_equal(unlink("ws/stages/inside.json"), 0);
    assert_int_equal(RunJounce("tetrahedralize ws --method lattice --nodes 400").code, 0);
    assert_int_equal(RunJounce("check ws").code, 0);
    assert_true(FileExists("ws/volume/hold_strength.npy"));
}

static void BonesAndMaterialsOfTheManifestDoNotMakeTheMeshAgain(void** state)
{
    (void)state;
    json_decref(Told("tetrahedralize ws --method lattice --nodes 400 --json"));
    static const char* const changes[][2] = {
        {"young: 30000", "young: 12345"}, {"\n  hold: spring", "\n  hold: dirichlet"}};
    Rewrite("ws/manifest.yaml", "calibrate: true", "calibrate: false");
    for (int i = 0; i < 2; ++i) {
        Rewrite("ws/manifest.yaml", changes[i][0], changes[i][1]);
        json_t* root = Told("tetrahedralize ws --method lattice --nodes 400 --json");
        assert_true(json_is_true(json_object_get(root, "made")));
        assert_true(json_is_false(json_object_get(root, "mesh_made")));
        const json_t* inside = json_object_get(root, "inside");
        const json_t* region = json_array_get(json_object_get(inside, "regions"), 0);
        assert_true(fabs(json_number_value(json_object_get(region, "young")) - 12345) < 1e-6);
        assert_non_null(strstr(json_string_value(json_object_get(inside, "settings")),
            i == 0 ? "bones.hold spring" : "bones.hold dirichlet"));
        json_decref(root);
    }
    // What lives inside goes with the mesh: no old weights beside new nodes.
    json_t* root = Told("tetrahedralize ws --method lattice --nodes 500 --json");
    assert_true(json_is_true(json_object_get(root, "mesh_made")));
    json_decref(root);
    assert_int_equal(unlink("ws/volume/held_by.npy"), 0);
    root = Told("tetrahedralize ws --method lattice --nodes 500 --json");
    assert_true(json_is_true(json_object_get(root, "made")));
    assert_true(json_is_false(json_object_get(root, "mesh_made")));
    assert_true(FileExists("ws/volume/held_by.npy"));
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

static void NeedTetgen(void)
{
    if (system("command -v tetgen > which.txt 2>&1") != 0) {
        print_message("skipped: no tetgen\n");
        skip();
    }
}

static void TheFigureIsFilledByTetgen(void** state)
{
    (void)state;
    NeedsNoSanitizer(); // test_meshes.c
    NeedTetgen();
    assert_int_equal(RunJounce("new figure --figure").code, 0);
    Outcome outcome = RunJounce("tetrahedralize figure --method tetgen");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "method tetgen: as asked for"));
    assert_non_null(strstr(outcome.out, "0 tetrahedra below 5"));
}

// Every file of the volume, pictures included, from 1 thread and from 3.
static void ThreadsChangeNoByte(void** state)
{
    (void)state;
    static const char* const methods[] = {"lattice --nodes 400", "tetgen"};
    NeedTetgen();
    for (int m = 0; m < 2; ++m) {
        for (int run = 0; run < 2; ++run) {
            char line[128];
            snprintf(line, sizeof(line), "tetrahedralize ws --force --method %s", methods[m]);
            setenv("OMP_NUM_THREADS", run == 0 ? "1" : "3", 1);
            Outcome outcome = RunJounce(line);
            unsetenv("OMP_NUM_THREADS");
            if (outcome.code != 0) {
                fail_msg("exit %d: %s", outcome.code, outcome.error);
            }
            assert_int_equal(system(run == 0 ? "rm -rf first && cp -r ws/volume first" : "diff -r ws/volume first"), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ALatticeIsMadeToldAndKept),
        cmocka_unit_test(JsonHoldsTheQuality),
        cmocka_unit_test(WhatIsInsideIsMadeToldAndKept),
        cmocka_unit_test(WhatAKilledRunLeftInsideIsMadeAgain),
        cmocka_unit_test(BonesAndMaterialsOfTheManifestDoNotMakeTheMeshAgain),
        cmocka_unit_test(WrongUsageAndNoWorkspaceAreOneLine),
        cmocka_unit_test(TheFigureIsFilledByTetgen),
        cmocka_unit_test(ThreadsChangeNoByte),
    };
    return cmocka_run_group_tests(tests, MakeWorkspace, LeaveScratchFolder);
}
