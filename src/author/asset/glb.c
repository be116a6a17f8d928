// See glb.h. One buffer: attributes, indices, a block of differences for each morph target, the key times, and the
// weights, of which one is 1 at each key, so that the motion is linear between frames.
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
    double total = ((double)count + (double)frameCount) * (double)frameCount * sizeof(float);
    if (total > LARGEST_FILE / 1.1) {
        return jnFail(error, jn_badArgument, "%d frames of morph targets would take %.1f GB; a .glb holds 4",
            frameCount, total * 1e-9);
    }
    glb->frames = malloc((size_t)frameCount * count * sizeof(float));
    glb->normals = malloc(count * sizeof(float));
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
    if (frame == 0) {
        memcpy(glb->normals, normals, count * sizeof(float));
    }
}

// Views and accessors of the one buffer as they are added; data follow in the same order.
typedef struct Layout {
    json_t *views, *accessors;
    size_t size; // bytes so far
} Layout;

// Adds a view with one accessor over it and returns the accessor's index. min and max are set where `bounds` has the
// data, `width` floats an element.
static json_int_t AddAccessor(
    Layout* layout, const char* type, int width, int component, size_t count, int use, const float* bounds)
{
    size_t size = count * (size_t)width * 4;
    json_t* view = json_pack(
        "{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)layout->size, "byteLength", (json_int_t)size);
    if (use != 0) {
        json_object_set_new(view, "target", json_integer(use));
    }
    json_array_append_new(layout->views, view);
    json_t* accessor = json_pack("{s:I, s:i, s:I, s:s}", "bufferView", (json_int_t)json_array_size(layout->views) - 1,
        "componentType", component, "count", (json_int_t)count, "type", type);
    if (bounds != NULL) {
        json_t *low = json_array(), *high = json_array();
        for (int axis = 0; axis < width; ++axis) {
            float least = bounds[axis], most = bounds[axis];
            for (size_t i = 1; i < count; ++i) {
                float value = bounds[i * (size_t)width + (size_t)axis];
                least = fminf(least, value);
                most = fmaxf(most, value);
            }
            json_array_append_new(low, json_real((double)least));
            json_array_append_new(high, json_real((double)most));
        }
        json_object_set_new(accessor, "min", low);
        json_object_set_new(accessor, "max", high);
    }
    json_array_append_new(layout->accessors, accessor);
    layout->size += size;
    return (json_int_t)json_array_size(layout->accessors) - 1;
}

static json_t* MakeAttributes(const jnaGlb* glb, Layout* layout)
{
    const jnAsset* a = glb->asset;
    size_t count = (size_t)a->fileVertexCount;
    json_t* attributes = json_object();
    json_object_set_new(attributes, "POSITION",
        json_integer(AddAccessor(layout, "VEC3", 3, TYPE_FLOAT, count, FOR_VERTICES, glb->frames)));
    json_object_set_new(
        attributes, "NORMAL", json_integer(AddAccessor(layout, "VEC3", 3, TYPE_FLOAT, count, FOR_VERTICES, NULL)));
    if (a->uvs != NULL) {
        json_object_set_new(attributes, "TEXCOORD_0",
            json_integer(AddAccessor(layout, "VEC2", 2, TYPE_FLOAT, count, FOR_VERTICES, NULL)));
    }
    static const char* const springs[2] = {"_STIFFNESS", "_DAMPING"};
    for (int i = 0; i < 2; ++i) {
        json_object_set_new(attributes, springs[i],
            json_integer(AddAccessor(layout, "SCALAR", 1, TYPE_FLOAT, count, FOR_VERTICES, NULL)));
    }
    return attributes;
}

// One primitive per part; they share the attributes and the targets.
static json_t* MakePrimitives(const jnaGlb* glb, Layout* layout, json_t* attributes, json_t* targets, json_t* materials)
{
    const jnAsset* a = glb->asset;
    json_t* primitives = json_array();
    jnAssetPart whole = {.name = "surface", .material = "surface", .color = {0.8f, 0.8f, 0.8f, 1}};
    whole.triangleCount = a->triangleCount;
    for (int i = 0; i < (a->partCount > 0 ? a->partCount : 1); ++i) {
        const jnAssetPart* part = a->partCount > 0 ? &a->parts[i] : &whole;
        if (part->triangleCount == 0) {
            continue;
        }
        json_t* color = json_array();
        for (int k = 0; k < 4; ++k) {
            json_array_append_new(color, json_real(fmin(fmax((double)part->color[k], 0.0), 1.0)));
        }
        json_array_append_new(
            materials, json_pack("{s:s, s:{s:o, s:f, s:f}}", "name", part->material, "pbrMetallicRoughness",
                           "baseColorFactor", color, "metallicFactor", 0.0, "roughnessFactor", 0.7));
        json_int_t indices =
            AddAccessor(layout, "SCALAR", 1, TYPE_UINT32, 3 * (size_t)part->triangleCount, FOR_INDICES, NULL);
        json_t* primitive = json_pack("{s:O, s:I, s:I}", "attributes", attributes, "indices", indices, "material",
            (json_int_t)json_array_size(materials) - 1);
        if (json_array_size(targets) > 0) {
            json_object_set(primitive, "targets", targets);
        }
        json_array_append_new(primitives, primitive);
    }
    return primitives;
}

static json_t* MakeAnimation(const jnaGlb* glb, Layout* layout, const char* clip, const float* times)
{
    size_t frames = (size_t)glb->frameCount;
    json_int_t input = AddAccessor(layout, "SCALAR", 1, TYPE_FLOAT, frames, 0, times);
    json_int_t output = AddAccessor(layout, "SCALAR", 1, TYPE_FLOAT, frames * (frames - 1), 0, NULL);
    return json_pack("[{s:s, s:[{s:I, s:I, s:s}], s:[{s:i, s:{s:i, s:s}}]}]", "name", clip, "samplers", "input", input,
        "output", output, "interpolation", "LINEAR", "channels", "sampler", 0, "target", "node", 0, "path", "weights");
}

// The whole document. Frames after the first are differences from it by now.
static json_t* MakeDocument(const jnaGlb* glb, Layout* layout, const char* clip, const float* times)
{
    size_t count = (size_t)glb->asset->fileVertexCount;
    json_t *attributes = MakeAttributes(glb, layout), *targets = json_array(), *materials = json_array();
    json_t* weights = json_array();
    for (int n = 1; n < glb->frameCount; ++n) {
        const float* frame = glb->frames + (size_t)n * 3 * count;
        json_int_t target = AddAccessor(layout, "VEC3", 3, TYPE_FLOAT, count, FOR_VERTICES, frame);
        json_array_append_new(targets, json_pack("{s:I}", "POSITION", target));
        json_array_append_new(weights, json_real(0.0));
    }
    json_t* primitives = MakePrimitives(glb, layout, attributes, targets, materials);
    json_t* mesh = json_pack("{s:s, s:o}", "name", glb->asset->name, "primitives", primitives);
    json_t* document = json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}], s:[{s:i, s:s}]}", "asset", "version", "2.0",
        "generator", "jounce", "scene", 0, "scenes", "nodes", 0, "nodes", "mesh", 0, "name", glb->asset->name);
    if (glb->frameCount > 1) {
        json_object_set(mesh, "weights", weights);
        json_object_set_new(document, "animations", MakeAnimation(glb, layout, clip, times));
    }
    json_object_set_new(document, "meshes", json_pack("[o]", mesh));
    json_object_set(document, "materials", materials);
    json_object_set_new(document, "accessors", layout->accessors);
    json_object_set_new(document, "bufferViews", layout->views);
    json_object_set_new(document, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)layout->size));
    json_decref(attributes);
    json_decref(targets);
    json_decref(materials);
    json_decref(weights);
    return document;
}

