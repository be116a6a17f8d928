// The Laplacian: linear fields come back, residuals vanish, a loose piece is refused, threads change nothing.
#include "helpers/volumes.h"

#include "volume/laplacian.h"

#include <omp.h>

static const double size[3] = {1, 0.7, 0.5};

static jnaLaplacianDef DefOf(const jnaVolume* v, const uint8_t* held)
{
    return (jnaLaplacianDef){.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .held = held};
}

// result = L values, straight from the gradients of the hat functions.
static void Apply(const jnaLaplacianDef* def, const double* values, double* result)
{
    for (int n = 0; n < def->nodeCount; ++n) {
        result[n] = def->diagonal != NULL ? def->diagonal[n] * values[n] : 0;
    }
    for (int t = 0; t < def->tetrahedronCount; ++t) {
        const int32_t* c = def->tetrahedra + 4 * (size_t)t;
        double g[4][3], flow[3] = {0, 0, 0};
        double scale = fabs(jnaHatGradients(def->nodes, c, g)) * (def->stiffness != NULL ? def->stiffness[t] : 1);
        for (int i = 0; i < 12; ++i) {
            flow[i % 3] += g[i / 3][i % 3] * values[c[i / 3]];
        }
        for (int k = 0; k < 4; ++k) {
            result[c[k]] += scale * (g[k][0] * flow[0] + g[k][1] * flow[1] + g[k][2] * flow[2]);
        }
    }
}

static uint8_t* HoldBoundary(const TestVolume* test)
{
    uint8_t* held = calloc((size_t)test->volume.nodeCount, 1);
    memset(held, 1, (size_t)test->character.vertexCount);
    return held;
}

static double Linear(const double* p)
{
    return 0.3 + 2 * p[0] - 1.5 * p[1] + 0.25 * p[2];
}

static void ALinearFieldComesBack(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(7, 6, 5, size, 0.15, 2);
    const jnaVolume* v = &test.volume;
    uint8_t* held = HoldBoundary(&test);
    double* stiffness = malloc((size_t)v->tetrahedronCount * sizeof(double));
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        stiffness[t] = 3; // any constant: the field stays
    }
    double* values = calloc((size_t)v->nodeCount, sizeof(double));
    for (int constant = 0; constant < 2; ++constant) {
        jnaLaplacianDef def = DefOf(v, held);
        def.stiffness = constant ? stiffness : NULL;
        jnaLaplacian* laplacian;
        jnError error;
        assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_ok);
        for (int n = 0; n < v->nodeCount; ++n) {
            values[n] = held[n] ? Linear(v->nodes + 3 * n) : 1e9;
        }
        assert_int_equal(jnaLaplacian_Solve(laplacian, 1, NULL, values, &error), jn_ok);
        for (int n = 0; n < v->nodeCount; ++n) {
            ASSERT_NEAR(values[n], Linear(v->nodes + 3 * n), 1e-12);
        }
        jnaDestroyLaplacian(laplacian);
    }
    free(values);
    free(stiffness);
    free(held);
    DestroyTestVolume(&test);
}

// u = x^2 has Laplacian 2, so its load is -2 times the volume of a node; on an unmoved grid the answer is exact.
static void ALoadGivesItsParabola(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(8, 4, 4, size, 0, 2);
    const jnaVolume* v = &test.volume;
    uint8_t* held = HoldBoundary(&test);
    jnaLaplacianDef def = DefOf(v, held);
    jnaLaplacian* laplacian;
    jnError error;
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_ok);
    double* values = calloc((size_t)v->nodeCount, sizeof(double));
    double* loads = calloc((size_t)v->nodeCount, sizeof(double));
    double cell = size[0] * size[1] * size[2] / (8 * 4 * 4);
    for (int n = 0; n < v->nodeCount; ++n) {
        values[n] = held[n] ? v->nodes[3 * n] * v->nodes[3 * n] : 0;
        loads[n] = -2 * cell;
    }
    assert_int_equal(jnaLaplacian_Solve(laplacian, 1, loads, values, &error), jn_ok);
    for (int n = 0; n < v->nodeCount; ++n) {
        ASSERT_NEAR(values[n], v->nodes[3 * n] * v->nodes[3 * n], 1e-12);
    }
    free(values);
    free(loads);
    free(held);
    jnaDestroyLaplacian(laplacian);
    DestroyTestVolume(&test);
}

