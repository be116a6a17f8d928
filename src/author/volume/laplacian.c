// The finite-element Laplacian on tetrahedra and its Cholesky factor.
//
//   L_ij = sum over tetrahedra e of  k_e V_e grad(phi_i) . grad(phi_j)
//
// which is the cotangent form written with gradients of the hat functions. Held nodes are taken out of the system: with
// f the free and c the held nodes, L_ff x_f = b_f - L_fc x_c. Right-hand sides go through the factor in blocks of a
// fixed width, one block to a thread: so no sum depends on how many threads there are.
#include "volume/laplacian.h"

#include "base/affine.h"
#include "base/cholesky.h"
#include "volume/laplacian_internal.h"
#include "volume/node_pattern.h"

#include "runtime/for_author.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

// Right-hand sides of a thread at a time: small enough to share out 31 of them.
enum { BLOCK = 8 };

struct jnaLaplacian {
    int nodeCount, tetrahedronCount;
    int freeCount;
    int threads;
    int* freeIndex;         // [nodeCount], place in the free system, or -1
    jnaNodePattern pattern; // all nodes, the full symmetric matrix
    double* entries;        // [rowStarts[nodeCount]] of the pattern
    jnaArena memory;
    jnaSparse matrix; // free system, lower triangle
    jnaCholesky factor;
};

double jnaHatGradients(const double* nodes, const int32_t* corners, double gradients[4][3])
{
    double edge[3][3];
    const double* origin = nodes + 3 * (size_t)corners[0];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            edge[i][k] = nodes[3 * (size_t)corners[i + 1] + (size_t)k] - origin[k];
        }
    }
    for (int i = 0; i < 3; ++i) {
        jnaCross(edge[(i + 1) % 3], edge[(i + 2) % 3], gradients[i + 1]);
    }
    double determinant = jnaDot(edge[0], gradients[1]);
    double inverse = determinant != 0 ? 1 / determinant : 0;
    for (int k = 0; k < 3; ++k) {
        for (int i = 1; i < 4; ++i) {
            gradients[i][k] *= inverse;
        }
        gradients[0][k] = -gradients[1][k] - gradients[2][k] - gradients[3][k];
    }
    return determinant / 6;
}

static void AddElement(jnaLaplacian* l, int tetrahedron, double local[4][4])
{
    const int* places = l->pattern.places + 16 * (size_t)tetrahedron;
    for (int i = 0; i < 16; ++i) {
        l->entries[places[i]] += local[i / 4][i % 4];
    }
}

// The values of the full matrix, element after element in order, so that sums are always the same.
static void Assemble(jnaLaplacian* l, const jnaLaplacianDef* def)
{
    memset(l->entries, 0, (size_t)l->pattern.rowStarts[l->nodeCount] * sizeof(double));
    for (int t = 0; t < def->tetrahedronCount; ++t) {
        const int32_t* corners = def->tetrahedra + 4 * (size_t)t;
        double gradients[4][3], local[4][4];
        double scale = fabs(jnaHatGradients(def->nodes, corners, gradients));
        scale *= def->stiffness != NULL ? def->stiffness[t] : 1;
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 4; ++k) {
                local[i][k] = scale * jnaDot(gradients[i], gradients[k]);
            }
        }
        AddElement(l, t, local);
    }
    for (int p = 0; p < def->ties.count; ++p) {
        if (def->ties.tetrahedra[p] < 0) {
            continue;
        }
        const double* w = def->ties.weights + 4 * (size_t)p;
        double local[4][4];
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 4; ++k) {
                local[i][k] = def->ties.penalty * w[i] * w[k];
            }
        }
        AddElement(l, def->ties.tetrahedra[p], local);
    }
    for (int n = 0; def->diagonal != NULL && n < l->nodeCount; ++n) {
        l->entries[jnaNodePattern_Find(&l->pattern, n, n)] += def->diagonal[n];
    }
}

// The free part's lower triangle, by columns. Symmetric, so a column is a row.
static void FillFreeMatrix(jnaLaplacian* l)
{
    int *starts = l->matrix.starts, *rows = l->matrix.rows;
    double* values = l->matrix.values;
    int count = 0, column = 0;
    for (int n = 0; n < l->nodeCount; ++n) {
        if (l->freeIndex[n] < 0) {
            continue;
        }
        starts[column++] = count;
        for (int i = l->pattern.rowStarts[n]; i < l->pattern.rowStarts[n + 1]; ++i) {
            if (l->pattern.columns[i] >= n && l->freeIndex[l->pattern.columns[i]] >= 0) {
                rows[count] = l->freeIndex[l->pattern.columns[i]];
                values[count++] = l->entries[i];
            }
        }
    }
    starts[column] = count;
}

