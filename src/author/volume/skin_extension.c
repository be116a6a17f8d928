// The skin's displacement is the minimum of
//
//   sum over edges w_ij |u_i - u_j|^2  +  sum over vertices q_i |u_i - s_i|^2 + (area_i / REACH^2) |u_i|^2
//
// with w the cotangent weights (kept positive), s the flesh's displacement and q = c / (1 - c) times the vertex's
// weights: c, the volume's skinBlend, is how well its tetrahedra resolve the vertex. Where c is 1 the flesh decides
// alone. The last term lets long thin limbs come to rest on skinning. Vertices at one place are one unknown, and so is
// a whole piece (jna_skinPiece), which rides on the flesh as it is. What no tetrahedron carries hangs on the nearest
// flesh by springs of the same kind; flesh that other joints move counts as farther away. Rigid skin does not move. The
// matrix is factored once; the solves are small and done here, on a copy of the factor without its zeros.
#include "volume/skin_extension.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/cholesky.h"
#include "base/try.h"
#include "base/union.h"
#include "character/point_tree.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// In mean edges of the tetrahedra: over which the displacement of limbs without flesh of their own fades, within which
// loose parts hang on flesh, and how short such a hanger is against the weights of the skin.
#define REACH 4.0
#define HANG_REACH 3.0
#define HANGER 0.5

// Of a triangle's angles at 87 degrees and beyond, cotangents count as this.
#define LEAST_COTANGENT 0.05
#define MOST_COTANGENT 20.0

// Of the distance to the nearest flesh: flesh this near is compared by the joints that move it.
#define LOOK_AROUND 1.6

// Of the largest coordinate: vertices this close are at one place.
#define SAME_PLACE 1e-6

struct jnaSkinExtension {
    jnaArena arena;
    int vertexCount;
    int groupCount;      // vertices that move as one
    int32_t* groupOf;    // [vertexCount], or -1: outfit, which follows by other means
    double* shares;      // [vertexCount], what a vertex with a tetrahedron counts in its group; sum 1 or 0
    double* pull;        // [groupCount], q; HUGE_VAL: known
    int32_t* unknownOf;  // [groupCount], or -1
    int unknownCount;    // groups whose displacement is solved for
    int32_t* starts;     // [unknownCount + 1], edges from unknown to known groups, by unknown
    int32_t* edgeGroups; // their known ends
    double* edgeWeights; // the same
    int32_t* order;      // [unknownCount], unknown at a place of the factor
    int32_t *columnStarts, *rows;
    double* values; // L by columns, the diagonal first
};

/// An edge of the skin or a hanger.
typedef struct Edge {
    int32_t a, b;
    double weight;
} Edge;

/// What is needed to set it up.
typedef struct Setup {
    jnaArena arena;
    const jnaCharacter* character;
    const jnaVolume* volume;
    jnaSkinExtension* extension;
    double spacing;
    int32_t* parent; // [vertexCount], of groups, then of connected parts
    double* areas;   // [groupCount]
    double* blends;  // [groupCount]
    uint8_t* rigid;  // [groupCount], whether the joints alone move it
    Edge* edges;
    int edgeCount, edgeCapacity;
} Setup;

static int FleshCount(const jnaCharacter* c)
{
    return c->vertexCount - c->outfitCount;
}

// Corner k of a triangle, or -1 where it is of an outfit.
static int32_t CornerOf(const jnaCharacter* c, int triangle, int k)
{
    int32_t v = c->weld[c->triangles[3 * (size_t)triangle + (size_t)k]];
    return v < FleshCount(c) ? v : -1;
}

static bool HasCorners(const jnaCharacter* c, int triangle)
{
    return CornerOf(c, triangle, 0) >= 0 && CornerOf(c, triangle, 1) >= 0 && CornerOf(c, triangle, 2) >= 0;
}

static double MeanEdge(const jnaVolume* v)
{
    double sum = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * (size_t)t;
        sum += jnaDistance(v->nodes + 3 * (size_t)c[0], v->nodes + 3 * (size_t)c[1]) / v->tetrahedronCount;
    }
    return sum;
}

static void PlaceOf(const jnaCharacter* c, int32_t v, double place[3])
{
    for (size_t i = 0; i < 3; ++i) {
        place[i] = (double)c->positions[3 * (size_t)v + i];
    }
}

