// One row per way and clip: sums of squares over vertices and frames, and a histogram of distances for the percentile.
//
// The best of a kind is found clip by clip: springs per vertex fitted to the very motion that they are measured on.
//
// Soft vertices are the tenth that moves most against its equilibria (where there are none, against the network's or
// the skinned surface) in the clips learned from; the same vertices in every row. Ways run side by side, each on one
// thread, so that the sums do not depend on the number of threads.
#include "pipeline/judge.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_SHARE 0.1

// Distances from 2^-26 to 2^6 metres, 1024 bins for each power of two.
enum { LEAST_POWER = -26, POWERS = 32, BINS = POWERS * 1024 };

typedef struct Tally {
    double squares[2], layers[2]; // sums of |x - motion|^2 and |target - motion|^2; over all, over soft vertices
    int64_t counts[2];            // of vertices times frames
    uint32_t* bins;               // [BINS]
} Tally;

typedef struct Work {
    const jnaTakes* takes;
    const jnaWay* ways;
    int wayCount;
    uint8_t* soft;                      // [vertexCount]
    Tally* tallies;                     // [3][wayCount]: of the clip at hand, of all seen, of all unseen
    uint32_t* bins;                     // theirs
    jnaArray targets[jna_targetsCount]; // of the clip at hand
    jnaPlayer best[jna_targetsCount];   // springs fitted to the clip at hand
    bool hasBest[jna_targetsCount];
    jnaArena arena;
} Work;

// What a way's frames are compared with.
typedef struct Playing {
    const Work* work;
    const jnaTake* take;
    const float* targets;
    int first; // frame of the take that the played ones begin with
    Tally* tally;
} Playing;

const char* jnaMethodName(jnaMethod method)
{
    static const char* const names[] = {
        "skinned", "network", "springs_on_skinned", "uniform", "vertex", "modal_physical", "modal"};
    return names[method];
}

void jnaDestroyEvaluation(jnaEvaluation* e)
{
    for (int i = 0; e->clips != NULL && i < e->clipCount; ++i) {
        free(e->clips[i].rows);
    }
    free(e->clips);
    free(e->seen.rows);
    free(e->unseen.rows);
    *e = (jnaEvaluation){0};
}

const jnaEvaluationRow* jnaEvaluatedClip_Find(
    const jnaEvaluatedClip* clip, jnaMethod method, jnaFitTargets targets, bool causal)
{
    for (int i = 0; i < clip->rowCount; ++i) {
        const jnaEvaluationRow* row = &clip->rows[i];
        if (row->method == method && row->targets == targets && row->causal == causal) {
            return row;
        }
    }
    return NULL;
}

static size_t BinOf(double distance)
{
    int power = 0;
    double share = frexp(distance, &power); // 0.5 to 1
    if (!(distance > 0) || power < LEAST_POWER) {
        return 0;
    }
    return power >= LEAST_POWER + POWERS ? BINS - 1
                                         : (size_t)(power - LEAST_POWER) * 1024 + (size_t)((share - 0.5) * 2048);
}

// The distance below which the share lies: the middle of its bin.
static double Percentile(const Tally* t, double share)
{
    int64_t below = 0, wanted = (int64_t)ceil(share * (double)t->counts[0]);
    size_t bin = 0;
    while (bin < BINS - 1 && below + t->bins[bin] < wanted) {
        below += t->bins[bin++];
    }
    return bin == 0 ? 0 : ldexp(0.5 + ((double)(bin % 1024) + 0.5) / 2048, (int)(bin / 1024) + LEAST_POWER);
}

// Adds one frame of a way, if it counts.
static void AddFrame(int played, const float* positions, void* user)
{
    const Playing* p = user;
    int frame = p->first + played;
    if (!jnaTake_Counts(p->take, frame)) {
        return;
    }
    size_t vertices = (size_t)p->work->takes->character->vertexCount, first = 3 * vertices * (size_t)frame;
    Tally* t = p->tally;
    for (size_t v = 0; v < vertices; ++v) {
        double square = 0, layer = 0;
        for (size_t a = 0; a < 3; ++a) {
            double truth = jnaArray_Get(&p->take->motion, first + 3 * v + a);
            double left = (double)positions[3 * v + a] - truth, away = (double)p->targets[first + 3 * v + a] - truth;
            square += left * left;
            layer += away * away;
        }
        if (!isfinite(layer)) {
            continue; // missing
        }
        for (int i = 0; i <= p->work->soft[v]; ++i) {
            t->squares[i] += square;
            t->layers[i] += layer;
            t->counts[i]++;
        }
        t->bins[BinOf(sqrt(square))]++;
    }
}

