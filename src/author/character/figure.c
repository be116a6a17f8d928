// Puts the built-in figure together: surface, joints, weights, charts.
#include "character/figure.h"

#include "character/figure_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void FillJoints(jnaCharacter* character)
{
    for (int j = 0; j < JOINT_COUNT; ++j) {
        const FigureJoint* from = &jnaFigureJoints[j];
        jnaJoint* joint = &character->joints[j];
        snprintf(joint->name, sizeof(joint->name), "%s", from->name);
        joint->parent = from->parent;
        joint->rotation[3] = 1;
        for (int i = 0; i < 3; ++i) {
            double parent = from->parent >= 0 ? jnaFigureJoints[from->parent].position[i] : 0;
            joint->translation[i] = (float)(from->position[i] - parent);
            joint->scale[i] = 1;
            joint->inverseBind[5 * i] = 1;
            joint->inverseBind[4 * i + 3] = (float)-from->position[i];
        }
    }
}

enum { SKIN, SHORTS, EYES, PART_COUNT };

// The part of a triangle. Corners on the border line do not say; where all three are on it, the middle does.
static int TrianglePart(const FigureMesh* mesh, const int32_t* corners)
{
    double middle[3] = {0, 0, 0}, side = 0;
    for (int c = 0; c < 3; ++c) {
        const double* p = mesh->positions + 3 * (size_t)corners[c];
        for (int i = 0; i < 3; ++i) {
            middle[i] += p[i] / 3;
        }
        side += mesh->bordered[corners[c]] ? 0 : jnaFigureBorder(p);
    }
    side = side != 0 ? side : jnaFigureBorder(middle);
    return side >= 0 ? SKIN : middle[1] > 1.4 ? EYES : SHORTS;
}

// Sorts the triangles by part and names the parts.
static void FillParts(const FigureMesh* mesh, jnaCharacter* character, int32_t* order)
{
    static const struct {
        const char* name;
        float color[4];
    } parts[PART_COUNT] = {
        {"skin", {0.640f, 0.400f, 0.280f, 1}},
        {"shorts", {0.055f, 0.165f, 0.235f, 1}},
        {"eyes", {0.020f, 0.018f, 0.018f, 1}},
    };
    int next = 0;
    for (int part = 0; part < PART_COUNT; ++part) {
        jnaPart* out = &character->parts[part];
        snprintf(out->name, sizeof(out->name), "%s", parts[part].name);
        snprintf(out->material, sizeof(out->material), "%s", parts[part].name);
        memcpy(out->color, parts[part].color, sizeof(out->color));
        out->firstTriangle = next;
        for (int t = 0; t < mesh->triangleCount; ++t) {
            if (TrianglePart(mesh, mesh->triangles + 3 * (size_t)t) == part) {
                order[next++] = t;
            }
        }
        out->triangleCount = next - out->firstTriangle;
    }
}

// Numbers the file vertices: one per vertex and chart, by vertex, then by chart.
// corners: [triangleCount][3], file vertices; weld: [3 * triangleCount] at most. first: [vertexCount] and next:
// [triangleCount][3] are scratch. Returns how many there are.
static int SplitVertices(
    const FigureMesh* mesh, const int* charts, int* first, int* next, int32_t* corners, int32_t* weld)
{
    int count = 0;
    memset(first, -1, sizeof(int) * (size_t)mesh->vertexCount);
    for (int h = 3 * mesh->triangleCount - 1; h >= 0; --h) {
        next[h] = first[mesh->triangles[h]];
        first[mesh->triangles[h]] = h;
    }
    for (int v = 0; v < mesh->vertexCount; ++v) {
        int start = count, chartAt[64];
        for (int h = first[v]; h >= 0; h = next[h]) {
            int at = start;
            while (at < count && chartAt[at - start] != charts[h / 3]) {
                ++at;
            }
            if (at == count) {
                chartAt[at - start] = charts[h / 3];
                weld[count++] = v;
            }
            corners[h] = at;
        }
    }
    return count;
}

