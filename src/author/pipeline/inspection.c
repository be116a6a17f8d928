// Every clip of an exported character, played by the runtime and compared frame by frame: see inspection.h.
//
// Clips are played side by side, the longest first; each has sums of its own, so that nothing depends on the number of
// threads. What a vertex does is o = shown - compared; the strength of its motion is the mean of |o|^2 over the frames
// less the square of the mean of o: a constant sag is no motion.
#include "pipeline/inspection.h"

#include "asset/bake.h"
#include "base/path.h"
#include "base/try.h"
#include "jounce/character.h"
#include "pipeline/stage_export.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Below this largest offset a surface is still, where the clips take it at least so far; metres.
#define STILL 1e-4
#define TRAVELS 0.01

// A character that is opened to be played.
typedef struct Stage {
    jnaAssetFile file;
    const jnaCharacter* character;
    jnaBreaks breaks;
    int32_t* places; // [vertexCount], the asset's vertex of the character's
    bool againstTargets;
} Stage;

// One clip under way.
typedef struct Play {
    const Stage* stage;
    int clip; // of the asset
    double rate;
    jnCharacter* poser; // makes what is compared with
    float *rotations, *translations, *scales, *targets;
    float *compared, *first; // [vertexCount][3], of this frame and of the first
    double* sums;            // [vertexCount][4], of offsets and of their squares
    uint8_t* moved;          // [vertexCount], scratch
    jnaArena arena;
    jnaClipInspection* out; // NULL: one frame is kept
    int wanted;             // that frame
    float *keptCompared, *keptShown;
} Play;

static void CloseStage(Stage* s)
{
    jnaDestroyBreaks(&s->breaks);
    free(s->places);
    jnaCloseAsset(&s->file);
}

static jnResult OpenStage(jnaWorkspace* w, Stage* s, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaWorkspace_Whole(w, &s->character, error));
    JN_PASS(jnaJoinPath(w->path, JNA_ASSET_NAME, path, error));
    JN_PASS(jnaOpenAsset(path, &s->file, error));
    const jnAsset* asset = s->file.asset;
    bool same = asset->vertexCount == s->character->vertexCount && asset->clipCount == w->manifest.clipCount &&
                asset->jointCount == s->character->jointCount;
    if (!same) {
        return jnFail(
            error, jn_badData, "%s: is not of this workspace as it is now; run jounce build %s", path, w->path);
    }
    s->againstTargets = asset->componentCount > 0;
    s->places = malloc(((size_t)asset->vertexCount + 1) * sizeof(int32_t));
    if (s->places == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to look at %s", path);
    }
    for (int i = 0; i < asset->vertexCount; ++i) {
        s->places[asset->order != NULL ? asset->order[i] : i] = i;
    }
    return jnaMakeBreaks(s->character, s->places, &s->breaks, error);
}

static jnResult BeginPlay(const Stage* s, Play* p, jnError* error)
{
    const jnAsset* asset = s->file.asset;
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    p->stage = s;
    p->rate = jnAsset_Clip(asset, p->clip).rate;
    p->rotations = jnaArena_Take(&p->arena, asset->jointCount, 4 * sizeof(float));
    p->translations = jnaArena_Take(&p->arena, asset->jointCount, 3 * sizeof(float));
    p->scales = jnaArena_Take(&p->arena, asset->jointCount, 3 * sizeof(float));
    p->targets = jnaArena_Take(&p->arena, asset->targetCount, sizeof(float));
    p->compared = jnaArena_Take(&p->arena, asset->vertexCount, 3 * sizeof(float));
    p->first = jnaArena_Take(&p->arena, asset->vertexCount, 3 * sizeof(float));
    p->moved = jnaArena_Take(&p->arena, asset->vertexCount, 1);
    p->sums = jnaArena_Take(&p->arena, asset->vertexCount, 4 * sizeof(double));
    JN_PASS(jnaArena_Check(&p->arena, "the frames of a clip", error));
    return jnCreateCharacter(&def, &p->poser, error);
}

static void EndPlay(Play* p)
{
    jnDestroyCharacter(p->poser);
    jnaReleaseArena(&p->arena);
}

// The surface without springs.
static void PoseCompared(Play* p, int frame)
{
    const jnAsset* asset = p->stage->file.asset;
    const jnPose pose = {
        .rotations = p->rotations, .translations = p->translations, .scales = p->scales, .targets = p->targets};
    const jnCharacterOutput output = {.positions = p->compared, .welded = true};
    jnAsset_SampleTargets(asset, p->clip, frame / p->rate, p->targets);
    jnAsset_SampleClip(asset, p->clip, frame / p->rate, p->rotations, p->translations, p->scales);
    if (p->stage->againstTargets) {
        jnCharacter_Target(p->poser, &pose, &output);
    } else {
        jnCharacter_Skin(p->poser, &pose, &output);
    }
}

