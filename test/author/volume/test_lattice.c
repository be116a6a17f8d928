// The lattice mesh: volume, angles, pieces that do not stick together, a skin that comes out where it was.
#include "helpers/small_surface.h"

#include <omp.h>

static jnError error;

static jnaVolumeDef LatticeDef(double edge)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.edge = edge;
    return def;
}

// Number of pieces that hold together by common nodes.
static int CountPieces(const jnaVolume* v)
{
    int32_t* piece = malloc((size_t)v->nodeCount * sizeof(*piece));
    for (int n = 0; n < v->nodeCount; ++n) {
        piece[n] = n;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            const int32_t* c = v->tetrahedra + 4 * t;
            int32_t least = piece[c[0]];
            for (int k = 1; k < 4; ++k) {
                least = piece[c[k]] < least ? piece[c[k]] : least;
            }
            for (int k = 0; k < 4; ++k) {
                changed |= piece[c[k]] != least;
                piece[c[k]] = least;
            }
        }
    }
    int count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        count += piece[n] == n;
    }
    free(piece);
    return count;
}

static void ASphereIsFilledWithGoodAngles(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    jnaVolumeDef def = LatticeDef(0);
    AddSphere(&character, 0, 0, 0, 1);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_ok);
    assert_int_equal(v.method, jna_volumeLattice);
    double expected = EnclosedVolume(&character);
    ASSERT_NEAR(report.after.volume, expected, 0.02 * expected);
    assert_true(report.after.smallestAngle > 10);
    assert_true(report.after.largestAngle < 165);
    assert_int_equal(report.after.invertedCount, 0);
    assert_int_equal(report.after.orphanCount, 0);
    ASSERT_NEAR(v.nodeCount, 7400, 1500);
    ASSERT_AT_MOST(GreatestSkinError(&character, &v), 1e-12);
    assert_int_equal(CountPieces(&v), 1);
    jnaDestroyVolume(&v);
    jnaDestroyCharacter(&character);
}

static void TheNumberOfNodesCanBeAimedAt(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolumeDef def = LatticeDef(0);
    AddSphere(&character, 0, 0, 0, 1);
    for (int nodes = 1000; nodes <= 9000; nodes *= 3) {
        jnaVolume v;
        def.nodes = nodes;
        assert_int_equal(jnaCreateVolume(&character, &def, &v, NULL, NULL, &error), jn_ok);
        ASSERT_NEAR(v.nodeCount, nodes, 0.6 * nodes);
        jnaVolumeForecast forecast;
        assert_int_equal(jnaForeseeVolume(&character, &def, &forecast, &error), jn_ok);
        assert_int_equal(forecast.method, jna_volumeLattice);
        ASSERT_NEAR(forecast.nodes, v.nodeCount, 0.4 * v.nodeCount);
        jnaDestroyVolume(&v);
    }
    jnaDestroyCharacter(&character);
}

static void LimbsThatNearlyTouchAreNotGlued(void** state)
{
    (void)state;
    // Two boxes with a gap of a fiftieth of the lattice, in many places of it.
    for (int i = 0; i < 5; ++i) {
        jnaCharacter character = {0};
        jnaVolume v;
        jnaVolumeReport report;
        jnaVolumeDef def = LatticeDef(0.1);
        double gap = 0.013 * i, half = 0.001;
        AddBox(&character, (double[3]){-0.5, 0, 0}, (double[3]){gap - half, 0.5, 0.5});
        AddBox(&character, (double[3]){gap + half, 0, 0}, (double[3]){0.5, 0.5, 0.5});
        assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_ok);
        assert_int_equal(CountPieces(&v), 2);
        // A skin hangs on its own box.
        for (int s = 0; s < v.vertexCount; ++s) {
            double middle = 0;
            for (int k = 0; k < 4; ++k) {
                middle += 0.25 * v.nodes[3 * v.tetrahedra[4 * v.skinTetrahedra[s] + k]];
            }
            assert_int_equal(middle < gap, s < 8);
        }
        double expected = EnclosedVolume(&character);
        ASSERT_NEAR(report.after.volume, expected, 0.08 * expected);
        assert_true(report.after.smallestAngle > 5);
        ASSERT_AT_MOST(GreatestSkinError(&character, &v), 1e-12);
        jnaDestroyVolume(&v);
        jnaDestroyCharacter(&character);
    }
}

