// The hot loops of a character as morph weights: what the joints' matrices do to modes. As with the springs, one body
// is compiled once for each instruction set and all give the same bytes.
#pragma once

#include "internal.h"

enum { JN_MODE_FIELDS = 2 }; // accelerations at the start of an interval and how fast they grow, or what else there is
enum { JN_FORCING_FIELDS = 4 }; // and velocities at both ends

// Matrices of the joints in time, each in the axes of its joint's frame Q: Q^T (weights . differences + common), 3 rows
// of 4.
typedef struct jnForcingPass {
    const uint16_t* joints; // [count], those that matter
    int count, fieldCount;
    const float* rows[4];   // [jointCount][12], samples, oldest first
    const float* turns;     // [][4], the frames, unit quaternions
    const uint16_t* frames; // [count], which of them; NULL: one after another
    float weights[JN_FORCING_FIELDS][3];
    float common[JN_FORCING_FIELDS][12]; // what is the same for all joints
    float* out[JN_FORCING_FIELDS];       // [count][12], written
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
    // The largest sum of sizes along a row of S, which bounds its norm.
    float (*bound)(const float* columns, int count, int lanes);
    // out = S x of one row, [lanes].
    void (*apply)(const float* columns, int count, int lanes, const float* x, float* out);
} jnMorphKernels;

extern const jnMorphKernels jnMorphKernelsBaseline;
extern const jnMorphKernels jnMorphKernelsAvx2;
extern const jnMorphKernels jnMorphKernelsAvx512;

// The kernels of a choice that is available.
const jnMorphKernels* jnFindMorphKernels(jnKernel kernel);
