// Counts of springs by part of the body. A part is whatever jnaParts says it is: a region, or the joint that moves a
// vertex most, left and right together.
#include "learn/spring_parts.h"

#include "base/arena.h"
#include "base/try.h"
#include "learn/mirror.h"
#include "learn/spring_fit.h"
#include "runtime/for_author.h"
#include "volume/anatomy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A bound is an exponential of a logarithm, rounded to a float: within this of it, relative, a spring is at it.
#define BOUND_TOLERANCE 2e-6

void jnaDestroyParts(jnaParts* p)
{
    free(p->names);
    free(p->of);
    *p = (jnaParts){0};
}

void jnaDestroySpringParts(jnaSpringParts* p)
{
    free(p->parts);
    *p = (jnaSpringParts){0};
}

// The name of a pair: without "left" or "right" where that is what tells them apart.
static void NamePair(const char* one, const char* other, char* name)
{
    static const char* const sides[][2] = {{"Left", "Right"}, {"left", "right"}, {"LEFT", "RIGHT"}};
    for (int i = 0; i < 6; ++i) {
        const char *side = sides[i / 2][i % 2], *opposite = sides[i / 2][1 - i % 2];
        const char* at = strstr(one, side);
        size_t before = at != NULL ? (size_t)(at - one) : 0;
        if (at == NULL || strncmp(one, other, before) != 0 ||
            strncmp(other + before, opposite, strlen(opposite)) != 0 ||
            strcmp(at + strlen(side), other + before + strlen(opposite)) != 0 || strlen(one) == strlen(side)) {
            continue;
        }
        snprintf(name, JNA_NAME_LENGTH, "%.*s%s", (int)before, one, at + strlen(side));
        return;
    }
    snprintf(name, JNA_NAME_LENGTH, "%.30s, %.30s", one, other);
}

static int StrongestJoint(const jnaInfluences* influences)
{
    int best = 0;
    for (int k = 1; k < JNA_MAX_INFLUENCES; ++k) {
        best = influences->weights[k] > influences->weights[best] ? k : best;
    }
    return influences->joints[best];
}

jnResult jnaPartsByJoint(const jnaCharacter* c, jnaParts* parts, jnError* error)
{
    jnaMirror mirror = {0};
    bool symmetric = false;
    size_t vertices = (size_t)c->vertexCount;
    *parts = (jnaParts){.count = c->jointCount};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    parts->names = jnaArena_Give(&arena, c->jointCount, sizeof(*parts->names));
    parts->of = jnaArena_Give(&arena, c->vertexCount, sizeof(*parts->of));
    JN_TRY(jnaArena_Check(&arena, "the parts of a character", error));
    JN_TRY(jnaFindMirror(c, NULL, &mirror, &symmetric, error));
    for (int j = 0; j < c->jointCount; ++j) {
        int partner = symmetric ? mirror.joints[j] : j;
        if (partner == j) {
            snprintf(parts->names[j], JNA_NAME_LENGTH, "%s", c->joints[j].name);
        } else if (partner > j) {
            NamePair(c->joints[j].name, c->joints[partner].name, parts->names[j]);
        }
    }
    for (size_t v = 0; v < vertices; ++v) {
        int joint = StrongestJoint(&c->influences[v]), partner = symmetric ? mirror.joints[joint] : joint;
        parts->of[v] = partner < joint ? partner : joint;
    }
done:
    jnaDestroyMirror(&mirror);
    if (result != jn_ok) {
        jnaDestroyParts(parts);
    }
    return result;
}

jnResult jnaPartsByRegion(const jnaCharacter* c, const jnaVolume* volume, jnaParts* parts, jnError* error)
{
    *parts = (jnaParts){.count = JNA_REGIONS};
    jnaAnatomy anatomy = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaFindAnatomy(c, volume, &anatomy, error));
    if (!anatomy.trunk) {
        result = jnaPartsByJoint(c, parts, error);
        goto done;
    }
    size_t vertices = (size_t)c->vertexCount;
    uint8_t* regions = jnaArena_Take(&arena, c->vertexCount, 1);
    parts->names = jnaArena_Give(&arena, JNA_REGIONS, sizeof(*parts->names));
    parts->of = jnaArena_Give(&arena, c->vertexCount, sizeof(*parts->of));
    JN_TRY(jnaArena_Check(&arena, "the regions of a character", error));
    jnaAnatomy_SkinRegions(&anatomy, c, regions);
    for (int r = 0; r < JNA_REGIONS; ++r) {
        snprintf(parts->names[r], JNA_NAME_LENGTH, "%s", jnaRegionNames[r]);
    }
    for (size_t v = 0; v < vertices; ++v) {
        parts->of[v] = regions[v];
    }
done:
    jnaDestroyAnatomy(&anatomy);
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyParts(parts);
    }
    return result;
}

unsigned jnaBoundsOf(float stiffness, float damping)
{
    const jnaFitDef def = jnaDefaultFitDef();
    const double values[2] = {(double)stiffness, (double)damping};
    const double* ranges[2] = {def.stiffnessRange, def.dampingRange};
    unsigned at = 0;
    for (int k = 0; k < 2; ++k) {
        at |= values[k] <= ranges[k][0] * (1 + BOUND_TOLERANCE) ? 1u << (2 * k) : 0;
        at |= values[k] >= ranges[k][1] * (1 - BOUND_TOLERANCE) ? 1u << (2 * k + 1) : 0;
    }
    return at;
}

