// Reading a `.jounce` file: header, table, sizes. Contents are looked at by asset_check.c.
//
// Nothing is used before it is checked, in this order: magic, version, length, checksum, table, the counts in section
// INFO, the size of each section against those counts, then every index and float. Sizes are computed in 64 bits from
// counts below 2^26, so that they cannot wrap.
#include "asset_format.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define SEED 0x9e3779b97f4a7c15u
#define PRIME 0x9fb21c651e98df25u
enum { HASH_LANES = 4 };

static inline uint64_t Stir(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * PRIME;
    return hash ^ hash >> 32;
}

// Four lanes that do not wait for each other; each step is a bijection of its lane, so no change of one word is lost.
uint64_t jnAssetChecksum(const void* bytes, size_t size)
{
    uint64_t lanes[HASH_LANES] = {SEED, SEED + 1, SEED + 2, SEED + 3}, words[HASH_LANES];
    const char* at = bytes;
    for (size_t done = 0; done < size; done += sizeof(words)) {
        size_t length = size - done < sizeof(words) ? size - done : sizeof(words);
        memset(words, 0, sizeof(words));
        memcpy(words, at + done, length);
        if (done == 0) {
            words[offsetof(jnAssetHeader, checksum) / sizeof(uint64_t)] = 0;
        }
        for (int i = 0; i < HASH_LANES; ++i) {
            lanes[i] = Stir(lanes[i], words[i]);
        }
    }
    uint64_t hash = size;
    for (int i = 0; i < HASH_LANES; ++i) {
        hash = Stir(hash, lanes[i]);
    }
    return hash;
}
_Static_assert(offsetof(jnAssetHeader, checksum) == 24, "the checksum lies in the last word of the first four");

// How many items a section has.
typedef enum Count {
    count_any, // bytes, as many as there are
    count_joints,
    count_vertices,
    count_lanes, // vertices in whole blocks
    count_blockStarts,
    count_influences,
    count_files,
    count_triangles,
    count_ringStarts,
    count_rings,
    count_parts,
    count_followers, // of the vertices with springs behind the drivers, which are counted by it
    count_clips,
    count_weights, // morph weights
} Count;

// What else a section tells or has to be, once it is in its place. size: its bytes.
static jnResult TakeStarts(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)size;
    return jnCheckStarts(block, id, error);
}

static jnResult TakeFollowers(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id, (void)error;
    int followers = (int)(size / sizeof(jnAssetFollower));
    block->view.driverCount = jnBlockCount(block->view.springCount) * JN_LANES - followers;
    return jn_ok;
}

static jnResult TakeClipData(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id, (void)error;
    block->clipDataCount = size / sizeof(float);
    return jn_ok;
}

static jnResult TakeModes(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadModes(block, size, error);
}

static jnResult TakeBound(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadBound(block, size, error);
}

static jnResult TakeMorphs(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadMorphs(block, size, error);
}

static jnResult TakeTargets(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadTargets(block, size, error);
}

static jnResult TakeHits(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadHits(block, size, error);
}

static jnResult TakeMix(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadMix(block, size, error);
}

static jnResult TakeTouch(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id;
    return jnReadTouch(block, size, error);
}

static jnResult TakeNetwork(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error)
{
    (void)id, (void)error;
    block->networkSize = size;
    return jn_ok;
}

// The sections that are known. A new one is a row, in an order in which a size may depend on sections before.
typedef struct Rule {
    uint32_t id;
    bool required; // all but INFO and JNTS: of a surface, where there is one
    size_t field;  // the pointer that it sets, in the jnAssetBlock
    Count count;
    size_t itemSize;
    jnResult (*take)(jnAssetBlock* block, uint32_t id, uint64_t size, jnError* error); // may be NULL
} Rule;

