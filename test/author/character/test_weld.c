// Welding: one point per place and set of influences, wherever the grid's cells happen to lie.
#include "character/import_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const jnaInfluences head = {{1}, {1}}, both = {{1, 2}, {0.5F, 0.5F}}, swapped = {{2, 1}, {0.5F, 0.5F}},
                           leaning = {{1, 2}, {0.6F, 0.4F}};

static void CopiesOfAVertexBecomeOne(void** state)
{
    (void)state;
    const float positions[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0};
    const jnaInfluences influences[] = {head, head, head, head, head};
    int32_t weld[5];
    assert_int_equal(jnaWeld(5, positions, influences, 1e-6, weld), 3);
    const int32_t expected[] = {0, 1, 0, 1, 2};
    assert_memory_equal(weld, expected, sizeof(expected));
}

static void VerticesThatMoveApartStayApart(void** state)
{
    (void)state;
    const float positions[15] = {0};
    const jnaInfluences influences[] = {head, both, leaning, swapped, head};
    int32_t weld[5];
    assert_int_equal(jnaWeld(5, positions, influences, 1e-6, weld), 3);
    const int32_t expected[] = {0, 1, 2, 1, 0};
    assert_memory_equal(weld, expected, sizeof(expected));
}

static void TheToleranceHoldsAcrossCells(void** state)
{
    (void)state;
    // Pairs at steps that fall on and beside cell borders: within the tolerance one, beyond it two.
    const double tolerance = 1e-3;
    for (int i = 0; i < 4000; ++i) {
        float at = (float)(-1 + i * 0.37e-3);
        float positions[6] = {at, at, -at, at, at, -at};
        const jnaInfluences influences[] = {head, head};
        int32_t weld[2];
        positions[3 + i % 3] += 0.9e-3F;
        assert_int_equal(jnaWeld(2, positions, influences, tolerance, weld), 1);
        positions[3 + i % 3] += 0.3e-3F;
        assert_int_equal(jnaWeld(2, positions, influences, tolerance, weld), 2);
    }
}

static void AHeapOfVerticesOnOnePointIsNotSquareInTime(void** state)
{
    (void)state;
    // 200,000 vertices on one point, all moved differently: 2e10 comparisons if each met each.
    enum { COUNT = 200000 };
    float* positions = calloc(COUNT, 3 * sizeof(float));
    jnaInfluences* influences = calloc(COUNT, sizeof(*influences));
    int32_t* weld = malloc(COUNT * sizeof(*weld));
    for (int i = 0; i < COUNT; ++i) {
        influences[i].joints[0] = (uint16_t)(i % 50000);
        influences[i].joints[1] = (uint16_t)(50001 + i / 50000);
        influences[i].weights[0] = influences[i].weights[1] = 0.5F;
    }
    assert_int_equal(jnaWeld(COUNT, positions, influences, 1e-6, weld), COUNT);
    free(positions);
    free(influences);
    free(weld);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(CopiesOfAVertexBecomeOne),
        cmocka_unit_test(VerticesThatMoveApartStayApart),
        cmocka_unit_test(TheToleranceHoldsAcrossCells),
        cmocka_unit_test(AHeapOfVerticesOnOnePointIsNotSquareInTime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
