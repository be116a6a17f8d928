// jounce picture as a user runs it: what it writes, and how it ends when it cannot.
#include "command.h"

static void AFrameOfAClipBecomesAPng(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("picture --figure --clip run --frame 7 --height 64 -o run.png");
    assert_int_equal(outcome.code, 0);
    assert_string_equal(outcome.error, "");
    char head[9];
    ReadAll("run.png", head, sizeof(head));
    assert_memory_equal(head, "\x89PNG", 4);
}

static void WrongUsageEndsWithTwoAndALine(void** state)
{
    (void)state;
    ExpectFailure("picture --figure", 2, "-o", "missing");
    ExpectFailure("picture -o a.png", 2, "--figure", "--help");
    ExpectFailure("picture --figure --clip waltz -o a.png", 2, "waltz", "--help");
    ExpectFailure("picture --figure --frame 3 -o a.png", 2, "--clip", "--help");
    ExpectFailure("picture --figure --height 2 -o a.png", 2, "--height", "--help");
}

static void FailureEndsWithOneAndNamesTheCause(void** state)
{
    (void)state;
    ExpectFailure("picture --figure --clip run --frame 66 -o a.png", 1, "frames 0 to 65", "");
    ExpectFailure("picture --figure --weights Tail -o a.png", 1, "Tail", "");
    ExpectFailure("picture --figure --height 16 -o none/a.png", 1, "none/a.png", "cannot write");
    assert_false(FileExists("a.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AFrameOfAClipBecomesAPng),
        cmocka_unit_test(WrongUsageEndsWithTwoAndALine),
        cmocka_unit_test(FailureEndsWithOneAndNamesTheCause),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
