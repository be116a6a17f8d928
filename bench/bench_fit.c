// jounce-bench fit: 13,584 springs of 600 frames, and what the arithmetic of it could at best take.
#include "base/clock.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "jounce/jounce.h"
#include "learn/fit_batch.h"
#include "learn/spring_fit.h"
#include "measure.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { FRAMES = 600, SPRINGS = 13584 };
#define DT (1.0f / 30)
#define NOISE 2e-4

typedef struct Motion {
    float *targets, *dynamics; // [FRAMES][SPRINGS][3]
    float *stiffness, *damping;
} Motion;

static double Hash(uint32_t i)
{
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    return (double)(i ^ (i >> 16)) / 4294967296.0;
}

// Stiffness 50 to 5000, damping 1 to 60; four frequencies mixed differently for every vertex; 0.2 mm of noise.
static bool MakeMotion(Motion* motion)
{
    size_t size = (size_t)FRAMES * SPRINGS * 3;
    motion->targets = malloc(size * sizeof(float));
    motion->dynamics = malloc(size * sizeof(float));
    motion->stiffness = malloc(2 * SPRINGS * sizeof(float));
    if (motion->targets == NULL || motion->dynamics == NULL || motion->stiffness == NULL) {
        return false;
    }
    motion->damping = motion->stiffness + SPRINGS;
    for (uint32_t v = 0; v < SPRINGS; ++v) {
        motion->stiffness[v] = (float)(50 * pow(100, Hash(v)));
        motion->damping[v] = (float)pow(60, Hash(v + SPRINGS));
    }
    static const double rates[4] = {5.6, 11.3, 17.0, 26.0}, sizes[4] = {0.25, 0.1, 0.05, 0.02};
#pragma omp parallel for
    for (uint32_t i = 0; i < 3 * SPRINGS; ++i) {
        for (size_t n = 0; n < FRAMES; ++n) {
            double x = 0;
            for (uint32_t k = 0; k < 4; ++k) {
                x += sizes[k] * (0.3 + 0.7 * Hash(8 * i + k)) *
                     sin(rates[k] * (double)n / 30 + 6.283 * Hash(8 * i + 4 + k));
            }
            motion->targets[n * 3 * SPRINGS + i] = (float)x;
        }
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = SPRINGS;
    def.stiffness = motion->stiffness;
    def.damping = motion->damping;
    def.timing = jn_timingExact;
    jnSprings* springs;
    if (jnCreateSprings(&def, &springs, NULL) != jn_ok) {
        return false;
    }
    for (size_t n = 0; n <= FRAMES; ++n) {
        float* out = motion->dynamics + (n > 0 ? n - 1 : 0) * 3 * SPRINGS;
        if (n < FRAMES) {
            jnSprings_Step(springs, &(jnSpringsInput){.h = DT, .targets = motion->targets + n * 3 * SPRINGS},
                &(jnSpringsOutput){.positions = out});
        } else {
            jnSprings_Finish(springs, &(jnSpringsOutput){.positions = out});
        }
    }
    jnDestroySprings(springs);
    for (size_t i = 0; i < size; ++i) {
        motion->dynamics[i] += (float)((2 * Hash((uint32_t)i) - 1) * NOISE);
    }
    return true;
}

static jnaSequence WrapMotion(const Motion* motion)
{
    jnaArray shape = {
        .scalar = jna_float32, .dimensions = 3, .shape = {FRAMES, SPRINGS, 3}, .count = (size_t)FRAMES * SPRINGS * 3};
    jnaSequence sequence = {shape, shape};
    sequence.targets.data = motion->targets;
    sequence.dynamics.data = motion->dynamics;
    return sequence;
}

// Sums of independent products: what one core's multipliers can do at most with doubles, in products a second.
static double PeakProducts(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnKernelAvailable(jn_kernelAvx512)) {
        return jnbPeakProductsAvx512();
    }
    if (jnKernelAvailable(jn_kernelAvx2)) {
        return jnbPeakProductsAvx2();
    }
#endif
    return jnbPeakProductsBaseline();
}

// Time of one pass of loss, gradient and matrix over a batch that is in the cache, per spring and frame.
static double PassTime(const jnaSequence* sequence)
{
    int starts[2] = {0, FRAMES};
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = sequence;
    def.sequenceCount = 1;
    def.dt = (double)DT;
    jnaFitPlan plan = {
        .def = &def, .kernels = jnaBestFitKernels(), .vertexCount = SPRINGS, .frameCount = FRAMES, .starts = starts};
    jnaFitBatch batch;
    jnaArena arena = {0};
    jnaFitBatch_Allocate(&batch, &plan, &arena);
    if (arena.failed) {
        jnaReleaseArena(&arena);
        return 0;
    }
    jnaFitBatch_Load(&batch, &plan, 0);
    double theta[2][JNA_BATCH], best = 1e9;
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        theta[0][lane] = 6;
        theta[1][lane] = 2;
    }
    jnaFitCoefficients coefficients;
    jnaFitSums sums;
    jnaFitCoefficientsAt((const double(*)[JNA_BATCH])theta, def.dt, coefficients);
    for (int i = 0; i < 300; ++i) {
        double start = jnaWallClock();
        plan.kernels->differentiate(&batch, coefficients, &sums);
        best = fmin(best, jnaWallClock() - start);
    }
    jnaReleaseArena(&arena);
    return best / JNA_BATCH / FRAMES;
}

