// Which flesh is near at rest, and therefore no contact: closer than restDistance to the node and connected with it
// within 1.5 times that. Flesh as close, but across a gap, is foreign.
//
// Only the exceptions are stored: per boundary node the nodes in its ball that its own flesh does not reach. Besides,
// per leaf of boundary nodes, the leaves of tetrahedra that are near it as a whole: a search need not look into them,
// and a skin at rest or hardly bent meets no others.
#include "flesh/contact_internal.h"

#include "volume/mesh_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

// Of restDistance: how far a path may stray from the node and still connect.
#define CONNECTION_RATIO 1.5

// Of restDistance: a way out does not end closer than this to the node itself. Less than 1, because foreign flesh that
// begins just beyond restDistance has its surface partly within.
#define OWN_SHARE 0.5

/// A list that grows, and what a search over the mesh needs.
typedef struct Search {
    jnaContactShape* shape;
    jnaRows links;          // per node of the mesh: its neighbours
    jnaBoxTree tree;        // over all nodes
    jnaBounds* bounds;      // of it
    int32_t* identity;      // [nodes], its items
    int32_t *marks, *queue; // [nodes]
    int32_t* ball;          // [nodes], those closer than restDistance
    int ballCount;
    int count, capacity;
    int32_t* list;
    jnaArena arena; // of what does not grow
} Search;

void jnaDestroyRows(jnaRows* rows)
{
    free(rows->starts);
    free(rows->entries);
    *rows = (jnaRows){0};
}

static double Squared(const double* a, const double* b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

static bool Contains(const jnaRows* rows, int32_t row, int32_t entry)
{
    int32_t low = rows->starts[row], high = rows->starts[row + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (rows->entries[middle] < entry) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rows->starts[row + 1] && rows->entries[low] == entry;
}

static bool WithinRest(const jnaContactShape* s, int32_t node, const double* point)
{
    return Squared(s->volume->nodes + 3 * (size_t)node, point) < s->restDistance * s->restDistance;
}

bool jnaContactShape_IsOwn(const jnaContactShape* s, int32_t boundaryNode, int32_t node)
{
    double limit = OWN_SHARE * s->restDistance;
    const double* nodes = s->volume->nodes;
    return Squared(nodes + 3 * (size_t)boundaryNode, nodes + 3 * (size_t)node) < limit * limit &&
           !Contains(&s->foreign, s->places[boundaryNode], node);
}

// Far, or with corners in the ball that are all across a gap. A large tetrahedron without any corner there is near.
bool jnaContactShape_IsForeign(const jnaContactShape* s, int32_t boundaryNode, int32_t tetrahedron, const double w[4])
{
    const int32_t* c = s->volume->tetrahedra + 4 * (size_t)tetrahedron;
    double rest[3] = {0};
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 3; ++i) {
            rest[i] += w[k] * s->volume->nodes[3 * (size_t)c[k] + (size_t)i];
        }
    }
    if (!WithinRest(s, boundaryNode, rest)) {
        return true;
    }
    bool across = false;
    for (int k = 0; k < 4; ++k) {
        if (WithinRest(s, boundaryNode, s->volume->nodes + 3 * (size_t)c[k])) {
            if (!Contains(&s->foreign, s->places[boundaryNode], c[k])) {
                return false;
            }
            across = true;
        }
    }
    return across;
}

static bool Append(Search* s, int32_t entry)
{
    if (!jnaReserve(&s->list, &s->capacity, s->count + 1, sizeof(*s->list))) {
        return false;
    }
    s->list[s->count++] = entry;
    return true;
}

// Takes what was appended as a row's entries.
static bool CloseRows(Search* s, jnaRows* rows)
{
    rows->entries = jnaAllocate(s->count, sizeof(*rows->entries));
    if (rows->entries != NULL && s->count > 0) {
        memcpy(rows->entries, s->list, (size_t)s->count * sizeof(*rows->entries));
    }
    s->count = 0;
    return rows->entries != NULL;
}

