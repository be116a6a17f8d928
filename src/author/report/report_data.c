// What a report is made from: manifest, character and clips, which must be there, and the motion, the file for the
// runtime and the stages' own accounts, which may be.
#include "report/report_internal.h"

#include "base/bounds.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "pipeline/stage_export.h"
#include "workspace/learned.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEXT = 1 << 22 }; // bytes of a manifest

// Reads a JSON file where there is one; what cannot be read is noted and taken as missing.
static jnResult LoadJson(const Report* r, const char* name, json_t** root, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    json_error_t why;
    *root = NULL;
    JN_PASS(jnaJoinPath(r->workspace, name, path, error));
    if (!jnaFileIsThere(path)) {
        return jn_ok;
    }
    *root = jnaReadJson(path, 0, &why);
    if (*root == NULL && json_error_code(&why) == json_error_out_of_memory) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    if (*root == NULL) {
        jnaNotes_Add(r->notes, "%s:%d: %s; left out of the report", path, why.line, why.text);
    }
    return jn_ok;
}

// Opens an array where there is one; what cannot be read is noted and taken as missing, count 0.
static jnResult OpenArray(const Report* r, const char* name, jnaArray* array, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnError why = {0};
    *array = (jnaArray){0};
    JN_PASS(jnaJoinPath(r->workspace, name, path, error));
    if (!jnaFileIsThere(path)) {
        return jn_ok;
    }
    jnResult opened = jnaOpenArray(path, array, &why);
    if (opened == jn_ok) {
        opened = array->dimensions == 3 ? jnaArray_CheckPositions(array, path, &why)
                                        : jnaArray_CheckNumbers(array, path, &why);
        if (opened != jn_ok) {
            jnaCloseArray(array);
        }
    }
    if (opened != jn_ok) {
        *array = (jnaArray){0};
        if (why.code == jn_outOfMemory) {
            return jnFail(error, jn_outOfMemory, "%s", why.message);
        }
        jnaNotes_Add(r->notes, "%s; left out of the report", why.message);
    }
    return jn_ok;
}

static void RefuseArray(const Report* r, const char* name, jnaArray* array)
{
    jnaNotes_Add(r->notes, "%s/%s: does not fit this character, left out of the report", r->workspace, name);
    jnaCloseArray(array);
    *array = (jnaArray){0};
}

jnResult jnaReport_ReadNumbers(const Report* r, const char* name, int count, float** numbers, jnError* error)
{
    jnaArray array;
    *numbers = NULL;
    jnResult result = OpenArray(r, name, &array, error);
    if (result != jn_ok || array.count == 0) {
        return result;
    }
    if (array.scalar > jna_float64 || array.count != (size_t)count) {
        RefuseArray(r, name, &array);
        return jn_ok;
    }
    *numbers = malloc((size_t)count * sizeof(float));
    for (size_t i = 0; *numbers != NULL && i < array.count; ++i) {
        double value = jnaArray_Get(&array, i);
        (*numbers)[i] = isfinite(value) ? (float)value : 0.0f;
    }
    jnaCloseArray(&array);
    return *numbers != NULL ? jn_ok : jnaReport_OutOfMemory(error);
}

