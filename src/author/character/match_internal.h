// What the files of the matching share.
#pragma once

#include "character/point_tree.h"
#include "character/vertex_match.h"

/// The work on one cache.
typedef struct jnaMatching {
    const char* path;
    const jnaMatchSurface* surface;
    const jnaMeshCache* cache;
    double extent;         // of the rest surface, metres
    jnaPointTree trees[2]; // over the posed surface, over the rest; empty where there is none
    int32_t* edges;        // [edgeCount][2], vertices
    int edgeCount;         // every edge of the surface, those of two triangles twice
    uint32_t* edgeStarts;  // [vertexCount + 1], neighbours of each vertex
    int32_t* neighbours;   // [edgeStarts[vertexCount]]
    float* placed;         // [pointCount][3], the first frame in metres and our axes
    float* means;          // [vertexCount][3], scratch
    int32_t* counts;       // [vertexCount], scratch
    jnError* error;
} jnaMatching;

/// The surface that a tree stands on: 0 posed, 1 rest; NULL where there is none.
const float* jnaMatching_Surface(const jnaMatching* m, int which);

/// Finds units, axes and the surface that the first frame lies nearest to, and places it. Sets scale, rotation and
/// toRest of the match. Refuses a cache that lies on neither surface.
jnResult jnaFindFrame(jnaMatching* m, jnaMatch* match);

/// Metres and our axes of one frame. out: [pointCount][3].
void jnaPlacePoints(const jnaMatch* match, const float* frame, int pointCount, float* out);

/// Tells points apart that lie on the same vertices: see match_coincident.c.
jnResult jnaMatchCoincident(jnaMatching* m, jnaMatch* match, double tolerance);
