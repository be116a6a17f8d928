// Section WMIX of a `.jounce` file beside a .glb: the weights of that file's targets as sums of the runtime's own.
//
//     y_t = sum_k mix_tk w_k      paired: y_2t = max(y, 0), y_2t+1 = max(-y, 0)
#include "asset_format.h"

#include <math.h>

#define LARGEST_MIX 1e6f

static bool HeaderIsGood(const jnAssetMixHeader* h)
{
    bool good = h->rowCount >= 1 && h->rowCount <= JN_MAX_COLUMNS && h->paired <= 1;
    for (int i = 0; i < 14; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

jnResult jnReadMix(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetMixHeader* h = block->mixHeader;
    jnAsset* a = &block->view;
    uint64_t columns = (uint64_t)a->componentCount + (uint64_t)a->modeCount;
    if (size < sizeof(*h) || !HeaderIsGood(h) || columns == 0) {
        return jnFail(error, jn_badData, "%s: section WMIX does not begin with counts that can be", block->source);
    }
    uint64_t count = (uint64_t)h->rowCount * columns;
    if (size != sizeof(*h) + count * sizeof(float)) {
        return jnFail(error, jn_badData, "%s: section WMIX has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)(sizeof(*h) + count * sizeof(float)));
    }
    const float* mix = (const float*)(const void*)(h + 1);
    for (uint64_t i = 0; i < count; ++i) {
        if (!(fabsf(mix[i]) <= LARGEST_MIX)) {
            return jnFail(error, jn_badData, "%s: section WMIX: number %llu is %g", block->source,
                (unsigned long long)i, (double)mix[i]);
        }
    }
    a->weightMix = mix;
    a->weightsArePairs = h->paired != 0;
    a->weightCount = h->rowCount * (a->weightsArePairs ? 2 : 1);
    return jn_ok;
}

// One row. values: components, then modes from firstMode on.
static float Combine(const jnAsset* a, const float* row, const float* values)
{
    const float* modes = values + a->morphs->firstMode;
    float sum = 0.0f;
    for (int k = 0; k < a->componentCount; ++k) {
        sum += row[k] * values[k];
    }
    for (int k = 0; k < a->modeCount; ++k) {
        sum += row[a->componentCount + k] * modes[k];
    }
    return sum;
}

void jnMixWeights(const jnAsset* a, const float* columns, const float* values, float* out)
{
    size_t width = (size_t)(a->componentCount + a->modeCount);
    int rows = a->weightsArePairs ? a->weightCount / 2 : a->weightCount;
    for (int t = 0; t < rows; ++t) {
        const float* row = a->weightMix + (size_t)t * width;
        float value = Combine(a, row, values);
        if (a->weightsArePairs) {
            bool negative = (values == columns ? value : Combine(a, row, columns)) < 0.0f;
            out[2 * t] = negative ? 0.0f : value;
            out[2 * t + 1] = negative ? -value : 0.0f;
        } else {
            out[t] = value;
        }
    }
}
