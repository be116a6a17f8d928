// Vertex caches as ground-truth motion: PC2 (little-endian), MDD (big-endian) and NumPy arrays.
//
//   PC2: "POINTCACHE2\0", version, points, start, step, samples, then samples x points x 3 floats
//   MDD: frames, points, frames times in seconds, then frames x points x 3 floats
//   npy: (frames, vertices, 3), float32 or float64
//
// The size of the file must be exactly what its counts say, before anything is allocated for them.
#include "base/arena.h"
#include "base/npy.h"
#include "base/try.h"
#include "character/import.h"
#include "character/scene.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Cache {
    const char* path;
    FILE* file;
    uint64_t size;
    uint64_t frames, points;
    bool bigEndian;
    double rate;
    jnError* error;
} Cache;

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

static jnResult OpenCache(const char* path, Cache* cache, jnError* error)
{
    *cache = (Cache){.path = path, .file = fopen(path, "rb"), .error = error};
    long size = cache->file != NULL && fseek(cache->file, 0, SEEK_END) == 0 ? ftell(cache->file) : -1;
    if (size < 0 || fseek(cache->file, 0, SEEK_SET) != 0) {
        jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
        if (cache->file != NULL) {
            fclose(cache->file);
        }
        return jn_ioFailed;
    }
    cache->size = (uint64_t)size;
    return jn_ok;
}

static jnResult CheckSize(const Cache* cache, uint64_t header, uint64_t perFrame)
{
    // Counts are 32 bits and a frame takes at most 12 x 2^32 + 4 bytes, so that nothing here overflows 128
    // bits.
    __extension__ unsigned __int128 needed = (unsigned __int128)cache->frames * perFrame + header;
    if (cache->frames == 0 || cache->points == 0) {
        return jnFail(cache->error, jn_badData, "%s: has no frames or no vertices", cache->path);
    }
    if (needed != cache->size) {
        return jnFail(cache->error, jn_badData,
            "%s: is cut off or damaged: %llu bytes do not make %llu frames of %llu vertices", cache->path,
            (unsigned long long)cache->size, (unsigned long long)cache->frames, (unsigned long long)cache->points);
    }
    return jn_ok;
}

static jnResult ReadPc2Header(Cache* cache)
{
    unsigned char header[32];
    if (fread(header, 1, sizeof(header), cache->file) != sizeof(header) || memcmp(header, "POINTCACHE2", 12) != 0) {
        return jnFail(cache->error, jn_badData, "%s: is not a PC2 file", cache->path);
    }
    if (Load32(header + 12, false) != 1) {
        return jnFail(
            cache->error, jn_badData, "%s: PC2 version %u is not known", cache->path, Load32(header + 12, false));
    }
    cache->points = Load32(header + 16, false);
    cache->frames = Load32(header + 28, false);
    return CheckSize(cache, sizeof(header), 12 * cache->points);
}

static jnResult ReadMddHeader(Cache* cache)
{
    unsigned char header[8], time[4];
    if (fread(header, 1, sizeof(header), cache->file) != sizeof(header)) {
        return jnFail(cache->error, jn_badData, "%s: is not an MDD file", cache->path);
    }
    cache->bigEndian = true;
    cache->frames = Load32(header, true);
    cache->points = Load32(header + 4, true);
    jnResult result = CheckSize(cache, sizeof(header), 12 * cache->points + 4);
    double first = 0, last = 0;
    for (uint64_t f = 0; result == jn_ok && f < cache->frames; ++f) {
        if (fread(time, 1, 4, cache->file) != 4) {
            return jnFail(cache->error, jn_ioFailed, "%s: cannot read: %s", cache->path, strerror(errno));
        }
        last = (double)LoadFloat(time, true);
        first = f == 0 ? last : first;
    }
    if (result == jn_ok && isfinite(last - first) && last > first) {
        cache->rate = (double)(cache->frames - 1) / (last - first);
    }
    return result;
}

static jnResult AllocateMotion(const char* path, const jnaCharacter* character, uint64_t frames, uint64_t points,
    jnaMotion* motion, jnError* error)
{
    if (points != (uint64_t)character->fileVertexCount && points != (uint64_t)character->vertexCount) {
        return jnFail(error, jn_badData, "%s: has %llu vertices; the character has %d in the file's order, %d welded",
            path, (unsigned long long)points, character->fileVertexCount, character->vertexCount);
    }
    if (frames > INT32_MAX / 16) {
        return jnFail(
            error, jn_badData, "%s: has %llu frames, more than can be taken", path, (unsigned long long)frames);
    }
    *motion = (jnaMotion){.frameCount = (int)frames, .vertexCount = character->vertexCount};
    motion->positions = malloc((size_t)frames * (size_t)character->vertexCount * 3 * sizeof(float) + 1);
    return motion->positions != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
}

/// One frame of file vertices to vertices: the mean of those that stand on one point.
typedef struct Welder {
    const jnaCharacter* character;
    int* counts;  // [vertexCount], file vertices on a vertex
    double* sums; // [vertexCount][3]
} Welder;

static bool CreateWelder(const jnaCharacter* character, Welder* welder)
{
    *welder = (Welder){character, calloc((size_t)character->vertexCount + 1, sizeof(int)),
        malloc(((size_t)character->vertexCount + 1) * 3 * sizeof(double))};
    if (welder->counts == NULL || welder->sums == NULL) {
        return false;
    }
    for (int v = 0; v < character->fileVertexCount; ++v) {
        welder->counts[character->weld[v]]++;
    }
    return true;
}

static void DestroyWelder(Welder* welder)
{
    free(welder->counts);
    free(welder->sums);
}

