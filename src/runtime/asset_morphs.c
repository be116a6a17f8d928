// Section MRPH of a `.jounce` file, the packed morph targets: where its arrays are, every index in them looked at, and
// single targets unpacked.
#include "asset_format.h"

#include <math.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };

void jnPlaceMorphs(const jnAssetMorphsHeader* h, int blockCount, uint64_t places[JN_MORPH_ARRAYS + 1])
{
    const uint64_t sizes[JN_MORPH_ARRAYS] = {((uint64_t)blockCount * (uint64_t)h->planeCount + 1) * sizeof(uint32_t),
        (uint64_t)h->entryCount * sizeof(uint16_t), (uint64_t)h->entryCount * 2 * FIELD};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_MORPH_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool HeaderIsGood(const jnAssetBlock* block, const jnAssetMorphsHeader* h)
{
    bool good = h->componentCount >= 0 && h->componentCount <= JN_MAX_COLUMNS && h->modeCount >= 0 &&
                h->modeCount <= JN_MAX_ASSET_MODES && h->planeCount >= 1 && h->planeCount <= JN_MAX_PLANES &&
                h->unit > 0.0f && h->unit <= 1e3f;
    int columns = good ? jnMakeEven(h->componentCount) + jnMakeEven(h->modeCount) : 0;
    uint64_t most = (uint64_t)block->view.blockCount * (uint64_t)h->planeCount * (uint64_t)(columns / 2);
    good = good && columns >= 1 && columns <= JN_MAX_COLUMNS && h->entryCount <= most;
    for (int i = 0; i < 11; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

// Pairs rise within a plane of a block: none is there twice, so that no sum leaves its 32 bits.
static jnResult CheckEntries(const jnAssetBlock* block, jnError* error)
{
    const jnAssetMorphs* m = &block->morphs;
    size_t runs = (size_t)block->view.blockCount * (size_t)m->planeCount;
    bool good = m->starts[0] == 0 && m->starts[runs] == m->entryCount;
    for (size_t i = 0; good && i < runs; ++i) {
        good = m->starts[i + 1] >= m->starts[i] && m->starts[i + 1] <= m->entryCount;
        for (uint32_t k = m->starts[i]; good && k < m->starts[i + 1]; ++k) {
            good = m->pairs[k] < m->columnCount / 2 && (k == m->starts[i] || m->pairs[k] > m->pairs[k - 1]);
        }
    }
    return good ? jn_ok
                : jnFail(error, jn_badData,
                      "%s: section MRPH: its entries do not follow each other or are of no column", block->source);
}

jnResult jnReadMorphs(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetMorphsHeader* h = block->morphsHeader;
    uint64_t places[JN_MORPH_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(block, h)) {
        return jnFail(error, jn_badData, "%s: section MRPH does not begin with counts that can be", block->source);
    }
    jnPlaceMorphs(h, block->view.blockCount, places);
    if (size != places[JN_MORPH_ARRAYS]) {
        return jnFail(error, jn_badData, "%s: section MRPH has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)places[JN_MORPH_ARRAYS]);
    }
    const char* at = (const char*)h;
    block->morphs = (jnAssetMorphs){.firstMode = jnMakeEven(h->componentCount),
        .columnCount = jnMakeEven(h->componentCount) + jnMakeEven(h->modeCount),
        .planeCount = h->planeCount,
        .entryCount = h->entryCount,
        .unit = h->unit,
        .starts = (const uint32_t*)(const void*)(at + places[0]),
        .pairs = (const uint16_t*)(const void*)(at + places[1]),
        .values = (const int8_t*)(const void*)(at + places[2])};
    jnResult result = CheckEntries(block, error);
    block->view.morphs = result == jn_ok ? &block->morphs : NULL;
    block->view.componentCount = result == jn_ok ? h->componentCount : 0;
    return result;
}

jnResult jnCheckWeights(const jnAssetBlock* block, int components, jnError* error)
{
    const jnAsset* a = &block->view;
    int own = a->morphs != NULL ? block->morphsHeader->modeCount : 0;
    int driven = a->modes != NULL ? block->modesHeader->componentCount : components;
    if (a->componentCount != components || driven != components || own != a->modeCount) {
        return jnFail(error, jn_badData,
            "%s: section MRPH has targets for %d components and %d modes, section MODE for %d and %d, section NETW %d "
            "components",
            block->source, a->componentCount, own, driven, a->modeCount, components);
    }
    return a->modes != NULL && a->springCount > 0
               ? jnFail(error, jn_badData, "%s: has springs of single vertices and on modes; it must be one of them",
                     block->source)
               : jn_ok;
}

// What a weight of 1 moves a vertex by.
static void FindDelta(const jnAsset* a, int column, int vertex, float delta[3])
{
    const jnAssetMorphs* m = a->morphs;
    size_t block = (size_t)(vertex / JN_LANES), lane = (size_t)(vertex % JN_LANES);
    int64_t sums[3] = {0}, step = 1;
    for (size_t plane = 0; plane < (size_t)m->planeCount; ++plane, step *= JN_PLANE_STEP) {
        const uint32_t* starts = m->starts + block * (size_t)m->planeCount + plane;
        for (size_t e = starts[0]; e < starts[1]; ++e) {
            if (m->pairs[e] == column / 2) {
                const int8_t* values = m->values + e * 2 * FIELD + 2 * lane + (size_t)(column % 2);
                for (size_t axis = 0; axis < 3; ++axis) {
                    sums[axis] += step * values[2 * axis * JN_LANES];
                }
            }
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        delta[axis] = m->unit * (float)sums[axis];
    }
}

static int ColumnOf(const jnAsset* a, int weight)
{
    JN_ASSERT(weight >= 0 && weight < a->componentCount + a->modeCount);
    return weight < a->componentCount ? weight : a->morphs->firstMode + weight - a->componentCount;
}

void jnAsset_MorphDeltas(const jnAsset* a, int weight, bool welded, float* deltas)
{
    int column = ColumnOf(a, weight), count = welded ? a->vertexCount : a->fileVertexCount;
    for (int i = 0; i < count; ++i) {
        FindDelta(a, column, welded ? i : a->weld[i], deltas + 3 * (size_t)i);
    }
}

int jnAsset_SparseMorph(const jnAsset* a, int weight, bool welded, float least, int32_t* vertices, float* deltas)
{
    int column = ColumnOf(a, weight), count = welded ? a->vertexCount : a->fileVertexCount, moved = 0;
    for (int i = 0; i < count; ++i) {
        float d[3];
        FindDelta(a, column, welded ? i : a->weld[i], d);
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > least * least) {
            if (vertices != NULL) {
                vertices[moved] = i;
                memcpy(deltas + 3 * (size_t)moved, d, sizeof(d));
            }
            moved++;
        }
    }
    return moved;
}