// Neighbours along edges.
static bool LinkNodes(Search* s)
{
    const jnaVolume* v = s->shape->volume;
    jnaRows of = {jnaArena_Take(&s->arena, (int64_t)v->nodeCount + 2, sizeof(int32_t)),
        jnaArena_Take(&s->arena, 4 * (int64_t)v->tetrahedronCount, sizeof(int32_t))};
    s->links.starts = jnaArena_Give(&s->arena, (int64_t)v->nodeCount + 1, sizeof(int32_t));
    if (s->arena.failed) {
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < 4 * (size_t)v->tetrahedronCount; ++i) {
        of.starts[v->tetrahedra[i] + 2]++;
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        of.starts[n + 2] += of.starts[n + 1];
    }
    for (size_t i = 0; i < 4 * (size_t)v->tetrahedronCount; ++i) {
        of.entries[of.starts[v->tetrahedra[i] + 1]++] = (int32_t)(i / 4);
    }
    memset(s->marks, 0xff, (size_t)v->nodeCount * sizeof(*s->marks));
    for (int n = 0; good && n < v->nodeCount; ++n) {
        s->links.starts[n] = s->count;
        s->marks[n] = n;
        for (int32_t e = of.starts[n]; good && e < of.starts[n + 1]; ++e) {
            for (int k = 0; good && k < 4; ++k) {
                int32_t other = v->tetrahedra[4 * (size_t)of.entries[e] + (size_t)k];
                if (s->marks[other] != n) {
                    s->marks[other] = n;
                    good = Append(s, other);
                }
            }
        }
    }
    if (good) {
        s->links.starts[v->nodeCount] = s->count;
        good = CloseRows(s, &s->links);
    }
    return good;
}

static double BoxDistance2(const jnaBounds* box, const double* p)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        double away = fmax(0, fmax(box->low[i] - p[i], p[i] - box->high[i]));
        sum += away * away;
    }
    return sum;
}

static void FillBall(Search* s, const double* center)
{
    int32_t stack[JNA_TREE_STACK];
    int depth = 0;
    stack[depth++] = 0;
    s->ballCount = 0;
    double limit = s->shape->restDistance * s->shape->restDistance;
    while (depth > 0) {
        int32_t index = stack[--depth];
        const jnaBoxNode* node = &s->tree.nodes[index];
        if (BoxDistance2(&s->bounds[index], center) >= limit) {
            continue;
        }
        if (node->left >= 0) {
            stack[depth++] = node->left + 1;
            stack[depth++] = node->left;
            continue;
        }
        for (int32_t k = node->firstPoint; k < node->firstPoint + node->pointCount; ++k) {
            int32_t point = s->tree.points[k];
            if (Squared(s->shape->volume->nodes + 3 * (size_t)point, center) < limit) {
                s->ball[s->ballCount++] = point;
            }
        }
    }
}

// Marks what is connected with a node; stops when the whole ball is.
static int Flood(Search* s, int32_t from)
{
    const double *nodes = s->shape->volume->nodes, *center = nodes + 3 * (size_t)from;
    double inner = s->shape->restDistance * s->shape->restDistance, outer = inner * CONNECTION_RATIO * CONNECTION_RATIO;
    int first = 0, last = 0, reached = 1;
    s->marks[from] = from;
    s->queue[last++] = from;
    while (first < last && reached < s->ballCount) {
        int32_t node = s->queue[first++];
        for (int32_t e = s->links.starts[node]; e < s->links.starts[node + 1]; ++e) {
            int32_t other = s->links.entries[e];
            double away = s->marks[other] == from ? HUGE_VAL : Squared(nodes + 3 * (size_t)other, center);
            if (away < outer) {
                s->marks[other] = from;
                s->queue[last++] = other;
                reached += away < inner;
            }
        }
    }
    return reached;
}

static int CompareIntegers(const void* a, const void* b)
{
    int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return x < y ? -1 : x > y;
}

static bool FindForeign(Search* s, bool gaps)
{
    jnaContactShape* shape = s->shape;
    shape->foreign.starts = jnaAllocate((int64_t)shape->nodeCount + 1, sizeof(int32_t));
    bool good = shape->foreign.starts != NULL;
    memset(s->marks, 0xff, (size_t)shape->volume->nodeCount * sizeof(*s->marks));
    for (int n = 0; good && n < shape->nodeCount; ++n) {
        int32_t node = shape->nodes[n];
        shape->foreign.starts[n] = s->count;
        if (!gaps) {
            continue;
        }
        FillBall(s, shape->volume->nodes + 3 * (size_t)node);
        if (Flood(s, node) == s->ballCount) {
            continue;
        }
        int before = s->count;
        for (int k = 0; good && k < s->ballCount; ++k) {
            good = s->marks[s->ball[k]] == node || Append(s, s->ball[k]);
        }
        if (good) {
            qsort(s->list + before, (size_t)(s->count - before), sizeof(*s->list), CompareIntegers);
        }
    }
    if (good) {
        shape->foreign.starts[shape->nodeCount] = s->count;
        good = CloseRows(s, &shape->foreign);
    }
    return good;
}

// Whether all nodes of two leaves are closer than restDistance, and none of the second's is marked as foreign.
static bool AllNear(const Search* s, const jnaBoxNode* patch, const jnaBoxNode* leaf, int32_t mark)
{
    const jnaContactShape* shape = s->shape;
    for (int32_t k = leaf->firstPoint; k < leaf->firstPoint + leaf->pointCount; ++k) {
        int32_t point = shape->tetrahedronTree.points[k];
        if (s->marks[point] == mark) {
            return false;
        }
        for (int32_t n = patch->firstPoint; n < patch->firstPoint + patch->pointCount; ++n) {
            if (!WithinRest(shape, shape->nodeTree.points[n], shape->volume->nodes + 3 * (size_t)point)) {
                return false;
            }
        }
    }
    return true;
}

