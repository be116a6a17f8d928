// A glTF document made from an asset alone: joints as nodes, one skin, one mesh with a primitive for each part, and an
// animation for each clip. For characters whose source is not glTF.
#include "asset/fewer_joints.h"
#include "asset/glb_parts.h"
#include "asset/morph_document.h"
#include "asset/outfit_materials.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { IN_SET = 4 }; // joints of one attribute JOINTS_n

static json_t* Floats(const float* values, int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(list, json_real((double)values[i]));
    }
    return list;
}

// Node 0 is the mesh, node 1 + j is joint j.
static void AddNodes(const jnAsset* a, json_t* root)
{
    json_t *nodes = jnaGltfList(root, "nodes"), *tops = json_pack("[i]", 0);
    json_array_append_new(nodes, json_pack("{s:s, s:i, s:i}", "name", a->name, "mesh", 0, "skin", 0));
    for (int j = 0; j < a->jointCount; ++j) {
        const jnAssetJoint* joint = &a->joints[j];
        json_array_append_new(
            nodes, json_pack("{s:s, s:o, s:o, s:o}", "name", joint->name, "translation", Floats(joint->translation, 3),
                       "rotation", Floats(joint->rotation, 4), "scale", Floats(joint->scale, 3)));
        json_t* list =
            joint->parent < 0 ? tops : jnaGltfList(json_array_get(nodes, 1 + (size_t)joint->parent), "children");
        json_array_append_new(list, json_integer(1 + j));
    }
    json_object_set_new(root, "scene", json_integer(0));
    json_object_set_new(root, "scenes", json_pack("[{s:o}]", "nodes", tops));
}

static jnResult AddSkin(const jnAsset* a, jnaMorphDocument* d, jnError* error)
{
    float* matrices = calloc((size_t)a->jointCount, 16 * sizeof(float));
    if (matrices == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d joints", a->jointCount);
    }
    json_t* joints = json_array();
    for (int j = 0; j < a->jointCount; ++j) {
        float* m = matrices + 16 * (size_t)j;
        for (int i = 0; i < 12; ++i) {
            m[i % 4 * 4 + i / 4] = a->joints[j].inverseBind[i];
        }
        m[15] = 1.0f;
        json_array_append_new(joints, json_integer(1 + j));
    }
    json_int_t binds = jnaGlbBuffer_Add(&d->buffer,
        &(jnaGlbArray){.type = "MAT4", .component = JNA_GLB_FLOAT, .count = (size_t)a->jointCount, .data = matrices});
    free(matrices);
    json_object_set_new(d->root, "skins", json_pack("[{s:o, s:I}]", "joints", joints, "inverseBindMatrices", binds));
    return jn_ok;
}

// One set of four joints and weights of a vertex, of weights that add up to 1 over all `kept`. The largest come first.
static void TakeSet(
    const jnAsset* a, int vertex, size_t set, size_t kept, uint16_t joints[IN_SET], float weights[IN_SET])
{
    size_t block = (size_t)vertex / JN_LANES, start = a->influenceStarts[block];
    size_t count = a->influenceStarts[block + 1] - start;
    size_t at = start * JN_LANES + (size_t)vertex % JN_LANES * count;
    double sum = 0;
    for (size_t k = 0; k < count && k < kept; ++k) {
        sum += (double)a->influenceWeights[at + k];
    }
    for (size_t i = 0; i < IN_SET; ++i) {
        size_t k = IN_SET * set + i;
        bool there = k < count && k < kept && a->influenceWeights[at + k] > 0.0f;
        joints[i] = there ? a->influenceJoints[at + k] : 0;
        weights[i] = there ? (float)((double)a->influenceWeights[at + k] / sum) : 0.0f;
    }
}

