// The lowest vibration modes, by Lanczos on the inverse; of small systems all, by LAPACK.
//
// With s a small shift, the largest eigenvalues of the symmetric  M^1/2 (K + s M)^-1 M^1/2  are 1/(omega^2 + s) of the
// lowest modes. ARPACK finds them from products alone; each is one solve with the factor. The shift keeps the factor
// positive definite where a piece of flesh hangs on nothing, whose modes are then at 0. The start is fixed and BLAS has
// one thread: the same bytes every time.
#include "modes/elastic.h"

#include "runtime/for_author.h"

#include <arpack/arpack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void openblas_set_num_threads(int count);
// LAPACK's symmetric eigenvalues, of OpenBLAS as well.
void dsyev_(const char* jobs, const char* half, const int* size, double* matrix, const int* leading, double* values,
    double* work, const int* workSize, int* info);

// Of half a hertz: well below flesh, well above rounding.
#define SHIFT (3.141592653589793 * 3.141592653589793)
// Relative accuracy of eigenvalues: a millionth of a millionth would only cost time.
#define TOLERANCE 1e-10
enum { MAX_RESTARTS = 300 };
// Small systems, and those of which most modes are wanted, are solved whole.
enum { DENSE_SIZE = 240, DENSE_MOST = 6000 };

typedef struct Lanczos {
    int size, count, basis;
    double *residual, *vectors, *work, *workList, *roots;
} Lanczos;

static void Release(Lanczos* l)
{
    free(l->residual);
    free(l->vectors);
    free(l->work);
    free(l->workList);
    free(l->roots);
}

static bool Prepare(Lanczos* l, const jnaElastic* elastic, int count)
{
    int size = 3 * jnaElastic_FreeCount(elastic), basis = 2 * count + 20;
    size_t n = (size_t)size, b = (size_t)basis;
    *l = (Lanczos){.size = size, .count = count, .basis = basis};
    l->residual = malloc(n * sizeof(double));
    l->vectors = malloc(n * b * sizeof(double));
    l->work = malloc(3 * n * sizeof(double));
    l->workList = malloc(b * (b + 8) * sizeof(double));
    l->roots = malloc(n * sizeof(double));
    if (l->residual == NULL || l->vectors == NULL || l->work == NULL || l->workList == NULL || l->roots == NULL) {
        return false;
    }
    const int* nodes = jnaElastic_FreeNodes(elastic);
    const double* masses = jnaElastic_Masses(elastic);
    uint64_t random = 1;
    for (size_t i = 0; i < n; ++i) {
        l->roots[i] = sqrt(masses[nodes[i / 3]]);
        random = random * 6364136223846793005u + 1442695040888963407u;
        l->residual[i] = l->roots[i] * ((double)(random >> 11) * 0x1p-52 - 1.0);
    }
    return true;
}

// out = M^1/2 (K + s M)^-1 M^1/2 in.
static jnResult Multiply(const Lanczos* l, jnaElastic* elastic, const double* in, double* out, jnError* error)
{
    for (int i = 0; i < l->size; ++i) {
        out[i] = l->roots[i] * in[i];
    }
    jnResult result = jnaElastic_Solve(elastic, out, error);
    for (int i = 0; i < l->size; ++i) {
        out[i] *= l->roots[i];
    }
    return result;
}

// How many products it takes is known only in the end: the share nears 1 the slower the further it is.
static jnResult Iterate(
    Lanczos* l, jnaElastic* elastic, int parameters[11], int pointers[14], const jnaWatch* watch, jnError* error)
{
    int request = 0, info = 1;
    parameters[0] = 1;
    parameters[2] = MAX_RESTARTS;
    parameters[3] = 1;
    parameters[6] = 1;
    jnResult result = jn_ok;
    for (int products = 0; result == jn_ok; ++products) {
        dsaupd_c(&request, "I", l->size, "LA", l->count, TOLERANCE, l->residual, l->basis, l->vectors, l->size,
            parameters, pointers, l->work, l->workList, l->basis * (l->basis + 8), &info);
        if (request != -1 && request != 1) {
            break;
        }
        result = Multiply(l, elastic, l->work + pointers[0] - 1, l->work + pointers[1] - 1, error);
        result = result == jn_ok ? jnaWatch_Tell(watch, (double)products / (products + l->basis), error) : result;
    }
    if (result == jn_ok && info != 0) {
        result = jnFail(error, jn_badData, "the vibration modes were not found: ARPACK says %d after %d iterations",
            info, parameters[2]);
    }
    return result;
}

