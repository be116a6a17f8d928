// A character made from an asset in memory and played as it ships, or stepped on targets that come from elsewhere.
//
// Springs of single vertices take any targets. Modes take them as displacements d of the rest surface, A_v d_v = x_v -
// skin_v: what drives them is P d instead of P B c, with the components nearest to d for the cross terms. What is shown
// is the target and the modes' offsets through the skin. With exact timing the character shows the frame before the
// newest; frames are handed out in order.
#define JN_WANTS_CHARACTER
#include "pipeline/play.h"

#include "asset/asset_sections.h"
#include "asset/asset_writer.h"
#include "base/arena.h"
#include "base/try.h"
#include "character/skin_frame.h"
#include "learn/network.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void jnaDestroyPlayer(jnaPlayer* player)
{
    jnDestroyAsset(player->asset);
    free(player->bytes);
    free(player->order);
    free(player->roots);
    free(player->deltas);
    *player = (jnaPlayer){0};
}

// What it takes to put targets from elsewhere into terms of the modes.
static jnResult KeepModes(const jnaPlayerDef* def, jnaPlayer* p, jnError* error)
{
    const jnAsset* a = p->asset;
    size_t modes = (size_t)a->modeCount, vertices = (size_t)a->vertexCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    float* deltas = jnaArena_Take(&arena, a->vertexCount, 3 * sizeof(float));
    p->order = jnaArena_Give(&arena, a->modeCount, sizeof(int32_t));
    p->roots = jnaArena_Give(&arena, a->modeCount, sizeof(double));
    p->deltas = jnaArena_Give(&arena, (int64_t)(modes * vertices), 3 * sizeof(float));
    jnaOrderModes(def->modes, &arena, p->order);
    JN_TRY(jnaArena_Check(&arena, "modes to play", error));
    p->projections = def->modes->projections;
    for (size_t k = 0; k < modes; ++k) {
        p->roots[k] = sqrt(def->modes->masses[p->order[k]]);
        jnAsset_MorphDeltas(a, a->componentCount + (int)k, true, deltas);
        for (size_t i = 0; i < vertices; ++i) {
            size_t own = a->order != NULL ? (size_t)a->order[i] : i;
            memcpy(p->deltas + 3 * (k * vertices + own), deltas + 3 * i, 3 * sizeof(float));
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaMakePlayer(const jnaPlayerDef* def, jnaPlayer* player, jnError* error)
{
    size_t vertices = (size_t)def->character->vertexCount, size = 0;
    *player = (jnaPlayer){.rate = def->rate, .character = def->character, .network = def->network};
    float* none = calloc(vertices, sizeof(float));
    if (none == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %zu springs", vertices);
    }
    jnaAssetDef asset = jnaDefaultAssetDef();
    asset.character = def->character;
    asset.stiffness = def->stiffness != NULL ? def->stiffness : none;
    asset.damping = def->damping != NULL ? def->damping : none;
    asset.modes = def->modes;
    asset.restVertices = def->stiffness == NULL;
    asset.network = def->network;
    asset.skinning = def->network != NULL ? def->network->skinning : jn_skinLinear;
    asset.rate = def->rate;
    jnResult result = jn_ok;
    JN_TRY(jnaEncodeAsset(&asset, &player->bytes, &size, error));
    jnAssetDef load = {.bytes = player->bytes, .size = size, .source = "the asset in memory"};
    JN_TRY(jnLoadAsset(&load, &player->asset, error));
    if (def->modes != NULL) {
        JN_TRY(KeepModes(def, player, error));
    }
done:
    if (result != jn_ok) {
        jnaDestroyPlayer(player);
    }
    free(none);
    return result;
}

// Vectors from the asset's order of vertices to the character's, or back.
static void Reorder(const jnAsset* asset, bool back, const float* from, float* to)
{
    for (size_t i = 0; i < (size_t)asset->vertexCount; ++i) {
        size_t own = asset->order != NULL ? (size_t)asset->order[i] : i;
        memcpy(to + 3 * (back ? i : own), from + 3 * (back ? own : i), 3 * sizeof(float));
    }
}

jnResult jnaPlayer_MakeTargets(
    const jnaPlayer* player, const jnaClip* clip, int first, int frameCount, float* targets, jnError* error)
{
    size_t width = 3 * (size_t)player->asset->vertexCount;
    jnCharacterDef def = jnDefaultCharacterDef(player->asset);
    jnCharacter* character = NULL;
    float* positions = malloc(width * sizeof(float));
    jnResult result = jn_ok;
    JN_TRY(positions != NULL ? jnCreateCharacter(&def, &character, error)
                             : jnFail(error, jn_outOfMemory, "out of memory to pose '%s'", clip->name));
    for (int n = 0; n < frameCount; ++n) {
        jnPose pose = jnaClip_Pose(clip, first + n);
        jnCharacter_Target(character, &pose, &(jnCharacterOutput){.positions = positions, .welded = true});
        Reorder(player->asset, false, positions, targets + (size_t)n * width);
    }
done:
    jnDestroyCharacter(character);
    free(positions);
    return result;
}

// What the character shows, in the character's order; vertices behind the springs stay on their targets.
static void Hand(const jnaPlay* play, const jnCharacter* character, int frame, float* positions)
{
    const jnAsset* asset = character->asset;
    const float* targets = play->targets + 3 * (size_t)frame * (size_t)asset->vertexCount;
    for (int i = 0; i < asset->vertexCount; ++i) {
        size_t own = asset->order != NULL ? (size_t)asset->order[i] : (size_t)i;
        const float* from = i < asset->springCount ? character->positions + 3 * (size_t)i : targets + 3 * own;
        memcpy(positions + 3 * own, from, 3 * sizeof(float));
    }
    play->take(frame, positions, play->user);
}

static jnResult PlaySprings(const jnaPlayer* player, const jnaPlay* play, jnCharacter* character, jnError* error)
{
    size_t width = 3 * (size_t)player->asset->vertexCount;
    bool lags = play->timing == jn_timingExact;
    float* targets = malloc(2 * width * sizeof(float));
    if (targets == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to play '%s'", play->clip->name);
    }
    float* positions = targets + width;
    for (int n = 0; n < play->frameCount; ++n) {
        jnCharacterInput input = {.h = (float)(1 / play->clip->rate)};
        Reorder(player->asset, true, play->targets + (size_t)n * width, targets);
        jnStepOnTargets(character, &input, targets);
        if (!lags || n != 1) { // the second sample shows the first one again
            Hand(play, character, lags && n > 1 ? n - 1 : n, positions);
        }
    }
    if (lags && play->frameCount > 1) {
        jnCharacter_Finish(character, NULL);
        Hand(play, character, play->frameCount - 1, positions);
    }
    free(targets);
    return jn_ok;
}

// The character as it ships.
static jnResult PlayOwn(const jnaPlayer* player, const jnaPlay* play, jnCharacter* character, jnError* error)
{
    size_t width = 3 * (size_t)player->asset->vertexCount;
    bool lags = play->timing == jn_timingExact;
    float* shown = malloc(2 * width * sizeof(float));
    if (shown == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to play '%s'", play->clip->name);
    }
    jnCharacterOutput output = {.positions = shown + width, .welded = true};
    for (int n = 0; n < play->frameCount + (lags && play->frameCount > 1); ++n) {
        if (n < play->frameCount) {
            jnCharacterInput input = {
                .h = (float)(1 / play->clip->rate), .pose = jnaClip_Pose(play->clip, play->first + n)};
            jnCharacter_Step(character, &input, &output);
        } else {
            jnCharacter_Finish(character, &output);
        }
        if (!lags || n != 1) { // the second sample shows the first one again
            Reorder(player->asset, false, shown + width, shown);
            play->take(lags && n > 1 ? n - 1 : n, shown, play->user);
        }
    }
    free(shown);
    return jn_ok;
}

// What modes are stepped on, of one frame.
typedef struct Driven {
    float* matrices;      // [2][jointCount][12], the skin's, of this frame and of the one before
    float* displacements; // [vertexCount][3]
    float* drive;         // [modeCount], P d
    float* components;    // [componentCount], nearest to d
    float* weights;       // [modeCount]
    float* positions;     // [vertexCount][3]
} Driven;

static bool MakeDriven(const jnaPlayer* p, Driven* d)
{
    const jnAsset* a = p->asset;
    size_t width = 3 * (size_t)a->vertexCount, joints = 12 * (size_t)a->jointCount;
    size_t weights = 2 * (size_t)a->modeCount + (size_t)a->componentCount;
    d->matrices = calloc(2 * joints + 2 * width + weights, sizeof(float));
    d->displacements = d->matrices + 2 * joints;
    d->positions = d->displacements + width;
    d->drive = d->positions + width;
    d->weights = d->drive + a->modeCount;
    d->components = d->weights + a->modeCount;
    return d->matrices != NULL;
}

// As the asset is skinned.
typedef void FrameFunction(
    const jnaCharacter* character, const float* matrices, int vertex, float* frame, float* place);
static FrameFunction* FrameOf(const jnaPlayer* p)
{
    return p->asset->skinning == jn_skinDual ? jnaDualFrame : jnaSkinFrame;
}

static void FindDrive(const jnaPlayer* p, const jnaPlay* play, int n, Driven* d)
{
    const jnAsset* a = p->asset;
    size_t vertices = (size_t)a->vertexCount, width = 3 * vertices;
    memcpy(d->matrices + 12 * (size_t)a->jointCount, d->matrices, 12 * (size_t)a->jointCount * sizeof(float));
    jnaPoseMatrices(p->character, play->clip, play->first + n, d->matrices);
    jnaToSkinMatrices(p->character, d->matrices);
    for (size_t v = 0; v < vertices; ++v) {
        float frame[9], offset[3];
        FrameOf(p)(p->character, d->matrices, (int)v, frame, offset);
        for (size_t i = 0; i < 3; ++i) {
            offset[i] = play->targets[(size_t)n * width + 3 * v + i] - offset[i];
        }
        (void)jnaSolveFrame(frame, offset, d->displacements + 3 * v);
    }
    for (size_t k = 0; k < (size_t)a->modeCount; ++k) {
        const float* from = p->projections + (size_t)p->order[k] * width;
        double sum = 0;
        for (size_t i = 0; i < width; ++i) {
            sum += (double)from[i] * (double)d->displacements[i];
        }
        d->drive[k] = (float)(p->roots[k] * sum);
    }
    for (size_t c = 1; c < (size_t)a->componentCount; ++c) { // fields of components are at right angles
        const float *mean = p->network->basis, *basis = mean + c * width;
        double sum = 0, square = 1e-30;
        for (size_t i = 0; i < width; ++i) {
            sum += (double)basis[i] * (double)(d->displacements[i] - mean[i]);
            square += (double)basis[i] * (double)basis[i];
        }
        d->components[c] = (float)(sum / square);
    }
}

// The target of a frame and the modes' offsets through the skin.
static void HandDriven(const jnaPlayer* p, const jnaPlay* play, int frame, const float* matrices, Driven* d)
{
    size_t vertices = (size_t)p->asset->vertexCount;
    for (size_t v = 0; v < vertices; ++v) {
        float own[3] = {0}, skin[9];
        const float* target = play->targets + 3 * ((size_t)frame * vertices + v);
        for (size_t k = 0; k < (size_t)p->asset->modeCount; ++k) {
            const float* u = p->deltas + 3 * (k * vertices + v);
            for (int i = 0; i < 3; ++i) {
                own[i] += d->weights[k] * u[i];
            }
        }
        FrameOf(p)(p->character, matrices, (int)v, skin, NULL);
        for (size_t i = 0; i < 3; ++i) {
            d->positions[3 * v + i] =
                target[i] + (skin[3 * i] * own[0] + skin[3 * i + 1] * own[1] + skin[3 * i + 2] * own[2]);
        }
    }
    play->take(frame, d->positions, play->user);
}

static jnResult PlayModes(const jnaPlayer* player, const jnaPlay* play, jnCharacter* character, jnError* error)
{
    bool lags = play->timing == jn_timingExact;
    Driven d = {0};
    if (!MakeDriven(player, &d)) {
        return jnFail(error, jn_outOfMemory, "out of memory to play '%s'", play->clip->name);
    }
    size_t before = 12 * (size_t)player->asset->jointCount;
    for (int n = 0; n < play->frameCount; ++n) {
        jnCharacterInput input = {
            .h = (float)(1 / play->clip->rate), .pose = jnaClip_Pose(play->clip, play->first + n)};
        FindDrive(player, play, n, &d);
        jnStepOnDrive(character, &input, d.drive, d.components, d.weights);
        if (!lags || n != 1) { // the second sample shows the first one again
            bool back = lags && n > 1;
            HandDriven(player, play, back ? n - 1 : n, d.matrices + (back ? before : 0), &d);
        }
    }
    if (lags && play->frameCount > 1) {
        jnMorphs_Finish(character->morphs);
        jnMorphs_Weights(character->morphs, 1.0, character->weights, NULL);
        memcpy(d.weights, character->weights + player->asset->morphs->firstMode,
            (size_t)player->asset->modeCount * sizeof(float));
        HandDriven(player, play, play->frameCount - 1, d.matrices, &d);
    }
    free(d.matrices);
    return jn_ok;
}

jnResult jnaPlayer_Play(const jnaPlayer* player, const jnaPlay* play, jnError* error)
{
    jnCharacterDef def = jnDefaultCharacterDef(player->asset);
    def.timing = play->timing;
    jnCharacter* character = NULL;
    jnResult result = jnCreateCharacter(&def, &character, error);
    if (result == jn_ok) {
        result = player->asset->springCount > 0             ? PlaySprings(player, play, character, error)
                 : play->own || player->projections == NULL ? PlayOwn(player, play, character, error)
                                                            : PlayModes(player, play, character, error);
    }
    jnDestroyCharacter(character);
    return result;
}
