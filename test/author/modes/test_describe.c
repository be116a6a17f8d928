// What a character says of itself: the modes' energy, limits that are hit, resets and time.
#include "helpers/failing_memory.h"
#include "helpers/modal_scene.h"

enum { MODES = 14 };

static jnCharacterReport Describe(const jnCharacter* c, jnModeReport* modes)
{
    jnCharacterReport report;
    countdown = 0; // the next allocation would fail, and say so here
    jnCharacter_Describe(c, &report, modes);
    assert_int_equal(countdown, 0);
    countdown = -1;
    return report;
}

static void Step(jnCharacter* c, float h)
{
    jnCharacter_Step(c, &(jnCharacterInput){.h = h}, NULL);
}

// After an impulse there is energy, that of the modes together; it goes back and forth and away.
static void TheEnergyOfAnImpulseIsDamped(void** state)
{
    (void)state;
    Scene s = MakeScene(5, MODES);
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    jnModeReport modes[MODES];
    Step(c, FRAME);
    jnCharacterReport report = Describe(c, modes);
    assert_true(report.kinetic == 0 && report.elastic == 0);
    assert_int_equal(report.joint, -1);
    assert_int_equal(report.modes, MODES);
    jnCharacter_AddImpulseSphere(c, (float[3]){0.3f, 0, 0}, 0.2f, (float[3]){0, 2, 0});
    double before = 0, seconds = report.seconds;
    for (int n = 0; n < 20; ++n) {
        Step(c, 0.002f);
        report = Describe(c, modes);
        seconds += (double)0.002f;
        double sum = 0, all = report.kinetic + report.elastic;
        for (int k = 0; k < MODES; ++k) {
            const jnAssetMode* mode = &s.asset->modes->modes[k];
            double z = (double)modes[k].weight * (double)mode->unit;
            ASSERT_NEAR((double)modes[k].elastic, 0.5 * (double)mode->stiffness * z * z, 1e-5 * all);
            sum += (double)modes[k].kinetic + (double)modes[k].elastic;
            assert_true(modes[k].shown == modes[k].weight);
        }
        ASSERT_NEAR(sum, all, 1e-5 * all);
        assert_true(all > 0 && (n == 0 || all < before));
        // damped by 2 c T in a second, where c is the rate of a mode and T its kinetic energy
        assert_true(n == 0 || all > before * exp(-2 * DAMPING * 0.002));
        before = all;
        ASSERT_NEAR(report.seconds, seconds, 1e-9);
        assert_int_equal(report.joint, s.asset->modes->modes[0].joint);
        assert_int_equal(report.limited, 0);
    }
    assert_int_equal(report.steps, 20); // the first pose begins the motion
    jnCharacter_Reset(c, &(jnCharacterInput){.h = FRAME}, NULL);
    report = Describe(c, NULL);
    assert_int_equal(report.steps, 0);
    assert_true(report.kinetic == 0 && report.seconds > seconds);
    jnDestroyCharacter(c);
    DestroyScene(&s);
}

static void LimitsThatAreHitAreCounted(void** state)
{
    (void)state;
    forceSpeed = 0.02;
    amplitudeCap = 0.002;
    Scene s = MakeScene(5, MODES);
    forceSpeed = amplitudeCap = 0;
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    jnModeReport modes[MODES];
    int limited = 0, held = 0;
    for (int n = 0; n < 30; ++n) {
        StepTo(c, CORE_SHIFTING, n * CORE_DT, (float)CORE_DT, NULL, NULL);
        jnCharacterReport report = Describe(c, modes);
        int smaller = 0, beyond = 0;
        for (int k = 0; k < MODES; ++k) {
            assert_true(fabsf(modes[k].shown) <= fabsf(modes[k].weight) * 1.0001f);
            smaller += fabsf(modes[k].shown) < 0.999f * fabsf(modes[k].weight);
            beyond += modes[k].force > 1;
        }
        assert_int_equal(report.limited, smaller);
        assert_int_equal(report.held, beyond);
        limited += smaller;
        held += beyond;
    }
    print_message("%d times limited, %d times held back\n", limited, held);
    assert_true(limited > 0 && held > 0);
    jnCharacter_SetLevel(c, 0, 4, 0);
    StepTo(c, CORE_SHIFTING, 30 * CORE_DT, (float)CORE_DT, NULL, NULL);
    assert_int_equal(Describe(c, modes).modes, 4);
    assert_true(modes[4].kinetic == 0 && modes[4].shown == 0);
    jnDestroyCharacter(c);
    DestroyScene(&s);
}

static void BadPosesAreInTheReport(void** state)
{
    (void)state;
    Scene s = MakeScene(4, 4);
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    jnTransform root = {.position = {(float)NAN, 0, 0}, .rotation = {0, 0, 0, 1}};
    Step(c, FRAME);
    jnCharacter_Step(c, &(jnCharacterInput){.h = FRAME, .pose = {.root = &root}}, NULL);
    jnCharacterReport report = Describe(c, NULL);
    assert_int_equal(report.badPoses, 1);
    assert_int_equal(report.badPoses, jnCharacter_BadPoseCount(c));
    assert_int_equal(report.resets, jnCharacter_ResetCount(c));
    jnDestroyCharacter(c);
    DestroyScene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheEnergyOfAnImpulseIsDamped),
        cmocka_unit_test(LimitsThatAreHitAreCounted),
        cmocka_unit_test(BadPosesAreInTheReport),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
