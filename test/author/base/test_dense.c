// Small dense systems: a known answer, and what is not positive definite.
#include "base/dense.h"
#include "helpers/support.h"

static void AKnownSystemIsSolved(void** state)
{
    (void)state;
    double a[9] = {4, 0, 0, 2, 5, 0, -2, 3, 6}; // the lower triangle is all that counts
    double x[3] = {4 * 1 + 2 * -2 - 2 * 3, 2 * 1 + 5 * -2 + 3 * 3, -2 * 1 + 3 * -2 + 6 * 3};
    assert_true(jnaFactorDense(a, 3));
    jnaSolveDense(a, 3, x);
    ASSERT_NEAR(x[0], 1, 1e-14);
    ASSERT_NEAR(x[1], -2, 1e-14);
    ASSERT_NEAR(x[2], 3, 1e-14);
    assert_true(jnaFactorDense(a, 0));
    jnaSolveDense(a, 0, NULL);
}

static void WhatIsNotPositiveDefiniteIsRefused(void** state)
{
    (void)state;
    double indefinite[4] = {1, 0, 2, 1}, zero[1] = {0}, broken[1] = {(double)NAN};
    assert_false(jnaFactorDense(indefinite, 2));
    assert_false(jnaFactorDense(zero, 1));
    assert_false(jnaFactorDense(broken, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AKnownSystemIsSolved),
        cmocka_unit_test(WhatIsNotPositiveDefiniteIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
