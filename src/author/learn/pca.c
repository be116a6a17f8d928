// Principal components, two ways.
//
// Gram: with X the centred rows (n x m, n far below m), X X' = U L U', and the components are L^-1/2 U' X. Exact; n^2 m
// for the products and about 8 n^3 for the eigenvectors, half of which runs at the speed of memory.
// Randomised: subspace iteration from random combinations of rows, B <- orthonormal rows of (X B') ' X, a few times;
// 4 n m L each time with L a little more than the components wanted. The cheaper one by that count is taken.
//
// Products in floats over pieces of the columns, sums of pieces in doubles. Pieces are dealt to a fixed number of
// groups and each product runs on the thread of its group, so that the result does not depend on the number of threads.
#include "learn/pca.h"

#include "base/arena.h"
#include "base/matrices.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 2048, GROUPS = 4, EXTRA = 24, PASSES = 4 };

static jnaFloats FloatsOf(const float* entries, int rows, int columns, int stride)
{
    return (jnaFloats){entries, rows, columns, stride, false};
}

// A matrix of `columns` rows, transposed.
static jnaFloats TransposedOf(const float* entries, int rows, int columns, int stride)
{
    return (jnaFloats){entries, rows, columns, stride, true};
}

// Eigenvectors of a symmetric matrix as rows, the largest eigenvalue first.
static bool FindEigenvectors(int n, double* matrix, double* values)
{
    bool good = jnaFindEigenvectors(n, matrix, values) == jn_ok;
    // They are rising.
    for (int i = 0; i < n / 2; ++i) {
        int k = n - 1 - i;
        double value = values[i];
        values[i] = values[k];
        values[k] = value;
        for (int c = 0; c < n; ++c) {
            double entry = matrix[(size_t)i * (size_t)n + (size_t)c];
            matrix[(size_t)i * (size_t)n + (size_t)c] = matrix[(size_t)k * (size_t)n + (size_t)c];
            matrix[(size_t)k * (size_t)n + (size_t)c] = entry;
        }
    }
    return good;
}

static void FindMean(const jnaPcaDef* def, float* mean)
{
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < def->size; first += PIECE) {
        size_t width = def->size - first < PIECE ? def->size - first : PIECE;
        double sums[PIECE] = {0};
        for (int i = 0; i < def->count; ++i) {
            const float* row = def->rows + (size_t)def->which[i] * def->size + first;
            for (size_t k = 0; k < width; ++k) {
                sums[k] += (double)row[k];
            }
        }
        for (size_t k = 0; k < width; ++k) {
            mean[first + k] = (float)(sums[k] / def->count);
        }
    }
}

// Columns [first, first + width) of the centred rows. piece: [count][width]
static void Centre(const jnaPcaDef* def, const float* mean, size_t first, size_t width, float* piece)
{
    for (int i = 0; i < def->count; ++i) {
        const float* row = def->rows + (size_t)def->which[i] * def->size + first;
        for (size_t k = 0; k < width; ++k) {
            piece[(size_t)i * width + k] = row[k] - mean[first + k];
        }
    }
}

// sums (rows x columns) = over all pieces, left piece times right piece transposed. With basis NULL both are the
// centred rows, else the left one is the basis (rows x size), and with `own` the right one too. False if memory is
// short.
static bool SumProducts(const jnaPcaDef* def, const float* mean, const float* basis, int rows, bool own, double* sums)
{
    int columns = own ? rows : def->count;
    size_t count = (size_t)rows * (size_t)columns;
    double* groups = calloc(GROUPS * count, sizeof(double));
    bool good = groups != NULL;
#pragma omp parallel for schedule(static, 1) reduction(&& : good)
    for (int g = 0; g < GROUPS; ++g) {
        float *piece = own ? NULL : malloc((size_t)def->count * PIECE * sizeof(float)),
              *scratch = malloc(count * sizeof(float));
        good = good && groups != NULL && (own || piece != NULL) && scratch != NULL;
        for (size_t first = (size_t)g * PIECE; good && first < def->size; first += GROUPS * PIECE) {
            int width = (int)(def->size - first < PIECE ? def->size - first : PIECE);
            if (!own) {
                Centre(def, mean, first, (size_t)width, piece);
            }
            const float *left = basis != NULL ? basis + first : piece, *right = own ? basis + first : piece;
            good = jnaMultiplyFloats(1.0f, FloatsOf(left, rows, width, basis != NULL ? (int)def->size : width),
                TransposedOf(right, width, columns, own ? (int)def->size : width), scratch, columns);
            for (size_t i = 0; good && i < count; ++i) {
                groups[(size_t)g * count + i] += (double)scratch[i];
            }
        }
        free(piece);
        free(scratch);
    }
    for (size_t i = 0; good && i < count; ++i) {
        sums[i] = 0.0;
        for (size_t g = 0; g < GROUPS; ++g) {
            sums[i] += groups[g * count + i];
        }
    }
    free(groups);
    return good;
}

