// A folder of files in memory, for the server: read once, so that no request ever opens a file.
#include "view/server.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The built viewer has a dozen files in two folders; a folder given by mistake should not be read to its end.
enum { MAX_FILES = 256, MAX_DEPTH = 4 };
#define MAX_FOLDER_BYTES ((size_t)64 << 20)

static const struct {
    const char* ending;
    const char* type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".wasm", "application/wasm"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".txt", "text/plain; charset=utf-8"},
};

typedef struct Reading {
    jnaFolder* folder;
    size_t bytes; // read so far
    jnError* error;
} Reading;

static const char* TypeOf(const char* name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        size_t ending = strlen(types[i].ending);
        if (length > ending && strcmp(name + length - ending, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

static bool IsPlainName(const char* name)
{
    return name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == strlen(name);
}

static jnResult ReadWhole(Reading* reading, int descriptor, size_t size, const char* path, void** bytes)
{
    char* to = malloc(size + 1);
    size_t done = 0;
    while (to != NULL && done < size) {
        ssize_t part = read(descriptor, to + done, size - done);
        if (part <= 0) {
            free(to);
            return jnFail(reading->error, jn_ioFailed, "%s: cannot read: %s", path,
                part < 0 ? strerror(errno) : "it became shorter");
        }
        done += (size_t)part;
    }
    *bytes = to;
    return to != NULL ? jn_ok : jnFail(reading->error, jn_outOfMemory, "out of memory for %s", path);
}

static jnResult AddFile(Reading* reading, int parent, const char* name, const char* path)
{
    jnaFolder* folder = reading->folder;
    struct stat status;
    int descriptor = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        int reason = descriptor < 0 ? errno : EINVAL;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return jnFail(reading->error, jn_ioFailed, "%s: cannot read: %s", path, strerror(reason));
    }
    size_t size = (size_t)status.st_size;
    void* bytes = NULL;
    bool fits = folder->count + 2 <= MAX_FILES && size <= MAX_FOLDER_BYTES - reading->bytes && strlen(path) < 256;
    jnResult result = fits ? ReadWhole(reading, descriptor, size, path, &bytes)
                           : jnFail(reading->error, jn_badData, "%s: is too much for a viewer", path);
    close(descriptor);
    JN_PASS(result);
    reading->bytes += size;
    jnaDocument* document = &folder->documents[folder->count++];
    *document = (jnaDocument){.type = TypeOf(name), .bytes = bytes, .size = size};
    memcpy(document->path, path, strlen(path) + 1); // it fits, see above
    return jn_ok;
}

// Takes the folder's descriptor over.
static jnResult ReadLevel(Reading* reading, int descriptor, const char* prefix, int depth)
{
    DIR* folder = fdopendir(descriptor);
    jnResult result = jn_ok;
    if (folder == NULL) {
        close(descriptor);
        return jnFail(reading->error, jn_ioFailed, "cannot read the viewer's folder: %s", strerror(errno));
    }
    for (struct dirent* entry; result == jn_ok && (entry = readdir(folder)) != NULL;) {
        char path[512];
        struct stat status;
        int length = snprintf(path, sizeof(path), "%s/%s", prefix, entry->d_name);
        if (!IsPlainName(entry->d_name) || length >= (int)sizeof(path) ||
            fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(status.st_mode)) {
            result = AddFile(reading, descriptor, entry->d_name, path);
        } else if (S_ISDIR(status.st_mode) && depth < MAX_DEPTH) {
            int inner = openat(descriptor, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            result = inner >= 0 ? ReadLevel(reading, inner, path, depth + 1) : jn_ok;
        }
    }
    closedir(folder);
    return result;
}

// "/" is "/index.html"; without one there is nothing to open.
static jnResult AddRoot(jnaFolder* folder, const char* path, jnError* error)
{
    for (int i = 0; i < folder->count; ++i) {
        if (strcmp(folder->documents[i].path, "/index.html") == 0) {
            jnaDocument* root = &folder->documents[folder->count];
            *root = folder->documents[i];
            strcpy(root->path, "/");
            folder->count++;
            return jn_ok;
        }
    }
    return jnFail(error, jn_badData, "%s: has no index.html", path);
}

jnResult jnaReadFolder(const char* path, jnaFolder* folder, jnError* error)
{
    *folder = (jnaFolder){.documents = calloc(MAX_FILES, sizeof(jnaDocument))};
    if (folder->documents == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %s", path);
    }
    Reading reading = {folder, 0, error};
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    jnResult result = jn_ok;
    JN_TRY(descriptor >= 0 ? ReadLevel(&reading, descriptor, "", 0)
                           : jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno)));
    JN_TRY(AddRoot(folder, path, error));
done:
    if (result != jn_ok) {
        jnaDestroyFolder(folder);
    }
    return result;
}

void jnaDestroyFolder(jnaFolder* folder)
{
    for (int i = 0; i < folder->count; ++i) {
        // The root shares the bytes of index.html.
        if (strcmp(folder->documents[i].path, "/") != 0) {
            union {
                const void* from;
                void* to;
            } bytes = {folder->documents[i].bytes};
            free(bytes.to);
        }
    }
    free(folder->documents);
    *folder = (jnaFolder){0};
}
