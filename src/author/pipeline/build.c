// The order in which a workspace is brought up to date, what there is to do, and how far it is.
//
// The plan only tells: every stage looks for itself whether it must run when its turn comes, so that a plan made from
// old files costs a wrong estimate and nothing else. Progress weighs the stages by their estimates; the time left is
// what is left of them at the speed seen so far.
#include "pipeline/build.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/try.h"
#include "pipeline/build_internal.h"
#include "pipeline/inspection_store.h"
#include "volume/tetrahedralize.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Seconds by the estimates after which the speed seen so far is believed.
#define LEARNED_SPEED 3.0

jnaBuildDef jnaDefaultBuildDef(void)
{
    return (jnaBuildDef){.until = jna_buildReport};
}

const char* jnaBuildStageName(jnaBuildStage stage)
{
    return jnaBuildKinds[stage]->name;
}

bool jnaBuild_Tell(jnaBuild* b, double share, const char* format, ...)
{
    if (b->def->watch.tell == NULL) {
        return true;
    }
    const jnaBuildStep* step = &b->steps[b->at];
    double done = b->done + step->estimate * share, left = b->total - done, spent = jnaWallClock() - b->started;
    jnaProgress p = {.share = b->total > 0 ? done / b->total : 0};
    p.part.name = jnaBuildStageName(b->at);
    p.part.share = share;
    p.secondsLeft = fmax(0, done > LEARNED_SPEED ? left * spent / done : left);
    for (int i = 0; i < jna_buildStageCount; ++i) {
        bool runs = b->steps[i].needed && (!b->steps[i].fresh || b->steps[i].made || i == (int)b->at);
        p.part.count += runs;
        p.part.number += runs && i <= (int)b->at;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p.detail, sizeof(p.detail), format, arguments);
    va_end(arguments);
    return jnaWatch_Show(&b->def->watch, &p);
}

bool jnaBuild_Learns(const jnaBuild* b)
{
    bool imported = jnaManifest_IsImported(b->manifest);
    for (int i = 0; b->manifest->springs.mode == jna_springsFitted && i < b->manifest->clipCount; ++i) {
        const jnaManifestClip* clip = &b->manifest->clips[i];
        if (clip->role == jna_train && clip->frames != 0 && (!imported || clip->motion != NULL)) {
            return true;
        }
    }
    return false;
}

jnResult jnaBuild_Open(jnaBuild* b, jnError* error)
{
    return b->simulation != NULL ? jn_ok : jnaCreateSimulation(b->workspace, &b->simulation, error);
}

static void CloseSimulation(jnaBuild* b)
{
    jnaCloseSimulation(b->simulation);
    b->simulation = NULL;
}

// Nodes of the flesh that is there; false where its description cannot be read.
static bool CountNodes(jnaBuild* b)
{
    json_t* root = NULL;
    (void)jnaLoadJson(b->workspace->path, "volume/volume.json", &root, NULL);
    const json_t* nodes = json_object_get(root, "nodes");
    bool there = json_is_integer(nodes);
    b->nodeCount = (int)json_integer_value(nodes);
    b->fleshless = there && b->nodeCount == 0;
    json_decref(root);
    return there;
}

// What there is to estimate by. The character must be imported.
static jnResult Measure(jnaBuild* b, jnError* error)
{
    const jnaCharacter* character;
    const jnaClip* clips;
    JN_PASS(jnaWorkspace_Character(b->workspace, &character, error));
    JN_PASS(jnaWorkspace_Clips(b->workspace, &clips, error));
    b->vertexCount = character->vertexCount;
    for (int i = 0; i < b->manifest->clipCount; ++i) {
        const jnaManifestClip* entry = &b->manifest->clips[i];
        int first, count = 0;
        JN_PASS(jnaManifestClip_Part(entry, clips[i].frameCount, &first, &count, error));
        b->trainFrames += entry->role == jna_train ? count : 0;
        if (entry->motion != NULL || entry->shapes != NULL) {
            b->importedFrames += count;
        } else {
            b->frameCount += count;
            b->longestFrames = count > b->longestFrames ? count : b->longestFrames;
        }
    }
    return jn_ok;
}

