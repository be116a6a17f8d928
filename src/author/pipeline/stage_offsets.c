// The clips of a workspace played on its modes: the caps, a record in json, and a word to the user.
#include "pipeline/offsets.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "pipeline/engine.h"
#include "volume/anatomy.h"
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

static void DestroyOffsets(jnaWorkspaceOffsets* o)
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
    JN_PASS(jnaWorkspace_Volume(workspace, &w->volume, error));
    JN_PASS(jnaLoadModes(workspace->path, &w->modes, error));
    JN_PASS(jnaWorkspace_Character(workspace, &w->character, error));
    JN_PASS(jnaModes_CheckCharacter(&w->modes, w->character, workspace->path, error));
    if (w->volume->vertexCount != w->character->vertexCount) {
        return jnFail(error, jn_badData, "%s: its modes are of another character; run jounce build", workspace->path);
    }
    jnaArena arena = {0};
    w->clips = jnaArena_Give(&arena, m->clipCount, sizeof(*w->clips));
    w->reach = jnaArena_Give(&arena, w->character->vertexCount, sizeof(float));
    JN_PASS(jnaArena_Check(&arena, "clips", error));
    for (int i = 0; i < m->clipCount; ++i) {
        if (jnaWorkspace_Has(workspace, "clips/%s/clip.json", m->clips[i].name)) {
            JN_PASS(jnaLoadClip(workspace->path, m->clips[i].name, w->character, &w->clips[w->clipCount], error));
            w->clipCount++;
        }
    }
    return jn_ok;
}

// How far the regions of a body may move, metres for a height of TALL; 0: as far as the thickness of the flesh says.
static const double regionLimits[JNA_REGIONS] = {
    [jna_regionHead] = 0.008,
    [jna_regionNeck] = 0.015,
    [jna_regionChest] = 0.03,
    [jna_regionBreast] = 0.075,
    [jna_regionBelly] = 0.1,
    [jna_regionBack] = 0.05,
    [jna_regionButtock] = 0.05,
    [jna_regionHip] = 0.03,
    [jna_regionUpperArm] = 0.025,
    [jna_regionElbow] = 0.012,
    [jna_regionForeArm] = 0.012,
    [jna_regionHand] = 0.006,
    [jna_regionThigh] = 0.03,
    [jna_regionKnee] = 0.015,
    [jna_regionShin] = 0.01,
    [jna_regionCalf] = 0.02,
    [jna_regionFoot] = 0.006,
};
#define TALL 1.75
// Farther than anything moves.
#define NO_LIMIT 1e3F

// What a person says of a region's limit; NULL: nothing.
static const jnaTuning* FindTuning(const jnaManifest* manifest, uint8_t region)
{
    for (int i = 0; i < manifest->tuningCount; ++i) {
        if (manifest->tuning[i].region == (jnaRegion)region && manifest->tuning[i].limit.kind != jna_capUsual) {
            return &manifest->tuning[i];
        }
    }
    return NULL;
}

// The limit of a vertex: a person's for its region, else the general one, which is at most the region's own.
static float LimitOf(const jnaManifest* manifest, uint8_t region, float thickness, double height)
{
    const jnaTuning* tuning = FindTuning(manifest, region);
    const jnaCap* cap = tuning != NULL ? &tuning->limit : &manifest->springs.cap;
    if (cap->kind == jna_capOff) {
        return NO_LIMIT;
    }
    double limit = cap->kind == jna_capFlesh ? cap->value * (double)thickness : cap->value;
    double own = regionLimits[region] * height / TALL;
    return (float)(cap->kind == jna_capFlesh && tuning == NULL && own > 0 ? fmin(limit, own) : limit);
}

