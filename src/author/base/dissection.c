// Nested dissection: find a small set of vertices that parts the graph, order the parts one after the other, then that
// set, and do the same within each part.
//
// A separator is found on several levels. Vertices are matched along their strongest edges and each pair becomes one
// vertex of a smaller graph, until about a hundred are left. There the best of several grown regions gives the first
// separator. On the way back it is made smaller on every level after Fiduccia and Mattheyses: the vertex of the
// separator that shrinks it most joins a part and draws its neighbours in the other part into the separator, growth is
// allowed for a while, and the best of all states stays. Pieces of at most LEAF vertices are ordered by minimum degree.
//
// Chance is a sequence of our own that starts anew for every graph.
#include "base/dissection.h"

#include "base/arena.h"
#include "base/random.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 96, COARSEST = 110, LEVELS = 40, TRIES = 3, PASSES = 4, PATIENCE = 100 };
// A level that is not smaller than this is not worth having; a part may hold this much of the whole.
#define LEAST_SHRINK 0.93
#define MOST_PART 0.55

enum { APART = 2 }; // in the separator; 0 and 1 are the parts

typedef struct Graph {
    int count;
    int* starts;
    int* to;
    int* strengths; // [starts[count]], edges of the finest graph in each edge
    int* weights;   // [count], vertices of the finest graph in each vertex
    int total;      // of the weights
    int* names;     // [count], rows of the matrix; NULL in coarser graphs
} Graph;

static uint32_t Draw(uint64_t* random)
{
    return (uint32_t)(jnaNextBits(random) >> 32);
}

// --- coarser graphs

static bool TakeGraph(jnaArena* arena, int count, int64_t edges, Graph* g)
{
    g->count = count;
    g->starts = jnaArena_Take(arena, (int64_t)count + 1, sizeof(int));
    g->to = jnaArena_Take(arena, edges, sizeof(int));
    g->strengths = jnaArena_Take(arena, edges, sizeof(int));
    g->weights = jnaArena_Take(arena, count, sizeof(int));
    return !arena->failed;
}

static void Shuffle(int count, int* list, uint64_t* random)
{
    for (int i = 0; i < count; ++i) {
        list[i] = i;
    }
    for (int i = count - 1; i > 0; --i) {
        int k = (int)(Draw(random) % (uint32_t)(i + 1)), held = list[i];
        list[i] = list[k];
        list[k] = held;
    }
}

// Pairs vertices along their strongest edges, the lighter end first. coarse: [count], written: the vertex's number in
// the smaller graph. Returns how many that has. visit: [count], scratch.
static int Match(const Graph* g, int* coarse, int* visit, uint64_t* random)
{
    int count = 0, heaviest = g->total / COARSEST * 3 / 2 + 1;
    Shuffle(g->count, visit, random);
    memset(coarse, -1, (size_t)g->count * sizeof(int));
    for (int i = 0; i < g->count; ++i) {
        int v = visit[i], best = -1, strength = 0;
        if (coarse[v] >= 0) {
            continue;
        }
        for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
            int u = g->to[e];
            bool free = coarse[u] < 0 && u != v && g->weights[u] + g->weights[v] <= heaviest;
            int rate = free ? g->strengths[e] * 8 + (int)(Draw(random) & 7) : 0;
            if (rate > strength) {
                best = u;
                strength = rate;
            }
        }
        coarse[v] = count;
        if (best >= 0) {
            coarse[best] = count;
        }
        count++;
    }
    return count;
}

// The graph of the pairs. members: [2][count of small], scratch: the vertices of each, or -1; seen: [count of small],
// scratch.
static void Contract(const Graph* g, const int* coarse, Graph* small, int* members, int* seen)
{
    int* second = members + small->count;
    memset(members, -1, 2 * (size_t)small->count * sizeof(int));
    memset(seen, -1, (size_t)small->count * sizeof(int));
    for (int v = 0; v < g->count; ++v) {
        int* place = members[coarse[v]] < 0 ? &members[coarse[v]] : &second[coarse[v]];
        *place = v;
    }
    int used = 0;
    for (int c = 0; c < small->count; ++c) {
        int begin = used;
        small->starts[c] = used;
        for (int k = 0; k < 2; ++k) {
            int v = k == 0 ? members[c] : second[c];
            small->weights[c] += v >= 0 ? g->weights[v] : 0;
            for (int e = v >= 0 ? g->starts[v] : 0; v >= 0 && e < g->starts[v + 1]; ++e) {
                int other = coarse[g->to[e]];
                if (other == c) {
                    continue;
                }
                if (seen[other] < begin) {
                    seen[other] = used;
                    small->to[used] = other;
                    small->strengths[used++] = 0;
                }
                small->strengths[seen[other]] += g->strengths[e];
            }
        }
    }
    small->starts[small->count] = used;
    small->total = g->total;
}

