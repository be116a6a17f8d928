// Section MODE of a `.jounce` file: where its arrays are, and every number in them looked at.
#include "asset_format.h"

#include <math.h>
#include <string.h>

// Beyond these a number is none of a mode's.
#define LARGEST 1e9f
#define LARGEST_SPIN 1e3f
enum { MAX_PAIRS = JN_MAX_ASSET_MODES * (JN_MAX_ASSET_MODES - 1) / 2, MAX_CROSSES = 1 << 16 };

void jnPlaceModes(const jnAssetModesHeader* h, int blockCount, uint64_t places[JN_MODE_ARRAYS + 1])
{
    uint64_t modes = (uint64_t)jnBlockCount(h->modeCount), crosses = (uint64_t)h->crossCount;
    const uint64_t sizes[JN_MODE_ARRAYS] = {(uint64_t)h->modeCount * sizeof(jnAssetMode),
        (uint64_t)h->driverCount * sizeof(uint16_t), (uint64_t)blockCount * JN_LANES * sizeof(float),
        (modes + 1) * sizeof(uint32_t), (uint64_t)h->forceCount * sizeof(uint16_t),
        (uint64_t)h->forceCount * 12 * JN_LANES * sizeof(float),
        modes * (uint64_t)h->componentCount * JN_LANES * sizeof(float), crosses * sizeof(uint16_t),
        crosses * sizeof(uint16_t), crosses * 9 * modes * JN_LANES * sizeof(float),
        (uint64_t)h->pairCount * 2 * sizeof(uint16_t), ((uint64_t)jnBlockCount(h->pairCount) + 1) * sizeof(uint32_t),
        (uint64_t)h->spinCount * sizeof(uint16_t), (uint64_t)h->spinCount * 3 * JN_LANES * sizeof(float)};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_MODE_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool HeaderIsGood(const jnAssetModesHeader* h)
{
    bool good = h->modeCount >= 1 && h->modeCount <= JN_MAX_ASSET_MODES && h->pairCount >= 0 &&
                h->pairCount <= MAX_PAIRS && h->componentCount >= 0 && h->componentCount <= JN_MAX_COLUMNS &&
                h->driverCount >= 0 && h->driverCount <= JN_MAX_ASSET_JOINTS && h->crossCount >= 0 &&
                h->crossCount <= MAX_CROSSES && h->forceCount >= 0 &&
                h->forceCount <= JN_MAX_ASSET_JOINTS * JN_MAX_ASSET_MODES && h->spinCount >= 0 &&
                h->spinCount <= JN_MAX_ASSET_ELEMENTS;
    for (int i = 0; i < 9; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

static bool InRange(float value, float low, float high)
{
    return value >= low && value <= high; // false for what is not a number
}

static jnResult CheckModes(const jnAssetBlock* block, jnError* error)
{
    for (int k = 0; k < block->modes.modeCount; ++k) {
        const jnAssetMode* m = &block->modes.modes[k];
        if (!(InRange(m->stiffness, 0, LARGEST) && InRange(m->damping, 0, LARGEST) &&
                InRange(m->gain, -LARGEST, LARGEST) && InRange(m->unit, 1e-9f, LARGEST) &&
                InRange(m->largest, 0, LARGEST) && InRange(m->massShare, 0, 2) && m->joint >= 0 &&
                m->joint < block->view.jointCount && m->vertexCount >= 0 &&
                (m->vertexCount <= block->view.vertexCount || block->view.vertexCount == 0) &&
                InRange(m->limit, 0, LARGEST) && InRange(m->cap, 0, LARGEST))) {
            return jnFail(error, jn_badData,
                "%s: section MODE: mode %d has stiffness %g, damping %g, gain %g, unit %g, cap %g, joint %d",
                block->source, k, (double)m->stiffness, (double)m->damping, (double)m->gain, (double)m->unit,
                (double)m->cap, m->joint);
        }
    }
    return jn_ok;
}

static jnResult CheckFloats(
    const jnAssetBlock* block, const char* what, const float* values, uint64_t count, float most, jnError* error)
{
    for (uint64_t i = 0; i < count; ++i) {
        if (!(fabsf(values[i]) <= most)) {
            return jnFail(error, jn_badData, "%s: section MODE: number %llu of its %s is %g", block->source,
                (unsigned long long)i, what, (double)values[i]);
        }
    }
    return jn_ok;
}

// A sparse product: runs from 0 to `count`, of joints that are there.
static jnResult CheckProduct(const jnAssetBlock* block, const char* what, const uint32_t* starts, int runs,
    const uint16_t* joints, int count, jnError* error)
{
    bool good = starts[0] == 0 && starts[runs] == (uint32_t)count;
    for (int i = 0; i < runs; ++i) {
        good = good && starts[i] <= starts[i + 1];
    }
    for (int i = 0; i < count; ++i) {
        good = good && joints[i] < block->modes.driverCount;
    }
    return good ? jn_ok
                : jnFail(error, jn_badData,
                      "%s: section MODE: the entries of its %s do not follow each other or are of no joint",
                      block->source, what);
}

static jnResult CheckPairs(const jnAssetBlock* block, jnError* error)
{
    const jnAssetModes* m = &block->modes;
    for (int i = 0; i < m->driverCount; ++i) {
        if (m->drivers[i] >= block->view.jointCount || (i > 0 && m->drivers[i] <= m->drivers[i - 1])) {
            return jnFail(error, jn_badData,
                "%s: section MODE: driver %d is joint %u of %d, where they are in ascending order", block->source, i,
                m->drivers[i], block->view.jointCount);
        }
    }
    uint8_t known[JN_MAX_ASSET_MODES * JN_MAX_ASSET_MODES / 8] = {0}; // a pair stands there once
    for (int i = 0; i < m->pairCount; ++i) {
        size_t bit = (size_t)m->pairs[2 * i] * JN_MAX_ASSET_MODES + m->pairs[2 * i + 1];
        bool good = m->pairs[2 * i] < m->modeCount && m->pairs[2 * i + 1] < m->pairs[2 * i];
        if (!good || (known[bit / 8] >> bit % 8 & 1) != 0) {
            return jnFail(error, jn_badData, "%s: section MODE: pair %d is of modes %u and %u, or stands there twice",
                block->source, i, m->pairs[2 * i], m->pairs[2 * i + 1]);
        }
        known[bit / 8] = (uint8_t)(known[bit / 8] | 1 << bit % 8);
    }
    for (int i = 0; i < m->crossCount; ++i) {
        if (m->crossComponents[i] >= block->modesHeader->componentCount || m->crossJoints[i] >= m->driverCount) {
            return jnFail(error, jn_badData, "%s: section MODE: cross term %d is of component %u and joint %u",
                block->source, i, m->crossComponents[i], m->crossJoints[i]);
        }
    }
    return jn_ok;
}

static jnResult CheckAll(const jnAssetBlock* block, jnError* error)
{
    const jnAssetModes* m = &block->modes;
    uint64_t modes = (uint64_t)jnBlockCount(m->modeCount), components = (uint64_t)block->modesHeader->componentCount;
    JN_PASS(CheckModes(block, error));
    JN_PASS(CheckPairs(block, error));
    JN_PASS(CheckProduct(block, "forces", m->forceStarts, (int)modes, m->forceJoints, m->forceCount, error));
    JN_PASS(
        CheckProduct(block, "spins", m->spinStarts, jnBlockCount(m->pairCount), m->spinJoints, m->spinCount, error));
    const struct {
        const char* what;
        const float* values;
        uint64_t count;
        float most;
    } arrays[] = {{"masses", m->masses, (uint64_t)block->view.blockCount * JN_LANES, LARGEST},
        {"forces", m->forces, (uint64_t)m->forceCount * 12 * JN_LANES, LARGEST},
        {"drives", m->drives, modes * components * JN_LANES, LARGEST},
        {"cross terms", m->crosses, (uint64_t)m->crossCount * 9 * modes * JN_LANES, LARGEST},
        {"spins", m->spins, (uint64_t)m->spinCount * 3 * JN_LANES, LARGEST_SPIN}};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        JN_PASS(CheckFloats(block, arrays[i].what, arrays[i].values, arrays[i].count, arrays[i].most, error));
    }
    return jn_ok;
}

jnResult jnReadModes(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetModesHeader* h = block->modesHeader;
    uint64_t places[JN_MODE_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(h)) {
        return jnFail(error, jn_badData, "%s: section MODE does not begin with counts that can be", block->source);
    }
    jnPlaceModes(h, block->view.blockCount, places);
    if (size != places[JN_MODE_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section MODE has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_MODE_ARRAYS]);
    }
    const char* at = (const char*)h;
    block->modes = (jnAssetModes){.modeCount = h->modeCount,
        .driverCount = h->driverCount,
        .forceCount = h->forceCount,
        .crossCount = h->crossCount,
        .pairCount = h->pairCount,
        .spinCount = h->spinCount,
        .modes = (const jnAssetMode*)(const void*)(at + places[0]),
        .drivers = (const uint16_t*)(const void*)(at + places[1]),
        .masses = (const float*)(const void*)(at + places[2]),
        .forceStarts = (const uint32_t*)(const void*)(at + places[3]),
        .forceJoints = (const uint16_t*)(const void*)(at + places[4]),
        .forces = (const float*)(const void*)(at + places[5]),
        .drives = (const float*)(const void*)(at + places[6]),
        .crossComponents = (const uint16_t*)(const void*)(at + places[7]),
        .crossJoints = (const uint16_t*)(const void*)(at + places[8]),
        .crosses = (const float*)(const void*)(at + places[9]),
        .pairs = (const uint16_t*)(const void*)(at + places[10]),
        .spinStarts = (const uint32_t*)(const void*)(at + places[11]),
        .spinJoints = (const uint16_t*)(const void*)(at + places[12]),
        .spins = (const float*)(const void*)(at + places[13])};
    JN_PASS(CheckAll(block, error));
    block->view.modes = &block->modes;
    block->view.modeCount = h->modeCount;
    return jn_ok;
}
