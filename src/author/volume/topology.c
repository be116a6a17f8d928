// What hangs together in a volume: pieces, boundary faces, which joint a node belongs to.
#include "volume/volume_internal.h"

#include "volume/laplacian.h"

#include "base/arena.h"
#include "base/try.h"
#include "base/union.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void jnaFindPieces(const jnaVolume* v, int* pieces)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        pieces[n] = n;
    }
    for (size_t i = 0; i < 4 * (size_t)v->tetrahedronCount; ++i) {
        jnaUnion_Join(pieces, v->tetrahedra[i - i % 4], v->tetrahedra[i]);
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        pieces[n] = jnaUnion_Root(pieces, n);
    }
}

// A face: its corners as they are, and sorted for finding its twin.
typedef struct Face {
    int32_t sorted[3];
    int32_t corners[3];
} Face;

static int CompareFaces(const void* a, const void* b)
{
    const int32_t *x = ((const Face*)a)->sorted, *y = ((const Face*)b)->sorted;
    for (int i = 0; i < 3; ++i) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

static void Swap(int32_t* a, int32_t* b)
{
    int32_t swap = *a;
    *a = *b;
    *b = swap;
}

static Face MakeFace(int32_t a, int32_t b, int32_t c)
{
    Face f = {{a, b, c}, {a, b, c}};
    if (f.sorted[0] > f.sorted[1]) {
        Swap(&f.sorted[0], &f.sorted[1]);
    }
    if (f.sorted[1] > f.sorted[2]) {
        Swap(&f.sorted[1], &f.sorted[2]);
    }
    if (f.sorted[0] > f.sorted[1]) {
        Swap(&f.sorted[0], &f.sorted[1]);
    }
    return f;
}

jnResult jnaFindBoundary(const jnaVolume* v, int* count, int32_t** faces, jnError* error)
{
    // Opposite corner 0, 1, 2, 3; outward for a positive volume.
    static const int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    int64_t total = 4 * (int64_t)v->tetrahedronCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    Face* all = jnaArena_Take(&arena, total, sizeof(Face));
    // Buckets by the lowest corner: each holds a few dozen faces, sorted on its own.
    int* starts = jnaArena_Take(&arena, (int64_t)v->nodeCount + 2, sizeof(int));
    *faces = jnaArena_Give(&arena, total, 3 * sizeof(int32_t));
    *count = 0;
    JN_TRY(jnaArena_Check(&arena, "the faces of tetrahedra", error));
    for (int pass = 0; pass < 2; ++pass) {
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            const int32_t* c = v->tetrahedra + 4 * (size_t)t;
            for (int s = 0; s < 4; ++s) {
                Face face = MakeFace(c[sides[s][0]], c[sides[s][1]], c[sides[s][2]]);
                if (pass == 0) {
                    starts[face.sorted[0] + 2]++;
                } else {
                    all[starts[face.sorted[0] + 1]++] = face;
                }
            }
        }
        for (int n = 0; pass == 0 && n < v->nodeCount; ++n) {
            starts[n + 2] += starts[n + 1];
        }
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        size_t first = (size_t)starts[n], end = (size_t)starts[n + 1];
        qsort(all + first, end - first, sizeof(Face), CompareFaces);
        for (size_t i = first; i < end; ++i) {
            bool twin = (i > first && CompareFaces(all + i - 1, all + i) == 0) ||
                        (i + 1 < end && CompareFaces(all + i, all + i + 1) == 0);
            if (!twin) {
                memcpy(*faces + 3 * (size_t)(*count)++, all[i].corners, sizeof(all[i].corners));
            }
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

int jnaDominantJoint(const jnaVolume* v, int node)
{
    int32_t best = v->rowStarts[node];
    for (int32_t i = best + 1; i < v->rowStarts[node + 1]; ++i) {
        best = v->weights[i] > v->weights[best] ? i : best;
    }
    return v->joints[best];
}

double jnaWeightOf(const jnaVolume* v, int node, int joint)
{
    double sum = 0;
    for (int32_t i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
        sum += v->joints[i] == joint ? (double)v->weights[i] : 0;
    }
    return sum;
}

void jnaNodeVolumes(const jnaVolume* v, double* volumes)
{
    memset(volumes, 0, (size_t)v->nodeCount * sizeof(*volumes));
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        double gradients[4][3];
        double quarter = fabs(jnaHatGradients(v->nodes, v->tetrahedra + 4 * (size_t)t, gradients)) / 4;
        for (int i = 0; i < 4; ++i) {
            volumes[v->tetrahedra[4 * (size_t)t + (size_t)i]] += quarter;
        }
    }
}

int jnaFindJoint(const jnaCharacter* character, const char* name)
{
    for (int j = 0; j < character->jointCount; ++j) {
        if (strcmp(character->joints[j].name, name) == 0) {
            return j;
        }
    }
    return -1;
}
