// Meshes of a glTF file: one mesh of the scene for every primitive and every skin that some node gives it.
//
// A mesh that several nodes carry without a skin is written once with all its places. With a skin, glTF ignores where
// the node stands: the joints alone place it, so that a mesh under two skins is two meshes, and under one skin twice is
// one.
#include "base/try.h"
#include "character/gltf.h"
#include "character/scene_stream.h"
#include "runtime/for_author.h"

#include <stdlib.h>

enum { MAX_TARGETS = 4096, MAX_ATTRIBUTES = 1024, TRIANGLES = 4, TRIANGLE_STRIP = 5, TRIANGLE_FAN = 6 };

// One primitive of one mesh, as it is read.
typedef struct Primitive {
    jnaGltf* g;
    size_t mesh, index;
    const json_t* json;
    const json_t* attributes;
    jnaSceneMesh out;
} Primitive;

static const char* Format(jnaGltf* g, const char* format, const char* text, size_t number)
{
    size_t size = strlen(text) + 32;
    char* name = jnaArena_Take(&g->arena, (int64_t)size, 1);
    if (name != NULL) {
        snprintf(name, size, format, text, number);
    }
    return name != NULL ? name : "";
}

static int64_t AccessorOf(const Primitive* p, const char* name)
{
    return jnaGltf_Integer(p->attributes, name, -1);
}

// An attribute of so many components for each vertex, or NULL where the primitive has none.
static jnResult ReadAttribute(const Primitive* p, const char* name, size_t wanted, float** values)
{
    size_t count, width;
    *values = NULL;
    if (AccessorOf(p, name) < 0) {
        return jn_ok;
    }
    JN_PASS(jnaGltf_ReadFloats(p->g, AccessorOf(p, name), &count, &width, values));
    if (width != wanted || count != (size_t)p->out.vertexCount) {
        return jnFail(p->g->error, jn_badData, "%s: mesh %zu: %s has %zu elements of %zu numbers, not %d of %zu",
            p->g->path, p->mesh, name, count, width, p->out.vertexCount, wanted);
    }
    return jn_ok;
}

static jnResult ReadSurface(Primitive* p)
{
    float *values, *uvs;
    size_t count, width;
    if (AccessorOf(p, "POSITION") >= 0) {
        JN_PASS(jnaGltf_ReadFloats(p->g, AccessorOf(p, "POSITION"), &count, &width, &values));
        if (width != 3) {
            return jnFail(p->g->error, jn_badData, "%s: mesh %zu: its positions have %zu numbers, not 3", p->g->path,
                p->mesh, width);
        }
        p->out.vertexCount = (int)count;
        p->out.positions = values;
    }
    JN_PASS(ReadAttribute(p, "NORMAL", 3, &values));
    p->out.normals = values;
    JN_PASS(ReadAttribute(p, "TEXCOORD_0", 2, &uvs));
    // v is counted from the top in glTF, from the bottom here.
    for (size_t v = 0; uvs != NULL && v < (size_t)p->out.vertexCount; ++v) {
        uvs[2 * v + 1] = 1 - uvs[2 * v + 1];
    }
    p->out.uvs = uvs;
    return jn_ok;
}

// Corner k of triangle t in the list of indices.
static size_t CornerOf(int64_t mode, size_t t, size_t k)
{
    switch (mode) {
    case TRIANGLE_STRIP:
        return t + (t % 2 == 0 || k == 0 ? k : 3 - k);
    case TRIANGLE_FAN:
        return k == 0 ? 0 : t + k;
    default:
        return 3 * t + k;
    }
}

