// A moving mesh as Alembic: the Ogawa container with one Xform and one PolyMesh below it.
//
// Frames are written as they come; the groups, which need the positions of everything in them, follow when the last
// frame is there, children before parents, and at the very end the file's first bytes are made those of a finished
// archive. Faces are wound clockwise, as Alembic has them. The key of a sample is a hash of its bytes.
#include "character/mesh_cache.h"

#include "base/arena.h"
#include "base/hash.h"
#include "character/ogawa.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DATA_BIT 0x8000000000000000u
enum { LIBRARY_VERSION = 10800, CONSTANT = 0x800, EVEN = 0x400, HAS_SAMPLING = 0x100, SIZE_OF_FOUR = 2 << 2 };
enum { SCALAR = 1, ARRAY = 2, UINT8 = 1, BOOL = 0 };

// Metadata by index, as the file's table has it; 0 is none.
enum {
    META_NONE,
    META_XFORM,
    META_MESH,
    META_MESH_SCHEMA,
    META_XFORM_SCHEMA,
    META_BOX,
    META_POINT,
    META_NORMAL,
    META_NORMAL_CORNER,
    META_UV,
    META_COUNT
};
static const char* const metadataTable[META_COUNT] = {
    [META_NONE] = "",
    [META_XFORM] = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform",
    [META_MESH] = ("schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;"
                   "schemaObjTitle=AbcGeom_PolyMesh_v1:.geom"),
    [META_MESH_SCHEMA] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1",
    [META_XFORM_SCHEMA] = "schema=AbcGeom_Xform_v3",
    [META_BOX] = "interpretation=box",
    [META_POINT] = "geoScope=vtx;interpretation=point",
    [META_NORMAL] = "arrayExtent=1;geoScope=vtx;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t",
    [META_NORMAL_CORNER] =
        "arrayExtent=1;geoScope=fvr;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t",
    [META_UV] = "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t",
};

// Words of the samples of one property, and where they are.
typedef struct Samples {
    uint64_t* words; // data, and for arrays an empty dimension behind each
    size_t count;
} Samples;

typedef struct State {
    uint64_t at; // bytes written so far
    Samples positions, normals, bounds;
    float* reversed; // scratch for normals at corners
} State;

static void Put(jnaMeshCacheFile* f, const void* bytes, size_t size)
{
    State* s = f->state;
    fwrite(bytes, 1, size, f->file.stream);
    s->at += size;
}

static void PutWord(jnaMeshCacheFile* f, uint64_t word)
{
    Put(f, &word, sizeof(word));
}

static uint64_t PutData(jnaMeshCacheFile* f, const void* bytes, size_t size)
{
    State* s = f->state;
    if (size == 0) {
        return DATA_BIT;
    }
    uint64_t at = s->at;
    PutWord(f, size);
    Put(f, bytes, size);
    return at | DATA_BIT;
}

// A sample: its key, then its bytes.
static uint64_t PutSample(jnaMeshCacheFile* f, const void* bytes, size_t size)
{
    State* s = f->state;
    uint64_t at = s->at, key[2];
    key[0] = jnaHash(bytes, size, 0);
    key[1] = jnaHash(bytes, size, key[0] | 1);
    PutWord(f, size + sizeof(key));
    Put(f, key, sizeof(key));
    Put(f, bytes, size);
    return at | DATA_BIT;
}

static uint64_t PutGroup(jnaMeshCacheFile* f, const uint64_t* words, size_t count)
{
    State* s = f->state;
    uint64_t at = s->at;
    PutWord(f, count);
    Put(f, words, count * sizeof(*words));
    return count > 0 ? at : 0;
}

// Headers of a compound's properties while they are put together.
typedef struct Headers {
    unsigned char bytes[1024];
    size_t size;
    uint64_t words[16]; // groups of the properties
    size_t count;
} Headers;

static void Append(Headers* h, const void* bytes, size_t size)
{
    JN_ASSERT(h->size + size <= sizeof(h->bytes));
    memcpy(h->bytes + h->size, bytes, size);
    h->size += size;
}

static void AppendNumber(Headers* h, uint32_t number)
{
    Append(h, &number, sizeof(number));
}

static void AddCompound(Headers* h, const char* name, uint32_t metadata, uint64_t word)
{
    AppendNumber(h, SIZE_OF_FOUR | metadata << 20);
    AppendNumber(h, (uint32_t)strlen(name));
    Append(h, name, strlen(name));
    h->words[h->count++] = word;
}

