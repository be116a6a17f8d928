// jounce simulate and jounce audit, as a user runs them: on a small tube of flesh, killed, starved, shared and cut up.
#include "helpers/command.h"
#include "helpers/folders.h"

#include "helpers/small_gltf.h"

#include "base/npy.h"

#include <jansson.h>
#include <signal.h>
#include <time.h>

static const char* const poseFiles[] = {"poses/poses.npy", "poses/positions.npy", "poses/valid.npy", "poses/kind.npy",
    "poses/clip.npy", "poses/frame.npy", "poses/held_out.npy", "poses/poses.json"};
static const char* const clipFiles[] = {
    "motion/wave_top/quasistatic.npy", "motion/wave_top/quasistatic_valid.npy", "motion/wave_top/quasistatic.json"};
static const char* const motionFiles[] = {
    "motion/wave_top/dynamic.npy", "motion/wave_top/dynamic_valid.npy", "motion/wave_top/dynamic.json"};

static void Do(const char* line)
{
    if (system(line) != 0) {
        fail_msg("failed: %s", line);
    }
}

static Outcome Expect(const char* arguments)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != 0) {
        fail_msg("jounce %s: exit %d: %s", arguments, outcome.code, outcome.error);
    }
    return outcome;
}

static void ExpectSame(const char* folder, const char* const* files, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char line[400];
        snprintf(line, sizeof(line), "cmp ws/%s %s/%s", files[i], folder, files[i]);
        Do(line);
    }
}

static void ExpectSamePoses(const char* folder)
{
    ExpectSame(folder, poseFiles, sizeof(poseFiles) / sizeof(poseFiles[0]));
}

// A copy of the workspace before anything was simulated.
static void Copy(const char* folder)
{
    char line[200];
    snprintf(line, sizeof(line), "cp -r clean %s", folder);
    Do(line);
}

static pid_t Start(const char* arguments)
{
    pid_t child = fork();
    if (child == 0) {
        char line[1024];
        snprintf(line, sizeof(line), "exec %s/bin/jounce %s > other.txt 2>&1", JN_BINARY_DIR, arguments);
        execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        _exit(3);
    }
    assert_true(child > 0);
    return child;
}

static int MakeWorkspace(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new ws --from '%s'", WriteTube("simulate", &def));
    if (RunJounce(line).code != 0 || RunJounce("tetrahedralize ws --method lattice --nodes 120").code != 0 ||
        system("cp -r ws clean") != 0) {
        return -1;
    }
    return RunJounce("simulate ws --poses 34 --threads 1").code;
}

static void PosesAreSolvedAndWrittenAsArrays(void** state)
{
    (void)state;
    jnaArray poses, positions, valid;
    jnError error;
    assert_int_equal(jnaOpenArray("ws/poses/poses.npy", &poses, &error), jn_ok);
    assert_int_equal(jnaOpenArray("ws/poses/positions.npy", &positions, &error), jn_ok);
    assert_int_equal(jnaOpenArray("ws/poses/valid.npy", &valid, &error), jn_ok);
    assert_int_equal(poses.shape[0], 34);
    assert_int_equal(poses.shape[1], 2);
    assert_int_equal(poses.shape[2], 4);
    assert_int_equal(positions.shape[0], 34);
    assert_int_equal(positions.shape[1], TUBE_VERTICES);
    int bent = 0;
    for (size_t i = 0; i < 34; ++i) {
        assert_int_equal(((const uint8_t*)valid.data)[i], 1);
        // The root stays; the top turns about z.
        ASSERT_NEAR(jnaArray_Get(&poses, 8 * i + 3), 1, 1e-6);
        bent += jnaArray_Get(&poses, 8 * i + 6) > 0.5;
        assert_true(fabs(jnaArray_Get(&positions, 60 * i)) < 3);
    }
    assert_true(bent > 5 && bent < 30);
    jnaCloseArray(&poses);
    jnaCloseArray(&positions);
    jnaCloseArray(&valid);
    assert_false(FileExists("ws/poses/shards"));
    Outcome outcome = Expect("simulate ws --poses 34");
    assert_non_null(strstr(outcome.out, "up to date: 34 poses, 0 failed"));
}

