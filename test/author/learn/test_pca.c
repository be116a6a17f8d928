// Principal components: exact and randomised agree, and say what they leave out.
#include "helpers/support.h"

#include "learn/pca.h"

enum { ROWS = 60, SIZE = 5000, RANK = 12 };

// Rows of a known rank, strengths falling by half, a little noise, an offset. which: every row but each seventh.
static int MakeRows(float* rows, int* which)
{
    Random random = {3};
    float* axes = malloc(sizeof(float) * RANK * SIZE);
    for (int i = 0; i < RANK * SIZE; ++i) {
        axes[i] = (float)Uniform(&random, -1, 1);
    }
    int count = 0;
    for (int i = 0; i < ROWS; ++i) {
        float* row = rows + (size_t)i * SIZE;
        for (int k = 0; k < SIZE; ++k) {
            row[k] = 0.3f + (float)Uniform(&random, -1e-5, 1e-5);
        }
        double strength = 1.0;
        for (int a = 0; a < RANK; ++a, strength *= 0.5) {
            float share = (float)(strength * Uniform(&random, -1, 1));
            for (int k = 0; k < SIZE; ++k) {
                row[k] += share * axes[a * SIZE + k];
            }
        }
        if (i % 7 != 3) {
            which[count++] = i;
        }
    }
    free(axes);
    return count;
}

static void BothWaysFindTheSameAndAreOrthonormal(void** state)
{
    (void)state;
    float* rows = malloc(sizeof(float) * ROWS * SIZE);
    int which[ROWS];
    jnaPcaDef def = {.rows = rows, .which = which, .size = SIZE, .most = 10};
    def.count = MakeRows(rows, which);
    jnaPca exact, random;
    def.method = jna_pcaGram;
    assert_int_equal(jnaFindComponents(&def, &exact, NULL), jn_ok);
    def.method = jna_pcaRandomised;
    assert_int_equal(jnaFindComponents(&def, &random, NULL), jn_ok);
    assert_int_equal(exact.count, 10);
    assert_int_equal(random.count, 10);
    for (int a = 0; a < 10; ++a) {
        ASSERT_NEAR(random.spread[a] / exact.spread[a], 1.0, 1e-2); // products in floats
        double across = 0.0;
        for (int b = 0; b <= a; ++b) {
            double inner = 0.0;
            for (int k = 0; k < SIZE; ++k) {
                inner += (double)exact.basis[a * SIZE + k] * (double)exact.basis[b * SIZE + k];
            }
            ASSERT_NEAR(inner, a == b ? 1.0 : 0.0, 3e-3); // products in floats
        }
        for (int k = 0; k < SIZE; ++k) {
            across += (double)exact.basis[a * SIZE + k] * (double)random.basis[a * SIZE + k];
        }
        ASSERT_NEAR(fabs(across), 1.0, 3e-3);
    }
    jnaDestroyPca(&exact);
    jnaDestroyPca(&random);
    free(rows);
}

static void ComponentsEndWhereTheResidualIsReached(void** state)
{
    (void)state;
    float* rows = malloc(sizeof(float) * ROWS * SIZE);
    int which[ROWS];
    jnaPcaDef def = {.rows = rows, .which = which, .size = SIZE, .most = 40, .residual = 0.05};
    def.count = MakeRows(rows, which);
    jnaPca pca;
    assert_int_equal(jnaFindComponents(&def, &pca, NULL), jn_ok);
    assert_in_range(pca.count, 3, 6); // 0.5^4 is just above a twentieth
    double left = 0.0, coefficients[40];
    for (int i = 0; i < def.count; ++i) {
        const float* row = rows + (size_t)which[i] * SIZE;
        jnaPca_Project(&pca, SIZE, row, coefficients);
        for (int k = 0; k < SIZE; ++k) {
            double value = (double)row[k] - (double)pca.mean[k];
            for (int c = 0; c < pca.count; ++c) {
                value -= coefficients[c] * (double)pca.basis[c * SIZE + k];
            }
            left += value * value;
        }
    }
    ASSERT_AT_MOST(sqrt(left / pca.total), 0.05);
    jnaDestroyPca(&pca);
    free(rows);
}

// Fields of which each lives on vertices of its own, mixed by principal components, come apart again.
static void LocalFieldsAreFoundAgain(void** state)
{
    (void)state;
    enum { FIELDS = 4, PLACES = 90 };
    Random random = {5};
    float rows[ROWS][FIELDS * PLACES];
    int which[ROWS];
    for (int i = 0; i < ROWS; ++i) {
        which[i] = i;
        for (int f = 0; f < FIELDS; ++f) {
            float share = (float)Uniform(&random, -1, 1);
            for (int k = 0; k < PLACES; ++k) {
                rows[i][f * PLACES + k] = share * sinf(0.1f * (float)(k + 7 * f + 1));
            }
        }
    }
    jnaPcaDef def = {.rows = rows[0], .which = which, .count = ROWS, .size = FIELDS * PLACES, .most = FIELDS};
    jnaPca pca;
    assert_int_equal(jnaFindComponents(&def, &pca, NULL), jn_ok);
    assert_true(jnaPca_Localise(&pca, FIELDS * PLACES));
    double spread = 0.0;
    for (int c = 0; c < FIELDS; ++c) {
        double within[FIELDS] = {0}, most = 0.0, all = 0.0;
        for (int k = 0; k < FIELDS * PLACES; ++k) {
            double x = (double)pca.basis[c * FIELDS * PLACES + k];
            within[k / PLACES] += x * x;
        }
        for (int f = 0; f < FIELDS; ++f) {
            most = fmax(most, within[f]);
            all += within[f];
        }
        ASSERT_NEAR(all, 1.0, 1e-3);
        ASSERT_NEAR(most, 1.0, 1e-3); // all of it in one place
        spread += pca.spread[c];
    }
    ASSERT_NEAR(spread / pca.total, 1.0, 1e-3);
    jnaDestroyPca(&pca);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BothWaysFindTheSameAndAreOrthonormal),
        cmocka_unit_test(ComponentsEndWhereTheResidualIsReached),
        cmocka_unit_test(LocalFieldsAreFoundAgain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
