// What the files of the built-in figure share. Not installed.
//
// Everything here that ends up in the figure is made of + - * / and sqrt, which every machine rounds the same
// way; library functions such as sin or exp differ in their last bits from one libm to the next and are not
// used.
#pragma once

#include "base/affine.h"
#include "base/arena.h"
#include "character/character.h"

#include <math.h>

// Joints, in order: parents first.
enum {
    HIPS,
    SPINE,
    SPINE1,
    NECK,
    HEAD,
    LEFT_SHOULDER,
    LEFT_ARM,
    LEFT_FOREARM,
    LEFT_HAND,
    RIGHT_SHOULDER,
    RIGHT_ARM,
    RIGHT_FOREARM,
    RIGHT_HAND,
    LEFT_UP_LEG,
    LEFT_LEG,
    LEFT_FOOT,
    LEFT_TOE,
    RIGHT_UP_LEG,
    RIGHT_LEG,
    RIGHT_FOOT,
    RIGHT_TOE,
    JOINT_COUNT
};

// A joint of the rest pose. Right joints are the left ones with x negated.
typedef struct FigureJoint {
    const char* name;
    int parent;
    double position[3]; // metres, world
} FigureJoint;

extern const FigureJoint jnaFigureJoints[JOINT_COUNT];

// The joint on the other side, or the joint itself in the middle.
int jnaMirrorJoint(int joint);

// The body as an implicit function: negative inside, near to a distance close to the surface.
double jnaFigureDistance(const double p[3]);

// Unit normal of the implicit function, pointing outwards; also its value at p.
double jnaFigureGradient(const double p[3], double normal[3]);

// Negative where something covers the skin (shorts, and the pupils of the eyes); zero on the line around it.
double jnaFigureBorder(const double p[3]);

// A closed surface. Vertices 0 to middleCount - 1 lie on the plane x = 0, then all left ones (x > 0), then
// their mirror images in the same order.
typedef struct FigureMesh {
    int vertexCount;
    int middleCount;
    int leftCount;
    double* positions; // [vertexCount][3]
    bool* bordered;    // [vertexCount], on the line where jnaFigureBorder is zero
    int triangleCount;
    int32_t* triangles; // [triangleCount][3]
} FigureMesh;

jnResult jnaCreateFigureMesh(FigureMesh* mesh, jnError* error);
void jnaDestroyFigureMesh(FigureMesh* mesh);

// The vertex on the other side, or the vertex itself in the middle.
static inline int MirrorVertex(const FigureMesh* mesh, int vertex)
{
    int left = vertex - mesh->middleCount;
    return left < 0 ? vertex : left < mesh->leftCount ? vertex + mesh->leftCount : vertex - mesh->leftCount;
}

// Neighbours of every vertex: list[start[v]] to list[start[v + 1] - 1], each once, in a fixed order.
typedef struct Neighbors {
    int* start;
    int* list;
} Neighbors;

// They are the arena's.
jnResult jnaCreateFigureNeighbors(int vertexCount, const int32_t* triangles, int triangleCount, jnaArena* arena,
    Neighbors* neighbors, jnError* error);

// Skinning weights. influences: [vertexCount].
jnResult jnaComputeFigureWeights(const FigureMesh* mesh, jnaInfluences* influences, jnError* error);

// A chart per triangle and the place of its three corners in the unit square.
// charts: [triangleCount]; uvs: [triangleCount][3][2].
jnResult jnaComputeFigureUvs(const FigureMesh* mesh, int* charts, double* uvs, jnError* error);

// 0 up to low, 1 from high on, smooth between.
static inline double SmoothStep(double low, double high, double x)
{
    double t = (x - low) / (high - low);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

// The left half of the body while it is being made. Vertices with x == 0 form its open rim.
typedef struct HalfMesh {
    int vertexCount;
    double* positions; // [vertexCount][3]
    bool* bordered;    // [vertexCount], stays where it is; written by jnaRelaxHalf
    int triangleCount;
    int32_t* triangles; // [triangleCount][3]
} HalfMesh;

// Evens out the triangles by flipping edges and sliding vertices along the surface.
jnResult jnaRelaxHalf(HalfMesh* half, jnError* error);
