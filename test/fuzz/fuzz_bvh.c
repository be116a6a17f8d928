// Whatever the text of a BVH file: a skeleton whose parents come first, with its motion, or an error with the line.
#include "character/import_internal.h"
#include "memory_files.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnaSource source;
    jnError error;
    if (jnaReadBvh(PutFile("input.bvh", data, size), &source, &error) != jn_ok) {
        return 0;
    }
    for (int j = 0; j < source.skeleton.jointCount; ++j) {
        if (source.skeleton.joints[j].parent >= j) {
            abort();
        }
    }
    size_t entries = (size_t)source.clip.frameCount * (size_t)source.clip.jointCount;
    for (size_t i = 0; i < 4 * entries; ++i) {
        if (!(fabsf(source.clip.rotations[i]) < 1.01f)) {
            abort();
        }
    }
    jnaDestroySource(&source);
    return 0;
}
