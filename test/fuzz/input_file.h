// The bytes of a fuzzer as a file, for readers that take a path. In memory where the system has a place for that.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerInitialize(int* argc, char*** argv);

// A folder of this process alone, made at the first call.
static inline const char* FuzzFolder(void)
{
    static char folder[64];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof(folder), "%s/jounce-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (mkdtemp(folder) == NULL) {
            abort();
        }
    }
    return folder;
}

static inline void WriteBytes(const char* path, const void* data, size_t size)
{
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        abort();
    }
}

// Writes the bytes to a file with this ending; returns its path, good until the next call.
static inline const char* WriteInput(const char* ending, const uint8_t* data, size_t size)
{
    static char path[96];
    snprintf(path, sizeof(path), "%s/input%s", FuzzFolder(), ending);
    WriteBytes(path, data, size);
    return path;
}
