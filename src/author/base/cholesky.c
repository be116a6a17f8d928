// Sparse Cholesky factorisation by supernodes; see cholesky.h.
//
// Analysis: the elimination tree (Liu 1990), brought into postorder; the number of entries of every column of L; runs
// of columns with the same rows below become supernodes, and small ones are merged with their parent where that adds
// few zeros, because dense blocks are worth more than the zeros cost. Factorisation looks left: a supernode takes off
// what earlier ones contribute, one dense product each, and is then factored in place. Which supernodes reach which is
// kept in lists: each waits at the supernode that holds the first of its rows that were not used yet.
#include "base/cholesky.h"

#include "base/cholesky_kernels.h"
#include "base/dissection.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Merging: always up to so many columns; up to so many where zeros are less than that fraction; beyond, less than the
// last.
enum { ALWAYS_COLUMNS = 4, SOME_COLUMNS = 16, MANY_COLUMNS = 48 };
#define SOME_ZEROS 0.8
#define MANY_ZEROS 0.1
#define MOST_ZEROS 0.05

// What the analysis keeps for itself. "Place": a row or column in the order of the factor.
typedef struct Analysis {
    jnaArena arena;
    const jnaSparse* matrix;
    jnaCholesky* factor;
    int32_t* placeOf; // [size], place of a row of the matrix
    int* aboveStarts; // [size + 1], entries of each place with earlier ones
    int* above;
    int* belowStarts; // the same with later ones
    int* below;
    int32_t* parent; // [size], in the elimination tree, or -1
    int32_t* counts; // [size], entries of each column of L
    int32_t* superOf;
    int32_t* superParent; // [superCount], or -1
} Analysis;

static const jnaCholeskyKernels* ChooseKernels(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnKernelAvailable(jn_kernelAvx512)) {
        return &jnaCholeskyAvx512;
    }
    if (jnKernelAvailable(jn_kernelAvx2)) {
        return &jnaCholeskyAvx2;
    }
#endif
    return &jnaCholeskyBaseline;
}

// Nested dissection of the matrix's graph.
static bool OrderByDissection(Analysis* a, int32_t* order)
{
    const jnaSparse* m = a->matrix;
    jnaArena arena = {0};
    int* starts = jnaArena_Take(&arena, (int64_t)m->size + 2, sizeof(int));
    int* neighbours = jnaArena_Take(&arena, 2 * (int64_t)m->starts[m->size], sizeof(int));
    if (arena.failed) {
        jnaReleaseArena(&arena);
        return false;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int c = 0; c < m->size; ++c) {
            for (int i = m->starts[c]; i < m->starts[c + 1]; ++i) {
                int r = m->rows[i];
                if (r != c && pass == 0) {
                    starts[r + 2]++;
                    starts[c + 2]++;
                } else if (r != c) {
                    neighbours[starts[r + 1]++] = c;
                    neighbours[starts[c + 1]++] = r;
                }
            }
        }
        for (int c = 2; pass == 0 && c < m->size + 2; ++c) {
            starts[c] += starts[c - 1];
        }
    }
    bool good = jnaDissect(m->size, starts, neighbours, order);
    jnaReleaseArena(&arena);
    return good;
}

// Entries of the matrix by place, off the diagonal: above, for each place the earlier ones; below, the later ones.
static void SortEntries(Analysis* a)
{
    const jnaSparse* m = a->matrix;
    int n = m->size;
    for (int i = 0; i < n; ++i) {
        a->placeOf[a->factor->order[i]] = i;
    }
    memset(a->aboveStarts, 0, ((size_t)n + 2) * sizeof(int));
    memset(a->belowStarts, 0, ((size_t)n + 2) * sizeof(int));
    for (int pass = 0; pass < 2; ++pass) {
        for (int c = 0; c < n; ++c) {
            for (int i = m->starts[c]; i < m->starts[c + 1]; ++i) {
                int p = a->placeOf[c], q = a->placeOf[m->rows[i]];
                int early = p < q ? p : q, late = p < q ? q : p;
                if (early == late) {
                    continue;
                }
                if (pass == 0) {
                    a->aboveStarts[late + 2]++;
                    a->belowStarts[early + 2]++;
                } else {
                    a->above[a->aboveStarts[late + 1]++] = early;
                    a->below[a->belowStarts[early + 1]++] = late;
                }
            }
        }
        for (int c = 2; pass == 0 && c < n + 2; ++c) {
            a->aboveStarts[c] += a->aboveStarts[c - 1];
            a->belowStarts[c] += a->belowStarts[c - 1];
        }
    }
}

