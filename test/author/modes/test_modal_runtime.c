// The runtime's springs on modes: against the reference in double precision, and everything that is asked of jiggle.
#include "helpers/modal_scene.h"
#include "modes/modal_motion.h"

// How far the runtime goes, in exact timing, and how far it is from the reference, which knows nothing of 16 bits,
// floats and blocks. A core that moves and turns.
static double CompareWithReference(int count, double* most)
{
    Scene s = MakeScene(6, count);
    jnaModalSequence sequence = RunCore(&s.core, CORE_BOXING, DAMPING, 1); // for its targets and turns
    size_t numbers = CORE_FRAMES * (size_t)count;
    double *starts = malloc(numbers * sizeof(double)), *rates = malloc(numbers * sizeof(double));
    double* z = malloc(numbers * sizeof(double));
    assert_int_equal(jnaModes_Force(&s.modes, &sequence, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(&s.modes, &sequence, &(jnaModalDrive){starts, rates, NULL}, z, NULL, NULL), jn_ok);
    jnCharacter* c = MustMake(&s, jn_timingExact, jn_kernelAuto);
    float *got = Positions(&s), *expected = Positions(&s), *skinned = Positions(&s);
    double worst = 0;
    *most = 0;
    for (int n = 0; n < CORE_FRAMES; ++n) {
        StepTo(c, CORE_BOXING, n * CORE_DT, FRAME, got, NULL);
        if (n >= 2) {
            jnaModes_Show(&s.modes, &sequence, n - 1, z, expected);
            worst = fmax(worst, FarthestOf(got, expected, s.vertices));
            *most = fmax(*most, OffsetOf(c, CORE_BOXING, (n - 1) * CORE_DT, got, skinned, s.vertices));
        }
    }
    print_message("%d modes: off by %.2g m where the flesh moves by %.3g m\n", count, worst, *most);
    jnDestroyCharacter(c);
    free(starts);
    free(rates);
    free(z);
    free(got);
    free(expected);
    free(skinned);
    DestroyScene(&s);
    return worst;
}

static void RuntimeIsTheReference(void** state)
{
    (void)state;
    double most, one;
    ASSERT_AT_MOST(CompareWithReference(20, &most), 1e-4);
    assert_true(most > 0.01);
    ASSERT_AT_MOST(CompareWithReference(1, &one), 1e-4);
    assert_true(one > 1e-3 && one < most);
}

// Forces of 12 m/s^2 and more on modes that level off towards 5: the flesh goes less far, as the reference says.
static void LargeForcesLevelOff(void** state)
{
    (void)state;
    double free, held;
    ASSERT_AT_MOST(CompareWithReference(20, &free), 5e-5);
    forceSpeed = 0.2;
    ASSERT_AT_MOST(CompareWithReference(20, &held), 5e-5);
    forceSpeed = 0;
    assert_true(held > 0.2 * free && held < 0.8 * free);
}

static void KernelsGiveTheSameBytes(void** state)
{
    (void)state;
    forceSpeed = 0.2;
    Scene s = MakeScene(5, 14);
    forceSpeed = 0;
    float *a = Positions(&s), *b = Positions(&s), *v = Positions(&s), *w = Positions(&s);
    for (int kernel = jn_kernelAvx2; kernel <= jn_kernelAvx512; ++kernel) {
        if (!jnKernelAvailable((jnKernel)kernel)) {
            continue;
        }
        jnCharacter* plain = MustMake(&s, jn_timingCausal, jn_kernelBaseline);
        jnCharacter* wide = MustMake(&s, jn_timingCausal, (jnKernel)kernel);
        for (int n = 0; n < 30; ++n) {
            bool velocities = n % 3 == 2;
            StepTo(plain, CORE_BOXING, n * CORE_DT, FRAME, a, velocities ? v : NULL);
            StepTo(wide, CORE_BOXING, n * CORE_DT, FRAME, b, velocities ? w : NULL);
            assert_memory_equal(a, b, 3 * (size_t)s.vertices * sizeof(float));
            assert_memory_equal(v, w, 3 * (size_t)s.vertices * sizeof(float));
        }
        jnDestroyCharacter(plain);
        jnDestroyCharacter(wide);
    }
    free(a);
    free(b);
    free(v);
    free(w);
    DestroyScene(&s);
}

// A constant acceleration is exact for any step: 30 Hz, 120 Hz and a jumble end in the same place, once the history has
// seen it.
static void AnyStepGivesTheSameMotion(void** state)
{
    (void)state;
    enum { END = 123 };
    static const int jumble[] = {1, 5, 2, 7, 3, 6};
    Scene s = MakeScene(5, 14);
    float *ends[3], *skinned = Positions(&s);
    for (int kind = 0; kind < 3; ++kind) {
        jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
        ends[kind] = Positions(&s);
        for (int n = 0, tick = 0, last = 0; last < END; ++n) {
            double t = tick / 240.0;
            jnTransform root = {.position = {(float)(3 * t * t), (float)(t - 2 * t * t), (float)(0.5 * t)},
                .rotation = {0.1f, 0.2f, 0, 0.9746794f}};
            jnCharacter_Step(c, &(jnCharacterInput){.h = (float)((tick - last) / 240.0), .pose = {.root = &root}},
                &(jnCharacterOutput){.positions = ends[kind]});
            jnCharacter_Skin(c, &(jnPose){.root = &root}, &(jnCharacterOutput){.positions = skinned});
            int ticks = n < 3 ? 1 : kind == 0 ? 8 : kind == 1 ? 2 : jumble[n % 6];
            last = tick;
            tick = tick + ticks < END ? tick + ticks : END;
        }
        jnDestroyCharacter(c);
    }
    double most = FarthestOf(ends[0], skinned, s.vertices);
    assert_true(most > 0.005);
    ASSERT_AT_MOST(FarthestOf(ends[0], ends[1], s.vertices), 2e-5);
    ASSERT_AT_MOST(FarthestOf(ends[1], ends[2], s.vertices), 2e-5);
    for (int kind = 0; kind < 3; ++kind) {
        free(ends[kind]);
    }
    free(skinned);
    DestroyScene(&s);
}

static void SnapshotsPausesAndTeleportsWork(void** state)
{
    (void)state;
    Scene s = MakeScene(5, 14);
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    float *a = Positions(&s), *b = Positions(&s), *skinned = Positions(&s);
    size_t bytes = 3 * (size_t)s.vertices * sizeof(float), size = jnCharacter_SnapshotSize(c);
    void* snapshot = malloc(size);
    for (int n = 0; n < 20; ++n) {
        StepTo(c, CORE_JUMPING, n * CORE_DT, FRAME, a, NULL);
    }
    jnCharacter_Save(c, snapshot);
    for (int n = 20; n < 30; ++n) {
        StepTo(c, CORE_JUMPING, n * CORE_DT, FRAME, a, NULL);
    }
    assert_int_equal(jnCharacter_Restore(c, snapshot, size, NULL), jn_ok);
    for (int n = 20; n < 30; ++n) {
        StepTo(c, CORE_JUMPING, n * CORE_DT, FRAME, b, NULL);
    }
    assert_memory_equal(a, b, bytes);
    assert_int_equal(jnCharacter_Restore(c, snapshot, size - 1, NULL), jn_badData);
    // A pause changes nothing.
    StepTo(c, CORE_JUMPING, 29 * CORE_DT, 0, a, NULL);
    ASSERT_AT_MOST(FarthestOf(a, b, s.vertices), 1e-6);
    // Carried far away and turned, the offsets go along.
    double before = OffsetOf(c, CORE_JUMPING, 29 * CORE_DT, a, skinned, s.vertices);
    assert_true(before > 0.002);
    jnTransform root = RootAt(CORE_JUMPING, 30 * CORE_DT);
    root.position[0] += 100;
    jnCharacter_Step(c, &(jnCharacterInput){.h = FRAME, .pose = {.root = &root}, .teleport = jn_teleportKeep},
        &(jnCharacterOutput){.positions = b});
    double far = 0;
    StepTo(c, CORE_JUMPING, 0, 0, NULL, NULL);
    for (int i = 0; i < 3 * s.vertices; ++i) {
        far = fmax(far, fabs((double)b[i] - (double)a[i] - (i % 3 == 0 ? 100 : 0)));
    }
    ASSERT_AT_MOST(far, 0.08); // one frame's motion, not a hundred metres
    // A reset is on the target.
    jnCharacter_Reset(c, &(jnCharacterInput){.pose = {.root = &root}}, &(jnCharacterOutput){.positions = a});
    jnCharacter_Skin(c, &(jnPose){.root = &root}, &(jnCharacterOutput){.positions = skinned});
    ASSERT_AT_MOST(FarthestOf(a, skinned, s.vertices), 1e-5);
    free(a);
    free(b);
    free(skinned);
    free(snapshot);
    jnDestroyCharacter(c);
    DestroyScene(&s);
}

static void RestsEndOnTheTarget(void** state)
{
    (void)state;
    for (int timing = 0; timing < 2; ++timing) {
        Scene s = MakeScene(5, 14);
        jnCharacter* c = MustMake(&s, (jnTiming)timing, jn_kernelAuto);
        jnCharacter* slow = MustMake(&s, (jnTiming)timing, jn_kernelAuto);
        float *a = Positions(&s), *b = Positions(&s), *skinned = Positions(&s);
        for (int n = 0; n < 20; ++n) {
            StepTo(c, CORE_SHIFTING, n * CORE_DT, FRAME, a, NULL);
            StepTo(slow, CORE_SHIFTING, n * CORE_DT, FRAME, a, NULL);
        }
        // Half a second in one step and in twenty.
        jnCharacter_Settle(c, 0.5, &(jnCharacterOutput){.positions = a});
        for (int n = 0; n < 20; ++n) {
            jnCharacter_Settle(slow, 0.025, &(jnCharacterOutput){.positions = b});
        }
        ASSERT_AT_MOST(FarthestOf(a, b, s.vertices), 1e-5);
        assert_true(OffsetOf(c, CORE_SHIFTING, 19 * CORE_DT, a, skinned, s.vertices) > 1e-3);
        jnCharacter_Settle(c, 20, &(jnCharacterOutput){.positions = a});
        ASSERT_AT_MOST(OffsetOf(c, CORE_SHIFTING, 19 * CORE_DT, a, skinned, s.vertices), 1e-6);
        free(a);
        free(b);
        free(skinned);
        jnDestroyCharacter(c);
        jnDestroyCharacter(slow);
        DestroyScene(&s);
    }
}

// A solved loop repeats, turning included.
static void LoopsRepeat(void** state)
{
    (void)state;
    enum { FRAMES = 24 };
    for (int timing = 0; timing < 2; ++timing) {
        Scene s = MakeScene(5, 14);
        jnCharacter* c = MustMake(&s, (jnTiming)timing, jn_kernelAuto);
        jnTransform roots[FRAMES];
        jnPose poses[FRAMES];
        for (int n = 0; n < FRAMES; ++n) {
            double phase = 2 * 3.14159265358979 * n / FRAMES, half = 0.4 * sin(phase);
            roots[n] = (jnTransform){.position = {(float)(0.1 * cos(phase)), (float)(0.1 * sin(2 * phase)), 0},
                .rotation = {0, (float)sin(half), 0, (float)cos(half)}};
            poses[n] = (jnPose){.root = &roots[n]};
        }
        int unsolved = -1;
        assert_int_equal(jnCharacter_SolveLoop(c, &(jnCharacterLoop){poses, FRAMES, FRAME}, &unsolved, NULL), jn_ok);
        assert_int_equal(unsolved, 0);
        float *first = Positions(&s), *again = Positions(&s);
        int lead = timing == jn_timingExact ? 1 : 0;
        for (int n = 1; n <= 2 * FRAMES; ++n) {
            float* out = n == FRAMES / 2 ? first : again;
            jnCharacter_Step(c, &(jnCharacterInput){.h = FRAME, .pose = poses[(n + lead) % FRAMES]},
                &(jnCharacterOutput){.positions = out});
            if (n == FRAMES / 2 + FRAMES) {
                ASSERT_AT_MOST(FarthestOf(first, again, s.vertices), 1e-5);
            }
        }
        free(first);
        free(again);
        jnDestroyCharacter(c);
        DestroyScene(&s);
    }
}

// What is kicked comes to rest on its target. There is no other door: springs of vertices, where a state could be left
// that nothing advances, are not there.
static void AnImpulseDecays(void** state)
{
    (void)state;
    enum { SECONDS = 20 };
    Scene s = MakeScene(5, 14);
    float *a = Positions(&s), *skinned = Positions(&s);
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    assert_null(jnCharacter_Springs(c));
    StepTo(c, CORE_SHIFTING, 0, FRAME, a, NULL);
    jnCharacter_AddImpulse(c, 3, (float[3]){0, 20, 0});
    jnCharacter_AddImpulseSphere(c, (float[3]){0.3f, 0, 0}, 0.2f, (float[3]){0, 2, 0});
    double most = 0, last = 0;
    for (int n = 0; n < (int)(SECONDS / CORE_DT); ++n) {
        StepTo(c, CORE_SHIFTING, 0, FRAME, a, NULL);
        last = OffsetOf(c, CORE_SHIFTING, 0, a, skinned, s.vertices);
        most = fmax(most, last);
    }
    assert_true(most > 0.005);
    ASSERT_AT_MOST(last, 1e-6);
    jnDestroyCharacter(c);
    free(a);
    free(skinned);
    DestroyScene(&s);
}

static void CapStrengthForceImpulseAndTuningAct(void** state)
{
    (void)state;
    Scene s = MakeScene(5, 14);
    float *a = Positions(&s), *skinned = Positions(&s);
    for (int kind = 0; kind < 6; ++kind) {
        jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
        double most = 0;
        if (kind == 1) {
            jnCharacter_SetCap(c, 0.01f);
        } else if (kind == 2) {
            assert_int_equal(jnCharacter_SetStrength(c, -1, 0, NULL), jn_ok);
        } else if (kind == 3) {
            assert_int_equal(jnCharacter_TuneModes(c, -1, 1, 1, 0), 14); // nothing drives them
            // What is no scale changes nothing.
            assert_int_equal(jnCharacter_TuneModes(c, -1, -1, 1, 1), 0);
            assert_int_equal(jnCharacter_TuneModes(c, -1, 1, -1, 1), 0);
            assert_int_equal(jnCharacter_TuneModes(c, -1, 1, 1, -1), 0);
            assert_int_equal(jnCharacter_TuneModes(c, -1, 1, 1, (float)NAN), 0);
            assert_int_equal(jnCharacter_TuneMode(c, 0, -1, 1, 1), 0);
            assert_int_equal(jnCharacter_TuneMode(c, -1, 1, 1, 1), 0);
            assert_int_equal(jnCharacter_TuneMode(c, 14, 1, 1, 1), 0);
        } else if (kind == 4) {
            jnCharacter_SetInertia(c, 0, 0);
        } else if (kind == 5) {
            for (int k = 0; k < 14; ++k) { // three times as fast, one by one: a ninth of the way
                assert_int_equal(jnCharacter_TuneMode(c, k, 3, 1, 1), 1);
            }
        }
        for (int n = 0; n < 60; ++n) {
            StepTo(c, CORE_SHIFTING, n * CORE_DT, FRAME, a, NULL);
            most = fmax(most, OffsetOf(c, CORE_SHIFTING, n * CORE_DT, a, skinned, s.vertices));
        }
        if (kind == 0) {
            assert_true(most > 0.03);
        } else if (kind == 1) {
            assert_true(most > 0.006 && most <= 0.02); // a centimetre each mode for itself
        } else if (kind == 5) {
            assert_true(most > 0.001 && most < 0.02);
        } else {
            ASSERT_AT_MOST(most, kind == 4 ? 1e-4 : 1e-6);
        }
        jnDestroyCharacter(c);
    }
    // A force, held: the flesh sags by P . force / stiffness; an impulse: it moves and comes back.
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    jnCharacter_SetForce(c, (float[3]){0, -5, 0});
    StepTo(c, CORE_SHIFTING, 0, FRAME, a, NULL);
    jnCharacter_Settle(c, 30, &(jnCharacterOutput){.positions = a});
    double sag = OffsetOf(c, CORE_SHIFTING, 0, a, skinned, s.vertices);
    assert_true(sag > 0.003 && sag < 0.1);
    jnCharacter_SetForce(c, (float[3]){0, 0, 0});
    jnCharacter_Settle(c, 30, &(jnCharacterOutput){.positions = a});
    ASSERT_AT_MOST(OffsetOf(c, CORE_SHIFTING, 0, a, skinned, s.vertices), 1e-6);
    jnCharacter_AddImpulseSphere(c, (float[3]){0.3f, 0, 0}, 0.2f, (float[3]){0, 2, 0});
    jnCharacter_Settle(c, 0.05, &(jnCharacterOutput){.positions = a});
    assert_true(OffsetOf(c, CORE_SHIFTING, 0, a, skinned, s.vertices) > 0.005);
    jnCharacter_Reset(c, &(jnCharacterInput){.h = 0}, &(jnCharacterOutput){.positions = a});
    jnCharacter_AddImpulse(c, 3, (float[3]){0, 20, 0});
    jnCharacter_AddImpulse(c, 3, (float[3]){(float)NAN, 20, 0});
    jnCharacter_Settle(c, 0.05, &(jnCharacterOutput){.positions = a});
    jnCharacter_Skin(c, &(jnPose){0}, &(jnCharacterOutput){.positions = skinned});
    double moved = FarthestOf(a, skinned, s.vertices);
    assert_true(moved > 1e-4 && moved < 1);
    jnDestroyCharacter(c);
    free(a);
    free(skinned);
    DestroyScene(&s);
}

// Between samples: the ends are the frames themselves, and velocities are what positions do.
static void BetweenSamplesTheMotionIsSmooth(void** state)
{
    (void)state;
    for (int timing = 0; timing < 2; ++timing) {
        Scene s = MakeScene(5, 14);
        jnCharacter* c = MustMake(&s, (jnTiming)timing, jn_kernelAuto);
        float *last = Positions(&s), *now = Positions(&s), *x[3], *v = Positions(&s);
        for (int i = 0; i < 3; ++i) {
            x[i] = Positions(&s);
        }
        for (int n = 0; n < 30; ++n) {
            memcpy(last, now, 3 * (size_t)s.vertices * sizeof(float));
            StepTo(c, CORE_BOXING, n * CORE_DT, FRAME, now, NULL);
        }
        jnCharacter_Evaluate(c, 1, &(jnCharacterOutput){.positions = x[0]});
        ASSERT_AT_MOST(FarthestOf(x[0], now, s.vertices), 1e-6);
        jnCharacter_Evaluate(c, 0, &(jnCharacterOutput){.positions = x[0]});
        ASSERT_AT_MOST(FarthestOf(x[0], last, s.vertices), 2e-6);
        jnCharacter_Evaluate(c, 0.49f, &(jnCharacterOutput){.positions = x[0]});
        jnCharacter_Evaluate(c, 0.5f, &(jnCharacterOutput){.positions = x[1], .velocities = v});
        jnCharacter_Evaluate(c, 0.51f, &(jnCharacterOutput){.positions = x[2]});
        double worst = 0, most = 0;
        for (int i = 0; i < 3 * s.vertices; ++i) {
            double slope = ((double)x[2][i] - (double)x[0][i]) / (0.02 * (double)FRAME);
            worst = fmax(worst, fabs(slope - (double)v[i]));
            most = fmax(most, fabs(slope));
        }
        print_message("velocities off by %.3g of %.3g m/s\n", worst, most);
        ASSERT_AT_MOST(worst, 0.02 * most);
        free(last);
        free(now);
        free(v);
        for (int i = 0; i < 3; ++i) {
            free(x[i]);
        }
        jnDestroyCharacter(c);
        DestroyScene(&s);
    }
}

// Every byte of the section is looked at: whatever is flipped under a right checksum is refused or plays on.
static void DamagedModesAreRefusedOrHarmless(void** state)
{
    (void)state;
    Scene s = MakeScene(3, 4);
    size_t size = s.asset->byteCount;
    char* copy = aligned_alloc(64, (size + 63) / 64 * 64);
    float* out = Positions(&s);
    size_t at = 0, length = 0;
    for (int i = 0; i < jnAsset_SectionCount(s.asset); ++i) {
        jnAssetSection section = jnAsset_Section(s.asset, i);
        if (strcmp(section.id, "MODE") == 0) {
            at = section.offset;
            length = section.size;
        }
    }
    assert_true(length > 64);
    int refused = 0, played = 0;
    Random random = {5};
    for (size_t i = 0; i < length; i += i < 512 ? 1 : 7) {
        memcpy(copy, s.bytes, size);
        copy[at + i] = (char)(copy[at + i] ^ (1 << (NextBits(&random) % 8)));
        uint64_t sum = jnAssetChecksum(copy, size);
        memcpy(copy + 24, &sum, sizeof(sum));
        jnAsset* asset;
        jnError error = {0};
        if (jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &asset, &error) != jn_ok) {
            assert_non_null(strstr(error.message, "MODE"));
            refused++;
            continue;
        }
        Scene damaged = s;
        damaged.asset = asset;
        jnCharacter* c = MustMake(&damaged, jn_timingCausal, jn_kernelAuto);
        for (int n = 0; n < 4; ++n) {
            StepTo(c, CORE_BOXING, n * CORE_DT, FRAME, out, NULL);
        }
        jnDestroyCharacter(c);
        jnDestroyAsset(asset);
        played++;
    }
    print_message("%d refused, %d played\n", refused, played);
    assert_true(refused > 100 && played > 100);
    free(copy);
    free(out);
    DestroyScene(&s);
}

