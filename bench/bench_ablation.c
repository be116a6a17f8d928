// jounce-bench modes --ablation WORKSPACE: what each part of the springs on modes is worth.
//
// For every way of making the modes, the share of the simulated dynamics that they capture on the quasistatic targets,
// over the clips learned from and over the others, of all vertices and of the tenth that moves most against its targets
// in the clips learned from. "Best" are the amplitudes that come closest in every frame: what the shapes could hold.
#include "ablation.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "learn/modal_fit.h"
#include "learn/shape_fit.h"
#include "workspace/volume_store.h"

#include "runtime/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_SHARE 0.1

// One way of making and playing modes.
typedef struct Way {
    const char* name;
    jnaModesDef def;
    bool best, fit, standing; // amplitudes from the motion; numbers learned; frames as if they did not turn
    bool fromMotion, atRest;  // components of the motion; modes of the rest pose
    bool shapes;              // learned as well, from shakes and clips seen
    jnbLesson lesson;         // what numbers are learned from
} Way;

static jnResult OpenTake(jnbScene* s, int index, jnbTake* take, jnError* error)
{
    const jnaTake* of = &s->workspace.takes[index];
    if (of->motion.scalar != jna_float32 || !jnaTake_IsWhole(of)) {
        return jnFail(error, jn_badData, "the motion of clip '%s' is not float32 throughout, or has gaps",
            s->workspace.manifest->clips[of->clip].name);
    }
    take->poses = &s->workspace.clips[of->clip];
    take->first = of->first;
    JN_PASS(jnaTakes_OpenTargets(&s->workspace, index, jna_targetsQuasistatic, &take->targets, error));
    JN_PASS(jnaTakes_MakeFrames(&s->workspace, index, &take->frames, error));
    take->sequence = (jnaModalSequence){.frameCount = of->frameCount,
        .vertexCount = s->workspace.character->vertexCount,
        .dt = 1 / s->workspace.manifest->rate,
        .targets = take->targets.data,
        .rotations = take->frames.rotations,
        .turns = take->frames.turns,
        .motion = of->motion.data,
        .solved = of->counts};
    return jn_ok;
}

typedef struct Moved {
    double square;
    int vertex;
} Moved;

static int CompareMoved(const void* a, const void* b)
{
    double x = ((const Moved*)a)->square, y = ((const Moved*)b)->square;
    return x > y ? -1 : x < y;
}

static jnResult FindSoft(jnbScene* s, jnError* error)
{
    int vertices = s->workspace.character->vertexCount;
    Moved* moved = calloc((size_t)vertices, sizeof(*moved));
    s->soft = calloc((size_t)vertices, sizeof(float));
    if (moved == NULL || s->soft == NULL) {
        free(moved);
        return jnFail(error, jn_outOfMemory, "no memory for %d vertices", vertices);
    }
    for (int i = 0; i < vertices; ++i) {
        moved[i].vertex = i;
    }
    for (int t = 0; t < s->trainCount; ++t) {
        const jnaModalSequence* q = &s->takes[t].sequence;
        for (size_t i = 0; i < 3 * (size_t)q->frameCount * (size_t)vertices; ++i) {
            double d = (double)q->motion[i] - (double)q->targets[i];
            moved[i / 3 % (size_t)vertices].square += d * d;
        }
    }
    qsort(moved, (size_t)vertices, sizeof(*moved), CompareMoved);
    for (int i = 0; i < (int)(SOFT_SHARE * vertices); ++i) {
        s->soft[moved[i].vertex] = 1;
    }
    free(moved);
    return jn_ok;
}

jnResult jnbOpenScene(const char* workspace, jnbScene* s, jnError* error)
{
    JN_PASS(jnaOpenWorkspace(workspace, &s->opened, error));
    JN_PASS(jnaOpenTakes(s->opened, &s->workspace, NULL, error));
    JN_PASS(jnaLoadVolume(workspace, &s->volume, error));
    s->takes = calloc((size_t)s->workspace.count + 1, sizeof(*s->takes));
    if (s->takes == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for %d clips", s->workspace.count);
    }
    for (int i = 0; i < s->workspace.count; ++i) {
        if (jnaTakes_Has(&s->workspace, i, jna_targetsQuasistatic)) {
            s->trainCount += i < s->workspace.trainCount;
            JN_PASS(OpenTake(s, i, &s->takes[s->count++], error));
        }
    }
    if (s->trainCount == 0 || s->trainCount == s->count) {
        return jnFail(error, jn_badData,
            "%s: needs simulated and quasistatic motion of clips to train on and of others; see jounce simulate "
            "--clips",
            workspace);
    }
    JN_PASS(jnaFindMeanPose(s->opened, &s->pose, error));
    for (int i = 0; i < JNA_SHAKES; ++i) {
        JN_PASS(jnaOpenShake(s->opened, i, &s->shakes[i], error));
    }
    return FindSoft(s, error);
}

