// What outfits do to the flesh of a volume.
#pragma once

#include "volume/volume.h"

/// Holds the nodes of tetrahedra that carry rigid skin (jna_skinRigid) at their skinned positions, as bones do; those
/// that a bone holds stay with it. strength: 1/s2, 0: exactly. Returns how many. After the bones are placed.
int jnaVolume_HoldRigidSkin(jnaVolume* volume, float strength);

/// Whether the flesh is mostly an outfit without a body under it (jna_skinClothed).
bool jnaVolume_IsOutfit(const jnaVolume* volume);

/// Makes the flesh of such an outfit stiffer; any other stays as it is. After the materials are set.
void jnaVolume_StiffenOutfit(jnaVolume* volume);
