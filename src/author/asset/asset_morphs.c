// Section MRPH of an asset: morph targets of the network and of the modes, packed together.
//
// The targets of a patch of 64 vertices are a matrix R of 192 rows, with a column for each weight that moves the patch,
// scaled by how large that weight usually is. It is packed as a sum of products of two vectors of 8 bits,
//
//     R ~ sum_s scale_s u_s v_s^T
//
// one after another: v_s is near the direction in which what is left of R is largest, found by a few steps of power
// iteration from the vertex that is farthest off, and u_s the best for it. Both are rounded and the product of the
// rounded ones is taken off R, so that what rounding did wrong is left to the products that follow. It ends when no
// vertex is off by more than the tolerance, as root mean square over weights of their usual size.
#include "asset/asset_sections.h"

#include "learn/network.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES, PATCH = JN_PATCH_BLOCKS * JN_LANES, ROWS = 3 * PATCH, DIGIT = 127 };
// Of the power iteration. Neighbouring directions that are mixed up cost nothing: the next products take the rest.
enum { ITERATIONS = 3 };
// Usual sizes of weights, root mean square. Components are within -1 and 1 over the poses of the training; 0.36 is
// their mean over the clips of the demo. Modes reach 1 at their caps; 0.11 is their mean there.
#define COMPONENT_WEIGHT 0.4
#define MODE_WEIGHT 0.2
// Targets that together move no vertex of a patch by more than this share of the tolerance are left out of it.
#define LEFT_OUT 0.25
// Metres. What is larger is no displacement.
#define LARGEST_MOVE 100.0

// All targets: where their displacements are, and what a weight of its usual size makes of them.
typedef struct Columns {
    int count;
    const float* fields[JN_MAX_COLUMNS]; // [vertexCount][3] in the character's order; NULL: a column that fills up
    double factors[JN_MAX_COLUMNS];      // of the field at a weight of 1
    double weights[JN_MAX_COLUMNS];      // usual size
} Columns;

// A patch in the making.
typedef struct Patch {
    int blocks, columnCount, shapeCount;
    uint16_t columns[JN_MAX_COLUMNS];
    float scales[JN_MAX_SHAPES];
    int8_t* values; // as in the file; owned. NULL: out of memory
} Patch;

// What a patch is packed in.
typedef struct Scratch {
    float* matrix;  // R, [columns][ROWS]
    int8_t* mix;    // [JN_MAX_SHAPES][JN_MAX_COLUMNS]
    int8_t* shapes; // [JN_MAX_SHAPES][ROWS]
} Scratch;

static void FillColumns(const jnaAssetDef* def, const jnaSections* s, const jnAssetMorphsHeader* h, Columns* c)
{
    size_t width = 3 * (size_t)def->character->vertexCount;
    *c = (Columns){.count = jnMakeEven(h->componentCount) + jnMakeEven(h->modeCount)};
    for (int k = 0; k < h->componentCount; ++k) {
        c->fields[k] = def->network->basis + (size_t)k * width;
        c->factors[k] = 1.0;
        c->weights[k] = k == 0 ? 1.0 : COMPONENT_WEIGHT; // number 0 is constant
    }
    for (int k = 0, at = jnMakeEven(h->componentCount); k < h->modeCount; ++k, ++at) {
        c->fields[at] = def->modes->shapes + (size_t)s->modeOrder[k] * width;
        c->factors[at] = jnaModeUnit(def->modes, s->modeOrder[k]);
        c->weights[at] = MODE_WEIGHT;
    }
}

// The largest displacement of a vertex, squared, by one column.
static double LargestSquare(const float* column)
{
    double largest = 0.0;
    for (int v = 0; v < PATCH; ++v) {
        const float* at = column + v / JN_LANES * FIELD + v % JN_LANES;
        double x = (double)at[0], y = (double)at[JN_LANES], z = (double)at[2 * JN_LANES];
        largest = fmax(largest, x * x + y * y + z * z);
    }
    return largest;
}

typedef struct Size {
    double square;
    int column;
} Size;

static int CompareSizes(const void* a, const void* b)
{
    const Size *x = a, *y = b;
    return x->square != y->square ? (x->square > y->square) - (x->square < y->square) : x->column - y->column;
}

