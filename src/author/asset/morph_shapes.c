// See morph_shapes.h. A normal is n = N / |N| with N the sum of the area vectors of the triangles around it, and
//
//     dN = sum da x e2 + e1 x db      dn = (1 - n n^T) dN / |N|
//
// with e1, e2 two edges of a triangle and da, db their changes.
#include "asset/morph_shapes.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>

void jnaDestroyMorphShapes(jnaMorphShapes* s)
{
    free(s->positions);
    free(s->normals);
    free(s->restNormals);
    *s = (jnaMorphShapes){0};
}

// The edges of a triangle from its first corner, of the rest surface or of a displacement.
static void FindEdges(const jnAsset* a, const int32_t* corners, const float* from, size_t width, double edges[2][3])
{
    const float* first = from + width * (size_t)a->weld[corners[0]];
    for (int k = 0; k < 2; ++k) {
        const float* other = from + width * (size_t)a->weld[corners[k + 1]];
        for (int i = 0; i < 3; ++i) {
            edges[k][i] = (double)other[i] - (double)first[i];
        }
    }
}

// Adds a triangle's vector to the normals of its corners.
static void AddToCorners(const jnAsset* a, const int32_t* corners, const double vector[3], double* sums)
{
    for (int k = 0; k < 3; ++k) {
        double* sum = sums + 3 * (size_t)a->fileNormals[corners[k]];
        for (int i = 0; i < 3; ++i) {
            sum[i] += vector[i];
        }
    }
}

// sums: [normalCount][3], N.
static void SumRest(const jnAsset* a, double* sums)
{
    for (int t = 0; t < a->triangleCount; ++t) {
        const int32_t* corners = a->triangles + 3 * (size_t)t;
        double edges[2][3], area[3];
        FindEdges(a, corners, a->rest, 4, edges);
        jnaCross(edges[0], edges[1], area);
        AddToCorners(a, corners, area, sums);
    }
}

// sums: as above; scratch: [normalCount][3].
static void FindChange(const jnAsset* a, const float* shape, const double* sums, double* scratch, float* change)
{
    memset(scratch, 0, 3 * (size_t)a->normalCount * sizeof(double));
    for (int t = 0; t < a->triangleCount; ++t) {
        const int32_t* corners = a->triangles + 3 * (size_t)t;
        double edges[2][3], moves[2][3], first[3], second[3];
        FindEdges(a, corners, shape, 3, moves);
        if (jnaDot(moves[0], moves[0]) + jnaDot(moves[1], moves[1]) > 0) {
            FindEdges(a, corners, a->rest, 4, edges);
            jnaCross(moves[0], edges[1], first);
            jnaCross(edges[0], moves[1], second);
            for (int i = 0; i < 3; ++i) {
                first[i] += second[i];
            }
            AddToCorners(a, corners, first, scratch);
        }
    }
    for (size_t n = 0; n < (size_t)a->normalCount; ++n) {
        double unit[3], length;
        memcpy(unit, sums + 3 * n, sizeof(unit));
        length = jnaNormalize(unit);
        double along = jnaDot(unit, scratch + 3 * n);
        for (size_t i = 0; i < 3; ++i) {
            change[3 * n + i] = length > 0 ? (float)((scratch[3 * n + i] - along * unit[i]) / length) : 0.0f;
        }
    }
}

jnResult jnaCreateMorphShapes(const jnAsset* a, jnaMorphShapes* s, jnError* error)
{
    size_t vertices = 3 * (size_t)a->vertexCount, normals = 3 * (size_t)a->normalCount;
    *s = (jnaMorphShapes){.count = a->componentCount + a->modeCount};
    size_t count = (size_t)s->count;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    s->positions = jnaArena_Give(&arena, (int64_t)(count * vertices), sizeof(float));
    s->normals = jnaArena_Give(&arena, (int64_t)(count * normals), sizeof(float));
    s->restNormals = jnaArena_Give(&arena, (int64_t)normals, sizeof(float));
    double* sums = jnaArena_Take(&arena, 2 * (int64_t)normals, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the morph targets", error));
    SumRest(a, sums);
    for (size_t n = 0; n < normals / 3; ++n) {
        double unit[3];
        memcpy(unit, sums + 3 * n, sizeof(unit));
        bool sound = jnaNormalize(unit) > 0;
        for (size_t i = 0; i < 3; ++i) {
            s->restNormals[3 * n + i] = sound ? (float)unit[i] : (float)(i == 1);
        }
    }
    for (size_t k = 0; k < count; ++k) {
        jnAsset_MorphDeltas(a, (int)k, true, s->positions + k * vertices);
        FindChange(a, s->positions + k * vertices, sums, sums + normals, s->normals + k * normals);
    }
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyMorphShapes(s);
    }
    return result;
}
