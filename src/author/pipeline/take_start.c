// Whether a motion can be that of its clip: it begins where the skeleton's surface is, as far as flesh reaches.
//
// Springs can be fitted to anything; to motion whose vertices are in another order, or of another clip, too. Such
// motion is far from the surface from its first frame on.
#include "pipeline/takes.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/try.h"
#include "character/vertex_match.h"

#include "runtime/for_author.h"

#include <math.h>

static double Extent(const jnaCharacter* c)
{
    double extent = 0;
    for (size_t k = 0; k < 3; ++k) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t v = 0; v < (size_t)c->vertexCount; ++v) {
            low = fmin(low, (double)c->positions[3 * v + k]);
            high = fmax(high, (double)c->positions[3 * v + k]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

// Mean distance of the first frame from the surface; vertices that are missing do not count. missing: where all are.
static double MeanDistance(const jnaTake* take, const jnaCharacter* c, const float* surface, double missing)
{
    double sum = 0;
    int count = 0;
    for (size_t v = 0; v < (size_t)c->vertexCount; ++v) {
        double squared = 0;
        for (size_t k = 0; k < 3; ++k) {
            double d = jnaArray_Get(&take->motion, 3 * v + k) - (double)surface[3 * v + k];
            squared += d * d;
        }
        sum += isfinite(squared) ? sqrt(squared) : 0;
        count += isfinite(squared);
    }
    return count > 0 ? sum / count : missing;
}

// The first frame of the equilibria; their shape is checked by those who read all of them.
static jnResult FirstEquilibrium(const jnaTakes* t, const jnaTake* take, float* surface, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaArray file = {0};
    size_t count = 3 * (size_t)t->character->vertexCount;
    JN_PASS(jnaWorkspace_EquilibriaPath(t->workspace, take->clip, path, error));
    JN_PASS(jnaOpenArray(path, &file, error));
    for (size_t i = 0; i < count; ++i) {
        bool there = file.scalar <= jna_float64 && file.dimensions == 3 && i < file.count;
        surface[i] = there ? (float)jnaArray_Get(&file, i) : NAN;
    }
    jnaCloseArray(&file);
    return jn_ok;
}

jnResult jnaTakes_CheckStart(const jnaTakes* t, const jnaTake* take, jnError* error)
{
    jnResult result = jn_ok;
    const jnaCharacter* c = t->character;
    jnaArena arena = {0};
    float* matrices = jnaArena_Take(&arena, 12 * (int64_t)c->jointCount, sizeof(float));
    float* surface = jnaArena_Take(&arena, 3 * (int64_t)c->vertexCount, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the first frame of a clip", error));
    jnaPoseMatrices(c, &t->clips[take->clip], take->first, matrices);
    jnaSkin(c, matrices, surface);
    double distance = MeanDistance(take, c, surface, 0), reach = JNA_FLESH_REACH * Extent(c);
    if (distance > reach && take->hasQuasistatic) {
        JN_TRY(FirstEquilibrium(t, take, surface, error));
        distance = fmin(distance, MeanDistance(take, c, surface, distance));
    }
    if (distance > reach) {
        result = jnFail(error, jn_badData,
            "the motion of clip '%s' begins %.3g m from its target surface on average, and flesh is never farther "
            "than "
            "%.3g m: it is of another clip, or its vertices are in another order",
            t->manifest->clips[take->clip].name, distance, reach);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
