// The hot loops of the surface: skinning and normals. As with the springs, one body is compiled once for each
// instruction set and all give the same bytes.
//
// Skinned positions are a vector field in blocks, [blocks][3][JN_LANES], the layout of the springs' history.
#pragma once

#include "asset_format.h"

enum {
    JN_PALETTE_SIZE = 16, // floats of a joint: 3 rows of 4, then 4 that are not looked at
    JN_DUAL_SIZE = 8,     // floats of a joint's dual quaternion: rotation x, y, z, w, then the dual part
    JN_RING_LANES = 4,    // normals whose rings of vertices are interleaved
};

// One pass of skinning over blocks.
typedef struct jnSkinPass {
    const float* rest;      // [blocks * JN_LANES][4], x, y, z, 1
    const uint32_t* starts; // [blocks + 1]; block b has starts[b + 1] - starts[b] influences a vertex
    const uint16_t* joints; // block b at JN_LANES * starts[b]: [JN_LANES][influences]
    const float* weights;   // as joints; sorted, the largest first
    const float* palette;   // [joints][JN_PALETTE_SIZE], rest surface to world
    const float* duals;     // [joints][JN_DUAL_SIZE]; NULL: linear blend of the palette
    const float* stretches; // [joints][JN_PALETTE_SIZE], applied before duals; NULL: all joints are rigid

    bool displaced; // the field holds displacements, which are added to the rest positions before
    bool bare;      // the displacement alone is skinned, as a direction: no rest position, no translation

    float* field; // [][3][JN_LANES], written from block `fieldStart` on
    int fieldStart;
} jnSkinPass;

// One pass of normals.
typedef struct jnNormalsPass {
    const float* positions;     // [vertices] x, y, z, one after another, and one float more
    const uint32_t* ringStarts; // [quads + 1], entries of JN_RING_LANES
    const uint32_t* rings;      // [entries][JN_RING_LANES], the vertex of a normal, then those around it; see asset.h
    float* normals;             // x, y, z of whole blocks of JN_LANES, written
} jnNormalsPass;

typedef struct jnRigKernels {
    void (*skin)(const jnSkinPass* pass, int first, int end);           // blocks
    void (*makeNormals)(const jnNormalsPass* pass, int first, int end); // blocks of normals
    // Adds to the vertices of one block, out: [3][JN_LANES], what their drivers' offsets, [drivers][4], give.
    void (*carry)(const jnAssetFollower* followers, const float* offsets, float* out);
} jnRigKernels;

extern const jnRigKernels jnRigKernelsBaseline;
extern const jnRigKernels jnRigKernelsAvx2;

// The kernels of a choice that is available.
const jnRigKernels* jnFindRigKernels(jnKernel kernel);
