// See morph_weights.h.
#include "asset/morph_weights.h"

#include "asset/bake.h"
#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of a component; see jnCharacterOutput.
#define COMPONENT_REACH 1.25f

void jnaDestroyMorphWeights(jnaMorphWeights* w)
{
    for (int i = 0; w->weights != NULL && i < w->clipCount; ++i) {
        free(w->weights[i]);
    }
    free(w->weights);
    free(w->keyCounts);
    free(w->reach);
    free(w->squares);
    *w = (jnaMorphWeights){0};
}

typedef struct Taking {
    float* to;
    size_t count;
} Taking;

static bool Take(int frame, const float* weights, const float* normals, void* user)
{
    const Taking* taking = user;
    (void)normals;
    memcpy(taking->to + (size_t)frame * taking->count, weights, taking->count * sizeof(float));
    return true;
}

static jnResult BakeClip(const jnAsset* a, int clip, bool seamless, jnaMorphWeights* w, jnError* error)
{
    jnaBakeDef def = jnaDefaultBakeDef(a);
    size_t count = (size_t)w->count;
    def.clip = clip;
    def.seamless = seamless && jnAsset_Clip(a, clip).looping;
    def.weightsOnly = true;
    int frames = jnaBakeFrameCount(&def);
    w->keyCounts[clip] = frames + def.seamless;
    w->weights[clip] = malloc((size_t)w->keyCounts[clip] * count * sizeof(float) + 1);
    if (w->weights[clip] == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the weights of '%s'", jnAsset_Clip(a, clip).name);
    }
    Taking taking = {w->weights[clip], count};
    def.take = Take;
    def.user = &taking;
    JN_PASS(jnaBake(&def, error));
    if (def.seamless) {
        memcpy(w->weights[clip] + (size_t)frames * count, w->weights[clip], count * sizeof(float));
    }
    return jn_ok;
}

static void Measure(const jnAsset* a, jnaMorphWeights* w)
{
    double frames = 0;
    for (int k = 0; k < w->count; ++k) {
        bool bounded = k < a->componentCount || a->modes->modes[k - a->componentCount].cap > 0.0f;
        w->reach[k] = k < a->componentCount ? COMPONENT_REACH : bounded ? 1.0f : 0.0f;
    }
    for (int c = 0; c < w->clipCount; ++c) {
        frames += w->keyCounts[c];
        for (size_t i = 0; i < (size_t)w->keyCounts[c] * (size_t)w->count; ++i) {
            float value = w->weights[c][i];
            size_t k = i % (size_t)w->count;
            w->reach[k] = fmaxf(w->reach[k], fabsf(value));
            w->squares[k] += (double)value * (double)value;
        }
    }
    for (int k = 0; k < w->count; ++k) {
        w->reach[k] = w->reach[k] > 0.0f ? w->reach[k] : 1.0f;
        w->squares[k] /= fmax(frames, 1);
    }
}

jnResult jnaBakeMorphWeights(const jnAsset* a, bool seamless, jnaMorphWeights* w, jnError* error)
{
    *w = (jnaMorphWeights){.count = a->componentCount + a->modeCount, .clipCount = a->clipCount};
    jnaArena arena = {0};
    w->keyCounts = jnaArena_Give(&arena, a->clipCount, sizeof(*w->keyCounts));
    w->weights = jnaArena_Give(&arena, a->clipCount, sizeof(*w->weights));
    w->reach = jnaArena_Give(&arena, w->count, sizeof(*w->reach));
    w->squares = jnaArena_Give(&arena, w->count, sizeof(*w->squares));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the morph weights of the clips", error));
    for (int c = 0; c < a->clipCount; ++c) {
        JN_TRY(BakeClip(a, c, seamless, w, error));
    }
    Measure(a, w);
done:
    if (result != jn_ok) {
        jnaDestroyMorphWeights(w);
    }
    return result;
}

void jnaMultiplyMorphs(const jnaMorphShapes* s, const jnAsset* asset, double* products)
{
    size_t count = (size_t)s->count, width = 3 * (size_t)asset->vertexCount;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t k = 0; k < count; ++k) {
        for (size_t l = 0; l <= k; ++l) {
            const float *a = s->positions + k * width, *b = s->positions + l * width;
            double sum = 0;
            for (size_t i = 0; i < width; ++i) {
                sum += (double)(a[i] * b[i]);
            }
            products[k * count + l] = products[l * count + k] = sum;
        }
    }
}
