// Animations sampled at a fixed rate: linear between keys for translation and scale, the shorter arc for
// rotation.
//
// A clip runs from its first key to its last. A sample closer to a key than a thousandth of the key's
// interval is that key: files store times as floats, and a punch moves far in the rounding of a late one.
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

static const double snap = 1e-3;
enum { MAX_FRAMES = 1 << 20 };

void jnaCleanName(const char* name, char* clean)
{
    size_t length = 0;
    for (; *name != '\0' && length + 1 < JNA_NAME_LENGTH; ++name) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || *name == '-' || *name == '_' || (*name == '.' && length > 0);
        clean[length++] = plain ? *name : '_';
    }
    clean[length] = '\0';
}

// Key before `time` and the share of the way to the next one.
static int FindKey(const jnaSceneKeys* keys, double time, double* share)
{
    int low = 0, high = keys->count - 1;
    *share = 0;
    if (time <= keys->times[0]) {
        return 0;
    }
    if (time >= keys->times[high]) {
        return high;
    }
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (keys->times[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double interval = keys->times[high] - keys->times[low];
    double way = interval > 0 ? (time - keys->times[low]) / interval : 0;
    if (way > 1 - snap) {
        return high;
    }
    *share = way < snap ? 0 : way;
    return low;
}

static void SampleVector(const jnaSceneKeys* keys, double time, double* value)
{
    if (keys->count == 0) {
        return;
    }
    double share;
    int k = FindKey(keys, time, &share);
    const float* a = keys->values + 3 * (size_t)k;
    const float* b = share > 0 ? a + 3 : a;
    for (int i = 0; i < 3; ++i) {
        value[i] = (1 - share) * (double)a[i] + share * (double)b[i];
    }
}

static void SampleRotation(const jnaSceneKeys* keys, double time, double* value)
{
    if (keys->count == 0) {
        return;
    }
    double share, ends[2][4];
    int k = FindKey(keys, time, &share);
    for (int e = 0; e < 2; ++e) {
        const float* q = keys->values + 4 * ((size_t)k + (size_t)(share > 0 ? e : 0));
        for (int i = 0; i < 4; ++i) {
            ends[e][i] = (double)q[i];
        }
        jnaQuat_Normalize(ends[e]);
    }
    jnaQuat_Slerp(ends[0], ends[1], share, value);
}

static void Widen(const jnaSceneKeys* keys, double* first, double* last)
{
    if (keys->count > 0) {
        *first = fmin(*first, keys->times[0]);
        *last = fmax(*last, keys->times[keys->count - 1]);
    }
}

static jnResult MeasureClip(const char* path, const jnaSceneAnimation* animation, double rate, double* first,
    double* ticks, int* frameCount, jnError* error)
{
    double last = -HUGE_VAL;
    *first = HUGE_VAL;
    for (int c = 0; c < animation->channelCount; ++c) {
        Widen(&animation->channels[c].translation, first, &last);
        Widen(&animation->channels[c].rotation, first, &last);
        Widen(&animation->channels[c].scale, first, &last);
    }
    // Assimp leaves the rate at 0 where a format has none; 25 is what its formats mean by that.
    *ticks = animation->ticksPerSecond > 0 ? animation->ticksPerSecond : 25;
    double seconds = last > *first ? (last - *first) / *ticks : 0;
    if (!(seconds > 0)) {
        return jnFail(
            error, jn_badData, "%s: animation '%s' has zero length; remove it or give it keys", path, animation->name);
    }
    double frames = floor(seconds * rate + snap) + 1;
    if (frames > MAX_FRAMES) {
        return jnFail(error, jn_badData, "%s: animation '%s' lasts %g s, more than %d frames at %g Hz", path,
            animation->name, seconds, MAX_FRAMES, rate);
    }
    *frameCount = (int)frames;
    return jn_ok;
}

// Scales are kept only where some joint ever leaves its rest scale.
static void DropRestScales(jnaClip* clip, const float* restScales)
{
    for (int f = 0; f < clip->frameCount; ++f) {
        for (int i = 0; i < 3 * clip->jointCount; ++i) {
            float rest = restScales[i], now = clip->scales[(size_t)f * 3 * (size_t)clip->jointCount + (size_t)i];
            if (fabsf(now - rest) > 1e-5F * fmaxf(1, fabsf(rest))) {
                return;
            }
        }
    }
    free(clip->scales);
    clip->scales = NULL;
}

static void SampleJoint(const jnaScene* scene, const jnaRig* rig, int joint, const jnaSceneChannel* channel,
    double time, double scale, float* t, float* q, float* s)
{
    double position[3], rotation[4], size[3];
    jnaAffine_ToTrs(&scene->nodes[rig->joints[joint].node].local, position, rotation, size);
    if (channel != NULL) {
        SampleVector(&channel->translation, time, position);
        SampleRotation(&channel->rotation, time, rotation);
        SampleVector(&channel->scale, time, size);
    }
    jnaRig_Local(rig, scene, joint, position, rotation, size, scale, t, q, s);
}

static jnResult SampleAnimation(const char* path, const jnaScene* scene, const jnaRig* rig,
    const jnaSceneAnimation* animation, double scale, double rate, jnaClip* clip, jnError* error)
{
    double first, ticks;
    jnResult result = MeasureClip(path, animation, rate, &first, &ticks, &clip->frameCount, error);
    if (result != jn_ok) {
        return result;
    }
    clip->jointCount = rig->jointCount;
    clip->rate = rate;
    if ((size_t)clip->frameCount * (size_t)clip->jointCount > ((size_t)1 << 28)) {
        return jnFail(error, jn_badData, "%s: animation '%s' has %d frames of %d joints, more than can be taken", path,
            animation->name, clip->frameCount, clip->jointCount);
    }
    result = jnaClip_Allocate(clip, true, error);
    const jnaSceneChannel** channels = calloc((size_t)scene->nodeCount, sizeof(*channels));
    float* restScales = malloc(((size_t)rig->jointCount + 1) * 3 * sizeof(float));
    if (result == jn_ok && (channels == NULL || restScales == NULL)) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (int c = 0; result == jn_ok && c < animation->channelCount; ++c) {
        channels[animation->channels[c].node] = &animation->channels[c];
    }
    for (int j = 0; result == jn_ok && j < rig->jointCount; ++j) {
        float t[3], q[4];
        SampleJoint(scene, rig, j, NULL, 0, scale, t, q, restScales + 3 * (size_t)j);
        for (int f = 0; f < clip->frameCount; ++f) {
            size_t entry = (size_t)f * (size_t)clip->jointCount + (size_t)j;
            SampleJoint(scene, rig, j, channels[rig->joints[j].node], first + (double)f / rate * ticks, scale,
                clip->translations + 3 * entry, clip->rotations + 4 * entry, clip->scales + 3 * entry);
        }
    }
    if (result == jn_ok) {
        DropRestScales(clip, restScales);
    }
    free(channels);
    free(restScales);
    return result;
}

// A name of its own for every clip of the file.
static void NameClip(const jnaClipList* list, int index, const char* name)
{
    jnaClip* clip = &list->clips[index];
    char clean[JNA_NAME_LENGTH];
    jnaCleanName(name, clean);
    if (clean[0] == '\0') {
        snprintf(clean, sizeof(clean), "clip");
    }
    memcpy(clip->name, clean, sizeof(clean));
    for (int suffix = 2, i = 0; i < index; ++i) {
        if (strcmp(list->clips[i].name, clip->name) == 0) {
            snprintf(clip->name, sizeof(clip->name), "%.50s_%d", clean, suffix++);
            i = -1;
        }
    }
}

jnResult jnaSampleAnimations(const char* path, const jnaScene* scene, const jnaRig* rig, double scale, double rate,
    jnaClipList* clips, jnError* error)
{
    *clips = (jnaClipList){.clips = calloc((size_t)scene->animationCount + 1, sizeof(jnaClip))};
    if (clips->clips == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (int a = 0; a < scene->animationCount; ++a) {
        jnaClip* clip = &clips->clips[clips->count++];
        jnResult result = SampleAnimation(path, scene, rig, &scene->animations[a], scale, rate, clip, error);
        if (result != jn_ok) {
            jnaDestroyClipList(clips);
            return result;
        }
        NameClip(clips, a, scene->animations[a].name);
    }
    return jn_ok;
}

void jnaDestroyClipList(jnaClipList* list)
{
    for (int i = 0; i < list->count; ++i) {
        jnaDestroyClip(&list->clips[i]);
    }
    free(list->clips);
    *list = (jnaClipList){0};
}
