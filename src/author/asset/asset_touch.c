// Section TUCH: how the skin gives way where it is pressed, beside the modes.
//
// A push of one newton displaces the skin by u (modes/touch.h). The modes give their part of it by themselves, under
// the same push, sum_k U_k gain w_k / k_s with w_k what the mode moves the probe by along the push; the rest is kept,
// in whole numbers of 8 bits by blocks of 16 vertices. What is less than a few hundredths of the largest is left out,
// on a ramp, so that a dent has no edge.
#include "asset/asset_sections.h"

#include "base/try.h"
#include "modes/touch.h"
#include "runtime/for_author.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

// Of the largest displacement by a push: nothing below, all from twice that on.
#define LEAST 0.015
// A link that does less than this share is left out.
#define LEAST_LINK 0.005
// Metres a newton: what gives way by less is a bone, to any hand.
#define LEAST_COMPLIANCE 3e-5
// Metres of flesh over a bone, for a probe.
#define LEAST_DEPTH 4e-3
// The modes take at most this part of what a probe gives way.
#define MODES_PART 0.8
// Of the force on flesh that is pressed to the bone beyond what is linear; see docs/measurements.md.
#define STIFFENING 1.0f

typedef struct Writer {
    const jnaTouch* touch;
    const jnAsset* a;
    const int32_t* place; // [vertexCount], of the character's vertices in the asset
    size_t vertices, columns;
    int count;        // of probes that are kept
    int32_t* kept;    // [count], of the touch, by groups
    int32_t* groupOf; // [count]
    int groupCount;
    float* shapes;      // [columns][vertices][3], metres for a weight of 1, the asset's order
    double* compliance; // [count], of all that gives way
    double* links;      // [count][count], without the modes
    double* pushes;     // [count][modes], what a mode moves a probe by along a push
    double* field;      // [vertices][3], scratch
} Writer;

static void FillShapes(Writer* w)
{
    const jnAsset* a = w->a;
    for (int i = 0; i < a->componentCount + a->modeCount; ++i) {
        size_t column = (size_t)(i < a->componentCount ? i : a->morphs->firstMode + i - a->componentCount);
        jnAsset_MorphDeltas(a, i, true, w->shapes + 3 * column * w->vertices);
    }
}

// Displacement of a vertex of the asset by a push.
static const float* Response(const Writer* w, int probe, int32_t characterVertex)
{
    return w->touch->responses + 3 * ((size_t)w->kept[probe] * w->vertices + (size_t)characterVertex);
}

static double Along(const Writer* w, int probe, const float* displacement)
{
    const float* n = w->touch->normals + 3 * (size_t)w->kept[probe];
    return -((double)n[0] * (double)displacement[0] + (double)n[1] * (double)displacement[1] +
             (double)n[2] * (double)displacement[2]);
}

// Those that give way to a hand.
static void KeepProbes(Writer* w)
{
    for (int p = 0; p < w->touch->probeCount && w->count < JN_MAX_PROBES; ++p) {
        int32_t v = w->touch->probes[p];
        w->kept[w->count] = p;
        double way = Along(w, w->count, Response(w, w->count, v));
        if (way >= LEAST_COMPLIANCE && (double)w->touch->depths[v] >= LEAST_DEPTH) {
            w->compliance[w->count++] = way;
        }
    }
}

static const float* RestOf(const Writer* w, int probe)
{
    return w->a->rest + 4 * (size_t)w->place[w->touch->probes[w->kept[probe]]];
}

