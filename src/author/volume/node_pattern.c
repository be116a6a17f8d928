// The pattern is found node by node: its cells' corners, each once, then sorted; and with it where the cells' entries
// go, so that nothing has to be searched for when a matrix is filled.
#include "volume/node_pattern.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static void SortRising(int* list, int count)
{
    for (int i = 1; i < count; ++i) {
        int value = list[i], k = i;
        for (; k > 0 && list[k - 1] > value; --k) {
            list[k] = list[k - 1];
        }
        list[k] = value;
    }
}

// The cells around each node, rising. starts: [nodeCount + 1]; around: corners, size * cell + corner.
static void ListAround(int nodeCount, size_t corners, const int32_t* cells, int* starts, int* around)
{
    memset(starts, 0, ((size_t)nodeCount + 1) * sizeof(int));
    for (size_t i = 0; i < corners; ++i) {
        starts[cells[i]]++;
    }
    for (int n = 0; n < nodeCount; ++n) {
        starts[n + 1] += starts[n];
    }
    for (size_t i = corners; i-- > 0;) {
        around[--starts[cells[i]]] = (int)i;
    }
}

// One row: its columns, and where the entries of the cells around go in it. place: [nodeCount] scratch, below the
// row's first entry for nodes that are not in it. Returns the row's end.
static int FillRow(
    jnaNodePattern* p, int size, const int32_t* cells, int node, const int* around, int aroundCount, int* place)
{
    int first = p->rowStarts[node], count = first;
    place[node] = first;
    p->columns[count++] = node;
    for (int i = 0; i < aroundCount; ++i) {
        const int32_t* cell = cells + around[i] / size * size;
        for (int k = 0; k < size; ++k) {
            int other = cell[k];
            if (place[other] < first) {
                place[other] = first;
                p->columns[count++] = other;
            }
        }
    }
    SortRising(p->columns + first, count - first);
    for (int i = first; i < count; ++i) {
        place[p->columns[i]] = i;
    }
    for (int i = 0; i < aroundCount; ++i) {
        const int32_t* cell = cells + around[i] / size * size;
        for (int k = 0; k < size; ++k) {
            p->places[(size_t)size * (size_t)around[i] + (size_t)k] = place[cell[k]];
        }
    }
    return count;
}

bool jnaFindNodePattern(int nodeCount, int cellCount, int size, const int32_t* cells, jnaNodePattern* p)
{
    size_t n = (size_t)nodeCount, corners = (size_t)size * (size_t)cellCount, others = (size_t)size - 1;
    jnaArena arena = {0};
    int* starts = jnaArena_Take(&arena, (int64_t)n + 1, sizeof(int));
    int* around = jnaArena_Take(&arena, (int64_t)corners, sizeof(int));
    int* place = jnaArena_Take(&arena, (int64_t)n + 1, sizeof(int));
    *p = (jnaNodePattern){.nodeCount = nodeCount};
    p->rowStarts = jnaArena_Give(&arena, (int64_t)n + 1, sizeof(int));
    p->columns = jnaArena_Give(&arena, (int64_t)(n + others * corners), sizeof(int)); // at most these others per corner
    p->places = jnaArena_Give(&arena, (int64_t)corners, (size_t)size * sizeof(int));
    bool good = !arena.failed;
    if (good) {
        ListAround(nodeCount, corners, cells, starts, around);
        memset(place, 0xff, (n + 1) * sizeof(int));
    }
    for (int node = 0; good && node < nodeCount; ++node) {
        p->rowStarts[node + 1] =
            FillRow(p, size, cells, node, around + starts[node], starts[node + 1] - starts[node], place);
    }
    jnaReleaseArena(&arena);
    return good;
}

void jnaDestroyNodePattern(jnaNodePattern* p)
{
    free(p->rowStarts);
    free(p->columns);
    free(p->places);
    *p = (jnaNodePattern){0};
}
