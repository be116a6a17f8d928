// Evens out the net: edges are flipped where that brings the number of neighbours closer to six, vertices
// slide towards the middle of their neighbours and back onto the surface; then the vertices nearest to the
// borders of the clothes move onto them and stay; last, edges are flipped until the triangles are Delaunay.
//
// A vertex on the rim (x = 0) behaves as if its mirror neighbours were there, so the seam does not show.
// Everything runs in a fixed order and reads only the previous round's positions: threads do not change a
// bit.
#include "character/figure_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 36, DELAUNAY_PASSES = 6, SETTLE_ROUNDS = 6 };
// Share of the way to the middle of the neighbours per round.
#define SLIDE 0.6
// A flip must not turn a triangle's normal by more than 45 degrees.
#define FLIP_NORMAL 0.7

typedef struct Edge {
    int32_t a, b; // a < b
    int32_t triangle;
} Edge;

// The edges of all triangles by a, then b, then triangle: counted into the place of their a, and sorted among the few
// of the same.
static Edge* SortEdges(int vertexCount, const int32_t* triangles, int triangleCount, jnaArena* arena)
{
    Edge* edges = jnaArena_Take(arena, triangleCount, 3 * sizeof(*edges)); // an a of 0 where none was put yet
    int* starts = jnaArena_Take(arena, vertexCount + 2, sizeof(int));
    if (arena->failed) {
        return NULL;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int h = 0; h < 3 * triangleCount; ++h) {
            int32_t v = triangles[h], w = triangles[h % 3 == 2 ? h - 2 : h + 1];
            Edge edge = {v < w ? v : w, v < w ? w : v, h / 3};
            if (pass == 0) {
                starts[edge.a + 2]++;
                continue;
            }
            // They come by rising triangle: only a larger b has to make room.
            int at = starts[edge.a + 1]++;
            for (; at > 0 && edges[at - 1].a == edge.a && edges[at - 1].b > edge.b; --at) {
                edges[at] = edges[at - 1];
            }
            edges[at] = edge;
        }
        for (int v = 0; pass == 0 && v < vertexCount; ++v) {
            starts[v + 2] += starts[v + 1];
        }
    }
    return edges;
}

static jnResult ListNeighbors(
    int vertexCount, const Edge* edges, int triangleCount, jnaArena* arena, Neighbors* neighbors, jnError* error)
{
    neighbors->start = jnaArena_Take(arena, vertexCount + 2, sizeof(int));
    neighbors->list = jnaArena_Take(arena, triangleCount, 6 * sizeof(int));
    if (arena->failed) {
        return jnaArena_Check(arena, "the neighbours of the figure's vertices", error);
    }
    // Counts one place ahead of where they belong, so that filling moves every start to where it should be.
    for (int pass = 0; pass < 2; ++pass) {
        for (int e = 0; e < 3 * triangleCount; ++e) {
            const Edge* edge = &edges[e];
            if (e > 0 && edges[e - 1].a == edge->a && edges[e - 1].b == edge->b) {
                continue;
            }
            if (pass == 0) {
                neighbors->start[edge->a + 2]++;
                neighbors->start[edge->b + 2]++;
            } else {
                neighbors->list[neighbors->start[edge->a + 1]++] = edge->b;
                neighbors->list[neighbors->start[edge->b + 1]++] = edge->a;
            }
        }
        for (int v = 0; pass == 0 && v < vertexCount; ++v) {
            neighbors->start[v + 2] += neighbors->start[v + 1];
        }
    }
    return jn_ok;
}

jnResult jnaCreateFigureNeighbors(
    int vertexCount, const int32_t* triangles, int triangleCount, jnaArena* arena, Neighbors* neighbors, jnError* error)
{
    Edge* edges = SortEdges(vertexCount, triangles, triangleCount, arena);
    return ListNeighbors(vertexCount, edges, triangleCount, arena, neighbors, error);
}

static bool Adjacent(const Neighbors* neighbors, int a, int b)
{
    for (int i = neighbors->start[a]; i < neighbors->start[a + 1]; ++i) {
        if (neighbors->list[i] == b) {
            return true;
        }
    }
    return false;
}

