// The stage "measure": errors of the trained network on poses that it did not learn from, and on the solved frames of
// test clips.
//
// It is a stage of its own because frames may be solved after the training: they change what is measured, not what is
// learned.
#include "base/try.h"
#include "learn/network.h"
#include "pipeline/engine.h"
#include "pipeline/gather_pairs.h"
#include "workspace/network_store.h"
#include "workspace/stage.h"

#include "runtime/for_author.h"

// Frames of each test clip that are measured, and poses of each set whose soundness is.
enum { FRAMES_MEASURED = 150, SOUND_MEASURED = 40 };

static jnResult Measure(
    jnaWorkspace* w, const jnaPairs* pairs, const jnaNetwork* network, jnaNetworkReport* report, jnError* error)
{
    jnaPairs frames = {0};
    const jnaCharacter* character;
    const jnaVolume* volume;
    jnResult result = jn_ok;
    JN_TRY(jnaWorkspace_Character(w, &character, error));
    JN_TRY(jnaGatherFrames(w, FRAMES_MEASURED, &frames, error));
    JN_TRY(jnaEvaluateNetwork(network, pairs, &frames, report, error));
    if (jnaWorkspace_Has(w, "volume/volume.json")) {
        const jnaPairs* sets[2] = {pairs, &frames};
        JN_TRY(jnaWorkspace_Volume(w, &volume, error));
        const jnaPairSets all = {sets, 2, SOUND_MEASURED};
        JN_TRY(jnaMeasureSoundness(volume, character, network, &all, report->soundness, error));
    }
done:
    jnaDestroyPairs(&frames);
    return result;
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const network[] = {"network/network.json", "network/parameters.npy", NULL};
    // Records stand for all that their stages made.
    static const char* const others[] = {"stages/import.json", "stages/volume.json", "stages/inside.json",
        "poses/poses.npy", "poses/positions.npy", "poses/valid.npy", "poses/kind.npy", "poses/clip.npy",
        "poses/held_out.npy", "network/inputs.npy", "network/ranges.npy", "network/basis.npy",
        "network/lookup_starts.npy", "network/lookups.npy", NULL};
    const jnaWorkspace* w = run->workspace;
    (void)error;
    jnaStage_ReadAll(stage, NULL, network);
    jnaStage_ReadAll(stage, w->path, others);
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        const jnaManifestClip* clip = &w->manifest.clips[i];
        jnaStage_Read(stage, w->path, "clips/%s/motion.npy", clip->name);
        jnaStage_Read(stage, w->path, "clips/%s/quasistatic.npy", clip->name);
        if (clip->role == jna_test) {
            jnaStage_Depend(stage, "test %s\n", clip->name);
            jnaStage_Read(stage, w->path, "motion/%s/quasistatic.npy", clip->name);
            jnaStage_Read(stage, w->path, "motion/%s/quasistatic_valid.npy", clip->name);
            jnaStage_Read(stage, w->path, "motion/%s/quasistatic.json", clip->name);
        }
    }
    jnaStage_Make(stage, "network/errors.json");
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    jnaWorkspace* w = run->workspace;
    const jnaCharacter* character;
    jnaPairs pairs = {0};
    jnaNetwork network = {0};
    jnaNetworkReport local, *report = run->report != NULL ? run->report : &local;
    *report = (jnaNetworkReport){0};
    jnResult result = jn_ok;
    JN_TRY(jnaWorkspace_Character(w, &character, error));
    JN_TRY(jnaLoadNetwork(w->path, &network, error));
    if (network.vertexCount != character->vertexCount) {
        JN_TRY(jnFail(error, jn_badData, "%s/network: is of another character; run jounce train again", w->path));
    }
    JN_TRY(jnaGatherPairs(w, &pairs, error));
    JN_TRY(Measure(w, &pairs, &network, report, error));
    JN_TRY(jnaSaveNetworkErrors(w->path, report, error));
done:
    jnaDestroyNetwork(&network);
    jnaDestroyPairs(&pairs);
    return result;
}

const jnaStageKind jnaMeasureStage = {"measure", Describe, Run};
