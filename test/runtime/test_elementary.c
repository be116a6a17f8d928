// The runtime's own elementary functions against the C library's in long double.
#include "helpers/support.h"

#include "elementary.h"

#include <math.h>

// Units in the last place; see elementary.h. An angle is the sum of one from a table and a smaller one of either sign.
#define MOST_ULPS 2.0
#define MOST_ANGLE_ULPS 4.0

static double Ulps(double value, long double truth)
{
    double unit = nextafter(fabs((double)truth), HUGE_VAL) - fabs((double)truth);
    return (double)fabsl((long double)value - truth) / unit;
}

static void ExponentialsAreRight(void** state)
{
    (void)state;
    double worst = 0.0;
    for (int i = 0; i <= 400000; ++i) {
        double x = -700.0 + 1400.0 * i / 400000.0;
        worst = fmax(worst, Ulps(jnExp(x), expl((long double)x)));
        double small = x * 1e-3;
        worst = fmax(worst, Ulps(jnExp(small), expl((long double)small)));
    }
    assert_true(worst < MOST_ULPS);
    assert_true(jnExp(0.0) == 1.0);
    assert_true(jnExp(-800.0) == 0.0 && jnExp(-HUGE_VAL) == 0.0);
    assert_true(jnExp(-744.0) > 0.0 && jnExp(-744.0) < 1e-322);
}

static void SinesAreRight(void** state)
{
    (void)state;
    double worst = 0.0;
    for (int i = 0; i <= 400000; ++i) {
        double x = 1e4 * (i / 200000.0 - 1.0) + 1e-3 * i, sine, cosine;
        jnSinCos(x, &sine, &cosine);
        // Near a zero the unit is that of the argument's reduction, not of the result.
        worst = fmax(worst, (double)fabsl((long double)sine - sinl((long double)x)) / 1.1e-16);
        worst = fmax(worst, (double)fabsl((long double)cosine - cosl((long double)x)) / 1.1e-16);
        jnSinCos(1e-9 * i, &sine, &cosine);
        worst = fmax(worst, i > 0 ? Ulps(sine, sinl((long double)(1e-9 * i))) : 0.0);
    }
    assert_true(worst < MOST_ULPS);
    for (double x = 1e5; x < 1e61; x *= 97.0) {
        double sine, cosine;
        jnSinCos(x, &sine, &cosine);
        assert_true(fabs(sine * sine + cosine * cosine - 1.0) < 1e-15);
    }
}

static void AnglesAreRight(void** state)
{
    (void)state;
    double worst = 0.0;
    for (int i = 0; i <= 200000; ++i) {
        double angle = 1.57079632679 * i / 200000.0, y = 3.0 * sin(angle), x = 3.0 * cos(angle);
        worst = fmax(worst, Ulps(jnQuadrantAngle(y, x), atan2l((long double)y, (long double)x)));
    }
    assert_true(worst < MOST_ANGLE_ULPS);
    assert_true(jnQuadrantAngle(0.0, 1.0) == 0.0);
    assert_true(jnQuadrantAngle(1.0, 0.0) == 1.5707963267948966);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ExponentialsAreRight),
        cmocka_unit_test(SinesAreRight),
        cmocka_unit_test(AnglesAreRight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
