// What glTF allows and Assimp reads as garbage: weights and keys as normalised integers, quantised positions,
// and a skin that leaves its bind matrices out. Such a document is rewritten with floats in a buffer of its
// own and all buffers inside, and Assimp reads that text from memory.
#include "base/try.h"
#include "character/gltf.h"

#include "runtime/for_author.h"

#include <stdlib.h>

enum { FLOAT_COMPONENT = 5126 };

/// Floats that are added to the document.
typedef struct Addition {
    unsigned char* data;
    size_t size;
    bool changed;
} Addition;

float jnaGltf_LoadComponent(const unsigned char* at, int component, bool normalized)
{
    if (component == FLOAT_COMPONENT) {
        float value;
        memcpy(&value, at, sizeof(value));
        return value;
    }
    int16_t s16 = (int16_t)(at[0] | (component >= 5122 ? at[1] << 8 : 0));
    uint16_t u16 = (uint16_t)s16;
    switch (component) {
    case 5120:
        return normalized ? fmaxf((float)(int8_t)at[0] / 127, -1) : (float)(int8_t)at[0];
    case 5121:
        return normalized ? (float)at[0] / 255 : (float)at[0];
    case 5122:
        return normalized ? fmaxf((float)s16 / 32767, -1) : (float)s16;
    case 5123:
        return normalized ? (float)u16 / 65535 : (float)u16;
    default:
        return (float)((uint32_t)u16 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    }
}

// Room for so many floats at the end of the addition; NULL when memory is short.
static float* AddFloats(Addition* addition, size_t count, size_t* offset)
{
    if (count > ((size_t)1 << 28)) {
        return NULL;
    }
    unsigned char* data = realloc(addition->data, addition->size + count * sizeof(float) + 1);
    if (data == NULL) {
        return NULL;
    }
    addition->data = data;
    *offset = addition->size;
    addition->size += count * sizeof(float);
    addition->changed = true;
    return (float*)(void*)(data + *offset);
}

static int AddView(jnaGltf* g, size_t offset, size_t size)
{
    json_t* views = json_object_get(g->root, "bufferViews");
    if (!json_is_array(views)) {
        views = json_array();
        json_object_set_new(g->root, "bufferViews", views);
    }
    json_array_append_new(views, json_pack("{s:I, s:I, s:I}", "buffer", (json_int_t)g->bufferCount, "byteOffset",
                                     (json_int_t)offset, "byteLength", (json_int_t)size));
    return (int)json_array_size(views) - 1;
}

// Turns one accessor into floats, once.
static jnResult MakeFloat(jnaGltf* g, const json_t* index, Addition* addition)
{
    json_t* accessor = json_array_get(json_object_get(g->root, "accessors"), (size_t)json_integer_value(index));
    if (!json_is_integer(index) || accessor == NULL ||
        json_integer_value(json_object_get(accessor, "componentType")) == FLOAT_COMPONENT) {
        return jn_ok;
    }
    jnaGltfElements e;
    jnResult result = jnaGltf_FindElements(g, (size_t)json_integer_value(index), &e);
    if (result != jn_ok) {
        return result;
    }
    if (e.data == NULL || json_object_get(accessor, "sparse") != NULL) {
        return jnFail(g->error, jn_badData,
            "%s: accessor %lld holds compressed or sparse integers, which cannot be read", g->path,
            (long long)json_integer_value(index));
    }
    bool normalized = json_is_true(json_object_get(accessor, "normalized"));
    size_t offset, step = jnaGltf_ComponentSize(e.component);
    float* floats = AddFloats(addition, e.count * e.width, &offset);
    if (floats == NULL) {
        return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
    }
    for (size_t i = 0; i < e.count * e.width; ++i) {
        floats[i] =
            jnaGltf_LoadComponent(e.data + i / e.width * e.stride + i % e.width * step, e.component, normalized);
    }
    json_object_set_new(accessor, "bufferView", json_integer(AddView(g, offset, e.count * e.width * sizeof(float))));
    json_object_set_new(accessor, "componentType", json_integer(FLOAT_COMPONENT));
    json_object_set_new(accessor, "byteOffset", json_integer(0));
    json_object_del(accessor, "normalized");
    json_object_del(accessor, "min");
    json_object_del(accessor, "max");
    return jn_ok;
}

static jnResult RepairMeshes(jnaGltf* g, Addition* addition)
{
    size_t m, p;
    json_t *mesh, *primitive, *value;
    const char* key;
    json_array_foreach(json_object_get(g->root, "meshes"), m, mesh)
    {
        json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
        {
            json_object_foreach(json_object_get(primitive, "attributes"), key, value)
            {
                bool wanted = strncmp(key, "WEIGHTS_", 8) == 0 || strcmp(key, "POSITION") == 0 ||
                              strcmp(key, "NORMAL") == 0 || strncmp(key, "TEXCOORD_", 9) == 0;
                jnResult result = wanted ? MakeFloat(g, value, addition) : jn_ok;
                if (result != jn_ok) {
                    return result;
                }
            }
        }
    }
    return jn_ok;
}

static jnResult RepairAnimations(jnaGltf* g, Addition* addition)
{
    size_t a, s;
    json_t *animation, *sampler;
    json_array_foreach(json_object_get(g->root, "animations"), a, animation)
    {
        json_array_foreach(json_object_get(animation, "samplers"), s, sampler)
        {
            jnResult result = MakeFloat(g, json_object_get(sampler, "output"), addition);
            if (result != jn_ok) {
                return result;
            }
        }
    }
    return jn_ok;
}

static jnResult RepairSkins(jnaGltf* g, Addition* addition)
{
    size_t s;
    json_t* skin;
    json_array_foreach(json_object_get(g->root, "skins"), s, skin)
    {
        if (json_object_get(skin, "inverseBindMatrices") != NULL) {
            continue;
        }
        size_t offset, count = json_array_size(json_object_get(skin, "joints"));
        float* matrices = AddFloats(addition, 16 * count, &offset);
        json_t* accessors = json_object_get(g->root, "accessors");
        if (matrices == NULL || !json_is_array(accessors)) {
            return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
        }
        for (size_t i = 0; i < 16 * count; ++i) {
            matrices[i] = i % 16 % 5 == 0 ? 1 : 0;
        }
        json_array_append_new(
            accessors, json_pack("{s:i, s:i, s:s, s:I}", "bufferView", AddView(g, offset, 64 * count), "componentType",
                           FLOAT_COMPONENT, "type", "MAT4", "count", (json_int_t)count));
        json_object_set_new(skin, "inverseBindMatrices", json_integer((json_int_t)json_array_size(accessors) - 1));
    }
    return jn_ok;
}

static char* EncodeUri(const unsigned char* data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char head[] = "data:application/octet-stream;base64,";
    char* text = malloc(sizeof(head) + (size + 2) / 3 * 4);
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, head, sizeof(head));
    char* at = text + sizeof(head) - 1;
    for (size_t i = 0; i < size; i += 3) {
        unsigned b = i + 1 < size ? data[i + 1] : 0, c = i + 2 < size ? data[i + 2] : 0;
        unsigned group = (unsigned)data[i] << 16 | b << 8 | c;
        *at++ = digits[group >> 18];
        *at++ = digits[group >> 12 & 63];
        *at++ = i + 1 < size ? digits[group >> 6 & 63] : '=';
        *at++ = i + 2 < size ? digits[group & 63] : '=';
    }
    *at = '\0';
    return text;
}

