// A look at a glTF file before Assimp sees it, for what Assimp does not notice or does not survive: a cut
// container, a hierarchy that is no tree, accessors that reach past their buffers, joints beyond the skin's
// list, a skin without bind matrices. Runs in the child process, so that it too may meet a hostile file.
#include "base/path.h"
#include "base/try.h"
#include "character/gltf.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <stdlib.h>

jnaGltfBytes jnaGltf_ReadBytes(const char* path)
{
    jnaGltfBytes bytes = {0};
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
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

static size_t ReadU32(const unsigned char* at)
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
    if (ReadU32(data + 4) != 2) {
        return jnFail(
            g->error, jn_badData, "%s: is glTF version %zu; version 2 can be read", g->path, ReadU32(data + 4));
    }
    if (ReadU32(data + 8) != size) {
        return jnFail(g->error, jn_badData, "%s: is cut off or damaged: it has %zu bytes, its header says %zu", g->path,
            size, ReadU32(data + 8));
    }
    for (size_t at = 12; at + 8 <= size;) {
        size_t length = ReadU32(data + at);
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
    return *result == jn_ok ? jnaGltf_ReadBytes(path) : (jnaGltfBytes){0};
}

jnResult jnaGltf_LoadBuffers(jnaGltf* g)
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
        json_int_t length = json_integer_value(json_object_get(buffer, "byteLength"));
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

// Every node has at most one parent and nobody is their own ancestor.
static jnResult CheckNodes(const jnaGltf* g)
{
    const json_t* nodes = json_object_get(g->root, "nodes");
    size_t count = json_array_size(nodes);
    int* parents = malloc((count + 1) * sizeof(*parents));
    if (parents == NULL || count > JNA_MAX_SCENE_NODES) {
        free(parents);
        return jnFail(g->error, jn_badData, "%s: has more than %d nodes", g->path, JNA_MAX_SCENE_NODES);
    }
    jnResult result = jn_ok;
    for (size_t i = 0; i < count; ++i) {
        parents[i] = -1;
    }
    for (size_t i = 0; i < count && result == jn_ok; ++i) {
        const json_t* children = json_object_get(json_array_get(nodes, i), "children");
        for (size_t k = 0; k < json_array_size(children) && result == jn_ok; ++k) {
            json_int_t child = json_integer_value(json_array_get(children, k));
            if (child < 0 || (size_t)child >= count) {
                result = jnFail(g->error, jn_badData, "%s: node %zu has a child %lld of %zu nodes", g->path, i,
                    (long long)child, count);
            } else if (parents[child] >= 0) {
                result = jnFail(g->error, jn_badData, "%s: node %lld has two parents, %d and %zu", g->path,
                    (long long)child, parents[child], i);
            } else {
                parents[child] = (int)i;
            }
        }
    }
    // Each walk up cuts the links it used (-2): a later walk ends there, and one that meets its own start is
    // a cycle.
    for (size_t i = 0; i < count && result == jn_ok; ++i) {
        for (int at = (int)i; at >= 0 && result == jn_ok;) {
            int up = parents[at];
            parents[at] = -2;
            if (up == (int)i) {
                result = jnFail(g->error, jn_badData, "%s: the hierarchy has a cycle through node %zu", g->path, i);
            }
            at = up;
        }
    }
    free(parents);
    return result;
}

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

static size_t TypeWidth(const char* type)
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

static json_int_t GetInteger(const json_t* object, const char* key, json_int_t fallback)
{
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

jnResult jnaGltf_FindElements(const jnaGltf* g, size_t index, jnaGltfElements* elements)
{
    const json_t* accessor = json_array_get(json_object_get(g->root, "accessors"), index);
    json_int_t component = GetInteger(accessor, "componentType", 0), count = GetInteger(accessor, "count", -1);
    size_t width = TypeWidth(json_string_value(json_object_get(accessor, "type")));
    *elements = (jnaGltfElements){.component = (int)component, .width = width};
    if (jnaGltf_ComponentSize(component) == 0 || width == 0 || count < 0) {
        return jnFail(
            g->error, jn_badData, "%s: accessor %zu does not exist or has no sound type and count", g->path, index);
    }
    elements->count = (size_t)count;
    json_int_t viewIndex = GetInteger(accessor, "bufferView", -1);
    if (viewIndex < 0) {
        return jn_ok;
    }
    const json_t* view = json_array_get(json_object_get(g->root, "bufferViews"), (size_t)viewIndex);
    json_int_t buffer = GetInteger(view, "buffer", -1), viewStart = GetInteger(view, "byteOffset", 0);
    json_int_t length = GetInteger(view, "byteLength", -1), start = GetInteger(accessor, "byteOffset", 0);
    size_t size = width * jnaGltf_ComponentSize(component);
    json_int_t stride = GetInteger(view, "byteStride", (json_int_t)size);
    if (buffer < 0 || (size_t)buffer >= g->bufferCount || viewStart < 0 || length < 0 || start < 0 || stride < 1 ||
        stride > 4096) {
        return jnFail(g->error, jn_badData, "%s: accessor %zu lies in no buffer", g->path, index);
    }
    const jnaGltfBytes* bytes = &g->buffers[buffer];
    bool fits =
        bytes->data == NULL || ((size_t)viewStart <= bytes->size && (size_t)length <= bytes->size - (size_t)viewStart);
    size_t room = length > start ? (size_t)(length - start) : 0;
    fits = fits && (count == 0 || (size <= room && (size_t)(count - 1) <= (room - size) / (size_t)stride));
    if (!fits) {
        return jnFail(g->error, jn_badData, "%s: accessor %zu reaches past the end of its buffer", g->path, index);
    }
    elements->stride = (size_t)stride;
    elements->data = bytes->data != NULL ? bytes->data + viewStart + start : NULL;
    return jn_ok;
}

// JOINTS_n of one primitive against the number of joints in the skin.
static jnResult CheckJoints(const jnaGltf* g, size_t mesh, const json_t* attributes, size_t jointCount)
{
    const char* key;
    json_t* value;
    json_object_foreach((json_t*)(uintptr_t)attributes, key, value)
    {
        if (strncmp(key, "JOINTS_", 7) != 0) {
            continue;
        }
        jnaGltfElements e;
        jnResult result = jnaGltf_FindElements(g, (size_t)json_integer_value(value), &e);
        if (result != jn_ok) {
            return result;
        }
        if (e.width != 4 || (e.component != 5121 && e.component != 5123)) {
            return jnFail(
                g->error, jn_badData, "%s: mesh %zu: %s is not made of four bytes or shorts", g->path, mesh, key);
        }
        for (size_t i = 0; e.data != NULL && i < 4 * e.count; ++i) {
            const unsigned char* at = e.data + i / 4 * e.stride + i % 4 * (e.component == 5123 ? 2 : 1);
            size_t joint = e.component == 5123 ? (size_t)at[0] | (size_t)at[1] << 8 : at[0];
            if (joint >= jointCount) {
                return jnFail(g->error, jn_badData, "%s: mesh %zu: vertex %zu names joint %zu of a skin that has %zu",
                    g->path, mesh, i / 4, joint, jointCount);
            }
        }
    }
    return jn_ok;
}

static jnResult CheckSkins(const jnaGltf* g)
{
    const json_t* skins = json_object_get(g->root, "skins");
    size_t nodeCount = json_array_size(json_object_get(g->root, "nodes"));
    for (size_t s = 0; s < json_array_size(skins); ++s) {
        const json_t* skin = json_array_get(skins, s);
        const json_t* joints = json_object_get(skin, "joints");
        json_int_t matrices = GetInteger(skin, "inverseBindMatrices", -1);
        if (json_array_size(joints) == 0) {
            return jnFail(g->error, jn_badData, "%s: skin %zu has no joints", g->path, s);
        }
        jnaGltfElements e = {.width = 16, .component = 5126, .count = json_array_size(joints)};
        jnResult result = matrices >= 0 ? jnaGltf_FindElements(g, (size_t)matrices, &e) : jn_ok;
        if (result != jn_ok) {
            return result;
        }
        if (e.width != 16 || e.component != 5126 || e.count < json_array_size(joints)) {
            return jnFail(g->error, jn_badData, "%s: skin %zu has %zu joints but %zu bind matrices", g->path, s,
                json_array_size(joints), e.count);
        }
        for (size_t k = 0; k < json_array_size(joints); ++k) {
            json_int_t joint = json_integer_value(json_array_get(joints, k));
            if (joint < 0 || (size_t)joint >= nodeCount) {
                return jnFail(g->error, jn_badData, "%s: skin %zu: joint %zu is node %lld of %zu", g->path, s, k,
                    (long long)joint, nodeCount);
            }
        }
    }
    return jn_ok;
}

static jnResult CheckSkinnedMeshes(const jnaGltf* g)
{
    const json_t* nodes = json_object_get(g->root, "nodes");
    const json_t* skins = json_object_get(g->root, "skins");
    const json_t* meshes = json_object_get(g->root, "meshes");
    for (size_t n = 0; n < json_array_size(nodes); ++n) {
        const json_t* node = json_array_get(nodes, n);
        json_int_t mesh = GetInteger(node, "mesh", -1), skin = GetInteger(node, "skin", -1);
        if (skin < 0 || mesh < 0) {
            continue;
        }
        if ((size_t)skin >= json_array_size(skins) || (size_t)mesh >= json_array_size(meshes)) {
            return jnFail(g->error, jn_badData, "%s: node %zu names skin %lld and mesh %lld, of %zu and %zu", g->path,
                n, (long long)skin, (long long)mesh, json_array_size(skins), json_array_size(meshes));
        }
        size_t jointCount = json_array_size(json_object_get(json_array_get(skins, (size_t)skin), "joints"));
        const json_t* primitives = json_object_get(json_array_get(meshes, (size_t)mesh), "primitives");
        for (size_t p = 0; p < json_array_size(primitives); ++p) {
            jnResult result =
                CheckJoints(g, (size_t)mesh, json_object_get(json_array_get(primitives, p), "attributes"), jointCount);
            if (result != jn_ok) {
                return result;
            }
        }
    }
    return jn_ok;
}

static jnResult ListPrimitives(const jnaGltf* g, jnaGltfOrder* order)
{
    const json_t* meshes = json_object_get(g->root, "meshes");
    size_t total = 0;
    for (size_t m = 0; m < json_array_size(meshes); ++m) {
        total += json_array_size(json_object_get(json_array_get(meshes, m), "primitives"));
    }
    order->names = calloc(total + 1, sizeof(*order->names));
    order->vertexCounts = calloc(total + 1, sizeof(*order->vertexCounts));
    if (order->names == NULL || order->vertexCounts == NULL) {
        return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
    }
    for (size_t m = 0; m < json_array_size(meshes); ++m) {
        const json_t* mesh = json_array_get(meshes, m);
        const json_t* primitives = json_object_get(mesh, "primitives");
        const char* name = json_string_value(json_object_get(mesh, "name"));
        for (size_t p = 0; p < json_array_size(primitives); ++p, ++order->count) {
            char base[100], suffix[24] = "";
            snprintf(base, sizeof(base), "meshes[%zu]", m);
            if (json_array_size(primitives) > 1) {
                snprintf(suffix, sizeof(suffix), "-%zu", p);
            }
            snprintf(order->names[order->count], sizeof(*order->names), "%.99s%s",
                name != NULL && name[0] != '\0' ? name : base, suffix);
            const json_t* attributes = json_object_get(json_array_get(primitives, p), "attributes");
            jnaGltfElements e;
            if (jnaGltf_FindElements(g, (size_t)GetInteger(attributes, "POSITION", -1), &e) == jn_ok) {
                order->vertexCounts[order->count] = (int)e.count;
            }
            jnResult result = jnaGltf_ListAttributes(g, attributes, order->count, order);
            if (result != jn_ok) {
                return result;
            }
        }
    }
    return jn_ok;
}

// Compressed buffers look like empty ones to whoever does not know the extension.
static jnResult CheckExtensions(const jnaGltf* g)
{
    static const char* const unread[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression"};
    size_t index;
    const json_t* name;
    json_array_foreach(json_object_get(g->root, "extensionsRequired"), index, name)
    {
        for (size_t k = 0; k < sizeof(unread) / sizeof(unread[0]); ++k) {
            if (json_is_string(name) && strcmp(json_string_value(name), unread[k]) == 0) {
                return jnFail(g->error, jn_badData, "%s: needs %s, which is not read; export it uncompressed", g->path,
                    unread[k]);
            }
        }
    }
    return jn_ok;
}

static jnResult CheckDocument(jnaGltf* g, jnaGltfOrder* order)
{
    jnResult result = jn_ok;
    JN_TRY(CheckExtensions(g));
    JN_TRY(jnaGltf_LoadBuffers(g));
    JN_TRY(CheckNodes(g));
    for (size_t i = 0; i < json_array_size(json_object_get(g->root, "accessors")); ++i) {
        jnaGltfElements e;
        JN_TRY(jnaGltf_FindElements(g, i, &e));
    }
    JN_TRY(CheckSkins(g));
    JN_TRY(CheckSkinnedMeshes(g));
    JN_TRY(ListPrimitives(g, order));
    JN_TRY(jnaGltf_Repair(g, &order->repaired));
done:
    return result;
}

jnResult jnaOpenGltf(const char* path, jnaGltf* g, jnError* error)
{
    *g = (jnaGltf){.path = path, .file = jnaGltf_ReadBytes(path), .error = error};
    if (g->file.data == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    jnaGltfBytes text;
    json_error_t problem;
    JN_PASS(SplitContainer(g, &text));
    g->root = json_loadb((const char*)text.data, text.size, 0, &problem);
    return json_is_object(g->root) ? jn_ok
                                   : jnFail(error, jn_badData, "%s: its JSON is cut off or damaged at line %d: %s",
                                         path, problem.line, problem.text);
}

void jnaCloseGltf(jnaGltf* g)
{
    for (size_t i = 0; g->buffers != NULL && i < g->bufferCount; ++i) {
        if (g->buffers[i].owned) {
            free(g->buffers[i].data);
        }
    }
    free(g->buffers);
    json_decref(g->root);
    free(g->file.data);
    *g = (jnaGltf){0};
}

jnResult jnaCheckGltf(const char* path, jnaGltfOrder* order, jnError* error)
{
    *order = (jnaGltfOrder){0};
    jnaGltf g;
    jnResult result = jnaOpenGltf(path, &g, error);
    result = result == jn_ok ? CheckDocument(&g, order) : result;
    jnaCloseGltf(&g);
    return result;
}
