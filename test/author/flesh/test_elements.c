// The tetrahedra of the flesh: energy, forces, Hessian.
#include "flesh/elements.h"
#include "helpers/support.h"
#include "volume/laplacian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 8, ELEMENTS = 5, PATCHES = 2, ROWS = 3 * NODES };

// A patch of four tetrahedra and one of a single one, of different materials.
typedef struct Sample {
    jnaElements elements;
    double nodes[NODES][3];
    double positions[NODES][4];
} Sample;

static const int32_t CORNERS[ELEMENTS][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {1, 2, 4, 6}, {1, 6, 4, 7}};

static const double SHEAR[ELEMENTS] = {3, 5, 4, 2, 6}, VOLUMETRIC[ELEMENTS] = {37, 18, 30, 0, 25};
static const double STIFFENING[ELEMENTS] = {0.5, 1, 0.7, 0.3, 2};

static Sample MakeSample(void)
{
    Sample sample = {.nodes = {{0, 0, 0}, {1, 0.1, 0}, {0.1, 0.9, 0}, {0.2, 0.1, 1.1}, {1.2, 1, 0.9}, {0.3, 1.2, 1.6},
                         {1.3, 1.1, -0.4}, {2.2, 0.6, 0.2}}};
    jnaElementsDef def = {
        .nodeCount = NODES,
        .nodes = &sample.nodes[0][0],
        .count = ELEMENTS,
        .tetrahedra = &CORNERS[0][0],
        .shear = SHEAR,
        .volumetric = VOLUMETRIC,
        .stiffening = STIFFENING,
    };
    assert_int_equal(jnaCreateElements(&def, &sample.elements, NULL), jn_ok);
    assert_int_equal(sample.elements.blockCount, PATCHES);
    for (int n = 0; n < NODES; ++n) {
        memcpy(sample.positions[n], sample.nodes[n], 3 * sizeof(double));
    }
    return sample;
}

static double Noise(unsigned* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

static double Evaluate(const Sample* sample, double gradient[NODES][4])
{
    jnaElementPass pass = {
        .elements = &sample->elements, .positions = &sample->positions[0][0], .gradient = &gradient[0][0]};
    memset(gradient, 0, sizeof(double[NODES][4]));
    jnaElementKernelsBaseline.addForces(&pass);
    return pass.energy;
}

static double Greatest(double v[NODES][4])
{
    double greatest = 0;
    for (int i = 0; i < 4 * NODES; ++i) {
        greatest = fmax(greatest, fabs((&v[0][0])[i]));
    }
    return greatest;
}

// Deformations of all kinds, inverted, flat and collapsed ones among them.
static void Deform(Sample* sample, int kind)
{
    unsigned seed = 7u + (unsigned)kind;
    for (int n = 0; n < NODES; ++n) {
        for (int k = 0; k < 3; ++k) {
            double rest = sample->nodes[n][k];
            double moved[] = {
                rest + 0.1 * Noise(&seed),            // mild
                rest + 1.5 * Noise(&seed),            // wild
                k == 0 ? -rest : rest,                // inside out
                k == 1 ? 0 : rest,                    // flat
                k == 0 ? rest : 0.3 * rest * (k - 1), // a line
                0.25,                                 // a point
            };
            sample->positions[n][k] = moved[kind];
        }
    }
}
enum { POINT = 5, KINDS };

static void RestIsFreeOfForceAndEnergy(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    double gradient[NODES][4];
    assert_true(fabs(Evaluate(&sample, gradient)) < 1e-14);
    assert_true(Greatest(gradient) < 1e-14);
    jnaDestroyElements(&sample.elements);
}

static void RotationChangesNeitherEnergyNorTheSizeOfForces(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    double before[NODES][4], after[NODES][4];
    Deform(&sample, 1);
    double energy = Evaluate(&sample, before);
    double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (int n = 0; n < NODES; ++n) {
        double p[3];
        memcpy(p, sample.positions[n], sizeof(p));
        for (int k = 0; k < 3; ++k) {
            sample.positions[n][k] = turn[k][0] * p[0] + turn[k][1] * p[1] + turn[k][2] * p[2] + 3;
        }
    }
    assert_true(fabs(Evaluate(&sample, after) - energy) < 1e-12 * energy);
    for (int n = 0; n < NODES; ++n) {
        double a = hypot(hypot(before[n][0], before[n][1]), before[n][2]);
        double b = hypot(hypot(after[n][0], after[n][1]), after[n][2]);
        assert_true(fabs(a - b) < 1e-12 * Greatest(before));
    }
    jnaDestroyElements(&sample.elements);
}

// Central differences of a smooth function err by O(step^2): a tenth of the step, a hundredth of the error.
static void ForcesAreTheSlopeOfTheEnergy(void** state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        Sample sample = MakeSample();
        double gradient[NODES][4], unused[NODES][4], worst[2] = {0};
        Deform(&sample, kind);
        double energy = Evaluate(&sample, gradient), scale = fmax(Greatest(gradient), fabs(energy));
        bool identical = true;
        for (int n = 0; n < NODES; ++n) {
            for (int k = 0; k < 3; ++k) {
                for (int i = 0; i < 2; ++i) {
                    double step = i == 0 ? 1e-3 : 1e-4, at = sample.positions[n][k];
                    sample.positions[n][k] = at + step;
                    double up = Evaluate(&sample, unused);
                    sample.positions[n][k] = at - step;
                    double down = Evaluate(&sample, unused);
                    sample.positions[n][k] = at;
                    double difference = (up - down) / (2 * step) - gradient[n][k];
                    identical = identical && difference == 0;
                    worst[i] = fmax(worst[i], fabs(difference) / scale);
                }
            }
        }
        double floor = 1e-11; // rounding of the energy over the step
        assert_true(worst[0] < 1e-3);
        assert_true(worst[1] < 0.02 * worst[0] + floor);
        assert_true(!identical || kind == POINT); // there both are exactly 0
        jnaDestroyElements(&sample.elements);
    }
}

