// Small character files made in memory by sums and products alone, so that every machine makes the same bytes: a tube
// along a chain of joints, with everything in it that the runtime knows.
#pragma once

#include "elementary.h"
#include "network.h"

#include "jounce/springs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum GoldenKind {
    golden_linear, // linear blend, a spring a vertex, drivers and followers
    golden_modes,  // linear blend, components, springs on modes
    golden_dual,   // dual quaternions with scales, a map, springs on modes, exact timing
} GoldenKind;

enum { GOLDEN_JOINTS = 5, GOLDEN_FRAMES = 24, GOLDEN_INPUTS = 6 * (GOLDEN_JOINTS - 1), GOLDEN_MODES = 6 };
enum { MOST_SECTIONS = 24, SECTIONS_START = (64 + 32 * MOST_SECTIONS + 63) / 64 * 64 };
enum { RING_ENTRIES = 1 + 3 * 6, HIDDEN = 80, COMPONENTS = 8, PAIRS = 3, CROSSES = 2 };
enum { MAP_STAGES = 2, MAP_FIRST = 4, MAP_SIZE = MAP_FIRST << MAP_STAGES, MAP_CHANNELS = 8 };

// A file in the making.
typedef struct Maker {
    GoldenKind kind;
    int rings, segments, vertices, springs, blocks;
    char* bytes; // room for `room`, zeroed
    size_t size, room;
    jnAssetEntry entries[MOST_SECTIONS];
    uint32_t count;
    uint64_t random;
} Maker;

