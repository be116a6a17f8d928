// Section MODE of a `.jounce` file: where its arrays are, and every number in them looked at.
#include "asset_format.h"

#include <math.h>
#include <string.h>

// Beyond these a number is none of a mode's.
#define LARGEST 1e9f
#define LARGEST_SPIN 1e3f
enum { MAX_PAIRS = JN_MAX_ASSET_MODES * (JN_MAX_ASSET_MODES - 1) / 2, MAX_SPINS = 1 << 26, MAX_ENTRIES = 1 << 24 };

void jnPlaceModes(const jnAssetModesHeader* h, int blockCount, int jointCount, uint64_t places[JN_MODE_ARRAYS + 1])
{
    uint64_t entries = (uint64_t)h->entryCount, numbers = entries * 3 * JN_LANES * sizeof(int16_t);
    const uint64_t sizes[JN_MODE_ARRAYS] = {(uint64_t)h->modeCount * sizeof(jnAssetMode),
        ((uint64_t)blockCount + 1) * sizeof(uint32_t), entries * sizeof(uint16_t), entries * sizeof(float),
        entries * sizeof(float), numbers, numbers, (uint64_t)h->pairCount * 2 * sizeof(uint16_t),
        ((uint64_t)jointCount + 1) * sizeof(uint32_t), (uint64_t)h->spinCount * sizeof(jnAssetSpin)};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_MODE_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool HeaderIsGood(const jnAssetModesHeader* h)
{
    bool good = h->modeCount >= 1 && h->modeCount <= JN_MAX_ASSET_MODES && h->entryCount >= 0 &&
                h->entryCount <= MAX_ENTRIES && h->pairCount >= 0 && h->pairCount <= MAX_PAIRS && h->spinCount >= 0 &&
                h->spinCount <= MAX_SPINS && h->movesVertices <= 1;
    for (int i = 0; i < 11; ++i) {
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
                InRange(m->gain, -LARGEST, LARGEST) && InRange(m->largest, 0, LARGEST) && InRange(m->massShare, 0, 2) &&
                m->joint >= 0 && m->joint < block->view.jointCount && m->vertexCount >= 0 &&
                m->vertexCount <= block->view.vertexCount && InRange(m->limit, 0, LARGEST))) {
            return jnFail(error, jn_badData,
                "%s: section MODE: mode %d has stiffness %g, damping %g, gain %g, joint %d", block->source, k,
                (double)m->stiffness, (double)m->damping, (double)m->gain, m->joint);
        }
    }
    return jn_ok;
}

// Runs from 0 to `count`.
static bool StartsAreGood(const uint32_t* starts, int runs, int count)
{
    bool good = starts[0] == 0 && starts[runs] == (uint32_t)count;
    for (int i = 0; i < runs; ++i) {
        good = good && starts[i] <= starts[i + 1];
    }
    return good;
}

// Entries come in pairs, and a block has at most as many as there are modes.
static bool RunsArePairs(const uint32_t* starts, int runs)
{
    bool good = true;
    for (int i = 0; i < runs; ++i) {
        good = good && starts[i] % 2 == 0 && starts[i + 1] - starts[i] <= JN_MAX_ASSET_MODES;
    }
    return good;
}

static jnResult CheckEntries(const jnAssetBlock* block, jnError* error)
{
    const jnAssetModes* m = &block->modes;
    int blocks = block->view.blockCount, moving = jnBlockCount(block->view.springCount);
    if (!StartsAreGood(m->starts, blocks, m->entryCount) || m->starts[moving] != (uint32_t)m->entryCount ||
        m->entryCount % 2 != 0 || !RunsArePairs(m->starts, blocks)) {
        return jnFail(
            error, jn_badData, "%s: section MODE: the entries of its blocks do not follow each other", block->source);
    }
    for (int b = 0; b < moving; ++b) {
        for (uint32_t e = m->starts[b]; e < m->starts[b + 1]; ++e) {
            bool last = e + 1 == m->starts[b + 1] && m->shapeScales[e] == 0.0f && m->projectionScales[e] == 0.0f;
            bool rising = e == m->starts[b] || m->entryModes[e] > m->entryModes[e - 1] || last;
            if (!rising || m->entryModes[e] >= m->modeCount || !InRange(m->shapeScales[e], 0, LARGEST) ||
                !InRange(m->projectionScales[e], 0, LARGEST)) {
                return jnFail(error, jn_badData, "%s: section MODE: entry %u is of mode %u, scales %g and %g",
                    block->source, e, m->entryModes[e], (double)m->shapeScales[e], (double)m->projectionScales[e]);
            }
        }
    }
    return jn_ok;
}

