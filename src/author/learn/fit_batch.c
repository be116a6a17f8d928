// Loading a batch: targets become second differences, dynamics become offsets, missing frames become weights of 0.
#include "learn/fit_batch.h"

#include "jounce/spring_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void jnaFitBatch_Allocate(jnaFitBatch* batch, const jnaFitPlan* plan, jnaArena* arena)
{
    int64_t frames = plan->frameCount;
    *batch = (jnaFitBatch){.frameCount = plan->frameCount};
    batch->bend = jnaArena_Take(arena, frames, 3 * JNA_BATCH * sizeof(double));
    batch->offset = jnaArena_Take(arena, frames, 3 * JNA_BATCH * sizeof(double));
    batch->weight = jnaArena_Take(arena, frames, JNA_BATCH * sizeof(double));
    batch->runs = jnaArena_Take(arena, plan->def->sequenceCount, JNA_MAX_RUNS * sizeof(jnaFitRun));
}

// Position of one vertex in one frame, as doubles.
static inline void ReadPoint(const jnaArray* array, size_t entry, double point[3])
{
    if (array->scalar == jna_float32) {
        const float* data = (const float*)array->data + 3 * entry;
        for (int i = 0; i < 3; ++i) {
            point[i] = (double)data[i];
        }
    } else {
        memcpy(point, (const double*)array->data + 3 * entry, 3 * sizeof(double));
    }
}

// Offsets and weights of one vertex in one sequence; `bend` holds the targets for now. Returns its valid frames.
static int LoadSequence(jnaFitBatch* batch, const jnaFitPlan* plan, int s, int lane, size_t vertex)
{
    const jnaSequence* sequence = &plan->def->sequences[s];
    size_t frames = sequence->targets.shape[0], first = (size_t)plan->starts[s],
           field = (size_t)plan->frameCount * JNA_BATCH;
    int valid = 0;
    for (size_t n = 0; n < frames; ++n) {
        double target[3], observed[3];
        size_t entry = n * (size_t)plan->vertexCount + vertex, at = (first + n) * JNA_BATCH + (size_t)lane;
        ReadPoint(&sequence->targets, entry, target);
        ReadPoint(&sequence->dynamics, entry, observed);
        bool present = isfinite(observed[0] + observed[1] + observed[2]);
        valid += present;
        batch->weight[at] = present ? 1.0 : 0.0;
        for (size_t axis = 0; axis < 3; ++axis) {
            batch->bend[axis * field + at] = target[axis];
            batch->offset[axis * field + at] = present ? observed[axis] - target[axis] : 0.0;
        }
    }
    return valid;
}

// Targets of a lane become second differences over dt^2, zero at both ends: there the slopes are one-sided.
static void BendTargets(double* values, size_t frames, double dt)
{
    double scale = 1.0 / (dt * dt), previous = values[0];
    for (size_t n = 0; n < frames; ++n) {
        double here = values[n * JNA_BATCH];
        bool inside = n > 0 && n + 1 < frames;
        values[n * JNA_BATCH] = inside ? ((values[(n + 1) * JNA_BATCH] - here) - (here - previous)) * scale : 0.0;
        previous = here;
    }
}

// The first frame of a lane's sequence from which three valid ones follow each other; the first frame of all if there
// is none.
static size_t FirstObserved(const jnaFitBatch* batch, size_t first, size_t end, size_t lane)
{
    for (size_t n = first; n + 2 < end; ++n) {
        const double* weight = batch->weight + n * JNA_BATCH + lane;
        if (weight[0] * weight[JNA_BATCH] * weight[2 * JNA_BATCH] > 0.0) {
            return n;
        }
    }
    return first;
}

// Start of one lane from what was observed: its position, and its velocity by a one-sided difference. Needs the
// targets, so it runs before they are bent. Frames before the start say nothing.
static void StartObserved(
    jnaFitBatch* batch, const jnaFitPlan* plan, size_t first, size_t begin, size_t lane, jnaFitRun* run)
{
    size_t field = (size_t)plan->frameCount * JNA_BATCH;
    for (size_t axis = 0; axis < 3; ++axis) {
        const double* x = batch->bend + axis * field + begin * JNA_BATCH + lane;
        const double* o = batch->offset + axis * field + begin * JNA_BATCH + lane;
        double p0 = x[0] + o[0], p1 = x[JNA_BATCH] + o[JNA_BATCH], p2 = x[2 * JNA_BATCH] + o[2 * JNA_BATCH];
        double velocity = (-1.5 * p0 + 2.0 * p1 - 0.5 * p2) / plan->def->dt;
        double before = begin > first ? x[-JNA_BATCH] : 2.0 * x[0] - x[JNA_BATCH];
        double slope = 0.5 * (x[JNA_BATCH] - before) / plan->def->dt;
        run->first[0][axis][lane] = o[0];
        run->first[1][axis][lane] = velocity - slope;
    }
    for (size_t n = first; n < begin; ++n) {
        batch->weight[n * JNA_BATCH + lane] = 0.0;
    }
}

