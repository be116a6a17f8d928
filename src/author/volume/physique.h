// How lean or heavy a body is, found from its shape, and how soft the flesh of each region follows to be.
//
// Girths come from sections of the flesh, thicknesses from the distance of the skin to what the bones hold. Waist over
// height gives the fraction of fat; fat and thickness give the layers of each region (tissue.c).
#pragma once

#include "volume/anatomy.h"
#include "volume/materials.h"

/// A body's shape in numbers. Metres.
typedef struct jnaPhysique {
    bool human;         // a standing body with head, two arms and two legs, of a person's size
    double height;      // greatest extent of the flesh
    double waist;       // girths; 0 where there is no such part
    double hip;         //
    double thigh;       //
    double upperArm;    //
    double volume;      // of the flesh, m3
    double fat;         // fraction of the body's mass, as found or as the build says
    jnaBodyBuild build; // lean, average or heavy
    bool asked;         // the manifest says so
    bool dressed;       // much of its trunk and thighs is held, as by clothes and belts: stiff, and lean unless asked
    // By region, as the manifest has it: times as soft and as damped as the tissue; tone of the muscles, 0 to 1.
    double softness[JNA_REGIONS], damping[JNA_REGIONS], tone[JNA_REGIONS];
    // By region, over the skin that no bone holds.
    double thickness[JNA_REGIONS]; // of the flesh over the bone, median; 0: no such skin
    double freePart[JNA_REGIONS];  // fraction of the region's vertices, 0 to 1
} jnaPhysique;

/// Finds the physique of a character with weights and bones. depths: [vertexCount], receives the thickness of the flesh
/// under each vertex, 0 where a bone or skinning holds it; may be NULL.
jnResult jnaFindPhysique(const jnaVolume* volume, const jnaCharacter* character, const jnaAnatomy* anatomy,
    const jnaBodyDef* body, jnaPhysique* physique, float* depths, jnError* error);

/// The fraction of fat and the build that girths and free skin say; fills fat, build, asked, dressed and tone.
void jnaPhysique_Judge(jnaPhysique* physique, const jnaBodyDef* body);

/// One line for a person.
void jnaPhysique_Tell(const jnaPhysique* physique, jnaNotes* notes);

/// The name of a build, as in the manifest.
const char* jnaBuildName(jnaBodyBuild build);

/// How far a region's skin sags under 1 g; 0 for no bound.
typedef struct jnaSagBounds {
    double least, most; // metres, of the median
    double aim;         // what its layers lead to; 0: the region is held or hard, and only must not sag more
} jnaSagBounds;

/// Shear modulus of a region's layers taken as one, Pa; 0 for regions without layers of their own, which keep
/// jnaRegionYoung.
double jnaPhysique_Shear(const jnaPhysique* physique, jnaRegion region);

/// The tone of a region's muscles in a body that moves.
double jnaUsualTone(jnaRegion region);

/// How much more than soft flesh a region damps: muscle does, the more the tenser it is.
double jnaPhysique_Damping(const jnaPhysique* physique, jnaRegion region);

/// Young's modulus of a region over the general one of jnaDefaultMaterialsDef.
double jnaPhysique_YoungFactor(const jnaPhysique* physique, jnaRegion region);

/// The sag that is expected of a region of this body.
jnaSagBounds jnaPhysique_Sag(const jnaPhysique* physique, jnaRegion region);
