// The fit of all springs: batches over threads, the robust refit, the smoothing over neighbours, and what to tell about
// it.
#include "learn/spring_fit.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "jounce/springs.h"
#include "learn/fit_batch.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

// The spring of a vertex without motion: stiff and critically damped.
#define DEFAULT_HERTZ 10.0
// How far, in theta, a spring may plausibly be from that default: a factor of e^2.
#define PRIOR_SPREAD 2.0
// Metres. Where no prior is asked for, this one decides between springs that are all alike to the data, because nothing
// moves there; a thousandth of what changes any measured number.
#define TIE_BREAK 1e-6
// Metres, position noise of a good simulation or scan: springs that it could have made are counted as weak.
#define POSITION_NOISE 2e-5
// A parameter within this of its bound, in theta, counts as at it.
#define BOUND_MARGIN 1e-6
// Vertices on which the order of the arrays is tried before everything is fitted.
enum { TRIAL_VERTICES = 64 };

jnaFitDef jnaDefaultFitDef(void)
{
    return (jnaFitDef){
        .drop = 0.1,
        .seed = 1,
        .stiffnessRange = {0.1, 1e6},
        .dampingRange = {JNA_LEAST_DAMPING, 1e4},
        .checkOrder = true,
    };
}

void jnaDefaultSpring(double* stiffness, double* damping)
{
    double omega = JNA_TURN * DEFAULT_HERTZ;
    *stiffness = omega * omega;
    *damping = 2.0 * omega;
}

void jnaDestroyFit(jnaFit* fit)
{
    free(fit->stiffness);
    free(fit->damping);
    free(fit->loss);
    free(fit->captured);
    free(fit->state);
    free(fit->dropped);
    *fit = (jnaFit){0};
}

static jnResult AllocateFit(jnaFit* fit, jnError* error)
{
    jnaArena arena = {0};
    fit->stiffness = jnaArena_Give(&arena, fit->vertexCount, sizeof(float));
    fit->damping = jnaArena_Give(&arena, fit->vertexCount, sizeof(float));
    fit->loss = jnaArena_Give(&arena, fit->vertexCount, sizeof(double));
    fit->captured = jnaArena_Give(&arena, fit->vertexCount, sizeof(double));
    fit->state = jnaArena_Give(&arena, fit->vertexCount, 1);
    fit->dropped = jnaArena_Give(&arena, fit->frameCount, sizeof(uint32_t));
    if (arena.failed) {
        jnaDestroyFit(fit);
    }
    return jnaArena_Check(&arena, "the fit of springs", error);
}

static jnResult CheckSequence(const jnaFitDef* def, int s, jnError* error)
{
    const jnaArray* targets = &def->sequences[s].targets;
    const jnaArray* dynamics = &def->sequences[s].dynamics;
    char a[96], b[96], c[96];
    jnaArray_Describe(targets, a, sizeof(a));
    jnaArray_Describe(dynamics, b, sizeof(b));
    jnaArray_Describe(&def->sequences[0].targets, c, sizeof(c));
    if (targets->scalar > jna_float64 || dynamics->scalar > jna_float64 || targets->dimensions != 3 ||
        dynamics->dimensions != 3 || targets->shape[2] != 3 || dynamics->shape[2] != 3) {
        return jnFail(error, jn_badData,
            "sequence %d: targets are %s and dynamics %s; both must be floats (frames, vertices, 3)", s + 1, a, b);
    }
    if (memcmp(targets->shape, dynamics->shape, 3 * sizeof(size_t)) != 0) {
        return jnFail(error, jn_badData, "sequence %d: targets are %s but dynamics are %s; both need the same shape",
            s + 1, a, b);
    }
    if (targets->shape[0] < 3 || targets->shape[1] == 0) {
        return jnFail(error, jn_badData, "sequence %d: is %s; a fit needs at least 3 frames and 1 vertex", s + 1, a);
    }
    if (targets->shape[1] != def->sequences[0].targets.shape[1]) {
        return jnFail(
            error, jn_badData, "sequence %d: is %s but sequence 1 is %s; all need the same vertices", s + 1, a, c);
    }
    for (size_t i = 0; i < targets->count; ++i) {
        if (!isfinite(jnaArray_Get(targets, i))) {
            size_t vertex = i / 3 % targets->shape[1], frame = i / 3 / targets->shape[1];
            return jnFail(error, jn_badData,
                "sequence %d: the target of vertex %zu in frame %zu is not a finite number; only dynamics may have "
                "gaps "
                "(are targets and dynamics in the right order?)",
                s + 1, vertex, frame);
        }
    }
    return jn_ok;
}

