// The spring set against known answers: the paper's own formula, analytic solutions, other rates, other kernels.
#include "helpers/springs_scene.h"

// One interval of the paper, Section "Dynamics", to the letter, in double: target cubic with coefficients q,
// a, b, c.
static void PaperStep(double ks, double kd, double h, const double cubic[4], double* x, double* v)
{
    double q = cubic[0], a = cubic[1], b = cubic[2], c = cubic[3];
    double p0 = c - 2 * a / (ks * h * h) + 6 * kd * q / (ks * ks * h * h * h);
    double p1 = q + a + b + c - (6 * q + 2 * a) / (ks * h * h) + 6 * kd * q / (ks * ks * h * h * h);
    double p0Rate = b / h - 6 * q / (ks * h * h * h), p1Rate = (3 * q + 2 * a + b) / h - 6 * q / (ks * h * h * h);
    double gamma1 = *x - p0, gamma2 = *v + kd / 2 * gamma1 - p0Rate;
    double s = kd * kd - 4 * ks, e = exp(-kd / 2 * h), epsilon = h / 2 * sqrt(fabs(s)), g, gRate;
    if (s > 0) {
        g = gamma1 * cosh(epsilon) + gamma2 * h * sinh(epsilon) / epsilon;
        gRate = (gamma1 * sinh(epsilon) * epsilon / h + gamma2 * cosh(epsilon));
    } else if (s < 0) {
        g = gamma1 * cos(epsilon) + gamma2 * h * sin(epsilon) / epsilon;
        gRate = (-gamma1 * sin(epsilon) * epsilon / h + gamma2 * cos(epsilon));
    } else {
        g = gamma1 + gamma2 * h;
        gRate = gamma2;
    }
    *x = e * g + p1;
    *v = e * (gRate - kd / 2 * g) + p1Rate;
}

// The cubic of interval n of `count` samples with the slopes of the paper, one-sided at both ends.
static void PaperCubic(const float* samples, int stride, int n, int count, double cubic[4])
{
    double x0 = (double)samples[n * stride], x1 = (double)samples[(n + 1) * stride];
    double m0 = n > 0 ? (x1 - (double)samples[(n - 1) * stride]) / 2 : x1 - x0;
    double m1 = n + 2 < count ? ((double)samples[(n + 2) * stride] - x0) / 2 : x1 - x0;
    cubic[0] = m0 + m1 - 2 * (x1 - x0);
    cubic[1] = 3 * (x1 - x0) - 2 * m0 - m1;
    cubic[2] = m0;
    cubic[3] = x0;
}

// Positions at every sample: out[n] belongs to samples[n]. `lag` is 1 for exact timing, whose output is a
// sample behind.
static void Bake(jnSprings* springs, const float* samples, int frames, double h, int lag, float* out)
{
    size_t size = 3 * (size_t)jnSprings_Count(springs);
    for (int n = 0; n < frames; ++n) {
        int row = n - lag > 0 ? n - lag : 0;
        Step(springs, h, samples + size * (size_t)n, out + size * (size_t)row);
    }
    if (lag == 1) {
        jnSprings_Finish(springs, &(jnSpringsOutput){.positions = out + size * (size_t)(frames - 1)});
    }
}

// The same by the paper's formula, in double, for one spring. Slopes of the first interval give the start
// velocity.
static void PaperBake(
    double ks, double kd, const float* samples, int frames, double h, jnCurve curve, bool atRest, double* out)
{
    for (int axis = 0; axis < 3; ++axis) {
        double x = (double)samples[axis], v = 0, cubic[4];
        out[axis] = x;
        for (int n = 0; n + 1 < frames; ++n) {
            PaperCubic(samples + axis, 3, n, frames, cubic);
            double d = (double)samples[3 * (n + 1) + axis] - (double)samples[3 * n + axis];
            if (curve != jn_curveCubic) {
                cubic[0] = cubic[1] = 0;
                cubic[2] = curve == jn_curveLinear ? d : 0;
            }
            if (n == 0 && !atRest) {
                v = cubic[2] / h;
            }
            PaperStep(ks, kd, h, cubic, &x, &v);
            out[3 * (n + 1) + axis] = x;
        }
    }
}

