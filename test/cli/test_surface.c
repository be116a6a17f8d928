// The build plays what it made: a line, a picture and warnings; jounce check fails on a surface that breaks.
#include "base/npy.h"
#include "helpers/command.h"
#include "helpers/small_gltf.h"

static void Do(const char* line)
{
    if (system(line) != 0) {
        fail_msg("failed: %s", line);
    }
}

static Outcome Expect(const char* arguments, int code, const char* text)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != code || strstr(outcome.out, text) == NULL) {
        fail_msg("jounce %s: exit %d, without '%s': %s%s", arguments, outcome.code, text, outcome.out, outcome.error);
    }
    return outcome;
}

static int MakeTube(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new w --from '%s' --layer vertex", WriteTube("surface_verb", &def));
    return RunJounce(line).code;
}

// Springs of single vertices, every other one slow and the rest rigid, cannot stay together.
static void WriteMask(bool broken)
{
    float mask[TUBE_VERTICES];
    for (int v = 0; v < TUBE_VERTICES; ++v) {
        mask[v] = broken && v % 2 == 0 ? 1.0f : 0.0f;
    }
    jnError error;
    const size_t shape[1] = {TUBE_VERTICES};
    assert_int_equal(jnaWriteArray("w/mask.npy", jna_float32, 1, shape, mask, &error), jn_ok);
}

static void ABuildPlaysEveryClipAndDrawsTheWorstFrame(void** state)
{
    (void)state;
    WriteMask(false);
    Do("sed -i 's/^  mode: fitted/  mode: mask\\n  mask: mask.npy/; s/^  hertz: .*/  hertz: 0.05/' w/manifest.yaml");
    Outcome first = Expect("build w --until modes", 0, "surface: 1 clip, ");
    assert_non_null(strstr(first.out, "0 flipped, 0 torn edges (0.00 in a million)"));
    assert_non_null(strstr(first.out, "warning: nothing moves in any clip"));
    Do("test -s w/preview.png && test -s w/surface.json");
    // The same line from a build that has nothing to do, and the numbers for programs.
    Expect("build w --until modes", 0, "surface: 1 clip, ");
    Expect("build w --until modes --verbose", 0, "Surface of character.jounce in each clip");
    Expect("build w --until modes --json", 0, "\"surface\": {");
    Expect("check w", 0, "surface: 1 clip, ");
}

static void ASurfaceThatBreaksIsAWarningAndFailsTheCheck(void** state)
{
    (void)state;
    WriteMask(true);
    Expect("build w --until modes", 0, "warning: the surface breaks in ");
    Outcome check = Expect("check w", 1, "warning: the surface breaks in ");
    assert_non_null(strstr(check.out, "worst in frame "));
    assert_non_null(strstr(check.out, "w: the surface breaks; see preview.png"));
    assert_non_null(strstr(check.out, "0 damaged"));
    Expect("check w --json", 1, "\"broken\": true");
    Expect("picture . --sheet -o sheet.png", 0, "1 panel, ");
    Do("test -s sheet.png");
    Do("rm w/preview.png");
    Expect("check w", 1, "preview.png: is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ABuildPlaysEveryClipAndDrawsTheWorstFrame),
        cmocka_unit_test(ASurfaceThatBreaksIsAWarningAndFailsTheCheck),
    };
    return cmocka_run_group_tests(tests, MakeTube, LeaveScratchFolder);
}
