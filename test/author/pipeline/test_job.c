// Long jobs that are killed, starved, doubled and cut up end in the same bytes as a quiet one.
//
// Disturbed runs are processes of their own: this program again, with words on its line.
#include "helpers/folders.h"
#include "helpers/stand_in.h"

#include "workspace/shapes.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum { COUNT = 100 };

static char scratch[256];

static int EnterFolder(void** state)
{
    (void)state;
    snprintf(scratch, sizeof(scratch), "%s/job-XXXXXX", JN_BINARY_DIR);
    return mkdtemp(scratch) != NULL && chdir(scratch) == 0 ? 0 : -1;
}

static int LeaveFolder(void** state)
{
    (void)state;
    char line[300];
    snprintf(line, sizeof(line), "rm -rf '%s'", scratch);
    return chdir("..") == 0 ? system(line) : -1;
}

static size_t ReadFile(const char* folder, const char* name, unsigned char** bytes)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s is not there", path);
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size + 1);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

static void ExpectSameFile(const char* a, const char* b, const char* name)
{
    unsigned char *first, *second;
    size_t sizes[2] = {ReadFile(a, name, &first), ReadFile(b, name, &second)};
    assert_int_equal(sizes[0], sizes[1]);
    if (memcmp(first, second, sizes[0]) != 0) {
        fail_msg("%s/%s and %s/%s differ", a, name, b, name);
    }
    free(first);
    free(second);
}

static void ExpectSameOutcome(const char* a, const char* b)
{
    static const char* const names[] = {"positions.npy", "valid.npy", "times.npy", "poses.json"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        ExpectSameFile(a, b, names[i]);
    }
}

static bool IsThere(const char* folder, const char* name)
{
    char path[600];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return stat(path, &status) == 0;
}

