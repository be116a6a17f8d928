// Sections MODE and MCAP of an asset: modes of unit modal mass, sparse by blocks of 16 vertices.
//
// Shapes and projections are rounded to 16 bits with a scale per block and mode, 3e-5 of the largest number in it: a
// mode that moves flesh by 5 cm is shown to within a micrometre. Spins are kept where they can matter: a joint that
// turns by one radian changes an amplitude by at least SMALLEST_SPIN of another.
#include "asset/asset_sections.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_SPIN 0.005
#define STEPS 32767.0f

typedef struct Writer {
    const jnaModes* m;
    int blockCount;
    int32_t* source; // [blockCount * JN_LANES], the character's vertex at a place, or -1
    jnAssetModesHeader header;
    char* data; // the section
    uint64_t places[JN_MODE_ARRAYS + 1];
} Writer;

// The largest number of a mode in a block.
static float MostOf(const Writer* w, const float* numbers, int mode, int block)
{
    float most = 0.0f;
    for (int i = 0; i < JN_LANES; ++i) {
        int32_t v = w->source[block * JN_LANES + i];
        for (size_t a = 0; v >= 0 && a < 3; ++a) {
            most = fmaxf(most, fabsf(numbers[3 * ((size_t)mode * (size_t)w->m->vertexCount + (size_t)v) + a]));
        }
    }
    return most;
}

static bool IsThere(const Writer* w, int mode, int block)
{
    return MostOf(w, w->m->shapes, mode, block) > 0.0f;
}

// Of unit modal mass: row k of what turning about an axis of a joint does to mode l.
static double SpinOf(const jnaModes* m, size_t joint, size_t axis, size_t k, size_t l)
{
    size_t n = (size_t)m->modeCount;
    const float* spins = m->spins + (3 * joint + axis) * n * n;
    double scale = sqrt(m->masses[k] / m->masses[l]);
    return 0.5 * ((double)spins[k * n + l] * scale - (double)spins[l * n + k] / scale); // its skew part
}

static bool SpinMatters(const jnaModes* m, size_t joint, size_t k, size_t l)
{
    double square = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
        square += SpinOf(m, joint, axis, k, l) * SpinOf(m, joint, axis, k, l);
    }
    return square >= SMALLEST_SPIN * SMALLEST_SPIN;
}

static void Count(Writer* w)
{
    const jnaModes* m = w->m;
    size_t n = (size_t)m->modeCount, joints = (size_t)m->jointCount;
    for (int b = 0; b < w->blockCount; ++b) {
        int entries = 0;
        for (int k = 0; k < m->modeCount; ++k) {
            entries += IsThere(w, k, b);
        }
        w->header.entryCount += entries + entries % 2;
    }
    for (size_t i = 0; i < n * n; ++i) {
        int spins = 0;
        for (size_t j = 0; i % n < i / n && j < joints; ++j) {
            spins += SpinMatters(m, j, i / n, i % n);
        }
        w->header.pairCount += spins > 0;
        w->header.spinCount += spins;
    }
}

static void FillModes(const Writer* w)
{
    jnAssetMode* modes = (jnAssetMode*)(void*)(w->data + w->places[0]);
    for (int k = 0; k < w->m->modeCount; ++k) {
        modes[k] = (jnAssetMode){.stiffness = (float)w->m->stiffness[k],
            .damping = (float)w->m->damping[k],
            .gain = (float)w->m->gain[k],
            .limit = (float)(w->m->limits[k] * sqrt(w->m->masses[k])),
            .largest = (float)(1 / sqrt(w->m->masses[k])),
            .massShare = (float)w->m->massShare[k],
            .joint = w->m->joints[k],
            .vertexCount = w->m->sizes[k]};
    }
}

// Numbers of a mode in a block as whole numbers; returns what one of them is worth.
static float Quantize(const Writer* w, const float* numbers, double unit, int mode, int block, int16_t* out)
{
    float most = MostOf(w, numbers, mode, block);
    for (int i = 0; i < 3 * JN_LANES; ++i) {
        int32_t v = w->source[block * JN_LANES + i % JN_LANES];
        float value =
            v >= 0 ? numbers[3 * ((size_t)mode * (size_t)w->m->vertexCount + (size_t)v) + (size_t)(i / JN_LANES)] : 0;
        out[i] = most > 0.0f ? (int16_t)lrintf(value / most * STEPS) : 0;
    }
    return (float)((double)most * unit / (double)STEPS);
}