// Vertices at one place are one. Those that other joints move lie apart in the character, but show one skin.
static jnResult JoinPlaces(Setup* s, jnError* error)
{
    enum { MOST = 32 };
    const jnaCharacter* c = s->character;
    jnaPointTree tree;
    double most = 0;
    for (int i = 0; i < 3 * FleshCount(c); ++i) {
        most = fmax(most, fabs((double)c->positions[i]));
    }
    if (!jnaCreatePointTree(c->positions, FleshCount(c), &tree)) {
        return jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
    }
    for (int v = 0; v < FleshCount(c); ++v) {
        int32_t found[MOST];
        double place[3];
        PlaceOf(c, v, place);
        int count = jnaPointTree_Within(&tree, place, SAME_PLACE * most, found, MOST);
        for (int i = 0; i < (count < MOST ? count : MOST); ++i) {
            jnaUnion_Join(s->parent, v, found[i]);
        }
    }
    jnaDestroyPointTree(&tree);
    return jn_ok;
}

static bool IsAll(const Setup* s, int triangle, jnaSkinKind kind)
{
    for (int k = 0; k < 3; ++k) {
        if (jnaVolume_Kind(s->volume, CornerOf(s->character, triangle, k)) != kind) {
            return false;
        }
    }
    return true;
}

// Pieces become one group each, and parts are numbered. carried: of parts that some tetrahedron carries.
static void JoinPieces(const Setup* s, int32_t* part, uint8_t* carried)
{
    const jnaCharacter* c = s->character;
    for (int t = 0; t < c->triangleCount; ++t) {
        for (int k = 1; HasCorners(c, t) && IsAll(s, t, jna_skinPiece) && k < 3; ++k) {
            jnaUnion_Join(s->parent, CornerOf(c, t, 0), CornerOf(c, t, k));
        }
    }
    memcpy(part, s->parent, (size_t)FleshCount(c) * sizeof(*part));
    for (int t = 0; t < c->triangleCount; ++t) {
        for (int k = 1; HasCorners(c, t) && k < 3; ++k) {
            jnaUnion_Join(part, CornerOf(c, t, 0), CornerOf(c, t, k));
        }
    }
    for (int v = 0; v < FleshCount(c); ++v) {
        part[v] = jnaUnion_Root(part, v);
        carried[part[v]] |= jnaVolume_Blend(s->volume, v) > 0;
    }
}

static void NumberGroups(Setup* s)
{
    jnaSkinExtension* x = s->extension;
    for (int v = 0; v < x->vertexCount; ++v) {
        bool first = v < FleshCount(s->character) && jnaUnion_Root(s->parent, v) == v;
        x->groupOf[v] = v >= FleshCount(s->character) ? -1
                        : first                       ? x->groupCount++
                                                      : x->groupOf[jnaUnion_Root(s->parent, v)];
    }
}

static jnResult AddEdge(Setup* s, int32_t a, int32_t b, double weight, jnError* error)
{
    if (a == b) {
        return jn_ok;
    }
    if (!jnaReserve(&s->edges, &s->edgeCapacity, s->edgeCount + 1, sizeof(Edge))) {
        return jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
    }
    s->edges[s->edgeCount++] = (Edge){a < b ? a : b, a < b ? b : a, weight};
    return jn_ok;
}

static jnResult AddTriangles(Setup* s, jnError* error)
{
    const jnaCharacter* c = s->character;
    for (int t = 0; t < c->triangleCount; ++t) {
        double p[3][3], normal[3];
        int32_t group[3];
        for (int k = 0; HasCorners(c, t) && k < 3; ++k) {
            PlaceOf(c, CornerOf(c, t, k), p[k]);
            group[k] = s->extension->groupOf[CornerOf(c, t, k)];
        }
        if (!HasCorners(c, t)) {
            continue;
        }
        jnaAreaVector(p[0], p[1], p[2], normal);
        double area2 = jnaLength(normal);
        for (int k = 0; k < 3; ++k) {
            double u[3], v[3];
            int next = (k + 1) % 3, last = (k + 2) % 3;
            jnaSubtract(p[next], p[k], u);
            jnaSubtract(p[last], p[k], v);
            double cotangent = area2 > 0 ? jnaDot(u, v) / area2 : MOST_COTANGENT;
            cotangent = fmin(fmax(cotangent, LEAST_COTANGENT), MOST_COTANGENT);
            s->areas[group[k]] += area2 / 6;
            JN_PASS(AddEdge(s, group[next], group[last], 0.5 * cotangent, error));
        }
    }
    return jn_ok;
}

