// The fit: what is recovered from noise, bursts and gaps, and that it is the same whatever the threads.
#include "helpers/support.h"

#include "jounce/jounce.h"
#include "learn/spring_fit.h"

#define DT (1.0f / 30)

typedef struct Data {
    int frames, vertices;
    float *targets, *dynamics; // [frames][vertices][3]
    float *stiffness, *damping;
} Data;

// Body-like motion: a few frequencies, each vertex with its own mixture.
static void FillTargets(Data* data, uint64_t seed)
{
    Random random = {seed};
    double pace = Uniform(&random, 0.9, 1.1);
    for (int v = 0; v < 3 * data->vertices; ++v) {
        double phase[4], size[4];
        for (int k = 0; k < 4; ++k) {
            phase[k] = Uniform(&random, 0, 6.283);
            size[k] = Uniform(&random, 0.3, 1.0);
        }
        for (int n = 0; n < data->frames; ++n) {
            double t = n / 30.0 * pace;
            data->targets[n * 3 * data->vertices + v] =
                (float)(0.25 * size[0] * sin(5.6 * t + phase[0]) + 0.1 * size[1] * sin(11.3 * t + phase[1]) +
                        0.05 * size[2] * sin(17 * t + phase[2]) + 0.02 * size[3] * sin(26 * t + phase[3]));
        }
    }
}

static void RunSprings(Data* data)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = data->vertices;
    def.stiffness = data->stiffness;
    def.damping = data->damping;
    def.timing = jn_timingExact;
    jnSprings* springs;
    assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
    size_t row = 3 * (size_t)data->vertices;
    for (int n = 0; n < data->frames; ++n) {
        float* out = data->dynamics + row * (size_t)(n > 0 ? n - 1 : 0);
        jnSprings_Step(springs, &(jnSpringsInput){.h = DT, .targets = data->targets + row * (size_t)n},
            &(jnSpringsOutput){.positions = out});
    }
    jnSprings_Finish(springs, &(jnSpringsOutput){.positions = data->dynamics + row * (size_t)(data->frames - 1)});
    jnDestroySprings(springs);
}

static void AddNoise(Data* data, double size)
{
    Random random = {99};
    for (int i = 0; i < 3 * data->frames * data->vertices; ++i) {
        data->dynamics[i] += (float)Uniform(&random, -size, size);
    }
}

// Springs from 50 to 5000 and from 1 to 60, log-uniform, moved by the runtime and disturbed by `noise`.
static Data MakeData(int frames, int vertices, uint64_t seed, double noise)
{
    size_t size = 3 * (size_t)frames * (size_t)vertices;
    Data data = {frames, vertices, malloc(size * 4), malloc(size * 4), malloc((size_t)vertices * 4),
        malloc((size_t)vertices * 4)};
    Random random = {5};
    for (int v = 0; v < vertices; ++v) {
        data.stiffness[v] = (float)(50 * pow(100, Uniform(&random, 0, 1)));
        data.damping[v] = (float)pow(60, Uniform(&random, 0, 1));
    }
    FillTargets(&data, seed);
    RunSprings(&data);
    AddNoise(&data, noise);
    return data;
}

static void FreeData(Data* data)
{
    free(data->targets);
    free(data->dynamics);
    free(data->stiffness);
    free(data->damping);
}

static jnaArray Wrap(const Data* data, const float* values)
{
    size_t frames = (size_t)data->frames, vertices = (size_t)data->vertices;
    return (jnaArray){.scalar = jna_float32,
        .dimensions = 3,
        .shape = {frames, vertices, 3},
        .count = 3 * frames * vertices,
        .data = values};
}

