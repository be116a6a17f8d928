// What a game does to springs: pause, teleport, inertia, forces, tuning, caps, rests, snapshots, and numbers that are
// none.
#include "helpers/springs_scene.h"

static void PauseIsTheIdentity(void** state)
{
    (void)state;
    for (int timing = 0; timing < 2; ++timing) {
        jnSprings* a = Make(1, 200, 2, jn_curveCubic, (jnTiming)timing);
        jnSprings* b = Make(1, 200, 2, jn_curveCubic, (jnTiming)timing);
        float x[3], pa[3], pb[3];
        static const float odd[] = {0, -1, NAN};
        for (int n = 0; n < 50; ++n) {
            Target(n / 60.0, x);
            Step(a, 1 / 60.0, x, pa);
            Step(b, 1 / 60.0, x, pb);
            for (int k = 0; k < 3 && n % 7 == 3; ++k) {
                float paused[3];
                Step(b, (double)odd[k], x, paused);
                assert_memory_equal(paused, pb, sizeof(paused));
            }
            assert_memory_equal(pa, pb, sizeof(pa));
        }
        jnDestroySprings(a);
        jnDestroySprings(b);
    }
}

static void TargetsMovedDuringAPauseCarryTheirSprings(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 200, 2, jn_curveCubic, jn_timingCausal);
    float x[3], before[3], after[3];
    for (int n = 0; n < 30; ++n) {
        Target(n / 60.0, x);
        Step(springs, 1 / 60.0, x, before);
    }
    x[0] += 2;
    Step(springs, 0, x, after);
    ASSERT_NEAR(after[0], before[0] + 2, 1e-6);
    ASSERT_NEAR(after[1], before[1], 1e-6);
    jnDestroySprings(springs);
}

static void TeleportKeepsOffsetsOrResetsThem(void** state)
{
    (void)state;
    // Three sets see the same motion; two of them are moved by 100 m at frame 40, one told, one by the
    // threshold.
    jnSprings* stay = Make(1, 200, 2, jn_curveCubic, jn_timingCausal);
    jnSprings* told = Make(1, 200, 2, jn_curveCubic, jn_timingCausal);
    jnSprings* found = Make(1, 200, 2, jn_curveCubic, jn_timingCausal);
    jnSprings* reset = Make(1, 200, 2, jn_curveCubic, jn_timingCausal);
    jnSprings_SetTeleportThreshold(found, 5, jn_teleportKeep);
    float x[3], p[4][3];
    for (int n = 0; n < 41; ++n) {
        // Constant velocity before the jump: the motion that a teleport assumes goes on.
        x[0] = x[1] = x[2] = (float)(0.03 * n);
        float far[3] = {n == 40 ? x[0] + 100 : x[0], x[1], x[2]};
        if (n == 20) {
            static const float hit[3] = {1, 0.5f, 0};
            jnSprings_AddImpulse(stay, 0, hit);
            jnSprings_AddImpulse(told, 0, hit);
            jnSprings_AddImpulse(found, 0, hit);
        }
        jnTeleport keep = n == 40 ? jn_teleportKeep : jn_teleportNone,
                   anew = n == 40 ? jn_teleportReset : jn_teleportNone;
        Step(stay, 1 / 60.0, x, p[0]);
        jnSprings_Step(told, &(jnSpringsInput){.h = 1 / 60.0f, .targets = far, .teleport = keep},
            &(jnSpringsOutput){.positions = p[1]});
        Step(found, 1 / 60.0, far, p[2]);
        jnSprings_Step(reset, &(jnSpringsInput){.h = 1 / 60.0f, .targets = far, .teleport = anew},
            &(jnSpringsOutput){.positions = p[3]});
    }
    assert_true(fabsf(p[0][0] - x[0]) > 0.01f); // there is an offset to keep
    for (int k = 1; k < 3; ++k) {
        ASSERT_NEAR(p[k][0] - 100, p[0][0], 2e-5); // floats at 100 m are 8e-6 apart
        ASSERT_NEAR(p[k][1], p[0][1], 1e-6);
    }
    assert_true(p[3][0] == x[0] + 100 && p[3][1] == x[1]);
    jnDestroySprings(stay);
    jnDestroySprings(told);
    jnDestroySprings(found);
    jnDestroySprings(reset);
}

