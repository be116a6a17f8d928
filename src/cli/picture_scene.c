// The surfaces of jounce picture. Skinned ones come from the imported character; with springs the clip is played
// through the runtime from its start, as jounce bake does.
#include "asset/asset_writer.h"
#include "asset/bake.h"
#include "base/try.h"
#include "character/figure.h"
#include "cli.h"
#include "picture.h"
#include "pipeline/stage_export.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static jnResult OutOfMemory(jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory for a picture");
}

static jnResult LoadFigure(jncScene* scene, jnError* error)
{
    int clip = 0;
    while (scene->clip != NULL && clip < jna_figureAllClips && strcmp(jnaFigureClipName(clip), scene->clip) != 0) {
        ++clip;
    }
    if (clip == jna_figureAllClips) {
        return jnFail(error, jn_badArgument,
            "--clip: the figure has no '%s'; it has jumping-jacks, calisthenics, shadow-boxing, run, jump-and-land, "
            "walk, dance and drop",
            scene->clip);
    }
    jnResult result = jnaCreateFigure(&scene->character, error);
    return result == jn_ok && scene->clip != NULL
               ? jnaCreateFigureClip(&scene->character, clip, scene->rate, &scene->motion, error)
               : result;
}

// A clip that the manifest does not have is answered with those that it has.
static jnResult CheckClip(const jncScene* scene, jnError* error)
{
    char path[PATH_MAX], names[200] = "";
    jnaManifest manifest;
    snprintf(path, sizeof(path), "%s/manifest.yaml", scene->workspace);
    JN_PASS(jnaReadManifest(path, &manifest, error));
    bool found = false;
    for (int i = 0; i < manifest.clipCount; ++i) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "", manifest.clips[i].name);
        found = found || strcmp(manifest.clips[i].name, scene->clip) == 0;
    }
    jnaDestroyManifest(&manifest);
    return found ? jn_ok
                 : jnFail(error, jn_badArgument, "--clip: %s has no '%s'; it has: %s", scene->workspace, scene->clip,
                       names[0] != '\0' ? names : "none");
}

jnResult jncScene_Load(jncScene* scene, jnError* error)
{
    if (scene->workspace == NULL) {
        return LoadFigure(scene, error);
    }
    JN_PASS(jnaLoadWholeCharacter(scene->workspace, &scene->character, error));
    if (scene->clip != NULL) {
        JN_PASS(CheckClip(scene, error));
        JN_PASS(jnaLoadClip(scene->workspace, scene->clip, &scene->character, &scene->motion, error));
    }
    return jn_ok;
}

void jncScene_Destroy(jncScene* scene)
{
    jnaDestroyClip(&scene->motion);
    jnaDestroyCharacter(&scene->character);
}

static jnResult Skin(const jncScene* scene, const int* frames, int count, float** positions, jnError* error)
{
    const jnaCharacter* c = &scene->character;
    float* matrices = malloc(sizeof(float) * 12 * (size_t)c->jointCount);
    jnResult result = jn_ok;
    JN_TRY(matrices != NULL ? jn_ok : OutOfMemory(error));
    for (int i = 0; i < count; ++i) {
        positions[i] = malloc(sizeof(float) * 3 * (size_t)c->vertexCount);
        JN_TRY(positions[i] != NULL ? jn_ok : OutOfMemory(error));
        jnaPoseMatrices(c, scene->motion.frameCount > 0 ? &scene->motion : NULL, frames[i], matrices);
        jnaSkin(c, matrices, positions[i]);
    }
done:
    free(matrices);
    return result;
}

// The frames that are wanted, while a clip is played.
typedef struct Catch {
    const jnaCharacter* character;
    const int* frames;
    int count;
    float** positions; // skinned before, replaced by what the runtime says
    float** offsets;   // or NULL
} Catch;

static bool TakeFrame(int frame, const float* positions, const float* normals, void* user)
{
    (void)normals;
    const Catch* c = user;
    for (int i = 0; i < c->count; ++i) {
        for (int k = 0; c->frames[i] == frame && k < c->character->fileVertexCount; ++k) {
            int v = c->character->weld[k];
            float* to = c->positions[i] + 3 * (size_t)v;
            const float* from = positions + 3 * (size_t)k;
            float dx = from[0] - to[0], dy = from[1] - to[1], dz = from[2] - to[2];
            float distance = sqrtf(dx * dx + dy * dy + dz * dz);
            // A vertex that the file has twice comes twice, the second time without a change.
            if (c->offsets != NULL && distance > 0.0f) {
                c->offsets[i][v] = distance;
            }
            memcpy(to, from, 3 * sizeof(float));
        }
    }
    return true;
}

static jnResult Play(const jncScene* scene, Catch* frames, jnError* error)
{
    char path[PATH_MAX];
    jnaAssetFile file;
    snprintf(path, sizeof(path), "%s/%s", scene->workspace, JNA_ASSET_NAME);
    JN_PASS(jncExpectCharacter(scene->workspace, path, error));
    JN_PASS(jnaOpenAsset(path, &file, error));
    jnResult result = jn_ok;
    jnaBakeDef def = jnaDefaultBakeDef(file.asset);
    def.clip = jnAsset_FindClip(file.asset, scene->clip);
    def.take = TakeFrame;
    def.user = frames;
    if (def.clip < 0 || file.asset->fileVertexCount != scene->character.fileVertexCount ||
        jnaBakeFrameCount(&def) != scene->motion.frameCount) {
        result = jnFail(error, jn_badData, "%s: is not of this workspace as it is now; run jounce build %s", path,
            scene->workspace);
    } else {
        result = jnaBake(&def, error);
    }
    jnaCloseAsset(&file);
    return result;
}

jnResult jncScene_Pose(
    const jncScene* scene, const int* frames, int count, float** positions, float** offsets, jnError* error)
{
    JN_PASS(Skin(scene, frames, count, positions, error));
    for (int i = 0; offsets != NULL && i < count; ++i) {
        offsets[i] = calloc((size_t)scene->character.vertexCount, sizeof(float));
        JN_PASS(offsets[i] != NULL ? jn_ok : OutOfMemory(error));
    }
    if (!scene->dynamic) {
        return jn_ok;
    }
    Catch wanted = {&scene->character, frames, count, positions, offsets};
    return Play(scene, &wanted, error);
}
