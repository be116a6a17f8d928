// Gauss and Newton with Marquardt's damping, all modes side by side.
//
// Residuals are those of the whole model, in which turning frames couple the modes. The derivatives follow the motion
// of the whole model but not how one mode's change moves another, by forward sensitivities through the closed form (as
// in fit_kernel.h):
//     z1 = P z + W v - g (G1 a + G2 j)    z1' = P z' + W v' + P' z + W' v - g (G1' a + G2' j)
// A mode whose own loss does not fall takes its step back and damps more.
#include "learn/modal_fit.h"

#include "base/try.h"
#include "jounce/spring_functions.h"
#include "learn/spring_fit.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 3, ITERATIONS = 24, COMMON_ITERATIONS = 12, STRENGTHS = 7, MOST_FOLDS = 4 };
// How far the logarithms of stiffness, damping and gain plausibly are from the physics.
static const double spreads[NUMBERS] = {0.4, 0.8, 0.4};
static const double strengths[STRENGTHS] = {100, 10, 1, 1e-1, 1e-2, 1e-3, 1e-4};
// Metres: motion below this has nothing to say against the prior.
#define LEAST_AMPLITUDE 1e-4
// A descent ends where an iteration lowers the loss by less than this share.
#define ENOUGH 1e-5
// No number goes farther than this factor from its start.
#define FARTHEST 3.0

typedef struct Data {
    const jnaModalSequence* sequence;
    double *starts, *rates; // [frames - 1][modes]
    double* observed;       // [frames][modes]
    double* weights;        // [frames][modes], 0 where left out
    double* amplitudes;     // [frames][modes], of the last run
    double* velocities;     // [frames][modes], the same
    jnaModalTurns turns;
    double* overlaps; // [frames][modes], sum over vertices of shape . layer, in the skinned frames
    double* layers;   // [frames], sum over vertices of |layer|^2
} Data;

typedef struct Work {
    const jnaModalFitDef* def;
    jnaArena arena;
    jnaModes modes; // a copy with numbers of its own
    size_t count;
    Data* data;
    double common[NUMBERS]; // logarithms relative to the start that all modes share
    double* theta;          // [modes][NUMBERS], logarithms relative to the start and what is common
    double* trial;          // [modes][NUMBERS]
    double* damping;        // [modes], Marquardt's
    double* loss;           // [modes]
    double* kept;           // [modes], loss of theta
    double* size;           // [modes], sum over vertices of |shape|^2: what an amplitude of 1 means to the surface
    double* gram;           // [modes][modes], sum over vertices of shape . shape
    double scale;           // mean over modes of size times square amplitude, summed over frames
    int iterations;
} Work;

// A fit is taken only if it leaves so much less of the held-out motion than the start does: a few clips say little of
// motion of another kind, and what the physics says carries over. Of the fits on every pair of the figure's five clips
// (jounce-bench ablation --splits) the one with a gain of 0.12 captured 0.008 more of the other clips; of four with one
// of 0.01 to 0.09 two captured 0.005 more, two 0.006 and 0.024 less; on five pairs no strength gained anything.
#define LEAST_GAIN 0.1

jnaModalFitDef jnaDefaultModalFitDef(void)
{
    return (jnaModalFitDef){.drop = 0.1, .prior = -1, .heldOut = 0.25, .leastGain = LEAST_GAIN};
}

void jnaDestroyModalFit(jnaModalFit* fit)
{
    free(fit->stiffness);
    free(fit->damping);
    free(fit->gain);
    *fit = (jnaModalFit){0};
}

static void ReleaseWork(Work* w)
{
    for (int s = 0; w->data != NULL && s < w->def->sequenceCount; ++s) {
        jnaDestroyModalTurns(&w->data[s].turns);
    }
    jnaReleaseArena(&w->arena);
}