// --- separators

typedef struct Entry {
    int gain, vertex;
    int32_t side;
    uint32_t order; // of chance: which of equal gains is tried first
} Entry;

typedef struct Parts {
    const Graph* graph;
    int8_t* where; // [count]
    int weight[3]; // of both parts and the separator
    bool cutting;  // edges are cut, before there is a separator
    int cut;       // strength of those between the parts
    int* moved;    // [count], stamp of the pass that moved it
    int stamp;
    Entry* heap;
    int heapCount, heapCapacity;
    int (*undo)[2]; // what was where before, in this pass
    int undoCount, undoCapacity;
    uint64_t random;
    bool failed; // out of memory
} Parts;

static bool Before(const Entry* a, const Entry* b)
{
    return a->gain > b->gain || (a->gain == b->gain && a->order < b->order);
}

static void Push(Parts* p, Entry entry)
{
    if (!jnaReserve(&p->heap, &p->heapCapacity, p->heapCount + 1, sizeof(*p->heap))) {
        p->failed = true;
        return;
    }
    int at = p->heapCount++;
    for (; at > 0 && Before(&entry, &p->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        p->heap[at] = p->heap[(at - 1) / 2];
    }
    p->heap[at] = entry;
}

static Entry Pop(Parts* p)
{
    Entry top = p->heap[0], last = p->heap[--p->heapCount];
    int at = 0;
    for (int child = 1; child < p->heapCount; child = 2 * at + 1) {
        child += child + 1 < p->heapCount && Before(&p->heap[child + 1], &p->heap[child]);
        if (!Before(&p->heap[child], &last)) {
            break;
        }
        p->heap[at] = p->heap[child];
        at = child;
    }
    p->heap[at] = last;
    return top;
}

// What the separator, or the cut, loses when a vertex joins a part.
static int Gain(const Parts* p, int v, int side)
{
    const Graph* g = p->graph;
    int gain = p->cutting ? 0 : g->weights[v];
    for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
        int u = g->to[e];
        if (p->cutting) {
            gain += p->where[u] == side ? g->strengths[e] : -g->strengths[e];
        } else {
            gain -= p->where[u] == 1 - side ? g->weights[u] : 0;
        }
    }
    return gain;
}

static bool MayJoin(const Parts* p, int v, int side)
{
    return p->moved[v] != p->stamp && p->where[v] == (p->cutting ? 1 - side : APART);
}

static void PushGains(Parts* p, int v)
{
    for (int side = 0; side < 2; ++side) {
        if (MayJoin(p, v, side)) {
            Push(p, (Entry){Gain(p, v, side), v, side, Draw(&p->random)});
        }
    }
}

static void Put(Parts* p, int v, int to)
{
    p->weight[p->where[v]] -= p->graph->weights[v];
    p->weight[to] += p->graph->weights[v];
    p->where[v] = (int8_t)to;
}

static void Remember(Parts* p, int v)
{
    if (!jnaReserve(&p->undo, &p->undoCapacity, p->undoCount + 1, sizeof(*p->undo))) {
        p->failed = true;
        return;
    }
    p->undo[p->undoCount][0] = v;
    p->undo[p->undoCount++][1] = p->where[v];
}

// A vertex joins a part; of a separator, its neighbours in the other part take its place.
static void Move(Parts* p, int v, int side)
{
    const Graph* g = p->graph;
    p->cut -= p->cutting ? Gain(p, v, side) : 0;
    Remember(p, v);
    Put(p, v, side);
    p->moved[v] = p->stamp;
    for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
        int u = g->to[e];
        if (p->where[u] != 1 - side) {
            continue;
        }
        if (p->cutting) {
            PushGains(p, u);
            continue;
        }
        Remember(p, u);
        Put(p, u, APART);
        PushGains(p, u);
        for (int f = g->starts[u]; f < g->starts[u + 1]; ++f) { // these have fewer to draw in
            int w = g->to[f];
            if (w != u && MayJoin(p, w, side)) {
                Push(p, (Entry){Gain(p, w, side), w, side, Draw(&p->random)});
            }
        }
    }
}

