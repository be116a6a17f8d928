// The springs of a workspace, learned from its clips and played on all of them.
//
// Targets and motion are arrays of the same frames; what lies between them is the dynamics layer. Springs are fitted on
// the clips marked `train`, then every clip that has motion is played with them in exact timing, and the share of its
// layer that they capture is told, for those seen and for those not.
#include "jounce-author/workspace_fit.h"

#include "jounce-author/workspace.h"
#include "jounce/springs.h"

#include "internal.h"
#include "workspace/workspace_internal.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Share of the vertices that count as soft: those that move most against their targets in the clips learned from.
static const double SOFT_SHARE = 0.1;

// One clip with motion.
typedef struct Take {
    int clip; // of the manifest
    jnaSequence sequence;
    float* skinned; // where the targets are made here
} Take;

typedef struct Work {
    const char* workspace;
    jnaManifest manifest;
    jnaCharacter character;
    jnaClip* clips; // [manifest.clipCount]
    int takeCount, trainCount;
    Take* takes; // [manifest.clipCount], those to train on first
} Work;

jnaWorkspaceFitDef jnaDefaultWorkspaceFitDef(void)
{
    return (jnaWorkspaceFitDef){.drop = 0.1};
}

void jnaDestroyWorkspaceFit(jnaWorkspaceFit* fit)
{
    free(fit->clips);
    *fit = (jnaWorkspaceFit){0};
}

static void DestroyWork(Work* w)
{
    for (int i = 0; w->takes != NULL && i < w->takeCount; ++i) {
        jnaCloseArray(&w->takes[i].sequence.dynamics);
        if (w->takes[i].skinned == NULL) {
            jnaCloseArray(&w->takes[i].sequence.targets);
        }
        free(w->takes[i].skinned);
    }
    for (int i = 0; w->clips != NULL && i < w->manifest.clipCount; ++i) {
        jnaDestroyClip(&w->clips[i]);
    }
    free(w->takes);
    free(w->clips);
    jnaDestroyCharacter(&w->character);
    jnaDestroyManifest(&w->manifest);
}

static jnResult Load(Work* w, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnResult result = jnaJoinPath(w->workspace, "manifest.yaml", path, error);
    result = result == jn_ok ? jnaReadManifest(path, &w->manifest, error) : result;
    result = result == jn_ok ? jnaLoadCharacter(w->workspace, &w->character, error) : result;
    if (result != jn_ok) {
        return result;
    }
    w->clips = calloc((size_t)w->manifest.clipCount + 1, sizeof(*w->clips));
    w->takes = calloc((size_t)w->manifest.clipCount + 1, sizeof(*w->takes));
    if (w->clips == NULL || w->takes == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", w->manifest.clipCount);
    }
    for (int i = 0; result == jn_ok && i < w->manifest.clipCount; ++i) {
        result = jnaLoadClip(w->workspace, w->manifest.clips[i].name, &w->character, &w->clips[i], error);
    }
    return result;
}

// motion/NAME/FILE of a clip.
static jnResult MotionPath(const Work* w, int clip, const char* file, char* path, jnError* error)
{
    char name[JNA_PATH_LENGTH];
    int length = snprintf(name, sizeof(name), "motion/%s/%s", w->manifest.clips[clip].name, file);
    return length > 0 && (size_t)length < sizeof(name)
               ? jnaJoinPath(w->workspace, name, path, error)
               : jnFail(error, jn_badArgument, "the name of clip '%s' is too long", w->manifest.clips[clip].name);
}

// The frame of the clip that a simulated motion begins with.
static int FirstFrame(const Work* w, int clip)
{
    char path[JNA_PATH_LENGTH];
    if (MotionPath(w, clip, "dynamic.json", path, NULL) != jn_ok) {
        return 0;
    }
    json_t* root = json_load_file(path, 0, NULL);
    int first = (int)json_integer_value(json_object_get(root, "first"));
    json_decref(root);
    return first;
}