// Sizes of the shapes and how alike they are.
static void FindGram(Work* w)
{
    const jnaModes* m = w->def->modes;
    size_t width = 3 * (size_t)m->vertexCount;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t k = 0; k < w->count; ++k) {
        for (size_t l = 0; l <= k; ++l) {
            const float *a = m->shapes + k * width, *b = m->shapes + l * width;
            double sum = 0;
            for (size_t i = 0; i < width; ++i) {
                sum += (double)a[i] * (double)b[i];
            }
            w->gram[k * w->count + l] = w->gram[l * w->count + k] = sum;
        }
        w->size[k] = w->gram[k * w->count + k];
    }
}

static jnResult Prepare(Work* w, jnError* error)
{
    const jnaModes* modes = w->def->modes;
    int64_t n = modes->modeCount;
    w->data = jnaArena_Take(&w->arena, w->def->sequenceCount, sizeof(Data));
    w->theta = jnaArena_Take(&w->arena, NUMBERS * n, sizeof(double));
    w->trial = jnaArena_Take(&w->arena, NUMBERS * n, sizeof(double));
    w->damping = jnaArena_Take(&w->arena, n, sizeof(double));
    w->loss = jnaArena_Take(&w->arena, n, sizeof(double));
    w->kept = jnaArena_Take(&w->arena, n, sizeof(double));
    w->size = jnaArena_Take(&w->arena, n, sizeof(double));
    w->gram = jnaArena_Take(&w->arena, n * n, sizeof(double));
    w->modes = *modes;
    w->modes.stiffness = jnaArena_Take(&w->arena, n, sizeof(double));
    w->modes.damping = jnaArena_Take(&w->arena, n, sizeof(double));
    w->modes.gain = jnaArena_Take(&w->arena, n, sizeof(double));
    jnResult result = jnaArena_Check(&w->arena, "a fit of modes", error);
    if (result == jn_ok) {
        FindGram(w);
    }
    return result;
}

static jnResult PrepareSequence(Work* w, const jnaModalSequence* sequence, Data* d, jnError* error)
{
    const jnaModes* modes = w->def->modes;
    int64_t size = (int64_t)sequence->frameCount * modes->modeCount;
    jnResult result = jn_ok;
    double** arrays[] = {
        &d->starts, &d->rates, &d->observed, &d->weights, &d->amplitudes, &d->velocities, &d->overlaps};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        *arrays[i] = jnaArena_Take(&w->arena, size, sizeof(double));
    }
    d->layers = jnaArena_Take(&w->arena, sequence->frameCount, sizeof(double));
    d->sequence = sequence;
    JN_TRY(jnaArena_Check(&w->arena, "the frames of a fit", error));
    JN_TRY(jnaModes_Force(modes, sequence, d->starts, d->rates, error));
    JN_TRY(jnaModes_Observe(modes, w->def->character, sequence, d->observed, error));
    JN_TRY(jnaModes_FindTurns(modes, sequence, &d->turns, error));
    JN_TRY(jnaModes_Overlap(modes, sequence, d->overlaps, d->layers, error));
    for (size_t i = 0; i < (size_t)size; ++i) {
        double least = LEAST_AMPLITUDE * LEAST_AMPLITUDE, square = d->observed[i] * d->observed[i];
        w->scale += w->size[i % w->count] * (least + square) / (double)w->count;
    }
done:
    return result;
}

// The modes at theta: numbers are the start's times e^(common + theta).
static void SetModes(Work* w, const double* theta)
{
    for (size_t k = 0; k < w->count; ++k) {
        w->modes.stiffness[k] = w->def->modes->stiffness[k] * exp(w->common[0] + theta[NUMBERS * k]);
        double damping = w->def->modes->damping[k] * exp(w->common[1] + theta[NUMBERS * k + 1]);
        w->modes.damping[k] = fmax(damping, fmin(JNA_LEAST_DAMPING, w->def->modes->damping[k]));
        w->modes.gain[k] = w->def->modes->gain[k] * exp(w->common[2] + theta[NUMBERS * k + 2]);
    }
}