// The first later place that each place is eliminated into. shortcut: [size], scratch.
static void FindTree(Analysis* a, int32_t* shortcut)
{
    for (int late = 0; late < a->matrix->size; ++late) {
        a->parent[late] = shortcut[late] = -1;
        for (int i = a->aboveStarts[late]; i < a->aboveStarts[late + 1]; ++i) {
            int p = a->above[i];
            while (p >= 0 && p < late) {
                int next = shortcut[p];
                shortcut[p] = late;
                if (next < 0) {
                    a->parent[p] = late;
                }
                p = next;
            }
        }
    }
}

// Children right before their parents. scratch: [4][size].
static void Postorder(Analysis* a, int32_t* scratch)
{
    int n = a->matrix->size, used = 0;
    int32_t *child = scratch, *sibling = scratch + n, *stack = scratch + 2 * (size_t)n,
            *order = scratch + 3 * (size_t)n;
    memset(child, -1, (size_t)n * sizeof(*child));
    for (int p = n - 1; p >= 0; --p) { // children rising
        if (a->parent[p] >= 0) {
            sibling[p] = child[a->parent[p]];
            child[a->parent[p]] = p;
        }
    }
    for (int root = 0; root < n; ++root) {
        int depth = 0;
        if (a->parent[root] >= 0) {
            continue;
        }
        stack[depth++] = root;
        while (depth > 0) {
            int p = stack[depth - 1], down = child[p];
            if (down >= 0) {
                child[p] = sibling[down];
                stack[depth++] = down;
            } else {
                order[used++] = a->factor->order[p];
                depth--;
            }
        }
    }
    memcpy(a->factor->order, order, (size_t)n * sizeof(*order));
}

// Entries of each column of L: every row reaches up the tree from each of its entries. mark: [size], scratch.
static void CountColumns(Analysis* a, int32_t* mark)
{
    for (int row = 0; row < a->matrix->size; ++row) {
        a->counts[row] = 1;
        mark[row] = row;
        for (int i = a->aboveStarts[row]; i < a->aboveStarts[row + 1]; ++i) {
            for (int p = a->above[i]; mark[p] != row; p = a->parent[p]) {
                a->counts[p]++;
                mark[p] = row;
            }
        }
    }
}

// Whether a supernode is merged with the one behind it, its parent. zeros: of both afterwards.
static bool IsWorthMerging(int columns, int parentColumns, int64_t rows, int64_t parentRows, double* zeros)
{
    int together = columns + parentColumns;
    double added = (double)columns * (double)(parentRows + columns - rows);
    *zeros += added;
    if (together <= ALWAYS_COLUMNS || added == 0) {
        return true;
    }
    double size = 0.5 * together * (together + 1.0) + (double)together * (double)(parentRows - parentColumns);
    double fraction = *zeros / size;
    return (together <= SOME_COLUMNS && fraction < SOME_ZEROS) || (together <= MANY_COLUMNS && fraction < MANY_ZEROS) ||
           fraction < MOST_ZEROS;
}

