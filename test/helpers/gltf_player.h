// A glTF file with morph targets and skins as a viewer shows it: an animation at one of its keys, by the formulas of
// the specification in double precision.
#pragma once

#include "helpers/support.h"

#include "base/affine.h"
#include "character/gltf.h"

enum { PLAYER_NODES = 64, PLAYER_WEIGHTS = 64, PLAYER_SETS = 4 };

typedef struct GltfPlayer {
    jnaGltf file;
    jnaAffine globals[PLAYER_NODES];
    double weights[PLAYER_NODES][PLAYER_WEIGHTS]; // of a node's targets
} GltfPlayer;

// What a node's local transform is made of.
typedef struct PlayerLocal {
    double translation[3], rotation[4], scale[3];
} PlayerLocal;

static inline float* PlayerArray(GltfPlayer* p, int64_t accessor, size_t* count, size_t* width)
{
    float* values = NULL;
    assert_true(accessor >= 0);
    if (jnaGltf_ReadFloats(&p->file, accessor, count, width, &values) != jn_ok) {
        fail_msg("accessor %d cannot be read", (int)accessor);
    }
    return values;
}

static inline void OpenPlayer(GltfPlayer* p, const char* path)
{
    static jnError error;
    memset(p, 0, sizeof(*p));
    if (jnaOpenGltf(path, &p->file, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_true(json_array_size(json_object_get(p->file.root, "nodes")) <= PLAYER_NODES);
}

static inline void ClosePlayer(GltfPlayer* p)
{
    jnaCloseGltf(&p->file);
}

static inline json_t* FindAnimation(GltfPlayer* p, const char* name)
{
    size_t index;
    json_t* animation;
    json_array_foreach(json_object_get(p->file.root, "animations"), index, animation)
    {
        if (strcmp(json_string_value(json_object_get(animation, "name")), name) == 0) {
            return animation;
        }
    }
    fail_msg("no animation '%s'", name);
    return NULL;
}

static inline void TakeNumbers(const json_t* list, double* to, size_t count)
{
    for (size_t i = 0; i < count && json_array_size(list) == count; ++i) {
        to[i] = json_number_value(json_array_get(list, i));
    }
}

static inline PlayerLocal RestOf(const json_t* node)
{
    PlayerLocal local = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    assert_null(json_object_get(node, "matrix"));
    TakeNumbers(json_object_get(node, "translation"), local.translation, 3);
    TakeNumbers(json_object_get(node, "rotation"), local.rotation, 4);
    TakeNumbers(json_object_get(node, "scale"), local.scale, 3);
    return local;
}

// One channel at a key, which all channels of the animation have at the same time.
static inline void TakeChannel(
    GltfPlayer* p, const json_t* animation, const json_t* channel, size_t key, double time, PlayerLocal* locals)
{
    const json_t* target = json_object_get(channel, "target");
    const char* path = json_string_value(json_object_get(target, "path"));
    int64_t node = jnaGltf_Integer(target, "node", -1);
    const json_t* sampler =
        json_array_get(json_object_get(animation, "samplers"), (size_t)jnaGltf_Integer(channel, "sampler", -1));
    size_t keys, numbers, width;
    const float* times = PlayerArray(p, jnaGltf_Integer(sampler, "input", -1), &keys, &width);
    const float* values = PlayerArray(p, jnaGltf_Integer(sampler, "output", -1), &numbers, &width);
    assert_true(key < keys);
    ASSERT_NEAR(times[key], time, 1e-5);
    width *= numbers / keys;
    double* to = strcmp(path, "weights") == 0       ? p->weights[node]
                 : strcmp(path, "translation") == 0 ? locals[node].translation
                 : strcmp(path, "rotation") == 0    ? locals[node].rotation
                                                    : locals[node].scale;
    assert_true(width <= PLAYER_WEIGHTS);
    for (size_t i = 0; i < width; ++i) {
        to[i] = (double)values[key * width + i];
    }
}

static inline void PlaceNode(GltfPlayer* p, size_t node, const jnaAffine* above, const PlayerLocal* locals)
{
    size_t index;
    json_t* child;
    const PlayerLocal* l = &locals[node];
    jnaAffine own = jnaAffine_FromTrs(l->translation, l->rotation, l->scale);
    p->globals[node] = jnaAffine_Multiply(above, &own);
    json_array_foreach(
        json_object_get(json_array_get(json_object_get(p->file.root, "nodes"), node), "children"), index, child)
    {
        PlaceNode(p, (size_t)json_integer_value(child), &p->globals[node], locals);
    }
}

// Puts all nodes where an animation has them at a key.
static inline void PlayKey(GltfPlayer* p, const char* name, size_t key, double time)
{
    PlayerLocal locals[PLAYER_NODES];
    const json_t *animation = FindAnimation(p, name), *nodes = json_object_get(p->file.root, "nodes");
    jnaAffine top = jnaAffine_Identity();
    size_t index;
    json_t* entry;
    json_array_foreach(nodes, index, entry)
    {
        locals[index] = RestOf(entry);
    }
    json_array_foreach(json_object_get(animation, "channels"), index, entry)
    {
        TakeChannel(p, animation, entry, key, time, locals);
    }
    const json_t* scene = json_array_get(json_object_get(p->file.root, "scenes"), 0);
    json_array_foreach(json_object_get(scene, "nodes"), index, entry)
    {
        PlaceNode(p, (size_t)json_integer_value(entry), &top, locals);
    }
}

// An attribute of a primitive or of a target with the weighted targets added, [count][3].
static inline size_t MorphPrimitive(
    GltfPlayer* p, const json_t* primitive, const char* name, const double* weights, double* to)
{
    size_t count, width, index, own;
    json_t* target;
    const float* rest =
        PlayerArray(p, jnaGltf_Integer(json_object_get(primitive, "attributes"), name, -1), &count, &width);
    for (size_t i = 0; i < 3 * count; ++i) {
        to[i] = (double)rest[i];
    }
    json_array_foreach(json_object_get(primitive, "targets"), index, target)
    {
        const float* delta = PlayerArray(p, jnaGltf_Integer(target, name, -1), &own, &width);
        assert_int_equal(own, count);
        for (size_t i = 0; i < 3 * count; ++i) {
            to[i] += weights[index] * (double)delta[i];
        }
    }
    return count;
}

// The matrix that a vertex is skinned by. sets: of four joints and weights each, alternating; NULL after the last.
static inline jnaAffine BlendJoints(const jnaAffine* palette, float* const sets[2 * PLAYER_SETS], size_t vertex)
{
    jnaAffine sum = {{0}};
    double all = 0;
    for (size_t i = 0; i < 4 * PLAYER_SETS && sets[i / 4 * 2] != NULL; ++i) {
        double weight = (double)sets[i / 4 * 2 + 1][4 * vertex + i % 4];
        const jnaAffine* joint = &palette[(size_t)sets[i / 4 * 2][4 * vertex + i % 4]];
        all += weight;
        for (int k = 0; k < 12; ++k) {
            sum.m[k] += weight * joint->m[k];
        }
    }
    ASSERT_NEAR(all, 1, 1e-5);
    return sum;
}

static inline void MakePalette(GltfPlayer* p, const json_t* skin, jnaAffine palette[PLAYER_NODES])
{
    size_t count, width, index;
    json_t* joint;
    const float* binds = PlayerArray(p, jnaGltf_Integer(skin, "inverseBindMatrices", -1), &count, &width);
    json_array_foreach(json_object_get(skin, "joints"), index, joint)
    {
        jnaAffine bind;
        for (size_t i = 0; i < 12; ++i) {
            bind.m[i] = (double)binds[16 * index + 4 * (i % 4) + i / 4];
        }
        palette[index] = jnaAffine_Multiply(&p->globals[json_integer_value(joint)], &bind);
    }
}

// The surface of one primitive of a node as it was last played. positions, normals: [vertices][3]; the number.
static inline size_t ShowPrimitive(
    GltfPlayer* p, size_t node, const json_t* primitive, const double* weights, double* positions, double* normals)
{
    const json_t* json = json_array_get(json_object_get(p->file.root, "nodes"), node);
    const json_t* attributes = json_object_get(primitive, "attributes");
    jnaAffine palette[PLAYER_NODES];
    float* sets[2 * PLAYER_SETS + 2] = {NULL};
    size_t count = MorphPrimitive(p, primitive, "POSITION", weights, positions), width, own;
    MorphPrimitive(p, primitive, "NORMAL", weights, normals);
    MakePalette(p, jnaGltf_Entry(&p->file, "skins", jnaGltf_Integer(json, "skin", -1)), palette);
    for (int i = 0; i < 2 * PLAYER_SETS; ++i) {
        char name[32];
        snprintf(name, sizeof(name), "%s_%d", i % 2 == 0 ? "JOINTS" : "WEIGHTS", i / 2);
        if (json_object_get(attributes, name) != NULL) {
            sets[i] = PlayerArray(p, jnaGltf_Integer(attributes, name, -1), &own, &width);
            assert_int_equal(own, count);
        }
    }
    for (size_t v = 0; v < count; ++v) {
        jnaAffine m = BlendJoints(palette, sets, v);
        jnaAffine_Apply(&m, positions + 3 * v, positions + 3 * v);
        m.m[3] = m.m[7] = m.m[11] = 0;
        jnaAffine_Apply(&m, normals + 3 * v, normals + 3 * v);
        jnaNormalize(normals + 3 * v);
    }
    return count;
}
