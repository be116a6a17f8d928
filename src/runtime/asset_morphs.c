// Section MRPH of a `.jounce` file, the packed morph targets: where its arrays are, every index in them looked at, and
// single targets unpacked.
#include "asset_format.h"
#include "morph_targets.h"

#include <math.h>
#include <string.h>

#define LARGEST_SCALE 1e3f

void jnPlaceMorphs(const jnAssetMorphsHeader* h, int blockCount, uint64_t places[JN_MORPH_ARRAYS + 1])
{
    const uint64_t sizes[JN_MORPH_ARRAYS] = {((uint64_t)jnPatchCount(blockCount) + 1) * sizeof(jnAssetPatch),
        (uint64_t)h->listCount * sizeof(uint16_t), (uint64_t)h->shapeCount * sizeof(float),
        (uint64_t)h->runCount * JN_VALUE_RUN};
    places[0] = sizeof(*h);
    for (int i = 0; i < JN_MORPH_ARRAYS; ++i) {
        places[i + 1] = (places[i] + sizes[i] + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    }
}

static bool HeaderIsGood(const jnAssetMorphsHeader* h)
{
    bool good = h->componentCount >= 0 && h->componentCount <= JN_MAX_COLUMNS && h->modeCount >= 0 &&
                h->modeCount <= JN_MAX_ASSET_MODES;
    int columns = good ? jnMakeEven(h->componentCount) + jnMakeEven(h->modeCount) : 0;
    good = good && columns >= 1 && columns <= JN_MAX_COLUMNS;
    for (int i = 0; i < 11; ++i) {
        good = good && h->reserved[i] == 0;
    }
    return good;
}

// A patch has what its counts ask for, and no more columns and shapes than its sums have room for.
static bool PatchIsGood(const jnAssetMorphs* m, int blockCount, int patch)
{
    const jnAssetPatch *at = m->patches + patch, *next = at + 1;
    int left = blockCount - patch * JN_PATCH_BLOCKS;
    uint64_t blocks = (uint64_t)(left < JN_PATCH_BLOCKS ? left : JN_PATCH_BLOCKS);
    bool good = next->columns >= at->columns && next->columns <= m->listCount && next->shapes >= at->shapes &&
                next->shapes <= m->shapeCount && next->values >= at->values && next->values <= m->runCount;
    uint64_t columns = good ? next->columns - at->columns : 0, shapes = good ? next->shapes - at->shapes : 0;
    return good && columns <= JN_MAX_COLUMNS && shapes <= JN_MAX_SHAPES && shapes % JN_SHAPE_STEP == 0 &&
           next->values - at->values == jnMixRuns(columns, shapes) + blocks * jnShapeRuns(shapes);
}

static jnResult CheckPatches(const jnAssetBlock* block, jnError* error)
{
    const jnAssetMorphs* m = &block->morphs;
    const jnAssetPatch *first = m->patches, *last = m->patches + m->patchCount;
    bool good = first->columns == 0 && first->shapes == 0 && first->values == 0 && last->columns == m->listCount &&
                last->shapes == m->shapeCount && last->values == m->runCount;
    for (int i = 0; good && i < m->patchCount; ++i) {
        good = PatchIsGood(m, block->view.blockCount, i);
    }
    for (uint32_t i = 0; good && i < m->listCount; ++i) {
        good = m->columns[i] < m->columnCount;
    }
    for (uint32_t i = 0; good && i < m->shapeCount; ++i) {
        good = m->scales[i] >= 0.0f && m->scales[i] <= LARGEST_SCALE;
    }
    return good ? jn_ok
                : jnFail(error, jn_badData,
                      "%s: section MRPH: its patches do not follow each other, are of no column or have no scale",
                      block->source);
}

jnResult jnReadMorphs(jnAssetBlock* block, uint64_t size, jnError* error)
{
    const jnAssetMorphsHeader* h = block->morphsHeader;
    uint64_t places[JN_MORPH_ARRAYS + 1];
    if (size < sizeof(*h) || !HeaderIsGood(h)) {
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
        .patchCount = jnPatchCount(block->view.blockCount),
        .listCount = h->listCount,
        .shapeCount = h->shapeCount,
        .runCount = h->runCount,
        .patches = (const jnAssetPatch*)(const void*)(at + places[0]),
        .columns = (const uint16_t*)(const void*)(at + places[1]),
        .scales = (const float*)(const void*)(at + places[2]),
        .values = (const int8_t*)(const void*)(at + places[3])};
    JN_PASS(CheckPatches(block, error));
    block->view.morphs = &block->morphs;
    block->view.componentCount = h->componentCount;
    return jn_ok;
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

// What a weight of 1 moves a vertex by. A column below 0 is a target of the source, -1 the first.
static void FindDelta(const jnAsset* a, int column, int vertex, float delta[3])
{
    if (column < 0) {
        jnFindTargetDelta(a, -1 - column, vertex, delta);
        return;
    }
    jnVertexMorphs m = jnMorphsOf(a->morphs, vertex);
    double sums[3] = {0};
    size_t at = 0;
    while (at < m.columnCount && m.columns[at] != column) {
        ++at;
    }
    for (size_t s = 0; at < m.columnCount && s < m.shapeCount; ++s) {
        double amount = (double)m.scales[s] * jnMixAt(&m, at, s);
        for (size_t axis = 0; axis < 3; ++axis) {
            sums[axis] += amount * jnShapeAt(&m, s, axis);
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        delta[axis] = (float)sums[axis];
    }
}

static bool IsWeight(const jnAsset* a, int weight)
{
    return a != NULL && weight >= 0 && weight < a->componentCount + a->modeCount + a->targetCount;
}

static int ColumnOf(const jnAsset* a, int weight)
{
    if (weight >= a->componentCount + a->modeCount) {
        return -1 - (weight - a->componentCount - a->modeCount);
    }
    return weight < a->componentCount ? weight : a->morphs->firstMode + weight - a->componentCount;
}

void jnAsset_MorphDeltas(const jnAsset* a, int weight, bool welded, float* deltas)
{
    if (JN_BROKEN(IsWeight(a, weight) && (deltas != NULL || a->vertexCount == 0))) {
        return;
    }
    int column = ColumnOf(a, weight), count = welded ? a->vertexCount : a->fileVertexCount;
    for (int i = 0; i < count; ++i) {
        FindDelta(a, column, welded ? i : a->weld[i], deltas + 3 * (size_t)i);
    }
}

int jnAsset_SparseMorph(const jnAsset* a, int weight, bool welded, float least, int32_t* vertices, float* deltas)
{
    if (JN_BROKEN(IsWeight(a, weight) && (vertices == NULL || deltas != NULL))) {
        return 0;
    }
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

const jnTargetKernels* jnFindTargetKernels(jnKernel kernel)
{
#ifdef JN_HAVE_X86_KERNELS
    if (kernel >= jn_kernelAvx2) {
        return &jnTargetKernelsAvx2;
    }
#endif
    (void)kernel;
    return &jnTargetKernelsBaseline;
}
