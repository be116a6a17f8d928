// Clips played on their modes by the runtime's own code; what is looked at is the way from the target to what is shown.
#define JN_WANTS_CHARACTER
#include "runtime/for_author.h"

#include "pipeline/offsets.h"

#include "base/affine.h"
#include "base/try.h"
#include "pipeline/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A looping clip is played for at least so many seconds: by then a mode that it drives in step has built up to within a
// few percent, at the damping of flesh.
#define LOOP_SECONDS 3.0

void jnaDestroyOffsets(jnaOffsets* o)
{
    free(o->joints);
    free(o->clips);
    free(o->peaks);
    *o = (jnaOffsets){0};
}

// One clip under way, with results of its own, so that clips can be played side by side.
typedef struct Run {
    const jnaCharacter* character;
    const jnaModes* modes;
    const jnaPlayer* player;
    int clip;
    jnaOffset* joints; // [jointCount]
    double* peaks;     // [modeCount]
    double* squares;   // [2], of what the caps take away, and of all offsets
} Run;

// The amplitude of a mode of the asset, metres.
static double AmplitudeOf(const Run* r, const jnCharacter* c, int mode)
{
    return (double)c->morphs->now[mode] / r->player->roots[mode];
}

// The mode that moves a vertex most, by the amplitudes that the character has.
static int MainMode(const Run* r, const jnCharacter* c, int vertex)
{
    double most = -1;
    int best = 0;
    for (int i = 0; i < r->modes->modeCount; ++i) {
        int k = r->player->order[i];
        const float* u = r->modes->shapes + 3 * ((size_t)k * (size_t)r->modes->vertexCount + (size_t)vertex);
        double z = AmplitudeOf(r, c, i);
        double square = z * z * (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        best = square > most ? k : best;
        most = fmax(most, square);
    }
    return best;
}

// Surfaces of one moment, [vertexCount][3] each, in the asset's order.
typedef struct Moment {
    float *shown, *uncapped, *target;
} Moment;

static void LookAtFrame(const Run* r, const jnCharacter* c, const Moment* m, int frame)
{
    const jnAsset* asset = r->player->asset;
    for (int i = 0; i < asset->vertexCount; ++i) {
        float square = 0.0f;
        for (int a = 0; a < 3; ++a) {
            float away = m->shown[3 * (size_t)i + (size_t)a] - m->target[3 * (size_t)i + (size_t)a];
            square += away * away;
        }
        int vertex = asset->order != NULL ? asset->order[i] : i;
        jnaOffset* joint = &r->joints[r->character->influences[vertex].joints[0]];
        double length = sqrt((double)square);
        if (length > joint->length) {
            int mode = MainMode(r, c, vertex);
            *joint = (jnaOffset){length, vertex, r->clip, frame, mode, sqrt(r->modes->stiffness[mode]) / JNA_TURN};
        }
    }
    for (int i = 0; i < r->modes->modeCount; ++i) {
        int k = r->player->order[i];
        r->peaks[k] = fmax(r->peaks[k], fabs(AmplitudeOf(r, c, i)));
    }
}

// The same moment without caps: up to ten times as far the motion underneath does not know them.
static void LookUnderCaps(const Run* r, jnCharacter* c, const Moment* m)
{
    jnCharacter_ScaleModeCaps(c, 0.0f);
    jnCharacter_Evaluate(c, 1.0f, &(jnCharacterOutput){.positions = m->uncapped, .welded = true});
    jnCharacter_ScaleModeCaps(c, 1.0f);
    for (size_t i = 0; i < 3 * (size_t)r->player->asset->vertexCount; ++i) {
        double away = (double)m->uncapped[i] - (double)m->target[i];
        double taken = (double)m->uncapped[i] - (double)m->shown[i];
        r->squares[0] += taken * taken;
        r->squares[1] += away * away;
    }
}

static jnResult PlayClip(const Run* r, const jnaClip* clip, jnError* error)
{
    jnCharacterDef def = jnDefaultCharacterDef(r->player->asset);
    jnCharacter* c = NULL;
    size_t width = 3 * (size_t)r->player->asset->vertexCount;
    float* positions = malloc(3 * width * sizeof(float));
    const Moment moment = {positions, positions + width, positions + 2 * width};
    jnResult result = positions != NULL ? jnCreateCharacter(&def, &c, error)
                                        : jnFail(error, jn_outOfMemory, "out of memory to play '%s'", clip->name);
    int frames = clip->frameCount;
    if (clip->looping && frames > 0) {
        frames *= 1 + (int)fmin(LOOP_SECONDS * clip->rate / frames, 1000.0);
    }
    for (int n = 0; result == jn_ok && n < frames; ++n) {
        jnCharacterInput input = {.h = (float)(1 / clip->rate), .pose = jnaClip_Pose(clip, n % clip->frameCount)};
        jnCharacter_Step(c, &input, &(jnCharacterOutput){.positions = moment.shown, .welded = true});
        jnCharacter_Skin(c, &input.pose, &(jnCharacterOutput){.positions = moment.target, .welded = true});
        LookAtFrame(r, c, &moment, n % clip->frameCount);
        if (c->morphs->capped) {
            LookUnderCaps(r, c, &moment);
        }
    }
    jnDestroyCharacter(c);
    free(positions);
    return result;
}

// Results of clips into those of all, in their order.
static void Gather(const jnaOffset* joints, const double* peaks, int clip, jnaOffsets* o)
{
    for (int j = 0; j < o->jointCount; ++j) {
        o->joints[j] = joints[j].length > o->joints[j].length ? joints[j] : o->joints[j];
        o->clips[clip] = joints[j].length > o->clips[clip].length ? joints[j] : o->clips[clip];
    }
    o->most = o->clips[clip].length > o->most.length ? o->clips[clip] : o->most;
    for (int k = 0; k < o->modeCount; ++k) {
        o->peaks[k] = fmax(o->peaks[k], peaks[k]);
    }
}

static jnResult PlayAll(const jnaCharacter* c, const jnaModes* m, const jnaPlayer* player, int clipCount,
    const jnaClip* clips, jnaOffsets* o, jnError* error)
{
    size_t joints = (size_t)c->jointCount, modes = (size_t)m->modeCount, count = (size_t)clipCount;
    double sums[2] = {0};
    jnaOffset* found = calloc(count * joints + 1, sizeof(*found));
    double* peaks = calloc(count * (modes + 2) + 1, sizeof(*peaks));
    double* squares = peaks != NULL ? peaks + count * modes : NULL; // [clipCount][2]
    jnResult result = found != NULL && peaks != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory");
    int failures = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : failures)
    for (int i = 0; i < clipCount; ++i) {
        const Run run = {
            c, m, player, i, found + (size_t)i * joints, peaks + (size_t)i * modes, squares + 2 * (size_t)i};
        failures += result == jn_ok && PlayClip(&run, &clips[i], NULL) != jn_ok;
    }
    if (result == jn_ok && failures > 0) {
        result = jnFail(error, jn_outOfMemory, "out of memory to play %d clips", clipCount);
    }
    for (int i = 0; result == jn_ok && i < clipCount; ++i) {
        Gather(found + (size_t)i * joints, peaks + (size_t)i * modes, i, o);
        sums[0] += squares[2 * i];
        sums[1] += squares[2 * i + 1];
    }
    o->kept = sums[1] > 0 ? 1 - sums[0] / sums[1] : 1;
    free(found);
    free(peaks);
    return result;
}

