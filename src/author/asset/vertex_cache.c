// Baked motion as files: .npy, .pc2, .mdd, a sequence of .obj; Alembic and USD through their writers, .glb in glb.c.
//
// PC2: little-endian; "POINTCACHE2" and a 0, version 1, points, first frame, frames a sample, samples, then the
// positions. MDD: big-endian; frames, points, the time of each frame, then the positions.
//
// A new format is a row of `formats` with its functions, and a word in JNA_BAKE_FORMATS (bake.h).
#include "asset/bake.h"

#include "asset/glb.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/try.h"
#include "character/mesh_cache.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

typedef struct Cache {
    const jnaBakeDef* def;
    const struct Format* format;
    const char* path;
    jnaFile file; // not of a format with a file a frame
    int32_t frames, points;
    double rate;
    const int32_t* triangles; // in points
    double scale;             // units of the file in a metre
    double rotation[9];       // our axes to the file's
    float* positions;         // [points][3], the frame in the file's order, unit and axes
    float* normals;           // [points][3], or [corners][3] where points are in another order
    float* uvs;               // [corners][2], for Alembic and USD
    jnaGlb glb;
    jnaMeshCacheFile mesh;
    jnResult result; // of what a frame's callback did
    jnError* error;
} Cache;

/// How one ending is written.
typedef struct Format {
    const char* ending;
    jnResult (*begin)(Cache* cache); // opens the file, writes what stands before the frames; NULL: a file a frame
    jnResult (*frame)(Cache* cache, int frame, const float* positions, const float* normals);
    jnResult (*end)(Cache* cache); // what comes after the frames; may be NULL
    bool wantsNormals;
    bool ownFile;  // the file is that of the writer of the format
    bool ownOrder; // frames come as the asset has them: metres, Y up, file vertices
} Format;

// A 32-bit number, or the bits of a float, with the most significant byte first.
static void PutBig(FILE* stream, const void* value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof(bits));
    const unsigned char out[4] = {
        (unsigned char)(bits >> 24), (unsigned char)(bits >> 16), (unsigned char)(bits >> 8), (unsigned char)bits};
    fwrite(out, 1, sizeof(out), stream);
}

static jnResult PutFloats(Cache* cache, int frame, const float* positions, const float* normals)
{
    (void)frame, (void)normals;
    fwrite(positions, 3 * sizeof(float), (size_t)cache->points, cache->file.stream);
    return jn_ok; // a full disk is noticed when the file is committed
}

static jnResult BeginNpy(Cache* cache)
{
    size_t shape[3] = {(size_t)cache->frames, (size_t)cache->points, 3};
    return jnaCreateArray(cache->path, jna_float32, 3, shape, &cache->file, cache->error);
}

static jnResult BeginPc2(Cache* cache)
{
    const int32_t head[2] = {1, cache->points};
    const float timing[2] = {0.0f, 1.0f};
    JN_PASS(jnaCreateFile(cache->path, &cache->file, cache->error));
    fwrite("POINTCACHE2", 1, 12, cache->file.stream);
    fwrite(head, sizeof(int32_t), 2, cache->file.stream);
    fwrite(timing, sizeof(float), 2, cache->file.stream);
    fwrite(&cache->frames, sizeof(int32_t), 1, cache->file.stream);
    return jn_ok;
}

static jnResult BeginMdd(Cache* cache)
{
    JN_PASS(jnaCreateFile(cache->path, &cache->file, cache->error));
    PutBig(cache->file.stream, &cache->frames);
    PutBig(cache->file.stream, &cache->points);
    for (int n = 0; n < cache->frames; ++n) {
        float time = (float)(n / cache->rate);
        PutBig(cache->file.stream, &time);
    }
    return jn_ok;
}

static jnResult PutMdd(Cache* cache, int frame, const float* positions, const float* normals)
{
    (void)frame, (void)normals;
    for (size_t i = 0; i < 3 * (size_t)cache->points; ++i) {
        PutBig(cache->file.stream, positions + i);
    }
    return jn_ok;
}

