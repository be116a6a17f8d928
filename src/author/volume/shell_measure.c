// What the connected parts of a surface are like, for deciding which of them are flesh.
//
// How far a part bends: with the mean m of its weights over the area, a corner with the weights w moves apart from the
// rest of the part by at most b = sum of |w_j - m_j| / 2 of what the joints turn against each other. The 95th
// percentile of b over the area is 0 for a plate that one set of joints moves, and near 1 for a sleeve with an elbow.
#include "volume/surface_internal.h"

#include "base/try.h"

// The 95th percentile is read off a histogram this fine; a part is looked under from this many of its faces.
enum { BINS = 64, MOST_PROBES = 400 };
#define PERCENTILE 0.95

static double FaceArea(const jnaFaces* faces, int32_t face, double normal[3])
{
    const int32_t* f = faces->faces[face];
    jnaAreaVector(faces->positions + 3 * (size_t)f[0], faces->positions + 3 * (size_t)f[1],
        faces->positions + 3 * (size_t)f[2], normal);
    return 0.5 * jnaLength(normal);
}

// Sums of weights by joint, and size. row: [jointCount], out.
static void Sum(const jnaCharacter* c, const jnaFaces* faces, int part, double* row, jnaPartMeasure* m)
{
    const double* origin = faces->positions + 3 * (size_t)faces->faces[faces->byPart[faces->partStarts[part]]][0];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, normal[3];
    memset(row, 0, (size_t)c->jointCount * sizeof(*row));
    for (int32_t i = faces->partStarts[part]; i < faces->partStarts[part + 1]; ++i) {
        const int32_t* face = faces->faces[faces->byPart[i]];
        double area = FaceArea(faces, faces->byPart[i], normal);
        for (int k = 0; k < 3 * JNA_MAX_INFLUENCES; ++k) {
            const jnaInfluences* influences = &c->influences[face[k % 3]];
            row[influences->joints[k / 3]] += area * (double)influences->weights[k / 3];
            m->total += area * (double)influences->weights[k / 3];
        }
        for (int k = 0; k < 9; ++k) {
            double x = faces->positions[3 * (size_t)face[k / 3] + (size_t)(k % 3)];
            low[k % 3] = fmin(low[k % 3], x);
            high[k % 3] = fmax(high[k % 3], x);
        }
        m->area += area;
        m->volume += jnaVolume6(origin, faces->positions + 3 * (size_t)face[0], faces->positions + 3 * (size_t)face[1],
                         faces->positions + 3 * (size_t)face[2]) /
                     6;
    }
    m->diagonal = jnaDistance(low, high);
    for (int j = 0; j < c->jointCount; ++j) {
        m->joint = row[j] > row[m->joint] ? j : m->joint;
    }
    m->weight = row[m->joint];
}

// How far the weights of a vertex differ from the mean: 0 to 1.
static double Apart(const jnaInfluences* in, const double* row, double total)
{
    double apart = 0, met = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        double mean = in->weights[i] > 0 ? row[in->joints[i]] / total : 0;
        apart += fabs((double)in->weights[i] - mean);
        met += mean;
    }
    return 0.5 * (apart + fmax(1 - met, 0));
}

static void FindBend(const jnaCharacter* c, const jnaFaces* faces, int part, const double* row, jnaPartMeasure* m)
{
    double bins[BINS] = {0}, sum = 0, normal[3];
    int bin = 0;
    for (int32_t i = faces->partStarts[part]; m->total > 0 && i < faces->partStarts[part + 1]; ++i) {
        for (int k = 0; k < 3; ++k) {
            double apart = Apart(&c->influences[faces->faces[faces->byPart[i]][k]], row, m->total);
            bins[(int)fmin(BINS * apart, BINS - 1)] += FaceArea(faces, faces->byPart[i], normal) / 3;
        }
    }
    while (bin < BINS - 1 && sum + bins[bin] < PERCENTILE * m->area) {
        sum += bins[bin++];
    }
    m->bend = (double)bin / BINS;
}

