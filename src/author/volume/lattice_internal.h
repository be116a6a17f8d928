// The lattice between the file that measures it and the file that fills it.
#pragma once

#include "volume/mesh_internal.h"

enum { JNA_DIRECTIONS = 14 };

/// Shares of an edge within which a point is moved onto the surface, for half diagonals and axes; from the paper on
/// isosurface stuffing, where they give the best bound on the angles.
#define JNA_MOVE_SHORT 0.41189
#define JNA_MOVE_LONG 0.24999

/// A body-centred cubic lattice over a surface. Point (x, y, z) in half spacings is a corner of a cube where all three
/// are even, a centre where all are odd; no other exists.
typedef struct jnaLattice {
    double origin[3], spacing;
    int size[3];     // cubes along each axis; corners are one more
    int cornerCount; // points below this are corners, the others centres
    int pointCount;
    int32_t* number; // [pointCount], of an inside point, or -1
    int insideCount;
    int32_t* inside; // [insideCount], point
    double* cuts;    // [insideCount][JNA_DIRECTIONS], share of the way at which the flesh ends, or -1 where it does not
    double* positions;     // [pointCount][3], moved onto the surface where that is close
    uint8_t* onSurface;    // [pointCount], moved there
    jnaArena memory;       // of all arrays
    const jnaWatch* watch; // may end the measuring; NULL: nobody
} jnaLattice;

/// Measures a lattice: which points are inside, where the flesh ends on the way to each neighbour, which points are
/// moved onto the surface. Destroy it whatever the result.
jnResult jnaCreateLattice(
    const jnaSurface* surface, const jnaTree* tree, double spacing, jnaLattice* lattice, jnError* error);
void jnaDestroyLattice(jnaLattice* lattice);

/// Corners of one of the four tetrahedra around the edge from a corner along an axis; false at the rim. Each
/// tetrahedron of the lattice is met once.
bool jnaLattice_Tetrahedron(const jnaLattice* lattice, int32_t corner, int axis, int which, int32_t corners[4]);

/// Way of a direction in half spacings.
void jnaLattice_Step(int direction, int step[3]);

/// Direction from one point to a neighbour.
int jnaLattice_Direction(const jnaLattice* lattice, int32_t from, int32_t to);
