// Finding lips: two vertices of the head are a pair if they are a millimetre or two apart in space and far apart along
// the surface, and if each lies on the side that the other's normal points to. The two sides of an ear or of a lip
// itself are near as well, but look away from each other.
#include "pipeline/lips.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "volume/anatomy.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Lips are at most this far apart at rest, part of the body's size: 2 mm of a person's 1.75 m.
#define TOUCH 0.00115
// A pair is at least this many times TOUCH apart along the edges of the surface: neighbours are no lips.
#define APART 6.0
// Normals of a pair point against each other at least so much, and not much away from the other vertex: lips may cross.
#define OPPOSED (-0.5)
#define AWAY (-0.3)

enum { MOST_AROUND = 2048 };

// The surface of the head.
typedef struct Head {
    const jnaCharacter* character;
    int count;
    int32_t* vertices;  // [count], by height
    int32_t* starts;    // [vertexCount + 1], of neighbours
    int32_t* neighbors; // of all vertices
    double* normals;    // [vertexCount][3]
    int32_t* partner;   // [vertexCount], or -1
    double* distance;   // [vertexCount] along edges, while a vertex is looked from; HUGE_VAL otherwise
    double touch;
    jnaArena arena;
} Head;

void jnaDestroyLips(jnaLips* lips)
{
    free(lips->pairs);
    *lips = (jnaLips){0};
}

static double Between(const jnaCharacter* c, int a, int b, double d[3])
{
    for (size_t i = 0; i < 3; ++i) {
        d[i] = (double)c->positions[3 * (size_t)b + i] - (double)c->positions[3 * (size_t)a + i];
    }
    return sqrt(jnaDot(d, d));
}

static void CornersOf(const jnaCharacter* c, int triangle, int32_t corners[3])
{
    for (int k = 0; k < 3; ++k) {
        corners[k] = c->weld[c->triangles[3 * (size_t)triangle + (size_t)k]];
    }
}

// Both directions of every edge, those of inner edges twice.
static void FillNeighbors(Head* h)
{
    const jnaCharacter* c = h->character;
    for (int pass = 0; pass < 2; ++pass) {
        for (int t = 0; t < c->triangleCount; ++t) {
            int32_t v[3];
            CornersOf(c, t, v);
            for (int k = 0; k < 3; ++k) {
                int32_t from = v[k], to[2] = {v[(k + 1) % 3], v[(k + 2) % 3]};
                if (pass == 0) {
                    h->starts[from + 1] += 2;
                } else {
                    h->neighbors[h->starts[from]++] = to[0];
                    h->neighbors[h->starts[from]++] = to[1];
                }
            }
        }
        for (int v = 0; v < c->vertexCount && pass == 0; ++v) {
            h->starts[v + 1] += h->starts[v];
        }
    }
    // Filling moved each start to the next one's place.
    memmove(h->starts + 1, h->starts, (size_t)c->vertexCount * sizeof(*h->starts));
    h->starts[0] = 0;
}

static void FillNormals(Head* h)
{
    const jnaCharacter* c = h->character;
    for (int t = 0; t < c->triangleCount; ++t) {
        int32_t v[3];
        double a[3], b[3], normal[3];
        CornersOf(c, t, v);
        Between(c, v[0], v[1], a);
        Between(c, v[0], v[2], b);
        jnaCross(a, b, normal);
        for (int k = 0; k < 9; ++k) {
            h->normals[3 * (size_t)v[k / 3] + (size_t)(k % 3)] += normal[k % 3];
        }
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        jnaNormalize(h->normals + 3 * (size_t)v);
    }
}

