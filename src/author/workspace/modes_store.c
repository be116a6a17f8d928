// Modes in their workspace: modes/*.npy and modes.json, written last; and the stage that makes them.
#include "workspace/modes_store.h"

#include "base/npy.h"
#include "base/path.h"
#include "base/try.h"
#include "modes/modes_internal.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Entry {
    const char* name;
    jnaScalar scalar;
    int dimensions;
    size_t shape[4];
    void** data; // field of the modes
} Entry;

enum { ENTRY_COUNT = 12 };

static void ListEntries(jnaModes* m, Entry entries[ENTRY_COUNT])
{
    size_t n = (size_t)m->modeCount, vertices = (size_t)m->vertexCount, joints = (size_t)m->jointCount;
    const Entry list[ENTRY_COUNT] = {
        {"stiffness.npy", jna_float64, 1, {n}, (void**)&m->stiffness},
        {"damping.npy", jna_float64, 1, {n}, (void**)&m->damping},
        {"masses.npy", jna_float64, 1, {n}, (void**)&m->masses},
        {"gain.npy", jna_float64, 1, {n}, (void**)&m->gain},
        {"limits.npy", jna_float64, 1, {n}, (void**)&m->limits},
        {"caps.npy", jna_float64, 1, {n}, (void**)&m->caps},
        {"joints.npy", jna_int32, 1, {n}, (void**)&m->joints},
        {"mass_share.npy", jna_float64, 1, {n}, (void**)&m->massShare},
        {"sizes.npy", jna_int32, 1, {n}, (void**)&m->sizes},
        {"shapes.npy", jna_float32, 3, {n, vertices, 3}, (void**)&m->shapes},
        {"projections.npy", jna_float32, 3, {n, vertices, 3}, (void**)&m->projections},
        {"spins.npy", jna_float32, 4, {joints, 3, n, n}, (void**)&m->spins},
    };
    memcpy(entries, list, sizeof(list));
}

static jnResult SaveDescription(const char* folder, const jnaModes* m, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    json_t* root = json_pack("{s:i, s:i, s:i, s:i}", "format", 1, "modes", m->modeCount, "vertices", m->vertexCount,
        "joints", m->jointCount);
    jnaFile file;
    jnResult result = jn_ok;
    JN_TRY(root != NULL ? jnaJoinPath(folder, "modes.json", path, error)
                        : jnFail(error, jn_outOfMemory, "%s: out of memory", folder));
    JN_TRY(jnaCreateFile(path, &file, error));
    (void)json_dumpf(root, file.stream, JSON_INDENT(1));
    fputc('\n', file.stream);
    JN_TRY(jnaFile_Commit(&file, error));
done:
    json_decref(root);
    return result;
}

jnResult jnaSaveModes(const char* workspace, const jnaModes* modes, jnError* error)
{
    char folder[JNA_PATH_LENGTH], path[JNA_PATH_LENGTH];
    jnaModes copy = *modes;
    Entry entries[ENTRY_COUNT];
    ListEntries(&copy, entries);
    JN_PASS(jnaMakeFolder(workspace, "modes", folder, error));
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        JN_PASS(jnaJoinPath(folder, entries[i].name, path, error));
        JN_PASS(
            jnaWriteArray(path, entries[i].scalar, entries[i].dimensions, entries[i].shape, *entries[i].data, error));
    }
    return SaveDescription(folder, modes, error);
}

static jnResult LoadDescription(const char* folder, jnaModes* counts, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnResult result = jnaJoinPath(folder, "modes.json", path, error);
    if (result != jn_ok) {
        return result;
    }
    json_error_t why;
    json_t* root = json_load_file(path, 0, &why);
    json_int_t format = 0, modeCount = 0, vertexCount = 0, jointCount = 0;
    if (root == NULL || json_unpack(root, "{s:I, s:I, s:I, s:I}", "format", &format, "modes", &modeCount, "vertices",
                            &vertexCount, "joints", &jointCount) != 0) {
        result = jnFail(error, jn_badData, "%s: cannot be read: %s; run jounce modes", path,
            root == NULL ? why.text : "a count is missing");
    } else if (format != 1 || modeCount < 0 || modeCount > JNA_MAX_MODES || vertexCount < 1 || vertexCount > 1 << 26 ||
               jointCount < 1 || jointCount > 4096) {
        result = jnFail(error, jn_badData, "%s: names format %lld, %lld modes and %lld vertices", path,
            (long long)format, (long long)modeCount, (long long)vertexCount);
    }
    *counts = (jnaModes){.modeCount = (int)modeCount, .vertexCount = (int)vertexCount, .jointCount = (int)jointCount};
    json_decref(root);
    return result;
}

static jnResult LoadOne(const char* folder, const Entry* entry, jnError* error)
{
    char path[JNA_PATH_LENGTH], text[96];
    jnaArray array;
    JN_PASS(jnaJoinPath(folder, entry->name, path, error));
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    bool good = array.scalar == entry->scalar && array.dimensions == entry->dimensions &&
                memcmp(array.shape, entry->shape, (size_t)entry->dimensions * sizeof(size_t)) == 0;
    for (size_t i = 0; good && entry->scalar != jna_int32 && i < array.count; ++i) {
        good = isfinite(jnaArray_Get(&array, i));
    }
    if (good) {
        memcpy(*entry->data, array.data, array.count * jnaScalarSize(array.scalar));
    } else {
        jnaArray_Describe(&array, text, sizeof(text));
        result = jnFail(error, jn_badData, "%s: is %s or not finite, which is not what modes.json says", path, text);
    }
    jnaCloseArray(&array);
    return result;
}

jnResult jnaLoadModes(const char* workspace, jnaModes* modes, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    jnaModes counts = {0};
    *modes = counts;
    JN_PASS(jnaJoinPath(workspace, "modes", folder, error));
    JN_PASS(LoadDescription(folder, &counts, error));
    JN_PASS(jnaModes_Allocate(modes, counts.modeCount, counts.vertexCount, counts.jointCount, error));
    jnResult result = jn_ok;
    Entry entries[ENTRY_COUNT];
    ListEntries(modes, entries);
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        JN_TRY(LoadOne(folder, &entries[i], error));
    }
    for (int k = 0; k < modes->modeCount; ++k) {
        if (!(modes->stiffness[k] >= 0 && modes->damping[k] >= 0 && modes->masses[k] > 0 && modes->limits[k] >= 0 &&
                modes->caps[k] >= 0 && modes->joints[k] >= 0 && modes->joints[k] < modes->jointCount)) {
            JN_TRY(jnFail(error, jn_badData, "%s: mode %d has stiffness %g, damping %g, joint %d", folder, k,
                modes->stiffness[k], modes->damping[k], modes->joints[k]));
        }
    }
done:
    if (result != jn_ok) {
        jnaDestroyModes(modes);
    }
    return result;
}
