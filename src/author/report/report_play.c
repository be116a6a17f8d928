// The clips of a report, played by the runtime as they ship, beside the motion that was simulated. Where that is not a
// learned spring per vertex, those are played too, on the same targets and in the same timing: they are the paper's.
//
// The springs start where the simulation does, on their targets and moving with them. Two passes keep memory small: the
// first follows the means over all vertices and finds the vertices and frames worth showing, the second keeps those.
#include "report/report_internal.h"

#include "base/try.h"

#include "jounce/character.h"
#include "jounce/springs.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ReportPoser {
    const Report* report;
    jnCharacter* character;
    float* welded; // [vertexCount][3], in the asset's order
};

jnResult jnaReport_CreatePoser(const Report* r, ReportPoser** poser, jnError* error)
{
    ReportPoser* p = calloc(1, sizeof(*p));
    *poser = p;
    if (p == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    p->report = r;
    p->welded = malloc(3 * sizeof(float) * (size_t)r->character->vertexCount);
    jnCharacterDef def = jnDefaultCharacterDef(r->asset.asset);
    return p->welded != NULL ? jnCreateCharacter(&def, &p->character, error) : jnaReport_OutOfMemory(error);
}

void jnaReport_DestroyPoser(ReportPoser* p)
{
    if (p != NULL) {
        jnDestroyCharacter(p->character);
        free(p->welded);
        free(p);
    }
}

// From the asset's order to the character's.
static void Reorder(const ReportPoser* p, float* out)
{
    for (size_t v = 0; v < (size_t)p->report->character->vertexCount; ++v) {
        memcpy(out + 3 * (size_t)p->report->place[v], p->welded + 3 * v, 3 * sizeof(float));
    }
}

void jnaReport_Pose(ReportPoser* p, const float* rotations, const float* translations, const float* scales,
    float* skinned, float* target)
{
    jnPose pose = {.rotations = rotations, .translations = translations, .scales = scales};
    jnCharacterOutput output = {.positions = p->welded, .welded = true};
    jnCharacter_Skin(p->character, &pose, &output);
    Reorder(p, skinned);
    jnCharacter_Target(p->character, &pose, &output);
    Reorder(p, target);
}

// What one playing works in.
typedef struct Playing {
    ReportPoser* poser;
    float* numbers;                                   // one block for all below
    float *skinned[2], *target[2], *ours, *simulated; // [vertexCount][3]; of this pose and of the one before
    float* paper;                                     // [vertexCount][3], of springs per vertex
    float* matrices;                                  // [jointCount][12]
    jnSprings* springs;                               // per vertex; NULL: none
} Playing;

static void EndPlaying(Playing* p)
{
    jnaReport_DestroyPoser(p->poser);
    jnDestroySprings(p->springs);
    free(p->numbers);
}

// Springs per vertex that run as what ships does.
static jnResult CreateSprings(const Report* r, Playing* p, jnError* error)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = r->character->vertexCount;
    def.stiffness = r->stiffness;
    def.damping = r->damping;
    def.curve = (jnCurve)r->asset.asset->curve;
    def.timing = (jnTiming)r->asset.asset->timing;
    return r->showsPaper ? jnCreateSprings(&def, &p->springs, error) : jn_ok;
}

