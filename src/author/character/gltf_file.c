// A glTF file as it lies on the disk: the .glb container, the JSON, and the buffers, inside, as text or beside the
// file.
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "character/gltf.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <stdlib.h>

static jnaGltfBytes ReadBytes(const char* path)
{
    jnaGltfBytes bytes = {0};
    FILE* file;
    if (jnaOpenInput(path, &file, NULL) != jn_ok) {
        return bytes;
    }
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes.data = malloc((size_t)size + 1);
        bytes.size = bytes.data != NULL ? fread(bytes.data, 1, (size_t)size, file) : 0;
        bytes.owned = true;
    }
    fclose(file);
    return bytes;
}

static size_t LoadU32(const unsigned char* at)
{
    return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

// Splits a .glb into its two chunks; for a .gltf the text is the whole file.
static jnResult SplitContainer(jnaGltf* g, jnaGltfBytes* text)
{
    const unsigned char* data = g->file.data;
    size_t size = g->file.size;
    *text = (jnaGltfBytes){g->file.data, size, false};
    if (!jnaHasEnding(g->path, ".glb") && !jnaHasEnding(g->path, ".vrm")) {
        return jn_ok;
    }
    if (size < 20 || memcmp(data, "glTF", 4) != 0) {
        return jnFail(g->error, jn_badData, "%s: is not a binary glTF file, or is cut off in its header", g->path);
    }
    if (LoadU32(data + 4) != 2) {
        return jnFail(
            g->error, jn_badData, "%s: is glTF version %zu; version 2 can be read", g->path, LoadU32(data + 4));
    }
    if (LoadU32(data + 8) != size) {
        return jnFail(g->error, jn_badData, "%s: is cut off or damaged: it has %zu bytes, its header says %zu", g->path,
            size, LoadU32(data + 8));
    }
    for (size_t at = 12; at + 8 <= size;) {
        size_t length = LoadU32(data + at);
        if (length > size - at - 8) {
            return jnFail(g->error, jn_badData, "%s: a chunk reaches past the end of the file", g->path);
        }
        if (memcmp(data + at + 4, "JSON", 4) == 0) {
            *text = (jnaGltfBytes){g->file.data + at + 8, length, false};
        } else if (memcmp(data + at + 4, "BIN", 4) == 0) {
            g->binary = (jnaGltfBytes){g->file.data + at + 8, length, false};
        }
        at += 8 + length;
    }
    return jn_ok;
}

static int Base64Digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static jnaGltfBytes DecodeBase64(const char* text)
{
    jnaGltfBytes bytes = {malloc(strlen(text) / 4 * 3 + 4), 0, true};
    unsigned group = 0;
    int bits = 0;
    for (; bytes.data != NULL && Base64Digit(*text) >= 0; ++text) {
        group = group << 6 | (unsigned)Base64Digit(*text);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.data[bytes.size++] = (unsigned char)(group >> bits & 0xff);
        }
    }
    return bytes;
}

// A buffer of the file: embedded, as text, or beside the file.
static jnaGltfBytes LoadBuffer(const jnaGltf* g, size_t index, const char* uri, jnResult* result)
{
    *result = jn_ok;
    if (uri == NULL) {
        jnaGltfBytes binary = g->binary;
        return index == 0 ? binary : (jnaGltfBytes){0};
    }
    const char* comma = strncmp(uri, "data:", 5) == 0 ? strstr(uri, ";base64,") : NULL;
    if (comma != NULL) {
        return DecodeBase64(comma + strlen(";base64,"));
    }
    if (strncmp(uri, "data:", 5) == 0) {
        return (jnaGltfBytes){0}; // in another encoding, which Assimp does not read either
    }
    char path[JNA_PATH_LENGTH];
    *result = jnaGltf_ResolveUri(g->path, uri, path, g->error);
    return *result == jn_ok ? ReadBytes(path) : (jnaGltfBytes){0};
}

static jnResult LoadBuffers(jnaGltf* g)
{
    const json_t* list = json_object_get(g->root, "buffers");
    g->bufferCount = json_array_size(list);
    g->buffers = calloc(g->bufferCount + 1, sizeof(*g->buffers));
    if (g->buffers == NULL) {
        return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
    }
    for (size_t i = 0; i < g->bufferCount; ++i) {
        const json_t* buffer = json_array_get(list, i);
        const char* uri = json_string_value(json_object_get(buffer, "uri"));
        int64_t length = jnaGltf_Integer(buffer, "byteLength", -1);
        jnResult result;
        g->buffers[i] = LoadBuffer(g, i, uri, &result);
        if (result != jn_ok) {
            return result;
        }
        if (g->buffers[i].data == NULL && uri != NULL && strncmp(uri, "data:", 5) != 0) {
            return jnFail(g->error, jn_ioFailed, "%s: its buffer '%.100s' cannot be read", g->path, uri);
        }
        if (g->buffers[i].data != NULL && (length < 0 || (size_t)length > g->buffers[i].size)) {
            return jnFail(g->error, jn_badData, "%s: buffer %zu is cut off: it has %zu bytes, %lld are stated", g->path,
                i, g->buffers[i].size, (long long)length);
        }
    }
    return jn_ok;
}