static bool Allowed(const Parts* p, int v, int side)
{
    int after = p->weight[side] + p->graph->weights[v];
    return after <= (int)(MOST_PART * p->graph->total) || after <= p->weight[1 - side];
}

// How bad a state is: the separator or the cut, and parts that are too large.
static int64_t Badness(const Parts* p)
{
    int larger = p->weight[0] > p->weight[1] ? p->weight[0] : p->weight[1];
    int over = larger - (int)(MOST_PART * p->graph->total);
    int apart = p->weight[0] > p->weight[1] ? p->weight[0] - p->weight[1] : p->weight[1] - p->weight[0];
    int64_t size = p->cutting ? p->cut : p->weight[APART];
    return (size + (over > 0 ? over : 0)) * 1024 + (int64_t)apart * 512 / (p->graph->total + 1);
}

static bool IsBetween(const Parts* p, int v)
{
    bool between = p->where[v] == APART;
    for (int e = p->graph->starts[v]; p->cutting && !between && e < p->graph->starts[v + 1]; ++e) {
        between = p->where[p->graph->to[e]] != p->where[v];
    }
    return between;
}

// True if the state is a better one afterwards.
static bool RefineOnce(Parts* p)
{
    int64_t start = Badness(p), best = start;
    int bestUndo = 0, bestCut = p->cut, since = 0;
    p->stamp++;
    p->heapCount = p->undoCount = 0;
    for (int v = 0; v < p->graph->count; ++v) {
        if (IsBetween(p, v)) {
            PushGains(p, v);
        }
    }
    while (p->heapCount > 0 && since < PATIENCE && !p->failed) {
        Entry entry = Pop(p);
        int v = entry.vertex;
        if (!MayJoin(p, v, entry.side)) {
            continue;
        }
        int gain = Gain(p, v, entry.side);
        if (gain != entry.gain) { // of an earlier state; a better one has an entry of its own
            if (gain < entry.gain) {
                entry.gain = gain;
                Push(p, entry);
            }
            continue;
        }
        if (!Allowed(p, v, entry.side)) {
            continue;
        }
        Move(p, v, entry.side);
        since++;
        int64_t now = Badness(p);
        if (now < best) {
            best = now;
            bestUndo = p->undoCount;
            bestCut = p->cut;
            since = 0;
        }
    }
    while (p->undoCount > bestUndo) {
        p->undoCount--;
        Put(p, p->undo[p->undoCount][0], p->undo[p->undoCount][1]);
    }
    p->cut = bestCut;
    return best < start;
}

static void Refine(Parts* p)
{
    for (int pass = 0; pass < PASSES && !p->failed && RefineOnce(p); ++pass) {}
}

static void Weigh(Parts* p)
{
    const Graph* g = p->graph;
    memset(p->weight, 0, sizeof(p->weight));
    p->cut = 0;
    for (int v = 0; v < g->count; ++v) {
        p->weight[p->where[v]] += g->weights[v];
        for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
            p->cut += p->where[v] < p->where[g->to[e]] ? g->strengths[e] : 0;
        }
    }
}

// The cut's ends on the side that has fewer become the separator.
static void TakeEnds(Parts* p)
{
    int ends[2] = {0};
    for (int v = 0; v < p->graph->count; ++v) {
        ends[p->where[v]] += IsBetween(p, v);
    }
    int8_t side = ends[1] < ends[0];
    for (int v = 0; v < p->graph->count; ++v) {
        bool end = false;
        for (int e = p->graph->starts[v]; p->where[v] == side && e < p->graph->starts[v + 1]; ++e) {
            end = end || p->where[p->graph->to[e]] == 1 - side;
        }
        p->where[v] = end ? APART : p->where[v];
    }
    p->cutting = false;
    Weigh(p);
}