static int CompareHeights(const void* a, const void* b, void* user)
{
    const float* positions = user;
    int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    float p = positions[3 * (size_t)x + 1], q = positions[3 * (size_t)y + 1];
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

static jnResult MakeHead(Head* h, const uint8_t* regions, jnError* error)
{
    const jnaCharacter* c = h->character;
    h->vertices = jnaArena_Take(&h->arena, c->vertexCount, sizeof(int32_t));
    h->starts = jnaArena_Take(&h->arena, c->vertexCount + 2, sizeof(int32_t));
    h->neighbors = jnaArena_Take(&h->arena, c->triangleCount, 6 * sizeof(int32_t));
    h->normals = jnaArena_Take(&h->arena, c->vertexCount, 3 * sizeof(double));
    h->partner = jnaArena_Take(&h->arena, c->vertexCount, sizeof(int32_t));
    h->distance = jnaArena_Take(&h->arena, c->vertexCount, sizeof(double));
    JN_PASS(jnaArena_Check(&h->arena, "lips", error));
    for (int v = 0; v < c->vertexCount; ++v) {
        h->partner[v] = -1;
        h->distance[v] = HUGE_VAL;
        if (regions[v] == jna_regionHead) {
            h->vertices[h->count++] = v;
        }
    }
    qsort_r(h->vertices, (size_t)h->count, sizeof(int32_t), CompareHeights, c->positions);
    FillNeighbors(h);
    FillNormals(h);
    return jn_ok;
}

// Distances along edges from a vertex, up to a limit. around: the vertices that were reached. Returns how many.
static int Walk(Head* h, int from, double limit, int32_t* around)
{
    int count = 1;
    around[0] = from;
    h->distance[from] = 0;
    // Vertices that come nearer later are put at the end again; the patch is small.
    for (int i = 0; i < count; ++i) {
        int v = around[i];
        for (int32_t k = h->starts[v]; k < h->starts[v + 1]; ++k) {
            int w = h->neighbors[k];
            double d[3], length = h->distance[v] + Between(h->character, v, w, d);
            if (length < limit && length < h->distance[w] && count < MOST_AROUND) {
                h->distance[w] = length;
                around[count++] = w;
            }
        }
    }
    return count;
}

static bool Faces(const Head* h, int v, int w, const double* d, double length)
{
    const double *m = h->normals + 3 * (size_t)v, *n = h->normals + 3 * (size_t)w;
    return jnaDot(m, n) < OPPOSED && jnaDot(d, m) > AWAY * length && -jnaDot(d, n) > AWAY * length;
}

// The nearest vertex that a vertex of the head faces. place: in the list by height.
static void FindPartner(Head* h, int place, int32_t* around)
{
    const jnaCharacter* c = h->character;
    int v = h->vertices[place], count = 0;
    double least = h->touch;
    for (int side = -1; side <= 1; side += 2) {
        for (int i = place + side; i >= 0 && i < h->count; i += side) {
            double d[3];
            int w = h->vertices[i];
            double length = Between(c, v, w, d);
            if (fabs(d[1]) > h->touch) {
                break;
            }
            if (length >= least || !Faces(h, v, w, d, length)) {
                continue;
            }
            count = count == 0 ? Walk(h, v, APART * h->touch, around) : count;
            if (h->distance[w] == HUGE_VAL) {
                least = length;
                h->partner[v] = w;
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        h->distance[around[i]] = HUGE_VAL;
    }
}

// Whether a walk from a vertex of one piece of the surface can reach another: eyes and teeth are no lips.
static void NumberPieces(const Head* h, int32_t* pieces)
{
    const jnaCharacter* c = h->character;
    for (int v = 0; v < c->vertexCount; ++v) {
        pieces[v] = v;
    }
    for (int t = 0; t < c->triangleCount; ++t) {
        int32_t v[3];
        CornersOf(c, t, v);
        for (int k = 1; k < 3; ++k) {
            int32_t a = v[0], b = v[k];
            while (pieces[a] != a) {
                a = pieces[a] = pieces[pieces[a]];
            }
            while (pieces[b] != b) {
                b = pieces[b] = pieces[pieces[b]];
            }
            pieces[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int v = 0; v < c->vertexCount; ++v) { // a piece's lowest vertex comes first
        pieces[v] = pieces[pieces[v]];
    }
}

static void Collect(const Head* h, const int32_t* pieces, jnaLips* lips)
{
    for (int i = 0; i < h->count; ++i) {
        int v = h->vertices[i], w = h->partner[v];
        bool twice = w >= 0 && w < v && h->partner[w] == v;
        if (w >= 0 && !twice && pieces[v] == pieces[w]) {
            double d[3];
            lips->rest = fmax(lips->rest, Between(h->character, v, w, d));
            lips->pairs[lips->count][0] = v;
            lips->pairs[lips->count++][1] = w;
        }
    }
}

jnResult jnaFindLips(const jnaCharacter* character, const uint8_t* regions, double size, jnaLips* lips, jnError* error)
{
    *lips = (jnaLips){0};
    Head h = {.character = character, .touch = TOUCH * size};
    jnResult result = jn_ok;
    int32_t* around = jnaArena_Take(&h.arena, MOST_AROUND, sizeof(int32_t));
    int32_t* pieces = jnaArena_Take(&h.arena, character->vertexCount, sizeof(int32_t));
    lips->pairs = jnaArena_Give(&h.arena, character->vertexCount, sizeof(*lips->pairs));
    JN_TRY(MakeHead(&h, regions, error));
    for (int i = 0; i < h.count; ++i) {
        FindPartner(&h, i, around);
    }
    NumberPieces(&h, pieces);
    Collect(&h, pieces, lips);
done:
    if (result != jn_ok) {
        jnaDestroyLips(lips);
    }
    jnaReleaseArena(&h.arena);
    return result;
}

static double Apart(const float* positions, const int32_t* pair)
{
    const float *a = positions + 3 * (size_t)pair[0], *b = positions + 3 * (size_t)pair[1];
    double x = (double)b[0] - (double)a[0], y = (double)b[1] - (double)a[1], z = (double)b[2] - (double)a[2];
    return sqrt(x * x + y * y + z * z);
}

double jnaLips_Opening(const jnaLips* lips, const float* positions, const float* reference)
{
    double most = 0;
    for (int i = 0; i < lips->count; ++i) {
        double opening = Apart(positions, lips->pairs[i]) - Apart(reference, lips->pairs[i]);
        most = isfinite(opening) ? fmax(most, opening) : most;
    }
    return most;
}
