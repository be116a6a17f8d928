// What the parts of a character are: trunk, head, limbs and their joints, and the regions of its flesh.
//
// Found from the names of joints where they make whole limbs (character/body.h), and from the shape of the skeleton and
// of the flesh around it where they do not: two long branches of one joint that are equally long are a pair of limbs;
// the pair that is nearest to the head hangs on the chest, the farthest one on the pelvis. A skeleton without pairs has
// no trunk, and its joints are plain chains. What a person named (jnaCharacter.body) is above both.
#pragma once

#include "base/notes.h"
#include "character/character.h"
#include "volume/volume.h"

/// What a joint moves.
typedef enum jnaBodyPart {
    jna_bodyNone,   // no flesh at all: targets, helpers
    jna_bodyChain,  // a tail, a tentacle, a blob: nothing that is known
    jna_bodyTrunk,  // pelvis, spine, chest
    jna_bodyNeck,   //
    jna_bodyHead,   // with jaw, eyes, ears
    jna_bodyGirdle, // between the trunk and a limb: collar bone, hip stub
    jna_bodyUpper,  // thigh, upper arm
    jna_bodyLower,  // shin, forearm
    jna_bodyEnd,    // foot, hand, with all digits
    JNA_BODY_PARTS,
} jnaBodyPart;

/// Regions of the flesh. The words in jnaRegionNames are those of the manifest.
typedef enum jnaRegion {
    jna_regionOther,
    jna_regionHead,
    jna_regionNeck,
    jna_regionChest,
    jna_regionBreast,
    jna_regionBelly,
    jna_regionBack,
    jna_regionButtock,
    jna_regionHip,
    jna_regionUpperArm,
    jna_regionElbow,
    jna_regionForeArm,
    jna_regionHand,
    jna_regionThigh,
    jna_regionKnee,
    jna_regionShin,
    jna_regionCalf,
    jna_regionFoot,
    JNA_REGIONS,
} jnaRegion;
extern const char* const jnaRegionNames[JNA_REGIONS];

enum { JNA_MAX_LIMBS = 16, JNA_CHEST_HEIGHTS = 10, JNA_CHEST_RAYS = 24 };

/// A limb. Joints are -1 where it has none.
typedef struct jnaLimb {
    int first;                                 // joint where the branch leaves the trunk
    int hangs;                                 // joint of the trunk that the branch hangs on
    int side;                                  // 0 left, 1 right, -1 where that is not known
    bool hind;                                 // it hangs on the pelvis
    int root, hinge, end;                      // hip, knee, ankle; shoulder, elbow, wrist
    bool leg;                                  // it hangs on the pelvis, or the trunk lies
    double rootAt[3], hingeAt[3], endAt[3];    // rest positions
    double front[3];                           // unit: where the toes point, square to the shin; 0 if unknown
    double rootRadius, hingeRadius, endRadius; // half-thickness of the flesh there, metres
} jnaLimb;

/// Where a trunk ends and which way it faces, in the rest pose.
typedef struct jnaAnatomy {
    int jointCount;
    uint8_t* parts; // [jointCount], jnaBodyPart
    int8_t* limbOf; // [jointCount], limb of girdle, upper, lower and end joints, or -1
    double size;    // greatest extent of the flesh, metres
    int limbCount;
    jnaLimb limbs[JNA_MAX_LIMBS];
    bool trunk;                      // the four below are known
    int pelvis, chest;               // joints; chest is -1 with one pair of limbs
    int head;                        // joint, or -1
    double hips[3], shoulders[3];    // middles of the limbs' roots
    double up[3], front[3], left[3]; // unit: from hips to shoulders, towards the belly, across
    double length;                   // from hips to shoulders
    double ribs[2][2];               // half-width and half-depth of the rib cage at its lower and upper end
    double ribsAt[2][3];             // middles of these ends; no rib cage: half-widths 0
    // Flesh between the rib cage and the skin, metres, by height from 0.5 to 1 and by direction
    // around the cage, evenly turned from the left to the front.
    float overRibs[JNA_CHEST_HEIGHTS][JNA_CHEST_RAYS];
    bool breasts; // flesh bulges over the fold below it
} jnaAnatomy;

void jnaDestroyAnatomy(jnaAnatomy* anatomy);

/// Height of a point in the trunk: 0 at the hips, 1 at the shoulders.
double jnaAnatomy_Height(const jnaAnatomy* anatomy, const double* point);

/// The region of a point of the rest pose that a joint moves most.
jnaRegion jnaAnatomy_Region(const jnaAnatomy* anatomy, int joint, const double* point);

/// Regions of the character's vertices. Needs no volume. regions: [vertexCount].
void jnaAnatomy_SkinRegions(const jnaAnatomy* anatomy, const jnaCharacter* character, uint8_t* regions);

/// Finds the anatomy of a character with a volume. Destroy it afterwards.
jnResult jnaFindAnatomy(const jnaCharacter* character, const jnaVolume* volume, jnaAnatomy* anatomy, jnError* error);

/// The same of a character that has no volume yet, from its surface alone: quicker, and less exact where names say
/// nothing.
jnResult jnaFindSurfaceAnatomy(const jnaCharacter* character, jnaAnatomy* anatomy, jnError* error);

/// The joints of the parts that were recognised, -1 for none. joints: [JNA_BODY_SLOTS].
void jnaAnatomy_Body(const jnaAnatomy* anatomy, const jnaCharacter* character, int* joints);

/// What was taken for what, in a few lines for a person.
void jnaAnatomy_Tell(const jnaAnatomy* anatomy, const jnaCharacter* character, jnaNotes* notes);
