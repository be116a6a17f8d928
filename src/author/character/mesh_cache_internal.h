// What the readers of mesh caches share.
#pragma once

#include "character/mesh_cache.h"

#include "base/affine.h"

/// One mesh of a file while it is put together with the others. Points of all frames are in world space.
typedef struct jnaCacheMesh {
    const char* name; // whole path inside the file
    int frameCount, pointCount;
    double start, rate;
    float* positions; // [frameCount][pointCount][3], owned
    int faceCount, cornerCount;
    int32_t* faceSizes; // owned, as are those below
    int32_t* corners;
    float* normals; // [cornerCount][3] or NULL
    float* uvs;     // [cornerCount][2] or NULL
    int32_t* ids;   // [pointCount] or NULL
} jnaCacheMesh;
void jnaDestroyCacheMesh(jnaCacheMesh* mesh);

/// Fails where a mesh cannot be a cache: no points, a face of fewer than three corners, a corner that is no point, a
/// position that is not finite. path: of the file.
jnResult jnaCheckCacheMesh(const char* path, const jnaCacheMesh* mesh, jnError* error);

/// Turns every face, and what stands at its corners, to the other winding.
void jnaReverseFaces(jnaCacheMesh* mesh);

/// Adds a checked mesh behind those that are there. Meshes of one frame stand still in a cache of several; other
/// differences in the number of frames are refused. The caller destroys the mesh, of which nothing may be left.
jnResult jnaMeshCache_Add(const char* path, size_t fileSize, jnaMeshCache* cache, jnaCacheMesh* mesh, jnError* error);

/// Bytes that positions of this many frames take, or 0 where that is more than an honest file of `fileSize` bytes
/// makes: a few bytes may say that a frame is repeated a billion times.
size_t jnaCacheBytes(uint64_t frameCount, uint64_t pointCount, size_t fileSize);

/// Whether a mesh is the one that was asked for: by its whole path in the file, the last part of it, or any by "".
bool jnaIsAskedFor(const char* path, const char* asked);

/// First frame and rate of times in seconds; rate 0 where they are not evenly spaced. count: at least 1.
void jnaFindRate(const double* times, int count, double* start, double* rate);

jnResult jnaReadAlembic(const char* path, const char* mesh, jnaMeshCache* cache, jnError* error);
jnResult jnaReadUsda(const char* path, const char* mesh, jnaMeshCache* cache, jnError* error);
jnResult jnaReadObjPoints(const char* path, jnaMeshCache* cache, jnError* error);

/// A text file as a terminated string, with its length; the caller frees it.
jnResult jnaReadText(const char* path, char** text, size_t* length, jnError* error);

/// Numbers that are collected one by one. failed: memory was short, and nothing is added any more.
typedef struct jnaFloats {
    float* values;
    size_t count, capacity;
    bool failed;
} jnaFloats;
typedef struct jnaIntegers {
    int32_t* values;
    size_t count, capacity;
    bool failed;
} jnaIntegers;
void jnaFloats_Add(jnaFloats* list, float value);
void jnaIntegers_Add(jnaIntegers* list, int32_t value);
