// Dense layers as products of matrices, Y = X W + b; net_stages.c has the transposed convolutions.
#include "learn/net.h"

#include "base/matrices.h"
#include "base/random.h"
#include "learn/net_internal.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t jnaNetShape_Offset(const jnaNetShape* shape, int layer, size_t* weightCount, size_t* biasCount)
{
    size_t at = 0, weights = 0, biases = 0;
    for (int i = 0; i <= layer; ++i) {
        at += weights + biases;
        if (i < shape->layerCount) {
            weights = (size_t)shape->sizes[i] * (size_t)shape->sizes[i + 1];
            biases = (size_t)shape->sizes[i + 1];
        } else {
            int k = i - shape->layerCount;
            weights = (size_t)shape->channels[k] * (size_t)shape->channels[k + 1] * JNA_STAGE_TAPS;
            biases = (size_t)shape->channels[k + 1];
        }
    }
    *weightCount = weights;
    *biasCount = biases;
    return at;
}

size_t jnaNetShape_ParameterCount(const jnaNetShape* shape)
{
    size_t weights, biases;
    size_t at = jnaNetShape_Offset(shape, shape->layerCount + shape->stageCount - 1, &weights, &biases);
    return at + weights + biases;
}

size_t jnaNetShape_PictureSize(const jnaNetShape* shape, int stage)
{
    size_t side = (size_t)shape->firstSize << stage;
    return side * side * (size_t)shape->channels[stage];
}

int jnaNetShape_OutputCount(const jnaNetShape* shape)
{
    return shape->stageCount > 0 ? (int)jnaNetShape_PictureSize(shape, shape->stageCount)
                                 : shape->sizes[shape->layerCount];
}

void jnaNetShape_Initialise(const jnaNetShape* shape, uint64_t seed, float* parameters)
{
    uint64_t state = seed;
    int count = shape->layerCount + shape->stageCount;
    for (int layer = 0; layer < count; ++layer) {
        size_t weights, biases, at = jnaNetShape_Offset(shape, layer, &weights, &biases);
        // Four taps reach each output. A rectifier halves the variance, a linear end does not.
        double inputs =
            layer < shape->layerCount ? shape->sizes[layer] : 4.0 * shape->channels[layer - shape->layerCount];
        double bound = sqrt((layer + 1 < count ? 6.0 : 1.0) / inputs);
        for (size_t i = 0; i < weights; ++i) {
            parameters[at + i] = (float)(bound * ((double)(jnaNextBits(&state) >> 11) * 0x1p-52 - 1.0));
        }
        memset(parameters + at + weights, 0, biases * sizeof(float));
    }
}

// Floats for all samples of a chunk.
static float* TakeFloats(jnaWorker* w, size_t count)
{
    return jnaArena_Take(&w->arena, w->chunk, count * sizeof(float));
}

static bool MakeArrays(jnaWorker* w)
{
    const jnaNetShape* shape = &w->shape;
    for (int i = 0; i <= shape->layerCount; ++i) {
        w->values[i] = TakeFloats(w, (size_t)shape->sizes[i]);
        w->slopes[i] = TakeFloats(w, (size_t)shape->sizes[i]);
        if (i < shape->layerCount) {
            w->sums[i] = TakeFloats(w, (size_t)shape->sizes[i + 1]);
        }
    }
    w->pictures[0] = w->values[shape->layerCount];
    w->pictureSlopes[0] = w->slopes[shape->layerCount];
    for (int i = 1; i <= shape->stageCount; ++i) {
        w->pictures[i] = TakeFloats(w, jnaNetShape_PictureSize(shape, i));
        w->pictureSlopes[i] = TakeFloats(w, jnaNetShape_PictureSize(shape, i));
    }
    return !w->arena.failed;
}

jnResult jnaCreateWorker(const jnaNetShape* shape, int chunk, jnaWorker** worker, jnError* error)
{
    jnaWorker* w = *worker = calloc(1, sizeof(*w));
    if (w == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the network");
    }
    w->shape = *shape;
    w->chunk = chunk;
    jnResult result = MakeArrays(w) ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the network");
    if (result == jn_ok && shape->stageCount > 0) {
        result = jnaCreateStages(w, error);
    }
    if (result != jn_ok) {
        jnaDestroyWorker(w);
        *worker = NULL;
    }
    return result;
}

void jnaDestroyWorker(jnaWorker* w)
{
    if (w == NULL) {
        return;
    }
    jnaDestroyStages(w);
    jnaReleaseArena(&w->arena);
    free(w);
}

float* jnaWorker_Inputs(jnaWorker* w)
{
    return w->values[0];
}

