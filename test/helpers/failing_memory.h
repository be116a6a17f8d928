// malloc that fails on demand, for tests that let every allocation fail once. Include it in one file of a program.
// Under the sanitizers, which own malloc themselves, nothing fails and a group of such tests is skipped.
#pragma once

#include "helpers/support.h"
#include "jounce/base.h"

#include <errno.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

// Allocations left until the one that fails; negative: none fails.
static long countdown = -1;
// Only allocations of this program and the libraries linked into it count.
static bool onlyOurs __attribute__((unused));

#ifdef JN_SANITIZED

static inline void NeedFailures(void)
{
    print_message("skipped: the sanitizer owns malloc\n");
    skip();
}

#else

extern const char __executable_start, etext;

static bool Fails(const void* caller)
{
    bool ours = (const char*)caller >= &__executable_start && (const char*)caller < &etext;
    if (countdown < 0 || (onlyOurs && !ours)) {
        return false;
    }
    if (countdown == 0) {
        countdown = -1;
        errno = ENOMEM;
        return true;
    }
    countdown--;
    return false;
}

void* malloc(size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return Fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

static inline void NeedFailures(void)
{
}

#endif

// Runs `call` with its first, second, ... allocation failing until it gets through without meeting the
// failure.
static inline void FailEach(jnResult (*call)(jnError*), int least)
{
    int failures = 0;
    NeedFailures();
    for (long k = 0;; ++k) {
        assert_true(k < 20000);
        jnError error = {0};
        countdown = k;
        jnResult result = call(&error);
        bool met = countdown < 0;
        countdown = -1;
        if (!met) {
            assert_int_equal(result, jn_ok);
            break;
        }
        // A note that could not be added is no failure; anything else says what went wrong.
        if (result != jn_ok) {
            assert_int_not_equal(strlen(error.message), 0);
            failures++;
        }
    }
    print_message("%d failures met\n", failures);
    assert_true(failures >= least);
}
