// The springs of a workspace, every layer of them, learned from its clips and played on all of them.
//
// Targets and motion are arrays of the same frames; what lies between them is the dynamics layer. Springs per vertex
// are fitted to it; modes are fitted to it. Springs on skinning and one spring for all are fitted beside, for
// comparison. Of imported motion the modes are found first, in the motion itself. Numbers of the modes of simulated
// flesh are fitted to shakes of it (pipeline/shake.h), which drive all of them, and not to the clips, which drive only
// some; then their shapes are fitted to shakes and clips.
#include "pipeline/stage_fit.h"

#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "learn/modal_fit.h"
#include "learn/shape_fit.h"
#include "pipeline/engine.h"
#include "pipeline/judge.h"
#include "pipeline/shake.h"
#include "pipeline/takes.h"
#include "workspace/learned.h"
#include "workspace/modes_store.h"
#include "workspace/network_store.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Vertices that the one spring for all is learned from, spread evenly; frames that modes need.
enum { UNIFORM_VERTICES = 256, LEAST_FRAMES = 8 };
// Modes are kept while they explain the motion as well as this: they cost less and play as morph weights in engines.
#define EVEN 0.02
// A manifest that keeps the other layer is told so from this difference on.
#define WORSE 0.2

// One stretch of a clip to learn from.
typedef struct Lesson {
    int take;
    jnaStretch stretch;
    jnaArray targets, motion; // borrowed
    jnaArray counted;         // the motion without frames that do not count, borrowed
    jnaTakeFrames frames;
    float* copy; // of the motion, where the file's is not float32
    jnaModalSequence modal;
} Lesson;

typedef struct Work {
    const jnaWorkspaceFitDef* def;
    jnaTakes takes;
    jnaFitTargets kind;
    jnaArray* targets; // [takes.trainCount]
    float** counted;   // [takes.trainCount], copies of motion with frames that do not count; NULL where all do
    int lessonCount;
    Lesson* lessons;
    jnaLearned learned;
    jnaModes found;   // in the motion, where it is imported
    jnaModes fitted;  // the modes as learned, numbers owned
    int64_t* dropped; // [lessonCount], vertices times frames that the springs per vertex left out
    jnaModalFit modal;
    jnaShake shakes[JNA_SHAKES];
    bool shaken; // modes were fitted to shakes
} Work;

jnaWorkspaceFitDef jnaDefaultWorkspaceFitDef(void)
{
    const jnaFitDef springs = jnaDefaultFitDef();
    return (jnaWorkspaceFitDef){.targets = jna_targetsAuto,
        .method = springs.method,
        .dropBy = springs.dropBy,
        .drop = springs.drop,
        .prior = springs.prior};
}

void jnaDestroyWorkspaceFit(jnaWorkspaceFit* fit)
{
    free(fit->clips);
    jnaDestroySpringParts(&fit->parts);
    *fit = (jnaWorkspaceFit){0};
}

static void DestroyWork(Work* w)
{
    for (int i = 0; w->lessons != NULL && i < w->lessonCount; ++i) {
        jnaDestroyTakeFrames(&w->lessons[i].frames);
        free(w->lessons[i].copy);
    }
    free(w->lessons);
    for (int i = 0; w->targets != NULL && w->counted != NULL && i < w->takes.trainCount; ++i) {
        jnaCloseTargets(&w->targets[i]);
        free(w->counted[i]);
    }
    free(w->targets);
    free(w->counted);
    free(w->dropped);
    free(w->fitted.stiffness);
    jnaDestroyModes(&w->found);
    for (int i = 0; i < JNA_SHAKES; ++i) {
        jnaCloseShake(&w->shakes[i]);
    }
    jnaDestroyModalFit(&w->modal);
    jnaDestroyLearned(&w->learned);
    jnaCloseTakes(&w->takes);
}

// Stretches of all clips to learn from that springs can be fitted to.
static int CountStretches(const jnaTakes* t)
{
    int count = 0;
    for (int i = 0; i < t->trainCount; ++i) {
        for (jnaStretch s = {0}; jnaTake_NextStretch(&t->takes[i], JNA_LEAST_STRETCH, &s);) {
            count++;
        }
    }
    return count;
}

