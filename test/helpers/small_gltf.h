// A small rigged tube as a .glb file, with faults on demand: what the import tests feed on.
#pragma once

#include "jounce/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Five rings of four corners; the first corner of each ring is there twice, with another UV, as at a seam.
enum { RINGS = 5, COLUMNS = 5, TUBE_FILE_VERTICES = RINGS * COLUMNS, TUBE_VERTICES = RINGS * (COLUMNS - 1) };
enum { MAX_TUBE_JOINTS = 12 };
#define TUBE_LOOP 0.7083333

typedef struct TubeDef {
    int joints;                // a chain of joints, one unit of height apart over a height of 2
    const char* armature;      // JSON of the node above the joints, "" for none
    const char* extraNodes;    // JSON of more nodes, each after a comma
    const char* sceneNodes;    // more indices of the scene, each after a comma
    const char* animation;     // "rotation": joint 1 turns 90 degrees about Z in a second; "loop": 45 degrees and back
                               // in TUBE_LOOP seconds; "still", "zero" or NULL
    const char* interpolation; // of its keys: "STEP", "CUBICSPLINE" with slopes that swing, see TubeSlope; NULL: linear
    const char* const* names;  // of the joints, "J0" and so on where NULL
    const char* secondJoints;  // nodes of the second skin, "4,5"; NULL: those of the first
    const char* extraMeshes;
    bool secondSkin;      // the same joints with bind matrices that double the surface and shift it by joint
    const char* required; // an extension the file needs, NULL for none
    bool integers;        // weights as bytes, keys as shorts, both normalised
    bool twice;           // two joints, each listed twice with shares of its weight
    bool painted;         // COLOR_0, _JIGGLE and _BROKEN, see AddPaint
    bool robot;           // of two separate parts, each on a joint of its own
    bool morph;           // a morph target `swell` of offsets like the positions
    bool bare;            // the last two rings have no weights
    bool hat;             // the first extra node hangs on the last joint
    bool noSkin, nan, outOfRange, cycle, flat, allWeights, noBind;
} TubeDef;

typedef struct GltfWriter {
    unsigned char bytes[1 << 16];
    size_t size;
    char views[8192], accessors[8192], json[32768];
    int count;
} GltfWriter;

