// The layout of a `.jounce` file, shared by the reader here and the writer of the author side.
#pragma once

#include "internal.h"
#include "jounce/asset.h"

#include <math.h>

#define JN_ASSET_MAGIC "JOUNCE\x1a\n"
enum { JN_MAX_SECTIONS = 64, JN_SECTION_REQUIRED = 1 };
// Counts above these are refused, so that no product of sizes leaves 64 bits.
enum { JN_MAX_ASSET_JOINTS = 4096, JN_MAX_ASSET_ELEMENTS = 1 << 26 };

#define JN_SECTION_ID(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define JN_SECTION_INFO JN_SECTION_ID('I', 'N', 'F', 'O')
#define JN_SECTION_JOINTS JN_SECTION_ID('J', 'N', 'T', 'S')
#define JN_SECTION_REST JN_SECTION_ID('P', 'O', 'S', 'N')
#define JN_SECTION_INFLUENCE_STARTS JN_SECTION_ID('I', 'N', 'F', 'S')
#define JN_SECTION_INFLUENCE_JOINTS JN_SECTION_ID('I', 'N', 'F', 'J')
#define JN_SECTION_INFLUENCE_WEIGHTS JN_SECTION_ID('I', 'N', 'F', 'W')
#define JN_SECTION_STIFFNESS JN_SECTION_ID('S', 'T', 'I', 'F')
#define JN_SECTION_DAMPING JN_SECTION_ID('D', 'A', 'M', 'P')
#define JN_SECTION_WELD JN_SECTION_ID('W', 'E', 'L', 'D')
#define JN_SECTION_FILE_NORMALS JN_SECTION_ID('N', 'G', 'R', 'P')
#define JN_SECTION_TRIANGLES JN_SECTION_ID('T', 'R', 'I', 'S')
#define JN_SECTION_RING_STARTS JN_SECTION_ID('R', 'N', 'G', 'S')
#define JN_SECTION_RINGS JN_SECTION_ID('R', 'N', 'G', 'F')
#define JN_SECTION_UVS JN_SECTION_ID('U', 'V', 'S', '0')
#define JN_SECTION_ORDER JN_SECTION_ID('V', 'O', 'R', 'D')
#define JN_SECTION_PARTS JN_SECTION_ID('P', 'A', 'R', 'T')
#define JN_SECTION_CLIPS JN_SECTION_ID('C', 'L', 'P', 'S')
#define JN_SECTION_CLIP_DATA JN_SECTION_ID('C', 'L', 'P', 'D')
#define JN_SECTION_MODES JN_SECTION_ID('M', 'O', 'D', 'E')
#define JN_SECTION_BOUND JN_SECTION_ID('B', 'O', 'N', 'D')
#define JN_SECTION_MORPHS JN_SECTION_ID('M', 'R', 'P', 'H')
#define JN_SECTION_FOLLOWERS JN_SECTION_ID('F', 'O', 'L', 'W')
#define JN_SECTION_NETWORK JN_SECTION_ID('N', 'E', 'T', 'W')
#define JN_SECTION_WEIGHT_SCALES JN_SECTION_ID('W', 'S', 'C', 'L')
#define JN_SECTION_WEIGHT_MIX JN_SECTION_ID('W', 'M', 'I', 'X')
#define JN_SECTION_TARGETS JN_SECTION_ID('T', 'A', 'R', 'G')
#define JN_SECTION_HITS JN_SECTION_ID('H', 'I', 'T', 'S')
#define JN_SECTION_TOUCH JN_SECTION_ID('T', 'U', 'C', 'H')

typedef struct jnAssetHeader {
    char magic[8];
    uint32_t version; // a reader refuses another one; optional sections do not change it
    uint32_t sectionCount;
    uint64_t byteCount;   // of the file
    uint64_t checksum;    // of the file with this field 0
    uint8_t reserved[32]; // 0
} jnAssetHeader;