static jnResult CheckDef(const jnaFitDef* def, jnError* error)
{
    if (def->sequenceCount < 1) {
        return jnFail(error, jn_badArgument, "a fit needs at least one sequence");
    }
    if (!(def->dt > 0.0 && isfinite(def->dt))) {
        return jnFail(error, jn_badArgument, "dt must be above 0, not %g", def->dt);
    }
    if (!(def->drop >= 0.0 && def->drop <= 0.5)) {
        return jnFail(error, jn_badArgument, "the fraction of dropped frames must be 0 to 0.5, not %g", def->drop);
    }
    if (!(def->stiffnessRange[0] > 0 && def->stiffnessRange[1] > def->stiffnessRange[0] && def->dampingRange[0] > 0 &&
            def->dampingRange[1] > def->dampingRange[0])) {
        return jnFail(error, jn_badArgument, "bounds must be above 0, the second above the first");
    }
    if (!(def->smooth >= 0.0) || (def->smooth > 0.0 && def->faces == NULL)) {
        return jnFail(error, jn_badArgument, "smoothing needs a weight that is not negative, and faces");
    }
    if (!(def->prior >= 0.0 && isfinite(def->prior))) {
        return jnFail(error, jn_badArgument, "the prior must be a length in metres, not %g", def->prior);
    }
    jnResult result = jn_ok;
    size_t frames = 0;
    for (int s = 0; s < def->sequenceCount; ++s) {
        JN_TRY(CheckSequence(def, s, error));
        frames += def->sequences[s].targets.shape[0];
    }
    if (frames > 100000000 || def->sequences[0].targets.shape[1] > 100000000) {
        return jnFail(error, jn_badData, "more than 100 million frames or vertices");
    }
    int vertices = (int)def->sequences[0].targets.shape[1];
    for (int i = 0; def->smooth > 0.0 && i < 3 * def->faceCount; ++i) {
        if (def->faces[i] < 0 || def->faces[i] >= vertices) {
            return jnFail(error, jn_badData, "face %d names vertex %d, but there are %d vertices", i / 3, def->faces[i],
                vertices);
        }
    }
done:
    return result;
}

static jnResult MakePlan(const jnaFitDef* def, jnaFitPlan* plan, jnaArena* arena, jnError* error)
{
    *plan = (jnaFitPlan){
        .def = def, .kernels = jnaBestFitKernels(), .vertexCount = (int)def->sequences[0].targets.shape[1]};
    plan->starts = jnaArena_Take(arena, def->sequenceCount + 1, sizeof(int));
    if (plan->starts == NULL) {
        return jnaArena_Check(arena, "the sequences of a fit", error);
    }
    for (int s = 0; s < def->sequenceCount; ++s) {
        plan->starts[s + 1] = plan->starts[s] + (int)def->sequences[s].targets.shape[0];
    }
    plan->frameCount = plan->starts[def->sequenceCount];
    plan->low[0] = log(def->stiffnessRange[0]);
    plan->high[0] = log(def->stiffnessRange[1]);
    plan->low[1] = log(def->dampingRange[0]);
    plan->high[1] = log(def->dampingRange[1]);
    double stiffness, damping;
    jnaDefaultSpring(&stiffness, &damping);
    plan->priorTheta[0] = log(stiffness);
    plan->priorTheta[1] = log(damping);
    double prior = fmax(def->prior, TIE_BREAK), noise = fmax(def->prior, POSITION_NOISE);
    plan->priorWeight = prior * prior / (PRIOR_SPREAD * PRIOR_SPREAD);
    plan->weakBelow = noise * noise / (PRIOR_SPREAD * PRIOR_SPREAD);
    return jn_ok;
}