static jnResult OpenLessons(Work* w, jnaNotes* notes, jnError* error)
{
    const jnaTakes* t = &w->takes;
    JN_PASS(jnaTakes_NeedTraining(t, error));
    jnaArena arena = {0};
    int most = CountStretches(t), opened = 0;
    w->targets = jnaArena_Give(&arena, t->trainCount, sizeof(*w->targets));
    w->counted = jnaArena_Give(&arena, t->trainCount, sizeof(*w->counted));
    w->lessons = jnaArena_Give(&arena, most, sizeof(*w->lessons));
    w->dropped = jnaArena_Give(&arena, most, sizeof(*w->dropped));
    JN_PASS(jnaArena_Check(&arena, "clips", error));
    for (int i = 0; i < t->trainCount; ++i) {
        if (t->trainCount > 1 && !jnaTakes_Has(t, i, w->kind)) {
            jnaNotes_Add(notes, "clip %s has no %s targets and is not used for the fit",
                t->manifest->clips[t->takes[i].clip].name, jnaTargetsName(w->kind));
            continue;
        }
        jnaArray counted;
        JN_PASS(jnaTakes_OpenTargets(t, i, w->kind, &w->targets[i], error));
        JN_PASS(jnaTake_CountedMotion(&t->takes[i], &counted, &w->counted[i], error));
        opened++;
        for (jnaStretch s = {0}; jnaTake_NextStretch(&t->takes[i], JNA_LEAST_STRETCH, &s);) {
            w->lessons[w->lessonCount++] = (Lesson){.take = i,
                .stretch = s,
                .targets = jnaArray_Rows(&w->targets[i], (size_t)s.first, (size_t)s.count),
                .motion = jnaArray_Rows(&t->takes[i].motion, (size_t)s.first, (size_t)s.count),
                .counted = jnaArray_Rows(&counted, (size_t)s.first, (size_t)s.count)};
        }
    }
    if (w->lessonCount == 0 && opened > 0) {
        return jnFail(error, jn_badData,
            "no clip marked `train` has %d simulated frames on end with room for the flesh; see `jounce simulate`",
            (int)JNA_LEAST_STRETCH);
    }
    if (w->lessonCount == 0) {
        return jnFail(error, jn_badData, "no clip marked `train` has %s targets; see `jounce fit --help`",
            jnaTargetsName(w->kind));
    }
    return jn_ok;
}

// Seconds between frames: those of the clips, on average where a loop has a rate of its own.
static double FrameTime(const Work* w)
{
    double frames = 0, seconds = 0;
    for (int i = 0; i < w->lessonCount; ++i) {
        const jnaTake* take = &w->takes.takes[w->lessons[i].take];
        frames += w->lessons[i].stretch.count;
        seconds += w->lessons[i].stretch.count / w->takes.clips[take->clip].rate;
    }
    return seconds / frames;
}

static jnaFitDef BaseDef(const Work* w, const jnaSequence* sequences)
{
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = sequences;
    def.sequenceCount = w->lessonCount;
    def.dt = FrameTime(w);
    def.method = w->def->method;
    def.dropBy = w->def->dropBy;
    def.drop = w->def->drop;
    def.prior = w->def->prior;
    def.threads = w->def->threads;
    return def;
}

// An array of floats that somebody else owns.
static jnaArray Borrow(const float* data, size_t frames, size_t vertices)
{
    return (jnaArray){.scalar = jna_float32,
        .dimensions = 3,
        .shape = {frames, vertices, 3},
        .count = 3 * frames * vertices,
        .data = data};
}

// Springs per vertex, to all frames and then without the worst; and what the one is worth against the other.
static jnResult FitVertices(Work* w, const jnaSequence* sequences, jnaWorkspaceFit* out, jnError* error)
{
    jnaFitDef def = BaseDef(w, sequences);
    jnaFit fit = {0};
    def.watch = w->def->watch;
    jnResult result = jnaFitSprings(&def, &fit, error);
    if (result == jn_ok) {
        size_t at = 0;
        for (int i = 0; i < w->lessonCount; ++i) {
            for (size_t n = 0; n < sequences[i].targets.shape[0]; ++n) {
                w->dropped[i] += fit.dropped[at++];
            }
        }
        double kept = (double)(fit.keptCount > 0 ? fit.keptCount : 1);
        out->lossBefore = fit.firstKeptLoss / kept;
        out->lossAfter = fit.totalLoss / kept;
        out->capturedBefore = fit.firstKeptCaptured;
        out->capturedAfter = fit.keptCaptured;
        out->capturedAllBefore = fit.firstCaptured;
        out->capturedAllAfter = fit.totalCaptured;
        out->vertexCount = fit.vertexCount;
        out->frames = fit.frameCount;
        out->keptFrames = (int)lround((double)fit.keptCount / fit.vertexCount);
        out->atBound = fit.atBound;
        out->weak = fit.weak;
        jnaParts parts = {0};
        result = jnaPartsOfWorkspace(w->takes.workspace, &parts, error);
        if (result == jn_ok) {
            result = jnaSortSprings(w->takes.character, &parts, fit.stiffness, fit.damping, &out->parts, error);
        }
        jnaDestroyParts(&parts);
        w->learned.stiffness = fit.stiffness;
        w->learned.damping = fit.damping;
        fit.stiffness = fit.damping = NULL;
    }
    jnaDestroyFit(&fit);
    return result;
}

