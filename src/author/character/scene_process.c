// The process that reads a file from elsewhere, with Assimp or by our own readers: confined to the file and its folder
// (base/sandbox.h), limited in memory and time by the size of the file, and read through a pipe.
//
// However it ends, by itself, by a signal or by our hand, the caller gets a scene or one sentence.
#include "base/child.h"
#include "base/input.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "character/scene.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// More than any character needs, and little enough that a runaway child cannot fill our memory.
#define MAX_STREAM ((size_t)2 << 30)

// Of a scene, by the size of its file: a compressed mesh unfolds to 30 times its size.
#define LEAST_STREAM 67108864.0
#define STREAM_A_BYTE 200.0

// What a file may take of memory and time: a good deal more than the largest models that were tried.
#define LEAST_SECONDS 20.0
#define SECONDS_A_MEGABYTE 4.0
#define MOST_SECONDS 120.0
static const size_t LEAST_MEMORY = (size_t)512 << 20, MEMORY_A_BYTE = 200, MOST_MEMORY = (size_t)4 << 30;

// Of the child.
typedef struct Reading {
    char* path;
    jnaWriteReading* write;
    void* user;
} Reading;

static void WriteScene(const char* path, FILE* stream, void* user)
{
    (void)user;
    jnaWriteScene(path, stream);
}

// In the child. user: a Reading.
static int WriteReading(int output, void* user)
{
    const Reading* reading = user;
    // What a library prints while it dies is of no use to anyone, and it has nothing to write.
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_FSIZE, &none);
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    FILE* stream = fdopen(output, "wb");
    if (stream == NULL) {
        return 1;
    }
    reading->write(reading->path, stream, reading->user);
    return fflush(stream) == 0 && ferror(stream) == 0 ? 0 : 1;
}

static jnResult Explain(
    const char* path, jnaChildEnding ending, int status, const jnaSceneLimits* limits, jnError* error)
{
    switch (ending) {
    case jna_childTooLong:
        return jnFail(error, jn_badData, "%s: took longer than %g s to read and was given up", path, limits->seconds);
    case jna_childTooMuch:
        return jnFail(error, jn_outOfMemory, "%s: holds more than it can by its size", path);
    case jna_childNoMemory:
        return jnFail(error, jn_outOfMemory, "%s: out of memory while reading it", path);
    case jna_childStopped:
        return jnaWatch_Stopped(error);
    case jna_childLost:
        return jnFail(error, jn_ioFailed, "%s: the process that reads it cannot be heard", path);
    case jna_childOpen:
        return jnFail(error, jn_ioFailed,
            "%s: was not read: this system cannot confine the process that reads it (seccomp and Landlock), and "
            "--require-sandbox asks for that",
            path);
    case jna_childEnded:
        break;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        return jnFail(error, jn_badData, "%s: took longer than %g s to read and was given up", path, limits->seconds);
    }
    if (WIFSIGNALED(status)) {
        return jnFail(error, jn_badData,
            "%s: is damaged, or needs more than %zu MiB to read: the importer crashed on it (%s)", path,
            limits->memory >> 20, strsignal(WTERMSIG(status)));
    }
    return jnFail(error, jn_badData, "%s: could not be read", path);
}

static jnResult CheckPath(const char* path, jnError* error)
{
    static const char* const endings[] = {".glb", ".gltf", ".vrm", ".fbx", ".dae", ".zae"};
    bool known = false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); ++i) {
        known = known || jnaHasEnding(path, endings[i]);
    }
    if (!known) {
        return jnFail(error, jn_badData, "%s: is not a .glb, .gltf, .fbx or .dae file", path);
    }
    int file = jnaOpenDescriptor(path, error);
    if (file < 0) {
        return jn_ioFailed;
    }
    off_t size = lseek(file, 0, SEEK_END);
    close(file);
    return size == 0 ? jnFail(error, jn_badData, "%s: is empty", path) : jn_ok;
}

// Limits that are not given, by the size of the file.
static jnaSceneLimits LimitsOf(const jnaSceneLimits* given, size_t size)
{
    jnaSceneLimits limits = *given;
    double seconds = LEAST_SECONDS + SECONDS_A_MEGABYTE * 1e-6 * (double)size;
    if (limits.seconds <= 0) {
        limits.seconds = seconds < MOST_SECONDS ? seconds : MOST_SECONDS;
    }
    if (limits.memory == 0) {
        bool large = size > (MOST_MEMORY - LEAST_MEMORY) / MEMORY_A_BYTE;
        limits.memory = large ? MOST_MEMORY : LEAST_MEMORY + MEMORY_A_BYTE * size;
    }
    return limits;
}

// Tells once that files are read without the walls that they should be read in.
static void NoteSandbox(jnaNotes* notes, jnaSandbox sandbox)
{
    static const char begin[] = "the process that reads files from elsewhere is not fully confined on this system: ";
    const char* missing = jnaSandbox_Missing(sandbox);
    bool told = notes == NULL || missing == NULL;
    for (int i = 0; !told && i < notes->count; ++i) {
        told = strncmp(notes->lines[i], begin, sizeof(begin) - 1) == 0;
    }
    if (!told) {
        jnaNotes_Add(notes, "%s%s (--require-sandbox refuses that)", begin, missing);
    }
}

jnResult jnaReadInChild(const jnaReadingDef* read, char** output, size_t* size, jnError* error)
{
    struct stat status;
    jnError reason = {0};
    jnaChildOutcome child = {0};
    jnResult result = jn_ok;
    Reading reading = {strdup(read->path), read->write, read->user};
    *output = NULL;
    if (stat(read->path, &status) != 0) {
        result = jnFail(error, jn_ioFailed, "%s: cannot read: %s", read->path, strerror(errno));
        goto done;
    }
    if (reading.path == NULL) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory while reading it", read->path);
        goto done;
    }
    const jnaSceneLimits limits = LimitsOf(&read->limits, (size_t)jnaSizeOfModel(read->path));
    const jnaChildDef def = {.run = WriteReading,
        .user = &reading,
        .file = reading.path,
        .seconds = limits.seconds,
        .memory = limits.memory,
        .sharesMemory = true,
        .mostOutput = read->mostOutput > 0 ? read->mostOutput : MAX_STREAM,
        .watch = limits.watch};
    result = jnaRunChild(&def, &child, &reason);
    if (result != jn_ok) {
        result = jnFail(error, result, "%s: %s", read->path, reason.message);
    } else if (child.ending != jna_childEnded || !WIFEXITED(child.status) || WEXITSTATUS(child.status) != 0) {
        result = Explain(read->path, child.ending, child.status, &limits, error);
    }
    NoteSandbox(limits.notes, child.sandbox);
done:
    free(reading.path);
    if (result != jn_ok) {
        free(child.output);
    } else {
        *output = child.output;
        *size = child.outputSize;
    }
    return result;
}

jnResult jnaReadScene(const char* path, const jnaSceneLimits* limits, jnaScene* scene, jnError* error)
{
    *scene = (jnaScene){0};
    const double most = LEAST_STREAM + STREAM_A_BYTE * jnaSizeOfModel(path);
    const jnaReadingDef read = {path, WriteScene, NULL, *limits, most < (double)MAX_STREAM ? (size_t)most : MAX_STREAM};
    char* stream;
    size_t size;
    JN_PASS(CheckPath(path, error));
    JN_PASS(jnaReadInChild(&read, &stream, &size, error));
    return jnaParseScene(path, stream, size, scene, error);
}
