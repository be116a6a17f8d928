// Linear elasticity: the stiffness against the energy it comes from, modes against beam theory.
#include "helpers/volumes.h"

#include "modes/elastic.h"

#include "flesh/elements.h"

#define PI 3.141592653589793

static void SetMaterial(jnaVolume* v, double young, double poisson, double density)
{
    v->regions = calloc((size_t)v->tetrahedronCount, 1);
    v->materials = malloc(sizeof(jnaMaterial));
    v->materialCount = 1;
    v->materials[0] = (jnaMaterial){.young = young, .poisson = poisson, .density = density};
}

// Nodes at x = 0 belong to joint 0; strength 0 holds them exactly.
static void HoldEnd(jnaVolume* v, float strength)
{
    v->jointCount = 1;
    v->heldBy = malloc((size_t)v->nodeCount * sizeof(int32_t));
    v->holdStrength = malloc((size_t)v->nodeCount * sizeof(float));
    for (int n = 0; n < v->nodeCount; ++n) {
        v->heldBy[n] = v->nodes[3 * n] < 1e-9 ? 0 : -1;
        v->holdStrength[n] = strength;
    }
}

static jnaElastic* MustCreate(const jnaVolume* v)
{
    jnaElastic* elastic;
    jnError error = {0};
    if (jnaCreateElastic(v, NULL, &elastic, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return elastic;
}

// Flesh energy of one displacement gradient, from its definition.
static double FleshEnergy(const double g[9], double young, double poisson)
{
    double mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    double f[9], square = 0;
    for (int i = 0; i < 9; ++i) {
        f[i] = g[i] + (i % 4 == 0 ? 1 : 0);
        square += f[i] * f[i];
    }
    double j =
        f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) + f[2] * (f[3] * f[7] - f[4] * f[6]);
    return mu / 2 * (square - 3) - mu * (j - 1) + (lambda + mu) / 2 * (j - 1) * (j - 1);
}

// An affine displacement has the energy of the neo-Hookean flesh, to second order.
static void StiffnessIsThatOfTheFlesh(void** state)
{
    (void)state;
    TestVolume block = MakeBlock(3, 2, 2, (double[3]){0.3, 0.2, 0.1}, 0.2, 2);
    SetMaterial(&block.volume, 30000, 0.45, 1000);
    jnaElastic* elastic = MustCreate(&block.volume);
    ASSERT_NEAR(jnaElastic_TotalMass(elastic), 0.3 * 0.2 * 0.1 * 1000, 1e-12);
    size_t n = (size_t)jnaElastic_FreeCount(elastic);
    assert_int_equal(n, block.volume.nodeCount);
    double *u = malloc(3 * n * sizeof(double)), *force = malloc(3 * n * sizeof(double));
    Random random = {3};
    for (int trial = 0; trial < 5; ++trial) {
        double g[9], energy = 0;
        for (int i = 0; i < 9; ++i) {
            g[i] = Uniform(&random, -1e-4, 1e-4);
        }
        for (size_t i = 0; i < 3 * n; ++i) {
            const double* x = block.volume.nodes + 3 * (i / 3);
            u[i] = g[3 * (i % 3)] * x[0] + g[3 * (i % 3) + 1] * x[1] + g[3 * (i % 3) + 2] * x[2];
        }
        jnaElastic_Apply(elastic, u, force);
        for (size_t i = 0; i < 3 * n; ++i) {
            energy += u[i] * force[i] / 2;
        }
        double expected = 0.006 * FleshEnergy(g, 30000, 0.45);
        ASSERT_NEAR(energy / expected, 1, 1e-3); // the third order is 1e-4 of the second
    }
    free(u);
    free(force);
    jnaDestroyElastic(elastic);
    DestroyTestVolume(&block);
}

// Forces of the flesh at `nodes` moved by +-step along u, their difference over 2 step.
static void FleshSlope(
    size_t n, const double* nodes, const jnaElements* elements, const double* u, double step, double* slope)
{
    double *x = calloc(4 * n, sizeof(double)), *forces[2];
    for (int side = 0; side < 2; ++side) {
        forces[side] = calloc(4 * n, sizeof(double));
        for (size_t i = 0; i < 3 * n; ++i) {
            x[4 * (i / 3) + i % 3] = nodes[i] + (side == 0 ? -step : step) * u[i];
        }
        jnaElementPass pass = {.elements = elements, .positions = x, .gradient = forces[side]};
        jnaElementKernelsBaseline.addForces(&pass);
    }
    for (size_t i = 0; i < 3 * n; ++i) {
        size_t at = 4 * (i / 3) + i % 3;
        slope[i] = (forces[1][at] - forces[0][at]) / (2 * step);
    }
    free(x);
    free(forces[0]);
    free(forces[1]);
}

// Displacements of no pattern, two materials: the stiffness is the slope of the simulator's forces, patch by patch; at
// rest, and about a state in which every tetrahedron is turned, stretched and pressed.
static void StiffnessIsTheSlopeOfTheSimulatorsForces(void** state)
{
    (void)state;
    TestVolume block = MakeBlock(5, 4, 3, (double[3]){0.5, 0.4, 0.3}, 0.15, 2);
    jnaVolume* v = &block.volume;
    SetMaterial(v, 30000, 0.45, 1000);
    v->materials = realloc(v->materials, 2 * sizeof(jnaMaterial));
    v->materials[1] = (jnaMaterial){.young = 9000, .poisson = 0.3, .density = 900};
    v->materialCount = 2;
    for (int t = v->tetrahedronCount / 2; t < v->tetrahedronCount; ++t) {
        v->regions[t] = 1;
    }
    size_t n = 3 * (size_t)v->nodeCount;
    double *u = malloc(n * sizeof(double)), *force = malloc(n * sizeof(double)), *slope = malloc(n * sizeof(double));
    double* nodes = malloc(n * sizeof(double));
    jnaElements elements;
    assert_int_equal(jnaCreateVolumeElements(v, NULL, &elements, NULL), jn_ok);
    Random random = {11};
    for (size_t i = 0; i < n; ++i) {
        const double* x = v->nodes + 3 * (i / 3);
        u[i] = Uniform(&random, -1, 1);
        nodes[i] = i % 3 == 0 ? 1.2 * x[1] : i % 3 == 1 ? -x[0] - 0.3 * x[0] * x[0] : 0.9 * x[2] + 0.2 * x[0];
    }
    for (int posed = 0; posed < 2; ++posed) {
        double greatest = 0, worst[2] = {0};
        jnaElastic* elastic;
        assert_int_equal(jnaCreateElastic(v, posed == 1 ? nodes : NULL, &elastic, NULL), jn_ok);
        assert_int_equal(jnaElastic_FreeCount(elastic), v->nodeCount);
        ASSERT_NEAR(jnaElastic_TotalMass(elastic) / 0.06, 950, 20); // that of the rest pose
        jnaElastic_Apply(elastic, u, force);
        for (int k = 0; k < 2; ++k) {
            FleshSlope(n / 3, posed == 1 ? nodes : v->nodes, &elements, u, k == 0 ? 1e-3 : 1e-4, slope);
            for (size_t i = 0; i < n; ++i) {
                greatest = fmax(greatest, fabs(force[i]));
                worst[k] = fmax(worst[k], fabs(slope[i] - force[i]));
            }
        }
        // Central differences: a tenth of the step, a hundredth of the error.
        ASSERT_AT_MOST(worst[1] / greatest, 1e-5);
        ASSERT_AT_MOST(worst[1], 0.02 * worst[0]);
        jnaDestroyElastic(elastic);
    }
    free(u);
    free(force);
    free(slope);
    free(nodes);
    jnaDestroyElements(&elements);
    DestroyTestVolume(&block);
}

// A free block near incompressibility: six motions cost nothing, and the others are those of ordinary tetrahedra at
// Poisson 0 or stiffer. A pattern that patches overlook, a checkerboard say, would come as a mode far below them.
static void PatchesLeaveNoSoftModes(void** state)
{
    (void)state;
    enum { COUNT = 30 };
    double omega2[2][COUNT];
    for (int kind = 0; kind < 2; ++kind) {
        // Of the same shear modulus.
        double poisson = kind == 0 ? 0 : 0.49, shear = 10000;
        TestVolume cube = MakeBlock(5, 5, 5, (double[3]){0.1, 0.1, 0.1}, 0.1, 2);
        SetMaterial(&cube.volume, 2 * (1 + poisson) * shear, poisson, 1000);
        jnaElastic* elastic = MustCreate(&cube.volume);
        size_t n = 3 * (size_t)jnaElastic_FreeCount(elastic);
        double* shapes = malloc(COUNT * n * sizeof(double));
        int found;
        assert_int_equal(jnaElastic_FindModes(elastic, COUNT, omega2[kind], shapes, &found, NULL, NULL), jn_ok);
        assert_int_equal(found, COUNT);
        ASSERT_AT_MOST(fabs(omega2[kind][5]), 1e-6 * omega2[kind][6]);
        assert_true(omega2[kind][6] > 0);
        free(shapes);
        jnaDestroyElastic(elastic);
        DestroyTestVolume(&cube);
    }
    for (int k = 6; k < COUNT; ++k) {
        // More volumetric stiffness only adds energy, so every eigenvalue rises.
        assert_true(omega2[1][k] > omega2[0][k] * (1 - 1e-9));
    }
    print_message("modes 7, 8, 30 over those without volumetric stiffness: %.2f, %.2f, %.2f\n",
        sqrt(omega2[1][6] / omega2[0][6]), sqrt(omega2[1][7] / omega2[0][7]),
        sqrt(omega2[1][COUNT - 1] / omega2[0][COUNT - 1]));
}

// Timoshenko's cantilever (Huang 1961): zero at its frequencies. b^2 = density A omega^2 L^4 / (E I), r and s the
// slenderness in rotation and in shear.
static double Characteristic(double b, double r2, double s2)
{
    double root = sqrt((r2 - s2) * (r2 - s2) + 4 / (b * b));
    double alpha = sqrt((root - r2 - s2) / 2), beta = sqrt((root + r2 + s2) / 2);
    return 2 + (b * b * (r2 - s2) * (r2 - s2) + 2) * cosh(b * alpha) * cos(b * beta) -
           b * (r2 + s2) / sqrt(1 - b * b * r2 * s2) * sinh(b * alpha) * sin(b * beta);
}

// The root of Timoshenko's equation below the slender beam's, by bisection.
static double TimoshenkoRoot(double slender, double r2, double s2)
{
    double low = 0.6 * slender, high = slender;
    bool sign = Characteristic(low, r2, s2) > 0;
    assert_true(sign != (Characteristic(high, r2, s2) > 0));
    for (int i = 0; i < 60; ++i) {
        double middle = (low + high) / 2;
        if ((Characteristic(middle, r2, s2) > 0) == sign) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Bending both ways, twisting and stretching of a clamped square bar, all within 3 %.
static void CantileverSwingsAsBeamTheorySays(void** state)
{
    (void)state;
    double length = 1, side = 0.1, young = 1e6, poisson = 0.3, density = 1000;
    TestVolume bar = MakeBlock(80, 16, 16, (double[3]){length, side, side}, 0, 2);
    SetMaterial(&bar.volume, young, poisson, density);
    HoldEnd(&bar.volume, 0);
    jnaElastic* elastic = MustCreate(&bar.volume);
    enum { COUNT = 6 };
    size_t n = 3 * (size_t)jnaElastic_FreeCount(elastic);
    double omega2[COUNT], *shapes = malloc(COUNT * n * sizeof(double));
    int found;
    jnError error = {0};
    if (jnaElastic_FindModes(elastic, COUNT, omega2, shapes, &found, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(found, COUNT);
    double inertia = side * side * side * side / 12, area = side * side, shear = young / (2 * (1 + poisson));
    double r2 = inertia / (area * length * length), s2 = young * r2 / (shear * 5 / 6);
    double unit = sqrt(young * inertia / (density * area)) / (2 * PI * length * length);
    double bend1 = unit * TimoshenkoRoot(3.5160153, r2, s2), bend2 = unit * TimoshenkoRoot(22.034492, r2, s2);
    double twist = sqrt(shear * 0.8436 / density) / (4 * length); // J / I_p of a square
    double stretch = sqrt(young / density) / (4 * length);
    const double expected[COUNT] = {bend1, bend1, bend2, bend2, twist, stretch};
    for (int k = 0; k < COUNT; ++k) {
        ASSERT_NEAR(sqrt(omega2[k]) / (2 * PI) / expected[k], 1, 0.03);
    }
    // They are orthonormal in the mass.
    const double* masses = jnaElastic_Masses(elastic);
    for (int k = 0; k < COUNT * COUNT; ++k) {
        double dot = 0;
        for (size_t i = 0; i < n; ++i) {
            double m = masses[jnaElastic_FreeNodes(elastic)[i / 3]];
            dot += m * shapes[(size_t)(k / COUNT) * n + i] * shapes[(size_t)(k % COUNT) * n + i];
        }
        ASSERT_NEAR(dot, k / COUNT == k % COUNT ? 1 : 0, 1e-9);
    }
    free(shapes);
    jnaDestroyElastic(elastic);
    DestroyTestVolume(&bar);
}

// Springs instead of a clamp leave the flesh softer; nothing at all leaves six motions at 0 Hz.
static void BonesHoldBySpringsOrNotAtAll(void** state)
{
    (void)state;
    double lowest[3];
    for (int kind = 0; kind < 3; ++kind) {
        TestVolume bar = MakeBlock(8, 2, 2, (double[3]){0.4, 0.1, 0.1}, 0, 2);
        SetMaterial(&bar.volume, 30000, 0.45, 1000);
        if (kind < 2) {
            HoldEnd(&bar.volume, kind == 0 ? 0 : 1e4f);
        }
        jnaElastic* elastic = MustCreate(&bar.volume);
        size_t n = 3 * (size_t)jnaElastic_FreeCount(elastic);
        double omega2[8], *shapes = malloc(8 * n * sizeof(double));
        int found;
        assert_int_equal(jnaElastic_FindModes(elastic, 8, omega2, shapes, &found, NULL, NULL), jn_ok);
        lowest[kind] = omega2[0];
        if (kind == 2) {
            ASSERT_AT_MOST(fabs(omega2[5]), 1e-6);
            assert_true(omega2[6] > 100);
        }
        free(shapes);
        jnaDestroyElastic(elastic);
        DestroyTestVolume(&bar);
    }
    assert_true(lowest[1] > 0 && lowest[1] < lowest[0]);
}

static void BadVolumesAreRefusedInWords(void** state)
{
    (void)state;
    TestVolume bar = MakeBlock(2, 1, 1, (double[3]){0.4, 0.1, 0.1}, 0, 2);
    jnaElastic* elastic;
    jnError error = {0};
    assert_int_equal(jnaCreateElastic(&bar.volume, NULL, &elastic, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "no material"));
    SetMaterial(&bar.volume, 30000, 0.5, 1000);
    assert_int_equal(jnaCreateElastic(&bar.volume, NULL, &elastic, &error), jn_badData);
    assert_non_null(strstr(error.message, "Poisson's ratio 0.5"));
    bar.volume.materials[0].poisson = 0.45;
    HoldEnd(&bar.volume, 0);
    for (int n = 0; n < bar.volume.nodeCount; ++n) {
        bar.volume.heldBy[n] = 0;
    }
    assert_int_equal(jnaCreateElastic(&bar.volume, NULL, &elastic, &error), jn_badData);
    assert_non_null(strstr(error.message, "held by bones"));
    assert_null(elastic);
    DestroyTestVolume(&bar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(StiffnessIsThatOfTheFlesh),
        cmocka_unit_test(StiffnessIsTheSlopeOfTheSimulatorsForces),
        cmocka_unit_test(PatchesLeaveNoSoftModes),
        cmocka_unit_test(CantileverSwingsAsBeamTheorySays),
        cmocka_unit_test(BonesHoldBySpringsOrNotAtAll),
        cmocka_unit_test(BadVolumesAreRefusedInWords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
