// Points that lie on several vertices at once: lips that touch, a shirt on the skin, two copies of a mesh.
//
// Where they lie does not tell them apart, how they move does: a point keeps its distance to the neighbours of its own
// vertex. For every pair of point and vertex the change of those distances over some frames is summed; each vertex
// takes the point that suits it best, and points that are left over (copies at a seam) join the vertex that suits them
// best. Where nothing moves, the order of the points decides.
#include "character/match_internal.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 8, MAX_GROUP = 64 };

typedef struct Group {
    int vertexCount, pointCount;
    int32_t vertices[MAX_GROUP], points[MAX_GROUP];
    double cost[MAX_GROUP][MAX_GROUP]; // [vertex][point]
} Group;

static const float* Position(const jnaMatching* m, int frame, int32_t point)
{
    return m->cache->positions + 3 * ((size_t)frame * (size_t)m->cache->pointCount + (size_t)point);
}

static double Distance(const float* a, const float* b)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    }
    return sqrt(sum);
}

// How much a point's distances to the neighbours of a vertex change. pointOf: a point of each vertex, -1 where it is
// not known yet.
static double Cost(const jnaMatching* m, const int32_t* pointOf, int32_t vertex, int32_t point)
{
    int frames = m->cache->frameCount < MAX_FRAMES ? m->cache->frameCount : MAX_FRAMES;
    double sum = 0;
    for (uint32_t e = m->edgeStarts[vertex]; e < m->edgeStarts[vertex + 1]; ++e) {
        int32_t other = pointOf[m->neighbours[e]];
        if (other < 0) {
            continue;
        }
        double first = Distance(Position(m, 0, point), Position(m, 0, other));
        for (int n = 1; n < frames; ++n) {
            int frame = (int)((int64_t)n * (m->cache->frameCount - 1) / (frames - 1));
            sum += fabs(Distance(Position(m, frame, point), Position(m, frame, other)) - first);
        }
    }
    return sum;
}

// Each vertex takes the point that suits it best, then the points that are left the vertices that suit them.
static void Assign(Group* g, int32_t* vertices)
{
    bool taken[MAX_GROUP] = {false};
    for (int v = 0; v < g->vertexCount; ++v) {
        int best = -1;
        for (int p = 0; p < g->pointCount; ++p) {
            if (!taken[p] && (best < 0 || g->cost[v][p] < g->cost[v][best])) {
                best = p;
            }
        }
        if (best >= 0) {
            taken[best] = true;
            vertices[g->points[best]] = g->vertices[v];
        }
    }
    for (int p = 0; p < g->pointCount; ++p) {
        int best = 0;
        for (int v = 1; v < g->vertexCount && !taken[p]; ++v) {
            best = g->cost[v][p] < g->cost[best][p] ? v : best;
        }
        if (!taken[p]) {
            vertices[g->points[p]] = g->vertices[best];
        }
    }
}

// The work: which vertices lie on others, and a point of each vertex that is known.
typedef struct Work {
    jnaMatching* m;
    jnaMatch* match;
    double tolerance;
    const float* surface;
    const jnaPointTree* vertices;
    jnaPointTree points;
    int32_t* pointOf; // [vertexCount], -1 where it is not known yet
    uint8_t* shared;  // [vertexCount], 1: lies on others; 2: and its group is done
    Group* group;
} Work;

static int FindGroup(const Work* w, int vertex, int32_t* found, int capacity)
{
    const float* p = w->surface + 3 * (size_t)vertex;
    const double place[3] = {(double)p[0], (double)p[1], (double)p[2]};
    return jnaPointTree_Within(w->vertices, place, w->tolerance, found, capacity);
}

