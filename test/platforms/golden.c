// A scripted scene over all that the runtime does. It prints a hash of every number that comes out, line by line:
// golden.txt holds the lines that every machine, compiler and kernel must print (tools/platforms.sh).
//
//     golden                      the scene with every kernel of this machine; exit 1 where two differ
//     golden --write KIND FILE    one of the scene's character files: linear, modes, dual
//     golden --read FILE          loads a file; exit 0, or 3 and the sentence of the error
//     golden --steps WHAT COUNT   only steps, for counting instructions; WHAT is springs, surface or modes
#include "golden_asset.h"

#include "jounce/jounce.h"

#include <stdio.h>

enum { RINGS = 13, SEGMENTS = 12, SPRINGS = 203, FRAMES = 40, MOST_FLOATS = 3 * RINGS * (SEGMENTS + 1) };
static const char* const kinds[] = {"linear", "modes", "dual"};

typedef struct Hash {
    uint64_t value;
    bool finite;
} Hash;

static Hash NewHash(void)
{
    return (Hash){.value = 0xcbf29ce484222325u, .finite = true};
}

static void HashBits(Hash* hash, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; ++i) {
        hash->value = (hash->value ^ (bits >> 8 * i & 0xff)) * 0x100000001b3u;
    }
}

static void HashFloats(Hash* hash, const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        HashBits(hash, bits, 4);
        hash->finite = hash->finite && values[i] - values[i] == 0.0f;
    }
}

static void HashDoubles(Hash* hash, const double* values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        HashBits(hash, bits, 8);
        hash->finite = hash->finite && values[i] - values[i] == 0.0;
    }
}

static void Die(const char* what)
{
    fputs("golden: ", stderr);
    fputs(what, stderr);
    fputs("\n", stderr);
    exit(1);
}

// The lines of the result.
typedef struct Text {
    char letters[4096];
    size_t size;
} Text;

static void Append(Text* out, const char* letters, size_t count)
{
    if (out->size + count >= sizeof(out->letters)) {
        Die("too many lines");
    }
    memcpy(out->letters + out->size, letters, count);
    out->size += count;
}

// One line: a name in two parts and a hash. By hand: the printf of WebAssembly's library needs more than we link.
static void Print(Text* out, const char* what, const char* which, Hash hash)
{
    char line[64] = {0};
    size_t length = strlen(what) + strlen(which), at = 24;
    memset(line, ' ', at);
    memcpy(line, what, strlen(what));
    memcpy(line + strlen(what), which, strlen(which));
    for (int i = 15; i >= 0; --i) {
        line[at++] = "0123456789abcdef"[hash.value >> 4 * i & 15];
    }
    Append(out, line, length < 24 ? at : 0);
    Append(out, hash.finite ? "\n" : " not finite\n", strlen(hash.finite ? "\n" : " not finite\n"));
}

// The closed form over every regime.
static void PlayFunctions(Text* out)
{
    Hash hash = NewHash();
    for (int i = 0; i < 4000; ++i) {
        double stiffness = jnExp(0.02 * (i % 1000) - 5.0), damping = jnExp(0.06 * (i % 131) - 4.0);
        double h = 0.001 * (1 + i % 17) * (i % 3 == 0 ? 100.0 : 1.0);
        damping = i % 5 == 0 ? 2.0 * sqrt(stiffness) : damping; // critical
        jnSpringResponse r[3];
        r[0] = jnDifferentiateSpring(stiffness, damping, h, &r[1], &r[2]);
        for (int k = 0; k < 3; ++k) {
            const double numbers[6] = {r[k].cosine, r[k].impulse, r[k].step, r[k].ramp, r[k].position, r[k].velocity};
            HashDoubles(&hash, numbers, 6);
        }
    }
    Print(out, "functions", "", hash);
}

static void MakeTargets(double time, int frame, float* targets)
{
    for (int i = 0; i < 3 * SPRINGS; ++i) {
        targets[i] = (float)(0.01 * i + 0.2 * Sine(2.0 * time + 0.1 * i) + 0.05 * Sine(9.0 * time + 0.3 * i));
    }
    if (frame == 17 || frame == 18) { // lost for two frames
        targets[3 * 5] = targets[3 * 100 + 1] = HUGE_VALF;
    }
}