// The fraction of weights that two vertices have in common.
static double Overlap(const jnaInfluences* a, const jnaInfluences* b)
{
    double common = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        for (int k = 0; k < JNA_MAX_INFLUENCES && a->weights[i] > 0; ++k) {
            common += a->joints[i] == b->joints[k] ? fmin((double)a->weights[i], (double)b->weights[k]) : 0;
        }
    }
    return fmin(common, 1);
}

/// Skin that tetrahedra carry, to hang on.
typedef struct Pegs {
    jnaPointTree tree;
    float* places;     // [count][3]
    int32_t* vertices; // [count]
    int count;
} Pegs;

// The best peg for a vertex: near, and moved by the same joints, so that a sleeve hangs on the arm and not on the
// chest. Returns a vertex, or -1.
static int FindPeg(const jnaCharacter* c, const Pegs* pegs, int vertex, double* distance)
{
    enum { MOST = 64 };
    int32_t found[MOST];
    double place[3], best = HUGE_VAL, nearest;
    PlaceOf(c, vertex, place);
    int first = jnaPointTree_Nearest(&pegs->tree, place, &nearest), peg = -1;
    if (first < 0) {
        return -1;
    }
    int count = jnaPointTree_Within(&pegs->tree, place, LOOK_AROUND * nearest, found, MOST);
    count = count > MOST ? MOST : count;
    for (int i = -1; i < count; ++i) {
        int at = i < 0 ? first : found[i];
        double other[3];
        PlaceOf(c, pegs->vertices[at], other);
        double away = jnaDistance(place, other);
        double cost = away * (2 - Overlap(&c->influences[vertex], &c->influences[pegs->vertices[at]]));
        if (cost < best) {
            best = cost;
            *distance = away;
            peg = pegs->vertices[at];
        }
    }
    return peg;
}

static jnResult FindPegs(Setup* s, Pegs* pegs, jnError* error)
{
    const jnaCharacter* c = s->character;
    pegs->places = jnaArena_Take(&s->arena, FleshCount(c), 3 * sizeof(float));
    pegs->vertices = jnaArena_Take(&s->arena, FleshCount(c), sizeof(int32_t));
    JN_PASS(jnaArena_Check(&s->arena, "the skin of a volume", error));
    for (int v = 0; v < FleshCount(c); ++v) {
        if (jnaVolume_Blend(s->volume, v) > 0) {
            memcpy(pegs->places + 3 * (size_t)pegs->count, c->positions + 3 * (size_t)v, 3 * sizeof(float));
            pegs->vertices[pegs->count++] = v;
        }
    }
    return jnaCreatePointTree(pegs->places, pegs->count, &pegs->tree)
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
}

// Hangs sheets, and what no tetrahedron carries nor skin that hangs together with it, on skin that one does.
static jnResult AddHangers(Setup* s, const int32_t* part, const uint8_t* carried, jnError* error)
{
    const jnaCharacter* c = s->character;
    const jnaSkinExtension* x = s->extension;
    jnResult result = jn_ok;
    Pegs pegs = {0};
    JN_TRY(FindPegs(s, &pegs, error));
    for (int v = 0; v < FleshCount(c); ++v) {
        bool hangs =
            !carried[part[v]] || (jnaVolume_Kind(s->volume, v) == jna_skinSheet && s->volume->skinKinds != NULL);
        double distance = 0, reach = HANG_REACH * s->spacing;
        int peg = hangs ? FindPeg(c, &pegs, v, &distance) : -1;
        if (peg >= 0 && distance < reach) {
            double fade = 1 - (distance / reach) * (distance / reach), hanger = HANGER * s->spacing;
            // A vertex' own area is not known where it is one of a piece: its part of a spacing's square will do.
            double area = fmin(s->areas[x->groupOf[v]], hanger * hanger);
            JN_TRY(AddEdge(s, x->groupOf[v], x->groupOf[peg], fade * area / (hanger * hanger), error));
        }
    }
done:
    jnaDestroyPointTree(&pegs.tree);
    return result;
}

