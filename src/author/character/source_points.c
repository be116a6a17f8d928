// Which point of the source every vertex stands on: by position within each mesh, before any transform.
#include "character/source_points.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/point_tree.h"

#include "runtime/for_author.h"

#include <stdlib.h>

// Of a mesh's size: texts and doubles go to floats in slightly different ways.
#define SAME_TOLERANCE 1e-6
enum { MAX_COINCIDENT = 64 };

void jnaDestroySourceMeshes(jnaSourceMeshes* list)
{
    for (int i = 0; i < list->count; ++i) {
        free(list->meshes[i].points);
    }
    free(list->meshes);
    *list = (jnaSourceMeshes){0};
}

bool jnaSourceMeshes_Add(jnaSourceMeshes* list, float* points, size_t count)
{
    bool sound = count > 0 && count <= INT32_MAX / 16;
    for (size_t i = 0; sound && i < 3 * count; ++i) {
        sound = isfinite(points[i]);
    }
    if (!sound) {
        free(points);
        return true;
    }
    if (!jnaReserve(&list->meshes, &list->capacity, list->count + 1, sizeof(*list->meshes))) {
        free(points);
        return false;
    }
    list->meshes[list->count++] = (jnaSourceMesh){(int)count, points};
    return true;
}

// Points of one mesh where it is placed: a run of the character's source points.
typedef struct Block {
    int mesh; // of the source
    jnaAffine place;
    int first;
} Block;

typedef struct Work {
    const jnaPlacement* placement;
    const jnaSourceMeshes* sources;
    jnaPointTree* trees; // [sources->count]
    Block* blocks;       // [placement->count]
    int blockCount;
    int32_t* points; // [pointCount], vertices; -1: none yet
    int pointCount;
} Work;

static double Tolerance(const jnaSceneMesh* mesh)
{
    double largest = 0;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertexCount; ++i) {
        largest = fmax(largest, fabs((double)mesh->positions[i]));
    }
    return SAME_TOLERANCE * largest + 1e-30;
}

static bool Holds(const jnaPointTree* tree, const jnaSceneMesh* mesh, double tolerance)
{
    for (size_t v = 0; v < (size_t)mesh->vertexCount; ++v) {
        const float* p = mesh->positions + 3 * v;
        double distance;
        jnaPointTree_Nearest(tree, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, &distance);
        if (distance > tolerance) {
            return false;
        }
    }
    return true;
}

// The smallest mesh of the source that has all points of a mesh; -1: none.
static int FindMesh(const Work* w, const jnaSceneMesh* mesh)
{
    int best = -1;
    for (int i = 0; i < w->sources->count; ++i) {
        bool smaller = best < 0 || w->sources->meshes[i].count < w->sources->meshes[best].count;
        if (smaller && Holds(&w->trees[i], mesh, Tolerance(mesh))) {
            best = i;
        }
    }
    return best;
}

// The run of points of a placed mesh; parts of one mesh, by material, share it.
static const Block* FindBlock(Work* w, const jnaPlacedMesh* placed)
{
    int mesh = FindMesh(w, placed->mesh);
    for (int i = 0; i < w->blockCount; ++i) {
        if (w->blocks[i].mesh == mesh && memcmp(&w->blocks[i].place, &placed->place, sizeof(placed->place)) == 0) {
            return &w->blocks[i];
        }
    }
    if (mesh < 0 || w->sources->meshes[mesh].count > INT32_MAX / 16 - w->pointCount) {
        return NULL;
    }
    int count = w->sources->meshes[mesh].count;
    if (!jnaResize(&w->points, w->pointCount + count, sizeof(*w->points))) {
        return NULL;
    }
    memset(w->points + w->pointCount, 0xff, (size_t)count * sizeof(*w->points));
    w->blocks[w->blockCount] = (Block){mesh, placed->place, w->pointCount};
    w->pointCount += count;
    return &w->blocks[w->blockCount++];
}

