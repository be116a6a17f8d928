// Polygon meshes of an Alembic file as one moving mesh.
//
// Every PolyMesh and SubD below the top object, or the one that is asked for, with the transforms above it applied at
// the times of its positions. The faces must stay as they are. Alembic winds faces clockwise; ours are
// counter-clockwise, so the corners of each face are reversed. Limits: instances, face sets and NURBS are read past.
#include "base/mapped_file.h"
#include "base/try.h"
#include "character/mesh_cache_internal.h"
#include "character/ogawa.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64, MAX_OBJECTS = 65536, MAX_OPERATIONS = 64, MAX_CHANNELS = 256, NAME_SIZE = 1024 };

// A transform above the mesh: operations, and the channels that drive them.
typedef struct Transform {
    bool inherits;
    int operationCount;
    unsigned char operations[MAX_OPERATIONS];
    jnaAbcProperty values; // sampleCount 0: identity
} Transform;

typedef struct Reading {
    const char* path;
    const char* asked;
    jnaAbcArchive archive;
    jnaMeshCache* cache;
    int objectCount;
    int depth;
    Transform transforms[MAX_DEPTH];
    char name[NAME_SIZE]; // path of the object in hand
    char found[256];      // names of meshes, for the sentence about one that is not there
    jnError* error;
} Reading;

static jnResult Damaged(const Reading* r, const char* what)
{
    return jnFail(r->error, jn_badData, "%s: is damaged: %s of '%s'", r->path, what, r->name);
}

// Reads .xform of an object; an object without one moves nothing.
static jnResult ReadTransform(const Reading* r, uint64_t object, Transform* t)
{
    jnaAbcProperty xform, property;
    jnaAbcBytes bytes;
    *t = (Transform){.inherits = true};
    if (!jnaAbc_Find(&r->archive, jnaAbc_Properties(&r->archive, object), ".xform", &xform) || !xform.compound) {
        return jn_ok;
    }
    if (jnaAbc_Find(&r->archive, xform.word, ".inherits", &property) && property.sampleCount > 0 &&
        jnaAbc_Sample(&r->archive, &property, 0, &bytes) && bytes.size == 1) {
        t->inherits = bytes.bytes[0] != 0;
    }
    if (!jnaAbc_Find(&r->archive, xform.word, ".ops", &property) || property.sampleCount == 0) {
        return jn_ok;
    }
    if (!jnaAbc_Sample(&r->archive, &property, 0, &bytes) || bytes.size > MAX_OPERATIONS ||
        property.pod != jna_abcUint8) {
        return Damaged(r, "the transform");
    }
    memcpy(t->operations, bytes.bytes, bytes.size);
    t->operationCount = (int)bytes.size;
    if (jnaAbc_Find(&r->archive, xform.word, ".vals", &t->values) && t->values.pod != jna_abcFloat64) {
        return Damaged(r, "the transform");
    }
    return jn_ok;
}

// One operation as a matrix; returns the channels that it took, or -1 where it is not known or has too few.
static int MakeOperation(int kind, const double* values, int left, jnaAffine* m)
{
    static const int widths[7] = {3, 3, 4, 16, 1, 1, 1};
    if (kind > 6 || left < widths[kind]) {
        return -1;
    }
    *m = jnaAffine_Identity();
    double axis[3] = {kind == 4, kind == 5, kind == 6}, angle = values[kind == 2 ? 3 : 0] * (JNA_PI / 180);
    for (int i = 0; i < 3; ++i) {
        if (kind == 0) {
            m->m[5 * i] = values[i];
        } else if (kind == 1) {
            m->m[4 * i + 3] = values[i];
        } else if (kind == 3) {
            for (int k = 0; k < 4; ++k) {
                m->m[4 * i + k] = values[4 * k + i]; // the file's vectors are rows
            }
        } else if (kind == 2) {
            axis[i] = values[i];
        }
    }
    if (kind == 2 || kind > 3) {
        const double origin[3] = {0, 0, 0}, one[3] = {1, 1, 1};
        double quaternion[4];
        jnaNormalize(axis);
        jnaQuat_FromAxis(axis, angle, quaternion);
        *m = jnaAffine_FromTrs(origin, quaternion, one);
    }
    return widths[kind];
}