// Halves a run of probes along its longest side until groups are small: [first, end) of `kept`, sorted along an axis.
static void Group(Writer* w, int first, int end)
{
    if (end - first <= JN_GROUP_PROBES) {
        for (int i = first; i < end; ++i) {
            w->groupOf[i] = w->groupCount;
        }
        w->groupCount++;
        return;
    }
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (int i = first; i < end; ++i) {
        for (int k = 0; k < 3; ++k) {
            low[k] = fminf(low[k], RestOf(w, i)[k]);
            high[k] = fmaxf(high[k], RestOf(w, i)[k]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k) {
        axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
    }
    for (int i = first + 1; i < end; ++i) { // insertion: a few hundred, and equal ones keep their order
        int32_t own = w->kept[i];
        double way = w->compliance[i];
        float at = RestOf(w, i)[axis];
        int k = i;
        for (; k > first && RestOf(w, k - 1)[axis] > at; --k) {
            w->kept[k] = w->kept[k - 1];
            w->compliance[k] = w->compliance[k - 1];
        }
        w->kept[k] = own;
        w->compliance[k] = way;
    }
    int middle = first + (end - first) / 2;
    Group(w, first, middle);
    Group(w, middle, end);
}

static double StaticAmplitude(const Writer* w, int probe, int mode)
{
    const jnAssetMode* m = &w->a->modes->modes[mode];
    double push = w->pushes[(size_t)probe * (size_t)w->a->modeCount + (size_t)mode];
    return m->stiffness > 1.0f ? push * (double)m->gain / (double)m->stiffness : 0;
}

// What modes move probes by, and what pushes do to other probes beside them; symmetric, as it is but for rounding and
// for where a push is shared out.
static void FindLinks(Writer* w)
{
    size_t n = (size_t)w->count, modes = (size_t)w->a->modeCount;
    for (size_t p = 0; p < n; ++p) {
        size_t v = (size_t)w->place[w->touch->probes[w->kept[p]]];
        for (size_t k = 0; k < modes; ++k) {
            const float* shape = w->shapes + 3 * (((size_t)w->a->morphs->firstMode + k) * w->vertices + v);
            w->pushes[p * modes + k] = Along(w, (int)p, shape) / (double)w->a->modes->modes[k].unit;
        }
    }
    for (size_t p = 0; p < n; ++p) {
        for (size_t q = 0; q < n; ++q) {
            double own = 0.5 * Along(w, (int)q, Response(w, (int)p, w->touch->probes[w->kept[q]]));
            w->links[p * n + q] += own;
            w->links[q * n + p] += own;
            for (size_t k = 0; k < modes; ++k) {
                w->links[p * n + q] -= w->pushes[q * modes + k] * StaticAmplitude(w, (int)p, (int)k);
            }
        }
    }
    for (size_t p = 0; p < n; ++p) {
        w->links[p * n + p] = fmax(w->links[p * n + p], (1 - MODES_PART) * w->compliance[p]);
    }
}

// The response of a probe without the modes' part and without what is little, in the asset's order. Returns the largest
// number of it.
static double FillField(Writer* w, int probe)
{
    size_t modes = (size_t)w->a->modeCount;
    double peak = 0, largest = 0;
    for (size_t v = 0; v < w->vertices; ++v) {
        const float* u = Response(w, probe, (int32_t)v);
        double square = 0, *to = w->field + 3 * (size_t)w->place[v];
        for (size_t i = 0; i < 3; ++i) {
            to[i] = (double)u[i];
            square += to[i] * to[i];
        }
        peak = fmax(peak, sqrt(square));
    }
    for (size_t k = 0; k < modes; ++k) {
        double amount = StaticAmplitude(w, probe, (int)k) / (double)w->a->modes->modes[k].unit;
        const float* shape = w->shapes + 3 * ((size_t)w->a->morphs->firstMode + k) * w->vertices;
        for (size_t i = 0; amount != 0 && i < 3 * w->vertices; ++i) {
            w->field[i] -= amount * (double)shape[i];
        }
    }
    for (size_t v = 0; v < w->vertices; ++v) {
        double *u = w->field + 3 * v, length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        double share = fmin(fmax((length / peak - LEAST) / LEAST, 0), 1);
        for (int i = 0; i < 3; ++i) {
            u[i] *= share;
            largest = fmax(largest, fabs(u[i]));
        }
    }
    return largest;
}

static bool BlockMoves(const Writer* w, size_t block, double unit)
{
    bool moves = false;
    for (size_t i = 3 * block * JN_LANES; i < 3 * (block + 1) * JN_LANES && i < 3 * w->vertices; ++i) {
        moves = moves || fabs(w->field[i]) >= 0.5 * unit;
    }
    return moves;
}

// Blocks of a probe's response; with `to` NULL they are only counted.
static uint32_t FillEntries(Writer* w, int probe, float* unit, int32_t* blocks, int8_t* to)
{
    double largest = FillField(w, probe);
    uint32_t count = 0;
    *unit = (float)(largest / 127);
    for (size_t b = 0; largest > 0 && b < (size_t)w->a->blockCount; ++b) {
        if (!BlockMoves(w, b, (double)*unit)) {
            continue;
        }
        for (size_t v = b * JN_LANES; to != NULL && v < (b + 1) * JN_LANES && v < w->vertices; ++v) {
            for (size_t i = 0; i < 3; ++i) {
                to[(size_t)count * 3 * JN_LANES + i * JN_LANES + v % JN_LANES] =
                    (int8_t)lrint(w->field[3 * v + i] / (double)*unit);
            }
        }
        if (to != NULL) {
            blocks[count] = (int32_t)b;
        }
        ++count;
    }
    return count;
}

static double ShareOf(const Writer* w, size_t p, size_t q)
{
    size_t n = (size_t)w->count;
    return w->links[p * n + q] / sqrt(w->links[p * n + p] * w->links[q * n + q]);
}

static uint32_t FillProbeLinks(const Writer* w, size_t p, jnTouchLink* to)
{
    uint32_t count = 0;
    for (size_t q = 0; q < (size_t)w->count; ++q) {
        double share = q != p ? fmin(fmax(ShareOf(w, p, q), -1), 1) : 0;
        if (fabs(share) < LEAST_LINK) {
            continue;
        }
        if (to != NULL) {
            to[count] = (jnTouchLink){.probe = (uint16_t)q, .share = (int16_t)lrint(32767 * share)};
        }
        ++count;
    }
    return count;
}

static void FillRows(const Writer* w, int probe, float* unit, int16_t* to)
{
    size_t v = (size_t)w->place[w->touch->probes[w->kept[probe]]];
    float largest = 0.0f;
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < 3 * w->columns; ++i) {
            float value = w->shapes[3 * (i % w->columns * w->vertices + v) + i / w->columns];
            largest = fabsf(value) > largest ? fabsf(value) : largest;
            if (pass == 1) {
                to[i] = (int16_t)lrintf(largest > 0.0f ? value / largest * 32767.0f : 0.0f);
            }
        }
    }
    *unit = largest / 32767.0f;
}

