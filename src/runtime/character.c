// Life of a character: one block of memory behind the struct, snapshots, the mask.
#include "character_internal.h"

#include <math.h>
#include <string.h>

enum { SNAPSHOT_MAGIC = 0x31434e4a };

// Precedes the bytes of a snapshot; those of the tail, of the modes and of the springs follow.
typedef struct SnapshotHead {
    uint32_t magic;
    int32_t vertexCount, modeCount;
    jnTailClock tail;
} SnapshotHead;

jnCharacterDef jnDefaultCharacterDef(const jnAsset* asset)
{
    return (jnCharacterDef){
        .asset = asset,
        .curve = (jnCurve)asset->curve,
        .timing = (jnTiming)asset->timing,
        .start = (jnStart)asset->start,
    };
}

static int SpringCount(const jnCharacterDef* def)
{
    return def->detail == jn_detailCoarse ? def->asset->driverCount : def->asset->springCount;
}

static jnSpringsDef SpringsDef(const jnCharacterDef* def)
{
    jnSpringsDef springs = jnDefaultSpringsDef();
    springs.count = SpringCount(def);
    springs.stiffness = def->asset->stiffness;
    springs.damping = def->asset->damping;
    springs.curve = def->curve;
    springs.timing = def->timing;
    springs.start = def->start;
    springs.kernel = def->kernel;
    return springs;
}

// Lays the arrays out behind the struct; with c == NULL only counts. Returns where the springs begin.
static size_t LayOut(jnCharacter* c, const jnCharacterDef* def)
{
    const jnAsset* asset = def->asset;
    size_t joints = (size_t)asset->jointCount, blocks = (size_t)asset->blockCount;
    size_t dualJoints = asset->skinning == jn_skinDual || asset->modes != NULL ? joints : 0;
    size_t springBlocks = (size_t)jnBlockCount(SpringCount(def));
    size_t tailBlock = def->detail == jn_detailCoarse ? 0 : springBlocks, tail = (blocks - tailBlock) * JN_FIELD_SIZE;
    size_t normalBlocks = (size_t)jnBlockCount(asset->normalCount);
    float* none;
    float** arrays[] = {c != NULL ? &c->palette : &none, c != NULL ? &c->duals : &none,
        c != NULL ? &c->stretchPalette : &none, c != NULL ? &c->field : &none, c != NULL ? &c->positions : &none,
        c != NULL ? &c->velocities : &none, c != NULL ? &c->normals : &none, c != NULL ? &c->tails[0] : &none,
        c != NULL ? &c->tails[1] : &none, c != NULL ? &c->tails[2] : &none};
    const size_t floats[] = {joints * JN_PALETTE_SIZE, dualJoints * JN_DUAL_SIZE, dualJoints * JN_PALETTE_SIZE,
        blocks * JN_FIELD_SIZE, blocks * JN_FIELD_SIZE + 4, blocks * JN_FIELD_SIZE, normalBlocks * JN_FIELD_SIZE, tail,
        tail, tail};
    size_t offset = jnAlignUp(sizeof(jnCharacter));
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        *arrays[i] = c != NULL ? (float*)(void*)((char*)c + offset) : NULL;
        offset += jnAlignUp(floats[i] * sizeof(float));
    }
    if (c != NULL) {
        c->globals = (double*)(void*)((char*)c + offset);
        c->mask = (uint8_t*)c + offset + jnAlignUp(joints * 12 * sizeof(double));
        c->tailSize = tail * sizeof(float);
        c->springCount = SpringCount(def);
        c->springBlocks = (int)springBlocks;
        c->tailBlock = (int)tailBlock;
        c->coarse = def->detail == jn_detailCoarse;
    }
    offset += jnAlignUp(joints * 12 * sizeof(double)) + jnAlignUp(springBlocks);
    const jnAssetBlock* block = (const jnAssetBlock*)(const void*)asset;
    if (asset->network != jn_networkNone) {
        jnNetwork network;
        jnPlaceNetwork(block->network, block->network, asset->vertexCount, &network);
        offset += jnNetworkState_Place(
            c != NULL ? &c->networkState : NULL, &network, asset->jointCount, c != NULL ? (char*)c + offset : NULL);
        if (c != NULL) {
            c->network = network;
        }
    }
    if (asset->modes == NULL || asset->springCount == 0 || def->detail == jn_detailCoarse) {
        return offset;
    }
    if (c != NULL) {
        c->modes = (jnModes*)(void*)((char*)c + offset);
    }
    return offset + jnModes_ByteCount(asset);
}

size_t jnCharacter_ByteCount(const jnCharacterDef* def)
{
    jnSpringsDef springs = SpringsDef(def);
    return LayOut(NULL, def) + jnSprings_ByteCount(&springs);
}

