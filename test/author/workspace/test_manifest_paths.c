// Files of a manifest begin at the workspace where they are near it.
#include "helpers/command.h"

#include "character/source.h"
#include "workspace/manifest.h"

#include <limits.h>
#include <stdlib.h>

static void FilesNearTheWorkspaceAreRelative(void** state)
{
    (void)state;
    char folder[PATH_MAX], file[PATH_MAX + 32];
    assert_non_null(realpath(".", folder));
    jnaManifest m = jnaDefaultManifest();
    m.clipCount = 1;
    m.clips = calloc(1, sizeof(*m.clips));
    m.partCount = 1;
    m.parts = calloc(1, sizeof(*m.parts));
    snprintf(file, sizeof(file), "%s/hero.fbx", folder);
    m.character = strdup(file);
    m.clips[0].name = strdup("walk");
    m.clips[0].source = strdup(file);
    snprintf(file, sizeof(file), "%s/sim/walk.npz:positions", folder);
    m.clips[0].motion = strdup(file);
    m.parts[0].source = strdup("/no/such/tree/shirt.glb");
    assert_int_equal(jnaManifest_Relate(&m, "w", NULL), jn_ok);
    assert_string_equal(m.character, "../hero.fbx");
    assert_string_equal(m.clips[0].source, "../hero.fbx");
    assert_string_equal(m.clips[0].motion, "../sim/walk.npz:positions");
    assert_string_equal(m.parts[0].source, "/no/such/tree/shirt.glb");
    // What is relative stays.
    assert_int_equal(jnaManifest_Relate(&m, "elsewhere", NULL), jn_ok);
    assert_string_equal(m.character, "../hero.fbx");
    jnaDestroyManifest(&m);
}

static void TheBuiltInFigureHasNoFile(void** state)
{
    (void)state;
    jnaManifest m = jnaDefaultManifest();
    m.character = strdup(JNA_FIGURE_SOURCE);
    assert_int_equal(jnaManifest_Relate(&m, "w", NULL), jn_ok);
    assert_string_equal(m.character, JNA_FIGURE_SOURCE);
    jnaDestroyManifest(&m);
}

static void AFolderThatIsNowhereIsNamed(void** state)
{
    (void)state;
    jnError error = {0};
    jnaManifest m = jnaDefaultManifest();
    assert_int_equal(jnaManifest_Relate(&m, "no/such/folder/w", &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "no/such/folder/w"));
    jnaDestroyManifest(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(FilesNearTheWorkspaceAreRelative),
        cmocka_unit_test(TheBuiltInFigureHasNoFile),
        cmocka_unit_test(AFolderThatIsNowhereIsNamed),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