static void AStiffnessAndADiagonalOfItsOwnAreSolvedFor(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(5, 5, 5, size, 0.15, 2);
    const jnaVolume* v = &test.volume;
    uint8_t* held = HoldBoundary(&test);
    size_t n = (size_t)v->nodeCount;
    double* stiffness = malloc((size_t)v->tetrahedronCount * sizeof(double));
    double* diagonal = malloc(n * sizeof(double));
    double* values = calloc(n, sizeof(double));
    double* residual = malloc(n * sizeof(double));
    Random random = {3};
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        stiffness[t] = Uniform(&random, 0.5, 2);
    }
    for (size_t i = 0; i < n; ++i) {
        diagonal[i] = Uniform(&random, 0, 0.1);
        values[i] = Uniform(&random, -1, 1);
    }
    jnaLaplacianDef def = DefOf(v, held);
    def.stiffness = stiffness;
    def.diagonal = diagonal;
    jnaLaplacian* laplacian;
    jnError error;
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_ok);
    assert_int_equal(jnaLaplacian_Solve(laplacian, 1, NULL, values, &error), jn_ok);
    Apply(&def, values, residual);
    for (size_t i = 0; i < n; ++i) {
        ASSERT_NEAR(held[i] ? 0 : residual[i], 0, 1e-12);
    }
    jnaDestroyLaplacian(laplacian);
    free(stiffness);
    free(diagonal);
    free(values);
    free(residual);
    free(held);
    DestroyTestVolume(&test);
}

// Ties alone hold a field that is linear: nothing else has to.
static void TiedPointsCarryALinearField(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(4, 4, 4, size, 0.15, 2);
    const jnaVolume* v = &test.volume;
    int count = v->tetrahedronCount;
    int32_t* where = malloc((size_t)count * sizeof(int32_t));
    double* weights = malloc((size_t)count * 4 * sizeof(double));
    double* targets = malloc((size_t)count * sizeof(double));
    double* load = calloc((size_t)v->nodeCount, sizeof(double));
    double* values = calloc((size_t)v->nodeCount, sizeof(double));
    for (int t = 0; t < count; ++t) {
        double p[3] = {0};
        where[t] = t % 5 == 4 ? -1 : t;
        for (int i = 0; i < 4; ++i) {
            weights[4 * t + i] = 0.1 * (i + 1);
            for (int k = 0; k < 3; ++k) {
                p[k] += weights[4 * t + i] * v->nodes[3 * v->tetrahedra[4 * t + i] + k];
            }
        }
        targets[t] = Linear(p);
    }
    jnaLaplacianDef def = DefOf(v, NULL);
    def.ties = (jnaLaplacianTies){count, where, weights, 1e6};
    jnaLaplacian* laplacian;
    jnError error;
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_ok);
    jnaAddTies(&def.ties, v->tetrahedra, targets, load);
    assert_int_equal(jnaLaplacian_Solve(laplacian, 1, load, values, &error), jn_ok);
    for (int n = 0; n < v->nodeCount; ++n) {
        ASSERT_NEAR(values[n], Linear(v->nodes + 3 * n), 1e-4);
    }
    jnaDestroyLaplacian(laplacian);
    free(where);
    free(weights);
    free(targets);
    free(load);
    free(values);
    DestroyTestVolume(&test);
}

static void ALoosePieceIsRefused(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(4, 4, 4, size, 0.15, 2);
    jnaLaplacianDef def = DefOf(&test.volume, NULL);
    jnaLaplacian* laplacian;
    jnError error;
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_badData);
    assert_null(laplacian);
    assert_non_null(strstr(error.message, "nothing that holds it"));
    test.volume.tetrahedra[17] = test.volume.nodeCount;
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_badData);
    assert_non_null(strstr(error.message, "tetrahedron 4"));
    jnaDestroyLaplacian(NULL);
    DestroyTestVolume(&test);
}

static void ThreadsChangeNoByte(void** state)
{
    (void)state;
    enum { COLUMNS = 31 };
    TestVolume test = MakeBlock(14, 12, 12, size, 0.15, 2);
    const jnaVolume* v = &test.volume;
    uint8_t* held = HoldBoundary(&test);
    size_t n = (size_t)v->nodeCount;
    double* values[2];
    for (int run = 0; run < 2; ++run) {
        Random random = {11};
        values[run] = malloc(COLUMNS * n * sizeof(double));
        for (size_t i = 0; i < COLUMNS * n; ++i) {
            values[run][i] = Uniform(&random, 0, 1);
        }
        jnaLaplacianDef def = DefOf(v, held);
        def.threads = run == 0 ? 1 : 3;
        jnaLaplacian* laplacian;
        jnError error;
        assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_ok);
        assert_int_equal(jnaLaplacian_Solve(laplacian, COLUMNS, NULL, values[run], &error), jn_ok);
        jnaDestroyLaplacian(laplacian);
    }
    assert_memory_equal(values[0], values[1], COLUMNS * n * sizeof(double));
    free(values[0]);
    free(values[1]);
    free(held);
    DestroyTestVolume(&test);
}

