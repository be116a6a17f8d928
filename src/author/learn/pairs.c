// Pairs of pose and surface as the network sees them: what each joint does against its parent, and the displacement d
// of the rest surface whose skin is the surface, A_v d_v = x_v - skin_v with A_v = sum_j w_vj A_j the linear part of
// the skin; with dual quaternions A_v = R(sum_j w_vj q_j) sum_j w_vj S_j, the joints' rotations q_j and what they
// stretch. All come from the runtime's own functions, so that what is learned is what is played.
//
// Where a skin collapses A_v comes near to singular, and no displacement can do much there (see
// character/skin_frame.h). What is left over is counted as error.
#include "learn/network.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/skin_frame.h"
#include "learn/mirror.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };

// What one thread needs.
typedef struct Scratch {
    jnaArena arena;
    double* globals;
    float *palette, *turns, *skinned, *target;
    float *duals, *stretches; // with dual quaternions
} Scratch;

static jnResult MakeScratch(const jnAsset* a, Scratch* s, jnError* error)
{
    s->globals = jnaArena_Take(&s->arena, a->jointCount, 12 * sizeof(double));
    s->palette = jnaArena_Take(&s->arena, a->jointCount, JN_PALETTE_SIZE * sizeof(float));
    s->turns = jnaArena_Take(&s->arena, a->jointCount, 4 * sizeof(float));
    s->duals = jnaArena_Take(&s->arena, a->jointCount, JN_DUAL_SIZE * sizeof(float));
    s->stretches = jnaArena_Take(&s->arena, a->jointCount, JN_PALETTE_SIZE * sizeof(float));
    s->skinned = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    s->target = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
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
    bool dual = a->skinning == jn_skinDual;
    for (size_t j = 0; dual && j < (size_t)a->jointCount; ++j) {
        double matrix[12];
        for (size_t i = 0; i < 12; ++i) {
            matrix[i] = (double)s->palette[j * JN_PALETTE_SIZE + i];
        }
        (void)jnMakeDual(matrix, s->duals + j * JN_DUAL_SIZE, s->stretches + j * JN_PALETTE_SIZE);
    }
    jnSkinPass skin = {.rest = a->rest,
        .starts = a->influenceStarts,
        .joints = a->influenceJoints,
        .weights = a->influenceWeights,
        .palette = s->palette,
        .duals = dual ? s->duals : NULL,
        .stretches = dual ? s->stretches : NULL,
        .field = s->skinned};
    jnFindRigKernels(jnBestKernel())->skin(&skin, 0, a->blockCount);
}

// The skinned surface of a pose, palette and turns of its joints.
static bool SkinPose(const jnAsset* a, const jnPose* pose, Scratch* s)
{
    if (!jnMakeGlobals(a, pose, s->globals)) {
        return false;
    }
    jnToSurface(a, s->globals);
    jnMakePalette(a, s->globals, s->palette);
    jnMakeTurns(a, s->globals, s->turns);
    Skin(a, s);
    return true;
}

void jnaPairs_Frame(const jnaPairs* p, int pair, int vertex, float frame[9])
{
    const jnAsset* a = p->asset;
    const float* palette = p->palettes + (size_t)pair * (size_t)p->jointCount * 9;
    size_t b = (size_t)(vertex / JN_LANES), count = a->influenceStarts[b + 1] - a->influenceStarts[b];
    size_t at = (size_t)a->influenceStarts[b] * JN_LANES + (size_t)(vertex % JN_LANES) * count;
    memset(frame, 0, 9 * sizeof(float));
    for (size_t k = 0; k < count; ++k) {
        for (size_t i = 0; i < 9; ++i) {
            frame[i] += a->influenceWeights[at + k] * palette[9 * (size_t)a->influenceJoints[at + k] + i];
        }
    }
    if (p->turns != NULL) {
        double blended[4] = {0};
        const float* turns = p->turns + (size_t)pair * (size_t)p->jointCount * 4;
        for (size_t k = 0; k < count; ++k) {
            jnaBlendTurn(turns + 4 * (size_t)a->influenceJoints[at], turns + 4 * (size_t)a->influenceJoints[at + k],
                (double)a->influenceWeights[at + k], blended);
        }
        jnaTurnFrame(blended, frame);
    }
}

static void KeepPalette(const jnaPairs* p, const Scratch* s, int pair)
{
    const float* palette = p->turns != NULL ? s->stretches : s->palette;
    for (size_t j = 0; p->turns != NULL && j < (size_t)p->jointCount; ++j) {
        memcpy(
            p->turns + ((size_t)pair * (size_t)p->jointCount + j) * 4, s->duals + j * JN_DUAL_SIZE, 4 * sizeof(float));
    }
    float* to = p->palettes + (size_t)pair * (size_t)p->jointCount * 9;
    for (size_t i = 0; i < 9 * (size_t)p->jointCount; ++i) {
        to[i] = palette[i / 9 * JN_PALETTE_SIZE + i % 9 / 3 * 4 + i % 3];
    }
}

