// The network at run time: layout of its section, inputs from a pose, evaluation. See network.h for the method.
#include "network.h"

#include <math.h>
#include <string.h>

const jnNetworkKernels* jnFindNetworkKernels(jnKernel kernel)
{
#ifdef JN_HAVE_AVX512_KERNELS
    if (kernel == jn_kernelAvx512) {
        return &jnNetworkKernelsAvx512;
    }
#endif
#ifdef JN_HAVE_X86_KERNELS
    if (kernel >= jn_kernelAvx2) {
        return &jnNetworkKernelsAvx2;
    }
#endif
    (void)kernel;
    return &jnNetworkKernelsBaseline;
}

const char* const jnNetworkNames[jn_networkKindCount] = {
    [jn_networkNone] = "none",
    [jn_networkPca] = "pca",
    [jn_networkCnn] = "cnn",
};

// Takes the next array of a section.
static const void* Take(const void* base, uint64_t* at, uint64_t size)
{
    const void* here = base != NULL ? (const char*)base + *at : NULL;
    *at += (size + JN_ALIGNMENT - 1) & ~(uint64_t)(JN_ALIGNMENT - 1);
    return here;
}

uint64_t jnPlaceNetwork(const jnNetworkHead* head, const void* base, int vertexCount, jnNetwork* network)
{
    uint64_t at = sizeof(*head), inputs = (uint64_t)head->inputCount;
    *network = (jnNetwork){.head = head};
    network->inputs = Take(base, &at, inputs * sizeof(int32_t));
    network->centres = Take(base, &at, inputs * sizeof(float));
    network->scales = Take(base, &at, inputs * sizeof(float));
    for (int i = 0; i < head->layerCount; ++i) {
        uint64_t outputs = jnPadLanes(head->sizes[i + 1]);
        network->firsts[i] = Take(base, &at, outputs / JN_LANES * sizeof(int32_t));
        network->rowStarts[i] = Take(base, &at, (outputs / JN_LANES + 1) * sizeof(uint32_t));
        network->weights[i] = Take(base, &at, (uint64_t)head->rows[i] * JN_LANES * sizeof(float));
        network->biases[i] = Take(base, &at, outputs * sizeof(float));
    }
    if (head->kind == jn_networkPca) {
        return at;
    }
    for (int i = 0; i < head->stageCount; ++i) {
        uint64_t outputs = jnPadLanes(head->channels[i + 1]);
        network->kernels[i] = Take(base, &at, 16 * outputs * (uint64_t)head->channels[i] * sizeof(float));
        network->kernelBiases[i] = Take(base, &at, outputs * sizeof(float));
    }
    network->lookupStarts = Take(base, &at, ((uint64_t)vertexCount + 1) * sizeof(uint32_t));
    network->lookups = Take(base, &at, (uint64_t)head->lookupCount * 2 * sizeof(float));
    return at;
}

// Floats of a picture with its border.
static size_t PictureSize(int size, int channels)
{
    return (size_t)(size + 2) * (size_t)(size + 2) * (size_t)channels;
}

