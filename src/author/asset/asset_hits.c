// Section HITS: a few hundred points of the surface, each with the rows of the modes, and the vertices around them.
// Points are farthest from each other among the vertices that modes move, and then moved into the middle of those they
// are nearest to.
#include "asset/asset_sections.h"

#include "runtime/for_author.h"

#include <float.h>
#include <math.h>

// Of a body of 2 m^2 that is one every 6 cm. A coarse mesh has a point for a few vertices at least.
enum { FEW = 3, POINTS = 512, MIDDLES = 4, TURNS = 3 };
// Metres: points closer than this would tell nothing new.
#define CLOSEST 5e-3
// The modes move what they move at unit amplitude by more than this fraction of their farthest vertex.
#define MOVED 1e-3f

typedef struct Hits {
    const jnAsset* a;
    jnaArena* arena;
    size_t vertices, modes;
    int points;
    float* shapes;   // [modes][vertices][3], metres at unit amplitude
    double* places;  // [POINTS][3], of the points
    double* nearest; // [vertices], square of the way to its point
    double* kicked;  // [vertices], kilograms that an impulse there moves
    int32_t* owner;  // [vertices], its point; -1: nothing moves it
} Hits;

static double MassOf(const Hits* h, size_t v)
{
    return (double)h->a->modes->masses[v];
}

// What the modes do, and which vertices they move.
static void FindShapes(Hits* h)
{
    const jnAsset* a = h->a;
    for (size_t v = 0; v < h->vertices; ++v) {
        h->owner[v] = -1;
    }
    for (size_t k = 0; k < h->modes; ++k) {
        float* shape = h->shapes + 3 * k * h->vertices;
        float unit = a->modes->modes[k].unit, least = MOVED * a->modes->modes[k].largest;
        jnAsset_MorphDeltas(a, a->componentCount + (int)k, true, shape);
        for (size_t i = 0; i < 3 * h->vertices; ++i) {
            shape[i] /= unit;
            if (fabsf(shape[i]) > least && MassOf(h, i / 3) > 0.0) {
                h->owner[i / 3] = 0;
            }
        }
    }
}

static double WayTo(const Hits* h, size_t v, int point)
{
    double square = 0.0;
    for (size_t i = 0; i < 3; ++i) {
        double way = (double)h->a->rest[4 * v + i] - h->places[3 * (size_t)point + i];
        square += way * way;
    }
    return square;
}

// Gives vertices to a point that is nearer than theirs.
static void TakeVertices(Hits* h, int point)
{
    for (size_t v = 0; v < h->vertices; ++v) {
        double square = h->owner[v] >= 0 ? WayTo(h, v, point) : 0.0;
        if (h->owner[v] >= 0 && square < h->nearest[v]) {
            h->nearest[v] = square;
            h->owner[v] = point;
        }
    }
}

static void PutPoint(Hits* h, int point, size_t vertex)
{
    for (size_t i = 0; i < 3; ++i) {
        h->places[3 * (size_t)point + i] = (double)h->a->rest[4 * vertex + i];
    }
}

// The farthest vertex of all from the points so far, again and again.
static void ChoosePoints(Hits* h)
{
    for (size_t v = 0; v < h->vertices; ++v) {
        h->nearest[v] = DBL_MAX;
    }
    int moved = 0;
    for (size_t v = 0; v < h->vertices; ++v) {
        moved += h->owner[v] >= 0;
    }
    int most = moved / FEW < POINTS ? (moved + FEW - 1) / FEW : POINTS;
    for (h->points = 0; h->points < most; ++h->points) {
        size_t farthest = 0;
        double way = -1.0;
        for (size_t v = 0; v < h->vertices; ++v) {
            if (h->owner[v] >= 0 && h->nearest[v] > way) {
                way = h->nearest[v];
                farthest = v;
            }
        }
        if (way < CLOSEST * CLOSEST) {
            break;
        }
        PutPoint(h, h->points, farthest);
        TakeVertices(h, h->points);
    }
}