// One spring for all: some vertices of every clip, each as a sequence of the same spring.
static jnResult FitUniform(Work* w, const jnaSequence* sequences, jnaWorkspaceFit* out, jnError* error)
{
    size_t vertices = (size_t)w->takes.character->vertexCount, numbers = 0, used = 0;
    size_t picked = vertices < UNIFORM_VERTICES ? vertices : UNIFORM_VERTICES;
    for (int i = 0; i < w->lessonCount; ++i) {
        numbers += 6 * sequences[i].targets.shape[0] * picked;
    }
    jnaSequence* list = calloc((size_t)w->lessonCount * picked, sizeof(*list));
    float* data = malloc((numbers + 1) * sizeof(float));
    jnaFit fit = {0};
    jnResult result = jn_ok;
    JN_TRY(list != NULL && data != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory to fit"));
    for (size_t i = 0; i < (size_t)w->lessonCount * picked; ++i) {
        const jnaSequence* from = &sequences[i / picked];
        size_t frames = from->targets.shape[0], v = i % picked * vertices / picked;
        list[i] = (jnaSequence){
            .targets = Borrow(data + used, frames, 1), .dynamics = Borrow(data + used + 3 * frames, frames, 1)};
        for (size_t k = 0; k < 3 * frames; ++k) {
            size_t at = 3 * (k / 3 * vertices + v) + k % 3;
            data[used + k] = (float)jnaArray_Get(&from->targets, at);
            data[used + 3 * frames + k] = (float)jnaArray_Get(&from->dynamics, at);
        }
        used += 6 * frames;
    }
    jnaFitDef def = BaseDef(w, list);
    def.sequenceCount = (int)((size_t)w->lessonCount * picked);
    def.checkOrder = false;
    JN_TRY(jnaFitSprings(&def, &fit, error));
    w->learned.uniform[0] = out->uniform[0] = (double)fit.stiffness[0];
    w->learned.uniform[1] = out->uniform[1] = (double)fit.damping[0];
done:
    jnaDestroyFit(&fit);
    free(list);
    free(data);
    return result;
}

// Springs on the skinned surface, for the comparison.
static jnResult FitSkinned(Work* w, jnError* error)
{
    jnaArena arena = {0};
    jnaSequence* sequences = jnaArena_Take(&arena, w->lessonCount, sizeof(*sequences));
    jnaArray* skinned = jnaArena_Take(&arena, w->takes.trainCount, sizeof(*skinned));
    jnaFit fit = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "a fit", error));
    for (int i = 0; i < w->lessonCount; ++i) {
        const Lesson* l = &w->lessons[i];
        if (skinned[l->take].data == NULL) {
            JN_TRY(jnaTakes_OpenTargets(&w->takes, l->take, jna_targetsSkinned, &skinned[l->take], error));
        }
        size_t first = (size_t)l->stretch.first, count = (size_t)l->stretch.count;
        sequences[i] = (jnaSequence){jnaArray_Rows(&skinned[l->take], first, count), l->counted};
    }
    jnaFitDef def = BaseDef(w, sequences);
    def.checkOrder = false;
    JN_TRY(jnaFitSprings(&def, &fit, error));
    w->learned.skinnedStiffness = fit.stiffness;
    w->learned.skinnedDamping = fit.damping;
    fit.stiffness = fit.damping = NULL;
done:
    for (int i = 0; skinned != NULL && i < w->takes.trainCount; ++i) {
        jnaCloseTargets(&skinned[i]);
    }
    jnaReleaseArena(&arena);
    jnaDestroyFit(&fit);
    return result;
}

// Whether modes are found in the motion: it is imported, and springs may hang on them.
static bool IsFound(const jnaWorkspace* w)
{
    return jnaManifest_IsImported(&w->manifest) && w->manifest.springs.layer != jna_layerVertex;
}

