// Solving with contact: pairs, where they push, and when they rest.
//
// A pair is a spring from its node to the point of the face where the way out ends, stiff across the face where the
// node is behind it, and softer along it: with none at all along the face nodes slide off the end of a face whose plane
// is all that the solver knows, and the pairs never settle. The point moves along with every new look, so what is soft
// along the face is no friction in the end, only slowness.
//
// A penalty alone leaves a depth of force over stiffness. Instead of a stiffer one, which is slow to solve, every pair
// aims an offset beyond its face that grows by what is still missing (the method of multipliers).
//
// First the pairs settle: short runs, each followed by a new look. Then those that are there are held fast, so that
// there is a minimum to converge to; a pose holds them along the face as well, for in a fold that is pressed hard flesh
// slides off its faces otherwise. A node that is still inside gets one more pair beside those it has: in a crease it
// has to stay in front of both walls, and given one at a time it goes to and fro between them for ever. Until little is
// left these rounds are solved roughly, then once to the end.
//
// On the way of a pose every step has several rounds, so that surfaces that meet are apart before they are pressed on.
#include "flesh/newton.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALONG 0.3        // stiffness along the face, as a share of that across
#define GAIN 0.5         // share of the missing depth that an offset grows by
#define MOST_OFFSET 3e-2 // metres
#define MARGIN 5e-4      // metres in front of the face that a node aims at, for it is not hit exactly
#define PAIR_DEPTH 3e-4  // metres: from here on a node gets another pair, below the margin
#define GOOD_DEPTH 2e-3  // metres and m3: what is left when a pose is solved to the end, well within
#define GOOD_VOLUME 1e-6 // what a pose may have
#define ROUGH 10.0       // times the tolerance while pairs are still missing
// Metres, m3: what is as deep as this after all rough rounds, the last ones, the most costly, do not resolve.
#define HOPELESS_DEPTH 0.02
#define HOPELESS_VOLUME 5e-5
enum { SHORT_RUN = 25, ROUGH_RUN = 60, LAST_HOLDS = 2, NEWTON_ITERATIONS = 100 };
// Of a pose, its path included: less than ten times the median. What takes more is not solved in the end.
enum { MOST_ITERATIONS = 1500 };
// A preconditioner that fits needs little more than one evaluation for each step; above this it is made anew.
#define STALE 1.4

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
    solver->isFresh = solver->isStale = false;
}

static jnResult FindContacts(jnaFleshSolver* solver, jnaContacts* contacts, jnaFleshReport* report, jnError* error)
{
    double started = jnaSeconds();
    jnaUnpadNodes(solver->flesh, solver->x, solver->unpadded);
    jnResult result = jnaContactFinder_Find(solver->finder, solver->unpadded, contacts, &report->solved, error);
    report->time.contact += jnaSeconds() - started;
    return result;
}

// L-BFGS, or Newton's method where that is asked for.
static jnResult Minimize(jnaFleshSolver* solver, jnaFleshProblem* problem, jnaFleshReport* report, jnError* error)
{
    jnaFleshOutcome outcome;
    int most = problem->mostIterations;
    if (solver->flesh->def.newton) {
        if (solver->newton == NULL) {
            JN_PASS(jnaCreateNewton(solver->flesh, &solver->newton, error));
        }
        problem->newton = solver->newton;
        problem->mostIterations = NEWTON_ITERATIONS;
    } else if (solver->isStale) {
        double started = jnaSeconds();
        JN_PASS(jnaFreshenFactor(solver, problem, error));
        report->time.solve += jnaSeconds() - started;
    }
    jnaMinimize(solver, problem, &outcome);
    AddOutcome(&outcome, report);
    problem->mostIterations = most;
    bool isLong = problem->freshAfter > 0 && outcome.iterations >= problem->freshAfter;
    solver->isStale = isLong || outcome.evaluations > STALE * outcome.iterations + 1;
    return jn_ok;
}

