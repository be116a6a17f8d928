// From a character to the sections of a `.jounce` file; their layout is in src/runtime/asset_format.h.
//
// Vertices may be put in another order: those whose springs are practically rigid go last, where the runtime does not
// step them. Within each half the order stays, so that neighbours stay neighbours in memory.
#include "asset/asset_writer.h"

#include "asset/asset_sections.h"
#include "base/affine.h"
#include "base/file.h"
#include "base/try.h"
#include "learn/network.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

jnaAssetDef jnaDefaultAssetDef(void)
{
    return (jnaAssetDef){.curve = jn_curveCubic,
        .timing = jn_timingCausal,
        .rate = 30.0,
        .hardAngle = 1.0,
        .networkTolerance = JNA_NETWORK_TOLERANCE};
}

void* jnaAddSection(jnaSections* s, uint32_t id, bool required, size_t size)
{
    JN_ASSERT(s->count < JN_MAX_SECTIONS); // there are fewer kinds
    void* data = jnaArena_Take(&s->arena, (int64_t)size, 1);
    if (data == NULL) {
        return NULL;
    }
    s->list[s->count++] = (jnaSection){.id = id, .required = required, .data = data, .size = size};
    return data;
}

void jnaFreeSections(jnaSections* s)
{
    jnaReleaseArena(&s->arena);
    *s = (jnaSections){0};
}

static jnResult CheckDef(const jnaAssetDef* def, jnError* error)
{
    const jnaCharacter* c = def->character;
    if (c->jointCount < 1 || c->vertexCount < 1 || c->fileVertexCount < 1 || c->triangleCount < 1) {
        return jnFail(error, jn_badArgument, "an asset needs joints, vertices and triangles; '%s' has %d, %d and %d",
            c->name, c->jointCount, c->vertexCount, c->triangleCount);
    }
    for (int i = 0; i < c->fileVertexCount; ++i) {
        if (c->weld[i] < 0 || c->weld[i] >= c->vertexCount) {
            return jnFail(
                error, jn_badArgument, "file vertex %d stands on vertex %d of %d", i, c->weld[i], c->vertexCount);
        }
    }
    for (int64_t i = 0; i < 3 * (int64_t)c->triangleCount; ++i) {
        if (c->triangles[i] < 0 || c->triangles[i] >= c->fileVertexCount) {
            return jnFail(error, jn_badArgument, "triangle %d has corner %d of %d", (int)(i / 3), c->triangles[i],
                c->fileVertexCount);
        }
    }
    if (def->modes != NULL && (def->modes->vertexCount != c->vertexCount || def->modes->jointCount != c->jointCount)) {
        return jnFail(error, jn_badArgument, "the modes are of %d vertices and %d joints, the character of %d and %d",
            def->modes->vertexCount, def->modes->jointCount, c->vertexCount, c->jointCount);
    }
    for (int i = 0; i < def->clipCount; ++i) {
        if (def->clips[i].jointCount != c->jointCount) {
            return jnFail(error, jn_badArgument, "clip '%s' has %d joints, the character %d", def->clips[i].name,
                def->clips[i].jointCount, c->jointCount);
        }
    }
    return jn_ok;
}

// Whether a vertex stays on its target: its spring is rigid, or it has none.
static bool IsRigid(const jnaAssetDef* def, int v)
{
    double limit = JNA_TURN * JNA_TURN * def->rigidHertz * def->rigidHertz; // (2 pi f)^2
    return def->restVertices || def->modes != NULL || (def->rigidHertz > 0.0 && (double)def->stiffness[v] >= limit);
}

// Whose springs are as good as rigid, and rigid parts. Returns how many are not.
static int FindRigid(const jnaAssetDef* def, uint8_t* rigid)
{
    int soft = 0;
    jnaCharacter_FindRoles(def->character, rigid);
    for (int v = 0; v < def->character->vertexCount; ++v) {
        rigid[v] = rigid[v] == jna_meshRigid || IsRigid(def, v);
        soft += !rigid[v];
    }
    return soft;
}

