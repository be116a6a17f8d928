// The renderer: panels, camera, z-buffer, shading.
//
// Every panel is drawn at `samples` times its size in bands of rows. A band walks all triangles in order and
// keeps the nearest one per sample, then shades its samples and averages them in linear light. Bands share
// nothing, so threads do not change a byte. Triangles that cross the camera's plane are dropped, not clipped:
// cameras stand outside.
#include "draw/picture.h"

#include "base/try.h"
#include "draw/picture_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 8, MAX_SIDE = 16384, MAX_PANELS = 256, BAND_GREY = 0xf4 };
// Nearest depth that is drawn, in metres from the camera.
#define NEAR 0.02f
static const float CLAY[3] = {0.60f, 0.365f, 0.265f};

typedef struct View {
    float eye[3], right[3], up[3], forward[3]; // forward points into the picture
    float scale;                               // samples per metre (orthographic) or per unit slope (perspective)
    bool perspective;
    int width, height; // samples
} View;

// One band: nearest triangle and the weights of its first two corners, per sample.
typedef struct Band {
    int firstRow, rows; // samples
    float* depth;
    int32_t* triangle; // -1 for none
    float* weights;    // [rows * width][2]
} Band;

jnaPictureDef jnaDefaultPictureDef(void)
{
    return (jnaPictureDef){
        .panelWidth = 480,
        .panelHeight = 640,
        .columns = 1,
        .rows = 1,
        .samples = 3,
        .directions = JNA_MOST_DIRECTIONS,
        .camera = {.target = {0, 0.80f, 0}, .pitch = 6, .height = 2.08f, .fieldOfView = 24},
        .ground = true,
    };
}

void jnaDestroyPicture(jnaPicture* picture)
{
    free(picture->pixels);
    *picture = (jnaPicture){0};
}

jnaPictureMesh jnaPictureCharacter(const jnaCharacter* character, const float* positions, float* triangleColors)
{
    for (int p = 0; p < character->partCount; ++p) {
        const jnaPart* part = &character->parts[p];
        for (int t = part->firstTriangle; t < part->firstTriangle + part->triangleCount; ++t) {
            memcpy(triangleColors + 3 * (size_t)t, part->color, 3 * sizeof(float));
        }
    }
    return (jnaPictureMesh){
        .positions = positions != NULL ? positions : character->positions,
        .vertexCount = character->vertexCount,
        .triangles = character->triangles,
        .triangleCount = character->triangleCount,
        .weld = character->weld,
        .triangleColors = triangleColors,
    };
}

void jnaHeatColor(float t, float rgb[3])
{
    // Knots in sRGB whose CIE lightness rises in equal steps, from dark violet-blue to yellow.
    static const float knots[9][3] = {{68, 10, 84}, {70, 48, 126}, {55, 91, 141}, {40, 127, 142}, {31, 161, 136},
        {74, 193, 110}, {143, 215, 68}, {200, 225, 40}, {252, 231, 45}};
    t = t > 0 ? Min(t, 1) : 0;
    int i = (int)(t * 8);
    i = i > 7 ? 7 : i;
    float a = t * 8 - (float)i;
    for (int k = 0; k < 3; ++k) {
        float s = ((1 - a) * knots[i][k] + a * knots[i + 1][k]) / 255;
        rgb[k] = s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
    }
}

static View MakeView(const jnaCamera* camera, int width, int height)
{
    float yaw = camera->yaw * RADIANS, pitch = camera->pitch * RADIANS;
    View view = {
        .right = {cosf(yaw), 0, -sinf(yaw)},
        .up = {-sinf(yaw) * sinf(pitch), cosf(pitch), -cosf(yaw) * sinf(pitch)},
        .forward = {-sinf(yaw) * cosf(pitch), -sinf(pitch), -cosf(yaw) * cosf(pitch)},
        .perspective = camera->fieldOfView > 0,
        .width = width,
        .height = height,
    };
    float slope = tanf(0.5f * camera->fieldOfView * RADIANS);
    float distance = view.perspective ? 0.5f * camera->height / slope : 10 * camera->height;
    view.scale = view.perspective ? 0.5f * (float)height / slope : (float)height / camera->height;
    for (int i = 0; i < 3; ++i) {
        view.eye[i] = camera->target[i] - distance * view.forward[i];
    }
    return view;
}

