// Opening never blocks: a pipe without a writer would keep an open() waiting for ever, a terminal a read().
#include "base/input.h"

#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int jnaOpenDescriptor(const char* path, jnError* error)
{
    struct stat status;
    // Looked at first: opening some devices does something.
    bool there = stat(path, &status) == 0;
    int descriptor = -1;
    if (there && S_ISREG(status.st_mode)) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        there = descriptor >= 0 && fstat(descriptor, &status) == 0;
    }
    int reason = errno;
    if (there && S_ISREG(status.st_mode)) {
        return descriptor;
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (there) {
        jnFail(error, jn_ioFailed, "%s: is not a file", path);
    } else {
        jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(reason));
    }
    errno = there ? EINVAL : reason;
    return -1;
}

jnResult jnaOpenInput(const char* path, FILE** file, jnError* error)
{
    int descriptor = jnaOpenDescriptor(path, error);
    *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (descriptor >= 0 && *file == NULL) {
        close(descriptor);
        errno = ENOMEM;
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    return descriptor >= 0 ? jn_ok : jn_ioFailed;
}

json_t* jnaReadJson(const char* path, size_t flags, json_error_t* why)
{
    json_error_t own;
    jnError error = {0};
    FILE* file;
    why = why != NULL ? why : &own;
    if (jnaOpenInput(path, &file, &error) != jn_ok) {
        *why = (json_error_t){.line = -1, .column = -1};
        // Without the name, which the caller says.
        size_t named = strlen(path) + 2;
        snprintf(why->text, sizeof(why->text), "%.150s",
            strlen(error.message) > named && strncmp(error.message, path, named - 2) == 0 ? error.message + named
                                                                                          : "cannot read");
        why->text[sizeof(why->text) - 1] = (char)json_error_cannot_open_file;
        return NULL;
    }
    json_t* root = json_loadf(file, flags, why);
    fclose(file);
    return root;
}
