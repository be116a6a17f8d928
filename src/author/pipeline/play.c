// A character made from an asset in memory, stepped on given targets: skinned frames by the clip's poses, springs and
// modes as ever. With exact timing the character shows the frame before the newest; frames are handed out in order.
#define JN_WANTS_CHARACTER
#include "pipeline/play.h"

#include "asset/asset_writer.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

void jnaDestroyPlayer(jnaPlayer* player)
{
    jnDestroyAsset(player->asset);
    free(player->bytes);
    *player = (jnaPlayer){0};
}

jnResult jnaMakePlayer(const jnaPlayerDef* def, jnaPlayer* player, jnError* error)
{
    size_t vertices = (size_t)def->character->vertexCount, size = 0;
    *player = (jnaPlayer){.rate = def->rate};
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
    asset.rate = def->rate;
    jnResult result = jn_ok;
    JN_TRY(jnaEncodeAsset(&asset, &player->bytes, &size, error));
    jnAssetDef load = {.bytes = player->bytes, .size = size, .source = "the asset in memory"};
    JN_TRY(jnLoadAsset(&load, &player->asset, error));
done:
    if (result != jn_ok) {
        jnaDestroyPlayer(player);
    }
    free(none);
    return result;
}

static jnPose PoseOf(const jnaClip* clip, int frame)
{
    size_t at = (size_t)frame * (size_t)clip->jointCount;
    return (jnPose){.rotations = clip->rotations + 4 * at,
        .translations = clip->translations + 3 * at,
        .scales = clip->scales != NULL ? clip->scales + 3 * at : NULL};
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
        jnPose pose = PoseOf(clip, first + n);
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

jnResult jnaPlayer_Play(const jnaPlayer* player, const jnaPlay* play, jnError* error)
{
    size_t width = 3 * (size_t)player->asset->vertexCount;
    jnCharacterDef def = jnDefaultCharacterDef(player->asset);
    def.timing = play->timing;
    bool lags = play->timing == jn_timingExact;
    jnCharacter* character = NULL;
    float* targets = malloc(2 * width * sizeof(float));
    jnResult result = jn_ok;
    JN_TRY(targets != NULL ? jnCreateCharacter(&def, &character, error)
                           : jnFail(error, jn_outOfMemory, "out of memory to play '%s'", play->clip->name));
    float* positions = targets + width;
    for (int n = 0; n < play->frameCount; ++n) {
        jnCharacterInput input = {.h = (float)(1 / player->rate), .pose = PoseOf(play->clip, play->first + n)};
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
done:
    jnDestroyCharacter(character);
    free(targets);
    return result;
}
