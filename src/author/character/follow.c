// What follows the flesh, bound to its surface.
//
// A vertex hangs on the nearest point of the flesh's triangles, of which those around the nearest vertices are looked
// at. A sleeve at the armpit is as near to the chest as to the arm: a distance counts 1 + (1 - o) times, where o is the
// share of weights that both have in common. What the flesh does there, the vertex does: u = sum of w_k u_k. Between
// two neighbours that hang on different flesh u would jump; away from the skin it is made smooth,
//     u_v <- (1 - s) u_v + s mean of the neighbours' u,    s = SOFTEST d / (d + SPAN height)
// with the distance d from the skin: what lies on the skin stays on it.
#include "character/follow.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/triangle.h"
#include "base/try.h"
#include "character/point_tree.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 12, MOST_NEAR = 96 };
#define SOFTEST 0.5F
#define SPAN 0.01F
// Of the distance to the nearest vertex: triangles around vertices this near are looked at.
#define REACH 1.6

void jnaDestroyFollow(jnaFollow* f)
{
    free(f->roles);
    free(f->holds);
    free(f->starts);
    free(f->ring);
    free(f->softness);
    *f = (jnaFollow){0};
}

// The flesh as the search sees it.
typedef struct Flesh {
    const jnaCharacter* character;
    int vertexCount;
    jnaPointTree tree;
    int32_t* starts;    // [vertexCount + 1], triangles of each vertex
    int32_t* triangles; // of the character
} Flesh;

static int32_t CornerOf(const jnaCharacter* c, int triangle, int k)
{
    return c->weld[c->triangles[3 * (size_t)triangle + (size_t)k]];
}

static void DestroyFlesh(Flesh* f)
{
    jnaDestroyPointTree(&f->tree);
    free(f->starts);
    free(f->triangles);
}

static jnResult MakeFlesh(const jnaCharacter* c, Flesh* f, jnError* error)
{
    *f = (Flesh){.character = c, .vertexCount = c->vertexCount - c->outfitCount};
    jnaArena arena = {0};
    f->starts = jnaArena_Give(&arena, (int64_t)f->vertexCount + 2, sizeof(int32_t));
    f->triangles = jnaArena_Give(&arena, 3 * (int64_t)c->triangleCount, sizeof(int32_t));
    JN_PASS(jnaArena_Check(&arena, "the surface of the flesh", error));
    int32_t* ends = f->starts + 1; // moved up by one while they are filled
    for (int pass = 0; pass < 2; ++pass) {
        for (int p = 0; p < c->partCount; ++p) {
            const jnaPart* part = &c->parts[p];
            for (int t = 0; part->role == jna_meshFlesh && t < part->triangleCount; ++t) {
                for (int k = 0; k < 3; ++k) {
                    int32_t v = CornerOf(c, part->firstTriangle + t, k);
                    if (pass == 0) {
                        ends[v + 1]++;
                    } else {
                        f->triangles[ends[v]++] = part->firstTriangle + t;
                    }
                }
            }
        }
        for (int v = 0; pass == 0 && v < f->vertexCount; ++v) {
            ends[v + 1] += ends[v];
        }
    }
    return jnaCreatePointTree(c->positions, f->vertexCount, &f->tree)
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for %d vertices", f->vertexCount);
}

// The share of weights that two vertices have in common.
static double Overlap(const jnaInfluences* a, const jnaInfluences* b)
{
    double shared = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        for (int k = 0; k < JNA_MAX_INFLUENCES && a->weights[i] > 0; ++k) {
            shared += a->joints[i] == b->joints[k] ? (double)fminf(a->weights[i], b->weights[k]) : 0;
        }
    }
    return fmin(shared, 1);
}

// Takes a triangle where it is better than the best so far.
static void TryTriangle(
    const Flesh* f, int triangle, const double p[3], const jnaInfluences* own, jnaHold* hold, double* best)
{
    const jnaCharacter* c = f->character;
    double corners[3][3], w[3], away[3] = {-p[0], -p[1], -p[2]}, overlap = own == NULL;
    for (int i = 0; i < 9; ++i) {
        corners[i / 3][i % 3] = (double)c->positions[3 * (size_t)CornerOf(c, triangle, i / 3) + (size_t)(i % 3)];
    }
    jnaClosestOnTriangle(p, corners[0], corners[1], corners[2], w);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            away[i] += w[k] * corners[k][i];
        }
        overlap += own != NULL ? w[k] * Overlap(own, &c->influences[CornerOf(c, triangle, k)]) : 0;
    }
    double distance = jnaLength(away), cost = distance * (2 - overlap);
    if (cost < *best) {
        *best = cost;
        hold->distance = (float)distance;
        for (int k = 0; k < 3; ++k) {
            hold->corners[k] = CornerOf(c, triangle, k);
            hold->weights[k] = (float)w[k];
        }
    }
}

