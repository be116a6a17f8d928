// Small surfaces as characters, for the tests of the volume: spheres, boxes, single faces.
#pragma once

#include "character/character.h"
#include "helpers/support.h"
#include "volume/mesh_internal.h"

#include <unistd.h>

#define DATA JN_SOURCE_DIR "/../shared/data/"

enum { SPHERE_RINGS = 12, SPHERE_SECTORS = 24 };

// Skips a test that needs the data beside the project.
#define NEEDS_DATA(file)                                                                                               \
    do {                                                                                                               \
        if (access(DATA file, R_OK) != 0) {                                                                            \
            print_message("skipped: no shared data\n");                                                                \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

static inline void AddVertex(jnaCharacter* c, double x, double y, double z)
{
    c->positions = realloc(c->positions, 3 * sizeof(float) * ((size_t)c->vertexCount + 1));
    c->weld = realloc(c->weld, sizeof(int32_t) * ((size_t)c->vertexCount + 1));
    float* p = c->positions + 3 * c->vertexCount;
    p[0] = (float)x;
    p[1] = (float)y;
    p[2] = (float)z;
    c->weld[c->vertexCount] = c->vertexCount;
    c->fileVertexCount = ++c->vertexCount;
}

static inline void AddTriangle(jnaCharacter* c, int a, int b, int d)
{
    c->triangles = realloc(c->triangles, 3 * sizeof(int32_t) * ((size_t)c->triangleCount + 1));
    int32_t* t = c->triangles + 3 * c->triangleCount++;
    t[0] = a;
    t[1] = b;
    t[2] = d;
}

// A sphere around (x, y, z), outward, or inward where the radius is negative.
static inline void AddSphere(jnaCharacter* c, double x, double y, double z, double radius)
{
    int first = c->vertexCount;
    const double pi = 3.14159265358979323846;
    double r = fabs(radius);
    strcpy(c->name, "test");
    AddVertex(c, x, y + r, z);
    for (int i = 1; i < SPHERE_RINGS; ++i) {
        for (int k = 0; k < SPHERE_SECTORS; ++k) {
            double a = pi * i / SPHERE_RINGS, b = 2 * pi * k / SPHERE_SECTORS;
            AddVertex(c, x + r * sin(a) * cos(b), y + r * cos(a), z - r * sin(a) * sin(b));
        }
    }
    AddVertex(c, x, y - r, z);
    int start = c->triangleCount, last = c->vertexCount - 1;
    for (int k = 0; k < SPHERE_SECTORS; ++k) {
        int next = (k + 1) % SPHERE_SECTORS;
        AddTriangle(c, first, first + 1 + k, first + 1 + next);
        for (int i = 0; i + 2 < SPHERE_RINGS; ++i) {
            int row = first + 1 + i * SPHERE_SECTORS, below = row + SPHERE_SECTORS;
            AddTriangle(c, row + k, below + k, below + next);
            AddTriangle(c, row + k, below + next, row + next);
        }
        int row = first + 1 + (SPHERE_RINGS - 2) * SPHERE_SECTORS;
        AddTriangle(c, row + k, last, row + next);
    }
    for (int t = start; t < c->triangleCount && radius < 0; ++t) {
        int32_t other = c->triangles[3 * t + 1];
        c->triangles[3 * t + 1] = c->triangles[3 * t + 2];
        c->triangles[3 * t + 2] = other;
    }
}

static inline void AddBox(jnaCharacter* c, const double low[3], const double high[3])
{
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4}, {2, 6, 3},
        {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    int first = c->vertexCount;
    strcpy(c->name, "test");
    for (int k = 0; k < 8; ++k) {
        AddVertex(c, k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]);
    }
    for (int f = 0; f < 12; ++f) {
        AddTriangle(c, first + faces[f][0], first + faces[f][1], first + faces[f][2]);
    }
}

// One joint at the middle of the vertices that moves them all.
static inline void AddJoint(jnaCharacter* c)
{
    c->jointCount = 1;
    c->joints = calloc(1, sizeof(*c->joints));
    c->joints[0] = (jnaJoint){.name = "root", .parent = -1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    for (int i = 0; i < 3; ++i) {
        double sum = 0;
        for (int v = 0; v < c->vertexCount; ++v) {
            sum += (double)c->positions[3 * v + i];
        }
        c->joints[0].translation[i] = (float)(sum / c->vertexCount);
        c->joints[0].inverseBind[5 * i] = 1;
        c->joints[0].inverseBind[4 * i + 3] = -c->joints[0].translation[i];
    }
    c->influences = calloc((size_t)c->vertexCount, sizeof(*c->influences));
    for (int v = 0; v < c->vertexCount; ++v) {
        c->influences[v].weights[0] = 1;
    }
}

// Volume that the character's own triangles enclose.
static inline double EnclosedVolume(const jnaCharacter* c)
{
    double sum = 0;
    for (int t = 0; t < c->triangleCount; ++t) {
        double p[3][3];
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < 3; ++i) {
                p[k][i] = (double)c->positions[3 * c->weld[c->triangles[3 * t + k]] + i];
            }
        }
        sum += jnaVolume6((double[3]){0, 0, 0}, p[0], p[1], p[2]) / 6;
    }
    return sum;
}

// Every vertex of the skin must come out where the character has it.
static inline double GreatestSkinError(const jnaCharacter* c, const jnaVolume* v)
{
    double greatest = 0;
    for (int s = 0; s < v->vertexCount; ++s) {
        for (int i = 0; i < 3 && v->skinTetrahedra[s] >= 0; ++i) {
            double sum = v->skinOffsets[3 * s + i];
            for (int k = 0; k < 4; ++k) {
                sum += v->skinWeights[4 * s + k] * v->nodes[3 * v->tetrahedra[4 * v->skinTetrahedra[s] + k] + i];
            }
            greatest = fmax(greatest, fabs(sum - (double)c->positions[3 * s + i]));
        }
    }
    return greatest;
}

static inline bool HasNote(const jnaNotes* notes, const char* words)
{
    for (int i = 0; i < notes->count; ++i) {
        if (strstr(notes->lines[i], words) != NULL) {
            return true;
        }
    }
    return false;
}
