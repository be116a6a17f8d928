// The Laplacian of a tetrahedral mesh, factored once and solved many times: for weights inside a volume, and as the
// preconditioner of the flesh (there with stiffness 2 mu + lambda per tetrahedron).
//
// It is one scalar per node: vectors are solved as three right-hand sides. All calls give the same bytes for any number
// of threads.
#pragma once

#include "jounce/base.h"

/// Points that are tied to the mean of a tetrahedron's corners by springs: penalty * (sum of weight * value -
/// target)^2.
typedef struct jnaLaplacianTies {
    int count;
    const int32_t* tetrahedra; // [count], -1 for none
    const double* weights;     // [count][4]
    double penalty;            // of each tie, in units of the matrix (metres, with stiffness 1)
} jnaLaplacianTies;

/// What is factored. A zeroed struct with nodes and tetrahedra set is a good start. Nothing of it is kept.
typedef struct jnaLaplacianDef {
    int nodeCount;
    const double* nodes; // [nodeCount][3], metres
    int tetrahedronCount;
    const int32_t* tetrahedra; // [tetrahedronCount][4], volume not 0
    const double* stiffness;   // [tetrahedronCount]; NULL: 1
    const uint8_t* held;       // [nodeCount], not 0 where the value is given; NULL: none
    const double* diagonal;    // [nodeCount], added: mass, springs; NULL: none
    jnaLaplacianTies ties;
    int threads; // 0: as many as OpenMP likes
} jnaLaplacianDef;

typedef struct jnaLaplacian jnaLaplacian;

/// Assembles and factors. A matrix that is not positive definite (a piece of the mesh with nothing held, tied or added)
/// is refused. About 0.1 s for 21,000 nodes. Destroy it afterwards, also where `*laplacian` is NULL.
jnResult jnaCreateLaplacian(const jnaLaplacianDef* def, jnaLaplacian** laplacian, jnError* error);
void jnaDestroyLaplacian(jnaLaplacian* laplacian);

/// Factors other values on the same mesh, with the same nodes held: about two thirds of the time. locals:
/// [tetrahedronCount][10], of corners 00, 01, 02, 03, 11, 12, 13, 22, 23, 33; diagonal: [nodeCount], added. After a
/// failure it must not be used but for another try.
jnResult jnaLaplacian_Refactor(
    jnaLaplacian* laplacian, const double (*locals)[10], const double* diagonal, jnError* error);

/// Solves for `count` right-hand sides.
/// values: [count][nodeCount]; given where held, written elsewhere.
/// loads: [count][nodeCount], the right-hand side where not held (ties' share included); NULL: 0.
jnResult jnaLaplacian_Solve(
    const jnaLaplacian* laplacian, int count, const double* loads, double* values, jnError* error);

/// Adds the targets of ties to a load: weights * penalty * target at the corners of each tie.
/// targets: [ties->count]; tetrahedra as in the def; load: [nodeCount].
void jnaAddTies(const jnaLaplacianTies* ties, const int32_t* tetrahedra, const double* targets, double* load);

/// Gradients of the four hat functions of a tetrahedron, and its signed volume. A flat one has gradients 0.
double jnaHatGradients(const double* nodes, const int32_t* corners, double gradients[4][3]);
