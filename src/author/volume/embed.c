// Hanging a skin on tetrahedra that do not hold its vertices as nodes.
//
// Each vertex takes the nearest tetrahedron that can be reached from just under it without leaving the flesh. The
// nearest of all is that one nearly always; only where it lies across a gap are the next ones tried, nearest first, and
// only so many: a vertex that reaches none of them, or has none within an edge, is carried by skinning. So the cost per
// vertex is bounded, whatever the number of parts. A vertex outside hangs on the closest point, and its offset, which
// skinning rotates, brings it to its place. Weights beyond 0 and 1 would do without offsets, but exaggerate what the
// tetrahedron does: in a fold that presses it flat the skin is turned inside out.
#include "volume/embed_internal.h"

#include "base/triangle.h"
#include "base/try.h"
#include "runtime/for_author.h"

// Of the mean edge, under the skin: where paths to tetrahedra start.
#define UNDER_SHARE 0.01

// Rings of cells, each a mean edge wide, that are searched: flesh further away than an edge has nothing to do with a
// vertex. Tetrahedra that are tried for a way to them: about those around one node.
enum { MAX_RINGS = 1, MAX_TRIES = 24 };

/// Tetrahedra by cell of a grid over them.
typedef struct Cells {
    double origin[3], side;
    int size[3];
    int32_t* starts; // [cells + 1]
    int32_t* entries;
    double (*boxes)[2][3]; // [tetrahedronCount], low and high
} Cells;

static int CellOf(const Cells* cells, int axis, double x)
{
    double at = floor((x - cells->origin[axis]) / cells->side);
    return at < 0 ? 0 : at >= cells->size[axis] ? cells->size[axis] - 1 : (int)at;
}

static void FindBoxes(const jnaVolume* v, Cells* cells)
{
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        for (int i = 0; i < 3; ++i) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (int k = 0; k < 4; ++k) {
                double x = v->nodes[3 * v->tetrahedra[4 * t + k] + i];
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
            cells->boxes[t][0][i] = low;
            cells->boxes[t][1][i] = high;
        }
    }
}

// Calls for each cell that a tetrahedron's box meets: counts, or enters where entries are there.
static void EnterCells(Cells* cells, const jnaVolume* v, int32_t* fill)
{
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        int low[3], high[3];
        for (int i = 0; i < 3; ++i) {
            low[i] = CellOf(cells, i, cells->boxes[t][0][i]);
            high[i] = CellOf(cells, i, cells->boxes[t][1][i]);
        }
        for (int z = low[2]; z <= high[2]; ++z) {
            for (int y = low[1]; y <= high[1]; ++y) {
                for (int x = low[0]; x <= high[0]; ++x) {
                    int cell = x + cells->size[0] * (y + cells->size[1] * z);
                    if (cells->entries != NULL) {
                        cells->entries[fill[cell]] = t;
                    }
                    fill[cell]++;
                }
            }
        }
    }
}

static double MeanEdge(const jnaVolume* v)
{
    double sum = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * t;
        sum += jnaDistance(v->nodes + 3 * c[0], v->nodes + 3 * c[1]) / v->tetrahedronCount;
    }
    return sum;
}

static jnResult FillCells(const jnaVolume* v, Cells* cells, jnaArena* arena, jnError* error)
{
    *cells = (Cells){.side = MeanEdge(v)};
    double count = 1;
    for (int i = 0; i < 3; ++i) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int n = 0; n < v->nodeCount; ++n) {
            low = fmin(low, v->nodes[3 * n + i]);
            high = fmax(high, v->nodes[3 * n + i]);
        }
        cells->origin[i] = low;
        cells->size[i] = (int)fmin(1000, floor((high - low) / cells->side) + 1);
        count *= cells->size[i];
    }
    cells->starts = jnaArena_Take(arena, (int64_t)count + 1, sizeof(int32_t));
    cells->boxes = jnaArena_Take(arena, v->tetrahedronCount, sizeof(*cells->boxes));
    int32_t* fill = jnaArena_Take(arena, (int64_t)count + 1, sizeof(int32_t));
    JN_PASS(jnaArena_Check(arena, "the skin of a volume", error));
    FindBoxes(v, cells);
    EnterCells(cells, v, cells->starts + 1);
    for (int64_t c = 0; c < (int64_t)count; ++c) {
        cells->starts[c + 1] += cells->starts[c];
    }
    cells->entries = jnaArena_Take(arena, cells->starts[(int64_t)count], sizeof(int32_t));
    JN_PASS(jnaArena_Check(arena, "the skin of a volume", error));
    memcpy(fill, cells->starts, ((size_t)count + 1) * sizeof(int32_t));
    EnterCells(cells, v, fill);
    return jn_ok;
}

