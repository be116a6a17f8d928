// jounce springs run: the right numbers, and a clear line with nothing left behind for everything wrong.
#include "helpers/command.h"

#include "base/npy.h"
#include "jounce/jounce.h"

enum { FRAMES = 40, VERTICES = 21, SIZE = FRAMES * VERTICES * 3 };
static const size_t shape[3] = {FRAMES, VERTICES, 3};

static void WriteInputs(float* targets, float* stiffness, float* damping)
{
    for (int i = 0; i < SIZE; ++i) {
        targets[i] = (float)sin(0.07 * (i / 3 / VERTICES) * (1 + i % (3 * VERTICES) % 5) + i % (3 * VERTICES));
    }
    for (int i = 0; i < VERTICES; ++i) {
        stiffness[i] = 50.0f + 100.0f * (float)i;
        damping[i] = 1.0f + 3.0f * (float)i;
    }
    size_t vertices = VERTICES;
    assert_int_equal(jnaWriteArray("T.npy", jna_float32, 3, shape, targets, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("KS.npy", jna_float32, 1, &vertices, stiffness, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("KD.npy", jna_float32, 1, &vertices, damping, NULL), jn_ok);
}

static int Prepare(void** state)
{
    static float targets[SIZE], stiffness[VERTICES], damping[VERTICES];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    WriteInputs(targets, stiffness, damping);
    return 0;
}

static void ExpectLibraryBytes(const char* arguments, jnCurve curve, jnTiming timing, jnStart start)
{
    char line[512];
    snprintf(line, sizeof(line),
        "springs run --targets T.npy --stiffness KS.npy --damping KD.npy --dt 0.0333333 -o X.npy %s", arguments);
    Outcome outcome = RunJounce(line);
    if (outcome.code != 0) {
        fail_msg("jounce %s: exit %d, said: %s", line, outcome.code, outcome.error);
    }
    jnaArray x, targets, stiffness, damping;
    assert_int_equal(jnaOpenArray("X.npy", &x, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("T.npy", &targets, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("KS.npy", &stiffness, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("KD.npy", &damping, NULL), jn_ok);
    assert_int_equal(x.scalar, jna_float32);
    assert_memory_equal(x.shape, shape, sizeof(shape));
    assert_memory_equal(x.data, targets.data, VERTICES * 3 * sizeof(float)); // X[0] = T[0]
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = VERTICES;
    def.stiffness = stiffness.data;
    def.damping = damping.data;
    def.curve = curve;
    def.timing = timing;
    def.start = start;
    jnSprings* springs;
    assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
    int lag = curve == jn_curveCubic && timing == jn_timingExact ? 1 : 0;
    float out[VERTICES * 3];
    for (int n = 0; n < FRAMES + lag; ++n) {
        const float* sample = (const float*)targets.data + n * VERTICES * 3;
        if (n < FRAMES) {
            jnSprings_Step(
                springs, &(jnSpringsInput){.h = 0.0333333f, .targets = sample}, &(jnSpringsOutput){.positions = out});
        } else {
            jnSprings_Finish(springs, &(jnSpringsOutput){.positions = out});
        }
        if (n >= lag) {
            assert_memory_equal(out, (const float*)x.data + (n - lag) * VERTICES * 3, sizeof(out));
        }
    }
    jnDestroySprings(springs);
    jnaCloseArray(&x);
    jnaCloseArray(&targets);
    jnaCloseArray(&stiffness);
    jnaCloseArray(&damping);
}

static void EveryCurveModeAndStartIsTheRuntimesMotion(void** state)
{
    (void)state;
    ExpectLibraryBytes("", jn_curveCubic, jn_timingExact, jn_startMoving);
    ExpectLibraryBytes("--mode causal", jn_curveCubic, jn_timingCausal, jn_startMoving);
    ExpectLibraryBytes("--curve linear", jn_curveLinear, jn_timingExact, jn_startMoving);
    ExpectLibraryBytes("--curve step", jn_curveStep, jn_timingExact, jn_startMoving);
    ExpectLibraryBytes("--start rest", jn_curveCubic, jn_timingExact, jn_startAtRest);
    ExpectLibraryBytes("--threads 1", jn_curveCubic, jn_timingExact, jn_startMoving);
    ExpectLibraryBytes("--threads 16", jn_curveCubic, jn_timingExact, jn_startMoving);
}

static void VelocitiesAreSlopesOfThePositions(void** state)
{
    (void)state;
    assert_int_equal(RunJounce("springs run --targets T.npy --stiffness 300 --damping 9 --dt 0.01 -o X.npy "
                               "--velocities V.npy --start rest")
                         .code,
        0);
    jnaArray x, v;
    assert_int_equal(jnaOpenArray("X.npy", &x, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("V.npy", &v, NULL), jn_ok);
    size_t row = 3 * VERTICES;
    for (size_t i = 0; i < row; ++i) {
        ASSERT_NEAR(jnaArray_Get(&v, i), 0, 1e-5); // at rest
        for (size_t n = 10; n + 1 < FRAMES; ++n) { // once the start from rest is past
            double slope = (jnaArray_Get(&x, (n + 1) * row + i) - jnaArray_Get(&x, (n - 1) * row + i)) / 0.02;
            ASSERT_NEAR(jnaArray_Get(&v, n * row + i), slope, 1.5); // the fastest go 35 m/s
        }
    }
    jnaCloseArray(&x);
    jnaCloseArray(&v);
}

static void ShortSequencesWork(void** state)
{
    (void)state;
    for (size_t frames = 1; frames <= 3; ++frames) {
        size_t small[3] = {frames, 1, 3};
        double data[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
        assert_int_equal(jnaWriteArray("S.npy", jna_float64, 3, small, data, NULL), jn_ok);
        for (int mode = 0; mode < 2; ++mode) {
            char line[256];
            snprintf(line, sizeof(line),
                "springs run --targets S.npy --stiffness 9 --damping 1 --dt 1 --mode %s -o X.npy "
                "--velocities V.npy",
                mode == 0 ? "exact" : "causal");
            assert_int_equal(RunJounce(line).code, 0);
            jnaArray x, v;
            assert_int_equal(jnaOpenArray("X.npy", &x, NULL), jn_ok);
            assert_int_equal(jnaOpenArray("V.npy", &v, NULL), jn_ok);
            assert_int_equal(x.shape[0], frames);
            for (size_t n = 0; n < frames; ++n) {
                ASSERT_NEAR(jnaArray_Get(&x, 3 * n), n, 1e-6); // uniform motion: never leaves the target
                ASSERT_NEAR(jnaArray_Get(&v, 3 * n), frames > 1 ? 1 : 0, 1e-6);
            }
            jnaCloseArray(&x);
            jnaCloseArray(&v);
        }
    }
}

static void JsonIsOneObject(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("springs run --targets T.npy --stiffness 300 --damping 9 --dt 0.01 -o X.npy --json");
    assert_int_equal(outcome.code, 0);
    assert_string_equal(outcome.out,
        "{\"frames\":40,\"vertices\":21,\"dt\":0.01,\"curve\":\"cubic\",\"mode\":\"exact\","
        "\"output\":\"X.npy\",\"resets\":0}\n");
}

#define RUN "springs run --dt 0.0333333 -o bad.npy "

static void BadInputIsOneClearLineAndLeavesNothing(void** state)
{
    (void)state;
    float numbers[6] = {1, 2, 3, 4, NAN, 6};
    size_t flat[1] = {6}, two[3] = {2, 1, 3}, none[3] = {0, 5, 3}, five[1] = {5};
    assert_int_equal(jnaWriteArray("flat.npy", jna_float32, 1, flat, numbers, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("nan.npy", jna_float32, 3, two, numbers, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("none.npy", jna_float32, 3, none, numbers, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("five.npy", jna_float32, 1, five, numbers, NULL), jn_ok);
    FILE* file = fopen("text.npy", "w");
    fputs("hello", file);
    fclose(file);
    assert_int_equal(system("head -c 300 T.npy > cut.npy"), 0);
    assert_int_equal(system("sed 's/<f4/<i2/' T.npy > integers.npy"), 0);
    ExpectFailure(RUN "--targets missing.npy --stiffness 1 --damping 1", 1, "missing.npy", "No such file");
    ExpectFailure(RUN "--targets . --stiffness 1 --damping 1", 1, ".", "not a file");
    ExpectFailure(RUN "--targets text.npy --stiffness 1 --damping 1", 1, "text.npy", "not a .npy file");
    ExpectFailure(RUN "--targets cut.npy --stiffness 1 --damping 1", 1, "cut.npy", "bytes of data");
    ExpectFailure(RUN "--targets integers.npy --stiffness 1 --damping 1", 1, "integers.npy", "<i2");
    ExpectFailure(RUN "--targets flat.npy --stiffness 1 --damping 1", 1, "flat.npy", "(frames, vertices, 3)");
    ExpectFailure(RUN "--targets none.npy --stiffness 1 --damping 1", 1, "none.npy", "at least one frame");
    ExpectFailure(RUN "--targets nan.npy --stiffness 1 --damping 1", 1, "nan.npy", "frame 1, vertex 0");
    ExpectFailure(RUN "--targets T.npy --stiffness five.npy --damping 1", 1, "five.npy", "21 vertices");
    ExpectFailure(RUN "--targets T.npy --stiffness -3 --damping 1", 1, "--stiffness -3", "not negative");
    ExpectFailure(RUN "--targets T.npy --stiffness KS.npy --damping nan", 1, "--damping nan", "not negative");
    ExpectFailure(RUN "--targets nan.npy --stiffness 1 --damping flat.npy", 1, "flat.npy", "1 vertices");
    ExpectFailure("springs run --targets T.npy --stiffness 1 --damping 1 --dt 0.1 -o /nowhere/X.npy", 1,
        "/nowhere/X.npy", "cannot write");
    assert_int_equal(system("mkfifo pipe.npy"), 0);
    ExpectFailure(
        "springs run --targets T.npy --stiffness 1 --damping 1 --dt 0.1 -o pipe.npy", 1, "pipe.npy", "not a file");
    assert_false(FileExists("bad.npy"));
    assert_int_equal(system("ls | grep -q part && exit 1 || exit 0"), 0);
}

static void AFullDiskIsToldAndLeavesNothing(void** state)
{
    (void)state;
    // A limit on the size of files stands in for the disk.
    int status =
        system("ulimit -f 4; " JN_BINARY_DIR "/bin/jounce springs run --targets T.npy --stiffness 1 --damping 1 "
               "--dt 0.1 -o full.npy 2> stderr.txt");
    char text[512];
    ReadAll("stderr.txt", text, sizeof(text));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "full.npy: cannot write"));
    assert_false(FileExists("full.npy"));
    assert_int_equal(system("ls | grep -q part && exit 1 || exit 0"), 0);
}

static void WrongUsageIsTold(void** state)
{
    (void)state;
    ExpectFailure("nonsense", 2, "nonsense", "--help");
    ExpectFailure("springs run", 2, "--targets", "missing");
    ExpectFailure(RUN "--targets T.npy --stiffness 1 --damping 1 --curve round", 2, "--curve", "step|linear|cubic");
    ExpectFailure(RUN "--targets T.npy --stiffness 1 --damping 1 --wat", 2, "--wat", "unknown");
    ExpectFailure(RUN "--targets T.npy --stiffness 1 --damping 1 --dt 2", 2, "--dt", "twice");
    ExpectFailure("springs run --targets T.npy --stiffness 1 --damping 1 -o x.npy --dt 0", 2, "--dt", "not between");
    ExpectFailure("springs run --targets T.npy --stiffness 1 --damping 1 -o x.npy --dt", 2, "--dt", "needs");
    ExpectFailure("springs run --targets T.npy --stiffness 1 --damping 1 -o x.npy --dt abc", 2, "--dt", "not a number");
    ExpectFailure(RUN "--targets T.npy --stiffness 1 --damping 1 --threads 100000", 2, "--threads", "not between");
    ExpectFailure("springs run --dt 1 -o same.npy --velocities same.npy --targets T.npy --stiffness 1 --damping 1", 2,
        "--velocities", "same file");
    Outcome help = RunJounce("springs run --help");
    assert_int_equal(help.code, 0);
    assert_non_null(strstr(help.out, "example:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryCurveModeAndStartIsTheRuntimesMotion),
        cmocka_unit_test(VelocitiesAreSlopesOfThePositions),
        cmocka_unit_test(ShortSequencesWork),
        cmocka_unit_test(JsonIsOneObject),
        cmocka_unit_test(BadInputIsOneClearLineAndLeavesNothing),
        cmocka_unit_test(AFullDiskIsToldAndLeavesNothing),
        cmocka_unit_test(WrongUsageIsTold),
    };
    return cmocka_run_group_tests(tests, Prepare, LeaveScratchFolder);
}
