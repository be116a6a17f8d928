// See bake_order.h. The asset's rest surface is matched as a character's is when a cache is imported.
#include "asset/bake_order.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/import.h"
#include "character/vertex_match.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The points of a rigged file at rest: those of its source where the file keeps them, else its vertices.
static jnResult ReadRigged(const char* path, jnaMeshCache* cache, jnError* error)
{
    jnaCharacter c;
    jnaClipList clips;
    jnaImportDef def = jnaDefaultImportDef();
    jnResult result = jnaImportCharacter(path, &def, &c, &clips, NULL, NULL, error);
    if (result != jn_ok) {
        return result;
    }
    bool source = c.sourcePoints != NULL;
    int count = source ? c.sourcePointCount : c.fileVertexCount;
    *cache =
        (jnaMeshCache){.meshCount = 1, .frameCount = 1, .pointCount = count, .upAxis = JNA_UP_Y, .metresPerUnit = 1};
    cache->positions = malloc(3 * (size_t)count * sizeof(float) + 1);
    result = cache->positions != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    for (int i = 0; result == jn_ok && i < count; ++i) {
        int32_t vertex = source ? c.sourcePoints[i] : c.weld[i];
        if (vertex < 0) {
            result = jnFail(error, jn_badData, "%s: point %d of its mesh belongs to no face", path, i);
            break;
        }
        memcpy(cache->positions + 3 * (size_t)i, c.positions + 3 * (size_t)vertex, 3 * sizeof(float));
    }
    jnaDestroyCharacter(&c);
    jnaDestroyClipList(&clips);
    return result;
}

static jnResult ReadPoints(const char* path, jnaMeshCache* cache, jnError* error)
{
    *cache = (jnaMeshCache){0};
    return jnaIsMeshCache(path) ? jnaReadMeshCache(path, cache, error) : ReadRigged(path, cache, error);
}

// A file vertex for each point, and the triangles in points.
static jnResult FillOrder(const jnAsset* asset, const jnaMatch* match, jnaBakeOrder* order, jnError* error)
{
    size_t corners = 3 * (size_t)asset->triangleCount;
    jnaArena arena = {0};
    int32_t* fileOf = jnaArena_Take(&arena, asset->vertexCount, sizeof(*fileOf));
    int32_t* pointOf = jnaArena_Take(&arena, asset->vertexCount, sizeof(*pointOf));
    order->fileVertices = jnaArena_Give(&arena, match->pointCount, sizeof(*order->fileVertices));
    order->triangles = jnaArena_Give(&arena, (int64_t)corners, sizeof(*order->triangles));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the order of a bake", error));
    for (int i = asset->fileVertexCount - 1; i >= 0; --i) {
        fileOf[asset->weld[i]] = i;
    }
    for (int i = match->pointCount - 1; i >= 0; --i) {
        pointOf[match->vertices[i]] = i;
        order->fileVertices[i] = fileOf[match->vertices[i]];
    }
    for (size_t i = 0; i < corners; ++i) {
        order->triangles[i] = pointOf[asset->weld[asset->triangles[i]]];
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaReadBakeOrder(const char* path, const jnAsset* asset, jnaBakeOrder* order, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaMeshCache cache = {0};
    jnaMatch match = {0};
    *order = (jnaBakeOrder){0};
    float* rest = jnaArena_Take(&arena, 3 * (int64_t)asset->vertexCount, sizeof(*rest));
    JN_TRY(jnaArena_Check(&arena, "the order of a bake", error));
    for (size_t v = 0; v < (size_t)asset->vertexCount; ++v) {
        memcpy(rest + 3 * v, asset->rest + 4 * v, 3 * sizeof(float));
    }
    jnaMatchSurface surface = {.vertexCount = asset->vertexCount,
        .rest = rest,
        .fileVertexCount = asset->fileVertexCount,
        .weld = asset->weld,
        .triangleCount = asset->triangleCount,
        .triangles = asset->triangles};
    JN_TRY(ReadPoints(path, &cache, error));
    JN_TRY(jnaMatchVertices(path, &surface, &cache, &match, error));
    order->pointCount = match.pointCount;
    order->metresPerUnit = match.scale;
    memcpy(order->summary, match.summary, sizeof(order->summary));
    for (int i = 0; i < 9; ++i) {
        order->rotation[i] = match.rotation[3 * (i % 3) + i / 3];
    }
    JN_TRY(FillOrder(asset, &match, order, error));
done:
    jnaDestroyMatch(&match);
    jnaDestroyMeshCache(&cache);
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyBakeOrder(order);
    }
    return result;
}

void jnaDestroyBakeOrder(jnaBakeOrder* order)
{
    free(order->fileVertices);
    free(order->triangles);
    *order = (jnaBakeOrder){0};
}