jnResult jnaFindOffsets(
    const jnaCharacter* c, const jnaModes* m, int clipCount, const jnaClip* clips, jnaOffsets* o, jnError* error)
{
    *o = (jnaOffsets){.jointCount = c->jointCount,
        .clipCount = clipCount,
        .modeCount = m->modeCount,
        .height = jnaHeightOf(c),
        .kept = 1};
    jnaArena arena = {0};
    o->joints = jnaArena_Give(&arena, c->jointCount, sizeof(jnaOffset));
    o->clips = jnaArena_Give(&arena, clipCount, sizeof(jnaOffset));
    o->peaks = jnaArena_Give(&arena, m->modeCount, sizeof(double));
    if (arena.failed) {
        jnaDestroyOffsets(o);
    }
    JN_PASS(jnaArena_Check(&arena, "the offsets of joints", error));
    if (m->modeCount == 0) {
        return jn_ok;
    }
    jnaPlayer player;
    jnResult result = jnaMakePlayer(&(jnaPlayerDef){.character = c, .modes = m, .rate = 30}, &player, error);
    if (result == jn_ok) {
        result = PlayAll(c, m, &player, clipCount, clips, o, error);
        jnaDestroyPlayer(&player);
    }
    if (result != jn_ok) {
        jnaDestroyOffsets(o);
    }
    return result;
}
