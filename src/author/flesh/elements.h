// The tetrahedra of the flesh, laid out for speed, and what they resist with.
//
// Vectors of nodes are padded to four numbers, x, y, z, 0, so that a node is one load. Elements lie in blocks of four,
// one to a lane, and a block is a patch of tetrahedra that hang together (volume/patches.h). Shear is resisted by
// every tetrahedron, a change of volume by the patch. Energy of a patch (stable neo-Hookean without the logarithm),
// sums over its tetrahedra e of volume V, and the stress that follows from it:
//
//   E   = sum V mu (1/2 D + b/4 D^2 + 1/2 (J - 1)^2) + 1/2 s^2      D = max(|F|^2 - 3 - 2 (J - 1), 0), J = det F
//   s   = sum w (J - 1),   w = V lambda / sqrt(sum V lambda)
//   P_e = V mu (1 + b D) F + (V mu (J - 2 - b D) + w s) cof F
//
// Soft tissue stiffens as it is stretched; b says how much. In simple shear by g the stress is mu g (1 + b g^2). The
// distortion D is of second order near rest, so b changes nothing of small motion.
//
// A tetrahedron that has lost half of its volume also resists by itself, V k lambda/2 (J0 - J)^2 where J < J0: a patch
// can keep its volume with a tetrahedron turned inside out in it, which the part with mu alone did not prevent often
// enough. Nothing of that is left near rest. It is firm, since flesh that is turned inside out cannot be pushed apart:
// whether a node is inside foreign flesh, and which way is out, is then undecided.
//
// s^2 is (sum V lambda) (mean of J - 1)^2, the mean weighted by V lambda: with one tetrahedron to a patch this is
// V lambda (J - 1)^2. Linear tetrahedra that keep their volume one by one lock near incompressibility: there are about
// five of them for the three coordinates of a node. Patches leave one condition for two coordinates or more.
//
// At rest its linearisation is Hooke's law with exactly these Lame parameters. It is finite for any F, so inverted
// tetrahedra push back like all others; it also allows equilibria in which some stay inverted, which is why they are
// counted.
//
// Damping is viscous in the Green strain, D = V/(2 h) (2 b mu |dE|^2 + b lambda tr(dE)^2) with dE the change of strain
// over a step of h and tr(dE) averaged over the patch as J is: the Rayleigh damping b K of linear flesh, and blind to
// rotation.
#pragma once

#include "volume/patches.h"
#include "volume/volume.h"

enum { JNA_ELEMENT_LANES = JNA_PATCH_SIZE };

#define JNA_GUARD_VOLUME 0.5 // J0. With 0.3 the body in random poses has half as many inverted tetrahedra again
#define JNA_GUARD_FACTOR 10  // k. With 1 ten times as many are inverted in deep folds, with 50 twice the iterations

// A patch of up to four tetrahedra. Lanes that are left over weigh nothing and have their first neighbour's corners.
typedef struct jnaElementBlock {
    _Alignas(64) double inverse[9][JNA_ELEMENT_LANES]; // inverse of the rest edges, rows: gradients of the hats of
                                                       // corners 1 to 3
    double shear[JNA_ELEMENT_LANES];                   // V mu
    double volumetric[JNA_ELEMENT_LANES];              // w = V lambda / sqrt(sum of V lambda over the lanes), or 0
    double guard[JNA_ELEMENT_LANES];                   // V k lambda
    double stiffening[JNA_ELEMENT_LANES];              // V mu b
    int32_t corners[4][JNA_ELEMENT_LANES];
    double damping; // times that of the pass
} jnaElementBlock;

typedef struct jnaElements {
    int count;               // tetrahedra
    int blockCount;          // patches
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
    double damping;                  // b / h, of no unit; times each patch's own
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
    int nodeCount;
    const double* nodes; // [nodeCount][3], rest
    int count;
    const int32_t* tetrahedra; // [count][4], places in the padded vectors are numbers[node]
    const int32_t* numbers;    // NULL: the same
    const uint8_t* kinds;      // [count], material, see jnaPatchesDef; NULL: all the same
    const double* shear;       // [count], Lame's mu, Pa
    const double* volumetric;  // [count], Lame's lambda, Pa, not negative
    const double* damping;     // [count], times that of a pass; alike in all of a kind. NULL: 1
    const double* stiffening;  // [count], b. NULL: 0
} jnaElementsDef;

// Patches are sorted by their lowest number, so that a pass walks through the vectors.
jnResult jnaCreateElements(const jnaElementsDef* def, jnaElements* elements, jnError* error);
// The same of a volume's tetrahedra, with the moduli of their materials. numbers: as in the def.
jnResult jnaCreateVolumeElements(
    const jnaVolume* volume, const int32_t* numbers, jnaElements* elements, jnError* error);
void jnaDestroyElements(jnaElements* elements);

// The Hessian of one patch over its nodes' x, y, z, from positions: `nodes` are the places of its distinct nodes, at
// most JNA_PATCH_NODES; returns how many. `project` clamps the eigenvalues of every tetrahedron's part at 0 in closed
// form; see hessian.c.
enum { JNA_PATCH_ROWS = 3 * JNA_PATCH_NODES };
int jnaPatchHessian(const jnaElementBlock* block, const double* positions, bool project, int32_t nodes[JNA_PATCH_NODES],
    double hessian[JNA_PATCH_ROWS][JNA_PATCH_ROWS]);

// The distinct places of a block's corners in order of appearance, and which of them each corner is.
int jnaElementBlock_Nodes(
    const jnaElementBlock* block, int32_t nodes[JNA_PATCH_NODES], uint8_t corners[JNA_ELEMENT_LANES][4]);
