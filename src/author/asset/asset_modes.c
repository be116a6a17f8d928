// Section MODE of an asset: what drives the modes, from joints and components alone; modes of unit modal mass, the most
// important first.
//
// With P the projection of accelerations on the modes, r + b the rest surface with the network's mean displacement and
// w the skin's weights,
//     T_j = sum_v w_vj P_v (x) (r_v + b_v, 1)      P B      X_cj = sum_v w_vj P_v (x) B_vc
// Spins are kept where they can matter: a joint that rotates by one radian changes an amplitude by at least
// SMALLEST_SPIN of another. Cross terms X are kept for the pairs of component and joint with the most flesh in them.
#include "asset/asset_sections.h"

#include "base/arena.h"
#include "learn/network.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_SPIN 0.005
// Of a mode without a cap, metres that a weight of 1 moves its farthest vertex.
#define DEFAULT_UNIT 0.05
// What a uniform acceleration of the whole counts against that of every part for itself, in a mode's importance.
#define PART_SHARE 0.1
enum {
    MOST_CROSSES = 24,
    PAIR_LEVELS = 3, // of detail: up to JN_LANES modes, up to twice as many, all
};

double jnaModeUnit(const jnaModes* m, int mode)
{
    return m->caps[mode] > 0 ? m->caps[mode] : DEFAULT_UNIT;
}

// Everything in double and dense, before it is packed.
typedef struct Writer {
    const jnaModes* m;
    const jnaCharacter* c;
    const jnaNetwork* network; // pca, or NULL
    const int32_t *order, *place;
    size_t modes, joints, components, blocks, crosses;
    double* forces;     // [joints][12][modes], T_j
    double* drives;     // [components][modes], P B
    double* crossTerms; // [crosses][9][modes]
    uint16_t crossComponents[MOST_CROSSES], crossJoints[MOST_CROSSES];
    size_t pairCount;
    uint16_t* pairs;      // [pairCount][2]
    int32_t* driverOf;    // [joints], number in the list of drivers, or -1
    jnAssetModesHeader h; // counts
    jnaArena* arena;      // of the sections
} Writer;

// The projection of a vertex on mode `k` of the asset, of unit modal mass.
static void ProjectionOf(const Writer* w, size_t k, size_t v, double p[3])
{
    size_t from = (size_t)w->order[k];
    double root = sqrt(w->m->masses[from]);
    const float* numbers = w->m->projections + 3 * (from * (size_t)w->m->vertexCount + v);
    for (int a = 0; a < 3; ++a) {
        p[a] = root * (double)numbers[a];
    }
}

static const float* BasisOf(const Writer* w, size_t component, size_t v)
{
    return w->network->basis + 3 * (component * (size_t)w->network->vertexCount + v);
}

// Of unit modal mass: row k of what rotating about an axis of a joint does to mode l; its skew part.
static double SpinOf(const Writer* w, size_t joint, size_t axis, size_t k, size_t l)
{
    size_t n = w->modes, a = (size_t)w->order[k], b = (size_t)w->order[l];
    const float* spins = w->m->spins + (3 * joint + axis) * n * n;
    double scale = sqrt(w->m->masses[a] / w->m->masses[b]);
    return 0.5 * ((double)spins[a * n + b] * scale - (double)spins[b * n + a] / scale);
}

static double SpinSize(const Writer* w, size_t joint, size_t k, size_t l)
{
    double square = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
        square += SpinOf(w, joint, axis, k, l) * SpinOf(w, joint, axis, k, l);
    }
    return sqrt(square);
}

// How much a mode moves the surface where the character is accelerated, metres per m/s^2 times the root of vertices.
static double ImportanceOf(const jnaModes* m, int mode)
{
    size_t width = 3 * (size_t)m->vertexCount;
    const float *p = m->projections + (size_t)mode * width, *u = m->shapes + (size_t)mode * width;
    double sums[3] = {0}, parts = 0, shape = 0;
    for (size_t i = 0; i < width; ++i) {
        sums[i % 3] += (double)p[i];
        parts += fabs((double)p[i]);
        shape += (double)u[i] * (double)u[i];
    }
    double felt = sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2] + PART_SHARE * parts * parts;
    return fabs(m->gain[mode]) * sqrt(felt * shape) / fmax(m->stiffness[mode], 1e-6);
}

void jnaOrderModes(const jnaModes* m, jnaArena* arena, int32_t* order)
{
    double* importance = jnaArena_Take(arena, m->modeCount, sizeof(double));
    if (arena->failed) {
        return;
    }
    for (int k = 0; k < m->modeCount; ++k) {
        importance[k] = ImportanceOf(m, k);
    }
    for (int k = 0; k < m->modeCount; ++k) {
        int at = 0;
        for (int other = 0; other < m->modeCount; ++other) {
            at += importance[other] > importance[k] || (importance[other] == importance[k] && other < k);
        }
        order[at] = k;
    }
}

