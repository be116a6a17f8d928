// An asset made in memory, without a file: a tube along a chain of joints, smooth, some vertices without springs.
#pragma once

#include "helpers/support.h"

#include "runtime/rig_kernels.h"

#include "jounce/asset.h"

enum { TUBE_RINGS = 20, TUBE_SEGMENTS = 16, TUBE_VERTICES = TUBE_RINGS * TUBE_SEGMENTS, TUBE_JOINTS = 5 };
enum { TUBE_TRIANGLES = 2 * (TUBE_RINGS - 1) * TUBE_SEGMENTS, TUBE_BLOCKS = TUBE_VERTICES / JN_LANES };
enum { TUBE_ENTRIES = 1 + 3 * 6 }; // of a ring: its vertex, and a walk of its own for every triangle

typedef struct Tube {
    jnAsset asset;
    jnAssetJoint joints[TUBE_JOINTS];
    _Alignas(64) float rest[TUBE_VERTICES * 4];
    uint32_t starts[TUBE_BLOCKS + 1];
    uint16_t influenceJoints[TUBE_VERTICES * 2];
    float weights[TUBE_VERTICES * 2], stiffness[TUBE_VERTICES], damping[TUBE_VERTICES];
    int32_t map[TUBE_VERTICES], corners[TUBE_TRIANGLES * 3];
    uint32_t ringStarts[TUBE_VERTICES / 4 + 1], rings[TUBE_VERTICES * TUBE_ENTRIES];
} Tube;

static inline void FillTubeVertex(Tube* t, int v)
{
    int ring = v / TUBE_SEGMENTS, segment = v % TUBE_SEGMENTS;
    double angle = 2 * 3.14159265358979 * segment / TUBE_SEGMENTS, at = (TUBE_JOINTS - 1.001) * ring / (TUBE_RINGS - 1);
    const float rest[4] = {(float)(0.2 * cos(angle)), (float)(0.3 * at), (float)(-0.2 * sin(angle)), 1};
    memcpy(t->rest + 4 * v, rest, sizeof(rest));
    t->influenceJoints[2 * v] = (uint16_t)at;
    t->influenceJoints[2 * v + 1] = (uint16_t)(at + 1);
    t->weights[2 * v + 1] = (float)(at - floor(at));
    t->weights[2 * v] = 1 - t->weights[2 * v + 1];
    t->stiffness[v] = 400 + (float)v;
    t->damping[v] = 6;
    t->map[v] = v;
}

static inline Tube* MakeTube(jnSkinning skinning)
{
    static Tube tube;
    Tube* t = &tube;
    uint32_t counts[TUBE_VERTICES] = {0};
    memset(t, 0, sizeof(*t));
    for (int j = 0; j < TUBE_JOINTS; ++j) {
        t->joints[j] = (jnAssetJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        t->joints[j].translation[1] = j > 0 ? 0.3f : 0;
        t->joints[j].inverseBind[0] = t->joints[j].inverseBind[5] = t->joints[j].inverseBind[10] = 1;
        t->joints[j].inverseBind[7] = -0.3f * (float)j;
    }
    for (int v = 0; v < TUBE_VERTICES; ++v) {
        FillTubeVertex(t, v);
        t->starts[v / JN_LANES + 1] = (uint32_t)(2 * (v / JN_LANES + 1));
        t->ringStarts[v / 4 + 1] = (uint32_t)(TUBE_ENTRIES * (v / 4 + 1));
    }
    for (int i = 0; i < TUBE_VERTICES * TUBE_ENTRIES; ++i) {
        t->rings[i] = (uint32_t)(i / (4 * TUBE_ENTRIES) * 4 + i % 4);
    }
    for (int i = 0; i < TUBE_TRIANGLES * 3; ++i) {
        static const int ring[6] = {0, 0, 1, 0, 1, 1}, segment[6] = {0, 1, 1, 0, 1, 0};
        int cell = i / 6, column = (cell % TUBE_SEGMENTS + segment[i % 6]) % TUBE_SEGMENTS;
        t->corners[i] = (cell / TUBE_SEGMENTS + ring[i % 6]) * TUBE_SEGMENTS + column;
    }
    for (int i = 0; i < TUBE_TRIANGLES * 3; ++i) {
        uint32_t v = (uint32_t)t->corners[i], at = 4 * (TUBE_ENTRIES * (v / 4) + 1 + 3 * counts[v]++) + v % 4;
        t->rings[at] = (uint32_t)t->corners[i / 3 * 3 + (i + 1) % 3];
        t->rings[at + 4] = (uint32_t)t->corners[i / 3 * 3 + (i + 2) % 3];
    }
    t->asset = (jnAsset){.name = "tube",
        .jointCount = TUBE_JOINTS,
        .vertexCount = TUBE_VERTICES,
        .fileVertexCount = TUBE_VERTICES,
        .triangleCount = TUBE_TRIANGLES,
        .normalCount = TUBE_VERTICES,
        .springCount = TUBE_VERTICES - 3 * JN_LANES,
        .blockCount = TUBE_BLOCKS,
        .skinning = skinning,
        .curve = 2,
        .timing = 1,
        .rate = 30,
        .joints = t->joints,
        .rest = t->rest,
        .influenceStarts = t->starts,
        .influenceJoints = t->influenceJoints,
        .influenceWeights = t->weights,
        .stiffness = t->stiffness,
        .damping = t->damping,
        .weld = t->map,
        .fileNormals = t->map,
        .triangles = t->corners,
        .ringStarts = t->ringStarts,
        .rings = t->rings,
        .weldIsIdentity = true,
        .normalsAreIdentity = true};
    return t;
}
