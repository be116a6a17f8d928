// What the files of the modes share.
#pragma once

#include "jounce-author/modes.h"

enum { JNA_MAX_MODES = 1024 };

/// A third of the area of its triangles for every vertex, into zeroed areas [vertexCount]; 1 where there is no
/// triangle.
void jnaFindVertexAreas(const jnaCharacter* character, double* areas);

/// Projection by mass-weighted least squares on the surface, (U^T M U)^-1 U^T M with the area around a vertex as mass.
jnResult jnaModes_ProjectSurface(jnaModes* modes, const jnaCharacter* character, jnError* error);

/// Takes vertices that move less than `threshold` out of each mode, and counts those that stay.
void jnaModes_Sparsen(jnaModes* modes, double threshold);

/// Turns modes of nearly the same frequency so that each lives at few joints; see localize.c. tolerance: the coupling
/// that may be dropped, as a share of a mode's stiffness. places: [nodeCount], free node or -1; omega2: [count];
/// shapes: [count][numbers].
jnResult jnaLocalizeModes(const jnaVolume* volume, const double* masses, const int* places, double tolerance, int count,
    size_t numbers, double* omega2, double* shapes, jnError* error);