typedef struct Property {
    const char* name;
    uint32_t kind, pod, extent, metadata;
    uint32_t sampleCount;
    bool constant;
} Property;

static void AddProperty(Headers* h, const Property* p, uint64_t word)
{
    uint32_t info = p->kind | SIZE_OF_FOUR | p->pod << 4 | HAS_SAMPLING | EVEN | p->extent << 12 | p->metadata << 20;
    AppendNumber(h, info | (p->constant ? CONSTANT : 0));
    AppendNumber(h, p->sampleCount);
    AppendNumber(h, 1); // the second sampling
    AppendNumber(h, (uint32_t)strlen(p->name));
    Append(h, p->name, strlen(p->name));
    h->words[h->count++] = word;
}

// Writes a compound: the groups of its properties, then their headers.
static uint64_t PutCompound(jnaMeshCacheFile* f, Headers* h)
{
    h->words[h->count] = PutData(f, h->bytes, h->size);
    return PutGroup(f, h->words, h->count + 1);
}

static uint64_t PutSamples(jnaMeshCacheFile* f, const Samples* samples)
{
    return PutGroup(f, samples->words, samples->count);
}

// A property of one sample that never changes.
static uint64_t PutConstant(jnaMeshCacheFile* f, bool array, const void* bytes, size_t size)
{
    uint64_t words[2] = {PutSample(f, bytes, size), DATA_BIT};
    return PutGroup(f, words, array ? 2 : 1);
}

static jnResult OutOfMemory(const jnaMeshCacheFile* f, jnError* error)
{
    return jnFail(error, jn_outOfMemory, "%s: out of memory", f->file.path);
}

jnResult jnaCreateAlembic(const char* path, const jnaMeshCacheDef* def, jnaMeshCacheFile* f, jnError* error)
{
    *f = (jnaMeshCacheFile){.def = *def};
    jnResult result = jnaCreateFile(path, &f->file, error);
    if (result != jn_ok) {
        return result;
    }
    State* s = f->state = calloc(1, sizeof(State));
    size_t frames = (size_t)def->frameCount, corners = 3 * (size_t)def->triangleCount;
    jnaArena arena = {.failed = s == NULL};
    if (s != NULL) {
        s->positions.words = jnaArena_Give(&arena, (int64_t)frames, 2 * sizeof(uint64_t));
        s->normals.words = jnaArena_Give(&arena, (int64_t)frames, 2 * sizeof(uint64_t));
        s->bounds.words = jnaArena_Give(&arena, (int64_t)frames, sizeof(uint64_t));
        s->reversed = jnaArena_Give(&arena, def->normalsAtCorners ? (int64_t)corners : 0, 3 * sizeof(float));
    }
    if (arena.failed) {
        result = OutOfMemory(f, error);
        jnaAlembic_Abandon(f);
        return result;
    }
    static const unsigned char head[16] = {'O', 'g', 'a', 'w', 'a', 0, 0, 1};
    Put(f, head, sizeof(head));
    return jn_ok;
}

static void FindBounds(const float* positions, int count, double* bounds)
{
    for (int k = 0; k < 3; ++k) {
        bounds[k] = bounds[3 + k] = (double)positions[k];
        for (size_t i = 1; i < (size_t)count; ++i) {
            double value = (double)positions[3 * i + (size_t)k];
            bounds[k] = fmin(bounds[k], value);
            bounds[3 + k] = fmax(bounds[3 + k], value);
        }
    }
}

// The other winding: each triangle's second and third corner change places. width: numbers a corner.
static void Reverse(const float* corners, int triangleCount, size_t width, float* out)
{
    static const size_t order[3] = {0, 2, 1};
    for (size_t t = 0; t < (size_t)triangleCount; ++t) {
        for (size_t k = 0; k < 3; ++k) {
            memcpy(out + (3 * t + k) * width, corners + (3 * t + order[k]) * width, width * sizeof(float));
        }
    }
}