#define VIEW(member) offsetof(jnAssetBlock, view.member)
#define BLOCK(member) offsetof(jnAssetBlock, member)
static const Rule rules[] = {
    {JN_SECTION_INFO, true, 0, count_any, 1, NULL},
    {JN_SECTION_JOINTS, true, VIEW(joints), count_joints, sizeof(jnAssetJoint), NULL},
    {JN_SECTION_REST, true, VIEW(rest), count_lanes, 4 * sizeof(float), NULL},
    {JN_SECTION_INFLUENCE_STARTS, true, VIEW(influenceStarts), count_blockStarts, sizeof(uint32_t), TakeStarts},
    {JN_SECTION_INFLUENCE_JOINTS, true, VIEW(influenceJoints), count_influences, sizeof(uint16_t), NULL},
    {JN_SECTION_INFLUENCE_WEIGHTS, true, VIEW(influenceWeights), count_influences, sizeof(float), NULL},
    {JN_SECTION_STIFFNESS, true, VIEW(stiffness), count_vertices, sizeof(float), NULL},
    {JN_SECTION_DAMPING, true, VIEW(damping), count_vertices, sizeof(float), NULL},
    {JN_SECTION_WELD, true, VIEW(weld), count_files, sizeof(int32_t), NULL},
    {JN_SECTION_FILE_NORMALS, true, VIEW(fileNormals), count_files, sizeof(int32_t), NULL},
    {JN_SECTION_TRIANGLES, true, VIEW(triangles), count_triangles, 3 * sizeof(int32_t), NULL},
    {JN_SECTION_RING_STARTS, true, VIEW(ringStarts), count_ringStarts, sizeof(uint32_t), TakeStarts},
    {JN_SECTION_RINGS, true, VIEW(rings), count_rings, 4 * sizeof(uint32_t), NULL},
    {JN_SECTION_UVS, false, VIEW(uvs), count_files, 2 * sizeof(float), NULL},
    {JN_SECTION_ORDER, false, VIEW(order), count_vertices, sizeof(int32_t), NULL},
    {JN_SECTION_PARTS, false, VIEW(parts), count_parts, sizeof(jnAssetPart), NULL},
    {JN_SECTION_FOLLOWERS, false, VIEW(followers), count_followers, sizeof(jnAssetFollower), TakeFollowers},
    {JN_SECTION_CLIPS, false, BLOCK(clips), count_clips, sizeof(jnAssetClipEntry), NULL},
    {JN_SECTION_CLIP_DATA, false, BLOCK(clipData), count_any, 1, TakeClipData},
    {JN_SECTION_MODES, false, BLOCK(modesHeader), count_any, 1, TakeModes},
    {JN_SECTION_BOUND, false, BLOCK(boundHeader), count_any, 1, TakeBound},
    {JN_SECTION_MORPHS, false, BLOCK(morphsHeader), count_any, 1, TakeMorphs},
    {JN_SECTION_NETWORK, false, BLOCK(network), count_any, 1, TakeNetwork},
    {JN_SECTION_TARGETS, false, BLOCK(targetsHeader), count_any, 1, TakeTargets},
    {JN_SECTION_HITS, false, BLOCK(hitsHeader), count_any, 1, TakeHits},
    {JN_SECTION_TOUCH, false, BLOCK(touchHeader), count_any, 1, TakeTouch},
    {JN_SECTION_WEIGHT_SCALES, false, VIEW(weightScales), count_weights, sizeof(float), NULL},
    {JN_SECTION_WEIGHT_MIX, false, BLOCK(mixHeader), count_any, 1, TakeMix},
};
enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

static const Rule* FindRule(uint32_t id)
{
    for (int i = 0; i < RULE_COUNT; ++i) {
        if (rules[i].id == id) {
            return &rules[i];
        }
    }
    return NULL;
}

static const jnAssetEntry* FindEntry(const jnAssetBlock* block, uint32_t id)
{
    for (uint32_t i = 0; i < block->header->sectionCount; ++i) {
        if (block->entries[i].id == id) {
            return &block->entries[i];
        }
    }
    return NULL;
}

// The four letters of an id, '?' for what cannot be printed.
static const char* Letters(uint32_t id, char text[5])
{
    for (int i = 0; i < 4; ++i) {
        char c = (char)(id >> 8 * i & 0xff);
        text[i] = c > ' ' && c < 127 ? c : '?';
    }
    text[4] = '\0';
    return text;
}

