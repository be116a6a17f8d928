// Memory of characters and clips, and the reference skinning that everything faster is compared with.
#include "character/character.h"

#include "base/arena.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where a character is lower than this share of its largest side, that side counts as its height: it lies down.
#define LYING 0.25

jnResult jnaCharacter_Allocate(jnaCharacter* c, bool withUvs, jnError* error)
{
    jnaArena arena = {0};
    c->joints = jnaArena_Give(&arena, c->jointCount, sizeof(*c->joints));
    c->positions = jnaArena_Give(&arena, c->vertexCount, 3 * sizeof(float));
    c->influences = jnaArena_Give(&arena, c->vertexCount, sizeof(*c->influences));
    c->weld = jnaArena_Give(&arena, c->fileVertexCount, sizeof(*c->weld));
    c->fileNormals = jnaArena_Give(&arena, c->fileVertexCount, 3 * sizeof(float));
    c->fileUvs = withUvs ? jnaArena_Give(&arena, c->fileVertexCount, 2 * sizeof(float)) : NULL;
    c->triangles = jnaArena_Give(&arena, c->triangleCount, 3 * sizeof(*c->triangles));
    c->parts = jnaArena_Give(&arena, c->partCount, sizeof(*c->parts));
    if (arena.failed) {
        jnaDestroyCharacter(c);
    }
    return jnaArena_Check(&arena, "a character", error);
}

void jnaDestroyCharacter(jnaCharacter* c)
{
    free(c->joints);
    free(c->positions);
    free(c->influences);
    free(c->marks);
    free(c->weld);
    free(c->fileNormals);
    free(c->fileUvs);
    free(c->triangles);
    free(c->parts);
    for (int i = 0; i < c->attributeCount; ++i) {
        free(c->attributes[i].values);
    }
    free(c->attributes);
    for (int i = 0; i < c->targetCount; ++i) {
        free(c->targets[i].offsets);
    }
    free(c->targets);
    free(c->sourcePoints);
    *c = (jnaCharacter){0};
}

float* jnaCharacter_AddAttribute(jnaCharacter* c, const char* name, int width)
{
    if (!jnaResize(&c->attributes, c->attributeCount + 1, sizeof(*c->attributes))) {
        return NULL;
    }
    jnaAttribute* attribute = &c->attributes[c->attributeCount];
    *attribute = (jnaAttribute){.width = width};
    snprintf(attribute->name, sizeof(attribute->name), "%s", name);
    attribute->values = calloc((size_t)c->vertexCount * (size_t)width + 1, sizeof(float));
    c->attributeCount += attribute->values != NULL;
    return attribute->values;
}

jnaTarget* jnaCharacter_AddTarget(jnaCharacter* c, const char* name, float weight)
{
    if (!jnaResize(&c->targets, (int64_t)c->targetCount + 1, sizeof(*c->targets))) {
        return NULL;
    }
    jnaTarget* target = &c->targets[c->targetCount];
    *target = (jnaTarget){.weight = weight, .offsets = calloc((size_t)c->vertexCount + 1, 3 * sizeof(float))};
    snprintf(target->name, sizeof(target->name), "%s", name);
    c->targetCount += target->offsets != NULL;
    return target->offsets != NULL ? target : NULL;
}

jnResult jnaClip_Allocate(jnaClip* clip, bool withScales, jnError* error)
{
    int64_t entries = (int64_t)clip->frameCount * clip->jointCount;
    jnaArena arena = {0};
    clip->rotations = jnaArena_Give(&arena, entries, 4 * sizeof(float));
    clip->translations = jnaArena_Give(&arena, entries, 3 * sizeof(float));
    clip->scales = withScales ? jnaArena_Give(&arena, entries, 3 * sizeof(float)) : NULL;
    clip->targets = clip->targetCount > 0
                        ? jnaArena_Give(&arena, (int64_t)clip->frameCount * clip->targetCount, sizeof(float))
                        : NULL;
    if (arena.failed) {
        jnaDestroyClip(clip);
    }
    return jnaArena_Check(&arena, "a clip", error);
}

void jnaDestroyClip(jnaClip* clip)
{
    free(clip->rotations);
    free(clip->translations);
    free(clip->scales);
    free(clip->targets);
    *clip = (jnaClip){0};
}