// A level of detail that comes while playing is one that a character was made with, however the modes are packed; what
// comes back swings as if it had never left.
static void ALevelOfDetailIsPackedAnew(void** state)
{
    (void)state;
    enum { ALL = 40, FEW = 10, CHANGES = 20, BACK = 60, END = 220 };
    forceSpeed = 0.2;
    Scene s = MakeScene(6, ALL);
    forceSpeed = 0;
    jnCharacterDef def = jnDefaultCharacterDef(s.asset);
    jnCharacter *c = MustMake(&s, jn_timingCausal, jn_kernelAuto), *all = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    jnCharacter *few, *early = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    float a[ALL] = {0}, b[ALL] = {0}, most = 0, off = 0;
    def.modes = FEW;
    assert_int_equal(jnCreateCharacter(&def, &few, NULL), jn_ok);
    jnCharacter_SetLevel(early, 0, FEW, 0);
    for (int n = 0; n < END; ++n) {
        jnTransform root = RootAt(CORE_BOXING, n * CORE_DT);
        const jnCharacterInput input = {.h = FRAME, .pose = {.root = &root}};
        jnCharacter_Step(few, &input, &(jnCharacterOutput){.weights = a});
        jnCharacter_Step(early, &input, &(jnCharacterOutput){.weights = b});
        assert_memory_equal(a, b, sizeof(a));
        if (n == CHANGES || n == BACK) {
            jnCharacter_SetLevel(c, 0, n == BACK ? 0 : FEW, 0.3f);
        }
        jnCharacter_Step(all, &input, &(jnCharacterOutput){.weights = a});
        jnCharacter_Step(c, &input, &(jnCharacterOutput){.weights = b});
        for (int k = 0; k < ALL; ++k) {
            assert_true(n >= CHANGES || a[k] == b[k]);
            assert_true(n < CHANGES + 12 || n >= BACK || k < FEW || b[k] == 0.0f);
            most = fmaxf(most, fabsf(a[k]));
            off = n > END - 30 ? fmaxf(off, fabsf(a[k] - b[k])) : 0.0f;
        }
    }
    print_message("%d modes, %d, and %d again: off by %.2g of %.2g\n", ALL, FEW, ALL, (double)off, (double)most);
    assert_true(off < 1e-3f * most);
    jnCharacter* list[] = {c, all, few, early};
    for (int i = 0; i < 4; ++i) {
        jnDestroyCharacter(list[i]);
    }
    DestroyScene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(RuntimeIsTheReference),
        cmocka_unit_test(LargeForcesLevelOff),
        cmocka_unit_test(KernelsGiveTheSameBytes),
        cmocka_unit_test(AnyStepGivesTheSameMotion),
        cmocka_unit_test(SnapshotsPausesAndTeleportsWork),
        cmocka_unit_test(RestsEndOnTheTarget),
        cmocka_unit_test(LoopsRepeat),
        cmocka_unit_test(AnImpulseDecays),
        cmocka_unit_test(CapStrengthForceImpulseAndTuningAct),
        cmocka_unit_test(BetweenSamplesTheMotionIsSmooth),
        cmocka_unit_test(ALevelOfDetailIsPackedAnew),
        cmocka_unit_test(DamagedModesAreRefusedOrHarmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
