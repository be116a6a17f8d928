// Tetrahedra that change: which of them meet at a node, what they are worth, and exchanging some for others.
#pragma once

#include "volume/mesh_internal.h"

enum { JNA_MAX_STAR = 256, JNA_MAX_RING = 12 };

/// A mesh under improvement. Tetrahedra may be gone (first corner -1); their places are used again.
typedef struct jnaImprover {
    jnaMesh* mesh;
    int linkCapacity, headCapacity;
    int32_t* links; // [4 * tetrahedra], next corner on the same node, or -1; a corner is 4 * tetrahedron + k
    int32_t* heads; // [nodes], first corner on the node, or -1
    uint8_t* fixed; // [nodes], on the boundary
    int fixedCapacity;
    int freeCount, freeCapacity;
    int32_t* freeList;
    bool outOfMemory;
} jnaImprover;

/// Some tetrahedra, as corners.
typedef struct jnaTetrahedronList {
    int count;
    int32_t corners[2 * JNA_MAX_STAR][4];
} jnaTetrahedronList;

/// Worth of a tetrahedron: the smallest sine of its dihedral angles, negative where it is turned over.
double jnaWorth(const double* a, const double* b, const double* c, const double* d);

/// Worth of a tetrahedron of the mesh.
double jnaImprover_Worth(const jnaImprover* improver, int32_t tetrahedron);

/// Smallest worth of a list.
double jnaImprover_ListWorth(const jnaImprover* improver, const jnaTetrahedronList* list);

/// The tetrahedron across the face opposite to corner k, or -1 at the boundary.
int32_t jnaImprover_Across(const jnaImprover* improver, int32_t tetrahedron, int k);

/// Puts new tetrahedra in the place of old ones. Any room they need is found before anything changes.
void jnaImprover_Exchange(jnaImprover* improver, int oldCount, const int32_t* old, const jnaTetrahedronList* list);

/// How good a place is, for a search; below `enough` it need not be exact.
typedef struct jnaPlaceWorth {
    double (*find)(const double* place, double enough, const void* user);
    const void* user;
} jnaPlaceWorth;

/// Compass search: the 26 directions to a cube's neighbours, the step halved where none is better, until it has shrunk
/// to `last`. place: [3], where it begins and ends; worth: of its beginning. Returns the worth of its end.
double jnaSettlePlace(double* place, double worth, double step, double last, int rounds, jnaPlaceWorth worthOf);

/// Each tries to exchange a tetrahedron and some around it for better ones, and tells whether it did.
bool jnaImprover_RemoveEdges(jnaImprover* improver, int32_t tetrahedron);
bool jnaImprover_FlipFaces(jnaImprover* improver, int32_t tetrahedron);
bool jnaImprover_InsertNode(jnaImprover* improver, int32_t tetrahedron);
