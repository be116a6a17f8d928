// How far the packed morph targets of an asset are from those that were packed, over its clips. The clips are played as
// the runtime plays them; their weights times what is missing of each target is what each vertex is off by.
#include "asset/asset_writer.h"

#include "asset/asset_sections.h"
#include "asset/morph_weights.h"
#include "base/arena.h"
#include "base/try.h"
#include "learn/network.h"
#include "runtime/for_author.h"

#include <math.h>

// Of all clips together, at even distances: more would find no larger errors worth the time.
enum { MOST_FRAMES = 400 };

// What is missing of each target, [weights][vertexCount][3] in the asset's order.
static void FindMissing(const jnaAssetDef* def, const jnAsset* a, const int32_t* modeOrder, float* missing)
{
    size_t vertices = (size_t)a->vertexCount;
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < a->componentCount + a->modeCount; ++k) {
        float* field = missing + (size_t)k * 3 * vertices;
        int mode = k < a->componentCount ? -1 : modeOrder[k - a->componentCount];
        const float* from = mode < 0 ? def->network->basis + (size_t)k * 3 * vertices
                                     : def->modes->shapes + (size_t)mode * 3 * vertices;
        double factor = mode < 0 ? 1.0 : jnaModeUnit(def->modes, mode);
        jnAsset_MorphDeltas(a, k, true, field);
        for (size_t i = 0; i < 3 * vertices; ++i) {
            size_t source = a->order != NULL ? (size_t)a->order[i / 3] : i / 3;
            field[i] = (float)((double)field[i] - factor * (double)from[3 * source + i % 3]);
        }
    }
}

// Adds what one frame is off by. sums: [vertexCount][3], scratch
static void AddFrame(
    const float* weights, int count, const float* missing, size_t vertices, float* sums, jnaMorphPacking* packing)
{
    memset(sums, 0, 3 * vertices * sizeof(float));
    for (int k = 0; k < count; ++k) {
        for (size_t i = 0; i < 3 * vertices; ++i) {
            sums[i] += weights[k] * missing[(size_t)k * 3 * vertices + i];
        }
    }
    for (size_t v = 0; v < vertices; ++v) {
        double x = (double)sums[3 * v], y = (double)sums[3 * v + 1], z = (double)sums[3 * v + 2];
        double square = x * x + y * y + z * z;
        packing->rms += square;
        packing->largest = fmax(packing->largest, square);
    }
}

jnResult jnaMeasurePacking(const jnaAssetDef* def, const jnAsset* a, jnaMorphPacking* packing, jnError* error)
{
    jnaMorphWeights weights = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    *packing = (jnaMorphPacking){0};
    if (a->morphs == NULL || a->clipCount == 0 || a->springCount > 0) {
        return jn_ok;
    }
    int count = a->componentCount + a->modeCount, frames = 0, taken = 0, number = 0;
    int64_t numbers = 3 * (int64_t)a->vertexCount;
    float* missing = jnaArena_Take(&arena, count * numbers, sizeof(float));
    float* sums = jnaArena_Take(&arena, numbers, sizeof(float));
    int32_t* modeOrder = jnaArena_Take(&arena, a->modeCount, sizeof(int32_t));
    if (def->modes != NULL && modeOrder != NULL) {
        jnaOrderModes(def->modes, &arena, modeOrder);
    }
    JN_TRY(jnaArena_Check(&arena, "the error of the morph targets", error));
    JN_TRY(jnaBakeMorphWeights(a, false, &weights, error));
    FindMissing(def, a, modeOrder, missing);
    for (int c = 0; c < weights.clipCount; ++c) {
        frames += weights.keyCounts[c];
    }
    int step = (frames + MOST_FRAMES - 1) / MOST_FRAMES;
    for (int c = 0; c < weights.clipCount; ++c) {
        for (int n = 0; n < weights.keyCounts[c]; ++n) {
            if (number++ % step == 0) {
                AddFrame(weights.weights[c] + (size_t)n * (size_t)count, count, missing, (size_t)a->vertexCount, sums,
                    packing);
                taken++;
            }
        }
    }
    packing->bytes = a->morphs->runCount * (size_t)JN_VALUE_RUN;
    packing->rms = sqrt(packing->rms / fmax(1.0, (double)taken * a->vertexCount));
    packing->largest = sqrt(packing->largest);
done:
    jnaDestroyMorphWeights(&weights);
    jnaReleaseArena(&arena);
    return result;
}
