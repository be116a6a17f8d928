// See target_basis.h. With G the products of the asset's targets and C = L L^T the mean of w w^T over the clips, the
// displacement that targets miss is least, for any number n of them, with the first n eigenvectors V of L^T G L:
//
//     targets S' = S L V      their weights y = V^T L^-1 w
//
// C is made definite by what a weight could do that no clip uses: it is then among the last targets, and not lost.
#include "asset/target_basis.h"

#include "base/arena.h"
#include "base/dense.h"
#include "base/matrices.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Usual size of a weight that clips do not use, as a fraction of how far it can go.
#define UNUSED 0.02
// Of the largest variance, so that C has a factor.
#define LEAST_VARIANCE 1e-12

void jnaDestroyTargetBasis(jnaTargetBasis* b)
{
    free(b->mix);
    free(b->shapes);
    *b = (jnaTargetBasis){0};
}

static jnResult Allocate(int count, int columns, jnaTargetBasis* b, jnError* error)
{
    jnaArena arena = {0};
    *b = (jnaTargetBasis){.count = count, .columns = columns};
    b->mix = jnaArena_Give(&arena, (int64_t)count * columns, sizeof(double));
    b->shapes = jnaArena_Give(&arena, (int64_t)count * columns, sizeof(double));
    jnResult result = jnaArena_Check(&arena, "a basis of morph targets", error);
    if (result != jn_ok) {
        jnaDestroyTargetBasis(b);
    }
    return result;
}

jnResult jnaPickTargets(const jnAsset* a, int components, int modes, jnaTargetBasis* b, jnError* error)
{
    JN_PASS(Allocate(components + modes, a->componentCount + a->modeCount, b, error));
    b->own = true;
    for (int t = 0; t < b->count; ++t) {
        int column = t < components ? t : a->componentCount + t - components;
        b->mix[t * b->columns + column] = b->shapes[t * b->columns + column] = 1;
    }
    return jn_ok;
}

// The column of the asset that a picked target is.
static int ColumnOf(const jnaTargetBasis* picked, int target)
{
    int column = 0;
    while (column + 1 < picked->columns && picked->mix[target * picked->columns + column] == 0) {
        ++column;
    }
    return column;
}

// The mean of w w^T over the clips, and what stands for those that are not used. moments: [size][size].
static void FindMoments(const jnaMorphWeights* w, const int* columns, int size, double* moments)
{
    double frames = 0, largest = 0;
    for (int c = 0; c < w->clipCount; ++c) {
        frames += w->keyCounts[c];
        for (int n = 0; n < w->keyCounts[c]; ++n) {
            const float* row = w->weights[c] + (size_t)n * (size_t)w->count;
            for (int i = 0; i < size; ++i) {
                for (int k = 0; k <= i; ++k) {
                    moments[i * size + k] += (double)row[columns[i]] * (double)row[columns[k]];
                }
            }
        }
    }
    for (int i = 0; i < size; ++i) {
        for (int k = 0; k <= i; ++k) {
            moments[i * size + k] /= fmax(frames, 1);
            moments[k * size + i] = moments[i * size + k];
        }
        double unused = UNUSED * (double)w->reach[columns[i]];
        moments[i * size + i] += unused * unused;
        largest = fmax(largest, moments[i * size + i]);
    }
    for (int i = 0; i < size; ++i) {
        moments[i * size + i] += LEAST_VARIANCE * fmax(largest, 1e-30);
    }
}

// half: L, with anything above its diagonal, which becomes 0. matrix: [size][size], L^T G L.
static void Weigh(
    double* half, const double* products, const int* columns, int all, int size, double* scratch, double* matrix)
{
    for (int i = 0; i < size; ++i) {
        for (int k = i + 1; k < size; ++k) {
            half[i * size + k] = 0;
        }
    }
    for (int i = 0; i < size; ++i) { // G L
        for (int k = 0; k < size; ++k) {
            double sum = 0;
            for (int l = k; l < size; ++l) {
                sum += products[columns[i] * all + columns[l]] * half[l * size + k];
            }
            scratch[i * size + k] = sum;
        }
    }
    for (int i = 0; i < size; ++i) {
        for (int k = 0; k < size; ++k) {
            double sum = 0;
            for (int l = i; l < size; ++l) {
                sum += half[l * size + i] * scratch[l * size + k];
            }
            matrix[i * size + k] = sum;
        }
    }
}

// Target t is the eigenvector v: S L v, with the weight v^T L^-1 w.
static void FillTarget(
    const double* half, const double* v, const int* columns, int size, double* scratch, double* mix, double* shape)
{
    for (int i = 0; i < size; ++i) {
        double sum = 0;
        for (int l = 0; l <= i; ++l) {
            sum += half[i * size + l] * v[l];
        }
        shape[columns[i]] = sum;
    }
    for (int i = size - 1; i >= 0; --i) { // L^-T v
        double sum = v[i];
        for (int l = i + 1; l < size; ++l) {
            sum -= half[l * size + i] * scratch[l];
        }
        scratch[i] = sum / half[i * size + i];
        mix[columns[i]] = scratch[i];
    }
}

