// A trained network in a workspace, folder `network/`:
//   network.json                      kind, sizes
//   errors.json                       errors on poses held out; made after the network
//   inputs.npy, ranges.npy            int32 (inputs), float32 (2, inputs): centres and half ranges
//   parameters.npy                    float32, all layers
//   basis.npy                         pca: float32 (components + 1, vertices, 3)
//   lookup_starts.npy, lookups.npy    cnn: int32 (vertices + 1), float32 (lookups, 2)
#include "workspace/network_store.h"

#include "base/input.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "learn/train.h"
#include "workspace/array_table.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ENTRIES = 6 };

// The arrays of a network whose counts are set. `ranges` is both centres and halves.
static int ListEntries(jnaNetwork* n, void** ranges, jnaTableEntry* entries)
{
    size_t inputs = (size_t)n->inputCount, vertices = (size_t)n->vertexCount;
    entries[0] = (jnaTableEntry){"inputs.npy", jna_int32, 1, {inputs}, (void**)&n->inputs, false};
    entries[1] = (jnaTableEntry){"ranges.npy", jna_float32, 2, {2, inputs}, ranges, false};
    entries[2] = (jnaTableEntry){"parameters.npy", jna_float32, 1, {n->parameterCount}, (void**)&n->parameters, false};
    if (n->kind == jn_networkPca) {
        size_t components = (size_t)n->componentCount + 1;
        entries[3] = (jnaTableEntry){"basis.npy", jna_float32, 3, {components, vertices, 3}, (void**)&n->basis, false};
        return 4;
    }
    entries[3] = (jnaTableEntry){"lookup_starts.npy", jna_int32, 1, {vertices + 1}, (void**)&n->lookupStarts, false};
    entries[4] =
        (jnaTableEntry){"lookups.npy", jna_float32, 2, {(size_t)n->lookupCount, 2}, (void**)&n->lookups, false};
    return 5;
}

static json_t* PackError(const jnaSurfaceError* e)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:f}", "poses", e->count, "rms", e->rms, "median", e->median, "percentile95",
        e->percentile95, "largest", e->largest);
}

static json_t* PackSoundness(const jnaSoundness* s)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "poses", s->count, "volume_error", s->volumeError,
        "most_volume_error", s->mostVolumeError, "depth", s->depth, "most_depth", s->mostDepth, "overlap", s->overlap,
        "most_overlap", s->mostOverlap);
}

static json_t* PackInts(const int* values, int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(list, json_integer(values[i]));
    }
    return list;
}

static jnResult SaveDescription(const char* workspace, const jnaNetwork* n, jnError* error)
{
    json_t* root = json_pack("{s:i, s:s, s:i, s:i, s:i, s:I, s:i, s:f, s:f, s:i, s:i, s:f, s:i, s:i}", "format", 2,
        "kind", jnNetworkNames[n->kind], "joints", n->jointCount, "vertices", n->vertexCount, "inputs", n->inputCount,
        "parameters", (json_int_t)n->parameterCount, "components", n->componentCount, "energy", n->energy, "unit",
        (double)n->unit, "first_size", n->firstSize, "lookups", n->lookupCount, "validation", n->validation, "epochs",
        n->epochs, "best_epoch", n->bestEpoch);
    if (n->leftOut) {
        json_object_set_new(root, "left_out", json_true());
    }
    if (n->skinning == jn_skinDual) {
        json_object_set_new(root, "skinning", json_string("dual"));
    }
    json_object_set_new(root, "sizes", PackInts(n->sizes, n->layerCount + 1));
    json_object_set_new(root, "channels", PackInts(n->channels, n->stageCount > 0 ? n->stageCount + 1 : 0));
    return jnaSaveJson(workspace, "network/network.json", root, 17, error);
}