// How much flesh there is, or whether there is any: counted where it is there, else foreseen from the surface.
static jnResult LookForFlesh(jnaBuild* b, jnError* error)
{
    if (b->steps[jna_buildVolume].fresh && CountNodes(b)) {
        if (b->fleshless) { // else it is told when it is made
            jnaNotes_Add(b->notes, "all parts of the character are rigid: it has no flesh and plays as plain skinning");
        }
        return jn_ok;
    }
    const jnaCharacter* character;
    jnaVolumeForecast forecast;
    jnError ignored; // a surface that cannot be filled is the volume's to tell
    JN_PASS(jnaWorkspace_Character(b->workspace, &character, error));
    bool known = jnaForeseeVolume(character, &b->manifest->volume, &forecast, &ignored) == jn_ok;
    b->fleshless = known && !forecast.hasFlesh;
    b->nodeCount = known ? forecast.nodes : b->vertexCount;
    b->lattice = known && forecast.method == jna_volumeLattice;
    b->partCount = forecast.parts;
    return jn_ok;
}

static bool TellStage(const jnaProgress* progress, void* user)
{
    return jnaBuild_Tell(user, progress->share, "%s", progress->detail);
}

// The engine's run of a stage.
static jnaStageRun RunOf(jnaBuild* b, const jnaBuildKind* kind)
{
    jnaStageRun run = {.workspace = b->workspace, .threads = b->threads, .watch = {TellStage, b}, .notes = b->notes};
    if (kind->prepare != NULL) {
        kind->prepare(b, &run);
    }
    return run;
}

static const jnaStageKind* PartOf(const jnaBuild* b, const jnaBuildKind* kind, int i)
{
    return i >= 2 ? NULL : kind == jnaBuildKinds[jna_buildReport] && i == 0 ? b->def->report : kind->parts[i];
}

// Whether a stage is up to date: all its parts are, in their order.
static jnResult Look(jnaBuild* b, jnaBuildStage stage, jnError* error)
{
    const jnaBuildKind* kind = jnaBuildKinds[stage];
    jnaBuildStep* step = &b->steps[stage];
    const jnaStageRun run = RunOf(b, kind);
    bool stale = false;
    if (kind->look != NULL) {
        return kind->look(b, step, error);
    }
    jnResult result = jn_ok;
    for (int i = 0; PartOf(b, kind, i) != NULL && result == jn_ok && !stale; ++i) {
        result = jnaStageKind_IsStale(PartOf(b, kind, i), &run, &stale, step->reason, error);
    }
    step->fresh = result == jn_ok && !stale;
    return result;
}

static jnResult RunParts(jnaBuild* b, jnaBuildStage stage, jnError* error)
{
    const jnaBuildKind* kind = jnaBuildKinds[stage];
    jnaBuildStep* step = &b->steps[stage];
    if (kind->run != NULL) { // which other runs may join
        jnaWorkspaceLock_Share(&b->workspace->lock);
        jnResult ran = kind->run(b, step, error);
        jnaWorkspaceLock_TakeAlone(&b->workspace->lock);
        return ran;
    }
    CloseSimulation(b);
    step->reason[0] = '\0';
    for (int i = 0; PartOf(b, kind, i) != NULL; ++i) {
        jnaStageRun run = RunOf(b, kind);
        jnResult result = jnaStageKind_Run(PartOf(b, kind, i), &run, error);
        step->made = step->made || run.made;
        JN_PASS(result);
    }
    return jn_ok;
}

// Looks at every stage that is needed. What comes behind a stage that must run can only be told by running that.
static jnResult MakePlan(jnaBuild* b, jnError* error)
{
    const char* before = NULL;
    jnResult result = Measure(b, error);
    for (int i = 0; result == jn_ok && i < jna_buildStageCount; ++i) {
        const jnaBuildKind* kind = jnaBuildKinds[i];
        jnaBuildStep* step = &b->steps[i];
        bool exported = i == jna_buildExport && b->def->until >= jna_buildModes;
        step->needed = kind->needed(b, step->reason);
        if (step->needed && i > (int)b->def->until && !exported) {
            step->needed = false;
            snprintf(step->reason, sizeof(step->reason), "not requested");
        }
        if (!step->needed) {
            continue;
        }
        if (before != NULL && i != jna_buildPoses && i != jna_buildMotion) {
            snprintf(step->reason, sizeof(step->reason), "after %s", before);
        } else if (i != jna_buildImport) {
            // The volume decides what poses and motion there are to solve.
            step->fresh = false;
            if (b->steps[jna_buildVolume].fresh || (i != jna_buildPoses && i != jna_buildMotion)) {
                result = Look(b, (jnaBuildStage)i, error);
            } else {
                snprintf(step->reason, sizeof(step->reason), "after volume");
            }
        }
        if (i == jna_buildVolume && result == jn_ok) {
            result = LookForFlesh(b, error);
        }
        step->estimate = step->fresh ? 0 : kind->estimate(b, step);
        before = step->fresh ? before : kind->name;
    }
    return result;
}

