// Vertex by vertex, with Z the amplitudes of the modes that it is in and L its layer, over all frames:
//     (Z^T Z + ridge I) U = Z^T L + ridge U_physical
// Amplitudes are those of the physical shapes' modes and do not depend on what is learned, so one pass is all; fitting
// the numbers again to the new shapes, and so on, captures no more.
#include "learn/shape_fit.h"

#include "base/dense.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Work {
    const jnaModes* modes;
    const jnaModalSequence* sequences;
    int sequenceCount;
    double** amplitudes; // [sequenceCount][frames][modes], of the modes by themselves
    double* gram;        // [modes][modes], sums of their products over all frames
    double ridge;
} Work;

// What one thread works on: the modes of a vertex, the system of its shapes, and what its layer has of each mode.
typedef struct Desk {
    size_t count;
    int* members;                    // [modes]
    double *matrix, *products, *row; // [modes][modes], [3][modes], [modes]
} Desk;

static jnResult RunSequence(const jnaModes* m, const jnaModalSequence* s, double* amplitudes, jnError* error)
{
    jnaArena arena = {0};
    int64_t size = (int64_t)s->frameCount * m->modeCount;
    double *starts = jnaArena_Take(&arena, size, sizeof(double)), *rates = jnaArena_Take(&arena, size, sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the forces on modes", error));
    JN_TRY(jnaModes_Force(m, s, starts, rates, error));
    JN_TRY(jnaModes_Run(m, s, &(jnaModalDrive){starts, rates, NULL}, amplitudes, NULL, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

static void AddGram(const jnaModalSequence* s, const double* amplitudes, size_t modes, double* gram)
{
    for (int n = 0; n < s->frameCount; ++n) {
        if (!jnaModalSequence_Counts(s, n)) {
            continue;
        }
        const double* z = amplitudes + (size_t)n * modes;
        for (size_t k = 0; k < modes; ++k) {
            for (size_t l = 0; l < modes; ++l) {
                gram[k * modes + l] += z[k] * z[l];
            }
        }
    }
}

static void ListMembers(const jnaModes* m, int vertex, Desk* d)
{
    d->count = 0;
    for (int k = 0; k < m->modeCount; ++k) {
        const float* u = m->shapes + 3 * ((size_t)k * (size_t)m->vertexCount + (size_t)vertex);
        if (u[0] != 0.0f || u[1] != 0.0f || u[2] != 0.0f) {
            d->members[d->count++] = k;
        }
    }
}

// Sums over all frames of layer times amplitude, for the members.
static void AddProducts(const Work* w, int vertex, Desk* d)
{
    size_t modes = (size_t)w->modes->modeCount;
    memset(d->products, 0, 3 * modes * sizeof(double));
    for (int s = 0; s < w->sequenceCount; ++s) {
        for (int n = 0; n < w->sequences[s].frameCount; ++n) {
            if (!jnaModalSequence_Counts(&w->sequences[s], n)) {
                continue;
            }
            const double* z = w->amplitudes[s] + (size_t)n * modes;
            double layer[3];
            jnaModalLayer(&w->sequences[s], n, vertex, layer);
            for (size_t i = 0; i < d->count; ++i) {
                d->row[i] = z[d->members[i]];
            }
            for (size_t a = 0; a < 3; ++a) {
                for (size_t i = 0; i < d->count; ++i) {
                    d->products[a * modes + i] += layer[a] * d->row[i];
                }
            }
        }
    }
}

// False: there are no such shapes, because the motion is not finite.
static bool FitVertex(const Work* w, int vertex, Desk* d, float* shapes)
{
    const jnaModes* m = w->modes;
    size_t modes = (size_t)m->modeCount, width = 3 * (size_t)m->vertexCount, n;
    ListMembers(m, vertex, d);
    AddProducts(w, vertex, d);
    n = d->count;
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < n; ++k) {
            d->matrix[i * n + k] = w->gram[(size_t)d->members[i] * modes + (size_t)d->members[k]];
        }
        d->matrix[i * n + i] += w->ridge;
        for (size_t a = 0; a < 3; ++a) {
            size_t at = (size_t)d->members[i] * width + 3 * (size_t)vertex + a;
            d->products[a * modes + i] += w->ridge * (double)m->shapes[at];
        }
    }
    if (!jnaFactorDense(d->matrix, n)) {
        return false;
    }
    bool finite = true;
    for (size_t a = 0; a < 3; ++a) {
        jnaSolveDense(d->matrix, n, d->products + a * modes);
        for (size_t i = 0; i < n; ++i) {
            float number = (float)d->products[a * modes + i];
            finite = finite && isfinite(number);
            shapes[(size_t)d->members[i] * width + 3 * (size_t)vertex + a] = number;
        }
    }
    return finite;
}

static jnResult FitVertices(const Work* w, float* shapes, jnError* error)
{
    int modes = w->modes->modeCount, starved = 0, unsolved = 0;
#pragma omp parallel reduction(+ : starved, unsolved)
    {
        jnaArena arena = {0};
        Desk desk = {.members = jnaArena_Take(&arena, modes, sizeof(int)),
            .matrix = jnaArena_Take(&arena, (int64_t)modes * modes, sizeof(double)),
            .products = jnaArena_Take(&arena, modes, 3 * sizeof(double)),
            .row = jnaArena_Take(&arena, modes, sizeof(double))};
        starved = jnaArena_Check(&arena, "shapes", NULL) != jn_ok;
#pragma omp for schedule(dynamic, 64)
        for (int v = 0; v < w->modes->vertexCount; ++v) {
            unsolved += starved == 0 && !FitVertex(w, v, &desk, shapes);
        }
        jnaReleaseArena(&arena);
    }
    if (starved > 0) {
        return jnFail(error, jn_outOfMemory, "out of memory for the shapes of %d modes", modes);
    }
    if (unsolved > 0) {
        return jnFail(error, jn_badData,
            "the shapes of modes cannot be fitted: the motion of %d vertices is not finite", unsolved);
    }
    return jn_ok;
}

jnResult jnaFitShapes(
    const jnaModes* m, const jnaModalSequence* sequences, int count, double prior, float* shapes, jnError* error)
{
    JN_ASSERT(count >= 1 && prior > 0);
    size_t modes = (size_t)m->modeCount;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Work w = {.modes = m,
        .sequences = sequences,
        .sequenceCount = count,
        .amplitudes = jnaArena_Take(&arena, count, sizeof(double*)),
        .gram = jnaArena_Take(&arena, (int64_t)m->modeCount * m->modeCount, sizeof(double))};
    for (int s = 0; w.amplitudes != NULL && s < count; ++s) {
        w.amplitudes[s] = jnaArena_Take(&arena, (int64_t)sequences[s].frameCount * m->modeCount, sizeof(double));
    }
    JN_TRY(jnaArena_Check(&arena, "a fit of shapes", error));
    for (int s = 0; s < count; ++s) {
        JN_TRY(RunSequence(m, &sequences[s], w.amplitudes[s], error));
        AddGram(&sequences[s], w.amplitudes[s], modes, w.gram);
    }
    memcpy(shapes, m->shapes, 3 * modes * (size_t)m->vertexCount * sizeof(float));
    for (size_t k = 0; k < modes; ++k) {
        w.ridge += prior * w.gram[k * modes + k] / (double)modes;
    }
    if (!isfinite(w.ridge)) {
        JN_TRY(jnFail(error, jn_badData, "the shapes of modes cannot be fitted: a target is not finite"));
    }
    if (w.ridge > 0) { // else nothing moved, and nothing can be learned
        JN_TRY(FitVertices(&w, shapes, error));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
