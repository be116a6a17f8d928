// Every number of section NETW, looked at once while it is loaded. Counts first, so that the arrays behind them can be
// placed; then indices and floats.
#include "network.h"

#include <math.h>

// Sane sizes; what lies above is damage, or not for real time.
enum { MOST_NUMBERS = 1 << 16, MOST_CHANNELS = 1024, LARGEST_MAP = 1024 };
// Beyond this a weight is no weight, and products of layers would leave the floats.
#define LARGEST_WEIGHT 1e6f

static jnResult Damaged(const jnAssetBlock* block, const char* what, double value, jnError* error)
{
    return jnFail(error, jn_badData, "%s: section NETW: %s is %g, which cannot be", block->source, what, value);
}

static bool AreSane(const int32_t* sizes, int count, int room, int32_t most, int32_t* bad)
{
    for (int i = 0; i < room; ++i) {
        if (i < count ? sizes[i] < 1 || sizes[i] > most : sizes[i] != 0) {
            *bad = sizes[i];
            return false;
        }
    }
    return true;
}

static jnResult CheckPcaHead(const jnAssetBlock* block, const jnNetworkHead* h, jnError* error)
{
    if (h->componentCount != h->sizes[h->layerCount] + 1 || h->componentCount > JN_MAX_COLUMNS) {
        return Damaged(block, "the number of components", h->componentCount, error);
    }
    int32_t bad = 0;
    bool rest = h->stageCount == 0 && h->firstSize == 0 && h->lookupCount == 0;
    return rest && AreSane(h->channels, 0, JN_MAX_STAGES + 1, 0, &bad)
               ? jn_ok
               : Damaged(block, "a number of a map", bad, error);
}

static jnResult CheckCnnHead(const jnAssetBlock* block, const jnNetworkHead* h, jnError* error)
{
    int32_t bad = 0;
    if (h->stageCount < 1 || h->stageCount > JN_MAX_STAGES || h->firstSize < 4 || h->firstSize % 4 != 0 ||
        h->firstSize > LARGEST_MAP >> h->stageCount) {
        return Damaged(block, "the size of the map", h->firstSize, error);
    }
    if (!AreSane(h->channels, h->stageCount + 1, JN_MAX_STAGES + 1, MOST_CHANNELS, &bad)) {
        return Damaged(block, "a number of channels", bad, error);
    }
    // Pictures in between are whole blocks of channels; the map has three.
    for (int i = 1; i < h->stageCount; ++i) {
        if (h->channels[i] % JN_LANES != 0) {
            return Damaged(block, "a number of channels", h->channels[i], error);
        }
    }
    if (h->channels[h->stageCount] != 3) {
        return Damaged(block, "the number of the map's channels", h->channels[h->stageCount], error);
    }
    if (h->sizes[h->layerCount] != h->firstSize * h->firstSize * h->channels[0]) {
        return Damaged(block, "the size of the first picture", h->sizes[h->layerCount], error);
    }
    return h->componentCount == 0 && h->lookupCount <= JN_MAX_ASSET_ELEMENTS
               ? jn_ok
               : Damaged(block, "a count", h->lookupCount, error);
}

static jnResult CheckHead(const jnAssetBlock* block, const jnNetworkHead* h, jnError* error)
{
    int32_t bad = 0;
    if (h->kind != jn_networkPca && h->kind != jn_networkCnn) {
        return Damaged(block, "the kind", h->kind, error);
    }
    if (h->layerCount < 1 || h->layerCount > JN_MAX_DENSE ||
        !AreSane(h->sizes, h->layerCount + 1, JN_MAX_DENSE + 1, MOST_NUMBERS, &bad)) {
        return Damaged(block, "the size of a layer", bad, error);
    }
    for (int i = 0; i < JN_MAX_DENSE; ++i) {
        uint64_t most = i < h->layerCount ? (uint64_t)h->sizes[i] * (uint64_t)jnBlockCount(h->sizes[i + 1]) : 0;
        if (h->rows[i] > most) {
            return Damaged(block, "the number of weights", h->rows[i], error);
        }
    }
    if (h->inputCount != h->sizes[0] || h->inputCount > 6 * block->view.jointCount) {
        return Damaged(block, "the number of inputs", h->inputCount, error);
    }
    if (!(h->unit > 0.0f && h->unit <= 1e3f) || !(h->validation >= 0.0f && h->validation <= 1e9f)) {
        return Damaged(block, "the unit or the error", (double)h->unit, error);
    }
    for (int i = 0; i < 7; ++i) {
        if (h->reserved[i] != 0) {
            return Damaged(block, "a reserved field", h->reserved[i], error);
        }
    }
    return h->kind == jn_networkPca ? CheckPcaHead(block, h, error) : CheckCnnHead(block, h, error);
}

