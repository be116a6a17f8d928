// Responses of the skin: K u = T^T f with the skin's weights T and a load f of one newton on a patch of skin, shaped as
// a cone and along the normals. Linear: what bones hold at a distance is in it, what a deep press does beyond is not.
#include "modes/touch.h"

#include "base/affine.h"
#include "base/try.h"
#include "modes/elastic.h"
#include "runtime/for_author.h"
#include "volume/anatomy.h"
#include "volume/physique.h"
#include "volume/skin_extension.h"
#include "volume/skin_field.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FACING 0.3     // cosine: skin that looks another way is of another side
#define LEAST_FREE 0.1 // of the weight of a vertex' corners, for a probe

typedef struct Skin {
    const jnaVolume* v;
    const jnaCharacter* c;
    double* normals; // [vertexCount][3], unit
    double* areas;   // [vertexCount]
    uint8_t* pushed; // [vertexCount], flesh that no bone holds
    double* nearest; // [vertexCount], square of the way to the nearest probe
    int* places;     // [nodeCount] in the free system, or -1
    double* load;    // [freeCount][3]
    double* values;  // [nodeCount][3]
    double* gradients;
    double *skin, *solve;
    jnaSkinExtension* extension;
} Skin;

void jnaDestroyTouch(jnaTouch* touch)
{
    jnaReleaseArena(&touch->memory);
    *touch = (jnaTouch){0};
}

void jnaMeasureSkin(const jnaCharacter* c, double* normals, double* areas)
{
    memset(normals, 0, 3 * (size_t)c->vertexCount * sizeof(double));
    memset(areas, 0, (size_t)c->vertexCount * sizeof(double));
    for (int t = 0; t < c->triangleCount; ++t) {
        double corners[3][3], area[3];
        int32_t vertices[3];
        for (size_t i = 0; i < 9; ++i) {
            vertices[i / 3] = c->weld[c->triangles[3 * (size_t)t + i / 3]];
            corners[i / 3][i % 3] = (double)c->positions[3 * (size_t)vertices[i / 3] + i % 3];
        }
        jnaAreaVector(corners[0], corners[1], corners[2], area);
        for (size_t i = 0; i < 9; ++i) {
            normals[3 * (size_t)vertices[i / 3] + i % 3] += area[i % 3];
            areas[vertices[i / 3]] += i % 3 == 0 ? jnaLength(area) / 6 : 0;
        }
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        jnaNormalize(normals + 3 * (size_t)v);
    }
}

static void FindPushed(Skin* s)
{
    for (int i = 0; i < s->v->vertexCount; ++i) {
        double free = 0;
        for (size_t k = 0; s->v->skinTetrahedra[i] >= 0 && k < 4; ++k) {
            int node = s->v->tetrahedra[4 * (size_t)s->v->skinTetrahedra[i] + k];
            free += s->places[node] >= 0 ? s->v->skinWeights[4 * (size_t)i + k] : 0;
        }
        s->pushed[i] = free > LEAST_FREE && jnaVolume_Blend(s->v, i) > 0.5;
    }
}

static double WayTo(const Skin* s, int a, int b)
{
    double square = 0;
    for (size_t k = 0; k < 3; ++k) {
        double way = (double)s->c->positions[3 * (size_t)a + k] - (double)s->c->positions[3 * (size_t)b + k];
        square += way * way;
    }
    return square;
}

// The farthest vertex from the probes so far, until all are near one. A vertex that faces another way is far from it.
static int ChooseProbes(Skin* s, double spacing, int32_t* probes)
{
    int count = 0, vertices = s->v->vertexCount;
    for (int v = 0; v < vertices; ++v) {
        s->nearest[v] = s->pushed[v] ? DBL_MAX : 0;
    }
    for (;;) {
        int farthest = 0;
        for (int v = 1; v < vertices; ++v) {
            farthest = s->nearest[v] > s->nearest[farthest] ? v : farthest;
        }
        if (!(s->nearest[farthest] > spacing * spacing)) {
            return count;
        }
        probes[count++] = farthest;
        s->nearest[farthest] = 0;
        for (int v = 0; v < vertices; ++v) {
            double facing = jnaDot(s->normals + 3 * (size_t)v, s->normals + 3 * (size_t)farthest);
            double square = WayTo(s, v, farthest);
            if (facing > FACING && square < s->nearest[v]) {
                s->nearest[v] = square;
            }
        }
    }
}

// A cone of one newton in all, into the skin. Returns the mean normal.
static void Push(Skin* s, int probe, double radius, size_t freeCount, double mean[3])
{
    double sum = 0;
    memset(s->load, 0, 3 * freeCount * sizeof(double));
    memset(mean, 0, 3 * sizeof(double));
    for (int pass = 0; pass < 2; ++pass) {
        for (int v = 0; v < s->v->vertexCount; ++v) {
            const double* normal = s->normals + 3 * (size_t)v;
            double share = s->areas[v] * (1 - sqrt(WayTo(s, v, probe)) / radius);
            if (!s->pushed[v] || share <= 0 || jnaDot(normal, s->normals + 3 * (size_t)probe) < FACING) {
                continue;
            }
            for (size_t i = 0; pass == 1 && i < 12; ++i) {
                int at = s->places[s->v->tetrahedra[4 * (size_t)s->v->skinTetrahedra[v] + i / 3]];
                if (at >= 0) {
                    s->load[3 * (size_t)at + i % 3] -=
                        share / sum * s->v->skinWeights[4 * (size_t)v + i / 3] * normal[i % 3];
                }
            }
            for (size_t k = 0; pass == 0 && k < 3; ++k) {
                mean[k] += share * normal[k];
            }
            sum += pass == 0 ? share : 0;
        }
    }
    jnaNormalize(mean);
}

