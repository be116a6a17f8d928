// jounce new, as a user runs it: one clear line and exit 1 on failure, a workspace or nothing.
#include "base/npy.h"
#include "helpers/command.h"
#include "helpers/opened.h"
#include "helpers/small_gltf.h"
#include "pipeline/stage_import.h"

#include <jansson.h>
#include <limits.h>

#define DATA JN_SOURCE_DIR "/../shared/data/"

static Outcome outcome;

// Runs the command; its exit code, and the rest in `outcome`.
static int Run(const char* arguments)
{
    outcome = RunJounce(arguments);
    return outcome.code;
}

static const char* Workspace(void)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/new_%ld", JN_BINARY_DIR, (long)getpid());
    return path;
}

static void RemoveWorkspace(void)
{
    char command[1024];
    snprintf(command, sizeof(command), "rm -rf '%s'", Workspace());
    assert_int_equal(system(command), 0);
}

static bool OneLine(void)
{
    const char* end = strchr(outcome.error, '\n');
    return strncmp(outcome.error, "jounce: ", 8) == 0 && end != NULL && end[1] == '\0';
}

static void AWorkspaceIsMadeAndDescribed(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char arguments[2048];
    snprintf(
        arguments, sizeof(arguments), "new '%s' --from '%s' --rate 10 --json", Workspace(), WriteTube("new", &def));
    assert_int_equal(Run(arguments), 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_integer_value(json_object_get(root, "vertices")), TUBE_VERTICES);
    assert_int_equal(json_integer_value(json_object_get(root, "file_vertices")), TUBE_FILE_VERTICES);
    const json_t* clip = json_array_get(json_object_get(root, "clips"), 0);
    assert_string_equal(json_string_value(json_object_get(clip, "name")), "wave_top");
    assert_int_equal(json_integer_value(json_object_get(clip, "frames")), 11);
    assert_string_equal(json_string_value(json_object_get(clip, "role")), "train");
    json_decref(root);
    // A second run finds the folder taken.
    assert_int_equal(Run(arguments), 1);
    assert_true(OneLine());
    assert_non_null(strstr(outcome.error, "already exists"));
    RemoveWorkspace();
    unlink(WriteTube("new", &def));
}

// Jumping jacks and calisthenics are learned from, the rest is for tests; a change of the manifest makes it again.
static void TheBuiltInFigureIsACharacterToo(void** state)
{
    (void)state;
    char arguments[2048];
    snprintf(arguments, sizeof(arguments), "new '%s' --figure --rate 15 --json", Workspace());
    assert_int_equal(Run(arguments), 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    const json_t* clips = json_object_get(root, "clips");
    assert_int_equal(json_array_size(clips), 5);
    assert_int_equal(json_integer_value(json_object_get(root, "vertices")), 9842);
    for (size_t i = 0; i < 5; ++i) {
        const char* role = json_string_value(json_object_get(json_array_get(clips, i), "role"));
        assert_string_equal(role, i < 2 ? "train" : "test");
    }
    json_decref(root);
    bool imported = true;
    assert_int_equal(UpdateImport(Workspace(), &imported, NULL), jn_ok);
    assert_false(imported);
    snprintf(arguments, sizeof(arguments), "sed -i 's/^rate: 15/rate: 10/' '%s/manifest.yaml'", Workspace());
    assert_int_equal(system(arguments), 0);
    assert_int_equal(UpdateImport(Workspace(), &imported, NULL), jn_ok);
    assert_true(imported);
    RemoveWorkspace();
    snprintf(arguments, sizeof(arguments), "new '%s' --figure --from x.glb", Workspace());
    assert_int_equal(Run(arguments), 2);
}

// From a file to something that plays, in two commands; then only what changed is made again.
static void AWorkspaceIsBuiltOnceAndThenOnlyWhatChanged(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    const char* path = WriteTube("build", &def);
    char arguments[2048];
    snprintf(arguments, sizeof(arguments), "new ws --from '%s' --layer vertex", path);
    assert_int_equal(Run(arguments), 0);
    assert_int_equal(system("sed -i 's/^  mode: fitted/  mode: uniform/' ws/manifest.yaml"), 0);
    assert_int_equal(Run("build ws --until modes"), 0);
    assert_non_null(strstr(outcome.out, "import: up to date\nexport: done"));
    assert_int_equal(Run("build ws --until modes"), 0);
    assert_non_null(strstr(outcome.out, "import: up to date\nexport: up to date"));
    assert_int_equal(Run("bake ws/character.jounce --clip wave_top -o wave.npy"), 0);
    assert_int_equal(
        system("sed -i 's/^  hertz: 3/  hertz: 5/' ws/manifest.yaml && grep -q 'hertz: 5' ws/manifest.yaml"), 0);
    assert_int_equal(Run("build ws --until modes"), 0);
    assert_non_null(strstr(outcome.out, "import: up to date\nexport: done"));
    assert_int_equal(Run("info ws/character.jounce"), 0);
    assert_non_null(strstr(outcome.out, "5 to 5 Hz"));
    assert_int_equal(Run("export ws -o other.jounce"), 0);
    assert_int_equal(system("cmp other.jounce ws/character.jounce"), 0);
    assert_int_equal(Run("build nowhere --until modes"), 1);
    assert_true(OneLine());
    unlink(path);
}

static void ABadFileIsOneLineAndNoWorkspace(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .outOfRange = true};
    char arguments[2048];
    const char* path = WriteTube("newbad", &def);
    snprintf(arguments, sizeof(arguments), "new '%s' --from '%s'", Workspace(), path);
    assert_int_equal(Run(arguments), 1);
    assert_true(OneLine());
    assert_non_null(strstr(outcome.error, "names joint 77"));
    struct stat status;
    assert_int_not_equal(stat(Workspace(), &status), 0);
    unlink(path);
}