// Squares of what is left and of what there was, over all valid frames and over the kept ones, and how many those are.
enum { TOTAL_ALL, TOTAL_ALL_BEFORE, TOTAL_KEPT, TOTAL_KEPT_BEFORE, TOTAL_KEPT_COUNT, TOTALS };
// Squares that the first fit leaves, over all valid frames and over those that the refit keeps.
enum { FIRST_ALL, FIRST_KEPT, FIRSTS };

// What is done with every batch.
typedef enum Sweep {
    sweep_fit,      // from a guess; by vertex also refitted without its worst frames
    sweep_refit,    // from the first result, without the frames that are worst for all
    sweep_conclude, // parameters as given: only told about
} Sweep;

// What all threads write to, each batch in its own place.
typedef struct Job {
    const jnaFitPlan* plan;
    jnaFit* fit;
    double* theta;      // [2][vertexCount]
    double* matrix;     // [3][vertexCount], kept for the smoothing
    double* frameLoss;  // [batches][frameCount], for dropping by frame; NULL otherwise
    const uint8_t* out; // [frameCount], 1 where a frame is dropped for all; NULL: none is
    double* totals;     // [batches][TOTALS]
    double* firsts;     // [batches][FIRSTS], where there is a refit
    int batches;
    double startShare, endShare; // of the progress, for this sweep
    Sweep sweep;
    bool cancelled;
    int finished; // batches of this sweep
    int passes;
} Job;

static void LoadTheta(const Job* job, int first, jnaLanes* lanes)
{
    size_t n = (size_t)job->plan->vertexCount;
    for (size_t lane = 0; lane < JNA_BATCH; ++lane) {
        size_t v = (size_t)first + lane < n ? (size_t)first + lane : n - 1;
        lanes->theta[0][lane] = job->theta[v];
        lanes->theta[1][lane] = job->theta[n + v];
    }
}

static void LoadMatrix(const Job* job, int first, jnaLanes* lanes)
{
    size_t n = (size_t)job->plan->vertexCount;
    for (size_t i = 0; i < 3 * JNA_BATCH; ++i) {
        size_t lane = i % JNA_BATCH, v = (size_t)first + lane < n ? (size_t)first + lane : n - 1;
        lanes->matrix[i / JNA_BATCH][lane] = job->matrix[i / JNA_BATCH * n + v];
    }
}

static void StoreTheta(Job* job, int first, const jnaLanes* lanes)
{
    size_t n = (size_t)job->plan->vertexCount;
    for (size_t lane = 0; lane < JNA_BATCH && (size_t)first + lane < n; ++lane) {
        size_t v = (size_t)first + lane;
        for (size_t k = 0; k < 2; ++k) {
            job->theta[k * n + v] = lanes->theta[k][lane];
        }
        for (size_t k = 0; k < 3; ++k) {
            job->matrix[k * n + v] = lanes->matrix[k][lane];
        }
    }
}

static int CompareDescending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

// Sets the weights of each lane's worst frames to 0: all above the limit, and as many at it as are still due.
static void DropWorstFrames(const jnaFitPlan* plan, jnaFitBatch* batch, const double* frameLoss, double* scratch)
{
    size_t frames = (size_t)plan->frameCount;
    for (size_t lane = 0; lane < JNA_BATCH; ++lane) {
        size_t valid = 0;
        for (size_t n = 0; n < frames; ++n) {
            if (batch->weight[n * JNA_BATCH + lane] > 0.0) {
                scratch[valid++] = frameLoss[n * JNA_BATCH + lane];
            }
        }
        size_t drop = (size_t)(plan->def->drop * (double)valid);
        if (drop == 0) {
            continue;
        }
        qsort(scratch, valid, sizeof(double), CompareDescending);
        double limit = scratch[drop - 1];
        size_t ties = drop;
        for (size_t i = 0; i < drop; ++i) {
            ties -= scratch[i] > limit;
        }
        for (size_t n = 0; n < frames; ++n) {
            size_t at = n * JNA_BATCH + lane;
            bool tie = frameLoss[at] == limit && ties > 0;
            if (batch->weight[at] > 0.0 && (frameLoss[at] > limit || tie)) {
                batch->weight[at] = 0.0;
                ties -= tie;
            }
        }
    }
}

