// See glb.h. One buffer: for each part its vertices' attributes, the differences of positions and normals for each
// morph target, and indices; then the key times, and the weights, of which one is 1 at each key, so that the motion is
// linear between frames.
#include "asset/glb.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GLB_MAGIC = 0x46546c67, CHUNK_JSON = 0x4e4f534a, CHUNK_BIN = 0x004e4942 };
enum { TYPE_FLOAT = 5126, TYPE_UINT32 = 5125, FOR_VERTICES = 34962, FOR_INDICES = 34963 };
// glTF counts bytes in 32 bits.
#define LARGEST_FILE 4294967295.0

jnResult jnaCreateGlb(const jnAsset* asset, int frameCount, double rate, jnaGlb* glb, jnError* error)
{
    size_t count = 3 * (size_t)asset->fileVertexCount;
    *glb = (jnaGlb){.asset = asset, .frameCount = frameCount, .rate = rate};
    double total = (2 * (double)count + (double)frameCount) * (double)frameCount * sizeof(float);
    if (total > LARGEST_FILE / 1.1) {
        return jnFail(error, jn_badArgument, "%d frames of morph targets would take %.1f GB; a .glb holds 4",
            frameCount, total * 1e-9);
    }
    glb->frames = malloc((size_t)frameCount * count * sizeof(float));
    glb->normals = malloc((size_t)frameCount * count * sizeof(float));
    if (glb->frames == NULL || glb->normals == NULL) {
        jnaDestroyGlb(glb);
        return jnFail(error, jn_outOfMemory, "out of memory for %d frames of morph targets", frameCount);
    }
    return jn_ok;
}

void jnaDestroyGlb(jnaGlb* glb)
{
    free(glb->frames);
    free(glb->normals);
    *glb = (jnaGlb){0};
}

void jnaGlb_Take(jnaGlb* glb, int frame, const float* positions, const float* normals)
{
    size_t count = 3 * (size_t)glb->asset->fileVertexCount;
    memcpy(glb->frames + (size_t)frame * count, positions, count * sizeof(float));
    memcpy(glb->normals + (size_t)frame * count, normals, count * sizeof(float));
}

// The one buffer as it grows, and its views and accessors.
typedef struct Layout {
    json_t *views, *accessors;
    unsigned char* bytes;
    size_t size, capacity;
    bool failed; // memory was short
} Layout;

static void Append(Layout* layout, const void* data, size_t size)
{
    if (!layout->failed && layout->capacity - layout->size < size) {
        size_t capacity = 2 * layout->capacity + size;
        unsigned char* bytes = realloc(layout->bytes, capacity);
        layout->failed = bytes == NULL;
        layout->bytes = bytes != NULL ? bytes : layout->bytes;
        layout->capacity = bytes != NULL ? capacity : layout->capacity;
    }
    if (!layout->failed) {
        memcpy(layout->bytes + layout->size, data, size);
        layout->size += size;
    }
}

// min and max of an accessor.
static void SetBounds(json_t* accessor, const float* data, size_t count, size_t width)
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

