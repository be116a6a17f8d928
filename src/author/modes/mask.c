// A painted weight on modes: shapes U_v become w_v U_v, so that a vertex of weight 0 stands still and one of weight 1
// moves as before.
//
// Flesh of weight 0 has no part in a mode any more, neither in its mass nor in what drives it. With
//     s = sum over all of a_v |U_v|^2 / sum over w_v > 0 of a_v |U_v|^2        a_v the area around a vertex
// the mass becomes m / s and the projection s P_v, 0 where w_v is: of two legs that swing in one mode, the one that is
// left swings as it did. Frequency and damping stay.
#include "modes/modes_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A mode of which less than this is left is gone.
#define LEAST_LEFT 1e-3

// The share of a mode's energy on the surface where a mask is above 0.
static double LeftOf(const jnaModes* m, size_t k, const double* areas, const float* mask)
{
    double whole = 0, left = 0;
    for (size_t v = 0; v < (size_t)m->vertexCount; ++v) {
        const float* u = m->shapes + 3 * (k * (size_t)m->vertexCount + v);
        double square = areas[v] * (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        whole += square;
        left += mask[v] > 0.0f ? square : 0;
    }
    return whole > 0 ? left / whole : 0;
}

jnResult jnaModes_Mask(jnaModes* m, const jnaCharacter* c, const float* mask, jnError* error)
{
    JN_ASSERT(m->vertexCount == c->vertexCount);
    double* areas = calloc((size_t)m->vertexCount, sizeof(double));
    if (areas == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the mask of %d vertices", m->vertexCount);
    }
    jnaFindVertexAreas(c, areas);
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        double left = LeftOf(m, k, areas, mask);
        float scale = left > LEAST_LEFT ? (float)(1 / left) : 0.0f;
        m->masses[k] *= left > LEAST_LEFT ? left : 1;
        m->sizes[k] = 0;
        for (size_t v = 0; v < (size_t)m->vertexCount; ++v) {
            size_t at = 3 * (k * (size_t)m->vertexCount + v);
            float weight = left > LEAST_LEFT ? mask[v] : 0.0f;
            bool moves = m->shapes[at] != 0.0f || m->shapes[at + 1] != 0.0f || m->shapes[at + 2] != 0.0f;
            m->sizes[k] += weight > 0.0f && moves;
            for (size_t a = 0; a < 3; ++a) {
                m->shapes[at + a] *= weight;
                m->projections[at + a] *= weight > 0.0f ? scale : 0.0f;
            }
        }
    }
    free(areas);
    return jn_ok;
}
