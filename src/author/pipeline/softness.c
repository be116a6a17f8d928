// How soft a character is, by region: see softness.h.
//
// Every frame is measured on its own into a row of sums, and rows are added in order, so that the numbers do not depend
// on the number of threads. What a clip without motion does is shown by springs on modes, as the material has them,
// hung on the skinned surface and stepped by the runtime.
#include "pipeline/softness.h"

#include "base/affine.h"
#include "base/try.h"
#include "jounce/character.h"
#include "pipeline/lips.h"
#include "pipeline/play.h"
#include "pipeline/takes.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A mode moves a region if at least this part of its vertices move by this part of the mode's largest displacement.
#define MOVED_PART 0.1
#define MOVED 0.5
// A region is far from the table if its sag is beyond a bound by this factor.
#define FAR 1.5
// Sag this near to a bound is as good as within, metres.
#define NO_MATTER 0.001
// What hard parts of a body may do in motion, metres, and lips that touch.
#define HARD_HEAD 0.003
#define HARD_HINGE 0.012
#define LIPS_OPEN 0.001
// A region that moves farther than this in a clip is not stiff, and one that does not is not soft; metres.
#define MOVES 0.01
// Flesh that moves by more than this part of the greatest extent of a body does not look like flesh.
#define FAR_TRAVEL 0.05
// Parts of the whole time: the sag, then the clips.
#define SAG_SHARE 0.5

// Sums of one frame.
typedef struct Row {
    double squares[JNA_REGIONS], most[JNA_REGIONS];
    int counts[JNA_REGIONS];
    double lips;
} Row;

typedef struct Measure {
    const jnaSoftnessDef* def;
    jnaTakes takes;
    jnaLips lips;
    jnaSoftness* out;
} Measure;

jnaSoftnessDef jnaDefaultSoftnessDef(void)
{
    return (jnaSoftnessDef){.axes = 3, .clips = true};
}

void jnaDestroySoftness(jnaSoftness* s)
{
    jnaDestroySag(&s->sag);
    jnaDestroyNotes(&s->warnings);
    free(s->clips);
    *s = (jnaSoftness){0};
}

void jnaLowestModes(const jnaModes* modes, const uint8_t* regions, int lowest[JNA_REGIONS])
{
    int sizes[JNA_REGIONS] = {0};
    for (int v = 0; v < modes->vertexCount; ++v) {
        sizes[regions[v]]++;
    }
    for (int r = 0; r < JNA_REGIONS; ++r) {
        lowest[r] = -1;
    }
    for (int k = modes->modeCount - 1; k >= 0; --k) {
        int moved[JNA_REGIONS] = {0};
        const float* shape = modes->shapes + 3 * (size_t)k * (size_t)modes->vertexCount;
        double largest = 0;
        for (int v = 0; v < modes->vertexCount; ++v) {
            const float* u = shape + 3 * (size_t)v;
            largest = fmax(largest, sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])));
        }
        for (int v = 0; v < modes->vertexCount; ++v) {
            const float* u = shape + 3 * (size_t)v;
            moved[regions[v]] += sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])) >= MOVED * largest;
        }
        for (int r = 0; r < JNA_REGIONS && largest > 0; ++r) {
            lowest[r] = moved[r] > 0 && moved[r] >= MOVED_PART * sizes[r] ? k : lowest[r];
        }
    }
}

// Distances of a surface from where the pose has it, by region.
static void MeasureFrame(const Measure* m, const float* positions, const float* against, const float* skinned, Row* row)
{
    *row = (Row){0};
    for (int v = 0; v < m->takes.character->vertexCount; ++v) {
        const float *p = positions + 3 * (size_t)v, *q = against + 3 * (size_t)v;
        double x = (double)p[0] - (double)q[0], y = (double)p[1] - (double)q[1], z = (double)p[2] - (double)q[2];
        double square = x * x + y * y + z * z;
        if (isfinite(square)) {
            int r = m->out->sag.regions[v];
            row->counts[r]++;
            row->squares[r] += square;
            row->most[r] = fmax(row->most[r], square);
        }
    }
    row->lips = jnaLips_Opening(&m->lips, positions, skinned);
}

