// Bounds on numbers; see bounds.h.
#include "base/bounds.h"

#include "runtime/for_author.h"

#include <math.h>

size_t jnaFindUnbounded(const float* values, size_t count, double most)
{
    for (size_t i = 0; i < count; ++i) {
        if (!(fabs((double)values[i]) <= most)) { // what is no number is not below it
            return i;
        }
    }
    return count;
}

static size_t FindInArray(const jnaArray* array, double most, bool mayBeMissing)
{
    size_t i = array->scalar <= jna_float64 ? 0 : array->count;
    for (; i < array->count; ++i) {
        double value = jnaArray_Get(array, i);
        if (!(fabs(value) <= most) && !(mayBeMissing && isnan(value))) {
            break;
        }
    }
    return i;
}

jnResult jnaArray_CheckPositions(const jnaArray* array, const char* path, jnError* error)
{
    size_t at = FindInArray(array, JNA_FARTHEST, array->dimensions == 3);
    if (at == array->count) {
        return jn_ok;
    }
    double value = jnaArray_Get(array, at);
    if (array->dimensions == 3 && array->shape[2] > 0) {
        size_t frame = at / (array->shape[1] * array->shape[2]), vertex = at / array->shape[2] % array->shape[1];
        return jnFail(error, jn_badData, "%s: frame %zu, vertex %zu: a coordinate is %g; up to %g m can be taken", path,
            frame, vertex, value, JNA_FARTHEST);
    }
    size_t width = array->dimensions == 2 && array->shape[1] > 0 ? array->shape[1] : 1;
    return jnFail(error, jn_badData, "%s: vertex %zu: a coordinate is %g; up to %g m can be taken", path, at / width,
        value, JNA_FARTHEST);
}

jnResult jnaArray_CheckNumbers(const jnaArray* array, const char* path, jnError* error)
{
    size_t at = FindInArray(array, JNA_LARGEST, false);
    return at == array->count ? jn_ok
                              : jnFail(error, jn_badData, "%s: number %zu is %g; up to %g can be taken", path, at,
                                    jnaArray_Get(array, at), JNA_LARGEST);
}

jnResult jnaOpenPositions(const char* path, jnaArray* array, jnError* error)
{
    jnResult result = jnaOpenArray(path, array, error);
    if (result == jn_ok && (result = jnaArray_CheckPositions(array, path, error)) != jn_ok) {
        jnaCloseArray(array);
    }
    return result;
}
