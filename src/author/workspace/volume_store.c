// A volume in its workspace: volume/*.npy and volume.json.
//
// volume.json is written last and names the counts, so that arrays of another run beside it are noticed by their shape.
// Read back with the same mistrust as any file.
#include "workspace/volume_store.h"

#include "base/json.h"
#include "base/npy.h"
#include "base/path.h"
#include "base/try.h"
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

/// One array of a volume and what its file looks like.
typedef struct Entry {
    const char* name;
    jnaScalar scalar;
    int rows, columns; // columns 0: one dimension
    void** data;       // field of the volume
    bool required;
} Entry;

enum { ENTRY_COUNT = 12 };

// joints.npy and materials.npy have a form of their own in memory and are apart.
static void ListEntries(jnaVolume* v, int influences, Entry entries[ENTRY_COUNT])
{
    const Entry list[ENTRY_COUNT] = {
        {"nodes.npy", jna_float64, v->nodeCount, 3, (void**)&v->nodes, true},
        {"tetrahedra.npy", jna_int32, v->tetrahedronCount, 4, (void**)&v->tetrahedra, true},
        {"skin_tetrahedra.npy", jna_int32, v->vertexCount, 0, (void**)&v->skinTetrahedra, true},
        {"skin_weights.npy", jna_float64, v->vertexCount, 4, (void**)&v->skinWeights, true},
        {"skin_offsets.npy", jna_float64, v->vertexCount, 3, (void**)&v->skinOffsets, true},
        {"skin_blend.npy", jna_float64, v->vertexCount, 0, (void**)&v->skinBlend, false},
        {"row_starts.npy", jna_int32, v->nodeCount + 1, 0, (void**)&v->rowStarts, false},
        {"weights.npy", jna_float32, influences, 0, (void**)&v->weights, false},
        {"held_by.npy", jna_int32, v->nodeCount, 0, (void**)&v->heldBy, false},
        {"hold_strength.npy", jna_float32, v->nodeCount, 0, (void**)&v->holdStrength, false},
        {"regions.npy", jna_uint8, v->tetrahedronCount, 0, (void**)&v->regions, false},
        {"materials.npy", jna_float64, v->materialCount, 3, (void**)&v->materials, false},
    };
    memcpy(entries, list, sizeof(list));
}

_Static_assert(sizeof(jnaMaterial) == 3 * sizeof(double), "materials.npy is the array of structs as it is");

static jnResult SaveOne(const char* folder, const Entry* entry, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(folder, entry->name, path, error));
    if (*entry->data == NULL) {
        return unlink(path) == 0 || errno == ENOENT
                   ? jn_ok
                   : jnFail(error, jn_ioFailed, "%s: cannot remove: %s", path, strerror(errno));
    }
    size_t shape[2] = {(size_t)entry->rows, (size_t)entry->columns};
    return jnaWriteArray(path, entry->scalar, entry->columns > 0 ? 2 : 1, shape, *entry->data, error);
}

// The file has int32, which NumPy users expect of indices and .npy here knows.
static jnResult SaveJoints(const char* folder, const jnaVolume* v, int influences, jnError* error)
{
    int32_t* wide = v->joints != NULL ? jnaAllocate(influences, sizeof(*wide)) : NULL;
    if (v->joints != NULL && wide == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the weights of a volume");
    }
    for (int i = 0; wide != NULL && i < influences; ++i) {
        wide[i] = v->joints[i];
    }
    void* data = wide;
    jnResult result = SaveOne(folder, &(Entry){"joints.npy", jna_int32, influences, 0, &data, false}, error);
    free(wide);
    return result;
}

static json_t* DescribeQuality(const jnaMeshQuality* q)
{
    json_t* histogram = json_array();
    for (int i = 0; i < JNA_ANGLE_BINS; ++i) {
        json_array_append_new(histogram, json_integer(q->histogram[i]));
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:o}", "volume", q->volume, "smallest_volume",
        q->smallestVolume, "smallest_angle", q->smallestAngle, "largest_angle", q->largestAngle, "inverted",
        q->invertedCount, "orphans", q->orphanCount, "below_5_degrees", q->belowFive, "angles_per_10_degrees",
        histogram);
}

