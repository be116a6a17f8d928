// Motion of the flesh, implicit in time: each step of s minimises
//
//   sum m i/2 |x - y|^2 + drag m r/2 |(x - x*) - (s - s*)|^2 + elastic energy + viscosity + contact + springs of bones
//
// with y where inertia alone leads, s the skinned place of a node, and i, r, x* of the integrator (flesh_scheme.c).
// Drag is measured against the skinned motion, so that it does not hold back a body that runs. The quadratic terms of a
// node are added up to one pull to one target. Viscosity acts on the change of strain from its own past, C*, which
// turning alone does not change.
//
// Backward Euler and BDF2 are one formula with different pasts: v = (x - x*) r and y = x* + v* / r, i = r^2.
//
// Generalised alpha: f, the forces of elements, viscosity and drag, are averaged over the step; c, those of contact and
// of the springs of bones, stay at its end, for averaged they would ring:
//
//   (1 - am) a1 + am a0 = ((1 - af) f1 + af f0) / m + g
//   x1 = x0 + s v0 + s^2 ((1/2 - beta) a0 + beta a1) + s^2 c1 / m
//   v1 = v0 + s ((1 - gamma) a0 + gamma a1) + s c1 / m
//
// (c as the impulses of Bruls, Acary and Cardona 2014). A node that contact holds against f has the velocity of its
// place, and what it remembers as a and f is what it felt, f and c together: else flesh that is pressed against flesh
// would carry half a step of f as a velocity of its own, and be shot out when it comes free. Without c it is Chung and
// Hulbert's; without f it is backward Euler, so a node that meets a face or a bone stops there. Divided by beta (1 -
// af) / (1 - am), f1 is the gradient of the energies above, f0 a constant force that moves the targets. With c1 put in
// from the second line, v1 needs the places and a alone, and what the minimiser left over counts as c: it does not add
// up.
//
// Where a pose leaves the flesh no room (bones would give way) there are many places to be at, and flesh that moves is
// pushed into some tangle that it does not come out of; and a step that fails leaves forces that are none, which shoot
// the flesh away in the steps that follow. In both cases the motion begins again in the equilibrium of that frame, and
// once more in the first frame with room: the way there is none that flesh could take.
#include "flesh/flesh_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "volume/posing.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 400 };
static const jnaContactEffort EFFORT = {.rounds = 2, .enough = 1e-3, .stiffness = 20, .holds = 5};
enum { FRESH_AFTER = 60 };    // iterations of a run, after which another factor pays
enum { VELOCITY_PARTS = 16 }; // of a frame, either way: the skin's velocity at the start, whatever the steps

// The scheme and its factor for steps of so many seconds.
static jnResult PrepareSteps(jnaFleshSolver* solver, double step, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    const jnaVolume* v = flesh->def.volume;
    if (solver->scheme.step == step) {
        return jn_ok;
    }
    jnaDestroyPreconditioner(&solver->moving);
    solver->scheme.step = 0;
    jnaTimeScheme scheme = jnaMakeTimeScheme(flesh->def.integrator, step);
    jnaLaplacian* laplacian = NULL;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* diagonal = jnaArena_Take(&arena, v->nodeCount, sizeof(double));
    double* stiffness = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(double));
    int32_t* order = jnaArena_Take(&arena, v->nodeCount, sizeof(int32_t));
    JN_TRY(jnaArena_Check(&arena, "the flesh in motion", error));
    for (int n = 0; n < v->nodeCount; ++n) {
        int32_t p = flesh->places[n];
        diagonal[n] = flesh->mass[p] * (scheme.inertia + flesh->def.drag * scheme.rate);
        diagonal[n] += scheme.springs * flesh->springs[p];
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        stiffness[t] =
            flesh->stiffness[t] * (1 + flesh->def.damping * (1 + jnaVolume_Material(v, t)->extraDamping) * scheme.rate);
    }
    jnaLaplacianDef def = {
        .nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .stiffness = stiffness,
        .held = flesh->held,
        .diagonal = diagonal,
        .threads = 1,
    };
    JN_TRY(jnaCreateLaplacian(&def, &laplacian, error));
    JN_TRY(jnaCreatePreconditioner(laplacian, order, &solver->moving, error));
    // The pattern is that of the resting factor, and so is its order.
    JN_ASSERT(memcmp(order, flesh->order, (size_t)flesh->freeCount * sizeof(int32_t)) == 0);
    solver->scheme = scheme;