static void CountSpring(float stiffness, float damping, jnaSpringPart* part)
{
    double stiff, ignored;
    jnaDefaultSpring(&stiff, &ignored);
    bool over = (double)damping * (double)damping > 4 * (double)stiffness, isStiff = (double)stiffness >= stiff;
    part->count++;
    part->stiffOverdamped += isStiff && over;
    part->softUnderdamped += !isStiff && !over;
    part->atBound += jnaBoundsOf(stiffness, damping) != 0;
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

// The median over the vertices of a part; part -1: all. scratch: [vertexCount]
static double Median(const float* values, int count, const int32_t* of, int part, float* scratch)
{
    size_t found = 0;
    for (int v = 0; v < count; ++v) {
        if (part < 0 || of[v] == part) {
            scratch[found++] = values[v];
        }
    }
    qsort(scratch, found, sizeof(float), CompareFloats);
    return found > 0 ? (double)scratch[found / 2] : (double)NAN;
}

// Pearson's correlation of the logarithms over pairs of partners; those on the middle are their own and do not count.
static double LeftRight(const float* values, int count, const int32_t* partners)
{
    double n = 0, mean = 0, square = 0, product = 0;
    for (int v = 0; v < count; ++v) { // both orders of each pair: the two sides have one mean
        if (partners[v] != v && values[v] > 0 && values[partners[v]] > 0) {
            mean += log((double)values[v]);
            n += 1;
        }
    }
    mean = n > 0 ? mean / n : 0;
    for (int v = 0; v < count; ++v) {
        if (partners[v] != v && values[v] > 0 && values[partners[v]] > 0) {
            double own = log((double)values[v]) - mean, other = log((double)values[partners[v]]) - mean;
            square += own * own;
            product += own * other;
        }
    }
    return square > 0 ? product / square : (double)NAN;
}

static jnResult Correlate(
    const jnaCharacter* c, const float* stiffness, const float* damping, jnaSpringParts* out, jnError* error)
{
    jnaMirror mirror = {0};
    bool symmetric = false;
    out->leftRight[0] = out->leftRight[1] = (double)NAN;
    jnResult result = jnaFindMirror(c, NULL, &mirror, &symmetric, error);
    if (result == jn_ok && symmetric) {
        out->leftRight[0] = LeftRight(stiffness, c->vertexCount, mirror.vertices);
        out->leftRight[1] = LeftRight(damping, c->vertexCount, mirror.vertices);
    }
    jnaDestroyMirror(&mirror);
    return result;
}

static int LargerFirst(const void* a, const void* b)
{
    const jnaSpringPart *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->name, y->name);
}

static jnResult Count(const jnaCharacter* c, const jnaParts* parts, const float* stiffness, const float* damping,
    jnaSpringParts* out, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    float* scratch = jnaArena_Take(&arena, c->vertexCount, sizeof(float));
    out->parts = jnaArena_Give(&arena, parts->count, sizeof(*out->parts));
    JN_TRY(jnaArena_Check(&arena, "the parts of a character", error));
    for (int v = 0; v < c->vertexCount; ++v) {
        unsigned bounds = jnaBoundsOf(stiffness[v], damping[v]);
        CountSpring(stiffness[v], damping[v], &out->all);
        CountSpring(stiffness[v], damping[v], &out->parts[parts->of[v]]);
        for (int k = 0; k < jna_boundCount; ++k) {
            out->bounds[k] += (int)(bounds >> k & 1);
        }
    }
    snprintf(out->all.name, sizeof(out->all.name), "all");
    for (int p = -1; p < parts->count; ++p) {
        jnaSpringPart* part = p < 0 ? &out->all : &out->parts[p];
        if (part->count == 0) {
            continue;
        }
        part->stiffness = Median(stiffness, c->vertexCount, parts->of, p, scratch);
        part->damping = Median(damping, c->vertexCount, parts->of, p, scratch);
        if (p >= 0) {
            memcpy(part->name, parts->names[p], sizeof(part->name));
        }
    }
    qsort(out->parts, (size_t)parts->count, sizeof(*out->parts), LargerFirst);
    for (out->count = 0; out->count < parts->count && out->parts[out->count].count > 0; ++out->count) {}
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaSortSprings(const jnaCharacter* c, const jnaParts* parts, const float* stiffness, const float* damping,
    jnaSpringParts* out, jnError* error)
{
    jnaParts byJoint = {0};
    *out = (jnaSpringParts){0};
    jnResult result = jn_ok;
    JN_TRY(parts == NULL ? jnaPartsByJoint(c, &byJoint, error) : jn_ok);
    JN_TRY(Count(c, parts != NULL ? parts : &byJoint, stiffness, damping, out, error));
    JN_TRY(Correlate(c, stiffness, damping, out, error));
done:
    jnaDestroyParts(&byJoint);
    if (result != jn_ok) {
        jnaDestroySpringParts(out);
    }
    return result;
}
