// The run of a job: threads take poses one by one, shards are claimed when the open ones have none left, and whoever
// brings in a shard's last pose writes it.
//
// Other runs may be at work in the same folder. A shard is claimed by its lock, then looked for once more: it may have
// been made, or everything merged, between the look and the lock. At the end the run waits for shards that others have
// in hand and takes over those whose run has died.
#include "pipeline/job.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/try.h"
#include "pipeline/shard.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// How often a run that waits looks again.
static const long WAIT_NANOSECONDS = 100000000;

// A shard in the making.
typedef struct Flight {
    jnaShard shard;
    int handedOut, finished;
    struct Flight* next;
} Flight;

typedef struct Runner {
    const jnaShardPlan* plan;
    jnaJobLock* lock;
    pthread_mutex_t mutex; // guards all below
    Flight* flights;
    int cursor; // of the shards in order
    bool ended; // no shard is left to claim
    bool stop, merged;
    int solved; // poses
    jnaProgress progress;
    jnResult result;
    jnError error;
} Runner;

static void Fail(Runner* r, jnResult result, const jnError* error)
{
    if (r->result == jn_ok) {
        r->result = result;
        r->error = *error;
    }
    r->stop = true;
}

static void Watch(Runner* r)
{
    const jnaJob* job = r->plan->job;
    if (!jnaWatch_Count(&job->watch, &r->progress) && !r->stop) {
        jnError error;
        Fail(r, jnaWatch_Stopped(&error), &error);
    }
}

// The next shard of this run's part that is not there, claimed; -1 where none is left.
static int Claim(Runner* r)
{
    const jnaShardPlan* plan = r->plan;
    const jnaJob* job = plan->job;
    for (;;) {
        int index = job->next != NULL ? job->next(job->nextUser) : r->cursor++;
        if (index < 0 || index >= plan->shardCount) {
            return -1;
        }
        bool mine = job->next != NULL || index % job->parts == job->part;
        if (!mine || jnaShard_Exists(plan, index) || !jnaJobLock_Take(r->lock, index)) {
            continue;
        }
        if (!jnaShard_Exists(plan, index)) {
            r->merged = jnaIsMerged(plan, NULL);
            if (!r->merged) {
                return index;
            }
        }
        jnaJobLock_Release(r->lock, index);
        if (r->merged) {
            return -1;
        }
    }
}

// Opens a shard for solving. NULL at the end or on failure.
static Flight* OpenFlight(Runner* r)
{
    int index = r->ended ? -1 : Claim(r);
    if (index < 0) {
        r->ended = true;
        return NULL;
    }
    jnError error;
    Flight* flight = calloc(1, sizeof(*flight));
    jnResult result = flight != NULL ? jnaCreateShard(r->plan, index, &flight->shard, &error)
                                     : jnFail(&error, jn_outOfMemory, "out of memory for a shard");
    if (result != jn_ok) {
        free(flight);
        jnaJobLock_Release(r->lock, index);
        Fail(r, result, &error);
        return NULL;
    }
    flight->next = r->flights;
    r->flights = flight;
    return flight;
}

// Hands out a pose; false where there is none.
static bool Take(Runner* r, Flight** flight, int* pose)
{
    pthread_mutex_lock(&r->mutex);
    Flight* open = NULL;
    if (!r->stop) {
        for (open = r->flights; open != NULL && open->handedOut == open->shard.count;) {
            open = open->next;
        }
        open = open != NULL ? open : OpenFlight(r);
    }
    if (open != NULL) {
        *flight = open;
        *pose = open->handedOut++;
    }
    pthread_mutex_unlock(&r->mutex);
    return open != NULL;
}

// Along the standard path, then along finer ones.
static jnResult Solve(Runner* r, void* worker, Flight* flight, int pose, jnError* error)
{
    const jnaJob* job = r->plan->job;
    int index = flight->shard.first + pose;
    float* positions = flight->shard.positions + 3 * (size_t)pose * (size_t)job->solve->vertexCount;
    double seconds = 0;
    for (int effort = 0; effort < JNA_EFFORTS; ++effort) {
        jnaFleshReport report = {0};
        JN_PASS(job->solve->pose(worker, job->clip, job->first + index, effort, positions, &report, error));
        report.seconds = seconds += report.seconds;
        jnaJob_Carry(job, index, positions);
        jnaRecord* record = &flight->shard.records[pose];
        jnaFillRecord(&report, effort + 1, job->solve->vertexCount, positions, record);
        bool again = job->solve->again == NULL || job->solve->again(worker, &report);
        if (record->reason[0] == '\0' || !again) {
            break;
        }
    }
    return jn_ok;
}

static void Unlink(Runner* r, Flight* flight)
{
    Flight** at = &r->flights;
    while (*at != flight) {
        at = &(*at)->next;
    }
    *at = flight->next;
}

