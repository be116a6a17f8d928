// The factor in single precision: solves as the double one does.
#include "helpers/volumes.h"

#include "base/affine.h"
#include "flesh/preconditioner.h"

// What single precision can do on these matrices, whose condition is a few hundred.
static const double SINGLE = 2e-5;

typedef struct Pair {
    jnaLaplacian* laplacian;
    jnaPreconditioner preconditioner;
    int32_t* order;
} Pair;

static Pair MakePair(const jnaLaplacianDef* def)
{
    Pair pair = {0};
    jnError error;
    pair.order = malloc((size_t)def->nodeCount * sizeof(int32_t));
    assert_int_equal(jnaCreateLaplacian(def, &pair.laplacian, &error), jn_ok);
    assert_int_equal(jnaCreatePreconditioner(pair.laplacian, pair.order, &pair.preconditioner, &error), jn_ok);
    return pair;
}

static void DestroyPair(Pair* pair)
{
    jnaDestroyLaplacian(pair->laplacian);
    jnaDestroyPreconditioner(&pair->preconditioner);
    free(pair->order);
}

// Solves random loads both ways; the difference over the solution, both as norms.
static double Compare(const jnaLaplacianDef* def, Pair* pair)
{
    int nodes = def->nodeCount, count = pair->preconditioner.count;
    double* loads = calloc(3 * (size_t)nodes, sizeof(double));
    double* values = calloc(3 * (size_t)nodes, sizeof(double));
    float* x = aligned_alloc(16, 4 * ((size_t)count + 1) * sizeof(float));
    Random random = {11};
    memset(x, 0, 4 * ((size_t)count + 1) * sizeof(float));
    for (int p = 0; p < count; ++p) {
        for (int k = 0; k < 3; ++k) {
            x[4 * p + k] = (float)Uniform(&random, -1, 1);
            loads[k * nodes + pair->order[p]] = (double)x[4 * p + k];
        }
    }
    jnError error;
    assert_int_equal(jnaLaplacian_Solve(pair->laplacian, 3, loads, values, &error), jn_ok);
    // All kernels give the same bytes.
    size_t size4 = 4 * (size_t)count * sizeof(float);
    float* again = malloc(size4 + 4 * sizeof(float));
    memcpy(again, x, size4 + 4 * sizeof(float));
    jnaPreconditioner_Solve(&pair->preconditioner, x);
    jnaSolvePanelsBaseline(&pair->preconditioner, again);
    assert_memory_equal(x, again, size4);
    free(again);
    double difference = 0, size = 0;
    for (int p = 0; p < count; ++p) {
        for (int k = 0; k < 3; ++k) {
            double exact = values[k * nodes + pair->order[p]], away = (double)x[4 * p + k] - exact;
            difference += away * away;
            size += exact * exact;
        }
        assert_true(x[4 * p + 3] == 0.0f); // the padding stays clear
    }
    free(loads);
    free(values);
    free(x);
    return sqrt(difference / fmax(size, 1e-300));
}

static void ABlockSolvesAsInDoublePrecision(void** state)
{
    (void)state;
    static const double size[3] = {1, 1, 1};
    TestVolume test = MakeBlock(11, 11, 11, size, 0.2, 2);
    jnaVolume* v = &test.volume;
    uint8_t* held = calloc((size_t)v->nodeCount, 1);
    for (int n = 0; n < v->nodeCount; ++n) {
        held[n] = v->nodes[3 * n] <= 0;
    }
    jnaLaplacianDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .held = held,
        .threads = 1};
    Pair pair = MakePair(&def);
    int heldCount = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        heldCount += held[n];
    }
    assert_int_equal(pair.preconditioner.count, v->nodeCount - heldCount);
    double error = Compare(&def, &pair);
    print_message(
        "block of %d nodes in %d panels: relative error %.1e\n", v->nodeCount, pair.preconditioner.panelCount, error);
    ASSERT_AT_MOST(error, SINGLE);
    assert_true(error > 1e-9); // it is another arithmetic, not the same solve called twice
    DestroyPair(&pair);
    free(held);
    DestroyTestVolume(&test);
}

// Other values on the same mesh: as if made of them from the start.
static void AFactorTakesOtherValues(void** state)
{
    (void)state;
    static const double size[3] = {1, 1, 1};
    TestVolume test = MakeBlock(6, 6, 6, size, 0.2, 2);
    jnaVolume* v = &test.volume;
    uint8_t* held = calloc((size_t)v->nodeCount, 1);
    double* stiffness[2] = {calloc((size_t)v->tetrahedronCount, 8), calloc((size_t)v->tetrahedronCount, 8)};
    double* diagonal = calloc((size_t)v->nodeCount, sizeof(double));
    double(*locals)[10] = calloc((size_t)v->tetrahedronCount, sizeof(*locals));
    Random random = {7};
    for (int n = 0; n < v->nodeCount; ++n) {
        held[n] = v->nodes[3 * n] <= 0;
        diagonal[n] = held[n] ? 0 : Uniform(&random, 0, 0.1);
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* corners = v->tetrahedra + 4 * t;
        double gradients[4][3], volume = jnaHatGradients(v->nodes, corners, gradients);
        stiffness[0][t] = 1;
        stiffness[1][t] = Uniform(&random, 0.5, 5);
        for (int i = 0, e = 0; i < 4; ++i) {
            for (int k = i; k < 4; ++k, ++e) {
                locals[t][e] = volume * stiffness[1][t] * jnaDot(gradients[i], gradients[k]);
            }
        }
    }
    jnaLaplacianDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .held = held,
        .stiffness = stiffness[0],
        .threads = 1};
    Pair taken = MakePair(&def);
    def.stiffness = stiffness[1];
    def.diagonal = diagonal;
    Pair made = MakePair(&def);
    jnError error;
    assert_int_equal(jnaLaplacian_Refactor(taken.laplacian, (const double(*)[10])locals, diagonal, &error), jn_ok);
    jnaPreconditioner_Refill(&taken.preconditioner, taken.laplacian);
    assert_memory_equal(taken.order, made.order, (size_t)made.preconditioner.count * sizeof(int32_t));
    assert_int_equal(taken.preconditioner.entryCount, made.preconditioner.entryCount);
    for (size_t i = 0; i < made.preconditioner.entryCount; ++i) {
        double is = (double)taken.preconditioner.entries[i], was = (double)made.preconditioner.entries[i];
        ASSERT_NEAR(is, was, 1e-6 * (1 + fabs(was)));
    }
    ASSERT_AT_MOST(Compare(&def, &taken), SINGLE);
    DestroyPair(&taken);
    DestroyPair(&made);
    free(stiffness[0]);
    free(stiffness[1]);
    free(diagonal);
    free(locals);
    free(held);
    DestroyTestVolume(&test);
}

