// Section BOND of a `.jounce` file: where its arrays are, and every number in them looked at.
#include "asset_format.h"

#include <math.h>
#include <string.h>

#define LARGEST 1e12f

void jnPlaceBound(const jnAssetBoundHeader* h, uint64_t places[JN_BOUND_ARRAYS + 1])
{
    uint64_t blocks = (uint64_t)h->blockCount, lanes = (uint64_t)jnBlockCount(h->modeCount) * JN_LANES;
    const uint64_t sizes[JN_BOUND_ARRAYS] = {blocks * JN_LANES * sizeof(float), blocks * lanes * sizeof(float),
        blocks * lanes * sizeof(float), blocks * JN_BOUND_ROWS * (uint64_t)h->modeCount * JN_LANES * sizeof(float)};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_BOUND_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool HeaderIsGood(const jnAssetBlock* block, const jnAssetBoundHeader* h)
{
    bool good = h->blockCount >= 1 && h->blockCount <= JN_MAX_BOUND_BLOCKS && block->view.modes != NULL &&
                h->modeCount == block->view.modeCount && h->low > 0.0f && h->low < 1.0f && h->high > 0.0f &&
                h->high <= 100.0f;
    for (int i = 0; i < 12; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

static bool AreIn(const float* values, uint64_t count, float low, float high)
{
    for (uint64_t i = 0; i < count; ++i) {
        if (!(values[i] >= low && values[i] <= high)) {
            return false;
        }
    }
    return true;
}

jnResult jnReadBound(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetBoundHeader* h = block->boundHeader;
    uint64_t places[JN_BOUND_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(block, h)) {
        return jnFail(error, jn_badData, "%s: section BOND does not begin with counts that can be", block->source);
    }
    jnPlaceBound(h, places);
    if (size != places[JN_BOUND_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section BOND has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_BOUND_ARRAYS]);
    }
    const char* at = (const char*)h;
    uint64_t blocks = (uint64_t)h->blockCount, lanes = (uint64_t)jnBlockCount(h->modeCount) * JN_LANES;
    block->bound = (jnBound){.blockCount = h->blockCount,
        .modeCount = h->modeCount,
        .low = h->low,
        .high = h->high,
        .limits = (const float*)(const void*)(at + places[0]),
        .gains = (const float*)(const void*)(at + places[1]),
        .parts = (const float*)(const void*)(at + places[2]),
        .rows = (const float*)(const void*)(at + places[3])};
    const jnBound* b = &block->bound;
    uint64_t rows = blocks * JN_BOUND_ROWS * (uint64_t)h->modeCount * JN_LANES;
    if (!AreIn(b->limits, blocks * JN_LANES, 0.0f, LARGEST) || !AreIn(b->gains, blocks * lanes, 0.0f, LARGEST) ||
        !AreIn(b->parts, blocks * lanes, 0.0f, 1.0f) || !AreIn(b->rows, rows, -LARGEST, LARGEST)) {
        return jnFail(error, jn_badData, "%s: section BOND has a number that is out of range", block->source);
    }
    return jn_ok;
}
