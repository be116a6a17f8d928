// What a target may take for an input: memory and processor time, each a fixed part and a part for each byte.
// fuzz.cmake gives every target the name below in the place of libFuzzer's; this file calls it and looks at what it
// took.
//
// Memory is counted by AddressSanitizer's hooks: the most that is held at a time, beyond what was held before. Time is
// the thread's own, so that a busy machine is not taken for a slow reader; it is looked at twice before it counts,
// since the first input of a kind also fills caches. JOUNCE_FUZZ_BOUNDS=1 prints the most that was seen at the end.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int TargetOneInput(const uint8_t* data, size_t size);

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define COUNTS_MEMORY 1
#else
#define COUNTS_MEMORY 0
#endif

typedef struct Bound {
    const char* target;
    double bytes, bytesEach;     // of memory
    double seconds, secondsEach; // of processor time, in the build with AddressSanitizer
} Bound;

// Ten to a hundred times what is seen; SECURITY.md has the sentence. Snapshots and calls play characters of a fixed
// size, an asset one that the target keeps to 16 MB.
static const Bound bounds[] = {
    {"asset", 96e6, 400, 2, 1e-4},
    {"snapshot", 4e6, 100, 2, 1e-4},
    {"calls", 8e6, 100, 4, 1e-2},
    {"scene", 64e6, 2000, 2, 1e-3},
    {"gltf", 64e6, 2000, 2, 1e-3},
    {NULL, 16e6, 2000, 1, 1e-3},
};

static long long held, most;
static double mostMemory, mostMemoryEach, mostSeconds, mostSecondsEach;

#if COUNTS_MEMORY
static void Taken(const volatile void* at, size_t size)
{
    (void)size;
    held += (long long)__sanitizer_get_allocated_size((const void*)at);
    most = held > most ? held : most;
}

static void Given(const volatile void* at)
{
    if (at != NULL) {
        held -= (long long)__sanitizer_get_allocated_size((const void*)at);
    }
}
#endif

static void Print(void)
{
    fprintf(stderr, "bounds: memory %.0f bytes, %.0f a byte of input beyond 4 kB; %.4f s, %.2g a byte\n", mostMemory,
        mostMemoryEach, mostSeconds, mostSecondsEach);
}

static const Bound* Begin(void)
{
    static const Bound* bound;
    if (bound == NULL) {
        for (bound = bounds; bound->target != NULL && strcmp(bound->target, FUZZ_TARGET) != 0;) {
            bound++;
        }
#if COUNTS_MEMORY
        (void)__sanitizer_install_malloc_and_free_hooks(Taken, Given);
#endif
        if (getenv("JOUNCE_FUZZ_BOUNDS") != NULL) {
            atexit(Print);
        }
    }
    return bound;
}

static double Seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double Run(const uint8_t* data, size_t size)
{
    held = most = 0;
    double started = Seconds();
    (void)TargetOneInput(data, size);
    return Seconds() - started;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const Bound* bound = Begin();
    double seconds = Run(data, size), allowed = bound->seconds + bound->secondsEach * (double)size;
    if (seconds > allowed) {
        seconds = Run(data, size);
    }
    double memory = (double)most;
    mostMemory = memory > mostMemory ? memory : mostMemory;
    mostSeconds = seconds > mostSeconds ? seconds : mostSeconds;
    if (size > 4096) {
        mostMemoryEach = memory / (double)size > mostMemoryEach ? memory / (double)size : mostMemoryEach;
        mostSecondsEach = seconds / (double)size > mostSecondsEach ? seconds / (double)size : mostSecondsEach;
    }
    if (seconds > allowed || memory > bound->bytes + bound->bytesEach * (double)size) {
        fprintf(stderr, "ERROR: beyond the bound of this target: %zu bytes took %.0f bytes and %.3f s\n", size, memory,
            seconds);
        abort();
    }
    return 0;
}