static int Opposite(const int32_t* triangle, int32_t a, int32_t b)
{
    for (int c = 0; c < 3; ++c) {
        if (triangle[c] != a && triangle[c] != b) {
            return triangle[c];
        }
    }
    return -1;
}

static double Cotangent(const double* at, const double* b, const double* c)
{
    double n[3];
    jnaAreaVector(at, b, c, n);
    double e[3] = {b[0] - at[0], b[1] - at[1], b[2] - at[2]}, f[3] = {c[0] - at[0], c[1] - at[1], c[2] - at[2]};
    double area = jnaLength(n);
    return jnaDot(e, f) / (area > 1e-12 ? area : 1e-12);
}

// Whether both triangles after the flip still face as the pair did before.
static bool KeepsFacing(const double* p, int a, int b, int c, int d)
{
    double before[3], other[3], first[3], second[3];
    jnaAreaVector(p + 3 * a, p + 3 * b, p + 3 * c, before);
    jnaAreaVector(p + 3 * b, p + 3 * a, p + 3 * d, other);
    jnaAreaVector(p + 3 * a, p + 3 * d, p + 3 * c, first);
    jnaAreaVector(p + 3 * d, p + 3 * b, p + 3 * c, second);
    for (int i = 0; i < 3; ++i) {
        before[i] += other[i];
    }
    double length = jnaLength(before);
    return jnaDot(before, first) > FLIP_NORMAL * length * jnaLength(first) &&
           jnaDot(before, second) > FLIP_NORMAL * length * jnaLength(second);
}

// How far four vertices are from the wanted number of neighbours; a rim vertex sees half of its own.
static int Unevenness(const HalfMesh* half, const int* degrees, const int v[4], const int change[4])
{
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        bool rim = half->positions[3 * v[i]] == 0;
        int off = rim ? 2 * (degrees[v[i]] + change[i] - 4) : degrees[v[i]] + change[i] - 6;
        sum += off * off;
    }
    return sum;
}

// c and d are the corners opposite to the edge (a, b): c left of it, d right.
static bool WantsFlip(const HalfMesh* half, const int* degrees, int a, int b, int c, int d, bool delaunay)
{
    const double* p = half->positions;
    if (delaunay) {
        double sum = Cotangent(p + 3 * c, p + 3 * a, p + 3 * b) + Cotangent(p + 3 * d, p + 3 * a, p + 3 * b);
        return sum < -1e-6;
    }
    const int vertices[4] = {a, b, c, d}, none[4] = {0, 0, 0, 0}, flipped[4] = {-1, -1, 1, 1};
    return Unevenness(half, degrees, vertices, flipped) < Unevenness(half, degrees, vertices, none);
}

// Writes the two triangles that stand on the other diagonal. t and u share the edge (a, b).
static void Flip(HalfMesh* half, int t, int u, int a, int b, int c, int d)
{
    int32_t first[3] = {a, d, c}, second[3] = {d, b, c};
    memcpy(half->triangles + 3 * t, first, sizeof(first));
    memcpy(half->triangles + 3 * u, second, sizeof(second));
}

// What a pass of flips knows: neighbours as they were before it, and which vertices have changed since.
typedef struct FlipPass {
    Neighbors neighbors;
    Edge* edges;
    int* degrees;
    bool* touched;
} FlipPass;

// Looks at the edge that triangles t and u share and flips it where allowed and wanted.
static void TryFlip(HalfMesh* half, FlipPass* pass, const Edge* edge, int u, bool delaunay)
{
    int a = edge->a, b = edge->b, t = edge->triangle;
    const int32_t* corners = half->triangles + 3 * t;
    int c = Opposite(corners, a, b), d = Opposite(half->triangles + 3 * u, a, b);
    // If triangle t does not run a, b, c, it is the right one.
    bool forward = false;
    for (int i = 0; i < 3; ++i) {
        forward = forward || (corners[i] == a && corners[(i + 1) % 3] == b);
    }
    int left = forward ? c : d, right = forward ? d : c;
    bool* touched = pass->touched;
    if (touched[a] || touched[b] || touched[c] || touched[d]) {
        return;
    }
    // Edges of the border stay, but not the chord under three border vertices in a row.
    bool border = half->bordered[a] && half->bordered[b] && !half->bordered[c] && !half->bordered[d];
    // A new edge between two rim vertices would have its own mirror image as a twin.
    bool rim = half->positions[3 * c] == 0 && half->positions[3 * d] == 0;
    if (border || rim || Adjacent(&pass->neighbors, c, d) || !KeepsFacing(half->positions, a, b, left, right) ||
        !WantsFlip(half, pass->degrees, a, b, left, right, delaunay)) {
        return;
    }
    Flip(half, forward ? t : u, forward ? u : t, a, b, left, right);
    touched[a] = touched[b] = touched[c] = touched[d] = true;
}

