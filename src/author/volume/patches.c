// A greedy partition. A patch grows from the tetrahedron that has the fewest neighbours left, since that one is the
// next to be stranded, and takes up neighbours by the same rule. Tetrahedra that all their neighbours have left behind
// remain as smaller patches, a few in a hundred.
#include "volume/patches.h"

#include "volume/mesh_internal.h"

#include <stdlib.h>
#include <string.h>

enum { SIDES = 4 };

// Tetrahedra that are not in a patch yet, by how many such neighbours they have. Counts only fall, so a tetrahedron is
// entered at most once in each list; entries that no longer hold are skipped.
typedef struct Pool {
    const jnaPatchesDef* def;
    int32_t* neighbours;       // [tetrahedronCount][SIDES], or -1
    uint8_t* open;             // [tetrahedronCount], neighbours left
    uint8_t* taken;            // [tetrahedronCount]
    int32_t* lists[SIDES + 1]; // [tetrahedronCount] each, used as stacks
    int sizes[SIDES + 1];
} Pool;

static bool FindNeighbours(const jnaPatchesDef* def, int32_t* neighbours, jnaArena* arena)
{
    // jnaListFacets only reads.
    jnaMesh mesh = {.nodeCount = def->nodeCount,
        .tetrahedronCount = def->tetrahedronCount,
        .tetrahedra = (int32_t*)(uintptr_t)def->tetrahedra};
    jnaFacet* facets = jnaListFacets(&mesh, arena);
    if (facets == NULL) {
        return false;
    }
    memset(neighbours, 0xff, SIDES * (size_t)def->tetrahedronCount * sizeof(int32_t));
    for (int f = 0; f + 1 < SIDES * def->tetrahedronCount; ++f) {
        const jnaFacet *a = &facets[f], *b = &facets[f + 1];
        if (memcmp(a->corners, b->corners, sizeof(a->corners)) == 0) {
            neighbours[SIDES * (size_t)a->tetrahedron + (size_t)a->opposite] = b->tetrahedron;
            neighbours[SIDES * (size_t)b->tetrahedron + (size_t)b->opposite] = a->tetrahedron;
            ++f;
        }
    }
    return true;
}

static void Enter(Pool* pool, int32_t t)
{
    int open = pool->open[t];
    pool->lists[open][pool->sizes[open]++] = t;
}

static void Take(Pool* pool, int32_t t)
{
    pool->taken[t] = 1;
    for (int s = 0; s < SIDES; ++s) {
        int32_t other = pool->neighbours[SIDES * (size_t)t + (size_t)s];
        if (other >= 0 && pool->taken[other] == 0) {
            pool->open[other]--;
            Enter(pool, other);
        }
    }
}

static void FillPool(Pool* pool)
{
    for (int32_t t = pool->def->tetrahedronCount; t-- > 0;) {
        for (int s = 0; s < SIDES; ++s) {
            if (pool->neighbours[SIDES * (size_t)t + (size_t)s] >= 0) {
                pool->open[t]++;
            }
        }
        Enter(pool, t);
    }
}

// The tetrahedron with the fewest neighbours left; -1 when all are taken.
static int32_t NextSeed(Pool* pool)
{
    for (int open = 0; open <= SIDES; ++open) {
        while (pool->sizes[open] > 0) {
            int32_t t = pool->lists[open][--pool->sizes[open]];
            if (pool->taken[t] == 0 && pool->open[t] == open) {
                return t;
            }
        }
    }
    return -1;
}

// Adds a tetrahedron and the nodes that are new with it.
static void Join(const jnaPatchesDef* def, int32_t t, jnaPatch* patch)
{
    for (int c = 0; c < 4; ++c) {
        int32_t node = def->tetrahedra[4 * (size_t)t + (size_t)c];
        int place = 0;
        while (place < patch->nodeCount && patch->nodes[place] != node) {
            ++place;
        }
        patch->nodes[place] = node;
        patch->nodeCount += place == patch->nodeCount;
        patch->corners[patch->count][c] = (uint8_t)place;
    }
    patch->tetrahedra[patch->count++] = t;
}

static int SharedNodes(const jnaPatchesDef* def, int32_t t, const jnaPatch* patch)
{
    int shared = 0;
    for (int c = 0; c < 4; ++c) {
        for (int i = 0; i < patch->nodeCount; ++i) {
            shared += patch->nodes[i] == def->tetrahedra[4 * (size_t)t + (size_t)c];
        }
    }
    return shared;
}

// The neighbour to add: of the patch's material, then the one with the fewest neighbours left, then one that adds no
// node. -1: none is left.
static int32_t Choose(const Pool* pool, const jnaPatch* patch)
{
    const uint8_t* kinds = pool->def->kinds;
    int32_t best = -1;
    int bestRank = 0;
    for (int i = 0; i < SIDES * patch->count; ++i) {
        int32_t t = pool->neighbours[SIDES * (size_t)patch->tetrahedra[i / SIDES] + (size_t)(i % SIDES)];
        if (t < 0 || pool->taken[t] != 0) {
            continue;
        }
        bool foreign = kinds != NULL && kinds[t] != kinds[patch->tetrahedra[0]];
        int rank = 100 * foreign + 10 * pool->open[t] - SharedNodes(pool->def, t, patch);
        if (best < 0 || rank < bestRank || (rank == bestRank && t < best)) {
            best = t;
            bestRank = rank;
        }
    }
    return best;
}

static int Partition(Pool* pool, jnaPatch* patches)
{
    int count = 0;
    for (int32_t t = NextSeed(pool); t >= 0; t = NextSeed(pool)) {
        jnaPatch* patch = &patches[count++];
        *patch = (jnaPatch){.tetrahedra = {-1, -1, -1, -1}};
        while (t >= 0) {
            Join(pool->def, t, patch);
            Take(pool, t);
            t = patch->count < JNA_PATCH_SIZE ? Choose(pool, patch) : -1;
        }
        for (int i = patch->nodeCount; i < JNA_PATCH_NODES; ++i) {
            patch->nodes[i] = patch->nodes[0];
        }
    }
    return count;
}

bool jnaFindPatches(const jnaPatchesDef* def, int* count, jnaPatch** patches)
{
    size_t size = (size_t)def->tetrahedronCount;
    Pool pool = {.def = def};
    // 4 neighbours and 5 lists.
    jnaArena arena = {0};
    int32_t* numbers = jnaArena_Take(&arena, 9 * (int64_t)size, sizeof(int32_t));
    pool.open = jnaArena_Take(&arena, 2 * (int64_t)size, 1);
    *patches = jnaArena_Give(&arena, (int64_t)size, sizeof(jnaPatch));
    *count = 0;
    bool good = !arena.failed && FindNeighbours(def, numbers, &arena);
    if (good) {
        pool.neighbours = numbers;
        pool.taken = pool.open + size;
        for (size_t i = 0; i <= SIDES; ++i) {
            pool.lists[i] = numbers + (SIDES + i) * size;
        }
        FillPool(&pool);
        *count = Partition(&pool, *patches);
    } else {
        free(*patches);
        *patches = NULL;
    }
    jnaReleaseArena(&arena);
    return good;
}