// A character whose only motion is its root's: with inertia 0 nothing is felt, with 1 all of it.
static void InertiaScalesWhatIsFeltOfTheRoot(void** state)
{
    (void)state;
    static const float scales[][2] = {{0, 0}, {1, 1}, {0.5f, 1}, {1, 0}};
    double offset[4] = {0};
    for (int k = 0; k < 4; ++k) {
        jnSprings* springs = Make(2, 200, 4, jn_curveCubic, jn_timingCausal);
        jnSprings_SetInertia(springs, scales[k][0], scales[k][1]);
        for (int n = 0; n < 90; ++n) {
            double t = n / 60.0, turn = k == 3 ? 2.0 * t * t : 0, walk = k == 3 ? 0 : 1.5 * t * t;
            jnTransform root = {{(float)walk, 0.5f, 0}, {0, (float)sin(turn / 2), 0, (float)cos(turn / 2)}};
            float x[6], out[6], velocities[6];
            for (int v = 0; v < 2; ++v) {
                double arm = 0.3 + 0.2 * v; // along the root's x axis
                x[3 * v] = (float)(walk + arm * cos(turn));
                x[3 * v + 1] = 1;
                x[3 * v + 2] = (float)(-arm * sin(turn));
            }
            jnSprings_Step(springs, &(jnSpringsInput){.h = 1 / 60.0f, .targets = x, .root = &root},
                &(jnSpringsOutput){.positions = out, .velocities = velocities});
            offset[k] = hypot((double)out[0] - (double)x[0], (double)out[2] - (double)x[2]);
            if (k == 0 && n > 5) {
                ASSERT_NEAR(velocities[0], 3.0 * (t - 1 / 120.0), 2e-4); // carried along: the velocity of its space
            }
        }
        jnDestroySprings(springs);
    }
    ASSERT_AT_MOST(offset[0], 2e-6);
    assert_true(offset[1] > 0.01); // a/k_s = 3/200
    ASSERT_NEAR(offset[2], 0.5 * offset[1], 1e-4);
    ASSERT_AT_MOST(offset[3], 2e-6);
}

static void InertiaOfExactTimingLagsWithItsOutput(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 200, 4, jn_curveCubic, jn_timingExact);
    jnSprings_SetInertia(springs, 0, 0);
    float out[3], last[3] = {0};
    for (int n = 0; n < 60; ++n) {
        double turn = 0.001 * n * n;
        jnTransform root = {{(float)(0.01 * n * n), 0, 0}, {0, (float)sin(turn / 2), 0, (float)cos(turn / 2)}};
        float x[3] = {(float)(0.01 * n * n + 0.4 * cos(turn)), 1, (float)(-0.4 * sin(turn))};
        jnSprings_Step(springs, &(jnSpringsInput){.h = 1 / 60.0f, .targets = x, .root = &root},
            &(jnSpringsOutput){.positions = out});
        for (int i = 0; n > 2 && i < 3; ++i) {
            ASSERT_NEAR(out[i], last[i], 1e-5); // the target of the sample before
        }
        memcpy(last, x, sizeof(last));
    }
    jnDestroySprings(springs);
}

static void AConstantForceMovesTheEquilibrium(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 250, 12, jn_curveCubic, jn_timingCausal);
    static const float gravity[3] = {0, -9.81f, 1};
    jnSprings_SetForce(springs, gravity);
    float x[3] = {1, 2, 3}, out[3];
    double t = 0;
    for (int n = 0; n < 400; ++n) {
        double h = n == 0 ? 0 : (double)(float)(0.01 + 0.001 * (n % 5));
        t += h;
        Step(springs, h, x, out);
        double g1 = jnEvaluateSpring(250, 12, t).step;
        ASSERT_NEAR(out[1], 2 - 9.81 * g1, 1e-6);
        ASSERT_NEAR(out[2], 3 + g1, 1e-6);
    }
    ASSERT_NEAR(out[1], 2 - 9.81 / 250, 1e-6);
    jnDestroySprings(springs);
}

static void ImpulsesAreVelocities(void** state)
{
    (void)state;
    jnSprings* springs = Make(20, 250, 12, jn_curveCubic, jn_timingCausal);
    float x[60], out[60];
    for (int i = 0; i < 20; ++i) {
        x[3 * i] = (float)(0.1 * i);
        x[3 * i + 1] = x[3 * i + 2] = 0;
    }
    Step(springs, 0.01, x, out);
    static const float hit[3] = {0, 2, 0}, center[3] = {0, 0, 0};
    jnSprings_AddImpulse(springs, 19, hit);
    jnSprings_AddImpulseSphere(springs, center, 0.5f, hit);
    Step(springs, 0.01, x, out);
    double w = jnEvaluateSpring(250, 12, (double)0.01f).impulse;
    ASSERT_NEAR(out[3 * 19 + 1], 2 * w, 1e-7);
    ASSERT_NEAR(out[1], 2 * w, 1e-7);
    ASSERT_NEAR(out[3 * 2 + 1], 2 * w * pow(1 - 0.04 / 0.25, 2), 1e-7);
    ASSERT_NEAR(out[3 * 6 + 1], 0, 0);
    jnDestroySprings(springs);
}