// frame: [points][3]. Welded input is only scaled.
static void StoreFrame(const Welder* welder, uint64_t points, const float* frame, double scale, float* out)
{
    const jnaCharacter* c = welder->character;
    size_t count = 3 * (size_t)c->vertexCount;
    if (points == (uint64_t)c->vertexCount) {
        for (size_t i = 0; i < count; ++i) {
            out[i] = (float)(scale * (double)frame[i]);
        }
        return;
    }
    memset(welder->sums, 0, count * sizeof(double));
    for (size_t v = 0; v < (size_t)c->fileVertexCount; ++v) {
        for (size_t i = 0; i < 3; ++i) {
            welder->sums[3 * (size_t)c->weld[v] + i] += (double)frame[3 * v + i];
        }
    }
    for (size_t i = 0; i < count; ++i) {
        out[i] = (float)(scale * welder->sums[i] / welder->counts[i / 3]);
    }
}

static jnResult CheckFrame(const char* path, uint64_t index, const float* frame, uint64_t points, jnError* error)
{
    for (uint64_t i = 0; i < 3 * points; ++i) {
        if (!isfinite(frame[i])) {
            return jnFail(error, jn_badData, "%s: frame %llu: the position of vertex %llu is not a finite number", path,
                (unsigned long long)index, (unsigned long long)(i / 3));
        }
    }
    return jn_ok;
}

static jnResult ReadFrames(Cache* cache, const Welder* welder, double scale, jnaMotion* motion)
{
    size_t values = 3 * (size_t)cache->points;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    unsigned char* bytes = jnaArena_Take(&arena, (int64_t)values, 4);
    float* frame = jnaArena_Take(&arena, (int64_t)values, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, cache->path, cache->error));
    for (uint64_t f = 0; f < cache->frames; ++f) {
        if (fread(bytes, 4, values, cache->file) != values) {
            JN_TRY(jnFail(cache->error, jn_ioFailed, "%s: cannot read frame %llu", cache->path, (unsigned long long)f));
        }
        for (size_t i = 0; i < values; ++i) {
            frame[i] = LoadFloat(bytes + 4 * i, cache->bigEndian);
        }
        JN_TRY(CheckFrame(cache->path, f, frame, cache->points, cache->error));
        StoreFrame(
            welder, cache->points, frame, scale, motion->positions + (size_t)f * 3 * (size_t)motion->vertexCount);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

static jnResult ReadCache(const char* path, const jnaCharacter* character, const Welder* welder, double scale,
    jnaMotion* motion, jnError* error)
{
    Cache cache;
    jnResult result = OpenCache(path, &cache, error);
    if (result != jn_ok) {
        return result;
    }
    JN_TRY(jnaHasEnding(path, ".pc2") ? ReadPc2Header(&cache) : ReadMddHeader(&cache));
    JN_TRY(AllocateMotion(path, character, cache.frames, cache.points, motion, error));
    motion->rate = cache.rate;
    JN_TRY(ReadFrames(&cache, welder, scale, motion));
done:
    fclose(cache.file);
    return result;
}

static jnResult ReadArray(const char* path, const jnaCharacter* character, const Welder* welder, double scale,
    jnaMotion* motion, jnError* error)
{
    jnaArray array;
    jnResult result = jnaOpenArray(path, &array, error);
    if (result != jn_ok) {
        return result;
    }
    float* frame = NULL;
    size_t values = array.dimensions == 3 ? 3 * array.shape[1] : 0;
    if (array.dimensions != 3 || array.shape[2] != 3 || array.shape[0] == 0 ||
        (array.scalar != jna_float32 && array.scalar != jna_float64)) {
        char shape[96];
        jnaArray_Describe(&array, shape, sizeof(shape));
        result = jnFail(error, jn_badData, "%s: is %s; motion is float32 (frames, vertices, 3)", path, shape);
    }
    result = result == jn_ok ? AllocateMotion(path, character, array.shape[0], array.shape[1], motion, error) : result;
    if (result == jn_ok) {
        frame = malloc(values * sizeof(float) + 1);
        result = frame != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (size_t f = 0; result == jn_ok && f < array.shape[0]; ++f) {
        for (size_t i = 0; i < values; ++i) {
            frame[i] = (float)jnaArray_Get(&array, f * values + i);
        }
        result = CheckFrame(path, f, frame, array.shape[1], error);
        if (result == jn_ok) {
            StoreFrame(welder, array.shape[1], frame, scale, motion->positions + f * 3 * (size_t)motion->vertexCount);
        }
    }
    free(frame);
    jnaCloseArray(&array);
    return result;
}

jnResult jnaReadMotion(const char* path, const jnaCharacter* character, double scale, jnaMotion* motion, jnError* error)
{
    *motion = (jnaMotion){0};
    bool array = jnaHasEnding(path, ".npy");
    if (!array && !jnaHasEnding(path, ".pc2") && !jnaHasEnding(path, ".mdd")) {
        return jnFail(error, jn_badData, "%s: is not a .pc2, .mdd or .npy file", path);
    }
    Welder welder;
    jnResult result =
        CreateWelder(character, &welder) ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    if (result == jn_ok) {
        result = array ? ReadArray(path, character, &welder, scale, motion, error)
                       : ReadCache(path, character, &welder, scale, motion, error);
    }
    DestroyWelder(&welder);
    if (result != jn_ok) {
        jnaDestroyMotion(motion);
    }
    return result;
}

void jnaDestroyMotion(jnaMotion* motion)
{
    free(motion->positions);
    *motion = (jnaMotion){0};
}
