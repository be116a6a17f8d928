// Plays a clip of a character file and prints its largest morph weight in each frame.
//
//     jounce new hero --figure && jounce build hero --until modes
//     cc -Iinclude examples/character.c build/release/libjounce.a -lm -o character
//     ./character hero/character.jounce run      # without a clip's name: prints the names
#include <jounce/jounce.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The whole file in memory; the caller frees it.
static void* ReadFile(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void* bytes = malloc(*size);
    if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

static void Play(const jnAsset* asset, jnCharacter* character, int clip)
{
    float* pose = malloc(sizeof(float) * 10 * (size_t)asset->jointCount);
    int weightCount = asset->weightCount;
    float* weights = malloc(sizeof(float) * (size_t)weightCount);
    float *rotations = pose, *translations = pose + 4 * asset->jointCount, *scales = pose + 7 * asset->jointCount;
    for (int frame = 0; frame < 30; ++frame) {
        jnAsset_SampleClip(asset, clip, frame / 30.0, rotations, translations, scales); // or your engine's pose
        jnCharacter_Step(character,
            &(jnCharacterInput){
                .h = 1.0f / 30.0f, .pose = {.rotations = rotations, .translations = translations, .scales = scales}},
            &(jnCharacterOutput){.weights = weights});
        int largest = 0;
        for (int w = 1; w < weightCount; ++w) {
            largest = fabsf(weights[w]) > fabsf(weights[largest]) ? w : largest;
        }
        printf("frame %2d: weight %2d is %+.3f\n", frame, largest, (double)weights[largest]);
    }
    free(weights);
    free(pose);
}

int main(int argc, char** argv)
{
    jnError error = {0};
    jnAsset* asset = NULL;
    jnCharacter* character = NULL;
    size_t size = 0;
    int code = 1;
    if (argc < 2) {
        fprintf(stderr, "usage: character FILE.jounce [CLIP]\n");
        return 2;
    }
    void* bytes = ReadFile(argv[1], &size);
    if (bytes == NULL) {
        fprintf(stderr, "%s: cannot read\n", argv[1]);
        return 1;
    }
    if (jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size, .source = argv[1]}, &asset, &error) != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
        goto done;
    }
    int clip = argc > 2 ? jnAsset_FindClip(asset, argv[2]) : -1;
    if (clip < 0) {
        fprintf(stderr, "name one of these clips:\n");
        for (int i = 0; i < asset->clipCount; ++i) {
            fprintf(stderr, "  %s\n", jnAsset_Clip(asset, i).name);
        }
        goto done;
    }
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.weightsOnly = true; // the GPU adds the morph targets
    if (jnCreateCharacter(&def, &character, &error) != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
        goto done;
    }
    Play(asset, character, clip);
    code = 0;
done:
    jnDestroyCharacter(character);
    jnDestroyAsset(asset);
    free(bytes);
    return code;
}
