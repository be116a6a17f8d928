// Breaks of a surface: see breaks.h.
//
// All comparisons are of squares, so that no root is taken: |d| > 1.8 max(|s|, |r|) as d2 > 1.8^2 max(s2, r2), and
// cos < -1/2 as n.m < 0 and (n.m)^2 > (1/2)^2 n2 m2. What no vertex of moved is not looked at: faces and hands are most
// of many meshes.
#include "pipeline/breaks.h"

#include "base/arena.h"
#include "base/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Below this product of two areas a normal has no direction.
#define NO_NORMAL 1e-18

void jnaDestroyBreaks(jnaBreaks* b)
{
    free(b->rest);
    free(b->triangles);
    free(b->from);
    free(b->areas);
    free(b->edges);
    free(b->lengths);
    *b = (jnaBreaks){0};
}

static inline void Subtract(const float* a, const float* b, double d[3])
{
    for (int i = 0; i < 3; ++i) {
        d[i] = (double)a[i] - (double)b[i];
    }
}

static inline double Dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double Square(const float* positions, int a, int b)
{
    double d[3];
    Subtract(positions + 3 * (size_t)a, positions + 3 * (size_t)b, d);
    return Dot(d, d);
}

// Twice the area, along the normal.
static inline void Normal(const float* positions, const int32_t* t, double n[3])
{
    double a[3], b[3];
    Subtract(positions + 3 * (size_t)t[1], positions + 3 * (size_t)t[0], a);
    Subtract(positions + 3 * (size_t)t[2], positions + 3 * (size_t)t[0], b);
    n[0] = a[1] * b[2] - a[2] * b[1];
    n[1] = a[2] * b[0] - a[0] * b[2];
    n[2] = a[0] * b[1] - a[1] * b[0];
}

