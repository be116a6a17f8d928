// Content hashes: they find changes, not forgeries.
#pragma once

#include "jounce/base.h"

/// 64-bit FNV-1a of bytes, and of a file's contents. hash: that of what came before; 0: nothing did.
uint64_t jnaHash(const void* bytes, size_t size, uint64_t hash);
jnResult jnaHashFile(const char* path, uint64_t* hash, jnError* error);
