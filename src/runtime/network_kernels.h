// The hot loops of the network: dense layers, transposed convolutions, and the displacements of blocks. One body is
// compiled once for each instruction set and all give the same bytes.
#pragma once

#include "internal.h"

typedef enum jnActivation {
    jn_activationNone,
    jn_activationSilu,  // x / (1 + exp(-x))
    jn_activationLeaky, // x, below 0 a tenth of it
} jnActivation;

// One dense layer.
typedef struct jnDensePass {
    const int32_t* firsts;     // [blocks], a block's outputs take inputs from here on, as many as it has rows
    const uint32_t* rowStarts; // [blocks + 1]
    const float* weights;      // [rows][JN_LANES]
    const float* biases;       // [blocks][JN_LANES]
    const float* inputs;
    int blockCount;
    jnActivation activation;
    float* outputs; // [blocks][JN_LANES], written
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

// Adds displacements, turned into each vertex's frame, to blocks of a field.
typedef struct jnDisplacePass {
    const uint32_t* starts; // influences, as in jnSkinPass
    const uint16_t* joints;
    const float* weights;
    const float* turns; // [joints][4], unit quaternions x, y, z, w

    // Displacements: given, of components, or of a map.
    const float* given; // [][3][JN_LANES], from block fieldStart on
    const uint32_t* planeStarts;
    const uint16_t* pairs;
    const int8_t* values;
    const int16_t* coefficients; // [components], 32767 is 1
    int planeCount;
    float units[3]; // metres of a plane's 1 times a coefficient's 1
    const uint32_t* lookupStarts;
    const float* lookups;
    const float* map; // [mapSize][mapSize][4]
    int mapSize, vertexCount;

    float scale;  // times the displacements
    bool inverse; // turned back, from the world into the frame
    float* field; // [][3][JN_LANES], from block fieldStart on
    int fieldStart;
} jnDisplacePass;

typedef struct jnNetworkKernels {
    void (*dense)(const jnDensePass* pass);
    void (*enlarge)(const jnEnlargePass* pass);
    void (*displace)(const jnDisplacePass* pass, int first, int end); // blocks
} jnNetworkKernels;

extern const jnNetworkKernels jnNetworkKernelsBaseline;
extern const jnNetworkKernels jnNetworkKernelsAvx2;

// The kernels of a choice that is available.
const jnNetworkKernels* jnFindNetworkKernels(jnKernel kernel);
