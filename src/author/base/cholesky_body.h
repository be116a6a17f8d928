// The kernels of cholesky_kernels.h. LANES doubles to a vector: 2, 4 or 8.
#include "base/cholesky_kernels.h"

#include <math.h>
#include <string.h>

// Rows of a tile: two vectors. Six columns keep twelve sums, two loads and a factor in sixteen registers.
enum { TILE_ROWS = 2 * LANES, TILE_COLUMNS = 6, DEPTH = 192, PANEL = 24 };

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 6")
#endif

typedef double Vector __attribute__((vector_size(8 * LANES)));
typedef double Four __attribute__((vector_size(32)));

static inline Vector Load(const double* from)
{
    Vector v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void Store(double* to, Vector v)
{
    memcpy(to, &v, sizeof(v));
}

static inline Four LoadFour(const double* from)
{
    Four v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void StoreFour(double* to, Four v)
{
    memcpy(to, &v, sizeof(v));
}

// One tile. left: depth steps of `step`; right: [depth][TILE_COLUMNS], packed.
static inline __attribute__((always_inline)) void MultiplyTile(
    const double* left, size_t step, const double* right, int depth, double* out, size_t leading, int columns, bool add)
{
    Vector sums[TILE_COLUMNS][2] = {0};
    for (int d = 0; d < depth; ++d, left += step, right += TILE_COLUMNS) {
        Vector low = Load(left), high = Load(left + LANES);
        UNROLL
        for (int c = 0; c < columns; ++c) {
            sums[c][0] += low * right[c];
            sums[c][1] += high * right[c];
        }
    }
    UNROLL
    for (int c = 0; c < columns; ++c) {
        double* to = out + (size_t)c * leading;
        Store(to, add ? Load(to) + sums[c][0] : sums[c][0]);
        Store(to + LANES, add ? Load(to + LANES) + sums[c][1] : sums[c][1]);
    }
}

static void MultiplyTiles(
    const double* left, size_t step, const double* right, int depth, double* out, size_t leading, int columns, bool add)
{
    for (int c = 0; c < columns; c += TILE_COLUMNS, right += TILE_COLUMNS * (size_t)depth) {
        double* to = out + (size_t)c * leading;
        switch (columns - c) {
        case 1:
            MultiplyTile(left, step, right, depth, to, leading, 1, add);
            break;
        case 2:
            MultiplyTile(left, step, right, depth, to, leading, 2, add);
            break;
        case 3:
            MultiplyTile(left, step, right, depth, to, leading, 3, add);
            break;
        case 4:
            MultiplyTile(left, step, right, depth, to, leading, 4, add);
            break;
        case 5:
            MultiplyTile(left, step, right, depth, to, leading, 5, add);
            break;
        default:
            MultiplyTile(left, step, right, depth, to, leading, 6, add);
        }
    }
}

// Both sides are packed where they are read often enough: columns of a supernode lie far apart.
static void Multiply(const jnaOuterProduct* p)
{
    double right[DEPTH * (JNA_OUTER_COLUMNS + TILE_COLUMNS)], left[DEPTH * TILE_ROWS];
    for (int first = 0; first < p->depth; first += DEPTH) {
        int depth = p->depth - first < DEPTH ? p->depth - first : DEPTH;
        const double* from = p->right + (size_t)first * p->leading;
        for (int c = 0; c < p->columns; c += TILE_COLUMNS) {
            int width = p->columns - c < TILE_COLUMNS ? p->columns - c : TILE_COLUMNS;
            double* to = right + (size_t)c * (size_t)depth;
            for (int d = 0; d < depth; ++d) {
                for (int k = 0; k < width; ++k) {
                    to[d * TILE_COLUMNS + k] = from[(size_t)d * p->leading + (size_t)(c + k)];
                }
            }
        }
        for (int r = 0; r < p->rows; r += TILE_ROWS) {
            const double* rows = p->left + (size_t)first * p->leading + r;
            size_t step = p->leading;
            if (p->columns > 2 * TILE_COLUMNS) {
                for (int d = 0; d < depth; ++d) {
                    memcpy(left + TILE_ROWS * d, rows + (size_t)d * step, TILE_ROWS * sizeof(double));
                }
                rows = left;
                step = TILE_ROWS;
            }
            MultiplyTiles(rows, step, right, depth, p->out + r, p->outLeading, p->columns, first > 0);
        }
    }
}

// Columns [first, first + width) of a block, which lack only each other.
static bool FactorPanel(double* block, size_t rows, int first, int width)
{
    for (int c = 0; c < width; ++c) {
        double* own = block + (size_t)(first + c) * rows;
        size_t diagonal = (size_t)(first + c);
        for (int b = 0; b < c; ++b) {
            const double* earlier = block + (size_t)(first + b) * rows;
            double factor = earlier[diagonal];
            for (size_t r = diagonal; r < rows; ++r) {
                own[r] -= earlier[r] * factor;
            }
        }
        if (!(own[diagonal] > 0)) {
            return false;
        }
        double root = sqrt(own[diagonal]), inverse = 1 / root;
        own[diagonal] = root;
        for (size_t r = diagonal + 1; r < rows; ++r) {
            own[r] *= inverse;
        }
    }
    return true;
}

static bool Factor(double* block, int rows, int columns, double* scratch)
{
    size_t leading = ((size_t)rows + JNA_OUTER_ROWS) & ~(size_t)(JNA_OUTER_ROWS - 1);
    for (int first = 0; first < columns; first += PANEL) {
        int width = columns - first < PANEL ? columns - first : PANEL;
        if (first > 0) {
            Multiply(&(jnaOuterProduct){
                block + first, block + first, (size_t)rows, rows - first, width, first, scratch, leading});
        }
        for (int c = 0; first > 0 && c < width; ++c) {
            double* own = block + (size_t)(first + c) * (size_t)rows + first;
            for (int r = c; r < rows - first; ++r) {
                own[r] -= scratch[(size_t)c * leading + (size_t)r];
            }
        }
        if (!FactorPanel(block, (size_t)rows, first, width)) {
            return false;
        }
    }
    return true;
}

// --- one right-hand side

// y += columns of L times x, four columns at once.
static inline void AddColumns(const double* l, size_t rows, int columns, size_t count, const double* x, double* y)
{
    int c = 0;
    for (; c + 4 <= columns; c += 4, l += 4 * rows) {
        const double *l1 = l + rows, *l2 = l1 + rows, *l3 = l2 + rows;
        size_t r = 0;
        for (; r + LANES <= count; r += LANES) {
            Store(y + r, Load(y + r) + ((Load(l + r) * x[c] + Load(l1 + r) * x[c + 1]) +
                                           (Load(l2 + r) * x[c + 2] + Load(l3 + r) * x[c + 3])));
        }
        for (; r < count; ++r) {
            y[r] += (l[r] * x[c] + l1[r] * x[c + 1]) + (l2[r] * x[c + 2] + l3[r] * x[c + 3]);
        }
    }
    for (; c < columns; ++c, l += rows) {
        for (size_t r = 0; r < count; ++r) {
            y[r] += l[r] * x[c];
        }
    }
}

static inline double SumOf(const double* a, const double* b, size_t count)
{
    Vector sums[2] = {0};
    size_t r = 0;
    for (; r + 2 * LANES <= count; r += 2 * LANES) {
        sums[0] += Load(a + r) * Load(b + r);
        sums[1] += Load(a + r + LANES) * Load(b + r + LANES);
    }
    double sum = 0;
    for (; r < count; ++r) {
        sum += a[r] * b[r];
    }
    sums[0] += sums[1];
    for (int i = 0; i < LANES; ++i) {
        sum += sums[0][i];
    }
    return sum;
}

static void SolveOne(const jnaCholesky* f, double* x, double* below)
{
    for (int s = 0; s < f->superCount; ++s) {
        const double* l = f->values + f->valueStarts[s];
        const int32_t* list = f->rows + f->rowStarts[s];
        size_t rows = (size_t)(f->rowStarts[s + 1] - f->rowStarts[s]);
        int columns = f->supers[s + 1] - f->supers[s];
        double* own = x + f->supers[s];
        for (int c = 0; c < columns; ++c) {
            const double* column = l + (size_t)c * rows;
            own[c] /= column[c];
            for (int r = c + 1; r < columns; ++r) {
                own[r] -= column[r] * own[c];
            }
        }
        size_t count = rows - (size_t)columns;
        memset(below, 0, count * sizeof(double));
        AddColumns(l + columns, rows, columns, count, own, below);
        for (size_t r = 0; r < count; ++r) {
            x[list[(size_t)columns + r]] -= below[r];
        }
    }
    for (int s = f->superCount - 1; s >= 0; --s) {
        const double* l = f->values + f->valueStarts[s];
        const int32_t* list = f->rows + f->rowStarts[s];
        size_t rows = (size_t)(f->rowStarts[s + 1] - f->rowStarts[s]);
        int columns = f->supers[s + 1] - f->supers[s];
        double* own = x + f->supers[s];
        size_t count = rows - (size_t)columns;
        for (size_t r = 0; r < count; ++r) {
            below[r] = x[list[(size_t)columns + r]];
        }
        for (int c = columns - 1; c >= 0; --c) {
            const double* column = l + (size_t)c * rows;
            double sum = own[c] - SumOf(column + columns, below, count);
            for (int r = c + 1; r < columns; ++r) {
                sum -= column[r] * own[r];
            }
            own[c] = sum / column[c];
        }
    }
}

// --- four right-hand sides

static void ForwardFour(const double* l, size_t rows, int columns, const int32_t* list, double* own, double* x)
{
    for (int c = 0; c < columns; ++c) {
        const double* column = l + (size_t)c * rows;
        Four value = LoadFour(own + 4 * c) / column[c];
        StoreFour(own + 4 * c, value);
        for (int r = c + 1; r < columns; ++r) {
            StoreFour(own + 4 * r, LoadFour(own + 4 * r) - value * column[r]);
        }
    }
    size_t r = (size_t)columns;
    for (; r + 4 <= rows; r += 4) {
        Four sums[4] = {0};
        for (int c = 0; c < columns; ++c) {
            Four value = LoadFour(own + 4 * c);
            const double* entries = l + (size_t)c * rows + r;
            for (int k = 0; k < 4; ++k) {
                sums[k] += value * entries[k];
            }
        }
        for (size_t k = 0; k < 4; ++k) {
            double* to = x + 4 * (size_t)list[r + k];
            StoreFour(to, LoadFour(to) - sums[k]);
        }
    }
    for (; r < rows; ++r) {
        Four sum = {0};
        for (int c = 0; c < columns; ++c) {
            sum += LoadFour(own + 4 * c) * l[(size_t)c * rows + r];
        }
        double* to = x + 4 * (size_t)list[r];
        StoreFour(to, LoadFour(to) - sum);
    }
}

static void BackwardFour(const double* l, size_t rows, int columns, const double* below, double* own)
{
    size_t count = rows - (size_t)columns;
    for (int c = columns - 1; c >= 0; --c) {
        const double* column = l + (size_t)c * rows;
        Four sum = LoadFour(own + 4 * c), other = {0};
        size_t r = 0;
        for (; r + 2 <= count; r += 2) {
            sum -= LoadFour(below + 4 * r) * column[(size_t)columns + r];
            other -= LoadFour(below + 4 * r + 4) * column[(size_t)columns + r + 1];
        }
        if (r < count) {
            sum -= LoadFour(below + 4 * r) * column[(size_t)columns + r];
        }
        for (int k = c + 1; k < columns; ++k) {
            other -= LoadFour(own + 4 * k) * column[k];
        }
        StoreFour(own + 4 * c, (sum + other) / column[c]);
    }
}

static void SolveFour(const jnaCholesky* f, double* x, double* below)
{
    for (int s = 0; s < f->superCount; ++s) {
        ForwardFour(f->values + f->valueStarts[s], (size_t)(f->rowStarts[s + 1] - f->rowStarts[s]),
            f->supers[s + 1] - f->supers[s], f->rows + f->rowStarts[s], x + 4 * (size_t)f->supers[s], x);
    }
    for (int s = f->superCount - 1; s >= 0; --s) {
        size_t rows = (size_t)(f->rowStarts[s + 1] - f->rowStarts[s]);
        int columns = f->supers[s + 1] - f->supers[s];
        const int32_t* list = f->rows + f->rowStarts[s] + columns;
        for (size_t r = 0; r < rows - (size_t)columns; ++r) {
            StoreFour(below + 4 * r, LoadFour(x + 4 * (size_t)list[r]));
        }
        BackwardFour(f->values + f->valueStarts[s], rows, columns, below, x + 4 * (size_t)f->supers[s]);
    }
}
