// A workspace opened for simulation: what is loaded, and what the outcome depends on.
#include "pipeline/simulation.h"

#include "base/hash.h"
#include "base/path.h"
#include "base/try.h"
#include "pipeline/shake.h"
#include "pipeline/stage_volume.h"
#include "workspace/clip_parts.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// Part of the name of every shard: raised when the solver gives other bytes, so that a release alone keeps what was
// solved.
#define SOLVER_VERSION "0.2.0"

static uint64_t HashCharacter(const jnaCharacter* c, uint64_t hash)
{
    for (int j = 0; j < c->jointCount; ++j) {
        const jnaJoint* joint = &c->joints[j];
        hash = jnaHash(&joint->parent, sizeof(joint->parent), hash);
        hash = jnaHash(joint->translation, sizeof(joint->translation), hash);
        hash = jnaHash(joint->rotation, sizeof(joint->rotation), hash);
        hash = jnaHash(joint->scale, sizeof(joint->scale), hash);
        hash = jnaHash(joint->inverseBind, sizeof(joint->inverseBind), hash);
    }
    hash = jnaHash(c->positions, (size_t)c->vertexCount * 3 * sizeof(float), hash);
    return jnaHash(c->influences, (size_t)c->vertexCount * sizeof(*c->influences), hash);
}

static uint64_t HashVolume(const jnaVolume* v, uint64_t hash)
{
    size_t nodes = (size_t)v->nodeCount, elements = (size_t)v->tetrahedronCount, skin = (size_t)v->vertexCount;
    size_t influences = (size_t)v->rowStarts[nodes];
    hash = jnaHash(v->nodes, nodes * 3 * sizeof(double), hash);
    hash = jnaHash(v->tetrahedra, elements * 4 * sizeof(int32_t), hash);
    hash = jnaHash(v->skinTetrahedra, skin * sizeof(int32_t), hash);
    hash = jnaHash(v->skinWeights, skin * 4 * sizeof(double), hash);
    hash = jnaHash(v->skinOffsets, skin * 3 * sizeof(double), hash);
    hash = v->skinBlend != NULL ? jnaHash(v->skinBlend, skin * sizeof(double), hash) : hash;
    hash = v->skinKinds != NULL ? jnaHash(v->skinKinds, skin, hash) : hash;
    hash = jnaHash(v->rowStarts, (nodes + 1) * sizeof(int32_t), hash);
    hash = jnaHash(v->joints, influences * sizeof(uint16_t), hash);
    hash = jnaHash(v->weights, influences * sizeof(float), hash);
    hash = jnaHash(v->heldBy, nodes * sizeof(int32_t), hash);
    hash = jnaHash(v->holdStrength, nodes * sizeof(float), hash);
    hash = jnaHash(v->regions, elements, hash);
    return jnaHash(v->materials, (size_t)v->materialCount * sizeof(*v->materials), hash);
}

// The rule by which contact is resolved and the path chosen: 4, several rounds on the way, bones that give way where
// the pose leaves much flesh no room, a firm guard of tetrahedra.
#define CONTACT_RULE 4.0

// still: of a pose alone. What has no part in it counts as the default, so that another step in time solves no pose
// again.
static uint64_t HashSettings(const jnaFleshDef* settings, bool still, uint64_t hash)
{
    jnaFleshDef own = *settings;
    const jnaFleshDef standard = jnaDefaultFleshDef(own.volume, own.character), *def = &own;
    if (still) {
        own.damping = standard.damping;
        own.drag = standard.drag;
        // These whatever the default is: poses outlive a new one.
        own.integrator = jna_bdf2;
        own.stepTolerance = 5e-5;
        own.substeps = standard.substeps;
    }
    const double numbers[] = {def->gravity[0], def->gravity[1], def->gravity[2], def->contact, def->damping, def->drag,
        def->integrator, def->substeps, def->pathSteps, def->poseTolerance, def->stepTolerance, JNA_EFFORTS,
        CONTACT_RULE};
    // The rule by which motion starts and is solved: 5, as fast as the skin, to second order; another factor after a
    // while; again from an equilibrium where there is no room and where a step failed.
    const double start = 5;
    hash = jnaHash(numbers, sizeof(numbers), hash);
    hash = still ? hash : jnaHash(&start, sizeof(start), hash);
    return jnaHash(SOLVER_VERSION, strlen(SOLVER_VERSION), hash);
}

