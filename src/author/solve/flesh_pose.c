// Quasistatic poses: rest to pose in steps, each solved with contact.
//
// Equilibria are not unique, so every pose is reached the same way: the joints turn from rest to the pose in a number
// of equal steps that depends on the pose alone, the flesh is carried along by skinning and relaxed at each. Only the
// last is solved to the end.
#include "flesh_internal.h"

#include "jounce-author/inside.h"

#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PATH_TOLERANCE = 1e-2; // of steps on the way
static const double ANGLE_PER_STEP = 0.6;  // radians that a joint may turn in one step
enum { MOST_ITERATIONS = 1500, PATH_ITERATIONS = 150, PATH_ROUNDS = 2, LAST_ROUNDS = 12 };

bool jnaPullToBones(jnaFleshSolver* solver)
{
    const jnaFlesh* flesh = solver->flesh;
    if (!flesh->hasSprings) {
        return false;
    }
    for (int p = 0; p < flesh->freeCount; ++p) {
        solver->pulls[p] = flesh->springs[p];
        if (flesh->springs[p] > 0) {
            jnaVolume_HeldPosition(
                flesh->def.volume, solver->transforms, flesh->order[p], solver->pullTargets + 4 * (size_t)p);
        }
    }
    return true;
}

// One step of the path, from the pose before to `share` of the way.
static jnResult StepPath(jnaFleshSolver* solver, const jnaClip* clip, int frame, double share, bool last,
    jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    memcpy(solver->oldTransforms, solver->transforms, 12 * (size_t)flesh->def.character->jointCount * sizeof(double));
    jnaPoseOnPath(solver, clip, frame, share);
    jnaCarryNodes(solver);
    bool pulled = jnaPullToBones(solver);
    jnaFleshProblem problem = {
        .flesh = flesh,
        .preconditioner = &flesh->still,
        .pulls = pulled ? solver->pulls : NULL,
        .pullTargets = solver->pullTargets,
        .gravity = flesh->hasGravity,
        .contactFactor = 1,
        .tolerance = last ? flesh->def.poseTolerance : PATH_TOLERANCE,
        .mostIterations = last ? MOST_ITERATIONS : PATH_ITERATIONS,
    };
    return jnaSolveWithContact(solver, &problem, last ? LAST_ROUNDS : PATH_ROUNDS, last, report, error);
}

static jnResult FollowPath(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, int steps, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    jnaPadNodes(flesh, flesh->def.volume->nodes, solver->x);
    jnaPoseTransforms(flesh->def.character, NULL, 0, solver->transforms);
    jnaBallTransforms(flesh->def.character, solver->transforms);
    jnaForgetContacts(solver);
    report->pathSteps = steps;
    jnResult result = jn_ok;
    for (int i = 1; result == jn_ok && i <= steps; ++i) {
        result = StepPath(solver, clip, frame, (double)i / steps, i == steps, report, error);
    }
    return result;
}

static void Judge(jnaFleshReport* report)
{
    static const double MOST_DEPTH = 5e-3, MOST_VOLUME = 2e-6; // metres, m3
    report->reason[0] = 0;
    if (!report->converged) {
        snprintf(report->reason, sizeof(report->reason), "residual %.1e after %d iterations", report->residual,
            report->iterations);
    } else if (report->solved.depth > MOST_DEPTH || report->solved.volume > MOST_VOLUME) {
        snprintf(report->reason, sizeof(report->reason), "%.1f mm, %.1f cm3 of flesh inside flesh",
            1e3 * report->solved.depth, 1e6 * report->solved.volume);
    }
    report->converged = report->reason[0] == 0;
}

// What a pose begins with, whatever the path: checks, and the penetration of skinning.
static jnResult BeginPose(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    memset(report, 0, sizeof(*report));
    jnResult result = jnaCheckPose(clip, frame, error);
    if (result != jn_ok) {
        return result;
    }
    if (solver->finder == NULL) {
        return jn_ok;
    }
    jnaPoseTransforms(flesh->def.character, clip, frame, solver->transforms);
    jnaBallTransforms(flesh->def.character, solver->transforms);
    jnaVolume_Skin(flesh->def.volume, solver->transforms, solver->unpadded);
    return jnaContactFinder_Measure(solver->finder, solver->unpadded, &report->skinned, error);
}

static void EndPose(jnaFleshSolver* solver, double started, double* nodes, jnaFleshReport* report)
{
    jnaUnpadNodes(solver->flesh, solver->x, nodes);
    report->seconds = jnaSeconds() - started;
    report->time.other = report->seconds - report->time.forces - report->time.solve - report->time.contact;
}

jnResult jnaFleshSolver_PoseInSteps(jnaFleshSolver* solver, const jnaClip* clip, int frame, int steps, double* nodes,
    jnaFleshReport* report, jnError* error)
{
    double started = jnaSeconds();
    jnResult result = BeginPose(solver, clip, frame, report, error);
    result = result == jn_ok ? FollowPath(solver, clip, frame, steps, report, error) : result;
    if (result == jn_ok) {
        Judge(report);
        EndPose(solver, started, nodes, report);
    }
    return result;
}

jnResult jnaFleshSolver_Pose(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* nodes, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    double started = jnaSeconds();
    jnResult begun = BeginPose(solver, clip, frame, report, error);
    if (begun != jn_ok) {
        return begun;
    }
    int steps = (int)ceil(jnaPoseAngle(flesh->def.character, clip, frame) / ANGLE_PER_STEP);
    steps = steps > flesh->def.pathSteps ? steps : flesh->def.pathSteps;
    jnResult result = FollowPath(solver, clip, frame, steps, report, error);
    if (result != jn_ok) {
        return result;
    }
    Judge(report);
    EndPose(solver, started, nodes, report);
    return jn_ok;
}