static double Worst(const double* expected, const float* actual, int count)
{
    double worst = 0;
    for (int i = 0; i < count; ++i) {
        double error = fabs(expected[i] - (double)actual[i]);
        worst = error <= worst ? worst : error; // keeps a NaN
    }
    return worst;
}

static void FillTargets(float* samples, int frames, double h)
{
    for (int n = 0; n < frames; ++n) {
        Target(n * h, samples + 3 * n);
    }
}

static void EveryCurveIsThePapersSolution(void** state)
{
    (void)state;
    enum { FRAMES = 300 };
    float samples[3 * FRAMES], out[3 * FRAMES];
    double expected[3 * FRAMES], h = (double)(1.0f / 30);
    FillTargets(samples, FRAMES, h);
    for (int k = 0; k < PAIRS; ++k) {
        for (int curve = jn_curveStep; curve <= jn_curveCubic; ++curve) {
            for (int atRest = 0; atRest < 2; ++atRest) {
                jnSpringsDef def = jnDefaultSpringsDef();
                def.count = 1;
                def.uniformStiffness = pairs[k][0];
                def.uniformDamping = pairs[k][1];
                def.curve = (jnCurve)curve;
                def.timing = jn_timingExact;
                def.start = atRest ? jn_startAtRest : jn_startMoving;
                jnSprings* springs;
                assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
                Bake(springs, samples, FRAMES, h, curve == jn_curveCubic, out);
                PaperBake(
                    (double)pairs[k][0], (double)pairs[k][1], samples, FRAMES, h, (jnCurve)curve, atRest, expected);
                ASSERT_AT_MOST(Worst(expected, out, 3 * FRAMES), 1e-6);
                jnDestroySprings(springs);
            }
        }
    }
}

// Ten thousand frames, undamped springs included: rounding neither drifts nor piles up.
static void FloatStepsStayExactOverTenThousandFrames(void** state)
{
    (void)state;
    enum { FRAMES = 10000 };
    float* samples = malloc(sizeof(float) * 3 * FRAMES);
    float* out = malloc(sizeof(float) * 3 * FRAMES);
    double* expected = malloc(sizeof(double) * 3 * FRAMES);
    double h = (double)(1.0f / 30), range = 1.0;
    FillTargets(samples, FRAMES, h);
    static const float more[][2] = {{300, 0}, {1500, 0}, {1000, 0.2f}};
    for (int k = 0; k < PAIRS + 3; ++k) {
        const float* p = k < PAIRS ? pairs[k] : more[k - PAIRS];
        jnSprings* springs = Make(1, p[0], p[1], jn_curveCubic, jn_timingExact);
        Bake(springs, samples, FRAMES, h, 1, out);
        PaperBake((double)p[0], (double)p[1], samples, FRAMES, h, jn_curveCubic, false, expected);
        double early = Worst(expected, out, 3 * 1000), all = Worst(expected, out, 3 * FRAMES);
        print_message("k_s %g, k_d %g: error %.1e after 1,000 frames, %.1e after 10,000\n", (double)p[0], (double)p[1],
            early, all);
        ASSERT_AT_MOST(all, 3e-6 * range);
        jnDestroySprings(springs);
    }
    free(samples);
    free(out);
    free(expected);
}