// The Hessian of all patches.
static void AddHessians(const Sample* sample, bool project, double sum[ROWS][ROWS])
{
    memset(sum, 0, ROWS * sizeof(*sum));
    for (int p = 0; p < PATCHES; ++p) {
        int32_t nodes[JNA_PATCH_NODES];
        double hessian[JNA_PATCH_ROWS][JNA_PATCH_ROWS];
        int count = 3 * jnaPatchHessian(&sample->elements.blocks[p], &sample->positions[0][0], project, nodes, hessian);
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k < count; ++k) {
                sum[3 * nodes[i / 3] + i % 3][3 * nodes[k / 3] + k % 3] += hessian[i][k];
            }
        }
    }
}

static void HessianIsTheSlopeOfTheForces(void** state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        Sample sample = MakeSample();
        double sum[ROWS][ROWS], scale = 0, worst[2] = {0};
        Deform(&sample, kind);
        AddHessians(&sample, false, sum);
        for (int i = 0; i < ROWS * ROWS; ++i) {
            scale = fmax(scale, fabs((&sum[0][0])[i]));
        }
        bool identical = true;
        for (int column = 0; column < 3 * NODES; ++column) {
            double* at = &sample.positions[column / 3][column % 3];
            for (int i = 0; i < 2; ++i) {
                double up[NODES][4], down[NODES][4], step = i == 0 ? 1e-2 : 1e-3, place = *at;
                *at = place + step;
                Evaluate(&sample, up);
                *at = place - step;
                Evaluate(&sample, down);
                *at = place;
                for (int row = 0; row < 3 * NODES; ++row) {
                    double slope = (up[row / 3][row % 3] - down[row / 3][row % 3]) / (2 * step);
                    identical = identical && slope == sum[row][column];
                    worst[i] = fmax(worst[i], fabs(slope - sum[row][column]) / scale);
                }
            }
        }
        assert_true(worst[0] < 1e-2);
        assert_true(worst[1] < 0.02 * worst[0] + 1e-12);
        assert_false(identical);
        jnaDestroyElements(&sample.elements);
    }
}