// Notes a pose as done; its shard is written if that was the last of it.
static void Finish(Runner* r, Flight* flight, jnResult result, jnError* error)
{
    pthread_mutex_lock(&r->mutex);
    if (result != jn_ok) {
        Fail(r, result, error);
    } else {
        r->solved++;
        r->progress.solved++;
        r->progress.done++;
        Watch(r);
    }
    bool last = ++flight->finished == flight->shard.count && r->result == jn_ok;
    if (last) {
        Unlink(r, flight);
    }
    pthread_mutex_unlock(&r->mutex);
    if (!last) {
        return;
    }
    result = jnaShard_Write(r->plan, &flight->shard, error);
    jnaJobLock_Release(r->lock, flight->shard.index);
    jnaDestroyShard(&flight->shard);
    free(flight);
    if (result != jn_ok) {
        pthread_mutex_lock(&r->mutex);
        Fail(r, result, error);
        pthread_mutex_unlock(&r->mutex);
    }
}

static void Work(Runner* r)
{
    const jnaSolve* solve = r->plan->job->solve;
    void* worker = NULL;
    jnError error = {0};
    Flight* flight;
    int pose;
    // The first pose before the worker: a run that finds nothing to do does not prepare for it.
    if (!Take(r, &flight, &pose)) {
        return;
    }
    jnResult opened = solve->open(solve->user, &worker, &error), result;
    do {
        result = opened == jn_ok ? Solve(r, worker, flight, pose, &error) : opened;
        Finish(r, flight, result, &error);
    } while (result == jn_ok && Take(r, &flight, &pose));
    if (worker != NULL) {
        solve->close(worker);
    }
}

// One pass over the shards of this run's part.
static jnResult Pass(Runner* r, jnError* error)
{
    int threads = r->plan->job->threads > 0 ? r->plan->job->threads : omp_get_max_threads();
    r->cursor = 0;
    r->ended = false;
#pragma omp parallel num_threads(threads)
    Work(r);
    for (Flight* flight; (flight = r->flights) != NULL;) {
        r->flights = flight->next;
        jnaJobLock_Release(r->lock, flight->shard.index);
        jnaDestroyShard(&flight->shard);
        free(flight);
    }
    if (r->result != jn_ok && error != NULL) {
        *error = r->error;
    }
    return r->result;
}

// Shards that are not there: of the part, or of all.
static int CountMissing(const jnaShardPlan* plan, bool all, int* poses)
{
    const jnaJob* job = plan->job;
    int count = 0;
    *poses = 0;
    for (int i = 0; i < plan->shardCount; ++i) {
        if ((all || i % job->parts == job->part) && !jnaShard_Exists(plan, i)) {
            int left = job->count - i * job->shardSize;
            *poses += left < job->shardSize ? left : job->shardSize;
            count++;
        }
    }
    return count;
}

// The whole part, with the shards of runs that died meanwhile. Ends at once where only the work is wanted.
static jnResult Complete(Runner* r, jnError* error)
{
    jnResult result = jn_ok;
    while (result == jn_ok && !r->merged) {
        int before = r->solved, poses;
        result = Pass(r, error);
        if (result != jn_ok || r->merged || r->plan->job->workOnly || CountMissing(r->plan, false, &poses) == 0) {
            break;
        }
        if (r->solved == before) {
            r->merged = jnaIsMerged(r->plan, NULL);
            r->progress.waiting = true;
            r->progress.done = r->progress.total - poses;
            Watch(r);
            nanosleep(&(struct timespec){0, WAIT_NANOSECONDS}, NULL);
            r->progress.waiting = false;
        }
        result = r->result;
    }
    if (result != jn_ok && error != NULL) {
        *error = r->error;
    }
    return result;
}

static jnResult Merge(Runner* r, bool* again, jnError* error)
{
    *again = false;
    while (!jnaJobLock_TakeMerge(r->lock)) {
        if (jnaIsMerged(r->plan, NULL)) {
            return jn_ok;
        }
        Watch(r);
        if (r->result != jn_ok) {
            *error = r->error;
            return r->result;
        }
        nanosleep(&(struct timespec){0, WAIT_NANOSECONDS}, NULL);
    }
    bool good = true;
    jnResult result = jnaIsMerged(r->plan, NULL) ? jn_ok : jnaMergeShards(r->plan, &good, error);
    if (result == jn_ok && good) {
        jnaShardPlan_Remove(r->plan, true);
    }
    *again = !good;
    return result;
}

static jnResult PrepareFolder(const jnaJob* job, jnError* error)
{
    return jnaMakeFolder(job->folder, job->names.shards, NULL, error);
}

