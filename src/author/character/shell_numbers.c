// See shell_numbers.h.
#include "character/shell_numbers.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "base/union.h"
#include "character/point_tree.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

// Of the largest coordinate: vertices this close are at one place.
#define SAME_PLACE 1e-6

static jnResult JoinPlaces(const jnaCharacter* c, int32_t* parent, jnError* error)
{
    enum { MOST = 32 };
    jnaPointTree tree;
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)c->vertexCount; ++i) {
        most = fmax(most, fabs((double)c->positions[i]));
    }
    if (!jnaCreatePointTree(c->positions, c->vertexCount, &tree)) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d vertices", c->vertexCount);
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        const float* p = c->positions + 3 * (size_t)v;
        const double place[3] = {(double)p[0], (double)p[1], (double)p[2]};
        int32_t found[MOST];
        int count = jnaPointTree_Within(&tree, place, SAME_PLACE * most, found, MOST);
        for (int i = 0; i < (count < MOST ? count : MOST); ++i) {
            jnaUnion_Join(parent, v, found[i]);
        }
    }
    jnaDestroyPointTree(&tree);
    return jn_ok;
}

typedef struct Size {
    int triangles;
    int32_t root;
} Size;

static int CompareSizes(const void* first, const void* second)
{
    const Size *a = first, *b = second;
    return a->triangles != b->triangles ? (a->triangles > b->triangles ? -1 : 1) : a->root < b->root ? -1 : 1;
}

static int32_t CornerOf(const jnaCharacter* c, size_t corner)
{
    return c->weld[c->triangles[corner]];
}

jnResult jnaNumberShells(const jnaCharacter* c, jnaShellNumbers* shells, jnError* error)
{
    *shells = (jnaShellNumbers){0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int32_t* parent = jnaArena_Take(&arena, c->vertexCount, sizeof(*parent));
    Size* sizes = jnaArena_Take(&arena, c->vertexCount, sizeof(*sizes));
    int32_t* numbers = jnaArena_Take(&arena, c->vertexCount, sizeof(*numbers));
    shells->shellOf = jnaArena_Give(&arena, c->vertexCount, sizeof(*shells->shellOf));
    JN_TRY(jnaArena_Check(&arena, "the shells of a character", error));
    for (int v = 0; v < c->vertexCount; ++v) {
        parent[v] = v;
        sizes[v].root = v;
    }
    JN_TRY(JoinPlaces(c, parent, error));
    for (size_t i = 0; i < 3 * (size_t)c->triangleCount; ++i) {
        jnaUnion_Join(parent, CornerOf(c, i), CornerOf(c, i / 3 * 3));
    }
    for (size_t t = 0; t < (size_t)c->triangleCount; ++t) {
        sizes[jnaUnion_Root(parent, CornerOf(c, 3 * t))].triangles++;
    }
    qsort(sizes, (size_t)c->vertexCount, sizeof(*sizes), CompareSizes);
    for (int i = 0; i < c->vertexCount && sizes[i].triangles > 0; ++i) {
        numbers[sizes[i].root] = ++shells->count;
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        shells->shellOf[v] = numbers[jnaUnion_Root(parent, v)];
    }
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyShellNumbers(shells);
    }
    return result;
}

void jnaDestroyShellNumbers(jnaShellNumbers* shells)
{
    free(shells->shellOf);
    *shells = (jnaShellNumbers){0};
}

// Adds a vertex to the box of its shell, and its weights to the shell's row. box: low, high.
static void AddVertex(const jnaCharacter* c, int v, double box[6], double* row)
{
    for (int i = 0; i < 3; ++i) {
        double x = (double)c->positions[3 * (size_t)v + (size_t)i];
        box[i] = fmin(box[i], x);
        box[3 + i] = fmax(box[3 + i], x);
    }
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        row[c->influences[v].joints[i]] += (double)c->influences[v].weights[i];
    }
}

jnResult jnaDescribeShells(const jnaCharacter* c, const jnaShellNumbers* shells, jnaShellLine* lines, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    size_t wide = (size_t)c->jointCount;
    double* rows = jnaArena_Take(&arena, (int64_t)shells->count * c->jointCount, sizeof(*rows));
    double* boxes = jnaArena_Take(&arena, shells->count, 6 * sizeof(*boxes));
    JN_TRY(jnaArena_Check(&arena, "the shells of a character", error));
    for (int s = 0; s < shells->count; ++s) {
        lines[s] = (jnaShellLine){.part = -1};
        for (int i = 0; i < 6; ++i) {
            boxes[6 * s + i] = i < 3 ? HUGE_VAL : -HUGE_VAL;
        }
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        int s = shells->shellOf[v] - 1;
        if (s >= 0) {
            AddVertex(c, v, boxes + 6 * (size_t)s, rows + wide * (size_t)s);
        }
    }
    for (int p = 0; p < c->partCount; ++p) {
        for (int t = 0; t < c->parts[p].triangleCount; ++t) {
            jnaShellLine* line = &lines[shells->shellOf[CornerOf(c, 3 * (size_t)(c->parts[p].firstTriangle + t))] - 1];
            line->triangleCount++;
            line->part = line->part < 0 ? p : line->part;
        }
    }
    for (int s = 0; s < shells->count; ++s) {
        const double *box = boxes + 6 * (size_t)s, *row = rows + wide * (size_t)s;
        for (int i = 0; i < 3; ++i) {
            lines[s].middle[i] = 0.5 * (box[i] + box[3 + i]);
        }
        lines[s].size = jnaDistance(box, box + 3);
        for (int j = 0; j < c->jointCount; ++j) {
            lines[s].joint = row[j] > row[lines[s].joint] ? j : lines[s].joint;
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
