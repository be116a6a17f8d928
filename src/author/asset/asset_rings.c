// Rings: for each normal its vertex and a walk over the vertices around it, from which the runtime sums the faces.
#include "asset/asset_sections.h"

#include "base/arena.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// Triangles of each normal, one after another: vertices a, b of a triangle that goes v, a, b.
typedef struct Fans {
    uint32_t* starts;     // [normalCount + 1]
    int32_t (*edges)[2];  // [corners], the asset's vertices; negative once they are used
    int32_t* centers;     // [normalCount]
    int32_t* rings;       // the walks around each normal, one after another
    uint32_t* ringStarts; // [normalCount + 1]
} Fans;

static void FillFans(const jnaCharacter* c, const jnaSections* s, Fans* fans)
{
    size_t corners = 3 * (size_t)c->triangleCount, normals = (size_t)s->normalCount;
    for (size_t i = 0; i < corners; ++i) {
        fans->starts[s->groupOfFile[c->triangles[i]] + 1]++;
    }
    for (int32_t f = 0; f < c->fileVertexCount; ++f) {
        fans->centers[s->groupOfFile[f]] = s->place[c->weld[f]];
    }
    for (size_t g = 0; g < normals; ++g) {
        fans->starts[g + 1] += fans->starts[g];
    }
    // Filling moves each start to its end, which is the next one's start.
    for (size_t i = 0; i < corners; ++i) {
        size_t first = i / 3 * 3, next = first + (i + 1) % 3, last = first + (i + 2) % 3;
        uint32_t at = fans->starts[s->groupOfFile[c->triangles[i]]]++;
        fans->edges[at][0] = s->place[c->weld[c->triangles[next]]];
        fans->edges[at][1] = s->place[c->weld[c->triangles[last]]];
    }
    for (size_t g = normals; g > 0; --g) {
        fans->starts[g] = fans->starts[g - 1];
    }
    fans->starts[0] = 0;
}

// The edge of a fan that begins at a vertex, or ends there; -1: none is left.
static int FindEdge(int32_t (*edges)[2], int count, int side, int32_t vertex)
{
    for (int i = 0; i < count; ++i) {
        if (edges[i][0] >= 0 && edges[i][side] == vertex) {
            return i;
        }
    }
    return -1;
}

// Walks around a normal's vertex: first from where nothing comes before, then whatever is left, in circles. Returns the
// entries written to `ring`, at most 1 + 3 count; the edges are used up.
static int WalkFan(int32_t center, int32_t (*edges)[2], int count, int32_t* ring)
{
    int used = 0, length = 0;
    ring[length++] = center;
    while (used < count) {
        int at = -1;
        for (int i = 0; i < count && at < 0; ++i) {
            at = edges[i][0] >= 0 && FindEdge(edges, count, 1, edges[i][0]) < 0 ? i : -1;
        }
        for (int i = 0; i < count && at < 0; ++i) {
            at = edges[i][0] >= 0 ? i : -1;
        }
        if (length > 1) {
            ring[length++] = center; // no triangle between two walks
        }
        ring[length++] = edges[at][0];
        while (at >= 0) {
            int32_t to = edges[at][1];
            ring[length++] = to;
            edges[at][0] = -1;
            used++;
            at = FindEdge(edges, count, 0, to);
        }
    }
    return length;
}

static void WalkFans(const jnaSections* s, Fans* fans)
{
    for (size_t g = 0; g < (size_t)s->normalCount; ++g) {
        uint32_t first = fans->starts[g], count = fans->starts[g + 1] - first;
        int length = WalkFan(fans->centers[g], fans->edges + first, (int)count, fans->rings + fans->ringStarts[g]);
        fans->ringStarts[g + 1] = fans->ringStarts[g] + (uint32_t)length;
    }
}

// Four normals side by side, the shorter rings filled up with their vertex.
static void Interleave(const Fans* fans, jnaSections* s)
{
    size_t normals = (size_t)s->normalCount, quads = (size_t)jnBlockCount(s->normalCount) * (JN_LANES / 4);
    uint32_t* starts = jnaAddSection(s, JN_SECTION_RING_STARTS, true, (quads + 1) * sizeof(uint32_t));
    for (size_t q = 0; starts != NULL && q < quads; ++q) {
        uint32_t longest = 2;
        for (size_t g = 4 * q; g < 4 * q + 4 && g < normals; ++g) {
            uint32_t length = fans->ringStarts[g + 1] - fans->ringStarts[g];
            longest = length > longest ? length : longest;
        }
        starts[q + 1] = starts[q] + longest;
    }
    size_t entries = starts != NULL ? 4 * (size_t)starts[quads] : 0;
    uint32_t* rings = jnaAddSection(s, JN_SECTION_RINGS, true, entries * sizeof(uint32_t));
    for (size_t g = 0; starts != NULL && rings != NULL && g < normals; ++g) {
        uint32_t first = fans->ringStarts[g], length = fans->ringStarts[g + 1] - first;
        for (uint32_t k = 0; k < starts[g / 4 + 1] - starts[g / 4]; ++k) {
            int32_t vertex = k < length ? fans->rings[first + k] : fans->centers[g];
            rings[4 * ((size_t)starts[g / 4] + k) + g % 4] = (uint32_t)vertex;
        }
    }
}

void jnaAddRings(const jnaCharacter* c, jnaSections* s)
{
    int64_t normals = s->normalCount, corners = 3 * (int64_t)c->triangleCount;
    // Every edge of a walk takes an entry, its beginning one more, the gap before it another.
    jnaArena* arena = &s->arena;
    Fans fans = {.starts = jnaArena_Take(arena, normals + 1, sizeof(uint32_t)),
        .edges = jnaArena_Take(arena, corners, sizeof(*fans.edges)),
        .centers = jnaArena_Take(arena, normals, sizeof(int32_t)),
        .rings = jnaArena_Take(arena, normals + 3 * corners, sizeof(int32_t)),
        .ringStarts = jnaArena_Take(arena, normals + 1, sizeof(uint32_t))};
    if (!arena->failed) {
        FillFans(c, s, &fans);
        WalkFans(s, &fans);
        Interleave(&fans, s);
    }
}
