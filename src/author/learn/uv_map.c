// Rasterising UV charts. A texel's centre lies in a triangle, whose corners it then mixes; texels just outside of a
// chart copy the mix of their nearest neighbour, so that a bilinear lookup at the border finds flesh on all sides. A
// vertex on a seam is looked up in each of its charts, and the mean is taken.
#include "learn/uv_map.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DILATION = 4 };
// Texels claimed by two triangles that are more than neighbours sharing an edge.
#define INSIDE 0.02
#define MOST_OVERLAP 0.01

// UVs to texels: [0, 1] as it is, another box (UDIM tiles, say) scaled into it.
typedef struct Scaling {
    double low[2], factor[2];
} Scaling;

static bool FindScaling(const jnaCharacter* c, int size, Scaling* s)
{
    double low[2] = {0, 0}, high[2] = {1, 1};
    for (int i = 0; i < 2 * c->fileVertexCount; ++i) {
        double uv = (double)c->fileUvs[i];
        if (!isfinite(uv)) {
            return false;
        }
        low[i % 2] = fmin(low[i % 2], uv);
        high[i % 2] = fmax(high[i % 2], uv);
    }
    for (int axis = 0; axis < 2; ++axis) {
        s->low[axis] = low[axis];
        s->factor[axis] = size / (high[axis] - low[axis]);
    }
    return true;
}

// Texel coordinates: the centre of texel i is i.
static void ToTexels(const Scaling* s, const float* uv, double out[2])
{
    for (int axis = 0; axis < 2; ++axis) {
        out[axis] = ((double)uv[axis] - s->low[axis]) * s->factor[axis] - 0.5;
    }
}

static void FillTriangle(const jnaCharacter* c, const Scaling* s, int triangle, jnaUvMap* map, uint8_t* claims)
{
    const int32_t* corners = c->triangles + 3 * (size_t)triangle;
    double p[3][2];
    for (int i = 0; i < 3; ++i) {
        ToTexels(s, c->fileUvs + 2 * (size_t)corners[i], p[i]);
    }
    double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    if (!(fabs(area) > 1e-9)) {
        return;
    }
    int last = map->size - 1;
    int x0 = (int)fmax(ceil(fmin(fmin(p[0][0], p[1][0]), p[2][0])), 0),
        y0 = (int)fmax(ceil(fmin(fmin(p[0][1], p[1][1]), p[2][1])), 0);
    int x1 = (int)fmin(floor(fmax(fmax(p[0][0], p[1][0]), p[2][0])), last),
        y1 = (int)fmin(floor(fmax(fmax(p[0][1], p[1][1]), p[2][1])), last);
    for (int y = y0; y <= y1; ++y) {
        for (int x = x0; x <= x1; ++x) {
            double b[3];
            for (int i = 0; i < 3; ++i) {
                const double *q = p[(i + 1) % 3], *r = p[(i + 2) % 3];
                b[i] = ((q[0] - x) * (r[1] - y) - (r[0] - x) * (q[1] - y)) / area;
            }
            double least = fmin(fmin(b[0], b[1]), b[2]);
            if (least < -1e-9) {
                continue;
            }
            size_t at = (size_t)y * (size_t)map->size + (size_t)x;
            claims[at] = (uint8_t)(claims[at] + (least > INSIDE && claims[at] < 2 ? 1 : 0));
            for (int i = 0; i < 3; ++i) {
                map->vertices[3 * at + (size_t)i] = c->weld[corners[i]];
                map->shares[3 * at + (size_t)i] = (float)b[i];
            }
        }
    }
}

