// Parts that hardly bend are pieces, sheets follow the flesh, what a person marked is what he says; the rest is flesh.
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

static int EndOf(int part)
{
    return part + 1 < partCount ? parts[part + 1] : character.vertexCount;
}

// A part on one joint, or bending from one to the other along x.
static void SetPart(int part, int joint, bool bends)
{
    float low = HUGE_VALF, high = -HUGE_VALF;
    for (int v = parts[part]; v < EndOf(part); ++v) {
        low = fminf(low, character.positions[3 * v]);
        high = fmaxf(high, character.positions[3 * v]);
    }
    for (int v = parts[part]; v < EndOf(part); ++v) {
        float share = fmaxf(high - low, 1e-6f);
        share = (character.positions[3 * v] - low) / share;
        Follow(&character, v, joint, bends ? share : 1.0f, 1 - joint);
    }
}

// The same weights all over it.
static void SetEven(int part, float weight)
{
    for (int v = parts[part]; v < EndOf(part); ++v) {
        Follow(&character, v, 0, weight, 1);
    }
}

static void Mark(int part, jnaMeshRole role)
{
    character.marks = character.marks != NULL ? character.marks : calloc((size_t)character.vertexCount, 1);
    memset(character.marks + parts[part], JNA_MARK(role), (size_t)(EndOf(part) - parts[part]));
}

// A tube around the x axis, open at both ends.
static void AddTube(double from, double to, double radius)
{
    enum { RINGS = 9, SEGMENTS = 16 };
    int first = character.vertexCount;
    parts[partCount++] = first;
    for (int i = 0; i < RINGS * SEGMENTS; ++i) {
        double angle = 2 * JNA_PI * (i % SEGMENTS) / SEGMENTS;
        AddVertex(
            &character, from + (to - from) * (i / SEGMENTS) / (RINGS - 1), radius * cos(angle), radius * sin(angle));
    }
    for (int i = 0; i < (RINGS - 1) * SEGMENTS; ++i) {
        int a = first + i, b = first + i / SEGMENTS * SEGMENTS + (i + 1) % SEGMENTS;
        AddTriangle(&character, a, b, b + SEGMENTS);
        AddTriangle(&character, a, b + SEGMENTS, a + SEGMENTS);
    }
}

