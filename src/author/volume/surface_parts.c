// The connected parts of a surface: which way their faces look, their holes, and which lie inside others.
//
// A part inside another is small, below SMALL_SHARE of the volume of the one around it: an eyeball, teeth, a tongue. It
// is left out of the volume and carried by skinning. A larger one stays: as a hollow where it is turned inward, as an
// inner layer of the flesh where it is turned outward.
#include "volume/surface_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "base/union.h"
#include "runtime/for_author.h"

#define SMALL_SHARE 0.05

static void TurnFace(int32_t face[3])
{
    int32_t other = face[1];
    face[1] = face[2];
    face[2] = other;
}

// Whether two faces run the same way along their common edge, as neighbours should not.
typedef struct Neighbour {
    int32_t face;
    bool agrees;
} Neighbour;

// Up to three neighbours a face, over edges of exactly two faces; -1 where there is none.
static void ListNeighbours(const jnaFaces* faces, const jnaFaceEdge* edges, Neighbour* list)
{
    for (int i = 0; i < 3 * faces->count; ++i) {
        list[i].face = -1;
    }
    for (int e = 0, end; e < 3 * faces->count; e = end) {
        for (end = e + 1;
             end < 3 * faces->count && edges[end].low == edges[e].low && edges[end].high == edges[e].high;) {
            ++end;
        }
        if (end != e + 2) {
            continue;
        }
        for (int k = 0; k < 2; ++k) {
            Neighbour* entry = list + 3 * edges[e + k].face;
            while (entry->face >= 0) {
                ++entry;
            }
            *entry = (Neighbour){edges[e + 1 - k].face, edges[e].reversed != edges[e + 1].reversed};
        }
    }
}

// Marks, from one face on, which faces are turned against it; turns the fewer.
static int OrientPatch(jnaFaces* faces, const Neighbour* neighbours, int32_t seed, int8_t* turned, int32_t* queue)
{
    int count = 0, flipped = 0;
    turned[seed] = 0;
    queue[count++] = seed;
    for (int at = 0; at < count; ++at) {
        for (int k = 0; k < 3; ++k) {
            const Neighbour* n = &neighbours[3 * queue[at] + k];
            if (n->face >= 0 && turned[n->face] < 0) {
                turned[n->face] = (int8_t)(turned[queue[at]] ^ (n->agrees ? 0 : 1));
                flipped += turned[n->face];
                queue[count++] = n->face;
            }
        }
    }
    int8_t minority = 2 * flipped > count ? 0 : 1;
    for (int at = 0; at < count; ++at) {
        if (turned[queue[at]] == minority) {
            TurnFace(faces->faces[queue[at]]);
        }
    }
    return minority == 1 ? flipped : count - flipped;
}

// Faces joined over any edge, one of many faces included, are one part; what a person said that follows is apart.
static void NumberParts(jnaFaces* faces, const jnaFaceEdge* edges, int32_t* parents)
{
    for (int f = 0; f < faces->count; ++f) {
        parents[f] = f;
    }
    for (int e = 1; e < 3 * faces->count; ++e) {
        if (edges[e].low == edges[e - 1].low && edges[e].high == edges[e - 1].high &&
            jnaFaces_IsMarked(faces, edges[e].face, jna_meshFollows) ==
                jnaFaces_IsMarked(faces, edges[e - 1].face, jna_meshFollows)) {
            jnaUnion_Join(parents, edges[e].face, edges[e - 1].face);
        }
    }
    for (int f = 0; f < faces->count; ++f) {
        int32_t root = jnaUnion_Root(parents, f);
        faces->component[f] = root == f ? faces->componentCount++ : faces->component[root];
    }
}

jnResult jnaFaces_Orient(jnaFaces* faces, int* flipped, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaFaceEdge* edges = jnaListFaceEdges(faces->count, (const int32_t*)faces->faces, &arena);
    Neighbour* neighbours = jnaArena_Take(&arena, 3 * (int64_t)faces->count, sizeof(*neighbours));
    int8_t* turned = jnaArena_Take(&arena, faces->count, sizeof(*turned));
    int32_t* queue = jnaArena_Take(&arena, faces->count, sizeof(*queue));
    faces->component = jnaArena_Give(&arena, faces->count, sizeof(*faces->component));
    faces->componentCapacity = faces->count;
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    ListNeighbours(faces, edges, neighbours);
    memset(turned, -1, (size_t)faces->count);
    for (int32_t f = 0; f < faces->count; ++f) {
        *flipped += turned[f] < 0 ? OrientPatch(faces, neighbours, f, turned, queue) : 0;
    }
    NumberParts(faces, edges, queue);
done:
    jnaReleaseArena(&arena);
    return result;
}