static double SumSquares(const jnaPcaDef* def, const float* mean, double* rows)
{
    double total = 0.0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < def->count; ++i) {
        const float* row = def->rows + (size_t)def->which[i] * def->size;
        double sum = 0.0;
        for (size_t k = 0; k < def->size; ++k) {
            double d = (double)(row[k] - mean[k]);
            sum += d * d;
        }
        rows[i] = sum;
    }
    for (int i = 0; i < def->count; ++i) {
        total += rows[i];
    }
    return total;
}

// How many are wanted, given their spreads.
static int CountComponents(const jnaPcaDef* def, double total, const double* spread, int available)
{
    double left = total, goal = total * def->residual * def->residual;
    int count = 0;
    while (count < available && count < def->most && left > goal && spread[count] > 1e-12 * total) {
        left -= spread[count++];
    }
    return count > 0 ? count : 1;
}

// out (count x size) = mix (count x rows) times the centred rows, or times `from` (count x size) where it is given.
static bool MixRows(const jnaPcaDef* def, const float* mean, const float* mix, int count, const float* from, float* out)
{
    bool good = true;
#pragma omp parallel for schedule(static, 1) reduction(&& : good)
    for (int g = 0; g < GROUPS; ++g) {
        float* piece = from == NULL ? malloc((size_t)def->count * PIECE * sizeof(float)) : NULL;
        good = good && (from != NULL || piece != NULL);
        for (size_t first = (size_t)g * PIECE; good && first < def->size; first += GROUPS * PIECE) {
            int width = (int)(def->size - first < PIECE ? def->size - first : PIECE);
            if (from == NULL) {
                Centre(def, mean, first, (size_t)width, piece);
            }
            int rows = from != NULL ? count : def->count;
            const float* right = from != NULL ? from + first : piece;
            good = jnaMultiplyFloats(1.0f, FloatsOf(mix, count, rows, rows),
                FloatsOf(right, rows, width, from != NULL ? (int)def->size : width), out + first, (int)def->size);
        }
        free(piece);
    }
    return good;
}

static bool TakeComponents(const jnaPcaDef* def, const double* spread, int available, jnaPca* pca)
{
    pca->count = CountComponents(def, pca->total, spread, available);
    pca->basis = malloc((size_t)pca->count * def->size * sizeof(float));
    pca->spread = malloc((size_t)pca->count * sizeof(double));
    for (int k = 0; pca->spread != NULL && k < pca->count; ++k) {
        pca->spread[k] = fmax(spread[k], 0.0);
    }
    return pca->basis != NULL && pca->spread != NULL;
}

static bool ByGram(const jnaPcaDef* def, jnaPca* pca)
{
    size_t n = (size_t)def->count;
    jnaArena arena = {0};
    double* gram = jnaArena_Take(&arena, (int64_t)def->count * def->count, sizeof(double));
    double* values = jnaArena_Take(&arena, def->count, sizeof(double));
    float* mix = jnaArena_Take(&arena, (int64_t)def->count * def->count, sizeof(float));
    bool good = !arena.failed && SumProducts(def, pca->mean, NULL, def->count, false, gram) &&
                FindEigenvectors(def->count, gram, values) && TakeComponents(def, values, def->count, pca);
    for (int k = 0; good && k < pca->count; ++k) {
        double scale = values[k] > 0.0 ? 1.0 / sqrt(values[k]) : 0.0;
        for (size_t i = 0; i < n; ++i) {
            mix[(size_t)k * n + i] = (float)(scale * gram[(size_t)k * n + i]);
        }
    }
    good = good && MixRows(def, pca->mean, mix, pca->count, NULL, pca->basis);
    jnaReleaseArena(&arena);
    return good;
}

