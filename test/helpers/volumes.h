// Volumes for tests: a block of tetrahedra made by code, with joints along it, and those of whole characters.
#pragma once

#include "character/figure.h"
#include "character/import.h"
#include "helpers/support.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"
#include "workspace/volume_store.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct TestVolume {
    jnaCharacter character;
    jnaVolume volume;
} TestVolume;

static inline void DestroyTestVolume(TestVolume* test)
{
    jnaDestroyCharacter(&test->character);
    jnaDestroyVolume(&test->volume);
}

static inline void OrientTetrahedra(jnaVolume* v)
{
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        int32_t* c = v->tetrahedra + 4 * t;
        double e[3][3];
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 3; ++k) {
                e[i][k] = v->nodes[3 * c[i + 1] + k] - v->nodes[3 * c[0] + k];
            }
        }
        double d = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                   e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                   e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
        if (d < 0) {
            int32_t swap = c[2];
            c[2] = c[3];
            c[3] = swap;
        }
    }
}

// Vertex v is node v: a corner of any tetrahedron that has it.
static inline void EmbedIdentity(jnaVolume* v, int vertexCount)
{
    v->vertexCount = vertexCount;
    v->skinTetrahedra = malloc((size_t)vertexCount * sizeof(int32_t));
    v->skinWeights = calloc((size_t)vertexCount * 4, sizeof(double));
    v->skinOffsets = calloc((size_t)vertexCount * 3, sizeof(double));
    memset(v->skinTetrahedra, 0xff, (size_t)vertexCount * sizeof(int32_t));
    for (int i = 0; i < 4 * v->tetrahedronCount; ++i) {
        int node = v->tetrahedra[i];
        if (node < vertexCount && v->skinTetrahedra[node] < 0) {
            v->skinTetrahedra[node] = i / 4;
            v->skinWeights[4 * node + i % 4] = 1;
        }
    }
}

