// What the tests share: cmocka in the right order, and comparisons of real numbers with a readable failure.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Fails unless |actual - expected| <= tolerance; NaN fails.
#define ASSERT_NEAR(actual, expected, tolerance)                                                                       \
    do {                                                                                                               \
        double a_ = (double)(actual), e_ = (double)(expected), t_ = (double)(tolerance);                               \
        if (!(fabs(a_ - e_) <= t_)) {                                                                                  \
            fail_msg("%s is %.9g, expected %.9g within %.3g (off by %.3g)", #actual, a_, e_, t_, fabs(a_ - e_));       \
        }                                                                                                              \
    } while (0)

// Fails unless value <= limit; NaN fails.
#define ASSERT_AT_MOST(value, limit)                                                                                   \
    do {                                                                                                               \
        double v_ = (double)(value), l_ = (double)(limit);                                                             \
        if (!(v_ <= l_)) {                                                                                             \
            fail_msg("%s is %.6g, more than %.6g", #value, v_, l_);                                                    \
        }                                                                                                              \
    } while (0)

// Skips, under the sanitizers, a long case that is about numbers: what it runs, other cases of its file run as well.
static inline void NeedsNoSanitizer(void)
{
#ifdef JN_SANITIZED
    print_message("skipped: nothing new for the sanitizers\n");
    skip();
#endif
}

// A small, fast, seeded generator: the same numbers on every machine.
typedef struct Random {
    uint64_t state;
} Random;

static inline uint64_t NextBits(Random* random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform in [low, high).
static inline double Uniform(Random* random, double low, double high)
{
    return low + (high - low) * (double)(NextBits(random) >> 11) * 0x1p-53;
}
