// Names of files; see path.h.
#include "base/path.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Folders that a relative name climbs at most: what is farther away is elsewhere, and does not move along.
enum { MOST_UPS = 3 };

jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error)
{
    int length = name[0] == '/' ? snprintf(path, JNA_PATH_LENGTH, "%s", name)
                                : snprintf(path, JNA_PATH_LENGTH, "%s/%s", folder, name);
    return length < JNA_PATH_LENGTH ? jn_ok : jnFail(error, jn_badArgument, "%.200s...: the path is too long", name);
}

jnResult jnaRelativePath(const char* folder, const char* file, char* path, jnError* error)
{
    size_t common = 0; // characters up to the last '/' before which both agree
    for (size_t i = 0; folder[i] == file[i] || (folder[i] == '\0' && file[i] == '/'); ++i) {
        common = file[i] == '/' ? i : common;
        if (folder[i] == '\0' || file[i] == '\0') {
            break;
        }
    }
    size_t ups = 0;
    for (const char* at = folder + common; *at != '\0'; ++at) {
        ups += at[0] == '/' && at[1] != '\0' && at[1] != '/';
    }
    const char* rest = file + common + 1;
    if (common == 0 || ups > MOST_UPS) {
        ups = 0;
        rest = file;
    }
    if (3 * ups + strlen(rest) >= JNA_PATH_LENGTH) {
        return jnFail(error, jn_badArgument, "%.200s...: the path is too long", file);
    }
    for (size_t i = 0; i < ups; ++i) {
        memcpy(path + 3 * i, "../", 3);
    }
    strcpy(path + 3 * ups, rest);
    return jn_ok;
}

jnResult jnaMakeFolder(const char* folder, const char* name, char* path, jnError* error)
{
    char own[JNA_PATH_LENGTH];
    path = path != NULL ? path : own;
    JN_PASS(jnaJoinPath(folder, name, path, error));
    if (mkdir(path, 0777) == 0) {
        jnaSyncFolderOf(path);
        return jn_ok;
    }
    return errno == EEXIST ? jn_ok
                           : jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", path, strerror(errno));
}

void jnaSyncFolderOf(const char* path)
{
    const char* slash = strrchr(path, '/');
    char* folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    int descriptor = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

bool jnaFileIsThere(const char* path)
{
    return access(path, F_OK) == 0;
}

bool jnaFolderHas(const char* folder, const char* name)
{
    char path[JNA_PATH_LENGTH];
    return jnaJoinPath(folder, name, path, NULL) == jn_ok && jnaFileIsThere(path);
}

bool jnaIsPlainName(const char* name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return name[0] != '\0' && name[0] != '.' && strspn(name, letters) == strlen(name);
}
