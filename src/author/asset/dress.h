// What was learned for the flesh of a character, carried over to all that it wears: for the asset an outfit is more
// vertices, and the runtime knows nothing of it.
#pragma once

#include "character/character.h"
#include "learn/network.h"
#include "modes/modes.h"

/// What moves the flesh. Arrays are of its vertices.
typedef struct jnaFleshMotion {
    const jnaModes* modes;     // NULL: none
    const jnaNetwork* network; // NULL: none
    const float *stiffness, *damping;
} jnaFleshMotion;

/// The same of all vertices. Owned.
typedef struct jnaDressed {
    jnaModes modes;
    jnaNetwork network; // borrows all but what is by vertex
    float *stiffness, *damping;
} jnaDressed;

/// Shapes of modes and components are those of the flesh that a vertex hangs on (character/follow.h); of rigid parts 0.
/// A map of displacements (cnn) is looked up where the nearest vertex of the flesh is. What drives the modes stays that
/// of the flesh alone.
jnResult jnaDress(const jnaCharacter* whole, const jnaFleshMotion* flesh, jnaDressed* dressed, jnError* error);
void jnaDestroyDressed(jnaDressed* dressed);
