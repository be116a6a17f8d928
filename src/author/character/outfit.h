// Clothes, hair or armour from another file, put on a character.
#pragma once

#include "character/import.h"

/// Reads a file with clothes as jnaAddOutfit does, without putting them on.
jnResult jnaImportOutfit(
    const char* path, const jnaImportDef* def, jnaCharacter* outfit, jnaNotes* notes, jnError* error);

/// Reads a file and adds its meshes to a character: behind its own parts and file vertices, and at the end of its
/// vertices. def: scale, up and roles; its `role` is that of all parts that no setting names. Joints are matched by
/// name, and a bind pose that differs is taken into account; a mesh whose joints the character does not have gets the
/// weights of the nearest flesh.
jnResult jnaAddOutfit(
    const char* path, const jnaImportDef* def, jnaCharacter* character, jnaNotes* notes, jnError* error);
