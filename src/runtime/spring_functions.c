// Closed-form responses of the damped spring and their derivatives, in double.
//
// With the Laplace transform W = 1/(s^2 + k_d s + k_s) of w, the step and ramp responses are W/s and W/s^2,
// and dW/dk_s = -W^2, dW/dk_d = -s W^2. So one more function and its integrals give every derivative:
//
//     D0 = w * w (convolution), D1 = integral of D0, D2 = integral of D1,  D0' = time derivative of D0
//     dES/dk_s = -D0    dG1/dk_s = -D1    dG2/dk_s = -D2        dEC/dk_s = -(h/2) ES
//     dES/dk_d = -D0'   dG1/dk_d = -D0    dG2/dk_d = -D1        dEC/dk_d = -(h/2) (EC - alpha ES)
//
// Everything is computed without units: p = k_d h, kappa = k_s h^2, a = p/2, x = a^2 - kappa = sigma h^2, and
// results are those for h = 1. No formula is good everywhere; three cover the quarter plane, each where it
// loses no digits:
//
//     slow    both roots |z| <= 2: Taylor series of the equation itself, by its recurrence
//     apart   overdamped with real roots well apart: partial fractions in the two decay rates, with functions
//     of one
//             rate (phi, psi below) that have a series of their own; nothing is divided by k_s, so k_s = 0 is
//             no exception
//     close   the rest (underdamped, or near critical with kappa of order 1 or more): e^{-a} times cos or
//     cosh, series in
//             x around x = 0, and division by kappa, which is safe here
#include "jounce/spring_functions.h"

#include "elementary.h"

#include <math.h>

// Arguments are clamped here so that no power of them overflows; such a spring is rigid by any measure.
#define ARGUMENT_LIMIT 1e60

// Up to this root the Taylor series of the equation is summed; beyond it the other two lose less than two
// digits. 2^32/32! is 1e-26, far below the last bit.
#define SLOW_ROOT 2.0
enum { SLOW_SERIES_TERMS = 32 };

// Terms of cosh and sinh as series in x, |x| < 1: 1/22! is 1e-21.
enum { CLOSE_SERIES_TERMS = 11 };

// Below this rate phi and psi are summed as series; above, their closed forms lose less than two digits.
#define SERIES_RATE 2.0
enum { RATE_SERIES_TERMS = 32 };

// Real roots are "apart" from half a distance of this share of their mean: the partial fractions then lose at
// most (1/0.25)^2 in the derivatives.
#define APART 0.25

// Responses for h = 1 and the convolution family D.
typedef struct Unit {
    double cosine, impulse, step, ramp, velocity;
    double d0, d1, d2, d0Rate;
} Unit;

// u_n and e_n are the n-th derivatives at 0 of w and of w * w.
static Unit EvaluateSlow(double p, double kappa)
{
    double u0 = 0.0, u1 = 1.0, e0 = 0.0, e1 = 0.0;
    double inverse = 1.0; // 1/(n+1)! below, starting at n = 1
    Unit r = {.velocity = 1.0, .d0Rate = 0.0};
    for (int n = 1; n < SLOW_SERIES_TERMS; ++n) {
        double over0 = inverse;         // 1/n!
        double over1 = over0 / (n + 1); // 1/(n+1)!
        double over2 = over1 / (n + 2); // 1/(n+2)!
        r.impulse += u1 * over0;
        r.step += u1 * over1;
        r.ramp += u1 * over2;
        r.d0 += e1 * over0;
        r.d1 += e1 * over1;
        r.d2 += e1 * over2;
        double e2 = u0 - p * e1 - kappa * e0;
        double u2 = -p * u1 - kappa * u0;
        r.velocity += u2 * over0;
        r.d0Rate += e2 * over0;
        u0 = u1;
        u1 = u2;
        e0 = e1;
        e1 = e2;
        inverse = over1;
    }
    r.cosine = r.velocity + 0.5 * p * r.impulse;
    return r;
}

