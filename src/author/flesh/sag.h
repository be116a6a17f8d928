// How soft a character is: what its skin does when gravity is switched on, by region of the body.
//
// A body's first test: a part that sags by s under its own weight swings at about sqrt(g / s) / 2 pi, whatever it is
// made of. 20 mm is 3.5 Hz, 2 mm is 11 Hz.
#pragma once

#include "base/notes.h"
#include "volume/anatomy.h"
#include "volume/materials.h"

/// What is expected of a region of a human body; 0 for no bound.
typedef struct jnaSagBounds {
    double least, most; // metres, of the median
    double aim;         // what materials are calibrated to, within; 0: nothing
} jnaSagBounds;
extern const jnaSagBounds jnaExpectedSag[JNA_REGIONS];

/// How a region's sag compares with what is expected of a human body.
typedef enum jnaSagFit {
    jna_sagUnknown, // nothing is expected: no bound, or no human body
    jna_sagFits,
    jna_sagSofter,
    jna_sagStiffer,
} jnaSagFit;

/// Displacement of the skin by gravity, lengths in metres.
typedef struct jnaSag {
    int vertexCount;
    bool human;        // a standing body with head, two arms and two legs, of a person's size: the bounds hold for it
    double size;       // greatest extent of the flesh, metres
    int axes;          // that were solved; lengths of the others are 0
    float* lengths[3]; // [vertexCount] under 9.81 m/s2 along -Y, -X, -Z
    uint8_t* regions;  // [vertexCount], jnaRegion
    bool converged;
} jnaSag;
void jnaDestroySag(jnaSag* sag);

/// Solves the rest pose under gravity, without contact. The volume needs weights, bones and materials. axes: 1 for -Y
/// alone, 3 for all. About a second an axis for 22,000 nodes.
jnResult jnaMeasureSag(const jnaVolume* volume, const jnaCharacter* character, int axes, jnaSag* sag, jnError* error);

/// Fills the materials so that every region sags as a body's does: a lean character's flesh is softer than a heavy
/// one's, where the same stiffness would leave it hard as wood. Starts from the def's materials, as
/// jnaVolume_FillMaterials, and scales regions whose median is outside what is expected; regions that the def
/// lists keep what it says, and calibrate: false keeps all. Notes say what was scaled; may be NULL.
jnResult jnaVolume_CalibrateMaterials(
    jnaVolume* volume, const jnaCharacter* character, const jnaMaterialsDef* def, jnaNotes* notes, jnError* error);

/// Median and greatest length over the vertices of a region. Returns how many there are.
int jnaSag_Region(const jnaSag* sag, int axis, jnaRegion region, double* median, double* greatest);

/// What the median of a region under gravity along -Y, metres, says.
jnaSagFit jnaSag_Judge(const jnaSag* sag, jnaRegion region, double median);
