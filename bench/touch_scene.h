// Random presses of solid bodies on a character's flesh, simulated: what `jounce-bench touch` measures against.
#pragma once

#include "character/character.h"
#include "character/import.h"
#include "flesh/flesh.h"
#include "flesh/sag.h"

/// A character with flesh that can be pressed.
typedef struct jnbTouchScene {
    jnaCharacter character;
    jnaClipList clips; // of a character from a file
    jnaVolume volume;
    jnaSag sag; // thickness of the flesh and regions
    jnaClip rest;
    jnaFlesh* flesh;
    jnaFleshSolver* solver;
    double* normals; // [vertexCount][3], of the rest surface
    double* areas;   // [vertexCount], m2
    float* still;   // [vertexCount][3], the surface without a press
    double* nodes;
} jnbTouchScene;

/// A press and what the flesh does.
typedef struct jnbPress {
    int vertex; // under its middle
    jnaCollider collider;
    double asked; // metres that it is pressed in
    jnaColliderTouch touch;
    bool converged;
    double seconds;
} jnbPress;

/// `file`: a character; NULL: the figure.
jnResult jnbCreateTouchScene(const char* file, jnbTouchScene* scene, jnError* error);
void jnbDestroyTouchScene(jnbTouchScene* scene);

/// A random press on flesh that is thick enough: balls and capsules of 5 to 15 cm, planes and boxes, 1 to 4 cm deep.
void jnbMakePress(const jnbTouchScene* scene, uint64_t* state, jnbPress* press);

/// A collider of the world in its place.
jnaPosedCollider jnbPoseCollider(const jnaCollider* collider);

/// Solves it. dents: [vertexCount][3], displacement by the press alone.
jnResult jnbSolvePress(jnbTouchScene* scene, jnbPress* press, float* dents, jnError* error);