// T_j and P B.
static void SumForces(Writer* w)
{
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < w->modes; ++k) {
        for (size_t v = 0; v < (size_t)w->c->vertexCount; ++v) {
            double p[3], place[4] = {0, 0, 0, 1};
            ProjectionOf(w, k, v, p);
            if (p[0] == 0 && p[1] == 0 && p[2] == 0) {
                continue;
            }
            for (size_t a = 0; a < 3; ++a) {
                place[a] = (double)w->c->positions[3 * v + a] + (w->network != NULL ? (double)BasisOf(w, 0, v)[a] : 0);
            }
            const jnaInfluences* in = &w->c->influences[v];
            for (int i = 0; i < JNA_MAX_INFLUENCES && in->weights[i] > 0.0f; ++i) {
                double* t = w->forces + (size_t)in->joints[i] * 12 * w->modes + k;
                for (size_t n = 0; n < 12; ++n) {
                    t[n * w->modes] += (double)in->weights[i] * p[n / 4] * place[n % 4];
                }
            }
            for (size_t c = 0; c < w->components; ++c) {
                const float* b = BasisOf(w, c, v);
                w->drives[c * w->modes + k] += p[0] * (double)b[0] + p[1] * (double)b[1] + p[2] * (double)b[2];
            }
        }
    }
}

// How much flesh that modes move a component has at a joint, for the choice of cross terms. scores:
// [components][joints]
static void ScoreCrosses(const Writer* w, double* scores)
{
    for (size_t v = 0; v < (size_t)w->c->vertexCount; ++v) {
        double pull = 0;
        for (size_t k = 0; k < w->modes; ++k) {
            double p[3];
            ProjectionOf(w, k, v, p);
            pull += sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        }
        const jnaInfluences* in = &w->c->influences[v];
        for (size_t c = 1; pull > 0 && c < w->components; ++c) { // the mean is in T_j
            const float* b = BasisOf(w, c, v);
            double size = pull * sqrt((double)(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]));
            for (int i = 0; i < JNA_MAX_INFLUENCES && in->weights[i] > 0.0f; ++i) {
                scores[c * w->joints + (size_t)in->joints[i]] += (double)in->weights[i] * size;
            }
        }
    }
}

static void SumCross(Writer* w, size_t e)
{
    size_t component = w->crossComponents[e], joint = w->crossJoints[e];
    for (size_t v = 0; v < (size_t)w->c->vertexCount; ++v) {
        const jnaInfluences* in = &w->c->influences[v];
        const float* b = BasisOf(w, component, v);
        double weight = 0;
        for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
            weight += (size_t)in->joints[i] == joint ? (double)in->weights[i] : 0;
        }
        for (size_t k = 0; weight > 0 && k < w->modes; ++k) {
            double p[3];
            ProjectionOf(w, k, v, p);
            for (size_t n = 0; n < 9; ++n) {
                w->crossTerms[(e * 9 + n) * w->modes + k] += weight * p[n / 3] * (double)b[n % 3];
            }
        }
    }
}

// False if memory is short.
static bool ChooseCrosses(Writer* w)
{
    size_t count = w->components * w->joints;
    double* scores = jnaArena_Take(w->arena, (int64_t)count, sizeof(double));
    w->crossTerms = jnaArena_Take(w->arena, (int64_t)w->modes, MOST_CROSSES * 9 * sizeof(double));
    if (w->arena->failed) {
        return false;
    }
    ScoreCrosses(w, scores);
    while (w->crosses < MOST_CROSSES) {
        size_t best = 0;
        for (size_t i = 0; i < count; ++i) {
            best = scores[i] > scores[best] ? i : best;
        }
        if (count == 0 || !(scores[best] > 0)) {
            break;
        }
        scores[best] = 0;
        w->crossComponents[w->crosses] = (uint16_t)(best / w->joints);
        w->crossJoints[w->crosses++] = (uint16_t)(best % w->joints);
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t e = 0; e < w->crosses; ++e) {
        SumCross(w, e);
    }
    return true;
}

