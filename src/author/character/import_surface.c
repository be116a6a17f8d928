// The surface of a character from its placed meshes: influences, weld, normals, parts.
#include "base/arena.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// Of the character's size; float positions of the same point agree to 1e-7 of it.
#define WELD_TOLERANCE 1e-6
// Metres. A character of a kilometre falls for 14 s; what is computed of one of 100 km does not converge.
#define MOST_SIZE 1000.0
#define LEAST_SIZE 0.001
// Distance from the origin in sizes at which floats are 1e-4 of a character apart.
#define FARTHEST_SIZES 1000.0
// A mesh whose whole area is below this share of its size squared is a line or a point.
#define LEAST_AREA 1e-9

typedef struct Influence {
    int joint;
    float weight;
} Influence;

static int CompareInfluences(const void* a, const void* b)
{
    const Influence *x = a, *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return (x->joint > y->joint) - (x->joint < y->joint);
}

static int CompareJoints(const void* a, const void* b)
{
    const Influence *x = a, *y = b;
    return (x->joint > y->joint) - (x->joint < y->joint);
}

// Merges joints that are listed twice, keeps the strongest and makes the sum 1. Returns the share that was
// dropped, or -1 where nothing moves the vertex.
static double Reduce(Influence* list, int count, int fallback, jnaInfluences* out)
{
    qsort(list, (size_t)count, sizeof(*list), CompareJoints);
    for (int i = count - 1; i > 0; --i) {
        if (list[i].joint == list[i - 1].joint) {
            list[i - 1].weight += list[i].weight;
            list[i].weight = 0;
        }
    }
    qsort(list, (size_t)count, sizeof(*list), CompareInfluences);
    double all = 0, kept = 0;
    for (int i = 0; i < count; ++i) {
        all += (double)list[i].weight;
        kept += i < JNA_MAX_INFLUENCES ? (double)list[i].weight : 0;
    }
    *out = (jnaInfluences){0};
    if (!(kept > 1e-6)) {
        out->joints[0] = (uint16_t)fallback;
        out->weights[0] = 1;
        return -1;
    }
    for (int i = 0; i < count && i < JNA_MAX_INFLUENCES && list[i].weight > 0; ++i) {
        out->joints[i] = (uint16_t)list[i].joint;
        out->weights[i] = (float)((double)list[i].weight / kept);
    }
    return 1 - kept / all;
}

typedef struct WeightReport {
    int unweighted, reduced;
    double worst;
} WeightReport;

// starts: [vertexCount + 1], zeroed scratch; the influences of vertex v end up in list[starts[v] .. starts[v
// + 1]).
static Influence* SortByVertex(const jnaPlacedMesh* placed, int* starts)
{
    const jnaSceneMesh* mesh = placed->mesh;
    size_t total = 0;
    for (int b = 0; b < mesh->boneCount; ++b) {
        total += (size_t)mesh->bones[b].weightCount;
        for (int w = 0; w < mesh->bones[b].weightCount; ++w) {
            starts[mesh->bones[b].vertices[w] + 1]++;
        }
    }
    Influence* list = total < INT32_MAX ? malloc((total + 1) * sizeof(*list)) : NULL;
    if (list == NULL) {
        return NULL;
    }
    for (int v = 0; v < mesh->vertexCount; ++v) {
        starts[v + 1] += starts[v];
    }
    for (int b = 0; b < mesh->boneCount; ++b) {
        const jnaSceneBone* bone = &mesh->bones[b];
        for (int w = 0; w < bone->weightCount; ++w) {
            list[starts[bone->vertices[w]]++] = (Influence){placed->boneJoints[b], fmaxf(bone->weights[w], 0)};
        }
    }
    // Filling moved each start to the next vertex's.
    for (int v = mesh->vertexCount; v > 0; --v) {
        starts[v] = starts[v - 1];
    }
    starts[0] = 0;
    return list;
}

