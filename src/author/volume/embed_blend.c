// Where a lattice is too coarse for the skin that hangs on it; skin_extension.c says how the skin moves there.
//
// A lattice of spacing h moves the surface of flesh that is a few h thick as it should. Thinner flesh (fingers, toes,
// ears) has no node of its own inside; a vertex far outside its tetrahedron is not moved as its flesh is; neighbours on
// the skin that hang on tetrahedra far from each other in the mesh are torn apart; and two skins across a gap that hang
// on the same nodes are glued. Each of the four gives a vertex a share between 0 and 1, the least counts:
//
//   thin   the flesh under the vertex, by rays inward: 0 below THINNEST h, 1 from THICKEST h on
//   far    how far outside the tetrahedra it lies: 1 up to NEAREST h, 0 from FARTHEST h on
//   torn   an edge of the skin shorter than h whose ends hang on tetrahedra that no third one connects, nor two where
//          the edge is longer than h/2: 0 at both ends
//   glued  patches of skin on a common node that other joints move, that do not hang together near it, and between
//          which the flesh ends: 0 on all
#include "volume/embed_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

// Thickness of flesh in spacings: with less than one there is no node between the skins, with about two there is one.
#define THINNEST 1.0
#define THICKEST 1.75

// Distance outside the tetrahedra in spacings: what is cut off at a sharp edge is below half of one.
#define NEAREST 0.5
#define FARTHEST 1.0

// Of the spacing, under the skin: where rays start.
#define UNDER_SHARE 0.01

// Of the spacing: patches of skin that hang together within this distance of a node are one.
#define NEAR_SHARE 1.5

// Half the sum of differences of skinning weights from which two skins move apart visibly.
#define OTHER_JOINTS 0.25

// Patches of skin on one node that are told apart; what comes after them is left as it is.
enum { RAYS = 5, MAX_PATCHES = 16 };

/// All that is looked at.
typedef struct Blend {
    jnaArena arena; // of the arrays below
    const jnaCharacter* character;
    const jnaSurface* surface;
    const jnaTree* tree;
    const double* normals; // [surface vertices][3]
    const double* outside; // [vertices of the character], metres
    double spacing;
    const jnaVolume* volume;
    int32_t* vertexOn;                // [surface vertices], vertex of the character or -1
    int32_t *starts, *neighbours;     // along the skin, of surface vertices
    int32_t *nodeStarts, *tetrahedra; // of the nodes
    double* shares;                   // [surface vertices]
    int32_t *skinStarts, *skin;       // surface vertices by the tetrahedron that they hang on
    int32_t *labels, *queue;          // [surface vertices], scratch of walks along the skin
    uint8_t* glued;                   // [surface vertices]
} Blend;

static double Ramp(double x, double low, double high)
{
    return x <= low ? 0 : x >= high ? 1 : (x - low) / (high - low);
}

static const double* PlaceOf(const Blend* b, int32_t s)
{
    return b->surface->positions + 3 * (size_t)s;
}

// Tetrahedron that a vertex of the surface hangs on, or -1.
static int32_t HangsOn(const Blend* b, int32_t s)
{
    return b->vertexOn[s] >= 0 ? b->volume->skinTetrahedra[b->vertexOn[s]] : -1;
}

// Rows of a table: counts[i + 1] holds how many entries row i has; becomes where it starts.
static void Accumulate(int32_t* counts, int rows)
{
    for (int i = 0; i < rows; ++i) {
        counts[i + 1] += counts[i];
    }
}

// Neighbours along the skin, each edge from both of its faces, which does no harm.
static void ListNeighbours(Blend* b, int32_t* fill)
{
    const jnaSurface* s = b->surface;
    for (int i = 0; i < 3 * s->triangleCount; ++i) {
        b->starts[s->triangles[i] + 1] += 2;
    }
    Accumulate(b->starts, s->vertexCount);
    memcpy(fill, b->starts, (size_t)s->vertexCount * sizeof(*fill));
    for (int t = 0; t < s->triangleCount; ++t) {
        const int32_t* c = s->triangles + 3 * t;
        for (int k = 0; k < 3; ++k) {
            b->neighbours[fill[c[k]]++] = c[(k + 1) % 3];
            b->neighbours[fill[c[k]]++] = c[(k + 2) % 3];
        }
    }
}

