// A tube with a sleeve around it and an eye beside it as a .glb file: what is flesh, what follows it, what is rigid.
// The same without the tube is a file with clothes.
#pragma once

#include "helpers/small_gltf.h"

enum { BODY_RINGS = 25, BODY_SEGMENTS = 16, BODY_VERTICES = BODY_RINGS * BODY_SEGMENTS + 2 };
enum { SLEEVE_RINGS = 11, SLEEVE_VERTICES = SLEEVE_RINGS * BODY_SEGMENTS, EYE_VERTICES = 6 };
enum { DRESSED_JOINTS = 3 };
#define BODY_RADIUS 0.12
#define SLEEVE_GAP 0.008 // metres between tube and sleeve

typedef struct DressedDef {
    bool body, sleeve, eye;
    bool bare;   // no skin and no joints: shapes alone
    bool moves;  // joint 1 swings for a second
    bool morphs; // the body has the targets "smile", which the animation plays, and "frown"
    bool woven;  // UVs, and a material "Linen" with a picture, DRESSED_PICTURE, for its colour; behind it a plain one
} DressedDef;

// What stands for a picture: nobody looks into it.
#define DRESSED_PICTURE "\x89PNG of linen"

// One mesh in the making.
typedef struct DressedMesh {
    const char* name;
    int count, indexCount;
    float positions[BODY_VERTICES][3];
    uint16_t indices[6 * BODY_VERTICES];
} DressedMesh;

static inline void AddRings(DressedMesh* m, int rings, double radius, double low, double high)
{
    for (int i = 0; i < rings * BODY_SEGMENTS; ++i) {
        double angle = 2 * 3.14159265358979 * (i % BODY_SEGMENTS) / BODY_SEGMENTS;
        double at = low + (high - low) * (i / BODY_SEGMENTS) / (rings - 1);
        const float p[3] = {(float)(radius * cos(angle)), (float)at, (float)(-radius * sin(angle))};
        memcpy(m->positions[i], p, sizeof(p));
        int next = i / BODY_SEGMENTS * BODY_SEGMENTS + (i + 1) % BODY_SEGMENTS;
        const uint16_t a = (uint16_t)i, b = (uint16_t)next, c = (uint16_t)(a + BODY_SEGMENTS),
                       d = (uint16_t)(b + BODY_SEGMENTS);
        const uint16_t quad[6] = {a, b, d, a, d, c};
        if (i < (rings - 1) * BODY_SEGMENTS) {
            memcpy(m->indices + m->indexCount, quad, sizeof(quad));
            m->indexCount += 6;
        }
    }
    m->count = rings * BODY_SEGMENTS;
}

static inline void FillBody(DressedMesh* m)
{
    *m = (DressedMesh){.name = "Body"};
    AddRings(m, BODY_RINGS, BODY_RADIUS, 0, 1);
    for (int end = 0; end < 2; ++end) {
        uint16_t centre = (uint16_t)m->count, first = (uint16_t)(end * (BODY_RINGS - 1) * BODY_SEGMENTS);
        const float p[3] = {0, (float)end, 0};
        memcpy(m->positions[m->count++], p, sizeof(p));
        for (int i = 0; i < BODY_SEGMENTS; ++i) {
            uint16_t a = (uint16_t)(first + i), b = (uint16_t)(first + (i + 1) % BODY_SEGMENTS);
            const uint16_t fan[3] = {centre, end == 0 ? b : a, end == 0 ? a : b};
            memcpy(m->indices + m->indexCount, fan, sizeof(fan));
            m->indexCount += 3;
        }
    }
}

static inline void FillSleeve(DressedMesh* m)
{
    *m = (DressedMesh){.name = "Sleeve"};
    AddRings(m, SLEEVE_RINGS, BODY_RADIUS + SLEEVE_GAP, 0.22, 0.78);
}

static inline void FillEye(DressedMesh* m)
{
    *m = (DressedMesh){.name = "Eye", .count = EYE_VERTICES};
    for (int i = 0; i < EYE_VERTICES; ++i) {
        const float at[3] = {0.2F, 0.6F, 0};
        memcpy(m->positions[i], at, sizeof(at));
        m->positions[i][i / 2] += i % 2 == 0 ? 0.03F : -0.03F;
    }
    for (int i = 0; i < 8; ++i) { // an octahedron: one corner of each axis
        uint16_t x = (uint16_t)(i & 1), y = (uint16_t)(2 + (i >> 1 & 1)), z = (uint16_t)(4 + (i >> 2 & 1));
        bool even = ((i ^ i >> 1 ^ i >> 2) & 1) == 0;
        const uint16_t corners[3] = {x, even ? y : z, even ? z : y};
        memcpy(m->indices + m->indexCount, corners, sizeof(corners));
        m->indexCount += 3;
    }
}

