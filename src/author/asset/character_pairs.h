// Pairs of pose and surface on the asset of their character.
#pragma once

#include "learn/network.h"

/// jnaCreatePairs on an asset of the character alone.
jnResult jnaCreateCharacterPairs(
    const jnaCharacter* character, jnSkinning skinning, int capacity, jnaPairs* pairs, jnError* error);