// What the flesh says: groups by their best resolved vertices.
static void FindPulls(Setup* s, double* sums)
{
    jnaSkinExtension* x = s->extension;
    for (int v = 0; v < x->vertexCount; ++v) {
        double blend = x->groupOf[v] >= 0 ? jnaVolume_Blend(s->volume, v) : 0;
        bool rigid = x->groupOf[v] >= 0 && jnaVolume_Kind(s->volume, v) == jna_skinRigid;
        if (rigid) {
            s->rigid[x->groupOf[v]] = 1;
        } else if (blend > 0) {
            s->blends[x->groupOf[v]] = fmax(s->blends[x->groupOf[v]], blend);
            x->shares[v] = blend;
            sums[x->groupOf[v]] += blend;
        }
    }
    for (int v = 0; v < x->vertexCount; ++v) {
        x->shares[v] = x->shares[v] > 0 && !s->rigid[x->groupOf[v]] ? x->shares[v] / sums[x->groupOf[v]] : 0;
    }
    memset(sums, 0, (size_t)x->groupCount * sizeof(*sums));
    for (int e = 0; e < s->edgeCount; ++e) {
        sums[s->edges[e].a] += s->edges[e].weight;
        sums[s->edges[e].b] += s->edges[e].weight;
    }
    for (int g = 0; g < x->groupCount; ++g) {
        double blend = s->blends[g];
        // A point without triangles has only its own flesh to follow.
        bool known = s->rigid[g] || blend >= 1 - 1e-6 || (blend > 0 && sums[g] <= 0);
        x->pull[g] = known ? HUGE_VAL : blend / (1 - blend) * sums[g];
        x->unknownOf[g] = x->pull[g] < HUGE_VAL ? x->unknownCount++ : -1;
    }
}

static int CompareEdges(const void* first, const void* second)
{
    const Edge *a = first, *b = second;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b != b->b ? (a->b < b->b ? -1 : 1) : 0;
}

// Edges between an unknown and a known group, listed by the unknown.
static jnResult ListKnown(Setup* s, jnError* error)
{
    jnaSkinExtension* x = s->extension;
    int32_t* fill = jnaArena_Take(&s->arena, x->unknownCount + 1, sizeof(int32_t));
    x->starts = jnaArena_Take(&x->arena, x->unknownCount + 1, sizeof(int32_t));
    x->edgeGroups = jnaArena_Take(&x->arena, s->edgeCount, sizeof(int32_t));
    x->edgeWeights = jnaArena_Take(&x->arena, s->edgeCount, sizeof(double));
    JN_PASS(jnaArena_Check(&x->arena, "the skin of a volume", error));
    JN_PASS(jnaArena_Check(&s->arena, "the skin of a volume", error));
    for (int pass = 0; pass < 2; ++pass) {
        for (int e = 0; e < s->edgeCount; ++e) {
            int32_t a = s->edges[e].a, b = s->edges[e].b;
            if ((x->unknownOf[a] >= 0) == (x->unknownOf[b] >= 0)) {
                continue;
            }
            int32_t unknown = x->unknownOf[a] >= 0 ? x->unknownOf[a] : x->unknownOf[b];
            if (pass == 0) {
                x->starts[unknown + 1]++;
            } else {
                x->edgeGroups[fill[unknown]] = x->unknownOf[a] >= 0 ? b : a;
                x->edgeWeights[fill[unknown]++] = s->edges[e].weight;
            }
        }
        for (int u = 0; pass == 0 && u < x->unknownCount; ++u) {
            x->starts[u + 1] += x->starts[u];
        }
        memcpy(fill, x->starts, (size_t)x->unknownCount * sizeof(*fill));
    }
    return jn_ok;
}

// Lower triangle, the diagonal first. False: out of memory.
static bool Assemble(const Setup* s, jnaArena* arena, jnaSparse* matrix)
{
    const jnaSkinExtension* x = s->extension;
    int count = x->unknownCount;
    int64_t most = (int64_t)count + s->edgeCount;
    int* rows = jnaArena_Take(arena, most, sizeof(int));
    int* columns = jnaArena_Take(arena, most, sizeof(int));
    double* values = jnaArena_Take(arena, most, sizeof(double));
    if (arena->failed) {
        return false;
    }
    for (int g = 0; g < x->groupCount; ++g) {
        int32_t u = x->unknownOf[g];
        if (u >= 0) {
            double reach = REACH * s->spacing;
            rows[u] = columns[u] = u;
            // A group without any area (all of its triangles are needles) must not make the matrix singular.
            values[u] = x->pull[g] + s->areas[g] / (reach * reach) + 1e-9;
        }
    }
    for (int e = 0; e < s->edgeCount; ++e) {
        int32_t a = x->unknownOf[s->edges[e].a], b = x->unknownOf[s->edges[e].b];
        double weight = s->edges[e].weight;
        for (int k = 0; k < 2; ++k) {
            int32_t own = k == 0 ? a : b;
            if (own >= 0) {
                values[own] += weight;
            }
        }
        if (a >= 0 && b >= 0) {
            rows[count] = a > b ? a : b;
            columns[count] = a > b ? b : a;
            values[count++] = -weight;
        }
    }
    return jnaCompressSparse(arena, x->unknownCount, count, rows, columns, values, matrix);
}