static jnResult SkinFrames(const Work* w, Take* take, jnError* error)
{
    const jnaCharacter* c = &w->character;
    jnaArray* targets = &take->sequence.targets;
    *targets = take->sequence.dynamics;
    targets->mapping = NULL;
    int first = FirstFrame(w, take->clip), frames = (int)targets->shape[0];
    if (first < 0 || frames > w->clips[take->clip].frameCount - first) {
        return jnFail(error, jn_badData, "the motion of clip '%s' is longer than the clip; simulate it again",
            w->manifest.clips[take->clip].name);
    }
    take->skinned = malloc(targets->count * sizeof(float));
    float* matrices = malloc(12 * (size_t)c->jointCount * sizeof(float));
    if (take->skinned == NULL || matrices == NULL) {
        free(matrices);
        return jnFail(error, jn_outOfMemory, "out of memory for %d frames", frames);
    }
    for (int n = 0; n < frames; ++n) {
        jnaPoseMatrices(c, &w->clips[take->clip], first + n, matrices);
        jnaSkin(c, matrices, take->skinned + 3 * (size_t)n * (size_t)c->vertexCount);
    }
    targets->data = take->skinned;
    targets->scalar = jna_float32;
    free(matrices);
    return jn_ok;
}

static jnResult CheckShape(const Work* w, const jnaArray* array, const char* what, int clip, jnError* error)
{
    if (array->dimensions != 3 || array->scalar > jna_float64 || array->shape[2] != 3 || array->shape[0] < 4 ||
        array->shape[1] != (size_t)w->character.vertexCount) {
        char shape[96];
        jnaArray_Describe(array, shape, sizeof(shape));
        return jnFail(error, jn_badData,
            "the %s motion of clip '%s' is %s; it has to be (frames, %d, 3), 4 frames or more", what,
            w->manifest.clips[clip].name, shape, w->character.vertexCount);
    }
    return jn_ok;
}

// Opens motion and targets of a clip. *present is false where it has no motion, or no targets of the kind wanted.
static jnResult OpenTake(const Work* w, int clip, jnaFitTargets kind, Take* take, bool* present, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    *take = (Take){.clip = clip};
    jnResult result = MotionPath(w, clip, "dynamic.npy", path, error);
    if (result == jn_ok && access(path, F_OK) == 0) {
        result = jnaOpenArray(path, &take->sequence.dynamics, error);
        *present = true;
    } else if (result == jn_ok) {
        result =
            jnaOpenClipMotion(w->workspace, &w->clips[clip], &w->character, present, &take->sequence.dynamics, error);
    }
    result = result == jn_ok && *present ? CheckShape(w, &take->sequence.dynamics, "dynamic", clip, error) : result;
    if (result != jn_ok || !*present || kind == jna_targetsSkinned) {
        return result == jn_ok && *present ? SkinFrames(w, take, error) : result;
    }
    result = MotionPath(w, clip, "quasistatic.npy", path, error);
    if (result == jn_ok && access(path, F_OK) != 0) {
        jnaCloseArray(&take->sequence.dynamics);
        *present = false;
        return jn_ok;
    }
    result = result == jn_ok ? jnaOpenArray(path, &take->sequence.targets, error) : result;
    result = result == jn_ok ? CheckShape(w, &take->sequence.targets, "quasistatic", clip, error) : result;
    if (result == jn_ok && take->sequence.targets.shape[0] != take->sequence.dynamics.shape[0]) {
        result =
            jnFail(error, jn_badData, "clip '%s' has %zu quasistatic frames and %zu dynamic ones; simulate both alike",
                w->manifest.clips[clip].name, take->sequence.targets.shape[0], take->sequence.dynamics.shape[0]);
    }
    return result;
}