static void JsonTellsTheJobs(void** state)
{
    (void)state;
    Outcome outcome = Expect("simulate ws --poses 34 --json");
    json_t* root = json_loads(outcome.out, 0, NULL);
    const json_t* job = json_array_get(json_object_get(root, "jobs"), 0);
    assert_true(json_is_true(json_object_get(job, "up_to_date")));
    assert_int_equal(json_integer_value(json_object_get(job, "count")), 34);
    assert_true(json_is_false(json_object_get(job, "too_many_failed")));
    json_decref(root);
    root = json_load_file("ws/poses/poses.json", 0, NULL);
    const json_t* columns = json_object_get(root, "columns");
    for (size_t i = 0; i < 34; ++i) {
        ASSERT_AT_MOST(json_number_value(json_array_get(json_object_get(columns, "residual"), i)), 1e-4);
    }
    assert_int_equal(json_array_size(json_object_get(root, "failures")), 0);
    json_decref(root);
}

static double Now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// That a run of all poses on four threads takes here.
static double secondsOfPoses;

static void ThreadsShardsAndTwoRunsGiveTheSameBytes(void** state)
{
    (void)state;
    Copy("four");
    double start = Now();
    Expect("simulate four --poses 34 --threads 4");
    secondsOfPoses = Now() - start;
    ExpectSamePoses("four");
    Copy("parts");
    for (int part = 3; part >= 1; --part) {
        char line[100];
        snprintf(line, sizeof(line), "simulate parts --poses 34 --threads 2 --shard %d/3", part);
        Outcome outcome = Expect(line);
        assert_true((strstr(outcome.out, "not whole yet") == NULL) == (part == 1));
    }
    ExpectSamePoses("parts");
    Copy("two");
    pid_t runs[2] = {Start("simulate two --poses 34 --threads 1"), Start("simulate two --poses 34 --threads 1")};
    assert_int_equal(WaitFor(runs[0]), 0);
    assert_int_equal(WaitFor(runs[1]), 0);
    ExpectSamePoses("two");
    // Grown from a shorter run.
    Copy("grown");
    Expect("simulate grown --poses 17 --threads 2");
    Expect("simulate grown --poses 34 --threads 2");
    ExpectSamePoses("grown");
}

static void MergingAloneSaysWhatIsMissing(void** state)
{
    (void)state;
    Copy("merged");
    Expect("simulate merged --poses 34 --shard 1/2");
    Outcome outcome = Expect("simulate merged --poses 34 --merge");
    assert_non_null(strstr(outcome.out, "1 of 3 shards are missing"));
    assert_false(FileExists("merged/poses/positions.npy"));
    // The second part of a machine whose merging was left to another.
    Expect("simulate merged --poses 34 --shard 2/2");
    ExpectSamePoses("merged");
}

// Kills a run at random moments of the time that a whole one takes here. Returns how often.
static int KillSome(const char* arguments, double seconds)
{
    Random random = {3};
    for (int kills = 0; kills < 5; ++kills) {
        pid_t child = Start(arguments);
        usleep((useconds_t)(1e6 * Uniform(&random, 0.05, 0.9) * seconds));
        kill(child, SIGKILL);
        int code = WaitFor(child);
        if (code == 0) {
            return kills;
        }
        assert_int_equal(code, 128 + SIGKILL);
    }
    return 5;
}

static void AKilledRunGoesOn(void** state)
{
    (void)state;
    Copy("killed");
    int kills = KillSome("simulate killed --poses 34 --threads 4", secondsOfPoses);
    Expect("simulate killed --poses 34");
    ExpectSamePoses("killed");
    double start = Now();
    Expect("simulate ws --clips --dynamic");
    kills += KillSome("simulate killed --clips --dynamic", Now() - start);
    Expect("simulate killed --clips --dynamic");
    ExpectSame("killed", motionFiles, sizeof(motionFiles) / sizeof(motionFiles[0]));
    print_message("killed %d times\n", kills);
    assert_true(kills >= 1);
}

static void AFullDiskIsOneLine(void** state)
{
    (void)state;
    // A limit on the size of files stands in for the disk: the shell counts in blocks of 512 bytes.
    Copy("full");
    char line[600];
    snprintf(line, sizeof(line), "sh -c 'ulimit -f 8; exec %s/bin/jounce simulate full --poses 34' 2> full.txt",
        JN_BINARY_DIR);
    int status = system(line);
    assert_int_equal(WEXITSTATUS(status), 1);
    char text[1000];
    ReadAll("full.txt", text, sizeof(text));
    assert_non_null(strstr(text, "cannot write"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    Expect("simulate full --poses 34");
    ExpectSamePoses("full");
    // A real one, where this machine lets us make it.
    Do("mkdir -p small");
    if (system("mount -t tmpfs -o size=800k tmpfs small 2> mount.txt") != 0) {
        print_message("a full file system: skipped, it cannot be mounted here\n");
        return;
    }
    Do("cp -r clean/manifest.yaml clean/character clean/clips clean/volume small/ && rm -f small/volume/bones.png");
    Do("head -c 1000000 /dev/zero > small/filler 2> dd.txt; true");
    Outcome outcome = RunJounce("simulate small --poses 34");
    Do("rm small/filler");
    Outcome after = RunJounce("simulate small --poses 34");
    bool same = after.code == 0 && system("cmp ws/poses/positions.npy small/poses/positions.npy") == 0;
    Do("umount small");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "No space left"));
    assert_int_equal(after.code, 0);
    assert_true(same);
}

