// See dense.h.
#include "base/dense.h"

#include <math.h>

bool jnaFactorDense(double* a, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k <= i; ++k) {
            double sum = a[i * n + k];
            for (size_t l = 0; l < k; ++l) {
                sum -= a[i * n + l] * a[k * n + l];
            }
            if (i == k && !(sum > 0)) {
                return false;
            }
            a[i * n + k] = i == k ? sqrt(sum) : sum / a[k * n + k];
        }
    }
    return true;
}

void jnaSolveDense(const double* l, size_t n, double* x)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; ++k) {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
}
