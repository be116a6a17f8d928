// See vertex_match.h: ids, then positions, then a known order that positions prove, then the nearest vertex.
//
// Where the first frame is already simulated, no point lies on its vertex. Then a mapping is proven by edges: in the
// right order almost every edge of the surface has about its length, in a wrong one the ends of an edge are anywhere.
#include "character/vertex_match.h"

#include "character/match_internal.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A point lies on a vertex within this fraction of the character's size: floats that went through another unit and
// back agree to 1e-6 of it.
#define EXACT_TOLERANCE 1e-5
// The fraction of edges that must have between half and twice their length, and the length below which edges do not
// count, as a fraction of the character's size.
#define LEAST_EDGES 0.98
#define SHORTEST_EDGE 1e-4
// Nearest vertices are trusted up to this fraction of the length of the edges around them.
#define NEAREST_REACH 0.5

// Every edge of every triangle, in both vertices' lists of neighbours.
static jnResult FindEdges(jnaMatching* m, jnaArena* arena)
{
    const jnaMatchSurface* s = m->surface;
    m->edgeCount = 3 * s->triangleCount;
    m->edges = jnaArena_Take(arena, 2 * (int64_t)m->edgeCount, sizeof(*m->edges));
    m->edgeStarts = jnaArena_Take(arena, (int64_t)s->vertexCount + 2, sizeof(*m->edgeStarts));
    m->neighbours = jnaArena_Take(arena, 2 * (int64_t)m->edgeCount, sizeof(*m->neighbours));
    JN_PASS(jnaArena_Check(arena, "the matching of points", m->error));
    for (int e = 0; e < m->edgeCount; ++e) {
        const int32_t* t = s->triangles + 3 * (size_t)(e / 3);
        m->edges[2 * (size_t)e] = s->weld[t[e % 3]];
        m->edges[2 * (size_t)e + 1] = s->weld[t[(e + 1) % 3]];
        for (size_t k = 0; k < 2; ++k) {
            m->edgeStarts[m->edges[2 * (size_t)e + k] + 2]++;
        }
    }
    for (int v = 0; v < s->vertexCount; ++v) {
        m->edgeStarts[v + 2] += m->edgeStarts[v + 1];
    }
    // Filling moves each start to the next vertex's, which is where it belongs.
    for (int e = 0; e < m->edgeCount; ++e) {
        const int32_t* ends = m->edges + 2 * (size_t)e;
        m->neighbours[m->edgeStarts[ends[0] + 1]++] = ends[1];
        m->neighbours[m->edgeStarts[ends[1] + 1]++] = ends[0];
    }
    return jn_ok;
}

static double Extent(const float* points, int count)
{
    double extent = 0;
    for (size_t k = 0; k < 3; ++k) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t i = 0; i < (size_t)count; ++i) {
            low = fmin(low, (double)points[3 * i + k]);
            high = fmax(high, (double)points[3 * i + k]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

static double Distance(const float* a, const float* b)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    }
    return sqrt(sum);
}

// Averages placed points over the vertices that a mapping gives them; false where a vertex is left out.
static bool Average(const jnaMatching* m, const int32_t* vertices)
{
    int vertexCount = m->surface->vertexCount;
    memset(m->means, 0, 3 * (size_t)vertexCount * sizeof(float));
    memset(m->counts, 0, (size_t)vertexCount * sizeof(*m->counts));
    for (size_t i = 0; i < (size_t)m->cache->pointCount; ++i) {
        size_t v = (size_t)vertices[i];
        m->counts[v]++;
        for (size_t k = 0; k < 3; ++k) {
            m->means[3 * v + k] += m->placed[3 * i + k];
        }
    }
    bool whole = true;
    for (size_t v = 0; v < (size_t)vertexCount; ++v) {
        whole = whole && m->counts[v] > 0;
        for (size_t k = 0; k < 3; ++k) {
            m->means[3 * v + k] /= (float)(m->counts[v] > 0 ? m->counts[v] : 1);
        }
    }
    return whole;
}