static bool EvaluateTransform(const Reading* r, const Transform* t, double seconds, jnaAffine* m)
{
    const jnaAbcProperty* p = &t->values;
    jnaAbcBytes bytes;
    double values[MAX_CHANNELS];
    *m = jnaAffine_Identity();
    if (t->operationCount == 0 || p->sampleCount == 0) {
        return true;
    }
    uint32_t index = jnaAbcSampling_Floor(&r->archive.samplings[p->sampling], p->sampleCount, seconds);
    if (!jnaAbc_Sample(&r->archive, p, index, &bytes) || bytes.size > sizeof(values)) {
        return false;
    }
    memcpy(values, bytes.bytes, bytes.size);
    int count = (int)(bytes.size / sizeof(double)), at = 0;
    for (int i = 0; i < t->operationCount; ++i) {
        jnaAffine operation;
        int taken = MakeOperation(t->operations[i] >> 4, values + at, count - at, &operation);
        if (taken < 0) {
            return false;
        }
        *m = jnaAffine_Multiply(m, &operation);
        at += taken;
    }
    return true;
}

// Mesh to world at a time.
static bool EvaluatePlace(const Reading* r, double seconds, jnaAffine* place)
{
    *place = jnaAffine_Identity();
    for (int i = 0; i < r->depth; ++i) {
        jnaAffine m;
        if (!EvaluateTransform(r, &r->transforms[i], seconds, &m)) {
            return false;
        }
        *place = r->transforms[i].inherits ? jnaAffine_Multiply(place, &m) : m;
    }
    return true;
}

// Whole numbers of a sample that does not change.
static jnResult ReadIntegers(const Reading* r, const jnaAbcProperty* p, const char* what, int32_t** values, int* count)
{
    jnaAbcBytes bytes;
    if (p->lastChanged != 0) {
        return jnFail(r->error, jn_badData,
            "%s: %s of '%s' change over time; a character needs the same faces in every frame", r->path, what, r->name);
    }
    if (p->compound || (p->pod != jna_abcInt32 && p->pod != jna_abcUint32) || p->extent != 1 ||
        !jnaAbc_Sample(&r->archive, p, 0, &bytes) || bytes.size % 4 != 0 || bytes.size / 4 > INT32_MAX) {
        return Damaged(r, what);
    }
    *count = (int)(bytes.size / 4);
    *values = malloc(bytes.size + 1);
    if (*values == NULL) {
        return jnFail(r->error, jn_outOfMemory, "%s: out of memory", r->path);
    }
    memcpy(*values, bytes.bytes != NULL ? bytes.bytes : (const unsigned char*)"", bytes.size);
    return jn_ok;
}

static void PlaceFrame(const jnaAffine* place, const unsigned char* bytes, int pointCount, float* out)
{
    for (size_t i = 0; i < (size_t)pointCount; ++i) {
        float point[3];
        memcpy(point, bytes + i * sizeof(point), sizeof(point));
        double p[3] = {(double)point[0], (double)point[1], (double)point[2]};
        jnaAffine_Apply(place, p, p);
        for (size_t k = 0; k < 3; ++k) {
            out[3 * i + k] = (float)p[k];
        }
    }
}

static jnResult ReadTimes(const Reading* r, const jnaAbcProperty* p, jnaCacheMesh* mesh)
{
    double* times = malloc((size_t)mesh->frameCount * sizeof(double));
    if (times == NULL) {
        return jnFail(r->error, jn_outOfMemory, "%s: out of memory", r->path);
    }
    for (int f = 0; f < mesh->frameCount; ++f) {
        times[f] = jnaAbcSampling_Time(&r->archive.samplings[p->sampling], (uint32_t)f);
    }
    jnaFindRate(times, mesh->frameCount, &mesh->start, &mesh->rate);
    free(times);
    return jn_ok;
}

static jnResult ReadPositions(const Reading* r, const jnaAbcProperty* p, jnaCacheMesh* mesh)
{
    jnaAbcBytes bytes;
    if (p->compound || p->scalar || p->pod != jna_abcFloat32 || p->extent != 3 || p->sampleCount == 0 ||
        !jnaAbc_Sample(&r->archive, p, 0, &bytes) || bytes.size % 12 != 0) {
        return Damaged(r, "the positions");
    }
    size_t frameSize = bytes.size;
    size_t total = jnaCacheBytes(p->sampleCount, frameSize / 12 + (size_t)r->cache->pointCount, r->archive.size);
    if (total == 0) {
        return jnFail(r->error, jn_badData, "%s: '%s' has %u frames of %zu points, more than can be", r->path, r->name,
            p->sampleCount, frameSize / 12);
    }
    mesh->pointCount = (int)(frameSize / 12);
    mesh->frameCount = (int)p->sampleCount;
    mesh->positions = malloc((size_t)mesh->frameCount * frameSize + 1);
    if (mesh->positions == NULL) {
        return jnFail(r->error, jn_outOfMemory, "%s: out of memory", r->path);
    }
    for (int f = 0; f < mesh->frameCount; ++f) {
        jnaAffine place;
        double seconds = jnaAbcSampling_Time(&r->archive.samplings[p->sampling], (uint32_t)f);
        if (!jnaAbc_Sample(&r->archive, p, (uint32_t)f, &bytes) || !EvaluatePlace(r, seconds, &place)) {
            return Damaged(r, "a frame");
        }
        if (bytes.size != frameSize) {
            return jnFail(r->error, jn_badData, "%s: '%s' has %zu points in frame %d and %d in the first", r->path,
                r->name, bytes.size / 12, f, mesh->pointCount);
        }
        PlaceFrame(&place, bytes.bytes, mesh->pointCount, mesh->positions + (size_t)f * (frameSize / 4));
    }
    return ReadTimes(r, p, mesh);
}

