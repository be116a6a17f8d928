// What all cache formats share: names, checks, and meshes put together to one. The formats are in files of their own.
#include "character/mesh_cache.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/mesh_cache_internal.h"
#include "character/scene.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <strings.h>

// A cache may repeat a frame by naming it; more than this many times its own size is no cache but an attack.
enum { LARGEST_GROWTH = 256, SMALL_CACHE = 64 << 20 };
// Frames are evenly spaced if none is off by more than this share of the mean distance: times are stored as floats.
#define EVEN_TOLERANCE 2e-3

static const char* const withMembers[] = {".npz", ".abc", ".usda"};
static const char* const plain[] = {".npy", ".pc2", ".mdd", ".obj"};

void jnaSplitMember(const char* path, char* file, char* member, size_t size)
{
    snprintf(file, size, "%s", path);
    member[0] = '\0';
    const char* colon = strrchr(path, ':');
    if (colon == NULL || colon[1] == '\0' || (size_t)(colon - path) >= size) {
        return;
    }
    char head[4096];
    snprintf(head, sizeof(head), "%.*s", (int)(colon - path), path);
    for (size_t i = 0; i < sizeof(withMembers) / sizeof(withMembers[0]); ++i) {
        if (jnaHasEnding(head, withMembers[i])) {
            file[colon - path] = '\0';
            snprintf(member, size, "%s", colon + 1);
            return;
        }
    }
}

bool jnaIsMeshCache(const char* path)
{
    char file[4096], member[4096];
    jnaSplitMember(path, file, member, sizeof(file));
    bool known = false;
    for (size_t i = 0; i < sizeof(withMembers) / sizeof(withMembers[0]); ++i) {
        known = known || jnaHasEnding(file, withMembers[i]);
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); ++i) {
        known = known || jnaHasEnding(file, plain[i]);
    }
    return known;
}

bool jnaIsAskedFor(const char* path, const char* asked)
{
    const char* last = strrchr(path, '/');
    return asked[0] == '\0' || strcmp(path, asked) == 0 || (last != NULL && strcmp(last + 1, asked) == 0);
}