// Lengths of edges that one face has.
static void FindRims(const jnaFaces* faces, const jnaFaceEdge* edges, jnaPartMeasure* measures)
{
    for (int e = 0, end; e < 3 * faces->count; e = end) {
        for (end = e + 1;
             end < 3 * faces->count && edges[end].low == edges[e].low && edges[end].high == edges[e].high;) {
            ++end;
        }
        if (end == e + 1) {
            measures[faces->component[edges[e].face]].rim +=
                jnaDistance(faces->positions + 3 * (size_t)edges[e].low, faces->positions + 3 * (size_t)edges[e].high);
        }
    }
}

jnResult jnaFaces_Measure(const jnaFaces* faces, const jnaCharacter* c, jnaPartMeasure* measures, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    double* row = jnaArena_Take(&arena, c->jointCount, sizeof(*row));
    jnaFaceEdge* edges = jnaListFaceEdges(faces->count, (const int32_t*)faces->faces, &arena);
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    for (int p = 0; p < faces->componentCount; ++p) {
        measures[p] = (jnaPartMeasure){0};
        Sum(c, faces, p, row, &measures[p]);
        FindBend(c, faces, p, row, &measures[p]);
    }
    FindRims(faces, edges, measures);
done:
    jnaReleaseArena(&arena);
    return result;
}

// A way inward from a face of a part.
typedef struct Probe {
    const jnaFaces* faces;
    const jnaPartMeasure* measures; // of all parts
    const int32_t* faceOf;          // [triangles of the tree]
    int part;
    double from[3], to[3], normal[3];
    bool met;
} Probe;

// Whether another part looks out at the probe from under it.
static bool Meet(int32_t triangle, void* user)
{
    Probe* p = user;
    int32_t face = p->faceOf[triangle];
    if (p->faces->component[face] == p->part) {
        return true;
    }
    const int32_t* f = p->faces->faces[face];
    const double *a = p->faces->positions + 3 * (size_t)f[0], *b = p->faces->positions + 3 * (size_t)f[1],
                 *c = p->faces->positions + 3 * (size_t)f[2];
    double normal[3];
    jnaAreaVector(a, b, c, normal);
    double s1 = jnaVolume6(p->from, p->to, a, b), s2 = jnaVolume6(p->from, p->to, b, c),
           s3 = jnaVolume6(p->from, p->to, c, a);
    bool through = (s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0);
    bool between = jnaVolume6(a, b, c, p->from) * jnaVolume6(a, b, c, p->to) <= 0;
    double outward = p->measures[p->faces->component[face]].volume < 0 ? -1 : 1;
    p->met = through && between && outward * jnaDot(normal, p->normal) > 0;
    return !p->met;
}

static bool LooksOut(const jnaTree* tree, Probe* p)
{
    double low[3], high[3];
    for (int i = 0; i < 3; ++i) {
        low[i] = fmin(p->from[i], p->to[i]);
        high[i] = fmax(p->from[i], p->to[i]);
    }
    p->met = false;
    jnaTree_Visit(tree, low, high, Meet, p);
    return p->met;
}

double jnaFaces_Cover(const jnaFaces* faces, const jnaPartMeasure* measures, const jnaTree* tree, const int32_t* faceOf,
    int part, double reach)
{
    int32_t first = faces->partStarts[part], count = faces->partStarts[part + 1] - first,
            step = 1 + count / MOST_PROBES;
    Probe probe = {.faces = faces, .measures = measures, .faceOf = faceOf, .part = part};
    double covered = 0, all = 0;
    for (int32_t i = 0; i < count; i += step) {
        const int32_t* f = faces->faces[faces->byPart[first + i]];
        double area = FaceArea(faces, faces->byPart[first + i], probe.normal),
               sign = measures[part].volume < 0 ? -1 : 1;
        if (area <= 0 || jnaNormalize(probe.normal) <= 0) {
            continue;
        }
        for (int a = 0; a < 3; ++a) {
            probe.normal[a] *= sign;
            probe.from[a] = 0;
            for (int k = 0; k < 3; ++k) {
                probe.from[a] += faces->positions[3 * (size_t)f[k] + (size_t)a] / 3;
            }
            probe.to[a] = probe.from[a] - reach * probe.normal[a];
        }
        all += area;
        covered += LooksOut(tree, &probe) ? area : 0;
    }
    return all > 0 ? covered / all : 0;
}
