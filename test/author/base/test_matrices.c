// Dense products and eigenvectors, and Lanczos, against plain sums and known eigenvalues.
#include "base/lanczos.h"
#include "base/matrices.h"
#include "helpers/support.h"

#include <math.h>
#include <stdlib.h>

static float At(jnaFloats m, int row, int column)
{
    size_t i = (size_t)(m.transposed ? column : row), k = (size_t)(m.transposed ? row : column);
    return m.entries[i * (size_t)m.stride + k];
}

static void ProductsOfEveryKindAreSums(void** state)
{
    (void)state;
    enum { ROWS = 13, DEPTH = 70, COLUMNS = 19, STRIDE = 80, OUT = 24 };
    static float left[STRIDE * STRIDE], right[STRIDE * STRIDE], out[ROWS * OUT];
    for (int i = 0; i < STRIDE * STRIDE; ++i) {
        left[i] = sinf((float)i);
        right[i] = cosf(0.7f * (float)i);
    }
    for (int kind = 0; kind < 4; ++kind) {
        jnaFloats a = {left, ROWS, DEPTH, STRIDE, (kind & 1) != 0},
                  b = {right, DEPTH, COLUMNS, STRIDE, (kind & 2) != 0};
        for (int i = 0; i < ROWS * OUT; ++i) {
            out[i] = 7;
        }
        assert_true(jnaMultiplyFloats(0.5f, a, b, out, OUT));
        for (int i = 0; i < ROWS; ++i) {
            for (int k = 0; k < OUT; ++k) {
                double sum = 0;
                for (int l = 0; k < COLUMNS && l < DEPTH; ++l) {
                    sum += 0.5 * (double)At(a, i, l) * (double)At(b, l, k);
                }
                ASSERT_NEAR((double)out[i * OUT + k], k < COLUMNS ? sum : 7, 2e-5);
            }
        }
    }
}

static void SquaresAreMultipliedInOrder(void** state)
{
    (void)state;
    static const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    double out[4];
    assert_true(jnaMultiplyDoubles(2, -1, a, b, out));
    ASSERT_NEAR(out[0], -19, 1e-13);
    ASSERT_NEAR(out[1], -22, 1e-13);
    ASSERT_NEAR(out[2], -43, 1e-13);
    ASSERT_NEAR(out[3], -50, 1e-13);
}

// The chain 2, -1: eigenvalues 2 - 2 cos(k pi / (n + 1)).
enum { CHAIN = 400 };

static double ChainValue(int k)
{
    return 2 - 2 * cos(k * acos(-1.0) / (CHAIN + 1));
}

static void EigenvectorsAreRowsAndRise(void** state)
{
    (void)state;
    double *matrix = calloc((size_t)CHAIN * CHAIN, sizeof(double)), values[CHAIN];
    for (size_t i = 0; i < CHAIN; ++i) {
        matrix[i * CHAIN + i] = 2;
        if (i > 0) {
            matrix[i * CHAIN + i - 1] = matrix[(i - 1) * CHAIN + i] = -1;
        }
    }
    assert_int_equal(jnaFindEigenvectors(CHAIN, matrix, values), jn_ok);
    for (size_t k = 0; k < CHAIN; ++k) {
        const double* v = matrix + k * CHAIN;
        double length = 0;
        ASSERT_NEAR(values[k], ChainValue((int)k + 1), 1e-12);
        for (size_t i = 0; i < CHAIN; ++i) {
            double product = 2 * v[i] - (i > 0 ? v[i - 1] : 0) - (i + 1 < CHAIN ? v[i + 1] : 0);
            ASSERT_NEAR(product, values[k] * v[i], 1e-12);
            length += v[i] * v[i];
        }
        ASSERT_NEAR(length, 1, 1e-12);
    }
    matrix[5] = (double)NAN;
    assert_int_equal(jnaFindEigenvectors(CHAIN, matrix, values), jn_badData);
    free(matrix);
}

typedef struct Chain {
    int products, stopAt;
} Chain;

static jnResult MultiplyChain(void* user, const double* in, double* out)
{
    Chain* chain = user;
    for (int i = 0; i < CHAIN; ++i) {
        out[i] = 2 * in[i] - (i > 0 ? in[i - 1] : 0) - (i + 1 < CHAIN ? in[i + 1] : 0);
    }
    return ++chain->products == chain->stopAt ? jn_cancelled : jn_ok;
}

static void LanczosFindsTheLargest(void** state)
{
    (void)state;
    enum { COUNT = 10 };
    double start[CHAIN], values[2][COUNT], *vectors[2];
    for (int i = 0; i < CHAIN; ++i) {
        start[i] = sin(i * i);
    }
    for (int run = 0; run < 2; ++run) {
        Chain chain = {0, 0};
        jnaLanczosDef def = {CHAIN, COUNT, 3 * COUNT, 1000, 1e-10, start, MultiplyChain, &chain};
        vectors[run] = malloc(COUNT * CHAIN * sizeof(double));
        assert_int_equal(jnaFindLargest(&def, values[run], vectors[run]), jn_ok);
    }
    assert_memory_equal(values[0], values[1], sizeof(values[0]));
    assert_memory_equal(vectors[0], vectors[1], COUNT * CHAIN * sizeof(double));
    for (int k = 0; k < COUNT; ++k) {
        double product[CHAIN], *v = vectors[0] + k * CHAIN;
        Chain chain = {0, 0};
        ASSERT_NEAR(values[0][k], ChainValue(CHAIN - k), 1e-9);
        (void)MultiplyChain(&chain, v, product);
        for (int i = 0; i < CHAIN; ++i) {
            ASSERT_NEAR(product[i], values[0][k] * v[i], 1e-7);
        }
    }
    free(vectors[0]);
    free(vectors[1]);
}

static void LanczosStopsWhereItsProductSaysSo(void** state)
{
    (void)state;
    double start[CHAIN] = {1}, values[4], *vectors = malloc(4 * CHAIN * sizeof(double));
    Chain chain = {0, 7};
    jnaLanczosDef def = {CHAIN, 4, 20, 1000, 1e-10, start, MultiplyChain, &chain};
    assert_int_equal(jnaFindLargest(&def, values, vectors), jn_cancelled);
    assert_int_equal(chain.products, 7);
    chain = (Chain){0, 0};
    def.mostRestarts = 1; // too few
    assert_int_equal(jnaFindLargest(&def, values, vectors), jn_badData);
    free(vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ProductsOfEveryKindAreSums),
        cmocka_unit_test(SquaresAreMultipliedInOrder),
        cmocka_unit_test(EigenvectorsAreRowsAndRise),
        cmocka_unit_test(LanczosFindsTheLargest),
        cmocka_unit_test(LanczosStopsWhereItsProductSaysSo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
