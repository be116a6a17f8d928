// What the files of the pose sampling share, and their tests look at.
#pragma once

#include "flesh/poses.h"

#include "base/affine.h"
#include "base/arena.h"

/// Poses as numbers: every joint's rotation against its mean, as p = axis * tan(angle / 4) (modified Rodrigues
/// parameters). About a quarter of the rotation vector, without a singularity up to a full turn, and made with nothing
/// but division: the bytes do not depend on the machine's sine.
typedef struct jnaPosePool {
    int frameCount, jointCount;
    double* coordinates; // [frameCount][jointCount][3]
    int32_t* clips;      // [frameCount]
    int32_t* frames;     // [frameCount]
    jnaArena memory;
} jnaPosePool;

/// How the joints of a character move in clips.
typedef struct jnaJointLimits {
    int jointCount;
    double* mean;    // [jointCount][4], quaternions
    double* low;     // [jointCount][3], of the coordinates
    double* high;    // [jointCount][3]
    double* weights; // [jointCount], share of the skin that hangs on a joint; 0 in the root chain
    int32_t* limbs;  // [jointCount], which limb a joint moves with; -1 in the root chain
    int limbCount;
    jnaArena memory;
} jnaJointLimits;

/// Reads means and limits from the clips.
jnResult jnaCreateJointLimits(const jnaPoseDef* def, jnaJointLimits* limits, jnError* error);
void jnaDestroyJointLimits(jnaJointLimits* limits);

/// Which frames of the clips.
typedef enum jnaPoolKind {
    jna_poolTrain, // to learn from, and to make random poses from
    jna_poolHeld,  // held back, in runs of JNA_HELD_RUN frames: one run in JNA_HELD_EVERY
} jnaPoolKind;
enum { JNA_HELD_RUN = 16, JNA_HELD_EVERY = 10 };

jnResult jnaCreatePosePool(
    const jnaPoseDef* def, const jnaJointLimits* limits, jnaPoolKind kind, jnaPosePool* pool, jnError* error);
void jnaDestroyPosePool(jnaPosePool* pool);

/// Farthest-point sampling: each pick is the frame that is farthest from the rest pose and all picks before it, the
/// earliest among equals. Stops where only copies are left. weights: [jointCount]; start: [jointCount][3];
/// picks: [most]. Returns how many there are, or -1 without memory.
int jnaSpreadPoses(const jnaPosePool* pool, const double* weights, const double* start, int most, int32_t* picks);

/// Squared distance of two poses: weighted sum over the joints, in square radians for small rotations.
double jnaPoseDistance(const double* a, const double* b, const double* weights, int jointCount);

/// A local rotation as coordinates against the mean, and back.
void jnaPose_ToCoordinates(const float* rotation, const double* mean, double* coordinates);
void jnaPose_FromCoordinates(const double* coordinates, const double* mean, float* rotation);

enum { JNA_RANGE_CHAIN = 32, JNA_CAPSULES = 14 };

/// A limb whose joints have known ranges, in axes of the rest pose.
typedef struct jnaRangeLimb {
    int side;                     // 0 left, 1 right
    int girdle, root, hinge, end; // joints; girdle: the collar bone of an arm, or -1
    double neutral[3], out[3];    // unit: where it points in the anatomical pose; away from the body
    double along[3], front[3];    // unit: from hinge to end; where the toes point
    double palm[3];               // unit: where the palm of a hand faces
    double hingeAxis[3];          // of flexion
    double toNeutral[4];          // rotation from the rest pose to the anatomical one
    double straight[4];           // rotation of the hinge that stretches the limb
} jnaRangeLimb;

/// Joints that bend as one: spine, neck.
typedef struct jnaRangeChain {
    int count;
    int joints[JNA_RANGE_CHAIN];
} jnaRangeChain;

/// A part of a body, thick and round. Groups: trunk, head, four limbs of three capsules each.
typedef struct jnaCapsule {
    int group;
    int joints[2];      // that carry its ends
    double ends[2][3];  // at rest
    double local[2][3]; // in the joints
    double radius;
} jnaCapsule;

/// The ranges of a body's joints; see pose_ranges.c.
typedef struct jnaPoseRanges {
    const jnaCharacter* character;
    bool known; // a body of two legs and two arms; otherwise nothing below is there
    double up[3], front[3], left[3];
    double* rest;          // [jointCount][4], rotations of the rest pose in the body
    jnaRangeLimb limbs[4]; // left and right leg, left and right arm
    jnaRangeChain spine, neck;
    int capsuleCount;
    jnaCapsule capsules[JNA_CAPSULES];
    double atRest[JNA_CAPSULES][JNA_CAPSULES]; // how deep two of them are in each other
    jnaAffine* matrices;                       // [jointCount], scratch
    jnaArena memory;
} jnaPoseRanges;

/// Finds them; anatomy NULL, or of something else than a person: not `known`. Destroy them also after a failure.
jnResult jnaCreatePoseRanges(
    const jnaCharacter* character, const jnaAnatomy* anatomy, jnaPoseRanges* ranges, jnError* error);
void jnaDestroyPoseRanges(jnaPoseRanges* ranges);

/// Draws the recognised joints of a pose; the others stay as they are. rotations: [jointCount][4], local.
void jnaPoseRanges_Draw(const jnaPoseRanges* ranges, uint64_t seed, float* rotations);

/// pose_overlap.c: capsules of the body at rest.
jnResult jnaPoseRanges_FindCapsules(jnaPoseRanges* ranges, const jnaAnatomy* anatomy, jnError* error);

/// How deep the parts of the body are in each other in a pose, of what flesh can give way to; above 1 it is impossible.
double jnaPoseRanges_Overlap(const jnaPoseRanges* ranges, const float* rotations);