static void AddRows(const Row* rows, int frameCount, int first, jnaClipSoftness* clip)
{
    double counts[JNA_REGIONS] = {0};
    for (int n = 0; n < frameCount; ++n) {
        for (int r = 0; r < JNA_REGIONS; ++r) {
            jnaRegionMotion* motion = &clip->regions[r];
            counts[r] += rows[n].counts[r];
            motion->rms += rows[n].squares[r];
            if (sqrt(rows[n].most[r]) > motion->most) {
                motion->most = sqrt(rows[n].most[r]);
                motion->frame = first + n;
            }
        }
        if (rows[n].lips > clip->lips) {
            clip->lips = rows[n].lips;
            clip->lipsFrame = first + n;
        }
    }
    for (int r = 0; r < JNA_REGIONS; ++r) {
        clip->regions[r].rms = counts[r] > 0 ? sqrt(clip->regions[r].rms / counts[r]) : 0;
    }
}

static jnResult OutOfMemory(const char* clip, jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory for the frames of clip '%s'", clip);
}

// Frames without an equilibrium or without room do not count: their rows stay empty.
static jnResult MeasureTake(const Measure* m, int index, Row* rows, jnError* error)
{
    const jnaTake* take = &m->takes.takes[index];
    const jnaCharacter* c = m->takes.character;
    size_t width = 3 * (size_t)c->vertexCount;
    jnaArray still = {0};
    if (take->hasQuasistatic) {
        JN_PASS(jnaTakes_OpenTargets(&m->takes, index, jna_targetsQuasistatic, &still, error));
    }
    int failures = 0;
#pragma omp parallel for schedule(static) reduction(+ : failures)
    for (int n = 0; n < take->frameCount; ++n) {
        if (!jnaTake_Counts(take, n)) {
            continue;
        }
        float* scratch = malloc((2 * width + 12 * (size_t)c->jointCount) * sizeof(float));
        failures += scratch == NULL;
        if (scratch != NULL) {
            float *skinned = scratch + width, *matrices = scratch + 2 * width;
            for (size_t i = 0; i < width; ++i) {
                scratch[i] = (float)jnaArray_Get(&take->motion, width * (size_t)n + i);
            }
            jnaPoseMatrices(c, &m->takes.clips[take->clip], take->first + n, matrices);
            jnaSkin(c, matrices, skinned);
            const float* against =
                take->hasQuasistatic ? (const float*)still.data + width * (size_t)n : (const float*)skinned;
            MeasureFrame(m, scratch, against, skinned, &rows[n]);
        }
        free(scratch);
    }
    jnaCloseTargets(&still);
    return failures > 0 ? OutOfMemory(m->takes.manifest->clips[take->clip].name, error) : jn_ok;
}

// Plays a clip with the modes; one frame is shown at its own time.
static jnResult PlayModes(const Measure* m, const jnaPlayer* player, const jnaClip* clip, Row* rows, jnError* error)
{
    const jnAsset* asset = player->asset;
    size_t vertices = (size_t)asset->vertexCount;
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.timing = jn_timingCausal;
    jnCharacter* character = NULL;
    float* numbers = malloc(9 * vertices * sizeof(float));
    jnResult result = jn_ok;
    JN_TRY(numbers != NULL ? jnCreateCharacter(&def, &character, error) : OutOfMemory(clip->name, error));
    float *shown = numbers, *surfaces[2] = {numbers + 3 * vertices, numbers + 6 * vertices};
    jnCharacterOutput output = {.positions = shown, .welded = true};
    for (int n = 0; n < clip->frameCount; ++n) {
        jnPose pose = jnaClip_Pose(clip, n);
        for (int moving = 0; moving < 2; ++moving) {
            if (moving) {
                jnCharacter_Step(character, &(jnCharacterInput){.h = (float)(1 / clip->rate), .pose = pose}, &output);
            } else {
                jnCharacter_Skin(character, &pose, &output);
            }
            for (size_t v = 0; v < vertices; ++v) {
                size_t own = asset->order != NULL ? (size_t)asset->order[v] : v;
                memcpy(surfaces[moving] + 3 * own, shown + 3 * v, 3 * sizeof(float));
            }
        }
        MeasureFrame(m, surfaces[1], surfaces[0], surfaces[0], &rows[n]);
    }
done:
    jnDestroyCharacter(character);
    free(numbers);
    return result;
}

