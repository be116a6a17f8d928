// Content hashes; see hash.h.
#include "base/hash.h"

#include "base/input.h"

#include "runtime/for_author.h"

#define XXH_INLINE_ALL // its state on the stack, and no library to find at run time
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

uint64_t jnaHash(const void* bytes, size_t size, uint64_t hash)
{
    const unsigned char* at = bytes;
    hash = hash == 0 ? 0xcbf29ce484222325u : hash;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * 0x100000001b3u;
    }
    return hash;
}

jnResult jnaHashFile(const char* path, uint64_t* hash, jnError* error)
{
    FILE* file;
    JN_PASS(jnaOpenInput(path, &file, error));
    unsigned char block[16384];
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t count; (count = fread(block, 1, sizeof(block), file)) > 0;) {
        XXH3_64bits_update(&state, block, count);
    }
    *hash = XXH3_64bits_digest(&state);
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? jnFail(error, jn_ioFailed, "%s: cannot read", path) : jn_ok;
}