static jnResult MatchGroup(Work* w)
{
    Group* g = w->group;
    const float* p = w->surface + 3 * (size_t)g->vertices[0];
    const double place[3] = {(double)p[0], (double)p[1], (double)p[2]};
    g->pointCount = jnaPointTree_Within(&w->points, place, w->tolerance, g->points, MAX_GROUP);
    if (g->vertexCount > MAX_GROUP || g->pointCount > MAX_GROUP) {
        return jnFail(w->m->error, jn_badData, "%s: more than %d points lie at (%.4g, %.4g, %.4g)", w->m->path,
            MAX_GROUP, place[0], place[1], place[2]);
    }
    for (int v = 0; v < g->vertexCount; ++v) {
        for (int i = 0; i < g->pointCount; ++i) {
            g->cost[v][i] = Cost(w->m, w->pointOf, g->vertices[v], g->points[i]);
        }
    }
    Assign(g, w->match->vertices);
    for (int i = 0; i < g->pointCount; ++i) {
        w->pointOf[w->match->vertices[g->points[i]]] = g->points[i];
    }
    for (int v = 0; v < g->vertexCount; ++v) {
        w->shared[g->vertices[v]] = 2;
    }
    w->match->coincident += g->pointCount;
    return jn_ok;
}

static bool HasKnownNeighbour(const Work* w, int32_t vertex)
{
    for (uint32_t e = w->m->edgeStarts[vertex]; e < w->m->edgeStarts[vertex + 1]; ++e) {
        if (w->pointOf[w->m->neighbours[e]] >= 0) {
            return true;
        }
    }
    return false;
}

// One pass over the groups that are left: those with a neighbour that is known, or else (`any`) the first. Returns how
// many were matched, or -1 on failure.
static int MatchPass(Work* w, bool any, jnResult* result)
{
    int matched = 0;
    for (int v = 0; v < w->m->surface->vertexCount; ++v) {
        if (w->shared[v] != 1 || (any && matched > 0)) {
            continue;
        }
        w->group->vertexCount = FindGroup(w, v, w->group->vertices, MAX_GROUP);
        bool known = any;
        for (int i = 0; i < w->group->vertexCount && i < MAX_GROUP; ++i) {
            known = known || HasKnownNeighbour(w, w->group->vertices[i]);
        }
        if (!known) {
            continue;
        }
        *result = MatchGroup(w);
        if (*result != jn_ok) {
            return -1;
        }
        matched++;
    }
    return matched;
}

static jnResult MatchAll(Work* w)
{
    jnResult result = jn_ok;
    for (bool any = false;; any = !any) {
        int matched = 0;
        do {
            matched = MatchPass(w, any, &result);
        } while (matched > 0 && !any);
        if (matched < 0 || (any && matched == 0)) {
            return result;
        }
    }
}

jnResult jnaMatchCoincident(jnaMatching* m, jnaMatch* match, double tolerance)
{
    jnResult result = jn_ok;
    int which = match->toRest ? 1 : 0, vertexCount = m->surface->vertexCount;
    jnaArena arena = {0};
    Work w = {.m = m, .match = match, .tolerance = tolerance, .vertices = &m->trees[which]};
    w.surface = jnaMatching_Surface(m, which);
    w.pointOf = jnaArena_Take(&arena, vertexCount, sizeof(*w.pointOf));
    w.shared = jnaArena_Take(&arena, vertexCount, sizeof(*w.shared));
    w.group = jnaArena_Take(&arena, 1, sizeof(*w.group));
    JN_TRY(jnaArena_Check(&arena, "the matching of points", m->error));
    if (!jnaCreatePointTree(m->placed, m->cache->pointCount, &w.points)) {
        result = jnFail(m->error, jn_outOfMemory, "%s: out of memory", m->path);
        goto done;
    }
    for (int v = 0; v < vertexCount; ++v) {
        int32_t found[1];
        w.shared[v] = FindGroup(&w, v, found, 1) > 1;
        w.pointOf[v] = -1;
    }
    for (int i = 0; i < m->cache->pointCount; ++i) {
        w.pointOf[match->vertices[i]] = w.shared[match->vertices[i]] ? -1 : i;
    }
    result = MatchAll(&w);
done:
    jnaDestroyPointTree(&w.points);
    jnaReleaseArena(&arena);
    return result;
}