static jnResult Fail(jnResult result, int nodes, jnError* error)
{
    if (result == jn_outOfMemory) {
        return jnFail(error, jn_outOfMemory, "out of memory to factor a Laplacian of %d nodes", nodes);
    }
    return jnFail(error, jn_badData,
        "the Laplacian of %d nodes is not positive definite: a piece of the volume has nothing that holds it", nodes);
}

// Numeric factorisation of what is in the free matrix.
static jnResult FactorMatrix(jnaLaplacian* l, jnError* error)
{
    jnResult result = jnaCholesky_Factor(&l->factor, &l->matrix);
    // Rounding can leave a tiny positive pivot where an exact one is 0; nothing of a mesh is that ill-conditioned.
    static const double WORST_CONDITION = 1e-14;
    if (result == jn_ok && l->freeCount > 0 && !(jnaCholesky_Condition(&l->factor) > WORST_CONDITION)) {
        result = jn_badData;
    }
    return result == jn_ok ? jn_ok : Fail(result, l->nodeCount, error);
}

static jnResult Check(const jnaLaplacianDef* def, jnError* error)
{
    // The pattern counts entries in int: at most 13 per tetrahedron and 1 per node.
    if (def->nodeCount < 1 || def->tetrahedronCount < 0 ||
        def->tetrahedronCount > INT32_MAX / 16 - def->nodeCount / 16) {
        return jnFail(
            error, jn_badArgument, "a Laplacian of %d nodes and %d tetrahedra", def->nodeCount, def->tetrahedronCount);
    }
    for (size_t i = 0; i < 4 * (size_t)def->tetrahedronCount; ++i) {
        if (def->tetrahedra[i] < 0 || def->tetrahedra[i] >= def->nodeCount) {
            return jnFail(error, jn_badData, "tetrahedron %zu has node %d; there are %d", i / 4,
                (int)def->tetrahedra[i], def->nodeCount);
        }
    }
    return jn_ok;
}

jnResult jnaCreateLaplacian(const jnaLaplacianDef* def, jnaLaplacian** laplacian, jnError* error)
{
    *laplacian = NULL;
    jnResult result = Check(def, error);
    if (result != jn_ok) {
        return result;
    }
    jnaLaplacian* l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a Laplacian");
    }
    l->nodeCount = def->nodeCount;
    l->tetrahedronCount = def->tetrahedronCount;
    l->threads = def->threads;
    l->freeIndex = malloc((size_t)def->nodeCount * sizeof(int));
    bool found = l->freeIndex != NULL &&
                 jnaFindNodePattern(def->nodeCount, def->tetrahedronCount, 4, def->tetrahedra, &l->pattern);
    l->entries = found ? malloc(((size_t)l->pattern.rowStarts[def->nodeCount] + 1) * sizeof(double)) : NULL;
    if (l->entries == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for a Laplacian of %d nodes", def->nodeCount);
        goto failed;
    }
    for (int n = 0; n < def->nodeCount; ++n) {
        l->freeIndex[n] = def->held != NULL && def->held[n] != 0 ? -1 : l->freeCount++;
    }
    Assemble(l, def);
    int64_t half = ((int64_t)l->pattern.rowStarts[def->nodeCount] + def->nodeCount) / 2;
    l->matrix.size = l->freeCount;
    l->matrix.starts = jnaArena_Take(&l->memory, (int64_t)l->freeCount + 1, sizeof(int));
    l->matrix.rows = jnaArena_Take(&l->memory, half + 1, sizeof(int));
    l->matrix.values = jnaArena_Take(&l->memory, half + 1, sizeof(double));
    bool analyzed = false;
    if (!l->memory.failed) {
        FillFreeMatrix(l);
        analyzed = jnaCreateCholesky(&l->matrix, NULL, &l->factor);
    }
    result = analyzed ? FactorMatrix(l, error) : Fail(jn_outOfMemory, l->nodeCount, error);
    if (result == jn_ok) {
        *laplacian = l;
        return jn_ok;
    }
failed:
    jnaDestroyLaplacian(l);
    return result;
}

