// jounce-bench rates: the flesh of a character at many frame rates, beside itself at 1000 Hz.
//
// Every clip is played from the same curve at each rate. Differences are those of the rest surface, what the modes
// displace it by: with the Gram matrix G of their shapes, |U z|^2 = z.G z, and no vertex has to be skinned. Printed are
// the root mean square of the displacement over that of the reference at the same times, and the root mean square of
// the difference over the same.
#include "bench.h"

#include "asset/asset_writer.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/try.h"
#include "jounce/jounce.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE = 1000, SHOWN = 60, MOST_SECONDS = 12, COLUMN = 24 };
// The beginning of a clip, which no rate knows the motion before.
#define SKIPPED 0.5

typedef enum Keys { CURVE, LINES } Keys;
// At the steps; inside them, at SHOWN frames a second; the same in exact timing, whose poses are an interval ahead.
typedef enum Shows { AT_STEPS, BETWEEN, AHEAD } Shows;

typedef struct Way {
    const char* name;
    double rate; // 0: random steps
    Keys keys;
    Shows shows;
} Way;

static const Way ways[] = {{"24", 24, CURVE, AT_STEPS}, {"30", 30, CURVE, AT_STEPS}, {"50", 50, CURVE, AT_STEPS},
    {"60", 60, CURVE, AT_STEPS}, {"120", 120, CURVE, AT_STEPS}, {"144", 144, CURVE, AT_STEPS},
    {"240", 240, CURVE, AT_STEPS}, {"1 to 50 ms", 0, CURVE, AT_STEPS}, {"60, lines", 60, LINES, AT_STEPS},
    {"240, lines", 240, LINES, AT_STEPS}, {"15, between", 15, CURVE, BETWEEN}, {"10, between", 10, CURVE, BETWEEN},
    {"20, ahead", 20, CURVE, AHEAD}, {"15, ahead", 15, CURVE, AHEAD}, {"10, ahead", 10, CURVE, AHEAD}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

typedef struct Bench {
    const jnAsset* asset;
    jnTiming timing;
    double* gram;                             // [modes][modes]
    float *rotations, *translations, *scales; // of a pose
    float* weights;                           // [columns]
    double* reference;                        // [MOST_SECONDS * REFERENCE + 2][modes]
} Bench;

typedef struct Sums {
    double own, reference, difference;
} Sums;

static bool Prepare(Bench* b, jnaArena* arena)
{
    const jnAsset* a = b->asset;
    size_t modes = (size_t)a->modeCount, width = 3 * (size_t)a->vertexCount;
    float* deltas = jnaArena_Take(arena, (int64_t)(modes * width), sizeof(float));
    b->gram = jnaArena_Take(arena, (int64_t)(modes * modes), sizeof(double));
    b->rotations = jnaArena_Take(arena, a->jointCount, 4 * sizeof(float));
    b->translations = jnaArena_Take(arena, a->jointCount, 3 * sizeof(float));
    b->scales = jnaArena_Take(arena, a->jointCount, 3 * sizeof(float));
    b->weights = jnaArena_Take(arena, a->componentCount + a->modeCount, sizeof(float));
    b->reference = jnaArena_Take(arena, (int64_t)modes * (MOST_SECONDS * REFERENCE + 2), sizeof(double));
    for (size_t k = 0; !arena->failed && k < modes; ++k) {
        jnAsset_MorphDeltas(a, a->componentCount + (int)k, true, deltas + k * width);
        for (size_t l = 0; l <= k; ++l) {
            double sum = 0;
            for (size_t i = 0; i < width; ++i) {
                sum += (double)deltas[k * width + i] * (double)deltas[l * width + i];
            }
            b->gram[k * modes + l] = b->gram[l * modes + k] = sum;
        }
    }
    return !arena->failed;
}

static double SecondsOf(const jnAssetClip* clip)
{
    double seconds = (clip->looping ? clip->frameCount : clip->frameCount - 1) / clip->rate;
    return fmin(clip->looping ? 2 * seconds : seconds, MOST_SECONDS);
}

// The pose of a time, on straight lines between the frames where that is asked for.
static jnPose PoseAt(Bench* b, int clip, double seconds, Keys keys)
{
    const jnAsset* a = b->asset;
    jnAssetClip c = jnAsset_Clip(a, clip);
    jnAsset_SampleClip(a, clip, seconds, b->rotations, b->translations, b->scales);
    double at = seconds * c.rate, first = floor(at + 1e-9), share = fmax(at - first, 0);
    size_t joints = (size_t)a->jointCount;
    for (size_t j = 0; keys == LINES && j < joints; ++j) {
        size_t count = (size_t)c.frameCount, n = (size_t)first;
        size_t from = (c.looping ? n % count : n < count ? n : count - 1) * joints + j;
        size_t to = (c.looping ? (n + 1) % count : n + 1 < count ? n + 1 : count - 1) * joints + j;
        const float *p = c.rotations + 4 * from, *q = c.rotations + 4 * to;
        double dot = 0, square = 0, r[4];
        for (int i = 0; i < 4; ++i) {
            dot += (double)p[i] * (double)q[i];
        }
        for (int i = 0; i < 4; ++i) {
            r[i] = (1 - share) * (double)p[i] + (dot < 0 ? -share : share) * (double)q[i];
            square += r[i] * r[i];
        }
        for (size_t i = 0; i < 4; ++i) {
            b->rotations[4 * j + i] = (float)(r[i] / sqrt(square));
        }
        for (size_t i = 0; i < 3; ++i) {
            double x = (double)c.translations[3 * from + i], y = (double)c.translations[3 * to + i];
            b->translations[3 * j + i] = (float)(x + share * (y - x));
        }
    }
    return (jnPose){.rotations = b->rotations, .translations = b->translations, .scales = b->scales};
}

// Adds what is shown at a time.
static void Compare(const Bench* b, double seconds, const float* z, Sums* sums)
{
    size_t modes = (size_t)b->asset->modeCount;
    double at = seconds * REFERENCE, share = at - floor(at), own = 0, reference = 0, difference = 0;
    const double *from = b->reference + (size_t)at * modes, *to = from + (share > 1e-6 ? modes : 0);
    double r[JN_MAX_ASSET_MODES], d[JN_MAX_ASSET_MODES];
    for (size_t k = 0; k < modes; ++k) {
        r[k] = from[k] + share * (to[k] - from[k]);
        d[k] = (double)z[k] - r[k];
    }
    for (size_t k = 0; k < modes; ++k) {
        double rows[3] = {0};
        for (size_t l = 0; l < modes; ++l) {
            double g = b->gram[k * modes + l];
            rows[0] += g * (double)z[l];
            rows[1] += g * r[l];
            rows[2] += g * d[l];
        }
        own += (double)z[k] * rows[0];
        reference += r[k] * rows[1];
        difference += d[k] * rows[2];
    }
    sums->own += own;
    sums->reference += reference;
    sums->difference += difference;
}

static jnResult Play(Bench* b, int clip, const Way* way, Sums* sums, jnError* error)
{
    const jnAsset* a = b->asset;
    jnAssetClip c = jnAsset_Clip(a, clip);
    jnCharacterDef def = jnDefaultCharacterDef(a);
    jnCharacter* character;
    // The reference goes on for a step: it is looked at between its samples.
    double end = SecondsOf(&c) + (way->rate == REFERENCE ? 1.0 / REFERENCE : 0), h = 0, shown = SKIPPED;
    uint64_t random = 7;
    def.weightsOnly = true;
    def.timing = way->shows == AHEAD ? jn_timingExact : b->timing;
    const float* z = b->weights + a->componentCount;
    const jnCharacterOutput out = {.weights = b->weights};
    JN_PASS(jnCreateCharacter(&def, &character, error));
    for (double t = 0; t <= end + 1e-9; t += h) {
        jnCharacterInput input = {.h = (float)h, .pose = PoseAt(b, clip, t, way->keys)};
        jnCharacter_Step(character, &input, &out);
        double lag = def.timing == jn_timingExact ? h : 0, start = t - lag - h;
        if (way->rate == REFERENCE) {
            size_t at = (size_t)((t - lag) * REFERENCE + 0.5) * (size_t)a->modeCount;
            for (size_t k = 0; k < (size_t)a->modeCount; ++k) {
                b->reference[at + k] = (double)z[k];
            }
        } else if (way->shows == AT_STEPS && t - lag >= SKIPPED) {
            Compare(b, t - lag, z, sums);
        }
        for (; way->shows != AT_STEPS && shown <= t - lag; shown += 1.0 / SHOWN) {
            jnCharacter_Evaluate(character, (float)((shown - start) / h), &out);
            Compare(b, shown, z, sums);
        }
        double uniform = (double)(jnaNextBits(&random) >> 11) * 0x1p-53;
        h = way->rate > 0 ? 1 / way->rate : 0.001 + 0.049 * uniform;
    }
    jnDestroyCharacter(character);
    return jn_ok;
}

static void PrintRow(const char* name, const Sums* sums)
{
    printf("%-*.*s", COLUMN, COLUMN - 1, name);
    for (int w = 0; w < WAYS; ++w) {
        double rms = sqrt(sums[w].own / sums[w].reference), difference = sqrt(sums[w].difference / sums[w].reference);
        printf("  %5.3f %5.3f", rms, difference);
    }
    printf("\n");
}

static jnResult Run(Bench* b, jnError* error)
{
    static const Way reference = {"1000", REFERENCE, CURVE, AT_STEPS};
    Sums all[WAYS] = {{0}};
    printf("%-*s", COLUMN, "rms, difference");
    for (int w = 0; w < WAYS; ++w) {
        printf("  %11s", ways[w].name);
    }
    printf("\n");
    for (int clip = 0; clip < b->asset->clipCount; ++clip) {
        Sums sums[WAYS] = {{0}};
        JN_PASS(Play(b, clip, &reference, NULL, error));
        for (int w = 0; w < WAYS; ++w) {
            JN_PASS(Play(b, clip, &ways[w], &sums[w], error));
            all[w].own += sums[w].own / sums[w].reference;
            all[w].difference += sums[w].difference / sums[w].reference;
            all[w].reference += 1;
        }
        PrintRow(jnAsset_Clip(b->asset, clip).name, sums);
    }
    PrintRow("all", all);
    return jn_ok;
}

static jnResult Measure(const jnAsset* asset, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Bench b = {.asset = asset, .timing = (jnTiming)asset->timing};
    if (asset->modeCount == 0) {
        return jnFail(error, jn_badArgument, "the character has no modes");
    }
    JN_TRY(Prepare(&b, &arena) ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the modes of a character"));
    JN_TRY(Run(&b, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

int jnbBenchRates(const char* path)
{
    jnaAssetFile file;
    jnError error = {0};
    if (jnaOpenAsset(path, &file, &error) != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    jnResult result = Measure(file.asset, &error);
    if (result != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
    }
    jnaCloseAsset(&file);
    return result == jn_ok ? 0 : 1;
}
