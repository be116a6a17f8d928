// What a file of some other program holds, as far as a character needs it: nodes, meshes with bones,
// animations.
//
// Assimp fills it in a child process, because it crashes or hangs on some damaged files. The child writes the
// scene as one stream; the parent trusts nothing in it: every count, index and number is checked before it is
// used. Nothing here is converted yet: units, axes and order are those of the file.
#pragma once

#include "base/watch.h"

#include "base/affine.h"

#include <stdio.h>

enum { JNA_SCENE_MAGIC = 0x31534e4a, JNA_MAX_SCENE_NODES = 65536 };

/// A node of the hierarchy. Parents come before their children; node 0 is the only root.
typedef struct jnaSceneNode {
    const char* name;
    int parent; // -1 for node 0
    jnaAffine local;
} jnaSceneNode;

typedef struct jnaSceneBone {
    int node;
    jnaAffine offset; // mesh to bone
    int weightCount;
    const uint32_t* vertices; // [weightCount]
    const float* weights;     // [weightCount], finite, not negative
} jnaSceneBone;

/// Numbers that the file gives each vertex: colours (COLOR_0 and on, four wide), and what glTF files call by a name
/// that begins with an underscore.
typedef struct jnaSceneAttribute {
    const char* name;
    int width;           // 1 to 4
    const float* values; // [vertexCount][width]; may hold anything
} jnaSceneAttribute;

typedef struct jnaSceneMesh {
    const char* name;
    int primitive; // of a glTF file, counted over all its meshes, vertex for vertex the same; -1: of none
    const char* material;
    float color[4];
    int vertexCount;
    const float* positions; // [vertexCount][3], finite
    const float* normals;   // [vertexCount][3] or NULL; may hold anything
    const float* uvs;       // [vertexCount][2] or NULL; may hold anything
    int attributeCount;
    jnaSceneAttribute* attributes; // [attributeCount]
    int triangleCount;
    const uint32_t* triangles; // [triangleCount][3], below vertexCount
    int boneCount;
    jnaSceneBone* bones; // [boneCount]
    int placeCount;
    const int32_t* places; // [placeCount], the nodes that carry the mesh
} jnaSceneMesh;

typedef struct jnaSceneKeys {
    int count;
    const double* times; // [count], ticks, never falling
    const float* values; // [count][3], rotations [count][4] as x, y, z, w
} jnaSceneKeys;

typedef struct jnaSceneChannel {
    int node;
    jnaSceneKeys translation, rotation, scale;
} jnaSceneChannel;

typedef struct jnaSceneAnimation {
    const char* name;
    double ticksPerSecond;
    int channelCount;
    jnaSceneChannel* channels; // [channelCount], each node at most once
} jnaSceneAnimation;

typedef struct jnaScene {
    double metresPerUnit; // as the file states it; 0 where it does not
    int upAxis;           // 0, 1 or 2
    int nodeCount;
    jnaSceneNode* nodes;
    int meshCount;
    jnaSceneMesh* meshes;
    int animationCount;
    jnaSceneAnimation* animations;
    void* stream; // what the names and arrays point into
} jnaScene;

/// Limits of the process that reads the file. 0: by the size of the file.
typedef struct jnaSceneLimits {
    size_t memory;  // bytes of address space, beyond what this process has
    double seconds; // wall-clock and processor time
    jnaWatch watch;
} jnaSceneLimits;

/// In the child: reads the file and writes what it holds, or why it cannot be read.
typedef void jnaWriteReading(const char* path, FILE* stream, void* user);

/// A file that is read in a confined child process.
typedef struct jnaReadingDef {
    const char* path;
    jnaWriteReading* write;
    void* user;
    jnaSceneLimits limits;
    size_t mostOutput; // bytes; 0: 2 GiB
} jnaReadingDef;

/// Runs the child and takes what it wrote, which is to be mistrusted like the file. *output: owned by the caller, set
/// where the result is jn_ok; NULL where nothing was written.
jnResult jnaReadInChild(const jnaReadingDef* read, char** output, size_t* size, jnError* error);

/// Reads a glTF, FBX or Collada file in a child process.
jnResult jnaReadScene(const char* path, const jnaSceneLimits* limits, jnaScene* scene, jnError* error);
void jnaDestroyScene(jnaScene* scene);

/// Checks a stream and makes the scene that points into it. The scene owns the stream afterwards, also on
/// failure.
jnResult jnaParseScene(const char* path, void* stream, size_t size, jnaScene* scene, jnError* error);

/// Child side: reads the file and writes the stream, a scene or a sentence that says why there is none.
void jnaWriteScene(const char* path, FILE* stream);

/// An attribute that Assimp does not know, of one primitive of a glTF file.
typedef struct jnaGltfAttribute {
    int primitive;
    char name[64];
    int width;     // 1 to 4
    float* values; // [vertexCount][width], owned
} jnaGltfAttribute;

/// The primitives of a glTF file in its own order, as Assimp would name them, and the document to read in its
/// stead.
typedef struct jnaGltfOrder {
    int count;
    char (*names)[128];
    int* vertexCounts;
    int attributeCount;
    jnaGltfAttribute* attributes;
    char* repaired; // JSON with everything inside; NULL where Assimp can read the file itself
} jnaGltfOrder;

/// Looks for what Assimp reads past in glTF: cut files, a hierarchy that is no tree, joints and accessors out
/// of range. order: what Assimp forgets, it sorts meshes by first use; the caller destroys it, also on failure.
jnResult jnaCheckGltf(const char* path, jnaGltfOrder* order, jnError* error);
void jnaDestroyGltfOrder(jnaGltfOrder* order);

/// True if the name ends so, whatever the case: jnaHasEnding("a.GLB", ".glb").
bool jnaHasEnding(const char* path, const char* ending);