// A stretch as modes see it.
static jnResult OpenModal(Work* w, Lesson* lesson, jnError* error)
{
    const jnaTake* take = &w->takes.takes[lesson->take];
    const jnaStretch* s = &lesson->stretch;
    JN_PASS(jnaMakeTakeFrames(
        w->takes.character, &w->takes.clips[take->clip], take->first + s->first, s->count, &lesson->frames, error));
    if (lesson->motion.scalar != jna_float32) {
        lesson->copy = malloc(lesson->motion.count * sizeof(float));
        if (lesson->copy == NULL) {
            return jnFail(error, jn_outOfMemory, "out of memory for %d frames", s->count);
        }
        for (size_t i = 0; i < lesson->motion.count; ++i) {
            lesson->copy[i] = (float)jnaArray_Get(&lesson->motion, i);
        }
    }
    lesson->modal = (jnaModalSequence){.frameCount = s->count,
        .vertexCount = w->takes.character->vertexCount,
        .dt = 1 / w->takes.clips[take->clip].rate,
        .targets = lesson->targets.data,
        .rotations = lesson->frames.rotations,
        .turns = lesson->frames.turns,
        .matrices = lesson->frames.matrices,
        .character = w->takes.character,
        .motion = lesson->copy != NULL ? lesson->copy : lesson->motion.data,
        .solved = take->counts != NULL ? take->counts + s->first : NULL};
    return jn_ok;
}

// The stretches that modes can be learned from. sequences: [lessonCount].
static jnResult OpenAllModal(Work* w, jnaModalSequence* sequences, int* count, jnaNotes* notes, jnError* error)
{
    bool whole = false;
    for (int i = 0; i < w->lessonCount; ++i) {
        const jnaTake* take = &w->takes.takes[w->lessons[i].take];
        bool first = i == 0 || w->lessons[i - 1].take != w->lessons[i].take;
        whole = first ? jnaTake_IsWhole(take) : whole;
        bool isShort = w->lessons[i].stretch.count < LEAST_FRAMES;
        if (isShort && take->restarted != NULL) {
            continue;
        }
        if (isShort || !whole) {
            if (first) {
                jnaNotes_Add(notes, "clip %s is short or has gaps: modes are not fitted to it",
                    w->takes.manifest->clips[take->clip].name);
            }
            continue;
        }
        JN_PASS(OpenModal(w, &w->lessons[i], error));
        sequences[(*count)++] = w->lessons[i].modal;
    }
    return jn_ok;
}

// Modes of imported motion, in the place of the flesh's. Motion that has none leaves springs per vertex alone.
static jnResult FindInMotion(Work* w, const jnaModalSequence* sequences, int count, jnaNotes* notes, jnError* error)
{
    jnaDataModesDef def = jnaDefaultDataModesDef();
    jnError why = {0};
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaWorkspace_Path(w->takes.workspace, path, error, "modes/modes.json"));
    (void)remove(path); // those of another fit
    w->takes.modes = NULL;
    w->takes.hasModes = false;
    w->learned.modeCount = 0;
    def.character = w->takes.character;
    def.sequences = sequences;
    def.sequenceCount = count;
    def.count = w->takes.manifest->modes.count;
    jnResult result = count > 0 ? jnaFindDataModes(&def, &w->found, &why) : jn_badData;
    if (result == jn_badData) {
        jnaNotes_Add(notes, "no modes: %s", count > 0 ? why.message : "there is no clip to find them in");
        return jn_ok;
    }
    if (result != jn_ok) {
        return jnFail(error, result, "%s", why.message);
    }
    const jnaCap* cap = &w->takes.manifest->springs.cap;
    JN_PASS(jnaCapDataModes(&def, cap->kind == jna_capFlesh ? cap->value : 0,
        cap->kind == jna_capMetres ? cap->value : 0, &w->found, error));
    w->takes.modes = &w->found;
    w->takes.hasModes = true;
    w->learned.modeCount = w->found.modeCount;
    return jnaSaveModes(w->takes.workspace->path, &w->found, error);
}

// Whether the shakes that the manifest wants are there.
static bool AreShaken(const jnaWorkspace* w)
{
    bool there = jnaManifest_Shakes(&w->manifest);
    for (int i = 0; there && i < JNA_SHAKES; ++i) {
        char folder[JNA_NAME_LENGTH + 16];
        jnaShakeFolder(i, folder);
        there = jnaWorkspace_Has(w, "%s/dynamic.json", folder);
    }
    return there;
}

// What modes are fitted to: shakes, or where there are none the clips. sequences: room for both.
static jnResult ListModal(Work* w, jnaModalSequence* sequences, int* count, jnaNotes* notes, jnError* error)
{
    jnaWorkspace* workspace = w->takes.workspace;
    w->shaken = w->takes.hasModes && AreShaken(workspace);
    for (int i = 0; w->shaken && i < JNA_SHAKES; ++i) {
        JN_PASS(jnaOpenShake(workspace, i, &w->shakes[i], error));
        if (w->shakes[i].sequence.frameCount >= LEAST_FRAMES) {
            sequences[(*count)++] = w->shakes[i].sequence;
        } else {
            jnaNotes_Add(notes, "shake %d leaves the flesh no room: modes are not fitted to it", i + 1);
        }
    }
    w->shaken = *count > 0;
    if (w->shaken) {
        return jn_ok;
    }
    if (w->takes.hasModes && jnaManifest_Shakes(&workspace->manifest)) {
        jnaNotes_Add(notes, "springs on modes are fitted to the clips; `jounce simulate --shake` makes motion that "
                            "drives all modes");
    }
    JN_PASS(OpenAllModal(w, sequences, count, notes, error));
    return IsFound(workspace) ? FindInMotion(w, sequences, *count, notes, error) : jn_ok;
}

