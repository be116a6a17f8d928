// A balanced tree of boxes whose shape is made once, at rest, and whose boxes follow the deformation.
//
// Halves by the median of the centroids along the longest side of their box. Leaves list the mesh nodes that span their
// items, each once: 32 tetrahedra have about 25 instead of 128, so fitting all boxes reads a fraction of what a pass
// over the tetrahedra does.
#include "flesh/contact_internal.h"

#include "volume/mesh_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

/// What a tree is built from.
typedef struct Builder {
    jnaBoxTree* tree;
    const int32_t* items;
    double* centroids; // [count][3]
    int32_t* marks;    // [mesh nodes], leaf that last listed it
    int corners, leafSize, pointCount;
} Builder;

// Items are ordered by coordinate, equals by index: one order only, whatever the way there.
static bool Before(const Builder* b, int axis, int32_t i, int32_t k)
{
    double x = b->centroids[3 * (size_t)i + (size_t)axis], y = b->centroids[3 * (size_t)k + (size_t)axis];
    return x < y || (x <= y && i < k);
}

// Moves the `middle` smallest items of a range to its front (Hoare's selection).
static void Select(const Builder* b, int axis, int32_t* items, int32_t count, int32_t middle)
{
    int32_t low = 0, high = count - 1;
    while (low < high) {
        int32_t pivot = items[low + (high - low) / 2], i = low, k = high;
        while (i <= k) {
            while (Before(b, axis, items[i], pivot)) {
                ++i;
            }
            while (Before(b, axis, pivot, items[k])) {
                --k;
            }
            if (i <= k) {
                int32_t swap = items[i];
                items[i++] = items[k];
                items[k--] = swap;
            }
        }
        if (middle <= k) {
            high = k;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static int LongestAxis(const Builder* b, const int32_t* items, int32_t count)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int32_t n = 0; n < count; ++n) {
        for (int i = 0; i < 3; ++i) {
            double x = b->centroids[3 * (size_t)items[n] + (size_t)i];
            low[i] = fmin(low[i], x);
            high[i] = fmax(high[i], x);
        }
    }
    int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    return high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
}

static void ListPoints(Builder* b, int32_t index)
{
    jnaBoxNode* node = &b->tree->nodes[index];
    node->firstPoint = b->pointCount;
    for (int32_t n = node->first; n < node->first + node->count; ++n) {
        for (int c = 0; c < b->corners; ++c) {
            int32_t point = b->items[(size_t)b->tree->order[n] * (size_t)b->corners + (size_t)c];
            if (b->marks[point] != index) {
                b->marks[point] = index;
                b->tree->points[b->pointCount++] = point;
            }
        }
    }
    node->pointCount = b->pointCount - node->firstPoint;
}

static void Split(Builder* b, int32_t index)
{
    jnaBoxNode* node = &b->tree->nodes[index];
    int32_t* items = b->tree->order + node->first;
    node->left = -1;
    if (node->count <= b->leafSize) {
        ListPoints(b, index);
        return;
    }
    int32_t half = node->count / 2;
    Select(b, LongestAxis(b, items, node->count), items, node->count, half);
    node->left = b->tree->nodeCount;
    b->tree->nodeCount += 2;
    b->tree->nodes[node->left] = (jnaBoxNode){.first = node->first, .count = half};
    b->tree->nodes[node->left + 1] = (jnaBoxNode){.first = node->first + half, .count = node->count - half};
    Split(b, node->left);
    Split(b, node->left + 1);
}

jnResult jnaCreateBoxTree(const jnaBoxItems* over, int leafSize, jnaBoxTree* tree, jnError* error)
{
    const double* positions = over->positions;
    const int32_t* items = over->items;
    int count = over->count, corners = over->corners, nodeCount = over->nodeCount;
    *tree = (jnaBoxTree){.nodeCount = 1};
    Builder b = {.tree = tree, .items = items, .corners = corners, .leafSize = leafSize};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    tree->nodes = jnaArena_Take(&tree->memory, 2 * (int64_t)count + 1, sizeof(*tree->nodes));
    tree->order = jnaArena_Take(&tree->memory, count, sizeof(*tree->order));
    tree->points = jnaArena_Take(&tree->memory, (int64_t)count * corners, sizeof(*tree->points));
    b.centroids = jnaArena_Take(&arena, count, 3 * sizeof(double));
    b.marks = jnaArena_Take(&arena, nodeCount, sizeof(*b.marks));
    JN_TRY(jnaArena_Check(&tree->memory, "a tree of boxes", error));
    JN_TRY(jnaArena_Check(&arena, "a tree of boxes", error));
    memset(b.marks, 0xff, (size_t)nodeCount * sizeof(*b.marks));
    for (int32_t n = 0; n < count; ++n) {
        tree->order[n] = n;
        for (int i = 0; i < 3 * corners; ++i) {
            int32_t point = items[(size_t)n * (size_t)corners + (size_t)(i / 3)];
            b.centroids[3 * (size_t)n + (size_t)(i % 3)] += positions[3 * (size_t)point + (size_t)(i % 3)];
        }
    }
    tree->nodes[0].count = count;
    Split(&b, 0);
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyBoxTree(tree);
    }
    return result;
}

void jnaDestroyBoxTree(jnaBoxTree* tree)
{
    jnaReleaseArena(&tree->memory);
    *tree = (jnaBoxTree){0};
}

// Plain comparisons, unlike fmin and fmax, which must care for NaN and cost a call each.
static inline double Least(double a, double b)
{
    return a < b ? a : b;
}

static inline double Most(double a, double b)
{
    return a > b ? a : b;
}

static jnaBounds FitPoints(const int32_t* points, int32_t count, const double* positions)
{
    jnaBounds box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int32_t n = 0; n < count; ++n) {
        const double* p = positions + 3 * (size_t)points[n];
        for (int i = 0; i < 3; ++i) {
            box.low[i] = Least(p[i], box.low[i]);
            box.high[i] = Most(p[i], box.high[i]);
        }
    }
    return box;
}

void jnaBoxTree_Fit(const jnaBoxTree* tree, const double* positions, jnaBounds* bounds)
{
    for (int32_t index = tree->nodeCount - 1; index >= 0; --index) {
        const jnaBoxNode* node = &tree->nodes[index];
        if (node->left < 0) {
            bounds[index] = FitPoints(tree->points + node->firstPoint, node->pointCount, positions);
            continue;
        }
        const jnaBounds *a = &bounds[node->left], *b = &bounds[node->left + 1];
        for (int i = 0; i < 3; ++i) {
            bounds[index].low[i] = Least(a->low[i], b->low[i]);
            bounds[index].high[i] = Most(a->high[i], b->high[i]);
        }
    }
}

void jnaBoxTree_FitCells(const jnaBoxTree* tree, const uint64_t* cells, jnaCellBox* boxes)
{
    for (int32_t index = tree->nodeCount - 1; index >= 0; --index) {
        const jnaBoxNode* node = &tree->nodes[index];
        if (node->left >= 0) {
            boxes[index] = boxes[node->left];
            jnaCellBox_Add(&boxes[index], boxes[node->left + 1].low, boxes[node->left + 1].high);
            continue;
        }
        const int32_t* points = tree->points + node->firstPoint;
        jnaCellBox box = {cells[points[0]], cells[points[0]]};
        for (int32_t n = 1; n < node->pointCount; ++n) {
            jnaCellBox_Add(&box, cells[points[n]], cells[points[n]]);
        }
        boxes[index] = box;
    }
}