done:
    jnaDestroyLaplacian(laplacian);
    jnaReleaseArena(&arena);
    return result;
}

// Arrays of a state, each [nodeCount][3]. Generalised alpha has a in the place of the velocities before, and -f.
enum { NODES, VELOCITIES, NODES_BEFORE, VELOCITIES_BEFORE, FORCES, ACCELERATIONS = VELOCITIES_BEFORE };

size_t jnaFlesh_StateCount(const jnaFlesh* flesh)
{
    size_t arrays = flesh->def.integrator == jna_generalizedAlpha ? FORCES + 1 : FORCES;
    return arrays * 3 * (size_t)flesh->nodeCount;
}

static double* Part(const jnaFleshSolver* solver, double* state, int array)
{
    return state + (size_t)array * 3 * (size_t)solver->flesh->nodeCount;
}

static int StepsOf(const jnaFlesh* flesh, const jnaClip* clip)
{
    return flesh->def.substeps > 0 ? flesh->def.substeps : (int)ceil(JNA_STEPS_A_SECOND / clip->rate - 1e-9);
}

// Substep i of a frame, -1 being the one before it.
static void PoseSubstep(jnaFleshSolver* solver, const jnaClip* clip, int frame, int i, int substeps, double* skinned)
{
    jnaPoseBetween(solver, clip, i < 0 ? frame - 1 : frame, (double)(i < 0 ? i + substeps : i) / substeps);
    jnaVolume_Skin(solver->flesh->def.volume, solver->transforms, skinned);
    jnaPoseColliders(solver, i < 0 ? frame - 1 : frame, (double)(i < 0 ? i + substeps : i) / substeps);
}

// Forces in balance: of flesh and weight without what holds them. A node that is held stays where it is if v = s a / 2;
// viscosity is left out of that, for nothing balances it.
static void StartAlpha(jnaFleshSolver* solver, double step, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    double *velocities = Part(solver, state, VELOCITIES), *accelerations = Part(solver, state, ACCELERATIONS);
    double *forces = Part(solver, state, FORCES), *elastic = solver->gradient, *all = solver->trialGradient;
    jnaFleshProblem problem = {.flesh = flesh};
    jnaPadNodes(flesh, Part(solver, state, NODES_BEFORE), solver->x);
    flesh->kernels->measureStrains(&flesh->elements, solver->x, solver->strains);
    jnaPadNodes(flesh, Part(solver, state, NODES), solver->x);
    jnaFlesh_Evaluate(&problem, solver->x, elastic, NULL, NULL);
    problem.strains = (const jnaElementStrain*)solver->strains;
    problem.damping = flesh->def.damping / step;
    jnaFlesh_Evaluate(&problem, solver->x, all, NULL, NULL);
    memset(accelerations, 0, 6 * (size_t)flesh->nodeCount * sizeof(double));
    for (int p = 0; p < flesh->freeCount; ++p) {
        for (size_t k = 0; k < 3; ++k) {
            size_t i = 3 * (size_t)flesh->order[p] + k, at = 4 * (size_t)p + k;
            forces[i] = all[at];
            accelerations[i] = flesh->def.gravity[k] - all[at] / flesh->mass[p];
            velocities[i] += 0.5 * step * (flesh->def.gravity[k] - elastic[at] / flesh->mass[p]);
        }
    }
}