// Number of files in FOLDER/shards.
static int CountShards(const char* folder)
{
    char line[300];
    snprintf(line, sizeof(line), "ls %s/shards 2>/dev/null | wc -l", folder);
    FILE* pipe = popen(line, "r");
    int count = -1;
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static jnaJobReport RunQuietly(const StandIn* s, const jnaJob* job)
{
    (void)s;
    jnaJobReport report;
    jnError error = {0};
    if (jnaRunJob(job, &report, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return report;
}

// The undisturbed outcome, once.
static void MakeReference(void)
{
    if (!IsThere("reference", "poses.json")) {
        StandIn s;
        InitStandIn(&s);
        s.hard = 3;
        s.hopeless = 60;
        jnaJob job = StandInJob(&s, "reference", COUNT);
        jnaJobReport report = RunQuietly(&s, &job);
        assert_true(report.merged);
        assert_int_equal(report.solved, COUNT);
        assert_int_equal(report.failedCount, 1);
        jnaDestroyClip(&s.clip);
    }
    if (!IsThere("reference-motion", "poses.json")) {
        StandIn s;
        InitStandIn(&s);
        s.hard = 3;
        s.hopeless = 60;
        jnaJob job = StandInJob(&s, "reference-motion", COUNT);
        job.motion = true;
        assert_true(RunQuietly(&s, &job).merged);
        jnaDestroyClip(&s.clip);
    }
}

// What the program does when it is one of the runs: FOLDER THREADS PART PARTS DELAY HASH LIMIT motion|poses.
static int BeARun(char** words)
{
    StandIn s;
    InitStandIn(&s);
    s.delay = atoi(words[4]);
    s.hard = 3;
    s.hopeless = 60;
    char log[300];
    snprintf(log, sizeof(log), "%s.log", words[0]);
    s.log = log;
    jnaJob job = StandInJob(&s, words[0], COUNT);
    job.threads = atoi(words[1]);
    job.part = atoi(words[2]);
    job.parts = atoi(words[3]);
    job.hash = (uint64_t)atoi(words[5]);
    job.motion = strcmp(words[7], "motion") == 0;
    long limit = atol(words[6]);
    if (limit > 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit size = {(rlim_t)limit, (rlim_t)limit};
        setrlimit(RLIMIT_FSIZE, &size);
        s.log = NULL;
    }
    jnError error = {0};
    jnaJobReport report;
    jnResult result = jnaRunJob(&job, &report, &error);
    if (result != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
    }
    jnaDestroyClip(&s.clip);
    return result == jn_ok ? 0 : 1;
}

typedef struct Disturbed {
    const char* folder;
    int threads, part, parts, delay, hash;
    long limit;
    const char* kind;
} Disturbed;

static pid_t StartRun(Disturbed d)
{
    char words[6][32];
    int numbers[5] = {d.threads, d.part, d.parts > 0 ? d.parts : 1, d.delay, d.hash != 0 ? d.hash : 77};
    for (int i = 0; i < 5; ++i) {
        snprintf(words[i], sizeof(words[i]), "%d", numbers[i]);
    }
    snprintf(words[5], sizeof(words[5]), "%ld", d.limit);
    pid_t child = fork();
    if (child == 0) {
        char message[300];
        snprintf(message, sizeof(message), "%s.error", d.folder);
        if (freopen(message, "w", stderr) == NULL) {
            _exit(3);
        }
        execl("/proc/self/exe", "test_job", d.folder, words[0], words[1], words[2], words[3], words[4], words[5],
            d.kind != NULL ? d.kind : "poses", (char*)NULL);
        _exit(3);
    }
    assert_true(child > 0);
    return child;
}

static void ExpectError(const char* folder, const char* word)
{
    char path[300], text[600] = "";
    snprintf(path, sizeof(path), "%s.error", folder);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    if (strstr(text, word) == NULL || strchr(text, '\n') != text + length - 1) {
        fail_msg("said: %s", text);
    }
}

static void AnyNumberOfThreadsGivesTheSameBytes(void** state)
{
    (void)state;
    MakeReference();
    static const char* const folders[] = {"two", "four", "nine"};
    static const int threads[] = {2, 4, 9};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(WaitFor(StartRun((Disturbed){folders[i], .threads = threads[i], .delay = 200})), 0);
        ExpectSameOutcome("reference", folders[i]);
        assert_int_equal(CountShards(folders[i]), 0);
    }
}

static void KillUntilDone(const char* folder, const char* kind, int threads, int* kills)
{
    Random random = {11};
    for (*kills = 0; *kills < 300;) {
        pid_t child = StartRun((Disturbed){folder, .threads = threads, .delay = 600, .kind = kind});
        usleep((useconds_t)Uniform(&random, 1000, 60000));
        kill(child, SIGKILL);
        int code = WaitFor(child);
        if (code == 0) {
            return;
        }
        assert_int_equal(code, 128 + SIGKILL);
        ++*kills;
    }
    // A machine so slow that a run never gets through its first shard in time: let it end.
    assert_int_equal(WaitFor(StartRun((Disturbed){folder, .threads = threads, .kind = kind})), 0);
}

static void AKilledRunGoesOnAndEndsInTheSameBytes(void** state)
{
    (void)state;
    MakeReference();
    int kills;
    KillUntilDone("killed", "poses", 2, &kills);
    ExpectSameOutcome("reference", "killed");
    assert_int_equal(WaitFor(StartRun((Disturbed){"killed", .threads = 1})), 0);
    assert_int_equal(CountShards("killed"), 0);
    print_message("killed %d times, %d solves for %d poses\n", kills, CountLog("killed.log"), COUNT);
    assert_true(kills >= 1);
    // A kill costs the open shards at most: two threads have at most two of 16 poses. Frames 3
    // and 60 take more than one solve.
    assert_true(CountLog("killed.log") <= COUNT + (kills + 1) * (2 * 16 + 3));
    KillUntilDone("killed-motion", "motion", 1, &kills);
    ExpectSameOutcome("reference-motion", "killed-motion");
    assert_true(kills >= 1);
}

static void ARunKilledAfterMergingIsTidiedUp(void** state)
{
    (void)state;
    MakeReference();
    assert_int_equal(system("cp -r reference tidied && mkdir tidied/shards && touch tidied/shards/000001-0.shard"), 0);
    assert_int_equal(WaitFor(StartRun((Disturbed){"tidied", .threads = 1})), 0);
    assert_false(IsThere("tidied", "shards"));
    assert_int_equal(CountLog("tidied.log"), 0);
}

static void NothingOfAKilledMergeStays(void** state)
{
    (void)state;
    MakeReference();
    // As a run leaves it that dies while merging.
    assert_int_equal(WaitFor(StartRun((Disturbed){"merge", .threads = 1, .part = 0, .parts = 2})), 0);
    FILE* part = fopen("merge/positions.npy.123-0.part", "w");
    fputs("half", part);
    fclose(part);
    part = fopen("merge/shards/000001-00.shard.123-0.part", "w");
    fclose(part);
    assert_int_equal(WaitFor(StartRun((Disturbed){"merge", .threads = 1})), 0);
    assert_false(IsThere("merge", "positions.npy.123-0.part"));
    assert_false(IsThere("merge", "shards"));
    ExpectSameOutcome("reference", "merge");
}

static void TwoRunsShareTheWork(void** state)
{
    (void)state;
    MakeReference();
    pid_t runs[3];
    for (int i = 0; i < 3; ++i) {
        runs[i] = StartRun((Disturbed){"shared", .threads = 1 + i % 2, .delay = 2000});
    }
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(WaitFor(runs[i]), 0);
    }
    // Frame 3 is tried twice, frame 60 until it is given up: nothing is solved by both.
    assert_int_equal(CountLog("shared.log"), COUNT + 1 + (JNA_EFFORTS - 1));
    ExpectSameOutcome("reference", "shared");
    for (int i = 0; i < 2; ++i) {
        runs[i] = StartRun((Disturbed){"shared-motion", .threads = 1, .delay = 1000, .kind = "motion"});
    }
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(WaitFor(runs[i]), 0);
    }
    assert_int_equal(CountLog("shared-motion.log"), COUNT);
    ExpectSameOutcome("reference-motion", "shared-motion");
}

