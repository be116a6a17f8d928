// Material by joint and by depth: who gets which, and what the numbers are.
#include "helpers/volumes.h"
#include "volume/volume_internal.h"
#include "workspace/manifest.h"

static const double size[3] = {1, 0.4, 0.4};

static TestVolume Weighted(void)
{
    TestVolume test = MakeBlock(20, 8, 8, size, 0.1, 4);
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    return test;
}

static void Middle(const jnaVolume* v, int t, double p[3])
{
    p[0] = p[1] = p[2] = 0;
    for (int k = 0; k < 12; ++k) {
        p[k % 3] += v->nodes[3 * v->tetrahedra[4 * t + k / 3] + k % 3] / 4;
    }
}

static void WithoutAManifestAllIsFlesh(void** state)
{
    (void)state;
    TestVolume test = Weighted();
    jnError error;
    assert_int_equal(jnaVolume_FillMaterials(&test.volume, &test.character, NULL, &error), jn_ok);
    assert_int_equal(test.volume.materialCount, 1);
    assert_true(test.volume.materials[0].young == 30000 && test.volume.materials[0].poisson == 0.45 &&
                test.volume.materials[0].density == 1000);
    for (int t = 0; t < test.volume.tetrahedronCount; ++t) {
        assert_int_equal(test.volume.regions[t], 0);
    }
    DestroyTestVolume(&test);
}

static void AJointsFleshIsItsOwn(void** state)
{
    (void)state;
    TestVolume test = Weighted();
    jnaManifest manifest = jnaDefaultManifest();
    jnaJointMaterial joints[] = {{"joint3", 2, 1.5, 0.3}, {"joint0", 0.5, 1, -1}};
    manifest.materials.joints = joints;
    manifest.materials.jointCount = 2;
    jnError error;
    assert_int_equal(jnaVolume_FillMaterials(&test.volume, &test.character, &manifest.materials, &error), jn_ok);
    assert_int_equal(test.volume.materialCount, 3);
    int counts[3] = {0};
    for (int t = 0; t < test.volume.tetrahedronCount; ++t) {
        double p[3];
        Middle(&test.volume, t, p);
        const jnaMaterial* m = &test.volume.materials[test.volume.regions[t]];
        bool third = m->young == 60000 && m->density == 1500 && m->poisson == 0.3;
        bool first = m->young == 15000 && m->density == 1000 && m->poisson == 0.45;
        counts[test.volume.regions[t]]++;
        // Joint 3 leads beyond x = 0.75, joint 0 below 0.25; half a cell either side is undecided.
        assert_true(p[0] < 0.72 || p[0] > 0.78 ? third == (p[0] > 0.75) : true);
        assert_true(p[0] < 0.22 || p[0] > 0.28 ? first == (p[0] < 0.25) : true);
    }
    assert_true(counts[0] > 0 && counts[1] > 0 && counts[2] > 0);
    joints[0].joint = "tail";
    assert_int_equal(jnaVolume_FillMaterials(&test.volume, &test.character, &manifest.materials, &error), jn_badData);
    assert_non_null(strstr(error.message, "'tail'"));
    DestroyTestVolume(&test);
}

// In a box the depth of a point is known: the nearest of six planes.
static void FatLiesUnderTheSkin(void** state)
{
    (void)state;
    TestVolume test = Weighted();
    static const double depths[] = {0.004, 0.06, 0.15, 5};
    for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]); ++d) {
        jnaManifest manifest = jnaDefaultManifest();
        jnaJointMaterial joint = {"joint0", 2, 1, 0.4};
        manifest.materials.joints = &joint;
        manifest.materials.jointCount = 1;
        manifest.materials.fatDepth = depths[d];
        jnError error;
        assert_int_equal(jnaVolume_FillMaterials(&test.volume, &test.character, &manifest.materials, &error), jn_ok);
        assert_int_equal(test.volume.materialCount, 4);
        for (int i = 0; i < 4; i += 2) { // a material and its fat twin behind it
            const jnaMaterial* m = test.volume.materials + i;
            assert_true(m[0].young == (m[0].poisson == 0.4 ? 60000 : 30000) && m[0].density == 1000);
            assert_true(m[1].young == m[0].young / 2 && m[1].density == 900 && m[1].poisson == m[0].poisson);
        }
        for (int t = 0; t < test.volume.tetrahedronCount; ++t) {
            double p[3], depth = 1e9;
            Middle(&test.volume, t, p);
            for (int i = 0; i < 3; ++i) {
                double low = i == 0 ? p[i] : p[i] + size[i] / 2;
                depth = fmin(depth, fmin(low, size[i] - low));
            }
            if (fabs(depth - depths[d]) > 1e-9) {
                assert_int_equal(test.volume.regions[t] % 2, depth < depths[d]);
            }
        }
    }
    DestroyTestVolume(&test);
}

// The belly of a body is softer than its shins, and the manifest can say otherwise.
static void RegionsHaveTheirFlesh(void** state)
{
    (void)state;
    TestVolume test = MakeFigureVolume();
    jnaVolume* v = &test.volume;
    jnaAnatomy anatomy;
    jnError error;
    CarryTestWeights(&test);
    assert_int_equal(jnaFindAnatomy(&test.character, v, &anatomy, &error), jn_ok);
    jnaRegionSetting entry = {.region = jna_regionBelly, .youngFactor = 7, .densityFactor = -1, .poisson = 0.3};
    jnaManifest manifest = jnaDefaultManifest();
    manifest.materials.regions = &entry;
    for (int set = 0; set < 2; ++set) {
        manifest.materials.regionCount = set;
        assert_int_equal(jnaVolume_FillMaterials(v, &test.character, &manifest.materials, &error), jn_ok);
        double belly = 0, shin = 0;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            double p[3];
            Middle(v, t, p);
            jnaRegion region = jnaAnatomy_Region(&anatomy, jnaTetrahedronJoint(v, t), p);
            double young = v->materials[v->regions[t]].young;
            // Stiffness changes over a few centimetres: the softest belly and the hardest shin are theirs alone.
            belly =
                region == jna_regionBelly && (set == 0 ? belly == 0 || young < belly : young > belly) ? young : belly;
            shin = region == jna_regionShin ? fmax(shin, young) : shin;
        }
        print_message("belly %.0f Pa, shin %.0f Pa\n", belly, shin);
        assert_true(set == 0 ? belly < 0.4 * shin : belly > 0.8 * 210000);
    }
    jnaDestroyAnatomy(&anatomy);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WithoutAManifestAllIsFlesh),
        cmocka_unit_test(AJointsFleshIsItsOwn),
        cmocka_unit_test(FatLiesUnderTheSkin),
        cmocka_unit_test(RegionsHaveTheirFlesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