// Sample coordinates, and as third the quantity that is linear over the screen: 1/z, or -z without
// perspective.
static void Project(const View* view, const float* p, float out[3])
{
    float d[3] = {p[0] - view->eye[0], p[1] - view->eye[1], p[2] - view->eye[2]};
    float z = Dot(d, view->forward);
    float scale = view->perspective ? view->scale / Max(z, NEAR) : view->scale;
    out[0] = 0.5f * (float)view->width + scale * Dot(d, view->right);
    out[1] = 0.5f * (float)view->height - scale * Dot(d, view->up);
    out[2] = view->perspective ? (z > NEAR ? 1 / z : 0) : -z;
}

// The ray through the middle of a sample.
static void CastRay(const View* view, float x, float y, float origin[3], float direction[3])
{
    float u = (x - 0.5f * (float)view->width) / view->scale, v = (0.5f * (float)view->height - y) / view->scale;
    for (int i = 0; i < 3; ++i) {
        float side = u * view->right[i] + v * view->up[i];
        origin[i] = view->eye[i] + (view->perspective ? 0 : side);
        direction[i] = view->forward[i] + (view->perspective ? side : 0);
    }
    float scale = 1 / sqrtf(Dot(direction, direction));
    for (int i = 0; i < 3; ++i) {
        direction[i] *= scale;
    }
}

static void DrawTriangle(const Band* band, const View* view, const float* a, const float* b, const float* c, int t)
{
    float lowY = Max(Min(a[1], Min(b[1], c[1])) - 0.5f, (float)band->firstRow);
    float highY = Min(Max(a[1], Max(b[1], c[1])) + 0.5f, (float)(band->firstRow + band->rows - 1));
    float lowX = Max(Min(a[0], Min(b[0], c[0])) - 0.5f, 0);
    float highX = Min(Max(a[0], Max(b[0], c[0])) + 0.5f, (float)view->width - 1);
    if (!(lowY <= highY && lowX <= highX)) {
        return;
    }
    float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    bool behind = view->perspective && (a[2] == 0 || b[2] == 0 || c[2] == 0);
    if (area == 0 || behind) {
        return;
    }
    float inverse = 1 / area;
    for (int y = (int)lowY; y <= (int)highY; ++y) {
        for (int x = (int)lowX; x <= (int)highX; ++x) {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            float u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) * inverse;
            float v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) * inverse;
            float w = 1 - u - v;
            if (u < 0 || v < 0 || w < 0) {
                continue;
            }
            float nearness = u * a[2] + v * b[2] + w * c[2];
            size_t s = (size_t)(y - band->firstRow) * (size_t)view->width + (size_t)x;
            if (nearness > band->depth[s]) {
                band->depth[s] = nearness;
                band->triangle[s] = t;
                // Undo the perspective: weights on the surface, not on the screen.
                band->weights[2 * s] = view->perspective ? u * a[2] / nearness : u;
                band->weights[2 * s + 1] = view->perspective ? v * b[2] / nearness : v;
            }
        }
    }
}

// A light, neutral backdrop, a touch darker at the bottom and corners; the ground only darkens it.
static void ShadeBackground(const Scene* scene, const View* view, float x, float y, float rgb[3])
{
    float u = x / (float)view->width - 0.5f, v = y / (float)view->height;
    float light = 0.86f - 0.17f * v * v - 0.10f * u * u;
    float shade = 1;
    float origin[3], direction[3];
    CastRay(view, x, y, origin, direction);
    if (scene->ground && direction[1] < -1e-4f) {
        float t = (scene->groundHeight - origin[1]) / direction[1];
        shade = t > 0 ? jnaGroundShade(scene, origin[0] + t * direction[0], origin[2] + t * direction[2]) : 1;
    }
    // Exactly grey: in a tint, the channels would step at different places and show as coloured bands.
    rgb[0] = rgb[1] = rgb[2] = light * shade;
}

static void Interpolate(const float* values, const int32_t* c, const float w[3], float out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = w[0] * values[3 * c[0] + i] + w[1] * values[3 * c[1] + i] + w[2] * values[3 * c[2] + i];
    }
}

