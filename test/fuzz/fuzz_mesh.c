// Whatever the bytes of an Alembic, USD or NumPy file: a mesh whose counts and indices hold, or an error. The first
// byte chooses the format.
#include "character/mesh_cache.h"
#include "memory_files.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const names[] = {"input.abc", "input.usda", "input.npz", "input.obj"};
    jnaMeshCache cache;
    jnError error;
    if (size == 0) {
        return 0;
    }
    const char* path = PutFile(names[data[0] % 4], data + 1, size - 1);
    if (jnaReadMeshCache(path, &cache, &error) != jn_ok) {
        return 0;
    }
    size_t count = 3 * (size_t)cache.frameCount * (size_t)cache.pointCount, corners = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(cache.positions[i])) {
            abort();
        }
    }
    for (int f = 0; f < cache.faceCount; ++f) {
        corners += (size_t)cache.faceSizes[f];
    }
    if (corners != (size_t)cache.cornerCount) {
        abort();
    }
    for (int i = 0; i < cache.cornerCount; ++i) {
        if (cache.corners[i] < 0 || cache.corners[i] >= cache.pointCount) {
            abort();
        }
    }
    jnaDestroyMeshCache(&cache);
    return 0;
}
