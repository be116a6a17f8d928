// A glTF file in memory, as the check and the repair share it.
#pragma once

#include "character/scene.h"

#include <jansson.h>

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
    jnaGltfBytes* buffers;
    size_t bufferCount;
    jnError* error;
} jnaGltf;

/// Where an accessor's elements lie. `data` is NULL where it has no buffer of its own (sparse, compressed).
typedef struct jnaGltfElements {
    const unsigned char* data;
    size_t count, width, stride;
    int component; // 5121 and so on
} jnaGltfElements;

/// The file inside the model's folder that a URI names, percent signs decoded. False where the URI leaves the folder, is
/// absolute or has a scheme. path: [JNA_PATH_LENGTH], relative to the folder.
bool jnaGltf_DecodeUri(const char* uri, char* path);

/// The same with the folder of the model in front; it must exist, and lie in that folder once links are followed.
jnResult jnaGltf_ResolveUri(const char* model, const char* uri, char* path, jnError* error);

/// Reads and parses a file; its buffers are not loaded yet. To be closed also on failure.
jnResult jnaOpenGltf(const char* path, jnaGltf* gltf, jnError* error);
void jnaCloseGltf(jnaGltf* gltf);

/// All of a file. data is NULL where it cannot be read.
jnaGltfBytes jnaGltf_ReadBytes(const char* path);

/// The buffers of the document, wherever they are; a length that is stated and not there is refused.
jnResult jnaGltf_LoadBuffers(jnaGltf* g);

/// Finds an accessor's elements, checked against their buffer.
jnResult jnaGltf_FindElements(const jnaGltf* g, size_t index, jnaGltfElements* elements);

/// jnaGltfBytes of one component (5120 to 5126); 0 for what is none.
size_t jnaGltf_ComponentSize(int64_t component);

/// One component as a float.
float jnaGltf_LoadComponent(const unsigned char* at, int component, bool normalized);

/// Adds to the order the attributes of one primitive whose names begin with an underscore.
jnResult jnaGltf_ListAttributes(const jnaGltf* g, const json_t* attributes, int primitive, jnaGltfOrder* order);

/// Rewrites what Assimp would read wrongly: weights, positions and keys stored as integers become floats, a
/// skin without bind matrices gets unit ones. *text: the whole document with its buffers inside, owned; NULL
/// where nothing was to do.
jnResult jnaGltf_Repair(jnaGltf* g, char** text);
