// Memory of characters and clips, and the reference skinning that everything faster is compared with.
#include "character/character.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

jnResult jnaCharacter_Allocate(jnaCharacter* c, bool withUvs, jnError* error)
{
    c->joints = calloc((size_t)c->jointCount + 1, sizeof(*c->joints));
    c->positions = calloc((size_t)c->vertexCount + 1, 3 * sizeof(float));
    c->influences = calloc((size_t)c->vertexCount + 1, sizeof(*c->influences));
    c->weld = calloc((size_t)c->fileVertexCount + 1, sizeof(*c->weld));
    c->fileNormals = calloc((size_t)c->fileVertexCount + 1, 3 * sizeof(float));
    c->fileUvs = withUvs ? calloc((size_t)c->fileVertexCount + 1, 2 * sizeof(float)) : NULL;
    c->triangles = calloc((size_t)c->triangleCount + 1, 3 * sizeof(*c->triangles));
    c->parts = calloc((size_t)c->partCount + 1, sizeof(*c->parts));
    if (c->joints == NULL || c->positions == NULL || c->influences == NULL || c->weld == NULL ||
        c->fileNormals == NULL || (withUvs && c->fileUvs == NULL) || c->triangles == NULL || c->parts == NULL) {
        jnaDestroyCharacter(c);
        return jnFail(error, jn_outOfMemory, "out of memory for a character of %d vertices", c->vertexCount);
    }
    return jn_ok;
}

void jnaDestroyCharacter(jnaCharacter* c)
{
    free(c->joints);
    free(c->positions);
    free(c->influences);
    free(c->weld);
    free(c->fileNormals);
    free(c->fileUvs);
    free(c->triangles);
    free(c->parts);
    for (int i = 0; i < c->attributeCount; ++i) {
        free(c->attributes[i].values);
    }
    free(c->attributes);
    free(c->sourcePoints);
    *c = (jnaCharacter){0};
}

float* jnaCharacter_AddAttribute(jnaCharacter* c, const char* name, int width)
{
    jnaAttribute* attributes = realloc(c->attributes, ((size_t)c->attributeCount + 1) * sizeof(*attributes));
    if (attributes == NULL) {
        return NULL;
    }
    c->attributes = attributes;
    jnaAttribute* attribute = &attributes[c->attributeCount];
    *attribute = (jnaAttribute){.width = width};
    snprintf(attribute->name, sizeof(attribute->name), "%s", name);
    attribute->values = calloc((size_t)c->vertexCount * (size_t)width + 1, sizeof(float));
    c->attributeCount += attribute->values != NULL;
    return attribute->values;
}

jnResult jnaClip_Allocate(jnaClip* clip, bool withScales, jnError* error)
{
    size_t entries = (size_t)clip->frameCount * (size_t)clip->jointCount + 1;
    clip->rotations = calloc(entries, 4 * sizeof(float));
    clip->translations = calloc(entries, 3 * sizeof(float));
    clip->scales = withScales ? calloc(entries, 3 * sizeof(float)) : NULL;
    if (clip->rotations == NULL || clip->translations == NULL || (withScales && clip->scales == NULL)) {
        jnaDestroyClip(clip);
        return jnFail(error, jn_outOfMemory, "out of memory for a clip of %d frames", clip->frameCount);
    }
    return jn_ok;
}

void jnaDestroyClip(jnaClip* clip)
{
    free(clip->rotations);
    free(clip->translations);
    free(clip->scales);
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

void jnaPoseMatrices(const jnaCharacter* character, const jnaClip* clip, int frame, float* matrices)
{
    for (int j = 0; j < character->jointCount; ++j) {
        const jnaJoint* joint = &character->joints[j];
        size_t entry = (size_t)frame * (size_t)character->jointCount + (size_t)j;
        const float* t = clip != NULL ? clip->translations + 3 * entry : joint->translation;
        const float* q = clip != NULL ? clip->rotations + 4 * entry : joint->rotation;
        const float* s = clip != NULL && clip->scales != NULL ? clip->scales + 3 * entry : joint->scale;
        double local[12];
        ComposeLocal(t, q, s, local);
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
