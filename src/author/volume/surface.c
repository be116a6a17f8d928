// The surface of a character made ready for meshing, and what is wrong with it in a user's words.
//
// Faces without an area by index and doubled faces are dropped; vertices on one point that the weld left apart because
// joints move them differently are joined where the surface is open there; faces are turned to agree with their
// neighbours; parts that are no flesh are left out; holes are capped; parts are turned outward, and small ones
// inside others left out. What remains is numbered anew, in the character's order. Limits: an edge of more than two
// faces is told, not mended.
#include "volume/surface_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

// Volume over area^1.5 below which a surface counts as flat; a needle 1000 times as long as thick is well above.
#define FLAT_RATIO 1e-6

static int CompareEdges(const void* left, const void* right)
{
    const jnaFaceEdge *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return a->face < b->face ? -1 : a->face > b->face;
}

jnaFaceEdge* jnaListFaceEdges(int triangleCount, const int32_t* triangles, jnaArena* arena)
{
    jnaFaceEdge* edges = jnaArena_Take(arena, 3 * (int64_t)triangleCount, sizeof(*edges));
    for (int f = 0; edges != NULL && f < triangleCount; ++f) {
        for (int k = 0; k < 3; ++k) {
            int32_t a = triangles[3 * f + k], b = triangles[3 * f + (k + 1) % 3];
            edges[3 * f + k] = (jnaFaceEdge){a < b ? a : b, a < b ? b : a, f, a > b};
        }
    }
    if (edges != NULL) {
        qsort(edges, 3 * (size_t)triangleCount, sizeof(*edges), CompareEdges);
    }
    return edges;
}

static void DestroyFaces(jnaFaces* faces)
{
    free(faces->positions);
    free(faces->standsOn);
    free(faces->faces);
    free(faces->component);
    free(faces->role);
    free(faces->kinds);
    free(faces->partStarts);
    free(faces->byPart);
}

typedef struct SortedFace {
    int32_t corners[3]; // ascending
    int32_t face;
} SortedFace;

static int CompareFaces(const void* left, const void* right)
{
    const SortedFace *a = left, *b = right;
    for (int k = 0; k < 3; ++k) {
        if (a->corners[k] != b->corners[k]) {
            return a->corners[k] < b->corners[k] ? -1 : 1;
        }
    }
    return a->face < b->face ? -1 : a->face > b->face;
}

static void Exchange(int32_t* a, int32_t* b)
{
    int32_t other = *a;
    *a = *b;
    *b = other;
}

// Keeps the first of the faces on the same three vertices.
static jnResult DropDuplicates(jnaFaces* faces, jnaSurfaceReport* report, jnError* error)
{
    SortedFace* sorted = jnaAllocate(faces->count, sizeof(*sorted));
    if (sorted == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a surface");
    }
    for (int f = 0; f < faces->count; ++f) {
        sorted[f].face = f;
        int32_t* c = sorted[f].corners;
        memcpy(c, faces->faces[f], sizeof(sorted[f].corners));
        for (int pass = 0; pass < 2; ++pass) {
            for (int k = 0; k < 2; ++k) {
                if (c[k] > c[k + 1]) {
                    Exchange(&c[k], &c[k + 1]);
                }
            }
        }
    }
    qsort(sorted, (size_t)faces->count, sizeof(*sorted), CompareFaces);
    for (int f = 1; f < faces->count; ++f) {
        if (memcmp(sorted[f].corners, sorted[f - 1].corners, sizeof(sorted[f].corners)) == 0) {
            faces->faces[sorted[f].face][0] = -1;
        }
    }
    free(sorted);
    int kept = 0;
    for (int f = 0; f < faces->count; ++f) {
        if (faces->faces[f][0] >= 0) {
            memmove(faces->faces[kept++], faces->faces[f], sizeof(faces->faces[f]));
        }
    }
    report->duplicateCount += faces->count - kept;
    faces->count = kept;
    return jn_ok;
}

