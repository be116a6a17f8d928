// The gradient of the loss against finite differences in quad precision, over the whole plane of stiffness and damping.
#include "helpers/support.h"
#include "learn/fit_batch.h"

#include <quadmath.h>

typedef __float128 Quad;
enum { FRAMES = 40 };

// Responses by a Taylor series at h / 2^m and m doublings: nothing of the code under test.
typedef struct Responses {
    Quad impulse, velocity, step, ramp;
} Responses;

static Responses EvaluateResponses(Quad ks, Quad kd, Quad h)
{
    Quad t = h, rate = kd + sqrtq(ks);
    int doublings = 0;
    for (; rate * t > 0.125Q; t *= 0.5Q) {
        doublings++;
    }
    Quad u0 = 0, u1 = 1, power = t;
    Responses r = {0, 1, 0, 0};
    for (int n = 1; n < 26; ++n) {
        r.impulse += u1 * power;
        r.step += u1 * power * t / (n + 1);
        r.ramp += u1 * power * t * t / (n + 1) / (n + 2);
        Quad u2 = -kd * u1 - ks * u0;
        r.velocity += u2 * power;
        u0 = u1;
        u1 = u2;
        power *= t / (n + 1);
    }
    for (int i = 0; i < doublings; ++i, t *= 2) {
        Quad p = r.velocity + kd * r.impulse;
        Responses d = {r.impulse * (p + r.velocity), r.velocity * r.velocity - ks * r.impulse * r.impulse,
            r.step * (1 + p) + r.impulse * r.impulse, r.ramp * (1 + p) + r.step * (t + r.impulse)};
        r = d;
    }
    return r;
}

// The loss of one lane at theta, in quad, straight from the equations of docs/background/springs.md.
static Quad QuadLoss(const jnaFitBatch* batch, int lane, Quad thetaS, Quad thetaD, Quad h)
{
    Quad ks = expq(thetaS), kd = expq(thetaD), loss = 0;
    Responses r = EvaluateResponses(ks, kd, h);
    for (int axis = 0; axis < 3; ++axis) {
        Quad y = 0, v = 0;
        for (int n = 0; n < FRAMES; ++n) {
            size_t at = ((size_t)axis * FRAMES + (size_t)n) * JNA_BATCH + (size_t)lane;
            Quad residual = (y - (Quad)batch->offset[at]) * (Quad)batch->weight[(size_t)n * JNA_BATCH + (size_t)lane];
            loss += residual * residual;
            if (n + 1 == FRAMES) {
                break;
            }
            Quad e0 = batch->bend[at], e1 = batch->bend[at + JNA_BATCH];
            Quad acceleration = 2 * e0 - e1, jerk = 3 * (e1 - e0) / h;
            Quad y1 = (r.velocity + kd * r.impulse) * y + r.impulse * v - acceleration * r.step - jerk * r.ramp;
            v = -ks * r.impulse * y + r.velocity * v - acceleration * r.impulse - jerk * r.step;
            y = y1;
        }
    }
    return loss;
}

typedef struct Scene {
    jnaArena arena;
    jnaFitPlan plan;
    jnaFitDef def;
    jnaSequence sequence;
    jnaFitBatch batch;
    int starts[2];
    double targets[FRAMES * JNA_BATCH * 3], dynamics[FRAMES * JNA_BATCH * 3];
} Scene;

static void MakeScene(Scene* scene)
{
    for (int i = 0; i < FRAMES * JNA_BATCH * 3; ++i) {
        int n = i / 3 / JNA_BATCH, lane = i / 3 % JNA_BATCH, axis = i % 3;
        double t = n / 30.0;
        scene->targets[i] = 0.3 * sin(5 * t + lane) + 0.1 * cos(11 * t + axis) + 0.02 * sin(31 * t);
        scene->dynamics[i] = 0.3 * sin(5 * t + lane - 0.1) + 0.12 * cos(11 * t + axis - 0.3);
        if (n == 17 && lane == 3) {
            scene->dynamics[i] = (double)NAN;
        }
    }
    const jnaArray shape = {
        .scalar = jna_float64, .dimensions = 3, .shape = {FRAMES, JNA_BATCH, 3}, .count = FRAMES * JNA_BATCH * 3};
    scene->sequence = (jnaSequence){shape, shape};
    scene->sequence.targets.data = scene->targets;
    scene->sequence.dynamics.data = scene->dynamics;
    scene->def = jnaDefaultFitDef();
    scene->def.sequences = &scene->sequence;
    scene->def.sequenceCount = 1;
    scene->def.dt = 1.0 / 30;
    scene->starts[1] = FRAMES;
    scene->plan =
        (jnaFitPlan){.def = &scene->def, .vertexCount = JNA_BATCH, .frameCount = FRAMES, .starts = scene->starts};
    scene->arena = (jnaArena){0};
    jnaFitBatch_Allocate(&scene->batch, &scene->plan, &scene->arena);
    assert_false(scene->arena.failed);
    assert_int_equal(jnaFitBatch_Load(&scene->batch, &scene->plan, 0), 0);
}

