// The loss of a batch of springs with its gradient and Gauss-Newton matrix, by forward sensitivities.
//
// In offsets y = x - target, with E_n the target's second difference over h^2, one interval of the exact step is
//
//     y1 = P y + W v + K0 E_n + K1 E_{n+1}      K0 = -2 G1 + 3 G2/h    K1 = G1 - 3 G2/h
//     v1 = R y + Q v + V0 E_n + V1 E_{n+1}      V0 = -2 W  + 3 G1/h    V1 = W  - 3 G1/h
//
// and the sensitivity to a parameter obeys the same recursion with the coefficients' derivatives as a source:
//     y1' = P y' + W v' + P' y + W' v + K0' E_n + K1' E_{n+1},   v1' likewise.
#pragma once

#include "runtime/for_author.h"

// Springs of a batch: few enough that their frames stay in the second-level cache.
enum { JNA_BATCH = 8 };
// Runs of a sequence: one from its first frame, and one from every lane that begins later.
enum { JNA_MAX_RUNS = JNA_BATCH + 1 };

// Coefficients of one step in the order of the equations, then their derivatives by stiffness and by damping.
enum { KERNEL_P, KERNEL_W, KERNEL_K0, KERNEL_K1, KERNEL_R, KERNEL_Q, KERNEL_V0, KERNEL_V1, KERNEL_COEFFICIENTS };
enum { KERNEL_VALUES, KERNEL_BY_STIFFNESS, KERNEL_BY_DAMPING, KERNEL_SETS };
typedef double jnaFitCoefficients[KERNEL_SETS][KERNEL_COEFFICIENTS][JNA_BATCH];

// A stretch of frames. Lanes with a mark begin at its first frame, with the given offset and velocity; the others go
// on.
typedef struct jnaFitRun {
    int begin, end;                // frames
    bool last;                     // the sequence ends with it
    double marks[JNA_BATCH];       // 1 or 0
    double first[2][3][JNA_BATCH]; // offset and velocity of the lanes with a mark
} jnaFitRun;

// The motion of a batch. Fields are [axis][frame][lane]; sequences follow each other.
typedef struct jnaFitBatch {
    int frameCount; // over all sequences
    int runCount;
    jnaFitRun* runs; // [up to JNA_MAX_RUNS a sequence]
    double* bend;    // E_n [3][frameCount][JNA_BATCH]
    double* offset;  // observed offset from the target, 0 where missing [3][frameCount][JNA_BATCH]
    double* weight;  // 1, or 0 where missing or dropped [frameCount][JNA_BATCH]
} jnaFitBatch;

// Sums over all frames and axes, w the weight, r the residual and r' its sensitivities: loss is the sum of w r^2, the
// gradient of w r r' (half the derivative of the loss), the matrix of w r' r'.
typedef struct jnaFitSums {
    double loss[JNA_BATCH];
    double gradient[2][JNA_BATCH];
    double matrix[3][JNA_BATCH]; // ss, sd, dd
} jnaFitSums;

typedef struct jnaFitKernels {
    void (*differentiate)(const jnaFitBatch* batch, jnaFitCoefficients coefficients, jnaFitSums* sums);
    // Loss alone; frameLoss, if not NULL, receives [frameCount][JNA_BATCH] unweighted squares.
    void (*evaluate)(const jnaFitBatch* batch, jnaFitCoefficients coefficients, double* loss, double* frameLoss);
} jnaFitKernels;

extern const jnaFitKernels jnaFitKernelsBaseline;
extern const jnaFitKernels jnaFitKernelsAvx2;
extern const jnaFitKernels jnaFitKernelsAvx512;

// The widest that this machine runs.
const jnaFitKernels* jnaBestFitKernels(void);