// Drivers of the coarse detail first, in their order, then the other springs, then what is rigid. drivers: NULL where
// there are none. With morph targets, neighbours in space are put together.
static void OrderVertices(const jnaAssetDef* def, const uint8_t* rigid, const int32_t* drivers, jnaSections* s)
{
    int count = def->character->vertexCount, next = s->driverCount;
    bool patched = def->modes != NULL || (def->network != NULL && def->network->kind == jn_networkPca);
    int32_t* list = jnaArena_Take(&s->arena, count, sizeof(*list));
    for (int kind = 0; list != NULL && kind < 2; ++kind) {
        int some = 0;
        for (int v = 0; v < count; ++v) {
            bool drives = drivers != NULL && drivers[v] >= 0;
            if (drives) {
                s->place[v] = drivers[v];
            } else if (rigid[v] == kind) {
                list[some++] = v;
            }
        }
        if (patched) {
            jnaOrderPatches(def->character, list, some, next, &s->arena);
        }
        for (int i = 0; i < some; ++i) {
            s->place[list[i]] = next++;
        }
        if (kind == 0) {
            int whole = jnBlockCount(next) * JN_LANES;
            s->springCount = whole < count ? whole : count;
        }
    }
}

// Number of drivers: whole blocks, near the share that was asked for.
static jnResult CountDrivers(const jnaAssetDef* def, int soft, jnaSections* s, jnError* error)
{
    if (def->detailShare == 0.0) {
        return jn_ok;
    }
    if (def->modes != NULL) {
        return jnFail(error, jn_badArgument, "coarse detail is for springs of single vertices, not for modes");
    }
    bool good = def->detailShare > 0.0 && def->detailShare <= 0.5;
    int blocks = good ? (int)(def->detailShare * soft / JN_LANES + 0.5) : 0;
    s->driverCount = (blocks > 0 ? blocks : 1) * JN_LANES;
    if (!good || s->driverCount > soft / 2) {
        return jnFail(error, jn_badArgument,
            "coarse level of detail with a fraction of %g of %d springs: it must be above 0 and at most 0.5, and %d "
            "springs are "
            "the fewest",
            def->detailShare, soft, 2 * JN_LANES);
    }
    return jn_ok;
}

static void AddSprings(const jnaAssetDef* def, jnaSections* s)
{
    size_t count = (size_t)def->character->vertexCount;
    float* stiffness = jnaAddSection(s, JN_SECTION_STIFFNESS, true, count * sizeof(float));
    float* damping = jnaAddSection(s, JN_SECTION_DAMPING, true, count * sizeof(float));
    bool moved = false;
    if (s->arena.failed) {
        return;
    }
    for (size_t v = 0; v < count; ++v) {
        stiffness[s->place[v]] = def->stiffness[v];
        damping[s->place[v]] = def->damping[v];
        moved = moved || s->place[v] != (int32_t)v;
    }
    int32_t* order = moved ? jnaAddSection(s, JN_SECTION_ORDER, false, count * sizeof(int32_t)) : NULL;
    for (size_t v = 0; order != NULL && v < count; ++v) {
        order[s->place[v]] = (int32_t)v;
    }
}

static void AddParts(const jnaCharacter* c, jnaSections* s)
{
    jnAssetPart* parts = jnaAddSection(s, JN_SECTION_PARTS, false, (size_t)c->partCount * sizeof(*parts));
    for (int i = 0; parts != NULL && i < c->partCount; ++i) {
        const jnaPart* from = &c->parts[i];
        jnaCopyName(parts[i].name, from->name);
        jnaCopyName(parts[i].material, from->material);
        memcpy(parts[i].color, from->color, sizeof(parts[i].color));
        parts[i].firstTriangle = from->firstTriangle;
        parts[i].triangleCount = from->triangleCount;
    }
}

