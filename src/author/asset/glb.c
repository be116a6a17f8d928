// See glb.h. One buffer: for each part its vertices' attributes, the differences of positions and normals for each
// morph target, and indices; then the key times, and the weights, of which one is 1 at each key, so that the motion is
// linear between frames.
#include "asset/glb.h"

#include "asset/glb_parts.h"

#include "base/arena.h"
#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    jnaArena arena = {0};
    glb->frames = jnaArena_Give(&arena, frameCount, count * sizeof(float));
    glb->normals = jnaArena_Give(&arena, frameCount, count * sizeof(float));
    if (arena.failed) {
        jnaDestroyGlb(glb);
    }
    return jnaArena_Check(&arena, "the frames of morph targets", error);
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

// Appends data of four bytes a number and returns the accessor's index. type: "SCALAR", "VEC2" or "VEC3".
static json_int_t AddAccessor(
    jnaGlbBuffer* layout, const char* type, int component, size_t count, int use, const void* data, bool bounds)
{
    return jnaGlbBuffer_Add(
        layout, &(jnaGlbArray){
                    .type = type, .component = component, .count = count, .use = use, .data = data, .bounds = bounds});
}

// Values of the part's vertices, `width` a file vertex. minus: what they are told from; NULL: nothing.
static const float* Gather(jnaGlbPart* p, const float* from, const float* minus, size_t width)
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

static json_t* MakeAttributes(const jnaGlb* glb, jnaGlbBuffer* layout, jnaGlbPart* p)
{
    const jnAsset* a = glb->asset;
    size_t count = (size_t)p->count;
    json_t* attributes = json_object();
    SetAttribute(attributes, "POSITION",
        AddAccessor(layout, "VEC3", JNA_GLB_FLOAT, count, JNA_GLB_VERTICES, Gather(p, glb->frames, NULL, 3), true));
    SetAttribute(attributes, "NORMAL",
        AddAccessor(layout, "VEC3", JNA_GLB_FLOAT, count, JNA_GLB_VERTICES, Gather(p, glb->normals, NULL, 3), false));
    if (a->uvs != NULL) {
        SetAttribute(attributes, "TEXCOORD_0", jnaAddGlbUvs(a, p, layout));
    }
    static const char* const springs[2] = {"_STIFFNESS", "_DAMPING"};
    for (int i = 0; i < 2; ++i) {
        const float* values = i == 0 ? a->stiffness : a->damping;
        for (size_t v = 0; v < count; ++v) {
            p->values[v] = values[a->weld[p->vertices[v]]];
        }
        SetAttribute(attributes, springs[i],
            AddAccessor(layout, "SCALAR", JNA_GLB_FLOAT, count, JNA_GLB_VERTICES, p->values, false));
    }
    return attributes;
}

// What each frame adds to the first: positions and normals.
static json_t* MakeTargets(const jnaGlb* glb, jnaGlbBuffer* layout, jnaGlbPart* p)
{
    size_t count = 3 * (size_t)glb->asset->fileVertexCount, points = (size_t)p->count;
    json_t* targets = json_array();
    for (int n = 1; n < glb->frameCount; ++n) {
        const float* positions = Gather(p, glb->frames + (size_t)n * count, glb->frames, 3);
        json_int_t position = AddAccessor(layout, "VEC3", JNA_GLB_FLOAT, points, JNA_GLB_VERTICES, positions, true);
        const float* normals = Gather(p, glb->normals + (size_t)n * count, glb->normals, 3);
        json_int_t normal = AddAccessor(layout, "VEC3", JNA_GLB_FLOAT, points, JNA_GLB_VERTICES, normals, false);
        json_array_append_new(targets, json_pack("{s:I, s:I}", "POSITION", position, "NORMAL", normal));
    }
    return targets;
}

static json_t* MakePrimitive(
    const jnaGlb* glb, jnaGlbBuffer* layout, const jnAssetPart* part, jnaGlbPart* p, json_t* materials)
{
    json_array_append_new(materials, jnaMakeGltfMaterial(part));
    json_t *attributes = MakeAttributes(glb, layout, p), *targets = MakeTargets(glb, layout, p);
    json_int_t indices =
        AddAccessor(layout, "SCALAR", JNA_GLB_UINT32, (size_t)p->indexCount, JNA_GLB_INDICES, p->indices, false);
    json_t* primitive = json_pack("{s:o, s:I, s:I}", "attributes", attributes, "indices", indices, "material",
        (json_int_t)json_array_size(materials) - 1);
    if (json_array_size(targets) > 0) {
        json_object_set(primitive, "targets", targets);
    }
    json_decref(targets);
    return primitive;
}

// One primitive per part, each with vertices of its own.
static json_t* MakePrimitives(const jnaGlb* glb, jnaGlbBuffer* layout, json_t* materials)
{
    const jnAsset* a = glb->asset;
    json_t* primitives = json_array();
    for (int i = 0; i < jnaCountGlbParts(a); ++i) {
        jnAssetPart whole;
        const jnAssetPart* part = jnaFindGlbPart(a, i, &whole);
        jnaGlbPart p;
        if (part->triangleCount == 0) {
            continue;
        }
        layout->failed = jnaCreateGlbPart(a, part, &p, NULL) != jn_ok || layout->failed;
        if (!layout->failed) {
            json_array_append_new(primitives, MakePrimitive(glb, layout, part, &p, materials));
        }
        jnaDestroyGlbPart(&p);
    }
    return primitives;
}

static json_t* MakeAnimation(const jnaGlb* glb, jnaGlbBuffer* layout, const char* clip)
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
    json_int_t input = AddAccessor(layout, "SCALAR", JNA_GLB_FLOAT, frames, 0, times, true);
    // Of the weights of a frame one is 1; those of the first are all 0.
    memset(times, 0, frames * sizeof(*times));
    for (size_t n = 1; n < frames; ++n) {
        times[n * (frames - 1) + n - 1] = 1;
    }
    json_int_t output = AddAccessor(layout, "SCALAR", JNA_GLB_FLOAT, frames * (frames - 1), 0, times, false);
    free(times);
    return json_pack("[{s:s, s:[{s:I, s:I, s:s}], s:[{s:i, s:{s:i, s:s}}]}]", "name", clip, "samplers", "input", input,
        "output", output, "interpolation", "LINEAR", "channels", "sampler", 0, "target", "node", 0, "path", "weights");
}

// The whole document, and its buffer in the layout.
static json_t* MakeDocument(const jnaGlb* glb, jnaGlbBuffer* layout, const char* clip)
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
    json_decref(materials);
    json_decref(weights);
    return document;
}

jnResult jnaGlb_Write(jnaGlb* glb, const char* clip, jnaFile* file, jnError* error)
{
    jnaGlbBuffer layout = {.views = json_array(), .accessors = json_array()};
    json_t* document = MakeDocument(glb, &layout, clip);
    jnResult result = document != NULL
                          ? jnaWriteGlb(document, &layout, 9, file, error)
                          : jnFail(error, jn_outOfMemory, "out of memory for a .glb of %d frames", glb->frameCount);
    json_decref(document);
    jnaDestroyGlbBuffer(&layout);
    return result;
}
