// The body of the fitting kernels; see fit_kernel.h. One axis and one vector of lanes at a time, so that the states,
// their sensitivities and the sums stay in registers while a sequence runs through.
#define JN_WANTS_LANES
#include "runtime/for_author.h"

#include "learn/fit_kernel.h"

static inline jnDoubles LoadDoubles(const double* from)
{
    jnDoubles values;
    memcpy(&values, from, sizeof(values));
    return values;
}

static inline void AddDoubles(double* to, jnDoubles values)
{
    values += LoadDoubles(to);
    memcpy(to, &values, sizeof(values));
}

typedef struct Motion {
    jnDoubles y, v;
} Motion;

// The linear map of one set of coefficients.
static inline Motion Apply(const double (*c)[JNA_BATCH], int lane, Motion m, jnDoubles bend0, jnDoubles bend1)
{
    Motion next;
    next.y = LoadDoubles(c[KERNEL_P] + lane) * m.y + LoadDoubles(c[KERNEL_W] + lane) * m.v +
             (LoadDoubles(c[KERNEL_K0] + lane) * bend0 + LoadDoubles(c[KERNEL_K1] + lane) * bend1);
    next.v = LoadDoubles(c[KERNEL_R] + lane) * m.y + LoadDoubles(c[KERNEL_Q] + lane) * m.v +
             (LoadDoubles(c[KERNEL_V0] + lane) * bend0 + LoadDoubles(c[KERNEL_V1] + lane) * bend1);
    return next;
}

// A sensitivity: the map of the values on it, plus the map of the derivatives on the motion.
static inline Motion ApplyBoth(
    jnaFitCoefficients c, int set, int lane, Motion sensitivity, Motion m, jnDoubles bend0, jnDoubles bend1)
{
    Motion next = Apply(c[set], lane, m, bend0, bend1);
    next.y += LoadDoubles(c[KERNEL_VALUES][KERNEL_P] + lane) * sensitivity.y +
              LoadDoubles(c[KERNEL_VALUES][KERNEL_W] + lane) * sensitivity.v;
    next.v += LoadDoubles(c[KERNEL_VALUES][KERNEL_R] + lane) * sensitivity.y +
              LoadDoubles(c[KERNEL_VALUES][KERNEL_Q] + lane) * sensitivity.v;
    return next;
}

// Lanes that begin with this run take its start; their sensitivities begin at zero.
static inline Motion Begin(const jnaFitRun* run, int axis, int lane, Motion m)
{
    jnDoubles mark = LoadDoubles(run->marks + lane);
    m.y += mark * (LoadDoubles(run->first[0][axis] + lane) - m.y);
    m.v += mark * (LoadDoubles(run->first[1][axis] + lane) - m.v);
    return m;
}

static inline Motion Forget(const jnaFitRun* run, int lane, Motion m)
{
    jnDoubles keep = 1.0 - LoadDoubles(run->marks + lane);
    return (Motion){m.y * keep, m.v * keep};
}