// Cuts a sequence into runs at the frames where lanes begin.
static void CutRuns(jnaFitBatch* batch, const jnaFitPlan* plan, int s)
{
    size_t first = (size_t)plan->starts[s], end = (size_t)plan->starts[s + 1], begins[JNA_BATCH];
    bool observed = plan->def->start == jna_fitStartObserved && end - first >= 3;
    for (size_t lane = 0; lane < JNA_BATCH; ++lane) {
        begins[lane] = observed ? FirstObserved(batch, first, end, lane) : first;
    }
    for (size_t at = first, next; at < end; at = next) {
        jnaFitRun* run = &batch->runs[batch->runCount];
        memset(run, 0, sizeof(*run));
        next = end;
        for (size_t lane = 0; lane < JNA_BATCH; ++lane) {
            next = begins[lane] > at && begins[lane] < next ? begins[lane] : next;
            run->marks[lane] = begins[lane] == at || (at == first && !observed) ? 1.0 : 0.0;
            bool present = batch->weight[at * JNA_BATCH + lane] > 0.0;
            if (observed && run->marks[lane] > 0.0 && present) {
                StartObserved(batch, plan, first, at, lane, run);
            }
        }
        run->begin = (int)at;
        run->end = (int)next;
        run->last = next == end;
        batch->runCount++;
    }
}

uint32_t jnaFitBatch_Load(jnaFitBatch* batch, const jnaFitPlan* plan, int first)
{
    uint32_t unobserved = 0;
    int sequences = plan->def->sequenceCount;
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        int vertex = first + lane < plan->vertexCount ? first + lane : plan->vertexCount - 1, valid = 0;
        for (int s = 0; s < sequences; ++s) {
            valid += LoadSequence(batch, plan, s, lane, (size_t)vertex);
        }
        unobserved |= valid == 0 ? 1u << lane : 0;
    }
    batch->runCount = 0;
    for (int s = 0; s < sequences; ++s) {
        CutRuns(batch, plan, s);
        size_t frames = (size_t)(plan->starts[s + 1] - plan->starts[s]);
        for (size_t i = 0; i < 3 * JNA_BATCH; ++i) {
            size_t field = (i / JNA_BATCH) * (size_t)plan->frameCount * JNA_BATCH;
            BendTargets(
                batch->bend + field + (size_t)plan->starts[s] * JNA_BATCH + i % JNA_BATCH, frames, plan->def->dt);
        }
    }
    return unobserved;
}

// The eight coefficients of the kernel from the six responses, or the same combination of their derivatives.
static void StoreCoefficients(const jnSpringResponse* r, double backward, double h, double (*c)[JNA_BATCH], int lane)
{
    double ramp = 3.0 * r->ramp / h, step = 3.0 * r->step / h;
    c[KERNEL_P][lane] = r->position;
    c[KERNEL_W][lane] = r->impulse;
    c[KERNEL_K0][lane] = ramp - 2.0 * r->step;
    c[KERNEL_K1][lane] = r->step - ramp;
    c[KERNEL_R][lane] = backward;
    c[KERNEL_Q][lane] = r->velocity;
    c[KERNEL_V0][lane] = step - 2.0 * r->impulse;
    c[KERNEL_V1][lane] = r->impulse - step;
}

void jnaFitCoefficientsAt(const double theta[2][JNA_BATCH], double dt, jnaFitCoefficients c)
{
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        double ks = exp(theta[0][lane]), kd = exp(theta[1][lane]);
        jnSpringResponse byS, byD, r = jnDifferentiateSpring(ks, kd, dt, &byS, &byD);
        StoreCoefficients(&r, -ks * r.impulse, dt, c[KERNEL_VALUES], lane);
        StoreCoefficients(&byS, -r.impulse - ks * byS.impulse, dt, c[KERNEL_BY_STIFFNESS], lane);
        StoreCoefficients(&byD, -ks * byD.impulse, dt, c[KERNEL_BY_DAMPING], lane);
    }
}