// Memory of one thread.
typedef struct Worker {
    jnaArena arena;
    jnaFitBatch batch;
    double* frameLoss; // [frameCount][JNA_BATCH]
    double* valid;     // the same: weights before anything was dropped
    double* scratch;   // [frameCount]
    uint32_t* dropped; // [frameCount], vertices that left out the frame; counts, so the order of adding does not matter
    int passes;
} Worker;

static jnResult MakeWorker(Worker* worker, const jnaFitPlan* plan, jnError* error)
{
    int64_t frames = plan->frameCount;
    *worker = (Worker){0};
    worker->frameLoss = jnaArena_Take(&worker->arena, frames * JNA_BATCH, sizeof(double));
    worker->valid = jnaArena_Take(&worker->arena, frames * JNA_BATCH, sizeof(double));
    worker->scratch = jnaArena_Take(&worker->arena, frames, sizeof(double));
    worker->dropped = jnaArena_Take(&worker->arena, frames, sizeof(uint32_t));
    jnaFitBatch_Allocate(&worker->batch, plan, &worker->arena);
    return jnaArena_Check(&worker->arena, "the frames of a fit", error);
}

// Loss, captured share and flags of a batch, from squares per frame.
static void Conclude(
    Job* job, const Worker* worker, int first, uint32_t unobserved, const jnaLanes* lanes, double totals[TOTALS])
{
    const jnaFitPlan* plan = job->plan;
    const jnaFitBatch* batch = &worker->batch;
    const double *valid = worker->valid, *frameLoss = worker->frameLoss;
    size_t frames = (size_t)plan->frameCount, field = frames * JNA_BATCH;
    for (size_t lane = 0; lane < JNA_BATCH && first + (int)lane < plan->vertexCount; ++lane) {
        double all = 0, allBefore = 0, kept = 0, keptBefore = 0;
        for (size_t n = 0; n < frames; ++n) {
            size_t at = n * JNA_BATCH + lane;
            double before = 0;
            for (size_t axis = 0; axis < 3; ++axis) {
                before += batch->offset[axis * field + at] * batch->offset[axis * field + at];
            }
            all += valid[at] * frameLoss[at];
            allBefore += valid[at] * before;
            kept += batch->weight[at] * frameLoss[at];
            keptBefore += batch->weight[at] * before;
            totals[TOTAL_KEPT_COUNT] += batch->weight[at];
        }
        size_t v = (size_t)first + lane;
        jnaFit* fit = job->fit;
        fit->stiffness[v] = (float)exp(lanes->theta[0][lane]);
        fit->damping[v] = (float)exp(lanes->theta[1][lane]);
        fit->loss[v] = kept;
        fit->captured[v] = allBefore > 0 ? 1 - all / allBefore : (double)NAN;
        totals[TOTAL_ALL] += all;
        totals[TOTAL_ALL_BEFORE] += allBefore;
        totals[TOTAL_KEPT] += kept;
        totals[TOTAL_KEPT_BEFORE] += keptBefore;
        bool bound = false;
        for (int k = 0; k < 2; ++k) {
            bound = bound || lanes->theta[k][lane] <= plan->low[k] + BOUND_MARGIN ||
                    lanes->theta[k][lane] >= plan->high[k] - BOUND_MARGIN;
        }
        double weakest = fmin(lanes->matrix[0][lane], lanes->matrix[2][lane]);
        bool alone = (unobserved >> lane & 1) != 0;
        fit->state[v] = (uint8_t)((bound ? jna_springAtBound : 0) | (weakest < plan->weakBelow ? jna_springWeak : 0) |
                                  (alone ? jna_springUnobserved : 0));
    }
}

