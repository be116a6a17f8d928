// Motion of the flesh by backward Euler: each step minimises
//
//   sum m/(2 h^2) |x - (x0 + h v0)|^2 + drag m/(2 h) |(x - x0) - (s - s0)|^2 + elastic energy + viscosity + contact
//
// with s the skinned place of a node. Drag is measured against the skinned motion, so that it does not hold back a body
// that runs. The quadratic terms of a node are added up to one pull to one target.
#include "flesh_internal.h"

#include "jounce-author/inside.h"

#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 400, ROUNDS = 2 };
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

jnResult jnaFleshSolver_Start(jnaFleshSolver* solver, const jnaClip* clip, int frame, jnaFleshState* state,
    jnaFleshReport* report, jnError* error)
{
    memset(state->velocities, 0, 3 * (size_t)solver->flesh->nodeCount * sizeof(double));
    return jnaFleshSolver_Pose(solver, clip, frame, state->nodes, report, error);
}

// What pulls the free nodes over a step: inertia from x0 with v0, drag along with skinning, springs of bones.
// solver->old holds x0 and solver->x the velocities; x is overwritten with the inertial guess.
static void FillPulls(jnaFleshSolver* solver, double h, const double* skinnedBefore, const double* skinned)
{
    const jnaFlesh* flesh = solver->flesh;
    for (int p = 0; p < flesh->freeCount; ++p) {
        double m = flesh->mass[p], inertia = m / (h * h), drag = flesh->def.drag * m / h, spring = flesh->springs[p];
        double bone[3] = {0}, sum = inertia + drag + spring;
        if (spring > 0) {
            jnaBoneTarget(solver, flesh->order[p], bone);
        }
        size_t node = 3 * (size_t)flesh->order[p];
        for (size_t k = 0; k < 3; ++k) {
            size_t i = 4 * (size_t)p + k;
            double guess = solver->old[i] + h * solver->x[i] + h * h * flesh->def.gravity[k];
            double carried = solver->old[i] + skinned[node + k] - skinnedBefore[node + k];
            solver->pullTargets[i] = (inertia * guess + drag * carried + spring * bone[k]) / sum;
            solver->x[i] = guess;
        }
        solver->pulls[p] = sum;
    }
}

static jnResult Step(jnaFleshSolver* solver, double h, double* const skinned[2], jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    jnaVolume_Skin(flesh->def.volume, solver->transforms, skinned[1]);
    FillPulls(solver, h, skinned[0], skinned[1]);
    jnaPlaceHeldNodes(solver, solver->x);
    bool damped = flesh->def.damping > 0;
    if (damped) {
        flesh->kernels->measureStrains(&flesh->elements, solver->old, solver->strains);
    }
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
    return jnaSolveWithContact(solver, &problem, ROUNDS, report, error);
}

// All steps of one frame. work: [4][nodeCount][3]: skinned before and after a step, nodes and velocities, which are
// given and moved on.
static jnResult StepFrame(jnaFleshSolver* solver, const jnaClip* clip, int frame, int substeps, double* const work[4],
    jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    size_t numbers = 3 * (size_t)flesh->nodeCount;
    double h = 1 / (clip->rate * substeps), *nodes = work[2], *velocities = work[3], worst = 0;
    int failed = 0;
    jnaPoseBetween(solver, clip, frame, 0);
    jnaVolume_Skin(flesh->def.volume, solver->transforms, work[0]);
    solver->contacts.count = 0; // so that a resumed motion sees what an uninterrupted one does
    for (int i = 1; i <= substeps; ++i) {
        jnaPadNodes(flesh, nodes, solver->old);
        jnaPadNodes(flesh, velocities, solver->x);
        jnaPoseBetween(solver, clip, frame, (double)i / substeps);
        jnResult result = Step(solver, h, work, report, error);
        if (result != jn_ok) {
            return result;
        }
        jnaUnpadNodes(flesh, solver->x, solver->unpadded);
        for (size_t k = 0; k < numbers; ++k) {
            velocities[k] = (solver->unpadded[k] - nodes[k]) / h;
        }
        memcpy(nodes, solver->unpadded, numbers * sizeof(double));
        memcpy(work[0], work[1], numbers * sizeof(double));
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

jnResult jnaFleshSolver_Advance(jnaFleshSolver* solver, const jnaClip* clip, int frame, jnaFleshState* state,
    jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    memset(report, 0, sizeof(*report));
    double started = jnaSeconds();
    int substeps = flesh->def.substeps > 0 ? flesh->def.substeps : (int)ceil(STEPS_A_SECOND / clip->rate - 1e-9);
    size_t numbers = 3 * (size_t)flesh->nodeCount, bytes = numbers * sizeof(double);
    jnResult result = jnaCheckPosesAround(clip, frame, error);
    if (result == jn_ok) {
        result = PrepareSteps(solver, 1 / (clip->rate * substeps), error);
    }
    if (result != jn_ok) {
        return result;
    }
    double* block = malloc(4 * bytes);
    if (block == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to move flesh of %d nodes", flesh->nodeCount);
    }
    double* const work[4] = {block, block + numbers, block + 2 * numbers, block + 3 * numbers};
    memcpy(work[2], state->nodes, bytes);
    memcpy(work[3], state->velocities, bytes);
    result = StepFrame(solver, clip, frame, substeps, work, report, error);
    if (result == jn_ok) {
        memcpy(state->nodes, work[2], bytes);
        memcpy(state->velocities, work[3], bytes);
    }
    free(block);
    report->seconds = jnaSeconds() - started;
    report->time.other = report->seconds - report->time.forces - report->time.solve - report->time.contact;
    return result;
}
