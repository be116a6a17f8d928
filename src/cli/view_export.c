// The viewer as a folder of files that any web server can serve: what `jounce view` would answer, written out.
#include "base/file.h"
#include "base/path.h"
#include "base/try.h"
#include "view_parts.h"

#include "runtime/for_author.h"

#include <stdio.h>
#include <string.h>

// Folders of a path below `folder`, one after the other.
static jnResult MakeFolders(const char* folder, const char* path, jnError* error)
{
    char part[JNA_PATH_LENGTH];
    for (const char* slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        if (slash > path) {
            snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
            JN_PASS(jnaMakeFolder(folder, part, NULL, error));
        }
    }
    return jn_ok;
}

static jnResult WriteDocument(const char* folder, const jnaDocument* document, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    const char* name = document->path + 1; // "/index.html"
    JN_PASS(MakeFolders(folder, name, error));
    JN_PASS(jnaJoinPath(folder, name, path, error));
    jnaFile file;
    JN_PASS(jnaCreateFile(path, &file, error));
    if (fwrite(document->bytes, 1, document->size, file.stream) != document->size) {
        jnaFile_Abandon(&file);
        return jnFail(error, jn_ioFailed, "%s: cannot be written", path);
    }
    return jnaFile_Commit(&file, error);
}

jnResult jncWriteDocuments(const char* folder, const jnaDocument* documents, int count, jnError* error)
{
    JN_PASS(jnaMakeFolder(".", folder, NULL, error));
    for (int i = 0; i < count; ++i) {
        if (strcmp(documents[i].path, "/") != 0) {
            JN_PASS(WriteDocument(folder, &documents[i], error));
        }
    }
    return jn_ok;
}