// NAME.mtl beside NAME.0000.obj: the parts' colours.
static jnResult EndObj(Cache* cache)
{
    const jnAsset* a = cache->def->asset;
    size_t length = strlen(cache->path) + 8;
    char* path = malloc(length);
    jnaFile file;
    if (path == NULL) {
        return jnFail(cache->error, jn_outOfMemory, "%s: out of memory", cache->path);
    }
    snprintf(path, length, "%.*s.mtl", (int)(strlen(cache->path) - 4), cache->path);
    jnResult result = jnaCreateFile(path, &file, cache->error);
    free(path);
    JN_PASS(result);
    for (int i = 0; i < a->partCount; ++i) {
        const float* color = a->parts[i].color;
        bool known = false;
        for (int k = 0; k < i && !known; ++k) {
            known = strcmp(a->parts[k].material, a->parts[i].material) == 0;
        }
        if (!known) {
            fprintf(file.stream, "newmtl %s\nKd %.4g %.4g %.4g\nKs 0.1 0.1 0.1\nNs 30\nd %.4g\n\n",
                a->parts[i].material, (double)color[0], (double)color[1], (double)color[2], (double)color[3]);
        }
    }
    return jnaFile_Commit(&file, cache->error);
}

static void PutFaces(const Cache* cache, FILE* stream)
{
    const jnAsset* a = cache->def->asset;
    int part = 0;
    for (int t = 0; t < a->triangleCount; ++t) {
        for (; part < a->partCount && a->parts[part].firstTriangle == t; ++part) {
            fprintf(stream, "g %s\nusemtl %s\n", a->parts[part].name, a->parts[part].material);
        }
        fputc('f', stream);
        for (int i = 0; i < 3; ++i) {
            size_t corner = 3 * (size_t)t + (size_t)i;
            int v = cache->triangles[corner] + 1, n = cache->def->order != NULL ? (int)corner + 1 : v;
            if (a->uvs != NULL) {
                fprintf(stream, " %d/%d/%d", v, a->triangles[corner] + 1, n);
            } else {
                fprintf(stream, " %d//%d", v, n);
            }
        }
        fputc('\n', stream);
    }
}