static json_t* DescribeReport(const jnaVolumeReport* r)
{
    const jnaSurfaceReport* s = &r->surface;
    json_t* bad = json_array();
    for (int i = 0; i < r->forcedCount + r->unforcedCount && i < JNA_MAX_LISTED; ++i) {
        json_array_append_new(bad, json_pack("{s:i, s:f, s:f}", "tetrahedron", (int)r->forced[i].tetrahedron, "angle",
                                       r->forced[i].angle, "surface_angle", r->forced[i].surfaceAngle));
    }
    json_t* surface = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:f}",
        "degenerate_faces", s->degenerateCount, "duplicate_faces", s->duplicateCount, "seam_vertices", s->seamCount,
        "open_edges", s->boundaryEdgeCount, "edges_of_many_faces", s->nonManifoldCount, "holes", s->holeCount, "parts",
        s->componentCount, "turned_faces", s->flippedCount, "inside_out_parts", s->insideOutCount, "left_out_parts",
        s->leftOutCount, "rigid_parts", s->shellCount, "hollows", s->cavityCount, "crossings", s->crossingCount,
        "moved_vertices", s->movedCount, "greatest_move", s->greatestMove, "area", s->area, "volume", s->volume);
    return json_pack("{s:s, s:f, s:o, s:o, s:o, s:i, s:i, s:o, s:i, s:f, s:i, s:i}", "reason", r->reason, "edge",
        r->edge, "surface", surface, "before", DescribeQuality(&r->before), "after", DescribeQuality(&r->after),
        "forced", r->forcedCount, "unforced", r->unforcedCount, "bad", bad, "outside_vertices", r->outsideCount,
        "greatest_outside", r->greatestOutside, "skinned_vertices", r->skinnedCount, "blended_vertices",
        r->blendedCount);
}

static const char* const methodNames[] = {"auto", "tetgen", "lattice"};

static jnResult SaveDescription(
    const char* folder, const jnaVolume* v, int influences, const jnaVolumeReport* report, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(folder, "volume.json", path, error));
    json_t* old = report == NULL ? json_load_file(path, 0, NULL) : NULL;
    json_t* mesh = report != NULL ? DescribeReport(report) : json_incref(json_object_get(old, "mesh"));
    json_t* root = json_pack("{s:i, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "format", 1, "method",
        methodNames[v->method], "nodes", v->nodeCount, "tetrahedra", v->tetrahedronCount, "vertices", v->vertexCount,
        "influences", influences, "joints", v->jointCount, "materials", v->materialCount, "mesh",
        mesh != NULL ? mesh : json_null());
    json_decref(old);
    return jnaSaveJson(folder, "volume.json", root, 17, error);
}

jnResult jnaSaveVolume(const char* workspace, const jnaVolume* volume, const jnaVolumeReport* report, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    Entry entries[ENTRY_COUNT];
    jnaVolume copy = *volume;
    int influences = volume->rowStarts != NULL ? volume->rowStarts[volume->nodeCount] : 0;
    ListEntries(&copy, influences, entries);
    JN_PASS(jnaMakeFolder(workspace, "volume", folder, error));
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        JN_PASS(SaveOne(folder, &entries[i], error));
    }
    JN_PASS(SaveJoints(folder, volume, influences, error));
    return SaveDescription(folder, volume, influences, report, error);
}

static bool LoadCount(const json_t* root, const char* key, int* count)
{
    const json_t* value = json_object_get(root, key);
    json_int_t number = json_integer_value(value);
    *count = (int)number;
    return json_is_integer(value) && number >= 0 && number < INT32_MAX / 16;
}

static jnResult LoadDescription(const char* folder, jnaVolume* v, int* influences, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(folder, "volume.json", path, error));
    if (access(path, R_OK) != 0) {
        return jnFail(
            error, jn_ioFailed, "%s: cannot read: %s; run jounce tetrahedralize first", path, strerror(errno));
    }
    json_t* root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const char* method = json_string_value(json_object_get(root, "method"));
    bool good = json_integer_value(json_object_get(root, "format")) == 1 && method != NULL &&
                LoadCount(root, "nodes", &v->nodeCount) && LoadCount(root, "tetrahedra", &v->tetrahedronCount) &&
                LoadCount(root, "vertices", &v->vertexCount) && LoadCount(root, "influences", influences) &&
                LoadCount(root, "joints", &v->jointCount) && LoadCount(root, "materials", &v->materialCount);
    if (good) {
        v->method = strcmp(method, "lattice") == 0 ? jna_volumeLattice : jna_volumeTetgen;
    }
    json_decref(root);
    return good ? jn_ok : jnFail(error, jn_badData, "%s: is damaged; run jounce tetrahedralize again", path);
}

