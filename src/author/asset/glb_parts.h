// The parts of an asset as primitives of a glTF mesh: each with vertices of its own.
#pragma once

#include "asset/glb_buffer.h"
#include "jounce/asset.h"

/// The vertices of one part, so that a program that reads the file sees no others, and its triangles in them.
typedef struct jnaGlbPart {
    int count;
    int32_t* vertices; // [count], file vertices, rising
    int indexCount;
    uint32_t* indices; // [indexCount]
    float* values;     // [fileVertexCount][3], scratch
} jnaGlbPart;

/// How many parts there are: an asset without any is one part.
int jnaCountGlbParts(const jnAsset* asset);
/// Part `index`; `whole` is filled and returned where the asset has none.
const jnAssetPart* jnaFindGlbPart(const jnAsset* asset, int index, jnAssetPart* whole);

/// Fails where memory is short; to be destroyed all the same.
jnResult jnaCreateGlbPart(const jnAsset* asset, const jnAssetPart* part, jnaGlbPart* p, jnError* error);
void jnaDestroyGlbPart(jnaGlbPart* p);

/// A material of the part's colour.
json_t* jnaMakeGltfMaterial(const jnAssetPart* part);

/// The part's UVs, which an asset has; glTF counts v from the top. Returns the accessor.
json_int_t jnaAddGlbUvs(const jnAsset* asset, jnaGlbPart* p, jnaGlbBuffer* buffer);

/// The part's scratch values as an accessor of vectors. Returns it. bounds: with min and max.
json_int_t jnaAddGlbVectors(const jnaGlbPart* p, jnaGlbBuffer* buffer, bool bounds);
