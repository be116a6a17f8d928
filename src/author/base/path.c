// Names of files; see path.h.
#include "base/path.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error)
{
    int length = name[0] == '/' ? snprintf(path, JNA_PATH_LENGTH, "%s", name)
                                : snprintf(path, JNA_PATH_LENGTH, "%s/%s", folder, name);
    return length < JNA_PATH_LENGTH ? jn_ok : jnFail(error, jn_badArgument, "%.200s...: the path is too long", name);
}

bool jnaFileIsThere(const char* folder, const char* name)
{
    char path[JNA_PATH_LENGTH];
    return jnaJoinPath(folder, name, path, NULL) == jn_ok && access(path, R_OK) == 0;
}

bool jnaIsPlainName(const char* name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return name[0] != '\0' && name[0] != '.' && strspn(name, letters) == strlen(name);
}
