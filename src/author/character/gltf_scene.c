// A glTF file as a scene: the nodes of its default scene, meshes, animations, and notes on what was left out.
//
// The reader is our own, and not Assimp's, for what that one loses: interpolation other than linear, nodes of the same
// name, a mesh under several skins, integers where it expects floats, and compression.
#include "base/try.h"
#include "character/gltf.h"
#include "character/scene_stream.h"
#include "runtime/for_author.h"

#include <stdlib.h>

const char* jnaGltf_NodeName(jnaGltf* g, int node)
{
    const char* name = json_string_value(json_object_get(jnaGltf_Entry(g, "nodes", node), "name"));
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    char* made = jnaArena_Take(&g->arena, 32, 1);
    if (made != NULL) {
        snprintf(made, 32, "nodes[%d]", node);
    }
    return made != NULL ? made : "";
}

// What the walk over the hierarchy needs.
typedef struct Walk {
    const jnaGltf* g;
    jnaGltfNodes* nodes;
    int32_t* above; // [nodes of the file], parent in the file or -1
    int32_t* stack; // [nodes of the file], nodes that are still to be taken
} Walk;

// Adds a node and everything below it, parents first, in the order of the file. The hierarchy is known to be a tree.
static void AddTree(Walk* walk, int root, int parent)
{
    int depth = 0;
    walk->stack[depth++] = root;
    while (depth > 0) {
        int node = walk->stack[--depth], up = walk->above[node];
        if (walk->nodes->places[node] >= 0) {
            continue; // listed twice among the roots
        }
        walk->nodes->places[node] = walk->nodes->count;
        walk->nodes->parents[walk->nodes->count] = node == root || up < 0 ? parent : walk->nodes->places[up];
        walk->nodes->nodes[walk->nodes->count++] = node;
        const json_t* children = json_object_get(jnaGltf_Entry(walk->g, "nodes", node), "children");
        for (size_t k = json_array_size(children); k > 0; --k) {
            walk->stack[depth++] = (int32_t)json_integer_value(json_array_get(children, k - 1));
        }
    }
}

// Roots of the default scene; of all nodes where the file has no scene. roots: [nodes of the file]. Returns how many.
static int FindRoots(const Walk* walk, size_t nodeCount, int32_t* roots)
{
    const jnaGltf* g = walk->g;
    const json_t* scene = jnaGltf_Entry(g, "scenes", jnaGltf_Integer(g->root, "scene", 0));
    const json_t* list = json_object_get(scene, "nodes");
    int count = 0;
    for (size_t i = 0; i < json_array_size(list) && (size_t)count < nodeCount; ++i) {
        int64_t node = json_is_integer(json_array_get(list, i)) ? json_integer_value(json_array_get(list, i)) : -1;
        if (node >= 0 && (size_t)node < nodeCount) {
            roots[count++] = (int32_t)node;
        }
    }
    for (size_t n = 0; scene == NULL && n < nodeCount; ++n) {
        if (walk->above[n] < 0) {
            roots[count++] = (int32_t)n;
        }
    }
    return count;
}

// Joints of skins that lie outside the scene bring their tree along.
static void AddJointTrees(Walk* walk)
{
    const json_t* skins = json_object_get(walk->g->root, "skins");
    for (size_t s = 0; s < json_array_size(skins); ++s) {
        const json_t* joints = json_object_get(json_array_get(skins, s), "joints");
        for (size_t k = 0; k < json_array_size(joints); ++k) {
            int node = (int)json_integer_value(json_array_get(joints, k));
            if (walk->nodes->places[node] >= 0) {
                continue;
            }
            while (walk->above[node] >= 0 && walk->nodes->places[walk->above[node]] < 0) {
                node = walk->above[node];
            }
            AddTree(walk, node, walk->above[node] >= 0 ? walk->nodes->places[walk->above[node]] : 0);
        }
    }
}

static void FindParents(Walk* walk, size_t nodeCount)
{
    for (size_t n = 0; n < nodeCount; ++n) {
        walk->above[n] = walk->nodes->places[n] = -1;
    }
    for (size_t n = 0; n < nodeCount; ++n) {
        const json_t* children = json_object_get(jnaGltf_Entry(walk->g, "nodes", (int64_t)n), "children");
        for (size_t k = 0; k < json_array_size(children); ++k) {
            walk->above[json_integer_value(json_array_get(children, k))] = (int32_t)n;
        }
    }
}

