// Opening a workspace's motion, and making what springs hang on: equilibria from their file, the skinned surface in
// double precision, the network's surface by the runtime itself from an asset in memory.
#include "pipeline/takes.h"

#include "base/arena.h"
#include "base/bounds.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "character/skin_frame.h"
#include "modes/modal_motion.h"
#include "pipeline/play.h"
#include "workspace/shapes.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void jnaCloseTakes(jnaTakes* t)
{
    for (int i = 0; t->takes != NULL && i < t->count; ++i) {
        jnaCloseArray(&t->takes[i].motion);
        free(t->takes[i].solved);
        free(t->takes[i].counts);
        free(t->takes[i].restarted);
    }
    free(t->takes);
    *t = (jnaTakes){0};
}

// motion/NAME/FILE of a clip.
static jnResult MotionPath(const jnaTakes* t, int clip, const char* file, char* path, jnError* error)
{
    return jnaWorkspace_Path(t->workspace, path, error, "motion/%s/%s", t->manifest->clips[clip].name, file);
}

jnResult jnaWorkspace_EquilibriaPath(const jnaWorkspace* w, int clip, char* path, jnError* error)
{
    const jnaManifestClip* entry = &w->manifest.clips[clip];
    return jnaWorkspace_Path(
        w, path, error, entry->shapes != NULL ? "clips/%s/quasistatic.npy" : "motion/%s/quasistatic.npy", entry->name);
}

// What was learned and found for another character is not this one's.
static jnResult CheckParts(const jnaTakes* t, jnError* error)
{
    const jnaCharacter* c = t->character;
    if (t->hasModes && (t->modes->vertexCount != c->vertexCount || t->modes->jointCount != c->jointCount)) {
        return jnFail(
            error, jn_badData, "%s/modes: are of another character; run jounce modes again", t->workspace->path);
    }
    return jn_ok;
}

static jnResult Load(jnaTakes* t, jnError* error)
{
    JN_PASS(jnaWorkspace_Character(t->workspace, &t->character, error));
    JN_PASS(jnaWorkspace_Clips(t->workspace, &t->clips, error));
    t->takes = calloc((size_t)t->manifest->clipCount + 1, sizeof(*t->takes));
    if (t->takes == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", t->manifest->clipCount);
    }
    if (jnaWorkspace_Has(t->workspace, "modes/modes.json")) {
        JN_PASS(jnaWorkspace_Modes(t->workspace, &t->modes, error));
        t->hasModes = t->modes->modeCount > 0;
    }
    JN_PASS(jnaWorkspace_Network(t->workspace, &t->network, error));
    t->hasNetwork = t->network != NULL;
    return CheckParts(t, error);
}

static jnResult CheckShape(
    const jnaTakes* t, const jnaArray* array, const char* what, int clip, size_t frames, jnError* error)
{
    const char* name = t->manifest->clips[clip].name;
    if (array->dimensions != 3 || array->scalar > jna_float64 || array->shape[2] != 3 || array->shape[0] < 4 ||
        array->shape[1] != (size_t)t->character->vertexCount) {
        char shape[96];
        jnaArray_Describe(array, shape, sizeof(shape));
        return jnFail(error, jn_badData,
            "the %s motion of clip '%s' is %s; it has to be (frames, %d, 3), 4 frames or more", what, name, shape,
            t->character->vertexCount);
    }
    if (frames != 0 && array->shape[0] != frames) {
        return jnFail(error, jn_badData, "clip '%s' has %zu %s frames and %zu dynamic ones; simulate both alike", name,
            array->shape[0], what, frames);
    }
    return jn_ok;
}

// The frame of the clip that a simulated motion begins with.
static int FirstFrame(const jnaTakes* t, int clip, const char* file)
{
    char path[JNA_PATH_LENGTH];
    if (MotionPath(t, clip, file, path, NULL) != jn_ok) {
        return 0;
    }
    json_t* root = jnaReadJson(path, 0, NULL);
    int first = (int)json_integer_value(json_object_get(root, "first"));
    json_decref(root);
    return first;
}

