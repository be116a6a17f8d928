// Atomic output files. The temporary name carries the process id, so that two runs never share one.
#include "jounce-author/file.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void Release(jnaFile* file)
{
    free(file->path);
    free(file->temporaryPath);
    *file = (jnaFile){0};
}

jnResult jnaCreateFile(const char* path, jnaFile* file, jnError* error)
{
    *file = (jnaFile){0};
    size_t length = strlen(path) + 32;
    file->path = strdup(path);
    file->temporaryPath = malloc(length);
    if (file->path == NULL || file->temporaryPath == NULL) {
        Release(file);
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    snprintf(file->temporaryPath, length, "%s.%ld.part", path, (long)getpid());
    file->stream = fopen(file->temporaryPath, "wb");
    if (file->stream == NULL) {
        jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(errno));
        Release(file);
        return jn_ioFailed;
    }
    return jn_ok;
}

// A rename is only safe on disk once the folder that holds the name is synced too.
static void SyncFolder(const char* path)
{
    char* folder = strdup(path);
    if (folder == NULL) {
        return;
    }
    char* slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    int descriptor = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

jnResult jnaFile_Commit(jnaFile* file, jnError* error)
{
    // A pipe or a device cannot be synced (EINVAL); everything else must be.
    bool failed = ferror(file->stream) != 0 || fflush(file->stream) != 0;
    failed = failed || (fsync(fileno(file->stream)) != 0 && errno != EINVAL);
    int reason = errno;
    failed = (fclose(file->stream) != 0) || failed;
    file->stream = NULL;
    if (!failed && rename(file->temporaryPath, file->path) != 0) {
        reason = errno;
        failed = true;
    }
    if (failed) {
        jnFail(error, jn_ioFailed, "%s: cannot write: %s", file->path, strerror(reason));
        jnaFile_Abandon(file);
        return jn_ioFailed;
    }
    SyncFolder(file->path);
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
