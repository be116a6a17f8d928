// JSON files; see json.h.
#include "base/json.h"

#include "base/file.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

jnResult jnaLoadJson(const char* folder, const char* name, json_t** root, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnResult result = jnaJoinPath(folder, name, path, error);
    if (result != jn_ok) {
        return result;
    }
    json_error_t problem;
    if (access(path, R_OK) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (*root == NULL) {
        return jnFail(error, jn_badData, "%s:%d: is damaged: %s", path, problem.line, problem.text);
    }
    if (json_integer_value(json_object_get(*root, "format")) != 1) {
        json_decref(*root);
        *root = NULL;
        return jnFail(error, jn_badData, "%s: format is not 1; import the character again", path);
    }
    return jn_ok;
}

jnResult jnaSaveJson(const char* folder, const char* name, const json_t* root, int digits, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaFile file;
    JN_PASS(jnaJoinPath(folder, name, path, error));
    JN_PASS(jnaCreateFile(path, &file, error));
    bool good = json_dumpf(root, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION((size_t)digits)) == 0;
    fputc('\n', file.stream);
    if (!good) {
        jnaFile_Abandon(&file);
        return jnFail(error, jn_ioFailed, "%s: cannot write", path);
    }
    return jnaFile_Commit(&file, error);
}
