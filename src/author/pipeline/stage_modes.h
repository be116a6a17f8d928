// The modes of a workspace's flesh.
#pragma once

#include "modes/modes.h"

/// The settings of a workspace's manifest.
jnResult jnaReadModesDef(const char* workspace, jnaModesDef* def, jnError* error);

/// Whether the modes of a workspace's volume must be found; reason as of jnaStage_IsStale.
jnResult jnaModesAreStale(const char* workspace, const jnaModesDef* def, bool* stale, char* reason, jnError* error);

/// Finds the modes of a workspace's volume unless they are up to date, and records them as the stage "modes".
/// made: whether they were found anew; may be NULL.
jnResult jnaUpdateModes(
    const char* workspace, const jnaModesDef* def, bool force, bool* made, jnaNotes* notes, jnError* error);
