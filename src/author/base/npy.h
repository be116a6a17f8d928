// Arrays on disk in NumPy's .npy format: read by memory mapping, written row by row.
#pragma once

#include "base/file.h"

enum { JNA_MAX_DIMENSIONS = 4 };

typedef enum jnaScalar {
    jna_float32,
    jna_float64,
    jna_int32,
    jna_int64,
    jna_uint8,
} jnaScalar;

/// Bytes of one scalar.
size_t jnaScalarSize(jnaScalar scalar);

/// An array that is mapped read-only from its file, C order, little-endian.
typedef struct jnaArray {
    jnaScalar scalar;
    int dimensions; // 0 to JNA_MAX_DIMENSIONS; 0 is one number
    size_t shape[JNA_MAX_DIMENSIONS];
    size_t count;     // product of the shape
    const void* data; // count scalars, aligned to the scalar's size
    void* mapping;    // the whole file; NULL when data is on the heap
    size_t mappingSize;
} jnaArray;

/// Maps a .npy file (format 1.0 to 3.0); one in Fortran order is copied into C order. Refuses other byte orders, more
/// than four dimensions, scalars that jnaScalar does not list, and files that are shorter or longer than their header
/// says.
jnResult jnaOpenArray(const char* path, jnaArray* array, jnError* error);

/// The same from the bytes of a .npy file, which are copied.
jnResult jnaCopyArray(const char* path, const void* bytes, size_t size, jnaArray* array, jnError* error);

/// An array of a .npz file, numpy.savez or numpy.savez_compressed, by its name; "": the only one that is in the file.
jnResult jnaOpenArrayIn(const char* path, const char* name, jnaArray* array, jnError* error);
void jnaCloseArray(jnaArray* array);

/// Element `index` of a float32 or float64 array.
double jnaArray_Get(const jnaArray* array, size_t index);

/// Rows [first, first + count) of an array, borrowed: they are not closed and live as long as it does.
jnaArray jnaArray_Rows(const jnaArray* array, size_t first, size_t count);

/// "float32 (120, 13380, 3)" for messages. The buffer is always terminated.
void jnaArray_Describe(const jnaArray* array, char* buffer, size_t size);

/// Writes a whole array atomically.
jnResult jnaWriteArray(
    const char* path, jnaScalar scalar, int dimensions, const size_t* shape, const void* data, jnError* error);

/// Opens a .npy file for writing row by row: after the header, write the scalars to file->stream in C order,
/// then commit. Nothing checks that as many are written as the shape says.
jnResult jnaCreateArray(
    const char* path, jnaScalar scalar, int dimensions, const size_t* shape, jnaFile* file, jnError* error);