// A negative component is a normalised one.
static inline int AddArray(GltfWriter* w, const void* data, size_t size, int component, const char* type, int count)
{
    w->size = (w->size + 3) & ~(size_t)3;
    memcpy(w->bytes + w->size, data, size);
    char* views = w->views + strlen(w->views);
    char* accessors = w->accessors + strlen(w->accessors);
    const char* comma = w->count > 0 ? "," : "";
    sprintf(views, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", comma, w->size, size);
    sprintf(accessors, "%s{\"bufferView\":%d,\"componentType\":%d,\"type\":\"%s\",\"count\":%d%s%s}", comma, w->count,
        abs(component), type, count, component < 0 ? ",\"normalized\":true" : "",
        w->count == 0 ? ",\"min\":[-1,0,-1],\"max\":[1,2,1]" : "");
    w->size += size;
    return w->count++;
}

static inline void TubePosition(int vertex, float* p)
{
    int ring = vertex / COLUMNS, column = vertex % COLUMNS % (COLUMNS - 1);
    const float corners[4][2] = {{0.3F, 0.3F}, {-0.3F, 0.3F}, {-0.3F, -0.3F}, {0.3F, -0.3F}};
    p[0] = corners[column][0];
    p[1] = 0.5F * (float)ring;
    p[2] = corners[column][1];
}

// Weight of a joint on a vertex: joints 0 and 1 share by height, or all joints in falling shares.
static inline float TubeWeight(const TubeDef* def, int vertex, int joint)
{
    if (def->allWeights) {
        float sum = 0;
        for (int j = 0; j < def->joints; ++j) {
            sum += 1.0F / (float)(j + 1);
        }
        return 1.0F / (float)(joint + 1) / sum;
    }
    if (def->bare && vertex / COLUMNS >= RINGS - 2) {
        return 0;
    }
    float upper = 0.25F * (float)(vertex / COLUMNS);
    upper = def->robot ? (float)(vertex / COLUMNS > 2) : upper;
    return joint == 0 ? 1 - upper : joint == 1 ? upper : 0;
}

// Slope of the z of the quaternion at a key of a cubic animation, a second.
static inline float TubeSlope(int key)
{
    return key == 1 ? -1.5F : 0.5F;
}

static inline void AddAnimation(GltfWriter* w, const TubeDef* def, char* json)
{
    float times[3] = {0, 0.5F, 1};
    bool zero = strcmp(def->animation, "zero") == 0, still = strcmp(def->animation, "still") == 0;
    bool loop = strcmp(def->animation, "loop") == 0;
    float half = still || loop ? 0 : sqrtf(0.5F), eighth = still ? 0 : sinf(3.14159265F / 8);
    float turns[3][4] = {
        {0, 0, 0, 1}, {0, 0, eighth, sqrtf(1 - eighth * eighth)}, {0, 0, half, sqrtf(1 - half * half)}};
    int count = zero ? 1 : 3;
    for (int i = 0; loop && i < 3; ++i) {
        times[i] = (float)(0.5 * i * TUBE_LOOP);
    }
    int input = AddArray(w, times, sizeof(float) * (size_t)count, 5126, "SCALAR", count);
    int16_t shorts[3][4];
    for (int i = 0; i < 12; ++i) {
        shorts[i / 4][i % 4] = (int16_t)lroundf(32767 * turns[i / 4][i % 4]);
    }
    if (def->interpolation != NULL && strcmp(def->interpolation, "CUBICSPLINE") == 0) {
        float spline[3][3][4] = {{{0}}};
        for (int k = 0; k < 3; ++k) {
            spline[k][0][2] = spline[k][2][2] = TubeSlope(k);
            memcpy(spline[k][1], turns[k], sizeof(turns[k]));
        }
        int cubic = AddArray(w, spline, sizeof(spline), 5126, "VEC4", 9);
        sprintf(json,
            ",\"animations\":[{\"name\":\"wave|top\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,"
            "\"path\":\"rotation\"}}],\"samplers\":[{\"input\":%d,\"output\":%d,\"interpolation\":\"CUBICSPLINE\"}]}]",
            input, cubic);
        return;
    }
    int output = def->integers ? AddArray(w, shorts, 8 * (size_t)count, -5122, "VEC4", count)
                               : AddArray(w, turns, 16 * (size_t)count, 5126, "VEC4", count);
    sprintf(json,
        ",\"animations\":[{\"name\":\"wave|top\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,"
        "\"path\":\"rotation\"}}],\"samplers\":[{\"input\":%d,\"output\":%d,\"interpolation\":\"%s\"}]}]",
        input, output, def->interpolation != NULL ? def->interpolation : "LINEAR");
}

// Nodes: 0 armature (or a plain one), 1 to joints the chain, joints + 1 the mesh, then the extra ones.
static inline void AddNodes(GltfWriter* w, const TubeDef* def)
{
    char* at = w->json + strlen(w->json);
    at += sprintf(at, "\"nodes\":[{\"name\":\"Armature\",\"children\":[1]%s}", def->armature);
    for (int j = 0; j < def->joints; ++j) {
        char number[16];
        snprintf(number, sizeof(number), "J%d", j);
        const char* name = def->names != NULL ? def->names[j] : number;
        at += sprintf(at, ",{\"name\":\"%s\",\"translation\":[0,%d,0]", name, j > 0);
        if (j + 1 < def->joints) {
            at += sprintf(at, ",\"children\":[%d]", j + 2);
        } else if (def->hat) {
            at += sprintf(at, ",\"children\":[%d]", def->joints + 2);
        } else if (def->cycle) {
            at += sprintf(at, ",\"children\":[1]");
        }
        at += sprintf(at, "}");
    }
    sprintf(at, ",{\"name\":\"Tube\",\"mesh\":0%s}%s],", def->noSkin ? "" : ",\"skin\":0",
        def->extraNodes != NULL ? def->extraNodes : "");
}

static inline int AddTriangles(GltfWriter* w, const TubeDef* def)
{
    uint16_t triangles[(RINGS - 1) * (COLUMNS - 1) * 6], *at = triangles;
    for (int r = 0; r + 1 < RINGS; ++r) {
        for (int c = 0; c + 1 < COLUMNS && !(def->robot && r == 2); ++c) {
            uint16_t a = (uint16_t)(r * COLUMNS + c), b = (uint16_t)(a + 1);
            uint16_t quad[6] = {a, b, (uint16_t)(a + COLUMNS), b, (uint16_t)(b + COLUMNS), (uint16_t)(a + COLUMNS)};
            memcpy(at, quad, sizeof(quad));
            at += 6;
        }
    }
    return AddArray(w, triangles, (size_t)(at - triangles) * sizeof(*at), 5123, "SCALAR", (int)(at - triangles));
}

static inline int AddShares(GltfWriter* w, const TubeDef* def, float (*weights)[4])
{
    if (!def->integers) {
        return AddArray(w, weights, TUBE_FILE_VERTICES * 16, 5126, "VEC4", TUBE_FILE_VERTICES);
    }
    uint8_t bytes[TUBE_FILE_VERTICES * 4];
    for (int i = 0; i < TUBE_FILE_VERTICES * 4; ++i) {
        bytes[i] = (uint8_t)lroundf(255 * weights[i / 4][i % 4]);
    }
    return AddArray(w, bytes, sizeof(bytes), -5121, "VEC4", TUBE_FILE_VERTICES);
}

// COLOR_0 as bytes: red rises with the rings, green falls. _JIGGLE rises too, 0.1 lower and higher on the two sides of
// the seam. _BROKEN has a number that is none.
static inline int AddPaint(GltfWriter* w, char* json)
{
    uint8_t colors[TUBE_FILE_VERTICES][4];
    float jiggle[TUBE_FILE_VERTICES], broken[TUBE_FILE_VERTICES] = {0};
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        int ring = v / COLUMNS, column = v % COLUMNS;
        const uint8_t color[4] = {(uint8_t)(51 * ring), (uint8_t)(255 - 51 * ring), 0, 255};
        memcpy(colors[v], color, sizeof(color));
        jiggle[v] = 0.25F * (float)ring + (column == 0 ? -0.1F : column == COLUMNS - 1 ? 0.1F : 0);
    }
    broken[3] = NAN;
    int color = AddArray(w, colors, sizeof(colors), -5121, "VEC4", TUBE_FILE_VERTICES);
    int own = AddArray(w, jiggle, sizeof(jiggle), 5126, "SCALAR", TUBE_FILE_VERTICES);
    int bad = AddArray(w, broken, sizeof(broken), 5126, "SCALAR", TUBE_FILE_VERTICES);
    return sprintf(json, ",\"COLOR_0\":%d,\"_JIGGLE\":%d,\"_BROKEN\":%d", color, own, bad);
}

