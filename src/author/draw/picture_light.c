// Soft light: the sky and a wide key lamp are sampled by directions, each with its own small depth map.
//
// A vertex (or a point of the ground grid) sees a direction if nothing in that direction's depth map lies in
// front of it. Visibilities are stored one byte per direction and point and summed in a fixed order, so that
// the picture does not depend on the number of threads. Cost: a depth map of the whole scene for each
// direction.
// Detail finer than a vertex or a map texel (about 1/200 of the scene) is lost, which is what makes the
// shadows soft.
#include "draw/picture_internal.h"

#include "draw/picture.h"

#include "runtime/for_author.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_SIZE = 320 };

/// Where light comes from: the sky first, then the key lamp.
typedef struct Lights {
    int sky, key, all;
    float directions[JNA_MOST_DIRECTIONS][3];
} Lights;
enum { GROUND_POINTS = (GROUND_CELLS + 1) * (GROUND_CELLS + 1), GROUND_SOFTENING = 3 };

// How far the test point is lifted off the surface, in map texels: below one texel a surface would shade
// itself.
#define BIAS_TEXELS 1.6f
#define GOLDEN_ANGLE 2.39996323f
// Half-width of the key lamp as a sine: about 20 degrees, an overcast window rather than the sun.
#define KEY_SPREAD 0.34f

typedef struct Frame {
    float right[3], up[3], forward[3]; // forward points towards the light
} Frame;

static void Normalize(float v[3])
{
    float scale = 1 / sqrtf(Dot(v, v));
    for (int i = 0; i < 3; ++i) {
        v[i] *= scale;
    }
}

static void Cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static Frame MakeFrame(const float forward[3])
{
    Frame frame;
    memcpy(frame.forward, forward, sizeof(frame.forward));
    const float helper[3] = {fabsf(forward[1]) < 0.9f ? 0 : 1, fabsf(forward[1]) < 0.9f ? 1 : 0, 0};
    Cross(helper, forward, frame.right);
    Normalize(frame.right);
    Cross(forward, frame.right, frame.up);
    return frame;
}

void jnaKeyDirection(float yaw, float direction[3])
{
    // Over the camera's left shoulder.
    float angle = (yaw - 38) * RADIANS;
    direction[0] = sinf(angle) * 0.74f;
    direction[1] = 0.78f;
    direction[2] = cosf(angle) * 0.74f;
    Normalize(direction);
}

// The sky first: points spread evenly over the upper hemisphere, then a disc of directions around the key.
static void MakeDirections(float yaw, int count, Lights* lights)
{
    float(*directions)[3] = lights->directions;
    *lights = (Lights){.sky = count - count / 4, .key = count / 4, .all = count};
    for (int i = 0; i < lights->sky; ++i) {
        float y = 0.04f + 0.96f * ((float)i + 0.5f) / (float)lights->sky;
        float r = sqrtf(1 - y * y);
        float angle = GOLDEN_ANGLE * (float)i;
        directions[i][0] = r * cosf(angle);
        directions[i][1] = y;
        directions[i][2] = r * sinf(angle);
    }
    float key[3];
    jnaKeyDirection(yaw, key);
    Frame frame = MakeFrame(key);
    for (int i = 0; i < lights->key; ++i) {
        float r = KEY_SPREAD * sqrtf(((float)i + 0.5f) / (float)lights->key);
        float a = r * cosf(GOLDEN_ANGLE * (float)i), b = r * sinf(GOLDEN_ANGLE * (float)i);
        float* d = directions[lights->sky + i];
        for (int k = 0; k < 3; ++k) {
            d[k] = key[k] + a * frame.right[k] + b * frame.up[k];
        }
        Normalize(d);
    }
}

// Texel coordinates and depth towards the light.
static void ToMap(const Scene* scene, const Frame* frame, const float* p, float out[3])
{
    float d[3] = {p[0] - scene->center[0], p[1] - scene->center[1], p[2] - scene->center[2]};
    float scale = 0.5f * (float)MAP_SIZE / scene->radius;
    out[0] = (float)MAP_SIZE * 0.5f + scale * Dot(d, frame->right);
    out[1] = (float)MAP_SIZE * 0.5f + scale * Dot(d, frame->up);
    out[2] = scale * Dot(d, frame->forward);
}