// ARPACK gives the inverses rising; modes are wanted with rising frequency, and as displacements.
static jnResult Extract(
    Lanczos* l, int parameters[11], int pointers[14], double* omega2, double* shapes, jnError* error)
{
    size_t n = (size_t)l->size;
    int info = 0;
    int* select = calloc((size_t)l->basis, sizeof(int));
    double* values = malloc((size_t)l->count * sizeof(double));
    if (select != NULL && values != NULL) {
        dseupd_c(1, "A", select, values, l->vectors, l->size, 0.0, "I", l->size, "LA", l->count, TOLERANCE, l->residual,
            l->basis, l->vectors, l->size, parameters, pointers, l->work, l->workList, l->basis * (l->basis + 8),
            &info);
        for (int k = 0; k < l->count; ++k) {
            int from = l->count - 1 - k;
            omega2[k] = 1.0 / values[from] - SHIFT;
            for (size_t i = 0; i < n; ++i) {
                shapes[(size_t)k * n + i] = l->vectors[(size_t)from * n + i] / l->roots[i];
            }
        }
    }
    jnResult result =
        select == NULL || values == NULL ? jnFail(error, jn_outOfMemory, "out of memory for %d modes", l->count)
        : info != 0 ? jnFail(error, jn_badData, "the vibration modes were not found: ARPACK says %d", info)
                    : jn_ok;
    free(select);
    free(values);
    return result;
}

// M^-1/2 K M^-1/2 column by column, and all of its eigenvectors.
static jnResult SolveWhole(jnaElastic* elastic, int size, int count, double* omega2, double* shapes, jnError* error)
{
    size_t n = (size_t)size;
    int workSize = 34 * size, info = 0;
    const int* nodes = jnaElastic_FreeNodes(elastic);
    const double* masses = jnaElastic_Masses(elastic);
    double* matrix = malloc(n * n * sizeof(double));
    double* values = malloc(n * sizeof(double));
    double* work = malloc((size_t)workSize * sizeof(double));
    if (matrix != NULL && values != NULL && work != NULL) {
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
    }
    jnResult result = matrix == NULL || values == NULL || work == NULL
                          ? jnFail(error, jn_outOfMemory, "out of memory for all %d modes", size)
                      : info != 0
                          ? jnFail(error, jn_badData, "the vibration modes were not found: LAPACK says %d", info)
                          : jn_ok;
    free(matrix);
    free(values);
    free(work);
    return result;
}

jnResult jnaElastic_FindModes(
    jnaElastic* elastic, int count, double* omega2, double* shapes, int* found, const jnaWatch* watch, jnError* error)
{
    JN_ASSERT(count > 0);
    int size = 3 * jnaElastic_FreeCount(elastic);
    *found = count = count < size ? count : size;
    openblas_set_num_threads(1);
    if (size <= DENSE_SIZE || (2 * count + 20 > size && size <= DENSE_MOST)) {
        return SolveWhole(elastic, size, count, omega2, shapes, error);
    }
    Lanczos lanczos = {0};
    int parameters[11] = {0}, pointers[14] = {0};
    jnResult result = 2 * count + 20 <= size
                          ? jnaElastic_Factor(elastic, 1, SHIFT, error)
                          : jnFail(error, jn_badArgument, "%d of %d modes are too many", count, size);
    if (result == jn_ok && !Prepare(&lanczos, elastic, count)) {
        result = jnFail(error, jn_outOfMemory, "out of memory for %d modes of %d numbers", count, size);
    }
    result = result == jn_ok ? Iterate(&lanczos, elastic, parameters, pointers, watch, error) : result;
    result = result == jn_ok ? Extract(&lanczos, parameters, pointers, omega2, shapes, error) : result;
    Release(&lanczos);
    return result;
}