static inline void AddMesh(GltfWriter* w, const TubeDef* def)
{
    float positions[TUBE_FILE_VERTICES][3], uvs[TUBE_FILE_VERTICES][2], weights[TUBE_FILE_VERTICES][4];
    uint8_t joints[TUBE_FILE_VERTICES][4];
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        TubePosition(v, positions[v]);
        uvs[v][0] = (float)(v % COLUMNS) / (COLUMNS - 1);
        uvs[v][1] = (float)(v / COLUMNS) / (RINGS - 1);
        if (def->flat) {
            memset(positions[v], 0, sizeof(positions[v]));
            positions[v][1] = (float)(v / COLUMNS);
        }
    }
    positions[7][1] = def->nan ? NAN : positions[7][1];
    char* at = w->json + strlen(w->json);
    int position = AddArray(w, positions, sizeof(positions), 5126, "VEC3", TUBE_FILE_VERTICES);
    int uv = AddArray(w, uvs, sizeof(uvs), 5126, "VEC2", TUBE_FILE_VERTICES);
    at +=
        sprintf(at, "\"meshes\":[{\"name\":\"Tube\",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"TEXCOORD_0\":%d",
            position, uv);
    for (int set = 0; 4 * set < def->joints; ++set) {
        for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
            for (int k = 0; k < 4; ++k) {
                int joint = 4 * set + k;
                joints[v][k] = (uint8_t)(joint < def->joints ? joint : 0);
                weights[v][k] = joint < def->joints ? TubeWeight(def, v, joint) : 0;
                if (def->twice) {
                    const float shares[4] = {0.8F, 0.3F, 0.2F, 0.7F};
                    joints[v][k] = (uint8_t)(k % 2);
                    weights[v][k] = TubeWeight(def, v, k % 2) * shares[k];
                }
            }
        }
        joints[9][0] = def->outOfRange ? 77 : joints[9][0];
        at += sprintf(
            at, ",\"JOINTS_%d\":%d", set, AddArray(w, joints, sizeof(joints), 5121, "VEC4", TUBE_FILE_VERTICES));
        at += sprintf(at, ",\"WEIGHTS_%d\":%d", set, AddShares(w, def, weights));
    }
    at += def->painted ? AddPaint(w, at) : 0;
    at += sprintf(at, "},\"indices\":%d", AddTriangles(w, def));
    if (def->morph) {
        at += sprintf(at, ",\"targets\":[{\"POSITION\":%d}]", position);
    }
    at += sprintf(at, "}]");
    if (def->morph) {
        at += sprintf(at, ",\"extras\":{\"targetNames\":[\"swell\"]}");
    }
    sprintf(at, "}%s],", def->extraMeshes != NULL ? def->extraMeshes : "");
}