// Runs of columns with the same rows below, then merged. columns, rows, merged: [size], scratch; zeros: the same.
static void FindSupernodes(Analysis* a, int32_t* columns, int32_t* rows, int32_t* merged, double* zeros)
{
    int n = a->matrix->size, count = 0;
    int32_t* first = a->factor->supers;
    for (int c = 0; c < n; ++c) {
        bool same = c > 0 && a->parent[c - 1] == c && a->counts[c - 1] == a->counts[c] + 1;
        if (!same) {
            first[count++] = c;
        }
        a->superOf[c] = count - 1;
    }
    first[count] = n;
    for (int s = 0; s < count; ++s) {
        columns[s] = first[s + 1] - first[s];
        rows[s] = a->counts[first[s]];
        merged[s] = -1;
        zeros[s] = 0;
    }
    for (int s = count - 2; s >= 0; --s) {
        int parent = a->parent[first[s + 1] - 1], behind = parent >= 0 ? a->superOf[parent] : -1;
        while (behind >= 0 && merged[behind] >= 0) {
            behind = merged[behind];
        }
        double together = zeros[s + 1];
        if (behind == s + 1 && IsWorthMerging(columns[s], columns[behind], rows[s], rows[behind], &together)) {
            merged[behind] = s;
            zeros[s] = together;
            rows[s] = columns[s] + rows[behind];
            columns[s] += columns[behind];
        }
    }
    int kept = 0;
    for (int s = 0; s < count; ++s) {
        if (merged[s] < 0) {
            first[kept++] = first[s];
        }
    }
    first[kept] = n;
    a->factor->superCount = kept;
    for (int s = 0; s < kept; ++s) {
        for (int c = first[s]; c < first[s + 1]; ++c) {
            a->superOf[c] = s;
        }
        // Merging counts an upper bound for the rows; the true ones are found with the rows themselves.
    }
}

static int CompareRows(const void* a, const void* b)
{
    return (*(const int32_t*)a > *(const int32_t*)b) - (*(const int32_t*)a < *(const int32_t*)b);
}

// The rows of a supernode: its own, those of the matrix, and those of its children. Returns their number. child,
// sibling: supernodes whose first row below is in a supernode.
static int CollectRows(Analysis* a, int s, const int32_t* child, const int32_t* sibling, int32_t* mark, int32_t* list)
{
    const jnaCholesky* f = a->factor;
    int count = 0, end = f->supers[s + 1];
    for (int c = f->supers[s]; c < end; ++c) {
        list[count++] = c;
    }
    for (int c = f->supers[s]; c < end; ++c) {
        for (int i = a->belowStarts[c]; i < a->belowStarts[c + 1]; ++i) {
            int row = a->below[i];
            if (row >= end && mark[row] != s) {
                mark[row] = s;
                list[count++] = row;
            }
        }
    }
    for (int d = child[s]; d >= 0; d = sibling[d]) {
        for (int64_t i = f->rowStarts[d] + f->supers[d + 1] - f->supers[d]; i < f->rowStarts[d + 1]; ++i) {
            int row = f->rows[i];
            if (row >= end && mark[row] != s) {
                mark[row] = s;
                list[count++] = row;
            }
        }
    }
    int own = end - f->supers[s];
    qsort(list + own, (size_t)(count - own), sizeof(*list), CompareRows);
    return count;
}

static bool FindRows(Analysis* a)
{
    jnaCholesky* f = a->factor;
    int n = a->matrix->size;
    int64_t most = 0;
    for (int s = 0; s < f->superCount; ++s) { // of merged ones, at most what the first column and the others have
        int64_t longest = 0;
        for (int c = f->supers[s]; c < f->supers[s + 1]; ++c) {
            int64_t reach = (int64_t)a->counts[c] + c - f->supers[s];
            longest = reach > longest ? reach : longest;
        }
        most += longest;
    }
    f->rowStarts = jnaArena_Take(&f->memory, (int64_t)f->superCount + 1, sizeof(int64_t));
    f->valueStarts = jnaArena_Take(&f->memory, (int64_t)f->superCount + 1, sizeof(int64_t));
    f->rows = jnaArena_Take(&f->memory, most, sizeof(int32_t));
    int32_t* child = jnaArena_Take(&a->arena, f->superCount, sizeof(int32_t));
    int32_t* sibling = jnaArena_Take(&a->arena, f->superCount, sizeof(int32_t));
    int32_t* mark = jnaArena_Take(&a->arena, n, sizeof(int32_t));
    if (f->memory.failed || a->arena.failed) {
        return false;
    }
    memset(child, -1, (size_t)f->superCount * sizeof(int32_t));
    memset(mark, -1, (size_t)n * sizeof(int32_t));
    for (int s = 0; s < f->superCount; ++s) {
        int columns = f->supers[s + 1] - f->supers[s];
        int32_t* list = f->rows + f->rowStarts[s];
        int count = CollectRows(a, s, child, sibling, mark, list);
        f->rowStarts[s + 1] = f->rowStarts[s] + count;
        f->valueStarts[s + 1] = f->valueStarts[s] + (int64_t)count * columns;
        f->mostRows = count > f->mostRows ? count : f->mostRows;
        if (count > columns) {
            int parent = a->superOf[list[columns]];
            sibling[s] = child[parent];
            child[parent] = s;
        }
    }
    return true;
}