static double RandomIn(Maker* m, double low, double high)
{
    uint64_t z = (m->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * ((double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0));
}

static double Sine(double x)
{
    double sine, cosine;
    jnSinCos(x, &sine, &cosine);
    return sine;
}

static void* AddSection(Maker* m, uint32_t id, uint64_t size)
{
    m->size = (m->size + 63) / 64 * 64;
    if (m->size + size > m->room || m->count == MOST_SECTIONS) {
        abort();
    }
    m->entries[m->count++] = (jnAssetEntry){.id = id, .offset = m->size, .size = size};
    m->size += (size_t)size;
    return m->bytes + m->entries[m->count - 1].offset;
}

// Height of a vertex in joints; the last ring is just below the last joint.
static double HeightOf(const Maker* m, int v)
{
    return (GOLDEN_JOINTS - 1.001) * (v < m->vertices ? v / m->segments : 0) / (m->rings - 1);
}

static void AddInfo(Maker* m)
{
    jnAssetInfo* info = AddSection(m, JN_SECTION_INFO, sizeof(*info));
    strcpy(info->name, "golden");
    info->jointCount = GOLDEN_JOINTS;
    info->vertexCount = info->normalCount = m->vertices;
    info->fileVertexCount = m->rings * (m->segments + 1); // the seam is there twice
    info->triangleCount = 2 * (m->rings - 1) * m->segments;
    info->clipCount = 1;
    info->springCount = m->springs;
    info->skinning = m->kind == golden_dual ? jn_skinDual : jn_skinLinear;
    info->curve = jn_curveCubic;
    info->timing = m->kind == golden_dual ? jn_timingExact : jn_timingCausal;
    info->rate = 30.0f;
}

static void AddJoints(Maker* m)
{
    jnAssetJoint* joints = AddSection(m, JN_SECTION_JOINTS, GOLDEN_JOINTS * sizeof(*joints));
    for (int j = 0; j < GOLDEN_JOINTS; ++j) {
        joints[j] = (jnAssetJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        joints[j].name[0] = (char)('a' + j);
        joints[j].translation[1] = j > 0 ? 0.25f : 0.0f;
        joints[j].inverseBind[0] = joints[j].inverseBind[5] = joints[j].inverseBind[10] = 1.0f;
        joints[j].inverseBind[7] = -0.25f * (float)j;
    }
}

// 1 to 5 influences a vertex, another count in every block.
static void AddSkin(Maker* m)
{
    size_t lanes = (size_t)m->blocks * JN_LANES;
    float* rest = AddSection(m, JN_SECTION_REST, lanes * 4 * sizeof(float));
    uint32_t* starts = AddSection(m, JN_SECTION_INFLUENCE_STARTS, ((size_t)m->blocks + 1) * sizeof(uint32_t));
    for (int b = 0; b < m->blocks; ++b) {
        starts[b + 1] = starts[b] + 1 + (uint32_t)b % 5;
    }
    size_t influences = (size_t)starts[m->blocks] * JN_LANES;
    uint16_t* joints = AddSection(m, JN_SECTION_INFLUENCE_JOINTS, influences * sizeof(uint16_t));
    float* weights = AddSection(m, JN_SECTION_INFLUENCE_WEIGHTS, influences * sizeof(float));
    for (int v = 0; v < m->blocks * JN_LANES; ++v) {
        double at = HeightOf(m, v), angle = 6.283185307179586 * (v % m->segments) / m->segments, sum = 0.0, raw[5];
        double round[2] = {Sine(angle + 1.5707963267948966), Sine(angle)};
        const float point[4] = {(float)(0.15 * round[0]), (float)(0.25 * at), (float)(-0.15 * round[1]), 1.0f};
        memcpy(rest + 4 * v, point, sizeof(point));
        int count = (int)(starts[v / JN_LANES + 1] - starts[v / JN_LANES]), base = (int)at;
        size_t to = (size_t)starts[v / JN_LANES] * JN_LANES + (size_t)(v % JN_LANES * count);
        for (int k = 0; k < count; ++k) {
            raw[k] = 1.0 / (1.0 + k * k + (at - base));
            sum += raw[k];
        }
        for (int k = 0; k < count; ++k) {
            joints[to + (size_t)k] = (uint16_t)((base + k) % GOLDEN_JOINTS);
            weights[to + (size_t)k] = (float)(raw[k] / sum);
        }
    }
}

// From soft to so stiff that the closed form takes over.
static void AddSprings(Maker* m)
{
    float* stiffness = AddSection(m, JN_SECTION_STIFFNESS, (size_t)m->vertices * sizeof(float));
    float* damping = AddSection(m, JN_SECTION_DAMPING, (size_t)m->vertices * sizeof(float));
    for (int v = 0; v < m->vertices; ++v) {
        stiffness[v] = (float)RandomIn(m, 50.0, 2000.0) * (v % 37 == 0 ? 1e5f : 1.0f);
        damping[v] = (float)RandomIn(m, 0.0, 20.0) * (v % 41 == 0 ? 1e3f : 1.0f);
    }
}

static void AddSurface(Maker* m)
{
    int wide = m->segments + 1, files = m->rings * wide, triangles = 2 * (m->rings - 1) * m->segments;
    size_t quads = (size_t)m->blocks * 4;
    int32_t* weld = AddSection(m, JN_SECTION_WELD, (size_t)files * sizeof(int32_t));
    int32_t* normals = AddSection(m, JN_SECTION_FILE_NORMALS, (size_t)files * sizeof(int32_t));
    int32_t* corners = AddSection(m, JN_SECTION_TRIANGLES, (size_t)triangles * 3 * sizeof(int32_t));
    uint32_t* starts = AddSection(m, JN_SECTION_RING_STARTS, (quads + 1) * sizeof(uint32_t));
    uint32_t* rings = AddSection(m, JN_SECTION_RINGS, quads * RING_ENTRIES * 4 * sizeof(uint32_t));
    uint32_t* used = calloc((size_t)m->vertices, sizeof(uint32_t));
    for (int f = 0; f < files; ++f) {
        weld[f] = normals[f] = f / wide * m->segments + f % wide % m->segments;
    }
    for (size_t q = 0; q < quads; ++q) {
        starts[q + 1] = (uint32_t)(q + 1) * RING_ENTRIES;
        for (size_t i = 0; i < RING_ENTRIES * 4; ++i) {
            size_t v = 4 * q + i % 4;
            rings[q * RING_ENTRIES * 4 + i] = v < (size_t)m->vertices ? (uint32_t)v : 0;
        }
    }
    for (int i = 0; i < 3 * triangles; ++i) {
        static const int ring[6] = {0, 0, 1, 0, 1, 1}, segment[6] = {0, 1, 1, 0, 1, 0};
        int cell = i / 6;
        corners[i] = (cell / m->segments + ring[i % 6]) * wide + cell % m->segments + segment[i % 6];
    }
    for (int i = 0; used != NULL && i < 3 * triangles; ++i) {
        uint32_t v = (uint32_t)weld[corners[i]], at = 4 * (RING_ENTRIES * (v / 4) + 1 + 3 * used[v]++) + v % 4;
        rings[at] = (uint32_t)weld[corners[i / 3 * 3 + (i + 1) % 3]];
        rings[at + 4] = (uint32_t)weld[corners[i / 3 * 3 + (i + 2) % 3]];
    }
    free(used);
}

static void AddFollowers(Maker* m)
{
    int drivers = m->blocks / 4 * JN_LANES, count = m->blocks * JN_LANES - drivers;
    jnAssetFollower* followers = AddSection(m, JN_SECTION_FOLLOWERS, (size_t)count * sizeof(*followers));
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < JN_MAX_DRIVERS; ++k) {
            followers[i].drivers[k] = (i + 7 * k) % drivers;
            followers[i].weights[k] = (float)RandomIn(m, 0.0, 0.5);
        }
    }
}

