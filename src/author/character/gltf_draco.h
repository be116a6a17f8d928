// Draco's decoder, as far as glTF needs it, for C.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A mesh that was unpacked.
typedef struct jnaDracoMesh jnaDracoMesh;

/// Whether this build has the decoder. Without it nothing is unpacked.
bool jnaHasDraco(void);

/// Unpacks a mesh; NULL where the bytes are none or memory is short.
jnaDracoMesh* jnaOpenDraco(const void* data, size_t size);
void jnaCloseDraco(jnaDracoMesh* mesh);

size_t jnaDraco_VertexCount(const jnaDracoMesh* mesh);
size_t jnaDraco_FaceCount(const jnaDracoMesh* mesh);

/// Vertices of the faces. indices: [faceCount][3].
void jnaDraco_ReadFaces(const jnaDracoMesh* mesh, uint32_t* indices);

/// Numbers of an attribute, by its id, in the type that glTF calls by this number (5120 to 5126). values:
/// [vertexCount][width], width at most 16. False where there is no such attribute or the type cannot hold it.
bool jnaDraco_ReadAttribute(const jnaDracoMesh* mesh, int64_t id, int component, size_t width, void* values);

#ifdef __cplusplus
}
#endif
