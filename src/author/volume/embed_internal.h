// What hanging a skin on a lattice and telling where that is too coarse share.
#pragma once

#include "mesh_internal.h"

/// Barycentric weights of a point in a tetrahedron; they sum to 1 but for rounding.
void jnaBarycentricWeights(const jnaVolume* volume, int tetrahedron, const double* point, double weights[4]);

/// Fills skinBlend: 0 where the tetrahedra do not resolve the surface, fading to 1 along it. normals: of the surface's
/// vertices, unit, outward.
jnResult jnaBlendSkin(const jnaCharacter* character, const jnaSurface* surface, const jnaTree* tree,
    const double* normals, double spacing, jnaVolume* volume, jnaVolumeReport* report, jnError* error);