static void AddClip(Maker* m)
{
    jnAssetClipEntry* clip = AddSection(m, JN_SECTION_CLIPS, sizeof(*clip));
    enum { ENTRIES = GOLDEN_FRAMES * GOLDEN_JOINTS };
    bool scales = m->kind == golden_dual;
    *clip = (jnAssetClipEntry){.name = "sway", .rate = 30.0, .frameCount = GOLDEN_FRAMES};
    clip->flags = JN_CLIP_LOOPING | (scales ? JN_CLIP_SCALES : 0);
    float* data = AddSection(m, JN_SECTION_CLIP_DATA, ENTRIES * (scales ? 10u : 7u) * sizeof(float));
    for (int i = 0; i < ENTRIES; ++i) {
        int frame = i / GOLDEN_JOINTS, j = i % GOLDEN_JOINTS;
        double time = 6.283185307179586 * frame / GOLDEN_FRAMES, q[4] = {0, 0, 0, 1}, square = 0.0;
        for (int k = 0; k < 3; ++k) {
            q[k] = 0.3 * Sine((1 + (j + k) % 3) * time + 1.7 * j + 0.6 * k);
        }
        for (int k = 0; k < 4; ++k) {
            square += q[k] * q[k];
        }
        for (int k = 0; k < 4; ++k) {
            data[4 * i + k] = (float)(q[k] / sqrt(square));
        }
        data[4 * ENTRIES + 3 * i + 1] = j > 0 ? 0.25f : 0.0f;
        for (int k = 0; scales && k < 3; ++k) {
            data[7 * ENTRIES + 3 * i + k] = (float)(1.0 + 0.1 * Sine(2.0 * time + j + k));
        }
    }
}

static void FillRandom(Maker* m, const float* to, size_t count, double size)
{
    for (size_t i = 0; i < count; ++i) {
        ((float*)(uintptr_t)to)[i] = (float)RandomIn(m, -size, size);
    }
}

// Dense layers: all blocks alike but the last of the first layer, which takes a run of its inputs.
static void FillDense(Maker* m, const jnNetwork* n)
{
    for (int layer = 0; layer < n->head->layerCount; ++layer) {
        int blocks = jnBlockCount(n->head->sizes[layer + 1]), inputs = n->head->sizes[layer];
        int32_t* firsts = (int32_t*)(uintptr_t)n->firsts[layer];
        uint32_t* starts = (uint32_t*)(uintptr_t)n->rowStarts[layer];
        for (int b = 0; b < blocks; ++b) {
            bool last = layer == 0 && b == blocks - 1;
            firsts[b] = last ? 8 : 0;
            starts[b + 1] = starts[b] + (uint32_t)(last ? 10 : inputs);
        }
        FillRandom(m, n->weights[layer], (size_t)n->head->rows[layer] * JN_LANES, layer == 0 ? 0.3 : 0.15);
        FillRandom(m, n->biases[layer], (size_t)blocks * JN_LANES, 0.2);
    }
}

