// Pairs of pose and surface out of a workspace. Learned from: its shapes, and clips with imported equilibria or, where
// no clip has such, imported motion. Judged by: frames of clips that nothing is learned from, as imported or as `jounce
// simulate --clips` leaves them in motion/NAME/quasistatic.npy.
#include "pipeline/gather_pairs.h"

#include "asset/character_pairs.h"
#include "base/bounds.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "workspace/shapes.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELD_ONE_IN = 10, RUN_LENGTH = 16 };

// group: name of the clip, not its place among others; "" for poses of none.
static jnaPairUse UseOf(const char* group, int index, bool isTest)
{
    const int32_t key = index;
    uint64_t hash = jnaHash(&key, sizeof(key), jnaHash(group, strlen(group), 0));
    return isTest ? jna_pairTest : (hash >> 20) % HELD_ONE_IN == 0 ? jna_pairValidation : jna_pairTrain;
}

// Clips of the manifest by the numbers of clip.npy: the list in poses.json, or the manifest's own. -1: not there.
// clips: [JNA_MAX_CLIPS]. Returns how many.
static int ListClips(const jnaWorkspace* w, int* clips)
{
    json_t* root = NULL;
    int count = 0;
    bool listed =
        jnaWorkspace_Has(w, "poses/poses.json") && jnaLoadJson(w->path, "poses/poses.json", &root, NULL) == jn_ok;
    const json_t* names = json_object_get(json_object_get(root, "about"), "clips");
    listed = listed && json_is_array(names);
    int total = listed ? (int)json_array_size(names) : w->manifest.clipCount;
    for (; count < total && count < JNA_MAX_CLIPS; ++count) {
        const char* name = json_string_value(json_array_get(names, (size_t)count));
        clips[count] = listed ? -1 : count;
        for (int i = 0; name != NULL && i < w->manifest.clipCount; ++i) {
            clips[count] = strcmp(w->manifest.clips[i].name, name) == 0 ? i : clips[count];
        }
    }
    json_decref(root);
    return count;
}

static jnResult AddShapes(const jnaShapes* s, const jnaWorkspace* w, jnaPairs* pairs, jnError* error)
{
    const jnaManifest* m = &w->manifest;
    int clips[JNA_MAX_CLIPS], clipCount = ListClips(w, clips);
    size_t joints = (size_t)s->jointCount, vertices = (size_t)s->vertexCount;
    jnaPair* list = calloc((size_t)s->count + 1, sizeof(*list));
    int count = 0;
    if (list == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d poses", s->count);
    }
    for (int i = 0; i < s->count; ++i) {
        // Without room the flesh has many places to be at: nothing to learn, and what a network makes of a few such
        // poses shows in others.
        if (s->valid != NULL && s->valid[i] != jna_poseSolved) {
            continue;
        }
        int clip = s->clips != NULL && s->clips[i] >= 0 && s->clips[i] < clipCount ? clips[s->clips[i]] : -1;
        bool isTest = clip >= 0 && m->clips[clip].role == jna_test;
        bool held = !isTest && s->heldOut != NULL && s->heldOut[i] != 0;
        jnaShapeKind kind = clip >= 0 ? jna_shapeClip : s->kinds != NULL ? (jnaShapeKind)s->kinds[i] : jna_shapeRandom;
        list[count++] = (jnaPair){.rotations = s->rotations + (size_t)i * joints * 4,
            .positions = s->positions + (size_t)i * vertices * 3,
            .kind = kind,
            .use =
                held ? jna_pairValidation
                     : UseOf(clip >= 0 ? m->clips[clip].name : "", kind == jna_shapeClip ? i / RUN_LENGTH : i, isTest)};
    }
    jnResult result = jnaPairs_Add(pairs, count, list, error);
    free(list);
    return result;
}

// A frame of a clip and the surface in it.
static jnaPair PairOf(const jnaClip* clip, int frame, const float* positions, jnaPairUse use)
{
    jnPose pose = jnaClip_Pose(clip, frame);
    return (jnaPair){.rotations = pose.rotations,
        .translations = pose.translations,
        .scales = pose.scales,
        .positions = positions,
        .kind = jna_shapeClip,
        .use = use};
}

static jnResult AddMotion(const jnaClip* clip, const jnaArray* motion, bool isTest, jnaPairs* pairs, jnError* error)
{
    size_t vertices = (size_t)pairs->vertexCount;
    const float* positions = motion->data;
    int count = clip->frameCount < (int)motion->shape[0] ? clip->frameCount : (int)motion->shape[0];
    jnaPair* list = calloc((size_t)count + 1, sizeof(*list));
    if (list == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the frames of '%s'", clip->name);
    }
    for (int i = 0; i < count; ++i) {
        list[i] = PairOf(clip, i, positions + (size_t)i * vertices * 3, UseOf(clip->name, i / RUN_LENGTH, isTest));
    }
    jnResult result = jnaPairs_Add(pairs, count, list, error);
    free(list);
    return result;
}