int64_t jnaGltf_Integer(const json_t* object, const char* key, int64_t fallback)
{
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

json_t* jnaGltf_Entry(const jnaGltf* g, const char* list, int64_t index)
{
    return index >= 0 ? json_array_get(json_object_get(g->root, list), (size_t)index) : NULL;
}

int jnaGltf_AddView(jnaGltf* g, unsigned char* data, size_t size)
{
    json_t* list = json_object_get(g->root, "bufferViews");
    jnaGltfBytes* views = data != NULL ? realloc(g->views, (g->viewCount + 1) * sizeof(*views)) : NULL;
    g->views = views != NULL ? views : g->views;
    if (views == NULL || json_array_append_new(list, json_object()) != 0) {
        free(data);
        return -1;
    }
    views[g->viewCount] = (jnaGltfBytes){data, size, true};
    return (int)g->viewCount++;
}

bool jnaGltf_FindView(const jnaGltf* g, int64_t index, jnaGltfBytes* bytes)
{
    const json_t* view = jnaGltf_Entry(g, "bufferViews", index);
    if (view != NULL && (size_t)index < g->viewCount && g->views[index].data != NULL) {
        *bytes = (jnaGltfBytes){g->views[index].data, g->views[index].size, false};
        return true;
    }
    int64_t buffer = jnaGltf_Integer(view, "buffer", -1), start = jnaGltf_Integer(view, "byteOffset", 0);
    int64_t length = jnaGltf_Integer(view, "byteLength", -1);
    if (buffer < 0 || (size_t)buffer >= g->bufferCount || start < 0 || length < 0) {
        return false;
    }
    const jnaGltfBytes* all = &g->buffers[buffer];
    *bytes = (jnaGltfBytes){all->data != NULL ? all->data + start : NULL, (size_t)length, false};
    return all->data == NULL || ((size_t)start <= all->size && (size_t)length <= all->size - (size_t)start);
}

// Version 1 has maps where version 2 has lists; nothing of it would be found.
static jnResult CheckVersion(const jnaGltf* g)
{
    const char* version = json_string_value(json_object_get(json_object_get(g->root, "asset"), "version"));
    bool second = version != NULL && strncmp(version, "2.", 2) == 0;
    return second ? jn_ok
                  : jnFail(g->error, jn_badData, "%s: is glTF of version %.20s; version 2 can be read", g->path,
                        version != NULL ? version : "unknown");
}

static jnResult OpenDocument(jnaGltf* g, const jnaGltfBytes* text)
{
    json_error_t problem;
    g->root = json_loadb((const char*)text->data, text->size, 0, &problem);
    if (!json_is_object(g->root)) {
        return jnFail(g->error, jn_badData, "%s: its JSON is cut off or damaged at line %d: %s", g->path, problem.line,
            problem.text);
    }
    JN_PASS(CheckVersion(g));
    static const char* const lists[] = {"bufferViews", "accessors"};
    for (size_t i = 0; i < 2; ++i) {
        if (!json_is_array(json_object_get(g->root, lists[i])) &&
            json_object_set_new(g->root, lists[i], json_array()) != 0) {
            return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
        }
    }
    g->viewCount = json_array_size(json_object_get(g->root, "bufferViews"));
    g->views = calloc(g->viewCount + 1, sizeof(*g->views));
    return g->views != NULL ? LoadBuffers(g) : jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
}

jnResult jnaLoadGltf(const char* path, jnaGltf* g, jnError* error)
{
    *g = (jnaGltf){.path = path, .file = ReadBytes(path), .error = error};
    if (g->file.data == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    jnaGltfBytes text;
    JN_PASS(SplitContainer(g, &text));
    return OpenDocument(g, &text);
}

void jnaCloseGltf(jnaGltf* g)
{
    for (size_t i = 0; g->buffers != NULL && i < g->bufferCount; ++i) {
        if (g->buffers[i].owned) {
            free(g->buffers[i].data);
        }
    }
    for (size_t i = 0; g->views != NULL && i < g->viewCount; ++i) {
        free(g->views[i].data);
    }
    free(g->buffers);
    free(g->views);
    json_decref(g->root);
    free(g->file.data);
    jnaReleaseArena(&g->arena);
    jnaDestroyNotes(&g->notes);
    *g = (jnaGltf){0};
}