// Shapes of modes whose numbers were fitted to shakes, by all motion whose equilibria are known: what lies between
// other targets and the motion is not vibration alone. sequences: the shakes, with room for the clips.
static jnResult FitShapes(Work* w, jnaModalSequence* sequences, int count, jnaNotes* notes, jnError* error)
{
    const jnaModes* m = w->takes.modes;
    jnaArena arena = {0};
    if (w->kind == jna_targetsQuasistatic) {
        JN_PASS(OpenAllModal(w, sequences, &count, notes, error));
    }
    w->learned.modalShapes = jnaArena_Give(&arena, (int64_t)m->modeCount * m->vertexCount, 3 * sizeof(float));
    JN_PASS(jnaArena_Check(&arena, "shapes", error));
    JN_PASS(jnaFitShapes(&w->fitted, sequences, count, JNA_SHAPE_PRIOR, w->learned.modalShapes, error));
    free(w->fitted.stiffness); // again, with the shapes and the caps that go with them
    return jnaLearned_SetModes(&w->learned, m, &w->fitted, error);
}

static jnResult FitModal(Work* w, jnaWorkspaceFit* out, jnaNotes* notes, jnError* error)
{
    jnaModalSequence* sequences = calloc((size_t)w->lessonCount + JNA_SHAKES, sizeof(*sequences));
    int count = 0;
    jnResult result = jn_ok;
    JN_TRY(sequences != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory to fit modes"));
    JN_TRY(ListModal(w, sequences, &count, notes, error));
    jnaModalFitDef def = jnaDefaultModalFitDef();
    def.modes = w->takes.modes;
    def.character = w->takes.character;
    def.sequences = sequences;
    def.sequenceCount = count;
    def.drop = w->def->drop;
    def.prior = w->shaken ? JNA_SHAKEN_PRIOR : def.prior;
    if (count > 0 && w->takes.hasModes) {
        JN_TRY(jnaFitModes(&def, &w->modal, error));
        w->learned.modalStiffness = w->modal.stiffness;
        w->learned.modalDamping = w->modal.damping;
        w->learned.modalGain = w->modal.gain;
        w->modal.stiffness = w->modal.damping = w->modal.gain = NULL;
        out->modeCount = w->modal.modeCount;
        out->modalPrior = w->modal.prior;
        JN_TRY(jnaLearned_SetModes(&w->learned, w->takes.modes, &w->fitted, error));
        JN_TRY(w->shaken ? FitShapes(w, sequences, count, notes, error) : jn_ok);
    }
done:
    free(sequences);
    return result;
}

static json_t* Finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t* PartJson(const jnaSpringPart* p)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o}", "part", p->name, "springs", p->count, "stiff_overdamped",
        p->stiffOverdamped, "soft_underdamped", p->softUnderdamped, "at_bound", p->atBound, "median_stiffness",
        Finite(p->stiffness), "median_damping", Finite(p->damping));
}

json_t* jnaSpringParts_Json(const jnaSpringParts* parts)
{
    json_t* list = json_array();
    for (int i = 0; list != NULL && i < parts->count; ++i) {
        json_array_append_new(list, PartJson(&parts->parts[i]));
    }
    return json_pack("{s:o, s:{s:i, s:i, s:i, s:i}, s:{s:o, s:o}, s:o}", "all", PartJson(&parts->all), "at_bounds",
        "stiffness_low", parts->bounds[jna_boundStiffnessLow], "stiffness_high", parts->bounds[jna_boundStiffnessHigh],
        "damping_low", parts->bounds[jna_boundDampingLow], "damping_high", parts->bounds[jna_boundDampingHigh],
        "left_right", "stiffness", Finite(parts->leftRight[0]), "damping", Finite(parts->leftRight[1]), "parts", list);
}

// Frames of a clip learned from: those that the fit dropped, and those that do not count.
static json_t* TakeJson(const Work* w, int index)
{
    const jnaTake* take = &w->takes.takes[index];
    double dropped = 0;
    for (int i = 0; i < w->lessonCount; ++i) {
        dropped += w->lessons[i].take == index ? (double)w->dropped[i] / w->takes.character->vertexCount : 0;
    }
    return json_pack("{s:s, s:i, s:i, s:i}", "clip", w->takes.manifest->clips[take->clip].name, "frames",
        take->frameCount, "dropped", (int)lround(dropped), "failed", jnaTake_Failed(take));
}