// Whether some clip to train on brings equilibria: then no clip in motion teaches a shape.
static bool HasEquilibria(const jnaManifest* m)
{
    bool has = false;
    for (int i = 0; i < m->clipCount; ++i) {
        has = has || (m->clips[i].shapes != NULL && m->clips[i].role == jna_train);
    }
    return has;
}

// Few frames may leave none to validate on: then the last tenth is.
static void HoldSome(jnaPairs* pairs)
{
    int held = 0, trained = 0, last = 0;
    for (int i = 0; i < pairs->count; ++i) {
        held += pairs->uses[i] == jna_pairValidation;
        trained += pairs->uses[i] == jna_pairTrain;
    }
    for (int i = pairs->count - 1; held == 0 && i >= 0 && last < 1 + trained / HELD_ONE_IN; --i) {
        if (pairs->uses[i] == jna_pairTrain) {
            pairs->uses[i] = jna_pairValidation;
            last++;
        }
    }
}

// Clips with motion: counted with pairs NULL, added otherwise.
static jnResult TakeMotions(jnaWorkspace* w, int* count, jnaPairs* pairs, jnError* error)
{
    const jnaCharacter* c;
    const jnaClip* clips;
    jnaArray motion = {0};
    jnResult result = jn_ok;
    JN_PASS(jnaWorkspace_Character(w, &c, error));
    JN_PASS(jnaWorkspace_Clips(w, &clips, error));
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        bool present = false;
        jnaClipCache kind = HasEquilibria(&w->manifest) ? jna_clipShapes : jna_clipMotion;
        JN_TRY(jnaOpenClipCache(w->path, &clips[i], c, kind, &present, &motion, error));
        if (present && pairs != NULL) {
            JN_TRY(AddMotion(&clips[i], &motion, w->manifest.clips[i].role == jna_test, pairs, error));
        }
        *count += present ? clips[i].frameCount : 0;
        jnaCloseArray(&motion);
    }
done:
    jnaCloseArray(&motion);
    return result;
}

jnResult jnaGatherPairs(jnaWorkspace* w, jnaPairs* pairs, jnError* error)
{
    jnaShapes shapes;
    bool present;
    const jnaCharacter* c;
    int frames = 0, ignored = 0;
    *pairs = (jnaPairs){0};
    JN_PASS(jnaWorkspace_Character(w, &c, error));
    JN_PASS(jnaOpenShapes(w->path, c, &present, &shapes, error));
    if (jnaManifest_IsImported(&w->manifest)) { // our own flesh is another's
        jnaCloseShapes(&shapes);
        present = false;
    }
    jnResult result = jn_ok;
    JN_TRY(TakeMotions(w, &frames, NULL, error));
    if (shapes.count + frames == 0) {
        JN_TRY(jnFail(error, jn_badData,
            "%s: has no shapes to learn from: neither poses/ (jounce simulate --poses) nor a clip with motion",
            w->path));
    }
    JN_TRY(jnaCreateCharacterPairs(c, w->manifest.network.skinning, shapes.count + frames, pairs, error));
    if (present) {
        JN_TRY(AddShapes(&shapes, w, pairs, error));
    }
    JN_TRY(TakeMotions(w, &ignored, pairs, error));
    HoldSome(pairs);
done:
    jnaCloseShapes(&shapes);
    if (result != jn_ok) {
        jnaDestroyPairs(pairs);
    }
    return result;
}

// Solved frames of one clip.
typedef struct Motion {
    jnaClip clip;
    jnaArray positions, valid; // valid may be absent
    int first;                 // frame of the clip that they begin with
} Motion;

static void CloseMotion(Motion* m)
{
    if (m->positions.data != NULL) {
        jnaCloseArray(&m->positions);
    }
    if (m->valid.data != NULL) {
        jnaCloseArray(&m->valid);
    }
    jnaDestroyClip(&m->clip);
}

static jnResult PathOf(const char* workspace, const char* clip, const char* file, char* path, jnError* error)
{
    char name[JNA_NAME_LENGTH + 40];
    int length = snprintf(name, sizeof(name), "motion/%s/%s", clip, file);
    return length > 0 && (size_t)length < sizeof(name)
               ? jnaJoinPath(workspace, name, path, error)
               : jnFail(error, jn_badArgument, "the name of clip '%s' is too long", clip);
}

static jnResult CheckMotion(const Motion* m, const jnaCharacter* c, const char* path, jnError* error)
{
    const jnaArray* p = &m->positions;
    bool fits = p->scalar == jna_float32 && p->dimensions == 3 && p->shape[1] == (size_t)c->vertexCount &&
                p->shape[2] == 3 && m->first >= 0 && m->first <= m->clip.frameCount &&
                p->shape[0] <= (size_t)(m->clip.frameCount - m->first);
    fits = fits && (m->valid.data == NULL || (m->valid.scalar == jna_uint8 && m->valid.count == p->shape[0]));
    return fits ? jn_ok
                : jnFail(error, jn_badData, "%s: does not fit clip '%s' or the character; simulate it again", path,
                      m->clip.name);
}

