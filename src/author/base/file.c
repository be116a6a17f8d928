// Atomic output files. The temporary name carries the process id, so that two runs never share one.
#include "base/file.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ATTEMPTS = 1000 };

static void Release(jnaFile* file)
{
    free(file->path);
    free(file->temporaryPath);
    *file = (jnaFile){0};
}

// Only a file may be replaced. A symbolic link to one is replaced itself: in a folder from elsewhere it may point
// anywhere. One to anything else is refused: /dev/stdout is such a link, and the superuser could replace it.
static jnResult ResolveTarget(const char* path, char** target, jnError* error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return jnFail(error, jn_ioFailed, "%s: cannot write: it is not a file", path);
    }
    *target = strdup(path);
    return *target != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
}

jnResult jnaCreateFile(const char* path, jnaFile* file, jnError* error)
{
    *file = (jnaFile){0};
    JN_PASS(ResolveTarget(path, &file->path, error));
    size_t length = strlen(file->path) + 32;
    file->temporaryPath = malloc(length);
    if (file->temporaryPath == NULL) {
        Release(file);
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    // The first free name: two files in the making may be meant for the same place.
    int descriptor = -1;
    for (int attempt = 0; descriptor < 0 && attempt < MAX_ATTEMPTS; ++attempt) {
        snprintf(file->temporaryPath, length, "%s.%ld-%d.part", file->path, (long)getpid(), attempt);
        descriptor = open(file->temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) {
            break;
        }
    }
    file->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file->stream == NULL) {
        jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
            unlink(file->temporaryPath);
        }
        Release(file);
        return jn_ioFailed;
    }
    return jn_ok;
}

jnResult jnaFile_Sync(jnaFile* file, jnError* error)
{
    // A write that failed long ago left no reason behind; a full disk is the usual one.
    int reason = ferror(file->stream) != 0 ? ENOSPC : 0;
    if (reason == 0 && (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0)) {
        reason = errno;
    }
    if (reason != 0) {
        jnFail(error, jn_ioFailed, "%s: cannot write: %s", file->path, strerror(reason));
        jnaFile_Abandon(file);
        return jn_ioFailed;
    }
    return jn_ok;
}

jnResult jnaFile_Commit(jnaFile* file, jnError* error)
{
    JN_PASS(jnaFile_Sync(file, error));
    bool failed = fclose(file->stream) != 0;
    file->stream = NULL;
    if (failed || rename(file->temporaryPath, file->path) != 0) {
        jnFail(error, jn_ioFailed, "%s: cannot write: %s", file->path, strerror(errno));
        jnaFile_Abandon(file);
        return jn_ioFailed;
    }
    jnaSyncFolderOf(file->path);
    Release(file);
    return jn_ok;
}

void jnaFile_Abandon(jnaFile* file)
{
    if (file->stream != NULL) {
        fclose(file->stream);
    }
    if (file->temporaryPath != NULL) {
        unlink(file->temporaryPath);
    }
    Release(file);
}

jnResult jnaWriteBytes(const char* path, const void* bytes, size_t size, jnError* error)
{
    jnaFile file;
    JN_PASS(jnaCreateFile(path, &file, error));
    fwrite(bytes, 1, size, file.stream);
    return jnaFile_Commit(&file, error);
}
