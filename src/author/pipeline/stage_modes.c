// The stage "modes" of a workspace: the vibration modes of its flesh.
#include "pipeline/engine.h"

#include "base/path.h"
#include "base/try.h"
#include "workspace/modes_store.h"

#include "runtime/for_author.h"

#include <stdio.h>

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"volume/nodes.npy", "volume/tetrahedra.npy", "volume/skin_tetrahedra.npy",
        "volume/skin_weights.npy", "volume/skin_blend.npy", "volume/row_starts.npy", "volume/joints.npy",
        "volume/weights.npy", "volume/held_by.npy", "volume/hold_strength.npy", "volume/regions.npy",
        "volume/materials.npy", "character/positions.npy", "character/triangles.npy", "character/weld.npy", NULL};
    static const char* const outputs[] = {"modes/modes.json", "modes/stiffness.npy", "modes/damping.npy",
        "modes/masses.npy", "modes/gain.npy", "modes/limits.npy", "modes/caps.npy", "modes/joints.npy",
        "modes/mass_share.npy", "modes/sizes.npy", "modes/shapes.npy", "modes/projections.npy", "modes/spins.npy",
        NULL};
    if (!jnaWorkspace_Has(run->workspace, "volume/volume.json")) {
        const jnaVolume* volume;
        return jnaWorkspace_Volume(run->workspace, &volume, error); // its error says what to run
    }
    jnaStage_ReadAll(stage, NULL, inputs);
    jnaStage_MakeAll(stage, outputs);
    jnaWorkspace_Depend(run->workspace, stage);
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaWorkspace* w = run->workspace;
    const jnaCharacter* character;
    const jnaVolume* volume;
    jnaModes modes = {0};
    jnaModesDef def = w->manifest.modes;
    def.watch = run->watch;
    jnResult result = jn_ok;
    JN_TRY(jnaWorkspace_Volume(w, &volume, error));
    JN_TRY(jnaWorkspace_Character(w, &character, error));
    JN_TRY(jnaFindModes(volume, character, &def, &modes, run->notes, error));
    JN_TRY(jnaJoinPath(w->path, "stages/offsets.json", path, error));
    (void)remove(path); // new modes have no caps until the clips are played again
    JN_TRY(jnaSaveModes(w->path, &modes, error));
done:
    jnaDestroyModes(&modes);
    return result;
}

const jnaStageKind jnaModesStage = {"modes", Describe, Run};
