// How soft a character is: what its skin does when gravity is switched on, by region of the body.
//
// A body's first test: a part that sags by s under its own weight swings at about sqrt(g / s) / 2 pi, whatever it is
// made of. 20 mm is 3.5 Hz, 2 mm is 11 Hz.
#pragma once

#include "jounce-author/anatomy.h"

/// What is expected of a region of a human body; 0 for no bound.
typedef struct jnaSagBounds {
    double least, most; // metres, of the median
} jnaSagBounds;
extern const jnaSagBounds jnaExpectedSag[JNA_REGIONS];

/// Displacement of the skin by gravity, lengths in metres.
typedef struct jnaSag {
    int vertexCount;
    float* lengths[3]; // [vertexCount] under 9.81 m/s2 along -Y, -X, -Z
    uint8_t* regions;  // [vertexCount], jnaRegion
    bool converged;
} jnaSag;
void jnaDestroySag(jnaSag* sag);

/// Solves the rest pose under gravity along three axes, without contact. The volume needs weights, bones and materials.
/// A few seconds for 22,000 nodes.
jnResult jnaMeasureSag(const jnaVolume* volume, const jnaCharacter* character, jnaSag* sag, jnError* error);

/// Median and greatest length over the vertices of a region. Returns how many there are.
int jnaSag_Region(const jnaSag* sag, int axis, jnaRegion region, double* median, double* greatest);