// Morph targets of components and modes, some of them nowhere in a patch. Every fourth patch is not moved at all.
static void AddMorphs(Maker* m)
{
    jnAssetMorphsHeader h = {.componentCount = m->kind == golden_modes ? COMPONENTS : 0, .modeCount = GOLDEN_MODES};
    uint64_t places[JN_MORPH_ARRAYS + 1];
    int columns = jnMakeEven(h.componentCount) + jnMakeEven(h.modeCount), patches = jnPatchCount(m->blocks);
    jnAssetPatch at[64] = {{0}};
    for (int i = 0; i < patches; ++i) {
        int left = m->blocks - i * JN_PATCH_BLOCKS;
        uint32_t used = i % 4 < 3 ? (uint32_t)(columns - i % 3) : 0,
                 shapes = i % 4 < 3 ? JN_SHAPE_STEP * (1 + (uint32_t)i % 5) : 0;
        at[i + 1].columns = at[i].columns + used;
        at[i + 1].shapes = at[i].shapes + shapes;
        at[i + 1].values = at[i].values + (uint32_t)(jnMixRuns(used, shapes) +
                                                     (uint64_t)(left < JN_PATCH_BLOCKS ? left : JN_PATCH_BLOCKS) *
                                                         jnShapeRuns(shapes));
    }
    h.listCount = at[patches].columns;
    h.shapeCount = at[patches].shapes;
    h.runCount = at[patches].values;
    jnPlaceMorphs(&h, m->blocks, places);
    char* section = AddSection(m, JN_SECTION_MORPHS, places[JN_MORPH_ARRAYS]);
    memcpy(section, &h, sizeof(h));
    memcpy(section + places[0], at, (size_t)(patches + 1) * sizeof(at[0]));
    uint16_t* list = (uint16_t*)(void*)(section + places[1]);
    float* scales = (float*)(void*)(section + places[2]);
    int8_t* values = (int8_t*)(section + places[3]);
    for (int i = 0; i < patches; ++i) {
        for (uint32_t k = at[i].columns; k < at[i + 1].columns; ++k) {
            list[k] = (uint16_t)((int)(k - at[i].columns) + i % 3);
        }
    }
    for (uint32_t i = 0; i < h.shapeCount; ++i) {
        scales[i] = (float)(2e-7 / (1 + i % 7));
    }
    for (size_t i = 0; i < (size_t)h.runCount * JN_VALUE_RUN; ++i) {
        values[i] = (int8_t)(int)RandomIn(m, -127.0, 127.999);
    }
}

static void FillMap(Maker* m, const jnNetwork* n)
{
    uint32_t* starts = (uint32_t*)(uintptr_t)n->lookupStarts;
    float* lookups = (float*)(uintptr_t)n->lookups;
    for (int i = 0; i < MAP_STAGES; ++i) {
        size_t outputs = jnPadLanes(n->head->channels[i + 1]);
        FillRandom(m, n->kernels[i], 16 * outputs * (size_t)n->head->channels[i], 0.2);
        FillRandom(m, n->kernelBiases[i], outputs, 0.1);
    }
    for (int v = 0; v < m->vertices; ++v) {
        starts[v + 1] = starts[v] + 1 + (uint32_t)v % 2;
    }
    for (size_t i = 0; i < 2 * (size_t)n->head->lookupCount; ++i) {
        lookups[i] = (float)RandomIn(m, 0.0, MAP_SIZE - 1.01);
    }
}

static void AddNetwork(Maker* m)
{
    bool pca = m->kind == golden_modes;
    jnNetworkHead head = {.kind = pca ? jn_networkPca : jn_networkCnn, .inputCount = GOLDEN_INPUTS, .layerCount = 2};
    head.sizes[0] = GOLDEN_INPUTS;
    head.sizes[1] = HIDDEN;
    head.sizes[2] = pca ? COMPONENTS - 1 : MAP_FIRST * MAP_FIRST * MAP_CHANNELS;
    head.rows[0] = (HIDDEN / JN_LANES - 1) * GOLDEN_INPUTS + 10;
    head.rows[1] = (uint32_t)jnBlockCount(head.sizes[2]) * HIDDEN;
    head.unit = pca ? 1.0f : 0.02f;
    if (pca) {
        head.componentCount = COMPONENTS;
    } else {
        head.stageCount = MAP_STAGES;
        head.firstSize = MAP_FIRST;
        head.channels[0] = MAP_CHANNELS;
        head.channels[1] = 16;
        head.channels[2] = 3;
        head.lookupCount = (uint32_t)(m->vertices + m->vertices / 2);
    }
    jnNetwork n;
    void* section = AddSection(m, JN_SECTION_NETWORK, jnPlaceNetwork(&head, NULL, m->vertices, &n));
    memcpy(section, &head, sizeof(head));
    jnPlaceNetwork(section, section, m->vertices, &n);
    for (int i = 0; i < GOLDEN_INPUTS; ++i) {
        ((int32_t*)(uintptr_t)n.inputs)[i] = 6 + i;
        ((float*)(uintptr_t)n.centres)[i] = i % 6 == 0 || i % 6 == 4 ? 0.8f : 0.0f;
        ((float*)(uintptr_t)n.scales)[i] = 2.0f;
    }
    FillDense(m, &n);
    if (!pca) {
        FillMap(m, &n);
    }
}

