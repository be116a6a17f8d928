// A `.jounce` file read and loaded.
#include "asset/asset_writer.h"
#include "base/input.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The whole of an opened file; it is not mapped, because it may be replaced or cut while it is used.
static jnResult ReadFile(const char* path, int descriptor, jnaAssetFile* file, jnError* error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size == 0) {
        return jnFail(error, jn_badData, "%s: is empty", path);
    }
    file->size = (size_t)status.st_size;
    file->bytes = aligned_alloc(JN_ALIGNMENT, jnAlignUp(file->size));
    if (file->bytes == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    for (size_t done = 0; done < file->size;) {
        ssize_t part = read(descriptor, (char*)file->bytes + done, file->size - done);
        if (part <= 0) {
            return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path,
                part < 0 ? strerror(errno) : "it became shorter meanwhile");
        }
        done += (size_t)part;
    }
    return jn_ok;
}

jnResult jnaOpenAsset(const char* path, jnaAssetFile* file, jnError* error)
{
    *file = (jnaAssetFile){0};
    int descriptor = jnaOpenDescriptor(path, error);
    if (descriptor < 0) {
        return jn_ioFailed;
    }
    jnResult result = ReadFile(path, descriptor, file, error);
    close(descriptor);
    if (result == jn_ok) {
        const jnAssetDef def = {.bytes = file->bytes, .size = file->size, .source = path};
        result = jnLoadAsset(&def, &file->asset, error);
    }
    if (result != jn_ok) {
        jnaCloseAsset(file);
    }
    return result;
}

void jnaCloseAsset(jnaAssetFile* file)
{
    jnDestroyAsset(file->asset);
    free(file->bytes);
    *file = (jnaAssetFile){0};
}
