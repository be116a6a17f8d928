// Pairs of pose and surface as the network sees them: what each joint does against its parent, and what is left
// between skinning and the surface, in the frame of each vertex. Both come from the runtime's own functions, so that
// what is learned is what is played.
#include "learn/network.h"

#include "base/arena.h"
#include "base/try.h"
#include "learn/mirror.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };

// What one thread needs.
typedef struct Scratch {
    jnaArena arena;
    double* globals;
    float *palette, *turns, *skinned, *offsets, *turned;
} Scratch;

static jnResult MakeScratch(const jnAsset* a, Scratch* s, jnError* error)
{
    s->globals = jnaArena_Take(&s->arena, a->jointCount, 12 * sizeof(double));
    s->palette = jnaArena_Take(&s->arena, a->jointCount, JN_PALETTE_SIZE * sizeof(float));
    s->turns = jnaArena_Take(&s->arena, a->jointCount, 4 * sizeof(float));
    s->skinned = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    s->offsets = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    s->turned = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    return jnaArena_Check(&s->arena, "a pose", error);
}

// Where a coordinate of a vertex is in a field of blocks.
static size_t PlaceOf(size_t coordinate)
{
    size_t v = coordinate / 3;
    return v / JN_LANES * FIELD + coordinate % 3 * JN_LANES + v % JN_LANES;
}

// The skinned surface of a palette.
static void Skin(const jnAsset* a, Scratch* s)
{
    jnSkinPass skin = {.rest = a->rest,
        .starts = a->influenceStarts,
        .joints = a->influenceJoints,
        .weights = a->influenceWeights,
        .palette = s->palette,
        .field = s->skinned};
    jnFindRigKernels(jnBestKernel())->skin(&skin, 0, a->blockCount);
}

// The skinned surface of a pose, palette and turns of its joints.
static bool SkinPose(const jnAsset* a, const jnPose* pose, Scratch* s)
{
    if (!jnMakeGlobals(a, pose, s->globals)) {
        return false;
    }
    jnMakePalette(a, s->globals, s->palette);
    jnMakeTurns(a, s->globals, s->turns);
    Skin(a, s);
    return true;
}

// `turned` gets `offsets` turned from the vertices' frames into the world, or back; what was in it is added to.
static void TurnOffsets(const jnAsset* a, bool inverse, Scratch* s, float* turned)
{
    jnDisplacePass turn = {.starts = a->influenceStarts,
        .joints = a->influenceJoints,
        .weights = a->influenceWeights,
        .turns = s->turns,
        .given = s->offsets,
        .scale = 1.0f,
        .inverse = inverse,
        .field = turned};
    jnFindNetworkKernels(jnBestKernel())->displace(&turn, 0, a->blockCount);
}

static bool ComputePair(const jnAsset* a, const jnaPair* pair, Scratch* s, float* numbers, float* displacements)
{
    jnPose pose = {.rotations = pair->rotations, .translations = pair->translations, .scales = pair->scales};
    if (!SkinPose(a, &pose, s)) {
        return false;
    }
    jnPoseNumbers(a, s->turns, numbers);
    size_t field = (size_t)a->blockCount * FIELD;
    memset(s->offsets, 0, field * sizeof(float));
    memset(s->turned, 0, field * sizeof(float));
    for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
        s->offsets[PlaceOf(i)] = pair->positions[i] - s->skinned[PlaceOf(i)];
    }
    TurnOffsets(a, true, s, s->turned);
    for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
        displacements[i] = s->turned[PlaceOf(i)];
    }
    return true;
}

// The pose as it is kept: rotations, translations, scales of all joints.
static void KeepPose(const jnAsset* a, const jnaPair* pair, float* kept)
{
    size_t joints = (size_t)a->jointCount;
    for (size_t j = 0; j < joints; ++j) {
        const jnAssetJoint* rest = &a->joints[j];
        memcpy(kept + 4 * j, pair->rotations + 4 * j, 4 * sizeof(float));
        memcpy(kept + 4 * joints + 3 * j, pair->translations != NULL ? pair->translations + 3 * j : rest->translation,
            3 * sizeof(float));
        memcpy(kept + 7 * joints + 3 * j, pair->scales != NULL ? pair->scales + 3 * j : rest->scale, 3 * sizeof(float));
    }
}

