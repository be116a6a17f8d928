// Bones inside the flesh, and the nodes that they hold.
//
// Every call takes a volume whose mesh is filled and a character of the same rest pose, and owns nothing of either.
// The bytes do not depend on the number of threads.
#pragma once

#include "base/notes.h"
#include "volume/materials.h"
#include "volume/volume.h"

/// The bones of one joint: its shaft, its ball, a rib cage or a pelvis.
typedef struct jnaJointBone {
    char* joint;
    double radius; // times what is placed by itself; 0: no bone; 1
    double length; // the same
    bool rigid;    // all flesh that the joint moves most is bone; false
} jnaJointBone;

/// How bones are placed and how they hold. Start from jnaDefaultBonesDef.
typedef struct jnaBonesDef {
    jnaBoneHold hold; // spring
    double stiffness; // of springs, 1/s2; 1e7
    int jointCount;
    jnaJointBone* joints; // [jointCount], what differs
    int regionCount;
    jnaRegionSetting* regions; // [regionCount], rigid alone
} jnaBonesDef;
jnaBonesDef jnaDefaultBonesDef(void);

/// A piece of bone: a segment with an elliptic cross-section that tapers, rounded at both ends, less what lies under
/// its cover. Rest pose, metres.
typedef struct jnaBone {
    int joint;          // that it follows
    bool ball;          // it turns with half of the joint's rotation, about the joint
    bool blends;        // it follows the skinned positions of its nodes, as a spine does
    double cover;       // flesh between it and the skin; 0: as its shape says
    double ends[2][3];  // equal for an ellipsoid
    double axes[3][3];  // unit: across, across, along
    double radii[2][2]; // at each end, along the first two axes
    double caps[2];     // how far the rounding reaches beyond each end
} jnaBone;

typedef struct jnaBoneList {
    int count;
    jnaBone* bones; // [count], owned
} jnaBoneList;
void jnaDestroyBoneList(jnaBoneList* bones);

/// How far out a point lies in a bone: below 1 inside, 0 on its axis.
double jnaBone_Depth(const jnaBone* bone, const double* point);

/// Places bones inside the flesh and holds the nodes in them; fills heldBy, holdStrength. Needs the weights.
/// def: NULL for the defaults. bones: what was placed, may be NULL.
/// Notes say what each part of the character was taken for.
jnResult jnaVolume_PlaceBones(jnaVolume* volume, const jnaCharacter* character, const jnaBonesDef* def,
    jnaBoneList* bones, jnaNotes* notes, jnError* error);
