// What hanging a skin on a lattice and telling where that is too coarse share.
#pragma once

#include "character/character.h"
#include "volume/mesh_internal.h"

/// A skin that hangs on a lattice.
typedef struct jnaHungSkin {
    const jnaCharacter* character;
    const jnaSurface* surface;
    const jnaTree* tree;   // over the surface
    const double* normals; // of the surface's vertices, unit, outward
    const double* outside; // [vertexCount], how far each vertex of the character is outside the tetrahedra, metres
    double spacing;        // of the lattice, metres
} jnaHungSkin;

/// Fills skinBlend: how well the tetrahedra resolve the surface, 0 to 1.
jnResult jnaBlendSkin(const jnaHungSkin* skin, jnaVolume* volume, jnaVolumeReport* report, jnError* error);