// R, [columnCount of the patch][ROWS], with the columns that matter. vertices: [PATCH], that of the character at each
// place; -1: none
static void FillMatrix(const Columns* c, const int32_t* vertices, double tolerance, float* matrix, Patch* p)
{
    Size sizes[JN_MAX_COLUMNS];
    bool kept[JN_MAX_COLUMNS];
    double sum = 0.0, least = LEFT_OUT * tolerance * LEFT_OUT * tolerance;
    memset(matrix, 0, (size_t)c->count * ROWS * sizeof(float));
    for (int k = 0; k < c->count; ++k) {
        float* column = matrix + (size_t)k * ROWS;
        for (int i = 0; c->fields[k] != NULL && i < ROWS; ++i) {
            int v = vertices[i / FIELD * JN_LANES + i % JN_LANES], axis = i % FIELD / JN_LANES;
            column[i] =
                v < 0 ? 0.0f
                      : (float)(c->weights[k] * c->factors[k] * (double)c->fields[k][3 * (size_t)v + (size_t)axis]);
        }
        sizes[k] = (Size){LargestSquare(column), k};
    }
    qsort(sizes, (size_t)c->count, sizeof(sizes[0]), CompareSizes);
    for (int i = 0; i < c->count; ++i) {
        sum += sizes[i].square;
        kept[sizes[i].column] = sum > least;
    }
    for (int k = 0; k < c->count; ++k) {
        if (kept[k]) {
            memmove(matrix + (size_t)p->columnCount * ROWS, matrix + (size_t)k * ROWS, ROWS * sizeof(float));
            p->columns[p->columnCount++] = (uint16_t)k;
        }
    }
}

// The row of R that is largest at the vertex that is farthest off. Returns that vertex' mean square.
static double FindWorst(const float* matrix, int columns, int* row)
{
    float squares[ROWS] = {0};
    double worst = -1.0;
    for (int k = 0; k < columns; ++k) {
        for (int i = 0; i < ROWS; ++i) {
            squares[i] += matrix[(size_t)k * ROWS + (size_t)i] * matrix[(size_t)k * ROWS + (size_t)i];
        }
    }
    for (int v = 0; v < PATCH; ++v) {
        int at = v / JN_LANES * FIELD + v % JN_LANES, y = at + JN_LANES, z = at + 2 * JN_LANES;
        double square = (double)squares[at] + (double)squares[y] + (double)squares[z];
        if (square > worst) {
            worst = square;
            *row = squares[at] >= squares[y] && squares[at] >= squares[z] ? at : squares[y] >= squares[z] ? y : z;
        }
    }
    return worst;
}

// u = R v
static void Combine(const float* matrix, int columns, const float* v, float u[ROWS])
{
    memset(u, 0, ROWS * sizeof(float));
    for (int k = 0; k < columns; ++k) {
        for (int i = 0; i < ROWS; ++i) {
            u[i] += v[k] * matrix[(size_t)k * ROWS + (size_t)i];
        }
    }
}

// v = R^T u, of unit length.
static void Project(const float* matrix, int columns, const float u[ROWS], float* v)
{
    double square = 0.0;
    for (int k = 0; k < columns; ++k) {
        float sums[JN_LANES] = {0}, sum = 0.0f;
        for (int i = 0; i < ROWS; i += JN_LANES) {
            for (int lane = 0; lane < JN_LANES; ++lane) {
                sums[lane] += matrix[(size_t)k * ROWS + (size_t)(i + lane)] * u[i + lane];
            }
        }
        for (int lane = 0; lane < JN_LANES; ++lane) {
            sum += sums[lane];
        }
        v[k] = sum;
        square += (double)sum * (double)sum;
    }
    float scale = square > 0.0 ? (float)(1.0 / sqrt(square)) : 0.0f;
    for (int k = 0; k < columns; ++k) {
        v[k] *= scale;
    }
}

// Whole numbers from -DIGIT to DIGIT. Returns their unit.
static float Round(const float* from, int count, int8_t* to)
{
    float largest = 0.0f;
    for (int i = 0; i < count; ++i) {
        largest = fmaxf(largest, fabsf(from[i]));
    }
    float unit = largest / DIGIT;
    for (int i = 0; i < count; ++i) {
        to[i] = (int8_t)(unit > 0.0f ? lrintf(from[i] / unit) : 0);
    }
    return unit;
}

