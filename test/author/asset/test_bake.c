// Baked motion: the bytes of real time, in every format.
#include "helpers/box.h"

#include "asset/bake.h"
#include "base/npy.h"
#include "character/mesh_cache.h"
#include "jounce/character.h"

#include <jansson.h>
#include <unistd.h>

enum { FILES = 24 };

typedef struct Played {
    int count;
    float positions[64][FILES * 3];
} Played;

static Box* box;
static void* bytes[2];
static jnAsset* assets[2]; // exact, causal

static int MakeAssets(void** state)
{
    (void)state;
    size_t size;
    box = MakeBox();
    for (int timing = 0; timing < 2; ++timing) {
        box->def.timing = (jnTiming)timing;
        if (jnaEncodeAsset(&box->def, &bytes[timing], &size, NULL) != jn_ok ||
            jnLoadAsset(&(jnAssetDef){.bytes = bytes[timing], .size = size}, &assets[timing], NULL) != jn_ok) {
            return -1;
        }
    }
    return 0;
}

static int FreeAssets(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        jnDestroyAsset(assets[i]);
        free(bytes[i]);
    }
    DestroyBox(box);
    return 0;
}

static bool Keep(int frame, const float* positions, const float* normals, void* user)
{
    Played* played = user;
    assert_null(normals);
    assert_int_equal(frame, played->count);
    memcpy(played->positions[played->count++], positions, sizeof(played->positions[0]));
    return true;
}