static void TuningIsInHertzAndDampingRatio(void** state)
{
    (void)state;
    ASSERT_NEAR(jnHertzFromStiffness(jnStiffnessFromHertz(3.5f)), 3.5, 1e-6);
    ASSERT_NEAR(jnRatioFromDamping(jnStiffnessFromHertz(3.5f), jnDampingFromRatio(3.5f, 0.3f)), 0.3, 1e-6);
    assert_true(jnRatioFromDamping(0, 0) == 0);
    // A set tuned to 2 Hz and ratio 0.4 moves like one made that way; the state is not touched by tuning.
    jnSprings* made = Make(1, jnStiffnessFromHertz(2), jnDampingFromRatio(2, 0.4f), jn_curveCubic, jn_timingCausal);
    jnSprings* tuned = Make(1, jnStiffnessFromHertz(4), jnDampingFromRatio(4, 0.2f), jn_curveCubic, jn_timingCausal);
    static const float scale[1] = {0.5f};
    assert_int_equal(jnSprings_SetTuning(tuned, 1, 2, scale, NULL, NULL), jn_ok);
    float x[3], a[3], b[3];
    for (int n = 0; n < 100; ++n) {
        Target(n / 60.0, x);
        Step(made, 1 / 60.0, x, a);
        Step(tuned, 1 / 60.0, x, b);
        ASSERT_NEAR(a[0], b[0], 1e-6);
    }
    jnError error;
    assert_int_equal(jnSprings_SetTuning(tuned, -1, 1, NULL, NULL, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "frequency scale"));
    float before[3], after[3];
    jnSprings_GetState(tuned, before, NULL);
    assert_int_equal(jnSprings_SetTuning(tuned, 3, 0, NULL, NULL, NULL), jn_ok);
    jnSprings_GetState(tuned, after, NULL);
    assert_memory_equal(before, after, sizeof(before));
    jnDestroySprings(made);
    jnDestroySprings(tuned);
}

static void StrengthFadesTheShownOffsetOnly(void** state)
{
    (void)state;
    jnSprings* springs = Make(2, 200, 2, jn_curveCubic, jn_timingCausal);
    float x[6], full[6], half[6], none[6], velocity[6], bare[6];
    for (int n = 0; n < 20; ++n) {
        Target(n / 60.0, x);
        Target(n / 60.0 + 1, x + 3);
        Step(springs, 1 / 60.0, x, full);
    }
    static const float weights[2] = {1, 0};
    assert_int_equal(jnSprings_SetStrength(springs, 0.5f, weights, NULL), jn_ok);
    Step(springs, 0, x, half);
    assert_int_equal(jnSprings_SetStrength(springs, 0, NULL, NULL), jn_ok);
    jnSprings_Step(springs, &(jnSpringsInput){.targets = x}, &(jnSpringsOutput){.positions = none, .velocities = bare});
    assert_int_equal(jnSprings_SetStrength(springs, 1, NULL, NULL), jn_ok);
    jnSprings_Step(springs, &(jnSpringsInput){.targets = x}, &(jnSpringsOutput){.velocities = velocity});
    for (int i = 0; i < 3; ++i) {
        ASSERT_NEAR(half[i], 0.5 * ((double)full[i] + (double)x[i]), 1e-6);
        assert_true(half[3 + i] == x[3 + i]);
        assert_true(none[i] == x[i]);
    }
    assert_true(fabsf(velocity[0] - bare[0]) > 1e-3f);
    jnDestroySprings(springs);
}

