// Calibration: the manifest is above it, its corrections are bounded, and flesh that is held is never made softer.
#include "flesh/sag.h"
#include "helpers/volumes.h"
#include "volume/bones.h"
#include "volume/volume_internal.h"

static TestVolume Bones(void)
{
    TestVolume test = MakeFigureVolume();
    jnError error = {0};
    CarryTestWeights(&test);
    if (jnaVolume_PlaceBones(&test.volume, &test.character, NULL, NULL, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return test;
}

// Mean Young's modulus of a region, Pa.
static double YoungOf(const TestVolume* test, jnaRegion region)
{
    const jnaVolume* v = &test->volume;
    jnaAnatomy anatomy = {0};
    double sum = 0;
    int count = 0;
    assert_int_equal(jnaFindAnatomy(&test->character, v, &anatomy, NULL), jn_ok);
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        double middle[3] = {0};
        for (int k = 0; k < 12; ++k) {
            middle[k % 3] += v->nodes[3 * v->tetrahedra[4 * t + k / 3] + k % 3] / 4;
        }
        if (jnaAnatomy_Region(&anatomy, jnaTetrahedronJoint(v, t), middle) == region) {
            sum += v->materials[v->regions[t]].young;
            count++;
        }
    }
    jnaDestroyAnatomy(&anatomy);
    assert_true(count > 0);
    return sum / count;
}

static void Calibrate(TestVolume* test, const jnaMaterialsDef* def, jnaNotes* notes)
{
    jnError error = {0};
    if (jnaVolume_CalibrateMaterials(&test->volume, &test->character, def, notes, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

static void ALeanBuildIsStifferThanAHeavyOne(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    TestVolume test = Bones();
    double belly[2], thigh[2];
    for (int heavy = 0; heavy < 2; ++heavy) {
        jnaMaterialsDef def = jnaDefaultMaterialsDef();
        jnaNotes notes = {0};
        def.body.build = heavy ? jna_buildHeavy : jna_buildLean;
        Calibrate(&test, &def, &notes);
        assert_true(notes.count >= 1 && strstr(notes.lines[0], heavy ? "physique: heavy" : "physique: lean") != NULL);
        jnaDestroyNotes(&notes);
        belly[heavy] = YoungOf(&test, jna_regionBelly);
        thigh[heavy] = YoungOf(&test, jna_regionThigh);
    }
    print_message("belly %.1f and %.1f kPa, thigh %.1f and %.1f kPa\n", 1e-3 * belly[0], 1e-3 * belly[1],
        1e-3 * thigh[0], 1e-3 * thigh[1]);
    assert_true(belly[0] > 2 * belly[1] && thigh[0] > 1.2 * thigh[1]);
    DestroyTestVolume(&test);
}

static void TheManifestsRegionsStayAsTheyAre(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    TestVolume test = Bones();
    jnaMaterialsDef def = jnaDefaultMaterialsDef();
    jnaRegionSetting belly = {.region = jna_regionBelly, .youngFactor = 0.9, .densityFactor = -1, .poisson = -1};
    def.regions = &belly;
    def.regionCount = 1;
    Calibrate(&test, &def, NULL);
    double young = YoungOf(&test, jna_regionBelly); // smoothed with what is around it, and tied at the groins
    print_message("belly %.1f kPa\n", 1e-3 * young);
    assert_true(young > 18000 && young < 60000);
    DestroyTestVolume(&test);
}

// Every node of thighs and belly held, but for a few: as clothes are that hang on their bones.
static void HeldFleshIsNotMadeSofter(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    TestVolume test = Bones();
    jnaVolume* v = &test.volume;
    jnaMaterialsDef def = jnaDefaultMaterialsDef();
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] < 0 && n % 8 != 0) {
            v->heldBy[n] = 2 * v->jointCount;
            v->holdStrength[n] = 1e7f;
        }
    }
    def.calibrate = false;
    Calibrate(&test, &def, NULL);
    double before = YoungOf(&test, jna_regionThigh), belly = YoungOf(&test, jna_regionBelly);
    def.calibrate = true;
    Calibrate(&test, &def, NULL);
    print_message("thigh %.1f kPa, calibrated %.1f\n", 1e-3 * before, 1e-3 * YoungOf(&test, jna_regionThigh));
    assert_true(YoungOf(&test, jna_regionThigh) > 0.9 * before && YoungOf(&test, jna_regionBelly) > 0.9 * belly);
    DestroyTestVolume(&test);
}

static void CorrectionsAreBounded(void** state)
{
    (void)state;
    NeedsNoSanitizer();
    TestVolume test = Bones();
    jnaVolume* v = &test.volume;
    jnaMaterialsDef def = jnaDefaultMaterialsDef();
    def.calibrate = false;
    Calibrate(&test, &def, NULL);
    double before = YoungOf(&test, jna_regionBelly);
    for (int n = 0; n < v->nodeCount; ++n) { // bones that hardly hold: all sags far too much
        v->holdStrength[n] *= 1e-3f;
    }
    def.calibrate = true;
    Calibrate(&test, &def, NULL);
    double after = YoungOf(&test, jna_regionBelly);
    print_message("belly %.1f kPa, on bones that give %.1f\n", 1e-3 * before, 1e-3 * after);
    assert_true(after > 1.2 * before && after < 3.5 * before);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ALeanBuildIsStifferThanAHeavyOne),
        cmocka_unit_test(TheManifestsRegionsStayAsTheyAre),
        cmocka_unit_test(HeldFleshIsNotMadeSofter),
        cmocka_unit_test(CorrectionsAreBounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