static double PriorOf(const Work* w, const double* theta, double strength)
{
    double sum = 0;
    for (int i = 0; i < NUMBERS; ++i) {
        sum += theta[i] * theta[i] / (spreads[i] * spreads[i]);
    }
    return strength * w->scale * sum;
}

// Runs the whole model at theta; losses of all modes.
static jnResult Run(Work* w, const double* theta, double strength, double* loss, jnError* error)
{
    jnResult result = jn_ok;
    SetModes(w, theta);
    memset(loss, 0, w->count * sizeof(double));
    for (int s = 0; result == jn_ok && s < w->def->sequenceCount; ++s) {
        Data* d = &w->data[s];
        const jnaModalDrive drive = {d->starts, d->rates, &d->turns};
        result = jnaModes_Run(&w->modes, d->sequence, &drive, d->amplitudes, d->velocities, error);
        for (size_t i = 0; i < (size_t)d->sequence->frameCount * w->count; ++i) {
            double residual = d->amplitudes[i] - d->observed[i];
            loss[i % w->count] += w->size[i % w->count] * d->weights[i] * residual * residual;
        }
    }
    for (size_t k = 0; k < w->count; ++k) {
        loss[k] += PriorOf(w, theta + NUMBERS * k, strength);
    }
    return result;
}

// Normal equations of one mode from the amplitudes of the last run.
static void FindNormal(const Work* w, size_t k, double matrix[NUMBERS][NUMBERS], double gradient[NUMBERS])
{
    double ks = w->modes.stiffness[k], kd = w->modes.damping[k], g = w->modes.gain[k];
    for (int s = 0; s < w->def->sequenceCount; ++s) {
        const Data* d = &w->data[s];
        jnSpringResponse by[2], r = jnDifferentiateSpring(ks, kd, d->sequence->dt, &by[0], &by[1]);
        double dz[NUMBERS] = {0}, dv[NUMBERS] = {0};
        for (int n = 0; n + 1 < d->sequence->frameCount; ++n) {
            size_t at = (size_t)n * w->count + k;
            double a = d->starts[at], j = d->rates[at], pushZ = r.step * a + r.ramp * j,
                   pushV = r.impulse * a + r.step * j;
            double z = d->amplitudes[at], v = d->velocities[at], nextZ[NUMBERS], nextV[NUMBERS];
            for (int i = 0; i < NUMBERS; ++i) {
                nextZ[i] = r.position * dz[i] + r.impulse * dv[i];
                nextV[i] = -ks * r.impulse * dz[i] + r.velocity * dv[i];
            }
            for (int i = 0; i < 2; ++i) {
                const jnSpringResponse* q = &by[i];
                double stiff = ks * q->impulse + (i == 0 ? r.impulse : 0), scale = i == 0 ? ks : kd;
                nextZ[i] += scale * (q->position * z + q->impulse * v - g * (q->step * a + q->ramp * j));
                nextV[i] += scale * (-stiff * z + q->velocity * v - g * (q->impulse * a + q->step * j));
            }
            nextZ[2] -= g * pushZ;
            nextV[2] -= g * pushV;
            memcpy(dz, nextZ, sizeof(dz));
            memcpy(dv, nextV, sizeof(dv));
            size_t next = at + w->count;
            double weight = w->size[k] * d->weights[next];
            double residual = weight * (d->amplitudes[next] - d->observed[next]);
            for (int i = 0; i < NUMBERS; ++i) {
                gradient[i] += residual * dz[i];
                for (int l = 0; l < NUMBERS; ++l) {
                    matrix[i][l] += weight * dz[i] * dz[l];
                }
            }
        }
    }
}