// An asset is used as it lies in the file, which is little-endian.
static bool MachineIsLittleEndian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, sizeof(first));
    return first == 1;
}

static jnResult CheckHeader(const jnAssetDef* def, const char* source, jnAssetHeader* header, jnError* error)
{
    if (def->size < sizeof(*header)) {
        return jnFail(error, jn_badData, "%s: has %zu bytes; a character file has at least %zu", source, def->size,
            sizeof(*header));
    }
    memcpy(header, def->bytes, sizeof(*header));
    if (memcmp(header->magic, JN_ASSET_MAGIC, sizeof(header->magic)) != 0) {
        return jnFail(error, jn_badData, "%s: is not a character file: it does not begin with JOUNCE", source);
    }
    if (!MachineIsLittleEndian()) {
        return jnFail(error, jn_badData,
            "%s: is a little-endian file, and this machine is big-endian: character files can be used on little-endian "
            "machines only",
            source);
    }
    if (header->version != JN_ASSET_VERSION) {
        return jnFail(error, jn_badData,
            header->version < JN_ASSET_VERSION
                ? "%s: is of format version %u; this library reads version %d: make the file again from its workspace "
                  "with `jounce train`, `jounce fit` and `jounce export`"
                : "%s: is of format version %u; this library reads version %d: use a newer one",
            source, header->version, JN_ASSET_VERSION);
    }
    if (header->byteCount != def->size) {
        return jnFail(error, jn_badData, "%s: has %zu bytes where its header says %llu: it is cut off or damaged",
            source, def->size, (unsigned long long)header->byteCount);
    }
    if (header->checksum != jnAssetChecksum(def->bytes, def->size)) {
        return jnFail(error, jn_badData, "%s: is damaged: its checksum does not match", source);
    }
    if (header->sectionCount < 1 || header->sectionCount > JN_MAX_SECTIONS ||
        sizeof(*header) + header->sectionCount * sizeof(jnAssetEntry) > def->size) {
        return jnFail(
            error, jn_badData, "%s: its header says %u sections, which cannot be", source, header->sectionCount);
    }
    for (size_t i = 0; i < sizeof(header->reserved); ++i) {
        if (header->reserved[i] != 0) {
            return jnFail(error, jn_badData, "%s: byte %zu of its header is not 0", source,
                offsetof(jnAssetHeader, reserved) + i);
        }
    }
    return jn_ok;
}

static jnResult CheckTable(const jnAssetBlock* block, jnError* error)
{
    uint64_t size = block->header->byteCount;
    char name[5];
    for (uint32_t i = 0; i < block->header->sectionCount; ++i) {
        const jnAssetEntry* entry = &block->entries[i];
        Letters(entry->id, name);
        if (entry->offset > size || entry->size > size - entry->offset || entry->offset % JN_ALIGNMENT != 0) {
            return jnFail(error, jn_badData, "%s: section %u, %s, lies at %llu with %llu bytes, outside the file",
                block->source, i, name, (unsigned long long)entry->offset, (unsigned long long)entry->size);
        }
        if (entry->reserved != 0 || (entry->flags & ~(uint32_t)JN_SECTION_REQUIRED) != 0) {
            return jnFail(
                error, jn_badData, "%s: section %u, %s, has flags that are not known", block->source, i, name);
        }
        if (FindEntry(block, entry->id) != entry) {
            return jnFail(error, jn_badData, "%s: section %s is there twice", block->source, name);
        }
        if (FindRule(entry->id) == NULL && (entry->flags & JN_SECTION_REQUIRED) != 0) {
            return jnFail(error, jn_badData, "%s: needs section %s, which this version of the library does not know",
                block->source, name);
        }
    }
    return jn_ok;
}

