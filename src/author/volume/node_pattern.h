// Which nodes of a mesh share a cell (a tetrahedron, or a patch of them), the pattern of every matrix on it, and where
// the cells' entries go in it.
#pragma once

#include "jounce/base.h"

typedef struct jnaNodePattern {
    int nodeCount;
    int* rowStarts; // [nodeCount + 1]
    int* columns;   // [rowStarts[nodeCount]], rising within a row, the node itself included
    int* places;    // [cellCount][size][size], entry of each pair of corners, row then column
} jnaNodePattern;

/// Every node with those it shares a cell with. cells: [cellCount][size], nodes may repeat. False: out of memory;
/// destroy it in any case.
bool jnaFindNodePattern(int nodeCount, int cellCount, int size, const int32_t* cells, jnaNodePattern* pattern);
void jnaDestroyNodePattern(jnaNodePattern* pattern);

/// Place of an entry that is in the pattern.
static inline size_t jnaNodePattern_Find(const jnaNodePattern* pattern, int row, int column)
{
    int low = pattern->rowStarts[row], high = pattern->rowStarts[row + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (pattern->columns[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (size_t)low;
}