jnResult jnbFindModes(const jnbScene* s, const jnaModesDef* def, bool atRest, jnaModes* m, jnError* error)
{
    const jnaPosedFlesh posed = {s->pose.rotations, s->pose.turns, s->pose.nodes};
    return jnaFindModes(
        &s->volume, s->workspace.character, def, atRest || !s->pose.solved ? NULL : &posed, m, NULL, error);
}

void jnbCloseScene(jnbScene* s)
{
    jnaDestroyFleshPose(&s->pose);
    for (int i = 0; i < JNA_SHAKES; ++i) {
        jnaCloseShake(&s->shakes[i]);
    }
    for (int i = 0; s->takes != NULL && i < s->count; ++i) {
        jnaCloseTargets(&s->takes[i].targets);
        jnaDestroyTakeFrames(&s->takes[i].frames);
    }
    free(s->takes);
    free(s->soft);
    jnaDestroyVolume(&s->volume);
    jnaCloseTakes(&s->workspace);
    jnaCloseWorkspace(s->opened);
}

// Sums over a take: what is left and the layer, of all vertices and of the soft ones.
static void AddSums(const jnbScene* s, const jnaModes* m, const jnaModalSequence* q, const double* z, double sums[4])
{
    double layers[2] = {0};
    size_t width = 3 * (size_t)q->vertexCount;
    for (size_t i = 0; i < (size_t)q->frameCount * width; ++i) {
        if (!jnaModalSequence_Counts(q, (int)(i / width))) {
            continue;
        }
        double d = (double)q->motion[i] - (double)q->targets[i];
        layers[0] += d * d;
        layers[1] += (double)s->soft[i / 3 % (size_t)q->vertexCount] * d * d;
    }
    for (int i = 0; i < 2; ++i) {
        double captured = jnaModes_Captured(m, q, z, 0, q->frameCount, i == 1 ? s->soft : NULL);
        sums[2 * i] += isfinite(captured) ? (1 - captured) * layers[i] : 0;
        sums[2 * i + 1] += layers[i];
    }
}

// Captured below this is no motion of flesh any more.
#define DIVERGED (-10.0)

jnResult jnbPrintWay(
    const jnbScene* s, const char* name, const jnaModes* m, jnbPlayTake* play, void* user, jnError* error)
{
    jnResult result = jn_ok;
    double sums[2][4] = {{0}};
    for (int t = 0; result == jn_ok && t < s->count; ++t) {
        const jnbTake* take = &s->takes[t];
        double* z = calloc((size_t)take->sequence.frameCount * (size_t)m->modeCount + 1, sizeof(double));
        result = z != NULL ? play(s, m, take, user, z, error)
                           : jnFail(error, jn_outOfMemory, "no memory for %d frames", take->sequence.frameCount);
        if (result == jn_ok) {
            AddSums(s, m, &take->sequence, z, sums[t >= s->trainCount]);
        }
        free(z);
    }
    if (result == jn_ok) {
        printf("  %-46s %5d", name, m->modeCount);
        for (int i = 0; i < 4; ++i) {
            const double* pair = sums[i / 2] + 2 * (i % 2);
            double captured = 1 - pair[0] / pair[1];
            if (captured > DIVERGED) {
                printf(" %8.3f", captured);
            } else {
                printf(" diverges");
            }
        }
        printf("\n");
        fflush(stdout);
    }
    return result;
}