static void OverlappingShellsAreOneVolume(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    jnaVolumeDef def = LatticeDef(0.1);
    def.method = jna_volumeAuto;
    AddSphere(&character, 0, 0, 0, 1);
    AddSphere(&character, 0.8, 0, 0, 1);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_ok);
    assert_int_equal(v.method, jna_volumeLattice);
    assert_non_null(strstr(report.reason, "faces cross"));
    assert_int_equal(CountPieces(&v), 1);
    // Two spheres less the lens: its height is 0.6 on each side.
    double pi = 3.14159265358979323846, lens = 2 * pi * 0.6 * 0.6 * (3 - 0.6) / 3;
    ASSERT_NEAR(report.after.volume, 8 * pi / 3 - lens, 0.04 * 8 * pi / 3);
    jnaDestroyVolume(&v);
    jnaDestroyCharacter(&character);
}

static void AnOpenSurfaceIsFilledToItsCap(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    jnaVolumeDef def = LatticeDef(0.12);
    AddSphere(&character, 0, 0, 0, 1);
    double whole = EnclosedVolume(&character);
    int kept = 0;
    for (int t = 0; t < character.triangleCount; ++t) {
        if (character.triangles[3 * t] != 0) {
            memmove(character.triangles + 3 * kept++, character.triangles + 3 * t, 3 * sizeof(int32_t));
        }
    }
    character.triangleCount = kept;
    assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_ok);
    ASSERT_NEAR(report.after.volume, whole, 0.03 * whole);
    assert_int_equal(v.skinTetrahedra[0], -1);
    jnaDestroyVolume(&v);
    jnaDestroyCharacter(&character);
}

static void TheSameBytesForAnyNumberOfThreads(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v[2];
    jnaVolumeDef def = LatticeDef(0.1);
    AddSphere(&character, 0, 0, 0, 1);
    AddSphere(&character, 1.5, 0, 0, 0.8);
    int before = omp_get_max_threads();
    for (int i = 0; i < 2; ++i) {
        omp_set_num_threads(1 + 2 * i);
        assert_int_equal(jnaCreateVolume(&character, &def, &v[i], NULL, NULL, &error), jn_ok);
    }
    omp_set_num_threads(before);
    assert_int_equal(v[0].nodeCount, v[1].nodeCount);
    assert_int_equal(v[0].tetrahedronCount, v[1].tetrahedronCount);
    assert_memory_equal(v[0].nodes, v[1].nodes, 3 * sizeof(double) * (size_t)v[0].nodeCount);
    assert_memory_equal(v[0].tetrahedra, v[1].tetrahedra, 4 * sizeof(int32_t) * (size_t)v[0].tetrahedronCount);
    assert_memory_equal(v[0].skinTetrahedra, v[1].skinTetrahedra, sizeof(int32_t) * (size_t)v[0].vertexCount);
    assert_memory_equal(v[0].skinWeights, v[1].skinWeights, 4 * sizeof(double) * (size_t)v[0].vertexCount);
    jnaDestroyVolume(&v[0]);
    jnaDestroyVolume(&v[1]);
    jnaDestroyCharacter(&character);
}

static void AResolutionThatCannotWorkIsALine(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeDef def = LatticeDef(1e-4);
    AddSphere(&character, 0, 0, 0, 1);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, NULL, NULL, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "too short"));
    def.edge = 50;
    assert_int_equal(jnaCreateVolume(&character, &def, &v, NULL, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "smaller --edge"));
    jnaDestroyCharacter(&character);
}

static void TheWindingNumberIsNearlyThatOfAllTriangles(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaSurface surface;
    jnaTree tree;
    AddSphere(&character, 0, 0, 0, 1);
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, NULL, NULL), jn_ok);
    assert_int_equal(jnaCreateTree(surface.positions, surface.triangleCount, surface.triangles, &tree, NULL), jn_ok);
    Random random = {5};
    for (int i = 0; i < 3000; ++i) {
        double p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = Uniform(&random, -2, 2);
        }
        double r = jnaLength(p);
        if (r < 0.95 || r > 1) {
            ASSERT_NEAR(jnaTree_Winding(&tree, p), r < 1 ? 1 : 0, 0.05);
        }
    }
    jnaDestroyTree(&tree);
    jnaDestroySurface(&surface);
    jnaDestroyCharacter(&character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASphereIsFilledWithGoodAngles),
        cmocka_unit_test(TheNumberOfNodesCanBeAimedAt),
        cmocka_unit_test(LimbsThatNearlyTouchAreNotGlued),
        cmocka_unit_test(OverlappingShellsAreOneVolume),
        cmocka_unit_test(AnOpenSurfaceIsFilledToItsCap),
        cmocka_unit_test(TheSameBytesForAnyNumberOfThreads),
        cmocka_unit_test(AResolutionThatCannotWorkIsALine),
        cmocka_unit_test(TheWindingNumberIsNearlyThatOfAllTriangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
