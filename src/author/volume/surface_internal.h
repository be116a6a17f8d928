// A surface on its way to being ready, between the files that make it so.
#pragma once

#include "volume/mesh_internal.h"

/// What a connected part is to the volume.
typedef enum jnaPartRole {
    jna_partBoundary, // flesh on one side, none on the other
    jna_partLayer,    // flesh on both sides
    jna_partLeftOut,  // small and inside another
    jna_partShell,    // no flesh: a piece, a sheet, or what a person said is none
} jnaPartRole;

/// Whether a part belongs to the volume.
static inline bool jnaPartIsMeshed(jnaPartRole role)
{
    return role == jna_partBoundary || role == jna_partLayer;
}

/// Faces while they are checked; vertices are those of the character, then the middles of caps.
typedef struct jnaFaces {
    int vertexCount, vertexCapacity;
    double* positions; // [vertexCount][3]
    int32_t* standsOn; // [vertexCount], itself or the vertex that it is joined with
    int count, capacity;
    int32_t (*faces)[3]; // [count]
    int componentCapacity;
    int32_t* component; // [count], connected part
    int componentCount;
    const uint8_t* marks; // [vertices of the character], jnaCharacter.marks; NULL: none
    jnaPartRole* role;    // [componentCount]
    jnaSkinKind* kinds;   // [componentCount]
    int32_t* partStarts; // [componentCount + 1]: faces of part c are byPart[partStarts[c]] to byPart[partStarts[c + 1]]
    int32_t* byPart;     // [count]; both by jnaFaces_ListParts
} jnaFaces;

/// Whether a person marked all corners of a face with a role.
static inline bool jnaFaces_IsMarked(const jnaFaces* faces, int face, jnaMeshRole role)
{
    const int32_t* f = faces->faces[face];
    return faces->marks != NULL && faces->marks[f[0]] == JNA_MARK(role) && faces->marks[f[1]] == JNA_MARK(role) &&
           faces->marks[f[2]] == JNA_MARK(role);
}

/// What a part is like.
typedef struct jnaPartMeasure {
    int joint;            // that has the most of its weight
    double weight, total; // of that joint, of all; weighted by area
    double bend;          // how far its weights differ over it: 0 as one piece, 1 as a limb with joints
    double volume;        // signed, m3; of an open part that of a fan over it
    double area, rim;     // m2; length of open edges, m
    double diagonal;      // of its box, m
} jnaPartMeasure;

/// Measures all parts, which are listed. measures: [componentCount].
jnResult jnaFaces_Measure(
    const jnaFaces* faces, const jnaCharacter* character, jnaPartMeasure* measures, jnError* error);

/// Fraction of a part's area that has another part of the tree close under it, looking the same way. faceOf: face of
/// each triangle of the tree.
double jnaFaces_Cover(const jnaFaces* faces, const jnaPartMeasure* measures, const jnaTree* tree, const int32_t* faceOf,
    int part, double reach);

/// Marks the flesh of an outfit that has no body under it, and tells it.
jnResult jnaFaces_FindOutfit(jnaFaces* faces, const jnaCharacter* character, jnaNotes* notes, jnError* error);

/// Numbers the connected parts: faces that share an edge are of one part, unless a person said that one of them
/// follows. Turns faces so that neighbours agree, the
/// fewer of each part; *flipped counts them.
jnResult jnaFaces_Orient(jnaFaces* faces, int* flipped, jnError* error);

/// Lists the faces of each part, in their order.
jnResult jnaFaces_ListParts(jnaFaces* faces, jnError* error);

/// Finds the parts that are no flesh, and tells them; fills role and kinds.
jnResult jnaFaces_FindShells(jnaFaces* faces, const jnaCharacter* character, jnaShells shells, jnaSurface* surface,
    jnaNotes* notes, jnError* error);

/// Closes every loop of boundary edges with a fan around its middle.
jnResult jnaFaces_Cap(jnaFaces* faces, jnaSurfaceReport* report, jnaNotes* notes, jnError* error);

/// Turns parts that are inside out and decides on parts inside others.
jnResult jnaFaces_SortParts(jnaFaces* faces, bool keepInner, jnaSurface* surface, jnaNotes* notes, jnError* error);
