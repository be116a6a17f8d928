// Characters made of small cubes, for tests of the volume: any shape, with as many vertices as a test needs.
#pragma once

#include "helpers/small_surface.h"

enum { VOXELS = 40 };

typedef struct Voxels {
    double size; // of a cube
    bool filled[VOXELS][VOXELS][VOXELS];
} Voxels;

static inline void FillVoxels(Voxels* v, int x0, int y0, int z0, int x1, int y1, int z1)
{
    for (int x = x0; x < x1; ++x) {
        for (int y = y0; y < y1; ++y) {
            for (int z = z0; z < z1; ++z) {
                v->filled[x][y][z] = true;
            }
        }
    }
}

static inline bool IsFilled(const Voxels* v, const int at[3])
{
    for (int i = 0; i < 3; ++i) {
        if (at[i] < 0 || at[i] >= VOXELS) {
            return false;
        }
    }
    return v->filled[at[0]][at[1]][at[2]];
}

// Adds the outer faces of the cubes, two triangles each.
static inline void AddVoxels(jnaCharacter* c, const Voxels* v)
{
    enum { SIDE = VOXELS + 1 };
    int32_t* number = malloc(sizeof(int32_t) * SIDE * SIDE * SIDE);
    memset(number, 0xff, sizeof(int32_t) * SIDE * SIDE * SIDE);
    strcpy(c->name, "test");
    for (int i = 0; i < VOXELS * VOXELS * VOXELS * 6; ++i) {
        int face = i % 6, axis = face / 2, up = face % 2, cell = i / 6;
        int at[3] = {cell % VOXELS, cell / VOXELS % VOXELS, cell / VOXELS / VOXELS}, beside[3];
        memcpy(beside, at, sizeof(beside));
        beside[axis] += up ? 1 : -1;
        if (!IsFilled(v, at) || IsFilled(v, beside)) {
            continue;
        }
        int32_t corners[4];
        for (int k = 0; k < 4; ++k) {
            int p[3] = {at[0], at[1], at[2]}, a = k == 1 || k == 2, b = k >= 2;
            p[axis] += up;
            p[(axis + 1) % 3] += up ? a : b;
            p[(axis + 2) % 3] += up ? b : a;
            int32_t* entry = &number[(p[2] * SIDE + p[1]) * SIDE + p[0]];
            if (*entry < 0) {
                *entry = c->vertexCount;
                AddVertex(c, v->size * p[0], v->size * p[1], v->size * p[2]);
            }
            corners[k] = *entry;
        }
        AddTriangle(c, corners[0], corners[1], corners[2]);
        AddTriangle(c, corners[0], corners[2], corners[3]);
    }
    free(number);
}

// A joint at a point, under the first one; influences are the test's to set.
static inline void AddJointAt(jnaCharacter* c, const char* name, double x, double y, double z)
{
    c->joints = realloc(c->joints, sizeof(*c->joints) * ((size_t)c->jointCount + 1));
    jnaJoint* joint = &c->joints[c->jointCount++];
    *joint = (jnaJoint){.parent = c->jointCount > 1 ? 0 : -1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    snprintf(joint->name, sizeof(joint->name), "%s", name);
    const double place[3] = {x, y, z};
    for (int i = 0; i < 3; ++i) {
        float root = joint->parent < 0 ? 0.0f : -c->joints[0].inverseBind[4 * i + 3];
        joint->translation[i] = (float)place[i] - root;
        joint->inverseBind[5 * i] = 1;
        joint->inverseBind[4 * i + 3] = -(float)place[i];
    }
}

// All influences on the first joint.
static inline void AddInfluences(jnaCharacter* c)
{
    c->influences = calloc((size_t)c->vertexCount, sizeof(*c->influences));
    for (int v = 0; v < c->vertexCount; ++v) {
        c->influences[v].weights[0] = 1;
    }
}

// The larger weight first.
static inline void Follow(jnaCharacter* c, int vertex, int joint, float weight, int other)
{
    bool first = weight >= 0.5f;
    c->influences[vertex] =
        (jnaInfluences){.joints = {(uint16_t)(first ? joint : other), (uint16_t)(first ? other : joint)},
            .weights = {first ? weight : 1 - weight, first ? 1 - weight : weight}};
}