static int Clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static void DrawDepth(const float a[3], const float b[3], const float c[3], float* map)
{
    float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (area == 0) {
        return;
    }
    float inverse = 1 / area;
    int x0 = Clamp((int)Min(a[0], Min(b[0], c[0])), 0, MAP_SIZE - 1);
    int x1 = Clamp((int)Max(a[0], Max(b[0], c[0])), 0, MAP_SIZE - 1);
    int y0 = Clamp((int)Min(a[1], Min(b[1], c[1])), 0, MAP_SIZE - 1);
    int y1 = Clamp((int)Max(a[1], Max(b[1], c[1])), 0, MAP_SIZE - 1);
    for (int y = y0; y <= y1; ++y) {
        for (int x = x0; x <= x1; ++x) {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            float u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) * inverse;
            float v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) * inverse;
            float w = 1 - u - v;
            if (u < 0 || v < 0 || w < 0) {
                continue;
            }
            float depth = u * a[2] + v * b[2] + w * c[2];
            float* texel = &map[y * MAP_SIZE + x];
            *texel = depth > *texel ? depth : *texel;
        }
    }
}

static bool Sees(const float q[3], const float* map)
{
    int x = (int)q[0], y = (int)q[1];
    if (q[0] < 0 || q[1] < 0 || x >= MAP_SIZE || y >= MAP_SIZE) {
        return true;
    }
    return map[y * MAP_SIZE + x] <= q[2] + BIAS_TEXELS;
}

// Which vertices and ground points see one direction. projected: [vertexCount][3] scratch.
static void TestDirection(const Scene* scene, const float direction[3], float* map, float* projected, uint8_t* seen)
{
    Frame frame = MakeFrame(direction);
    for (int i = 0; i < MAP_SIZE * MAP_SIZE; ++i) {
        map[i] = -1e30f;
    }
    for (int v = 0; v < scene->vertexCount; ++v) {
        ToMap(scene, &frame, scene->positions + 3 * v, projected + 3 * v);
    }
    for (int t = 0; t < scene->triangleCount; ++t) {
        const int32_t* c = scene->triangles + 3 * t;
        DrawDepth(projected + 3 * c[0], projected + 3 * c[1], projected + 3 * c[2], map);
    }
    float lift = 2 * scene->radius / (float)MAP_SIZE;
    for (int v = 0; v < scene->vertexCount; ++v) {
        const float* n = scene->normals + 3 * v;
        const float* p = scene->positions + 3 * v;
        float point[3] = {p[0] + lift * n[0], p[1] + lift * n[1], p[2] + lift * n[2]};
        float q[3];
        ToMap(scene, &frame, point, q);
        seen[v] = Dot(n, direction) > 0 && Sees(q, map);
    }
    for (int i = 0; scene->ground && i < GROUND_POINTS; ++i) {
        float point[3] = {scene->groundOrigin[0] + scene->groundStep * (float)(i % (GROUND_CELLS + 1)),
            scene->groundHeight, scene->groundOrigin[1] + scene->groundStep * (float)(i / (GROUND_CELLS + 1))};
        float q[3];
        ToMap(scene, &frame, point, q);
        seen[scene->vertexCount + i] = Sees(q, map);
    }
}

// Sums a vertex's light; the sky is a little bluer above, the floor sends warm light back from below.
static void GatherVertex(Scene* scene, const Lights* lights, const uint8_t* seen, size_t stride, int v)
{
    const float* n = scene->normals + 3 * v;
    float sky[3] = {0, 0, 0}, key = 0, open = 0;
    for (int d = 0; d < lights->sky; ++d) {
        float visible = seen[(size_t)d * stride + (size_t)v];
        float light = visible * Max(0, Dot(n, lights->directions[d])) * 2 / (float)lights->sky;
        float high = lights->directions[d][1];
        sky[0] += light * (0.92f + 0.02f * high);
        sky[1] += light * (0.94f + 0.06f * high);
        sky[2] += light * (0.97f + 0.15f * high);
        open += visible * 2 / (float)lights->sky;
    }
    for (int d = lights->sky; d < lights->all; ++d) {
        key += (float)seen[(size_t)d * stride + (size_t)v] / (float)lights->key;
    }
    float bounce = (0.5f - 0.5f * n[1]) * 0.30f * Min(1, 0.35f + open);
    scene->sky[3 * v] = sky[0] + 1.06f * bounce;
    scene->sky[3 * v + 1] = sky[1] + 0.98f * bounce;
    scene->sky[3 * v + 2] = sky[2] + 0.90f * bounce;
    scene->key[v] = key;
}