static jnResult RunStage(jnaBuild* b, jnaBuildStage stage, jnError* error)
{
    jnaBuildStep* step = &b->steps[stage];
    double started = jnaWallClock();
    b->at = stage;
    if (!jnaBuild_Tell(b, 0, "%s", "")) {
        return jnaWatch_Stopped(error);
    }
    // What was up to date in the plan still is, unless something before it was made since.
    jnResult result = step->fresh && !b->changed ? jn_ok : RunParts(b, stage, error);
    b->changed = b->changed || step->made;
    step->seconds = jnaWallClock() - started;
    JN_PASS(result);
    if (step->made) {
        b->done += step->estimate;
        jnaNotes_Add(b->notes, "%s: done in %.1f s%s%s", jnaBuildKinds[stage]->name, step->seconds,
            step->reason[0] != '\0' ? ", " : "", step->reason);
    } else {
        b->total -= step->estimate;
        jnaNotes_Add(b->notes, "%s: up to date", jnaBuildKinds[stage]->name);
    }
    if (stage == jna_buildExport) {
        jnaTellSurface(b->workspace->path, b->notes);
    }
    if (b->def->said != NULL && b->notes != NULL) {
        b->def->said(b->notes, b->def->user);
    }
    step->fresh = true;
    return jn_ok;
}

// The import before anything else: without it nothing is known.
static jnResult Import(jnaBuild* b, jnError* error)
{
    jnaBuildStep* step = &b->steps[jna_buildImport];
    JN_PASS(Look(b, jna_buildImport, error));
    step->needed = true;
    step->estimate = step->fresh ? 0 : 1;
    return RunStage(b, jna_buildImport, error);
}

// What can be told before the import: which stages there are. Nothing is written for a plan.
static jnResult PlanFromNothing(jnaBuild* b, jnError* error)
{
    jnaBuildStep* import = &b->steps[jna_buildImport];
    jnResult result = Look(b, jna_buildImport, error);
    import->needed = true;
    import->estimate = import->fresh ? 0 : 1;
    JN_PASS(result);
    if (import->fresh) {
        return MakePlan(b, error);
    }
    for (int i = jna_buildImport + 1; i < jna_buildStageCount; ++i) {
        jnaBuildStep* step = &b->steps[i];
        bool asked = i <= (int)b->def->until || (i == jna_buildExport && b->def->until >= jna_buildModes);
        step->needed = jnaBuildKinds[i]->needed(b, step->reason) && asked;
        if (step->needed || !asked) {
            snprintf(step->reason, sizeof(step->reason), asked ? "after import" : "not requested");
        }
    }
    return jn_ok;
}

static jnResult Build(jnaBuild* b, jnError* error)
{
    if (b->def->planOnly) {
        JN_PASS(PlanFromNothing(b, error));
    } else {
        JN_PASS(Import(b, error));
        JN_PASS(MakePlan(b, error));
    }
    if (b->def->plan != NULL) {
        b->def->plan(b->steps, b->def->user);
    }
    for (int i = 0; i < jna_buildStageCount; ++i) {
        b->total += b->steps[i].needed && i != jna_buildImport ? b->steps[i].estimate : 0;
    }
    b->started = jnaWallClock();
    b->done = 0;
    for (int i = jna_buildVolume; !b->def->planOnly && i < jna_buildStageCount; ++i) {
        if (b->steps[i].needed) {
            JN_PASS(RunStage(b, (jnaBuildStage)i, error));
        }
    }
    return jn_ok;
}

jnResult jnaBuildWorkspace(const char* workspace, const jnaBuildDef* def, jnaNotes* notes, jnError* error)
{
    int threads = omp_get_max_threads();
    jnaBuild* b = calloc(1, sizeof(*b));
    if (b == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", workspace);
    }
    b->def = def;
    b->notes = notes;
    b->threads = def->threads > 0 ? def->threads : threads;
    b->started = jnaWallClock();
    omp_set_num_threads(b->threads);
    jnResult result = jn_ok;
    JN_TRY(def->planOnly ? jnaOpenWorkspace(workspace, &b->workspace, error)
                         : jnaOpenWorkspaceToWrite(workspace, "jounce build", &b->workspace, error));
    b->manifest = &b->workspace->manifest;
    JN_TRY(Build(b, error));
done:
    omp_set_num_threads(threads);
    if (def->steps != NULL) {
        memcpy(def->steps, b->steps, sizeof(b->steps));
    }
    CloseSimulation(b);
    jnaCloseWorkspace(b->workspace);
    free(b);
    return result;
}
