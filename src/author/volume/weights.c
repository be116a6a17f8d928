// Skinning weights inside a volume.
//
// Every joint's weight w_j is a field on the surface. Inside, the Laplace equation lap(w_j) = 0 is solved on the
// tetrahedra: one factor, a right-hand side per joint. Where a vertex of the surface is a node, its weights are given
// there; where it lies inside a tetrahedron (a lattice), stiff springs pull the weighted mean of the corners to them.
//
// Exact harmonic fields lie between 0 and 1 and sum to 1. The discrete ones sum to 1 too, but around obtuse
// tetrahedra they overshoot a little: they are clipped to 0..1, the smallest dropped, and the row divided by its sum.
#include "volume/weights.h"

#include "base/arena.h"
#include "base/try.h"
#include "volume/laplacian.h"
#include "volume/volume_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A vertex is a node where its tetrahedron's weights say so to this accuracy.
#define SAME_NODE 1e-9
// Stiffness of ties against the mean diagonal of the matrix: a straight field passes within 2e-4 of each vertex's
// weight.
#define TIE_FACTOR 1e4
// Joints per batch, so that memory does not grow with their number.
enum { BATCH = 32 };

// A node's largest weights so far, falling.
typedef struct Row {
    uint16_t joints[JNA_MAX_INFLUENCES];
    double weights[JNA_MAX_INFLUENCES];
    int count;
} Row;

typedef struct Carry {
    const jnaVolume* volume;
    const jnaCharacter* character;
    const jnaWeightsDef* def;
    int32_t* vertexOf; // [nodeCount], the vertex that a node is, or -1
    uint8_t* held;     // [nodeCount], 1 where it is one
    int32_t* tied;     // [vertexCount], tetrahedra of the other vertices, or -1
    double* diagonal;  // [nodeCount], tiny where a piece of the mesh has no vertex at all; else 0
    Row* rows;         // [nodeCount]
    jnaLaplacianDef matrix;
    jnaArena arena;
    int* joints;            // [jointCount], those that move anything
    double *values, *loads; // [BATCH][nodeCount], of the joints at hand
    double* targets;        // [vertexCount]
    int* pieces;            // [nodeCount]
    uint8_t* touched;       // [nodeCount], pieces with a vertex
} Carry;

jnaWeightsDef jnaDefaultWeightsDef(void)
{
    return (jnaWeightsDef){.smallest = 0.002, .most = JNA_MAX_INFLUENCES};
}

static jnResult Prepare(Carry* c, jnError* error)
{
    const jnaVolume* v = c->volume;
    c->vertexOf = jnaArena_Take(&c->arena, v->nodeCount, sizeof(*c->vertexOf));
    c->held = jnaArena_Take(&c->arena, v->nodeCount, 1);
    c->tied = jnaArena_Take(&c->arena, v->vertexCount, sizeof(*c->tied));
    c->diagonal = jnaArena_Take(&c->arena, v->nodeCount, sizeof(*c->diagonal));
    c->rows = jnaArena_Take(&c->arena, v->nodeCount, sizeof(*c->rows));
    c->joints = jnaArena_Take(&c->arena, c->character->jointCount, sizeof(int));
    c->values = jnaArena_Take(&c->arena, v->nodeCount, BATCH * sizeof(double));
    c->loads = jnaArena_Take(&c->arena, v->nodeCount, BATCH * sizeof(double));
    c->targets = jnaArena_Take(&c->arena, v->vertexCount, sizeof(double));
    c->pieces = jnaArena_Take(&c->arena, v->nodeCount, sizeof(int));
    c->touched = jnaArena_Take(&c->arena, v->nodeCount, 1);
    return jnaArena_Check(&c->arena, "the weights of a volume", error);
}

// Which nodes are vertices; the first vertex wins where several stand on one node. A vertex outside a lattice may hang
// on a corner wholly and is none.
static void MatchVertices(Carry* c)
{
    const jnaVolume* v = c->volume;
    memset(c->vertexOf, 0xff, (size_t)v->nodeCount * sizeof(*c->vertexOf));
    for (int i = 0; i < v->vertexCount; ++i) {
        c->tied[i] = v->skinTetrahedra[i];
        for (int k = 0; v->method != jna_volumeLattice && c->tied[i] >= 0 && k < 4; ++k) {
            if (fabs(v->skinWeights[4 * (size_t)i + (size_t)k] - 1) > SAME_NODE) {
                continue;
            }
            int32_t node = v->tetrahedra[4 * (size_t)c->tied[i] + (size_t)k];
            c->tied[i] = -1;
            if (c->vertexOf[node] < 0) {
                c->vertexOf[node] = i;
                c->held[node] = 1;
            }
        }
    }
}