static void CapBendsSmoothlyAndIsNeverReached(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 100, 0, jn_curveCubic, jn_timingCausal);
    jnSprings_SetCap(springs, 0.1f);
    float x[3] = {0, 0, 0}, out[3], velocity[3], offset[3], speed[3] = {0.6f, 0.2f, 0};
    Step(springs, 0.01, x, out);
    double shown = 0, slope = 0;
    for (int i = 0; i <= 4000; ++i) {
        double r = i * 1e-3 * 0.1; // up to 4 m
        offset[0] = (float)(0.6 * r);
        offset[1] = 0;
        offset[2] = (float)(0.8 * r);
        jnSprings_SetState(springs, offset, speed);
        jnSprings_Step(
            springs, &(jnSpringsInput){.targets = x}, &(jnSpringsOutput){.positions = out, .velocities = velocity});
        double now = sqrt((double)out[0] * (double)out[0] + (double)out[2] * (double)out[2]);
        assert_true(now < 0.1);
        if (r <= 0.05) {
            ASSERT_NEAR(now, r, 1e-8);
        } else {
            ASSERT_NEAR(now, 0.1 - 0.0025 / r, 1e-7);
            double gradient = (now - shown) / 1e-4;
            assert_true(fabs(gradient - slope) < 0.006); // C1: no kink between neighbours
        }
        slope = (now - shown) / 1e-4;
        shown = now;
    }
    // The shown velocity is the derivative of the shown position.
    float ahead[3], a[3], b[3];
    offset[0] = 0.09f, offset[1] = 0.02f, offset[2] = 0.05f;
    jnSprings_SetState(springs, offset, speed);
    jnSprings_Step(
        springs, &(jnSpringsInput){.targets = x}, &(jnSpringsOutput){.positions = a, .velocities = velocity});
    for (int i = 0; i < 3; ++i) {
        ahead[i] = offset[i] + 1e-3f * speed[i];
    }
    jnSprings_SetState(springs, ahead, speed);
    Step(springs, 0, x, b);
    for (int i = 0; i < 3; ++i) {
        ASSERT_NEAR(velocity[i], ((double)b[i] - (double)a[i]) / 1e-3, 3e-3);
    }
    jnDestroySprings(springs);
}

static void RestoredSnapshotsReplayTheSameBytes(void** state)
{
    (void)state;
    for (int timing = 0; timing < 2; ++timing) {
        jnSprings* springs = Make(33, 200, 2, jn_curveCubic, (jnTiming)timing);
        size_t size = jnSprings_SnapshotSize(springs);
        void* snapshot = malloc(size);
        float x[99], first[20][99], again[99], blur[2][99];
        for (int n = 0; n < 40; ++n) {
            for (int v = 0; v < 33; ++v) {
                Target(n / 60.0 + v, x + 3 * v);
            }
            if (n == 20) {
                jnSprings_Save(springs, snapshot);
                jnSprings_Evaluate(springs, 0.3f, &(jnSpringsOutput){.positions = blur[0]});
            }
            Step(springs, 1.0 / (30 + n), x, n < 20 ? again : first[n - 20]);
        }
        assert_int_equal(jnSprings_Restore(springs, snapshot, size, NULL), jn_ok);
        jnSprings_Evaluate(springs, 0.3f, &(jnSpringsOutput){.positions = blur[1]});
        assert_memory_equal(blur[0], blur[1], sizeof(blur[0]));
        for (int n = 20; n < 40; ++n) {
            for (int v = 0; v < 33; ++v) {
                Target(n / 60.0 + v, x + 3 * v);
            }
            Step(springs, 1.0 / (30 + n), x, again);
            assert_memory_equal(again, first[n - 20], sizeof(again));
        }
        jnError error;
        assert_int_equal(jnSprings_Restore(springs, snapshot, size - 1, &error), jn_badData);
        ((char*)snapshot)[4]++; // another count
        assert_int_equal(jnSprings_Restore(springs, snapshot, size, &error), jn_badData);
        free(snapshot);
        jnDestroySprings(springs);
    }
}

