// Section TUCH of a `.jounce` file, how the skin gives way where it is pressed: where its arrays are, and every number
// in them looked at.
#include "asset_format.h"

#include <math.h>

#define LARGEST_PLACE 1e6f
#define LARGEST_UNIT 1e3f
// A push that moves skin by more than a metre for a newton, or by nothing, is none.
#define LEAST_COMPLIANCE 1e-9f
#define LARGEST_COMPLIANCE 1.0f
#define UNIT_TOLERANCE 1e-2f

void jnPlaceTouch(const jnAssetTouchHeader* h, uint64_t places[JN_TOUCH_ARRAYS + 1])
{
    uint64_t probes = (uint64_t)h->probeCount, entries = h->entryCount;
    const uint64_t sizes[JN_TOUCH_ARRAYS] = {(probes + 1) * sizeof(jnTouchProbe),
        (uint64_t)h->groupCount * sizeof(jnTouchGroup), (uint64_t)h->linkCount * sizeof(jnTouchLink),
        entries * sizeof(int32_t), probes * (uint64_t)h->columnCount * 3 * sizeof(int16_t), entries * 3 * JN_LANES};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_TOUCH_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool IsWithin(float value, float low, float high)
{
    return value >= low && value <= high; // false for what is not a number
}

static bool HeaderIsGood(const jnAssetBlock* block, const jnAssetTouchHeader* h)
{
    const jnAsset* a = &block->view;
    bool good = a->vertexCount > 0 && h->probeCount >= 1 && h->probeCount <= JN_MAX_PROBES && h->groupCount >= 1 &&
                h->groupCount <= h->probeCount && h->columnCount == (a->morphs != NULL ? a->morphs->columnCount : 0) &&
                h->linkCount <= JN_MAX_ASSET_ELEMENTS && h->entryCount <= JN_MAX_ASSET_ELEMENTS &&
                IsWithin(h->stiffening, 0.0f, LARGEST_UNIT);
    for (int i = 0; i < 10; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

static bool ProbeIsGood(const jnTouchTable* t, const jnTouchProbe* p, int vertexCount)
{
    float square = p->normal[0] * p->normal[0] + p->normal[1] * p->normal[1] + p->normal[2] * p->normal[2];
    bool good = fabsf(square - 1.0f) <= UNIT_TOLERANCE && p->vertex >= 0 && p->vertex < vertexCount &&
                IsWithin(p->compliance, LEAST_COMPLIANCE, LARGEST_COMPLIANCE) &&
                IsWithin(p->depth, 0.0f, LARGEST_UNIT) && IsWithin(p->rowUnit, 0.0f, LARGEST_UNIT) &&
                IsWithin(p->entryUnit, 0.0f, LARGEST_UNIT);
    good = good && p->links <= p[1].links && p[1].links <= t->linkCount && p->entries <= p[1].entries &&
           p[1].entries <= t->entryCount;
    for (uint32_t i = p->links; good && i < p[1].links; ++i) {
        good = t->links[i].probe < t->probeCount;
    }
    return good;
}

static bool GroupIsGood(const jnTouchTable* t, const jnTouchGroup* g, int jointCount)
{
    bool good = IsWithin(g->radius, 0.0f, LARGEST_PLACE) && g->count >= 0 && g->count <= JN_GROUP_PROBES &&
                g->first >= 0 && g->first <= t->probeCount - g->count;
    for (int i = 0; i < JN_GROUP_JOINTS; ++i) {
        good = good && g->joints[i] < jointCount && (i >= 3 || IsWithin(g->center[i], -LARGEST_PLACE, LARGEST_PLACE));
    }
    return good;
}

static jnResult CheckTouch(const jnAssetBlock* block, jnError* error)
{
    const jnTouchTable* t = &block->touch;
    bool good = t->probes[0].links == 0 && t->probes[0].entries == 0;
    for (int i = 0; good && i < t->probeCount; ++i) {
        good = ProbeIsGood(t, &t->probes[i], block->view.vertexCount);
    }
    for (int i = 0; good && i < t->groupCount; ++i) {
        good = GroupIsGood(t, &t->groups[i], block->view.jointCount);
    }
    for (uint32_t i = 0; good && i < t->entryCount; ++i) {
        good = t->entryBlocks[i] >= 0 && t->entryBlocks[i] < block->view.blockCount;
    }
    return good ? jn_ok
                : jnFail(
                      error, jn_badData, "%s: section TUCH: its probes, groups or entries are damaged", block->source);
}

jnResult jnReadTouch(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetTouchHeader* h = block->touchHeader;
    uint64_t places[JN_TOUCH_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(block, h)) {
        return jnFail(error, jn_badData, "%s: section TUCH does not begin with counts that can be", block->source);
    }
    jnPlaceTouch(h, places);
    if (size != places[JN_TOUCH_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section TUCH has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_TOUCH_ARRAYS]);
    }
    const char* at = (const char*)h;
    block->touch = (jnTouchTable){.probeCount = h->probeCount,
        .groupCount = h->groupCount,
        .columnCount = h->columnCount,
        .linkCount = h->linkCount,
        .entryCount = h->entryCount,
        .stiffening = h->stiffening,
        .probes = (const jnTouchProbe*)(const void*)(at + places[0]),
        .groups = (const jnTouchGroup*)(const void*)(at + places[1]),
        .links = (const jnTouchLink*)(const void*)(at + places[2]),
        .entryBlocks = (const int32_t*)(const void*)(at + places[3]),
        .rows = (const int16_t*)(const void*)(at + places[4]),
        .entries = (const int8_t*)(const void*)(at + places[5])};
    return CheckTouch(block, error);
}
