// The closed-form responses against quad precision, on a grid over the whole quarter plane.
//
// The reference shares no formula with the code under test: a Taylor series at h / 2^m, then m doublings of
// the step, differentiated by the product rule. In quad precision it keeps more than 20 digits everywhere.
#include "helpers/support.h"

#include "jounce/spring_functions.h"

#include <quadmath.h>

typedef __float128 Quad;

// A value and its derivatives by stiffness and damping.
typedef struct Dual {
    Quad value, byStiffness, byDamping;
} Dual;

static Dual Add(Dual a, Dual b)
{
    return (Dual){a.value + b.value, a.byStiffness + b.byStiffness, a.byDamping + b.byDamping};
}

static Dual Multiply(Dual a, Dual b)
{
    return (Dual){a.value * b.value, a.byStiffness * b.value + a.value * b.byStiffness,
        a.byDamping * b.value + a.value * b.byDamping};
}

static Dual Constant(Quad value)
{
    return (Dual){value, 0, 0};
}

typedef struct Reference {
    Dual impulse, step, ramp, velocity, position, cosine;
} Reference;

static Reference EvaluateReference(double stiffness, double damping, double h)
{
    Dual ks = {stiffness, 1, 0}, kd = {damping, 0, 1};
    Quad rate = (Quad)damping + sqrtq((Quad)stiffness), t = h;
    int doublings = 0;
    while (rate * t > 0.125Q) {
        t *= 0.5Q;
        doublings++;
    }
    Dual negative = Constant(-1), u0 = Constant(0), u1 = Constant(1);
    Reference r = {.velocity = Constant(1)};
    Quad power = t; // t^n / n!
    for (int n = 1; n < 26; ++n) {
        r.impulse = Add(r.impulse, Multiply(u1, Constant(power)));
        r.step = Add(r.step, Multiply(u1, Constant(power * t / (n + 1))));
        r.ramp = Add(r.ramp, Multiply(u1, Constant(power * t * t / (n + 1) / (n + 2))));
        Dual u2 = Multiply(negative, Add(Multiply(kd, u1), Multiply(ks, u0)));
        r.velocity = Add(r.velocity, Multiply(u2, Constant(power)));
        u0 = u1;
        u1 = u2;
        power *= t / (n + 1);
    }
    for (int i = 0; i < doublings; ++i, t *= 2) {
        Dual position = Add(r.velocity, Multiply(kd, r.impulse));
        Dual onePlus = Add(Constant(1), position), square = Multiply(r.impulse, r.impulse);
        Reference d;
        d.impulse = Multiply(r.impulse, Add(position, r.velocity));
        d.velocity = Add(Multiply(r.velocity, r.velocity), Multiply(negative, Multiply(ks, square)));
        d.step = Add(Multiply(r.step, onePlus), square);
        d.ramp = Add(Multiply(r.ramp, onePlus), Multiply(r.step, Add(Constant(t), r.impulse)));
        r.impulse = d.impulse;
        r.velocity = d.velocity;
        r.step = d.step;
        r.ramp = d.ramp;
    }
    r.position = Add(r.velocity, Multiply(kd, r.impulse));
    r.cosine = Add(r.velocity, Multiply(Multiply(kd, r.impulse), Constant(0.5Q)));
    return r;
}

// Sizes of the functions without their oscillation. Where nothing oscillates a positive function is its own
// envelope, and one that changes sign has the sum of its two decaying parts.
typedef struct Envelope {
    double cosine, impulse, step, ramp, velocity;
    double cosineByStiffness, impulseByStiffness, stepByStiffness, rampByStiffness;
    double cosineByDamping, impulseByDamping, stepByDamping, rampByDamping;
} Envelope;