// Appends data of four bytes a number with a view and an accessor over it, and returns the accessor's index.
// type: "SCALAR", "VEC2" or "VEC3".
static json_int_t AddAccessor(
    Layout* layout, const char* type, int component, size_t count, int use, const void* data, bool bounds)
{
    size_t width = type[0] == 'V' ? (size_t)(type[3] - '0') : 1, size = count * width * 4;
    json_t* view = json_pack(
        "{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)layout->size, "byteLength", (json_int_t)size);
    if (use != 0) {
        json_object_set_new(view, "target", json_integer(use));
    }
    json_array_append_new(layout->views, view);
    json_t* accessor = json_pack("{s:I, s:i, s:I, s:s}", "bufferView", (json_int_t)json_array_size(layout->views) - 1,
        "componentType", component, "count", (json_int_t)count, "type", type);
    if (bounds) {
        SetBounds(accessor, data, count, width);
    }
    json_array_append_new(layout->accessors, accessor);
    Append(layout, data, size);
    return (json_int_t)json_array_size(layout->accessors) - 1;
}

// The vertices of one part, so that a program that reads the file sees no others, and its triangles in them.
typedef struct Primitive {
    int count;
    int32_t* vertices; // [count], file vertices
    int indexCount;
    uint32_t* indices; // [indexCount]
    float* values;     // [count][3], scratch
} Primitive;

static void DestroyPrimitive(Primitive* p)
{
    free(p->vertices);
    free(p->indices);
    free(p->values);
    *p = (Primitive){0};
}

static bool CreatePrimitive(const jnAsset* a, const jnAssetPart* part, Primitive* p)
{
    *p = (Primitive){.indexCount = 3 * part->triangleCount};
    int32_t* places = malloc((size_t)a->fileVertexCount * sizeof(*places) + 1);
    p->indices = malloc((size_t)p->indexCount * sizeof(*p->indices) + 1);
    p->vertices = malloc((size_t)a->fileVertexCount * sizeof(*p->vertices) + 1);
    p->values = malloc(3 * (size_t)a->fileVertexCount * sizeof(*p->values) + 1);
    bool good = places != NULL && p->indices != NULL && p->vertices != NULL && p->values != NULL;
    const int32_t* triangles = a->triangles + 3 * (size_t)part->firstTriangle;
    for (int v = 0; good && v < a->fileVertexCount; ++v) {
        places[v] = -1;
    }
    for (int i = 0; good && i < p->indexCount; ++i) {
        places[triangles[i]] = 0;
    }
    for (int v = 0; good && v < a->fileVertexCount; ++v) {
        if (places[v] == 0) {
            places[v] = p->count;
            p->vertices[p->count++] = v;
        }
    }
    for (int i = 0; good && i < p->indexCount; ++i) {
        p->indices[i] = (uint32_t)places[triangles[i]];
    }
    free(places);
    return good;
}

// Values of the part's vertices, `width` a file vertex. minus: what they are told from; NULL: nothing.
static const float* Gather(Primitive* p, const float* from, const float* minus, size_t width)
{
    for (size_t i = 0; i < (size_t)p->count; ++i) {
        for (size_t k = 0; k < width; ++k) {
            size_t at = width * (size_t)p->vertices[i] + k;
            p->values[width * i + k] = from[at] - (minus != NULL ? minus[at] : 0);
        }
    }
    return p->values;
}

static void SetAttribute(json_t* attributes, const char* name, json_int_t accessor)
{
    json_object_set_new(attributes, name, json_integer(accessor));
}

static json_t* MakeAttributes(const jnaGlb* glb, Layout* layout, Primitive* p)
{
    const jnAsset* a = glb->asset;
    size_t count = (size_t)p->count;
    json_t* attributes = json_object();
    SetAttribute(attributes, "POSITION",
        AddAccessor(layout, "VEC3", TYPE_FLOAT, count, FOR_VERTICES, Gather(p, glb->frames, NULL, 3), true));
    SetAttribute(attributes, "NORMAL",
        AddAccessor(layout, "VEC3", TYPE_FLOAT, count, FOR_VERTICES, Gather(p, glb->normals, NULL, 3), false));
    if (a->uvs != NULL) {
        SetAttribute(attributes, "TEXCOORD_0",
            AddAccessor(layout, "VEC2", TYPE_FLOAT, count, FOR_VERTICES, Gather(p, a->uvs, NULL, 2), false));
    }
    static const char* const springs[2] = {"_STIFFNESS", "_DAMPING"};
    for (int i = 0; i < 2; ++i) {
        const float* values = i == 0 ? a->stiffness : a->damping;
        for (size_t v = 0; v < count; ++v) {
            p->values[v] = values[a->weld[p->vertices[v]]];
        }
        SetAttribute(
            attributes, springs[i], AddAccessor(layout, "SCALAR", TYPE_FLOAT, count, FOR_VERTICES, p->values, false));
    }
    return attributes;
}

// What each frame adds to the first: positions and normals.
static json_t* MakeTargets(const jnaGlb* glb, Layout* layout, Primitive* p)
{
    size_t count = 3 * (size_t)glb->asset->fileVertexCount, points = (size_t)p->count;
    json_t* targets = json_array();
    for (int n = 1; n < glb->frameCount; ++n) {
        const float* positions = Gather(p, glb->frames + (size_t)n * count, glb->frames, 3);
        json_int_t position = AddAccessor(layout, "VEC3", TYPE_FLOAT, points, FOR_VERTICES, positions, true);
        const float* normals = Gather(p, glb->normals + (size_t)n * count, glb->normals, 3);
        json_int_t normal = AddAccessor(layout, "VEC3", TYPE_FLOAT, points, FOR_VERTICES, normals, false);
        json_array_append_new(targets, json_pack("{s:I, s:I}", "POSITION", position, "NORMAL", normal));
    }
    return targets;
}

static json_t* MakePrimitive(
    const jnaGlb* glb, Layout* layout, const jnAssetPart* part, Primitive* p, json_t* materials)
{
    json_t* color = json_array();
    for (int k = 0; k < 4; ++k) {
        json_array_append_new(color, json_real(fmin(fmax((double)part->color[k], 0.0), 1.0)));
    }
    json_array_append_new(
        materials, json_pack("{s:s, s:{s:o, s:f, s:f}}", "name", part->material, "pbrMetallicRoughness",
                       "baseColorFactor", color, "metallicFactor", 0.0, "roughnessFactor", 0.7));
    json_t *attributes = MakeAttributes(glb, layout, p), *targets = MakeTargets(glb, layout, p);
    json_int_t indices =
        AddAccessor(layout, "SCALAR", TYPE_UINT32, (size_t)p->indexCount, FOR_INDICES, p->indices, false);
    json_t* primitive = json_pack("{s:o, s:I, s:I}", "attributes", attributes, "indices", indices, "material",
        (json_int_t)json_array_size(materials) - 1);
    if (json_array_size(targets) > 0) {
        json_object_set(primitive, "targets", targets);
    }
    json_decref(targets);
    return primitive;
}

// One primitive per part, each with vertices of its own.
static json_t* MakePrimitives(const jnaGlb* glb, Layout* layout, json_t* materials)
{
    const jnAsset* a = glb->asset;
    json_t* primitives = json_array();
    jnAssetPart whole = {.name = "surface", .material = "surface", .color = {0.8f, 0.8f, 0.8f, 1}};
    whole.triangleCount = a->triangleCount;
    for (int i = 0; i < (a->partCount > 0 ? a->partCount : 1); ++i) {
        const jnAssetPart* part = a->partCount > 0 ? &a->parts[i] : &whole;
        Primitive p;
        if (part->triangleCount == 0) {
            continue;
        }
        layout->failed = !CreatePrimitive(a, part, &p) || layout->failed;
        if (!layout->failed) {
            json_array_append_new(primitives, MakePrimitive(glb, layout, part, &p, materials));
        }
        DestroyPrimitive(&p);
    }
    return primitives;
}

static json_t* MakeAnimation(const jnaGlb* glb, Layout* layout, const char* clip)
{
    size_t frames = (size_t)glb->frameCount;
    float* times = calloc(frames * frames + 1, sizeof(*times));
    if (times == NULL) {
        layout->failed = true;
        return NULL;
    }
    for (size_t n = 0; n < frames; ++n) {
        times[n] = (float)((double)n / glb->rate);
    }
    json_int_t input = AddAccessor(layout, "SCALAR", TYPE_FLOAT, frames, 0, times, true);
    // Of the weights of a frame one is 1; those of the first are all 0.
    memset(times, 0, frames * sizeof(*times));
    for (size_t n = 1; n < frames; ++n) {
        times[n * (frames - 1) + n - 1] = 1;
    }
    json_int_t output = AddAccessor(layout, "SCALAR", TYPE_FLOAT, frames * (frames - 1), 0, times, false);
    free(times);
    return json_pack("[{s:s, s:[{s:I, s:I, s:s}], s:[{s:i, s:{s:i, s:s}}]}]", "name", clip, "samplers", "input", input,
        "output", output, "interpolation", "LINEAR", "channels", "sampler", 0, "target", "node", 0, "path", "weights");
}

// The whole document, and its buffer in the layout.
static json_t* MakeDocument(const jnaGlb* glb, Layout* layout, const char* clip)
{
    json_t *materials = json_array(), *weights = json_array();
    for (int n = 1; n < glb->frameCount; ++n) {
        json_array_append_new(weights, json_real(0.0));
    }
    json_t* primitives = MakePrimitives(glb, layout, materials);
    json_t* mesh = json_pack("{s:s, s:o}", "name", glb->asset->name, "primitives", primitives);
    json_t* document = json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}], s:[{s:i, s:s}]}", "asset", "version", "2.0",
        "generator", "jounce", "scene", 0, "scenes", "nodes", 0, "nodes", "mesh", 0, "name", glb->asset->name);
    if (glb->frameCount > 1) {
        json_object_set(mesh, "weights", weights);
        json_object_set_new(document, "animations", MakeAnimation(glb, layout, clip));
    }
    json_object_set_new(document, "meshes", json_pack("[o]", mesh));
    json_object_set(document, "materials", materials);
    json_object_set_new(document, "accessors", layout->accessors);
    json_object_set_new(document, "bufferViews", layout->views);
    json_object_set_new(document, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)layout->size));
    json_decref(materials);
    json_decref(weights);
    return document;
}

