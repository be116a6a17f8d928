// Roles by shell, joints, mask and material, and what is said where nothing fits; shells and their numbers.
#include "character/marks.h"
#include "character/shell_numbers.h"
#include "helpers/voxels.h"

static jnaCharacter character;
static jnError error;
static int ball; // first vertex of the second part

static int Clear(void** state)
{
    (void)state;
    jnaDestroyCharacter(&character);
    return 0;
}

// A ball "Body" of "Skin", a smaller one "Hat" of "Felt" behind it; a mask painted on the right half of the body.
static int Make(void** state)
{
    (void)state;
    jnaCharacter* c = &character;
    AddSphere(c, 0, 0, 0, 1);
    ball = c->vertexCount;
    int first = c->triangleCount;
    AddBox(c, (double[3]){2, 0, 0}, (double[3]){2.5, 0.5, 0.5});
    c->parts = calloc(2, sizeof(*c->parts));
    c->partCount = 2;
    strcpy(c->parts[0].name, "Body");
    strcpy(c->parts[0].material, "Skin");
    c->parts[0].triangleCount = c->parts[1].firstTriangle = first;
    strcpy(c->parts[1].name, "Hat");
    strcpy(c->parts[1].material, "Felt");
    c->parts[1].triangleCount = c->triangleCount - first;
    AddJointAt(c, "hips", 0, 0, 0);
    AddJointAt(c, "rig:head", 0, 1, 0);
    AddJointAt(c, "jaw", 0, 1, 0.2);
    c->joints[2].parent = 1;
    AddInfluences(c);
    float* color = jnaCharacter_AddAttribute(c, "COLOR_0", 4);
    float* cloth = jnaCharacter_AddAttribute(c, "_CLOTH", 1);
    for (int v = 0; v < c->vertexCount; ++v) {
        const float* p = c->positions + 3 * v;
        color[4 * v + 1] = p[0] > 0 ? 0.8f : 0.2f;
        cloth[v] = p[2] > 0;
        Follow(c, v, p[1] > 0.5f ? 1 : p[1] < -0.5f ? 2 : 0, 0.9f, 0);
    }
    return 0;
}

static jnResult Mark(jnaMarkSetting setting)
{
    setting.place = "parts[3]";
    return jnaCharacter_Mark(&character, &setting, 1, &error);
}

// Whether exactly the vertices are marked that lie on one side of a plane.
static bool MarksSide(int axis, float above, jnaMeshRole role)
{
    bool all = true;
    for (int v = 0; v < character.vertexCount; ++v) {
        all = all && (character.marks[v] == JNA_MARK(role)) == (character.positions[3 * v + axis] > above);
    }
    return all;
}

static void AMaskIsAnAttributeOrOneOfItsComponents(void** state)
{
    (void)state;
    assert_int_equal(Mark((jnaMarkSetting){.mask = "COLOR_0.g", .above = 0.5, .role = jna_meshFollows}), jn_ok);
    assert_true(MarksSide(0, 0, jna_meshFollows));
    assert_int_equal(Mark((jnaMarkSetting){.mask = "COLOR_0.y", .above = 0.5, .role = jna_meshRigid}), jn_ok);
    assert_true(MarksSide(0, 0, jna_meshRigid));
    assert_int_equal(Mark((jnaMarkSetting){.mask = "_CLOTH", .above = 0.5, .role = jna_meshRigid}), jn_ok);
    assert_true(MarksSide(2, 0, jna_meshRigid));
    assert_int_equal(Mark((jnaMarkSetting){.mask = "COLOR_0.g", .above = 0.1, .role = jna_meshRigid}), jn_ok);
    assert_int_equal(jnaCharacter_CountMarks(&character, jna_meshRigid), character.vertexCount);
}

static void JointsAreByNameWithWhatIsBelowThem(void** state)
{
    (void)state;
    assert_int_equal(Mark((jnaMarkSetting){.joints = "head", .above = 0.5, .role = jna_meshRigid}), jn_ok);
    int head = jnaCharacter_CountMarks(&character, jna_meshRigid);
    assert_int_equal(Mark((jnaMarkSetting){.joints = "rig:head*", .above = 0.5, .role = jna_meshRigid}), jn_ok);
    int below = jnaCharacter_CountMarks(&character, jna_meshRigid);
    assert_true(head > 0 && below > head);
    assert_int_equal(Mark((jnaMarkSetting){.joints = "jaw , rig:head", .above = 0.5, .role = jna_meshRigid}), jn_ok);
    assert_int_equal(jnaCharacter_CountMarks(&character, jna_meshRigid), below);
    assert_int_equal(Mark((jnaMarkSetting){.joints = "jaw", .above = 0.95, .role = jna_meshRigid}), jn_badArgument);
}