static void ListTetrahedra(Blend* b, int32_t* fill)
{
    const jnaVolume* v = b->volume;
    for (int i = 0; i < 4 * v->tetrahedronCount; ++i) {
        b->nodeStarts[v->tetrahedra[i] + 1]++;
    }
    Accumulate(b->nodeStarts, v->nodeCount);
    memcpy(fill, b->nodeStarts, (size_t)v->nodeCount * sizeof(*fill));
    for (int i = 0; i < 4 * v->tetrahedronCount; ++i) {
        b->tetrahedra[fill[v->tetrahedra[i]]++] = i / 4;
    }
}

static void ListSkin(Blend* b, int32_t* fill)
{
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        if (HangsOn(b, s) >= 0) {
            b->skinStarts[HangsOn(b, s) + 1]++;
        }
    }
    Accumulate(b->skinStarts, b->volume->tetrahedronCount);
    memcpy(fill, b->skinStarts, (size_t)b->volume->tetrahedronCount * sizeof(*fill));
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        if (HangsOn(b, s) >= 0) {
            b->skin[fill[HangsOn(b, s)]++] = s;
        }
    }
}

static jnResult CreateBlend(Blend* b, jnError* error)
{
    int vertices = b->surface->vertexCount, nodes = b->volume->nodeCount, tetrahedra = b->volume->tetrahedronCount;
    jnaArena* arena = &b->arena;
    b->vertexOn = jnaArena_Take(arena, vertices, sizeof(int32_t));
    b->starts = jnaArena_Take(arena, vertices + 1, sizeof(int32_t));
    b->neighbours = jnaArena_Take(arena, b->surface->triangleCount, 6 * sizeof(int32_t));
    b->nodeStarts = jnaArena_Take(arena, nodes + 1, sizeof(int32_t));
    b->tetrahedra = jnaArena_Take(arena, tetrahedra, 4 * sizeof(int32_t));
    b->shares = jnaArena_Take(arena, vertices, sizeof(double));
    b->skinStarts = jnaArena_Take(arena, tetrahedra + 1, sizeof(int32_t));
    b->skin = jnaArena_Take(arena, vertices, sizeof(int32_t));
    b->labels = jnaArena_Take(arena, vertices, sizeof(int32_t));
    b->queue = jnaArena_Take(arena, vertices, sizeof(int32_t));
    b->glued = jnaArena_Take(arena, vertices, 1);
    int most = vertices > nodes ? vertices : nodes;
    int32_t* fill = jnaArena_Take(arena, most > tetrahedra ? most : tetrahedra, sizeof(int32_t));
    if (arena->failed) {
        return jnaArena_Check(arena, "the skin of a volume", error);
    }
    memset(b->vertexOn, -1, (size_t)vertices * sizeof(int32_t));
    for (int v = b->character->vertexCount - 1; v >= 0; --v) {
        if (b->surface->vertexOf[v] >= 0) {
            b->vertexOn[b->surface->vertexOf[v]] = v;
        }
    }
    for (int s = 0; s < vertices; ++s) {
        b->shares[s] = 1;
    }
    ListNeighbours(b, fill);
    ListTetrahedra(b, fill);
    ListSkin(b, fill);
    return jn_ok;
}

// A point just under the skin of a vertex.
static void PlaceUnder(const Blend* b, int32_t s, double under[3])
{
    for (int i = 0; i < 3; ++i) {
        under[i] = PlaceOf(b, s)[i] - UNDER_SHARE * b->spacing * b->normals[3 * (size_t)s + (size_t)i];
    }
}

// Depth of the flesh along one ray in spacings, measured along the normal, at most `THICKEST`.
static double RayDepth(const Blend* b, const double* under, const double* direction, double cosine)
{
    double to[3];
    for (int i = 0; i < 3; ++i) {
        to[i] = under[i] - THICKEST * b->spacing / cosine * direction[i];
    }
    return THICKEST * jnaTree_Depth(b->tree, under, to);
}

