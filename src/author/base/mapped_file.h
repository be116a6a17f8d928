// A whole file as read-only bytes, mapped into memory.
#pragma once

#include "jounce/base.h"

typedef struct jnaMappedFile {
    const unsigned char* bytes; // [size]; NULL where the file is empty
    size_t size;
} jnaMappedFile;

/// Maps a regular file. Fails with jn_ioFailed and the reason of the system.
jnResult jnaMapFile(const char* path, jnaMappedFile* file, jnError* error);
void jnaUnmapFile(jnaMappedFile* file);

/// A whole number of up to 8 bytes, the least first.
static inline uint64_t jnaLoadLittle(const unsigned char* bytes, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; --i) {
        value = value << 8 | bytes[i];
    }
    return value;
}