static void AddClips(const jnaAssetDef* def, jnaSections* s)
{
    size_t floats = 0;
    for (int i = 0; i < def->clipCount; ++i) {
        const jnaClip* clip = &def->clips[i];
        floats += (size_t)clip->frameCount * (size_t)clip->jointCount * (clip->scales != NULL ? 10 : 7);
    }
    jnAssetClipEntry* entries =
        jnaAddSection(s, JN_SECTION_CLIPS, false, (size_t)def->clipCount * sizeof(jnAssetClipEntry));
    float* data = jnaAddSection(s, JN_SECTION_CLIP_DATA, false, floats * sizeof(float));
    float* at = data;
    for (int i = 0; entries != NULL && data != NULL && i < def->clipCount; ++i) {
        const jnaClip* clip = &def->clips[i];
        size_t count = (size_t)clip->frameCount * (size_t)clip->jointCount;
        bool isTest = def->roles != NULL && def->roles[i] == jna_test;
        entries[i] = (jnAssetClipEntry){
            .rate = clip->rate,
            .data = (uint64_t)(at - data),
            .frameCount = clip->frameCount,
            .flags = (clip->looping ? JN_CLIP_LOOPING : 0u) | (clip->scales != NULL ? JN_CLIP_SCALES : 0u) |
                     (isTest ? JN_CLIP_TEST : 0u),
        };
        jnaCopyName(entries[i].name, clip->name);
        memcpy(at, clip->rotations, 4 * count * sizeof(float));
        memcpy(at + 4 * count, clip->translations, 3 * count * sizeof(float));
        if (clip->scales != NULL) {
            memcpy(at + 7 * count, clip->scales, 3 * count * sizeof(float));
        }
        at += (clip->scales != NULL ? 10 : 7) * count;
    }
}

// The section as jnaEncodeNetwork makes it.
static jnResult AddNetwork(const jnaAssetDef* def, jnaSections* s, jnError* error)
{
    void* bytes;
    size_t size;
    if (def->network == NULL) {
        return jn_ok;
    }
    if (def->skinning != def->network->skinning || def->network->vertexCount != def->character->vertexCount) {
        return jnFail(error, jn_badArgument,
            "the network of '%s' was trained for %d vertices skinned by %s; export it so, or set network.skinning in "
            "the "
            "manifest and train it again",
            def->character->name, def->network->vertexCount,
            def->network->skinning == jn_skinDual ? "dual quaternions" : "linear blend");
    }
    JN_PASS(jnaEncodeNetwork(def->network, s->place, &bytes, &size, error));
    void* section = jnaAddSection(s, JN_SECTION_NETWORK, false, size);
    if (section != NULL) {
        memcpy(section, bytes, size);
    }
    free(bytes);
    return jn_ok;
}

static void FillInfo(const jnaAssetDef* def, const jnaSections* s, jnAssetInfo* info)
{
    const jnaCharacter* c = def->character;
    *info = (jnAssetInfo){
        .jointCount = c->jointCount,
        .vertexCount = c->vertexCount,
        .fileVertexCount = c->fileVertexCount,
        .triangleCount = c->triangleCount,
        .normalCount = s->normalCount,
        .clipCount = def->clipCount,
        .partCount = c->partCount,
        .springCount = s->springCount,
        .skinning = (uint32_t)def->skinning,
        .curve = (uint32_t)def->curve,
        .timing = (uint32_t)def->timing,
        .start = (uint32_t)def->start,
        .rate = (float)def->rate,
    };
    jnaCopyName(info->name, c->name);
}

// Header, table and sections in one piece of memory.
jnResult jnaJoinSections(const jnaSections* s, void** bytes, size_t* size, jnError* error)
{
    size_t total = jnAlignUp(sizeof(jnAssetHeader) + (size_t)s->count * sizeof(jnAssetEntry));
    for (int i = 0; i < s->count; ++i) {
        total += jnAlignUp(s->list[i].size);
    }
    char* file = aligned_alloc(JN_ALIGNMENT, total);
    if (file == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for an asset of %zu bytes", total);
    }
    memset(file, 0, total);
    jnAssetHeader* header = (jnAssetHeader*)(void*)file;
    jnAssetEntry* entries = (jnAssetEntry*)(void*)(file + sizeof(*header));
    memcpy(header->magic, JN_ASSET_MAGIC, sizeof(header->magic));
    header->version = JN_ASSET_VERSION;
    header->sectionCount = (uint32_t)s->count;
    header->byteCount = total;
    size_t offset = jnAlignUp(sizeof(*header) + (size_t)s->count * sizeof(jnAssetEntry));
    for (int i = 0; i < s->count; ++i) {
        const jnaSection* section = &s->list[i];
        entries[i] = (jnAssetEntry){.id = section->id,
            .flags = section->required ? JN_SECTION_REQUIRED : 0,
            .offset = offset,
            .size = section->size};
        memcpy(file + offset, section->data, section->size);
        offset += jnAlignUp(section->size);
    }
    header->checksum = jnAssetChecksum(file, total);
    *bytes = file;
    *size = total;
    return jn_ok;
}

