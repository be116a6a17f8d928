// A trained network as section NETW of an asset; its layout is in src/runtime/network.h.
#include "learn/network.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of inputs that a block of outputs takes, from the first to the last weight that is not 0.
static void FindRun(const float* from, int in, int out, int block, int* first, int* count)
{
    int low = in, high = -1;
    for (int i = 0; i < in; ++i) {
        for (int o = block * JN_LANES; o < out && o < (block + 1) * JN_LANES; ++o) {
            if (from[(size_t)i * (size_t)out + (size_t)o] != 0.0f) {
                low = i < low ? i : low;
                high = i;
            }
        }
    }
    *first = high >= 0 ? low : 0;
    *count = high >= 0 ? high - low + 1 : 0;
}

static uint32_t CountRows(const float* from, int in, int out)
{
    uint32_t rows = 0;
    for (int block = 0; block < jnBlockCount(out); ++block) {
        int first, count;
        FindRun(from, in, out, block, &first, &count);
        rows += (uint32_t)count;
    }
    return rows;
}

// Dense weights from [in][out] to runs.
static void PackDense(const float* from, int in, int out, int32_t* firsts, uint32_t* starts, float* weights)
{
    for (int block = 0; block < jnBlockCount(out); ++block) {
        int first, count;
        FindRun(from, in, out, block, &first, &count);
        firsts[block] = first;
        starts[block + 1] = starts[block] + (uint32_t)count;
        for (int i = 0; i < count; ++i) {
            float* row = weights + ((size_t)starts[block] + (size_t)i) * JN_LANES;
            for (int o = block * JN_LANES; o < out && o < (block + 1) * JN_LANES; ++o) {
                row[o % JN_LANES] = from[(size_t)(first + i) * (size_t)out + (size_t)o];
            }
        }
    }
}

// Taps of an enlargement by phase: output 2 i + phase takes input i + phase - 1 + tap with this of the 4 weights.
static const int tapOf[2][2] = {{3, 1}, {2, 0}};

// Kernels from [out][in][4][4] to [phases][blocks][taps][in][16].
static void PackKernels(const float* from, int in, int out, float* kernels, float* biases)
{
    int blocks = jnBlockCount(out);
    for (int phase = 0; phase < 4; ++phase) {
        for (int tap = 0; tap < 4; ++tap) {
            int ky = tapOf[phase / 2][tap / 2], kx = tapOf[phase % 2][tap % 2];
            for (int i = 0; i < in * out; ++i) {
                int o = i / in, c = i % in;
                size_t row = ((size_t)(phase * blocks + o / JN_LANES) * 4 + (size_t)tap) * (size_t)in + (size_t)c;
                kernels[row * JN_LANES + (size_t)(o % JN_LANES)] =
                    from[((size_t)o * (size_t)in + (size_t)c) * 16 + (size_t)(4 * ky + kx)];
            }
        }
    }
    memcpy(biases, from + (size_t)in * (size_t)out * 16, sizeof(float) * (size_t)out);
}

// Memory for a head and what follows from it; the arrays are then written through the view.
static void* Allocate(const jnNetworkHead* head, int vertexCount, size_t* size, jnNetwork* view)
{
    *size = (size_t)jnPlaceNetwork(head, NULL, vertexCount, view);
    char* bytes = aligned_alloc(JN_ALIGNMENT, jnAlignUp(*size));
    if (bytes != NULL) {
        memset(bytes, 0, jnAlignUp(*size));
        memcpy(bytes, head, sizeof(*head));
        jnPlaceNetwork((const jnNetworkHead*)(const void*)bytes, bytes, vertexCount, view);
    }
    return bytes;
}

// The view's pointers are to const; the bytes behind them are ours.
#define WRITABLE(type, pointer) ((type*)(uintptr_t)(pointer))

static void WriteLayers(const jnaNetwork* n, const jnNetwork* view)
{
    const float* from = n->parameters;
    memcpy(WRITABLE(int32_t, view->inputs), n->inputs, sizeof(int32_t) * (size_t)n->inputCount);
    memcpy(WRITABLE(float, view->centres), n->centres, sizeof(float) * (size_t)n->inputCount);
    for (int i = 0; i < n->inputCount; ++i) {
        WRITABLE(float, view->scales)[i] = 1.0f / n->halves[i];
    }
    for (int i = 0; i < n->layerCount; ++i) {
        size_t out = (size_t)n->sizes[i + 1];
        PackDense(from, n->sizes[i], n->sizes[i + 1], WRITABLE(int32_t, view->firsts[i]),
            WRITABLE(uint32_t, view->rowStarts[i]), WRITABLE(float, view->weights[i]));
        memcpy(WRITABLE(float, view->biases[i]), from + (size_t)n->sizes[i] * out, out * sizeof(float));
        from += (size_t)(n->sizes[i] + 1) * (size_t)n->sizes[i + 1];
    }
    for (int i = 0; i < n->stageCount; ++i) {
        PackKernels(from, n->channels[i], n->channels[i + 1], WRITABLE(float, view->kernels[i]),
            WRITABLE(float, view->kernelBiases[i]));
        from += (size_t)(16 * n->channels[i] + 1) * (size_t)n->channels[i + 1];
    }
}

static void WriteLookups(const jnaNetwork* n, const int32_t* place, const jnNetwork* view)
{
    uint32_t* starts = WRITABLE(uint32_t, view->lookupStarts);
    float* lookups = WRITABLE(float, view->lookups);
    for (int v = 0; v < n->vertexCount; ++v) {
        starts[(place != NULL ? place[v] : v) + 1] = (uint32_t)(n->lookupStarts[v + 1] - n->lookupStarts[v]);
    }
    for (int v = 0; v < n->vertexCount; ++v) {
        starts[v + 1] += starts[v];
    }
    for (int v = 0; v < n->vertexCount; ++v) {
        size_t count = (size_t)(n->lookupStarts[v + 1] - n->lookupStarts[v]);
        memcpy(lookups + 2 * (size_t)starts[place != NULL ? place[v] : v], n->lookups + 2 * (size_t)n->lookupStarts[v],
            2 * count * sizeof(float));
    }
}

static jnNetworkHead MakeHead(const jnaNetwork* n)
{
    jnNetworkHead head = {.kind = n->kind,
        .inputCount = n->inputCount,
        .layerCount = n->layerCount,
        .stageCount = n->stageCount,
        .firstSize = n->firstSize,
        .lookupCount = (uint32_t)n->lookupCount,
        .unit = n->kind == jn_networkPca ? 1.0f : n->unit,
        .validation = (float)n->validation};
    memcpy(head.sizes, n->sizes, sizeof(head.sizes));
    memcpy(head.channels, n->channels, sizeof(head.channels));
    const float* from = n->parameters;
    for (int i = 0; i < n->layerCount; ++i) {
        head.rows[i] = CountRows(from, n->sizes[i], n->sizes[i + 1]);
        from += (size_t)(n->sizes[i] + 1) * (size_t)n->sizes[i + 1];
    }
    return head;
}

jnResult jnaEncodeNetwork(const jnaNetwork* network, const int32_t* place, void** bytes, size_t* size, jnError* error)
{
    jnNetworkHead head = MakeHead(network);
    jnNetwork view;
    head.componentCount = network->kind == jn_networkPca ? network->componentCount + 1 : 0;
    *bytes = Allocate(&head, network->vertexCount, size, &view);
    if (*bytes == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the network");
    }
    WriteLayers(network, &view);
    if (network->kind == jn_networkCnn) {
        WriteLookups(network, place, &view);
    }
    return jn_ok;
}