// Faces of the character's triangles on welded vertices; those that name a vertex twice are dropped.
static void GatherFaces(const jnaCharacter* character, jnaFaces* faces, jnaSurfaceReport* report)
{
    faces->count = 0;
    report->degenerateCount = 0;
    for (int t = 0; t < character->triangleCount; ++t) {
        int32_t c[3];
        for (int k = 0; k < 3; ++k) {
            c[k] = faces->standsOn[character->weld[character->triangles[3 * t + k]]];
        }
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) {
            report->degenerateCount++;
            continue;
        }
        memcpy(faces->faces[faces->count++], c, sizeof(c));
    }
}

static jnResult StartFaces(const jnaCharacter* character, jnaFaces* faces, jnError* error)
{
    int vertices = character->vertexCount;
    faces->vertexCount = faces->vertexCapacity = vertices;
    faces->capacity = character->triangleCount;
    jnaArena arena = {0};
    faces->positions = jnaArena_Give(&arena, vertices, 3 * sizeof(double));
    faces->standsOn = jnaArena_Give(&arena, vertices, sizeof(*faces->standsOn));
    faces->faces = jnaArena_Give(&arena, character->triangleCount, sizeof(*faces->faces));
    JN_PASS(jnaArena_Check(&arena, "a surface", error));
    for (int v = 0; v < vertices; ++v) {
        faces->standsOn[v] = v;
        for (int i = 0; i < 3; ++i) {
            faces->positions[3 * v + i] = (double)character->positions[3 * v + i];
        }
    }
    return jn_ok;
}

typedef struct Place {
    const double* position;
    int32_t vertex;
} Place;

