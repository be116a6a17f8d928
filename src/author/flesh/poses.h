// Which poses the flesh is solved in: drawn within the ranges of joints, picked from clips, given by hand. Only clips
// to train on come here: a pose must not know what it will be judged by.
//
// A pose is the local rotation of every joint. The joints that only say where the body stands, the root chain, are at
// rest in all of them: what the flesh looks like does not depend on them. The same definition gives the same bytes on
// every machine; no function of the mathematical library but the square root takes part.
#pragma once

#include "base/notes.h"
#include "character/character.h"
#include "volume/anatomy.h"

typedef enum jnaPoseKind {
    jna_poseRandom = 0,
    jna_poseClip = 1,
    jna_poseHand = 2,
} jnaPoseKind;

/// What is sampled. Start from jnaDefaultPoseDef.
typedef struct jnaPoseDef {
    const jnaCharacter* character;
    int clipCount;
    const jnaClip* clips;      // [clipCount], those to train on alone
    const jnaAnatomy* anatomy; // ranges of the joints that are recognised; NULL: limbs are mixed from the clips
    int handCount;
    const float* hand; // [handCount][jointCount][4], unit quaternions x, y, z, w; NULL for none
    int count;         // poses in all
    double random;     // share of random poses among those that are learned from; 0.75
    double fromClips;  // share of frames; 0.25. The two are taken in their ratio
    double heldOut;    // share of frames among all poses that are held back, runs of frames of the clips; 0.02
    double widen;      // how far random poses may go past the clips' limits, share of the range; 0.1
    uint64_t seed;     // 1
} jnaPoseDef;
jnaPoseDef jnaDefaultPoseDef(const jnaCharacter* character);

/// Poses in the order they are solved. A smaller count gives the beginning of a larger one, and every beginning has
/// the mixture that was asked for.
typedef struct jnaPoseSet {
    int count, jointCount;
    float* rotations; // [count][jointCount][4], owned as all below
    uint8_t* kinds;   // [count], jnaPoseKind
    int32_t* clips;   // [count], index of the clip or -1
    int32_t* frames;  // [count], frame of that clip or -1
    uint8_t* heldOut; // [count], 1 for a frame that is held back from training
} jnaPoseSet;

/// Samples poses: those by hand first, then the others mixed. Ends early, with a note, where the clips have no more
/// frames and no random poses are wanted.
jnResult jnaCreatePoses(const jnaPoseDef* def, jnaPoseSet* poses, jnaNotes* notes, jnError* error);
void jnaDestroyPoses(jnaPoseSet* poses);

/// The poses as a clip, one a frame, with the translations and scales of rest.
jnResult jnaPoseSet_ToClip(const jnaPoseSet* poses, const jnaCharacter* character, jnaClip* clip, jnError* error);

/// The root chain: from the root with the most joints below it down to and including the first joint that has several
/// children; the root alone where none has. inChain: [jointCount], may be NULL. Returns the last joint of the chain.
int jnaRootChain(const jnaCharacter* character, bool* inChain);

/// A copy of a clip whose root chain stays at rest.
jnResult jnaClip_WithoutRoot(const jnaCharacter* character, const jnaClip* clip, jnaClip* still, jnError* error);

/// How a frame carries the body from where the root chain rests. affine: [12], rows of 4, in double precision.
void jnaRootMotion(const jnaCharacter* character, const jnaClip* clip, int frame, double* affine);

/// The mean of the clips' frames: every joint's rotation, the root chain at rest; the rest pose without clips.
/// rotations: [jointCount][4], local.
void jnaMeanPose(const jnaCharacter* character, int clipCount, const jnaClip* clips, float* rotations);

/// A clip that shakes a character in one pose, so that all its flesh swings. Start from jnaDefaultShakeDef.
typedef struct jnaShakeDef {
    const jnaCharacter* character;
    const float* pose;  // [jointCount][4], local rotations
    double rate;        // frames a second
    int frameCount;     //
    double lowestHertz; // of the flesh; 3
    bool turns;         // it is turned as well; true. Not where gravity acts, whose direction would turn in the body
    uint64_t seed;      // 1
} jnaShakeDef;
jnaShakeDef jnaDefaultShakeDef(const jnaCharacter* character, const float* pose);

/// Makes it: in each direction and about each axis a sum of sines, about 1 g in the flesh. The first frame is the pose
/// itself. Destroy it with jnaDestroyClip.
jnResult jnaCreateShake(const jnaShakeDef* def, jnaClip* clip, jnError* error);
