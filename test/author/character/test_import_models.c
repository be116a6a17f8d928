// Files as they are found in the wild: each is imported, or refused with one clear line; none crashes or
// hangs us.
#include "character/import.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA JN_SOURCE_DIR "/../shared/data/"
#define MODELS "/usr/share/assimp/models/"

static int imported, refused;

static void CheckCharacter(const jnaCharacter* c, const jnaClipList* clips)
{
    assert_true(c->jointCount > 0 && c->vertexCount > 0 && c->triangleCount > 0);
    float* matrices = malloc((size_t)c->jointCount * 12 * sizeof(float));
    float* skinned = malloc((size_t)c->vertexCount * 3 * sizeof(float));
    for (int v = 0; v < c->vertexCount; ++v) {
        double sum = 0;
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            assert_true(c->influences[v].joints[k] < c->jointCount);
            sum += (double)c->influences[v].weights[k];
        }
        assert_true(fabs(sum - 1) < 1e-5);
    }
    for (int k = -1; k < clips->count; ++k) {
        jnaPoseMatrices(c, k >= 0 ? &clips->clips[k] : NULL, k >= 0 ? clips->clips[k].frameCount - 1 : 0, matrices);
        jnaSkin(c, matrices, skinned);
        for (int i = 0; i < 3 * c->vertexCount; ++i) {
            assert_true(isfinite(skinned[i]));
        }
    }
    free(matrices);
    free(skinned);
}

static void TryFile(const char* path)
{
    jnError error = {0};
    jnaCharacter character;
    jnaClipList clips;
    jnaImportDef def = jnaDefaultImportDef();
    def.timeLimit = 10;
    jnResult result = jnaImportCharacter(path, &def, &character, &clips, NULL, NULL, &error);
    if (result == jn_ok) {
        CheckCharacter(&character, &clips);
        print_message("imported %s: %d vertices, %d joints, %d clips\n", path, character.vertexCount,
            character.jointCount, clips.count);
        imported++;
    } else {
        assert_non_null(strstr(error.message, path));
        assert_null(strchr(error.message, '\n'));
        print_message("refused %s\n", error.message);
        refused++;
    }
    jnaDestroyCharacter(&character);
    jnaDestroyClipList(&clips);
}

static bool EndsWith(const char* name, const char* ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcasecmp(name + length - tail, ending) == 0;
}

static void TryFolder(const char* folder)
{
    DIR* directory = opendir(folder);
    for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            TryFolder(path);
        } else if (EndsWith(path, ".fbx") || EndsWith(path, ".dae") || EndsWith(path, ".zae") ||
                   EndsWith(path, ".gltf") || EndsWith(path, ".glb")) {
            TryFile(path);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
}

static double Now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void EveryTestModelIsImportedOrRefused(void** state)
{
    (void)state;
    if (access(MODELS "FBX", R_OK) != 0) {
        print_message("skipped: assimp-testmodels is not installed\n");
        skip();
    }
    double start = Now();
    imported = refused = 0;
    TryFolder(MODELS "FBX");
    TryFolder(MODELS "Collada");
    TryFolder(MODELS "glTF2");
    TryFolder(MODELS "glTF");
    print_message("%d imported, %d refused, %.1f s\n", imported, refused, Now() - start);
    assert_true(imported >= 3);
    assert_true(refused >= 20);
}

// Deterministic bytes, the same on every machine.
static uint32_t NextRandom(uint32_t* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// A copy of a file with a few bytes changed, imported: whatever Assimp does with it, we go on.
static void TryChanged(const char* path, const char* ending, int rounds)
{
    static unsigned char bytes[1 << 20];
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        print_message("skipped: %s is not there\n", path);
        return;
    }
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    char copy[512];
    snprintf(copy, sizeof(copy), "%s/changed_%ld%s", JN_BINARY_DIR, (long)getpid(), ending);
    uint32_t seed = 12345;
    for (int round = 0; round < rounds; ++round) {
        static unsigned char changed[1 << 20];
        memcpy(changed, bytes, size);
        for (uint32_t k = 0; k <= NextRandom(&seed) % 8; ++k) {
            changed[NextRandom(&seed) % size] = (unsigned char)NextRandom(&seed);
        }
        file = fopen(copy, "wb");
        assert_int_equal(fwrite(changed, 1, size, file), size);
        fclose(file);
        TryFile(copy);
    }
    unlink(copy);
}

static void ChangedBytesNeverBringUsDown(void** state)
{
    (void)state;
    const char* rounds = getenv("JN_FUZZ_ROUNDS");
    int count = rounds != NULL ? atoi(rounds) : 25;
    imported = refused = 0;
    TryChanged(MODELS "FBX/huesitos.fbx", ".fbx", count);
    TryChanged(MODELS "Collada/box_nested_animation.dae", ".dae", count);
    TryChanged(MODELS "glTF2/simple_skin/simple_skin.gltf", ".gltf", count);
    TryChanged(DATA "gltf/RiggedSimple.glb", ".glb", count);
    TryChanged(DATA "gltf/RiggedFigure.glb", ".glb", count);
    print_message("%d imported, %d refused\n", imported, refused);
}

