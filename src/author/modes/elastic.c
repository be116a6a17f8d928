// Stiffness and mass of linear tetrahedra that keep their volume by patches, and their Cholesky factor.
//
//   K    the sum of the patches' Hessians (flesh/hessian.c) and of the springs of bones
//   M_i  = sum over tetrahedra of density V / 4
//
// Linear tetrahedra are too stiff in bending. The ordering is found on the graph of nodes and expanded to three rows a
// node.
#include "modes/elastic.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/cholesky.h"
#include "base/dissection.h"
#include "base/try.h"
#include "flesh/elements.h"
#include "runtime/for_author.h"
#include "volume/laplacian.h"
#include "volume/node_pattern.h"

#include <stdlib.h>
#include <string.h>

struct jnaElastic {
    jnaArena arena;
    int nodeCount, freeCount;
    int* freeNodes;   // [freeCount]
    int* freeIndex;   // [nodeCount], or -1
    double* masses;   // [nodeCount]
    double totalMass; // kg
    jnaNodePattern pattern;
    double* entries;  // [pattern][3][3], stiffness over all nodes
    double* damped;   // the same, what is damped beyond the flesh in general
    jnaSparse matrix; // free system, lower triangle
    jnaCholesky factor;
};

int jnaElastic_FreeCount(const jnaElastic* e)
{
    return e->freeCount;
}

const int* jnaElastic_FreeNodes(const jnaElastic* e)
{
    return e->freeNodes;
}

const double* jnaElastic_Masses(const jnaElastic* e)
{
    return e->masses;
}

double jnaElastic_TotalMass(const jnaElastic* e)
{
    return e->totalMass;
}

void jnaDestroyElastic(jnaElastic* e)
{
    if (e == NULL) {
        return;
    }
    jnaDestroyCholesky(&e->factor);
    jnaDestroyNodePattern(&e->pattern);
    jnaReleaseArena(&e->arena);
    free(e);
}

static jnResult Check(const jnaVolume* v, jnError* error)
{
    if (v->nodeCount < 1 || v->tetrahedronCount < 1 || v->tetrahedronCount > INT32_MAX / 16 - v->nodeCount / 16) {
        return jnFail(
            error, jn_badArgument, "no flesh of %d nodes and %d tetrahedra", v->nodeCount, v->tetrahedronCount);
    }
    if (v->regions == NULL || v->materials == NULL || v->materialCount < 1) {
        return jnFail(error, jn_badArgument, "the volume has no material");
    }
    for (int i = 0; i < v->materialCount; ++i) {
        const jnaMaterial* m = &v->materials[i];
        if (!(m->young > 0 && m->young < 1e15 && m->poisson >= 0 && m->poisson < 0.5 && m->density > 0 &&
                m->density < 1e9)) {
            return jnFail(error, jn_badData, "material %d has Young's modulus %g Pa, Poisson's ratio %g, density %g", i,
                m->young, m->poisson, m->density);
        }
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        for (int i = 0; i < 4; ++i) {
            int node = v->tetrahedra[4 * (size_t)t + (size_t)i];
            if (node < 0 || node >= v->nodeCount) {
                return jnFail(error, jn_badData, "tetrahedron %d has node %d; there are %d", t, node, v->nodeCount);
            }
        }
        if (v->regions[t] >= v->materialCount) {
            return jnFail(
                error, jn_badData, "tetrahedron %d has material %d; there are %d", t, v->regions[t], v->materialCount);
        }
    }
    return jn_ok;
}

// extra: of the patch's stiffness, what is damped beyond the flesh in general.
static void AddPatch(
    jnaElastic* e, const int* places, int nodeCount, double local[JNA_PATCH_ROWS][JNA_PATCH_ROWS], double extra)
{
    for (int i = 0; i < nodeCount; ++i) {
        for (int k = 0; k < nodeCount; ++k) {
            size_t at = 9 * (size_t)places[JNA_PATCH_NODES * i + k];
            for (int a = 0; a < 9; ++a) {
                double value = local[3 * i + a / 3][3 * k + a % 3];
                e->entries[at + (size_t)a] += value;
                e->damped[at + (size_t)a] += extra * value;
            }
        }
    }
}

static void FindMasses(jnaElastic* e, const jnaVolume* v)
{
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* corners = v->tetrahedra + 4 * (size_t)t;
        double g[4][3], mass = v->materials[v->regions[t]].density * fabs(jnaHatGradients(v->nodes, corners, g));
        for (int i = 0; i < 4; ++i) {
            e->masses[corners[i]] += mass / 4;
        }
        e->totalMass += mass;
    }
}

