// The document of the character's own glTF file, as it is: everything in it stays, and clips that it does not have are
// added.
#include "asset/fewer_joints.h"
#include "asset/morph_document.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// Primitive `number` over all meshes; NULL: none.
static const json_t* FindPrimitive(const json_t* root, int number, int* mesh, int* primitive)
{
    const json_t* meshes = json_object_get(root, "meshes");
    for (size_t m = 0; m < json_array_size(meshes); ++m) {
        const json_t* list = json_object_get(json_array_get(meshes, m), "primitives");
        int count = (int)json_array_size(list);
        if (number < count) {
            *mesh = (int)m;
            *primitive = number;
            return json_array_get(list, (size_t)number);
        }
        number -= count;
    }
    return NULL;
}

static json_int_t CountVertices(const json_t* root, const json_t* primitive)
{
    const json_t* index = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
    const json_t* accessors = json_object_get(root, "accessors");
    return json_is_integer(index) && json_integer_value(index) >= 0
               ? json_integer_value(
                     json_object_get(json_array_get(accessors, (size_t)json_integer_value(index)), "count"))
               : -1;
}

static jnResult TakeParts(const jnaGltfSource* s, jnaMorphDocument* d, jnError* error)
{
    d->parts = calloc((size_t)s->partCount + 1, sizeof(*d->parts));
    if (d->parts == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d meshes", s->partCount);
    }
    for (int i = 0; i < s->partCount; ++i) {
        const jnaGltfPart* from = &s->parts[i];
        jnaMorphPart* to = &d->parts[d->partCount];
        const json_t* primitive = FindPrimitive(d->root, from->primitive, &to->mesh, &to->primitive);
        if (primitive == NULL || CountVertices(d->root, primitive) != from->vertexCount) {
            return jnFail(error, jn_badData, "the source has no mesh with the %d vertices of part %d any more",
                from->vertexCount, i);
        }
        to->count = from->vertexCount;
        to->toMesh = from->toMesh;
        to->shared = from->shared;
        to->vertices = malloc(((size_t)to->count + 1) * sizeof(*to->vertices));
        d->partCount++;
        if (to->vertices == NULL) {
            return jnFail(error, jn_outOfMemory, "out of memory for %d vertices", to->count);
        }
        for (int v = 0; v < to->count; ++v) {
            to->vertices[v] = from->firstVertex + v;
        }
    }
    return jn_ok;
}

static jnResult KeepJoints(const jnaMorphDocumentDef* def, jnaMorphDocument* d, jnError* error)
{
    for (int i = 0; def->influences > 0 && i < d->partCount; ++i) {
        json_t* mesh = json_array_get(json_object_get(d->root, "meshes"), (size_t)d->parts[i].mesh);
        json_t* primitive = json_array_get(json_object_get(mesh, "primitives"), (size_t)d->parts[i].primitive);
        JN_PASS(jnaKeepJoints(d, primitive, def->influences, error));
    }
    return jn_ok;
}

// The node of a joint by its name; one without a name is called by its number. -1: none.
static int FindNode(const json_t* root, const char* name)
{
    const json_t* nodes = json_object_get(root, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); ++i) {
        char number[32];
        const char* own = json_string_value(json_object_get(json_array_get(nodes, i), "name"));
        snprintf(number, sizeof(number), "nodes[%zu]", i);
        if (strcmp(own != NULL && own[0] != '\0' ? own : number, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

// The clips of the source are its animations; the others are added. nodes: [jointCount]
static jnResult TakeClips(const jnaMorphDocumentDef* def, const int* nodes, jnaMorphDocument* d, jnError* error)
{
    const jnaGltfSource* s = def->source;
    size_t there = json_array_size(json_object_get(d->root, "animations"));
    for (int c = 0; c < d->clipCount; ++c) {
        d->animations[c] = -1;
        for (int a = 0; def->animations != NULL && def->animations[c] != NULL && a < s->animationCount; ++a) {
            if ((size_t)s->animations[a].index < there && strcmp(s->animations[a].name, def->animations[c]) == 0) {
                d->animations[c] = s->animations[a].index;
                d->starts[c] = s->animations[a].first;
            }
        }
        if (d->animations[c] < 0) {
            JN_PASS(jnaAddClipAnimation(d, def, c, nodes, error));
        }
    }
    return jn_ok;
}

jnResult jnaTakeSourceDocument(const jnaMorphDocumentDef* def, jnaMorphDocument* d, jnError* error)
{
    const jnaGltfSource* s = def->source;
    jnResult result = jn_ok;
    json_error_t problem;
    jnaArena arena = {0};
    int* nodes = jnaArena_Take(&arena, def->asset->jointCount, sizeof(int));
    d->root = json_loadb(s->text, s->textSize, 0, &problem);
    if (!json_is_object(d->root)) {
        JN_TRY(jnFail(error, jn_badData, "the source's JSON cannot be read: %s", problem.text));
    }
    if (!jnaSourceFits(s, def->asset) || s->jointCount != def->asset->jointCount) {
        JN_TRY(jnFail(error, jn_badData,
            "the source has %d vertices and %d joints, the workspace %d and %d: it was changed; `jounce build` imports "
            "it again",
            s->fileVertexCount, s->jointCount, def->asset->fileVertexCount, def->asset->jointCount));
    }
    d->buffer = (jnaGlbBuffer){.views = jnaGltfList(d->root, "bufferViews"),
        .accessors = jnaGltfList(d->root, "accessors"),
        .bytes = jnaArena_Give(&arena, (int64_t)s->binarySize, 1),
        .size = s->binarySize,
        .capacity = s->binarySize};
    JN_TRY(jnaArena_Check(&arena, "a copy of the source", error));
    memcpy(d->buffer.bytes, s->binary, s->binarySize);
    for (int j = 0; j < s->jointCount; ++j) {
        nodes[j] = s->joints[j].name[0] != '\0' ? FindNode(d->root, s->joints[j].name) : -1;
    }
    JN_TRY(TakeParts(s, d, error));
    JN_TRY(KeepJoints(def, d, error));
    JN_TRY(jnaAddOutfitParts(def, nodes, d, error));
    JN_TRY(TakeClips(def, nodes, d, error));
done:
    jnaReleaseArena(&arena);
    return result;
}
