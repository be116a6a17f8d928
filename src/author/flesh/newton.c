// Newton's direction by a sparse factor; see newton.h.
//
// The matrix is kept by blocks of 3 x 3, the lower triangle by columns of nodes in the order of the Laplacian's factor,
// which dissects the mesh and so needs no other. Every patch of tetrahedra knows where its blocks go. Pairs in contact
// reach across the pattern; their share is added as a second matrix. Viscosity is left out: it only makes the true
// Hessian stiffer along the step, and steps in time are not what this is for.
#include "flesh/newton.h"

#include "base/arena.h"
#include "base/cholesky.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS = JNA_PATCH_NODES * JNA_PATCH_NODES };

struct jnaNewton {
    const jnaFlesh* flesh;
    int* starts;          // [freeCount + 1], blocks of each column
    int* rows;            // [blocks], node of each block, rising, the diagonal first
    double (*blocks)[9];  // [blocks], row-major
    int32_t* patchBlocks; // [patches][PAIRS], block of nodes (row, column), or -1
    jnaArena memory;      // of all arrays
    jnaSparse matrix;
    jnaCholesky factor;
    bool touched; // the factor's pattern has pairs in contact
};

static int CompareInts(const void* a, const void* b)
{
    return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}

// The columns' rows: every free node with the later free ones that it shares a patch with.
static bool FindPattern(jnaNewton* n)
{
    const jnaElements* elements = &n->flesh->elements;
    int count = n->flesh->freeCount;
    int* ends = jnaArena_Take(&n->memory, (int64_t)count + 2, sizeof(int));
    int* list = jnaArena_Take(&n->memory, elements->blockCount, PAIRS * sizeof(int));
    n->starts = jnaArena_Take(&n->memory, (int64_t)count + 1, sizeof(int));
    if (n->memory.failed) {
        return false;
    }
    // Twice over the patches: sizes, then rows with repetitions; then each column is sorted and thinned.
    for (int pass = 0; pass < 2; ++pass) {
        for (int e = 0; e < elements->blockCount; ++e) {
            int32_t nodes[JNA_PATCH_NODES];
            uint8_t corners[JNA_ELEMENT_LANES][4];
            int nodeCount = jnaElementBlock_Nodes(&elements->blocks[e], nodes, corners);
            for (int i = 0; i < nodeCount * nodeCount; ++i) {
                int row = nodes[i / nodeCount], column = nodes[i % nodeCount];
                if (row >= column && row < count) {
                    if (pass == 0) {
                        ends[column + 1]++;
                    } else {
                        list[ends[column]++] = row;
                    }
                }
            }
        }
        for (int c = 0; pass == 0 && c < count; ++c) {
            ends[c + 1] += ends[c];
        }
    }
    int used = 0, begin = 0;
    for (int c = 0; c < count; ++c) {
        int end = ends[c];
        qsort(list + begin, (size_t)(end - begin), sizeof(int), CompareInts);
        n->starts[c] = used;
        for (int i = begin; i < end; ++i) {
            if (i == begin || list[i] != list[i - 1]) {
                int row = list[i];
                list[used++] = row;
            }
        }
        begin = end;
    }
    n->starts[count] = used;
    n->rows = list;
    n->blocks = jnaArena_Take(&n->memory, used, sizeof(*n->blocks));
    return n->blocks != NULL;
}