// Sky, key with a wrapped edge, a faint sheen, and a rim that sets the silhouette off the backdrop.
static void ShadeSurface(
    const Scene* scene, int t, const float w[3], const float ray[3], const float keyDirection[3], float rgb[3])
{
    const int32_t* c = scene->triangles + 3 * (size_t)t;
    const float* paint = scene->paint + 3 * (size_t)t;
    float n[3], albedo[3], sky[3];
    Interpolate(scene->normals, c, w, n);
    Interpolate(scene->colors, c, w, albedo);
    if (paint[0] >= 0) {
        memcpy(albedo, paint, sizeof(albedo));
    }
    Interpolate(scene->sky, c, w, sky);
    float length = sqrtf(Dot(n, n));
    for (int i = 0; i < 3; ++i) {
        n[i] /= length > 0 ? length : 1;
    }
    float visible = w[0] * scene->key[c[0]] + w[1] * scene->key[c[1]] + w[2] * scene->key[c[2]];
    float facing = Dot(n, keyDirection);
    float wrapped = Max(0, (facing + 0.22f) / 1.22f);
    float key = wrapped * wrapped * (0.12f + 0.88f * visible) * 1.02f;
    float toEye = Max(0, -Dot(n, ray));
    float half[3] = {keyDirection[0] - ray[0], keyDirection[1] - ray[1], keyDirection[2] - ray[2]};
    float gloss = Max(0, Dot(n, half)) / sqrtf(Dot(half, half));
    float gloss4 = gloss * gloss * gloss * gloss;
    float sheen = 0.085f * gloss4 * gloss4 * gloss4 * gloss4 * visible;
    float edge = 1 - toEye;
    float rim = 0.16f * edge * edge * edge * Max(0, 0.35f + 0.65f * n[1]);
    static const float keyColor[3] = {1.05f, 1.0f, 0.93f};
    for (int i = 0; i < 3; ++i) {
        float light = albedo[i] * (0.52f * sky[i] + key * keyColor[i]) + sheen + rim * (0.4f + albedo[i]) * sky[i];
        rgb[i] = light;
    }
}

// A soft shoulder keeps highlights from clipping; below 0.6 nothing changes.
static uint8_t Encode(float linear)
{
    float x = linear <= 0.6f ? linear : 0.6f + 0.4f * (1 - 1 / (1 + (linear - 0.6f) / 0.4f));
    float s = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
    return (uint8_t)(Min(Max(s, 0), 1) * 255 + 0.5f);
}

static void ShadeSample(
    const Scene* scene, const View* view, const Band* band, const float keyDirection[3], int x, int row, float rgb[3])
{
    size_t s = (size_t)row * (size_t)view->width + (size_t)x;
    float px = (float)x + 0.5f, py = (float)(row + band->firstRow) + 0.5f;
    if (band->triangle[s] < 0) {
        ShadeBackground(scene, view, px, py, rgb);
        return;
    }
    float w[3] = {band->weights[2 * s], band->weights[2 * s + 1], 0};
    w[2] = 1 - w[0] - w[1];
    float origin[3], ray[3];
    CastRay(view, px, py, origin, ray);
    ShadeSurface(scene, band->triangle[s], w, ray, keyDirection, rgb);
}

// A scene as a panel sees it.
typedef struct Sight {
    float* projected; // [vertexCount][3]
    float* spans;     // [triangleCount][2], the rows of samples that a triangle may touch
    float key[3];     // direction of the key light
} Sight;

// One row of pixels of a panel: a band of samples. out: the row's first pixel.
static void DrawRow(const Scene* scene, const View* view, const Sight* sight, Band* band, uint8_t* out)
{
    int samples = band->rows;
    float first = (float)band->firstRow, last = (float)(band->firstRow + band->rows - 1);
    size_t count = (size_t)band->rows * (size_t)view->width;
    for (size_t s = 0; s < count; ++s) {
        band->depth[s] = -1e30f;
        band->triangle[s] = -1;
    }
    for (int t = 0; t < scene->triangleCount; ++t) {
        if (sight->spans[2 * t] > last || sight->spans[2 * t + 1] < first) {
            continue;
        }
        const int32_t* c = scene->triangles + 3 * t;
        const float* p = sight->projected;
        DrawTriangle(band, view, p + 3 * c[0], p + 3 * c[1], p + 3 * c[2], t);
    }
    float share = 1 / (float)(samples * samples);
    for (int x = 0; x < view->width / samples; ++x) {
        float sum[3] = {0, 0, 0};
        for (int s = 0; s < samples * samples; ++s) {
            float rgb[3];
            ShadeSample(scene, view, band, sight->key, x * samples + s % samples, s / samples, rgb);
            for (int i = 0; i < 3; ++i) {
                // Bright samples are limited, or one of them would eat the smooth edge of its pixel.
                sum[i] += Min(rgb[i], 1.5f) * share;
            }
        }
        for (int i = 0; i < 3; ++i) {
            out[4 * x + i] = Encode(sum[i]);
        }
        out[4 * x + 3] = 255;
    }
}

