// Springs on vibration modes from the inside: modes.c has their life and their step, character_modes.c the way between
// them and the surface.
//
// With S = the angular velocities of the joints times the asset's spins and p = z' + S z the velocity in space of the
// amplitudes z,
//     z' = p - S z        p' = -S p - k_s z - k_d (p - S z) - force
// where the force is the projected acceleration of the targets. An interval turns z and p by exp(-S h/2), steps the
// closed form in a frame that stands still, and turns again: what moves in space goes on in space while the frames
// turn.
#pragma once

#include "mode_kernels.h"
#include "springs_internal.h"

typedef struct jnModes {
    const jnAsset* asset;
    const jnModeKernels* kernels;
    const jnSpringKernels* springKernels;
    int count, lanes; // modes, and that rounded up to JN_LANES
    int blockCount;   // of vertices that have springs

    // Settings, [lanes] each.
    float *stiffness, *damping, *gain;
    float* limits;          // times the gain; 0: none
    float* caps;            // of the amplitudes that are shown; 0: none
    bool capped;            // any of them
    float* coefficients;    // [lanes / JN_LANES][JN_COEFFICIENT_ROWS][JN_LANES], for coefficientTime
    double coefficientTime; // 0: none

    // Scratch.
    float* sums;          // [count][JN_MODE_LANES][JN_MODE_FIELDS]
    float* columns;       // [count][lanes], the turn under way
    float* middle;        // [jointCount][4]
    float* spins;         // [jointCount][3], by jnModes_At
    float* aligned;       // [jointCount][4], by jnModes_Align
    uint64_t* neighbours; // [jointCount][neighbourWords], bits: joints that move a vertex together
    int neighbourWords;
    float* shown; // [2][lanes], by jnModes_Limit
    float* work;  // [8][lanes]
    float* added; // [blockCount][2][3][JN_LANES], offsets and velocities, by jnModes_Fill

    // What a step changes: one stretch of memory.
    float* moving;
    size_t movingSize;        // bytes
    float *now, *before;      // [2][lanes], z and p; `before` at the start of the last interval
    float* forces;            // [2][lanes], of the last interval: at its start, and its rate
    float* pairs;             // [pairCount], turn of the last interval, all of it
    float* turns[JN_HISTORY]; // [jointCount][4], rotations of the joints at the samples, in the springs' space
} jnModes;

size_t jnModes_ByteCount(const jnAsset* asset);
// Makes modes at a multiple of 64 in zeroed memory.
jnModes* jnMakeModes(void* memory, const jnAsset* asset, jnKernel kernel);

// A copy of rotations with signs such that, where it can be, joints that move one vertex have a positive product; sets
// the pass to it.
void jnModes_Align(jnModes* modes, const float* turns, jnModePass* pass);

// The modes that live at a joint (all with -1) as in the asset, frequency, damping ratio and gain scaled.
int jnModes_Tune(jnModes* modes, int joint, float hertzScale, float ratioScale, float gainScale);

// The asset's caps times a scale; 0: none.
void jnModes_ScaleCaps(jnModes* modes, float scale);

// Rotations of the joints, duals [jointCount][JN_DUAL_SIZE] in the world, as those of the springs' newest sample; of
// all samples where the springs have just started.
void jnModes_TakeTurns(jnModes* modes, const jnSprings* springs, const float* duals, bool all);

// On the targets, without motion.
void jnModes_Rest(jnModes* modes);
// Over the interval that the springs' clock has just advanced over. Returns how many modes were not finite and reset.
int jnModes_Advance(jnModes* modes, const jnSprings* springs);
// The targets stop where they are for so long; before the springs are told.
void jnModes_Settle(jnModes* modes, const jnSprings* springs, double seconds);

// Amplitudes and how fast they change, [2][lanes], at a fraction of the last interval, and the joints' rotations
// [jointCount][4]; their angular velocities go to `spins`.
void jnModes_At(jnModes* modes, const jnSprings* springs, double fraction, float* state, float* turns);
// What is shown of a state of amplitudes and how fast they change, [2][lanes]: up to 0.7 of its cap an amplitude
// is untouched, then it bends smoothly (C1) and never reaches the cap. The motion underneath stays linear up to ten
// times the cap. Returns `state` itself where nothing is capped.
const float* jnModes_Limit(jnModes* modes, const float* state);
// Offsets and velocities of what jnModes_At found into `added`.
void jnModes_Fill(jnModes* modes, const float* state, const float* turns, const uint8_t* mask);

// A change of velocity at one vertex, in the springs' space, projected.
void jnModes_Kick(jnModes* modes, const jnSprings* springs, int vertex, const float velocity[3]);