jnResult jnCreateCharacter(const jnCharacterDef* def, jnCharacter** out, jnError* error)
{
    JN_ASSERT(def != NULL && def->asset != NULL && out != NULL);
    *out = NULL;
    if (def->curve == jn_curveHermite) {
        return jnFail(error, jn_badArgument, "a character has no target velocities for a Hermite curve; use a cubic");
    }
    if (!jnKernelAvailable(def->kernel)) {
        return jnFail(error, jn_badArgument, "this machine or build has no %s kernel", jnKernelName(def->kernel));
    }
    if (def->detail == jn_detailCoarse && def->asset->driverCount == 0) {
        return jnFail(error, jn_badArgument, "the asset '%s' has no coarse detail; jounce export --lod adds it",
            def->asset->name);
    }
    size_t size = jnCharacter_ByteCount(def);
    jnCharacter* c = def->memory;
    if (c != NULL && (def->memorySize < size || (uintptr_t)c % JN_ALIGNMENT != 0)) {
        return jnFail(error, jn_badArgument, "%zu bytes at a multiple of %d are needed for the character '%s'", size,
            JN_ALIGNMENT, def->asset->name);
    }
    c = c != NULL ? c : jnAllocate(&def->allocator, size);
    if (c == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for the character '%s' (%zu bytes)", def->asset->name, size);
    }
    size_t springsAt = LayOut(NULL, def);
    memset(c, 0, springsAt);
    c->asset = def->asset;
    c->kernels = jnFindRigKernels(def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel);
    c->networkKernels = jnFindNetworkKernels(def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel);
    c->networkState.strength = 1.0f;
    c->allocator = def->allocator;
    c->ownsMemory = def->memory == NULL;
    c->lags = def->curve == jn_curveCubic && def->timing == jn_timingExact;
    LayOut(c, def);
    if (c->modes != NULL) {
        jnMakeModes(c->modes, c->asset, def->kernel);
    }
    jnCharacter_Target(c, &(jnPose){0}, NULL); // the rest pose stands in for a first one that is not finite
    jnResult result = jn_ok;
    if (c->springCount > 0) {
        jnSpringsDef springs = SpringsDef(def);
        springs.memory = (char*)c + springsAt;
        springs.memorySize = size - springsAt;
        springs.allocator = def->allocator; // for loops
        result = jnCreateSprings(&springs, &c->springs, error);
    }
    if (c->springs != NULL) {
        c->springs->resting = jnVerticesRest(c);
    }
    if (result != jn_ok) {
        jnDestroyCharacter(c);
        return result;
    }
    *out = c;
    return jn_ok;
}

void jnDestroyCharacter(jnCharacter* c)
{
    if (c != NULL && c->ownsMemory) {
        jnAllocator allocator = c->allocator;
        jnRelease(&allocator, c);
    }
}

void jnCharacter_SetNetworkStrength(jnCharacter* c, float strength)
{
    c->networkState.strength = jnIsFinite(strength) ? strength : 0.0f;
}

jnSprings* jnCharacter_Springs(jnCharacter* c)
{
    return c->springs;
}

void jnCharacter_SetMask(jnCharacter* c, const uint8_t* mask)
{
    c->masked = false;
    for (int block = 0; block < c->springBlocks; ++block) {
        int end = (block + 1) * JN_LANES < c->springCount ? (block + 1) * JN_LANES : c->springCount;
        bool moves = mask == NULL;
        for (int v = block * JN_LANES; mask != NULL && v < end; ++v) {
            moves = moves || mask[v] != 0;
        }
        c->mask[block] = moves;
        c->masked = c->masked || !moves;
    }
    if (c->springs != NULL) {
        jnRestMaskedSprings(c);
        c->springs->coefficientTime = 0.0; // blocks that rested have none for the h at hand
    }
}

size_t jnCharacter_SnapshotSize(const jnCharacter* c)
{
    size_t springs = c->springs != NULL ? jnSprings_SnapshotSize(c->springs) : 0;
    size_t modes = c->modes != NULL ? c->modes->movingSize : 0;
    return sizeof(SnapshotHead) + JN_TAIL_HISTORY * c->tailSize + modes + springs;
}

void jnCharacter_Save(const jnCharacter* c, void* snapshot)
{
    SnapshotHead head;
    memset(&head, 0, sizeof(head)); // padding too: equal states are equal bytes
    head.magic = SNAPSHOT_MAGIC;
    head.vertexCount = c->asset->vertexCount;
    head.modeCount = c->modes != NULL ? c->modes->count : 0;
    memcpy(&head.tail, &c->tail, sizeof(head.tail));
    char* at = snapshot;
    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    for (int i = 0; i < JN_TAIL_HISTORY; ++i, at += c->tailSize) {
        memcpy(at, c->tails[i], c->tailSize);
    }
    if (c->modes != NULL) {
        memcpy(at, c->modes->moving, c->modes->movingSize);
        at += c->modes->movingSize;
    }
    if (c->springs != NULL) {
        jnSprings_Save(c->springs, at);
    }
}

jnResult jnCharacter_Restore(jnCharacter* c, const void* snapshot, size_t size, jnError* error)
{
    SnapshotHead head;
    if (size != jnCharacter_SnapshotSize(c)) {
        return jnFail(error, jn_badData, "a snapshot of this character has %zu bytes, not %zu",
            jnCharacter_SnapshotSize(c), size);
    }
    memcpy(&head, snapshot, sizeof(head));
    int modeCount = c->modes != NULL ? c->modes->count : 0;
    if (head.magic != SNAPSHOT_MAGIC || head.vertexCount != c->asset->vertexCount || head.modeCount != modeCount) {
        return jnFail(error, jn_badData, "the snapshot is of another character");
    }
    const char* at = (const char*)snapshot + sizeof(head);
    const char* modes = at + JN_TAIL_HISTORY * c->tailSize;
    const char* springs = modes + (c->modes != NULL ? c->modes->movingSize : 0);
    if (c->springs != NULL) {
        jnResult result =
            jnSprings_Restore(c->springs, springs, size - (size_t)(springs - (const char*)snapshot), error);
        if (result != jn_ok) {
            return result;
        }
        jnRestMaskedSprings(c);
    }
    if (c->modes != NULL) {
        memcpy(c->modes->moving, modes, c->modes->movingSize);
    }
    c->tail = head.tail;
    for (int i = 0; i < JN_TAIL_HISTORY; ++i, at += c->tailSize) {
        memcpy(c->tails[i], at, c->tailSize);
    }
    return jn_ok;
}

uint64_t jnCharacter_BadPoseCount(const jnCharacter* c)
{
    return c->badPoseCount;
}

const jnAsset* jnCharacter_Asset(const jnCharacter* c)
{
    return c->asset;
}
