// Forces that saturate behind a filter, over a sequence and in double: the reference of the runtime's; see
// src/runtime/force_filter.h for the equations.
//
// A frame's interval is one swing here, whatever its length.
#include "modes/modal_motion.h"
#include "modes/modes_internal.h"

#include "jounce/spring_functions.h"
#include "runtime/for_author.h"

#include <math.h>

// The filtered force and its rate, with the excess e over what saturates, and its rate.
typedef struct Filter {
    double u, v, e, eRate;
} Filter;

static void FindExcess(double limit, Filter* f)
{
    double x = limit > 0 ? f->u / limit : 0, root = sqrt(1 + x * x), share = x * x / (root * (root + 1));
    f->e = f->u * share;
    f->eRate = f->v * share * (root * root + root + 1) / (root * root);
}

// Integrals of the excess over an interval, and of it times the time from the middle.
typedef struct Moments {
    double sum, moment;
} Moments;

static Moments RunFilter(double limit, double start, double rate, double dt, Filter* f)
{
    jnFilterParts parts = jnDivideInterval(dt);
    int count = parts.swings * parts.pieces;
    double h = dt / count, y = f->u - start + JN_FILTER_DELAY * rate, w = f->v - rate;
    jnSpringResponse r = jnEvaluateSpring(JN_FILTER_STIFFNESS, JN_FILTER_DAMPING, h);
    Moments m = {0};
    FindExcess(limit, f);
    for (int i = 0; i < count; ++i) {
        Filter from = *f;
        double yNext = r.position * y + r.impulse * w;
        w = -JN_FILTER_STIFFNESS * r.impulse * y + r.velocity * w;
        y = yNext;
        f->u = start + (i + 1) * h * rate + y - JN_FILTER_DELAY * rate;
        f->v = w + rate;
        FindExcess(limit, f);
        double sum = h * (0.5 * (from.e + f->e) + h / 12 * (from.eRate - f->eRate));
        m.sum += sum;
        m.moment +=
            ((i + 0.5) * h - 0.5 * dt) * sum + h * h / 30 * (3 * (f->e - from.e) - 0.25 * h * (from.eRate + f->eRate));
    }
    return m;
}

void jnaSaturateForces(const jnaModes* modes, int intervals, double dt, double* starts, double* rates)
{
    size_t count = (size_t)modes->modeCount;
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < count; ++k) {
        Filter f = {0};
        for (size_t at = k; modes->limits[k] > 0 && at < (size_t)intervals * count; at += count) {
            FindExcess(modes->limits[k], &f);
            Filter from = f;
            Moments m = RunFilter(modes->limits[k], starts[at], rates[at], dt, &f);
            double rise = f.e - from.e, soft = 1 / JN_FILTER_STIFFNESS;
            double sum = m.sum + JN_FILTER_DELAY * rise + soft * (f.eRate - from.eRate);
            double moment = m.moment + JN_FILTER_DELAY * (0.5 * dt * (from.e + f.e) - m.sum) +
                            soft * (0.5 * dt * (from.eRate + f.eRate) - rise);
            double slope = 12 * moment / (dt * dt * dt);
            starts[at] -= sum / dt - 0.5 * dt * slope;
            rates[at] -= slope;
        }
    }
}