// Moments of e^{-z t} on [0, 1], the integral being of t^i (1 - t)^j e^{-z t} dt:
// phi1 (i=0, j=0), phi2 (0, 1), psi1 (1, 0), psi2 (1, 1).
typedef struct Moments {
    double phi1, phi2, psi1, psi2;
} Moments;

static Moments EvaluateMoments(double z, double decay)
{
    Moments m = {0};
    if (z >= SERIES_RATE) {
        m.phi1 = (1.0 - decay) / z;
        m.phi2 = (1.0 - m.phi1) / z;
        m.psi1 = (1.0 - (1.0 + z) * decay) / z / z;
        m.psi2 = ((z - 2.0) + (z + 2.0) * decay) / z / z / z;
        return m;
    }
    double power = 1.0; // (-z)^k / k!
    for (int k = 0; k < RATE_SERIES_TERMS; ++k) {
        m.phi1 += power / (k + 1);
        m.phi2 += power / ((k + 1) * (k + 2));
        m.psi1 += power / (k + 2);
        m.psi2 += power / ((k + 2) * (k + 3));
        power *= -z / (k + 1);
    }
    return m;
}

// z1 < z2 are the decay rates; d is their distance.
static Unit EvaluateApart(double a, double kappa, double root)
{
    double z2 = a + root, z1 = kappa / z2, d = 2.0 * root;
    double e1 = jnExp(-z1), e2 = jnExp(-z2);
    Moments m1 = EvaluateMoments(z1, e1), m2 = EvaluateMoments(z2, e2);
    Unit r;
    r.cosine = 0.5 * (e1 + e2);
    r.impulse = e1 * (1.0 - jnExp(-d)) / d; // d is at least 0.8 here: no digits are lost
    r.velocity = (z2 * e2 - z1 * e1) / d;
    r.step = (m1.phi1 - m2.phi1) / d;
    r.ramp = (m1.phi2 - m2.phi2) / d;
    r.d0 = (e1 + e2 - 2.0 * r.impulse) / d / d;
    r.d0Rate = (2.0 * a * r.impulse - z1 * e1 - z2 * e2) / d / d;
    r.d1 = (m1.psi1 + m2.psi1 - 2.0 * r.step) / d / d;
    r.d2 = (m1.psi2 + m2.psi2 - 2.0 * r.ramp) / d / d;
    return r;
}

static Unit EvaluateClose(double a, double kappa, double x)
{
    Unit r;
    if (fabs(x) < 1.0) {
        // cosh(sqrt x), sinh(sqrt x)/sqrt x and (their difference)/(2x), all entire in x.
        double c = 0.0, s = 0.0, f = 0.0, power = 1.0; // x^k / (2k)!
        for (int k = 0; k < CLOSE_SERIES_TERMS; ++k) {
            double odd = power / (2 * k + 1); // x^k / (2k+1)!
            c += power;
            s += odd;
            power = odd / (2 * k + 2);          // x^k / (2k+2)!
            f += (k + 1) * power / (2 * k + 3); // x^k (k+1)/(2k+3)!
            power *= x;
        }
        double decay = jnExp(-a);
        r.cosine = decay * c;
        r.impulse = decay * s;
        r.d0 = decay * f;
    } else {
        double root = sqrt(fabs(x));
        if (x > 0.0) {
            double z2 = a + root, e1 = jnExp(-kappa / z2);
            r.cosine = 0.5 * (e1 + jnExp(-z2));
            r.impulse = e1 * (1.0 - jnExp(-2.0 * root)) / (2.0 * root);
        } else {
            double decay = jnExp(-a), sine, cosine;
            jnSinCos(root, &sine, &cosine);
            r.cosine = decay * cosine;
            r.impulse = decay * sine / root;
        }
        r.d0 = (r.cosine - r.impulse) / (2.0 * x);
    }
    double p = 2.0 * a;
    r.velocity = r.cosine - a * r.impulse;
    r.step = (1.0 - r.cosine - a * r.impulse) / kappa;
    r.ramp = (1.0 - p * r.step - r.impulse) / kappa;
    r.d0Rate = 0.5 * r.impulse - a * r.d0;
    r.d1 = (r.step - r.d0Rate - p * r.d0) / kappa;
    r.d2 = (r.ramp - r.d0 - p * r.d1) / kappa;
    return r;
}