// Points and lines are left out: they have no surface.
static jnResult ReadTriangles(Primitive* p)
{
    int64_t mode = jnaGltf_Integer(p->json, "mode", TRIANGLES), accessor = jnaGltf_Integer(p->json, "indices", -1);
    uint32_t* indices = NULL;
    size_t count = (size_t)p->out.vertexCount, width = 1;
    if (accessor >= 0) {
        JN_PASS(jnaGltf_ReadIntegers(p->g, accessor, &count, &width, &indices));
    }
    if (width != 1) {
        return jnFail(p->g->error, jn_badData, "%s: mesh %zu: its indices are vectors", p->g->path, p->mesh);
    }
    size_t triangles = mode == TRIANGLES ? count / 3 : mode == TRIANGLE_STRIP || mode == TRIANGLE_FAN ? count - 2 : 0;
    triangles = count < 3 ? 0 : triangles;
    uint32_t* out = jnaArena_Take(&p->g->arena, (int64_t)triangles, 3 * sizeof(*out));
    JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
    for (size_t i = 0; i < 3 * triangles; ++i) {
        size_t corner = CornerOf(mode, i / 3, i % 3);
        out[i] = indices != NULL ? indices[corner] : (uint32_t)corner;
    }
    p->out.triangleCount = (int)triangles;
    p->out.triangles = out;
    return jn_ok;
}

static void ReadMaterial(Primitive* p)
{
    const json_t* material = jnaGltf_Entry(p->g, "materials", jnaGltf_Integer(p->json, "material", -1));
    const char* name = json_string_value(json_object_get(material, "name"));
    const json_t* factor = json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorFactor");
    p->out.material = name != NULL ? name : "";
    for (size_t i = 0; i < 4; ++i) {
        const json_t* value = json_array_get(factor, i);
        p->out.color[i] = json_is_number(value) ? (float)json_number_value(value) : 1;
    }
}

// Colours, four wide, and the attributes of the file's own, whose names begin with an underscore.
static jnResult ReadAttributes(Primitive* p)
{
    const char* name;
    json_t* value;
    p->out.attributes = jnaArena_Take(&p->g->arena, MAX_ATTRIBUTES, sizeof(*p->out.attributes));
    JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
    // json_object_foreach takes an object that may be changed, which this one is not.
    json_object_foreach((json_t*)(uintptr_t)p->attributes, name, value)
    {
        bool color = strncmp(name, "COLOR_", 6) == 0;
        if (!(color || name[0] == '_') || !json_is_integer(value) || p->out.attributeCount == MAX_ATTRIBUTES) {
            continue;
        }
        float* values;
        size_t count, width;
        JN_PASS(jnaGltf_ReadFloats(p->g, json_integer_value(value), &count, &width, &values));
        if (width > 4 || (color && width < 3) || count != (size_t)p->out.vertexCount) {
            jnaNotes_Add(&p->g->notes, "attribute %.60s of mesh %zu has another shape than one for vertices: left out",
                name, p->mesh);
            continue;
        }
        if (color && width == 3) {
            float* wide = jnaArena_Take(&p->g->arena, (int64_t)count, 4 * sizeof(*wide));
            JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
            for (size_t i = 0; i < 4 * count; ++i) {
                wide[i] = i % 4 < 3 ? values[i / 4 * 3 + i % 4] : 1;
            }
            values = wide;
            width = 4;
        }
        p->out.attributes[p->out.attributeCount++] = (jnaSceneAttribute){name, (int)width, values};
    }
    return jn_ok;
}

static jnResult ReadTargets(Primitive* p, const json_t* mesh)
{
    const json_t* list = json_object_get(p->json, "targets");
    const json_t* names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    const json_t* weights = json_object_get(mesh, "weights");
    size_t total = json_array_size(list);
    if (total > MAX_TARGETS) {
        return jnFail(p->g->error, jn_badData, "%s: mesh %zu has %zu morph targets; %d can be taken", p->g->path,
            p->mesh, total, MAX_TARGETS);
    }
    p->out.targets = jnaArena_Take(&p->g->arena, (int64_t)total, sizeof(*p->out.targets));
    JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
    for (size_t t = 0; t < total; ++t) {
        Primitive target = *p;
        target.attributes = json_array_get(list, t);
        float* offsets;
        JN_PASS(ReadAttribute(&target, "POSITION", 3, &offsets));
        if (offsets == NULL) { // of normals alone; its weight still has its number
            offsets = jnaArena_Take(&p->g->arena, p->out.vertexCount, 3 * sizeof(*offsets));
            JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
        }
        const char* name = json_string_value(json_array_get(names, t));
        p->out.targets[p->out.targetCount++] =
            (jnaSceneTarget){name != NULL && name[0] != '\0' ? name : Format(p->g, "%s_%zu", "target", t),
                (float)json_number_value(json_array_get(weights, t)), offsets};
    }
    return jn_ok;
}

