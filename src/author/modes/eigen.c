// The lowest vibration modes, by Lanczos on the inverse; of small systems all.
//
// With s a small shift, the largest eigenvalues of the symmetric  M^1/2 (K + s M)^-1 M^1/2  are 1/(omega^2 + s) of the
// lowest modes. They are found from products alone; each is one solve with the factor. The shift keeps the factor
// positive definite where a piece of flesh hangs on nothing, whose modes are then at 0. The start is fixed: the same
// bytes every time.
#include "modes/elastic.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/lanczos.h"
#include "base/matrices.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// Of half a hertz: well below flesh, well above rounding.
#define SHIFT (JNA_PI * JNA_PI)
// Relative accuracy of eigenvalues: a millionth of a millionth would only cost time.
#define TOLERANCE 1e-10
enum { MAX_RESTARTS = 300 };
// Small systems, and those of which most modes are wanted, are solved whole.
enum { DENSE_SIZE = 240, DENSE_MOST = 6000 };

// What the products need.
typedef struct Lanczos {
    jnaElastic* elastic;
    jnaArena arena;
    int size, count, basis, products;
    double *start, *roots, *values;
    const jnaWatch* watch;
    jnError* error;
} Lanczos;

static jnResult Prepare(Lanczos* l, jnError* error)
{
    l->start = jnaArena_Take(&l->arena, l->size, sizeof(double));
    l->roots = jnaArena_Take(&l->arena, l->size, sizeof(double));
    l->values = jnaArena_Take(&l->arena, l->count, sizeof(double));
    JN_PASS(jnaArena_Check(&l->arena, "the search for vibration modes", error));
    const int* nodes = jnaElastic_FreeNodes(l->elastic);
    const double* masses = jnaElastic_Masses(l->elastic);
    uint64_t random = 1;
    for (int i = 0; i < l->size; ++i) {
        l->roots[i] = sqrt(masses[nodes[i / 3]]);
        random = random * 6364136223846793005u + 1442695040888963407u;
        l->start[i] = l->roots[i] * ((double)(random >> 11) * 0x1p-52 - 1.0);
    }
    return jn_ok;
}

// out = M^1/2 (K + s M)^-1 M^1/2 in. How many products it takes is known only in the end: the share nears 1 the slower
// the further it is.
static jnResult Multiply(void* user, const double* in, double* out)
{
    Lanczos* l = user;
    for (int i = 0; i < l->size; ++i) {
        out[i] = l->roots[i] * in[i];
    }
    JN_PASS(jnaElastic_Solve(l->elastic, out, l->error));
    for (int i = 0; i < l->size; ++i) {
        out[i] *= l->roots[i];
    }
    double share = (double)l->products / (l->products + l->basis);
    l->products++;
    return jnaWatch_Tell(l->watch, share, l->error);
}

// The inverses are falling: the modes have rising frequency. They are wanted as displacements.
static jnResult Search(Lanczos* l, double* omega2, double* shapes, jnError* error)
{
    jnaLanczosDef def = {
        .size = l->size,
        .count = l->count,
        .basis = l->basis,
        .mostRestarts = MAX_RESTARTS,
        .tolerance = TOLERANCE,
        .start = l->start,
        .multiply = Multiply,
        .user = l,
    };
    jnResult result = jnaFindLargest(&def, l->values, shapes);
    if (result == jn_badData) {
        return jnFail(error, jn_badData, "the vibration modes were not found after %d products", l->products);
    }
    if (result != jn_ok) {
        return result == jn_outOfMemory
                   ? jnFail(error, jn_outOfMemory, "out of memory for the search for vibration modes")
                   : result;
    }
    for (int k = 0; k < l->count; ++k) {
        omega2[k] = 1.0 / l->values[k] - SHIFT;
        for (int i = 0; i < l->size; ++i) {
            shapes[(size_t)k * (size_t)l->size + (size_t)i] /= l->roots[i];
        }
    }
    return jn_ok;
}

// M^-1/2 K M^-1/2 column by column, and all of its eigenvectors.
static jnResult SolveWhole(jnaElastic* elastic, int size, int count, double* omega2, double* shapes, jnError* error)
{
    size_t n = (size_t)size;
    const int* nodes = jnaElastic_FreeNodes(elastic);
    const double* masses = jnaElastic_Masses(elastic);
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* matrix = jnaArena_Take(&arena, (int64_t)size * size, sizeof(double));
    double* values = jnaArena_Take(&arena, size, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "all modes of a volume", error));
    for (size_t k = 0; k < n; ++k) {
        memset(values, 0, n * sizeof(double));
        values[k] = 1 / sqrt(masses[nodes[k / 3]]);
        jnaElastic_Apply(elastic, values, matrix + k * n);
        for (size_t i = 0; i < n; ++i) {
            matrix[k * n + i] /= sqrt(masses[nodes[i / 3]]);
        }
    }
    result = jnaFindEigenvectors(size, matrix, values);
    if (result != jn_ok) {
        JN_TRY(result == jn_outOfMemory ? jnFail(error, result, "out of memory for all modes of a volume")
                                        : jnFail(error, result, "the vibration modes were not found"));
    }
    for (size_t k = 0; k < (size_t)count; ++k) {
        omega2[k] = values[k];
        for (size_t i = 0; i < n; ++i) {
            shapes[k * n + i] = matrix[k * n + i] / sqrt(masses[nodes[i / 3]]);
        }
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
    if (size <= DENSE_SIZE || (2 * count + 20 > size && size <= DENSE_MOST)) {
        return SolveWhole(elastic, size, count, omega2, shapes, error);
    }
    if (2 * count + 20 > size) {
        return jnFail(error, jn_badArgument, "%d of %d modes are too many", count, size);
    }
    jnResult result = jn_ok;
    Lanczos lanczos = {
        .elastic = elastic, .size = size, .count = count, .basis = 2 * count + 20, .watch = watch, .error = error};
    JN_TRY(jnaElastic_Factor(elastic, 1, SHIFT, error));
    JN_TRY(Prepare(&lanczos, error));
    JN_TRY(Search(&lanczos, omega2, shapes, error));
done:
    jnaReleaseArena(&lanczos.arena);
    return result;
}