// The joints that move a group most, and a sphere around it.
static void FillGroup(const Writer* w, int group, double* weights, jnTouchGroup* to)
{
    const jnAsset* a = w->a;
    *to = (jnTouchGroup){.first = -1};
    memset(weights, 0, (size_t)a->jointCount * sizeof(double));
    for (int p = 0; p < w->count; ++p) {
        if (w->groupOf[p] != group) {
            continue;
        }
        to->first = to->first < 0 ? p : to->first;
        to->count++;
        size_t v = (size_t)w->place[w->touch->probes[w->kept[p]]], b = v / JN_LANES;
        size_t count = a->influenceStarts[b + 1] - a->influenceStarts[b];
        size_t at = (size_t)a->influenceStarts[b] * JN_LANES + v % JN_LANES * count;
        for (size_t i = 0; i < count; ++i) {
            weights[a->influenceJoints[at + i]] += (double)a->influenceWeights[at + i];
        }
        for (int k = 0; k < 3; ++k) {
            to->center[k] += RestOf(w, p)[k];
        }
    }
    for (int k = 0; k < 3; ++k) {
        to->center[k] /= (float)to->count;
    }
    for (int p = to->first; p < to->first + to->count; ++p) {
        const float* x = RestOf(w, p);
        float dx = x[0] - to->center[0], dy = x[1] - to->center[1], dz = x[2] - to->center[2];
        to->radius = fmaxf(to->radius, sqrtf(dx * dx + dy * dy + dz * dz));
    }
    for (int j = 0; j < JN_GROUP_JOINTS; ++j) {
        int most = 0;
        for (int k = 1; k < a->jointCount; ++k) {
            most = weights[k] > weights[most] ? k : most;
        }
        to->joints[j] = weights[most] > 0 ? (uint16_t)most : to->joints[0];
        weights[most] = 0;
    }
}