static jnResult Play(const jnbScene* s, const jnaModes* m, const jnbTake* take, void* user, double* z, jnError* error)
{
    const Way* way = user;
    jnaModalSequence q = take->sequence;
    q.turns = way->standing ? NULL : q.turns;
    if (way->best) {
        return jnaModes_Observe(m, s->workspace.character, &q, z, error);
    }
    size_t size = (size_t)q.frameCount * (size_t)m->modeCount;
    double* starts = calloc(2 * size + 1, sizeof(double));
    if (starts == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for %d frames", q.frameCount);
    }
    jnResult result = jn_ok;
    JN_TRY(jnaModes_Force(m, &q, starts, starts + size, error));
    JN_TRY(jnaModes_Run(m, &q, &(jnaModalDrive){starts, starts + size, NULL}, z, NULL, error));
done:
    free(starts);
    return result;
}

// All clips as one list, those to learn from first; freed by the caller.
static jnaModalSequence* ListSequences(const jnbScene* s, jnError* error)
{
    jnaModalSequence* sequences = calloc((size_t)s->count, sizeof(*sequences));
    if (sequences == NULL) {
        jnFail(error, jn_outOfMemory, "no memory for %d clips", s->count);
    }
    for (int t = 0; sequences != NULL && t < s->count; ++t) {
        sequences[t] = s->takes[t].sequence;
    }
    return sequences;
}

jnResult jnbLearn(const jnbScene* s, jnbLesson lesson, jnaModes* m, jnError* error)
{
    jnaModalSequence shakes[JNA_SHAKES];
    int shakeCount = 0;
    for (int i = 0; i < JNA_SHAKES; ++i) {
        shakes[shakeCount] = s->shakes[i].sequence;
        shakeCount += s->shakes[i].sequence.frameCount == s->shakes[i].clip.frameCount;
    }
    jnaModalSequence* sequences = ListSequences(s, error);
    if (sequences == NULL) {
        return jn_outOfMemory;
    }
    const jnaModalSequence* lists[] = {shakes, sequences, sequences + s->trainCount};
    const int counts[] = {shakeCount, s->trainCount, s->count - s->trainCount};
    jnaModalFitDef def = jnaDefaultModalFitDef();
    def.modes = m;
    def.character = s->workspace.character;
    def.sequences = lists[lesson];
    def.sequenceCount = counts[lesson];
    def.prior = lesson == jnb_seenClips ? def.prior : JNA_SHAKEN_PRIOR;
    jnaModalFit fit;
    jnResult result = jn_ok;
    JN_TRY(jnaFitModes(&def, &fit, error));
    memcpy(m->stiffness, fit.stiffness, (size_t)m->modeCount * sizeof(double));
    memcpy(m->damping, fit.damping, (size_t)m->modeCount * sizeof(double));
    memcpy(m->gain, fit.gain, (size_t)m->modeCount * sizeof(double));
    jnaDestroyModalFit(&fit);
done:
    free(sequences);
    return result;
}

// As `jounce fit` does after the numbers, but with the forces of clips from their vertices.
static jnResult LearnShapes(const jnbScene* s, jnaModes* m, jnError* error)
{
    jnaArena arena = {0};
    size_t numbers = 3 * (size_t)m->modeCount * (size_t)m->vertexCount;
    jnaModalSequence* sequences = jnaArena_Take(&arena, s->trainCount + JNA_SHAKES, sizeof(*sequences));
    float* shapes = jnaArena_Take(&arena, (int64_t)numbers, sizeof(float));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "shapes", error));
    for (int i = 0; i < JNA_SHAKES + s->trainCount; ++i) {
        sequences[i] = i < JNA_SHAKES ? s->shakes[i].sequence : s->takes[i - JNA_SHAKES].sequence;
    }
    JN_TRY(jnaFitShapes(m, sequences, JNA_SHAKES + s->trainCount, JNA_SHAPE_PRIOR, shapes, error));
    memcpy(m->shapes, shapes, numbers * sizeof(float));
done:
    jnaReleaseArena(&arena);
    return result;
}

static jnResult MakeFromMotion(const jnbScene* s, jnaModes* m, jnError* error)
{
    jnaModalSequence* sequences = ListSequences(s, error);
    jnaDataModesDef def = jnaDefaultDataModesDef();
    def.character = s->workspace.character;
    def.sequences = sequences;
    def.sequenceCount = s->trainCount;
    jnResult result = sequences != NULL ? jnaFindDataModes(&def, m, error) : jn_outOfMemory;
    free(sequences);
    return result;
}

