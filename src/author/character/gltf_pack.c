// In the child: a glTF file with all that it names put inside, as its JSON and one buffer.
#include "character/gltf.h"

#include "base/path.h"
#include "base/try.h"
#include "character/gltf_pack.h"
#include "character/gltf_source.h"

#include "runtime/for_author.h"

#include <stdlib.h>

// Elements of any kind keep their alignment.
enum { ALIGNMENT = 16 };

typedef struct Joined {
    unsigned char* data;
    size_t size;
} Joined;

// Appends at a multiple of 16; returns where, or SIZE_MAX where memory is short.
static size_t Append(Joined* joined, const unsigned char* data, size_t size)
{
    size_t at = (joined->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char* bytes = realloc(joined->data, at + size + 1);
    if (bytes == NULL) {
        return SIZE_MAX;
    }
    memset(bytes + joined->size, 0, at - joined->size);
    memcpy(bytes + at, data, size);
    *joined = (Joined){bytes, at + size};
    return at;
}

static jnResult JoinBuffers(jnaGltf* g, Joined* joined)
{
    size_t index, *places = calloc(g->bufferCount + 1, sizeof(*places));
    jnResult result = places != NULL ? jn_ok : jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
    for (size_t i = 0; result == jn_ok && i < g->bufferCount; ++i) {
        if (g->buffers[i].data == NULL) {
            result = jnFail(g->error, jn_badData, "%s: buffer %zu is not there, so nothing can be added", g->path, i);
        } else {
            places[i] = Append(joined, g->buffers[i].data, g->buffers[i].size);
            result = places[i] != SIZE_MAX ? jn_ok : jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
        }
    }
    json_t* view;
    json_array_foreach(json_object_get(g->root, "bufferViews"), index, view)
    {
        json_int_t buffer = json_integer_value(json_object_get(view, "buffer"));
        json_int_t offset = json_integer_value(json_object_get(view, "byteOffset"));
        if (result == jn_ok && (buffer < 0 || (size_t)buffer >= g->bufferCount || offset < 0)) {
            result = jnFail(g->error, jn_badData, "%s: view %zu is of no buffer", g->path, index);
        }
        if (result == jn_ok) {
            json_object_set_new(view, "buffer", json_integer(0));
            json_object_set_new(view, "byteOffset", json_integer((json_int_t)places[buffer] + offset));
        }
    }
    free(places);
    return result;
}

static const char* ImageType(const jnaGltfBytes* bytes)
{
    return bytes->size > 4 && memcmp(bytes->data, "\x89PNG", 4) == 0        ? "image/png"
           : bytes->size > 3 && memcmp(bytes->data, "\xff\xd8\xff", 3) == 0 ? "image/jpeg"
           : bytes->size > 12 && memcmp(bytes->data + 8, "WEBP", 4) == 0    ? "image/webp"
                                                                            : NULL;
}

// An image beside the file, as a view. One that is not there, or of an unknown kind, keeps its name.
static jnResult TakeImage(jnaGltf* g, json_t* image, Joined* joined)
{
    char path[JNA_PATH_LENGTH];
    jnError ignored;
    const char* uri = json_string_value(json_object_get(image, "uri"));
    if (uri == NULL || strncmp(uri, "data:", 5) == 0 || jnaGltf_ResolveUri(g->path, uri, path, &ignored) != jn_ok) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    jnaGltfBytes bytes = jnaGltf_ReadBytes(path);
    const char* type = bytes.data != NULL ? ImageType(&bytes) : NULL;
    if (type != NULL) {
        size_t at = Append(joined, bytes.data, bytes.size);
        json_t* views = json_object_get(g->root, "bufferViews");
        if (at == SIZE_MAX || !json_is_array(views)) {
            JN_TRY(jnFail(g->error, jn_outOfMemory, "%s: out of memory for image '%.100s'", g->path, uri));
        }
        json_array_append_new(views, json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)at,
                                         "byteLength", (json_int_t)bytes.size));
        json_object_set_new(image, "bufferView", json_integer((json_int_t)json_array_size(views) - 1));
        json_object_set_new(image, "mimeType", json_string(type));
        json_object_del(image, "uri");
    }
done:
    free(bytes.data);
    return result;
}

static jnResult Pack(jnaGltf* g, Joined* joined)
{
    size_t index;
    json_t* image;
    JN_PASS(jnaGltf_LoadBuffers(g));
    JN_PASS(JoinBuffers(g, joined));
    json_array_foreach(json_object_get(g->root, "images"), index, image)
    {
        JN_PASS(TakeImage(g, image, joined));
    }
    json_object_del(g->root, "buffers");
    return jn_ok;
}

void jnaWritePackedGltf(const char* path, FILE* stream, void* user)
{
    (void)user;
    jnError error = {0};
    jnaGltf g;
    Joined joined = {0};
    jnResult result = jnaOpenGltf(path, &g, &error);
    result = result == jn_ok ? Pack(&g, &joined) : result;
    char* text = result == jn_ok ? json_dumps(g.root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (result == jn_ok && text == NULL) {
        result = jnFail(&error, jn_outOfMemory, "%s: out of memory", path);
    }
    const char* first = result == jn_ok ? text : error.message;
    jnaPackedHead head = {(uint64_t)(result == jn_ok), strlen(first), result == jn_ok ? joined.size : 0};
    fwrite(&head, sizeof(head), 1, stream);
    fwrite(first, 1, head.textSize, stream);
    fwrite(joined.data, 1, head.binarySize, stream);
    free(text);
    free(joined.data);
    jnaCloseGltf(&g);
}