// Values of an attribute in the first frame, spread over the corners of the faces whatever the file gives them to:
// points, corners, or either through indices. NULL where there is none or it does not fit: then it is left out.
static float* ReadAttribute(const Reading* r, uint64_t geometry, const char* name, int width, const jnaCacheMesh* mesh)
{
    jnaAbcProperty p, indices = {0};
    jnaAbcBytes values, order = {0};
    if (!jnaAbc_Find(&r->archive, geometry, name, &p)) {
        return NULL;
    }
    uint64_t compound = p.word;
    if (p.compound && (!jnaAbc_Find(&r->archive, compound, ".vals", &p) ||
                          !jnaAbc_Find(&r->archive, compound, ".indices", &indices) ||
                          !jnaAbc_Sample(&r->archive, &indices, 0, &order) || indices.pod != jna_abcUint32)) {
        return NULL;
    }
    if (p.pod != jna_abcFloat32 || p.extent != width || !jnaAbc_Sample(&r->archive, &p, 0, &values)) {
        return NULL;
    }
    size_t size = (size_t)width * sizeof(float), count = values.size / size;
    size_t entries = order.size > 0 ? order.size / 4 : count;
    bool atCorners = entries == (size_t)mesh->cornerCount;
    if ((!atCorners && entries != (size_t)mesh->pointCount) || entries == 0) {
        return NULL;
    }
    float* out = malloc((size_t)mesh->cornerCount * size + 1);
    for (size_t c = 0; out != NULL && c < (size_t)mesh->cornerCount; ++c) {
        size_t at = atCorners ? c : (size_t)mesh->corners[c];
        uint32_t entry = (uint32_t)at;
        if (order.size > 0) {
            memcpy(&entry, order.bytes + 4 * at, sizeof(entry));
        }
        if (entry >= count) {
            free(out);
            return NULL;
        }
        memcpy(out + c * (size_t)width, values.bytes + entry * size, size);
    }
    return out;
}

static void ReadIds(const Reading* r, uint64_t geometry, jnaCacheMesh* mesh)
{
    jnaAbcProperty group, p;
    jnaAbcCursor cursor;
    jnaAbcBytes bytes;
    if (!jnaAbc_Find(&r->archive, geometry, ".arbGeomParams", &group) || !group.compound) {
        return;
    }
    jnaAbc_BeginProperties(&r->archive, group.word, &cursor);
    while (jnaAbc_NextProperty(&r->archive, &cursor, &p)) {
        char name[JNA_NAME_LENGTH];
        snprintf(name, sizeof(name), "%.*s", (int)fmin((double)p.name.length, JNA_NAME_LENGTH), p.name.text);
        if (jnaIsSourceId(name) && !p.compound && p.pod == jna_abcInt32 && p.extent == 1 &&
            jnaAbc_Sample(&r->archive, &p, 0, &bytes) && bytes.size == 4 * (size_t)mesh->pointCount) {
            free(mesh->ids);
            mesh->ids = malloc(bytes.size + 1);
            if (mesh->ids != NULL) {
                memcpy(mesh->ids, bytes.bytes, bytes.size);
            }
            return;
        }
    }
}

// Normals go by the inverse transpose of the mesh's place in the first frame.
static void PlaceNormals(const Reading* r, jnaCacheMesh* mesh)
{
    jnaAffine place, inverse;
    if (mesh->normals == NULL || !EvaluatePlace(r, mesh->start, &place) || !jnaAffine_Invert(&place, &inverse)) {
        return;
    }
    for (size_t c = 0; c < (size_t)mesh->cornerCount; ++c) {
        float* n = mesh->normals + 3 * c;
        double normal[3];
        for (int i = 0; i < 3; ++i) {
            normal[i] = inverse.m[i] * (double)n[0] + inverse.m[4 + i] * (double)n[1] + inverse.m[8 + i] * (double)n[2];
        }
        double length = jnaNormalize(normal);
        for (int i = 0; i < 3; ++i) {
            n[i] = length > 1e-12 && isfinite(length) ? (float)normal[i] : (float)(i == 1);
        }
    }
}

