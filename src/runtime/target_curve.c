// Slopes of the target curve and what follows from them; see target_curve.h for the notation.
//
// With S_i = D_i / t_own the slope over difference i, the parabola through three samples gives
//     central   m = S1 - (S1 - S0) t1/(t0 + t1)   at s1          (the paper's central difference when t0 =
//     t1) backward  m = S2 + (S2 - S1) t2/(t1 + t2)   at s3
// Both are exact for a target of constant acceleration, whatever the durations.
#include "target_curve.h"

jnInterval jnMakeInterval(jnCurve curve, jnTiming timing, const double t[3], jnIntervalEnds ends)
{
    bool exact = curve == jn_curveCubic && timing == jn_timingExact;
    int own = exact ? 1 : 2;
    jnInterval r = {.h = t[own], .own = own, .line = curve == jn_curveStep ? 0.0 : 1.0};
    for (int i = 0; i < 3; ++i) {
        r.ratios[i] = (float)(t[i] > 0.0 ? t[own] / t[i] : 0.0);
    }
    if (curve == jn_curveHermite) {
        r.start[0] = 1.0;
        r.end[1] = 1.0;
    } else if (exact) {
        r.start[0] = ends.first ? 0.0 : -t[1] / (t[0] + t[1]);
        r.end[1] = ends.last ? 0.0 : t[1] / (t[1] + t[2]);
    } else if (curve == jn_curveCubic && !ends.first) {
        // The slope at the start is what the interval before ended with: D1 plus its own backward correction.
        r.start[1] = -1.0;
        r.start[0] = ends.second ? 0.0 : t[1] / (t[0] + t[1]);
        r.end[1] = t[2] / (t[1] + t[2]);
    }
    if (curve == jn_curveLinear && !ends.first) {
        r.kick[2] = 1.0;
    }
    if (ends.atRest && curve != jn_curveStep) {
        r.kick[0] = 1.0;
        r.kick[1] = r.start[0];
        r.kick[2] = r.start[1];
    }
    return r;
}

// The cubic through both ends has, in units of the interval, a = 3 D - 2 M0 - M1 and q = M0 + M1 - 2 D.
static void Cubic(const jnInterval* r, int i, double* a, double* q)
{
    *a = -2.0 * r->start[i] - r->end[i];
    *q = r->start[i] + r->end[i];
}

void jnInterval_Forcing(const jnInterval* r, float acceleration[2], float jerk[2])
{
    for (int i = 0; i < 2; ++i) {
        double a, q;
        Cubic(r, i, &a, &q);
        acceleration[i] = (float)(2.0 * a / (r->h * r->h));
        jerk[i] = (float)(6.0 * q / (r->h * r->h * r->h));
    }
}

jnCurvePoint jnInterval_Point(const jnInterval* r, double s)
{
    jnCurvePoint point;
    point.place[0] = (float)(r->line * s);
    point.slope[0] = (float)(r->line / r->h);
    for (int i = 0; i < 2; ++i) {
        double a, q;
        Cubic(r, i, &a, &q);
        point.place[i + 1] = (float)(s * (r->start[i] + s * (a + s * q)));
        point.slope[i + 1] = (float)((r->start[i] + s * (2.0 * a + s * 3.0 * q)) / r->h);
    }
    return point;
}
