// Life of a character: one block of memory behind the struct, settings, snapshots, the mask.
#include "character_internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SNAPSHOT_MAGIC = 0x32434e4a };

// Precedes the bytes of a snapshot with springs; those of the tail and of the springs follow.
typedef struct SnapshotHead {
    uint32_t magic;
    int32_t vertexCount;
    uint64_t asset;    // its hash
    uint64_t reserved; // 0
    uint64_t checksum; // where that of an asset is
    jnTailClock tail;
    double origin[3]; // that the springs' places are counted from
} SnapshotHead;
_Static_assert(offsetof(SnapshotHead, checksum) == 24, "as in the header of an asset");

jnCharacterDef jnDefaultCharacterDef(const jnAsset* asset)
{
    if (JN_BROKEN(asset != NULL)) {
        return (jnCharacterDef){.asset = NULL};
    }
    return (jnCharacterDef){
        .asset = asset,
        .curve = (jnCurve)asset->curve,
        .timing = (jnTiming)asset->timing,
        .start = (jnStart)asset->start,
        .weightsOnly = asset->vertexCount == 0,
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

static jnMorphsDef MorphsDef(const jnCharacterDef* def, const jnNetwork* network)
{
    return (jnMorphsDef){.asset = def->asset,
        .components = def->components,
        .modes = def->modes,
        .curve = def->curve,
        .timing = def->timing,
        .start = def->start,
        .kernel = def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel,
        .network = network};
}

// Takes the next array; with base NULL only counts.
static void* Take(char* base, size_t* at, size_t size)
{
    void* here = base != NULL ? base + *at : NULL;
    *at += jnAlignUp(size);
    return here;
}

// What a surface takes, of springs or not.
static void LayOutSurface(jnCharacter* c, const jnCharacterDef* def, char* base, size_t* at)
{
    const jnAsset* asset = def->asset;
    size_t blocks = (size_t)asset->blockCount, springBlocks = (size_t)jnBlockCount(SpringCount(def)), f = sizeof(float);
    size_t joints = (size_t)asset->jointCount, dualJoints = asset->skinning == jn_skinDual ? joints : 0;
    size_t normalBlocks = (size_t)jnBlockCount(asset->normalCount), field = blocks * JN_FIELD_SIZE * f;
    c->tailBlock = def->detail == jn_detailCoarse ? 0 : (int)springBlocks;
    c->springBlocks = (int)springBlocks;
    c->tailSize = springBlocks > 0 ? (blocks - (size_t)c->tailBlock) * JN_FIELD_SIZE * f : 0;
    c->palette = Take(base, at, joints * JN_PALETTE_SIZE * f);
    c->duals = Take(base, at, dualJoints * JN_DUAL_SIZE * f);
    c->stretchPalette = Take(base, at, dualJoints * JN_PALETTE_SIZE * f);
    c->field = Take(base, at, springBlocks > 0 ? field : 0);
    c->positions = Take(base, at, field + 4 * f);
    c->velocities = Take(base, at, field);
    c->normals = Take(base, at, normalBlocks * JN_FIELD_SIZE * f);
    for (int i = 0; i < JN_TAIL_HISTORY; ++i) {
        c->tails[i] = Take(base, at, c->tailSize);
    }
    c->mask = Take(base, at, springBlocks);
}

// Whether the network works in the scratch of the modes.
static bool NetworkBorrows(const jnCharacterDef* def, const jnCharacter* c)
{
    jnMorphsDef morphs = MorphsDef(def, NULL);
    return SpringCount(def) == 0 && jnMorphs_ScratchSize(&morphs) >= jnNetwork_ScratchSize(&c->network);
}

// Lays the arrays out behind the struct; with `there` false only counts. Returns where springs or morphs begin.
static size_t LayOut(jnCharacter* c, const jnCharacterDef* def, bool there)
{
    const jnAsset* asset = def->asset;
    char* base = there ? (char*)c : NULL;
    size_t at = jnAlignUp(sizeof(*c)), f = sizeof(float), joints = (size_t)asset->jointCount;
    size_t columns = asset->morphs != NULL ? (size_t)asset->morphs->columnCount : 0;
    bool many = asset->jointCount > JN_STACK_JOINTS;
    c->matrices = many ? Take(base, &at, joints * 24 * sizeof(double)) : NULL;
    c->turns = many ? Take(base, &at, joints * 4 * f) : NULL;
    c->weights = Take(base, &at, 2 * columns * f);
    c->targets = Take(base, &at, 2 * (size_t)asset->targetCount * f);
    c->coefficients = Take(base, &at, def->weightsOnly ? 0 : columns * sizeof(int16_t));
    if (!def->weightsOnly) {
        LayOutSurface(c, def, base, &at);
    }
    const jnAssetBlock* block = (const jnAssetBlock*)(const void*)asset;
    if (asset->network != jn_networkNone) {
        jnPlaceNetwork(block->network, block->network, asset->vertexCount, &c->network);
        at += jnNetworkState_Place(&c->networkState, &c->network, there ? base + at : NULL, NetworkBorrows(def, c));
    }
    return at;
}

size_t jnCharacter_ByteCount(const jnCharacterDef* def)
{
    if (JN_BROKEN(def != NULL && def->asset != NULL)) {
        return 0;
    }
    jnCharacter none;
    none.network.head = NULL;
    size_t own = LayOut(&none, def, false);
    jnSpringsDef springs = SpringsDef(def);
    jnMorphsDef morphs = MorphsDef(def, &none.network);
    own += jnAlignUp(SpringCount(def) > 0 ? jnSprings_ByteCount(&springs) : jnMorphs_ByteCount(&morphs));
    return own + jnPlaceTouchState(&none, def->asset, NULL);
}

static jnResult CheckDef(const jnCharacterDef* def, jnError* error)
{
    if (def->curve == jn_curveHermite) {
        return jnFail(error, jn_badArgument, "a character has no target velocities for a Hermite curve; use a cubic");
    }
    if ((int)def->curve < jn_curveStep || def->curve > jn_curveHermite || (int)def->timing < jn_timingExact ||
        def->timing > jn_timingCausal || (int)def->start < jn_startMoving || def->start > jn_startAtRest ||
        (int)def->detail < jn_detailFull || def->detail > jn_detailCoarse) {
        return jnFail(error, jn_badArgument, "curve, timing, start or detail is not one of its enumeration");
    }
    if (!jnKernelAvailable(def->kernel)) {
        return jnFail(error, jn_badArgument, "this machine or build has no %s kernel", jnKernelName(def->kernel));
    }
    if (def->detail == jn_detailCoarse && def->asset->driverCount == 0) {
        return jnFail(error, jn_badArgument, "the asset '%s' has no coarse detail; jounce export --lod adds it",
            def->asset->name);
    }
    if (!def->weightsOnly && def->asset->vertexCount == 0) {
        return jnFail(error, jn_badArgument,
            "the asset '%s' has no surface: it gives morph weights alone (weightsOnly); load the .jounce of the whole "
            "character for positions",
            def->asset->name);
    }
    if (def->weightsOnly && SpringCount(def) > 0) {
        return jnFail(error, jn_badArgument,
            "the asset '%s' has springs of single vertices, which are not weights; export it with the layer modal",
            def->asset->name);
    }
    return jn_ok;
}

jnResult jnCreateCharacter(const jnCharacterDef* def, jnCharacter** out, jnError* error)
{
    JN_NEED(error, out != NULL);
    *out = NULL;
    JN_NEED(error, def != NULL && def->asset != NULL);
    jnResult result = CheckDef(def, error);
    if (result != jn_ok) {
        return result;
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
    memset(c, 0, size);
    size_t at = LayOut(c, def, true), touch = jnPlaceTouchState(c, def->asset, NULL);
    (void)jnPlaceTouchState(c, def->asset, (char*)c + size - touch); // behind all that every step reads
    c->asset = def->asset;
    c->kernels = jnFindRigKernels(def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel);
    c->targetKernels = jnFindTargetKernels(def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel);
    c->networkKernels = jnFindNetworkKernels(def->kernel == jn_kernelAuto ? jnBestKernel() : def->kernel);
    c->networkState.strength = 1.0f;
    c->allocator = def->allocator;
    c->ownsMemory = def->memory == NULL;
    c->lags = def->curve == jn_curveCubic && def->timing == jn_timingExact;
    c->springCount = SpringCount(def);
    c->coarse = def->detail == jn_detailCoarse;
    c->weightsOnly = def->weightsOnly;
    if (c->springCount > 0) {
        jnSpringsDef springs = SpringsDef(def);
        springs.memory = (char*)c + at;
        springs.memorySize = size - touch - at;
        springs.allocator = def->allocator; // for loops
        result = jnCreateSprings(&springs, &c->springs, error);
    } else {
        jnMorphsDef morphs = MorphsDef(def, &c->network);
        c->morphs = (jnMorphs*)(void*)((char*)c + at);
        jnMakeMorphs(c->morphs, &morphs);
        if (c->network.head != NULL && NetworkBorrows(def, c)) {
            c->networkState.scratch = (float*)(void*)c->morphs->scratch;
        }
    }
    if (result != jn_ok) {
        jnDestroyCharacter(c);
        return result;
    }
    jnUsePose(c, &(jnPose){0}, true); // the rest pose stands in for a first one that is not finite
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
    if (!JN_BROKEN(c != NULL)) {
        c->networkState.strength = jnIsFinite(strength) ? jnClamp(strength, JN_LARGEST_STRENGTH, 0.0f) : 0.0f;
    }
}

jnSprings* jnCharacter_Springs(jnCharacter* c)
{
    return JN_BROKEN(c != NULL) ? NULL : c->springs;
}

void jnCharacter_SetForce(jnCharacter* c, const float acceleration[3])
{
    if (!JN_BROKEN(c != NULL && acceleration != NULL)) {
        jnClampVector(acceleration, JN_LARGEST_FORCE, c->springs != NULL ? c->springs->force : c->morphs->force);
    }
}

void jnCharacter_SetInertia(jnCharacter* c, float translation, float rotation)
{
    if (!JN_BROKEN(c != NULL)) {
        float* inertia = c->springs != NULL ? c->springs->inertia : c->morphs->inertia;
        inertia[0] = jnClamp(translation, JN_LARGEST_INERTIA, 1.0f);
        inertia[1] = jnClamp(rotation, JN_LARGEST_INERTIA, 1.0f);
    }
}

void jnCharacter_SetTeleportThreshold(jnCharacter* c, float distance, jnTeleport teleport)
{
    if (JN_BROKEN(c != NULL && jnIsTeleport(teleport))) {
        return;
    }
    if (c->springs != NULL) {
        jnSprings_SetTeleportThreshold(c->springs, distance, teleport);
    } else {
        c->morphs->teleportThreshold = distance > 0.0f && jnIsFinite(distance) ? distance : 0.0f;
        c->morphs->teleportKind = teleport;
    }
}

void jnCharacter_SetCap(jnCharacter* c, float distance)
{
    if (JN_BROKEN(c != NULL)) {
        return;
    }
    if (c->springs != NULL) {
        jnSprings_SetCap(c->springs, distance);
    } else {
        jnMorphs_SetCaps(c->morphs, c->morphs->capScale,
            distance > 0.0f && jnIsFinite(distance) ? jnClamp(distance, JN_LARGEST_SCALE, 0.0f) : 0.0f);
    }
}

jnResult jnCharacter_SetStrength(jnCharacter* c, int joint, float strength, jnError* error)
{
    JN_NEED(error, c != NULL);
    if (joint < -1 || joint >= c->asset->jointCount) {
        return jnFail(
            error, jn_badArgument, "there is no joint %d; '%s' has %d", joint, c->asset->name, c->asset->jointCount);
    }
    if (c->springs != NULL && joint >= 0) {
        return jnFail(error, jn_badArgument,
            "springs of single vertices have a strength by vertex (jnSprings_SetStrength), not by joint");
    }
    if (c->springs != NULL) {
        return jnSprings_SetStrength(c->springs, strength, NULL, error);
    }
    if (!(strength >= 0.0f && jnIsFinite(strength))) {
        return jnFail(error, jn_badArgument, "a strength is not negative and finite; this one is %g", (double)strength);
    }
    jnMorphs_SetStrength(c->morphs, joint, jnClamp(strength, JN_LARGEST_STRENGTH, 1.0f));
    return jn_ok;
}

static bool AreScales(float hertzScale, float ratioScale, float gainScale)
{
    return hertzScale >= 0.0f && ratioScale >= 0.0f && gainScale >= 0.0f && jnIsFinite(hertzScale) &&
           jnIsFinite(ratioScale) && jnIsFinite(gainScale);
}

int jnCharacter_TuneMode(jnCharacter* c, int mode, float hertzScale, float ratioScale, float gainScale)
{
    if (JN_BROKEN(c != NULL) || c->morphs == NULL || !AreScales(hertzScale, ratioScale, gainScale)) {
        return 0;
    }
    return jnMorphs_TuneMode(c->morphs, mode, jnClamp(hertzScale, JN_LARGEST_SCALE, 1.0f),
        jnClamp(ratioScale, JN_LARGEST_SCALE, 1.0f), jnClamp(gainScale, JN_LARGEST_SCALE, 1.0f));
}

int jnCharacter_TuneModes(jnCharacter* c, int joint, float hertzScale, float ratioScale, float gainScale)
{
    if (JN_BROKEN(c != NULL) || c->morphs == NULL || !AreScales(hertzScale, ratioScale, gainScale)) {
        return 0;
    }
    if (c->touch != NULL) {
        c->touch->time = 0.0; // the modes respond otherwise
    }
    return jnMorphs_Tune(c->morphs, joint, jnClamp(hertzScale, JN_LARGEST_SCALE, 1.0f),
        jnClamp(ratioScale, JN_LARGEST_SCALE, 1.0f), jnClamp(gainScale, JN_LARGEST_SCALE, 1.0f));
}

void jnCharacter_ScaleModeCaps(jnCharacter* c, float scale)
{
    if (!JN_BROKEN(c != NULL) && c->morphs != NULL) {
        float own = scale > 0.0f && jnIsFinite(scale) ? jnClamp(scale, JN_LARGEST_SCALE, 1.0f) : 0.0f;
        jnMorphs_SetCaps(c->morphs, own, c->morphs->capDistance);
    }
}

void jnCharacter_SetLevel(jnCharacter* c, int components, int modes, float seconds)
{
    if (JN_BROKEN(c != NULL)) {
        return;
    }
    if (c->morphs != NULL) {
        jnMorphs_SetLevel(c->morphs, components, modes, seconds);
    }
}

uint64_t jnCharacter_ResetCount(const jnCharacter* c)
{
    if (JN_BROKEN(c != NULL)) {
        return 0;
    }
    return c->springs != NULL ? jnSprings_ResetCount(c->springs) : c->morphs->resetCount;
}

void jnCharacter_SetMask(jnCharacter* c, const uint8_t* mask)
{
    if (JN_BROKEN(c != NULL)) {
        return;
    }
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
    if (JN_BROKEN(c != NULL)) {
        return 0;
    }
    return c->morphs != NULL
               ? jnMorphs_SnapshotSize(c->morphs)
               : sizeof(SnapshotHead) + JN_TAIL_HISTORY * c->tailSize + jnSprings_SnapshotSize(c->springs);
}

void jnCharacter_Save(const jnCharacter* c, void* snapshot)
{
    if (JN_BROKEN(c != NULL && snapshot != NULL)) {
        return;
    }
    if (c->morphs != NULL) {
        jnMorphs_Save(c->morphs, snapshot);
        return;
    }
    SnapshotHead head;
    memset(&head, 0, sizeof(head)); // padding too: equal states are equal bytes
    head.magic = SNAPSHOT_MAGIC;
    head.vertexCount = c->asset->vertexCount;
    head.asset = c->asset->hash;
    memcpy(&head.tail, &c->tail, sizeof(head.tail));
    memcpy(head.origin, c->past, sizeof(head.origin));
    char* at = (char*)snapshot + sizeof(head);
    for (int i = 0; i < JN_TAIL_HISTORY; ++i, at += c->tailSize) {
        memcpy(at, c->tails[i], c->tailSize);
    }
    jnSprings_Save(c->springs, at);
    memcpy(snapshot, &head, sizeof(head));
    head.checksum = jnAssetChecksum(snapshot, jnCharacter_SnapshotSize(c));
    memcpy(snapshot, &head, sizeof(head));
}

// The checksum is no secret: what a step calculates with is looked at.
static bool IsSane(const jnCharacter* c, const SnapshotHead* head, const char* tails)
{
    const jnTailClock* tail = &head->tail;
    bool sane = tail->newest >= 0 && tail->newest < JN_TAIL_HISTORY && tail->sampleCount >= 0 &&
                tail->sampleCount <= JN_TAIL_HISTORY;
    for (int i = 0; sane && i < JN_TAIL_HISTORY - 1; ++i) {
        bool needed = i >= JN_TAIL_HISTORY - tail->sampleCount;
        sane = sane && (jnIsDuration(tail->durations[i]) || (!needed && tail->durations[i] == 0.0));
    }
    for (int i = 0; i < 3; ++i) {
        sane = sane && fabs(head->origin[i]) <= JN_LARGEST_ORIGIN;
    }
    return sane && jnAreWithin(tails, JN_TAIL_HISTORY * c->tailSize / sizeof(float), JN_LARGEST_SAVED_SAMPLE);
}

jnResult jnCharacter_Restore(jnCharacter* c, const void* snapshot, size_t size, jnError* error)
{
    SnapshotHead head;
    JN_NEED(error, c != NULL && snapshot != NULL);
    if (c->touch != NULL) { // found anew by the next step
        c->touch->pressedCount = c->touch->contactCount = 0;
    }
    if (c->morphs != NULL) {
        return jnMorphs_Restore(c->morphs, snapshot, size, error);
    }
    if (size != jnCharacter_SnapshotSize(c)) {
        return jnFail(error, jn_badData, "a snapshot of this character has %zu bytes, not %zu",
            jnCharacter_SnapshotSize(c), size);
    }
    memcpy(&head, snapshot, sizeof(head));
    if (head.magic != SNAPSHOT_MAGIC || head.vertexCount != c->asset->vertexCount || head.asset != c->asset->hash) {
        return jnFail(error, jn_badData, "the snapshot is of another character");
    }
    if (head.checksum != jnAssetChecksum(snapshot, size)) {
        return jnFail(error, jn_badData, "the snapshot is damaged: its checksum does not match");
    }
    if (!IsSane(c, &head, (const char*)snapshot + sizeof(head))) {
        return jnFail(error, jn_badData, "the snapshot is not one of ours: it has a number that no character saves");
    }
    const char* at = (const char*)snapshot + sizeof(head);
    const char* springs = at + JN_TAIL_HISTORY * c->tailSize;
    JN_PASS(jnSprings_Restore(c->springs, springs, size - (size_t)(springs - (const char*)snapshot), error));
    jnRestMaskedSprings(c);
    c->tail = head.tail;
    memcpy(c->past, head.origin, sizeof(c->past));
    for (int i = 0; i < JN_TAIL_HISTORY; ++i, at += c->tailSize) {
        memcpy(c->tails[i], at, c->tailSize);
    }
    return jn_ok;
}

uint64_t jnCharacter_BadPoseCount(const jnCharacter* c)
{
    return JN_BROKEN(c != NULL) ? 0 : c->badPoseCount;
}

void jnCharacter_Describe(const jnCharacter* c, jnCharacterReport* report, jnModeReport* modes)
{
    if (JN_BROKEN(c != NULL && report != NULL)) {
        return;
    }
    *report = (jnCharacterReport){.seconds = c->seconds,
        .joint = -1,
        .resets = jnCharacter_ResetCount(c),
        .badPoses = c->badPoseCount};
    if (modes != NULL) {
        memset(modes, 0, (size_t)c->asset->modeCount * sizeof(*modes));
    }
    if (c->morphs != NULL) {
        jnMorphs_Describe(c->morphs, report, modes);
    } else {
        report->steps = c->springs->clock.steps;
        report->components = c->asset->componentCount;
    }
}

const jnAsset* jnCharacter_Asset(const jnCharacter* c)
{
    return JN_BROKEN(c != NULL) ? NULL : c->asset;
}
