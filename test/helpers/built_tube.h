// A small workspace in which everything has been built, for tests that damage it.
#pragma once

#include "helpers/command.h"
#include "helpers/small_gltf.h"

static inline void Do(const char* line)
{
    if (system(line) != 0) {
        fail_msg("failed: %s", line);
    }
}

static inline void Run(const char* arguments)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != 0) {
        fail_msg("jounce %s: exit %d: %s", arguments, outcome.code, outcome.error);
    }
}

// In a folder of its own: the tube as tube.glb, w with everything that a build makes, its motion as good.npy.
static inline int MakeBuiltTube(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[1024];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "cp '%s' tube.glb", WriteTube("built", &def));
    Do(line);
    Run("new w --from tube.glb");
    Do("sed -i -e 's/kind: .*/kind: pca/; s/  mode: .*/  mode: fitted/; s/method: .*/method: lattice/' "
       "-e 's/  nodes: .*/  nodes: 120/; s/  count: 5000/  count: 40/; s/epochs: .*/epochs: 5/' "
       "-e 's/substeps: .*/substeps: 1/; s/    animation: .*/&\\n    frames: 8/' w/manifest.yaml");
    Run("build w --until evaluate");
    Run("bake w --clip wave_top -o good.npy");
    return 0;
}