// One pass over all edges. A vertex takes part in one flip at most, so that the lists made before the pass
// stay true.
static jnResult FlipEdges(HalfMesh* half, bool delaunay, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    FlipPass pass = {
        .edges = SortEdges(half->vertexCount, half->triangles, half->triangleCount, &arena),
        .degrees = jnaArena_Take(&arena, half->vertexCount, sizeof(int)),
        .touched = jnaArena_Take(&arena, half->vertexCount, sizeof(bool)),
    };
    JN_TRY(ListNeighbors(half->vertexCount, pass.edges, half->triangleCount, &arena, &pass.neighbors, error));
    for (int v = 0; v < half->vertexCount; ++v) {
        pass.degrees[v] = pass.neighbors.start[v + 1] - pass.neighbors.start[v];
    }
    for (int e = 0; e + 1 < 3 * half->triangleCount; ++e) {
        const Edge *edge = &pass.edges[e], *twin = edge + 1;
        if (edge->a == twin->a && edge->b == twin->b) {
            TryFlip(half, &pass, edge, twin->triangle, delaunay);
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// Moves a vertex onto the border line and the surface at once, by steps along either normal in turn.
static void MoveToBorder(double* p)
{
    bool rim = p[0] == 0;
    for (int round = 0; round < 3 * SETTLE_ROUNDS; ++round) {
        const double step = 1e-5;
        double normal[3], slope[3];
        double off = jnaFigureGradient(p, normal);
        for (int i = 0; i < 3; ++i) {
            p[i] -= rim && i == 0 ? 0 : off * normal[i];
        }
        double g = jnaFigureBorder(p);
        for (int i = 0; i < 3; ++i) {
            double q[3] = {p[0], p[1], p[2]};
            q[i] += step;
            slope[i] = rim && i == 0 ? 0 : (jnaFigureBorder(q) - g) / step;
        }
        // Only the part along the surface, or the two steps would fight.
        double along = jnaDot(slope, normal);
        for (int i = 0; i < 3; ++i) {
            slope[i] -= rim && i == 0 ? 0 : along * normal[i];
        }
        double square = jnaDot(slope, slope);
        for (int i = 0; i < 3 && square > 1e-6; ++i) {
            p[i] -= g * slope[i] / square;
        }
    }
}

// A border vertex goes towards the middle of its two neighbours on the line.
static void SlideAlongBorder(const HalfMesh* half, const Neighbors* neighbors, int v, double out[3])
{
    const double* p = half->positions + 3 * (size_t)v;
    double middle[3] = {0, 0, 0};
    int count = 0;
    for (int i = neighbors->start[v]; i < neighbors->start[v + 1]; ++i) {
        const double* q = half->positions + 3 * (size_t)neighbors->list[i];
        for (int k = 0; k < 3 && half->bordered[neighbors->list[i]]; ++k) {
            middle[k] += 0.5 * q[k];
        }
        count += half->bordered[neighbors->list[i]];
    }
    bool slides = count == 2 && p[0] != 0;
    for (int i = 0; i < 3; ++i) {
        out[i] = p[i] + (slides ? SLIDE * (middle[i] - p[i]) : 0);
    }
    MoveToBorder(out);
}

// Where a vertex goes: along the tangent plane towards its neighbours' middle, then onto the surface.
static void SlideVertex(const HalfMesh* half, const Neighbors* neighbors, int v, double out[3])
{
    const double* p = half->positions + 3 * (size_t)v;
    if (half->bordered[v]) {
        SlideAlongBorder(half, neighbors, v, out);
        return;
    }
    bool rim = p[0] == 0;
    double middle[3] = {0, 0, 0}, weight = 0;
    for (int i = neighbors->start[v]; i < neighbors->start[v + 1]; ++i) {
        const double* q = half->positions + 3 * (size_t)neighbors->list[i];
        double w = rim && q[0] != 0 ? 2 : 1;
        middle[0] += rim ? 0 : w * q[0];
        middle[1] += w * q[1];
        middle[2] += w * q[2];
        weight += w;
    }
    double normal[3];
    double off = jnaFigureGradient(p, normal);
    double move[3] = {middle[0] / weight - p[0], middle[1] / weight - p[1], middle[2] / weight - p[2]};
    double along = jnaDot(move, normal);
    for (int i = 0; i < 3; ++i) {
        out[i] = p[i] + SLIDE * (move[i] - along * normal[i]) - off * normal[i];
    }
    // A vertex beside the rim must not slip through it.
    out[0] = rim ? 0 : out[0] < 0.002 ? 0.002 : out[0];
}

static jnResult SlideVertices(HalfMesh* half, int rounds, jnError* error)
{
    Neighbors neighbors = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    double* moved = jnaArena_Take(&arena, half->vertexCount, 3 * sizeof(double));
    JN_TRY(
        jnaCreateFigureNeighbors(half->vertexCount, half->triangles, half->triangleCount, &arena, &neighbors, error));
    for (int round = 0; round < rounds; ++round) {
#pragma omp parallel for schedule(static)
        for (int v = 0; v < half->vertexCount; ++v) {
            SlideVertex(half, &neighbors, v, moved + 3 * (size_t)v);
        }
        memcpy(half->positions, moved, sizeof(double) * 3 * (size_t)half->vertexCount);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// Brings every vertex onto the surface without sliding it along.
static void Settle(HalfMesh* half)
{
#pragma omp parallel for schedule(static)
    for (int v = 0; v < half->vertexCount; ++v) {
        double* p = half->positions + 3 * (size_t)v;
        for (int step = 0; step < SETTLE_ROUNDS; ++step) {
            double normal[3];
            double off = jnaFigureGradient(p, normal);
            for (int i = p[0] == 0; i < 3 && !half->bordered[v]; ++i) {
                p[i] -= off * normal[i];
            }
        }
    }
}

// Every edge that crosses the border line gives it the nearer of its ends, after which no edge crosses it any
// more.
static jnResult SnapToBorder(HalfMesh* half, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Edge* edges = SortEdges(half->vertexCount, half->triangles, half->triangleCount, &arena);
    JN_TRY(jnaArena_Check(&arena, "the figure's edges", error));
    for (int e = 0; e < 3 * half->triangleCount; ++e) {
        double f = jnaFigureBorder(half->positions + 3 * edges[e].a),
               g = jnaFigureBorder(half->positions + 3 * edges[e].b);
        // Far from the line the function is only a sign.
        if ((f < 0) != (g < 0) && f < 0.5 && g < 0.5) {
            half->bordered[f * f < g * g ? edges[e].a : edges[e].b] = true;
        }
    }
    for (int v = 0; v < half->vertexCount; ++v) {
        if (half->bordered[v]) {
            MoveToBorder(half->positions + 3 * (size_t)v);
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaRelaxHalf(HalfMesh* half, jnError* error)
{
    jnResult result = jn_ok;
    JN_TRY(SlideVertices(half, 2, error));
    for (int round = 0; round < ROUNDS; ++round) {
        JN_TRY(FlipEdges(half, false, error));
        JN_TRY(SlideVertices(half, 1, error));
    }
    JN_TRY(SnapToBorder(half, error));
    for (int pass = 0; pass < DELAUNAY_PASSES; ++pass) {
        JN_TRY(FlipEdges(half, true, error));
        JN_TRY(SlideVertices(half, 1, error));
    }
    Settle(half);
done:
    return result;
}