// How it came about: fit.json, last.
static jnResult SaveAccount(const Work* w, const jnaWorkspaceFit* out, jnError* error)
{
    static const char* const methods[] = {"lm", "descent"};
    static const char* const drops[] = {"vertex", "frame"};
    json_t* clips = json_array();
    for (int i = 0; i < w->takes.trainCount; ++i) {
        if (w->targets[i].data != NULL) {
            json_array_append_new(clips, TakeJson(w, i));
        }
    }
    json_t* springs = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o}", "loss_before", Finite(out->lossBefore),
        "loss_after", Finite(out->lossAfter), "captured_before", Finite(out->capturedBefore), "captured_after",
        Finite(out->capturedAfter), "captured_all_before", Finite(out->capturedAllBefore), "captured_all_after",
        Finite(out->capturedAllAfter), "at_bound", out->atBound, "weak", out->weak, "by_part",
        jnaSpringParts_Json(&out->parts));
    json_t* root = json_pack("{s:i, s:s, s:s, s:f, s:s, s:f, s:i, s:o, s:o, s:{s:f, s:f}}", "version", 2, "targets",
        jnaTargetsName(w->kind), "method", methods[w->def->method], "drop", w->def->drop, "drop_by",
        drops[w->def->dropBy], "prior", w->def->prior, "vertices", w->takes.character->vertexCount, "clips", clips,
        "vertex", springs, "uniform", "stiffness", out->uniform[0], "damping", out->uniform[1]);
    if (root != NULL && out->modeCount > 0) {
        json_object_set_new(root, "modal",
            json_pack("{s:i, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "modes", out->modeCount, "fitted_to",
                w->shaken ? "shakes" : "clips", "shapes", w->learned.modalShapes != NULL, "prior",
                Finite(w->modal.prior), "captured_physical", Finite(w->modal.startCaptured), "captured",
                Finite(w->modal.captured), "held_out_physical", Finite(w->modal.heldOutStart), "held_out",
                Finite(w->modal.heldOutCaptured)));
    }
    if (root != NULL && out->better != NULL) {
        json_object_set_new(root, "layer",
            json_pack("{s:s, s:s, s:o, s:o}", "better", out->better, "measured_on", "seen",
                jnaLayerNames[jna_layerVertex], Finite(out->explains[jna_layerVertex]), jnaLayerNames[jna_layerModal],
                Finite(out->explains[jna_layerModal])));
    }
    return jnaSaveJson(w->takes.workspace->path, "springs/fit.json", root, 9, error);
}

// Which layer is kept, by the clips that they were learned from: a choice is learning, too.
static void Choose(const Work* w, const jnaEvaluation* e, jnaWorkspaceFit* out, jnaNotes* notes)
{
    static const jnaMethod methods[] = {jna_methodVertex, jna_methodModal};
    static const char* const what[] = {"springs per vertex", "springs on modes"};
    const jnaSpringLayer set = w->takes.manifest->springs.layer;
    for (int i = 0; i < 2; ++i) {
        const jnaEvaluationRow* row = jnaEvaluatedClip_Find(&e->seen, methods[i], w->kind, false);
        out->explains[i] = row != NULL ? row->captured : (double)NAN;
    }
    double vertex = out->explains[jna_layerVertex], modal = out->explains[jna_layerModal];
    jnaSpringLayer better = !isfinite(modal)                              ? jna_layerVertex
                            : !isfinite(vertex) || modal >= vertex - EVEN ? jna_layerModal
                                                                          : jna_layerVertex;
    jnaSpringLayer kept = set == jna_layerAuto ? better : set, other = (jnaSpringLayer)(1 - (int)kept);
    bool worse = isfinite(modal) && out->explains[other] - out->explains[kept] > WORSE;
    out->better = jnaLayerNames[better];
    if (set == jna_layerAuto && isfinite(modal)) {
        jnaNotes_Add(notes,
            "%s are kept: they explain %.2f of the motion of the training clips, %s %.2f (springs.layer in the "
            "manifest fixes it)",
            what[kept], out->explains[kept], what[other], out->explains[other]);
    } else if (set != jna_layerAuto && worse) {
        jnaNotes_Add(notes, "springs.layer is %s: %s explain %.2f of the motion of the training clips, %s %.2f",
            jnaLayerNames[kept], what[kept], out->explains[kept], what[other], out->explains[other]);
    }
}

