// Content hashes: they find changes, not forgeries.
#pragma once

#include "jounce/base.h"

/// 64-bit FNV-1a of a few bytes. hash: that of what came before; 0: nothing did. Long jobs keep their keys by it: with
/// another function what was simulated would count as out of date.
uint64_t jnaHash(const void* bytes, size_t size, uint64_t hash);

/// 64-bit XXH3 of a file's contents: eleven times as fast.
jnResult jnaHashFile(const char* path, uint64_t* hash, jnError* error);
