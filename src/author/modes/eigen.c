// The lowest vibration modes, by Lanczos on the inverse; of small systems all, by LAPACK.
//
// With s a small shift, the largest eigenvalues of the symmetric  M^1/2 (K + s M)^-1 M^1/2  are 1/(omega^2 + s) of the
// lowest modes. ARPACK finds them from products alone; each is one solve with the factor. The shift keeps the factor
// positive definite where a piece of flesh hangs on nothing, whose modes are then at 0. The start is fixed and BLAS has
// one thread: the same bytes every time.
#include "modes/elastic.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/blas.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <arpack/arpack.h>
#include <math.h>
#include <string.h>

// LAPACK's symmetric eigenvalues, of OpenBLAS as well.
void dsyev_(const char* jobs, const char* half, const int* size, double* matrix, const int* leading, double* values,
    double* work, const int* workSize, int* info);

// Of half a hertz: well below flesh, well above rounding.
#define SHIFT (JNA_PI * JNA_PI)
// Relative accuracy of eigenvalues: a millionth of a millionth would only cost time.
#define TOLERANCE 1e-10
enum { MAX_RESTARTS = 300 };
// Small systems, and those of which most modes are wanted, are solved whole.
enum { DENSE_SIZE = 240, DENSE_MOST = 6000 };

// ARPACK's state.
typedef struct Lanczos {
    jnaElastic* elastic;
    jnaArena arena;
    int size, count, basis;
    int parameters[11], pointers[14];
    double *residual, *vectors, *work, *workList, *roots, *values;
    int* select;
} Lanczos;

static jnResult Prepare(Lanczos* l, jnError* error)
{
    int64_t n = l->size, b = l->basis;
    l->residual = jnaArena_Take(&l->arena, n, sizeof(double));
    l->vectors = jnaArena_Take(&l->arena, n * b, sizeof(double));
    l->work = jnaArena_Take(&l->arena, 3 * n, sizeof(double));
    l->workList = jnaArena_Take(&l->arena, b * (b + 8), sizeof(double));
    l->roots = jnaArena_Take(&l->arena, n, sizeof(double));
    l->values = jnaArena_Take(&l->arena, l->count, sizeof(double));
    l->select = jnaArena_Take(&l->arena, b, sizeof(int));
    if (l->arena.failed) {
        return jnaArena_Check(&l->arena, "the search for vibration modes", error);
    }
    const int* nodes = jnaElastic_FreeNodes(l->elastic);
    const double* masses = jnaElastic_Masses(l->elastic);
    uint64_t random = 1;
    for (int i = 0; i < l->size; ++i) {
        l->roots[i] = sqrt(masses[nodes[i / 3]]);
        random = random * 6364136223846793005u + 1442695040888963407u;
        l->residual[i] = l->roots[i] * ((double)(random >> 11) * 0x1p-52 - 1.0);
    }
    return jn_ok;
}

// out = M^1/2 (K + s M)^-1 M^1/2 in.
static jnResult Multiply(const Lanczos* l, const double* in, double* out, jnError* error)
{
    for (int i = 0; i < l->size; ++i) {
        out[i] = l->roots[i] * in[i];
    }
    jnResult result = jnaElastic_Solve(l->elastic, out, error);
    for (int i = 0; i < l->size; ++i) {
        out[i] *= l->roots[i];
    }
    return result;
}

// How many products it takes is known only in the end: the share nears 1 the slower the further it is.
static jnResult Iterate(Lanczos* l, const jnaWatch* watch, jnError* error)
{
    int request = 0, info = 1;
    l->parameters[0] = 1;
    l->parameters[2] = MAX_RESTARTS;
    l->parameters[3] = 1;
    l->parameters[6] = 1;
    jnResult result = jn_ok;
    for (int products = 0;; ++products) {
        dsaupd_c(&request, "I", l->size, "LA", l->count, TOLERANCE, l->residual, l->basis, l->vectors, l->size,
            l->parameters, l->pointers, l->work, l->workList, l->basis * (l->basis + 8), &info);
        if (request != -1 && request != 1) {
            break;
        }
        JN_TRY(Multiply(l, l->work + l->pointers[0] - 1, l->work + l->pointers[1] - 1, error));
        JN_TRY(jnaWatch_Tell(watch, (double)products / (products + l->basis), error));
    }
    if (info != 0) {
        result = jnFail(error, jn_badData, "the vibration modes were not found: ARPACK says %d after %d iterations",
            info, l->parameters[2]);
    }
done:
    return result;
}

