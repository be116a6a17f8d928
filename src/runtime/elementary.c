// Elementary functions from Taylor series on a reduced argument; see elementary.h.
//
//     exp     x = n ln 2 + r, |r| <= ln 2 / 2; ln 2 in two parts, the first so short that n times it is exact
//     sin     x = n pi/2 + r, |r| <= pi/4; pi/2 in three such parts
//     angle   t = min/max of both = tan(a + b) with tan a = k/8, so that tan b = (t - k/8) / (1 + t k/8) <= 1/16
//
// The last term left out is below 1e-17 of the result in each.
#include "elementary.h"

#include <math.h>
#include <string.h>

#define LN2_HIGH 0x1.62e42fef00000p-1
#define LN2_LOW 0x1.473de6af278edp-34
#define LOG2_E 0x1.71547652b82fep+0
#define HALF_PI_1 0x1.921fb54400000p+0
#define HALF_PI_2 0x1.0b4611a600000p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI 0x1.921fb54442d18p+0
#define WHOLE_TURN 0x1.921fb54442d18p+2
// A number added to this is rounded to a whole one in its low bits; for sizes up to 2^51.
#define ROUNDER 0x1.8p52
// Multiples of pi/2 up to 2^20 have exact products with its parts.
#define LARGEST_REDUCED 0x1p20

// 1/n!
static const double inverseFactorials[] = {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200,
    1.0 / 1307674368000, 1.0 / 20922789888000, 1.0 / 355687428096000};

static double RoundToWhole(double x)
{
    return (x + ROUNDER) - ROUNDER;
}

// 2^n, |n| <= 1022
static double PowerOfTwo(int n)
{
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof(power));
    return power;
}

double jnExp(double x)
{
    if (x < -746.0) {
        return 0.0;
    }
    x = x < 709.0 ? x : 709.0;
    double n = RoundToWhole(x * LOG2_E), r = (x - n * LN2_HIGH) - n * LN2_LOW;
    double sum = inverseFactorials[13];
    for (int i = 12; i >= 2; --i) {
        sum = sum * r + inverseFactorials[i];
    }
    // The largest terms last, and 2^n in two steps: a result below 2^-1022 is rounded once.
    sum = 1.0 + (r + r * r * sum);
    int whole = (int)n, half = whole / 2;
    return sum * PowerOfTwo(half) * PowerOfTwo(whole - half);
}

void jnSinCos(double x, double* sine, double* cosine)
{
    if (fabs(x) > LARGEST_REDUCED) {
        x = fmod(x, WHOLE_TURN);
    }
    double n = RoundToWhole(x * TWO_OVER_PI);
    double r = ((x - n * HALF_PI_1) - n * HALF_PI_2) - n * HALF_PI_3, square = r * r;
    double odd = inverseFactorials[17], even = inverseFactorials[16];
    for (int i = 14; i >= 2; i -= 2) {
        odd = inverseFactorials[i + 1] - square * odd;
        even = inverseFactorials[i] - square * even;
    }
    double s = r - r * square * odd, c = 1.0 - square * even;
    int quarter = n == n ? (int)n & 3 : 0; // of NaN none: both are NaN anyway
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

double jnQuadrantAngle(double y, double x)
{
    // atan(k/8)
    static const double angles[9] = {0.0, 0x1.fd5ba9aac2f6ep-4, 0x1.f5b75f92c80ddp-3, 0x1.6f61941e4def1p-2,
        0x1.dac670561bb4fp-2, 0x1.1e00babdefeb4p-1, 0x1.4978fa3269ee1p-1, 0x1.700a7c5784634p-1, 0x1.921fb54442d18p-1};
    bool steep = y > x;
    double t = steep ? x / y : y / x;
    int k = t > 0.0 ? (int)(8.0 * t + 0.5) : 0; // NaN has no place in the table and comes out as NaN
    double c = 0.125 * k, u = (t - c) / (1.0 + t * c), square = u * u, sum = 1.0 / 13.0;
    for (int i = 11; i >= 3; i -= 2) {
        sum = 1.0 / i - square * sum;
    }
    double angle = angles[k] + (u - u * square * sum);
    return steep ? HALF_PI - angle : angle;
}
