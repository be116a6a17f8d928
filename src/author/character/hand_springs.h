// Springs set by hand, in hertz and damping ratio: a character moves before anything is simulated or fitted.
#pragma once

#include "character/character.h"

enum { JNA_MAX_JOINT_SPRINGS = 256 };

/// Springs around one joint.
typedef struct jnaJointSpring {
    const char* joint; // name
    float hertz, ratio;
} jnaJointSpring;

/// What the springs are to be. Start from jnaDefaultHandSprings.
typedef struct jnaHandSprings {
    float hertz;                  // above 0, up to JNA_RIGID_HERTZ; default 4
    float ratio;                  // damping ratio, 0 and more; default 0.25
    const jnaJointSpring* joints; // [jointCount], replace hertz and ratio around their joints, by skin weight
    int jointCount;
    const float* mask; // [vertexCount] or NULL; 1: as above, 0: rigid, in between by frequency
} jnaHandSprings;

/// A spring this fast moves flesh by less than a tenth of a millimetre at 1 g: nobody sees it.
#define JNA_RIGID_HERTZ 50.0f

jnaHandSprings jnaDefaultHandSprings(void);

/// Fills stiffness and damping, [vertexCount] each. Frequencies mix by their logarithm. Fails on a joint that the
/// character does not have and on numbers out of range.
jnResult jnaSetHandSprings(
    const jnaCharacter* character, const jnaHandSprings* springs, float* stiffness, float* damping, jnError* error);