// Copies the factor by columns; the zeros of its supernodes stay out.
static jnResult TakeFactor(jnaSkinExtension* x, const jnaCholesky* factor, jnError* error)
{
    int64_t total = 0;
    for (int64_t i = 0; i < factor->valueStarts[factor->superCount]; ++i) {
        total += factor->values[i] != 0;
    }
    x->order = jnaArena_Take(&x->arena, x->unknownCount, sizeof(int32_t));
    x->columnStarts = jnaArena_Take(&x->arena, x->unknownCount + 1, sizeof(int32_t));
    x->rows = jnaArena_Take(&x->arena, total <= INT32_MAX ? total : -1, sizeof(int32_t));
    x->values = jnaArena_Take(&x->arena, total, sizeof(double));
    JN_PASS(jnaArena_Check(&x->arena, "the skin of a volume", error));
    int used = 0;
    for (int s = 0; s < factor->superCount; ++s) {
        const int32_t* rows = factor->rows + factor->rowStarts[s];
        int count = (int)(factor->rowStarts[s + 1] - factor->rowStarts[s]);
        for (int c = factor->supers[s]; c < factor->supers[s + 1]; ++c) {
            const double* column =
                factor->values + factor->valueStarts[s] + (size_t)(c - factor->supers[s]) * (size_t)count;
            x->order[c] = factor->order[c];
            for (int r = c - factor->supers[s]; r < count; ++r) {
                if (column[r] != 0) {
                    x->rows[used] = rows[r];
                    x->values[used++] = column[r];
                }
            }
            x->columnStarts[c + 1] = used;
        }
    }
    return jn_ok;
}

static jnResult Factor(Setup* s, jnError* error)
{
    if (s->extension->unknownCount == 0) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaSparse matrix = {0};
    jnaCholesky factor = {0};
    if (!Assemble(s, &arena, &matrix) || !jnaCreateCholesky(&matrix, NULL, &factor)) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume"));
    }
    jnResult factored = jnaCholesky_Factor(&factor, &matrix);
    if (factored != jn_ok) {
        JN_TRY(factored == jn_outOfMemory
                   ? jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume")
                   : jnFail(error, jn_badData, "the skin of the volume has no smooth displacement"));
    }
    JN_TRY(TakeFactor(s->extension, &factor, error));
done:
    jnaDestroyCholesky(&factor);
    jnaReleaseArena(&arena);
    return result;
}

static jnResult SetUp(Setup* s, jnError* error)
{
    jnaSkinExtension* x = s->extension;
    int count = s->character->vertexCount;
    s->parent = jnaArena_Take(&s->arena, count, sizeof(int32_t));
    int32_t* part = jnaArena_Take(&s->arena, count, sizeof(int32_t));
    uint8_t* carried = jnaArena_Take(&s->arena, count, 1);
    s->rigid = jnaArena_Take(&s->arena, count, 1);
    s->areas = jnaArena_Take(&s->arena, count, sizeof(double));
    s->blends = jnaArena_Take(&s->arena, count, sizeof(double));
    double* sums = jnaArena_Take(&s->arena, count, sizeof(double));
    x->groupOf = jnaArena_Take(&x->arena, count, sizeof(int32_t));
    x->shares = jnaArena_Take(&x->arena, count, sizeof(double));
    x->pull = jnaArena_Take(&x->arena, count, sizeof(double));
    x->unknownOf = jnaArena_Take(&x->arena, count, sizeof(int32_t));
    JN_PASS(jnaArena_Check(&x->arena, "the skin of a volume", error));
    JN_PASS(jnaArena_Check(&s->arena, "the skin of a volume", error));
    for (int v = 0; v < count; ++v) {
        s->parent[v] = v;
    }
    JN_PASS(JoinPlaces(s, error));
    JoinPieces(s, part, carried);
    NumberGroups(s);
    JN_PASS(AddTriangles(s, error));
    JN_PASS(AddHangers(s, part, carried, error));
    if (s->edgeCount > 0) { // there is no array of none
        qsort(s->edges, (size_t)s->edgeCount, sizeof(Edge), CompareEdges);
    }
    FindPulls(s, sums);
    JN_PASS(ListKnown(s, error));
    return Factor(s, error);
}

