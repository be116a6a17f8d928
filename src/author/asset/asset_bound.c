// Section BOND of an asset: the elements that bound the surface, in blocks of neighbours; see runtime/morphs_bound.c.
#include "asset/asset_sections.h"
#include "base/affine.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A mode that adds at least this fraction of what the strongest mode does to a block is held back by it in full.
#define WHOLE_PART (1.0 / 3.0)
// The power of the norm of morphs_bound.c.
enum { POWER = 64 };

// An element on its way into a block.
typedef struct Item {
    const int32_t* corners;
    float limit; // as in jnaModes
    double place[3];
} Item;

static int ComparePlaces(const void* a, const void* b, int axis)
{
    double x = ((const Item*)a)->place[axis], y = ((const Item*)b)->place[axis];
    return x < y ? -1 : x > y;
}

static int CompareX(const void* a, const void* b)
{
    return ComparePlaces(a, b, 0);
}

static int CompareY(const void* a, const void* b)
{
    return ComparePlaces(a, b, 1);
}

static int CompareZ(const void* a, const void* b)
{
    return ComparePlaces(a, b, 2);
}

// Puts neighbours together: halves along the longest side, in whole blocks.
static void OrderItems(Item* items, int count)
{
    if (count <= JN_LANES) {
        return;
    }
    double most = -1;
    int axis = 0;
    for (int a = 0; a < 3; ++a) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int i = 0; i < count; ++i) {
            low = fmin(low, items[i].place[a]);
            high = fmax(high, items[i].place[a]);
        }
        axis = high - low > most ? a : axis;
        most = fmax(most, high - low);
    }
    int (*const compare[])(const void*, const void*) = {CompareX, CompareY, CompareZ};
    qsort(items, (size_t)count, sizeof(*items), compare[axis]);
    int half = (jnBlockCount(count) + 1) / 2 * JN_LANES;
    OrderItems(items, half);
    OrderItems(items + half, count - half);
}

static void FillItems(const jnaAssetDef* def, Item* items)
{
    const jnaModes* m = def->modes;
    for (int i = 0; i < m->criticalCount; ++i) {
        items[i] = (Item){.corners = m->critical + 3 * (size_t)i, .limit = m->criticalLimits[i]};
        int corners = items[i].corners[1] < 0 ? 1 : 3;
        for (int k = 0; k < 3 * corners; ++k) {
            size_t at = 3 * (size_t)items[i].corners[k / 3] + (size_t)(k % 3);
            items[i].place[k % 3] += (double)def->character->positions[at] / corners;
        }
    }
}

// The rows of an element at amplitude 1 of a mode of the asset.
static void FindRows(const jnaAssetDef* def, const Item* item, size_t mode, float rows[JN_BOUND_ROWS])
{
    const jnaModes* m = def->modes;
    const float* u = m->shapes + 3 * mode * (size_t)m->vertexCount;
    float axes[3][3], inverse[3], moved[3][3];
    memset(rows, 0, JN_BOUND_ROWS * sizeof(float));
    for (size_t i = 0; i < 3 && item->corners[i] >= 0; ++i) {
        for (size_t a = 0; a < 3; ++a) {
            moved[i][a] = u[3 * (size_t)item->corners[i] + a] - (i > 0 ? moved[0][a] : 0.0F);
        }
    }
    if (item->corners[1] < 0) {
        jnaElement_VertexRows(moved[0], rows);
    } else if (jnaElement_Frame(def->character, item->corners, axes, inverse)) {
        jnaElement_Rows((const float(*)[3])axes, inverse, moved[1], moved[2], rows);
        for (int i = 0; i < JN_BOUND_ROWS; ++i) {
            rows[i] *= item->limit;
        }
    }
}

