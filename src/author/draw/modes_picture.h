// Pictures of modes.
#pragma once

#include "draw/picture.h"
#include "modes/modes.h"

/// Draws the first `count` modes as panels, 1 to 32 of them: the surface moved by `amplitude` metres times the shape,
/// coloured by how far it moves.
jnResult jnaPictureModes(const jnaModes* modes, const jnaCharacter* character, int count, double amplitude,
    const char* path, jnError* error);
/// The same as a picture, destroyed by the caller. settings: panels, their size and light; NULL: as above, captioned.
jnResult jnaDrawModes(const jnaModes* modes, const jnaCharacter* character, int count, double amplitude,
    const jnaPictureDef* settings, jnaPicture* picture, jnError* error);