jnResult jnaAlembic_AddFrame(jnaMeshCacheFile* f, const float* positions, const float* normals, jnError* error)
{
    State* s = f->state;
    const jnaMeshCacheDef* def = &f->def;
    double bounds[6];
    if (f->framesAdded == def->frameCount) {
        return jnFail(error, jn_badArgument, "%s: was to have %d frames", f->file.path, def->frameCount);
    }
    FindBounds(positions, def->pointCount, bounds);
    s->bounds.words[s->bounds.count++] = PutSample(f, bounds, sizeof(bounds));
    s->positions.words[s->positions.count++] = PutSample(f, positions, 12 * (size_t)def->pointCount);
    s->positions.words[s->positions.count++] = DATA_BIT;
    if (def->withNormals) {
        size_t size = 12 * (size_t)def->pointCount;
        if (def->normalsAtCorners) {
            Reverse(normals, def->triangleCount, 3, s->reversed);
            normals = s->reversed;
            size = 36 * (size_t)def->triangleCount;
        }
        s->normals.words[s->normals.count++] = PutSample(f, normals, size);
        s->normals.words[s->normals.count++] = DATA_BIT;
    }
    f->framesAdded++;
    return jn_ok;
}

// Faces, clockwise, and their sizes; false where memory is short.
static bool AddFaces(jnaMeshCacheFile* f, Headers* h)
{
    size_t triangles = (size_t)f->def.triangleCount;
    uint32_t frames = (uint32_t)f->def.frameCount;
    int32_t* corners = malloc(3 * triangles * sizeof(int32_t) + 1);
    int32_t* sizes = malloc(triangles * sizeof(int32_t) + 1);
    bool good = corners != NULL && sizes != NULL;
    for (size_t t = 0; good && t < triangles; ++t) {
        const int32_t* in = f->def.triangles + 3 * t;
        memcpy(corners + 3 * t, (const int32_t[3]){in[0], in[2], in[1]}, 3 * sizeof(int32_t));
        sizes[t] = 3;
    }
    if (good) {
        AddProperty(h, &(Property){".faceIndices", ARRAY, jna_abcInt32, 1, META_NONE, frames, true},
            PutConstant(f, true, corners, 12 * triangles));
        AddProperty(h, &(Property){".faceCounts", ARRAY, jna_abcInt32, 1, META_NONE, frames, true},
            PutConstant(f, true, sizes, 4 * triangles));
    }
    free(corners);
    free(sizes);
    return good;
}

static bool AddUvs(jnaMeshCacheFile* f, Headers* h)
{
    size_t count = 6 * (size_t)f->def.triangleCount;
    float* uvs = malloc(count * sizeof(float) + 1);
    if (uvs != NULL) {
        Reverse(f->def.uvs, f->def.triangleCount, 2, uvs);
        AddProperty(h, &(Property){"uv", ARRAY, jna_abcFloat32, 2, META_UV, (uint32_t)f->def.frameCount, true},
            PutConstant(f, true, uvs, count * sizeof(float)));
    }
    free(uvs);
    return uvs != NULL;
}

// The .geom of the mesh, inside the compound of its properties. 0 where memory is short.
static uint64_t PutMeshProperties(jnaMeshCacheFile* f)
{
    State* s = f->state;
    uint32_t frames = (uint32_t)f->def.frameCount;
    bool still = frames == 1;
    Headers geometry = {0}, all = {0};
    AddProperty(&geometry, &(Property){".selfBnds", SCALAR, jna_abcFloat64, 6, META_BOX, frames, still},
        PutSamples(f, &s->bounds));
    AddProperty(
        &geometry, &(Property){"P", ARRAY, jna_abcFloat32, 3, META_POINT, frames, still}, PutSamples(f, &s->positions));
    if (!AddFaces(f, &geometry)) {
        return 0;
    }
    if (f->def.withNormals) {
        uint32_t metadata = f->def.normalsAtCorners ? META_NORMAL_CORNER : META_NORMAL;
        AddProperty(
            &geometry, &(Property){"N", ARRAY, jna_abcFloat32, 3, metadata, frames, still}, PutSamples(f, &s->normals));
    }
    if (f->def.uvs != NULL && !AddUvs(f, &geometry)) {
        return 0;
    }
    AddCompound(&all, ".geom", META_MESH_SCHEMA, PutCompound(f, &geometry));
    return PutCompound(f, &all);
}

// An Xform that leaves everything where it is.
static uint64_t PutXformProperties(jnaMeshCacheFile* f)
{
    static const unsigned char yes = 1;
    Headers xform = {0}, all = {0};
    AddProperty(&xform, &(Property){".inherits", SCALAR, BOOL, 1, META_NONE, 1, true}, PutConstant(f, false, &yes, 1));
    AddCompound(&all, ".xform", META_XFORM_SCHEMA, PutCompound(f, &xform));
    return PutCompound(f, &all);
}

