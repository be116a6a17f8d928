// Parts that follow one joint are rigid shells and left to skinning; parts with blended weights are flesh.
#include "helpers/voxels.h"
#include "volume/mesh_internal.h"

static jnaCharacter character;
static jnaSurface surface;
static jnaNotes notes;
static jnError error;
static int parts[4], partCount; // first vertex of each part

static int Clear(void** state)
{
    (void)state;
    jnaDestroyCharacter(&character);
    jnaDestroySurface(&surface);
    jnaDestroyNotes(&notes);
    notes = (jnaNotes){0};
    partCount = 0;
    return 0;
}

static void AddPart(double x, double radius)
{
    parts[partCount++] = character.vertexCount;
    AddSphere(&character, x, 0, 0, radius);
}

// Two joints; every part on the first until it is told otherwise.
static void AddRig(void)
{
    AddJointAt(&character, "body", 0, 0, 0);
    AddJointAt(&character, "other", 1, 0, 0);
    AddInfluences(&character);
}

// A part on one joint, or on both by half where blended.
static void SetPart(int part, int joint, bool blended)
{
    int end = part + 1 < partCount ? parts[part + 1] : character.vertexCount;
    for (int v = parts[part]; v < end; ++v) {
        Follow(&character, v, joint, blended ? 0.5f : 1.0f, 1 - joint);
    }
}

static void Create(jnaShells shells)
{
    jnaDestroySurface(&surface);
    jnaDestroyNotes(&notes);
    notes = (jnaNotes){0};
    assert_int_equal(jnaCreateSurface(&character, false, shells, &surface, &notes, &error), jn_ok);
}

static bool IsFlesh(int part)
{
    return surface.vertexOf[parts[part]] >= 0;
}

// The second of three follows one joint alone.
static void AddThree(void)
{
    AddPart(0, 1);
    AddPart(3, 0.5);
    AddPart(-3, 0.5);
    AddRig();
    SetPart(0, 0, true);
    SetPart(1, 1, false);
    SetPart(2, 1, true);
}

static void APartOnOneJointIsLeftToSkinningAndTold(void** state)
{
    (void)state;
    AddThree();
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.shellCount, 1);
    assert_true(IsFlesh(0) && !IsFlesh(1) && IsFlesh(2));
    assert_true(HasNote(&notes, "follows one joint and is carried by skinning: 1 of other; 2 taken for flesh"));
}

static void TheManifestDecidesOtherwise(void** state)
{
    (void)state;
    AddThree();
    Create(jna_shellsFlesh);
    assert_int_equal(surface.report.shellCount, 0);
    assert_true(IsFlesh(0) && IsFlesh(1) && IsFlesh(2));
    Create(jna_shellsRigid);
    assert_int_equal(surface.report.shellCount, 2);
    assert_true(IsFlesh(0) && !IsFlesh(1) && !IsFlesh(2));
}

static void WhatOneJointMovesIsFlesh(void** state)
{
    (void)state;
    AddPart(0, 1);
    AddPart(3, 0.5);
    AddRig();
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.shellCount, 0);
    assert_true(IsFlesh(0) && IsFlesh(1));
}

static void ASlimeWithEyesIsFleshAndItsEyesAreNot(void** state)
{
    (void)state;
    AddPart(0, 1);
    AddPart(1.3, 0.2);
    AddRig();
    SetPart(1, 1, false);
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.shellCount, 1);
    assert_true(IsFlesh(0) && !IsFlesh(1));
}

static void ARobotHasNoFleshAndSaysSo(void** state)
{
    (void)state;
    AddPart(0, 1);
    AddPart(3, 1);
    AddRig();
    SetPart(1, 1, false);
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.shellCount, 2);
    assert_int_equal(surface.triangleCount, 0);
    assert_true(HasNote(&notes, "no flesh and plays as plain skinning"));
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaVolume v;
    jnaVolumeForecast forecast;
    assert_int_equal(jnaForeseeVolume(&character, &def, &forecast, &error), jn_ok);
    assert_false(forecast.hasFlesh);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, NULL, NULL, &error), jn_ok);
    assert_int_equal(v.nodeCount, 0);
    assert_int_equal(v.vertexCount, character.vertexCount);
    for (int i = 0; i < v.vertexCount; ++i) {
        assert_int_equal(v.skinTetrahedra[i], -1);
        assert_true(jnaVolume_Blend(&v, i) <= 0);
    }
    jnaDestroyVolume(&v);
    def.shells = jna_shellsFlesh;
    assert_int_equal(jnaForeseeVolume(&character, &def, &forecast, &error), jn_ok);
    assert_true(forecast.hasFlesh);
    assert_int_equal(forecast.parts, 2);
}

static void FleshInsideArmourIsFlesh(void** state)
{
    (void)state;
    AddPart(0, 1);
    AddPart(0, 0.3); // would be left out as a small part inside another
    AddRig();
    SetPart(0, 1, false);
    SetPart(1, 0, true);
    Create(jna_shellsAuto);
    assert_true(!IsFlesh(0) && IsFlesh(1));
    assert_int_equal(surface.report.leftOutCount, 0);
    assert_true(surface.report.volume > 0);
}

static void HalvesOfABodyThatMeetAtASeamAreOnePart(void** state)
{
    (void)state;
    // A box cut in two, each half on a joint of its own, with the vertices of the cut there twice.
    double middle[3] = {1, 1, 1};
    parts[partCount++] = 0;
    AddBox(&character, (double[3]){0, 0, 0}, middle);
    parts[partCount++] = character.vertexCount;
    AddBox(&character, (double[3]){1, 0, 0}, (double[3]){2, 1, 1});
    int kept = 0;
    for (int t = 0; t < character.triangleCount; ++t) {
        bool cut = true;
        for (int k = 0; k < 3; ++k) {
            cut = cut && character.positions[3 * character.triangles[3 * t + k]] == 1.0f;
        }
        if (!cut) {
            memmove(character.triangles + 3 * kept++, character.triangles + 3 * t, 3 * sizeof(int32_t));
        }
    }
    character.triangleCount = kept;
    AddRig();
    SetPart(1, 1, false);
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.componentCount, 1);
    assert_int_equal(surface.report.shellCount, 0);
    assert_true(IsFlesh(0) && IsFlesh(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(APartOnOneJointIsLeftToSkinningAndTold, Clear),
        cmocka_unit_test_teardown(TheManifestDecidesOtherwise, Clear),
        cmocka_unit_test_teardown(WhatOneJointMovesIsFlesh, Clear),
        cmocka_unit_test_teardown(ASlimeWithEyesIsFleshAndItsEyesAreNot, Clear),
        cmocka_unit_test_teardown(ARobotHasNoFleshAndSaysSo, Clear),
        cmocka_unit_test_teardown(FleshInsideArmourIsFlesh, Clear),
        cmocka_unit_test_teardown(HalvesOfABodyThatMeetAtASeamAreOnePart, Clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
