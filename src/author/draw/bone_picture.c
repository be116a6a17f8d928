// A picture of the bones: the far half of the skin as a shell, and in it the bones or the nodes that they hold,
// coloured by part of the body; below them the names of the colours, and what each part of the character was taken for.
#include "draw/bone_picture.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "draw/picture.h"
#include "volume/anatomy.h"
#include "volume/bones.h"
#include "volume/volume_internal.h"

#include "runtime/for_author.h"

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
    jnaArena arena = {0};
    mesh->positions = jnaArena_Give(&arena, (int64_t)vertices, 3 * sizeof(float));
    mesh->colors = jnaArena_Give(&arena, (int64_t)vertices, 3 * sizeof(float));
    mesh->triangles = jnaArena_Give(&arena, (int64_t)triangles, 3 * sizeof(int32_t));
    return !arena.failed;
}

// What is told apart by colour: the parts of a body, limbs as arms and legs, and the balls at their joints.
typedef enum Hue {
    hue_chain,
    hue_trunk,
    hue_neck,
    hue_head,
    hue_girdle,
    hue_thigh,
    hue_shin,
    hue_foot,
    hue_upperArm,
    hue_forearm,
    hue_hand,
    hue_ball,
    hue_count,
} Hue;
static const struct {
    const char* name;
    float rgb[3]; // linear
} hues[hue_count] = {
    [hue_chain] = {"chain", {0.30f, 0.30f, 0.30f}},
    [hue_trunk] = {"trunk", {0.75f, 0.42f, 0.05f}},
    [hue_neck] = {"neck", {0.55f, 0.55f, 0.05f}},
    [hue_head] = {"head", {0.10f, 0.45f, 0.12f}},
    [hue_girdle] = {"girdle", {0.75f, 0.22f, 0.12f}},
    [hue_thigh] = {"thigh", {0.05f, 0.20f, 0.65f}},
    [hue_shin] = {"shin", {0.08f, 0.45f, 0.75f}},
    [hue_foot] = {"foot", {0.04f, 0.50f, 0.45f}},
    [hue_upperArm] = {"upper arm", {0.35f, 0.06f, 0.50f}},
    [hue_forearm] = {"forearm", {0.60f, 0.15f, 0.60f}},
    [hue_hand] = {"hand", {0.75f, 0.15f, 0.35f}},
    [hue_ball] = {"ball at a joint", {0.65f, 0.02f, 0.02f}},
};

static Hue HueOf(const jnaAnatomy* a, int joint)
{
    bool leg = a->limbOf[joint] >= 0 && a->limbs[a->limbOf[joint]].leg;
    switch (a->parts[joint]) {
    case jna_bodyTrunk:
        return hue_trunk;
    case jna_bodyNeck:
        return hue_neck;
    case jna_bodyHead:
        return hue_head;
    case jna_bodyGirdle:
        return hue_girdle;
    case jna_bodyUpper:
        return leg ? hue_thigh : hue_upperArm;
    case jna_bodyLower:
        return leg ? hue_shin : hue_forearm;
    case jna_bodyEnd:
        return leg ? hue_foot : hue_hand;
    default:
        return hue_chain;
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
static void AddBone(Mesh* mesh, const jnaAnatomy* anatomy, const jnaBone* bone)
{
    const float* color = hues[bone->ball ? hue_ball : HueOf(anatomy, bone->joint)].rgb;
    int first = mesh->vertexCount;
    for (int r = 0; r < RINGS; ++r) {
        int end = r >= CAP_RINGS;
        double latitude = 0.5 * JNA_PI * (end ? (r - CAP_RINGS) / (CAP_RINGS - 1.0) : r / (CAP_RINGS - 1.0) - 1);
        for (int s = 0; s < SLICES; ++s) {
            double angle = 2 * JNA_PI * s / SLICES, p[3];
            for (int i = 0; i < 3; ++i) {
                p[i] = bone->ends[end][i] + sin(latitude) * bone->caps[end] * bone->axes[2][i] +
                       cos(latitude) * (cos(angle) * bone->radii[end][0] * bone->axes[0][i] +
                                           sin(angle) * bone->radii[end][1] * bone->axes[1][i]);
            }
            AddVertex(mesh, p, color);
        }
    }
    // The axes of a trunk are left-handed: its rings run the other way.
    double across[3];
    jnaCross(bone->axes[0], bone->axes[1], across);
    int next = jnaDot(across, bone->axes[2]) < 0 ? SLICES - 1 : 1;
    for (int r = 0; r + 1 < RINGS; ++r) {
        for (int s = 0; s < SLICES; ++s) {
            int a = first + r * SLICES + s, b = first + r * SLICES + (s + next) % SLICES;
            AddTriangle(mesh, a, b, b + SLICES);
            AddTriangle(mesh, a, b + SLICES, a + SLICES);
        }
    }
}

// A held node: a small tetrahedron, for there are thousands of them.
static void AddNode(Mesh* mesh, const double* p, const float* color, double size)
{
    static const int corners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
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

static bool BuildBones(const jnaBoneList* bones, const jnaAnatomy* anatomy, Mesh* mesh)
{
    size_t count = (size_t)bones->count;
    if (!AllocateMesh(mesh, count * RINGS * SLICES, count * 2 * RINGS * SLICES)) {
        return false;
    }
    for (int b = 0; b < bones->count; ++b) {
        AddBone(mesh, anatomy, &bones->bones[b]);
    }
    return true;
}

// A node that follows its own skinned position has the colour of the joint that moves it most.
static Hue HueOfNode(const jnaVolume* v, const jnaAnatomy* anatomy, int node)
{
    int by = v->heldBy[node];
    bool ball = by >= v->jointCount && by < 2 * v->jointCount;
    int joint = by < v->jointCount ? by : jnaDominantJoint(v, node);
    return ball ? hue_ball : joint >= 0 ? HueOf(anatomy, joint) : hue_chain;
}

static bool BuildNodes(const jnaVolume* v, const jnaAnatomy* anatomy, double size, Mesh* mesh)
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
            AddNode(mesh, v->nodes + 3 * (size_t)n, hues[HueOfNode(v, anatomy, n)].rgb, size);
        }
    }
    return true;
}

