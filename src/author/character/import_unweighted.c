// Vertices that no joint moves follow the skin around them.
//
// Exporters leave out weights that are small, and artists forget vertices. What is left has to move with its
// neighbours: from the weighted vertices outwards along the edges, each takes the influences of the nearest that has
// some; a part without any takes those of the nearest vertex in space.
#include "character/import_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/point_tree.h"

#include "runtime/for_author.h"

#include <stdlib.h>

// Sums of weights below this are nothing, as where influences are gathered.
#define LEAST_WEIGHT 1e-6

// Marks the vertices that some file vertex gives weight; rigid meshes have their joint.
static void MarkWeighted(const jnaPlacement* placement, const jnaCharacter* c, double* sums, uint8_t* weighted)
{
    for (int m = 0; m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        const jnaSceneMesh* mesh = placed->mesh;
        for (int v = 0; v < mesh->vertexCount; ++v) {
            sums[v] = placed->boneJoints == NULL;
        }
        for (int b = 0; placed->boneJoints != NULL && b < mesh->boneCount; ++b) {
            for (int w = 0; w < mesh->bones[b].weightCount; ++w) {
                sums[mesh->bones[b].vertices[w]] += fmax((double)mesh->bones[b].weights[w], 0);
            }
        }
        for (int v = 0; v < mesh->vertexCount; ++v) {
            if (sums[v] > LEAST_WEIGHT) {
                weighted[c->weld[placed->firstVertex + v]] = 1;
            }
        }
    }
}

static double EdgeLength(const jnaCharacter* c, int32_t a, int32_t b)
{
    double sum = 0;
    for (size_t i = 0; i < 3; ++i) {
        double d = (double)c->positions[3 * (size_t)a + i] - (double)c->positions[3 * (size_t)b + i];
        sum += d * d;
    }
    return sqrt(sum);
}

// One ring outwards: `from` of vertices that have a neighbour with influences. Returns how many.
static int SpreadRing(jnaCharacter* c, uint8_t* weighted, int32_t* from, double* distances)
{
    int count = 0;
    for (size_t i = 0; i < 3 * (size_t)c->triangleCount; ++i) {
        size_t next = i / 3 * 3 + (i + 1) % 3;
        const int32_t ends[2] = {c->weld[c->triangles[i]], c->weld[c->triangles[next]]};
        for (int k = 0; k < 2; ++k) {
            int32_t to = ends[k], source = ends[1 - k];
            double distance = EdgeLength(c, to, source);
            if (weighted[to] == 0 && weighted[source] == 1 && (from[to] < 0 || distance < distances[to])) {
                count += from[to] < 0;
                from[to] = source;
                distances[to] = distance;
            }
        }
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        if (weighted[v] == 0 && from[v] >= 0) {
            c->influences[v] = c->influences[from[v]];
            weighted[v] = 1;
        }
    }
    return count;
}

// Parts that no edge joins to the rest: the nearest vertex that has influences of its own.
static jnResult SpreadInSpace(jnaCharacter* c, const uint8_t* weighted, jnaArena* arena, jnError* error)
{
    int32_t* owners = jnaArena_Take(arena, c->vertexCount, sizeof(*owners));
    float* points = jnaArena_Take(arena, 3 * (int64_t)c->vertexCount, sizeof(*points));
    jnaPointTree tree = {0};
    int count = 0;
    jnResult result = jnaArena_Check(arena, "vertices without weights", error);
    for (int v = 0; result == jn_ok && v < c->vertexCount; ++v) {
        if (weighted[v] != 0) {
            memcpy(points + 3 * (size_t)count, c->positions + 3 * (size_t)v, 3 * sizeof(float));
            owners[count++] = v;
        }
    }
    if (result == jn_ok && count > 0 && !jnaCreatePointTree(points, count, &tree)) {
        result = jnFail(error, jn_outOfMemory, "out of memory for %d vertices", c->vertexCount);
    }
    for (int v = 0; result == jn_ok && count > 0 && v < c->vertexCount; ++v) {
        const float* p = c->positions + 3 * (size_t)v;
        double distance;
        if (weighted[v] == 0) {
            int nearest = jnaPointTree_Nearest(&tree, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, &distance);
            c->influences[v] = c->influences[owners[nearest]];
        }
    }
    jnaDestroyPointTree(&tree);
    return result;
}

jnResult jnaSpreadWeights(const jnaPlacement* placement, jnaCharacter* c, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* sums = jnaArena_Take(&arena, c->fileVertexCount, sizeof(*sums));
    double* distances = jnaArena_Take(&arena, c->vertexCount, sizeof(*distances));
    uint8_t* weighted = jnaArena_Take(&arena, c->vertexCount, sizeof(*weighted));
    int32_t* from = jnaArena_Take(&arena, c->vertexCount, sizeof(*from));
    JN_TRY(jnaArena_Check(&arena, "vertices without weights", error));
    MarkWeighted(placement, c, sums, weighted);
    int left = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        from[v] = -1;
        left += weighted[v] == 0;
    }
    for (int spread = left; left > 0 && spread > 0; left -= spread) {
        spread = SpreadRing(c, weighted, from, distances);
    }
    if (left > 0) {
        JN_TRY(SpreadInSpace(c, weighted, &arena, error));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
