// A picture of the bones.
#pragma once

#include "character/character.h"
#include "volume/bones.h"

/// Draws the bones and the held nodes inside the far half of the skin, from the front and the side, as a PNG.
jnResult jnaPictureBones(
    const jnaVolume* volume, const jnaCharacter* character, const jnaBoneList* bones, const char* path, jnError* error);