// At rest against the skin, which may be running: a clip that begins in motion does not begin with a jolt.
jnResult jnaFleshSolver_Start(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    jnResult result = jn_ok;
    JN_TRY(jnaFleshSolver_Pose(solver, clip, frame, state, report, error));
    JN_TRY(jnaCheckPosesAround(clip, frame, error));
    int substeps = StepsOf(flesh, clip);
    double *nodes = Part(solver, state, NODES), *velocities = Part(solver, state, VELOCITIES);
    double *before = Part(solver, state, NODES_BEFORE), *velocitiesBefore = Part(solver, state, VELOCITIES_BEFORE);
    PoseSubstep(solver, clip, frame, -1, VELOCITY_PARTS, solver->skinned[0]);
    PoseSubstep(solver, clip, frame, 1, VELOCITY_PARTS, solver->skinned[1]);
    for (size_t i = 0; i < 3 * (size_t)flesh->nodeCount; ++i) {
        velocities[i] = 0.5 * (solver->skinned[1][i] - solver->skinned[0][i]) * clip->rate * VELOCITY_PARTS;
    }
    PoseSubstep(solver, clip, frame, -1, substeps, solver->skinned[0]);
    PoseSubstep(solver, clip, frame, 0, substeps, solver->skinned[1]);
    for (size_t i = 0; i < 3 * (size_t)flesh->nodeCount; ++i) {
        // Nothing accelerates flesh in equilibrium: it was as fast before. Bones were where the clip had them.
        double step = velocities[i] / (clip->rate * substeps);
        before[i] = nodes[i] - (flesh->held[i / 3] ? solver->skinned[1][i] - solver->skinned[0][i] : step);
        velocitiesBefore[i] = velocities[i];
    }
    if (flesh->def.integrator == jna_generalizedAlpha) {
        StartAlpha(solver, 1 / (clip->rate * substeps), state);
    }
done:
    return result;
}

// What the past contributes to a rate.
static double Past(const jnaTimeScheme* scheme, double now, double before)
{
    return now + scheme->before * (now - before);
}

// The strains C* of a state.
static void FillPastStrains(jnaFleshSolver* solver, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    jnaPadNodes(flesh, Part(solver, state, NODES), solver->x);
    flesh->kernels->measureStrains(&flesh->elements, solver->x, solver->strains);
    if (solver->scheme.before == 0) {
        return;
    }
    jnaPadNodes(flesh, Part(solver, state, NODES_BEFORE), solver->x);
    flesh->kernels->measureStrains(&flesh->elements, solver->x, solver->strainsBefore);
    double *now = &solver->strains[0][0][0], *before = &solver->strainsBefore[0][0][0];
    size_t count = (size_t)flesh->elements.blockCount * sizeof(jnaElementStrain) / sizeof(double);
    for (size_t i = 0; i < count; ++i) {
        now[i] = Past(&solver->scheme, now[i], before[i]);
    }
}

// Where inertia and weight alone take a coordinate, from x*, x0, and the velocity and what the state has in its last
// array.
static double Ahead(const jnaTimeScheme* scheme, double old, double now, double velocity, double last, double gravity)
{
    double s = scheme->step;
    if (scheme->lead == 0) {
        return old + Past(scheme, velocity, last) / scheme->rate + gravity / scheme->inertia;
    }
    double most = scheme->beta / (1 - scheme->massAlpha); // of s^2 times an acceleration at the end
    return now + s * velocity + s * s * ((0.5 - scheme->beta - most * scheme->massAlpha) * last + most * gravity);
}