// Fraction of the edges that keep about their length under a mapping whose means are there.
static double SoundEdges(const jnaMatching* m, const float* surface)
{
    int64_t sound = 0, all = 0;
    for (int e = 0; e < m->edgeCount; ++e) {
        size_t a = 3 * (size_t)m->edges[2 * (size_t)e], b = 3 * (size_t)m->edges[2 * (size_t)e + 1];
        double ours = Distance(surface + a, surface + b), theirs = Distance(m->means + a, m->means + b);
        bool counts = ours > SHORTEST_EDGE * m->extent;
        all += counts;
        sound += counts && theirs > 0.5 * ours && theirs < 2 * ours;
    }
    return all > 0 ? (double)sound / (double)all : 0;
}

// Whether a mapping puts the first frame on the surface it was found to lie on: near, and with sound edges.
static bool IsProven(const jnaMatching* m, const jnaMatch* match, const int32_t* vertices)
{
    const float* surface = jnaMatching_Surface(m, match->toRest ? 1 : 0);
    if (!Average(m, vertices)) {
        return false;
    }
    double sum = 0;
    for (size_t v = 0; v < (size_t)m->surface->vertexCount; ++v) {
        sum += Distance(m->means + 3 * v, surface + 3 * v);
    }
    return sum / m->surface->vertexCount <= JNA_FLESH_REACH * m->extent && SoundEdges(m, surface) >= LEAST_EDGES;
}

// A table from numbers to vertices: points of the source, vertices of the file, welded vertices.
typedef struct Table {
    int count;
    const int32_t* vertices; // NULL: the number is the vertex
} Table;

static void ListTables(const jnaMatchSurface* s, Table tables[3])
{
    tables[0] = (Table){s->sourcePoints != NULL ? s->sourcePointCount : 0, s->sourcePoints};
    tables[1] = (Table){s->fileVertexCount, s->weld};
    tables[2] = (Table){s->vertexCount, NULL};
}

// Vertices of the points by a table; ids: their numbers, NULL for the order of the file. False where it does not fit.
static bool LookUp(const jnaMatching* m, const Table* table, const int32_t* ids, int32_t* vertices)
{
    if (table->count == 0 || (ids == NULL && table->count != m->cache->pointCount)) {
        return false;
    }
    for (int i = 0; i < m->cache->pointCount; ++i) {
        int32_t number = ids != NULL ? ids[i] : i;
        if (number < 0 || number >= table->count) {
            return false;
        }
        vertices[i] = table->vertices != NULL ? table->vertices[number] : number;
        if (vertices[i] < 0) {
            return false;
        }
    }
    return true;
}

static bool MatchByTables(const jnaMatching* m, const int32_t* ids, jnaMatch* match)
{
    Table tables[3];
    ListTables(m->surface, tables);
    for (int i = 0; i < 3; ++i) {
        if (LookUp(m, &tables[i], ids, match->vertices) && IsProven(m, match, match->vertices)) {
            return true;
        }
    }
    return false;
}

// Every point lies on a vertex, and every vertex has a point.
static bool MatchExactly(jnaMatching* m, jnaMatch* match, jnResult* result)
{
    const jnaPointTree* tree = &m->trees[match->toRest ? 1 : 0];
    double tolerance = EXACT_TOLERANCE * m->extent;
    for (int i = 0; i < m->cache->pointCount; ++i) {
        const float* p = m->placed + 3 * (size_t)i;
        double distance;
        match->vertices[i] =
            jnaPointTree_Nearest(tree, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, &distance);
        if (distance > tolerance) {
            return false;
        }
    }
    *result = jnaMatchCoincident(m, match, tolerance);
    return *result != jn_ok || Average(m, match->vertices);
}

