// Power is lost after a system call of a build, and what a disk could hold then is built on: the same bytes. A hundred
// points here, evenly spread over all of them; `tools/hardship.sh ... power` tries every one.
#include "helpers/command.h"
#include "helpers/small_gltf.h"

#define POINTS "100"

static void APowerCutAfterAnyCallLosesNothing(void** state)
{
    (void)state;
#ifdef JN_SANITIZED // whose search for leaks cannot be traced
    skip();
#endif
    if (system("strace -o /dev/null true 2> /dev/null && python3 -c pass") != 0) {
        print_message("skipped: no strace that may trace here, or no python3\n");
        skip();
    }
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[2048];
    snprintf(line, sizeof(line), "python3 -B %s/tools/crash-points.py %s/bin/jounce '%s' power --points " POINTS,
        JN_SOURCE_DIR, JN_BINARY_DIR, WriteTube("power", &def));
    assert_int_equal(system(line), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(APowerCutAfterAnyCallLosesNothing),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