// Plays all clips with every layer that was learned.
static jnResult JudgeAll(Work* w, jnaWorkspaceFit* out, jnaNotes* notes, jnError* error)
{
    static const jnaMethod methods[] = {jna_methodVertex, jna_methodModal};
    int layers = w->learned.modalStiffness != NULL ? 2 : 1;
    jnaPlayer players[2] = {{0}};
    jnaWay ways[2];
    jnaEvaluation evaluation = {0};
    jnResult result = jn_ok;
    for (int i = 0; i < layers; ++i) {
        const jnaLearned* l = &w->learned;
        jnaPlayerDef def = {.character = w->takes.character,
            .stiffness = i == 0 ? l->stiffness : NULL,
            .damping = i == 0 ? l->damping : NULL,
            .modes = i > 0 ? &w->fitted : NULL,
            .network = i > 0 && w->takes.hasNetwork ? w->takes.network : NULL,
            .rate = w->takes.manifest->rate};
        JN_TRY(jnaMakePlayer(&def, &players[i], error));
        ways[i] = (jnaWay){methods[i], w->kind, jn_timingExact, &players[i], false};
    }
    jnaEvaluateDef def = {.threads = w->def->threads};
    JN_TRY(jnaJudge(&w->takes, ways, layers, &def, &evaluation, error));
    Choose(w, &evaluation, out, notes);
    out->clips = calloc((size_t)(evaluation.clipCount * layers) + 1, sizeof(*out->clips));
    if (out->clips == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for %d clips", evaluation.clipCount));
    }
    for (int i = 0; i < evaluation.clipCount; ++i) {
        const jnaEvaluatedClip* c = &evaluation.clips[i];
        for (int k = 0; k < c->rowCount; ++k) {
            const jnaEvaluationRow* r = &c->rows[k];
            jnaClipFit* to = &out->clips[out->clipCount++];
            *to = (jnaClipFit){.layerName = jnaMethodName(r->method),
                .trained = c->trained,
                .frameCount = c->frameCount,
                .layer = r->layer,
                .error = r->rms,
                .captured = r->captured,
                .capturedSoft = r->capturedSoft};
            memcpy(to->name, c->name, sizeof(to->name));
        }
    }
done:
    for (int i = 0; i < layers; ++i) {
        jnaDestroyPlayer(&players[i]);
    }
    jnaDestroyEvaluation(&evaluation);
    return result;
}

static jnResult FitAll(Work* w, jnaWorkspaceFit* out, jnaNotes* notes, jnError* error)
{
    jnaSequence* sequences = calloc((size_t)w->lessonCount, sizeof(*sequences));
    if (sequences == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", w->lessonCount);
    }
    for (int i = 0; i < w->lessonCount; ++i) {
        sequences[i] = (jnaSequence){w->lessons[i].targets, w->lessons[i].counted};
    }
    jnResult result = jn_ok;
    JN_TRY(FitVertices(w, sequences, out, error));
    JN_TRY(FitUniform(w, sequences, out, error));
    JN_TRY(FitSkinned(w, error));
    if (w->takes.hasModes || IsFound(w->takes.workspace)) {
        JN_TRY(FitModal(w, out, notes, error));
    }
done:
    free(sequences);
    return result;
}

