// Poses seen in a mirror: a body whose left is its right in the glass has twice the poses to learn from.
//
// The mirror is the plane across X through the middle of the rest pose. A character is symmetric where each vertex has
// a partner there and, all in all, the partner's weights: those painted by hand differ here and there.
#include "learn/mirror.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How far partners may be from each other, share of the largest side of the box, and how much of their weights may lie
// on other joints in the mean.
#define PLACE_TOLERANCE 1e-4f
#define WEIGHT_TOLERANCE 0.02

typedef struct Height {
    float y;
    int32_t vertex;
} Height;

static int CompareHeights(const void* a, const void* b)
{
    const Height *x = a, *y = b;
    return x->y != y->y ? (x->y < y->y ? -1 : 1) : x->vertex - y->vertex;
}

// The box of the rest pose: its middle along X and its largest side.
static void Box(const jnaCharacter* c, float* middle, float* side)
{
    *side = 0.0f;
    for (int axis = 2; axis >= 0; --axis) {
        float low = HUGE_VALF, high = -HUGE_VALF;
        for (int v = 0; v < c->vertexCount; ++v) {
            low = fminf(low, c->positions[3 * v + axis]);
            high = fmaxf(high, c->positions[3 * v + axis]);
        }
        *middle = 0.5f * (low + high);
        *side = fmaxf(*side, high - low);
    }
}

// The vertex closest to a place among those about its height, or -1 where none is within reach.
static int32_t FindVertex(const jnaCharacter* c, const Height* heights, const float* place, float reach)
{
    int low = 0, high = c->vertexCount;
    while (low < high) {
        int middle = (low + high) / 2;
        if (heights[middle].y < place[1] - reach) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int32_t best = -1;
    float closest = reach * reach;
    for (; low < c->vertexCount && heights[low].y <= place[1] + reach; ++low) {
        const float* p = c->positions + 3 * (size_t)heights[low].vertex;
        float dx = p[0] - place[0], dy = p[1] - place[1], dz = p[2] - place[2];
        float square = dx * dx + dy * dy + dz * dz;
        if (square <= closest && (best < 0 || square < closest)) {
            closest = square;
            best = heights[low].vertex;
        }
    }
    return best;
}

static bool MatchVertices(const jnaCharacter* c, float side, Height* heights, jnaMirror* m)
{
    for (int32_t v = 0; v < c->vertexCount; ++v) {
        heights[v] = (Height){c->positions[3 * v + 1], v};
    }
    qsort(heights, (size_t)c->vertexCount, sizeof(*heights), CompareHeights);
    bool good = true;
    for (int32_t v = 0; good && v < c->vertexCount; ++v) {
        const float* p = c->positions + 3 * (size_t)v;
        const float place[3] = {2 * m->middle - p[0], p[1], p[2]};
        m->vertices[v] = FindVertex(c, heights, place, PLACE_TOLERANCE * side);
        good = m->vertices[v] >= 0;
    }
    // Partners of each other, so that no vertex is anybody's twice.
    for (int32_t v = 0; good && v < c->vertexCount; ++v) {
        good = m->vertices[m->vertices[v]] == v;
    }
    return good;
}

// How much of a vertex is moved by a joint.
static float WeightOf(const jnaInfluences* influences, int joint)
{
    float sum = 0.0f;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        sum += influences->joints[k] == joint ? influences->weights[k] : 0.0f;
    }
    return sum;
}

// The partner of a joint is the child of its parent's partner whose part of the surface lies where its own is in the
// mirror: joints may stand on one spot. sums: [jointCount][4], mean places of what each joint and those below it move.
static bool MatchJoints(const jnaCharacter* c, float side, double* sums, jnaMirror* m)
{
    memset(sums, 0, sizeof(double) * 4 * (size_t)c->jointCount);
    for (int v = 0; v < c->vertexCount; ++v) {
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            double *sum = sums + 4 * (size_t)c->influences[v].joints[k], weight = (double)c->influences[v].weights[k];
            for (int axis = 0; axis < 3; ++axis) {
                sum[axis] += weight * (double)(c->positions[3 * v + axis] - (axis == 0 ? m->middle : 0.0f));
            }
            sum[3] += weight;
        }
    }
    for (int j = c->jointCount - 1; j > 0; --j) {
        for (int i = 0; i < 4 && c->joints[j].parent >= 0; ++i) {
            sums[4 * c->joints[j].parent + i] += sums[4 * j + i];
        }
    }
    for (int j = 0; j < c->jointCount; ++j) {
        int parent = c->joints[j].parent;
        double own = fmax(sums[4 * j + 3], 1e-9), closest = HUGE_VAL;
        m->joints[j] = -1;
        for (int k = 0; k < c->jointCount; ++k) {
            double other = fmax(sums[4 * k + 3], 1e-9), dx = -sums[4 * j] / own - sums[4 * k] / other;
            double dy = sums[4 * j + 1] / own - sums[4 * k + 1] / other;
            double dz = sums[4 * j + 2] / own - sums[4 * k + 2] / other, square = dx * dx + dy * dy + dz * dz;
            if (c->joints[k].parent == (parent >= 0 ? m->joints[parent] : -1) && square < closest) {
                closest = square;
                m->joints[j] = k;
            }
        }
        // A joint that moves nothing has no part of the surface, and its partner does not matter.
        if (m->joints[j] < 0 || (sums[4 * j + 3] > 1e-6 && sqrt(closest) > 0.01 * (double)side)) {
            return false;
        }
    }
    return true;
}