// A boundary edge as the missing face would run along it.
typedef struct Rim {
    int32_t from, to;
    int32_t part;
    bool used;
} Rim;

static int CompareRims(const void* left, const void* right)
{
    const Rim *a = left, *b = right;
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to;
}

static int ListRims(const jnaFaces* faces, const jnaFaceEdge* edges, Rim* rims)
{
    int count = 0;
    for (int e = 0, end; e < 3 * faces->count; e = end) {
        for (end = e + 1;
             end < 3 * faces->count && edges[end].low == edges[e].low && edges[end].high == edges[e].high;) {
            ++end;
        }
        const jnaFaceEdge* edge = NULL; // of the only face that is meshed
        int meshed = 0;
        for (int k = e; k < end; ++k) {
            if (jnaPartIsMeshed(faces->role[faces->component[edges[k].face]])) {
                edge = &edges[k];
                meshed++;
            }
        }
        if (meshed == 1) {
            rims[count++] = (Rim){edge->reversed ? edge->low : edge->high, edge->reversed ? edge->high : edge->low,
                faces->component[edge->face], false};
        }
    }
    qsort(rims, (size_t)count, sizeof(*rims), CompareRims);
    return count;
}

// First unused edge that starts at a vertex, or -1.
static int NextRim(const Rim* rims, int count, int32_t from)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (rims[middle].from < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && rims[low].from == from; ++low) {
        if (!rims[low].used) {
            return low;
        }
    }
    return -1;
}

static bool AddFace(jnaFaces* faces, int32_t a, int32_t b, int32_t c, int32_t part)
{
    if (!jnaReserve(&faces->faces, &faces->capacity, faces->count + 1, sizeof(*faces->faces)) ||
        !jnaReserve(&faces->component, &faces->componentCapacity, faces->count + 1, sizeof(*faces->component))) {
        return false;
    }
    int32_t face[3] = {a, b, c};
    memcpy(faces->faces[faces->count], face, sizeof(face));
    faces->component[faces->count++] = part;
    return true;
}

// Fills a loop: one face for three edges, else a fan around the mean of its vertices. *diameter is twice the largest
// distance from there.
static bool CapLoop(jnaFaces* faces, const int32_t* loop, int length, int32_t part, double* diameter)
{
    double middle[3] = {0};
    for (int k = 0; k < length; ++k) {
        for (int i = 0; i < 3; ++i) {
            middle[i] += faces->positions[3 * loop[k] + i] / length;
        }
    }
    *diameter = 0;
    for (int k = 0; k < length; ++k) {
        *diameter = fmax(*diameter, 2 * jnaDistance(middle, faces->positions + 3 * loop[k]));
    }
    if (length == 3) {
        return AddFace(faces, loop[0], loop[1], loop[2], part);
    }
    if (!jnaReserve(&faces->positions, &faces->vertexCapacity, faces->vertexCount + 1, 3 * sizeof(double))) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        // As float, like all coordinates: jnaOrient depends on it.
        faces->positions[3 * faces->vertexCount + i] = jnaRoundToFloat(middle[i]);
    }
    int32_t center = faces->vertexCount++;
    for (int k = 0; k < length; ++k) {
        if (!AddFace(faces, loop[k], loop[(k + 1) % length], center, part)) {
            return false;
        }
    }
    return true;
}