// Barycentric weights of a point in a tetrahedron; they sum to 1 but for rounding.
static void Weights(const jnaVolume* v, int t, const double* p, double w[4])
{
    const int32_t* c = v->tetrahedra + 4 * t;
    const double *a = v->nodes + 3 * c[0], *b = v->nodes + 3 * c[1], *d = v->nodes + 3 * c[2], *e = v->nodes + 3 * c[3];
    double whole = jnaVolume6(a, b, d, e);
    w[0] = jnaVolume6(p, b, d, e) / whole;
    w[1] = jnaVolume6(a, p, d, e) / whole;
    w[2] = jnaVolume6(a, b, p, e) / whole;
    w[3] = 1 - w[0] - w[1] - w[2];
}

// Weights of the point of a tetrahedron that is closest to p, and how far that is.
static double Closest(const jnaVolume* v, int t, const double* p, double w[4])
{
    static const uint8_t faces[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    const int32_t* c = v->tetrahedra + 4 * t;
    Weights(v, t, p, w);
    if (w[0] >= 0 && w[1] >= 0 && w[2] >= 0 && w[3] >= 0) {
        return 0;
    }
    double nearest = HUGE_VAL;
    for (int f = 0; f < 4; ++f) {
        double x[3], part[3];
        jnaClosestOnTriangle(
            p, v->nodes + 3 * c[faces[f][0]], v->nodes + 3 * c[faces[f][1]], v->nodes + 3 * c[faces[f][2]], part);
        for (int i = 0; i < 3; ++i) {
            x[i] = part[0] * v->nodes[3 * c[faces[f][0]] + i] + part[1] * v->nodes[3 * c[faces[f][1]] + i] +
                   part[2] * v->nodes[3 * c[faces[f][2]] + i];
        }
        double distance = jnaDistance(p, x);
        if (distance < nearest) {
            nearest = distance;
            memset(w, 0, 4 * sizeof(*w));
            for (int k = 0; k < 3; ++k) {
                w[faces[f][k]] = part[k];
            }
        }
    }
    return nearest;
}

typedef struct Found {
    int32_t tetrahedron;
    double distance;
} Found;

/// A vertex that looks for its tetrahedron.
typedef struct Query {
    const jnaVolume* volume;
    const Cells* cells;
    const jnaTree* tree;
    const double* point;
    double under[3]; // just under the skin
    int wanted;      // candidates that are kept, at most MAX_TRIES
    int count;
    Found candidates[MAX_TRIES]; // nearest first; of equals the first tetrahedron
} Query;

// No point of the tetrahedron is nearer than its box. Squared.
static double BoxDistance2(double (*box)[3], const double* p)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        double below = box[0][i] - p[i], above = p[i] - box[1][i], away = below > above ? below : above;
        sum += away > 0 ? away * away : 0;
    }
    return sum;
}

static bool ComesFirst(const Found* a, const Found* b)
{
    return a->distance < b->distance || (a->distance <= b->distance && a->tetrahedron < b->tetrahedron);
}

static void Consider(Query* q, int32_t t)
{
    double limit = q->count == q->wanted ? q->candidates[q->count - 1].distance : HUGE_VAL, w[4];
    if (BoxDistance2(q->cells->boxes[t], q->point) > limit * limit) {
        return;
    }
    for (int k = 0; k < q->count; ++k) {
        if (q->candidates[k].tetrahedron == t) {
            return; // a large one is met in several cells
        }
    }
    Found found = {t, Closest(q->volume, t, q->point, w)};
    if (q->count == q->wanted && !ComesFirst(&found, &q->candidates[q->count - 1])) {
        return;
    }
    int k = q->count < q->wanted ? q->count++ : q->count - 1;
    for (; k > 0 && ComesFirst(&found, &q->candidates[k - 1]); --k) {
        q->candidates[k] = q->candidates[k - 1];
    }
    q->candidates[k] = found;
}

// The nearest tetrahedra: cells in growing shells around the vertex, until no cell further out holds a nearer one.
static void Gather(Query* q, int wanted)
{
    const Cells* cells = q->cells;
    int at[3];
    q->wanted = wanted;
    q->count = 0;
    for (int i = 0; i < 3; ++i) {
        at[i] = CellOf(cells, i, q->point[i]);
    }
    for (int ring = 0; ring <= MAX_RINGS; ++ring) {
        // What lies beyond the cells of the rings before is that many sides away.
        if (q->count == wanted && q->candidates[wanted - 1].distance <= (ring - 1) * cells->side) {
            break;
        }
        for (int z = at[2] - ring; z <= at[2] + ring; ++z) {
            for (int y = at[1] - ring; y <= at[1] + ring; ++y) {
                bool shell = abs(z - at[2]) == ring || abs(y - at[1]) == ring;
                for (int x = at[0] - ring; x <= at[0] + ring; x += shell || ring == 0 ? 1 : 2 * ring) {
                    if (x < 0 || y < 0 || z < 0 || x >= cells->size[0] || y >= cells->size[1] || z >= cells->size[2]) {
                        continue;
                    }
                    int cell = x + cells->size[0] * (y + cells->size[1] * z);
                    for (int32_t e = cells->starts[cell]; e < cells->starts[cell + 1]; ++e) {
                        Consider(q, cells->entries[e]);
                    }
                }
            }
        }
    }
}