static int CompareEdges(const void* a, const void* b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Every edge once, with the lower vertex first, without the shortest ones. all: [triangleCount * 3][2], scratch.
static void KeepEdges(jnaBreaks* b, int32_t* all)
{
    for (int i = 0; i < 3 * b->triangleCount; ++i) {
        int32_t one = b->triangles[i], other = b->triangles[i % 3 == 2 ? i - 2 : i + 1];
        all[2 * i] = one < other ? one : other;
        all[2 * i + 1] = one < other ? other : one;
    }
    qsort(all, 3 * (size_t)b->triangleCount, 2 * sizeof(*all), CompareEdges);
    for (int i = 0; i < 3 * b->triangleCount; ++i) {
        const int32_t* edge = all + 2 * i;
        double square = Square(b->rest, edge[0], edge[1]);
        bool again = i > 0 && CompareEdges(edge, edge - 2) == 0;
        if (!again && square > JNA_TEAR_LEAST * JNA_TEAR_LEAST) {
            memcpy(b->edges + 2 * b->edgeCount, edge, 2 * sizeof(*edge));
            b->lengths[b->edgeCount++] = square;
        }
    }
}

// A triangle of the character, where it has an area to lose.
static void KeepTriangle(const jnaCharacter* c, const int32_t* places, int triangle, jnaBreaks* b)
{
    int32_t* to = b->triangles + 3 * b->triangleCount;
    for (int k = 0; k < 3; ++k) {
        int32_t v = c->weld[c->triangles[3 * triangle + k]];
        to[k] = places != NULL ? places[v] : v;
    }
    if (to[0] != to[1] && to[1] != to[2] && to[2] != to[0]) {
        double n[3];
        Normal(b->rest, to, n);
        b->areas[b->triangleCount] = Dot(n, n);
        b->from[b->triangleCount++] = triangle;
    }
}

jnResult jnaMakeBreaks(const jnaCharacter* c, const int32_t* places, jnaBreaks* b, jnError* error)
{
    *b = (jnaBreaks){.vertexCount = c->vertexCount};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int32_t* all = jnaArena_Take(&arena, c->triangleCount, 6 * sizeof(*all));
    b->rest = jnaArena_Give(&arena, c->vertexCount, 3 * sizeof(float));
    b->triangles = jnaArena_Give(&arena, c->triangleCount, 3 * sizeof(int32_t));
    b->from = jnaArena_Give(&arena, c->triangleCount, sizeof(int32_t));
    b->areas = jnaArena_Give(&arena, c->triangleCount, sizeof(double));
    b->edges = jnaArena_Give(&arena, c->triangleCount, 6 * sizeof(int32_t));
    b->lengths = jnaArena_Give(&arena, c->triangleCount, 3 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the edges of a surface", error));
    for (int v = 0; v < c->vertexCount; ++v) {
        size_t to = (size_t)(places != NULL ? places[v] : v);
        memcpy(b->rest + 3 * to, c->positions + 3 * (size_t)v, 3 * sizeof(float));
    }
    for (int t = 0; t < c->triangleCount; ++t) {
        KeepTriangle(c, places, t, b);
    }
    KeepEdges(b, all);
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyBreaks(b);
    }
    return result;
}

// The first comparison decides nearly always.
static inline bool IsFlipped(const jnaBreaks* b, size_t t, const float* compared, const float* shown)
{
    double n[3], m[3];
    Normal(compared, b->triangles + 3 * t, n);
    Normal(shown, b->triangles + 3 * t, m);
    double dot = Dot(n, m);
    if (!(dot < 0)) {
        return false;
    }
    double square = Dot(n, n), area = b->areas[t];
    return dot * dot > JNA_FLIP_COSINE * JNA_FLIP_COSINE * fmax(square * Dot(m, m), NO_NORMAL * NO_NORMAL) &&
           square > JNA_FLIP_AREA * JNA_FLIP_AREA * area && area > 4 * JNA_FLIP_LEAST * JNA_FLIP_LEAST;
}

static inline bool IsTorn(double rest, double compared, double shown)
{
    double longer = compared > rest ? compared : rest, shorter = compared > rest ? rest : compared;
    return shown > JNA_TEAR_LONG * JNA_TEAR_LONG * longer || shown < JNA_TEAR_SHORT * JNA_TEAR_SHORT * shorter;
}

// Remembers the break whose vertex is offset most.
static void Remember(jnaBreakCount* count, const float* compared, const float* shown, int vertex, double* farthest)
{
    double d[3];
    Subtract(compared + 3 * (size_t)vertex, shown + 3 * (size_t)vertex, d);
    if (count->brokenVertex < 0 || Dot(d, d) > *farthest) {
        *farthest = Dot(d, d);
        count->brokenVertex = vertex;
    }
}

jnaBreakCount jnaBreaks_Count(const jnaBreaks* b, const float* compared, const float* shown, uint8_t* moved)
{
    jnaBreakCount count = {.brokenVertex = -1};
    double most = -1, farthest = 0;
    for (int v = 0; v < b->vertexCount; ++v) {
        double d[3];
        Subtract(compared + 3 * (size_t)v, shown + 3 * (size_t)v, d);
        double square = Dot(d, d);
        moved[v] = square != 0;
        if (square > most) {
            most = square;
            count.vertex = v;
        }
    }
    count.largest = sqrt(fmax(most, 0));
    for (size_t t = 0; t < (size_t)b->triangleCount; ++t) {
        const int32_t* corners = b->triangles + 3 * t;
        bool touched = (moved[corners[0]] | moved[corners[1]] | moved[corners[2]]) != 0;
        if (touched && IsFlipped(b, t, compared, shown)) {
            count.flipped++;
            Remember(&count, compared, shown, corners[0], &farthest);
        }
    }
    for (int e = 0; e < b->edgeCount; ++e) {
        const int32_t* edge = b->edges + 2 * (size_t)e;
        bool touched = (moved[edge[0]] | moved[edge[1]]) != 0;
        if (touched && IsTorn(b->lengths[e], Square(compared, edge[0], edge[1]), Square(shown, edge[0], edge[1]))) {
            count.torn++;
            Remember(&count, compared, shown, edge[0], &farthest);
        }
    }
    return count;
}

void jnaBreaks_Mark(const jnaBreaks* b, const float* compared, const float* shown, uint8_t* marks)
{
    for (size_t t = 0; t < (size_t)b->triangleCount; ++t) {
        const int32_t* corners = b->triangles + 3 * t;
        bool broken = IsFlipped(b, t, compared, shown);
        for (int k = 0; k < 3 && !broken; ++k) {
            int one = corners[k], other = corners[(k + 1) % 3];
            double rest = Square(b->rest, one, other);
            broken = rest > JNA_TEAR_LEAST * JNA_TEAR_LEAST &&
                     IsTorn(rest, Square(compared, one, other), Square(shown, one, other));
        }
        if (broken) {
            marks[b->from[t]] = 1;
        }
    }
}