static jnaFit Fit(const jnaFitDef* settings, const Data* data)
{
    jnaSequence sequence = {Wrap(data, data->targets), Wrap(data, data->dynamics)};
    jnaFitDef def = *settings;
    def.sequences = &sequence;
    def.sequenceCount = 1;
    def.dt = (double)DT;
    jnaFit fit;
    jnError error;
    if (jnaFitSprings(&def, &fit, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return fit;
}

static int CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Relative errors of the stiffness over the springs with kd^2/4ks in a range: median and share within 5 %.
static double StiffnessError(const Data* data, const jnaFit* fit, double low, double high, double* within)
{
    double* errors = malloc((size_t)data->vertices * sizeof(double));
    int count = 0, good = 0;
    for (int v = 0; v < data->vertices; ++v) {
        double ks = (double)data->stiffness[v], kd = (double)data->damping[v], regime = kd * kd / 4 / ks;
        if (regime >= low && regime <= high) {
            errors[count] = fabs((double)fit->stiffness[v] / ks - 1);
            good += errors[count++] < 0.05;
        }
    }
    assert_true(count > 0);
    qsort(errors, (size_t)count, sizeof(double), CompareDoubles);
    double median = errors[count / 2];
    if (within != NULL) {
        *within = (double)good / count;
    }
    free(errors);
    return median;
}

static void SpringsAreRecoveredFromNoiseInEveryRegime(void** state)
{
    (void)state;
    Data data = MakeData(600, 2000, 1, 2e-4);
    jnaFitDef def = jnaDefaultFitDef();
    jnaFit fit = Fit(&def, &data);
    double within, all = StiffnessError(&data, &fit, 0, 1e9, &within);
    double under = StiffnessError(&data, &fit, 0, 0.8, NULL), critical = StiffnessError(&data, &fit, 0.8, 1.25, NULL);
    double over = StiffnessError(&data, &fit, 1.25, 1e9, NULL);
    print_message("median error of k_s %.1e (underdamped %.1e, critical %.1e, overdamped %.1e), %.3f %% within 5 %%\n",
        all, under, critical, over, 100 * within);
    ASSERT_AT_MOST(all, 1e-3);
    ASSERT_AT_MOST(under, 1e-3);
    ASSERT_AT_MOST(critical, 1e-3);
    ASSERT_AT_MOST(over, 1e-3);
    assert_true(within >= 0.999);
    jnaDestroyFit(&fit);
    FreeData(&data);
}

// A tenth of the frames replaced by 5 cm of high-frequency error, in bursts of four as in the paper's figure.
static void AddBursts(Data* data)
{
    Random random = {17};
    for (int burst = 0; burst < data->frames / 40; ++burst) {
        int first = burst * 40 + (int)(NextBits(&random) % 36);
        for (int i = 0; i < 4 * 3 * data->vertices; ++i) {
            int n = first + i / (3 * data->vertices);
            data->dynamics[n * 3 * data->vertices + i % (3 * data->vertices)] += n % 2 == 0 ? 0.05f : -0.05f;
        }
    }
}

static void DroppingTheWorstFramesSurvivesBursts(void** state)
{
    (void)state;
    Data data = MakeData(600, 800, 1, 2e-4);
    AddBursts(&data);
    jnaFitDef def = jnaDefaultFitDef();
    double error[3], captured = 0;
    for (int k = 0; k < 3; ++k) {
        def.drop = k == 0 ? 0 : 0.1;
        def.dropBy = k == 2 ? jna_dropByFrame : jna_dropByVertex;
        jnaFit fit = Fit(&def, &data);
        error[k] = StiffnessError(&data, &fit, 0, 1e9, NULL);
        uint64_t dropped = 0;
        for (int n = 0; n < fit.frameCount; ++n) {
            dropped += fit.dropped[n];
        }
        assert_int_equal(dropped, k == 0 ? 0 : 60 * 800);
        // Both fits on the same frames: the first is the fit without dropping, and on the frames that are kept the
        // second is better; over all frames, bursts included, it cannot be.
        captured = k == 0 ? fit.totalCaptured : captured;
        ASSERT_NEAR(fit.firstCaptured, captured, 1e-12);
        assert_true(k == 0 ? fit.firstKeptLoss == fit.totalLoss : fit.firstKeptLoss > 1.5 * fit.totalLoss);
        assert_true(fit.firstKeptCaptured <= fit.keptCaptured && fit.firstCaptured >= fit.totalCaptured);
        jnaDestroyFit(&fit);
    }
    print_message("median error of k_s with bursts: %.1e, without the worst frames %.1e by vertex, %.1e by frame\n",
        error[0], error[1], error[2]);
    assert_true(error[0] > 5 * error[1]);
    ASSERT_AT_MOST(error[1], 2e-3);
    ASSERT_AT_MOST(error[2], 2e-3);
    FreeData(&data);
}

static void DescentReachesTheSameLoss(void** state)
{
    (void)state;
    Data data = MakeData(300, 400, 1, 2e-4);
    jnaFitDef def = jnaDefaultFitDef();
    def.drop = 0;
    jnaFit lm = Fit(&def, &data);
    def.method = jna_fitDescent;
    jnaFit descent = Fit(&def, &data);
    int close = 0;
    for (int v = 0; v < data.vertices; ++v) {
        close += fabs(lm.loss[v] - descent.loss[v]) <= 1e-3 * fmin(lm.loss[v], descent.loss[v]);
    }
    print_message("losses within 0.1 %%: %.1f %%\n", 100.0 * close / data.vertices);
    assert_true(close >= 0.99 * data.vertices);
    jnaDestroyFit(&lm);
    jnaDestroyFit(&descent);
    FreeData(&data);
}

// Springs fitted on one motion predict another one.
static void FittedSpringsPredictUnseenMotion(void** state)
{
    (void)state;
    Data seen = MakeData(300, 400, 1, 2e-4), unseen = MakeData(300, 400, 2, 2e-4);
    jnaFitDef def = jnaDefaultFitDef();
    jnaFit fit = Fit(&def, &seen);
    double error[2];
    for (int k = 0; k < 2; ++k) {
        Data* truth = k == 0 ? &seen : &unseen;
        Data replay = MakeData(300, 400, k == 0 ? 1 : 2, 0);
        memcpy(replay.stiffness, fit.stiffness, 400 * sizeof(float));
        memcpy(replay.damping, fit.damping, 400 * sizeof(float));
        RunSprings(&replay);
        double sum = 0;
        for (int i = 0; i < 3 * 300 * 400; ++i) {
            sum += pow((double)replay.dynamics[i] - (double)truth->dynamics[i], 2);
        }
        error[k] = sqrt(sum / (300 * 400));
        FreeData(&replay);
    }
    print_message("rms error: seen %.4f mm, unseen %.4f mm\n", 1e3 * error[0], 1e3 * error[1]);
    ASSERT_AT_MOST(error[1], 2 * error[0]);
    jnaDestroyFit(&fit);
    FreeData(&seen);
    FreeData(&unseen);
}

static void GapsAreSteppedThrough(void** state)
{
    (void)state;
    Data data = MakeData(400, 37, 1, 1e-4);
    Random random = {3};
    for (int i = 0; i < 400 * 37; ++i) {
        bool gap = (i / 37 >= 100 && i / 37 < 160 && i % 37 % 3 == 0) || NextBits(&random) % 20 == 0 || i % 37 == 5;
        if (gap) {
            data.dynamics[3 * i + i % 3] = NAN;
        }
    }
    for (int start = 0; start < 2; ++start) {
        jnaFitDef def = jnaDefaultFitDef();
        def.start = (jnaFitStart)start;
        jnaFit fit = Fit(&def, &data);
        ASSERT_AT_MOST(StiffnessError(&data, &fit, 0, 1e9, NULL), 1e-3);
        assert_int_equal(fit.unobserved, 1);
        assert_int_equal(fit.state[5] & jna_springUnobserved, jna_springUnobserved);
        double ks, kd;
        jnaDefaultSpring(&ks, &kd);
        ASSERT_NEAR((double)fit.stiffness[5] / ks, 1, 1e-6);
        ASSERT_NEAR((double)fit.damping[5] / kd, 1, 1e-6);
        jnaDestroyFit(&fit);
    }
    FreeData(&data);
}

// A clip cut out of a longer motion does not start on its target: only the observed start is right.
static void AnObservedStartIsForCutClips(void** state)
{
    (void)state;
    Data data = MakeData(240, 40, 1, 0);
    Data cut = data;
    cut.frames = 90;
    cut.targets += 3 * 40 * 73;
    cut.dynamics += 3 * 40 * 73;
    double error[2];
    for (int start = 0; start < 2; ++start) {
        jnaFitDef def = jnaDefaultFitDef();
        def.start = (jnaFitStart)start;
        def.drop = 0;
        jnaFit fit = Fit(&def, &cut);
        error[start] = StiffnessError(&data, &fit, 0, 1e9, NULL);
        jnaDestroyFit(&fit);
    }
    print_message(
        "median error of k_s on a cut clip: %.1e from the target, %.1e from the observed start\n", error[0], error[1]);
    assert_true(error[1] < 0.2 * error[0]);
    FreeData(&data);
}

// The result does not depend on the threads, wherever lanes begin and whatever is dropped.
static void ResultsDoNotDependOnThreads(void** state)
{
    (void)state;
    Data data = MakeData(200, 83, 1, 2e-4);
    data.dynamics[3 * 83 * 4 + 3 * 40] = NAN; // starts differ between lanes of a batch
    data.dynamics[3 * 83 * 2 + 3 * 41] = NAN;
    jnaFitDef def = jnaDefaultFitDef();
    for (int k = 0; k < 4; ++k) {
        def.start = (jnaFitStart)(k % 2);
        def.dropBy = (jnaFitDrop)(k / 2);
        def.threads = 1;
        jnaFit one = Fit(&def, &data);
        for (int threads = 2; threads <= 16; threads *= 2) {
            def.threads = threads;
            jnaFit many = Fit(&def, &data);
            assert_memory_equal(one.stiffness, many.stiffness, 83 * sizeof(float));
            assert_memory_equal(one.damping, many.damping, 83 * sizeof(float));
            assert_memory_equal(one.loss, many.loss, 83 * sizeof(double));
            assert_memory_equal(one.captured, many.captured, 83 * sizeof(double));
            assert_memory_equal(&one.totalLoss, &many.totalLoss, sizeof(double));
            assert_memory_equal(one.dropped, many.dropped, 200 * sizeof(uint32_t));
            jnaDestroyFit(&many);
        }
        jnaDestroyFit(&one);
    }
    FreeData(&data);
}

// Motion without decay, of springs that hardly have any: what is fitted still comes to rest.
static void DampingHasAFloor(void** state)
{
    (void)state;
    Data data = MakeData(100, 9, 1, 0);
    for (int v = 0; v < 9; ++v) {
        data.damping[v] = 1e-3f;
    }
    RunSprings(&data);
    jnaFitDef def = jnaDefaultFitDef();
    jnaFit fit = Fit(&def, &data);
    for (int v = 0; v < 9; ++v) {
        assert_true((double)fit.damping[v] >= 0.999 * JNA_LEAST_DAMPING);
    }
    jnaDestroyFit(&fit);
    FreeData(&data);
}

static void UnexcitedSpringsKeepTheDefault(void** state)
{
    (void)state;
    Data data = MakeData(100, 9, 1, 0);
    for (int n = 0; n < 100; ++n) { // vertex 4 never moves
        for (int i = 0; i < 3; ++i) {
            data.targets[(n * 9 + 4) * 3 + i] = data.dynamics[(n * 9 + 4) * 3 + i] = 1;
        }
    }
    jnaFitDef def = jnaDefaultFitDef();
    jnaFit fit = Fit(&def, &data);
    double ks, kd;
    jnaDefaultSpring(&ks, &kd);
    ASSERT_NEAR((double)fit.stiffness[4] / ks, 1, 1e-3);
    ASSERT_NEAR((double)fit.damping[4] / kd, 1, 1e-3);
    assert_int_equal(fit.weak, 1);
    assert_int_equal(fit.state[4], jna_springWeak);
    assert_true(isnan(fit.captured[4]));
    jnaDestroyFit(&fit);
    FreeData(&data);
}

// Neighbours on a strip of triangles share their parameters; noise makes the decoupled fit of short data scatter.
static void SmoothingPullsNeighboursTogether(void** state)
{
    (void)state;
    enum { COUNT = 60 };
    Data data = MakeData(24, COUNT, 1, 0);
    int32_t faces[COUNT - 2][3];
    for (int v = 0; v < COUNT; ++v) {
        data.stiffness[v] = (float)(300 * exp(0.5 * sin(0.1 * v)));
        data.damping[v] = 6;
    }
    for (int f = 0; f < COUNT - 2; ++f) {
        faces[f][0] = f;
        faces[f][1] = f + 1;
        faces[f][2] = f + 2;
    }
    RunSprings(&data);
    AddNoise(&data, 0.1);
    double scatter[2];
    for (int k = 0; k < 2; ++k) {
        jnaFitDef def = jnaDefaultFitDef();
        def.drop = 0;
        def.smooth = k == 0 ? 0 : 1;
        def.faces = &faces[0][0];
        def.faceCount = COUNT - 2;
        jnaFit fit = Fit(&def, &data);
        scatter[k] = 0;
        for (int v = 0; v < COUNT; ++v) {
            scatter[k] += pow(log((double)fit.stiffness[v] / (double)data.stiffness[v]), 2) / COUNT;
        }
        jnaDestroyFit(&fit);
    }
    print_message("scatter of log k_s: %.3f alone, %.3f smoothed\n", sqrt(scatter[0]), sqrt(scatter[1]));
    assert_true(scatter[1] < 0.5 * scatter[0]);
    FreeData(&data);
}

// Every vertex of a batch appears at another frame, none at the first: nine runs in one sequence.
static void StartsMayBeStaggered(void** state)
{
    (void)state;
    enum { COUNT = 8 };
    Data data = MakeData(200, COUNT, 1, 0);
    for (int v = 0; v < COUNT; ++v) {
        for (int n = 0; n < 2 + 3 * v; ++n) {
            data.dynamics[3 * (n * COUNT + v)] = NAN;
        }
    }
    jnaFitDef def = jnaDefaultFitDef();
    def.start = jna_fitStartObserved;
    def.drop = 0;
    jnaFit fit = Fit(&def, &data);
    ASSERT_AT_MOST(StiffnessError(&data, &fit, 0, 1e9, NULL), 1e-2);
    jnaDestroyFit(&fit);
    FreeData(&data);
}

// Several sequences count as one; what is missing or dropped does not count at all.
static void SequencesAddUp(void** state)
{
    (void)state;
    enum { COUNT = 20 };
    Data first = MakeData(120, COUNT, 1, 2e-4), second = MakeData(90, COUNT, 2, 2e-4);
    for (int i = 0; i < 120 * COUNT; i += 2) {
        first.dynamics[3 * i] = NAN;
    }
    jnaSequence sequences[2] = {{Wrap(&first, first.targets), Wrap(&first, first.dynamics)},
        {Wrap(&second, second.targets), Wrap(&second, second.dynamics)}};
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = sequences;
    def.sequenceCount = 2;
    def.dt = (double)DT;
    def.drop = 0;
    jnaFit fit;
    assert_int_equal(jnaFitSprings(&def, &fit, NULL), jn_ok);
    ASSERT_AT_MOST(StiffnessError(&first, &fit, 0, 1e9, NULL), 1e-3);
    assert_int_equal(fit.keptCount, 60 * COUNT + 90 * COUNT);
    double rms = sqrt(fit.totalLoss / (3.0 * (double)fit.keptCount));
    ASSERT_NEAR(rms, 2e-4 / sqrt(3), 1e-5); // of uniform noise
    jnaDestroyFit(&fit);
    FreeData(&first);
    FreeData(&second);
}

static bool CountAndStop(const jnaProgress* progress, void* user)
{
    assert_true(progress->share >= 0 && progress->share <= 1);
    return ++*(int*)user < 3;
}

static void ACancelledFitGivesNothing(void** state)
{
    (void)state;
    Data data = MakeData(100, 400, 1, 0);
    jnaSequence sequence = {Wrap(&data, data.targets), Wrap(&data, data.dynamics)};
    int calls = 0;
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = &sequence;
    def.sequenceCount = 1;
    def.dt = (double)DT;
    def.watch = (jnaWatch){CountAndStop, &calls};
    jnaFit fit;
    jnError error;
    assert_int_not_equal(jnaFitSprings(&def, &fit, &error), jn_ok);
    assert_non_null(strstr(error.message, "interrupted"));
    assert_null(fit.stiffness);
    FreeData(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SpringsAreRecoveredFromNoiseInEveryRegime),
        cmocka_unit_test(DroppingTheWorstFramesSurvivesBursts),
        cmocka_unit_test(DescentReachesTheSameLoss),
        cmocka_unit_test(FittedSpringsPredictUnseenMotion),
        cmocka_unit_test(GapsAreSteppedThrough),
        cmocka_unit_test(AnObservedStartIsForCutClips),
        cmocka_unit_test(StartsMayBeStaggered),
        cmocka_unit_test(SequencesAddUp),
        cmocka_unit_test(ResultsDoNotDependOnThreads),
        cmocka_unit_test(DampingHasAFloor),
        cmocka_unit_test(UnexcitedSpringsKeepTheDefault),
        cmocka_unit_test(SmoothingPullsNeighboursTogether),
        cmocka_unit_test(ACancelledFitGivesNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
