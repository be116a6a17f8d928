// The order of vertices in patches: the places are halved at the border of a patch, by the longest side of the box
// around what goes there, until a patch is left.
#include "asset/asset_sections.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

enum { PATCH = JN_PATCH_BLOCKS * JN_LANES };

typedef struct Item {
    float key;
    int32_t joint, vertex;
} Item;

static int CompareItems(const void* a, const void* b)
{
    const Item *x = a, *y = b;
    if (x->key != y->key) {
        return (x->key > y->key) - (x->key < y->key);
    }
    return x->joint != y->joint ? x->joint - y->joint : x->vertex - y->vertex;
}

static int LongestSide(const jnaCharacter* c, const Item* items, int count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            float at = c->positions[3 * (size_t)items[i].vertex + (size_t)axis];
            low[axis] = fminf(low[axis], at);
            high[axis] = fmaxf(high[axis], at);
        }
    }
    int side = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    return high[2] - low[2] > high[side] - low[side] ? 2 : side;
}

static int CountInfluences(const jnaCharacter* c, int vertex)
{
    int count = 0;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        count += c->influences[vertex].weights[k] > 0.0f;
    }
    return count;
}

// Items that go to the places [first, first + count).
static void Halve(const jnaCharacter* c, Item* items, int count, int first)
{
    int patches = (first + count - 1) / PATCH - first / PATCH + 1;
    int half = (first / PATCH + patches / 2) * PATCH - first;
    int side = patches > 1 ? LongestSide(c, items, count) : 0;
    for (int i = 0; i < count; ++i) {
        int v = items[i].vertex;
        items[i].key = patches > 1 ? c->positions[3 * (size_t)v + (size_t)side] : (float)CountInfluences(c, v);
    }
    qsort(items, (size_t)count, sizeof(*items), CompareItems);
    if (patches > 1) {
        Halve(c, items, half, first);
        Halve(c, items + half, count - half, first + half);
    }
}

void jnaOrderPatches(const jnaCharacter* c, int32_t* list, int count, int first, jnaArena* arena)
{
    Item* items = jnaArena_Take(arena, count, sizeof(*items));
    if (items == NULL || count == 0) {
        return;
    }
    for (int i = 0; i < count; ++i) {
        items[i] = (Item){.joint = c->influences[list[i]].joints[0], .vertex = list[i]};
    }
    Halve(c, items, count, first);
    for (int i = 0; i < count; ++i) {
        list[i] = items[i].vertex;
    }
}
