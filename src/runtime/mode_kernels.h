// The hot loops of springs on modes: the two products with the sparse basis, each of which streams its half of the
// basis once. As with the springs, one body is compiled once for each instruction set and all give the same bytes.
#pragma once

#include "jounce/asset.h"
#include "spring_kernels.h"

enum {
    JN_MODE_FIELDS = 2, // vector fields that are projected, or amplitudes that are shown, in one pass
    JN_MODE_LANES = 4,  // sums of a projection that are kept apart
};

// One pass over blocks.
typedef struct jnModePass {
    const jnAsset* asset;
    const float* turns; // [jointCount][4], rotations of the joints
    bool aligned;       // of joints that move one vertex, no two quaternions have a negative product

    // Project: field f of a vertex is weights[f] . (line, e0, e1) of its target (see target_curve.h) minus force[f], in
    // the vertex' frame.
    const float* samples[4]; // history, oldest first
    int own;
    float ratios[3];
    float weights[JN_MODE_FIELDS][3];
    float force[JN_MODE_FIELDS][3];
    float* sums; // [modeCount][JN_MODE_LANES][JN_MODE_FIELDS], added to

    // Show: the shapes times amplitudes, in space.
    const float* amplitudes; // [JN_MODE_FIELDS][stride]
    size_t stride;
    const float* spins;  // [jointCount][3], rad/s in space: the second offsets gain spin x (first offset); NULL: none
    const uint8_t* mask; // [blocks], 0: the block rests; NULL: all move
    float* added;        // [blocks][JN_MODE_FIELDS][3][JN_LANES], written; NULL: positions are
    const float* base;   // vector field that the first amplitudes' offsets are added to; NULL: positions are added to
    float* positions;    // x, y, z of every vertex
} jnModePass;

typedef struct jnModeKernels {
    void (*project)(const jnModePass* pass, int first, int end);
    void (*show)(const jnModePass* pass, int first, int end);
    // Both rows of x, [2][lanes], become exp(-S) of themselves by `parts` series of `terms`. columns: S,
    // [count][lanes], a column after the other; work: [4][lanes].
    void (*turn)(const float* columns, int count, int lanes, int parts, int terms, float* x, float* work);
    // What a joint's turn by an angle, a rotation vector, does to pairs of modes, added to `pairs`.
    void (*addSpins)(const jnAssetSpin* spins, size_t count, const float angle[3], float* pairs);
} jnModeKernels;

extern const jnModeKernels jnModeKernelsBaseline;
extern const jnModeKernels jnModeKernelsAvx2;

// The kernels of a choice that is available.
const jnModeKernels* jnFindModeKernels(jnKernel kernel);
