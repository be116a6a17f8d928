// From a guess to the minimum, all lanes of a batch in step: a genetic algorithm for the guess, then
// Levenberg-Marquardt or gradient descent. theta are logarithms; the objective is loss + priorWeight |theta -
// priorTheta|^2.
#include "learn/fit_batch.h"

#include "base/affine.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum { POPULATION = 12, ELITE = 4, GENERATIONS = 3 };
enum { MAX_LM_PASSES = 60, MAX_DESCENT_PASSES = 600 };

// Frequencies (of half the sampling rate) and damping ratios that the first generation covers.
#define SLOWEST_HERTZ 0.4
#define FASTEST_SHARE 0.8
#define LOWEST_RATIO 0.03
#define HIGHEST_RATIO 4.0

// Steps below this in theta are the end: one part in ten million of a parameter.
#define SMALL_STEP 1e-7
// Steepest descent creeps along valleys; its steps are small long before it is there.
#define SMALL_DESCENT_STEP 1e-10

typedef struct Genes {
    double theta[2];
    double loss;
} Genes;

// Each vertex has a state of its own, so that the result does not depend on batches or threads.
static double Uniform(uint64_t* state)
{
    return (double)(jnaNextBits(state) >> 11) * 0x1p-53;
}

// Close enough to normal, and bounded.
static double Bell(uint64_t* state)
{
    return (Uniform(state) + Uniform(state) + Uniform(state) - 1.5) * 2.0;
}

static double Clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static double PriorLoss(const jnaFitPlan* plan, double stiffness, double damping)
{
    double ds = stiffness - plan->priorTheta[0], dd = damping - plan->priorTheta[1];
    return plan->priorWeight * (ds * ds + dd * dd);
}

// First generation: frequencies spread evenly in the logarithm, ratios in a shuffled order, both jittered.
static void FirstGeneration(const jnaFitPlan* plan, uint64_t* random, Genes genes[POPULATION])
{
    double slow = log(SLOWEST_HERTZ), fast = log(fmax(2 * SLOWEST_HERTZ, 0.5 / plan->def->dt * FASTEST_SHARE));
    double low = log(LOWEST_RATIO), high = log(HIGHEST_RATIO);
    for (int i = 0; i < POPULATION; ++i) {
        double f = slow + (fast - slow) * (i + Uniform(random)) / POPULATION;
        double ratio = low + (high - low) * (i * 5 % POPULATION + Uniform(random)) / POPULATION;
        double omega = f + log(JNA_TURN);
        genes[i].theta[0] = Clamp(2 * omega, plan->low[0], plan->high[0]);
        genes[i].theta[1] = Clamp(log(2.0) + ratio + omega, plan->low[1], plan->high[1]);
    }
}

static void SortByLoss(Genes genes[POPULATION])
{
    for (int i = 1; i < POPULATION; ++i) {
        Genes moving = genes[i];
        int k = i;
        for (; k > 0 && genes[k - 1].loss > moving.loss; --k) {
            genes[k] = genes[k - 1];
        }
        genes[k] = moving;
    }
}

// Children replace all but the elite: a blend of two parents, moved by a mutation that shrinks with the generations.
static void Breed(const jnaFitPlan* plan, uint64_t* random, int generation, Genes genes[POPULATION])
{
    double spread = 0.5 / (1 << generation);
    for (int i = ELITE; i < POPULATION; ++i) {
        const Genes* a = &genes[jnaNextBits(random) % ELITE];
        const Genes* b = &genes[jnaNextBits(random) % ELITE];
        double blend = Uniform(random);
        for (int k = 0; k < 2; ++k) {
            double theta = a->theta[k] + blend * (b->theta[k] - a->theta[k]) + spread * Bell(random);
            genes[i].theta[k] = Clamp(theta, plan->low[k], plan->high[k]);
        }
    }
}

