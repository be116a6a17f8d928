// What the files that make the tetrahedra share: the surface as it is meshed, a tree over its triangles, small
// vectors, and exact signs.
#pragma once

#include "base/affine.h"
#include "base/arena.h"
#include "character/character.h"
#include "volume/tetrahedralize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JNA_DEGREES (180.0 / JNA_PI)

/// A surface made ready: closed where it can be, turned outward, without what is left out. Coordinates are floats in
/// doubles, so that jnaOrient is exact.
typedef struct jnaSurface {
    int vertexCount;
    double* positions; // [vertexCount][3]
    int triangleCount;
    int32_t* triangles; // [triangleCount][3], counter-clockwise from outside
    int characterVertexCount;
    int32_t* vertexOf; // [characterVertexCount], vertex of the surface or -1 where left out
    uint8_t* kinds;    // [characterVertexCount], jnaSkinKind
    int cavityCount;
    double (*cavities)[3]; // [cavityCount], a point in each hollow
    jnaSurfaceReport report;
} jnaSurface;

/// Prepares a character's surface. A surface that encloses nothing is an error, unless that is what rigid shells leave
/// of it: then it has no triangles.
jnResult jnaCreateSurface(const jnaCharacter* character, bool keepInner, jnaShells shells, jnaSurface* surface,
    jnaNotes* notes, jnError* error);
void jnaDestroySurface(jnaSurface* surface);

/// An edge of a triangle mesh as one of its faces sees it.
typedef struct jnaFaceEdge {
    int32_t low, high; // vertices, low < high
    int32_t face;
    bool reversed; // the face runs from high to low
} jnaFaceEdge;

/// Lists the three edges of each face, sorted by vertices, then face. Of the arena.
jnaFaceEdge* jnaListFaceEdges(int triangleCount, const int32_t* triangles, jnaArena* arena);

/// A binary tree of boxes over triangles, with the moments that give the winding number from far away.
typedef struct jnaTreeNode {
    double low[3], high[3];
    double center[3];     // area-weighted
    double normal[3];     // sum of area times normal
    double radius;        // of a ball around center that holds the triangles
    int32_t first, count; // triangles of a leaf: order[first] to order[first + count - 1]
    int32_t left, right;  // children, -1 for a leaf
} jnaTreeNode;

typedef struct jnaTree {
    int nodeCount;
    jnaTreeNode* nodes;
    int32_t* order; // [triangleCount]
    const double* positions;
    const int32_t* triangles;
    jnaArena memory;
} jnaTree;

jnResult jnaCreateTree(
    const double* positions, int triangleCount, const int32_t* triangles, jnaTree* tree, jnError* error);
void jnaDestroyTree(jnaTree* tree);

/// Calls visit for each triangle whose box meets the given one, in an order that only the surface decides; stops when
/// it returns false.
void jnaTree_Visit(const jnaTree* tree, const double low[3], const double high[3],
    bool (*visit)(int32_t triangle, void* user), void* user);

/// Generalised winding number: 1 inside a closed surface, 0 outside, between the two near holes.
double jnaTree_Winding(const jnaTree* tree, const double point[3]);

/// Where the inside ends on the way from an inside point to another, as a share of it, or -1 where it does not.
/// toInside: whether the other point is inside as well.
double jnaTree_Exit(const jnaTree* tree, const double from[3], const double to[3], bool toInside);

/// The same as a share of the way, 1 where it does not end, for another point of which nothing is known: no winding
/// number is needed where no face is met.
double jnaTree_Depth(const jnaTree* tree, const double from[3], const double to[3]);

/// Pairs of triangles that cross or touch where they have no vertex or edge in common.
typedef struct jnaCrossings {
    int count, capacity;
    int32_t (*pairs)[2]; // first < second, ascending
} jnaCrossings;

jnResult jnaFindCrossings(const jnaTree* tree, int triangleCount, jnaCrossings* crossings, jnError* error);
void jnaDestroyCrossings(jnaCrossings* crossings);

/// Whether two triangles cross; see jnaFindCrossings.
bool jnaTrianglesCross(const double* positions, const int32_t a[3], const int32_t b[3]);

/// Moves vertices as little as needed until no pair crosses. *repaired is false, and the surface as it was, where
/// that would take large moves.
jnResult jnaRepairCrossings(jnaSurface* surface, bool* repaired, jnError* error);

