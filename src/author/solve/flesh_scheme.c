// The numbers of a step in time, for each integrator.
//
// With the equation of motion at the time t1 - a s (t1 the end of the step, s its length), the rate of anything comes
// from its last three values by the parabola through them:
//
//   y' = ((3/2 - a) y1 - (2 - 2a) y0 + (1/2 - a) y-1) / s = (y1 - y*) / h    h = s / (3/2 - a)
//   y* = y0 + (y0 - y-1) (1/2 - a) / (3/2 - a)
//
// BDF2 is a = 0, for places and velocities alike; backward Euler has y* = y0, h = s. Generalised alpha (Chung and
// Hulbert 1993) has a = af and Newmark's formulas instead of the second rate; see flesh_motion.c. Its one parameter is
// the factor by which a mode that is infinitely stiff is left after a step.
#include "flesh_internal.h"

const char* jnaIntegratorName(jnaIntegrator integrator)
{
    static const char* const names[jna_integratorCount] = {"backward-euler", "bdf2", "generalized-alpha"};
    return names[integrator];
}

// 10 Hz at 120 steps a second, undamped, is 2.5 % slow at 0.70 and 2.2 % at 1; less rings less.
static const double STIFF_FACTOR = 0.75;

static void FillAlpha(jnaTimeScheme* scheme, double step)
{
    double rho = STIFF_FACTOR, am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1);
    double beta = 0.25 * (1 - am + af) * (1 - am + af);
    scheme->massAlpha = am;
    scheme->forceAlpha = af;
    scheme->beta = beta;
    scheme->gamma = 0.5 - am + af;
    scheme->before = (0.5 - af) / (1.5 - af);
    scheme->lead = beta * (1 - af) / (1 - am);
    scheme->inertia = 1 / (scheme->lead * step * step);
    scheme->rate = (1.5 - af) / (step * (1 - af));
    scheme->springs = 1 / scheme->lead;
}

jnaTimeScheme jnaMakeTimeScheme(jnaIntegrator integrator, double step)
{
    jnaTimeScheme scheme = {.step = step, .springs = 1};
    if (integrator == jna_generalizedAlpha) {
        FillAlpha(&scheme, step);
        return scheme;
    }
    scheme.before = integrator == jna_bdf2 ? 1.0 / 3.0 : 0;
    scheme.rate = (integrator == jna_bdf2 ? 1.5 : 1) / step;
    scheme.inertia = scheme.rate * scheme.rate;
    return scheme;
}
