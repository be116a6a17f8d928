// What hanging a skin on a lattice and telling where that is too coarse share.
#pragma once

#include "character/character.h"
#include "volume/mesh_internal.h"

/// Fills skinBlend: 0 where the tetrahedra do not resolve the surface, fading to 1 along it. normals: of the surface's
/// vertices, unit, outward; outside: how far each vertex of the character is outside the tetrahedra, metres.
jnResult jnaBlendSkin(const jnaCharacter* character, const jnaSurface* surface, const jnaTree* tree,
    const double* normals, const double* outside, double spacing, jnaVolume* volume, jnaVolumeReport* report,
    jnError* error);
