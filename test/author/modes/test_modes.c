// Springs on modes against the simulation they reduce.
#include "helpers/core.h"
#include "workspace/modes_store.h"

#define DAMPING 6.0

static double CapturedBy(const jnaModes* modes, const jnaModalSequence* s)
{
    size_t numbers = (size_t)s->frameCount * (size_t)modes->modeCount;
    double* starts = malloc(numbers * sizeof(double));
    double* rates = malloc(numbers * sizeof(double));
    double* amplitudes = malloc(numbers * sizeof(double));
    assert_int_equal(jnaModes_Force(modes, s, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(modes, s, &(jnaModalDrive){starts, rates, NULL}, amplitudes, NULL, NULL), jn_ok);
    double captured = jnaModes_Captured(modes, s, amplitudes, 0, s->frameCount, NULL);
    free(starts);
    free(rates);
    free(amplitudes);
    return captured;
}

static void SetDamping(jnaModes* modes, double damping)
{
    for (int k = 0; k < modes->modeCount; ++k) {
        modes->damping[k] = damping;
    }
}

// Flesh that the modes know nothing of but its material: nothing is fitted, so every motion is unseen.
static void TwelveModesCarryTheFleshAroundACore(void** state)
{
    (void)state;
    Core core = MakeCore(8);
    jnaModes modes = FindCoreModes(&core, 12, jna_projectVolume);
    jnaModes surface = FindCoreModes(&core, 12, jna_projectSurface);
    SetDamping(&modes, DAMPING);
    SetDamping(&surface, DAMPING);
    for (int motion = 0; motion < 3; ++motion) {
        jnaModalSequence s = RunCore(&core, (CoreMotion)motion, DAMPING, 6);
        double captured = CapturedBy(&modes, &s);
        ASSERT_AT_MOST(0.98, captured);
        double bySurface = CapturedBy(&surface, &s);
        ASSERT_AT_MOST(0.95, bySurface);
        ASSERT_AT_MOST(bySurface, captured);
        s.turns = NULL; // what ignoring the turning between frames costs
        double ignoring = CapturedBy(&modes, &s);
        assert_true(motion == CORE_SHIFTING ? ignoring == captured : ignoring < captured - 0.003);
        print_message(
            "captured %.4f, by the surface's least squares %.4f, ignoring turns %.4f\n", captured, bySurface, ignoring);
    }
    jnaDestroyModes(&modes);
    jnaDestroyModes(&surface);
    DestroyCore(&core);
}

// u'' = -M^-1 K u - d u' - a(t) by Runge and Kutta, a linear in time over an interval and along one direction.
typedef struct Direct {
    const jnaElastic* elastic;
    size_t size;
    double *force, damping;
} Direct;

static void Differentiate(const Direct* d, const double a[3], const double* y, double* out)
{
    jnaElastic_Apply(d->elastic, y, d->force);
    for (size_t i = 0; i < d->size; ++i) {
        double mass = jnaElastic_Masses(d->elastic)[jnaElastic_FreeNodes(d->elastic)[i / 3]];
        out[i] = y[d->size + i];
        out[d->size + i] = -d->force[i] / mass - d->damping * y[d->size + i] - a[i % 3];
    }
}

static void RungeKutta(const Direct* d, const double from[3], const double to[3], double h, int steps, double* y)
{
    size_t n = 2 * d->size;
    double *k = malloc(n * sizeof(double)), *sum = malloc(n * sizeof(double)), *at = malloc(n * sizeof(double));
    for (int step = 0; step < steps; ++step) {
        static const double places[4] = {0, 0.5, 0.5, 1}, weights[4] = {1, 2, 2, 1};
        memset(k, 0, n * sizeof(double));
        memset(sum, 0, n * sizeof(double));
        for (int stage = 0; stage < 4; ++stage) {
            double a[3], share = (step + places[stage]) / steps;
            for (int i = 0; i < 3; ++i) {
                a[i] = from[i] + share * (to[i] - from[i]);
            }
            for (size_t i = 0; i < n; ++i) {
                at[i] = y[i] + places[stage] * h / steps * k[i];
            }
            Differentiate(d, a, at, k);
            for (size_t i = 0; i < n; ++i) {
                sum[i] += weights[stage] * k[i];
            }
        }
        for (size_t i = 0; i < n; ++i) {
            y[i] += h / steps / 6 * sum[i];
        }
    }
    free(k);
    free(sum);
    free(at);
}

static void AllModesAreTheSimulation(void** state)
{
    (void)state;
    enum { FRAMES = 20 };
    Core core = MakeCore(5);
    const jnaVolume* v = &core.block.volume;
    Direct d = {.elastic = core.elastic, .size = 3 * (size_t)jnaElastic_FreeCount(core.elastic), .damping = DAMPING};
    jnaModes modes = FindCoreModes(&core, (int)d.size, jna_projectVolume);
    assert_int_equal(modes.modeCount, d.size);
    SetDamping(&modes, DAMPING);
    // A shaking core that does not turn.
    size_t vertices = (size_t)v->vertexCount;
    double places[FRAMES][3];
    float* targets = malloc(FRAMES * 3 * vertices * sizeof(float));
    for (int n = 0; n < FRAMES; ++n) {
        for (int i = 0; i < 3; ++i) {
            places[n][i] = (double)(float)(0.05 * sin((5 + 3 * i) * n * CORE_DT + i));
        }
        for (size_t i = 0; i < 3 * vertices; ++i) {
            targets[(size_t)n * 3 * vertices + i] = (float)places[n][i % 3];
        }
    }
    jnaModalSequence s = {.frameCount = FRAMES, .vertexCount = (int)vertices, .dt = CORE_DT, .targets = targets};
    double *starts = malloc(FRAMES * d.size * sizeof(double)), *rates = malloc(FRAMES * d.size * sizeof(double));
    double *z = malloc(FRAMES * d.size * sizeof(double)), *y = calloc(2 * d.size, sizeof(double));
    float* shown = malloc(3 * vertices * sizeof(float));
    d.force = malloc(d.size * sizeof(double));
    assert_int_equal(jnaModes_Force(&modes, &s, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(&modes, &s, &(jnaModalDrive){starts, rates, NULL}, z, NULL, NULL), jn_ok);
    double worst = 0, most = 0;
    for (int n = 0; n + 1 < FRAMES; ++n) {
        double bends[2][3], from[3], to[3];
        for (int i = 0; i < 6; ++i) {
            int at = n + i / 3, axis = i % 3;
            bool inner = at > 0 && at < FRAMES - 1;
            bends[i / 3][axis] =
                inner ? (places[at - 1][axis] - 2 * places[at][axis] + places[at + 1][axis]) / (CORE_DT * CORE_DT) : 0;
        }
        for (int i = 0; i < 3; ++i) {
            from[i] = 2 * bends[0][i] - bends[1][i];
            to[i] = 2 * bends[1][i] - bends[0][i];
        }
        RungeKutta(&d, from, to, CORE_DT, 300, y);
        jnaModes_Show(&modes, &s, n + 1, z, shown);
        for (size_t f = 0; f < d.size / 3; ++f) {
            size_t node = (size_t)jnaElastic_FreeNodes(core.elastic)[f];
            for (size_t i = 0; node < vertices && i < 3; ++i) {
                double offset = 0;
                for (int k = 0; k < modes.modeCount; ++k) {
                    offset += (double)modes.shapes[((size_t)k * vertices + node) * 3 + i] *
                              z[(size_t)(n + 1) * d.size + (size_t)k];
                }
                worst = fmax(worst, fabs(offset - y[3 * f + i]));
                most = fmax(most, fabs(y[3 * f + i]));
                ASSERT_NEAR((double)shown[3 * node + i], places[n + 1][i] + offset, 1e-7);
            }
        }
    }
    print_message("all %d modes: off by %.2g of %.3g m\n", modes.modeCount, worst, most);
    assert_true(most > 0.01);
    ASSERT_AT_MOST(worst, 1e-6 * most);
    free(targets);
    free(starts);
    free(rates);
    free(z);
    free(y);
    free(shown);
    free(d.force);
    jnaDestroyModes(&modes);
    DestroyCore(&core);
}

// The same from another start: nothing depends on chance or threads, and signs are fixed.
static void ModesAreTheSameEveryTime(void** state)
{
    (void)state;
    Core core = MakeCore(6);
    jnaModes a = FindCoreModes(&core, 10, jna_projectVolume), b = FindCoreModes(&core, 10, jna_projectVolume);
    size_t size = 10 * 3 * (size_t)a.vertexCount * sizeof(float);
    assert_memory_equal(a.shapes, b.shapes, size);
    assert_memory_equal(a.projections, b.projections, size);
    assert_memory_equal(a.stiffness, b.stiffness, 10 * sizeof(double));
    for (int k = 0; k < 10; ++k) {
        float most = 0, signedMost = 0;
        for (int i = 0; i < 3 * a.vertexCount; ++i) {
            float u = a.shapes[(size_t)k * 3 * (size_t)a.vertexCount + (size_t)i];
            signedMost = fabsf(u) > most ? u : signedMost;
            most = fmaxf(most, fabsf(u));
        }
        assert_true(signedMost > 0 && most <= 1.0f);
    }
    jnaDestroyModes(&a);
    jnaDestroyModes(&b);
    DestroyCore(&core);
}

// Localised modes stay modes: mass-orthogonal, near their frequencies, and carry the motion as before.
static void OnlyVerticesThatFleshCarriesMoveWithAMode(void** state)
{
    (void)state;
    Core core = MakeCore(4); // points without triangles: none has a neighbour to follow
    jnaVolume* v = &core.block.volume;
    jnaModes whole = FindCoreModes(&core, 3, jna_projectVolume);
    v->skinBlend = malloc((size_t)v->vertexCount * sizeof(double));
    for (int i = 0; i < v->vertexCount; ++i) {
        v->skinBlend[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.25 : 1;
    }
    jnaModes part = FindCoreModes(&core, 3, jna_projectVolume);
    for (int k = 0; k < 3; ++k) {
        size_t at = 3 * (size_t)k * (size_t)v->vertexCount;
        double dot = 0, square = 0;
        for (int i = 0; i < 3 * v->vertexCount; ++i) {
            double expected = v->skinBlend[i / 3] > 0 ? (double)whole.shapes[at + (size_t)i] : 0;
            dot += expected * (double)part.shapes[at + (size_t)i];
            square += expected * expected;
        }
        assert_true(square > 0);
        for (int i = 0; i < 3 * v->vertexCount; ++i) { // but for the scale, which makes the largest 1
            double expected = v->skinBlend[i / 3] > 0 ? (double)whole.shapes[at + (size_t)i] : 0;
            ASSERT_NEAR((double)part.shapes[at + (size_t)i], dot / square * expected, 1e-5);
        }
    }
    jnaDestroyModes(&whole);
    jnaDestroyModes(&part);
    DestroyCore(&core);
}

// A pose that only turns the whole has the modes of the rest pose: frequencies, shapes, projections and spins.
static void ATurnedPoseHasTheModesOfTheRestPose(void** state)
{
    (void)state;
    enum { MODES = 6 };
    Core core = MakeCore(4);
    const jnaVolume* v = &core.block.volume;
    double place[3], q[4], *nodes = malloc(3 * (size_t)v->nodeCount * sizeof(double));
    float turns[8];
    CorePose(CORE_BOXING, 0.31, place, q);
    for (int i = 0; i < 8; ++i) {
        turns[i] = (float)q[i % 4];
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        TurnBy(q, v->nodes + 3 * n, nodes + 3 * n);
    }
    jnaModes rest = FindCoreModes(&core, MODES, jna_projectVolume), posed;
    jnaModesDef def = jnaDefaultModesDef();
    def.count = MODES;
    def.cutoff = 1e6;
    def.threshold = def.mixing = def.speed = 0;
    const jnaPosedFlesh pose = {turns, turns, nodes};
    assert_int_equal(jnaFindModes(v, &core.block.character, &def, &pose, &posed, NULL, NULL), jn_ok);
    assert_int_equal(posed.modeCount, rest.modeCount);
    assert_memory_equal(posed.pose, turns, sizeof(turns));
    size_t width = 3 * (size_t)v->vertexCount;
    for (size_t k = 0; k < MODES; ++k) {
        ASSERT_NEAR(posed.stiffness[k] / rest.stiffness[k], 1, 1e-5);
        for (size_t i = 0; i < width; ++i) {
            ASSERT_NEAR((double)posed.shapes[k * width + i], (double)rest.shapes[k * width + i], 1e-4);
            ASSERT_NEAR((double)posed.projections[k * width + i], (double)rest.projections[k * width + i], 1e-4);
        }
    }
    for (size_t i = 0; i < 2 * 3 * MODES * MODES; ++i) {
        ASSERT_NEAR((double)posed.spins[i], (double)rest.spins[i], 1e-3);
    }
    jnaDestroyModes(&rest);
    jnaDestroyModes(&posed);
    free(nodes);
    DestroyCore(&core);
}

// Flesh that is pressed until it would buckle is no equilibrium to vibrate about: refused, not a mode of its own.
static void AnUnstablePoseIsRefused(void** state)
{
    (void)state;
    Core core = MakeCore(4);
    const jnaVolume* v = &core.block.volume;
    double* nodes = malloc(3 * (size_t)v->nodeCount * sizeof(double));
    const float turns[8] = {0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 3 * v->nodeCount; ++i) {
        nodes[i] = (i % 3 == 0 ? 0.5 : 1) * v->nodes[i];
    }
    jnaModesDef def = jnaDefaultModesDef();
    const jnaPosedFlesh pose = {turns, turns, nodes};
    jnaModes modes;
    jnError error = {0};
    assert_int_equal(jnaFindModes(v, &core.block.character, &def, &pose, &modes, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "not positive definite"));
    free(nodes);
    DestroyCore(&core);
}

static void LocalisedModesCarryTheSame(void** state)
{
    (void)state;
    Core core = MakeCore(8);
    jnaVolume* v = &core.block.volume;
    for (int n = 0; n < v->nodeCount; ++n) {
        v->joints[n] = v->nodes[3 * n + 1] > 0; // upper and lower half are two regions
    }
    jnaModesDef def = jnaDefaultModesDef();
    def.count = 24;
    def.cutoff = 1e6;
    jnaModes plain = FindCoreModes(&core, 24, jna_projectVolume), local;
    assert_int_equal(jnaFindModes(v, &core.block.character, &def, NULL, &local, NULL, NULL), jn_ok);
    SetDamping(&plain, DAMPING);
    SetDamping(&local, DAMPING);
    assert_int_equal(local.modeCount, 24);
    long stored[2] = {0};
    for (int k = 0; k < 24; ++k) {
        stored[0] += plain.sizes[k];
        stored[1] += local.sizes[k];
        assert_true(k == 0 || local.stiffness[k] >= local.stiffness[k - 1]);
        ASSERT_NEAR(local.stiffness[k] / plain.stiffness[k], 1, 0.2);
    }
    assert_true(stored[1] < stored[0]);
    jnaModalSequence s = RunCore(&core, CORE_BOXING, DAMPING, 6);
    double before = CapturedBy(&plain, &s), after = CapturedBy(&local, &s);
    print_message("captured %.4f, localised %.4f with %ld of %ld entries\n", before, after, stored[1], stored[0]);
    ASSERT_AT_MOST(before - 0.01, after);
    jnaDestroyModes(&plain);
    jnaDestroyModes(&local);
    DestroyCore(&core);
}

// Flesh that is no body is of one region. The figure's are measured by web/test/studio.test.mjs.
static void AModeKnowsTheRegionsOfItsEnergy(void** state)
{
    (void)state;
    Core core = MakeCore(8);
    jnaModes modes = FindCoreModes(&core, 12, jna_projectVolume);
    for (int k = 0; k < modes.modeCount; ++k) {
        double sum = 0;
        for (int r = 0; r < JNA_REGIONS; ++r) {
            double part = modes.regions[(size_t)k * JNA_REGIONS + (size_t)r];
            assert_true(part >= 0 && part <= 1);
            sum += part;
        }
        ASSERT_NEAR(sum, 1, 1e-12);
        ASSERT_NEAR(modes.regions[(size_t)k * JNA_REGIONS + jna_regionOther], 1, 1e-12);
    }
    jnaDestroyModes(&modes);
    DestroyCore(&core);
}

static void ModesComeBackFromTheirWorkspace(void** state)
{
    (void)state;
    char folder[300], path[700];
    snprintf(folder, sizeof(folder), "%s/modes_%ld", JN_BINARY_DIR, (long)getpid());
    snprintf(path, sizeof(path), "mkdir -p '%s'", folder);
    assert_int_equal(system(path), 0);
    Core core = MakeCore(4);
    jnaModes a = FindCoreModes(&core, 5, jna_projectVolume), b;
    jnError error = {0};
    assert_int_equal(jnaSaveModes(folder, &a, &error), jn_ok);
    if (jnaLoadModes(folder, &b, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(b.modeCount, 5);
    assert_memory_equal(a.shapes, b.shapes, 5 * 3 * (size_t)a.vertexCount * sizeof(float));
    assert_memory_equal(a.spins, b.spins, 2 * 3 * 5 * 5 * sizeof(float));
    assert_memory_equal(a.pose, b.pose, 2 * 4 * sizeof(float));
    jnaDestroyModes(&b);
    // An array of another size, and one that is not finite, are refused by name.
    a.stiffness[1] = (double)NAN;
    assert_int_equal(jnaSaveModes(folder, &a, &error), jn_ok);
    assert_int_equal(jnaLoadModes(folder, &b, &error), jn_badData);
    assert_non_null(strstr(error.message, "stiffness.npy"));
    a.stiffness[1] = 1;
    assert_int_equal(jnaSaveModes(folder, &a, &error), jn_ok);
    snprintf(path, sizeof(path), "cp '%s/modes/gain.npy' '%s/modes/shapes.npy'", folder, folder);
    assert_int_equal(system(path), 0);
    assert_int_equal(jnaLoadModes(folder, &b, &error), jn_badData);
    assert_non_null(strstr(error.message, "shapes.npy"));
    snprintf(path, sizeof(path), "rm -r '%s'", folder);
    assert_int_equal(system(path), 0);
    jnaDestroyModes(&a);
    DestroyCore(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TwelveModesCarryTheFleshAroundACore),
        cmocka_unit_test(AllModesAreTheSimulation),
        cmocka_unit_test(ModesAreTheSameEveryTime),
        cmocka_unit_test(OnlyVerticesThatFleshCarriesMoveWithAMode),
        cmocka_unit_test(ATurnedPoseHasTheModesOfTheRestPose),
        cmocka_unit_test(AnUnstablePoseIsRefused),
        cmocka_unit_test(LocalisedModesCarryTheSame),
        cmocka_unit_test(AModeKnowsTheRegionsOfItsEnergy),
        cmocka_unit_test(ModesComeBackFromTheirWorkspace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
