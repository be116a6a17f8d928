// Packs a simulated motion: displacements through the skin, their principal components, 16 bits a number. What is left
// out is measured on the packed numbers themselves, in the world.
#include "view/packed_motion.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/skin_frame.h"
#include "learn/pca.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 1e-4 // metres rms: finer than a page shows
enum { HEADER = 24, MOST_FIELDS = 256, LARGEST = 32767 };

typedef struct Packing {
    const jnaPackDef* def;
    size_t vertices, floats; // 3 numbers a vertex
    float* matrices;         // [jointCount][12], rest surface to world, of the frame at hand
    double* globals;         // [jointCount][12]
    float* pose;             // [jointCount][10]
    float* rows;             // [frames][vertices][3], displacements of the rest surface
    int* which;              // [frames]
    jnaPca pca;
} Packing;

static void SetMatrices(Packing* p, int frame)
{
    const jnAsset* a = p->def->asset;
    size_t joints = (size_t)a->jointCount;
    double rate = jnAsset_Clip(a, p->def->clip).rate;
    jnPose pose = {.rotations = p->pose, .translations = p->pose + 4 * joints, .scales = p->pose + 7 * joints};
    jnAsset_SampleClip(
        a, p->def->clip, (double)(p->def->first + frame) / rate, p->pose, p->pose + 4 * joints, p->pose + 7 * joints);
    if (jnMakeGlobals(a, &pose, p->globals)) {
        jnToSurface(a, p->globals);
        for (size_t k = 0; k < 12 * joints; ++k) {
            p->matrices[k] = (float)p->globals[k];
        }
    }
}

// The skin's linear part at a vertex, rows, and where its rest position goes.
static void SkinVertex(const Packing* p, size_t vertex, float frame[9], float place[3])
{
    const jnAsset* a = p->def->asset;
    size_t block = vertex / JN_LANES, start = a->influenceStarts[block];
    size_t count = a->influenceStarts[block + 1] - start, at = start * JN_LANES + vertex % JN_LANES * count;
    const float* rest = a->rest + 4 * vertex;
    memset(frame, 0, 9 * sizeof(float));
    memset(place, 0, 3 * sizeof(float));
    for (size_t k = 0; k < count; ++k) {
        const float* m = p->matrices + 12 * (size_t)a->influenceJoints[at + k];
        float weight = a->influenceWeights[at + k];
        for (int row = 0; row < 3; ++row, m += 4) {
            for (int column = 0; column < 3; ++column) {
                frame[3 * row + column] += weight * m[column];
            }
            place[row] += weight * (m[0] * rest[0] + m[1] * rest[1] + m[2] * rest[2] + m[3]);
        }
    }
}

static const float* RowOf(const Packing* p, size_t frame, size_t vertex)
{
    const int32_t* order = p->def->asset->order;
    return p->def->rows + 3 * (frame * p->vertices + (order != NULL ? (size_t)order[vertex] : vertex));
}

static void Displace(Packing* p)
{
    for (int n = 0; n < p->def->frames; ++n) {
        SetMatrices(p, n);
        p->which[n] = n;
        for (size_t v = 0; v < p->vertices; ++v) {
            float frame[9], place[3], offset[3];
            const float* x = RowOf(p, (size_t)n, v);
            SkinVertex(p, v, frame, place);
            for (int k = 0; k < 3; ++k) {
                offset[k] = x[k] - place[k];
            }
            jnaSolveFrame(frame, offset, p->rows + (size_t)n * p->floats + 3 * v);
        }
    }
}

// As many of the components as are needed.
static int CountFields(const Packing* p)
{
    double left = p->pca.total, wanted = PRECISION * PRECISION * (double)p->vertices * (double)p->def->frames;
    int count = 0;
    for (; count < p->pca.count && left > wanted; ++count) {
        left -= p->pca.spread[count];
    }
    return count + 1; // the mean
}

static size_t SizeOf(const Packing* p, size_t fields)
{
    return HEADER + fields * sizeof(float) * (1 + (size_t)p->def->frames) + fields * p->floats * sizeof(int16_t);
}

static const float* FieldOf(const Packing* p, int field)
{
    return field == 0 ? p->pca.mean : p->pca.basis + (size_t)(field - 1) * p->floats;
}

