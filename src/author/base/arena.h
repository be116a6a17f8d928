// Scratch memory that is released together: many allocations, one check, one release; and lists that grow.
#pragma once

#include "jounce/base.h"

/// All zeroes: empty. Not to be copied while it holds memory.
typedef struct jnaArena {
    struct jnaArenaBlock* last;
    bool failed; // some allocation was not given; those after it are refused too
} jnaArena;

/// Zeroed memory for `count` things, never of size 0, aligned for any vector (64 bytes). NULL where there is none or
/// the size does not fit: then jnaArena_Check fails.
void* jnaArena_Take(jnaArena* arena, int64_t count, size_t size);

/// Zeroed memory that outlives the arena: from the heap, the caller's to free. NULL counts for jnaArena_Check as above.
void* jnaArena_Give(jnaArena* arena, int64_t count, size_t size);

/// jn_outOfMemory, "out of memory for WHAT", if anything that was asked for is missing. error: may be NULL.
jnResult jnaArena_Check(const jnaArena* arena, const char* what, jnError* error);

/// Releases all of it; the arena is empty again. Harmless on an empty one.
void jnaReleaseArena(jnaArena* arena);

/// Resizes a list on the heap. list: the address of the pointer to it. False where memory is short: it is as it was.
bool jnaResize(void* list, int64_t count, size_t size);

/// Grows a list to hold `needed` things, doubling. As jnaResize.
bool jnaReserve(void* list, int* capacity, int needed, size_t size);