static Played* Play(const jnAsset* asset, jnaBakeStage stage, double rate, bool seamless)
{
    static Played played;
    played.count = 0;
    jnaBakeDef def = jnaDefaultBakeDef(asset);
    def.stage = stage;
    def.rate = rate;
    def.seamless = seamless;
    def.take = Keep;
    def.user = &played;
    jnError error = {0};
    if (jnaBake(&def, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(played.count, jnaBakeFrameCount(&def));
    return &played;
}

static void ABakeIsTheBytesOfRealTime(void** state)
{
    (void)state;
    Played* played = Play(assets[1], jna_stageDynamic, 60, false);
    assert_int_equal(played->count, 2 * BOX_FRAMES);
    jnCharacterDef def = jnDefaultCharacterDef(assets[1]);
    jnCharacter* c;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    float rotations[8], translations[6], scales[6], out[FILES * 3];
    for (int n = 0; n < played->count; ++n) {
        jnAsset_SampleClip(assets[1], 0, n / 60.0, rotations, translations, scales);
        jnPose pose = {.rotations = rotations, .translations = translations, .scales = scales};
        jnCharacter_Step(c, &(jnCharacterInput){.h = 1.0f / 60, .pose = pose}, &(jnCharacterOutput){.positions = out});
        assert_memory_equal(out, played->positions[n], sizeof(out));
    }
    jnDestroyCharacter(c);
}

// With exact timing the row of a frame is still that frame's: close to the skinned one, not to its neighbour.
static void RowsAreInOrderInBothTimings(void** state)
{
    (void)state;
    static Played skinned;
    skinned = *Play(assets[0], jna_stageSkinned, 0, false);
    assert_int_equal(skinned.count, BOX_FRAMES);
    Played exact = *Play(assets[0], jna_stageDynamic, 0, false);
    assert_memory_equal(exact.positions[0], skinned.positions[0], sizeof(skinned.positions[0]));
    Played target = *Play(assets[0], jna_stageTarget, 0, false);
    assert_memory_equal(target.positions, skinned.positions, sizeof(skinned.positions[0]) * BOX_FRAMES);
    Played causal = *Play(assets[1], jna_stageDynamic, 0, false);
    for (int n = 0; n < BOX_FRAMES; ++n) {
        for (int i = 0; i < FILES * 3; ++i) {
            ASSERT_NEAR(exact.positions[n][i], causal.positions[n][i], 0.12);
        }
    }
}

static void ASeamlessLoopRunsIntoItsStart(void** state)
{
    (void)state;
    for (int timing = 0; timing < 2; ++timing) {
        Played loop = *Play(assets[timing], jna_stageDynamic, 0, true);
        // The same motion found by brute force: after many rounds it repeats.
        jnCharacterDef def = jnDefaultCharacterDef(assets[timing]);
        jnCharacter* c;
        assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
        float rotations[8], translations[6], scales[6], out[FILES * 3];
        for (int n = 0; n < 80 * BOX_FRAMES; ++n) {
            jnAsset_SampleClip(assets[timing], 0, n / 30.0, rotations, translations, scales);
            jnPose pose = {.rotations = rotations, .translations = translations, .scales = scales};
            jnCharacter_Step(
                c, &(jnCharacterInput){.h = 1.0f / 30, .pose = pose}, &(jnCharacterOutput){.positions = out});
            int row = n - (timing == jn_timingExact ? 1 : 0);
            for (int i = 0; n > 75 * BOX_FRAMES && i < FILES * 3; ++i) {
                ASSERT_NEAR(loop.positions[row % BOX_FRAMES][i], out[i], 1e-5);
            }
        }
        jnDestroyCharacter(c);
    }
}

static char* ReadFile(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char* data = malloc(*size + 1);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return data;
}

static void BakeTo(const char* path)
{
    jnaBakeDef def = jnaDefaultBakeDef(assets[1]);
    jnError error = {0};
    if (jnaBakeToFile(path, &def, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

static uint32_t Big(const char* at)
{
    const unsigned char* b = (const unsigned char*)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void CachesHoldTheFrames(void** state)
{
    (void)state;
    Played played = *Play(assets[1], jna_stageDynamic, 0, false);
    size_t size, row = sizeof(played.positions[0]);
    BakeTo("bake-test.pc2");
    char* data = ReadFile("bake-test.pc2", &size);
    assert_int_equal(size, 32 + BOX_FRAMES * row);
    assert_memory_equal(data, "POINTCACHE2\0\1\0\0\0\x18\0\0\0", 20);
    assert_memory_equal(data + 28, "\5\0\0\0", 4);
    assert_memory_equal(data + 32, played.positions, BOX_FRAMES * row);
    free(data);
    BakeTo("bake-test.mdd");
    data = ReadFile("bake-test.mdd", &size);
    assert_int_equal(size, 8 + BOX_FRAMES * (4 + row));
    assert_true(Big(data) == BOX_FRAMES && Big(data + 4) == FILES);
    uint32_t bits;
    memcpy(&bits, &played.positions[2][5], sizeof(bits));
    assert_int_equal(Big(data + 8 + 4 * BOX_FRAMES + 2 * row + 20), bits);
    free(data);
    BakeTo("bake-test.npy");
    jnaArray array;
    assert_int_equal(jnaOpenArray("bake-test.npy", &array, NULL), jn_ok);
    assert_true(array.dimensions == 3 && array.shape[0] == BOX_FRAMES && array.shape[1] == FILES);
    assert_memory_equal(array.data, played.positions, BOX_FRAMES * row);
    jnaCloseArray(&array);
    unlink("bake-test.npy");
}

static void ObjFilesAreNumbered(void** state)
{
    (void)state;
    BakeTo("bake-test.obj");
    for (int n = 0; n < BOX_FRAMES; ++n) {
        char path[64];
        size_t size;
        snprintf(path, sizeof(path), "bake-test.%04d.obj", n);
        char* data = ReadFile(path, &size);
        data[size] = '\0';
        int vertices = 0, faces = 0;
        for (char* line = strtok(data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            vertices += strncmp(line, "v ", 2) == 0;
            faces += strncmp(line, "f ", 2) == 0;
        }
        assert_true(vertices == FILES && faces == 12);
        free(data);
    }
    assert_int_equal(unlink("bake-test.mtl"), 0);
}

// Every accessor lies inside its view, every view inside the buffer, at multiples of four.
static void CheckGlb(const json_t* root, size_t length)
{
    size_t index;
    const json_t *accessor, *views = json_object_get(root, "bufferViews");
    json_array_foreach(json_object_get(root, "accessors"), index, accessor)
    {
        const json_t* view = json_array_get(views, (size_t)json_integer_value(json_object_get(accessor, "bufferView")));
        const char* type = json_string_value(json_object_get(accessor, "type"));
        json_int_t width = strcmp(type, "VEC3") == 0 ? 3 : strcmp(type, "VEC2") == 0 ? 2 : 1;
        json_int_t offset = json_integer_value(json_object_get(view, "byteOffset"));
        json_int_t size = json_integer_value(json_object_get(view, "byteLength"));
        assert_int_equal(json_integer_value(json_object_get(accessor, "count")) * width * 4, size);
        assert_true(offset % 4 == 0 && offset + size <= (json_int_t)length);
    }
}

static void AGlbHoldsMorphTargetsAndSprings(void** state)
{
    (void)state;
    Played played = *Play(assets[1], jna_stageDynamic, 0, false);
    size_t size;
    uint32_t words[5];
    BakeTo("bake-test.glb");
    char* data = ReadFile("bake-test.glb", &size);
    memcpy(words, data, sizeof(words));
    assert_memory_equal(data, "glTF", 4);
    assert_true(words[1] == 2 && words[2] == size && words[3] % 4 == 0);
    json_t* root = json_loadb(data + 20, words[3], 0, NULL);
    assert_non_null(root);
    uint32_t length;
    memcpy(&length, data + 20 + words[3], sizeof(length));
    const char* buffer = data + 28 + words[3];
    assert_int_equal(28 + words[3] + length, size);
    CheckGlb(root, length);
    const json_t* mesh = json_array_get(json_object_get(root, "meshes"), 0);
    const json_t* primitive = json_array_get(json_object_get(mesh, "primitives"), 0);
    assert_int_equal(json_array_size(json_object_get(primitive, "targets")), BOX_FRAMES - 1);
    assert_int_equal(json_array_size(json_object_get(mesh, "weights")), BOX_FRAMES - 1);
    assert_memory_equal(buffer, played.positions[0], sizeof(played.positions[0]));
    json_int_t stiffness = json_integer_value(json_object_get(json_object_get(primitive, "attributes"), "_STIFFNESS"));
    const json_t* view = json_array_get(json_object_get(root, "bufferViews"), (size_t)stiffness);
    float value;
    memcpy(&value, buffer + json_integer_value(json_object_get(view, "byteOffset")), sizeof(value));
    ASSERT_NEAR(value, 600, 0);
    json_decref(root);
    free(data);
}

// Frames as they are given: normals besides positions.
typedef struct Normals {
    float frames[BOX_FRAMES][FILES * 3];
} Normals;

static bool KeepNormals(int frame, const float* positions, const float* normals, void* user)
{
    (void)positions;
    memcpy(((Normals*)user)->frames[frame], normals, FILES * 3 * sizeof(float));
    return true;
}

static void TheNormalsOfAGlbMoveWithIt(void** state)
{
    (void)state;
    static Normals truth;
    jnaBakeDef def = jnaDefaultBakeDef(assets[1]);
    def.wantsNormals = true;
    def.take = KeepNormals;
    def.user = &truth;
    assert_int_equal(jnaBake(&def, NULL), jn_ok);
    size_t size;
    uint32_t json;
    BakeTo("bake-test.glb");
    char* data = ReadFile("bake-test.glb", &size);
    memcpy(&json, data + 12, sizeof(json));
    json_t* root = json_loadb(data + 20, json, 0, NULL);
    const char* buffer = data + 28 + json;
    const json_t* views = json_object_get(root, "bufferViews");
    const json_t* mesh = json_array_get(json_object_get(root, "meshes"), 0);
    const json_t* primitive = json_array_get(json_object_get(mesh, "primitives"), 0);
    double worst = 0, turned = 0;
    for (size_t n = 0; n < BOX_FRAMES; ++n) {
        const json_t* of = n == 0 ? json_object_get(primitive, "attributes")
                                  : json_array_get(json_object_get(primitive, "targets"), n - 1);
        const json_t* view = json_array_get(views, (size_t)json_integer_value(json_object_get(of, "NORMAL")));
        float normals[FILES * 3];
        memcpy(normals, buffer + json_integer_value(json_object_get(view, "byteOffset")), sizeof(normals));
        for (int i = 0; i < FILES * 3; ++i) {
            double whole = (double)normals[i] + (n > 0 ? (double)truth.frames[0][i] : 0);
            worst = fmax(worst, fabs(whole - (double)truth.frames[n][i]));
            turned = fmax(turned, fabs((double)truth.frames[n][i] - (double)truth.frames[0][i]));
        }
    }
    assert_true(turned > 0.05); // the clip turns the box, or nothing is tested
    ASSERT_AT_MOST(worst, 1e-6);
    json_decref(root);
    free(data);
}

// Held before it starts, the flesh begins where it comes to rest, and the number of frames stays.
static void APrerollIsNotWritten(void** state)
{
    (void)state;
    jnaArray plain, held;
    jnaBakeDef def = jnaDefaultBakeDef(assets[1]);
    assert_int_equal(jnaBakeToFile("bake-test.npy", &def, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("bake-test.npy", &plain, NULL), jn_ok);
    def.preroll = 0.5;
    assert_int_equal(jnaBakeToFile("bake-held.npy", &def, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("bake-held.npy", &held, NULL), jn_ok);
    assert_int_equal(plain.shape[0], held.shape[0]);
    double apart = 0;
    for (size_t i = 0; i < held.count; ++i) {
        apart = fmax(apart, fabs(jnaArray_Get(&plain, i) - jnaArray_Get(&held, i)));
    }
    assert_true(apart > 1e-4 && apart < 1); // a looping clip comes from its end
    jnaCloseArray(&plain);
    jnaCloseArray(&held);
    unlink("bake-held.npy");
    unlink("bake-test.npy");
}

static void AlembicAndUsdHoldTheFrames(void** state)
{
    (void)state;
    Played played = *Play(assets[1], jna_stageDynamic, 0, false);
    static const char* const names[] = {"bake-test.abc", "bake-test.usda"};
    for (int i = 0; i < 2; ++i) {
        jnaMeshCache cache;
        jnError error = {0};
        BakeTo(names[i]);
        assert_int_equal(jnaReadMeshCache(names[i], &cache, &error), jn_ok);
        assert_int_equal(cache.frameCount, BOX_FRAMES);
        assert_int_equal(cache.pointCount, FILES);
        assert_int_equal(cache.faceCount, 12);
        assert_non_null(cache.normals);
        assert_memory_equal(cache.positions, played.positions, BOX_FRAMES * FILES * 3 * sizeof(float));
        jnaDestroyMeshCache(&cache);
        unlink(names[i]);
    }
}

static void ClipsThatDoNotLoopHaveNoSeamlessMotion(void** state)
{
    (void)state;
    void* file;
    size_t size;
    jnAsset* asset;
    box->clip.looping = false;
    assert_int_equal(jnaEncodeAsset(&box->def, &file, &size, NULL), jn_ok);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = file, .size = size}, &asset, NULL), jn_ok);
    jnaBakeDef def = jnaDefaultBakeDef(asset);
    def.seamless = true;
    jnError error = {0};
    assert_int_equal(jnaBakeToFile("bake-test.pc2", &def, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "nod"));
    assert_int_not_equal(access("bake-test.pc2", F_OK), 0);
    jnDestroyAsset(asset);
    free(file);
    box->clip.looping = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ABakeIsTheBytesOfRealTime),
        cmocka_unit_test(RowsAreInOrderInBothTimings),
        cmocka_unit_test(ASeamlessLoopRunsIntoItsStart),
        cmocka_unit_test(CachesHoldTheFrames),
        cmocka_unit_test(ObjFilesAreNumbered),
        cmocka_unit_test(AGlbHoldsMorphTargetsAndSprings),
        cmocka_unit_test(TheNormalsOfAGlbMoveWithIt),
        cmocka_unit_test(APrerollIsNotWritten),
        cmocka_unit_test(AlembicAndUsdHoldTheFrames),
        cmocka_unit_test(ClipsThatDoNotLoopHaveNoSeamlessMotion),
    };
    return cmocka_run_group_tests(tests, MakeAssets, FreeAssets);
}
