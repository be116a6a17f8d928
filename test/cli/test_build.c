// jounce build, as a user runs it: on a small tube of flesh, from nothing to the report, and after every kind of
// change.
#include "helpers/command.h"
#include "helpers/small_gltf.h"
#include "pipeline/build.h"

#include <jansson.h>
#include <poll.h>
#include <pty.h>

enum { STAGES = 10 };
static const char* const stages[STAGES] = {
    "import", "volume", "modes", "poses", "motion", "train", "fit", "export", "evaluate", "report"};

static void Do(const char* line)
{
    if (system(line) != 0) {
        fail_msg("failed: %s", line);
    }
}

// A workspace of the tube whose manifest was changed by a sed script.
static void Make(const char* folder, const char* script)
{
    char line[1024];
    snprintf(line, sizeof(line), "rm -rf %s && cp -r clean %s && sed -i -e '%s' %s/manifest.yaml", folder, folder,
        script, folder);
    Do(line);
}

static json_t* Build(const char* arguments)
{
    char line[1024];
    snprintf(line, sizeof(line), "build %s --json", arguments);
    Outcome outcome = RunJounce(line);
    if (outcome.code != 0) {
        fail_msg("jounce %s: exit %d: %s", line, outcome.code, outcome.error);
    }
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_non_null(root);
    return root;
}

// The names of the stages for which something is so, in order: "import export ".
static const char* Which(const json_t* root, const char* key)
{
    static char text[256];
    const json_t* list = json_object_get(root, "stages");
    assert_int_equal(json_array_size(list), STAGES);
    text[0] = '\0';
    for (size_t i = 0; i < STAGES; ++i) {
        const json_t* stage = json_array_get(list, i);
        assert_string_equal(json_string_value(json_object_get(stage, "stage")), stages[i]);
        if (json_is_true(json_object_get(stage, key))) {
            strcat(strcat(text, stages[i]), " ");
        }
    }
    return text;
}

static void ExpectBuild(const char* arguments, const char* key, const char* names)
{
    json_t* root = Build(arguments);
    if (strcmp(Which(root, key), names) != 0) {
        fail_msg("build %s: %s are %s, not %s", arguments, key, Which(root, key), names);
    }
    json_decref(root);
}

#define KIND "s/kind: .*/kind: "
#define MODE "; s/  mode: .*/  mode: "
#define LAYER "; s/  layer: .*/  layer: "
#define END "/"
// Small enough for a test.
#define SMALL                                                                                                          \
    "; s/method: .*/method: lattice/; s/  nodes: .*/  nodes: 120/; s/  count: 5000/  count: 60/; s/epochs: "           \
    ".*/epochs: 5/"                                                                                                    \
    "; s/substeps: .*/substeps: 1/; s/    animation: .*/&\\n    frames: 8/"

static int MakeClean(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new clean --from '%s'", WriteTube("build_verb", &def));
    return RunJounce(line).code;
}

