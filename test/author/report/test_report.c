// The report of a tiny workspace while memory runs out at one place after another: one sentence, and the file that was
// there before is as it was. Cancelling leaves nothing either.
#include "base/hash.h"
#include "helpers/failing_memory.h"
#include "helpers/folders.h"
#include "helpers/small_gltf.h"
#include "pipeline/stage_export.h"
#include "pipeline/stage_import.h"
#include "report/report.h"
#include "workspace/store.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

static const char* Path(const char* name)
{
    static char paths[8][512];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, 512, "%s/%s", folder, name);
    return path;
}

static void WriteMotion(const jnaCharacter* c)
{
    jnaClip clip;
    assert_int_equal(jnaLoadClip(folder, "wave_top", c, &clip, NULL), jn_ok);
    size_t row = 3 * (size_t)c->vertexCount, shape[3] = {(size_t)clip.frameCount, (size_t)c->vertexCount, 3};
    float* moved = malloc(row * shape[0] * sizeof(float));
    float matrices[12 * 8];
    for (int n = 0; n < clip.frameCount; ++n) {
        jnaPoseMatrices(c, &clip, n, matrices);
        jnaSkin(c, matrices, moved + row * (size_t)n);
        for (size_t i = 0; i < row; i += 3) {
            moved[row * (size_t)n + i] += 0.05f * sinf(0.7f * (float)n) * c->positions[i + 1];
        }
    }
    assert_int_equal(jnaWriteArray(Path("motion/wave_top/dynamic.npy"), jna_float32, 3, shape, moved, NULL), jn_ok);
    free(moved);
    jnaDestroyClip(&clip);
}

static int SetUp(void** state)
{
    (void)state;
    static const TubeDef tube = {.joints = 2, .armature = "", .animation = "rotation"};
    jnError error = {0};
    jnaCharacter c;
    jnaExported exported;
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    jnaExportDef export = jnaDefaultExportDef();
    snprintf(folder, sizeof(folder), "%s/report_%ld", JN_BINARY_DIR, (long)getpid());
    def.character = WriteTube("report", &tube);
    def.layer = jna_layerVertex;
    if (jnaCreateWorkspace(folder, &def, NULL, &error) != jn_ok || jnaLoadCharacter(folder, &c, &error) != jn_ok ||
        jnaExportWorkspace(folder, Path(JNA_ASSET_NAME), &export, &exported, &error) != jn_ok) {
        print_message("%s\n", error.message);
        return -1;
    }
    mkdir(Path("motion"), 0777);
    mkdir(Path("motion/wave_top"), 0777);
    mkdir(Path("springs"), 0777);
    WriteMotion(&c);
    size_t shape[1] = {(size_t)c.vertexCount};
    float numbers[64];
    for (int v = 0; v < 64; ++v) {
        numbers[v] = 100.0f + (float)v;
    }
    assert_true(c.vertexCount <= 64);
    assert_int_equal(jnaWriteArray(Path("springs/stiffness.npy"), jna_float32, 1, shape, numbers, NULL), jn_ok);
    assert_int_equal(jnaWriteArray(Path("springs/damping.npy"), jna_float32, 1, shape, numbers, NULL), jn_ok);
    jnaDestroyCharacter(&c);
    unlink(def.character);
    return 0;
}

static int TearDown(void** state)
{
    (void)state;
    return RemoveFolder(folder);
}

// Files in the making that nobody finished.
static int CountParts(void)
{
    int count = 0;
    DIR* directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
        count += strstr(entry->d_name, ".part") != NULL;
    }
    closedir(directory);
    return count;
}

static uint64_t HashReport(void)
{
    uint64_t hash = 0;
    assert_int_equal(jnaHashFile(Path(JNA_REPORT_NAME), &hash, NULL), jn_ok);
    return hash;
}

static void ShortMemoryIsToldAndLeavesTheOldReport(void** state)
{
    (void)state;
    NeedFailures();
    jnaReportDef def = jnaDefaultReportDef();
    def.quick = true;
    def.threads = 1;
    assert_int_equal(jnaReportWorkspace(folder, &def, NULL, NULL), jn_ok);
    uint64_t before = HashReport();
    int failures = 0;
    onlyOurs = true;
    // More and more of them at a step: pictures take their time.
    for (long k = 0;; k += 1 + k / 12) {
        jnError error = {0};
        countdown = k;
        jnResult result = jnaReportWorkspace(folder, &def, NULL, &error);
        bool met = countdown < 0;
        countdown = -1;
        assert_true(HashReport() == before);
        assert_int_equal(CountParts(), 0);
        if (!met) {
            assert_int_equal(result, jn_ok);
            break;
        }
        if (result == jn_ok || error.message[0] == '\0') {
            fail_msg("allocation %ld failed without a word", k);
        }
        failures++;
    }
    onlyOurs = false;
    print_message("%d failures met\n", failures);
    assert_true(failures > 30);
}

static bool StopAt(const jnaProgress* progress, void* user)
{
    return progress->share < *(const double*)user;
}

static void CancellingLeavesNothing(void** state)
{
    (void)state;
    double share = 0.6;
    jnError error = {0};
    jnaReportDef def = jnaDefaultReportDef();
    def.quick = true;
    def.path = Path("cancelled.html");
    def.watch = (jnaWatch){StopAt, &share};
    assert_int_equal(jnaReportWorkspace(folder, &def, NULL, &error), jn_cancelled);
    assert_int_not_equal(access(def.path, F_OK), 0);
    assert_int_equal(CountParts(), 0);
}

static void AFullDiskIsToldAndLeavesNothing(void** state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    jnError error = {0};
    jnaReportDef def = jnaDefaultReportDef();
    def.quick = true;
    def.path = "/dev/full";
    assert_int_equal(jnaReportWorkspace(folder, &def, NULL, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "/dev/full"));
}

// Smaller pictures are not another report: a build after a quick demo has nothing to draw.
static void AQuickReportIsNotOutOfDate(void** state)
{
    (void)state;
    const bool quick[2] = {true, false};
    jnaWorkspace* w;
    jnaStage stages[2] = {{.name = "report"}, {.name = "report"}};
    assert_int_equal(jnaOpenWorkspaceToWrite(folder, "a test", &w, NULL), jn_ok);
    for (int i = 0; i < 2; ++i) {
        jnaStageRun run = {.workspace = w, .def = &quick[i]};
        assert_int_equal(jnaReportStage.describe(&run, &stages[i], NULL), jn_ok);
    }
    assert_string_equal(stages[0].settings, stages[1].settings);
    jnaDestroyStage(&stages[0]);
    jnaDestroyStage(&stages[1]);
    jnaCloseWorkspace(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ShortMemoryIsToldAndLeavesTheOldReport),
        cmocka_unit_test(CancellingLeavesNothing),
        cmocka_unit_test(AQuickReportIsNotOutOfDate),
        cmocka_unit_test(AFullDiskIsToldAndLeavesNothing),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