static int FindTake(const jnaTakes* takes, int clip)
{
    for (int i = 0; i < takes->count; ++i) {
        if (takes->takes[i].clip == clip) {
            return i;
        }
    }
    return -1;
}

static jnResult MeasureClip(Measure* m, const jnaPlayer* player, int clip, jnError* error)
{
    int index = FindTake(&m->takes, clip);
    const jnaTake* take = index >= 0 ? &m->takes.takes[index] : NULL;
    int frames = take != NULL ? take->frameCount : m->takes.clips[clip].frameCount;
    if ((take == NULL && player == NULL) || frames < 1) {
        return jn_ok;
    }
    jnaClipSoftness* out = &m->out->clips[m->out->clipCount];
    *out = (jnaClipSoftness){.simulated = take != NULL,
        .against = take != NULL && take->hasQuasistatic ? jna_targetsQuasistatic : jna_targetsSkinned,
        .frameCount = frames};
    snprintf(out->name, sizeof(out->name), "%s", m->takes.manifest->clips[clip].name);
    Row* rows = calloc((size_t)frames, sizeof(*rows));
    jnResult result = jn_ok;
    JN_TRY(rows == NULL   ? OutOfMemory(out->name, error)
           : take != NULL ? MeasureTake(m, index, rows, error)
                          : PlayModes(m, player, &m->takes.clips[clip], rows, error));
    AddRows(rows, frames, take != NULL ? take->first : 0, out);
    m->out->clipCount++;
done:
    free(rows);
    return result;
}

static bool GoesOn(const Measure* m, double share, jnResult* result, jnError* error)
{
    if (*result == jn_ok && !jnaWatch_GoesOn(&m->def->watch, share)) {
        *result = jnFail(error, jn_cancelled, "the measurement was cancelled");
    }
    return *result == jn_ok;
}

static jnResult MeasureClips(Measure* m, jnError* error)
{
    int count = m->takes.manifest->clipCount;
    jnaPlayer player = {0};
    jnResult result = jn_ok;
    m->out->clips = calloc((size_t)count + 1, sizeof(*m->out->clips));
    if (m->out->clips == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", count);
    }
    m->out->moved = m->takes.hasModes && m->out->sag.human;
    bool plays = m->takes.hasModes && (m->takes.count < count || m->out->moved);
    if (plays) {
        jnaPlayerDef def = {.character = m->takes.character, .modes = m->takes.modes, .rate = m->takes.manifest->rate};
        result = jnaMakePlayer(&def, &player, error);
    }
    for (int i = 0; i < JNA_STANDARD_MOVES && m->out->moved && result == jn_ok; ++i) {
        result = jnaMeasureStandardMove(&player, (jnaStandardMove)i, m->out->sag.regions, m->out->travel[i], error);
    }
    for (int i = 0; i < count && GoesOn(m, SAG_SHARE + (1 - SAG_SHARE) * i / count, &result, error); ++i) {
        result = MeasureClip(m, plays ? &player : NULL, i, error);
    }
    if (plays) {
        jnaDestroyPlayer(&player);
    }
    return result;
}

