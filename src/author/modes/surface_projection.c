// Mass-weighted least squares on the surface: the amplitudes whose shapes come closest to a field, each vertex weighed
// by the area around it.
#include "modes/modes_internal.h"

#include "base/affine.h"
#include "base/dense.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Ridge of the normal equations, of their largest entry: modes that the surface cannot tell apart stay bounded.
#define RIDGE 1e-9

// A third of each triangle's area to each of its corners.
void jnaFindVertexAreas(const jnaCharacter* c, double* areas)
{
    for (int t = 0; t < c->triangleCount; ++t) {
        int v[3];
        double edges[2][3], normal[3];
        for (int i = 0; i < 3; ++i) {
            v[i] = c->weld[c->triangles[3 * (size_t)t + (size_t)i]];
        }
        for (int i = 0; i < 6; ++i) {
            size_t a = 3 * (size_t)v[0] + (size_t)(i % 3), b = 3 * (size_t)v[1 + i / 3] + (size_t)(i % 3);
            edges[i / 3][i % 3] = (double)c->positions[b] - (double)c->positions[a];
        }
        jnaCross(edges[0], edges[1], normal);
        for (int i = 0; i < 3; ++i) {
            areas[v[i]] += jnaLength(normal) / 6;
        }
    }
    for (int v = 0; c->triangleCount == 0 && v < c->vertexCount; ++v) {
        areas[v] = 1; // a cloud of points
    }
}

jnResult jnaModes_ProjectSurface(jnaModes* m, const jnaCharacter* c, jnError* error)
{
    size_t n = (size_t)m->modeCount, width = 3 * (size_t)m->vertexCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* areas = jnaArena_Take(&arena, m->vertexCount, sizeof(double));
    double* gram = jnaArena_Take(&arena, (int64_t)m->modeCount * m->modeCount, sizeof(double));
    double* column = jnaArena_Take(&arena, m->modeCount, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the projection of modes", error));
    jnaFindVertexAreas(c, areas);
    double most = 0;
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k <= i; ++k) {
            for (size_t x = 0; x < width; ++x) {
                gram[i * n + k] += areas[x / 3] * (double)m->shapes[i * width + x] * (double)m->shapes[k * width + x];
            }
        }
        most = fmax(most, gram[i * n + i]);
    }
    for (size_t i = 0; i < n; ++i) {
        gram[i * n + i] += RIDGE * most;
    }
    if (!jnaFactorDense(gram, n)) {
        JN_TRY(jnFail(error, jn_badData, "two of the %zu modes are the same on the surface", n));
    }
    for (size_t x = 0; x < width; ++x) {
        for (size_t k = 0; k < n; ++k) {
            column[k] = areas[x / 3] * (double)m->shapes[k * width + x];
        }
        jnaSolveDense(gram, n, column);
        for (size_t k = 0; k < n; ++k) {
            m->projections[k * width + x] = (float)column[k];
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
