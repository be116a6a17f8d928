// Parts of the asset that the character's own file does not have, from other files: a mesh of their own in its
// document, on a skin that is there. Their vertices are in the space of the mesh whose skin that is, so that its bind
// matrices fit.
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

// The skin that is borrowed.
typedef struct Skin {
    json_int_t number;
    const jnaMorphPart* part; // that has it
    int* slots;               // [jointCount], place of each joint of the asset in it
} Skin;

static json_int_t GetInteger(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static json_int_t SkinOf(const json_t* root, int mesh)
{
    const json_t* nodes = json_object_get(root, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); ++i) {
        const json_t* node = json_array_get(nodes, i);
        if (GetInteger(node, "mesh") == mesh && GetInteger(node, "skin") >= 0) {
            return GetInteger(node, "skin");
        }
    }
    return -1;
}

static const json_t* JointsOf(const json_t* root, json_int_t skin)
{
    return skin >= 0 ? json_object_get(json_array_get(json_object_get(root, "skins"), (size_t)skin), "joints") : NULL;
}

// The largest skin that some part has. A joint that it does not have goes with the nearest above that it has.
static jnResult FindSkin(const jnAsset* a, const int* nodes, const jnaMorphDocument* d, Skin* skin, jnError* error)
{
    size_t most = 0;
    skin->number = -1;
    for (int i = 0; i < d->partCount; ++i) {
        json_int_t number = SkinOf(d->root, d->parts[i].mesh);
        size_t count = json_array_size(JointsOf(d->root, number));
        if (count > most) {
            most = count;
            skin->number = number;
            skin->part = &d->parts[i];
        }
    }
    if (skin->number < 0) {
        return jnFail(error, jn_badData, "no mesh of the character's file has a skin that clothes could share");
    }
    const json_t* joints = JointsOf(d->root, skin->number);
    for (int j = 0; j < a->jointCount; ++j) {
        int parent = a->joints[j].parent;
        skin->slots[j] = parent >= 0 ? skin->slots[parent] : 0;
        for (size_t k = 0; k < json_array_size(joints); ++k) {
            if (nodes[j] >= 0 && json_integer_value(json_array_get(joints, k)) == nodes[j]) {
                skin->slots[j] = (int)k;
            }
        }
    }
    return jn_ok;
}

// Positions and normals of the rest surface in the mesh's space.
static void AddSurface(
    const jnaMorphDocumentDef* def, const jnaAffine* toMesh, jnaGlbPart* p, jnaGlbBuffer* buffer, json_t* attributes)
{
    const jnAsset* a = def->asset;
    jnaAffine place = jnaAffine_Identity();
    (void)jnaAffine_Invert(toMesh, &place);
    for (size_t i = 0; i < (size_t)p->count; ++i) {
        const float* rest = a->rest + 4 * (size_t)a->weld[p->vertices[i]];
        double at[3] = {(double)rest[0], (double)rest[1], (double)rest[2]};
        jnaAffine_Apply(toMesh, at, at);
        for (size_t k = 0; k < 3; ++k) {
            p->values[3 * i + k] = (float)at[k];
        }
    }
    json_object_set_new(attributes, "POSITION", json_integer(jnaAddGlbVectors(p, buffer, true)));
    for (size_t i = 0; i < (size_t)p->count; ++i) { // by the inverse transpose
        const float* from = def->shapes->restNormals + 3 * (size_t)a->fileNormals[p->vertices[i]];
        double normal[3] = {0};
        for (int k = 0; k < 3; ++k) {
            for (int l = 0; l < 3; ++l) {
                normal[k] += place.m[4 * l + k] * (double)from[l];
            }
        }
        (void)jnaNormalize(normal);
        for (size_t k = 0; k < 3; ++k) {
            p->values[3 * i + k] = (float)normal[k];
        }
    }
    json_object_set_new(attributes, "NORMAL", json_integer(jnaAddGlbVectors(p, buffer, false)));
    if (a->uvs != NULL) {
        json_object_set_new(attributes, "TEXCOORD_0", json_integer(jnaAddGlbUvs(a, p, buffer)));
    }
}

