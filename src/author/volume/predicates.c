// On which side of a plane a point lies, without rounding.
//
// The determinant in doubles is trusted where it is larger than its error could be; else it is computed again with 113
// bits. Coordinates are floats: their differences need some 30 bits, a product of three under 100, so the second
// answer is exact for any surface whose extent is below 2^12 times its finest step.
#include "volume/mesh_internal.h"

#include <float.h>

#if defined(__SIZEOF_FLOAT128__)
typedef __float128 Wide;
#else
typedef long double Wide;
#endif

// Of the determinant, per unit of its permanent; twice what a careful analysis gives.
#define ERROR_BOUND (16 * DBL_EPSILON)

static int WideOrient(const double* a, const double* b, const double* c, const double* d)
{
    Wide u[3], v[3], w[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = (Wide)b[i] - (Wide)a[i];
        v[i] = (Wide)c[i] - (Wide)a[i];
        w[i] = (Wide)d[i] - (Wide)a[i];
    }
    Wide value =
        w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) + w[2] * (u[0] * v[1] - u[1] * v[0]);
    return value > 0 ? 1 : value < 0 ? -1 : 0;
}

int jnaOrient(const double* a, const double* b, const double* c, const double* d)
{
    double u[3], v[3], w[3];
    jnaSubtract(b, a, u);
    jnaSubtract(c, a, v);
    jnaSubtract(d, a, w);
    double value =
        w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) + w[2] * (u[0] * v[1] - u[1] * v[0]);
    double permanent = fabs(w[0]) * (fabs(u[1] * v[2]) + fabs(u[2] * v[1])) +
                       fabs(w[1]) * (fabs(u[2] * v[0]) + fabs(u[0] * v[2])) +
                       fabs(w[2]) * (fabs(u[0] * v[1]) + fabs(u[1] * v[0]));
    if (fabs(value) > ERROR_BOUND * permanent) {
        return value > 0 ? 1 : -1;
    }
    return WideOrient(a, b, c, d);
}
