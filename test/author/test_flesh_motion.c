// Flesh in motion: what backward Euler must keep, lose and end in.
#include "fleshes.h"

static const double CUBE[3] = {1, 1, 1}, BAR[3] = {1, 0.3, 0.3};
static const jnaMaterial SOFT = {.young = 2e4, .poisson = 0.4, .density = 1000};

static int HoldSurface(const jnaVolume* v, int node)
{
    return node < v->vertexCount ? 0 : -1;
}

static int HoldAll(const jnaVolume* v, int node)
{
    (void)v;
    (void)node;
    return 0;
}

static TestFlesh MakeTestFlesh(const int cells[3], const double size[3], jnaMaterial material, HoldRule rule)
{
    TestFlesh flesh = {.test = MakeBlock(cells[0], cells[1], cells[2], size, 0, 2)};
    FillInside(&flesh.test, material, rule);
    return flesh;
}

static TestFlesh MakeBar(void)
{
    return MakeTestFlesh((int[3]){6, 2, 2}, BAR, SOFT, HoldLeftFace);
}

// flesh.test moves when the struct is returned, so the def is made after.
static void Create(TestFlesh* flesh, const jnaFleshDef* like)
{
    flesh->def = *like;
    flesh->def.volume = &flesh->test.volume;
    flesh->def.character = &flesh->test.character;
    CreateTestFlesh(flesh);
}

// The state of a motion and its parts, as flesh_motion.c has them.
typedef struct State {
    double *nodes, *velocities; // [nodeCount][3], of one block
    size_t bytes;               // of the block
} State;

// At rest, without velocity.
static State MakeState(const TestFlesh* flesh)
{
    size_t numbers = 3 * (size_t)flesh->test.volume.nodeCount;
    double* block = calloc(jnaFlesh_StateCount(flesh->flesh), sizeof(double));
    memcpy(block, flesh->test.volume.nodes, numbers * sizeof(double));
    memcpy(block + 2 * numbers, flesh->test.volume.nodes, numbers * sizeof(double));
    return (State){block, block + numbers, jnaFlesh_StateCount(flesh->flesh) * sizeof(double)};
}

static void DestroyState(State* state)
{
    free(state->nodes);
}