// The most that amplitude 1 can add to the ratio of an element below the knee.
static double GainOf(const Item* item, const float rows[JN_BOUND_ROWS])
{
    const double knee = 0.85, low = (double)JNA_BOUND_LOW, high = (double)JNA_BOUND_HIGH;
    double square = 0;
    for (int i = 0; i < JN_BOUND_ROWS; ++i) {
        square += (double)rows[i] * (double)rows[i];
    }
    if (item->corners[1] < 0) { // twice the z of a vertex is in its rows
        double z = (double)rows[2], length = sqrt(fmax(square - z * z, 0));
        double atKnee = sqrt((1 + knee * high) * (1 + knee * high) - 1);
        return knee / atKnee * length * (double)jnBoundReach(JNA_BOUND_HIGH) / (double)item->limit;
    }
    double mean = 0.5 * ((double)rows[0] + (double)rows[3]), half = 0.5 * ((double)rows[0] - (double)rows[3]);
    double shear = 0.5 * ((double)rows[1] + (double)rows[2]), folded = fabs(mean) + sqrt(half * half + shear * shear);
    return fmax(folded / low, sqrt(square) / high);
}

typedef struct Arrays {
    float *limits, *gains, *parts, *rows;
} Arrays;

static void FillMode(const jnaAssetDef* def, const Item* items, int32_t from, size_t k, const Arrays* to)
{
    const jnaModes* m = def->modes;
    size_t lanes = (size_t)jnBlockCount(m->modeCount) * JN_LANES, modes = (size_t)m->modeCount;
    float root = (float)sqrt(m->masses[from]), rows[JN_BOUND_ROWS];
    for (size_t i = 0; i < (size_t)m->criticalCount; ++i) {
        FindRows(def, &items[i], (size_t)from, rows);
        for (int r = 0; r < JN_BOUND_ROWS; ++r) {
            rows[r] /= root;
            to->rows[((i / JN_LANES * JN_BOUND_ROWS + (size_t)r) * modes + k) * JN_LANES + i % JN_LANES] = rows[r];
        }
        float* gain = &to->gains[i / JN_LANES * lanes + k];
        *gain = fmaxf(*gain, (float)GainOf(&items[i], rows));
    }
}

// How much of each block's excess a mode has to answer for, to the power of the norm.
static void FillParts(const jnaAssetDef* def, const int32_t* order, const Arrays* to)
{
    const jnaModes* m = def->modes;
    size_t lanes = (size_t)jnBlockCount(m->modeCount) * JN_LANES;
    for (int b = 0; b < jnBlockCount(m->criticalCount); ++b) {
        const float* gains = to->gains + (size_t)b * lanes;
        double most = 0;
        for (int pass = 0; pass < 2; ++pass) {
            for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
                double size = (double)gains[k] * jnaModes_Lively(m, order[k]) * sqrt(m->masses[order[k]]);
                most = pass == 0 ? fmax(most, size) : most;
                if (pass == 1 && most > 0) {
                    to->parts[(size_t)b * lanes + k] = (float)pow(fmin(size / (WHOLE_PART * most), 1), POWER);
                }
            }
        }
    }
}

void jnaAddBound(const jnaAssetDef* def, jnaSections* s)
{
    const jnaModes* m = def->modes;
    if (m == NULL || m->modeCount == 0 || m->criticalCount == 0 || s->arena.failed) {
        return;
    }
    jnAssetBoundHeader h = {.blockCount = jnBlockCount(m->criticalCount),
        .modeCount = m->modeCount,
        .low = JNA_BOUND_LOW,
        .high = JNA_BOUND_HIGH};
    uint64_t places[JN_BOUND_ARRAYS + 1];
    jnPlaceBound(&h, places);
    Item* items = jnaArena_Take(&s->arena, m->criticalCount, sizeof(*items));
    char* data = jnaAddSection(s, JN_SECTION_BOUND, false, (size_t)places[JN_BOUND_ARRAYS]);
    if (items == NULL || data == NULL) {
        return;
    }
    memcpy(data, &h, sizeof(h));
    Arrays to = {(float*)(void*)(data + places[0]), (float*)(void*)(data + places[1]),
        (float*)(void*)(data + places[2]), (float*)(void*)(data + places[3])};
    FillItems(def, items);
    OrderItems(items, m->criticalCount);
    for (int i = 0; i < m->criticalCount; ++i) {
        to.limits[i] = items[i].corners[1] < 0 ? items[i].limit : 0.0F;
    }
    for (int k = 0; k < m->modeCount; ++k) {
        FillMode(def, items, s->modeOrder[k], (size_t)k, &to);
    }
    FillParts(def, s->modeOrder, &to);
}