void jnaSeedLanes(const jnaFitBatch* batch, const jnaFitPlan* plan, int first, jnaLanes* lanes)
{
    Genes genes[JNA_BATCH][POPULATION];
    uint64_t random[JNA_BATCH];
    jnaFitCoefficients coefficients;
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        random[lane] = plan->def->seed * 0x2545f4914f6cdd1du + (uint64_t)(first + lane);
        FirstGeneration(plan, &random[lane], genes[lane]);
    }
    for (int generation = 0; generation <= GENERATIONS; ++generation) {
        for (int i = generation == 0 ? 0 : ELITE; i < POPULATION; ++i) {
            double theta[2][JNA_BATCH], loss[JNA_BATCH];
            for (int lane = 0; lane < JNA_BATCH; ++lane) {
                theta[0][lane] = genes[lane][i].theta[0];
                theta[1][lane] = genes[lane][i].theta[1];
            }
            jnaFitCoefficientsAt(theta, plan->def->dt, coefficients);
            plan->kernels->evaluate(batch, coefficients, loss, NULL);
            for (int lane = 0; lane < JNA_BATCH; ++lane) {
                genes[lane][i].loss = loss[lane] + PriorLoss(plan, theta[0][lane], theta[1][lane]);
            }
        }
        for (int lane = 0; lane < JNA_BATCH; ++lane) {
            SortByLoss(genes[lane]);
            if (generation < GENERATIONS) {
                Breed(plan, &random[lane], generation, genes[lane]);
            }
        }
    }
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        lanes->theta[0][lane] = genes[lane][0].theta[0];
        lanes->theta[1][lane] = genes[lane][0].theta[1];
        lanes->loss[lane] = genes[lane][0].loss;
    }
}

// The objective of every lane at a point, its gradient (halved) and its matrix with the prior, all in theta.
typedef struct Point {
    double theta[2][JNA_BATCH];
    double value[JNA_BATCH], loss[JNA_BATCH];
    double gradient[2][JNA_BATCH];
    double matrix[3][JNA_BATCH]; // data only
} Point;

static void EvaluatePoint(const jnaFitBatch* batch, const jnaFitPlan* plan, Point* point)
{
    jnaFitCoefficients coefficients;
    jnaFitSums sums;
    jnaFitCoefficientsAt((const double(*)[JNA_BATCH])point->theta, plan->def->dt, coefficients);
    plan->kernels->differentiate(batch, coefficients, &sums);
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        double ks = exp(point->theta[0][lane]), kd = exp(point->theta[1][lane]);
        point->loss[lane] = sums.loss[lane];
        point->value[lane] = sums.loss[lane] + PriorLoss(plan, point->theta[0][lane], point->theta[1][lane]);
        double pull = plan->priorWeight;
        point->gradient[0][lane] = ks * sums.gradient[0][lane] + pull * (point->theta[0][lane] - plan->priorTheta[0]);
        point->gradient[1][lane] = kd * sums.gradient[1][lane] + pull * (point->theta[1][lane] - plan->priorTheta[1]);
        point->matrix[0][lane] = ks * ks * sums.matrix[0][lane];
        point->matrix[1][lane] = ks * kd * sums.matrix[1][lane];
        point->matrix[2][lane] = kd * kd * sums.matrix[2][lane];
    }
}

static void TakeLane(Point* to, const Point* from, int lane)
{
    for (int k = 0; k < 2; ++k) {
        to->theta[k][lane] = from->theta[k][lane];
        to->gradient[k][lane] = from->gradient[k][lane];
    }
    for (int k = 0; k < 3; ++k) {
        to->matrix[k][lane] = from->matrix[k][lane];
    }
    to->value[lane] = from->value[lane];
    to->loss[lane] = from->loss[lane];
}

// A parameter at a bound with the objective falling outwards does not move.
static bool IsBlocked(const jnaFitPlan* plan, const Point* point, int k, int lane)
{
    double theta = point->theta[k][lane], gradient = point->gradient[k][lane];
    return (theta <= plan->low[k] && gradient > 0) || (theta >= plan->high[k] && gradient < 0);
}

// The damped Newton step of one lane into `trial`; returns its length.
static double DampedStep(const jnaFitPlan* plan, const Point* at, int lane, double damping, Point* trial)
{
    double ss = at->matrix[0][lane] + plan->priorWeight, sd = at->matrix[1][lane],
           dd = at->matrix[2][lane] + plan->priorWeight;
    double gs = at->gradient[0][lane], gd = at->gradient[1][lane];
    double tiny = 1e-30 + 1e-12 * (ss + dd);
    ss += damping * ss + tiny;
    dd += damping * dd + tiny;
    bool stopS = IsBlocked(plan, at, 0, lane), stopD = IsBlocked(plan, at, 1, lane);
    double step[2];
    if (stopS || stopD) {
        step[0] = stopS ? 0.0 : -gs / ss;
        step[1] = stopD ? 0.0 : -gd / dd;
    } else {
        double determinant = ss * dd - sd * sd;
        step[0] = -(dd * gs - sd * gd) / determinant;
        step[1] = -(ss * gd - sd * gs) / determinant;
    }
    double length = 0.0;
    for (int k = 0; k < 2; ++k) {
        // At most a factor of e^2 at once: the quadratic model says nothing farther away.
        double theta = Clamp(at->theta[k][lane] + Clamp(step[k], -2.0, 2.0), plan->low[k], plan->high[k]);
        length = fmax(length, fabs(theta - at->theta[k][lane]));
        trial->theta[k][lane] = theta;
    }
    return length;
}

