// The numbers of a step in time, for each integrator.
//
// The rate of anything at the end of a step of s comes from its last three values by the parabola through them:
//
//   y' = (3 y1 - 4 y0 + y-1) / 2s = (y1 - y*) r    r = 3/2s    y* = y0 + (y0 - y-1) / 3
//
// BDF2 is this for places and for velocities; backward Euler has y* = y0, r = 1/s. Generalised alpha (Chung and Hulbert
// 1993) has it for viscosity and drag alone and Newmark's formulas for the rest; see flesh_motion.c. Its one parameter
// is the factor by which a mode that is infinitely stiff is left after a step.
#include "flesh/flesh_internal.h"

const char* jnaIntegratorName(jnaIntegrator integrator)
{
    static const char* const names[jna_integratorCount] = {"backward-euler", "bdf2", "generalized-alpha"};
    return names[integrator];
}

// 10 Hz at 120 steps a second, undamped, is 2.5 % slow at 0.70 and 2.2 % at 1; less rings less.
#define STIFF_FACTOR 0.75

static void FillAlpha(jnaTimeScheme* scheme, double step)
{
    double rho = STIFF_FACTOR, am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1);
    double beta = 0.25 * (1 - am + af) * (1 - am + af);
    scheme->massAlpha = am;
    scheme->forceAlpha = af;
    scheme->beta = beta;
    scheme->gamma = 0.5 - am + af;
    scheme->lead = beta * (1 - af) / (1 - am);
    scheme->inertia = 1 / (scheme->lead * step * step);
    scheme->springs = 1 / scheme->lead;
}

jnaTimeScheme jnaMakeTimeScheme(jnaIntegrator integrator, double step)
{
    bool first = integrator == jna_backwardEuler;
    jnaTimeScheme scheme = {
        .step = step, .before = first ? 0 : 1.0 / 3.0, .rate = (first ? 1 : 1.5) / step, .springs = 1};
    scheme.inertia = scheme.rate * scheme.rate;
    if (integrator == jna_generalizedAlpha) {
        FillAlpha(&scheme, step);
    }
    return scheme;
}
