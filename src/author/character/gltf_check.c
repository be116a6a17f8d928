// What everything behind the reader of glTF relies on: a hierarchy that is a tree, accessors inside their buffers,
// skins that name nodes.
#include "base/try.h"
#include "character/gltf.h"
#include "runtime/for_author.h"

#include <stdlib.h>

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

static jnResult CheckSkins(const jnaGltf* g)
{
    const json_t* skins = json_object_get(g->root, "skins");
    size_t nodeCount = json_array_size(json_object_get(g->root, "nodes"));
    for (size_t s = 0; s < json_array_size(skins); ++s) {
        const json_t* skin = json_array_get(skins, s);
        const json_t* joints = json_object_get(skin, "joints");
        int64_t matrices = jnaGltf_Integer(skin, "inverseBindMatrices", -1);
        if (json_array_size(joints) == 0) {
            return jnFail(g->error, jn_badData, "%s: skin %zu has no joints", g->path, s);
        }
        jnaGltfElements e = {.width = 16, .component = 5126, .count = json_array_size(joints)};
        JN_PASS(matrices >= 0 ? jnaGltf_FindElements(g, (size_t)matrices, &e) : jn_ok);
        if (e.width != 16 || e.component != 5126 || e.count < json_array_size(joints)) {
            return jnFail(g->error, jn_badData, "%s: skin %zu has %zu joints but %zu bind matrices", g->path, s,
                json_array_size(joints), e.count);
        }
        for (size_t k = 0; k < json_array_size(joints); ++k) {
            int64_t joint = json_integer_value(json_array_get(joints, k));
            if (joint < 0 || (size_t)joint >= nodeCount) {
                return jnFail(g->error, jn_badData, "%s: skin %zu: joint %zu is node %lld of %zu", g->path, s, k,
                    (long long)joint, nodeCount);
            }
        }
    }
    return jn_ok;
}

jnResult jnaOpenGltf(const char* path, jnaGltf* g, jnError* error)
{
    JN_PASS(jnaLoadGltf(path, g, error));
    JN_PASS(CheckNodes(g));
    JN_PASS(jnaGltf_DecompressViews(g));
    JN_PASS(jnaGltf_DecompressMeshes(g));
    for (size_t i = 0; i < json_array_size(json_object_get(g->root, "accessors")); ++i) {
        jnaGltfElements e;
        JN_PASS(jnaGltf_FindElements(g, i, &e));
    }
    return CheckSkins(g);
}
