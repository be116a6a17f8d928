// A motion in time: one frame after the other, with a shard every so many frames that holds the state at its end.
//
// A killed run goes on from the last shard with the very numbers it had, so that the bytes are those of a run that was
// never stopped. One run at a time has the motion; others wait for it and take over where it dies.
#include "pipeline/shard.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const long WAIT_NANOSECONDS = 100000000;

static bool Goes(const jnaJob* job, const jnaJobProgress* progress)
{
    return job->watch == NULL || job->watch(progress, job->watchUser);
}

static jnResult Cancel(jnError* error)
{
    return jnFail(error, jn_cancelled, "stopped; what is done stays, the same command goes on from there");
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
static jnResult MakeShard(const jnaJob* job, void* worker, jnaShard* shard, jnaJobProgress* progress, jnError* error)
{
    size_t row = 3 * (size_t)job->solve->vertexCount;
    for (int k = 0; k < shard->count; ++k) {
        int frame = job->first + shard->first + k;
        float* positions = shard->positions + row * (size_t)k;
        jnaFleshReport report = {0};
        jnResult result =
            shard->first + k == 0
                ? job->solve->start(worker, job->clip, frame, shard->state, positions, &report, error)
                : job->solve->advance(worker, job->clip, frame - 1, shard->state, positions, &report, error);
        if (result != jn_ok) {
            return result;
        }
        if (!AllFinite(shard->state, job->solve->stateCount)) {
            return jnFail(
                error, jn_badData, "clip %s, frame %d: the flesh went out of all bounds", job->clip->name, frame);
        }
        jnaFillRecord(&report, 1, job->solve->vertexCount, positions, &shard->records[k]);
        progress->solved++;
        progress->done++;
        progress->failed += shard->records[k].reason[0] != '\0';
        if (!Goes(job, progress)) {
            return Cancel(error);
        }
    }
    return jn_ok;
}

// Number of whole shards from the beginning on, the last of which is read into `shard`.
static jnResult FindLast(const jnaShardPlan* plan, jnaShard* shard, int* done, jnError* error)
{
    bool good = false;
    jnResult result = jn_ok;
    *done = 0;
    while (*done < plan->shardCount && jnaShard_Exists(plan, *done)) {
        ++*done;
    }
    while (result == jn_ok && *done > 0 && !good) {
        jnaDestroyShard(shard);
        result = jnaCreateShard(plan, *done - 1, shard, error);
        result = result == jn_ok ? jnaShard_Read(plan, shard, &good, error) : result;
        *done -= result == jn_ok && !good;
    }
    return result;
}

static jnResult GoOn(const jnaShardPlan* plan, jnaJobProgress* progress, jnError* error)
{
    const jnaJob* job = plan->job;
    jnaShard last = {0};
    void* worker = NULL;
    int done;
    jnResult result = FindLast(plan, &last, &done, error);
    progress->done = done * job->shardSize < job->count ? done * job->shardSize : job->count;
    for (int i = done; result == jn_ok && i < plan->shardCount; ++i) {
        jnaShard shard;
        result = worker == NULL ? job->solve->open(job->solve->user, &worker, error) : jn_ok;
        if (result != jn_ok || (result = jnaCreateShard(plan, i, &shard, error)) != jn_ok) {
            break;
        }
        if (i > 0) {
            memcpy(shard.state, last.state, job->solve->stateCount * sizeof(double));
        }
        result = MakeShard(job, worker, &shard, progress, error);
        result = result == jn_ok ? jnaShard_Write(plan, &shard, error) : result;
        jnaDestroyShard(&last);
        last = shard;
    }
    jnaDestroyShard(&last);
    if (worker != NULL) {
        job->solve->close(worker);
    }
    return result;
}

jnResult jnaRunMotion(
    const jnaShardPlan* plan, jnaJobLock* lock, jnaJobProgress* progress, bool* merged, jnError* error)
{
    progress->total = plan->job->count;
    while (!jnaJobLock_Take(lock, 0)) {
        progress->waiting = true;
        if (!Goes(plan->job, progress)) {
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
