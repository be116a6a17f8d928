// Layers on oneDNN's C API. Dense: dnnl_sgemm, row by row, Y = X W + b. Stages: deconvolution, 4 x 4 taps, stride 2,
// padding 1, pictures as [y][x][channel]; weights are reordered from [out][in][y][x] to what oneDNN likes and back.
#include "learn/net.h"

#include "base/arena.h"
#include "base/random.h"
#include "runtime/for_author.h"

#include <dnnl.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define LEAK 0.1f
enum { TAPS = 16 };

// One transposed convolution of a worker.
typedef struct Stage {
    dnnl_primitive_t forward, backwardData, backwardWeights;
    dnnl_primitive_t pack[2], unpack; // weights to the forward and the data pass's layout; gradient back
    dnnl_memory_t source, weights, dataWeights, bias, destination;
    dnnl_memory_t sourceGradient, weightGradient, biasGradient, destinationGradient;
    dnnl_memory_t plainWeights, plainGradient;
} Stage;

struct jnaWorker {
    jnaArena arena; // of the arrays below
    jnaNetShape shape;
    int chunk;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    float* sums[JNA_MAX_DENSE];               // [chunk][size], before the activation
    float* values[JNA_MAX_DENSE + 1];         // [chunk][size], input and after each layer
    float* slopes[JNA_MAX_DENSE + 1];         // the loss's derivatives with respect to values
    float* pictures[JNA_MAX_STAGES + 1];      // [chunk][y][x][channels]; the first is the last of values
    float* pictureSlopes[JNA_MAX_STAGES + 1]; // as above
    Stage stages[JNA_MAX_STAGES];
};

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
            weights = (size_t)shape->channels[k] * (size_t)shape->channels[k + 1] * TAPS;
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

static size_t PictureSize(const jnaNetShape* shape, int stage)
{
    size_t side = (size_t)shape->firstSize << stage;
    return side * side * (size_t)shape->channels[stage];
}

