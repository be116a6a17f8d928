// One batch of springs from its arrays to its parameters: start, descent, and the frames it would rather not see.
#pragma once

#include "base/arena.h"
#include "learn/fit_kernel.h"
#include "learn/spring_fit.h"

// Parameters of a lane are the logarithms of stiffness and damping.
typedef struct jnaLanes {
    double theta[2][JNA_BATCH];
    double loss[JNA_BATCH];      // data only, at theta
    double matrix[3][JNA_BATCH]; // Gauss-Newton matrix in theta, data only
} jnaLanes;

// What all batches share.
typedef struct jnaFitPlan {
    const jnaFitDef* def;
    const jnaFitKernels* kernels;
    int vertexCount, frameCount;
    int* starts;                       // [sequenceCount + 1]
    double low[2], high[2];            // bounds of theta
    double priorTheta[2], priorWeight; // metres^2 per unit of theta^2
    double weakBelow;                  // the same: springs that the data curve less than this are weak
} jnaFitPlan;

// Memory of one thread's batch, reused; jnaArena_Check says whether there was enough.
void jnaFitBatch_Allocate(jnaFitBatch* batch, const jnaFitPlan* plan, jnaArena* arena);

// Fills the batch with vertices [first, first + JNA_BATCH); lanes beyond the last repeat it.
// Returns the lanes that have no valid frame as bits.
uint32_t jnaFitBatch_Load(jnaFitBatch* batch, const jnaFitPlan* plan, int first);

// Coefficients, with derivatives by stiffness and damping, of every lane at theta.
void jnaFitCoefficientsAt(const double theta[2][JNA_BATCH], double dt, jnaFitCoefficients coefficients);

// A few generations of a genetic algorithm in log space, seeded by the vertex: sets theta and loss.
void jnaSeedLanes(const jnaFitBatch* batch, const jnaFitPlan* plan, int first, jnaLanes* lanes);

// Descends from theta by the def's method. Returns the passes it took.
int jnaDescendLanes(const jnaFitBatch* batch, const jnaFitPlan* plan, jnaLanes* lanes);

// Smooths theta [2][vertexCount] over the mesh: the minimum of sum (theta - theta*)^T matrix (theta - theta*) + weight
// times the squared differences along edges. matrix is [3][vertexCount], the curvature of each vertex's own loss; noise
// is the variance of a coordinate's residual: the more there is of it, the more the neighbours count.
jnResult jnaSmoothParameters(const jnaFitPlan* plan, double noise, double* theta, const double* matrix, jnError* error);
