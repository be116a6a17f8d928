// The hot loops of a character as morph weights: what the joints' matrices do to modes. As with the springs, one body
// is compiled once for each instruction set and all give the same bytes.
#pragma once

#include "asset_format.h"

enum { JN_MODE_FIELDS = 2 }; // accelerations at the start of an interval and how fast they grow, or what else there is

// Joints stand in blocks of JN_LANES, number by number, so that a kernel works on a block of them at once.
enum {
    JN_ROWS_SIZE = 12 * JN_LANES, // floats of a block's matrices, [12][JN_LANES]: 3 rows of 4
    JN_TURNS_SIZE = 4 * JN_LANES, // of its rotations, unit quaternions
};

// Matrices of the joints in time, each in the axes of its joint's frame Q: Q^T (weights . differences), and what is the
// same for all joints in the last column.
typedef struct jnForcingPass {
    int blockCount;
    const float* rows[4]; // [blocks][JN_ROWS_SIZE], samples, oldest first
    const float* turns;   // [blocks][JN_TURNS_SIZE], the frames
    float weights[JN_MODE_FIELDS][3];
    float common[JN_MODE_FIELDS][3];
    float* out[JN_MODE_FIELDS]; // [blocks][JN_ROWS_SIZE], written
} jnForcingPass;

// outputs[n] = a matrix that is sparse by blocks of JN_LANES outputs and groups of inputs, times inputs[n].
typedef struct jnProductPass {
    const uint32_t* starts; // [blockCount + 1], entries
    const uint16_t* groups; // [entries]; NULL: the number of an entry within its block
    const float* weights;   // [entries][groupSize][JN_LANES]
    int blockCount, groupSize;
    int used; // of a group, the first ones; 0: all
    bool interleaved;           // groups are joints in blocks, [groups / JN_LANES][groupSize][JN_LANES]
    const float* const* inputs; // [count][groups][groupSize]
    float* const* outputs;      // [count][blockCount][JN_LANES], written
    int count;
} jnProductPass;

// What drives the modes: gain (products + weights . differences of drives + crosses). Arrays are [lanes].
typedef struct jnForcesPass {
    int lanes;
    float h;                               // length of the interval
    const float* products[JN_MODE_FIELDS]; // at its start, and how fast they grow
    const float* drives[4];                // samples, oldest first
    float weights[JN_MODE_FIELDS][3];
    const float* crosses[JN_MODE_FIELDS]; // at both ends of the interval; [0] NULL: none
    const float* gain;
    float* out[JN_MODE_FIELDS]; // written; may be the products
} jnForcesPass;

// The closed form over an interval: the linear map of spring_kernels.h, in place. Arrays are [lanes].
typedef struct jnSwingPass {
    int lanes;
    const float* coefficients; // [lanes / JN_LANES][JN_COEFFICIENT_ROWS][JN_LANES]
    const float* forces[JN_MODE_FIELDS];
    const float *drag, *damping; // rate * damping * drag is taken off the force; drag NULL: none
    float rate;
    float *z, *p;
    // Of forces that are held back; see force_filter.h. inverses NULL: none is.
    const float* inverses;     // of the limits; 0: none
    float *u, *v;              // the force behind the filter and its rate
    int swings, pieces;        // swings of the length that the coefficients are for, pieces of each
    float length, pieceLength; // seconds
    float decay[4];            // what a piece makes of the filter's offset and its rate: P, W, R, Q
    float stiffness, delay;    // the filter's
    bool slopes;               // the excess has a rate within a swing
} jnSwingPass;

// What is far beyond its cap is taken back, what is tiny becomes 0. Arrays are [lanes].
typedef struct jnCleanPass {
    int lanes;
    const float* caps; // 0: none; NULL: of no mode
    float *z, *p;
    float *u, *v; // u NULL: none
} jnCleanPass;

