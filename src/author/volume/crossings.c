// Pairs of triangles of a surface that cross.
//
// Two triangles cross where an edge of one meets the other; every decision is an exact sign (jnaOrient), so touching
// counts, as it does for TetGen. Neighbours share a vertex or an edge by right: of the first kind only the edges that
// do not end in the shared vertex are tested, of the second only whether one folds back onto the other.
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

// Sign of the turn a, b, c in the plane without `axis`. A point lifted off that plane makes it an orientation in space.
static int Turn(const double* a, const double* b, const double* c, int axis)
{
    double lifted[3] = {a[0], a[1], a[2]}, p[3], q[3];
    memcpy(p, b, sizeof(p));
    memcpy(q, c, sizeof(q));
    p[axis] = q[axis] = a[axis];
    lifted[axis] += 1;
    return jnaOrient(a, p, q, lifted);
}

static int Between(const double* a, const double* b, const double* p, int axis)
{
    for (int i = 0; i < 3; ++i) {
        if (i != axis && (p[i] < fmin(a[i], b[i]) || p[i] > fmax(a[i], b[i]))) {
            return 0;
        }
    }
    return 1;
}

// Closed segments in a plane.
static bool SegmentsMeet(const double* a, const double* b, const double* c, const double* d, int axis)
{
    int s1 = Turn(a, b, c, axis), s2 = Turn(a, b, d, axis), s3 = Turn(c, d, a, axis), s4 = Turn(c, d, b, axis);
    if (s1 * s2 < 0 && s3 * s4 < 0) {
        return true;
    }
    return (s1 == 0 && Between(a, b, c, axis)) || (s2 == 0 && Between(a, b, d, axis)) ||
           (s3 == 0 && Between(c, d, a, axis)) || (s4 == 0 && Between(c, d, b, axis));
}

static bool PointInTriangle(const double* p, const double* const t[3], int axis)
{
    int s1 = Turn(t[0], t[1], p, axis), s2 = Turn(t[1], t[2], p, axis), s3 = Turn(t[2], t[0], p, axis);
    return (s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0);
}

static int DropAxis(const double* const t[3])
{
    double n[3];
    jnaAreaVector(t[0], t[1], t[2], n);
    int axis = fabs(n[1]) > fabs(n[0]) ? 1 : 0;
    return fabs(n[2]) > fabs(n[axis]) ? 2 : axis;
}

// A segment in the plane of a triangle.
static bool FlatSegmentMeets(const double* p, const double* q, const double* const t[3])
{
    int axis = DropAxis(t);
    if (PointInTriangle(p, t, axis) || PointInTriangle(q, t, axis)) {
        return true;
    }
    return SegmentsMeet(p, q, t[0], t[1], axis) || SegmentsMeet(p, q, t[1], t[2], axis) ||
           SegmentsMeet(p, q, t[2], t[0], axis);
}

static bool SegmentMeets(const double* p, const double* q, const double* const t[3])
{
    int sp = jnaOrient(t[0], t[1], t[2], p), sq = jnaOrient(t[0], t[1], t[2], q);
    if (sp * sq > 0) {
        return false;
    }
    if (sp == 0 && sq == 0) {
        return FlatSegmentMeets(p, q, t);
    }
    int s1 = jnaOrient(p, q, t[0], t[1]), s2 = jnaOrient(p, q, t[1], t[2]), s3 = jnaOrient(p, q, t[2], t[0]);
    return (s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0);
}

// Two triangles on a common edge cross only where they are folded flat onto each other.
static bool FoldedOver(
    const double* const a[3], const double* edgeA, const double* edgeB, const double* tipA, const double* tipB)
{
    if (jnaOrient(edgeA, edgeB, tipA, tipB) != 0) {
        return false;
    }
    int axis = DropAxis(a);
    return Turn(edgeA, edgeB, tipA, axis) * Turn(edgeA, edgeB, tipB, axis) > 0;
}