static void TheSurvivorTakesOverFromAKilledRun(void** state)
{
    (void)state;
    MakeReference();
    pid_t first = StartRun((Disturbed){"survivor", .threads = 4, .delay = 3000});
    pid_t second = StartRun((Disturbed){"survivor", .threads = 1, .delay = 500});
    usleep(30000);
    kill(first, SIGKILL);
    assert_int_equal(WaitFor(first), 128 + SIGKILL);
    assert_int_equal(WaitFor(second), 0);
    ExpectSameOutcome("reference", "survivor");
}

static void ARunOfOtherSettingsIsRefusedMeanwhile(void** state)
{
    (void)state;
    MakeReference();
    pid_t first = StartRun((Disturbed){"mixed", .threads = 1, .delay = 5000});
    while (!IsThere("mixed", "shards")) {
        usleep(1000);
    }
    StandIn s;
    InitStandIn(&s);
    jnaJob job = StandInJob(&s, "mixed", COUNT);
    job.hash = 78;
    jnError error = {0};
    assert_int_equal(jnaRunJob(&job, NULL, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "another run"));
    assert_int_equal(WaitFor(first), 0);
    jnaDestroyClip(&s.clip);
    ExpectSameOutcome("reference", "mixed");
}

static void AFullDiskLosesNothing(void** state)
{
    (void)state;
    MakeReference();
    // Room for no shard, then for shards but not for the arrays: 16 poses are 13 kB, all of them 48 kB.
    assert_int_equal(WaitFor(StartRun((Disturbed){"full", .threads = 2, .limit = 4000})), 1);
    ExpectError("full", "cannot write");
    assert_int_equal(CountShards("full"), 0);
    assert_int_equal(WaitFor(StartRun((Disturbed){"full", .threads = 2, .limit = 30000})), 1);
    ExpectError("full", "positions.npy: cannot write");
    assert_int_equal(CountShards("full"), 7);
    assert_false(IsThere("full", "positions.npy"));
    assert_int_equal(WaitFor(StartRun((Disturbed){"full", .threads = 2})), 0);
    assert_int_equal(CountLog("full.log"), 0);
    ExpectSameOutcome("reference", "full");
    assert_int_equal(WaitFor(StartRun((Disturbed){"full-motion", .threads = 1, .limit = 4000, .kind = "motion"})), 1);
    ExpectError("full-motion", "cannot write");
    assert_int_equal(WaitFor(StartRun((Disturbed){"full-motion", .threads = 1, .kind = "motion"})), 0);
    ExpectSameOutcome("reference-motion", "full-motion");
}

