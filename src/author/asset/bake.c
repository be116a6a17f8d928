// The clip, played frame by frame.
//
// With exact timing the springs lag one pose behind; the rows come out in order all the same. A seamless loop is solved
// and then run for two periods: the first brings pose 0, which ends a period, the second the rest.
#include "asset/bake.h"

#include "base/arena.h"
#include "base/try.h"

#include "jounce/character.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

typedef struct Baking {
    const jnaBakeDef* def;
    jnCharacter* character;
    double rate;
    int frameCount;
    bool lags;
    float *rotations, *translations, *scales, *targets; // of one pose; of all poses of a loop one after another
    jnPose* poses;                                      // of a loop
    float *positions, *normals;
} Baking;

jnaBakeDef jnaDefaultBakeDef(const jnAsset* asset)
{
    return (jnaBakeDef){.asset = asset, .stage = jna_stageDynamic};
}

static double RateOf(const jnaBakeDef* def)
{
    return def->rate > 0.0 ? def->rate : jnAsset_Clip(def->asset, def->clip).rate;
}

int jnaBakeFrameCount(const jnaBakeDef* def)
{
    jnAssetClip clip = jnAsset_Clip(def->asset, def->clip);
    double rate = RateOf(def);
    // A hair more than whole numbers need, so that rounding does not lose the last frame.
    double frames = clip.looping ? clip.frameCount / clip.rate * rate : (clip.frameCount - 1) / clip.rate * rate + 1.0;
    return (int)fmin(fmax(floor(frames + 1e-6), 1.0), 1e8);
}

static void Free(Baking* b)
{
    jnDestroyCharacter(b->character);
    free(b->rotations);
    free(b->translations);
    free(b->scales);
    free(b->targets);
    free(b->poses);
    free(b->positions);
    free(b->normals);
}

static jnResult Prepare(const jnaBakeDef* def, Baking* b, jnError* error)
{
    const jnAsset* asset = def->asset;
    jnCharacterDef character = jnDefaultCharacterDef(asset);
    *b = (Baking){.def = def, .rate = RateOf(def), .frameCount = jnaBakeFrameCount(def)};
    b->lags = character.curve == jn_curveCubic && character.timing == jn_timingExact;
    int64_t poses = def->seamless ? b->frameCount : 1, joints = poses * asset->jointCount;
    int files = def->weightsOnly ? asset->componentCount + asset->modeCount : asset->fileVertexCount;
    if (def->welded) {
        files = asset->vertexCount > asset->normalCount ? asset->vertexCount : asset->normalCount;
    }
    jnaArena arena = {0};
    character.weightsOnly = def->weightsOnly;
    b->rotations = jnaArena_Give(&arena, joints, 4 * sizeof(float));
    b->translations = jnaArena_Give(&arena, joints, 3 * sizeof(float));
    b->scales = jnaArena_Give(&arena, joints, 3 * sizeof(float));
    b->targets = jnaArena_Give(&arena, poses * asset->targetCount, sizeof(float));
    b->poses = jnaArena_Give(&arena, poses, sizeof(jnPose));
    b->positions = jnaArena_Give(&arena, files, 3 * sizeof(float));
    b->normals = jnaArena_Give(&arena, files, 3 * sizeof(float));
    JN_PASS(jnaArena_Check(&arena, "a bake", error));
    return jnCreateCharacter(&character, &b->character, error);
}

// Pose `frame` of the clip into place `slot` of the pose arrays.
static jnPose SamplePose(Baking* b, int frame, int slot)
{
    size_t at = (size_t)slot * (size_t)b->def->asset->jointCount;
    float* targets = b->targets + (size_t)slot * (size_t)b->def->asset->targetCount;
    jnPose pose = {.rotations = b->rotations + 4 * at,
        .translations = b->translations + 3 * at,
        .scales = b->scales + 3 * at,
        .targets = targets};
    jnAsset_SampleTargets(b->def->asset, b->def->clip, frame / b->rate, targets);
    jnAsset_SampleClip(b->def->asset, b->def->clip, frame / b->rate, b->rotations + 4 * at, b->translations + 3 * at,
        b->scales + 3 * at);
    return pose;
}

static jnCharacterOutput Output(const Baking* b)
{
    if (b->def->weightsOnly) {
        return (jnCharacterOutput){.weights = b->positions};
    }
    return (jnCharacterOutput){
        .positions = b->positions, .normals = b->def->wantsNormals ? b->normals : NULL, .welded = b->def->welded};
}

static jnResult Give(const Baking* b, int frame, jnError* error)
{
    bool goesOn = b->def->take(frame, b->positions, b->def->wantsNormals ? b->normals : NULL, b->def->user);
    return goesOn ? jn_ok : jnFail(error, jn_badArgument, "baking was ended");
}

static jnResult BakeStill(Baking* b, jnError* error)
{
    jnCharacterOutput output = Output(b);
    for (int n = 0; n < b->frameCount; ++n) {
        jnPose pose = SamplePose(b, n, 0);
        if (b->def->stage == jna_stageTarget) {
            jnCharacter_Target(b->character, &pose, &output);
        } else {
            jnCharacter_Skin(b->character, &pose, &output);
        }
        JN_PASS(Give(b, n, error));
    }
    return jn_ok;
}

static void Step(Baking* b, jnPose pose, const jnCharacterOutput* output)
{
    jnCharacter_Step(b->character, &(jnCharacterInput){.h = (float)(1.0 / b->rate), .pose = pose}, output);
}

static jnResult BakeMotion(Baking* b, jnError* error)
{
    jnCharacterOutput output = Output(b);
    int before = (int)fmin(ceil(b->def->preroll * b->rate), 1e6), count = before + b->frameCount;
    for (int n = 0; n < count; ++n) {
        Step(b, SamplePose(b, n - before, 0), &output);
        int row = b->lags && n > 1 ? n - 1 : n;
        if ((!b->lags || n != 1) && row >= before) {
            // the second pose brings the first one again
            JN_PASS(Give(b, row - before, error));
        }
    }
    if (b->lags && count > 1) {
        jnCharacter_Finish(b->character, &output);
        JN_PASS(Give(b, b->frameCount - 1, error));
    }
    return jn_ok;
}

static jnResult BakeLoop(Baking* b, jnError* error)
{
    int count = b->frameCount;
    for (int n = 0; n < count; ++n) {
        b->poses[n] = SamplePose(b, n, n);
    }
    jnCharacterLoop loop = {.poses = b->poses, .frameCount = count, .h = (float)(1.0 / b->rate)};
    JN_PASS(jnCharacter_SolveLoop(b->character, &loop, NULL, error));
    jnCharacterOutput output = Output(b);
    for (int n = 1; n < 2 * count; ++n) {
        Step(b, b->poses[(n + (b->lags ? 1 : 0)) % count], n >= count ? &output : NULL);
        JN_PASS(n >= count ? Give(b, n - count, error) : jn_ok);
    }
    return jn_ok;
}

jnResult jnaBake(const jnaBakeDef* def, jnError* error)
{
    Baking b;
    jnResult result = jn_ok;
    JN_TRY(Prepare(def, &b, error));
    bool loops = def->seamless && jnAsset_Clip(def->asset, def->clip).looping;
    if (def->seamless && !loops) {
        JN_TRY(jnFail(error, jn_badArgument, "clip '%s' does not loop, so it has no seamless motion",
            jnAsset_Clip(def->asset, def->clip).name));
    }
    JN_TRY(def->stage != jna_stageDynamic ? BakeStill(&b, error) : loops ? BakeLoop(&b, error) : BakeMotion(&b, error));
done:
    Free(&b);
    return result;
}