jnResult jnaFindTargetBasis(
    const jnaTargetBasis* picked, const double* products, const jnaMorphWeights* w, jnaTargetBasis* b, jnError* error)
{
    int size = picked->count, all = picked->columns;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    if (size == 0) {
        return Allocate(size, all, b, error);
    }
    int64_t square = (int64_t)size * size;
    int* columns = jnaArena_Take(&arena, size, sizeof(*columns));
    double* half = jnaArena_Take(&arena, square, sizeof(double));
    double* scratch = jnaArena_Take(&arena, square, sizeof(double));
    double* matrix = jnaArena_Take(&arena, square, sizeof(double));
    double* values = jnaArena_Take(&arena, size, sizeof(double));
    *b = (jnaTargetBasis){0};
    JN_TRY(jnaArena_Check(&arena, "a basis of morph targets", error));
    JN_TRY(Allocate(size, all, b, error));
    for (int t = 0; t < size; ++t) {
        columns[t] = ColumnOf(picked, t);
    }
    FindMoments(w, columns, size, half);
    bool good = jnaFactorDense(half, (size_t)size);
    if (good) {
        Weigh(half, products, columns, all, size, scratch, matrix);
        jnResult found = jnaFindEigenvectors(size, matrix, values); // as rows, those of the smallest values first
        JN_TRY(found == jn_outOfMemory ? jnFail(error, found, "out of memory for a basis of morph targets") : jn_ok);
        good = found == jn_ok;
    }
    JN_TRY(good ? jn_ok
                : jnFail(error, jn_badData,
                      "the morph weights of the clips have no basis: they hold a number that is not finite"));
    for (int t = 0; t < size; ++t) {
        FillTarget(half, matrix + (size_t)(size - 1 - t) * (size_t)size, columns, size, scratch, b->mix + t * all,
            b->shapes + t * all);
    }
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyTargetBasis(b);
    }
    return result;
}

// left: [columns], of a frame's weights what the targets do not show.
static void TakeOff(const jnaTargetBasis* b, int count, const float* row, double* left)
{
    for (int k = 0; k < b->columns; ++k) {
        left[k] = (double)row[k];
    }
    for (int t = 0; t < count; ++t) {
        const double *mix = b->mix + t * b->columns, *shape = b->shapes + t * b->columns;
        double weight = 0;
        for (int k = 0; k < b->columns; ++k) {
            weight += mix[k] * (double)row[k];
        }
        for (int k = 0; k < b->columns; ++k) {
            left[k] -= shape[k] * weight;
        }
    }
}

// x^T G x
static double SquareOf(const double* x, const double* products, int size)
{
    double square = 0;
    for (int k = 0; k < size; ++k) {
        double sum = 0;
        for (int l = 0; l < size; ++l) {
            sum += x[l] * products[k * size + l];
        }
        square += x[k] * sum;
    }
    return fmax(square, 0);
}

jnResult jnaMeasureBasis(const jnaTargetBasis* b, int count, const jnAsset* a, const double* products,
    const jnaMorphWeights* w, jnaBasisError* error, jnError* failure)
{
    double all = 0, lost = 0, frames = 0;
    double* left = malloc((size_t)(b->columns + 1) * sizeof(double));
    *error = (jnaBasisError){.captured = 1};
    if (left == NULL) {
        return jnFail(failure, jn_outOfMemory, "out of memory for %d morph targets", b->columns);
    }
    bool constant = a->componentCount > 0; // component 0: left out where nobody asked for components
    bool asked = false;
    for (int t = 0; t < b->count; ++t) {
        asked = asked || (constant && b->mix[t * b->columns] != 0);
    }
    for (int c = 0; c < w->clipCount; ++c) {
        for (int n = 0; n < w->keyCounts[c]; ++n, ++frames) {
            const float* row = w->weights[c] + (size_t)n * (size_t)w->count;
            TakeOff(b, count, row, left);
            left[0] = constant && !asked ? 0 : left[0];
            lost += SquareOf(left, products, b->columns);
            TakeOff(b, 0, row, left);
            left[0] = constant ? 0 : left[0];
            all += SquareOf(left, products, b->columns);
        }
    }
    free(left);
    error->rms = sqrt(lost / fmax(1, frames * a->vertexCount));
    error->captured = all > 0 ? 1 - lost / all : 1;
    return jn_ok;
}

// sum_k factors_k fields_k, or its negative. width: of a field
static void Mix(const float* fields, size_t width, const double* factors, int count, double sign, float* to)
{
    memset(to, 0, width * sizeof(float));
    for (int k = 0; k < count; ++k) {
        float factor = (float)(sign * factors[k]);
        const float* from = fields + (size_t)k * width;
        for (size_t i = 0; factor != 0.0f && i < width; ++i) {
            to[i] += factor * from[i];
        }
    }
}