// Mean diagonal entry of the plain Laplacian: what "stiff" is measured in.
static double MeanDiagonal(const jnaVolume* v)
{
    double sum = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        double g[4][3];
        double volume = fabs(jnaHatGradients(v->nodes, v->tetrahedra + 4 * (size_t)t, g));
        for (int i = 0; i < 4; ++i) {
            sum += volume * (g[i][0] * g[i][0] + g[i][1] * g[i][1] + g[i][2] * g[i][2]);
        }
    }
    return sum / v->nodeCount;
}

// A piece of the mesh that no vertex touches would make the matrix singular: its nodes are tied to 0, found again by
// their empty rows, and given the weights of the nearest vertex.
static void TieLoosePieces(Carry* c, double stiffness)
{
    const jnaVolume* v = c->volume;
    int* pieces = c->pieces;
    uint8_t* touched = c->touched;
    jnaFindPieces(v, pieces);
    for (int n = 0; n < v->nodeCount; ++n) {
        touched[pieces[n]] |= c->held[n];
    }
    for (int i = 0; i < v->vertexCount; ++i) {
        if (c->tied[i] >= 0) {
            touched[pieces[v->tetrahedra[4 * (size_t)c->tied[i]]]] = 1;
        }
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        c->diagonal[n] = touched[pieces[n]] ? 0 : stiffness;
    }
}

static double InfluenceOf(const jnaInfluences* influences, int joint)
{
    double sum = 0;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        sum += influences->joints[k] == joint ? (double)influences->weights[k] : 0;
    }
    return sum;
}

static void Insert(Row* row, int joint, double weight, int most)
{
    int k = row->count < most ? row->count++ : most - 1;
    if (k == most - 1 && row->weights[k] >= weight) {
        return;
    }
    for (; k > 0 && row->weights[k - 1] < weight; --k) {
        row->weights[k] = row->weights[k - 1];
        row->joints[k] = row->joints[k - 1];
    }
    row->weights[k] = weight;
    row->joints[k] = (uint16_t)joint;
}

// Solves for some joints and sorts the outcome into the rows.
static jnResult CarryBatch(Carry* c, const jnaLaplacian* laplacian, const int* joints, int count, jnError* error)
{
    const jnaVolume* v = c->volume;
    size_t n = (size_t)v->nodeCount;
    double *values = c->values, *loads = c->matrix.ties.count > 0 ? c->loads : NULL, *targets = c->targets;
    for (int b = 0; b < count; ++b) {
        for (size_t i = 0; i < n; ++i) {
            int32_t vertex = c->vertexOf[i];
            values[(size_t)b * n + i] = vertex >= 0 ? InfluenceOf(&c->character->influences[vertex], joints[b]) : 0;
        }
        if (loads != NULL) {
            for (int i = 0; i < v->vertexCount; ++i) {
                targets[i] = InfluenceOf(&c->character->influences[i], joints[b]);
            }
            memset(loads + (size_t)b * n, 0, n * sizeof(*loads));
            jnaAddTies(&c->matrix.ties, v->tetrahedra, targets, loads + (size_t)b * n);
        }
    }
    jnResult result = jnaLaplacian_Solve(laplacian, count, loads, values, error);
    for (int b = 0; result == jn_ok && b < count; ++b) {
        for (size_t i = 0; i < n; ++i) {
            double weight = fmin(values[(size_t)b * n + i], 1);
            if (weight >= c->def->smallest && c->vertexOf[i] < 0) {
                Insert(&c->rows[i], joints[b], weight, c->def->most);
            }
        }
    }
    return result;
}

// Joints that move anything. list: [jointCount].
static int ListJoints(const jnaCharacter* character, int* list)
{
    int count = 0;
    for (int j = 0; j < character->jointCount; ++j) {
        bool used = false;
        for (int v = 0; v < character->vertexCount && !used; ++v) {
            used = InfluenceOf(&character->influences[v], j) > 0;
        }
        if (used) {
            list[count++] = j;
        }
    }
    return count;
}