jnResult jnaFaces_Cap(jnaFaces* faces, jnaSurfaceReport* report, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaFaceEdge* edges = jnaListFaceEdges(faces->count, (const int32_t*)faces->faces, &arena);
    Rim* rims = jnaArena_Take(&arena, 3 * (int64_t)faces->count, sizeof(*rims));
    int32_t* loop = jnaArena_Take(&arena, 3 * (int64_t)faces->count, sizeof(*loop));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    int count = ListRims(faces, edges, rims);
    for (int r = 0; r < count; ++r) {
        int length = 0, at = rims[r].used ? -1 : r;
        while (at >= 0) {
            rims[at].used = true;
            loop[length++] = rims[at].from;
            at = rims[at].to == loop[0] ? -2 : NextRim(rims, count, rims[at].to);
        }
        if (at == -1) {
            report->openChainCount += length;
            continue;
        }
        double diameter;
        arena.failed = !CapLoop(faces, loop, length, rims[r].part, &diameter);
        JN_TRY(jnaArena_Check(&arena, "a surface", error));
        report->holeCount++;
        if (report->holeCount <= 8) {
            const double* p = faces->positions + 3 * loop[0];
            jnaNotes_Add(notes,
                "hole of %d edges, %.3g m across, near (%.3g, %.3g, %.3g): capped for the volume, the skin stays open",
                length, diameter, p[0], p[1], p[2]);
        }
    }
    if (report->holeCount > 8) {
        jnaNotes_Add(notes, "and %d more holes, capped as well", report->holeCount - 8);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaFaces_ListParts(jnaFaces* faces, jnError* error)
{
    free(faces->partStarts);
    free(faces->byPart);
    int parts = faces->componentCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    faces->partStarts = jnaArena_Give(&arena, parts + 1, sizeof(*faces->partStarts));
    faces->byPart = jnaArena_Give(&arena, faces->count, sizeof(*faces->byPart));
    int32_t* fill = jnaArena_Take(&arena, parts + 1, sizeof(*fill));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    for (int f = 0; f < faces->count; ++f) {
        faces->partStarts[faces->component[f] + 1]++;
    }
    for (int c = 0; c < parts; ++c) {
        fill[c] = faces->partStarts[c];
        faces->partStarts[c + 1] += faces->partStarts[c];
    }
    for (int f = 0; f < faces->count; ++f) {
        faces->byPart[fill[faces->component[f]]++] = f;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

/// A part, measured.
typedef struct Part {
    double low[3], high[3];
    double volume; // signed
    int32_t face;  // one of its faces
    int around;    // the smallest part that holds it, or -1
} Part;

static void MeasureParts(const jnaFaces* faces, Part* parts)
{
    for (int c = 0; c < faces->componentCount; ++c) {
        parts[c] = (Part){.low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, .high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, .face = -1};
    }
    for (int f = 0; f < faces->count; ++f) {
        Part* part = &parts[faces->component[f]];
        part->face = part->face < 0 ? f : part->face;
        const double* origin = faces->positions + 3 * faces->faces[part->face][0];
        const double* p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = faces->positions + 3 * faces->faces[f][k];
            for (int i = 0; i < 3; ++i) {
                part->low[i] = fmin(part->low[i], p[k][i]);
                part->high[i] = fmax(part->high[i], p[k][i]);
            }
        }
        part->volume += jnaVolume6(origin, p[0], p[1], p[2]) / 6;
    }
}

static bool BoxInside(const Part* inner, const Part* outer)
{
    for (int i = 0; i < 3; ++i) {
        if (inner->low[i] <= outer->low[i] || inner->high[i] >= outer->high[i]) {
            return false;
        }
    }
    return true;
}

// Winding number of one part around a point.
static double PartWinding(const jnaFaces* faces, int part, const double* point)
{
    double sum = 0;
    for (int32_t i = faces->partStarts[part]; i < faces->partStarts[part + 1]; ++i) {
        int32_t f = faces->byPart[i];
        double a[3], b[3], c[3], bc[3];
        jnaSubtract(faces->positions + 3 * faces->faces[f][0], point, a);
        jnaSubtract(faces->positions + 3 * faces->faces[f][1], point, b);
        jnaSubtract(faces->positions + 3 * faces->faces[f][2], point, c);
        jnaCross(b, c, bc);
        double la = jnaLength(a), lb = jnaLength(b), lc = jnaLength(c);
        sum += 2 * atan2(jnaDot(a, bc), la * lb * lc + jnaDot(a, b) * lc + jnaDot(b, c) * la + jnaDot(c, a) * lb);
    }
    return sum / (4 * JNA_PI);
}

// Rigid shells count for nothing: flesh inside armour is flesh.
static void FindAround(const jnaFaces* faces, Part* parts)
{
    for (int c = 0; c < faces->componentCount; ++c) {
        const double* point = faces->positions + 3 * faces->faces[parts[c].face][0];
        parts[c].around = -1;
        for (int o = 0; jnaPartIsMeshed(faces->role[c]) && o < faces->componentCount; ++o) {
            bool smaller = parts[c].around < 0 || fabs(parts[o].volume) < fabs(parts[parts[c].around].volume);
            if (o != c && smaller && jnaPartIsMeshed(faces->role[o]) && BoxInside(&parts[c], &parts[o]) &&
                fabs(PartWinding(faces, o, point)) > 0.5) {
                parts[c].around = o;
            }
        }
    }
}

static void TurnPart(jnaFaces* faces, int part)
{
    for (int32_t i = faces->partStarts[part]; i < faces->partStarts[part + 1]; ++i) {
        TurnFace(faces->faces[faces->byPart[i]]);
    }
}

// A point in a hollow: behind one of its faces, by less and less until the hollow's own winding number holds it.
static bool AddCavity(const jnaFaces* faces, int part, const Part* measured, jnaSurface* surface)
{
    const int32_t* face = faces->faces[measured->face];
    double area[3], point[3];
    const double *a = faces->positions + 3 * face[0], *b = faces->positions + 3 * face[1],
                 *c = faces->positions + 3 * face[2];
    jnaAreaVector(a, b, c, area);
    double size = jnaLength(area);
    for (double step = 0.1 * sqrt(size); size > 0 && step > 1e-9 * sqrt(size); step *= 0.5) {
        for (int i = 0; i < 3; ++i) {
            point[i] = (a[i] + b[i] + c[i]) / 3 + step * area[i] / size;
        }
        if (PartWinding(faces, part, point) < -0.5) {
            if (!jnaResize(&surface->cavities, surface->cavityCount + 1, sizeof(point))) {
                return false;
            }
            memcpy(surface->cavities[surface->cavityCount++], point, sizeof(point));
            return true;
        }
    }
    return true;
}

static bool SortPart(jnaFaces* faces, bool keepInner, Part* parts, int c, jnaSurface* surface, jnaNotes* notes)
{
    Part* part = &parts[c];
    jnaSurfaceReport* report = &surface->report;
    if (!jnaPartIsMeshed(faces->role[c])) {
        return true;
    }
    if (part->around < 0) {
        if (part->volume < 0) {
            TurnPart(faces, c);
            report->insideOutCount++;
        }
        return true;
    }
    double share = fabs(part->volume / parts[part->around].volume);
    if (!keepInner && share < SMALL_SHARE) {
        const double* p = faces->positions + 3 * faces->faces[part->face][0];
        faces->role[c] = jna_partLeftOut;
        if (++report->leftOutCount <= 8) {
            jnaNotes_Add(notes,
                "a part near (%.3g, %.3g, %.3g) lies inside another and is %.2g %% of it: left out of the volume, "
                "carried "
                "by skinning",
                p[0], p[1], p[2], 100 * share);
        }
        return true;
    }
    if (part->volume < 0) {
        report->cavityCount++;
        jnaNotes_Add(notes, "a part inside another is turned inward: it bounds a hollow");
        return AddCavity(faces, c, part, surface);
    }
    faces->role[c] = jna_partLayer;
    jnaNotes_Add(notes, "a part inside another is turned outward: the flesh goes through it");
    return true;
}

jnResult jnaFaces_SortParts(jnaFaces* faces, bool keepInner, jnaSurface* surface, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    Part* parts = jnaArena_Take(&arena, faces->componentCount, sizeof(*parts));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    JN_TRY(jnaFaces_ListParts(faces, error));
    MeasureParts(faces, parts);
    FindAround(faces, parts);
    for (int c = 0; c < faces->componentCount; ++c) {
        arena.failed = !SortPart(faces, keepInner, parts, c, surface, notes);
        JN_TRY(jnaArena_Check(&arena, "a surface", error));
    }
    surface->report.componentCount = faces->componentCount;
    if (surface->report.insideOutCount > 0) {
        jnaNotes_Add(notes,
            surface->report.componentCount == 1 ? "the surface was inside out and was flipped"
                                                : "%d parts were inside out and were flipped",
            surface->report.insideOutCount);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
