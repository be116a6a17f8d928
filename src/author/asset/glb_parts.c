// See glb_parts.h.
#include "asset/glb_parts.h"

#include "base/arena.h"
#include "base/try.h"

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

jnResult jnaCreateGlbPart(const jnAsset* a, const jnAssetPart* part, jnaGlbPart* p, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    *p = (jnaGlbPart){.indexCount = 3 * part->triangleCount};
    bool* used = jnaArena_Take(&arena, a->fileVertexCount, sizeof(*used));
    int32_t* places = jnaArena_Take(&arena, a->fileVertexCount, sizeof(*places));
    p->indices = jnaArena_Give(&arena, p->indexCount, sizeof(*p->indices));
    p->vertices = jnaArena_Give(&arena, a->fileVertexCount, sizeof(*p->vertices));
    p->values = jnaArena_Give(&arena, a->fileVertexCount, 3 * sizeof(*p->values));
    JN_TRY(jnaArena_Check(&arena, "a part of the mesh", error));
    const int32_t* triangles = a->triangles + 3 * (size_t)part->firstTriangle;
    for (int i = 0; i < p->indexCount; ++i) {
        used[triangles[i]] = true;
    }
    for (int v = 0; v < a->fileVertexCount; ++v) {
        if (used[v]) {
            places[v] = p->count;
            p->vertices[p->count++] = v;
        }
    }
    for (int i = 0; i < p->indexCount; ++i) {
        p->indices[i] = (uint32_t)places[triangles[i]];
    }
done:
    jnaReleaseArena(&arena);
    return result;
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

json_int_t jnaAddGlbVectors(const jnaGlbPart* p, jnaGlbBuffer* buffer, bool bounds)
{
    return jnaGlbBuffer_Add(buffer, &(jnaGlbArray){.type = "VEC3",
                                        .component = JNA_GLB_FLOAT,
                                        .count = (size_t)p->count,
                                        .use = JNA_GLB_VERTICES,
                                        .data = p->values,
                                        .bounds = bounds});
}