bool jnaIsSourceId(const char* name)
{
    static const char* const names[] = {"_SOURCE_VERTEX", "SOURCE_VERTEX", "__VID", "_VID", "VID", "id", "point_id",
        "vertex_id", "primvars:_SOURCE_VERTEX", "primvars:__VID", "primvars:id"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

void jnaFindRate(const double* times, int count, double* start, double* rate)
{
    *start = isfinite(times[0]) ? times[0] : 0;
    *rate = 0;
    double step = count > 1 ? (times[count - 1] - times[0]) / (count - 1) : 0;
    if (!isfinite(step) || step <= 0) {
        return;
    }
    for (int i = 1; i < count; ++i) {
        if (!(fabs(times[i] - times[i - 1] - step) <= EVEN_TOLERANCE * step)) {
            return;
        }
    }
    *rate = 1 / step;
}

size_t jnaCacheBytes(uint64_t frameCount, uint64_t pointCount, size_t fileSize)
{
    __extension__ unsigned __int128 bytes = (unsigned __int128)frameCount * pointCount * 12;
    __extension__ unsigned __int128 most = (unsigned __int128)fileSize * LARGEST_GROWTH;
    most = most > SMALL_CACHE ? most : SMALL_CACHE;
    bool sound = frameCount > 0 && pointCount > 0 && frameCount <= INT32_MAX / 16 && pointCount <= INT32_MAX / 16;
    return sound && bytes <= most ? (size_t)bytes : 0;
}

void jnaDestroyCacheMesh(jnaCacheMesh* mesh)
{
    free(mesh->positions);
    free(mesh->faceSizes);
    free(mesh->corners);
    free(mesh->normals);
    free(mesh->uvs);
    free(mesh->ids);
    *mesh = (jnaCacheMesh){0};
}

void jnaDestroyMeshCache(jnaMeshCache* cache)
{
    free(cache->positions);
    free(cache->faceSizes);
    free(cache->corners);
    free(cache->normals);
    free(cache->uvs);
    free(cache->ids);
    *cache = (jnaMeshCache){0};
}

jnResult jnaCheckCacheMesh(const char* path, const jnaCacheMesh* mesh, jnError* error)
{
    int64_t corners = 0;
    if (mesh->pointCount < 1 || mesh->frameCount < 1) {
        return jnFail(error, jn_badData, "%s: '%s' has no points", path, mesh->name);
    }
    for (int f = 0; f < mesh->faceCount; ++f) {
        // Faces of one and two corners are left over in some programs' meshes; they have no area.
        if (mesh->faceSizes[f] < 0 || (corners += mesh->faceSizes[f]) > mesh->cornerCount) {
            return jnFail(
                error, jn_badData, "%s: face %d of '%s' has %d corners", path, f, mesh->name, mesh->faceSizes[f]);
        }
    }
    if (corners != mesh->cornerCount) {
        return jnFail(error, jn_badData, "%s: the faces of '%s' have %lld corners, %d are listed", path, mesh->name,
            (long long)corners, mesh->cornerCount);
    }
    for (int c = 0; c < mesh->cornerCount; ++c) {
        if (mesh->corners[c] < 0 || mesh->corners[c] >= mesh->pointCount) {
            return jnFail(error, jn_badData, "%s: a face of '%s' names point %d of %d", path, mesh->name,
                mesh->corners[c], mesh->pointCount);
        }
    }
    size_t perFrame = 3 * (size_t)mesh->pointCount;
    for (size_t i = 0; i < (size_t)mesh->frameCount * perFrame; ++i) {
        if (!isfinite(mesh->positions[i])) {
            return jnFail(error, jn_badData, "%s: frame %zu: the position of vertex %zu is not a finite number", path,
                i / perFrame, i % perFrame / 3);
        }
    }
    return jn_ok;
}

void jnaReverseFaces(jnaCacheMesh* mesh)
{
    size_t first = 0;
    for (int f = 0; f < mesh->faceCount; ++f) {
        size_t size = (size_t)mesh->faceSizes[f];
        for (size_t i = 0; i < size / 2; ++i) {
            size_t a = first + i, b = first + size - 1 - i;
            int32_t corner = mesh->corners[a];
            mesh->corners[a] = mesh->corners[b];
            mesh->corners[b] = corner;
            for (size_t k = 0; k < 3; ++k) {
                if (mesh->normals != NULL) {
                    float normal = mesh->normals[3 * a + k];
                    mesh->normals[3 * a + k] = mesh->normals[3 * b + k];
                    mesh->normals[3 * b + k] = normal;
                }
                if (mesh->uvs != NULL && k < 2) {
                    float uv = mesh->uvs[2 * a + k];
                    mesh->uvs[2 * a + k] = mesh->uvs[2 * b + k];
                    mesh->uvs[2 * b + k] = uv;
                }
            }
        }
        first += size;
    }
}

// Moves what the mesh owns into an empty cache.
static void TakeFirst(jnaMeshCache* cache, jnaCacheMesh* mesh)
{
    snprintf(cache->name, sizeof(cache->name), "%s", mesh->name);
    cache->meshCount = 1;
    cache->frameCount = mesh->frameCount;
    cache->pointCount = mesh->pointCount;
    cache->start = mesh->start;
    cache->rate = mesh->rate;
    cache->positions = mesh->positions;
    cache->faceCount = mesh->faceCount;
    cache->cornerCount = mesh->cornerCount;
    cache->faceSizes = mesh->faceSizes;
    cache->corners = mesh->corners;
    cache->normals = mesh->normals;
    cache->uvs = mesh->uvs;
    cache->ids = mesh->ids;
    *mesh = (jnaCacheMesh){0};
}

// Both side by side in every frame; the one that stands still is repeated.
static jnResult JoinPositions(
    const char* path, jnaMeshCache* cache, const jnaCacheMesh* mesh, int frameCount, jnError* error)
{
    size_t a = 3 * (size_t)cache->pointCount, b = 3 * (size_t)mesh->pointCount;
    float* joined = malloc((size_t)frameCount * (a + b) * sizeof(float));
    if (joined == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (size_t f = 0; f < (size_t)frameCount; ++f) {
        size_t fa = cache->frameCount > 1 ? f : 0, fb = mesh->frameCount > 1 ? f : 0;
        memcpy(joined + f * (a + b), cache->positions + fa * a, a * sizeof(float));
        memcpy(joined + f * (a + b) + a, mesh->positions + fb * b, b * sizeof(float));
    }
    free(cache->positions);
    cache->positions = joined;
    return jn_ok;
}

// Appends `added` numbers, each plus the shift.
static jnResult Append(
    const char* path, int32_t** list, int count, const int32_t* more, int added, int shift, jnError* error)
{
    if (!jnaResize(list, (int64_t)count + added, sizeof(**list))) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (int i = 0; i < added; ++i) {
        (*list)[count + i] = more[i] + shift;
    }
    return jn_ok;
}

// Attributes are kept only where every mesh has them: a half of the UVs is of no use.
static void DropAttributes(jnaMeshCache* cache)
{
    free(cache->normals);
    free(cache->uvs);
    free(cache->ids);
    cache->normals = cache->uvs = NULL;
    cache->ids = NULL;
}

jnResult jnaMeshCache_Add(const char* path, size_t fileSize, jnaMeshCache* cache, jnaCacheMesh* mesh, jnError* error)
{
    if (cache->meshCount == 0) {
        TakeFirst(cache, mesh);
        return jn_ok;
    }
    int frames = cache->frameCount > mesh->frameCount ? cache->frameCount : mesh->frameCount;
    if ((cache->frameCount != frames && cache->frameCount != 1) ||
        (mesh->frameCount != frames && mesh->frameCount != 1)) {
        return jnFail(error, jn_badData, "%s: '%s' has %d frames, the meshes before it %d; name one: %s:%s", path,
            mesh->name, mesh->frameCount, cache->frameCount, path, mesh->name);
    }
    uint64_t points = (uint64_t)cache->pointCount + (uint64_t)mesh->pointCount;
    if (jnaCacheBytes((uint64_t)frames, points, fileSize) == 0) {
        return jnFail(error, jn_badData, "%s: holds %d frames of %llu points, more than can be", path, frames,
            (unsigned long long)points);
    }
    JN_PASS(JoinPositions(path, cache, mesh, frames, error));
    cache->rate = cache->frameCount > 1 ? cache->rate : mesh->rate;
    cache->start = cache->frameCount > 1 ? cache->start : mesh->start;
    cache->frameCount = frames;
    DropAttributes(cache);
    JN_PASS(Append(path, &cache->faceSizes, cache->faceCount, mesh->faceSizes, mesh->faceCount, 0, error));
    JN_PASS(
        Append(path, &cache->corners, cache->cornerCount, mesh->corners, mesh->cornerCount, cache->pointCount, error));
    cache->faceCount += mesh->faceCount;
    cache->cornerCount += mesh->cornerCount;
    cache->pointCount += mesh->pointCount;
    cache->meshCount++;
    jnaDestroyCacheMesh(mesh);
    return jn_ok;
}