// Patch after patch in order, then the springs of bones: sums are always the same. positions: [nodeCount][4].
static void Assemble(jnaElastic* e, const jnaVolume* v, const jnaElements* elements, const double* positions)
{
    FindMasses(e, v);
    for (int b = 0; b < elements->blockCount; ++b) {
        int32_t nodes[JNA_PATCH_NODES];
        double local[JNA_PATCH_ROWS][JNA_PATCH_ROWS];
        int count = jnaPatchHessian(&elements->blocks[b], positions, false, nodes, local);
        AddPatch(e, e->pattern.places + JNA_PATCH_NODES * JNA_PATCH_NODES * (size_t)b, count, local,
            elements->blocks[b].damping - 1);
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        bool held = v->heldBy != NULL && v->heldBy[n] >= 0;
        double strength = held && v->holdStrength != NULL ? (double)v->holdStrength[n] : 0;
        double* block = e->entries + 9 * jnaNodePattern_Find(&e->pattern, n, n);
        for (int a = 0; a < 3; ++a) {
            block[4 * a] += e->masses[n] * strength;
        }
    }
}

// Nodes of no tetrahedron have no mass and stay out as well.
static void FindFree(jnaElastic* e, const jnaVolume* v)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        bool held = v->heldBy != NULL && v->heldBy[n] >= 0 && (v->holdStrength == NULL || v->holdStrength[n] == 0.0f);
        e->freeIndex[n] = held || e->masses[n] == 0 ? -1 : e->freeCount;
        if (e->freeIndex[n] >= 0) {
            e->freeNodes[e->freeCount++] = n;
        }
    }
}

// stiffness K + mass M over the free nodes, the lower triangle by columns; symmetric, so a column is a row.
static void FillMatrix(jnaElastic* e, double stiffness, double mass)
{
    int *starts = e->matrix.starts, *rows = e->matrix.rows, count = 0;
    double* values = e->matrix.values;
    for (int f = 0; f < e->freeCount; ++f) {
        int n = e->freeNodes[f];
        for (int a = 0; a < 3; ++a) {
            starts[3 * f + a] = count;
            for (int i = e->pattern.rowStarts[n]; i < e->pattern.rowStarts[n + 1]; ++i) {
                int other = e->freeIndex[e->pattern.columns[i]];
                if (other < f) {
                    continue;
                }
                for (int b = other == f ? a : 0; b < 3; ++b) {
                    rows[count] = 3 * other + b;
                    values[count] = stiffness * e->entries[9 * (size_t)i + (size_t)(3 * a + b)];
                    values[count++] += other == f && a == b ? mass * e->masses[n] : 0;
                }
            }
        }
    }
    starts[3 * (size_t)e->freeCount] = count;
}

// A fill-reducing order of the nodes by nested dissection, expanded to three rows a node.
static bool OrderNodes(const jnaElastic* e, int32_t* order)
{
    jnaArena arena = {0};
    int* starts = jnaArena_Take(&arena, (int64_t)e->freeCount + 1, sizeof(int));
    int* neighbours = jnaArena_Take(&arena, e->pattern.rowStarts[e->nodeCount], sizeof(int));
    int32_t* nodes = jnaArena_Take(&arena, e->freeCount, sizeof(int32_t));
    int count = 0;
    for (int f = 0; !arena.failed && f < e->freeCount; ++f) {
        int node = e->freeNodes[f];
        for (int i = e->pattern.rowStarts[node]; i < e->pattern.rowStarts[node + 1]; ++i) {
            if (e->freeIndex[e->pattern.columns[i]] >= 0) {
                neighbours[count++] = e->freeIndex[e->pattern.columns[i]];
            }
        }
        starts[f + 1] = count;
    }
    bool good = !arena.failed && jnaDissect(e->freeCount, starts, neighbours, nodes);
    for (int i = 0; good && i < 3 * e->freeCount; ++i) {
        order[i] = 3 * nodes[i / 3] + i % 3;
    }
    jnaReleaseArena(&arena);
    return good;
}

static bool Analyze(jnaElastic* e)
{
    int64_t size = 3 * (int64_t)e->freeCount, most = 9 * (int64_t)e->pattern.rowStarts[e->nodeCount] + 1;
    int32_t* order = malloc(((size_t)size + 1) * sizeof(int32_t));
    e->matrix.size = (int)size;
    e->matrix.starts = jnaArena_Take(&e->arena, size + 1, sizeof(int));
    e->matrix.rows = jnaArena_Take(&e->arena, most, sizeof(int));
    e->matrix.values = jnaArena_Take(&e->arena, most, sizeof(double));
    bool good = order != NULL && !e->arena.failed && OrderNodes(e, order);
    if (good) {
        FillMatrix(e, 1, 0);
        good = jnaCreateCholesky(&e->matrix, order, &e->factor);
    }
    free(order);
    return good;
}

// Nodes that share a patch. False: out of memory.
static bool FindPattern(const jnaElements* elements, int nodeCount, jnaNodePattern* pattern)
{
    int32_t* cells = malloc(((size_t)elements->blockCount * JNA_PATCH_NODES + 1) * sizeof(int32_t));
    for (int b = 0; cells != NULL && b < elements->blockCount; ++b) {
        uint8_t corners[JNA_ELEMENT_LANES][4];
        int32_t* nodes = cells + JNA_PATCH_NODES * (size_t)b;
        int count = jnaElementBlock_Nodes(&elements->blocks[b], nodes, corners);
        for (int i = count; i < JNA_PATCH_NODES; ++i) {
            nodes[i] = nodes[0];
        }
    }
    bool good = cells != NULL && jnaFindNodePattern(nodeCount, elements->blockCount, JNA_PATCH_NODES, cells, pattern);
    free(cells);
    return good;
}