static jnResult BeginPlaying(const Report* r, Playing* p, jnError* error)
{
    size_t row = 3 * (size_t)r->character->vertexCount, joints = 12 * (size_t)r->character->jointCount;
    *p = (Playing){.numbers = malloc((7 * row + joints) * sizeof(float))};
    if (p->numbers == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (int i = 0; i < 2; ++i) {
        p->skinned[i] = p->numbers + row * (size_t)i;
        p->target[i] = p->numbers + row * (size_t)(2 + i);
    }
    p->ours = p->numbers + 4 * row;
    p->simulated = p->numbers + 5 * row;
    p->paper = p->numbers + 6 * row;
    p->matrices = p->numbers + 7 * row;
    JN_PASS(jnaReport_CreatePoser(r, &p->poser, error));
    return CreateSprings(r, p, error);
}

static void Give(const Report* r, const ReportClip* clip, Playing* p, int frame, int slot, ReportTake* take, void* user)
{
    jnaPoseMatrices(r->character, clip->clip, clip->first + frame, p->matrices);
    const float* m = p->matrices + 12 * (size_t)r->pelvis;
    const float pelvis[3] = {m[3], m[7], m[11]};
    const ReportFrame given = {.index = frame,
        .skinned = p->skinned[slot],
        .target = p->target[slot],
        .ours = p->ours,
        .simulated = jnaReport_Row(&clip->simulated, frame, p->simulated),
        .paper = p->springs != NULL ? p->paper : NULL,
        .pelvis = pelvis};
    take(&given, user);
}

// Plays the frames of a clip's motion. In exact timing the springs show the pose before the last one.
static jnResult Play(const Report* r, const ReportClip* clip, ReportTake* take, void* user, jnError* error)
{
    Playing p;
    jnResult result = BeginPlaying(r, &p, error);
    if (result != jn_ok) {
        EndPlaying(&p);
        return result;
    }
    const jnAsset* asset = r->asset.asset;
    jnAssetClip source = jnAsset_Clip(asset, clip->assetClip);
    size_t joints = (size_t)asset->jointCount;
    bool lags = asset->curve == (int)jn_curveCubic && asset->timing == (int)jn_timingExact;
    jnCharacterOutput output = {.positions = p.poser->welded, .welded = true};
    for (int n = 0; n < clip->frameCount; ++n) {
        size_t at = (size_t)(clip->first + n) * joints;
        jnPose pose = {.rotations = source.rotations + 4 * at,
            .translations = source.translations + 3 * at,
            .scales = source.scales != NULL ? source.scales + 3 * at : NULL};
        jnaReport_Pose(p.poser, pose.rotations, pose.translations, pose.scales, p.skinned[n % 2], p.target[n % 2]);
        jnCharacter_Step(p.poser->character, &(jnCharacterInput){.h = (float)(1 / source.rate), .pose = pose}, &output);
        Reorder(p.poser, p.ours);
        if (p.springs != NULL) {
            jnSprings_Step(p.springs, &(jnSpringsInput){.h = (float)(1 / source.rate), .targets = p.target[n % 2]},
                &(jnSpringsOutput){.positions = p.paper});
        }
        if (!lags || n > 0) {
            Give(r, clip, &p, lags ? n - 1 : n, (lags ? n - 1 : n) % 2, take, user);
        }
    }
    if (lags) {
        jnCharacter_Finish(p.poser->character, &output);
        Reorder(p.poser, p.ours);
        if (p.springs != NULL) {
            jnSprings_Finish(p.springs, &(jnSpringsOutput){.positions = p.paper});
        }
        Give(r, clip, &p, clip->frameCount - 1, (clip->frameCount - 1) % 2, take, user);
    }
    EndPlaying(&p);
    return jn_ok;
}

static double Square(const float* a, const float* b)
{
    double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    return x * x + y * y + z * z;
}

// The first pass of a clip.
typedef struct Survey {
    const Report* report;
    ReportClip* clip;
    double* sums;   // [vertexCount][4], of target - simulated and of its square, over the frames that count
    double* frames; // [vertexCount], how many those are
    double most;    // layer of the strongest frame
} Survey;

static void TakeMeans(const ReportFrame* f, void* user)
{
    Survey* s = user;
    int count = 0, vertices = s->report->character->vertexCount;
    double means[curve_count] = {0}, layer = 0;
    for (int v = 0; v < vertices; ++v) {
        size_t at = 3 * (size_t)v;
        const float *truth = f->simulated + at, *target = f->target + at;
        double away = Square(target, truth), left = Square(f->ours + at, truth);
        if (!isfinite(away) || !isfinite(left)) {
            continue;
        }
        count++;
        means[curve_position] += sqrt(Square(truth, f->pelvis));
        means[curve_skinnedToSimulated] += sqrt(Square(f->skinned + at, truth));
        means[curve_targetToSimulated] += sqrt(away);
        means[curve_targetToOurs] += sqrt(Square(target, f->ours + at));
        means[curve_oursToSimulated] += sqrt(left);
        if (f->paper != NULL) {
            double paper = Square(f->paper + at, truth);
            means[curve_targetToPaper] += sqrt(Square(target, f->paper + at));
            means[curve_paperToSimulated] += sqrt(paper);
            s->clip->paperSquares += paper;
        }
        layer += away;
        s->clip->leftSquares += left;
        if (s->sums != NULL) {
            for (size_t k = 0; k < 3; ++k) {
                s->sums[4 * (size_t)v + k] += (double)target[k] - (double)truth[k];
            }
            s->sums[4 * (size_t)v + 3] += away;
            s->frames[v] += 1;
        }
    }
    for (int k = 0; k < curve_count; ++k) {
        s->clip->means[k][f->index] = count > 0 ? means[k] / count : (double)NAN;
    }
    s->clip->layerSquares += layer;
    if (count == vertices && layer > s->most) {
        s->most = layer;
        s->clip->strongest = f->index;
    }
}

// The second pass of a clip.
typedef struct Keep {
    const Report* report;
    ReportClip* clip;
} Keep;

static void TakeKept(const ReportFrame* f, void* user)
{
    const Keep* k = user;
    const Report* r = k->report;
    ReportClip* clip = k->clip;
    size_t at = 3 * (size_t)r->softVertex;
    const float* truth = f->simulated + at;
    const double lengths[curve_count] = {
        [curve_position] = sqrt(Square(truth, f->pelvis)),
        [curve_skinnedToSimulated] = sqrt(Square(f->skinned + at, truth)),
        [curve_targetToSimulated] = sqrt(Square(f->target + at, truth)),
        [curve_targetToOurs] = sqrt(Square(f->target + at, f->ours + at)),
        [curve_oursToSimulated] = sqrt(Square(f->ours + at, truth)),
        [curve_targetToPaper] = f->paper != NULL ? sqrt(Square(f->target + at, f->paper + at)) : 0,
        [curve_paperToSimulated] = f->paper != NULL ? sqrt(Square(f->paper + at, truth)) : 0,
    };
    for (int i = 0; i < curve_count; ++i) {
        clip->single[i][f->index] = lengths[i];
    }
    jnaReport_KeepWorst(r, clip, f);
    const float* surfaces[still_count] = {[still_skinned] = f->skinned,
        [still_paper] = f->paper,
        [still_ours] = f->ours,
        [still_simulated] = f->simulated};
    for (int i = 0; i < still_count && f->index == clip->strongest; ++i) {
        if (surfaces[i] != NULL) {
            memcpy(clip->stills[i], surfaces[i], 3 * sizeof(float) * (size_t)r->character->vertexCount);
        }
    }
}

static jnResult AllocateClip(const Report* r, ReportClip* clip, bool second, jnError* error)
{
    size_t frames = (size_t)clip->frameCount + 1, row = 3 * sizeof(float) * (size_t)r->character->vertexCount;
    bool good = true;
    for (int k = 0; k < curve_count; ++k) {
        double** curve = second ? &clip->single[k] : &clip->means[k];
        *curve = calloc(frames, sizeof(double));
        good = good && *curve != NULL;
    }
    for (int k = 0; second && k < still_count && clip->strongest >= 0; ++k) {
        if (k == still_paper && !r->showsPaper) {
            continue;
        }
        clip->stills[k] = malloc(row);
        good = good && clip->stills[k] != NULL;
    }
    return good ? jn_ok : jnaReport_OutOfMemory(error);
}

static bool CanPlay(const ReportClip* clip)
{
    return clip->frameCount > 0 && clip->assetClip >= 0;
}

typedef struct Ranked {
    double value;
    int vertex;
} Ranked;

static int MoreFirst(const void* a, const void* b)
{
    const Ranked *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? 1 : -1) : x->vertex - y->vertex;
}

