// The preflight: what is wrong with a surface is told and, where possible, put right.
#include "helpers/small_surface.h"

static jnaCharacter character;
static jnaSurface surface;
static jnaNotes notes;
static jnError error;

static int Clear(void** state)
{
    (void)state;
    jnaDestroyCharacter(&character);
    jnaDestroySurface(&surface);
    jnaDestroyNotes(&notes);
    notes = (jnaNotes){0};
    return 0;
}

static jnResult CreateWith(bool keepInner, jnaShells shells)
{
    jnaDestroySurface(&surface);
    return jnaCreateSurface(&character, keepInner, shells, &surface, &notes, &error);
}

static jnResult Create(bool keepInner)
{
    return CreateWith(keepInner, jna_shellsAuto);
}

static void ASphereIsTakenAsItIs(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(notes.count, 0);
    assert_int_equal(surface.vertexCount, character.vertexCount);
    assert_int_equal(surface.triangleCount, character.triangleCount);
    assert_int_equal(surface.report.componentCount, 1);
    assert_int_equal(surface.report.boundaryEdgeCount, 0);
    ASSERT_NEAR(surface.report.volume, EnclosedVolume(&character), 1e-12);
}

static void AHoleIsCappedAndTold(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    // All faces on the top vertex go.
    int kept = 0;
    for (int t = 0; t < character.triangleCount; ++t) {
        if (character.triangles[3 * t] != 0) {
            memmove(character.triangles + 3 * kept++, character.triangles + 3 * t, 3 * sizeof(int32_t));
        }
    }
    character.triangleCount = kept;
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.holeCount, 1);
    assert_int_equal(surface.report.boundaryEdgeCount, SPHERE_SECTORS);
    assert_int_equal(surface.triangleCount, kept + SPHERE_SECTORS);
    assert_int_equal(surface.vertexOf[0], -1);
    assert_true(HasNote(&notes, "hole of 24 edges"));
    ASSERT_NEAR(surface.report.volume, 4.0, 0.2);
}

static void InsideOutIsTurned(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, -1);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.insideOutCount, 1);
    assert_true(surface.report.volume > 3.9);
    assert_true(HasNote(&notes, "inside out"));
}

static void FacesAgainstTheirNeighboursAreTurned(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    double volume = EnclosedVolume(&character);
    for (int t = 3; t < 12; t += 4) {
        int32_t other = character.triangles[3 * t];
        character.triangles[3 * t] = character.triangles[3 * t + 1];
        character.triangles[3 * t + 1] = other;
    }
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.flippedCount, 3);
    ASSERT_NEAR(surface.report.volume, volume, 1e-12);
}

static void ASmallShellInsideIsLeftOut(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    int outer = character.vertexCount, faces = character.triangleCount;
    double volume = EnclosedVolume(&character);
    AddSphere(&character, 0.2, 0.1, 0, 0.2);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.leftOutCount, 1);
    assert_int_equal(surface.triangleCount, faces);
    assert_int_equal(surface.vertexOf[outer], -1);
    assert_int_equal(surface.vertexOf[outer - 1], outer - 1);
    assert_true(HasNote(&notes, "carried by skinning"));
    assert_int_equal(Create(true), jn_ok);
    assert_int_equal(surface.report.leftOutCount, 0);
    assert_int_equal(surface.triangleCount, 2 * faces);
    ASSERT_NEAR(surface.report.volume, volume, 1e-12);
}

static void ALargeShellInsideIsAHollowOrALayer(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    double volume = EnclosedVolume(&character);
    AddSphere(&character, 0, 0, 0, -0.5);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.cavityCount, 1);
    ASSERT_NEAR(surface.report.volume, volume * 7 / 8, 1e-6);
    assert_true(jnaLength(surface.cavities[0]) < 0.5);
    Clear(NULL);
    AddSphere(&character, 0, 0, 0, 1);
    AddSphere(&character, 0, 0, 0, 0.5);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.cavityCount, 0);
    ASSERT_NEAR(surface.report.volume, volume, 1e-6);
}

static void DoubledAndEmptyFacesAreDropped(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    int faces = character.triangleCount;
    AddTriangle(&character, 5, 5, 9);
    AddTriangle(&character, character.triangles[1], character.triangles[2], character.triangles[0]);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.degenerateCount, 1);
    assert_int_equal(surface.report.duplicateCount, 1);
    assert_int_equal(surface.triangleCount, faces);
}

static void AnEdgeOfThreeFacesIsTold(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    AddVertex(&character, 0, 3, 0);
    AddTriangle(&character, 0, 1, character.vertexCount - 1);
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.nonManifoldCount, 1);
    assert_true(HasNote(&notes, "more than two faces"));
}

static void ASeamIsNoHole(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    // Two neighbouring faces on the top vertex get a copy of it, as a weld leaves where joints differ.
    AddVertex(&character, 0, 1, 0);
    for (int t = 0, found = 0; t < character.triangleCount && found < 2; ++t) {
        if (character.triangles[3 * t] == 0) {
            character.triangles[3 * t] = character.vertexCount - 1;
            ++found;
        }
    }
    assert_int_equal(Create(false), jn_ok);
    assert_int_equal(surface.report.seamCount, 1);
    assert_int_equal(surface.report.holeCount, 0);
    assert_int_equal(surface.vertexOf[0], surface.vertexOf[character.vertexCount - 1]);
}

static void AFlatSheetAndOneTriangleAreAClearLine(void** state)
{
    (void)state;
    strcpy(character.name, "sheet");
    for (int i = 0; i < 9; ++i) {
        AddVertex(&character, i % 3, i / 3, 0);
    }
    for (int i = 0; i < 4; ++i) {
        int at = i % 2 + 3 * (i / 2);
        AddTriangle(&character, at, at + 1, at + 4);
        AddTriangle(&character, at, at + 4, at + 3);
    }
    assert_int_equal(Create(false), jn_badData);
    assert_non_null(strstr(error.message, "enclose no volume"));
    assert_non_null(strstr(error.message, "sheet"));
    character.triangleCount = 1;
    assert_int_equal(Create(false), jn_badData);
    assert_non_null(strstr(error.message, "enclose no volume"));
    character.triangleCount = 0;
    assert_int_equal(Create(false), jn_badData);
    assert_non_null(strstr(error.message, "nothing to fill"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ASphereIsTakenAsItIs, Clear),
        cmocka_unit_test_teardown(AHoleIsCappedAndTold, Clear),
        cmocka_unit_test_teardown(InsideOutIsTurned, Clear),
        cmocka_unit_test_teardown(FacesAgainstTheirNeighboursAreTurned, Clear),
        cmocka_unit_test_teardown(ASmallShellInsideIsLeftOut, Clear),
        cmocka_unit_test_teardown(ALargeShellInsideIsAHollowOrALayer, Clear),
        cmocka_unit_test_teardown(DoubledAndEmptyFacesAreDropped, Clear),
        cmocka_unit_test_teardown(AnEdgeOfThreeFacesIsTold, Clear),
        cmocka_unit_test_teardown(ASeamIsNoHole, Clear),
        cmocka_unit_test_teardown(AFlatSheetAndOneTriangleAreAClearLine, Clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
