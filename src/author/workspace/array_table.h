// A struct of arrays in a folder: which file holds which field, and what it looks like.
#pragma once

#include "base/npy.h"

/// One array of such a struct.
typedef struct jnaTableEntry {
    const char* name; // of its file
    jnaScalar scalar;
    int dimensions;
    size_t shape[JNA_MAX_DIMENSIONS];
    void** data;   // the field
    bool optional; // it may be NULL and have no file
} jnaTableEntry;

/// Writes the arrays, and removes the files of those that are NULL.
jnResult jnaSaveTable(const char* folder, const jnaTableEntry* entries, int count, jnError* error);

/// Where the counts of a table come from, for the sentence of a file that does not fit.
typedef struct jnaTableSource {
    const char* json;    // "volume.json"
    const char* command; // that makes both, "jounce tetrahedralize"
} jnaTableSource;

/// Reads the arrays, each checked: its type, its shape, numbers that are finite. A field that has memory is filled, one
/// that is NULL gets some from the heap, the caller's to free, also where another array fails.
jnResult jnaLoadTable(
    const char* folder, const jnaTableEntry* entries, int count, jnaTableSource source, jnError* error);
