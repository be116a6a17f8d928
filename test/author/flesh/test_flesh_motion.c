// Flesh in motion: what each integrator must keep, lose and end in.
#include "flesh/flesh_internal.h"
#include "helpers/fleshes.h"
#include "volume/posing.h"

#include <complex.h>

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

// What an oscillator of 1e-3 m, at its greatest at time 0, is made of.
typedef struct Swing {
    jnaIntegrator integrator;
    double step;          // in units of 1/w
    double damping, drag; // in units of 1/w and w
    float strength;       // of a spring to the bone besides, 1/s2
} Swing;

static const double SWING = 1e-3; // forces of third order are a millionth

typedef struct SwingingNode {
    TestFlesh flesh;
    State state;
    jnaClip clip;
    int node;
    double w, rate; // 1/s: its frequency, and the decay of its envelope
} SwingingNode;

static void BeginSwing(const Swing* swing, SwingingNode* s)
{
    // Without Poisson's ratio: patches would break the symmetry of the cube.
    jnaMaterial material = {.young = SOFT.young, .poisson = 0, .density = SOFT.density};
    *s = (SwingingNode){.flesh = MakeTestFlesh((int[3]){2, 2, 2}, CUBE, material, HoldSurface)};
    s->node = s->flesh.test.volume.nodeCount - 1;
    s->w = Frequency(&s->flesh, s->node);
    double w = s->w, h = swing->step / w, rate = 0.5 * (swing->damping + swing->drag) * w;
    if (swing->strength > 0) {
        s->flesh.test.volume.heldBy[s->node] = 1;
        s->flesh.test.volume.holdStrength[s->node] = swing->strength;
    }
    jnaFleshDef def = PlainDef(&s->flesh.test);
    def.damping = swing->damping / w;
    def.drag = swing->drag * w;
    def.integrator = swing->integrator;
    def.substeps = 1;
    def.stepTolerance = 1e-6;
    Create(&s->flesh, &def);
    assert_int_equal(s->flesh.flesh->freeCount, 1);
    s->rate = rate;
    bool alpha = swing->integrator == jna_generalizedAlpha;
    double decay = exp(rate * h), turns = sqrt(w * w - rate * rate);
    double place = decay * cos(turns * h), pace = decay * (turns * sin(turns * h) - rate * cos(turns * h));
    s->clip = RestClip(&s->flesh.test.character, 1, 1 / h);
    s->state = MakeState(&s->flesh);
    for (int k = 0; k < 3; ++k) {
        // What is remembered: a step earlier; for generalised alpha acceleration and force.
        size_t i = (size_t)(3 * s->node + k), before = 6 * (size_t)s->flesh.test.volume.nodeCount + i;
        s->state.nodes[i] += SWING;
        s->state.velocities[i] = -rate * SWING;
        s->state.nodes[before] += SWING * place;
        s->state.velocities[before] = SWING * (alpha ? 2 * rate * rate - w * w : pace);
        if (alpha) {
            double mass = s->flesh.flesh->mass[s->flesh.flesh->places[s->node]];
            s->state.nodes[2 * before - i] = -mass * s->state.velocities[before];
        }
    }
}

// Makes a step; how far it is then, of 1 at the beginning.
static double StepSwing(SwingingNode* s)
{
    const double *rest = s->flesh.test.volume.nodes + 3 * s->node, *x = s->state.nodes + 3 * s->node;
    Advance(&s->flesh, &s->clip, 0, &s->state);
    assert_true(s->flesh.report.converged);                    // also where it passes through rest
    ASSERT_NEAR(x[1] - rest[1], x[0] - rest[0], 1e-9 * SWING); // it stays in its mode
    return (x[0] - rest[0]) / SWING;
}

static void EndSwing(SwingingNode* s)
{
    DestroyState(&s->state);
    jnaDestroyClip(&s->clip);
    DestroyTestFlesh(&s->flesh);
}