// The part of the body with most of the dynamics, by the joint that moves it and by area: a thumb's tip may swing
// farther and have more vertices, but the belly is what a reader looks for. ranks: by vertex; energies: [jointCount],
// 0.
static int FindRegion(const Report* r, const Ranked* ranks, double* energies)
{
    const jnaCharacter* c = r->character;
    int best = 0;
    for (int t = 0; t < c->triangleCount; ++t) {
        int v[3];
        double a[3], b[3];
        for (int k = 0; k < 3; ++k) {
            v[k] = c->weld[c->triangles[3 * (size_t)t + (size_t)k]];
        }
        for (int k = 0; k < 3; ++k) {
            const float* p = c->positions + k;
            a[k] = (double)p[3 * (size_t)v[1]] - (double)p[3 * (size_t)v[0]];
            b[k] = (double)p[3 * (size_t)v[2]] - (double)p[3 * (size_t)v[0]];
        }
        double area = sqrt(
            pow(a[1] * b[2] - a[2] * b[1], 2) + pow(a[2] * b[0] - a[0] * b[2], 2) + pow(a[0] * b[1] - a[1] * b[0], 2));
        for (int k = 0; k < 3; ++k) {
            energies[c->influences[v[k]].joints[0]] += area * ranks[v[k]].value;
        }
    }
    for (int j = 1; j < c->jointCount; ++j) {
        best = energies[j] > energies[best] ? j : best;
    }
    return best;
}

