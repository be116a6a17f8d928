// The closest point by the region that a point lies over: a corner, an edge or the inside (Ericson 2004).
#include "base/triangle.h"

#include "base/affine.h"

// What is divided by is never below this: a triangle without area has no inside.
#define LEAST 1e-300

void jnaClosestOnTriangle(const double* p, const double* a, const double* b, const double* c, double w[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    jnaSubtract(b, a, ab);
    jnaSubtract(c, a, ac);
    jnaSubtract(p, a, ap);
    jnaSubtract(p, b, bp);
    jnaSubtract(p, c, cp);
    double d1 = jnaDot(ab, ap), d2 = jnaDot(ac, ap), d3 = jnaDot(ab, bp), d4 = jnaDot(ac, bp), d5 = jnaDot(ab, cp),
           d6 = jnaDot(ac, cp), vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    w[0] = w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0) {
        w[0] = 1;
    } else if (d3 >= 0 && d4 <= d3) {
        w[1] = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w[2] = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        w[1] = d1 / fmax(d1 - d3, LEAST);
        w[0] = 1 - w[1];
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w[2] = d2 / fmax(d2 - d6, LEAST);
        w[0] = 1 - w[2];
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w[2] = (d4 - d3) / fmax(d4 - d3 + d5 - d6, LEAST);
        w[1] = 1 - w[2];
    } else {
        double s = 1 / fmax(va + vb + vc, LEAST);
        w[1] = vb * s;
        w[2] = vc * s;
        w[0] = 1 - w[1] - w[2];
    }
}