static jnResult ReadText(const char* path, char** text, jnError* error)
{
    FILE* file;
    JN_PASS(jnaOpenInput(path, &file, error));
    *text = calloc(1, MOST_TEXT);
    size_t length = *text != NULL ? fread(*text, 1, MOST_TEXT - 1, file) : 0;
    bool failed = ferror(file) != 0;
    fclose(file);
    if (*text == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    (*text)[length] = '\0';
    return failed ? jnFail(error, jn_ioFailed, "%s: cannot read", path) : jn_ok;
}

// Opens motion/NAME/FILE where it is there and has the character's shape.
static jnResult OpenMotion(const Report* r, const ReportClip* clip, const char* file, jnaArray* array, jnError* error)
{
    char name[JNA_NAME_LENGTH + 64];
    snprintf(name, sizeof(name), "motion/%.64s/%.32s", clip->name, file);
    JN_PASS(OpenArray(r, name, array, error));
    if (array->count > 0 && (array->dimensions != 3 || array->scalar > jna_float64 || array->shape[2] != 3 ||
                                array->shape[0] > 1u << 24 || array->shape[1] != (size_t)r->character->vertexCount)) {
        RefuseArray(r, name, array);
    }
    return jn_ok;
}

// The frame of the clip that its simulated motion begins with; -1 where that is nonsense.
static jnResult ReadFirstFrame(const Report* r, ReportClip* clip, jnError* error)
{
    char name[JNA_NAME_LENGTH + 64];
    json_t* root;
    snprintf(name, sizeof(name), "motion/%.64s/dynamic.json", clip->name);
    jnResult result = LoadJson(r, name, &root, error);
    json_int_t first = json_integer_value(json_object_get(root, "first"));
    json_decref(root);
    clip->first = first >= 0 && first < 1 << 24 ? (int)first : -1;
    return result;
}

// The clip's motion, simulated or imported, where its frames are those of the clip.
static jnResult OpenClip(Report* r, ReportClip* clip, jnError* error)
{
    JN_PASS(OpenMotion(r, clip, "dynamic.npy", &clip->simulated, error));
    bool present = false;
    JN_PASS(
        jnaOpenClipCache(r->workspace, clip->clip, r->character, jna_clipShapes, &present, &clip->quasistatic, error));
    if (!present) {
        JN_PASS(OpenMotion(r, clip, "quasistatic.npy", &clip->quasistatic, error));
    }
    if (clip->simulated.count > 0) {
        JN_PASS(ReadFirstFrame(r, clip, error));
    } else {
        JN_PASS(jnaOpenClipCache(
            r->workspace, clip->clip, r->character, jna_clipMotion, &present, &clip->simulated, error));
    }
    size_t frames = clip->simulated.count > 0 ? clip->simulated.shape[0] : 0;
    if (clip->first < 0 || frames > (size_t)clip->clip->frameCount ||
        (size_t)clip->first + frames > (size_t)clip->clip->frameCount) {
        jnaNotes_Add(r->notes, "the motion of clip %s is longer than the clip, left out of the report", clip->name);
        frames = 0;
    }
    clip->frameCount = (int)frames;
    if (clip->quasistatic.count > 0 && clip->quasistatic.shape[0] != frames) {
        jnaCloseArray(&clip->quasistatic);
        clip->quasistatic = (jnaArray){0};
    }
    return jn_ok;
}

// The same without clothes: the simulation knows the flesh alone.
static jnResult EncodeFlesh(Report* r, jnError* error)
{
    jnaExportDef def = jnaDefaultExportDef();
    jnaExported exported;
    def.fleshOnly = true;
    jnaAssetFile* file = &r->asset;
    JN_PASS(jnaWorkspace_EncodeAsset(r->opened, &def, &file->bytes, &file->size, &exported, error));
    jnResult result = jnLoadAsset(
        &(jnAssetDef){.bytes = file->bytes, .size = file->size, .source = r->workspace}, &file->asset, error);
    if (result != jn_ok) {
        jnaCloseAsset(file);
    }
    return result;
}

// The file for the runtime, if it is of this workspace.
static jnResult OpenAsset(Report* r, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnError why = {0};
    jnResult result = jnaJoinPath(r->workspace, JNA_ASSET_NAME, path, error);
    if (result != jn_ok || access(path, R_OK) != 0) {
        return result;
    }
    const jnaCharacter* whole;
    JN_PASS(jnaWorkspace_Whole(r->opened, &whole, error));
    if ((whole->outfitCount > 0 ? EncodeFlesh(r, &why) : jnaOpenAsset(path, &r->asset, &why)) != jn_ok) {
        r->asset = (jnaAssetFile){0};
        jnaNotes_Add(r->notes, "%s", why.message);
        return why.code == jn_outOfMemory ? jnFail(error, why.code, "%s", why.message) : jn_ok;
    }
    const jnAsset* asset = r->asset.asset;
    if (asset->vertexCount != r->character->vertexCount || asset->jointCount != r->character->jointCount) {
        jnaNotes_Add(r->notes, "%s: is of another character; run jounce build %s", path, r->workspace);
        jnaCloseAsset(&r->asset);
        r->asset = (jnaAssetFile){0};
        return jn_ok;
    }
    r->place = malloc(((size_t)asset->vertexCount + 1) * sizeof(*r->place));
    if (r->place == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (int v = 0; v < asset->vertexCount; ++v) {
        r->place[v] = asset->order != NULL ? asset->order[v] : v;
    }
    for (int i = 0; i < r->clipCount; ++i) {
        int index = jnAsset_FindClip(asset, r->clips[i].name);
        bool same = index >= 0 && jnAsset_Clip(asset, index).frameCount == r->clips[i].clip->frameCount;
        r->clips[i].assetClip = same ? index : -1;
    }
    return jn_ok;
}

// The first joint that carries a good part of the surface: others above it only place the character.
static int FindPelvis(const jnaCharacter* c)
{
    for (int j = 0; j < c->jointCount; ++j) {
        double weight = 0;
        for (int v = 0; v < c->vertexCount; ++v) {
            for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
                weight += c->influences[v].joints[k] == j ? (double)c->influences[v].weights[k] : 0;
            }
        }
        if (weight > 0.01 * c->vertexCount) {
            return j;
        }
    }
    return 0;
}

// Learned springs per vertex, the paper's, and whether they are anything but what ships.
static jnResult LoadSprings(Report* r, jnError* error)
{
    int count = r->character->vertexCount;
    JN_PASS(jnaReport_ReadNumbers(r, "springs/stiffness.npy", count, &r->stiffness, error));
    JN_PASS(jnaReport_ReadNumbers(r, "springs/damping.npy", count, &r->damping, error));
    bool ships = r->layer == jna_layerVertex && r->manifest->springs.mode == jna_springsFitted;
    r->showsPaper = r->stiffness != NULL && r->damping != NULL && !ships;
    return jn_ok;
}

jnResult jnaReport_Load(Report* r, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(r->workspace, "manifest.yaml", path, error));
    const jnaClip* clips = NULL;
    r->manifest = &r->opened->manifest;
    r->layer = jnaWorkspace_Layer(r->opened);
    JN_PASS(ReadText(path, &r->manifestText, error));
    JN_PASS(jnaWorkspace_Character(r->opened, &r->character, error));
    JN_PASS(jnaWorkspace_Clips(r->opened, &clips, error));
    jnaArena arena = {0};
    r->clips = jnaArena_Give(&arena, r->manifest->clipCount, sizeof(*r->clips));
    r->triangleColors = jnaArena_Give(&arena, r->character->triangleCount, 3 * sizeof(float));
    JN_PASS(jnaArena_Check(&arena, "the report", error));
    r->clipCount = r->manifest->clipCount;
    for (int i = 0; i < r->clipCount; ++i) {
        ReportClip* clip = &r->clips[i];
        clip->name = r->manifest->clips[i].name;
        clip->trained = r->manifest->clips[i].role == jna_train;
        clip->clip = &clips[i];
        clip->assetClip = clip->strongest = -1;
        JN_PASS(OpenClip(r, clip, error));
    }
    JN_PASS(OpenAsset(r, error));
    JN_PASS(LoadSprings(r, error));
    JN_PASS(LoadJson(r, "evaluation/evaluation.json", &r->evaluation, error));
    JN_PASS(LoadJson(r, "springs/fit.json", &r->fit, error));
    JN_PASS(LoadJson(r, "poses/poses.json", &r->poses, error));
    JN_PASS(LoadJson(r, "network/network.json", &r->network, error));
    JN_PASS(LoadJson(r, "network/errors.json", &r->networkErrors, error));
    r->pelvis = FindPelvis(r->character);
    return jn_ok;
}

