// Solving with contact: pairs, where they push, and when they rest.
//
// A pair is a spring from its node to the point of the face where the way out ends, stiff across the face where the
// node is behind it, and softer along it: with none at all along the face nodes slide off the end of a face whose plane
// is all that the solver knows, and the pairs never settle. The point moves along with every new look, so what is soft
// along the face is no friction in the end, only slowness.
//
// A penalty alone leaves a depth of force over stiffness. Instead of a stiffer one, which is slow to solve, every node
// aims an offset beyond its face that grows by what is still missing (the method of multipliers).
//
// First the pairs settle: short runs, each followed by a new look. Then those that are there are held fast, so that
// there is a minimum to converge to, and only nodes that are still deep get another pair.
#include "newton.h"

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CONTACT_FACTOR = 20; // times shear modulus times edge: stiff enough, not yet stuck
static const double ALONG = 0.3;         // stiffness along the face, as a share of that across
static const double GAIN = 0.5;          // share of the missing depth that an offset grows by
static const double MOST_OFFSET = 1e-2;  // metres
static const double MARGIN = 5e-4;       // metres in front of the face that a node aims at, for it is not hit exactly
static const double LEAST_DEPTH = 1e-3;  // metres: a penetration that is looked after
enum { SHORT_RUN = 25, HOLDS = 5, NEWTON_ITERATIONS = 100 };

static void AddOutcome(const jnaFleshOutcome* outcome, jnaFleshReport* report)
{
    report->converged = outcome->converged;
    report->residual = outcome->residual;
    report->iterations += outcome->iterations;
    report->evaluations += outcome->evaluations;
    report->invertedCount = outcome->invertedCount;
    report->time.forces += outcome->forceSeconds;
    report->time.solve += outcome->solveSeconds;
}

void jnaForgetContacts(jnaFleshSolver* solver)
{
    solver->contacts.count = 0;
    memset(solver->contactOffsets, 0, (size_t)solver->flesh->nodeCount * sizeof(double));
}

static jnResult FindContacts(jnaFleshSolver* solver, jnaContacts* contacts, jnaFleshReport* report, jnError* error)
{
    double started = jnaSeconds();
    jnaUnpadNodes(solver->flesh, solver->x, solver->unpadded);
    jnResult result = jnaContactFinder_Find(solver->finder, solver->unpadded, contacts, &report->solved, error);
    report->time.contact += jnaSeconds() - started;
    return result;
}

// What L-BFGS could not end, Newton does; or all of it where that is asked for.
static jnResult Minimize(
    jnaFleshSolver* solver, jnaFleshProblem* problem, bool finish, jnaFleshReport* report, jnError* error)
{
    jnaFleshOutcome outcome;
    bool newton = solver->flesh->def.newton;
    if (!newton) {
        jnaMinimize(solver, problem, &outcome);
        AddOutcome(&outcome, report);
        newton = finish && !outcome.converged;
    }
    if (newton) {
        if (solver->newton == NULL) {
            jnResult result = jnaCreateNewton(solver->flesh, &solver->newton, error);
            if (result != jn_ok) {
                return result;
            }
        }
        int most = problem->mostIterations;
        problem->newton = solver->newton;
        problem->mostIterations = NEWTON_ITERATIONS;
        jnaMinimize(solver, problem, &outcome);
        AddOutcome(&outcome, report);
        problem->newton = NULL;
        problem->mostIterations = most;
    }
    return jn_ok;
}

// Offsets grow where nodes are behind their faces and shrink where they are in front.
static void Aim(jnaFleshSolver* solver)
{
    for (int p = 0; p < solver->contacts.count; ++p) {
        const jnaContactPair* pair = &solver->contacts.pairs[p];
        double* offset = &solver->contactOffsets[pair->node];
        *offset = fmin(fmax(*offset - GAIN * (pair->gap - MARGIN), 0), MOST_OFFSET);
    }
}