// Triangles with one common vertex, corner ka of a and kb of b.
static bool CrossAtVertex(const double* const a[3], int ka, const double* const b[3], int kb)
{
    const double *a1 = a[(ka + 1) % 3], *a2 = a[(ka + 2) % 3], *b1 = b[(kb + 1) % 3], *b2 = b[(kb + 2) % 3];
    return SegmentMeets(a1, a2, b) || SegmentMeets(b1, b2, a);
}

bool jnaTrianglesCross(const double* positions, const int32_t ia[3], const int32_t ib[3])
{
    const double *a[3], *b[3];
    int shared = 0, cornerA[3] = {0}, cornerB[3] = {0};
    for (int i = 0; i < 3; ++i) {
        a[i] = positions + 3 * (size_t)ia[i];
        b[i] = positions + 3 * (size_t)ib[i];
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if (ia[i] == ib[j]) {
                cornerA[shared] = i;
                cornerB[shared++] = j;
            }
        }
    }
    if (shared == 3) {
        return true;
    }
    if (shared == 2) {
        return FoldedOver(
            a, a[cornerA[0]], a[cornerA[1]], a[3 - cornerA[0] - cornerA[1]], b[3 - cornerB[0] - cornerB[1]]);
    }
    if (shared == 1) {
        return CrossAtVertex(a, cornerA[0], b, cornerB[0]);
    }
    for (int i = 0; i < 3; ++i) {
        if (SegmentMeets(a[i], a[(i + 1) % 3], b) || SegmentMeets(b[i], b[(i + 1) % 3], a)) {
            return true;
        }
    }
    return false;
}

typedef struct Search {
    const jnaTree* tree;
    jnaCrossings* crossings;
    int32_t triangle;
    bool outOfMemory;
} Search;

static bool TestPair(int32_t other, void* user)
{
    Search* search = user;
    const int32_t* triangles = search->tree->triangles;
    if (other <= search->triangle || !jnaTrianglesCross(search->tree->positions,
                                         triangles + 3 * (size_t)search->triangle, triangles + 3 * (size_t)other)) {
        return true;
    }
    jnaCrossings* list = search->crossings;
    if (!jnaReserve(&list->pairs, &list->capacity, list->count + 1, sizeof(*list->pairs))) {
        search->outOfMemory = true;
        return false;
    }
    list->pairs[list->count][0] = search->triangle;
    list->pairs[list->count++][1] = other;
    return true;
}

static int ComparePairs(const void* left, const void* right)
{
    const int32_t *a = left, *b = right;
    return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : a[1] < b[1] ? -1 : a[1] > b[1];
}

jnResult jnaFindCrossings(const jnaTree* tree, int triangleCount, jnaCrossings* crossings, jnError* error)
{
    *crossings = (jnaCrossings){0};
    Search search = {tree, crossings, 0, false};
    for (; search.triangle < triangleCount && !search.outOfMemory; ++search.triangle) {
        double low[3], high[3];
        for (int i = 0; i < 3; ++i) {
            low[i] = HUGE_VAL;
            high[i] = -HUGE_VAL;
            for (int k = 0; k < 3; ++k) {
                double x = tree->positions[3 * tree->triangles[3 * search.triangle + k] + i];
                low[i] = fmin(low[i], x);
                high[i] = fmax(high[i], x);
            }
        }
        jnaTree_Visit(tree, low, high, TestPair, &search);
    }
    if (search.outOfMemory) {
        jnaDestroyCrossings(crossings);
        return jnFail(error, jn_outOfMemory, "out of memory for the crossings of a surface");
    }
    if (crossings->count > 0) {
        qsort(crossings->pairs, (size_t)crossings->count, sizeof(*crossings->pairs), ComparePairs);
    }
    return jn_ok;
}

void jnaDestroyCrossings(jnaCrossings* crossings)
{
    free(crossings->pairs);
    *crossings = (jnaCrossings){0};
}
