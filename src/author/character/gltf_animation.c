// Animations of a glTF file: the channels of each node brought together, with what lies between their keys.
#include "base/try.h"
#include "character/gltf.h"
#include "character/scene_stream.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// One animation as it is read.
typedef struct Animation {
    jnaGltf* g;
    const json_t* json;
    const jnaGltfNodes* nodes;
    jnaSceneAnimation out;
    int32_t* channelOf; // [nodes of the scene], channel + 1; 0: none yet
    int lost;           // channels that move something else than a node
} Animation;

// Keys of one sampler. width: numbers a key; 0: whatever the output has, then set.
static jnResult ReadKeys(const Animation* a, int64_t index, size_t* width, jnaSceneKeys* keys)
{
    jnaGltf* g = a->g;
    const json_t* samplers = json_object_get(a->json, "samplers");
    const json_t* sampler = index >= 0 ? json_array_get(samplers, (size_t)index) : NULL;
    const char* kind = json_string_value(json_object_get(sampler, "interpolation"));
    size_t count, one, outputs, components;
    float *times, *values;
    JN_PASS(jnaGltf_ReadFloats(g, jnaGltf_Integer(sampler, "input", -1), &count, &one, &times));
    JN_PASS(jnaGltf_ReadFloats(g, jnaGltf_Integer(sampler, "output", -1), &outputs, &components, &values));
    keys->interpolation = kind != NULL && strcmp(kind, "STEP") == 0          ? jna_stepKeys
                          : kind != NULL && strcmp(kind, "CUBICSPLINE") == 0 ? jna_cubicKeys
                                                                             : jna_linearKeys;
    size_t each = keys->interpolation == jna_cubicKeys ? 3 : 1;
    if (*width == 0 && components == 1 && count > 0) {
        *width = outputs / (each * count);
    }
    bool sound =
        one == 1 && count > 0 && *width > 0 && *width <= 65536 && outputs * components == each * count * *width;
    if (!sound) {
        return jnFail(g->error, jn_badData, "%s: animation '%s': sampler %lld has %zu times and %zu numbers", g->path,
            a->out.name, (long long)index, count, outputs * components);
    }
    double* ticks = jnaArena_Take(&g->arena, (int64_t)count, sizeof(*ticks));
    JN_PASS(jnaArena_Check(&g->arena, g->path, g->error));
    for (size_t k = 0; k < count; ++k) {
        ticks[k] = (double)times[k];
    }
    keys->count = (int)count;
    keys->times = ticks;
    keys->values = values;
    return jn_ok;
}

// The channel of a node, begun where it has none yet.
static jnaSceneChannel* ChannelOf(Animation* a, int place)
{
    if (a->channelOf[place] == 0) {
        a->out.channels[a->out.channelCount++] = (jnaSceneChannel){.node = place};
        a->channelOf[place] = a->out.channelCount;
    }
    return &a->out.channels[a->channelOf[place] - 1];
}

static jnResult ReadChannel(Animation* a, const json_t* json)
{
    const json_t* target = json_object_get(json, "target");
    const char* path = json_string_value(json_object_get(target, "path"));
    int64_t node = jnaGltf_Integer(target, "node", -1), sampler = jnaGltf_Integer(json, "sampler", -1);
    int place = jnaGltf_Entry(a->g, "nodes", node) != NULL ? a->nodes->places[node] : -1;
    if (path == NULL || place < 0) {
        a->lost++;
        return jn_ok;
    }
    jnaSceneChannel* channel = ChannelOf(a, place);
    size_t width = strcmp(path, "rotation") == 0 ? 4 : strcmp(path, "weights") == 0 ? 0 : 3;
    jnaSceneKeys* keys = width == 4                         ? &channel->rotation
                         : width == 0                       ? &channel->weights
                         : strcmp(path, "translation") == 0 ? &channel->translation
                         : strcmp(path, "scale") == 0       ? &channel->scale
                                                            : NULL;
    if (keys == NULL || keys->count > 0) { // of an extension, or a second channel of the same
        a->lost++;
        return jn_ok;
    }
    JN_PASS(ReadKeys(a, sampler, &width, keys));
    channel->weightCount = keys == &channel->weights ? (int)width : channel->weightCount;
    return jn_ok;
}

static jnResult PutAnimation(jnaGltf* g, size_t index, const jnaGltfNodes* nodes, FILE* stream)
{
    Animation a = {.g = g, .json = jnaGltf_Entry(g, "animations", (int64_t)index), .nodes = nodes};
    const json_t* channels = json_object_get(a.json, "channels");
    const char* name = json_string_value(json_object_get(a.json, "name"));
    a.out.name = name != NULL ? name : "";
    a.out.ticksPerSecond = 1;
    a.out.channels = jnaArena_Take(&g->arena, (int64_t)json_array_size(channels), sizeof(*a.out.channels));
    a.channelOf = jnaArena_Take(&g->arena, nodes->count, sizeof(*a.channelOf));
    JN_PASS(jnaArena_Check(&g->arena, g->path, g->error));
    for (size_t c = 0; c < json_array_size(channels); ++c) {
        JN_PASS(ReadChannel(&a, json_array_get(channels, c)));
    }
    if (a.lost > 0) {
        jnaNotes_Add(&g->notes, "animation '%.60s': %d channels move something else than a node of the scene: left out",
            a.out.name, a.lost);
    }
    jnaPutAnimation(stream, &a.out);
    return jn_ok;
}

jnResult jnaGltf_PutAnimations(jnaGltf* g, const jnaGltfNodes* nodes, FILE* stream)
{
    size_t count = json_array_size(json_object_get(g->root, "animations"));
    jnResult result = jn_ok;
    jnaPutInteger(stream, (int64_t)count);
    for (size_t i = 0; result == jn_ok && i < count; ++i) {
        result = PutAnimation(g, i, nodes, stream);
        jnaReleaseArena(&g->arena);
    }
    return result;
}
