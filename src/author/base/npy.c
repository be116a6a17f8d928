// The .npy format: magic, version, header length, a Python dictionary as text, then the raw scalars.
//
// The header is read by a small parser of just that dictionary: keys 'descr', 'fortran_order', 'shape', each
// once, in any order. Every length is checked against the size of the file before it is used.
#include "base/npy.h"

#include "base/mapped_file.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_LENGTH = 6, MAX_HEADER = 65536 };
static const char magic[MAGIC_LENGTH + 1] = "\x93NUMPY";

static const struct {
    const char* descriptor;
    const char* name;
    size_t size;
} scalars[] = {
    [jna_float32] = {"<f4", "float32", 4},
    [jna_float64] = {"<f8", "float64", 8},
    [jna_int32] = {"<i4", "int32", 4},
    [jna_int64] = {"<i8", "int64", 8},
    [jna_uint8] = {"|u1", "uint8", 1},
};
enum { SCALAR_COUNT = sizeof(scalars) / sizeof(scalars[0]) };

size_t jnaScalarSize(jnaScalar scalar)
{
    return scalars[scalar].size;
}

// A cursor over the header text [at, end).
typedef struct Cursor {
    const char* at;
    const char* end;
} Cursor;

static void SkipSpace(Cursor* c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) {
        c->at++;
    }
}

static bool Take(Cursor* c, char expected)
{
    SkipSpace(c);
    if (c->at < c->end && *c->at == expected) {
        c->at++;
        return true;
    }
    return false;
}

// 'text' or "text", without escapes: no key or descriptor has one.
static bool TakeString(Cursor* c, char* text, size_t size)
{
    SkipSpace(c);
    if (c->at >= c->end || (*c->at != '\'' && *c->at != '"')) {
        return false;
    }
    char quote = *c->at++;
    size_t length = 0;
    while (c->at < c->end && *c->at != quote) {
        if (length + 1 >= size) {
            return false;
        }
        text[length++] = *c->at++;
    }
    text[length] = '\0';
    return Take(c, quote);
}

static bool TakeWord(Cursor* c, const char* word)
{
    SkipSpace(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) {
        return false;
    }
    c->at += length;
    return true;
}