// Takes one product off R. row: where to begin
static void TakeShape(const Columns* c, const Scratch* b, int row, Patch* p)
{
    int columns = p->columnCount;
    float v[JN_MAX_COLUMNS], u[ROWS], whole[JN_MAX_COLUMNS], *matrix = b->matrix;
    int8_t* mix = b->mix + (size_t)p->shapeCount * JN_MAX_COLUMNS;
    int8_t* shape = b->shapes + (size_t)p->shapeCount * ROWS;
    for (int k = 0; k < columns; ++k) {
        v[k] = matrix[(size_t)k * ROWS + (size_t)row];
    }
    for (int n = 0; n < ITERATIONS; ++n) {
        Combine(matrix, columns, v, u);
        Project(matrix, columns, u, v);
    }
    // What is stored is for weights as they are, not for shares of their usual size.
    double square = 0.0;
    for (int k = 0; k < columns; ++k) {
        whole[k] = v[k] / (float)c->weights[p->columns[k]];
    }
    Round(whole, columns, mix);
    for (int k = 0; k < columns; ++k) {
        v[k] = (float)(mix[k] * c->weights[p->columns[k]]);
        square += (double)v[k] * (double)v[k];
    }
    Combine(matrix, columns, v, u);
    for (int i = 0; i < ROWS; ++i) {
        u[i] = square > 0.0 ? (float)((double)u[i] / square) : 0.0f;
    }
    float scale = Round(u, ROWS, shape);
    for (int k = 0; k < columns; ++k) {
        for (int i = 0; i < ROWS; ++i) {
            matrix[(size_t)k * ROWS + (size_t)i] -= v[k] * (scale * (float)shape[i]);
        }
    }
    p->scales[p->shapeCount++] = scale;
}

static uint64_t CountRuns(const Patch* p)
{
    uint64_t shapes = (uint64_t)p->shapeCount;
    return jnMixRuns((uint64_t)p->columnCount, shapes) + (uint64_t)p->blocks * jnShapeRuns(shapes);
}

// The values in the layout of jnAssetMorphs.
static void LayOutPatch(const Scratch* b, Patch* p)
{
    size_t shapes = (size_t)p->shapeCount;
    int8_t* values = p->values;
    for (size_t s = 0; s < shapes; ++s) {
        for (size_t k = 0; k < (size_t)p->columnCount; ++k) {
            values[(k / 2 * shapes + s) * 2 + k % 2] = b->mix[s * JN_MAX_COLUMNS + k];
        }
    }
    values += jnMixRuns((uint64_t)p->columnCount, shapes) * JN_VALUE_RUN;
    for (size_t block = 0; block < (size_t)p->blocks; ++block) {
        for (size_t i = 0; i < shapes * FIELD; ++i) {
            size_t s = i / FIELD, at = i % FIELD;
            values[(block * shapes + s / 2 * 2) * FIELD + 2 * at + s % 2] = b->shapes[s * ROWS + block * FIELD + at];
        }
    }
}

static void PackPatch(const Columns* c, const int32_t* vertices, double tolerance, Patch* p)
{
    Scratch b = {malloc((size_t)c->count * ROWS * sizeof(float)), malloc((size_t)JN_MAX_SHAPES * JN_MAX_COLUMNS),
        malloc((size_t)JN_MAX_SHAPES * ROWS)};
    int row = 0;
    if (b.matrix != NULL && b.mix != NULL && b.shapes != NULL) {
        FillMatrix(c, vertices, tolerance, b.matrix, p);
        while (p->shapeCount < JN_MAX_SHAPES) {
            double square = FindWorst(b.matrix, p->columnCount, &row);
            if (square <= tolerance * tolerance && p->shapeCount % JN_SHAPE_STEP == 0) {
                break;
            }
            TakeShape(c, &b, row, p);
        }
        p->columnCount = p->shapeCount > 0 ? p->columnCount : 0;
        p->values = calloc(CountRuns(p) + 1, JN_VALUE_RUN);
    }
    if (p->values != NULL) {
        LayOutPatch(&b, p);
    }
    free(b.matrix);
    free(b.mix);
    free(b.shapes);
}

