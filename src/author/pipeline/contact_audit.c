// Does contact resolve? Frames of all clips and training poses, each solved as a job would, and how they ended.
#include "pipeline/simulation.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct Audit {
    jnaSimulation* simulation;
    jnaClip* stills; // [clipCount + 1], clips without their root's motion, then the training poses
    int count, done, cursor;
    jnaContactEntry* entries; // [count]
    jnaWatch watch;
    jnaArena arena;
    jnResult result;
    jnError* error;
} Audit;

// The standard path, and finer ones where that is worth it.
static jnResult SolveOne(const Audit* a, void* worker, jnaContactEntry* entry, float* surface, jnError* error)
{
    const jnaSolve* solve = &a->simulation->solve;
    const jnaClip* clip = &a->stills[entry->clip >= 0 ? entry->clip : a->simulation->manifest->clipCount];
    for (int effort = 0; effort < JNA_EFFORTS; ++effort) {
        jnaFleshReport report = {0};
        JN_PASS(solve->pose(worker, clip, entry->frame, effort, surface, &report, error));
        entry->solved = report.converged;
        entry->depth = report.solved.depth;
        entry->volume = report.solved.volume;
        entry->bones = report.bones.depth;
        entry->seconds += report.seconds;
        snprintf(entry->reason, sizeof(entry->reason), "%s", report.reason);
        if (report.converged || !solve->again(worker, &report)) {
            break;
        }
    }
    return jn_ok;
}

// What a thread does; returns through the audit.
static void Work(Audit* a)
{
    const jnaSolve* solve = &a->simulation->solve;
    jnError error = {0};
    void* worker = NULL;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    float* surface = jnaArena_Take(&arena, solve->vertexCount, 3 * sizeof(float));
    JN_TRY(solve->open(solve->user, &worker, &error));
    JN_TRY(jnaArena_Check(&arena, "an audit", &error));
    while (true) {
        int at;
#pragma omp critical(jnaContactAudit)
        at = a->result == jn_ok ? a->cursor++ : a->count;
        if (at >= a->count) {
            break;
        }
        JN_TRY(SolveOne(a, worker, &a->entries[at], surface, &error));
        bool goesOn;
#pragma omp critical(jnaContactAudit)
        {
            jnaProgress progress = {.done = ++a->done, .total = a->count, .solved = a->done};
            goesOn = jnaWatch_Count(&a->watch, &progress);
        }
        JN_TRY(goesOn ? jn_ok : jnFail(&error, jn_cancelled, "stopped"));
    }
done:
#pragma omp critical(jnaContactAudit)
    if (result != jn_ok && a->result == jn_ok) {
        a->result = result;
        *a->error = error;
    }
    jnaReleaseArena(&arena);
    if (worker != NULL) {
        solve->close(worker);
    }
}

// All that is to be solved; the entries, none of them solved yet.
static jnResult Plan(Audit* a, int every, int poses, jnError* error)
{
    jnaSimulation* s = a->simulation;
    int clips = s->manifest->clipCount, most = poses;
    jnaPoseSet set = {0};
    jnResult result = jn_ok;
    a->stills = jnaArena_Take(&a->arena, clips + 1, sizeof(*a->stills));
    JN_PASS(jnaArena_Check(&a->arena, "an audit's clips", error));
    for (int i = 0; i < clips; ++i) {
        JN_TRY(jnaClip_WithoutRoot(s->character, &s->clips[i], &a->stills[i], error));
        most += s->clips[i].frameCount / every + 1;
    }
    if (poses > 0) {
        JN_TRY(jnaSimulation_SamplePoses(s, poses, &set, NULL, error));
        JN_TRY(jnaPoseSet_ToClip(&set, s->character, &a->stills[clips], error));
    }
    a->entries = jnaArena_Give(&a->arena, most, sizeof(*a->entries));
    JN_TRY(jnaArena_Check(&a->arena, "an audit's frames", error));
    for (int i = 0; i <= clips; ++i) {
        int step = i < clips ? every : 1;
        for (int f = 0; f < a->stills[i].frameCount; f += step) {
            a->entries[a->count++] = (jnaContactEntry){.clip = i < clips ? i : -1, .frame = f};
        }
    }
done:
    jnaDestroyPoses(&set);
    return result;
}

jnResult jnaAuditContact(
    jnaSimulation* s, const jnaContactAuditDef* def, int* count, jnaContactEntry** entries, jnError* error)
{
    Audit a = {.simulation = s, .watch = def->watch, .error = error};
    *count = 0;
    *entries = NULL;
    jnResult result = jn_ok;
    JN_TRY(Plan(&a, def->every, def->poses, error));
    int threads = def->threads > 0 ? def->threads : omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    Work(&a);
    JN_TRY(a.result);
    *count = a.count;
    *entries = a.entries;
    a.entries = NULL;
done:
    for (int i = 0; a.stills != NULL && i <= s->manifest->clipCount; ++i) {
        jnaDestroyClip(&a.stills[i]);
    }
    jnaReleaseArena(&a.arena);
    free(a.entries);
    return result;
}