static void SettleIsManyStepsInOne(void** state)
{
    (void)state;
    for (int k = 0; k < PAIRS; ++k) {
        for (int timing = 0; timing < 2; ++timing) {
            jnSprings* springs = Make(1, pairs[k][0], pairs[k][1], jn_curveCubic, (jnTiming)timing);
            float x[3], out[3], y0[3], v0[3], y[3], v[3], slope[3], velocity[3];
            for (int n = 0; n < 50; ++n) {
                Target(n / 60.0, x);
                Step(springs, 1 / 60.0, x, out);
            }
            jnSprings_Finish(springs, &(jnSpringsOutput){.velocities = velocity});
            jnSprings_GetState(springs, y0, v0);
            for (int i = 0; i < 3; ++i) {
                slope[i] = velocity[i] - v0[i]; // of the target, which then stops
            }
            static const double seconds[] = {0.37, 1e4};
            for (int s = 0; s < 2; ++s) {
                jnSprings_SetState(springs, y0, v0);
                size_t size = jnSprings_SnapshotSize(springs);
                void* snapshot = malloc(size);
                jnSprings_Save(springs, snapshot);
                jnSprings_Settle(springs, seconds[s], &(jnSpringsOutput){.positions = out});
                jnSprings_GetState(springs, y, v);
                jnSpringResponse r = jnEvaluateSpring((double)pairs[k][0], (double)pairs[k][1], seconds[s]);
                for (int i = 0; i < 3; ++i) {
                    double expected = r.position * (double)y0[i] + r.impulse * ((double)v0[i] + (double)slope[i]);
                    ASSERT_NEAR(y[i], expected, 1e-7);
                    ASSERT_NEAR(out[i], (double)x[i] + expected, 1e-6);
                }
                assert_int_equal(jnSprings_Restore(springs, snapshot, size, NULL), jn_ok);
                free(snapshot);
            }
            jnDestroySprings(springs);
        }
    }
}

static void ANonFiniteNumberResetsItsVertexOnly(void** state)
{
    (void)state;
    enum { COUNT = 20 };
    static const float poison[] = {NAN, INFINITY, -INFINITY};
    jnSprings* healthy = Make(COUNT, 200, 2, jn_curveCubic, jn_timingCausal);
    jnSprings* springs = Make(COUNT, 200, 2, jn_curveCubic, jn_timingCausal);
    float x[3 * COUNT], a[3 * COUNT], b[3 * COUNT];
    for (int n = 0; n < 60; ++n) {
        for (int v = 0; v < COUNT; ++v) {
            Target(n / 60.0 + v, x + 3 * v);
        }
        Step(healthy, 1 / 60.0, x, a);
        if (n >= 20 && n < 23) {
            x[3 * 17 + n % 3] = poison[n - 20];
        }
        Step(springs, 1 / 60.0, x, b);
        for (int i = 0; i < 3 * COUNT; ++i) {
            assert_true(isfinite(b[i]));
            assert_true(i / 3 == 17 || a[i] == b[i]);
        }
    }
    assert_int_equal(jnSprings_ResetCount(springs), 3);
    assert_int_equal(jnSprings_ResetCount(healthy), 0);
    // A state driven beyond floats comes back too.
    float offsets[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; ++i) {
        offsets[i] = i == 4 ? FLT_MAX : 0;
    }
    jnSprings_SetState(springs, offsets, offsets);
    jnSprings_SetTuning(springs, 100, 0, NULL, NULL, NULL);
    for (int n = 0; n < 5; ++n) {
        Step(springs, 0.1, x, b);
    }
    for (int i = 0; i < 3 * COUNT; ++i) {
        assert_true(isfinite(b[i]));
    }
    jnDestroySprings(healthy);
    jnDestroySprings(springs);
}

// After a rest the springs know that their target stood still: a start is felt, however the rest was spent.
static void ASettledSpringFeelsTheNextStart(void** state)
{
    (void)state;
    for (int curve = jn_curveLinear; curve <= jn_curveCubic; ++curve) {
        double largest[2] = {0, 0};
        for (int settled = 0; settled < 2; ++settled) {
            jnSprings* springs = Make(1, 400, 4, (jnCurve)curve, jn_timingCausal);
            float x[3] = {0, 0, 0}, out[3];
            Step(springs, 1 / 60.0, x, out);
            if (settled) {
                jnSprings_Settle(springs, 1, NULL);
            }
            for (int n = 0; n < 60 && !settled; ++n) {
                Step(springs, 1 / 60.0, x, out);
            }
            for (int n = 1; n < 30; ++n) { // off at 1 m/s
                x[0] = (float)(n / 60.0);
                Step(springs, 1 / 60.0, x, out);
                largest[settled] = fmax(largest[settled], fabs((double)out[0] - (double)x[0]));
            }
            jnDestroySprings(springs);
        }
        assert_true(largest[0] > 0.02);
        ASSERT_NEAR(largest[1], largest[0], 0.15 * largest[0]); // the cubic rounds the corner differently
    }
}

static void SettlingBeforeTheFirstSampleIsNothing(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 400, 4, jn_curveCubic, jn_timingCausal);
    jnSprings_Settle(springs, 1, NULL);
    float x[3] = {100, 0, 0}, out[3];
    for (int n = 0; n < 5; ++n) {
        Step(springs, 1 / 60.0, x, out);
        assert_true(out[0] == 100);
    }
    jnDestroySprings(springs);
}