// How far each vertex may go, by the manifest; NULL: as far as it goes.
static jnResult SetReach(const jnaManifest* manifest, Work* w, const float** reach, jnError* error)
{
    jnaAnatomy anatomy;
    jnResult result = jn_ok;
    uint8_t* regions = calloc((size_t)w->character->vertexCount, 1);
    double height = jnaHeightOf(w->character);
    JN_TRY(regions != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the regions of the skin"));
    JN_TRY(jnaFindReach(w->volume, w->character, w->reach, error));
    JN_TRY(jnaFindAnatomy(w->character, w->volume, &anatomy, error));
    jnaAnatomy_SkinRegions(&anatomy, w->character, regions);
    jnaDestroyAnatomy(&anatomy);
    for (int v = 0; v < w->character->vertexCount; ++v) {
        w->reach[v] = LimitOf(manifest, regions[v], w->reach[v], height);
    }
    bool limited = manifest->springs.cap.kind != jna_capOff;
    for (int r = 0; r < JNA_REGIONS; ++r) {
        limited = limited || FindTuning(manifest, (uint8_t)r) != NULL;
    }
    *reach = limited ? w->reach : NULL;
done:
    free(regions);
    return result;
}

static jnResult Find(const jnaManifest* manifest, Work* w, jnaWorkspaceOffsets* found, jnError* error)
{
    const float* reach = NULL;
    JN_PASS(jnaModes_SetBound(&w->modes, w->character, NULL, error));
    JN_PASS(jnaFindOffsets(w->character, &w->modes, w->clipCount, w->clips, &found->before, error));
    JN_PASS(SetReach(manifest, w, &reach, error));
    JN_PASS(jnaModes_SetBound(&w->modes, w->character, reach, error));
    for (int k = 0; k < w->modes.modeCount; ++k) {
        found->capped += w->modes.caps[k] > 0 && found->before.peaks[k] > KNEE * w->modes.caps[k];
    }
    return jnaFindOffsets(w->character, &w->modes, w->clipCount, w->clips, &found->after, error);
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
    size_t modes[1] = {(size_t)w->modes.modeCount}, vertices[1] = {(size_t)w->character->vertexCount};
    JN_PASS(jnaJoinPath(workspace, "modes/caps.npy", path, error));
    JN_PASS(jnaWriteArray(path, jna_float64, 1, modes, w->modes.caps, error));
    JN_PASS(jnaSaveBound(workspace, &w->modes, error));
    JN_PASS(jnaJoinPath(workspace, "modes/reach.npy", path, error));
    JN_PASS(jnaWriteArray(path, jna_float32, 1, vertices, w->reach, error));
    json_t* root = json_pack("{s:f, s:f, s:i, s:i, s:o, s:o}", "height", found->before.height, "kept",
        found->after.kept, "modes", w->modes.modeCount, "capped_modes", found->capped, "before_cap",
        DescribeSide(w, &found->before), "after_cap", DescribeSide(w, &found->after));
    return jnaSaveJson(workspace, "modes/offsets.json", root, 6, error);
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
        "largest offset %.1f mm (%.1f %% of the height) at '%s', %.2f Hz, in clip '%s'; limited to %.1f mm, which "
        "keeps "
        "%.2f %% of the motion",
        1e3 * o->length, 100 * share, joint, o->hertz, clip, 1e3 * capped->length, 100 * found->after.kept);
    if (share > JNA_LARGE_OFFSET) {
        jnaNotes_Add(notes,
            "warning: '%s' moves by %.0f %% of the height in clip '%s' before it is limited: too few bones hold it, or "
            "it "
            "is too soft",
            joint, 100 * share, clip);
    }
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"stages/import.json", "volume/nodes.npy", "volume/held_by.npy",
        "modes/modes.json", "modes/stiffness.npy", "modes/damping.npy", "modes/masses.npy", "modes/gain.npy",
        "modes/limits.npy", "modes/shapes.npy", "modes/projections.npy", "modes/spins.npy", NULL};
    static const char* const outputs[] = {"modes/caps.npy", "modes/critical.npy", "modes/critical_limits.npy",
        "modes/reach.npy", "modes/offsets.json", NULL};
    (void)error;
    jnaStage_ReadAll(stage, NULL, inputs);
    jnaStage_MakeAll(stage, outputs);
    jnaStage_Share(stage, stage->name, "modes/caps.npy"); // the modes made them
    jnaWorkspace_Depend(run->workspace, stage);
    jnaStage_Depend(stage, "bound rule 7\n");
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    Work work = {0};
    jnaWorkspaceOffsets found = {0};
    jnResult result = jn_ok;
    JN_TRY(LoadWork(run->workspace, &work, error));
    JN_TRY(Find(&run->workspace->manifest, &work, &found, error));
    JN_TRY(Save(run->workspace->path, &work, &found, error));
    Tell(&work, &found, run->notes);
done:
    DestroyOffsets(&found);
    DestroyWork(&work);
    return result;
}

const jnaStageKind jnaOffsetsStage = {"offsets", Describe, Run};
