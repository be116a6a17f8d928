// jounce picture as a user runs it: what it writes, and how it ends when it cannot.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = JN_BINARY_DIR "/picture-verb-XXXXXX";

static int MakeFolder(void** state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int RemoveFolder(void** state)
{
    (void)state;
    return rmdir(folder);
}

// Runs the command in the test's folder; returns its exit code and the first line on stderr.
static int Run(const char* arguments, char* line, size_t size)
{
    char command[1024];
    snprintf(command, sizeof(command), "cd '%s' && '%s/bin/jounce' picture %s 2>&1 >/dev/null", folder, JN_BINARY_DIR,
        arguments);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    line[0] = '\0';
    if (fgets(line, (int)size, pipe) == NULL) {
        line[0] = '\0';
    }
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void AFrameOfAClipBecomesAPng(void** state)
{
    (void)state;
    char line[256], path[512];
    assert_int_equal(Run("--figure --clip run --frame 7 --height 64 -o run.png", line, sizeof(line)), 0);
    assert_string_equal(line, "");
    snprintf(path, sizeof(path), "%s/run.png", folder);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char signature[4];
    assert_int_equal(fread(signature, 1, 4, file), 4);
    assert_memory_equal(signature, "\x89PNG", 4);
    fclose(file);
    assert_int_equal(unlink(path), 0);
}

static void WrongUsageEndsWithTwoAndALine(void** state)
{
    (void)state;
    static const char* const wrong[] = {"--figure", "-o a.png", "--figure --clip waltz -o a.png",
        "--figure --frame 3 -o a.png", "--figure --height 2 -o a.png"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        char line[256];
        assert_int_equal(Run(wrong[i], line, sizeof(line)), 2);
        assert_memory_equal(line, "jounce: ", 8);
    }
}

static void FailureEndsWithOneAndNamesTheCause(void** state)
{
    (void)state;
    char line[256];
    assert_int_equal(Run("--figure --clip run --frame 66 -o a.png", line, sizeof(line)), 1);
    assert_non_null(strstr(line, "frames 0 to 65"));
    assert_int_equal(Run("--figure --weights Tail -o a.png", line, sizeof(line)), 1);
    assert_non_null(strstr(line, "Tail"));
    assert_int_equal(Run("--figure --height 16 -o none/a.png", line, sizeof(line)), 1);
    assert_non_null(strstr(line, "none/a.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AFrameOfAClipBecomesAPng),
        cmocka_unit_test(WrongUsageEndsWithTwoAndALine),
        cmocka_unit_test(FailureEndsWithOneAndNamesTheCause),
    };
    return cmocka_run_group_tests(tests, MakeFolder, RemoveFolder);
}