// A teleport with a root is nobody's velocity, and motion blur does not cross the world.
static void ATeleportWithARootHasNoVelocity(void** state)
{
    (void)state;
    for (int pause = 0; pause < 2; ++pause) {
        jnSprings* springs = Make(1, 400, 4, jn_curveCubic, jn_timingCausal);
        jnTransform root = {{0, 0, 0}, {0, 0, 0, 1}};
        float x[3] = {0.3f, 1, 0}, out[3], velocity[3];
        for (int n = 0; n < 10; ++n) {
            jnSprings_Step(springs, &(jnSpringsInput){.h = 1 / 60.0f, .targets = x, .root = &root}, NULL);
        }
        x[0] += 100;
        root.position[0] += 100;
        jnSprings_Step(springs,
            &(jnSpringsInput){.h = pause ? 0 : 1 / 60.0f, .targets = x, .root = &root, .teleport = jn_teleportKeep},
            &(jnSpringsOutput){.positions = out, .velocities = velocity});
        ASSERT_NEAR(out[0], 100.3, 1e-4);
        ASSERT_NEAR(velocity[0], 0, 1e-2);
        jnSprings_Evaluate(springs, 0.5f, &(jnSpringsOutput){.positions = out});
        ASSERT_NEAR(out[0], 100.3, 1e-4);
        jnDestroySprings(springs);
    }
}

// A pause in exact timing changes nothing of the picture, with a space that follows the root too.
static void APauseInExactTimingWithARootIsTheIdentity(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 400, 4, jn_curveCubic, jn_timingExact);
    jnSprings_SetInertia(springs, 0.2f, 0.7f);
    jnTransform root = {{0, 0, 0}, {0, 0, 0, 1}};
    float x[3], out[3], paused[3], blur[3], again[3];
    for (int n = 0; n < 10; ++n) {
        root.position[0] = (float)n;
        x[0] = (float)n + 0.3f;
        x[1] = x[2] = 1;
        jnSprings_Step(springs, &(jnSpringsInput){.h = 1 / 60.0f, .targets = x, .root = &root},
            &(jnSpringsOutput){.positions = out});
    }
    jnSprings_Evaluate(springs, 0.4f, &(jnSpringsOutput){.positions = blur});
    jnSprings_Step(springs, &(jnSpringsInput){.targets = x, .root = &root}, &(jnSpringsOutput){.positions = paused});
    jnSprings_Evaluate(springs, 0.4f, &(jnSpringsOutput){.positions = again});
    for (int i = 0; i < 3; ++i) {
        ASSERT_NEAR(paused[i], out[i], 2e-6);
        ASSERT_NEAR(again[i], blur[i], 2e-6);
    }
    jnDestroySprings(springs);
}

// Forces and impulses are the world's, also where the springs' space has turned and the output lags behind it.
static void ForcesAndImpulsesAreTheWorlds(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 100, 2, jn_curveCubic, jn_timingExact);
    jnSprings_SetInertia(springs, 0, 0);
    static const float wind[3] = {20, 0, 0};
    jnSprings_SetForce(springs, wind);
    float out[3], end[3], before[3], after[3];
    for (int n = 0; n < 40; ++n) {
        double turn = 0.1 * n;
        jnTransform root = {{0, 0, 0}, {0, (float)sin(turn / 2), 0, (float)cos(turn / 2)}};
        float x[3] = {(float)cos(turn), 0, (float)-sin(turn)};
        jnSprings_Step(springs, &(jnSpringsInput){.h = 1 / 60.0f, .targets = x, .root = &root},
            &(jnSpringsOutput){.positions = out});
        jnSprings_Evaluate(springs, 1, &(jnSpringsOutput){.positions = end});
        for (int i = 0; n > 3 && i < 3; ++i) {
            ASSERT_NEAR(end[i], out[i], 2e-6);
        }
    }
    jnSprings_GetState(springs, NULL, before);
    static const float hit[3] = {1, 0, 0};
    jnSprings_AddImpulseSphere(springs, out, 0.05f, hit); // where it is shown
    jnSprings_GetState(springs, NULL, after);
    double square = 0;
    for (int i = 0; i < 3; ++i) {
        square += pow((double)after[i] - (double)before[i], 2);
    }
    ASSERT_NEAR(sqrt(square), 1, 1e-4);
    jnDestroySprings(springs);
}

