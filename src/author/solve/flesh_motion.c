// Motion of the flesh, implicit in time. Both integrators are one formula with different pasts: with the step h of
// backward Euler, or two thirds of it for BDF2,
//
//   v = (x - x*) / h        x* = x0                   or (4 x0 - x-1) / 3        (v* from v0, v-1 alike)
//
// and each step minimises
//
//   sum m/(2 h^2) |x - (x* + h v*)|^2 + drag m/(2 h) |(x - x*) - (s - s*)|^2 + elastic energy + viscosity + contact
//
// with s the skinned place of a node. Drag is measured against the skinned motion, so that it does not hold back a body
// that runs. The quadratic terms of a node are added up to one pull to one target. Viscosity acts on the change of
// strain from its own past, C* = C0 or (4 C0 - C-1) / 3, which turning alone does not change.
#include "flesh_internal.h"

#include "jounce-author/inside.h"

#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 400 };
static const jnaContactEffort EFFORT = {.rounds = 2, .enough = 1e-3, .stiffness = 20, .holds = 5};
static const double STEPS_A_SECOND = 240; // by default; see docs/simulation.md

// The factor for steps of h.
static jnResult PrepareSteps(jnaFleshSolver* solver, double h, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    const jnaVolume* v = flesh->def.volume;
    if (solver->stepSeconds == h) {
        return jn_ok;
    }
    jnaDestroyPreconditioner(&solver->moving);
    solver->stepSeconds = 0;
    size_t nodes = (size_t)v->nodeCount, elements = (size_t)v->tetrahedronCount;
    double* diagonal = malloc((nodes + 1) * sizeof(double));
    double* stiffness = malloc((elements + 1) * sizeof(double));
    int32_t* order = malloc((nodes + 1) * sizeof(int32_t));
    jnaLaplacian* laplacian = NULL;
    jnResult result = jn_ok;
    if (diagonal == NULL || stiffness == NULL || order == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory to move flesh of %d nodes", v->nodeCount);
        goto done;
    }
    for (size_t n = 0; n < nodes; ++n) {
        int32_t p = flesh->places[n];
        diagonal[n] = flesh->mass[p] * (1 / (h * h) + flesh->def.drag / h) + flesh->springs[p];
    }
    for (size_t t = 0; t < elements; ++t) {
        stiffness[t] = flesh->stiffness[t] * (1 + flesh->def.damping / h);
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
    result = jnaCreateLaplacian(&def, &laplacian, error);
    if (result == jn_ok) {
        // The pattern is that of the resting factor, and so is its order.
        result = jnaCreatePreconditioner(laplacian, order, &solver->moving, error);
        JN_ASSERT(result != jn_ok || memcmp(order, flesh->order, (size_t)flesh->freeCount * sizeof(int32_t)) == 0);
    }
    if (result == jn_ok) {
        solver->stepSeconds = h;
    }
done:
    jnaDestroyLaplacian(laplacian);
    free(diagonal);
    free(stiffness);
    free(order);
    return result;
}

// Arrays of a state, each [nodeCount][3].
enum { NODES, VELOCITIES, NODES_BEFORE, VELOCITIES_BEFORE, STATE_ARRAYS };

size_t jnaFlesh_StateCount(const jnaFlesh* flesh)
{
    return STATE_ARRAYS * 3 * (size_t)flesh->nodeCount;
}

static double* Part(const jnaFleshSolver* solver, double* state, int array)
{
    return state + (size_t)array * 3 * (size_t)solver->flesh->nodeCount;
}

static int StepsOf(const jnaFlesh* flesh, const jnaClip* clip)
{
    return flesh->def.substeps > 0 ? flesh->def.substeps : (int)ceil(STEPS_A_SECOND / clip->rate - 1e-9);
}

// Substep i of a frame, -1 being the one before it.
static void PoseSubstep(jnaFleshSolver* solver, const jnaClip* clip, int frame, int i, int substeps, double* skinned)
{
    jnaPoseBetween(solver, clip, i < 0 ? frame - 1 : frame, (double)(i < 0 ? i + substeps : i) / substeps);
    jnaVolume_Skin(solver->flesh->def.volume, solver->transforms, skinned);
}

// At rest against the skin, which may be running: a clip that begins in motion does not begin with a jolt.
jnResult jnaFleshSolver_Start(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    jnResult result = jnaFleshSolver_Pose(solver, clip, frame, state, report, error);
    result = result == jn_ok ? jnaCheckPosesAround(clip, frame, error) : result;
    if (result != jn_ok) {
        return result;
    }
    int substeps = StepsOf(flesh, clip);
    PoseSubstep(solver, clip, frame, -1, substeps, solver->skinned[0]);
    PoseSubstep(solver, clip, frame, 0, substeps, solver->skinned[1]);
    double *nodes = Part(solver, state, NODES), *velocities = Part(solver, state, VELOCITIES);
    double *before = Part(solver, state, NODES_BEFORE), *velocitiesBefore = Part(solver, state, VELOCITIES_BEFORE);
    for (size_t i = 0; i < 3 * (size_t)flesh->nodeCount; ++i) {
        double step = solver->skinned[1][i] - solver->skinned[0][i];
        before[i] = nodes[i] - step;
        velocities[i] = velocitiesBefore[i] = step * clip->rate * substeps;
    }
    return jn_ok;
}

// What the past contributes: `now`, or (4 now - before) / 3.
static double Past(const jnaFlesh* flesh, double now, double before)
{
    return flesh->def.integrator == jna_bdf2 ? now + (now - before) / 3 : now;
}

// x*, v* and the strains C* of a state.
static void FillPast(jnaFleshSolver* solver, double* state)
{
    const jnaFlesh* flesh = solver->flesh;
    double* to[2] = {solver->old, solver->pace};
    if (flesh->def.damping > 0) {
        jnaPadNodes(flesh, Part(solver, state, NODES), solver->x);
        flesh->kernels->measureStrains(&flesh->elements, solver->x, solver->strains);
        jnaPadNodes(flesh, Part(solver, state, NODES_BEFORE), solver->x);
        flesh->kernels->measureStrains(&flesh->elements, solver->x, solver->strainsBefore);
        double *now = &solver->strains[0][0][0], *before = &solver->strainsBefore[0][0][0];
        size_t count = (size_t)flesh->elements.blockCount * sizeof(jnaElementStrain) / sizeof(double);
        for (size_t i = 0; i < count; ++i) {
            now[i] = Past(flesh, now[i], before[i]);
        }
    }
    for (int array = NODES; array <= VELOCITIES; ++array) {
        const double *now = Part(solver, state, array), *before = Part(solver, state, array + NODES_BEFORE);
        for (int n = 0; n < flesh->nodeCount; ++n) {
            double* padded = to[array] + 4 * (size_t)flesh->places[n];
            for (size_t k = 0; k < 3; ++k) {
                padded[k] = Past(flesh, now[3 * (size_t)n + k], before[3 * (size_t)n + k]);
            }
            padded[3] = 0;
        }
    }
}

// What pulls the free nodes over a step: inertia from x* with v*, drag along with skinning, springs of bones. The
// inertial guess is where the search begins.
static void FillPulls(jnaFleshSolver* solver, double h)
{
    const jnaFlesh* flesh = solver->flesh;
    for (int p = 0; p < flesh->freeCount; ++p) {
        double m = flesh->mass[p], inertia = m / (h * h), drag = flesh->def.drag * m / h, spring = flesh->springs[p];
        double bone[3] = {0}, sum = inertia + drag + spring;
        if (spring > 0) {
            jnaVolume_HeldPosition(flesh->def.volume, solver->transforms, flesh->order[p], bone);
        }
        size_t node = 3 * (size_t)flesh->order[p];
        for (size_t k = 0; k < 3; ++k) {
            size_t i = 4 * (size_t)p + k;
            double skinned = Past(flesh, solver->skinned[1][node + k], solver->skinned[0][node + k]);
            double guess = solver->old[i] + h * solver->pace[i] + h * h * flesh->def.gravity[k];
            double carried = solver->old[i] + solver->skinned[2][node + k] - skinned;
            solver->pullTargets[i] = (inertia * guess + drag * carried + spring * bone[k]) / sum;
            solver->x[i] = guess;
        }
        solver->x[4 * (size_t)p + 3] = 0;
        solver->pulls[p] = sum;
    }
    jnaPlaceHeldNodes(solver, solver->x);
}

static jnResult Step(jnaFleshSolver* solver, double h, double* state, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    FillPast(solver, state);
    FillPulls(solver, h);
    bool damped = flesh->def.damping > 0;
    jnaFleshProblem problem = {
        .flesh = flesh,
        .preconditioner = &solver->moving,
        .pulls = solver->pulls,
        .pullTargets = solver->pullTargets,
        .strains = damped ? (const jnaElementStrain*)solver->strains : NULL,
        .damping = flesh->def.damping / h,
        .tolerance = flesh->def.stepTolerance,
        .leastIterations = 1,
        .mostIterations = MOST_ITERATIONS,
    };
    jnResult result = jnaSolveWithContact(solver, &problem, &EFFORT, report, error);
    size_t count = 3 * (size_t)flesh->nodeCount;
    memcpy(Part(solver, state, NODES_BEFORE), Part(solver, state, NODES), 2 * count * sizeof(double));
    jnaUnpadNodes(flesh, solver->x, Part(solver, state, NODES));
    double* velocities = Part(solver, state, VELOCITIES);
    for (int n = 0; n < flesh->nodeCount; ++n) {
        size_t place = 4 * (size_t)flesh->places[n];
        for (size_t k = 0; k < 3; ++k) {
            velocities[3 * (size_t)n + k] = (solver->x[place + k] - solver->old[place + k]) / h;
        }
    }
    return result;
}

// All steps of one frame.
static jnResult StepFrame(jnaFleshSolver* solver, const jnaClip* clip, int frame, int substeps, double* state,
    jnaFleshReport* report, jnError* error)
{
    double worst = 0;
    int failed = 0;
    PoseSubstep(solver, clip, frame, -1, substeps, solver->skinned[0]);
    PoseSubstep(solver, clip, frame, 0, substeps, solver->skinned[1]);
    jnaForgetContacts(solver); // so that a resumed motion sees what an uninterrupted one does
    for (int i = 1; i <= substeps; ++i) {
        PoseSubstep(solver, clip, frame, i, substeps, solver->skinned[2]);
        jnResult result = Step(solver, solver->stepSeconds, state, report, error);
        if (result != jn_ok) {
            return result;
        }
        double* oldest = solver->skinned[0];
        solver->skinned[0] = solver->skinned[1];
        solver->skinned[1] = solver->skinned[2];
        solver->skinned[2] = oldest;
        failed += !report->converged;
        worst = report->residual <= worst ? worst : report->residual; // NaN is worse
    }
    // One bad step spoils the frame, wherever it was.
    report->converged = failed == 0;
    report->residual = worst;
    if (failed > 0) {
        snprintf(report->reason, sizeof(report->reason), "residual %.1e in %d of %d steps", worst, failed, substeps);
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
    double h = (flesh->def.integrator == jna_bdf2 ? 2.0 / 3.0 : 1) / (clip->rate * substeps);
    jnResult result = jnaCheckPosesAround(clip, frame, error);
    result = result == jn_ok ? PrepareSteps(solver, h, error) : result;
    if (result != jn_ok) {
        return result;
    }
    // A failure leaves the state as it was.
    size_t bytes = jnaFlesh_StateCount(flesh) * sizeof(double);
    double* next = malloc(bytes);
    if (next == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to move flesh of %d nodes", flesh->nodeCount);
    }
    memcpy(next, state, bytes);
    result = StepFrame(solver, clip, frame, substeps, next, report, error);
    if (result == jn_ok) {
        memcpy(state, next, bytes);
    }
    free(next);
    report->seconds = jnaSeconds() - started;
    report->time.other = report->seconds - report->time.forces - report->time.solve - report->time.contact;
    return result;
}