// Sums of the offsets, and how far the pose goes.
static void AddOffsets(Play* p, const float* shown)
{
    float travel = 0;
    for (size_t v = 0; v < (size_t)p->stage->character->vertexCount; ++v) {
        const float *a = shown + 3 * v, *b = p->compared + 3 * v, *c = p->first + 3 * v;
        double* sums = p->sums + 4 * v;
        float square = 0;
        for (int i = 0; i < 3; ++i) {
            double o = (double)a[i] - (double)b[i];
            sums[i] += o;
            sums[3] += o * o;
            square += (b[i] - c[i]) * (b[i] - c[i]);
        }
        travel = fmaxf(travel, square);
    }
    p->out->travel = fmax(p->out->travel, sqrt((double)travel));
}

static bool TakeFrame(int frame, const float* shown, const float* normals, void* user)
{
    Play* p = user;
    jnaClipInspection* out = p->out;
    (void)normals;
    PoseCompared(p, frame);
    if (frame == 0) {
        memcpy(p->first, p->compared, 3 * (size_t)p->stage->character->vertexCount * sizeof(float));
    }
    AddOffsets(p, shown);
    jnaBreakCount count = jnaBreaks_Count(&p->stage->breaks, p->compared, shown, p->moved);
    int broken = count.flipped + count.torn;
    out->frameCount++;
    out->flipped += count.flipped;
    out->torn += count.torn;
    out->badFrames += broken > 0;
    if (count.largest > out->largest) {
        out->largest = count.largest;
        out->frame = frame;
        out->vertex = count.vertex;
    }
    if (broken > out->broken) {
        out->broken = broken;
        out->brokenFrame = frame;
        out->brokenVertex = count.brokenVertex;
    }
    return true;
}

// The strength of the motion, by region. Vertices of the result are the character's from here on.
static void FindMotion(const Play* p, const uint8_t* regions)
{
    const int32_t* places = p->stage->places;
    const jnAsset* asset = p->stage->file.asset;
    jnaClipInspection* out = p->out;
    double counts[JNA_REGIONS] = {0}, frames = fmax(out->frameCount, 1);
    for (int v = 0; v < p->stage->character->vertexCount; ++v) {
        const double* sums = p->sums + 4 * (size_t)places[v];
        double mean = (sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]) / (frames * frames);
        double square = fmax(sums[3] / frames - mean, 0);
        out->motion[regions[v]] += square;
        out->whole += square;
        counts[regions[v]]++;
    }
    for (int r = 0; r < JNA_REGIONS; ++r) {
        out->motion[r] = sqrt(out->motion[r] / fmax(counts[r], 1));
    }
    out->whole = sqrt(out->whole / fmax(p->stage->character->vertexCount, 1));
    out->vertex = asset->order != NULL ? asset->order[out->vertex] : out->vertex;
    if (out->brokenFrame >= 0 && asset->order != NULL) {
        out->brokenVertex = asset->order[out->brokenVertex];
    }
}

static jnResult PlayClip(const Stage* s, int clip, const uint8_t* regions, jnaClipInspection* out, jnError* error)
{
    Play p = {.clip = clip, .out = out};
    jnaBakeDef def = jnaDefaultBakeDef(s->file.asset);
    def.clip = clip;
    def.welded = true;
    def.take = TakeFrame;
    def.user = &p;
    out->brokenFrame = out->brokenVertex = -1;
    jnResult result = jn_ok;
    JN_TRY(BeginPlay(s, &p, error));
    JN_TRY(jnaBake(&def, error));
    FindMotion(&p, regions);
done:
    EndPlay(&p);
    return result;
}

// The body's regions: by the flesh where there is some, else by the surface; where neither is known, all are "other".
static jnResult FindRegions(jnaWorkspace* w, jnaInspection* in, jnError* error)
{
    const jnaCharacter* flesh;
    const jnaVolume* volume;
    jnaAnatomy anatomy = {0};
    in->regions = calloc((size_t)in->character->vertexCount + 1, 1);
    JN_PASS(in->regions != NULL ? jnaWorkspace_Character(w, &flesh, error)
                                : jnFail(error, jn_outOfMemory, "out of memory for the regions of a body"));
    bool filled = jnaWorkspace_Has(w, "volume/volume.json") && jnaWorkspace_Volume(w, &volume, NULL) == jn_ok &&
                  volume->vertexCount == flesh->vertexCount;
    jnResult found =
        filled ? jnaFindAnatomy(flesh, volume, &anatomy, NULL) : jnaFindSurfaceAnatomy(flesh, &anatomy, NULL);
    if (found == jn_ok) {
        jnaAnatomy_SkinRegions(&anatomy, in->character, in->regions);
    }
    jnaDestroyAnatomy(&anatomy);
    for (int v = 0; v < in->character->vertexCount; ++v) {
        in->sizes[in->regions[v]]++;
    }
    return jn_ok;
}