static jnResult OpenTakes(Work* w, jnaFitTargets kind, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    for (int test = 0; test < 2; ++test) {
        for (int i = 0; result == jn_ok && i < w->manifest.clipCount; ++i) {
            bool present = false;
            if ((w->manifest.clips[i].role == jna_test) != (test == 1)) {
                continue;
            }
            Take* take = &w->takes[w->takeCount];
            result = OpenTake(w, i, kind, take, &present, error);
            w->takeCount += present || result != jn_ok;
            if (!present && result == jn_ok && notes != NULL) {
                jnaNotes_Add(notes, "clip %s has no motion to compare with; see `jounce simulate --clip`",
                    w->manifest.clips[i].name);
            }
        }
        w->trainCount = test == 0 ? w->takeCount : w->trainCount;
    }
    if (result == jn_ok && w->trainCount == 0) {
        result = jnFail(error, jn_badData,
            "no clip marked `train` has motion; `jounce simulate %s --clip NAME --dynamic` and without --dynamic make "
            "it",
            w->workspace);
    }
    return result;
}

// Sum over frames of |target - motion|^2 of each vertex.
static void AddLayer(const jnaSequence* s, double* layers)
{
    size_t vertices = s->targets.shape[1];
    for (size_t i = 0; i < s->targets.count; ++i) {
        double away = jnaArray_Get(&s->targets, i) - jnaArray_Get(&s->dynamics, i);
        layers[i / 3 % vertices] += isfinite(away) ? away * away : 0;
    }
}

