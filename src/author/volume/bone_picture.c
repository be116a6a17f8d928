// A picture of the bones: the far half of the skin as a shell, and in it the bones or the nodes that they hold, each
// joint in a colour of its own.
#include "inside_internal.h"

#include "jounce-author/inside.h"
#include "jounce-author/picture.h"

#include "character/affine.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    VIEWS = 2,
    KINDS = 2,
    PANELS = VIEWS * KINDS,
    SLICES = 16,
    CAP_RINGS = 5,
    RINGS = 2 * CAP_RINGS,
    PANEL_HEIGHT = 720
};
static const float turns[VIEWS] = {0, -90};
static const double PI = 3.14159265358979323846;

// A growing triangle mesh.
typedef struct Mesh {
    float* positions;
    float* colors;
    int32_t* triangles;
    int vertexCount, triangleCount;
} Mesh;

typedef struct Shell {
    int32_t* triangles; // welded, those that face away
    int count;
} Shell;

static void DestroyMesh(Mesh* mesh)
{
    free(mesh->positions);
    free(mesh->colors);
    free(mesh->triangles);
}

static bool AllocateMesh(Mesh* mesh, size_t vertices, size_t triangles)
{
    mesh->positions = malloc((vertices + 1) * 3 * sizeof(float));
    mesh->colors = malloc((vertices + 1) * 3 * sizeof(float));
    mesh->triangles = malloc((triangles + 1) * 3 * sizeof(int32_t));
    return mesh->positions != NULL && mesh->colors != NULL && mesh->triangles != NULL;
}

// Colours that differ between neighbours in the list of joints: hues a golden angle apart.
static void ColorOf(int joint, float rgb[3])
{
    double hue = 6 * fmod(joint * 0.38196601, 1), light = joint % 2 == 0 ? 0.75 : 0.45;
    for (int i = 0; i < 3; ++i) {
        // Each channel is full within 60 degrees of its own hue and falls off over the next 60.
        double away = fabs(hue - 2 * i);
        away = fmin(away, 6 - away);
        rgb[i] = (float)(light * fmin(fmax(2 - away, 0.06), 1));
    }
}

static int AddVertex(Mesh* mesh, const double* p, const float* color)
{
    for (int i = 0; i < 3; ++i) {
        mesh->positions[3 * (size_t)mesh->vertexCount + (size_t)i] = (float)p[i];
        mesh->colors[3 * (size_t)mesh->vertexCount + (size_t)i] = color[i];
    }
    return mesh->vertexCount++;
}

static void AddTriangle(Mesh* mesh, int a, int b, int c)
{
    int32_t* t = mesh->triangles + 3 * (size_t)mesh->triangleCount++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

// Rings from one pole to the other: half an ellipsoid at each end, and what lies between them.
static void AddBone(Mesh* mesh, const jnaBone* bone)
{
    float color[3];
    ColorOf(bone->joint, color);
    int first = mesh->vertexCount;
    for (int r = 0; r < RINGS; ++r) {
        int end = r >= CAP_RINGS;
        double latitude = 0.5 * PI * (end ? (r - CAP_RINGS) / (CAP_RINGS - 1.0) : r / (CAP_RINGS - 1.0) - 1);
        for (int s = 0; s < SLICES; ++s) {
            double angle = 2 * PI * s / SLICES, p[3];
            for (int i = 0; i < 3; ++i) {
                p[i] = bone->ends[end][i] + sin(latitude) * bone->caps[end] * bone->axes[2][i] +
                       cos(latitude) * (cos(angle) * bone->radii[end][0] * bone->axes[0][i] +
                                           sin(angle) * bone->radii[end][1] * bone->axes[1][i]);
            }
            AddVertex(mesh, p, color);
        }
    }
    for (int r = 0; r + 1 < RINGS; ++r) {
        for (int s = 0; s < SLICES; ++s) {
            int a = first + r * SLICES + s, b = first + r * SLICES + (s + 1) % SLICES;
            AddTriangle(mesh, a, b, b + SLICES);
            AddTriangle(mesh, a, b + SLICES, a + SLICES);
        }
    }
}

// A held node: a small tetrahedron, for there are thousands of them.
static void AddNode(Mesh* mesh, const double* p, int joint, double size)
{
    static const int corners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    float color[3];
    ColorOf(joint, color);
    int first = mesh->vertexCount;
    for (int k = 0; k < 4; ++k) {
        double corner[3];
        for (int i = 0; i < 3; ++i) {
            corner[i] = p[i] + 0.7 * size * corners[k][i];
        }
        AddVertex(mesh, corner, color);
    }
    for (int s = 0; s < 4; ++s) {
        AddTriangle(mesh, first + sides[s][0], first + sides[s][1], first + sides[s][2]);
    }
}

static bool BuildBones(const jnaBoneList* bones, Mesh* mesh)
{
    size_t count = (size_t)bones->count;
    if (!AllocateMesh(mesh, count * RINGS * SLICES, count * 2 * RINGS * SLICES)) {
        return false;
    }
    for (int b = 0; b < bones->count; ++b) {
        AddBone(mesh, &bones->bones[b]);
    }
    return true;
}

static bool BuildNodes(const jnaVolume* v, double size, Mesh* mesh)
{
    size_t count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        count += v->heldBy[n] >= 0;
    }
    if (!AllocateMesh(mesh, 4 * count, 4 * count)) {
        return false;
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] >= 0) {
            AddNode(mesh, v->nodes + 3 * (size_t)n, v->heldBy[n], size);
        }
    }
    return true;
}