// Where each entry of the matrix goes.
static void FindPlaces(Analysis* a)
{
    const jnaSparse* m = a->matrix;
    jnaCholesky* f = a->factor;
    for (int c = 0; c < m->size; ++c) {
        for (int i = m->starts[c]; i < m->starts[c + 1]; ++i) {
            int p = a->placeOf[c], q = a->placeOf[m->rows[i]];
            int column = p < q ? p : q, row = p < q ? q : p, s = a->superOf[column];
            const int32_t* list = f->rows + f->rowStarts[s];
            int rows = (int)(f->rowStarts[s + 1] - f->rowStarts[s]), low = 0, high = rows - 1;
            while (low < high) {
                int middle = (low + high) / 2;
                low = list[middle] < row ? middle + 1 : low;
                high = list[middle] < row ? high : middle;
            }
            f->places[i] = f->valueStarts[s] + (int64_t)(column - f->supers[s]) * rows + low;
        }
    }
}

static bool TakeAnalysis(Analysis* a)
{
    int64_t n = a->matrix->size, entries = a->matrix->starts[n];
    jnaCholesky* f = a->factor;
    f->order = jnaArena_Take(&f->memory, n, sizeof(int32_t));
    f->supers = jnaArena_Take(&f->memory, n + 1, sizeof(int32_t));
    f->places = jnaArena_Take(&f->memory, entries, sizeof(int64_t));
    a->placeOf = jnaArena_Take(&a->arena, n, sizeof(int32_t));
    a->aboveStarts = jnaArena_Take(&a->arena, n + 2, sizeof(int));
    a->belowStarts = jnaArena_Take(&a->arena, n + 2, sizeof(int));
    a->above = jnaArena_Take(&a->arena, entries, sizeof(int));
    a->below = jnaArena_Take(&a->arena, entries, sizeof(int));
    a->parent = jnaArena_Take(&a->arena, n, sizeof(int32_t));
    a->counts = jnaArena_Take(&a->arena, n, sizeof(int32_t));
    a->superOf = jnaArena_Take(&a->arena, n, sizeof(int32_t));
    return !a->arena.failed && !f->memory.failed;
}

static bool Analyze(Analysis* a, const int32_t* order)
{
    int64_t n = a->matrix->size;
    jnaCholesky* f = a->factor;
    int32_t* scratch = jnaArena_Take(&a->arena, n, 4 * sizeof(int32_t));
    double* zeros = jnaArena_Take(&a->arena, n, sizeof(double));
    if (!TakeAnalysis(a)) {
        return false;
    }
    if (order != NULL) {
        memcpy(f->order, order, (size_t)n * sizeof(int32_t));
    } else if (!OrderByDissection(a, f->order)) {
        return false;
    }
    SortEntries(a);
    FindTree(a, scratch);
    Postorder(a, scratch);
    SortEntries(a); // the tree again in its own order: cheaper than to rename it
    FindTree(a, scratch);
    CountColumns(a, scratch);
    FindSupernodes(a, scratch, scratch + n, scratch + 2 * n, zeros);
    if (!FindRows(a)) {
        return false;
    }
    FindPlaces(a);
    f->values = jnaArena_Take(&f->memory, f->valueStarts[f->superCount] + JNA_OUTER_ROWS, sizeof(double));
    return f->values != NULL;
}

bool jnaCreateCholesky(const jnaSparse* matrix, const int32_t* order, jnaCholesky* f)
{
    *f = (jnaCholesky){.size = matrix->size, .kernels = ChooseKernels()};
    Analysis a = {.matrix = matrix, .factor = f};
    bool good = Analyze(&a, order);
    jnaReleaseArena(&a.arena);
    if (!good) {
        jnaDestroyCholesky(f);
    }
    return good;
}

void jnaDestroyCholesky(jnaCholesky* f)
{
    jnaReleaseArena(&f->memory);
    memset(f, 0, sizeof(*f));
}