static void FrameLosses(const Job* job, Worker* worker, const jnaLanes* lanes)
{
    jnaFitCoefficients coefficients;
    double loss[JNA_BATCH];
    jnaFitCoefficientsAt((const double(*)[JNA_BATCH])lanes->theta, job->plan->def->dt, coefficients);
    job->plan->kernels->evaluate(&worker->batch, coefficients, loss, worker->frameLoss);
}

static void DropForAll(const Job* job, jnaFitBatch* batch)
{
    for (size_t i = 0; job->out != NULL && i < (size_t)batch->frameCount * JNA_BATCH; ++i) {
        batch->weight[i] *= job->out[i / JNA_BATCH] != 0 ? 0.0 : 1.0;
    }
}

// What the first fit leaves of a batch, so that both fits can be compared on the same frames. The losses are those of
// its parameters, the weights those of the refit.
static void SumFirst(Job* job, const Worker* worker, int first)
{
    double* sums = job->firsts + (size_t)(first / JNA_BATCH) * FIRSTS;
    sums[FIRST_ALL] = sums[FIRST_KEPT] = 0;
    for (size_t i = 0; i < (size_t)job->plan->frameCount * JNA_BATCH; ++i) {
        if (first + (int)(i % JNA_BATCH) < job->plan->vertexCount) {
            sums[FIRST_ALL] += worker->valid[i] * worker->frameLoss[i];
            sums[FIRST_KEPT] += worker->batch.weight[i] * worker->frameLoss[i];
        }
    }
}

// Parameters of a batch for this sweep, and the weights they were found with.
static void FindLanes(Job* job, Worker* worker, int first, jnaLanes* lanes)
{
    const jnaFitPlan* plan = job->plan;
    bool dropsByVertex = plan->def->drop > 0.0 && plan->def->dropBy == jna_dropByVertex;
    if (job->sweep == sweep_fit) {
        jnaSeedLanes(&worker->batch, plan, first, lanes);
        worker->passes += jnaDescendLanes(&worker->batch, plan, lanes);
    } else {
        LoadTheta(job, first, lanes);
        DropForAll(job, &worker->batch);
    }
    if (dropsByVertex || job->sweep == sweep_refit) {
        FrameLosses(job, worker, lanes);
    }
    if (dropsByVertex) {
        DropWorstFrames(plan, &worker->batch, worker->frameLoss, worker->scratch);
    }
    if (job->sweep == sweep_refit || (job->sweep == sweep_fit && dropsByVertex)) {
        SumFirst(job, worker, first);
        worker->passes += jnaDescendLanes(&worker->batch, plan, lanes);
    }
}

static void SweepOne(Job* job, Worker* worker, int index)
{
    const jnaFitPlan* plan = job->plan;
    int first = index * JNA_BATCH;
    size_t frames = (size_t)plan->frameCount, size = frames * JNA_BATCH;
    double* totals = job->totals + (size_t)index * TOTALS;
    memset(totals, 0, TOTALS * sizeof(double));
    uint32_t unobserved = jnaFitBatch_Load(&worker->batch, plan, first);
    memcpy(worker->valid, worker->batch.weight, size * sizeof(double));
    jnaLanes lanes;
    FindLanes(job, worker, first, &lanes);
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        if ((unobserved >> lane & 1) != 0) {
            lanes.theta[0][lane] = plan->priorTheta[0];
            lanes.theta[1][lane] = plan->priorTheta[1];
        }
    }
    FrameLosses(job, worker, &lanes);
    if (job->sweep != sweep_conclude) {
        StoreTheta(job, first, &lanes);
    } else {
        LoadMatrix(job, first, &lanes);
    }
    Conclude(job, worker, first, unobserved, &lanes, totals);
    for (size_t i = 0; i < size; ++i) {
        if (first + (int)(i % JNA_BATCH) >= plan->vertexCount) {
            continue;
        }
        worker->dropped[i / JNA_BATCH] += worker->valid[i] > worker->batch.weight[i];
        if (job->frameLoss != NULL && job->sweep == sweep_fit) {
            job->frameLoss[(size_t)index * frames + i / JNA_BATCH] += worker->valid[i] * worker->frameLoss[i];
        }
    }
}

