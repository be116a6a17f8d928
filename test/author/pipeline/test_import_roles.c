// Roles from the command line to the manifest, and from the manifest to the vertices of a workspace.
#include "helpers/folders.h"
#include "helpers/small_gltf.h"
#include "helpers/support.h"
#include "pipeline/import_roles.h"
#include "workspace/store.h"

static const TubeDef tube = {.joints = 2, .armature = "", .animation = "rotation", .painted = true};
static jnError error;

static const char* Path(void)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/import_roles_%ld", JN_BINARY_DIR, (long)getpid());
    return path;
}

static int Remove(void** state)
{
    (void)state;
    RemoveFolder(Path());
    return 0;
}

static jnResult Create(const char* name, jnaMeshRole role)
{
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = WriteTube("import_roles", &tube);
    def.partCount = 1;
    def.partNames = &name;
    def.partRoles = &role;
    Remove(NULL);
    return jnaCreateWorkspace(Path(), &def, NULL, &error);
}

static int CountMarked(jnaMeshRole role, int* all)
{
    jnaCharacter c;
    int count = 0;
    assert_int_equal(jnaLoadCharacter(Path(), &c, &error), jn_ok);
    for (int v = 0; c.marks != NULL && v < c.vertexCount; ++v) {
        count += c.marks[v] == JNA_MARK(role);
    }
    *all = c.vertexCount;
    jnaDestroyCharacter(&c);
    return count;
}

static void AMaskIsMarkedAndKeptInTheManifest(void** state)
{
    (void)state;
    int all;
    assert_int_equal(Create("mask:COLOR_0.r>0.3", jna_meshFollows), jn_ok);
    int marked = CountMarked(jna_meshFollows, &all);
    assert_true(marked > 0 && marked < all);
    jnaManifest m;
    char path[640];
    snprintf(path, sizeof(path), "%s/manifest.yaml", Path());
    assert_int_equal(jnaReadManifest(path, &m, &error), jn_ok);
    assert_int_equal(m.partCount, 1);
    assert_string_equal(m.parts[0].mask, "COLOR_0.r");
    ASSERT_NEAR(m.parts[0].above, 0.3, 1e-12);
    assert_int_equal(m.parts[0].role, jna_meshFollows);
    jnaDestroyManifest(&m);
}

static void AShellAndJointsAreMarked(void** state)
{
    (void)state;
    int all;
    assert_int_equal(Create("shell:1", jna_meshRigid), jn_ok);
    int marked = CountMarked(jna_meshRigid, &all);
    assert_int_equal(marked, all);
    jnaCharacter c;
    assert_int_equal(jnaLoadCharacter(Path(), &c, &error), jn_ok);
    char name[JNA_NAME_LENGTH + 16];
    snprintf(name, sizeof(name), "joints:%s", c.joints[1].name);
    jnaDestroyCharacter(&c);
    assert_int_equal(Create(name, jna_meshRigid), jn_ok);
    marked = CountMarked(jna_meshRigid, &all);
    assert_true(marked > 0 && marked < all);
}

static void WhatCannotBeMeantIsRefused(void** state)
{
    (void)state;
    const struct {
        const char *part, *says;
    } wrong[] = {{"shell:0", "a shell is a number from 1 on"}, {"shell:9", "there is no shell 9; the character has 1"},
        {"mask:COLOR_0.r>x", "no number"}, {"mask:COLOUR", "the nearest are 'COLOR_0'"},
        {"joints:nobody", "has no joint 'nobody'; the nearest are"},
        {"name:shell:1", "no mesh, node or material of the character is called 'shell:1'; the nearest are"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        assert_int_not_equal(Create(wrong[i].part, jna_meshRigid), jn_ok);
        if (strstr(error.message, wrong[i].says) == NULL) {
            fail_msg("%s: %s", wrong[i].part, error.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(AMaskIsMarkedAndKeptInTheManifest, Remove),
        cmocka_unit_test_teardown(AShellAndJointsAreMarked, Remove),
        cmocka_unit_test_teardown(WhatCannotBeMeantIsRefused, Remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
