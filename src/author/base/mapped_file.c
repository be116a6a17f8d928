// A mapping of the whole file: what is never looked at is never read.
#include "base/mapped_file.h"

#include "base/input.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

jnResult jnaMapFile(const char* path, jnaMappedFile* file, jnError* error)
{
    *file = (jnaMappedFile){0};
    int descriptor = jnaOpenDescriptor(path, error);
    struct stat status;
    if (descriptor < 0) {
        return jn_ioFailed;
    }
    if (fstat(descriptor, &status) != 0) {
        int reason = errno;
        close(descriptor);
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(reason));
    }
    void* bytes = NULL;
    if (status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    int reason = errno;
    close(descriptor);
    if (bytes == MAP_FAILED) {
        return jnFail(error, jn_ioFailed, "%s: cannot map: %s", path, strerror(reason));
    }
    *file = (jnaMappedFile){bytes, (size_t)status.st_size};
    return jn_ok;
}

void jnaUnmapFile(jnaMappedFile* file)
{
    if (file->bytes != NULL) {
        munmap((void*)(uintptr_t)file->bytes, file->size);
    }
    *file = (jnaMappedFile){0};
}