// Influences of one set, JOINTS_n with WEIGHTS_n.
typedef struct InfluenceSet {
    uint32_t* joints; // [vertexCount][4]
    float* weights;   // [vertexCount][4]
} InfluenceSet;

enum { MAX_SETS = 16 };

// The sets of a primitive, in order. Returns how many; -1 on failure.
static int ReadInfluences(const Primitive* p, size_t jointCount, InfluenceSet* sets)
{
    for (int set = 0; set < MAX_SETS; ++set) {
        char joints[24], weights[24];
        snprintf(joints, sizeof(joints), "JOINTS_%d", set);
        snprintf(weights, sizeof(weights), "WEIGHTS_%d", set);
        size_t count, width;
        if (AccessorOf(p, joints) < 0 || AccessorOf(p, weights) < 0) {
            return set;
        }
        if (jnaGltf_ReadIntegers(p->g, AccessorOf(p, joints), &count, &width, &sets[set].joints) != jn_ok ||
            ReadAttribute(p, weights, 4, &sets[set].weights) != jn_ok) {
            return -1;
        }
        if (width != 4 || count != (size_t)p->out.vertexCount) {
            jnFail(p->g->error, jn_badData, "%s: mesh %zu: %s is not made of four numbers a vertex", p->g->path,
                p->mesh, joints);
            return -1;
        }
        for (size_t i = 0; i < 4 * count; ++i) {
            if (sets[set].joints[i] >= jointCount) {
                jnFail(p->g->error, jn_badData, "%s: mesh %zu: vertex %zu names joint %u of a skin that has %zu",
                    p->g->path, p->mesh, i / 4, sets[set].joints[i], jointCount);
                return -1;
            }
        }
    }
    return MAX_SETS;
}

// Sorts the influences by joint. bones: [jointCount], their names, nodes and bind matrices are there already.
static jnResult FillWeights(const Primitive* p, const InfluenceSet* sets, int setCount, jnaSceneBone* bones)
{
    size_t count = 4 * (size_t)p->out.vertexCount;
    for (int s = 0; s < setCount; ++s) {
        for (size_t i = 0; i < count; ++i) {
            bones[sets[s].joints[i]].weightCount += sets[s].weights[i] != 0;
        }
    }
    for (int b = 0; b < p->out.boneCount; ++b) {
        bones[b].vertices = jnaArena_Take(&p->g->arena, bones[b].weightCount, sizeof(uint32_t));
        bones[b].weights = jnaArena_Take(&p->g->arena, bones[b].weightCount, sizeof(float));
        bones[b].weightCount = 0;
    }
    JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
    for (int s = 0; s < setCount; ++s) {
        for (size_t i = 0; i < count; ++i) {
            jnaSceneBone* bone = &bones[sets[s].joints[i]];
            if (sets[s].weights[i] != 0) {
                ((uint32_t*)(uintptr_t)bone->vertices)[bone->weightCount] = (uint32_t)(i / 4);
                ((float*)(uintptr_t)bone->weights)[bone->weightCount++] = sets[s].weights[i];
            }
        }
    }
    return jn_ok;
}

static jnResult ReadBones(Primitive* p, int64_t skinIndex, const jnaGltfNodes* nodes)
{
    const json_t* skin = jnaGltf_Entry(p->g, "skins", skinIndex);
    const json_t* joints = json_object_get(skin, "joints");
    int64_t accessor = jnaGltf_Integer(skin, "inverseBindMatrices", -1);
    size_t jointCount = json_array_size(joints), count = 0, width = 0;
    float* matrices = NULL;
    if (accessor >= 0) {
        JN_PASS(jnaGltf_ReadFloats(p->g, accessor, &count, &width, &matrices));
    }
    InfluenceSet sets[MAX_SETS];
    int setCount = ReadInfluences(p, jointCount, sets);
    jnaSceneBone* bones = jnaArena_Take(&p->g->arena, (int64_t)jointCount, sizeof(*bones));
    if (setCount < 0) {
        return jn_badData;
    }
    JN_PASS(jnaArena_Check(&p->g->arena, p->g->path, p->g->error));
    for (size_t j = 0; j < jointCount; ++j) {
        int node = (int)json_integer_value(json_array_get(joints, j));
        bones[j].name = jnaGltf_NodeName(p->g, node);
        bones[j].node = nodes->places[node];
        bones[j].offset = jnaAffine_Identity();
        for (size_t i = 0; matrices != NULL && i < 12; ++i) {
            bones[j].offset.m[i] = (double)matrices[16 * j + i / 4 + 4 * (i % 4)]; // columns in the file
        }
    }
    p->out.boneCount = (int)jointCount;
    p->out.bones = bones;
    return FillWeights(p, sets, setCount, bones);
}