// --- values

typedef struct Work {
    jnaArena arena;
    int32_t* head; // [superCount], first that waits at each supernode, or -1
    int32_t* next; // [superCount]
    int32_t* used; // [superCount], rows of each that were used already
    int32_t* map;  // [size], place of a row in the supernode at hand
    double* scratch;
    size_t leading; // of the scratch
} Work;

// Takes off what rows [used, end) of an earlier supernode contribute.
static void TakeOff(const jnaCholesky* f, const Work* w, int s, int d, int used, int end)
{
    size_t rows = (size_t)(f->rowStarts[d + 1] - f->rowStarts[d]),
           own = (size_t)(f->rowStarts[s + 1] - f->rowStarts[s]);
    const double* from = f->values + f->valueStarts[d];
    const int32_t* list = f->rows + f->rowStarts[d];
    double* to = f->values + f->valueStarts[s];
    for (int first = used; first < end; first += JNA_OUTER_COLUMNS) {
        int columns = end - first < JNA_OUTER_COLUMNS ? end - first : JNA_OUTER_COLUMNS;
        jnaOuterProduct product = {from + first, from + first, rows, (int)rows - first, columns,
            f->supers[d + 1] - f->supers[d], w->scratch, w->leading};
        f->kernels->multiply(&product);
        for (int c = 0; c < columns; ++c) {
            double* column = to + (size_t)(list[first + c] - f->supers[s]) * own;
            const double* sums = w->scratch + (size_t)c * w->leading;
            for (int r = c; r < (int)rows - first; ++r) {
                column[w->map[list[first + r]]] -= sums[r];
            }
        }
    }
}

// A supernode waits where the first of its rows that is not used belongs. superOf is found by search.
static void Wait(const jnaCholesky* f, Work* w, int d)
{
    int rows = (int)(f->rowStarts[d + 1] - f->rowStarts[d]);
    if (w->used[d] >= rows) {
        return;
    }
    int row = f->rows[f->rowStarts[d] + w->used[d]], low = d, high = f->superCount - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        low = f->supers[middle] <= row ? middle : low;
        high = f->supers[middle] <= row ? high : middle - 1;
    }
    w->next[d] = w->head[low];
    w->head[low] = d;
}

static bool FactorSupernode(const jnaCholesky* f, Work* w, int s)
{
    const int32_t* list = f->rows + f->rowStarts[s];
    int rows = (int)(f->rowStarts[s + 1] - f->rowStarts[s]), end = f->supers[s + 1];
    for (int r = 0; r < rows; ++r) {
        w->map[list[r]] = r;
    }
    for (int d = w->head[s]; d >= 0;) {
        int after = w->next[d], used = w->used[d], count = (int)(f->rowStarts[d + 1] - f->rowStarts[d]), to = used;
        while (to < count && f->rows[f->rowStarts[d] + to] < end) {
            to++;
        }
        TakeOff(f, w, s, d, used, to);
        w->used[d] = to;
        Wait(f, w, d);
        d = after;
    }
    int columns = end - f->supers[s];
    double* block = f->values + f->valueStarts[s];
    if (!f->kernels->factor(block, rows, columns, w->scratch)) {
        return false;
    }
    for (int c = 1; c < columns; ++c) { // products leave something above the diagonal
        memset(block + (size_t)c * (size_t)rows, 0, (size_t)c * sizeof(double));
    }
    w->used[s] = columns;
    Wait(f, w, s);
    return true;
}

jnResult jnaCholesky_Factor(jnaCholesky* f, const jnaSparse* matrix)
{
    Work w = {.leading = ((size_t)f->mostRows + 2 * JNA_OUTER_ROWS) & ~(size_t)(JNA_OUTER_ROWS - 1)};
    w.head = jnaArena_Take(&w.arena, f->superCount, sizeof(int32_t));
    w.next = jnaArena_Take(&w.arena, f->superCount, sizeof(int32_t));
    w.used = jnaArena_Take(&w.arena, f->superCount, sizeof(int32_t));
    w.map = jnaArena_Take(&w.arena, f->size, sizeof(int32_t));
    w.scratch = jnaArena_Take(&w.arena, JNA_OUTER_COLUMNS * (int64_t)w.leading, sizeof(double));
    jnResult result = jn_outOfMemory;
    if (!w.arena.failed) {
        memset(w.head, -1, (size_t)f->superCount * sizeof(int32_t));
        memset(f->values, 0, ((size_t)f->valueStarts[f->superCount] + JNA_OUTER_ROWS) * sizeof(double));
        for (int i = 0; i < matrix->starts[matrix->size]; ++i) {
            f->values[f->places[i]] += matrix->values[i];
        }
        result = jn_ok;
    }
    for (int s = 0; result == jn_ok && s < f->superCount; ++s) {
        result = FactorSupernode(f, &w, s) ? jn_ok : jn_badData;
    }
    jnaReleaseArena(&w.arena);
    return result;
}