// Without vertices there is no surface, and nothing that belongs to one is needed.
static jnResult CheckPresence(const jnAssetBlock* block, bool surface, jnError* error)
{
    char name[5];
    for (int i = 0; i < RULE_COUNT; ++i) {
        bool always = rules[i].id == JN_SECTION_INFO || rules[i].id == JN_SECTION_JOINTS;
        if (rules[i].required && (always || surface) && FindEntry(block, rules[i].id) == NULL) {
            return jnFail(error, jn_badData, "%s: section %s is missing", block->source, Letters(rules[i].id, name));
        }
    }
    return jn_ok;
}

static jnResult CheckRange(
    const jnAssetBlock* block, const char* what, long long value, long long low, long long high, jnError* error)
{
    return value >= low && value <= high
               ? jn_ok
               : jnFail(error, jn_badData, "%s: section INFO: %s is %lld; it must be %lld to %lld", block->source, what,
                     value, low, high);
}

static jnResult ReadInfo(jnAssetBlock* block, const char* bytes, jnError* error)
{
    const jnAssetEntry* entry = FindEntry(block, JN_SECTION_INFO);
    jnAsset* view = &block->view;
    if (entry->size != sizeof(jnAssetInfo)) {
        return jnFail(error, jn_badData, "%s: section INFO has %llu bytes, not %zu", block->source,
            (unsigned long long)entry->size, sizeof(jnAssetInfo));
    }
    const jnAssetInfo* info = (const jnAssetInfo*)(const void*)(bytes + entry->offset);
    bool none = info->vertexCount == 0;
    long long least = none ? 0 : 1, most = none ? 0 : JN_MAX_ASSET_ELEMENTS;
    const struct {
        const char* what;
        long long value, low, high;
    } ranges[] = {
        {"the number of joints", info->jointCount, 1, JN_MAX_ASSET_JOINTS},
        {"the number of vertices", info->vertexCount, 0, JN_MAX_ASSET_ELEMENTS},
        {"the number of file vertices", info->fileVertexCount, least, most},
        {"the number of triangles", info->triangleCount, least, most},
        {"the number of normals", info->normalCount, least, most},
        {"the number of clips", info->clipCount, 0, JN_MAX_ASSET_ELEMENTS},
        {"the number of parts", info->partCount, 0, most},
        {"the number of springs", info->springCount, 0, info->vertexCount},
        {"the kind of skinning", info->skinning, 0, jn_skinDual},
        {"the curve", info->curve, 0, 2},
        {"the timing", info->timing, 0, 1},
        {"the start", info->start, 0, 1},
        {"the end of the name", info->name[JN_NAME_LENGTH - 1], 0, 0},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); ++i) {
        JN_PASS(CheckRange(block, ranges[i].what, ranges[i].value, ranges[i].low, ranges[i].high, error));
    }
    if (info->springCount % JN_LANES != 0 && info->springCount != info->vertexCount) {
        return jnFail(error, jn_badData, "%s: section INFO: %d springs are neither all nor a multiple of %d",
            block->source, info->springCount, JN_LANES);
    }
    if (!(info->rate > 0.0f && info->rate <= 1e6f)) {
        return jnFail(error, jn_badData, "%s: section INFO: the rate is %g", block->source, (double)info->rate);
    }
    view->name = info->name;
    view->jointCount = info->jointCount;
    view->vertexCount = view->hitVertexCount = info->vertexCount;
    view->fileVertexCount = info->fileVertexCount;
    view->triangleCount = info->triangleCount;
    view->normalCount = info->normalCount;
    view->clipCount = info->clipCount;
    view->partCount = info->partCount;
    view->springCount = info->springCount;
    view->blockCount = jnBlockCount(info->vertexCount);
    view->skinning = (jnSkinning)info->skinning;
    view->curve = (int)info->curve;
    view->timing = (int)info->timing;
    view->start = (int)info->start;
    view->rate = info->rate;
    return jn_ok;
}