typedef struct Subspace {
    jnaArena arena;
    int count;
    float *basis, *copy, *mix;
    double *products, *inner, *values;
} Subspace;

// Makes the basis orthonormal: basis <- L^-1/2 V' basis with basis basis' = V L V'.
static bool Orthonormalise(const jnaPcaDef* def, Subspace* s)
{
    size_t n = (size_t)s->count;
    if (!SumProducts(def, NULL, s->basis, s->count, true, s->inner) ||
        !FindEigenvectors(s->count, s->inner, s->values)) {
        return false;
    }
    for (size_t k = 0; k < n; ++k) {
        double scale = s->values[k] > 1e-12 * s->values[0] ? 1.0 / sqrt(s->values[k]) : 0.0;
        for (size_t i = 0; i < n; ++i) {
            s->mix[k * n + i] = (float)(scale * s->inner[k * n + i]);
        }
    }
    memcpy(s->copy, s->basis, n * def->size * sizeof(float));
    return MixRows(def, NULL, s->mix, s->count, s->copy, s->basis);
}

// Turns the basis to its principal axes: inner = products products' = V L V'.
static bool TurnToAxes(const jnaPcaDef* def, Subspace* s)
{
    size_t n = (size_t)def->count, count = (size_t)s->count;
    for (size_t a = 0; a < count; ++a) {
        for (size_t b = 0; b <= a; ++b) {
            double sum = 0.0;
            for (size_t i = 0; i < n; ++i) {
                sum += s->products[a * n + i] * s->products[b * n + i];
            }
            s->inner[a * count + b] = s->inner[b * count + a] = sum;
        }
    }
    if (!FindEigenvectors(s->count, s->inner, s->values)) {
        return false;
    }
    for (size_t i = 0; i < count * count; ++i) {
        s->mix[i] = (float)s->inner[i];
    }
    memcpy(s->copy, s->basis, count * def->size * sizeof(float));
    return MixRows(def, NULL, s->mix, s->count, s->copy, s->basis);
}

static bool MakeSubspace(const jnaPcaDef* def, Subspace* s)
{
    int64_t n = def->count, count = s->count;
    s->basis = jnaArena_Take(&s->arena, count, def->size * sizeof(float));
    s->copy = jnaArena_Take(&s->arena, count, def->size * sizeof(float));
    s->mix = jnaArena_Take(&s->arena, count * (n + count), sizeof(float));
    s->products = jnaArena_Take(&s->arena, count * n, sizeof(double));
    s->inner = jnaArena_Take(&s->arena, count * count, sizeof(double));
    s->values = jnaArena_Take(&s->arena, count, sizeof(double));
    return !s->arena.failed;
}

// The next combinations of rows: products, each of unit length so that no power of the singular values builds up.
static void NextMix(const Subspace* s, size_t n)
{
    for (size_t k = 0; k < (size_t)s->count; ++k) {
        double square = 0.0;
        for (size_t i = 0; i < n; ++i) {
            square += s->products[k * n + i] * s->products[k * n + i];
        }
        double scale = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
        for (size_t i = 0; i < n; ++i) {
            s->mix[k * n + i] = (float)(scale * s->products[k * n + i]);
        }
    }
}

