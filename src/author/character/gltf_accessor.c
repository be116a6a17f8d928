// Accessors: typed views into the buffers, with the sparse ones' replacements.
#include "base/try.h"
#include "character/gltf.h"
#include "runtime/for_author.h"

// More elements than a character has; keeps sizes far from overflow.
enum { MAX_ELEMENTS = 1 << 27 };

size_t jnaGltf_ComponentSize(int64_t component)
{
    switch (component) {
    case 5120:
    case 5121:
        return 1;
    case 5122:
    case 5123:
        return 2;
    case 5125:
    case 5126:
        return 4;
    default:
        return 0;
    }
}

size_t jnaGltf_TypeWidth(const char* type)
{
    static const struct {
        const char* name;
        size_t width;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT2", 4}, {"MAT3", 9}, {"MAT4", 16}};
    for (size_t i = 0; type != NULL && i < sizeof(types) / sizeof(types[0]); ++i) {
        if (strcmp(types[i].name, type) == 0) {
            return types[i].width;
        }
    }
    return 0;
}

jnResult jnaGltf_FindElements(const jnaGltf* g, size_t index, jnaGltfElements* elements)
{
    const json_t* accessor = json_array_get(json_object_get(g->root, "accessors"), index);
    int64_t component = jnaGltf_Integer(accessor, "componentType", 0), count = jnaGltf_Integer(accessor, "count", -1);
    size_t width = jnaGltf_TypeWidth(json_string_value(json_object_get(accessor, "type")));
    *elements = (jnaGltfElements){.component = (int)component, .width = width};
    if (jnaGltf_ComponentSize(component) == 0 || width == 0 || count < 0) {
        return jnFail(
            g->error, jn_badData, "%s: accessor %zu does not exist or has no sound type and count", g->path, index);
    }
    elements->count = (size_t)count;
    int64_t viewIndex = jnaGltf_Integer(accessor, "bufferView", -1);
    if (viewIndex < 0) {
        return jn_ok;
    }
    jnaGltfBytes view;
    if (!jnaGltf_FindView(g, viewIndex, &view)) {
        return jnFail(
            g->error, jn_badData, "%s: accessor %zu lies in no buffer, or past the end of it", g->path, index);
    }
    const json_t* description = jnaGltf_Entry(g, "bufferViews", viewIndex);
    int64_t start = jnaGltf_Integer(accessor, "byteOffset", 0);
    size_t size = width * jnaGltf_ComponentSize(component);
    int64_t stride = jnaGltf_Integer(description, "byteStride", (int64_t)size);
    if (start < 0 || stride < 1 || stride > 4096) {
        return jnFail(g->error, jn_badData, "%s: accessor %zu lies in no buffer", g->path, index);
    }
    size_t room = view.size > (size_t)start ? view.size - (size_t)start : 0;
    if (count > 0 && (size > room || (size_t)(count - 1) > (room - size) / (size_t)stride)) {
        return jnFail(g->error, jn_badData, "%s: accessor %zu reaches past the end of its buffer", g->path, index);
    }
    elements->stride = (size_t)stride;
    elements->data = view.data != NULL ? view.data + start : NULL;
    return jn_ok;
}

float jnaGltf_LoadComponent(const unsigned char* at, int component, bool normalized)
{
    if (component == JNA_GLTF_FLOAT) {
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

// An accessor of integers as 32-bit ones; what is no integer is read as 0.
static uint32_t LoadInteger(const unsigned char* at, int component)
{
    switch (component) {
    case 5121:
        return at[0];
    case 5123:
        return (uint32_t)at[0] | (uint32_t)at[1] << 8;
    case 5125:
        return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    default:
        return 0;
    }
}

// Where the elements of a sparse accessor's list lie, as an accessor of their own.
static bool FindSparse(const jnaGltf* g, const json_t* list, jnaGltfElements* e)
{
    jnaGltfBytes view;
    int64_t start = jnaGltf_Integer(list, "byteOffset", 0);
    size_t size = e->width * jnaGltf_ComponentSize(e->component);
    e->stride = size;
    if (size == 0 || start < 0 || !jnaGltf_FindView(g, jnaGltf_Integer(list, "bufferView", -1), &view) ||
        view.data == NULL || (size_t)start > view.size || e->count > (view.size - (size_t)start) / size) {
        return false;
    }
    e->data = view.data + start;
    return true;
}

// The indices of a sparse accessor and what stands there. count 0: it is none.
static jnResult FindReplacements(
    const jnaGltf* g, int64_t accessor, const jnaGltfElements* all, jnaGltfElements* indices, jnaGltfElements* values)
{
    const json_t* sparse = json_object_get(jnaGltf_Entry(g, "accessors", accessor), "sparse");
    const json_t* list = json_object_get(sparse, "indices");
    int64_t count = jnaGltf_Integer(sparse, "count", 0);
    *indices = *values = (jnaGltfElements){0};
    if (sparse == NULL || count == 0) {
        return jn_ok;
    }
    bool sound = count > 0 && (size_t)count <= all->count;
    *indices = (jnaGltfElements){
        .count = sound ? (size_t)count : 0, .width = 1, .component = (int)jnaGltf_Integer(list, "componentType", 0)};
    *values = (jnaGltfElements){.count = indices->count, .width = all->width, .component = all->component};
    sound = sound && FindSparse(g, list, indices) && FindSparse(g, json_object_get(sparse, "values"), values);
    for (size_t i = 0; sound && i < indices->count; ++i) {
        sound = LoadInteger(indices->data + i * indices->stride, indices->component) < all->count;
    }
    return sound ? jn_ok
                 : jnFail(g->error, jn_badData, "%s: the sparse part of accessor %lld reaches past its end", g->path,
                       (long long)accessor);
}

static jnResult FindAll(
    jnaGltf* g, int64_t accessor, jnaGltfElements* all, jnaGltfElements* indices, jnaGltfElements* values)
{
    if (jnaGltf_Entry(g, "accessors", accessor) == NULL) {
        return jnFail(g->error, jn_badData, "%s: accessor %lld does not exist", g->path, (long long)accessor);
    }
    JN_PASS(jnaGltf_FindElements(g, (size_t)accessor, all));
    if (all->count > MAX_ELEMENTS) {
        return jnFail(g->error, jn_badData, "%s: accessor %lld has %zu elements, more than can be taken", g->path,
            (long long)accessor, all->count);
    }
    return FindReplacements(g, accessor, all, indices, values);
}

jnResult jnaGltf_ReadFloats(jnaGltf* g, int64_t accessor, size_t* count, size_t* width, float** values)
{
    jnaGltfElements all, indices, replaced;
    JN_PASS(FindAll(g, accessor, &all, &indices, &replaced));
    bool normalized = json_is_true(json_object_get(jnaGltf_Entry(g, "accessors", accessor), "normalized"));
    size_t size = jnaGltf_ComponentSize(all.component);
    *count = all.count;
    *width = all.width;
    *values = jnaArena_Take(&g->arena, (int64_t)(all.count * all.width), sizeof(float));
    JN_PASS(jnaArena_Check(&g->arena, g->path, g->error));
    for (size_t i = 0; all.data != NULL && i < all.count * all.width; ++i) {
        const unsigned char* at = all.data + i / all.width * all.stride + i % all.width * size;
        (*values)[i] = jnaGltf_LoadComponent(at, all.component, normalized);
    }
    for (size_t i = 0; i < indices.count * all.width; ++i) {
        size_t to = LoadInteger(indices.data + i / all.width * indices.stride, indices.component);
        (*values)[to * all.width + i % all.width] =
            jnaGltf_LoadComponent(replaced.data + i * size, all.component, normalized);
    }
    return jn_ok;
}

jnResult jnaGltf_ReadIntegers(jnaGltf* g, int64_t accessor, size_t* count, size_t* width, uint32_t** values)
{
    jnaGltfElements all, indices, replaced;
    JN_PASS(FindAll(g, accessor, &all, &indices, &replaced));
    size_t size = jnaGltf_ComponentSize(all.component);
    *count = all.count;
    *width = all.width;
    *values = jnaArena_Take(&g->arena, (int64_t)(all.count * all.width), sizeof(uint32_t));
    JN_PASS(jnaArena_Check(&g->arena, g->path, g->error));
    for (size_t i = 0; all.data != NULL && i < all.count * all.width; ++i) {
        (*values)[i] = LoadInteger(all.data + i / all.width * all.stride + i % all.width * size, all.component);
    }
    for (size_t i = 0; i < indices.count * all.width; ++i) {
        size_t to = LoadInteger(indices.data + i / all.width * indices.stride, indices.component);
        (*values)[to * all.width + i % all.width] = LoadInteger(replaced.data + i * size, all.component);
    }
    return jn_ok;
}