static jnResult AddPart(
    const jnaMorphDocumentDef* def, const jnAssetPart* part, const Skin* skin, jnaMorphDocument* d, jnError* error)
{
    const jnAsset* a = def->asset;
    jnaGlbPart p = {0};
    jnResult result = jn_ok;
    json_t *attributes = json_object(), *meshes = jnaGltfList(d->root, "meshes"),
           *nodes = jnaGltfList(d->root, "nodes");
    JN_TRY(jnaCreateGlbPart(a, part, &p, error));
    AddSurface(def, &skin->part->toMesh, &p, &d->buffer, attributes);
    JN_TRY(jnaAddInfluences(def, &p, skin->slots, &d->buffer, attributes, error));
    json_int_t indices = jnaGlbBuffer_Add(&d->buffer, &(jnaGlbArray){.type = "SCALAR",
                                                          .component = JNA_GLB_UINT32,
                                                          .count = (size_t)p.indexCount,
                                                          .use = JNA_GLB_INDICES,
                                                          .data = p.indices});
    json_int_t mesh = (json_int_t)json_array_size(meshes), node = (json_int_t)json_array_size(nodes);
    json_array_append_new(
        meshes, json_pack("{s:s, s:[{s:O, s:I, s:I}]}", "name", part->name, "primitives", "attributes", attributes,
                    "indices", indices, "material", jnaAddPartMaterial(def, part, d)));
    json_array_append_new(nodes, json_pack("{s:s, s:I, s:I}", "name", part->name, "mesh", mesh, "skin", skin->number));
    const json_t* scenes = json_object_get(d->root, "scenes");
    json_int_t scene = GetInteger(d->root, "scene");
    json_array_append_new(
        jnaGltfList(json_array_get(scenes, scene > 0 ? (size_t)scene : 0), "nodes"), json_integer(node));
    d->parts[d->partCount++] =
        (jnaMorphPart){.mesh = (int)mesh, .count = p.count, .vertices = p.vertices, .toMesh = skin->part->toMesh};
    p.vertices = NULL;
done:
    json_decref(attributes);
    jnaDestroyGlbPart(&p);
    return result;
}

bool jnaSourceFits(const jnaGltfSource* source, const jnAsset* a)
{
    int first = source->fileVertexCount, outfit = 0;
    for (int i = 0; i < a->partCount; ++i) {
        const jnAssetPart* part = &a->parts[i];
        int behind = 0;
        for (size_t k = 0; k < 3 * (size_t)part->triangleCount; ++k) {
            behind += a->triangles[3 * (size_t)part->firstTriangle + k] >= first;
        }
        if (behind != 0 && behind != 3 * part->triangleCount) {
            return false;
        }
        outfit += behind > 0;
    }
    return first == a->fileVertexCount || (first < a->fileVertexCount && outfit > 0);
}

jnResult jnaAddOutfitParts(const jnaMorphDocumentDef* def, const int* nodes, jnaMorphDocument* d, jnError* error)
{
    const jnAsset* a = def->asset;
    jnResult result = jn_ok;
    int more = a->fileVertexCount > def->source->fileVertexCount ? a->partCount : 0;
    if (more == 0) {
        return jn_ok;
    }
    bool there = jnaResize(&d->parts, (int64_t)d->partCount + more, sizeof(*d->parts));
    Skin skin = {.slots = malloc(((size_t)a->jointCount + 1) * sizeof(int))};
    JN_TRY(there && skin.slots != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d parts", more));
    JN_TRY(FindSkin(a, nodes, d, &skin, error));
    for (int i = 0; i < a->partCount; ++i) {
        const jnAssetPart* part = &a->parts[i];
        bool foreign =
            part->triangleCount > 0 && a->triangles[3 * (size_t)part->firstTriangle] >= def->source->fileVertexCount;
        JN_TRY(foreign ? AddPart(def, part, &skin, d, error) : jn_ok);
    }
done:
    free(skin.slots);
    return result;
}