// *present is false where the clip has no solved frames.
static jnResult OpenMotion(
    const char* workspace, const char* name, const jnaCharacter* c, bool* present, Motion* m, jnError* error)
{
    char path[JNA_PATH_LENGTH], other[JNA_PATH_LENGTH];
    *m = (Motion){0};
    JN_PASS(jnaLoadClip(workspace, name, c, &m->clip, error));
    JN_PASS(jnaOpenClipCache(workspace, &m->clip, c, jna_clipShapes, present, &m->positions, error));
    if (*present) {
        return jn_ok;
    }
    JN_PASS(PathOf(workspace, name, "quasistatic.npy", path, error));
    *present = jnaFileIsThere(path);
    if (!*present) {
        return jn_ok;
    }
    JN_PASS(jnaOpenPositions(path, &m->positions, error));
    JN_PASS(PathOf(workspace, name, "quasistatic_valid.npy", other, error));
    if (jnaFileIsThere(other)) {
        JN_PASS(jnaOpenArray(other, &m->valid, error));
    }
    JN_PASS(PathOf(workspace, name, "quasistatic.json", other, error));
    json_t* root = jnaReadJson(other, 0, NULL);
    m->first = (int)json_integer_value(json_object_get(root, "first"));
    json_decref(root);
    return CheckMotion(m, c, path, error);
}

// At most so many frames, evenly over those that are there.
static jnResult AddFrames(const Motion* m, int most, jnaPairs* pairs, jnError* error)
{
    size_t vertices = (size_t)pairs->vertexCount;
    int total = (int)m->positions.shape[0], count = 0, wanted = total < most ? total : most;
    const float* positions = m->positions.data;
    const uint8_t* valid = m->valid.data;
    jnaPair* list = calloc((size_t)wanted + 1, sizeof(*list));
    if (list == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d frames", wanted);
    }
    for (int i = 0; i < wanted; ++i) {
        int frame = (int)((int64_t)i * total / wanted);
        if (valid == NULL || valid[frame] == jna_poseSolved) {
            list[count++] = PairOf(&m->clip, m->first + frame, positions + (size_t)frame * vertices * 3, jna_pairTest);
        }
    }
    jnResult result = jnaPairs_Add(pairs, count, list, error);
    free(list);
    return result;
}

jnResult jnaGatherFrames(jnaWorkspace* w, int most, jnaPairs* frames, jnError* error)
{
    const jnaManifest* manifest = &w->manifest;
    const jnaCharacter* c;
    Motion motion = {0};
    jnResult result = jn_ok;
    int clips = 0;
    for (int i = 0; i < manifest->clipCount; ++i) {
        clips += manifest->clips[i].role == jna_test;
    }
    JN_PASS(jnaWorkspace_Character(w, &c, error));
    JN_PASS(jnaCreateCharacterPairs(c, manifest->network.skinning, clips * most, frames, error));
    for (int i = 0; i < manifest->clipCount; ++i) {
        bool present = false;
        if (manifest->clips[i].role == jna_test) {
            JN_TRY(OpenMotion(w->path, manifest->clips[i].name, c, &present, &motion, error));
            JN_TRY(present ? AddFrames(&motion, most, frames, error) : jn_ok);
            CloseMotion(&motion);
        }
    }
done:
    CloseMotion(&motion);
    if (result != jn_ok) {
        jnaDestroyPairs(frames);
    }
    return result;
}

jnResult jnaLoadFrame(const char* workspace, const jnaCharacter* c, jnSkinning skinning, const char* clip, int frame,
    jnaPairs* pair, jnError* error)
{
    Motion motion = {0};
    bool present = false;
    *pair = (jnaPairs){0};
    jnResult result = jn_ok;
    JN_TRY(OpenMotion(workspace, clip, c, &present, &motion, error));
    if (!present) {
        JN_TRY(jnFail(error, jn_ioFailed, "clip '%s' has no solved frames; run jounce simulate %s --clip %s", clip,
            workspace, clip));
    }
    int index = frame - motion.first;
    if (index < 0 || (size_t)index >= motion.positions.shape[0]) {
        JN_TRY(jnFail(error, jn_badArgument, "frame %d of clip '%s' is not solved; there are %d to %d", frame, clip,
            motion.first, motion.first + (int)motion.positions.shape[0] - 1));
    }
    JN_TRY(jnaCreateCharacterPairs(c, skinning, 1, pair, error));
    const float* positions = (const float*)motion.positions.data + (size_t)index * 3 * (size_t)c->vertexCount;
    const jnaPair one = PairOf(&motion.clip, frame, positions, jna_pairTest);
    JN_TRY(jnaPairs_Add(pair, 1, &one, error));
done:
    CloseMotion(&motion);
    if (result != jn_ok) {
        jnaDestroyPairs(pair);
    }
    return result;
}
