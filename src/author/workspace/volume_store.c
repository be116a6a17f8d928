// A volume in its workspace: volume/*.npy and volume.json.
//
// volume.json is written last and names the counts, so that arrays of another run beside it are noticed by their shape.
// Read back with the same mistrust as any file.
#include "workspace/volume_store.h"

#include "base/input.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "volume/mesh_internal.h"
#include "workspace/array_table.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESH_ENTRIES = 7, ENTRY_COUNT = 13 }; // the mesh and where the skin is in it; then what lives in it

// joints.npy and materials.npy have a form of their own in memory and are apart.
static void ListEntries(jnaVolume* v, int influences, jnaTableEntry entries[ENTRY_COUNT])
{
    size_t nodes = (size_t)v->nodeCount, tetrahedra = (size_t)v->tetrahedronCount, vertices = (size_t)v->vertexCount;
    const jnaTableEntry list[ENTRY_COUNT] = {
        {"nodes.npy", jna_float64, 2, {nodes, 3}, (void**)&v->nodes, false},
        {"tetrahedra.npy", jna_int32, 2, {tetrahedra, 4}, (void**)&v->tetrahedra, false},
        {"skin_tetrahedra.npy", jna_int32, 1, {vertices}, (void**)&v->skinTetrahedra, false},
        {"skin_weights.npy", jna_float64, 2, {vertices, 4}, (void**)&v->skinWeights, false},
        {"skin_offsets.npy", jna_float64, 2, {vertices, 3}, (void**)&v->skinOffsets, false},
        {"skin_blend.npy", jna_float64, 1, {vertices}, (void**)&v->skinBlend, true},
        {"skin_kinds.npy", jna_uint8, 1, {vertices}, (void**)&v->skinKinds, true},
        {"row_starts.npy", jna_int32, 1, {nodes + 1}, (void**)&v->rowStarts, true},
        {"weights.npy", jna_float32, 1, {(size_t)influences}, (void**)&v->weights, true},
        {"held_by.npy", jna_int32, 1, {nodes}, (void**)&v->heldBy, true},
        {"hold_strength.npy", jna_float32, 1, {nodes}, (void**)&v->holdStrength, true},
        {"regions.npy", jna_uint8, 1, {tetrahedra}, (void**)&v->regions, true},
        {"materials.npy", jna_float64, 2, {(size_t)v->materialCount, 5}, (void**)&v->materials, true},
    };
    memcpy(entries, list, sizeof(list));
}

static jnaTableEntry JointsEntry(int influences, void** data)
{
    return (jnaTableEntry){"joints.npy", jna_int32, 1, {(size_t)influences}, data, true};
}

static const jnaTableSource source = {"volume.json", "jounce tetrahedralize"};

_Static_assert(sizeof(jnaMaterial) == 5 * sizeof(double), "materials.npy is the array of structs as it is");

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
    jnaTableEntry entry = JointsEntry(influences, &data);
    jnResult result = jnaSaveTable(folder, &entry, 1, error);
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
    json_t* old = report == NULL ? jnaReadJson(path, 0, NULL) : NULL;
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
    jnaTableEntry entries[ENTRY_COUNT];
    jnaVolume copy = *volume;
    int influences = volume->rowStarts != NULL ? volume->rowStarts[volume->nodeCount] : 0;
    ListEntries(&copy, influences, entries);
    JN_PASS(jnaMakeFolder(workspace, "volume", folder, error));
    JN_PASS(jnaSaveTable(folder, entries, ENTRY_COUNT, error));
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
    json_t* root = jnaReadJson(path, JSON_REJECT_DUPLICATES, NULL);
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

static bool KindsAreKnown(const jnaVolume* v)
{
    for (int i = 0; v->skinKinds != NULL && i < v->vertexCount; ++i) {
        if (v->skinKinds[i] > jna_skinRigid) {
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
    jnaTableEntry entry = JointsEntry(influences, &data);
    jnResult result = jn_ok;
    JN_TRY(jnaLoadTable(folder, &entry, 1, source, error));
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

static jnResult Load(const char* workspace, bool inside, jnaVolume* volume, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    int influences = 0;
    *volume = (jnaVolume){0};
    jnResult result = jn_ok;
    JN_TRY(jnaJoinPath(workspace, "volume", folder, error));
    JN_TRY(LoadDescription(folder, volume, &influences, error));
    volume->materialCount = inside ? volume->materialCount : 0;
    jnaTableEntry entries[ENTRY_COUNT];
    ListEntries(volume, influences, entries);
    JN_TRY(jnaLoadTable(folder, entries, inside ? ENTRY_COUNT : MESH_ENTRIES, source, error));
    JN_TRY(inside ? LoadJoints(folder, volume, influences, error) : jn_ok);
    if (!(InRange(volume->tetrahedra, 4 * (int64_t)volume->tetrahedronCount, 0, volume->nodeCount) &&
            InRange(volume->skinTetrahedra, volume->vertexCount, -1, volume->tetrahedronCount) &&
            InRange(volume->heldBy, volume->nodeCount, -1, 2 * volume->jointCount + 1) &&
            RowsAscend(volume, influences))) {
        JN_TRY(jnFail(error, jn_badData, "%s: names a node or tetrahedron that does not exist", folder));
    }
    if (!KindsAreKnown(volume)) {
        JN_TRY(jnFail(error, jn_badData, "%s/skin_kinds.npy: has numbers that are no kind of skin; run %s again",
            folder, source.command));
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

jnResult jnaLoadVolume(const char* workspace, jnaVolume* volume, jnError* error)
{
    return Load(workspace, true, volume, error);
}

jnResult jnaLoadMesh(const char* workspace, jnaVolume* volume, jnError* error)
{
    return Load(workspace, false, volume, error);
}
