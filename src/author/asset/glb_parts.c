// See glb_parts.h.
#include "asset/glb_parts.h"

#include <math.h>
#include <stdlib.h>

int jnaCountGlbParts(const jnAsset* asset)
{
    return asset->partCount > 0 ? asset->partCount : 1;
}

const jnAssetPart* jnaFindGlbPart(const jnAsset* asset, int index, jnAssetPart* whole)
{
    *whole = (jnAssetPart){.name = "surface",
        .material = "surface",
        .color = {0.8f, 0.8f, 0.8f, 1},
        .triangleCount = asset->triangleCount};
    return asset->partCount > 0 ? &asset->parts[index] : whole;
}

void jnaDestroyGlbPart(jnaGlbPart* p)
{
    free(p->vertices);
    free(p->indices);
    free(p->values);
    *p = (jnaGlbPart){0};
}

bool jnaCreateGlbPart(const jnAsset* a, const jnAssetPart* part, jnaGlbPart* p)
{
    *p = (jnaGlbPart){.indexCount = 3 * part->triangleCount};
    int32_t* places = malloc((size_t)a->fileVertexCount * sizeof(*places) + 1);
    p->indices = malloc((size_t)p->indexCount * sizeof(*p->indices) + 1);
    p->vertices = malloc((size_t)a->fileVertexCount * sizeof(*p->vertices) + 1);
    p->values = malloc(3 * (size_t)a->fileVertexCount * sizeof(*p->values) + 1);
    bool good = places != NULL && p->indices != NULL && p->vertices != NULL && p->values != NULL;
    const int32_t* triangles = a->triangles + 3 * (size_t)part->firstTriangle;
    for (int v = 0; good && v < a->fileVertexCount; ++v) {
        places[v] = -1;
    }
    for (int i = 0; good && i < p->indexCount; ++i) {
        places[triangles[i]] = 0;
    }
    for (int v = 0; good && v < a->fileVertexCount; ++v) {
        if (places[v] == 0) {
            places[v] = p->count;
            p->vertices[p->count++] = v;
        }
    }
    for (int i = 0; good && i < p->indexCount; ++i) {
        p->indices[i] = (uint32_t)places[triangles[i]];
    }
    free(places);
    return good;
}

json_t* jnaMakeGltfMaterial(const jnAssetPart* part)
{
    json_t* color = json_array();
    for (int k = 0; k < 4; ++k) {
        json_array_append_new(color, json_real(fmin(fmax((double)part->color[k], 0.0), 1.0)));
    }
    return json_pack("{s:s, s:{s:o, s:f, s:f}}", "name", part->material, "pbrMetallicRoughness", "baseColorFactor",
        color, "metallicFactor", 0.0, "roughnessFactor", 0.7);
}

json_int_t jnaAddGlbUvs(const jnAsset* a, jnaGlbPart* p, jnaGlbBuffer* buffer)
{
    for (size_t i = 0; i < (size_t)p->count; ++i) {
        const float* uv = a->uvs + 2 * (size_t)p->vertices[i];
        p->values[2 * i] = uv[0];
        p->values[2 * i + 1] = 1.0f - uv[1];
    }
    return jnaGlbBuffer_Add(buffer, &(jnaGlbArray){.type = "VEC2",
                                        .component = JNA_GLB_FLOAT,
                                        .count = (size_t)p->count,
                                        .use = JNA_GLB_VERTICES,
                                        .data = p->values});
}