static void StoreMorphs(const Patch* patches, int count, int blocks, jnAssetMorphsHeader* h, jnaSections* s)
{
    jnAssetPatch next = {0};
    uint64_t places[JN_MORPH_ARRAYS + 1];
    for (int i = 0; i < count; ++i) {
        h->listCount += (uint32_t)patches[i].columnCount;
        h->shapeCount += (uint32_t)patches[i].shapeCount;
        h->runCount += (uint32_t)CountRuns(&patches[i]);
    }
    jnPlaceMorphs(h, blocks, places);
    char* data = jnaAddSection(s, JN_SECTION_MORPHS, false, (size_t)places[JN_MORPH_ARRAYS]);
    if (data == NULL) {
        return;
    }
    memcpy(data, h, sizeof(*h));
    for (int i = 0; i <= count; ++i) {
        memcpy(data + places[0] + (size_t)i * sizeof(next), &next, sizeof(next));
        if (i < count) {
            const Patch* p = &patches[i];
            memcpy(data + places[1] + next.columns * sizeof(uint16_t), p->columns,
                (size_t)p->columnCount * sizeof(uint16_t));
            memcpy(data + places[2] + next.shapes * sizeof(float), p->scales, (size_t)p->shapeCount * sizeof(float));
            memcpy(data + places[3] + (size_t)next.values * JN_VALUE_RUN, p->values, CountRuns(p) * JN_VALUE_RUN);
            next.columns += (uint32_t)p->columnCount;
            next.shapes += (uint32_t)p->shapeCount;
            next.values += (uint32_t)CountRuns(p);
        }
    }
}

// Packs all patches. Four standard deviations stay within the tolerance.
static void PackAll(const jnaAssetDef* def, jnaSections* s, jnAssetMorphsHeader* h)
{
    int vertices = def->character->vertexCount, blocks = jnBlockCount(vertices), count = jnPatchCount(blocks);
    Columns* columns = jnaArena_Take(&s->arena, 1, sizeof(*columns));
    Patch* patches = jnaArena_Take(&s->arena, count, sizeof(*patches));
    int32_t* at = jnaArena_Take(&s->arena, (int64_t)count * PATCH, sizeof(*at)); // the vertex at each place
    bool good = columns != NULL && patches != NULL && at != NULL;
    if (good) {
        FillColumns(def, s, h, columns);
        memset(at, -1, (size_t)count * PATCH * sizeof(*at));
        for (int v = 0; v < vertices; ++v) {
            at[s->place[v]] = v;
        }
#pragma omp parallel for schedule(dynamic, 1)
        for (int i = 0; i < count; ++i) {
            int left = blocks - i * JN_PATCH_BLOCKS;
            patches[i].blocks = left < JN_PATCH_BLOCKS ? left : JN_PATCH_BLOCKS;
            PackPatch(columns, at + (size_t)i * PATCH, def->networkTolerance / 4.0, &patches[i]);
        }
    }
    for (int i = 0; good && i < count; ++i) {
        good = patches[i].values != NULL;
    }
    if (good) {
        StoreMorphs(patches, count, blocks, h, s);
    }
    s->arena.failed = s->arena.failed || !good;
    for (int i = 0; patches != NULL && i < count; ++i) {
        free(patches[i].values);
    }
}

// The largest displacement of a weight of 1, metres; infinite where there is one that is not finite.
static double FindLargest(const jnaAssetDef* def, int components, int modes)
{
    double largest = 0.0;
    for (size_t i = 0; i < (size_t)components * 3 * (size_t)def->character->vertexCount; ++i) {
        double size = fabs((double)def->network->basis[i]);
        largest = size >= largest ? size : size < largest ? largest : HUGE_VAL;
    }
    for (int k = 0; k < modes; ++k) {
        largest = fmax(largest, jnaModeUnit(def->modes, k));
    }
    return largest;
}

jnResult jnaAddMorphs(const jnaAssetDef* def, jnaSections* s, jnError* error)
{
    bool pca = def->network != NULL && def->network->kind == jn_networkPca;
    jnAssetMorphsHeader h = {.componentCount = pca ? def->network->componentCount + 1 : 0,
        .modeCount = def->modes != NULL ? def->modes->modeCount : 0};
    if (h.componentCount + h.modeCount == 0) {
        return jn_ok;
    }
    int columns = jnMakeEven(h.componentCount) + jnMakeEven(h.modeCount);
    if (columns > JN_MAX_COLUMNS || h.modeCount > JN_MAX_ASSET_MODES) {
        return jnFail(error, jn_badArgument,
            "%d components and %d modes are too many morph targets; at most %d together, %d of them modes",
            h.componentCount, h.modeCount, JN_MAX_COLUMNS, JN_MAX_ASSET_MODES);
    }
    double largest = FindLargest(def, h.componentCount, h.modeCount);
    if (!(largest < LARGEST_MOVE)) {
        return jnFail(error, jn_badData, "a morph target moves a vertex by %g m, which is no displacement", largest);
    }
    PackAll(def, s, &h);
    return jn_ok;
}