// Backward differences are exact for constant acceleration, so then the springs are too.
static void CausalTimingIsExactForConstantAcceleration(void** state)
{
    (void)state;
    double ks = 300, kd = 10, g = 4;
    // Offset of a spring under constant target acceleration from rest on the target: -g (1 - P(t))/k_s = -g
    // G1(t).
    jnSprings* springs = Make(1, (float)ks, (float)kd, jn_curveCubic, jn_timingCausal);
    Random random = {7};
    double t = 0;
    float x[3], out[3], offsets[3], velocities[3];
    for (int n = 0; n < 60; ++n) {
        double h = n == 0 ? 0 : (double)(float)Uniform(&random, 0.005, 0.05);
        t += h;
        x[0] = x[1] = x[2] = (float)(0.5 * g * t * t);
        Step(springs, h, x, out);
        if (n == 2) {
            // The first two intervals cannot know the acceleration: take over the exact state here.
            jnSpringResponse s = jnEvaluateSpring(ks, kd, t);
            for (int i = 0; i < 3; ++i) {
                offsets[i] = (float)(-g * s.step);
                velocities[i] = (float)(-g * s.impulse);
            }
            jnSprings_SetState(springs, offsets, velocities);
        }
    }
    jnSprings_GetState(springs, offsets, NULL);
    ASSERT_NEAR(offsets[1], -g * jnEvaluateSpring(ks, kd, t).step, 2e-5);
    jnDestroySprings(springs);
}

// What sampling costs: both timings against a target sampled sixteen times as densely.
static void ExactTimingIsMoreAccurateThanCausal(void** state)
{
    (void)state;
    enum { DENSE = 16, FRAMES = 300 };
    double h = (double)(1.0f / 30), error[2] = {0, 0};
    for (int timing = 0; timing < 2; ++timing) {
        jnSprings* coarse = Make(1, 400, 6, jn_curveCubic, (jnTiming)timing);
        jnSprings* fine = Make(1, 400, 6, jn_curveHermite, jn_timingCausal);
        float a[3], b[3], target[3], velocity[3], trail[3] = {0};
        for (int n = 0; n < FRAMES; ++n) {
            for (int k = n == 0 ? DENSE - 1 : 0; k < DENSE; ++k) {
                double t = (n - 1 + (k + 1.0) / DENSE) * h;
                Target(t, target);
                TargetVelocity(t, velocity);
                jnSpringsInput input = {.h = (float)(h / DENSE), .targets = target, .targetVelocities = velocity};
                jnSprings_Step(fine, &input, &(jnSpringsOutput){.positions = b});
            }
            Step(coarse, h, target, a);
            for (int i = 0; n > 90 && i < 3; ++i) { // once the start is forgotten
                error[timing] = fmax(error[timing], fabs((double)a[i] - (double)(timing == 0 ? trail[i] : b[i])));
            }
            memcpy(trail, b, sizeof(trail));
        }
        jnDestroySprings(coarse);
        jnDestroySprings(fine);
    }
    print_message("largest error at 30 Hz, targets of 1 m range: exact %.2e m, causal %.2e m\n", error[0], error[1]);
    ASSERT_AT_MOST(error[0], 4e-3);
    ASSERT_AT_MOST(error[1], 1e-2);
    assert_true(error[0] < error[1]);
}

// One continuous curve: cubic pieces between knots at multiples of 1/3 s, every rate below hits those.
static void CurvePoint(double t, float x[3], float v[3])
{
    double knot = floor(t * 3 + 1e-9), s = t * 3 - knot, length = 1.0 / 3;
    float x0[3], x1[3], v0[3], v1[3];
    Target(knot / 3, x0);
    Target((knot + 1) / 3, x1);
    TargetVelocity(knot / 3, v0);
    TargetVelocity((knot + 1) / 3, v1);
    for (int i = 0; i < 3; ++i) {
        double d = (double)x1[i] - (double)x0[i], m0 = (double)v0[i] * length, m1 = (double)v1[i] * length;
        double a = 3 * d - 2 * m0 - m1, q = m0 + m1 - 2 * d;
        x[i] = (float)((double)x0[i] + s * (m0 + s * (a + s * q)));
        v[i] = (float)((m0 + s * (2 * a + 3 * s * q)) / length);
    }
}

