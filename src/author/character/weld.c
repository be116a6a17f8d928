// Vertices that a file splits at UV and normal seams, put together again.
//
// Two file vertices are one when they are closer than the tolerance and the same joints move them by the same
// weights. Points are found through a hash of grid cells, each twice the tolerance wide: whatever is within
// the tolerance lies in one of eight cells.
#include "character/import_internal.h"

#include <stdlib.h>

// Weights are stored in files as bytes, shorts or floats; copies of a vertex agree far better than this.
#define WEIGHT_TOLERANCE 1e-4F
// Candidates looked at in one cell. No honest file stacks more vertices on a point; a hostile one must not
// cost n^2.
enum { MAX_CANDIDATES = 256 };
// Cells beyond are one: their numbers must stay whole numbers of 64 bits.
#define FARTHEST_CELL 4611686018427387904.0 // 2^62

static uint64_t HashCell(const int64_t* cell)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 3; ++i) {
        hash = (hash ^ (uint64_t)cell[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

static bool SameInfluences(const jnaInfluences* a, const jnaInfluences* b)
{
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        // Equal weights may be listed in another order.
        float found = 0, back = 0;
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            found += b->joints[k] == a->joints[i] ? b->weights[k] : 0;
            back += a->joints[k] == b->joints[i] ? a->weights[k] : 0;
        }
        if ((a->weights[i] > 0 && fabsf(found - a->weights[i]) > WEIGHT_TOLERANCE) ||
            (b->weights[i] > 0 && fabsf(back - b->weights[i]) > WEIGHT_TOLERANCE)) {
            return false;
        }
    }
    return true;
}

static bool Close(const float* a, const float* b, double tolerance)
{
    for (int i = 0; i < 3; ++i) {
        if (fabs((double)a[i] - (double)b[i]) > tolerance) {
            return false;
        }
    }
    return true;
}

typedef struct Grid {
    double width;
    size_t mask;
    int32_t* heads; // [mask + 1], file vertex that stands for a welded one, or -1
    int32_t* next;  // [count]
} Grid;

// The welded vertex a file vertex belongs to, as its first file vertex, or -1. `home` is set to its own
// cell's bucket.
static int32_t FindVertex(const Grid* grid, const float* positions, const jnaInfluences* influences, int vertex,
    double tolerance, size_t* home)
{
    const float* p = positions + 3 * (size_t)vertex;
    int64_t base[3];
    int side[3];
    for (int i = 0; i < 3; ++i) {
        double at = fmax(-FARTHEST_CELL, fmin(FARTHEST_CELL, (double)p[i] / grid->width));
        base[i] = (int64_t)floor(at);
        side[i] = at - floor(at) < 0.5 ? -1 : 1;
    }
    *home = (size_t)HashCell(base) & grid->mask;
    for (int corner = 0; corner < 8; ++corner) {
        int64_t cell[3];
        for (int i = 0; i < 3; ++i) {
            cell[i] = base[i] + ((corner >> i & 1) != 0 ? side[i] : 0);
        }
        int32_t other = grid->heads[(size_t)HashCell(cell) & grid->mask];
        for (int k = 0; other >= 0 && k < MAX_CANDIDATES; ++k, other = grid->next[other]) {
            if (Close(positions + 3 * (size_t)other, p, tolerance) &&
                SameInfluences(&influences[other], &influences[vertex])) {
                return other;
            }
        }
    }
    return -1;
}

int jnaWeld(int count, const float* positions, const jnaInfluences* influences, double tolerance, int32_t* weld)
{
    Grid grid = {.width = 2 * tolerance, .mask = 1023};
    while (grid.mask < 2 * (size_t)count) {
        grid.mask = 2 * grid.mask + 1;
    }
    grid.heads = malloc((grid.mask + 1) * sizeof(*grid.heads));
    grid.next = malloc(((size_t)count + 1) * sizeof(*grid.next));
    int welded = -1;
    if (grid.heads != NULL && grid.next != NULL) {
        memset(grid.heads, 0xff, (grid.mask + 1) * sizeof(*grid.heads));
        welded = 0;
        for (int v = 0; v < count; ++v) {
            size_t home;
            int32_t same = FindVertex(&grid, positions, influences, v, tolerance, &home);
            if (same >= 0) {
                weld[v] = weld[same];
                continue;
            }
            grid.next[v] = grid.heads[home];
            grid.heads[home] = v;
            weld[v] = welded++;
        }
    }
    free(grid.heads);
    free(grid.next);
    return welded;
}
