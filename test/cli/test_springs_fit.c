// jounce springs fit: files that a researcher can read, and a clear line for everything wrong.
#include "helpers/command.h"

#include "base/npy.h"

#include <jansson.h>
#include <signal.h>

enum { FRAMES = 120, VERTICES = 30 };

static void WriteTargets(const char* path, int frames, int vertices, double phase)
{
    size_t shape[3] = {(size_t)frames, (size_t)vertices, 3}, size = shape[0] * shape[1] * 3;
    float* data = malloc(size * sizeof(float));
    for (size_t i = 0; i < size; ++i) {
        double t = (double)(i / 3 / shape[1]) / 30, v = (double)(i % (3 * shape[1]));
        data[i] =
            (float)(0.3 * sin(6 * t + v + phase) + 0.1 * sin(13 * t + 2 * v) + 0.03 * sin(27 * t + 3 * v + phase));
    }
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, data, NULL), jn_ok);
    free(data);
}

static int Prepare(void** state)
{
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    WriteTargets("T.npy", FRAMES, VERTICES, 0);
    WriteTargets("T2.npy", 77, VERTICES, 1);
    size_t count = VERTICES;
    float stiffness[VERTICES], damping[VERTICES];
    for (int v = 0; v < VERTICES; ++v) {
        stiffness[v] = 60.0f + 90.0f * (float)v;
        damping[v] = 2.0f + (float)v;
    }
    jnaWriteArray("KS.npy", jna_float32, 1, &count, stiffness, NULL);
    jnaWriteArray("KD.npy", jna_float32, 1, &count, damping, NULL);
    int code =
        RunJounce("springs run --targets T.npy --stiffness KS.npy --damping KD.npy --dt 0.0333333 -o X.npy").code;
    code |= RunJounce("springs run --targets T2.npy --stiffness KS.npy --damping KD.npy --dt 0.0333333 -o X2.npy").code;
    return code;
}

static void ExpectRecovered(double tolerance)
{
    jnaArray truth, found;
    assert_int_equal(jnaOpenArray("KS.npy", &truth, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("fit/stiffness.npy", &found, NULL), jn_ok);
    assert_int_equal(found.scalar, jna_float32);
    assert_int_equal(found.count, VERTICES);
    for (size_t v = 0; v < VERTICES; ++v) {
        ASSERT_NEAR(jnaArray_Get(&found, v) / jnaArray_Get(&truth, v), 1, tolerance);
    }
    jnaCloseArray(&truth);
    jnaCloseArray(&found);
}

static void FitOf(const char* arguments)
{
    char line[512];
    snprintf(line, sizeof(line), "springs fit --dt 0.0333333 -o fit %s", arguments);
    Outcome outcome = RunJounce(line);
    if (outcome.code != 0) {
        fail_msg("jounce %s: %s", line, outcome.error);
    }
}

static void WhatWasRunIsFoundAgain(void** state)
{
    (void)state;
    FitOf("--sequence T.npy X.npy");
    ExpectRecovered(1e-3);
    FitOf("--sequence T.npy X.npy --sequence T2.npy X2.npy --method descent --drop-by frame --seed 7 --threads 1");
    ExpectRecovered(1e-3);
    FitOf("--sequence T.npy X.npy --start observed --drop 0");
    ExpectRecovered(0.03);
}

static void TheJsonTellsHowAndWhat(void** state)
{
    (void)state;
    Outcome outcome =
        RunJounce("springs fit --sequence T.npy X.npy --sequence T2.npy X2.npy --dt 0.0333333 -o fit --json");
    assert_int_equal(outcome.code, 0);
    json_error_t error;
    json_t* file = json_load_file("fit/fit.json", 0, &error);
    json_t* line = json_loads(outcome.out, 0, &error);
    assert_true(file != NULL && json_equal(file, line));
    assert_int_equal(json_integer_value(json_object_get(file, "vertices")), VERTICES);
    assert_int_equal(json_integer_value(json_object_get(file, "frames")), FRAMES + 77);
    assert_true(json_real_value(json_object_get(file, "captured")) > 0.999);
    assert_int_equal(json_integer_value(json_object_get(file, "underdamped")) +
                         json_integer_value(json_object_get(file, "overdamped")),
        VERTICES);
    assert_int_equal(json_integer_value(json_object_get(file, "dropped")), (FRAMES + 77) / 10 * VERTICES);
    json_t* sequences = json_object_get(file, "sequences");
    assert_int_equal(json_array_size(sequences), 2);
    assert_int_equal(json_array_size(json_object_get(json_array_get(sequences, 1), "droppedVertices")), 77);
    json_decref(file);
    json_decref(line);
    assert_true(FileExists("fit/loss.npy") && FileExists("fit/captured.npy") && FileExists("fit/damping.npy"));
}

static void TheSameCommandGivesTheSameBytes(void** state)
{
    (void)state;
    FitOf("--sequence T.npy X.npy --threads 1");
    assert_int_equal(system("rm -rf first && mv fit first"), 0);
    FitOf("--sequence T.npy X.npy --threads 16");
    assert_int_equal(system("diff -r first fit"), 0);
}

#define FIT "springs fit --dt 0.0333333 -o bad "

static void BadInputIsOneClearLineAndLeavesNothing(void** state)
{
    (void)state;
    WriteTargets("other.npy", FRAMES, 7, 0);
    WriteTargets("short.npy", 60, VERTICES, 0);
    WriteTargets("two.npy", 2, VERTICES, 0);
    float nothing[5 * VERTICES * 3];
    for (int i = 0; i < 5 * VERTICES * 3; ++i) {
        nothing[i] = NAN;
    }
    size_t five[3] = {5, VERTICES, 3}, none[3] = {0, VERTICES, 3};
    assert_int_equal(jnaWriteArray("nan.npy", jna_float32, 3, five, nothing, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("none.npy", jna_float32, 3, none, nothing, NULL), jn_ok);
    WriteTargets("five.npy", 5, VERTICES, 0);
    ExpectFailure(FIT "--sequence T.npy missing.npy", 1, "missing.npy", "No such file");
    ExpectFailure(FIT "--sequence T.npy short.npy", 1, "(120, 30, 3)", "(60, 30, 3)");
    ExpectFailure(FIT "--sequence T.npy X.npy --sequence other.npy other.npy", 1, "sequence 2", "same vertices");
    ExpectFailure(FIT "--sequence two.npy two.npy", 1, "sequence 1", "at least 3 frames");
    ExpectFailure(FIT "--sequence none.npy none.npy", 1, "sequence 1", "at least 3 frames");
    ExpectFailure(FIT "--sequence five.npy nan.npy", 1, "no vertex", "finite");
    ExpectFailure(FIT "--sequence nan.npy five.npy", 1, "frame 0", "right order");
    ExpectFailure(FIT "--sequence X.npy T.npy", 1, "exchanged", "targets first");
    ExpectFailure(FIT "--sequence KS.npy KS.npy", 1, "sequence 1", "(frames, vertices, 3)");
    ExpectFailure(FIT "--sequence T.npy X.npy --smooth 1", 2, "--smooth", "--faces");
    ExpectFailure(FIT "--sequence T.npy X.npy --smooth 1 --faces KS.npy", 1, "KS.npy", "(faces, 3)");
    ExpectFailure(FIT "--sequence T.npy X.npy --drop 0.9", 2, "--drop", "0.5");
    ExpectFailure(FIT "--sequence T.npy", 2, "--sequence", "needs");
    ExpectFailure(
        "springs fit --dt 0.0333333 -o /nowhere/fit --sequence T.npy X.npy", 1, "/nowhere/fit", "cannot create");
    assert_false(FileExists("bad"));
}

static void VerticesWithoutAFrameAreTold(void** state)
{
    (void)state;
    assert_int_equal(system("cp X.npy gap.npy"), 0);
    FILE* file = fopen("gap.npy", "r+b");
    float nan[3] = {NAN, NAN, NAN};
    for (int n = 0; n < FRAMES; ++n) {
        fseek(file, 128 + (n * VERTICES + 11) * 12, SEEK_SET);
        fwrite(nan, 4, 3, file);
    }
    fclose(file);
    Outcome outcome = RunJounce("springs fit --sequence T.npy gap.npy --dt 0.0333333 -o fit");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.error, "1 vertices (the first is 11) have no valid frame"));
}

