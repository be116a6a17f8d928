// Material of the flesh.
//
// Every call takes a volume whose mesh is filled and a character of the same rest pose, and owns nothing of either.
// The bytes do not depend on the number of threads.
#pragma once

#include "volume/anatomy.h"
#include "volume/volume.h"

/// Flesh that differs from the rest: that of one joint, or the layer under the skin.
typedef struct jnaJointMaterial {
    char* joint;          // NULL for the layer
    double youngFactor;   // times the general one; 1
    double densityFactor; // 1
    double poisson;       // below 0, the default: as the rest
} jnaJointMaterial;

/// A region of the body.
typedef struct jnaRegionSetting {
    jnaRegion region;
    double youngFactor;   // times the general one; below 0, the default: that of the region
    double densityFactor; // the same
    double poisson;       // below 0, the default: the general one
    double damping;       // times that of soft flesh; below 0, the default: that of the region
    bool rigid;           // all of it is bone; false
} jnaRegionSetting;

/// How lean or heavy a body is.
typedef enum jnaBodyBuild {
    jna_buildAuto, // as its shape says
    jna_buildLean,
    jna_buildAverage,
    jna_buildHeavy,
} jnaBodyBuild;

/// What the manifest says of a body. Start from jnaDefaultBodyDef.
typedef struct jnaBodyDef {
    jnaBodyBuild build;           // auto
    double softness[JNA_REGIONS]; // times as soft as the tissue; 1
    double damping[JNA_REGIONS];  // times as damped; 1
    double tone[JNA_REGIONS];     // of the muscles, 0 relaxed to 1 tense; below 0, the default: as of a body in motion
} jnaBodyDef;
jnaBodyDef jnaDefaultBodyDef(void);

/// What the flesh is made of. Start from jnaDefaultMaterialsDef.
typedef struct jnaMaterialsDef {
    double density;    // kg/m3; 1000
    double young;      // Pa; 30000
    double poisson;    // 0.45
    double stiffening; // sheared by g flesh is 1 + stiffening g^2 times as stiff; 0
    jnaBodyDef body;   // the manifest has it under body and tuning
    int jointCount;
    jnaJointMaterial* joints; // [jointCount], what differs
    int regionCount;
    jnaRegionSetting* regions; // [regionCount], the same
    bool calibrate;            // regions are made as soft as a body's are; true
    double fatDepth;           // metres under the skin that are fat; 0: none
    jnaJointMaterial fat;      // half as stiff, 0.9 of the density
} jnaMaterialsDef;
jnaMaterialsDef jnaDefaultMaterialsDef(void);

/// Young's modulus of a region, times the general one, and damping, times that of soft flesh, where nobody says.
double jnaRegionYoung(jnaRegion region);
double jnaRegionDamping(jnaRegion region);

/// Gives every tetrahedron its material; fills regions, materialCount, materials. Needs the weights.
/// def: NULL for the defaults.
jnResult jnaVolume_FillMaterials(
    jnaVolume* volume, const jnaCharacter* character, const jnaMaterialsDef* def, jnError* error);
