// How late causal timing shows a mode of 4 Hz, behind exact timing at a fine rate: driven by sines and by a core that
// boxes, with a force that is free and with one that saturates.
#include "helpers/modal_scene.h"

enum { REFERENCE = 1000, SECONDS = 6, BEGIN = 2, BOXING = 0, MOST = 60 };
// Seconds that the motion may be late or early.
#define FARTHEST 0.1

typedef struct Motion {
    double hertz;     // of a sine of the root's place; BOXING: the core's
    double limit;     // m/s, of the force: forceSpeed
    double exact;     // degrees that exact timing was behind a free force when forces saturated at an instant
    double before[2]; // that causal timing at 30 and 60 Hz was behind that
} Motion;

static float reference[2][SECONDS * REFERENCE + 1];

static jnTransform PlaceAt(double hertz, double t)
{
    static const float way[3] = {0.6f, 0.5f, 0.62f};
    jnTransform root = {.rotation = {0, 0, 0, 1}};
    float x = (float)(0.15 / fmax(hertz, 1) * sin(6.283185307179586 * hertz * t));
    for (int i = 0; i < 3; ++i) {
        root.position[i] = way[i] * x;
    }
    return hertz > 0 ? root : RootAt(CORE_BOXING, t);
}

// The mode at times n / rate. Exact timing shows a pose one step late, and is written where it belongs.
static void Play(const Scene* s, double hertz, double rate, jnTiming timing, float* out)
{
    jnCharacter* c = MustMake(s, timing, jn_kernelAuto);
    int late = timing == jn_timingExact ? 1 : 0, count = (int)(SECONDS * rate + 0.5);
    for (int n = 0; n <= count + late; ++n) {
        float weights[16];
        jnTransform root = PlaceAt(hertz, n / rate);
        jnCharacter_Step(c, &(jnCharacterInput){.h = (float)(1 / rate), .pose = {.root = &root}},
            &(jnCharacterOutput){.weights = weights});
        if (n >= late) {
            out[n - late] = weights[s->asset->componentCount];
        }
    }
    jnDestroyCharacter(c);
}

// How well a motion is that of the reference some seconds before.
static double Correlate(const float* z, double rate, const float* of, double late)
{
    double sums[3] = {0};
    for (int n = (int)(BEGIN * rate); n < (int)((SECONDS - FARTHEST) * rate); ++n) {
        double at = (n / rate - late) * REFERENCE, share = at - floor(at), own = (double)z[n];
        const float* from = of + (size_t)at;
        double there = (double)from[0] + share * ((double)from[1] - (double)from[0]);
        sums[0] += own * there;
        sums[1] += own * own;
        sums[2] += there * there;
    }
    return sums[0] / sqrt(sums[1] * sums[2]);
}

// Degrees of a frequency that a motion is late.
static double FindLag(const float* z, double rate, const float* of, double hertz)
{
    double best = -2, lag = 0, farthest = fmin(FARTHEST, 0.4 / hertz);
    for (double late = -farthest; late <= farthest; late += 0.0001) {
        double c = Correlate(z, rate, of, late);
        lag = c > best ? late : lag;
        best = fmax(c, best);
    }
    return 360 * hertz * lag;
}

static Scene MakeMode(double limit)
{
    modeHertz = 4;
    forceSpeed = limit;
    Scene s = MakeScene(5, 1);
    modeHertz = forceSpeed = 0;
    return s;
}

static void CausalTimingIsAsLateAsItWas(void** state)
{
    (void)state;
    static const Motion motions[] = {{2, 0, 0, {0.1, 0.0}}, {4, 0, 0, {0.3, 0.0}}, {6, 0, 0.1, {0.7, 0.1}},
        {BOXING, 0, 0, {0.9, 0.3}}, {2, 0.2, 0.1, {4.1, 0.6}}, {4, 0.2, 0, {23.9, 5.8}}, {6, 0.2, 0.1, {43.7, 11.5}},
        {BOXING, 0.2, 20.4, {3.5, 0.9}}};
    Scene free = MakeMode(0);
    for (size_t i = 0; i < sizeof(motions) / sizeof(motions[0]); ++i) {
        const Motion* m = &motions[i];
        Scene s = MakeMode(m->limit);
        double hertz = m->hertz > 0 ? m->hertz : 4;
        Play(&free, m->hertz, REFERENCE, jn_timingExact, reference[0]);
        Play(&s, m->hertz, REFERENCE, jn_timingExact, reference[1]);
        double exact = FindLag(reference[1], REFERENCE, reference[0], hertz);
        print_message("%s %g Hz, %s: exact %.1f degrees (was %.1f) behind a force that is free; causal behind exact",
            m->hertz > 0 ? "sine of" : "boxing, at", hertz, m->limit > 0 ? "saturated" : "free", exact, m->exact);
        ASSERT_NEAR(exact, m->exact, 5);
        for (int k = 0; k < 2; ++k) {
            float z[SECONDS * MOST + 1];
            double rate = 30 * (k + 1);
            Play(&s, m->hertz, rate, jn_timingCausal, z);
            double lag = FindLag(z, rate, reference[1], hertz);
            print_message("%s %.1f (was %.1f) at %g Hz", k > 0 ? "," : "", lag, m->before[k], rate);
            ASSERT_AT_MOST(fabs(lag), m->before[k] + 5);
        }
        print_message("\n");
        DestroyScene(&s);
    }
    DestroyScene(&free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(CausalTimingIsAsLateAsItWas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
