// See engine_glb.h.
#include "asset/engine_glb.h"

#include "asset/fewer_joints.h"
#include "asset/linear_host.h"
#include "asset/morph_targets.h"
#include "asset/weights_asset.h"
#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

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
    jnaMorphShapes shapes;
    jnaMorphWeights weights;
    jnaMorphDocument document;
    float* stretches; // [count]
    size_t* sizes;    // [count], bytes
    bool* floats;     // [count]
} Work;

static void DestroyWork(Work* w)
{
    jnaDestroyMorphShapes(&w->shapes);
    jnaDestroyMorphWeights(&w->weights);
    jnaDestroyMorphDocument(&w->document);
    jnaReleaseArena(&w->arena);
}

// Mean square displacement that a target makes by itself.
static double EnergyOf(const jnaTargetsDef* def, int weight)
{
    size_t width = 3 * (size_t)def->asset->vertexCount;
    const float* shape = def->shapes->positions + (size_t)weight * width;
    double sum = 0;
    for (size_t i = 0; i < width; ++i) {
        sum += (double)shape[i] * (double)shape[i];
    }
    return sum * def->weights->squares[weight];
}

// Bytes of text that describe a target: its arrays, sparse ones at most.
enum { TARGET_JSON = 900 };

// Leaves out the last component or mode, whichever is worth least for its bytes, until the rest fits.
static void KeepBudget(const Work* w, double budget, jnaTargetsDef* def)
{
    double keys = TARGET_JSON, size = (double)w->document.buffer.size;
    size += (double)json_dumpb(w->document.root, NULL, 0, JSON_COMPACT);
    for (int c = 0; c < w->weights.clipCount; ++c) {
        keys += 4.0 * w->weights.keyCounts[c];
    }
    for (int t = 0; t < def->components + def->modes; ++t) {
        size += keys + (double)w->sizes[jnaTargetWeight(def, t)];
    }
    while (size > budget && def->components + def->modes > 1) {
        int pose = def->components - 1, mode = def->asset->componentCount + def->modes - 1;
        double poseWorth = pose > 0 ? EnergyOf(def, pose) / ((double)w->sizes[pose] + keys) : HUGE_VAL;
        double modeWorth = def->modes > 0 ? EnergyOf(def, mode) / ((double)w->sizes[mode] + keys) : HUGE_VAL;
        if (poseWorth == HUGE_VAL && modeWorth == HUGE_VAL) {
            break;
        }
        bool dropsPose = poseWorth <= modeWorth;
        size -= (double)w->sizes[dropsPose ? pose : mode] + keys;
        def->components -= dropsPose;
        def->modes -= !dropsPose;
    }
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
            for (int t = 0; t < def->components + def->modes; ++t) {
                size_t k = (size_t)jnaTargetWeight(def, t);
                double value = (double)w->weights[c][n * (size_t)w->count + k];
                largest = fmax(largest, fabs(value / (double)stretches[k]));
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

// What the runtime needs for the same weights live.
static jnResult WriteSidecar(const jnaEngineDef* def, const float* stretches, jnaEngineReport* report, jnError* error)
{
    const jnAsset* a = def->asset;
    size_t count = (size_t)(a->componentCount + a->modeCount);
    float* scales = malloc(count * sizeof(float));
    void* bytes = NULL;
    jnResult result = jn_ok;
    JN_TRY(scales != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %zu weights", count));
    for (size_t k = 0; k < count; ++k) {
        scales[k] = 1.0f / stretches[k];
    }
    JN_TRY(jnaEncodeWeightsAsset(a, def->bytes, scales, &bytes, &report->sidecarBytes, error));
    JN_TRY(jnaWriteBytes(def->sidecar, bytes, report->sidecarBytes, error));
done:
    free(bytes);
    free(scales);
    return result;
}

// glTF has linear blend alone: what that does to dual quaternions goes into the report and the file.
static jnResult MeasureSkinning(const jnAsset* a, Work* w, jnaEngineReport* report, jnError* error)
{
    jnaLinearHost host;
    if (a->skinning != jn_skinDual) {
        return jn_ok;
    }
    JN_PASS(jnaMeasureLinearHost(a, &w->shapes, &w->weights, &host, error));
    report->dual = true;
    report->linearFarthest = host.farthest;
    report->linearRms = host.rms;
    if (host.clip >= 0) {
        snprintf(report->linearClip, sizeof(report->linearClip), "%s", jnAsset_Clip(a, host.clip).name);
        report->linearFrame = host.frame;
    }
    return jnaNoteLinearHost(&w->document, &host, error);
}

jnResult jnaWriteEngineGlb(const char* path, const jnaEngineDef* def, jnaEngineReport* report, jnError* error)
{
    const jnAsset* a = def->asset;
    *report = (jnaEngineReport){0};
    JN_PASS(CheckAsset(a, error));
    Work w = {0};
    int count = a->componentCount + a->modeCount;
    jnResult result = jn_ok;
    w.stretches = jnaArena_Take(&w.arena, count, sizeof(*w.stretches));
    w.sizes = jnaArena_Take(&w.arena, count, sizeof(*w.sizes));
    w.floats = jnaArena_Take(&w.arena, count, sizeof(*w.floats));
    JN_TRY(jnaArena_Check(&w.arena, "a .glb", error));
    JN_TRY(jnaCreateMorphShapes(a, &w.shapes, error));
    JN_TRY(jnaBakeMorphWeights(a, def->seamless, &w.weights, error));
    jnaMorphDocumentDef document = {
        a, &w.shapes, def->source, def->animations, def->influences, def->seamless, def->outfits, def->outfitCount};
    JN_TRY(jnaCreateMorphDocument(&document, &w.document, error));
    JN_TRY(MeasureSkinning(a, &w, report, error));
    jnaTargetsDef targets = {.asset = a,
        .shapes = &w.shapes,
        .weights = &w.weights,
        .components = AtMost(def->components, a->componentCount),
        .modes = AtMost(def->modes, a->modeCount),
        .quantize = !def->plain,
        .sparse = !def->plain,
        .floats = w.floats};
    jnaStretchTargets(&targets, &w.document, w.stretches);
    JN_TRY(jnaMeasureTargets(&targets, &w.document, w.stretches, w.sizes, error));
    if (def->budget > 0) {
        KeepBudget(&w, def->budget, &targets);
    }
    JN_TRY(jnaMorphWeights_Captured(
        &w.weights, a, &w.shapes, targets.components, targets.modes, &report->captured, error));
    size_t before = w.document.buffer.size;
    JN_TRY(jnaAddMorphTargets(&targets, w.stretches, &w.document, error));
    report->targetBytes = w.document.buffer.size - before;
    JN_TRY(jnaAddMorphAnimations(&targets, w.stretches, &w.document, error));
    JN_TRY(Save(path, &w.document, &report->byteCount, error));
    JN_TRY(def->sidecar != NULL ? WriteSidecar(def, w.stretches, report, error) : jn_ok);
    report->influences = jnaMostInfluences(a);
    if (def->influences > 0 && def->influences < report->influences) {
        report->influences = def->influences;
        JN_TRY(jnaMeasureFewerJoints(a, &w.shapes, &w.weights, def->influences, &report->influenceError, error));
    }
    report->components = targets.components;
    report->modes = targets.modes;
    report->animationCount = a->clipCount;
    report->largestWeight = LargestWeight(&targets, w.stretches);
done:
    DestroyWork(&w);
    return result;
}