enum {
    PLAIN,
    BEST,
    LINEAR,
    STANDING,
    SURFACE,
    MIXED,
    LOCAL,
    THRESHOLD,
    MORE,
    FEWER,
    AT_REST,
    FITTED,
    FITTED_SHAPES,
    FITTED_CLIPS,
    FITTED_UNSEEN,
    FITTED_LINEAR,
    FITTED_AT_REST,
    MOTION,
    WAYS
};

static void MakeWays(const jnaModesDef* def, Way ways[WAYS])
{
    const Way list[WAYS] = {[PLAIN] = {.name = "as found"},
        [BEST] = {.name = "best amplitudes of these modes", .best = true},
        [LINEAR] = {.name = "forces do not level off"},
        [STANDING] = {.name = "turning of frames ignored", .standing = true},
        [SURFACE] = {.name = "least squares on the surface projects"},
        [MIXED] = {.name = "not localised"},
        [LOCAL] = {.name = "localised up to a coupling of 15 %, not 2 %"},
        [THRESHOLD] = {.name = "vertices below 5 % left out, not 2 %"},
        [MORE] = {.name = "twice as many"},
        [FEWER] = {.name = "half as many"},
        [AT_REST] = {.name = "of the rest pose, not of the mean pose", .atRest = true},
        [FITTED] = {.name = "numbers learned from shakes", .fit = true},
        [FITTED_SHAPES] = {.name = "numbers and shapes learned", .fit = true, .shapes = true},
        [FITTED_CLIPS] = {.name = "numbers learned from the clips seen", .fit = true, .lesson = jnb_seenClips},
        [FITTED_UNSEEN] = {.name = "numbers learned from the clips not seen", .fit = true, .lesson = jnb_unseenClips},
        [FITTED_AT_REST] = {.name = "numbers learned, of the rest pose", .fit = true, .atRest = true},
        [FITTED_LINEAR] = {.name = "numbers learned, forces do not level off", .fit = true},
        [MOTION] = {.name = "components of the motion, numbers learned",
            .fit = true,
            .fromMotion = true,
            .lesson = jnb_seenClips}};
    for (int i = 0; i < WAYS; ++i) {
        ways[i] = list[i];
        ways[i].def = *def;
    }
    ways[LINEAR].def.speed = ways[FITTED_LINEAR].def.speed = 0;
    ways[SURFACE].def.kind = jna_projectSurface;
    ways[MIXED].def.mixing = 0;
    ways[LOCAL].def.mixing = 0.15;
    ways[THRESHOLD].def.threshold = 0.05;
    ways[MORE].def.count *= 2;
    ways[FEWER].def.count /= 2;
}

int jnbBenchAblation(const char* workspace)
{
    Way ways[WAYS];
    jnbScene s = {0};
    jnError error = {0};
    jnaModes modes = {0};
    jnResult result = jn_ok;
    JN_TRY(jnbOpenScene(workspace, &s, &error));
    MakeWays(&s.opened->manifest.modes, ways);
    printf("%s: share of the dynamics captured, quasistatic targets, %d clips seen, %d not\n"
           "  %-46s %5s %8s %8s %8s %8s\n",
        workspace, s.trainCount, s.count - s.trainCount, "", "modes", "seen", "soft", "unseen", "soft");
    for (int i = 0; i < WAYS; ++i) {
        JN_TRY(ways[i].fromMotion ? MakeFromMotion(&s, &modes, &error)
                                  : jnbFindModes(&s, &ways[i].def, ways[i].atRest, &modes, &error));
        JN_TRY(ways[i].fit ? jnbLearn(&s, ways[i].lesson, &modes, &error) : jn_ok);
        JN_TRY(ways[i].shapes ? LearnShapes(&s, &modes, &error) : jn_ok);
        JN_TRY(jnbPrintWay(&s, ways[i].name, &modes, Play, &ways[i], &error));
        jnaDestroyModes(&modes);
    }
    JN_TRY(jnbPrintTrials(&s, &s.opened->manifest.modes, &error));
done:
    jnaDestroyModes(&modes);
    jnbCloseScene(&s);
    return jncEnd(result, &error);
}
