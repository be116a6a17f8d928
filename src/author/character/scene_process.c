// The process that runs Assimp, limited in memory and time, and read through a pipe.
//
// However it ends, by itself, by a signal or by our hand, the caller gets a scene or one sentence.
#include "base/child.h"
#include "character/scene.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// More than any character needs, and little enough that a runaway child cannot fill our memory.
#define MAX_STREAM ((size_t)2 << 30)

// In the child. user: the path.
static int WriteScene(int output, void* user)
{
    // What a library prints while it dies is of no use to anyone, and it has nothing to write.
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_FSIZE, &none);
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    FILE* stream = fdopen(output, "wb");
    if (stream == NULL) {
        return 1;
    }
    jnaWriteScene(user, stream);
    return fflush(stream) == 0 && ferror(stream) == 0 ? 0 : 1;
}

static jnResult Explain(
    const char* path, jnaChildEnding ending, int status, const jnaSceneLimits* limits, jnError* error)
{
    switch (ending) {
    case jna_childTooLong:
        return jnFail(error, jn_badData, "%s: took longer than %g s to read and was given up", path, limits->seconds);
    case jna_childTooMuch:
        return jnFail(error, jn_outOfMemory, "%s: holds more than %zu MiB of scene", path, MAX_STREAM >> 20);
    case jna_childNoMemory:
        return jnFail(error, jn_outOfMemory, "%s: out of memory while reading it", path);
    case jna_childStopped:
        return jnaWatch_Stopped(error);
    case jna_childLost:
        return jnFail(error, jn_ioFailed, "%s: the process that reads it cannot be heard", path);
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
    char* name = strdup(path);
    if (name == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory while reading it", path);
    }
    const jnaChildDef def = {.run = WriteScene,
        .user = name,
        .seconds = limits->seconds,
        .memory = limits->memory,
        .sharesMemory = true,
        .mostOutput = MAX_STREAM,
        .watch = limits->watch};
    jnaChildOutcome child;
    jnError reason = {0};
    result = jnaRunChild(&def, &child, &reason);
    free(name);
    if (result != jn_ok) {
        return jnFail(error, result, "%s: %s", path, reason.message);
    }
    if (child.ending != jna_childEnded || !WIFEXITED(child.status) || WEXITSTATUS(child.status) != 0) {
        free(child.output);
        return Explain(path, child.ending, child.status, limits, error);
    }
    return jnaParseScene(path, child.output, child.outputSize, scene, error);
}