static bool TakeNumber(Cursor* c, size_t* number)
{
    SkipSpace(c);
    size_t value = 0;
    const char* start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        size_t digit = (size_t)(*c->at - '0');
        if (value > (SIZE_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
        c->at++;
    }
    *number = value;
    return c->at > start;
}

static bool TakeShape(Cursor* c, jnaArray* array, bool* tooMany)
{
    if (!Take(c, '(')) {
        return false;
    }
    array->dimensions = 0;
    while (!Take(c, ')')) {
        if (array->dimensions == JNA_MAX_DIMENSIONS) {
            *tooMany = true;
            return false;
        }
        if (!TakeNumber(c, &array->shape[array->dimensions])) {
            return false;
        }
        array->dimensions++;
        if (!Take(c, ',') && !(c->at < c->end && *c->at == ')')) {
            return false;
        }
    }
    return true;
}

static jnResult ParseHeader(const char* path, Cursor c, jnaArray* array, bool* fortran, jnError* error)
{
    bool seenType = false, seenOrder = false, seenShape = false, tooMany = false;
    char key[32], descriptor[32] = "";
    bool good = Take(&c, '{');
    while (good && !Take(&c, '}')) {
        good = TakeString(&c, key, sizeof(key)) && Take(&c, ':');
        if (good && strcmp(key, "descr") == 0 && !seenType) {
            seenType = good = TakeString(&c, descriptor, sizeof(descriptor));
        } else if (good && strcmp(key, "fortran_order") == 0 && !seenOrder) {
            *fortran = TakeWord(&c, "True");
            seenOrder = good = *fortran || TakeWord(&c, "False");
        } else if (good && strcmp(key, "shape") == 0 && !seenShape) {
            seenShape = good = TakeShape(&c, array, &tooMany);
        } else {
            good = false;
        }
        if (good && !Take(&c, ',')) {
            SkipSpace(&c);
            good = c.at < c.end && *c.at == '}';
        }
    }
    if (tooMany) {
        return jnFail(error, jn_badData, "%s: has more than %d dimensions", path, JNA_MAX_DIMENSIONS);
    }
    if (!good || !seenType || !seenOrder || !seenShape) {
        return jnFail(error, jn_badData, "%s: the .npy header is damaged", path);
    }
    for (int i = 0; i < SCALAR_COUNT; ++i) {
        if (strcmp(descriptor, scalars[i].descriptor) == 0) {
            array->scalar = (jnaScalar)i;
            return jn_ok;
        }
    }
    return jnFail(error, jn_badData,
        "%s: holds scalars of type '%s'; floats of 4 or 8 bytes and integers of 4 or 8 can be read", path, descriptor);
}

// Finds header and data inside the bytes of a file; every offset is checked against their size.
static jnResult ParseFile(
    const char* path, const unsigned char* bytes, size_t size, jnaArray* array, bool* fortran, jnError* error)
{
    if (size < MAGIC_LENGTH + 4 || memcmp(bytes, magic, MAGIC_LENGTH) != 0) {
        return jnFail(error, jn_badData, "%s: is not a .npy file", path);
    }
    int version = bytes[6];
    if (version < 1 || version > 3 || bytes[7] != 0) {
        return jnFail(error, jn_badData, "%s: .npy version %d.%d is not known", path, version, bytes[7]);
    }
    size_t start = version == 1 ? 10 : 12;
    if (size < start) {
        return jnFail(error, jn_badData, "%s: is cut off inside its header", path);
    }
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > MAX_HEADER) {
        return jnFail(error, jn_badData, "%s: its header is longer than %d bytes", path, MAX_HEADER);
    }
    if (length > size - start) {
        return jnFail(error, jn_badData, "%s: is cut off inside its header", path);
    }
    const char* text = (const char*)bytes + start;
    JN_PASS(ParseHeader(path, (Cursor){text, text + length}, array, fortran, error));
    size_t scalarSize = jnaScalarSize(array->scalar);
    array->count = 1;
    for (int i = 0; i < array->dimensions; ++i) {
        if (array->shape[i] != 0 && array->count > SIZE_MAX / scalarSize / array->shape[i]) {
            return jnFail(error, jn_badData, "%s: its shape is too large", path);
        }
        array->count *= array->shape[i];
    }
    size_t needed = array->count * scalarSize, present = size - start - length;
    if (needed != present) {
        char shape[96];
        jnaArray_Describe(array, shape, sizeof(shape));
        return jnFail(
            error, jn_badData, "%s: has %zu bytes of data, its header says %zu, %s", path, present, needed, shape);
    }
    array->data = bytes + start + length;
    return jn_ok;
}

// Fortran order counts the first index fastest: element (i, j, k) of C order stands at i + I (j + J k).
static void CopyTransposed(const jnaArray* array, unsigned char* copy)
{
    size_t size = jnaScalarSize(array->scalar), index[JNA_MAX_DIMENSIONS] = {0};
    const unsigned char* data = array->data;
    for (size_t n = 0; n < array->count; ++n) {
        size_t at = 0;
        for (int d = array->dimensions - 1; d >= 0; --d) {
            at = at * array->shape[d] + index[d];
        }
        memcpy(copy + n * size, data + at * size, size);
        for (int d = array->dimensions - 1; d >= 0 && ++index[d] == array->shape[d]; --d) {
            index[d] = 0;
        }
    }
}

