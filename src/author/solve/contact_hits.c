// Which nodes of the boundary are in which foreign tetrahedra.
//
// Leaves of boundary nodes are held against the tree of tetrahedra; leaves that are near at rest as a whole are passed
// over, which leaves little to do where nothing touches. The result is exactly that of trying every node with every
// tetrahedron. A flat or inverted tetrahedron holds nothing: where flesh is folded over, the point is covered by
// tetrahedra of both signs, and where there really is flesh (positive winding number) an upright one among them holds
// it.
#include "contact_internal.h"

#include "internal.h"

// Weights above this are inside: a node on a face between two tetrahedra must not be lost to rounding.
static const double weightTolerance = 1e-12;

enum { MAX_PATCH = 32 };

bool jnaContactShape_Weigh(
    const jnaContactShape* shape, const double* nodes, int32_t tetrahedron, const double point[3], double w[4])
{
    const int32_t* c = shape->volume->tetrahedra + 4 * (size_t)tetrahedron;
    const double *a = nodes + 3 * (size_t)c[0], *b = nodes + 3 * (size_t)c[1], *d = nodes + 3 * (size_t)c[2],
                 *e = nodes + 3 * (size_t)c[3];
    double whole = jnaVolume6(a, b, d, e);
    if (!(whole > shape->flatVolume)) {
        return false;
    }
    double least = -weightTolerance * whole, part = jnaVolume6(point, b, d, e);
    if (part < least) {
        return false;
    }
    w[0] = part / whole;
    w[1] = jnaVolume6(a, point, d, e) / whole;
    w[2] = jnaVolume6(a, b, point, e) / whole;
    w[3] = 1 - w[0] - w[1] - w[2];
    return w[1] >= -weightTolerance && w[2] >= -weightTolerance && w[3] >= -weightTolerance;
}

static bool Meet(const jnaBounds* a, const jnaBounds* b)
{
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] && b->low[1] <= a->high[1] &&
           a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static bool Holds(const jnaBounds* box, const double* p)
{
    return p[0] >= box->low[0] && p[0] <= box->high[0] && p[1] >= box->low[1] && p[1] <= box->high[1] &&
           p[2] >= box->low[2] && p[2] <= box->high[2];
}

static inline jnaBounds BoxOf(const double* nodes, const int32_t* c)
{
    jnaBounds box;
    for (int i = 0; i < 3; ++i) {
        double a = nodes[3 * (size_t)c[0] + (size_t)i], b = nodes[3 * (size_t)c[1] + (size_t)i],
               d = nodes[3 * (size_t)c[2] + (size_t)i], e = nodes[3 * (size_t)c[3] + (size_t)i];
        double low1 = a < b ? a : b, low2 = d < e ? d : e, high1 = a < b ? b : a, high2 = d < e ? e : d;
        box.low[i] = low1 < low2 ? low1 : low2;
        box.high[i] = high1 > high2 ? high1 : high2;
    }
    return box;
}

static bool AddHit(jnaContactFinder* f, const jnaContactHit* hit)
{
    if (!jnaReserve(&f->hits, &f->hitCapacity, f->hitCount + 1, sizeof(*f->hits))) {
        return false;
    }
    f->hits[f->hitCount++] = *hit;
    return true;
}

// Tries the nodes of a leaf with the tetrahedra of another.
static bool TryLeaves(jnaContactFinder* f, const double* nodes, const jnaBoxNode* patch, int32_t leaf)
{
    const jnaContactShape* s = f->shape;
    int32_t inside[MAX_PATCH];
    int count = 0;
    for (int32_t k = patch->firstPoint; k < patch->firstPoint + patch->pointCount; ++k) {
        int32_t node = s->nodeTree.points[k];
        if (Holds(&f->tetrahedronBounds[leaf], nodes + 3 * (size_t)node)) {
            inside[count++] = node;
        }
    }
    const jnaBoxNode* held = &s->tetrahedronTree.nodes[leaf];
    for (int32_t k = held->first; count > 0 && k < held->first + held->count; ++k) {
        jnaContactHit hit = {.tetrahedron = s->tetrahedronTree.order[k]};
        const int32_t* c = s->volume->tetrahedra + 4 * (size_t)hit.tetrahedron;
        jnaBounds box = BoxOf(nodes, c);
        for (int n = 0; n < count; ++n) {
            hit.node = inside[n];
            const double* p = nodes + 3 * (size_t)hit.node;
            if (Holds(&box, p) && c[0] != hit.node && c[1] != hit.node && c[2] != hit.node && c[3] != hit.node &&
                jnaContactShape_Weigh(s, nodes, hit.tetrahedron, p, hit.weights) &&
                jnaContactShape_IsForeign(s, hit.node, hit.tetrahedron, hit.weights) && !AddHit(f, &hit)) {
                return false;
            }
        }
    }
    return true;
}

static bool TryPatch(jnaContactFinder* f, const double* nodes, int32_t index)
{
    const jnaContactShape* s = f->shape;
    const jnaBoxNode* patch = &s->nodeTree.nodes[index];
    for (int32_t e = s->near.starts[index]; e < s->near.starts[index + 1]; ++e) {
        f->marks[s->near.entries[e]] = index;
    }
    int32_t stack[JNA_TREE_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t at = stack[--depth];
        int32_t left = s->tetrahedronTree.nodes[at].left;
        if (!Meet(&f->nodeBounds[index], &f->tetrahedronBounds[at])) {
            continue;
        }
        if (left >= 0) {
            stack[depth++] = left + 1;
            stack[depth++] = left;
        } else if (f->marks[at] != index && !TryLeaves(f, nodes, patch, at)) {
            return false;
        }
    }
    return true;
}

static int CompareHits(const void* a, const void* b)
{
    const jnaContactHit *x = a, *y = b;
    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    return x->tetrahedron < y->tetrahedron ? -1 : x->tetrahedron > y->tetrahedron;
}

jnResult jnaContactFinder_Hits(jnaContactFinder* f, const double* nodes, jnError* error)
{
    const jnaContactShape* s = f->shape;
    jnaBoxTree_Fit(&s->tetrahedronTree, nodes, f->tetrahedronBounds);
    jnaBoxTree_Fit(&s->nodeTree, nodes, f->nodeBounds);
    memset(f->marks, 0xff, (size_t)s->tetrahedronTree.nodeCount * sizeof(*f->marks));
    f->hitCount = 0;
    for (int32_t index = 0; index < s->nodeTree.nodeCount; ++index) {
        JN_ASSERT(s->nodeTree.nodes[index].left >= 0 || s->nodeTree.nodes[index].count <= MAX_PATCH);
        if (s->nodeTree.nodes[index].left < 0 && !TryPatch(f, nodes, index)) {
            return jnFail(error, jn_outOfMemory, "out of memory for %d contacts", f->hitCount);
        }
    }
    qsort(f->hits, (size_t)f->hitCount, sizeof(*f->hits), CompareHits);
    return jn_ok;
}