typedef struct jnAssetEntry {
    uint32_t id;
    uint32_t flags;    // JN_SECTION_REQUIRED
    uint64_t offset;   // from the start of the file, a multiple of JN_ALIGNMENT
    uint64_t size;     // bytes
    uint64_t reserved; // 0
} jnAssetEntry;

// Section INFO.
typedef struct jnAssetInfo {
    char name[JN_NAME_LENGTH];
    int32_t jointCount, vertexCount, fileVertexCount, triangleCount;
    int32_t normalCount, clipCount, partCount, springCount;
    uint32_t skinning, curve, timing, start;
    float rate;
    uint32_t reserved[3]; // 0
} jnAssetInfo;

enum { JN_CLIP_LOOPING = 1, JN_CLIP_SCALES = 2, JN_CLIP_TEST = 4 };

// One clip of section CLPS. Its data, rotations, translations and then scales, are in section CLPD.
typedef struct jnAssetClipEntry {
    char name[JN_NAME_LENGTH];
    double rate;
    uint64_t data; // float of CLPD where it begins
    int32_t frameCount;
    uint32_t flags;
    uint64_t reserved; // 0
} jnAssetClipEntry;

// A sum of 128 * 32767 for each column stays within 32 bits.
enum { JN_MAX_COLUMNS = 512, JN_MAX_ASSET_MODES = 256 };
enum {
    JN_PATCH_BLOCKS = 4,
    JN_MAX_SHAPES = 256, // of a patch; 192 span all that its vertices can do
    JN_SHAPE_STEP = 8,   // shapes of a patch are a multiple of this
    JN_VALUE_RUN = 16,   // bytes
};

// The beginning of section MODE. The arrays of jnAssetModes follow in their order, each at a multiple of 64 bytes from
// the section's start.
typedef struct jnAssetModesHeader {
    int32_t modeCount, forceCount, crossCount, pairCount, spinCount;
    int32_t driverCount;
    int32_t componentCount; // that `drives` is of
    uint32_t reserved[9];   // 0
} jnAssetModesHeader;

enum { JN_MODE_ARRAYS = 14 };
// Where the arrays of section MODE begin and, last, where it ends. Counts are known to be in range.
void jnPlaceModes(const jnAssetModesHeader* header, int blockCount, uint64_t places[JN_MODE_ARRAYS + 1]);

// The beginning of section MRPH; the arrays of jnAssetMorphs follow in the same way.
typedef struct jnAssetMorphsHeader {
    int32_t componentCount, modeCount;
    uint32_t listCount, shapeCount, runCount;
    uint32_t reserved[11]; // 0
} jnAssetMorphsHeader;

enum { JN_MORPH_ARRAYS = 4 };
void jnPlaceMorphs(const jnAssetMorphsHeader* header, int blockCount, uint64_t places[JN_MORPH_ARRAYS + 1]);

// The beginning of section BOND: what the modes may do to the surface together. The arrays of jnBound follow in the
// same way.
typedef struct jnAssetBoundHeader {
    int32_t blockCount, modeCount;
    float low, high;
    uint32_t reserved[12]; // 0
} jnAssetBoundHeader;

enum { JN_BOUND_ARRAYS = 4, JN_BOUND_ROWS = 6, JN_MAX_BOUND_BLOCKS = 32 };
void jnPlaceBound(const jnAssetBoundHeader* header, uint64_t places[JN_BOUND_ARRAYS + 1]);

// Elements of the surface that bound all of it, in blocks of 16 neighbours. A triangle's rows are the gradient D of the
// displacement, 3x2 in the axes of the triangle, (D11, D12, D21, D22, D31, D32): its smallest stretch stays above 1 -
// low, its largest below 1 + high. A vertex has (0, -z, z, 0, x, y) of the displacement, so that the largest stretch of
// I + D is the root of 1 plus the square of its length.
typedef struct jnBound {
    int blockCount, modeCount; // blockCount 0: there is no bound
    float low, high;
    const float* limits; // [blockCount][16], metres; 0: a triangle
    const float* gains;  // [blockCount][blocks of modes * 16]: the knee is not reached below a sum of gain |z| of it
    const float* parts; // [blockCount][blocks of modes * 16], 0 to 1: how much a mode is held back by the block, to the
                        // power of the norm (morphs_bound.c)
    const float* rows;  // [blockCount][6][modeCount][16], at unit amplitude
} jnBound;