// ARPACK gives the inverses rising; modes are wanted with rising frequency, and as displacements.
static jnResult Extract(Lanczos* l, double* omega2, double* shapes, jnError* error)
{
    size_t n = (size_t)l->size;
    int info = 0;
    dseupd_c(1, "A", l->select, l->values, l->vectors, l->size, 0.0, "I", l->size, "LA", l->count, TOLERANCE,
        l->residual, l->basis, l->vectors, l->size, l->parameters, l->pointers, l->work, l->workList,
        l->basis * (l->basis + 8), &info);
    for (int k = 0; k < l->count; ++k) {
        int from = l->count - 1 - k;
        omega2[k] = 1.0 / l->values[from] - SHIFT;
        for (size_t i = 0; i < n; ++i) {
            shapes[(size_t)k * n + i] = l->vectors[(size_t)from * n + i] / l->roots[i];
        }
    }
    return info == 0 ? jn_ok : jnFail(error, jn_badData, "the vibration modes were not found: ARPACK says %d", info);
}

// M^-1/2 K M^-1/2 column by column, and all of its eigenvectors.
static jnResult SolveWhole(jnaElastic* elastic, int size, int count, double* omega2, double* shapes, jnError* error)
{
    size_t n = (size_t)size;
    int workSize = 34 * size, info = 0;
    const int* nodes = jnaElastic_FreeNodes(elastic);
    const double* masses = jnaElastic_Masses(elastic);
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* matrix = jnaArena_Take(&arena, (int64_t)size * size, sizeof(double));
    double* values = jnaArena_Take(&arena, size, sizeof(double));
    double* work = jnaArena_Take(&arena, workSize, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "all modes of a volume", error));
    for (size_t k = 0; k < n; ++k) {
        memset(values, 0, n * sizeof(double));
        values[k] = 1 / sqrt(masses[nodes[k / 3]]);
        jnaElastic_Apply(elastic, values, matrix + k * n);
        for (size_t i = 0; i < n; ++i) {
            matrix[k * n + i] /= sqrt(masses[nodes[i / 3]]);
        }
    }
    dsyev_("V", "L", &size, matrix, &size, values, work, &workSize, &info);
    for (size_t k = 0; k < (size_t)count; ++k) {
        omega2[k] = values[k];
        for (size_t i = 0; i < n; ++i) {
            shapes[k * n + i] = matrix[k * n + i] / sqrt(masses[nodes[i / 3]]);
        }
    }
    if (info != 0) {
        result = jnFail(error, jn_badData, "the vibration modes were not found: LAPACK says %d", info);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaElastic_FindModes(
    jnaElastic* elastic, int count, double* omega2, double* shapes, int* found, const jnaWatch* watch, jnError* error)
{
    JN_ASSERT(count > 0);
    int size = 3 * jnaElastic_FreeCount(elastic);
    *found = count = count < size ? count : size;
    jnaUseOneBlasThread();
    if (size <= DENSE_SIZE || (2 * count + 20 > size && size <= DENSE_MOST)) {
        return SolveWhole(elastic, size, count, omega2, shapes, error);
    }
    if (2 * count + 20 > size) {
        return jnFail(error, jn_badArgument, "%d of %d modes are too many", count, size);
    }
    jnResult result = jn_ok;
    Lanczos lanczos = {.elastic = elastic, .size = size, .count = count, .basis = 2 * count + 20};
    JN_TRY(jnaElastic_Factor(elastic, 1, SHIFT, error));
    JN_TRY(Prepare(&lanczos, error));
    JN_TRY(Iterate(&lanczos, watch, error));
    JN_TRY(Extract(&lanczos, omega2, shapes, error));
done:
    jnaReleaseArena(&lanczos.arena);
    return result;
}
