// The same motion whatever it is sampled at: flesh around a core that boxes, with forces that saturate, at many frame
// rates beside itself at 1000 Hz.
#include "helpers/modal_scene.h"

enum { REFERENCE = 1000, SECONDS = 4, MODES = 14, KEYS = 30 };
#define SKIPPED 0.3 // seconds that a history takes to forget how it began

typedef struct Way {
    double rate;     // 0: random steps of 1 to 50 ms
    bool lines;      // on straight lines between KEYS a second
    double fraction; // of the interval, that is shown; 0: its end
    jnTiming timing;
} Way;

// Off by so much of the reference: the root mean square of the amplitudes, and of the difference.
typedef struct Error {
    double size, difference;
} Error;

static float reference[SECONDS * REFERENCE + 1][MODES];

static jnTransform Sample(double t, bool lines)
{
    if (!lines) {
        return RootAt(CORE_BOXING, t);
    }
    double key = floor(t * KEYS + 1e-6);
    float share = (float)(t * KEYS - key), square = 0, dot = 0;
    jnTransform a = RootAt(CORE_BOXING, key / KEYS), b = RootAt(CORE_BOXING, (key + 1) / KEYS);
    for (int i = 0; i < 3; ++i) {
        a.position[i] += share * (b.position[i] - a.position[i]);
    }
    for (int i = 0; i < 4; ++i) {
        dot += a.rotation[i] * b.rotation[i];
    }
    for (int i = 0; i < 4; ++i) {
        a.rotation[i] += share * ((dot < 0 ? -b.rotation[i] : b.rotation[i]) - a.rotation[i]);
        square += a.rotation[i] * a.rotation[i];
    }
    for (int i = 0; i < 4; ++i) {
        a.rotation[i] /= sqrtf(square);
    }
    return a;
}

static void Compare(double t, const float* z, double sums[3])
{
    double at = t * REFERENCE, share = at - floor(at);
    const float *from = reference[(size_t)at], *to = reference[(size_t)at + (share > 1e-6)];
    for (int k = 0; k < MODES; ++k) {
        double r = (double)from[k] + share * ((double)to[k] - (double)from[k]), own = (double)z[k];
        sums[0] += own * own;
        sums[1] += r * r;
        sums[2] += (own - r) * (own - r);
    }
}

// With the rate of the reference it is made.
static Error Play(const Scene* s, Way way)
{
    jnCharacter* c = MustMake(s, way.timing, jn_kernelAuto);
    double sums[3] = {0}, h = 0;
    Random random = {3};
    for (double t = 0; t < SECONDS + 1e-9; t += h) {
        float weights[MODES + 2];
        jnTransform root = Sample(t, way.lines);
        const jnCharacterOutput out = {.weights = weights};
        jnCharacter_Step(c, &(jnCharacterInput){.h = (float)h, .pose = {.root = &root}}, &out);
        const float* z = weights + s->asset->componentCount;
        if (way.rate == REFERENCE) {
            memcpy(reference[(size_t)(t * REFERENCE + 0.5)], z, sizeof(reference[0]));
        } else if (t > SKIPPED) {
            if (way.fraction > 0) {
                jnCharacter_Evaluate(c, (float)way.fraction, &out);
            }
            double late = (way.fraction > 0 ? 1 - way.fraction : 0) + (way.timing == jn_timingExact ? 1 : 0);
            Compare(t - late * h, z, sums);
        }
        h = way.rate > 0 ? 1 / way.rate : Uniform(&random, 0.001, 0.05);
    }
    jnDestroyCharacter(c);
    return (Error){fabs(sqrt(sums[0] / sums[1]) - 1), sqrt(sums[2] / sums[1])};
}

static Scene MakeSaturated(void)
{
    forceSpeed = 0.2;
    Scene s = MakeScene(5, MODES);
    forceSpeed = 0;
    assert_int_equal(s.asset->modeCount, MODES);
    (void)Play(&s, (Way){.rate = REFERENCE, .timing = jn_timingCausal});
    return s;
}

