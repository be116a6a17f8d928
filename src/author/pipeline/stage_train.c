// The stage "train" of a workspace; see stage_train.h.
#include "pipeline/stage_train.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/path.h"
#include "pipeline/gather_pairs.h"
#include "workspace/network_store.h"
#include "workspace/stage.h"
#include "workspace/store.h"
#include "workspace/volume_store.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the stage depends on: shapes and motion, whichever are there, and the settings.
typedef struct TrainStage {
    jnaStage stage;
    const char* inputs[8 + JNA_MAX_CLIPS];
    char motions[JNA_MAX_CLIPS][JNA_NAME_LENGTH + 24];
    char settings[512 + JNA_MAX_CLIPS * (JNA_NAME_LENGTH + 4)];
} TrainStage;

static bool Exists(const char* workspace, const char* name)
{
    char path[JNA_PATH_LENGTH];
    return jnaJoinPath(workspace, name, path, NULL) == jn_ok && access(path, F_OK) == 0;
}

static void DescribeStage(const char* workspace, const jnaManifest* m, const jnaTrainDef* def, TrainStage* s)
{
    static const char* const files[] = {"character/character.json", "character/positions.npy", "character/weights.npy",
        "poses/poses.npy", "poses/positions.npy", "poses/valid.npy", "poses/kind.npy", "poses/clip.npy"};
    static const char* const outputs[] = {"network/network.json", "network/parameters.npy"};
    int count = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        if (Exists(workspace, files[i])) {
            s->inputs[count++] = files[i];
        }
    }
    size_t used = (size_t)snprintf(s->settings, sizeof(s->settings),
        "kind %d\nepochs %d\npatience %d\nhidden %d\nshared %d\nlayers %d\ncomponents %d\nresidual %.17g\nmap %d\nrate "
        "%.17g\ndecay %.17g\nlocality %.17g\nmirror %d\nseed %llu\n",
        (int)def->kind, def->epochs, def->patience, def->hidden, def->shared, def->layers, def->components,
        def->residual, def->mapSize, def->learningRate, def->decay, def->locality, (int)def->mirror,
        (unsigned long long)def->seed);
    for (int i = 0; i < m->clipCount; ++i) {
        used += (size_t)snprintf(
            s->settings + used, sizeof(s->settings) - used, "%s %d\n", m->clips[i].name, (int)m->clips[i].role);
        snprintf(s->motions[i], sizeof(s->motions[i]), "clips/%s/motion.npy", m->clips[i].name);
        if (Exists(workspace, s->motions[i])) {
            s->inputs[count++] = s->motions[i];
        }
    }
    s->stage = (jnaStage){"train", count, s->inputs, s->settings, 2, outputs, 0};
}

// Past so many poses the mirrored ones tell little that is new.
enum { MIRRORED_UP_TO = 2000 };

// What the manifest says of a joint alone, flesh and bone, as a number; 0 for nothing.
static uint64_t MarkOf(const jnaManifest* m, const char* joint)
{
    uint64_t mark = 0;
    for (int i = 0; i < m->materials.jointCount; ++i) {
        const jnaJointMaterial* flesh = &m->materials.joints[i];
        const double numbers[3] = {flesh->youngFactor, flesh->densityFactor, flesh->poisson};
        mark = strcmp(flesh->joint, joint) == 0 ? jnaHash(numbers, sizeof(numbers), mark) : mark;
    }
    for (int i = 0; i < m->bones.jointCount; ++i) {
        const jnaJointBone* bone = &m->bones.joints[i];
        const double numbers[3] = {bone->radius, bone->length, bone->rigid};
        mark = strcmp(bone->joint, joint) == 0 ? jnaHash(numbers, sizeof(numbers), mark) : mark;
    }
    return mark;
}

// Poses in the mirror, where all shapes are simulated (a scan has a left and a right of its own) and flesh and bones
// are the same on both sides as far as the manifest says.
static jnResult AddMirrored(const char* workspace, const jnaManifest* m, const jnaCharacter* character, jnaPairs* pairs,
    jnaNotes* notes, jnError* error)
{
    int added = 0;
    bool scanned = !Exists(workspace, "poses/poses.json");
    for (int i = 0; i < m->clipCount; ++i) {
        char name[JNA_NAME_LENGTH + 24];
        snprintf(name, sizeof(name), "clips/%s/motion.npy", m->clips[i].name);
        scanned = scanned || Exists(workspace, name);
    }
    if (scanned || pairs->count > MIRRORED_UP_TO) {
        return jn_ok;
    }
    uint64_t* marks = calloc((size_t)character->jointCount + 1, sizeof(uint64_t));
    for (int j = 0; marks != NULL && j < character->jointCount; ++j) {
        marks[j] = MarkOf(m, character->joints[j].name);
    }
    jnResult result = marks != NULL ? jnaPairs_Mirror(pairs, character, marks, &added, error)
                                    : jnFail(error, jn_outOfMemory, "out of memory for the poses in the mirror");
    if (result == jn_ok && added > 0) {
        jnaNotes_Add(notes, "the character is symmetric: %d poses are learned from in the mirror too", added);
    }
    free(marks);
    return result;
}

// Frames of each test clip that are measured, and poses of each set whose soundness is.
enum { FRAMES_MEASURED = 150, SOUND_MEASURED = 40 };

