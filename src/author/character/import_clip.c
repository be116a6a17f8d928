// Animations sampled at a fixed rate, with what lies between two keys as the file means it: a step, a line (for
// rotations the shorter arc), or glTF's spline, a cubic with the slopes m0 behind the first key and m1 before the
// second:
//
//   p(t) = (2 t^3 - 3 t^2 + 1) p0 + (t^3 - 2 t^2 + t) d m0 + (3 t^2 - 2 t^3) p1 + (t^3 - t^2) d m1,  d between the keys
//
// A clip runs from its first key to its last; a loop that is no whole number of frames long gets a rate of its own. A
// sample closer to a key than a thousandth of the key's
// interval is that key: files store times as floats, and a punch moves far in the rounding of a late one.
#include "base/arena.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

#define SNAP 1e-3
enum { MAX_FRAMES = 1 << 20, LEAST_LOOP = 4, FRAMES_A_LOOK = 64 };

// A file-name-safe copy of a clip's name.
static void CleanName(const char* name, char* clean)
{
    size_t length = 0;
    for (; *name != '\0' && length + 1 < JNA_NAME_LENGTH; ++name) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || *name == '-' || *name == '_' || (*name == '.' && length > 0);
        clean[length++] = plain ? *name : '_';
    }
    clean[length] = '\0';
}

