// A surface on its way to being ready, between the files that make it so.
#pragma once

#include "volume/mesh_internal.h"

/// What a connected part is to the volume.
typedef enum jnaPartRole {
    jna_partBoundary, // flesh on one side, none on the other
    jna_partLayer,    // flesh on both sides
    jna_partLeftOut,  // small and inside another
    jna_partShell,    // follows one joint
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
    jnaPartRole* role;   // [componentCount]
    int32_t* partStarts; // [componentCount + 1]: faces of part c are byPart[partStarts[c]] to byPart[partStarts[c + 1]]
    int32_t* byPart;     // [count]; both by jnaFaces_ListParts
} jnaFaces;

/// Numbers the connected parts: faces that share an edge are of one part. Turns faces so that neighbours agree, the
/// fewer of each part; *flipped counts them.
jnResult jnaFaces_Orient(jnaFaces* faces, int* flipped, jnError* error);

/// Lists the faces of each part, in their order.
jnResult jnaFaces_ListParts(jnaFaces* faces, jnError* error);

/// Finds the parts that follow one joint, and tells them; fills role.
jnResult jnaFaces_FindShells(jnaFaces* faces, const jnaCharacter* character, jnaShells shells, jnaSurface* surface,
    jnaNotes* notes, jnError* error);

/// Closes every loop of boundary edges with a fan around its middle.
jnResult jnaFaces_Cap(jnaFaces* faces, jnaSurfaceReport* report, jnaNotes* notes, jnError* error);

/// Turns parts that are inside out and decides on parts inside others.
jnResult jnaFaces_SortParts(jnaFaces* faces, bool keepInner, jnaSurface* surface, jnaNotes* notes, jnError* error);
