// Patches of at most four tetrahedra that hang together by faces. The flesh resists a change of volume by patches, not
// by tetrahedra, see flesh/elements.h; the solver and the modes take the same patches from here.
#pragma once

#include "jounce/base.h"

enum {
    JNA_PATCH_SIZE = 4,                  // tetrahedra
    JNA_PATCH_NODES = JNA_PATCH_SIZE + 3 // at most: every further tetrahedron adds one
};

typedef struct jnaPatch {
    int count, nodeCount;               // of tetrahedra, of nodes
    int32_t tetrahedra[JNA_PATCH_SIZE]; // -1 from `count` on
    int32_t nodes[JNA_PATCH_NODES];     // from `nodeCount` on the first one again
    uint8_t corners[JNA_PATCH_SIZE][4]; // places of the tetrahedra's corners in `nodes`
} jnaPatch;

// What patches are made from.
typedef struct jnaPatchesDef {
    int nodeCount, tetrahedronCount;
    const int32_t* tetrahedra; // [tetrahedronCount][4]
    const uint8_t* kinds;      // [tetrahedronCount], material: patches are of one where they can be; NULL: all the same
} jnaPatchesDef;

/// Every tetrahedron is in exactly one patch. The same mesh gives the same patches. On success *patches is [*count],
/// owned by the caller (free); false: out of memory.
bool jnaFindPatches(const jnaPatchesDef* def, int* count, jnaPatch** patches);