// What a target moves a vertex of the body by at a weight of 1: "smile" bulges the top third, "frown" narrows it.
static inline void DressedTarget(const float* p, int target, float* offset)
{
    float size = p[1] > 0.66F ? (target == 0 ? 0.2F : -0.1F) : 0;
    offset[0] = size * p[0];
    offset[1] = 0;
    offset[2] = size * p[2];
}

static inline char* PutDressedMesh(GltfWriter* w, const DressedDef* def, const DressedMesh* m, char* at)
{
    static float weights[BODY_VERTICES][4], offsets[2][BODY_VERTICES][3];
    static uint8_t joints[BODY_VERTICES][4];
    memset(weights, 0, sizeof(weights));
    memset(joints, 0, sizeof(joints));
    for (int v = 0; v < m->count; ++v) {
        float along = fminf(m->positions[v][1] / 0.4F, 1.999F);
        joints[v][0] = (uint8_t)along;
        joints[v][1] = (uint8_t)(joints[v][0] + 1);
        weights[v][1] = along - floorf(along);
        weights[v][0] = 1 - weights[v][1];
        DressedTarget(m->positions[v], 0, offsets[0][v]);
        DressedTarget(m->positions[v], 1, offsets[1][v]);
    }
    bool morphs = def->morphs && strcmp(m->name, "Body") == 0;
    int position = AddArray(w, m->positions, (size_t)m->count * 12, 5126, "VEC3", m->count);
    at += sprintf(at, "{\"name\":\"%s\",\"primitives\":[{\"attributes\":{\"POSITION\":%d", m->name, position);
    if (!def->bare) {
        at += sprintf(at, ",\"JOINTS_0\":%d", AddArray(w, joints, (size_t)m->count * 4, 5121, "VEC4", m->count));
        at += sprintf(at, ",\"WEIGHTS_0\":%d", AddArray(w, weights, (size_t)m->count * 16, 5126, "VEC4", m->count));
    }
    if (def->woven) {
        static float uvs[BODY_VERTICES][2];
        for (int v = 0; v < m->count; ++v) {
            uvs[v][0] = (float)(v % BODY_SEGMENTS) / BODY_SEGMENTS;
            uvs[v][1] = m->positions[v][1];
        }
        at += sprintf(at, ",\"TEXCOORD_0\":%d", AddArray(w, uvs, (size_t)m->count * 8, 5126, "VEC2", m->count));
    }
    int indices = AddArray(w, m->indices, (size_t)m->indexCount * 2, 5123, "SCALAR", m->indexCount);
    at += sprintf(at, "},\"indices\":%d%s", indices, def->woven ? ",\"material\":1" : "");
    if (morphs) {
        int smile = AddArray(w, offsets[0], (size_t)m->count * 12, 5126, "VEC3", m->count);
        int frown = AddArray(w, offsets[1], (size_t)m->count * 12, 5126, "VEC3", m->count);
        at += sprintf(at, ",\"targets\":[{\"POSITION\":%d},{\"POSITION\":%d}]", smile, frown);
    }
    return at + sprintf(at, "}]%s}",
                    morphs ? ",\"weights\":[0,0.25],\"extras\":{\"targetNames\":[\"smile\",\"frown\"]}" : "");
}

