// Section HITS of a `.jounce` file without a surface, where it can be hit: where its arrays are, and every number in
// them looked at.
#include "asset_format.h"

#include <math.h>

#define LARGEST_PLACE 1e6f
#define LARGEST_UNIT 1e3f
// Weights add up to 1 within this.
#define UNIT_TOLERANCE 1e-2f

void jnPlaceHits(const jnAssetHitsHeader* h, uint64_t places[JN_HIT_ARRAYS + 1])
{
    const uint64_t sizes[JN_HIT_ARRAYS] = {(uint64_t)h->pointCount * sizeof(jnHitPoint),
        (uint64_t)h->pointCount * (uint64_t)h->modeCount * 3 * sizeof(int16_t),
        (uint64_t)h->vertexCount * sizeof(jnHitVertex)};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_HIT_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool IsUnit(float value)
{
    return value >= 0.0f && value <= LARGEST_UNIT; // false for what is not a number
}

static bool HeaderIsGood(const jnAssetBlock* block, const jnAssetHitsHeader* h)
{
    bool good = block->view.vertexCount == 0 && h->modeCount >= 1 && h->modeCount == block->view.modeCount &&
                h->pointCount >= 1 && h->pointCount <= JN_MAX_HIT_POINTS && h->vertexCount >= 1 &&
                h->vertexCount <= JN_MAX_ASSET_ELEMENTS;
    good = good && IsUnit(h->offsetUnit) && IsUnit(h->massUnit);
    for (int i = 0; i < 11; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

static bool PointIsGood(const jnHitPoint* point, int jointCount)
{
    bool good = IsUnit(point->rowScale);
    float sum = 0.0f;
    for (int i = 0; i < 3; ++i) {
        good = good && fabsf(point->rest[i]) <= LARGEST_PLACE;
    }
    for (int i = 0; i < JN_HIT_JOINTS; ++i) {
        good = good && point->joints[i] < jointCount && point->weights[i] >= 0.0f;
        sum += point->weights[i];
    }
    return good && fabsf(sum - 1.0f) <= UNIT_TOLERANCE;
}

static jnResult CheckHits(const jnAssetBlock* block, jnError* error)
{
    const jnHits* hits = &block->hits;
    bool good = true;
    for (int i = 0; good && i < hits->pointCount; ++i) {
        good = PointIsGood(&hits->points[i], block->view.jointCount);
    }
    for (int v = 0; good && v < hits->vertexCount; ++v) {
        int point = hits->vertices[v].point;
        good = point == JN_NO_HIT_POINT || point < hits->pointCount;
    }
    return good ? jn_ok
                : jnFail(error, jn_badData, "%s: section HITS: its points or vertices are damaged", block->source);
}

jnResult jnReadHits(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetHitsHeader* h = block->hitsHeader;
    uint64_t places[JN_HIT_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(block, h)) {
        return jnFail(error, jn_badData, "%s: section HITS does not begin with counts that can be", block->source);
    }
    jnPlaceHits(h, places);
    if (size != places[JN_HIT_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section HITS has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_HIT_ARRAYS]);
    }
    const char* at = (const char*)h;
    block->hits = (jnHits){.pointCount = h->pointCount,
        .vertexCount = h->vertexCount,
        .offsetUnit = h->offsetUnit,
        .massUnit = h->massUnit,
        .points = (const jnHitPoint*)(const void*)(at + places[0]),
        .rows = (const int16_t*)(const void*)(at + places[1]),
        .vertices = (const jnHitVertex*)(const void*)(at + places[2])};
    JN_PASS(CheckHits(block, error));
    block->view.hitVertexCount = h->vertexCount;
    return jn_ok;
}