// Every stretch is played from rest, as it was simulated.
static jnResult RunWay(Work* w, int take, int way, jnError* error)
{
    const jnaTake* t = &w->takes->takes[take];
    const jnaWay* of = &w->ways[way];
    const float* targets = w->targets[of->targets].data;
    size_t width = 3 * (size_t)w->takes->character->vertexCount;
    Playing playing = {.work = w, .take = t, .targets = targets, .tally = &w->tallies[way]};
    if (of->best && !w->hasBest[of->targets]) {
        return jn_ok;
    }
    if (of->player == NULL && !of->best) {
        for (int n = 0; n < t->frameCount; ++n) {
            AddFrame(n, targets + (size_t)n * width, &playing);
        }
        return jn_ok;
    }
    for (jnaStretch s = {0}; jnaTake_NextStretch(t, 1, &s);) {
        playing.first = s.first;
        if (s.count == 1) { // at rest
            AddFrame(0, targets + (size_t)s.first * width, &playing);
            continue;
        }
        jnaPlay play = {.clip = &w->takes->clips[t->clip],
            .first = t->first + s.first,
            .frameCount = s.count,
            .targets = targets + (size_t)s.first * width,
            .own = of->targets == jna_targetsNetwork && !of->best && of->player->network != NULL,
            .timing = of->timing,
            .take = AddFrame,
            .user = &playing};
        JN_PASS(jnaPlayer_Play(of->best ? &w->best[of->targets] : of->player, &play, error));
    }
    return jn_ok;
}

static double Share(double square, double layer)
{
    return layer > 0 ? 1 - square / layer : (double)NAN;
}

static double Root(double square, int64_t count)
{
    return count > 0 ? sqrt(square / (double)count) : 0;
}

// The best of a way's kind: the tally of springs fitted to each clip for itself; NULL: none.
static const Tally* FindBest(const Work* w, const Tally* tallies, const jnaWay* of)
{
    for (int i = 0; i < w->wayCount; ++i) {
        const jnaWay* way = &w->ways[i];
        if (way->best && way->method == of->method && way->targets == of->targets && way->timing == of->timing &&
            tallies[i].counts[0] > 0) {
            return &tallies[i];
        }
    }
    return NULL;
}

// Rows of what was tallied; ways that never ran have none.
static jnResult FillRows(const Work* w, const Tally* tallies, jnaEvaluatedClip* clip, jnError* error)
{
    clip->rows = calloc((size_t)w->wayCount + 1, sizeof(*clip->rows));
    if (clip->rows == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d rows", w->wayCount);
    }
    for (int i = 0; i < w->wayCount; ++i) {
        const Tally *t = &tallies[i], *best = FindBest(w, tallies, &w->ways[i]);
        if (t->counts[0] == 0 || w->ways[i].best) {
            continue;
        }
        clip->rows[clip->rowCount++] = (jnaEvaluationRow){.method = w->ways[i].method,
            .targets = w->ways[i].targets,
            .causal = w->ways[i].timing == jn_timingCausal,
            .rms = Root(t->squares[0], t->counts[0]),
            .percentile95 = Percentile(t, 0.95),
            .layer = Root(t->layers[0], t->counts[0]),
            .captured = Share(t->squares[0], t->layers[0]),
            .mean = (double)NAN,
            .meanSoft = (double)NAN,
            .rmsSoft = Root(t->squares[1], t->counts[1]),
            .layerSoft = Root(t->layers[1], t->counts[1]),
            .capturedSoft = Share(t->squares[1], t->layers[1]),
            .best = best != NULL ? Share(best->squares[0], best->layers[0]) : (double)NAN,
            .bestSoft = best != NULL ? Share(best->squares[1], best->layers[1]) : (double)NAN};
    }
    return jn_ok;
}

// Adds the clip at hand to all of its kind and forgets it.
static void Pool(Work* w, bool trained)
{
    for (int i = 0; i < w->wayCount; ++i) {
        Tally *from = &w->tallies[i], *to = &w->tallies[(trained ? 1 : 2) * w->wayCount + i];
        for (int k = 0; k < 2; ++k) {
            to->squares[k] += from->squares[k];
            to->layers[k] += from->layers[k];
            to->counts[k] += from->counts[k];
        }
        for (int k = 0; k < BINS; ++k) {
            to->bins[k] += from->bins[k];
        }
        uint32_t* bins = from->bins;
        memset(bins, 0, BINS * sizeof(uint32_t));
        *from = (Tally){.bins = bins};
    }
}

