// The built-in figure, made once for a group of tests, and a hash for what must not change.
#pragma once

#include "helpers/support.h"

#include "character/figure.h"

static jnaCharacter figure;

static inline int CreateFigure(void** state)
{
    (void)state;
    jnError error = {0};
    if (jnaCreateFigure(&figure, &error) != jn_ok) {
        print_error("%s\n", error.message);
        return -1;
    }
    return 0;
}

static inline int DestroyFigure(void** state)
{
    (void)state;
    jnaDestroyCharacter(&figure);
    return 0;
}

// FNV-1a.
static inline uint64_t Hash(uint64_t hash, const void* data, size_t size)
{
    const uint8_t* bytes = data;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    }
    return hash;
}
