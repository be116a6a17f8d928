// Pictures of modes.
#pragma once

#include "draw/picture.h"
#include "modes/modes.h"

/// Draws modes as panels: the surface moved by `amplitude` metres times the shape, coloured by how far it moves.
/// first, count: which modes, 1 to 32 of them.
jnResult jnaPictureModes(const jnaModes* modes, const jnaCharacter* character, int first, int count, double amplitude,
    const char* path, jnError* error);
/// The same as a picture, destroyed by the caller. settings: panels, their size and light; NULL: as above, captioned.
jnResult jnaDrawModes(const jnaModes* modes, const jnaCharacter* character, int first, int count, double amplitude,
    const jnaPictureDef* settings, jnaPicture* picture, jnError* error);