static void AddNormals(Scene* scene, int firstVertex, int firstTriangle)
{
    for (int t = firstTriangle; t < scene->triangleCount; ++t) {
        const int32_t* c = scene->triangles + 3 * t;
        const float *a = scene->positions + 3 * c[0], *b = scene->positions + 3 * c[1],
                    *p = scene->positions + 3 * c[2];
        float e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, f[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
        float n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
        for (int k = 0; k < 9; ++k) {
            scene->normals[3 * c[k / 3] + k % 3] += n[k % 3];
        }
    }
    for (int v = firstVertex; v < scene->vertexCount; ++v) {
        float* n = scene->normals + 3 * v;
        float length = sqrtf(Dot(n, n));
        for (int i = 0; i < 3; ++i) {
            n[i] = length > 0 ? n[i] / length : (float)(i == 1);
        }
    }
}

static void PickColor(const jnaPictureMesh* mesh, int v, float rgb[3])
{
    bool plain = mesh->color[0] == 0 && mesh->color[1] == 0 && mesh->color[2] == 0;
    if (mesh->heat != NULL) {
        float range = mesh->heatHigh - mesh->heatLow;
        jnaHeatColor(range != 0 ? (mesh->heat[v] - mesh->heatLow) / range : 0, rgb);
        return;
    }
    memcpy(rgb, mesh->colors != NULL ? mesh->colors + 3 * v : plain ? CLAY : mesh->color, 3 * sizeof(float));
}

// A vertex of a mesh, turned and moved to where it stands; c and s are the cosine and sine of the turn.
static void PlaceVertex(const jnaPictureMesh* mesh, float c, float s, int v, float out[3])
{
    const float* p = mesh->positions + 3 * v;
    out[0] = c * p[0] + s * p[2] + mesh->offset[0];
    out[1] = p[1] + mesh->offset[1];
    out[2] = -s * p[0] + c * p[2] + mesh->offset[2];
}

static void AddMesh(Scene* scene, const jnaPictureMesh* mesh)
{
    int firstVertex = scene->vertexCount, firstTriangle = scene->triangleCount;
    float c = cosf(mesh->turn * RADIANS), s = sinf(mesh->turn * RADIANS);
    for (int v = 0; v < mesh->vertexCount; ++v) {
        PlaceVertex(mesh, c, s, v, scene->positions + 3 * (firstVertex + v));
        PickColor(mesh, v, scene->colors + 3 * (firstVertex + v));
        if (mesh->normals != NULL) {
            const float* n = mesh->normals + 3 * v;
            float* turned = scene->normals + 3 * (firstVertex + v);
            turned[0] = c * n[0] + s * n[2];
            turned[1] = n[1];
            turned[2] = -s * n[0] + c * n[2];
        }
    }
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
        int corner = mesh->triangles[i];
        int vertex = mesh->weld != NULL ? mesh->weld[corner] : corner;
        scene->triangles[3 * firstTriangle + i] = firstVertex + vertex;
    }
    bool painted = mesh->triangleColors != NULL && mesh->heat == NULL;
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
        scene->paint[3 * firstTriangle + i] = painted ? mesh->triangleColors[i] : -1;
    }
    scene->vertexCount += mesh->vertexCount;
    scene->triangleCount += mesh->triangleCount;
    if (mesh->normals == NULL) {
        AddNormals(scene, firstVertex, firstTriangle);
    }
}

