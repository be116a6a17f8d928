// Where a lattice is too coarse for the skin that hangs on it, and how the skin fades to skinning there.
//
// A lattice of spacing h moves the surface of flesh that is a few h thick as it should. Thinner flesh (fingers, toes,
// ears) has no node of its own inside; a vertex far outside its tetrahedron exaggerates what that does; neighbours on
// the skin that hang on tetrahedra far from each other in the mesh are torn apart; and two skins across a gap that hang
// on the same nodes are glued. Each of the four gives a vertex a share between 0 and 1, the least counts:
//
//   thin   the flesh under the vertex, by rays inward: 0 below thinnest h, 1 from thickest h on
//   far    the least barycentric weight: 1 down to farWeights[1], 0 from farWeights[0] on
//   torn   an edge of the skin shorter than h whose ends hang on tetrahedra that no third one connects: 0 at both ends
//   glued  skin across less than h of air that other joints move, is far away along the skin, and hangs on a common
//          node: 0 on both sides
//
// The shares then fall off no faster than 1 / (fadeWidth h) along the skin, so that a vertex next to a torn one moves
// hardly more than it: the strain of the border is at most the flesh's displacement over fadeWidth h.
#include "embed_internal.h"

#include "internal.h"

// Thickness of flesh in spacings: with less than one there is no node between the skins, with about two there is one.
static const double thinnest = 1, thickest = 1.75;

// Least weight of a vertex: -1/4 is a quarter of a tetrahedron's height outside, -1 a whole one.
static const double farWeights[2] = {-1, -0.25};

// Of the spacing, under the skin: where rays start.
static const double underShare = 0.01;

// Of the spacing: how wide the border between flesh and skinning is along the skin.
static const double fadeWidth = 1;

// Of the spacing: two points this near along the skin are connected in the mesh as they should be.
static const double nearShare = 1.5;

// Half the sum of differences of skinning weights from which two skins move apart visibly.
static const double otherJoints = 0.25;

enum { RAYS = 5 };

/// All that is looked at.
typedef struct Blend {
    const jnaCharacter* character;
    const jnaSurface* surface;
    const jnaTree* tree;
    const double* normals; // [surface vertices][3]
    double spacing;
    const jnaVolume* volume;
    int32_t* vertexOn;                // [surface vertices], vertex of the character or -1
    int32_t *starts, *neighbours;     // along the skin, of surface vertices
    int32_t *nodeStarts, *tetrahedra; // of the nodes
    double* shares;                   // [surface vertices]
    double* walked;                   // [surface vertices], scratch of the walk along the skin
    int32_t* queue;                   // [surface vertices + 1], the same
} Blend;

static double Ramp(double x, double low, double high)
{
    return x <= low ? 0 : x >= high ? 1 : (x - low) / (high - low);
}