// Made at the same time, Laplacians are what they are alone.
static void MadeTogetherIsAsMadeAlone(void** state)
{
    (void)state;
    enum { TOGETHER = 8 };
    TestVolume test = MakeBlock(14, 12, 12, size, 0.15, 2);
    uint8_t* held = HoldBoundary(&test);
    size_t n = (size_t)test.volume.nodeCount;
    double* values = malloc((TOGETHER + 1) * n * sizeof(double));
    for (int i = 0; i <= TOGETHER; ++i) {
        for (size_t j = 0; j < n; ++j) {
            values[(size_t)i * n + j] = Linear(test.volume.nodes + 3 * j);
        }
    }
    jnResult results[TOGETHER];
#pragma omp parallel for num_threads(4) schedule(static, 1)
    for (int i = 0; i < TOGETHER; ++i) {
        jnaLaplacianDef def = DefOf(&test.volume, held);
        jnaLaplacian* laplacian = NULL;
        results[i] = jnaCreateLaplacian(&def, &laplacian, NULL);
        results[i] =
            results[i] == jn_ok ? jnaLaplacian_Solve(laplacian, 1, NULL, values + (size_t)i * n, NULL) : results[i];
        jnaDestroyLaplacian(laplacian);
    }
    jnaLaplacianDef def = DefOf(&test.volume, held);
    jnaLaplacian* laplacian = NULL;
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, NULL), jn_ok);
    assert_int_equal(jnaLaplacian_Solve(laplacian, 1, NULL, values + TOGETHER * n, NULL), jn_ok);
    jnaDestroyLaplacian(laplacian);
    for (int i = 0; i < TOGETHER; ++i) {
        assert_int_equal(results[i], jn_ok);
        assert_memory_equal(values + (size_t)i * n, values + TOGETHER * n, n * sizeof(double));
    }
    free(values);
    free(held);
    DestroyTestVolume(&test);
}

// The share of time is told, not judged: other work may share the machine.
static void TheBodyIsFactoredAndSolved(void** state)
{
    (void)state;
    TestVolume test = MakeBodyVolume(NULL);
    const jnaVolume* v = &test.volume;
    size_t n = (size_t)v->nodeCount;
    // As the flesh solver has it: a few nodes held, all others free.
    uint8_t* held = calloc(n, 1);
    for (size_t i = (size_t)test.character.vertexCount; i < n; i += 20) {
        held[i] = 1;
    }
    double* values = malloc(31 * n * sizeof(double));
    double* loads = calloc(31 * n, sizeof(double));
    double* residual = malloc(n * sizeof(double));
    for (size_t i = 0; i < 31 * n; ++i) {
        values[i] = (double)(i % 17) / 17;
    }
    jnaLaplacianDef def = DefOf(v, held);
    jnaLaplacian* laplacian;
    jnError error;
    double times[4];
    times[0] = omp_get_wtime();
    assert_int_equal(jnaCreateLaplacian(&def, &laplacian, &error), jn_ok);
    times[1] = omp_get_wtime();
    assert_int_equal(jnaLaplacian_Solve(laplacian, 31, loads, values, &error), jn_ok);
    times[2] = omp_get_wtime();
    assert_int_equal(jnaLaplacian_Solve(laplacian, 3, loads, values, &error), jn_ok);
    times[3] = omp_get_wtime();
    print_message("%d nodes, %d tetrahedra: create %.0f ms, 31 right-hand sides %.1f ms, 3 of them %.1f ms\n",
        v->nodeCount, v->tetrahedronCount, 1e3 * (times[1] - times[0]), 1e3 * (times[2] - times[1]),
        1e3 * (times[3] - times[2]));
    double worst = 0;
    for (int c = 0; c < 31; ++c) {
        Apply(&def, values + (size_t)c * n, residual);
        for (size_t i = 0; i < n; ++i) {
            worst = fmax(worst, held[i] ? 0 : fabs(residual[i]));
        }
    }
    ASSERT_AT_MOST(worst, 1e-10);
    jnaDestroyLaplacian(laplacian);
    free(held);
    free(values);
    free(loads);
    free(residual);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ALinearFieldComesBack),
        cmocka_unit_test(ALoadGivesItsParabola),
        cmocka_unit_test(AStiffnessAndADiagonalOfItsOwnAreSolvedFor),
        cmocka_unit_test(TiedPointsCarryALinearField),
        cmocka_unit_test(ALoosePieceIsRefused),
        cmocka_unit_test(ThreadsChangeNoByte),
        cmocka_unit_test(MadeTogetherIsAsMadeAlone),
        cmocka_unit_test(TheBodyIsFactoredAndSolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
