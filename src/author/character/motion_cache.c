// Vertex caches as ground-truth motion: read, matched to the character's vertices, brought to metres and its axes.
#include "character/import.h"
#include "character/vertex_match.h"

#include "base/arena.h"
#include "base/bounds.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// FBX and Collada keep the points of the source; in glTF an attribute may say which point each vertex is. Then caches
// in the source's own order can be proven. NULL where neither is known, or where welding mixed numbers.
static const int32_t* FindSourcePoints(const jnaCharacter* c, jnaArena* arena, int* count)
{
    if (c->sourcePoints != NULL) {
        *count = c->sourcePointCount;
        return c->sourcePoints;
    }
    for (int a = 0; a < c->attributeCount; ++a) {
        const jnaAttribute* attribute = &c->attributes[a];
        int largest = -1;
        bool whole = attribute->width == 1 && jnaIsSourceId(attribute->name);
        for (int v = 0; whole && v < c->vertexCount; ++v) {
            float number = attribute->values[v];
            whole = number >= 0 && number == floorf(number) && number < 16777216.0f;
            largest = whole && (int)number > largest ? (int)number : largest;
        }
        if (!whole) {
            continue;
        }
        *count = largest + 1;
        int32_t* points = jnaArena_Take(arena, *count, sizeof(*points));
        for (int v = 0; points != NULL && v < c->vertexCount; ++v) {
            points[(int)attribute->values[v]] = v;
        }
        return points;
    }
    return NULL;
}

// The surface in the first frame of the clip.
static const float* Pose(const jnaCharacter* c, const jnaClip* clip, jnaArena* arena)
{
    float* matrices = jnaArena_Take(arena, 12 * (int64_t)c->jointCount, sizeof(float));
    float* posed = jnaArena_Take(arena, 3 * (int64_t)c->vertexCount, sizeof(float));
    if (matrices != NULL && posed != NULL) {
        jnaPoseMatrices(c, clip, 0, matrices);
        jnaSkin(c, matrices, posed);
    }
    return posed;
}

// The motion must begin where the skeleton's surface is: flesh is never farther.
static jnResult CheckStart(
    const char* path, const jnaMatchSurface* surface, const jnaClip* clip, const jnaMotion* motion, jnError* error)
{
    double sum = 0, low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, extent = 0;
    for (size_t v = 0; v < (size_t)surface->vertexCount; ++v) {
        double squared = 0;
        for (size_t k = 0; k < 3; ++k) {
            double skinned = (double)surface->posed[3 * v + k], d = (double)motion->positions[3 * v + k] - skinned;
            squared += d * d;
            low[k] = fmin(low[k], (double)surface->rest[3 * v + k]);
            high[k] = fmax(high[k], (double)surface->rest[3 * v + k]);
            extent = fmax(extent, high[k] - low[k]);
        }
        sum += sqrt(squared);
    }
    double mean = sum / surface->vertexCount;
    if (mean > JNA_FLESH_REACH * extent) {
        return jnFail(error, jn_badData,
            "%s: begins %.3g m from the skinned surface of the first frame of '%s' on average; flesh is never farther "
            "than "
            "%.3g m: is it the motion of this clip?",
            path, mean, clip->name, JNA_FLESH_REACH * extent);
    }
    return jn_ok;
}

static jnResult FillMotion(const char* path, const jnaMeshCache* cache, const jnaMatch* match, int vertexCount,
    jnaArena* arena, jnaMotion* motion, jnError* error)
{
    int32_t* counts = jnaArena_Take(arena, vertexCount, sizeof(*counts));
    size_t perFrame = 3 * (size_t)vertexCount;
    *motion = (jnaMotion){.frameCount = cache->frameCount, .vertexCount = vertexCount, .rate = cache->rate};
    motion->positions = jnaArena_Give(arena, cache->frameCount, perFrame * sizeof(float));
    JN_PASS(jnaArena_Check(arena, "a motion", error));
    for (size_t f = 0; f < (size_t)cache->frameCount; ++f) {
        jnaMatch_Apply(match, cache->positions + f * 3 * (size_t)cache->pointCount, vertexCount, counts,
            motion->positions + f * perFrame);
    }
    size_t count = (size_t)cache->frameCount * perFrame, bad = jnaFindUnbounded(motion->positions, count, JNA_FARTHEST);
    if (bad < count) {
        return jnFail(error, jn_badData, "%s: frame %zu, vertex %zu: a coordinate is %g m; up to %g can be taken", path,
            bad / perFrame, bad % perFrame / 3, (double)motion->positions[bad], JNA_FARTHEST);
    }
    return jn_ok;
}

jnResult jnaReadMotion(const char* path, const jnaCharacter* c, const jnaClip* clip, double metresPerUnit,
    jnaMotion* motion, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaMeshCache cache = {0};
    jnaMatch match = {0};
    *motion = (jnaMotion){0};
    jnaMatchSurface surface = {.vertexCount = c->vertexCount,
        .rest = c->positions,
        .fileVertexCount = c->fileVertexCount,
        .weld = c->weld,
        .triangleCount = c->triangleCount,
        .triangles = c->triangles,
        .metresPerUnit = metresPerUnit};
    JN_TRY(jnaReadMeshCache(path, &cache, error));
    surface.sourcePoints = FindSourcePoints(c, &arena, &surface.sourcePointCount);
    surface.posed = clip != NULL ? Pose(c, clip, &arena) : NULL;
    JN_TRY(jnaArena_Check(&arena, "the matching of points", error));
    JN_TRY(jnaMatchVertices(path, &surface, &cache, &match, error));
    JN_TRY(FillMotion(path, &cache, &match, c->vertexCount, &arena, motion, error));
    if (clip != NULL) {
        JN_TRY(CheckStart(path, &surface, clip, motion, error));
        jnaNotes_Add(notes, "motion of '%s': %s", clip->name, match.summary);
    }
done:
    jnaDestroyMatch(&match);
    jnaDestroyMeshCache(&cache);
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyMotion(motion);
    }
    return result;
}

void jnaDestroyMotion(jnaMotion* motion)
{
    free(motion->positions);
    *motion = (jnaMotion){0};
}
