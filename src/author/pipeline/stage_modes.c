// The stage "modes" of a workspace; see stage_modes.h.
#include "pipeline/stage_modes.h"

#include "base/clock.h"
#include "base/path.h"
#include "workspace/manifest.h"
#include "workspace/modes_store.h"
#include "workspace/stage.h"
#include "workspace/store.h"
#include "workspace/volume_store.h"

#include "runtime/for_author.h"

#include <stdio.h>

jnResult jnaReadModesDef(const char* workspace, jnaModesDef* def, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaManifest manifest = {0};
    *def = jnaDefaultModesDef();
    jnResult result = jnaJoinPath(workspace, "manifest.yaml", path, error);
    result = result == jn_ok ? jnaReadManifest(path, &manifest, error) : result;
    if (result == jn_ok) {
        *def = manifest.modes;
        jnaDestroyManifest(&manifest);
    }
    return result;
}

// The stage for settings, whose text must live as long as it.
enum { SETTINGS_LENGTH = 256 };
static jnaStage DescribeStage(const jnaModesDef* def, char settings[SETTINGS_LENGTH])
{
    static const char* const inputs[] = {"volume/nodes.npy", "volume/tetrahedra.npy", "volume/skin_tetrahedra.npy",
        "volume/skin_weights.npy", "volume/skin_blend.npy", "volume/row_starts.npy", "volume/joints.npy",
        "volume/weights.npy", "volume/held_by.npy", "volume/hold_strength.npy", "volume/regions.npy",
        "volume/materials.npy", "character/positions.npy", "character/triangles.npy", "character/weld.npy"};
    static const char* const outputs[] = {"modes/modes.json", "modes/stiffness.npy", "modes/damping.npy",
        "modes/masses.npy", "modes/gain.npy", "modes/limits.npy", "modes/caps.npy", "modes/joints.npy",
        "modes/mass_share.npy", "modes/sizes.npy", "modes/shapes.npy", "modes/projections.npy", "modes/spins.npy"};
    bool own = def->ratio > 0;
    snprintf(settings, SETTINGS_LENGTH,
        "count %d\ncutoff %.17g\nratio %.17g %.17g %.17g\nthreshold %.17g\nmixing %.17g\nspeed %.17g\nprojection %d\n",
        def->count, def->cutoff, def->ratio, own ? 0 : def->damping, own ? 0 : def->drag, def->threshold, def->mixing,
        def->speed, (int)def->kind);
    return (jnaStage){"modes", sizeof(inputs) / sizeof(inputs[0]), inputs, settings,
        sizeof(outputs) / sizeof(outputs[0]), outputs, 0};
}

jnResult jnaModesAreStale(const char* workspace, const jnaModesDef* def, bool* stale, char* reason, jnError* error)
{
    char settings[SETTINGS_LENGTH];
    const jnaStage stage = DescribeStage(def, settings);
    return jnaStage_IsStale(workspace, &stage, stale, reason, error);
}

jnResult jnaUpdateModes(
    const char* workspace, const jnaModesDef* def, bool force, bool* made, jnaNotes* notes, jnError* error)
{
    char settings[SETTINGS_LENGTH], path[JNA_PATH_LENGTH];
    jnaStage stage = DescribeStage(def, settings);
    double started = jnaWallClock();
    bool stale = true;
    jnaCharacter character = {0};
    jnaVolume volume = {0};
    jnaModes modes = {0};
    jnResult result = jnaLoadVolume(workspace, &volume, error); // first: its error says what to run
    result = result == jn_ok ? jnaStage_IsStale(workspace, &stage, &stale, NULL, error) : result;
    stale = stale || force;
    if (made != NULL) {
        *made = stale;
    }
    if (result == jn_ok && stale) {
        result = jnaLoadCharacter(workspace, &character, error);
        result = result == jn_ok ? jnaFindModes(&volume, &character, def, &modes, notes, error) : result;
        result = result == jn_ok ? jnaJoinPath(workspace, "stages/offsets.json", path, error) : result;
        if (result == jn_ok) {
            (void)remove(path); // new modes have no caps until the clips are played again
            result = jnaSaveModes(workspace, &modes, error);
        }
        stage.seconds = jnaWallClock() - started;
        result = result == jn_ok ? jnaStage_Record(workspace, &stage, error) : result;
        jnaDestroyCharacter(&character);
    }
    jnaDestroyModes(&modes);
    jnaDestroyVolume(&volume);
    return result;
}
