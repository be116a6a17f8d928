// The volume of a workspace, in two stages.
#pragma once

#include "volume/tetrahedralize.h"
#include "workspace/manifest.h"

/// The settings of a workspace's manifest.
jnResult jnaReadVolumeDef(const char* workspace, jnaVolumeDef* def, jnError* error);

/// Whether either stage of the volume must run; reason as of jnaStage_IsStale.
jnResult jnaVolumeIsStale(const char* workspace, const jnaVolumeDef* def, bool* stale, char* reason, jnError* error);

/// Makes the volume of a workspace's character, its weights, bones and materials, where they are not up to date, in two
/// stages: "volume" (the mesh) and "inside" (the rest, volume/bones.png and volume/inside.json, which tells held nodes,
/// materials and what skinning inverts over the clips). Bones and materials of the manifest make only the latter stale.
/// made: whether either ran, may be NULL. report: may be NULL; where the mesh was up to date, only method and quality.
jnResult jnaUpdateVolume(const char* workspace, const jnaVolumeDef* def, bool force, bool* made,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error);

/// Refuses a workspace whose bones and materials are not those of its manifest.
jnResult jnaCheckInside(const char* workspace, const jnaManifest* manifest, jnError* error);