// Points go where the mass of their vertices is, and vertices to the nearest point.
static void FindMiddles(Hits* h, double* sums)
{
    memset(sums, 0, (size_t)h->points * 4 * sizeof(double));
    for (size_t v = 0; v < h->vertices; ++v) {
        for (size_t i = 0; h->owner[v] >= 0 && i < 4; ++i) {
            sums[4 * (size_t)h->owner[v] + i] += MassOf(h, v) * (i < 3 ? (double)h->a->rest[4 * v + i] : 1.0);
        }
        h->nearest[v] = DBL_MAX;
    }
    for (int p = 0; p < h->points; ++p) {
        const double* sum = sums + 4 * (size_t)p;
        for (size_t i = 0; sum[3] > 0.0 && i < 3; ++i) {
            h->places[3 * (size_t)p + i] = sum[i] / sum[3];
        }
        TakeVertices(h, p);
    }
}

// Weights of all joints over a point's vertices: the largest few, adding up to 1.
static void FillJoints(jnHitPoint* point, double* weights, int jointCount)
{
    double sum = 0.0;
    for (int k = 0; k < JN_HIT_JOINTS; ++k) {
        int largest = 0;
        for (int j = 1; j < jointCount; ++j) {
            largest = weights[j] > weights[largest] ? j : largest;
        }
        point->joints[k] = (uint16_t)largest;
        point->weights[k] = (float)weights[largest];
        sum += weights[largest];
        weights[largest] = 0.0;
    }
    for (int k = 0; k < JN_HIT_JOINTS; ++k) {
        point->weights[k] = sum > 0.0 ? (float)((double)point->weights[k] / sum) : k == 0;
    }
}

static void AddInfluences(const jnAsset* a, size_t v, double mass, double* weights)
{
    size_t b = v / JN_LANES, count = a->influenceStarts[b + 1] - a->influenceStarts[b];
    size_t at = (size_t)a->influenceStarts[b] * JN_LANES + v % JN_LANES * count;
    for (size_t i = 0; i < count; ++i) {
        weights[a->influenceJoints[at + i]] += mass * (double)a->influenceWeights[at + i];
    }
}

// What a point and its vertices have in common: rows R and a mass m of each vertex for which m R is nearest to what its
// own mass times its own rows is. Near bones a vertex has a large mass that hardly moves. In turns: R from m, m from R.
static void FitRows(Hits* h, int number, double* rows)
{
    double norm = 0.0, square = 0.0;
    memset(rows, 0, 3 * h->modes * sizeof(double));
    for (size_t v = 0; v < h->vertices; ++v) {
        double scale = h->owner[v] == number ? h->kicked[v] * MassOf(h, v) : 0.0;
        for (size_t i = 0; scale > 0.0 && i < 3 * h->modes; ++i) {
            rows[i] += scale * (double)h->shapes[3 * (i / 3 * h->vertices + v) + i % 3];
        }
        norm += h->owner[v] == number ? h->kicked[v] * h->kicked[v] : 0.0;
    }
    for (size_t i = 0; i < 3 * h->modes; ++i) {
        rows[i] = norm > 0.0 ? rows[i] / norm : 0.0;
        square += rows[i] * rows[i];
    }
    for (size_t v = 0; v < h->vertices; ++v) {
        double dot = 0.0;
        for (size_t i = 0; h->owner[v] == number && i < 3 * h->modes; ++i) {
            dot += rows[i] * (double)h->shapes[3 * (i / 3 * h->vertices + v) + i % 3];
        }
        if (h->owner[v] == number) {
            h->kicked[v] = square > 0.0 ? fmax(MassOf(h, v) * dot / square, 0.0) : 0.0;
        }
    }
}

// A point with its rows. joints: [jointCount], rows: [modes][3]; scratch
static void FillPoint(Hits* h, int number, double* joints, double* rows, jnHitPoint* point, int16_t* out)
{
    double largest = 0.0;
    memset(joints, 0, (size_t)h->a->jointCount * sizeof(double));
    for (size_t v = 0; v < h->vertices; ++v) {
        if (h->owner[v] == number) {
            h->kicked[v] = MassOf(h, v);
            AddInfluences(h->a, v, MassOf(h, v), joints);
        }
    }
    FillJoints(point, joints, h->a->jointCount);
    for (int turn = 0; turn < TURNS; ++turn) {
        FitRows(h, number, rows);
    }
    for (size_t i = 0; i < 3 * h->modes; ++i) {
        largest = fmax(largest, fabs(rows[i]));
    }
    point->rowScale = (float)(largest / INT16_MAX);
    for (size_t i = 0; i < 3 * h->modes; ++i) {
        out[i] = (int16_t)lrint(largest > 0.0 ? rows[i] * INT16_MAX / largest : 0.0);
    }
    for (size_t i = 0; i < 3; ++i) {
        point->rest[i] = (float)h->places[3 * (size_t)number + i];
    }
}

