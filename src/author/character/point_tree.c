// See point_tree.h. Ranges are halved at the median along their longest side, which quickselect finds.
#include "character/point_tree.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static float At(const jnaPointTree* tree, int slot, int axis)
{
    return tree->points[3 * (size_t)tree->order[slot] + (size_t)axis];
}

// Numbers decide between equal coordinates, so that the tree is the same whatever the order of work.
static bool Less(const jnaPointTree* tree, int32_t a, int32_t b, int axis)
{
    float x = tree->points[3 * (size_t)a + (size_t)axis], y = tree->points[3 * (size_t)b + (size_t)axis];
    return x < y || (x == y && a < b);
}

static int LongestSide(const jnaPointTree* tree, int first, int last)
{
    int longest = 0;
    float most = -1;
    for (int axis = 0; axis < 3; ++axis) {
        float low = At(tree, first, axis), high = low;
        for (int i = first + 1; i <= last; ++i) {
            low = fminf(low, At(tree, i, axis));
            high = fmaxf(high, At(tree, i, axis));
        }
        if (high - low > most) {
            most = high - low;
            longest = axis;
        }
    }
    return longest;
}

// Puts the middle of the range in its place: nothing before it is greater, nothing behind it less.
static void Select(jnaPointTree* tree, int first, int last, int middle, int axis)
{
    while (first < last) {
        int32_t pivot = tree->order[first + (last - first) / 2];
        int i = first, k = last;
        while (i <= k) {
            while (Less(tree, tree->order[i], pivot, axis)) {
                i++;
            }
            while (Less(tree, pivot, tree->order[k], axis)) {
                k--;
            }
            if (i <= k) {
                int32_t swap = tree->order[i];
                tree->order[i++] = tree->order[k];
                tree->order[k--] = swap;
            }
        }
        if (middle <= k) {
            last = k;
        } else if (middle >= i) {
            first = i;
        } else {
            return;
        }
    }
}

static void Build(jnaPointTree* tree, int first, int last)
{
    while (first < last) {
        int middle = first + (last - first) / 2, axis = LongestSide(tree, first, last);
        Select(tree, first, last, middle, axis);
        tree->axes[middle] = (uint8_t)axis;
        Build(tree, first, middle - 1);
        first = middle + 1;
    }
}

bool jnaCreatePointTree(const float* points, int count, jnaPointTree* tree)
{
    *tree = (jnaPointTree){.count = count, .points = points};
    jnaArena arena = {0};
    tree->order = jnaArena_Give(&arena, count, sizeof(*tree->order));
    tree->axes = jnaArena_Give(&arena, count, sizeof(*tree->axes));
    if (arena.failed) {
        jnaDestroyPointTree(tree);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tree->order[i] = i;
    }
    Build(tree, 0, count - 1);
    return true;
}

void jnaDestroyPointTree(jnaPointTree* tree)
{
    free(tree->order);
    free(tree->axes);
    *tree = (jnaPointTree){0};
}

static double SquaredDistance(const jnaPointTree* tree, int32_t point, const double* place)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        double d = (double)tree->points[3 * (size_t)point + (size_t)i] - place[i];
        sum += d * d;
    }
    return sum;
}

typedef struct Query {
    const jnaPointTree* tree;
    const double* place;
    int32_t best;
    double squared; // of the best, or of the radius
    int32_t* found;
    int foundCount, capacity;
} Query;

static void Nearest(Query* q, int first, int last)
{
    while (first <= last) {
        int middle = first + (last - first) / 2;
        int32_t point = q->tree->order[middle];
        double squared = SquaredDistance(q->tree, point, q->place);
        if (squared < q->squared || (squared == q->squared && point < q->best)) {
            q->squared = squared;
            q->best = point;
        }
        int axis = q->tree->axes[middle];
        double side = q->place[axis] - (double)At(q->tree, middle, axis);
        int nearFirst = side < 0 ? first : middle + 1, nearLast = side < 0 ? middle - 1 : last;
        int farFirst = side < 0 ? middle + 1 : first, farLast = side < 0 ? last : middle - 1;
        Nearest(q, nearFirst, nearLast);
        if (side * side > q->squared) {
            return;
        }
        first = farFirst;
        last = farLast;
    }
}

int jnaPointTree_Nearest(const jnaPointTree* tree, const double* place, double* distance)
{
    Query q = {.tree = tree, .place = place, .best = -1, .squared = HUGE_VAL};
    Nearest(&q, 0, tree->count - 1);
    *distance = sqrt(q.squared);
    return q.best;
}

static void Collect(Query* q, int first, int last)
{
    while (first <= last && q->foundCount <= q->capacity) {
        int middle = first + (last - first) / 2, axis = q->tree->axes[middle];
        int32_t point = q->tree->order[middle];
        if (SquaredDistance(q->tree, point, q->place) <= q->squared) {
            if (q->foundCount < q->capacity) {
                q->found[q->foundCount] = point;
            }
            q->foundCount++;
        }
        double side = q->place[axis] - (double)At(q->tree, middle, axis);
        bool left = side <= 0 || side * side <= q->squared, right = side >= 0 || side * side <= q->squared;
        if (left && right) {
            Collect(q, first, middle - 1);
        }
        last = left && !right ? middle - 1 : last;
        first = right ? middle + 1 : first;
        if (!left && !right) {
            return;
        }
    }
}

static int CompareNumbers(const void* a, const void* b)
{
    int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

int jnaPointTree_Within(const jnaPointTree* tree, const double* place, double radius, int32_t* found, int capacity)
{
    Query q = {.tree = tree, .place = place, .squared = radius * radius, .found = found, .capacity = capacity};
    Collect(&q, 0, tree->count - 1);
    int stored = q.foundCount < capacity ? q.foundCount : capacity;
    qsort(found, (size_t)stored, sizeof(*found), CompareNumbers);
    return q.foundCount;
}
