// Crossing triangles: found exactly, and small crossings undone by small moves.
#include "character/import.h"
#include "helpers/small_surface.h"

static bool Cross(const double* points, const int32_t* a, const int32_t* b)
{
    bool one = jnaTrianglesCross(points, a, b);
    assert_int_equal(one, jnaTrianglesCross(points, b, a));
    return one;
}

static void TrianglesInSpace(void** state)
{
    (void)state;
    // Triangle 0 1 2 in the plane z = 0; others by number.
    const double points[] = {0, 0, 0, 4, 0, 0, 0, 4, 0, /* 3 */ 1, 1, -1, 1, 1, 1, 9, 9, 0, /* 6 */ 1, 1, 0.5, 1, 1, 2,
        2, 1, 1, /* 9 */ 1, 1, 0, -1, -1, 0, 5, 5, 0};
    const int32_t flat[] = {0, 1, 2}, through[] = {3, 4, 5}, above[] = {6, 7, 8}, touching[] = {9, 7, 8};
    assert_true(Cross(points, flat, through));
    assert_false(Cross(points, flat, above));
    assert_true(Cross(points, flat, touching));
    // On a common vertex: the far edge decides.
    const int32_t beside[] = {0, 6, 10}, pierced[] = {0, 3, 4};
    assert_false(Cross(points, flat, beside));
    assert_true(Cross(points, flat, pierced));
    // On a common edge: only where folded over.
    const int32_t folded[] = {1, 0, 9}, opened[] = {1, 0, 10}, raised[] = {1, 0, 6};
    assert_true(Cross(points, flat, folded));
    assert_false(Cross(points, flat, opened));
    assert_false(Cross(points, flat, raised));
}

static void TheSignOfAnOrientationIsExact(void** state)
{
    (void)state;
    // Four points of one plane with coordinates that are no round numbers: doubles alone give either sign.
    Random random = {7};
    for (int i = 0; i < 2000; ++i) {
        double a[3], b[3], c[3], d[3];
        for (int k = 0; k < 3; ++k) {
            a[k] = jnaRoundToFloat(Uniform(&random, 0.5, 1));
            b[k] = jnaRoundToFloat(Uniform(&random, 0.5, 1));
            c[k] = jnaRoundToFloat(Uniform(&random, 0.5, 1));
            d[k] = b[k] + c[k] - a[k];
        }
        assert_int_equal(jnaOrient(a, b, c, d), 0);
        double up[3] = {d[0], d[1], d[2] + 0x1p-22};
        double nx[3];
        jnaAreaVector(a, b, c, nx);
        assert_int_equal(jnaOrient(a, b, c, up), nx[2] > 0 ? 1 : -1);
    }
}

static void TheTreeFindsWhatAllPairsFind(void** state)
{
    (void)state;
    enum { COUNT = 120 };
    double points[9 * COUNT];
    int32_t triangles[3 * COUNT];
    Random random = {3};
    for (int t = 0; t < COUNT; ++t) {
        for (int i = 0; i < 3; ++i) {
            double center = Uniform(&random, 0, 1);
            for (int k = 0; k < 3; ++k) {
                points[9 * t + 3 * k + i] = jnaRoundToFloat(center + Uniform(&random, -0.2, 0.2));
            }
            triangles[3 * t + i] = 3 * t + i;
        }
    }
    int expected = 0;
    for (int a = 0; a < COUNT; ++a) {
        for (int b = a + 1; b < COUNT; ++b) {
            expected += Cross(points, triangles + 3 * a, triangles + 3 * b);
        }
    }
    jnaTree tree;
    jnaCrossings crossings;
    assert_int_equal(jnaCreateTree(points, COUNT, triangles, &tree, NULL), jn_ok);
    assert_int_equal(jnaFindCrossings(&tree, COUNT, &crossings, NULL), jn_ok);
    assert_true(expected > 20);
    assert_int_equal(crossings.count, expected);
    jnaDestroyCrossings(&crossings);
    jnaDestroyTree(&tree);
}

// A vertex of the sphere's equator pushed through the opposite side.
static void DeepCrossingsAreLeftAlone(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaSurface surface;
    bool repaired = true;
    AddSphere(&character, 0, 0, 0, 1);
    int vertex = 1 + (SPHERE_RINGS / 2 - 1) * SPHERE_SECTORS;
    character.positions[3 * vertex] = -1.5F;
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, NULL, NULL), jn_ok);
    double before = surface.positions[3 * vertex];
    assert_int_equal(jnaRepairCrossings(&surface, &repaired, NULL), jn_ok);
    assert_false(repaired);
    assert_true(surface.report.crossingCount > 0);
    ASSERT_NEAR(surface.positions[3 * vertex], before, 0);
    jnaDestroySurface(&surface);
    jnaDestroyCharacter(&character);
}

// Two spheres that overlap by half a thousandth.
static void AShallowOverlapIsParted(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaSurface surface;
    bool repaired = false;
    AddSphere(&character, 0, 0, 0, 1);
    AddSphere(&character, 0, 1.9995, 0, 1);
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, NULL, NULL), jn_ok);
    assert_int_equal(jnaRepairCrossings(&surface, &repaired, NULL), jn_ok);
    assert_true(surface.report.crossingCount > 0);
    assert_true(repaired);
    assert_true(surface.report.greatestMove > 0);
    ASSERT_AT_MOST(surface.report.greatestMove, 0.02);
    jnaTree tree;
    jnaCrossings crossings;
    assert_int_equal(jnaCreateTree(surface.positions, surface.triangleCount, surface.triangles, &tree, NULL), jn_ok);
    assert_int_equal(jnaFindCrossings(&tree, surface.triangleCount, &crossings, NULL), jn_ok);
    assert_int_equal(crossings.count, 0);
    jnaDestroyCrossings(&crossings);
    jnaDestroyTree(&tree);
    jnaDestroySurface(&surface);
    jnaDestroyCharacter(&character);
}

static void TheBodyCrossesItselfEightTimes(void** state)
{
    (void)state;
    NEEDS_DATA("body.glb");
    jnaImportDef def = jnaDefaultImportDef();
    jnaCharacter character;
    jnaClipList clips;
    jnaSurface surface;
    bool repaired;
    assert_int_equal(jnaImportCharacter(DATA "body.glb", &def, &character, &clips, NULL, NULL, NULL), jn_ok);
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, NULL, NULL), jn_ok);
    assert_int_equal(jnaRepairCrossings(&surface, &repaired, NULL), jn_ok);
    assert_int_equal(surface.report.crossingCount, 8);
    assert_true(repaired);
    ASSERT_AT_MOST(surface.report.greatestMove, 2e-4);
    ASSERT_AT_MOST(surface.report.movedCount, 58);
    // Four at each corner of the mouth, left and right alike.
    int left = 0;
    for (int c = 0; c < 8; ++c) {
        const double* p = surface.positions + 3 * surface.triangles[3 * surface.report.crossings[c][0]];
        left += p[0] > 0;
        assert_true(p[1] > 1.4 && p[1] < 1.7 && fabs(p[0]) < 0.06);
    }
    assert_int_equal(left, 4);
    jnaDestroySurface(&surface);
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TrianglesInSpace),
        cmocka_unit_test(TheSignOfAnOrientationIsExact),
        cmocka_unit_test(TheTreeFindsWhatAllPairsFind),
        cmocka_unit_test(DeepCrossingsAreLeftAlone),
        cmocka_unit_test(AShallowOverlapIsParted),
        cmocka_unit_test(TheBodyCrossesItselfEightTimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