// Affine matrix of translation, rotation and scale, rows of 4.
static void ComposeLocal(const float* t, const float* q, const float* s, double m[12])
{
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), //
        2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),            //
        2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            m[4 * i + k] = r[3 * i + k] * (double)s[k];
        }
        m[4 * i + 3] = (double)t[i];
    }
}

jnPose jnaClip_Pose(const jnaClip* clip, int frame)
{
    size_t at = (size_t)frame * (size_t)clip->jointCount;
    return (jnPose){.rotations = clip->rotations + 4 * at,
        .translations = clip->translations + 3 * at,
        .scales = clip->scales != NULL ? clip->scales + 3 * at : NULL};
}

jnaLocal jnaCharacter_Local(const jnaCharacter* character, const jnaClip* clip, int frame, int joint)
{
    const jnaJoint* rest = &character->joints[joint];
    if (clip == NULL) {
        return (jnaLocal){rest->translation, rest->rotation, rest->scale};
    }
    size_t at = (size_t)frame * (size_t)character->jointCount + (size_t)joint;
    return (jnaLocal){clip->translations + 3 * at, clip->rotations + 4 * at,
        clip->scales != NULL ? clip->scales + 3 * at : rest->scale};
}

void jnaPoseMatrices(const jnaCharacter* character, const jnaClip* clip, int frame, float* matrices)
{
    for (int j = 0; j < character->jointCount; ++j) {
        const jnaJoint* joint = &character->joints[j];
        jnaLocal from = jnaCharacter_Local(character, clip, frame, j);
        double local[12];
        ComposeLocal(from.translation, from.rotation, from.scale, local);
        float* global = matrices + 12 * (size_t)j;
        const float* parent = joint->parent >= 0 ? matrices + 12 * (size_t)joint->parent : NULL;
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 4; ++k) {
                double sum = parent != NULL && k == 3 ? (double)parent[4 * i + 3] : 0.0;
                for (int l = 0; parent != NULL && l < 3; ++l) {
                    sum += (double)parent[4 * i + l] * local[4 * l + k];
                }
                global[4 * i + k] = (float)(parent != NULL ? sum : local[4 * i + k]);
            }
        }
    }
}

// Joint matrix times inverse bind matrix, applied to a rest position.
static void TransformPoint(const float* g, const float* b, const float* p, double out[3])
{
    double local[3];
    for (int i = 0; i < 3; ++i) {
        local[i] = (double)b[4 * i] * (double)p[0] + (double)b[4 * i + 1] * (double)p[1] +
                   (double)b[4 * i + 2] * (double)p[2] + (double)b[4 * i + 3];
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)g[4 * i] * local[0] + (double)g[4 * i + 1] * local[1] + (double)g[4 * i + 2] * local[2] +
                 (double)g[4 * i + 3];
    }
}

void jnaSkin(const jnaCharacter* character, const float* matrices, float* positions)
{
    for (int v = 0; v < character->vertexCount; ++v) {
        const jnaInfluences* influences = &character->influences[v];
        double sum[3] = {0, 0, 0};
        for (int k = 0; k < JNA_MAX_INFLUENCES && influences->weights[k] > 0; ++k) {
            size_t j = influences->joints[k];
            double point[3];
            TransformPoint(
                matrices + 12 * j, character->joints[j].inverseBind, character->positions + 3 * (size_t)v, point);
            for (int i = 0; i < 3; ++i) {
                sum[i] += (double)influences->weights[k] * point[i];
            }
        }
        for (int i = 0; i < 3; ++i) {
            positions[3 * (size_t)v + (size_t)i] = (float)sum[i];
        }
    }
}

double jnaHeightOf(const jnaCharacter* c)
{
    double sides[3];
    for (size_t a = 0; a < 3; ++a) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t v = 0; v < (size_t)c->vertexCount; ++v) {
            low = fmin(low, (double)c->positions[3 * v + a]);
            high = fmax(high, (double)c->positions[3 * v + a]);
        }
        sides[a] = c->vertexCount > 0 ? high - low : 0;
    }
    double most = fmax(sides[0], fmax(sides[1], sides[2]));
    return sides[1] >= LYING * most ? sides[1] : most;
}
