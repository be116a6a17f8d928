// The character from the inside, shared by character.c (life), character_pose.c (what is skinned), character_step.c
// (time), character_morphs.c (time without springs of single vertices), character_deliver.c (the way out) and
// character_tail.c (vertices without springs).
#pragma once

#include "lanes.h"
#include "morph_targets.h"
#include "morphs.h"
#include "network.h"
#include "rig.h"
#include "springs_internal.h"
#include "touch.h"

enum { JN_TAIL_HISTORY = 3 };

// Vertices behind the last spring: they stay on their targets and only need a short history, for velocities and, with
// exact timing, for the sample that the springs lag behind.
typedef struct jnTailClock {
    int sampleCount;     // up to JN_TAIL_HISTORY
    int newest;          // slot
    double durations[2]; // between the samples, oldest first
} jnTailClock;

// Metres; places within a character are good to a tenth of a millimetre there, and what they come to is finite.
#define JN_LARGEST_ORIGIN 1e12
// Weights and their rates are shown within this, far beyond any that is seen: a surface of them is finite.
#define JN_LARGEST_WEIGHT 1e9f

// Joints of a pose that fit the stack; a character with more has memory of its own for them.
enum { JN_STACK_JOINTS = 192 };

struct jnCharacter {
    const jnAsset* asset;
    jnSprings* springs; // of single vertices; NULL: none, and then there are morphs
    jnMorphs* morphs;   // the state as morph weights; NULL: there are springs
    const jnRigKernels* kernels;
    const jnTargetKernels* targetKernels;
    jnAllocator allocator;
    bool ownsMemory;
    bool lags;      // output belongs to the pose before the newest
    bool stretches; // the pose at hand has joints that are not rigid
    bool masked;
    bool weightsOnly;
    bool isTouched; // there are colliders, or were in the last step
    uint64_t badPoseCount;
    double seconds;   // of all steps
    int springCount;  // that of the asset, or its drivers at coarse detail
    int springBlocks; // blocks from here on have no springs
    int tailBlock;    // the tail begins here: behind the springs, or at 0 where drivers carry others along
    bool coarse;
    double origin[3];    // of the newest pose
    double past[3];      // of what springs of single vertices and the tail know, by the step
    jnTransform root;    // first joint of the newest pose
    double rootPlace[3]; // its place, origin included

    // The pose at hand.
    double* matrices;      // [2][jointCount][12], for more than JN_STACK_JOINTS joints, else NULL
    float* turns;          // [jointCount][4], as matrices
    float* palette;        // [jointCount][JN_PALETTE_SIZE], by UseMatrices
    float* duals;          // [jointCount][JN_DUAL_SIZE], with dual quaternions
    float* stretchPalette; // [jointCount][JN_PALETTE_SIZE], as duals
    float* weights;        // [2][columns], morph weights and their rates
    int16_t* coefficients; // [columns], of the morph targets that the surface shows
    float weightUnit;      // of the coefficients
    float* targets;        // [2][targetCount], weights of the source's targets, 0 at rest, and their rates
    const float* posed;    // of these, what the surface shows; NULL: none
    bool shaped;           // there are morph targets to show
    bool mapped;           // there is a map of displacements to show
    bool bare;             // displacements alone, as directions

    // The surface.
    float* field;      // [blockCount][3][JN_LANES], skinned, where the springs' slot cannot take it
    float* positions;  // [blockCount * JN_LANES][3] and four floats more, by the step
    float* velocities; // [blockCount * JN_LANES][3]
    float* normals;    // [normal blocks * JN_LANES][3]
    uint8_t* mask;     // [springBlocks], by SetMask: the block moves

    // The network; network.head is NULL if the asset has none.
    jnNetwork network;
    const jnNetworkKernels* networkKernels;
    jnNetworkState networkState;

    jnTouchState* touch; // NULL: the asset has none

    // What a step changes besides the springs.
    jnTailClock tail;
    float* tails[JN_TAIL_HISTORY]; // [tail blocks][3][JN_LANES], targets
    size_t tailSize;               // bytes of one
};

// Skins blocks [first, end) of the pose at hand, with its morph targets or its map, into a field whose first block is
// `start`.
static inline void jnSkinBlocks(const jnCharacter* c, int first, int end, float* field, int start)
{
    const jnAsset* asset = c->asset;
    bool dual = asset->skinning == jn_skinDual;
    jnSkinPass pass = {
        .rest = asset->rest,
        .starts = asset->influenceStarts,
        .joints = asset->influenceJoints,
        .weights = asset->influenceWeights,
        .palette = c->palette,
        .duals = dual ? c->duals : NULL,
        .stretches = dual && c->stretches ? c->stretchPalette : NULL,
        .displaced = c->mapped || c->shaped || c->posed != NULL,
        .bare = c->bare,
        .field = field,
        .fieldStart = start,
    };
    if (c->mapped) {
        jnNetwork_LookUp(
            &c->network, &c->networkState, c->networkKernels, asset->vertexCount, first, end, field, start);
    }
    if (c->shaped) {
        c->targetKernels->displace(&(jnTargetsPass){.morphs = asset->morphs,
                                       .coefficients = c->coefficients,
                                       .unit = c->weightUnit,
                                       .added = c->mapped,
                                       .field = field,
                                       .fieldStart = start},
            first, end);
    }
    if (c->posed != NULL) {
        if (!c->mapped && !c->shaped) {
            memset(field + (size_t)(first - start) * JN_FIELD_SIZE, 0,
                (size_t)(end - first) * JN_FIELD_SIZE * sizeof(float));
        }
        jnAddTargets(asset, c->posed, first, end, field, start);
    }
    c->kernels->skin(&pass, first, end);
}