float* jnaWorker_Outputs(jnaWorker* w)
{
    return w->shape.stageCount > 0 ? w->pictures[w->shape.stageCount] : w->values[w->shape.layerCount];
}

float* jnaWorker_Gradient(jnaWorker* w)
{
    return w->shape.stageCount > 0 ? w->pictureSlopes[w->shape.stageCount] : w->slopes[w->shape.layerCount];
}

// Hidden layers SiLU; the last linear, or rectified where stages follow.
static void Activate(jnaWorker* w, int layer)
{
    size_t count = (size_t)w->chunk * (size_t)w->shape.sizes[layer + 1];
    const float* sums = w->sums[layer];
    float* out = w->values[layer + 1];
    bool last = layer + 1 == w->shape.layerCount;
    if (last) {
        memcpy(out, sums, count * sizeof(float));
        if (w->shape.stageCount > 0) {
            jnaLeak(out, count);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        out[i] = sums[i] / (1.0f + expf(-sums[i]));
    }
}

// Slopes of layer + 1, in place, with respect to the sums.
static void ActivateBack(jnaWorker* w, int layer)
{
    size_t count = (size_t)w->chunk * (size_t)w->shape.sizes[layer + 1];
    const float* sums = w->sums[layer];
    float* slopes = w->slopes[layer + 1];
    if (layer + 1 == w->shape.layerCount) {
        if (w->shape.stageCount > 0) {
            jnaLeakBack(w->values[layer + 1], slopes, count);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        float gate = 1.0f / (1.0f + expf(-sums[i]));
        slopes[i] *= gate * (1.0f + sums[i] * (1.0f - gate));
    }
}

// [rows][columns], without gaps.
static jnaFloats FloatsOf(const float* entries, int rows, int columns)
{
    return (jnaFloats){entries, rows, columns, columns, false};
}

// The transposed of [columns][rows].
static jnaFloats TransposedOf(const float* entries, int rows, int columns)
{
    return (jnaFloats){entries, rows, columns, rows, true};
}

static bool ForwardDense(jnaWorker* w, int layer, const float* parameters)
{
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, layer, &weights, &biases);
    int n = w->chunk, in = w->shape.sizes[layer], out = w->shape.sizes[layer + 1];
    const float* bias = parameters + at + weights;
    float* sums = w->sums[layer];
    bool good = jnaMultiplyFloats(1, FloatsOf(w->values[layer], n, in), FloatsOf(parameters + at, in, out), sums, out);
    for (int i = 0; i < n; ++i) {
        for (size_t k = 0; k < biases; ++k) {
            sums[(size_t)i * biases + k] += bias[k];
        }
    }
    Activate(w, layer);
    return good;
}

static bool BackDense(jnaWorker* w, int layer, const float* parameters, float* gradient, float* inputGradient)
{
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, layer, &weights, &biases);
    int n = w->chunk, in = w->shape.sizes[layer], out = w->shape.sizes[layer + 1];
    ActivateBack(w, layer);
    const float* slopes = w->slopes[layer + 1];
    bool good =
        jnaMultiplyFloats(1, TransposedOf(w->values[layer], in, n), FloatsOf(slopes, n, out), gradient + at, out);
    float* bias = gradient + at + weights;
    memset(bias, 0, biases * sizeof(float));
    for (int i = 0; i < n; ++i) {
        for (size_t k = 0; k < biases; ++k) {
            bias[k] += slopes[(size_t)i * biases + k];
        }
    }
    float* to = layer > 0 ? w->slopes[layer] : inputGradient;
    if (to != NULL) {
        good = good && jnaMultiplyFloats(1, FloatsOf(slopes, n, out), TransposedOf(parameters + at, out, in), to, in);
    }
    return good;
}

bool jnaWorker_Forward(jnaWorker* w, const float* parameters)
{
    bool good = true;
    for (int i = 0; good && i < w->shape.layerCount; ++i) {
        good = ForwardDense(w, i, parameters);
    }
    for (int i = 0; good && i < w->shape.stageCount; ++i) {
        good = jnaStages_Forward(w, i, parameters);
    }
    return good;
}

bool jnaWorker_Backward(jnaWorker* w, const float* parameters, float* gradient, float* inputGradient)
{
    bool good = true;
    for (int i = w->shape.stageCount - 1; good && i >= 0; --i) {
        good = jnaStages_Backward(w, i, parameters, gradient);
    }
    for (int i = w->shape.layerCount - 1; good && i >= 0; --i) {
        good = BackDense(w, i, parameters, gradient, inputGradient);
    }
    return good;
}
