// The physique of a body from its shape: girths of a known shape, fat from the waist, clothes, and real bodies.
#include "helpers/volumes.h"
#include "volume/bones.h"
#include "volume/physique.h"

static jnaPhysique Body(double waistOverHeight)
{
    jnaPhysique p = {.human = true, .height = 1.75, .waist = 1.75 * waistOverHeight, .hip = 1};
    for (int r = 0; r < JNA_REGIONS; ++r) {
        p.freePart[r] = 1;
        p.thickness[r] = 0.05;
    }
    return p;
}

static void Judge(jnaPhysique* p, jnaBodyBuild build)
{
    jnaBodyDef body = jnaDefaultBodyDef();
    body.build = build;
    jnaPhysique_Judge(p, &body);
}

static void TheWaistSaysHowMuchFatThereIs(void** state)
{
    (void)state;
    const struct {
        double waist, fat;
        jnaBodyBuild build;
    } cases[] = {{0.42, 0.1638, jna_buildLean}, {0.5, 0.24, jna_buildAverage}, {0.62, 0.3174, jna_buildHeavy},
        {0.3, 0.14, jna_buildLean}, {1.2, 0.36, jna_buildHeavy}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        jnaPhysique p = Body(cases[i].waist);
        Judge(&p, jna_buildAuto);
        ASSERT_NEAR(p.fat, cases[i].fat, 1e-4);
        assert_int_equal(p.build, cases[i].build);
        assert_false(p.asked || p.dressed);
    }
}

static void TheManifestIsAboveTheShape(void** state)
{
    (void)state;
    jnaPhysique p = Body(0.62);
    Judge(&p, jna_buildLean);
    assert_int_equal(p.build, jna_buildLean);
    assert_true(p.asked && p.fat < 0.2);
    p = Body(0.42);
    Judge(&p, jna_buildHeavy);
    assert_int_equal(p.build, jna_buildHeavy);
    assert_true(p.fat > 0.3);
}

static void WhatIsNoPersonIsAverage(void** state)
{
    (void)state;
    jnaPhysique p = Body(0.9);
    jnaNotes notes = {0};
    p.human = false;
    Judge(&p, jna_buildAuto);
    assert_int_equal(p.build, jna_buildAverage);
    jnaPhysique_Tell(&p, &notes);
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.lines[0], "no standing human body"));
    jnaDestroyNotes(&notes);
}

static void ClothesAreTakenForLean(void** state)
{
    (void)state;
    jnaPhysique p = Body(0.7);
    jnaNotes notes = {0};
    p.freePart[jna_regionBelly] = 0.4;
    Judge(&p, jna_buildAuto);
    assert_true(p.dressed);
    assert_int_equal(p.build, jna_buildLean);
    jnaPhysique_Tell(&p, &notes);
    assert_non_null(strstr(notes.lines[0], "only 40 %"));
    jnaDestroyNotes(&notes);
    Judge(&p, jna_buildHeavy);
    assert_int_equal(p.build, jna_buildHeavy);
}

static jnaPhysique Find(TestVolume* test, float* depths)
{
    const jnaBodyDef body = jnaDefaultBodyDef();
    jnaAnatomy anatomy = {0};
    jnaPhysique p = {0};
    jnError error = {0};
    CarryTestWeights(test);
    if (jnaVolume_PlaceBones(&test->volume, &test->character, NULL, NULL, NULL, &error) != jn_ok ||
        jnaFindAnatomy(&test->character, &test->volume, &anatomy, &error) != jn_ok ||
        jnaFindPhysique(&test->volume, &test->character, &anatomy, &body, &p, depths, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    jnaDestroyAnatomy(&anatomy);
    return p;
}

// A block has no parts of a body; its depths are distances to the nodes that its joints hold.
static void DepthsAreDistancesToTheBone(void** state)
{
    (void)state;
    const double size[3] = {1, 0.4, 0.4};
    TestVolume test = MakeBlock(20, 8, 8, size, 0, 4);
    const jnaVolume* v = &test.volume;
    float* depths = calloc((size_t)test.character.vertexCount, sizeof(float));
    jnaPhysique p = Find(&test, depths);
    assert_false(p.human);
    ASSERT_NEAR(p.volume, 0.16, 1e-9);
    int loose = 0;
    for (int i = 0; i < test.character.vertexCount; ++i) {
        double least = 1e9;
        for (int n = 0; n < v->nodeCount; ++n) {
            double square = 0;
            for (int k = 0; k < 3; ++k) {
                square += pow(v->nodes[3 * n + k] - (double)test.character.positions[3 * i + k], 2);
            }
            least = v->heldBy[n] >= 0 ? fmin(least, square) : least;
        }
        loose += depths[i] > 0.0f;
        assert_true(depths[i] == 0.0f || fabs((double)depths[i] - sqrt(least)) < 1e-6);
    }
    assert_true(loose > test.character.vertexCount / 2);
    ASSERT_NEAR(p.freePart[jna_regionOther], (double)loose / test.character.vertexCount, 1e-9);
    free(depths);
    DestroyTestVolume(&test);
}

static void TheHeavyManIsHeavy(void** state)
{
    (void)state;
    TestVolume test = MakeBodyVolume(NULL);
    jnaPhysique p = Find(&test, NULL);
    assert_true(p.human && !p.dressed);
    assert_int_equal(p.build, jna_buildHeavy);
    // Girths that a tape gives, within the rays of a section.
    assert_in_range((int)(1000 * p.waist), 1050, 1200);
    assert_in_range((int)(1000 * p.thigh), 570, 680);
    assert_in_range((int)(1e6 * p.volume), 96000, 106000);
    assert_true(p.thickness[jna_regionBelly] > p.thickness[jna_regionThigh]);
    assert_true(p.thickness[jna_regionThigh] > p.thickness[jna_regionCalf]);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheWaistSaysHowMuchFatThereIs),
        cmocka_unit_test(TheManifestIsAboveTheShape),
        cmocka_unit_test(WhatIsNoPersonIsAverage),
        cmocka_unit_test(ClothesAreTakenForLean),
        cmocka_unit_test(DepthsAreDistancesToTheBone),
        cmocka_unit_test(TheHeavyManIsHeavy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
