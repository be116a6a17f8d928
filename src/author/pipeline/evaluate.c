// Every way that a workspace has to move its character, measured on every clip that has motion.
#include "pipeline/evaluate.h"

#include "base/input.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "pipeline/engine.h"
#include "pipeline/judge.h"
#include "workspace/learned.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

jnaEvaluateDef jnaDefaultEvaluateDef(void)
{
    return (jnaEvaluateDef){0};
}

// The ways and what plays them.
typedef struct Ways {
    int count;
    jnaWay list[JNA_MOST_WAYS];
    jnaPlayer players[jna_methodCount];
    bool made[jna_methodCount];
} Ways;

static void DestroyWays(Ways* w)
{
    for (int i = 0; i < jna_methodCount; ++i) {
        if (w->made[i]) {
            jnaDestroyPlayer(&w->players[i]);
        }
    }
}

// A way of springs, in both timings; beside springs per vertex, those fitted to each clip for itself.
static void AddWay(Ways* w, jnaMethod method, jnaFitTargets targets)
{
    bool hasBest = method == jna_methodVertex || method == jna_methodSpringsOnSkinned;
    for (int causal = 0; w->made[method] && causal < 2; ++causal) {
        jnaWay way = {method, targets, causal ? jn_timingCausal : jn_timingExact, &w->players[method], false};
        w->list[w->count++] = way;
        if (hasBest) {
            way.player = NULL;
            way.best = true;
            w->list[w->count++] = way;
        }
    }
}

static jnResult AddPlayer(Ways* w, const jnaTakes* takes, jnaMethod method, const float* stiffness,
    const float* damping, const jnaModes* modes, jnError* error)
{
    jnaPlayerDef def = {.character = takes->character,
        .stiffness = stiffness,
        .damping = damping,
        .modes = modes,
        .network = modes != NULL && takes->hasNetwork ? takes->network : NULL,
        .rate = takes->manifest->rate};
    jnResult result = jnaMakePlayer(&def, &w->players[method], error);
    w->made[method] = result == jn_ok;
    return result;
}

static jnResult AddUniform(Ways* w, const jnaTakes* takes, const jnaLearned* l, jnError* error)
{
    size_t vertices = (size_t)takes->character->vertexCount;
    float* numbers = malloc(2 * vertices * sizeof(float));
    if (numbers == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %zu springs", vertices);
    }
    for (size_t v = 0; v < vertices; ++v) {
        numbers[v] = (float)l->uniform[0];
        numbers[vertices + v] = (float)l->uniform[1];
    }
    jnResult result = AddPlayer(w, takes, jna_methodUniform, numbers, numbers + vertices, NULL, error);
    free(numbers);
    return result;
}

static jnResult AddModal(Ways* w, const jnaTakes* takes, const jnaLearned* l, jnError* error)
{
    jnaModes modes = {0};
    JN_PASS(AddPlayer(w, takes, jna_methodModalPhysical, NULL, NULL, takes->modes, error));
    if (l->modalStiffness == NULL || l->modalDamping == NULL || l->modalGain == NULL) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    JN_TRY(jnaLearned_SetModes(l, takes->modes, &modes, error));
    JN_TRY(AddPlayer(w, takes, jna_methodModal, NULL, NULL, &modes, error));
done:
    free(modes.stiffness);
    return result;
}

static jnResult MakeWays(Ways* w, const jnaTakes* takes, const jnaLearned* l, jnError* error)
{
    if (l->skinnedStiffness != NULL && l->skinnedDamping != NULL) {
        JN_PASS(AddPlayer(w, takes, jna_methodSpringsOnSkinned, l->skinnedStiffness, l->skinnedDamping, NULL, error));
    }
    if (l->uniform[0] > 0) {
        JN_PASS(AddUniform(w, takes, l, error));
    }
    if (l->stiffness != NULL && l->damping != NULL) {
        JN_PASS(AddPlayer(w, takes, jna_methodVertex, l->stiffness, l->damping, NULL, error));
    }
    if (takes->hasModes) {
        JN_PASS(AddModal(w, takes, l, error));
    }
    w->list[w->count++] = (jnaWay){jna_methodSkinned, jna_targetsSkinned, jn_timingExact, NULL, false};
    w->list[w->count++] = (jnaWay){jna_methodNetwork, jna_targetsNetwork, jn_timingExact, NULL, false};
    AddWay(w, jna_methodSpringsOnSkinned, jna_targetsSkinned);
    // Without a network modes hang on the skinned surface, too.
    for (int method = jna_methodModalPhysical; !takes->hasNetwork && method <= (int)jna_methodModal; ++method) {
        AddWay(w, (jnaMethod)method, jna_targetsSkinned);
    }
    for (int i = 0; i < 2; ++i) {
        for (int method = jna_methodUniform; method < jna_methodCount; ++method) {
            AddWay(w, (jnaMethod)method, i == 0 ? jna_targetsNetwork : jna_targetsQuasistatic);
        }
    }
    return jn_ok;
}