static Envelope EvaluateEnvelope(double stiffness, double damping, double h, const Reference* r)
{
    double a = 0.5 * damping * h, kappa = stiffness * h * h, h2 = h * h, h3 = h2 * h;
    Quad sigma = (Quad)damping * (Quad)damping / 4 - (Quad)stiffness;
    double x = (double)(sigma * (Quad)h * (Quad)h), root = sqrt(fabs(x));
    Envelope e;
    if (x >= 0) {
        double z2 = a + root, z1 = kappa > 0 ? kappa / z2 : 0;
        double e1 = exp(-z1), e2 = exp(-z2), both = z1 * e1 + z2 * e2, d = 2 * root;
        double impulse = (double)r->impulse.value / h, d0 = -(double)r->impulse.byStiffness / h3;
        e.cosine = (double)r->cosine.value;
        e.impulse = (double)r->impulse.value;
        e.step = (double)r->step.value;
        e.ramp = (double)r->ramp.value;
        e.velocity = fmin(e.cosine + a * impulse, both / d);
        e.impulseByStiffness = -(double)r->impulse.byStiffness;
        e.stepByStiffness = -(double)r->step.byStiffness;
        e.rampByStiffness = -(double)r->ramp.byStiffness;
        e.impulseByDamping = h2 * fmin(0.5 * impulse + a * d0, (2 * a * impulse + both) / d / d);
    } else {
        double decay = exp(-a), sine = fmin(1, 1 / root), d0 = decay * fmin(1.0 / 6, (1 + sine) / (2 * root * root));
        e.cosine = decay;
        e.impulse = decay * h * sine;
        e.step = h2 * fmin(0.5, 1 / kappa);
        e.ramp = h3 * fmin(1.0 / 6, 1 / kappa);
        e.velocity = decay * (1 + a * sine);
        e.impulseByStiffness = h3 * d0;
        e.stepByStiffness = h2 * h2 * fmin(1.0 / 24, (1 / kappa + 0.5 * decay * sine) / kappa);
        e.rampByStiffness = h2 * h3 * fmin(1.0 / 120, 1 / kappa / kappa);
        e.impulseByDamping = h2 * (0.5 * decay * sine + a * d0);
    }
    e.cosineByStiffness = 0.5 * h * e.impulse;
    e.cosineByDamping = 0.5 * h * e.velocity;
    e.stepByDamping = e.impulseByStiffness;
    e.rampByDamping = e.stepByStiffness;
    return e;
}

// Largest error so far of each function, in shares of its envelope, and where it was.
typedef struct Worst {
    double error;
    double stiffness, damping, h;
} Worst;

enum { FUNCTION_COUNT = 14 };
static const char* const functionNames[FUNCTION_COUNT] = {"EC", "ES", "G1", "G2", "EC-aES", "EC+aES", "dEC/dks",
    "dES/dks", "dG1/dks", "dG2/dks", "dEC/dkd", "dES/dkd", "dG1/dkd", "dG2/dkd"};

// Beyond this phase the arguments' own rounding decides; see the header.
#define PHASE_LIMIT 1e3
#define TOLERANCE 1e-12
// What cannot be told from an underflow.
#define TINY 1e-290
// The reference's own error, of the function's size at a short step: two of its derivatives cancel to nothing
// where the motion has died out. EC - alpha ES and dES/dk_s, which are the same quantities, are still checked
// in full there.
#define REFERENCE_ERROR 1e-28
enum { COSINE_BY_DAMPING = 10, STEP_BY_DAMPING = 12 };

