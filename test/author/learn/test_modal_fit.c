// The fit of modes: what made a motion is found again, and what a motion does not show stays as it was.
#include "helpers/core.h"
#include "learn/modal_fit.h"

#define DAMPING 6.0

static double CapturedBy(const jnaModes* modes, const jnaModalSequence* s)
{
    size_t numbers = (size_t)s->frameCount * (size_t)modes->modeCount;
    double *starts = malloc(3 * numbers * sizeof(double)), *rates = starts + numbers, *z = rates + numbers;
    assert_int_equal(jnaModes_Force(modes, s, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(modes, s, &(jnaModalDrive){starts, rates, NULL}, z, NULL, NULL), jn_ok);
    double captured = jnaModes_Captured(modes, s, z, 0, s->frameCount, NULL);
    free(starts);
    return captured;
}

static void Adopt(jnaModes* modes, const jnaModalFit* fit)
{
    memcpy(modes->stiffness, fit->stiffness, (size_t)fit->modeCount * sizeof(double));
    memcpy(modes->damping, fit->damping, (size_t)fit->modeCount * sizeof(double));
    memcpy(modes->gain, fit->gain, (size_t)fit->modeCount * sizeof(double));
}

static jnaModalFitDef FitDef(const jnaModes* modes, const jnaCharacter* character, const jnaModalSequence* sequence)
{
    jnaModalFitDef def = jnaDefaultModalFitDef();
    def.modes = modes;
    def.character = character;
    def.sequences = sequence;
    def.sequenceCount = 1;
    return def;
}

// Motion made by modes of other numbers; a tenth of its frames is thrown off.
static void NumbersAreFoundAgain(void** state)
{
    (void)state;
    enum { COUNT = 8 };
    Core core = MakeCore(6);
    jnaModes truth = FindCoreModes(&core, COUNT, jna_projectVolume),
             start = FindCoreModes(&core, COUNT, jna_projectVolume);
    for (int k = 0; k < COUNT; ++k) {
        truth.stiffness[k] *= 1 + 0.3 * sin(k + 1.0);
        truth.damping[k] *= 1.3;
        truth.gain[k] = 1 + 0.2 * cos(k + 0.0);
    }
    jnaModalSequence s = RunCore(&core, CORE_BOXING, DAMPING, 1);
    size_t width = 3 * (size_t)s.vertexCount, numbers = CORE_FRAMES * COUNT;
    double *starts = malloc(3 * numbers * sizeof(double)), *rates = starts + numbers, *z = rates + numbers;
    assert_int_equal(jnaModes_Force(&truth, &s, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(&truth, &s, &(jnaModalDrive){starts, rates, NULL}, z, NULL, NULL), jn_ok);
    Random random = {9};
    for (int n = 0; n < CORE_FRAMES; ++n) {
        jnaModes_Show(&truth, &s, n, z, core.positions + (size_t)n * width);
        for (size_t i = 0; n % 13 == 5 && i < width; ++i) {
            core.positions[(size_t)n * width + i] += (float)Uniform(&random, -0.05, 0.05);
        }
    }
    jnaModalFitDef def = FitDef(&start, &core.block.character, &s);
    def.prior = 1e-6;
    jnaModalFit fit;
    jnError error = {0};
    if (jnaFitModes(&def, &fit, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    int excited = 0;
    for (int k = 0; k < COUNT; ++k) {
        double square = 0;
        for (int n = 0; n < CORE_FRAMES; ++n) {
            square += z[n * COUNT + k] * z[n * COUNT + k] / CORE_FRAMES;
        }
        print_message("mode %d, %.2g m rms: stiffness %.4f, damping %.4f, gain %.4f of the truth\n", k, sqrt(square),
            fit.stiffness[k] / truth.stiffness[k], fit.damping[k] / truth.damping[k], fit.gain[k] / truth.gain[k]);
        if (square > 1.6e-5) { // 4 mm
            ASSERT_NEAR(fit.stiffness[k] / truth.stiffness[k], 1, 0.02);
            ASSERT_NEAR(fit.damping[k] / truth.damping[k], 1, 0.05);
            ASSERT_NEAR(fit.gain[k] / truth.gain[k], 1, 0.03);
            excited++;
        }
    }
    assert_true(excited >= 3);
    assert_true(fit.captured > fit.startCaptured + 0.05);
    jnaDestroyModalFit(&fit);
    free(starts);
    jnaDestroyModes(&truth);
    jnaDestroyModes(&start);
    DestroyCore(&core);
}

// Fitted on jumping alone, from a wrong damping: unseen boxing gains, and the prior is chosen.
static void WhatIsLearnedCarriesOver(void** state)
{
    (void)state;
    Core core = MakeCore(6);
    jnaModes modes = FindCoreModes(&core, 12, jna_projectVolume);
    jnaModalSequence s = RunCore(&core, CORE_BOXING, DAMPING, 6);
    double before = CapturedBy(&modes, &s);
    s = RunCore(&core, CORE_JUMPING, DAMPING, 6);
    jnaModalFitDef def = FitDef(&modes, &core.block.character, &s);
    jnaModalFit fit;
    jnError error = {0};
    if (jnaFitModes(&def, &fit, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    Adopt(&modes, &fit);
    double seen = CapturedBy(&modes, &s);
    ASSERT_NEAR(seen, fit.captured, 1e-9);
    s = RunCore(&core, CORE_BOXING, DAMPING, 6);
    double after = CapturedBy(&modes, &s);
    print_message("seen %.4f from %.4f, unseen %.4f from %.4f, prior %g, held out %.4f from %.4f\n", seen,
        fit.startCaptured, after, before, fit.prior, fit.heldOutCaptured, fit.heldOutStart);
    assert_true(isfinite(fit.prior) && seen > fit.startCaptured);
    ASSERT_AT_MOST(before, after);
    jnaDestroyModalFit(&fit);
    jnaDestroyModes(&modes);
    DestroyCore(&core);
}

// Flesh that does not move says nothing.
static void UnseenModesStayAsTheyWere(void** state)
{
    (void)state;
    Core core = MakeCore(5);
    jnaModes modes = FindCoreModes(&core, 6, jna_projectVolume);
    jnaModalSequence s = RunCore(&core, CORE_JUMPING, DAMPING, 2);
    memcpy(core.positions, core.targets, 3 * (size_t)s.frameCount * (size_t)s.vertexCount * sizeof(float));
    modes.gain[0] = modes.gain[1] = 0; // two modes that nothing drives, not even by turning
    s.turns = NULL;
    jnaModalFitDef def = FitDef(&modes, &core.block.character, &s);
    def.prior = 1e-2;
    jnaModalFit fit;
    assert_int_equal(jnaFitModes(&def, &fit, NULL), jn_ok);
    // They keep to each other: what is common to all modes is all that they take part in.
    ASSERT_NEAR(fit.stiffness[0] / modes.stiffness[0], fit.stiffness[1] / modes.stiffness[1], 1e-6);
    ASSERT_NEAR(fit.damping[0] / modes.damping[0], fit.damping[1] / modes.damping[1], 1e-6);
    jnaDestroyModalFit(&fit);
    core.positions[7] = (float)NAN;
    jnError error = {0};
    assert_int_equal(jnaFitModes(&def, &fit, &error), jn_badData);
    assert_non_null(strstr(error.message, "vertex 2 of frame 0"));
    s.frameCount = 3;
    assert_int_equal(jnaFitModes(&def, &fit, &error), jn_badArgument);
    jnaDestroyModes(&modes);
    DestroyCore(&core);
}

// No modes, one mode, and numbers that are none.
static void OddFitsEndWell(void** state)
{
    (void)state;
    Core core = MakeCore(4);
    jnaModes modes = FindCoreModes(&core, 1, jna_projectVolume);
    jnaModalSequence s = RunCore(&core, CORE_JUMPING, DAMPING, 2);
    jnaModalFitDef def = FitDef(&modes, &core.block.character, &s);
    jnaModalFit fit;
    jnError error = {0};
    assert_int_equal(modes.modeCount, 1);
    assert_int_equal(jnaFitModes(&def, &fit, &error), jn_ok);
    assert_true(fit.stiffness[0] > 0 && fit.damping[0] >= 0 && fit.captured >= fit.startCaptured - 1e-9);
    jnaDestroyModalFit(&fit);
    modes.modeCount = 0;
    assert_int_equal(jnaFitModes(&def, &fit, &error), jn_ok);
    ASSERT_NEAR(fit.captured, 0, 1e-12);
    jnaDestroyModalFit(&fit);
    modes.modeCount = 1;
    float kept = core.targets[11];
    core.targets[11] = (float)NAN;
    assert_int_equal(jnaFitModes(&def, &fit, &error), jn_badData);
    assert_non_null(strstr(error.message, "vertex 3 of frame 0"));
    core.targets[11] = kept;
    core.turns[5] = (float)NAN;
    assert_int_equal(jnaFitModes(&def, &fit, &error), jn_badData);
    assert_non_null(strstr(error.message, "rotation"));
    assert_null(fit.stiffness);
    jnaDestroyModes(&modes);
    DestroyCore(&core);
}

// A surface of one vertex.
static void OneVertexIsEnough(void** state)
{
    (void)state;
    enum { FRAMES = 40 };
    Core core = MakeCore(4);
    jnaCharacter c = core.block.character;
    float targets[3 * FRAMES] = {0}, motion[3 * FRAMES];
    jnaModes modes;
    assert_int_equal(jnaModes_Allocate(&modes, 1, 1, 2, NULL), jn_ok);
    modes.stiffness[0] = 900;
    modes.damping[0] = 6;
    modes.shapes[1] = modes.projections[1] = 1;
    for (int n = 0; n < FRAMES; ++n) {
        targets[3 * n + 1] = (float)(0.1 * sin(0.7 * n));
    }
    memcpy(motion, targets, sizeof(motion));
    jnaModalSequence s = {.frameCount = FRAMES, .vertexCount = 1, .dt = CORE_DT, .targets = targets, .motion = motion};
    double starts[FRAMES], rates[FRAMES], z[FRAMES];
    assert_int_equal(jnaModes_Force(&modes, &s, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(&modes, &s, &(jnaModalDrive){starts, rates, NULL}, z, NULL, NULL), jn_ok);
    for (int n = 0; n < FRAMES; ++n) {
        jnaModes_Show(&modes, &s, n, z, motion + 3 * n);
    }
    modes.stiffness[0] = 1100; // found again from elsewhere
    c.vertexCount = 1;
    c.triangleCount = 0;
    jnaModalFitDef def = FitDef(&modes, &c, &s);
    def.prior = 1e-6;
    jnaModalFit fit;
    assert_int_equal(jnaFitModes(&def, &fit, NULL), jn_ok);
    ASSERT_NEAR(fit.stiffness[0], 900, 1);
    jnaDestroyModalFit(&fit);
    jnaDestroyModes(&modes);
    DestroyCore(&core);
}

// Where there is no volume: components of the motion itself. They explain it, and carry over less than vibration modes.
static void ModesComeFromMotion(void** state)
{
    (void)state;
    Core core = MakeCore(6);
    jnaCharacter* c = &core.block.character;
    for (int v = 0; v < c->vertexCount; ++v) { // one joint moves all
        c->influences[v] = (jnaInfluences){.joints = {0}, .weights = {1}};
    }
    jnaModalSequence s = RunCore(&core, CORE_JUMPING, DAMPING, 6);
    jnaDataModesDef def = jnaDefaultDataModesDef();
    def.character = c;
    def.sequences = &s;
    def.sequenceCount = 1;
    def.threshold = 0;
    def.share = 0.999;
    jnaModes modes;
    jnError error = {0};
    if (jnaFindDataModes(&def, &modes, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_true(modes.modeCount >= 2 && modes.modeCount <= 12);
    jnaModalFitDef fitDef = FitDef(&modes, c, &s);
    fitDef.prior = 1e-3;
    jnaModalFit fit;
    assert_int_equal(jnaFitModes(&fitDef, &fit, &error), jn_ok);
    Adopt(&modes, &fit);
    double seen = CapturedBy(&modes, &s);
    s = RunCore(&core, CORE_BOXING, DAMPING, 6);
    double unseen = CapturedBy(&modes, &s);
    print_message("%d modes of motion: seen %.4f, unseen %.4f\n", modes.modeCount, seen, unseen);
    assert_true(seen > 0.9);
    jnaDestroyModalFit(&fit);
    jnaDestroyModes(&modes);
    // No motion, no modes.
    memcpy(core.positions, core.targets, 3 * (size_t)s.frameCount * (size_t)s.vertexCount * sizeof(float));
    assert_int_equal(jnaFindDataModes(&def, &modes, &error), jn_badData);
    assert_non_null(strstr(error.message, "no modes"));
    DestroyCore(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NumbersAreFoundAgain),
        cmocka_unit_test(WhatIsLearnedCarriesOver),
        cmocka_unit_test(UnseenModesStayAsTheyWere),
        cmocka_unit_test(OddFitsEndWell),
        cmocka_unit_test(OneVertexIsEnough),
        cmocka_unit_test(ModesComeFromMotion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