static void StrengthCountsBeforeTheCap(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 100, 0, jn_curveCubic, jn_timingCausal);
    float x[3] = {0, 0, 0}, out[3], offset[3] = {5, 0, 0}, still[3] = {0, 0, 0};
    Step(springs, 0.01, x, out);
    jnSprings_SetCap(springs, 0.1f);
    assert_int_equal(jnSprings_SetStrength(springs, 2, NULL, NULL), jn_ok);
    jnSprings_SetState(springs, offset, still);
    Step(springs, 0, x, out);
    ASSERT_NEAR(out[0], 0.1 - 0.0025 / 10, 1e-6);
    jnDestroySprings(springs);
}

static void AKeptTeleportOfAHermiteCurveGivesNoKick(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 400, 4, jn_curveHermite, jn_timingCausal);
    float x[3] = {0, 0, 0}, v[3] = {6, 0, 0}, offsets[3], velocities[3], first[3];
    jnSpringsInput input = {.h = 1 / 60.0f, .targets = x, .targetVelocities = v};
    jnSprings_Step(springs, &input, &(jnSpringsOutput){.velocities = first});
    ASSERT_NEAR(first[0], 6, 1e-6); // it starts with its target
    x[0] = 50;
    input.teleport = jn_teleportKeep;
    jnSprings_Step(springs, &input, NULL);
    jnSprings_GetState(springs, offsets, velocities);
    ASSERT_NEAR(offsets[0], 0, 1e-5);
    ASSERT_NEAR(velocities[0], 0, 1e-3);
    jnDestroySprings(springs);
}

static void OnlyRealSpringsAreCountedAsReset(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 400, 4, jn_curveCubic, jn_timingExact);
    float x[3] = {0, 0, 0}, bad[3] = {NAN, 0, 0}, out[3], offset[3] = {1, 0, 0}, now[3];
    for (int n = 0; n < 5; ++n) {
        Step(springs, 1 / 60.0, x, out);
    }
    Step(springs, 1 / 60.0, bad, out);
    assert_int_equal(jnSprings_ResetCount(springs), 1);
    // A sample that does not advance resets as well, for good.
    jnSprings_Finish(springs, NULL);
    jnSprings_SetState(springs, offset, NULL);
    Step(springs, 1 / 60.0, bad, out);
    assert_int_equal(jnSprings_ResetCount(springs), 2);
    jnSprings_GetState(springs, now, NULL);
    assert_true(now[0] == 0 && out[0] == 0);
    jnDestroySprings(springs);
}

static void AlmostNoTimeIsNoTime(void** state)
{
    (void)state;
    jnSprings* springs = Make(20, 400, 4, jn_curveCubic, jn_timingCausal);
    float x[60], out[60];
    static const double tiny[] = {1e-9, 1e-10, 1e-13, 1e-38, 1e-45};
    for (int n = 0; n < 25; ++n) {
        for (int v = 0; v < 20; ++v) {
            Target(n / 60.0 + v, x + 3 * v);
        }
        Step(springs, tiny[n % 5], x, out);
    }
    assert_int_equal(jnSprings_ResetCount(springs), 0);
    assert_int_equal(jnSprings_SetTuning(springs, 1e30f, 1e30f, NULL, NULL, NULL), jn_ok);
    for (int n = 0; n < 5; ++n) {
        x[0] += 0.1f;
        Step(springs, 1 / 60.0, x, out);
        assert_true(isfinite(out[0]));
    }
    assert_int_equal(jnSprings_ResetCount(springs), 0);
    jnDestroySprings(springs);
}

// Every byte of a snapshot's head changed: refused, or harmless.
static void DamagedSnapshotsAreRefusedOrHarmless(void** state)
{
    (void)state;
    jnSprings* springs = Make(1, 400, 4, jn_curveCubic, jn_timingCausal);
    float x[3] = {1, 2, 3}, out[3];
    for (int n = 0; n < 6; ++n) {
        Step(springs, 1 / 60.0, x, out);
    }
    size_t size = jnSprings_SnapshotSize(springs);
    unsigned char *good = malloc(size), *bad = malloc(size);
    jnSprings_Save(springs, good);
    size_t head = size < 900 ? size : 900;
    for (size_t at = 0; at < head; ++at) {
        for (int bit = 0; bit < 8; bit += 7) {
            memcpy(bad, good, size);
            bad[at] ^= (unsigned char)(1 << bit);
            jnError error;
            if (jnSprings_Restore(springs, bad, size, &error) == jn_ok) {
                Step(springs, 1 / 60.0, x, out);
                jnSprings_Evaluate(springs, 0.5f, &(jnSpringsOutput){.positions = out});
            }
            assert_int_equal(jnSprings_Restore(springs, good, size, NULL), jn_ok);
        }
    }
    free(good);
    free(bad);
    jnDestroySprings(springs);
}