// Displacements of pair `pair`, whose palette is kept, from `skinned` to `target`.
static void FindDisplacements(jnaPairs* p, int pair, const Scratch* s)
{
    float* displacements = p->displacements + (size_t)pair * 3 * (size_t)p->vertexCount;
    double lost = 0;
    for (int v = 0; v < p->vertexCount; ++v) {
        float frame[9], offset[3];
        for (size_t axis = 0; axis < 3; ++axis) {
            size_t at = PlaceOf(3 * (size_t)v + axis);
            offset[axis] = s->target[at] - s->skinned[at];
        }
        jnaPairs_Frame(p, pair, v, frame);
        lost += jnaSolveFrame(frame, offset, displacements + 3 * (size_t)v);
    }
    p->lost[pair] = (float)(lost / p->vertexCount);
}

static bool ComputePair(jnaPairs* p, int at, const jnaPair* pair, Scratch* s)
{
    const jnAsset* a = p->asset;
    jnPose pose = {.rotations = pair->rotations, .translations = pair->translations, .scales = pair->scales};
    if (!SkinPose(a, &pose, s)) {
        return false;
    }
    jnPoseNumbers(a, s->turns, p->numbers + (size_t)at * 6 * (size_t)p->jointCount);
    KeepPalette(p, s, at);
    for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
        s->target[PlaceOf(i)] = pair->positions[i];
    }
    FindDisplacements(p, at, s);
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
    for (int v = 0; displacements != NULL && v < a->vertexCount; ++v) {
        float frame[9];
        const float* d = displacements + 3 * (size_t)v;
        jnaPairs_Frame(pairs, pair, v, frame);
        for (size_t i = 0; i < 3; ++i) {
            s->skinned[PlaceOf(3 * (size_t)v + i)] +=
                frame[3 * i] * d[0] + frame[3 * i + 1] * d[1] + frame[3 * i + 2] * d[2];
        }
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
            pairs->kinds[at] = (uint8_t)added[i].kind;
            pairs->uses[at] = (uint8_t)added[i].use;
            KeepPose(pairs->asset, &added[i], pairs->poses + at * 10 * (size_t)pairs->jointCount);
            if (made && !ComputePair(pairs, (int)at, &added[i], &scratch)) {
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
static void MirrorSurface(jnaPairs* p, int to, const jnaMirror* m, Scratch* s)
{
    size_t field = (size_t)p->asset->blockCount * FIELD, coordinates = 3 * (size_t)p->vertexCount;
    float* shown = s->target;
    s->target = s->skinned; // what is skinned anew is not the surface that is mirrored
    s->skinned = shown;
    memcpy(s->skinned, s->target, field * sizeof(float));
    for (size_t i = 0; i < coordinates; ++i) {
        float there = s->skinned[PlaceOf(3 * (size_t)m->vertices[i / 3] + i % 3)];
        s->target[PlaceOf(i)] = i % 3 == 0 ? 2.0f * m->middle - there : there;
    }
    Skin(p->asset, s);
    KeepPalette(p, s, to);
    FindDisplacements(p, to, s);
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
    MirrorSurface(p, (int)to, mirror, &s);
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
    int64_t count = capacity, joints = c->jointCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    pairs->numbers = jnaArena_Give(&arena, count * joints, 6 * sizeof(float));
    pairs->displacements = jnaArena_Give(&arena, count * c->vertexCount, 3 * sizeof(float));
    pairs->lost = jnaArena_Give(&arena, count, sizeof(float));
    pairs->palettes = jnaArena_Give(&arena, count * joints, 9 * sizeof(float));
    pairs->poses = jnaArena_Give(&arena, count * joints, 10 * sizeof(float));
    pairs->kinds = jnaArena_Give(&arena, count, 1);
    pairs->uses = jnaArena_Give(&arena, count, 1);
    pairs->moves = jnaArena_Give(&arena, joints, 2);
    JN_TRY(jnaArena_Check(&arena, "poses to learn from", error));
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size, .source = c->name}, &pairs->asset, error));
    if (pairs->asset->skinning == jn_skinDual) {
        pairs->turns = jnaArena_Give(&arena, count * joints, 4 * sizeof(float));
        JN_TRY(jnaArena_Check(&arena, "poses to learn from", error));
    }
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
    free(pairs->lost);
    free(pairs->palettes);
    free(pairs->turns);
    free(pairs->poses);
    free(pairs->kinds);
    free(pairs->uses);
    free(pairs->moves);
    *pairs = (jnaPairs){0};
}