static jnaSkinKind KindOf(int part)
{
    return (jnaSkinKind)surface.kinds[parts[part]];
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

static void APartOnOneJointIsAPieceAndTold(void** state)
{
    (void)state;
    AddThree();
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.shellCount, 1);
    assert_true(IsFlesh(0) && !IsFlesh(1) && IsFlesh(2));
    assert_true(HasNote(&notes, "hardly bends and moves as one piece: 1 of other; 2 taken for flesh"));
    assert_int_equal(KindOf(0), jna_skinFlesh);
    assert_int_equal(KindOf(1), jna_skinPiece);
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

// The body bends; whatever comes next is on or around it.
static void AddLimb(void)
{
    AddPart(0, 1);
    for (int v = 0; v < character.vertexCount; ++v) {
        character.positions[3 * v] *= 3; // long
    }
}

static void APlateOnALimbThatBendsIsAPiece(void** state)
{
    (void)state;
    AddLimb();
    parts[partCount++] = character.vertexCount;
    AddBox(&character, (double[3]){-0.4, 0.9, -0.4}, (double[3]){0.4, 1.2, 0.4});
    AddRig();
    SetPart(0, 1, true);
    SetEven(1, 0.5f);
    Create(jna_shellsAuto);
    assert_int_equal(KindOf(0), jna_skinFlesh);
    assert_int_equal(KindOf(1), jna_skinPiece);
    assert_false(IsFlesh(1));
}

static void AnEyeballIsAPieceHoweverItIsPainted(void** state)
{
    (void)state;
    AddLimb();
    AddPart(2.9, 0.1);
    AddPart(4, 0.5); // as badly painted, but large
    AddRig();
    SetPart(0, 1, true);
    SetPart(1, 1, true);
    SetPart(2, 1, true);
    Create(jna_shellsAuto);
    assert_int_equal(KindOf(1), jna_skinPiece);
    assert_int_equal(KindOf(2), jna_skinFlesh);
}

static void ASkirtOverALimbIsASheetAndTheLimbIsFlesh(void** state)
{
    (void)state;
    AddLimb();
    AddTube(-2, 2, 1.15);
    AddRig();
    SetPart(0, 1, true);
    SetPart(1, 1, true);
    Create(jna_shellsAuto);
    assert_int_equal(KindOf(0), jna_skinFlesh);
    assert_int_equal(KindOf(1), jna_skinSheet);
    assert_true(HasNote(&notes, "1 part is a sheet"));
}

static void ATubeWithNothingUnderItIsFlesh(void** state)
{
    (void)state;
    AddTube(-2, 2, 1);
    AddPart(4, 0.9);
    AddRig();
    SetPart(0, 1, true);
    SetPart(1, 1, true);
    Create(jna_shellsAuto);
    assert_int_equal(KindOf(0), jna_skinFlesh);
    assert_int_equal(surface.report.shellCount, 0);
}

static void AThinPlateThatBendsIsASheet(void** state)
{
    (void)state;
    AddLimb();
    parts[partCount++] = character.vertexCount;
    AddBox(&character, (double[3]){-2, 1.1, -1}, (double[3]){2, 1.11, 1});
    AddRig();
    SetPart(0, 1, true);
    SetPart(1, 1, true);
    Create(jna_shellsAuto);
    assert_int_equal(KindOf(1), jna_skinSheet);
}

static void WhatAPersonMarkedIsAboveWhatIsRecognised(void** state)
{
    (void)state;
    AddThree();
    Mark(0, jna_meshRigid);
    Mark(1, jna_meshFlesh);
    Mark(2, jna_meshFollows);
    Create(jna_shellsAuto);
    assert_int_equal(KindOf(0), jna_skinRigid);
    assert_int_equal(KindOf(1), jna_skinFlesh);
    assert_int_equal(KindOf(2), jna_skinSheet);
    assert_true(!IsFlesh(0) && IsFlesh(1) && !IsFlesh(2));
}

static void ClothOfABodyInOneMeshIsCutOutAndTheFleshClosed(void** state)
{
    (void)state;
    AddLimb();
    AddRig();
    SetPart(0, 1, true);
    Create(jna_shellsAuto);
    double whole = surface.report.volume;
    character.marks = calloc((size_t)character.vertexCount, 1);
    for (int v = 0; v < character.vertexCount; ++v) {
        bool cloth = character.positions[3 * v] > 1, hard = character.positions[3 * v] < -2;
        character.marks[v] = cloth ? JNA_MARK(jna_meshFollows) : hard ? JNA_MARK(jna_meshRigid) : 0;
    }
    Create(jna_shellsAuto);
    assert_int_equal(surface.report.holeCount, 1);
    assert_true(surface.report.volume < 0.9 * whole && surface.report.volume > 0.5 * whole);
    for (int v = 0; v < character.vertexCount; ++v) {
        if (character.positions[3 * v] > 2) {
            assert_int_equal(surface.kinds[v], jna_skinSheet);
            assert_int_equal(surface.vertexOf[v], -1);
        }
        if (character.marks[v] == JNA_MARK(jna_meshRigid)) { // its flesh is there, and held
            assert_int_equal(surface.kinds[v], jna_skinRigid);
            assert_true(surface.vertexOf[v] >= 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(APartOnOneJointIsAPieceAndTold, Clear),
        cmocka_unit_test_teardown(TheManifestDecidesOtherwise, Clear),
        cmocka_unit_test_teardown(WhatOneJointMovesIsFlesh, Clear),
        cmocka_unit_test_teardown(ASlimeWithEyesIsFleshAndItsEyesAreNot, Clear),
        cmocka_unit_test_teardown(ARobotHasNoFleshAndSaysSo, Clear),
        cmocka_unit_test_teardown(FleshInsideArmourIsFlesh, Clear),
        cmocka_unit_test_teardown(APlateOnALimbThatBendsIsAPiece, Clear),
        cmocka_unit_test_teardown(AnEyeballIsAPieceHoweverItIsPainted, Clear),
        cmocka_unit_test_teardown(ASkirtOverALimbIsASheetAndTheLimbIsFlesh, Clear),
        cmocka_unit_test_teardown(ATubeWithNothingUnderItIsFlesh, Clear),
        cmocka_unit_test_teardown(AThinPlateThatBendsIsASheet, Clear),
        cmocka_unit_test_teardown(WhatAPersonMarkedIsAboveWhatIsRecognised, Clear),
        cmocka_unit_test_teardown(ClothOfABodyInOneMeshIsCutOutAndTheFleshClosed, Clear),
        cmocka_unit_test_teardown(HalvesOfABodyThatMeetAtASeamAreOnePart, Clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