static void TheManifestSaysWhichStagesAreNeeded(void** state)
{
    (void)state;
    static const struct {
        const char *script, *arguments, *needed;
    } cases[] = {
        {KIND "none/" MODE "uniform/" LAYER "vertex" END, "", "import export "},
        {KIND "pca/" MODE "uniform/" LAYER "vertex" END, "", "import volume poses train export "},
        {KIND "none/" MODE "uniform/" LAYER "modal" END, "", "import volume modes export "},
        {KIND "none/" MODE "fitted/" LAYER "vertex" END, "", "import volume motion fit export evaluate report "},
        {KIND "pca/" MODE "fitted/" LAYER "modal" END, "",
            "import volume modes poses motion train fit export evaluate report "},
        {KIND "pca/" MODE "fitted/" LAYER "modal" END, "--until modes", "import volume modes export "},
        {KIND "pca/" MODE "fitted/" LAYER "vertex" END, "--until modes", "import export "},
        {KIND "pca/" MODE "fitted/" LAYER "modal" END, "--until import", "import "},
        {KIND "none/" MODE "uniform/" LAYER "vertex" END, "--until volume", "import volume "},
        {KIND "none/" MODE "fitted/" LAYER "vertex/; s/role: train/role: test" END, "", "import export "},
        {KIND "none/" MODE "fitted/" LAYER "vertex/; s/    animation: .*/&\\n    frames: 0" END, "", "import export "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char arguments[100];
        Make("needs", cases[i].script);
        snprintf(arguments, sizeof(arguments), "needs --plan %s", cases[i].arguments);
        ExpectBuild(arguments, "needed", cases[i].needed);
        assert_false(FileExists("needs/character.jounce"));
    }
}

static void EverythingIsMadeOnceAndThenOnlyWhatIsStale(void** state)
{
    (void)state;
    Make("all", KIND "pca/" MODE "fitted/" LAYER "modal" END SMALL);
    ExpectBuild("all --until evaluate", "made", "volume modes poses motion train fit export evaluate ");
    ExpectBuild("all --until evaluate", "made", "");
    // Another step in time solves no pose again.
    Do("sed -i 's/substeps: .*/substeps: 2/' all/manifest.yaml");
    ExpectBuild("all --plan", "fresh", "import volume modes poses ");
    ExpectBuild("all --until evaluate", "made", "motion fit export evaluate ");
    // Nor does another integrator.
    Do("sed -i 's/integrator: .*/integrator: backward-euler/' all/manifest.yaml");
    ExpectBuild("all --plan", "fresh", "import volume modes poses ");
    Do("sed -i 's/integrator: .*/integrator: generalized-alpha/' all/manifest.yaml");
    Do("rm all/poses/valid.npy");
    ExpectBuild("all", "made", "poses report ");
    assert_true(FileExists("all/character.jounce"));
    assert_true(FileExists("all/evaluation/evaluation.json"));
    assert_true(FileExists("all/report.html"));
    for (size_t i = 0; i < STAGES; ++i) {
        char path[64];
        snprintf(path, sizeof(path), "all/stages/%s.json", stages[i]);
        json_t* record = json_load_file(path, 0, NULL);
        assert_true(json_number_value(json_object_get(record, "seconds")) > 0);
        json_decref(record);
    }
    ExpectBuild("all", "made", "");
    Do("rm all/report.html");
    ExpectBuild("all", "made", "report ");
}

static void MotionOfTheVerbIsThatOfTheManifest(void** state)
{
    (void)state;
    Make("verb", KIND "none/" MODE "fitted/" LAYER "vertex" END SMALL);
    assert_int_equal(RunJounce("tetrahedralize verb").code, 0);
    Do("sed -i 's/    frames: .*//' verb/manifest.yaml");
    assert_int_equal(RunJounce("simulate verb --clip wave_top --frames 8 --dynamic").code, 0);
    assert_int_equal(RunJounce("simulate verb --clips --frames 8").code, 0);
    ExpectBuild("verb --until motion --plan", "fresh", "import volume ");
    Do("sed -i 's/    animation: .*/&\\n    frames: 8/' verb/manifest.yaml");
    ExpectBuild("verb --until motion", "made", "export ");
    assert_non_null(strstr(RunJounce("simulate verb --clips").out, "8 frames"));
    Do("sed -i 's/    frames: .*/    frames: 0/' verb/manifest.yaml");
    assert_int_equal(RunJounce("simulate verb --clips").code, 0);
    assert_null(strstr(RunJounce("simulate verb --clips").out, "frames"));
}

static void WhatIsNotLearnedYetIsSaid(void** state)
{
    (void)state;
    Make("soon", KIND "pca/" MODE "fitted/" LAYER "modal" END SMALL);
    Outcome outcome = RunJounce("build soon --until modes");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "plan"));
    assert_non_null(strstr(outcome.out, "springs are not fitted yet"));
    assert_true(FileExists("soon/character.jounce"));
    assert_false(FileExists("soon/poses"));
}

