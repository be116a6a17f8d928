// Clothes, hair and the like on the flesh that they follow: where each of their vertices hangs, and fields of the flesh
// carried over to them.
#pragma once

#include "character/character.h"

/// The point of the flesh's surface that a vertex hangs on: weights of three vertices of the flesh, which add up to 1.
typedef struct jnaHold {
    int32_t corners[3];
    float weights[3];
    float distance; // metres
} jnaHold;

/// The outfit of a character on its flesh. Owned; all zeroes is empty.
typedef struct jnaFollow {
    int fleshCount, count; // vertices of the flesh, of the outfit behind them
    uint8_t* roles;        // [count], jnaMeshRole
    jnaHold* holds;        // [count]
    int32_t* starts;       // [count + 2], neighbours of each vertex in `ring`
    int32_t* ring;         // vertices of the outfit, counted from its first
    float* softness;       // [count], how much of its neighbours' mean a pass of smoothing gives a vertex
} jnaFollow;

/// Binds the outfit of a character to its flesh: each vertex to the nearest point of the surface, where flesh that the
/// same joints move counts as nearer.
jnResult jnaCreateFollow(const jnaCharacter* character, jnaFollow* follow, jnError* error);
void jnaDestroyFollow(jnaFollow* follow);

/// A field of the flesh, [fleshCount][width], at the vertices of the outfit, [count][width]: taken where each hangs,
/// then smoothed over the outfit's own surface, the more the farther from the skin it is. Of rigid parts 0. scratch:
/// [count][width].
void jnaFollow_Carry(const jnaFollow* follow, const float* field, int width, float* carried, float* scratch);

/// The same of what must stay as it is on the skin, without smoothing; rigid parts as well.
void jnaFollow_Take(const jnaFollow* follow, const float* field, int width, float* taken);

/// The nearest point of a surface to places. c: whose flesh; points: [count][3]; influences: [count], or NULL where
/// nearness alone counts. holds: [count], out.
jnResult jnaHoldPoints(const jnaCharacter* character, int count, const float* points, const jnaInfluences* influences,
    jnaHold* holds, jnError* error);