// The nodes that carry a mesh with this skin, -1: with none. places: [nodes->count]. Returns how many.
static int FindPlaces(const jnaGltf* g, const jnaGltfNodes* nodes, size_t mesh, int64_t skin, int32_t* places)
{
    int count = 0;
    for (int n = 0; n < nodes->count; ++n) {
        const json_t* node = jnaGltf_Entry(g, "nodes", nodes->nodes[n]);
        if (jnaGltf_Integer(node, "mesh", -1) == (int64_t)mesh &&
            (skin < 0 ? jnaGltf_Integer(node, "skin", -1) < 0 : jnaGltf_Integer(node, "skin", -1) == skin)) {
            places[count++] = n;
        }
    }
    return count;
}

static jnResult ReadPrimitive(Primitive* p, int64_t skin, const jnaGltfNodes* nodes)
{
    const json_t* mesh = jnaGltf_Entry(p->g, "meshes", (int64_t)p->mesh);
    const char* name = json_string_value(json_object_get(mesh, "name"));
    name = name != NULL && name[0] != '\0' ? name : Format(p->g, "%s[%zu]", "meshes", p->mesh);
    bool several = json_array_size(json_object_get(mesh, "primitives")) > 1;
    p->out.name = several ? Format(p->g, "%s-%zu", name, p->index) : name;
    JN_PASS(ReadSurface(p));
    JN_PASS(ReadTriangles(p));
    ReadMaterial(p);
    JN_PASS(ReadAttributes(p));
    JN_PASS(ReadTargets(p, mesh));
    return skin >= 0 ? ReadBones(p, skin, nodes) : jn_ok;
}

// All primitives of a mesh under one skin, or none.
static jnResult PutInstance(
    jnaGltf* g, size_t mesh, int64_t skin, const jnaGltfNodes* nodes, int64_t* written, FILE* stream)
{
    const json_t* primitives = json_object_get(jnaGltf_Entry(g, "meshes", (int64_t)mesh), "primitives");
    int32_t* places = malloc(((size_t)nodes->count + 1) * sizeof(*places));
    if (places == NULL) {
        return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
    }
    int placeCount = FindPlaces(g, nodes, mesh, skin, places);
    if (skin >= 0 && placeCount > 1) {
        jnaNotes_Add(&g->notes, "%d nodes carry mesh %zu with the same skin, which puts them in one place: taken once",
            placeCount, mesh);
    }
    jnResult result = jn_ok;
    size_t before = 0;
    for (size_t m = 0; m < mesh; ++m) {
        before += json_array_size(json_object_get(jnaGltf_Entry(g, "meshes", (int64_t)m), "primitives"));
    }
    for (size_t i = 0; placeCount > 0 && result == jn_ok && i < json_array_size(primitives); ++i) {
        Primitive p = {.g = g, .mesh = mesh, .index = i, .json = json_array_get(primitives, i)};
        p.attributes = json_object_get(p.json, "attributes");
        p.out.primitive = (int)(before + i);
        p.out.placeCount = skin >= 0 ? 1 : placeCount;
        p.out.places = places;
        result = ReadPrimitive(&p, skin, nodes);
        if (result == jn_ok) {
            jnaPutMesh(stream, &p.out);
            (*written)++;
        }
        jnaReleaseArena(&g->arena);
    }
    free(places);
    return result;
}