// Ends a build in the middle of a stage.
static bool StopInside(const jnaProgress* p, void* user)
{
    return strcmp(p->part.name, jnaBuildStageName(*(const jnaBuildStage*)user)) != 0 || p->part.share <= 0;
}

// Import, volume and modes, each stopped in turn: they leave no record, and the next build begins with them.
static void AStageThatIsStoppedIsBegunAgain(void** state)
{
    (void)state;
    Make("stopped", "s/^rate: .*/rate: 20/; " KIND "none/" MODE "uniform/" LAYER "modal" END SMALL);
    for (jnaBuildStage stage = jna_buildImport; stage <= jna_buildModes; ++stage) {
        jnError error = {0};
        jnaBuildDef def = jnaDefaultBuildDef();
        def.watch = (jnaWatch){StopInside, &stage};
        assert_int_equal(jnaBuildWorkspace("stopped", &def, NULL, &error), jn_cancelled);
        assert_non_null(strstr(error.message, "the same command resumes"));
        assert_false(FileExists(stage == jna_buildModes ? "stopped/modes/modes.json" : "stopped/stages/volume.json"));
        assert_int_equal(system("test -z \"$(find stopped -name '*.part*')\""), 0);
    }
    ExpectBuild("stopped", "made", "modes export ");
}

// What was said when a stage ended, and what was there then.
static void HearNotes(const jnaNotes* notes, void* user)
{
    const char* last = notes->lines[notes->count - 1];
    if (strncmp(last, "volume: done", 12) == 0) {
        *(bool*)user = FileExists("heard/stages/volume.json") && !FileExists("heard/modes/modes.json");
    }
}

// A log is read while the build runs: lines come when their stage ends, not all at the end.
static void NotesComeWhenTheirStageEnds(void** state)
{
    (void)state;
    bool heard = false;
    jnError error = {0};
    jnaNotes notes = {0};
    jnaBuildDef def = jnaDefaultBuildDef();
    def.until = jna_buildModes;
    def.said = HearNotes;
    def.user = &heard;
    Make("heard", KIND "none/" MODE "uniform/" LAYER "modal" END SMALL);
    assert_int_equal(jnaBuildWorkspace("heard", &def, &notes, &error), jn_ok);
    assert_true(heard);
    jnaDestroyNotes(&notes);
    // And they reach a pipe at once, before the file at the end is there.
    Do("rm -r heard/stages/volume.json heard/stages/modes.json heard/character.jounce && " JN_BINARY_DIR
       "/bin/jounce build heard --until modes 2>&1 | while read -r line; do case $line in 'volume: done'*) "
       "test ! -e heard/character.jounce && touch early;; esac; done; test -e early");
}

static void ARobotEndsWellWithoutFlesh(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation", .robot = true};
    char line[1024];
    snprintf(line, sizeof(line), "new robot --from '%s'", WriteTube("build_robot", &def));
    assert_int_equal(RunJounce(line).code, 0);
    Outcome outcome = RunJounce("build robot");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "has no flesh and plays as plain skinning"));
    assert_non_null(strstr(outcome.out, "2 parts hardly bend and move as one piece each: 1 of J0, 1 of J1"));
    outcome = RunJounce("info robot");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "springs   none"));
    // It is told again, and nothing is made again.
    ExpectBuild("robot", "made", "");
    ExpectBuild("robot --plan", "needed", "import volume modes export ");
    assert_non_null(strstr(RunJounce("build robot").out, "has no flesh"));
    Do("sed -i 's/shells: auto/shells: flesh/; s/method: .*/method: lattice/; s/  nodes: .*/  nodes: 120/' "
       "robot/manifest.yaml");
    ExpectBuild("robot --until modes", "made", "volume modes export ");
}