static jnResult CheckFloats(
    const jnAssetBlock* block, const char* what, const float* values, size_t count, float most, jnError* error)
{
    for (size_t i = 0; i < count; ++i) {
        if (!(fabsf(values[i]) <= most)) {
            return Damaged(block, what, (double)values[i], error);
        }
    }
    return jn_ok;
}

static jnResult CheckInputs(const jnAssetBlock* block, const jnNetwork* n, jnError* error)
{
    const jnAsset* a = &block->view;
    size_t count = (size_t)n->head->inputCount;
    for (size_t i = 0; i < count; ++i) {
        int32_t input = n->inputs[i];
        if (input < 0 || input >= 6 * a->jointCount || a->joints[input / 6].parent < 0 ||
            (i > 0 && input <= n->inputs[i - 1])) {
            return Damaged(block, "an input", input, error);
        }
    }
    JN_PASS(CheckFloats(block, "a centre of a range", n->centres, count, 2.0f, error));
    return CheckFloats(block, "a scale of a range", n->scales, count, LARGEST_WEIGHT, error);
}

// Runs of inputs of a layer's blocks.
static jnResult CheckRuns(const jnAssetBlock* block, const jnNetwork* n, int layer, jnError* error)
{
    const uint32_t* starts = n->rowStarts[layer];
    uint32_t rows = n->head->rows[layer], inputs = (uint32_t)n->head->sizes[layer];
    int blocks = jnBlockCount(n->head->sizes[layer + 1]);
    if (starts[0] != 0 || starts[blocks] != rows) {
        return Damaged(block, "the number of weights", starts[blocks], error);
    }
    for (int i = 0; i < blocks; ++i) {
        int32_t first = n->firsts[layer][i];
        if (starts[i + 1] < starts[i] || starts[i + 1] > rows || first < 0 || (uint32_t)first > inputs ||
            starts[i + 1] - starts[i] > inputs - (uint32_t)first) {
            return Damaged(block, "the run of a block's inputs", first, error);
        }
    }
    return jn_ok;
}

static jnResult CheckWeights(const jnAssetBlock* block, const jnNetwork* n, jnError* error)
{
    const jnNetworkHead* h = n->head;
    for (int i = 0; i < h->layerCount; ++i) {
        size_t outputs = jnPadLanes(h->sizes[i + 1]), weights = (size_t)h->rows[i] * JN_LANES;
        JN_PASS(CheckRuns(block, n, i, error));
        JN_PASS(CheckFloats(block, "a weight", n->weights[i], weights, LARGEST_WEIGHT, error));
        JN_PASS(CheckFloats(block, "a bias", n->biases[i], outputs, LARGEST_WEIGHT, error));
    }
    for (int i = 0; i < h->stageCount; ++i) {
        size_t outputs = jnPadLanes(h->channels[i + 1]), weights = 16 * outputs * (size_t)h->channels[i];
        JN_PASS(CheckFloats(block, "a weight", n->kernels[i], weights, LARGEST_WEIGHT, error));
        JN_PASS(CheckFloats(block, "a bias", n->kernelBiases[i], outputs, LARGEST_WEIGHT, error));
    }
    return jn_ok;
}

static jnResult CheckLookups(const jnAssetBlock* block, const jnNetwork* n, jnError* error)
{
    const jnNetworkHead* h = n->head;
    size_t vertices = (size_t)block->view.vertexCount;
    float last = (float)((h->firstSize << h->stageCount) - 1);
    if (n->lookupStarts[0] != 0 || n->lookupStarts[vertices] != h->lookupCount) {
        return Damaged(block, "the number of lookups", n->lookupStarts[vertices], error);
    }
    for (size_t i = 0; i < vertices; ++i) {
        if (n->lookupStarts[i + 1] < n->lookupStarts[i] || n->lookupStarts[i + 1] > h->lookupCount) {
            return Damaged(block, "the start of a run", n->lookupStarts[i + 1], error);
        }
    }
    for (size_t i = 0; i < 2 * (size_t)h->lookupCount; ++i) {
        if (!(n->lookups[i] >= 0.0f && n->lookups[i] < last)) {
            return Damaged(block, "a place on the map", (double)n->lookups[i], error);
        }
    }
    return jn_ok;
}

jnResult jnCheckNetwork(const jnAssetBlock* block, const void* bytes, uint64_t size, jnNetwork* network, jnError* error)
{
    const jnNetworkHead* head = bytes;
    if (size < sizeof(*head)) {
        return Damaged(block, "the number of bytes", (double)size, error);
    }
    JN_PASS(CheckHead(block, head, error));
    uint64_t expected = jnPlaceNetwork(head, bytes, block->view.vertexCount, network);
    if (size != expected) {
        return jnFail(error, jn_badData, "%s: section NETW has %llu bytes where its counts ask for %llu", block->source,
            (unsigned long long)size, (unsigned long long)expected);
    }
    JN_PASS(CheckInputs(block, network, error));
    JN_PASS(CheckWeights(block, network, error));
    return head->kind == jn_networkCnn ? CheckLookups(block, network, error) : jn_ok;
}
