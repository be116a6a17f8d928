// A bare model in the viewer: `jounce new` and `jounce build --until modes` into a folder that lives as long as the
// viewer.
#include "base/path.h"
#include "cli.h"
#include "view_parts.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { OPEN_FILES = 16 };

bool jncIsModel(const char* path)
{
    static const char* const endings[] = {".glb", ".gltf", ".fbx", ".dae"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); ++i) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcasecmp(path + length - ending, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

// Verbs take words that they may write to.
static int Run(int (*verb)(int, char**), const char* const* words, int count)
{
    char text[3][JNA_PATH_LENGTH];
    char* given[4] = {0};
    for (int i = 0; i < count; ++i) {
        snprintf(text[i], sizeof(text[i]), "%s", words[i]);
        given[i] = text[i];
    }
    return verb(count, given);
}

int jncMakeModelWorkspace(const char* model, char* folder, char* workspace, size_t size)
{
    const char* temporary = getenv("TMPDIR");
    snprintf(folder, size, "%s/jounce-view-XXXXXX", temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL) {
        jnError error = {jn_ioFailed, "cannot make a folder for the workspace; TMPDIR says where"};
        folder[0] = '\0';
        return jncFail(&error);
    }
    snprintf(workspace, size, "%s/model", folder);
    int code = Run(jncNew, (const char*[]){workspace, "--from", model}, 3);
    return code == JNC_DONE ? Run(jncBuild, (const char*[]){workspace, "--until", "modes"}, 3) : code;
}

static int RemoveOne(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void jncRemoveModelWorkspace(const char* folder)
{
    if (folder[0] != '\0') {
        (void)nftw(folder, RemoveOne, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
    }
}
