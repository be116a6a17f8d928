// Timing for the benchmarks: warm-up, then rounds that take every contender in turn, so that a busy machine
// slows all alike.
#pragma once

#include "jounce/base.h"

#include <stddef.h>

enum { JNB_MAX_ROUNDS = 400 };

/// One thing to be timed, and what came out.
typedef struct jnbContender {
    const char* name;
    void (*run)(void* user);
    void* user;
    double times[JNB_MAX_ROUNDS]; // seconds of each round, sorted
    double min, median;           // seconds
} jnbContender;

/// Times all contenders for about `seconds` in all, at least 10 rounds each.
void jnbRace(jnbContender* contenders, int count, double seconds);

/// memcpy that moves `bytes` in all, read and written together: user is a jnbCopy.
typedef struct jnbCopy {
    char* from;
    char* to;
    size_t bytes;
} jnbCopy;
void jnbRunCopy(void* user);
