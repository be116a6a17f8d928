// See engine_glb.h.
#include "asset/engine_glb.h"

#include "asset/fewer_joints.h"
#include "asset/linear_host.h"
#include "asset/morph_targets.h"
#include "asset/target_basis.h"
#include "asset/weights_asset.h"
#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

jnaEngineDef jnaDefaultEngineDef(const jnAsset* asset)
{
    return (jnaEngineDef){.asset = asset, .components = -1, .modes = -1};
}

// What cannot be said in morph weights.
static jnResult CheckAsset(const jnAsset* a, jnError* error)
{
    if (a->network == jn_networkCnn) {
        return jnFail(error, jn_badArgument,
            "'%s' has a cnn network, whose displacements are no morph targets; use `network.kind: pca` for a .glb, or "
            "`jounce bake` for a cache",
            a->name);
    }
    if (a->springCount > 0) {
        return jnFail(error, jn_badArgument,
            "'%s' has springs of single vertices (layer vertex), which are no morph targets; use `springs.layer: "
            "modal` "
            "for a .glb, or `jounce bake` for a cache",
            a->name);
    }
    if (a->componentCount + a->modeCount == 0) {
        return jnFail(error, jn_badArgument,
            "'%s' has neither a network nor modes: there is nothing to add to its glTF file", a->name);
    }
    return jn_ok;
}

// All that is made on the way.
typedef struct Work {
    jnaArena arena;
    jnaMorphSet all;      // the asset's targets
    jnaTargetBasis basis; // what the file's are
    jnaMorphSet made;     // the file's
    jnaMorphDocument document;
    double* products; // [weights][weights]
    float* stretches; // [targets]
    size_t* sizes;    // [targets], bytes
    bool* floats;     // [targets]
} Work;

static void DestroyWork(Work* w)
{
    jnaDestroyMorphSet(&w->all);
    jnaDestroyMorphSet(&w->made);
    jnaDestroyTargetBasis(&w->basis);
    jnaDestroyMorphDocument(&w->document);
    jnaReleaseArena(&w->arena);
}

// Bytes of text that describe a target: its arrays, sparse ones at most.
enum { TARGET_JSON = 900 };

// How many targets of those that were measured the budget has room for; at least one, or one pair.
static int FitBudget(const Work* w, double budget, const jnaTargetsDef* def, int step)
{
    double keys = TARGET_JSON, size = (double)w->document.buffer.size;
    size += (double)json_dumpb(w->document.root, NULL, 0, JSON_COMPACT);
    for (int c = 0; c < w->made.weights.clipCount; ++c) {
        keys += 4.0 * w->made.weights.keyCounts[c];
    }
    int count = 0;
    for (int t = 0; t < def->count; ++t) {
        size += keys + (double)w->sizes[t];
        count = size <= budget ? t + 1 : count;
    }
    count = count / step * step;
    return budget > 0 ? (count < step && def->count > 0 ? step : count) : def->count;
}

static int AtMost(int wanted, int there)
{
    return wanted < 0 || wanted > there ? there : wanted;
}

static double LargestWeight(const jnaTargetsDef* def, const float* stretches)
{
    double largest = 0;
    const jnaMorphWeights* w = def->weights;
    for (int c = 0; c < w->clipCount; ++c) {
        for (size_t n = 0; n < (size_t)w->keyCounts[c]; ++n) {
            for (size_t t = 0; t < (size_t)def->count; ++t) {
                double value = (double)w->weights[c][n * (size_t)w->count + t];
                largest = fmax(largest, fabs(value / (double)stretches[t]));
            }
        }
    }
    return largest;
}

static jnResult Save(const char* path, jnaMorphDocument* d, size_t* size, jnError* error)
{
    jnaFile file;
    JN_PASS(jnaCreateFile(path, &file, error));
    jnResult result = jn_ok;
    *size = 0;
    JN_TRY(jnaWriteGlb(d->root, &d->buffer, 17, &file, error));
    long length = ftell(file.stream);
    *size = length > 0 ? (size_t)length : 0;
    JN_TRY(jnaFile_Commit(&file, error));
done:
    jnaFile_Abandon(&file);
    return result;
}

// Weights of the file's targets from those of the runtime. mix: [rows][weights].
static void FillMix(const Work* w, int rows, bool paired, float* mix)
{
    for (int t = 0; t < rows; ++t) {
        double stretch = (double)w->stretches[paired ? 2 * t : t];
        for (int k = 0; k < w->basis.columns; ++k) {
            mix[t * w->basis.columns + k] = (float)(w->basis.mix[t * w->basis.columns + k] / stretch);
        }
    }
}