static bool EmbedBuffer(json_t* buffer, const unsigned char* data, size_t size)
{
    char* uri = EncodeUri(data, size);
    bool good = uri != NULL && json_object_set_new(buffer, "uri", json_string(uri)) == 0 &&
                json_object_set_new(buffer, "byteLength", json_integer((json_int_t)size)) == 0;
    free(uri);
    return good;
}

static jnResult EmbedAll(jnaGltf* g, const Addition* addition, char** text)
{
    json_t* buffers = json_object_get(g->root, "buffers");
    bool good = json_is_array(buffers);
    for (size_t i = 0; good && i < g->bufferCount; ++i) {
        good = g->buffers[i].data != NULL &&
               EmbedBuffer(json_array_get(buffers, i), g->buffers[i].data, g->buffers[i].size);
    }
    json_t* added = json_object();
    good = good && EmbedBuffer(added, addition->data, addition->size) && json_array_append(buffers, added) == 0;
    json_decref(added);
    *text = good ? json_dumps(g->root, JSON_COMPACT) : NULL;
    return *text != NULL ? jn_ok : jnFail(g->error, jn_badData, "%s: its buffers cannot be put together", g->path);
}

jnResult jnaGltf_Repair(jnaGltf* g, char** text)
{
    Addition addition = {0};
    *text = NULL;
    jnResult result = jn_ok;
    JN_TRY(RepairMeshes(g, &addition));
    JN_TRY(RepairAnimations(g, &addition));
    JN_TRY(RepairSkins(g, &addition));
    JN_TRY(addition.changed ? EmbedAll(g, &addition, text) : jn_ok);
done:
    free(addition.data);
    return result;
}
