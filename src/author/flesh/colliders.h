// Solid bodies that flesh is pressed against: balls, capsules, planes and boxes, without friction.
//
// The skin's vertices that tetrahedra carry stay outside; see colliders.c. Metres throughout.
#pragma once

#include "jounce/base.h"

typedef enum jnaColliderShape {
    jna_colliderSphere,
    jna_colliderCapsule, // along its y axis
    jna_colliderPlane,   // solid below y = 0
    jna_colliderBox,
} jnaColliderShape;

/// A solid body. A zeroed one is a sphere without a size at the origin of the world's joint 0: set joint.
typedef struct jnaCollider {
    jnaColliderShape shape;
    int joint;          // that carries it; -1: none, it is in the world
    double position[3]; // of its middle: as it stands beside the rest pose where a joint carries it
    double rotation[4]; // the same, a unit quaternion x, y, z, w
    double radius;      // of sphere and capsule; of a box, how much its edges are rounded outwards
    double half[3];     // half the sides of a box; of a capsule half[1] is half of its axis
    const float* path;  // [pathCount][7], place and rotation at every frame of the clip instead of those above; NULL:
                        // it stands still. The last one is held
    int pathCount;
} jnaCollider;

/// What a collider does to the flesh, by the last solve.
typedef struct jnaColliderTouch {
    double force[3]; // on the flesh, N
    double depth;    // metres that it is still inside the skin
    int count;       // vertices of the skin that press on it
} jnaColliderTouch;

/// A collider in a pose: x = rotation (x_local) + position.
typedef struct jnaPosedCollider {
    jnaColliderShape shape;
    double position[3], rotation[9];
    double radius, half[3];
} jnaPosedCollider;

/// Distance from the surface of a collider, negative inside, and the unit vector out of it.
double jnaPosedCollider_Distance(const jnaPosedCollider* collider, const double point[3], double normal[3]);