// Items that a section must have; those of INFJ, INFW and RNGF follow from sections that come before, which a file
// without a surface need not have.
static uint64_t CountItems(const jnAssetBlock* block, const Rule* rule, uint64_t size)
{
    const jnAsset* a = &block->view;
    uint64_t blocks = (uint64_t)a->blockCount, quads = (uint64_t)jnBlockCount(a->normalCount) * (JN_LANES / 4);
    switch (rule->count) {
    case count_joints:
        return (uint64_t)a->jointCount;
    case count_vertices:
        return (uint64_t)a->vertexCount;
    case count_lanes:
        return blocks * JN_LANES;
    case count_blockStarts:
        return blocks + 1;
    case count_influences:
        return a->influenceStarts != NULL ? (uint64_t)a->influenceStarts[blocks] * JN_LANES : 0;
    case count_files:
        return (uint64_t)a->fileVertexCount;
    case count_triangles:
        return (uint64_t)a->triangleCount;
    case count_ringStarts:
        return quads + 1;
    case count_rings:
        return a->ringStarts != NULL ? (uint64_t)a->ringStarts[quads] : 0;
    case count_parts:
        return (uint64_t)a->partCount;
    case count_followers: {
        uint64_t most = (uint64_t)jnBlockCount(a->springCount) * JN_LANES;
        return size < most * rule->itemSize ? size / rule->itemSize : 0;
    }
    case count_clips:
        return (uint64_t)a->clipCount;
    case count_weights:
        return (uint64_t)a->componentCount + (uint64_t)a->modeCount;
    case count_any:
        break;
    }
    return size;
}

// Points the view at the sections, in the order of the rules: a size may depend on a section before.
static jnResult PlaceSections(jnAssetBlock* block, const char* bytes, jnError* error)
{
    char name[5];
    for (int i = 1; i < RULE_COUNT; ++i) {
        const Rule* rule = &rules[i];
        const jnAssetEntry* entry = FindEntry(block, rule->id);
        if (entry == NULL) {
            continue;
        }
        uint64_t expected = CountItems(block, rule, entry->size) * rule->itemSize;
        if (entry->size != expected) {
            return jnFail(error, jn_badData, "%s: section %s has %llu bytes where the counts ask for %llu",
                block->source, Letters(rule->id, name), (unsigned long long)entry->size, (unsigned long long)expected);
        }
        const void* at = bytes + entry->offset;
        memcpy((char*)block + rule->field, &at, sizeof(at));
        JN_PASS(rule->take != NULL ? rule->take(block, rule->id, entry->size, error) : jn_ok);
    }
    if ((block->view.clipCount > 0 && (block->clips == NULL || block->clipData == NULL)) ||
        (block->view.partCount > 0 && block->view.parts == NULL)) {
        return jnFail(
            error, jn_badData, "%s: section INFO counts clips or parts, but their sections are missing", block->source);
    }
    return jn_ok;
}

// The sections behind the header, each checked before it is used.
static jnResult ReadAll(jnAssetBlock* block, const char* bytes, jnError* error)
{
    JN_PASS(CheckTable(block, error));
    JN_PASS(CheckPresence(block, false, error));
    JN_PASS(ReadInfo(block, bytes, error));
    JN_PASS(CheckPresence(block, block->view.vertexCount > 0, error));
    JN_PASS(PlaceSections(block, bytes, error));
    if (block->view.weightMix == NULL) {
        block->view.weightCount = block->view.componentCount + block->view.modeCount;
    }
    return jnCheckAsset(block, error);
}

jnResult jnLoadAsset(const jnAssetDef* def, jnAsset** asset, jnError* error)
{
    JN_NEED(error, asset != NULL);
    *asset = NULL;
    JN_NEED(error, def != NULL && (def->bytes != NULL || def->size == 0));
    const char* source = def->source != NULL ? def->source : "asset";
    jnAssetHeader header;
    JN_PASS(CheckHeader(def, source, &header, error));
    bool copies = (uintptr_t)def->bytes % JN_ALIGNMENT != 0;
    size_t own = jnAlignUp(sizeof(jnAssetBlock));
    jnAssetBlock* block =
        copies && def->size > SIZE_MAX - own ? NULL : jnAllocate(&def->allocator, own + (copies ? def->size : 0));
    if (block == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory for %zu bytes", source, def->size);
    }
    memset(block, 0, sizeof(*block));
    const char* bytes = def->bytes;
    if (copies) {
        bytes = memcpy((char*)block + own, def->bytes, def->size);
    }
    block->header = (const jnAssetHeader*)(const void*)bytes;
    block->entries = (const jnAssetEntry*)(const void*)(bytes + sizeof(jnAssetHeader));
    block->allocator = def->allocator;
    block->source = source;
    block->view.byteCount = def->size;
    block->view.hash = header.checksum;
    jnResult result = ReadAll(block, bytes, error);
    block->source = NULL;
    if (result != jn_ok) {
        jnDestroyAsset(&block->view);
        return result;
    }
    *asset = &block->view;
    return jn_ok;
}

