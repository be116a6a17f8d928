// Which nodes of the boundary are in which foreign tetrahedra.
//
// Leaves of boundary nodes are held against the tree of tetrahedra; leaves that are near at rest as a whole are passed
// over, which leaves little to do where nothing touches. The result is exactly that of trying every node with every
// tetrahedron. A flat or inverted tetrahedron holds nothing: where flesh is folded over, the point is covered by
// tetrahedra of both signs, and where there really is flesh (positive winding number) an upright one among them holds
// it.
#include "flesh/contact_internal.h"

#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

// Weights above this are inside: a node on a face between two tetrahedra must not be lost to rounding.
#define WEIGHT_TOLERANCE 1e-12

// Side of the grid, of the largest side at rest: limbs may reach out, and the middle need not be the middle.
#define GRID_SIDES 4.0

// Weights of a point in a tetrahedron; false outside, and in flat or inverted ones.
static bool Weigh(
    const jnaContactShape* shape, const double* nodes, int32_t tetrahedron, const double point[3], double w[4])
{
    const int32_t* c = shape->volume->tetrahedra + 4 * (size_t)tetrahedron;
    const double *a = nodes + 3 * (size_t)c[0], *b = nodes + 3 * (size_t)c[1], *d = nodes + 3 * (size_t)c[2],
                 *e = nodes + 3 * (size_t)c[3];
    double whole = jnaVolume6(a, b, d, e);
    if (!(whole > shape->flatVolume)) {
        return false;
    }
    double least = -WEIGHT_TOLERANCE * whole, part = jnaVolume6(point, b, d, e);
    if (part < least) {
        return false;
    }
    w[0] = part / whole;
    w[1] = jnaVolume6(a, point, d, e) / whole;
    w[2] = jnaVolume6(a, b, point, e) / whole;
    w[3] = 1 - w[0] - w[1] - w[2];
    return w[1] >= -WEIGHT_TOLERANCE && w[2] >= -WEIGHT_TOLERANCE && w[3] >= -WEIGHT_TOLERANCE;
}

static int CompareNumbers(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

// Puts the nodes on a grid around the middle of them: the median of some, because one node that was flung away must not
// make the grid too coarse for all others. What is outside counts as on its border, which loses nothing.
static void FillCells(jnaContactFinder* f, const double* nodes)
{
    enum { SAMPLES = 63 };
    int count = f->shape->volume->nodeCount;
    f->scale = JNA_CELL_STEPS / (GRID_SIDES * f->shape->size);
    for (int i = 0; i < 3; ++i) {
        double samples[SAMPLES];
        for (int k = 0; k < SAMPLES; ++k) {
            samples[k] = nodes[3 * ((size_t)k * (size_t)count / SAMPLES) + (size_t)i];
        }
        qsort(samples, SAMPLES, sizeof(double), CompareNumbers);
        f->origin[i] = samples[SAMPLES / 2] - 0.5 * GRID_SIDES * f->shape->size;
    }
    for (int n = 0; n < count; ++n) {
        f->cells[n] = jnaCellOf(nodes + 3 * (size_t)n, f->origin, f->scale);
    }
}

// Writes the boxes of a leaf's tetrahedra, unless this call did already.
static void FillBoxes(jnaContactFinder* f, int32_t leaf)
{
    const jnaBoxNode* held = &f->shape->tetrahedronTree.nodes[leaf];
    if (f->filled[leaf] == f->call) {
        return;
    }
    f->filled[leaf] = f->call;
    for (int32_t k = held->first; k < held->first + held->count; ++k) {
        const int32_t* c = f->shape->leafTetrahedra + 4 * (size_t)k;
        jnaCellBox box = {f->cells[c[0]], f->cells[c[0]]};
        for (int i = 1; i < 4; ++i) {
            jnaCellBox_Add(&box, f->cells[c[i]], f->cells[c[i]]);
        }
        f->boxes[k] = box;
    }
}

static bool AddHit(jnaContactFinder* f, const jnaContactHit* hit)
{
    if (!jnaReserve(&f->hits, &f->hitCapacity, f->hitCount + 1, sizeof(*f->hits))) {
        return false;
    }
    f->hits[f->hitCount++] = *hit;
    return true;
}

// Tries a node with the tetrahedra of a leaf.
static bool TryLeaf(jnaContactFinder* f, const double* nodes, int32_t node, const jnaBoxNode* leaf)
{
    const jnaContactShape* s = f->shape;
    jnaCellBox at = {f->cells[node], f->cells[node]};
    for (int32_t k = leaf->first; k < leaf->first + leaf->count; ++k) {
        if (!jnaCellBox_Meet(f->boxes[k], at)) {
            continue;
        }
        const int32_t* c = s->leafTetrahedra + 4 * (size_t)k;
        jnaContactHit hit = {.node = node, .tetrahedron = s->tetrahedronTree.order[k]};
        if (c[0] != node && c[1] != node && c[2] != node && c[3] != node &&
            Weigh(s, nodes, hit.tetrahedron, nodes + 3 * (size_t)node, hit.weights) &&
            jnaContactShape_IsForeign(s, node, hit.tetrahedron, hit.weights) && !AddHit(f, &hit)) {
            return false;
        }
    }
    return true;
}

// Tries the nodes of a patch, a leaf of nodeTree, with all tetrahedra.
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
        const jnaBoxNode* node = &s->tetrahedronTree.nodes[at];
        if (node->left >= 0) {
            // Without branches, which would be guessed wrong as often as not.
            stack[depth] = node->left + 1;
            depth += jnaCellBox_Meet(f->patches[index], f->leaves[node->left + 1]);
            stack[depth] = node->left;
            depth += jnaCellBox_Meet(f->patches[index], f->leaves[node->left]);
            continue;
        }
        for (int32_t n = patch->firstPoint; f->marks[at] != index && n < patch->firstPoint + patch->pointCount; ++n) {
            int32_t point = s->nodeTree.points[n];
            if (jnaCellBox_Meet(f->leaves[at], (jnaCellBox){f->cells[point], f->cells[point]})) {
                FillBoxes(f, at);
                if (!TryLeaf(f, nodes, point, node)) {
                    return false;
                }
            }
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
    FillCells(f, nodes);
    jnaBoxTree_FitCells(&s->tetrahedronTree, f->cells, f->leaves);
    jnaBoxTree_FitCells(&s->nodeTree, f->cells, f->patches);
    memset(f->marks, 0xff, (size_t)s->tetrahedronTree.nodeCount * sizeof(*f->marks));
    f->hitCount = 0;
    f->call = f->call == INT32_MAX ? 1 : f->call + 1;
    for (int32_t index = 0; index < s->nodeTree.nodeCount; ++index) {
        if (s->nodeTree.nodes[index].left < 0 && !TryPatch(f, nodes, index)) {
            return jnFail(error, jn_outOfMemory, "out of memory for %d contacts", f->hitCount);
        }
    }
    qsort(f->hits, (size_t)f->hitCount, sizeof(*f->hits), CompareHits);
    return jn_ok;
}
