// What hangs together: disjoint sets in an array of parents, in which every number begins as its own.
#pragma once

#include <stdint.h>

/// The number that stands for the set of `i`. Paths are halved on the way.
static inline int32_t jnaUnion_Root(int32_t* parents, int32_t i)
{
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

/// Makes one set of two. The lower number stays the root, so that the result does not depend on the order of calls.
static inline void jnaUnion_Join(int32_t* parents, int32_t a, int32_t b)
{
    int32_t i = jnaUnion_Root(parents, a), k = jnaUnion_Root(parents, b);
    parents[i > k ? i : k] = i < k ? i : k;
}