// The ratio of an element to its bound, from its rows: above 1 it is beyond. low, high: of the bound. See
// morphs_bound.c.
static inline float jnBoundRatio(const float d[JN_BOUND_ROWS], float low, float high)
{
    enum { DIRECTIONS = 16 };
    const float r = 0.70710678f, p8 = 0.92387953f, q8 = 0.38268343f;
    const float cosines[DIRECTIONS] = {1, p8, r, q8, 0, -q8, -r, -p8, -1, -p8, -r, -q8, 0, q8, r, p8};
    const float sines[DIRECTIONS] = {0, q8, r, p8, 1, p8, r, q8, 0, -q8, -r, -p8, -1, -p8, -r, -q8};
    float a = d[0], u = d[1], v = d[2], c = d[3], p = d[4], q = d[5];
    float x = a * a + v * v + p * p, z = u * u + c * c + q * q, cross = a * u + v * c + p * q; // D^T D
    float mean = 0.5f * (a + c), half = 0.5f * (a - c), shear = 0.5f * (u + v);                // of E
    float meanSquare = 0.5f * (x + z), halfSquare = 0.5f * (x - z);
    float k = low * (2.0f - low), folded = 0.0f;
    for (int i = 0; i < DIRECTIONS; ++i) {
        float shorter = -(mean + half * cosines[i] + shear * sines[i]);
        float square = meanSquare + halfSquare * cosines[i] + cross * sines[i];
        float inside = shorter * shorter - k * square, root = sqrtf(inside > 0.0f ? inside : 0.0f);
        folded = shorter + root > folded ? shorter + root : folded;
    }
    // Eigenvalues of (I + D)^T (I + D).
    float middle = halfSquare + 2.0f * half, turned = cross + 2.0f * shear;
    float largest = sqrtf(1.0f + meanSquare + 2.0f * mean + sqrtf(middle * middle + turned * turned));
    float stretched = (largest - 1.0f) / high;
    folded /= k;
    return folded > stretched ? folded : stretched;
}

// The length of a vertex' scaled displacement that is at its bound.
static inline float jnBoundReach(float high)
{
    return sqrtf((1.0f + high) * (1.0f + high) - 1.0f);
}

// The beginning of section TARG, the source's morph targets; the arrays of jnTargets follow in the same way.
typedef struct jnAssetTargetsHeader {
    int32_t targetCount;
    uint32_t entryCount, trackCount;
    uint32_t reserved[13]; // 0
} jnAssetTargetsHeader;

enum { JN_TARGET_ARRAYS = 6, JN_MAX_TARGETS = 4096 };
void jnPlaceTargets(
    const jnAssetTargetsHeader* header, int blockCount, int clipCount, uint64_t places[JN_TARGET_ARRAYS + 1]);

// What the targets add to the rest surface, sparse by blocks: entries [starts[b], starts[b + 1]) of block b, each with
// a target, rising.
typedef struct jnTargets {
    uint32_t entryCount, trackCount;
    const jnAssetTarget* targets; // [targetCount]
    const uint32_t* starts;       // [blockCount + 1]
    const uint16_t* numbers;      // [entryCount]
    const float* values;          // [entryCount][3][16], metres at a weight of 1
    const uint32_t* tracks;       // [clipCount], first float of each clip's weights; trackCount: it has none
    const float* weights;         // [trackCount], of a clip [frameCount][targetCount]
} jnTargets;

// Section WMIX begins with this; [rowCount][componentCount + modeCount] floats follow.
typedef struct jnAssetMixHeader {
    int32_t rowCount;
    uint32_t paired;       // 1: each row is two targets, for its positive and its negative values
    uint32_t reserved[14]; // 0
} jnAssetMixHeader;

