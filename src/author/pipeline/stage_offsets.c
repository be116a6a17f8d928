// The clips of a workspace played on its modes: the caps, a record in json, and a word to the user.
#include "pipeline/offsets.h"

#include "base/file.h"
#include "base/path.h"
#include "pipeline/engine.h"
#include "workspace/modes_store.h"
#include "workspace/stage.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A clip that drives a mode beyond this share of its cap is touched by it: where the runtime's law begins to bend.
#define KNEE 0.7

void jnaDestroyWorkspaceOffsets(jnaWorkspaceOffsets* o)
{
    jnaDestroyOffsets(&o->before);
    jnaDestroyOffsets(&o->after);
}

// What the stage works with.
typedef struct Work {
    const jnaCharacter* character;
    const jnaVolume* volume;
    jnaModes modes; // gets the caps
    int clipCount;
    jnaClip* clips; // [clipCount]
    float* reach;   // [vertexCount]
} Work;

static void DestroyWork(Work* w)
{
    for (int i = 0; w->clips != NULL && i < w->clipCount; ++i) {
        jnaDestroyClip(&w->clips[i]);
    }
    free(w->clips);
    free(w->reach);
    jnaDestroyModes(&w->modes);
}

// A clip that the manifest names may not have been imported yet; it is played once it is.
static jnResult LoadWork(jnaWorkspace* workspace, Work* w, jnError* error)
{
    const jnaManifest* m = &workspace->manifest;
    jnResult result = jnaWorkspace_Volume(workspace, &w->volume, error);
    result = result == jn_ok ? jnaLoadModes(workspace->path, &w->modes, error) : result;
    result = result == jn_ok ? jnaWorkspace_Character(workspace, &w->character, error) : result;
    if (result != jn_ok) {
        return result;
    }
    if (w->volume->vertexCount != w->character->vertexCount || w->modes.vertexCount != w->character->vertexCount ||
        w->modes.jointCount != w->character->jointCount) {
        return jnFail(error, jn_badData, "%s: its modes are of another character; run jounce build", workspace->path);
    }
    w->clips = calloc((size_t)m->clipCount + 1, sizeof(*w->clips));
    w->reach = calloc((size_t)w->character->vertexCount, sizeof(float));
    if (w->clips == NULL || w->reach == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", m->clipCount);
    }
    for (int i = 0; result == jn_ok && i < m->clipCount; ++i) {
        if (jnaWorkspace_Has(workspace, "clips/%s/clip.json", m->clips[i].name)) {
            result = jnaLoadClip(workspace->path, m->clips[i].name, w->character, &w->clips[w->clipCount], error);
            w->clipCount += result == jn_ok;
        }
    }
    return result;
}

// How far each vertex may go, by the manifest; NULL: as far as it goes.
static jnResult SetReach(const jnaManifest* manifest, Work* w, const float** reach, jnError* error)
{
    jnaCapKind kind = manifest->springs.cap.kind;
    jnResult result = kind == jna_capFlesh ? jnaFindReach(w->volume, w->character, w->reach, error) : jn_ok;
    for (int v = 0; result == jn_ok && v < w->character->vertexCount; ++v) {
        w->reach[v] = kind == jna_capFlesh ? (float)(manifest->springs.cap.value * (double)w->reach[v])
                                           : (float)manifest->springs.cap.value;
    }
    *reach = kind == jna_capOff ? NULL : w->reach;
    return result;
}

static jnResult Find(const jnaManifest* manifest, Work* w, jnaWorkspaceOffsets* found, jnError* error)
{
    const float* reach = NULL;
    jnResult result = jnaModes_SetCaps(&w->modes, w->character, NULL, NULL, error);
    result = result == jn_ok ? jnaFindOffsets(w->character, &w->modes, w->clipCount, w->clips, &found->before, error)
                             : result;
    result = result == jn_ok ? SetReach(manifest, w, &reach, error) : result;
    result = result == jn_ok ? jnaModes_SetCaps(&w->modes, w->character, reach, found->before.peaks, error) : result;
    for (int k = 0; result == jn_ok && k < w->modes.modeCount; ++k) {
        found->capped += w->modes.caps[k] > 0 && found->before.peaks[k] > KNEE * w->modes.caps[k];
    }
    return result == jn_ok ? jnaFindOffsets(w->character, &w->modes, w->clipCount, w->clips, &found->after, error)
                           : result;
}

static json_t* DescribeOffset(const Work* w, const jnaOffset* o)
{
    const jnaInfluences* in = &w->character->influences[o->vertex];
    return json_pack("{s:f, s:s, s:i, s:s, s:i, s:f}", "offset", o->length, "joint",
        w->character->joints[in->joints[0]].name, "vertex", o->vertex, "clip",
        w->clipCount > 0 ? w->clips[o->clip].name : "", "frame", o->frame, "hertz", o->hertz);
}

