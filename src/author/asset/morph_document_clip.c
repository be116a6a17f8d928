// A clip of the asset as an animation of a document: rotations of all joints, and translations and scales of those that
// leave their rest.
#include "asset/morph_document.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of metres, and of scales: below, a joint stays where it is.
#define STILL 1e-6f

typedef struct Track {
    const jnAssetClip* clip;
    const jnaGltfJoint* joint; // NULL: units of the asset
    int jointCount, keyCount;
    json_int_t times;
    json_t *samplers, *channels;
    float* values; // [keyCount][4], scratch
} Track;

// The clip's numbers of one joint and frame. A key after the last frame is the first again.
static const float* ValueOf(const Track* t, const float* from, size_t width, int joint, int key)
{
    size_t frame = (size_t)(key % t->clip->frameCount);
    return from + width * (frame * (size_t)t->jointCount + (size_t)joint);
}

static void AddChannel(Track* t, jnaMorphDocument* d, int node, const char* path, bool four)
{
    json_int_t output = jnaGlbBuffer_Add(&d->buffer, &(jnaGlbArray){.type = four ? "VEC4" : "VEC3",
                                                         .component = JNA_GLB_FLOAT,
                                                         .count = (size_t)t->keyCount,
                                                         .data = t->values});
    json_array_append_new(
        t->samplers, json_pack("{s:I, s:I, s:s}", "input", t->times, "output", output, "interpolation", "LINEAR"));
    json_array_append_new(
        t->channels, json_pack("{s:I, s:{s:i, s:s}}", "sampler", (json_int_t)json_array_size(t->samplers) - 1, "target",
                         "node", node, "path", path));
}

static bool Leaves(const Track* t, const float* from, int joint, const float rest[3])
{
    bool leaves = false;
    for (int key = 0; from != NULL && key < t->keyCount && !leaves; ++key) {
        const float* value = ValueOf(t, from, 3, joint, key);
        for (int i = 0; i < 3; ++i) {
            leaves = leaves || fabsf(value[i] - rest[i]) > STILL;
        }
    }
    return leaves;
}

static void AddJoint(Track* t, jnaMorphDocument* d, const jnAssetJoint* rest, int joint, int node)
{
    const jnAssetClip* clip = t->clip;
    for (int pass = 0; pass < 2; ++pass) {
        bool rotates = pass == 0;
        if (!rotates && !Leaves(t, clip->translations, joint, rest->translation)) {
            continue;
        }
        for (int key = 0; key < t->keyCount; ++key) {
            const float* q = ValueOf(t, clip->rotations, 4, joint, key);
            const float* p = ValueOf(t, clip->translations, 3, joint, key);
            double rotation[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
            double translation[3] = {(double)p[0], (double)p[1], (double)p[2]};
            jnaQuat_Normalize(rotation);
            if (t->joint != NULL) {
                jnaGltfJoint_ToNode(&t->joint[joint], translation, rotation);
            }
            size_t width = rotates ? 4 : 3;
            for (size_t i = 0; i < width; ++i) {
                t->values[width * (size_t)key + i] = (float)(rotates ? rotation[i] : translation[i]);
            }
        }
        AddChannel(t, d, node, rotates ? "rotation" : "translation", rotates);
    }
    if (Leaves(t, clip->scales, joint, rest->scale)) {
        for (int key = 0; key < t->keyCount; ++key) {
            memcpy(t->values + 3 * (size_t)key, ValueOf(t, clip->scales, 3, joint, key), 3 * sizeof(float));
        }
        AddChannel(t, d, node, "scale", false);
    }
}

jnResult jnaAddClipAnimation(
    jnaMorphDocument* d, const jnaMorphDocumentDef* def, int index, const int* nodes, jnError* error)
{
    const jnAsset* a = def->asset;
    jnAssetClip clip = jnAsset_Clip(a, index);
    Track t = {.clip = &clip,
        .joint = def->source != NULL ? def->source->joints : NULL,
        .jointCount = a->jointCount,
        .keyCount = clip.frameCount + (def->seamless && clip.looping)};
    t.values = malloc(4 * (size_t)t.keyCount * sizeof(float));
    if (t.values == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for clip '%s'", clip.name);
    }
    for (int key = 0; key < t.keyCount; ++key) {
        t.values[key] = (float)(key / clip.rate);
    }
    t.times = jnaGlbBuffer_Add(&d->buffer, &(jnaGlbArray){.type = "SCALAR",
                                               .component = JNA_GLB_FLOAT,
                                               .count = (size_t)t.keyCount,
                                               .data = t.values,
                                               .bounds = true});
    t.samplers = json_array();
    t.channels = json_array();
    for (int j = 0; j < a->jointCount; ++j) {
        if (nodes[j] >= 0) {
            AddJoint(&t, d, &a->joints[j], j, nodes[j]);
        }
    }
    json_t* animations = jnaGltfList(d->root, "animations");
    d->animations[index] = (int)json_array_size(animations);
    d->starts[index] = 0;
    json_array_append_new(
        animations, json_pack("{s:s, s:o, s:o}", "name", clip.name, "samplers", t.samplers, "channels", t.channels));
    free(t.values);
    return jn_ok;
}
