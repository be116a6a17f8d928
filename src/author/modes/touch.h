// How the skin gives way where it is pressed: static responses of the flesh to a load on a patch of skin.
#pragma once

#include "base/arena.h"
#include "base/watch.h"
#include "character/character.h"
#include "volume/volume.h"

/// Probes of the skin, about evenly apart, and what a push at each does to all of it.
typedef struct jnaTouch {
    int probeCount, vertexCount;
    double spacing; // metres between neighbouring probes; the patch of a push has this radius
    jnaArena memory;
    int32_t* probes;  // [probeCount], vertices
    float* depths;    // [vertexCount], metres of flesh under a vertex; 0: none
    float* normals;   // [probeCount][3], mean direction out of the skin there, unit
    float* responses; // [probeCount][vertexCount][3], metres for a push of one newton into the skin, at rest
} jnaTouch;
void jnaDestroyTouch(jnaTouch* touch);

/// Solves linear elasticity about the rest pose for every probe. Loads are cones on skin that faces as the probe does.
jnResult jnaFindTouch(const jnaVolume* volume, const jnaCharacter* character, double spacing, const jnaWatch* watch,
    jnaTouch* touch, jnError* error);

/// Unit normals of the rest surface, and each vertex' part of its area. normals: [vertexCount][3]; areas: [vertexCount], m2.
void jnaMeasureSkin(const jnaCharacter* character, double* normals, double* areas);