static void DestroyBlend(Blend* b)
{
    free(b->vertexOn);
    free(b->starts);
    free(b->neighbours);
    free(b->nodeStarts);
    free(b->tetrahedra);
    free(b->shares);
    free(b->walked);
    free(b->queue);
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

static jnResult CreateBlend(Blend* b, jnError* error)
{
    int vertices = b->surface->vertexCount, nodes = b->volume->nodeCount;
    b->vertexOn = jnaAllocate(vertices, sizeof(int32_t));
    b->starts = jnaAllocate(vertices + 1, sizeof(int32_t));
    b->neighbours = jnaAllocate(6 * (int64_t)b->surface->triangleCount, sizeof(int32_t));
    b->nodeStarts = jnaAllocate(nodes + 1, sizeof(int32_t));
    b->tetrahedra = jnaAllocate(4 * (int64_t)b->volume->tetrahedronCount, sizeof(int32_t));
    b->shares = jnaAllocate(vertices, sizeof(double));
    b->walked = jnaAllocate(vertices, sizeof(double));
    b->queue = jnaAllocate(vertices + 1, sizeof(int32_t));
    int32_t* fill = jnaAllocate(vertices > nodes ? vertices : nodes, sizeof(int32_t));
    bool good = b->vertexOn != NULL && b->starts != NULL && b->neighbours != NULL && b->nodeStarts != NULL &&
                b->tetrahedra != NULL && b->shares != NULL && b->walked != NULL && b->queue != NULL && fill != NULL;
    if (good) {
        memset(b->vertexOn, -1, (size_t)vertices * sizeof(int32_t));
        for (int v = b->character->vertexCount - 1; v >= 0; --v) {
            if (b->surface->vertexOf[v] >= 0) {
                b->vertexOn[b->surface->vertexOf[v]] = v;
            }
        }
        for (int s = 0; s < vertices; ++s) {
            b->shares[s] = 1;
            b->walked[s] = HUGE_VAL;
        }
        ListNeighbours(b, fill);
        ListTetrahedra(b, fill);
    }
    free(fill);
    return good ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
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

// Depth of the flesh along one ray in spacings, measured along the normal, at most `thickest`.
static double RayDepth(const Blend* b, const double* under, const double* direction, double cosine)
{
    double to[3];
    for (int i = 0; i < 3; ++i) {
        to[i] = under[i] - thickest * b->spacing / cosine * direction[i];
    }
    return thickest * jnaTree_Depth(b->tree, under, to);
}

// Thickness of the flesh under a vertex in spacings, at most `thickest`: the median of a ray along the normal and four
// at 45 degrees, so that neither a sharp edge nor the length of a finger under its tip counts.
static double Thickness(const Blend* b, int32_t s)
{
    const double *n = b->normals + 3 * (size_t)s, half = sqrt(0.5);
    double under[3], across[2][3], depths[RAYS];
    int least = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
    least = fabs(n[2]) < fabs(n[least]) ? 2 : least;
    double axis[3] = {least == 0, least == 1, least == 2};
    jnaCross(n, axis, across[0]);
    double length = jnaLength(across[0]);
    for (int i = 0; i < 3; ++i) {
        across[0][i] /= length;
        under[i] = PlaceOf(b, s)[i] - underShare * b->spacing * n[i];
    }
    jnaCross(n, across[0], across[1]);
    if (!(length > 0) || jnaTree_Winding(b->tree, under) <= 0.5) {
        return 0; // a single sheet, or skin through skin
    }
    int thick = 0;
    for (int r = 0; r < RAYS && thick <= RAYS / 2; ++r) {
        double direction[3];
        for (int i = 0; i < 3; ++i) {
            direction[i] = r == 0 ? n[i] : half * (n[i] + (r % 2 == 0 ? 1 : -1) * across[r > 2][i]);
        }
        double depth = RayDepth(b, under, direction, r == 0 ? 1 : half);
        thick += depth >= thickest;
        int k = r;
        for (; k > 0 && depths[k - 1] > depth; --k) {
            depths[k] = depths[k - 1];
        }
        depths[k] = depth;
    }
    return thick > RAYS / 2 ? thickest : depths[RAYS / 2];
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
    double w[4];
    jnaBarycentricWeights(b->volume, t, PlaceOf(b, s), w);
    double far = Ramp(fmin(fmin(w[0], w[1]), fmin(w[2], w[3])), farWeights[0], farWeights[1]);
    return far > 0 ? fmin(far, Ramp(Thickness(b, s), thinnest, thickest)) : 0;
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

// Whether two tetrahedra have a node in common, or each has one with a third.
static bool AreConnected(const Blend* b, int32_t from, int32_t to)
{
    if (HaveCommonNode(b->volume, from, to)) {
        return true;
    }
    for (int k = 0; k < 4; ++k) {
        int32_t node = b->volume->tetrahedra[4 * from + k];
        for (int32_t e = b->nodeStarts[node]; e < b->nodeStarts[node + 1]; ++e) {
            if (HaveCommonNode(b->volume, b->tetrahedra[e], to)) {
                return true;
            }
        }
    }
    return false;
}

static void MarkTorn(Blend* b)
{
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        int32_t from = HangsOn(b, s);
        for (int32_t e = b->starts[s]; from >= 0 && e < b->starts[s + 1]; ++e) {
            int32_t other = b->neighbours[e], to = HangsOn(b, other);
            if (other > s && to >= 0 && jnaDistance(PlaceOf(b, s), PlaceOf(b, other)) < b->spacing &&
                !AreConnected(b, from, to)) {
                b->shares[s] = b->shares[other] = 0;
            }
        }
    }
}

/// The first skin that a ray through the air meets.
typedef struct Air {
    const jnaTree* tree;
    const double *from, *to;
    double nearest; // share of the way
    int32_t triangle;
} Air;

static bool MeetSkin(int32_t triangle, void* user)
{
    Air* air = user;
    const int32_t* c = air->tree->triangles + 3 * (size_t)triangle;
    const double* p[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = air->tree->positions + 3 * (size_t)c[k];
    }
    double before = jnaVolume6(p[0], p[1], p[2], air->from), behind = jnaVolume6(p[0], p[1], p[2], air->to), sides[3];
    for (int k = 0; k < 3; ++k) {
        sides[k] = jnaVolume6(air->from, air->to, p[k], p[(k + 1) % 3]);
    }
    bool through =
        (sides[0] >= 0 && sides[1] >= 0 && sides[2] >= 0) || (sides[0] <= 0 && sides[1] <= 0 && sides[2] <= 0);
    if (before * behind < 0 && through && before / (before - behind) < air->nearest) {
        air->nearest = before / (before - behind);
        air->triangle = triangle;
    }
    return true;
}

// Triangle of the skin across less than a spacing of air, or -1.
static int32_t SkinAcross(const Blend* b, int32_t s)
{
    double from[3], to[3], low[3], high[3];
    for (int i = 0; i < 3; ++i) {
        from[i] = PlaceOf(b, s)[i] + underShare * b->spacing * b->normals[3 * (size_t)s + (size_t)i];
        to[i] = PlaceOf(b, s)[i] + b->spacing * b->normals[3 * (size_t)s + (size_t)i];
        low[i] = fmin(from[i], to[i]);
        high[i] = fmax(from[i], to[i]);
    }
    Air air = {.tree = b->tree, .from = from, .to = to, .nearest = 1, .triangle = -1};
    jnaTree_Visit(b->tree, low, high, MeetSkin, &air);
    return air.triangle;
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

// Whether a walk along the skin from one vertex to another is shorter than a length.
static bool IsShortWalk(Blend* b, int32_t from, int32_t to, double length)
{
    int count = 0, capacity = b->surface->vertexCount;
    b->walked[from] = 0;
    b->queue[count++] = from;
    for (int at = 0; at < count && b->walked[to] >= HUGE_VAL; ++at) {
        int32_t s = b->queue[at];
        for (int32_t e = b->starts[s]; e < b->starts[s + 1]; ++e) {
            int32_t next = b->neighbours[e];
            double way = b->walked[s] + jnaDistance(PlaceOf(b, s), PlaceOf(b, next));
            // Each vertex once, by the fewest edges: near enough to the shortest way.
            if (way < length && b->walked[next] >= HUGE_VAL && count < capacity) {
                b->walked[next] = way;
                b->queue[count++] = next;
            }
        }
    }
    bool found = b->walked[to] < HUGE_VAL;
    for (int at = 0; at < count; ++at) {
        b->walked[b->queue[at]] = HUGE_VAL;
    }
    return found;
}

static void MarkGlued(Blend* b, const int32_t* across)
{
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        for (int k = 0; across[s] >= 0 && k < 3; ++k) {
            int32_t other = b->surface->triangles[3 * (size_t)across[s] + (size_t)k], to = HangsOn(b, other);
            if (to >= 0 && HaveCommonNode(b->volume, HangsOn(b, s), to) &&
                WeightsApart(b->character, b->vertexOn[s], b->vertexOn[other]) > otherJoints &&
                !IsShortWalk(b, s, other, nearShare * b->spacing)) {
                b->shares[s] = b->shares[other] = 0;
            }
        }
    }
}

static jnResult FindShares(Blend* b, jnError* error)
{
    int32_t* across = jnaAllocate(b->surface->vertexCount, sizeof(*across));
    if (across == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t s = 0; s < b->surface->vertexCount; ++s) {
        b->shares[s] = OwnShare(b, s);
        bool looks = b->character->influences != NULL && HangsOn(b, s) >= 0 && b->shares[s] > 0;
        across[s] = looks ? SkinAcross(b, s) : -1;
    }
    MarkTorn(b);
    MarkGlued(b, across);
    free(across);
    return jn_ok;
}

// The largest shares below those found that fall off along the skin no faster than they may. Forward and back in turns,
// until nothing changes.
static void Fade(Blend* b)
{
    int count = b->surface->vertexCount;
    double width = fadeWidth * b->spacing;
    for (bool changed = true, forward = true; changed; forward = !forward) {
        changed = false;
        for (int i = 0; i < count; ++i) {
            int32_t s = forward ? i : count - 1 - i;
            for (int32_t e = b->starts[s]; e < b->starts[s + 1]; ++e) {
                int32_t next = b->neighbours[e];
                double most = b->shares[next] + jnaDistance(PlaceOf(b, s), PlaceOf(b, next)) / width;
                if (most < b->shares[s]) {
                    b->shares[s] = most;
                    changed = true;
                }
            }
        }
    }
}

jnResult jnaBlendSkin(const jnaCharacter* character, const jnaSurface* surface, const jnaTree* tree,
    const double* normals, double spacing, jnaVolume* volume, jnaVolumeReport* report, jnError* error)
{
    Blend b = {.character = character,
        .surface = surface,
        .tree = tree,
        .normals = normals,
        .spacing = spacing,
        .volume = volume};
    jnResult result = CreateBlend(&b, error);
    result = result == jn_ok ? FindShares(&b, error) : result;
    if (result == jn_ok) {
        Fade(&b);
        for (int v = 0; v < character->vertexCount; ++v) {
            double share = volume->skinTetrahedra[v] >= 0 ? b.shares[surface->vertexOf[v]] : 0;
            volume->skinBlend[v] = share * share * (3 - 2 * share); // without a kink at either end
            report->skinnedCount += surface->vertexOf[v] >= 0 && !(share > 0);
            report->blendedCount += share > 0 && share < 1;
        }
    }
    DestroyBlend(&b);
    return result;
}