// Reports from the first thread only; a caller that says no stops all of them.
static void Report(Job* job)
{
    int finished;
#pragma omp atomic capture
    finished = ++job->finished;
    const jnaFitDef* def = job->plan->def;
    if (def->watch.tell != NULL && omp_get_thread_num() == 0) {
        double share = job->startShare + (job->endShare - job->startShare) * finished / job->batches;
        if (!jnaWatch_GoesOn(&def->watch, share)) {
#pragma omp atomic write
            job->cancelled = true;
        }
    }
}

// Runs a sweep over all batches. Everything that depends on their order is put together afterwards.
static jnResult RunSweep(Job* job, Sweep sweep, double endShare, jnError* error)
{
    const jnaFitPlan* plan = job->plan;
    int threads = plan->def->threads > 0 ? plan->def->threads : omp_get_max_threads();
    job->sweep = sweep;
    job->finished = 0;
    job->startShare = job->endShare;
    job->endShare = endShare;
    memset(job->fit->dropped, 0, (size_t)plan->frameCount * sizeof(uint32_t));
    jnResult failure = jn_ok;
#pragma omp parallel num_threads(threads)
    {
        Worker worker;
        jnError workerError;
        jnResult made = MakeWorker(&worker, plan, &workerError);
        if (made != jn_ok) {
#pragma omp critical
            failure = jnFail(error, made, "%s", workerError.message);
        }
#pragma omp for schedule(dynamic, 4)
        for (int index = 0; index < job->batches; ++index) {
            bool cancelled;
#pragma omp atomic read
            cancelled = job->cancelled;
            if (made == jn_ok && !cancelled) {
                SweepOne(job, &worker, index);
                Report(job);
            }
        }
#pragma omp critical
        {
            for (int n = 0; made == jn_ok && n < plan->frameCount; ++n) {
                job->fit->dropped[n] += worker.dropped[n];
            }
            job->passes += worker.passes;
        }
        jnaReleaseArena(&worker.arena);
    }
    if (failure == jn_ok && job->cancelled) {
        return jnFail(error, jn_cancelled, "the fit was interrupted");
    }
    return failure;
}

// Marks the frames with the highest loss over all vertices.
static jnResult FindWorstFrames(const Job* job, uint8_t* out, jnError* error)
{
    size_t frames = (size_t)job->plan->frameCount;
    double* loss = calloc(2 * frames, sizeof(double));
    if (loss == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a fit of %zu frames", frames);
    }
    for (size_t i = 0; i < (size_t)job->batches * frames; ++i) {
        loss[i % frames] += job->frameLoss[i];
    }
    double* sorted = loss + frames;
    memcpy(sorted, loss, frames * sizeof(double));
    qsort(sorted, frames, sizeof(double), CompareDescending);
    size_t drop = (size_t)(job->plan->def->drop * (double)frames);
    size_t ties = drop;
    for (size_t i = 0; i < drop; ++i) {
        ties -= sorted[i] > sorted[drop - 1];
    }
    for (size_t n = 0; n < frames && drop > 0; ++n) {
        bool tie = loss[n] == sorted[drop - 1] && ties > 0;
        out[n] = loss[n] > sorted[drop - 1] || tie;
        ties -= tie;
    }
    free(loss);
    return jn_ok;
}

// A total over all batches, always added in the same order.
static double Total(const Job* job, int which)
{
    double sum = 0.0;
    for (int i = 0; i < job->batches; ++i) {
        sum += job->totals[(size_t)i * TOTALS + (size_t)which];
    }
    return sum;
}

// The same of the first fit; where nothing was dropped there is only one.
static double FirstTotal(const Job* job, int which)
{
    double sum = 0.0;
    if (!(job->plan->def->drop > 0.0)) {
        return Total(job, which == FIRST_ALL ? TOTAL_ALL : TOTAL_KEPT);
    }
    for (int i = 0; i < job->batches; ++i) {
        sum += job->firsts[(size_t)i * FIRSTS + (size_t)which];
    }
    return sum;
}

