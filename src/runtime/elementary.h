// exp, sine and cosine, and the angle of a point, in double. Not the C library's: those differ in the last bit from
// one library to the next, and what a step computes must be the same bytes everywhere. Sums, products and quotients
// only; errors stay below 2 units in the last place, of the angle below 4.
#pragma once

#include "internal.h"

// e^x; 0 below -745, and as at 709 above.
double jnExp(double x);

// Sine and cosine of a finite x. Beyond 2^20 the angle is taken modulo 2 pi rounded to a double, so that its error
// grows as 1e-16 |x|: no worse than that of x itself.
void jnSinCos(double x, double* sine, double* cosine);

// The angle of (x, y) in the first quadrant, 0 to pi/2; x and y are not negative and not both 0.
double jnQuadrantAngle(double y, double x);