// The triangles that face away from the camera of a view.
static bool BuildShell(const jnaCharacter* c, float turn, Shell* shell)
{
    double angle = (double)turn * PI / 180, toCamera[3] = {-sin(angle), 0, cos(angle)};
    shell->triangles = malloc(((size_t)c->triangleCount + 1) * 3 * sizeof(int32_t));
    if (shell->triangles == NULL) {
        return false;
    }
    for (int t = 0; t < c->triangleCount; ++t) {
        int32_t corners[3];
        double edges[2][3], normal[3];
        for (int k = 0; k < 3; ++k) {
            corners[k] = c->weld[c->triangles[3 * (size_t)t + (size_t)k]];
        }
        for (int i = 0; i < 3; ++i) {
            double origin = (double)c->positions[3 * (size_t)corners[0] + (size_t)i];
            edges[0][i] = (double)c->positions[3 * (size_t)corners[1] + (size_t)i] - origin;
            edges[1][i] = (double)c->positions[3 * (size_t)corners[2] + (size_t)i] - origin;
        }
        jnaCross(edges[0], edges[1], normal);
        if (jnaDot(normal, toCamera) < 0) {
            // Turned over: what is seen is the inside.
            int32_t* out = shell->triangles + 3 * (size_t)shell->count++;
            out[0] = corners[0];
            out[1] = corners[2];
            out[2] = corners[1];
        }
    }
    return true;
}

// A camera that sees the whole character in every panel.
static jnaPictureDef Frame(const jnaCharacter* c)
{
    float low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        low[i % 3] = fminf(low[i % 3], c->positions[i]);
        high[i % 3] = fmaxf(high[i % 3], c->positions[i]);
    }
    jnaPictureDef def = jnaDefaultPictureDef();
    float width = fmaxf(2 * fmaxf(fabsf(low[0]), fabsf(high[0])), 2 * fmaxf(fabsf(low[2]), fabsf(high[2])));
    float tall = fmaxf(high[1] - low[1], 0.1f * width);
    def.panelHeight = PANEL_HEIGHT;
    def.panelWidth = (int)(PANEL_HEIGHT * fminf(fmaxf(1.05f * width / (1.12f * tall), 0.4f), 1.2f));
    def.columns = PANELS;
    def.camera = (jnaCamera){.target = {0, 0.5f * (low[1] + high[1]) - 0.02f * tall, 0}, .height = 1.12f * tall};
    def.camera.height = fmaxf(def.camera.height, 1.05f * width * PANEL_HEIGHT / (float)def.panelWidth);
    def.ground = false;
    def.samples = 2;
    def.directions = 32;
    return def;
}

jnResult jnaPictureBones(
    const jnaVolume* v, const jnaCharacter* c, const jnaBoneList* bones, const char* path, jnError* error)
{
    static const char* const captions[PANELS] = {
        "bones, front", "bones, side", "held nodes, front", "held nodes, side"};
    jnaPictureDef def = Frame(c);
    def.captions = captions;
    Mesh solids[KINDS] = {{0}};
    Shell shells[VIEWS] = {{0}};
    jnaPicture picture = {0};
    bool good = BuildBones(bones, &solids[0]) && BuildNodes(v, 0.004 * (double)def.camera.height, &solids[1]);
    for (int i = 0; i < VIEWS && good; ++i) {
        good = BuildShell(c, turns[i], &shells[i]);
    }
    jnaPictureMesh meshes[2 * PANELS] = {{0}};
    for (int p = 0; p < PANELS; ++p) {
        const Mesh* solid = &solids[p / VIEWS];
        const Shell* shell = &shells[p % VIEWS];
        meshes[2 * p] = (jnaPictureMesh){.positions = c->positions,
            .vertexCount = c->vertexCount,
            .triangles = shell->triangles,
            .triangleCount = shell->count,
            .color = {0.72f, 0.66f, 0.62f}};
        meshes[2 * p + 1] = (jnaPictureMesh){.positions = solid->positions,
            .vertexCount = solid->vertexCount,
            .triangles = solid->triangles,
            .triangleCount = solid->triangleCount,
            .colors = solid->colors};
        for (int k = 0; k < 2; ++k) {
            meshes[2 * p + k].turn = turns[p % VIEWS];
            meshes[2 * p + k].panel = p;
        }
    }
    jnResult result = good ? jnaDrawPicture(&def, meshes, 2 * PANELS, &picture, error)
                           : jnFail(error, jn_outOfMemory, "%s: out of memory for the picture", path);
    result = result == jn_ok ? jnaPicture_Write(&picture, path, error) : result;
    jnaDestroyPicture(&picture);
    for (int i = 0; i < KINDS; ++i) {
        DestroyMesh(&solids[i]);
    }
    for (int i = 0; i < VIEWS; ++i) {
        free(shells[i].triangles);
    }
    return result;
}
