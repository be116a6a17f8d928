// The pattern is found node by node: its tetrahedra's corners, each once, then sorted.
#include "node_pattern.h"

#include <stdlib.h>

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

bool jnaFindNodePattern(int nodeCount, int tetrahedronCount, const int32_t* tetrahedra, jnaNodePattern* p)
{
    size_t n = (size_t)nodeCount, corners = 4 * (size_t)tetrahedronCount;
    int* starts = calloc(n + 1, sizeof(int));
    int* around = malloc((corners + 1) * sizeof(int)); // tetrahedra around each node
    int* mark = malloc((n + 1) * sizeof(int));
    *p = (jnaNodePattern){.nodeCount = nodeCount,
        .rowStarts = calloc(n + 1, sizeof(int)),
        .columns = malloc((n + 3 * corners + 1) * sizeof(int))}; // at most three others per corner
    bool good = starts != NULL && around != NULL && mark != NULL && p->columns != NULL && p->rowStarts != NULL;
    for (size_t i = 0; good && i < corners; ++i) {
        starts[tetrahedra[i] + 1]++;
    }
    for (size_t i = 0; good && i < n; ++i) {
        starts[i + 1] += starts[i];
        mark[i] = starts[i];
    }
    for (size_t i = 0; good && i < corners; ++i) {
        around[mark[tetrahedra[i]]++] = (int)(i / 4);
    }
    for (size_t i = 0; good && i < n; ++i) {
        mark[i] = -1;
    }
    int count = 0;
    for (int node = 0; good && node < nodeCount; ++node) {
        int first = count;
        p->columns[count++] = node;
        mark[node] = node;
        for (int i = starts[node]; i < starts[node + 1]; ++i) {
            for (int k = 0; k < 4; ++k) {
                int other = tetrahedra[4 * (size_t)around[i] + (size_t)k];
                if (mark[other] != node) {
                    mark[other] = node;
                    p->columns[count++] = other;
                }
            }
        }
        SortRising(p->columns + first, count - first);
        p->rowStarts[node + 1] = count;
    }
    free(starts);
    free(around);
    free(mark);
    return good;
}

void jnaDestroyNodePattern(jnaNodePattern* p)
{
    free(p->rowStarts);
    free(p->columns);
    *p = (jnaNodePattern){0};
}
