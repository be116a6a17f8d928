// See glb_buffer.h.
#include "asset/glb_buffer.h"

#include "character/gltf.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GLB_MAGIC = 0x46546c67, CHUNK_JSON = 0x4e4f534a, CHUNK_BIN = 0x004e4942 };

void jnaDestroyGlbBuffer(jnaGlbBuffer* buffer)
{
    free(buffer->bytes);
    *buffer = (jnaGlbBuffer){0};
}

static void Append(jnaGlbBuffer* buffer, const void* data, size_t size)
{
    if (!buffer->failed && buffer->capacity - buffer->size < size) {
        size_t capacity = 2 * buffer->capacity + size;
        unsigned char* bytes = realloc(buffer->bytes, capacity);
        buffer->failed = bytes == NULL;
        buffer->bytes = bytes != NULL ? bytes : buffer->bytes;
        buffer->capacity = bytes != NULL ? capacity : buffer->capacity;
    }
    if (!buffer->failed && size > 0) {
        memcpy(buffer->bytes + buffer->size, data, size);
        buffer->size += size;
    }
}

void jnaSetGltfBounds(json_t* accessor, const float* data, size_t count, size_t width)
{
    json_t *low = json_array(), *high = json_array();
    for (size_t axis = 0; axis < width; ++axis) {
        float least = data[axis], most = data[axis];
        for (size_t i = 1; i < count; ++i) {
            least = fminf(least, data[i * width + axis]);
            most = fmaxf(most, data[i * width + axis]);
        }
        json_array_append_new(low, json_real((double)least));
        json_array_append_new(high, json_real((double)most));
    }
    json_object_set_new(accessor, "min", low);
    json_object_set_new(accessor, "max", high);
}

size_t jnaGltfComponentSize(int component)
{
    return component == JNA_GLB_BYTE || component == JNA_GLB_UINT8     ? 1
           : component == JNA_GLB_SHORT || component == JNA_GLB_UINT16 ? 2
                                                                       : 4;
}

static size_t WidthOf(const char* type)
{
    return strcmp(type, "MAT4") == 0 ? 16 : type[0] == 'V' ? (size_t)(type[3] - '0') : 1;
}

json_int_t jnaGlbBuffer_AddView(jnaGlbBuffer* buffer, const void* data, size_t size, int use, size_t stride)
{
    Append(buffer, "\0\0\0", (4 - buffer->size % 4) % 4);
    json_t* view = json_pack(
        "{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)buffer->size, "byteLength", (json_int_t)size);
    if (use != 0) {
        json_object_set_new(view, "target", json_integer(use));
    }
    if (stride != 0) {
        json_object_set_new(view, "byteStride", json_integer((json_int_t)stride));
    }
    json_array_append_new(buffer->views, view);
    Append(buffer, data, size);
    return (json_int_t)json_array_size(buffer->views) - 1;
}

json_int_t jnaGlbBuffer_Add(jnaGlbBuffer* buffer, const jnaGlbArray* a)
{
    size_t width = WidthOf(a->type), packed = width * jnaGltfComponentSize(a->component);
    json_int_t view =
        jnaGlbBuffer_AddView(buffer, a->data, a->count * (a->stride != 0 ? a->stride : packed), a->use, a->stride);
    json_t* accessor = json_pack("{s:I, s:i, s:I, s:s}", "bufferView", view, "componentType", a->component, "count",
        (json_int_t)a->count, "type", a->type);
    if (a->normalized) {
        json_object_set_new(accessor, "normalized", json_true());
    }
    if (a->bounds) {
        jnaSetGltfBounds(accessor, a->data, a->count, width);
    }
    json_array_append_new(buffer->accessors, accessor);
    return (json_int_t)json_array_size(buffer->accessors) - 1;
}

static void PutWord(FILE* stream, size_t value)
{
    uint32_t word = (uint32_t)value;
    fwrite(&word, sizeof(word), 1, stream);
}

jnResult jnaWriteGlb(json_t* document, const jnaGlbBuffer* buffer, int digits, jnaFile* file, jnError* error)
{
    size_t size = (buffer->size + 3) / 4 * 4;
    json_object_set_new(document, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)size));
    char* text =
        buffer->failed ? NULL : json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION((unsigned long)digits));
    if (text == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a .glb of %zu bytes", buffer->size);
    }
    size_t length = strlen(text), padded = (length + 3) / 4 * 4, total = 12 + 8 + padded + 8 + size;
    PutWord(file->stream, GLB_MAGIC);
    PutWord(file->stream, 2);
    PutWord(file->stream, total);
    PutWord(file->stream, padded);
    PutWord(file->stream, CHUNK_JSON);
    fwrite(text, 1, length, file->stream);
    fwrite("   ", 1, padded - length, file->stream);
    PutWord(file->stream, size);
    PutWord(file->stream, CHUNK_BIN);
    fwrite(buffer->bytes, 1, buffer->size, file->stream);
    fwrite("\0\0\0", 1, size - buffer->size, file->stream);
    free(text);
    return total <= UINT32_MAX ? jn_ok : jnFail(error, jn_badArgument, "a .glb cannot be larger than 4 GB");
}

static json_int_t GetInteger(const json_t* object, const char* name, json_int_t otherwise)
{
    const json_t* value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static const json_t* GetEntry(const json_t* list, json_int_t index)
{
    return index >= 0 ? json_array_get(list, (size_t)index) : NULL;
}

float* jnaGlbBuffer_Read(const jnaGlbBuffer* b, json_int_t index, const char* type, size_t* count)
{
    const json_t* accessor = GetEntry(b->accessors, index);
    const json_t* view = GetEntry(b->views, GetInteger(accessor, "bufferView", -1));
    const char* own = json_string_value(json_object_get(accessor, "type"));
    int component = (int)GetInteger(accessor, "componentType", 0);
    json_int_t offset = GetInteger(accessor, "byteOffset", 0), first = GetInteger(view, "byteOffset", 0);
    json_int_t length = GetInteger(accessor, "count", -1), all = (json_int_t)b->size;
    size_t width = jnaGltf_TypeWidth(type);
    size_t size = component >= JNA_GLB_BYTE && component <= JNA_GLB_FLOAT ? jnaGltfComponentSize(component) : 0;
    json_int_t packed = (json_int_t)(width * size), stride = GetInteger(view, "byteStride", 0);
    stride = stride == 0 ? packed : stride;
    *count = 0;
    if (view == NULL || own == NULL || strcmp(type, own) != 0 || packed == 0 || offset < 0 || first < 0 ||
        offset > all || first > all - offset || length <= 0 || stride < packed || stride > all ||
        packed > all - offset - first || length - 1 > (all - offset - first - packed) / stride ||
        json_object_get(accessor, "sparse") != NULL) {
        return NULL;
    }
    float* values = malloc((size_t)length * width * sizeof(float));
    for (size_t i = 0; values != NULL && i < (size_t)length * width; ++i) {
        const unsigned char* at = b->bytes + offset + first + i / width * (size_t)stride + i % width * size;
        values[i] = jnaGltf_LoadComponent(at, component, json_is_true(json_object_get(accessor, "normalized")));
    }
    *count = values != NULL ? (size_t)length : 0;
    return values;
}