static bool GatherInfluences(const jnaPlacedMesh* placed, jnaInfluences* out, WeightReport* report)
{
    const jnaSceneMesh* mesh = placed->mesh;
    if (placed->boneJoints == NULL) {
        for (int v = 0; v < mesh->vertexCount; ++v) {
            out[v] = (jnaInfluences){{(uint16_t)placed->fallback}, {1}};
        }
        return true;
    }
    int* starts = calloc((size_t)mesh->vertexCount + 2, sizeof(*starts));
    Influence* list = starts != NULL ? SortByVertex(placed, starts) : NULL;
    for (int v = 0; list != NULL && v < mesh->vertexCount; ++v) {
        double dropped = Reduce(list + starts[v], starts[v + 1] - starts[v], placed->fallback, &out[v]);
        report->unweighted += dropped < 0;
        report->reduced += dropped > 1e-6;
        report->worst = fmax(report->worst, dropped);
    }
    bool good = list != NULL;
    free(starts);
    free(list);
    return good;
}

static void PlacePositions(const jnaPlacedMesh* placed, double scale, float* out)
{
    for (int v = 0; v < placed->mesh->vertexCount; ++v) {
        const float* p = placed->mesh->positions + 3 * (size_t)v;
        double point[3] = {(double)p[0], (double)p[1], (double)p[2]};
        for (int t = 0; t < placed->mesh->targetCount; ++t) { // as it is shown at rest
            const jnaSceneTarget* target = &placed->mesh->targets[t];
            for (int i = 0; i < 3; ++i) {
                point[i] += (double)target->weight * (double)target->offsets[3 * (size_t)v + (size_t)i];
            }
        }
        jnaAffine_Apply(&placed->place, point, point);
        for (int i = 0; i < 3; ++i) {
            out[3 * (size_t)v + (size_t)i] = (float)(scale * point[i]);
        }
    }
}

// Normals go by the inverse transpose; those the file lacks stay 0 for now.
static void PlaceNormals(const jnaPlacedMesh* placed, float* out)
{
    jnaAffine inverse;
    if (placed->mesh->normals == NULL || !jnaAffine_Invert(&placed->place, &inverse)) {
        return;
    }
    for (int v = 0; v < placed->mesh->vertexCount; ++v) {
        const float* n = placed->mesh->normals + 3 * (size_t)v;
        double normal[3];
        for (int i = 0; i < 3; ++i) {
            normal[i] = inverse.m[i] * (double)n[0] + inverse.m[4 + i] * (double)n[1] + inverse.m[8 + i] * (double)n[2];
        }
        double length = jnaNormalize(normal);
        for (int i = 0; i < 3 && length > 1e-12 && isfinite(length); ++i) {
            out[3 * (size_t)v + (size_t)i] = (float)normal[i];
        }
    }
}

static void PlaceTriangles(const jnaPlacedMesh* placed, int32_t* out)
{
    // A mirroring place turns the surface inside out; the other winding turns it back.
    bool mirrored = jnaAffine_Determinant(&placed->place) < 0;
    for (int t = 0; t < placed->mesh->triangleCount; ++t) {
        const uint32_t* in = placed->mesh->triangles + 3 * (size_t)t;
        for (int k = 0; k < 3; ++k) {
            out[3 * (size_t)t + (size_t)k] = placed->firstVertex + (int32_t)in[mirrored ? 2 - k : k];
        }
    }
}

static void FillMesh(const jnaPlacedMesh* placed, int firstTriangle, jnaCharacter* c, jnaPart* part)
{
    const jnaSceneMesh* mesh = placed->mesh;
    size_t first = (size_t)placed->firstVertex;
    PlaceNormals(placed, c->fileNormals + 3 * first);
    for (size_t i = 0; mesh->uvs != NULL && i < 2 * (size_t)mesh->vertexCount; ++i) {
        c->fileUvs[2 * first + i] = isfinite(mesh->uvs[i]) ? mesh->uvs[i] : 0;
    }
    PlaceTriangles(placed, c->triangles + 3 * (size_t)firstTriangle);
    snprintf(part->name, sizeof(part->name), "%s", mesh->name);
    snprintf(part->material, sizeof(part->material), "%s", mesh->material);
    memcpy(part->color, mesh->color, sizeof(part->color));
    part->firstTriangle = firstTriangle;
    part->triangleCount = mesh->triangleCount;
    part->role = placed->role;
}

// Twice the area vector of a triangle; returns its length.
static double AreaVector(const jnaCharacter* c, int triangle, double* normal)
{
    const int32_t* t = c->triangles + 3 * (size_t)triangle;
    double edge[2][3];
    for (int k = 0; k < 2; ++k) {
        const float* a = c->positions + 3 * (size_t)c->weld[t[0]];
        const float* b = c->positions + 3 * (size_t)c->weld[t[k + 1]];
        for (int i = 0; i < 3; ++i) {
            edge[k][i] = (double)b[i] - (double)a[i];
        }
    }
    jnaCross(edge[0], edge[1], normal);
    return jnaLength(normal);
}