static void GatherGround(Scene* scene, const Lights* lights, const uint8_t* seen, size_t stride, int i)
{
    float sky = 0, all = 0, key = 0;
    for (int d = 0; d < lights->sky; ++d) {
        sky += lights->directions[d][1] * (float)seen[(size_t)d * stride + (size_t)(scene->vertexCount + i)];
        all += lights->directions[d][1];
    }
    for (int d = lights->sky; d < lights->all; ++d) {
        key += (float)seen[(size_t)d * stride + (size_t)(scene->vertexCount + i)] / (float)lights->key;
    }
    scene->groundShade[i] = 1 - 0.50f * (1 - sky / all) - 0.26f * (1 - key);
}

// Softens the grid with a 1-2-1 filter both ways: the few key directions would show as steps in the shadow's
// edge.
static void SoftenGround(Scene* scene, float* scratch)
{
    const int row = GROUND_CELLS + 1;
    for (int pass = 0; pass < 2 * GROUND_SOFTENING; ++pass) {
        int step = pass % 2 == 0 ? 1 : row;
        memcpy(scratch, scene->groundShade, sizeof(float) * GROUND_POINTS);
        for (int k = 1; k < GROUND_CELLS; ++k) {
            for (int i = 1; i < GROUND_CELLS; ++i) {
                const float* at = scratch + k * row + i;
                scene->groundShade[k * row + i] = 0.25f * at[-step] + 0.5f * at[0] + 0.25f * at[step];
            }
        }
    }
}

jnResult jnaLightScene(Scene* scene, float yaw, int directions, int threads, jnError* error)
{
    Lights lights;
    MakeDirections(yaw, directions, &lights);
    size_t stride = (size_t)scene->vertexCount + GROUND_POINTS;
    size_t scratch = (size_t)MAP_SIZE * MAP_SIZE + 3 * (size_t)scene->vertexCount;
    uint8_t* seen = jnaArena_Take(&scene->arena, lights.all, stride);
    float* memory = jnaArena_Take(&scene->arena, threads, scratch * sizeof(float));
    if (scene->arena.failed) {
        return jnaArena_Check(&scene->arena, "the light of a picture", error);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int d = 0; d < lights.all; ++d) {
        float* map = memory + scratch * (size_t)omp_get_thread_num();
        TestDirection(scene, lights.directions[d], map, map + MAP_SIZE * MAP_SIZE, seen + (size_t)d * stride);
    }
#pragma omp parallel for num_threads(threads)
    for (int v = 0; v < scene->vertexCount; ++v) {
        GatherVertex(scene, &lights, seen, stride, v);
    }
    for (int i = 0; scene->ground && i < GROUND_POINTS; ++i) {
        GatherGround(scene, &lights, seen, stride, i);
    }
    SoftenGround(scene, memory);
    return jn_ok;
}

float jnaGroundShade(const Scene* scene, float x, float z)
{
    float u = (x - scene->groundOrigin[0]) / scene->groundStep;
    float v = (z - scene->groundOrigin[1]) / scene->groundStep;
    if (!(u >= 0 && v >= 0 && u < GROUND_CELLS && v < GROUND_CELLS)) {
        return 1;
    }
    int i = (int)u, k = (int)v;
    float a = u - (float)i, b = v - (float)k;
    const float* row = scene->groundShade + k * (GROUND_CELLS + 1) + i;
    const float* next = row + GROUND_CELLS + 1;
    float shade = (1 - b) * ((1 - a) * row[0] + a * row[1]) + b * ((1 - a) * next[0] + a * next[1]);
    // Fades towards the edge of the grid, so that a long shadow ends softly instead of being cut.
    float edge = Min(Min(u, GROUND_CELLS - u), Min(v, GROUND_CELLS - v)) / (0.3f * GROUND_CELLS);
    return 1 - (1 - shade) * Min(1, edge);
}