// The sphere around the vertices, and the patch of ground beneath that receives shadow.
static void MeasureScene(Scene* scene)
{
    float low[3] = {1e30f, 1e30f, 1e30f}, high[3] = {-1e30f, -1e30f, -1e30f};
    for (int i = 0; i < 3 * scene->vertexCount; ++i) {
        low[i % 3] = Min(low[i % 3], scene->positions[i]);
        high[i % 3] = Max(high[i % 3], scene->positions[i]);
    }
    float square = 0;
    for (int i = 0; i < 3; ++i) {
        scene->center[i] = scene->vertexCount > 0 ? 0.5f * (low[i] + high[i]) : 0;
        square += scene->vertexCount > 0 ? 0.25f * (high[i] - low[i]) * (high[i] - low[i]) : 1;
    }
    scene->radius = Max(sqrtf(square) * 1.01f, 1e-6f);
    float side = 3.2f * scene->radius;
    scene->groundStep = side / GROUND_CELLS;
    scene->groundOrigin[0] = scene->center[0] - 0.5f * side;
    scene->groundOrigin[1] = scene->center[2] - 0.5f * side;
}

static jnResult BuildScene(
    const jnaPictureDef* def, const jnaPictureMesh* meshes, int meshCount, int panel, Scene* scene, jnError* error)
{
    *scene = (Scene){.ground = def->ground, .groundHeight = def->groundHeight};
    int64_t vertices = 0, triangles = 0;
    for (int i = 0; i < meshCount; ++i) {
        vertices += meshes[i].panel == panel ? meshes[i].vertexCount : 0;
        triangles += meshes[i].panel == panel ? meshes[i].triangleCount : 0;
    }
    scene->positions = jnaArena_Take(&scene->arena, vertices, 3 * sizeof(float));
    scene->normals = jnaArena_Take(&scene->arena, vertices, 3 * sizeof(float));
    scene->colors = jnaArena_Take(&scene->arena, vertices, 3 * sizeof(float));
    scene->sky = jnaArena_Take(&scene->arena, vertices, 3 * sizeof(float));
    scene->key = jnaArena_Take(&scene->arena, vertices, sizeof(float));
    scene->triangles = jnaArena_Take(&scene->arena, triangles, 3 * sizeof(int32_t));
    scene->paint = jnaArena_Take(&scene->arena, triangles, 3 * sizeof(float));
    scene->groundShade = jnaArena_Take(&scene->arena, (GROUND_CELLS + 1) * (GROUND_CELLS + 1), sizeof(float));
    for (int i = 0; !scene->arena.failed && i < meshCount; ++i) {
        if (meshes[i].panel == panel) {
            AddMesh(scene, &meshes[i]);
        }
    }
    MeasureScene(scene);
    return jnaArena_Check(&scene->arena, "the surfaces of a picture", error);
}

