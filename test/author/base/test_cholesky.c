// The sparse factor against dense ones, on grids: every way to solve, another matrix of the same pattern, refusals, the
// same bytes from threads at once, and how dense the factor of a cube is.
#include "base/cholesky.h"
#include "base/dense.h"
#include "base/dissection.h"
#include "helpers/failing_memory.h"
#include "helpers/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A grid of `side`^3 nodes with `rows` unknowns each, joined to their 6 neighbours; diagonally dominant.
static jnaSparse MakeGrid(int side, int rows, double shift)
{
    int nodes = side * side * side, n = nodes * rows, used = 0;
    size_t most = (size_t)n * 7 * (size_t)rows;
    jnaSparse m = {n, calloc((size_t)n + 1, sizeof(int)), malloc(most * sizeof(int)), malloc(most * sizeof(double))};
    static const int steps[7][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    for (int column = 0; column < n; ++column) {
        int node = column / rows, x = node % side, y = node / side % side, z = node / side / side;
        m.starts[column] = used;
        for (int k = 0; k < 7; ++k) {
            int i = x + steps[k][0], j = y + steps[k][1], l = z + steps[k][2];
            bool inside = i >= 0 && j >= 0 && l >= 0 && i < side && j < side && l < side;
            for (int r = 0; inside && r < rows; ++r) {
                int row = ((l * side + j) * side + i) * rows + r;
                if (row >= column) {
                    m.rows[used] = row;
                    m.values[used++] = row == column ? 7.0 * rows + shift : -0.5 - 0.4 * sin(row + 3.0 * column);
                }
            }
        }
    }
    m.starts[n] = used;
    return m;
}

static void FreeGrid(jnaSparse* m)
{
    free(m->starts);
    free(m->rows);
    free(m->values);
}

static double Residual(const jnaSparse* m, const double* x, const double* b)
{
    double* sums = calloc((size_t)m->size, sizeof(double));
    double worst = 0;
    for (int c = 0; c < m->size; ++c) {
        for (int i = m->starts[c]; i < m->starts[c + 1]; ++i) {
            sums[m->rows[i]] += m->values[i] * x[c];
            sums[c] += m->rows[i] != c ? m->values[i] * x[m->rows[i]] : 0;
        }
    }
    for (int i = 0; i < m->size; ++i) {
        worst = fmax(worst, fabs(sums[i] - b[i]));
    }
    free(sums);
    return worst;
}

static void FillRight(double* b, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        b[i] = cos(1.7 * (double)i);
    }
}

static void GridsAreSolved(void** state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 1}, {3, 3}, {7, 1}, {9, 3}, {16, 1}};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
        enum { COLUMNS = 6 };
        jnaSparse m = MakeGrid(sizes[s][0], sizes[s][1], 0.1);
        size_t n = (size_t)m.size;
        double *x = malloc(COLUMNS * n * sizeof(double)), *b = malloc(COLUMNS * n * sizeof(double));
        FillRight(b, COLUMNS * n);
        jnaCholesky f;
        assert_true(jnaCreateCholesky(&m, NULL, &f));
        for (int round = 0; round < 2; ++round) { // other values on the same pattern
            assert_int_equal(jnaCholesky_Factor(&f, &m), jn_ok);
            for (int count = 1; count <= COLUMNS; ++count) {
                memcpy(x, b, COLUMNS * n * sizeof(double));
                assert_true(jnaCholesky_Solve(&f, count, x));
                for (int c = 0; c < count; ++c) {
                    ASSERT_AT_MOST(Residual(&m, x + (size_t)c * n, b + (size_t)c * n), 1e-12);
                }
                assert_memory_equal(x + (size_t)count * n, b + (size_t)count * n,
                    (size_t)(COLUMNS - count) * n * sizeof(double)); // only what was asked for
            }
            for (int c = 0; c < m.size; ++c) {
                m.values[m.starts[c]] += 1 + c % 5; // the diagonal comes first
            }
        }
        jnaDestroyCholesky(&f);
        FreeGrid(&m);
        free(x);
        free(b);
    }
}