// a^2 - b with the product as a sum of two doubles: near critical damping the difference would keep no digit otherwise.
// (fma does the same, but not in every C library.)
static double SquareMinus(double a, double b)
{
    double shifted = a * 134217729.0, high = shifted - (shifted - a), low = a - high; // 26 bits each
    double square = a * a, rest = ((high * high - square) + 2.0 * (high * low)) + low * low;
    return (square - b) + rest;
}

static Unit EvaluateUnit(double stiffness, double damping, double h)
{
    double a = 0.5 * damping * h, kappa = stiffness * h * h;
    double x = SquareMinus(0.5 * damping, stiffness) * h * h, root = sqrt(fabs(x));
    double largest = x > 0.0 ? a + root : sqrt(kappa);
    if (largest <= SLOW_ROOT) {
        return EvaluateSlow(2.0 * a, kappa);
    }
    return x > 0.0 && root >= APART * a ? EvaluateApart(a, kappa, root) : EvaluateClose(a, kappa, x);
}

static double CleanArgument(double value)
{
    return value > 0.0 ? fmin(value, ARGUMENT_LIMIT) : 0.0;
}

static jnSpringResponse Scale(const Unit* unit, double damping, double h)
{
    return (jnSpringResponse){
        .cosine = unit->cosine,
        .impulse = unit->impulse * h,
        .step = unit->step * h * h,
        .ramp = unit->ramp * h * h * h,
        .position = unit->cosine + 0.5 * damping * h * unit->impulse,
        .velocity = unit->velocity,
    };
}

jnSpringResponse jnEvaluateSpring(double stiffness, double damping, double h)
{
    stiffness = CleanArgument(stiffness);
    damping = CleanArgument(damping);
    h = CleanArgument(h);
    Unit unit = EvaluateUnit(stiffness, damping, h);
    return Scale(&unit, damping, h);
}

jnSpringResponse jnDifferentiateSpring(
    double stiffness, double damping, double h, jnSpringResponse* byStiffness, jnSpringResponse* byDamping)
{
    if (JN_BROKEN(byStiffness != NULL && byDamping != NULL)) {
        return jnEvaluateSpring(stiffness, damping, h);
    }
    stiffness = CleanArgument(stiffness);
    damping = CleanArgument(damping);
    h = CleanArgument(h);
    Unit unit = EvaluateUnit(stiffness, damping, h);
    double h2 = h * h, h3 = h2 * h, kappa = stiffness * h2, p = damping * h;
    *byStiffness = (jnSpringResponse){
        .cosine = -0.5 * h2 * unit.impulse,
        .impulse = -h3 * unit.d0,
        .step = -h2 * h2 * unit.d1,
        .ramp = -h2 * h3 * unit.d2,
        .position = h2 * (kappa * unit.d1 - unit.step),
        .velocity = -h2 * unit.d0Rate,
    };
    *byDamping = (jnSpringResponse){
        .cosine = -0.5 * h * unit.velocity,
        .impulse = -h2 * unit.d0Rate,
        .step = -h3 * unit.d0,
        .ramp = -h2 * h2 * unit.d1,
        .position = h * kappa * unit.d0,
        .velocity = -h * (unit.impulse - p * unit.d0Rate - kappa * unit.d0),
    };
    return Scale(&unit, damping, h);
}

#define TWO_PI 6.283185307179586

float jnStiffnessFromHertz(float hertz)
{
    double omega = TWO_PI * (double)hertz;
    return (float)(omega * omega);
}

float jnDampingFromRatio(float hertz, float ratio)
{
    return (float)(2.0 * (double)ratio * TWO_PI * (double)hertz);
}

float jnHertzFromStiffness(float stiffness)
{
    return (float)(sqrt((double)stiffness) / TWO_PI);
}

float jnRatioFromDamping(float stiffness, float damping)
{
    if (damping == 0.0f) {
        return 0.0f;
    }
    return (float)((double)damping / (2.0 * sqrt((double)stiffness)));
}