static void SumUp(const Job* job)
{
    jnaFit* fit = job->fit;
    double before = Total(job, TOTAL_ALL_BEFORE), keptBefore = Total(job, TOTAL_KEPT_BEFORE);
    fit->totalLoss = Total(job, TOTAL_KEPT);
    fit->keptCount = (int64_t)Total(job, TOTAL_KEPT_COUNT);
    fit->totalCaptured = before > 0 ? 1 - Total(job, TOTAL_ALL) / before : (double)NAN;
    fit->keptCaptured = keptBefore > 0 ? 1 - fit->totalLoss / keptBefore : (double)NAN;
    fit->firstKeptLoss = FirstTotal(job, FIRST_KEPT);
    fit->firstCaptured = before > 0 ? 1 - FirstTotal(job, FIRST_ALL) / before : (double)NAN;
    fit->firstKeptCaptured = keptBefore > 0 ? 1 - fit->firstKeptLoss / keptBefore : (double)NAN;
    for (int v = 0; v < fit->vertexCount; ++v) {
        double square = (double)fit->damping[v] * (double)fit->damping[v], four = 4 * (double)fit->stiffness[v];
        fit->underdamped += square < four;
        fit->overdamped += square > four;
        fit->atBound += (fit->state[v] & jna_springAtBound) != 0;
        fit->weak += (fit->state[v] & jna_springWeak) != 0;
        fit->unobserved += (fit->state[v] & jna_springUnobserved) != 0;
    }
    fit->passes = job->passes;
}

static jnResult RunJob(Job* job, uint8_t* out, jnError* error)
{
    const jnaFitDef* def = job->plan->def;
    bool twice = job->frameLoss != NULL, smooths = def->smooth > 0.0;
    jnResult result = jn_ok;
    JN_TRY(RunSweep(job, sweep_fit, smooths || twice ? 0.6 : 1.0, error));
    if (twice) {
        JN_TRY(FindWorstFrames(job, out, error));
        job->out = out;
        JN_TRY(RunSweep(job, sweep_refit, smooths ? 0.9 : 1.0, error));
    }
    if (smooths) {
        double noise = Total(job, TOTAL_KEPT) / fmax(3.0 * Total(job, TOTAL_KEPT_COUNT), 1.0);
        JN_TRY(jnaSmoothParameters(job->plan, noise, job->theta, job->matrix, error));
        JN_TRY(RunSweep(job, sweep_conclude, 1.0, error));
    }
    SumUp(job);
done:
    return result;
}

static jnResult FitAll(const jnaFitDef* def, jnaFit* fit, jnError* error)
{
    jnaFitPlan plan;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    *fit = (jnaFit){0};
    JN_TRY(MakePlan(def, &plan, &arena, error));
    fit->vertexCount = plan.vertexCount;
    fit->frameCount = plan.frameCount;
    JN_TRY(AllocateFit(fit, error));
    Job job = {.plan = &plan, .fit = fit, .batches = (plan.vertexCount + JNA_BATCH - 1) / JNA_BATCH};
    job.theta = jnaArena_Take(&arena, plan.vertexCount, 2 * sizeof(double));
    job.matrix = jnaArena_Take(&arena, plan.vertexCount, 3 * sizeof(double));
    job.totals = jnaArena_Take(&arena, job.batches, TOTALS * sizeof(double));
    job.firsts = jnaArena_Take(&arena, job.batches, FIRSTS * sizeof(double));
    if (def->drop > 0.0 && def->dropBy == jna_dropByFrame) {
        job.frameLoss = jnaArena_Take(&arena, (int64_t)job.batches * plan.frameCount, sizeof(double));
    }
    uint8_t* out = jnaArena_Take(&arena, plan.frameCount, 1);
    JN_TRY(jnaArena_Check(&arena, "the fit of springs", error));
    JN_TRY(RunJob(&job, out, error));
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyFit(fit);
    }
    return result;
}