// Thickness of the flesh under a vertex in spacings, at most `THICKEST`: the median of a ray along the normal and four
// at 30 degrees to it, which is inside the corner of a box, so that neither a sharp edge nor the length of a finger
// under its tip counts.
static double Thickness(const Blend* b, int32_t s)
{
    const double *n = b->normals + 3 * (size_t)s, cosine = sqrt(0.75), sine = 0.5;
    double under[3], across[2][3], depths[RAYS];
    int least = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
    least = fabs(n[2]) < fabs(n[least]) ? 2 : least;
    double axis[3] = {least == 0, least == 1, least == 2};
    jnaCross(n, axis, across[0]);
    double length = jnaLength(across[0]);
    for (int i = 0; i < 3; ++i) {
        across[0][i] /= length;
    }
    PlaceUnder(b, s, under);
    jnaCross(n, across[0], across[1]);
    if (!(length > 0) || jnaTree_Winding(b->tree, under) <= 0.5) {
        return 0; // a single sheet, or skin through skin
    }
    int thick = 0;
    for (int r = 0; r < RAYS && thick <= RAYS / 2; ++r) {
        double direction[3];
        for (int i = 0; i < 3; ++i) {
            direction[i] = r == 0 ? n[i] : cosine * n[i] + (r % 2 == 0 ? sine : -sine) * across[r > 2][i];
        }
        double depth = RayDepth(b, under, direction, r == 0 ? 1 : cosine);
        thick += depth >= THICKEST;
        int k = r;
        for (; k > 0 && depths[k - 1] > depth; --k) {
            depths[k] = depths[k - 1];
        }
        depths[k] = depth;
    }
    return thick > RAYS / 2 ? THICKEST : depths[RAYS / 2];
}

// What a vertex tells by itself: thin or far.
static double OwnShare(const Blend* b, int32_t s)
{
    int32_t t = HangsOn(b, s);
    if (b->vertexOn[s] < 0) {
        return 1; // the middle of a cap, which nobody sees
    }
    if (t < 0) {
        return 0;
    }
    double near = 1 - Ramp(b->outside[b->vertexOn[s]] / b->spacing, NEAREST, FARTHEST);
    return near > 0 ? fmin(near, Ramp(Thickness(b, s), THINNEST, THICKEST)) : 0;
}

static bool HaveCommonNode(const jnaVolume* v, int32_t a, int32_t b)
{
    for (int i = 0; i < 16; ++i) {
        if (v->tetrahedra[4 * a + i / 4] == v->tetrahedra[4 * b + i % 4]) {
            return true;
        }
    }
    return false;
}

// Whether two tetrahedra have a node in common, or are connected so by at most so many others.
static bool AreConnected(const Blend* b, int32_t from, int32_t to, int others)
{
    bool connected = HaveCommonNode(b->volume, from, to);
    for (int k = 0; k < 4 && others > 0 && !connected; ++k) {
        int32_t node = b->volume->tetrahedra[4 * from + k];
        for (int32_t e = b->nodeStarts[node]; e < b->nodeStarts[node + 1] && !connected; ++e) {
            connected = AreConnected(b, b->tetrahedra[e], to, others - 1);
        }
    }
    return connected;
}

static void MarkTorn(Blend* b)
{
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        int32_t from = HangsOn(b, s);
        for (int32_t e = b->starts[s]; from >= 0 && e < b->starts[s + 1]; ++e) {
            int32_t other = b->neighbours[e], to = HangsOn(b, other);
            double length = jnaDistance(PlaceOf(b, s), PlaceOf(b, other)) / b->spacing;
            if (other > s && to >= 0 && length < 1 && !AreConnected(b, from, to, length < 0.5 ? 1 : 2)) {
                b->shares[s] = b->shares[other] = 0;
            }
        }
    }
}

// Half the sum of differences of two vertices' skinning weights: 0 for the same joints, 1 for wholly others.
static double WeightsApart(const jnaCharacter* c, int32_t a, int32_t b)
{
    double common = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            if (c->influences[a].joints[i] == c->influences[b].joints[k]) {
                common += (double)fminf(c->influences[a].weights[i], c->influences[b].weights[k]);
            }
        }
    }
    return 1 - common;
}

static double DistanceToNode(const Blend* b, int32_t s, int32_t node)
{
    return jnaDistance(PlaceOf(b, s), b->volume->nodes + 3 * (size_t)node);
}

// Marks the skin around a vertex that can be walked to without going far from a node. Returns how many vertices the
// queue has then, from `count` on.
static int Walk(Blend* b, int32_t from, int32_t node, int32_t label, int count)
{
    b->labels[from] = label;
    b->queue[count++] = from;
    for (int at = count - 1; at < count; ++at) {
        for (int32_t e = b->starts[b->queue[at]]; e < b->starts[b->queue[at] + 1]; ++e) {
            int32_t next = b->neighbours[e];
            if (b->labels[next] < 0 && DistanceToNode(b, next, node) < NEAR_SHARE * b->spacing) {
                b->labels[next] = label;
                b->queue[count++] = next;
            }
        }
    }
    return count;
}

