// What the files of the renderer share. Not installed.
#pragma once

#include "base/arena.h"

#include <math.h>

// The surfaces of one panel as one triangle soup over shared vertices, turned and moved into the world.
typedef struct Scene {
    jnaArena arena; // of the arrays below
    int vertexCount;
    int triangleCount;
    float* positions;   // [vertexCount][3]
    float* normals;     // [vertexCount][3], unit
    float* colors;      // [vertexCount][3], linear
    float* paint;       // [triangleCount][3], linear; first component < 0: the vertices' colours
    int32_t* triangles; // [triangleCount][3], vertices
    float* sky;         // [vertexCount][3], light from the visible part of the sky, written by jnaLightScene
    float* key;         // [vertexCount], visible share of the key light, written by jnaLightScene
    float center[3];    // of a sphere around all vertices
    float radius;
    bool ground;
    float groundHeight;
    float* groundShade; // [GROUND_CELLS + 1][GROUND_CELLS + 1], 1 in the open, written by jnaLightScene
    float groundOrigin[2];
    float groundStep;
} Scene;

enum { GROUND_CELLS = 160 };

// Direction towards the middle of the key light, unit, for a camera at the given yaw in degrees: it comes
// along.
void jnaKeyDirection(float yaw, float direction[3]);

// Light and shadow of a scene, by depth maps from many directions.
jnResult jnaLightScene(Scene* scene, float yaw, int directions, int threads, jnError* error);

// Shade of the ground at (x, z): 1 in the open.
float jnaGroundShade(const Scene* scene, float x, float z);

// Radians in a degree.
#define RADIANS 0.01745329f

static inline float Dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Inlined, unlike fminf and fmaxf, which must care for NaN and cost a call each: a quarter of the time of a picture.
static inline float Min(float a, float b)
{
    return a < b ? a : b;
}

static inline float Max(float a, float b)
{
    return a > b ? a : b;
}