static void CheckGradient(const jnaFitKernels* kernels, const Scene* scene, const double theta[2][JNA_BATCH],
    double* worst, int* identical, int* compared)
{
    jnaFitCoefficients coefficients;
    jnaFitSums sums;
    jnaFitCoefficientsAt(theta, scene->def.dt, coefficients);
    kernels->differentiate(&scene->batch, coefficients, &sums);
    const Quad step = 1e-9Q;
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        Quad s = theta[0][lane], d = theta[1][lane], h = scene->def.dt;
        double loss = (double)QuadLoss(&scene->batch, lane, s, d, h);
        ASSERT_NEAR(sums.loss[lane] / loss, 1, 1e-11);
        for (int k = 0; k < 2; ++k) {
            Quad ds = k == 0 ? step : 0, dd = k == 1 ? step : 0;
            Quad difference =
                QuadLoss(&scene->batch, lane, s + ds, d + dd, h) - QuadLoss(&scene->batch, lane, s - ds, d - dd, h);
            double expected = (double)(difference / (2 * step));
            double analytic = 2 * exp(theta[k][lane]) * sums.gradient[k][lane];
            // Where the gradient passes through zero it is compared with the size of its terms.
            double matrix = exp(2 * theta[k][lane]) * sums.matrix[2 * k][lane];
            double scale = fmax(fabs(expected), 1e-4 * sqrt(loss * matrix));
            double error = fabs(analytic - expected) / scale;
            *worst = fmax(*worst, error);
            *identical += analytic == expected;
            ++*compared;
            if (!(error <= 1e-8)) {
                fail_msg("gradient %d is %.12g, differences say %.12g, at k_s %g, k_d %g", k, analytic, expected,
                    exp(theta[0][lane]), exp(theta[1][lane]));
            }
        }
    }
}

static void TheGradientIsExactOverTheWholePlane(void** state)
{
    (void)state;
    static Scene scene;
    MakeScene(&scene);
    double worst = 0;
    int identical = 0, compared = 0;
    for (int i = 0; i < 33; ++i) {
        double theta[2][JNA_BATCH];
        for (int j = 0; j < 40; j += JNA_BATCH) {
            for (int lane = 0; lane < JNA_BATCH; ++lane) {
                theta[0][lane] = log(0.1) + (log(1e6) - log(0.1)) * i / 32;
                theta[1][lane] = log(1e-3) + (log(1e4) - log(1e-3)) * (j + lane) / 39;
            }
            CheckGradient(
                jnaBestFitKernels(), &scene, (const double(*)[JNA_BATCH])theta, &worst, &identical, &compared);
        }
        // On the critical curve k_d = 2 sqrt(k_s), one rounding beside it, and a little farther.
        static const double beside[JNA_BATCH] = {0, 1e-16, -1e-16, 1e-9, -1e-9, 1e-5, -1e-5, 1e-2};
        for (int lane = 0; lane < JNA_BATCH; ++lane) {
            theta[0][lane] = log(0.1) + (log(1e6) - log(0.1)) * i / 32;
            theta[1][lane] = log(2.0) + 0.5 * theta[0][lane] + beside[lane];
        }
        CheckGradient(jnaBestFitKernels(), &scene, (const double(*)[JNA_BATCH])theta, &worst, &identical, &compared);
    }
    print_message("%d derivatives, worst relative error %.1e, %d equal to the last bit\n", compared, worst, identical);
    assert_true(identical < compared / 2); // they are not the same computation
    jnaReleaseArena(&scene.arena);
}

static void EveryKernelGivesTheSameSums(void** state)
{
    (void)state;
    static Scene scene;
    MakeScene(&scene);
    double theta[2][JNA_BATCH];
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        theta[0][lane] = 2 + lane;
        theta[1][lane] = 0.5 * lane;
    }
    jnaFitCoefficients coefficients;
    jnaFitSums plain, best;
    double loss[JNA_BATCH], frames[FRAMES * JNA_BATCH];
    jnaFitCoefficientsAt((const double(*)[JNA_BATCH])theta, scene.def.dt, coefficients);
    jnaFitKernelsBaseline.differentiate(&scene.batch, coefficients, &plain);
    jnaBestFitKernels()->differentiate(&scene.batch, coefficients, &best);
    jnaBestFitKernels()->evaluate(&scene.batch, coefficients, loss, frames);
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        ASSERT_NEAR(best.loss[lane] / plain.loss[lane], 1, 1e-13);
        ASSERT_NEAR(loss[lane] / plain.loss[lane], 1, 1e-13);
        double sum = 0;
        for (int n = 0; n < FRAMES; ++n) {
            sum += frames[n * JNA_BATCH + lane] * scene.batch.weight[n * JNA_BATCH + lane];
        }
        ASSERT_NEAR(sum / plain.loss[lane], 1, 1e-13);
        for (int k = 0; k < 3; ++k) {
            ASSERT_NEAR(best.matrix[k][lane] / plain.matrix[k][lane], 1, 1e-10);
        }
    }
    jnaReleaseArena(&scene.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheGradientIsExactOverTheWholePlane),
        cmocka_unit_test(EveryKernelGivesTheSameSums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
