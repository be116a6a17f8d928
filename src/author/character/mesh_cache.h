// Moving meshes as other programs exchange them: points over time and faces that stay.
//
// Read from Alembic (.abc), USD text (.usda), PC2, MDD, NumPy (.npy, .npz), and OBJ as a single frame. Units, axes and
// the order of the points are those of the file; transforms above a mesh are applied. vertex_match.h finds which point
// is which vertex of a character.
#pragma once

#include "base/file.h"
#include "character/character.h"

enum { JNA_UP_UNKNOWN = -1, JNA_UP_Y = 1, JNA_UP_Z = 2 };

/// What a cache file holds. Several meshes are one after another. Owned; all zeroes is empty.
typedef struct jnaMeshCache {
    char name[JNA_NAME_LENGTH]; // of the mesh, or of the array; "" where the file has no names
    int meshCount;
    int frameCount, pointCount;
    double start;         // seconds of the first frame
    double rate;          // frames a second; 0 where the file does not say, or where frames are not evenly spaced
    double metresPerUnit; // as the file states it; 0 where it does not
    int upAxis;           // JNA_UP_Y or JNA_UP_Z as the file states it, or JNA_UP_UNKNOWN
    float* positions;     // [frameCount][pointCount][3], finite
    int faceCount, cornerCount;
    int32_t* faceSizes; // [faceCount], corners of each face; NULL where the file has no faces
    int32_t* corners;   // [cornerCount], points, counter-clockwise seen from outside
    float* normals;     // [cornerCount][3], of the first frame; NULL where the file has none
    float* uvs;         // [cornerCount][2]; NULL where the file has none
    int32_t* ids;       // [pointCount], the number that the source gave each point; NULL where the file has none
} jnaMeshCache;

/// Reads a cache by its ending. FILE.npz:ARRAY, FILE.abc:MESH and FILE.usda:MESH name what is meant where a file holds
/// several. Every count and offset is checked before it is used; a damaged file ends in one sentence.
jnResult jnaReadMeshCache(const char* path, jnaMeshCache* cache, jnError* error);
void jnaDestroyMeshCache(jnaMeshCache* cache);

/// True if jnaReadMeshCache knows the ending.
bool jnaIsMeshCache(const char* path);

/// True for names of attributes that hold a point's number in the source: _SOURCE_VERTEX, __VID, id and the like.
bool jnaIsSourceId(const char* name);

/// Splits FILE:MEMBER where FILE ends as one that holds several things and MEMBER is not empty; else member is "".
/// file, member: [size] each, always terminated.
void jnaSplitMember(const char* path, char* file, char* member, size_t size);

/// A mesh to be written frame by frame. Triangles, because that is what a character has.
typedef struct jnaMeshCacheDef {
    const char* name;
    int frameCount, pointCount, triangleCount;
    const int32_t* triangles; // [triangleCount][3], points, counter-clockwise seen from outside
    const float* uvs;         // [triangleCount][3][2], or NULL
    bool withNormals;         // every frame comes with normals
    bool normalsAtCorners;    // [triangleCount][3][3] a frame; else [pointCount][3]
    double rate;              // frames a second
    double metresPerUnit;     // USD says so; Alembic has no place for it
    int upAxis;               // JNA_UP_Y or JNA_UP_Z; USD says so
} jnaMeshCacheDef;

/// A file in the making. Create, add every frame in order, then commit; abandon is harmless after that.
typedef struct jnaMeshCacheFile {
    jnaMeshCacheDef def;
    jnaFile file;
    int framesAdded;
    void* state; // of the format
} jnaMeshCacheFile;

/// Alembic in the Ogawa container: one Xform with one PolyMesh.
jnResult jnaCreateAlembic(const char* path, const jnaMeshCacheDef* def, jnaMeshCacheFile* file, jnError* error);
jnResult jnaAlembic_AddFrame(jnaMeshCacheFile* file, const float* positions, const float* normals, jnError* error);
jnResult jnaAlembic_Commit(jnaMeshCacheFile* file, jnError* error);
void jnaAlembic_Abandon(jnaMeshCacheFile* file);

/// USD as text: one Xform with one Mesh whose points are time samples.
jnResult jnaCreateUsda(const char* path, const jnaMeshCacheDef* def, jnaMeshCacheFile* file, jnError* error);
jnResult jnaUsda_AddFrame(jnaMeshCacheFile* file, const float* positions, const float* normals, jnError* error);
jnResult jnaUsda_Commit(jnaMeshCacheFile* file, jnError* error);
void jnaUsda_Abandon(jnaMeshCacheFile* file);