static void MpirunGivesTheSameBytes(void** state)
{
    (void)state;
    if (system("command -v mpirun > which.txt 2>&1") != 0) {
        print_message("skipped: no mpirun\n");
        skip();
    }
    char line[700];
    snprintf(line, sizeof(line), "ldd %s/bin/jounce | grep -q libmpi", JN_BINARY_DIR);
    if (system(line) != 0) {
        print_message("skipped: built without MPI\n");
        skip();
    }
    Copy("mpi");
    for (int i = 0; i < 2; ++i) {
        static const char* const what[] = {"--poses 34", "--clips"};
        // The message layer leaks a little; what is ours is looked at in the other tests.
        snprintf(line, sizeof(line),
            "LSAN_OPTIONS=detect_leaks=0 ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 "
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 %s/bin/jounce simulate mpi %s > mpi.txt 2>&1",
            JN_BINARY_DIR, what[i]);
        if (system(line) != 0) {
            char text[2000];
            ReadAll("mpi.txt", text, sizeof(text));
            fail_msg("%s", text);
        }
    }
    char text[4000];
    ReadAll("mpi.txt", text, sizeof(text));
    // Rank 0 alone speaks.
    assert_non_null(strstr(text, "31 frames, 0 failed"));
    assert_null(strstr(strstr(text, "31 frames") + 1, "31 frames"));
    ExpectSamePoses("mpi");
    Expect("simulate ws --clips");
    ExpectSame("mpi", clipFiles, sizeof(clipFiles) / sizeof(clipFiles[0]));
    // A rank that cannot begin ends them all with a word.
    snprintf(line, sizeof(line),
        "LSAN_OPTIONS=detect_leaks=0 ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun --oversubscribe -n 2 %s/bin/jounce simulate nowhere "
        "--poses > mpi.txt 2>&1",
        JN_BINARY_DIR);
    assert_int_equal(WEXITSTATUS(system(line)), 1);
    ReadAll("mpi.txt", text, sizeof(text));
    assert_non_null(strstr(text, "nowhere"));
}

static void PartsOfAClipAreThoseFrames(void** state)
{
    (void)state;
    Expect("simulate ws --clip wave_top");
    Copy("cut");
    Expect("simulate cut --clip wave_top --first 10 --frames 5");
    jnaArray whole, part;
    jnError error;
    assert_int_equal(jnaOpenArray("ws/motion/wave_top/quasistatic.npy", &whole, &error), jn_ok);
    assert_int_equal(jnaOpenArray("cut/motion/wave_top/quasistatic.npy", &part, &error), jn_ok);
    assert_int_equal(part.shape[0], 5);
    size_t row = TUBE_VERTICES * 3;
    assert_memory_equal(part.data, (const float*)whole.data + 10 * row, 5 * row * sizeof(float));
    jnaCloseArray(&whole);
    jnaCloseArray(&part);
    ExpectFailure("simulate ws --clip wave_top --first 500", 1, "wave_top", "31 frames");
}

static void EditedBonesAreNotOverlooked(void** state)
{
    (void)state;
    Copy("edited");
    Do("sed -i 's/young: 30000/young: 20000/' edited/manifest.yaml");
    ExpectFailure("simulate edited --poses 34", 1, "materials", "tetrahedralize");
    Copy("poses-edited");
    Do("sed -i 's/widen: 0.1/widen: 0.2/' poses-edited/manifest.yaml");
    Expect("simulate poses-edited --poses 34");
    Do("! cmp -s ws/poses/poses.npy poses-edited/poses/poses.npy");
}