static inline void AddSkin(GltfWriter* w, const TubeDef* def)
{
    float matrices[MAX_TUBE_JOINTS][16] = {{0}}, wide[MAX_TUBE_JOINTS][16];
    for (int j = 0; j < def->joints; ++j) {
        for (int i = 0; i < 4; ++i) {
            matrices[j][5 * i] = 1;
        }
        matrices[j][13] = (float)-j;
    }
    int bind = AddArray(w, matrices, 64 * (size_t)def->joints, 5126, "MAT4", def->joints);
    memcpy(wide, matrices, sizeof(wide));
    for (int j = 0; j < def->joints; ++j) {
        wide[j][0] = wide[j][5] = wide[j][10] = 2;
        wide[j][12] = 0.25F * (float)j; // no one placement of the mesh explains both joints
    }
    int second = AddArray(w, wide, 64 * (size_t)def->joints, 5126, "MAT4", def->joints);
    char* at = w->json + strlen(w->json);
    char list[64] = "";
    for (int j = 0; j < def->joints; ++j) {
        sprintf(list + strlen(list), j > 0 ? ",%d" : "%d", j + 1);
    }
    char matricesKey[48] = "";
    if (!def->noBind) {
        sprintf(matricesKey, ",\"inverseBindMatrices\":%d", bind);
    }
    at += sprintf(at, "\"skins\":[{\"joints\":[%s]%s}", list, matricesKey);
    if (def->secondSkin) {
        bool own = def->secondJoints != NULL;
        at += sprintf(
            at, ",{\"joints\":[%s],\"inverseBindMatrices\":%d}", own ? def->secondJoints : list, own ? bind : second);
    }
    sprintf(at, "],");
}

// A document and its bytes as a .glb file.
static inline void WriteGlb(const char* path, GltfWriter* w)
{
    while (strlen(w->json) % 4 != 0) {
        strcat(w->json, " ");
    }
    uint32_t length = (uint32_t)strlen(w->json), size = (uint32_t)w->size, total = 12 + 8 + length + 8 + size;
    const uint32_t header[5] = {0x46546c67, 2, total, length, 0x4e4f534a}, chunk[2] = {size, 0x004e4942};
    FILE* file = fopen(path, "wb");
    if (file != NULL) {
        fwrite(header, 4, 5, file);
        fwrite(w->json, 1, length, file);
        fwrite(chunk, 4, 2, file);
        fwrite(w->bytes, 1, size, file);
        fclose(file);
    }
}

// Writes the tube to a file of its own and returns the path, which stays valid until the next call.
static inline const char* WriteTube(const char* name, const TubeDef* def)
{
    static char path[512];
    GltfWriter* w = calloc(1, sizeof(*w));
    sprintf(w->json, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,%d%s]}],", def->joints + 1,
        def->sceneNodes != NULL ? def->sceneNodes : "");
    if (def->required != NULL) {
        sprintf(w->json + strlen(w->json), "\"extensionsRequired\":[\"%s\"],", def->required);
    }
    AddNodes(w, def);
    AddMesh(w, def);
    if (!def->noSkin) {
        AddSkin(w, def);
    }
    char animation[512] = "";
    if (def->animation != NULL) {
        AddAnimation(w, def, animation);
    }
    w->size = (w->size + 3) & ~(size_t)3;
    char* at = w->json + strlen(w->json);
    at += sprintf(at, "\"accessors\":[%s],\"bufferViews\":[%s],\"buffers\":[{\"byteLength\":%zu}]%s}", w->accessors,
        w->views, w->size, animation);
    snprintf(path, sizeof(path), "%s/tube_%ld_%s.glb", JN_BINARY_DIR, (long)getpid(), name);
    WriteGlb(path, w);
    free(w);
    return path;
}
