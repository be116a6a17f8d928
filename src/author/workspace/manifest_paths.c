// Files that a manifest names, relative to the workspace; see manifest.h.
//
// A workspace and its sources are often moved or copied together. Names that begin at the workspace then still hold; a
// source that is far away stays absolute.
#include "workspace/manifest.h"

#include "base/path.h"
#include "base/try.h"
#include "character/source.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Where a folder is or will be, without links.
static jnResult Locate(const char* folder, char* place, jnError* error)
{
    char parent[JNA_PATH_LENGTH], real[PATH_MAX];
    const char* slash = strrchr(folder, '/');
    int length = slash == NULL ? 1 : slash == folder ? 1 : (int)(slash - folder);
    snprintf(parent, sizeof(parent), "%.*s", length, slash == NULL ? "." : folder);
    if (realpath(parent, real) == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", folder, strerror(errno));
    }
    return jnaJoinPath(real, slash == NULL ? folder : slash + 1, place, error);
}

static jnResult Relate(const char* folder, char** file, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    if (*file == NULL || (*file)[0] != '/' || jnaIsFigure(*file)) {
        return jn_ok;
    }
    JN_PASS(jnaRelativePath(folder, *file, path, error));
    char* copy = strdup(path);
    if (copy == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the manifest");
    }
    free(*file);
    *file = copy;
    return jn_ok;
}

jnResult jnaManifest_Relate(jnaManifest* m, const char* workspace, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    JN_PASS(Locate(workspace, folder, error));
    JN_PASS(Relate(folder, &m->character, error));
    for (int i = 0; i < m->partCount; ++i) {
        JN_PASS(Relate(folder, &m->parts[i].source, error));
    }
    for (int i = 0; i < m->clipCount; ++i) {
        JN_PASS(Relate(folder, &m->clips[i].source, error));
        JN_PASS(Relate(folder, &m->clips[i].motion, error));
        JN_PASS(Relate(folder, &m->clips[i].shapes, error));
    }
    return jn_ok;
}