jnResult jnaLaplacian_Refactor(jnaLaplacian* l, const double (*locals)[10], const double* diagonal, jnError* error)
{
    static const uint8_t places[16] = {0, 1, 2, 3, 1, 4, 5, 6, 2, 5, 7, 8, 3, 6, 8, 9};
    memset(l->entries, 0, (size_t)l->pattern.rowStarts[l->nodeCount] * sizeof(double));
    for (int t = 0; t < l->tetrahedronCount; ++t) {
        const int* entries = l->pattern.places + 16 * (size_t)t;
        for (int i = 0; i < 16; ++i) {
            l->entries[entries[i]] += locals[t][places[i]];
        }
    }
    for (int n = 0; n < l->nodeCount; ++n) {
        l->entries[jnaNodePattern_Find(&l->pattern, n, n)] += diagonal[n];
    }
    FillFreeMatrix(l);
    return FactorMatrix(l, error);
}

void jnaDestroyLaplacian(jnaLaplacian* l)
{
    if (l == NULL) {
        return;
    }
    jnaReleaseArena(&l->memory);
    jnaDestroyCholesky(&l->factor);
    free(l->freeIndex);
    jnaDestroyNodePattern(&l->pattern);
    free(l->entries);
    free(l);
}

// Right-hand side of one column: b_f - L_fc x_c.
static void FillLoad(const jnaLaplacian* l, const double* loads, const double* values, double* out)
{
    for (int n = 0; n < l->nodeCount; ++n) {
        if (l->freeIndex[n] < 0) {
            continue;
        }
        double sum = loads != NULL ? loads[n] : 0;
        for (int i = l->pattern.rowStarts[n]; i < l->pattern.rowStarts[n + 1]; ++i) {
            if (l->freeIndex[l->pattern.columns[i]] < 0) {
                sum -= l->entries[i] * values[l->pattern.columns[i]];
            }
        }
        out[l->freeIndex[n]] = sum;
    }
}

// One block of columns. False: out of memory.
static bool SolveBlock(const jnaLaplacian* l, int count, const double* loads, double* values)
{
    size_t n = (size_t)l->nodeCount, size = (size_t)l->freeCount;
    jnaArena arena = {0};
    double* x = jnaArena_Take(&arena, (int64_t)count * l->freeCount, sizeof(double));
    for (int c = 0; x != NULL && c < count; ++c) {
        FillLoad(l, loads != NULL ? loads + (size_t)c * n : NULL, values + (size_t)c * n, x + (size_t)c * size);
    }
    bool good = x != NULL && jnaCholesky_Solve(&l->factor, count, x);
    for (int c = 0; good && c < count; ++c) {
        for (size_t i = 0; i < n; ++i) {
            if (l->freeIndex[i] >= 0) {
                values[(size_t)c * n + i] = x[(size_t)c * size + (size_t)l->freeIndex[i]];
            }
        }
    }
    jnaReleaseArena(&arena);
    return good;
}

jnResult jnaLaplacian_Solve(const jnaLaplacian* l, int count, const double* loads, double* values, jnError* error)
{
    if (l->freeCount == 0) {
        return jn_ok;
    }
    int blocks = (count + BLOCK - 1) / BLOCK, failures = 0;
    int threads = l->threads > 0 ? l->threads : omp_get_max_threads();
    threads = threads < blocks ? threads : blocks;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads > 0 ? threads : 1) reduction(+ : failures)
    for (int b = 0; b < blocks; ++b) {
        size_t first = (size_t)b * BLOCK * (size_t)l->nodeCount;
        int width = count - b * BLOCK < BLOCK ? count - b * BLOCK : BLOCK;
        failures += !SolveBlock(l, width, loads != NULL ? loads + first : NULL, values + first);
    }
    return failures == 0
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory to solve a Laplacian of %d nodes", l->nodeCount);
}

const jnaCholesky* jnaLaplacian_Cholesky(const jnaLaplacian* l)
{
    return &l->factor;
}

void jnaLaplacian_FreeNodes(const jnaLaplacian* l, int32_t* nodes)
{
    for (int n = 0; n < l->nodeCount; ++n) {
        if (l->freeIndex[n] >= 0) {
            nodes[l->freeIndex[n]] = n;
        }
    }
}

void jnaAddTies(const jnaLaplacianTies* ties, const int32_t* tetrahedra, const double* targets, double* load)
{
    for (int p = 0; p < ties->count; ++p) {
        for (int i = 0; ties->tetrahedra[p] >= 0 && i < 4; ++i) {
            int32_t node = tetrahedra[4 * (size_t)ties->tetrahedra[p] + (size_t)i];
            load[node] += ties->penalty * ties->weights[4 * (size_t)p + (size_t)i] * targets[p];
        }
    }
}