static int CompareDoubles(const void* a, const void* b)
{
    return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

// The least layer of a soft vertex.
static double SoftThreshold(const double* layers, double* scratch, size_t count)
{
    memcpy(scratch, layers, count * sizeof(double));
    qsort(scratch, count, sizeof(double), CompareDoubles);
    return scratch[(size_t)((double)(count - 1) * (1 - SOFT_SHARE))];
}

// Adds the squares of one frame: of the layer and of what the springs leave of it, over all and over soft vertices.
static void AddFrame(
    const jnaSequence* s, size_t frame, const float* positions, const double* layers, double soft, double sums[2][2])
{
    size_t vertices = s->targets.shape[1], first = 3 * vertices * frame;
    for (size_t i = 0; i < 3 * vertices; ++i) {
        double truth = jnaArray_Get(&s->dynamics, first + i), target = jnaArray_Get(&s->targets, first + i);
        double away = target - truth, left = (double)positions[i] - truth;
        if (!isfinite(truth)) {
            continue;
        }
        sums[0][0] += away * away;
        sums[0][1] += left * left;
        if (layers[i / 3] >= soft) {
            sums[1][0] += away * away;
            sums[1][1] += left * left;
        }
    }
}

// Plays one clip and tells how well.
static jnResult Judge(const Work* w, const Take* take, const jnaFit* springs, const double* layers, double soft,
    jnaClipFit* fit, jnError* error)
{
    const jnaSequence* s = &take->sequence;
    size_t vertices = s->targets.shape[1], frames = s->targets.shape[0];
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = (int)vertices;
    def.stiffness = springs->stiffness;
    def.damping = springs->damping;
    def.timing = jn_timingExact;
    jnSprings* set = NULL;
    float* row = malloc(3 * vertices * sizeof(float));
    float* positions = malloc(3 * vertices * sizeof(float));
    jnResult result = row != NULL && positions != NULL
                          ? jnCreateSprings(&def, &set, error)
                          : jnFail(error, jn_outOfMemory, "out of memory to play %zu vertices", vertices);
    double sums[2][2] = {{0}};
    for (size_t n = 0; result == jn_ok && n < frames; ++n) {
        for (size_t i = 0; i < 3 * vertices; ++i) {
            row[i] = (float)jnaArray_Get(&s->targets, 3 * vertices * n + i);
        }
        jnSprings_Step(set, &(jnSpringsInput){.h = (float)(1 / w->manifest.rate), .targets = row},
            &(jnSpringsOutput){.positions = positions});
        if (n > 0) { // exact timing shows the sample before
            AddFrame(s, n - 1, positions, layers, soft, sums);
        }
    }
    if (result == jn_ok) {
        jnSprings_Finish(set, &(jnSpringsOutput){.positions = positions});
        AddFrame(s, frames - 1, positions, layers, soft, sums);
        snprintf(fit->name, sizeof(fit->name), "%s", w->manifest.clips[take->clip].name);
        double count = (double)frames * (double)vertices;
        fit->trained = w->manifest.clips[take->clip].role == jna_train;
        fit->frameCount = (int)frames;
        fit->layer = sqrt(sums[0][0] / count);
        fit->error = sqrt(sums[0][1] / count);
        fit->captured = sums[0][0] > 0 ? 1 - sums[0][1] / sums[0][0] : 0;
        fit->capturedSoft = sums[1][0] > 0 ? 1 - sums[1][1] / sums[1][0] : 0;
    }
    jnDestroySprings(set);
    free(row);
    free(positions);
    return result;
}

static jnResult WriteSprings(const Work* w, const jnaFit* fit, jnError* error)
{
    char folder[JNA_PATH_LENGTH], path[JNA_PATH_LENGTH];
    size_t shape[1] = {(size_t)fit->vertexCount};
    jnResult result = jnaJoinPath(w->workspace, "springs", folder, error);
    if (result == jn_ok && mkdir(folder, 0777) != 0 && access(folder, W_OK) != 0) {
        return jnFail(error, jn_badData, "%s: cannot be made", folder);
    }
    result = result == jn_ok ? jnaJoinPath(folder, "stiffness.npy", path, error) : result;
    result = result == jn_ok ? jnaWriteArray(path, jna_float32, 1, shape, fit->stiffness, error) : result;
    result = result == jn_ok ? jnaJoinPath(folder, "damping.npy", path, error) : result;
    return result == jn_ok ? jnaWriteArray(path, jna_float32, 1, shape, fit->damping, error) : result;
}

static jnResult FitAndJudge(
    Work* w, const jnaWorkspaceFitDef* settings, jnaWorkspaceFit* out, double* layers, jnError* error)
{
    jnaFitDef def = jnaDefaultFitDef();
    jnaSequence* sequences = calloc((size_t)w->trainCount, sizeof(*sequences));
    jnaFit springs = {0};
    size_t vertices = (size_t)w->character.vertexCount;
    if (sequences == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", w->trainCount);
    }
    for (int i = 0; i < w->trainCount; ++i) {
        sequences[i] = w->takes[i].sequence;
        AddLayer(&sequences[i], layers);
    }
    def.sequences = sequences;
    def.sequenceCount = w->trainCount;
    def.dt = 1 / w->manifest.rate;
    def.drop = settings->drop;
    def.threads = settings->threads;
    def.progress = settings->progress;
    def.user = settings->user;
    double soft = SoftThreshold(layers, layers + vertices, vertices);
    jnResult result = jnaFitSprings(&def, &springs, error);
    result = result == jn_ok ? WriteSprings(w, &springs, error) : result;
    for (int i = 0; result == jn_ok && i < w->takeCount; ++i) {
        result = Judge(w, &w->takes[i], &springs, layers, soft, &out->clips[out->clipCount], error);
        out->clipCount += result == jn_ok;
    }
    out->vertexCount = springs.vertexCount;
    out->atBound = springs.atBound;
    out->weak = springs.weak;
    jnaDestroyFit(&springs);
    free(sequences);
    return result;
}

jnResult jnaFitWorkspace(
    const char* workspace, const jnaWorkspaceFitDef* def, jnaWorkspaceFit* fit, jnaNotes* notes, jnError* error)
{
    *fit = (jnaWorkspaceFit){0};
    Work w = {.workspace = workspace};
    jnResult result = Load(&w, error);
    result = result == jn_ok ? OpenTakes(&w, def->targets, notes, error) : result;
    double* layers = NULL;
    if (result == jn_ok) {
        layers = calloc(2 * (size_t)w.character.vertexCount, sizeof(double));
        fit->clips = calloc((size_t)w.takeCount, sizeof(*fit->clips));
        result = layers != NULL && fit->clips != NULL
                     ? FitAndJudge(&w, def, fit, layers, error)
                     : jnFail(error, jn_outOfMemory, "out of memory for %d vertices", w.character.vertexCount);
    }
    free(layers);
    DestroyWork(&w);
    if (result != jn_ok) {
        jnaDestroyWorkspaceFit(fit);
    }
    return result;
}
