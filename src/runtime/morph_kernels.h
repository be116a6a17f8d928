// The hot loops of a character as morph weights: what the joints' matrices do to modes. As with the springs, one body
// is compiled once for each instruction set and all give the same bytes.
#pragma once

#include "internal.h"

enum { JN_MODE_FIELDS = 2 }; // accelerations at the start of an interval and how fast they grow, or what else there is

// Matrices of the joints in time, each in the axes of its joint's frame Q: Q^T (weights . differences), 3 rows of 4.
typedef struct jnForcingPass {
    const uint16_t* joints; // [count], those that matter
    int count;
    const float* linear[4];  // [jointCount][9], samples, oldest first
    const double* places[4]; // [jointCount][3]
    const float* turns;      // [jointCount][4], the frames, unit quaternions
    float weights[JN_MODE_FIELDS][3];
    float force[JN_MODE_FIELDS][3]; // taken off the last column
    float* out[JN_MODE_FIELDS];     // [count][12], written
} jnForcingPass;

// outputs[n] = a matrix that is sparse by blocks of JN_LANES outputs and groups of inputs, times inputs[n].
typedef struct jnProductPass {
    const uint32_t* starts; // [blockCount + 1], entries
    const uint16_t* groups; // [entries]; NULL: the number of an entry within its block
    const float* weights;   // [entries][groupSize][JN_LANES]
    int blockCount, groupSize;
    const float* const* inputs; // [count][groups][groupSize]
    float* const* outputs;      // [count][blockCount][JN_LANES], written
    int count;
} jnProductPass;

typedef struct jnMorphKernels {
    void (*makeForcing)(const jnForcingPass* pass);
    void (*multiply)(const jnProductPass* pass);
    // Both rows of x, [2][lanes], become exp(-S) of themselves by `parts` series of `terms`. columns: S,
    // [count][lanes], a column after the other; work: [4][lanes].
    void (*turn)(const float* columns, int count, int lanes, int parts, int terms, float* x, float* work);
} jnMorphKernels;

extern const jnMorphKernels jnMorphKernelsBaseline;
extern const jnMorphKernels jnMorphKernelsAvx2;

// The kernels of a choice that is available.
const jnMorphKernels* jnFindMorphKernels(jnKernel kernel);