// Runs 20 s of that curve; times of the samples by `rate`, or random ones for rate 0, or with dropped frames
// for rate < 0.
static void RunAtRate(double rate, float stiffness, float damping, float out[60][3])
{
    jnSprings* springs = Make(1, stiffness, damping, jn_curveHermite, jn_timingCausal);
    Random random = {42};
    double t = 0, previous = 0;
    float x[3], v[3], position[3];
    for (int knot = 0; knot < 60; ++knot) {
        while (t < knot / 3.0 - 1e-9 || (knot == 0 && t == 0)) {
            double h = rate == 0 ? Uniform(&random, 0.001, 0.08) : 1 / fabs(rate);
            if (rate < 0) {
                h *= 1 + (double)(NextBits(&random) % 4); // up to three frames dropped
            }
            t = knot == 0 ? 0 : fmin(t + h, knot / 3.0);
            CurvePoint(t, x, v);
            jnSpringsInput input = {.h = (float)(t - previous), .targets = x, .targetVelocities = v};
            jnSprings_Step(springs, &input, &(jnSpringsOutput){.positions = position});
            previous = t;
            if (knot == 0) {
                break;
            }
        }
        memcpy(out[knot], position, sizeof(position));
    }
    jnDestroySprings(springs);
}

static void MotionDoesNotDependOnTheFrameRate(void** state)
{
    (void)state;
    static const double rates[] = {15, 24, 30, 60, 144, 240, 0, -60};
    double overall = 0;
    for (int k = 0; k < PAIRS; ++k) {
        static float reference[60][3], out[60][3];
        RunAtRate(3, pairs[k][0], pairs[k][1], reference); // one step from knot to knot: as exact as it gets
        for (int r = 0; r < 8; ++r) {
            RunAtRate(rates[r], pairs[k][0], pairs[k][1], out);
            for (int i = 0; i < 60; ++i) {
                for (int axis = 0; axis < 3; ++axis) {
                    double error = fabs((double)out[i][axis] - (double)reference[i][axis]);
                    overall = fmax(overall, error);
                    ASSERT_AT_MOST(error, 5e-6); // the targets' range is 1 m
                }
            }
        }
    }
    print_message("15 to 240 Hz, random and dropped frames: largest difference %.1e of the range\n", overall);
}

static void LoopsRepeatExactly(void** state)
{
    (void)state;
    enum { FRAMES = 24, COUNT = 19 };
    static float targets[FRAMES][COUNT][3], first[FRAMES][COUNT][3];
    for (int n = 0; n < FRAMES; ++n) {
        for (int v = 0; v < COUNT; ++v) {
            double t = 2 * 3.14159265358979 * n / FRAMES;
            targets[n][v][0] = (float)(0.3 * sin(t + v) + 0.1 * cos(3 * t));
            targets[n][v][1] = (float)(1 + 0.2 * cos(2 * t));
            targets[n][v][2] = (float)(0.1 * sin(t));
        }
    }
    for (int curve = jn_curveStep; curve <= jn_curveCubic; ++curve) {
        for (int k = 0; k < PAIRS; ++k) {
            for (int timing = 0; timing < 2; ++timing) {
                jnSprings* springs = Make(COUNT, pairs[k][0], pairs[k][1], (jnCurve)curve, (jnTiming)timing);
                int unsolved = -1;
                jnSpringsLoop loop = {&targets[0][0][0], FRAMES, 1 / 30.0f};
                assert_int_equal(jnSprings_SolveLoop(springs, &loop, &unsolved, NULL), jn_ok);
                assert_int_equal(unsolved, 0);
                int lead = curve == jn_curveCubic && timing == jn_timingExact ? 1 : 0;
                float out[COUNT][3];
                double worst = 0;
                for (int n = 1; n <= 3 * FRAMES; ++n) {
                    Step(springs, 1 / 30.0, &targets[(n + lead) % FRAMES][0][0], &out[0][0]);
                    for (int i = 0; n > FRAMES && i < 3 * COUNT; ++i) {
                        worst = fmax(worst, fabs((double)(&out[0][0])[i] - (double)(&first[n % FRAMES][0][0])[i]));
                    }
                    memcpy(first[n % FRAMES], out, sizeof(out));
                }
                ASSERT_AT_MOST(worst, 1e-6);
                jnDestroySprings(springs);
            }
        }
    }
}