/// Refuses a surface whose triangles cross each other everywhere. watch: may end it.
jnResult jnaSurface_CheckEntangled(
    const jnaCharacter* character, const jnaSurface* surface, const jnaWatch* watch, jnError* error);

/// Tetrahedra in the making.
typedef struct jnaMesh {
    int nodeCount, nodeCapacity;
    double* nodes; // [nodeCount][3]
    int tetrahedronCount, tetrahedronCapacity;
    int32_t* tetrahedra; // [tetrahedronCount][4]
} jnaMesh;
void jnaDestroyMesh(jnaMesh* mesh);
bool jnaMesh_AddNode(jnaMesh* mesh, const double position[3]);
bool jnaMesh_AddTetrahedron(jnaMesh* mesh, int32_t a, int32_t b, int32_t c, int32_t d);

/// Points inside that a mesh should have as nodes, for bones to hold.
typedef struct jnaSeeds {
    int count, capacity;
    double* points; // [count][3]
} jnaSeeds;
jnResult jnaFindSeeds(const jnaCharacter* character, const jnaSurface* surface, jnaSeeds* seeds, jnError* error);
void jnaDestroySeeds(jnaSeeds* seeds);

/// Meshes a closed surface by the tetgen program. The first nodes are the surface's vertices, then come the seeds;
/// seeds may be NULL. greatestVolume: of a tetrahedron, m3. A surface that it refuses is jn_badData with its reason in
/// our words. seconds: of the program alone.
jnResult jnaRunTetgen(const jnaSurface* surface, const jnaSeeds* seeds, const jnaVolumeDef* def, double greatestVolume,
    jnaMesh* mesh, double* seconds, jnError* error);

/// Meshes the inside by a body-centred cubic lattice of the given spacing.
jnResult jnaBuildLattice(const jnaSurface* surface, const jnaTree* tree, double spacing, const jnaWatch* watch,
    jnaMesh* mesh, jnError* error);

/// Parts tetrahedra that touch without flesh between them and drops pieces below a share of the volume.
jnResult jnaSplitPieces(const jnaTree* tree, double crumbShare, jnaMesh* mesh, jnError* error);

/// Hangs the character's vertices on a mesh that does not hold them as nodes. spacing: of the lattice, metres.
jnResult jnaEmbedSkin(const jnaCharacter* character, const jnaSurface* surface, const jnaTree* tree, double spacing,
    jnaVolume* volume, jnaVolumeReport* report, jnError* error);

/// Improves tetrahedra inside: nodes below fixedCount and all on the boundary stay where they are, and the boundary's
/// faces stay. No node index below fixedCount changes.
jnResult jnaImproveMesh(jnaMesh* mesh, int fixedCount, jnError* error);

/// A face of a tetrahedron.
typedef struct jnaFacet {
    int32_t corners[3]; // ascending
    int32_t tetrahedron;
    int32_t opposite; // corner of the tetrahedron that the face lacks
} jnaFacet;

/// All faces of all tetrahedra, [4 * tetrahedronCount], those on the same nodes side by side. Of the arena.
jnaFacet* jnaListFacets(const jnaMesh* mesh, jnaArena* arena);

/// Faces of one tetrahedron only, turned outward: [*count][3], of the arena.
int32_t* jnaListBoundary(const jnaMesh* mesh, int* count, jnaArena* arena);

/// Which bad tetrahedra the boundary forces, by its own angles; fills the report's list.
jnResult jnaExplainSlivers(const jnaMesh* mesh, jnaVolumeReport* report, jnError* error);

/// Six times the signed volume of a tetrahedron: positive where d sees a, b, c counter-clockwise from the far side.
static inline double jnaVolume6(const double* a, const double* b, const double* c, const double* d)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) + w[2] * (u[0] * v[1] - u[1] * v[0]);
}

/// The sign of jnaVolume6, exact for coordinates that are floats.
int jnaOrient(const double* a, const double* b, const double* c, const double* d);

/// The nearest float. Through memory: GCC 12 at -O3 drops the pair of conversions where it turns loops into vectors.
static inline double jnaRoundToFloat(double x)
{
    volatile float rounded = (float)x;
    return (double)rounded;
}

/// Share of the work of a volume that is done when the mesher begins.
#define JNA_SHARE_MESH 0.2

/// Zeroed memory for `count` things; NULL also where the size does not fit. Never of size 0.
static inline void* jnaAllocate(int64_t count, size_t size)
{
    return count < 0 ? NULL : calloc((size_t)count + 1, size);
}
