// What the files of the anatomy share. Not installed.
#pragma once

#include "volume/anatomy.h"
#include "volume/bones_internal.h"

/// The parts of a character from the flesh of its joints; flesh: of the slicer's nodes. See jnaFindAnatomy.
jnResult jnaNameParts(
    const jnaCharacter* character, const jnaJointFlesh* flesh, jnaSlicer* slicer, jnaAnatomy* anatomy, jnError* error);

/// The rib cage of a trunk whose axes are known.
void jnaMeasureTrunk(jnaSlicer* slicer, jnaAnatomy* anatomy);

/// Distances from a point of the trunk's middle to the skin, square to its axis: front, back, and the lesser of the two
/// sides. False where the point lies outside.
bool jnaCutTrunk(jnaSlicer* slicer, const jnaAnatomy* anatomy, double height, double at[3], double reach[3]);