// In resonance without damping no motion repeats: told, and the springs stay finite.
static void ALoopWithoutASolutionIsCounted(void** state)
{
    (void)state;
    double period = 1.0, omega = 2 * 3.14159265358979 / period;
    jnSprings* springs = Make(3, (float)(omega * omega), 0, jn_curveCubic, jn_timingCausal);
    float targets[10][3][3];
    for (int n = 0; n < 10; ++n) {
        for (int v = 0; v < 3; ++v) {
            for (int i = 0; i < 3; ++i) {
                targets[n][v][i] = (float)sin(omega * n * 0.1);
            }
        }
    }
    int unsolved = -1;
    assert_int_equal(
        jnSprings_SolveLoop(springs, &(jnSpringsLoop){&targets[0][0][0], 10, 0.1f}, &unsolved, NULL), jn_ok);
    assert_int_equal(unsolved, 3);
    float offsets[9];
    jnSprings_GetState(springs, offsets, NULL);
    for (int i = 0; i < 9; ++i) {
        assert_true(offsets[i] == 0);
    }
    jnError error;
    assert_int_equal(
        jnSprings_SolveLoop(springs, &(jnSpringsLoop){&targets[0][0][0], 2, 0.1f}, NULL, &error), jn_badArgument);
    jnDestroySprings(springs);
}

static void EvaluateAgreesWithShorterSteps(void** state)
{
    (void)state;
    for (int k = 0; k < PAIRS; ++k) {
        jnSprings* whole = Make(1, pairs[k][0], pairs[k][1], jn_curveHermite, jn_timingCausal);
        jnSprings* halves = Make(1, pairs[k][0], pairs[k][1], jn_curveHermite, jn_timingCausal);
        float x[3], v[3], a[3], b[3], va[3], vb[3];
        for (int n = 0; n <= 180; ++n) {
            double t = n / 18.0 / 3; // six steps of 18 Hz a knot interval
            CurvePoint(t, x, v);
            jnSpringsInput input = {.h = 1 / 54.0f, .targets = x, .targetVelocities = v};
            jnSprings_Step(halves, &input, &(jnSpringsOutput){.positions = b, .velocities = vb});
            if (n % 3 == 0) {
                input.h = 1 / 18.0f;
                jnSprings_Step(whole, &input, NULL);
                jnSprings_Evaluate(whole, 1, &(jnSpringsOutput){.positions = a, .velocities = va});
                for (int i = 0; i < 3; ++i) {
                    ASSERT_NEAR(a[i], b[i], 3e-6);
                    ASSERT_NEAR(va[i], vb[i], 2e-4);
                }
            }
        }
        // Inside the last interval: the two substeps before its end.
        jnSprings_Evaluate(halves, 0, &(jnSpringsOutput){.positions = b, .velocities = vb});
        jnSprings_Evaluate(whole, 2 / 3.0f, &(jnSpringsOutput){.positions = a, .velocities = va});
        for (int i = 0; i < 3; ++i) {
            ASSERT_NEAR(a[i], b[i], 3e-6);
            ASSERT_NEAR(va[i], vb[i], 2e-4);
        }
        jnDestroySprings(whole);
        jnDestroySprings(halves);
    }
}