// What a step takes from the state: C*, x*, where inertia leads; and x, from where the search begins. What holds a node
// is not in a, so generalised alpha begins it where it was going.
static void FillPast(jnaFleshSolver* solver, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    const jnaTimeScheme* scheme = &solver->scheme;
    if (flesh->def.damping > 0) {
        FillPastStrains(solver, state);
    }
    const double *nodes = Part(solver, state, NODES), *velocities = Part(solver, state, VELOCITIES);
    const double *before = Part(solver, state, NODES_BEFORE), *last = Part(solver, state, VELOCITIES_BEFORE);
    for (int n = 0; n < flesh->nodeCount; ++n) {
        for (size_t k = 0; k < 3; ++k) {
            size_t i = 3 * (size_t)n + k, at = 4 * (size_t)flesh->places[n] + k;
            solver->old[at] = Past(scheme, nodes[i], before[i]);
            solver->ahead[at] = Ahead(scheme, solver->old[at], nodes[i], velocities[i], last[i], flesh->def.gravity[k]);
            solver->x[at] = scheme->lead > 0 ? 2 * nodes[i] - before[i] : solver->ahead[at];
        }
    }
}

// What pulls the free nodes over a step: inertia, drag along with skinning, f0; and where bones want them.
static void FillPulls(jnaFleshSolver* solver, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    const jnaTimeScheme* scheme = &solver->scheme;
    const double* forces = scheme->lead > 0 ? Part(solver, state, FORCES) : NULL;
    double share = scheme->forceAlpha / (1 - scheme->forceAlpha);
    jnaPlaceBones(solver);
    for (int p = 0; p < flesh->freeCount; ++p) {
        double inertia = flesh->mass[p] * scheme->inertia, drag = flesh->mass[p] * flesh->def.drag * scheme->rate;
        double spring = scheme->springs * flesh->springs[p], sum = inertia + drag;
        size_t node = 3 * (size_t)flesh->order[p];
        for (size_t k = 0; k < 3; ++k) {
            size_t i = 4 * (size_t)p + k;
            double skinned = Past(scheme, solver->skinned[1][node + k], solver->skinned[0][node + k]);
            double carried = solver->old[i] + solver->skinned[2][node + k] - skinned;
            double pull = inertia * solver->ahead[i] + drag * carried;
            pull -= forces != NULL ? share * forces[node + k] : 0;
            solver->pullTargets[i] = pull / sum;
            // A stiff spring leaves no doubt where its node will be.
            solver->x[i] += spring > 0 ? spring / (spring + sum) * (solver->boneTargets[i] - solver->x[i]) : 0;
        }
        solver->pulls[p] = sum;
    }
    jnaPlaceHeldNodes(solver, solver->x);
}

// The state after a step to solver->x, for backward Euler and BDF2.
static void EndStep(jnaFleshSolver* solver, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    size_t count = 3 * (size_t)flesh->nodeCount;
    memcpy(Part(solver, state, NODES_BEFORE), Part(solver, state, NODES), 2 * count * sizeof(double));
    jnaUnpadNodes(flesh, solver->x, Part(solver, state, NODES));
    double* velocities = Part(solver, state, VELOCITIES);
    for (int n = 0; n < flesh->nodeCount; ++n) {
        size_t place = 4 * (size_t)flesh->places[n];
        for (size_t k = 0; k < 3; ++k) {
            velocities[3 * (size_t)n + k] = (solver->x[place + k] - solver->old[place + k]) * solver->scheme.rate;
        }
    }
}

// Marks the nodes that contact holds, and their faces' corners: 1, others 0.
static void FindHolds(jnaFleshSolver* solver)
{
    const int32_t* places = solver->flesh->places;
    memset(solver->holds, 0, (size_t)solver->flesh->nodeCount * sizeof(double));
    for (int i = 0; solver->finder != NULL && i < solver->contacts.count; ++i) {
        const jnaContactPair* pair = &solver->contacts.pairs[i];
        solver->holds[places[pair->node]] = 1;
        for (int c = 0; c < 3; ++c) {
            solver->holds[places[pair->corners[c]]] = 1;
        }
    }
    if (solver->touching != NULL) {
        jnaHoldTouched(solver, solver->holds);
    }
}

