// The nearest of many points, by a k-d tree over the caller's array.
#pragma once

#include "jounce/base.h"

/// Points sorted by halves: the middle of a range splits it along `axes[middle]`. Owned; all zeroes is empty.
typedef struct jnaPointTree {
    int count;
    const float* points; // [count][3], the caller's, which must stay
    int32_t* order;      // [count]
    uint8_t* axes;       // [count]
} jnaPointTree;

/// False where memory is short.
bool jnaCreatePointTree(const float* points, int count, jnaPointTree* tree);
void jnaDestroyPointTree(jnaPointTree* tree);

/// The nearest point to a place; of equally near ones the one with the lowest number. -1 in an empty tree.
int jnaPointTree_Nearest(const jnaPointTree* tree, const double* place, double* distance);

/// Points within a radius, lowest number first, at most `capacity` of them are stored. Returns how many there are, at
/// most capacity + 1.
int jnaPointTree_Within(const jnaPointTree* tree, const double* place, double radius, int32_t* found, int capacity);