int jnaNetShape_OutputCount(const jnaNetShape* shape)
{
    return shape->stageCount > 0 ? (int)PictureSize(shape, shape->stageCount) : shape->sizes[shape->layerCount];
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

static bool Describe(dnnl_memory_desc_t* to, int n, int c, int side, dnnl_format_tag_t tag)
{
    dnnl_dims_t dims = {n, c, side, side};
    return dnnl_memory_desc_init_by_tag(to, 4, dims, dnnl_f32, tag) == dnnl_success;
}

static bool MakeMemory(jnaWorker* w, const dnnl_memory_desc_t* desc, void* data, dnnl_memory_t* memory)
{
    return desc != NULL &&
           dnnl_memory_create(memory, desc, w->engine, data != NULL ? data : DNNL_MEMORY_ALLOCATE) == dnnl_success;
}

static bool MakeReorder(
    jnaWorker* w, const dnnl_memory_desc_t* from, const dnnl_memory_desc_t* to, dnnl_primitive_t* primitive)
{
    dnnl_primitive_desc_t desc = NULL;
    bool good = dnnl_reorder_primitive_desc_create(&desc, from, w->engine, to, w->engine, NULL) == dnnl_success &&
                dnnl_primitive_create(primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    return good;
}

// Descriptors of one stage: pictures as [y][x][channel], weights as oneDNN likes.
typedef struct StageDesc {
    dnnl_memory_desc_t source, destination, weights, bias, plain;
    dnnl_primitive_desc_t forward, data, gradient;
} StageDesc;

static bool DescribeStage(jnaWorker* w, int index, StageDesc* d)
{
    int in = w->shape.channels[index], out = w->shape.channels[index + 1], side = w->shape.firstSize << index;
    const dnnl_dims_t kernel = {out, in, 4, 4}, bias = {out}, stride = {2, 2}, padding = {1, 1};
    dnnl_deconvolution_desc_t forward, data, gradient;
    return Describe(&d->source, w->chunk, in, side, dnnl_nhwc) &&
           Describe(&d->destination, w->chunk, out, 2 * side, dnnl_nhwc) &&
           dnnl_memory_desc_init_by_tag(&d->weights, 4, kernel, dnnl_f32, dnnl_format_tag_any) == dnnl_success &&
           dnnl_memory_desc_init_by_tag(&d->plain, 4, kernel, dnnl_f32, dnnl_oihw) == dnnl_success &&
           dnnl_memory_desc_init_by_tag(&d->bias, 1, bias, dnnl_f32, dnnl_x) == dnnl_success &&
           dnnl_deconvolution_forward_desc_init(&forward, dnnl_forward_training, dnnl_deconvolution_direct, &d->source,
               &d->weights, &d->bias, &d->destination, stride, padding, padding) == dnnl_success &&
           dnnl_primitive_desc_create(&d->forward, &forward, NULL, w->engine, NULL) == dnnl_success &&
           dnnl_deconvolution_backward_data_desc_init(&data, dnnl_deconvolution_direct, &d->source, &d->weights,
               &d->destination, stride, padding, padding) == dnnl_success &&
           dnnl_primitive_desc_create(&d->data, &data, NULL, w->engine, d->forward) == dnnl_success &&
           dnnl_deconvolution_backward_weights_desc_init(&gradient, dnnl_deconvolution_direct, &d->source, &d->weights,
               &d->bias, &d->destination, stride, padding, padding) == dnnl_success &&
           dnnl_primitive_desc_create(&d->gradient, &gradient, NULL, w->engine, d->forward) == dnnl_success;
}

static bool MakeStage(jnaWorker* w, int index)
{
    Stage* s = &w->stages[index];
    StageDesc d = {0};
    bool good = DescribeStage(w, index, &d);
    if (good) {
        const dnnl_memory_desc_t* weights = dnnl_primitive_desc_query_md(d.forward, dnnl_query_weights_md, 0);
        const dnnl_memory_desc_t* data = dnnl_primitive_desc_query_md(d.data, dnnl_query_weights_md, 0);
        const dnnl_memory_desc_t* gradient = dnnl_primitive_desc_query_md(d.gradient, dnnl_query_diff_weights_md, 0);
        good = dnnl_primitive_create(&s->forward, d.forward) == dnnl_success &&
               dnnl_primitive_create(&s->backwardData, d.data) == dnnl_success &&
               dnnl_primitive_create(&s->backwardWeights, d.gradient) == dnnl_success &&
               MakeReorder(w, &d.plain, weights, &s->pack[0]) && MakeReorder(w, &d.plain, data, &s->pack[1]) &&
               MakeReorder(w, gradient, &d.plain, &s->unpack) && MakeMemory(w, weights, NULL, &s->weights) &&
               MakeMemory(w, data, NULL, &s->dataWeights) && MakeMemory(w, gradient, NULL, &s->weightGradient) &&
               MakeMemory(w, &d.source, w->pictures[index], &s->source) &&
               MakeMemory(w, &d.destination, w->pictures[index + 1], &s->destination) &&
               MakeMemory(w, &d.source, w->pictureSlopes[index], &s->sourceGradient) &&
               MakeMemory(w, &d.destination, w->pictureSlopes[index + 1], &s->destinationGradient) &&
               MakeMemory(w, &d.bias, NULL, &s->bias) && MakeMemory(w, &d.bias, NULL, &s->biasGradient) &&
               MakeMemory(w, &d.plain, NULL, &s->plainWeights) && MakeMemory(w, &d.plain, NULL, &s->plainGradient);
    }
    dnnl_primitive_desc_destroy(d.forward);
    dnnl_primitive_desc_destroy(d.data);
    dnnl_primitive_desc_destroy(d.gradient);
    return good;
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
        w->pictures[i] = TakeFloats(w, PictureSize(shape, i));
        w->pictureSlopes[i] = TakeFloats(w, PictureSize(shape, i));
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
    // oneDNN plans for the threads it sees here: one, since it runs inside threads of ours.
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    bool good = MakeArrays(w) && dnnl_engine_create(&w->engine, dnnl_cpu, 0) == dnnl_success &&
                dnnl_stream_create(&w->stream, w->engine, dnnl_stream_default_flags) == dnnl_success;
    for (int i = 0; good && i < shape->stageCount; ++i) {
        good = MakeStage(w, i);
    }
    omp_set_num_threads(threads);
    if (!good) {
        jnaDestroyWorker(w);
        *worker = NULL;
        return jnFail(error, jn_outOfMemory, "oneDNN has no memory or no way for a network of this shape");
    }
    return jn_ok;
}

static void DestroyStage(Stage* s)
{
    dnnl_primitive_t primitives[] = {
        s->forward, s->backwardData, s->backwardWeights, s->pack[0], s->pack[1], s->unpack};
    dnnl_memory_t memories[] = {s->source, s->weights, s->dataWeights, s->bias, s->destination, s->sourceGradient,
        s->weightGradient, s->biasGradient, s->destinationGradient, s->plainWeights, s->plainGradient};
    for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); ++i) {
        dnnl_primitive_destroy(primitives[i]);
    }
    for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); ++i) {
        dnnl_memory_destroy(memories[i]);
    }
}