static void PartsOnSeveralMachinesGiveTheSameBytes(void** state)
{
    (void)state;
    MakeReference();
    for (int part = 2; part >= 0; --part) {
        assert_false(IsThere("parts", "positions.npy"));
        assert_int_equal(WaitFor(StartRun((Disturbed){"parts", .threads = 2, .part = part, .parts = 3})), 0);
    }
    ExpectSameOutcome("reference", "parts");
    assert_int_equal(CountLog("parts.log"), COUNT + 1 + (JNA_EFFORTS - 1));
    pid_t runs[3];
    for (int part = 0; part < 3; ++part) {
        runs[part] = StartRun((Disturbed){"parts-at-once", .threads = 1, .part = part, .parts = 3, .delay = 500});
    }
    for (int part = 0; part < 3; ++part) {
        assert_int_equal(WaitFor(runs[part]), 0);
    }
    ExpectSameOutcome("reference", "parts-at-once");
}

static void AFinishedJobIsNotDoneAgain(void** state)
{
    (void)state;
    MakeReference();
    StandIn s;
    InitStandIn(&s);
    s.log = "again.log";
    jnaJob job = StandInJob(&s, "reference", COUNT);
    jnaJobReport report = RunQuietly(&s, &job);
    assert_true(report.upToDate && report.merged);
    assert_int_equal(report.failedCount, 1);
    assert_int_equal(CountLog("again.log"), 0);
    jnaDestroyClip(&s.clip);
}

static void OtherInputsMakeItStale(void** state)
{
    (void)state;
    StandIn s;
    InitStandIn(&s);
    s.log = "stale.log";
    jnaJob job = StandInJob(&s, "stale", 40);
    job.workOnly = true;
    RunQuietly(&s, &job);
    assert_int_equal(CountLog("stale.log"), 40);
    // Shards of another hash lie beside and are not mixed in; a changed pose makes only its own shard stale.
    s.clip.rotations[4 * 20 * STAND_IN_JOINTS] += 0.25F;
    job.workOnly = false;
    RunQuietly(&s, &job);
    assert_int_equal(CountLog("stale.log"), 40 + 16);
    job.hash = 78;
    jnaJobReport report = RunQuietly(&s, &job);
    assert_false(report.upToDate);
    assert_int_equal(CountLog("stale.log"), 40 + 16 + 40);
    assert_int_equal(CountShards("stale"), 0);
    jnaDestroyClip(&s.clip);
}

static void ALongerJobGoesOnFromAShorterOne(void** state)
{
    (void)state;
    MakeReference();
    StandIn s;
    InitStandIn(&s);
    s.hard = 3;
    s.hopeless = 60;
    jnaJob job = StandInJob(&s, "grown", 68);
    RunQuietly(&s, &job);
    s.log = "grown.log";
    job.count = COUNT;
    RunQuietly(&s, &job);
    ExpectSameOutcome("reference", "grown");
    // 68 poses: shards of 16; the one with the pose that failed (48 to 63) is tried again, and the odd end is new.
    assert_int_equal(CountLog("grown.log"), COUNT - 48 + (JNA_EFFORTS - 1));
    jnaDestroyClip(&s.clip);
}

