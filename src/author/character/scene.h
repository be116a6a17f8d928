// What a file of some other program holds, as far as a character needs it: nodes, meshes with bones,
// animations.
//
// It is filled in a child process: of FBX and Collada by Assimp, which crashes or hangs on some damaged files, of glTF
// by a reader of our own. The child writes the scene as one stream; the parent trusts nothing in it: every count, index
// and number is checked before it is used. Nothing here is converted yet: units, axes and order are those of the file.
#pragma once

#include "base/notes.h"
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
    const char* name; // for messages
    int node;         // in the child -1: not in the hierarchy, -2: several nodes of that name
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

/// A morph target (shape key, blend shape): what a mesh is displaced by, in its own space.
typedef struct jnaSceneTarget {
    const char* name;
    float weight;         // at rest
    const float* offsets; // [vertexCount][3], finite
} jnaSceneTarget;

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
    int targetCount;
    jnaSceneTarget* targets; // [targetCount]
    int triangleCount;
    const uint32_t* triangles; // [triangleCount][3], below vertexCount
    int boneCount;
    jnaSceneBone* bones; // [boneCount]
    int placeCount;
    const int32_t* places; // [placeCount], the nodes that carry the mesh
} jnaSceneMesh;

/// What lies between two keys.
typedef enum jnaInterpolation {
    jna_linearKeys, // a straight line, for rotations the shorter arc
    jna_stepKeys,   // the earlier key
    jna_cubicKeys,  // glTF's cubic Hermite spline
} jnaInterpolation;

typedef struct jnaSceneKeys {
    int count;
    jnaInterpolation interpolation;
    const double* times; // [count], ticks, never falling
    const float* values; // [count][width], rotations as x, y, z, w; of cubic keys [count][3][width]: slope a tick
                         // before the key, value, slope behind it
} jnaSceneKeys;

typedef struct jnaSceneChannel {
    int node;
    jnaSceneKeys translation, rotation, scale;
    int weightCount;      // morph targets of the node's mesh; 0 where the channel has no keys of theirs
    jnaSceneKeys weights; // [count][weightCount]
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
    int noteCount;
    const char** notes; // [noteCount], what the reader left out
    void* stream;       // what the names and arrays point into
} jnaScene;

/// Limits of the process that reads the file. 0: by the size of the file.
typedef struct jnaSceneLimits {
    size_t memory;  // bytes of address space, beyond what this process has
    double seconds; // wall-clock and processor time
    jnaWatch watch;
    jnaNotes* notes; // where the process cannot be confined, once; may be NULL
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

/// The same of a glTF file, by a reader of our own (gltf_scene.c). On failure nothing, or half a scene, has been
/// written.
jnResult jnaWriteGltfScene(const char* path, FILE* stream, jnError* error);

/// True if the name ends so, whatever the case: jnaHasEnding("a.GLB", ".glb").
bool jnaHasEnding(const char* path, const char* ending);