static void FillVertices(const Hits* h, jnAssetHitsHeader* header, jnHitVertex* vertices)
{
    double farthest = 0.0, heaviest = 0.0;
    for (size_t v = 0; v < h->vertices; ++v) {
        farthest = h->owner[v] >= 0 ? fmax(farthest, h->nearest[v]) : farthest;
        heaviest = h->owner[v] >= 0 ? fmax(heaviest, h->kicked[v]) : heaviest;
    }
    farthest = fmax(sqrt(farthest), 1e-6);
    header->offsetUnit = (float)(farthest / INT16_MAX);
    header->massUnit = (float)(heaviest / UINT16_MAX);
    for (size_t v = 0; v < h->vertices; ++v) {
        vertices[v] = (jnHitVertex){.point = JN_NO_HIT_POINT};
        if (h->owner[v] < 0) {
            continue;
        }
        vertices[v].point = (uint16_t)h->owner[v];
        vertices[v].mass = (uint16_t)lrint(heaviest > 0.0 ? h->kicked[v] * UINT16_MAX / heaviest : 0.0);
        for (size_t i = 0; i < 3; ++i) {
            double way = (double)h->a->rest[4 * v + i] - h->places[3 * (size_t)h->owner[v] + i];
            vertices[v].offset[i] = (int16_t)lrint(way * INT16_MAX / farthest);
        }
    }
}

static void FillSection(Hits* h, double* joints, double* rows, jnaSections* s)
{
    jnAssetHitsHeader header = {
        .pointCount = h->points, .vertexCount = (int32_t)h->vertices, .modeCount = (int32_t)h->modes};
    uint64_t places[JN_HIT_ARRAYS + 1];
    jnPlaceHits(&header, places);
    char* to = jnaAddSection(s, JN_SECTION_HITS, false, (size_t)places[JN_HIT_ARRAYS]);
    if (to == NULL) {
        return;
    }
    jnHitPoint* points = (jnHitPoint*)(void*)(to + places[0]);
    int16_t* own = (int16_t*)(void*)(to + places[1]);
    for (int p = 0; p < h->points; ++p) {
        FillPoint(h, p, joints, rows, &points[p], own + 3 * (size_t)p * h->modes);
    }
    FillVertices(h, &header, (jnHitVertex*)(void*)(to + places[2]));
    memcpy(to, &header, sizeof(header));
}

void jnaAddHits(const jnAsset* a, jnaSections* s)
{
    if (a->modes == NULL || a->vertexCount == 0) {
        return;
    }
    Hits h = {.a = a, .arena = &s->arena, .vertices = (size_t)a->vertexCount, .modes = (size_t)a->modeCount};
    h.shapes = jnaArena_Take(h.arena, (int64_t)(h.modes * h.vertices), 3 * sizeof(float));
    h.places = jnaArena_Take(h.arena, POINTS, 3 * sizeof(double));
    h.nearest = jnaArena_Take(h.arena, (int64_t)h.vertices, sizeof(double));
    h.owner = jnaArena_Take(h.arena, (int64_t)h.vertices, sizeof(int32_t));
    h.kicked = jnaArena_Take(h.arena, (int64_t)h.vertices, sizeof(double));
    double* sums = jnaArena_Take(h.arena, POINTS, 4 * sizeof(double));
    double* joints = jnaArena_Take(h.arena, a->jointCount, sizeof(double));
    double* rows = jnaArena_Take(h.arena, (int64_t)h.modes, 3 * sizeof(double));
    if (s->arena.failed) {
        return;
    }
    FindShapes(&h);
    ChoosePoints(&h);
    for (int i = 0; i < MIDDLES; ++i) {
        FindMiddles(&h, sums);
    }
    if (h.points > 0) {
        FillSection(&h, joints, rows, s);
    }
}