// A rotation by so many series, each of terms x_n = scale_n S x_(n-1), whose sum it is. No parts: there is nothing to
// do.
enum { JN_MAX_TERMS = 4 };
typedef struct jnTurnPlan {
    int parts, terms;
    float scales[JN_MAX_TERMS];
} jnTurnPlan;

// JN_LANES characters at once, number by number: after `transpose` number i of a block of an array stands in the array
// of character i, with a lane for each character. What differs between them are the numbers alone: pairs are looked at
// one after another, and those that no joint couples cost nothing.
enum { JN_ACROSS_MODES = 64 }; // at most
typedef struct jnAcrossPair {
    uint8_t larger, smaller; // modes
    uint16_t number;         // of the pair
} jnAcrossPair;

typedef struct jnAcrossPass {
    const jnAssetModes* modes;
    const jnAcrossPair* order; // [pairCount], of rising larger, then smaller mode
    int pairCount, pairBlocks, modeCount, lanes;
    float *angles[JN_LANES], *pairs[JN_LANES], *states[JN_LANES], *work[JN_LANES], *drags[JN_LANES];
    float parts[JN_LANES], terms[JN_LANES], scales[JN_MAX_TERMS][JN_LANES]; // jnTurnPlan of each
    int mostParts, mostTerms;
} jnAcrossPass;

typedef struct jnMorphKernels {
    // A block of matrices, [12][JN_LANES], as floats whose places are counted from `origin`.
    void (*makeRows)(const double* matrices, const double origin[3], float* rows);
    // Rotations of those that are nothing but a rotation. far: [JN_LANES], written, at least JN_NO_ROTATION where not.
    void (*makeTurns)(const double* matrices, float* turns, double* far);
    // From one rotation to another, [blocks][JN_TURNS_SIZE]: halfway, and the rotation vector in the axes of the
    // rotating frame, angles [blocks][3][JN_LANES].
    void (*halveTurns)(const float* from, const float* to, int blockCount, float* middle, float* angles);
    void (*makeForcing)(const jnForcingPass* pass);
    void (*multiply)(const jnProductPass* pass);
    // Both rows of x, [2][lanes], become about exp(-S) of themselves. columns: S, [count][lanes], a column after the
    // other; work: [4][lanes].
    void (*turn)(const float* columns, int count, int lanes, const jnTurnPlan* plan, float* x, float* work);
    // The largest sum of sizes along a row of S, which bounds its norm.
    float (*bound)(const float* columns, int count, int lanes);
    // out = S x of one row, [lanes].
    void (*apply)(const float* columns, int count, int lanes, const float* x, float* out);
    // The sum of squares of `count` numbers, whole blocks.
    float (*sumSquares)(const float* x, int count);
    void (*makeForces)(const jnForcesPass* pass);
    void (*swing)(const jnSwingPass* pass);
    int (*clean)(const jnCleanPass* pass); // how many of them are not finite
    // Across characters. Blocks of JN_LANES numbers of each, `count` numbers in all; twice is as before.
    void (*transpose)(float* const arrays[JN_LANES], int count);
    // Angles to half the rotation of pairs, and the roots of their sums of squares.
    void (*pairAcross)(const jnAcrossPass* pass, float norms[JN_LANES]);
    void (*boundAcross)(const jnAcrossPass* pass, float bounds[JN_LANES]);
    void (*turnAcross)(const jnAcrossPass* pass);
    // What apply makes of the first row of the states, to drags.
    void (*applyAcross)(const jnAcrossPass* pass);
} jnMorphKernels;

// Above this the far of makeTurns.
#define JN_NO_ROTATION 1e-6

extern const jnMorphKernels jnMorphKernelsBaseline;
extern const jnMorphKernels jnMorphKernelsAvx2;
extern const jnMorphKernels jnMorphKernelsAvx512;

// The kernels of a choice that is available.
const jnMorphKernels* jnFindMorphKernels(jnKernel kernel);
