// A box on two joints: eight vertices, 24 in the file (hard edges and UVs), one clip. Small enough to be cut at every
// length.
#pragma once

#include "helpers/support.h"

#include "asset/asset_writer.h"

enum { BOX_FRAMES = 5 };

typedef struct Box {
    jnaCharacter character;
    jnaClip clip;
    float stiffness[8], damping[8];
    jnaAssetDef def;
} Box;

static inline void FillBoxSurface(jnaCharacter* c)
{
    static const int sides[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
    for (int v = 0; v < 8; ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            c->positions[3 * v + axis] = (v >> axis & 1) != 0 ? 1.0f : -1.0f;
        }
        bool upper = c->positions[3 * v + 1] > 0;
        c->influences[v] = (jnaInfluences){.joints = {0, 1}, .weights = {0.25f, 0.75f}};
        if (!upper) {
            c->influences[v] = (jnaInfluences){.joints = {0}, .weights = {1}};
        }
    }
    for (int side = 0; side < 6; ++side) {
        static const int32_t order[6] = {0, 1, 2, 0, 2, 3};
        for (int i = 0; i < 4; ++i) {
            int f = 4 * side + i;
            c->weld[f] = sides[side][i];
            c->fileNormals[3 * f + side / 2] = side % 2 == 0 ? 1.0f : -1.0f;
            c->fileUvs[2 * f] = (float)i / 4;
            c->fileUvs[2 * f + 1] = (float)side / 6;
        }
        for (int i = 0; i < 6; ++i) {
            c->triangles[6 * side + i] = 4 * side + order[i];
        }
    }
}

static inline Box* MakeBox(void)
{
    static Box box;
    memset(&box, 0, sizeof(box));
    jnaCharacter* c = &box.character;
    *c = (jnaCharacter){
        .name = "box", .jointCount = 2, .vertexCount = 8, .fileVertexCount = 24, .triangleCount = 12, .partCount = 1};
    assert_int_equal(jnaCharacter_Allocate(c, true, NULL), jn_ok);
    FillBoxSurface(c);
    for (int j = 0; j < 2; ++j) {
        c->joints[j] = (jnaJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        snprintf(c->joints[j].name, JNA_NAME_LENGTH, j == 0 ? "lower" : "upper");
        c->joints[j].inverseBind[0] = c->joints[j].inverseBind[5] = c->joints[j].inverseBind[10] = 1;
    }
    c->parts[0] = (jnaPart){.name = "box", .material = "card", .color = {1, 0.5f, 0.25f, 1}, .triangleCount = 12};
    box.clip = (jnaClip){.name = "nod", .rate = 30, .frameCount = BOX_FRAMES, .jointCount = 2, .looping = true};
    assert_int_equal(jnaClip_Allocate(&box.clip, true, NULL), jn_ok);
    for (int i = 0; i < 2 * BOX_FRAMES; ++i) {
        double half = i % 2 == 1 ? 0.3 * sin(2 * 3.14159265358979 * (i / 2) / BOX_FRAMES) : 0;
        box.clip.rotations[4 * i] = (float)sin(half);
        box.clip.rotations[4 * i + 3] = (float)cos(half);
        box.clip.scales[3 * i] = box.clip.scales[3 * i + 1] = box.clip.scales[3 * i + 2] = 1;
    }
    for (int v = 0; v < 8; ++v) {
        box.stiffness[v] = 600;
        box.damping[v] = 10;
    }
    box.def = jnaDefaultAssetDef();
    box.def.character = c;
    box.def.clips = &box.clip;
    box.def.clipCount = 1;
    box.def.stiffness = box.stiffness;
    box.def.damping = box.damping;
    return &box;
}

static inline void DestroyBox(Box* box)
{
    jnaDestroyCharacter(&box->character);
    jnaDestroyClip(&box->clip);
}