static size_t LargestLayer(const jnNetworkHead* head)
{
    size_t largest = 0;
    for (int i = 1; i <= head->layerCount; ++i) {
        size_t size = jnPadLanes(head->sizes[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static size_t LargestPicture(const jnNetworkHead* head)
{
    size_t largest = 0;
    for (int i = 0; i < head->stageCount; ++i) {
        size_t size = PictureSize(head->firstSize << i, head->channels[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

size_t jnNetwork_ScratchSize(const jnNetwork* network)
{
    return (2 * LargestLayer(network->head) + 2 * LargestPicture(network->head)) * sizeof(float);
}

size_t jnNetworkState_Place(jnNetworkState* state, const jnNetwork* network, void* memory, bool borrows)
{
    const jnNetworkHead* head = network->head;
    size_t mapSize = head->stageCount > 0 ? (size_t)head->firstSize << head->stageCount : 0;
    const size_t sizes[] = {(size_t)head->inputCount * sizeof(float), borrows ? 0 : jnNetwork_ScratchSize(network),
        (size_t)head->componentCount * sizeof(float), mapSize * mapSize * 4 * sizeof(float)};
    size_t offsets[4], at = 0;
    for (int i = 0; i < 4; ++i) {
        offsets[i] = at;
        at += jnAlignUp(sizes[i]);
    }
    if (memory != NULL) {
        char* base = memory;
        state->inputs = (float*)(void*)(base + offsets[0]);
        state->scratch = (float*)(void*)(base + offsets[1]);
        state->components = (float*)(void*)(base + offsets[2]);
        state->map = (float*)(void*)(base + offsets[3]);
    }
    return at;
}

// Two columns of the matrix of conj(p) q.
static void RelativeColumns(const float* p, const float* q, float* out)
{
    float x = p[3] * q[0] - p[0] * q[3] - (p[1] * q[2] - p[2] * q[1]);
    float y = p[3] * q[1] - p[1] * q[3] - (p[2] * q[0] - p[0] * q[2]);
    float z = p[3] * q[2] - p[2] * q[3] - (p[0] * q[1] - p[1] * q[0]);
    float w = p[3] * q[3] + p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    out[0] = 1.0f - 2.0f * (y * y + z * z);
    out[1] = 2.0f * (x * y + z * w);
    out[2] = 2.0f * (x * z - y * w);
    out[3] = 2.0f * (x * y - z * w);
    out[4] = 1.0f - 2.0f * (x * x + z * z);
    out[5] = 2.0f * (y * z + x * w);
}

void jnPoseNumbers(const jnAsset* asset, const float* turns, float* numbers)
{
    for (int j = 0; j < asset->jointCount; ++j) {
        int parent = asset->joints[j].parent;
        float* out = numbers + 6 * (size_t)j;
        if (parent < 0) {
            memset(out, 0, 6 * sizeof(float));
        } else {
            RelativeColumns(turns + 4 * (size_t)parent, turns + 4 * (size_t)j, out);
        }
    }
}

void jnNetwork_MakeInputs(
    const jnNetwork* network, const jnNetworkKernels* kernels, const jnAsset* asset, const float* turns, float* inputs)
{
    kernels->makeInputs(&(jnInputsPass){.inputs = network->inputs,
        .centres = network->centres,
        .scales = network->scales,
        .joints = asset->joints,
        .turns = turns,
        .out = inputs,
        .count = network->head->inputCount});
}

enum { MOST_AT_ONCE = 64 };

// Dense layers of up to MOST_AT_ONCE states; returns which of the two halves of their scratch has the outputs.
static int RunDense(const jnNetwork* network, const jnNetworkKernels* kernels, jnNetworkState* const* states, int count)
{
    const jnNetworkHead* head = network->head;
    size_t largest = LargestLayer(head);
    const float* from[MOST_AT_ONCE];
    float* to[MOST_AT_ONCE];
    for (int n = 0; n < count; ++n) {
        from[n] = states[n]->inputs;
    }
    for (int i = 0; i < head->layerCount; ++i) {
        bool last = i + 1 == head->layerCount;
        for (int n = 0; n < count; ++n) {
            to[n] = states[n]->scratch + (size_t)(i % 2) * largest;
        }
        jnActivation end = head->kind == jn_networkPca ? jn_activationNone : jn_activationLeaky;
        kernels->dense(&(jnDensePass){.firsts = network->firsts[i],
            .rowStarts = network->rowStarts[i],
            .weights = network->weights[i],
            .biases = network->biases[i],
            .inputs = from,
            .blockCount = jnBlockCount(head->sizes[i + 1]),
            .activation = last ? end : jn_activationSilu,
            .outputs = to,
            .count = count});
        for (int n = 0; n < count; ++n) {
            from[n] = to[n];
        }
    }
    return (head->layerCount - 1) % 2;
}

// Components are outputs within their soft limit. What is not a number is 0.
static void TakeComponents(const jnNetworkHead* head, const float* outputs, float strength, float* components)
{
    components[0] = strength;
    for (int i = 0; i < head->sizes[head->layerCount]; ++i) {
        float limited = jnSoftLimit(outputs[i]);
        components[i + 1] = limited >= -2.0f && limited <= 2.0f ? strength * limited : 0.0f;
    }
}

// From the picture of the last dense layer to the map.
static void RunStages(
    const jnNetwork* network, const jnNetworkKernels* kernels, const float* outputs, jnNetworkState* state)
{
    const jnNetworkHead* head = network->head;
    size_t largest = LargestPicture(head), channels = (size_t)head->channels[0], size = (size_t)head->firstSize;
    float* pictures = state->scratch + 2 * LargestLayer(head);
    memset(pictures, 0, PictureSize(head->firstSize, head->channels[0]) * sizeof(float));
    for (size_t y = 0; y < size; ++y) {
        memcpy(pictures + ((y + 1) * (size + 2) + 1) * channels, outputs + y * size * channels,
            size * channels * sizeof(float));
    }
    for (int i = 0; i < head->stageCount; ++i) {
        bool last = i + 1 == head->stageCount;
        float* to = last ? state->map : pictures + (size_t)((i + 1) % 2) * largest;
        if (!last) {
            // The border, which the kernel does not write.
            memset(to, 0, PictureSize(head->firstSize << (i + 1), head->channels[i + 1]) * sizeof(float));
        }
        kernels->enlarge(&(jnEnlargePass){.kernels = network->kernels[i],
            .biases = network->kernelBiases[i],
            .inputs = pictures + (size_t)(i % 2) * largest,
            .size = head->firstSize << i,
            .inChannels = head->channels[i],
            .outBlocks = jnBlockCount(head->channels[i + 1]),
            .activation = last ? jn_activationNone : jn_activationLeaky,
            .outputs = to,
            .compact = last});
    }
}

static void EvaluateSome(
    const jnNetwork* network, const jnNetworkKernels* kernels, jnNetworkState* const* states, int count)
{
    size_t at = (size_t)RunDense(network, kernels, states, count) * LargestLayer(network->head);
    for (int n = 0; n < count; ++n) {
        if (network->head->kind == jn_networkPca) {
            TakeComponents(network->head, states[n]->scratch + at, states[n]->strength, states[n]->components);
        } else {
            RunStages(network, kernels, states[n]->scratch + at, states[n]);
        }
    }
}

void jnNetwork_Evaluate(
    const jnNetwork* network, const jnNetworkKernels* kernels, jnNetworkState* const* states, int count)
{
    for (; count > 0; count -= MOST_AT_ONCE, states += MOST_AT_ONCE) {
        EvaluateSome(network, kernels, states, count < MOST_AT_ONCE ? count : MOST_AT_ONCE);
    }
}

void jnNetwork_LookUp(const jnNetwork* network, const jnNetworkState* state, const jnNetworkKernels* kernels,
    int vertexCount, int first, int end, float* field, int start)
{
    const jnNetworkHead* head = network->head;
    kernels->lookUp(&(jnLookUpPass){.starts = network->lookupStarts,
                        .lookups = network->lookups,
                        .map = state->map,
                        .mapSize = head->firstSize << head->stageCount,
                        .vertexCount = vertexCount,
                        .unit = state->strength * head->unit,
                        .field = field,
                        .fieldStart = start},
        first, end);
}