// One ring more: empty texels take the mix of a neighbour that has one, those beside before those across.
static void Dilate(jnaUvMap* map, int32_t* before)
{
    static const int steps[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    int size = map->size;
    memcpy(before, map->vertices, sizeof(int32_t) * 3 * (size_t)size * (size_t)size);
    for (int i = 0; i < size * size; ++i) {
        for (int k = 0; k < 8 && map->vertices[3 * i] < 0; ++k) {
            int x = i % size + steps[k][0], y = i / size + steps[k][1];
            int from = y * size + x;
            if (x >= 0 && y >= 0 && x < size && y < size && before[3 * from] >= 0) {
                memcpy(map->vertices + 3 * i, before + 3 * from, 3 * sizeof(int32_t));
                memcpy(map->shares + 3 * i, map->shares + 3 * from, 3 * sizeof(float));
            }
        }
    }
}

// Places of each vertex; file vertices that lie on the same one count once.
static jnResult FindLookups(const jnaCharacter* c, const Scaling* s, jnaArena* arena, jnaUvMap* map, jnError* error)
{
    size_t vertices = (size_t)c->vertexCount, files = (size_t)c->fileVertexCount;
    int32_t* order = jnaArena_Take(arena, c->fileVertexCount, sizeof(int32_t));
    int32_t* starts = jnaArena_Take(arena, c->vertexCount + 2, sizeof(int32_t));
    map->lookupStarts = jnaArena_Give(arena, c->vertexCount + 1, sizeof(int32_t));
    map->lookups = jnaArena_Give(arena, c->fileVertexCount, 2 * sizeof(float));
    JN_PASS(jnaArena_Check(arena, "the places of vertices", error));
    for (size_t i = 0; i < files; ++i) {
        starts[c->weld[i] + 2]++;
    }
    for (size_t v = 1; v < vertices + 2; ++v) {
        starts[v] += starts[v - 1];
    }
    for (size_t i = 0; i < files; ++i) {
        order[starts[c->weld[i] + 1]++] = (int32_t)i;
    }
    double last = map->size - 1 - 1e-3;
    for (size_t v = 0; v < vertices; ++v) {
        int first = map->lookupStarts[v] = map->lookupCount;
        for (int32_t k = starts[v]; k < starts[v + 1]; ++k) {
            double place[2];
            ToTexels(s, c->fileUvs + 2 * (size_t)order[k], place);
            float x = (float)fmin(fmax(place[0], 0), last), y = (float)fmin(fmax(place[1], 0), last);
            bool known = false;
            for (int l = first; l < map->lookupCount; ++l) {
                known = known || (map->lookups[2 * l] == x && map->lookups[2 * l + 1] == y);
            }
            if (!known) {
                map->lookups[2 * map->lookupCount] = x;
                map->lookups[2 * map->lookupCount++ + 1] = y;
            }
        }
        map->lookupStarts[v + 1] = map->lookupCount;
    }
    return jn_ok;
}

static jnResult Rasterise(const jnaCharacter* c, const Scaling* s, jnaUvMap* map, uint8_t* claims, jnError* error)
{
    size_t texels = (size_t)map->size * (size_t)map->size, covered = 0, twice = 0;
    for (size_t i = 0; i < 3 * texels; ++i) {
        map->vertices[i] = -1;
    }
    for (int i = 0; i < c->triangleCount; ++i) {
        FillTriangle(c, s, i, map, claims);
    }
    for (size_t i = 0; i < texels; ++i) {
        covered += map->vertices[3 * i] >= 0;
        twice += claims[i] > 1;
    }
    map->overlap = covered > 0 ? (double)twice / (double)covered : 0.0;
    if (covered == 0) {
        return jnFail(
            error, jn_badData, "'%s' has UVs of no area; unwrap it, or use network pca, which needs no UVs", c->name);
    }
    if (map->overlap > MOST_OVERLAP) {
        return jnFail(error, jn_badData,
            "the UVs of '%s' lie on each other in %.0f %% of the map (mirrored or stacked charts?); unwrap it without "
            "overlaps, or use network pca, which needs no UVs",
            c->name, 100 * map->overlap);
    }
    return jn_ok;
}

jnResult jnaCreateUvMap(const jnaCharacter* c, int size, jnaUvMap* map, jnError* error)
{
    *map = (jnaUvMap){.size = size};
    Scaling scaling;
    if (c->fileUvs == NULL || !FindScaling(c, size, &scaling)) {
        return jnFail(error, jn_badData,
            "'%s' has no UVs, which network cnn needs; unwrap it, or use network pca, which needs none", c->name);
    }
    size_t texels = (size_t)size * (size_t)size;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    map->vertices = jnaArena_Give(&arena, (int64_t)texels, 3 * sizeof(int32_t));
    map->shares = jnaArena_Give(&arena, (int64_t)texels, 3 * sizeof(float));
    uint8_t* claims = jnaArena_Take(&arena, (int64_t)texels, 1);
    int32_t* before = jnaArena_Take(&arena, (int64_t)texels, 3 * sizeof(int32_t));
    JN_TRY(jnaArena_Check(&arena, "a map of texels", error));
    JN_TRY(Rasterise(c, &scaling, map, claims, error));
    for (int i = 0; i < DILATION; ++i) {
        Dilate(map, before);
    }
    JN_TRY(FindLookups(c, &scaling, &arena, map, error));
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyUvMap(map);
    }
    return result;
}

void jnaDestroyUvMap(jnaUvMap* map)
{
    free(map->vertices);
    free(map->shares);
    free(map->lookupStarts);
    free(map->lookups);
    *map = (jnaUvMap){0};
}