jnResult jnaAddInfluences(const jnaMorphDocumentDef* def, const jnaGlbPart* p, const int* slots, jnaGlbBuffer* buffer,
    json_t* attributes, jnError* error)
{
    const jnAsset* a = def->asset;
    size_t count = (size_t)p->count, most = (size_t)jnaMostInfluences(a);
    most = def->influences > 0 && (size_t)def->influences < most ? (size_t)def->influences : most;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    uint16_t* joints = jnaArena_Take(&arena, p->count, IN_SET * sizeof(uint16_t));
    float* weights = jnaArena_Take(&arena, p->count, IN_SET * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the joints of a mesh", error));
    for (size_t set = 0; set < (most + IN_SET - 1) / IN_SET; ++set) {
        for (size_t i = 0; i < count; ++i) {
            TakeSet(a, a->weld[p->vertices[i]], set, most, joints + IN_SET * i, weights + IN_SET * i);
            for (size_t k = IN_SET * i; slots != NULL && k < IN_SET * (i + 1); ++k) {
                joints[k] = (uint16_t)(weights[k] > 0 ? slots[joints[k]] : 0);
            }
        }
        jnaGlbArray array = {.type = "VEC4", .count = count, .use = JNA_GLB_VERTICES};
        char name[32];
        array.component = JNA_GLB_UINT16;
        array.data = joints;
        snprintf(name, sizeof(name), "JOINTS_%zu", set);
        json_object_set_new(attributes, name, json_integer(jnaGlbBuffer_Add(buffer, &array)));
        array.component = JNA_GLB_FLOAT;
        array.data = weights;
        snprintf(name, sizeof(name), "WEIGHTS_%zu", set);
        json_object_set_new(attributes, name, json_integer(jnaGlbBuffer_Add(buffer, &array)));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// The source's targets, which other formats than glTF have too. The rest surface is where their weights are 0.
static json_t* AddTargets(const jnAsset* a, jnaGlbPart* p, jnaGlbBuffer* buffer)
{
    json_t* list = json_array();
    for (int t = 0; t < a->targetCount; ++t) {
        for (size_t i = 0; i < (size_t)p->count; ++i) {
            jnFindTargetDelta(a, t, a->weld[p->vertices[i]], p->values + 3 * i);
        }
        json_array_append_new(list, json_pack("{s:I}", "POSITION", jnaAddGlbVectors(p, buffer, true)));
    }
    return list;
}

// Their names and weights, of the mesh.
static void NameTargets(const jnAsset* a, json_t* mesh)
{
    json_t *names = json_array(), *weights = json_array();
    for (int t = 0; t < a->targetCount; ++t) {
        json_array_append_new(names, json_string(a->targets[t].name));
        json_array_append_new(weights, json_real(0));
    }
    json_object_set_new(mesh, "weights", weights);
    json_object_set_new(mesh, "extras", json_pack("{s:o}", "targetNames", names));
}

// The rest surface of a part.
static jnResult AddPrimitive(
    const jnaMorphDocumentDef* def, const jnAssetPart* part, jnaGlbPart* p, jnaMorphDocument* d, jnError* error)
{
    const jnAsset* a = def->asset;
    json_t* attributes = json_object();
    json_t* primitives = json_object_get(json_array_get(json_object_get(d->root, "meshes"), 0), "primitives");
    for (size_t i = 0; i < (size_t)p->count; ++i) {
        memcpy(p->values + 3 * i, a->rest + 4 * (size_t)a->weld[p->vertices[i]], 3 * sizeof(float));
    }
    json_object_set_new(attributes, "POSITION", json_integer(jnaAddGlbVectors(p, &d->buffer, true)));
    for (size_t i = 0; i < (size_t)p->count; ++i) {
        const float* normal = def->shapes->restNormals + 3 * (size_t)a->fileNormals[p->vertices[i]];
        memcpy(p->values + 3 * i, normal, 3 * sizeof(float));
    }
    json_object_set_new(attributes, "NORMAL", json_integer(jnaAddGlbVectors(p, &d->buffer, false)));
    if (a->uvs != NULL) {
        json_object_set_new(attributes, "TEXCOORD_0", json_integer(jnaAddGlbUvs(a, p, &d->buffer)));
    }
    jnResult result = jnaAddInfluences(def, p, NULL, &d->buffer, attributes, error);
    json_int_t indices = jnaGlbBuffer_Add(&d->buffer, &(jnaGlbArray){.type = "SCALAR",
                                                          .component = JNA_GLB_UINT32,
                                                          .count = (size_t)p->indexCount,
                                                          .use = JNA_GLB_INDICES,
                                                          .data = p->indices});
    json_array_append_new(primitives, json_pack("{s:o, s:I, s:I}", "attributes", attributes, "indices", indices,
                                          "material", jnaAddPartMaterial(def, part, d)));
    if (a->targetCount > 0) {
        json_t* primitive = json_array_get(primitives, json_array_size(primitives) - 1);
        json_object_set_new(primitive, "targets", AddTargets(a, p, &d->buffer));
    }
    return result;
}

static jnResult AddParts(const jnaMorphDocumentDef* def, jnaMorphDocument* d, jnError* error)
{
    const jnAsset* a = def->asset;
    jnResult result = jn_ok;
    int count = jnaCountGlbParts(a);
    json_object_set_new(d->root, "meshes", json_pack("[{s:s, s:[]}]", "name", a->name, "primitives"));
    if (a->targetCount > 0) {
        NameTargets(a, json_array_get(json_object_get(d->root, "meshes"), 0));
    }
    d->parts = calloc((size_t)count, sizeof(*d->parts));
    if (d->parts == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d parts", count);
    }
    for (int i = 0; i < count && result == jn_ok; ++i) {
        jnAssetPart whole;
        const jnAssetPart* part = jnaFindGlbPart(a, i, &whole);
        jnaGlbPart p = {0};
        if (part->triangleCount == 0) {
            continue;
        }
        result = jnaCreateGlbPart(a, part, &p, error);
        if (result == jn_ok) {
            result = AddPrimitive(def, part, &p, d, error);
        }
        d->parts[d->partCount] = (jnaMorphPart){
            .primitive = d->partCount, .count = p.count, .vertices = p.vertices, .toMesh = jnaAffine_Identity()};
        d->partCount++;
        p.vertices = NULL;
        jnaDestroyGlbPart(&p);
    }
    return result;
}

jnResult jnaMakeAssetDocument(const jnaMorphDocumentDef* def, jnaMorphDocument* d, jnError* error)
{
    const jnAsset* a = def->asset;
    jnResult result = jn_ok;
    int* nodes = malloc((size_t)a->jointCount * sizeof(int));
    d->root = json_pack("{s:{s:s, s:s}}", "asset", "version", "2.0", "generator", "jounce");
    d->buffer.views = jnaGltfList(d->root, "bufferViews");
    d->buffer.accessors = jnaGltfList(d->root, "accessors");
    JN_TRY(nodes != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d joints", a->jointCount));
    AddNodes(a, d->root);
    JN_TRY(AddSkin(a, d, error));
    JN_TRY(AddParts(def, d, error));
    for (int j = 0; j < a->jointCount; ++j) {
        nodes[j] = 1 + j;
    }
    for (int i = 0; i < a->clipCount; ++i) {
        JN_TRY(jnaAddClipAnimation(d, def, i, nodes, error));
    }
done:
    free(nodes);
    return result;
}