static bool WeightsAgree(const jnaCharacter* c, const jnaMirror* m)
{
    double sum = 0.0;
    for (int v = 0; v < c->vertexCount; ++v) {
        const jnaInfluences *own = &c->influences[v], *other = &c->influences[m->vertices[v]];
        for (int k = 0; k < JNA_MAX_INFLUENCES && own->weights[k] > 0.0f; ++k) {
            float weight = WeightOf(other, m->joints[own->joints[k]]);
            sum += fmax((double)(own->weights[k] - weight), 0.0);
        }
    }
    return sum <= WEIGHT_TOLERANCE * c->vertexCount;
}

static bool MarksAgree(const jnaCharacter* c, const uint64_t* marks, const jnaMirror* m)
{
    bool agree = true;
    for (int j = 0; marks != NULL && j < c->jointCount; ++j) {
        agree = agree && marks[j] == marks[m->joints[j]];
    }
    return agree;
}

jnResult jnaFindMirror(const jnaCharacter* c, const uint64_t* marks, jnaMirror* m, bool* symmetric, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    m->vertices = jnaArena_Give(&arena, c->vertexCount, sizeof(int32_t));
    m->joints = jnaArena_Give(&arena, c->jointCount, sizeof(int32_t));
    Height* heights = jnaArena_Take(&arena, c->vertexCount, sizeof(*heights));
    double* sums = jnaArena_Take(&arena, c->jointCount, 4 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the mirror of a character", error));
    float side = 0.0f;
    Box(c, &m->middle, &side);
    *symmetric = MatchVertices(c, side, heights, m) && MatchJoints(c, side, sums, m) && WeightsAgree(c, m) &&
                 MarksAgree(c, marks, m);
done:
    jnaReleaseArena(&arena);
    return result;
}

void jnaDestroyMirror(jnaMirror* m)
{
    free(m->vertices);
    free(m->joints);
    *m = (jnaMirror){0};
}

// Room for `count` pairs; false where memory is short.
static bool Grow(jnaPairs* p, int64_t count)
{
    int64_t joints = p->jointCount;
    size_t before = (size_t)p->capacity * (size_t)joints * 10, now = (size_t)(count * joints * 10);
    if (!jnaResize(&p->numbers, count * joints, 6 * sizeof(float)) ||
        !jnaResize(&p->displacements, count * p->vertexCount, 3 * sizeof(float)) ||
        !jnaResize(&p->lost, count, sizeof(float)) ||
        (p->turns != NULL && !jnaResize(&p->turns, count * joints, 4 * sizeof(float))) ||
        !jnaResize(&p->palettes, count * joints, 9 * sizeof(float)) ||
        !jnaResize(&p->poses, count * joints, 10 * sizeof(float)) || !jnaResize(&p->kinds, count, 1) ||
        !jnaResize(&p->uses, count, 1)) {
        return false;
    }
    for (size_t i = before; i < now; ++i) {
        p->poses[i] = 0.0f;
    }
    p->capacity = (int)count;
    return true;
}

jnResult jnaPairs_Mirror(
    jnaPairs* pairs, const jnaCharacter* character, const uint64_t* marks, int* added, jnError* error)
{
    jnaMirror mirror = {0};
    bool symmetric = false;
    int count = 0;
    *added = 0;
    jnResult result = jn_ok;
    JN_TRY(jnaFindMirror(character, marks, &mirror, &symmetric, error));
    for (int i = 0; i < pairs->count; ++i) {
        count += pairs->uses[i] == jna_pairTrain;
    }
    if (symmetric && !Grow(pairs, (int64_t)pairs->count + count)) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for %d more poses of '%s'", count, character->name));
    }
    for (int i = 0, before = pairs->count; symmetric && i < before; ++i) {
        if (pairs->uses[i] == jna_pairTrain) {
            JN_TRY(jnaPairs_AddMirrored(pairs, i, &mirror, error));
            ++*added;
        }
    }
done:
    jnaDestroyMirror(&mirror);
    return result;
}
