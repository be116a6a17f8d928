// Whatever the child process writes: a scene that can be made a character, or an error.
#include "character/import_internal.h"
#include "memory_files.h"

#include <math.h>
#include <string.h>

// Frames of a clip, about. A hostile one may last for days; more frames of it say nothing new.
enum { MOST_FRAMES = 100 };
#define LEAST_RATE 1e-6 // what lasts for ever is refused at any rate

static double Seconds(const jnaSceneKeys* keys, double ticks)
{
    return keys->count > 0 ? (keys->times[keys->count - 1] - keys->times[0]) / ticks : 0;
}

// A rate at which no clip has many more frames than that.
static double RateOf(const jnaScene* scene)
{
    double rate = 30;
    for (int i = 0; i < scene->animationCount; ++i) {
        const jnaSceneAnimation* a = &scene->animations[i];
        double ticks = a->ticksPerSecond > 0 ? a->ticksPerSecond : 25;
        for (int k = 0; k < a->channelCount; ++k) {
            const jnaSceneChannel* c = &a->channels[k];
            double longest = fmax(fmax(Seconds(&c->translation, ticks), Seconds(&c->rotation, ticks)),
                fmax(Seconds(&c->scale, ticks), Seconds(&c->weights, ticks)));
            rate = longest > MOST_FRAMES / rate ? MOST_FRAMES / longest : rate;
        }
    }
    return fmax(rate, LEAST_RATE);
}

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
        result = result == jn_ok ? jnaSampleAnimations("x",
                                       &(jnaSampling){.scene = scene, .rig = &rig, .scale = 1, .rate = RateOf(scene)},
                                       &clips, &error)
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
