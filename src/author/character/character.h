// A rigged surface and the motion on it, as the author side holds them, wherever they came from.
//
// Metres, seconds, Y up. Joint transforms are local to the parent: p_parent + G_parent * (S, then R, then T).
#pragma once

#include "jounce/base.h"

enum { JNA_NAME_LENGTH = 64, JNA_MAX_INFLUENCES = 8 };

/// One joint. Parents come before their children.
typedef struct jnaJoint {
    char name[JNA_NAME_LENGTH];
    int parent;            // index, -1 for a root
    float translation[3];  // rest pose, local
    float rotation[4];     // rest pose, local, unit quaternion x, y, z, w
    float scale[3];        // rest pose, local
    float inverseBind[12]; // rest surface to joint, 3 rows of 4 (row-major affine)
} jnaJoint;

/// The joints that move a vertex, largest weight first; unused entries have weight 0 and joint 0; the sum
/// is 1.
typedef struct jnaInfluences {
    uint16_t joints[JNA_MAX_INFLUENCES];
    float weights[JNA_MAX_INFLUENCES];
} jnaInfluences;

/// A run of triangles that share a material.
typedef struct jnaPart {
    char name[JNA_NAME_LENGTH];
    char material[JNA_NAME_LENGTH];
    float color[4]; // base colour, linear RGBA
    int firstTriangle;
    int triangleCount;
} jnaPart;

/// Numbers that the source gives each vertex: a colour, COLOR_0 and on, or an attribute of its own.
typedef struct jnaAttribute {
    char name[JNA_NAME_LENGTH];
    int width;     // 1 to 4
    float* values; // [vertexCount][width], finite; the mean of the file vertices that stand on the vertex
} jnaAttribute;

/// A rigged character. "File vertices" are the vertices of the source file, split at UV and normal seams;
/// "vertices" are welded, one per point of the surface, and are what is simulated.
typedef struct jnaCharacter {
    char name[JNA_NAME_LENGTH];
    int jointCount;
    jnaJoint* joints; // [jointCount]
    int vertexCount;
    float* positions;          // [vertexCount][3], rest pose
    jnaInfluences* influences; // [vertexCount]
    int fileVertexCount;
    int32_t* weld;      // [fileVertexCount], the vertex that a file vertex stands on
    float* fileNormals; // [fileVertexCount][3], unit
    float* fileUvs;     // [fileVertexCount][2], v counted from the bottom; NULL where the file has none
    int triangleCount;
    int32_t* triangles; // [triangleCount][3], file vertices, counter-clockwise seen from outside
    int partCount;
    jnaPart* parts; // [partCount], cover all triangles in order
    int attributeCount;
    jnaAttribute* attributes; // [attributeCount]; NULL where there are none
    int sourcePointCount;
    int32_t* sourcePoints; // [sourcePointCount], vertex of each point as the source numbers them, -1 where no face has
                           // it; NULL where the file does not tell; not kept in workspaces
} jnaCharacter;

/// What a clip is for.
typedef enum jnaRole {
    jna_train,
    jna_test,
} jnaRole;

/// Motion of a character's joints at a fixed rate.
typedef struct jnaClip {
    char name[JNA_NAME_LENGTH];
    double rate; // frames a second
    int frameCount;
    int jointCount;      // that of the character
    float* rotations;    // [frameCount][jointCount][4], local unit quaternions x, y, z, w
    float* translations; // [frameCount][jointCount][3], local
    float* scales;       // [frameCount][jointCount][3], local; NULL where all are the rest pose's
    bool looping;        // the frame after the last is the first
} jnaClip;

/// Allocates all arrays of a character for the counts already set in it (UVs if `withUvs`), zeroed.
jnResult jnaCharacter_Allocate(jnaCharacter* character, bool withUvs, jnError* error);
void jnaDestroyCharacter(jnaCharacter* character);

/// Adds an attribute, zeroed, and returns its values; NULL when memory is short. The name is cut where it is too long.
float* jnaCharacter_AddAttribute(jnaCharacter* character, const char* name, int width);

/// Allocates a clip's arrays for the counts already set in it, zeroed (scales only if `withScales`).
jnResult jnaClip_Allocate(jnaClip* clip, bool withScales, jnError* error);
void jnaDestroyClip(jnaClip* clip);

/// Whether a clip repeats.
typedef enum jnaLoop {
    jna_loopAuto, // where its first and last frame agree
    jna_loopYes,
    jna_loopNo,
} jnaLoop;

/// True where the last frame is the first again: every joint within half a degree and a millimetre.
bool jnaClip_EndsMeet(const jnaClip* clip);

/// Makes a clip a loop or not; a last frame that is the first again is dropped. Returns whether it became one now.
bool jnaClip_SetLoop(jnaClip* clip, jnaLoop loop);

/// Global joint matrices of one frame of a clip, or of the rest pose where clip is NULL.
/// matrices: [jointCount][12], affine, rows of 4; joint to world.
void jnaPoseMatrices(const jnaCharacter* character, const jnaClip* clip, int frame, float* matrices);

/// Linear blend skinning in double precision, the reference. positions: [vertexCount][3].
void jnaSkin(const jnaCharacter* character, const float* matrices, float* positions);
