// A character in the mirror: mirror.c finds its partners, pairs.c poses it there.
#pragma once

#include "character/character.h"
#include "learn/network.h"

/// The plane x = middle, and the partner of each vertex and joint across it.
typedef struct jnaMirror {
    float middle;
    int32_t *vertices, *joints;
} jnaMirror;

/// Finds the partners. marks: [jointCount], what a joint must have in common with its partner; NULL: nothing.
/// *symmetric: whether every vertex and joint has one.
jnResult jnaFindMirror(
    const jnaCharacter* character, const uint64_t* marks, jnaMirror* mirror, bool* symmetric, jnError* error);
void jnaDestroyMirror(jnaMirror* mirror);

/// Adds a pair that is there as seen in the mirror, to train on. There must be room for it.
jnResult jnaPairs_AddMirrored(jnaPairs* pairs, int from, const jnaMirror* mirror, jnError* error);
