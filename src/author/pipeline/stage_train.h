// The network of a workspace.
#pragma once

#include "learn/network.h"
#include "workspace/manifest.h"

/// Whether the network of a workspace must be trained; reason as of jnaStage_IsStale.
jnResult jnaNetworkIsStale(const char* workspace, const jnaManifest* manifest, const jnaTrainDef* def, bool* stale,
    char* reason, jnError* error);

/// The stage "train" of a workspace. made: whether it ran; a stage that is up to date is left alone unless forced.
jnResult jnaTrainWorkspace(const char* workspace, const jnaTrainDef* def, bool force, bool* made,
    jnaNetworkReport* report, jnaNotes* notes, jnError* error);

/// Measures the trained network of a workspace again, on what was simulated since, and writes it into network.json.
jnResult jnaMeasureWorkspace(const char* workspace, jnaNetworkReport* report, jnError* error);
