// How a character's flesh moves in motions that have been measured on people: the built-in walk, run and drop from a
// step of 30 cm, put on its skeleton and played by its modes. See docs/guides/anatomy.md.
#pragma once

#include "pipeline/play.h"
#include "volume/anatomy.h"

/// The motions.
typedef enum jnaStandardMove {
    jna_moveWalk,
    jna_moveRun,
    jna_moveDrop,
    JNA_STANDARD_MOVES,
} jnaStandardMove;
extern const char* const jnaStandardMoveNames[JNA_STANDARD_MOVES];

/// What is compared. The first are travel in a motion, metres.
typedef enum jnaPeopleQuantity {
    jna_peopleWalk = jna_moveWalk,
    jna_peopleRun = jna_moveRun,
    jna_peopleDrop = jna_moveDrop,
    jna_peopleHertz,
    jna_peopleRatio, // damping ratio
    JNA_PEOPLE_QUANTITIES,
} jnaPeopleQuantity;

/// A measurement on people.
typedef struct jnaPeopleMeasurement {
    jnaRegion region;
    jnaPeopleQuantity quantity;
    double least, most; // metres, hertz or nothing
    const char* of;     // who was measured, and how
    const char* source;
} jnaPeopleMeasurement;

/// All that we know of; how many.
int jnaPeopleMeasurements(const jnaPeopleMeasurement** list);

/// Peak-to-peak travel in one motion by region: the diagonal of the box, in the frame of the joint that moves it most,
/// around a vertex' path, which a tenth of the region's vertices exceed. Loops are measured after one round. regions:
/// [vertexCount] of the character, jnaRegion; travel: [JNA_REGIONS], metres. jn_badData where the character is no human
/// body.
jnResult jnaMeasureStandardMove(
    const jnaPlayer* player, jnaStandardMove move, const uint8_t* regions, double* travel, jnError* error);