// Points at random, and tetrahedra between them that need not make a body: the matrix asks for no more.
static double* RandomPoints(int count)
{
    double* nodes = malloc(3 * (size_t)count * sizeof(double));
    Random random = {5};
    for (int i = 0; i < 3 * count; ++i) {
        nodes[i] = Uniform(&random, 0, 1);
    }
    return nodes;
}

// All nodes depend on each other: one supernode, cut into panels of at most 16 columns.
static void ASupernodeWiderThanAPanelIsCut(void** state)
{
    (void)state;
    enum { NODES = 41, TETRAHEDRA = 3000 };
    static const int widths[] = {15, 16, 17, 32, 33, 40};
    double* nodes = RandomPoints(NODES);
    int32_t* tetrahedra = malloc(4 * TETRAHEDRA * sizeof(int32_t));
    Random random = {3};
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); ++i) {
        for (int t = 0; t < TETRAHEDRA; ++t) {
            for (int c = 0; c < 4; ++c) {
                int32_t* corner = tetrahedra + 4 * t + c;
                bool again;
                do {
                    *corner = (int32_t)(NextBits(&random) % (uint64_t)(widths[i] + 1));
                    again = false;
                    for (int k = 0; k < c; ++k) {
                        again = again || corner[-1 - k] == *corner;
                    }
                } while (again);
            }
        }
        uint8_t held[NODES] = {1};
        jnaLaplacianDef def = {.nodeCount = widths[i] + 1,
            .nodes = nodes,
            .tetrahedronCount = TETRAHEDRA,
            .tetrahedra = tetrahedra,
            .held = held,
            .threads = 1};
        Pair pair = MakePair(&def);
        assert_int_equal(pair.preconditioner.count, widths[i]);
        assert_int_equal(pair.preconditioner.panelCount, (widths[i] + 15) / 16);
        ASSERT_AT_MOST(Compare(&def, &pair), SINGLE);
        DestroyPair(&pair);
    }
    free(nodes);
    free(tetrahedra);
}

// Free nodes that touch nothing but held ones: every panel is one column with no rows below.
static void PanelsMayBeOneColumnWide(void** state)
{
    (void)state;
    enum { FREE = 9, NODES = 4 * FREE };
    double* nodes = RandomPoints(NODES);
    int32_t tetrahedra[4 * FREE];
    uint8_t held[NODES];
    for (int n = 0; n < NODES; ++n) {
        tetrahedra[n] = n;
        held[n] = n % 4 != 2;
    }
    for (int count = 1; count <= FREE; count += FREE - 1) {
        jnaLaplacianDef def = {.nodeCount = 4 * count,
            .nodes = nodes,
            .tetrahedronCount = count,
            .tetrahedra = tetrahedra,
            .held = held,
            .threads = 1};
        Pair pair = MakePair(&def);
        assert_int_equal(pair.preconditioner.count, count);
        assert_int_equal(pair.preconditioner.panelCount, count);
        assert_int_equal(pair.preconditioner.rowCount, 0);
        ASSERT_AT_MOST(Compare(&def, &pair), SINGLE);
        DestroyPair(&pair);
    }
    free(nodes);
}

static void NothingFreeIsNothingToSolve(void** state)
{
    (void)state;
    double* nodes = RandomPoints(4);
    int32_t tetrahedra[4] = {0, 1, 2, 3};
    uint8_t held[4] = {1, 1, 1, 1};
    jnaLaplacianDef def = {
        .nodeCount = 4, .nodes = nodes, .tetrahedronCount = 1, .tetrahedra = tetrahedra, .held = held, .threads = 1};
    Pair pair = MakePair(&def);
    assert_int_equal(pair.preconditioner.count, 0);
    ASSERT_AT_MOST(Compare(&def, &pair), 0);
    DestroyPair(&pair);
    free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ABlockSolvesAsInDoublePrecision),
        cmocka_unit_test(AFactorTakesOtherValues),
        cmocka_unit_test(ASupernodeWiderThanAPanelIsCut),
        cmocka_unit_test(PanelsMayBeOneColumnWide),
        cmocka_unit_test(NothingFreeIsNothingToSolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
