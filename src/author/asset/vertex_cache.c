// Baked motion as files: .npy, .pc2, .mdd, and a sequence of .obj. The .glb is in glb.c.
//
// PC2: little-endian; "POINTCACHE2" and a 0, version 1, points, first frame, frames a sample, samples, then the
// positions. MDD: big-endian; frames, points, the time of each frame, then the positions.
//
// A new format is a row of `formats` with its functions, and a word in JNA_BAKE_FORMATS (bake.h).
#include "asset/bake.h"

#include "asset/glb.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/try.h"
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
    jnaGlb glb;
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
    for (int v = 0; v < a->fileVertexCount; ++v) {
        const float *p = positions + 3 * (size_t)v, *n = normals + 3 * (size_t)v;
        fprintf(file.stream, "v %.9g %.9g %.9g\nvn %.6g %.6g %.6g\n", (double)p[0], (double)p[1], (double)p[2],
            (double)n[0], (double)n[1], (double)n[2]);
        if (a->uvs != NULL) {
            fprintf(file.stream, "vt %.7g %.7g\n", (double)a->uvs[2 * (size_t)v], (double)a->uvs[2 * (size_t)v + 1]);
        }
    }
    int part = 0;
    for (int t = 0; t < a->triangleCount; ++t) {
        for (; part < a->partCount && a->parts[part].firstTriangle == t; ++part) {
            fprintf(file.stream, "g %s\nusemtl %s\n", a->parts[part].name, a->parts[part].material);
        }
        fputc('f', file.stream);
        for (int i = 0; i < 3; ++i) {
            int v = a->triangles[3 * (size_t)t + (size_t)i] + 1;
            if (a->uvs != NULL) {
                fprintf(file.stream, " %d/%d/%d", v, v, v);
            } else {
                fprintf(file.stream, " %d//%d", v, v);
            }
        }
        fputc('\n', file.stream);
    }
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

static const Format formats[] = {
    {".npy", BeginNpy, PutFloats, NULL, false},
    {".pc2", BeginPc2, PutFloats, NULL, false},
    {".mdd", BeginMdd, PutMdd, NULL, false},
    {".obj", NULL, PutObj, NULL, true},
    {".glb", BeginGlb, PutGlb, EndGlb, true},
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

static bool TakeFrame(int frame, const float* positions, const float* normals, void* user)
{
    Cache* cache = user;
    cache->result = cache->format->frame(cache, frame, positions, normals);
    return cache->result == jn_ok;
}

jnResult jnaBakeToFile(const char* path, const jnaBakeDef* def, jnError* error)
{
    jnaBakeDef own = *def;
    Cache cache = {.def = &own,
        .format = FormatOf(path),
        .path = path,
        .frames = jnaBakeFrameCount(def),
        .points = def->asset->fileVertexCount,
        .rate = def->rate > 0.0 ? def->rate : jnAsset_Clip(def->asset, def->clip).rate,
        .error = error};
    jnResult result = jn_ok;
    if (cache.format == NULL) {
        return jnFail(error, jn_badArgument, "%s: must end in " JNA_BAKE_FORMATS, path);
    }
    own.take = TakeFrame;
    own.user = &cache;
    own.wantsNormals = cache.format->wantsNormals;
    JN_TRY(cache.format->begin != NULL ? cache.format->begin(&cache) : jn_ok);
    result = jnaBake(&own, error);
    JN_TRY(cache.result != jn_ok ? cache.result : result); // the frame's own reason, where it ended the baking
    JN_TRY(cache.format->end != NULL ? cache.format->end(&cache) : jn_ok);
    JN_TRY(cache.format->begin != NULL ? jnaFile_Commit(&cache.file, error) : jn_ok);
done:
    jnaFile_Abandon(&cache.file);
    jnaDestroyGlb(&cache.glb);
    return result;
}