// The beginning of section HITS: where an asset without a surface can be hit. The arrays of jnHits follow in the same
// way.
typedef struct jnAssetHitsHeader {
    int32_t pointCount, vertexCount, modeCount;
    float offsetUnit, massUnit; // metres and kilograms of a step of what vertices have as whole numbers
    uint32_t reserved[11];      // 0
} jnAssetHitsHeader;

enum { JN_HIT_ARRAYS = 3, JN_HIT_JOINTS = 4, JN_MAX_HIT_POINTS = 512, JN_NO_HIT_POINT = 0xffff };
void jnPlaceHits(const jnAssetHitsHeader* header, uint64_t places[JN_HIT_ARRAYS + 1]);

// A point of the surface that stands for the flesh around it.
typedef struct jnHitPoint {
    float rest[3];
    float rowScale; // metres at unit amplitude of a step of its rows
    float weights[JN_HIT_JOINTS];
    uint16_t joints[JN_HIT_JOINTS];
} jnHitPoint;

// A vertex of the whole character.
typedef struct jnHitVertex {
    int16_t offset[3]; // from its point, at rest
    uint16_t mass;
    uint16_t point; // JN_NO_HIT_POINT: no mode moves it
} jnHitVertex;

typedef struct jnHits {
    int pointCount, vertexCount; // pointCount 0: there are none
    float offsetUnit, massUnit;
    const jnHitPoint* points;    // [pointCount]
    const int16_t* rows;         // [pointCount][modeCount][3], how far the modes move it
    const jnHitVertex* vertices; // [vertexCount]
} jnHits;

// The beginning of section TUCH: how the skin gives way where it is pressed. The arrays of jnTouchTable follow in the
// same way.
typedef struct jnAssetTouchHeader {
    int32_t probeCount, groupCount, columnCount;
    uint32_t linkCount, entryCount;
    float stiffening;      // pressed to the bone the force is 1 plus this times what is linear
    uint32_t reserved[10]; // 0
} jnAssetTouchHeader;

enum { JN_TOUCH_ARRAYS = 6, JN_MAX_PROBES = 8192, JN_GROUP_JOINTS = 4, JN_GROUP_PROBES = 16 };
void jnPlaceTouch(const jnAssetTouchHeader* header, uint64_t places[JN_TOUCH_ARRAYS + 1]);

// A vertex that can be pressed, with what a push of one newton on the skin around it does.
typedef struct jnTouchProbe {
    float normal[3];  // out of the skin, at rest, unit
    float compliance; // metres that it gives way for one newton, without what the modes move
    float depth;      // metres that it may give way: the bone is behind
    float rowUnit;    // metres of a step of its rows
    float entryUnit;  // metres of a step of its entries
    int32_t vertex;
    uint32_t links, entries; // the first of each; those of the next probe follow
} jnTouchProbe;

// What a push does to another probe: a share of the root of the product of both compliances, in steps of 1 / 32767.
typedef struct jnTouchLink {
    uint16_t probe;
    int16_t share;
} jnTouchLink;

// Probes that are close together, in a sphere that joints carry.
typedef struct jnTouchGroup {
    float center[3], radius; // at rest
    uint16_t joints[JN_GROUP_JOINTS];
    int32_t first, count; // probes
} jnTouchGroup;

// Pushes beside the modes: what these move is not in it.
typedef struct jnTouchTable {
    int probeCount, groupCount, columnCount; // probeCount 0: there is no touch
    uint32_t linkCount, entryCount;
    float stiffening;
    const jnTouchProbe* probes; // [probeCount + 1], sorted by groups; of the last only where links and entries end
    const jnTouchGroup* groups; // [groupCount]
    const jnTouchLink* links;   // [linkCount]
    const int32_t* entryBlocks; // [entryCount], blocks of 16 vertices, rising within a probe
    const int16_t* rows;        // [probeCount][3][columnCount], of the morph weights' displacements at the probe
    const int8_t* entries;      // [entryCount][3][16], displacement at rest
} jnTouchTable;