static void ADamagedShardIsMadeAgain(void** state)
{
    (void)state;
    MakeReference();
    for (int motion = 0; motion < 2; ++motion) {
        const char* folder = motion ? "damaged-motion" : "damaged";
        StandIn s;
        InitStandIn(&s);
        s.hard = 3;
        s.hopeless = 60;
        jnaJob job = StandInJob(&s, folder, COUNT);
        job.workOnly = true;
        job.motion = motion == 1;
        RunQuietly(&s, &job);
        char line[400];
        snprintf(line, sizeof(line),
            "for f in %s/shards/00000[36]-*; do printf X | dd of=$f bs=1 seek=300 conv=notrunc "
            "2>/dev/null; done; rm %s/shards/000001-*",
            folder, folder);
        assert_int_equal(system(line), 0);
        job.workOnly = false;
        assert_true(RunQuietly(&s, &job).merged);
        ExpectSameOutcome(motion ? "reference-motion" : "reference", folder);
        jnaDestroyClip(&s.clip);
    }
}

static void FailedPosesAreRecordedAndTheRunGoesOn(void** state)
{
    (void)state;
    StandIn s;
    InitStandIn(&s);
    s.hard = 3;
    s.hopeless = 9;
    s.notFinite = 12;
    s.tight = 15;
    jnaJob job = StandInJob(&s, "failed", 20);
    job.threads = 2;
    jnaJobReport report = RunQuietly(&s, &job);
    assert_int_equal(report.failedCount, 2);
    assert_int_equal(report.withoutRoom, 1);
    jnaArray valid, positions;
    jnError error;
    assert_int_equal(jnaOpenArray("failed/valid.npy", &valid, &error), jn_ok);
    assert_int_equal(jnaOpenArray("failed/positions.npy", &positions, &error), jn_ok);
    for (int i = 0; i < 20; ++i) {
        jnaPoseState expected = i == 9 || i == 12 ? jna_poseFailed : i == 15 ? jna_poseWithoutRoom : jna_poseSolved;
        assert_int_equal(((const uint8_t*)valid.data)[i], expected);
    }
    for (size_t i = 0; i < positions.count; ++i) {
        assert_true(isfinite(((const float*)positions.data)[i]));
    }
    // The second effort is what is kept of frame 3.
    float expected[3 * STAND_IN_VERTICES];
    StandIn_Surface(&s.clip, 3, 1, expected);
    assert_memory_equal((const float*)positions.data + 3 * 3 * STAND_IN_VERTICES, expected, sizeof(expected));
    jnaCloseArray(&valid);
    jnaCloseArray(&positions);
    unsigned char* json;
    size_t size = ReadFile("failed", "poses.json", &json);
    json[size] = '\0';
    assert_non_null(strstr((char*)json, "the residual stays at 9"));
    assert_non_null(strstr((char*)json, "vertex 5 is not finite"));
    free(json);
    jnaDestroyClip(&s.clip);
}

static void AnErrorStopsTheRunButKeepsItsShards(void** state)
{
    (void)state;
    MakeReference();
    StandIn s;
    InitStandIn(&s);
    s.hard = 3;
    s.hopeless = 60;
    s.stopAt = 40;
    jnaJob job = StandInJob(&s, "stopped", COUNT);
    jnError error = {0};
    assert_int_equal(jnaRunJob(&job, NULL, &error), jn_outOfMemory);
    assert_string_equal(error.message, "the stand-in has no memory");
    assert_int_equal(CountShards("stopped"), 2);
    job.folder = "stopped-motion";
    assert_int_equal(mkdir(job.folder, 0777), 0);
    job.motion = true;
    assert_int_equal(jnaRunJob(&job, NULL, &error), jn_outOfMemory);
    s.stopAt = -1;
    assert_true(RunQuietly(&s, &job).merged);
    ExpectSameOutcome("reference-motion", "stopped-motion");
    job.folder = "stopped";
    job.motion = false;
    assert_true(RunQuietly(&s, &job).merged);
    ExpectSameOutcome("reference", "stopped");
    jnaDestroyClip(&s.clip);
}

