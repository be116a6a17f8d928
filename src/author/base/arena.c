// Every piece is a block of its own, so that sanitizers see a step beyond its end and a test can let each one fail.
#include "base/arena.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// A list is no longer than this: sixteen times as many bytes, or components, still count in an int.
enum { ALIGNMENT = 64, MOST_THINGS = INT32_MAX / 16 };

struct jnaArenaBlock {
    _Alignas(ALIGNMENT) struct jnaArenaBlock* before;
};

void* jnaArena_Take(jnaArena* arena, int64_t count, size_t size)
{
    const size_t header = sizeof(struct jnaArenaBlock);
    size_t most = (SIZE_MAX / 2 - header - ALIGNMENT) / (size > 0 ? size : 1);
    bool fits = count >= 0 && (uint64_t)count <= most;
    size_t bytes = fits ? header + ((size_t)count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT : 0;
    struct jnaArenaBlock* block = fits && !arena->failed ? aligned_alloc(ALIGNMENT, bytes) : NULL;
    if (block == NULL) {
        arena->failed = true;
        return NULL;
    }
    memset(block, 0, bytes);
    block->before = arena->last;
    arena->last = block;
    return (char*)block + header;
}

void* jnaArena_Give(jnaArena* arena, int64_t count, size_t size)
{
    bool fits = count >= 0 && size > 0 && (uint64_t)count < SIZE_MAX / size;
    void* memory = fits && !arena->failed ? calloc((size_t)count + 1, size) : NULL;
    arena->failed = memory == NULL;
    return memory;
}

jnResult jnaArena_Check(const jnaArena* arena, const char* what, jnError* error)
{
    return arena->failed ? jnFail(error, jn_outOfMemory, "out of memory for %s", what) : jn_ok;
}

void jnaReleaseArena(jnaArena* arena)
{
    while (arena->last != NULL) {
        struct jnaArenaBlock* block = arena->last;
        arena->last = block->before;
        free(block);
    }
    arena->failed = false;
}

bool jnaResize(void* list, int64_t count, size_t size)
{
    void* before;
    memcpy(&before, list, sizeof(before)); // a pointer of any type
    bool fits = count >= 0 && (uint64_t)count < SIZE_MAX / 2 / size;
    void* after = fits ? realloc(before, (size_t)count * size + 1) : NULL;
    if (after != NULL) {
        memcpy(list, &after, sizeof(after));
    }
    return after != NULL;
}

bool jnaReserve(void* list, int* capacity, int needed, size_t size)
{
    if (needed <= *capacity) {
        return true;
    }
    int64_t larger = 2 * (int64_t)*capacity > needed ? 2 * (int64_t)*capacity : (int64_t)needed + 64;
    if (larger > MOST_THINGS || !jnaResize(list, larger, size)) {
        return false;
    }
    *capacity = (int)larger;
    return true;
}