static jnResult ReadMesh(Reading* r, uint64_t object)
{
    jnResult result = jn_ok;
    jnaAbcProperty geometry, positions, corners, sizes;
    jnaCacheMesh mesh = {.name = r->name};
    uint64_t properties = jnaAbc_Properties(&r->archive, object);
    if (!jnaAbc_Find(&r->archive, properties, ".geom", &geometry) || !geometry.compound ||
        !jnaAbc_Find(&r->archive, geometry.word, "P", &positions) ||
        !jnaAbc_Find(&r->archive, geometry.word, ".faceIndices", &corners) ||
        !jnaAbc_Find(&r->archive, geometry.word, ".faceCounts", &sizes)) {
        return Damaged(r, "the geometry");
    }
    JN_TRY(ReadPositions(r, &positions, &mesh));
    JN_TRY(ReadIntegers(r, &corners, "the faces", &mesh.corners, &mesh.cornerCount));
    JN_TRY(ReadIntegers(r, &sizes, "the face sizes", &mesh.faceSizes, &mesh.faceCount));
    JN_TRY(jnaCheckCacheMesh(r->path, &mesh, r->error));
    mesh.normals = ReadAttribute(r, geometry.word, "N", 3, &mesh);
    mesh.uvs = ReadAttribute(r, geometry.word, "uv", 2, &mesh);
    ReadIds(r, geometry.word, &mesh);
    PlaceNormals(r, &mesh);
    jnaAffine place;
    if (!EvaluatePlace(r, mesh.start, &place) || jnaAffine_Determinant(&place) >= 0) {
        jnaReverseFaces(&mesh);
    }
    JN_TRY(jnaMeshCache_Add(r->path, r->archive.size, r->cache, &mesh, r->error));
done:
    jnaDestroyCacheMesh(&mesh);
    return result;
}

static bool IsMesh(jnaAbcText metadata)
{
    return jnaAbcText_Says(metadata, "schema", "AbcGeom_PolyMesh_v1") ||
           jnaAbcText_Says(metadata, "schema", "AbcGeom_SubD_v1");
}

static jnResult Walk(Reading* r, uint64_t object)
{
    jnResult result = jn_ok;
    jnaAbcCursor cursor;
    jnaAbcObject child;
    size_t length = strlen(r->name);
    if (r->depth == MAX_DEPTH) {
        return jnFail(r->error, jn_badData, "%s: objects are nested more than %d deep", r->path, MAX_DEPTH);
    }
    jnaAbc_BeginChildren(&r->archive, object, &cursor);
    while (jnaAbc_NextChild(&r->archive, &cursor, &child)) {
        if (++r->objectCount > MAX_OBJECTS) {
            return jnFail(r->error, jn_badData, "%s: has more than %d objects", r->path, MAX_OBJECTS);
        }
        snprintf(r->name + length, sizeof(r->name) - length, "/%.*s", (int)fmin((double)child.name.length, NAME_SIZE),
            child.name.text);
        bool isMesh = IsMesh(child.metadata);
        if (isMesh) {
            size_t used = strlen(r->found);
            snprintf(r->found + used, sizeof(r->found) - used, "%s%s", used > 0 ? ", " : "", r->name);
        }
        if (isMesh && jnaIsAskedFor(r->name, r->asked)) {
            JN_TRY(ReadMesh(r, child.word));
        }
        JN_TRY(ReadTransform(r, child.word, &r->transforms[r->depth]));
        r->depth++;
        JN_TRY(Walk(r, child.word));
        r->depth--;
    }
    r->name[length] = '\0';
    result = cursor.damaged ? Damaged(r, "the children") : jn_ok;
done:
    return result;
}

jnResult jnaReadAlembic(const char* path, const char* mesh, jnaMeshCache* cache, jnError* error)
{
    jnResult result = jn_ok;
    jnaMappedFile file = {0};
    Reading* r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    r->path = path;
    r->asked = mesh;
    r->cache = cache;
    r->error = error;
    JN_TRY(jnaMapFile(path, &file, error));
    JN_TRY(jnaOpenAbc(path, file.bytes, file.size, &r->archive, error));
    JN_TRY(Walk(r, r->archive.top));
    if (cache->meshCount == 0) {
        result = r->found[0] != '\0'
                     ? jnFail(error, jn_badData, "%s: has no mesh '%s'; it has %s", path, mesh, r->found)
                     : jnFail(error, jn_badData, "%s: holds no polygon mesh", path);
    }
done:
    free(r);
    jnaUnmapFile(&file);
    return result;
}
