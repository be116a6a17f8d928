// The weights of each clip as channels of its animation. A node has one channel for all its targets: where the source
// animates targets of its own, both are keyed together, at the times of either.
#include "asset/morph_targets.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Keys of some weights.
typedef struct Keys {
    size_t count, width;
    float *times, *values; // [count], [count][width]; owned
    bool steps;            // held until the next key
} Keys;

static void DestroyKeys(Keys* k)
{
    free(k->times);
    free(k->values);
    *k = (Keys){0};
}

// Room for keys, all 0.
static jnResult AllocateKeys(size_t count, size_t width, Keys* k, jnError* error)
{
    jnaArena arena = {0};
    *k = (Keys){.count = count, .width = width};
    k->times = jnaArena_Give(&arena, (int64_t)count, sizeof(float));
    k->values = jnaArena_Give(&arena, (int64_t)(count * width), sizeof(float));
    if (arena.failed) {
        DestroyKeys(k);
    }
    return jnaArena_Check(&arena, "the keys of an animation", error);
}

static json_int_t GetInteger(const json_t* object, const char* name, json_int_t otherwise)
{
    const json_t* value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static const json_t* GetEntry(const json_t* root, const char* list, json_int_t index)
{
    return index >= 0 ? json_array_get(json_object_get(root, list), (size_t)index) : NULL;
}

// The keys that a channel has, of `width` weights. Of a cubic spline the values at its keys are taken.
static jnResult ReadKeys(
    const jnaMorphDocument* d, const json_t* animation, const json_t* channel, size_t width, Keys* k, jnError* error)
{
    const json_t* sampler = GetEntry(animation, "samplers", GetInteger(channel, "sampler", -1));
    const char* way = json_string_value(json_object_get(sampler, "interpolation"));
    bool spline = way != NULL && strcmp(way, "CUBICSPLINE") == 0;
    size_t numbers = 0;
    *k = (Keys){.width = width, .steps = way != NULL && strcmp(way, "STEP") == 0};
    k->times = jnaGlbBuffer_Read(&d->buffer, GetInteger(sampler, "input", -1), "SCALAR", &k->count);
    k->values = jnaGlbBuffer_Read(&d->buffer, GetInteger(sampler, "output", -1), "SCALAR", &numbers);
    if (k->times == NULL || k->values == NULL || numbers != k->count * width * (spline ? 3 : 1)) {
        DestroyKeys(k);
        return jnFail(error, jn_badData, "an animation of the source has morph weights that cannot be read");
    }
    for (size_t i = 0; spline && i < k->count; ++i) {
        memmove(k->values + i * width, k->values + (3 * i + 1) * width, width * sizeof(float));
    }
    return jn_ok;
}

// All weights at a time. Times of keys rise.
static void Evaluate(const Keys* k, float time, float* to)
{
    size_t next = 0;
    while (next < k->count && k->times[next] <= time) {
        next++;
    }
    size_t from = next > 0 ? next - 1 : 0, until = next < k->count ? next : k->count - 1;
    float span = k->times[until] - k->times[from];
    float way = span > 0 && !k->steps ? fminf(fmaxf((time - k->times[from]) / span, 0), 1) : 0;
    for (size_t i = 0; i < k->width; ++i) {
        float a = k->values[from * k->width + i], b = k->values[until * k->width + i];
        to[i] = way > 0 ? a + way * (b - a) : a;
    }
}

// Our keys of a clip, in the file's scale.
static jnResult MakeKeys(
    const jnaTargetsDef* def, const float* stretches, const jnaMorphDocument* d, int clip, Keys* k, jnError* error)
{
    const jnaMorphWeights* w = def->weights;
    double rate = jnAsset_Clip(def->asset, clip).rate;
    JN_PASS(AllocateKeys((size_t)w->keyCounts[clip], (size_t)def->count, k, error));
    for (size_t n = 0; n < k->count; ++n) {
        k->times[n] = (float)(d->starts[clip] + (double)n / rate);
        for (size_t t = 0; t < k->width; ++t) {
            float factor = 1.0f / stretches[t];
            k->values[n * k->width + t] = w->weights[clip][n * (size_t)w->count + t] * factor;
        }
    }
    return jn_ok;
}

static int CompareTimes(const void* a, const void* b)
{
    float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

// Both side by side: `own` first. ours NULL: `extra` weights of 0.
static jnResult JoinKeys(const Keys* own, const Keys* ours, size_t extra, Keys* k, jnError* error)
{
    size_t most = own->count + (ours != NULL ? ours->count : 0);
    JN_PASS(AllocateKeys(most, own->width + (ours != NULL ? ours->width : extra), k, error));
    k->steps = own->steps && ours == NULL;
    k->count = 0;
    memcpy(k->times, own->times, own->count * sizeof(float));
    if (ours != NULL) {
        memcpy(k->times + own->count, ours->times, ours->count * sizeof(float));
    }
    qsort(k->times, most, sizeof(float), CompareTimes);
    for (size_t i = 0; i < most; ++i) {
        if (k->count == 0 || k->times[i] > k->times[k->count - 1]) {
            k->times[k->count++] = k->times[i];
        }
    }
    for (size_t n = 0; n < k->count; ++n) {
        Evaluate(own, k->times[n], k->values + n * k->width);
        if (ours != NULL) {
            Evaluate(ours, k->times[n], k->values + n * k->width + own->width);
        }
    }
    return jn_ok;
}

// Adds a sampler to an animation and returns its number.
static json_int_t AddSampler(jnaMorphDocument* d, json_t* animation, const Keys* k)
{
    json_int_t input = jnaGlbBuffer_Add(&d->buffer,
        &(jnaGlbArray){
            .type = "SCALAR", .component = JNA_GLB_FLOAT, .count = k->count, .data = k->times, .bounds = true});
    json_int_t output = jnaGlbBuffer_Add(&d->buffer,
        &(jnaGlbArray){.type = "SCALAR", .component = JNA_GLB_FLOAT, .count = k->count * k->width, .data = k->values});
    json_t* samplers = jnaGltfList(animation, "samplers");
    json_array_append_new(samplers,
        json_pack("{s:I, s:I, s:s}", "input", input, "output", output, "interpolation", k->steps ? "STEP" : "LINEAR"));
    return (json_int_t)json_array_size(samplers) - 1;
}

static json_t* FindChannel(const json_t* animation, json_int_t node)
{
    size_t index;
    json_t* channel;
    json_array_foreach(json_object_get(animation, "channels"), index, channel)
    {
        const json_t* target = json_object_get(channel, "target");
        const char* path = json_string_value(json_object_get(target, "path"));
        if (path != NULL && strcmp(path, "weights") == 0 && GetInteger(target, "node", -1) == node) {
            return channel;
        }
    }
    return NULL;
}

// The weights that a node's own targets rest at, as one key.
static jnResult RestKeys(const json_t* node, const json_t* mesh, size_t own, Keys* k, jnError* error)
{
    const json_t* weights = json_object_get(node, "weights");
    weights = weights != NULL ? weights : json_object_get(mesh, "weights");
    JN_PASS(AllocateKeys(1, own, k, error));
    for (size_t i = 0; i < own; ++i) {
        k->values[i] = (float)json_number_value(json_array_get(weights, i));
    }
    return jn_ok;
}

// One node that has our targets.
typedef struct Carrier {
    json_int_t node;
    const json_t *json, *mesh;
    size_t own; // targets besides ours
} Carrier;

// Sets the weights of a node in an animation. ours: NULL where the animation is none of the clips.
static jnResult Animate(const jnaTargetsDef* def, const Carrier* c, json_t* animation, const Keys* ours,
    json_int_t* sampler, jnaMorphDocument* d, jnError* error)
{
    json_t* channel = FindChannel(animation, c->node);
    Keys own = {0}, all = {0};
    jnResult result = jn_ok;
    if (channel == NULL && ours == NULL) {
        return jn_ok;
    }
    if (c->own == 0 && ours != NULL) {
        *sampler = *sampler >= 0 ? *sampler : AddSampler(d, animation, ours);
    } else {
        JN_TRY(channel != NULL ? ReadKeys(d, animation, channel, c->own, &own, error)
                               : RestKeys(c->json, c->mesh, c->own, &own, error));
        own.times[0] = channel == NULL && ours != NULL ? ours->times[0] : own.times[0];
        JN_TRY(JoinKeys(&own, ours, (size_t)def->count, &all, error));
        *sampler = AddSampler(d, animation, &all);
    }
    if (channel != NULL) {
        json_object_set_new(channel, "sampler", json_integer(*sampler));
    } else {
        json_array_append_new(jnaGltfList(animation, "channels"),
            json_pack("{s:I, s:{s:I, s:s}}", "sampler", *sampler, "target", "node", c->node, "path", "weights"));
    }
    *sampler = c->own == 0 ? *sampler : -1;
done:
    DestroyKeys(&own);
    DestroyKeys(&all);
    return result;
}

// Whether a node carries our targets.
static bool Carries(const jnaTargetsDef* def, const jnaMorphDocument* d, size_t node, Carrier* c)
{
    *c = (Carrier){.node = (json_int_t)node, .json = GetEntry(d->root, "nodes", (json_int_t)node)};
    json_int_t mesh = GetInteger(c->json, "mesh", -1);
    bool ours = false;
    for (int i = 0; i < d->partCount; ++i) {
        ours = ours || d->parts[i].mesh == mesh;
    }
    c->mesh = GetEntry(d->root, "meshes", mesh);
    size_t all = json_array_size(json_object_get(json_array_get(json_object_get(c->mesh, "primitives"), 0), "targets"));
    c->own = ours && all >= (size_t)def->count ? all - (size_t)def->count : 0;
    return ours;
}

jnResult jnaAddMorphAnimations(const jnaTargetsDef* def, const float* stretches, jnaMorphDocument* d, jnError* error)
{
    json_t* animations = json_object_get(d->root, "animations");
    if (def->count == 0) {
        return jn_ok; // a sampler without numbers is no glTF
    }
    for (size_t a = 0; a < json_array_size(animations); ++a) {
        Keys ours = {0};
        json_int_t sampler = -1;
        jnResult result = jn_ok;
        int clip = -1;
        for (int c = 0; c < d->clipCount; ++c) {
            clip = d->animations[c] == (int)a && clip < 0 ? c : clip;
        }
        JN_PASS(clip >= 0 ? MakeKeys(def, stretches, d, clip, &ours, error) : jn_ok);
        for (size_t n = 0; result == jn_ok && n < json_array_size(json_object_get(d->root, "nodes")); ++n) {
            Carrier carrier;
            if (Carries(def, d, n, &carrier)) {
                result =
                    Animate(def, &carrier, json_array_get(animations, a), clip >= 0 ? &ours : NULL, &sampler, d, error);
            }
        }
        DestroyKeys(&ours);
        JN_PASS(result);
    }
    return jn_ok;
}