static void WrongUsageIsTwo(void** state)
{
    (void)state;
    assert_int_equal(Run("new"), 2);
    assert_int_equal(Run("new ws"), 2);
    assert_int_equal(Run("new ws --from a.glb --rate 0"), 2);
    assert_int_equal(Run("new ws --from a.glb --scale -1"), 2);
    assert_int_equal(Run("new ws --from a.glb --clip =file"), 2);
    assert_int_equal(Run("new --help"), 0);
    assert_non_null(strstr(outcome.out, "example:"));
}

static void AWrongNameListsTheClips(void** state)
{
    (void)state;
    char line[1024];
    const char* path = WriteTube("names", &(TubeDef){.joints = 2, .armature = "", .animation = "rotation"});
    snprintf(line, sizeof(line), "new %s --from %s --clip waves", Workspace(), path);
    assert_int_equal(Run(line), 1);
    assert_non_null(strstr(outcome.error, "it has wave_top"));
    snprintf(line, sizeof(line), "new %s --from %s --motion walk=%s", Workspace(), path, path);
    assert_int_equal(Run(line), 1);
    assert_non_null(strstr(outcome.error, "there is wave_top"));
    snprintf(line, sizeof(line), "new %s --from %s --clip wave_top", Workspace(), path);
    assert_int_equal(Run(line), 0);
    assert_non_null(strstr(outcome.out, "clip wave_top"));
    unlink(path);
    RemoveWorkspace();
    path = WriteTube("names", &(TubeDef){.joints = 2, .armature = ""});
    snprintf(line, sizeof(line), "new %s --from %s", Workspace(), path);
    assert_int_equal(Run(line), 0);
    assert_non_null(strstr(outcome.out, "there is no clip"));
    unlink(path);
    RemoveWorkspace();
}

// Every frame of the tube's clip at rest, as a NumPy array.
static void WriteStillMotion(const char* path, int frames)
{
    char header[128];
    memset(header, ' ', sizeof(header));
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    int length = snprintf(header + 10, sizeof(header) - 10,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, 3), }", frames, TUBE_FILE_VERTICES);
    header[10 + length] = ' ';
    header[127] = '\n';
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(header, 1, sizeof(header), file);
    for (int i = 0; i < frames * TUBE_FILE_VERTICES; ++i) {
        float p[3];
        TubePosition(i % TUBE_FILE_VERTICES, p);
        fwrite(p, sizeof(float), 3, file);
    }
    fclose(file);
}

