// The reference of the test in node: the runtime compiled for this machine without vectors plays an asset, and every
// number that comes out goes to a file. test/scenario.mjs does the same steps in WebAssembly.
//
//     reference FILE.jounce OUT     OUT: per frame positions, normals, velocities, [fileVertexCount][3] floats each,
//     after
//                                   the step and then at a quarter of it; the same after a step of a loop and after a
//                                   rest; then the morph weights, where the asset has them
#include "jounce/jounce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 36, LOOP_FRAMES = 12 };

// Lengths of steps in 1/480 s: even, uneven, tiny, long, none.
static const int steps[] = {8, 8, 8, 16, 4, 8, 1, 48, 8, 0, 8, 8};

static void* ReadFile(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return NULL;
    }
    *size = (size_t)ftell(file);
    rewind(file);
    void* bytes = malloc(*size);
    bool whole = bytes != NULL && fread(bytes, 1, *size, file) == *size;
    fclose(file);
    return whole ? bytes : NULL;
}

static void SetControls(jnCharacter* character, int n)
{
    jnSprings* springs = jnCharacter_Springs(character);
    const jnAssetModes* modes = jnCharacter_Asset(character)->modes;
    if (n == 6) {
        if (springs != NULL) {
            jnSprings_SetTuning(springs, 1.5f, 0.5f, NULL, NULL, NULL);
        }
        jnCharacter_TuneModes(character, -1, 1.5f, 0.5f, 1.0f);
    }
    if (n == 9) {
        jnCharacter_SetForce(character, (float[3]){0.5f, -9.75f, 0.25f});
    }
    if (n == 12) {
        jnCharacter_AddImpulseSphere(character, (float[3]){0.0f, 1.0f, 0.125f}, 0.5f, (float[3]){0.5f, 1.0f, -0.25f});
    }
    if (n == 15) {
        jnCharacter_SetStrength(character, -1, 0.75f, NULL);
        jnCharacter_SetNetworkStrength(character, 0.75f);
    }
    if (n == 18) {
        jnCharacter_SetInertia(character, 0.5f, 0.25f);
    }
    if (n == 20 && modes != NULL) {
        jnCharacter_TuneModes(character, modes->modes[0].joint, 0.75f, 2.0f, 1.25f);
    }
    if (n == 22) {
        jnCharacter_ScaleModeCaps(character, 0.5f);
    }
    if (n == 24) {
        jnCharacter_SetCap(character, 0.03125f);
    }
}

// Everything that comes out of a frame, after the step and inside it.
static bool Write(jnCharacter* character, float* surface, size_t floats, bool inside, FILE* out)
{
    jnCharacterOutput output = {.positions = surface, .normals = surface + floats, .velocities = surface + 2 * floats};
    if (inside) {
        jnCharacter_Evaluate(character, 0.25f, &output);
    }
    return fwrite(surface, sizeof(float), 3 * floats, out) == 3 * floats;
}

// The motion that repeats with twelve poses of the first clip, one step of it, and a rest.
static bool WriteLoop(jnCharacter* character, float* surface, size_t floats, FILE* out)
{
    const jnAsset* asset = jnCharacter_Asset(character);
    size_t joints = (size_t)asset->jointCount, weights = (size_t)(asset->componentCount + asset->modeCount);
    float* numbers = malloc((LOOP_FRAMES * 10 * joints + weights + 1) * sizeof(float));
    jnPose poses[LOOP_FRAMES];
    jnCharacterOutput output = {.positions = surface, .normals = surface + floats, .velocities = surface + 2 * floats};
    bool good = numbers != NULL;
    for (int n = 0; good && n < LOOP_FRAMES; ++n) {
        float* r = numbers + weights + 1 + (size_t)n * 10 * joints;
        jnAsset_SampleClip(asset, 0, n / 16.0, r, r + 4 * joints, r + 7 * joints);
        poses[n] = (jnPose){.rotations = r, .translations = r + 4 * joints, .scales = r + 7 * joints};
    }
    jnCharacterLoop loop = {.poses = poses, .frameCount = LOOP_FRAMES, .h = 0.0625f};
    good = good && jnCharacter_SolveLoop(character, &loop, NULL, NULL) == jn_ok;
    if (good) {
        jnCharacter_Step(character, &(jnCharacterInput){.h = 0.0625f, .pose = poses[1]}, &output);
        good = fwrite(surface, sizeof(float), 3 * floats, out) == 3 * floats;
        output.weights = asset->morphs != NULL ? numbers : NULL;
        jnCharacter_Settle(character, 0.03125, &output);
        good = good && fwrite(surface, sizeof(float), 3 * floats, out) == 3 * floats &&
               fwrite(numbers, sizeof(float), weights, out) == weights;
    }
    free(numbers);
    return good;
}

int main(int argc, char** argv)
{
    size_t size = 0;
    void* bytes = argc == 3 ? ReadFile(argv[1], &size) : NULL;
    FILE* out = bytes != NULL ? fopen(argv[2], "wb") : NULL;
    jnAsset* asset;
    jnCharacter* character;
    jnError error = {.message = "usage: reference FILE.jounce OUT"};
    if (out == NULL || jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, &error) != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    size_t joints = (size_t)asset->jointCount, floats = 3 * (size_t)asset->fileVertexCount;
    float* pose = malloc(10 * joints * sizeof(float));
    float* surface = calloc(3 * floats, sizeof(float));
    if (pose == NULL || surface == NULL || jnCreateCharacter(&def, &character, &error) != jn_ok) {
        return 1;
    }
    jnTransform root = {.rotation = {0, 0, 0, 1}};
    double time = 0.0;
    for (int n = 0; n < FRAMES; ++n) {
        int ticks = steps[n % (int)(sizeof(steps) / sizeof(steps[0]))];
        time += ticks / 480.0;
        root.position[0] = (float)(n % 8) / 64.0f;
        root.position[1] = (float)(n % 3) / 128.0f;
        SetControls(character, n);
        jnAsset_SampleClip(asset, 0, time, pose, pose + 4 * joints, pose + 7 * joints);
        jnPose local = {
            .rotations = pose, .translations = pose + 4 * joints, .scales = pose + 7 * joints, .root = &root};
        jnCharacterInput input = {.h = (float)(ticks / 480.0), .pose = local};
        input.teleport = n == 21 ? jn_teleportKeep : n == 30 ? jn_teleportReset : jn_teleportNone;
        jnCharacterOutput output = {
            .positions = surface, .normals = surface + floats, .velocities = surface + 2 * floats};
        jnCharacter_Step(character, &input, &output);
        if (!Write(character, surface, floats, false, out) || !Write(character, surface, floats, true, out)) {
            return 1;
        }
    }
    if (!WriteLoop(character, surface, floats, out)) {
        return 1;
    }
    jnDestroyCharacter(character);
    jnDestroyAsset(asset);
    free(pose);
    free(surface);
    free(bytes);
    return fclose(out) == 0 ? 0 : 1;
}
