// In the child: a glTF file with all that it names put inside, as its JSON and one buffer.
#include "character/gltf.h"

#include "base/mapped_file.h"
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

// View by view, those that were compressed as they were unpacked.
static jnResult JoinViews(jnaGltf* g, Joined* joined)
{
    size_t index;
    json_t* view;
    json_array_foreach(json_object_get(g->root, "bufferViews"), index, view)
    {
        jnaGltfBytes bytes;
        if (!jnaGltf_FindView(g, (int64_t)index, &bytes) || bytes.data == NULL) {
            return jnFail(
                g->error, jn_badData, "%s: view %zu lies in no buffer, so nothing can be added", g->path, index);
        }
        size_t at = Append(joined, bytes.data, bytes.size);
        if (at == SIZE_MAX) {
            return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
        }
        json_object_set_new(view, "buffer", json_integer(0));
        json_object_set_new(view, "byteOffset", json_integer((json_int_t)at));
        json_object_set_new(view, "byteLength", json_integer((json_int_t)bytes.size));
    }
    return jn_ok;
}

static bool IsCompression(const char* name)
{
    return name != NULL &&
           (strcmp(name, "KHR_draco_mesh_compression") == 0 || strstr(name, "meshopt_compression") != NULL);
}

static void DropFrom(json_t* object)
{
    json_t* extensions = json_object_get(object, "extensions");
    const char* name;
    json_t* value;
    void* next;
    json_object_foreach_safe(extensions, next, name, value)
    {
        if (IsCompression(name)) {
            json_object_del(extensions, name);
        }
    }
    if (json_is_object(extensions) && json_object_size(extensions) == 0) {
        json_object_del(object, "extensions");
    }
}

// What is unpacked is not compressed any more.
static void DropCompression(json_t* root)
{
    static const char* const lists[] = {"extensionsUsed", "extensionsRequired"};
    size_t index, p;
    json_t *object, *primitive;
    json_array_foreach(json_object_get(root, "bufferViews"), index, object)
    {
        DropFrom(object);
    }
    json_array_foreach(json_object_get(root, "meshes"), index, object)
    {
        json_array_foreach(json_object_get(object, "primitives"), p, primitive)
        {
            DropFrom(primitive);
        }
    }
    for (size_t i = 0; i < 2; ++i) {
        json_t* list = json_object_get(root, lists[i]);
        for (size_t k = json_array_size(list); k-- > 0;) {
            if (IsCompression(json_string_value(json_array_get(list, k)))) {
                json_array_remove(list, k);
            }
        }
        if (json_is_array(list) && json_array_size(list) == 0) {
            json_object_del(root, lists[i]);
        }
    }
}

static const char* ImageType(const unsigned char* data, size_t size)
{
    return size > 4 && memcmp(data, "\x89PNG", 4) == 0        ? "image/png"
           : size > 3 && memcmp(data, "\xff\xd8\xff", 3) == 0 ? "image/jpeg"
           : size > 12 && memcmp(data + 8, "WEBP", 4) == 0    ? "image/webp"
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
    jnaMappedFile file;
    if (jnaMapFile(path, &file, &ignored) != jn_ok) {
        return jn_ok;
    }
    const char* type = ImageType(file.bytes, file.size);
    if (type != NULL) {
        size_t at = Append(joined, file.bytes, file.size);
        json_t* views = json_object_get(g->root, "bufferViews");
        if (at == SIZE_MAX || !json_is_array(views)) {
            JN_TRY(jnFail(g->error, jn_outOfMemory, "%s: out of memory for image '%.100s'", g->path, uri));
        }
        json_array_append_new(views, json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)at,
                                         "byteLength", (json_int_t)file.size));
        json_object_set_new(image, "bufferView", json_integer((json_int_t)json_array_size(views) - 1));
        json_object_set_new(image, "mimeType", json_string(type));
        json_object_del(image, "uri");
    }
done:
    jnaUnmapFile(&file);
    return result;
}

static jnResult Pack(jnaGltf* g, Joined* joined)
{
    size_t index;
    json_t* image;
    JN_PASS(JoinViews(g, joined));
    DropCompression(g->root);
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
    char* text = NULL;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenGltf(path, &g, &error));
    JN_TRY(Pack(&g, &joined));
    text = json_dumps(g.root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    JN_TRY(text != NULL ? jn_ok : jnFail(&error, jn_outOfMemory, "%s: out of memory", path));
done:;
    const char* first = result == jn_ok ? text : error.message;
    jnaPackedHead head = {(uint64_t)(result == jn_ok), strlen(first), result == jn_ok ? joined.size : 0};
    fwrite(&head, sizeof(head), 1, stream);
    fwrite(first, 1, head.textSize, stream);
    fwrite(joined.data, 1, head.binarySize, stream);
    free(text);
    free(joined.data);
    jnaCloseGltf(&g);
}