// The vertices of that part, those first whose way from their target changes most, whatever its mean: a target that is
// off stays off.
static jnResult RankVertices(Report* r, const double* sums, const double* frames, jnError* error)
{
    int count = r->character->vertexCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    Ranked* ranks = jnaArena_Take(&arena, count, sizeof(*ranks));
    double* energies = jnaArena_Take(&arena, r->character->jointCount, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the report", error));
    for (int v = 0; v < count; ++v) {
        const double* s = sums + 4 * (size_t)v;
        double n = fmax(frames[v], 1);
        ranks[v] = (Ranked){s[3] / n - (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / (n * n), v};
    }
    int region = FindRegion(r, ranks, energies), inside = 0;
    for (int v = 0; v < count; ++v) {
        if (r->character->influences[v].joints[0] == region) {
            ranks[inside++] = ranks[v];
        }
    }
    qsort(ranks, (size_t)inside, sizeof(*ranks), MoreFirst);
    r->softVertex = ranks[0].vertex;
    // Evenly from the softer half.
    int soft = (inside + 1) / 2;
    r->candidateCount = soft < ROBUST_CANDIDATES ? soft : ROBUST_CANDIDATES;
    for (int i = 0; i < r->candidateCount; ++i) {
        r->candidates[i] = ranks[(long)i * soft / r->candidateCount].vertex;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

static jnResult PlayFirst(Report* r, double* sums, double* frames, jnError* error)
{
    bool anyTrained = false;
    for (int i = 0; i < r->clipCount; ++i) {
        anyTrained = anyTrained || (CanPlay(&r->clips[i]) && r->clips[i].trained);
    }
    for (int i = 0; i < r->clipCount; ++i) {
        ReportClip* clip = &r->clips[i];
        if (!CanPlay(clip)) {
            continue;
        }
        bool counts = clip->trained || !anyTrained;
        Survey survey = {r, clip, counts ? sums : NULL, frames, -1};
        JN_PASS(AllocateClip(r, clip, false, error));
        JN_PASS(Play(r, clip, TakeMeans, &survey, error));
        r->played = true;
    }
    return jn_ok;
}

jnResult jnaReport_PlayAll(Report* r, jnError* error)
{
    if (r->asset.asset == NULL) {
        return jn_ok;
    }
    size_t vertices = (size_t)r->character->vertexCount;
    double* sums = calloc(vertices + 1, 5 * sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(sums != NULL ? PlayFirst(r, sums, sums + 4 * vertices, error) : jnaReport_OutOfMemory(error));
    JN_TRY(r->played ? RankVertices(r, sums, sums + 4 * vertices, error) : jn_ok);
    for (int i = 0; i < r->clipCount; ++i) {
        ReportClip* clip = &r->clips[i];
        if (!CanPlay(clip)) {
            continue;
        }
        Keep keep = {r, clip};
        JN_TRY(AllocateClip(r, clip, true, error));
        JN_TRY(jnaReport_BeginWorst(r, clip, error));
        JN_TRY(Play(r, clip, TakeKept, &keep, error));
    }
done:
    free(sums);
    return result;
}
