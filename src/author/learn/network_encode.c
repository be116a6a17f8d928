// A trained network as section NETW of an asset; its layout is in src/runtime/network.h.
//
// Fields of a pca are whole multiples of one unit, written in base 254 with digits of 8 bits, one plane for each digit.
// A pair of components whose digits are all 0 in a block of 16 vertices has no entry there: large planes are only where
// the field is large, and what is too small for the finest one is nowhere.
#include "learn/network.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };

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

// Whole multiples of the unit: [components][blocks][FIELD]. NULL if memory is short.
static int32_t* Quantise(const jnaNetwork* n, const int32_t* place, int components, double unit)
{
    size_t blocks = (size_t)jnBlockCount(n->vertexCount), size = blocks * FIELD;
    int32_t* values = calloc((size_t)components * size, sizeof(int32_t));
    for (int k = 0; values != NULL && k <= n->componentCount; ++k) {
        const float* from = n->basis + (size_t)k * 3 * (size_t)n->vertexCount;
        double scale = (k > 0 ? 1.0 + (double)JN_SOFT_MARGIN : 1.0) / unit;
        for (int v = 0; v < n->vertexCount; ++v) {
            size_t to = (size_t)(place != NULL ? place[v] : v);
            for (size_t axis = 0; axis < 3; ++axis) {
                size_t at = (size_t)k * size + to / JN_LANES * FIELD + axis * JN_LANES + to % JN_LANES;
                values[at] = (int32_t)lrint(scale * (double)from[3 * (size_t)v + axis]);
            }
        }
    }
    return values;
}

// Takes the lowest digit of each value off; says whether any is not 0. digits: [FIELD][2], every second is written.
static bool TakeDigits(int32_t* values, int8_t* digits)
{
    bool any = false;
    for (int i = 0; i < FIELD; ++i) {
        int32_t digit = values[i] % JN_PLANE_STEP;
        digit = digit > 127 ? digit - JN_PLANE_STEP : digit < -127 ? digit + JN_PLANE_STEP : digit;
        values[i] = (values[i] - digit) / JN_PLANE_STEP;
        digits[2 * i] = (int8_t)digit;
        any = any || digit != 0;
    }
    return any;
}

typedef struct Planes {
    int count;
    uint32_t* starts; // [blocks][count] and one more
    uint16_t* pairs;
    int8_t* values; // [entries][FIELD][2]
    uint32_t entries;
} Planes;

static void FreePlanes(Planes* p)
{
    free(p->starts);
    free(p->pairs);
    free(p->values);
}

static int CountPlanes(const int32_t* values, size_t count)
{
    int64_t largest = 0, reach = 127;
    for (size_t i = 0; i < count; ++i) {
        int64_t size = values[i] < 0 ? -(int64_t)values[i] : values[i];
        largest = size > largest ? size : largest;
    }
    int planes = 1;
    for (int64_t step = JN_PLANE_STEP; reach < largest; step *= JN_PLANE_STEP) {
        reach += 127 * step;
        planes++;
    }
    return planes;
}

// Digits of all blocks; values end as 0.
static bool MakePlanes(int32_t* values, int components, size_t blocks, Planes* p)
{
    size_t size = blocks * FIELD, room = 0;
    p->count = CountPlanes(values, (size_t)components * size);
    p->starts = calloc(blocks * (size_t)p->count + 1, sizeof(uint32_t));
    for (size_t block = 0; p->starts != NULL && block < blocks; ++block) {
        for (int plane = 0; plane < p->count; ++plane) {
            for (int pair = 0; pair < components / 2; ++pair) {
                if (p->entries == room) {
                    room = 2 * room + 1024;
                    uint16_t* pairs = realloc(p->pairs, room * sizeof(uint16_t));
                    p->pairs = pairs != NULL ? pairs : p->pairs;
                    int8_t* more = realloc(p->values, room * 2 * FIELD);
                    p->values = more != NULL ? more : p->values;
                    if (pairs == NULL || more == NULL) {
                        return false;
                    }
                }
                int8_t* digits = p->values + (size_t)p->entries * 2 * FIELD;
                bool first = TakeDigits(values + (size_t)(2 * pair) * size + block * FIELD, digits);
                bool second = TakeDigits(values + (size_t)(2 * pair + 1) * size + block * FIELD, digits + 1);
                if (first || second) {
                    p->pairs[p->entries++] = (uint16_t)pair;
                }
            }
            p->starts[block * (size_t)p->count + (size_t)plane + 1] = p->entries;
        }
    }
    return p->starts != NULL;
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
        .unit = n->unit,
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

static void* EncodePca(const jnaNetwork* n, const int32_t* place, double tolerance, size_t* size)
{
    jnNetworkHead head = MakeHead(n);
    head.componentCount = (n->componentCount + 2) / 2 * 2;
    // Rounding is off by unit / sqrt(12) an axis and component; see network.h for the four standard deviations.
    double unit = tolerance / (2.0 * fmax(n->energy, 1.0));
    head.unit = (float)unit;
    int32_t* values = Quantise(n, place, head.componentCount, (double)head.unit);
    Planes planes = {0};
    void* bytes = NULL;
    size_t blocks = (size_t)jnBlockCount(n->vertexCount);
    if (values != NULL && MakePlanes(values, head.componentCount, blocks, &planes)) {
        jnNetwork view;
        head.planeCount = planes.count;
        head.entryCount = planes.entries;
        bytes = Allocate(&head, n->vertexCount, size, &view);
        if (bytes != NULL) {
            WriteLayers(n, &view);
            memcpy(WRITABLE(uint32_t, view.planeStarts), planes.starts,
                sizeof(uint32_t) * (blocks * (size_t)planes.count + 1));
            memcpy(WRITABLE(uint16_t, view.pairs), planes.pairs, sizeof(uint16_t) * planes.entries);
            memcpy(WRITABLE(int8_t, view.values), planes.values, 2 * FIELD * (size_t)planes.entries);
        }
    }
    FreePlanes(&planes);
    free(values);
    return bytes;
}

// Limits of the format that training may meet.
static jnResult CheckLimits(const jnaNetwork* n, double tolerance, jnError* error)
{
    double largest = 0.0, unit = tolerance / (2.0 * fmax(n->energy, 1.0));
    for (size_t i = 0; n->basis != NULL && i < (size_t)(n->componentCount + 1) * 3 * (size_t)n->vertexCount; ++i) {
        largest = fmax(largest, fabs((double)n->basis[i]));
    }
    if (!(largest * 1.25 / unit < 127.0 * JN_PLANE_STEP * JN_PLANE_STEP)) {
        return jnFail(error, jn_badData, "the network moves a vertex by %g m, which is no displacement", largest);
    }
    return jn_ok;
}

jnResult jnaEncodeNetwork(
    const jnaNetwork* network, const int32_t* place, double tolerance, void** bytes, size_t* size, jnError* error)
{
    *bytes = NULL;
    jnResult result = network->kind == jn_networkPca ? CheckLimits(network, tolerance, error) : jn_ok;
    if (result != jn_ok) {
        return result;
    }
    if (network->kind == jn_networkPca) {
        *bytes = EncodePca(network, place, tolerance, size);
    } else {
        jnNetworkHead head = MakeHead(network);
        jnNetwork view;
        *bytes = Allocate(&head, network->vertexCount, size, &view);
        if (*bytes != NULL) {
            WriteLayers(network, &view);
            WriteLookups(network, place, &view);
        }
    }
    return *bytes != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the network");
}
