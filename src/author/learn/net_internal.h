// What the layers of a worker share.
#pragma once

#include "base/arena.h"
#include "learn/net.h"

#define JNA_LEAK 0.1f
enum { JNA_STAGE_TAPS = 16 };

struct jnaWorker {
    jnaArena arena; // of the arrays below
    jnaNetShape shape;
    int chunk;
    float* sums[JNA_MAX_DENSE];               // [chunk][size], before the activation
    float* values[JNA_MAX_DENSE + 1];         // [chunk][size], input and after each layer
    float* slopes[JNA_MAX_DENSE + 1];         // the loss's derivatives with respect to values
    float* pictures[JNA_MAX_STAGES + 1];      // [chunk][y][x][channels]; the first is the last of values
    float* pictureSlopes[JNA_MAX_STAGES + 1]; // as above
    struct jnaStages* stages;                 // NULL: none
};

/// Floats of the picture before a stage.
size_t jnaNetShape_PictureSize(const jnaNetShape* shape, int stage);

/// The transposed convolutions, on arrays that are there.
jnResult jnaCreateStages(jnaWorker* worker, jnError* error);
void jnaDestroyStages(jnaWorker* worker); // none is allowed
bool jnaStages_Forward(jnaWorker* worker, int index, const float* parameters);
bool jnaStages_Backward(jnaWorker* worker, int index, const float* parameters, float* gradient);

static inline void jnaLeak(float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        values[i] = values[i] > 0.0f ? values[i] : JNA_LEAK * values[i];
    }
}

// The rectifier keeps signs, so its result tells its slope.
static inline void jnaLeakBack(const float* values, float* slopes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        slopes[i] *= values[i] > 0.0f ? 1.0f : JNA_LEAK;
    }
}