// Joints of a chain along x: joint j at x = j * step, all at rest without rotation.
static inline void SetChain(jnaCharacter* c, double step)
{
    for (int j = 0; j < c->jointCount; ++j) {
        jnaJoint* joint = &c->joints[j];
        *joint = (jnaJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        snprintf(joint->name, sizeof(joint->name), "joint%d", j);
        joint->translation[0] = j > 0 ? (float)step : 0.0f;
        for (int i = 0; i < 3; ++i) {
            joint->inverseBind[5 * i] = 1;
        }
        joint->inverseBind[3] = -(float)(j * step);
    }
}

// Linear blending between the two joints around x; constant beyond the ends.
static inline void SetChainInfluences(jnaCharacter* c, double step)
{
    for (int v = 0; v < c->vertexCount; ++v) {
        double x = (double)c->positions[3 * v] / step - 0.5;
        x = fmin(fmax(x, 0), c->jointCount - 1);
        int first = (int)fmin(x, c->jointCount - 2);
        double b = x - first;
        jnaInfluences* in = &c->influences[v];
        in->joints[0] = (uint16_t)(b > 0.5 ? first + 1 : first);
        in->joints[1] = (uint16_t)(b > 0.5 ? first : first + 1);
        in->weights[0] = (float)fmax(b, 1 - b);
        in->weights[1] = 1 - in->weights[0];
        in->joints[1] = in->weights[1] > 0 ? in->joints[1] : 0;
    }
}

// A block of nx by ny by nz cells of six tetrahedra each; sides in metres. Boundary nodes come first and are the
// character's vertices; inner ones are moved by up to `jitter` cells. Two or more joints stand along x, inside.
static inline TestVolume MakeBlock(int nx, int ny, int nz, const double size[3], double jitter, int joints)
{
    TestVolume test = {0};
    jnaVolume* v = &test.volume;
    int side[3] = {nx + 1, ny + 1, nz + 1}, cells[3] = {nx, ny, nz};
    v->method = jna_volumeTetgen;
    v->nodeCount = side[0] * side[1] * side[2];
    v->tetrahedronCount = 6 * nx * ny * nz;
    v->nodes = malloc((size_t)v->nodeCount * 3 * sizeof(double));
    v->tetrahedra = malloc((size_t)v->tetrahedronCount * 4 * sizeof(int32_t));
    int* order = malloc((size_t)v->nodeCount * sizeof(int));
    int next = 0, boundary = 0;
    Random random = {7};
    for (int inner = 0; inner < 2; ++inner) {
        for (int n = 0; n < v->nodeCount; ++n) {
            int at[3] = {n % side[0], n / side[0] % side[1], n / (side[0] * side[1])};
            bool inside = true;
            for (int k = 0; k < 3; ++k) {
                inside = inside && at[k] > 0 && at[k] < cells[k];
            }
            if (inside != (inner == 1)) {
                continue;
            }
            for (int k = 0; k < 3; ++k) {
                double move = inside ? Uniform(&random, -jitter, jitter) : 0;
                double middle = k == 0 ? 0 : 0.5;
                v->nodes[3 * next + k] = size[k] * ((at[k] + move) / cells[k] - middle);
            }
            order[n] = next++;
        }
        boundary = inner == 0 ? next : boundary;
    }
    static const int paths[6][2] = {{1, 2}, {1, 4}, {2, 1}, {2, 4}, {4, 1}, {4, 2}};
    for (int cell = 0, t = 0; cell < nx * ny * nz; ++cell) {
        int at[3] = {cell % nx, cell / nx % ny, cell / (nx * ny)};
        for (int p = 0; p < 6; ++p, ++t) {
            int steps[4] = {0, paths[p][0], paths[p][0] | paths[p][1], 7};
            for (int c = 0; c < 4; ++c) {
                int x = at[0] + (steps[c] & 1), y = at[1] + (steps[c] >> 1 & 1), z = at[2] + (steps[c] >> 2);
                v->tetrahedra[4 * t + c] = order[(z * side[1] + y) * side[0] + x];
            }
        }
    }
    free(order);
    OrientTetrahedra(v);
    EmbedIdentity(v, boundary);
    jnaCharacter* c = &test.character;
    c->jointCount = joints;
    c->vertexCount = c->fileVertexCount = boundary;
    jnError error;
    assert_int_equal(jnaCharacter_Allocate(c, false, &error), jn_ok);
    for (int i = 0; i < 3 * boundary; ++i) {
        c->positions[i] = (float)v->nodes[i];
    }
    SetChain(c, size[0] / joints);
    SetChainInfluences(c, size[0] / joints);
    return test;
}

// One more tetrahedron, at x, that touches neither the block nor any vertex.
static inline void AddLoosePiece(jnaVolume* v, double x)
{
    v->nodes = realloc(v->nodes, (size_t)(v->nodeCount + 4) * 3 * sizeof(double));
    v->tetrahedra = realloc(v->tetrahedra, (size_t)(v->tetrahedronCount + 1) * 4 * sizeof(int32_t));
    for (int i = 0; i < 4; ++i) {
        double* p = v->nodes + 3 * (v->nodeCount + i);
        p[0] = x + 0.1 * (i == 1);
        p[1] = 0.1 * (i == 2);
        p[2] = 0.1 * (i == 3);
        v->tetrahedra[4 * v->tetrahedronCount + i] = v->nodeCount + i;
    }
    v->nodeCount += 4;
    v->tetrahedronCount++;
}

#define BODY_DATA JN_SOURCE_DIR "/../shared/data/"

// Skips a test where the mesher, or a file of the data beside the project, is not there. file: NULL for none.
static inline void NeedTetgen(const char* file)
{
    if (access("/usr/bin/tetgen", X_OK) != 0 || (file != NULL && access(file, R_OK) != 0)) {
        print_message("skipped: no tetgen or no shared data\n");
        skip();
    }
}

static inline void MeshTestVolume(TestVolume* test)
{
    jnError error = {0};
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeTetgen;
    if (jnaCreateVolume(&test->character, &def, &test->volume, NULL, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

// A mesh that test_meshes.c has made and kept for the others: it takes seconds. Only where it is newer than this
// program, which may have another mesher in it.
#define KEPT_VOLUMES JN_BINARY_DIR "/volumes/"
static inline void MeshOrLoad(TestVolume* test, const char* name)
{
    char folder[512], file[600];
    struct stat program, kept;
    snprintf(folder, sizeof(folder), "%s%s", KEPT_VOLUMES, name);
    snprintf(file, sizeof(file), "%s/volume/volume.json", folder);
    bool fresh = stat("/proc/self/exe", &program) == 0 && stat(file, &kept) == 0 && kept.st_mtime > program.st_mtime;
    if (!fresh || jnaLoadVolume(folder, &test->volume, NULL) != jn_ok) {
        MeshTestVolume(test);
    }
}

// The built-in figure, meshed as a user's would be.
static inline TestVolume MakeFigureVolume(void)
{
    TestVolume test = {0};
    NeedTetgen(NULL);
    assert_int_equal(jnaCreateFigure(&test.character, NULL), jn_ok);
    MeshOrLoad(&test, "figure");
    return test;
}

// The body, which has small crossings. clips may be NULL. Not under the sanitizers: nothing is run on it that the
// figure does not run as well, and the crossings have a test of their own.
static inline TestVolume MakeBodyVolume(jnaClipList* clips)
{
    NeedsNoSanitizer();
    TestVolume test = {0};
    jnaClipList own = {0};
    jnaImportDef def = jnaDefaultImportDef();
    NeedTetgen(BODY_DATA "body.glb");
    assert_int_equal(
        jnaImportCharacter(BODY_DATA "body.glb", &def, &test.character, clips != NULL ? clips : &own, NULL, NULL, NULL),
        jn_ok);
    jnaDestroyClipList(&own);
    MeshOrLoad(&test, "body");
    return test;
}

// The same with the weights carried inside.
static inline void CarryTestWeights(TestVolume* test)
{
    jnError error = {0};
    jnaWeightsDef def = jnaDefaultWeightsDef();
    if (jnaVolume_CarryWeights(&test->volume, &test->character, &def, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}
