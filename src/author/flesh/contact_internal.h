// What the files of the self-contact share. Not installed.
#pragma once

#include "flesh/contact.h"
#include "flesh/contact_cells.h"

#include "base/arena.h"

/// A box.
typedef struct jnaBounds {
    double low[3], high[3];
} jnaBounds;

/// A branch of a tree, or a leaf where left is -1. The right child follows the left one; both follow their parent.
typedef struct jnaBoxNode {
    int32_t first, count; // items: order[first] to order[first + count - 1]
    int32_t left;
    int32_t firstPoint, pointCount; // of a leaf: the mesh nodes that span its items, each once
} jnaBoxNode;

/// A balanced binary tree over items that are spanned by mesh nodes: tetrahedra, faces or nodes. Made once at rest;
/// its boxes are apart, because they are refitted to every deformation.
typedef struct jnaBoxTree {
    int nodeCount;
    jnaBoxNode* nodes;
    int32_t* order;  // [items]
    int32_t* points; // mesh nodes of all leaves
    jnaArena memory;
} jnaBoxTree;

/// What a tree is made over.
typedef struct jnaBoxItems {
    const double* positions; // [nodeCount][3], at rest
    int nodeCount;
    const int32_t* items; // [count][corners], mesh nodes
    int count, corners;
} jnaBoxItems;

/// leafSize: most items of a leaf.
jnResult jnaCreateBoxTree(const jnaBoxItems* over, int leafSize, jnaBoxTree* tree, jnError* error);
void jnaDestroyBoxTree(jnaBoxTree* tree);

/// Fits boxes around deformed nodes. bounds: [tree->nodeCount].
void jnaBoxTree_Fit(const jnaBoxTree* tree, const double* positions, jnaBounds* bounds);

/// The same on a grid. cells: of the mesh nodes; boxes: [tree->nodeCount].
void jnaBoxTree_FitCells(const jnaBoxTree* tree, const uint64_t* cells, jnaCellBox* boxes);

enum { JNA_TREE_STACK = 64 };

/// Lists of numbers, rows compressed.
typedef struct jnaRows {
    int32_t* starts; // [rows + 1]
    int32_t* entries;
} jnaRows;
void jnaDestroyRows(jnaRows* rows);

struct jnaContactShape {
    const jnaVolume* volume;
    double restDistance, reach;
    bool localReach;         // at least the node's length
    double medianEdge, size; // of the boundary; largest side of its box
    int faceCount;
    int32_t* faces;     // [faceCount][3], counter-clockwise from outside
    int32_t* opposites; // [faceCount], the corner of the face's tetrahedron that it does not have
    int nodeCount;      // of the boundary
    int32_t* nodes;     // [nodeCount], ascending
    int32_t* places;    // [volume->nodeCount], where a node is in `nodes`, or -1
    jnaRows around;     // per boundary node: its boundary faces
    jnaRows foreign;    // per boundary node: nodes closer than restDistance, but across a gap; ascending
    double* shear;      // [nodeCount], mean shear modulus around a boundary node, Pa
    double* length;     // [nodeCount], edge of even triangles with the node's share of the surface at rest
    bool* held;         // [volume->nodeCount], follows a bone exactly
    int32_t* bone;      // [volume->nodeCount], the bone or ball that holds it firmly; -1: none, or flesh gives way
    jnaBoxTree tetrahedronTree, faceTree, nodeTree; // nodeTree's items are places in `nodes`
    int32_t* leafTetrahedra;                        // [tetrahedra][4], corners in the order of tetrahedronTree
    jnaBounds* restFaceBounds;                      // of faceTree
    jnaRows near;      // per node of nodeTree: the leaves of tetrahedronTree that are never foreign to it
    double flatVolume; // six times the volume from which a tetrahedron holds anything
    double tolerance;  // metres, what counts as touching
    jnaArena memory;   // of the arrays but `faces` and rows
};

/// Of the springs of bones, 1/s2: a node that is held by less is flesh on the bone.
double jnaFirmStrength(const jnaVolume* volume);

/// A node of the boundary in a foreign tetrahedron.
typedef struct jnaContactHit {
    int32_t node, tetrahedron;
    double weights[4]; // of the corners
} jnaContactHit;

struct jnaContactFinder {
    const jnaContactShape* shape;
    jnaBounds* faceBounds;        // of faceTree, deformed
    double origin[3], scale;      // of the grid of this call
    uint64_t* cells;              // [volume->nodeCount], nodes on the grid
    jnaCellBox *leaves, *patches; // of tetrahedronTree and nodeTree, on the grid
    jnaCellBox* boxes;            // [tetrahedra], in the order of the tree; of a leaf when it was first looked into
    int32_t *marks, *filled;      // [nodes of tetrahedronTree]: patch that it is near to; call that wrote its boxes
    int32_t call;
    int hitCount, hitCapacity;
    jnaContactHit* hits; // sorted by node, then tetrahedron
    double* depths;      // [volume->nodeCount]
    int32_t* firstOld;   // [boundary nodes], first old pair of a node, or -1
    int32_t* nextOld;    // [nextCapacity], next old pair of the same node, or -1
    int nextCapacity;
    jnaContacts found;
    jnaArena memory; // of what does not grow
};

/// Whether a node of the mesh is so close to a boundary node at rest, and connected with it there, that no way out may
/// end at it.
bool jnaContactShape_IsOwn(const jnaContactShape* shape, int32_t boundaryNode, int32_t node);

/// Whether a tetrahedron's material point with the given weights is foreign to a boundary node.
bool jnaContactShape_IsForeign(
    const jnaContactShape* shape, int32_t boundaryNode, int32_t tetrahedron, const double weights[4]);

/// Which flesh is near at rest; fills `foreign` and `near`. Needs everything else.
jnResult jnaContactShape_FindNear(jnaContactShape* shape, bool gaps, jnError* error);

/// Fills the finder's hits. Nodes must be finite.
jnResult jnaContactFinder_Hits(jnaContactFinder* finder, const double* nodes, jnError* error);

/// A point of the boundary.
typedef struct jnaSurfacePoint {
    int32_t face; // -1: none
    double weights[3];
    double distance; // from what was asked for, deformed
    double score;    // the same, or longer where the face looks the wrong way
    double normal[3];
    bool inner; // not on an edge or a corner
} jnaSurfacePoint;

/// Where the flesh around a material point ends at rest: the closest point of the rest boundary whose face is not
/// the boundary node's own. rest: the material point at rest.
jnaSurfacePoint jnaFindRestExit(const jnaContactShape* shape, int32_t boundaryNode, const double rest[3]);

/// Which faces may be a way out.
typedef struct jnaExitSearch {
    const double* center; // [3], at rest: a face has a corner within `radius` of it
    double radius;
    int side;              // the node is on the face's inner (-1) or outer side (+1)
    const double* against; // [3], unit, or NULL: faces that look the other way count as closer, others as farther
    double limit;          // nothing that is or counts as beyond it is found
} jnaExitSearch;

/// The closest point of the deformed boundary among such faces that are not the boundary node's own. Its normal is out
/// of the flesh. Needs the deformed bounds of the faces.
jnaSurfacePoint jnaFindExit(
    const jnaContactFinder* finder, const double* nodes, int32_t boundaryNode, const jnaExitSearch* search);