static jnResult CollectNodes(jnaGltf* g, jnaArena* arena, jnaGltfNodes* nodes)
{
    size_t count = json_array_size(json_object_get(g->root, "nodes"));
    nodes->nodes = jnaArena_Take(arena, (int64_t)count + 1, sizeof(int32_t));
    nodes->parents = jnaArena_Take(arena, (int64_t)count + 1, sizeof(int32_t));
    nodes->places = jnaArena_Take(arena, (int64_t)count, sizeof(int32_t));
    Walk walk = {.g = g, .nodes = nodes};
    walk.above = jnaArena_Take(arena, (int64_t)count, sizeof(int32_t));
    walk.stack = jnaArena_Take(arena, (int64_t)count + 1, sizeof(int32_t));
    int32_t* roots = jnaArena_Take(arena, (int64_t)count, sizeof(int32_t));
    JN_PASS(jnaArena_Check(arena, g->path, g->error));
    FindParents(&walk, count);
    int rootCount = FindRoots(&walk, count, roots);
    bool several = rootCount != 1;
    if (several) {
        nodes->parents[nodes->count] = -1;
        nodes->nodes[nodes->count++] = -1;
    }
    for (int r = 0; r < rootCount; ++r) {
        AddTree(&walk, roots[r], several ? 0 : -1);
    }
    AddJointTrees(&walk);
    int carriers = 0;
    for (size_t n = 0; n < count; ++n) {
        carriers += nodes->places[n] < 0 && jnaGltf_Integer(jnaGltf_Entry(g, "nodes", (int64_t)n), "mesh", -1) >= 0;
    }
    if (carriers > 0) {
        jnaNotes_Add(&g->notes, "%d nodes with meshes are not in the default scene: left out", carriers);
    }
    return jn_ok;
}

static void ReadNumbers(const json_t* list, size_t count, double* values)
{
    for (size_t i = 0; json_array_size(list) == count && i < count; ++i) {
        values[i] = json_number_value(json_array_get(list, i));
    }
}

static void PutNode(jnaGltf* g, const jnaGltfNodes* nodes, int index, FILE* stream)
{
    const json_t* node = jnaGltf_Entry(g, "nodes", nodes->nodes[index]);
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1}, m[16];
    ReadNumbers(json_object_get(node, "translation"), 3, t);
    ReadNumbers(json_object_get(node, "rotation"), 4, q);
    ReadNumbers(json_object_get(node, "scale"), 3, s);
    jnaQuat_Normalize(q);
    jnaAffine local = jnaAffine_FromTrs(t, q, s);
    if (json_array_size(json_object_get(node, "matrix")) == 16) {
        ReadNumbers(json_object_get(node, "matrix"), 16, m);
        for (int i = 0; i < 12; ++i) {
            local.m[i] = m[i / 4 + 4 * (i % 4)]; // columns in the file
        }
    }
    float rows[12];
    for (int i = 0; i < 12; ++i) {
        rows[i] = (float)local.m[i];
    }
    jnaPutNode(stream, node != NULL ? jnaGltf_NodeName(g, nodes->nodes[index]) : "ROOT", nodes->parents[index], rows);
}

// What a file says it cannot be understood without. Materials, lights and textures do not matter here.
static void NoteExtensions(jnaGltf* g)
{
    static const char* const read[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression",
        "KHR_meshopt_compression", "MESHOPT_compression", "KHR_mesh_quantization", "KHR_texture_", "KHR_materials_",
        "KHR_lights_", "EXT_texture_", "VRM", "VRMC_", "MSFT_texture_", "KHR_xmp", "EXT_mesh_gpu_instancing"};
    size_t index;
    const json_t* name;
    json_array_foreach(json_object_get(g->root, "extensionsRequired"), index, name)
    {
        bool known = !json_is_string(name);
        for (size_t k = 0; !known && k < sizeof(read) / sizeof(read[0]); ++k) {
            known = strncmp(json_string_value(name), read[k], strlen(read[k])) == 0;
        }
        if (!known) {
            jnaNotes_Add(&g->notes, "the file needs the extension %.60s, which is not read", json_string_value(name));
        }
    }
}

static jnResult WriteScene(jnaGltf* g, FILE* stream)
{
    jnaArena arena = {0};
    jnaGltfNodes nodes = {0};
    jnResult result = jn_ok;
    JN_TRY(CollectNodes(g, &arena, &nodes));
    NoteExtensions(g);
    jnaPutHead(stream, 0, 1);
    jnaPutInteger(stream, nodes.count);
    for (int n = 0; n < nodes.count; ++n) {
        PutNode(g, &nodes, n, stream);
    }
    JN_TRY(jnaGltf_PutMeshes(g, &nodes, stream));
    JN_TRY(jnaGltf_PutAnimations(g, &nodes, stream));
    jnaPutInteger(stream, g->notes.count);
    for (int n = 0; n < g->notes.count; ++n) {
        jnaPutText(stream, g->notes.lines[n]);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaWriteGltfScene(const char* path, FILE* stream, jnError* error)
{
    jnaGltf g;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenGltf(path, &g, error));
    JN_TRY(WriteScene(&g, stream));
done:
    jnaCloseGltf(&g);
    return result;
}