// Every curve and timing: the end of the interval is the step's own output, and velocities are slopes of
// positions.
static void EvaluateIsContinuousOverTheInterval(void** state)
{
    (void)state;
    for (int curve = jn_curveStep; curve <= jn_curveCubic; ++curve) {
        for (int timing = 0; timing < 2; ++timing) {
            jnSprings* springs = Make(1, 300, 8, (jnCurve)curve, (jnTiming)timing);
            float x[3], out[3], last[3], at[3], velocity[3], a[3], b[3];
            for (int n = 0; n < 30; ++n) {
                Target(n / 20.0, x);
                memcpy(last, out, sizeof(last));
                Step(springs, 1 / 20.0, x, out);
            }
            jnSprings_Evaluate(springs, 0, &(jnSpringsOutput){.positions = at});
            for (int i = 0; i < 3; ++i) {
                ASSERT_NEAR(at[i], last[i], 1e-6);
            }
            jnSprings_Evaluate(springs, 1, &(jnSpringsOutput){.positions = at});
            for (int i = 0; i < 3; ++i) {
                ASSERT_NEAR(at[i], out[i], 1e-6);
            }
            for (float s = 0.1f; s < 1; s += 0.2f) {
                jnSprings_Evaluate(springs, s, &(jnSpringsOutput){.velocities = velocity});
                jnSprings_Evaluate(springs, s - 0.02f, &(jnSpringsOutput){.positions = a});
                jnSprings_Evaluate(springs, s + 0.02f, &(jnSpringsOutput){.positions = b});
                for (int i = 0; i < 3; ++i) {
                    ASSERT_NEAR(velocity[i], ((double)b[i] - (double)a[i]) / 0.04 * 20, 2e-3);
                }
            }
            jnDestroySprings(springs);
        }
    }
}

// Runs a set of odd size through everything a step can do; the outputs go to `out` [frames][count][3].
static void RunScript(jnKernel kernel, int parts, bool rooted, float* out)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    float stiffness[MAX_SPRINGS], damping[MAX_SPRINGS];
    Random random = {3};
    for (int i = 0; i < MAX_SPRINGS; ++i) {
        stiffness[i] = (float)pow(10, Uniform(&random, 0, 8));
        damping[i] = (float)pow(10, Uniform(&random, -1, 5));
    }
    stiffness[5] = damping[6] = 0;
    def.count = MAX_SPRINGS;
    def.stiffness = stiffness;
    def.damping = damping;
    def.kernel = kernel;
    jnSprings* springs;
    assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
    jnSprings_SetInertia(springs, 0.3f, 0.6f);
    float x[3 * MAX_SPRINGS];
    for (int n = 0; n < 50; ++n) {
        for (int v = 0; v < MAX_SPRINGS; ++v) {
            Target(n / 60.0 + v, x + 3 * v);
        }
        jnTransform root = {{x[0], 0, x[2]}, {0, sinf(0.1f * (float)n), 0, cosf(0.1f * (float)n)}};
        jnSprings_SetCap(springs, n > 30 && rooted ? 0.05f : 0); // without: the plain path
        jnSpringsInput input = {
            .h = n < 25 ? 1 / 60.0f : 0.01f + 0.001f * (float)(n % 7), .targets = x, .root = rooted ? &root : NULL};
        jnSpringsOutput output = {.positions = out + 3 * MAX_SPRINGS * n};
        if (parts == 1) {
            jnSprings_Step(springs, &input, &output);
            continue;
        }
        // Blocks in pieces and backwards, as threads might take them.
        jnSprings_BeginStep(springs, &input, &output);
        for (int end = jnSprings_BlockCount(springs); end > 0; end -= parts) {
            jnSprings_StepBlocks(springs, end > parts ? end - parts : 0, end);
        }
        jnSprings_EndStep(springs);
    }
    jnDestroySprings(springs);
}

