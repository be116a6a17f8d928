// Which nodes of a tetrahedral mesh share a tetrahedron, the pattern of every matrix on it, and where elements go in
// it.
#pragma once

#include "jounce/base.h"

typedef struct jnaNodePattern {
    int nodeCount;
    int* rowStarts; // [nodeCount + 1]
    int* columns;   // [rowStarts[nodeCount]], rising within a row, the node itself included
    int* places;    // [tetrahedronCount][4][4], entry of each pair of corners, row then column
} jnaNodePattern;

/// Every node with those it shares a tetrahedron with. False: out of memory; destroy it in any case.
bool jnaFindNodePattern(int nodeCount, int tetrahedronCount, const int32_t* tetrahedra, jnaNodePattern* pattern);
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