double jnaCholesky_Condition(const jnaCholesky* f)
{
    double least = HUGE_VAL, most = 0;
    for (int s = 0; s < f->superCount; ++s) {
        int64_t rows = f->rowStarts[s + 1] - f->rowStarts[s];
        for (int c = 0; c < f->supers[s + 1] - f->supers[s]; ++c) {
            double diagonal = f->values[f->valueStarts[s] + c * (rows + 1)];
            least = fmin(least, diagonal);
            most = fmax(most, diagonal);
        }
    }
    return most > 0 ? least / most * (least / most) : 0;
}

bool jnaCholesky_Solve(const jnaCholesky* f, int count, double* values)
{
    size_t n = (size_t)f->size, width = count == 1 ? 1 : 4;
    jnaArena arena = {0};
    double* x = jnaArena_Take(&arena, f->size, width * sizeof(double));
    double* below = jnaArena_Take(&arena, f->mostRows, width * sizeof(double));
    bool good = !arena.failed;
    for (size_t first = 0; good && first < (size_t)count; first += width) {
        size_t some = (size_t)count - first < width ? (size_t)count - first : width;
        double* own = values + first * n;
        for (size_t i = 0; i < n; ++i) {
            for (size_t k = 0; k < width; ++k) {
                x[i * width + k] = k < some ? own[k * n + (size_t)f->order[i]] : 0;
            }
        }
        (width == 1 ? f->kernels->solveOne : f->kernels->solveFour)(f, x, below);
        for (size_t i = 0; i < n; ++i) {
            for (size_t k = 0; k < some; ++k) {
                own[k * n + (size_t)f->order[i]] = x[i * width + k];
            }
        }
    }
    jnaReleaseArena(&arena);
    return good;
}

bool jnaCompressSparse(
    jnaArena* arena, int size, int count, const int* rows, const int* columns, const double* values, jnaSparse* sparse)
{
    jnaArena scratch = {0};
    sparse->size = size;
    sparse->starts = jnaArena_Take(arena, (int64_t)size + 2, sizeof(int));
    sparse->rows = jnaArena_Take(arena, count, sizeof(int));
    sparse->values = jnaArena_Take(arena, count, sizeof(double));
    int* sorted = jnaArena_Take(&scratch, count, sizeof(int));
    int* starts = jnaArena_Take(&scratch, (int64_t)size + 2, sizeof(int));
    int* last = jnaArena_Take(&scratch, size, sizeof(int));
    bool good = !arena->failed && !scratch.failed;
    for (int i = 0; good && i < count; ++i) {
        starts[columns[i] + 2]++;
    }
    for (int c = 2; good && c < size + 2; ++c) {
        starts[c] += starts[c - 1];
    }
    for (int i = 0; good && i < count; ++i) {
        sorted[starts[columns[i] + 1]++] = i;
    }
    int used = 0;
    for (int c = 0; good && c < size; ++c) {
        sparse->starts[c] = used;
        for (int i = starts[c]; i < starts[c + 1]; ++i) {
            int row = rows[sorted[i]], at = last[row] - 1; // `last`: one more than the place; 0 is none
            if (at < sparse->starts[c]) {
                at = used++;
                last[row] = at + 1;
                sparse->rows[at] = row;
                sparse->values[at] = 0;
            }
            sparse->values[at] += values[sorted[i]];
        }
    }
    if (good) {
        sparse->starts[size] = used;
    }
    jnaReleaseArena(&scratch);
    return good;
}