static int CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Median relative error of the stiffness, and the share of springs that are within 5 %.
static double MedianError(const Motion* motion, const jnaFit* fit, double* within)
{
    int good = 0;
    static double errors[SPRINGS];
    for (int v = 0; v < SPRINGS; ++v) {
        errors[v] = fabs((double)fit->stiffness[v] / (double)motion->stiffness[v] - 1);
    }
    qsort(errors, SPRINGS, sizeof(double), CompareDoubles);
    for (int v = 0; v < SPRINGS; ++v) {
        good += errors[v] < 0.05;
    }
    *within = (double)good / SPRINGS;
    return errors[SPRINGS / 2];
}

// Leaves the arrays and the losses where a peer finds them.
static jnResult KeepMotion(const char* folder, const Motion* motion, const jnaFit* fit, double seconds, jnError* error)
{
    const size_t shape[3] = {FRAMES, SPRINGS, 3}, count = SPRINGS, one = 1;
    const struct {
        const char* name;
        jnaScalar scalar;
        int dimensions;
        const size_t* shape;
        const void* data;
    } arrays[] = {
        {"targets.npy", jna_float32, 3, shape, motion->targets},
        {"dynamics.npy", jna_float32, 3, shape, motion->dynamics},
        {"loss.npy", jna_float64, 1, &count, fit->loss},
        {"seconds.npy", jna_float64, 1, &one, &seconds},
    };
    JN_PASS(jncMakeFolder(folder, error));
    for (size_t i = 0; i < 4; ++i) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, arrays[i].name);
        JN_PASS(jnaWriteArray(path, arrays[i].scalar, arrays[i].dimensions, arrays[i].shape, arrays[i].data, error));
    }
    return jn_ok;
}

static double PeakMegabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

int jnbBenchFit(const char* keep)
{
    Motion motion = {0};
    jnError error = {.message = "no memory for the benchmark"};
    if (!MakeMotion(&motion)) {
        return jncFail(&error);
    }
    jnaSequence sequence = WrapMotion(&motion);
    double before = PeakMegabytes(), inputs = 2.0 * FRAMES * SPRINGS * 3 * sizeof(float) / 1048576;
    double cells = (double)FRAMES * SPRINGS, kept = 0;
    printf("fit of %d springs, %d frames, %.1f mm of noise, %d threads\n", SPRINGS, FRAMES, NOISE * 1e3,
        omp_get_max_threads());
    printf("                         min s   springs*frames/s   passes a batch   median error of k_s   within 5 %%\n");
    jnResult result = jn_ok;
    for (int k = 0; k < 3 && result == jn_ok; ++k) {
        static const char* const names[] = {"lm, no refit", "lm, refit without 10 %", "descent, no refit"};
        jnaFitDef def = jnaDefaultFitDef();
        def.sequences = &sequence;
        def.sequenceCount = 1;
        def.dt = (double)DT;
        def.drop = k == 1 ? 0.1 : 0.0;
        def.method = k == 2 ? jna_fitDescent : jna_fitLm;
        double best = 1e9;
        jnaFit fit = {0};
        for (int round = 0; round < (k == 2 ? 1 : 3) && result == jn_ok; ++round) {
            jnaDestroyFit(&fit);
            double start = jnaWallClock();
            result = jnaFitSprings(&def, &fit, &error);
            best = fmin(best, jnaWallClock() - start);
        }
        if (result == jn_ok) {
            double within, median = MedianError(&motion, &fit, &within);
            printf("  %-22s %6.2f %18.3g %16.1f %21.1e %10.2f %%\n", names[k], best, cells / best,
                (double)fit.passes / (SPRINGS / JNA_BATCH), median, 100 * within);
            if (k == 0) {
                kept = best;
                if (keep != NULL) {
                    result = KeepMotion(keep, &motion, &fit, kept, &error);
                }
            }
        }
        jnaDestroyFit(&fit);
    }
    double pass = PassTime(&sequence), peak = PeakProducts();
    // Per spring, frame and axis: 8 products for the motion, 12 for each of two sensitivities, 9 for the sums.
    printf("one pass of loss, gradient and matrix: %.1f ns a spring and frame, %.2f of what the multipliers can do\n",
        pass * 1e9, 3 * 41 / pass / peak);
    printf("memory: inputs %.0f MB, the fit %.0f MB more\n", inputs, PeakMegabytes() - before);
    free(motion.targets);
    free(motion.dynamics);
    free(motion.stiffness);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