static void ABadVertexDoesNotHideATeleport(void** state)
{
    (void)state;
    jnSprings* springs = Make(2, 400, 4, jn_curveCubic, jn_timingCausal);
    jnSprings_SetTeleportThreshold(springs, 5, jn_teleportKeep);
    float x[6] = {0, 0, 0, 1, 0, 0}, out[6];
    for (int n = 0; n < 5; ++n) {
        Step(springs, 1 / 60.0, x, out);
    }
    x[0] = NAN;
    x[3] = 101;
    Step(springs, 1 / 60.0, x, out);
    ASSERT_NEAR(out[3], 101, 1e-4);
    jnDestroySprings(springs);
}

// A vertex that was lost and comes back starts anew on its target: from nowhere, out of the middle of a run, or after a
// while.
static void ALostVertexComesBackQuietly(void** state)
{
    (void)state;
    static const int firsts[] = {0, 20, 20}, lasts[] = {0, 20, 29};
    for (int timing = 0; timing < 2; ++timing) {
        for (int k = 0; k < 3; ++k) {
            jnSprings* springs = Make(2, 300, 5, jn_curveCubic, (jnTiming)timing);
            float x[6], out[6], last[6];
            for (int n = 0; n < 60; ++n) {
                for (int v = 0; v < 2; ++v) {
                    x[3 * v] = 2 + (k == 0 ? 0 : 5) * (float)n / 60;
                    x[3 * v + 1] = x[3 * v + 2] = 1;
                }
                bool lost = n >= firsts[k] && n <= lasts[k];
                float good[6];
                memcpy(good, x, sizeof(good));
                x[3] = lost ? NAN : x[3];
                Step(springs, 1 / 60.0, x, out);
                const float* expected = timing == 0 ? last : good; // exact timing shows the sample before
                if (n > 0 && !lost && !(timing == 0 && n == lasts[k] + 1)) {
                    ASSERT_NEAR(out[3], expected[3], 2e-5); // uniform motion: always on its target
                    ASSERT_NEAR(out[0], expected[0], 2e-5);
                }
                memcpy(last, good, sizeof(last));
            }
            assert_int_equal(jnSprings_ResetCount(springs), lasts[k] - firsts[k] + 1);
            jnDestroySprings(springs);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PauseIsTheIdentity),
        cmocka_unit_test(TargetsMovedDuringAPauseCarryTheirSprings),
        cmocka_unit_test(TeleportKeepsOffsetsOrResetsThem),
        cmocka_unit_test(InertiaScalesWhatIsFeltOfTheRoot),
        cmocka_unit_test(InertiaOfExactTimingLagsWithItsOutput),
        cmocka_unit_test(AConstantForceMovesTheEquilibrium),
        cmocka_unit_test(ImpulsesAreVelocities),
        cmocka_unit_test(TuningIsInHertzAndDampingRatio),
        cmocka_unit_test(StrengthFadesTheShownOffsetOnly),
        cmocka_unit_test(CapBendsSmoothlyAndIsNeverReached),
        cmocka_unit_test(RestoredSnapshotsReplayTheSameBytes),
        cmocka_unit_test(SettleIsManyStepsInOne),
        cmocka_unit_test(ANonFiniteNumberResetsItsVertexOnly),
        cmocka_unit_test(ASettledSpringFeelsTheNextStart),
        cmocka_unit_test(SettlingBeforeTheFirstSampleIsNothing),
        cmocka_unit_test(ATeleportWithARootHasNoVelocity),
        cmocka_unit_test(APauseInExactTimingWithARootIsTheIdentity),
        cmocka_unit_test(ForcesAndImpulsesAreTheWorlds),
        cmocka_unit_test(StrengthCountsBeforeTheCap),
        cmocka_unit_test(AKeptTeleportOfAHermiteCurveGivesNoKick),
        cmocka_unit_test(OnlyRealSpringsAreCountedAsReset),
        cmocka_unit_test(AlmostNoTimeIsNoTime),
        cmocka_unit_test(DamagedSnapshotsAreRefusedOrHarmless),
        cmocka_unit_test(ABadVertexDoesNotHideATeleport),
        cmocka_unit_test(ALostVertexComesBackQuietly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