// The buffer, in the order in which MakeDocument added it.
static void WriteData(const jnaGlb* glb, const float* times, FILE* stream)
{
    const jnAsset* a = glb->asset;
    size_t count = (size_t)a->fileVertexCount, frames = (size_t)glb->frameCount;
    fwrite(glb->frames, 3 * sizeof(float), count, stream);
    fwrite(glb->normals, 3 * sizeof(float), count, stream);
    if (a->uvs != NULL) {
        fwrite(a->uvs, 2 * sizeof(float), count, stream);
    }
    for (int i = 0; i < 2; ++i) {
        const float* values = i == 0 ? a->stiffness : a->damping;
        for (size_t v = 0; v < count; ++v) {
            fwrite(values + a->weld[v], sizeof(float), 1, stream);
        }
    }
    fwrite(glb->frames + 3 * count, 3 * sizeof(float) * count, frames - 1, stream);
    fwrite(a->triangles, 3 * sizeof(int32_t), (size_t)a->triangleCount, stream);
    if (frames > 1) {
        fwrite(times, sizeof(float), frames, stream);
        for (size_t n = 0; n < frames; ++n) {
            for (size_t k = 1; k < frames; ++k) {
                float weight = k == n ? 1.0f : 0.0f;
                fwrite(&weight, sizeof(weight), 1, stream);
            }
        }
    }
}

static void PutWord(FILE* stream, size_t value)
{
    uint32_t word = (uint32_t)value;
    fwrite(&word, sizeof(word), 1, stream);
}

jnResult jnaGlb_Write(jnaGlb* glb, const char* clip, jnaFile* file, jnError* error)
{
    size_t count = 3 * (size_t)glb->asset->fileVertexCount;
    float* times = malloc(sizeof(float) * (size_t)glb->frameCount);
    for (int n = 0; times != NULL && n < glb->frameCount; ++n) {
        times[n] = (float)(n / glb->rate);
        for (size_t i = 0; n > 0 && i < count; ++i) {
            glb->frames[(size_t)n * count + i] -= glb->frames[i];
        }
    }
    Layout layout = {0};
    json_t* document = NULL;
    if (times != NULL) {
        layout = (Layout){.views = json_array(), .accessors = json_array()};
        document = MakeDocument(glb, &layout, clip, times);
    }
    char* text = document != NULL ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(document);
    if (text == NULL) {
        free(times);
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
    WriteData(glb, times, file->stream);
    free(text);
    free(times);
    return total <= UINT32_MAX ? jn_ok : jnFail(error, jn_badArgument, "a .glb cannot be larger than 4 GB");
}