// The factor itself, column by column, is that of the dense matrix in the same order.
static void TheFactorIsTheDenseOne(void** state)
{
    (void)state;
    jnaSparse m = MakeGrid(5, 2, 0.5);
    size_t n = (size_t)m.size;
    jnaCholesky f;
    assert_true(jnaCreateCholesky(&m, NULL, &f));
    assert_int_equal(jnaCholesky_Factor(&f, &m), jn_ok);
    int32_t* placeOf = malloc(n * sizeof(int32_t));
    double *dense = calloc(n * n, sizeof(double)), *own = calloc(n * n, sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        placeOf[f.order[i]] = (int32_t)i;
    }
    for (int c = 0; c < m.size; ++c) {
        for (int i = m.starts[c]; i < m.starts[c + 1]; ++i) {
            size_t p = (size_t)placeOf[c], q = (size_t)placeOf[m.rows[i]];
            dense[p * n + q] = dense[q * n + p] = m.values[i];
        }
    }
    assert_true(jnaFactorDense(dense, n));
    double least = HUGE_VAL, most = 0, worst = 0;
    for (int s = 0; s < f.superCount; ++s) {
        size_t rows = (size_t)(f.rowStarts[s + 1] - f.rowStarts[s]);
        for (int c = f.supers[s]; c < f.supers[s + 1]; ++c) {
            for (size_t r = 0; r < rows; ++r) {
                size_t row = (size_t)f.rows[(size_t)f.rowStarts[s] + r];
                own[row * n + (size_t)c] = f.values[(size_t)f.valueStarts[s] + (size_t)(c - f.supers[s]) * rows + r];
            }
        }
    }
    for (size_t r = 0; r < n; ++r) {
        least = fmin(least, dense[r * n + r]);
        most = fmax(most, dense[r * n + r]);
        for (size_t c = 0; c < n; ++c) {
            worst = fmax(worst, fabs(own[r * n + c] - (c <= r ? dense[r * n + c] : 0)));
        }
    }
    ASSERT_AT_MOST(worst, 1e-13);
    ASSERT_NEAR(jnaCholesky_Condition(&f), least / most * (least / most), 1e-13);
    free(placeOf);
    free(dense);
    free(own);
    jnaDestroyCholesky(&f);
    FreeGrid(&m);
}

static void WhatIsNotPositiveDefiniteIsRefused(void** state)
{
    (void)state;
    static const double wrong[] = {-40, (double)NAN};
    for (int i = 0; i < 2; ++i) {
        jnaSparse m = MakeGrid(6, 1, 0.1);
        jnaCholesky f;
        m.values[m.starts[100]] = wrong[i];
        assert_true(jnaCreateCholesky(&m, NULL, &f));
        assert_int_equal(jnaCholesky_Factor(&f, &m), jn_badData);
        m.values[m.starts[100]] = 9;
        assert_int_equal(jnaCholesky_Factor(&f, &m), jn_ok); // another try
        jnaDestroyCholesky(&f);
        FreeGrid(&m);
    }
}

static void ThreadsAtOnceGiveTheSameBytes(void** state)
{
    (void)state;
    enum { TOGETHER = 6 };
    jnaSparse m = MakeGrid(10, 1, 0.1);
    size_t n = (size_t)m.size;
    double* x = malloc((TOGETHER + 1) * n * sizeof(double));
#pragma omp parallel for num_threads(3) schedule(static, 1)
    for (int i = 0; i <= TOGETHER; ++i) {
        jnaCholesky f;
        FillRight(x + (size_t)i * n, n);
        if (jnaCreateCholesky(&m, NULL, &f) && jnaCholesky_Factor(&f, &m) == jn_ok) {
            (void)jnaCholesky_Solve(&f, 1, x + (size_t)i * n);
        }
        jnaDestroyCholesky(&f);
    }
    for (int i = 1; i <= TOGETHER; ++i) {
        assert_memory_equal(x + (size_t)i * n, x, n * sizeof(double));
    }
    free(x);
    FreeGrid(&m);
}

