// Baked motion as files: .npy, .pc2, .mdd, a sequence of .obj; Alembic and USD through their writers. The .glb is in
// glb.c.
//
// PC2: little-endian; "POINTCACHE2" and a 0, version 1, points, first frame, frames a sample, samples, then the
// positions. MDD: big-endian; frames, points, the time of each frame, then the positions.
#include "asset/bake.h"

#include "asset/glb.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/try.h"
#include "character/mesh_cache.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

typedef enum Format {
    format_npy,
    format_pc2,
    format_mdd,
    format_obj,
    format_glb,
    format_abc,
    format_usda,
    format_none
} Format;

typedef struct Cache {
    const jnaBakeDef* def;
    Format format;
    const char* path;
    jnaFile file;
    int frameCount, pointCount;
    const int32_t* triangles; // in points
    double scale;             // units of the file in a metre
    double rotation[9];       // our axes to the file's
    float* points;            // [pointCount][3], the frame in the file's order, unit and axes
    float* normals;           // [pointCount][3], or [corners][3] where points are in another order
    float* uvs;               // [corners][2], for Alembic and USD
    jnaGlb glb;
    jnaMeshCacheFile mesh;
    jnResult result; // of what a frame's callback did
    jnError* error;
} Cache;

static Format FormatOf(const char* path)
{
    static const char* const endings[] = {".npy", ".pc2", ".mdd", ".obj", ".glb", ".abc", ".usda"};
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

static jnaMeshCacheDef MeshDef(const Cache* cache, double rate)
{
    const jnAsset* a = cache->def->asset;
    return (jnaMeshCacheDef){.name = a->name,
        .frameCount = cache->frameCount,
        .pointCount = cache->pointCount,
        .triangleCount = a->triangleCount,
        .triangles = cache->triangles,
        .uvs = cache->uvs,
        .withNormals = true,
        .normalsAtCorners = cache->def->order != NULL,
        .rate = rate,
        .metresPerUnit = 1 / cache->scale,
        .upAxis = cache->rotation[7] > 0 ? JNA_UP_Z : JNA_UP_Y};
}

static jnResult BeginFile(Cache* cache, double rate)
{
    int32_t points = cache->pointCount, frames = cache->frameCount;
    if (cache->format == format_npy) {
        size_t shape[3] = {(size_t)frames, (size_t)points, 3};
        return jnaCreateArray(cache->path, jna_float32, 3, shape, &cache->file, cache->error);
    }
    if (cache->format == format_abc || cache->format == format_usda) {
        jnaMeshCacheDef def = MeshDef(cache, rate);
        return cache->format == format_abc ? jnaCreateAlembic(cache->path, &def, &cache->mesh, cache->error)
                                           : jnaCreateUsda(cache->path, &def, &cache->mesh, cache->error);
    }
    jnResult result = jnaCreateFile(cache->path, &cache->file, cache->error);
    if (result == jn_ok && cache->format == format_pc2) {
        const int32_t head[2] = {1, points};
        const float timing[2] = {0.0f, 1.0f};
        fwrite("POINTCACHE2", 1, 12, cache->file.stream);
        fwrite(head, sizeof(int32_t), 2, cache->file.stream);
        fwrite(timing, sizeof(float), 2, cache->file.stream);
        fwrite(&frames, sizeof(int32_t), 1, cache->file.stream);
    }
    if (result == jn_ok && cache->format == format_mdd) {
        PutBig(cache->file.stream, &frames);
        PutBig(cache->file.stream, &points);
        for (int n = 0; n < frames; ++n) {
            float time = (float)(n / rate);
            PutBig(cache->file.stream, &time);
        }
    }
    return result;
}

// NAME.mtl beside NAME.0000.obj: the parts' colours.
static jnResult WriteMaterials(const Cache* cache)
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
    if (result != jn_ok) {
        return result;
    }
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
static jnResult WriteObj(const Cache* cache, int frame)
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
    const char* slash = strrchr(cache->path, '/');
    const char* name = slash != NULL ? slash + 1 : cache->path;
    fprintf(file.stream, "mtllib %.*s.mtl\n", (int)(strlen(name) - 4), name);
    for (size_t v = 0; v < (size_t)cache->pointCount; ++v) {
        const float* p = cache->points + 3 * v;
        fprintf(file.stream, "v %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
    }
    size_t normals = cache->def->order != NULL ? 3 * (size_t)a->triangleCount : (size_t)cache->pointCount;
    for (size_t i = 0; i < normals; ++i) {
        const float* n = cache->normals + 3 * i;
        fprintf(file.stream, "vn %.6g %.6g %.6g\n", (double)n[0], (double)n[1], (double)n[2]);
    }
    for (size_t v = 0; a->uvs != NULL && v < (size_t)a->fileVertexCount; ++v) {
        fprintf(file.stream, "vt %.7g %.7g\n", (double)a->uvs[2 * v], (double)a->uvs[2 * v + 1]);
    }
    PutFaces(cache, file.stream);
    return jnaFile_Commit(&file, cache->error);
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
    for (size_t i = 0; i < (size_t)cache->pointCount; ++i) {
        size_t from = order != NULL ? (size_t)order->fileVertices[i] : i;
        Turn(cache, cache->scale, positions + 3 * from, cache->points + 3 * i);
    }
    size_t count = order != NULL ? 3 * (size_t)a->triangleCount : (size_t)cache->pointCount;
    for (size_t i = 0; normals != NULL && i < count; ++i) {
        size_t from = order != NULL ? (size_t)a->triangles[i] : i;
        Turn(cache, 1, normals + 3 * from, cache->normals + 3 * i);
    }
}

static bool TakeFrame(int frame, const float* positions, const float* normals, void* user)
{
    Cache* cache = user;
    size_t count = 3 * (size_t)cache->pointCount;
    if (cache->format == format_glb) {
        jnaGlb_Take(&cache->glb, frame, positions, normals);
        return true;
    }
    PlaceFrame(cache, positions, normals);
    switch (cache->format) {
    case format_mdd:
        for (size_t i = 0; i < count; ++i) {
            PutBig(cache->file.stream, cache->points + i);
        }
        break;
    case format_obj:
        cache->result = WriteObj(cache, frame);
        break;
    case format_abc:
        cache->result = jnaAlembic_AddFrame(&cache->mesh, cache->points, cache->normals, cache->error);
        break;
    case format_usda:
        cache->result = jnaUsda_AddFrame(&cache->mesh, cache->points, cache->normals, cache->error);
        break;
    default:
        fwrite(cache->points, sizeof(float), count, cache->file.stream);
        break;
    }
    return cache->result == jn_ok;
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
    cache->pointCount = order != NULL ? order->pointCount : a->fileVertexCount;
    cache->triangles = order != NULL ? order->triangles : a->triangles;
    ChooseFrame(cache);
    size_t normals = order != NULL ? corners : (size_t)cache->pointCount;
    cache->points = malloc(3 * (size_t)cache->pointCount * sizeof(float) + 1);
    cache->normals = malloc(3 * normals * sizeof(float) + 1);
    bool withUvs = a->uvs != NULL && (cache->format == format_abc || cache->format == format_usda);
    cache->uvs = withUvs ? malloc(2 * corners * sizeof(float) + 1) : NULL;
    if (cache->points == NULL || cache->normals == NULL || (withUvs && cache->uvs == NULL)) {
        return jnFail(cache->error, jn_outOfMemory, "%s: out of memory", cache->path);
    }
    for (size_t i = 0; withUvs && i < corners; ++i) {
        memcpy(cache->uvs + 2 * i, a->uvs + 2 * (size_t)a->triangles[i], 2 * sizeof(float));
    }
    return jn_ok;
}

static jnResult CommitFile(Cache* cache)
{
    const jnaBakeDef* def = cache->def;
    switch (cache->format) {
    case format_obj:
        return WriteMaterials(cache);
    case format_abc:
        return jnaAlembic_Commit(&cache->mesh, cache->error);
    case format_usda:
        return jnaUsda_Commit(&cache->mesh, cache->error);
    case format_glb: {
        const char* clip = jnAsset_Clip(def->asset, def->clip).name;
        jnResult result = jnaGlb_Write(&cache->glb, clip, &cache->file, cache->error);
        return result == jn_ok ? jnaFile_Commit(&cache->file, cache->error) : result;
    }
    default:
        return jnaFile_Commit(&cache->file, cache->error);
    }
}

jnResult jnaBakeToFile(const char* path, const jnaBakeDef* def, jnError* error)
{
    jnResult result = jn_ok;
    jnaBakeDef own = *def;
    Cache cache = {.def = &own, .format = FormatOf(path), .path = path, .error = error};
    bool glb = cache.format == format_glb, ownAxes = def->order != NULL || def->metresPerUnit > 0 || def->zUp;
    if (cache.format == format_none) {
        return jnFail(error, jn_badArgument, "%s: must end in .npy, .pc2, .mdd, .abc, .usda, .obj or .glb", path);
    }
    if (glb && ownAxes) {
        return jnFail(error, jn_badArgument, "%s: a .glb is in metres, Y up, and in its own vertex order", path);
    }
    cache.frameCount = jnaBakeFrameCount(def);
    double rate = def->rate > 0.0 ? def->rate : jnAsset_Clip(def->asset, def->clip).rate;
    own.take = TakeFrame;
    own.user = &cache;
    own.wantsNormals = cache.format >= format_obj;
    JN_TRY(Prepare(&cache));
    JN_TRY(glb ? jnaCreateGlb(def->asset, cache.frameCount, rate, &cache.glb, error) : jn_ok);
    JN_TRY(cache.format != format_obj ? BeginFile(&cache, rate) : jn_ok);
    result = jnaBake(&own, error);
    result = cache.result != jn_ok ? cache.result : result;
    result = result == jn_ok ? CommitFile(&cache) : result;
done:
    jnaFile_Abandon(&cache.file);
    if (cache.mesh.state != NULL) {
        (cache.format == format_abc ? jnaAlembic_Abandon : jnaUsda_Abandon)(&cache.mesh);
    }
    jnaDestroyGlb(&cache.glb);
    free(cache.points);
    free(cache.normals);
    free(cache.uvs);
    return result;
}
