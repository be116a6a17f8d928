// Clips from other files than the character's own.
//
// A file whose skeleton has the character's joints, hung and resting alike, gives its local transforms as
// they are, with translations brought to the character's size. Any other skeleton, and BVH always, is
// retargeted.
#include "base/arena.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// Rest rotations of the same skeleton in two exports agree to rounding; five degrees apart is another rest
// pose.
#define REST_TOLERANCE (5 * JNA_PI / 180)
// A skeleton that has fewer of the character's joints than this is another one.
#define LEAST_SHARE 0.6

static int FindByName(const jnaCharacter* skeleton, const char* name)
{
    for (int j = 0; j < skeleton->jointCount; ++j) {
        if (strcmp(skeleton->joints[j].name, name) == 0) {
            return j;
        }
    }
    return -1;
}

static double AngleBetween(const float* a, const float* b)
{
    double cosine = 0;
    for (int i = 0; i < 4; ++i) {
        cosine += (double)a[i] * (double)b[i];
    }
    return 2 * acos(fmin(fabs(cosine), 1));
}

// Fills match ([character joints], source joint or -1) and says whether the source is the same skeleton.
static bool IsSameSkeleton(const jnaCharacter* source, const jnaCharacter* character, int* match, double* ratio)
{
    int found = 0;
    double mine = 0, theirs = 0;
    bool same = true;
    for (int j = 0; j < character->jointCount; ++j) {
        const jnaJoint* joint = &character->joints[j];
        match[j] = FindByName(source, joint->name);
        if (match[j] < 0) {
            continue;
        }
        const jnaJoint* other = &source->joints[match[j]];
        found++;
        if (joint->parent >= 0) {
            same = same && other->parent == match[joint->parent];
            for (int i = 0; i < 3; ++i) {
                mine += fabs((double)joint->translation[i]);
                theirs += fabs((double)other->translation[i]);
            }
        }
        same = same && AngleBetween(joint->rotation, other->rotation) < REST_TOLERANCE;
    }
    *ratio = theirs > 0 && mine > 0 ? mine / theirs : 1;
    return same && found >= LEAST_SHARE * character->jointCount;
}

static jnResult CopyClip(
    const jnaClip* from, const int* match, double ratio, const jnaCharacter* character, jnaClip* to, jnError* error)
{
    to->frameCount = from->frameCount;
    to->jointCount = character->jointCount;
    to->rate = from->rate;
    to->looping = from->looping;
    JN_PASS(jnaClip_Allocate(to, from->scales != NULL, error));
    for (int f = 0; f < to->frameCount; ++f) {
        for (int j = 0; j < to->jointCount; ++j) {
            const jnaJoint* rest = &character->joints[j];
            size_t entry = (size_t)f * (size_t)to->jointCount + (size_t)j;
            size_t other = (size_t)f * (size_t)from->jointCount + (size_t)(match[j] >= 0 ? match[j] : 0);
            bool matched = match[j] >= 0;
            memcpy(
                to->rotations + 4 * entry, matched ? from->rotations + 4 * other : rest->rotation, 4 * sizeof(float));
            if (to->scales != NULL) {
                memcpy(to->scales + 3 * entry, matched ? from->scales + 3 * other : rest->scale, 3 * sizeof(float));
            }
            for (size_t i = 0; i < 3; ++i) {
                to->translations[3 * entry + i] =
                    matched ? (float)(ratio * (double)from->translations[3 * other + i]) : rest->translation[i];
            }
        }
    }
    return jn_ok;
}

