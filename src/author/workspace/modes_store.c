// Modes in their workspace: modes/*.npy and modes.json, written last; and the stage that makes them.
#include "workspace/modes_store.h"

#include "base/input.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "modes/modes_internal.h"
#include "workspace/array_table.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_COUNT = 14 };

static void ListEntries(jnaModes* m, jnaTableEntry entries[ENTRY_COUNT])
{
    size_t n = (size_t)m->modeCount, vertices = (size_t)m->vertexCount, joints = (size_t)m->jointCount;
    const jnaTableEntry list[ENTRY_COUNT] = {
        {"stiffness.npy", jna_float64, 1, {n}, (void**)&m->stiffness, false},
        {"damping.npy", jna_float64, 1, {n}, (void**)&m->damping, false},
        {"masses.npy", jna_float64, 1, {n}, (void**)&m->masses, false},
        {"gain.npy", jna_float64, 1, {n}, (void**)&m->gain, false},
        {"limits.npy", jna_float64, 1, {n}, (void**)&m->limits, false},
        {"caps.npy", jna_float64, 1, {n}, (void**)&m->caps, false},
        {"joints.npy", jna_int32, 1, {n}, (void**)&m->joints, false},
        {"mass_share.npy", jna_float64, 1, {n}, (void**)&m->massShare, false},
        {"regions.npy", jna_float64, 2, {n, JNA_REGIONS}, (void**)&m->regions, true},
        {"sizes.npy", jna_int32, 1, {n}, (void**)&m->sizes, false},
        {"shapes.npy", jna_float32, 3, {n, vertices, 3}, (void**)&m->shapes, false},
        {"projections.npy", jna_float32, 3, {n, vertices, 3}, (void**)&m->projections, false},
        {"pose.npy", jna_float32, 2, {joints, 4}, (void**)&m->pose, false},
        {"spins.npy", jna_float32, 4, {joints, 3, n, n}, (void**)&m->spins, false},
    };
    memcpy(entries, list, sizeof(list));
}

#define CRITICAL "critical.npy"

// The bound has a size of its own, and is there from the stage that finds it on.
static void ListBound(jnaModes* m, jnaTableEntry entries[2])
{
    size_t n = (size_t)m->criticalCount;
    entries[0] = (jnaTableEntry){"critical_limits.npy", jna_float32, 1, {n}, (void**)&m->criticalLimits, false};
    entries[1] = (jnaTableEntry){CRITICAL, jna_int32, 2, {n, 3}, (void**)&m->critical, false};
}

// The stage that makes the bound loads the modes first, and a bound of two sizes would refuse it for ever:
// critical.npy, which says that there is one, goes first and comes last.
jnResult jnaSaveBound(const char* workspace, const jnaModes* m, jnError* error)
{
    char folder[JNA_PATH_LENGTH], path[JNA_PATH_LENGTH];
    jnaModes copy = *m;
    jnaTableEntry entries[2];
    ListBound(&copy, entries);
    JN_PASS(jnaMakeFolder(workspace, "modes", folder, error));
    JN_PASS(jnaJoinPath(folder, CRITICAL, path, error));
    if (unlink(path) == 0) {
        jnaSyncFolderOf(path);
    }
    return jnaSaveTable(folder, entries, 2, error);
}

jnResult jnaSaveModes(const char* workspace, const jnaModes* m, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    jnaModes copy = *m;
    jnaTableEntry entries[ENTRY_COUNT];
    ListEntries(&copy, entries);
    JN_PASS(jnaMakeFolder(workspace, "modes", folder, error));
    JN_PASS(jnaSaveTable(folder, entries, ENTRY_COUNT, error));
    JN_PASS(jnaSaveBound(workspace, m, error));
    json_t* root = json_pack("{s:i, s:i, s:i, s:i}", "format", 2, "modes", m->modeCount, "vertices", m->vertexCount,
        "joints", m->jointCount);
    return jnaSaveJson(folder, "modes.json", root, 17, error);
}

static jnResult LoadBound(const char* folder, jnaModes* m, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaArray array = {0};
    jnaTableEntry entries[2];
    JN_PASS(jnaJoinPath(folder, CRITICAL, path, error));
    if (access(path, F_OK) != 0) {
        return jn_ok;
    }
    JN_PASS(jnaOpenArray(path, &array, error));
    bool good = array.dimensions == 2 && array.shape[0] <= JNA_MAX_CRITICAL;
    m->criticalCount = good ? (int)array.shape[0] : 0;
    jnaCloseArray(&array);
    ListBound(m, entries);
    JN_PASS(jnaLoadTable(folder, entries, 2, (jnaTableSource){CRITICAL, "jounce modes"}, error));
    for (size_t i = 0; i < 3 * (size_t)m->criticalCount; ++i) {
        bool first = i % 3 == 0 || m->critical[i / 3 * 3 + 1] >= 0;
        good =
            good && m->critical[i] < m->vertexCount && (m->critical[i] >= 0 || !first) && m->criticalLimits[i / 3] > 0;
    }
    return good ? jn_ok : jnFail(error, jn_badData, "%s: is not of these modes; run jounce modes", path);
}

static jnResult LoadDescription(const char* folder, jnaModes* counts, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnResult result = jn_ok;
    JN_PASS(jnaJoinPath(folder, "modes.json", path, error));
    if (access(path, F_OK) != 0) {
        return jnFail(
            error, jn_badData, "%s: there are no vibration modes yet; jounce build --until modes makes them", folder);
    }
    json_error_t why;
    json_t* root = jnaReadJson(path, 0, &why);
    json_int_t format = 0, modeCount = 0, vertexCount = 0, jointCount = 0;
    if (root == NULL || json_unpack(root, "{s:I, s:I, s:I, s:I}", "format", &format, "modes", &modeCount, "vertices",
                            &vertexCount, "joints", &jointCount) != 0) {
        result = jnFail(error, jn_badData, "%s: cannot be read: %s; run jounce modes", path,
            root == NULL ? why.text : "a count is missing");
    } else if (format != 2 || modeCount < 0 || modeCount > JNA_MAX_MODES || vertexCount < 1 || vertexCount > 1 << 26 ||
               jointCount < 1 || jointCount > 4096) {
        result = jnFail(error, jn_badData, "%s: names format %lld, %lld modes and %lld vertices", path,
            (long long)format, (long long)modeCount, (long long)vertexCount);
    }
    *counts = (jnaModes){.modeCount = (int)modeCount, .vertexCount = (int)vertexCount, .jointCount = (int)jointCount};
    json_decref(root);
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
    jnaTableEntry entries[ENTRY_COUNT];
    ListEntries(modes, entries);
    JN_TRY(jnaLoadTable(folder, entries, ENTRY_COUNT, (jnaTableSource){"modes.json", "jounce modes"}, error));
    JN_TRY(LoadBound(folder, modes, error));
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

jnResult jnaModes_CheckCharacter(const jnaModes* m, const jnaCharacter* c, const char* workspace, jnError* error)
{
    return m->vertexCount == c->vertexCount && m->jointCount == c->jointCount
               ? jn_ok
               : jnFail(error, jn_badData, "%s: its modes are of another character; run jounce build", workspace);
}