// Nested dissection of a cube of 25^3 unknowns. Row by row of the grid, a band, it would be 25^5 = 9.8 million entries.
static void TheFactorOfACubeStaysSparse(void** state)
{
    (void)state;
    jnaSparse m = MakeGrid(25, 1, 0.1);
    jnaCholesky f;
    assert_true(jnaCreateCholesky(&m, NULL, &f));
    print_message("%.2f million entries in %d supernodes\n", 1e-6 * (double)f.valueStarts[f.superCount], f.superCount);
    ASSERT_AT_MOST((double)f.valueStarts[f.superCount], 4.2e6);
    jnaDestroyCholesky(&f);
    FreeGrid(&m);
}

static void EntriesOfOnePlaceAreAdded(void** state)
{
    (void)state;
    static const int rows[] = {2, 1, 0, 2, 2, 1}, columns[] = {0, 1, 0, 2, 0, 1};
    static const double values[] = {1, 2, 3, 4, 5, 6};
    jnaArena arena = {0};
    jnaSparse m;
    assert_true(jnaCompressSparse(&arena, 3, 6, rows, columns, values, &m));
    assert_int_equal(m.starts[3], 4);
    assert_int_equal(m.starts[1], 2);
    assert_int_equal(m.rows[0], 2);
    ASSERT_NEAR(m.values[0], 6, 0);
    ASSERT_NEAR(m.values[1], 3, 0);
    ASSERT_NEAR(m.values[2], 8, 0);
    ASSERT_NEAR(m.values[3], 4, 0);
    jnaReleaseArena(&arena);
}

// Every row once, whatever the graph is: a line, pieces that hang on nothing, all with all.
static void EveryRowHasAPlace(void** state)
{
    (void)state;
    enum { MOST = 300 };
    int starts[MOST + 1], *neighbours = malloc(MOST * MOST * sizeof(int));
    for (int kind = 0; kind < 4; ++kind) {
        int used = 0;
        for (int i = 0; i < MOST; ++i) {
            starts[i] = used;
            for (int k = 0; k < MOST; ++k) {
                bool joined = kind == 0   ? k == i - 1 || k == i + 1
                              : kind == 1 ? k == (i ^ 1)
                              : kind == 2 ? true
                                          : k == i;
                if (joined) {
                    neighbours[used++] = k;
                }
            }
        }
        starts[MOST] = used;
        int32_t order[MOST];
        uint8_t seen[MOST] = {0};
        assert_true(jnaDissect(MOST, starts, neighbours, order));
        for (int i = 0; i < MOST; ++i) {
            assert_true(order[i] >= 0 && order[i] < MOST && !seen[order[i]]);
            seen[order[i]] = 1;
        }
    }
    free(neighbours);
}

static jnaSparse grid;

static jnResult SolveGrid(jnError* error)
{
    jnaCholesky f = {0};
    double* x = calloc((size_t)grid.size, sizeof(double));
    jnResult result = x != NULL && jnaCreateCholesky(&grid, NULL, &f) ? jnaCholesky_Factor(&f, &grid) : jn_outOfMemory;
    if (result == jn_ok && !jnaCholesky_Solve(&f, 1, x)) {
        result = jn_outOfMemory;
    }
    jnaDestroyCholesky(&f);
    free(x);
    if (result == jn_outOfMemory && error != NULL) {
        snprintf(error->message, sizeof(error->message), "out of memory");
        error->code = result;
    }
    return result;
}

static void EveryAllocationMayFail(void** state)
{
    (void)state;
    grid = MakeGrid(6, 1, 0.1);
    FailEach(SolveGrid, 20);
    FreeGrid(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(GridsAreSolved),
        cmocka_unit_test(TheFactorIsTheDenseOne),
        cmocka_unit_test(WhatIsNotPositiveDefiniteIsRefused),
        cmocka_unit_test(ThreadsAtOnceGiveTheSameBytes),
        cmocka_unit_test(TheFactorOfACubeStaysSparse),
        cmocka_unit_test(EntriesOfOnePlaceAreAdded),
        cmocka_unit_test(EveryRowHasAPlace),
        cmocka_unit_test(EveryAllocationMayFail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