jnResult jnaCreateSkinExtension(
    const jnaCharacter* character, const jnaVolume* volume, jnaSkinExtension** extension, jnError* error)
{
    jnaSkinExtension* x = calloc(1, sizeof(*x));
    *extension = NULL;
    if (x == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
    }
    x->vertexCount = character->vertexCount;
    Setup s = {.character = character, .volume = volume, .extension = x, .spacing = MeanEdge(volume)};
    jnResult result = SetUp(&s, error);
    free(s.edges);
    jnaReleaseArena(&s.arena);
    if (result != jn_ok) {
        jnaDestroySkinExtension(x);
        return result;
    }
    *extension = x;
    return jn_ok;
}

void jnaDestroySkinExtension(jnaSkinExtension* extension)
{
    if (extension != NULL) {
        jnaReleaseArena(&extension->arena);
        free(extension);
    }
}

size_t jnaSkinExtension_ScratchCount(const jnaSkinExtension* x)
{
    return 3 * ((size_t)x->groupCount + 2 * (size_t)x->unknownCount);
}

// b becomes L^-T L^-1 b, three right-hand sides at once. b: [unknownCount][3], in the factor's order.
static void Solve(const jnaSkinExtension* x, double* b)
{
    for (int c = 0; c < x->unknownCount; ++c) {
        const int32_t *row = x->rows + x->columnStarts[c], *end = x->rows + x->columnStarts[c + 1];
        const double* value = x->values + x->columnStarts[c];
        double* own = b + 3 * (size_t)c;
        for (int a = 0; a < 3; ++a) {
            own[a] /= value[0];
        }
        for (++row, ++value; row < end; ++row, ++value) {
            for (int a = 0; a < 3; ++a) {
                b[3 * (size_t)*row + (size_t)a] -= *value * own[a];
            }
        }
    }
    for (int c = x->unknownCount - 1; c >= 0; --c) {
        const double* value = x->values + x->columnStarts[c];
        double* own = b + 3 * (size_t)c;
        for (int32_t i = x->columnStarts[c] + 1; i < x->columnStarts[c + 1]; ++i) {
            for (int a = 0; a < 3; ++a) {
                own[a] -= x->values[i] * b[3 * (size_t)x->rows[i] + (size_t)a];
            }
        }
        for (int a = 0; a < 3; ++a) {
            own[a] /= value[0];
        }
    }
}

void jnaSkinExtension_Apply(const jnaSkinExtension* x, double* displacements, double* scratch)
{
    double *groups = scratch, *loads = scratch + 3 * (size_t)x->groupCount, *ordered = loads + 3 * x->unknownCount;
    memset(groups, 0, 3 * (size_t)x->groupCount * sizeof(double));
    for (int v = 0; v < x->vertexCount; ++v) {
        for (size_t a = 0; x->shares[v] > 0 && a < 3; ++a) {
            groups[3 * (size_t)x->groupOf[v] + a] += x->shares[v] * displacements[3 * (size_t)v + a];
        }
    }
    for (int g = 0; g < x->groupCount; ++g) {
        int32_t u = x->unknownOf[g];
        for (size_t a = 0; u >= 0 && a < 3; ++a) {
            double sum = x->pull[g] * groups[3 * (size_t)g + a];
            for (int32_t e = x->starts[u]; e < x->starts[u + 1]; ++e) {
                sum += x->edgeWeights[e] * groups[3 * (size_t)x->edgeGroups[e] + a];
            }
            loads[3 * (size_t)u + a] = sum;
        }
    }
    for (int c = 0; c < x->unknownCount; ++c) {
        memcpy(ordered + 3 * (size_t)c, loads + 3 * (size_t)x->order[c], 3 * sizeof(double));
    }
    Solve(x, ordered);
    for (int c = 0; c < x->unknownCount; ++c) {
        memcpy(loads + 3 * (size_t)x->order[c], ordered + 3 * (size_t)c, 3 * sizeof(double));
    }
    for (int v = 0; v < x->vertexCount; ++v) {
        int32_t g = x->groupOf[v], u = g >= 0 ? x->unknownOf[g] : -1;
        const double* from = u >= 0 ? loads + 3 * (size_t)u : groups + 3 * (size_t)g;
        for (size_t a = 0; a < 3; ++a) {
            displacements[3 * (size_t)v + a] = g >= 0 ? from[a] : 0;
        }
    }
}