static void FillEntries(const Writer* w)
{
    const jnaModes* m = w->m;
    uint32_t* starts = (uint32_t*)(void*)(w->data + w->places[1]);
    uint16_t* entryModes = (uint16_t*)(void*)(w->data + w->places[2]);
    float* shapeScales = (float*)(void*)(w->data + w->places[3]);
    float* projectionScales = (float*)(void*)(w->data + w->places[4]);
    int16_t* shapes = (int16_t*)(void*)(w->data + w->places[5]);
    int16_t* projections = (int16_t*)(void*)(w->data + w->places[6]);
    uint32_t e = 0;
    for (int b = 0; b < w->blockCount; ++b) {
        starts[b] = e;
        for (int k = 0; k < m->modeCount; ++k) {
            if (!IsThere(w, k, b)) {
                continue;
            }
            double root = sqrt(m->masses[k]);
            int16_t shape[3 * JN_LANES];
            entryModes[e] = (uint16_t)k;
            shapeScales[e] = Quantize(w, m->shapes, 1 / root, k, b, shape);
            projectionScales[e] = Quantize(w, m->projections, root, k, b, projections + (size_t)e * 3 * JN_LANES);
            for (size_t i = 0; i < 3 * JN_LANES; ++i) { // two entries interleaved
                shapes[(size_t)(e / 2) * 6 * JN_LANES + 2 * i + e % 2] = shape[i];
            }
            e++;
        }
        if (e % 2 != 0) { // fills the block up; its numbers are 0
            entryModes[e] = entryModes[e - 1];
            e++;
        }
    }
    starts[w->blockCount] = e;
}

static void FillSpins(const Writer* w)
{
    const jnaModes* m = w->m;
    uint16_t* pairs = (uint16_t*)(void*)(w->data + w->places[7]);
    uint32_t* starts = (uint32_t*)(void*)(w->data + w->places[8]);
    jnAssetSpin* spins = (jnAssetSpin*)(void*)(w->data + w->places[9]);
    size_t n = (size_t)m->modeCount, joints = (size_t)m->jointCount;
    uint32_t count = 0;
    for (size_t j = 0; j < joints; ++j) {
        uint32_t pair = 0;
        starts[j] = count;
        for (size_t i = 0; i < n * n; ++i) {
            size_t k = i / n, l = i % n;
            bool any = false;
            for (size_t other = 0; l < k && other < joints && !any; ++other) {
                any = SpinMatters(m, other, k, l);
            }
            if (!any) {
                continue;
            }
            pairs[2 * pair] = (uint16_t)k;
            pairs[2 * pair + 1] = (uint16_t)l;
            if (SpinMatters(m, j, k, l)) {
                spins[count].pair = pair;
                for (size_t axis = 0; axis < 3; ++axis) {
                    spins[count].share[axis] = (float)SpinOf(m, j, axis, k, l);
                }
                count++;
            }
            pair++;
        }
    }
    starts[joints] = count;
}

void jnaAddModes(const jnaAssetDef* def, jnaSections* s)
{
    if (def->modes == NULL || def->modes->modeCount == 0) {
        return;
    }
    Writer w = {.m = def->modes, .blockCount = jnBlockCount(def->character->vertexCount)};
    size_t lanes = (size_t)w.blockCount * JN_LANES;
    w.source = malloc(lanes * sizeof(int32_t));
    s->failed = s->failed || w.source == NULL;
    for (size_t i = 0; !s->failed && i < lanes; ++i) {
        w.source[i] = -1;
    }
    for (int v = 0; !s->failed && v < def->character->vertexCount; ++v) {
        w.source[s->place[v]] = v;
    }
    if (!s->failed) {
        w.header.modeCount = w.m->modeCount;
        w.header.movesVertices = def->restVertices ? 0 : 1;
        Count(&w);
        jnPlaceModes(&w.header, w.blockCount, w.m->jointCount, w.places);
        w.data = jnaAddSection(s, JN_SECTION_MODES, false, (size_t)w.places[JN_MODE_ARRAYS]);
    }
    if (w.data != NULL) {
        memcpy(w.data, &w.header, sizeof(w.header));
        FillModes(&w);
        FillEntries(&w);
        FillSpins(&w);
    }
    bool capped = false;
    for (int k = 0; k < w.m->modeCount; ++k) {
        capped = capped || w.m->caps[k] > 0;
    }
    size_t size = (size_t)w.m->modeCount * sizeof(float);
    float* caps = !s->failed && capped ? jnaAddSection(s, JN_SECTION_MODE_CAPS, false, size) : NULL;
    for (int k = 0; caps != NULL && k < w.m->modeCount; ++k) {
        caps[k] = (float)(w.m->caps[k] * sqrt(w.m->masses[k]));
    }
    free(w.source);
}