// Everything between joining the runs in a folder and leaving them.
static jnResult RunShards(Runner* r, jnaJobReport* report, jnError* error)
{
    const jnaShardPlan* plan = r->plan;
    int poses = 0;
    bool again = true;
    jnResult result = jn_ok;
    while (result == jn_ok && again) {
        again = false;
        (void)CountMissing(plan, false, &poses);
        r->progress.total = plan->job->parts > 1 ? poses : plan->job->count;
        r->progress.done = r->progress.total - poses;
        result = plan->job->motion ? jnaRunMotion(plan, r->lock, &r->progress, &r->merged, error) : Complete(r, error);
        report->missingCount = r->merged ? 0 : CountMissing(plan, true, &report->left);
        if (result == jn_ok && report->missingCount == 0 && !plan->job->workOnly && !r->merged) {
            result = Merge(r, &again, error);
        }
    }
    report->merged = result == jn_ok && jnaIsMerged(plan, report);
    report->missingCount = report->merged ? 0 : report->missingCount;
    report->left = report->merged ? 0 : report->left;
    report->solved = r->progress.solved;
    return result;
}

// A run that was killed between the merging and the end leaves its shards behind.
static bool LeftShards(const jnaShardPlan* plan)
{
    char path[JNA_PATH_LENGTH];
    return jnaJob_Path(plan->job, plan->job->names.shards, path, NULL) == jn_ok && jnaFileIsThere(path);
}

static void CleanUp(const jnaShardPlan* plan)
{
    jnaJobLock lock = {-1};
    bool alone = false;
    if (LeftShards(plan) && jnaOpenJobLock(plan, &lock, &alone, NULL) == jn_ok && alone) {
        jnaShardPlan_Remove(plan, true);
    }
    jnaCloseJobLock(&lock);
}

// Arrays without their JSON count as not there.
static jnResult Forget(const jnaShardPlan* plan, jnaJobReport* report, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaJobLock lock = {-1};
    bool alone = false;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenJobLock(plan, &lock, &alone, error));
    JN_TRY(jnaJob_Path(plan->job, plan->job->names.json, path, error));
    if (!alone) {
        JN_TRY(jnFail(
            error, jn_ioFailed, "%s: another run works here; it cannot be started again now", plan->job->folder));
    }
    (void)unlink(path);
    jnaShardPlan_Remove(plan, true);
    report->upToDate = report->merged = false;
done:
    jnaCloseJobLock(&lock);
    return result;
}

// The shards that are missing, beside other runs that may work in the same folder.
static jnResult RunMissing(const jnaShardPlan* plan, jnaJobReport* report, jnError* error)
{
    const jnaJob* job = plan->job;
    jnaJobLock lock = {-1};
    bool alone = false;
    Runner runner = {.plan = plan, .lock = &lock, .mutex = PTHREAD_MUTEX_INITIALIZER};
    jnResult result = jn_ok;
    JN_TRY(jnaOpenJobLock(plan, &lock, &alone, error));
    if (alone && job->parts == 1) {
        jnaShardPlan_Remove(plan, false);
    }
    JN_TRY(PrepareFolder(job, error));
    if (alone && !job->motion) {
        JN_TRY(jnaReuseMerged(plan, error));
    }
    if (alone) {
        jnaJobLock_Admit(&lock);
    }
    JN_TRY(RunShards(&runner, report, error));
done:
    pthread_mutex_destroy(&runner.mutex);
    jnaCloseJobLock(&lock);
    return result;
}

jnResult jnaRunJob(const jnaJob* job, jnaJobReport* report, jnError* error)
{
    jnaJobReport scratch;
    jnError failure = {0};
    report = report != NULL ? report : &scratch;
    *report = (jnaJobReport){0};
    double started = jnaWallClock();
    jnaShardPlan plan = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateShardPlan(job, &plan, &failure));
    report->shardCount = plan.shardCount;
    report->merged = jnaIsMerged(&plan, report);
    bool damaged = report->merged && !jnaMergedIsWhole(&plan);
    report->upToDate = report->merged = report->merged && !damaged;
    if (job->look) {
        // A build runs what is not up to date: that is how they go.
        report->upToDate = report->merged && !LeftShards(&plan);
        report->missingCount = report->merged ? 0 : CountMissing(&plan, true, &report->left);
        jnaDestroyShardPlan(&plan);
        return jn_ok;
    }
    if (job->force || damaged) {
        JN_TRY(Forget(&plan, report, &failure));
    }
    if (report->merged) {
        CleanUp(&plan);
    } else {
        JN_TRY(RunMissing(&plan, report, &failure));
    }
done:
    jnaDestroyShardPlan(&plan);
    report->seconds = jnaWallClock() - started;
    if (result != jn_ok && error != NULL) {
        *error = failure;
    }
    return result;
}
