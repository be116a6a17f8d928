// JSON files; see json.h.
#include "base/json.h"

#include "base/file.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

jnResult jnaLoadJson(const char* folder, const char* name, json_t** root, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    json_error_t problem;
    JN_PASS(jnaJoinPath(folder, name, path, error));
    if (access(path, R_OK) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    json_t* read = jnaReadJson(path, JSON_REJECT_DUPLICATES, &problem);
    if (read == NULL) {
        return jnFail(error, jn_badData, "%s:%d: is damaged: %s", path, problem.line, problem.text);
    }
    if (json_integer_value(json_object_get(read, "format")) != 1) {
        json_decref(read);
        return jnFail(error, jn_badData, "%s: format is not 1; import the character again", path);
    }
    *root = read;
    return jn_ok;
}

jnResult jnaSaveJson(const char* folder, const char* name, json_t* root, int digits, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaFile file = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaJoinPath(folder, name, path, error));
    JN_TRY(root != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path));
    JN_TRY(jnaCreateFile(path, &file, error));
    if (json_dumpf(root, file.stream, JSON_INDENT(1) | JSON_REAL_PRECISION((size_t)digits)) != 0) {
        JN_TRY(jnFail(error, jn_ioFailed, "%s: cannot write", path));
    }
    fputc('\n', file.stream);
    JN_TRY(jnaFile_Commit(&file, error));
done:
    jnaFile_Abandon(&file);
    json_decref(root);
    return result;
}