static jnResult CombineShapes(const jnaTargetBasis* b, int columns, bool paired, const jnAsset* a,
    const jnaMorphShapes* shapes, jnaMorphShapes* made, jnError* error)
{
    size_t width = 3 * (size_t)a->vertexCount, normals = 3 * (size_t)a->normalCount;
    jnaArena arena = {0};
    *made = (jnaMorphShapes){.count = columns};
    made->positions = jnaArena_Give(&arena, (int64_t)columns * (int64_t)width, sizeof(float));
    made->normals = jnaArena_Give(&arena, (int64_t)columns * (int64_t)normals, sizeof(float));
    made->restNormals = jnaArena_Give(&arena, (int64_t)normals, sizeof(float));
    JN_PASS(jnaArena_Check(&arena, "morph targets", error));
    memcpy(made->restNormals, shapes->restNormals, normals * sizeof(float));
#pragma omp parallel for schedule(dynamic, 1)
    for (int t = 0; t < columns; ++t) {
        const double* factors = b->shapes + (size_t)(paired ? t / 2 : t) * (size_t)b->columns;
        double sign = paired && t % 2 == 1 ? -1 : 1;
        Mix(shapes->positions, width, factors, b->columns, sign, made->positions + (size_t)t * width);
        Mix(shapes->normals, normals, factors, b->columns, sign, made->normals + (size_t)t * normals);
    }
    return jn_ok;
}

// The weights of a frame.
static void CombineRow(const jnaTargetBasis* b, int count, bool paired, const float* row, float* to)
{
    for (int t = 0; t < count; ++t) {
        double sum = 0;
        for (int k = 0; k < b->columns; ++k) {
            sum += b->mix[t * b->columns + k] * (double)row[k];
        }
        to[paired ? 2 * t : t] = (float)(paired ? fmax(sum, 0) : sum);
        if (paired) {
            to[2 * t + 1] = (float)fmax(-sum, 0);
        }
    }
}

// How far weights go: known for the asset's own, measured for others. Both of a pair go as far.
static void MeasureWeights(const jnaTargetBasis* b, bool paired, const jnaMorphWeights* from, jnaMorphWeights* w)
{
    double frames = 0;
    for (int c = 0; c < w->clipCount; ++c) {
        frames += w->keyCounts[c];
        for (size_t i = 0; i < (size_t)w->keyCounts[c] * (size_t)w->count; ++i) {
            float value = w->weights[c][i];
            size_t k = i % (size_t)w->count, reach = paired ? k / 2 * 2 : k;
            w->reach[reach] = fmaxf(w->reach[reach], fabsf(value));
            w->squares[k] += (double)value * (double)value;
        }
    }
    for (int t = 0; t < w->count; ++t) {
        int target = paired ? t / 2 : t;
        float known = b->own ? from->reach[ColumnOf(b, target)] : 0.0f;
        float reach = fmaxf(w->reach[paired ? t / 2 * 2 : t], known);
        w->reach[t] = reach > 0.0f ? reach : 1.0f;
        w->squares[t] /= fmax(frames, 1);
    }
}

static jnResult CombineWeights(
    const jnaTargetBasis* b, int count, bool paired, const jnaMorphWeights* from, jnaMorphWeights* w, jnError* error)
{
    jnaArena arena = {0};
    int columns = paired ? 2 * count : count;
    *w = (jnaMorphWeights){.count = columns, .clipCount = from->clipCount};
    w->keyCounts = jnaArena_Give(&arena, from->clipCount, sizeof(*w->keyCounts));
    w->weights = jnaArena_Give(&arena, from->clipCount, sizeof(*w->weights));
    w->reach = jnaArena_Give(&arena, columns, sizeof(*w->reach));
    w->squares = jnaArena_Give(&arena, columns, sizeof(*w->squares));
    for (int c = 0; !arena.failed && c < w->clipCount; ++c) {
        w->keyCounts[c] = from->keyCounts[c];
        w->weights[c] = jnaArena_Give(&arena, (int64_t)w->keyCounts[c] * columns, sizeof(float));
        for (int n = 0; w->weights[c] != NULL && n < w->keyCounts[c]; ++n) {
            CombineRow(b, count, paired, from->weights[c] + (size_t)n * (size_t)from->count,
                w->weights[c] + (size_t)n * (size_t)columns);
        }
    }
    JN_PASS(jnaArena_Check(&arena, "the weights of morph targets", error));
    MeasureWeights(b, paired, from, w);
    return jn_ok;
}

void jnaDestroyMorphSet(jnaMorphSet* set)
{
    jnaDestroyMorphShapes(&set->shapes);
    jnaDestroyMorphWeights(&set->weights);
}

jnResult jnaCombineTargets(const jnaTargetBasis* b, int count, bool paired, const jnAsset* a, const jnaMorphSet* from,
    jnaMorphSet* to, jnError* error)
{
    *to = (jnaMorphSet){0};
    jnResult result = CombineShapes(b, paired ? 2 * count : count, paired, a, &from->shapes, &to->shapes, error);
    if (result == jn_ok) {
        result = CombineWeights(b, count, paired, &from->weights, &to->weights, error);
    }
    if (result != jn_ok) {
        jnaDestroyMorphSet(to);
    }
    return result;
}