static void PosesByHandComeFromTheManifest(void** state)
{
    (void)state;
    Copy("hand");
    const float q[2][2][4] = {{{0, 0, 0, 1}, {0, 0.6F, 0, 0.8F}}, {{0, 0, 0, 1}, {0, 0, -0.6F, 0.8F}}};
    size_t shape[3] = {2, 2, 4};
    jnError error;
    assert_int_equal(jnaWriteArray("hand/mine.npy", jna_float32, 3, shape, q, &error), jn_ok);
    Do("sed -i 's/^  seed: 1$/  seed: 1\\n  file: mine.npy/' hand/manifest.yaml");
    Expect("simulate hand --poses 20");
    jnaArray poses, kinds;
    assert_int_equal(jnaOpenArray("hand/poses/poses.npy", &poses, &error), jn_ok);
    assert_int_equal(jnaOpenArray("hand/poses/kind.npy", &kinds, &error), jn_ok);
    assert_memory_equal(poses.data, q, sizeof(q));
    assert_int_equal(((const uint8_t*)kinds.data)[1], 2);
    assert_true(((const uint8_t*)kinds.data)[2] < 2);
    jnaCloseArray(&poses);
    jnaCloseArray(&kinds);
    shape[1] = 1;
    assert_int_equal(jnaWriteArray("hand/mine.npy", jna_float32, 3, shape, q, &error), jn_ok);
    ExpectFailure("simulate hand --poses 20", 1, "mine.npy", "(poses, 2, 4)");
}

static void TheAuditComparesThreeWays(void** state)
{
    (void)state;
    Outcome outcome = Expect("audit ws --poses 3 --json");
    json_t* root = json_loads(outcome.out, 0, NULL);
    const json_t* poses = json_object_get(root, "poses");
    assert_int_equal(json_array_size(poses), 3);
    for (size_t i = 0; i < 3; ++i) {
        const json_t* steps = json_object_get(json_array_get(poses, i), "path_steps");
        assert_int_equal(
            json_integer_value(json_array_get(steps, 1)), 2 * json_integer_value(json_array_get(steps, 0)));
        assert_int_equal(json_integer_value(json_array_get(steps, 2)), 1);
        double finer = json_number_value(json_object_get(json_array_get(poses, i), "finer"));
        assert_true(finer > 0 && finer < 0.002);
    }
    json_decref(root);
    outcome = Expect("audit ws --poses 3 --threads 2");
    assert_non_null(strstr(outcome.out, "3 poses; the standard path failed on 0"));
}

static void WrongUsageIsOneLine(void** state)
{
    (void)state;
    ExpectFailure("simulate ws", 2, "--poses", "--clip");
    ExpectFailure("simulate ws --dynamic", 2, "--dynamic", "--clip");
    ExpectFailure("simulate ws --dynamic --poses", 2, "--dynamic", "--clip");
    ExpectFailure("simulate ws --poses 0", 2, "--poses", "between");
    ExpectFailure("simulate ws --poses --shard 4/3", 2, "--shard", "4/3");
    ExpectFailure("simulate ws --poses --shard 1", 2, "--shard", "form");
    ExpectFailure("simulate ws --poses --merge --shard 1/2", 2, "--merge", "--shard");
    ExpectFailure("simulate ws --poses --force --shard 1/2", 2, "--force", "shard");
    ExpectFailure("simulate ws --clip nothing", 1, "nothing", "no clip");
    ExpectFailure("simulate nowhere --poses", 1, "nowhere", "cannot read");
    ExpectFailure("audit ws --poses 0", 2, "--poses", "between");
    Do("cp -r clean bare && rm bare/volume/*");
    ExpectFailure("simulate bare --poses", 1, "volume", "tetrahedralize");
    assert_non_null(strstr(Expect("simulate --help").out, "--poses [N]"));
    assert_non_null(strstr(Expect("audit --help").out, "example:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PosesAreSolvedAndWrittenAsArrays),
        cmocka_unit_test(JsonTellsTheJobs),
        cmocka_unit_test(ThreadsShardsAndTwoRunsGiveTheSameBytes),
        cmocka_unit_test(MergingAloneSaysWhatIsMissing),
        cmocka_unit_test(AKilledRunGoesOn),
        cmocka_unit_test(AFullDiskIsOneLine),
        cmocka_unit_test(MpirunGivesTheSameBytes),
        cmocka_unit_test(PartsOfAClipAreThoseFrames),
        cmocka_unit_test(EditedBonesAreNotOverlooked),
        cmocka_unit_test(PosesByHandComeFromTheManifest),
        cmocka_unit_test(TheAuditComparesThreeWays),
        cmocka_unit_test(WrongUsageIsOneLine),
    };
    return cmocka_run_group_tests(tests, MakeWorkspace, LeaveScratchFolder);
}
