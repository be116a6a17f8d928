// The child's half of reading a scene: a file in, a stream out (scene_stream.h). Runs in a process of its own and may
// crash there.
#include "character/scene_stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool jnaHasEnding(const char* path, const char* ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

// What was written before a failure is dropped: the parent sees a scene or a sentence.
static void WriteGltf(const char* path, FILE* stream)
{
    jnError error;
    char* bytes = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&bytes, &size);
    if (memory == NULL) {
        abort();
    }
    jnResult result = jnaWriteGltfScene(path, memory, &error);
    if (fclose(memory) != 0) {
        abort();
    }
    if (result == jn_ok) {
        fwrite(bytes, 1, size, stream);
    } else {
        jnaPutFailure(stream, error.message);
    }
    free(bytes);
}

void jnaWriteScene(const char* path, FILE* stream)
{
    if (jnaHasEnding(path, ".vrm") || jnaHasEnding(path, ".glb") || jnaHasEnding(path, ".gltf")) {
        WriteGltf(path, stream);
    } else {
        jnaWriteAssimpScene(path, stream);
    }
}
