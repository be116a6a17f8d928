// The one buffer of a binary glTF file as it grows, its views and accessors, and the container around it.
#pragma once

#include "base/file.h"

#include <jansson.h>

/// Kinds of components and uses of a view, as glTF numbers them.
enum { JNA_GLB_BYTE = 5120, JNA_GLB_SHORT = 5122, JNA_GLB_UINT8 = 5121, JNA_GLB_UINT16 = 5123 };
enum { JNA_GLB_UINT32 = 5125, JNA_GLB_FLOAT = 5126 };
enum { JNA_GLB_VERTICES = 34962, JNA_GLB_INDICES = 34963 };

/// All zeroes but the two arrays: empty.
typedef struct jnaGlbBuffer {
    json_t *views, *accessors; // JSON arrays that are added to; the document's own
    unsigned char* bytes;      // owned
    size_t size, capacity;
    bool failed; // memory was short
} jnaGlbBuffer;
void jnaDestroyGlbBuffer(jnaGlbBuffer* buffer); // the JSON arrays stay

/// An array in the making.
typedef struct jnaGlbArray {
    const char* type; // "SCALAR", "VEC2", "VEC3", "VEC4" or "MAT4"
    int component;    // JNA_GLB_FLOAT and so on
    size_t count;     // elements
    int use;          // JNA_GLB_VERTICES, JNA_GLB_INDICES or 0
    const void* data; // packed without gaps, elements of a multiple of 4 bytes for JNA_GLB_VERTICES
    size_t stride;    // bytes from element to element where a view has to say so; 0: packed
    bool bounds;      // with min and max; floats alone
    bool normalized;
} jnaGlbArray;

/// Bytes of one component.
size_t jnaGltfComponentSize(int component);

/// Appends bytes at a multiple of 4, with a view of them; returns its index. use, stride: as in jnaGlbArray.
json_int_t jnaGlbBuffer_AddView(jnaGlbBuffer* buffer, const void* data, size_t size, int use, size_t stride);

/// Appends an array with a view and an accessor over it; returns the accessor's index.
json_int_t jnaGlbBuffer_Add(jnaGlbBuffer* buffer, const jnaGlbArray* array);

/// The numbers of an accessor of a type, [count] elements, as floats; NULL, and a count of 0, where they cannot be
/// read. Sparse ones are not. Release with free.
float* jnaGlbBuffer_Read(const jnaGlbBuffer* buffer, json_int_t accessor, const char* type, size_t* count);

/// min and max of an accessor over `count` elements of `width` floats.
void jnaSetGltfBounds(json_t* accessor, const float* data, size_t count, size_t width);

/// Sets the document's only buffer and writes the container. digits: of real numbers, 17 keeps every double.
jnResult jnaWriteGlb(json_t* document, const jnaGlbBuffer* buffer, int digits, jnaFile* file, jnError* error);