static void FindHold(const Flesh* f, const float* point, const jnaInfluences* own, jnaHold* hold)
{
    const double p[3] = {(double)point[0], (double)point[1], (double)point[2]};
    int32_t near[MOST_NEAR];
    double distance = 0, best = HUGE_VAL;
    int nearest = jnaPointTree_Nearest(&f->tree, p, &distance);
    *hold = (jnaHold){{nearest, nearest, nearest}, {1, 0, 0}, (float)distance};
    int count = jnaPointTree_Within(&f->tree, p, fmax(REACH * distance, 1e-9), near, MOST_NEAR);
    count = count > MOST_NEAR ? MOST_NEAR : count;
    near[0] = count > 0 ? near[0] : nearest;
    for (int i = -1; i < count; ++i) {
        int v = i < 0 ? nearest : near[i];
        for (int32_t t = f->starts[v]; t < f->starts[v + 1]; ++t) {
            TryTriangle(f, f->triangles[t], p, own, hold, &best);
        }
    }
}

jnResult jnaHoldPoints(const jnaCharacter* c, int count, const float* points, const jnaInfluences* influences,
    jnaHold* holds, jnError* error)
{
    Flesh flesh = {0};
    jnResult result = jn_ok;
    JN_TRY(MakeFlesh(c, &flesh, error));
    for (int i = 0; i < count; ++i) {
        FindHold(&flesh, points + 3 * (size_t)i, influences != NULL ? &influences[i] : NULL, &holds[i]);
    }
done:
    DestroyFlesh(&flesh);
    return result;
}

// Neighbours of the outfit's vertices along the edges of its triangles; one of an edge of two triangles counts twice.
static void FindRing(const jnaCharacter* c, jnaFollow* f)
{
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < 3 * (size_t)c->triangleCount; ++i) {
            int32_t a = c->weld[c->triangles[i]] - f->fleshCount;
            int32_t b = c->weld[c->triangles[i / 3 * 3 + (i + 1) % 3]] - f->fleshCount;
            if (a < 0 || b < 0) {
                continue;
            }
            if (pass == 0) {
                f->starts[a + 2]++;
                f->starts[b + 2]++;
            } else {
                f->ring[f->starts[a + 1]++] = b;
                f->ring[f->starts[b + 1]++] = a;
            }
        }
        for (int v = 0; pass == 0 && v < f->count; ++v) {
            f->starts[v + 2] += f->starts[v + 1];
        }
    }
}

jnResult jnaCreateFollow(const jnaCharacter* c, jnaFollow* f, jnError* error)
{
    *f = (jnaFollow){.fleshCount = c->vertexCount - c->outfitCount, .count = c->outfitCount};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    uint8_t* roles = jnaArena_Take(&arena, c->vertexCount, 1);
    f->roles = jnaArena_Give(&arena, f->count, 1);
    f->holds = jnaArena_Give(&arena, f->count, sizeof(*f->holds));
    f->starts = jnaArena_Give(&arena, (int64_t)f->count + 2, sizeof(*f->starts));
    f->ring = jnaArena_Give(&arena, 6 * (int64_t)c->triangleCount, sizeof(*f->ring));
    f->softness = jnaArena_Give(&arena, f->count, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "what follows the flesh", error));
    const float* points = c->positions + 3 * (size_t)f->fleshCount;
    JN_TRY(jnaHoldPoints(c, f->count, points, c->influences + f->fleshCount, f->holds, error));
    jnaCharacter_FindRoles(c, roles);
    memcpy(f->roles, roles + f->fleshCount, (size_t)f->count);
    FindRing(c, f);
    float low = HUGE_VALF, high = -HUGE_VALF;
    for (int v = 0; v < f->fleshCount; ++v) {
        low = fminf(low, c->positions[3 * (size_t)v + 1]);
        high = fmaxf(high, c->positions[3 * (size_t)v + 1]);
    }
    for (int v = 0; v < f->count; ++v) {
        float distance = f->holds[v].distance;
        f->softness[v] = SOFTEST * distance / fmaxf(distance + SPAN * (high - low), 1e-12F);
    }
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyFollow(f);
    }
    return result;
}

void jnaFollow_Take(const jnaFollow* f, const float* field, int width, float* taken)
{
    for (size_t v = 0; v < (size_t)f->count; ++v) {
        for (size_t i = 0; i < (size_t)width; ++i) {
            double sum = 0;
            for (int k = 0; k < 3; ++k) {
                sum +=
                    (double)f->holds[v].weights[k] * (double)field[(size_t)f->holds[v].corners[k] * (size_t)width + i];
            }
            taken[v * (size_t)width + i] = (float)sum;
        }
    }
}

void jnaFollow_Carry(const jnaFollow* f, const float* field, int width, float* carried, float* scratch)
{
    size_t wide = (size_t)width;
    jnaFollow_Take(f, field, width, carried);
    for (int pass = 0; pass < PASSES; ++pass) {
        memcpy(scratch, carried, (size_t)f->count * wide * sizeof(float));
        for (size_t v = 0; v < (size_t)f->count; ++v) {
            int32_t from = f->starts[v], until = f->starts[v + 1];
            for (size_t i = 0; i < wide && until > from; ++i) {
                double sum = 0;
                for (int32_t n = from; n < until; ++n) {
                    sum += (double)scratch[(size_t)f->ring[n] * wide + i];
                }
                float mean = (float)(sum / (until - from)), *to = &carried[v * wide + i];
                *to += f->softness[v] * (mean - *to);
            }
        }
    }
    for (size_t v = 0; v < (size_t)f->count; ++v) {
        if (f->roles[v] == jna_meshRigid) {
            memset(carried + v * wide, 0, wide * sizeof(float));
        }
    }
}
