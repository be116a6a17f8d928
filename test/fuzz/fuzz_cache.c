// Whatever the bytes of a vertex cache: a motion of the character within bounds, or an error. The first byte chooses
// the format.
#include "base/bounds.h"
#include "character/import.h"
#include "memory_files.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const names[] = {"input.pc2", "input.mdd", "input.npy"};
    int32_t weld[] = {0, 1, 1};
    float rest[] = {0, 0, 0, 1, 0, 0};
    const jnaCharacter character = {.vertexCount = 2, .fileVertexCount = 3, .weld = weld, .positions = rest};
    jnaMotion motion;
    jnError error;
    if (size == 0) {
        return 0;
    }
    const char* path = PutFile(names[data[0] % 3], data + 1, size - 1);
    if (jnaReadMotion(path, &character, NULL, 0.01, &motion, NULL, &error) == jn_ok) {
        size_t count = 3 * (size_t)motion.frameCount * (size_t)motion.vertexCount;
        if (motion.vertexCount != 2 || jnaFindUnbounded(motion.positions, count, JNA_FARTHEST) != count) {
            abort();
        }
        jnaDestroyMotion(&motion);
    }
    return 0;
}
