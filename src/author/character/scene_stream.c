#include "character/scene_stream.h"

#include <string.h>

static void PutBytes(FILE* stream, const void* bytes, size_t size)
{
    static const char padding[8] = {0};
    if (size > 0) {
        fwrite(bytes, 1, size, stream);
    }
    fwrite(padding, 1, (8 - size % 8) % 8, stream);
}

void jnaPutInteger(FILE* stream, int64_t value)
{
    PutBytes(stream, &value, sizeof(value));
}

static void PutNumber(FILE* stream, double value)
{
    PutBytes(stream, &value, sizeof(value));
}

void jnaPutText(FILE* stream, const char* text)
{
    size_t length = strlen(text);
    jnaPutInteger(stream, (int64_t)length);
    PutBytes(stream, text, length + 1);
}

static void PutMatrix(FILE* stream, const jnaAffine* matrix)
{
    float rows[12];
    for (int i = 0; i < 12; ++i) {
        rows[i] = (float)matrix->m[i];
    }
    PutBytes(stream, rows, sizeof(rows));
}

void jnaPutHead(FILE* stream, double metresPerUnit, int upAxis)
{
    jnaPutInteger(stream, JNA_SCENE_MAGIC);
    jnaPutInteger(stream, 1);
    PutNumber(stream, metresPerUnit);
    jnaPutInteger(stream, upAxis);
}

void jnaPutNode(FILE* stream, const char* name, int parent, const float rows[12])
{
    jnaPutText(stream, name);
    jnaPutInteger(stream, parent);
    PutBytes(stream, rows, 12 * sizeof(float));
}

static void PutSurface(FILE* stream, const jnaSceneMesh* mesh)
{
    size_t count = (size_t)mesh->vertexCount;
    jnaPutInteger(stream, mesh->vertexCount);
    jnaPutInteger(stream, mesh->normals != NULL);
    jnaPutInteger(stream, mesh->uvs != NULL);
    PutBytes(stream, mesh->positions, count * 3 * sizeof(float));
    PutBytes(stream, mesh->normals, mesh->normals != NULL ? count * 3 * sizeof(float) : 0);
    PutBytes(stream, mesh->uvs, mesh->uvs != NULL ? count * 2 * sizeof(float) : 0);
    jnaPutInteger(stream, mesh->attributeCount);
    for (int i = 0; i < mesh->attributeCount; ++i) {
        const jnaSceneAttribute* attribute = &mesh->attributes[i];
        jnaPutText(stream, attribute->name);
        jnaPutInteger(stream, attribute->width);
        PutBytes(stream, attribute->values, count * (size_t)attribute->width * sizeof(float));
    }
    jnaPutInteger(stream, mesh->targetCount);
    for (int i = 0; i < mesh->targetCount; ++i) {
        jnaPutText(stream, mesh->targets[i].name);
        PutNumber(stream, (double)mesh->targets[i].weight);
        PutBytes(stream, mesh->targets[i].offsets, count * 3 * sizeof(float));
    }
    jnaPutInteger(stream, mesh->triangleCount);
    PutBytes(stream, mesh->triangles, (size_t)mesh->triangleCount * 3 * sizeof(uint32_t));
}

void jnaPutMesh(FILE* stream, const jnaSceneMesh* mesh)
{
    jnaPutText(stream, mesh->name);
    jnaPutInteger(stream, mesh->primitive);
    jnaPutText(stream, mesh->material);
    PutBytes(stream, mesh->color, sizeof(mesh->color));
    PutSurface(stream, mesh);
    jnaPutInteger(stream, mesh->boneCount);
    for (int b = 0; b < mesh->boneCount; ++b) {
        const jnaSceneBone* bone = &mesh->bones[b];
        jnaPutText(stream, bone->name);
        jnaPutInteger(stream, bone->node);
        PutMatrix(stream, &bone->offset);
        jnaPutInteger(stream, bone->weightCount);
        PutBytes(stream, bone->vertices, (size_t)bone->weightCount * sizeof(uint32_t));
        PutBytes(stream, bone->weights, (size_t)bone->weightCount * sizeof(float));
    }
    jnaPutInteger(stream, mesh->placeCount);
    PutBytes(stream, mesh->places, (size_t)mesh->placeCount * sizeof(int32_t));
}

static void PutKeys(FILE* stream, const jnaSceneKeys* keys, size_t width)
{
    size_t values = (size_t)keys->count * (keys->interpolation == jna_cubicKeys ? 3 : 1) * width;
    jnaPutInteger(stream, keys->count);
    jnaPutInteger(stream, (int64_t)keys->interpolation);
    PutBytes(stream, keys->times, (size_t)keys->count * sizeof(double));
    PutBytes(stream, keys->values, values * sizeof(float));
}

void jnaPutAnimation(FILE* stream, const jnaSceneAnimation* animation)
{
    jnaPutText(stream, animation->name);
    PutNumber(stream, animation->ticksPerSecond);
    jnaPutInteger(stream, animation->channelCount);
    for (int c = 0; c < animation->channelCount; ++c) {
        const jnaSceneChannel* channel = &animation->channels[c];
        jnaPutInteger(stream, channel->node);
        PutKeys(stream, &channel->translation, 3);
        PutKeys(stream, &channel->rotation, 4);
        PutKeys(stream, &channel->scale, 3);
        jnaPutInteger(stream, channel->weightCount);
        PutKeys(stream, &channel->weights, (size_t)channel->weightCount);
    }
}

void jnaPutFailure(FILE* stream, const char* sentence)
{
    jnaPutInteger(stream, JNA_SCENE_MAGIC);
    jnaPutInteger(stream, 0);
    jnaPutText(stream, sentence);
}
