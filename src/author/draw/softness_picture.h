// How soft a character is, as a picture.
#pragma once

#include "draw/picture.h"
#include "flesh/sag.h"

enum { JNA_SOFTNESS_COLUMNS = 3, JNA_SOFTNESS_ROWS = 2 };
/// Draws the character from front, side and back: coloured by sag along -Y, and below by region. settings: size and
/// light of the panels; NULL: a picture with captions and legends. high: metres at the end of the colour map; may be
/// NULL.
jnResult jnaDrawSoftness(const jnaSag* sag, const jnaCharacter* character, const jnaPictureDef* settings,
    jnaPicture* picture, double* high, jnError* error);
