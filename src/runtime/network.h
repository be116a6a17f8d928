// The network: from a pose to a displacement of every vertex of the rest surface.
//
// Input. q_j is the rotation of joint j against its rest (the rotation part of "rest surface to world"), so that
// conj(q_parent) q_j is the joint's own turn, 1 at rest, whatever the root does. The first two columns of its matrix,
// six numbers, are the joint's part of the input; of these the network takes those that moved in training, each brought
// to
// [-1, 1] over the range seen there and softly limited just outside of it.
//
// Then dense layers. `pca`: their outputs are weights of the asset's morph targets. `cnn`: they are a small picture of
// many channels, which transposed convolutions (4 x 4, stride 2) enlarge to a map of displacements over the UV charts.
//
// Displacements are of the rest surface: what the skin makes of the displaced rest surface is the target.
#pragma once

#include "asset_format.h"
#include "network_kernels.h"

enum {
    JN_MAX_DENSE = 4,
    JN_MAX_STAGES = 6,
};

#define JN_LEAK 0.1f // slope of the leaky rectifier below 0

// The word for each kind, in manifests and in what the tools print.
extern const char* const jnNetworkNames[jn_networkKindCount];

// Section NETW begins with this; everything behind it follows from these counts, each array at a multiple of 64 bytes.
typedef struct jnNetworkHead {
    uint32_t kind; // jnNetworkKind
    int32_t inputCount;
    int32_t layerCount;                  // dense layers
    int32_t sizes[JN_MAX_DENSE + 1];     // numbers before the first, and after each; 0 behind the last
    int32_t componentCount;              // pca: number 0 is constant, the others are the network's outputs
    int32_t stageCount;                  // cnn: transposed convolutions
    int32_t channels[JN_MAX_STAGES + 1]; // cnn: before the first, and after each; 0 behind the last
    int32_t firstSize;                   // cnn: texels a side before the first
    uint32_t lookupCount;                // cnn
    float unit;                          // cnn: metres of the map's 1
    float validation;                    // metres, root-mean-square error on the poses held out; for people
    uint32_t rows[JN_MAX_DENSE];         // of 16 weights in each dense layer
    uint32_t reserved[7];                // 0
} jnNetworkHead;
_Static_assert(sizeof(jnNetworkHead) == 128, "no padding in the file");

// Where things are. Dense weights: for each block of 16 outputs, a run of inputs and 16 weights for each of them; those
// of other inputs are 0. Kernels: [4 phases, y then x][blocks of 16
// outputs][2 x 2 taps][inputs][16]. What fills up a block is 0.
typedef struct jnNetwork {
    const jnNetworkHead* head;
    const int32_t* inputs;                   // [inputCount], 6 * joint + number
    const float* centres;                    // [inputCount], middle of the range
    const float* scales;                     // [inputCount], 1 over half of the range
    const int32_t* firsts[JN_MAX_DENSE];     // [blocks], first input of the run
    const uint32_t* rowStarts[JN_MAX_DENSE]; // [blocks + 1], rows of weights
    const float* weights[JN_MAX_DENSE];      // [rows][JN_LANES]
    const float* biases[JN_MAX_DENSE];       // [blocks][JN_LANES]
    const float* kernels[JN_MAX_STAGES];
    const float* kernelBiases[JN_MAX_STAGES];
    const uint32_t* lookupStarts; // cnn: [vertexCount + 1]
    const float* lookups;         // cnn: [lookupCount][2], texels from the map's first, at least 0, below the last
} jnNetwork;

static inline size_t jnPadLanes(int32_t count)
{
    return (size_t)jnBlockCount(count) * JN_LANES;
}

// Points into the bytes behind a head whose counts are sane; base may be NULL to count. Returns the section's size.
uint64_t jnPlaceNetwork(const jnNetworkHead* head, const void* base, int vertexCount, jnNetwork* network);

// network_check.c: the whole section. `network` is filled if it is good.
jnResult jnCheckNetwork(
    const jnAssetBlock* block, const void* bytes, uint64_t size, jnNetwork* network, jnError* error);

// What a character needs to evaluate it.
typedef struct jnNetworkState {
    float* inputs;     // [inputCount]
    float* scratch;    // two of the largest layer, then, of a cnn, two of the largest picture
    float* components; // pca: [componentCount], of the pose at hand, times the strength
    float* map;        // cnn: [size][size][4], of the pose at hand
    float strength;
} jnNetworkState;

// Bytes of the state's arrays; with `memory` also places them. With `borrows` there is no room for the scratch, which
// the caller lends.
size_t jnNetworkState_Place(jnNetworkState* state, const jnNetwork* network, void* memory, bool borrows);
size_t jnNetwork_ScratchSize(const jnNetwork* network); // bytes

// The network's inputs from joint rotations. turns: [jointCount][4]; inputs: [inputCount], limited.
void jnNetwork_MakeInputs(
    const jnNetwork* network, const jnNetworkKernels* kernels, const jnAsset* asset, const float* turns, float* inputs);

// All six numbers of every joint, before ranges and limits; 0 for roots. numbers: [jointCount][6].
void jnPoseNumbers(const jnAsset* asset, const float* turns, float* numbers);

// Everything that depends on the pose alone: from inputs to components or map, for `count` states at once, which gives
// the same bytes as one by one.
void jnNetwork_Evaluate(
    const jnNetwork* network, const jnNetworkKernels* kernels, jnNetworkState* const* states, int count);

// Displacements of the rest surface by a map, into a field whose first block is `start`. cnn only.
void jnNetwork_LookUp(const jnNetwork* network, const jnNetworkState* state, const jnNetworkKernels* kernels,
    int vertexCount, int first, int end, float* field, int start);

// Identity inside [-1, 1], then bends smoothly and stays within 1 + JN_SOFT_MARGIN.
static inline float jnSoftLimit(float x)
{
    float size = x < 0.0f ? -x : x;
    float beyond = size - 1.0f;
    if (!(beyond > 0.0f)) {
        return x;
    }
    // m u / (m + u), in a form that does not overflow for large u.
    float limited = 1.0f + JN_SOFT_MARGIN / (1.0f + JN_SOFT_MARGIN / beyond);
    return x < 0.0f ? -limited : limited;
}