static jnResult Measure(const char* workspace, const jnaManifest* m, const jnaCharacter* character,
    const jnaPairs* pairs, const jnaNetwork* network, jnaNetworkReport* report, jnError* error)
{
    jnaPairs frames = {0};
    jnaVolume volume = {0};
    jnResult result = jnaGatherFrames(workspace, character, m, FRAMES_MEASURED, &frames, error);
    result = result == jn_ok ? jnaEvaluateNetwork(network, pairs, &frames, report, error) : result;
    if (result == jn_ok && Exists(workspace, "volume/volume.json")) {
        const jnaPairs* sets[2] = {pairs, &frames};
        result = jnaLoadVolume(workspace, &volume, error);
        if (result == jn_ok) {
            result =
                jnaMeasureSoundness(&volume, character, network, sets, 2, SOUND_MEASURED, report->soundness, error);
        }
    }
    jnaDestroyVolume(&volume);
    jnaDestroyPairs(&frames);
    return result;
}

static jnResult Train(const char* workspace, const jnaManifest* m, const jnaTrainDef* def, jnaNetworkReport* report,
    jnaNotes* notes, jnError* error)
{
    char checkpoint[JNA_PATH_LENGTH];
    jnaCharacter character;
    jnaPairs pairs = {0};
    jnaNetwork network = {0};
    jnaTrainDef own = *def;
    jnResult result = jnaLoadCharacter(workspace, &character, error);
    if (result != jn_ok) {
        return result;
    }
    result = jnaGatherPairs(workspace, &character, m, &pairs, error);
    result = result == jn_ok && def->mirror ? AddMirrored(workspace, m, &character, &pairs, notes, error) : result;
    result = result == jn_ok ? jnaMakeNetworkFolder(workspace, error) : result;
    result = result == jn_ok ? jnaJoinPath(workspace, "network/checkpoint", checkpoint, error) : result;
    own.checkpoint = checkpoint;
    result = result == jn_ok ? jnaTrainNetwork(&character, &pairs, &own, &network, notes, error) : result;
    result = result == jn_ok ? Measure(workspace, m, &character, &pairs, &network, report, error) : result;
    result = result == jn_ok ? jnaSaveNetwork(workspace, &network, report, error) : result;
    if (result == jn_ok) {
        (void)unlink(checkpoint);
        jnaNotes_Add(notes, "%d poses, best epoch %d of %d, validation %.3f mm", pairs.count, network.bestEpoch,
            network.epochs, 1000 * network.validation);
    }
    jnaDestroyNetwork(&network);
    jnaDestroyPairs(&pairs);
    jnaDestroyCharacter(&character);
    return result;
}

jnResult jnaMeasureWorkspace(const char* workspace, jnaNetworkReport* report, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaManifest manifest = {0};
    jnaCharacter character = {0};
    jnaPairs pairs = {0};
    jnaNetwork network = {0};
    *report = (jnaNetworkReport){0};
    jnResult result = jnaJoinPath(workspace, "manifest.yaml", path, error);
    result = result == jn_ok ? jnaReadManifest(path, &manifest, error) : result;
    result = result == jn_ok ? jnaLoadCharacter(workspace, &character, error) : result;
    result = result == jn_ok ? jnaLoadNetwork(workspace, &network, error) : result;
    if (result == jn_ok && network.vertexCount != character.vertexCount) {
        result = jnFail(error, jn_badData, "%s/network: is of another character; run jounce train again", workspace);
    }
    result = result == jn_ok ? jnaGatherPairs(workspace, &character, &manifest, &pairs, error) : result;
    result = result == jn_ok ? Measure(workspace, &manifest, &character, &pairs, &network, report, error) : result;
    result = result == jn_ok ? jnaSaveNetworkDescription(workspace, &network, report, error) : result;
    jnaDestroyNetwork(&network);
    jnaDestroyPairs(&pairs);
    jnaDestroyCharacter(&character);
    jnaDestroyManifest(&manifest);
    return result;
}

jnResult jnaNetworkIsStale(const char* workspace, const jnaManifest* manifest, const jnaTrainDef* def, bool* stale,
    char* reason, jnError* error)
{
    TrainStage* stage = calloc(1, sizeof(*stage));
    if (stage == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory");
    }
    DescribeStage(workspace, manifest, def, stage);
    jnResult result = jnaStage_IsStale(workspace, &stage->stage, stale, reason, error);
    free(stage);
    return result;
}

jnResult jnaTrainWorkspace(const char* workspace, const jnaTrainDef* def, bool force, bool* made,
    jnaNetworkReport* report, jnaNotes* notes, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaManifest manifest = {0};
    bool stale = true;
    *made = false;
    *report = (jnaNetworkReport){0};
    jnResult result = jnaJoinPath(workspace, "manifest.yaml", path, error);
    result = result == jn_ok ? jnaReadManifest(path, &manifest, error) : result;
    if (result != jn_ok) {
        return result;
    }
    TrainStage* stage = calloc(1, sizeof(*stage));
    result = stage != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory");
    if (result == jn_ok) {
        DescribeStage(workspace, &manifest, def, stage);
        result = jnaStage_IsStale(workspace, &stage->stage, &stale, NULL, error);
    }
    if (result == jn_ok && (stale || force)) {
        double started = jnaWallClock();
        *made = true;
        result = Train(workspace, &manifest, def, report, notes, error);
        stage->stage.seconds = jnaWallClock() - started;
        result = result == jn_ok ? jnaStage_Record(workspace, &stage->stage, error) : result;
    }
    free(stage);
    jnaDestroyManifest(&manifest);
    return result;
}
