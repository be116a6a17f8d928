// Whatever a glTF file holds: the reader ends in a scene that the parent can parse or in an error. An odd first
// byte makes a .glb, whose lengths are set right: two bytes of length, that much JSON, the rest is its buffer.
#include "character/scene.h"
#include "memory_files.h"

#include <string.h>

static void PutU32(uint8_t* at, size_t value)
{
    for (int i = 0; i < 4; ++i) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static const char* WriteContainer(const uint8_t* data, size_t size)
{
    size_t text = (size_t)data[0] | (size_t)data[1] << 8;
    text = text < size - 2 ? text : size - 2;
    size_t rest = size - 2 - text, total = 28 + text + rest;
    uint8_t* bytes = malloc(total);
    if (bytes == NULL) {
        abort();
    }
    memcpy(bytes, "glTF\2\0\0\0", 8);
    PutU32(bytes + 8, total);
    PutU32(bytes + 12, text);
    memcpy(bytes + 16, "JSON", 4);
    memcpy(bytes + 20, data + 2, text);
    PutU32(bytes + 20 + text, rest);
    memcpy(bytes + 24 + text, "BIN", 4);
    memcpy(bytes + 28 + text, data + 2 + text, rest);
    const char* path = PutFile("input.glb", bytes, total);
    free(bytes);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnError error;
    jnaScene scene;
    char* bytes = NULL;
    size_t length = 0;
    if (size < 4) {
        return 0;
    }
    const char* path =
        data[0] % 2 == 0 ? PutFile("input.gltf", data + 1, size - 1) : WriteContainer(data + 1, size - 1);
    FILE* stream = open_memstream(&bytes, &length);
    if (stream == NULL) {
        abort();
    }
    jnResult result = jnaWriteGltfScene(path, stream, &error);
    fclose(stream);
    if (result == jn_ok && jnaParseScene(path, bytes, length, &scene, &error) == jn_ok) {
        jnaDestroyScene(&scene);
    } else if (result != jn_ok) {
        free(bytes);
    }
    return 0;
}
