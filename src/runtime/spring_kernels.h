// The hot loops of a spring set. One plain C body (spring_kernels_body.h) is compiled once for each
// instruction set; the arithmetic is the same sequence of IEEE operations in all of them, so they give the
// same bytes.
//
// Data are in blocks of JN_LANES springs: a vector field is [blocks][3][JN_LANES], x, y and z of 16 springs
// one after another.
#pragma once

#include "internal.h"

// Rows of a block of coefficients, each [JN_LANES]. A step is the linear map
//     y1 = (P + PL) y0 + (W + WL) v0 - G1 acceleration - G2 jerk
//     v1 = (R + RL) y0 + (Q + QL) v0 - W  acceleration - G1 jerk
// The four entries that act on the state are pairs of floats, rounded value and remainder: with the rounded
// value alone an undamped spring would gain or lose 6e-8 of its energy at every step.
enum { ROW_P, ROW_W, ROW_R, ROW_Q, ROW_G1, ROW_G2, ROW_PL, ROW_WL, ROW_RL, ROW_QL, JN_COEFFICIENT_ROWS };

enum {
    JN_FIELD_SIZE = 3 * JN_LANES,                         // floats of a block of a vector field
    JN_STATE_SIZE = 2 * JN_FIELD_SIZE,                    // offsets, then velocities
    JN_COEFFICIENT_SIZE = JN_COEFFICIENT_ROWS * JN_LANES, // coefficients of a block
};

// A rigid map and its motion: x -> rotation x + translation; velocities gain spin x (x - pivot) + drift.
typedef struct jnFrame {
    float rotation[9]; // rows
    float translation[3];
    float spin[3], pivot[3], drift[3];
} jnFrame;

// One pass over blocks: read the new sample, advance, write out. What is NULL is skipped.
typedef struct jnStepPass {
    int count; // springs, for the tail of the last block

    // Input: the caller's array, and the slot of the history it goes to.
    const float* input;
    size_t inputStride;    // bytes
    float* newest;         // vector field
    bool filled;           // the sample is already there: `input` is not read
    const float* fallback; // vector field: stands in for a sample that is not finite; NULL: the origin does
    const float* inputVelocity;
    float* newestVelocity;
    const jnFrame* inputFrame;   // world to simulation; NULL: they are the same
    uint16_t* newestBad;         // [blocks], bits of the lanes that had no finite sample; NULL: not kept
    const uint16_t* olderBad[3]; // the same of the older samples; NULL: none was bad for long

    // Advance.
    const float* state;
    float* nextState;          // may be `state`; NULL: nothing is advanced
    float* resetState;         // where a reset goes when nothing is advanced: the current state; NULL: nowhere
    const float* coefficients; // [blocks][JN_COEFFICIENT_ROWS][JN_LANES]
    const float* stiffness;    // with `responseTime`: coefficients are made on the way
    const float* damping;
    double responseTime;     // > 0: instead of `coefficients`
    bool keepState;          // the advanced state goes to the output only
    const float* samples[4]; // history, oldest first
    const float* slopes[2];  // Hermite: velocities at both ends of the interval
    float length;            // Hermite: seconds of the interval
    int own;
    float ratios[3];
    float acceleration[2], jerk[2], kick[3], shift;
    bool jumps; // kick or shift is not zero
    float dust; // > 0: offsets and velocities below this are set to 0
    float force[3];

    // Output.
    const float* base; // vector field: sample that places and slopes start from
    float place[3], slope[3];
    bool placed; // place is not zero
    float* positions;
    size_t positionStride;
    float* velocities;
    size_t velocityStride;
    const jnFrame* outputFrame; // simulation to world
    float strength;
    const float* strengths; // [blocks * JN_LANES]
    float cap;              // 0: none

    uint8_t* resets; // [blocks], springs that were put back on their target
} jnStepPass;

typedef struct jnSpringKernels {
    // Coefficients of blocks [first, end) for a step of h.
    void (*makeCoefficients)(
        const float* stiffness, const float* damping, double h, float* coefficients, int first, int end);
    void (*runPass)(const jnStepPass* pass, int first, int end);
} jnSpringKernels;

// springs.c: the kernels of a choice that is available.
const jnSpringKernels* jnFindSpringKernels(jnKernel kernel);

extern const jnSpringKernels jnSpringKernelsBaseline;
extern const jnSpringKernels jnSpringKernelsAvx2;