// A region grown from a vertex until it is half of the whole. queue: [count], scratch.
static void Grow(Parts* p, int from, int* queue)
{
    const Graph* g = p->graph;
    int read = 0, written = 0, weight = 0, next = 0;
    memset(p->where, 1, (size_t)g->count);
    queue[written++] = from;
    p->where[from] = 0;
    while (2 * weight < g->total) {
        if (read == written) { // the graph has several pieces
            while (next < g->count && p->where[next] == 0) {
                next++;
            }
            if (next == g->count) {
                break;
            }
            p->where[next] = 0;
            queue[written++] = next;
        }
        int v = queue[read++];
        weight += g->weights[v];
        for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
            if (p->where[g->to[e]] == 1) {
                p->where[g->to[e]] = 0;
                queue[written++] = g->to[e];
            }
        }
    }
    for (int i = read; i < written; ++i) { // reached and not taken
        p->where[queue[i]] = 1;
    }
    Weigh(p);
}

// The best of several on the smallest graph. best, queue: [count], scratch.
static void Begin(Parts* p, int8_t* best, int* queue)
{
    int64_t least = INT64_MAX;
    size_t count = (size_t)p->graph->count;
    for (int i = 0; i < TRIES && !p->failed; ++i) {
        Grow(p, (int)(Draw(&p->random) % (uint32_t)p->graph->count), queue);
        Refine(p);
        if (Badness(p) < least) {
            least = Badness(p);
            memcpy(best, p->where, count);
        }
    }
    memcpy(p->where, best, count);
    Weigh(p);
}

// where: [count], written: 0, 1, or APART.
static bool Separate(const Graph* finest, int8_t* where)
{
    jnaArena arena = {0};
    Graph levels[LEVELS] = {*finest};
    int* coarse[LEVELS] = {NULL};
    int levelCount = 1;
    Parts parts = {.random = 1, .cutting = true};
    int64_t n = finest->count;
    int* scratch = jnaArena_Take(&arena, 3 * n + 1, sizeof(int));
    int8_t* held = jnaArena_Take(&arena, n, 1);
    parts.where = jnaArena_Take(&arena, n, 1);
    parts.moved = jnaArena_Take(&arena, n, sizeof(int));
    while (!arena.failed && levelCount < LEVELS && levels[levelCount - 1].count > COARSEST) {
        Graph *large = &levels[levelCount - 1], *small = &levels[levelCount];
        coarse[levelCount] = jnaArena_Take(&arena, large->count, sizeof(int));
        if (arena.failed) {
            break;
        }
        int count = Match(large, coarse[levelCount], scratch, &parts.random);
        if (count > (int)(LEAST_SHRINK * large->count) ||
            !TakeGraph(&arena, count, large->starts[large->count], small)) {
            break;
        }
        Contract(large, coarse[levelCount], small, scratch, scratch + 2 * (size_t)count);
        levelCount++;
    }
    parts.failed = arena.failed;
    parts.graph = &levels[levelCount - 1];
    if (!parts.failed) {
        Begin(&parts, held, scratch);
    }
    for (int level = levelCount - 2; level >= 0 && !parts.failed; --level) {
        parts.graph = &levels[level];
        memcpy(held, parts.where, (size_t)levels[level + 1].count);
        for (int v = 0; v < parts.graph->count; ++v) {
            parts.where[v] = held[coarse[level + 1][v]];
        }
        Weigh(&parts);
        Refine(&parts);
    }
    if (!parts.failed) {
        TakeEnds(&parts);
        Refine(&parts);
    }
    if (!parts.failed) {
        memcpy(where, parts.where, (size_t)n);
    }
    free(parts.heap);
    free(parts.undo);
    jnaReleaseArena(&arena);
    return !parts.failed;
}

// --- leaves

typedef struct Bits {
    uint64_t words[(LEAF + 63) / 64];
} Bits;

static int CountBits(const Bits* b)
{
    int count = 0;
    for (size_t w = 0; w < sizeof(b->words) / sizeof(b->words[0]); ++w) {
        count += __builtin_popcountll(b->words[w]);
    }
    return count;
}