static void DifferentiateAxis(const jnaFitBatch* batch, jnaFitCoefficients c, int axis, int lane, jnaFitSums* sums)
{
    size_t field = (size_t)axis * (size_t)batch->frameCount * JNA_BATCH + (size_t)lane;
    const double* bend = batch->bend + field;
    const double* offset = batch->offset + field;
    const double* weight = batch->weight + lane;
    jnDoubles none = LoadDoubles(offset) * 0.0;
    jnDoubles loss = none, gs = none, gd = none, ss = none, sd = none, dd = none;
    Motion m = {none, none}, byS = m, byD = m;
    for (const jnaFitRun* run = batch->runs; run < batch->runs + batch->runCount; ++run) {
        m = Begin(run, axis, lane, m);
        byS = Forget(run, lane, byS);
        byD = Forget(run, lane, byD);
        size_t end = (size_t)run->end;
        for (size_t n = (size_t)run->begin; n < end; ++n) {
            jnDoubles w = LoadDoubles(weight + n * JNA_BATCH);
            jnDoubles r = w * (m.y - LoadDoubles(offset + n * JNA_BATCH));
            jnDoubles ys = w * byS.y, yd = w * byD.y;
            loss += r * r;
            gs += r * ys;
            gd += r * yd;
            ss += ys * ys;
            sd += ys * yd;
            dd += yd * yd;
            if (n + 1 == end && run->last) {
                break;
            }
            jnDoubles bend0 = LoadDoubles(bend + n * JNA_BATCH), bend1 = LoadDoubles(bend + (n + 1) * JNA_BATCH);
            byS = ApplyBoth(c, KERNEL_BY_STIFFNESS, lane, byS, m, bend0, bend1);
            byD = ApplyBoth(c, KERNEL_BY_DAMPING, lane, byD, m, bend0, bend1);
            m = Apply(c[KERNEL_VALUES], lane, m, bend0, bend1);
        }
    }
    AddDoubles(sums->loss + lane, loss);
    AddDoubles(sums->gradient[0] + lane, gs);
    AddDoubles(sums->gradient[1] + lane, gd);
    AddDoubles(sums->matrix[0] + lane, ss);
    AddDoubles(sums->matrix[1] + lane, sd);
    AddDoubles(sums->matrix[2] + lane, dd);
}

static void Differentiate(const jnaFitBatch* batch, jnaFitCoefficients c, jnaFitSums* sums)
{
    memset(sums, 0, sizeof(*sums));
    for (int lane = 0; lane < JNA_BATCH; lane += JN_DOUBLE_WIDTH) {
        for (int axis = 0; axis < 3; ++axis) {
            DifferentiateAxis(batch, c, axis, lane, sums);
        }
    }
}

static void EvaluateAxis(
    const jnaFitBatch* batch, jnaFitCoefficients c, int axis, int lane, double* loss, double* frameLoss)
{
    size_t field = (size_t)axis * (size_t)batch->frameCount * JNA_BATCH + (size_t)lane;
    const double* bend = batch->bend + field;
    const double* offset = batch->offset + field;
    const double* weight = batch->weight + lane;
    jnDoubles sum = LoadDoubles(offset) * 0.0;
    Motion m = {sum, sum};
    for (const jnaFitRun* run = batch->runs; run < batch->runs + batch->runCount; ++run) {
        m = Begin(run, axis, lane, m);
        size_t end = (size_t)run->end;
        for (size_t n = (size_t)run->begin; n < end; ++n) {
            jnDoubles r = m.y - LoadDoubles(offset + n * JNA_BATCH);
            if (frameLoss != NULL) {
                AddDoubles(frameLoss + n * JNA_BATCH + lane, r * r);
            }
            r *= LoadDoubles(weight + n * JNA_BATCH);
            sum += r * r;
            if (n + 1 == end && run->last) {
                break;
            }
            m = Apply(
                c[KERNEL_VALUES], lane, m, LoadDoubles(bend + n * JNA_BATCH), LoadDoubles(bend + (n + 1) * JNA_BATCH));
        }
    }
    AddDoubles(loss + lane, sum);
}

static void Evaluate(const jnaFitBatch* batch, jnaFitCoefficients c, double* loss, double* frameLoss)
{
    memset(loss, 0, JNA_BATCH * sizeof(double));
    if (frameLoss != NULL) {
        memset(frameLoss, 0, (size_t)batch->frameCount * JNA_BATCH * sizeof(double));
    }
    for (int lane = 0; lane < JNA_BATCH; lane += JN_DOUBLE_WIDTH) {
        for (int axis = 0; axis < 3; ++axis) {
            EvaluateAxis(batch, c, axis, lane, loss, frameLoss);
        }
    }
}

const jnaFitKernels JNA_KERNELS = {Differentiate, Evaluate};