static jnResult Settle(
    jnaFleshSolver* solver, jnaFleshProblem* problem, int rounds, jnaFleshReport* report, jnError* error)
{
    int most = problem->mostIterations;
    problem->mostIterations = SHORT_RUN;
    jnResult result = jn_ok;
    for (int round = 0; result == jn_ok && round < rounds && solver->contacts.count > 0; ++round) {
        if (round > 0) {
            Aim(solver);
        }
        problem->goesOn = round > 0;
        result = Minimize(solver, problem, false, report, error);
        result = result == jn_ok ? FindContacts(solver, &solver->contacts, report, error) : result;
        if (report->converged && report->solved.depth < LEAST_DEPTH) {
            break;
        }
    }
    problem->mostIterations = most;
    return result;
}

static int FindPair(const jnaContacts* contacts, int count, int32_t node)
{
    int p = 0;
    while (p < count && contacts->pairs[p].node != node) {
        ++p;
    }
    return p < count ? p : -1;
}

// Takes over the pairs of nodes that are still deep, in the place of the one they have if any. Returns how many; -1 out
// of memory.
static int TakeDeep(jnaContacts* held, const jnaContacts* found)
{
    int before = held->count, taken = 0;
    for (int f = 0; f < found->count; ++f) {
        if (found->pairs[f].gap > -LEAST_DEPTH) {
            continue;
        }
        int at = FindPair(held, before, found->pairs[f].node);
        if (at < 0 && held->count == held->capacity) {
            int capacity = held->capacity * 2 + 16;
            jnaContactPair* pairs = realloc(held->pairs, (size_t)capacity * sizeof(*pairs));
            if (pairs == NULL) {
                return -1;
            }
            held->pairs = pairs;
            held->capacity = capacity;
        }
        held->pairs[at >= 0 ? at : held->count++] = found->pairs[f];
        ++taken;
    }
    return taken;
}

static jnResult Hold(jnaFleshSolver* solver, jnaFleshProblem* problem, jnaFleshReport* report, jnError* error)
{
    jnResult result = jn_ok;
    int failures = 0;
    for (int round = 0; result == jn_ok && round < HOLDS; ++round) {
        problem->goesOn = round > 0;
        result = Minimize(solver, problem, true, report, error);
        solver->found.count = 0;
        result = result == jn_ok ? FindContacts(solver, &solver->found, report, error) : result;
        if (result != jn_ok) {
            break;
        }
        failures += !report->converged;
        if (failures > 1) { // not for want of a pair
            break;
        }
        int taken = TakeDeep(&solver->contacts, &solver->found);
        if (taken < 0) {
            return jnFail(error, jn_outOfMemory, "out of memory for %d pairs in contact", solver->contacts.count);
        }
        if (taken == 0) {
            break;
        }
    }
    return result;
}

jnResult jnaSolveWithContact(
    jnaFleshSolver* solver, jnaFleshProblem* problem, int rounds, bool toTheEnd, jnaFleshReport* report, jnError* error)
{
    if (solver->finder == NULL) {
        return Minimize(solver, problem, toTheEnd, report, error);
    }
    problem->contacts = &solver->contacts;
    problem->contactOffsets = solver->contactOffsets;
    problem->contactFactor *= CONTACT_FACTOR;
    problem->contactMargin = MARGIN;
    problem->slide = ALONG;
    jnResult result = FindContacts(solver, &solver->contacts, report, error);
    if (result == jn_ok && solver->contacts.count == 0) { // so that there is something to look at
        result = Minimize(solver, problem, false, report, error);
        result = result == jn_ok ? FindContacts(solver, &solver->contacts, report, error) : result;
    }
    if (result == jn_ok && (solver->contacts.count > 0 || !report->converged)) {
        result = Settle(solver, problem, rounds, report, error);
        result = result == jn_ok && toTheEnd ? Hold(solver, problem, report, error) : result;
    }
    report->contactCount = solver->contacts.count;
    return result;
}