static void EveryFrameRateHasTheSameMotion(void** state)
{
    (void)state;
    static const double rates[] = {24, 30, 50, 60, 120, 144, 240};
    Scene s = MakeSaturated();
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); ++i) {
        Error e = Play(&s, (Way){.rate = rates[i], .timing = jn_timingCausal});
        print_message("%g Hz: size off by %.3f, difference %.3f\n", rates[i], e.size, e.difference);
        ASSERT_AT_MOST(e.size, rates[i] < 50 ? 0.05 : 0.03);
        ASSERT_AT_MOST(e.difference, rates[i] < 50 ? 0.12 : 0.05);
    }
    Error e = Play(&s, (Way){.rate = 0, .timing = jn_timingCausal});
    print_message("1 to 50 ms: size off by %.3f, difference %.3f\n", e.size, e.difference);
    ASSERT_AT_MOST(e.size, 0.05);
    ASSERT_AT_MOST(e.difference, 0.15);
    DestroyScene(&s);
}

// Their accelerations are spikes of one step: what saturates must not see them.
static void LinesBetweenKeysAreHardlyFelt(void** state)
{
    (void)state;
    Scene s = MakeSaturated();
    for (double rate = 60; rate < 500; rate *= 2) {
        Error e = Play(&s, (Way){.rate = rate, .lines = true, .timing = jn_timingCausal});
        print_message("lines at %g Hz: size off by %.3f, difference %.3f\n", rate, e.size, e.difference);
        ASSERT_AT_MOST(e.size, 0.1);
        ASSERT_AT_MOST(e.difference, 0.15);
    }
    DestroyScene(&s);
}

// Few steps, shown in between: the level of detail of crowds far away.
static void LowRatesAreShownBetweenTheirSteps(void** state)
{
    (void)state;
    Scene s = MakeSaturated();
    for (int i = 0; i < 4; ++i) {
        jnTiming timing = i % 2 == 0 ? jn_timingCausal : jn_timingExact;
        double rate = i < 2 ? 15 : 10, difference = 0;
        for (double fraction = 0.25; fraction < 0.9; fraction += 0.25) {
            Error e = Play(&s, (Way){.rate = rate, .fraction = fraction, .timing = timing});
            difference = fmax(difference, e.difference);
            ASSERT_AT_MOST(e.size, rate > 10 ? 0.1 : 0.2);
        }
        print_message("%g Hz, %s timing: difference %.3f\n", rate, i % 2 == 0 ? "causal" : "exact", difference);
        ASSERT_AT_MOST(difference, rate > 10 ? 0.25 : 0.6);
    }
    DestroyScene(&s);
}

// A dropped second is one step of a second: what was in the filter is gone, and a step of the flesh is a swing of many.
static void ALongStepIsOneOfMany(void** state)
{
    (void)state;
    Scene s = MakeSaturated();
    float ends[2][MODES + 2], most = 0;
    for (int kind = 0; kind < 2; ++kind) {
        jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
        for (int n = 0; n < 30; ++n) {
            StepTo(c, CORE_BOXING, n / 30.0, FRAME, NULL, NULL);
        }
        // The root stands still for four steps, so that both know that it does, and then for a second.
        jnTransform root = RootAt(CORE_BOXING, 29 / 30.0);
        for (int n = 0; n < 4 + (kind == 0 ? 1 : 100); ++n) {
            float h = n < 4 ? FRAME : kind == 0 ? 1.0f : 0.01f;
            jnCharacter_Step(
                c, &(jnCharacterInput){.h = h, .pose = {.root = &root}}, &(jnCharacterOutput){.weights = ends[kind]});
        }
        jnDestroyCharacter(c);
    }
    for (int k = 0; k < MODES; ++k) {
        most = fmaxf(most, fabsf(ends[1][k]));
        ASSERT_NEAR(ends[0][k], ends[1][k], 1e-3);
    }
    assert_true(most > 1e-2f);
    DestroyScene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryFrameRateHasTheSameMotion),
        cmocka_unit_test(LinesBetweenKeysAreHardlyFelt),
        cmocka_unit_test(LowRatesAreShownBetweenTheirSteps),
        cmocka_unit_test(ALongStepIsOneOfMany),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