// The least eigenvalue of a symmetric matrix relative to the largest, by Jacobi sweeps.
static double LeastEigenvalue(double a[ROWS][ROWS])
{
    for (int sweep = 0; sweep < 30; ++sweep) {
        for (int p = 0; p < ROWS; ++p) {
            for (int q = p + 1; q < ROWS; ++q) {
                if (a[p][q] == 0) {
                    continue;
                }
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1)), c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < ROWS; ++k) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < ROWS; ++k) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
            }
        }
    }
    double least = HUGE_VAL, greatest = 0;
    for (int i = 0; i < ROWS; ++i) {
        least = fmin(least, a[i][i]);
        greatest = fmax(greatest, fabs(a[i][i]));
    }
    return least / greatest;
}

static double Difference(double a[ROWS][ROWS], double b[ROWS][ROWS])
{
    double difference = 0, scale = 0;
    for (int i = 0; i < ROWS * ROWS; ++i) {
        scale = fmax(scale, fabs((&a[0][0])[i]));
        difference = fmax(difference, fabs((&a[0][0])[i] - (&b[0][0])[i]));
    }
    return difference / scale;
}

// A tetrahedron's part is clamped by itself, so at rest and near it, where no part is indefinite, nothing changes.
static void ProjectionLeavesNoNegativeEigenvalueAndKeepsWhatIsPositive(void** state)
{
    (void)state;
    int negative = 0;
    for (int kind = -1; kind < KINDS; ++kind) {
        Sample sample = MakeSample();
        double plain[ROWS][ROWS], projected[ROWS][ROWS];
        if (kind >= 0) {
            Deform(&sample, kind);
        }
        AddHessians(&sample, false, plain);
        AddHessians(&sample, true, projected);
        double difference = Difference(plain, projected);
        bool definite = LeastEigenvalue(plain) > -1e-12;
        negative += !definite;
        assert_true(LeastEigenvalue(projected) > -1e-12);
        assert_true(definite || difference > 1e-9);
        assert_true(kind >= 0 || difference < 1e-12);
        jnaDestroyElements(&sample.elements);
    }
    assert_true(negative > 2); // the kinds do make some
}

// An affine map changes all volumes alike, so patches resist it as the tetrahedra would one by one.
static void AnAffineMapHasTheEnergyOfItsTetrahedra(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    static const double map[3][3] = {{1.1, 0.2, -0.1}, {0.05, 0.8, 0.3}, {-0.2, 0.1, 1.3}};
    for (int n = 0; n < NODES; ++n) {
        for (int k = 0; k < 3; ++k) {
            const double* rest = sample.nodes[n];
            sample.positions[n][k] = map[k][0] * rest[0] + map[k][1] * rest[1] + map[k][2] * rest[2];
        }
    }
    double gradient[NODES][4], expected = 0, square = 0;
    for (int i = 0; i < 9; ++i) {
        square += map[i / 3][i % 3] * map[i / 3][i % 3];
    }
    double j = map[0][0] * (map[1][1] * map[2][2] - map[1][2] * map[2][1]) -
               map[0][1] * (map[1][0] * map[2][2] - map[1][2] * map[2][0]) +
               map[0][2] * (map[1][0] * map[2][1] - map[1][1] * map[2][0]);
    for (int e = 0; e < ELEMENTS; ++e) {
        double hats[4][3], volume = jnaHatGradients(&sample.nodes[0][0], CORNERS[e], hats), mu = SHEAR[e];
        double distortion = square - 3 - 2 * (j - 1);
        expected += volume * mu * distortion * (2 + STIFFENING[e] * distortion) / 4;
        expected += volume * (VOLUMETRIC[e] + mu) / 2 * (j - 1) * (j - 1);
    }
    assert_true(fabs(Evaluate(&sample, gradient) - expected) < 1e-12 * expected);
    jnaDestroyElements(&sample.elements);
}

