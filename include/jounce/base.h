// Results, errors, allocation, version: what every part of the runtime shares.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JN_VERSION_MAJOR 0
#define JN_VERSION_MINOR 2
#define JN_VERSION_PATCH 0

// Before the functions that a library shows. On Windows define JN_SHARED where jounce.dll is linked, and JN_BUILDING as
// well where it is built.
#ifndef JN_API
#if defined(_WIN32) && defined(JN_SHARED) && defined(JN_BUILDING)
#define JN_API __declspec(dllexport)
#elif defined(_WIN32) && defined(JN_SHARED)
#define JN_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define JN_API __attribute__((visibility("default")))
#else
#define JN_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a call. Every failure also writes a sentence into jnError.
typedef enum jnResult {
    jn_ok = 0,
    jn_badArgument, // a value the caller passed cannot be used
    jn_badData,     // a file or an array does not hold what it should
    jn_ioFailed,    // the system refused to read or write
    jn_outOfMemory, // the allocator returned NULL, or a limit was reached
    jn_cancelled,   // the caller asked for it
} jnResult;

enum { JN_ERROR_LENGTH = 512 };

/// A failure in words a person can act on. Functions accept NULL where the sentence is not wanted.
typedef struct jnError {
    jnResult code;
    char message[JN_ERROR_LENGTH]; // one sentence, no newline, always terminated
} jnError;

/// Called where a caller breaks a contract of this library: NULL where an object is needed, an index that is out of
/// range, a call that the object cannot answer. `condition` is the contract, as C. Returns 0 to continue, anything else
/// to stop the program there (abort).
typedef int (*jnAssertHandler)(const char* condition, const char* file, int line);

/// What happens where a contract is broken, in all threads; NULL: the default. The default prints one line and stops
/// the program in a build that checks (NDEBUG is not defined, as in CMake's Debug), and continues in others. A handler
/// that is set is called in every build. Where the program continues, the call ends at once: with jn_badArgument and a
/// sentence, or without having done anything, and what it gives is 0, NULL or the rest pose. Call it before other
/// threads run.
JN_API void jnSetAssertHandler(jnAssertHandler handler);

/// Contracts that were broken since the program began, in all threads.
JN_API uint64_t jnMisuseCount(void);

/// Where an object's memory comes from. Blocks are aligned to 64 bytes by the library itself, so any malloc
/// will do. A zeroed struct means malloc and free.
typedef struct jnAllocator {
    void* (*allocate)(size_t size, void* user); // may return NULL
    void (*release)(void* memory, void* user);  // never called with NULL
    void* user;
} jnAllocator;

/// A rigid motion: rotate by the unit quaternion (x, y, z, w), then move.
typedef struct jnTransform {
    float position[3]; // metres
    float rotation[4]; // unit quaternion x, y, z, w
} jnTransform;

/// Which implementation of the hot loops runs. All give the same bytes.
typedef enum jnKernel {
    jn_kernelAuto = 0, // the widest this machine has
    jn_kernelBaseline, // what every machine of the build has: SSE2, NEON, WebAssembly's vectors, or plain C
    jn_kernelAvx2,
    jn_kernelAvx512, // networks and morph weights; springs and surfaces as with AVX2
} jnKernel;

/// True if this build and this machine can run the kernel.
JN_API bool jnKernelAvailable(jnKernel kernel);

/// "auto", "baseline", "avx2", "avx512".
JN_API const char* jnKernelName(jnKernel kernel);

/// The kernel that jn_kernelAuto stands for on this machine.
JN_API jnKernel jnBestKernel(void);

/// "major.minor.patch" of the library that is linked.
JN_API const char* jnVersion(void);

/// The size of one public struct, as the library was compiled.
typedef struct jnTypeSize {
    const char* name;
    size_t size; // bytes
} jnTypeSize;

/// The sizes of all public structs, for bindings from other languages to check theirs before the first call. The last
/// entry has the name NULL.
JN_API const jnTypeSize* jnAbi(void);

#ifdef __cplusplus
}
#endif
