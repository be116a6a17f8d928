// A motion in time: one frame after the other, with a shard every so many frames that holds the state at its end.
//
// A killed run goes on from the last shard with the very numbers it had, so that the bytes are those of a run that was
// never stopped. One run at a time has the motion; others wait for it and take over where it dies.
#include "pipeline/shard.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const long WAIT_NANOSECONDS = 100000000;

static jnResult Cancel(jnError* error)
{
    return jnFail(error, jn_cancelled, "interrupted; finished work is kept, and the same command resumes it");
}

static bool AllFinite(const double* numbers, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(numbers[i])) {
            return false;
        }
    }
    return true;
}

// The frames of one shard, from the state at the end of the one before.
static jnResult MakeShard(const jnaJob* job, void* worker, jnaShard* shard, jnaProgress* progress, jnError* error)
{
    size_t row = 3 * (size_t)job->solve->vertexCount;
    for (int k = 0; k < shard->count; ++k) {
        int frame = job->first + shard->first + k;
        float* positions = shard->positions + row * (size_t)k;
        jnaFleshReport report = {0};
        JN_PASS(shard->first + k == 0
                    ? job->solve->start(worker, job->clip, frame, shard->state, positions, &report, error)
                    : job->solve->advance(worker, job->clip, frame - 1, shard->state, positions, &report, error));
        if (!AllFinite(shard->state, job->solve->stateCount)) {
            return jnFail(
                error, jn_badData, "clip %s, frame %d: the flesh went out of all bounds", job->clip->name, frame);
        }
        jnaFillRecord(&report, 1, job->solve->vertexCount, positions, &shard->records[k]);
        progress->solved++;
        progress->done++;
        if (!jnaWatch_Count(&job->watch, progress)) {
            return Cancel(error);
        }
    }
    return jn_ok;
}

// Number of whole shards from the beginning on, the last of which is read into `shard`.
static jnResult FindLast(const jnaShardPlan* plan, jnaShard* shard, int* done, jnError* error)
{
    *done = 0;
    while (*done < plan->shardCount && jnaShard_Exists(plan, *done)) {
        ++*done;
    }
    for (bool good = false; *done > 0; --*done) {
        jnaDestroyShard(shard);
        JN_PASS(jnaCreateShard(plan, *done - 1, shard, error));
        JN_PASS(jnaShard_Read(plan, shard, &good, error));
        if (good) {
            break;
        }
    }
    return jn_ok;
}

static jnResult GoOn(const jnaShardPlan* plan, jnaProgress* progress, jnError* error)
{
    const jnaJob* job = plan->job;
    jnaShard last = {0}, shard = {0};
    void* worker = NULL;
    int made;
    jnResult result = jn_ok;
    JN_TRY(FindLast(plan, &last, &made, error));
    progress->done = made * job->shardSize < job->count ? made * job->shardSize : job->count;
    for (int i = made; i < plan->shardCount; ++i) {
        if (worker == NULL) {
            JN_TRY(job->solve->open(job->solve->user, &worker, error));
        }
        JN_TRY(jnaCreateShard(plan, i, &shard, error));
        if (i > 0) {
            memcpy(shard.state, last.state, job->solve->stateCount * sizeof(double));
        }
        JN_TRY(MakeShard(job, worker, &shard, progress, error));
        JN_TRY(jnaShard_Write(plan, &shard, error));
        jnaDestroyShard(&last);
        last = shard;
        shard = (jnaShard){0};
    }
done:
    jnaDestroyShard(&shard);
    jnaDestroyShard(&last);
    if (worker != NULL) {
        job->solve->close(worker);
    }
    return result;
}

jnResult jnaRunMotion(const jnaShardPlan* plan, jnaJobLock* lock, jnaProgress* progress, bool* merged, jnError* error)
{
    progress->total = plan->job->count;
    while (!jnaJobLock_Take(lock, 0)) {
        progress->waiting = true;
        if (!jnaWatch_Count(&plan->job->watch, progress)) {
            return Cancel(error);
        }
        nanosleep(&(struct timespec){0, WAIT_NANOSECONDS}, NULL);
    }
    progress->waiting = false;
    *merged = jnaIsMerged(plan, NULL);
    jnResult result = *merged ? jn_ok : GoOn(plan, progress, error);
    jnaJobLock_Release(lock, 0);
    return result;
}