// Area-weighted normals of the whole surface, seams included.
static jnResult FillNormals(const FigureMesh* mesh, jnaCharacter* character, jnError* error)
{
    double* normals = calloc((size_t)mesh->vertexCount, 3 * sizeof(double));
    if (normals == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the figure's normals");
    }
    for (int t = 0; t < mesh->triangleCount; ++t) {
        const int32_t* c = mesh->triangles + 3 * (size_t)t;
        double n[3];
        jnaAreaVector(mesh->positions + 3 * c[0], mesh->positions + 3 * c[1], mesh->positions + 3 * c[2], n);
        for (int k = 0; k < 9; ++k) {
            normals[3 * c[k / 3] + k % 3] += n[k % 3];
        }
    }
    for (int v = 0; v < character->fileVertexCount; ++v) {
        const double* n = normals + 3 * (size_t)character->weld[v];
        double length = jnaLength(n);
        for (int i = 0; i < 3; ++i) {
            character->fileNormals[3 * v + i] = (float)(n[i] / length);
        }
    }
    free(normals);
    return jn_ok;
}

// What is computed per triangle before the character's arrays have their sizes.
typedef struct Cuts {
    int* charts;      // [triangleCount]
    double* uvs;      // [triangleCount][3][2]
    int32_t* corners; // [triangleCount][3], file vertices
    int32_t* weld;    // [fileVertexCount]
    int32_t* order;   // [triangleCount], by part
} Cuts;

static jnResult CreateCuts(const FigureMesh* mesh, jnaArena* arena, Cuts* cuts, int* fileVertexCount, jnError* error)
{
    int count = mesh->triangleCount;
    *cuts = (Cuts){
        .charts = jnaArena_Take(arena, count, sizeof(int)),
        .uvs = jnaArena_Take(arena, count, 6 * sizeof(double)),
        .corners = jnaArena_Take(arena, count, 3 * sizeof(int32_t)),
        .weld = jnaArena_Take(arena, count, 3 * sizeof(int32_t)),
        .order = jnaArena_Take(arena, count, sizeof(int32_t)),
    };
    int* first = jnaArena_Take(arena, mesh->vertexCount, sizeof(int));
    int* next = jnaArena_Take(arena, count, 3 * sizeof(int));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(arena, "the figure's charts", error));
    JN_TRY(jnaComputeFigureUvs(mesh, cuts->charts, cuts->uvs, error));
    *fileVertexCount = SplitVertices(mesh, cuts->charts, first, next, cuts->corners, cuts->weld);
done:
    return result;
}

static void FillSurface(const FigureMesh* mesh, const Cuts* cuts, jnaCharacter* character)
{
    for (int i = 0; i < 3 * mesh->vertexCount; ++i) {
        character->positions[i] = (float)mesh->positions[i];
    }
    memcpy(character->weld, cuts->weld, sizeof(int32_t) * (size_t)character->fileVertexCount);
    for (int h = 0; h < 3 * mesh->triangleCount; ++h) {
        size_t from = 3 * (size_t)cuts->order[h / 3] + (size_t)(h % 3);
        int32_t corner = cuts->corners[from];
        character->triangles[h] = corner;
        character->fileUvs[2 * corner] = (float)cuts->uvs[2 * from];
        character->fileUvs[2 * corner + 1] = (float)cuts->uvs[2 * from + 1];
    }
}

jnResult jnaCreateFigure(jnaCharacter* character, jnError* error)
{
    FigureMesh mesh;
    Cuts cuts = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    *character = (jnaCharacter){.jointCount = JOINT_COUNT, .partCount = PART_COUNT, .name = "figure"};
    JN_TRY(jnaCreateFigureMesh(&mesh, error));
    JN_TRY(CreateCuts(&mesh, &arena, &cuts, &character->fileVertexCount, error));
    character->vertexCount = mesh.vertexCount;
    character->triangleCount = mesh.triangleCount;
    JN_TRY(jnaCharacter_Allocate(character, true, error));
    FillJoints(character);
    FillParts(&mesh, character, cuts.order);
    FillSurface(&mesh, &cuts, character);
    JN_TRY(FillNormals(&mesh, character, error));
    JN_TRY(jnaComputeFigureWeights(&mesh, character->influences, error));
done:
    jnaReleaseArena(&arena);
    jnaDestroyFigureMesh(&mesh);
    if (result != jn_ok) {
        jnaDestroyCharacter(character);
    }
    return result;
}
