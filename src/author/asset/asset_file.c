// A `.jounce` file mapped and loaded.
#include "asset/asset_writer.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

jnResult jnaOpenAsset(const char* path, jnaAssetFile* file, jnError* error)
{
    *file = (jnaAssetFile){0};
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        int reason = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(reason));
    }
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        close(descriptor);
        return jnFail(error, jn_badData, "%s: is empty or not a file", path);
    }
    void* bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    int reason = errno;
    close(descriptor);
    if (bytes == MAP_FAILED) {
        return jnFail(error, jn_ioFailed, "%s: cannot map: %s", path, strerror(reason));
    }
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    jnResult result =
        jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = file->size, .source = path}, &file->asset, error);
    if (result != jn_ok) {
        jnaCloseAsset(file);
    }
    return result;
}

void jnaCloseAsset(jnaAssetFile* file)
{
    jnDestroyAsset(file->asset);
    if (file->bytes != NULL) {
        munmap(file->bytes, file->size);
    }
    *file = (jnaAssetFile){0};
}
