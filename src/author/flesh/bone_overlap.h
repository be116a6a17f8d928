// Bone through bone: whether a pose drives one bone into another, which no flesh can mend.
//
// A bone is the tetrahedra whose corners are all held; posed, they go where the bones take their nodes. Nothing is
// solved, so a pose can be judged before.
#pragma once

#include "jounce/base.h"
#include "volume/volume.h"

/// Where bones of a pose are deepest inside each other.
typedef struct jnaBoneOverlap {
    double depth;  // metres, to the surface of the bone; 0: apart
    int joints[2]; // of the two bones; -1 where depth is 0
} jnaBoneOverlap;

/// Bones of a volume with what is needed to pose them. One per thread.
typedef struct jnaPosedBones jnaPosedBones;

/// volume: with weights and bones; must live longer. A volume without bones of any extent is allowed.
jnResult jnaCreatePosedBones(const jnaVolume* volume, jnaPosedBones** bones, jnError* error);
void jnaDestroyPosedBones(jnaPosedBones* bones); // NULL is allowed

/// transforms: those that pose the held nodes of the volume. Bones that are close at rest are joined there and never
/// overlap. Fails only out of memory or on transforms that are not finite.
jnResult jnaPosedBones_Overlap(jnaPosedBones* bones, const double* transforms, jnaBoneOverlap* overlap, jnError* error);