static inline int jnPatchCount(int blockCount)
{
    return (blockCount + JN_PATCH_BLOCKS - 1) / JN_PATCH_BLOCKS;
}

// Runs of values of a patch: those of its mix, and those of its shapes in one block.
static inline uint64_t jnMixRuns(uint64_t columns, uint64_t shapes)
{
    return (columns + 1) / 2 * 2 * shapes / JN_VALUE_RUN;
}

static inline uint64_t jnShapeRuns(uint64_t shapes)
{
    return shapes * 3 * JN_LANES / JN_VALUE_RUN;
}

// The packed morph targets around one vertex.
typedef struct jnVertexMorphs {
    size_t columnCount, shapeCount;
    const uint16_t* columns; // [columnCount]
    const float* scales;     // [shapeCount]
    const int8_t* mix;       // [columns / 2][shapeCount][2]
    const int8_t* shapes;    // of its lane: see jnShapeAt
} jnVertexMorphs;

static inline jnVertexMorphs jnMorphsOf(const jnAssetMorphs* m, int vertex)
{
    const jnAssetPatch* at = m->patches + vertex / (JN_PATCH_BLOCKS * JN_LANES);
    jnVertexMorphs v = {.columnCount = at[1].columns - at->columns, .shapeCount = at[1].shapes - at->shapes};
    size_t block = (size_t)(vertex / JN_LANES % JN_PATCH_BLOCKS);
    v.columns = m->columns + at->columns;
    v.scales = m->scales + at->shapes;
    v.mix = m->values + (size_t)at->values * JN_VALUE_RUN;
    v.shapes = v.mix + (jnMixRuns(v.columnCount, v.shapeCount) + block * jnShapeRuns(v.shapeCount)) * JN_VALUE_RUN +
               2 * (size_t)(vertex % JN_LANES);
    return v;
}

static inline int jnMixAt(const jnVertexMorphs* v, size_t column, size_t shape)
{
    return v->mix[(column / 2 * v->shapeCount + shape) * 2 + column % 2];
}

static inline int jnShapeAt(const jnVertexMorphs* v, size_t shape, size_t axis)
{
    return v->shapes[(shape / 2 * 3 + axis) * 2 * JN_LANES + shape % 2];
}

static inline int jnMakeEven(int count)
{
    return count + count % 2;
}

_Static_assert(sizeof(jnAssetModesHeader) == 64 && sizeof(jnAssetMode) == 40, "no padding in the file");
_Static_assert(sizeof(jnAssetMorphsHeader) == 64 && sizeof(jnAssetPatch) == 12, "no padding in the file");
_Static_assert(sizeof(jnAssetBoundHeader) == 64, "no padding in the file");
_Static_assert(
    sizeof(jnAssetHitsHeader) == 64 && sizeof(jnHitPoint) == 40 && sizeof(jnHitVertex) == 10, "no padding in the file");
_Static_assert(sizeof(jnAssetTouchHeader) == 64 && sizeof(jnTouchProbe) == 40 && sizeof(jnTouchLink) == 4 &&
                   sizeof(jnTouchGroup) == 32,
    "no padding in the file");
_Static_assert(sizeof(jnAssetTargetsHeader) == 64 && sizeof(jnAssetTarget) == 80, "no padding in the file");
_Static_assert(sizeof(jnAssetHeader) == 64 && sizeof(jnAssetEntry) == 32, "no padding in the file");
_Static_assert(sizeof(jnAssetInfo) == 128 && sizeof(jnAssetClipEntry) == 96, "no padding in the file");
_Static_assert(sizeof(jnAssetJoint) == 160 && sizeof(jnAssetPart) == 152 && sizeof(jnAssetFollower) == 32,
    "no padding in the file");