static void NoteMissing(const jnaTakes* takes, const jnaLearned* l, jnaNotes* notes)
{
    int without = 0;
    for (int i = 0; i < takes->count; ++i) {
        without += !takes->takes[i].hasQuasistatic;
    }
    if (l->stiffness == NULL) {
        jnaNotes_Add(notes, "no springs are learned yet; `jounce fit` learns them");
    } else if (takes->hasModes && l->modalStiffness == NULL) {
        jnaNotes_Add(notes, "the springs on modes are not fitted yet; `jounce fit` fits them");
    }
    if (jnaManifest_IsImported(takes->manifest)) {
        return; // nothing that is missing is ours to simulate
    }
    if (!takes->hasModes) {
        jnaNotes_Add(notes, "no vibration modes yet; `jounce modes` computes them");
    }
    if (!takes->hasNetwork) {
        jnaNotes_Add(notes, "no network; `jounce train` makes it");
    }
    if (without > 0) {
        jnaNotes_Add(notes,
            "%d of %d clips have no simulated equilibria as targets; `jounce simulate --clip` computes them", without,
            takes->count);
    }
}

// Frames that the fit left out, from its own account.
static void ReadDropped(const char* workspace, jnaEvaluation* e)
{
    char path[JNA_PATH_LENGTH];
    if (jnaJoinPath(workspace, "springs/fit.json", path, NULL) != jn_ok) {
        return;
    }
    json_t* root = jnaReadJson(path, 0, NULL);
    json_t *clips = json_object_get(root, "clips"), *clip = NULL;
    size_t i = 0;
    json_array_foreach(clips, i, clip)
    {
        const char* name = json_string_value(json_object_get(clip, "clip"));
        for (int k = 0; name != NULL && k < e->clipCount; ++k) {
            if (strcmp(name, e->clips[k].name) == 0) {
                e->clips[k].dropped = (int)json_integer_value(json_object_get(clip, "dropped"));
                e->seen.dropped += e->clips[k].trained ? e->clips[k].dropped : 0;
            }
        }
    }
    json_decref(root);
}

static json_t* Number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

// NULL: out of memory.
static json_t* RowsJson(const jnaEvaluatedClip* clip)
{
    json_t* rows = json_array();
    for (int i = 0; rows != NULL && i < clip->rowCount; ++i) {
        const jnaEvaluationRow* r = &clip->rows[i];
        json_t* row = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "method",
            jnaMethodName(r->method), "targets", jnaTargetsName(r->targets), "timing", r->causal ? "causal" : "exact",
            "rms_mm", Number(1e3 * r->rms), "p95_mm", Number(1e3 * r->percentile95), "rms_soft_mm",
            Number(1e3 * r->rmsSoft), "captured", Number(r->captured), "captured_soft", Number(r->capturedSoft),
            "layer_mm", Number(1e3 * r->layer), "layer_soft_mm", Number(1e3 * r->layerSoft), "best", Number(r->best),
            "best_soft", Number(r->bestSoft), "captured_mean", Number(r->mean), "captured_soft_mean",
            Number(r->meanSoft));
        if (json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            rows = NULL;
        }
    }
    return rows;
}

static json_t* MakeJson(const jnaEvaluation* e)
{
    json_t* clips = json_array();
    for (int i = 0; clips != NULL && i < e->clipCount; ++i) {
        const jnaEvaluatedClip* c = &e->clips[i];
        json_t* clip = json_pack("{s:s, s:b, s:i, s:i, s:i, s:o}", "clip", c->name, "trained", c->trained, "frames",
            c->frameCount, "dropped", c->dropped, "failed", c->failed, "rows", RowsJson(c));
        if (json_array_append_new(clips, clip) != 0) {
            json_decref(clips);
            clips = NULL;
        }
    }
    return json_pack("{s:i, s:f, s:i, s:o, s:{s:i, s:i, s:i, s:o}, s:{s:i, s:i, s:i, s:o}}", "version", 2, "soft_share",
        e->softShare, "vertices", e->vertexCount, "clips", clips, "seen", "frames", e->seen.frameCount, "dropped",
        e->seen.dropped, "failed", e->seen.failed, "rows", RowsJson(&e->seen), "unseen", "frames", e->unseen.frameCount,
        "dropped", e->unseen.dropped, "failed", e->unseen.failed, "rows", RowsJson(&e->unseen));
}