double jnaSoftness_Against(const jnaSoftness* s, const jnaPeopleMeasurement* people)
{
    int region = (int)people->region;
    double median, greatest;
    bool known = s->moved && jnaSag_Region(&s->sag, 0, people->region, &median, &greatest) > 0;
    switch (people->quantity) {
    case jna_peopleHertz:
        return known && s->modes[region] >= 0 ? s->hertz[region] : -1;
    case jna_peopleRatio:
        return known && s->modes[region] >= 0 ? s->ratio[region] : -1;
    default:
        return known ? s->travel[people->quantity][region] : -1;
    }
}

double jnaSoftness_Travel(const jnaSoftness* s, jnaRegion region)
{
    double most = 0;
    for (int i = 0; i < s->clipCount; ++i) {
        most = fmax(most, s->clips[i].regions[region].most);
    }
    return most;
}

jnaSagFit jnaSoftness_Judge(const jnaSoftness* s, jnaRegion region, double median)
{
    const jnaSagBounds* bounds = &s->sag.expected[region];
    jnaSagFit fit = jnaSag_Judge(&s->sag, region, median);
    double most = jnaSoftness_Travel(s, region);
    bool small = fit == jna_sagSofter ? median - bounds->most < NO_MATTER : bounds->least - median < NO_MATTER;
    bool contradicted = (fit == jna_sagStiffer && most > MOVES) || (fit == jna_sagSofter && most <= MOVES);
    if (fit != jna_sagStiffer && fit != jna_sagSofter) {
        return fit;
    }
    return contradicted || s->clipCount == 0 ? jna_sagUnknown : small ? jna_sagFits : fit;
}

const char* jnaSagFit_Words(jnaSagFit fit)
{
    return fit == jna_sagSofter ? "softer than such a body" : fit == jna_sagStiffer ? "stiffer than such a body" : "";
}

// Regions that are far from what people of this physique have.
static void WarnOfSag(jnaSoftness* s)
{
    const char* build = jnaBuildName(s->sag.physique.build);
    for (int r = 0; r < JNA_REGIONS; ++r) {
        const jnaSagBounds* bounds = &s->sag.expected[r];
        double median = 0, greatest = 0;
        (void)jnaSag_Region(&s->sag, 0, (jnaRegion)r, &median, &greatest);
        jnaSagFit fit = jnaSoftness_Judge(s, (jnaRegion)r, median);
        if (fit == jna_sagSofter && median > FAR * bounds->most) {
            jnaNotes_Add(&s->warnings, "the %s sags by %.1f mm under 1 g, at most %.1f expected of a body that is %s",
                jnaRegionNames[r], 1e3 * median, 1e3 * bounds->most, build);
        } else if (fit == jna_sagStiffer && median < bounds->least / FAR) {
            jnaNotes_Add(&s->warnings,
                "the %s sags by %.1f mm under 1 g, at least %.1f expected of a body that is %s, and moves by %.1f mm "
                "at most",
                jnaRegionNames[r], 1e3 * median, 1e3 * bounds->least, build, 1e3 * jnaSoftness_Travel(s, (jnaRegion)r));
        }
    }
    if (!s->sag.converged) {
        jnaNotes_Add(&s->warnings, "the flesh did not reach equilibrium under gravity: some region is too soft");
    }
}

// The region that moves farthest over all clips, where that is farther than flesh does.
static void WarnOfTravel(jnaSoftness* s)
{
    const jnaClipSoftness* at = NULL;
    int region = 0;
    double most = FAR_TRAVEL * s->sag.size;
    for (int i = 0; i < s->clipCount; ++i) {
        const jnaClipSoftness* clip = &s->clips[i];
        bool swings = !clip->simulated || clip->against == jna_targetsQuasistatic;
        for (int r = 0; r < JNA_REGIONS && s->sag.human && swings; ++r) {
            if (clip->regions[r].most > most) {
                most = clip->regions[r].most;
                region = r;
                at = clip;
            }
        }
    }
    if (at != NULL) {
        jnaNotes_Add(&s->warnings, "the %s moves by %.1f mm in clip %s, frame %d: farther than a body's flesh does",
            jnaRegionNames[region], 1e3 * most, at->name, at->regions[region].frame);
    }
}

