// The process that runs Assimp: forked, limited in memory, processor and wall-clock time, and read through a
// pipe.
//
// However it ends, by itself, by a signal or by our hand, the caller gets a scene or one sentence. Under the
// address sanitizer the memory limit is left off, because the sanitizer itself reserves terabytes of
// addresses.
#include "internal.h"
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// More than any character needs, and little enough that a runaway child cannot fill our memory.
static const size_t maxStream = (size_t)2 << 30;

static double Now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void Limit(unsigned resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    (void)setrlimit(resource, &limit);
}

static void LimitChild(const jnaSceneLimits* limits)
{
    Limit(RLIMIT_CORE, 0);
    Limit(RLIMIT_FSIZE, 0);
    Limit(RLIMIT_CPU, (rlim_t)limits->seconds + 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // On top of what this process has mapped already, which the child inherits.
    unsigned long pages = 0;
    FILE* status = fopen("/proc/self/statm", "r");
    if (status != NULL) {
        if (fscanf(status, "%lu", &pages) != 1) {
            pages = 0;
        }
        fclose(status);
    }
    Limit(RLIMIT_AS, (rlim_t)limits->memory + (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE));
#endif
}

static _Noreturn void RunChild(const char* path, const jnaSceneLimits* limits, int output)
{
    // What a library prints while it dies is of no use to anyone.
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    // The parent's own handlers, a sanitizer's or a debugger's, would only slow a crash down.
    const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE, SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i) {
        signal(signals[i], SIG_DFL);
    }
    LimitChild(limits);
    FILE* stream = fdopen(output, "wb");
    if (stream == NULL) {
        _exit(1);
    }
    jnaWriteScene(path, stream);
    _exit(fflush(stream) == 0 && ferror(stream) == 0 ? 0 : 1);
}

typedef struct Stream {
    char* bytes;
    size_t size, capacity;
} Stream;

typedef enum Ending {
    readAll,
    readTooLong,
    readTooMuch,
    readNoMemory,
    readFailed,
} Ending;

// Reads until the child closes its end or a limit is reached.
static Ending ReadAll(int input, double seconds, Stream* stream)
{
    double end = Now() + seconds;
    for (;;) {
        double left = end - Now();
        struct pollfd wait = {input, POLLIN, 0};
        int ready = left > 0 ? poll(&wait, 1, (int)fmin(left * 1000 + 1, 1e9)) : 0;
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            return ready == 0 ? readTooLong : readFailed;
        }
        if (stream->capacity - stream->size < 65536) {
            size_t capacity = stream->capacity == 0 ? (size_t)1 << 20 : 2 * stream->capacity;
            char* bytes = realloc(stream->bytes, capacity);
            if (bytes == NULL) {
                return readNoMemory;
            }
            stream->bytes = bytes;
            stream->capacity = capacity;
        }
        ssize_t count = read(input, stream->bytes + stream->size, stream->capacity - stream->size);
        if (count < 0 && errno != EINTR && errno != EAGAIN) {
            return readFailed;
        }
        if (count == 0) {
            return readAll;
        }
        stream->size += count > 0 ? (size_t)count : 0;
        if (stream->size > maxStream) {
            return readTooMuch;
        }
    }
}

static jnResult Explain(const char* path, Ending ending, int status, const jnaSceneLimits* limits, jnError* error)
{
    switch (ending) {
    case readTooLong:
        return jnFail(error, jn_badData, "%s: took longer than %g s to read and was given up", path, limits->seconds);
    case readTooMuch:
        return jnFail(error, jn_outOfMemory, "%s: holds more than %zu MiB of scene", path, maxStream >> 20);
    case readNoMemory:
        return jnFail(error, jn_outOfMemory, "%s: out of memory while reading it", path);
    case readFailed:
        return jnFail(error, jn_ioFailed, "%s: the process that reads it cannot be heard", path);
    case readAll:
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
    static const char* const endings[] = {".glb", ".gltf", ".fbx", ".dae", ".zae"};
    bool known = false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); ++i) {
        known = known || jnaHasEnding(path, endings[i]);
    }
    if (!known) {
        return jnFail(error, jn_badData, "%s: is not a .glb, .gltf, .fbx or .dae file", path);
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    off_t size = lseek(file, 0, SEEK_END);
    close(file);
    return size == 0 ? jnFail(error, jn_badData, "%s: is empty", path) : jn_ok;
}

jnResult jnaReadScene(const char* path, const jnaSceneLimits* limits, jnaScene* scene, jnError* error)
{
    *scene = (jnaScene){0};
    jnResult result = CheckPath(path, error);
    if (result != jn_ok) {
        return result;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot make a pipe: %s", path, strerror(errno));
    }
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return jnFail(error, jn_ioFailed, "%s: cannot start a process: %s", path, strerror(errno));
    }
    if (child == 0) {
        close(ends[0]);
        RunChild(path, limits, ends[1]);
    }
    close(ends[1]);
    Stream stream = {0};
    Ending ending = ReadAll(ends[0], limits->seconds, &stream);
    close(ends[0]);
    if (ending != readAll) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (ending != readAll || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        free(stream.bytes);
        return Explain(path, ending, status, limits, error);
    }
    return jnaParseScene(path, stream.bytes, stream.size, scene, error);
}
