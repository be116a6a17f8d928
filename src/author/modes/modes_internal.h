// What the files of the modes share.
#pragma once

#include "modes/modes.h"

enum { JNA_MAX_MODES = 1024 };

/// A third of the area of its triangles for every vertex, into zeroed areas [vertexCount]; 1 where there is no
/// triangle.
void jnaFindVertexAreas(const jnaCharacter* character, double* areas);

/// Projection by mass-weighted least squares on the surface, (U^T M U)^-1 U^T M with the area around a vertex as mass.
jnResult jnaModes_ProjectSurface(jnaModes* modes, const jnaCharacter* character, jnError* error);

/// Takes vertices that move less than `threshold` out of each mode, and counts those that stay.
void jnaModes_Sparsen(jnaModes* modes, double threshold);

/// A volume in which pieces that no bone holds are held by their joints as a whole; see loose.c. It shares all but
/// heldBy, which is to be freed. notes: may be NULL.
jnResult jnaHoldLoose(
    const jnaVolume* volume, const jnaCharacter* character, jnaVolume* held, jnaNotes* notes, jnError* error);

/// Takes modes out that are no motion of flesh, in place. masses: [nodeCount]; the others as of jnaLocalizeModes.
jnResult jnaDropLoose(const jnaVolume* volume, const double* masses, const int* places, size_t numbers, int* count,
    double* omega2, double* shapes, jnaNotes* notes, jnError* error);

/// Turns modes of nearly the same frequency so that each lives at few joints; see localize.c. tolerance: the coupling
/// that may be dropped, as a share of a mode's stiffness. places: [nodeCount], free node or -1; omega2: [count];
/// shapes: [count][numbers].
jnResult jnaLocalizeModes(const jnaVolume* volume, const double* masses, const int* places, double tolerance, int count,
    size_t numbers, double* omega2, double* shapes, jnError* error);