jnResult jnaSaveNetworkErrors(const char* workspace, const jnaNetworkReport* r, jnError* error)
{
    json_t* errors = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "skinned_random",
        PackError(&r->skinnedRandom), "network_random", PackError(&r->networkRandom), "skinned_clips",
        PackError(&r->skinnedClip), "network_clips", PackError(&r->networkClip), "skinned_test_clips",
        PackError(&r->skinnedTest), "network_test_clips", PackError(&r->networkTest), "skinned_test_frames",
        PackError(&r->skinnedFrames), "network_test_frames", PackError(&r->networkFrames));
    json_t* soundness = json_pack("{s:o, s:o, s:o}", "skinned", PackSoundness(&r->soundness[0]), "network",
        PackSoundness(&r->soundness[1]), "simulated", PackSoundness(&r->soundness[2]));
    json_t* root = json_pack("{s:o, s:o}", "errors_in_metres", errors, "soundness", soundness);
    return jnaSaveJson(workspace, "network/errors.json", root, 17, error);
}

jnResult jnaMakeNetworkFolder(const char* workspace, jnError* error)
{
    return jnaMakeFolder(workspace, "network", NULL, error);
}

jnResult jnaSaveNetwork(const char* workspace, const jnaNetwork* network, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    jnaNetwork copy = *network;
    jnaTableEntry entries[MOST_ENTRIES];
    size_t inputs = (size_t)network->inputCount;
    float* both = malloc(2 * inputs * sizeof(float) + 1);
    void* ranges = both;
    if (both == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the network");
    }
    memcpy(both, network->centres, inputs * sizeof(float));
    memcpy(both + inputs, network->halves, inputs * sizeof(float));
    int count = ListEntries(&copy, &ranges, entries);
    jnResult result = jn_ok;
    JN_TRY(jnaMakeFolder(workspace, "network", folder, error));
    JN_TRY(jnaSaveTable(folder, entries, count, error));
    JN_TRY(SaveDescription(workspace, network, error));
done:
    free(both);
    return result;
}

static bool LoadInts(const json_t* list, int least, int most, int* values, int* count)
{
    size_t size = json_array_size(list);
    if (size < (size_t)least || size > (size_t)most) {
        return false;
    }
    for (size_t i = 0; i < size; ++i) {
        json_int_t value = json_integer_value(json_array_get(list, i));
        if (value < 1 || value > 1 << 20) {
            return false;
        }
        values[i] = (int)value;
    }
    *count = (int)size - 1;
    return true;
}

static bool LoadCount(const json_t* root, const char* key, int most, int* count)
{
    json_int_t value = json_integer_value(json_object_get(root, key));
    *count = (int)value;
    return json_is_integer(json_object_get(root, key)) && value >= 0 && value <= most;
}

static bool ReadDescription(const json_t* root, jnaNetwork* n)
{
    const char* kind = json_string_value(json_object_get(root, "kind"));
    if (kind == NULL || json_integer_value(json_object_get(root, "format")) != 2) {
        return false;
    }
    for (n->kind = jn_networkPca; n->kind < jn_networkKindCount && strcmp(kind, jnNetworkNames[n->kind]) != 0;) {
        n->kind++;
    }
    if (n->kind == jn_networkKindCount) {
        return false;
    }
    n->energy = json_number_value(json_object_get(root, "energy"));
    n->unit = (float)json_number_value(json_object_get(root, "unit"));
    n->validation = json_number_value(json_object_get(root, "validation"));
    n->leftOut = json_is_true(json_object_get(root, "left_out"));
    const char* skinning = json_string_value(json_object_get(root, "skinning"));
    n->skinning = skinning != NULL && strcmp(skinning, "dual") == 0 ? jn_skinDual : jn_skinLinear;
    bool good =
        LoadCount(root, "joints", 4096, &n->jointCount) && LoadCount(root, "vertices", 1 << 26, &n->vertexCount) &&
        LoadCount(root, "inputs", 6 * 4096, &n->inputCount) &&
        LoadCount(root, "components", JNA_MOST_COMPONENTS, &n->componentCount) &&
        LoadCount(root, "first_size", 1024, &n->firstSize) && LoadCount(root, "lookups", 1 << 26, &n->lookupCount) &&
        LoadCount(root, "epochs", 1 << 30, &n->epochs) && LoadCount(root, "best_epoch", 1 << 30, &n->bestEpoch) &&
        LoadInts(json_object_get(root, "sizes"), 2, JNA_MAX_DENSE + 1, n->sizes, &n->layerCount);
    if (n->kind == jn_networkCnn) {
        good = good && LoadInts(json_object_get(root, "channels"), 2, JNA_MAX_STAGES + 1, n->channels, &n->stageCount);
    } else {
        good = good && json_array_size(json_object_get(root, "channels")) == 0 &&
               n->sizes[n->layerCount] == n->componentCount;
    }
    return good && n->sizes[0] == n->inputCount && isfinite(n->energy) && isfinite(n->unit) && isfinite(n->validation);
}

