// The bytes of a fuzzer as files that are in memory alone, for readers that take a path: no call of the system per
// input. The readers' doors to the disk (jnaMapFile, jnaCreateFile, jnaOpenInput, jnaReadJson, fopen, access) find
// these files first; fuzz.cmake wraps the two of the C library. A reader that goes past the end of a file is found by
// AddressSanitizer, or, in the build without it, by a page behind the file that may not be read.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_FILE_BYTES = 1 << 20 }; // of one file; what fuzz.sh lets libFuzzer make is shorter

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerInitialize(int* argc, char*** argv);

// Copies the bytes to the file of this name, which is made at the first call. Returns `path`.
const char* PutFile(const char* path, const void* data, size_t size);

// The bytes of a file, NULL where there is none. Good until the next PutFile of that name.
const void* GetFile(const char* path, size_t* size);