// The same for generalised alpha, with the gradient of elements and viscosity at solver->x. Nothing reads a of held
// nodes.
static void EndAlpha(jnaFleshSolver* solver, const double* gradient, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    const jnaTimeScheme* scheme = &solver->scheme;
    double *nodes = Part(solver, state, NODES), *before = Part(solver, state, NODES_BEFORE);
    double *velocities = Part(solver, state, VELOCITIES), *accelerations = Part(solver, state, ACCELERATIONS);
    double *forces = Part(solver, state, FORCES), s = scheme->step, am = scheme->massAlpha, af = scheme->forceAlpha;
    for (int p = 0; p < flesh->nodeCount; ++p) {
        for (size_t k = 0; k < 3; ++k) {
            size_t i = 3 * (size_t)flesh->order[p] + k, at = 4 * (size_t)p + k;
            double was = accelerations[i], paced = velocities[i], hold = solver->holds[p];
            if (p < flesh->freeCount) {
                double skinned = Past(scheme, solver->skinned[1][i], solver->skinned[0][i]);
                double drift = (solver->x[at] - solver->old[at]) - (solver->skinned[2][i] - skinned);
                double force = gradient[at] + flesh->mass[p] * flesh->def.drag * scheme->rate * drift;
                double mean = ((1 - af) * force + af * forces[i]) / flesh->mass[p];
                accelerations[i] = (flesh->def.gravity[k] - mean - am * was) / (1 - am);
                forces[i] = force;
            }
            before[i] = nodes[i];
            nodes[i] = solver->x[at];
            double free = (nodes[i] - before[i]) / s + s * ((0.5 - scheme->gamma + scheme->beta) * was +
                                                               (scheme->gamma - scheme->beta) * accelerations[i]);
            velocities[i] = free + hold * ((nodes[i] - before[i]) / s - free);
            if (hold > 0 && p < flesh->freeCount) {
                double felt = (velocities[i] - paced) / s;
                accelerations[i] += hold * (felt - accelerations[i]);
                forces[i] += hold * (flesh->mass[p] * (flesh->def.gravity[k] - felt) - forces[i]);
            }
        }
    }
}

static jnResult Step(jnaFleshSolver* solver, double* state, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    FillPast(solver, state);
    FillPulls(solver, state);
    bool damped = flesh->def.damping > 0;
    jnaFleshProblem problem = {
        .flesh = flesh,
        .preconditioner = jnaFactorOf(solver, &solver->moving),
        .pulls = solver->pulls,
        .pullTargets = solver->pullTargets,
        .boneFactor = flesh->hasSprings ? solver->scheme.springs : 0,
        .boneTargets = solver->boneTargets,
        .boneBears = solver->boneBears,
        .strains = damped ? (const jnaElementStrain*)solver->strains : NULL,
        .damping = flesh->def.damping * solver->scheme.rate,
        .contactFactor = solver->scheme.springs,
        .tolerance = flesh->def.stepTolerance,
        .leastIterations = 1,
        .freshAfter = FRESH_AFTER,
        .mostIterations = MOST_ITERATIONS,
    };
    jnResult result = jnaSolveTouched(solver, &problem, &EFFORT, report, error);
    if (solver->scheme.lead > 0) {
        problem.pulls = NULL;
        problem.boneFactor = 0;
        problem.contacts = NULL;
        problem.touching = NULL;
        jnaFlesh_Evaluate(&problem, solver->x, solver->gradient, NULL, NULL);
        FindHolds(solver);
        EndAlpha(solver, solver->gradient, state);
    } else {
        EndStep(solver, state);
    }
    return result;
}

// What bones bear at the beginning and at the end of a frame, whose beginning is in skinned[1], and whether there is
// room.
static jnResult MeasureBears(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double bears[2], bool hasRoom[2], jnError* error)
{
    bears[0] = bears[1] = 1; // a metre is never reached
    hasRoom[0] = hasRoom[1] = true;
    for (int end = 0; solver->finder != NULL && end < 2; ++end) {
        jnaPenetration skinned;
        if (end == 1) {
            PoseSubstep(solver, clip, frame + 1, 0, 1, solver->skinned[2]);
        }
        JN_PASS(jnaContactFinder_Measure(solver->finder, solver->skinned[1 + end], &skinned, error));
        bears[end] = fmin(jnaBonesBear(solver->flesh, &skinned), 1);
        hasRoom[end] = !jnaIsWithoutRoom(solver->flesh, &skinned);
    }
    return jn_ok;
}