// The data on the heap, in C order.
static jnResult CopyData(const char* path, jnaArray* array, bool fortran, jnError* error)
{
    size_t size = array->count * jnaScalarSize(array->scalar);
    void* copy = malloc(size + 1);
    if (copy == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    if (fortran) {
        CopyTransposed(array, copy);
    } else {
        memcpy(copy, array->data, size);
    }
    array->data = copy;
    return jn_ok;
}

// NumPy aligns the data to 64 bytes; a file that does not, or that is in Fortran order, is copied to the heap so that
// it may be read directly.
static jnResult AlignData(const char* path, jnaArray* array, bool fortran, jnError* error)
{
    if ((uintptr_t)array->data % jnaScalarSize(array->scalar) == 0 && !(fortran && array->dimensions > 1)) {
        return jn_ok;
    }
    jnResult result = CopyData(path, array, fortran, error);
    if (result == jn_ok) {
        jnaUnmapFile(&(jnaMappedFile){array->mapping, array->mappingSize});
        array->mapping = NULL;
    }
    return result;
}

jnResult jnaCopyArray(const char* path, const void* bytes, size_t size, jnaArray* array, jnError* error)
{
    bool fortran = false;
    *array = (jnaArray){0};
    jnResult result = jn_ok;
    JN_TRY(ParseFile(path, bytes, size, array, &fortran, error));
    JN_TRY(CopyData(path, array, fortran, error));
done:
    if (result != jn_ok) {
        *array = (jnaArray){0};
    }
    return result;
}

jnResult jnaOpenArray(const char* path, jnaArray* array, jnError* error)
{
    *array = (jnaArray){0};
    jnaMappedFile file;
    JN_PASS(jnaMapFile(path, &file, error));
    array->mapping = (void*)(uintptr_t)file.bytes;
    array->mappingSize = file.size;
    bool fortran = false;
    jnResult result = jn_ok;
    JN_TRY(ParseFile(path, array->mapping, array->mappingSize, array, &fortran, error));
    JN_TRY(AlignData(path, array, fortran, error));
done:
    if (result != jn_ok) {
        if (array->mapping != NULL) {
            jnaUnmapFile(&(jnaMappedFile){array->mapping, array->mappingSize});
        }
        *array = (jnaArray){0};
    }
    return result;
}

void jnaCloseArray(jnaArray* array)
{
    if (array->mapping != NULL) {
        jnaUnmapFile(&(jnaMappedFile){array->mapping, array->mappingSize});
    } else {
        free((void*)(uintptr_t)array->data);
    }
    *array = (jnaArray){0};
}

double jnaArray_Get(const jnaArray* array, size_t index)
{
    return array->scalar == jna_float64 ? ((const double*)array->data)[index]
                                        : (double)((const float*)array->data)[index];
}

jnaArray jnaArray_Rows(const jnaArray* array, size_t first, size_t count)
{
    JN_ASSERT(array->dimensions >= 1 && first + count <= array->shape[0]);
    size_t width = array->shape[0] > 0 ? array->count / array->shape[0] : 0;
    jnaArray rows = *array;
    rows.shape[0] = count;
    rows.count = count * width;
    rows.data = (const char*)array->data + first * width * jnaScalarSize(array->scalar);
    rows.mapping = NULL;
    rows.mappingSize = 0;
    return rows;
}

void jnaArray_Describe(const jnaArray* array, char* buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "%s (", scalars[array->scalar].name);
    for (int i = 0; i < array->dimensions && used < size; ++i) {
        used += (size_t)snprintf(buffer + used, size - used, i == 0 ? "%zu" : ", %zu", array->shape[i]);
    }
    if (used < size) {
        snprintf(buffer + used, size - used, array->dimensions == 1 ? ",)" : ")");
    }
}

jnResult jnaCreateArray(
    const char* path, jnaScalar scalar, int dimensions, const size_t* shape, jnaFile* file, jnError* error)
{
    JN_ASSERT(dimensions >= 0 && dimensions <= JNA_MAX_DIMENSIONS);
    JN_PASS(jnaCreateFile(path, file, error));
    char header[256];
    size_t used = (size_t)snprintf(
        header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (", scalars[scalar].descriptor);
    for (int i = 0; i < dimensions; ++i) {
        used +=
            (size_t)snprintf(header + used, sizeof(header) - used, "%zu,%s", shape[i], i + 1 < dimensions ? " " : "");
    }
    used += (size_t)snprintf(header + used, sizeof(header) - used, "), }");
    // Version 1.0: ten bytes before the text, which ends with a newline so that the data start at a multiple
    // of 64.
    size_t total = jnAlignUp(10 + used + 1);
    unsigned char prefix[10] = {0};
    memcpy(prefix, magic, MAGIC_LENGTH);
    prefix[6] = 1;
    prefix[8] = (unsigned char)((total - 10) & 0xff);
    prefix[9] = (unsigned char)((total - 10) >> 8);
    fwrite(prefix, 1, sizeof(prefix), file->stream);
    fwrite(header, 1, used, file->stream);
    for (size_t i = 10 + used; i + 1 < total; ++i) {
        fputc(' ', file->stream);
    }
    fputc('\n', file->stream);
    return jn_ok;
}

jnResult jnaWriteArray(
    const char* path, jnaScalar scalar, int dimensions, const size_t* shape, const void* data, jnError* error)
{
    jnaFile file;
    JN_PASS(jnaCreateArray(path, scalar, dimensions, shape, &file, error));
    size_t count = 1;
    for (int i = 0; i < dimensions; ++i) {
        count *= shape[i];
    }
    fwrite(data, jnaScalarSize(scalar), count, file.stream);
    return jnaFile_Commit(&file, error);
}