// Simple shear by g needs the stress mu g (1 + b g^2), whatever the frame.
static void FleshStiffensAsItIsSheared(void** state)
{
    (void)state;
    for (int i = 1; i <= 4; ++i) {
        Sample sample = MakeSample();
        double gradient[NODES][4], g = 0.3 * i, energy[2];
        for (int side = 0; side < 2; ++side) {
            double sheared = g + (side == 0 ? -1e-4 : 1e-4);
            for (int n = 0; n < NODES; ++n) {
                sample.positions[n][0] = sample.nodes[n][0] + sheared * sample.nodes[n][1];
            }
            energy[side] = Evaluate(&sample, gradient);
        }
        double expected = 0;
        for (int e = 0; e < ELEMENTS; ++e) {
            double hats[4][3], volume = jnaHatGradients(&sample.nodes[0][0], CORNERS[e], hats);
            expected += volume * SHEAR[e] * g * (1 + STIFFENING[e] * g * g);
        }
        ASSERT_NEAR((energy[1] - energy[0]) / 2e-4, expected, 1e-6 * expected);
        jnaDestroyElements(&sample.elements);
    }
}

// One tetrahedron grows as the others shrink: only shear resists.
static void APatchGivesWayWhereItsVolumeStays(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    double gradient[NODES][4], soft, stiff;
    for (int grow = 0; grow < 2; ++grow) {
        // Nodes 0 and 5 belong to one tetrahedron each, of weights V lambda in the ratio of their faces' pulls.
        double hats[4][3], shift = 1e-3;
        double first = 37 * jnaHatGradients(&sample.nodes[0][0], CORNERS[0], hats);
        double along = first * hats[0][0];
        double third = 30 * jnaHatGradients(&sample.nodes[0][0], CORNERS[2], hats);
        double ratio = along / (third * hats[3][0]);
        memcpy(sample.positions[0], sample.nodes[0], 3 * sizeof(double));
        memcpy(sample.positions[5], sample.nodes[5], 3 * sizeof(double));
        sample.positions[0][0] += shift;
        sample.positions[5][0] += grow == 0 ? -shift * ratio : shift * ratio;
        *(grow == 0 ? &soft : &stiff) = Evaluate(&sample, gradient);
    }
    assert_true(soft < 0.5 * stiff);
    jnaDestroyElements(&sample.elements);
}

static void DampingIsTheSlopeOfItsEnergyAndBlindToRotation(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    jnaElementStrain strains[PATCHES];
    Deform(&sample, 0);
    jnaElementKernelsBaseline.measureStrains(&sample.elements, &sample.positions[0][0], strains);
    double still[NODES][4] = {{0}}, damped[NODES][4] = {{0}};
    jnaElementPass pass = {
        .elements = &sample.elements, .positions = &sample.positions[0][0], .gradient = &still[0][0]};
    jnaElementKernelsBaseline.addForces(&pass);
    double energy = pass.energy;
    pass.strains = (const jnaElementStrain*)strains;
    pass.damping = 2;
    pass.gradient = &damped[0][0];
    // Turned without a change of strain: nothing is damped.
    for (int n = 0; n < NODES; ++n) {
        double x = sample.positions[n][0];
        sample.positions[n][0] = -sample.positions[n][1];
        sample.positions[n][1] = x;
    }
    jnaElementKernelsBaseline.addForces(&pass);
    assert_true(fabs(pass.energy - energy) < 1e-13);
    assert_true(fabs(damped[2][0] + still[2][1]) < 1e-12 && fabs(damped[2][1] - still[2][0]) < 1e-12);
    // Moved: the force follows from the energy.
    Deform(&sample, 1);
    memset(damped, 0, sizeof(damped));
    jnaElementKernelsBaseline.addForces(&pass);
    for (int i = 0; i < 3; ++i) {
        double unused[NODES][4] = {{0}}, step = 1e-5, at = sample.positions[3][i], slope;
        pass.gradient = &unused[0][0];
        sample.positions[3][i] = at + step;
        jnaElementKernelsBaseline.addForces(&pass);
        slope = pass.energy;
        sample.positions[3][i] = at - step;
        jnaElementKernelsBaseline.addForces(&pass);
        slope = (slope - pass.energy) / (2 * step);
        sample.positions[3][i] = at;
        assert_true(fabs(slope - damped[3][i]) < 1e-7 * Greatest(damped));
    }
    jnaDestroyElements(&sample.elements);
}