static jnResult OpenAll(Work* w, int take, jnError* error)
{
    for (int i = 0; i < w->wayCount; ++i) {
        jnaFitTargets kind = w->ways[i].targets;
        if (w->targets[kind].data == NULL && jnaTakes_Has(w->takes, take, kind)) {
            JN_PASS(jnaTakes_OpenTargets(w->takes, take, kind, &w->targets[kind], error));
        }
    }
    return jn_ok;
}

static void CloseAll(Work* w)
{
    for (int kind = 0; kind < jna_targetsCount; ++kind) {
        jnaCloseTargets(&w->targets[kind]);
        if (w->hasBest[kind]) {
            jnaDestroyPlayer(&w->best[kind]);
        }
        w->hasBest[kind] = false;
    }
}

// Springs per vertex for this take alone, on targets of a kind. Motion that is nowhere there has none.
static jnResult FitBest(Work* w, int take, jnaFitTargets kind, int threads, jnError* error)
{
    const jnaTake* of = &w->takes->takes[take];
    jnaSequence* sequences = malloc(((size_t)of->frameCount + 1) * sizeof(*sequences));
    jnaFitDef def = jnaDefaultFitDef();
    jnaFit fit = {0};
    jnError own = {0};
    float* copy = NULL;
    jnaArray motion;
    if (sequences == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d frames", of->frameCount);
    }
    def.sequences = sequences;
    def.dt = 1 / w->takes->clips[of->clip].rate;
    def.drop = def.prior = 0;
    def.threads = threads;
    def.checkOrder = false;
    jnResult result = jnaTake_CountedMotion(of, &motion, &copy, error);
    for (jnaStretch s = {0}; result == jn_ok && jnaTake_NextStretch(of, JNA_LEAST_STRETCH, &s);) {
        sequences[def.sequenceCount++] =
            (jnaSequence){jnaArray_Rows(&w->targets[kind], (size_t)s.first, (size_t)s.count),
                jnaArray_Rows(&motion, (size_t)s.first, (size_t)s.count)};
    }
    if (result == jn_ok) {
        result = def.sequenceCount > 0 ? jnaFitSprings(&def, &fit, &own) : jn_badData;
        if (result != jn_ok && result != jn_badData) {
            (void)jnFail(error, result, "%s", own.message);
        }
    }
    if (result == jn_ok) {
        jnaPlayerDef player = {.character = w->takes->character,
            .stiffness = fit.stiffness,
            .damping = fit.damping,
            .rate = w->takes->manifest->rate};
        result = jnaMakePlayer(&player, &w->best[kind], error);
        w->hasBest[kind] = result == jn_ok;
    }
    jnaDestroyFit(&fit);
    free(sequences);
    free(copy);
    return result == jn_badData ? jn_ok : result;
}

static jnResult FitAllBest(Work* w, int take, int threads, jnError* error)
{
    for (int i = 0; i < w->wayCount; ++i) {
        jnaFitTargets kind = w->ways[i].targets;
        if (w->ways[i].best && !w->hasBest[kind] && w->targets[kind].data != NULL) {
            JN_PASS(FitBest(w, take, kind, threads, error));
        }
    }
    return jn_ok;
}

static jnResult JudgeTake(Work* w, int take, int threads, jnaEvaluatedClip* clip, jnError* error)
{
    const jnaTake* t = &w->takes->takes[take];
    snprintf(clip->name, sizeof(clip->name), "%s", w->takes->manifest->clips[t->clip].name);
    clip->trained = t->trained;
    clip->frameCount = t->frameCount;
    clip->failed = jnaTake_Failed(t);
    jnResult result = jn_ok;
    JN_TRY(OpenAll(w, take, error));
    JN_TRY(FitAllBest(w, take, threads, error));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int i = 0; i < w->wayCount; ++i) {
        jnError own = {0};
        jnResult ran = w->targets[w->ways[i].targets].data != NULL ? RunWay(w, take, i, &own) : jn_ok;
        if (ran != jn_ok) {
#pragma omp critical
            {
                result = ran;
                if (error != NULL) {
                    *error = own;
                }
            }
        }
    }
    JN_TRY(result);
    JN_TRY(FillRows(w, w->tallies, clip, error));
    Pool(w, t->trained);
done:
    CloseAll(w);
    return result;
}

