// Undoing small crossings of a surface by moving its vertices as little as needed.
//
// Where an edge pierces a triangle, the nearer of its ends is brought back over the triangle's plane, plus a margin.
// The way is shared between that end and the triangle's corners as least squares wants it: with w the weights of the
// piercing point in the triangle, the end moves by d n / (1 + w.w) and corner k by -d w_k n / (1 + w.w). Repeated until
// no pair crosses; a surface that needs more passes or larger moves than a small crossing would is left as it was.
#include "volume/mesh_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

enum { MAX_PASSES = 200, MAX_PAIRS = 2000 };

// Of the mean edge of the two triangles, beyond the plane: room for tetrahedra between the two.
#define MARGIN_SHARE 0.05

// Of the surface's extent: what counts as a small move.
#define GREATEST_SHARE 0.01

// Barycentric weights of the point where a line through p and q meets the triangle's plane.
static void PiercePoint(const double* p, const double* q, const double* const t[3], double dp, double dq, double w[3])
{
    double x[3], n[3], part[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = p[i] + (q[i] - p[i]) * dp / (dp - dq);
    }
    jnaAreaVector(t[0], t[1], t[2], n);
    for (int k = 0; k < 3; ++k) {
        jnaAreaVector(x, t[(k + 1) % 3], t[(k + 2) % 3], part);
        w[k] = fmin(1, fmax(0, jnaDot(part, n) / jnaDot(n, n)));
    }
}

// One edge against one triangle; adds the moves that part them. Exact signs decided that the pair crosses; here
// rounding is harmless.
static bool PartEdge(const double* positions, int32_t ip, int32_t iq, const int32_t triangle[3], double margin,
    double* moves, int32_t* counts)
{
    const double *p = positions + 3 * ip, *q = positions + 3 * iq, *t[3];
    for (int k = 0; k < 3; ++k) {
        t[k] = positions + 3 * triangle[k];
        if (triangle[k] == ip || triangle[k] == iq) {
            return false;
        }
    }
    double n[3], w[3];
    jnaAreaVector(t[0], t[1], t[2], n);
    double length = jnaLength(n);
    if (!(length > 0)) {
        return false;
    }
    double sp = jnaVolume6(t[0], t[1], t[2], p), sq = jnaVolume6(t[0], t[1], t[2], q);
    double s1 = jnaVolume6(p, q, t[0], t[1]), s2 = jnaVolume6(p, q, t[1], t[2]), s3 = jnaVolume6(p, q, t[2], t[0]);
    bool meets =
        sp * sq <= 0 && fabs(sp - sq) > 0 && ((s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0));
    if (!meets) {
        return false;
    }
    PiercePoint(p, q, t, sp, sq, w);
    bool first = fabs(sp) < fabs(sq);
    double depth = (first ? sp : sq) / length, wanted = (first ? sq : sp) > 0 ? margin : -margin;
    double way = (wanted - depth) / (1 + w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    int32_t end = first ? ip : iq;
    for (int i = 0; i < 3; ++i) {
        moves[3 * end + i] += way * n[i] / length;
        for (int k = 0; k < 3; ++k) {
            moves[3 * triangle[k] + i] -= way * w[k] * n[i] / length;
        }
    }
    counts[end]++;
    for (int k = 0; k < 3; ++k) {
        counts[triangle[k]]++;
    }
    return true;
}

static double MeanEdge(const double* positions, const int32_t* a, const int32_t* b)
{
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        sum += jnaDistance(positions + 3 * a[k], positions + 3 * a[(k + 1) % 3]);
        sum += jnaDistance(positions + 3 * b[k], positions + 3 * b[(k + 1) % 3]);
    }
    return sum / 6;
}

// Triangles folded onto each other or touching flat: each is eased toward the middle of its neighbours.
static void PartFlat(
    const double* positions, const int32_t* a, const int32_t* b, double margin, double* moves, int32_t* counts)
{
    double na[3], nb[3];
    jnaAreaVector(positions + 3 * a[0], positions + 3 * a[1], positions + 3 * a[2], na);
    jnaAreaVector(positions + 3 * b[0], positions + 3 * b[1], positions + 3 * b[2], nb);
    double la = jnaLength(na) + 1e-300, lb = jnaLength(nb) + 1e-300;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            moves[3 * a[k] + i] -= 0.5 * margin * na[i] / la;
            moves[3 * b[k] + i] -= 0.5 * margin * nb[i] / lb;
        }
        counts[a[k]]++;
        counts[b[k]]++;
    }
}