// What a command shows on a terminal until a word comes, or until it ends; then Ctrl-C. Returns its exit code.
static int RunOnTerminal(const char* arguments, const char* word, char* shown, size_t size)
{
    int terminal, status = 0;
    size_t length = 0;
    struct winsize window = {.ws_row = 40, .ws_col = 160};
    pid_t child = forkpty(&terminal, NULL, NULL, &window);
    assert_true(child >= 0);
    if (child == 0) {
        char line[1024];
        snprintf(line, sizeof(line), "exec %s/bin/jounce %s", JN_BINARY_DIR, arguments);
        execl("/bin/sh", "sh", "-c", line, NULL);
        _exit(127);
    }
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    bool stopped = false;
    shown[0] = '\0';
    while (poll(&ready, 1, 60000) > 0 && length + 1 < size) {
        ssize_t got = read(terminal, shown + length, size - 1 - length);
        if (got <= 0) {
            break; // a terminal that nobody holds any more is an error
        }
        length += (size_t)got;
        shown[length] = '\0';
        if (!stopped && strstr(shown, word) != NULL) {
            stopped = true;
            assert_int_equal(write(terminal, "\x03", 1), 1);
        }
    }
    close(terminal);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void ALongBuildShowsItsPlanAndShorterOnesFirst(void** state)
{
    (void)state;
    static char shown[65536];
    // 5,000 poses of a tube of fine flesh take longer than ten minutes by the estimates.
    Make("long", "s/method: .*/method: lattice/; s/  nodes: .*/  nodes: 20000/; s/  count: 5000/  count: 200000/");
    int code = RunOnTerminal("build long --threads 1", "resumes", shown, sizeof(shown));
    if (code == 0 || strstr(shown, "long: plan") == NULL || strstr(shown, "in total") == NULL) {
        fail_msg("exit %d: %s", code, shown);
    }
    const char* shorter = strstr(shown, "shorter: jounce build long --until modes, about");
    assert_non_null(shorter);
    assert_true(shorter > strstr(shown, "in total"));
    // Nothing was simulated before it was shown.
    assert_false(FileExists("long/poses/poses.json"));
    // A short build has nothing shorter, and no more has one that ends early.
    Make("short", KIND "none/" MODE "uniform/" LAYER "modal" END SMALL);
    assert_int_equal(RunOnTerminal("build short --plan", "never said", shown, sizeof(shown)), 0);
    assert_non_null(strstr(shown, "in total"));
    assert_null(strstr(shown, "shorter:"));
    assert_int_equal(RunOnTerminal("build long --plan --until modes", "never said", shown, sizeof(shown)), 0);
    assert_null(strstr(shown, "shorter:"));
}

static void BadInputIsOneClearLine(void** state)
{
    (void)state;
    ExpectFailure("build nowhere", 1, "nowhere/manifest.yaml", "");
    ExpectFailure("build clean --until never", 2, "--until", "never");
    ExpectFailure("build", 2, "WORKSPACE", "missing");
    Make("far", KIND "none/" MODE "fitted/" LAYER "vertex/; s/    animation: .*/&\\n    first: 999" END);
    ExpectFailure("build far", 1, "wave_top", "from frame 999 on");
    ExpectFailure("demo clean", 1, "clean", "another character");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheManifestSaysWhichStagesAreNeeded),
        cmocka_unit_test(EverythingIsMadeOnceAndThenOnlyWhatIsStale),
        cmocka_unit_test(MotionOfTheVerbIsThatOfTheManifest),
        cmocka_unit_test(WhatIsNotLearnedYetIsSaid),
        cmocka_unit_test(AStageThatIsStoppedIsBegunAgain),
        cmocka_unit_test(NotesComeWhenTheirStageEnds),
        cmocka_unit_test(ARobotEndsWellWithoutFlesh),
        cmocka_unit_test(ALongBuildShowsItsPlanAndShorterOnesFirst),
        cmocka_unit_test(BadInputIsOneClearLine),
    };
    return cmocka_run_group_tests(tests, MakeClean, LeaveScratchFolder);
}
