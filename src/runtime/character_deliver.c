// The way out: weights, positions, velocities and normals into the caller's arrays.
#include "character_internal.h"

#include <string.h>

enum { DENSE = 3 * sizeof(float) };

// Copies vectors to the caller: number map[i] to place i, or number i where there is no map.
static void Deliver(const float* from, const int32_t* map, int count, float* to, size_t stride)
{
    stride = stride != 0 ? stride : DENSE;
    if (map == NULL && stride == DENSE) {
        memcpy(to, from, (size_t)count * DENSE);
        return;
    }
    char* at = (char*)to;
    for (int i = 0; i < count; ++i, at += stride) {
        memcpy(at, from + 3 * (size_t)(map != NULL ? map[i] : i), DENSE);
    }
}

static void MakeNormals(jnCharacter* c)
{
    const jnAsset* asset = c->asset;
    jnNormalsPass pass = {
        .positions = c->positions,
        .ringStarts = asset->ringStarts,
        .rings = asset->rings,
        .normals = c->normals,
    };
    c->kernels->makeNormals(&pass, 0, jnBlockCount(asset->normalCount));
}

void jnDeliver(jnCharacter* c, const jnCharacterOutput* output, bool hasVelocities)
{
    const jnAsset* asset = c->asset;
    if (output == NULL) {
        return;
    }
    const int32_t* weld = output->welded || asset->weldIsIdentity ? NULL : asset->weld;
    const int32_t* normals = output->welded || asset->normalsAreIdentity ? NULL : asset->fileNormals;
    int count = output->welded ? asset->vertexCount : asset->fileVertexCount;
    if (output->positions != NULL) {
        Deliver(c->positions, weld, count, output->positions, output->positionStride);
    }
    if (output->velocities != NULL && hasVelocities) {
        Deliver(c->velocities, weld, count, output->velocities, output->velocityStride);
    }
    if (output->normals != NULL) {
        MakeNormals(c);
        Deliver(c->normals, normals, output->welded ? asset->normalCount : asset->fileVertexCount, output->normals,
            output->normalStride);
    }
}

void jnDeliverWeights(const jnCharacter* c, const float* columns, float* weights)
{
    const jnAsset* asset = c->asset;
    if (weights == NULL || asset->morphs == NULL) {
        return;
    }
    if (asset->weightMix != NULL) {
        jnMixWeights(asset, columns, columns, weights);
        return;
    }
    memcpy(weights, columns, (size_t)asset->componentCount * sizeof(float));
    memcpy(
        weights + asset->componentCount, columns + asset->morphs->firstMode, (size_t)asset->modeCount * sizeof(float));
    for (int i = 0; asset->weightScales != NULL && i < asset->componentCount + asset->modeCount; ++i) {
        weights[i] *= asset->weightScales[i];
    }
}

void jnDeliverRates(const jnCharacter* c, const float* columns, const float* rates, float* out)
{
    if (out != NULL && c->asset->weightMix != NULL) {
        jnMixWeights(c->asset, columns, rates, out);
    } else {
        jnDeliverWeights(c, rates, out);
    }
}