// A small step from rest is damped by b/h K: the elastic force of that step times b/h.
static void DampingNearRestIsThatOfTheStiffness(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    jnaElementStrain strains[PATCHES];
    const double size = 1e-6, damping = 2; // strains of second order are a millionth
    double elastic[NODES][4], damped[NODES][4] = {{0}};
    jnaElementKernelsBaseline.measureStrains(&sample.elements, &sample.positions[0][0], strains);
    unsigned seed = 5;
    for (int i = 0; i < 3 * NODES; ++i) {
        sample.positions[i / 3][i % 3] += size * Noise(&seed);
    }
    Evaluate(&sample, elastic);
    jnaElementPass pass = {
        .elements = &sample.elements,
        .positions = &sample.positions[0][0],
        .gradient = &damped[0][0],
        .strains = (const jnaElementStrain*)strains,
        .damping = damping,
    };
    jnaElementKernelsBaseline.addForces(&pass);
    for (int i = 0; i < 3 * NODES; ++i) {
        double all = damped[i / 3][i % 3], still = elastic[i / 3][i % 3];
        assert_true(fabs(all - (1 + damping) * still) < 1e-4 * Greatest(elastic));
    }
    jnaDestroyElements(&sample.elements);
}

static void AllKernelsGiveTheSameBytes(void** state)
{
    (void)state;
    Sample sample = MakeSample();
    jnaElementStrain strains[2][PATCHES];
    int inverted[2];
    double gradient[2][NODES][4] = {{{0}}}, absolute[2][NODES][4] = {{{0}}}, energy[2];
    const jnaElementKernels* kernels[2] = {&jnaElementKernelsBaseline, jnaChooseElementKernels()};
    for (int i = 0; i < 2; ++i) {
        Deform(&sample, 0);
        kernels[i]->measureStrains(&sample.elements, &sample.positions[0][0], strains[i]);
        Deform(&sample, 1);
        jnaElementPass pass = {
            .elements = &sample.elements,
            .positions = &sample.positions[0][0],
            .gradient = &gradient[i][0][0],
            .absolute = &absolute[i][0][0],
            .strains = (const jnaElementStrain*)strains[i],
            .damping = 3,
        };
        kernels[i]->addForces(&pass);
        energy[i] = pass.energy;
        inverted[i] = pass.invertedCount;
    }
    assert_int_equal(inverted[0], 2);
    assert_int_equal(inverted[1], 2);
    assert_true(energy[0] == energy[1]);
    assert_memory_equal(strains[0], strains[1], sizeof(strains[0]));
    assert_memory_equal(gradient[0], gradient[1], sizeof(gradient[0]));
    assert_memory_equal(absolute[0], absolute[1], sizeof(absolute[0]));
    jnaDestroyElements(&sample.elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(RestIsFreeOfForceAndEnergy),
        cmocka_unit_test(RotationChangesNeitherEnergyNorTheSizeOfForces),
        cmocka_unit_test(ForcesAreTheSlopeOfTheEnergy),
        cmocka_unit_test(HessianIsTheSlopeOfTheForces),
        cmocka_unit_test(ProjectionLeavesNoNegativeEigenvalueAndKeepsWhatIsPositive),
        cmocka_unit_test(AnAffineMapHasTheEnergyOfItsTetrahedra),
        cmocka_unit_test(FleshStiffensAsItIsSheared),
        cmocka_unit_test(APatchGivesWayWhereItsVolumeStays),
        cmocka_unit_test(DampingIsTheSlopeOfItsEnergyAndBlindToRotation),
        cmocka_unit_test(DampingNearRestIsThatOfTheStiffness),
        cmocka_unit_test(AllKernelsGiveTheSameBytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