// Mean length of the edges around a vertex.
static double EdgeLength(const jnaMatching* m, const float* surface, int32_t vertex)
{
    uint32_t first = m->edgeStarts[vertex], last = m->edgeStarts[vertex + 1];
    double sum = 0;
    for (uint32_t e = first; e < last; ++e) {
        sum += Distance(surface + 3 * (size_t)vertex, surface + 3 * (size_t)m->neighbours[e]);
    }
    return last > first ? sum / (last - first) : 0;
}

// Each point to its nearest vertex, which must be within reach; one to one but for points at one place.
static bool MatchNearest(jnaMatching* m, jnaMatch* match)
{
    const jnaPointTree* tree = &m->trees[match->toRest ? 1 : 0];
    const float* surface = jnaMatching_Surface(m, match->toRest ? 1 : 0);
    for (int i = 0; i < m->cache->pointCount; ++i) {
        const float* p = m->placed + 3 * (size_t)i;
        double distance;
        int32_t v = jnaPointTree_Nearest(tree, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, &distance);
        match->vertices[i] = v;
        if (distance > NEAREST_REACH * EdgeLength(m, surface, v)) {
            return false;
        }
    }
    if (!IsProven(m, match, match->vertices)) {
        return false;
    }
    for (int i = 0; i < m->cache->pointCount; ++i) {
        size_t v = (size_t)match->vertices[i];
        if (Distance(m->placed + 3 * (size_t)i, m->means + 3 * v) > EXACT_TOLERANCE * m->extent) {
            return false;
        }
    }
    return true;
}

// How far points and vertices are from each other, as a sentence of refusal.
static jnResult Refuse(const jnaMatching* m, const jnaMatch* match)
{
    const jnaPointTree* tree = &m->trees[match->toRest ? 1 : 0];
    double tolerance = EXACT_TOLERANCE * m->extent, sum = 0, worst = 0;
    int off = 0, farthest = 0, missing = 0;
    memset(m->counts, 0, (size_t)m->surface->vertexCount * sizeof(*m->counts));
    for (int i = 0; i < m->cache->pointCount; ++i) {
        const float* p = m->placed + 3 * (size_t)i;
        double distance;
        int v = jnaPointTree_Nearest(tree, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, &distance);
        m->counts[v]++;
        sum += distance;
        off += distance > tolerance;
        farthest = distance > worst ? i : farthest;
        worst = fmax(worst, distance);
    }
    for (int v = 0; v < m->surface->vertexCount; ++v) {
        missing += m->counts[v] == 0;
    }
    return jnFail(m->error, jn_badData,
        "%s: %d of its %d points lie on no vertex of the character (%.3g m off on average, point %d by %.3g m), and %d "
        "of "
        "the %d vertices have no point; begin the cache in the rest pose, or give its points an id",
        m->path, off, m->cache->pointCount, sum / m->cache->pointCount, farthest, worst, missing,
        m->surface->vertexCount);
}

static const char* UnitName(double scale, char* buffer, size_t size)
{
    static const struct {
        double scale;
        const char* name;
    } units[] = {{1, "metres"}, {0.01, "centimetres"}, {0.001, "millimetres"}, {0.0254, "inches"}, {0.3048, "feet"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        if (fabs(scale / units[i].scale - 1) < 1e-6) {
            return units[i].name;
        }
    }
    snprintf(buffer, size, "units of %g m", scale);
    return buffer;
}

static const char* AxesName(const double* r, char* buffer, size_t size)
{
    if (r[0] > 0 && r[4] > 0) {
        return "Y up";
    }
    if (r[0] > 0 && r[5] > 0) {
        return "Z up";
    }
    char names[3][3];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            if (r[3 * i + k] != 0) {
                names[i][0] = r[3 * i + k] < 0 ? '-' : '+';
                names[i][1] = (char)('x' + k);
                names[i][2] = '\0';
            }
        }
    }
    snprintf(buffer, size, "its %s %s %s as our x y z", names[0], names[1], names[2]);
    return buffer;
}