static void EveryKernelGivesTheSameBytes(void** state)
{
    (void)state;
    enum { SIZE = 50 * 3 * MAX_SPRINGS };
    static float reference[SIZE], out[SIZE];
    for (int rooted = 0; rooted < 2; ++rooted) {
        RunScript(jn_kernelBaseline, 1, rooted, reference);
        for (int i = 0; i < SIZE; ++i) {
            assert_true(isfinite(reference[i]));
        }
        for (int kernel = jn_kernelAuto; kernel <= jn_kernelAvx512; ++kernel) {
            if (!jnKernelAvailable((jnKernel)kernel)) {
                print_message("kernel %s: skipped, not on this machine\n", jnKernelName((jnKernel)kernel));
                continue;
            }
            RunScript((jnKernel)kernel, 1, rooted, out);
            assert_memory_equal(out, reference, sizeof(out));
            print_message("kernel %s: same bytes\n", jnKernelName((jnKernel)kernel));
        }
    }
}

static void AnySplitOfTheBlocksGivesTheSameBytes(void** state)
{
    (void)state;
    enum { SIZE = 50 * 3 * MAX_SPRINGS };
    static float reference[SIZE], out[SIZE];
    for (int rooted = 0; rooted < 2; ++rooted) {
        RunScript(jn_kernelAuto, 1, rooted, reference);
        for (int parts = 2; parts < 6; ++parts) {
            RunScript(jn_kernelAuto, parts, rooted, out);
            assert_memory_equal(out, reference, sizeof(out));
        }
    }
}

static void StridesAndTailsReachEveryVertexAndNoOther(void** state)
{
    (void)state;
    for (int count = 1; count <= 35; ++count) {
        jnSprings* dense = Make(count, 200, 2, jn_curveCubic, jn_timingCausal);
        jnSprings* wide = Make(count, 200, 2, jn_curveCubic, jn_timingCausal);
        float x[35 * 3], a[35 * 3], wideX[35 * 5], b[35 * 8], vb[35 * 4];
        for (int i = 0; i < 35 * 8; ++i) {
            b[i] = 77;
        }
        for (int n = 0; n < 5; ++n) {
            for (int v = 0; v < count; ++v) {
                Target(n / 60.0 + v, x + 3 * v);
                memcpy(wideX + 5 * v, x + 3 * v, 12);
            }
            Step(dense, 1 / 60.0, x, a);
            jnSprings_Step(wide, &(jnSpringsInput){.h = 1 / 60.0f, .targets = wideX, .targetStride = 20},
                &(jnSpringsOutput){.positions = b, .positionStride = 32, .velocities = vb, .velocityStride = 16});
        }
        for (int v = 0; v < count; ++v) {
            assert_memory_equal(a + 3 * v, b + 8 * v, 12);
            for (int k = 3; k < 8; ++k) {
                assert_true(b[8 * v + k] == 77);
            }
            for (int k = 0; k < 3; ++k) {
                assert_true(isfinite(vb[4 * v + k]) && vb[4 * v + k] != 0);
            }
        }
        jnDestroySprings(dense);
        jnDestroySprings(wide);
    }
}

// Denormals are slow: soft springs never get there, stiff ones fall through them in a few steps.
static void SpringsComeToRestWithoutDenormals(void** state)
{
    (void)state;
    for (int k = 0; k < PAIRS; ++k) {
        jnSprings* springs = Make(1, pairs[k][0], pairs[k][1], jn_curveCubic, jn_timingCausal);
        float x[3] = {1, 2, 3}, out[3], kick[3] = {1, 1, 1}, y[3], v[3];
        Step(springs, 0.01, x, out);
        jnSprings_AddImpulse(springs, 0, kick);
        int denormal = 0;
        for (int n = 0; n < 20000; ++n) {
            Step(springs, 0.01, x, out);
            jnSprings_GetState(springs, y, v);
            denormal += (y[0] != 0 && fabsf(y[0]) < FLT_MIN) || (v[0] != 0 && fabsf(v[0]) < FLT_MIN);
        }
        ASSERT_AT_MOST(denormal, 32);
        assert_true(y[0] == 0 && v[0] == 0 && out[0] == 1);
        jnDestroySprings(springs);
    }
}

// An allocator that fails from its n-th call on, and counts what is out.
typedef struct Budget {
    int calls, allowed, live;
} Budget;