// `skinned` of a pair's pose with displacements, or without.
static jnResult Displace(const jnaPairs* pairs, int pair, const float* displacements, Scratch* s, jnError* error)
{
    const jnAsset* a = pairs->asset;
    size_t joints = (size_t)pairs->jointCount;
    const float* kept = pairs->poses + (size_t)pair * 10 * joints;
    jnPose pose = {.rotations = kept, .translations = kept + 4 * joints, .scales = kept + 7 * joints};
    if (!SkinPose(a, &pose, s)) {
        return jnFail(error, jn_badData, "pose %d of '%s' is not finite", pair, a->name);
    }
    if (displacements != NULL) {
        memset(s->offsets, 0, (size_t)a->blockCount * FIELD * sizeof(float));
        for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
            s->offsets[PlaceOf(i)] = displacements[i];
        }
        TurnOffsets(a, false, s, s->skinned);
    }
    return jn_ok;
}

jnResult jnaPairs_Surface(const jnaPairs* pairs, int pair, const float* displacements, float* positions, jnError* error)
{
    Scratch scratch = {0};
    jnResult result = jn_ok;
    JN_TRY(MakeScratch(pairs->asset, &scratch, error));
    JN_TRY(Displace(pairs, pair, displacements, &scratch, error));
    for (size_t i = 0; i < 3 * (size_t)pairs->vertexCount; ++i) {
        positions[i] = scratch.skinned[PlaceOf(i)];
    }
done:
    jnaReleaseArena(&scratch.arena);
    return result;
}

jnResult jnaPairs_Add(jnaPairs* pairs, int count, const jnaPair* added, jnError* error)
{
    JN_ASSERT(count >= 0 && count <= pairs->capacity - pairs->count);
    int bad = -1;
    bool short_ = false;
#pragma omp parallel
    {
        Scratch scratch = {0};
        bool made = MakeScratch(pairs->asset, &scratch, NULL) == jn_ok;
        if (!made) {
#pragma omp atomic write
            short_ = true;
        }
#pragma omp for schedule(static)
        for (int i = 0; i < count; ++i) {
            size_t at = (size_t)(pairs->count + i);
            float* numbers = pairs->numbers + at * 6 * (size_t)pairs->jointCount;
            float* displacements = pairs->displacements + at * 3 * (size_t)pairs->vertexCount;
            pairs->kinds[at] = (uint8_t)added[i].kind;
            pairs->uses[at] = (uint8_t)added[i].use;
            KeepPose(pairs->asset, &added[i], pairs->poses + at * 10 * (size_t)pairs->jointCount);
            if (made && !ComputePair(pairs->asset, &added[i], &scratch, numbers, displacements)) {
#pragma omp atomic write
                bad = i;
            }
        }
        jnaReleaseArena(&scratch.arena);
    }
    if (short_) {
        return jnFail(error, jn_outOfMemory, "out of memory for the poses of '%s'", pairs->asset->name);
    }
    if (bad >= 0) {
        return jnFail(error, jn_badData, "pose %d of '%s' is not finite", pairs->count + bad, pairs->asset->name);
    }
    pairs->count += count;
    return jn_ok;
}

// What joints do in the mirror: with S (x, y, z) = (2 middle - x, y, z), a matrix M becomes S M S at the partner, and a
// rotation keeps its part about X.
static void MirrorJoints(const jnaMirror* m, int count, const float* palette, const float* turns, Scratch* s)
{
    float across = 2.0f * m->middle;
    for (int j = 0; j < count; ++j) {
        const float *from = palette + (size_t)m->joints[j] * JN_PALETTE_SIZE, *q = turns + 4 * (size_t)m->joints[j];
        float *to = s->palette + (size_t)j * JN_PALETTE_SIZE, *turn = s->turns + 4 * (size_t)j;
        for (int i = 0; i < 12; ++i) {
            bool odd = (i / 4 == 0) != (i % 4 == 0);
            to[i] = i % 4 == 3 ? from[i] + across * from[i - 3] : odd ? -from[i] : from[i];
        }
        to[3] = across - to[3];
        turn[0] = q[0], turn[1] = -q[1], turn[2] = -q[2], turn[3] = q[3];
    }
}

// The displacements of the mirrored surface from its own skinning, which is right where weights differ a little too.
static void MirrorSurface(const jnaPairs* p, const jnaMirror* m, Scratch* s, float* displacements)
{
    const jnAsset* a = p->asset;
    size_t field = (size_t)a->blockCount * FIELD, coordinates = 3 * (size_t)a->vertexCount;
    memcpy(s->turned, s->skinned, field * sizeof(float));
    Skin(a, s);
    memset(s->offsets, 0, field * sizeof(float));
    for (size_t i = 0; i < coordinates; ++i) {
        float there = s->turned[PlaceOf(3 * (size_t)m->vertices[i / 3] + i % 3)];
        s->offsets[PlaceOf(i)] = (i % 3 == 0 ? 2.0f * m->middle - there : there) - s->skinned[PlaceOf(i)];
    }
    memset(s->turned, 0, field * sizeof(float));
    TurnOffsets(a, true, s, s->turned);
    for (size_t i = 0; i < coordinates; ++i) {
        displacements[i] = s->turned[PlaceOf(i)];
    }
}

