// Section MRPH of an asset: morph targets of the network and of the modes, packed together.
//
// Displacements are whole multiples of one unit, written in base 254 with digits of 8 bits, one plane for each digit. A
// pair of targets whose digits are all 0 in a block of 16 vertices has no entry there: large planes are only where the
// displacements are large, and what is too small for the finest one is nowhere.
#include "asset/asset_sections.h"

#include "learn/network.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };
// Weights of modes in lively motion, root mean square.
#define MODE_WEIGHT 0.5

typedef struct Planes {
    int count;
    uint32_t* starts; // [blocks][count] and one more
    uint16_t* pairs;
    int8_t* values; // [entries][FIELD][2]
    uint32_t entries;
} Planes;

static void FreePlanes(Planes* p)
{
    free(p->starts);
    free(p->pairs);
    free(p->values);
}

// Whole multiples of the unit into a column, [blocks][FIELD].
static void Quantise(const float* from, double scale, const int32_t* place, int vertexCount, int32_t* to)
{
    for (int v = 0; v < vertexCount; ++v) {
        size_t at = (size_t)(place != NULL ? place[v] : v);
        for (size_t axis = 0; axis < 3; ++axis) {
            to[at / JN_LANES * FIELD + axis * JN_LANES + at % JN_LANES] =
                (int32_t)lrint(scale * (double)from[3 * (size_t)v + axis]);
        }
    }
}

// Takes the lowest digit of each value off; says whether any is not 0. digits: [FIELD][2], every second is written.
static bool TakeDigits(int32_t* values, int8_t* digits)
{
    bool any = false;
    for (int i = 0; i < FIELD; ++i) {
        int32_t digit = values[i] % JN_PLANE_STEP;
        digit = digit > 127 ? digit - JN_PLANE_STEP : digit < -127 ? digit + JN_PLANE_STEP : digit;
        values[i] = (values[i] - digit) / JN_PLANE_STEP;
        digits[2 * i] = (int8_t)digit;
        any = any || digit != 0;
    }
    return any;
}

static int CountPlanes(const int32_t* values, size_t count)
{
    int64_t largest = 0, reach = 127;
    for (size_t i = 0; i < count; ++i) {
        int64_t size = values[i] < 0 ? -(int64_t)values[i] : values[i];
        largest = size > largest ? size : largest;
    }
    int planes = 1;
    for (int64_t step = JN_PLANE_STEP; reach < largest; step *= JN_PLANE_STEP) {
        reach += 127 * step;
        planes++;
    }
    return planes;
}

static bool GrowPlanes(Planes* p, size_t* room)
{
    *room = 2 * *room + 1024;
    uint16_t* pairs = realloc(p->pairs, *room * sizeof(uint16_t));
    p->pairs = pairs != NULL ? pairs : p->pairs;
    int8_t* more = realloc(p->values, *room * 2 * FIELD);
    p->values = more != NULL ? more : p->values;
    return pairs != NULL && more != NULL;
}

// values: [columns][blocks][FIELD], used up. False if memory is short.
static bool MakePlanes(int32_t* values, int columns, size_t blocks, Planes* p)
{
    size_t size = blocks * FIELD, room = 0;
    p->count = CountPlanes(values, (size_t)columns * size);
    p->starts = calloc(blocks * (size_t)p->count + 1, sizeof(uint32_t));
    for (size_t block = 0; p->starts != NULL && block < blocks; ++block) {
        for (int plane = 0; plane < p->count; ++plane) {
            for (int pair = 0; pair < columns / 2; ++pair) {
                if (p->entries == room && !GrowPlanes(p, &room)) {
                    return false;
                }
                int8_t* digits = p->values + (size_t)p->entries * 2 * FIELD;
                bool first = TakeDigits(values + (size_t)(2 * pair) * size + block * FIELD, digits);
                bool second = TakeDigits(values + (size_t)(2 * pair + 1) * size + block * FIELD, digits + 1);
                if (first || second) {
                    p->pairs[p->entries++] = (uint16_t)pair;
                }
            }
            p->starts[block * (size_t)p->count + (size_t)plane + 1] = p->entries;
        }
    }
    return p->starts != NULL;
}

// Fills all columns; NULL if memory is short.
static int32_t* QuantiseAll(const jnaAssetDef* def, const jnaSections* s, const jnAssetMorphsHeader* h)
{
    int vertices = def->character->vertexCount;
    size_t width = 3 * (size_t)vertices, size = (size_t)jnBlockCount(vertices) * FIELD;
    size_t columns = (size_t)(jnMakeEven(h->componentCount) + jnMakeEven(h->modeCount));
    int32_t* values = calloc(columns * size + 1, sizeof(int32_t));
    double scale = 1.0 / (double)h->unit;
    for (int k = 0; values != NULL && k < h->componentCount; ++k) {
        Quantise(def->network->basis + (size_t)k * width, scale, s->place, vertices, values + (size_t)k * size);
    }
    for (int k = 0; values != NULL && k < h->modeCount; ++k) {
        size_t column = (size_t)(jnMakeEven(h->componentCount) + k), from = (size_t)s->modeOrder[k];
        Quantise(def->modes->shapes + from * width, scale * jnaModeUnit(def->modes, (int)from), s->place, vertices,
            values + column * size);
    }
    return values;
}

// The largest displacement of a weight of 1, metres.
static double FindLargest(const jnaAssetDef* def, int components, int modes)
{
    double largest = 0.0;
    for (size_t i = 0; i < (size_t)components * 3 * (size_t)def->character->vertexCount; ++i) {
        largest = fmax(largest, fabs((double)def->network->basis[i]));
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
    // Rounding is off by unit / sqrt(12) an axis and target; four standard deviations stay within the tolerance.
    double energy = sqrt(pow(pca ? fmax(def->network->energy, 1.0) : 1.0, 2) + MODE_WEIGHT * MODE_WEIGHT * h.modeCount);
    h.unit = (float)(def->networkTolerance / (2.0 * energy));
    double largest = FindLargest(def, h.componentCount, h.modeCount);
    if (!(largest / (double)h.unit < 127.0 * JN_PLANE_STEP * JN_PLANE_STEP)) {
        return jnFail(error, jn_badData, "a morph target moves a vertex by %g m, which is no displacement", largest);
    }
    Planes planes = {0};
    size_t blocks = (size_t)jnBlockCount(def->character->vertexCount);
    int32_t* values = QuantiseAll(def, s, &h);
    s->failed = s->failed || values == NULL || !MakePlanes(values, columns, blocks, &planes);
    if (!s->failed) {
        uint64_t places[JN_MORPH_ARRAYS + 1];
        h.planeCount = planes.count;
        h.entryCount = planes.entries;
        jnPlaceMorphs(&h, (int)blocks, places);
        char* data = jnaAddSection(s, JN_SECTION_MORPHS, false, (size_t)places[JN_MORPH_ARRAYS]);
        if (data != NULL) {
            memcpy(data, &h, sizeof(h));
            memcpy(data + places[0], planes.starts, sizeof(uint32_t) * (blocks * (size_t)planes.count + 1));
            memcpy(data + places[1], planes.pairs, sizeof(uint16_t) * planes.entries);
            memcpy(data + places[2], planes.values, 2 * FIELD * (size_t)planes.entries);
        }
    }
    FreePlanes(&planes);
    free(values);
    return jn_ok;
}
