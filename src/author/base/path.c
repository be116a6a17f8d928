// Names of files; see path.h.
#include "base/path.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error)
{
    int length = name[0] == '/' ? snprintf(path, JNA_PATH_LENGTH, "%s", name)
                                : snprintf(path, JNA_PATH_LENGTH, "%s/%s", folder, name);
    return length < JNA_PATH_LENGTH ? jn_ok : jnFail(error, jn_badArgument, "%.200s...: the path is too long", name);
}

jnResult jnaMakeFolder(const char* folder, const char* name, char* path, jnError* error)
{
    char own[JNA_PATH_LENGTH];
    path = path != NULL ? path : own;
    JN_PASS(jnaJoinPath(folder, name, path, error));
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? jn_ok
               : jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", path, strerror(errno));
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