// Always the vertex with the fewest neighbours; those become neighbours of each other. places: [count], written.
static void OrderLeaf(const Graph* g, int* places)
{
    Bits rows[LEAF] = {0};
    uint8_t gone[LEAF] = {0};
    for (int v = 0; v < g->count; ++v) {
        for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
            rows[v].words[g->to[e] / 64] |= (uint64_t)(g->to[e] != v) << (g->to[e] % 64);
        }
    }
    for (int i = 0; i < g->count; ++i) {
        int best = -1, least = INT_MAX;
        for (int v = 0; v < g->count; ++v) {
            int degree = gone[v] ? INT_MAX : CountBits(&rows[v]);
            if (degree < least) {
                best = v;
                least = degree;
            }
        }
        places[i] = best;
        gone[best] = 1;
        for (int v = 0; v < g->count; ++v) {
            if ((rows[best].words[v / 64] >> (v % 64) & 1) == 0) {
                continue;
            }
            for (size_t w = 0; w < sizeof(rows[v].words) / sizeof(rows[v].words[0]); ++w) {
                rows[v].words[w] |= rows[best].words[w];
            }
            rows[v].words[v / 64] &= ~((uint64_t)1 << (v % 64));
            rows[v].words[best / 64] &= ~((uint64_t)1 << (best % 64));
        }
    }
}

// --- dissection

// The graph of one part. index: [count], scratch.
static bool TakePart(jnaArena* arena, const Graph* g, const int8_t* where, int side, int* index, Graph* part)
{
    int count = 0;
    int64_t edges = 0;
    for (int v = 0; v < g->count; ++v) {
        index[v] = where[v] == side ? count++ : -1;
        edges += where[v] == side ? g->starts[v + 1] - g->starts[v] : 0;
    }
    part->names = jnaArena_Take(arena, count, sizeof(int));
    if (!TakeGraph(arena, count, edges, part)) {
        return false;
    }
    int used = 0;
    for (int v = 0; v < g->count; ++v) {
        if (index[v] < 0) {
            continue;
        }
        part->starts[index[v]] = used;
        part->weights[index[v]] = 1;
        part->names[index[v]] = g->names[v];
        for (int e = g->starts[v]; e < g->starts[v + 1]; ++e) {
            if (index[g->to[e]] >= 0) {
                part->strengths[used] = 1;
                part->to[used++] = index[g->to[e]];
            }
        }
    }
    part->starts[count] = used;
    part->total = count;
    return true;
}

static bool Dissect(const Graph* g, int32_t* order)
{
    if (g->count <= LEAF) {
        int places[LEAF];
        OrderLeaf(g, places);
        for (int i = 0; i < g->count; ++i) {
            order[i] = g->names[places[i]];
        }
        return true;
    }
    jnaArena arena = {0};
    int8_t* where = jnaArena_Take(&arena, g->count, 1);
    int* index = jnaArena_Take(&arena, g->count, sizeof(int));
    bool good = !arena.failed && Separate(g, where);
    int counts[3] = {0}, largest = 0;
    for (int v = 0; good && v < g->count; ++v) {
        counts[where[v]]++;
    }
    largest = counts[0] > counts[1] ? counts[0] : counts[1];
    if (good && largest > g->count - g->count / 16) { // nothing parts it: as it is
        memcpy(order, g->names, (size_t)g->count * sizeof(int));
    } else if (good) {
        int32_t* to = order;
        for (int side = 0; side < 2 && good; ++side) {
            jnaArena own = {0};
            Graph part = {0};
            good = TakePart(&own, g, where, side, index, &part) && Dissect(&part, to);
            to += counts[side];
            jnaReleaseArena(&own);
        }
        for (int v = 0; good && v < g->count; ++v) {
            if (where[v] == APART) {
                *to++ = g->names[v];
            }
        }
    }
    jnaReleaseArena(&arena);
    return good;
}

bool jnaDissect(int count, const int* starts, const int* neighbours, int32_t* order)
{
    jnaArena arena = {0};
    Graph g = {0};
    g.names = jnaArena_Take(&arena, count, sizeof(int));
    bool good = TakeGraph(&arena, count, starts[count], &g);
    int used = 0;
    for (int v = 0; good && v < count; ++v) {
        g.names[v] = v;
        g.weights[v] = 1;
        g.starts[v] = used;
        for (int e = starts[v]; e < starts[v + 1]; ++e) {
            if (neighbours[e] != v) {
                g.strengths[used] = 1;
                g.to[used++] = neighbours[e];
            }
        }
    }
    if (good) {
        g.starts[count] = used;
        g.total = count;
        good = Dissect(&g, order);
    }
    jnaReleaseArena(&arena);
    return good;
}