// Indices of the arrays; floats are looked at by the asset's reader.
static bool CheckArrays(const jnaNetwork* n)
{
    for (int i = 0; i < n->inputCount; ++i) {
        if (n->inputs[i] < 0 || n->inputs[i] >= 6 * n->jointCount || !(n->halves[i] > 0.0f)) {
            return false;
        }
    }
    for (int v = 0; n->kind == jn_networkCnn && v < n->vertexCount; ++v) {
        if (n->lookupStarts[v] < 0 || n->lookupStarts[v + 1] < n->lookupStarts[v] ||
            n->lookupStarts[v + 1] > n->lookupCount) {
            return false;
        }
    }
    float last = (float)((n->firstSize << n->stageCount) - 1);
    for (int i = 0; n->kind == jn_networkCnn && i < 2 * n->lookupCount; ++i) {
        if (!(n->lookups[i] >= 0.0f && n->lookups[i] < last)) {
            return false;
        }
    }
    return true;
}

static jnResult LoadArrays(const char* workspace, jnaNetwork* n, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    jnaTableEntry entries[MOST_ENTRIES];
    void* ranges = NULL;
    jnaArena arena = {0};
    size_t inputs = (size_t)n->inputCount;
    int count = ListEntries(n, &ranges, entries);
    jnResult result = jn_ok;
    JN_TRY(jnaJoinPath(workspace, "network", folder, error));
    JN_TRY(jnaLoadTable(folder, entries, count, (jnaTableSource){"network.json", "jounce train"}, error));
    n->centres = jnaArena_Give(&arena, n->inputCount, sizeof(float));
    n->halves = jnaArena_Give(&arena, n->inputCount, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the network", error));
    memcpy(n->centres, ranges, inputs * sizeof(float));
    memcpy(n->halves, (const float*)ranges + inputs, inputs * sizeof(float));
    if (!CheckArrays(n)) {
        JN_TRY(jnFail(error, jn_badData, "%s/network: is damaged; run jounce train again", workspace));
    }
done:
    free(ranges);
    return result;
}

bool jnaPlaysNetwork(const char* workspace)
{
    char path[JNA_PATH_LENGTH];
    json_t* root =
        jnaJoinPath(workspace, "network/network.json", path, NULL) == jn_ok ? jnaReadJson(path, 0, NULL) : NULL;
    bool plays = root != NULL && !json_is_true(json_object_get(root, "left_out"));
    json_decref(root);
    return plays;
}

jnResult jnaLoadNetwork(const char* workspace, jnaNetwork* network, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    *network = (jnaNetwork){0};
    JN_PASS(jnaJoinPath(workspace, "network/network.json", path, error));
    if (access(path, R_OK) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s; run jounce train first", path, strerror(errno));
    }
    json_t* root = jnaReadJson(path, JSON_REJECT_DUPLICATES, NULL);
    bool good = root != NULL && ReadDescription(root, network);
    json_decref(root);
    if (!good) {
        *network = (jnaNetwork){0};
        return jnFail(error, jn_badData, "%s: is damaged or of an earlier version; run jounce train again", path);
    }
    jnaNetShape shape = jnaNetwork_Shape(network);
    network->parameterCount = jnaNetShape_ParameterCount(&shape);
    jnResult result = LoadArrays(workspace, network, error);
    if (result != jn_ok) {
        jnaDestroyNetwork(network);
    }
    return result;
}
