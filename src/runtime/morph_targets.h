// The hot loop of the morph targets: weights to displacements of the rest surface. One body is compiled once for each
// instruction set and all give the same bytes.
#pragma once

#include "asset_format.h"

// One pass over blocks.
typedef struct jnTargetsPass {
    const jnAssetMorphs* morphs;
    const int16_t* coefficients; // [columnCount], weights in whole multiples of `unit`
    float unit;
    bool added;   // to what the field holds
    float* field; // [][3][JN_LANES], written from block `fieldStart` on
    int fieldStart;
} jnTargetsPass;

typedef struct jnTargetKernels {
    void (*displace)(const jnTargetsPass* pass, int first, int end); // blocks
} jnTargetKernels;

extern const jnTargetKernels jnTargetKernelsBaseline;
extern const jnTargetKernels jnTargetKernelsAvx2;

// The kernels of a choice that is available.
const jnTargetKernels* jnFindTargetKernels(jnKernel kernel);