// An object: properties, at most one child, and the child's header with room for two hashes behind it.
static uint64_t PutObject(jnaMeshCacheFile* f, uint64_t properties, const char* child, uint32_t metadata, uint64_t word)
{
    Headers h = {0};
    static const unsigned char hashes[32];
    uint64_t words[3] = {properties, word, 0};
    size_t count = 1;
    if (child != NULL) {
        unsigned char index = (unsigned char)metadata;
        AppendNumber(&h, (uint32_t)strlen(child));
        Append(&h, child, strlen(child));
        Append(&h, &index, 1);
        count++;
    }
    Append(&h, hashes, sizeof(hashes));
    words[count] = PutData(f, h.bytes, h.size);
    return PutGroup(f, words, count + 1);
}

static uint64_t PutSamplings(jnaMeshCacheFile* f)
{
    // Two of them: the default of one a second, and ours. Largest number of samples, period, one time a cycle, which is
    // 0.
    Headers h = {0};
    const double periods[2] = {1.0, 1.0 / f->def.rate}, start = 0;
    for (int i = 0; i < 2; ++i) {
        AppendNumber(&h, i == 0 ? 0 : (uint32_t)f->def.frameCount);
        Append(&h, &periods[i], sizeof(double));
        AppendNumber(&h, 1);
        Append(&h, &start, sizeof(double));
    }
    return PutData(f, h.bytes, h.size);
}

static uint64_t PutMetadata(jnaMeshCacheFile* f)
{
    Headers h = {0};
    for (int i = 1; i < META_COUNT; ++i) {
        unsigned char length = (unsigned char)strlen(metadataTable[i]);
        Append(&h, &length, 1);
        Append(&h, metadataTable[i], length);
    }
    return PutData(f, h.bytes, h.size);
}

// A name that may be part of a path.
static void CleanName(const char* name, char* clean, size_t size)
{
    snprintf(clean, size, "%s", name != NULL && name[0] != '\0' ? name : "mesh");
    for (char* c = clean; *c != '\0'; ++c) {
        *c = *c == '/' || *c == ':' ? '_' : *c;
    }
}

static bool PutTree(jnaMeshCacheFile* f)
{
    char name[JNA_NAME_LENGTH], shape[JNA_NAME_LENGTH + 8];
    static const char archive[] = "_ai_Application=jounce";
    const int32_t version = 0, library = LIBRARY_VERSION;
    CleanName(f->def.name, name, sizeof(name));
    snprintf(shape, sizeof(shape), "%sShape", name);
    uint64_t words[6], mesh = PutMeshProperties(f);
    if (mesh == 0) {
        return false;
    }
    mesh = PutObject(f, mesh, NULL, 0, 0);
    uint64_t xform = PutObject(f, PutXformProperties(f), shape, META_MESH, mesh);
    words[0] = PutData(f, &version, sizeof(version));
    words[1] = PutData(f, &library, sizeof(library));
    words[2] = PutObject(f, 0, name, META_XFORM, xform);
    words[3] = PutData(f, archive, strlen(archive));
    words[4] = PutSamplings(f);
    words[5] = PutMetadata(f);
    uint64_t root = PutGroup(f, words, 6);
    FILE* stream = f->file.stream;
    if (fseek(stream, 8, SEEK_SET) == 0) {
        fwrite(&root, sizeof(root), 1, stream);
    }
    if (fseek(stream, 5, SEEK_SET) == 0) {
        fputc(0xff, stream);
    }
    return true;
}

jnResult jnaAlembic_Commit(jnaMeshCacheFile* f, jnError* error)
{
    jnResult result = jn_ok;
    if (f->framesAdded != f->def.frameCount) {
        result =
            jnFail(error, jn_badArgument, "%s: has %d frames of %d", f->file.path, f->framesAdded, f->def.frameCount);
    } else if (!PutTree(f)) {
        result = OutOfMemory(f, error);
    } else {
        result = jnaFile_Commit(&f->file, error);
    }
    jnaAlembic_Abandon(f);
    return result;
}

void jnaAlembic_Abandon(jnaMeshCacheFile* f)
{
    State* s = f->state;
    jnaFile_Abandon(&f->file);
    if (s != NULL) {
        free(s->positions.words);
        free(s->normals.words);
        free(s->bounds.words);
        free(s->reversed);
    }
    free(s);
    *f = (jnaMeshCacheFile){0};
}
