// The stage "modes" of a workspace: the vibration modes of its flesh.
//
// Flesh vibrates about the pose that it is in, and a body is seldom in its rest pose. So the flesh is brought to
// equilibrium in the mean pose of the clips first; its modes there hold better in all of them.
#include "pipeline/engine.h"
#include "pipeline/posed_flesh.h"

#include "base/path.h"
#include "base/try.h"
#include "workspace/modes_store.h"

#include "runtime/for_author.h"

#include <stdio.h>

// The arrays of the clips that the mean pose is of: those to train on.
static void ReadClips(const jnaWorkspace* w, jnaStage* stage)
{
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        const jnaManifestClip* clip = &w->manifest.clips[i];
        if (clip->role == jna_train) {
            jnaStage_Read(stage, w->path, "clips/%s/rotations.npy", clip->name);
            jnaStage_Depend(stage, "clip %s %d %d\n", clip->name, clip->first, clip->frames);
        }
    }
    jnaStage_Depend(stage, "gravity %.17g contact %d\n", w->manifest.flesh.gravity[1], w->manifest.flesh.contact);
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"volume/nodes.npy", "volume/tetrahedra.npy", "volume/skin_tetrahedra.npy",
        "volume/skin_weights.npy", "volume/skin_blend.npy", "volume/skin_kinds.npy", "volume/row_starts.npy",
        "volume/joints.npy", "volume/weights.npy", "volume/held_by.npy", "volume/hold_strength.npy",
        "volume/regions.npy", "volume/materials.npy", "character/positions.npy", "character/triangles.npy",
        "character/weld.npy", NULL};
    static const char* const outputs[] = {"modes/modes.json", "modes/stiffness.npy", "modes/damping.npy",
        "modes/masses.npy", "modes/gain.npy", "modes/limits.npy", "modes/joints.npy", "modes/mass_share.npy",
        "modes/regions.npy", "modes/sizes.npy", "modes/shapes.npy", "modes/projections.npy", "modes/pose.npy",
        "modes/spins.npy", NULL};
    if (!jnaWorkspace_Has(run->workspace, "volume/volume.json")) {
        const jnaVolume* volume;
        return jnaWorkspace_Volume(run->workspace, &volume, error); // its error says what to run
    }
    jnaStage_ReadAll(stage, NULL, inputs);
    if (run->workspace->manifest.modesPose == jna_modesMean) {
        ReadClips(run->workspace, stage);
    }
    jnaStage_MakeAll(stage, outputs);
    jnaStage_Share(stage, jnaOffsetsStage.name, "modes/caps.npy");
    jnaWorkspace_Depend(run->workspace, stage);
    jnaStage_Depend(stage, "damping rule 3\n"); // materials have a damping of their own
    return jn_ok;
}

static bool Trains(const jnaWorkspace* w)
{
    bool trains = false;
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        trains = trains || (w->manifest.clips[i].role == jna_train && w->manifest.clips[i].frames != 0);
    }
    return trains;
}

// Modes of the mean pose; of the rest pose where the manifest says so or there is no equilibrium to vibrate about.
static jnResult Find(jnaStageRun* run, const jnaModesDef* def, jnaModes* modes, jnError* error)
{
    jnaWorkspace* w = run->workspace;
    const jnaCharacter* character;
    const jnaVolume* volume;
    jnaFleshPose pose = {0};
    jnError why = {0};
    jnResult result = jn_ok;
    JN_PASS(jnaWorkspace_Volume(w, &volume, error));
    JN_PASS(jnaWorkspace_Character(w, &character, error));
    JN_TRY(w->manifest.modesPose == jna_modesMean ? jnaFindMeanPose(w, &pose, error) : jn_ok);
    if (pose.solved) {
        const jnaPosedFlesh posed = {pose.rotations, pose.turns, pose.nodes};
        result = jnaFindModes(volume, character, def, &posed, modes, run->notes, &why);
    }
    if (pose.solved && result != jn_badData) {
        JN_TRY(result == jn_ok ? jn_ok : jnFail(error, result, "%s", why.message));
    } else {
        if (w->manifest.modesPose == jna_modesMean && !Trains(w) && w->manifest.clipCount > 0) {
            jnaNotes_Add(run->notes, "the modes are those of the rest pose: no clip has the role `train`");
        } else if (w->manifest.modesPose == jna_modesMean && w->manifest.clipCount > 0) {
            jnaNotes_Add(run->notes, "the modes are those of the rest pose: in the mean pose of the clips %s",
                pose.solved ? why.message : pose.reason);
        }
        JN_TRY(jnaFindModes(volume, character, def, NULL, modes, run->notes, error));
    }
done:
    jnaDestroyFleshPose(&pose);
    return result;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaWorkspace* w = run->workspace;
    jnaModes modes = {0};
    jnaModesDef def = w->manifest.modes;
    def.watch = run->watch;
    jnResult result = jn_ok;
    JN_TRY(Find(run, &def, &modes, error));
    JN_TRY(jnaJoinPath(w->path, "stages/offsets.json", path, error));
    (void)remove(path); // new modes have no caps until the clips are played again
    JN_TRY(jnaSaveModes(w->path, &modes, error));
done:
    jnaDestroyModes(&modes);
    return result;
}

const jnaStageKind jnaModesStage = {"modes", Describe, Run};