// Orders vertices and modes, and adds the sections that follow the vertices.
static jnResult AddOrdered(const jnaAssetDef* def, jnaSections* s, jnError* error)
{
    int64_t vertexCount = def->character->vertexCount;
    const char* what = "the asset's vertices";
    int32_t* drivers = NULL;
    uint8_t* rigid = jnaArena_Take(&s->arena, vertexCount, 1);
    s->place = jnaArena_Take(&s->arena, vertexCount, sizeof(int32_t));
    JN_PASS(jnaArena_Check(&s->arena, what, error));
    JN_PASS(CountDrivers(def, FindRigid(def, rigid), s, error));
    if (s->driverCount > 0) {
        drivers = jnaChooseDrivers(def, rigid, s->driverCount, s);
    }
    if (def->modes != NULL) {
        s->modeOrder = jnaArena_Take(&s->arena, def->modes->modeCount, sizeof(int32_t));
        jnaOrderModes(def->modes, &s->arena, s->modeOrder);
    }
    JN_PASS(jnaArena_Check(&s->arena, what, error));
    OrderVertices(def, rigid, drivers, s);
    JN_PASS(jnaArena_Check(&s->arena, what, error));
    jnaAddRig(def, s);
    AddSprings(def, s);
    jnaAddSurface(def, s);
    if (drivers != NULL) {
        jnaAddFollowers(def, rigid, drivers, s);
    }
    return jnaArena_Check(&s->arena, what, error);
}

jnResult jnaEncodeAsset(const jnaAssetDef* def, void** bytes, size_t* size, jnError* error)
{
    *bytes = NULL;
    JN_PASS(CheckDef(def, error));
    jnResult result = jn_ok;
    jnAsset* asset = NULL;
    jnaSections s = {0};
    jnAssetInfo* info = jnaAddSection(&s, JN_SECTION_INFO, true, sizeof(*info));
    JN_TRY(AddOrdered(def, &s, error));
    AddParts(def->character, &s);
    AddClips(def, &s);
    jnaAddTargets(def, &s);
    jnaAddModes(def, &s);
    jnaAddBound(def, &s);
    JN_TRY(jnaAddMorphs(def, &s, error));
    JN_TRY(AddNetwork(def, &s, error));
    JN_TRY(jnaArena_Check(&s.arena, "the asset's sections", error));
    FillInfo(def, &s, info);
    JN_TRY(jnaJoinSections(&s, bytes, size, error));
    // What the reader would refuse is refused here, in its words.
    jnAssetDef loading = {.bytes = *bytes, .size = *size, .source = def->character->name};
    JN_TRY(jnLoadAsset(&loading, &asset, error));
    if (def->touch != NULL) { // it needs to know what the modes do by then
        JN_TRY(jnaAddTouch(def, asset, &s, error));
        jnDestroyAsset(asset);
        asset = NULL;
        free(*bytes);
        *bytes = NULL;
        JN_TRY(jnaJoinSections(&s, bytes, size, error));
        loading.bytes = *bytes;
        loading.size = *size;
        JN_TRY(jnLoadAsset(&loading, &asset, error));
    }
done:
    jnDestroyAsset(asset);
    jnaFreeSections(&s);
    if (result != jn_ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return result;
}

jnResult jnaWriteAsset(const char* path, const jnaAssetDef* def, jnError* error)
{
    void* bytes;
    size_t size;
    JN_PASS(jnaEncodeAsset(def, &bytes, &size, error));
    jnResult result = jnaWriteBytes(path, bytes, size, error);
    free(bytes);
    return result;
}
