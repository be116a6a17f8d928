// Which point of a cache is which vertex of a character.
//
// Programs number the points of the same mesh differently: exporters split points at seams, importers weld them. The
// order of a file proves nothing, where its points lie does. Units and axes are found the same way.
#pragma once

#include "character/mesh_cache.h"

/// The character's side.
typedef struct jnaMatchSurface {
    int vertexCount;
    const float* rest;  // [vertexCount][3], metres, Y up
    const float* posed; // [vertexCount][3], as the skeleton has it in the motion's first frame; NULL: rest only
    int fileVertexCount;
    const int32_t* weld; // [fileVertexCount]
    int triangleCount;
    const int32_t* triangles; // [triangleCount][3], file vertices
    int sourcePointCount;
    const int32_t* sourcePoints; // [sourcePointCount], the vertex of each point of the source mesh; NULL: not known
    double metresPerUnit;        // of the character's file
} jnaMatchSurface;

/// How points were told apart; the first that holds is taken.
typedef enum jnaMatchKind {
    jna_matchById,      // by the numbers that the file gives its points, confirmed by where they lie
    jna_matchExact,     // every point lies on a vertex
    jna_matchByOrder,   // the order of a file of the character, confirmed by where the points lie
    jna_matchByNearest, // one to one to the nearest vertex
} jnaMatchKind;

typedef struct jnaMatch {
    int pointCount;
    int32_t* vertices; // [pointCount], the vertex of each point; every vertex has one at least
    jnaMatchKind kind;
    bool toRest;        // against the rest surface; else the posed one
    int coincident;     // points that lie on several vertices, told apart by how they move with their neighbours
    double scale;       // metres per unit of the cache
    double rotation[9]; // rows; the cache's axes to ours
    double mean, worst; // metres from point to vertex in the first frame
    char summary[160];  // "738 points by position (exact), in centimetres, Z up"
} jnaMatch;

/// Matches the first frame of a cache. What does not match is refused with one sentence that says how far off it is.
jnResult jnaMatchVertices(
    const char* path, const jnaMatchSurface* surface, const jnaMeshCache* cache, jnaMatch* match, jnError* error);
void jnaDestroyMatch(jnaMatch* match);

/// One frame of the cache in metres and our axes, averaged over the points of each vertex. out: [vertexCount][3].
/// counts: [vertexCount] scratch.
void jnaMatch_Apply(const jnaMatch* match, const float* frame, int vertexCount, int32_t* counts, float* out);

/// Farther than this fraction of the character's size no flesh is from the skeleton's surface, on average.
#define JNA_FLESH_REACH 0.05
