// Coarse detail of an asset: which vertices keep their springs, the drivers, and how the others follow them.
//
// Distances run along the edges of the surface, so that an arm never follows the trunk it hangs beside, and grow where
// the frequency changes. Drivers are farthest points: each new one is the vertex farthest from all before. A follower
// takes its four nearest drivers with weights (1/d - 1/r)^2, r just beyond the farthest of them (Shepard's, which fades
// to 0 where a driver drops out), each times the ratio of the stiffnesses: under slow accelerations a spring's offset
// goes with 1/stiffness.
#include "asset/asset_sections.h"

#include "base/arena.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

// A change of frequency by a factor of e counts as this share of the character's size.
#define FREQUENCY_REACH 0.05
// Ratios of stiffness beyond this are no neighbours that move alike.
#define LARGEST_RATIO 4.0
#define NOWHERE HUGE_VAL

// The surface as a graph of welded vertices.
typedef struct Graph {
    int vertexCount;
    int32_t* starts;     // [vertexCount + 1]
    int32_t* neighbours; // both directions of every triangle's edges
    float* lengths;      // as neighbours
} Graph;

// A place to go on from, in a binary heap, the nearest first.
typedef struct Visit {
    double distance;
    int32_t vertex, driver;
} Visit;

typedef struct Heap {
    Visit* visits;
    int count, capacity;
    bool failed;
} Heap;

static void Push(Heap* heap, double distance, int vertex, int driver)
{
    if (!jnaReserve(&heap->visits, &heap->capacity, heap->count + 1, sizeof(*heap->visits))) {
        heap->failed = true;
        return;
    }
    int i = heap->count++;
    for (; i > 0 && heap->visits[(i - 1) / 2].distance > distance; i = (i - 1) / 2) {
        heap->visits[i] = heap->visits[(i - 1) / 2];
    }
    heap->visits[i] = (Visit){distance, vertex, driver};
}

static Visit Pop(Heap* heap)
{
    Visit first = heap->visits[0], last = heap->visits[--heap->count];
    int i = 0;
    for (int child = 1; child < heap->count; child = 2 * i + 1) {
        child += child + 1 < heap->count && heap->visits[child + 1].distance < heap->visits[child].distance;
        if (heap->visits[child].distance >= last.distance) {
            break;
        }
        heap->visits[i] = heap->visits[child];
        i = child;
    }
    heap->visits[i] = last;
    return first;
}

static double SizeOf(const jnaCharacter* c)
{
    double low[3], high[3], square = 0.0;
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        double value = (double)c->positions[i];
        low[i % 3] = i < 3 ? value : fmin(low[i % 3], value);
        high[i % 3] = i < 3 ? value : fmax(high[i % 3], value);
    }
    for (int k = 0; k < 3; ++k) {
        square += (high[k] - low[k]) * (high[k] - low[k]);
    }
    return sqrt(square);
}

static bool MakeGraph(const jnaAssetDef* def, Graph* g, jnaArena* arena)
{
    const jnaCharacter* c = def->character;
    size_t count = (size_t)c->vertexCount, halves = 6 * (size_t)c->triangleCount;
    double reach = 0.5 * FREQUENCY_REACH * SizeOf(c); // of the stiffness, the square of the frequency
    *g = (Graph){c->vertexCount, jnaArena_Take(arena, c->vertexCount + 2, sizeof(int32_t)),
        jnaArena_Take(arena, (int64_t)halves, sizeof(int32_t)), jnaArena_Take(arena, (int64_t)halves, sizeof(float))};
    if (arena->failed) {
        return false;
    }
    // Counts two places on, then starts one place on, which filling moves to where they belong.
    for (int i = 0; i < 3 * c->triangleCount; ++i) {
        g->starts[c->weld[c->triangles[i]] + 2] += 2;
    }
    for (size_t v = 0; v <= count; ++v) {
        g->starts[v + 1] += g->starts[v];
    }
    for (int i = 0; i < 3 * c->triangleCount; ++i) {
        int a = c->weld[c->triangles[i]];
        for (int k = 1; k < 3; ++k) {
            int b = c->weld[c->triangles[i / 3 * 3 + (i + k) % 3]];
            const float *p = c->positions + 3 * (size_t)a, *q = c->positions + 3 * (size_t)b;
            double x = (double)(p[0] - q[0]), y = (double)(p[1] - q[1]), z = (double)(p[2] - q[2]);
            double pitch = log(fmax((double)def->stiffness[a], 1e-6) / fmax((double)def->stiffness[b], 1e-6));
            int at = g->starts[a + 1]++;
            g->neighbours[at] = b;
            g->lengths[at] = (float)(sqrt(x * x + y * y + z * z) + reach * fabs(pitch));
        }
    }
    return true;
}

// Lowers the distances to the nearest driver by those to a new one.
static void Spread(const Graph* g, int from, double* distances, Heap* heap)
{
    distances[from] = 0.0;
    Push(heap, 0.0, from, 0);
    while (heap->count > 0) {
        Visit visit = Pop(heap);
        if (visit.distance > distances[visit.vertex]) {
            continue;
        }
        for (int i = g->starts[visit.vertex]; i < g->starts[visit.vertex + 1]; ++i) {
            int next = g->neighbours[i];
            double distance = visit.distance + (double)g->lengths[i];
            if (distance < distances[next]) {
                distances[next] = distance;
                Push(heap, distance, next, 0);
            }
        }
    }
}