static void Write(const Packing* p, jnaPackedMotion* packed)
{
    const jnaPackDef* def = p->def;
    int fields = packed->fields;
    char* to = packed->bytes;
    uint32_t head[] = {1, (uint32_t)def->frames, (uint32_t)def->first, (uint32_t)p->vertices, (uint32_t)fields};
    memcpy(to, "JNPM", 4);
    memcpy(to + 4, head, sizeof(head));
    float *scales = (float*)(to + HEADER), *coefficients = scales + fields;
    int16_t* values = (int16_t*)(coefficients + (size_t)def->frames * (size_t)fields);
    for (int f = 0; f < fields; ++f) {
        const float* field = FieldOf(p, f);
        float most = 0.0f;
        for (size_t i = 0; i < p->floats; ++i) {
            most = fmaxf(most, fabsf(field[i]));
        }
        scales[f] = most / (float)LARGEST;
        for (size_t i = 0; i < p->floats; ++i) {
            values[(size_t)f * p->floats + i] = (int16_t)(most > 0.0f ? lrintf(field[i] / scales[f]) : 0);
        }
    }
    for (int n = 0; n < def->frames; ++n) {
        double c[MOST_FIELDS];
        jnaPca_Project(&p->pca, p->floats, p->rows + (size_t)n * p->floats, c);
        coefficients[(size_t)n * (size_t)fields] = 1.0f;
        for (int f = 1; f < fields; ++f) {
            coefficients[(size_t)n * (size_t)fields + (size_t)f] = (float)c[f - 1];
        }
    }
}

// Unpacks one frame into the row of displacements that it came from.
static void Unpack(const Packing* p, const jnaPackedMotion* packed, int frame)
{
    const float *scales = (const float*)((const char*)packed->bytes + HEADER), *coefficients = scales + packed->fields;
    const int16_t* values = (const int16_t*)(coefficients + (size_t)p->def->frames * (size_t)packed->fields);
    float* row = p->rows + (size_t)frame * p->floats;
    memset(row, 0, p->floats * sizeof(float));
    for (int f = 0; f < packed->fields; ++f) {
        float factor = scales[f] * coefficients[(size_t)frame * (size_t)packed->fields + (size_t)f];
        for (size_t i = 0; i < p->floats; ++i) {
            row[i] += factor * (float)values[(size_t)f * p->floats + i];
        }
    }
}

static void Measure(Packing* p, jnaPackedMotion* packed)
{
    double sum = 0.0, worst = 0.0;
    for (int n = 0; n < p->def->frames; ++n) {
        Unpack(p, packed, n);
        SetMatrices(p, n);
        for (size_t v = 0; v < p->vertices; ++v) {
            float frame[9], place[3];
            const float *d = p->rows + (size_t)n * p->floats + 3 * v, *x = RowOf(p, (size_t)n, v);
            double square = 0.0;
            SkinVertex(p, v, frame, place);
            for (int k = 0; k < 3; ++k) {
                const float* row = frame + 3 * k;
                double apart = (double)(place[k] + row[0] * d[0] + row[1] * d[1] + row[2] * d[2] - x[k]);
                square += apart * apart;
            }
            sum += square;
            worst = fmax(worst, square);
        }
    }
    packed->rms = sqrt(sum / ((double)p->vertices * (double)p->def->frames));
    packed->worst = sqrt(worst);
}

static jnResult Pack(Packing* p, jnaArena* arena, jnaPackedMotion* packed, jnError* error)
{
    const jnaPackDef* def = p->def;
    size_t joints = (size_t)def->asset->jointCount, frames = (size_t)def->frames;
    p->vertices = (size_t)def->asset->vertexCount;
    p->floats = 3 * p->vertices;
    p->matrices = jnaArena_Take(arena, (int64_t)(12 * joints), sizeof(float));
    p->globals = jnaArena_Take(arena, (int64_t)(12 * joints), sizeof(double));
    p->pose = jnaArena_Take(arena, (int64_t)(10 * joints), sizeof(float));
    p->rows = jnaArena_Take(arena, (int64_t)(frames * p->floats), sizeof(float));
    p->which = jnaArena_Take(arena, def->frames, sizeof(int));
    JN_PASS(jnaArena_Check(arena, "the simulated motion", error));
    size_t field = SizeOf(p, 2) - SizeOf(p, 1), room = def->budget > HEADER ? (def->budget - HEADER) / field : 0;
    int most = (int)(room < MOST_FIELDS ? room : MOST_FIELDS);
    Displace(p);
    JN_PASS(jnaFindComponents(&(jnaPcaDef){.rows = p->rows,
                                  .which = p->which,
                                  .count = def->frames,
                                  .size = p->floats,
                                  .most = most > 2 ? most - 1 : 1},
        &p->pca, error));
    int wanted = CountFields(p);
    packed->fields = wanted < most ? wanted : most > 1 ? most : 1;
    packed->size = SizeOf(p, (size_t)packed->fields);
    packed->bytes = malloc(packed->size);
    if (packed->bytes == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %zu bytes", packed->size);
    }
    Write(p, packed);
    Measure(p, packed);
    return jn_ok;
}

jnResult jnaPackMotion(const jnaPackDef* def, jnaPackedMotion* packed, jnError* error)
{
    Packing p = {.def = def};
    jnaArena arena = {0};
    *packed = (jnaPackedMotion){0};
    jnResult result = Pack(&p, &arena, packed, error);
    jnaDestroyPca(&p.pca);
    jnaReleaseArena(&arena);
    return result;
}