// Runs for one period in `steps` steps. damping and drag in units of the frequency.
static Oscillator Oscillate(jnaIntegrator integrator, int steps, double damping, double drag)
{
    Swing swing = {.integrator = integrator, .step = 2 * acos(-1) / steps, .damping = damping, .drag = drag};
    SwingingNode s;
    BeginSwing(&swing, &s);
    Oscillator result = {.frequency = s.w, .amplitude = 1};
    // The envelope of a damped oscillation of rate r: x^2 + ((v + r x) / sqrt(w^2 - r^2))^2.
    double turns = sqrt(s.w * s.w - s.rate * s.rate);
    for (int i = 0; i < steps; ++i) {
        double away = StepSwing(&s), velocity = s.state.velocities[3 * s.node] / SWING;
        double before = result.amplitude, other = (velocity + s.rate * away) / turns;
        result.amplitude = sqrt(away * away + other * other);
        result.phase = atan2(-other, away);
        double ratio = result.amplitude / before * sqrt(1 + swing.step * swing.step);
        result.worstRatio = fmax(result.worstRatio, fabs(ratio - 1));
    }
    EndSwing(&s);
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

static void TheOthersAreOfSecondOrder(void** state)
{
    (void)state;
    for (int i = jna_bdf2; i <= jna_generalizedAlpha; ++i) {
        for (int damped = 0; damped < 2; ++damped) {
            double errors[3], rate = damped != 0 ? 0.07 : 0;
            for (int k = 0; k < 3; ++k) {
                Oscillator o = Oscillate((jnaIntegrator)i, 50 << k, 0.8 * rate, 1.2 * rate);
                double decay = exp(-2 * acos(-1) * rate), phase = 2 * acos(-1) * sqrt(1 - rate * rate);
                errors[k] = hypot(
                    o.amplitude * cos(o.phase) - decay * cos(phase), o.amplitude * sin(o.phase) - decay * sin(phase));
            }
            double order = log2(errors[1] / errors[2]);
            print_message("%s, damping %.2f, 50, 100, 200 steps: error after a period %.1e, %.1e, %.1e; order %.2f\n",
                jnaIntegratorName((jnaIntegrator)i), rate, errors[0], errors[1], errors[2], order);
            ASSERT_NEAR(order, 2, 0.05);
        }
    }
}

// Frequency, in units of its own, and damping ratio of the oscillation that a run ends in: x(n + 1) = p x(n) - q x(n -
// 1) has the roots e^(lambda s).
static void MeasureSwing(const Swing* swing, double* frequency, double* ratio, double complex* root)
{
    enum { SKIPPED = 12, STEPS = 30 }; // what the beginning excites besides dies away
    SwingingNode s;
    double x[SKIPPED + STEPS], a[2][2] = {{0}}, b[2] = {0};
    BeginSwing(swing, &s);
    for (int n = 0; n < SKIPPED + STEPS; ++n) {
        x[n] = StepSwing(&s);
        if (n >= SKIPPED + 2) {
            double now = x[n - 1], before = -x[n - 2];
            a[0][0] += now * now;
            a[0][1] += now * before;
            a[1][1] += before * before;
            b[0] += now * x[n];
            b[1] += before * x[n];
        }
    }
    double determinant = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    double p = (b[0] * a[1][1] - b[1] * a[0][1]) / determinant, q = (a[0][0] * b[1] - a[0][1] * b[0]) / determinant;
    *root = 0.5 * p + sqrt(q - 0.25 * p * p) * (double complex)I;
    double complex lambda = clog(*root);
    *frequency = cabs(lambda) / swing->step;
    *ratio = -creal(lambda) / cabs(lambda);
    EndSwing(&s);
}

// What a root of a scheme's own polynomial for x'' = -x, undamped, is away from one. Generalised alpha as the linear
// multistep method that it is, from its parameter alone.
static double Miss(jnaIntegrator integrator, double step, double complex r)
{
    static const double rho = 0.75;
    double complex z = step * (double complex)I;
    if (integrator == jna_backwardEuler) {
        return cabs(r * (1 - z) - 1);
    }
    if (integrator == jna_bdf2) {
        return cabs((1.5 - z) * r * r - 2 * r + 0.5);
    }
    double am = (2 * rho - 1) / (rho + 1);
    double complex inertia = (r - 1) * (r - 1) * ((1 - am) * r + am);
    double complex forces = cpow((r + rho) / (1 + rho), 3);
    return cabs(inertia + step * step * forces);
}

// Modes of 2, 5 and 10 Hz at 2, 4 and 8 steps a frame, 30 frames a second, undamped and as flesh is by default.
static void EachIntegratorSwingsAsItsPolynomialSays(void** state)
{
    (void)state;
    static const double hertz[3] = {2, 5, 10}, viscosity = 0.006;
    print_message("integrator, steps a second: for 2, 5, 10 Hz frequency %% | damping ratio, undamped; of 0.006 s\n");
    for (int i = 0; i < jna_integratorCount; ++i) {
        for (int steps = 60; steps <= 240; steps *= 2) {
            double f[2][3], d[2][3];
            for (int k = 0; k < 3; ++k) {
                double w = 2 * acos(-1) * hertz[k];
                double complex root;
                Swing swing = {.integrator = (jnaIntegrator)i, .step = w / steps};
                MeasureSwing(&swing, &f[0][k], &d[0][k], &root);
                ASSERT_AT_MOST(Miss((jnaIntegrator)i, swing.step, root), 1e-5);
                swing.damping = viscosity * w;
                MeasureSwing(&swing, &f[1][k], &d[1][k], &root);
                d[1][k] -= 0.5 * viscosity * w;
            }
            for (int v = 0; v < 2; ++v) {
                print_message("%s %d %s: %+.1f %+.1f %+.1f %% | %+.4f %+.4f %+.4f\n",
                    jnaIntegratorName((jnaIntegrator)i), steps, v != 0 ? "viscous" : "undamped", 100 * (f[v][0] - 1),
                    100 * (f[v][1] - 1), 100 * (f[v][2] - 1), d[v][0], d[v][1], d[v][2]);
            }
            for (int v = 0; v < 2 && i == jna_generalizedAlpha && steps == 120; ++v) { // what it is there for
                ASSERT_AT_MOST(fabs(f[v][2] - 1), 0.025);
                ASSERT_AT_MOST(fabs(d[v][2]), 0.005);
            }
        }
    }
}

// A node displaced against a stiff spring is back at once and stays: springs of bones are not averaged over a step.
static void AStiffSpringDoesNotRing(void** state)
{
    (void)state;
    for (int i = 0; i < jna_integratorCount; ++i) {
        for (int k = 0; k < 2; ++k) {
            float strength = k == 0 ? 1e6f : 1e7f;
            Swing swing = {.integrator = (jnaIntegrator)i, .strength = strength};
            SwingingNode s;
            BeginSwing(&(Swing){.step = 1}, &s); // for its frequency
            swing.step = s.w / 120;
            EndSwing(&s);
            BeginSwing(&swing, &s);
            double x[8];
            for (int n = 0; n < 8; ++n) {
                x[n] = fabs(StepSwing(&s));
            }
            print_message(
                "%s, spring of %.0e/s2, 120 steps a second: left after 1, 2, 4, 8 steps %.1e %.1e %.1e %.1e\n",
                jnaIntegratorName((jnaIntegrator)i), (double)strength, x[0], x[1], x[3], x[7]);
            ASSERT_AT_MOST(x[0], 0.05);
            ASSERT_AT_MOST(x[7], 1e-4);
            EndSwing(&s);
        }
    }
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

// What BDF2 remembers: where it was a step of h earlier, and how fast, if nothing but `turning` (x' = v + turning x v)
// pulled at it.
static void RememberStep(const TestFlesh* flesh, double h, const double* turning, const double* along, State* state)
{
    size_t numbers = 3 * (size_t)flesh->flesh->nodeCount;
    for (size_t i = 0; i < numbers; ++i) {
        size_t n = i - i % 3, a = n + (i + 1) % 3, b = n + (i + 2) % 3;
        const double* v = state->velocities;
        double pull = turning[a - n] * (v[b] - along[b - n]) - turning[b - n] * (v[a] - along[a - n]);
        state->nodes[2 * numbers + i] = state->nodes[i] - h * v[i] + 0.5 * h * h * pull;
        state->velocities[2 * numbers + i] = v[i] - h * pull;
    }
}

// A body that nothing holds: thrown, spinning and, if asked, trembling, for half a second. Errors of both momenta,
// relative.
static void Fly(
    jnaIntegrator integrator, int substeps, double damping, bool trembling, double tolerance, double errors[2])
{
    TestFlesh flesh = MakeTestFlesh((int[3]){3, 3, 3}, BAR, SOFT, HoldAll);
    // The resting factor needs a hold; it is taken away before anything moves, and steps in time stand on the mass.
    for (int n = 0; n < flesh.test.volume.nodeCount; ++n) {
        flesh.test.volume.holdStrength[n] = 1;
    }
    jnaFleshDef def = PlainDef(&flesh.test);
    def.damping = damping;
    def.integrator = integrator;
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
    if (integrator == jna_bdf2) {
        RememberStep(&flesh, 1.0 / (30 * substeps), spin, along, &state);
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
            Fly(jna_backwardEuler, 8 << i, damped != 0 ? 0.006 : 0, true, 1e-8, errors[i]);
            print_message("%d steps a second, damping %d: linear momentum off by %.1e, angular by %.2e\n", 30 * 8 << i,
                damped, errors[i][0], errors[i][1]);
            ASSERT_AT_MOST(errors[i][0], 1e-8);
        }
        // O(dt)
        ASSERT_NEAR(errors[0][1] / errors[1][1], 2, 0.15);
        ASSERT_NEAR(errors[1][1] / errors[2][1], 2, 0.15);
    }
    double loose[2], plain[2], damped[2];
    Fly(jna_backwardEuler, 8, 0.006, true, 1e-5, loose);
    print_message("with the residual 1e-5: linear momentum off by %.1e\n", loose[0]);
    ASSERT_AT_MOST(loose[0], 1e-5);
    // A body that only turns is not damped.
    Fly(jna_backwardEuler, 8, 0, false, 1e-8, plain);
    Fly(jna_backwardEuler, 8, 0.05, false, 1e-8, damped);
    print_message("turning alone: angular momentum off by %.3e, with strong damping %.3e\n", plain[1], damped[1]);
    ASSERT_AT_MOST(fabs(damped[1] - plain[1]), 0.1 * plain[1]);
}

static void GeneralizedAlphaKeepsThemBetter(void** state)
{
    (void)state;
    for (int trembling = 0; trembling < 2; ++trembling) {
        double errors[3][2];
        for (int k = 0; k < 3; ++k) {
            Fly(jna_generalizedAlpha, 8 << k, 0.006, trembling != 0, 1e-8, errors[k]);
        }
        print_message("240, 480, 960 steps a second, trembling %d: linear momentum off by %.1e, %.1e, %.1e, angular by "
                      "%.1e, %.1e, %.1e\n",
            trembling, errors[0][0], errors[1][0], errors[2][0], errors[0][1], errors[1][1], errors[2][1]);
        ASSERT_AT_MOST(fmax(errors[0][0], fmax(errors[1][0], errors[2][0])), 1e-8);
        ASSERT_AT_MOST(errors[0][1], 3e-5);
        ASSERT_NEAR(errors[0][1] / errors[1][1], 4, 0.4);
        ASSERT_NEAR(errors[1][1] / errors[2][1], 4, 0.4);
    }
}

// Kinetic and elastic energy.
static double MeasureEnergy(TestFlesh* flesh, const State* state)
{
    const jnaFlesh* f = flesh->flesh;
    const jnaFleshProblem elements = {.flesh = f};
    jnaPadNodes(f, state->nodes, flesh->solver->x);
    double energy = jnaFlesh_Evaluate(&elements, flesh->solver->x, flesh->solver->gradient, NULL, NULL);
    for (int i = 0; i < 3 * f->nodeCount; ++i) {
        energy += 0.5 * f->mass[f->places[i / 3]] * state->velocities[i] * state->velocities[i];
    }
    return energy;
}

// A bar struck so that it bends by half its length, without any damping, for four seconds of 120 steps.
static void EnergyDoesNotGrow(void** state)
{
    (void)state;
    enum { FRAMES = 120 };
    double left[jna_integratorCount];
    for (int i = 0; i < jna_integratorCount; ++i) {
        TestFlesh flesh = MakeBar();
        jnaFleshDef def = PlainDef(&flesh.test);
        def.damping = def.drag = 0;
        def.integrator = (jnaIntegrator)i;
        def.substeps = 4;
        def.stepTolerance = 1e-6;
        Create(&flesh, &def);
        State moving = MakeState(&flesh);
        jnaClip clip = RestClip(&flesh.test.character, 1, 30);
        double farthest = 0, greatest = 0;
        for (int n = 0; n < flesh.flesh->nodeCount; ++n) {
            double x = flesh.test.volume.nodes[3 * n];
            moving.velocities[3 * n + 1] = x * x;
        }
        if (i == jna_bdf2) {
            static const double zero[3] = {0};
            RememberStep(&flesh, 1.0 / 120, zero, zero, &moving);
        }
        double first = MeasureEnergy(&flesh, &moving);
        for (int f = 0; f < FRAMES; ++f) {
            Advance(&flesh, &clip, 0, &moving);
            assert_true(flesh.report.converged);
            left[i] = MeasureEnergy(&flesh, &moving) / first;
            greatest = fmax(greatest, left[i]);
            farthest = fmax(farthest, Farthest(moving.nodes, flesh.test.volume.nodes, flesh.flesh->nodeCount));
        }
        print_message("%s: farthest %.2f m; energy at most %.4f of the first, after four seconds %.4f\n",
            jnaIntegratorName((jnaIntegrator)i), farthest, greatest, left[i]);
        ASSERT_AT_MOST(greatest, 1.001);
        DestroyState(&moving);
        jnaDestroyClip(&clip);
        DestroyTestFlesh(&flesh);
    }
    assert_true(left[jna_generalizedAlpha] > left[jna_bdf2] && left[jna_bdf2] > left[jna_backwardEuler]);
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
    for (int f = 0; f < 160; ++f) {
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

// The same where springs hold the bar up against gravity: their force is there from the first step on.
static void AClipMayBeginInMotionOnSprings(void** state)
{
    (void)state;
    enum { FRAMES = 6 };
    for (int i = 0; i < jna_integratorCount; ++i) {
        TestFlesh flesh = MakeBar();
        int count = flesh.test.volume.nodeCount;
        flesh.test.volume.holdStrength[0] = 1e5f;
        jnaFleshDef def = PlainDef(&flesh.test);
        def.integrator = (jnaIntegrator)i;
        def.gravity[1] = -1;
        def.substeps = 4;
        def.poseTolerance = def.stepTolerance = 1e-9;
        Create(&flesh, &def);
        jnaClip clip = RestClip(&flesh.test.character, FRAMES, 30);
        for (int n = 0; n < FRAMES; ++n) {
            clip.translations[3 * n * clip.jointCount] += 0.1f * (float)n; // 3 m/s
        }
        jnError error;
        State running = MakeState(&flesh), first = MakeState(&flesh);
        assert_int_equal(jnaFleshSolver_Start(flesh.solver, &clip, 0, running.nodes, &flesh.report, &error), jn_ok);
        memcpy(first.nodes, running.nodes, running.bytes);
        double worst = 0;
        for (int f = 0; f + 1 < FRAMES; ++f) {
            Advance(&flesh, &clip, f, &running);
            for (int n = 0; n < count; ++n) {
                first.nodes[3 * n] += 0.1;
            }
            worst = fmax(worst, Farthest(first.nodes, running.nodes, count));
        }
        print_message("%s: sag %.3f m, in a run on springs off by %.1e m\n", jnaIntegratorName((jnaIntegrator)i),
            first.nodes[3 * count - 2] - flesh.test.volume.nodes[3 * count - 2], worst);
        ASSERT_AT_MOST(worst, 1e-6);
        DestroyState(&running);
        DestroyState(&first);
        jnaDestroyClip(&clip);
        DestroyTestFlesh(&flesh);
    }
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
    assert_non_null(strstr(flesh.report.reason, "in step 1 of 2"));
    ASSERT_AT_MOST(flesh.report.residual, 1e-12); // it still went as far as it could
    // The motion begins again from there: what the state has is the equilibrium, as fast as the skin.
    State again = MakeState(&flesh);
    jnaFleshReport report;
    assert_int_equal(jnaFleshSolver_Start(flesh.solver, &clip, 1, again.nodes, &report, NULL), jn_ok);
    assert_memory_equal(moving.nodes, again.nodes, moving.bytes);
    DestroyState(&again);
    DestroyState(&moving);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

// The nodding bar's motion, from frame to frame. nodes: [frames - 1][nodeCount][3]; NULL: only the count of numbers.
static size_t Nod(jnaIntegrator integrator, int substeps, int frames, double* nodes)
{
    TestFlesh flesh = MakeBar();
    jnaFleshDef def = PlainDef(&flesh.test);
    def.integrator = integrator;
    def.substeps = substeps;
    def.stepTolerance = 1e-7;
    Create(&flesh, &def);
    jnaClip clip = NoddingClip(&flesh.test.character, frames);
    State moving = MakeState(&flesh);
    size_t size = 3 * (size_t)flesh.flesh->nodeCount;
    jnError error;
    assert_int_equal(jnaFleshSolver_Start(flesh.solver, &clip, 0, moving.nodes, &flesh.report, &error), jn_ok);
    for (int f = 0; nodes != NULL && f + 1 < frames; ++f) {
        Advance(&flesh, &clip, f, &moving);
        memcpy(nodes + size * (size_t)f, moving.nodes, size * sizeof(double));
    }
    DestroyState(&moving);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
    return size * (size_t)(frames - 1);
}

// Large turns, damping and a clip that begins in the middle of a motion: all of it of second order.
static void MotionConvergesToSecondOrder(void** state)
{
    (void)state;
    enum { FRAMES = 16, FINE = 64 };
    size_t count = Nod(jna_generalizedAlpha, 1, FRAMES, NULL);
    double *fine = malloc(count * sizeof(double)), *nodes = malloc(count * sizeof(double)), errors[2][3];
    Nod(jna_generalizedAlpha, FINE, FRAMES, fine);
    for (int i = jna_bdf2; i <= jna_generalizedAlpha; ++i) {
        double* off = errors[i - jna_bdf2];
        for (int k = 0; k < 3; ++k) {
            Nod((jnaIntegrator)i, 2 << k, FRAMES, nodes);
            off[k] = 0;
            for (size_t n = 0; n < count; ++n) {
                off[k] += (nodes[n] - fine[n]) * (nodes[n] - fine[n]);
            }
            off[k] = sqrt(3 * off[k] / (double)count);
        }
        print_message("%s, 2, 4, 8 steps a frame: off by %.3f, %.3f, %.3f mm rms\n",
            jnaIntegratorName((jnaIntegrator)i), 1e3 * off[0], 1e3 * off[1], 1e3 * off[2]);
        ASSERT_NEAR(log2(off[1] / off[2]), 2, 0.2);
    }
    assert_true(errors[1][1] < 0.6 * errors[0][1]);
    free(fine);
    free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(AnOscillatorDecaysAsBackwardEulerDoes),
        cmocka_unit_test(TheOthersAreOfSecondOrder),
        cmocka_unit_test(EachIntegratorSwingsAsItsPolynomialSays),
        cmocka_unit_test(AStiffSpringDoesNotRing),
        cmocka_unit_test(DampingDecaysAsRayleighSays),
        cmocka_unit_test(FreeFlightKeepsItsMomenta),
        cmocka_unit_test(GeneralizedAlphaKeepsThemBetter),
        cmocka_unit_test(EnergyDoesNotGrow),
        cmocka_unit_test(GravityGivesTheSameShapeInBothSolvers),
        cmocka_unit_test(AtRestNothingMoves),
        cmocka_unit_test(AClipMayBeginInMotion),
        cmocka_unit_test(AClipMayBeginInMotionOnSprings),
        cmocka_unit_test(MotionConvergesToSecondOrder),
        cmocka_unit_test(AResumedMotionGivesTheSameBytes),
        cmocka_unit_test(AClipEndsByHoldingOrClosesItsLoop),
        cmocka_unit_test(TheSkeletonMovesSmoothlyBetweenFrames),
        cmocka_unit_test(AStepThatDoesNotConvergeIsReported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