// A last run, to the end: where one preconditioner does not lead there, that of the place it led to may.
static jnResult Finish(jnaFleshSolver* solver, jnaFleshProblem* problem, jnaFleshReport* report, jnError* error)
{
    int most = problem->mostIterations;
    problem->mostIterations = problem->freshAfter > 0 ? problem->freshAfter : most;
    jnResult result = Minimize(solver, problem, report, error);
    problem->mostIterations = most;
    if (result != jn_ok || report->converged || solver->flesh->def.newton) {
        return result;
    }
    solver->isStale = true; // whatever its steps were
    return Minimize(solver, problem, report, error);
}

// Offsets grow where nodes are behind their faces and shrink where they are in front. A plane that is held may be far
// from where its face is by now, so they grow by no more than the node is deep.
static void Aim(jnaFleshSolver* solver)
{
    const double* depths = jnaContactFinder_Depths(solver->finder);
    for (int p = 0; p < solver->contacts.count; ++p) {
        jnaContactPair* pair = &solver->contacts.pairs[p];
        double missing = MARGIN + fmin(-pair->gap, depths[pair->node]);
        pair->offset = fmin(fmax(pair->offset + GAIN * missing, 0), MOST_OFFSET);
    }
}

static jnResult Settle(jnaFleshSolver* solver, jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error)
{
    int most = problem->mostIterations;
    problem->mostIterations = SHORT_RUN;
    jnResult result = jn_ok;
    for (int round = 0; round < effort->rounds && solver->contacts.count > 0; ++round) {
        problem->goesOn = round > 0;
        JN_TRY(Minimize(solver, problem, report, error));
        JN_TRY(FindContacts(solver, &solver->contacts, report, error));
        // Of a path also at the end: its next step goes on from there. A step in time that did would ring.
        if (effort->firm || round + 1 < effort->rounds) {
            Aim(solver);
        }
        if (report->converged && report->solved.depth < effort->enough) {
            break;
        }
    }
done:
    problem->mostIterations = most;
    return result;
}

// A pair of the same node, and of the same face where that matters; -1: none.
static int FindPair(const jnaContacts* contacts, int count, const jnaContactPair* like, bool face)
{
    int p = 0;
    while (p < count && (contacts->pairs[p].node != like->node || (face && contacts->pairs[p].face != like->face))) {
        ++p;
    }
    return p < count ? p : -1;
}

// Takes over the pairs of nodes that are still inside: beside those they have, or a step in time, which would ring, in
// their place. Returns how many; -1 out of memory.
static int TakeDeep(jnaContacts* held, const jnaContacts* found, const jnaContactEffort* effort)
{
    int before = held->count, taken = 0;
    double depth = effort->firm ? PAIR_DEPTH : effort->enough;
    for (int f = 0; f < found->count; ++f) {
        if (found->pairs[f].gap > -depth) {
            continue;
        }
        int at = FindPair(held, before, &found->pairs[f], effort->firm);
        if (at < 0 && !jnaReserve(&held->pairs, &held->capacity, held->count + 1, sizeof(*held->pairs))) {
            return -1;
        }
        double offset = at >= 0 ? held->pairs[at].offset : 0;
        at = at >= 0 ? at : held->count++;
        held->pairs[at] = found->pairs[f];
        held->pairs[at].offset = offset;
        ++taken;
    }
    return taken;
}

// The gaps of the pairs as they are now, their points and normals held.
static void MeasureGaps(jnaFleshSolver* solver)
{
    const int32_t* places = solver->flesh->places;
    for (int p = 0; p < solver->contacts.count; ++p) {
        jnaContactPair* pair = &solver->contacts.pairs[p];
        const double* node = solver->x + 4 * (size_t)places[pair->node];
        pair->gap = 0;
        for (int k = 0; k < 3; ++k) {
            double away = node[k];
            for (int c = 0; c < 3; ++c) {
                away -= pair->weights[c] * solver->x[4 * (size_t)places[pair->corners[c]] + (size_t)k];
            }
            pair->gap += pair->normal[k] * away;
        }
    }
}