jnResult jnaPairs_AddMirrored(jnaPairs* p, int from, const jnaMirror* mirror, jnError* error)
{
    JN_ASSERT(p->count < p->capacity);
    const size_t joints = (size_t)p->jointCount, floats = 3 * (size_t)p->vertexCount, to = (size_t)p->count;
    Scratch s = {0};
    jnResult result = jn_ok;
    float* palette = jnaArena_Take(&s.arena, p->jointCount, JN_PALETTE_SIZE * sizeof(float));
    float* turns = jnaArena_Take(&s.arena, p->jointCount, 4 * sizeof(float));
    JN_TRY(MakeScratch(p->asset, &s, error));
    JN_TRY(Displace(p, from, p->displacements + (size_t)from * floats, &s, error));
    memcpy(palette, s.palette, joints * JN_PALETTE_SIZE * sizeof(float));
    memcpy(turns, s.turns, joints * 4 * sizeof(float));
    MirrorJoints(mirror, p->jointCount, palette, turns, &s);
    jnPoseNumbers(p->asset, s.turns, p->numbers + to * joints * 6);
    MirrorSurface(p, mirror, &s, p->displacements + to * floats);
    p->kinds[to] = p->kinds[from];
    p->uses[to] = jna_pairTrain;
    p->count++;
done:
    jnaReleaseArena(&s.arena);
    return result;
}

static bool IsWithin(const jnaCharacter* c, int joint, int root)
{
    while (joint > root) {
        joint = c->joints[joint].parent;
    }
    return joint == root;
}

// A joint above all of the surface turns the whole of it, one above none of it turns nothing.
static void FindMovers(const jnaCharacter* c, uint8_t* moves, uint8_t* weighted)
{
    memset(weighted, 0, (size_t)c->jointCount);
    for (int v = 0; v < c->vertexCount; ++v) {
        for (int k = 0; k < JNA_MAX_INFLUENCES && c->influences[v].weights[k] > 0.0f; ++k) {
            weighted[c->influences[v].joints[k]] = 1;
        }
    }
    for (int j = 0; j < c->jointCount; ++j) {
        bool within = false, outside = false;
        for (int k = 0; k < c->jointCount; ++k) {
            bool below = IsWithin(c, k, j);
            within = within || (weighted[k] != 0 && below);
            outside = outside || (weighted[k] != 0 && !below);
        }
        moves[j] = c->joints[j].parent >= 0 && within && outside;
    }
}

jnResult jnaCreatePairs(const jnaCharacter* c, int capacity, void* bytes, size_t size, jnaPairs* pairs, jnError* error)
{
    *pairs =
        (jnaPairs){.capacity = capacity, .jointCount = c->jointCount, .vertexCount = c->vertexCount, .bytes = bytes};
    size_t count = (size_t)capacity, joints = (size_t)c->jointCount, vertices = (size_t)c->vertexCount;
    pairs->numbers = malloc(count * joints * 6 * sizeof(float) + 1);
    pairs->displacements = malloc(count * vertices * 3 * sizeof(float) + 1);
    pairs->poses = calloc(count * joints * 10 + 1, sizeof(float));
    pairs->kinds = calloc(count + 1, 1);
    pairs->uses = calloc(count + 1, 1);
    pairs->moves = calloc(2 * joints, 1);
    jnResult result = jn_ok;
    if (pairs->numbers == NULL || pairs->displacements == NULL || pairs->poses == NULL || pairs->kinds == NULL ||
        pairs->uses == NULL || pairs->moves == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for %d poses of '%s'", capacity, c->name));
    }
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size, .source = c->name}, &pairs->asset, error));
    FindMovers(c, pairs->moves, pairs->moves + joints);
done:
    if (result != jn_ok) {
        jnaDestroyPairs(pairs);
    }
    return result;
}

void jnaDestroyPairs(jnaPairs* pairs)
{
    jnDestroyAsset(pairs->asset);
    free(pairs->bytes);
    free(pairs->numbers);
    free(pairs->displacements);
    free(pairs->poses);
    free(pairs->kinds);
    free(pairs->uses);
    free(pairs->moves);
    *pairs = (jnaPairs){0};
}