// Every joint drives every mode; pairs of modes are coupled by all joints but the last.
static void AddModes(Maker* m)
{
    static const uint16_t pairs[PAIRS][2] = {{1, 0}, {3, 2}, {5, 1}};
    jnAssetModesHeader h = {.modeCount = GOLDEN_MODES,
        .driverCount = GOLDEN_JOINTS,
        .forceCount = GOLDEN_JOINTS,
        .pairCount = PAIRS,
        .spinCount = GOLDEN_JOINTS - 1};
    h.componentCount = m->kind == golden_modes ? COMPONENTS : 0;
    h.crossCount = m->kind == golden_modes ? CROSSES : 0;
    uint64_t places[JN_MODE_ARRAYS + 1];
    jnPlaceModes(&h, m->blocks, places);
    char* section = AddSection(m, JN_SECTION_MODES, places[JN_MODE_ARRAYS]);
    float* numbers[JN_MODE_ARRAYS];
    uint16_t* shorts[JN_MODE_ARRAYS];
    for (int i = 0; i < JN_MODE_ARRAYS; ++i) {
        numbers[i] = (float*)(void*)(section + places[i]);
        shorts[i] = (uint16_t*)(void*)(section + places[i]);
    }
    memcpy(section, &h, sizeof(h));
    jnAssetMode* modes = (jnAssetMode*)(void*)(section + places[0]);
    for (int k = 0; k < GOLDEN_MODES; ++k) {
        double omega = 6.283185307179586 * (1.5 + 0.8 * k);
        modes[k] = (jnAssetMode){.stiffness = (float)(omega * omega), .damping = (float)(0.4 * omega), .gain = 1.0f};
        modes[k].unit = 0.25f;
        modes[k].largest = 0.05f;
        modes[k].joint = k % GOLDEN_JOINTS;
        modes[k].vertexCount = m->vertices;
        modes[k].limit = k % 2 == 0 ? 40.0f : 0.0f;
        modes[k].cap = k % 3 == 0 ? 0.0f : 0.3f;
    }
    for (uint16_t j = 0; j < GOLDEN_JOINTS; ++j) {
        shorts[1][j] = shorts[4][j] = j;
        shorts[12][j < GOLDEN_JOINTS - 1 ? j : 0] = j < GOLDEN_JOINTS - 1 ? j : 0;
    }
    for (int i = 0; i < m->blocks * JN_LANES; ++i) {
        numbers[2][i] = (float)RandomIn(m, 0.001, 0.01);
    }
    ((uint32_t*)(void*)shorts[3])[1] = GOLDEN_JOINTS;
    FillRandom(m, numbers[5], (size_t)h.forceCount * 12 * JN_LANES, 0.1);
    FillRandom(m, numbers[6], (size_t)h.componentCount * JN_LANES, 0.01);
    for (uint16_t e = 0; e < h.crossCount; ++e) {
        shorts[7][e] = (uint16_t)(1 + e);
        shorts[8][e] = (uint16_t)(2 + e);
    }
    FillRandom(m, numbers[9], (size_t)h.crossCount * 9 * JN_LANES, 0.01);
    memcpy(shorts[10], pairs, sizeof(pairs));
    ((uint32_t*)(void*)shorts[11])[1] = (uint32_t)h.spinCount;
    FillRandom(m, numbers[13], (size_t)h.spinCount * 3 * JN_LANES, 0.3);
}

// A file of `rings` x `segments` vertices; free the result.
static char* MakeGoldenAsset(GoldenKind kind, int rings, int segments, size_t* size)
{
    Maker m = {
        .kind = kind, .rings = rings, .segments = segments, .vertices = rings * segments, .size = SECTIONS_START};
    m.blocks = jnBlockCount(m.vertices);
    m.springs = kind == golden_linear ? m.vertices : 0;
    m.room = 400000 + (size_t)m.blocks * 30000;
    m.bytes = calloc(1, m.room);
    m.random = (uint64_t)kind + 1;
    if (m.bytes == NULL) {
        abort();
    }
    AddInfo(&m);
    AddJoints(&m);
    AddSkin(&m);
    AddSprings(&m);
    AddSurface(&m);
    AddClip(&m);
    if (kind == golden_linear) {
        AddFollowers(&m);
    } else {
        AddNetwork(&m);
        AddModes(&m);
        AddMorphs(&m);
    }
    jnAssetHeader header = {.magic = JN_ASSET_MAGIC, .version = JN_ASSET_VERSION, .sectionCount = m.count};
    header.byteCount = m.size;
    memcpy(m.bytes, &header, sizeof(header));
    memcpy(m.bytes + sizeof(header), m.entries, m.count * sizeof(m.entries[0]));
    header.checksum = jnAssetChecksum(m.bytes, m.size);
    memcpy(m.bytes, &header, sizeof(header));
    *size = m.size;
    return m.bytes;
}
