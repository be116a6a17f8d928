// Scratch memory: zeroed and aligned, one check for many pieces, nothing given after a piece that failed.
#include "helpers/failing_memory.h"

#include "base/arena.h"
#include "base/try.h"

#include <limits.h>

static void PiecesAreZeroedAlignedAndApart(void** state)
{
    (void)state;
    jnaArena arena = {0};
    char* pieces[20];
    for (int i = 0; i < 20; ++i) {
        pieces[i] = jnaArena_Take(&arena, 13 * i, sizeof(double));
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 64, 0);
        for (size_t k = 0; k < 13 * (size_t)i * sizeof(double); ++k) {
            assert_int_equal(pieces[i][k], 0);
        }
        memset(pieces[i], i + 1, 13 * (size_t)i * sizeof(double));
    }
    for (int i = 1; i < 20; ++i) {
        assert_int_equal(pieces[i][0], i + 1);
        assert_int_equal(pieces[i][13 * (size_t)i * sizeof(double) - 1], i + 1);
    }
    assert_int_equal(jnaArena_Check(&arena, "a test", NULL), jn_ok);
    jnaReleaseArena(&arena);
    jnaReleaseArena(&arena);
}

static void SizesThatDoNotFitAreRefusedAtTheCheck(void** state)
{
    (void)state;
    jnError error;
    jnaArena arena = {0};
    assert_non_null(jnaArena_Take(&arena, 1, 8));
    assert_null(jnaArena_Take(&arena, INT64_MAX, 16));
    assert_null(jnaArena_Take(&arena, 1, 8));
    assert_int_equal(jnaArena_Check(&arena, "a test", &error), jn_outOfMemory);
    assert_string_equal(error.message, "out of memory for a test");
    jnaReleaseArena(&arena);
    assert_null(jnaArena_Take(&arena, -1, 8));
    jnaReleaseArena(&arena);
    assert_non_null(jnaArena_Take(&arena, 0, 8));
    jnaReleaseArena(&arena);
}

static void WhatIsGivenOutlivesTheArena(void** state)
{
    (void)state;
    jnaArena arena = {0};
    int* kept = jnaArena_Give(&arena, 0, sizeof(*kept));
    int* more = jnaArena_Give(&arena, 3, sizeof(*more));
    assert_null(jnaArena_Give(&arena, INT64_MAX, sizeof(*more)));
    assert_null(jnaArena_Give(&arena, 1, sizeof(*more)));
    assert_int_equal(jnaArena_Check(&arena, "a test", NULL), jn_outOfMemory);
    jnaReleaseArena(&arena);
    assert_null(jnaArena_Give(&arena, -1, sizeof(*more)));
    jnaReleaseArena(&arena);
    assert_non_null(kept);
    assert_int_equal(more[0] + more[1] + more[2], 0);
    free(kept);
    free(more);
}

static jnResult TakeThree(jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* a = jnaArena_Take(&arena, 10, sizeof(*a));
    double* b = jnaArena_Give(&arena, 10, sizeof(*b));
    double* c = jnaArena_Take(&arena, 10, sizeof(*c));
    JN_TRY(jnaArena_Check(&arena, "three pieces", error));
    a[9] = b[9] = c[9] = 1;
done:
    free(b);
    jnaReleaseArena(&arena);
    return result;
}

static void EveryPieceMayBeMissing(void** state)
{
    (void)state;
    NeedFailures();
    for (int i = 0; i < 3; ++i) {
        jnError error;
        countdown = i;
        assert_int_equal(TakeThree(&error), jn_outOfMemory);
        countdown = -1;
    }
    assert_int_equal(TakeThree(NULL), jn_ok);
}

static void AListGrowsAndKeepsWhatItHolds(void** state)
{
    (void)state;
    int *list = NULL, capacity = 0;
    for (int i = 0; i < 1000; ++i) {
        assert_true(jnaReserve(&list, &capacity, i + 1, sizeof(*list)));
        assert_true(capacity > i);
        list[i] = i;
    }
    assert_true(jnaResize(&list, 500, sizeof(*list)));
    for (int i = 0; i < 500; ++i) {
        assert_int_equal(list[i], i);
    }
    const int* before = list;
    assert_false(jnaResize(&list, INT64_MAX, sizeof(*list)));
    assert_false(jnaResize(&list, -1, sizeof(*list)));
    assert_false(jnaReserve(&list, &capacity, INT_MAX, sizeof(*list)));
    assert_ptr_equal(list, before);
    assert_int_equal(list[499], 499);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PiecesAreZeroedAlignedAndApart),
        cmocka_unit_test(SizesThatDoNotFitAreRefusedAtTheCheck),
        cmocka_unit_test(WhatIsGivenOutlivesTheArena),
        cmocka_unit_test(EveryPieceMayBeMissing),
        cmocka_unit_test(AListGrowsAndKeepsWhatItHolds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