char* jnaEvaluation_Json(const jnaEvaluation* e)
{
    json_t* root = MakeJson(e);
    char* text = root != NULL ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    return text;
}

static jnResult Save(const char* workspace, const jnaEvaluation* e, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    JN_PASS(jnaMakeFolder(workspace, "evaluation", folder, error));
    return jnaSaveJson(folder, "evaluation.json", MakeJson(e), 6, error);
}

// The same of an opened workspace. The stage is "evaluate".
static jnResult EvaluateOpened(
    jnaWorkspace* workspace, const jnaEvaluateDef* def, jnaEvaluation* evaluation, jnaNotes* notes, jnError* error)
{
    jnaTakes takes = {0};
    jnaLearned learned = {0};
    jnResult result = jn_ok;
    *evaluation = (jnaEvaluation){0};
    Ways* ways = calloc(1, sizeof(*ways));
    if (ways == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to evaluate");
    }
    JN_TRY(jnaOpenTakes(workspace, &takes, notes, error));
    if (takes.count == 0) {
        JN_TRY(jnFail(error, jn_badData,
            "no clip of %s has motion to compare with; `jounce simulate %s --clips --dynamic` makes it",
            workspace->path, workspace->path));
    }
    int modes = takes.hasModes ? takes.modes->modeCount : 0;
    JN_TRY(jnaLoadLearned(workspace->path, takes.character->vertexCount, modes, &learned, error));
    JN_TRY(MakeWays(ways, &takes, &learned, error));
    JN_TRY(jnaJudge(&takes, ways->list, ways->count, def, evaluation, error));
    NoteMissing(&takes, &learned, notes);
    ReadDropped(workspace->path, evaluation);
    JN_TRY(def->quiet ? jn_ok : Save(workspace->path, evaluation, error));
done:
    if (result != jn_ok) {
        jnaDestroyEvaluation(evaluation);
    }
    DestroyWays(ways);
    free(ways);
    jnaDestroyLearned(&learned);
    jnaCloseTakes(&takes);
    return result;
}

jnResult jnaEvaluateWorkspace(
    const char* workspace, const jnaEvaluateDef* def, jnaEvaluation* evaluation, jnaNotes* notes, jnError* error)
{
    jnaWorkspace* w;
    *evaluation = (jnaEvaluation){0};
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspaceToWrite(workspace, "jounce evaluate", &w, error));
    JN_TRY(EvaluateOpened(w, def, evaluation, notes, error));
done:
    jnaCloseWorkspace(w);
    return result;
}

// What the last stages read: whatever is there of motion, springs, network and modes.
void jnaDescribeMeasured(const jnaWorkspace* w, jnaStage* stage)
{
    static const char* const learned[] = {"stages/import.json", "modes/modes.json", "modes/stiffness.npy",
        "modes/shapes.npy", "modes/critical.npy", "modes/critical_limits.npy", "springs/fit.json",
        "springs/stiffness.npy", "springs/damping.npy", "springs/modal_stiffness.npy", "springs/modal_damping.npy",
        "springs/modal_gain.npy", "springs/modal_shapes.npy", "springs/skinned_stiffness.npy",
        "springs/skinned_damping.npy", "springs/uniform.npy", "network/parameters.npy",
        // Records stand for all that their stages made.
        "stages/volume.json", "stages/inside.json", "stages/modes.json", "stages/train.json", NULL};
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        const jnaManifestClip* clip = &w->manifest.clips[i];
        if (clip->motion != NULL) {
            jnaStage_Read(stage, w->path, "clips/%s/motion.npy", clip->name);
        } else {
            jnaStage_Read(stage, w->path, "motion/%s/dynamic.json", clip->name);
            jnaStage_Read(stage, w->path, "motion/%s/quasistatic.json", clip->name);
        }
        jnaStage_Read(stage, w->path, "clips/%s/quasistatic.npy", clip->name);
    }
    jnaStage_ReadAll(stage, w->path, learned);
    jnaWorkspace_Depend(w, stage);
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    (void)error;
    jnaDescribeMeasured(run->workspace, stage);
    jnaStage_Make(stage, "evaluation/evaluation.json");
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    jnaEvaluation evaluation;
    jnaEvaluateDef def = jnaDefaultEvaluateDef();
    def.threads = run->threads;
    def.watch = run->watch;
    JN_PASS(EvaluateOpened(run->workspace, &def, &evaluation, run->notes, error));
    jnaDestroyEvaluation(&evaluation);
    return jn_ok;
}

const jnaStageKind jnaEvaluateStage = {"evaluate", Describe, Run};
