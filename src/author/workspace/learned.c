// The arrays of a fit, one file each, and the one spring for all in springs/uniform.npy.
#include "workspace/learned.h"

#include "base/input.h"
#include "base/npy.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Entry {
    const char* name;
    void** data;
    jnaScalar scalar;
    int dimensions;
    size_t shape[3];
    bool isSigned; // else no number is below 0
} Entry;

enum { ENTRY_COUNT = 8 };

static void ListEntries(jnaLearned* l, Entry entries[ENTRY_COUNT])
{
    size_t v = (size_t)l->vertexCount, m = (size_t)l->modeCount;
    const Entry list[ENTRY_COUNT] = {
        {"springs/stiffness.npy", (void**)&l->stiffness, jna_float32, 1, {v}, false},
        {"springs/damping.npy", (void**)&l->damping, jna_float32, 1, {v}, false},
        {"springs/skinned_stiffness.npy", (void**)&l->skinnedStiffness, jna_float32, 1, {v}, false},
        {"springs/skinned_damping.npy", (void**)&l->skinnedDamping, jna_float32, 1, {v}, false},
        {"springs/modal_stiffness.npy", (void**)&l->modalStiffness, jna_float64, 1, {m}, false},
        {"springs/modal_damping.npy", (void**)&l->modalDamping, jna_float64, 1, {m}, false},
        {"springs/modal_gain.npy", (void**)&l->modalGain, jna_float64, 1, {m}, false},
        {"springs/modal_shapes.npy", (void**)&l->modalShapes, jna_float32, 3, {m, v, 3}, true},
    };
    memcpy(entries, list, sizeof(list));
}

static size_t CountOf(const Entry* entry)
{
    size_t count = 1;
    for (int i = 0; i < entry->dimensions; ++i) {
        count *= entry->shape[i];
    }
    return count;
}

void jnaDestroyLearned(jnaLearned* learned)
{
    Entry entries[ENTRY_COUNT];
    ListEntries(learned, entries);
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        free(*entries[i].data);
    }
    *learned = (jnaLearned){0};
}

#define UNIFORM "springs/uniform.npy"

jnResult jnaSaveLearned(const char* workspace, const jnaLearned* learned, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaLearned copy = *learned;
    Entry entries[ENTRY_COUNT];
    ListEntries(&copy, entries);
    JN_PASS(jnaMakeFolder(workspace, "springs", NULL, error));
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        JN_PASS(jnaJoinPath(workspace, entries[i].name, path, error));
        if (*entries[i].data != NULL) {
            JN_PASS(jnaWriteArray(
                path, entries[i].scalar, entries[i].dimensions, entries[i].shape, *entries[i].data, error));
        } else if (unlink(path) != 0 && errno != ENOENT) {
            return jnFail(error, jn_ioFailed, "%s: cannot be removed: %s", path, strerror(errno));
        }
    }
    JN_PASS(jnaJoinPath(workspace, UNIFORM, path, error));
    return jnaWriteArray(path, jna_float64, 1, (size_t[]){2}, learned->uniform, error);
}

// Numbers that a spring can have, or a shape.
static bool IsGood(const jnaArray* array, bool isSigned)
{
    bool good = true;
    for (size_t i = 0; good && i < array->count; ++i) {
        double value = jnaArray_Get(array, i);
        good = (isSigned || value >= 0) && isfinite(value);
    }
    return good;
}

static jnResult LoadOne(const char* path, const Entry* entry, void* data, jnError* error)
{
    jnaArray array;
    jnResult result = jnaOpenArray(path, &array, error);
    if (result != jn_ok) {
        return result;
    }
    if (array.scalar != entry->scalar || array.dimensions != entry->dimensions ||
        memcmp(array.shape, entry->shape, (size_t)entry->dimensions * sizeof(size_t)) != 0) {
        result =
            jnFail(error, jn_badData, "%s: is of another character or of other modes; `jounce fit` makes it", path);
    } else if (!IsGood(&array, entry->isSigned)) {
        result = jnFail(error, jn_badData, "%s: has a number that no spring can have; `jounce fit` makes it", path);
    } else {
        memcpy(data, array.data, array.count * jnaScalarSize(entry->scalar));
    }
    jnaCloseArray(&array);
    return result;
}

