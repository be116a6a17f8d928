// Records of stages: a stage whose outputs cannot be read leaves none, and says which.
#include "helpers/support.h"

#include "base/notes.h"
#include "workspace/stage.h"

#include <sys/stat.h>
#include <unistd.h>

static const char folder[] = JN_BINARY_DIR "/test_stage";
static const char record[] = JN_BINARY_DIR "/test_stage/stages/cook.json";

static void Write(const char* name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fputs("result", file);
    fclose(file);
}

static int SetUp(void** state)
{
    (void)state;
    assert_int_equal(system("rm -rf '" JN_BINARY_DIR "/test_stage'"), 0);
    assert_int_equal(mkdir(folder, 0777), 0);
    Write("in");
    Write("out");
    return 0;
}

// A stage that reads `in` and makes `out` and one more.
static jnaStage StageWith(const char* more)
{
    jnaStage stage = {.name = "cook"};
    jnaStage_Read(&stage, NULL, "in");
    jnaStage_Make(&stage, "out");
    jnaStage_Make(&stage, "%s", more);
    return stage;
}

static void ExpectRefusal(jnaStage stage, const char* name)
{
    jnError error = {0};
    assert_int_equal(jnaStage_Record(folder, &stage, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, name));
    assert_non_null(strstr(error.message, ": cannot read"));
    jnaDestroyStage(&stage);
}

static void AnOutputThatIsMissingIsNamed(void** state)
{
    (void)state;
    ExpectRefusal(StageWith("soup"), "/test_stage/soup");
    assert_int_not_equal(access(record, F_OK), 0);
}

static void AnOutputThatCannotBeHashedIsNamed(void** state)
{
    (void)state;
    // It opens, and its first bytes belong to nobody: reading them is an error for root as well.
    ExpectRefusal(StageWith("/proc/self/mem"), "/proc/self/mem");
    assert_int_not_equal(access(record, F_OK), 0);
}

static void AFolderThatCannotBeReadIsNamed(void** state)
{
    (void)state;
    char path[512];
    if (geteuid() == 0) {
        skip(); // may read everything
    }
    snprintf(path, sizeof(path), "%s/dishes", folder);
    assert_int_equal(mkdir(path, 0000), 0);
    ExpectRefusal(StageWith("dishes"), "/test_stage/dishes");
    assert_int_equal(rmdir(path), 0);
}

static void ARecordFromBeforeStaysAndIsOutOfDate(void** state)
{
    (void)state;
    bool stale = false;
    char reason[JNA_NOTE_LENGTH];
    Write("soup");
    jnaStage stage = StageWith("soup");
    assert_int_equal(jnaStage_Record(folder, &stage, NULL), jn_ok);
    assert_int_equal(jnaStage_IsStale(folder, &stage, &stale, reason, NULL), jn_ok);
    assert_false(stale);
    assert_int_equal(unlink(JN_BINARY_DIR "/test_stage/soup"), 0);
    assert_int_equal(jnaStage_Record(folder, &stage, NULL), jn_ioFailed);
    assert_int_equal(access(record, F_OK), 0);
    assert_int_equal(jnaStage_IsStale(folder, &stage, &stale, reason, NULL), jn_ok);
    assert_true(stale);
    jnaDestroyStage(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(AnOutputThatIsMissingIsNamed, SetUp),
        cmocka_unit_test_setup(AnOutputThatCannotBeHashedIsNamed, SetUp),
        cmocka_unit_test_setup(AFolderThatCannotBeReadIsNamed, SetUp),
        cmocka_unit_test_setup(ARecordFromBeforeStaysAndIsOutOfDate, SetUp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
