// Whatever the child process writes: a scene that can be made a character, or an error.
#include "character/import_internal.h"
#include "memory_files.h"

#include <string.h>

// Frames a second of the clips. A hostile clip may last for hours; more frames of it say nothing new.
#define RATE 2.0

static void Build(const jnaScene* scene)
{
    jnError error;
    jnaRig rig = {0};
    jnaPlacement placement = {0};
    jnaCharacter character = {0};
    jnaClipList clips = {0};
    jnResult result = jnaCreateRig("x", scene, NULL, &rig, &error);
    result = result == jn_ok ? jnaPlaceMeshes("x", scene, &rig, &placement, NULL, &error) : result;
    character.jointCount = rig.jointCount;
    if (result == jn_ok && placement.fileVertexCount > 0 && rig.jointCount < 1000) {
        result = jnaBuildSurface("x", &placement, 1, &character, NULL, &error);
        result = result == jn_ok ? jnaBuildAttributes(&placement, &character, NULL, &error) : result;
        result = result == jn_ok
                     ? jnaSampleAnimations(
                           "x", &(jnaSampling){.scene = scene, .rig = &rig, .scale = 1, .rate = RATE}, &clips, &error)
                     : result;
        (void)jnaCheckClipBounds("x", &clips, &error);
    }
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&character);
    jnaDestroyPlacement(&placement);
    jnaDestroyRig(&rig);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnaScene scene;
    jnError error;
    void* copy = malloc(size + 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data, size);
    if (jnaParseScene("x", copy, size, &scene, &error) == jn_ok) {
        Build(&scene);
        jnaDestroyScene(&scene);
    }
    return 0;
}