// The bulk of the document: nodes, meshes, skin, animation.
static inline void PutDressed(GltfWriter* w, const DressedDef* def, int meshCount, const DressedMesh* meshes)
{
    char* at = w->json + strlen(w->json);
    int first = def->bare ? 0 : DRESSED_JOINTS;
    at += sprintf(at, "\"nodes\":[");
    for (int j = 0; j < first; ++j) {
        at += sprintf(at, "%s{\"name\":\"J%d\",\"translation\":[0,%g,0]", j > 0 ? "," : "", j, j > 0 ? 0.4 : 0.0);
        at += j + 1 < first ? sprintf(at, ",\"children\":[%d]}", j + 1) : sprintf(at, "}");
    }
    for (int m = 0; m < meshCount; ++m) {
        at += sprintf(at, "%s{\"name\":\"%s\",\"mesh\":%d%s}", first + m > 0 ? "," : "", meshes[m].name, m,
            def->bare ? "" : ",\"skin\":0");
    }
    at += sprintf(at, "],\"meshes\":[");
    for (int m = 0; m < meshCount; ++m) {
        at += sprintf(at, m > 0 ? "," : "");
        at = PutDressedMesh(w, def, &meshes[m], at);
    }
    at += sprintf(at, "],");
    if (def->woven) {
        int picture = AddArray(w, DRESSED_PICTURE, sizeof(DRESSED_PICTURE), 5121, "SCALAR", sizeof(DRESSED_PICTURE));
        at += sprintf(at,
            "\"images\":[{\"bufferView\":%d,\"mimeType\":\"image/png\"}],\"samplers\":[{},{\"magFilter\":9728}],"
            "\"textures\":[{},{\"source\":0,\"sampler\":1}],\"extensionsUsed\":[\"KHR_materials_sheen\"],"
            "\"materials\":[{\"name\":\"Plain\"},{\"name\":\"Linen\",\"doubleSided\":true,"
            "\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":1},\"roughnessFactor\":0.9},"
            "\"normalTexture\":{\"index\":1,\"texCoord\":1},\"extensions\":{\"KHR_materials_sheen\":{"
            "\"sheenColorTexture\":{\"index\":1}}}}],",
            picture);
    }
    if (!def->bare) {
        float binds[DRESSED_JOINTS][16] = {{0}};
        for (int j = 0; j < DRESSED_JOINTS; ++j) {
            binds[j][0] = binds[j][5] = binds[j][10] = binds[j][15] = 1;
            binds[j][13] = -0.4F * (float)j;
        }
        int bind = AddArray(w, binds, sizeof(binds), 5126, "MAT4", DRESSED_JOINTS);
        at += sprintf(at, "\"skins\":[{\"joints\":[0,1,2],\"inverseBindMatrices\":%d}],", bind);
    }
    if (def->moves) {
        const float times[5] = {0, 0.25F, 0.5F, 0.75F, 1}, half = 0.3F;
        const float turns[5][4] = {
            {0, 0, 0, 1}, {0, 0, sinf(half), cosf(half)}, {0, 0, 0, 1}, {0, 0, -sinf(half), cosf(half)}, {0, 0, 0, 1}};
        const float weights[5][2] = {{0, 0.25F}, {1, 0.25F}, {0.5F, 0.25F}, {0, 0.25F}, {0, 0.25F}};
        int input = AddArray(w, times, sizeof(times), 5126, "SCALAR", 5);
        int output = AddArray(w, turns, sizeof(turns), 5126, "VEC4", 5);
        at += sprintf(at, "\"animations\":[{\"name\":\"swing\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":1,"
                          "\"path\":\"rotation\"}}");
        at += def->morphs ? sprintf(at, ",{\"sampler\":1,\"target\":{\"node\":%d,\"path\":\"weights\"}}", first) : 0;
        at += sprintf(at, "],\"samplers\":[{\"input\":%d,\"output\":%d}", input, output);
        at += def->morphs ? sprintf(at, ",{\"input\":%d,\"output\":%d}", input,
                                AddArray(w, weights, sizeof(weights), 5126, "SCALAR", 10))
                          : 0;
        sprintf(at, "]}],");
    }
}

// Writes the file and returns its path, which stays valid until the next call.
static inline const char* WriteDressed(const char* name, const DressedDef* def)
{
    static char path[512];
    static DressedMesh meshes[3];
    int count = 0;
    GltfWriter* w = calloc(1, sizeof(*w));
    if (def->body) {
        FillBody(&meshes[count++]);
    }
    if (def->sleeve) {
        FillSleeve(&meshes[count++]);
    }
    if (def->eye) {
        FillEye(&meshes[count++]);
    }
    char* at = w->json + sprintf(w->json, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[");
    for (int m = 0; m < count + !def->bare; ++m) { // the first joint and the meshes
        int node = def->bare ? m : m == 0 ? 0 : DRESSED_JOINTS + m - 1;
        at += sprintf(at, m > 0 ? ",%d" : "%d", node);
    }
    sprintf(at, "]}],");
    PutDressed(w, def, count, meshes);
    w->size = (w->size + 3) & ~(size_t)3;
    sprintf(w->json + strlen(w->json), "\"accessors\":[%s],\"bufferViews\":[%s],\"buffers\":[{\"byteLength\":%zu}]}",
        w->accessors, w->views, w->size);
    snprintf(path, sizeof(path), "%s/dressed_%ld_%s.glb", JN_BINARY_DIR, (long)getpid(), name);
    WriteGlb(path, w);
    free(w);
    return path;
}