static void ImportedMotionIsLearnedFromAlone(void** state)
{
    (void)state;
    char line[1024];
    const char* path = WriteTube("motion", &(TubeDef){.joints = 2, .armature = "", .animation = "rotation"});
    static const char* const layers[] = {"", "--layer modal ", "--layer vertex "};
    WriteStillMotion("still.npy", 31);
    for (int i = 0; i < 3; ++i) {
        snprintf(line, sizeof(line), "new %s --from %s %s--motion wave_top=still.npy", Workspace(), path, layers[i]);
        assert_int_equal(Run(line), 0);
        assert_non_null(strstr(outcome.out, "the ground truth is imported: nothing is simulated"));
        assert_int_equal(strstr(outcome.out, "whichever explain the motion better") != NULL, i == 0);
        snprintf(line, sizeof(line), "build %s --plan", Workspace());
        assert_int_equal(Run(line), 0);
        assert_non_null(strstr(outcome.out, "network.kind is none"));
        assert_non_null(strstr(outcome.out, "no stage needs the volume"));
        assert_non_null(strstr(outcome.out, "motion is imported"));
        assert_non_null(strstr(outcome.out, i < 2 ? "the fit finds modes in the imported motion" : "layer is vertex"));
        RemoveWorkspace();
    }
    // Equilibria are what a network learns from; poses of our own are not.
    snprintf(line, sizeof(line), "new %s --from %s --quasistatic wave_top=still.npy", Workspace(), path);
    assert_int_equal(Run(line), 0);
    assert_non_null(strstr(outcome.out, "with equilibria"));
    assert_non_null(strstr(outcome.out, "equilibria of 'wave_top': 25 points for 20 vertices by position"));
    snprintf(line, sizeof(line), "build %s --plan", Workspace());
    assert_int_equal(Run(line), 0);
    assert_non_null(strstr(outcome.out, "the shapes to learn from are imported"));
    assert_non_null(strstr(outcome.out, "no clip with the role train has motion"));
    assert_null(strstr(outcome.out, "poses to solve"));
    unlink(path);
    RemoveWorkspace();
}

static void WriteNumbers(const char* path, int frames, int points, int bad)
{
    size_t shape[3] = {(size_t)frames, (size_t)points, 3};
    float* numbers = calloc((size_t)frames * (size_t)points * 3, sizeof(float));
    assert_non_null(numbers);
    for (int i = 0; i < frames * points; ++i) {
        TubePosition(i % points % TUBE_FILE_VERTICES, numbers + 3 * i);
    }
    if (bad >= 0) {
        numbers[bad] = NAN;
    }
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, numbers, NULL), jn_ok);
    free(numbers);
}

static void DamagedGroundTruthIsRefusedWithFrameAndPoint(void** state)
{
    (void)state;
    static const char* const options[] = {"--motion", "--quasistatic"};
    static const struct {
        int frames, points, bad;
        const char* words;
    } cases[] = {
        {31, TUBE_FILE_VERTICES, 3 * (7 * TUBE_FILE_VERTICES + 11) + 1, "frame 7: the position of vertex 11 is not"},
        {30, TUBE_FILE_VERTICES, -1, "has 30 frames; clip 'wave_top' has 31"},
        {31, TUBE_FILE_VERTICES - 6, -1, "have no point"},
    };
    char line[2048], path[512];
    snprintf(path, sizeof(path), "%s",
        WriteTube("damaged", &(TubeDef){.joints = 2, .armature = "", .animation = "rotation"}));
    for (int i = 0; i < 6; ++i) {
        WriteNumbers("damaged.npy", cases[i / 2].frames, cases[i / 2].points, cases[i / 2].bad);
        snprintf(line, sizeof(line), "new %s --from %s %s wave_top=damaged.npy", Workspace(), path, options[i % 2]);
        ExpectFailure(line, 1, "damaged.npy", cases[i / 2].words);
        assert_false(FileExists(Workspace()));
    }
    const size_t flat[2] = {31, 75};
    float* zeros = calloc(31 * 75, sizeof(float));
    assert_int_equal(jnaWriteArray("damaged.npy", jna_float32, 2, flat, zeros, NULL), jn_ok);
    free(zeros);
    ExpectFailure(line, 1, "(31, 75)", "motion is float32 (frames, vertices, 3)");
    unlink(path);
}

static void TheBodyTakesMotionCapture(void** state)
{
    (void)state;
    if (access(DATA "body.glb", R_OK) != 0) {
        print_message("skipped: no shared data\n");
        skip();
    }
    char arguments[2048];
    snprintf(arguments, sizeof(arguments), "new '%s' --from " DATA "body.glb --clip run=" DATA "clips/09_01.bvh",
        Workspace());
    assert_int_equal(Run(arguments), 0);
    assert_non_null(strstr(outcome.out, "13380 vertices (14517 in the file), 26756 triangles, 31 joints"));
    assert_non_null(strstr(outcome.out, "clip run "));
    assert_non_null(strstr(outcome.out, "37 frames"));
    assert_non_null(strstr(outcome.out, "that the motion does not drive: LeftHandFinger1"));
    RemoveWorkspace();
}