static jnResult Fill(Writer* w, jnaSections* s, jnError* error)
{
    uint64_t places[JN_TOUCH_ARRAYS + 1];
    jnAssetTouchHeader header = {.probeCount = w->count,
        .groupCount = w->groupCount,
        .columnCount = (int32_t)w->columns,
        .stiffening = STIFFENING};
    float unit;
    for (int p = 0; p < w->count; ++p) {
        header.entryCount += FillEntries(w, p, &unit, NULL, NULL);
        header.linkCount += FillProbeLinks(w, (size_t)p, NULL);
    }
    jnPlaceTouch(&header, places);
    char* to = jnaAddSection(s, JN_SECTION_TOUCH, false, (size_t)places[JN_TOUCH_ARRAYS]);
    double* weights = jnaArena_Take(&s->arena, w->a->jointCount, sizeof(double));
    JN_PASS(jnaArena_Check(&s->arena, "the touch of an asset", error));
    jnTouchProbe* probes = (jnTouchProbe*)(void*)(to + places[0]);
    jnTouchGroup* groups = (jnTouchGroup*)(void*)(to + places[1]);
    jnTouchLink* links = (jnTouchLink*)(void*)(to + places[2]);
    int32_t* blocks = (int32_t*)(void*)(to + places[3]);
    int16_t* rows = (int16_t*)(void*)(to + places[4]);
    int8_t* entries = (int8_t*)(to + places[5]);
    for (int p = 0; p < w->count; ++p) {
        int32_t v = w->touch->probes[w->kept[p]];
        jnTouchProbe* probe = &probes[p];
        probe->vertex = w->place[v];
        probe->depth = w->touch->depths[v];
        probe->compliance = (float)w->links[(size_t)p * (size_t)w->count + (size_t)p];
        memcpy(probe->normal, w->touch->normals + 3 * (size_t)w->kept[p], sizeof(probe->normal));
        FillRows(w, p, &probe->rowUnit, rows + 3 * (size_t)p * w->columns);
        probes[p + 1].entries = probe->entries + FillEntries(w, p, &probe->entryUnit, blocks + probe->entries,
                                                     entries + (size_t)probe->entries * 3 * JN_LANES);
        probes[p + 1].links = probe->links + FillProbeLinks(w, (size_t)p, links + probe->links);
    }
    for (int g = 0; g < w->groupCount; ++g) {
        FillGroup(w, g, weights, &groups[g]);
    }
    memcpy(to, &header, sizeof(header));
    return jn_ok;
}

jnResult jnaAddTouch(const jnaAssetDef* def, const jnAsset* a, jnaSections* s, jnError* error)
{
    if (def->touch->vertexCount != a->vertexCount) {
        return jnFail(error, jn_badArgument, "the touch is of %d vertices, the character of %d",
            def->touch->vertexCount, a->vertexCount);
    }
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int64_t probes = def->touch->probeCount;
    Writer w = {.touch = def->touch,
        .a = a,
        .place = s->place,
        .vertices = (size_t)a->vertexCount,
        .columns = a->morphs != NULL ? (size_t)a->morphs->columnCount : 0};
    w.kept = jnaArena_Take(&arena, probes + 1, sizeof(int32_t));
    w.groupOf = jnaArena_Take(&arena, probes + 1, sizeof(int32_t));
    w.compliance = jnaArena_Take(&arena, probes + 1, sizeof(double));
    w.shapes = jnaArena_Take(&arena, (int64_t)(w.columns * w.vertices), 3 * sizeof(float));
    w.field = jnaArena_Take(&arena, a->vertexCount, 3 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the touch of an asset", error));
    FillShapes(&w);
    KeepProbes(&w);
    w.links = jnaArena_Take(&arena, (int64_t)w.count * w.count, sizeof(double));
    w.pushes = jnaArena_Take(&arena, (int64_t)w.count * (a->modeCount + 1), sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the touch of an asset", error));
    if (w.count > 0) {
        Group(&w, 0, w.count);
        FindLinks(&w);
        JN_TRY(Fill(&w, s, error));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