// A copy of every k-th vertex of an array, at most TRIAL_VERTICES of them, as doubles on the heap.
static jnResult PickVertices(const jnaArray* from, jnaArray* to, jnError* error)
{
    size_t vertices = from->shape[1], picked = vertices < TRIAL_VERTICES ? vertices : TRIAL_VERTICES;
    *to = (jnaArray){.scalar = jna_float64,
        .dimensions = 3,
        .shape = {from->shape[0], picked, 3},
        .count = from->shape[0] * picked * 3};
    double* data = malloc(to->count * sizeof(double));
    if (data == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory");
    }
    for (size_t i = 0; i < to->count; ++i) {
        size_t frame = i / 3 / picked, vertex = i / 3 % picked * vertices / picked;
        data[i] = jnaArray_Get(from, (frame * vertices + vertex) * 3 + i % 3);
    }
    to->data = data;
    return jn_ok;
}

// The share that springs explain on a few vertices of the first sequence, in the given order of arrays or swapped.
static double TrialShare(const jnaFitDef* def, const jnaArray* targets, const jnaArray* dynamics)
{
    jnaSequence sequence = {*targets, *dynamics};
    jnaFitDef trial = *def;
    trial.sequences = &sequence;
    trial.sequenceCount = 1;
    trial.drop = 0.0;
    trial.smooth = 0.0;
    trial.watch = (jnaWatch){0};
    jnaFit fit;
    if (CheckDef(&trial, NULL) != jn_ok || FitAll(&trial, &fit, NULL) != jn_ok) {
        return (double)NAN;
    }
    double share = fit.totalCaptured;
    jnaDestroyFit(&fit);
    return share;
}

// Swapped files look alike, and a fit of them is only bad. Tell, where the other order explains the motion far better.
static jnResult CheckOrder(const jnaFitDef* def, jnError* error)
{
    jnaArray targets = {0}, dynamics = {0};
    jnResult result = jn_ok;
    JN_TRY(PickVertices(&def->sequences[0].targets, &targets, error));
    JN_TRY(PickVertices(&def->sequences[0].dynamics, &dynamics, error));
    double given = TrialShare(def, &targets, &dynamics), swapped = TrialShare(def, &dynamics, &targets);
    // Exchanged arrays are explained almost entirely the other way round; motion that springs fit badly is not.
    if (swapped > 0.8 && 1 - swapped < 0.25 * (1 - given)) {
        result = jnFail(error, jn_badData,
            "springs explain %.0f %% of the motion as given, but %.0f %% with targets and motion exchanged: give "
            "the targets first, then the motion",
            100 * fmax(given, 0), 100 * swapped);
    }
done:
    jnaCloseArray(&targets);
    jnaCloseArray(&dynamics);
    return result;
}

jnResult jnaFitSprings(const jnaFitDef* def, jnaFit* fit, jnError* error)
{
    *fit = (jnaFit){0};
    jnResult result = jn_ok;
    JN_TRY(CheckDef(def, error));
    JN_TRY(def->checkOrder ? CheckOrder(def, error) : jn_ok);
    JN_TRY(FitAll(def, fit, error));
    if (fit->unobserved == fit->vertexCount) {
        jnaDestroyFit(fit);
        result = jnFail(
            error, jn_badData, "no vertex has a valid frame in any sequence: the dynamics hold no finite position");
    }
done:
    return result;
}

jnResult jnaRunSpring(
    const float* targets, int frameCount, double dt, double stiffness, double damping, float* positions, jnError* error)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = 1;
    def.uniformStiffness = (float)stiffness;
    def.uniformDamping = (float)damping;
    def.timing = jn_timingExact;
    jnSprings* springs;
    JN_PASS(jnCreateSprings(&def, &springs, error));
    for (int n = 0; n < frameCount; ++n) { // exact timing shows the sample before
        jnSprings_Step(springs, &(jnSpringsInput){.h = (float)dt, .targets = targets + 3 * (size_t)n},
            &(jnSpringsOutput){.positions = positions + 3 * (size_t)(n > 0 ? n - 1 : 0)});
    }
    jnSprings_Finish(springs, &(jnSpringsOutput){.positions = positions + 3 * (size_t)(frameCount - 1)});
    jnDestroySprings(springs);
    return jn_ok;
}