static void ShellsAreNumberedByTheirSize(void** state)
{
    (void)state;
    jnaShellNumbers shells;
    jnaShellLine lines[2];
    assert_int_equal(jnaNumberShells(&character, &shells, &error), jn_ok);
    assert_int_equal(shells.count, 2);
    assert_int_equal(shells.shellOf[0], 1);
    assert_int_equal(shells.shellOf[ball], 2);
    assert_int_equal(jnaDescribeShells(&character, &shells, lines, &error), jn_ok);
    assert_int_equal(lines[1].triangleCount, 12);
    assert_int_equal(lines[1].part, 1);
    ASSERT_NEAR(lines[1].middle[0], 2.25, 1e-6);
    ASSERT_NEAR(lines[1].size, 0.5 * sqrt(3), 1e-6);
    jnaDestroyShellNumbers(&shells);
    assert_int_equal(Mark((jnaMarkSetting){.shell = 2, .role = jna_meshRigid}), jn_ok);
    assert_true(MarksSide(0, 1.5f, jna_meshRigid));
    assert_int_equal(Mark((jnaMarkSetting){.shell = 3, .role = jna_meshRigid}), jn_badArgument);
    assert_non_null(strstr(error.message, "no shell 3; the character has 2"));
}

static void AllThatIsGivenMustFitAndTheLastCounts(void** state)
{
    (void)state;
    const jnaMarkSetting settings[] = {{.name = "Felt", .role = jna_meshRigid},
        {.name = "Body", .mask = "_CLOTH", .above = 0.5, .role = jna_meshFollows},
        {.name = "Hat", .mask = "_CLOTH", .above = 0.5, .role = jna_meshFlesh}};
    assert_int_equal(jnaCharacter_Mark(&character, settings, 3, &error), jn_ok);
    for (int v = 0; v < character.vertexCount; ++v) {
        bool front = character.positions[3 * v + 2] > 0;
        int mark = v >= ball ? JNA_MARK(front ? jna_meshFlesh : jna_meshRigid) : front ? JNA_MARK(jna_meshFollows) : 0;
        assert_int_equal(character.marks[v], mark);
    }
}

static void WhatNothingHasIsRefusedWithTheNearestNames(void** state)
{
    (void)state;
    assert_int_equal(Mark((jnaMarkSetting){.joints = "hip", .above = 0.5}), jn_badArgument);
    assert_string_equal(
        error.message, "parts[3]: the character has no joint 'hip'; the nearest are 'hips', 'jaw', 'rig:head'");
    assert_int_equal(Mark((jnaMarkSetting){.name = "Bdy", .mask = "_CLOTH"}), jn_badArgument);
    assert_non_null(strstr(error.message, "no mesh or material 'Bdy'; the nearest are 'Body'"));
    assert_int_equal(Mark((jnaMarkSetting){.mask = "COLOR_1.r"}), jn_badArgument);
    assert_non_null(strstr(error.message, "no vertex attribute 'COLOR_1.r'; the nearest are 'COLOR_0'"));
    assert_int_equal(Mark((jnaMarkSetting){.mask = "COLOR_0.q"}), jn_badArgument);
    assert_int_equal(Mark((jnaMarkSetting){.name = "Hat", .shell = 1}), jn_badArgument);
    assert_non_null(strstr(error.message, "parts[3]: no vertex fits"));
    assert_null(character.marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(AMaskIsAnAttributeOrOneOfItsComponents, Make, Clear),
        cmocka_unit_test_setup_teardown(JointsAreByNameWithWhatIsBelowThem, Make, Clear),
        cmocka_unit_test_setup_teardown(ShellsAreNumberedByTheirSize, Make, Clear),
        cmocka_unit_test_setup_teardown(AllThatIsGivenMustFitAndTheLastCounts, Make, Clear),
        cmocka_unit_test_setup_teardown(WhatNothingHasIsRefusedWithTheNearestNames, Make, Clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