void jnaNameByFile(const char* path, char* name)
{
    const char* slash = strrchr(path, '/');
    CleanName(slash != NULL ? slash + 1 : path, name);
    char* dot = strrchr(name, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
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
    if (way > 1 - SNAP) {
        return high;
    }
    *share = way < SNAP ? 0 : way;
    return low;
}

// `count` of the keys' numbers from `first` on at a time, before a rotation is made one again. width: numbers a key.
// value: [count], left where there are no keys.
static void SampleSome(const jnaSceneKeys* keys, size_t width, size_t first, size_t count, double time, double* value)
{
    if (keys->count == 0) {
        return;
    }
    double t;
    int k = FindKey(keys, time, &t);
    bool cubic = keys->interpolation == jna_cubicKeys;
    const float* a = keys->values + (size_t)k * width * (cubic ? 3 : 1) + (cubic ? width : 0) + first;
    const float* b = t > 0 ? a + width * (cubic ? 3 : 1) : a;
    t = keys->interpolation == jna_stepKeys ? 0 : t;
    double between = t > 0 ? keys->times[k + 1] - keys->times[k] : 0;
    for (size_t i = 0; i < count; ++i) {
        if (cubic && t > 0) {
            double m0 = (double)a[width + i], m1 = (double)*(b - width + i);
            value[i] = (2 * t * t * t - 3 * t * t + 1) * (double)a[i] + (t * t * t - 2 * t * t + t) * between * m0 +
                       (3 * t * t - 2 * t * t * t) * (double)b[i] + (t * t * t - t * t) * between * m1;
        } else {
            value[i] = (1 - t) * (double)a[i] + t * (double)b[i];
        }
    }
}

static void SampleKeys(const jnaSceneKeys* keys, size_t width, double time, double* value)
{
    SampleSome(keys, width, 0, width, time, value);
}

static void SampleRotation(const jnaSceneKeys* keys, double time, double* value)
{
    if (keys->count == 0) {
        return;
    }
    if (keys->interpolation != jna_linearKeys) {
        SampleKeys(keys, 4, time, value);
        jnaQuat_Normalize(value);
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

static jnaTrs SampleJoint(const jnaSampling* s, int joint, const jnaSceneChannel* channel, double time)
{
    jnaTrs node;
    const jnaAffine* rest = &s->scene->nodes[s->rig->joints[joint].node].local;
    jnaAffine_ToTrs(rest, node.translation, node.rotation, node.scale);
    if (channel != NULL) {
        SampleKeys(&channel->translation, 3, time, node.translation);
        SampleRotation(&channel->rotation, time, node.rotation);
        SampleKeys(&channel->scale, 3, time, node.scale);
    }
    return jnaRig_Local(s->rig, s->scene, joint, &node, s->scale);
}

// Everything that is sampled of one animation.
typedef struct Animated {
    const jnaSampling* sampling;
    const jnaSceneAnimation* animation;
    const jnaSceneChannel** channels; // [nodeCount]
    double first, ticks, seconds;
} Animated;

// All joints at a time of the animation, in seconds from its first key.
static void SamplePose(const Animated* a, double seconds, size_t frame, jnaClip* clip)
{
    for (int j = 0; j < clip->jointCount; ++j) {
        const jnaSampling* s = a->sampling;
        size_t entry = frame * (size_t)clip->jointCount + (size_t)j;
        double time = a->first + seconds * a->ticks;
        jnaTrs local = SampleJoint(s, j, a->channels[s->rig->joints[j].node], time);
        for (size_t i = 0; i < 4; ++i) {
            clip->rotations[4 * entry + i] = (float)local.rotation[i];
        }
        for (size_t i = 0; i < 3; ++i) {
            clip->translations[3 * entry + i] = (float)local.translation[i];
            clip->scales[3 * entry + i] = (float)local.scale[i];
        }
    }
}

static bool IsFixed(const jnaImportDef* def, const char* name)
{
    char clean[JNA_NAME_LENGTH];
    bool fixed = def == NULL || def->fixedCount < 0;
    CleanName(name, clean);
    for (int i = 0; !fixed && i < def->fixedCount; ++i) {
        fixed = strcmp(def->fixed[i], clean) == 0;
    }
    return fixed;
}

// A loop that is no whole number of frames long is divided into the nearest whole number. room: the clip, with space
// for a frame more than that.
static void CloseLoop(const Animated* a, jnaClip* clip)
{
    const jnaSampling* s = a->sampling;
    double frames = a->seconds * s->rate, whole = floor(frames + 0.5);
    if (fabs(frames - whole) <= SNAP || whole < LEAST_LOOP || IsFixed(s->loops, a->animation->name)) {
        return;
    }
    // The ends as a clip of their own.
    jnaClip ends = *clip;
    SamplePose(a, 0, 0, clip);
    SamplePose(a, a->seconds, LEAST_LOOP - 1, clip);
    ends.frameCount = LEAST_LOOP;
    if (!jnaClip_EndsMeet(&ends)) {
        return;
    }
    clip->frameCount = (int)whole;
    clip->rate = whole / a->seconds;
    clip->looping = true;
    jnaNotes_Add(s->notes,
        "clip '%s' ends where it begins, after %.4g s: a loop of %d frames at %.4g Hz (loop: false in the manifest "
        "keeps "
        "%g Hz)",
        a->animation->name[0] != '\0' ? a->animation->name : "clip", a->seconds, clip->frameCount, clip->rate, s->rate);
}

static jnResult MeasureClip(const char* path, Animated* a, double rate, int* frameCount, jnError* error)
{
    const jnaSceneAnimation* animation = a->animation;
    double last = -HUGE_VAL, *first = &a->first;
    *first = HUGE_VAL;
    for (int c = 0; c < animation->channelCount; ++c) {
        Widen(&animation->channels[c].translation, first, &last);
        Widen(&animation->channels[c].rotation, first, &last);
        Widen(&animation->channels[c].scale, first, &last);
        Widen(&animation->channels[c].weights, first, &last);
    }
    // Assimp leaves the rate at 0 where a format has none; 25 is what its formats mean by that.
    a->ticks = animation->ticksPerSecond > 0 ? animation->ticksPerSecond : 25;
    double seconds = a->seconds = last > *first ? (last - *first) / a->ticks : 0;
    if (!(seconds > 0)) {
        *frameCount = 0;
        return jn_ok;
    }
    double frames = floor(seconds * rate + SNAP) + 1;
    if (!(frames <= MAX_FRAMES)) { // nor what is no number
        return jnFail(error, jn_badData, "%s: animation '%s' lasts %g s, more than %d frames at %g Hz", path,
            animation->name, seconds, MAX_FRAMES, rate);
    }
    *frameCount = (int)frames;
    return jn_ok;
}

// Weights of the character's targets, where the animation has some. channels: [nodeCount]
static jnResult SampleTargets(const char* path, const jnaSampling* s, const jnaSceneChannel* const* channels,
    double first, double ticks, jnaClip* clip, jnError* error)
{
    jnaArena arena = {0};
    int targets = s->character != NULL ? s->character->targetCount : 0, most = 0;
    for (int i = 0; targets > 0 && i < s->sources->count; ++i) {
        const jnaSceneChannel* channel = s->sources->list[i].node >= 0 ? channels[s->sources->list[i].node] : NULL;
        most = channel != NULL && channel->weightCount > most ? channel->weightCount : most;
    }
    jnResult result = jn_ok;
    if (most == 0) {
        goto done;
    }
    clip->targetCount = targets;
    clip->targets = jnaArena_Give(&arena, (int64_t)clip->frameCount * targets, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, path, error));
    for (int f = 0; f < clip->frameCount; ++f) {
        JN_TRY(f % FRAMES_A_LOOK == 0 ? jnaWatch_Tell(s->watch, 0, error) : jn_ok);
        float* row = clip->targets + (size_t)f * (size_t)targets;
        double time = first + f / clip->rate * ticks;
        for (int t = 0; t < targets; ++t) {
            row[t] = s->character->targets[t].weight;
        }
        for (int i = s->sources->count - 1; i >= 0; --i) { // the first of several meshes has the last word
            const jnaTargetSource* from = &s->sources->list[i];
            const jnaSceneChannel* channel = from->node >= 0 ? channels[from->node] : NULL;
            if (channel != NULL && channel->weights.count > 0 && from->number < channel->weightCount &&
                channel->weightCount <= most) {
                double weight = 0;
                SampleSome(&channel->weights, (size_t)channel->weightCount, (size_t)from->number, 1, time, &weight);
                row[from->target] = (float)weight;
            }
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

static jnResult SampleAnimation(
    const char* path, const jnaSampling* s, const jnaSceneAnimation* animation, jnaClip* clip, jnError* error)
{
    Animated animated = {.sampling = s, .animation = animation};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(MeasureClip(path, &animated, s->rate, &clip->frameCount, error));
    if (clip->frameCount == 0) {
        goto done;
    }
    clip->jointCount = s->rig->jointCount;
    clip->rate = s->rate;
    if ((size_t)clip->frameCount * (size_t)clip->jointCount > ((size_t)1 << 28)) {
        JN_TRY(jnFail(error, jn_badData, "%s: animation '%s' has %d frames of %d joints, more than can be taken", path,
            animation->name, clip->frameCount, clip->jointCount));
    }
    int sampled = clip->frameCount;
    clip->frameCount = sampled > LEAST_LOOP ? sampled + 1 : LEAST_LOOP + 1; // room for CloseLoop
    JN_TRY(jnaClip_Allocate(clip, true, error));
    clip->frameCount = sampled;
    animated.channels = jnaArena_Take(&arena, s->scene->nodeCount, sizeof(*animated.channels));
    float* restScales = jnaArena_Take(&arena, clip->jointCount, 3 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, path, error));
    for (int c = 0; c < animation->channelCount; ++c) {
        animated.channels[animation->channels[c].node] = &animation->channels[c];
    }
    CloseLoop(&animated, clip);
    for (int f = 0; f < clip->frameCount; ++f) {
        JN_TRY(f % FRAMES_A_LOOK == 0 ? jnaWatch_Tell(s->watch, 0, error) : jn_ok);
        SamplePose(&animated, f / clip->rate, (size_t)f, clip);
    }
    for (int j = 0; j < clip->jointCount; ++j) {
        jnaTrs rest = SampleJoint(s, j, NULL, 0);
        for (int i = 0; i < 3; ++i) {
            restScales[3 * j + i] = (float)rest.scale[i];
        }
    }
    DropRestScales(clip, restScales);
    JN_TRY(SampleTargets(path, s, animated.channels, animated.first, animated.ticks, clip, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

// The number behind a name of the file that is taken: the least one from 2 on that no clip has. used: [index + 3],
// zeroed scratch.
static int FreeNumber(const jnaClipList* list, int index, const char* clean, bool* used)
{
    size_t length = strnlen(clean, 50);
    for (int i = 0; i < index; ++i) {
        const char* name = list->clips[i].name;
        int number = 0, end = 0;
        bool of = strncmp(name, clean, length) == 0 && sscanf(name + length, "_%d%n", &number, &end) == 1 &&
                  name[length + (size_t)end] == '\0' && name[length + 1] != '0';
        if (of && number >= 2 && number < index + 3) {
            used[number] = true;
        }
    }
    int number = 2;
    while (number < index + 2 && used[number]) {
        ++number;
    }
    return number;
}

// A name of its own for every clip of the file.
static jnResult NameClip(const char* path, const jnaClipList* list, int index, const char* name, jnError* error)
{
    jnaClip* clip = &list->clips[index];
    char clean[JNA_NAME_LENGTH];
    CleanName(name, clean);
    if (clean[0] == '\0') {
        snprintf(clean, sizeof(clean), "clip");
    }
    memcpy(clip->name, clean, sizeof(clean));
    bool taken = false;
    for (int i = 0; i < index && !taken; ++i) {
        taken = strcmp(list->clips[i].name, clean) == 0;
    }
    if (taken) {
        bool* used = calloc((size_t)index + 3, sizeof(*used));
        if (used == NULL) {
            return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        }
        snprintf(clip->name, sizeof(clip->name), "%.50s_%d", clean, FreeNumber(list, index, clean, used));
        free(used);
    }
    return jn_ok;
}

// What the animations come to, before any of them is sampled.
static jnResult TakeAnimations(const char* path, const jnaSampling* s, jnError* error)
{
    double targets = s->character != NULL ? s->character->targetCount : 0;
    for (int i = 0; i < s->scene->animationCount; ++i) {
        Animated animated = {.sampling = s, .animation = &s->scene->animations[i]};
        int frames = 0;
        JN_PASS(MeasureClip(path, &animated, s->rate, &frames, error));
        frames += frames > 0 ? LEAST_LOOP : 0;
        JN_PASS(jnaImportBudget_TakeClip(s->budget, path, frames, 10.0 * s->rig->jointCount + targets, error));
    }
    return jn_ok;
}

jnResult jnaSampleAnimations(const char* path, const jnaSampling* sampling, jnaClipList* clips, jnError* error)
{
    const jnaScene* scene = sampling->scene;
    *clips = (jnaClipList){.clips = calloc((size_t)scene->animationCount + 1, sizeof(jnaClip))};
    if (clips->clips == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    jnResult result = TakeAnimations(path, sampling, error);
    for (int a = 0; result == jn_ok && a < scene->animationCount; ++a) {
        jnaClip* clip = &clips->clips[clips->count++];
        result = jnaWatch_Tell(sampling->watch, 0, error);
        result = result == jn_ok ? SampleAnimation(path, sampling, &scene->animations[a], clip, error) : result;
        if (result != jn_ok) {
            break;
        }
        if (clip->frameCount == 0) {
            clips->count--;
            jnaNotes_Add(
                sampling->notes, "animation '%s' has zero length, a single pose: left out", scene->animations[a].name);
            continue;
        }
        result = NameClip(path, clips, clips->count - 1, scene->animations[a].name, error);
    }
    if (result != jn_ok) {
        jnaDestroyClipList(clips);
    }
    return result;
}

void jnaDestroyClipList(jnaClipList* list)
{
    for (int i = 0; i < list->count; ++i) {
        jnaDestroyClip(&list->clips[i]);
    }
    free(list->clips);
    *list = (jnaClipList){0};
}