// What jnLoadAsset allocates. `view` comes first.
typedef struct jnAssetBlock {
    jnAsset view;
    const jnAssetHeader* header;
    const jnAssetEntry* entries;
    const jnAssetClipEntry* clips;
    const float* clipData;
    uint64_t clipDataCount; // floats
    const jnAssetModesHeader* modesHeader;
    const jnAssetMorphsHeader* morphsHeader;
    const jnAssetTargetsHeader* targetsHeader;
    const jnAssetBoundHeader* boundHeader;
    const jnAssetHitsHeader* hitsHeader;
    const jnAssetMixHeader* mixHeader;
    const jnAssetTouchHeader* touchHeader;
    jnBound bound;
    jnTargets targets; // of the source
    jnHits hits;
    jnTouchTable touch;
    jnAssetModes modes;   // what view.modes points at
    jnAssetMorphs morphs; // what view.morphs points at
    const void* network;  // section NETW; see network.h
    uint64_t networkSize; // bytes
    const char* source;   // while loading
    jnAllocator allocator;
} jnAssetBlock;

// The frames around a time of a clip: before it, at both ends of its interval, after it, the way between the ends, and
// the weights of the curve through them. A looping clip wraps, another stays on its ends. See clip_curve.c.
typedef struct jnClipPlace {
    int frames[4];
    float share;
    double weights[4];
} jnClipPlace;
jnClipPlace jnPlaceInClip(const jnAssetClip* clip, double seconds);
// Weights of the frames at t, 0 to 1, of an interval. before, after: whether there are frames there.
void jnWeighFrames(double t, bool before, bool after, double weights[4]);
// Unit quaternions of four frames, weighed.
void jnMixRotations(const float* const frames[4], const double weights[4], float rotation[4]);

// asset_mix.c: section WMIX. columns: the weights as the runtime has them; values: the same, or how fast they change.
// out: [weightCount].
jnResult jnReadMix(jnAssetBlock* block, uint64_t size, jnError* error);
void jnMixWeights(const jnAsset* asset, const float* columns, const float* values, float* out);

// Checksum of a file of at least a header. Any change inside one word of 8 bytes is certain to show.
uint64_t jnAssetChecksum(const void* bytes, size_t size);

// asset_check.c: looks at every number of every section; the sizes are known to be right.
jnResult jnCheckAsset(jnAssetBlock* block, jnError* error);
// asset_modes.c: places and checks section MODE, `size` bytes at block->modesHeader.
jnResult jnReadModes(jnAssetBlock* block, uint64_t size, jnError* error);
// asset_bound.c: the same for section BOND at block->boundHeader. The modes are read.
jnResult jnReadBound(jnAssetBlock* block, uint64_t size, jnError* error);
// asset_morphs.c: the same for section MRPH at block->morphsHeader. INFO is read.
jnResult jnReadMorphs(jnAssetBlock* block, uint64_t size, jnError* error);
// asset_targets.c: the same for section TARG at block->targetsHeader. The clips are read.
jnResult jnReadTargets(jnAssetBlock* block, uint64_t size, jnError* error);
// asset_hits.c: the same for section HITS at block->hitsHeader. The modes are read.
jnResult jnReadHits(jnAssetBlock* block, uint64_t size, jnError* error);
// asset_touch.c: the same for section TUCH at block->touchHeader. Modes and morphs are read.
jnResult jnReadTouch(jnAssetBlock* block, uint64_t size, jnError* error);
// What weights, [targetCount] of which 0 is the rest, add to blocks [first, end) of a field whose first block is
// `start`.
void jnAddTargets(const jnAsset* asset, const float* weights, int first, int end, float* field, int start);
// What a weight of 1 of a target moves a vertex by.
void jnFindTargetDelta(const jnAsset* asset, int target, int vertex, float delta[3]);
// What the sections MODE, MRPH and NETW must say alike. components: of the network.
jnResult jnCheckWeights(const jnAssetBlock* block, int components, jnError* error);
// The same for INFS or RNGS alone, before the size of another section is taken from it.
jnResult jnCheckStarts(const jnAssetBlock* block, uint32_t id, jnError* error);