static int32_t FindBlock(const jnaNewton* n, int row, int column)
{
    int low = n->starts[column], high = n->starts[column + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (n->rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool PlacePatches(jnaNewton* n)
{
    const jnaElements* elements = &n->flesh->elements;
    n->patchBlocks = jnaArena_Take(&n->memory, elements->blockCount, PAIRS * sizeof(int32_t));
    for (int e = 0; n->patchBlocks != NULL && e < elements->blockCount; ++e) {
        int32_t nodes[JNA_PATCH_NODES], *places = n->patchBlocks + PAIRS * (size_t)e;
        uint8_t corners[JNA_ELEMENT_LANES][4];
        int nodeCount = jnaElementBlock_Nodes(&elements->blocks[e], nodes, corners);
        for (int i = 0; i < PAIRS; ++i) {
            int r = i / JNA_PATCH_NODES, c = i % JNA_PATCH_NODES;
            bool stored = r < nodeCount && c < nodeCount && nodes[r] >= nodes[c] && nodes[r] < n->flesh->freeCount;
            places[i] = stored ? FindBlock(n, nodes[r], nodes[c]) : -1;
        }
    }
    return n->patchBlocks != NULL;
}

// The scalar pattern of the blocks' lower triangle.
static bool MakeMatrix(jnaNewton* n)
{
    int64_t entries = 9 * (int64_t)n->starts[n->flesh->freeCount] - 3 * (int64_t)n->flesh->freeCount;
    n->matrix.size = 3 * n->flesh->freeCount;
    int* starts = n->matrix.starts = jnaArena_Take(&n->memory, (int64_t)n->matrix.size + 1, sizeof(int));
    int* rows = n->matrix.rows = jnaArena_Take(&n->memory, entries, sizeof(int));
    n->matrix.values = jnaArena_Take(&n->memory, entries, sizeof(double));
    int used = 0;
    if (n->memory.failed) {
        return false;
    }
    for (int column = 0; column < 3 * n->flesh->freeCount; ++column) {
        starts[column] = used;
        for (int b = n->starts[column / 3]; b < n->starts[column / 3 + 1]; ++b) {
            for (int r = 0; r < 3; ++r) {
                if (3 * n->rows[b] + r >= column) {
                    rows[used++] = 3 * n->rows[b] + r;
                }
            }
        }
    }
    starts[3 * n->flesh->freeCount] = used;
    return true;
}

jnResult jnaCreateNewton(const jnaFlesh* flesh, jnaNewton** newton, jnError* error)
{
    *newton = NULL;
    jnaNewton* n = calloc(1, sizeof(*n));
    if (n == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for Newton's method");
    }
    n->flesh = flesh;
    // The blocks' positions must fit an int.
    if (flesh->elements.count > INT32_MAX / 256 || !FindPattern(n) || !PlacePatches(n) || !MakeMatrix(n)) {
        jnaDestroyNewton(n);
        return jnFail(error, jn_outOfMemory, "out of memory for the Hessian of %d nodes", flesh->freeCount);
    }
    *newton = n;
    return jn_ok;
}

void jnaDestroyNewton(jnaNewton* n)
{
    if (n == NULL) {
        return;
    }
    jnaDestroyCholesky(&n->factor);
    jnaReleaseArena(&n->memory);
    free(n);
}

static void Assemble(jnaNewton* n, const jnaFleshProblem* problem, const double* x, bool project)
{
    const jnaElements* elements = &n->flesh->elements;
    memset(n->blocks, 0, (size_t)n->starts[n->flesh->freeCount] * sizeof(*n->blocks));
    for (int e = 0; e < elements->blockCount; ++e) {
        int32_t nodes[JNA_PATCH_NODES];
        double hessian[JNA_PATCH_ROWS][JNA_PATCH_ROWS];
        jnaPatchHessian(&elements->blocks[e], x, project, nodes, hessian);
        for (int i = 0; i < PAIRS; ++i) {
            int32_t at = n->patchBlocks[PAIRS * (size_t)e + (size_t)i];
            int row = 3 * (i / JNA_PATCH_NODES), column = 3 * (i % JNA_PATCH_NODES);
            for (int k = 0; at >= 0 && k < 9; ++k) {
                n->blocks[at][k] += hessian[row + k / 3][column + k % 3];
            }
        }
    }
    for (int p = 0; p < n->flesh->freeCount; ++p) {
        double stiffness = problem->boneFactor * n->flesh->springs[p]; // also of a bone that gives way: never too small
        stiffness += problem->pulls != NULL ? problem->pulls[p] : 0;
        for (int k = 0; k < 3; ++k) {
            n->blocks[n->starts[p]][4 * k] += stiffness;
        }
    }
    double* values = n->matrix.values;
    size_t used = 0;
    for (int column = 0; column < 3 * n->flesh->freeCount; ++column) {
        for (int b = n->starts[column / 3]; b < n->starts[column / 3 + 1]; ++b) {
            for (int r = 0; r < 3; ++r) {
                if (3 * n->rows[b] + r >= column) {
                    values[used++] = n->blocks[b][3 * r + column % 3];
                }
            }
        }
    }
}

// The matrix plus the Hessian of the pairs' energy, k ((1 - slide) n n^T + slide I) between the corners, the first
// where they press. False: out of memory.
static bool AddContact(
    jnaArena* arena, const jnaNewton* n, const jnaFleshProblem* problem, const double* x, jnaSparse* sum)
{
    const jnaContacts* contacts = problem->contacts;
    int size = n->matrix.size, own = n->matrix.starts[size], used = 0;
    int64_t most = own + 144 * (int64_t)contacts->count;
    int* rows = jnaArena_Take(arena, most, sizeof(int));
    int* columns = jnaArena_Take(arena, most, sizeof(int));
    double* values = jnaArena_Take(arena, most <= INT32_MAX ? most : -1, sizeof(double));
    if (arena->failed) {
        return false;
    }
    memcpy(rows, n->matrix.rows, (size_t)own * sizeof(int));
    memcpy(values, n->matrix.values, (size_t)own * sizeof(double));
    for (int column = 0; column < size; ++column) {
        for (; used < n->matrix.starts[column + 1]; ++used) {
            columns[used] = column;
        }
    }
    for (int p = 0; p < contacts->count; ++p) {
        const jnaContactPair* pair = &contacts->pairs[p];
        int32_t places[4];
        double shares[4] = {1, -pair->weights[0], -pair->weights[1], -pair->weights[2]};
        double offset = problem->contactMargin + pair->offset, gap = -offset;
        for (int c = 0; c < 4; ++c) {
            places[c] = n->flesh->places[c == 0 ? pair->node : pair->corners[c - 1]];
            for (int k = 0; k < 3; ++k) {
                gap += shares[c] * pair->normal[k] * x[4 * (size_t)places[c] + (size_t)k];
            }
        }
        double slide = pair->gap < offset ? problem->slide : 0, across = gap < 0 ? 1 - slide : 0;
        for (int i = 0; (slide > 0 || across > 0) && i < 144; ++i) {
            int c = i / 36, d = i % 12 / 3, k = i / 12 % 3, l = i % 3;
            int a = 3 * places[c] + k, b = 3 * places[d] + l;
            if (a >= b && a < size) {
                double block = across * pair->normal[k] * pair->normal[l] + (k == l ? slide : 0);
                rows[used] = a;
                columns[used] = b;
                values[used++] = problem->contactFactor * pair->stiffness * shares[c] * shares[d] * block;
            }
        }
    }
    return jnaCompressSparse(arena, size, used, rows, columns, values, sum);
}

// Factors the matrix at hand, contact added. False where it is not positive definite or memory runs out. With contact
// the pattern is another one every time; the order of the nodes is good enough for it.
static bool Factor(jnaNewton* n, const jnaFleshProblem* problem, const double* x)
{
    bool touched = problem->contacts != NULL && problem->contacts->count > 0;
    jnaArena arena = {0};
    jnaSparse sum = n->matrix;
    bool good = !touched || AddContact(&arena, n, problem, x, &sum);
    if (good && (touched || n->touched || n->factor.size == 0)) {
        int32_t* order = jnaArena_Take(&arena, sum.size, sizeof(int32_t));
        for (int i = 0; order != NULL && i < sum.size; ++i) {
            order[i] = i;
        }
        jnaDestroyCholesky(&n->factor);
        good = order != NULL && jnaCreateCholesky(&sum, order, &n->factor);
    }
    n->touched = touched;
    good = good && jnaCholesky_Factor(&n->factor, &sum) == jn_ok;
    jnaReleaseArena(&arena);
    return good;
}

static bool Solve(const jnaNewton* n, const double* gradient, float* direction)
{
    size_t count = 3 * (size_t)n->flesh->freeCount;
    double* x = malloc((count + 1) * sizeof(double));
    for (size_t i = 0; x != NULL && i < count; ++i) {
        x[i] = gradient[4 * (i / 3) + i % 3];
    }
    bool good = x != NULL && jnaCholesky_Solve(&n->factor, 1, x);
    for (size_t i = 0; good && i < count; ++i) {
        direction[4 * (i / 3) + i % 3] = (float)x[i];
        direction[4 * (i / 3) + 3] = 0;
    }
    free(x);
    return good;
}

bool jnaNewton_Direction(
    jnaNewton* n, const jnaFleshProblem* problem, const double* x, const double* gradient, float* direction)
{
    for (int project = 0; project < 2; ++project) {
        Assemble(n, problem, x, project != 0);
        if (Factor(n, problem, x)) {
            return Solve(n, gradient, direction);
        }
    }
    return false;
}