static int CompareDoubles(const void* a, const void* b)
{
    return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

// Sum over the frames that count of |target - motion|^2 of each vertex.
static void AddLayer(const jnaTake* take, const float* targets, size_t vertices, double* layers)
{
    for (size_t i = 0; i < take->motion.count; ++i) {
        double away = (double)targets[i] - jnaArray_Get(&take->motion, i);
        bool counts = jnaTake_Counts(take, (int)(i / (3 * vertices)));
        layers[i / 3 % vertices] += counts && isfinite(away) ? away * away : 0;
    }
}

static jnResult FindSoft(Work* w, jnError* error)
{
    const jnaTakes* t = w->takes;
    size_t vertices = (size_t)t->character->vertexCount;
    jnaArena arena = {0};
    double *layers = jnaArena_Take(&arena, (int64_t)vertices, sizeof(double)),
           *sorted = jnaArena_Take(&arena, (int64_t)vertices, sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the softest vertices", error));
    for (int i = 0; i < (t->trainCount > 0 ? t->trainCount : t->count); ++i) {
        jnaArray targets;
        jnaFitTargets kind = jnaTakes_Has(t, i, jna_targetsQuasistatic) ? jna_targetsQuasistatic
                             : jnaTakes_Has(t, i, jna_targetsNetwork)   ? jna_targetsNetwork
                                                                        : jna_targetsSkinned;
        JN_TRY(jnaTakes_OpenTargets(t, i, kind, &targets, error));
        AddLayer(&t->takes[i], targets.data, vertices, layers);
        jnaCloseTargets(&targets);
    }
    memcpy(sorted, layers, vertices * sizeof(double));
    qsort(sorted, vertices, sizeof(double), CompareDoubles);
    double least = sorted[(size_t)((double)(vertices - 1) * (1 - SOFT_SHARE))];
    for (size_t v = 0; v < vertices; ++v) {
        w->soft[v] = layers[v] >= least;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

static jnResult Prepare(Work* w, jnaEvaluation* e, jnError* error)
{
    int64_t tallies = 3 * (int64_t)w->wayCount;
    w->soft = jnaArena_Take(&w->arena, w->takes->character->vertexCount, 1);
    w->tallies = jnaArena_Take(&w->arena, tallies, sizeof(Tally));
    w->bins = jnaArena_Take(&w->arena, tallies, BINS * sizeof(uint32_t));
    e->clips = jnaArena_Give(&w->arena, w->takes->count, sizeof(*e->clips));
    JN_PASS(jnaArena_Check(&w->arena, "ways to move", error));
    for (int64_t i = 0; i < tallies; ++i) {
        w->tallies[i].bins = w->bins + i * BINS;
    }
    return FindSoft(w, error);
}

// Clips with much motion outweigh others in sums: the mean over the clips does not know how much they move.
static void FillMeans(jnaEvaluation* e, jnaEvaluatedClip* all)
{
    for (int i = 0; i < all->rowCount; ++i) {
        jnaEvaluationRow* row = &all->rows[i];
        double sums[2] = {0};
        int count = 0;
        for (int k = 0; k < e->clipCount; ++k) {
            const jnaEvaluationRow* of =
                e->clips[k].trained == all->trained
                    ? jnaEvaluatedClip_Find(&e->clips[k], row->method, row->targets, row->causal)
                    : NULL;
            if (of != NULL && isfinite(of->captured) && isfinite(of->capturedSoft)) {
                sums[0] += of->captured;
                sums[1] += of->capturedSoft;
                count++;
            }
        }
        row->mean = count > 0 ? sums[0] / count : (double)NAN;
        row->meanSoft = count > 0 ? sums[1] / count : (double)NAN;
    }
}

jnResult jnaJudge(const jnaTakes* takes, const jnaWay* ways, int wayCount, const jnaEvaluateDef* def, jnaEvaluation* e,
    jnError* error)
{
    Work w = {.takes = takes, .ways = ways, .wayCount = wayCount};
    int threads = def->threads > 0 ? def->threads : omp_get_max_threads();
    *e = (jnaEvaluation){.vertexCount = takes->character->vertexCount, .softShare = SOFT_SHARE};
    e->seen.trained = true;
    jnResult result = jn_ok;
    JN_TRY(Prepare(&w, e, error));
    for (int i = 0; i < takes->count; ++i) {
        e->clipCount++;
        JN_TRY(JudgeTake(&w, i, threads, &e->clips[i], error));
        jnaEvaluatedClip* all = takes->takes[i].trained ? &e->seen : &e->unseen;
        all->frameCount += takes->takes[i].frameCount;
        all->failed += e->clips[i].failed;
        if (!jnaWatch_GoesOn(&def->watch, (i + 1.0) / takes->count)) {
            JN_TRY(jnFail(error, jn_badArgument, "the evaluation was ended"));
        }
    }
    JN_TRY(FillRows(&w, w.tallies + wayCount, &e->seen, error));
    JN_TRY(FillRows(&w, w.tallies + 2 * wayCount, &e->unseen, error));
    FillMeans(e, &e->seen);
    FillMeans(e, &e->unseen);
done:
    jnaReleaseArena(&w.arena);
    if (result != jn_ok) {
        jnaDestroyEvaluation(e);
    }
    return result;
}