static bool Apart(const jnaBounds* a, const jnaBounds* b, double reach)
{
    return a->low[0] > b->high[0] + reach || b->low[0] > a->high[0] + reach || a->low[1] > b->high[1] + reach ||
           b->low[1] > a->high[1] + reach || a->low[2] > b->high[2] + reach || b->low[2] > a->high[2] + reach;
}

// The leaves of tetrahedra that are near all nodes of a leaf of boundary nodes.
static bool ListNearLeaves(Search* s, const jnaBounds* leaves, const jnaBounds* patches, int32_t index)
{
    const jnaContactShape* shape = s->shape;
    const jnaBoxNode* patch = &shape->nodeTree.nodes[index];
    for (int32_t n = patch->firstPoint; n < patch->firstPoint + patch->pointCount; ++n) {
        int32_t place = shape->places[shape->nodeTree.points[n]];
        for (int32_t e = shape->foreign.starts[place]; e < shape->foreign.starts[place + 1]; ++e) {
            s->marks[shape->foreign.entries[e]] = index;
        }
    }
    int32_t stack[JNA_TREE_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t at = stack[--depth];
        const jnaBoxNode* node = &shape->tetrahedronTree.nodes[at];
        if (Apart(&patches[index], &leaves[at], shape->restDistance)) {
            continue;
        }
        if (node->left >= 0) {
            stack[depth++] = node->left + 1;
            stack[depth++] = node->left;
        } else if (AllNear(s, patch, node, index) && !Append(s, at)) {
            return false;
        }
    }
    return true;
}

static bool FindNearLeaves(Search* s)
{
    jnaContactShape* shape = s->shape;
    jnaBounds* leaves = jnaArena_Take(&s->arena, shape->tetrahedronTree.nodeCount, sizeof(*leaves));
    jnaBounds* patches = jnaArena_Take(&s->arena, shape->nodeTree.nodeCount, sizeof(*patches));
    shape->near.starts = jnaArena_Give(&s->arena, (int64_t)shape->nodeTree.nodeCount + 1, sizeof(int32_t));
    bool good = !s->arena.failed;
    if (good) {
        jnaBoxTree_Fit(&shape->tetrahedronTree, shape->volume->nodes, leaves);
        jnaBoxTree_Fit(&shape->nodeTree, shape->volume->nodes, patches);
        memset(s->marks, 0xff, (size_t)shape->volume->nodeCount * sizeof(*s->marks));
    }
    for (int32_t index = 0; good && index < shape->nodeTree.nodeCount; ++index) {
        shape->near.starts[index] = s->count;
        good = shape->nodeTree.nodes[index].left >= 0 || ListNearLeaves(s, leaves, patches, index);
    }
    if (good) {
        shape->near.starts[shape->nodeTree.nodeCount] = s->count;
        good = CloseRows(s, &shape->near);
    }
    return good;
}

jnResult jnaContactShape_FindNear(jnaContactShape* shape, bool gaps, jnError* error)
{
    enum { LEAF = 8 };
    int count = shape->volume->nodeCount;
    jnResult result = jn_ok;
    Search s = {.shape = shape};
    s.identity = jnaArena_Take(&s.arena, count, sizeof(int32_t));
    s.marks = jnaArena_Take(&s.arena, count, sizeof(int32_t));
    s.queue = jnaArena_Take(&s.arena, count, sizeof(int32_t));
    s.ball = jnaArena_Take(&s.arena, count, sizeof(int32_t));
    JN_TRY(jnaArena_Check(&s.arena, "contact", error));
    for (int n = 0; n < count; ++n) {
        s.identity[n] = n;
    }
    const jnaBoxItems nodes = {shape->volume->nodes, count, s.identity, count, 1};
    JN_TRY(jnaCreateBoxTree(&nodes, LEAF, &s.tree, error));
    s.bounds = jnaArena_Take(&s.arena, s.tree.nodeCount, sizeof(*s.bounds));
    JN_TRY(jnaArena_Check(&s.arena, "contact", error));
    jnaBoxTree_Fit(&s.tree, shape->volume->nodes, s.bounds);
    s.arena.failed = !(LinkNodes(&s) && FindForeign(&s, gaps) && FindNearLeaves(&s));
    JN_TRY(jnaArena_Check(&s.arena, "contact", error));
done:
    jnaDestroyRows(&s.links);
    jnaDestroyBoxTree(&s.tree);
    jnaReleaseArena(&s.arena);
    free(s.list);
    return result;
}