jnResult jnaLoadLearned(const char* workspace, int vertexCount, int modeCount, jnaLearned* learned, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    *learned = (jnaLearned){.vertexCount = vertexCount, .modeCount = modeCount};
    Entry entries[ENTRY_COUNT];
    ListEntries(learned, entries);
    jnResult result = jn_ok;
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        JN_TRY(jnaJoinPath(workspace, entries[i].name, path, error));
        size_t count = CountOf(&entries[i]);
        if (count > 0 && jnaFileIsThere(path)) {
            *entries[i].data = malloc(count * jnaScalarSize(entries[i].scalar));
            JN_TRY(*entries[i].data != NULL ? LoadOne(path, &entries[i], *entries[i].data, error)
                                            : jnFail(error, jn_outOfMemory, "out of memory for %s", entries[i].name));
        }
    }
    JN_TRY(jnaJoinPath(workspace, UNIFORM, path, error));
    if (jnaFileIsThere(path)) {
        JN_TRY(LoadOne(path, &(Entry){.scalar = jna_float64, .dimensions = 1, .shape = {2}}, learned->uniform, error));
    }
done:
    if (result != jn_ok) {
        jnaDestroyLearned(learned);
    }
    return result;
}

// "layer" of fit.json; *root keeps it, release with json_decref.
static const json_t* LoadLayers(const jnaWorkspace* w, json_t** root)
{
    char path[JNA_PATH_LENGTH];
    *root = jnaWorkspace_Path(w, path, NULL, "springs/fit.json") == jn_ok ? jnaReadJson(path, 0, NULL) : NULL;
    return json_object_get(*root, "layer");
}

jnaSpringLayer jnaWorkspace_Layer(const jnaWorkspace* w)
{
    jnaSpringLayer layer = w->manifest.springs.layer;
    if (w->manifest.modesSource == jna_modesOfMotion && !jnaWorkspace_Has(w, "modes/modes.json")) {
        return jna_layerVertex;
    }
    if (layer != jna_layerAuto) {
        return layer;
    }
    json_t* root;
    const char* kept = json_string_value(json_object_get(LoadLayers(w, &root), "better"));
    layer = kept != NULL && strcmp(kept, jnaLayerNames[jna_layerVertex]) == 0 ? jna_layerVertex : jna_layerModal;
    json_decref(root);
    return layer;
}

double jnaWorkspace_Explains(const jnaWorkspace* w, jnaSpringLayer layer)
{
    json_t* root;
    const json_t* captured = json_object_get(LoadLayers(w, &root), jnaLayerNames[layer]);
    double value = json_is_number(captured) ? json_number_value(captured) : (double)NAN;
    json_decref(root);
    return value;
}

// Numbers of the modes, and caps for shapes in the place of theirs. modes: these arrays are its own.
static void SetNumbers(const jnaLearned* l, jnaModes* modes)
{
    size_t n = (size_t)modes->modeCount;
    memcpy(modes->stiffness, l->modalStiffness, n * sizeof(double));
    memcpy(modes->damping, l->modalDamping, n * sizeof(double));
    memcpy(modes->gain, l->modalGain, n * sizeof(double));
    jnaModes shaped = *modes;
    shaped.shapes = l->modalShapes;
    for (int k = 0; l->modalShapes != NULL && k < modes->modeCount; ++k) {
        double was = jnaModes_Largest(modes, k), is = jnaModes_Largest(&shaped, k);
        modes->caps[k] *= is > was ? was / is : 1;
    }
}

void jnaLearned_Apply(const jnaLearned* learned, jnaModes* modes)
{
    SetNumbers(learned, modes);
    if (learned->modalShapes != NULL) {
        size_t numbers = 3 * (size_t)modes->modeCount * (size_t)modes->vertexCount;
        memcpy(modes->shapes, learned->modalShapes, numbers * sizeof(float));
    }
}

jnResult jnaLearned_SetModes(const jnaLearned* learned, const jnaModes* physical, jnaModes* modes, jnError* error)
{
    size_t n = (size_t)physical->modeCount;
    double* numbers = malloc((4 * n + 1) * sizeof(double));
    *modes = *physical;
    modes->stiffness = numbers;
    if (numbers == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %zu modes", n);
    }
    modes->damping = numbers + n;
    modes->gain = numbers + 2 * n;
    modes->caps = numbers + 3 * n;
    memcpy(modes->caps, physical->caps, n * sizeof(double));
    SetNumbers(learned, modes);
    modes->shapes = learned->modalShapes != NULL ? learned->modalShapes : physical->shapes;
    return jn_ok;
}

jnResult jnaPartsOfWorkspace(jnaWorkspace* workspace, jnaParts* parts, jnError* error)
{
    const jnaCharacter* character;
    const jnaVolume* volume;
    JN_PASS(jnaWorkspace_Character(workspace, &character, error));
    if (jnaWorkspace_Volume(workspace, &volume, NULL) != jn_ok) { // springs from motion that was simulated elsewhere
        return jnaPartsByJoint(character, parts, error);
    }
    return jnaPartsByRegion(character, volume, parts, error);
}
