// A volume in a pose: where joints take its nodes, and what that turns inside out.
//
// Every call takes a volume whose mesh is filled and a character of the same rest pose, and owns nothing of either.
// The bytes do not depend on the number of threads.
#pragma once

#include "character/character.h"
#include "volume/volume.h"

/// Rest surface to posed surface, per joint, of one frame of a clip or of the rest pose where clip is NULL.
/// transforms: [jointCount][12], affine, rows of 4, in double precision throughout.
void jnaPoseTransforms(const jnaCharacter* character, const jnaClip* clip, int frame, double* transforms);

/// The balls at the joints of a pose: each turns half as far as its joint does against the joint's parent, about the
/// joint. transforms: [2 * jointCount][12]; the first half is given, the second written.
void jnaBallTransforms(const jnaCharacter* character, double* transforms);

/// Where bones hold a node in a pose; see jnaVolume.heldBy. The node must be held. transforms: of the joints, then of
/// the balls.
void jnaVolume_HeldPosition(const jnaVolume* volume, const double* transforms, int node, double position[3]);

/// Linear blend skinning of the nodes. A row is divided by its own sum, so that one motion of all joints moves every
/// node by exactly that. positions: [nodeCount][3].
void jnaVolume_Skin(const jnaVolume* volume, const double* transforms, double* positions);

/// Tetrahedra that skinning alone turns inside out, in every `every`-th frame of a clip, the first included.
/// counts: [(frameCount - 1) / every + 1].
jnResult jnaVolume_CountInversions(const jnaVolume* volume, const jnaCharacter* character, const jnaClip* clip,
    int every, int* counts, jnError* error);
