// Modes in the folder of a workspace.
#pragma once

#include "modes/modes.h"

/// Folder modes/ of a workspace: modes.json and arrays, each file atomically, modes.json last.
jnResult jnaSaveModes(const char* workspace, const jnaModes* modes, jnError* error);
/// The bound of the surface alone, as jnaSaveModes does it, too.
jnResult jnaSaveBound(const char* workspace, const jnaModes* modes, jnError* error);
/// Reads them back, checked as any file is.
jnResult jnaLoadModes(const char* workspace, jnaModes* modes, jnError* error);

/// jn_badData where a workspace has the modes of another character.
jnResult jnaModes_CheckCharacter(
    const jnaModes* modes, const jnaCharacter* character, const char* workspace, jnError* error);