static bool Randomised(const jnaPcaDef* def, jnaPca* pca)
{
    size_t n = (size_t)def->count;
    Subspace s = {.count = def->most + EXTRA < def->count ? def->most + EXTRA : def->count};
    bool good = MakeSubspace(def, &s);
    uint64_t state = 1;
    for (size_t i = 0; good && i < (size_t)s.count * n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        s.mix[i] = (float)(int32_t)(state >> 32) * 0x1p-31f;
    }
    for (int pass = 0; good && pass < PASSES; ++pass) {
        good = MixRows(def, pca->mean, s.mix, s.count, NULL, s.basis) && Orthonormalise(def, &s) &&
               SumProducts(def, pca->mean, s.basis, s.count, false, s.products);
        if (good) {
            NextMix(&s, n);
        }
    }
    good = good && TurnToAxes(def, &s) && TakeComponents(def, s.values, s.count, pca);
    if (good) {
        memcpy(pca->basis, s.basis, (size_t)pca->count * def->size * sizeof(float));
    }
    jnaReleaseArena(&s.arena);
    return good;
}

jnResult jnaFindComponents(const jnaPcaDef* def, jnaPca* pca, jnError* error)
{
    *pca = (jnaPca){.mean = malloc(def->size * sizeof(float))};
    size_t n = (size_t)def->count;
    double* rows = malloc(n * sizeof(double));
    bool good = pca->mean != NULL && rows != NULL;
    if (good) {
        FindMean(def, pca->mean);
        pca->total = SumSquares(def, pca->mean, rows);
        double m = (double)def->size, count = def->count, subspace = def->most + EXTRA;
        bool gram = 2.0 * count * count * m + 80.0 * count * count * count <=
                    PASSES * (4.0 * count * m * subspace + 4.0 * m * subspace * subspace);
        gram = def->method == jna_pcaGram || (def->method == jna_pcaCheaper && gram);
        good = gram ? ByGram(def, pca) : Randomised(def, pca);
    }
    free(rows);
    if (!good) {
        jnaDestroyPca(pca);
        return jnFail(error, jn_outOfMemory, "out of memory for the components of %d poses", def->count);
    }
    return jn_ok;
}

void jnaDestroyPca(jnaPca* pca)
{
    free(pca->mean);
    free(pca->basis);
    free(pca->spread);
    *pca = (jnaPca){0};
}

// The rotation closest to a matrix G (n x n): (G G')^-1/2 G. work: 3 n^2
static bool FindRotation(int n, const double* g, double* work, double* rotation)
{
    size_t count = (size_t)n;
    double *square = work, *root = work + count * count, *values = work + 2 * count * count;
    for (size_t a = 0; a < count; ++a) {
        for (size_t b = 0; b <= a; ++b) {
            double sum = 0.0;
            for (size_t i = 0; i < count; ++i) {
                sum += g[a * count + i] * g[b * count + i];
            }
            square[a * count + b] = square[b * count + a] = sum;
        }
    }
    if (!FindEigenvectors(n, square, values) || !(values[count - 1] > 0.0)) {
        return false;
    }
    for (size_t a = 0; a < count; ++a) {
        for (size_t b = 0; b < count; ++b) {
            double sum = 0.0;
            for (size_t i = 0; i < count; ++i) {
                sum += square[i * count + a] * square[i * count + b] / sqrt(values[i]);
            }
            root[a * count + b] = sum;
        }
    }
    for (size_t a = 0; a < count; ++a) {
        for (size_t b = 0; b < count; ++b) {
            double sum = 0.0;
            for (size_t i = 0; i < count; ++i) {
                sum += root[a * count + i] * g[i * count + b];
            }
            rotation[a * count + b] = sum;
        }
    }
    return true;
}

enum { VERTICES = 512, SWEEPS = 40 };

// turned = rotation times the basis of some vertices; then each entry times its vertex's squared size in that field.
static bool TurnPiece(const jnaPca* pca, size_t size, size_t first, int width, const float* rotation, float* turned)
{
    bool good = jnaMultiplyFloats(1.0f, FloatsOf(rotation, pca->count, pca->count, pca->count),
        FloatsOf(pca->basis + first, pca->count, width, (int)size), turned, width);
    for (int i = 0; i < pca->count * width; i += 3) {
        float* v = turned + i;
        float square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        v[0] *= square;
        v[1] *= square;
        v[2] *= square;
    }
    return good;
}

