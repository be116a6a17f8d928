// An importer's vertices among those of an asset. See jounce/match.h. The asset's are sorted along x; those near enough
// along it are looked at.
#include "internal.h"
#include "jounce/match.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-4f
// Metres: positions that differ by less lie at one place, and texture coordinates decide.
#define ONE_PLACE 1e-6f

typedef struct Place {
    float x, y, z;
    int32_t vertex;
} Place;

static int ComparePlaces(const void* a, const void* b)
{
    const Place *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// The first place whose x is not below a limit.
static int FirstFrom(const Place* places, int count, float limit)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (places[middle].x < limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static float UvDistance(const jnAsset* a, int32_t vertex, const float* uv)
{
    if (uv == NULL || a->uvs == NULL) {
        return 0.0f;
    }
    return fabsf(a->uvs[2 * (size_t)vertex] - uv[0]) + fabsf(a->uvs[2 * (size_t)vertex + 1] - uv[1]);
}

static int32_t FindVertex(
    const jnAsset* a, const Place* places, const float* position, const float* uv, float tolerance)
{
    int32_t found = -1;
    float best = tolerance, bestUv = 0.0f;
    for (int i = FirstFrom(places, a->fileVertexCount, position[0] - tolerance);
         i < a->fileVertexCount && places[i].x <= position[0] + tolerance; ++i) {
        float dx = places[i].x - position[0], dy = places[i].y - position[1], dz = places[i].z - position[2];
        float distance = sqrtf(dx * dx + dy * dy + dz * dz);
        if (!(distance <= tolerance) || (found >= 0 && distance > best + ONE_PLACE)) {
            continue;
        }
        float away = UvDistance(a, places[i].vertex, uv);
        if (found < 0 || distance < best - ONE_PLACE || away < bestUv) {
            found = places[i].vertex;
            best = distance;
            bestUv = away;
        }
    }
    return found;
}

jnResult jnAsset_MatchVertices(
    const jnAsset* a, const jnImportedVertices* in, int32_t* vertices, int* found, jnError* error)
{
    JN_NEED(error, a != NULL && in != NULL && found != NULL);
    JN_NEED(error, in->count >= 0 && (in->count == 0 || (in->positions != NULL && vertices != NULL)));
    *found = 0;
    if (a->fileVertexCount == 0) {
        return jnFail(error, jn_badArgument, "the asset '%s' has no surface to find vertices on", a->name);
    }
    Place* places = jnAllocate(&in->allocator, (size_t)a->fileVertexCount * sizeof(*places));
    if (places == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the places of %d vertices", a->fileVertexCount);
    }
    for (int32_t v = 0; v < a->fileVertexCount; ++v) {
        const float* rest = a->rest + 4 * (size_t)a->weld[v];
        places[v] = (Place){rest[0], rest[1], rest[2], v};
    }
    qsort(places, (size_t)a->fileVertexCount, sizeof(*places), ComparePlaces);
    float tolerance = in->tolerance > 0.0f ? in->tolerance : TOLERANCE;
    for (size_t i = 0; i < (size_t)in->count; ++i) {
        vertices[i] = FindVertex(a, places, in->positions + 3 * i, in->uvs != NULL ? in->uvs + 2 * i : NULL, tolerance);
        *found += vertices[i] >= 0;
    }
    jnRelease(&in->allocator, places);
    return jn_ok;
}