static json_t* DescribeSide(const Work* w, const jnaOffsets* o)
{
    json_t *joints = json_array(), *clips = json_array();
    for (int j = 0; j < o->jointCount; ++j) {
        if (o->joints[j].length > 0) {
            json_array_append_new(joints, DescribeOffset(w, &o->joints[j]));
        }
    }
    for (int i = 0; i < o->clipCount; ++i) {
        json_array_append_new(clips, DescribeOffset(w, &o->clips[i]));
    }
    json_t* peaks = json_array();
    for (int k = 0; k < o->modeCount; ++k) {
        json_array_append_new(peaks, json_real(o->peaks[k]));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "peaks", peaks, "largest", DescribeOffset(w, &o->most), "joints", joints,
        "clips", clips);
}

static jnResult Save(const char* workspace, const Work* w, const jnaWorkspaceOffsets* found, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    size_t shape[1] = {(size_t)w->modes.modeCount};
    jnaFile file;
    jnResult result = jnaJoinPath(workspace, "modes/caps.npy", path, error);
    result = result == jn_ok ? jnaWriteArray(path, jna_float64, 1, shape, w->modes.caps, error) : result;
    shape[0] = (size_t)w->character->vertexCount;
    result = result == jn_ok ? jnaJoinPath(workspace, "modes/reach.npy", path, error) : result;
    result = result == jn_ok ? jnaWriteArray(path, jna_float32, 1, shape, w->reach, error) : result;
    json_t* root = json_pack("{s:f, s:f, s:i, s:i, s:o, s:o}", "height", found->before.height, "kept",
        found->after.kept, "modes", w->modes.modeCount, "capped_modes", found->capped, "before_cap",
        DescribeSide(w, &found->before), "after_cap", DescribeSide(w, &found->after));
    if (result == jn_ok && root == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory");
    }
    result = result == jn_ok ? jnaJoinPath(workspace, "modes/offsets.json", path, error) : result;
    result = result == jn_ok ? jnaCreateFile(path, &file, error) : result;
    if (result == jn_ok) {
        (void)json_dumpf(root, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        fputc('\n', file.stream);
        result = jnaFile_Commit(&file, error);
    }
    json_decref(root);
    return result;
}

static void Tell(const Work* w, const jnaWorkspaceOffsets* found, jnaNotes* notes)
{
    const jnaOffset *o = &found->before.most, *capped = &found->after.most;
    double share = found->before.height > 0 ? o->length / found->before.height : 0;
    if (w->clipCount == 0 || !(o->length > 0)) {
        return;
    }
    const char* joint = w->character->joints[w->character->influences[o->vertex].joints[0]].name;
    const char* clip = w->clips[o->clip].name;
    jnaNotes_Add(notes,
        "largest offset %.1f mm (%.1f %% of the height) at '%s', %.2f Hz, in clip '%s'; with the cap %.1f mm, %.4f of "
        "the motion kept",
        1e3 * o->length, 100 * share, joint, o->hertz, clip, 1e3 * capped->length, found->after.kept);
    if (share > JNA_LARGE_OFFSET) {
        jnaNotes_Add(notes,
            "warning: '%s' moves by %.0f %% of the height in clip '%s' before the cap: too little holds it, or it is "
            "too soft",
            joint, 100 * share, clip);
    }
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"stages/import.json", "volume/nodes.npy", "volume/held_by.npy",
        "modes/modes.json", "modes/stiffness.npy", "modes/damping.npy", "modes/masses.npy", "modes/gain.npy",
        "modes/limits.npy", "modes/shapes.npy", "modes/projections.npy", "modes/spins.npy", NULL};
    static const char* const outputs[] = {"modes/caps.npy", "modes/reach.npy", "modes/offsets.json", NULL};
    (void)error;
    jnaStage_ReadAll(stage, NULL, inputs);
    jnaStage_MakeAll(stage, outputs);
    jnaStage_Share(stage, stage->name, "modes/caps.npy"); // the modes made them
    jnaWorkspace_Depend(run->workspace, stage);
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    Work work = {0};
    jnaWorkspaceOffsets found = {0};
    jnResult result = LoadWork(run->workspace, &work, error);
    result = result == jn_ok ? Find(&run->workspace->manifest, &work, &found, error) : result;
    result = result == jn_ok ? Save(run->workspace->path, &work, &found, error) : result;
    if (result == jn_ok) {
        Tell(&work, &found, run->notes);
    }
    jnaDestroyWorkspaceOffsets(&found);
    DestroyWork(&work);
    return result;
}

const jnaStageKind jnaOffsetsStage = {"offsets", Describe, Run};
