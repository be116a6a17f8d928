// What the files of the volume share. Not installed.
#pragma once

#include "character/character.h"
#include "volume/volume.h"

/// Connected pieces: pieces[n] is the lowest node of the piece that node n is in. pieces: [nodeCount].
void jnaFindPieces(const jnaVolume* volume, int* pieces);

/// Faces that only one tetrahedron has, seen counter-clockwise from outside. On success *faces is [*count][3], owned by
/// the caller.
jnResult jnaFindBoundary(const jnaVolume* volume, int* count, int32_t** faces, jnError* error);

/// The joint with the largest weight at a node; the first of equals. Needs the weights.
int jnaDominantJoint(const jnaVolume* volume, int node);

/// The joint with the largest weight over the corners of a tetrahedron; the first of equals. Needs the weights.
int jnaTetrahedronJoint(const jnaVolume* volume, int tetrahedron);

/// Weight of a joint at a node, 0 where it has none.
double jnaWeightOf(const jnaVolume* volume, int node, int joint);

/// A quarter of the tetrahedra around each node. volumes: [nodeCount], m3.
void jnaNodeVolumes(const jnaVolume* volume, double* volumes);

/// Index of a joint by name, -1 where there is none.
int jnaFindJoint(const jnaCharacter* character, const char* name);
