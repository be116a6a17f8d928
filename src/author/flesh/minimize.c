// The minimum of the flesh's energy by L-BFGS whose initial matrix is the prefactored Laplacian.
//
// The direction is found in single precision, which halves what has to be read; energy, gradient and positions are in
// double. A step of 1 is tried first and shortened until the energy falls enough (Armijo), with a slack for the
// rounding of the energy, without which the last digits of convergence cannot be had.
//
// With Newton's directions the same search serves. They converge fast or, where pairs in contact hold against each
// other, hardly at all: iterations that do not halve the residual in PATIENCE are not worth their second each.
//
// Where a step changes the energy by less than its rounding, which near rest is that of the sum of V mu and not of the
// small energy, the slope at its end decides instead: for a parabola the two tests are the same.
//
// The residual is |g| / |sum of |f_e||: how well the forces of the elements around a node cancel, of no unit. At rest
// both are rounding; the sum is not taken below the forces of LEAST_STRAIN, nor below what rounding lets inertia be.
#include "flesh/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef float Float4 __attribute__((vector_size(16)));

// An iteration takes one evaluation, seldom two: three of them on average are a search that leads nowhere.
enum { RUN = 32, MOST_TRIALS = 3, MOST_SHORTER = 25, PATIENCE = 8 };
#define ENOUGH 1e-4    // Armijo: share of the fall that the slope promises
#define SLACK 1e-13    // of the energy: its rounding
#define ROUNDING 1e-14 // of the sum of V mu: the rounding of the energy near rest
#define LEAST_STRAIN                                                                                                   \
    1e-7                 // forces are judged against those of at least this; places are rounded to
                         // about 1e-13 of an edge
#define LEAST_PLACE 1e-9 // of a node's place: a pull by less has no digits to spare for a residual
#define LEAST_BEND 1e-10 // of |s||y|: a pair that bends less tells nothing

// Partial sums in float over a short run, the sum of those in double.
static double Sum(Float4 v)
{
    return ((double)v[0] + (double)v[1]) + (double)v[2];
}

static double Dot(const float* a, const float* b, int count)
{
    const Float4 *p = (const void*)a, *q = (const void*)b;
    double total = 0;
    for (int n = 0; n < count; n += RUN) {
        Float4 sum = {0, 0, 0, 0};
        int end = n + RUN < count ? n + RUN : count;
        for (int i = n; i < end; ++i) {
            sum += p[i] * q[i];
        }
        total += Sum(sum);
    }
    return total;
}

// a += scale * b, then a . c, in one pass.
static double AddThenDot(float* a, double scale, const float* b, const float* c, int count)
{
    Float4* p = (void*)a;
    const Float4 *q = (const void*)b, *r = (const void*)c;
    float factor = (float)scale;
    double total = 0;
    for (int n = 0; n < count; n += RUN) {
        Float4 sum = {0, 0, 0, 0};
        int end = n + RUN < count ? n + RUN : count;
        for (int i = n; i < end; ++i) {
            Float4 v = p[i] + factor * q[i];
            p[i] = v;
            sum += v * r[i];
        }
        total += Sum(sum);
    }
    return total;
}

static int Slot(const jnaStepMemory* memory, int age)
{
    return (memory->newest - age + JNA_PAIRS) % JNA_PAIRS;
}

// What contact adds to the diagonal and the preconditioner does not have: nodes that it holds move by less. Without
// it the first step of every search is too long for them, and all are halved.
static void FindScales(jnaFleshSolver* solver, const jnaFleshProblem* problem)
{
    const jnaFlesh* flesh = solver->flesh;
    const double *has = jnaFactoredContact(solver, problem), *sums = solver->contactStiffness;
    jnaSumContactStiffness(problem, solver->x, solver->contactStiffness);
    for (int i = 0; i < flesh->freeCount; ++i) {
        double own = flesh->diagonal[i] * (1 + problem->damping) + problem->boneFactor * flesh->springs[i];
        own += (problem->pulls != NULL ? problem->pulls[i] : 0) + (has != NULL ? has[i] : 0);
        double more = fmax(sums[i] - (has != NULL ? has[i] : 0), 0);
        solver->scales[i] = (float)sqrt(own / (own + more));
    }
}

static void Scale(const float* scales, float* vector, int count)
{
    Float4* v = (void*)vector;
    for (int i = 0; i < count; ++i) {
        v[i] *= scales[i];
    }
}

