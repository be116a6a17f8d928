// What the eye sees break on a surface in motion: triangles that turn inside out and edges that tear, against a surface
// that is whole. Vertices that share a place at rest count once.
#pragma once

#include "character/character.h"

/// An edge is torn beyond this factor of the longer, or below that of the shorter, of its lengths at rest and in the
/// compared surface. Edges below JNA_TEAR_LEAST at rest are left out, metres.
#define JNA_TEAR_LONG 1.8
#define JNA_TEAR_SHORT 0.45
#define JNA_TEAR_LEAST 0.002
/// A triangle is flipped if the cosine between its normals is below this (120 degrees), the compared surface has at
/// least this fraction of its rest area, and the rest area is above JNA_FLIP_LEAST, square metres.
#define JNA_FLIP_COSINE (-0.5)
#define JNA_FLIP_AREA 0.3
#define JNA_FLIP_LEAST 1e-6

/// The triangles and edges of a character, with what they are compared with. Arrays are owned.
typedef struct jnaBreaks {
    int vertexCount, triangleCount, edgeCount;
    float* rest;        // [vertexCount][3]
    int32_t* triangles; // [triangleCount][3], vertices; those with three different ones alone
    int32_t* from;      // [triangleCount], of the character's triangles
    double* areas;      // [triangleCount], squares of twice the area at rest
    int32_t* edges;     // [edgeCount][2], vertices, once each
    double* lengths;    // [edgeCount], squares at rest
} jnaBreaks;

/// places: [vertexCount], where the surfaces that are looked at have each of the character's vertices; NULL: in its own
/// order.
jnResult jnaMakeBreaks(const jnaCharacter* character, const int32_t* places, jnaBreaks* breaks, jnError* error);
void jnaDestroyBreaks(jnaBreaks* breaks);

/// What is broken in one frame.
typedef struct jnaBreakCount {
    int flipped, torn;
    double largest;   // offset of any vertex, metres
    int vertex;       // that has it, as the surfaces have it
    int brokenVertex; // of a break whose surroundings are offset most; -1: nothing broke
} jnaBreakCount;

/// Compares two surfaces, [vertexCount][3] each. moved: [vertexCount], scratch.
jnaBreakCount jnaBreaks_Count(const jnaBreaks* breaks, const float* compared, const float* shown, uint8_t* moved);

/// Marks the triangles that are flipped or have a torn edge. marks: [triangleCount of the character], 1 for those; the
/// others are left as they are.
void jnaBreaks_Mark(const jnaBreaks* breaks, const float* compared, const float* shown, uint8_t* marks);
