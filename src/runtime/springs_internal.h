// The spring set from the inside, shared by springs.c (life and settings), springs_step.c (time) and
// springs_frame.c (root).
#pragma once

#include "spring_kernels.h"
#include "target_curve.h"

enum { JN_HISTORY = 4 };

// A rigid placement in double, so that it does not drift over hours of small motions.
typedef struct jnPlacement {
    double rotation[4]; // unit quaternion x, y, z, w
    double position[3];
} jnPlacement;

// How the simulation's own space moved over an interval: it follows the share of the root's motion that the
// springs are not to feel. Over the interval, x -> pivot + shift u + rotation(angle u) (x - pivot), u from 0
// to 1.
typedef struct jnSpaceMotion {
    jnPlacement from, to;
    double angle[3]; // rotation vector
    double pivot[3], shift[3];
} jnSpaceMotion;

// All that a step changes besides the arrays; saved in snapshots.
typedef struct jnSpringsClock {
    int sampleCount; // samples in the history since it began, up to JN_HISTORY
    int newest; // slot of the newest sample
    int base; // slot of the sample that the state belongs to
    int phantom; // slot that jnSprings_Finish filled in place of a sample, or -1
    int current; // which of the two state arrays is current
    uint32_t steps; // advanced since the last reset
    bool advanced; // the set has advanced since the history began: `interval` is valid
    bool atRest; // the first interval starts without velocity in space
    double durations[3]; // between the samples, oldest first
    jnInterval interval; // last one advanced
    int slots[JN_HISTORY]; // its samples, oldest first
    bool hasSpace; // the simulation's space differs from the world
    bool hasRoot;
    jnTransform root; // of the newest sample
    jnSpaceMotion newestSpace, baseSpace;
} jnSpringsClock;

struct jnSprings {
    // Settings.
    int count, blockCount;
    jnCurve curve;
    jnTiming timing;
    jnStart start;
    jnKernel kernel;
    const jnSpringKernels* kernels;
    jnAllocator allocator;
    bool ownsMemory;
    float force[3], cap, strength;
    bool hasStrengths;
    float inertia[2]; // translation, rotation
    float teleportThreshold;
    jnTeleport teleportKind;
    uint64_t resetCount;

    // Arrays, padded to whole blocks.
    float* fittedStiffness; // [blocks * JN_LANES] each; as given, by create and SetParameters
    float* fittedDamping;
    float* hertzScales; // by SetTuning
    float* ratioScales;
    float* stiffness; // in use: fitted times tuning
    float* damping;
    float* strengths; // by SetStrength
    float* coefficients; // [blocks][JN_COEFFICIENT_ROWS][JN_LANES], by BeginStep for coefficientTime
    double coefficientTime; // the h they are for; 0: none
    uint8_t* resets; // [blocks], by the pass

    // What a step changes: one stretch of memory from `moving` on, movingSize bytes.
    float* moving;
    size_t movingSize;
    float* states[2]; // [blocks][2][3][JN_LANES], offsets then velocities
    float* samples[JN_HISTORY]; // vector fields, by the pass
    float* velocities[JN_HISTORY]; // vector fields, Hermite only, else NULL
    jnSpringsClock clock;

    // The step under way.
    jnStepPass pass;
    jnFrame inputFrame, outputFrame;
};

// springs_step.c, for whoever makes targets in blocks
// The slot that the next sample goes to, a vector field to be filled block by block before each block is stepped. NULL
// where a step of this h and teleport does not take a sample in the ordinary way (the first, a pause, a teleport): that
// one needs targets.
float* jnSprings_NextSlot(jnSprings* springs, float h, jnTeleport teleport);
// jnSprings_BeginStep with the sample in the next slot; the input's targets are NULL.
void jnSprings_BeginFilledStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output);

// springs_frame.c
// Takes the root of a new sample: how far the simulation's space follows it. `full`: it follows entirely
// (teleport).
void jnMoveSpace(jnSprings* springs, const jnTransform* root, bool full);
// World to simulation, for samples.
jnFrame jnSpaceFromWorld(const jnPlacement* placement);
// Simulation to world at a fraction of an interval of h seconds, with velocities.
jnFrame jnWorldFromSpace(const jnSpaceMotion* motion, double fraction, double h);
jnPlacement jnIdentityPlacement(void);

static inline int jnOlderSlot(int slot, int steps)
{
    return (slot + JN_HISTORY - steps) % JN_HISTORY;
}
