// The character from the inside, shared by character.c (life), character_step.c (time) and character_tail.c (vertices
// without springs).
#pragma once

#include "lanes.h"
#include "modes.h"
#include "network.h"
#include "rig.h"
#include "springs_internal.h"

enum { JN_TAIL_HISTORY = 3 };

// Vertices behind the last spring: they stay on their targets and only need a short history, for velocities and, with
// exact timing, for the sample that the springs lag behind.
typedef struct jnTailClock {
    int sampleCount;     // up to JN_TAIL_HISTORY
    int newest;          // slot
    double durations[2]; // between the samples, oldest first
} jnTailClock;

struct jnCharacter {
    const jnAsset* asset;
    jnSprings* springs; // NULL: the asset has none
    jnModes* modes;     // NULL: the asset has none
    const jnRigKernels* kernels;
    jnAllocator allocator;
    bool ownsMemory;
    bool lags;      // output belongs to the pose before the newest
    bool stretches; // the pose at hand has joints that are not rigid
    bool masked;
    uint64_t badPoseCount;
    int springCount;  // that of the asset, or its drivers at coarse detail
    int springBlocks; // blocks from here on have no springs
    int tailBlock;    // the tail begins here: behind the springs, or at 0 where drivers carry others along
    bool coarse;

    // Scratch of a step.
    double* globals;       // [jointCount][12], joint to world, by TakePose
    float* palette;        // [jointCount][JN_PALETTE_SIZE], by TakePose
    float* duals;          // [jointCount][JN_DUAL_SIZE], with dual quaternions or modes
    float* stretchPalette; // [jointCount][JN_PALETTE_SIZE], as duals
    float* field;          // [blockCount][3][JN_LANES], skinned, where the springs' slot cannot take it
    float* positions;      // [blockCount * JN_LANES][3] and four floats more, by the step
    float* velocities;     // [blockCount * JN_LANES][3]
    float* normals;        // [normal blocks * JN_LANES][3]
    uint8_t* mask;         // [springBlocks], by SetMask: the block moves

    // The network; network.head is NULL if the asset has none. The state is of the pose at hand, by TakeTargetPose.
    jnNetwork network;
    const jnNetworkKernels* networkKernels;
    jnNetworkState networkState;

    // What a step changes besides the springs.
    jnTailClock tail;
    float* tails[JN_TAIL_HISTORY]; // [tail blocks][3][JN_LANES], targets
    size_t tailSize;               // bytes of one
};

// Skins blocks [first, end) of the pose at hand into a field whose first block is `start`.
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
        .field = field,
        .fieldStart = start,
    };
    c->kernels->skin(&pass, first, end);
}

// The same with what the network adds: the springs' targets. The pose at hand was taken by TakeTargetPose.
static inline void jnTargetBlocks(const jnCharacter* c, int first, int end, float* field, int start)
{
    jnSkinBlocks(c, first, end, field, start);
    if (c->network.head != NULL && c->networkState.strength != 0.0f) {
        jnDisplacePass pass = jnNetwork_Pass(&c->network, c->asset, &c->networkState);
        pass.field = field;
        pass.fieldStart = start;
        c->networkKernels->displace(&pass, first, end);
    }
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
// A step on targets given from outside, [springCount][3] in the asset's order, for measuring; the pose only turns the
// frames of the modes. Positions of the springs come to `positions`; the tail is left alone.
void jnStepOnTargets(jnCharacter* character, const jnCharacterInput* input, const float* targets);

// character_modes.c
typedef void jnTakePose(jnCharacter* character, const jnPose* pose);
// The springs of single vertices do not move: there are modes, and they are all there is.
bool jnVerticesRest(const jnCharacter* character);
// Whether the modes write this output themselves, after the springs did.
bool jnModesShowDirectly(const jnCharacter* character, const jnSpringsOutput* output);
// After the springs took a sample; advanced: over an interval.
void jnStepModes(jnCharacter* character, bool advanced);
// With exact timing, brings springs and modes to the newest sample.
void jnFinishModes(jnCharacter* character);
// Springs and modes at a fraction of the last interval.
void jnShowModes(jnCharacter* character, double fraction, const jnSpringsOutput* output);
// Modes at the newest sample straight into `positions`: on the targets where the vertices rest, else onto what the
// springs have just written there.
void jnAddModes(jnCharacter* character);
// The part of a loop that is the modes', after the springs'.
jnResult jnLoopModes(
    jnCharacter* character, const jnCharacterLoop* loop, jnTakePose* take, int* unsolved, jnError* error);

// character_tail.c
// Takes the pose at hand as the next sample of the tail.
void jnStepTail(jnCharacter* character, double h, jnTeleport teleport);
// Lets the tail stand on its newest sample, with a history that begins there.
void jnStopTail(jnCharacter* character);
// Positions, and velocities if wanted, of the tail at a fraction of the last interval, into the character's arrays.
void jnShowTail(jnCharacter* character, double fraction, bool wantsVelocities);