static void Advance(TestFlesh* flesh, const jnaClip* clip, int frame, State* state)
{
    jnError error = {0};
    if (jnaFleshSolver_Advance(flesh->solver, clip, frame, state->nodes, &flesh->report, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

// One node in the middle of a cube whose surface is held. The cube is the same when its axes are swapped, so the
// diagonal is an eigenvector of the node's 3 x 3 stiffness; and when seen in a mirror point, so no force is of second
// order. Patches of tetrahedra are not: Poisson's ratio is 0, which leaves them nothing to do.
typedef struct Oscillator {
    double frequency;        // w = sqrt(k / m), 1/s
    double amplitude, phase; // after the run; x = amplitude e^(i phase), of 1 at the beginning
    double worstRatio;       // greatest difference of a step's decay from 1 / sqrt(1 + w^2 h^2)
} Oscillator;

// From the hats, k = sum of V mu (|n|^2 + (n . e)^2), and not from the solver.
static double Frequency(const TestFlesh* flesh, int node)
{
    const jnaVolume* v = &flesh->test.volume;
    const jnaMaterial* m = &v->materials[0];
    double mu = m->young / 2, stiffness = 0, mass = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        for (int c = 0; c < 4; ++c) {
            if (v->tetrahedra[4 * t + c] == node) {
                double hats[4][3], volume = jnaHatGradients(v->nodes, v->tetrahedra + 4 * t, hats), *n = hats[c];
                double along = (n[0] + n[1] + n[2]) / sqrt(3);
                stiffness += volume * mu * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + along * along);
                mass += 0.25 * volume * m->density;
            }
        }
    }
    return sqrt(stiffness / mass);
}

// Runs for one period in `steps` steps. damping and drag in units of the frequency.
static Oscillator Oscillate(jnaIntegrator integrator, int steps, double damping, double drag)
{
    static const double amplitude = 1e-3; // forces of third order are a millionth
    jnaMaterial material = {.young = SOFT.young, .poisson = 0, .density = SOFT.density};
    TestFlesh flesh = MakeTestFlesh((int[3]){2, 2, 2}, CUBE, material, HoldSurface);
    int node = flesh.test.volume.nodeCount - 1;
    double w = Frequency(&flesh, node), h = 2 * acos(-1) / (w * steps);
    jnaFleshDef def = PlainDef(&flesh.test);
    def.damping = damping / w;
    def.drag = drag * w;
    def.integrator = integrator;
    def.substeps = 1;
    def.stepTolerance = 1e-6;
    Create(&flesh, &def);
    assert_int_equal(flesh.flesh->freeCount, 1);
    jnaClip clip = RestClip(&flesh.test.character, 1, 1 / h);
    State state = MakeState(&flesh);
    Oscillator result = {.frequency = w, .amplitude = 1};
    const double *rest = flesh.test.volume.nodes + 3 * node, *x = state.nodes + 3 * node;
    // The envelope of a damped oscillation of rate s: x^2 + ((v + s x) / sqrt(w^2 - s^2))^2.
    double rate = 0.5 * (damping * w + drag * w), turns = sqrt(w * w - rate * rate);
    state.velocities[3 * node] = state.velocities[3 * node + 1] = state.velocities[3 * node + 2] = -rate * amplitude;
    for (int k = 0; k < 3; ++k) {
        state.nodes[3 * node + k] += amplitude;
        // What BDF2 remembers: a step earlier, for the undamped one.
        size_t before = 6 * (size_t)flesh.test.volume.nodeCount + (size_t)(3 * node + k);
        state.nodes[before] += amplitude * cos(w * h);
        state.velocities[before] = amplitude * w * sin(w * h);
    }
    for (int i = 0; i < steps; ++i) {
        Advance(&flesh, &clip, 0, &state);
        assert_true(flesh.report.converged); // also where it passes through rest
        double away = (x[0] - rest[0]) / amplitude, velocity = state.velocities[3 * node] / amplitude;
        double before = result.amplitude, other = (velocity + rate * away) / turns;
        result.amplitude = sqrt(away * away + other * other);
        result.phase = atan2(-other, away);
        double ratio = result.amplitude / before * sqrt(1 + w * w * h * h);
        result.worstRatio = fmax(result.worstRatio, fabs(ratio - 1));
        ASSERT_NEAR(x[1] - rest[1], x[0] - rest[0], 1e-9 * amplitude); // it stays in its mode
    }
    DestroyState(&state);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
    return result;
}

static void AnOscillatorDecaysAsBackwardEulerDoes(void** state)
{
    (void)state;
    double losses[3];
    for (int i = 0; i < 3; ++i) {
        Oscillator o = Oscillate(jna_backwardEuler, 500 << i, 0, 0);
        losses[i] = hypot(o.amplitude * cos(o.phase) - 1, o.amplitude * sin(o.phase));
        print_message("%d steps a period: decay a step off by %.1e, error after a period %.4f\n", 500 << i,
            o.worstRatio, losses[i]);
        ASSERT_AT_MOST(o.worstRatio, 1e-7);
    }
    Oscillator coarse = Oscillate(jna_backwardEuler, 6, 0, 0); // w h above 1
    ASSERT_AT_MOST(coarse.worstRatio, 1e-5);
    double order = log2(losses[1] / losses[2]);
    print_message("order %.3f in the step\n", order);
    ASSERT_NEAR(order, 1, 0.03);
}

static void Bdf2IsOfSecondOrder(void** state)
{
    (void)state;
    double errors[3];
    for (int i = 0; i < 3; ++i) {
        Oscillator o = Oscillate(jna_bdf2, 50 << i, 0, 0);
        errors[i] = hypot(o.amplitude * cos(o.phase) - 1, o.amplitude * sin(o.phase));
    }
    double order = log2(errors[1] / errors[2]);
    print_message("BDF2, 50, 100, 200 steps: error after a period %.1e, %.1e, %.1e; order %.2f\n", errors[0], errors[1],
        errors[2], order);
    ASSERT_NEAR(order, 2, 0.05);
}

// The scheme's own decay goes with the step and is extrapolated away.
static double DecayRate(double damping, double drag)
{
    double rates[2];
    for (int i = 0; i < 2; ++i) {
        Oscillator o = Oscillate(jna_backwardEuler, 1000 << i, damping, drag);
        rates[i] = -log(o.amplitude) * o.frequency / (2 * acos(-1)) / o.frequency;
    }
    return 2 * rates[1] - rates[0];
}

// b K in the damping gives b w^2 / 2, a M gives a / 2; here in units of w.
static void DampingDecaysAsRayleighSays(void** state)
{
    (void)state;
    double stiff = DecayRate(0.06, 0), slow = DecayRate(0, 0.08), both = DecayRate(0.06, 0.08);
    print_message("decay %.5f for b w/2 = 0.03, %.5f for a/2w = 0.04, %.5f for both\n", stiff, slow, both);
    ASSERT_NEAR(stiff, 0.03, 1e-4);
    ASSERT_NEAR(slow, 0.04, 1e-4);
    ASSERT_NEAR(both, 0.07, 2e-4);
}

typedef struct Momentum {
    double linear[3], angular[3];
} Momentum;

static Momentum MeasureMomentum(const TestFlesh* flesh, const State* state)
{
    Momentum m = {{0}, {0}};
    for (int n = 0; n < flesh->flesh->nodeCount; ++n) {
        double mass = flesh->flesh->mass[flesh->flesh->places[n]];
        const double *x = state->nodes + 3 * n, *v = state->velocities + 3 * n;
        for (int k = 0; k < 3; ++k) {
            m.linear[k] += mass * v[k];
            m.angular[k] += mass * (x[(k + 1) % 3] * v[(k + 2) % 3] - x[(k + 2) % 3] * v[(k + 1) % 3]);
        }
    }
    return m;
}

static double Distance(const double* a, const double* b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// A body that nothing holds: thrown, spinning and, if asked, trembling, for half a second. Errors of both momenta,
// relative.
static void Fly(int substeps, double damping, bool trembling, double tolerance, double errors[2])
{
    TestFlesh flesh = MakeTestFlesh((int[3]){3, 3, 3}, BAR, SOFT, HoldAll);
    // The resting factor needs a hold; it is taken away before anything moves, and steps in time stand on the mass.
    flesh.test.volume.holdStrength[0] = 1;
    jnaFleshDef def = PlainDef(&flesh.test);
    def.damping = damping;
    def.integrator = jna_backwardEuler;
    def.drag = 0;
    def.substeps = substeps;
    def.stepTolerance = tolerance;
    Create(&flesh, &def);
    int count = flesh.flesh->nodeCount;
    assert_int_equal(flesh.flesh->freeCount, count);
    memset(flesh.flesh->springs, 0, (size_t)count * sizeof(double));
    flesh.flesh->hasSprings = false;
    State state = MakeState(&flesh);
    static const double spin[3] = {1, 2, 3}, along[3] = {3, -1, 2}, middle[3] = {0.5, 0, 0};
    Random random = {23};
    for (int n = 0; n < count; ++n) {
        for (int k = 0; k < 3; ++k) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            const double* x = flesh.test.volume.nodes + 3 * n;
            state.velocities[3 * n + k] = along[k] + spin[a] * (x[b] - middle[b]) - spin[b] * (x[a] - middle[a]);
            state.velocities[3 * n + k] += trembling ? Uniform(&random, -0.3, 0.3) : 0;
        }
    }
    jnaClip clip = RestClip(&flesh.test.character, 1, 30);
    Momentum before = MeasureMomentum(&flesh, &state);
    for (int f = 0; f < 15; ++f) {
        Advance(&flesh, &clip, 0, &state);
        assert_true(flesh.report.converged);
    }
    Momentum after = MeasureMomentum(&flesh, &state);
    static const double zero[3] = {0};
    errors[0] = Distance(before.linear, after.linear) / Distance(before.linear, zero);
    errors[1] = Distance(before.angular, after.angular) / Distance(before.angular, zero);
    DestroyState(&state);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

static void FreeFlightKeepsItsMomenta(void** state)
{
    (void)state;
    for (int damped = 0; damped < 2; ++damped) {
        double errors[3][2];
        for (int i = 0; i < 3; ++i) {
            Fly(8 << i, damped != 0 ? 0.006 : 0, true, 1e-8, errors[i]);
            print_message("%d steps a second, damping %d: linear momentum off by %.1e, angular by %.2e\n", 30 * 8 << i,
                damped, errors[i][0], errors[i][1]);
            ASSERT_AT_MOST(errors[i][0], 1e-8);
        }
        // O(dt)
        ASSERT_NEAR(errors[0][1] / errors[1][1], 2, 0.15);
        ASSERT_NEAR(errors[1][1] / errors[2][1], 2, 0.15);
    }
    double loose[2], plain[2], damped[2];
    Fly(8, 0.006, true, 1e-5, loose);
    print_message("with the residual 1e-5: linear momentum off by %.1e\n", loose[0]);
    ASSERT_AT_MOST(loose[0], 1e-5);
    // A body that only turns is not damped.
    Fly(8, 0, false, 1e-8, plain);
    Fly(8, 0.05, false, 1e-8, damped);
    print_message("turning alone: angular momentum off by %.3e, with strong damping %.3e\n", plain[1], damped[1]);
    ASSERT_AT_MOST(fabs(damped[1] - plain[1]), 0.1 * plain[1]);
}

// Under gravity motion that dies away ends where the quasistatic solver does; and begins there.
static void GravityGivesTheSameShapeInBothSolvers(void** state)
{
    (void)state;
    TestFlesh flesh = MakeBar();
    const jnaVolume* v = &flesh.test.volume;
    jnaFleshDef def = PlainDef(&flesh.test);
    def.gravity[1] = -0.3;
    def.substeps = 1;
    def.damping = 0.05;
    def.poseTolerance = def.stepTolerance = 1e-9;
    Create(&flesh, &def);
    jnaClip clip = RestClip(&flesh.test.character, 1, 0.5); // steps of two seconds calm quickly
    State moving = MakeState(&flesh), still = MakeState(&flesh);
    for (int f = 0; f < 100; ++f) {
        Advance(&flesh, &clip, 0, &moving);
        assert_true(flesh.report.converged);
    }
    jnError error;
    assert_int_equal(jnaFleshSolver_Start(flesh.solver, &clip, 0, still.nodes, &flesh.report, &error), jn_ok);
    assert_true(flesh.report.converged);
    double sag = Farthest(still.nodes, v->nodes, v->nodeCount);
    print_message("sag %.3f m, apart %.1e m\n", sag, Farthest(still.nodes, moving.nodes, v->nodeCount));
    assert_true(sag > 0.05);
    ASSERT_AT_MOST(Farthest(still.nodes, moving.nodes, v->nodeCount), 1e-8);
    for (int f = 0; f < 5; ++f) {
        Advance(&flesh, &clip, 0, &still);
    }
    ASSERT_AT_MOST(Farthest(still.nodes, moving.nodes, v->nodeCount), 1e-8);
    DestroyState(&moving);
    DestroyState(&still);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

static void AtRestNothingMoves(void** state)
{
    (void)state;
    TestFlesh flesh = MakeBar();
    jnaFleshDef def = PlainDef(&flesh.test);
    Create(&flesh, &def);
    jnaClip clip = RestClip(&flesh.test.character, 3, 30);
    State moving = MakeState(&flesh);
    for (int f = 0; f < 3; ++f) {
        Advance(&flesh, &clip, f, &moving);
        assert_true(flesh.report.converged);
        assert_true(flesh.report.iterations <= 8); // one a step
    }
    ASSERT_AT_MOST(Farthest(moving.nodes, flesh.test.volume.nodes, flesh.test.volume.nodeCount), 1e-13);
    DestroyState(&moving);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

// A clip that begins in a run begins without a jolt, and ends without one.
static void AClipMayBeginInMotion(void** state)
{
    (void)state;
    enum { FRAMES = 6 };
    TestFlesh flesh = MakeBar();
    const jnaVolume* v = &flesh.test.volume;
    jnaFleshDef def = PlainDef(&flesh.test);
    def.substeps = 4;
    def.stepTolerance = 1e-9;
    Create(&flesh, &def);
    jnaClip clip = RestClip(&flesh.test.character, FRAMES, 30);
    for (int n = 0; n < FRAMES; ++n) {
        clip.translations[3 * n * clip.jointCount] += 0.1f * (float)n; // 3 m/s
    }
    jnError error;
    State running = MakeState(&flesh);
    assert_int_equal(jnaFleshSolver_Start(flesh.solver, &clip, 0, running.nodes, &flesh.report, &error), jn_ok);
    for (int f = 0; f + 1 < FRAMES; ++f) {
        Advance(&flesh, &clip, f, &running);
        double worst = 0;
        for (int n = 0; n < v->nodeCount; ++n) {
            worst = fmax(worst, fabs(running.nodes[3 * n] - v->nodes[3 * n] - 0.1 * (f + 1)));
        }
        ASSERT_AT_MOST(worst, 1e-6);
    }
    DestroyState(&running);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

// The root nods and sways.
static jnaClip NoddingClip(const jnaCharacter* character, int frames)
{
    jnaClip clip = RestClip(character, frames, 30);
    for (int f = 0; f < frames; ++f) {
        TurnJoint(&clip, f, 0, 0.4 * sin(2 * acos(-1) * f / frames), AXIS_Z);
        clip.translations[3 * f * clip.jointCount + 1] = (float)(0.1 * sin(2 * acos(-1) * f / frames + 1));
    }
    return clip;
}

static void AResumedMotionGivesTheSameBytes(void** state)
{
    (void)state;
    enum { FRAMES = 8, SAVED = 3 };
    State motions[2];
    for (int resumed = 0; resumed < 2; ++resumed) {
        TestFlesh flesh = MakeBar();
        jnaFleshDef def = PlainDef(&flesh.test);
        def.gravity[1] = -9.81;
        def.substeps = 3;
        Create(&flesh, &def);
        jnaClip clip = NoddingClip(&flesh.test.character, FRAMES);
        motions[resumed] = MakeState(&flesh);
        jnError error;
        assert_int_equal(
            jnaFleshSolver_Start(flesh.solver, &clip, 0, motions[resumed].nodes, &flesh.report, &error), jn_ok);
        for (int f = 0; f + 1 < FRAMES; ++f) {
            if (resumed != 0 && f == SAVED) {
                // Another solver that has seen something else goes on from the saved state.
                jnaDestroyFleshSolver(flesh.solver);
                assert_int_equal(jnaCreateFleshSolver(flesh.flesh, &flesh.solver, &error), jn_ok);
                SolvePose(&flesh, &clip, 6);
            }
            Advance(&flesh, &clip, f, &motions[resumed]);
        }
        jnaDestroyClip(&clip);
        DestroyTestFlesh(&flesh);
    }
    assert_memory_equal(motions[0].nodes, motions[1].nodes, motions[0].bytes);
    DestroyState(&motions[0]);
    DestroyState(&motions[1]);
}

// Where the held nodes are after a frame's motion, against those of a frame's pose.
static double EndsAt(TestFlesh* flesh, const jnaClip* clip, int frame, int expected)
{
    const jnaVolume* v = &flesh->test.volume;
    State state = MakeState(flesh);
    Advance(flesh, clip, frame, &state);
    assert_true(flesh->report.converged);
    double transforms[24], greatest = 0;
    jnaPoseTransforms(&flesh->test.character, clip, expected, transforms);
    for (int i = 0; i < 3 * v->nodeCount; ++i) {
        const double *m = transforms + 4 * (i % 3), *p = v->nodes + i / 3 * 3;
        double at = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
        greatest = v->heldBy[i / 3] >= 0 ? fmax(greatest, fabs(at - state.nodes[i])) : greatest;
    }
    DestroyState(&state);
    return greatest;
}

static void AClipEndsByHoldingOrClosesItsLoop(void** state)
{
    (void)state;
    TestFlesh flesh = MakeBar();
    jnaFleshDef def = PlainDef(&flesh.test);
    Create(&flesh, &def);
    jnaClip clip = NoddingClip(&flesh.test.character, 12);
    ASSERT_AT_MOST(EndsAt(&flesh, &clip, 4, 5), 1e-6);
    ASSERT_AT_MOST(EndsAt(&flesh, &clip, 11, 11), 1e-6);
    clip.looping = true;
    ASSERT_AT_MOST(EndsAt(&flesh, &clip, 11, 0), 1e-6);
    clip.frameCount = 1;
    ASSERT_AT_MOST(EndsAt(&flesh, &clip, 0, 0), 1e-6);
    clip.looping = false;
    ASSERT_AT_MOST(EndsAt(&flesh, &clip, 0, 0), 1e-6);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

// The root's velocity just before and just after every frame.
static void TheSkeletonMovesSmoothlyBetweenFrames(void** state)
{
    (void)state;
    enum { FRAMES = 12 };
    TestFlesh flesh = MakeBar();
    jnaFleshDef def = PlainDef(&flesh.test);
    Create(&flesh, &def);
    jnaClip clip = NoddingClip(&flesh.test.character, FRAMES);
    clip.looping = true;
    const double step = 0.02;
    double jump = 0, fastest = 0;
    for (int f = 0; f < FRAMES; ++f) {
        double places[4][3], shares[4] = {1 - 2 * step, 1 - step, step, 2 * step};
        for (int i = 0; i < 4; ++i) {
            jnaPoseBetween(flesh.solver, &clip, i < 2 ? f : (f + 1) % FRAMES, shares[i]);
            const double* m = flesh.solver->transforms; // of the point (1, 0, 0)
            for (int k = 0; k < 3; ++k) {
                places[i][k] = m[4 * k] + m[4 * k + 3];
            }
        }
        for (int k = 0; k < 3; ++k) {
            double before = (places[1][k] - places[0][k]) / step, after = (places[3][k] - places[2][k]) / step;
            jump = fmax(jump, fabs(after - before));
            fastest = fmax(fastest, fabs(before));
        }
    }
    // Over three hundredths of a frame a velocity that turns in twelve frames changes by 1.6 %, the rest of the bound
    // is for the spline's own bends; straight lines would jump by half.
    print_message("velocity jumps by %.3f of the fastest\n", jump / fastest);
    ASSERT_AT_MOST(jump, 0.08 * fastest);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

static void AStepThatDoesNotConvergeIsReported(void** state)
{
    (void)state;
    TestFlesh flesh = MakeTestFlesh((int[3]){3, 1, 1}, BAR, SOFT, HoldLeftFace);
    jnaFleshDef def = PlainDef(&flesh.test);
    def.substeps = 2;
    def.stepTolerance = 1e-30;
    Create(&flesh, &def);
    jnaClip clip = NoddingClip(&flesh.test.character, 4);
    State moving = MakeState(&flesh);
    Advance(&flesh, &clip, 0, &moving);
    assert_false(flesh.report.converged);
    assert_non_null(strstr(flesh.report.reason, "2 of 2 steps"));
    ASSERT_AT_MOST(flesh.report.residual, 1e-12); // it still went as far as it could
    DestroyState(&moving);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnOscillatorDecaysAsBackwardEulerDoes),
        cmocka_unit_test(Bdf2IsOfSecondOrder),
        cmocka_unit_test(DampingDecaysAsRayleighSays),
        cmocka_unit_test(FreeFlightKeepsItsMomenta),
        cmocka_unit_test(GravityGivesTheSameShapeInBothSolvers),
        cmocka_unit_test(AtRestNothingMoves),
        cmocka_unit_test(AClipMayBeginInMotion),
        cmocka_unit_test(AResumedMotionGivesTheSameBytes),
        cmocka_unit_test(AClipEndsByHoldingOrClosesItsLoop),
        cmocka_unit_test(TheSkeletonMovesSmoothlyBetweenFrames),
        cmocka_unit_test(AStepThatDoesNotConvergeIsReported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