// solver->direction = inverse Hessian times the gradient.
static void FindDirection(jnaFleshSolver* solver, const jnaFleshProblem* problem, const jnaStepMemory* memory)
{
    int count = solver->flesh->freeCount;
    float* q = solver->direction;
    for (size_t i = 0; i < 4 * (size_t)count; ++i) {
        q[i] = (float)solver->gradient[i];
    }
    memset(q + 4 * (size_t)count, 0, 4 * sizeof(float));
    double shares[JNA_PAIRS];
    double dot = memory->count > 0 ? Dot(solver->steps[Slot(memory, 0)], q, count) : 0;
    for (int age = 0; age < memory->count; ++age) {
        int slot = Slot(memory, age), next = age + 1 < memory->count ? Slot(memory, age + 1) : slot;
        shares[age] = dot / memory->bends[slot];
        dot = AddThenDot(q, -shares[age], solver->changes[slot], solver->steps[next], count);
    }
    Scale(solver->scales, q, count);
    jnaPreconditioner_Solve(problem->preconditioner, q);
    Scale(solver->scales, q, count);
    int oldest = memory->count - 1;
    dot = memory->count > 0 ? Dot(solver->changes[Slot(memory, oldest)], q, count) : 0;
    for (int age = oldest; age >= 0; --age) {
        int slot = Slot(memory, age), next = age > 0 ? Slot(memory, age - 1) : slot;
        double share = shares[age] - dot / memory->bends[slot];
        dot = AddThenDot(q, share, solver->steps[slot], solver->changes[next], count);
    }
}

static double Slope(const jnaFleshSolver* solver, const double* gradient)
{
    double sum = 0;
    for (size_t i = 0; i < 4 * (size_t)solver->flesh->freeCount; ++i) {
        sum -= gradient[i] * (double)solver->direction[i];
    }
    return sum;
}

static void Move(jnaFleshSolver* solver, double length)
{
    for (size_t i = 0; i < 4 * (size_t)solver->flesh->freeCount; ++i) {
        solver->trial[i] = solver->x[i] - length * (double)solver->direction[i];
    }
}

// Keeps the step just made, from x to trial, and the change of the gradient.
static void Remember(jnaFleshSolver* solver, double length, jnaStepMemory* memory)
{
    int count = solver->flesh->freeCount, slot = (memory->newest + 1) % JNA_PAIRS;
    float *s = solver->steps[slot], *y = solver->changes[slot];
    float factor = (float)-length;
    for (size_t i = 0; i < 4 * (size_t)count; ++i) {
        s[i] = factor * solver->direction[i];
        y[i] = (float)(solver->trialGradient[i] - solver->gradient[i]);
    }
    double bend = Dot(s, y, count);
    if (bend > LEAST_BEND * sqrt(Dot(s, s, count) * Dot(y, y, count))) {
        memory->bends[slot] = bend;
        memory->newest = slot;
        memory->count += memory->count < JNA_PAIRS;
    }
}

static double Norm(const double* v, int count)
{
    double sum = 0;
    for (size_t i = 0; i < 4 * (size_t)count; ++i) {
        sum += v[i] * v[i];
    }
    return sqrt(sum);
}