// The slope of the sum of fourth powers with respect to the rotation. groups: [GROUPS][count^2]
static bool FindSlope(const jnaPca* pca, size_t size, const float* rotation, double* groups, double* slope)
{
    size_t squares = (size_t)pca->count * (size_t)pca->count, piece = 3 * VERTICES;
    bool good = true;
    memset(groups, 0, GROUPS * squares * sizeof(double));
#pragma omp parallel for schedule(static, 1) reduction(&& : good)
    for (int g = 0; g < GROUPS; ++g) {
        float *turned = malloc((size_t)pca->count * piece * sizeof(float)), *sums = malloc(squares * sizeof(float));
        good = good && turned != NULL && sums != NULL;
        for (size_t first = (size_t)g * piece; good && first < size; first += GROUPS * piece) {
            int width = (int)(size - first < piece ? size - first : piece);
            good = TurnPiece(pca, size, first, width, rotation, turned) &&
                   jnaMultiplyFloats(1.0f, FloatsOf(turned, pca->count, width, width),
                       TransposedOf(pca->basis + first, width, pca->count, (int)size), sums, pca->count);
            for (size_t i = 0; good && i < squares; ++i) {
                groups[(size_t)g * squares + i] += (double)sums[i];
            }
        }
        free(turned);
        free(sums);
    }
    for (size_t i = 0; i < squares; ++i) {
        slope[i] = 0.0;
        for (size_t g = 0; g < GROUPS; ++g) {
            slope[i] += groups[g * squares + i];
        }
    }
    return good;
}

static bool ApplyRotation(jnaPca* pca, size_t size, const double* rotation, const float* rounded)
{
    size_t count = (size_t)pca->count;
    jnaArena arena = {0};
    float* copy = jnaArena_Take(&arena, pca->count, size * sizeof(float));
    double* spread = jnaArena_Take(&arena, pca->count, sizeof(double));
    if (arena.failed) {
        jnaReleaseArena(&arena);
        return false;
    }
    memcpy(copy, pca->basis, count * size * sizeof(float));
    if (!jnaMultiplyFloats(1.0f, FloatsOf(rounded, pca->count, pca->count, pca->count),
            FloatsOf(copy, pca->count, (int)size, (int)size), pca->basis, (int)size)) {
        jnaReleaseArena(&arena);
        return false;
    }
    // Coefficients of principal components do not go together, so their squares add up.
    for (size_t a = 0; a < count; ++a) {
        spread[a] = 0.0;
        for (size_t b = 0; b < count; ++b) {
            spread[a] += rotation[a * count + b] * rotation[a * count + b] * pca->spread[b];
        }
    }
    memcpy(pca->spread, spread, count * sizeof(double));
    jnaReleaseArena(&arena);
    return true;
}

bool jnaPca_Localise(jnaPca* pca, size_t size)
{
    size_t count = (size_t)pca->count, squares = count * count;
    double* work = malloc((GROUPS + 5) * squares * sizeof(double));
    float* rounded = malloc(squares * sizeof(float));
    bool good = work != NULL && rounded != NULL && size % 3 == 0;
    if (good) {
        double *rotation = work, *slope = work + squares, *rest = work + 2 * squares;
        memset(rotation, 0, squares * sizeof(double));
        for (size_t i = 0; i < count; ++i) {
            rotation[i * count + i] = 1.0;
        }
        // Without a slope of full rank the rotation found so far stays.
        bool turns = true;
        for (int sweep = 0; good && turns && sweep <= SWEEPS; ++sweep) {
            for (size_t i = 0; i < squares; ++i) {
                rounded[i] = (float)rotation[i];
            }
            if (sweep < SWEEPS) {
                good = FindSlope(pca, size, rounded, rest, slope);
                turns = good && FindRotation(pca->count, slope, rest, rotation);
            }
        }
        good = good && ApplyRotation(pca, size, rotation, rounded);
    }
    free(work);
    free(rounded);
    return good;
}

void jnaPca_Project(const jnaPca* pca, size_t size, const float* row, double* out)
{
    for (int k = 0; k < pca->count; ++k) {
        const float* basis = pca->basis + (size_t)k * size;
        double sum = 0.0;
        for (size_t i = 0; i < size; ++i) {
            sum += (double)basis[i] * (double)(row[i] - pca->mean[i]);
        }
        out[k] = sum;
    }
}
