// Quasistatic poses: rest to pose in steps, each solved with contact.
//
// Equilibria are not unique, so every pose is reached the same way: the joints turn from rest to the pose in a number
// of equal steps that depends on the pose alone, the flesh is carried along by skinning and relaxed at each. Only the
// last is solved to the end.
#include "flesh/flesh_internal.h"

#include "volume/posing.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_TOLERANCE 1e-2 // of steps on the way
// Radians that a joint may turn in one step, and where skinning drives flesh into flesh: there a long step may carry a
// fold over to the wrong side of what it meets, and a pose lands in another equilibrium than its neighbour.
#define ANGLE_PER_STEP 0.6
#define TOUCHING_ANGLE 0.2
// Metres that skinning may drive flesh into flesh in one step. Pairs are right when surfaces meet, and follow along in
// small steps; in long ones limbs jump through each other. 10 mm, with
// two rounds a step instead of one, left more volume in five of seven deep folds; less was not tried.
#define DEPTH_PER_STEP 5e-3
enum { MOST_ITERATIONS = 1500, PATH_ITERATIONS = 150, MOST_STEPS = 40 };
// Soft flesh pressed by firm flesh needs a stiffer penalty than steps in time do, or offsets that take long to grow.
static const jnaContactEffort ON_THE_WAY = {.rounds = 4, .enough = 1e-3, .stiffness = 80, .firm = true};
static const jnaContactEffort AT_THE_END = {.rounds = 6, .enough = 1e-3, .stiffness = 80, .holds = 24, .firm = true};

// What is solved at a place of the path.
static jnaFleshProblem MakeProblem(const jnaFleshSolver* solver, const jnaFleshReport* report, bool last)
{
    const jnaFlesh* flesh = solver->flesh;
    return (jnaFleshProblem){
        .flesh = flesh,
        .preconditioner = jnaFactorOf(solver, &flesh->still),
        .boneFactor = flesh->hasSprings ? 1 : 0,
        .boneTargets = solver->boneTargets,
        .boneBears = jnaBonesBear(flesh, &report->skinned),
        .gravity = flesh->hasGravity,
        .contactFactor = 1,
        .tolerance = last ? flesh->def.poseTolerance : PATH_TOLERANCE,
        .mostIterations = last ? MOST_ITERATIONS : PATH_ITERATIONS,
    };
}

// One step of the path, from the pose before to `share` of the way.
static jnResult StepPath(jnaFleshSolver* solver, const jnaClip* clip, int frame, double share, bool last,
    jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    memcpy(solver->oldTransforms, solver->transforms, 12 * (size_t)flesh->def.character->jointCount * sizeof(double));
    jnaPoseOnPath(solver, clip, frame, share);
    jnaCarryNodes(solver);
    jnaPlaceBones(solver);
    jnaFleshProblem problem = MakeProblem(solver, report, last);
    return jnaSolveWithContact(solver, &problem, last ? &AT_THE_END : &ON_THE_WAY, report, error);
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
    bool touched = solver->touching != NULL && solver->touching->count > 0;
    jnResult result = jn_ok;
    for (int i = 1; result == jn_ok && i <= steps; ++i) {
        result = StepPath(solver, clip, frame, (double)i / steps, i == steps && !touched, report, error);
    }
    if (result == jn_ok && touched) {
        jnaPoseColliders(solver, frame, 0);
        jnaFleshProblem problem = MakeProblem(solver, report, true);
        result = jnaPressColliders(solver, &problem, &AT_THE_END, report, error);
    }
    return result;
}

// The joint that moves the deepest node of the last look most; its name, or nothing.
static const char* DeepestJoint(const jnaFleshSolver* solver)
{
    const jnaVolume* v = solver->flesh->def.volume;
    const double* depths = jnaContactFinder_Depths(solver->finder);
    int deepest = 0, joint = -1;
    for (int n = 1; n < v->nodeCount; ++n) {
        deepest = depths[n] > depths[deepest] ? n : deepest;
    }
    float most = 0;
    for (int32_t i = v->rowStarts[deepest]; i < v->rowStarts[deepest + 1]; ++i) {
        joint = v->weights[i] > most ? v->joints[i] : joint;
        most = fmaxf(most, v->weights[i]);
    }
    return joint >= 0 ? solver->flesh->def.character->joints[joint].name : "";
}

// Says why a pose failed, the cause first.
static void Judge(const jnaFleshSolver* solver, jnaFleshReport* report)
{
    const jnaJoint* joints = solver->flesh->def.character->joints;
    char bones[2 * JNA_NAME_LENGTH + 64] = "", why[JNA_NAME_LENGTH + 128] = "";
    if (report->solved.depth > JNA_MOST_DEPTH || report->solved.volume > JNA_MOST_VOLUME) {
        snprintf(why, sizeof(why), "%.1f mm, %.1f cm3 of flesh inside flesh at %.32s", 1e3 * report->solved.depth,
            1e6 * report->solved.volume, DeepestJoint(solver));
    } else if (!report->converged) {
        snprintf(why, sizeof(why), "residual %.1e after %d iterations", report->residual, report->iterations);
    }
    report->converged = why[0] == 0;
    if (!report->converged && report->bones.depth > 0) {
        snprintf(bones, sizeof(bones), "bones overlap by %.0f mm: %.24s, %.24s; ", 1e3 * report->bones.depth,
            joints[report->bones.joints[0]].name, joints[report->bones.joints[1]].name);
    }
    snprintf(report->reason, sizeof(report->reason), "%s%s", bones, why);
}

// What a pose begins with, whatever the path: checks, and the penetration of skinning.
static jnResult BeginPose(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, jnaFleshReport* report, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    memset(report, 0, sizeof(*report));
    JN_PASS(jnaCheckPose(clip, frame, error));
    if (solver->finder == NULL) {
        return jn_ok;
    }
    jnaPoseTransforms(flesh->def.character, clip, frame, solver->transforms);
    jnaBallTransforms(flesh->def.character, solver->transforms);
    jnaVolume_Skin(flesh->def.volume, solver->transforms, solver->unpadded);
    JN_PASS(jnaContactFinder_Measure(solver->finder, solver->unpadded, &report->skinned, error));
    report->withoutRoom = jnaIsWithoutRoom(flesh, &report->skinned);
    return jnaPosedBones_Overlap(solver->bones, solver->transforms, &report->bones, error);
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
    JN_PASS(BeginPose(solver, clip, frame, report, error));
    JN_PASS(FollowPath(solver, clip, frame, steps, report, error));
    Judge(solver, report);
    EndPose(solver, started, nodes, report);
    return jn_ok;
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
    double anglePerStep = report->skinned.depth > 0 ? TOUCHING_ANGLE : ANGLE_PER_STEP;
    int turns = (int)ceil(jnaPoseAngle(flesh->def.character, clip, frame) / anglePerStep);
    int deep = (int)fmin(ceil(report->skinned.depth / DEPTH_PER_STEP), MOST_STEPS);
    int steps = turns > deep ? turns : deep;
    steps = steps > flesh->def.pathSteps ? steps : flesh->def.pathSteps;
    JN_PASS(FollowPath(solver, clip, frame, steps, report, error));
    Judge(solver, report);
    EndPose(solver, started, nodes, report);
    return jn_ok;
}
