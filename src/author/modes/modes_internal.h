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
/// heldBy, which is of the arena. notes: may be NULL.
jnResult jnaHoldLoose(const jnaVolume* volume, const jnaCharacter* character, jnaArena* arena, jnaVolume* held,
    jnaNotes* notes, jnError* error);

/// Modes of a volume's nodes, before they are brought to the surface. Nothing is owned.
typedef struct jnaNodeModes {
    int count;
    size_t numbers;       // of a shape: three for each free node
    double* omega2;       // [count], 1/s^2, rising
    double* damping;      // [count], of what is proportional to the stiffness, times that of the flesh in general
    double* shapes;       // [count][numbers], of unit modal mass
    int* places;          // [nodeCount], free node or -1
    const double* masses; // [nodeCount], kg
    double totalMass;     // kg
} jnaNodeModes;

/// The fraction of every mode's strain energy in every region of the body, in the pose that they vibrate about. nodes:
/// [nodeCount][3]; NULL: at rest. regions: [count][JNA_REGIONS], rows of sum 1.
jnResult jnaFindModeRegions(const jnaVolume* volume, const jnaCharacter* character, const double* nodes,
    const jnaNodeModes* modes, double* regions, jnError* error);

/// Takes modes out that are no motion of flesh.
jnResult jnaDropLoose(const jnaVolume* volume, jnaNodeModes* modes, jnaNotes* notes, jnError* error);

/// Turns modes of nearly the same frequency so that each lives at few joints; see localize.c. tolerance: the coupling
/// that may be dropped, as a share of a mode's stiffness.
jnResult jnaLocalizeModes(const jnaVolume* volume, double tolerance, jnaNodeModes* modes, jnError* error);