void jnaDestroyWorker(jnaWorker* w)
{
    if (w == NULL) {
        return;
    }
    for (int i = 0; i < w->shape.stageCount; ++i) {
        DestroyStage(&w->stages[i]);
    }
    dnnl_stream_destroy(w->stream);
    dnnl_engine_destroy(w->engine);
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

static void Leak(float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        values[i] = values[i] > 0.0f ? values[i] : LEAK * values[i];
    }
}

// The rectifier keeps signs, so its result tells its slope.
static void LeakBack(const float* values, float* slopes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        slopes[i] *= values[i] > 0.0f ? 1.0f : LEAK;
    }
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
            Leak(out, count);
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
            LeakBack(w->values[layer + 1], slopes, count);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        float gate = 1.0f / (1.0f + expf(-sums[i]));
        slopes[i] *= gate * (1.0f + sums[i] * (1.0f - gate));
    }
}

static bool ForwardDense(jnaWorker* w, int layer, const float* parameters)
{
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, layer, &weights, &biases);
    dnnl_dim_t n = w->chunk, in = w->shape.sizes[layer], out = w->shape.sizes[layer + 1];
    for (int i = 0; i < w->chunk; ++i) {
        memcpy(w->sums[layer] + (size_t)i * biases, parameters + at + weights, biases * sizeof(float));
    }
    bool good = dnnl_sgemm('N', 'N', n, out, in, 1.0f, w->values[layer], in, parameters + at, out, 1.0f, w->sums[layer],
                    out) == dnnl_success;
    Activate(w, layer);
    return good;
}

static bool BackDense(jnaWorker* w, int layer, const float* parameters, float* gradient, float* inputGradient)
{
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, layer, &weights, &biases);
    dnnl_dim_t n = w->chunk, in = w->shape.sizes[layer], out = w->shape.sizes[layer + 1];
    ActivateBack(w, layer);
    const float* slopes = w->slopes[layer + 1];
    bool good = dnnl_sgemm('T', 'N', in, out, n, 1.0f, w->values[layer], in, slopes, out, 0.0f, gradient + at, out) ==
                dnnl_success;
    float* bias = gradient + at + weights;
    memset(bias, 0, biases * sizeof(float));
    for (int i = 0; i < w->chunk; ++i) {
        for (size_t k = 0; k < biases; ++k) {
            bias[k] += slopes[(size_t)i * biases + k];
        }
    }
    float* to = layer > 0 ? w->slopes[layer] : inputGradient;
    if (to != NULL) {
        good = good &&
               dnnl_sgemm('N', 'T', n, in, out, 1.0f, slopes, out, parameters + at, out, 0.0f, to, in) == dnnl_success;
    }
    return good;
}