static void WarnOfMotion(jnaSoftness* s)
{
    static const struct {
        jnaRegion region;
        double most;
    } hard[] = {{jna_regionHead, HARD_HEAD}, {jna_regionKnee, HARD_HINGE}, {jna_regionElbow, HARD_HINGE}};
    for (int i = 0; i < s->clipCount; ++i) {
        const jnaClipSoftness* clip = &s->clips[i];
        // From the skinned surface, simulated flesh is also as far as the pose alone takes it: a bent knee is no swing.
        bool swings = !clip->simulated || clip->against == jna_targetsQuasistatic;
        for (size_t h = 0; h < sizeof(hard) / sizeof(hard[0]) && s->sag.human && swings; ++h) {
            const jnaRegionMotion* motion = &clip->regions[hard[h].region];
            if (motion->most > hard[h].most) {
                jnaNotes_Add(&s->warnings, "the %s moves by %.1f mm in clip %s, frame %d: where a body hardly moves",
                    jnaRegionNames[hard[h].region], 1e3 * motion->most, clip->name, motion->frame);
            }
        }
        if (clip->lips > LIPS_OPEN) {
            jnaNotes_Add(&s->warnings, "lips that touch at rest open by %.1f mm in clip %s, frame %d", 1e3 * clip->lips,
                clip->name, clip->lipsFrame);
        }
    }
}

static jnResult MeasureRest(Measure* m, jnError* error)
{
    jnaSoftness* s = m->out;
    const jnaVolume* volume;
    const jnaCharacter* c = m->takes.character;
    JN_PASS(jnaWorkspace_Volume(m->takes.workspace, &volume, error));
    if (volume->vertexCount != c->vertexCount || volume->heldBy == NULL || volume->regions == NULL) {
        JN_PASS(jnFail(error, jn_badData,
            "%s/volume: has no bones or is of another character; run jounce tetrahedralize", m->takes.workspace->path));
    }
    JN_PASS(jnaMeasureSag(volume, c, &m->takes.manifest->materials.body, m->def->axes, &s->sag, error));
    JN_PASS(jnaFindLips(c, s->sag.regions, s->sag.size, &m->lips, error));
    s->lipPairs = m->lips.count;
    s->lipsRest = m->lips.rest;
    s->modeCount = m->takes.hasModes ? m->takes.modes->modeCount : 0;
    for (int r = 0; r < JNA_REGIONS; ++r) {
        s->modes[r] = -1;
    }
    if (s->modeCount > 0) {
        jnaLowestModes(m->takes.modes, s->sag.regions, s->modes);
    }
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double omega = s->modes[r] >= 0 ? sqrt(m->takes.modes->stiffness[s->modes[r]]) : 0;
        s->hertz[r] = omega / JNA_TURN;
        s->ratio[r] = omega > 0 ? m->takes.modes->damping[s->modes[r]] / (2 * omega) : 0;
    }
    return jn_ok;
}

jnResult jnaMeasureSoftness(const char* workspace, const jnaSoftnessDef* def, jnaSoftness* softness, jnError* error)
{
    *softness = (jnaSoftness){0};
    Measure m = {.def = def, .out = softness};
    jnaWorkspace* opened;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspace(workspace, &opened, error));
    JN_TRY(jnaOpenTakes(opened, &m.takes, NULL, error));
    result = MeasureRest(&m, error);
    if (def->clips && GoesOn(&m, SAG_SHARE, &result, error)) {
        result = MeasureClips(&m, error);
    }
    JN_TRY(result);
    WarnOfSag(softness);
    WarnOfTravel(softness);
    WarnOfMotion(softness);
done:
    if (result != jn_ok) {
        jnaDestroySoftness(softness);
    }
    jnaDestroyLips(&m.lips);
    jnaCloseTakes(&m.takes);
    jnaCloseWorkspace(opened);
    return result;
}
