// How soft a character is: what its skin does when gravity is switched on, by region of the body.
//
// A body's first test: a part that sags by s under its own weight swings at about sqrt(g / s) / 2 pi, whatever it is
// made of. 20 mm is 3.5 Hz, 2 mm is 11 Hz.
#pragma once

#include "base/notes.h"
#include "volume/anatomy.h"
#include "volume/materials.h"
#include "volume/physique.h"

/// How a region's sag compares with what is expected of a human body of this physique.
typedef enum jnaSagFit {
    jna_sagUnknown, // nothing is expected: no bound, or no human body
    jna_sagFits,
    jna_sagSofter,
    jna_sagStiffer,
} jnaSagFit;

/// Displacement of the skin by gravity, lengths in metres.
typedef struct jnaSag {
    int vertexCount;
    jnaPhysique physique;
    jnaSagBounds expected[JNA_REGIONS]; // of this physique; they hold for people
    bool human;                         // as the physique has it
    double size;                        // greatest extent of the flesh, metres
    int axes;                           // that were solved; lengths of the others are 0
    float* lengths[3];                  // [vertexCount] under 9.81 m/s2 along -Y, -X, -Z
    float* depths;                      // [vertexCount], flesh under the skin, metres; 0 where it is held
    uint8_t* regions;                   // [vertexCount], jnaRegion
    bool converged;
} jnaSag;
void jnaDestroySag(jnaSag* sag);

/// Solves the rest pose under gravity, without contact. The volume needs weights, bones and materials. axes: 1 for -Y
/// alone, 3 for all. body: what the manifest says of it. About a second an axis
/// for 22,000 nodes.
jnResult jnaMeasureSag(const jnaVolume* volume, const jnaCharacter* character, const jnaBodyDef* body, int axes,
    jnaSag* sag, jnError* error);

/// Fills the materials as the body's physique has them. Calibration then corrects what the mesh falsifies: a region
/// whose free skin does not sag as its layers should is scaled, by a factor of three at most. A region that is mostly
/// held is never made softer. Regions that the def lists keep what it says, and calibrate: false scales none. Notes say
/// what was found and scaled; may be NULL.
jnResult jnaVolume_CalibrateMaterials(
    jnaVolume* volume, const jnaCharacter* character, const jnaMaterialsDef* def, jnaNotes* notes, jnError* error);

/// Vertices of a region that no bone holds; 0 where it has no layers of flesh or where they are too few to say
/// anything.
int jnaSag_FreeCount(const jnaSag* sag, jnaRegion region);

/// Median and greatest length over the vertices of a region; over its free ones alone where it has layers of flesh and
/// enough of them are free. Returns how many vertices the region has.
int jnaSag_Region(const jnaSag* sag, int axis, jnaRegion region, double* median, double* greatest);

/// What the median of a region under gravity along -Y, metres, says.
jnaSagFit jnaSag_Judge(const jnaSag* sag, jnaRegion region, double median);