// Frames `first` to the end of an array.
static void Cut(const char* from, const char* to, size_t first)
{
    jnaArray array;
    assert_int_equal(jnaOpenArray(from, &array, NULL), jn_ok);
    size_t shape[3] = {array.shape[0] - first, array.shape[1], 3};
    const float* data = array.data;
    assert_int_equal(jnaWriteArray(to, jna_float32, 3, shape, data + first * shape[1] * 3, NULL), jn_ok);
    jnaCloseArray(&array);
}

static void AMotionThatDoesNotBeginAtRestAndAStrangeStepAreNoted(void** state)
{
    (void)state;
    Cut("T.npy", "TC.npy", 40);
    Cut("X.npy", "XC.npy", 40);
    Outcome outcome = RunJounce("springs fit --sequence TC.npy XC.npy --dt 0.0333333 -o fit");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.error, "use --start observed"));
    outcome = RunJounce("springs fit --sequence TC.npy XC.npy --dt 0.0333333 --start observed -o fit");
    assert_null(strstr(outcome.error, "note"));
    outcome = RunJounce("springs fit --sequence T.npy X.npy --dt 0.0333333 -o fit");
    assert_null(strstr(outcome.error, "note"));
    outcome = RunJounce("springs fit --sequence T.npy X.npy --dt 30 -o fit");
    assert_non_null(strstr(outcome.error, "30 s is long"));
}

// Ctrl-C in the middle of a long fit: nothing, rather than half of something.
static void AnInterruptedFitLeavesNothing(void** state)
{
    (void)state;
    WriteTargets("big.npy", 600, 4000, 0);
    assert_int_equal(
        RunJounce("springs run --targets big.npy --stiffness 300 --damping 9 --dt 0.0333333 -o big2.npy").code, 0);
    int status = system(
        "timeout -s INT 0.4 " JN_BINARY_DIR "/bin/jounce springs fit --method descent --threads 1 --sequence big.npy "
        "big2.npy --dt 0.0333333 -o stopped 2> stderr.txt");
    char text[512];
    ReadAll("stderr.txt", text, sizeof(text));
    assert_int_not_equal(status, 0);
    if (strstr(text, "interrupted") == NULL) {
        fail_msg("said: %s", text);
    }
    assert_false(FileExists("stopped"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatWasRunIsFoundAgain),
        cmocka_unit_test(TheJsonTellsHowAndWhat),
        cmocka_unit_test(TheSameCommandGivesTheSameBytes),
        cmocka_unit_test(BadInputIsOneClearLineAndLeavesNothing),
        cmocka_unit_test(VerticesWithoutAFrameAreTold),
        cmocka_unit_test(AMotionThatDoesNotBeginAtRestAndAStrangeStepAreNoted),
        cmocka_unit_test(AnInterruptedFitLeavesNothing),
    };
    return cmocka_run_group_tests(tests, Prepare, LeaveScratchFolder);
}