void jnDestroyAsset(jnAsset* asset)
{
    if (asset != NULL) {
        jnAssetBlock* block = (jnAssetBlock*)(void*)asset;
        jnAllocator allocator = block->allocator;
        jnRelease(&allocator, block);
    }
}

void jnAsset_Counts(const jnAsset* a, jnAssetCounts* counts)
{
    if (JN_BROKEN(a != NULL && counts != NULL)) {
        return;
    }
    *counts = (jnAssetCounts){.joints = a->jointCount,
        .vertices = a->vertexCount,
        .fileVertices = a->fileVertexCount,
        .normals = a->normalCount,
        .triangles = a->triangleCount,
        .parts = a->partCount,
        .clips = a->clipCount,
        .components = a->componentCount,
        .modes = a->modeCount,
        .weights = a->weightCount,
        .targets = a->targetCount,
        .hitVertices = a->hitVertexCount,
        .isLinear = a->isLinear,
        .weightsArePairs = a->weightsArePairs};
}

const jnAssetJoint* jnAsset_Joint(const jnAsset* a, int index)
{
    return JN_BROKEN(a != NULL && index >= 0 && index < a->jointCount) ? NULL : &a->joints[index];
}

jnAssetClip jnAsset_Clip(const jnAsset* asset, int index)
{
    if (JN_BROKEN(asset != NULL && index >= 0 && index < asset->clipCount)) {
        return (jnAssetClip){.name = ""};
    }
    const jnAssetBlock* block = (const jnAssetBlock*)(const void*)asset;
    const jnAssetClipEntry* entry = &block->clips[index];
    size_t entries = (size_t)entry->frameCount * (size_t)asset->jointCount;
    const float* data = block->clipData + entry->data;
    return (jnAssetClip){
        .name = entry->name,
        .rate = entry->rate,
        .frameCount = entry->frameCount,
        .looping = (entry->flags & JN_CLIP_LOOPING) != 0,
        .isTest = (entry->flags & JN_CLIP_TEST) != 0,
        .rotations = data,
        .translations = data + 4 * entries,
        .scales = (entry->flags & JN_CLIP_SCALES) != 0 ? data + 7 * entries : NULL,
    };
}

int jnAsset_FindClip(const jnAsset* asset, const char* name)
{
    if (JN_BROKEN(asset != NULL && name != NULL)) {
        return -1;
    }
    for (int i = 0; i < asset->clipCount; ++i) {
        if (strcmp(jnAsset_Clip(asset, i).name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int jnAsset_SectionCount(const jnAsset* asset)
{
    if (JN_BROKEN(asset != NULL)) {
        return 0;
    }
    return (int)((const jnAssetBlock*)(const void*)asset)->header->sectionCount;
}

jnAssetSection jnAsset_Section(const jnAsset* asset, int index)
{
    const jnAssetBlock* block = (const jnAssetBlock*)(const void*)asset;
    if (JN_BROKEN(block != NULL && index >= 0 && index < (int)block->header->sectionCount)) {
        return (jnAssetSection){.id = ""};
    }
    const jnAssetEntry* entry = &block->entries[index];
    jnAssetSection section = {
        .required = (entry->flags & JN_SECTION_REQUIRED) != 0,
        .offset = (size_t)entry->offset,
        .size = (size_t)entry->size,
    };
    Letters(entry->id, section.id);
    return section;
}
