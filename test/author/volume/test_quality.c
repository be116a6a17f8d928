// Measuring tetrahedra and improving them while the boundary stays.
#include "helpers/small_surface.h"

static void ARegularTetrahedronHasOneAngle(void** state)
{
    (void)state;
    const double nodes[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1, 9, 9, 9};
    const int32_t corners[] = {0, 1, 2, 3}, turned[] = {0, 2, 1, 3};
    const int32_t* right = jnaVolume6(nodes, nodes + 3, nodes + 6, nodes + 9) > 0 ? corners : turned;
    const int32_t* wrong = right == corners ? turned : corners;
    jnaMeshQuality q = jnaMeasureMesh(5, nodes, 1, right);
    ASSERT_NEAR(q.smallestAngle, acos(1.0 / 3) * JNA_DEGREES, 1e-12);
    ASSERT_NEAR(q.largestAngle, acos(1.0 / 3) * JNA_DEGREES, 1e-12);
    ASSERT_NEAR(q.volume, 8.0 / 3, 1e-14);
    assert_int_equal(q.histogram[7], 6);
    assert_int_equal(q.orphanCount, 1);
    assert_int_equal(q.invertedCount, 0);
    q = jnaMeasureMesh(4, nodes, 1, wrong);
    assert_int_equal(q.invertedCount, 1);
    assert_int_equal(q.orphanCount, 0);
    ASSERT_NEAR(q.smallestAngle, 0, 0);
    ASSERT_NEAR(q.volume, -8.0 / 3, 1e-14);
}

static void AThinTetrahedronKeepsItsSmallAngle(void** state)
{
    (void)state;
    // Over the edge of a right triangle, raised by h: an angle of atan(h).
    for (double h = 1e-1; h > 1e-9; h *= 0.1) {
        const double nodes[] = {0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, h};
        const int32_t corners[] = {0, 1, 2, 3}, turned[] = {0, 2, 1, 3};
        bool right = jnaVolume6(nodes, nodes + 3, nodes + 6, nodes + 9) > 0;
        jnaMeshQuality q = jnaMeasureMesh(4, nodes, 1, right ? corners : turned);
        ASSERT_NEAR(q.smallestAngle, atan(h) * JNA_DEGREES, 1e-9 * atan(h) * JNA_DEGREES);
    }
}

// A lattice of cubes in six tetrahedra each, with the inner nodes moved at random.
static jnaMesh Jumble(int side, double way)
{
    jnaMesh mesh = {0};
    Random random = {11};
    for (int n = 0; n < (side + 1) * (side + 1) * (side + 1); ++n) {
        int at[3] = {n % (side + 1), n / (side + 1) % (side + 1), n / (side + 1) / (side + 1)};
        bool inner = true;
        double p[3];
        for (int i = 0; i < 3; ++i) {
            inner = inner && at[i] > 0 && at[i] < side;
            p[i] = at[i];
        }
        for (int i = 0; i < 3 && inner; ++i) {
            p[i] += Uniform(&random, -way, way);
        }
        assert_true(jnaMesh_AddNode(&mesh, p));
    }
    static const int paths[6][2] = {{1, 2}, {2, 1}, {1, 4}, {4, 1}, {2, 4}, {4, 2}};
    for (int cell = 0; cell < side * side * side; ++cell) {
        int at[3] = {cell % side, cell / side % side, cell / side / side}, corner[8];
        for (int k = 0; k < 8; ++k) {
            corner[k] = at[0] + (k & 1) + (side + 1) * (at[1] + (k >> 1 & 1) + (side + 1) * (at[2] + (k >> 2)));
        }
        for (int t = 0; t < 6; ++t) {
            int32_t c[4] = {corner[0], corner[paths[t][0]], corner[paths[t][0] | paths[t][1]], corner[7]};
            const double* x = mesh.nodes;
            bool turn = jnaVolume6(x + 3 * c[0], x + 3 * c[1], x + 3 * c[2], x + 3 * c[3]) < 0;
            assert_true(jnaMesh_AddTetrahedron(&mesh, c[0], c[turn ? 2 : 1], c[turn ? 1 : 2], c[3]));
        }
    }
    return mesh;
}