static bool AllFinite(const jnaArray* array)
{
    bool real = array->scalar == jna_float32 || array->scalar == jna_float64;
    for (size_t i = 0; real && i < array->count; ++i) {
        if (!isfinite(jnaArray_Get(array, i))) {
            return false;
        }
    }
    return true;
}

static jnResult LoadOne(const char* folder, const Entry* entry, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaArray array;
    JN_PASS(jnaJoinPath(folder, entry->name, path, error));
    if ((!entry->required && access(path, F_OK) != 0)) {
        return jn_ok;
    }
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    bool fits = array.scalar == entry->scalar && array.dimensions == (entry->columns > 0 ? 2 : 1) &&
                array.shape[0] == (size_t)entry->rows &&
                (entry->columns == 0 || array.shape[1] == (size_t)entry->columns) && AllFinite(&array);
    if (fits) {
        size_t size = array.count * jnaScalarSize(array.scalar);
        *entry->data = malloc(size + 1);
        JN_TRY(*entry->data != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path));
        memcpy(*entry->data, array.data, size);
    } else {
        char text[96];
        jnaArray_Describe(&array, text, sizeof(text));
        JN_TRY(jnFail(error, jn_badData, "%s: is %s or not finite, which is not what volume.json says", path, text));
    }
done:
    jnaCloseArray(&array);
    return result;
}

static bool InRange(const int32_t* values, int64_t count, int low, int limit)
{
    for (int64_t i = 0; values != NULL && i < count; ++i) {
        if (values[i] < low || values[i] >= limit) {
            return false;
        }
    }
    return true;
}

static bool BlendsAreShares(const jnaVolume* v)
{
    for (int i = 0; v->skinBlend != NULL && i < v->vertexCount; ++i) {
        if (!(v->skinBlend[i] >= 0 && v->skinBlend[i] <= 1)) {
            return false;
        }
    }
    return true;
}

static bool RowsAscend(const jnaVolume* v, int influences)
{
    for (int n = 0; v->rowStarts != NULL && n < v->nodeCount; ++n) {
        if (v->rowStarts[n] > v->rowStarts[n + 1]) {
            return false;
        }
    }
    return v->rowStarts == NULL || (v->rowStarts[0] == 0 && v->rowStarts[v->nodeCount] == influences);
}

static jnResult LoadJoints(const char* folder, jnaVolume* v, int influences, jnError* error)
{
    void* data = NULL;
    jnResult result = jn_ok;
    JN_TRY(LoadOne(folder, &(Entry){"joints.npy", jna_int32, influences, 0, &data, false}, error));
    const int32_t* wide = data;
    if (wide != NULL) {
        v->joints = jnaAllocate(influences, sizeof(*v->joints));
        JN_TRY(v->joints == NULL ? jnFail(error, jn_outOfMemory, "out of memory")
               : !InRange(wide, influences, 0, UINT16_MAX + 1)
                   ? jnFail(error, jn_badData, "%s/joints.npy: names no joint", folder)
                   : jn_ok);
        for (int i = 0; i < influences; ++i) {
            v->joints[i] = (uint16_t)wide[i];
        }
    }
done:
    free(data);
    return result;
}

jnResult jnaLoadVolume(const char* workspace, jnaVolume* volume, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    int influences = 0;
    *volume = (jnaVolume){0};
    jnResult result = jn_ok;
    JN_TRY(jnaJoinPath(workspace, "volume", folder, error));
    JN_TRY(LoadDescription(folder, volume, &influences, error));
    Entry entries[ENTRY_COUNT];
    ListEntries(volume, influences, entries);
    for (int i = 0; i < ENTRY_COUNT; ++i) {
        JN_TRY(LoadOne(folder, &entries[i], error));
    }
    JN_TRY(LoadJoints(folder, volume, influences, error));
    if (!(InRange(volume->tetrahedra, 4 * (int64_t)volume->tetrahedronCount, 0, volume->nodeCount) &&
            InRange(volume->skinTetrahedra, volume->vertexCount, -1, volume->tetrahedronCount) &&
            InRange(volume->heldBy, volume->nodeCount, -1, 2 * volume->jointCount + 1) &&
            RowsAscend(volume, influences))) {
        JN_TRY(jnFail(error, jn_badData, "%s: names a node or tetrahedron that does not exist", folder));
    }
    if (!BlendsAreShares(volume)) {
        JN_TRY(jnFail(error, jn_badData, "%s/skin_blend.npy: has a number that is not between 0 and 1", folder));
    }
done:
    if (result != jn_ok) {
        jnaDestroyVolume(volume);
    }
    return result;
}