// Whether a way through the flesh leads to a tetrahedron. Where the start or the tetrahedron's middle is a little
// outside, nothing can be said; that is looked at last, because it takes long.
static bool IsReached(const Query* q, int32_t t)
{
    const int32_t* c = q->volume->tetrahedra + 4 * t;
    const double* nodes = q->volume->nodes;
    double middle[3];
    for (int i = 0; i < 3; ++i) {
        middle[i] = 0.25 * (nodes[3 * c[0] + i] + nodes[3 * c[1] + i] + nodes[3 * c[2] + i] + nodes[3 * c[3] + i]);
    }
    return jnaTree_Exit(q->tree, q->under, middle, true) < 0 || jnaTree_Winding(q->tree, middle) <= 0.5 ||
           jnaTree_Winding(q->tree, q->under) <= 0.5;
}

static Found Search(Query* q)
{
    double most = MAX_RINGS * q->cells->side;
    Gather(q, 1);
    if (q->count > 0 && q->candidates[0].distance <= most && IsReached(q, q->candidates[0].tetrahedron)) {
        return q->candidates[0];
    }
    Gather(q, MAX_TRIES);
    for (int k = 1; k < q->count && q->candidates[k].distance <= most; ++k) {
        if (IsReached(q, q->candidates[k].tetrahedron)) {
            return q->candidates[k];
        }
    }
    return (Found){-1, 0};
}

static void VertexNormals(const jnaSurface* surface, double* normals)
{
    for (int t = 0; t < surface->triangleCount; ++t) {
        const int32_t* c = surface->triangles + 3 * t;
        double area[3];
        jnaAreaVector(
            surface->positions + 3 * c[0], surface->positions + 3 * c[1], surface->positions + 3 * c[2], area);
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < 3; ++i) {
                normals[3 * c[k] + i] += area[i];
            }
        }
    }
    for (int v = 0; v < surface->vertexCount; ++v) {
        double length = jnaLength(normals + 3 * v);
        for (int i = 0; i < 3 && length > 0; ++i) {
            normals[3 * v + i] /= length;
        }
    }
}

static void HangVertex(jnaVolume* v, int vertex, int32_t tetrahedron, const double* p)
{
    double* w = v->skinWeights + 4 * vertex;
    Closest(v, tetrahedron, p, w);
    v->skinTetrahedra[vertex] = tetrahedron;
    for (int i = 0; i < 3; ++i) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) {
            sum += w[k] * v->nodes[3 * v->tetrahedra[4 * tetrahedron + k] + i];
        }
        v->skinOffsets[3 * vertex + i] = p[i] - sum;
    }
}

// Hangs one vertex. Returns how far outside the tetrahedra it is.
static double Embed(const jnaCharacter* character, const jnaTree* tree, const Cells* cells, const double* normal,
    int vertex, jnaVolume* volume)
{
    double p[3];
    Query query = {.volume = volume, .cells = cells, .tree = tree, .point = p};
    for (int i = 0; i < 3; ++i) {
        p[i] = (double)character->positions[3 * vertex + i];
        query.under[i] = p[i] - UNDER_SHARE * cells->side * normal[i];
    }
    Found found = Search(&query);
    if (found.tetrahedron >= 0) {
        HangVertex(volume, vertex, found.tetrahedron, p);
    }
    return found.distance;
}

jnResult jnaEmbedSkin(const jnaCharacter* character, const jnaSurface* surface, const jnaTree* tree, double spacing,
    jnaVolume* volume, jnaVolumeReport* report, jnError* error)
{
    Cells cells;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* normals = jnaArena_Take(&arena, surface->vertexCount, 3 * sizeof(double));
    double* far = jnaArena_Take(&arena, character->vertexCount, sizeof(double));
    JN_TRY(FillCells(volume, &cells, &arena, error));
    VertexNormals(surface, normals);
#pragma omp parallel for schedule(dynamic, 64)
    for (int v = 0; v < character->vertexCount; ++v) {
        int32_t on = surface->vertexOf[v];
        volume->skinTetrahedra[v] = -1;
        volume->skinWeights[4 * v] = 1;
        far[v] = on >= 0 ? Embed(character, tree, &cells, normals + 3 * on, v, volume) : 0;
    }
    for (int v = 0; v < character->vertexCount; ++v) {
        report->outsideCount += far[v] > 0;
        report->greatestOutside = fmax(report->greatestOutside, far[v]);
    }
    const jnaHungSkin skin = {character, surface, tree, normals, far, spacing};
    JN_TRY(jnaBlendSkin(&skin, volume, report, error));
done:
    jnaReleaseArena(&arena);
    return result;
}
