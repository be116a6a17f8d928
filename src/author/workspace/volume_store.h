// A volume in the folder of a workspace.
#pragma once

#include "volume/tetrahedralize.h"

/// Writes a volume to the folder volume/ of a workspace, each file atomically, volume.json last. Arrays that are NULL
/// are left out, and removed if they were there. report: NULL keeps what volume.json says about the mesh.
jnResult jnaSaveVolume(const char* workspace, const jnaVolume* volume, const jnaVolumeReport* report, jnError* error);

/// Reads a volume back, checked as any file is.
jnResult jnaLoadVolume(const char* workspace, jnaVolume* volume, jnError* error);

/// The same without weights, bones and materials, of which a killed run may have left some that volume.json does not
/// know of yet.
jnResult jnaLoadMesh(const char* workspace, jnaVolume* volume, jnError* error);
