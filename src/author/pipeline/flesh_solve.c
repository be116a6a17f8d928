// The flesh as the function table of a job: one shared jnaFlesh, a solver per thread.
#include "pipeline/simulation.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// The first worker makes what all share: a run that finds everything done never pays for it.
jnResult jnaSimulation_ShareFlesh(jnaSimulation* s, jnError* error)
{
    pthread_mutex_lock(&s->mutex);
    jnResult result = s->flesh == NULL ? jnaCreateFlesh(&s->fleshDef, &s->flesh, error) : jn_ok;
    s->solve.stateCount = result == jn_ok ? jnaFlesh_StateCount(s->flesh) : 0;
    pthread_mutex_unlock(&s->mutex);
    return result;
}

static void Close(void* user)
{
    jnaFleshWorker* worker = user;
    jnaDestroyFleshSolver(worker->solver);
    free(worker->nodes);
    free(worker);
}

static jnResult Open(void* user, void** opened, jnError* error)
{
    jnaSimulation* s = user;
    jnaFleshWorker* worker = calloc(1, sizeof(*worker));
    jnResult result =
        worker != NULL ? jnaSimulation_ShareFlesh(s, error) : jnFail(error, jn_outOfMemory, "out of memory to solve");
    if (result == jn_ok) {
        worker->tolerance = s->fleshDef.poseTolerance;
        worker->nodes = malloc(3 * (size_t)s->volume->nodeCount * sizeof(double) + 1);
        result = worker->nodes != NULL ? jnaCreateFleshSolver(s->flesh, &worker->solver, error)
                                       : jnFail(error, jn_outOfMemory, "out of memory to solve");
    }
    if (result != jn_ok && worker != NULL) {
        Close(worker);
        worker = NULL;
    }
    *opened = worker;
    return result;
}

// Each further effort takes twice the steps of the one before: a rule, so that a label stays a function of the pose.
static jnResult Pose(
    void* user, const jnaClip* clip, int frame, int effort, float* positions, jnaFleshReport* report, jnError* error)
{
    jnaFleshWorker* w = user;
    JN_PASS(effort == 0
                ? jnaFleshSolver_Pose(w->solver, clip, frame, w->nodes, report, error)
                : jnaFleshSolver_PoseInSteps(w->solver, clip, frame, 2 * w->lastSteps, w->nodes, report, error));
    w->lastSteps = report->pathSteps;
    jnaFleshSolver_Surface(w->solver, clip, frame, w->nodes, positions);
    return jn_ok;
}

// Metres, m3: flesh that is deeper inside flesh has no room; of 16 such poses of a human body a finer path freed none,
// at twice the time.
#define NO_ROOM_DEPTH 8e-3
#define NO_ROOM_VOLUME 5e-5

// A finer path helps a residual that stays high.
static bool Again(void* user, const jnaFleshReport* report)
{
    const jnaFleshWorker* w = user;
    bool hasRoom = report->solved.depth < NO_ROOM_DEPTH && report->solved.volume < NO_ROOM_VOLUME;
    return hasRoom && !(report->residual <= w->tolerance);
}

static jnResult Start(
    void* user, const jnaClip* clip, int frame, double* state, float* positions, jnaFleshReport* report, jnError* error)
{
    jnaFleshWorker* w = user;
    JN_PASS(jnaFleshSolver_Start(w->solver, clip, frame, state, report, error));
    jnaFleshSolver_Surface(w->solver, clip, frame, state, positions);
    return jn_ok;
}

static jnResult Advance(
    void* user, const jnaClip* clip, int frame, double* state, float* positions, jnaFleshReport* report, jnError* error)
{
    jnaFleshWorker* w = user;
    JN_PASS(jnaFleshSolver_Advance(w->solver, clip, frame, state, report, error));
    jnaFleshSolver_Surface(w->solver, clip, frame + 1, state, positions);
    return jn_ok;
}

jnaSolve jnaFleshSolve(jnaSimulation* s)
{
    return (jnaSolve){.vertexCount = s->character->vertexCount,
        .user = s,
        .open = Open,
        .close = Close,
        .pose = Pose,
        .again = Again,
        .start = Start,
        .advance = Advance};
}
