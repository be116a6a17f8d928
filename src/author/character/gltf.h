// A glTF 2.0 file in memory: the container, the parsed document, its buffers, and arrays read from them.
//
// All of it runs in the child process that reads files from elsewhere. A broken file ends in one sentence.
#pragma once

#include "base/arena.h"
#include "base/notes.h"
#include "character/scene.h"

#include <jansson.h>

enum { JNA_GLTF_FLOAT = 5126 }; // a component type

/// Some bytes of the file or beside it.
typedef struct jnaGltfBytes {
    unsigned char* data; // NULL where the buffer is not at hand
    size_t size;
    bool owned;
} jnaGltfBytes;

/// The parsed document and its buffers.
typedef struct jnaGltf {
    const char* path;
    jnaGltfBytes file;
    jnaGltfBytes binary; // the second chunk of a .glb
    json_t* root;
    size_t bufferCount;
    jnaGltfBytes* buffers; // [bufferCount]
    size_t viewCount;
    jnaGltfBytes* views; // [viewCount], buffer views that were compressed; data is NULL for those that were not
    jnaArena arena;      // arrays that were read
    jnaNotes notes;      // what was left out
    jnError* error;
} jnaGltf;

/// Where an accessor's elements lie. `data` is NULL where it has no buffer of its own: all are zero.
typedef struct jnaGltfElements {
    const unsigned char* data;
    size_t count, width, stride;
    int component; // 5121 and so on
} jnaGltfElements;

/// Reads a file and checks what everything else relies on: the container is whole, the hierarchy is a tree, accessors
/// lie in their buffers, skins name nodes and have their bind matrices. The caller closes it, also on failure.
jnResult jnaOpenGltf(const char* path, jnaGltf* g, jnError* error);

/// Its first half: the container, the JSON and the buffers.
jnResult jnaLoadGltf(const char* path, jnaGltf* g, jnError* error);
void jnaCloseGltf(jnaGltf* g);

/// Undo EXT_meshopt_compression and KHR_draco_mesh_compression: afterwards accessors are found as if there were none.
jnResult jnaGltf_DecompressViews(jnaGltf* g);
jnResult jnaGltf_DecompressMeshes(jnaGltf* g);

/// A new buffer view over memory that must come from malloc, which the document owns from now on; -1, and the memory is
/// freed, where there is none.
int jnaGltf_AddView(jnaGltf* g, unsigned char* data, size_t size);

/// The bytes of a view; false where it does not exist or lies outside its buffer.
bool jnaGltf_FindView(const jnaGltf* g, int64_t index, jnaGltfBytes* bytes);

/// The file inside the model's folder that a URI names, percent signs decoded. False where the URI leaves the folder,
/// is absolute or has a scheme. path: [JNA_PATH_LENGTH], relative to the folder.
bool jnaGltf_DecodeUri(const char* uri, char* path);

/// The same with the folder of the model in front; it must exist, and lie in that folder once links are followed.
jnResult jnaGltf_ResolveUri(const char* model, const char* uri, char* path, jnError* error);

/// Integer member of an object, or the fallback where it is none.
int64_t jnaGltf_Integer(const json_t* object, const char* key, int64_t fallback);

/// One element of a list of the document: jnaGltf_Entry(g, "meshes", 3). NULL where it is not there.
json_t* jnaGltf_Entry(const jnaGltf* g, const char* list, int64_t index);

/// Finds an accessor's elements, checked against their buffer.
jnResult jnaGltf_FindElements(const jnaGltf* g, size_t index, jnaGltfElements* elements);

/// Bytes of one component (5120 to 5126); 0 for what is none. Components of an element by its type; 0 for what is none.
size_t jnaGltf_ComponentSize(int64_t component);
size_t jnaGltf_TypeWidth(const char* type);

/// One component as a float.
float jnaGltf_LoadComponent(const unsigned char* at, int component, bool normalized);

/// An accessor's elements as floats, [count][width], with what a sparse accessor replaces. values: in the arena.
jnResult jnaGltf_ReadFloats(jnaGltf* g, int64_t accessor, size_t* count, size_t* width, float** values);

/// The same of unsigned integers of one component or more.
jnResult jnaGltf_ReadIntegers(jnaGltf* g, int64_t accessor, size_t* count, size_t* width, uint32_t** values);

/// Nodes of the scene in depth-first order, parents first.
typedef struct jnaGltfNodes {
    int count;
    int32_t* nodes;   // [count], of the file; -1: the root above several roots
    int32_t* parents; // [count]
    int32_t* places;  // [nodes of the file], where each stands in this list; -1: in another scene
} jnaGltfNodes;

/// Writes all meshes of the nodes, their number first; the animations likewise.
jnResult jnaGltf_PutMeshes(jnaGltf* g, const jnaGltfNodes* nodes, FILE* stream);
jnResult jnaGltf_PutAnimations(jnaGltf* g, const jnaGltfNodes* nodes, FILE* stream);

/// Name of a node, made up where it has none.
const char* jnaGltf_NodeName(jnaGltf* g, int node);
