// A workspace that is damaged, left over, linked or shared: jounce check and jounce build, as a user meets them.
#include "helpers/command.h"
#include "helpers/small_gltf.h"
#include "workspace/lock.h"

static void Do(const char* line)
{
    if (system(line) != 0) {
        fail_msg("failed: %s", line);
    }
}

static void ExpectLine(const char* arguments, int code, const char* text)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != code || (strstr(outcome.out, text) == NULL && strstr(outcome.error, text) == NULL)) {
        fail_msg("jounce %s: exit %d, without '%s': %s%s", arguments, outcome.code, text, outcome.out, outcome.error);
    }
}

// "built": a workspace with volume, modes and a character file.
static int MakeBuilt(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new built --from '%s'", WriteTube("check_verb", &def));
    if (RunJounce(line).code != 0) {
        return -1;
    }
    Do("cp -r built clean");
    Do("sed -i 's/method: .*/method: lattice/; s/  nodes: .*/  nodes: 120/' built/manifest.yaml");
    return RunJounce("build built --until modes").code;
}

static void WhatIsDamagedIsFoundAndMadeAgain(void** state)
{
    (void)state;
    static const char* const damages[] = {"truncate -s -100 w/character.jounce", ": > w/volume/volume.json",
        "printf x | dd of=w/character/positions.npy bs=1 seek=200 conv=notrunc status=none", "rm w/modes/shapes.npy",
        "printf x | dd of=w/modes/caps.npy bs=1 seek=130 conv=notrunc status=none", "rm -r w/clips",
        "truncate -s 0 w/volume/weights.npy"};
    ExpectLine("check built", 0, "0 damaged");
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); ++i) {
        Do("rm -rf w && cp -r built w");
        Do(damages[i]);
        ExpectLine("check w", 1, "jounce build w makes them again");
        ExpectLine("build w --until modes", 0, "done in");
        ExpectLine("check w", 0, "0 damaged");
        Do("cmp w/character.jounce built/character.jounce");
    }
}

// Times are believed where they tell of no change, lengths are not: a copy that was cut off may have the time of the
// whole.
static void AFileThatIsShorterIsMadeAgainWhateverItsTime(void** state)
{
    (void)state;
    // Records that are younger than what they are of: no file is hashed for its time alone.
    Do("rm -rf w && cp -a built w && touch w/stages/*.json");
    ExpectLine("build w --until modes", 0, "export: up to date");
    Do("touch -r w/character.jounce stamp && truncate -s -100 w/character.jounce && touch -r stamp w/character.jounce");
    ExpectLine("build w --until modes", 0, "export: done");
    Do("cmp w/character.jounce built/character.jounce");
}

// Files that must be the same, however they came about.
#define SUMS(folder)                                                                                                   \
    "(cd " folder " && find . -type f ! -path './stages/*' ! -name '*times.npy' ! -name '*.lock' | LC_ALL=C sort | "   \
    "xargs sha256sum) > " folder ".sums"

// What a stage reads is in its record, also what it is only judged by: verbs in an order that no one would choose end
// in the same bytes as one build.
static void TheOrderOfTheVerbsDoesNotMatter(void** state)
{
    (void)state;
    static const char* const verbs[] = {"build any --until modes", "simulate any --clips --dynamic", "fit any",
        "simulate any --clips", "fit any", "evaluate any", "simulate any --poses 24", "train any", "evaluate any"};
    Do("rm -rf any plain && cp -r clean plain");
    Do("sed -i -e 's/kind: .*/kind: pca/; s/  mode: .*/  mode: fitted/; s/method: .*/method: lattice/' "
       "-e 's/  nodes: .*/  nodes: 60/; s/  count: 5000/  count: 24/; s/epochs: .*/epochs: 2/; s/substeps: "
       ".*/substeps: 1/' "
       "-e 's/    animation: .*/&\\n    frames: 10/' plain/manifest.yaml");
    Do("cp -r plain any");
    ExpectLine("build plain --until evaluate", 0, "evaluate: done");
    Do(SUMS("plain"));
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); ++i) {
        ExpectLine(verbs[i], 0, "");
    }
    ExpectLine("build any --until evaluate", 0, "");
    Do(SUMS("any"));
    Do("diff plain.sums any.sums");
    ExpectLine("build any --until evaluate", 0, "evaluate: up to date");
}

static void OneFileIsCheckedAsWhoTakesItWould(void** state)
{
    (void)state;
    ExpectLine("check built/character.jounce", 0, "is whole");
    ExpectLine("check built/volume/nodes.npy", 0, "is whole");
    Do("head -c 3000 built/character.jounce > cut.jounce; head -c 300 built/volume/nodes.npy > cut.npy");
    ExpectLine("check cut.jounce", 1, "cut.jounce");
    ExpectLine("check cut.npy", 1, "cut.npy");
    ExpectLine("check nothing.glb", 1, "nothing.glb");
}

static void TheSameArraysMadeOnceMoreAreNoChange(void** state)
{
    (void)state;
    Do("rm -rf w && cp -r built w && rm w/stages/import.json");
    Outcome outcome = RunJounce("build w --until modes");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "import: done"));
    assert_non_null(strstr(outcome.out, "volume: up to date"));
    assert_non_null(strstr(outcome.out, "modes: up to date"));
    assert_non_null(strstr(outcome.out, "export: up to date"));
}

