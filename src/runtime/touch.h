// Flesh pressed by solid bodies at run time, from the inside; see touch.c.
#pragma once

#include "asset_format.h"
#include "jounce/character.h"
#include "springs_internal.h"

enum { JN_MAX_PRESSED = 48 };

// A collider in place: x = rotation x_local + position.
typedef struct jnPosedShape {
    jnColliderShape shape;
    float position[3], rotation[9], radius, half[3];
} jnPosedShape;

// What a character keeps for it, in its own memory.
typedef struct jnTouchState {
    const jnCollider* colliders; // the caller's
    int colliderCount;
    int pressedCount, contactCount;
    int32_t probes[JN_MAX_PRESSED]; // that are pressed
    float forces[JN_MAX_PRESSED];   // on each, N, of linear flesh
    jnContact contacts[JN_MAX_CONTACTS];
    jnPosedShape shapes[JN_MAX_CONTACTS];
    float* groups;    // [groupCount][4], spheres around them in this step
    int8_t* slots;    // [probeCount], number of a probe among those that colliders reach; -1 between steps
    uint8_t* marks;   // [blockCount], of the surface: the block has a dent; 0 between
    float* responses; // [2][modes], offset and velocity of a mode after an interval under a force of one newton
    float* palette;    // [jointCount][12], of this step, from the origin; [jointCount] how much each stretches behind it
    double time;      // the interval's; 0: none yet
} jnTouchState;

// Distance from a shape, negative inside, and the way out of it, unit.
float jnShapeDistance(const jnPosedShape* shape, const float point[3], float normal[3]);