// A vertex takes the first point at its place that is free or its own.
static void TakePoint(Work* w, const Block* block, const float* position, double tolerance, int32_t vertex)
{
    int32_t found[MAX_COINCIDENT];
    const double place[3] = {(double)position[0], (double)position[1], (double)position[2]};
    int count = jnaPointTree_Within(&w->trees[block->mesh], place, tolerance, found, MAX_COINCIDENT);
    for (int i = 0; i < count && i < MAX_COINCIDENT; ++i) {
        int32_t* point = &w->points[block->first + found[i]];
        if (*point == -1 || *point == vertex) {
            *point = vertex;
            return;
        }
    }
}

// Points at the place of another that was welded with them stand on its vertex. Returns how many are left: no face has
// them.
static int TakeRest(Work* w)
{
    int loose = 0;
    for (int b = 0; b < w->blockCount; ++b) {
        const jnaSourceMesh* mesh = &w->sources->meshes[w->blocks[b].mesh];
        for (int i = 0; i < mesh->count; ++i) {
            int32_t* point = &w->points[w->blocks[b].first + i];
            int32_t found[MAX_COINCIDENT];
            const float* p = mesh->points + 3 * (size_t)i;
            const double place[3] = {(double)p[0], (double)p[1], (double)p[2]};
            double size = fabs(place[0]) + fabs(place[1]) + fabs(place[2]);
            int count = *point >= 0 ? 0
                                    : jnaPointTree_Within(&w->trees[w->blocks[b].mesh], place,
                                          SAME_TOLERANCE * size + 1e-30, found, MAX_COINCIDENT);
            for (int k = 0; k < count && k < MAX_COINCIDENT && *point < 0; ++k) {
                *point = w->points[w->blocks[b].first + found[k]];
            }
            loose += *point < 0;
        }
    }
    return loose;
}

static bool Match(Work* w, const jnaCharacter* c)
{
    for (int m = 0; m < w->placement->count; ++m) {
        const jnaPlacedMesh* placed = &w->placement->meshes[m];
        const Block* block = FindBlock(w, placed);
        if (block == NULL) {
            return false;
        }
        Block own = *block;
        double tolerance = Tolerance(placed->mesh);
        for (int v = 0; v < placed->mesh->vertexCount; ++v) {
            TakePoint(w, &own, placed->mesh->positions + 3 * (size_t)v, tolerance, c->weld[placed->firstVertex + v]);
        }
    }
    return true;
}

static jnResult MatchAll(Work* w, jnaCharacter* c, jnaNotes* notes)
{
    if (!Match(w, c)) {
        jnaNotes_Add(notes, "the point order of the source's meshes is unknown; caches are matched by position");
        return jn_ok;
    }
    int loose = TakeRest(w);
    c->sourcePoints = w->points;
    c->sourcePointCount = w->pointCount;
    w->points = NULL;
    jnaNotes_Add(notes, "the source has %d points; the file splits them into %d vertices, welded %d are simulated%s",
        c->sourcePointCount, c->fileVertexCount, c->vertexCount, loose > 0 ? "; some points belong to no face" : "");
    return jn_ok;
}

jnResult jnaFindSourcePoints(
    const char* path, const jnaPlacement* placement, jnaCharacter* c, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    jnaSourceMeshes sources = {0};
    Work w = {.placement = placement, .sources = &sources};
    bool fbx = jnaHasEnding(path, ".fbx");
    if (!fbx && !jnaHasEnding(path, ".dae")) {
        return jn_ok;
    }
    JN_TRY(fbx ? jnaReadFbxPoints(path, &sources, error) : jnaReadColladaPoints(path, &sources, error));
    w.trees = calloc((size_t)sources.count + 1, sizeof(*w.trees));
    w.blocks = calloc((size_t)placement->count + 1, sizeof(*w.blocks));
    bool good = w.trees != NULL && w.blocks != NULL;
    for (int i = 0; good && i < sources.count; ++i) {
        good = jnaCreatePointTree(sources.meshes[i].points, sources.meshes[i].count, &w.trees[i]);
    }
    result = good ? MatchAll(&w, c, notes) : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
done:
    for (int i = 0; w.trees != NULL && i < sources.count; ++i) {
        jnaDestroyPointTree(&w.trees[i]);
    }
    free(w.trees);
    free(w.blocks);
    free(w.points);
    jnaDestroySourceMeshes(&sources);
    return result;
}