static void AddClip(jnaInspection* in, int index)
{
    const jnaClipInspection* clip = &in->clips[index];
    const jnaClipInspection* farthest = in->farthest >= 0 ? &in->clips[in->farthest] : NULL;
    const jnaClipInspection* worst = in->worst >= 0 ? &in->clips[in->worst] : NULL;
    in->frameCount += clip->frameCount;
    in->flipped += clip->flipped;
    in->torn += clip->torn;
    in->farthest = farthest == NULL || clip->largest > farthest->largest ? index : in->farthest;
    in->strongest = in->strongest < 0 || clip->whole > in->clips[in->strongest].whole ? index : in->strongest;
    bool worse = worst == NULL || clip->broken > worst->broken ||
                 (clip->broken == worst->broken && clip->largest > worst->largest);
    in->worst = worse ? index : in->worst;
}

typedef struct Order {
    int clip, frameCount;
} Order;

static int CompareOrder(const void* a, const void* b)
{
    const Order *x = a, *y = b;
    return x->frameCount != y->frameCount ? y->frameCount - x->frameCount : x->clip - y->clip;
}

static jnResult PlayAll(const Stage* s, jnaInspection* in, jnError* error)
{
    const jnAsset* asset = s->file.asset;
    jnResult result = jn_ok;
    double travel = 0;
    int failures = 0;
    jnaArena arena = {0};
    Order* order = jnaArena_Take(&arena, asset->clipCount, sizeof(*order));
    in->clips = jnaArena_Give(&arena, asset->clipCount, sizeof(*in->clips));
    JN_TRY(jnaArena_Check(&arena, "the clips of a character", error));
    for (int i = 0; i < asset->clipCount; ++i) {
        jnAssetClip clip = jnAsset_Clip(asset, i);
        order[i] = (Order){i, clip.frameCount};
        in->clips[i] = (jnaClipInspection){.isTest = clip.isTest};
    }
    qsort(order, (size_t)asset->clipCount, sizeof(*order), CompareOrder);
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : failures)
    for (int i = 0; i < asset->clipCount; ++i) {
        failures += PlayClip(s, order[i].clip, in->regions, &in->clips[order[i].clip], NULL) != jn_ok;
    }
    JN_TRY(failures == 0 ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory to play %d clips", asset->clipCount));
    in->clipCount = asset->clipCount;
    for (int i = 0; i < in->clipCount; ++i) {
        AddClip(in, i);
        travel = fmax(travel, in->clips[i].travel);
    }
    in->still = in->clipCount > 0 && in->clips[in->farthest].largest < STILL && travel > TRAVELS;
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaInspectWorkspace(jnaWorkspace* w, jnaInspection* in, jnError* error)
{
    Stage stage = {0};
    jnResult result = jn_ok;
    *in = (jnaInspection){.farthest = -1, .worst = -1, .strongest = -1};
    JN_TRY(OpenStage(w, &stage, error));
    in->character = stage.character;
    in->againstTargets = stage.againstTargets;
    in->modal = stage.file.asset->modeCount > 0;
    in->triangleCount = stage.breaks.triangleCount;
    in->edgeCount = stage.breaks.edgeCount;
    JN_TRY(FindRegions(w, in, error));
    JN_TRY(PlayAll(&stage, in, error));
    for (int i = 0; i < in->clipCount; ++i) {
        in->clips[i].name = w->manifest.clips[i].name;
    }
done:
    if (result != jn_ok) {
        jnaDestroyInspection(in);
    }
    CloseStage(&stage);
    return result;
}

void jnaDestroyInspection(jnaInspection* in)
{
    free(in->clips);
    free(in->regions);
    *in = (jnaInspection){0};
}

// Keeps one frame and ends the playing.
static bool KeepFrame(int frame, const float* shown, const float* normals, void* user)
{
    Play* p = user;
    (void)normals;
    if (frame < p->wanted) {
        return true;
    }
    PoseCompared(p, frame);
    for (int v = 0; v < p->stage->character->vertexCount; ++v) {
        size_t at = 3 * (size_t)p->stage->places[v];
        memcpy(p->keptShown + 3 * (size_t)v, shown + at, 3 * sizeof(float));
        memcpy(p->keptCompared + 3 * (size_t)v, p->compared + at, 3 * sizeof(float));
    }
    p->wanted = INT32_MAX;
    return false;
}

jnResult jnaInspectFrame(jnaWorkspace* w, int clip, int frame, float* compared, float* shown, jnError* error)
{
    Stage stage = {0};
    Play p = {.clip = clip, .wanted = frame, .keptCompared = compared, .keptShown = shown};
    jnResult result = jn_ok;
    JN_TRY(OpenStage(w, &stage, error));
    JN_TRY(BeginPlay(&stage, &p, error));
    jnaBakeDef def = jnaDefaultBakeDef(stage.file.asset);
    def.clip = clip;
    def.welded = true;
    def.take = KeepFrame;
    def.user = &p;
    result = jnaBake(&def, error);
    result = p.wanted == INT32_MAX ? jn_ok : result; // it was ended where it should be
done:
    EndPlay(&p);
    CloseStage(&stage);
    return result;
}