// The number is a long of the option table; an int behind it was written over.
static void TheNumberOfACharacterIsTaken(void** state)
{
    (void)state;
    char arguments[2048];
    snprintf(arguments, sizeof(arguments), "new '%s' --figure --rate 15 --character 0", Workspace());
    assert_int_equal(Run(arguments), 0);
    RemoveWorkspace();
}

// The folder and the file beside it are moved together; a manifest with the file's whole name works as before.
static void AMovedWorkspaceFindsItsSources(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[PATH_MAX + 512], text[16384], root[PATH_MAX];
    snprintf(line, sizeof(line), "mkdir -p a/models && cp '%s' a/models/tube.glb && cp a/models/tube.glb a/wave.glb",
        WriteTube("moved", &def));
    assert_int_equal(system(line), 0);
    assert_int_equal(Run("new a/w --from a/models/tube.glb --clip more=a/wave.glb"), 0);
    ReadAll("a/w/manifest.yaml", text, sizeof(text));
    assert_non_null(strstr(text, "source: \"../models/tube.glb\""));
    assert_non_null(strstr(text, "source: \"../wave.glb\""));
    assert_int_equal(system("mv a b && sed -i 's/^rate: .*/rate: 12/' b/w/manifest.yaml"), 0);
    assert_int_equal(Run("build b/w --until import"), 0);
    assert_int_equal(Run("build b/w --until import --plan"), 0);
    assert_non_null(strstr(outcome.out, "up to date"));
    assert_non_null(realpath("b", root));
    snprintf(
        line, sizeof(line), "sed -i 's,\"[.][.]/,\"%s/,; s/^rate: .*/rate: 10/' b/w/manifest.yaml && mv b/w w", root);
    assert_int_equal(system(line), 0);
    assert_int_equal(Run("build w --until import"), 0);
    assert_int_equal(system("rm -r b w"), 0);
    unlink(WriteTube("moved", &def));
}

// Notes come before the parts of the body, which come last; many of one kind are one line unless asked for.
static void NotesOfOneKindAreOneLine(void** state)
{
    (void)state;
    char line[2048];
    TubeDef def = {.joints = 2, .armature = "", .animation = "loop"};
    const char* file = WriteTube("grouped", &def);
    int length = snprintf(line, sizeof(line), "new '%s' --from '%s'", Workspace(), file);
    for (int i = 0; i < 6; ++i) {
        length += snprintf(line + length, sizeof(line) - (size_t)length, " --clip c%d='%s'", i, file);
    }
    assert_int_equal(Run(line), 0);
    const char* note = strstr(outcome.out, "  note: clip '");
    assert_non_null(note);
    assert_non_null(strstr(note, "the same for 6 more: 'c0', 'c1', 'c2', 'c3' and 2 more"));
    assert_null(strstr(outcome.out, "note: clip 'c1'"));
    RemoveWorkspace();
    snprintf(line + length, sizeof(line) - (size_t)length, " --verbose");
    assert_int_equal(Run(line), 0);
    assert_non_null(strstr(outcome.out, "note: clip 'c1'"));
    assert_null(strstr(outcome.out, "the same for"));
    RemoveWorkspace();
    snprintf(line, sizeof(line), "new '%s' --figure --rate 15", Workspace());
    assert_int_equal(Run(line), 0);
    const char *body = strstr(outcome.out, "parts of the body"), *next = strstr(outcome.out, "next: ");
    note = strstr(outcome.out, "  note: ");
    assert_true(body != NULL && next != NULL && body < next && (note == NULL || note < body));
    RemoveWorkspace();
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AWorkspaceIsMadeAndDescribed),
        cmocka_unit_test(TheBuiltInFigureIsACharacterToo),
        cmocka_unit_test(TheNumberOfACharacterIsTaken),
        cmocka_unit_test(AMovedWorkspaceFindsItsSources),
        cmocka_unit_test(NotesOfOneKindAreOneLine),
        cmocka_unit_test(AWorkspaceIsBuiltOnceAndThenOnlyWhatChanged),
        cmocka_unit_test(ABadFileIsOneLineAndNoWorkspace),
        cmocka_unit_test(WrongUsageIsTwo),
        cmocka_unit_test(AWrongNameListsTheClips),
        cmocka_unit_test(ImportedMotionIsLearnedFromAlone),
        cmocka_unit_test(DamagedGroundTruthIsRefusedWithFrameAndPoint),
        cmocka_unit_test(TheBodyTakesMotionCapture),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