static void CheckPoint(double stiffness, double damping, double h, Worst worst[FUNCTION_COUNT], long* exact)
{
    jnSpringResponse byStiffness, byDamping;
    jnSpringResponse s = jnDifferentiateSpring(stiffness, damping, h, &byStiffness, &byDamping);
    const double values[FUNCTION_COUNT] = {s.cosine, s.impulse, s.step, s.ramp, s.velocity, s.position,
        byStiffness.cosine, byStiffness.impulse, byStiffness.step, byStiffness.ramp, byDamping.cosine,
        byDamping.impulse, byDamping.step, byDamping.ramp};
    for (int i = 0; i < FUNCTION_COUNT; ++i) {
        if (!isfinite(values[i])) {
            fail_msg("%s is %g at k_s %.17g, k_d %.17g, h %.17g", functionNames[i], values[i], stiffness, damping, h);
        }
    }
    double sigma = (double)((Quad)damping * (Quad)damping / 4 - (Quad)stiffness);
    bool known = sqrt(fabs(sigma)) * h <= PHASE_LIMIT;
    if (!known) {
        double a = 0.5 * damping * h;
        double size = sigma > 0 ? 1.0 : exp(-a);
        ASSERT_AT_MOST(fabs(s.cosine), size * (1 + 1e-9));
        ASSERT_AT_MOST(fabs(s.impulse), h * size * (1 + 1e-9));
        ASSERT_AT_MOST(s.step, fmin(0.5 * h * h, 2 / stiffness) * (1 + 1e-9));
        ASSERT_AT_MOST(s.ramp, h * h * h / 6 * (1 + 1e-9));
        ASSERT_AT_MOST(0, s.step);
        ASSERT_AT_MOST(0, s.ramp);
        return;
    }
    ++*exact;
    Reference r = EvaluateReference(stiffness, damping, h);
    Envelope e = EvaluateEnvelope(stiffness, damping, h, &r);
    const Quad expected[FUNCTION_COUNT] = {r.cosine.value, r.impulse.value, r.step.value, r.ramp.value,
        r.velocity.value, r.position.value, r.cosine.byStiffness, r.impulse.byStiffness, r.step.byStiffness,
        r.ramp.byStiffness, r.cosine.byDamping, r.impulse.byDamping, r.step.byDamping, r.ramp.byDamping};
    const double envelope[FUNCTION_COUNT] = {e.cosine, e.impulse, e.step, e.ramp, e.velocity,
        e.cosine + 0.5 * damping * e.impulse, e.cosineByStiffness, e.impulseByStiffness, e.stepByStiffness,
        e.rampByStiffness, e.cosineByDamping, e.impulseByDamping, e.stepByDamping, e.rampByDamping};
    for (int i = 0; i < FUNCTION_COUNT; ++i) {
        double difference = (double)fabsq((Quad)values[i] - expected[i]);
        double floor = TINY + (i == COSINE_BY_DAMPING ? REFERENCE_ERROR * h : 0) +
                       (i == STEP_BY_DAMPING ? REFERENCE_ERROR * h * h * h : 0);
        double error = difference <= floor ? 0 : difference / (envelope[i] + TINY);
        if (!(error <= worst[i].error)) {
            worst[i] = (Worst){error, stiffness, damping, h};
        }
    }
}

static double LogSpace(double low, double high, int index, int count)
{
    return low * pow(high / low, (double)index / (count - 1));
}

static void CheckWorst(const Worst worst[FUNCTION_COUNT], long exact)
{
    print_message("%ld points compared\n", exact);
    for (int i = 0; i < FUNCTION_COUNT; ++i) {
        print_message("  %-8s worst %.1e of its envelope at k_s %.6g, k_d %.6g, h %.6g\n", functionNames[i],
            worst[i].error, worst[i].stiffness, worst[i].damping, worst[i].h);
    }
    for (int i = 0; i < FUNCTION_COUNT; ++i) {
        ASSERT_AT_MOST(worst[i].error, TOLERANCE);
    }
}

// Soft to stiff, undamped to overdamped by more than 1e6, a microsecond to hours.
static void EveryFunctionIsExactOverTheWholePlane(void** state)
{
    (void)state;
    enum { STIFFNESSES = 64, DAMPINGS = 64, STEPS = 52 };
    Worst worst[FUNCTION_COUNT] = {0};
    long exact = 0;
    for (int i = 0; i < STIFFNESSES; ++i) {
        double stiffness = i == 0 ? 0 : LogSpace(1e-8, 1e12, i - 1, STIFFNESSES - 1);
        for (int j = 0; j < DAMPINGS; ++j) {
            double damping = j == 0 ? 0 : LogSpace(1e-8, 1e9, j - 1, DAMPINGS - 1);
            for (int k = 0; k < STEPS; ++k) {
                CheckPoint(stiffness, damping, LogSpace(1e-6, 1e4, k, STEPS), worst, &exact);
            }
        }
    }
    CheckWorst(worst, exact);
    assert_true(exact >= 100000);
}

