// What the files of the pose sampling share, and their tests look at.
#pragma once

#include "flesh/poses.h"

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

/// Whether random poses may be made from a clip.
static inline bool jnaPoseDef_Limits(const jnaPoseDef* def, int clip)
{
    return def->limitsOfAll || def->roles[clip] == jna_train;
}

/// Reads means and limits from the clips.
jnResult jnaCreateJointLimits(const jnaPoseDef* def, jnaJointLimits* limits, jnError* error);
void jnaDestroyJointLimits(jnaJointLimits* limits);

/// Frames of which clips.
typedef enum jnaPoolKind {
    jna_poolLimbs, // random poses are made from
    jna_poolTrain,
    jna_poolTest,
} jnaPoolKind;

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
