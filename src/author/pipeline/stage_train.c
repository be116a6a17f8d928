// The stage "train" of a workspace; see stage_train.h.
#include "pipeline/stage_train.h"

#include "base/hash.h"
#include "base/path.h"
#include "base/try.h"
#include "pipeline/engine.h"
#include "pipeline/gather_pairs.h"
#include "workspace/network_store.h"
#include "workspace/stage.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Shapes that somebody brought have no JSON of a simulation. One whose run was killed has none either, until it is
// taken up: what is learned in between is learned otherwise, so this is part of the settings.
static bool IsScanned(const jnaWorkspace* w)
{
    bool scanned = !jnaWorkspace_Has(w, "poses/poses.json");
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        const jnaManifestClip* clip = &w->manifest.clips[i];
        scanned = scanned || (clip->role == jna_train && (clip->motion != NULL || clip->shapes != NULL));
    }
    return scanned;
}

// All arrays of a network of a kind.
static void MakeNetworkFiles(jnNetworkKind kind, jnaStage* stage)
{
    static const char* const all[] = {
        "network/network.json", "network/inputs.npy", "network/ranges.npy", "network/parameters.npy", NULL};
    static const char* const ofMaps[] = {"network/lookup_starts.npy", "network/lookups.npy", NULL};
    static const char* const ofComponents[] = {"network/basis.npy", NULL};
    jnaStage_MakeAll(stage, all);
    jnaStage_MakeAll(stage, kind == jn_networkPca ? ofComponents : ofMaps);
}

// What the stage depends on: shapes and motion, whichever are there, and the settings.
static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"character/character.json", "character/positions.npy", "character/weights.npy",
        "poses/poses.npy", "poses/positions.npy", "poses/valid.npy", "poses/kind.npy", "poses/clip.npy",
        "poses/held_out.npy", NULL};
    const jnaWorkspace* w = run->workspace;
    const jnaTrainDef own = jnaWorkspaceTrainDef(w), *def = run->def != NULL ? run->def : &own;
    (void)error;
    jnaStage_ReadAll(stage, w->path, inputs);
    MakeNetworkFiles(def->kind, stage);
    jnaWorkspace_Depend(w, stage);
    jnaStage_Depend(stage,
        "frame skin\nposes with room\nheld out by clip\nkind %d\nepochs %d\npatience %d\nhidden %d\nshared %d\nlayers "
        "%d\ncomponents "
        "%d\nresidual "
        "%.17g\nmap %d\nrate "
        "%.17g\ndecay %.17g\nlocality %.17g\nmirror %d\nseed %llu\n",
        (int)def->kind, def->epochs, def->patience, def->hidden, def->shared, def->layers, def->components,
        def->residual, def->mapSize, def->learningRate, def->decay, def->locality, (int)(def->mirror && !IsScanned(w)),
        (unsigned long long)def->seed);
    if (w->manifest.network.skinning == jn_skinDual) { // what older workspaces did not say is linear
        jnaStage_Depend(stage, "skinning dual\n");
    }
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        if (w->manifest.clips[i].role == jna_train) {
            jnaStage_Depend(stage, "clip %s\n", w->manifest.clips[i].name);
            jnaStage_Read(stage, w->path, "clips/%s/motion.npy", w->manifest.clips[i].name);
            jnaStage_Read(stage, w->path, "clips/%s/quasistatic.npy", w->manifest.clips[i].name);
        }
    }
    return jn_ok;
}

jnaTrainDef jnaWorkspaceTrainDef(const jnaWorkspace* w)
{
    jnaTrainDef def = jnaDefaultTrainDef(w->manifest.network.kind);
    def.epochs = w->manifest.network.epochs;
    return def;
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
static jnResult AddMirrored(
    const jnaWorkspace* w, const jnaCharacter* character, jnaPairs* pairs, jnaNotes* notes, jnError* error)
{
    const jnaManifest* m = &w->manifest;
    int added = 0;
    if (IsScanned(w) || pairs->count > MIRRORED_UP_TO) {
        return jn_ok;
    }
    uint64_t* marks = calloc((size_t)character->jointCount + 1, sizeof(uint64_t));
    for (int j = 0; marks != NULL && j < character->jointCount; ++j) {
        marks[j] = MarkOf(m, character->joints[j].name);
    }
    jnResult result = jn_ok;
    JN_TRY(marks != NULL ? jnaPairs_Mirror(pairs, character, marks, &added, error)
                         : jnFail(error, jn_outOfMemory, "out of memory for the mirrored poses"));
    if (added > 0) {
        jnaNotes_Add(notes, "the character is symmetric: training also uses the mirror images of %d poses", added);
    }
done:
    free(marks);
    return result;
}

// A network that learned from a few imported frames knows their poses; elsewhere it may do harm. Frames of the clips to
// train on that it did not learn from decide.
static jnResult Judge(
    const jnaWorkspace* w, const jnaPairs* pairs, jnaNetwork* network, jnaNotes* notes, jnError* error)
{
    jnaNetworkReport r = {0};
    if (!jnaManifest_IsImported(&w->manifest)) {
        return jn_ok;
    }
    JN_PASS(jnaEvaluateNetwork(network, pairs, NULL, &r, error));
    const jnaSurfaceError *without = &r.skinnedClip, *with = &r.networkClip;
    network->leftOut = with->count > 0 && with->rms >= without->rms;
    if (network->leftOut) {
        jnaNotes_Add(notes,
            "the network is left out: on %d frames of its own clips that were held back it is off by %.2f mm, skinning "
            "alone by %.2f mm; it needs equilibria of more poses",
            with->count, 1e3 * with->rms, 1e3 * without->rms);
    } else if (r.networkTest.count > 0 && r.networkTest.rms >= r.skinnedTest.rms) {
        // Test clips measure and decide nothing: that is for a person.
        jnaNotes_Add(notes,
            "warning: on %d frames of test clips the network is off by %.2f mm, skinning alone by %.2f mm; it needs "
            "equilibria of more poses, or `network: kind: none`",
            r.networkTest.count, 1e3 * r.networkTest.rms, 1e3 * r.skinnedTest.rms);
    }
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    char checkpoint[JNA_PATH_LENGTH];
    jnaWorkspace* w = run->workspace;
    const jnaCharacter* character;
    jnaPairs pairs = {0};
    jnaNetwork network = {0};
    jnaTrainDef def = run->def != NULL ? *(const jnaTrainDef*)run->def : jnaWorkspaceTrainDef(w);
    def.checkpoint = checkpoint;
    def.watch = run->watch;
    jnResult result = jn_ok;
    JN_TRY(jnaWorkspace_Character(w, &character, error));
    JN_TRY(jnaGatherPairs(w, &pairs, error));
    if (def.mirror) {
        JN_TRY(AddMirrored(w, character, &pairs, run->notes, error));
    }
    JN_TRY(jnaMakeNetworkFolder(w->path, error));
    JN_TRY(jnaJoinPath(w->path, "network/checkpoint", checkpoint, error));
    JN_TRY(jnaTrainNetwork(character, &pairs, &def, &network, run->notes, error));
    JN_TRY(Judge(w, &pairs, &network, run->notes, error));
    JN_TRY(jnaSaveNetwork(w->path, &network, error));
    (void)unlink(checkpoint);
    jnaNotes_Add(run->notes, "%d poses, best epoch %d of %d, validation %.3f mm", pairs.count, network.bestEpoch,
        network.epochs, 1000 * network.validation);
done:
    jnaDestroyNetwork(&network);
    jnaDestroyPairs(&pairs);
    return result;
}

const jnaStageKind jnaTrainStage = {"train", Describe, Run};
