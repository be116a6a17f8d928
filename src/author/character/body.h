// Which joint is the pelvis, the chest or the left forearm, by names and by hand.
#pragma once

#include "character/character.h"

/// The three slots of a limb: upper arm, forearm, hand; thigh, shin, foot. side: 0 left, 1 right.
static inline int jnaLimbSlot(bool leg, int side)
{
    return jna_slotLimbs + (leg ? 6 : 0) + 3 * side;
}

/// Whether one joint is an ancestor of another, or the same.
bool jnaIsAbove(const jnaCharacter* character, int above, int joint);

/// The deepest joint that is above both, or one of them; -1 where they have different roots.
int jnaCommonJoint(const jnaCharacter* character, int a, int b);

/// Joints of the body by name, -1 where names are not sure. A pair of limbs is there whole, one joint below the other
/// on both sides, or not at all. joints: [JNA_BODY_SLOTS].
void jnaNameBody(const jnaCharacter* character, int* joints);

/// The joint on the other side of the body, by name or else by its place in the rest pose; -1 where there is none.
int jnaOppositeJoint(const jnaCharacter* character, int joint);

/// Puts the joints that a person named over those that were recognised. Of a sided part that is named on one side alone
/// the other side becomes the mirrored joint where there is one. joints: [JNA_BODY_SLOTS], -1 for none.
void jnaCharacter_OverrideBody(const jnaCharacter* character, int* joints);

/// Names a part of the body. An unknown joint is refused with the nearest names.
jnResult jnaCharacter_SetBody(jnaCharacter* character, jnaBodySlot slot, const char* joint, jnError* error);

/// The parts as a YAML mapping that a manifest can have: "body: {pelvis: ...}", a line each for the trunk and the
/// limbs. Release with free; NULL: out of memory, or no part at all. joints: [JNA_BODY_SLOTS], -1 for none.
char* jnaDescribeBody(const jnaCharacter* character, const int* joints);