// The animated part of a scene as a skeleton of its own.
static jnResult MakeSkeleton(
    const char* path, jnaScene* scene, jnaUp up, jnaRig* rig, jnaCharacter* skeleton, jnError* error)
{
    bool* wanted = calloc((size_t)scene->nodeCount, sizeof(*wanted));
    if (wanted == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (int a = 0; a < scene->animationCount; ++a) {
        for (int c = 0; c < scene->animations[a].channelCount; ++c) {
            wanted[scene->animations[a].channels[c].node] = true;
        }
    }
    jnResult result = jnaSettleUpAxis(path, scene, up, wanted, rig, NULL, error);
    free(wanted);
    if (result != jn_ok) {
        return result;
    }
    for (int j = 0; j < rig->jointCount; ++j) {
        rig->joints[j].inverseBind = jnaAffine_Identity();
    }
    skeleton->jointCount = rig->jointCount;
    result = jnaCharacter_Allocate(skeleton, false, error);
    if (result == jn_ok) {
        jnaFillJoints(scene, rig, 1, skeleton->joints);
    }
    return result;
}

// What clips are read from, and whom they are for.
typedef struct Import {
    const char* path;
    const jnaImportDef* def;
    const jnaRetargetDef* retarget;
    const jnaCharacter* character;
    jnaImportBudget* budget;
} Import;

// Counts a clip that is about to be brought to the character's joints.
static jnResult TakeConverted(const Import* to, const jnaClip* from, jnError* error)
{
    double frames = from->frameCount * fmax(1, from->rate > 0 ? to->def->rate / from->rate : 1);
    JN_PASS(jnaWatch_Tell(&to->def->watch, 0, error));
    return jnaImportBudget_TakeClip(to->budget, to->path, frames, 10.0 * to->character->jointCount, error);
}

static jnResult ConvertClips(const Import* to, const jnaCharacter* skeleton, jnaClipList* read, jnaClipList* clips,
    jnaNotes* notes, jnError* error)
{
    const jnaCharacter* character = to->character;
    jnaArena arena = {0};
    int* match = jnaArena_Take(&arena, character->jointCount, sizeof(*match));
    clips->clips = jnaArena_Give(&arena, read->count, sizeof(jnaClip));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, to->path, error));
    double ratio;
    bool same = IsSameSkeleton(skeleton, character, match, &ratio);
    for (int c = 0; c < read->count; ++c) {
        JN_TRY(TakeConverted(to, &read->clips[c], error));
        jnaClip* clip = &clips->clips[clips->count++];
        jnaSource source = {.path = to->path, .skeleton = *skeleton, .clip = read->clips[c], .watch = &to->def->watch};
        JN_TRY(same ? CopyClip(&source.clip, match, ratio, character, clip, error)
                    : jnaRetarget(&source, to->retarget, character, to->def->rate, clip, c == 0 ? notes : NULL, error));
        memcpy(clip->name, read->clips[c].name, sizeof(clip->name));
    }
    for (int j = 0; same && j < character->jointCount; ++j) {
        if (match[j] < 0) {
            jnaNotes_Add(notes, "joint '%s' is not in %s and keeps its rest pose", character->joints[j].name, to->path);
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// Whether the clips of a skeleton are taken as they are.
static jnResult LookAtSkeleton(const Import* to, const jnaCharacter* skeleton, bool* same, jnError* error)
{
    double ratio;
    int* match = malloc(((size_t)to->character->jointCount + 1) * sizeof(*match));
    *same = match != NULL && IsSameSkeleton(skeleton, to->character, match, &ratio);
    free(match);
    return match != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", to->path);
}

static jnResult ImportScene(const Import* to, jnaClipList* clips, jnaNotes* notes, jnError* error)
{
    jnaScene scene = {0};
    jnaRig rig = {0};
    jnaCharacter skeleton = {0};
    jnaClipList read = {0};
    jnaSceneLimits limits = {to->def->memoryLimit, to->def->timeLimit, to->def->watch, notes};
    jnResult result = jn_ok;
    JN_TRY(jnaReadScene(to->path, &limits, &scene, error));
    if (scene.animationCount == 0) {
        JN_TRY(jnFail(error, jn_badData, "%s: has no animation", to->path));
    }
    JN_TRY(MakeSkeleton(to->path, &scene, to->def->up, &rig, &skeleton, error));
    bool same = false;
    JN_TRY(LookAtSkeleton(to, &skeleton, &same, error));
    const jnaSampling sampling = {.scene = &scene,
        .rig = &rig,
        .scale = 1,
        .rate = to->def->rate,
        .notes = notes,
        .loops = same ? to->def : NULL,
        .budget = to->budget,
        .watch = &to->def->watch};
    JN_TRY(jnaSampleAnimations(to->path, &sampling, &read, error));
    if (read.count == 0) {
        JN_TRY(jnFail(error, jn_badData, "%s: none of its animations has a length", to->path));
    }
    JN_TRY(ConvertClips(to, &skeleton, &read, clips, notes, error));
done:
    jnaDestroyClipList(&read);
    jnaDestroyCharacter(&skeleton);
    jnaDestroyRig(&rig);
    jnaDestroyScene(&scene);
    return result;
}

static jnResult ImportBvh(const Import* to, jnaClipList* clips, jnaNotes* notes, jnError* error)
{
    jnaSource source = {0};
    jnResult result = jn_ok;
    const jnaSceneLimits limits = {to->def->memoryLimit, to->def->timeLimit, to->def->watch, notes};
    JN_TRY(jnaReadBvhConfined(to->path, &limits, &source, error));
    clips->clips = calloc(1, sizeof(jnaClip));
    if (clips->clips == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "%s: out of memory", to->path));
    }
    clips->count = 1;
    source.watch = &to->def->watch;
    JN_TRY(TakeConverted(to, &source.clip, error));
    JN_TRY(jnaRetarget(&source, to->retarget, to->character, to->def->rate, clips->clips, notes, error));
    jnaNameByFile(to->path, clips->clips->name);
done:
    jnaDestroySource(&source);
    return result;
}

jnResult jnaImportClips(const char* path, const jnaImportDef* def, const jnaRetargetDef* retarget,
    const jnaCharacter* character, jnaClipList* clips, jnaNotes* notes, jnError* error)
{
    *clips = (jnaClipList){0};
    if (!(def->rate >= 1 && def->rate <= 1000)) {
        return jnFail(error, jn_badArgument, "the rate is %g Hz; it must lie between 1 and 1000", def->rate);
    }
    jnaImportBudget own = {0};
    const Import to = {path, def, retarget, character, def->budget != NULL ? def->budget : &own};
    jnaImportBudget_AddFile(to.budget, path);
    bool bvh = jnaHasEnding(path, ".bvh");
    jnResult result = jn_ok;
    JN_TRY(bvh ? ImportBvh(&to, clips, notes, error) : ImportScene(&to, clips, notes, error));
    JN_TRY(jnaCheckClipBounds(path, clips, error));
done:
    if (result != jn_ok) {
        jnaDestroyClipList(clips);
    }
    return result;
}