// x = -matrix^-1 gradient by Gauss; a matrix with a positive diagonal is meant.
static void Solve(double matrix[NUMBERS][NUMBERS], const double gradient[NUMBERS], double x[NUMBERS])
{
    double m[NUMBERS][NUMBERS + 1];
    for (int i = 0; i < NUMBERS; ++i) {
        memcpy(m[i], matrix[i], sizeof(matrix[i]));
        m[i][NUMBERS] = -gradient[i];
    }
    for (int i = 0; i < NUMBERS; ++i) {
        for (int row = i + 1; row < NUMBERS; ++row) {
            double factor = m[i][i] != 0 ? m[row][i] / m[i][i] : 0;
            for (int l = i; l <= NUMBERS; ++l) {
                m[row][l] -= factor * m[i][l];
            }
        }
    }
    for (int i = NUMBERS - 1; i >= 0; --i) {
        x[i] = m[i][NUMBERS];
        for (int l = i + 1; l < NUMBERS; ++l) {
            x[i] -= m[i][l] * x[l];
        }
        x[i] = m[i][i] != 0 ? x[i] / m[i][i] : 0;
    }
}

// A gain that is kept: its row and column become those of the identity.
static void KeepGain(double matrix[NUMBERS][NUMBERS], double gradient[NUMBERS])
{
    matrix[2][2] = 1;
    matrix[0][2] = matrix[1][2] = matrix[2][0] = matrix[2][1] = gradient[2] = 0;
}

// At most half a unit of the logarithm at once, and never too far from the start.
static double Limit(double from, double step)
{
    double limit = log(FARTHEST);
    return fmin(fmax(from + fmin(fmax(step, -0.5), 0.5), -limit), limit);
}

static void Propose(Work* w, size_t k, double strength)
{
    double matrix[NUMBERS][NUMBERS] = {{0}}, gradient[NUMBERS] = {0}, step[NUMBERS];
    double *theta = w->theta + NUMBERS * k, *trial = w->trial + NUMBERS * k;
    FindNormal(w, k, matrix, gradient);
    for (int i = 0; i < NUMBERS; ++i) {
        double prior = strength * w->scale / (spreads[i] * spreads[i]);
        matrix[i][i] += prior;
        gradient[i] += prior * theta[i];
        matrix[i][i] += w->damping[k] * matrix[i][i] + 1e-30;
    }
    if (w->def->keepGain) {
        KeepGain(matrix, gradient);
    }
    Solve(matrix, gradient, step);
    for (int i = 0; i < NUMBERS; ++i) {
        trial[i] = Limit(theta[i], step[i]);
    }
}

// From theta as it is.
static jnResult Descend(Work* w, double strength, jnError* error)
{
    jnResult result = jn_ok;
    JN_TRY(Run(w, w->theta, strength, w->kept, error));
    for (size_t k = 0; k < w->count; ++k) {
        w->damping[k] = 1e-3;
    }
    double before = HUGE_VAL;
    for (int i = 0; i < ITERATIONS; ++i) {
        double total = 0;
        for (size_t k = 0; k < w->count; ++k) {
            total += w->kept[k];
            Propose(w, k, strength);
        }
        w->iterations++;
        if (i > 2 && before - total < ENOUGH * total) {
            break;
        }
        before = total;
        JN_TRY(Run(w, w->trial, strength, w->loss, error));
        for (size_t k = 0; k < w->count; ++k) {
            bool better = w->loss[k] < w->kept[k];
            w->damping[k] = better ? fmax(w->damping[k] / 5, 1e-6) : fmin(w->damping[k] * 8, 1e6);
            if (better) {
                memcpy(w->theta + NUMBERS * k, w->trial + NUMBERS * k, NUMBERS * sizeof(double));
            }
        }
        // Modes lean on each other where frames turn: what was kept is measured again, together.
        JN_TRY(Run(w, w->theta, strength, w->kept, error));
    }
done:
    return result;
}

