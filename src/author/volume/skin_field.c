// Interpolation at the skin. With weights w of the corners c, values u and mean gradients G there, and x the place,
//
//     u(x) = sum_c w_c (u_c + G_c (x - x_c) / 2)
//
// With d = x - x_c, on a field with second derivatives H the linear sum errs by + sum_c w_c d H d / 2, and the same
// with whole gradients by - sum_c w_c d H d / 2; this is their mean. At a face it depends on that face's corners alone,
// so that it is continuous.
#include "volume/skin_field.h"

#include "volume/laplacian.h"

#include <math.h>
#include <string.h>

void jnaVolume_Gradients(const jnaVolume* v, const double* values, double* gradients)
{
    memset(gradients, 0, (size_t)v->nodeCount * JNA_GRADIENT * sizeof(double));
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* corners = v->tetrahedra + 4 * (size_t)t;
        double hats[4][3], sum[JNA_GRADIENT] = {0}, volume = fabs(jnaHatGradients(v->nodes, corners, hats));
        for (size_t c = 0; c < 4; ++c) {
            const double* u = values + 3 * (size_t)corners[c];
            for (size_t i = 0; i < 9; ++i) {
                sum[i] += volume * u[i / 3] * hats[c][i % 3];
            }
        }
        sum[9] = volume;
        for (size_t c = 0; c < 4; ++c) {
            double* g = gradients + (size_t)corners[c] * JNA_GRADIENT;
            for (size_t i = 0; i < JNA_GRADIENT; ++i) {
                g[i] += sum[i];
            }
        }
    }
    for (size_t n = 0; n < (size_t)v->nodeCount; ++n) {
        double* g = gradients + n * JNA_GRADIENT;
        for (size_t i = 0; i < 9; ++i) {
            g[i] = g[9] > 0 ? g[i] / g[9] : 0;
        }
    }
}

void jnaVolume_AtSkin(const jnaVolume* v, const double* values, const double* gradients, int vertex, double value[3])
{
    const int32_t* corners = v->tetrahedra + 4 * (size_t)v->skinTetrahedra[vertex];
    const double* w = v->skinWeights + 4 * (size_t)vertex;
    double place[3] = {0};
    for (size_t i = 0; i < 12; ++i) {
        place[i % 3] += w[i / 3] * v->nodes[3 * (size_t)corners[i / 3] + i % 3];
    }
    memset(value, 0, 3 * sizeof(double));
    for (size_t c = 0; c < 4; ++c) {
        size_t node = (size_t)corners[c];
        for (size_t a = 0; a < 3; ++a) {
            double sum = values[3 * node + a];
            for (size_t k = 0; gradients != NULL && k < 3; ++k) {
                sum += 0.5 * gradients[node * JNA_GRADIENT + 3 * a + k] * (place[k] - v->nodes[3 * node + k]);
            }
            value[a] += w[c] * sum;
        }
    }
}
