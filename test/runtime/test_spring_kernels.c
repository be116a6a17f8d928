// The coefficients that the kernels make without a transcendental function, against the closed form.
#include "helpers/support.h"

#include "jounce/spring_functions.h"
#include "spring_kernels.h"

// Value of a coefficient that is stored as a pair.
static double Pair(const float* rows, int row, int lane)
{
    return (double)rows[row * JN_LANES + lane] + (double)rows[(ROW_PL + row) * JN_LANES + lane];
}

static void CheckBlock(
    const jnSpringKernels* kernels, const float* stiffness, const float* damping, double h, double* worst)
{
    static float rows[JN_COEFFICIENT_SIZE];
    kernels->makeCoefficients(stiffness, damping, h, rows, 0, 1);
    for (int i = 0; i < JN_LANES; ++i) {
        double ks = (double)stiffness[i], kd = (double)damping[i];
        jnSpringResponse s = jnEvaluateSpring(ks, kd, h);
        double swing = sqrt(fabs(kd * kd / 4 - ks)) * h, fast = 1 + kd * h + sqrt(ks) * h;
        // What a double can know: the phase's own rounding, doubled with each doubling.
        double tolerance = 1e-11 + 1e-14 * (fast + swing);
        double scale = fmax(fabs(s.position), exp(-kd * h / 2)) + 1e-30;
        const double errors[6] = {fabs(Pair(rows, ROW_P, i) - s.position) / scale,
            fabs(Pair(rows, ROW_W, i) - s.impulse) / h, fabs(Pair(rows, ROW_R, i) + ks * s.impulse) / (ks * h + 1e-30),
            fabs(Pair(rows, ROW_Q, i) - s.velocity),
            fabs((double)rows[ROW_G1 * JN_LANES + i] - s.step) / fmax(s.step, fmin(h * h / 2, 1 / ks)),
            fabs((double)rows[ROW_G2 * JN_LANES + i] - s.ramp) / s.ramp};
        for (int k = 0; k < 6; ++k) {
            double limit = k < 4 ? tolerance : 7e-8 + tolerance; // the last two are single floats
            if (!(errors[k] <= limit)) {
                fail_msg("coefficient %d is off by %g at k_s %g, k_d %g, h %g", k, errors[k], ks, kd, h);
            }
            worst[k] = fmax(worst[k], errors[k]);
        }
    }
}

static void CoefficientsAreTheClosedForm(void** state)
{
    (void)state;
    double worst[6] = {0};
    Random random = {11};
    for (int block = 0; block < 20000; ++block) {
        float stiffness[JN_LANES], damping[JN_LANES];
        for (int i = 0; i < JN_LANES; ++i) {
            stiffness[i] = (float)pow(10, Uniform(&random, -3, 9));
            damping[i] = block % 4 == 0 ? 2 * sqrtf(stiffness[i]) : (float)pow(10, Uniform(&random, -4, 6));
        }
        stiffness[3] = damping[7] = stiffness[11] = damping[11] = 0;
        CheckBlock(&jnSpringKernelsBaseline, stiffness, damping, pow(10, Uniform(&random, -5, 1)), worst);
    }
    print_message("worst errors: P %.1e W %.1e R %.1e Q %.1e G1 %.1e G2 %.1e\n", worst[0], worst[1], worst[2], worst[3],
        worst[4], worst[5]);
}

// At rates of exactly a power of two the number of doublings changes.
static void CoefficientsAgreeWhereDoublingsChange(void** state)
{
    (void)state;
    double worst[6] = {0};
    for (int exponent = -4; exponent <= 12; ++exponent) {
        for (int side = -1; side <= 1; ++side) {
            double rate = ldexp(1 + side * 1e-6, exponent);
            float stiffness[JN_LANES], damping[JN_LANES];
            for (int i = 0; i < JN_LANES; ++i) {
                stiffness[i] = (float)(i % 2 == 0 ? rate * rate : 0.3 * rate);
                damping[i] = (float)(i % 2 == 0 ? 0.1 * i : rate);
            }
            CheckBlock(&jnSpringKernelsBaseline, stiffness, damping, 1.0, worst);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(CoefficientsAreTheClosedForm),
        cmocka_unit_test(CoefficientsAgreeWhereDoublingsChange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