// Lists the vertices of the surface that flesh carries by a node. list: with room for all.
static int ListCarried(const Blend* b, int32_t node, int32_t* list)
{
    int count = 0;
    for (int32_t e = b->nodeStarts[node]; e < b->nodeStarts[node + 1]; ++e) {
        int32_t t = b->tetrahedra[e];
        for (int32_t i = b->skinStarts[t]; i < b->skinStarts[t + 1]; ++i) {
            if (b->shares[b->skin[i]] > 0) {
                list[count++] = b->skin[i];
            }
        }
    }
    return count;
}

// Whether the straight way from one vertex to another leaves the flesh. Where faces are longer than the spacing, skin
// that hangs together does not do so near a node; but the way across a belly stays inside.
static bool IsGapBetween(const Blend* b, int32_t from, int32_t to)
{
    double start[3], end[3];
    PlaceUnder(b, from, start);
    PlaceUnder(b, to, end);
    return jnaTree_Exit(b->tree, start, end, true) >= 0;
}

// A node glues where it carries patches of skin that do not hang together near it, that other joints move, and that are
// across a gap. Those of two sides of thin flesh do not hang together either, but move alike.
static void UnglueNode(Blend* b, int32_t node, const int32_t* carried, int count)
{
    int patches = 0, walked = 0;
    int32_t nearestOf[MAX_PATCHES];
    for (int i = 0; i < count; ++i) {
        if (b->labels[carried[i]] < 0 && patches < MAX_PATCHES) {
            nearestOf[patches] = carried[i];
            walked = Walk(b, carried[i], node, patches++, walked);
        }
        int32_t label = b->labels[carried[i]];
        if (label >= 0 && DistanceToNode(b, carried[i], node) < DistanceToNode(b, nearestOf[label], node)) {
            nearestOf[label] = carried[i];
        }
    }
    for (int p = 0; p < patches; ++p) {
        bool glued = false;
        for (int o = 0; o < patches && !glued; ++o) {
            glued = o != p &&
                    WeightsApart(b->character, b->vertexOn[nearestOf[p]], b->vertexOn[nearestOf[o]]) > OTHER_JOINTS &&
                    IsGapBetween(b, nearestOf[p], nearestOf[o]);
        }
        for (int i = 0; glued && i < count; ++i) {
            b->glued[carried[i]] |= b->labels[carried[i]] == p;
        }
    }
    for (int i = 0; i < walked; ++i) {
        b->labels[b->queue[i]] = -1;
    }
}

static void MarkGlued(Blend* b, int32_t* carried)
{
    memset(b->labels, -1, (size_t)b->surface->vertexCount * sizeof(int32_t));
    for (int32_t node = 0; node < b->volume->nodeCount && b->character->influences != NULL; ++node) {
        UnglueNode(b, node, carried, ListCarried(b, node, carried));
    }
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        b->shares[s] = b->glued[s] ? 0 : b->shares[s];
    }
}

static jnResult FindShares(Blend* b, jnError* error)
{
    int32_t* carried = jnaAllocate(b->surface->vertexCount, sizeof(*carried));
    if (carried == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        b->shares[s] = OwnShare(b, s);
    }
    MarkTorn(b);
    MarkGlued(b, carried);
    free(carried);
    return jn_ok;
}

jnResult jnaBlendSkin(const jnaHungSkin* skin, jnaVolume* volume, jnaVolumeReport* report, jnError* error)
{
    const jnaSurface* surface = skin->surface;
    Blend b = {.character = skin->character,
        .surface = surface,
        .tree = skin->tree,
        .normals = skin->normals,
        .outside = skin->outside,
        .spacing = skin->spacing,
        .volume = volume};
    jnResult result = jn_ok;
    JN_TRY(CreateBlend(&b, error));
    JN_TRY(FindShares(&b, error));
    for (int v = 0; v < skin->character->vertexCount; ++v) {
        double share = volume->skinTetrahedra[v] >= 0 ? b.shares[surface->vertexOf[v]] : 0;
        volume->skinBlend[v] = share * share * (3 - 2 * share); // without a kink at either end
        report->skinnedCount += surface->vertexOf[v] >= 0 && !(share > 0);
        report->blendedCount += share > 0 && share < 1;
    }
done:
    jnaReleaseArena(&b.arena);
    return result;
}
