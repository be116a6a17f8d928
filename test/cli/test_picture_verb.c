// jounce picture as a user runs it: what it writes, and how it ends when it cannot.
#include "helpers/small_gltf.h"

#include "helpers/command.h"

static void AFrameOfAClipBecomesAPng(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("picture --figure --clip run --frame 7 --height 64 -o run.png");
    assert_int_equal(outcome.code, 0);
    assert_string_equal(outcome.error, "");
    assert_non_null(strstr(outcome.out, "1 panel, "));
    assert_non_null(strstr(outcome.out, " x 86 pixels, written to run.png\n"));
    char head[9];
    ReadAll("run.png", head, sizeof(head));
    assert_memory_equal(head, "\x89PNG", 4);
}

// A workspace "tube" of a rigged tube with a clip "wave_top" of one second.
static void MakeTube(const char* folder, double rate)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char arguments[1024];
    snprintf(arguments, sizeof(arguments), "new %s --from '%s' --rate %g --layer vertex", folder,
        WriteTube("picture", &def), rate);
    assert_int_equal(RunJounce(arguments).code, 0);
    snprintf(arguments, sizeof(arguments), "build %s --until modes", folder);
    assert_int_equal(RunJounce(arguments).code, 0);
}

static void AWorkspaceIsDrawnAtRestAndInMotion(void** state)
{
    (void)state;
    MakeTube("tube", 30);
    Outcome outcome = RunJounce("picture tube --height 48 -o rest.png");
    assert_int_equal(outcome.code, 0);
    assert_memory_equal(outcome.out, "4 panels, ", 10);
    outcome = RunJounce("picture tube --view side --height 48 -o side.png");
    assert_memory_equal(outcome.out, "1 panel, ", 9);
    outcome = RunJounce("picture tube --clip wave_top --frames 8 --height 48 -o wave8.png");
    assert_memory_equal(outcome.out, "8 panels, ", 10);
    assert_non_null(strstr(outcome.out, " x 140 pixels"));
    outcome = RunJounce("picture tube --clip wave_top --time 0.2 --frame 9 --time 0.4 --height 48 -o wave3.png");
    assert_memory_equal(outcome.out, "3 panels, ", 10);
}

// Draws frame 9 of the tube's clip.
static void DrawNinth(const char* options, char* bytes, size_t size)
{
    char arguments[256];
    snprintf(
        arguments, sizeof(arguments), "picture tube --clip wave_top --frame 9 --height 64 -o ninth.png %s", options);
    assert_int_equal(RunJounce(arguments).code, 0);
    memset(bytes, 0, size);
    ReadAll("ninth.png", bytes, size);
}

static void SpringsMoveTheSurfaceThatIsDrawn(void** state)
{
    (void)state;
    static char still[50000], again[50000], moved[50000], heat[50000];
    DrawNinth("", still, sizeof(still));
    DrawNinth("--stage skinned", again, sizeof(again));
    DrawNinth("--stage dynamic", moved, sizeof(moved));
    DrawNinth("--stage dynamic --offset", heat, sizeof(heat));
    assert_memory_equal(still, again, sizeof(still));
    assert_memory_not_equal(still, moved, sizeof(still));
    assert_memory_not_equal(moved, heat, sizeof(moved));
}

static void AGifShowsTheClipInMotion(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("picture tube --clip wave_top --stage dynamic --offset --height 32 -o wave.gif");
    assert_int_equal(outcome.code, 0);
    assert_memory_equal(outcome.out, "31 frames, ", 11);
    char head[7];
    ReadAll("wave.gif", head, sizeof(head));
    assert_string_equal(head, "GIF89a");
    outcome = RunJounce("picture tube --clip wave_top --frame 10 --frame 14 --height 32 -o part.gif");
    assert_memory_equal(outcome.out, "5 frames, ", 10);
    ExpectFailure("picture tube -o a.gif", 2, "--clip", "--help");
    ExpectFailure("picture tube --clip wave_top --frame 3 -o a.gif", 2, "two --frame", "--help");
    ExpectFailure("picture tube --clip wave_top --frame 9 --frame 3 -o a.gif", 1, "the first comes first", "");
    assert_false(FileExists("a.gif"));
}

