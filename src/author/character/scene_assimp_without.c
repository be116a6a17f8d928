// In the place of scene_assimp.c where Assimp is left out.
#include "character/scene_stream.h"

void jnaWriteAssimpScene(const char* path, FILE* stream)
{
    char sentence[JN_ERROR_LENGTH];
    snprintf(sentence, sizeof(sentence),
        "%s: this build of jounce reads neither FBX nor Collada (Assimp is left out); convert it to .glb, by Blender "
        "for "
        "example",
        path);
    jnaPutFailure(stream, sentence);
}