// The skin of what was solved.
static void Bring(Skin* s, const double* solved, float* response)
{
    for (int n = 0; n < s->v->nodeCount; ++n) {
        for (size_t k = 0; k < 3; ++k) {
            s->values[3 * (size_t)n + k] = s->places[n] >= 0 ? solved[3 * (size_t)s->places[n] + k] : 0;
        }
    }
    jnaVolume_Gradients(s->v, s->values, s->gradients);
    for (int i = 0; i < s->v->vertexCount; ++i) {
        if (s->v->skinTetrahedra[i] >= 0) {
            jnaVolume_AtSkin(s->v, s->values, s->gradients, i, s->skin + 3 * (size_t)i);
        }
    }
    jnaSkinExtension_Apply(s->extension, s->skin, s->solve);
    for (size_t i = 0; i < 3 * (size_t)s->v->vertexCount; ++i) {
        response[i] = (float)s->skin[i];
    }
}

static jnResult Solve(Skin* s, jnaElastic* elastic, const jnaWatch* watch, jnaTouch* touch, jnError* error)
{
    size_t freeCount = (size_t)jnaElastic_FreeCount(elastic), vertices = (size_t)s->v->vertexCount;
    JN_PASS(jnaElastic_Factor(elastic, 1, 0, error));
    for (int p = 0; p < touch->probeCount; ++p) {
        double mean[3];
        Push(s, touch->probes[p], touch->spacing, freeCount, mean);
        JN_PASS(jnaElastic_Solve(elastic, s->load, error));
        Bring(s, s->load, touch->responses + 3 * (size_t)p * vertices);
        for (size_t k = 0; k < 3; ++k) {
            touch->normals[3 * (size_t)p + k] = (float)mean[k];
        }
        if (watch != NULL) {
            JN_PASS(jnaWatch_Tell(watch, (double)(p + 1) / touch->probeCount, error));
        }
    }
    return jn_ok;
}

static jnResult FindDepths(const jnaVolume* v, const jnaCharacter* c, float* depths, jnError* error)
{
    jnaAnatomy anatomy = {0};
    jnaPhysique physique;
    const jnaBodyDef body = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaFindAnatomy(c, v, &anatomy, error));
    JN_TRY(jnaFindPhysique(v, c, &anatomy, &body, &physique, depths, error));
done:
    jnaDestroyAnatomy(&anatomy);
    return result;
}

jnResult jnaFindTouch(
    const jnaVolume* v, const jnaCharacter* c, double spacing, const jnaWatch* watch, jnaTouch* touch, jnError* error)
{
    *touch = (jnaTouch){.vertexCount = v->vertexCount, .spacing = spacing};
    jnaElastic* elastic = NULL;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Skin s = {.v = v, .c = c};
    JN_TRY(spacing > 0 ? jn_ok : jnFail(error, jn_badArgument, "probes %g m apart", spacing));
    JN_TRY(jnaCreateElastic(v, NULL, &elastic, error));
    s.normals = jnaArena_Take(&arena, v->vertexCount, 3 * sizeof(double));
    s.areas = jnaArena_Take(&arena, v->vertexCount, sizeof(double));
    s.pushed = jnaArena_Take(&arena, v->vertexCount, 1);
    s.nearest = jnaArena_Take(&arena, v->vertexCount, sizeof(double));
    s.places = jnaArena_Take(&arena, v->nodeCount, sizeof(int));
    s.load = jnaArena_Take(&arena, jnaElastic_FreeCount(elastic), 3 * sizeof(double));
    s.values = jnaArena_Take(&arena, v->nodeCount, 3 * sizeof(double));
    s.gradients = jnaArena_Take(&arena, v->nodeCount, JNA_GRADIENT * sizeof(double));
    s.skin = jnaArena_Take(&arena, v->vertexCount, 3 * sizeof(double));
    JN_TRY(jnaCreateSkinExtension(c, v, &s.extension, error));
    s.solve = jnaArena_Take(&arena, (int64_t)jnaSkinExtension_ScratchCount(s.extension), sizeof(double));
    touch->probes = jnaArena_Take(&touch->memory, v->vertexCount, sizeof(int32_t));
    touch->depths = jnaArena_Take(&touch->memory, v->vertexCount, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "touch", error));
    JN_TRY(jnaArena_Check(&touch->memory, "touch", error));
    for (int n = 0; n < v->nodeCount; ++n) {
        s.places[n] = -1;
    }
    for (int i = 0; i < jnaElastic_FreeCount(elastic); ++i) {
        s.places[jnaElastic_FreeNodes(elastic)[i]] = i;
    }
    jnaMeasureSkin(s.c, s.normals, s.areas);
    JN_TRY(FindDepths(v, c, touch->depths, error));
    FindPushed(&s);
    touch->probeCount = ChooseProbes(&s, spacing, touch->probes);
    touch->normals = jnaArena_Take(&touch->memory, touch->probeCount, 3 * sizeof(float));
    touch->responses = jnaArena_Take(&touch->memory, touch->probeCount * (int64_t)v->vertexCount, 3 * sizeof(float));
    JN_TRY(jnaArena_Check(&touch->memory, "touch", error));
    JN_TRY(Solve(&s, elastic, watch, touch, error));
done:
    jnaDestroySkinExtension(s.extension);
    jnaReleaseArena(&arena);
    jnaDestroyElastic(elastic);
    if (result != jn_ok) {
        jnaDestroyTouch(touch);
    }
    return result;
}