static void SetSprings(jnSprings* s, int frame)
{
    if (frame == 6) {
        jnSprings_SetTuning(s, 1.4f, 0.6f, NULL, NULL, NULL);
    } else if (frame == 9) {
        jnSprings_SetForce(s, (const float[3]){0.5f, -9.81f, 0.25f});
    } else if (frame == 12) {
        jnSprings_AddImpulse(s, 7, (const float[3]){1.0f, 2.0f, -1.0f});
        jnSprings_AddImpulseSphere(s, (const float[3]){1.0f, 1.1f, 1.2f}, 0.7f, (const float[3]){0.5f, 1.0f, -0.25f});
    } else if (frame == 15) {
        jnSprings_SetStrength(s, 0.8f, NULL, NULL);
    } else if (frame == 20) {
        jnSprings_SetCap(s, 0.05f);
    } else if (frame == 26) {
        jnSprings_SetInertia(s, 0.5f, 0.25f);
    }
}

// Steps of all kinds with one curve and timing.
static void PlaySprings(Text* out, jnKernel kernel, jnCurve curve, jnTiming timing)
{
    static float targets[3 * SPRINGS], slopes[3 * SPRINGS], positions[3 * SPRINGS], velocities[3 * SPRINGS];
    static float stiffness[SPRINGS], damping[SPRINGS];
    static const int ticks[] = {8, 8, 8, 16, 4, 8, 1, 48, 8, 0, 8, 8};
    for (int i = 0; i < SPRINGS; ++i) {
        stiffness[i] = (float)(30 + 17 * i) * (i % 31 == 0 ? 2e5f : 1.0f);
        damping[i] = (float)(i % 23) * (i % 29 == 0 ? 400.0f : 1.0f);
        slopes[3 * i] = 0.1f;
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = SPRINGS;
    def.stiffness = stiffness;
    def.damping = damping;
    def.curve = curve;
    def.timing = timing;
    def.start = timing == jn_timingExact ? jn_startAtRest : jn_startMoving;
    def.kernel = kernel;
    jnSprings* s;
    if (jnCreateSprings(&def, &s, NULL) != jn_ok) {
        Die("no springs");
    }
    void* snapshot = malloc(jnSprings_SnapshotSize(s));
    jnSpringsOutput output = {.positions = positions, .velocities = velocities};
    memset(velocities, 0, sizeof(velocities));
    Hash hash = NewHash();
    double time = 0.0;
    for (int n = 0; n < FRAMES; ++n) {
        double h = ticks[n % 12] / 480.0;
        time += h;
        MakeTargets(time, n, targets);
        SetSprings(s, n);
        jnTransform root = {.position = {(float)(0.3 * time), 0.1f * (float)(n % 5), 0}, .rotation = {0, 0, 0, 1}};
        root.rotation[1] = (float)(0.2 * Sine(3.0 * time));
        root.rotation[3] = sqrtf(1.0f - root.rotation[1] * root.rotation[1]);
        jnSpringsInput input = {.h = (float)h, .targets = targets, .targetVelocities = slopes, .root = &root};
        input.teleport = n == 30 ? jn_teleportKeep : n == 34 ? jn_teleportReset : jn_teleportNone;
        jnSprings_Step(s, &input, n % 3 == 0 ? &(jnSpringsOutput){.positions = positions} : &output);
        HashFloats(&hash, positions, 3 * SPRINGS);
        HashFloats(&hash, velocities, 3 * SPRINGS);
        jnSprings_Evaluate(s, 0.25f, &output);
        HashFloats(&hash, positions, 3 * SPRINGS);
        if (n == 22) {
            jnSprings_Save(s, snapshot);
        }
    }
    jnSprings_Finish(s, &output);
    HashFloats(&hash, positions, 3 * SPRINGS);
    jnSprings_Settle(s, 0.7, &output);
    HashFloats(&hash, positions, 3 * SPRINGS);
    jnSprings_Restore(s, snapshot, jnSprings_SnapshotSize(s), NULL);
    jnSprings_Evaluate(s, 1.0f, &output);
    HashFloats(&hash, positions, 3 * SPRINGS);
    HashBits(&hash, jnSprings_ResetCount(s), 8);
    static const char* const curves[] = {"step", "linear", "cubic", "hermite"};
    Print(out, timing == jn_timingExact ? "springs-exact-" : "springs-", curves[curve], hash);
    free(snapshot);
    jnDestroySprings(s);
}

// A motion that repeats.
static void PlayLoop(Text* out, jnKernel kernel, jnTiming timing)
{
    enum { LENGTH = 16 };
    static float targets[LENGTH][3 * SPRINGS], positions[3 * SPRINGS];
    for (int n = 0; n < LENGTH; ++n) {
        MakeTargets(3.141592653589793 * n / LENGTH, 0, targets[n]);
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = SPRINGS;
    def.timing = timing;
    def.kernel = kernel;
    jnSprings* s;
    int unsolved;
    if (jnCreateSprings(&def, &s, NULL) != jn_ok ||
        jnSprings_SolveLoop(s, &(jnSpringsLoop){targets[0], LENGTH, 0.04f}, &unsolved, NULL) != jn_ok) {
        Die("no loop");
    }
    Hash hash = NewHash();
    for (int n = 1; n <= LENGTH; ++n) {
        jnSpringsInput input = {.h = 0.04f, .targets = targets[n % LENGTH]};
        jnSprings_Step(s, &input, &(jnSpringsOutput){.positions = positions});
        HashFloats(&hash, positions, 3 * SPRINGS);
    }
    Print(out, "loop-", timing == jn_timingExact ? "exact" : "causal", hash);
    jnDestroySprings(s);
}

static jnAsset* Load(GoldenKind kind, int rings, int segments, char** bytes, Hash* hash)
{
    size_t size;
    jnAsset* asset;
    jnError error;
    *bytes = MakeGoldenAsset(kind, rings, segments, &size);
    if (jnLoadAsset(&(jnAssetDef){.bytes = *bytes, .size = size, .source = kinds[kind]}, &asset, &error) != jn_ok) {
        Die(error.message);
    }
    for (size_t i = 0; i < size; ++i) {
        HashBits(hash, (uint8_t)(*bytes)[i], 1);
    }
    return asset;
}

static void SetCharacter(jnCharacter* c, int frame)
{
    static const uint8_t mask[RINGS * SEGMENTS] = {[20] = 1, [40] = 1, [41] = 1, [100] = 1, [130] = 1};
    if (frame == 5) {
        jnCharacter_TuneModes(c, -1, 1.3f, 0.7f, 1.2f);
    } else if (frame == 8) {
        jnCharacter_SetForce(c, (const float[3]){0.5f, -9.81f, 0.25f});
    } else if (frame == 11) {
        jnCharacter_AddImpulseSphere(c, (const float[3]){0.0f, 0.6f, 0.1f}, 0.4f, (const float[3]){0.5f, 1.0f, -0.25f});
        jnCharacter_AddImpulse(c, 3, (const float[3]){0.5f, 1.0f, -0.25f});
    } else if (frame == 14) {
        jnCharacter_SetNetworkStrength(c, 0.75f);
    } else if (frame == 17) {
        jnCharacter_SetMask(c, mask);
    } else if (frame == 20) {
        jnCharacter_SetMask(c, NULL);
        jnCharacter_ScaleModeCaps(c, 0.5f);
    } else if (frame == 23) {
        jnCharacter_SetStrength(c, -1, 0.8f, NULL);
        jnCharacter_SetCap(c, 0.04f);
    } else if (frame == 28) {
        jnCharacter_SetInertia(c, 0.5f, 0.25f);
    }
}

// What a frame shows, in its three ways.
static void HashFrame(Hash* hash, jnCharacter* c, const jnPose* pose, int n, const jnCharacterOutput* output)
{
    const jnAsset* asset = jnCharacter_Asset(c);
    size_t floats = 3 * (size_t)asset->fileVertexCount;
    HashFloats(hash, output->weights, (size_t)(asset->componentCount + asset->modeCount));
    HashFloats(hash, output->weightRates, (size_t)(asset->componentCount + asset->modeCount));
    HashFloats(hash, output->positions, floats);
    HashFloats(hash, output->normals, floats);
    HashFloats(hash, output->velocities, floats);
    jnCharacter_Evaluate(c, 0.25f, output);
    HashFloats(hash, output->positions, floats);
    if (n % 7 == 0) {
        jnCharacter_Skin(c, pose, output);
        HashFloats(hash, output->positions, floats);
        jnCharacter_Target(c, pose, output);
        HashFloats(hash, output->positions, floats);
    }
}

static Hash PlayCharacter(jnKernel kernel, const jnAsset* asset, jnDetail detail)
{
    static float positions[MOST_FLOATS], velocities[MOST_FLOATS], normals[MOST_FLOATS], weights[64], rates[64];
    static const int ticks[] = {8, 8, 8, 16, 4, 8, 1, 48, 8, 0, 8, 8};
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.kernel = kernel;
    def.detail = detail;
    jnCharacter* c;
    if (jnCreateCharacter(&def, &c, NULL) != jn_ok) {
        Die("no character");
    }
    float rotations[4 * GOLDEN_JOINTS], translations[3 * GOLDEN_JOINTS], scales[3 * GOLDEN_JOINTS];
    jnCharacterOutput output = {.positions = positions, .velocities = velocities, .normals = normals};
    output.weights = weights;
    output.weightRates = rates;
    memset(weights, 0, sizeof(weights));
    memset(rates, 0, sizeof(rates));
    memset(velocities, 0, sizeof(velocities));
    Hash hash = NewHash();
    double time = 0.0;
    for (int n = 0; n < FRAMES; ++n) {
        double h = ticks[n % 12] / 480.0;
        time += h;
        jnAsset_SampleClip(asset, 0, time, rotations, translations, scales);
        jnTransform root = {.position = {(float)(0.4 * time), 0.1f * (float)(n % 4), 0}, .rotation = {0, 0, 0, 1}};
        jnPose pose = {.rotations = rotations, .translations = translations, .scales = scales, .root = &root};
        SetCharacter(c, n);
        jnCharacterInput input = {.h = (float)h, .pose = pose};
        input.teleport = n == 31 ? jn_teleportKeep : n == 36 ? jn_teleportReset : jn_teleportNone;
        // Positions alone go another way than all.
        jnCharacter_Step(
            c, &input, n % 2 == 0 ? &output : &(jnCharacterOutput){.positions = positions, .normals = normals});
        HashFrame(&hash, c, &pose, n, &output);
    }
    jnCharacter_Finish(c, &output);
    HashFloats(&hash, positions, 3 * (size_t)asset->fileVertexCount);
    jnCharacter_Settle(c, 0.3, &output);
    HashFloats(&hash, positions, 3 * (size_t)asset->fileVertexCount);
    jnDestroyCharacter(c);
    return hash;
}

// Weights alone, of many at once, each at its own moment of the clip; two of them at another level of detail. Enough
// are alike to go across characters (morphs_across.c).
static Hash PlayCrowd(jnKernel kernel, const jnAsset* asset)
{
    enum { CROWD = 19 };
    float rotations[CROWD][4 * GOLDEN_JOINTS], translations[3 * GOLDEN_JOINTS], scales[3 * GOLDEN_JOINTS];
    float weights[CROWD][64] = {{0}};
    jnCharacter* crowd[CROWD];
    jnCharacterInput inputs[CROWD];
    jnCharacterOutput outputs[CROWD];
    Hash hash = NewHash();
    for (int i = 0; i < CROWD; ++i) {
        jnCharacterDef def = jnDefaultCharacterDef(asset);
        def.kernel = kernel;
        def.weightsOnly = true;
        def.components = i < CROWD - 2 ? 0 : 4;
        def.modes = i < CROWD - 2 ? 0 : 3;
        if (jnCreateCharacter(&def, &crowd[i], NULL) != jn_ok) {
            Die("no character");
        }
        inputs[i] = (jnCharacterInput){.h = 0.02f, .pose = {.rotations = rotations[i]}};
        outputs[i] = (jnCharacterOutput){.weights = weights[i]};
    }
    for (int n = 0; n < FRAMES; ++n) {
        for (int i = 0; i < CROWD; ++i) {
            jnAsset_SampleClip(asset, 0, 0.02 * n + 0.1 * i, rotations[i], translations, scales);
        }
        jnStepCharacters(crowd, inputs, outputs, CROWD);
        HashFloats(&hash, weights[0], CROWD * 64);
    }
    char* snapshot = malloc(jnCharacter_SnapshotSize(crowd[0]));
    jnCharacter_Save(crowd[0], snapshot);
    for (size_t i = 0; i < jnCharacter_SnapshotSize(crowd[0]); ++i) {
        HashBits(&hash, (uint8_t)snapshot[i], 1);
    }
    free(snapshot);
    for (int i = 0; i < CROWD; ++i) {
        jnDestroyCharacter(crowd[i]);
    }
    return hash;
}

static void PlayAssets(Text* out, jnKernel kernel)
{
    for (int kind = golden_linear; kind <= golden_dual; ++kind) {
        char* bytes;
        Hash file = NewHash();
        jnAsset* asset = Load((GoldenKind)kind, RINGS, SEGMENTS, &bytes, &file);
        Print(out, "file-", kinds[kind], file);
        Print(out, "character-", kinds[kind], PlayCharacter(kernel, asset, jn_detailFull));
        if (kind == golden_linear) {
            Print(out, "character-", "coarse", PlayCharacter(kernel, asset, jn_detailCoarse));
        } else {
            Print(out, "crowd-", kinds[kind], PlayCrowd(kernel, asset));
        }
        jnDestroyAsset(asset);
        free(bytes);
    }
}

static void Play(Text* out, jnKernel kernel)
{
    PlayFunctions(out);
    for (int curve = jn_curveStep; curve <= jn_curveHermite; ++curve) {
        PlaySprings(out, kernel, (jnCurve)curve, jn_timingCausal);
    }
    PlaySprings(out, kernel, jn_curveCubic, jn_timingExact);
    PlayLoop(out, kernel, jn_timingCausal);
    PlayLoop(out, kernel, jn_timingExact);
    PlayAssets(out, kernel);
}

static char* ReadAll(FILE* file, size_t* size)
{
    size_t room = 1 << 22;
    char* bytes = malloc(room);
    if (file == NULL || bytes == NULL) {
        Die("cannot read");
    }
    *size = fread(bytes, 1, room, file);
    return bytes;
}

// All kernels of this machine print the same.
static int PlayAll(void)
{
    static Text first, text;
    for (int kernel = jn_kernelBaseline; kernel <= jn_kernelAvx512; ++kernel) {
        if (!jnKernelAvailable((jnKernel)kernel)) {
            continue;
        }
        text.size = 0;
        Play(&text, (jnKernel)kernel);
        fputs(jnKernelName((jnKernel)kernel), stderr);
        fputs("\n", stderr);
        if (first.size == 0) {
            first = text;
        } else if (text.size != first.size || memcmp(text.letters, first.letters, text.size) != 0) {
            fwrite(text.letters, 1, text.size, stdout);
            Die("this kernel's lines differ from those of the first");
        }
    }
    return fwrite(first.letters, 1, first.size, stdout) == first.size ? 0 : 1;
}

static int WriteFile(const char* kind, const char* path)
{
    for (int i = golden_linear; i <= golden_dual; ++i) {
        if (strcmp(kind, kinds[i]) == 0) {
            size_t size;
            char* bytes = MakeGoldenAsset((GoldenKind)i, RINGS, SEGMENTS, &size);
            FILE* file = fopen(path, "wb");
            bool good = file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0;
            free(bytes);
            return good ? 0 : 1;
        }
    }
    return 2;
}

static int ReadFile(const char* path)
{
    size_t size;
    FILE* file = fopen(path, "rb");
    char* bytes = ReadAll(file, &size);
    fclose(file);
    jnAsset* asset;
    jnError error;
    int code = jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, &error) == jn_ok ? 0 : 3;
    puts(code == 0 ? "loaded" : error.message);
    if (code == 0) {
        jnDestroyAsset(asset);
    }
    free(bytes);
    return code;
}

// Steps of a large tube: springs alone, skinning and normals, or all of a character with network and modes.
static int RunSteps(const char* what, int count)
{
    char* bytes;
    Hash hash = NewHash();
    bool modes = strcmp(what, "modes") == 0;
    jnAsset* asset = Load(modes ? golden_modes : golden_linear, 100, 32, &bytes, &hash);
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* c = NULL;
    float* out = calloc(6 * (size_t)asset->fileVertexCount, sizeof(float));
    float rotations[4 * GOLDEN_JOINTS], translations[3 * GOLDEN_JOINTS], scales[3 * GOLDEN_JOINTS];
    if (out == NULL || jnCreateCharacter(&def, &c, NULL) != jn_ok) {
        Die("no character");
    }
    jnSprings* s = jnCharacter_Springs(c);
    for (int n = 0; n < count; ++n) {
        jnAsset_SampleClip(asset, 0, n / 60.0, rotations, translations, scales);
        jnPose pose = {.rotations = rotations, .translations = translations};
        if (modes) {
            jnCharacter_Step(
                c, &(jnCharacterInput){.h = 1 / 60.0f, .pose = pose}, &(jnCharacterOutput){.positions = out});
        } else if (strcmp(what, "springs") == 0) {
            jnSprings_Step(s, &(jnSpringsInput){.h = 1 / 60.0f, .targets = out}, &(jnSpringsOutput){.positions = out});
        } else {
            jnCharacter_Skin(c, &pose,
                &(jnCharacterOutput){
                    .positions = out, .normals = out + 3 * (size_t)asset->fileVertexCount, .welded = true});
        }
    }
    HashFloats(&hash, out, 6 * (size_t)asset->fileVertexCount);
    static Text text;
    Print(&text, what, "", hash);
    fwrite(text.letters, 1, text.size, stdout);
    jnDestroyCharacter(c);
    jnDestroyAsset(asset);
    free(bytes);
    free(out);
    return 0;
}

int main(int argc, char** argv)
{
    if (argc == 4 && strcmp(argv[1], "--write") == 0) {
        return WriteFile(argv[2], argv[3]);
    }
    if (argc == 3 && strcmp(argv[1], "--read") == 0) {
        return ReadFile(argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "--steps") == 0) {
        return RunSteps(argv[2], atoi(argv[3]));
    }
    return argc == 1 ? PlayAll() : 2;
}