// Pairs of modes that some joint couples, by the level of detail that they belong to and within it by the joint that
// couples them most: a character with few modes looks at few pairs, and blocks of pairs have few joints. False if
// memory is short.
static bool FindPairs(Writer* w)
{
    size_t n = w->modes;
    int32_t* mains = jnaArena_Take(w->arena, (int64_t)(n * n), sizeof(int32_t));
    w->pairs = jnaArena_Take(w->arena, (int64_t)(n * n), 2 * sizeof(uint16_t));
    if (w->arena->failed) {
        return false;
    }
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t i = 0; i < n * n; ++i) {
        double most = SMALLEST_SPIN;
        mains[i] = -1;
        for (size_t j = 0; i % n < i / n && j < w->joints; ++j) {
            double size = SpinSize(w, j, i / n, i % n);
            if (size >= most) {
                most = size;
                mains[i] = (int32_t)j;
            }
        }
    }
    for (size_t level = 0; level < PAIR_LEVELS; ++level) {
        size_t first = level * JN_LANES * n, end = level + 1 < PAIR_LEVELS ? first + JN_LANES * n : n * n;
        for (size_t j = 0; j < w->joints; ++j) {
            for (size_t i = first; i < n * n && i < end; ++i) {
                if (mains[i] == (int32_t)j) {
                    w->pairs[2 * w->pairCount] = (uint16_t)(i / n);
                    w->pairs[2 * w->pairCount++ + 1] = (uint16_t)(i % n);
                }
            }
        }
    }
    return true;
}

static bool ForceMatters(const Writer* w, size_t block, size_t joint)
{
    bool any = false;
    for (size_t n = 0; n < 12; ++n) {
        for (size_t k = block * JN_LANES; k < w->modes && k < (block + 1) * JN_LANES; ++k) {
            any = any || w->forces[(joint * 12 + n) * w->modes + k] != 0;
        }
    }
    return any;
}

static bool SpinMatters(const Writer* w, size_t block, size_t joint)
{
    bool any = false;
    for (size_t i = block * JN_LANES; !any && i < w->pairCount && i < (block + 1) * JN_LANES; ++i) {
        any = SpinSize(w, joint, w->pairs[2 * i], w->pairs[2 * i + 1]) >= SMALLEST_SPIN;
    }
    return any;
}

static void CountEntries(Writer* w)
{
    size_t pairBlocks = (size_t)jnBlockCount((int)w->pairCount);
    w->h = (jnAssetModesHeader){.modeCount = (int32_t)w->modes,
        .crossCount = (int32_t)w->crosses,
        .pairCount = (int32_t)w->pairCount,
        .componentCount = (int32_t)w->components};
    for (size_t j = 0; j < w->joints; ++j) {
        int forces = 0, spins = 0;
        for (size_t b = 0; b < w->blocks; ++b) {
            forces += ForceMatters(w, b, j);
        }
        for (size_t b = 0; b < pairBlocks; ++b) {
            spins += SpinMatters(w, b, j);
        }
        w->h.forceCount += forces;
        w->h.spinCount += spins;
        w->driverOf[j] = forces + spins > 0 ? w->h.driverCount++ : -1;
    }
}

static void FillModes(const Writer* w, jnAssetMode* modes, uint16_t* drivers)
{
    for (size_t k = 0; k < w->modes; ++k) {
        const jnaModes* m = w->m;
        size_t from = (size_t)w->order[k];
        double root = sqrt(m->masses[from]);
        modes[k] = (jnAssetMode){.stiffness = (float)m->stiffness[from],
            .damping = (float)m->damping[from],
            .gain = (float)m->gain[from],
            .unit = (float)(jnaModeUnit(m, (int)from) * root),
            .largest = (float)(jnaModes_Largest(m, (int)from) / root),
            .massShare = (float)m->massShare[from],
            .joint = m->joints[from],
            .vertexCount = m->sizes[from],
            .limit = (float)(m->limits[from] * root),
            .cap = (float)(m->caps[from] * root)};
    }
    for (size_t j = 0; j < w->joints; ++j) {
        if (w->driverOf[j] >= 0) {
            drivers[w->driverOf[j]] = (uint16_t)j;
        }
    }
}

// What of a vertex' flesh an impulse there moves: the mass with which its shapes come closest to its projections. At the
// edge of a mask both are nearly 0.
#define HEAVIEST 1e3
static void FillMasses(const Writer* w, float* masses)
{
    size_t vertices = (size_t)w->m->vertexCount;
    for (size_t v = 0; v < vertices; ++v) {
        double product = 0, square = 0;
        for (size_t k = 0; k < w->modes; ++k) {
            const float *p = w->m->projections + 3 * (k * vertices + v), *u = w->m->shapes + 3 * (k * vertices + v);
            for (int a = 0; a < 3; ++a) {
                product += (double)p[a] * (double)u[a];
                square += (double)u[a] * (double)u[a] / w->m->masses[k];
            }
        }
        masses[w->place[v]] = square > 0 ? (float)fmin(fmax(product / square, 0.0), HEAVIEST) : 0.0f;
    }
}

