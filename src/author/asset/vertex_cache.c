// Baked motion as files: .npy, .pc2, .mdd, and a sequence of .obj. The .glb is in glb.c.
//
// PC2: little-endian; "POINTCACHE2" and a 0, version 1, points, first frame, frames a sample, samples, then the
// positions. MDD: big-endian; frames, points, the time of each frame, then the positions.
#include "asset/bake.h"

#include "asset/glb.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

typedef enum Format { format_npy, format_pc2, format_mdd, format_obj, format_glb, format_none } Format;

typedef struct Cache {
    const jnaBakeDef* def;
    Format format;
    const char* path;
    jnaFile file;
    int frameCount;
    jnaGlb glb;
    jnResult result; // of what a frame's callback did
    jnError* error;
} Cache;

static Format FormatOf(const char* path)
{
    static const char* const endings[] = {".npy", ".pc2", ".mdd", ".obj", ".glb"};
    const char* dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && i < format_none; ++i) {
        if (strcmp(dot, endings[i]) == 0) {
            return (Format)i;
        }
    }
    return format_none;
}

bool jnaCanBakeTo(const char* path)
{
    return FormatOf(path) != format_none;
}

// A 32-bit number, or the bits of a float, with the most significant byte first.
static void PutBig(FILE* stream, const void* value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof(bits));
    const unsigned char out[4] = {
        (unsigned char)(bits >> 24), (unsigned char)(bits >> 16), (unsigned char)(bits >> 8), (unsigned char)bits};
    fwrite(out, 1, sizeof(out), stream);
}

static jnResult BeginFile(Cache* cache, double rate)
{
    int32_t points = cache->def->asset->fileVertexCount, frames = cache->frameCount;
    if (cache->format == format_npy) {
        size_t shape[3] = {(size_t)frames, (size_t)points, 3};
        return jnaCreateArray(cache->path, jna_float32, 3, shape, &cache->file, cache->error);
    }
    JN_PASS(jnaCreateFile(cache->path, &cache->file, cache->error));
    if (cache->format == format_pc2) {
        const int32_t head[2] = {1, points};
        const float timing[2] = {0.0f, 1.0f};
        fwrite("POINTCACHE2", 1, 12, cache->file.stream);
        fwrite(head, sizeof(int32_t), 2, cache->file.stream);
        fwrite(timing, sizeof(float), 2, cache->file.stream);
        fwrite(&frames, sizeof(int32_t), 1, cache->file.stream);
    }
    if (cache->format == format_mdd) {
        PutBig(cache->file.stream, &frames);
        PutBig(cache->file.stream, &points);
        for (int n = 0; n < frames; ++n) {
            float time = (float)(n / rate);
            PutBig(cache->file.stream, &time);
        }
    }
    return jn_ok;
}

// One frame as NAME.0000.obj, with UVs where the asset has them.
static jnResult WriteObj(const Cache* cache, int frame, const float* positions, const float* normals)
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
    if (result != jn_ok) {
        return result;
    }
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

static bool TakeFrame(int frame, const float* positions, const float* normals, void* user)
{
    Cache* cache = user;
    size_t count = 3 * (size_t)cache->def->asset->fileVertexCount;
    switch (cache->format) {
    case format_mdd:
        for (size_t i = 0; i < count; ++i) {
            PutBig(cache->file.stream, positions + i);
        }
        break;
    case format_obj:
        cache->result = WriteObj(cache, frame, positions, normals);
        break;
    case format_glb:
        jnaGlb_Take(&cache->glb, frame, positions, normals);
        break;
    default:
        fwrite(positions, sizeof(float), count, cache->file.stream);
        break;
    }
    return cache->result == jn_ok;
}

jnResult jnaBakeToFile(const char* path, const jnaBakeDef* def, jnError* error)
{
    jnaBakeDef own = *def;
    Cache cache = {.def = &own, .format = FormatOf(path), .path = path, .error = error};
    if (cache.format == format_none) {
        return jnFail(error, jn_badArgument, "%s: must end in .npy, .pc2, .mdd, .obj or .glb", path);
    }
    cache.frameCount = jnaBakeFrameCount(def);
    double rate = def->rate > 0.0 ? def->rate : jnAsset_Clip(def->asset, def->clip).rate;
    own.take = TakeFrame;
    own.user = &cache;
    own.wantsNormals = cache.format == format_obj || cache.format == format_glb;
    bool single = cache.format != format_obj;
    jnResult result =
        cache.format == format_glb ? jnaCreateGlb(def->asset, cache.frameCount, rate, &cache.glb, error) : jn_ok;
    result = result == jn_ok && single ? BeginFile(&cache, rate) : result;
    if (result == jn_ok) {
        result = jnaBake(&own, error);
    }
    result = cache.result != jn_ok ? cache.result : result;
    if (result == jn_ok && cache.format == format_glb) {
        result = jnaGlb_Write(&cache.glb, jnAsset_Clip(def->asset, def->clip).name, &cache.file, error);
    }
    if (result == jn_ok && single) {
        result = jnaFile_Commit(&cache.file, error);
    }
    jnaFile_Abandon(&cache.file);
    jnaDestroyGlb(&cache.glb);
    return result;
}