static void PartPair(jnaSurface* surface, const int32_t pair[2], double* moves, int32_t* counts)
{
    const int32_t *a = surface->triangles + 3 * pair[0], *b = surface->triangles + 3 * pair[1];
    double margin = MARGIN_SHARE * MeanEdge(surface->positions, a, b);
    bool parted = false;
    for (int k = 0; k < 3; ++k) {
        parted |= PartEdge(surface->positions, a[k], a[(k + 1) % 3], b, margin, moves, counts);
        parted |= PartEdge(surface->positions, b[k], b[(k + 1) % 3], a, margin, moves, counts);
    }
    if (!parted) {
        PartFlat(surface->positions, a, b, margin, moves, counts);
    }
}

static bool OnePass(jnaSurface* surface, const jnaCrossings* crossings, const double* original, double limit,
    double* moves, int32_t* counts)
{
    memset(moves, 0, 3 * (size_t)surface->vertexCount * sizeof(*moves));
    memset(counts, 0, (size_t)surface->vertexCount * sizeof(*counts));
    for (int c = 0; c < crossings->count; ++c) {
        PartPair(surface, crossings->pairs[c], moves, counts);
    }
    for (int v = 0; v < surface->vertexCount; ++v) {
        double* p = surface->positions + 3 * v;
        for (int i = 0; i < 3 && counts[v] > 0; ++i) {
            // As float, like all coordinates: jnaOrient depends on it.
            p[i] = jnaRoundToFloat(p[i] + moves[3 * v + i] / counts[v]);
        }
        if (counts[v] > 0 && jnaDistance(p, original + 3 * v) > limit) {
            return false;
        }
    }
    return true;
}

static double Extent(const jnaSurface* surface)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, extent = 0;
    for (int v = 0; v < surface->vertexCount; ++v) {
        for (int i = 0; i < 3; ++i) {
            low[i] = fmin(low[i], surface->positions[3 * v + i]);
            high[i] = fmax(high[i], surface->positions[3 * v + i]);
            extent = fmax(extent, high[i] - low[i]);
        }
    }
    return extent;
}

static jnResult FindAgain(const jnaSurface* surface, jnaCrossings* crossings, jnError* error)
{
    jnaTree tree;
    jnaDestroyCrossings(crossings);
    jnResult result = jnaCreateTree(surface->positions, surface->triangleCount, surface->triangles, &tree, error);
    if (result == jn_ok) {
        result = jnaFindCrossings(&tree, surface->triangleCount, crossings, error);
        jnaDestroyTree(&tree);
    }
    return result;
}

// The report's volume is that of what is meshed, so it follows the moves.
static void CountMoves(const jnaSurface* surface, const double* original, jnaSurfaceReport* report)
{
    for (int v = 0; v < surface->vertexCount; ++v) {
        double way = jnaDistance(surface->positions + 3 * v, original + 3 * v);
        report->movedCount += way > 0;
        report->greatestMove = fmax(report->greatestMove, way);
    }
    double before = 0, after = 0;
    for (int t = 0; t < surface->triangleCount && report->movedCount > 0; ++t) {
        const int32_t* c = surface->triangles + 3 * t;
        const double* p = surface->positions;
        before += jnaVolume6(original, original + 3 * c[0], original + 3 * c[1], original + 3 * c[2]);
        after += jnaVolume6(p, p + 3 * c[0], p + 3 * c[1], p + 3 * c[2]);
    }
    report->volume += (after - before) / 6;
}

jnResult jnaRepairCrossings(jnaSurface* surface, bool* repaired, jnError* error)
{
    size_t bytes = 3 * (size_t)surface->vertexCount * sizeof(double);
    double limit = GREATEST_SHARE * Extent(surface);
    jnaCrossings crossings = {0};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* original = jnaArena_Take(&arena, surface->vertexCount, 3 * sizeof(*original));
    double* moves = jnaArena_Take(&arena, surface->vertexCount, 3 * sizeof(*moves));
    int32_t* counts = jnaArena_Take(&arena, surface->vertexCount, sizeof(*counts));
    *repaired = false;
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    memcpy(original, surface->positions, bytes);
    result = FindAgain(surface, &crossings, error);
    surface->report.crossingCount = crossings.count;
    for (int c = 0; c < crossings.count && c < 8; ++c) {
        memcpy(surface->report.crossings[c], crossings.pairs[c], sizeof(crossings.pairs[c]));
    }
    bool possible = crossings.count <= MAX_PAIRS;
    for (int pass = 0; result == jn_ok && possible && crossings.count > 0 && pass < MAX_PASSES; ++pass) {
        possible = OnePass(surface, &crossings, original, limit, moves, counts);
        result = FindAgain(surface, &crossings, error);
        possible = possible && crossings.count <= MAX_PAIRS;
    }
    *repaired = result == jn_ok && possible && crossings.count == 0;
    if (*repaired) {
        CountMoves(surface, original, &surface->report);
    } else {
        memcpy(surface->positions, original, bytes);
    }
done:
    jnaReleaseArena(&arena);
    jnaDestroyCrossings(&crossings);
    return result;
}
