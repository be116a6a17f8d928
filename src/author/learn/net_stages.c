// Transposed convolutions on oneDNN's C API: 4 x 4 taps, stride 2, padding 1, pictures as [y][x][channel]; weights are
// reordered from [out][in][y][x] to what oneDNN likes and back.
#include "learn/net_internal.h"

#include "runtime/for_author.h"

#include <dnnl.h>
#include <omp.h>
#include <stdlib.h>

// One transposed convolution of a worker.
typedef struct Stage {
    dnnl_primitive_t forward, backwardData, backwardWeights;
    dnnl_primitive_t pack[2], unpack; // weights to the forward and the data pass's layout; gradient back
    dnnl_memory_t source, weights, dataWeights, bias, destination;
    dnnl_memory_t sourceGradient, weightGradient, biasGradient, destinationGradient;
    dnnl_memory_t plainWeights, plainGradient;
} Stage;

typedef struct jnaStages {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    Stage list[JNA_MAX_STAGES];
} jnaStages;

static bool Describe(dnnl_memory_desc_t* to, int n, int c, int side, dnnl_format_tag_t tag)
{
    dnnl_dims_t dims = {n, c, side, side};
    return dnnl_memory_desc_init_by_tag(to, 4, dims, dnnl_f32, tag) == dnnl_success;
}

static bool MakeMemory(jnaWorker* w, const dnnl_memory_desc_t* desc, void* data, dnnl_memory_t* memory)
{
    return desc != NULL && dnnl_memory_create(memory, desc, w->stages->engine,
                               data != NULL ? data : DNNL_MEMORY_ALLOCATE) == dnnl_success;
}

static bool MakeReorder(
    jnaWorker* w, const dnnl_memory_desc_t* from, const dnnl_memory_desc_t* to, dnnl_primitive_t* primitive)
{
    dnnl_primitive_desc_t desc = NULL;
    bool good = dnnl_reorder_primitive_desc_create(&desc, from, w->stages->engine, to, w->stages->engine, NULL) ==
                    dnnl_success &&
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
           dnnl_primitive_desc_create(&d->forward, &forward, NULL, w->stages->engine, NULL) == dnnl_success &&
           dnnl_deconvolution_backward_data_desc_init(&data, dnnl_deconvolution_direct, &d->source, &d->weights,
               &d->destination, stride, padding, padding) == dnnl_success &&
           dnnl_primitive_desc_create(&d->data, &data, NULL, w->stages->engine, d->forward) == dnnl_success &&
           dnnl_deconvolution_backward_weights_desc_init(&gradient, dnnl_deconvolution_direct, &d->source, &d->weights,
               &d->bias, &d->destination, stride, padding, padding) == dnnl_success &&
           dnnl_primitive_desc_create(&d->gradient, &gradient, NULL, w->stages->engine, d->forward) == dnnl_success;
}

static bool MakeStage(jnaWorker* w, int index)
{
    Stage* s = &w->stages->list[index];
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

jnResult jnaCreateStages(jnaWorker* w, jnError* error)
{
    w->stages = calloc(1, sizeof(*w->stages));
    // oneDNN plans for the threads it sees here: one, since it runs inside threads of ours.
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    bool good = w->stages != NULL && dnnl_engine_create(&w->stages->engine, dnnl_cpu, 0) == dnnl_success &&
                dnnl_stream_create(&w->stages->stream, w->stages->engine, dnnl_stream_default_flags) == dnnl_success;
    for (int i = 0; good && i < w->shape.stageCount; ++i) {
        good = MakeStage(w, i);
    }
    omp_set_num_threads(threads);
    return good ? jn_ok : jnFail(error, jn_outOfMemory, "oneDNN has no memory or no way for a network of this shape");
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

void jnaDestroyStages(jnaWorker* w)
{
    for (int i = 0; w->stages != NULL && i < w->shape.stageCount; ++i) {
        DestroyStage(&w->stages->list[i]);
    }
    if (w->stages != NULL) {
        dnnl_stream_destroy(w->stages->stream);
        dnnl_engine_destroy(w->stages->engine);
    }
    free(w->stages);
}

static bool Run(jnaWorker* w, dnnl_primitive_t primitive, int count, const dnnl_exec_arg_t* arguments)
{
    return dnnl_primitive_execute(primitive, w->stages->stream, count, arguments) == dnnl_success &&
           dnnl_stream_wait(w->stages->stream) == dnnl_success;
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

bool jnaStages_Forward(jnaWorker* w, int index, const float* parameters)
{
    Stage* s = &w->stages->list[index];
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, w->shape.layerCount + index, &weights, &biases);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, s->source}, {DNNL_ARG_WEIGHTS, s->weights},
        {DNNL_ARG_BIAS, s->bias}, {DNNL_ARG_DST, s->destination}};
    bool good = SetHandle(s->plainWeights, parameters + at) && SetHandle(s->bias, parameters + at + weights) &&
                Reorder(w, s->pack[0], s->plainWeights, s->weights) && Run(w, s->forward, 4, arguments);
    if (index + 1 < w->shape.stageCount) {
        jnaLeak(w->pictures[index + 1], (size_t)w->chunk * jnaNetShape_PictureSize(&w->shape, index + 1));
    }
    return good;
}

bool jnaStages_Backward(jnaWorker* w, int index, const float* parameters, float* gradient)
{
    Stage* s = &w->stages->list[index];
    size_t weights, biases, at = jnaNetShape_Offset(&w->shape, w->shape.layerCount + index, &weights, &biases);
    if (index + 1 < w->shape.stageCount) {
        size_t count = (size_t)w->chunk * jnaNetShape_PictureSize(&w->shape, index + 1);
        jnaLeakBack(w->pictures[index + 1], w->pictureSlopes[index + 1], count);
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