static void ACharacterFileThatIsNotTheWorkspacesIsRefused(void** state)
{
    (void)state;
    MakeTube("slow", 12);
    assert_int_equal(rename("slow/character.jounce", "tube/character.jounce"), 0);
    ExpectFailure("picture tube --clip wave_top --stage dynamic -o a.png", 1, "jounce build tube", "");
    ExpectFailure(
        "picture slow --clip wave_top --stage dynamic -o a.png", 1, "no character.jounce", "jounce build slow");
    assert_false(FileExists("a.png"));
}

static void AValueMayFollowAnEqualsSign(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("picture tube --clip=wave_top --frame=3 --frame 5 --height=32 -o e.png");
    assert_int_equal(outcome.code, 0);
    assert_memory_equal(outcome.out, "2 panels, ", 10);
    ExpectFailure("picture tube --height= -o a.png", 2, "--height", "not a number");
    ExpectFailure("picture tube --heigh=3 -o a.png", 2, "unknown option --heigh=3", "");
    ExpectFailure("picture --figure=yes -o a.png", 2, "--figure takes no value", "");
    ExpectFailure("export --figure --joint=Head -o a.jounce", 2, "--joint needs words after it", "");
}

static void WrongUsageEndsWithTwoAndALine(void** state)
{
    (void)state;
    ExpectFailure("picture --figure", 2, "-o", "missing");
    ExpectFailure("picture -o a.png", 2, "--figure", "--help");
    ExpectFailure("picture --figure man -o a.png", 2, "WORKSPACE or --figure", "--help");
    ExpectFailure("picture --figure --clip run --stage dynamic -o a.png", 2, "WORKSPACE", "--help");
    ExpectFailure("picture tube --stage dynamic -o a.png", 2, "--clip", "--help");
    ExpectFailure("picture tube --clip wave_top --offset -o a.png", 2, "--stage dynamic", "--help");
    ExpectFailure("picture tube --clip wave_top --frames 25 -o a.png", 2, "--frames", "--help");
    ExpectFailure("picture --figure --frame 3 -o a.png", 2, "--clip", "--help");
    ExpectFailure("picture --figure --height 2 -o a.png", 2, "--height", "--help");
    ExpectFailure("picture --figure -o a.jpg", 2, "must end in .png, or in .gif", "--help");
}

static void FailureEndsWithOneAndNamesTheCause(void** state)
{
    (void)state;
    ExpectFailure("picture tube --clip wave_top --frame 31 -o a.png", 1, "frames 0 to 30", "");
    ExpectFailure("picture tube --clip wave_top --frame 1.5 -o a.png", 1, "1.5", "frames 0 to 30");
    ExpectFailure("picture tube --clip wave_top --time -0.1 -o a.png", 1, "--time -0.1", "1.00 s");
    ExpectFailure("picture --figure --clip waltz -o a.png", 1, "waltz", "shadow-boxing");
    ExpectFailure("picture tube --clip waltz -o a.png", 1, "waltz", "wave_top");
    ExpectFailure("picture nobody -o a.png", 1, "nobody", "");
    ExpectFailure("picture tube --weights Tail -o a.png", 1, "Tail", "");
    ExpectFailure("picture tube --height 16 -o none/a.png", 1, "none/a.png", "cannot write");
    assert_false(FileExists("a.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AFrameOfAClipBecomesAPng),
        cmocka_unit_test(AWorkspaceIsDrawnAtRestAndInMotion),
        cmocka_unit_test(SpringsMoveTheSurfaceThatIsDrawn),
        cmocka_unit_test(AGifShowsTheClipInMotion),
        cmocka_unit_test(ACharacterFileThatIsNotTheWorkspacesIsRefused),
        cmocka_unit_test(AValueMayFollowAnEqualsSign),
        cmocka_unit_test(WrongUsageEndsWithTwoAndALine),
        cmocka_unit_test(FailureEndsWithOneAndNamesTheCause),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