void jnaReport_Destroy(Report* r)
{
    for (int i = 0; r->clips != NULL && i < r->clipCount; ++i) {
        ReportClip* clip = &r->clips[i];
        jnaCloseArray(&clip->simulated);
        jnaCloseArray(&clip->quasistatic);
        free(clip->worst.surfaces);
        for (int k = 0; k < curve_count; ++k) {
            free(clip->means[k]);
            free(clip->single[k]);
        }
        for (int k = 0; k < still_count; ++k) {
            free(clip->stills[k]);
        }
    }
    free(r->clips);
    free(r->stiffness);
    free(r->damping);
    free(r->place);
    free(r->triangleColors);
    free(r->manifestText);
    json_decref(r->evaluation);
    json_decref(r->fit);
    json_decref(r->poses);
    json_decref(r->network);
    json_decref(r->networkErrors);
    if (r->asset.asset != NULL) {
        jnaCloseAsset(&r->asset);
    }
}

const float* jnaReport_Row(const jnaArray* array, int frame, float* scratch)
{
    size_t row = array->shape[1] * array->shape[2], first = row * (size_t)frame;
    if (array->scalar == jna_float32) {
        return (const float*)array->data + first;
    }
    for (size_t i = 0; i < row; ++i) {
        scratch[i] = (float)jnaArray_Get(array, first + i);
    }
    return scratch;
}

const char* jnaReport_OursName(const Report* r)
{
    return r->layer == jna_layerModal ? "modes" : "springs per vertex";
}

const char* jnaReport_RegionOf(const Report* r, int vertex)
{
    return r->character->joints[r->character->influences[vertex].joints[0]].name;
}

jnResult jnaReport_OutOfMemory(jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory for a report");
}