// Reads a file, lets `edit` change its bytes, imports the copy.
static jnaCharacter ImportEdited(const char* path, const char* ending,
    void (*edit)(unsigned char*, size_t, const void*), const void* argument, double* scale)
{
    static unsigned char bytes[1 << 20];
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    edit(bytes, size, argument);
    char copy[512];
    snprintf(copy, sizeof(copy), "%s/edited_%ld%s", JN_BINARY_DIR, (long)getpid(), ending);
    file = fopen(copy, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    jnError error = {0};
    jnaCharacter character;
    jnaClipList clips;
    jnaImportDef def = jnaDefaultImportDef();
    jnResult result = jnaImportCharacter(copy, &def, &character, &clips, scale, NULL, &error);
    if (result != jn_ok) {
        fail_msg("%s", error.message);
    }
    jnaDestroyClipList(&clips);
    unlink(copy);
    return character;
}

// The value of a property of a binary FBX: after its name come type, label and flags, each a counted string,
// and a letter.
static unsigned char* FindProperty(unsigned char* bytes, size_t size, const char* name)
{
    size_t length = strlen(name);
    for (size_t i = 4; i + length + 40 < size; ++i) {
        uint32_t counted;
        memcpy(&counted, bytes + i - 4, 4);
        if (counted == length && memcmp(bytes + i, name, length) == 0) {
            unsigned char* at = bytes + i + length;
            for (int k = 0; k < 3; ++k) {
                memcpy(&counted, at + 1, 4);
                at += 5 + counted;
            }
            return at + 1;
        }
    }
    fail_msg("no property %s", name);
    return NULL;
}

static void SetUpAxis(unsigned char* bytes, size_t size, const void* argument)
{
    memcpy(FindProperty(bytes, size, "UpAxis"), argument, sizeof(int32_t));
}

static void SetUnit(unsigned char* bytes, size_t size, const void* argument)
{
    memcpy(FindProperty(bytes, size, "UnitScaleFactor"), argument, sizeof(double));
}

static void AnFbxSaysItsUnitAndItsUpAxis(void** state)
{
    (void)state;
    if (access(MODELS "FBX/huesitos.fbx", R_OK) != 0) {
        print_message("skipped: assimp-testmodels is not installed\n");
        skip();
    }
    const int32_t y = 1, z = 2;
    const double inch = 2.54;
    double scale;
    jnaCharacter upright = ImportEdited(MODELS "FBX/huesitos.fbx", ".fbx", SetUpAxis, &y, &scale);
    assert_true(fabs(scale - 0.01) < 1e-9);
    jnaCharacter lying = ImportEdited(MODELS "FBX/huesitos.fbx", ".fbx", SetUpAxis, &z, NULL);
    jnaCharacter inches = ImportEdited(MODELS "FBX/huesitos.fbx", ".fbx", SetUnit, &inch, &scale);
    assert_true(fabs(scale - 0.0254) < 1e-9);
    assert_int_equal(lying.vertexCount, upright.vertexCount);
    assert_int_equal(inches.vertexCount, upright.vertexCount);
    for (int v = 0; v < upright.vertexCount; ++v) {
        const float *a = upright.positions + 3 * v, *b = lying.positions + 3 * v, *c = inches.positions + 3 * v;
        assert_true(fabsf(b[0] - a[0]) < 1e-4F && fabsf(b[1] - a[2]) < 1e-4F && fabsf(b[2] + a[1]) < 1e-4F);
        assert_true(fabsf(c[1] - 2.54F * a[1]) < 1e-3F);
    }
    jnaDestroyCharacter(&upright);
    jnaDestroyCharacter(&lying);
    jnaDestroyCharacter(&inches);
}

static void SetMetre(unsigned char* bytes, size_t size, const void* argument)
{
    unsigned char* at = memmem(bytes, size, "<unit name=\"meter\" meter=\"1\"", 28);
    assert_non_null(at);
    memcpy(at, argument, 28);
}

static void AColladaFileSaysItsUnit(void** state)
{
    (void)state;
    if (access(MODELS "Collada/box_nested_animation.dae", R_OK) != 0) {
        print_message("skipped: assimp-testmodels is not installed\n");
        skip();
    }
    double scale;
    jnaCharacter plain = ImportEdited(
        MODELS "Collada/box_nested_animation.dae", ".dae", SetMetre, "<unit name=\"meter\" meter=\"1\"", &scale);
    assert_true(scale == 1);
    jnaCharacter tenth = ImportEdited(
        MODELS "Collada/box_nested_animation.dae", ".dae", SetMetre, "<unit name=\"dm\" meter=\"0.1\" ", &scale);
    assert_true(fabs(scale - 0.1) < 1e-9);
    for (int i = 0; i < 3 * plain.vertexCount; ++i) {
        assert_true(fabsf(tenth.positions[i] - 0.1F * plain.positions[i]) < 1e-5F);
    }
    jnaDestroyCharacter(&plain);
    jnaDestroyCharacter(&tenth);
}

static void TheKhronosModelsImportAndPlay(void** state)
{
    (void)state;
    if (access(DATA "gltf/CesiumMan.glb", R_OK) != 0) {
        print_message("skipped: no shared data\n");
        skip();
    }
    imported = refused = 0;
    TryFile(DATA "gltf/CesiumMan.glb");
    TryFile(DATA "gltf/RiggedFigure.glb");
    TryFile(DATA "gltf/RiggedSimple.glb");
    assert_int_equal(imported, 3);
}

static void ForeignMotionCaptureDrivesTheBody(void** state)
{
    (void)state;
    static const char* const files[] = {"01_01.bvh", "01_03.bvh", "Boxing_Toes.bvh"};
    if (access(DATA "body.glb", R_OK) != 0 || access(MODELS "BVH", R_OK) != 0) {
        print_message("skipped: no shared data or no assimp-testmodels\n");
        skip();
    }
    jnError error = {0};
    jnaCharacter body;
    jnaClipList own;
    jnaImportDef def = jnaDefaultImportDef();
    assert_int_equal(jnaImportCharacter(DATA "body.glb", &def, &body, &own, NULL, NULL, &error), jn_ok);
    for (size_t i = 0; i < 3; ++i) {
        char path[256];
        snprintf(path, sizeof(path), MODELS "BVH/%s", files[i]);
        jnaClipList clips;
        jnaNotes notes = {0};
        jnResult result = jnaImportClips(path, &def, NULL, &body, &clips, &notes, &error);
        print_message("%s: %s\n", files[i], result == jn_ok ? "retargeted" : error.message);
        for (int n = 0; n < notes.count; ++n) {
            print_message("  %s\n", notes.lines[n]);
        }
        assert_int_equal(result, jn_ok);
        CheckCharacter(&body, &clips);
        jnaDestroyClipList(&clips);
        jnaDestroyNotes(&notes);
    }
    jnaDestroyClipList(&own);
    jnaDestroyCharacter(&body);
}

static void ClipsOfTheSameSkeletonComeThroughUnchanged(void** state)
{
    (void)state;
    if (access(DATA "gltf/CesiumMan.glb", R_OK) != 0) {
        print_message("skipped: no shared data\n");
        skip();
    }
    jnError error = {0};
    jnaCharacter man;
    jnaClipList own, other;
    jnaImportDef def = jnaDefaultImportDef();
    assert_int_equal(jnaImportCharacter(DATA "gltf/CesiumMan.glb", &def, &man, &own, NULL, NULL, &error), jn_ok);
    assert_int_equal(jnaImportClips(DATA "gltf/CesiumMan.glb", &def, NULL, &man, &other, NULL, &error), jn_ok);
    assert_int_equal(other.count, own.count);
    assert_int_equal(other.clips[0].frameCount, own.clips[0].frameCount);
    size_t joints = (size_t)own.clips[0].frameCount * (size_t)man.jointCount;
    for (size_t i = 0; i < 4 * joints; ++i) {
        assert_true(fabsf(own.clips[0].rotations[i] - other.clips[0].rotations[i]) < 1e-5F);
    }
    for (size_t i = 0; i < 3 * joints; ++i) {
        assert_true(fabsf(own.clips[0].translations[i] - other.clips[0].translations[i]) < 1e-5F);
    }
    // Another skeleton without humanoid names cannot be brought over, and says so.
    jnaClipList none;
    assert_int_equal(jnaImportClips(DATA "gltf/RiggedSimple.glb", &def, NULL, &man, &none, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "RiggedSimple.glb"));
    jnaDestroyClipList(&own);
    jnaDestroyClipList(&other);
    jnaDestroyCharacter(&man);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryTestModelIsImportedOrRefused),
        cmocka_unit_test(ChangedBytesNeverBringUsDown),
        cmocka_unit_test(AnFbxSaysItsUnitAndItsUpAxis),
        cmocka_unit_test(AColladaFileSaysItsUnit),
        cmocka_unit_test(TheKhronosModelsImportAndPlay),
        cmocka_unit_test(ForeignMotionCaptureDrivesTheBody),
        cmocka_unit_test(ClipsOfTheSameSkeletonComeThroughUnchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