jnResult jnaReadFrameStates(const char* path, int frameCount, uint8_t** states, jnError* error)
{
    jnaArray file = {0};
    *states = NULL;
    if (!jnaFileIsThere(path)) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    JN_TRY(jnaOpenArray(path, &file, error));
    if (file.scalar != jna_uint8 || file.count != (size_t)frameCount) {
        JN_TRY(jnFail(error, jn_badData, "%s: does not belong to the motion beside it; simulate it again", path));
    }
    const uint8_t* of = file.data;
    size_t solved = 0;
    for (size_t i = 0; i < file.count; ++i) {
        solved += of[i] == jna_poseSolved;
    }
    if (solved < file.count) {
        *states = malloc(file.count);
        JN_TRY(*states != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %zu frames", file.count));
        memcpy(*states, of, file.count);
    }
done:
    jnaCloseArray(&file);
    return result;
}

// Frames that count have an equilibrium and were moved to. Elsewhere the motion began again, and after frames without
// room once more.
static jnResult ReadMarks(const jnaTakes* t, jnaTake* take, bool simulated, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    uint8_t *poses = NULL, *steps = NULL;
    size_t frames = (size_t)take->frameCount;
    jnResult result = jn_ok;
    if (take->hasQuasistatic && t->manifest->clips[take->clip].shapes == NULL) {
        JN_TRY(MotionPath(t, take->clip, "quasistatic_valid.npy", path, error));
        JN_TRY(jnaReadFrameStates(path, take->frameCount, &poses, error));
    }
    if (simulated) {
        JN_TRY(MotionPath(t, take->clip, "dynamic_valid.npy", path, error));
        JN_TRY(jnaReadFrameStates(path, take->frameCount, &steps, error));
    }
    if (poses == NULL && steps == NULL) {
        goto done;
    }
    jnaArena arena = {0};
    take->solved = poses != NULL ? jnaArena_Give(&arena, (int64_t)frames, 1) : NULL;
    take->counts = jnaArena_Give(&arena, (int64_t)frames, 1);
    take->restarted = steps != NULL ? jnaArena_Give(&arena, (int64_t)frames, 1) : NULL;
    JN_TRY(jnaArena_Check(&arena, "the marks of frames", error));
    for (size_t n = 0; n < frames; ++n) {
        bool moved = steps == NULL || steps[n] == jna_poseSolved, solved = poses == NULL || poses[n] == jna_poseSolved;
        take->counts[n] = moved && solved;
        if (poses != NULL) {
            take->solved[n] = solved;
        }
        if (steps != NULL) {
            take->restarted[n] = !moved || (n > 0 && steps[n - 1] == jna_poseWithoutRoom);
        }
    }
done:
    free(poses);
    free(steps);
    return result;
}

static jnResult OpenTakeMotion(
    const jnaTakes* t, int clip, jnaTake* take, bool* present, bool* simulated, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(MotionPath(t, clip, "dynamic.npy", path, error));
    *simulated = t->manifest->clips[clip].motion == NULL && jnaFileIsThere(path);
    if (*simulated) {
        *present = true;
        take->first = FirstFrame(t, clip, "dynamic.json");
        return jnaOpenPositions(path, &take->motion, error);
    }
    return jnaOpenClipCache(
        t->workspace->path, &t->clips[clip], t->character, jna_clipMotion, present, &take->motion, error);
}

static jnResult OpenTake(const jnaTakes* t, int clip, jnaTake* take, bool* present, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    const char* name = t->manifest->clips[clip].name;
    bool imported = t->manifest->clips[clip].shapes != NULL, simulated;
    *take = (jnaTake){.clip = clip, .trained = t->manifest->clips[clip].role == jna_train};
    JN_PASS(OpenTakeMotion(t, clip, take, present, &simulated, error));
    if (!*present) {
        return jn_ok;
    }
    JN_PASS(CheckShape(t, &take->motion, "dynamic", clip, 0, error));
    size_t frames = take->motion.shape[0];
    if (take->first < 0 || frames > (size_t)INT32_MAX || (int)frames > t->clips[clip].frameCount - take->first) {
        return jnFail(error, jn_badData, "the motion of clip '%s' is longer than the clip; simulate it again", name);
    }
    take->frameCount = (int)frames;
    JN_PASS(jnaWorkspace_EquilibriaPath(t->workspace, clip, path, error));
    take->hasQuasistatic = jnaFileIsThere(path);
    if (take->hasQuasistatic && (imported ? 0 : FirstFrame(t, clip, "quasistatic.json")) != take->first) {
        return jnFail(error, jn_badData,
            "the quasistatic and the dynamic motion of clip '%s' begin at different frames; simulate both alike", name);
    }
    JN_PASS(ReadMarks(t, take, simulated, error));
    return jnaTakes_CheckStart(t, take, error);
}

jnResult jnaOpenTakes(jnaWorkspace* workspace, jnaTakes* t, jnaNotes* notes, jnError* error)
{
    *t = (jnaTakes){.workspace = workspace, .manifest = &workspace->manifest};
    jnResult result = Load(t, error);
    for (int test = 0; test < 2; ++test) {
        for (int i = 0; result == jn_ok && i < t->manifest->clipCount; ++i) {
            bool present = false;
            if ((t->manifest->clips[i].role == jna_test) != (test == 1)) {
                continue;
            }
            result = OpenTake(t, i, &t->takes[t->count], &present, error);
            t->count += present || result != jn_ok;
            if (!present && result == jn_ok && !jnaManifest_IsImported(t->manifest)) {
                jnaNotes_Add(notes, "clip %s has no motion to compare with; see `jounce simulate --clip`",
                    t->manifest->clips[i].name);
            }
        }
        t->trainCount = test == 0 ? t->count : t->trainCount;
    }
    if (result != jn_ok) {
        jnaCloseTakes(t);
    }
    return result;
}

jnResult jnaTakes_NeedTraining(const jnaTakes* t, jnError* error)
{
    return t->trainCount > 0 ? jn_ok
                             : jnFail(error, jn_badData,
                                   "no clip marked `train` has motion; `jounce simulate %s --clip NAME --dynamic` and "
                                   "without --dynamic make it",
                                   t->workspace->path);
}

const char* jnaTargetsName(jnaFitTargets kind)
{
    return kind == jna_targetsQuasistatic ? "quasistatic" : kind == jna_targetsNetwork ? "network" : "skinned";
}

bool jnaTakes_Has(const jnaTakes* t, int take, jnaFitTargets kind)
{
    return kind == jna_targetsQuasistatic ? t->takes[take].hasQuasistatic
           : kind == jna_targetsNetwork   ? t->hasNetwork
                                          : true;
}

jnaFitTargets jnaTakes_Choose(const jnaTakes* t, jnaFitTargets asked)
{
    static const jnaFitTargets order[] = {jna_targetsQuasistatic, jna_targetsNetwork, jna_targetsSkinned};
    for (int i = 0; asked == jna_targetsAuto && i < 3; ++i) {
        bool all = true;
        for (int k = 0; k < t->trainCount; ++k) {
            all = all && jnaTakes_Has(t, k, order[i]);
        }
        asked = all ? order[i] : asked;
    }
    return asked;
}

// Targets that are made: room for them, as an array on the heap.
static jnResult MakeRoom(const jnaTakes* t, const jnaTake* take, jnaArray* targets, jnError* error)
{
    *targets = take->motion;
    targets->mapping = NULL;
    targets->mappingSize = 0;
    targets->scalar = jna_float32;
    targets->data = malloc(targets->count * sizeof(float));
    return targets->data != NULL ? jn_ok
                                 : jnFail(error, jn_outOfMemory, "out of memory for %d frames of '%s'",
                                       take->frameCount, t->character->name);
}

static jnResult SkinFrames(const jnaTakes* t, const jnaTake* take, float* targets, jnError* error)
{
    const jnaCharacter* c = t->character;
    int failures = 0;
#pragma omp parallel for schedule(static) reduction(+ : failures)
    for (int n = 0; n < take->frameCount; ++n) {
        float* matrices = malloc(12 * (size_t)c->jointCount * sizeof(float));
        failures += matrices == NULL;
        if (matrices != NULL) {
            jnaPoseMatrices(c, &t->clips[take->clip], take->first + n, matrices);
            jnaSkin(c, matrices, targets + 3 * (size_t)n * (size_t)c->vertexCount);
        }
        free(matrices);
    }
    return failures == 0 ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the joints of '%s'", c->name);
}

static jnResult NetworkFrames(const jnaTakes* t, const jnaTake* take, float* targets, jnError* error)
{
    jnaPlayer player;
    jnaPlayerDef def = {.character = t->character, .network = t->network, .rate = t->manifest->rate};
    jnResult result = jnaMakePlayer(&def, &player, error);
    if (result == jn_ok) {
        result = jnaPlayer_MakeTargets(&player, &t->clips[take->clip], take->first, take->frameCount, targets, error);
        jnaDestroyPlayer(&player);
    }
    return result;
}

// The file's equilibria as floats.
static jnResult OpenQuasistatic(const jnaTakes* t, const jnaTake* take, jnaArray* targets, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaArray file = {0};
    jnResult result = jn_ok;
    JN_PASS(jnaWorkspace_EquilibriaPath(t->workspace, take->clip, path, error));
    JN_PASS(jnaOpenPositions(path, &file, error));
    JN_TRY(CheckShape(t, &file, "quasistatic", take->clip, (size_t)take->frameCount, error));
    if (file.scalar == jna_float32 && take->solved == NULL) {
        *targets = file;
        return jn_ok;
    }
    JN_TRY(MakeRoom(t, take, targets, error));
    float* to = (float*)(uintptr_t)targets->data;
    for (size_t i = 0; i < file.count; ++i) {
        to[i] = (float)jnaArray_Get(&file, i);
    }
    JN_TRY(take->solved != NULL ? jnaFillUnsolved(t, take, to, error) : jn_ok);
done:
    jnaCloseArray(&file);
    return result;
}

void jnaCloseTargets(jnaArray* targets)
{
    if (targets->mapping == NULL) {
        free((void*)(uintptr_t)targets->data);
    } else {
        jnaCloseArray(targets);
    }
    *targets = (jnaArray){0};
}

jnResult jnaTakes_OpenTargets(const jnaTakes* t, int take, jnaFitTargets kind, jnaArray* targets, jnError* error)
{
    const jnaTake* of = &t->takes[take];
    *targets = (jnaArray){0};
    if (!jnaTakes_Has(t, take, kind)) {
        return jnFail(error, jn_badData,
            kind == jna_targetsNetwork ? "%s has no network for '%s'; `jounce train` makes it"
                                       : "%s has no quasistatic motion of '%s'; `jounce simulate --clip` makes it",
            t->workspace->path, t->manifest->clips[of->clip].name);
    }
    jnResult result = jn_ok;
    if (kind == jna_targetsQuasistatic) {
        JN_TRY(OpenQuasistatic(t, of, targets, error));
    } else {
        JN_TRY(MakeRoom(t, of, targets, error));
        float* to = (float*)(uintptr_t)targets->data;
        JN_TRY(kind == jna_targetsNetwork ? NetworkFrames(t, of, to, error) : SkinFrames(t, of, to, error));
    }
done:
    if (result != jn_ok) {
        jnaCloseTargets(targets);
    }
    return result;
}

jnResult jnaTakes_MakeFrames(const jnaTakes* t, int take, jnaTakeFrames* frames, jnError* error)
{
    const jnaTake* of = &t->takes[take];
    return jnaMakeTakeFrames(t->character, &t->clips[of->clip], of->first, of->frameCount, frames, error);
}

bool jnaTake_NextStretch(const jnaTake* take, int least, jnaStretch* stretch)
{
    int first = stretch->first + stretch->count, end;
    while (first < take->frameCount) {
        for (end = first + 1; end < take->frameCount && (take->restarted == NULL || take->restarted[end] == 0);) {
            end++;
        }
        *stretch = (jnaStretch){first, end - first};
        if (stretch->count >= least) {
            return true;
        }
        first = end;
    }
    return false;
}

jnaStretch jnaTake_LongestStretch(const jnaTake* take)
{
    jnaStretch longest = {0};
    for (jnaStretch s = {0}; jnaTake_NextStretch(take, longest.count + 1, &s);) {
        longest = s;
    }
    return longest;
}

jnResult jnaTake_CountedMotion(const jnaTake* take, jnaArray* motion, float** copy, jnError* error)
{
    *motion = take->motion;
    *copy = NULL;
    if (take->counts == NULL) {
        return jn_ok;
    }
    *copy = malloc((motion->count + 1) * sizeof(float));
    if (*copy == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d frames", take->frameCount);
    }
    size_t width = motion->count / (size_t)take->frameCount;
    for (size_t i = 0; i < motion->count; ++i) {
        (*copy)[i] = take->counts[i / width] != 0 ? (float)jnaArray_Get(&take->motion, i) : NAN;
    }
    motion->scalar = jna_float32;
    motion->data = *copy;
    motion->mapping = NULL;
    motion->mappingSize = 0;
    return jn_ok;
}

int jnaTake_Failed(const jnaTake* take)
{
    int failed = 0;
    for (int n = 0; n < take->frameCount; ++n) {
        failed += !jnaTake_Counts(take, n);
    }
    return failed;
}

bool jnaTake_IsWhole(const jnaTake* take)
{
    bool whole = true;
    for (size_t i = 0; whole && i < take->motion.count; ++i) {
        whole = isfinite(jnaArray_Get(&take->motion, i));
    }
    return whole;
}
