// Caches of plain arrays, and the choice of the reader by the file's ending.
//
//   PC2: "POINTCACHE2\0", version, points, start, step, samples, then samples x points x 3 floats, little-endian
//   MDD: frames, points, frames times in seconds, then frames x points x 3 floats, big-endian
//   npy: (frames, vertices, 3), float32 or float64; npz: the same with a name
//   obj: one frame; only lines `v` and `f` matter
//
// The size of a binary file must be exactly what its counts say, before anything is allocated for them.
#include "base/mapped_file.h"
#include "base/npy.h"
#include "base/try.h"
#include "character/mesh_cache_internal.h"
#include "character/scene.h"

#include "runtime/for_author.h"

#include <stdlib.h>

typedef struct Layout {
    uint64_t frames, points;
    size_t header; // bytes in front of the positions
    bool bigEndian;
} Layout;

static uint32_t Load32(const unsigned char* b, bool bigEndian)
{
    return bigEndian ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                     : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static float LoadFloat(const unsigned char* b, bool bigEndian)
{
    uint32_t bits = Load32(b, bigEndian);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static jnResult CheckSize(const char* path, size_t size, const Layout* layout, jnError* error)
{
    // Counts are 32 bits and a frame takes at most 12 x 2^32 + 4 bytes, so that nothing here overflows 128 bits.
    __extension__ unsigned __int128 needed = (unsigned __int128)layout->frames * layout->points * 12 + layout->header;
    if (layout->frames == 0 || layout->points == 0) {
        return jnFail(error, jn_badData, "%s: has no frames or no vertices", path);
    }
    if (needed != size) {
        return jnFail(error, jn_badData,
            "%s: is cut off or damaged: %llu bytes do not make %llu frames of %llu vertices", path,
            (unsigned long long)size, (unsigned long long)layout->frames, (unsigned long long)layout->points);
    }
    if (layout->frames > INT32_MAX / 16 || layout->points > INT32_MAX / 16) {
        return jnFail(error, jn_badData, "%s: has %llu frames of %llu vertices, more than can be taken", path,
            (unsigned long long)layout->frames, (unsigned long long)layout->points);
    }
    return jn_ok;
}

static jnResult ReadPc2Header(const char* path, const jnaMappedFile* file, Layout* layout, jnError* error)
{
    const unsigned char* b = file->bytes;
    *layout = (Layout){.header = 32};
    if (file->size < layout->header || memcmp(b, "POINTCACHE2", 12) != 0) {
        return jnFail(error, jn_badData, "%s: is not a PC2 file", path);
    }
    if (Load32(b + 12, false) != 1) {
        return jnFail(error, jn_badData, "%s: PC2 version %u is not known", path, Load32(b + 12, false));
    }
    layout->points = Load32(b + 16, false);
    layout->frames = Load32(b + 28, false);
    return CheckSize(path, file->size, layout, error);
}

static jnResult ReadMddHeader(const char* path, const jnaMappedFile* file, Layout* layout, jnError* error)
{
    const unsigned char* b = file->bytes;
    *layout = (Layout){.bigEndian = true};
    if (file->size < 8) {
        return jnFail(error, jn_badData, "%s: is not an MDD file", path);
    }
    layout->frames = Load32(b, true);
    layout->points = Load32(b + 4, true);
    layout->header = 8 + 4 * (size_t)layout->frames;
    return CheckSize(path, file->size, layout, error);
}

static jnResult FindMddRate(const char* path, const jnaMappedFile* file, jnaCacheMesh* mesh, jnError* error)
{
    double* times = malloc((size_t)mesh->frameCount * sizeof(double));
    if (times == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (int f = 0; f < mesh->frameCount; ++f) {
        times[f] = (double)LoadFloat(file->bytes + 8 + 4 * (size_t)f, true);
    }
    jnaFindRate(times, mesh->frameCount, &mesh->start, &mesh->rate);
    free(times);
    return jn_ok;
}

static jnResult ReadBinary(const char* path, jnaMeshCache* cache, jnError* error)
{
    jnResult result = jn_ok;
    bool mdd = jnaHasEnding(path, ".mdd");
    jnaMappedFile file = {0};
    Layout layout = {0};
    jnaCacheMesh mesh = {.name = ""};
    JN_TRY(jnaMapFile(path, &file, error));
    JN_TRY(mdd ? ReadMddHeader(path, &file, &layout, error) : ReadPc2Header(path, &file, &layout, error));
    mesh.frameCount = (int)layout.frames;
    mesh.pointCount = (int)layout.points;
    size_t count = (size_t)layout.frames * (size_t)layout.points * 3;
    mesh.positions = malloc(count * sizeof(float));
    if (mesh.positions == NULL) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        goto done;
    }
    for (size_t i = 0; i < count; ++i) {
        mesh.positions[i] = LoadFloat(file.bytes + layout.header + 4 * i, layout.bigEndian);
    }
    if (mdd) {
        JN_TRY(FindMddRate(path, &file, &mesh, error));
    }
    JN_TRY(jnaCheckCacheMesh(path, &mesh, error));
    JN_TRY(jnaMeshCache_Add(path, file.size, cache, &mesh, error));
done:
    jnaDestroyCacheMesh(&mesh);
    jnaUnmapFile(&file);
    return result;
}

static jnResult TakeArray(const char* path, const jnaArray* array, jnaMeshCache* cache, jnError* error)
{
    if (array->dimensions != 3 || array->shape[2] != 3 || array->shape[0] == 0 || array->shape[1] == 0 ||
        array->shape[0] > INT32_MAX / 16 || array->shape[1] > INT32_MAX / 16 ||
        (array->scalar != jna_float32 && array->scalar != jna_float64)) {
        char shape[96];
        jnaArray_Describe(array, shape, sizeof(shape));
        return jnFail(error, jn_badData, "%s: is %s; motion is float32 (frames, vertices, 3)", path, shape);
    }
    jnResult result = jn_ok;
    jnaCacheMesh mesh = {.name = "", .frameCount = (int)array->shape[0], .pointCount = (int)array->shape[1]};
    mesh.positions = malloc(array->count * sizeof(float) + 1);
    if (mesh.positions == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (size_t i = 0; i < array->count; ++i) {
        mesh.positions[i] = (float)jnaArray_Get(array, i);
    }
    JN_TRY(jnaCheckCacheMesh(path, &mesh, error));
    JN_TRY(jnaMeshCache_Add(path, array->count * jnaScalarSize(array->scalar), cache, &mesh, error));
done:
    jnaDestroyCacheMesh(&mesh);
    return result;
}

static jnResult ReadArray(const char* path, const char* member, jnaMeshCache* cache, jnError* error)
{
    jnaArray array;
    jnResult result =
        jnaHasEnding(path, ".npz") ? jnaOpenArrayIn(path, member, &array, error) : jnaOpenArray(path, &array, error);
    if (result == jn_ok) {
        result = TakeArray(path, &array, cache, error);
        snprintf(cache->name, sizeof(cache->name), "%.*s", JNA_NAME_LENGTH - 1, member);
        jnaCloseArray(&array);
    }
    return result;
}

jnResult jnaReadMeshCache(const char* path, jnaMeshCache* cache, jnError* error)
{
    char file[4096], member[4096];
    *cache = (jnaMeshCache){.upAxis = JNA_UP_UNKNOWN};
    jnaSplitMember(path, file, member, sizeof(file));
    jnResult result = jn_ok;
    if (jnaHasEnding(file, ".abc")) {
        result = jnaReadAlembic(file, member, cache, error);
    } else if (jnaHasEnding(file, ".usda")) {
        result = jnaReadUsda(file, member, cache, error);
    } else if (jnaHasEnding(file, ".npy") || jnaHasEnding(file, ".npz")) {
        result = ReadArray(file, member, cache, error);
    } else if (jnaHasEnding(file, ".pc2") || jnaHasEnding(file, ".mdd")) {
        result = ReadBinary(file, cache, error);
    } else if (jnaHasEnding(file, ".obj")) {
        result = jnaReadObjPoints(file, cache, error);
    } else {
        result = jnFail(error, jn_badData, "%s: is not a .abc, .usda, .pc2, .mdd, .npy, .npz or .obj file%s", path,
            jnaHasEnding(file, ".usd") || jnaHasEnding(file, ".usdc") ? "; usdcat makes .usda of it" : "");
    }
    if (result != jn_ok) {
        jnaDestroyMeshCache(cache);
    }
    return result;
}