static void Summarize(const jnaMatching* m, jnaMatch* match)
{
    static const char* const kinds[] = {
        "by their ids", "by position", "in the character's order, which distance proves", "by the nearest vertex"};
    const float* surface = jnaMatching_Surface(m, match->toRest ? 1 : 0);
    char unit[32], axes[48];
    double sum = 0;
    for (size_t i = 0; i < (size_t)m->cache->pointCount; ++i) {
        double distance = Distance(m->placed + 3 * i, surface + 3 * (size_t)match->vertices[i]);
        sum += distance;
        match->worst = fmax(match->worst, distance);
    }
    match->mean = sum / m->cache->pointCount;
    snprintf(match->summary, sizeof(match->summary), "%d points for %d vertices %s, in %s, %s", m->cache->pointCount,
        m->surface->vertexCount, kinds[match->kind], UnitName(match->scale, unit, sizeof(unit)),
        AxesName(match->rotation, axes, sizeof(axes)));
}

static jnResult Decide(jnaMatching* m, jnaMatch* match)
{
    jnResult result = jn_ok;
    if (m->cache->ids != NULL && MatchByTables(m, m->cache->ids, match)) {
        match->kind = jna_matchById;
    } else if (MatchExactly(m, match, &result)) {
        match->kind = jna_matchExact;
    } else if (MatchByTables(m, NULL, match)) {
        match->kind = jna_matchByOrder;
    } else if (MatchNearest(m, match)) {
        match->kind = jna_matchByNearest;
    } else {
        return Refuse(m, match);
    }
    return result;
}

jnResult jnaMatchVertices(
    const char* path, const jnaMatchSurface* surface, const jnaMeshCache* cache, jnaMatch* match, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaMatching m = {.path = path, .surface = surface, .cache = cache, .error = error};
    *match = (jnaMatch){.pointCount = cache->pointCount};
    m.extent = Extent(surface->rest, surface->vertexCount);
    m.placed = jnaArena_Take(&arena, 3 * (int64_t)cache->pointCount, sizeof(float));
    m.means = jnaArena_Take(&arena, 3 * (int64_t)surface->vertexCount, sizeof(float));
    m.counts = jnaArena_Take(&arena, surface->vertexCount, sizeof(*m.counts));
    match->vertices = malloc(((size_t)cache->pointCount + 1) * sizeof(*match->vertices));
    JN_TRY(FindEdges(&m, &arena));
    bool good = match->vertices != NULL && jnaCreatePointTree(surface->rest, surface->vertexCount, &m.trees[1]);
    if (good && surface->posed != NULL) {
        good = jnaCreatePointTree(surface->posed, surface->vertexCount, &m.trees[0]);
    }
    if (!good) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        goto done;
    }
    JN_TRY(jnaFindFrame(&m, match));
    JN_TRY(Decide(&m, match));
    Summarize(&m, match);
done:
    jnaDestroyPointTree(&m.trees[0]);
    jnaDestroyPointTree(&m.trees[1]);
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyMatch(match);
    }
    return result;
}

void jnaDestroyMatch(jnaMatch* match)
{
    free(match->vertices);
    *match = (jnaMatch){0};
}

void jnaMatch_Apply(const jnaMatch* match, const float* frame, int vertexCount, int32_t* counts, float* out)
{
    memset(out, 0, 3 * (size_t)vertexCount * sizeof(float));
    memset(counts, 0, (size_t)vertexCount * sizeof(*counts));
    for (size_t i = 0; i < (size_t)match->pointCount; ++i) {
        size_t v = (size_t)match->vertices[i];
        float placed[3];
        jnaPlacePoints(match, frame + 3 * i, 1, placed);
        counts[v]++;
        for (size_t k = 0; k < 3; ++k) {
            out[3 * v + k] += (placed[k] - out[3 * v + k]) / (float)counts[v];
        }
    }
}