static void ImprovementKeepsTheBoundaryAndRaisesTheSmallestAngle(void** state)
{
    (void)state;
    jnaMesh mesh = Jumble(6, 0.36);
    int facesBefore, facesAfter, nodes = mesh.nodeCount;
    jnaArena arena = {0};
    int32_t* before = jnaListBoundary(&mesh, &facesBefore, &arena);
    double* places = malloc(3 * sizeof(double) * (size_t)nodes);
    memcpy(places, mesh.nodes, 3 * sizeof(double) * (size_t)nodes);
    jnaMeshQuality first = jnaMeasureMesh(mesh.nodeCount, mesh.nodes, mesh.tetrahedronCount, mesh.tetrahedra);
    assert_int_equal(first.invertedCount, 0);
    assert_true(first.belowFive > 0);
    // Nothing is renumbered below this count.
    assert_int_equal(jnaImproveMesh(&mesh, 0, NULL), jn_ok);
    jnaMeshQuality last = jnaMeasureMesh(mesh.nodeCount, mesh.nodes, mesh.tetrahedronCount, mesh.tetrahedra);
    assert_int_equal(last.belowFive, 0);
    assert_true(last.smallestAngle > 8);
    assert_int_equal(last.invertedCount, 0);
    assert_int_equal(last.orphanCount, 0);
    ASSERT_NEAR(last.volume, 6 * 6 * 6, 1e-9);
    int32_t* after = jnaListBoundary(&mesh, &facesAfter, &arena);
    assert_int_equal(facesBefore, facesAfter);
    // The same faces: each keeps its three places, so the sum over faces of any function of them is the same.
    double sums[2] = {0};
    for (int f = 0; f < facesBefore; ++f) {
        for (int side = 0; side < 2; ++side) {
            const int32_t* c = (side == 0 ? before : after) + 3 * f;
            const double* x = side == 0 ? places : mesh.nodes;
            double product = 1;
            for (int k = 0; k < 3; ++k) {
                product *= 1 + x[3 * c[k]] + 7.3 * x[3 * c[k] + 1] + 53.1 * x[3 * c[k] + 2];
            }
            sums[side] += sin(product);
        }
    }
    ASSERT_NEAR(sums[1], sums[0], 1e-6);
    free(places);
    jnaReleaseArena(&arena);
    jnaDestroyMesh(&mesh);
}

static void WhatTheSurfaceForcesIsListed(void** state)
{
    (void)state;
    // A wedge of two degrees: one tetrahedron, nothing to improve.
    jnaMesh mesh = {0};
    const double points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 1}, {0.5, tan(2 / JNA_DEGREES), 1}};
    for (int k = 0; k < 4; ++k) {
        assert_true(jnaMesh_AddNode(&mesh, points[k]));
    }
    bool turn = jnaVolume6(points[0], points[1], points[2], points[3]) < 0;
    assert_true(jnaMesh_AddTetrahedron(&mesh, 0, turn ? 2 : 1, turn ? 1 : 2, 3));
    assert_int_equal(jnaImproveMesh(&mesh, 4, NULL), jn_ok);
    jnaVolumeReport report = {0};
    assert_int_equal(jnaExplainSlivers(&mesh, &report, NULL), jn_ok);
    assert_int_equal(report.forcedCount, 1);
    assert_int_equal(report.unforcedCount, 0);
    ASSERT_NEAR(report.forced[0].angle, 2, 1e-9);
    ASSERT_NEAR(report.forced[0].surfaceAngle, report.forced[0].angle, 0.5);
    jnaDestroyMesh(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ARegularTetrahedronHasOneAngle),
        cmocka_unit_test(AThinTetrahedronKeepsItsSmallAngle),
        cmocka_unit_test(ImprovementKeepsTheBoundaryAndRaisesTheSmallestAngle),
        cmocka_unit_test(WhatTheSurfaceForcesIsListed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
