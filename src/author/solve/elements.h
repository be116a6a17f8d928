// The tetrahedra of the flesh, laid out for speed, and what they resist with.
//
// Vectors of nodes are padded to four numbers, x, y, z, 0, so that a node is one load. Elements lie in blocks of four,
// one to a lane. Energy density (stable neo-Hookean without the logarithm) and the stress that follows from it:
//
//   psi = mu/2 (I_C - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2       I_C = |F|^2, J = det F
//   P   = mu F + ((lambda + mu) (J - 1) - mu) cof F
//
// At rest its linearisation is Hooke's law with exactly these Lame parameters. It is finite for any F, so inverted
// tetrahedra push back like all others; it also allows equilibria in which some stay inverted, which is why they are
// counted.
//
// Damping is viscous in the Green strain, D = V/(2 h) (2 b mu |dE|^2 + b lambda tr(dE)^2) with dE the change of strain
// over a step of h: the Rayleigh damping b K of linear flesh, and blind to rotation.
#pragma once

#include "jounce/base.h"

enum { JNA_ELEMENT_LANES = 4 };

// Four tetrahedra.
typedef struct jnaElementBlock {
    double inverse[9][JNA_ELEMENT_LANES]; // inverse of the rest edges, rows: gradients of the hats of corners 1 to 3
    double shear[JNA_ELEMENT_LANES];      // V mu
    double bulk[JNA_ELEMENT_LANES];       // V (lambda + mu)
    int32_t corners[4][JNA_ELEMENT_LANES];
} jnaElementBlock;

typedef struct jnaElements {
    int count;               // tetrahedra
    int blockCount;          // the last one is filled up with elements that weigh nothing
    jnaElementBlock* blocks; // [blockCount], aligned to 64
} jnaElements;

// Strain of every element at the beginning of a step, C = F^T F: xx, yy, zz, xy, xz, yz.
typedef double jnaElementStrain[6][JNA_ELEMENT_LANES];

// One pass over all elements. `forces` and `absolute` are added to, not cleared.
typedef struct jnaElementPass {
    const jnaElements* elements;
    const double* positions;         // [nodes][4]
    double* gradient;                // [nodes][4], of the energy
    double* absolute;                // [nodes][4], sums of the absolute parts of the gradient; NULL: not wanted
    const jnaElementStrain* strains; // [blockCount]; NULL: no damping
    double damping;                  // b / h, of no unit
    double energy;                   // out
    int invertedCount;               // out
} jnaElementPass;

typedef struct jnaElementKernels {
    void (*addForces)(jnaElementPass* pass);
    void (*measureStrains)(const jnaElements* elements, const double* positions, jnaElementStrain* strains);
} jnaElementKernels;

extern const jnaElementKernels jnaElementKernelsBaseline, jnaElementKernelsAvx2;

// The fastest that this machine can run. All give the same bytes.
const jnaElementKernels* jnaChooseElementKernels(void);

// What the elements are made from.
typedef struct jnaElementsDef {
    const double* nodes; // [..][3], rest
    int count;
    const int32_t* tetrahedra; // [count][4], places in the padded vectors are numbers[node]
    const int32_t* numbers;    // NULL: the same
    const double* shear;       // [count], Lame's mu, Pa
    const double* bulk;        // [count], lambda + mu, Pa
} jnaElementsDef;

// Elements are sorted by their lowest number, so that a pass walks through the vectors.
jnResult jnaCreateElements(const jnaElementsDef* def, jnaElements* elements, jnError* error);
void jnaDestroyElements(jnaElements* elements);

// The Hessian of one element, 12 x 12 over its corners' x, y, z, from a deformation gradient (row-major) and its lane.
// `project` clamps its eigenvalues at 0 in closed form; see hessian.c.
void jnaElementHessian(
    const jnaElementBlock* block, int lane, const double deformation[9], bool project, double hessian[12][12]);

// The deformation gradient of one element, row-major.
void jnaElementDeformation(const jnaElementBlock* block, int lane, const double* positions, double deformation[9]);
