// Helpers shared by the files of the runtime. Not installed.
#pragma once

#include "jounce/base.h"

// The caller broke a contract. Define JN_ASSERT when building the library to do something else about it.
#ifndef JN_ASSERT
#include <assert.h>
#define JN_ASSERT(condition) assert(condition)
#endif

// Vertices per block: the width of the widest vector register in floats. Every array of the runtime is
// padded to whole blocks, so that a kernel never needs a tail loop.
enum { JN_LANES = 16, JN_ALIGNMENT = 64 };

#if defined(__GNUC__)
#define JN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define JN_PRINTF(text, first)
#endif

// Fills the error (NULL allowed) and returns its code, so that a failure is one statement.
jnResult jnFail(jnError* error, jnResult code, const char* format, ...) JN_PRINTF(3, 4);

// 64-byte aligned memory through an allocator; NULL when it has none.
void* jnAllocate(const jnAllocator* allocator, size_t size);
void jnRelease(const jnAllocator* allocator, void* memory);

static inline size_t jnAlignUp(size_t size)
{
    return (size + JN_ALIGNMENT - 1) & ~(size_t)(JN_ALIGNMENT - 1);
}

static inline int jnBlockCount(int count)
{
    return (count + JN_LANES - 1) / JN_LANES;
}
