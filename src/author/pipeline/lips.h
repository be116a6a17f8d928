// Lips: places of a head where its surface touches itself at rest, and how far they come apart.
#pragma once

#include "character/character.h"

/// Pairs of vertices that face each other. Arrays are owned.
typedef struct jnaLips {
    int count;
    int32_t (*pairs)[2]; // [count]
    double rest;         // greatest distance at rest, metres
} jnaLips;
void jnaDestroyLips(jnaLips* lips);

/// Finds them among the vertices of the head. regions: [vertexCount], jnaRegion; size: of the body, metres.
jnResult jnaFindLips(const jnaCharacter* character, const uint8_t* regions, double size, jnaLips* lips, jnError* error);

/// The most by which a pair is farther apart in one surface than in another, metres; 0 where none is.
double jnaLips_Opening(const jnaLips* lips, const float* positions, const float* reference);