// The triangles that face away from the camera of a view.
static bool BuildShell(const jnaCharacter* c, float turn, Shell* shell)
{
    double angle = (double)turn * JNA_PI / 180, toCamera[3] = {-sin(angle), 0, cos(angle)};
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

// Makes a picture taller, with paper below.
static bool Extend(jnaPicture* picture, int more)
{
    size_t row = 4 * (size_t)picture->width, old = row * (size_t)picture->height, size = old + row * (size_t)more;
    uint8_t* pixels = realloc(picture->pixels, size);
    if (pixels == NULL) {
        return false;
    }
    memset(pixels + old, 0xf4, size - old);
    for (size_t i = old + 3; i < size; i += 4) {
        pixels[i] = 0xff;
    }
    picture->pixels = pixels;
    picture->height += more;
    return true;
}

// The colours that are used, and what the parts were taken for, in two columns.
static jnResult WriteLegend(const jnaCharacter* c, const jnaAnatomy* a, jnaPicture* picture, jnError* error)
{
    const double size = 0.026 * PANEL_HEIGHT, line = 1.5 * size, top = picture->height;
    jnaNotes notes = {0};
    jnResult result = jn_ok;
    bool used[hue_count] = {[hue_ball] = a->limbCount > 0};
    int listed = 0, shown = 0;
    jnaAnatomy_Tell(a, c, &notes);
    for (int j = 0; j < c->jointCount; ++j) {
        used[HueOf(a, j)] = used[HueOf(a, j)] || a->parts[j] != jna_bodyNone;
    }
    for (int h = 0; h < hue_count; ++h) {
        listed += used[h];
    }
    int rows = (notes.count + 1) / 2;
    if (!Extend(picture, (int)(line * (rows + 2)))) {
        result = jnFail(error, jn_outOfMemory, "out of memory for a picture");
    }
    for (int h = 0; h < hue_count && result == jn_ok; ++h) {
        if (used[h]) {
            double x = size + shown++ * (picture->width - 2 * size) / listed;
            const jnaTextStyle style = {size, jna_textLeft, jnaTextColor(hues[h].rgb)};
            result = jnaPicture_Text(picture, x, top + line, &style, hues[h].name, error);
        }
    }
    for (int i = 0; i < notes.count && result == jn_ok; ++i) {
        double x = size + i / rows * 0.5 * picture->width, y = top + (2 + i % rows) * line;
        const jnaTextStyle style = {size, jna_textLeft, 0x404448};
        result = jnaPicture_Text(picture, x, y, &style, notes.lines[i], error);
    }
    jnaDestroyNotes(&notes);
    return result;
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
    jnaAnatomy anatomy = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaFindAnatomy(c, v, &anatomy, error));
    bool good = BuildBones(bones, &anatomy, &solids[0]) &&
                BuildNodes(v, &anatomy, 0.004 * (double)def.camera.height, &solids[1]);
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
    JN_TRY(good ? jnaDrawPicture(&def, meshes, 2 * PANELS, &picture, error)
                : jnFail(error, jn_outOfMemory, "%s: out of memory for the picture", path));
    JN_TRY(WriteLegend(c, &anatomy, &picture, error));
    JN_TRY(jnaPicture_Write(&picture, path, error));
done:
    jnaDestroyPicture(&picture);
    jnaDestroyAnatomy(&anatomy);
    for (int i = 0; i < KINDS; ++i) {
        DestroyMesh(&solids[i]);
    }
    for (int i = 0; i < VIEWS; ++i) {
        free(shells[i].triangles);
    }
    return result;
}
