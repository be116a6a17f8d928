// The hot loops of the network: dense layers, transposed convolutions, and the map's displacements of blocks. One body
// is compiled once for each instruction set and all give the same bytes.
#pragma once

#include "internal.h"

// Between the end of the range seen in training and what no input or coefficient ever passes, in units of the range.
#define JN_SOFT_MARGIN 0.25f

typedef enum jnActivation {
    jn_activationNone,
    jn_activationSilu,  // x / (1 + exp(-x))
    jn_activationLeaky, // x, below 0 a tenth of it
} jnActivation;

// One dense layer, for any number of characters.
typedef struct jnDensePass {
    const int32_t* firsts;      // [blocks], a block's outputs take inputs from here on, as many as it has rows
    const uint32_t* rowStarts;  // [blocks + 1]
    const float* weights;       // [rows][JN_LANES]
    const float* biases;        // [blocks][JN_LANES]
    const float* const* inputs; // [count]
    int blockCount;
    jnActivation activation;
    float* const* outputs; // [count][blocks][JN_LANES], written
    int count;
} jnDensePass;

// One transposed convolution, 4 x 4 taps, stride 2: from size^2 texels to (2 size)^2. Pictures have a border of one
// texel of zeros, [size + 2][size + 2][channels].
typedef struct jnEnlargePass {
    const float* kernels; // [4 phases][out blocks][4 taps][inChannels][JN_LANES]
    const float* biases;  // [out blocks][JN_LANES]
    const float* inputs;
    int size, inChannels, outBlocks;
    jnActivation activation;
    float* outputs; // with a border, or, if `compact`, [2 size][2 size][4] of the first block without one
    bool compact;
} jnEnlargePass;

// Displacements of vertices from a map.
typedef struct jnLookUpPass {
    const uint32_t* starts;
    const float* lookups;
    const float* map; // [mapSize][mapSize][4]
    int mapSize, vertexCount;
    float unit;   // metres of the map's 1
    float* field; // [][3][JN_LANES], written from block fieldStart on
    int fieldStart;
} jnLookUpPass;

// Inputs of a network from the rotations of joints relative to their parents.
typedef struct jnInputsPass {
    const int32_t* inputs;         // [count], 6 times a joint plus one of six numbers; those of a joint are neighbours
    const float *centres, *scales; // [count]
    const struct jnAssetJoint* joints;
    const float* turns; // [joints][4]
    float* out;         // [count], written; these and the arrays above are of whole blocks in memory
    int count;
} jnInputsPass;

typedef struct jnNetworkKernels {
    void (*makeInputs)(const jnInputsPass* pass);
    void (*dense)(const jnDensePass* pass);
    void (*enlarge)(const jnEnlargePass* pass);
    void (*lookUp)(const jnLookUpPass* pass, int first, int end); // blocks
} jnNetworkKernels;

extern const jnNetworkKernels jnNetworkKernelsBaseline;
extern const jnNetworkKernels jnNetworkKernelsAvx2;
extern const jnNetworkKernels jnNetworkKernelsAvx512;

// The kernels of a choice that is available.
const jnNetworkKernels* jnFindNetworkKernels(jnKernel kernel);