static void* BudgetAllocate(size_t size, void* user)
{
    Budget* budget = user;
    if (budget->calls++ >= budget->allowed) {
        return NULL;
    }
    budget->live++;
    return malloc(size);
}

static void BudgetRelease(void* memory, void* user)
{
    ((Budget*)user)->live--;
    free(memory);
}

static void EveryAllocationMayFail(void** state)
{
    (void)state;
    float targets[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    for (int allowed = 0; allowed <= 2; ++allowed) {
        Budget budget = {.allowed = allowed};
        jnSpringsDef def = jnDefaultSpringsDef();
        def.count = 1;
        def.allocator = (jnAllocator){BudgetAllocate, BudgetRelease, &budget};
        jnSprings* springs;
        jnError error = {0};
        jnResult created = jnCreateSprings(&def, &springs, &error);
        assert_int_equal(created, allowed == 0 ? jn_outOfMemory : jn_ok);
        if (created == jn_ok) {
            jnResult solved = jnSprings_SolveLoop(springs, &(jnSpringsLoop){targets, 3, 0.1f}, NULL, &error);
            assert_int_equal(solved, allowed == 1 ? jn_outOfMemory : jn_ok);
        } else {
            assert_null(springs);
        }
        assert_true(allowed == 2 || strstr(error.message, "no memory") != NULL);
        jnDestroySprings(springs);
        assert_int_equal(budget.live, 0);
    }
}

static void ASetLivesInTheCallersMemory(void** state)
{
    (void)state;
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = 40;
    size_t size = jnSprings_ByteCount(&def);
    Budget budget = {.allowed = 0};
    def.allocator = (jnAllocator){BudgetAllocate, BudgetRelease, &budget};
    def.memory = aligned_alloc(64, (size + 63) / 64 * 64);
    def.memorySize = size;
    jnSprings* springs;
    assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
    assert_ptr_equal(springs, def.memory);
    jnDestroySprings(springs);
    assert_int_equal(budget.calls, 0);
    def.memorySize = size - 1;
    jnError error;
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_badArgument);
    free(def.memory);
}

static void BadDefinitionsAreRefusedInWords(void** state)
{
    (void)state;
    float bad[3] = {1, -2, 3};
    jnSprings* springs;
    jnError error;
    jnSpringsDef def = jnDefaultSpringsDef();
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "not 0"));
    def.count = 3;
    def.stiffness = bad;
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "stiffness of spring 1 is -2"));
    bad[1] = NAN;
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_badArgument);
    bad[1] = 2;
    def.damping = bad;
    bad[2] = INFINITY;
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_badArgument);
    def.count = 1 << 28;
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_badArgument);
    assert_int_equal(jnSprings_ByteCount(&def), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryCurveIsThePapersSolution),
        cmocka_unit_test(FloatStepsStayExactOverTenThousandFrames),
        cmocka_unit_test(CausalTimingIsExactForConstantAcceleration),
        cmocka_unit_test(ExactTimingIsMoreAccurateThanCausal),
        cmocka_unit_test(MotionDoesNotDependOnTheFrameRate),
        cmocka_unit_test(LoopsRepeatExactly),
        cmocka_unit_test(ALoopWithoutASolutionIsCounted),
        cmocka_unit_test(EvaluateAgreesWithShorterSteps),
        cmocka_unit_test(EvaluateIsContinuousOverTheInterval),
        cmocka_unit_test(EveryKernelGivesTheSameBytes),
        cmocka_unit_test(AnySplitOfTheBlocksGivesTheSameBytes),
        cmocka_unit_test(StridesAndTailsReachEveryVertexAndNoOther),
        cmocka_unit_test(SpringsComeToRestWithoutDenormals),
        cmocka_unit_test(EveryAllocationMayFail),
        cmocka_unit_test(ASetLivesInTheCallersMemory),
        cmocka_unit_test(BadDefinitionsAreRefusedInWords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