// One frame as NAME.0000.obj, with UVs where the asset has them.
static jnResult PutObj(Cache* cache, int frame, const float* positions, const float* normals)
{
    const jnAsset* a = cache->def->asset;
    size_t length = strlen(cache->path) + 16;
    char* path = malloc(length);
    jnaFile file;
    if (path == NULL) {
        return jnFail(cache->error, jn_outOfMemory, "%s: out of memory", cache->path);
    }
    snprintf(path, length, "%.*s.%04d.obj", (int)(strlen(cache->path) - 4), cache->path, frame);
    jnResult result = jnaCreateFile(path, &file, cache->error);
    free(path);
    JN_PASS(result);
    const char* slash = strrchr(cache->path, '/');
    const char* name = slash != NULL ? slash + 1 : cache->path;
    fprintf(file.stream, "mtllib %.*s.mtl\n", (int)(strlen(name) - 4), name);
    for (size_t v = 0; v < (size_t)cache->points; ++v) {
        const float* p = positions + 3 * v;
        fprintf(file.stream, "v %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
    }
    size_t normalCount = cache->def->order != NULL ? 3 * (size_t)a->triangleCount : (size_t)cache->points;
    for (size_t i = 0; i < normalCount; ++i) {
        const float* n = normals + 3 * i;
        fprintf(file.stream, "vn %.6g %.6g %.6g\n", (double)n[0], (double)n[1], (double)n[2]);
    }
    for (size_t v = 0; a->uvs != NULL && v < (size_t)a->fileVertexCount; ++v) {
        fprintf(file.stream, "vt %.7g %.7g\n", (double)a->uvs[2 * v], (double)a->uvs[2 * v + 1]);
    }
    PutFaces(cache, file.stream);
    return jnaFile_Commit(&file, cache->error);
}

static jnResult BeginGlb(Cache* cache)
{
    JN_PASS(jnaCreateGlb(cache->def->asset, cache->frames, cache->rate, &cache->glb, cache->error));
    return jnaCreateFile(cache->path, &cache->file, cache->error);
}

static jnResult PutGlb(Cache* cache, int frame, const float* positions, const float* normals)
{
    jnaGlb_Take(&cache->glb, frame, positions, normals);
    return jn_ok;
}

static jnResult EndGlb(Cache* cache)
{
    jnAssetClip clip = jnAsset_Clip(cache->def->asset, cache->def->clip);
    return jnaGlb_Write(&cache->glb, clip.name, &cache->file, cache->error);
}

static jnaMeshCacheDef MeshDef(const Cache* cache)
{
    const jnAsset* a = cache->def->asset;
    return (jnaMeshCacheDef){.name = a->name,
        .frameCount = cache->frames,
        .pointCount = cache->points,
        .triangleCount = a->triangleCount,
        .triangles = cache->triangles,
        .uvs = cache->uvs,
        .withNormals = true,
        .normalsAtCorners = cache->def->order != NULL,
        .rate = cache->rate,
        .metresPerUnit = 1 / cache->scale,
        .upAxis = cache->rotation[7] > 0 ? JNA_UP_Z : JNA_UP_Y};
}

static jnResult BeginAbc(Cache* cache)
{
    jnaMeshCacheDef def = MeshDef(cache);
    return jnaCreateAlembic(cache->path, &def, &cache->mesh, cache->error);
}

static jnResult PutAbc(Cache* cache, int frame, const float* positions, const float* normals)
{
    (void)frame;
    return jnaAlembic_AddFrame(&cache->mesh, positions, normals, cache->error);
}

static jnResult EndAbc(Cache* cache)
{
    return jnaAlembic_Commit(&cache->mesh, cache->error);
}

static jnResult BeginUsda(Cache* cache)
{
    jnaMeshCacheDef def = MeshDef(cache);
    return jnaCreateUsda(cache->path, &def, &cache->mesh, cache->error);
}

static jnResult PutUsda(Cache* cache, int frame, const float* positions, const float* normals)
{
    (void)frame;
    return jnaUsda_AddFrame(&cache->mesh, positions, normals, cache->error);
}

static jnResult EndUsda(Cache* cache)
{
    return jnaUsda_Commit(&cache->mesh, cache->error);
}

static const Format formats[] = {
    {".npy", BeginNpy, PutFloats, NULL, false, false, false},
    {".pc2", BeginPc2, PutFloats, NULL, false, false, false},
    {".mdd", BeginMdd, PutMdd, NULL, false, false, false},
    {".abc", BeginAbc, PutAbc, EndAbc, true, true, false},
    {".usda", BeginUsda, PutUsda, EndUsda, true, true, false},
    {".obj", NULL, PutObj, EndObj, true, true, false},
    {".glb", BeginGlb, PutGlb, EndGlb, true, false, true},
};

static const Format* FormatOf(const char* path)
{
    const char* dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(formats) / sizeof(formats[0]); ++i) {
        if (strcmp(dot, formats[i].ending) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

bool jnaCanBakeTo(const char* path)
{
    return FormatOf(path) != NULL;
}

// A vector in the axes of the file, `scale` times as long.
static void Turn(const Cache* cache, double scale, const float* in, float* out)
{
    for (int i = 0; i < 3; ++i) {
        const double* row = cache->rotation + 3 * i;
        out[i] = (float)(scale * (row[0] * (double)in[0] + row[1] * (double)in[1] + row[2] * (double)in[2]));
    }
}

// The frame as the file has it: order, unit, axes.
static void PlaceFrame(Cache* cache, const float* positions, const float* normals)
{
    const jnAsset* a = cache->def->asset;
    const jnaBakeOrder* order = cache->def->order;
    for (size_t i = 0; i < (size_t)cache->points; ++i) {
        size_t from = order != NULL ? (size_t)order->fileVertices[i] : i;
        Turn(cache, cache->scale, positions + 3 * from, cache->positions + 3 * i);
    }
    size_t count = order != NULL ? 3 * (size_t)a->triangleCount : (size_t)cache->points;
    for (size_t i = 0; normals != NULL && i < count; ++i) {
        size_t from = order != NULL ? (size_t)a->triangles[i] : i;
        Turn(cache, 1, normals + 3 * from, cache->normals + 3 * i);
    }
}

// Unit and axes: what is asked for, else those of the order, else ours.
static void ChooseFrame(Cache* cache)
{
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zUp[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    const jnaBakeDef* def = cache->def;
    const double* rotation = def->zUp ? zUp : def->yUp || def->order == NULL ? same : def->order->rotation;
    memcpy(cache->rotation, rotation, sizeof(cache->rotation));
    double unit = def->metresPerUnit > 0 ? def->metresPerUnit : def->order != NULL ? def->order->metresPerUnit : 1;
    cache->scale = 1 / unit;
}

static jnResult Prepare(Cache* cache)
{
    const jnAsset* a = cache->def->asset;
    const jnaBakeOrder* order = cache->def->order;
    size_t corners = 3 * (size_t)a->triangleCount;
    cache->points = order != NULL ? order->pointCount : a->fileVertexCount;
    cache->triangles = order != NULL ? order->triangles : a->triangles;
    ChooseFrame(cache);
    size_t normals = order != NULL ? corners : (size_t)cache->points;
    jnaArena arena = {0};
    cache->positions = jnaArena_Give(&arena, cache->points, 3 * sizeof(float));
    cache->normals = jnaArena_Give(&arena, (int64_t)normals, 3 * sizeof(float));
    cache->uvs = a->uvs != NULL ? jnaArena_Give(&arena, (int64_t)corners, 2 * sizeof(float)) : NULL;
    JN_PASS(jnaArena_Check(&arena, "a vertex cache", cache->error));
    for (size_t i = 0; a->uvs != NULL && i < corners; ++i) {
        memcpy(cache->uvs + 2 * i, a->uvs + 2 * (size_t)a->triangles[i], 2 * sizeof(float));
    }
    return jn_ok;
}

static bool TakeFrame(int frame, const float* positions, const float* normals, void* user)
{
    Cache* cache = user;
    if (cache->format->ownOrder) {
        cache->result = cache->format->frame(cache, frame, positions, normals);
    } else {
        PlaceFrame(cache, positions, normals);
        cache->result = cache->format->frame(cache, frame, cache->positions, cache->normals);
    }
    return cache->result == jn_ok;
}

static void ReleaseCache(Cache* cache)
{
    jnaFile_Abandon(&cache->file);
    if (cache->mesh.state != NULL) {
        (cache->format->begin == BeginAbc ? jnaAlembic_Abandon : jnaUsda_Abandon)(&cache->mesh);
    }
    jnaDestroyGlb(&cache->glb);
    free(cache->positions);
    free(cache->normals);
    free(cache->uvs);
}

jnResult jnaBakeToFile(const char* path, const jnaBakeDef* def, jnError* error)
{
    jnaBakeDef own = *def;
    Cache cache = {.def = &own,
        .format = FormatOf(path),
        .path = path,
        .frames = jnaBakeFrameCount(def),
        .rate = def->rate > 0.0 ? def->rate : jnAsset_Clip(def->asset, def->clip).rate,
        .error = error};
    jnResult result = jn_ok;
    if (cache.format == NULL) {
        return jnFail(error, jn_badArgument, "%s: must end in " JNA_BAKE_FORMATS, path);
    }
    if (cache.format->ownOrder && (def->order != NULL || def->metresPerUnit > 0 || def->zUp)) {
        return jnFail(error, jn_badArgument, "%s: a .glb is in metres, Y up, and in its own vertex order", path);
    }
    own.take = TakeFrame;
    own.user = &cache;
    own.wantsNormals = cache.format->wantsNormals;
    JN_TRY(Prepare(&cache));
    JN_TRY(cache.format->begin != NULL ? cache.format->begin(&cache) : jn_ok);
    result = jnaBake(&own, error);
    JN_TRY(cache.result != jn_ok ? cache.result : result); // the frame's own reason, where it ended the baking
    JN_TRY(cache.format->end != NULL ? cache.format->end(&cache) : jn_ok);
    JN_TRY(cache.format->ownFile ? jn_ok : jnaFile_Commit(&cache.file, error));
done:
    ReleaseCache(&cache);
    return result;
}
