// A word where a person's height is no person's.
#pragma once

#include "base/notes.h"
#include "character/character.h"

/// Adds a note where a character with an upright trunk is taller or smaller than people and most of their likes are:
/// the unit of its file is probably another. Joints that cannot be placed say nothing.
jnResult jnaNoteHeight(const jnaCharacter* character, double scale, jnaNotes* notes, jnError* error);
