// The audit: are labels a function of the pose? Equilibria are not unique, so another way to the same pose may end
// elsewhere; the standard path makes the choice, and the audit tells how far the choices lie apart.
#include "pipeline/simulation.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct Audit {
    jnaSimulation* simulation;
    const jnaClip* clip;
    const jnaPoseSet* set;
    jnaAuditPose* poses;
    jnaWatch watch;
    int done, count;
    bool stop;
    jnResult result;
    jnError* error;
} Audit;

static double Farthest(const float* a, const float* b, int vertexCount)
{
    double most = 0;
    for (size_t v = 0; v < (size_t)vertexCount; ++v) {
        double square = 0;
        for (size_t i = 0; i < 3; ++i) {
            double d = (double)a[3 * v + i] - (double)b[3 * v + i];
            square += d * d;
        }
        most = fmax(most, square);
    }
    return sqrt(most);
}

// surfaces: three of them.
static jnResult AuditOne(const Audit* audit, jnaFleshWorker* worker, int pose, float* surfaces, jnError* error)
{
    jnaAuditPose* entry = &audit->poses[pose];
    int vertices = audit->simulation->character->vertexCount, standard = 0;
    size_t row = 3 * (size_t)vertices;
    *entry = (jnaAuditPose){.pose = pose, .clip = audit->set->clips[pose], .frame = audit->set->frames[pose]};
    for (int way = 0; way < 3; ++way) {
        jnaFleshReport report = {0};
        int steps = way == 1 ? 2 * standard : 1;
        JN_PASS(way == 0 ? jnaFleshSolver_Pose(worker->solver, audit->clip, pose, worker->nodes, &report, error)
                         : jnaFleshSolver_PoseInSteps(
                               worker->solver, audit->clip, pose, steps, worker->nodes, &report, error));
        standard = way == 0 ? report.pathSteps : standard;
        jnaFleshSolver_Surface(worker->solver, audit->clip, pose, worker->nodes, surfaces + row * (size_t)way);
        entry->converged[way] = report.converged;
        entry->pathSteps[way] = report.pathSteps;
    }
    entry->finer = Farthest(surfaces, surfaces + row, vertices);
    entry->direct = Farthest(surfaces, surfaces + 2 * row, vertices);
    return jn_ok;
}

// What a thread does; returns through the audit.
static void Work(Audit* audit, int* cursor)
{
    const jnaSolve* solve = &audit->simulation->solve;
    jnError error = {0};
    void* worker = NULL;
    jnResult result = solve->open(solve->user, &worker, &error);
    float* surfaces = malloc(9 * (size_t)solve->vertexCount * sizeof(float) + 1);
    if (result == jn_ok && surfaces == NULL) {
        result = jnFail(&error, jn_outOfMemory, "out of memory for an audit");
    }
    for (bool goes = result == jn_ok; goes;) {
        int pose;
#pragma omp critical(jnaAudit)
        pose = audit->stop ? audit->count : (*cursor)++;
        if (pose >= audit->count) {
            break;
        }
        result = AuditOne(audit, worker, pose, surfaces, &error);
#pragma omp critical(jnaAudit)
        {
            jnaProgress progress = {.done = ++audit->done, .total = audit->count, .solved = audit->done};
            if (!jnaWatch_Count(&audit->watch, &progress) && result == jn_ok) {
                result = jnFail(&error, jn_cancelled, "stopped");
            }
            goes = result == jn_ok;
        }
    }
    if (result != jn_ok) {
#pragma omp critical(jnaAudit)
        {
            audit->stop = true;
            if (audit->result == jn_ok) {
                audit->result = result;
                *audit->error = error;
            }
        }
    }
    free(surfaces);
    if (worker != NULL) {
        solve->close(worker);
    }
}

jnResult jnaAuditPoses(jnaSimulation* s, int count, int threads, jnaAuditPose* poses, jnaWatch watch, jnError* error)
{
    jnaPoseSet set = {0};
    jnaClip clip = {0};
    Audit audit = {
        .simulation = s, .clip = &clip, .set = &set, .poses = poses, .watch = watch, .count = count, .error = error};
    int cursor = 0;
    jnResult result = jn_ok;
    JN_TRY(jnaSimulation_SamplePoses(s, count, &set, NULL, error));
    JN_TRY(jnaPoseSet_ToClip(&set, s->character, &clip, error));
    if (set.count < count) {
        JN_TRY(jnFail(error, jn_badArgument, "there are only %d poses to audit", set.count));
    }
    threads = threads > 0 ? threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    Work(&audit, &cursor);
    result = audit.result;
done:
    jnaDestroyClip(&clip);
    jnaDestroyPoses(&set);
    return result;
}