static void FillForces(const Writer* w, uint32_t* starts, uint16_t* joints, float* forces, float* drives)
{
    uint32_t e = 0;
    for (size_t b = 0; b < w->blocks; ++b) {
        starts[b] = e;
        for (size_t j = 0; j < w->joints; ++j) {
            if (!ForceMatters(w, b, j)) {
                continue;
            }
            joints[e] = (uint16_t)w->driverOf[j];
            for (size_t n = 0; n < 12 * JN_LANES; ++n) {
                size_t k = b * JN_LANES + n % JN_LANES;
                forces[e * 12 * JN_LANES + n] =
                    k < w->modes ? (float)w->forces[(j * 12 + n / JN_LANES) * w->modes + k] : 0.0f;
            }
            e++;
        }
        for (size_t n = 0; n < w->components * JN_LANES; ++n) {
            size_t k = b * JN_LANES + n % JN_LANES;
            drives[b * w->components * JN_LANES + n] =
                k < w->modes ? (float)w->drives[n / JN_LANES * w->modes + k] : 0.0f;
        }
    }
    starts[w->blocks] = e;
}

static void FillCrosses(const Writer* w, uint16_t* components, uint16_t* joints, float* crosses)
{
    for (size_t e = 0; e < w->crosses; ++e) {
        components[e] = w->crossComponents[e];
        joints[e] = (uint16_t)w->driverOf[w->crossJoints[e]];
        for (size_t n = 0; n < 9 * w->modes; ++n) {
            size_t row = n / w->modes, k = n % w->modes;
            crosses[((k / JN_LANES * w->crosses + e) * 9 + row) * JN_LANES + k % JN_LANES] =
                (float)w->crossTerms[(e * 9 + row) * w->modes + k];
        }
    }
}

static void FillSpins(const Writer* w, uint16_t* pairs, uint32_t* starts, uint16_t* joints, float* spins)
{
    uint32_t e = 0;
    size_t blocks = (size_t)jnBlockCount((int)w->pairCount);
    memcpy(pairs, w->pairs, 2 * w->pairCount * sizeof(uint16_t));
    for (size_t b = 0; b < blocks; ++b) {
        starts[b] = e;
        for (size_t j = 0; j < w->joints; ++j) {
            if (!SpinMatters(w, b, j)) {
                continue;
            }
            joints[e] = (uint16_t)w->driverOf[j];
            for (size_t n = 0; n < 3 * JN_LANES; ++n) {
                size_t i = b * JN_LANES + n % JN_LANES;
                spins[e * 3 * JN_LANES + n] =
                    i < w->pairCount ? (float)SpinOf(w, j, n / JN_LANES, w->pairs[2 * i], w->pairs[2 * i + 1]) : 0.0f;
            }
            e++;
        }
    }
    starts[blocks] = e;
}

static void Fill(const Writer* w, char* data, const uint64_t* places)
{
    void* at[JN_MODE_ARRAYS];
    for (int i = 0; i < JN_MODE_ARRAYS; ++i) {
        at[i] = data + places[i];
    }
    memcpy(data, &w->h, sizeof(w->h));
    FillModes(w, at[0], at[1]);
    FillMasses(w, at[2]);
    FillForces(w, at[3], at[4], at[5], at[6]);
    FillCrosses(w, at[7], at[8], at[9]);
    FillSpins(w, at[10], at[11], at[12], at[13]);
}

void jnaAddModes(const jnaAssetDef* def, jnaSections* s)
{
    if (def->modes == NULL || def->modes->modeCount == 0 || s->arena.failed) {
        return;
    }
    bool pca = def->network != NULL && def->network->kind == jn_networkPca;
    Writer w = {.arena = &s->arena,
        .m = def->modes,
        .c = def->character,
        .network = pca ? def->network : NULL,
        .order = s->modeOrder,
        .place = s->place,
        .modes = (size_t)def->modes->modeCount,
        .joints = (size_t)def->character->jointCount,
        .components = pca ? (size_t)def->network->componentCount + 1 : 0,
        .blocks = (size_t)jnBlockCount(def->modes->modeCount)};
    w.forces = jnaArena_Take(w.arena, (int64_t)(w.joints * w.modes), 12 * sizeof(double));
    w.drives = jnaArena_Take(w.arena, (int64_t)(w.components * w.modes), sizeof(double));
    w.driverOf = jnaArena_Take(w.arena, (int64_t)w.joints, sizeof(int32_t));
    if (s->arena.failed) {
        return;
    }
    SumForces(&w);
    if (!ChooseCrosses(&w) || !FindPairs(&w)) {
        return;
    }
    uint64_t places[JN_MODE_ARRAYS + 1];
    CountEntries(&w);
    jnPlaceModes(&w.h, jnBlockCount(w.c->vertexCount), places);
    char* data = jnaAddSection(s, JN_SECTION_MODES, false, (size_t)places[JN_MODE_ARRAYS]);
    if (data != NULL) {
        Fill(&w, data, places);
    }
}