static bool Run(jnaWorker* w, dnnl_primitive_t primitive, int count, const dnnl_exec_arg_t* arguments)
{
    return dnnl_primitive_execute(primitive, w->stream, count, arguments) == dnnl_success &&
           dnnl_stream_wait(w->stream) == dnnl_success;
}

static bool Reorder(jnaWorker* w, dnnl_primitive_t primitive, dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    return Run(w, primitive, 2, arguments);
}

static bool SetHandle(dnnl_memory_t memory, const float* data)
{
    return dnnl_memory_set_data_handle(memory, (void*)(uintptr_t)data) == dnnl_success;
}

static bool ForwardStage(jnaWorker* w, int index, const float* parameters)
{
    Stage* s = &w->stages[index];
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, w->shape.layerCount + index, &weights, &biases);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, s->source}, {DNNL_ARG_WEIGHTS, s->weights},
        {DNNL_ARG_BIAS, s->bias}, {DNNL_ARG_DST, s->destination}};
    bool good = SetHandle(s->plainWeights, parameters + at) && SetHandle(s->bias, parameters + at + weights) &&
                Reorder(w, s->pack[0], s->plainWeights, s->weights) && Run(w, s->forward, 4, arguments);
    if (index + 1 < w->shape.stageCount) {
        Leak(w->pictures[index + 1], (size_t)w->chunk * PictureSize(&w->shape, index + 1));
    }
    return good;
}

static bool BackStage(jnaWorker* w, int index, const float* parameters, float* gradient)
{
    Stage* s = &w->stages[index];
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, w->shape.layerCount + index, &weights, &biases);
    if (index + 1 < w->shape.stageCount) {
        size_t count = (size_t)w->chunk * PictureSize(&w->shape, index + 1);
        LeakBack(w->pictures[index + 1], w->pictureSlopes[index + 1], count);
    }
    const dnnl_exec_arg_t data[] = {{DNNL_ARG_DIFF_SRC, s->sourceGradient}, {DNNL_ARG_WEIGHTS, s->dataWeights},
        {DNNL_ARG_DIFF_DST, s->destinationGradient}};
    const dnnl_exec_arg_t own[] = {{DNNL_ARG_SRC, s->source}, {DNNL_ARG_DIFF_WEIGHTS, s->weightGradient},
        {DNNL_ARG_DIFF_BIAS, s->biasGradient}, {DNNL_ARG_DIFF_DST, s->destinationGradient}};
    return SetHandle(s->plainWeights, parameters + at) && SetHandle(s->plainGradient, gradient + at) &&
           SetHandle(s->biasGradient, gradient + at + weights) &&
           Reorder(w, s->pack[1], s->plainWeights, s->dataWeights) && Run(w, s->backwardData, 3, data) &&
           Run(w, s->backwardWeights, 4, own) && Reorder(w, s->unpack, s->weightGradient, s->plainGradient);
}

bool jnaWorker_Forward(jnaWorker* w, const float* parameters)
{
    bool good = true;
    for (int i = 0; good && i < w->shape.layerCount; ++i) {
        good = ForwardDense(w, i, parameters);
    }
    for (int i = 0; good && i < w->shape.stageCount; ++i) {
        good = ForwardStage(w, i, parameters);
    }
    return good;
}

bool jnaWorker_Backward(jnaWorker* w, const float* parameters, float* gradient, float* inputGradient)
{
    bool good = true;
    for (int i = w->shape.stageCount - 1; good && i >= 0; --i) {
        good = BackStage(w, i, parameters, gradient);
    }
    for (int i = w->shape.layerCount - 1; good && i >= 0; --i) {
        good = BackDense(w, i, parameters, gradient, inputGradient);
    }
    return good;
}
