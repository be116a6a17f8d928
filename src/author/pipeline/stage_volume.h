// The volume of a workspace, in two stages: "volume" (the mesh) and "inside" (the rest).
#pragma once

#include "pipeline/engine.h"

/// Makes the volume of a workspace's character, its weights, bones and materials, where they are not up to date. The
/// second stage writes volume/bones.png and volume/inside.json, which tells held nodes, materials and what skinning
/// inverts over the clips. Bones and materials of the manifest make only that stage stale. run->report: a
/// jnaVolumeReport or NULL; where the mesh was up to date, only method and quality.
jnResult jnaUpdateVolume(jnaStageRun* run, jnError* error);

/// Refuses a workspace whose bones and materials are not those of its manifest.
jnResult jnaCheckInside(const jnaWorkspace* workspace, jnError* error);