static void APlanWritesNothing(void** state)
{
    (void)state;
    // As new, with everything to do; built; and with an import that is out of date.
    static const char* const prepare[] = {"cp -r clean w", "cp -r built w", "cp -r built w && rm w/stages/import.json",
        "cp -r built w && echo '# ' >> w/manifest.yaml && rm w/character/weights.npy"};
    for (size_t i = 0; i < sizeof(prepare) / sizeof(prepare[0]); ++i) {
        Do("rm -rf w");
        Do(prepare[i]);
        Do("find w -printf '%p %s %T@ %i\\n' | sort > before.txt");
        ExpectLine("build w --plan", 0, "in total");
        Do("find w -printf '%p %s %T@ %i\\n' | sort | cmp - before.txt");
    }
}

static void AWriterKeepsOthersOutAndIsNamed(void** state)
{
    (void)state;
    jnaWorkspaceLock lock;
    char name[64];
    snprintf(name, sizeof(name), "process %ld on ", (long)getpid());
    static const char* const writers[] = {"build built", "modes built", "tetrahedralize built", "fit built",
        "train built --network pca", "evaluate built", "report built"};
    static const char* const readers[] = {"simulate built --poses 1", "export built -o out.jounce"};
    assert_int_equal(jnaLockWorkspace("built", "a test", true, &lock, NULL), jn_ok);
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); ++i) {
        ExpectLine(writers[i], 1, name);
    }
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); ++i) {
        ExpectLine(readers[i], 1, name);
    }
    ExpectLine("build built --plan", 0, "in total");
    jnaWorkspaceLock_Share(&lock);
    ExpectLine("build built", 1, "a test, process");
    ExpectLine("export built -o out.jounce", 0, "out.jounce");
    jnaUnlockWorkspace(&lock);
    jnaUnlockWorkspace(&lock);
    ExpectLine("build built --until modes", 0, "up to date");
}

static void TwoBuildsAtOnceLeaveAWholeWorkspace(void** state)
{
    (void)state;
    for (int round = 0; round < 3; ++round) {
        char line[600];
        Do("rm -rf w && cp -r built w && rm -r w/stages");
        snprintf(line, sizeof(line),
            "(%s/bin/jounce build w --until modes > one.txt 2>&1 & %s/bin/jounce build w --until modes > two.txt 2>&1; "
            "wait $!); grep -q character.jounce one.txt || grep -q character.jounce two.txt",
            JN_BINARY_DIR, JN_BINARY_DIR);
        Do(line);
        ExpectLine("build w --until modes", 0, "export: up to date");
        ExpectLine("check w", 0, "0 damaged");
        Do("cmp w/character.jounce built/character.jounce");
    }
}

static void WhatKilledRunsLeftIsRemoved(void** state)
{
    (void)state;
    Do("rm -rf w && cp -r built w && mkdir -p w/import.99.part/character && touch w/character.jounce.99-0.part "
       "w/import.99.part/character/x w/volume/nodes.npy.99-0.part");
    ExpectLine("build w --until modes", 0, "export: up to date");
    Do("test -z \"$(find w -name '*.part')\"");
    // Of jounce new, whose folder stands beside: those whose lock nobody holds.
    Do("cp -r built twin.99.part && cp -r built twin.98.part && mkdir twin.97.part "
       "twin.999999999.part && touch twin.97.part/notes");
    jnaWorkspaceLock lock;
    assert_int_equal(jnaLockWorkspace("twin.98.part", "a test", true, &lock, NULL), jn_ok);
    char line[1024];
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    snprintf(line, sizeof(line), "new twin --from '%s'", WriteTube("check_verb", &def));
    assert_int_equal(RunJounce(line).code, 0);
    assert_false(FileExists("twin.99.part"));
    assert_true(FileExists("twin.98.part"));         // somebody's
    assert_true(FileExists("twin.97.part"));         // nothing of ours
    assert_false(FileExists("twin.999999999.part")); // of a run that was killed before it had a lock
    jnaUnlockWorkspace(&lock);
}

static void LinksAreReplacedAndNeverWrittenThrough(void** state)
{
    (void)state;
    Do("rm -rf w && cp -r built w && echo mine > victim && rm w/character.jounce && ln -s ../victim "
       "w/character.jounce");
    ExpectLine("build w --until modes", 0, "export: done");
    Do("test \"$(cat victim)\" = mine && test ! -L w/character.jounce");
    Do("cmp w/character.jounce built/character.jounce");
    Do("mkdir elsewhere && mv w/volume elsewhere && ln -s ../elsewhere/volume w/volume");
    ExpectLine("build w --until modes", 1, "w/volume: is a symbolic link to a folder");
    Do("ln -s victim out.png");
    ExpectLine("picture built -o out.png", 0, "out.png");
    Do("test \"$(cat victim)\" = mine");
    Do("mkfifo pipe && ln -s pipe linked.png");
    ExpectLine("picture built -o linked.png", 1, "linked.png: cannot write: it is not a file");
    Do("test -L linked.png && test -p pipe");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsDamagedIsFoundAndMadeAgain),
        cmocka_unit_test(AFileThatIsShorterIsMadeAgainWhateverItsTime),
        cmocka_unit_test(TheOrderOfTheVerbsDoesNotMatter),
        cmocka_unit_test(OneFileIsCheckedAsWhoTakesItWould),
        cmocka_unit_test(TheSameArraysMadeOnceMoreAreNoChange),
        cmocka_unit_test(APlanWritesNothing),
        cmocka_unit_test(AWriterKeepsOthersOutAndIsNamed),
        cmocka_unit_test(TwoBuildsAtOnceLeaveAWholeWorkspace),
        cmocka_unit_test(WhatKilledRunsLeftIsRemoved),
        cmocka_unit_test(LinksAreReplacedAndNeverWrittenThrough),
    };
    return cmocka_run_group_tests(tests, MakeBuilt, LeaveScratchFolder);
}