static double Sum(const Work* w, const double* loss)
{
    double total = 0;
    for (size_t k = 0; k < w->count; ++k) {
        total += loss[k];
    }
    return total;
}

// What all modes have in common: flesh that is stiffer or more damped in motion than at rest is so everywhere, and a
// mode that the motion does not show inherits it. One step of all modes together at a time.
static jnResult DescendCommon(Work* w, jnError* error)
{
    double damping = 1e-3;
    memset(w->common, 0, sizeof(w->common));
    memset(w->theta, 0, NUMBERS * w->count * sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(Run(w, w->theta, 0, w->kept, error));
    for (int i = 0; i < COMMON_ITERATIONS && w->count > 0; ++i) {
        double matrix[NUMBERS][NUMBERS] = {{0}}, gradient[NUMBERS] = {0}, step[NUMBERS], before[NUMBERS];
        for (size_t k = 0; k < w->count; ++k) {
            FindNormal(w, k, matrix, gradient);
        }
        for (int n = 0; n < NUMBERS; ++n) {
            matrix[n][n] *= 1 + damping;
        }
        if (w->def->keepGain) {
            KeepGain(matrix, gradient);
        }
        Solve(matrix, gradient, step);
        memcpy(before, w->common, sizeof(before));
        for (int n = 0; n < NUMBERS; ++n) {
            w->common[n] = Limit(before[n], step[n]);
        }
        JN_TRY(Run(w, w->theta, 0, w->loss, error));
        double was = Sum(w, w->kept), is = Sum(w, w->loss);
        bool better = is < was;
        damping = better ? damping / 5 : damping * 8;
        memcpy(better ? w->kept : w->common, better ? w->loss : before, (better ? w->count : NUMBERS) * sizeof(double));
        if (!better) {
            JN_TRY(Run(w, w->theta, 0, w->kept, error));
        } else if (was - is < ENOUGH * was) {
            break;
        }
    }
done:
    return result;
}

static int CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

// Frames that a fold holds back: a whole sequence where there are several, the end of the only one. Fold -1: none.
static bool IsHeld(const Work* w, int fold, int sequence, int frame)
{
    int frames = w->data[sequence].sequence->frameCount;
    return fold >= 0 &&
           (w->def->sequenceCount > 1 ? sequence == fold : frame >= (int)ceil((1 - w->def->heldOut) * frames));
}

static void UseFrames(Work* w, int fold)
{
    for (int s = 0; s < w->def->sequenceCount; ++s) {
        for (size_t i = 0; i < (size_t)w->data[s].sequence->frameCount * w->count; ++i) {
            w->data[s].weights[i] = IsHeld(w, fold, s, (int)(i / w->count)) ? 0 : 1;
        }
    }
}

// Leaves out the worst frames of each mode, of those that count.
static jnResult DropFrames(Work* w, jnError* error)
{
    size_t most = 0;
    for (int s = 0; s < w->def->sequenceCount; ++s) {
        most += (size_t)w->data[s].sequence->frameCount;
    }
    double* squares = malloc((most + 1) * sizeof(double));
    if (squares == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to fit %zu frames", most);
    }
    for (size_t k = 0; k < w->count; ++k) {
        double limit = HUGE_VAL; // by the first pass, for the second
        for (int pass = 0; pass < 2; ++pass) {
            size_t used = 0;
            for (int s = 0; s < w->def->sequenceCount; ++s) {
                Data* d = &w->data[s];
                for (size_t at = k; at < (size_t)d->sequence->frameCount * w->count; at += w->count) {
                    double residual = d->amplitudes[at] - d->observed[at];
                    if (pass == 0 && d->weights[at] > 0) {
                        squares[used++] = residual * residual;
                    } else if (pass == 1 && residual * residual > limit) {
                        d->weights[at] = 0;
                    }
                }
            }
            if (pass == 0 && used > 0) {
                qsort(squares, used, sizeof(double), CompareDoubles);
                limit = squares[(size_t)((1 - w->def->drop) * (double)(used - 1))];
            }
        }
    }
    free(squares);
    return jn_ok;
}

// A fit of one strength on the frames that a fold leaves, the robust one included, from theta as it is.
static jnResult Fit(Work* w, double strength, int fold, jnError* error)
{
    jnResult result = jn_ok;
    UseFrames(w, fold);
    JN_TRY(Descend(w, strength, error));
    if (w->def->drop > 0) {
        JN_TRY(DropFrames(w, error));
        JN_TRY(Descend(w, strength, error));
    }
done:
    return result;
}

static void Forget(Work* w)
{
    memset(w->theta, 0, NUMBERS * w->count * sizeof(double));
    memset(w->common, 0, sizeof(w->common));
}

// Sums over the vertices of one frame: of the layer's square, and of what amplitudes leave of it.
static double Leave(const Work* w, const Data* d, int frame)
{
    const double *z = d->amplitudes + (size_t)frame * w->count, *o = d->overlaps + (size_t)frame * w->count;
    double sum = d->layers[frame];
    for (size_t k = 0; k < w->count; ++k) {
        double row = 0;
        for (size_t l = 0; l < w->count; ++l) {
            row += w->gram[k * w->count + l] * z[l];
        }
        sum += z[k] * (row - 2 * o[k]);
    }
    return sum;
}

// Adds up what the modes at theta leave of the layer, and the layer, over the frames that a fold holds back; with -1
// over all.
static jnResult AddCaptured(Work* w, int fold, double sums[2], jnError* error)
{
    jnResult result = Run(w, w->theta, 0, w->loss, error);
    for (int s = 0; result == jn_ok && s < w->def->sequenceCount; ++s) {
        const Data* d = &w->data[s];
        for (int n = 0; n < d->sequence->frameCount; ++n) {
            if (fold < 0 || IsHeld(w, fold, s, n)) {
                sums[0] += Leave(w, d, n);
                sums[1] += d->layers[n];
            }
        }
    }
    return result;
}

static double Share(const double sums[2])
{
    return sums[1] > 0 ? 1 - sums[0] / sums[1] : (double)NAN;
}

// Sequences are held back in turn, so that what is chosen is what carries over to motion of another kind.
static jnResult ChooseStrength(Work* w, jnaModalFit* fit, jnError* error)
{
    double start[2] = {0}, sums[STRENGTHS][2] = {{0}};
    int folds = w->def->sequenceCount < MOST_FOLDS ? w->def->sequenceCount : MOST_FOLDS;
    jnResult result = jn_ok;
    for (int fold = 0; fold < folds; ++fold) {
        Forget(w);
        JN_TRY(AddCaptured(w, fold, start, error));
        UseFrames(w, fold);
        JN_TRY(DescendCommon(w, error));
        for (int i = 0; i < STRENGTHS; ++i) { // from the strongest, each from the one before
            JN_TRY(Fit(w, strengths[i], fold, error));
            JN_TRY(AddCaptured(w, fold, sums[i], error));
        }
    }
    fit->heldOutStart = fit->heldOutCaptured = Share(start);
    fit->prior = HUGE_VAL;
    for (int i = 0; i < STRENGTHS; ++i) {
        bool better = sums[i][0] < (1 - w->def->leastGain) * start[0];
        if (better && Share(sums[i]) > fit->heldOutCaptured) {
            fit->heldOutCaptured = Share(sums[i]);
            fit->prior = strengths[i];
        }
    }
done:
    return result;
}

static bool AllFinite(const float* numbers, size_t count)
{
    bool good = true;
    for (size_t i = 0; numbers != NULL && i < count; ++i) {
        good = good && isfinite(numbers[i]);
    }
    return good;
}

static jnResult Check(const jnaModalFitDef* def, jnError* error)
{
    if (def->sequenceCount < 1 || !(def->drop >= 0 && def->drop <= 0.5) ||
        !(def->heldOut >= 0.05 && def->heldOut <= 0.5)) {
        return jnFail(error, jn_badArgument,
            "a fit of modes needs a sequence, 0 to 0.5 of frames dropped, 0.05 to 0.5 held out; not %d, %g and %g",
            def->sequenceCount, def->drop, def->heldOut);
    }
    for (int s = 0; s < def->sequenceCount; ++s) {
        const jnaModalSequence* q = &def->sequences[s];
        if (q->motion == NULL || q->targets == NULL || q->frameCount < 8 || q->vertexCount != def->modes->vertexCount ||
            !(q->dt > 0 && isfinite(q->dt))) {
            return jnFail(error, jn_badArgument,
                "sequence %d: %d frames of %d vertices; a fit needs targets and motion, 8 frames or more of %d "
                "vertices",
                s + 1, q->frameCount, q->vertexCount, def->modes->vertexCount);
        }
        for (size_t i = 0; i < 3 * (size_t)q->frameCount * (size_t)q->vertexCount; ++i) {
            if (!isfinite(q->motion[i]) || !isfinite(q->targets[i])) {
                return jnFail(error, jn_badData, "sequence %d: vertex %zu of frame %zu is not finite", s + 1,
                    i / 3 % (size_t)q->vertexCount, i / 3 / (size_t)q->vertexCount);
            }
        }
        if (!AllFinite(q->rotations, 4 * (size_t)q->frameCount * (size_t)q->vertexCount) ||
            !AllFinite(q->turns, 4 * (size_t)q->frameCount * (size_t)def->modes->jointCount)) {
            return jnFail(error, jn_badData, "sequence %d: a rotation is not finite", s + 1);
        }
    }
    return jn_ok;
}

jnResult jnaFitModes(const jnaModalFitDef* def, jnaModalFit* fit, jnError* error)
{
    *fit = (jnaModalFit){.modeCount = def->modes->modeCount,
        .prior = def->prior,
        .heldOutStart = (double)NAN,
        .heldOutCaptured = (double)NAN};
    jnResult result = jn_ok;
    Work w = {.def = def, .count = (size_t)def->modes->modeCount};
    double start[2] = {0}, end[2] = {0};
    JN_TRY(Check(def, error));
    fit->stiffness = jnaArena_Give(&w.arena, def->modes->modeCount, sizeof(double));
    fit->damping = jnaArena_Give(&w.arena, def->modes->modeCount, sizeof(double));
    fit->gain = jnaArena_Give(&w.arena, def->modes->modeCount, sizeof(double));
    JN_TRY(jnaArena_Check(&w.arena, "the fit of modes", error));
    JN_TRY(Prepare(&w, error));
    for (int s = 0; s < def->sequenceCount; ++s) {
        JN_TRY(PrepareSequence(&w, &def->sequences[s], &w.data[s], error));
    }
    JN_TRY(AddCaptured(&w, -1, start, error));
    JN_TRY(def->prior < 0 ? ChooseStrength(&w, fit, error) : jn_ok);
    Forget(&w);
    UseFrames(&w, -1);
    if (isfinite(fit->prior)) {
        JN_TRY(DescendCommon(&w, error));
        JN_TRY(Fit(&w, fit->prior, -1, error));
    }
    JN_TRY(AddCaptured(&w, -1, end, error));
    fit->startCaptured = Share(start);
    fit->captured = Share(end);
    memcpy(fit->stiffness, w.modes.stiffness, w.count * sizeof(double));
    memcpy(fit->damping, w.modes.damping, w.count * sizeof(double));
    memcpy(fit->gain, w.modes.gain, w.count * sizeof(double));
    fit->iterations = w.iterations;
done:
    if (result != jn_ok) {
        jnaDestroyModalFit(fit);
    }
    ReleaseWork(&w);
    return result;
}
