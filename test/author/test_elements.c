// The tetrahedra of the flesh: energy, forces, Hessian.
#include "support.h"

#include "solve/elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 5, ELEMENTS = 2 };

// Two tetrahedra that share a face, of different materials.
typedef struct Pair {
    jnaElements elements;
    double nodes[NODES][3];
    double positions[NODES][4];
} Pair;

static const int32_t CORNERS[ELEMENTS][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};

static Pair MakePair(void)
{
    Pair pair = {.nodes = {{0, 0, 0}, {1, 0.1, 0}, {0.1, 0.9, 0}, {0.2, 0.1, 1.1}, {1.2, 1, 0.9}}};
    double shear[ELEMENTS] = {3, 5}, bulk[ELEMENTS] = {40, 23};
    jnaElementsDef def = {&pair.nodes[0][0], ELEMENTS, &CORNERS[0][0], NULL, shear, bulk};
    assert_int_equal(jnaCreateElements(&def, &pair.elements, NULL), jn_ok);
    for (int n = 0; n < NODES; ++n) {
        memcpy(pair.positions[n], pair.nodes[n], 3 * sizeof(double));
    }
    return pair;
}

static double Noise(unsigned* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

static double Evaluate(const Pair* pair, double gradient[NODES][4])
{
    jnaElementPass pass = {
        .elements = &pair->elements, .positions = &pair->positions[0][0], .gradient = &gradient[0][0]};
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
static void Deform(Pair* pair, int kind)
{
    unsigned seed = 7u + (unsigned)kind;
    for (int n = 0; n < NODES; ++n) {
        for (int k = 0; k < 3; ++k) {
            double rest = pair->nodes[n][k];
            double moved[] = {
                rest + 0.1 * Noise(&seed),            // mild
                rest + 1.5 * Noise(&seed),            // wild
                k == 0 ? -rest : rest,                // inside out
                k == 1 ? 0 : rest,                    // flat
                k == 0 ? rest : 0.3 * rest * (k - 1), // a line
                0.25,                                 // a point
            };
            pair->positions[n][k] = moved[kind];
        }
    }
}
enum { POINT = 5, KINDS };

static void RestIsFreeOfForceAndEnergy(void** state)
{
    (void)state;
    Pair pair = MakePair();
    double gradient[NODES][4];
    assert_true(fabs(Evaluate(&pair, gradient)) < 1e-14);
    assert_true(Greatest(gradient) < 1e-14);
    jnaDestroyElements(&pair.elements);
}

static void RotationChangesNeitherEnergyNorTheSizeOfForces(void** state)
{
    (void)state;
    Pair pair = MakePair();
    double before[NODES][4], after[NODES][4];
    Deform(&pair, 1);
    double energy = Evaluate(&pair, before);
    double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (int n = 0; n < NODES; ++n) {
        double p[3];
        memcpy(p, pair.positions[n], sizeof(p));
        for (int k = 0; k < 3; ++k) {
            pair.positions[n][k] = turn[k][0] * p[0] + turn[k][1] * p[1] + turn[k][2] * p[2] + 3;
        }
    }
    assert_true(fabs(Evaluate(&pair, after) - energy) < 1e-12 * energy);
    for (int n = 0; n < NODES; ++n) {
        double a = hypot(hypot(before[n][0], before[n][1]), before[n][2]);
        double b = hypot(hypot(after[n][0], after[n][1]), after[n][2]);
        assert_true(fabs(a - b) < 1e-12 * Greatest(before));
    }
    jnaDestroyElements(&pair.elements);
}

// Central differences of a smooth function err by O(step^2): a tenth of the step, a hundredth of the error.
static void ForcesAreTheSlopeOfTheEnergy(void** state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        Pair pair = MakePair();
        double gradient[NODES][4], unused[NODES][4], worst[2] = {0};
        Deform(&pair, kind);
        double energy = Evaluate(&pair, gradient), scale = fmax(Greatest(gradient), fabs(energy));
        bool identical = true;
        for (int n = 0; n < NODES; ++n) {
            for (int k = 0; k < 3; ++k) {
                for (int i = 0; i < 2; ++i) {
                    double step = i == 0 ? 1e-3 : 1e-4, at = pair.positions[n][k];
                    pair.positions[n][k] = at + step;
                    double up = Evaluate(&pair, unused);
                    pair.positions[n][k] = at - step;
                    double down = Evaluate(&pair, unused);
                    pair.positions[n][k] = at;
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
        jnaDestroyElements(&pair.elements);
    }
}

static void ElementHessian(const Pair* pair, int element, bool project, double hessian[12][12])
{
    double deformation[9];
    const jnaElementBlock* block = &pair->elements.blocks[0];
    jnaElementDeformation(block, element, &pair->positions[0][0], deformation);
    jnaElementHessian(block, element, deformation, project, hessian);
}

static void HessianIsTheSlopeOfTheForces(void** state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        Pair pair = MakePair();
        double sum[3 * NODES][3 * NODES] = {{0}}, scale = 0, worst[2] = {0};
        Deform(&pair, kind);
        for (int e = 0; e < ELEMENTS; ++e) {
            double hessian[12][12];
            ElementHessian(&pair, e, false, hessian);
            for (int i = 0; i < 12; ++i) {
                for (int k = 0; k < 12; ++k) {
                    int row = 3 * pair.elements.blocks[0].corners[i / 3][e] + i % 3;
                    int column = 3 * pair.elements.blocks[0].corners[k / 3][e] + k % 3;
                    sum[row][column] += hessian[i][k];
                    scale = fmax(scale, fabs(hessian[i][k]));
                }
            }
        }
        bool identical = true;
        for (int column = 0; column < 3 * NODES; ++column) {
            double* at = &pair.positions[column / 3][column % 3];
            for (int i = 0; i < 2; ++i) {
                double up[NODES][4], down[NODES][4], step = i == 0 ? 1e-2 : 1e-3, place = *at;
                *at = place + step;
                Evaluate(&pair, up);
                *at = place - step;
                Evaluate(&pair, down);
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
        jnaDestroyElements(&pair.elements);
    }
}

// The least eigenvalue of a symmetric matrix relative to the largest, by Jacobi sweeps.
static double LeastEigenvalue(double a[12][12])
{
    for (int sweep = 0; sweep < 30; ++sweep) {
        for (int p = 0; p < 12; ++p) {
            for (int q = p + 1; q < 12; ++q) {
                if (a[p][q] == 0) {
                    continue;
                }
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1)), c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 12; ++k) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 12; ++k) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
            }
        }
    }
    double least = HUGE_VAL, greatest = 0;
    for (int i = 0; i < 12; ++i) {
        least = fmin(least, a[i][i]);
        greatest = fmax(greatest, fabs(a[i][i]));
    }
    return least / greatest;
}

static void ProjectionLeavesNoNegativeEigenvalueAndKeepsWhatIsPositive(void** state)
{
    (void)state;
    int negative = 0;
    for (int kind = 0; kind < KINDS; ++kind) {
        Pair pair = MakePair();
        Deform(&pair, kind);
        for (int e = 0; e < ELEMENTS; ++e) {
            double plain[12][12], projected[12][12], difference = 0, scale = 0;
            ElementHessian(&pair, e, false, plain);
            ElementHessian(&pair, e, true, projected);
            for (int i = 0; i < 144; ++i) {
                scale = fmax(scale, fabs((&plain[0][0])[i]));
                difference = fmax(difference, fabs((&plain[0][0])[i] - (&projected[0][0])[i]));
            }
            bool definite = LeastEigenvalue(plain) > -1e-12;
            negative += !definite;
            assert_true(LeastEigenvalue(projected) > -1e-12);
            assert_true(definite ? difference < 1e-12 * scale : difference > 1e-9 * scale);
        }
        jnaDestroyElements(&pair.elements);
    }
    assert_true(negative > 2); // the kinds do make some
}

static void DampingIsTheSlopeOfItsEnergyAndBlindToRotation(void** state)
{
    (void)state;
    Pair pair = MakePair();
    jnaElementStrain strains[1];
    Deform(&pair, 0);
    jnaElementKernelsBaseline.measureStrains(&pair.elements, &pair.positions[0][0], strains);
    double still[NODES][4] = {{0}}, damped[NODES][4] = {{0}};
    jnaElementPass pass = {.elements = &pair.elements, .positions = &pair.positions[0][0], .gradient = &still[0][0]};
    jnaElementKernelsBaseline.addForces(&pass);
    double energy = pass.energy;
    pass.strains = (const jnaElementStrain*)strains;
    pass.damping = 2;
    pass.gradient = &damped[0][0];
    // Turned without a change of strain: nothing is damped.
    for (int n = 0; n < NODES; ++n) {
        double x = pair.positions[n][0];
        pair.positions[n][0] = -pair.positions[n][1];
        pair.positions[n][1] = x;
    }
    jnaElementKernelsBaseline.addForces(&pass);
    assert_true(fabs(pass.energy - energy) < 1e-13);
    assert_true(fabs(damped[2][0] + still[2][1]) < 1e-12 && fabs(damped[2][1] - still[2][0]) < 1e-12);
    // Moved: the force follows from the energy.
    Deform(&pair, 1);
    memset(damped, 0, sizeof(damped));
    jnaElementKernelsBaseline.addForces(&pass);
    for (int i = 0; i < 3; ++i) {
        double unused[NODES][4] = {{0}}, step = 1e-5, at = pair.positions[3][i], slope;
        pass.gradient = &unused[0][0];
        pair.positions[3][i] = at + step;
        jnaElementKernelsBaseline.addForces(&pass);
        slope = pass.energy;
        pair.positions[3][i] = at - step;
        jnaElementKernelsBaseline.addForces(&pass);
        slope = (slope - pass.energy) / (2 * step);
        pair.positions[3][i] = at;
        assert_true(fabs(slope - damped[3][i]) < 1e-7 * Greatest(damped));
    }
    jnaDestroyElements(&pair.elements);
}

static void AllKernelsGiveTheSameBytes(void** state)
{
    (void)state;
    Pair pair = MakePair();
    jnaElementStrain strains[2][1];
    int inverted[2];
    double gradient[2][NODES][4] = {{{0}}}, absolute[2][NODES][4] = {{{0}}}, energy[2];
    const jnaElementKernels* kernels[2] = {&jnaElementKernelsBaseline, jnaChooseElementKernels()};
    for (int i = 0; i < 2; ++i) {
        Deform(&pair, 0);
        kernels[i]->measureStrains(&pair.elements, &pair.positions[0][0], strains[i]);
        Deform(&pair, 1);
        jnaElementPass pass = {
            .elements = &pair.elements,
            .positions = &pair.positions[0][0],
            .gradient = &gradient[i][0][0],
            .absolute = &absolute[i][0][0],
            .strains = (const jnaElementStrain*)strains[i],
            .damping = 3,
        };
        kernels[i]->addForces(&pass);
        energy[i] = pass.energy;
        inverted[i] = pass.invertedCount;
    }
    assert_int_equal(inverted[0], 1);
    assert_int_equal(inverted[1], 1);
    assert_true(energy[0] == energy[1]);
    assert_memory_equal(strains[0], strains[1], sizeof(strains[0]));
    assert_memory_equal(gradient[0], gradient[1], sizeof(gradient[0]));
    assert_memory_equal(absolute[0], absolute[1], sizeof(absolute[0]));
    jnaDestroyElements(&pair.elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(RestIsFreeOfForceAndEnergy),
        cmocka_unit_test(RotationChangesNeitherEnergyNorTheSizeOfForces),
        cmocka_unit_test(ForcesAreTheSlopeOfTheEnergy),
        cmocka_unit_test(HessianIsTheSlopeOfTheForces),
        cmocka_unit_test(ProjectionLeavesNoNegativeEigenvalueAndKeepsWhatIsPositive),
        cmocka_unit_test(DampingIsTheSlopeOfItsEnergyAndBlindToRotation),
        cmocka_unit_test(AllKernelsGiveTheSameBytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