// x, y, z one after another from a vector field whose first block is `start`, vertices [first, end); first is that of
// a block.
static inline void jnPackField(const float* field, int start, int first, int end, float* to)
{
    int v = first;
    for (; v + JN_LANES <= end; v += JN_LANES) {
        const float* at = field + (size_t)(v / JN_LANES - start) * JN_FIELD_SIZE;
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnPack(at + i, at + JN_LANES + i, at + 2 * JN_LANES + i, to + 3 * (size_t)(v + i));
        }
    }
    for (; v < end; ++v) {
        const float* at = field + (size_t)(v / JN_LANES - start) * JN_FIELD_SIZE + v % JN_LANES;
        for (size_t axis = 0; axis < 3; ++axis) {
            to[3 * (size_t)v + axis] = at[axis * JN_LANES];
        }
    }
}

// character_step.c
void jnRestMaskedSprings(jnCharacter* character);
// A step of springs of single vertices on targets given from outside, [springCount][3] in the asset's order, for
// measuring. Positions of the springs come to `positions`; the tail is left alone.
void jnStepOnTargets(jnCharacter* character, const jnCharacterInput* input, const float* targets);
// character_morphs.c
// Steps a character on what drives its modes besides the skeleton, [modeCount], instead of the network's components,
// and on those components [componentCount] (NULL: 0), for measuring. Gives the weights of the modes alone, [modeCount].
void jnStepOnDrive(
    jnCharacter* character, const jnCharacterInput* input, const float* drive, const float* components, float* weights);

// character_pose.c
// The pose's matrices, from joint to world and then the skin's; where the pose is not finite the newest once more.
// Returns false there.
bool jnTakePose(jnCharacter* character, const jnPose* pose, double* matrices);
// The network's inputs from rotations of the joints, [jointCount][4].
void jnTakeInputs(jnCharacter* character, const float* turns);
// What is skinned: matrices [jointCount][12] minus an origin (NULL: 0), and morph weights [columns] (NULL: none).
void jnUseMatrices(jnCharacter* character, const double* matrices, const double* origin);
void jnUseWeights(jnCharacter* character, const float* weights);
// A pose's weights of the source's targets, 0 at rest, into the character's.
void jnTakeTargets(jnCharacter* character, const jnPose* pose);
// Which of them the surface shows: [targetCount], the character's own.
void jnUseTargets(jnCharacter* character, const float* weights);
// Makes a pose the one at hand, with what the network makes of it or without.
void jnUsePose(jnCharacter* character, const jnPose* pose, bool network);
// Whether the network has a say.
bool jnNetworkActs(const jnCharacter* character);

// character_deliver.c
// Hands out what the character's own arrays hold.
void jnDeliver(jnCharacter* character, const jnCharacterOutput* output, bool hasVelocities);
// Weights at hand, [columns], to the caller's, [weightCount]; NULL: nobody wants them.
void jnDeliverWeights(const jnCharacter* character, const float* columns, float* weights);
// The same of how fast they change. columns: the weights, whose signs matter where targets are pairs.
void jnDeliverRates(const jnCharacter* character, const float* columns, const float* rates, float* out);

// character_morphs.c: characters without springs of single vertices
void jnShowMorphs(jnCharacter* character, double fraction, const jnCharacterOutput* output);
jnResult jnLoopMorphs(jnCharacter* character, const jnCharacterLoop* loop, int* unsolved, jnError* error);
void jnStepMorphs(
    jnCharacter* const* characters, const jnCharacterInput* inputs, const jnCharacterOutput* outputs, int count);

// touch.c
// What the modes have felt of the time since the sample before.
typedef enum jnTouchModes {
    jn_touchStill,   // nothing: a pause
    jn_touchPassed,  // an interval
    jn_touchResting, // all of it: a restart
} jnTouchModes;
// Finds what the colliders press and lets the modes feel it. matrices: the skin's, where it is shown. weights: of the
// morph targets there, NULL: none. points: the vertices of the surface there, NULL: to be found.
void jnTouch(jnCharacter* character, const double* matrices, const float* weights, const float* points, jnTouchModes modes);
// Puts what was pressed last into the positions at hand.
void jnDent(jnCharacter* character);
// Lays its memory out, zeroed where base is not NULL; returns its bytes, 0 where the asset has no touch.
size_t jnPlaceTouchState(jnCharacter* character, const jnAsset* asset, char* base);

// character_tail.c
// Moves its history, metres.
void jnShiftTail(jnCharacter* character, const double shift[3]);
// Takes the pose at hand as the next sample of the tail.
void jnStepTail(jnCharacter* character, double h, jnTeleport teleport);
// Lets the tail stand on its newest sample, with a history that begins there.
void jnStopTail(jnCharacter* character);
// Positions, and velocities if wanted, of the tail at a fraction of the last interval, into the character's arrays.
void jnShowTail(jnCharacter* character, double fraction, bool wantsVelocities);