// On the critical curve, one ulp beside it, and a little farther: where 1/sigma would be noise.
static void EveryFunctionIsExactAroundCriticalDamping(void** state)
{
    (void)state;
    Worst worst[FUNCTION_COUNT] = {0};
    long exact = 0;
    static const double beside[] = {0, 0x1p-52, 0x1p-40, 1e-9, 1e-6, 1e-3, 0.03};
    for (int i = 0; i < 100; ++i) {
        double root = LogSpace(1e-4, 1e6, i, 100);
        for (int k = 0; k < 30; ++k) {
            double h = LogSpace(1e-6, 1e4, k, 30);
            for (int n = 0; n < 7; ++n) {
                CheckPoint(root * root, 2 * root * (1 + beside[n]), h, worst, &exact);
                CheckPoint(root * root, 2 * root * (1 - beside[n]), h, worst, &exact);
                CheckPoint(root * root * (1 + beside[n]), 2 * root, h, worst, &exact);
            }
        }
    }
    CheckWorst(worst, exact);
}

// Both sides of each border between two formulas: |root| = 2, roots apart by a quarter of their mean, |x|
// = 1.
static void FormulasAgreeAtTheirBorders(void** state)
{
    (void)state;
    Worst worst[FUNCTION_COUNT] = {0};
    long exact = 0;
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i <= 200; ++i) {
            double t = i / 200.0, nudge = 1 + side * 1e-13;
            // Slow border: underdamped kappa = 4, overdamped a + root = 2 (kappa = 4a - 4).
            CheckPoint(4 * nudge, 4 * t, 1, worst, &exact);
            CheckPoint(4 * t, 2 * (1 + t) * nudge, 1, worst, &exact);
            // Apart border: root = a/4, so kappa = 15/16 a^2, for a from 1.6 to 1600.
            double a = 1.6 * pow(1000, t);
            CheckPoint(15.0 / 16 * a * a * nudge, 2 * a, 1, worst, &exact);
            // Series in x: x = +1 and -1.
            CheckPoint((a * a + 1) * nudge, 2 * a, 1, worst, &exact);
            CheckPoint(fabs(a * a - 1) * nudge, 2 * a, 1, worst, &exact);
        }
    }
    CheckWorst(worst, exact);
}

static void WildArgumentsGiveFiniteResults(void** state)
{
    (void)state;
    static const double wild[] = {0, -1, 5e-324, 1e-300, 1e-30, 1, 1e30, 1e300, 1.7e308, INFINITY, NAN, -INFINITY};
    enum { COUNT = sizeof(wild) / sizeof(wild[0]) };
    for (int i = 0; i < COUNT * COUNT * COUNT; ++i) {
        jnSpringResponse byStiffness, byDamping;
        jnSpringResponse s = jnDifferentiateSpring(
            wild[i % COUNT], wild[i / COUNT % COUNT], wild[i / COUNT / COUNT], &byStiffness, &byDamping);
        assert_true(isfinite(s.cosine + s.impulse + s.step + s.ramp + s.position + s.velocity));
        assert_true(isfinite(byStiffness.cosine + byStiffness.impulse + byStiffness.step + byStiffness.ramp));
        assert_true(isfinite(byDamping.cosine + byDamping.impulse + byDamping.step + byDamping.ramp));
        assert_true(fabs(s.cosine) <= 1 && fabs(s.position) <= 1 + 1e-15 && fabs(s.velocity) <= 1 + 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryFunctionIsExactOverTheWholePlane),
        cmocka_unit_test(EveryFunctionIsExactAroundCriticalDamping),
        cmocka_unit_test(FormulasAgreeAtTheirBorders),
        cmocka_unit_test(WildArgumentsGiveFiniteResults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
