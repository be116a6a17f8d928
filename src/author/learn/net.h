// A feed-forward network: dense layers, then transposed convolutions. Forward, backward, nothing else.
//
// A worker computes one chunk of samples on one thread; gradients of chunks are added by the caller in a fixed order,
// so that the sum does not depend on the number of threads.
#pragma once

#include "jounce/base.h"

enum { JNA_MAX_DENSE = 4, JNA_MAX_STAGES = 6 };

/// Sizes of a network. Hidden dense layers have SiLU; with stages, the last dense layer and all stages but the last a
/// leaky rectifier; the last of all is linear.
typedef struct jnaNetShape {
    int layerCount, sizes[JNA_MAX_DENSE + 1];
    int stageCount, channels[JNA_MAX_STAGES + 1], firstSize;
} jnaNetShape;

/// Floats of the parameters, and where those of a layer (0 to layerCount + stageCount - 1) begin; biases follow
/// weights.
size_t jnaNetShape_ParameterCount(const jnaNetShape* shape);
size_t jnaNetShape_Offset(const jnaNetShape* shape, int layer, size_t* weightCount, size_t* biasCount);
int jnaNetShape_OutputCount(const jnaNetShape* shape);

/// Random weights of a variance that keeps signals at their size, biases 0.
void jnaNetShape_Initialise(const jnaNetShape* shape, uint64_t seed, float* parameters);

typedef struct jnaWorker jnaWorker;

/// A worker for chunks of `chunk` samples.
jnResult jnaCreateWorker(const jnaNetShape* shape, int chunk, jnaWorker** worker, jnError* error);
void jnaDestroyWorker(jnaWorker* worker); // NULL is allowed

float* jnaWorker_Inputs(jnaWorker* worker);   // [chunk][inputs], set before the forward pass
float* jnaWorker_Outputs(jnaWorker* worker);  // [chunk][outputs], by the forward pass; of a map [y][x][channel]
float* jnaWorker_Gradient(jnaWorker* worker); // [chunk][outputs], derivative of the loss, set before the backward pass

/// The passes. False if memory is short or oneDNN refused. gradient: [parameters], overwritten. inputGradient:
/// [chunk][inputs] or NULL.
bool jnaWorker_Forward(jnaWorker* worker, const float* parameters);
bool jnaWorker_Backward(jnaWorker* worker, const float* parameters, float* gradient, float* inputGradient);