static jnResult CarryAll(Carry* c, const jnaLaplacian* laplacian, jnError* error)
{
    jnResult result = jn_ok;
    int count = ListJoints(c->character, c->joints);
    for (int first = 0; result == jn_ok && first < count; first += BATCH) {
        int width = count - first < BATCH ? count - first : BATCH;
        result = CarryBatch(c, laplacian, c->joints + first, width, error);
    }
    return result;
}

static void CopyVertex(const jnaCharacter* character, int vertex, Row* row)
{
    row->count = 0;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        if (character->influences[vertex].weights[k] > 0) {
            row->joints[row->count] = character->influences[vertex].joints[k];
            row->weights[row->count++] = (double)character->influences[vertex].weights[k];
        }
    }
}

static int NearestVertex(const jnaCharacter* character, const double* p)
{
    int best = 0;
    double least = HUGE_VAL;
    for (int v = 0; v < character->vertexCount; ++v) {
        double d = 0;
        for (int i = 0; i < 3; ++i) {
            double e = (double)character->positions[3 * (size_t)v + (size_t)i] - p[i];
            d += e * e;
        }
        if (d < least) {
            least = d;
            best = v;
        }
    }
    return best;
}

// Rows to the volume's compressed form, each divided by its sum.
static jnResult Compress(Carry* c, jnaVolume* v, jnError* error)
{
    size_t total = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        if (c->vertexOf[n] >= 0 || c->rows[n].count == 0) {
            int vertex = c->vertexOf[n] >= 0 ? c->vertexOf[n] : NearestVertex(c->character, v->nodes + 3 * (size_t)n);
            CopyVertex(c->character, vertex, &c->rows[n]);
        }
        total += (size_t)c->rows[n].count;
    }
    free(v->rowStarts);
    free(v->joints);
    free(v->weights);
    v->rowStarts = jnaArena_Give(&c->arena, v->nodeCount + 1, sizeof(*v->rowStarts));
    v->joints = jnaArena_Give(&c->arena, (int64_t)total, sizeof(*v->joints));
    v->weights = jnaArena_Give(&c->arena, (int64_t)total, sizeof(*v->weights));
    JN_PASS(jnaArena_Check(&c->arena, "the weights of nodes", error));
    int32_t at = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        const Row* row = &c->rows[n];
        double sum = 0;
        v->rowStarts[n] = at;
        for (int k = 0; k < row->count; ++k) {
            sum += row->weights[k];
        }
        for (int k = 0; k < row->count; ++k, ++at) {
            v->joints[at] = row->joints[k];
            v->weights[at] = (float)(row->weights[k] / sum);
        }
    }
    v->rowStarts[v->nodeCount] = at;
    v->jointCount = c->character->jointCount;
    return jn_ok;
}

jnResult jnaVolume_CarryWeights(jnaVolume* v, const jnaCharacter* character, const jnaWeightsDef* def, jnError* error)
{
    JN_ASSERT(def->most >= 1 && def->most <= JNA_MAX_INFLUENCES);
    if (v->vertexCount != character->vertexCount || v->vertexCount < 1 || v->nodeCount < 1) {
        return jnFail(error, jn_badData, "the volume is of a surface with %d vertices; the character has %d",
            v->vertexCount, character->vertexCount);
    }
    Carry c = {.volume = v, .character = character, .def = def};
    jnaLaplacian* laplacian = NULL;
    jnResult result = jn_ok;
    JN_TRY(Prepare(&c, error));
    MatchVertices(&c);
    double stiffness = MeanDiagonal(v);
    TieLoosePieces(&c, stiffness);
    bool tied = false;
    for (int i = 0; i < v->vertexCount; ++i) {
        tied = tied || c.tied[i] >= 0;
    }
    c.matrix = (jnaLaplacianDef){.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .held = c.held,
        .diagonal = c.diagonal,
        .threads = def->threads};
    if (tied) {
        c.matrix.ties = (jnaLaplacianTies){v->vertexCount, c.tied, v->skinWeights, TIE_FACTOR * stiffness};
    }
    JN_TRY(jnaCreateLaplacian(&c.matrix, &laplacian, error));
    JN_TRY(CarryAll(&c, laplacian, error));
    JN_TRY(Compress(&c, v, error));
done:
    jnaDestroyLaplacian(laplacian);
    jnaReleaseArena(&c.arena);
    return result;
}