static jnResult DrawPanel(
    const jnaPictureDef* def, const Scene* scene, int panel, int threads, jnaPicture* picture, jnError* error)
{
    View view = MakeView(&def->camera, def->panelWidth * def->samples, def->panelHeight * def->samples);
    size_t count = (size_t)view.width * (size_t)def->samples;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Sight sight = {.projected = jnaArena_Take(&arena, scene->vertexCount, 3 * sizeof(float)),
        .spans = jnaArena_Take(&arena, scene->triangleCount, 2 * sizeof(float))};
    float* memory = jnaArena_Take(&arena, threads, count * 4 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "a panel of a picture", error));
    jnaKeyDirection(def->camera.yaw, sight.key);
    for (int v = 0; v < scene->vertexCount; ++v) {
        Project(&view, scene->positions + 3 * v, sight.projected + 3 * v);
    }
    for (int t = 0; t < scene->triangleCount; ++t) {
        const int32_t* c = scene->triangles + 3 * t;
        const float* p = sight.projected;
        float a = p[3 * c[0] + 1], b = p[3 * c[1] + 1], d = p[3 * c[2] + 1];
        sight.spans[2 * t] = Min(a, Min(b, d)) - 0.5f;
        sight.spans[2 * t + 1] = Max(a, Max(b, d)) + 0.5f;
    }
    int left = panel % def->columns * def->panelWidth,
        top = panel / def->columns * (def->panelHeight + jnaPictureDef_Band(def));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int y = 0; y < def->panelHeight; ++y) {
        float* mine = memory + (size_t)omp_get_thread_num() * count * 4;
        Band band = {y * def->samples, def->samples, mine, (int32_t*)(void*)(mine + count), mine + 2 * count};
        uint8_t* out = picture->pixels + 4 * ((size_t)(top + y) * (size_t)picture->width + (size_t)left);
        DrawRow(scene, &view, &sight, &band, out);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// Captions are never smaller than this, in pixels.
#define LEAST_LETTERS 11.0

static double Letters(const jnaPictureDef* def)
{
    return fmax(0.04 * def->panelHeight, LEAST_LETTERS);
}

int jnaPictureDef_Band(const jnaPictureDef* def)
{
    return def->captions != NULL ? (int)(2 * Letters(def)) : 0;
}

// The band under a row of panels: plain and light, so that letters are read whatever stands above.
static void FillBand(const jnaPictureDef* def, int row, jnaPicture* picture)
{
    int band = jnaPictureDef_Band(def), top = (row + 1) * def->panelHeight + row * band;
    uint8_t* first = picture->pixels + 4 * (size_t)top * (size_t)picture->width;
    for (size_t i = 0; i < (size_t)band * (size_t)picture->width; ++i) {
        memcpy(first + 4 * i, (const uint8_t[4]){BAND_GREY, BAND_GREY, BAND_GREY, 255}, 4);
    }
}

static jnResult CheckDef(const jnaPictureDef* def, jnError* error)
{
    bool good = def->panelWidth > 0 && def->panelHeight > 0 && def->columns > 0 && def->rows > 0 &&
                def->panelWidth <= MAX_SIDE && def->panelHeight <= MAX_SIDE && def->columns <= MAX_PANELS &&
                def->rows <= MAX_PANELS && def->panelWidth * def->columns <= MAX_SIDE &&
                (def->panelHeight + jnaPictureDef_Band(def)) * def->rows <= MAX_SIDE;
    if (!good) {
        return jnFail(error, jn_badArgument, "a picture of %d x %d panels of %d x %d pixels: at most %d pixels a side",
            def->columns, def->rows, def->panelWidth, def->panelHeight, MAX_SIDE);
    }
    if (def->directions < 8 || def->directions > JNA_MOST_DIRECTIONS) {
        return jnFail(error, jn_badArgument, "light from %d directions: 8 to %d will do", def->directions,
            (int)JNA_MOST_DIRECTIONS);
    }
    if (def->samples < 1 || def->samples > MAX_SAMPLES) {
        return jnFail(error, jn_badArgument, "%d samples per pixel side: 1 to %d will do", def->samples, MAX_SAMPLES);
    }
    if (!(def->camera.height > 0) || !(def->camera.fieldOfView >= 0 && def->camera.fieldOfView < 170)) {
        return jnFail(error, jn_badArgument, "a camera needs a height above 0 and a field of view of 0 to 170 degrees");
    }
    return jn_ok;
}

jnResult jnaDrawPicture(
    const jnaPictureDef* def, const jnaPictureMesh* meshes, int meshCount, jnaPicture* picture, jnError* error)
{
    *picture = (jnaPicture){0};
    Scene scene = {0};
    jnResult result = jn_ok;
    JN_TRY(CheckDef(def, error));
    picture->width = def->panelWidth * def->columns;
    int band = jnaPictureDef_Band(def);
    picture->height = (def->panelHeight + band) * def->rows;
    picture->pixels = malloc((size_t)picture->width * (size_t)picture->height * 4);
    if (picture->pixels == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for %d x %d pixels", picture->width, picture->height));
    }
    int threads = def->threads > 0 ? def->threads : omp_get_max_threads();
    const jnaTextStyle style = {Letters(def), jna_textCenter, 0x2c3034};
    for (int row = 0; band > 0 && row < def->rows; ++row) {
        FillBand(def, row, picture);
    }
    for (int panel = 0; panel < def->columns * def->rows; ++panel) {
        JN_TRY(BuildScene(def, meshes, meshCount, panel, &scene, error));
        JN_TRY(jnaLightScene(&scene, def->camera.yaw, def->directions, threads, error));
        JN_TRY(DrawPanel(def, &scene, panel, threads, picture, error));
        jnaReleaseArena(&scene.arena);
        const char* caption = def->captions != NULL ? def->captions[panel] : NULL;
        double x = (panel % def->columns + 0.5) * def->panelWidth;
        double y = (panel / def->columns + 1.0) * (def->panelHeight + band) - 0.65 * Letters(def);
        JN_TRY(caption != NULL ? jnaPicture_Text(picture, x, y, &style, caption, error) : jn_ok);
    }
done:
    jnaReleaseArena(&scene.arena);
    if (result != jn_ok) {
        jnaDestroyPicture(picture);
    }
    return result;
}

// What the camera sees of the meshes, in halves of a panel's height from its middle: [0] right, [1] up.
static void MeasureView(
    const jnaCamera* camera, const jnaPictureMesh* meshes, int meshCount, float low[2], float high[2])
{
    View view = MakeView(camera, 0, 2);
    low[0] = low[1] = 1e30f;
    high[0] = high[1] = -1e30f;
    for (int i = 0; i < meshCount; ++i) {
        float c = cosf(meshes[i].turn * RADIANS), s = sinf(meshes[i].turn * RADIANS);
        for (int v = 0; v < meshes[i].vertexCount; ++v) {
            float p[3], at[3];
            PlaceVertex(&meshes[i], c, s, v, p);
            Project(&view, p, at);
            for (int k = 0; k < 2; ++k) {
                float seen = k == 0 ? at[0] : 1 - at[1];
                low[k] = Min(low[k], seen);
                high[k] = Max(high[k], seen);
            }
        }
    }
}

void jnaPictureDef_Frame(jnaPictureDef* def, const jnaPictureMesh* meshes, int meshCount)
{
    // A little air around; a panel is never thinner or wider than this.
    const float bottom = -0.90f, top = 0.90f, side = 0.12f, thinnest = 0.4f, widest = 2.5f;
    float low[2], high[2], tallest = 0, wide = 0;
    for (int i = 0; i < meshCount; ++i) {
        for (int v = 0; v < 3 * meshes[i].vertexCount; ++v) {
            tallest = Max(tallest, fabsf(meshes[i].positions[v] + meshes[i].offset[v % 3]));
        }
    }
    if (!(tallest > 0 && tallest < 1e9f)) {
        return;
    }
    // From too far away closer and closer: perspective makes the size seen depend a little on the distance.
    def->camera.height = 4 * tallest;
    def->camera.target[0] = def->camera.target[2] = 0;
    def->camera.target[1] = def->groundHeight;
    for (int round = 0; round < 8; ++round) {
        MeasureView(&def->camera, meshes, meshCount, low, high);
        wide = Max(fabsf(low[0]), fabsf(high[0])) + side;
        float factor = Max((high[1] - low[1]) / (top - bottom), wide / widest);
        float middle = 0.5f * (low[1] + high[1]) - 0.5f * (top + bottom) * factor;
        def->camera.target[1] += 0.5f * middle * def->camera.height / cosf(def->camera.pitch * RADIANS);
        def->camera.height *= factor;
        wide /= factor;
    }
    def->panelWidth = (int)((float)def->panelHeight * Max(thinnest, Min(wide, widest)) + 0.5f);
}

void jnaPictureMesh_Center(jnaPictureMesh* mesh)
{
    float low[2] = {1e30f, 1e30f}, high[2] = {-1e30f, -1e30f};
    float c = cosf(mesh->turn * RADIANS), s = sinf(mesh->turn * RADIANS);
    for (int v = 0; v < mesh->vertexCount; ++v) {
        const float* p = mesh->positions + 3 * (size_t)v;
        float seen[2] = {c * p[0] + s * p[2], -s * p[0] + c * p[2]};
        for (int k = 0; k < 2; ++k) {
            low[k] = seen[k] < low[k] ? seen[k] : low[k];
            high[k] = seen[k] > high[k] ? seen[k] : high[k];
        }
    }
    mesh->offset[0] = -0.5f * (low[0] + high[0]);
    mesh->offset[2] = -0.5f * (low[1] + high[1]);
}

uint32_t jnaTextColor(const float rgb[3])
{
    uint32_t color = 0;
    for (int i = 0; i < 3; ++i) {
        double s = 1.055 * pow((double)rgb[i], 1 / 2.4) - 0.055;
        color = color << 8 | (uint32_t)(255 * fmin(fmax(s, 0), 1) + 0.5);
    }
    return color;
}