// All steps of one frame, until one fails. Where its beginning or its end is without room there are none, and the
// motion has to begin again.
static jnResult StepFrame(jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report,
    bool* again, jnError* error)
{
    int substeps = StepsOf(solver->flesh, clip);
    double worst = 0, bears[2];
    bool hasRoom[2];
    PoseSubstep(solver, clip, frame, -1, substeps, solver->skinned[0]);
    PoseSubstep(solver, clip, frame, 0, substeps, solver->skinned[1]);
    JN_PASS(MeasureBears(solver, clip, frame, bears, hasRoom, error));
    jnaForgetContacts(solver); // so that a resumed motion sees what an uninterrupted one does
    *again = !hasRoom[0] || !hasRoom[1];
    for (int i = 1; !*again && i <= substeps; ++i) {
        PoseSubstep(solver, clip, frame, i, substeps, solver->skinned[2]);
        solver->boneBears = bears[0] * pow(bears[1] / bears[0], (double)i / substeps);
        JN_PASS(Step(solver, state, report, error));
        double* oldest = solver->skinned[0];
        solver->skinned[0] = solver->skinned[1];
        solver->skinned[1] = solver->skinned[2];
        solver->skinned[2] = oldest;
        worst = report->residual <= worst ? worst : report->residual; // NaN is worse
        *again = !report->converged;
        if (*again) {
            snprintf(report->reason, sizeof(report->reason), "residual %.1e in step %d of %d", worst, i, substeps);
        }
    }
    report->residual = worst;
    return jn_ok;
}

// Begins again in the equilibrium of a frame. What the report says of steps that led there stays. Without room an
// equilibrium that is not found is no failure of the motion: it begins again in the next frame.
static jnResult Restart(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report, jnError* error)
{
    jnaFleshReport pose, before = *report;
    JN_PASS(jnaFleshSolver_Start(solver, clip, jnaClip_Neighbour(clip, frame), state, &pose, error));
    *report = pose;
    report->iterations += before.iterations;
    report->evaluations += before.evaluations;
    report->time.forces += before.time.forces;
    report->time.solve += before.time.solve;
    report->time.contact += before.time.contact;
    if (before.reason[0] != '\0') {
        report->converged = false;
        report->residual = before.residual;
        memcpy(report->reason, before.reason, sizeof(report->reason));
    } else if (report->withoutRoom) {
        report->converged = true;
        report->reason[0] = '\0';
    }
    return jn_ok;
}

jnResult jnaFleshSolver_Advance(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    memset(report, 0, sizeof(*report));
    double started = jnaSeconds();
    int substeps = StepsOf(flesh, clip);
    size_t bytes = jnaFlesh_StateCount(flesh) * sizeof(double);
    double* next = NULL;
    bool again;
    jnResult result = jn_ok;
    JN_TRY(jnaCheckPosesAround(clip, frame, error));
    JN_TRY(PrepareSteps(solver, 1 / (clip->rate * substeps), error));
    // A failure leaves the state as it was.
    next = malloc(bytes);
    if (next == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory to move flesh of %d nodes", flesh->nodeCount));
    }
    memcpy(next, state, bytes);
    JN_TRY(StepFrame(solver, clip, frame, next, report, &again, error));
    if (again) {
        JN_TRY(Restart(solver, clip, frame + 1, next, report, error));
    }
    memcpy(state, next, bytes);
done:
    free(next);
    report->seconds = jnaSeconds() - started;
    report->time.other = report->seconds - report->time.forces - report->time.solve - report->time.contact;
    return result;
}