static bool StopAfterTwenty(const jnaProgress* progress, void* user)
{
    int* calls = user;
    ++*calls;
    return progress->solved < 20;
}

static void AWatcherCanStopIt(void** state)
{
    (void)state;
    StandIn s;
    InitStandIn(&s);
    int calls = 0;
    for (int motion = 0; motion < 2; ++motion) {
        jnaJob job = StandInJob(&s, motion ? "watched-motion" : "watched", COUNT);
        job.watch = (jnaWatch){StopAfterTwenty, &calls};
        job.motion = motion == 1;
        jnError error = {0};
        assert_int_equal(jnaRunJob(&job, NULL, &error), jn_cancelled);
        assert_non_null(strstr(error.message, "resumes it"));
        assert_int_equal(CountShards(job.folder), 1);
    }
    assert_true(calls >= 40);
    jnaDestroyClip(&s.clip);
}

static void AMotionThatExplodesIsAnError(void** state)
{
    (void)state;
    StandIn s;
    InitStandIn(&s);
    s.notFinite = 33;
    jnaJob job = StandInJob(&s, "exploded", COUNT);
    job.motion = true;
    jnError error = {0};
    assert_int_equal(jnaRunJob(&job, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "frame 33"));
    jnaDestroyClip(&s.clip);
}

static void SurfacesAreCarriedAndPartsOfAClipWork(void** state)
{
    (void)state;
    StandIn s;
    InitStandIn(&s);
    jnaJob job = StandInJob(&s, "carried", 5);
    double carry[5][12] = {{0}};
    for (int i = 0; i < 5; ++i) {
        carry[i][1] = carry[i][4] = carry[i][10] = 1;
        carry[i][3] = i;
    }
    job.carry = carry[0];
    job.first = 10;
    RunQuietly(&s, &job);
    jnaArray positions;
    jnError error;
    assert_int_equal(jnaOpenArray("carried/positions.npy", &positions, &error), jn_ok);
    float plain[3 * STAND_IN_VERTICES];
    StandIn_Surface(&s.clip, 14, 0, plain);
    const float* p = (const float*)positions.data + 4 * 3 * STAND_IN_VERTICES;
    ASSERT_NEAR(p[0], plain[1] + 4, 1e-5);
    ASSERT_NEAR(p[1], plain[0], 1e-6);
    ASSERT_NEAR(p[2], plain[2], 1e-6);
    jnaCloseArray(&positions);
    jnaDestroyClip(&s.clip);
}

int main(int argc, char** argv)
{
    if (argc == 9) {
        return BeARun(argv + 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnyNumberOfThreadsGivesTheSameBytes),
        cmocka_unit_test(AKilledRunGoesOnAndEndsInTheSameBytes),
        cmocka_unit_test(ARunKilledAfterMergingIsTidiedUp),
        cmocka_unit_test(NothingOfAKilledMergeStays),
        cmocka_unit_test(TwoRunsShareTheWork),
        cmocka_unit_test(TheSurvivorTakesOverFromAKilledRun),
        cmocka_unit_test(ARunOfOtherSettingsIsRefusedMeanwhile),
        cmocka_unit_test(AFullDiskLosesNothing),
        cmocka_unit_test(PartsOnSeveralMachinesGiveTheSameBytes),
        cmocka_unit_test(AFinishedJobIsNotDoneAgain),
        cmocka_unit_test(OtherInputsMakeItStale),
        cmocka_unit_test(ALongerJobGoesOnFromAShorterOne),
        cmocka_unit_test(ADamagedShardIsMadeAgain),
        cmocka_unit_test(FailedPosesAreRecordedAndTheRunGoesOn),
        cmocka_unit_test(AnErrorStopsTheRunButKeepsItsShards),
        cmocka_unit_test(AWatcherCanStopIt),
        cmocka_unit_test(AMotionThatExplodesIsAnError),
        cmocka_unit_test(SurfacesAreCarriedAndPartsOfAClipWork),
    };
    return cmocka_run_group_tests(tests, EnterFolder, LeaveFolder);
}