// Bones and materials are made by another verb: those of a manifest that was edited since would be silently old.
static jnResult CheckInside(const jnaSimulation* s, jnError* error)
{
    const jnaVolume* v = s->volume;
    if (v->rowStarts == NULL || v->joints == NULL || v->weights == NULL || v->heldBy == NULL ||
        v->holdStrength == NULL || v->regions == NULL || v->materials == NULL) {
        return jnFail(error, jn_badData, "%s: its flesh has no bones or materials; run jounce tetrahedralize first",
            s->workspace->path);
    }
    if (v->vertexCount != s->character->vertexCount || v->jointCount != s->character->jointCount) {
        return jnFail(error, jn_badData, "%s: its flesh is that of another character; run jounce tetrahedralize again",
            s->workspace->path);
    }
    return jnaCheckInside(s->workspace, error);
}

jnResult jnaCreateSimulation(jnaWorkspace* workspace, jnaSimulation** simulation, jnError* error)
{
    *simulation = NULL;
    jnaSimulation* s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", workspace->path);
    }
    pthread_mutex_init(&s->mutex, NULL);
    s->workspace = workspace;
    s->manifest = &workspace->manifest;
    jnResult result = jn_ok;
    JN_TRY(jnaWorkspace_Character(workspace, &s->character, error));
    JN_TRY(jnaWorkspace_Clips(workspace, &s->clips, error));
    JN_TRY(jnaWorkspace_Volume(workspace, &s->volume, error));
    JN_TRY(CheckInside(s, error));
    s->fleshDef = s->manifest->flesh;
    s->fleshDef.volume = s->volume;
    s->fleshDef.character = s->character;
    uint64_t hash = HashVolume(s->volume, HashCharacter(s->character, 0));
    s->poseHash = HashSettings(&s->fleshDef, true, hash);
    s->motionHash = HashSettings(&s->fleshDef, false, hash);
    s->solve = jnaFleshSolve(s);
    *simulation = s;
    return jn_ok;
done:
    jnaCloseSimulation(s);
    return result;
}

jnResult jnaOpenSimulation(const char* path, jnaSimulation** simulation, jnError* error)
{
    jnaWorkspace* workspace;
    *simulation = NULL;
    JN_PASS(jnaOpenWorkspace(path, &workspace, error));
    jnResult result = jn_ok;
    JN_TRY(jnaLockWorkspace(path, "jounce simulate", false, &workspace->lock, error));
    JN_TRY(jnaCreateSimulation(workspace, simulation, error));
    (*simulation)->owned = true;
    return jn_ok;
done:
    jnaCloseWorkspace(workspace);
    return result;
}

