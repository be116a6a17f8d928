// Section TARG of a `.jounce` file, the morph targets of the source: where its arrays are, every number in them looked
// at; what they add to a surface; their weights in clips.
#include "asset_format.h"

#include <math.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };

void jnPlaceTargets(const jnAssetTargetsHeader* h, int blockCount, int clipCount, uint64_t places[JN_TARGET_ARRAYS + 1])
{
    const uint64_t sizes[JN_TARGET_ARRAYS] = {(uint64_t)h->targetCount * sizeof(jnAssetTarget),
        ((uint64_t)blockCount + 1) * sizeof(uint32_t), (uint64_t)h->entryCount * sizeof(uint16_t),
        (uint64_t)h->entryCount * FIELD * sizeof(float), (uint64_t)clipCount * sizeof(uint32_t),
        (uint64_t)h->trackCount * sizeof(float)};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_TARGET_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool HeaderIsGood(const jnAssetBlock* block, const jnAssetTargetsHeader* h)
{
    bool good = h->targetCount >= 1 && h->targetCount <= JN_MAX_TARGETS && h->trackCount <= JN_MAX_ASSET_ELEMENTS;
    good = good && h->entryCount <= (uint64_t)h->targetCount * (uint64_t)block->view.blockCount;
    for (int i = 0; i < 13; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

static bool AllFinite(const float* values, size_t count)
{
    bool good = true;
    for (size_t i = 0; good && i < count; ++i) {
        good = jnIsFinite(values[i]) && fabsf(values[i]) <= 1e6f;
    }
    return good;
}

static bool EntriesAreGood(const jnTargets* t, int blockCount, int targetCount)
{
    bool good = t->starts[0] == 0 && t->starts[blockCount] == t->entryCount;
    for (int b = 0; good && b < blockCount; ++b) {
        good = t->starts[b + 1] >= t->starts[b] && t->starts[b + 1] <= t->entryCount;
        for (uint32_t e = t->starts[b]; good && e < t->starts[b + 1]; ++e) {
            good = t->numbers[e] < targetCount && (e == t->starts[b] || t->numbers[e] > t->numbers[e - 1]);
        }
    }
    return good && AllFinite(t->values, (size_t)t->entryCount * FIELD);
}

static jnResult CheckTargets(const jnAssetBlock* block, const jnAssetTargetsHeader* h, jnError* error)
{
    const jnTargets* t = &block->targets;
    bool good = true;
    for (int i = 0; good && i < h->targetCount; ++i) {
        good = t->targets[i].name[JN_NAME_LENGTH - 1] == '\0' && AllFinite(&t->targets[i].weight, 1);
    }
    if (!good || !EntriesAreGood(t, block->view.blockCount, h->targetCount)) {
        return jnFail(error, jn_badData, "%s: section TARG: its targets or their entries are damaged", block->source);
    }
    for (int c = 0; good && c < block->view.clipCount; ++c) {
        uint64_t floats =
            block->clips != NULL ? (uint64_t)block->clips[c].frameCount * (uint64_t)h->targetCount : UINT64_MAX;
        good = t->tracks[c] == h->trackCount ||
               (floats <= h->trackCount && t->tracks[c] <= h->trackCount - (uint32_t)floats);
    }
    return good && AllFinite(t->weights, h->trackCount)
               ? jn_ok
               : jnFail(error, jn_badData, "%s: section TARG: the weights of a clip are damaged", block->source);
}

jnResult jnReadTargets(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetTargetsHeader* h = block->targetsHeader;
    uint64_t places[JN_TARGET_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(block, h)) {
        return jnFail(error, jn_badData, "%s: section TARG does not begin with counts that can be", block->source);
    }
    jnPlaceTargets(h, block->view.blockCount, block->view.clipCount, places);
    if (size != places[JN_TARGET_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section TARG has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_TARGET_ARRAYS]);
    }
    const char* at = (const char*)h;
    block->targets = (jnTargets){.entryCount = h->entryCount,
        .trackCount = h->trackCount,
        .targets = (const jnAssetTarget*)(const void*)(at + places[0]),
        .starts = (const uint32_t*)(const void*)(at + places[1]),
        .numbers = (const uint16_t*)(const void*)(at + places[2]),
        .values = (const float*)(const void*)(at + places[3]),
        .tracks = (const uint32_t*)(const void*)(at + places[4]),
        .weights = (const float*)(const void*)(at + places[5])};
    jnResult result = CheckTargets(block, h, error);
    block->view.targetCount = result == jn_ok ? h->targetCount : 0;
    block->view.targets = result == jn_ok ? block->targets.targets : NULL;
    return result;
}

static const jnTargets* TargetsOf(const jnAsset* asset)
{
    return &((const jnAssetBlock*)(const void*)asset)->targets;
}

void jnAddTargets(const jnAsset* asset, const float* weights, int first, int end, float* field, int start)
{
    const jnTargets* t = TargetsOf(asset);
    for (int b = first; b < end; ++b) {
        float* to = field + (size_t)(b - start) * FIELD;
        for (uint32_t e = t->starts[b]; e < t->starts[b + 1]; ++e) {
            const float *from = t->values + (size_t)e * FIELD, weight = weights[t->numbers[e]];
            for (int i = 0; weight != 0.0f && i < FIELD; ++i) {
                to[i] += weight * from[i];
            }
        }
    }
}

void jnFindTargetDelta(const jnAsset* asset, int target, int vertex, float delta[3])
{
    const jnTargets* t = TargetsOf(asset);
    int b = vertex / JN_LANES;
    memset(delta, 0, 3 * sizeof(float));
    for (uint32_t e = t->starts[b]; e < t->starts[b + 1]; ++e) {
        for (int i = 0; t->numbers[e] == target && i < 3; ++i) {
            delta[i] = t->values[(size_t)e * FIELD + (size_t)(i * JN_LANES + vertex % JN_LANES)];
        }
    }
}

int jnAsset_FindTarget(const jnAsset* asset, const char* name)
{
    if (JN_BROKEN(asset != NULL && name != NULL)) {
        return -1;
    }
    for (int i = 0; i < asset->targetCount; ++i) {
        if (strcmp(asset->targets[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void jnAsset_SampleTargets(const jnAsset* asset, int index, double seconds, float* weights)
{
    if (JN_BROKEN(asset != NULL && (weights != NULL || asset->targetCount == 0))) {
        return;
    }
    bool known = !JN_BROKEN(index >= 0 && index < asset->clipCount);
    const jnTargets* t = TargetsOf(asset);
    size_t count = (size_t)asset->targetCount;
    bool plays = known && count > 0 && t->tracks[index] < t->trackCount;
    jnClipPlace at = {0};
    if (plays) {
        jnAssetClip clip = jnAsset_Clip(asset, index);
        at = jnPlaceInClip(&clip, seconds);
    }
    for (size_t i = 0; i < count; ++i) {
        weights[i] = asset->targets[i].weight;
        if (plays) {
            const float* track = t->weights + t->tracks[index] + i;
            float from = track[(size_t)at.frames[1] * count], to = track[(size_t)at.frames[2] * count];
            weights[i] = from + at.share * (to - from);
        }
    }
}