static void PutWord(FILE* stream, size_t value)
{
    uint32_t word = (uint32_t)value;
    fwrite(&word, sizeof(word), 1, stream);
}

jnResult jnaGlb_Write(jnaGlb* glb, const char* clip, jnaFile* file, jnError* error)
{
    Layout layout = {.views = json_array(), .accessors = json_array()};
    json_t* document = MakeDocument(glb, &layout, clip);
    char* text =
        document != NULL && !layout.failed ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(document);
    if (text == NULL) {
        free(layout.bytes);
        return jnFail(error, jn_outOfMemory, "out of memory for a .glb of %d frames", glb->frameCount);
    }
    size_t length = strlen(text), padded = (length + 3) / 4 * 4, total = 12 + 8 + padded + 8 + layout.size;
    PutWord(file->stream, GLB_MAGIC);
    PutWord(file->stream, 2);
    PutWord(file->stream, total);
    PutWord(file->stream, padded);
    PutWord(file->stream, CHUNK_JSON);
    fwrite(text, 1, length, file->stream);
    for (size_t i = length; i < padded; ++i) {
        fputc(' ', file->stream);
    }
    PutWord(file->stream, layout.size);
    PutWord(file->stream, CHUNK_BIN);
    fwrite(layout.bytes, 1, layout.size, file->stream);
    free(layout.bytes);
    free(text);
    return total <= UINT32_MAX ? jn_ok : jnFail(error, jn_badArgument, "a .glb cannot be larger than 4 GB");
}
