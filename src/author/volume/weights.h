// Skinning weights of the nodes inside.
//
// Every call takes a volume whose mesh is filled and a character of the same rest pose, and owns nothing of either.
// The bytes do not depend on the number of threads.
#pragma once

#include "character/character.h"
#include "volume/volume.h"

/// How the weights are carried inside. Start from jnaDefaultWeightsDef.
typedef struct jnaWeightsDef {
    double smallest; // weights of inner nodes below this are dropped; 0.002
    int most;        // joints per inner node, 1 to JNA_MAX_INFLUENCES; 8
    int threads;     // 0: as many as OpenMP likes
} jnaWeightsDef;
jnaWeightsDef jnaDefaultWeightsDef(void);

/// Carries the surface's weights to all nodes by the Laplace equation; fills rowStarts, joints, weights, jointCount.
/// A node that is a vertex of the surface gets that vertex's own weights. About 0.3 s for 21,000 nodes and 31 joints.
jnResult jnaVolume_CarryWeights(
    jnaVolume* volume, const jnaCharacter* character, const jnaWeightsDef* def, jnError* error);