static jnResult CheckSpins(const jnAssetBlock* block, jnError* error)
{
    const jnAssetModes* m = &block->modes;
    for (int i = 0; i < m->pairCount; ++i) {
        if (m->pairs[2 * i] >= m->modeCount || m->pairs[2 * i + 1] >= m->pairs[2 * i]) {
            return jnFail(error, jn_badData, "%s: section MODE: pair %d is of modes %u and %u", block->source, i,
                m->pairs[2 * i], m->pairs[2 * i + 1]);
        }
    }
    if (!StartsAreGood(m->spinStarts, block->view.jointCount, m->spinCount)) {
        return jnFail(
            error, jn_badData, "%s: section MODE: the spins of its joints do not follow each other", block->source);
    }
    for (int i = 0; i < m->spinCount; ++i) {
        const jnAssetSpin* s = &m->spins[i];
        if (s->pair >= (uint32_t)m->pairCount || !InRange(s->share[0], -LARGEST_SPIN, LARGEST_SPIN) ||
            !InRange(s->share[1], -LARGEST_SPIN, LARGEST_SPIN) || !InRange(s->share[2], -LARGEST_SPIN, LARGEST_SPIN)) {
            return jnFail(error, jn_badData, "%s: section MODE: spin %d is of pair %u or not a number", block->source,
                i, s->pair);
        }
    }
    return jn_ok;
}

jnResult jnCheckModeCaps(const jnAssetBlock* block, jnError* error)
{
    if (block->view.modes == NULL) {
        return jnFail(error, jn_badData, "%s: has section MCAP but no section MODE", block->source);
    }
    for (int k = 0; k < block->modes.modeCount; ++k) {
        if (!InRange(block->modes.caps[k], 0, LARGEST)) {
            return jnFail(error, jn_badData, "%s: section MCAP: the cap of mode %d is %g; it must be 0 to %g",
                block->source, k, (double)block->modes.caps[k], (double)LARGEST);
        }
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
    jnPlaceModes(h, block->view.blockCount, block->view.jointCount, places);
    if (size != places[JN_MODE_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section MODE has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_MODE_ARRAYS]);
    }
    const char* at = (const char*)h;
    block->modes = (jnAssetModes){.modeCount = h->modeCount,
        .entryCount = h->entryCount,
        .pairCount = h->pairCount,
        .spinCount = h->spinCount,
        .movesVertices = h->movesVertices == 1,
        .modes = (const jnAssetMode*)(const void*)(at + places[0]),
        .starts = (const uint32_t*)(const void*)(at + places[1]),
        .entryModes = (const uint16_t*)(const void*)(at + places[2]),
        .shapeScales = (const float*)(const void*)(at + places[3]),
        .projectionScales = (const float*)(const void*)(at + places[4]),
        .shapes = (const int16_t*)(const void*)(at + places[5]),
        .projections = (const int16_t*)(const void*)(at + places[6]),
        .pairs = (const uint16_t*)(const void*)(at + places[7]),
        .spinStarts = (const uint32_t*)(const void*)(at + places[8]),
        .spins = (const jnAssetSpin*)(const void*)(at + places[9])};
    jnResult result = CheckModes(block, error);
    result = result == jn_ok ? CheckEntries(block, error) : result;
    result = result == jn_ok ? CheckSpins(block, error) : result;
    block->view.modes = result == jn_ok ? &block->modes : NULL;
    return result;
}