// Everything but the factor.
static jnResult Prepare(jnaElastic* e, const jnaVolume* v, const double* nodes, jnError* error)
{
    jnaElements elements = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    double* positions = jnaArena_Take(&arena, v->nodeCount, 4 * sizeof(double));
    e->nodeCount = v->nodeCount;
    e->freeNodes = jnaArena_Take(&e->arena, v->nodeCount, sizeof(int));
    e->freeIndex = jnaArena_Take(&e->arena, v->nodeCount, sizeof(int));
    e->masses = jnaArena_Take(&e->arena, v->nodeCount, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the stiffness of flesh", error));
    JN_TRY(jnaCreateVolumeElements(v, NULL, &elements, error));
    bool good = FindPattern(&elements, v->nodeCount, &e->pattern);
    int64_t blocks = good ? e->pattern.rowStarts[v->nodeCount] : 0;
    e->entries = jnaArena_Take(&e->arena, blocks, 9 * sizeof(double));
    e->damped = jnaArena_Take(&e->arena, blocks, 9 * sizeof(double));
    JN_TRY(good && !e->arena.failed
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for the flesh of %d nodes", v->nodeCount));
    for (size_t i = 0; i < 3 * (size_t)v->nodeCount; ++i) {
        positions[4 * (i / 3) + i % 3] = nodes[i];
    }
    Assemble(e, v, &elements, positions);
    FindFree(e, v);
done:
    jnaDestroyElements(&elements);
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaCreateElastic(const jnaVolume* volume, const double* nodes, jnaElastic** elastic, jnError* error)
{
    *elastic = NULL;
    JN_PASS(Check(volume, error));
    jnaElastic* e = calloc(1, sizeof(*e));
    jnResult result = jn_ok;
    JN_TRY(e != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for flesh"));
    JN_TRY(Prepare(e, volume, nodes != NULL ? nodes : volume->nodes, error));
    if (e->freeCount == 0) {
        JN_TRY(jnFail(error, jn_badData, "all %d nodes of the volume are held by bones: there is no flesh to move",
            volume->nodeCount));
    }
    if (!Analyze(e)) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the flesh of %d nodes", volume->nodeCount));
    }
    *elastic = e;
    return jn_ok;
done:
    jnaDestroyElastic(e);
    return result;
}

jnResult jnaElastic_Factor(jnaElastic* e, double stiffness, double mass, jnError* error)
{
    FillMatrix(e, stiffness, mass);
    jnResult result = jnaCholesky_Factor(&e->factor, &e->matrix);
    if (result == jn_outOfMemory) {
        return jnFail(error, jn_outOfMemory, "out of memory to factor the flesh of %d nodes", e->freeCount);
    }
    if (result != jn_ok) {
        return jnFail(error, jn_badData, "the stiffness of %d nodes is not positive definite", e->freeCount);
    }
    return jn_ok;
}

jnResult jnaElastic_Solve(jnaElastic* e, double* values, jnError* error)
{
    return jnaCholesky_Solve(&e->factor, 1, values)
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory to solve for the flesh of %d nodes", e->freeCount);
}

// One node's row of a matrix over all nodes times values of the free ones.
static void ApplyRow(const jnaElastic* e, const double* entries, int node, const double* values, double sum[3])
{
    memset(sum, 0, 3 * sizeof(double));
    for (int i = e->pattern.rowStarts[node]; i < e->pattern.rowStarts[node + 1]; ++i) {
        int other = e->freeIndex[e->pattern.columns[i]];
        const double *block = entries + 9 * (size_t)i, *x = values + 3 * (size_t)(other > 0 ? other : 0);
        for (int a = 0; other >= 0 && a < 3; ++a) {
            sum[a] += block[3 * a] * x[0] + block[3 * a + 1] * x[1] + block[3 * a + 2] * x[2];
        }
    }
}

void jnaElastic_Apply(const jnaElastic* e, const double* values, double* result)
{
    for (int f = 0; f < e->freeCount; ++f) {
        ApplyRow(e, e->entries, e->freeNodes[f], values, result + 3 * (size_t)f);
    }
}

double jnaElastic_Damping(const jnaElastic* e, const double* values)
{
    double whole = 0, extra = 0, row[3];
    for (int f = 0; f < e->freeCount; ++f) {
        const double* x = values + 3 * (size_t)f;
        ApplyRow(e, e->entries, e->freeNodes[f], values, row);
        whole += jnaDot(x, row);
        ApplyRow(e, e->damped, e->freeNodes[f], values, row);
        extra += jnaDot(x, row);
    }
    return whole > 0 ? fmax(1 + extra / whole, 0) : 1;
}