// A file whose weights are others than the targets would be silently wrong in every engine.
static jnResult CheckAgreement(const void* bytes, size_t size, int targets, jnError* error)
{
    jnAsset* live = NULL;
    JN_PASS(
        jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size, .source = "the file for live weights"}, &live, error));
    int weights = live->weightCount;
    jnDestroyAsset(live);
    return weights == targets
               ? jn_ok
               : jnFail(error, jn_badData, "the .glb would have %d morph targets and the file beside it %d weights",
                     targets, weights);
}

// What the runtime needs for the same weights live.
static jnResult EncodeSidecar(
    const jnaEngineDef* def, const Work* w, int targets, void** bytes, jnaEngineReport* report, jnError* error)
{
    const jnAsset* a = def->asset;
    jnResult result = jn_ok;
    int rows = def->paired ? targets / 2 : targets;
    bool whole = w->basis.own && !def->paired && targets == w->basis.columns;
    float* numbers = malloc((size_t)(whole ? 1 : rows) * (size_t)w->basis.columns * sizeof(float) + 1);
    JN_TRY(numbers != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d weights", targets));
    for (int t = 0; whole && t < targets; ++t) {
        numbers[t] = 1.0f / w->stretches[t];
    }
    if (!whole) {
        FillMix(w, rows, def->paired, numbers);
    }
    jnaWeightsDef how = {.asset = a,
        .bytes = def->bytes,
        .scales = whole ? numbers : NULL,
        .mix = whole ? NULL : numbers,
        .rowCount = rows,
        .paired = def->paired};
    JN_TRY(jnaEncodeWeightsAsset(&how, bytes, &report->sidecarBytes, error));
    JN_TRY(CheckAgreement(*bytes, report->sidecarBytes, targets, error));
done:
    free(numbers);
    return result;
}

// glTF has linear blend alone: what that does to dual quaternions goes into the report and the file.
static jnResult MeasureSkinning(const jnAsset* a, Work* w, jnaEngineReport* report, jnError* error)
{
    jnaLinearHost host;
    if (a->skinning != jn_skinDual) {
        return jn_ok;
    }
    JN_PASS(jnaMeasureLinearHost(a, &w->all.shapes, &w->all.weights, &host, error));
    report->dual = true;
    report->linearFarthest = host.farthest;
    report->linearRms = host.rms;
    if (host.clip >= 0) {
        snprintf(report->linearClip, sizeof(report->linearClip), "%s", jnAsset_Clip(a, host.clip).name);
        report->linearFrame = host.frame;
    }
    return jnaNoteLinearHost(&w->document, &host, error);
}

// What so many targets would miss.
static jnResult FillTable(const jnAsset* a, const Work* w, const jnaTargetBasis* first, const jnaTargetBasis* best,
    jnaTargetTable* table, jnError* error)
{
    static const int counts[JNA_TARGET_COUNTS] = {16, 32, 64, 128};
    for (int i = 0; i < JNA_TARGET_COUNTS && (i == 0 || counts[i - 1] < first->count); ++i) {
        int count = table->counts[i] = counts[i] < first->count ? counts[i] : first->count;
        jnaBasisError left;
        JN_PASS(jnaMeasureBasis(first, count, a, w->products, &w->all.weights, &left, error));
        table->first[i] = left.rms;
        JN_PASS(jnaMeasureBasis(best, count, a, w->products, &w->all.weights, &left, error));
        table->best[i] = left.rms;
    }
    return jn_ok;
}

// Makes the first `count` targets of the basis, and measures how large they are.
static jnResult MakeTargets(const jnaEngineDef* def, int count, Work* w, jnaTargetsDef* targets, jnError* error)
{
    const jnAsset* a = def->asset;
    jnaDestroyMorphSet(&w->made);
    memset(w->floats, 0, (size_t)(2 * w->basis.columns) * sizeof(*w->floats));
    JN_PASS(jnaCombineTargets(&w->basis, count, def->paired, a, &w->all, &w->made, error));
    *targets = (jnaTargetsDef){.asset = a,
        .shapes = &w->made.shapes,
        .weights = &w->made.weights,
        .count = w->made.weights.count,
        .quantize = def->quantize,
        .sparse = def->sparse,
        .zeros = def->zeros,
        .floats = w->floats};
    jnaStretchTargets(targets, &w->document, w->stretches);
    return jnaMeasureTargets(targets, &w->document, w->stretches, w->sizes, error);
}

// The asset's own targets where there is room for those that are asked for, otherwise the best.
static jnResult ChooseTargets(
    const jnaEngineDef* def, Work* w, jnaTargetsDef* targets, jnaEngineReport* report, jnError* error)
{
    const jnAsset* a = def->asset;
    int components = AtMost(def->components, a->componentCount), modes = AtMost(def->modes, a->modeCount);
    int step = def->paired ? 2 : 1, most = def->targets > 0 ? def->targets / step : INT_MAX;
    jnaTargetBasis best = {0};
    jnResult result = jn_ok;
    jnaMultiplyMorphs(&w->all.shapes, a, w->products);
    JN_PASS(jnaPickTargets(a, components, modes, &w->basis, error));
    JN_TRY(jnaFindTargetBasis(&w->basis, w->products, &w->all.weights, &best, error));
    JN_TRY(FillTable(a, w, &w->basis, &best, &report->table, error));
    JN_TRY(MakeTargets(def, w->basis.count, w, targets, error));
    int fits = FitBudget(w, def->budget, targets, step);
    if (most < w->basis.count || fits < targets->count) {
        jnaTargetBasis own = w->basis;
        w->basis = best;
        best = own;
        JN_TRY(MakeTargets(def, most < w->basis.count ? (most > 0 ? most : 1) : w->basis.count, w, targets, error));
        targets->count = FitBudget(w, def->budget, targets, step);
    } else if (!def->paired && w->basis.count == w->basis.columns) {
        targets->poses = report->components = components;
        targets->modes = report->modes = modes;
    }
    jnaBasisError left;
    JN_TRY(jnaMeasureBasis(&w->basis, targets->count / step, a, w->products, &w->all.weights, &left, error));
    report->captured = left.captured;
    report->rms = targets->count / step < w->basis.columns ? left.rms : 0;
    report->targets = targets->count;
    report->paired = def->paired;
done:
    jnaDestroyTargetBasis(&best);
    return result;
}

static jnResult MakeWork(const jnaEngineDef* def, Work* w, jnError* error)
{
    const jnAsset* a = def->asset;
    int count = a->componentCount + a->modeCount;
    w->stretches = jnaArena_Take(&w->arena, 2 * (int64_t)count, sizeof(*w->stretches));
    w->sizes = jnaArena_Take(&w->arena, 2 * (int64_t)count, sizeof(*w->sizes));
    w->floats = jnaArena_Take(&w->arena, 2 * (int64_t)count, sizeof(*w->floats));
    w->products = jnaArena_Take(&w->arena, (int64_t)count * count, sizeof(*w->products));
    JN_PASS(jnaArena_Check(&w->arena, "a .glb", error));
    JN_PASS(jnaCreateMorphShapes(a, &w->all.shapes, error));
    JN_PASS(jnaBakeMorphWeights(a, def->seamless, &w->all.weights, error));
    jnaMorphDocumentDef document = {a, &w->all.shapes, def->source, def->animations, def->influences, def->seamless,
        def->outfits, def->outfitCount};
    return jnaCreateMorphDocument(&document, &w->document, error);
}

jnResult jnaWriteEngineGlb(const char* path, const jnaEngineDef* def, jnaEngineReport* report, jnError* error)
{
    const jnAsset* a = def->asset;
    *report = (jnaEngineReport){.vertices = a->fileVertexCount};
    JN_PASS(CheckAsset(a, error));
    Work w = {0};
    jnaTargetsDef targets;
    void* sidecar = NULL;
    jnResult result = jn_ok;
    JN_TRY(MakeWork(def, &w, error));
    JN_TRY(MeasureSkinning(a, &w, report, error));
    JN_TRY(ChooseTargets(def, &w, &targets, report, error));
    size_t before = w.document.buffer.size;
    JN_TRY(jnaAddMorphTargets(&targets, w.stretches, &w.document, error));
    report->targetBytes = w.document.buffer.size - before;
    JN_TRY(jnaAddMorphAnimations(&targets, w.stretches, &w.document, error));
    bool live = def->sidecar != NULL && targets.count > 0;
    JN_TRY(live ? EncodeSidecar(def, &w, targets.count, &sidecar, report, error) : jn_ok);
    JN_TRY(Save(path, &w.document, &report->byteCount, error));
    JN_TRY(live ? jnaWriteBytes(def->sidecar, sidecar, report->sidecarBytes, error) : jn_ok);
    report->influences = jnaMostInfluences(a);
    if (def->influences > 0 && def->influences < report->influences) {
        report->influences = def->influences;
        JN_TRY(
            jnaMeasureFewerJoints(a, &w.all.shapes, &w.all.weights, def->influences, &report->influenceError, error));
    }
    report->animationCount = a->clipCount;
    report->largestWeight = LargestWeight(&targets, w.stretches);
done:
    free(sidecar);
    DestroyWork(&w);
    return result;
}
