// See array_table.h. Files are read back with the same mistrust as any.
#include "workspace/array_table.h"

#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

jnResult jnaSaveTable(const char* folder, const jnaTableEntry* entries, int count, jnError* error)
{
    for (int i = 0; i < count; ++i) {
        const jnaTableEntry* e = &entries[i];
        char path[JNA_PATH_LENGTH];
        JN_PASS(jnaJoinPath(folder, e->name, path, error));
        if (*e->data != NULL) {
            JN_PASS(jnaWriteArray(path, e->scalar, e->dimensions, e->shape, *e->data, error));
        } else if (unlink(path) != 0 && errno != ENOENT) {
            return jnFail(error, jn_ioFailed, "%s: cannot remove: %s", path, strerror(errno));
        }
    }
    return jn_ok;
}

static bool Fits(const jnaArray* array, const jnaTableEntry* e)
{
    bool fits = array->scalar == e->scalar && array->dimensions == e->dimensions &&
                memcmp(array->shape, e->shape, (size_t)e->dimensions * sizeof(e->shape[0])) == 0;
    bool real = e->scalar == jna_float32 || e->scalar == jna_float64;
    for (size_t i = 0; fits && real && i < array->count; ++i) {
        fits = isfinite(jnaArray_Get(array, i));
    }
    return fits;
}

static jnResult LoadOne(const char* folder, const jnaTableEntry* e, jnaTableSource source, jnError* error)
{
    char path[JNA_PATH_LENGTH], text[96];
    jnaArray array;
    JN_PASS(jnaJoinPath(folder, e->name, path, error));
    if (e->optional && !jnaFileIsThere(path)) {
        return jn_ok;
    }
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    if (!Fits(&array, e)) {
        jnaArray_Describe(&array, text, sizeof(text));
        JN_TRY(jnFail(error, jn_badData, "%s: is %s or not finite, which is not what %s says; run %s again", path, text,
            source.json, source.command));
    }
    size_t size = array.count * jnaScalarSize(array.scalar);
    *e->data = *e->data != NULL ? *e->data : malloc(size + 1);
    JN_TRY(*e->data != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path));
    memcpy(*e->data, array.data, size);
done:
    jnaCloseArray(&array);
    return result;
}

jnResult jnaLoadTable(
    const char* folder, const jnaTableEntry* entries, int count, jnaTableSource source, jnError* error)
{
    for (int i = 0; i < count; ++i) {
        JN_PASS(LoadOne(folder, &entries[i], source, error));
    }
    return jn_ok;
}