// Area-weighted normals over the welded surface for file vertices that have none.
static bool CompleteNormals(jnaCharacter* c)
{
    double* sums = calloc((size_t)c->vertexCount + 1, 3 * sizeof(double));
    if (sums == NULL) {
        return false;
    }
    for (int t = 0; t < c->triangleCount; ++t) {
        double normal[3];
        AreaVector(c, t, normal);
        for (int k = 0; k < 3; ++k) {
            double* sum = sums + 3 * (size_t)c->weld[c->triangles[3 * (size_t)t + (size_t)k]];
            for (int i = 0; i < 3; ++i) {
                sum[i] += normal[i];
            }
        }
    }
    for (int v = 0; v < c->fileVertexCount; ++v) {
        float* n = c->fileNormals + 3 * (size_t)v;
        double normal[3];
        memcpy(normal, sums + 3 * (size_t)c->weld[v], sizeof(normal));
        if (n[0] == 0 && n[1] == 0 && n[2] == 0) {
            bool sound = jnaNormalize(normal) > 0;
            for (int i = 0; i < 3; ++i) {
                n[i] = sound ? (float)normal[i] : (float)(i == 1);
            }
        }
    }
    free(sums);
    return true;
}

static double Extent(int count, const float* positions)
{
    double extent = 0;
    for (int i = 0; i < 3; ++i) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int v = 0; v < count; ++v) {
            low = fmin(low, (double)positions[3 * (size_t)v + (size_t)i]);
            high = fmax(high, (double)positions[3 * (size_t)v + (size_t)i]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

static void AddWeightNotes(const WeightReport* report, jnaNotes* notes)
{
    if (report->reduced > 0) {
        jnaNotes_Add(notes,
            "%d vertices have more than %d joints; the strongest were kept, at most %.1f %% was dropped",
            report->reduced, JNA_MAX_INFLUENCES, 100 * report->worst);
    }
    if (report->unweighted > 0) {
        jnaNotes_Add(notes, "%d vertices have no weights and follow the skin around them", report->unweighted);
    }
}

// The vertices of all meshes in the file's order.
typedef struct FileVertices {
    float* positions;          // [count][3]
    jnaInfluences* influences; // [count]
    int32_t* weld;             // [count], vertex
    double extent;             // largest side, metres
} FileVertices;

static jnResult FinishSurface(
    const char* path, const jnaPlacement* placement, const FileVertices* from, jnaCharacter* c, jnError* error)
{
    bool withUvs = false;
    for (int m = 0; m < placement->count; ++m) {
        withUvs = withUvs || placement->meshes[m].mesh->uvs != NULL;
    }
    JN_PASS(jnaCharacter_Allocate(c, withUvs, error));
    memcpy(c->weld, from->weld, (size_t)c->fileVertexCount * sizeof(*from->weld));
    for (int v = c->fileVertexCount - 1; v >= 0; --v) {
        // Downwards, so that the first file vertex of each point has the last word.
        memcpy(c->positions + 3 * (size_t)c->weld[v], from->positions + 3 * (size_t)v, 3 * sizeof(float));
        c->influences[c->weld[v]] = from->influences[v];
    }
    int firstTriangle = 0;
    for (int m = 0; m < placement->count; ++m) {
        FillMesh(&placement->meshes[m], firstTriangle, c, &c->parts[m]);
        firstTriangle += placement->meshes[m].mesh->triangleCount;
    }
    double area = 0, normal[3];
    for (int t = 0; t < c->triangleCount; ++t) {
        area += AreaVector(c, t, normal) / 2;
    }
    if (!(area > LEAST_AREA * from->extent * from->extent) || !isfinite(area)) {
        return jnFail(error, jn_badData, "%s: the mesh has no area", path);
    }
    return CompleteNormals(c) ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
}

// The vertices of one role together, for the weld.
typedef struct Group {
    int count;
    int32_t* files;            // [count], file vertices
    float* positions;          // [count][3]
    jnaInfluences* influences; // [count]
    int32_t* weld;             // [count]
} Group;

static void Gather(const jnaPlacement* placement, jnaMeshRole role, const FileVertices* from, Group* g)
{
    g->count = 0;
    for (int m = 0; m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        for (int v = 0; placed->role == role && v < placed->mesh->vertexCount; ++v) {
            int file = placed->firstVertex + v;
            g->files[g->count] = file;
            memcpy(g->positions + 3 * (size_t)g->count, from->positions + 3 * (size_t)file, 3 * sizeof(float));
            g->influences[g->count++] = from->influences[file];
        }
    }
}

// Parts of different roles are welded apart, the flesh first, so that its vertices come first.
static jnResult Weld(
    const char* path, const jnaPlacement* placement, const FileVertices* from, jnaCharacter* c, jnError* error)
{
    int all = placement->fileVertexCount;
    jnaArena arena = {0};
    Group g = {.files = jnaArena_Take(&arena, all, sizeof(*g.files)),
        .positions = jnaArena_Take(&arena, all, 3 * sizeof(float)),
        .influences = jnaArena_Take(&arena, all, sizeof(*g.influences)),
        .weld = jnaArena_Take(&arena, all, sizeof(*g.weld))};
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, path, error));
    c->vertexCount = c->outfitCount = 0;
    for (int role = jna_meshFlesh; role <= jna_meshRigid; ++role) {
        Gather(placement, (jnaMeshRole)role, from, &g);
        int welded = jnaWeld(g.count, g.positions, g.influences, WELD_TOLERANCE * from->extent, g.weld);
        if (welded < 0) {
            JN_TRY(jnFail(error, jn_outOfMemory, "%s: out of memory for %d vertices", path, all));
        }
        for (int i = 0; i < g.count; ++i) {
            from->weld[g.files[i]] = c->vertexCount + g.weld[i];
        }
        c->vertexCount += welded;
        c->outfitCount += role != jna_meshFlesh ? welded : 0;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// Sizes at which floats and what is computed from them still tell neighbours apart.
static jnResult CheckSize(const char* path, const FileVertices* from, int count, jnError* error)
{
    double farthest = 0;
    for (int i = 0; i < 3 * count; ++i) {
        farthest = fmax(farthest, fabs((double)from->positions[i]));
    }
    if (from->extent > MOST_SIZE || from->extent < LEAST_SIZE) {
        return jnFail(error, jn_badData,
            "%s: is %.3g m large; characters of %g mm to %g m can be taken: say how long a unit is with --scale", path,
            from->extent, 1000 * LEAST_SIZE, MOST_SIZE);
    }
    if (farthest > FARTHEST_SIZES * from->extent) {
        return jnFail(error, jn_badData,
            "%s: stands %.3g m from the origin, where floats are too coarse for its %.3g m: move it to the origin",
            path, farthest, from->extent);
    }
    return jn_ok;
}

jnResult jnaBuildSurface(
    const char* path, const jnaPlacement* placement, double scale, jnaCharacter* c, jnaNotes* notes, jnError* error)
{
    int count = placement->fileVertexCount;
    jnaArena arena = {0};
    FileVertices from = {.positions = jnaArena_Take(&arena, count, 3 * sizeof(float)),
        .influences = jnaArena_Take(&arena, count, sizeof(*from.influences)),
        .weld = jnaArena_Take(&arena, count, sizeof(*from.weld))};
    WeightReport report = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, path, error));
    for (int m = 0; m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        PlacePositions(placed, scale, from.positions + 3 * (size_t)placed->firstVertex);
        if (!GatherInfluences(placed, from.influences + placed->firstVertex, &report)) {
            JN_TRY(jnFail(error, jn_outOfMemory, "%s: out of memory for %d vertices", path, count));
        }
    }
    JN_TRY(jnaCheckSurfaceBounds(path, from.positions, (size_t)count, error));
    from.extent = Extent(count, from.positions);
    if (!isfinite(from.extent) || from.extent <= 0) {
        JN_TRY(jnFail(error, jn_badData, "%s: the mesh has no size that can be used", path));
    }
    JN_TRY(CheckSize(path, &from, count, error));
    c->fileVertexCount = count;
    c->triangleCount = placement->triangleCount;
    c->partCount = placement->count;
    JN_TRY(Weld(path, placement, &from, c, error));
    JN_TRY(FinishSurface(path, placement, &from, c, error));
    AddWeightNotes(&report, notes);
done:
    jnaReleaseArena(&arena);
    return result;
}
