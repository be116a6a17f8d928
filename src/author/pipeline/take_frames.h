// What modes need of a clip besides its motion.
#pragma once

#include "character/character.h"

/// float32 copies, owned.
typedef struct jnaTakeFrames {
    float* turns;     // [frameCount][jointCount][4], rotations of the joints from rest
    float* matrices;  // [frameCount][jointCount][12], the skin's
    float* rotations; // [frameCount][vertexCount][4], of the skinned frames
} jnaTakeFrames;

jnResult jnaMakeTakeFrames(
    const jnaCharacter* character, const jnaClip* clip, int first, int count, jnaTakeFrames* frames, jnError* error);
void jnaDestroyTakeFrames(jnaTakeFrames* frames);