// One round with pairs that are held, and a look at what it left.
static jnResult HoldOnce(
    jnaFleshSolver* solver, jnaFleshProblem* problem, bool rough, jnaFleshReport* report, jnError* error)
{
    double tolerance = problem->tolerance;
    int most = problem->mostIterations;
    problem->tolerance = rough ? ROUGH * tolerance : tolerance;
    problem->mostIterations = rough ? ROUGH_RUN : most;
    jnResult result = (rough ? Minimize : Finish)(solver, problem, report, error);
    problem->tolerance = tolerance;
    problem->mostIterations = most;
    solver->found.count = 0;
    JN_PASS(result);
    return FindContacts(solver, &solver->found, report, error);
}

static bool IsEnough(const jnaPenetration* left)
{
    return left->depth < JNA_MOST_DEPTH && left->volume < JNA_MOST_VOLUME;
}

static bool IsHopeless(const jnaPenetration* left)
{
    return left->depth > HOPELESS_DEPTH || left->volume > HOPELESS_VOLUME;
}

// Pushes more, and takes more pairs, where nodes are still inside. good: little is left, and the next round is the
// last.
static jnResult PressOn(
    jnaFleshSolver* solver, const jnaContactEffort* effort, const jnaFleshReport* report, bool* good, jnError* error)
{
    *good = effort->firm && report->solved.depth < GOOD_DEPTH && report->solved.volume < GOOD_VOLUME;
    if (*good) {
        return jn_ok;
    }
    if (effort->firm) {
        MeasureGaps(solver);
        Aim(solver);
    }
    int taken = TakeDeep(&solver->contacts, &solver->found, effort);
    *good = !effort->firm && taken == 0;
    return taken >= 0 ? jn_ok
                      : jnFail(error, jn_outOfMemory, "out of memory for %d pairs in contact", solver->contacts.count);
}

static jnResult Hold(jnaFleshSolver* solver, jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error)
{
    int failures = 0, roughRounds = effort->holds - (effort->firm ? LAST_HOLDS : 1);
    bool good = false, done = false;
    problem->slide = effort->firm ? 1 : ALONG;
    for (int round = 0; round < effort->holds && !done; ++round) {
        bool spent = report->iterations > MOST_ITERATIONS;
        bool rough = !good && round < roughRounds;
        if (effort->firm && round > 0 && !good && (spent || (!rough && IsHopeless(&report->solved)))) {
            if (!IsEnough(&report->solved)) {
                report->converged = false;
                break;
            }
            rough = false; // little is left: the last round
        }
        problem->goesOn = round > 0;
        JN_PASS(HoldOnce(solver, problem, rough, report, error));
        JN_PASS(PressOn(solver, effort, report, &good, error));
        failures += !rough && !report->converged;
        done = (good && !rough) || failures > 1 || spent; // more of them is not for want of a pair
    }
    return jn_ok;
}

jnResult jnaSolveWithContact(jnaFleshSolver* solver, jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error)
{
    bool toTheEnd = effort->holds > 0;
    if (solver->finder == NULL) {
        return (toTheEnd ? Finish : Minimize)(solver, problem, report, error);
    }
    problem->contacts = &solver->contacts;
    problem->contactFactor *= effort->stiffness;
    problem->contactMargin = MARGIN;
    problem->slide = ALONG;
    jnResult result = jn_ok;
    JN_TRY(FindContacts(solver, &solver->contacts, report, error));
    if (solver->contacts.count == 0) { // so that there is something to look at
        JN_TRY(Minimize(solver, problem, report, error));
        JN_TRY(FindContacts(solver, &solver->contacts, report, error));
    }
    if (solver->contacts.count > 0 || !report->converged) {
        JN_TRY(Settle(solver, problem, effort, report, error));
        JN_TRY(toTheEnd ? Hold(solver, problem, effort, report, error) : jn_ok);
    }
done:
    report->contactCount = solver->contacts.count;
    return result;
}