// Numbers the drivers from 0 in `drivers`, in the order of the vertices, so that neighbours stay together in memory; -1
// for all others.
static void ChooseDrivers(
    const Graph* g, const uint8_t* rigid, int count, int32_t* drivers, double* distances, Heap* heap)
{
    for (int v = 0; v < g->vertexCount; ++v) {
        drivers[v] = -1;
        distances[v] = NOWHERE;
    }
    for (int i = 0; i < count; ++i) {
        int farthest = -1;
        for (int v = 0; v < g->vertexCount; ++v) {
            bool free = !rigid[v] && drivers[v] < 0;
            farthest = free && (farthest < 0 || distances[v] > distances[farthest]) ? v : farthest;
        }
        drivers[farthest] = 0;
        Spread(g, farthest, distances, heap);
    }
    for (int v = 0, next = 0; v < g->vertexCount; ++v) {
        drivers[v] = drivers[v] >= 0 ? next++ : -1;
    }
}

// The nearest drivers of every vertex, nearest first: all set out at once, and a vertex is passed on by the first four
// that reach it.
typedef struct Nearest {
    int count;
    int32_t drivers[JN_MAX_DRIVERS];
    double distances[JN_MAX_DRIVERS];
} Nearest;

static bool Meets(const Nearest* nearest, int driver)
{
    for (int k = 0; k < nearest->count; ++k) {
        if (nearest->drivers[k] == driver) {
            return false;
        }
    }
    return nearest->count < JN_MAX_DRIVERS;
}

static void FindNearest(const Graph* g, const int32_t* drivers, Nearest* nearest, Heap* heap)
{
    for (int v = 0; v < g->vertexCount; ++v) {
        if (drivers[v] >= 0) {
            Push(heap, 0.0, v, drivers[v]);
        }
    }
    while (heap->count > 0) {
        Visit visit = Pop(heap);
        Nearest* at = &nearest[visit.vertex];
        if (!Meets(at, visit.driver)) {
            continue;
        }
        at->drivers[at->count] = visit.driver;
        at->distances[at->count++] = visit.distance;
        for (int i = g->starts[visit.vertex]; i < g->starts[visit.vertex + 1]; ++i) {
            if (Meets(&nearest[g->neighbours[i]], visit.driver)) {
                Push(heap, visit.distance + (double)g->lengths[i], g->neighbours[i], visit.driver);
            }
        }
    }
}

// A vertex in a piece of the surface without any driver follows none: it stays on its target.
static void Weigh(const Nearest* nearest, const float* driverStiffness, float stiffness, jnAssetFollower* follower)
{
    double weights[JN_MAX_DRIVERS] = {0.0}, sum = 0.0;
    double reach = nearest->count > 0 ? 1.05 * nearest->distances[nearest->count - 1] + 1e-9 : 1.0;
    for (int k = 0; k < nearest->count; ++k) {
        double near = 1.0 / fmax(nearest->distances[k], 1e-9) - 1.0 / reach;
        weights[k] = near * near;
        sum += weights[k];
    }
    for (int k = 0; k < nearest->count; ++k) {
        double ratio = (double)driverStiffness[nearest->drivers[k]] / fmax((double)stiffness, 1e-6);
        ratio = fmin(fmax(ratio, 1.0 / LARGEST_RATIO), LARGEST_RATIO);
        follower->drivers[k] = nearest->drivers[k];
        follower->weights[k] = (float)(ratio * weights[k] / sum);
    }
}

int32_t* jnaChooseDrivers(const jnaAssetDef* def, const uint8_t* rigid, int count, jnaSections* s)
{
    int64_t vertices = def->character->vertexCount;
    Graph graph;
    Heap heap = {0};
    int32_t* drivers = jnaArena_Take(&s->arena, vertices, sizeof(*drivers));
    double* distances = jnaArena_Take(&s->arena, vertices, sizeof(*distances));
    if (MakeGraph(def, &graph, &s->arena)) {
        ChooseDrivers(&graph, rigid, count, drivers, distances, &heap);
        s->arena.failed = heap.failed;
    }
    free(heap.visits);
    return s->arena.failed ? NULL : drivers;
}

void jnaAddFollowers(const jnaAssetDef* def, const uint8_t* rigid, const int32_t* drivers, jnaSections* s)
{
    size_t vertices = (size_t)def->character->vertexCount;
    Graph graph;
    Heap heap = {0};
    Nearest* nearest = jnaArena_Take(&s->arena, (int64_t)vertices, sizeof(*nearest));
    float* stiffness = jnaArena_Take(&s->arena, s->driverCount, sizeof(float)); // [driverCount]
    size_t count = (size_t)(jnBlockCount(s->springCount) * JN_LANES - s->driverCount);
    jnAssetFollower* followers = jnaAddSection(s, JN_SECTION_FOLLOWERS, false, count * sizeof(*followers));
    if (!MakeGraph(def, &graph, &s->arena)) {
        return;
    }
    FindNearest(&graph, drivers, nearest, &heap);
    free(heap.visits);
    s->arena.failed = heap.failed;
    for (size_t v = 0; v < vertices; ++v) {
        if (drivers[v] >= 0) {
            stiffness[drivers[v]] = def->stiffness[v];
        }
    }
    for (size_t v = 0; v < vertices; ++v) {
        int at = s->place[v] - s->driverCount;
        if (at >= 0 && s->place[v] < s->springCount && !rigid[v]) {
            Weigh(&nearest[v], stiffness, def->stiffness[v], &followers[at]);
        }
    }
}