// What the sum of absolute forces is not taken below.
static double LeastForce(const jnaFleshProblem* problem, const double* x)
{
    double sum = 0;
    for (int p = 0; p < problem->flesh->freeCount; ++p) {
        const double* at = x + 4 * (size_t)p;
        double stiffness = problem->boneFactor * problem->flesh->springs[p];
        stiffness += problem->pulls != NULL ? problem->pulls[p] : 0;
        sum += stiffness * stiffness * (at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    }
    return fmax(fmax(LEAST_STRAIN * problem->flesh->unitForce, LEAST_PLACE * sqrt(sum)), DBL_MIN);
}

static void Swap(double** a, double** b)
{
    double* c = *a;
    *a = *b;
    *b = c;
}

// Shortens the step until the energy falls enough. Returns its length, 0 if none was found.
static double Search(jnaFleshSolver* solver, const jnaFleshProblem* problem, double slope, jnaFleshOutcome* outcome,
    double* energy, double* absolute)
{
    double length = 1, rounding = ROUNDING * solver->flesh->shearSum;
    for (int i = 0; i < MOST_SHORTER; ++i) {
        int inverted;
        Move(solver, length);
        double started = jnaSeconds();
        *energy = jnaFlesh_Evaluate(problem, solver->trial, solver->trialGradient, absolute, &inverted);
        outcome->forceSeconds += jnaSeconds() - started;
        outcome->evaluations++;
        double allowed = outcome->energy + ENOUGH * length * slope + SLACK * fabs(outcome->energy);
        if (*energy <= allowed || (*energy <= outcome->energy + rounding &&
                                      Slope(solver, solver->trialGradient) <= -(1 - 2 * ENOUGH) * slope)) {
            outcome->invertedCount = inverted;
            return length;
        }
        // The minimum of the parabola through both energies and the slope, within reason.
        double bend = *energy - outcome->energy - length * slope;
        double best = bend > 0 ? -slope * length * length / (2 * bend) : 0.5 * length;
        length = best > 0.5 * length ? 0.5 * length : best > 0.1 * length ? best : 0.1 * length;
    }
    return 0;
}

// Energy and forces at the start.
static void Begin(jnaFleshSolver* solver, const jnaFleshProblem* problem, jnaFleshOutcome* outcome)
{
    const jnaFlesh* flesh = solver->flesh;
    size_t held = 4 * (size_t)flesh->freeCount;
    if (!problem->goesOn) {
        solver->memory = (jnaStepMemory){.newest = JNA_PAIRS - 1};
    }
    memset(outcome, 0, sizeof(*outcome));
    // Held nodes are the same in x and in every trial.
    memcpy(solver->trial + held, solver->x + held, (4 * (size_t)flesh->nodeCount - held) * sizeof(double));
    double started = jnaSeconds();
    outcome->energy =
        jnaFlesh_Evaluate(problem, solver->x, solver->gradient, solver->absolute, &outcome->invertedCount);
    outcome->forceSeconds += jnaSeconds() - started;
    outcome->evaluations = 1;
}

// The direction to go, and the slope along it. False where Newton's matrix gives none.
static bool ChooseWay(jnaFleshSolver* solver, const jnaFleshProblem* problem, jnaFleshOutcome* outcome, double* slope)
{
    double started = jnaSeconds();
    if (problem->newton == NULL) {
        FindDirection(solver, problem, &solver->memory);
    } else if (!jnaNewton_Direction(problem->newton, problem, solver->x, solver->gradient, solver->direction)) {
        return false;
    }
    *slope = Slope(solver, solver->gradient);
    outcome->solveSeconds += jnaSeconds() - started;
    return true;
}

void jnaMinimize(jnaFleshSolver* solver, const jnaFleshProblem* problem, jnaFleshOutcome* outcome)
{
    int count = solver->flesh->freeCount;
    jnaStepMemory* memory = &solver->memory;
    Begin(solver, problem, outcome);
    FindScales(solver, problem);
    double least = LeastForce(problem, solver->x), scale = fmax(Norm(solver->absolute, count), least);
    double mark = HUGE_VAL; // residual of some iterations ago
    for (;;) {
        outcome->residual = Norm(solver->gradient, count) / scale;
        if (outcome->iterations >= problem->leastIterations && outcome->residual <= problem->tolerance) {
            outcome->converged = true;
            return;
        }
        if (!(outcome->residual < HUGE_VAL) || outcome->iterations >= problem->mostIterations ||
            outcome->evaluations >= MOST_TRIALS * problem->mostIterations) {
            return;
        }
        if (problem->newton != NULL && outcome->iterations % PATIENCE == 0) {
            if (outcome->residual > 0.5 * mark) {
                return;
            }
            mark = outcome->residual;
        }
        double energy = 0, length = 0, slope;
        if (!ChooseWay(solver, problem, outcome, &slope)) {
            return;
        }
        // The sums of absolute forces change slowly; they are taken anew when the end is near, and now and then.
        bool near = outcome->residual < 3 * problem->tolerance || outcome->iterations % 8 == 7;
        if (slope < 0) {
            length = Search(solver, problem, slope, outcome, &energy, near ? solver->absolute : NULL);
        }
        if (!(length > 0)) {
            if (memory->count == 0) {
                // Not even straight down: rounding is all that is left, or nothing is free.
                outcome->converged = outcome->residual <= problem->tolerance;
                return;
            }
            memory->count = 0;
            continue;
        }
        if (problem->newton == NULL) {
            Remember(solver, length, memory);
        }
        Swap(&solver->x, &solver->trial);
        Swap(&solver->gradient, &solver->trialGradient);
        if (near) {
            scale = fmax(Norm(solver->absolute, count), least);
        }
        outcome->energy = energy;
        outcome->iterations++;
    }
}