// What springs will be learned on, by the files that are there: as jnaTakes_Choose, without opening them.
static jnaFitTargets FindTargets(const jnaWorkspace* w, jnaFitTargets asked, int* trained)
{
    bool solved = true;
    *trained = 0;
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        const jnaManifestClip* clip = &w->manifest.clips[i];
        bool moves = jnaWorkspace_Has(w, "motion/%s/dynamic.npy", clip->name) ||
                     jnaWorkspace_Has(w, "clips/%s/motion.npy", clip->name);
        if (clip->role == jna_train && moves) {
            ++*trained;
            solved = solved &&
                     jnaWorkspace_Has(w,
                         clip->shapes != NULL ? "clips/%s/quasistatic.npy" : "motion/%s/quasistatic.npy", clip->name);
        }
    }
    bool network = w->manifest.network.kind != jn_networkNone && jnaPlaysNetwork(w->path);
    return asked != jna_targetsAuto ? asked
           : solved && *trained > 0 ? jna_targetsQuasistatic
           : network                ? jna_targetsNetwork
                                    : jna_targetsSkinned;
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const modes[] = {"modes/stiffness.npy", "modes/damping.npy", "modes/projections.npy",
        "modes/limits.npy", "modes/shapes.npy", NULL};
    // Springs are judged by playing them: with the network, the modes' caps and the regions of the flesh.
    static const char* const judges[] = {"stages/volume.json", "stages/inside.json", "stages/modes.json",
        "stages/offsets.json", "stages/train.json", "network/parameters.npy", NULL};
    static const char* const outputs[] = {
        "springs", "springs/stiffness.npy", "springs/damping.npy", "springs/fit.json", NULL};
    const jnaWorkspace* w = run->workspace;
    const jnaWorkspaceFitDef own = jnaDefaultWorkspaceFitDef(), *def = run->def != NULL ? run->def : &own;
    int trained = 0;
    jnaFitTargets kind = FindTargets(w, def->targets, &trained);
    (void)error;
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        // The account of a simulated motion, or the imported motion itself.
        const jnaManifestClip* clip = &w->manifest.clips[i];
        if (clip->role != jna_train) {
            continue;
        }
        bool simulated = clip->motion == NULL && jnaWorkspace_Has(w, "motion/%s/dynamic.json", clip->name);
        jnaStage_Read(stage, w->path, simulated ? "motion/%s/dynamic.json" : "clips/%s/motion.npy", clip->name);
        if (kind == jna_targetsQuasistatic) {
            jnaStage_Read(stage, w->path,
                clip->shapes != NULL ? "clips/%s/quasistatic.npy" : "motion/%s/quasistatic.json", clip->name);
        }
    }
    jnaStage_Read(stage, NULL, "stages/import.json");
    bool shaken = AreShaken(w);
    for (int i = 0; shaken && i < JNA_SHAKES; ++i) {
        char folder[JNA_NAME_LENGTH + 16];
        jnaShakeFolder(i, folder);
        jnaStage_Read(stage, w->path, "%s/dynamic.json", folder);
    }
    if (IsFound(w)) {
        const jnaCap* cap = &w->manifest.springs.cap;
        jnaStage_Depend(stage, "modes of the motion, at most %d\ncap %d %.17g\n", w->manifest.modes.count,
            (int)cap->kind, cap->value);
    } else {
        jnaStage_ReadAll(stage, w->path, modes);
    }
    jnaStage_ReadAll(stage, w->path, judges);
    jnaStage_MakeAll(stage, outputs);
    if (w->manifest.springs.layer == jna_layerAuto) {
        jnaStage_Depend(stage, "layer auto\n");
    }
    bool network = w->manifest.network.kind != jn_networkNone;
    jnaStage_Depend(stage,
        "force of joints\ntargets %s\ndrop %.17g by %d\nmethod %d\nprior %.17g\nclips %d\nnetwork %d\nshakes %d\n",
        jnaTargetsName(kind), def->drop, (int)def->dropBy, (int)def->method, def->prior, trained, (int)network,
        (int)shaken);
    jnaStage_Depend(stage, "stretches\n");
    if (shaken) {
        jnaStage_Depend(stage, "shapes held by %.17g\n", JNA_SHAPE_PRIOR);
    }
    return jn_ok;
}

static jnResult Fit(Work* w, jnaWorkspaceFit* fit, jnaNotes* notes, jnError* error)
{
    const char* path = w->takes.workspace->path;
    fit->targets = w->kind = jnaTakes_Choose(&w->takes, w->def->targets);
    w->learned.vertexCount = w->takes.character->vertexCount;
    w->learned.modeCount = w->takes.hasModes ? w->takes.modes->modeCount : 0;
    JN_PASS(jnaTakes_NeedTraining(&w->takes, error));
    JN_PASS(OpenLessons(w, notes, error));
    JN_PASS(FitAll(w, fit, notes, error));
    JN_PASS(jnaSaveLearned(path, &w->learned, error));
    JN_PASS(JudgeAll(w, fit, notes, error));
    return SaveAccount(w, fit, error);
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    jnaWorkspaceFitDef own = jnaDefaultWorkspaceFitDef();
    own.threads = run->threads;
    own.watch = run->watch;
    jnaWorkspaceFit local, *fit = run->report != NULL ? run->report : &local;
    *fit = (jnaWorkspaceFit){.made = true};
    Work w = {.def = run->def != NULL ? run->def : &own};
    jnResult result = jnaOpenTakes(run->workspace, &w.takes, run->notes, error);
    if (result == jn_ok) {
        result = Fit(&w, fit, run->notes, error);
        DestroyWork(&w);
    }
    if (result != jn_ok || fit == &local) {
        jnaDestroyWorkspaceFit(fit);
    }
    return result;
}

const jnaStageKind jnaFitStage = {"fit", Describe, Run};

jnResult jnaFitWorkspace(
    const char* workspace, const jnaWorkspaceFitDef* def, jnaWorkspaceFit* fit, jnaNotes* notes, jnError* error)
{
    *fit = (jnaWorkspaceFit){0};
    jnaStageRun run = {.def = def, .report = fit, .force = !def->keep, .notes = notes};
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspaceToWrite(workspace, "jounce fit", &run.workspace, error));
    JN_TRY(jnaStageKind_Run(&jnaFitStage, &run, error));
done:
    jnaCloseWorkspace(run.workspace);
    return result;
}