void jnaCloseSimulation(jnaSimulation* s)
{
    if (s == NULL) {
        return;
    }
    jnaDestroyFlesh(s->flesh);
    for (int i = 0; i < JNA_SHAKES; ++i) {
        jnaDestroyClip(&s->shakes[i]);
    }
    if (s->owned) {
        jnaCloseWorkspace(s->workspace);
    }
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

int jnaSimulation_FindClip(const jnaSimulation* s, const char* name)
{
    for (int i = 0; i < s->manifest->clipCount; ++i) {
        if (strcmp(s->manifest->clips[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int jnaSimulation_ClipCount(const jnaSimulation* s)
{
    return s->manifest->clipCount;
}

const jnaClip* jnaSimulation_Clip(const jnaSimulation* s, int index)
{
    int shake = index - s->manifest->clipCount;
    return shake < 0 ? &s->clips[index] : &s->shakes[shake];
}

void jnaSimulation_Folder(const jnaSimulation* s, int index, char folder[JNA_NAME_LENGTH + 16])
{
    int shake = index - s->manifest->clipCount;
    if (shake < 0) {
        snprintf(folder, JNA_NAME_LENGTH + 16, "motion/%s", s->manifest->clips[index].name);
    } else {
        jnaShakeFolder(shake, folder);
    }
}

jnResult jnaSimulation_ListShakes(jnaSimulation* s, jnaClipRange ranges[JNA_SHAKES], int* count, jnError* error)
{
    const jnaModes* modes;
    JN_PASS(jnaWorkspace_Modes(s->workspace, &modes, error));
    *count = modes->modeCount > 0 ? JNA_SHAKES : 0;
    for (int i = 0; i < *count; ++i) {
        if (s->shakes[i].frameCount == 0) {
            JN_PASS(jnaMakeShake(s->workspace, i, &s->shakes[i], error));
        }
        ranges[i] = (jnaClipRange){s->manifest->clipCount + i, 0, s->shakes[i].frameCount};
    }
    return jn_ok;
}

// Poses by hand, from the file that the manifest names.
static jnResult ReadHand(const jnaSimulation* s, int* count, float** rotations, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaArray array;
    *count = 0;
    *rotations = NULL;
    if (s->manifest->poseFile == NULL) {
        return jn_ok;
    }
    JN_PASS(jnaJoinPath(s->workspace->path, s->manifest->poseFile, path, error));
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    bool fits = (array.scalar == jna_float32 || array.scalar == jna_float64) && array.dimensions == 3 &&
                array.shape[1] == (size_t)s->character->jointCount && array.shape[2] == 4 && array.shape[0] < 10000000;
    *rotations = fits ? malloc(array.count * sizeof(float) + 1) : NULL;
    if (!fits) {
        char text[96];
        jnaArray_Describe(&array, text, sizeof(text));
        result = jnFail(error, jn_badData, "%s: is %s; poses are (poses, %d, 4), quaternions", path, text,
            s->character->jointCount);
    } else if (*rotations == NULL) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    } else {
        *count = (int)array.shape[0];
        for (size_t i = 0; i < array.count; ++i) {
            (*rotations)[i] = (float)jnaArray_Get(&array, i);
        }
    }
    jnaCloseArray(&array);
    return result;
}

jnResult jnaSimulation_Part(const jnaSimulation* s, int clip, jnaClipRange* range, jnError* error)
{
    range->clip = clip;
    return jnaManifestClip_Part(
        &s->manifest->clips[clip], s->clips[clip].frameCount, &range->first, &range->count, error);
}

jnResult jnaSimulation_SamplePoses(
    const jnaSimulation* s, int count, jnaPoseSet* poses, jnaNotes* notes, jnError* error)
{
    jnaPoseDef def = s->manifest->poses;
    def.character = s->character;
    jnaClipParts parts = {0};
    jnaAnatomy anatomy = {0};
    float* hand;
    JN_PASS(ReadHand(s, &def.handCount, &hand, error));
    jnResult result = jn_ok;
    JN_TRY(jnaCutClips(s->workspace, &parts, error));
    jnaClipParts_KeepTraining(&parts);
    def.clipCount = parts.count;
    def.clips = parts.clips;
    def.hand = hand;
    JN_TRY(jnaFindAnatomy(s->character, s->volume, &anatomy, error));
    def.anatomy = &anatomy;
    def.count = count > 0 ? count : jnaManifest_PoseCount(s->manifest);
    JN_TRY(jnaCreatePoses(&def, poses, notes, error));
    for (int i = 0; i < poses->count; ++i) {
        if (poses->clips[i] >= 0) {
            poses->frames[i] += parts.first[poses->clips[i]];
        }
    }
done:
    jnaDestroyAnatomy(&anatomy);
    jnaReleaseArena(&parts.arena);
    free(hand);
    return result;
}
