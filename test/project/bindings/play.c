// What every binding must give to the last bit: a clip played with a walk of the root, an impulse and a change of level; the
// outputs of each frame as they are.
//
//     play FILE.jounce CLIPS.jounce CLIP OUT      poses are of CLIPS: a file beside a .glb has none
#include <jounce/jounce.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60 };

static jnAsset* Load(const char* path)
{
    FILE* file = fopen(path, "rb");
    jnAsset* asset = NULL;
    jnError error;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        exit(1);
    }
    size_t size = (size_t)ftell(file);
    void* bytes = malloc(size);
    rewind(file);
    if (fread(bytes, 1, size, file) != size ||
        jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, &error) != jn_ok) {
        exit(1);
    }
    fclose(file);
    return asset;
}

int main(int argc, char** argv)
{
    if (argc != 5) {
        return 2;
    }
    jnAsset *asset = Load(argv[1]), *clips = Load(argv[2]);
    int clip = jnAsset_FindClip(clips, argv[3]);
    FILE* out = fopen(argv[4], "wb");
    size_t joints = (size_t)asset->jointCount, weights = (size_t)asset->weightCount;
    size_t numbers = 3 * (size_t)asset->fileVertexCount;
    float *rotations = malloc(16 * joints), *translations = malloc(12 * joints), *scales = malloc(12 * joints);
    float *w = malloc(4 * weights), *rates = malloc(4 * weights), *x = malloc(4 * numbers + 1), *n = malloc(4 * numbers + 1);
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* c;
    if (clip < 0 || out == NULL || jnCreateCharacter(&def, &c, NULL) != jn_ok) {
        return 1;
    }
    jnCharacterOutput output = {.weights = w, .weightRates = rates};
    if (numbers > 0) {
        output.positions = x;
        output.normals = n;
    }
    for (int f = 0; f < FRAMES; ++f) {
        jnTransform root = {{0.01f * (float)f, 0.0f, 0.02f * (float)f}, {0.0f, 0.0f, 0.0f, 1.0f}};
        jnCharacterInput input = {.h = 1.0f / 30};
        jnAsset_SampleClip(clips, clip, f / 30.0, rotations, translations, scales);
        input.pose.rotations = rotations;
        input.pose.translations = translations;
        input.pose.scales = scales;
        input.pose.root = &root;
        if (f == 20) {
            jnCharacter_AddImpulse(c, 3, (float[3]){0.5f, 1.0f, -0.25f});
        }
        if (f == 40) {
            jnCharacter_SetLevel(c, 0, 8, 0.2f);
        }
        jnCharacter_Step(c, &input, &output);
        if (f % 7 == 6) {
            jnCharacter_Evaluate(c, 0.5f, &output);
        }
        jnCharacterReport report;
        jnCharacter_Describe(c, &report, NULL);
        fwrite(w, 4, weights, out);
        fwrite(rates, 4, weights, out);
        fwrite(x, 4, numbers, out);
        fwrite(n, 4, numbers, out);
        fwrite(&report.kinetic, 8, 1, out);
        fwrite(&report.steps, 4, 1, out);
    }
    fclose(out);
    return 0;
}