static int ComparePlaces(const void* left, const void* right)
{
    const Place *a = left, *b = right;
    for (int i = 0; i < 3; ++i) {
        if (a->position[i] < b->position[i] || a->position[i] > b->position[i]) {
            return a->position[i] < b->position[i] ? -1 : 1;
        }
    }
    return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

// Joins vertices on one point that both lie on a boundary edge: a seam, not a hole.
static jnResult JoinSeams(jnaFaces* faces, int* joined, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaFaceEdge* edges = jnaListFaceEdges(faces->count, (const int32_t*)faces->faces, &arena);
    uint8_t* onBoundary = jnaArena_Take(&arena, faces->vertexCount, 1);
    Place* places = jnaArena_Take(&arena, faces->vertexCount, sizeof(*places));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    for (int e = 0, end; e < 3 * faces->count; e = end) {
        for (end = e + 1;
             end < 3 * faces->count && edges[end].low == edges[e].low && edges[end].high == edges[e].high;) {
            ++end;
        }
        if (end == e + 1) {
            onBoundary[edges[e].low] = onBoundary[edges[e].high] = 1;
        }
    }
    int count = 0;
    for (int32_t v = 0; v < faces->vertexCount; ++v) {
        if (onBoundary[v]) {
            places[count++] = (Place){faces->positions + 3 * (size_t)v, v};
        }
    }
    qsort(places, (size_t)count, sizeof(*places), ComparePlaces);
    for (int p = 1; p < count; ++p) {
        if (memcmp(places[p].position, places[p - 1].position, 3 * sizeof(double)) == 0) {
            faces->standsOn[places[p].vertex] = faces->standsOn[places[p - 1].vertex];
            ++*joined;
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

static jnResult CountEdges(const jnaFaces* faces, jnaSurfaceReport* report, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaFaceEdge* edges = jnaListFaceEdges(faces->count, (const int32_t*)faces->faces, &arena);
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    for (int e = 0, end; e < 3 * faces->count; e = end) {
        for (end = e + 1;
             end < 3 * faces->count && edges[end].low == edges[e].low && edges[end].high == edges[e].high;) {
            ++end;
        }
        report->boundaryEdgeCount += end == e + 1;
        report->nonManifoldCount += end > e + 2;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// What the skin at each vertex of the character is. Flesh has the last word where a part of another kind touches it.
static void SetKinds(const jnaCharacter* character, const jnaFaces* faces, jnaSurface* surface)
{
    for (int v = 0; v < character->vertexCount; ++v) {
        surface->kinds[v] = surface->vertexOf[v] >= 0 ? jna_skinFlesh : jna_skinPiece;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int f = 0; f < faces->count; ++f) {
            int part = faces->component[f];
            bool meshed = jnaPartIsMeshed(faces->role[part]);
            for (int k = 0; meshed == (pass == 1) && k < 3 && faces->faces[f][k] < character->vertexCount; ++k) {
                // Small parts inside others are pieces too.
                surface->kinds[faces->faces[f][k]] =
                    (uint8_t)(faces->role[part] == jna_partLeftOut ? jna_skinPiece : faces->kinds[part]);
            }
        }
    }
    for (int v = character->vertexCount - 1; v >= 0; --v) {
        bool rigid = character->marks != NULL && character->marks[v] == JNA_MARK(jna_meshRigid);
        surface->kinds[v] = rigid ? jna_skinRigid : surface->kinds[faces->standsOn[v]];
    }
}

// Numbers what is kept anew and measures it.
static jnResult Finish(const jnaCharacter* character, const jnaFaces* faces, jnaSurface* surface, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    int32_t* number = jnaArena_Take(&arena, faces->vertexCount, sizeof(*number));
    surface->positions = jnaArena_Give(&arena, faces->vertexCount, 3 * sizeof(double));
    surface->triangles = jnaArena_Give(&arena, faces->count, 3 * sizeof(int32_t));
    surface->vertexOf = jnaArena_Give(&arena, character->vertexCount, sizeof(*surface->vertexOf));
    surface->kinds = jnaArena_Give(&arena, character->vertexCount, sizeof(*surface->kinds));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    for (int f = 0; f < faces->count; ++f) {
        for (int k = 0; k < 3 && jnaPartIsMeshed(faces->role[faces->component[f]]); ++k) {
            number[faces->faces[f][k]] = 1;
        }
    }
    for (int v = 0; v < faces->vertexCount; ++v) {
        number[v] = number[v] ? surface->vertexCount++ : -1;
        if (number[v] >= 0) {
            memcpy(surface->positions + 3 * number[v], faces->positions + 3 * v, 3 * sizeof(double));
        }
    }
    surface->characterVertexCount = character->vertexCount;
    for (int v = 0; v < character->vertexCount; ++v) {
        surface->vertexOf[v] = number[faces->standsOn[v]];
    }
    SetKinds(character, faces, surface);
    double six = 0;
    for (int f = 0; f < faces->count; ++f) {
        jnaPartRole role = faces->role[faces->component[f]];
        if (!jnaPartIsMeshed(role)) {
            continue;
        }
        const double* p[3];
        for (int k = 0; k < 3; ++k) {
            int32_t vertex = number[faces->faces[f][k]];
            surface->triangles[3 * surface->triangleCount + k] = vertex;
            p[k] = surface->positions + 3 * vertex;
        }
        surface->triangleCount++;
        double area[3];
        jnaAreaVector(p[0], p[1], p[2], area);
        surface->report.area += 0.5 * jnaLength(area);
        // From the first vertex instead of the origin: less is cancelled.
        six += role == jna_partBoundary ? jnaVolume6(surface->positions, p[0], p[1], p[2]) : 0;
        surface->report.degenerateCount += jnaLength(area) <= 0;
    }
    surface->report.volume = six / 6;
done:
    jnaReleaseArena(&arena);
    return result;
}

static void TellEdges(const jnaSurfaceReport* report, jnaNotes* notes)
{
    if (report->degenerateCount > 0) {
        jnaNotes_Add(notes, "%d faces have no area", report->degenerateCount);
    }
    if (report->duplicateCount > 0) {
        jnaNotes_Add(
            notes, "%d faces lie on the same three vertices as another; one of each is kept", report->duplicateCount);
    }
    if (report->seamCount > 0) {
        jnaNotes_Add(notes, "%d vertices on an open edge coincide with another vertex and are merged for the volume",
            report->seamCount);
    }
    if (report->nonManifoldCount > 0) {
        jnaNotes_Add(notes, "%d edges are shared by more than two faces", report->nonManifoldCount);
    }
    if (report->flippedCount > 0) {
        jnaNotes_Add(notes, "%d faces were oriented against their neighbours and were flipped", report->flippedCount);
    }
    if (report->openChainCount > 0) {
        jnaNotes_Add(notes, "%d open edges do not form a loop and cannot be capped", report->openChainCount);
    }
}

// What rigid shells leave may be nothing, or a sheet or two: a character without flesh.
static void LeaveNothing(const jnaCharacter* character, jnaSurface* surface, jnaNotes* notes)
{
    surface->triangleCount = surface->vertexCount = 0;
    surface->report.area = surface->report.volume = 0;
    for (int v = 0; v < character->vertexCount; ++v) {
        surface->vertexOf[v] = -1;
        surface->kinds[v] = surface->kinds[v] <= jna_skinClothed ? jna_skinPiece : surface->kinds[v];
    }
    jnaNotes_Add(notes,
        "'%s' has only rigid parts: it has no flesh and plays as plain skinning (set volume.shells: flesh in the "
        "manifest to mesh it anyway)",
        character->name);
}

static jnResult CheckInside(const jnaCharacter* character, jnaSurface* surface, jnaNotes* notes, jnError* error)
{
    const jnaSurfaceReport* report = &surface->report;
    bool flat = !(fabs(report->volume) > FLAT_RATIO * report->area * sqrt(report->area));
    if (flat && report->shellCount > 0) {
        LeaveNothing(character, surface, notes);
        return jn_ok;
    }
    if (surface->triangleCount == 0) {
        return jnFail(
            error, jn_badData, "'%s' has no faces with an area, so there is nothing to fill", character->name);
    }
    if (flat) {
        return jnFail(error, jn_badData,
            "the surface of '%s' is flat or open: its %d faces enclose no volume, so there is no flesh to simulate",
            character->name, surface->triangleCount);
    }
    return jn_ok;
}

jnResult jnaCreateSurface(const jnaCharacter* character, bool keepInner, jnaShells shells, jnaSurface* surface,
    jnaNotes* notes, jnError* error)
{
    *surface = (jnaSurface){0};
    jnaSurfaceReport* report = &surface->report;
    jnaFaces faces = {.marks = character->marks};
    jnResult result = jn_ok;
    JN_TRY(StartFaces(character, &faces, error));
    GatherFaces(character, &faces, report);
    JN_TRY(JoinSeams(&faces, &report->seamCount, error));
    if (report->seamCount > 0) {
        GatherFaces(character, &faces, report);
    }
    JN_TRY(DropDuplicates(&faces, report, error));
    JN_TRY(CountEdges(&faces, report, error));
    JN_TRY(jnaFaces_Orient(&faces, &report->flippedCount, error));
    JN_TRY(jnaFaces_FindShells(&faces, character, shells, surface, notes, error));
    JN_TRY(jnaFaces_Cap(&faces, report, notes, error));
    JN_TRY(jnaFaces_SortParts(&faces, keepInner, surface, notes, error));
    JN_TRY(Finish(character, &faces, surface, error));
    TellEdges(report, notes);
    JN_TRY(CheckInside(character, surface, notes, error));
done:
    DestroyFaces(&faces);
    if (result != jn_ok) {
        jnaDestroySurface(surface);
    }
    return result;
}

void jnaDestroySurface(jnaSurface* surface)
{
    free(surface->positions);
    free(surface->triangles);
    free(surface->vertexOf);
    free(surface->kinds);
    free(surface->cavities);
    *surface = (jnaSurface){0};
}
