// Energy and gradient of the flesh: elements, pulls, springs of bones, gravity, contact.
#include "flesh/flesh_internal.h"

#include "base/affine.h"

#include <math.h>
#include <string.h>

static double AddPulls(const jnaFleshProblem* problem, const double* x, double* gradient)
{
    double energy = 0;
    for (int n = 0; n < problem->flesh->freeCount; ++n) {
        for (int k = 0; k < 3; ++k) {
            size_t i = 4 * (size_t)n + (size_t)k;
            double away = x[i] - problem->pullTargets[i], force = problem->pulls[n] * away;
            gradient[i] += force;
            energy += 0.5 * force * away;
        }
    }
    return energy;
}

// Where a bone is pulled off by more than it bears, the force stays the same.
double jnaBoneStiffness(const jnaFleshProblem* problem, int place, const double* x)
{
    double spring = problem->boneFactor * problem->flesh->springs[place], away[3];
    if (!(spring > 0)) {
        return 0;
    }
    jnaSubtract(x + 4 * (size_t)place, problem->boneTargets + 4 * (size_t)place, away);
    double length = jnaLength(away);
    return length > problem->boneBears ? spring * problem->boneBears / length : spring;
}

static double AddBones(const jnaFleshProblem* problem, const double* x, double* gradient)
{
    double energy = 0;
    for (int n = 0; n < problem->flesh->freeCount; ++n) {
        double stiffness = jnaBoneStiffness(problem, n, x), square = 0;
        for (size_t k = 0; stiffness > 0 && k < 3; ++k) {
            size_t i = 4 * (size_t)n + k;
            double away = x[i] - problem->boneTargets[i];
            gradient[i] += stiffness * away;
            square += away * away;
        }
        // Half the square of the length; beyond what it bears, b: b (length - b/2) of the whole spring.
        double spring = problem->boneFactor * problem->flesh->springs[n];
        energy += stiffness * square * (stiffness < spring ? 1 - 0.5 * stiffness / spring : 0.5);
    }
    return energy;
}

static double AddGravity(const jnaFlesh* flesh, const double* x, double* gradient)
{
    double energy = 0;
    for (int n = 0; n < flesh->freeCount; ++n) {
        for (int k = 0; k < 3; ++k) {
            size_t i = 4 * (size_t)n + (size_t)k;
            double force = flesh->mass[n] * flesh->def.gravity[k];
            gradient[i] -= force;
            energy -= force * x[i];
        }
    }
    return energy;
}

// Energy 1/2 k gap^2 of pairs behind their face, and of all that aim beyond theirs along it; see flesh_contact.c.
static double AddContacts(const jnaFleshProblem* problem, const double* x, double* gradient, double* absolute)
{
    const int32_t* places = problem->flesh->places;
    double energy = 0;
    for (int p = 0; p < problem->contacts->count; ++p) {
        const jnaContactPair* pair = &problem->contacts->pairs[p];
        const double* node = x + 4 * (size_t)places[pair->node];
        double gap = 0, away[3];
        for (int k = 0; k < 3; ++k) {
            away[k] = node[k];
            for (int c = 0; c < 3; ++c) {
                away[k] -= pair->weights[c] * x[4 * (size_t)places[pair->corners[c]] + (size_t)k];
            }
            gap += pair->normal[k] * away[k];
        }
        double offset = problem->contactMargin + pair->offset;
        gap -= offset;
        double stiffness = problem->contactFactor * pair->stiffness;
        double slide = pair->gap < offset ? problem->slide : 0, across = gap < 0 ? (1 - slide) * gap : 0;
        for (int k = 0; k < 3; ++k) {
            double push = stiffness * (across * pair->normal[k] + slide * (away[k] - offset * pair->normal[k]));
            energy += 0.5 * push * (away[k] - offset * pair->normal[k]);
            size_t at = 4 * (size_t)places[pair->node] + (size_t)k;
            gradient[at] += push;
            for (int c = 0; c < 3; ++c) {
                gradient[4 * (size_t)places[pair->corners[c]] + (size_t)k] -= pair->weights[c] * push;
            }
            if (absolute != NULL) {
                absolute[at] += fabs(push);
                for (int c = 0; c < 3; ++c) {
                    absolute[4 * (size_t)places[pair->corners[c]] + (size_t)k] += fabs(pair->weights[c] * push);
                }
            }
        }
    }
    return energy;
}

double jnaFlesh_Evaluate(
    const jnaFleshProblem* problem, const double* x, double* gradient, double* absolute, int* invertedCount)
{
    const jnaFlesh* flesh = problem->flesh;
    size_t bytes = 4 * (size_t)flesh->nodeCount * sizeof(double);
    memset(gradient, 0, bytes);
    if (absolute != NULL) {
        memset(absolute, 0, bytes);
    }
    jnaElementPass pass = {
        .elements = &flesh->elements,
        .positions = x,
        .gradient = gradient,
        .absolute = absolute,
        .strains = problem->strains,
        .damping = problem->damping,
    };
    flesh->kernels->addForces(&pass);
    double energy = pass.energy;
    if (problem->pulls != NULL) {
        energy += AddPulls(problem, x, gradient);
    }
    if (problem->boneFactor > 0) {
        energy += AddBones(problem, x, gradient);
    }
    if (problem->gravity) {
        energy += AddGravity(flesh, x, gradient);
    }
    if (problem->contacts != NULL) {
        energy += AddContacts(problem, x, gradient, absolute);
    }
    if (problem->touching != NULL) {
        energy += jnaAddTouching(problem, x, gradient, absolute);
    }
    if (invertedCount != NULL) {
        *invertedCount = pass.invertedCount;
    }
    return energy;
}

void jnaSumContactStiffness(const jnaFleshProblem* problem, const double* x, double* sums)
{
    const jnaFlesh* flesh = problem->flesh;
    memset(sums, 0, (size_t)flesh->nodeCount * sizeof(double));
    for (int p = 0; problem->contacts != NULL && p < problem->contacts->count; ++p) {
        const jnaContactPair* pair = &problem->contacts->pairs[p];
        double stiffness = problem->contactFactor * pair->stiffness;
        sums[flesh->places[pair->node]] += stiffness;
        for (int c = 0; c < 3; ++c) {
            sums[flesh->places[pair->corners[c]]] += stiffness * pair->weights[c];
        }
    }
    if (problem->touching != NULL) {
        jnaSumTouchStiffness(problem, x, sums);
    }
}