// Copies of a node's mesh that a renderer draws: as many as the instancing extension's first attribute has elements.
static int64_t CountCopies(const jnaGltf* g, const json_t* node)
{
    const json_t* extension = json_object_get(json_object_get(node, "extensions"), "EXT_mesh_gpu_instancing");
    json_t* attributes = json_object_get(extension, "attributes");
    const json_t* accessor = json_object_iter_value(json_object_iter(attributes));
    int64_t index = json_is_integer(accessor) ? (int64_t)json_integer_value(accessor) : -1;
    return index >= 0 && index < INT32_MAX ? jnaGltf_Integer(jnaGltf_Entry(g, "accessors", (int)index), "count", 0) : 0;
}

// Meshes that nobody carries are named; so are nodes that name what is not there.
static jnResult CheckCarriers(jnaGltf* g, const jnaGltfNodes* nodes, size_t meshCount, size_t skinCount)
{
    for (int n = 0; n < nodes->count; ++n) {
        const json_t* node = jnaGltf_Entry(g, "nodes", nodes->nodes[n]);
        int64_t mesh = jnaGltf_Integer(node, "mesh", -1), skin = jnaGltf_Integer(node, "skin", -1);
        if (mesh >= (int64_t)meshCount || (mesh >= 0 && skin >= (int64_t)skinCount)) {
            return jnFail(g->error, jn_badData, "%s: node %d names skin %lld and mesh %lld, of %zu and %zu", g->path,
                nodes->nodes[n], (long long)skin, (long long)mesh, skinCount, meshCount);
        }
        long long copies = (long long)CountCopies(g, node);
        if (mesh >= 0 && copies > 1) {
            jnaNotes_Add(&g->notes,
                "node %d has %lld copies of its mesh by EXT_mesh_gpu_instancing: one was taken, %lld are left out",
                nodes->nodes[n], copies, copies - 1);
        }
    }
    return jn_ok;
}

// The skins that nodes give a mesh. used: [skinCount + 1], the first for none.
static void MarkSkins(const jnaGltf* g, const jnaGltfNodes* nodes, size_t mesh, size_t skinCount, bool* used)
{
    memset(used, 0, (skinCount + 1) * sizeof(*used));
    for (int n = 0; n < nodes->count; ++n) {
        const json_t* node = jnaGltf_Entry(g, "nodes", nodes->nodes[n]);
        int64_t skin = jnaGltf_Integer(node, "skin", -1);
        if (jnaGltf_Integer(node, "mesh", -1) == (int64_t)mesh) {
            used[skin >= 0 ? skin + 1 : 0] = true;
        }
    }
}

jnResult jnaGltf_PutMeshes(jnaGltf* g, const jnaGltfNodes* nodes, FILE* stream)
{
    size_t meshCount = json_array_size(json_object_get(g->root, "meshes"));
    size_t skinCount = json_array_size(json_object_get(g->root, "skins"));
    char* bytes = NULL;
    size_t size = 0;
    int64_t written = 0;
    JN_PASS(CheckCarriers(g, nodes, meshCount, skinCount));
    bool* used = malloc((skinCount + 1) * sizeof(*used));
    FILE* memory = used != NULL ? open_memstream(&bytes, &size) : NULL;
    jnResult result = jn_ok;
    JN_TRY(memory != NULL ? jn_ok : jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path));
    for (size_t m = 0; m < meshCount; ++m) {
        int64_t before = written;
        MarkSkins(g, nodes, m, skinCount, used);
        for (size_t skin = 0; skin <= skinCount; ++skin) {
            JN_TRY(used[skin] ? PutInstance(g, m, (int64_t)skin - 1, nodes, &written, memory) : jn_ok);
        }
        if (written == before) {
            jnaNotes_Add(&g->notes, "no node of the scene carries mesh %zu: left out", m);
        }
    }
    bool whole = fclose(memory) == 0;
    memory = NULL;
    JN_TRY(whole ? jn_ok : jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path));
    jnaPutInteger(stream, written);
    fwrite(bytes, 1, size, stream);
done:
    if (memory != NULL) {
        fclose(memory);
    }
    free(used);
    free(bytes);
    return result;
}
