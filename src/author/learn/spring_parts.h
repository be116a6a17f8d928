// Springs part by part: where they are stiff, where they are soft, how many stopped at a bound, and how alike left and
// right came out.
#pragma once

#include "character/character.h"
#include "volume/volume.h"

/// Which part of the body each vertex belongs to. Anything that names parts can fill one in; jnaPartsByJoint is a
/// partition that every character has.
typedef struct jnaParts {
    int count;
    char (*names)[JNA_NAME_LENGTH]; // [count], owned
    int32_t* of;                    // [vertexCount], owned
} jnaParts;
void jnaDestroyParts(jnaParts* parts);

/// By the joint that moves a vertex most. Of a symmetric character a joint and its partner across the middle are one
/// part.
jnResult jnaPartsByJoint(const jnaCharacter* character, jnaParts* parts, jnError* error);

/// By region of the body (jnaRegionNames); by joint where no trunk was found.
jnResult jnaPartsByRegion(const jnaCharacter* character, const jnaVolume* volume, jnaParts* parts, jnError* error);

/// Springs of one part. "Stiff" is at least the stiffness that an unexcited spring gets (jnaDefaultSpring),
/// "overdamped" k_d^2 > 4 k_s.
typedef struct jnaSpringPart {
    char name[JNA_NAME_LENGTH];
    int count;
    int stiffOverdamped, softUnderdamped;
    int atBound;
    double stiffness, damping; // medians, 1/s^2 and 1/s
} jnaSpringPart;

/// Which bound a parameter stopped at.
typedef enum jnaBound {
    jna_boundStiffnessLow,
    jna_boundStiffnessHigh,
    jna_boundDampingLow,
    jna_boundDampingHigh,
    jna_boundCount,
} jnaBound;

/// All springs, and part by part. Parts without vertices are left out; the largest come first.
typedef struct jnaSpringParts {
    jnaSpringPart all;
    int count;
    jnaSpringPart* parts;       // [count], owned
    int bounds[jna_boundCount]; // springs at each; one may be at two
    double leftRight[2]; // correlation of log stiffness and log damping of vertices and their mirror images; NaN where
                         // the character is not symmetric
} jnaSpringParts;
void jnaDestroySpringParts(jnaSpringParts* parts);

/// Bounds at which a spring stopped, as bits 1 << jnaBound; 0: none. Within the ranges of jnaDefaultFitDef.
unsigned jnaBoundsOf(float stiffness, float damping);

/// stiffness, damping: [vertexCount]. parts: NULL for jnaPartsByJoint.
jnResult jnaSortSprings(const jnaCharacter* character, const jnaParts* parts, const float* stiffness,
    const float* damping, jnaSpringParts* out, jnError* error);