static int DescendLm(const jnaFitBatch* batch, const jnaFitPlan* plan, Point* at)
{
    double damping[JNA_BATCH];
    bool done[JNA_BATCH] = {false};
    Point trial = *at;
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        damping[lane] = 1e-3;
    }
    int passes = 0;
    for (; passes < MAX_LM_PASSES; ++passes) {
        bool moving = false;
        for (int lane = 0; lane < JNA_BATCH; ++lane) {
            if (!done[lane]) {
                done[lane] = DampedStep(plan, at, lane, damping[lane], &trial) < SMALL_STEP;
            }
            moving = moving || !done[lane];
        }
        if (!moving) {
            break;
        }
        EvaluatePoint(batch, plan, &trial);
        for (int lane = 0; lane < JNA_BATCH; ++lane) {
            if (done[lane]) {
                continue;
            }
            double gain = at->value[lane] - trial.value[lane];
            if (gain >= 0.0) {
                done[lane] = gain <= 1e-13 * at->value[lane];
                TakeLane(at, &trial, lane);
                damping[lane] = fmax(damping[lane] * 0.2, 1e-9);
            } else {
                damping[lane] *= 6.0;
                done[lane] = damping[lane] > 1e12;
            }
        }
    }
    return passes;
}

// Steepest descent. The step is that of Barzilai and Borwein, shortened until the objective falls enough (Armijo).
static int DescendGradient(const jnaFitBatch* batch, const jnaFitPlan* plan, Point* at)
{
    double rate[JNA_BATCH];
    bool done[JNA_BATCH] = {false};
    Point trial = *at;
    for (int lane = 0; lane < JNA_BATCH; ++lane) {
        double size = hypot(at->gradient[0][lane], at->gradient[1][lane]);
        rate[lane] = size > 0.0 ? 0.2 / size : 0.0;
    }
    int passes = 0;
    for (; passes < MAX_DESCENT_PASSES; ++passes) {
        bool moving = false;
        for (int lane = 0; lane < JNA_BATCH; ++lane) {
            double length = 0.0;
            for (int k = 0; k < 2 && !done[lane]; ++k) {
                double step = Clamp(-rate[lane] * at->gradient[k][lane], -1.0, 1.0);
                trial.theta[k][lane] = Clamp(at->theta[k][lane] + step, plan->low[k], plan->high[k]);
                length = fmax(length, fabs(trial.theta[k][lane] - at->theta[k][lane]));
            }
            done[lane] = done[lane] || length < SMALL_DESCENT_STEP;
            moving = moving || !done[lane];
        }
        if (!moving) {
            break;
        }
        EvaluatePoint(batch, plan, &trial);
        for (int lane = 0; lane < JNA_BATCH; ++lane) {
            if (done[lane]) {
                continue;
            }
            double slope = 0.0, square = 0.0, along = 0.0;
            for (int k = 0; k < 2; ++k) {
                double step = trial.theta[k][lane] - at->theta[k][lane];
                slope += 2.0 * at->gradient[k][lane] * step;
                square += step * step;
                along += step * (trial.gradient[k][lane] - at->gradient[k][lane]);
            }
            if (trial.value[lane] <= at->value[lane] + 1e-4 * slope) {
                done[lane] = at->value[lane] - trial.value[lane] <= 1e-16 * at->value[lane];
                rate[lane] = along > 0.0 ? square / along : 2.0 * rate[lane];
                TakeLane(at, &trial, lane);
            } else {
                rate[lane] *= 0.3;
            }
        }
    }
    return passes;
}

int jnaDescendLanes(const jnaFitBatch* batch, const jnaFitPlan* plan, jnaLanes* lanes)
{
    Point at;
    memcpy(at.theta, lanes->theta, sizeof(at.theta));
    EvaluatePoint(batch, plan, &at);
    int passes = plan->def->method == jna_fitLm ? DescendLm(batch, plan, &at) : DescendGradient(batch, plan, &at);
    memcpy(lanes->theta, at.theta, sizeof(at.theta));
    memcpy(lanes->loss, at.loss, sizeof(at.loss));
    memcpy(lanes->matrix, at.matrix, sizeof(at.matrix));
    return passes + 1;
}
